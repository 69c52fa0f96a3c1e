"""Writes or reads those topics of `matrix.idl` that the Python package of Cyclone DDS has, as `matrix.py` says."""

import sys
import time
from dataclasses import dataclass, fields, is_dataclass
from typing import Optional

from cyclonedds.core import InstanceState, Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlBitmask, IdlEnum, IdlStruct, IdlUnion
from cyclonedds.idl import annotations as annotate
from cyclonedds.idl.types import (
    array,
    bounded_str,
    byte,
    case,
    char,
    default,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    sequence,
    uint8,
    uint16,
    uint32,
    uint64,
)
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from values import COUNT, DISPOSED, Values

PATIENCE = 10

DEPTH = 3
VENUE = "XETR"
TICK = 0.25
MARK = "A"
LIVE = True


@annotate.appendable
class Side(IdlEnum, typename="matrix::Side"):
    BUY = 0
    SELL = 5


@annotate.appendable
@annotate.bit_bound(8)
class State(IdlEnum, typename="matrix::State"):
    CLOSED = 1
    OPENED = 2


@dataclass
@annotate.appendable
@annotate.bit_bound(8)
class Flags(IdlBitmask, typename="matrix::Flags"):
    OPEN: bool = False
    annotate.position("OPEN", 0)
    HALTED: bool = False
    annotate.position("HALTED", 4)


@dataclass
@annotate.final
@annotate.nested
class Point(IdlStruct, typename="matrix::Point"):
    x: float64
    n: int32


@dataclass
@annotate.appendable
@annotate.nested
class Level(IdlStruct, typename="matrix::Level"):
    price: float64
    size: uint32


@dataclass
@annotate.mutable
@annotate.nested
class Loose(IdlStruct, typename="matrix::Loose"):
    a: byte
    annotate.member_id("a", 7)
    s: Optional[str]
    annotate.member_id("s", 3)


@dataclass
@annotate.final
@annotate.nested
class Place(IdlStruct, typename="matrix::Place"):
    venue: int32
    annotate.key("venue")
    note: str


@dataclass
@annotate.final
class Numbers(IdlStruct, typename="matrix::Numbers"):
    truth: bool
    eight_bits: byte
    letter: char
    i8: int8
    u8: uint8
    i16: int16
    u16: uint16
    i32: int32
    u32: uint32
    i64: int64
    u64: uint64
    f32: float32
    f64: float64


@dataclass
@annotate.appendable
class Texts(IdlStruct, typename="matrix::Texts"):
    free: str
    most8: bounded_str[8]


@dataclass
@annotate.appendable
class Named(IdlStruct, typename="matrix::Named"):
    side: Side
    state: State
    flags: Flags
    sizes: sequence[int32, 3]
    venue: str
    tick: float64
    depth: int32
    mark: char
    live: bool


Row = array[int32, 3]
Grid = array[Row, 2]


@dataclass
@annotate.appendable
class Aliases(IdlStruct, typename="matrix::Aliases"):
    row: Row
    grid: Grid
    rows: array[Row, 2]
    more: sequence[Row]
    grids: sequence[Grid]


@annotate.appendable
class Choice(IdlUnion, discriminator=int32, typename="matrix::Choice"):
    price: case[1, float64]
    text: case[[2, 3], str]
    level: default[Level]


@annotate.final
class BySide(IdlUnion, discriminator=Side, typename="matrix::BySide"):
    number: case[Side.BUY, int32]
    texts: case[Side.SELL, sequence[str]]


@dataclass
@annotate.appendable
class Choices(IdlStruct, typename="matrix::Choices"):
    choice: Choice
    by_side: BySide
    choices: sequence[Choice]


@dataclass
@annotate.appendable
class Collections(IdlStruct, typename="matrix::Collections"):
    numbers: sequence[float64]
    levels: sequence[Level, 3]
    texts: sequence[sequence[str]]
    truths: sequence[bool]
    sides: sequence[Side]
    blob: sequence[byte]
    digest: array[byte, 4]
    grid: array[array[int32, 3], 2]
    points: array[Point, 2]
    names: array[bounded_str[4], 2]
    spread: array[sequence[Point], 2]


@dataclass
@annotate.appendable
class Absent(IdlStruct, typename="matrix::Absent"):
    number: Optional[int32]
    text: Optional[str]
    level: Optional[Level]
    numbers: Optional[sequence[float64]]
    apart: Level
    annotate.external("apart")
    far: Optional[Level]
    annotate.external("far")
    seven: int32
    note: str


@dataclass
@annotate.appendable
class Base(IdlStruct, typename="matrix::Base"):
    symbol: bounded_str[8]
    annotate.key("symbol")
    venue: int32


@dataclass
@annotate.appendable
class Derived(Base, typename="matrix::Derived"):
    price: float64


@dataclass
@annotate.mutable
class MutableBase(IdlStruct, typename="matrix::MutableBase"):
    symbol: bounded_str[8]
    annotate.key("symbol")
    annotate.member_id("symbol", 10)
    venue: int32
    annotate.member_id("venue", 3)


@dataclass
@annotate.mutable
class DerivedMutable(MutableBase, typename="matrix::DerivedMutable"):
    price: float64
    annotate.member_id("price", 20)
    note: Optional[str]


@dataclass
@annotate.final
class FinalBase(IdlStruct, typename="matrix::FinalBase"):
    symbol: bounded_str[8]
    annotate.key("symbol")
    venue: int32


@dataclass
@annotate.final
class DerivedFinal(FinalBase, typename="matrix::DerivedFinal"):
    price: float64


@dataclass
@annotate.final
class Keyed(IdlStruct, typename="matrix::Keyed"):
    symbol: str
    annotate.key("symbol")
    place: Place
    annotate.key("place")
    side: Side
    annotate.key("side")
    price: float64


@dataclass
@annotate.mutable
class Flowing(IdlStruct, typename="matrix::Flowing"):
    number: int32
    annotate.key("number")
    annotate.member_id("number", 40)
    price: float64
    annotate.member_id("price", 4)
    text: str
    annotate.member_id("text", 70)
    level: Level
    annotate.member_id("level", 5)
    loose: sequence[Loose]
    annotate.member_id("loose", 6)
    point: Optional[Point]
    annotate.member_id("point", 1000)
    choice: Choice
    annotate.member_id("choice", 8)
    shorts: sequence[int16]
    annotate.member_id("shorts", 9)


@dataclass
@annotate.mutable
@annotate.autoid("hash")
class Hashed(IdlStruct, typename="matrix::Hashed"):
    price: int32
    text: str
    # The number of @hashid("other"): no type with the package's annotation for that can be described.
    annotate.member_id("text", 36855673)


class TheirValues(Values):
    """The same values, where the package makes them in another way."""

    def bits(self, of, **are_set):
        return of(**{name: bool(is_set) for name, is_set in are_set.items()})

    def choice(self, n):
        return Choice(discriminator=0, value=self.level(n)) if n % 3 == 0 else super().choice(n)


def plain(value):
    """A value in which numbers stand in lists, however they have come."""
    if isinstance(value, (bytes, bytearray, list, tuple)):
        return [plain(one) for one in value]
    if is_dataclass(value):
        return [type(value), *(plain(getattr(value, field.name)) for field in fields(value))]
    return value


def write(participant, topics, own, readers, representation):
    values = TheirValues(sys.modules[__name__])
    writers = {
        name: DataWriter(participant, Topic(participant, f"{name}_{own}", getattr(values.types, name)), qos=RELIABLE)
        for name in topics
    }
    for name, writer in writers.items():
        deadline = time.monotonic() + PATIENCE
        while len(writer.get_matched_subscriptions()) < int(readers):
            if time.monotonic() > deadline:
                sys.exit(f"not all read {name}")
            time.sleep(0.01)
        for n in range(COUNT):
            writer.write(getattr(values, name)(n))
        if name == "Keyed":
            writer.dispose(values.Keyed(DISPOSED))
    sys.stdin.read()


#: Who has waited in vain once looks at what is there, and says how much that is.
patience = PATIENCE


def verdict(reader, name, of):
    global patience
    n, ended, wrong = 0, name != "Keyed", "ok"
    deadline = time.monotonic() + patience
    while n < COUNT or not ended:
        samples = reader.take(N=100)
        if not samples and time.monotonic() > deadline:
            patience = 0
            return f"{n} of {COUNT} samples came, the end of an instance: {ended}"
        for sample in samples:
            if sample.sample_info.valid_data:
                if plain(sample) != plain(of(n)):
                    wrong = f"sample {n} is {sample}"
                n += 1
            # The last sample of an instance tells of its end, if it had not been taken before.
            if sample.sample_info.instance_state == InstanceState.NotAliveDisposed:
                ended = True
                if sample.symbol != f"S{DISPOSED}":
                    wrong = f"{sample} ended"
        time.sleep(0.01)
    return wrong


def read(participant, topics, writers):
    values = TheirValues(sys.modules[__name__])
    readers = [
        (name, other, DataReader(participant, Topic(participant, f"{name}_{other}", getattr(values.types, name)), qos=RELIABLE))
        for name in topics
        for other in writers.split(",")
    ]
    for name, other, reader in readers:
        print(name, other, verdict(reader, name, getattr(values, name)), flush=True)


RELIABLE = Qos(Policy.Reliability.Reliable(duration(seconds=PATIENCE)), Policy.History.KeepAll)

if __name__ == "__main__":
    job = {"write": write, "read": read}[sys.argv[1]]
    job(DomainParticipant(0), sys.argv[2].split(","), *sys.argv[3:])
