"""Types from classes, and values of them as payloads and back."""

import array
import dataclasses
import gc
import random
import sys
import threading
import weakref
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, IntEnum, IntFlag
from typing import Annotated, Dict, List, Optional

import numpy
import pytest

import tickwire as tw
from conftest import run
from market import BySide, Everything, Flags, Level, Limit, Node, Quote, Side, everything

REPRESENTATIONS = ["xcdr1", "xcdr2"]


def plain(value):
    """A value with lists in place of arrays, so that it can be compared."""
    if isinstance(value, numpy.ndarray):
        return value.tolist()
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if dataclasses.is_dataclass(value):
        return type(value)(**{field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)})
    if hasattr(value, "discriminator") and value.member is not None:
        return type(value)(discriminator=value.discriminator, **{value.member: plain(value.value)})
    return value


def again(cls, value, representation="xcdr2"):
    kind = tw.describe(cls)
    return kind.decode(kind.encode(value, representation))


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_every_kind_of_member_comes_back(representation):
    value = everything()
    back = again(Everything, value, representation)
    assert plain(back) == value
    assert isinstance(back.side, Side) and isinstance(back.flags, Flags) and isinstance(back.level, Level)
    assert str(back.price) == "101.50" and isinstance(back.raw, bytes)
    assert type(back.numbers) is list and isinstance(back.array, numpy.ndarray)


@pytest.mark.parametrize("extensibility", ["final", "appendable", "mutable"])
@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_extensibilities(extensibility, representation):
    @tw.topic(extensibility=extensibility, autoid="hash")
    @dataclass
    class Sample:
        a: tw.key[tw.int32]
        b: Optional[str]
        c: list[Level]
        d: Annotated[float, tw.id(3)]

    for value in [Sample(1, None, [], 0.5), Sample(-1, "b", [Level(Decimal(1), 1)], 1e9)]:
        assert again(Sample, value, representation) == value
        kind = tw.describe(Sample)
        assert kind.decode(kind.encode({"a": value.a}, representation, key_only=True), key_only=True) == {"a": value.a}
    assert tw.describe(Sample).extensibility == extensibility


def test_a_description_has_what_the_class_says():
    kind = tw.describe(Everything)
    assert kind.name == "market::Everything" and kind.has_key
    table = kind.table()
    members = {member[0]: member for member in table["market::Everything"][2]}
    assert members["flag"][2] and members["id"][2] and not members["i8"][2]
    assert members["nothing"][3] and "from" in members
    assert members["grid"][7] == ("array", ("array", "int32", 3), 2)
    assert members["short"][7] == ("string", 8) and members["price"][7] == "decimal"
    assert table["Side"] == ("enum", 8, [("BUY", 1), ("SELL", 2)], "appendable")
    assert table["Flags"][2] == [("OPEN", 0), ("HALTED", 2), ("CLOSED", 20)]
    assert table["Node"][2][1][7] == ("sequence", ("named", "Node"), 0)
    assert tw.describe(Quote) is tw.describe(Quote)


def test_a_type_made_again_of_its_table_is_the_same():
    kind = tw.describe(Everything)
    table = kind.table()
    twin = tw.Type(table, kind.name, {})
    assert twin.table() == table
    payload = kind.encode(everything())
    value = twin.decode(payload)
    assert value["level"]["price"] == Decimal("-1E+3") and value["from"] == "here"
    assert value["two"] == {"$discriminator": 2, "ask": value["two"]["ask"]}
    assert twin.encode(value) == payload, "dicts are written as objects are"


def test_later_and_recursive_classes_are_found_by_name():
    @tw.topic
    @dataclass
    class First:
        other: "Second"

    @dataclass
    class Second:
        text: str
        back: "Optional[list[Second]]" = None

    globals()["Second"] = Second
    try:
        value = First(Second("a", [Second("b"), Second("c", [])]))
        assert again(First, value) == value
    finally:
        del globals()["Second"]


def test_keyword_only_and_inherited_dataclasses():
    @dataclass
    class Base:
        id: tw.key[tw.int32]

    extra = {"kw_only": True} if sys.version_info >= (3, 10) else {}

    @tw.topic
    @dataclass(**extra)
    class Derived(Base):
        text: str = "x"

    value = Derived(id=1, text="y") if not extra else Derived(1, text="y")
    assert again(Derived, value) == value


def test_annotations_for_type_checkers():
    @tw.topic
    @dataclass
    class Checked:
        values: Annotated[numpy.ndarray, tw.sequence(tw.float64, 5)]
        text: tw.key[Annotated[str, tw.string(4)]]
        free: Annotated[float, "no mark of ours"]

    members = tw.describe(Checked).table()["Checked"][2]
    assert [member[7] for member in members] == [("sequence", "float64", 5), ("string", 4), "float64"] and members[1][2]


def test_an_enum_that_is_no_int_has_its_members():
    class Color(Enum):
        RED = 1
        BLUE = 5

    @tw.topic
    @dataclass
    class Paint:
        color: Color

    assert again(Paint, Paint(Color.BLUE)).color is Color.BLUE
    assert again(Paint, Paint("RED")).color is Color.RED


def test_unions_have_one_member():
    price = Limit(peg=3)
    assert (price.member, price.value, price.discriminator, price.at, price.peg) == ("peg", 3, 2, None, 3)
    assert repr(price) == "Limit(peg=3)" and price == Limit(discriminator=2, peg=3) != Limit(peg=4)

    @tw.topic
    @dataclass
    class Order:
        limit: Limit
        by: BySide

    for limit in [Limit(at=Decimal(1)), Limit(discriminator=3, peg=5), Limit(other="market"), Limit(discriminator=99, other="")]:
        back = again(Order, Order(limit, BySide(bid=1.0)))
        assert back.limit == limit and back.limit.member == limit.member
    assert again(Order, {"limit": {"$discriminator": 3, "peg": 1}, "by": {"ask": []}}).limit.discriminator == 3
    with pytest.raises(TypeError):
        Limit(at=1, peg=2)
    with pytest.raises(TypeError):
        Limit(nothing=1)
    for wrong in [Limit(discriminator=1, peg=5), Limit(), {"at": 1, "peg": 2}, {"none": 1}, 5, {"$discriminator": 2.5}]:
        with pytest.raises(tw.EncodeError):
            tw.describe(Order).encode(Order(wrong, BySide(bid=1.0)))


@tw.topic
@dataclass
class Arrays:
    i8: tw.sequence(tw.int8)
    u16: tw.sequence(tw.uint16)
    i32: tw.sequence(tw.int32)
    u64: tw.sequence(tw.uint64)
    f32: tw.sequence(tw.float32)
    f64: tw.sequence(tw.float64)
    grid: tw.array(tw.float32, 2, 2)


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("make", [list, tuple, "numpy", "array", "memoryview", "strided"])
def test_numbers_of_any_buffer(representation, make):
    codes = {"i8": "b", "u16": "H", "i32": "i", "u64": "Q", "f32": "f", "f64": "d"}
    values = {name: [1, 2, 100] for name in codes}
    given = {}
    for name, code in codes.items():
        if make in (list, tuple):
            given[name] = make(values[name])
        elif make == "numpy":
            given[name] = numpy.array(values[name], dtype=code)
        elif make == "strided":
            given[name] = numpy.array([1, 0, 2, 0, 100, 0], dtype=code)[::2]
        else:
            given[name] = array.array(code, values[name])
            if make == "memoryview":
                given[name] = memoryview(given[name])
    grid = [[1, 2], [3, 4]] if make in (list, tuple) else numpy.array([[1, 2], [3, 4]], dtype="f")
    back = again(Arrays, Arrays(**given, grid=grid), representation)
    for name, code in codes.items():
        found = getattr(back, name)
        assert found.tolist() == values[name] and found.dtype == numpy.dtype(code)
        assert not found.flags.writeable
    assert back.grid.tolist() == [[1, 2], [3, 4]] and back.grid.shape == (2, 2)


def test_numbers_of_another_kind_are_converted_one_by_one():
    value = Arrays([1], numpy.array([1, 2]), range(3), [], numpy.array([0.5, 1.5]), [1, True], numpy.eye(2))
    back = again(Arrays, value)
    assert back.u16.tolist() == [1, 2] and back.i32.tolist() == [0, 1, 2] and back.f32.tolist() == [0.5, 1.5]
    assert back.grid.tolist() == [[1, 0], [0, 1]]
    for name, wrong in [("i8", numpy.array([200])), ("u16", [-1]), ("i32", [1.5]), ("f32", [1e300]), ("grid", [[1, 2]])]:
        with pytest.raises(tw.EncodeError, match=name):
            tw.describe(Arrays).encode(dataclasses.replace(value, **{name: wrong}))


def test_an_array_keeps_the_bytes_it_lies_in():
    kind = tw.describe(Arrays)
    array = kind.decode(kind.encode(Arrays([], [], [], [], [], numpy.arange(1000.0), numpy.zeros((2, 2))))).f64
    others = [kind.decode(kind.encode(Arrays([], [], [], [], [], [n] * 1000, numpy.zeros((2, 2))))) for n in range(50)]
    assert array.tolist() == numpy.arange(1000.0).tolist() and len(others) == 50
    with pytest.raises(ValueError):
        array[0] = 1.0


def test_without_numpy_numbers_are_lists():
    program = """
import sys
sys.modules["numpy"] = None
import tickwire as tw
from dataclasses import dataclass
@tw.topic
@dataclass
class Numbers:
    some: tw.sequence(tw.int16)
    grid: tw.array(tw.float64, 2, 2)
kind = tw.describe(Numbers)
print(kind.decode(kind.encode(Numbers([1, -2], [[1, 2], [3, 4]]))))
"""
    result = run(program)
    assert result.stdout.strip() == "Numbers(some=[1, -2], grid=[[1.0, 2.0], [3.0, 4.0]])", result.stderr


def test_bytes_are_themselves():
    kind = tw.describe(tw.Bytes)
    for value in [b"", b"\x00" * 5, bytearray(b"abc"), memoryview(b"abc"), numpy.arange(4, dtype="uint8"), [1, 2]]:
        assert kind.decode(kind.encode(value)) == bytes(value)
    for wrong in ["abc", 5, [256], None, {"value": b""}]:
        with pytest.raises(tw.EncodeError):
            kind.encode(wrong)


WRONG = [
    ("flag", 1, TypeError),
    ("flag", None, TypeError),
    ("id", 1 << 31, ValueError),
    ("id", "7", TypeError),
    ("id", 7.0, TypeError),
    ("i8", 128, ValueError),
    ("u8", -1, ValueError),
    ("u16", 1 << 16, ValueError),
    ("u32", -1, ValueError),
    ("i64", 1 << 63, ValueError),
    ("u64", -1, ValueError),
    ("u64", 1 << 64, ValueError),
    ("f32", 1e39, ValueError),
    ("f32", "x", TypeError),
    ("f64", None, TypeError),
    ("f64", 10**400, ValueError),
    ("octet", 256, ValueError),
    ("char", "ab", ValueError),
    ("char", "€", ValueError),
    ("char", 65, TypeError),
    ("wchar", "😀", ValueError),
    ("wchar", "", ValueError),
    ("text", b"bytes", TypeError),
    ("text", "a\0b", ValueError),
    ("text", "\ud800", ValueError),
    ("short", "123456789", ValueError),
    ("raw", "text", TypeError),
    ("raw", [1, 256], ValueError),
    ("price", 1.5, TypeError),
    ("price", Decimal("NaN"), ValueError),
    ("price", Decimal("Infinity"), ValueError),
    ("price", Decimal("1E+64"), ValueError),
    ("price", Decimal(1 << 64), ValueError),
    ("price", "twelve", ValueError),
    ("side", 3, ValueError),
    ("side", "HOLD", ValueError),
    ("side", None, TypeError),
    ("flags", 1 << 32, ValueError),
    ("flags", -1, ValueError),
    ("level", None, TypeError),
    ("level", {"price": Decimal(1)}, ValueError),
    ("level", {"price": Decimal(1), "size": 1, "side": 1, "more": 1}, ValueError),
    ("levels", Level(Decimal(1), 1), TypeError),
    ("levels", [None], TypeError),
    ("levels", "text", TypeError),
    ("bounded", [Level(Decimal(1), 1)] * 3, ValueError),
    ("numbers", {"a": 1}, TypeError),
    ("numbers", 5, TypeError),
    ("ints", [1, 2, 3, 4, 5, 6], ValueError),
    ("ints", numpy.zeros(6, "uint16"), ValueError),
    ("grid", [[1, 2, 3]], ValueError),
    ("grid", [[1, 2], [3, 4]], ValueError),
    ("names", ["a", "b", "c"], ValueError),
    ("tags", [1], TypeError),
    ("tags", {1: 1}, TypeError),
    ("tags", {"a": "b"}, TypeError),
    ("by_side", {9: 1.0}, ValueError),
    ("limit", 5, TypeError),
    ("tree", Node("x"), TypeError),
    ("something", 5, TypeError),
]


@pytest.mark.parametrize("member, value, error", WRONG, ids=lambda it: repr(it)[:30])
def test_values_that_do_not_fit_are_errors_that_name_the_member(member, value, error):
    with pytest.raises(tw.EncodeError, match=f"market::Everything.{member}") as caught:
        tw.describe(Everything).encode(everything(**{member: value}))
    assert isinstance(caught.value, error) and isinstance(caught.value, tw.Error)


def test_errors_name_the_way():
    with pytest.raises(tw.EncodeTypeError, match=r"market::Everything\.levels\[1\]\.size: expected uint32, got str"):
        tw.describe(Everything).encode(everything(levels=[Level(Decimal(1), 1), Level(Decimal(1), "x")]))
    with pytest.raises(tw.EncodeTypeError, match=r"tags\{'a'\}"):
        tw.describe(Everything).encode(everything(tags={"a": None}))
    with pytest.raises(tw.EncodeTypeError, match="an object with `symbol`, got int"):
        tw.describe(Quote).encode(5)


def test_what_contains_itself_is_an_error():
    node = Node(1)
    node.children.append(node)
    with pytest.raises(tw.EncodeError, match="nest too deeply"):
        tw.describe(Everything).encode(everything(tree=node))
    deep = Node(0)
    for _ in range(10_000):
        deep = Node(0, [deep])
    with pytest.raises(tw.EncodeError, match="nest too deeply"):
        tw.describe(Everything).encode(everything(tree=deep))
    while deep.children:
        deep = deep.children.pop()


def test_collections_that_nest_too_deeply_are_errors_in_any_thread():
    def kind(wrap, depth):
        inner = ("named", "T")
        for _ in range(depth):
            inner = wrap(inner)
        return tw.Type({"T": ("struct", "final", [("a", 0, False, False, False, False, None, inner, "discard")], False, False)}, "T", {})

    def payload(*counts):
        return b"\0\1\0\0" + b"".join(count.to_bytes(4, "little") for count in counts)

    def sequence(inner):
        return ("sequence", inner, 0)

    shallow = kind(sequence, 25)
    nested = []
    for _ in range(24):
        nested = [nested]
    assert shallow.decode(shallow.encode({"a": nested})) == {"a": nested}
    inner = [{"a": nested}]
    for _ in range(24):
        inner = [inner]
    assert shallow.decode(shallow.encode({"a": inner}, "xcdr1")) == {"a": inner}
    outcomes = []

    def hostile():
        for wrap in (sequence, lambda inner: ("array", inner, 1), lambda inner: ("map", "int32", inner, 0)):
            deep = kind(wrap, 28)
            for call in (lambda: deep.decode(payload(*[1] * 200)), lambda: deep.encode(endless(wrap))):
                try:
                    outcomes.append(call())
                except tw.Error as error:
                    outcomes.append("too deeply" in str(error))

    def endless(wrap):
        value = {}
        inner = value
        for _ in range(28):
            inner = {0: inner} if wrap(0)[0] == "map" else [inner]
        value["a"] = inner
        return value

    before = threading.stack_size(2 << 20)
    try:
        thread = threading.Thread(target=hostile)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert outcomes == [True] * 6


def test_what_attributes_raise_is_told():
    class Evil:
        symbol = "x"

        @property
        def price(self):
            raise RuntimeError("not today")

    with pytest.raises(tw.EncodeError, match="not today") as caught:
        tw.describe(Quote).encode(Evil())
    assert isinstance(caught.value.__cause__, RuntimeError)

    class EvilInt:
        def __index__(self):
            raise ZeroDivisionError("no")

    with pytest.raises(tw.EncodeError, match="no"):
        tw.describe(Everything).encode(everything(id=EvilInt()))


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit, MemoryError], ids=lambda it: it.__name__)
def test_what_ends_the_program_is_no_wrong_value(end):
    def stop(*_):
        raise end()

    class Evil:
        __bool__ = __index__ = __int__ = __float__ = __len__ = __iter__ = __repr__ = stop

    evil, walked = Evil(), type("Walked", (), {"__len__": lambda _: 1, "__iter__": stop})()
    key = type("Key", (), {"__hash__": lambda _: 1, "__eq__": stop, "__repr__": stop})()
    named = type("Named", (), {"value": evil})()
    for member, value in [
        ("id", evil),
        ("i8", evil),
        ("f64", evil),
        ("f32", evil),
        ("levels", evil),
        ("levels", walked),
        ("numbers", walked),
        ("raw", walked),
        ("side", evil),
        ("side", named),
        ("flags", evil),
        ("level", {key: 1}),
        ("tags", {key: 1}),
    ]:
        with pytest.raises(end):
            tw.describe(Everything).encode(everything(**{member: value}))

    @tw.topic
    @dataclass
    class Ended:
        symbol: tw.key[str]
        __post_init__ = stop

    with pytest.raises(end):
        tw.describe(Ended).decode(tw.describe(Ended).encode({"symbol": "A"}))


def test_decimals_that_arrive_have_the_exponents_that_can_be_written():
    @tw.topic(extensibility="final")
    @dataclass
    class Price:
        price: Decimal

    kind = tw.describe(Price)
    for exponent in (-63, -1, 0, 63):
        value = Price(Decimal((0, (1, 5), exponent)))
        payload = kind.encode(value)
        assert kind.decode(payload) == value
        at = payload.rindex(exponent.to_bytes(4, "little", signed=True))
        for wrong in (-64, 64, 128, 192, 1 << 30, -(1 << 31)):
            with pytest.raises(tw.DecodeError, match="Price.price: .*exponent"):
                kind.decode(payload[:at] + wrong.to_bytes(4, "little", signed=True) + payload[at + 4 :])


def test_random_bytes_are_values_or_errors():
    seed = random.randrange(1 << 32)
    print("seed", seed)
    source = random.Random(seed)
    kind = tw.describe(Everything)
    for representation in REPRESENTATIONS:
        good = kind.encode(everything(), representation)
        for _ in range(1500):
            bad = bytearray(good[: source.randrange(len(good) + 1)] if source.random() < 0.3 else good)
            for _ in range(source.randrange(4)):
                if bad:
                    bad[source.randrange(len(bad))] = source.randrange(256)
            try:
                kind.decode(bytes(bad))
            except tw.DecodeError:
                pass


def test_payloads_of_another_kind_are_errors():
    kind = tw.describe(Quote)
    for wrong in [b"", b"\0", b"\0\7\0\0", b"\0\x0b\0\0", kind.encode(Quote("a", 1.0))[:-4]]:
        with pytest.raises(tw.DecodeError):
            kind.decode(wrong)
    with pytest.raises(tw.EncodeError):
        kind.encode(Quote("a", 1.0), "xml")


def test_members_that_a_writer_does_not_know_are_zero():
    @tw.topic(name="Grown")
    @dataclass
    class Old:
        a: int

    @tw.topic(name="Grown")
    @dataclass
    class New:
        a: int
        b: str
        c: Side
        d: tw.array(tw.int32, 2)
        e: tw.sequence(tw.float64)
        f: Level
        g: Limit
        h: Optional[int]
        i: Decimal
        j: tw.array(str, 2)

    new = tw.describe(New).decode(tw.describe(Old).encode(Old(5)))
    assert (new.a, new.b, new.c, new.h, new.i, new.j) == (5, "", Side.BUY, None, 0, ["", ""])
    assert new.d.tolist() == [0, 0] and new.e.tolist() == [] and new.f == Level(Decimal(0), 0, Side.BUY)
    assert new.g == Limit(other="")


def test_members_that_a_writer_does_not_know_have_the_defaults_of_their_fields():
    @tw.topic(name="Grown", extensibility="mutable")
    @dataclass
    class Old:
        a: int

    @tw.topic
    @dataclass
    class Inner:
        x: int = 3
        y: int = 0

    @tw.topic(name="Grown", extensibility="mutable")
    @dataclass(eq=False)
    class New:
        a: int
        b: str = "nobody"
        c: Side = Side.SELL
        d: List[int] = field(default_factory=lambda: [1, 2])
        e: Optional[int] = 5
        f: str = None
        g: Inner = None
        h: Decimal = Decimal("1.5")
        i: bytes = b"raw"
        j: tw.key[int] = 4

    new = tw.describe(New).decode(tw.describe(Old).encode(Old(7)))
    assert (new.a, new.b, new.c, list(new.d), new.e, new.f, new.g) == (7, "nobody", Side.SELL, [], None, "", Inner(3, 0))
    # The core takes a key that is not there for zero.
    assert (new.h, new.i, new.j) == (Decimal("1.5"), b"raw", 0)


@pytest.mark.parametrize("annotation, default", [(tw.uint8, 300), (tw.string(3), "four"), (tw.int32, "text"), (float, 1 << 2000)])
def test_defaults_that_do_not_fit_are_refused(annotation, default):
    with pytest.raises(tw.TypeDescriptionError, match=r"Odd\.value"):
        tw.topic(dataclasses.make_dataclass("Odd", [("value", annotation, dataclasses.field(default=default))]))


def test_classes_with_defaults_that_nobody_uses_are_collected():
    class Colour(IntEnum):
        RED = 1

    @tw.topic
    @dataclass
    class Painted:
        colour: Colour = Colour.RED

    tw.describe(Painted)
    gone = weakref.ref(Painted)
    del Painted, Colour
    gc.collect()
    assert gone() is None


def test_arrays_that_are_made_up_have_a_limit():
    members = [("a", 0, False, False, False, False, None, "int32", "discard")]
    huge = ("b", 1, False, False, False, False, None, ("array", ("array", "float64", (1 << 32) - 1), (1 << 32) - 1), "discard")
    strings = ("b", 1, False, False, False, False, None, ("array", ("string", 0), (1 << 32) - 1), "discard")
    small = tw.Type({"T": ("struct", "appendable", members, False, False)}, "T", {})
    for more in (huge, strings):
        large = tw.Type({"T": ("struct", "appendable", [*members, more], False, False)}, "T", {})
        with pytest.raises(tw.DecodeError):
            large.decode(small.encode({"a": 1}))
        with pytest.raises(tw.EncodeError):
            large.encode({"a": 1, "b": [1]})


def test_all_that_is_made_up_for_a_sample_has_one_limit():
    def lists_of(*members):
        element = ("struct", "mutable", [("a", 0, False, True, False, False, None, "int32", "discard"), *members], True, False)
        whole = ("struct", "final", [("all", 0, False, False, False, False, None, ("sequence", ("named", "E"), 0), "discard")], False, False)
        return tw.Type({"T": whole, "E": element}, "T", {})

    numbers = ("b", 1, False, False, False, False, None, ("array", "float64", 1 << 17), "discard")
    payload = lists_of().encode({"all": [{}] * 100})
    few = lists_of().encode({"all": [{}] * 10})
    assert [len(one["b"]) for one in lists_of(numbers).decode(few)["all"]] == [1 << 17] * 10
    with pytest.raises(tw.DecodeError, match="too large"):
        lists_of(numbers).decode(payload)


def _class(**annotations):
    return dataclass(type("Wrong", (), {"__annotations__": annotations}))


@pytest.mark.parametrize(
    "annotation",
    [
        complex,
        object,
        list,
        dict,
        set[int],
        "Optional[",
        int | str if sys.version_info >= (3, 10) else complex,
        Dict[float, int],
        tw.array(tw.int32, 0),
        tw.sequence(tw.int32, -1),
        tw.sequence(tw.int32, 1 << 32),
        Annotated[tw.int32, tw.string(5)],
        List[tw.key[str]],
        Optional[tw.key[str]],
        Annotated[int, tw.id(1 << 28)],
        dataclass(type("Empty", (), {})),
        Enum("Texts", {"A": "a"}),
        IntEnum("Large", {"A": 1 << 40}),
    ],
    ids=lambda it: str(it)[:40],
)
def test_classes_that_no_topic_can_have(annotation):
    with pytest.raises(tw.TypeDescriptionError):
        tw.describe(_class(member=annotation))


def test_what_is_no_class_of_topics():
    for wrong in [5, "Quote", None, int, object]:
        with pytest.raises(tw.TypeDescriptionError):
            tw.describe(wrong)
    with pytest.raises(tw.TypeDescriptionError, match="final, appendable, mutable"):
        tw.topic(extensibility="closed")
    with pytest.raises(tw.TypeDescriptionError):
        tw.array(tw.int32)
    with pytest.raises(tw.TypeDescriptionError, match="two classes are named"):
        one, two = (dataclass(type("Same", (), {"__annotations__": {"a": int}})) for _ in range(2))
        tw.describe(_class(one=one, two=two))


def test_tables_that_make_no_sense_are_errors():
    member = ("a", 0, False, False, False, False, None, "int32", "discard")
    deep = "int32"
    for _ in range(500):
        deep = ("sequence", deep, 0)
    for table in [
        {},
        {"T": ()},
        {"T": 5},
        {"T": ("struct",)},
        {"T": ("thing", 1)},
        {"T": ("struct", "open", [member], False, False)},
        {"T": ("struct", "final", [], False, False)},
        {"T": ("struct", "final", [member, member], False, False)},
        {"T": ("struct", "final", [(*member[:7], "int33")], False, False)},
        {"T": ("struct", "final", [(*member[:7], ("named", "U"))], False, False)},
        {"T": ("struct", "final", [(*member[:7], ("sequence", "int32"))], False, False)},
        {"T": ("struct", "final", [(*member[:7], deep)], False, False)},
        {"T": ("enum", 8, [("A", 1)], "final")},
    ]:
        with pytest.raises((tw.Error, TypeError, ValueError, IndexError)):
            tw.Type(table, "T", {})


def test_a_struct_within_itself_can_be_described_but_not_written():
    member = ("a", 0, False, False, False, False, None, ("named", "T"), "discard")
    kind = tw.Type({"T": ("struct", "final", [member], False, False)}, "T", {})
    value = {}
    value["a"] = value
    with pytest.raises(tw.EncodeError):
        kind.encode(value)
    with pytest.raises(tw.DecodeError):
        kind.decode(b"\0\1\0\0" + b"\0" * 100)


def test_classes_made_in_functions_go_with_them():
    class Large:
        pass

    def make():
        beside = Large()

        @tw.bits(8)
        class Colour(IntEnum):
            RED = 1

        class Marks(IntFlag):
            A = 1

        @tw.struct
        @dataclass
        class Inner:
            colour: Colour

        @tw.union(tw.int32)
        class Either:
            one: tw.case[1, tw.int32]

        @tw.topic
        @dataclass
        class Local:
            id: tw.key[int]
            marks: Marks
            inner: list[Inner]
            either: Either
            here: "Inner"

        value = Local(1, Marks.A, [Inner(Colour.RED)], Either(one=1), Inner(Colour.RED))
        described = tw.describe(Local)
        assert described.decode(described.encode(value)) == value
        return [weakref.ref(made) for made in (Local, Inner, Colour, Marks, Either, beside)]

    made = make()
    gc.collect()
    assert [reference() for reference in made] == [None] * len(made)


def test_flags_that_others_send_do_not_pile_up():
    class Few(IntFlag):
        A = 1
        B = 2

    @tw.topic(extensibility="final")
    @dataclass
    class Marked:
        flags: Few

    described = tw.describe(Marked)
    payload = bytearray(described.encode(Marked(Few.A | Few.B)))
    for bits in range(1, 5000):
        payload[-4:] = bits.to_bytes(4, "little")
        flags = described.decode(bytes(payload)).flags
        assert isinstance(flags, Few) and flags == bits and (Few.A in flags) == bool(bits & 1)
    assert len(Few._value2member_map_) < 1500 and described.decode(bytes(payload[:-4]) + b"\1\0\0\0").flags is Few.A
