"""Types of IDL."""

from dataclasses import dataclass, is_dataclass
from decimal import Decimal
from enum import IntEnum, IntFlag
from typing import Annotated, Optional

import pytest

import tickwire as tw
from conftest import take
from test_types import plain

IDL = """
module market {
    const long DEPTH = 3;
    const string VENUE = "XETR";
    enum Side { BUY, @value(5) SELL };
    @bit_bound(8) bitmask Flags { OPEN, @position(4) HALTED };
    struct Key { long venue; };
    struct Level { double price; unsigned long size; };
    union Price switch (Side) { case BUY: double limit; default: string other; };
    struct Node { long value; sequence<Node> children; };
    @mutable
    struct Quote {
        @key string<12> symbol;
        @key Key place;
        Side side;
        Flags flags;
        sequence<Level, DEPTH> levels;
        float matrix[2][2];
        @optional Price price;
        map<string, long> tags;
        wstring wide;
        char letter;
        octet raw[4];
        sequence<octet> blob;
        Node tree;
        long from;
    };
};
"""


@pytest.fixture(scope="module")
def module():
    return tw.idl(text=IDL)


def test_types_are_classes_in_modules(module):
    market = module.market
    assert market.DEPTH == 3 and market.VENUE == "XETR"
    assert issubclass(market.Side, IntEnum) and market.Side.SELL == 5
    assert issubclass(market.Flags, IntFlag) and market.Flags.HALTED == 16
    assert is_dataclass(market.Quote) and market.Quote().levels == [] and market.Quote().side is market.Side.BUY
    assert market.Quote().matrix == [[0.0, 0.0], [0.0, 0.0]] and market.Quote().from_ == 0
    assert tw.describe(market.Quote).name == "market::Quote"
    assert tw.describe(market.Quote).extensibility == "mutable"


def test_samples_come_back(module, participant, pair):
    market = module.market
    quote = market.Quote(
        symbol="TICK",
        place=market.Key(7),
        side=market.Side.SELL,
        flags=market.Flags.OPEN | market.Flags.HALTED,
        levels=[market.Level(101.25, 5)],
        matrix=[[1.0, 2.0], [3.0, 4.0]],
        price=market.Price(limit=5.0),
        tags={"a": 1},
        wide="日本",
        letter="x",
        raw=[1, 2, 3, 4],
        blob=b"abc",
        tree=market.Node(1, [market.Node(2), market.Node(3, [market.Node(4)])]),
        from_=9,
    )
    writer, reader = pair(participant.topic("Compiled", market.Quote))
    writer.write(quote)
    sample = take(reader, 1)[0]
    assert plain(sample.data) == quote and sample.data.price.limit == 5.0
    assert sample.key == {"symbol": "TICK", "place": {"venue": 7}}
    # What a key that is a struct hashes to is that of a struct written by hand.
    by_hand = tw.Type(tw.describe(market.Quote).table(), "market::Quote", {})
    assert by_hand.encode(quote, key_only=True) == tw.describe(market.Quote).encode(quote, key_only=True)


def test_a_dataclass_is_the_same_type():
    module = tw.idl(text="@final struct Trade { @key string<12> symbol; @optional double price; sequence<long> sizes; };")

    @tw.topic(extensibility="final")
    @dataclass
    class Trade:
        symbol: tw.key[Annotated[str, tw.string(12)]]
        price: Optional[float]
        sizes: Annotated[list[int], tw.sequence(tw.int32)]

    assert tw.describe(Trade).table() == tw.describe(module.Trade).table()


def test_files_with_includes_and_macros(tmp_path):
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "side.idl").write_text("enum Side { BUY, SELL };")
    (tmp_path / "quote.idl").write_text('#include "side.idl"\nstruct Quote { SYMBOL symbol; Side side; };')
    module = tw.idl(
        tmp_path / "quote.idl", include=[tmp_path / "common"], define={"SYMBOL": "string"}, extensibility="final"
    )
    assert tw.describe(module.Quote).extensibility == "final"
    kind = tw.describe(module.Quote)
    assert kind.decode(kind.encode(module.Quote("A", module.Side.SELL))) == module.Quote("A", module.Side.SELL)


def test_defaults():
    old = tw.idl(text="@mutable struct Quote { @key long id; };")
    new = tw.idl(
        text="""
        enum Side { BUY, SELL };
        @bit_bound(8) bitmask Flags { OPEN, @position(4) HALTED };
        @mutable struct Base { @key long id; @default("XETR") string venue; };
        @nested struct Level { @default(1.5) double price; long size; };
        union Limit switch (long) { case 0: @default(7) long at; default: string other; };
        @mutable struct Quote : Base {
            @default(SELL) Side side;
            @default(16) Flags flags;
            @default(TRUE) boolean live;
            @default('x') char letter;
            Level level;
            Limit limit;
        };
        """
    )
    sample = tw.describe(new.Quote).decode(tw.describe(old.Quote).encode(old.Quote(id=3)))
    assert sample == new.Quote(id=3)
    assert (sample.venue, sample.side, sample.flags, sample.live, sample.letter) == (
        "XETR",
        new.Side.SELL,
        new.Flags.HALTED,
        True,
        "x",
    )
    assert (sample.level.price, sample.level.size, sample.limit) == (1.5, 0, new.Limit(at=7))


def test_the_default_of_a_union_is_what_its_discriminator_selects():
    of = tw.idl(
        text="""
        enum Side { @default_literal NONE, BID };
        union Price switch (Side) { case BID: double bid; default: string text; };
        union Gap switch (long) { case 5: long five; };
        union Letter switch (char) { case 'a': long a; default: long other; };
        @appendable struct Quote { long number; };
        @appendable struct Wider { long number; Price price; Gap gap; Letter letter; };
        """
    )
    made = of.Wider(number=1)
    assert (made.price.member, made.price.discriminator, made.price.text) == ("text", of.Side.NONE, "")
    assert (made.gap.member, made.gap.discriminator) == (None, 0)
    assert (made.letter.member, made.letter.discriminator) == ("other", "\0")
    # And so of what a writer lacks.
    assert tw.describe(of.Wider).decode(tw.describe(of.Quote).encode(of.Quote(number=1))) == made


def test_what_a_type_cannot_hold_is_what_try_construct_says():
    new = tw.idl(
        text="""
        enum Side { BUY, SELL, CROSS };
        union Price switch (Side) { case BUY: long bid; case SELL: string ask; case CROSS: octet both[3]; };
        struct Order {
            Side side; string text; wstring wide; sequence<octet> octets; sequence<long> numbers; sequence<string> names;
            map<long, long> marks; Price price; @optional string maybe; long behind;
        };
        """
    )
    old = tw.idl(
        text="""
        enum Side { BUY, SELL };
        union Price switch (Side) { case BUY: long bid; case SELL: string ask; };
        struct Order {
            @try_construct @default(SELL) Side side;
            @try_construct(TRIM) string<2> text;
            @try_construct(TRIM) wstring<2> wide;
            @try_construct(TRIM) sequence<octet, 2> octets;
            @try_construct(TRIM) sequence<long, 2> numbers;
            @try_construct(TRIM) sequence<string, 2> names;
            @try_construct(TRIM) map<long, long, 2> marks;
            @try_construct(USE_DEFAULT) Price price;
            @try_construct(USE_DEFAULT) @optional string<2> maybe;
            long behind;
        };
        """
    )
    order = new.Order(
        side=new.Side.CROSS,
        text="a\u00e9",
        wide="a\U0001f4c8",
        octets=b"abc",
        numbers=[1, 2, 3],
        names=["a", "b", "c"],
        marks={1: 2, 3: 4, 5: 6},
        price=new.Price(both=[1, 2, 3]),
        maybe="long",
        behind=7,
    )
    sample = tw.describe(old.Order).decode(tw.describe(new.Order).encode(order))
    assert (sample.side, sample.text, sample.wide, sample.octets) == (old.Side.SELL, "a", "a", b"ab")
    assert (list(sample.numbers), sample.names, len(sample.marks)) == ([1, 2], ["a", "b"], 2)
    assert (sample.price, sample.maybe, sample.behind) == (old.Price(bid=0), None, 7)
    strict = tw.idl(text="enum Side { BUY, SELL }; struct Order { Side side; };")
    with pytest.raises(tw.DecodeError):
        tw.describe(strict.Order).decode(tw.describe(new.Order).encode(order))


def test_a_member_that_is_not_serialized_is_in_no_class():
    of = tw.idl(text="struct Cached { long id; @non_serialized string note; @default(3) long rank; };")
    assert [field for field in of.Cached.__dataclass_fields__] == ["id", "rank"]
    kind = tw.describe(of.Cached)
    assert kind.decode(kind.encode(of.Cached(id=1))) == of.Cached(id=1, rank=3)


def test_samples_with_arrays_are_compared():
    of = tw.idl(text="struct Grid { long cells[2][3]; sequence<double> prices; sequence<string> names; };")
    one = of.Grid(cells=[[1, 2, 3], [4, 5, 6]], prices=[0.5, 1.5], names=["a"])
    kind = tw.describe(of.Grid)
    again = kind.decode(kind.encode(one))
    assert again == kind.decode(kind.encode(one))
    assert of.Grid() == of.Grid()
    assert again != of.Grid()
    again.prices = [0.5]
    assert again != one


def test_bitsets():
    module = tw.idl(text="bitset Bits { bitfield<3> a; bitfield<1> b; bitfield<10, short> c; }; struct T { Bits bits; };")
    kind = tw.describe(module.T)
    value = module.T(module.Bits(a=5, b=True, c=-7))
    assert kind.decode(kind.encode(value)) == value
    with pytest.raises(tw.EncodeError, match="a"):
        kind.encode(module.T(module.Bits(a=8)))


def test_what_is_wrong_has_its_place(tmp_path):
    with pytest.raises(tw.IdlError, match="long2"):
        tw.idl(text="struct Quote { long2 price; };")
    with pytest.raises(tw.IdlError, match="none.idl"):
        tw.idl(tmp_path / "none.idl")
    with pytest.raises(tw.IdlError, match="final, appendable, mutable"):
        tw.idl(text="", extensibility="open")
    assert not hasattr(tw.idl(text=""), "Quote")


def test_decimals_of_feeds_are_decimals():
    module = tw.idl(text="@final struct Decimal { int64 mantissa; int32 exponent; }; struct T { Decimal price; };")
    kind = tw.describe(module.T)
    assert kind.decode(kind.encode(module.T(Decimal("1.50")))) == module.T(Decimal("1.50"))
