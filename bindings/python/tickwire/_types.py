"""Types of topics from classes of Python.

A table describes types for the extension module: a dict from full names to

    ("struct", extensibility, [member], nested, hash_ids)
    ("union", extensibility, discriminator, [(member, [label], default)], nested, discriminator_key)
    ("enum", bit_bound, [(name, value)], extensibility)
    ("bitmask", bit_bound, [(name, position)], extensibility)
    ("bitset", [(name, position, bits, type)])

where a member is ``(name, id, key, optional, must_understand, external, hash_id, type, try_construct)``, the last
``"discard"``, ``"use_default"`` or ``"trim"``, and a type the name of
a primitive ("int32", "decimal" ...) or

    ("string", bound)   ("wstring", bound)   ("sequence", type, bound)   ("array", type, length)
    ("map", type, type, bound)   ("named", name)

With a bound of 0 there is none. Classes go with a table as a dict from names to ``(class, attributes, as_lists,
by_keyword, defaults)`` for structs and unions, and to the class for enums and bitmasks. Defaults are what a
member has that a writer left out; None where that is zero or empty.
"""

import collections.abc
import dataclasses
import decimal
import enum
import hashlib
import sys
import types
from typing import TYPE_CHECKING, Annotated, Any, Callable, Dict, List, Optional, Tuple, TypeVar, Union, get_args, get_origin, get_type_hints

from . import _tickwire
from ._errors import EncodeError, TypeDescriptionError
from ._union import make_union

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Any:
        """What type checkers want to know."""
        return lambda decorator: decorator


T = TypeVar("T")
Table = Dict[str, tuple]


# What annotations say.


class _Mark:
    """Something about a member or its type, as metadata of ``Annotated``."""

    def __init__(self, what: str, value: Any = None) -> None:
        self.what = what
        self.value = value

    def __repr__(self) -> str:
        return f"tickwire.{self.what}" + ("" if self.value is None else f"({self.value!r})")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Mark) and (self.what, self.value) == (other.what, other.value)

    def __hash__(self) -> int:
        return hash((self.what, repr(self.value)))


#: Part of the key: ``symbol: tw.key[str]``.
key = Annotated[T, _Mark("key")]
#: A reader that does not know the member must drop the sample (mutable types).
must_understand = Annotated[T, _Mark("must_understand")]

int8 = Annotated[int, _Mark("primitive", "int8")]
uint8 = Annotated[int, _Mark("primitive", "uint8")]
int16 = Annotated[int, _Mark("primitive", "int16")]
uint16 = Annotated[int, _Mark("primitive", "uint16")]
int32 = Annotated[int, _Mark("primitive", "int32")]
uint32 = Annotated[int, _Mark("primitive", "uint32")]
int64 = Annotated[int, _Mark("primitive", "int64")]
uint64 = Annotated[int, _Mark("primitive", "uint64")]
float32 = Annotated[float, _Mark("primitive", "float32")]
float64 = Annotated[float, _Mark("primitive", "float64")]
#: IDL's ``octet``: the bytes of ``uint8``, but another type.
octet = Annotated[int, _Mark("primitive", "octet")]
#: IDL's ``char``, of eight bits: a ``str`` of one character.
char = Annotated[str, _Mark("primitive", "char")]
#: IDL's ``wchar``, a unit of UTF-16: a ``str`` of one character.
wchar = Annotated[str, _Mark("primitive", "wchar")]


def id(number: int) -> Any:
    """The id of a member: ``price: Annotated[float, tw.id(7)]``."""
    return _Mark("id", number)


def name(text: str) -> Any:
    """The name of a member on the wire, where it is another one: ``from_: Annotated[str, tw.name("from")]``."""
    return _Mark("name", text)


class _Form:
    """A type with parameters, by call or by index: ``tw.sequence(tw.int32, 10)``, ``tw.sequence[tw.int32, 10]``."""

    def __init__(self, make: Callable[..., Any], doc: str) -> None:
        self._make = make
        self.__doc__ = doc

    def __call__(self, *parameters: Any) -> Any:
        return self._make(*parameters)

    def __getitem__(self, parameters: Any) -> Any:
        return self._make(*parameters) if isinstance(parameters, tuple) else self._make(parameters)


def _sequence(element: Any, bound: int = 0) -> Any:
    return Annotated[list, _Mark("sequence", (element, bound))]


def _array(element: Any, *lengths: int) -> Any:
    if not lengths:
        raise TypeDescriptionError("an array has a length: tw.array(tw.float64, 3)")
    return Annotated[list, _Mark("array", (element, lengths))]


def _map(key_type: Any, value: Any, bound: int = 0) -> Any:
    return Annotated[dict, _Mark("map", (key_type, value, bound))]


sequence = _Form(
    _sequence,
    "A sequence, of at most ``bound`` elements. Numbers arrive as a numpy array where there is numpy:\n"
    "``prices: tw.sequence(tw.float64)``, ``levels: tw.sequence(Level, 10)``.",
)
array = _Form(
    _array,
    "An array of any dimensions: ``matrix: tw.array(tw.float32, 3, 3)``. Numbers arrive as a numpy array where\n"
    "there is numpy.",
)
map = _Form(_map, "A map, of at most ``bound`` entries: ``tags: tw.map(str, tw.int32)``; ``dict[str, int]`` is one, too.")
string = _Form(lambda bound=0: Annotated[str, _Mark("string", bound)], "A string of at most so many bytes: ``tw.string(8)``.")
wstring = _Form(
    lambda bound=0: Annotated[str, _Mark("wstring", bound)],
    "A string of UTF-16, of at most so many units: ``tw.wstring()``.",
)


class Bytes:
    """The type of topics of raw bytes: samples are ``bytes``, and anything with a buffer can be written.

    >>> frames = participant.topic("Frames", tw.Bytes)

    On the wire it is ``@final struct Bytes { sequence<octet> value; }``; :func:`bytes_type` makes others.
    """


# What decorators say.


@dataclass_transform(field_specifiers=(dataclasses.field,))
def topic(
    cls: Optional[type] = None,
    *,
    name: Optional[str] = None,
    extensibility: str = "appendable",
    autoid: str = "sequential",
    nested: bool = False,
) -> Any:
    """Makes a dataclass the type of topics, and of members of other types.

    ``name`` is that under which peers know it, with ``::`` between modules; by default that of the class.
    ``extensibility`` says how the type may change: "final", "appendable" or "mutable". With ``autoid="hash"`` the
    ids of members are hashes of their names. Where a writer left a member out, as its type has fewer, a sample has the
    default of the field if that is a number, a text, bytes or a literal, and else zero or an empty value, as have members of
    the key.

    >>> @tw.topic(name="market::Quote", extensibility="final")
    ... @dataclass
    ... class Quote:
    ...     symbol: tw.key[str]
    ...     price: float
    """
    if extensibility not in ("final", "appendable", "mutable"):
        raise TypeDescriptionError(f"there is no extensibility {extensibility!r}; there are final, appendable, mutable")
    if autoid not in ("sequential", "hash"):
        raise TypeDescriptionError(f"autoid is sequential or hash, not {autoid!r}")
    local = sys._getframe(1).f_locals

    def decorate(cls: type) -> type:
        if not isinstance(cls, type):
            raise TypeDescriptionError(f"a class is the type of a topic, not {cls!r}")
        if not dataclasses.is_dataclass(cls):
            cls = dataclasses.dataclass(cls)
        cls.__tickwire__ = {  # type: ignore[attr-defined]
            "name": name or cls.__name__,
            "extensibility": extensibility,
            "autoid": autoid,
            "nested": nested,
            "locals": local,
        }
        try:
            describe(cls)
        except NameError:
            pass  # It names a class that comes later; then it is described when it is used.
        return cls

    return decorate if cls is None else decorate(cls)


#: The same for structs that are no topics themselves.
struct = topic


def union(discriminator: Any, *, name: Optional[str] = None, extensibility: str = "appendable", nested: bool = False) -> Any:
    """Makes a class a union: its annotations are the members, of which a value has one.

    >>> @tw.union(tw.int32)
    ... class Price:
    ...     limit: tw.case[1, float]
    ...     peg: tw.case[(2, 3), tw.int32]
    ...     other: tw.default[str]
    >>> Price(limit=5.0)
    Price(limit=5.0)
    >>> price.member, price.value, price.discriminator
    ('limit', 5.0, 1)
    """
    local = sys._getframe(1).f_locals

    def decorate(cls: type) -> type:
        made = make_union(cls.__name__, list(getattr(cls, "__annotations__", {})), cls)
        made.__tickwire__ = {  # type: ignore[attr-defined]
            "name": name or cls.__name__,
            "extensibility": extensibility,
            "nested": nested,
            "discriminator": discriminator,
            "locals": local,
        }
        try:
            made._labels = {attribute: labels[0] for attribute, labels in _labels_of(made).items() if labels}  # type: ignore[attr-defined]
        except NameError:
            made._labels = {}  # type: ignore[attr-defined]
        return made

    return decorate


class _Case:
    """When a member of a union is there: ``tw.case[1, float]``, or ``Annotated[float, tw.case(1, 2)]``."""

    def __init__(self, default: bool) -> None:
        self._default = default

    def __call__(self, *labels: Any) -> Any:
        return _Mark("case", (labels, self._default))

    def __getitem__(self, parameters: Any) -> Any:
        if self._default:
            return Annotated[parameters, _Mark("case", ((), True))]
        labels, of = parameters
        labels = labels if isinstance(labels, tuple) else (labels,)
        return Annotated[of, _Mark("case", (labels, False))]


case = _Case(False)
#: The member that all values select that select no other one: ``tw.default[str]``.
default = _Case(True)


def bits(count: int, *, name: Optional[str] = None) -> Any:
    """How many bits an enum (1 to 32) or a flag enum (1 to 64) has on the wire; 32 by default.

    >>> @tw.bits(8)
    ... class Side(IntEnum):
    ...     BUY = 1
    ...     SELL = 2
    """

    def decorate(cls: type) -> type:
        cls.__tickwire_bits__ = (count, name)  # type: ignore[attr-defined]
        return cls

    return decorate


# From classes to tables.


def describe(cls: Any) -> "_tickwire.Type":
    """The type that a class is: of a dataclass, of :class:`Bytes`, of a class of :func:`tickwire.idl`.

    Raises TypeDescriptionError with what the class has that no topic can have.
    """
    if isinstance(cls, _tickwire.Type):
        return cls
    if cls is Bytes:
        return bytes_type("Bytes", "value")
    if not isinstance(cls, type):
        raise TypeDescriptionError(f"the type of a topic is a dataclass, not {cls!r}")
    known = cls.__dict__.get("__tickwire_type__")
    if known is not None:
        return known
    made = cls.__dict__.get("__tickwire_make__")
    if made is not None:
        found = made()
    else:
        if not dataclasses.is_dataclass(cls):
            raise TypeDescriptionError(f"{cls.__name__} is no dataclass: put @tw.topic and @dataclass before it")
        describer = _Describer()
        root = describer.named(cls)
        found = _tickwire.Type(describer.table, root, describer.classes)
        describer.check_defaults()
    cls.__tickwire_type__ = found  # type: ignore[attr-defined]
    return found


def bytes_type(name: str, member: str, *, extensibility: str = "final", bound: int = 0) -> "_tickwire.Type":
    """A type of raw bytes: a struct with one sequence of octets, whose samples are ``bytes``.

    >>> frames = participant.topic("Frames", tw.bytes_type("camera::Frame", "pixels"))
    """
    members = [(member, 0, False, False, False, False, None, ("sequence", "octet", bound), "discard")]
    table = {name: ("struct", extensibility, members, False, False)}
    return _tickwire.Type(table, name, {name: (None, [member], [False], False, [])})


class _Describer:
    def __init__(self) -> None:
        self.table: Table = {}
        self.classes: Dict[str, Any] = {}
        #: Where there is a default, of what type, and which.
        self.defaults: List[Tuple[str, Any, Any]] = []
        #: Classes by name, to tell two of one name.
        self._of: Dict[str, type] = {}

    def named(self, cls: type) -> str:
        """The full name of a class, which is in the table then."""
        config = cls.__dict__.get("__tickwire__", {})
        if issubclass(cls, enum.Enum):
            name = getattr(cls, "__tickwire_bits__", (None, None))[1] or cls.__name__
        else:
            name = config.get("name", cls.__name__)
        known = self._of.get(name)
        if known is cls:
            return name
        if known is not None:
            raise TypeDescriptionError(f"two classes are named {name}: give one of them another name=")
        self._of[name] = cls
        self.table[name] = ()  # Its place, before what it needs.
        if issubclass(cls, enum.Flag):
            self.table[name] = _bitmask(cls)
            self.classes[name] = cls
        elif issubclass(cls, enum.Enum):
            self.table[name] = _enumeration(cls)
            self.classes[name] = cls
        elif hasattr(cls, "_labels"):
            self._union(name, cls, config)
        elif dataclasses.is_dataclass(cls):
            self._struct(name, cls, config)
        else:
            raise TypeDescriptionError(f"{cls.__name__} is no dataclass")
        return name

    def check_defaults(self) -> None:
        """That each is a value of its member."""
        if not self.defaults:
            return
        members = [(place, number, False, False, False, False, None, of, "discard") for number, (place, of, _) in enumerate(self.defaults)]
        table = {**self.table, "default": ("struct", "final", members, False, False)}
        try:
            _tickwire.Type(table, "default", self.classes).encode({place: value for place, _, value in self.defaults})
        except EncodeError as error:
            raise TypeDescriptionError(str(error)) from error

    def _struct(self, name: str, cls: type, config: Dict[str, Any]) -> None:
        hints = _hints(cls, config)
        by_hash = config.get("autoid") == "hash"
        members: List[tuple] = []
        attributes: List[str] = []
        as_lists: List[bool] = []
        defaults: List[Any] = []
        by_keyword = False
        following = 0
        for field in dataclasses.fields(cls):
            if not field.init:
                continue
            by_keyword = by_keyword or getattr(field, "kw_only", False)
            member = self._member(f"{cls.__name__}.{field.name}", field.name, hints[field.name])
            number = member.id
            if number is None:
                number = _hash_id(member.name) if by_hash else following
            following = number + 1
            members.append(member.entry(number))
            attributes.append(field.name)
            as_lists.append(member.as_list)
            defaults.append(_default_of(field, member.type))
            if defaults[-1] is not None:
                self.defaults.append((f"{cls.__name__}.{field.name}", member.type, defaults[-1]))
        if not members:
            raise TypeDescriptionError(f"{cls.__name__} has no members")
        extensibility = config.get("extensibility", "appendable")
        self.table[name] = ("struct", extensibility, members, config.get("nested", False), by_hash)
        self.classes[name] = (cls, attributes, as_lists, by_keyword, defaults)

    def _union(self, name: str, cls: type, config: Dict[str, Any]) -> None:
        hints = _hints(cls, config)
        labels = _labels_of(cls)
        cls._labels = {attribute: of[0] for attribute, of in labels.items() if of}  # type: ignore[attr-defined]
        cases: List[tuple] = []
        as_lists: List[bool] = []
        for number, attribute in enumerate(labels, 1):
            member = self._member(f"{cls.__name__}.{attribute}", attribute, hints[attribute])
            if member.case is None:
                raise TypeDescriptionError(f"{cls.__name__}.{attribute} has no label: tw.case[1, float]")
            cases.append((member.entry(member.id or number), [_label(of) for of in labels[attribute]], member.case[1]))
            as_lists.append(member.as_list)
        discriminator, _ = self._expression(f"{cls.__name__} by", config["discriminator"])
        extensibility = config.get("extensibility", "appendable")
        self.table[name] = ("union", extensibility, discriminator, cases, config.get("nested", False), False)
        self.classes[name] = (cls, list(labels), as_lists, False, [])

    def _member(self, place: str, attribute: str, hint: Any) -> "_Member":
        member = _Member(attribute)
        base, marks = _split(hint)
        optional, base = _optional(place, base)
        if optional:
            base, inner = _split(base)
            marks = marks + inner
        rest = []
        for mark in marks:
            if mark.what in ("key", "must_understand"):
                setattr(member, mark.what, True)
            elif mark.what in ("id", "name", "case"):
                setattr(member, mark.what, mark.value)
            else:
                rest.append(mark)
        member.optional = optional
        if member.key and optional:
            raise TypeDescriptionError(f"{place} is part of the key, and cannot be optional")
        member.type, member.as_list = self._expression(place, base, rest)
        return member

    def _expression(self, place: str, hint: Any, marks: Optional[List[_Mark]] = None, depth: int = 0) -> Tuple[Any, bool]:
        """The type that an annotation says, and whether its numbers are to be lists."""
        if depth > 64:
            raise TypeDescriptionError(f"{place}: types nest too deeply")
        if marks is None:
            hint, marks = _split(hint)
        form = [mark for mark in marks if mark.what in _FORMS]
        if len(form) > 1:
            raise TypeDescriptionError(f"{place} is of two types: {form[0]!r}, {form[1]!r}")
        if len(form) < len(marks):
            odd = next(mark for mark in marks if mark not in form)
            raise TypeDescriptionError(f"{place}: {odd!r} says something of members, not of what is in them")

        def inner(hint: Any) -> Any:
            return self._expression(place, hint, depth=depth + 1)[0]

        if form:
            what, value = form[0].what, form[0].value
            if what == "primitive":
                return value, False
            if what in ("string", "wstring"):
                return (what, _bound(place, value)), False
            if what == "sequence":
                return ("sequence", inner(value[0]), _bound(place, value[1])), False
            if what == "map":
                return ("map", inner(value[0]), inner(value[1]), _bound(place, value[2])), False
            element, lengths = inner(value[0]), value[1]
            for length in reversed(lengths):
                if not _bound(place, length):
                    raise TypeDescriptionError(f"{place}: an array has at least one element")
                element = ("array", element, length)
            return element, False
        if isinstance(hint, type) and hint in _PLAIN:
            return _PLAIN[hint], False
        origin, arguments = get_origin(hint), get_args(hint)
        if origin in (list, collections.abc.Sequence, collections.abc.MutableSequence) and len(arguments) == 1:
            return ("sequence", inner(arguments[0]), 0), True
        if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
            return ("sequence", inner(arguments[0]), 0), True
        if origin in (dict, collections.abc.Mapping, collections.abc.MutableMapping) and len(arguments) == 2:
            return ("map", inner(arguments[0]), inner(arguments[1]), 0), True
        if hint in (list, tuple, dict):
            raise TypeDescriptionError(f"{place}: say of what the {hint.__name__} is, as in list[float]")
        if isinstance(hint, type) and (
            issubclass(hint, enum.Enum) or dataclasses.is_dataclass(hint) or hasattr(hint, "_labels")
        ):
            return ("named", self.named(hint)), False
        shown = getattr(hint, "__name__", None) or repr(hint)
        raise TypeDescriptionError(
            f"{place}: {shown} cannot be part of a topic's type; there are bool, int, float, str, bytes, Decimal, "
            "tw.int8 to tw.uint64, tw.float32, list[...], dict[..., ...], tw.sequence, tw.array, enums, dataclasses, unions"
        )


class _Member:
    def __init__(self, attribute: str) -> None:
        self.name = attribute
        self.id: Optional[int] = None
        self.key = False
        self.optional = False
        self.must_understand = False
        self.case: Optional[tuple] = None
        self.type: Any = None
        self.as_list = False

    def entry(self, number: int) -> tuple:
        return (self.name, number, self.key, self.optional, self.must_understand, False, None, self.type, "discard")


_CONSTANT = (bool, int, float, str, bytes, decimal.Decimal)
_FORMS = ("primitive", "string", "wstring", "sequence", "array", "map")
_PLAIN: Dict[type, Any] = {
    bool: "bool",
    int: "int64",
    float: "float64",
    str: ("string", 0),
    bytes: ("sequence", "octet", 0),
    bytearray: ("sequence", "octet", 0),
    decimal.Decimal: "decimal",
}


def _split(hint: Any) -> Tuple[Any, List[_Mark]]:
    """An annotation without its marks, and these."""
    if get_origin(hint) is Annotated:
        base, *rest = get_args(hint)
        marks: List[_Mark] = []
        for mark in rest:
            # For type checkers: `Annotated[numpy.ndarray, tw.sequence(tw.float64)]`.
            marks += [mark] if isinstance(mark, _Mark) else _split(mark)[1]
        return base, marks
    return hint, []


def _optional(place: str, hint: Any) -> Tuple[bool, Any]:
    origin = get_origin(hint)
    if origin is not Union and origin is not getattr(types, "UnionType", Union):
        return False, hint
    rest = [argument for argument in get_args(hint) if argument is not type(None)]
    if len(rest) != 1:
        raise TypeDescriptionError(f"{place}: of several types; a union is a class of its own, see tw.union")
    return len(rest) < len(get_args(hint)), rest[0]


def _hints(cls: type, config: Dict[str, Any]) -> Dict[str, Any]:
    """The annotations of a class, in their order, also where they are text."""
    known = config.get("hints")
    if known is not None:
        return known
    local = dict(config.get("locals") or {})
    local.setdefault(cls.__name__, cls)
    try:
        hints = get_type_hints(cls, localns=local, include_extras=True)
    except (TypeError, SyntaxError) as error:
        raise TypeDescriptionError(f"{cls.__name__}: {error}") from error
    if config:
        # What else is in the function that the class is made in does not live as long as the class.
        config["hints"] = hints
        config.pop("locals", None)
    return hints


def _default_of(field: "dataclasses.Field[Any]", of: Any) -> Any:
    """The default of a field, if nobody can change it; None is the value of no member."""
    value = field.default
    is_named = isinstance(of, tuple) and of[0] == "named"
    return value if isinstance(value, enum.Enum if is_named else _CONSTANT) else None


def _bound(place: str, bound: Any) -> int:
    if isinstance(bound, bool) or not isinstance(bound, int) or not 0 <= bound < 1 << 32:
        raise TypeDescriptionError(f"{place}: {bound!r} is no length")
    return bound


def _labels_of(cls: type) -> Dict[str, tuple]:
    config = cls.__dict__["__tickwire__"]
    labels = {}
    hints = _hints(cls, config)
    for attribute in cls._members:  # type: ignore[attr-defined]
        found = [mark.value[0] for mark in _split(hints[attribute])[1] if mark.what == "case"]
        labels[attribute] = found[0] if found else ()
    return labels


def _label(label: Any) -> int:
    if isinstance(label, str) and len(label) == 1:
        return ord(label)
    value = label.value if isinstance(label, enum.Enum) else label
    if not isinstance(value, int):
        raise TypeDescriptionError(f"{label!r} is no label of a union")
    return int(value)


def _enumeration(cls: Any) -> tuple:
    count = getattr(cls, "__tickwire_bits__", (32, None))[0]
    literals = []
    for literal in cls:
        if isinstance(literal.value, bool) or not isinstance(literal.value, int):
            raise TypeDescriptionError(f"{cls.__name__}.{literal.name} is {literal.value!r}; literals of an enum are numbers")
        limit = 1 << (count - 1)
        if not -limit <= literal.value < limit:
            raise TypeDescriptionError(f"{cls.__name__}.{literal.name} does not fit {count} bits")
        literals.append((literal.name, int(literal.value)))
    if not literals:
        raise TypeDescriptionError(f"{cls.__name__} has no literals")
    return ("enum", count, literals, "appendable")


def _bitmask(cls: Any) -> tuple:
    flags = []
    for flag_name, flag in cls.__members__.items():
        value = int(flag.value)
        if value > 0 and value & (value - 1) == 0 and flag_name == flag.name:
            flags.append((flag_name, value.bit_length() - 1))
    flags.sort(key=lambda flag: flag[1])
    count = getattr(cls, "__tickwire_bits__", (None, None))[0]
    highest = flags[-1][1] if flags else 0
    return ("bitmask", count or (32 if highest < 32 else 64), flags, "appendable")


def _hash_id(text: str) -> int:
    """XTypes 1.3 §7.3.1.2.1.1."""
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[:4], "little") & 0x0FFFFFFF
