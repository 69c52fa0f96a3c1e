"""One end of a conversation, as Eclipse Cyclone DDS speaks it.

    cyclone_peer.py pub|sub --topic NAME --samples N [--keys K] [--type final|appendable|mutable]
                    [--durability volatile|transient-local] [--payload BYTES] [--timeout SECONDS]

Both ends know every value beforehand (`expected`), so the subscriber checks the content of each
sample. `pub` writes N samples over K instances, disposes the first instance, says "written" and
holds on until its standard input closes, so that late joiners find it. `sub` says "subscribed" once
its reader exists, ends when it has N samples and the disposal or when time is up, and prints one
JSON object. The same command line and the same lines of output belong to src/main.rs.
"""

import argparse
import json
import sys
import time
from dataclasses import dataclass
from typing import Optional

from cyclonedds.core import InstanceState, Policy, Qos, WaitSet, ReadCondition, ViewState, SampleState
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.annotations import appendable, final, key, mutable
from cyclonedds.idl.types import float64, int32, int64, int8, sequence, uint32, uint8
from cyclonedds.pub import DataWriter, Publisher
from cyclonedds.sub import DataReader, Subscriber
from cyclonedds.topic import Topic
from cyclonedds.util import duration


def types(extensibility):
    """The three structs of the conversation with the given extensibility."""

    @dataclass
    @extensibility
    class Price(IdlStruct, typename="interop::Price"):
        mantissa: int64
        exponent: int8

    @dataclass
    @extensibility
    class Entry(IdlStruct, typename="interop::Entry"):
        update_action: uint32
        entry_type: str
        price: Price
        size: Optional[int32]
        net_change: float64

    @dataclass
    @extensibility
    class MarketData(IdlStruct, typename="interop::MarketData"):
        security_id: uint32
        key("security_id")
        sequence_number: uint32
        sender: str
        entries: sequence[Entry]
        blob: sequence[uint8]

    return Price, Entry, MarketData


def expected(kinds, index, keys, payload):
    """Sample `index` of the conversation."""
    price, entry, market_data = kinds
    return market_data(
        security_id=1000 + index % keys,
        sequence_number=index,
        sender="Test Exchange" if index % 2 else "",
        entries=[
            entry(
                update_action=n,
                entry_type="01"[n % 2],
                price=price(mantissa=index * 25 - n, exponent=-2),
                size=None if n % 3 == 2 else n - index,
                net_change=index / 4.0,
            )
            for n in range(index % 4)
        ],
        blob=bytes((index + n) % 251 for n in range(payload)),
    )


def same(a, b):
    """Field by field; blobs may come back as lists."""
    return (
        a.security_id == b.security_id
        and a.sequence_number == b.sequence_number
        and a.sender == b.sender
        and a.entries == b.entries
        and bytes(a.blob) == bytes(b.blob)
    )


def qos_of(arguments):
    durability = {
        "volatile": Policy.Durability.Volatile,
        "transient-local": Policy.Durability.TransientLocal,
    }[arguments.durability]
    return Qos(
        Policy.Reliability.Reliable(duration(seconds=10)),
        Policy.History.KeepAll,
        Policy.DurabilityService(
            cleanup_delay=0, history=Policy.History.KeepAll,
            max_samples=-1, max_instances=-1, max_samples_per_instance=-1,
        ),
        durability,
    )


def publish(arguments, kinds, topic, participant):
    writer = DataWriter(Publisher(participant), topic, qos=qos_of(arguments))
    deadline = time.monotonic() + arguments.timeout
    if arguments.durability == "volatile":
        while not writer.get_matched_subscriptions():
            if time.monotonic() > deadline:
                print(json.dumps({"error": "no subscription matched"}), flush=True)
                return 1
            time.sleep(0.01)
    for index in range(arguments.samples):
        writer.write(expected(kinds, index, arguments.keys, arguments.payload))
    writer.dispose(expected(kinds, 0, arguments.keys, 0))
    print("written", flush=True)
    sys.stdin.read()
    return 0


def subscribe(arguments, kinds, topic, participant):
    reader = DataReader(Subscriber(participant), topic, qos=qos_of(arguments))
    print("subscribed", flush=True)
    waitset = WaitSet(participant)
    waitset.attach(ReadCondition(reader, ViewState.Any | InstanceState.Any | SampleState.Any))
    seen = [0] * arguments.samples
    result = {"received": 0, "wrong": 0, "disposed": 0}
    deadline = time.monotonic() + arguments.timeout
    while (result["received"] < arguments.samples or not result["disposed"]) and time.monotonic() < deadline:
        waitset.wait(duration(milliseconds=100))
        for sample in reader.take(N=256):
            info = sample.sample_info
            # A disposal shows on the instance's samples if they have not been taken before it came.
            if info.instance_state == InstanceState.NotAliveDisposed:
                result["disposed"] = 1
            if not info.valid_data:
                continue
            index = sample.sequence_number
            if index >= arguments.samples or seen[index] or not same(
                sample, expected(kinds, index, arguments.keys, arguments.payload)
            ):
                result["wrong"] += 1
                continue
            seen[index] = 1
            result["received"] += 1
    print(json.dumps(result), flush=True)
    return 0 if result["received"] == arguments.samples and not result["wrong"] else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("role", choices=["pub", "sub"])
    parser.add_argument("--topic", required=True)
    parser.add_argument("--samples", type=int, required=True)
    parser.add_argument("--keys", type=int, default=10)
    parser.add_argument("--payload", type=int, default=0)
    parser.add_argument("--type", choices=["final", "appendable", "mutable"], default="final")
    parser.add_argument("--durability", choices=["volatile", "transient-local"], default="volatile")
    parser.add_argument("--timeout", type=float, default=30)
    arguments = parser.parse_args()
    kinds = types({"final": final, "appendable": appendable, "mutable": mutable}[arguments.type])
    participant = DomainParticipant(0)
    topic = Topic(participant, arguments.topic, kinds[2], qos=qos_of(arguments))
    run = publish if arguments.role == "pub" else subscribe
    sys.exit(run(arguments, kinds, topic, participant))


if __name__ == "__main__":
    main()
