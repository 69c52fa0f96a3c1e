"""Writes or reads the topics of `matrix.idl`, as `matrix.py` says."""

import dataclasses
import os
import sys
from pathlib import Path

import tickwire as tw
from values import COUNT, DISPOSED, ENDING, Values

HERE = Path(__file__).parent
PATIENCE = 10


def plain(value):
    """A value in which numbers stand in lists, however they have come."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if dataclasses.is_dataclass(value):
        return type(value)(**{field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)})
    if hasattr(value, "discriminator"):
        if value.member is None:
            return value
        return type(value)(discriminator=value.discriminator, **{value.member: plain(value.value)})
    return value


def write(participant, types, qos, topics, own, readers, _representation):
    values = Values(types)
    writers = {
        name: participant.writer(participant.topic(f"{name}_{own}", getattr(types, name)), qos=qos) for name in topics
    }
    for name, writer in writers.items():
        writer.wait_for_matched(int(readers), timeout=PATIENCE)
        for n in range(COUNT):
            writer.write(getattr(values, name)(n))
        if name in ENDING:
            writer.dispose(getattr(values, name)(DISPOSED))
    for writer in writers.values():
        writer.wait_for_acknowledgments(timeout=PATIENCE)
    sys.stdin.read()


def key(name, value):
    """What names an instance."""
    if name == "Sides":
        return {"sided": {"$discriminator": value.sided.discriminator}}
    return {"symbol": value.symbol, "place": {"venue": value.place.venue}, "side": value.side}


#: Who has waited in vain once looks at what is there, and says how much that is.
patience = PATIENCE


def verdict(reader, name, of):
    global patience
    n, ended, wrong = 0, name not in ENDING, "ok"
    while n < COUNT or not ended:
        try:
            reader.wait_for_data(patience)
        except tw.TimeoutError:
            patience = 0
            return f"{n} of {COUNT} samples came, the end of an instance: {ended}"
        for sample in reader.take():
            if sample.data is not None:
                if plain(sample.data) != of(n):
                    wrong = f"sample {n} is {sample.data}"
                n += 1
            else:
                ended = sample.info.instance_state == "disposed"
                if sample.key != key(name, of(DISPOSED)):
                    wrong = f"{sample.key} ended"
    return wrong


def read(participant, types, qos, topics, writers):
    values = Values(types)
    readers = [
        (name, other, participant.reader(participant.topic(f"{name}_{other}", getattr(types, name)), qos=qos))
        for name in topics
        for other in writers.split(",")
    ]
    for name, other, reader in readers:
        print(name, other, verdict(reader, name, getattr(values, name)), flush=True)


def main():
    qos = tw.Profile(os.environ["TICKWIRE_QOS_FILE"])
    with tw.Participant(qos=qos) as participant:
        job = {"write": write, "read": read}[sys.argv[1]]
        job(participant, tw.idl(HERE / "matrix.idl").matrix, qos, sys.argv[2].split(","), *sys.argv[3:])


main()
