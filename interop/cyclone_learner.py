"""A Cyclone DDS subscriber that knows nothing but the names of topics.

    cyclone_learner.py TOPIC... [--timeout SECONDS]

It finds each topic's writer by discovery, asks the writer's participant for the type (XTypes
TypeLookup), subscribes, and says "subscribed" when all topics are matched. It ends with the first
sample of the last topic named, waits until nothing more comes, and prints one JSON object: the
samples of each topic, in the order in which they came.
"""

import argparse
import json
import struct
import sys
import time
from dataclasses import asdict

from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.dynamic import get_types_for_typeid
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration


def learn(participant, names, deadline):
    """The type of each topic, from the network."""
    publications = BuiltinDataReader(participant, BuiltinTopicDcpsPublication)
    types = {}
    while len(types) < len(names) and time.monotonic() < deadline:
        for publication in publications.take(N=256):
            if publication.topic_name in names and publication.topic_name not in types:
                datatype, _ = get_types_for_typeid(participant, publication.type_id, duration(seconds=5))
                types[publication.topic_name] = datatype
        time.sleep(0.01)
    return types


def take(reader):
    """The reader's samples with data. Cyclone's Python cannot show the end of a keyless instance
    (it looks for a key in the empty payload), so they are taken one by one."""
    while True:
        try:
            samples = reader.take(N=1)
        except struct.error:
            continue
        if not samples:
            return
        yield from (sample for sample in samples if sample.sample_info.valid_data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("topics", nargs="+")
    parser.add_argument("--timeout", type=float, default=30)
    arguments = parser.parse_args()
    deadline = time.monotonic() + arguments.timeout
    participant = DomainParticipant(0)
    types = learn(participant, arguments.topics, deadline)
    missing = [name for name in arguments.topics if name not in types]
    if missing:
        print(json.dumps({"error": f"no writer of {missing}"}), flush=True)
        return 1
    qos = Qos(Policy.Reliability.Reliable(duration(seconds=10)), Policy.History.KeepAll)
    readers = {
        name: DataReader(participant, Topic(participant, name, types[name]), qos=qos)
        for name in arguments.topics
    }
    print("subscribed", flush=True)
    samples = {name: [] for name in arguments.topics}
    last = arguments.topics[-1]
    quiet_since = None
    while time.monotonic() < deadline:
        news = 0
        for name, reader in readers.items():
            for sample in take(reader):
                samples[name].append(asdict(sample))
                news += 1
        if news or not samples[last]:
            quiet_since = None
        elif quiet_since is None:
            quiet_since = time.monotonic()
        elif time.monotonic() - quiet_since > 0.5:
            break
        time.sleep(0.002)
    print(json.dumps(samples), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
