"""Types of the tests."""

from dataclasses import dataclass, field
from decimal import Decimal
from enum import IntEnum, IntFlag
from typing import Annotated, Optional

import tickwire as tw


@tw.topic
@dataclass
class Quote:
    symbol: tw.key[str]
    price: float


@tw.bits(8)
class Side(IntEnum):
    BUY = 1
    SELL = 2


class Flags(IntFlag):
    OPEN = 1
    HALTED = 4
    CLOSED = 1 << 20


@tw.struct(extensibility="final")
@dataclass
class Level:
    price: Decimal
    size: tw.uint32
    side: Side = Side.BUY


@tw.union(tw.int32)
class Limit:
    at: tw.case[1, Decimal]
    peg: tw.case[(2, 3), tw.int32]
    other: tw.default[str]


@tw.union(Side)
class BySide:
    bid: tw.case[Side.BUY, float]
    ask: tw.case[Side.SELL, list[float]]


@dataclass
class Node:
    value: int
    children: "list[Node]" = field(default_factory=list)


@tw.topic(name="market::Everything", extensibility="appendable")
@dataclass
class Everything:
    flag: tw.key[bool]
    id: tw.key[tw.int32]
    i8: tw.int8
    u8: tw.uint8
    i16: tw.int16
    u16: tw.uint16
    u32: tw.uint32
    i64: int
    u64: tw.uint64
    f32: tw.float32
    f64: float
    octet: tw.octet
    char: tw.char
    wchar: tw.wchar
    text: str
    short: tw.string(8)
    wide: tw.wstring()
    raw: bytes
    price: Decimal
    side: Side
    flags: Flags
    level: Level
    levels: list[Level]
    bounded: tw.sequence(Level, 2)
    numbers: list[float]
    array: tw.sequence(tw.float64)
    ints: tw.sequence[tw.uint16, 5]
    grid: tw.array(tw.int32, 2, 3)
    names: tw.array(str, 2)
    tags: dict[str, int]
    by_side: dict[Side, tw.float32]
    limit: Limit
    two: BySide
    tree: Node
    nothing: Optional[tw.int32] = None
    something: Optional[str] = None
    maybe: Optional[Level] = None
    from_: Annotated[str, tw.name("from")] = ""


def everything(**changes):
    values = dict(
        flag=True,
        id=7,
        i8=-128,
        u8=255,
        i16=-(1 << 15),
        u16=(1 << 16) - 1,
        u32=(1 << 32) - 1,
        i64=-(1 << 63),
        u64=(1 << 64) - 1,
        f32=0.5,
        f64=101.25,
        octet=9,
        char="é",
        wchar="€",
        text="Zürich €",
        short="TICK",
        wide="日本",
        raw=b"\x00\xff",
        price=Decimal("101.50"),
        side=Side.SELL,
        flags=Flags.OPEN | Flags.CLOSED,
        level=Level(Decimal("-1E+3"), 5),
        levels=[Level(Decimal("1.25"), 1, Side.SELL), Level(Decimal(2), 2)],
        bounded=[Level(Decimal(3), 3)],
        numbers=[1.0, 2.5],
        array=[1.5, -2.5, 1e300],
        ints=[1, 2, 65535],
        grid=[[1, 2, 3], [4, 5, -6]],
        names=["a", ""],
        tags={"a": 1, "b": -2},
        by_side={Side.BUY: 1.5},
        limit=Limit(at=Decimal("5.5")),
        two=BySide(ask=[1.0, 2.0]),
        tree=Node(1, [Node(2, [Node(3)]), Node(4)]),
        nothing=None,
        something="some",
        maybe=None,
        from_="here",
    )
    values.update(changes)
    return Everything(**values)
