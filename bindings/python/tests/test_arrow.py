"""Samples as Arrow batches: what columns are made of, who takes them, and what becomes no row."""

import threading
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Optional

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pytest

import tickwire as tw
from market import BySide, Flags, Level, Limit, Node, Quote, Side


def wide(name="market::Wide", extensibility="appendable"):
    @tw.topic(name=name, extensibility=extensibility)
    @dataclass
    class Wide:
        flag: tw.key[bool]
        id: tw.key[tw.int32]
        i8: tw.int8 = -128
        u8: tw.uint8 = 255
        i16: tw.int16 = -(1 << 15)
        u16: tw.uint16 = (1 << 16) - 1
        u32: tw.uint32 = (1 << 32) - 1
        i64: int = -(1 << 63)
        u64: tw.uint64 = (1 << 64) - 1
        f32: tw.float32 = 0.5
        f64: float = 101.25
        octet: tw.octet = 9
        char: tw.char = "é"
        wchar: tw.wchar = "€"
        text: str = "Zürich €"
        short: tw.string(8) = "TICK"
        wide: tw.wstring() = "日本"
        raw: bytes = b"\x00\xff"
        price: Decimal = Decimal("101.50")
        side: Side = Side.SELL
        flags: Flags = Flags.OPEN | Flags.CLOSED
        level: Level = field(default_factory=lambda: Level(Decimal("-1E+3"), 5))
        levels: list[Level] = field(default_factory=lambda: [Level(Decimal("1.25"), 1, Side.SELL), Level(Decimal(2), 2)])
        numbers: list[float] = field(default_factory=lambda: [1.0, 2.5])
        array: tw.sequence(tw.float64) = field(default_factory=lambda: [1.5, -2.5, 1e300])
        grid: tw.array(tw.int32, 2, 3) = field(default_factory=lambda: [[1, 2, 3], [4, 5, -6]])
        names: tw.array(str, 2) = field(default_factory=lambda: ["a", ""])
        large: tw.array(tw.uint8, 1025) = field(default_factory=lambda: [7] * 1025)
        tags: dict[str, int] = field(default_factory=lambda: {"a": 1, "b": -2})
        limit: Limit = field(default_factory=lambda: Limit(at=Decimal("5.5")))
        two: BySide = field(default_factory=lambda: BySide(ask=[1.0, 2.0]))
        nothing: Optional[tw.int32] = None
        something: Optional[str] = "some"
        maybe: Optional[Level] = None
        from_: Annotated[str, tw.name("from")] = "here"

    return Wide


Wide = wide()


def wide_row(**changes):
    """A row of `Wide` as pyarrow has it."""
    row = {name: getattr(Wide(True, 7), name) for name in Wide.__dataclass_fields__}
    row["from"] = row.pop("from_")
    row.update(
        side="SELL",
        flags=int(Flags.OPEN | Flags.CLOSED),
        level={"price": Decimal(-1000), "size": 5, "side": "BUY"},
        levels=[{"price": Decimal("1.25"), "size": 1, "side": "SELL"}, {"price": Decimal(2), "size": 2, "side": "BUY"}],
        tags=[("a", 1), ("b", -2)],
        limit={"$discriminator": 1, "at": Decimal("5.5"), "peg": None, "other": None},
        two={"$discriminator": "SELL", "bid": None, "ask": [1.0, 2.0]},
    )
    row.update(changes)
    return row


def columns(batch):
    made = pyarrow.record_batch(batch)
    made.validate(full=True)
    return made


@pytest.mark.parametrize("extensibility", ["final", "appendable", "mutable"])
def test_every_kind_of_member_is_a_column(participant, pair, extensibility):
    made = wide(f"Wide{extensibility}", extensibility)
    writer, reader = pair(participant.topic(f"Wide {extensibility}", made))
    writer.write(made(True, 7))
    writer.write(made(False, -1, nothing=5, something=None, maybe=Level(Decimal(1), 1), limit=Limit(other="x"), levels=[]))
    writer.wait_for_acknowledgments(30)
    batch = reader.arrow()
    assert (len(batch), batch.undecodable, batch.errors, batch.name) == (2, 0, [], f"Wide{extensibility}")
    assert reader.take() == [] and batch.nbytes > 0 and batch.num_columns == len(batch.column_names)
    one, two = columns(batch).to_pylist()
    assert one == wide_row()
    assert two == wide_row(
        flag=False,
        id=-1,
        nothing=5,
        something=None,
        maybe={"price": Decimal(1), "size": 1, "side": "BUY"},
        limit={"$discriminator": two["limit"]["$discriminator"], "at": None, "peg": None, "other": "x"},
        levels=[],
    )


def test_the_schema_says_what_members_are(participant, pair):
    _, reader = pair(participant.topic("Schema", Wide))
    batch = reader.arrow()
    schema = pyarrow.schema(batch)
    assert len(batch) == 0 and schema.equals(columns(batch).schema)
    names = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    types = {field.name: field.type for field in schema}
    assert types["u16"] == pyarrow.uint16() and types["f32"] == pyarrow.float32() and types["raw"] == pyarrow.binary()
    assert types["price"] == pyarrow.decimal128(38, 9) and types["side"] == names
    assert types["grid"] == pyarrow.list_(pyarrow.list_(pyarrow.field("item", pyarrow.int32(), False), 3), 2) or str(
        types["grid"]
    ).startswith("fixed_size_list<item: fixed_size_list<item: int32 not null>[3] not null>[2]")
    # One that is too long to be made up where it is null.
    assert types["large"] == pyarrow.list_(pyarrow.field("item", pyarrow.uint8(), False))
    assert types["tags"].key_type == pyarrow.string() and types["limit"][0].name == "$discriminator"
    assert not schema.field("i64").nullable and schema.field("nothing").nullable
    assert schema.field("flags").metadata == {b"tickwire.bitmask": b"OPEN=1,HALTED=4,CLOSED=1048576"}
    numbers = pyarrow.schema(reader.arrow(enums="numbers", decimals=None))
    assert numbers.field("side").type == pyarrow.int32()
    assert numbers.field("side").metadata == {b"tickwire.enum": b"BUY=1,SELL=2"}
    assert numbers.field("price").type.get_field_index("mantissa") == 0


def test_decimals_are_exact_or_no_rows(participant, pair):
    writer, reader = pair(participant.topic("Levels", Level))
    prices = [Decimal("1.05"), Decimal("-12E+3"), Decimal("0.0001"), Decimal(0), Decimal("123456789012345678")]

    def write():
        for price in prices:
            writer.write(Level(price, 1, Side.SELL))
        writer.wait_for_acknowledgments(30)

    write()
    assert columns(reader.arrow(max=2, decimals=2))["price"].to_pylist() == prices[:2]
    batch = reader.arrow(decimals=2, enums="numbers")
    assert columns(batch)["price"].to_pylist() == prices[3:] and batch.undecodable == 1
    assert columns(batch)["side"].to_pylist() == [2, 2]
    assert batch.errors == ["Level.price: 1E-4 does not fit decimals with 2 digits behind the point"]
    write()
    pairs = columns(reader.arrow(decimals=None))["price"].to_pylist()
    assert [Decimal(pair["mantissa"]).scaleb(pair["exponent"]) for pair in pairs] == prices
    with pytest.raises(tw.TypeDescriptionError, match="39 digits"):
        reader.arrow(decimals=39)


def test_info_is_columns_behind_the_members(participant, pair):
    writer, reader = pair(participant.topic("Info", Quote))
    for number in range(3):
        writer.write(Quote(f"S{number}", float(number)), timestamp=1_700_000_000_123_456_789 + number)
    writer.wait_for_acknowledgments(30)
    known = [sample.info for sample in reader.read()]
    names = ["source_timestamp", "reception_timestamp", "kernel_timestamp", "sample_state", "view_state"]
    names += ["instance_state", "instance", "writer", "sequence_number"]
    read = columns(reader.arrow(take=False, info=names))
    assert read.schema.names == ["symbol", "price", *names]
    times = read["source_timestamp"]
    assert times.type == pyarrow.timestamp("ns", "UTC")
    assert times.cast(pyarrow.int64()).to_pylist() == [info.source_timestamp for info in known]
    assert read["reception_timestamp"].cast(pyarrow.int64()).to_pylist() == [info.reception_timestamp for info in known]
    assert read["kernel_timestamp"].to_pylist() == [None] * 3 and read["sample_state"].to_pylist() == ["read"] * 3
    assert read["view_state"].to_pylist() == ["not_new"] * 3 and read["instance_state"].to_pylist() == ["alive"] * 3
    assert read["instance"].to_pylist() == [info.instance for info in known]
    assert read["writer"].to_pylist() == [writer.guid] * 3
    assert read["sequence_number"].to_pylist() == [info.sequence_number for info in known]
    named = columns(reader.arrow(info={"sequence_number": "number"}))
    assert named.schema.names == ["symbol", "price", "number"]
    with pytest.raises(tw.TypeDescriptionError, match="two columns are named price"):
        reader.arrow(info={"writer": "price"})
    with pytest.raises(tw.Error, match='there is no info "wrtier"; there are source_timestamp'):
        reader.arrow(info=["wrtier"])
    with pytest.raises(tw.Error, match="enums are"):
        reader.arrow(enums="text")


def test_ends_of_instances_are_counted_or_rows(participant, pair):
    writer, reader = pair(participant.topic("Ends", Wide))

    def write():
        writer.write(Wide(True, 1))
        writer.dispose(Wide(True, 1))
        writer.wait_for_acknowledgments(30)

    write()
    batch = reader.arrow()
    assert (len(batch), batch.ended, batch.undecodable) == (1, 1, 0)
    write()
    one, two = columns(reader.arrow(info=["instance_state"])).to_pylist()
    assert one == {**wide_row(id=1), "instance_state": "disposed"}
    nothing = dict.fromkeys(one)
    assert two == {**nothing, "flag": True, "id": 1, "instance_state": "disposed"}


def test_everybody_takes_batches(participant, pair):
    writer, reader = pair(participant.topic("Taken", Quote))
    writer.write_all(Quote("AB"[n % 2], float(n)) for n in range(10))
    writer.wait_for_acknowledgments(30)
    batch = reader.arrow(info=["instance_state"])
    frame = polars.DataFrame(batch)
    assert frame["price"].to_list() == [float(n) for n in range(10)] and frame["symbol"].to_list() == list("AB") * 5
    assert pyarrow.table(batch).num_rows == 10
    assert pandas.DataFrame.from_arrow(batch)["price"].sum() == 45.0
    assert numpy.array_equal(columns(batch)["price"].to_numpy(), numpy.arange(10.0))
    assert duckdb.sql("SELECT symbol, sum(price) FROM batch GROUP BY symbol ORDER BY symbol").fetchall() == [("A", 20.0), ("B", 25.0)]
    del batch, reader
    assert frame["price"].sum() == 45.0


def test_members_of_an_older_type_are_made_up(participant, pair):
    @tw.topic(name="Grows", extensibility="appendable")
    @dataclass
    class Old:
        id: tw.key[int]

    @tw.topic(name="Grows", extensibility="appendable")
    @dataclass
    class New:
        id: tw.key[int]
        price: float = 0.0
        side: Side = Side.BUY
        limit: Limit = field(default_factory=lambda: Limit(at=Decimal(0)))
        grid: tw.array(tw.int32, 2) = field(default_factory=lambda: [0, 0])
        note: Optional[str] = None
        level: Optional[Level] = None

    writer = participant.writer(participant.topic("Grows", Old), reliability="reliable")
    with tw.Participant(domain=77) as other:
        reader = other.reader(other.topic("Grows", New), reliability="reliable")
        writer.wait_for_matched(1, timeout=30)
        writer.write(Old(5))
        reader.wait_for_data(30)
        (row,) = columns(reader.arrow()).to_pylist()
    limit = {"$discriminator": 1, "at": Decimal(0), "peg": None, "other": None}
    assert row == {"id": 5, "price": 0.0, "side": "BUY", "limit": limit, "grid": [0, 0], "note": None, "level": None}


def test_what_a_few_bytes_may_make_up_is_limited(participant, pair):
    @tw.topic(name="Swells", extensibility="appendable")
    @dataclass
    class Few:
        id: tw.key[int]

    @tw.topic(name="Swells", extensibility="appendable")
    @dataclass
    class Many:
        id: tw.key[int]
        numbers: tw.array(tw.float64, 4, 1 << 20) = ()

    writer = participant.writer(participant.topic("Swells", Few), reliability="reliable")
    with tw.Participant(domain=77) as other:
        reader = other.reader(other.topic("Swells", Many), reliability="reliable")
        writer.wait_for_matched(1, timeout=30)
        writer.write(Few(5))
        reader.wait_for_data(30)
        batch = reader.arrow()
    assert (len(batch), batch.undecodable) == (0, 1) and "far more memory" in batch.errors[0]


def test_types_without_columns_are_refused(participant, pair):
    @tw.topic
    @dataclass
    class Tree:
        id: tw.key[int]
        root: Node

    _, reader = pair(participant.topic("Trees", Tree))
    with pytest.raises(tw.TypeDescriptionError, match="Tree.root.children.* contains itself"):
        reader.arrow()


def test_batches_by_count(participant, pair):
    writer, reader = pair(participant.topic("Counted", Quote))
    writer.write_all(Quote("A", float(n)) for n in range(25))
    writer.wait_for_acknowledgments(30)
    batches = list(reader.arrow_batches(10, timeout=0))
    assert [len(batch) for batch in batches] == [10, 10, 5]
    assert [row["price"] for batch in batches for row in columns(batch).to_pylist()] == [float(n) for n in range(25)]
    writer.write_all(Quote("A", float(n)) for n in range(25))
    writer.wait_for_acknowledgments(30)
    walk = reader.arrow_batches(10, max=15, info=["writer"])
    assert len(next(walk)) == 10
    assert [len(batch) for batch in walk] == [5] and len(reader.take()) == 10
    with pytest.raises(ValueError):
        reader.arrow_batches(0)


def test_batches_by_time(participant, pair):
    writer, reader = pair(participant.topic("Timed", Quote))
    walk = reader.arrow_batches(1_000_000, every=0, timeout=60)
    found = []
    for number in range(5):
        writer.write(Quote("A", float(number)))
        found += columns(next(walk))["price"].to_pylist()
    assert found == [0.0, 1.0, 2.0, 3.0, 4.0]
    # Who closes the reader ends it.
    closer = threading.Thread(target=reader.close)
    closer.start()
    assert list(walk) == []
    closer.join()


def test_queries_and_states_choose_rows(participant, pair):
    writer, reader = pair(participant.topic("Chosen", Quote))
    writer.write_all(Quote("AB"[n % 2], float(n)) for n in range(10))
    writer.wait_for_acknowledgments(30)
    dear = reader.query_condition("price > %0", 6)
    assert columns(reader.arrow(query=dear))["price"].to_pylist() == [7.0, 8.0, 9.0]
    instance = reader.lookup_instance({"symbol": "A"})
    assert columns(reader.arrow(2, instance=instance))["price"].to_pylist() == [0.0, 2.0]
    assert columns(reader.arrow(states=["read"]))["price"].to_pylist() == []
    assert len(reader.arrow(take=False)) == 5 and len(reader.arrow(states=["read"])) == 5
