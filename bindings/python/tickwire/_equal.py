"""Whether values are equal that may have arrays of numpy in them, of which ``==`` gives an array."""

import dataclasses
from typing import Any


def same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if hasattr(one, "shape") or hasattr(other, "shape"):
        shape = getattr(one, "shape", None) or (len(one),)
        if shape != (getattr(other, "shape", None) or (len(other),)):
            return False
        return bool((one == other).all())
    return bool(one == other)


def same_fields(one: Any, other: object) -> bool:
    """``__eq__`` of a dataclass."""
    if type(one) is not type(other):
        return NotImplemented
    names = (field.name for field in dataclasses.fields(one))
    return all(same(getattr(one, name), getattr(other, name)) for name in names)
