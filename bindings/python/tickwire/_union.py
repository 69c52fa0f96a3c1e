"""Classes of unions."""

from typing import Any, List, Optional

from ._equal import same


class Union:
    """A value with one of several members: its ``member`` by name, the ``value`` of that, and the
    ``discriminator`` that selects it, None where any that does will do.

    Made by keyword, ``Price(limit=5.0)``; each member is an attribute, None unless it is the one.
    """

    __slots__ = ("discriminator", "member", "value")
    _members: "tuple[str, ...]" = ()
    #: A discriminator that selects the member, where there is a label.
    _labels: "dict[str, Any]" = {}

    def __init__(self, *, discriminator: Any = None, **member: Any) -> None:
        if len(member) > 1:
            raise TypeError(f"{type(self).__name__} has one member at a time, not {', '.join(member)}")
        name: Optional[str] = None
        value: Any = None
        for name, value in member.items():
            if name not in self._members:
                raise TypeError(f"{type(self).__name__} has no member {name!r}; there are {', '.join(self._members)}")
        if discriminator is None and name is not None:
            discriminator = self._labels.get(name)
        self.discriminator = discriminator
        self.member = name
        self.value = value

    @classmethod
    def _make(cls, discriminator: Any, member: Optional[str], value: Any) -> "Union":
        made = cls.__new__(cls)
        made.discriminator = discriminator
        made.member = member
        made.value = value
        return made

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = self.discriminator, other.discriminator  # type: ignore[attr-defined]
        alike = mine == theirs or mine is None or theirs is None
        return bool(alike and self.member == other.member and same(self.value, other.value))  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self.member is None:
            return f"{type(self).__name__}(discriminator={self.discriminator!r})"
        return f"{type(self).__name__}({self.member}={self.value!r})"


def _member(name: str) -> property:
    def get(self: Union) -> Any:
        return self.value if self.member == name else None

    return property(get, doc=f"The value of `{name}`, if that is the member.")


#: What members cannot be called.
RESERVED = ("discriminator", "member", "value")


def make_union(name: str, members: List[str], cls: Optional[type] = None) -> type:
    """A class of unions with these members, which has what ``cls`` has besides."""
    for member in members:
        if member in RESERVED or member.startswith("_"):
            raise TypeError(f"a member of a union cannot be called {member!r}")
    own = {key: value for key, value in vars(cls).items() if key not in _LEFT_OUT} if cls else {}
    if cls is not None:
        own["__annotations__"] = dict(cls.__annotations__)
    own.update({member: _member(member) for member in members})
    own["__slots__"] = ()
    own["_members"] = tuple(members)
    bases = (Union,) if cls is None or cls.__bases__ == (object,) else cls.__bases__
    return type(name, bases, own)


#: What a class has that is not for another one.
_LEFT_OUT = ("__dict__", "__weakref__", "__slots__", "__annotate__", "__annotate_func__", "__annotations_cache__")
