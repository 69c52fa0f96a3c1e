"""Classes of Python from types: of IDL, and of what others say on the network."""

import dataclasses
import decimal
import enum
import keyword
import types
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from . import _tickwire
from ._equal import same_fields
from ._types import Table, bits
from ._union import RESERVED, make_union


def safe(name: str) -> str:
    """A name that Python can have."""
    return f"{name}_" if keyword.iskeyword(name) else name


def _shown(raised: Exception) -> str:
    """The text of an exception, which has members in place of arguments."""
    return repr(raised)


class Classes:
    """The classes of the types of a table."""

    def __init__(
        self,
        table: Table,
        place: Callable[[str], Tuple[types.ModuleType, str]],
        exceptions: Iterable[str] = (),
        defaults: Optional[Dict[str, Dict[str, Any]]] = None,
    ) -> None:
        self._table = table
        self._place = place
        self._exceptions = set(exceptions)
        #: By the name of the type, those of members that have one of their own.
        self._defaults = defaults or {}
        self._classes: Dict[str, Any] = {}
        #: As the extension module wants them.
        self.bindings: Dict[str, Any] = {}

    def make(self, full: str) -> Any:
        """The class of a type, which is in its module then."""
        known = self._classes.get(full)
        if known is not None:
            return known
        entry = self._table[full]
        kind = entry[0]
        scope, last = self._place(full)
        made = getattr(self, f"_{kind}")(full, last, entry)
        made.__module__ = scope.__name__
        made.__qualname__ = last
        setattr(scope, last, made)
        return made

    def know(self, full: str, made: Any) -> None:
        """Has a type of a class that is there."""
        self._keep(full, made, made)

    def _keep(self, full: str, made: Any, binding: Any) -> Any:
        self._classes[full] = made
        self.bindings[full] = binding
        return made

    def _struct(self, full: str, last: str, entry: tuple) -> Any:
        attributes = [safe(member[0]) for member in entry[2]]
        is_exception = full in self._exceptions
        if is_exception:
            attributes = [f"{name}_" if hasattr(Exception, name) else name for name in attributes]
        defaults = [self._own_default(full, member) for member in entry[2]]
        fields: List[Any] = []
        for attribute, member, default in zip(attributes, entry[2], defaults):
            optional, of = member[3], member[7]
            if optional:
                fields.append((attribute, Optional[Any], dataclasses.field(default=None)))
            else:
                made_up = dataclasses.field(default_factory=self._default(of))
                field = made_up if default is None else dataclasses.field(default=default)
                fields.append((attribute, self._annotation(of), field))
        if is_exception:
            # Compared and hashed by identity, as exceptions are.
            made = dataclasses.make_dataclass(last, fields, bases=(Exception,), eq=False, namespace={"__str__": _shown})
        else:
            made = dataclasses.make_dataclass(last, fields, eq=False, namespace={"__eq__": same_fields, "__hash__": None})
        made.__doc__ = f"The {'exception' if is_exception else 'type'} {full} of IDL."
        made.__tickwire_make__ = lambda: self._type(full)  # type: ignore[attr-defined]
        return self._keep(full, made, (made, attributes, [False] * len(attributes), False, defaults))

    def _union(self, full: str, last: str, entry: tuple) -> Any:
        attributes = [
            f"{name}_" if name in RESERVED or name.startswith("_") else safe(name) for name in (case[0][0] for case in entry[3])
        ]
        attributes = [attribute.lstrip("_") or "member_" for attribute in attributes]
        made: Any = make_union(last, attributes)
        made.__doc__ = f"The union {full} of IDL."
        discriminator = entry[2]
        made._labels = {
            attribute: self._label(discriminator, case[1][0]) for attribute, case in zip(attributes, entry[3]) if case[1]
        }
        defaults = [self._own_default(full, case[0]) for case in entry[3]]
        return self._keep(full, made, (made, attributes, [False] * len(attributes), False, defaults))

    def _label(self, discriminator: Any, label: int) -> Any:
        if discriminator == "bool":
            return bool(label)
        if discriminator in ("char", "wchar"):
            return chr(label)
        if isinstance(discriminator, tuple) and discriminator[0] == "named":
            return self.make(discriminator[1])(label)
        return label

    def _enum(self, full: str, last: str, entry: tuple) -> Any:
        made = enum.IntEnum(last, [(safe(name), value) for name, value in entry[2]])  # type: ignore[misc]
        return self._keep(full, bits(entry[1], name=full)(made), made)

    def _bitmask(self, full: str, last: str, entry: tuple) -> Any:
        made = enum.IntFlag(last, [(safe(name), 1 << position) for name, position in entry[2]])  # type: ignore[misc]
        return self._keep(full, bits(entry[1], name=full)(made), made)

    def _bitset(self, full: str, last: str, entry: tuple) -> Any:
        fields = [(safe(name), int, dataclasses.field(default=0)) for name, *_ in entry[1]]
        made = dataclasses.make_dataclass(last, fields)
        return self._keep(full, made, (made, [name for name, *_ in fields], [], True, []))

    def _type(self, full: str) -> "_tickwire.Type":
        table: Table = {}
        rest = [full]
        while rest:
            name = rest.pop()
            if name not in table:
                table[name] = self._table[name]
                rest.extend(_named(self._table[name]))
        for name in table:
            self.make(name)
        return _tickwire.Type(table, full, self.bindings)

    def _annotation(self, of: Any) -> Any:
        """What tools show; it says no more of the type than that."""
        if isinstance(of, str):
            return _ANNOTATIONS.get(of, int)
        kind = of[0]
        if kind == "named":
            return self._classes.get(of[1], Any)
        if kind in ("string", "wstring"):
            return str
        if of[:2] == ("sequence", "octet"):
            return bytes
        return dict if kind == "map" else list

    def _own_default(self, full: str, member: tuple) -> Any:
        """The default of a member that has one of its own, or None."""
        value, of = self._defaults.get(full, {}).get(member[0]), member[7]
        if value is not None and isinstance(of, tuple) and of[0] == "named":
            return self.make(of[1])(value)
        return value

    def _default(self, of: Any) -> Callable[[], Any]:
        """Zero, empty, or the first literal."""
        if isinstance(of, str):
            zero = _ZEROS.get(of, 0)
            return lambda: zero
        kind = of[0]
        if kind in ("string", "wstring"):
            return str
        if kind == "map":
            return dict
        if kind == "sequence":
            return bytes if of[1] == "octet" else list
        if kind == "array":
            element, length = self._default(of[1]), of[2]
            return lambda: [element() for _ in range(length)]
        return lambda: self._first(of[1])

    def _first(self, full: str) -> Any:
        made, entry = self.make(full), self._table[full]
        if entry[0] == "enum":
            return made(entry[2][0][1])
        if entry[0] == "bitmask":
            return made(0)
        if entry[0] == "union":
            # What the discriminator's own default selects, which may be no member.
            discriminator = self._default(entry[2])()
            label = ord(discriminator) if isinstance(discriminator, str) else int(discriminator)
            selected = [case for case in entry[3] if label in case[1]] or [case for case in entry[3] if case[2]]
            if not selected:
                return made(discriminator=discriminator)
            member = selected[0][0]
            attribute = made._members[[case[0] for case in entry[3]].index(member)]
            default = self._own_default(full, member)
            value = self._default(member[7])() if default is None else default
            return made(discriminator=discriminator, **{attribute: value})
        return made()


def _named(entry: Any) -> Iterable[str]:
    """The names of types in what a table says."""
    if isinstance(entry, tuple) and len(entry) == 2 and entry[0] == "named":
        yield entry[1]
    elif isinstance(entry, (tuple, list)):
        for part in entry:
            yield from _named(part)


_ANNOTATIONS = {"bool": bool, "float32": float, "float64": float, "char": str, "wchar": str, "decimal": decimal.Decimal}
_ZEROS = {"bool": False, "float32": 0.0, "float64": 0.0, "char": "\0", "wchar": "\0", "decimal": decimal.Decimal(0)}


def learned(found: "_tickwire.Type") -> "_tickwire.Type":
    """A type that others told: samples are dicts, enums and bitmasks are those of Python."""
    scope = types.ModuleType("learned")
    table = found.table()
    classes = Classes(table, lambda full: (scope, safe(full.split("::")[-1])))
    for full, entry in table.items():
        if entry[0] in ("enum", "bitmask"):
            classes.make(full)
    return found._bind(classes.bindings)
