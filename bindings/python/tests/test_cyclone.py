"""Conversations with Eclipse Cyclone DDS, by its Python package."""

import os
from dataclasses import dataclass
from typing import Optional

import pytest

import tickwire as tw
from conftest import take

cyclonedds = pytest.importorskip("cyclonedds")

from cyclonedds.core import InstanceState, Policy, Qos, ReadCondition, SampleState, ViewState, WaitSet  # noqa: E402
from cyclonedds.domain import DomainParticipant  # noqa: E402
from cyclonedds.idl import IdlStruct  # noqa: E402
from cyclonedds.idl.annotations import appendable, final, key, mutable  # noqa: E402
from cyclonedds.idl.types import array, float64, int16, int32, sequence, uint8, uint32  # noqa: E402
from cyclonedds.pub import DataWriter  # noqa: E402
from cyclonedds.sub import DataReader  # noqa: E402
from cyclonedds.topic import Topic  # noqa: E402
from cyclonedds.util import duration  # noqa: E402

EXTENSIBILITIES = {"final": final, "appendable": appendable, "mutable": mutable}
RELIABLE = Qos(Policy.Reliability.Reliable(duration(seconds=30)), Policy.History.KeepAll, Policy.Durability.TransientLocal)
OURS = {"reliability": "reliable", "history": "keep_all", "durability": "transient_local"}


def types(extensibility):
    """The same type for both."""

    @tw.struct(name="py::Level", extensibility=extensibility)
    @dataclass
    class OurLevel:
        price: tw.float64
        size: tw.uint32

    @tw.topic(name="py::Quote", extensibility=extensibility)
    @dataclass
    class Ours:
        symbol: tw.key[str]
        venue: tw.key[tw.int32]
        levels: list[OurLevel]
        numbers: tw.sequence(tw.float64)
        grid: tw.array(tw.int16, 3)
        blob: tw.sequence(tw.uint8)
        note: Optional[str]
        size: Optional[tw.int32]

    @dataclass
    @EXTENSIBILITIES[extensibility]
    class TheirLevel(IdlStruct, typename="py::Level"):
        price: float64
        size: uint32

    @dataclass
    @EXTENSIBILITIES[extensibility]
    class Theirs(IdlStruct, typename="py::Quote"):
        symbol: str
        key("symbol")
        venue: int32
        key("venue")
        levels: sequence[TheirLevel]
        numbers: sequence[float64]
        grid: array[int16, 3]
        blob: sequence[uint8]
        note: Optional[str]
        size: Optional[int32]

    ours = [
        Ours(f"S{n}", n, [OurLevel(n + 0.25, n)] * (n % 3), [n / 8] * n, [n, -n, 0], bytes(range(n)), "x" if n % 2 else None, n)
        for n in range(10)
    ]
    theirs = [
        Theirs(f"S{n}", n, [TheirLevel(n + 0.25, n)] * (n % 3), [n / 8] * n, [n, -n, 0], list(range(n)), "x" if n % 2 else None, n)
        for n in range(10)
    ]
    return Ours, ours, Theirs, theirs


def facts(quote):
    """What must be equal."""
    return (
        quote.symbol,
        quote.venue,
        [(level.price, level.size) for level in quote.levels],
        list(quote.numbers),
        list(quote.grid),
        bytes(bytearray(list(quote.blob))),
        quote.note,
        quote.size,
    )


@pytest.mark.parametrize("extensibility", EXTENSIBILITIES)
def test_cyclone_reads_us(extensibility):
    cls, ours, theirs_cls, theirs = types(extensibility)
    peer = DomainParticipant(77)
    reader = DataReader(peer, Topic(peer, f"ToCyclone{extensibility}", theirs_cls), qos=RELIABLE)
    with tw.Participant(domain=77) as participant:
        writer = participant.writer(participant.topic(f"ToCyclone{extensibility}", cls), **OURS)
        writer.wait_for_matched(1, timeout=30)
        writer.write_all(ours)
        writer.dispose(ours[3])
        writer.wait_for_acknowledgments(timeout=30)
        found, disposed = [], []
        waits = WaitSet(peer)
        waits.attach(ReadCondition(reader, SampleState.Any | ViewState.Any | InstanceState.Any))
        while len(found) < len(ours) or not disposed:
            assert waits.wait(duration(seconds=30)), (len(found), disposed)
            for sample in reader.take(N=100):
                if sample.sample_info.valid_data:
                    found.append(sample)
                # The last sample of an instance tells of its end, if it had not been taken before.
                if sample.sample_info.instance_state == InstanceState.NotAliveDisposed:
                    disposed.append(sample)
    assert [facts(sample) for sample in found] == [facts(sample) for sample in theirs]
    assert disposed[0].symbol == "S3" and disposed[0].venue == 3


@pytest.mark.parametrize("extensibility", EXTENSIBILITIES)
def test_we_read_cyclone(extensibility):
    cls, ours, theirs_cls, theirs = types(extensibility)
    peer = DomainParticipant(77)
    writer = DataWriter(peer, Topic(peer, f"FromCyclone{extensibility}", theirs_cls), qos=RELIABLE)
    with tw.Participant(domain=77) as participant:
        reader = participant.reader(participant.topic(f"FromCyclone{extensibility}", cls), **OURS)
        # Else it has the last sample of each instance for a late joiner, and none of S3.
        while not writer.get_matched_subscriptions():
            os.sched_yield()
        for sample in theirs:
            writer.write(sample)
        writer.dispose(theirs[3])
        samples = take(reader, len(theirs) + 1)
        assert [facts(sample.data) for sample in samples[:-1]] == [facts(sample) for sample in ours]
        assert samples[-1].data is None and samples[-1].key == {"symbol": "S3", "venue": 3}
        assert samples[-1].info.instance == samples[3].info.instance

        learned = participant.topic(f"FromCyclone{extensibility}", timeout=30)
        again = participant.reader(learned, **OURS)
        late = take(again, 9)
        values = {sample.data["symbol"]: sample.data for sample in late if sample.data}
        assert values["S4"]["levels"] == [{"price": 4.25, "size": 4}] and values["S4"]["numbers"].tolist() == [0.5] * 4
