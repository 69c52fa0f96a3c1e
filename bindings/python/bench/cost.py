"""What a sample costs in Python: to encode and decode, to write, and to take.

    python bench/cost.py [samples]

Each figure is the median of five runs, in nanoseconds of processor time of the calling thread, the system's for it
included. Writer and reader are of one process and one participant; the reader keeps its samples until all are
written, so that writing and taking are timed apart.
"""

import statistics
import sys
import time
from dataclasses import dataclass

import tickwire as tw


@tw.topic
@dataclass
class Quote:
    symbol: tw.key[str]
    price: float


@tw.topic
@dataclass
class Book:
    symbol: tw.key[str]
    sequence: int
    bids: tw.sequence(tw.float64)
    asks: tw.sequence(tw.float64)


@tw.topic
@dataclass
class Lists:
    symbol: tw.key[str]
    sequence: int
    bids: list[float]
    asks: list[float]


def timed(count, call):
    """Nanoseconds for each of `count`, the median of five runs."""
    runs = []
    for _ in range(5):
        start = time.thread_time_ns()
        call()
        runs.append((time.thread_time_ns() - start) / count)
    return statistics.median(runs)


def repeated(count, call, *arguments):
    def run():
        for _ in range(count):
            call(*arguments)

    return timed(count, run)


def stream(participant, name, cls, value, count):
    """Writing and taking `count` samples."""
    keep = {"reliability": ("reliable", 60), "history": "keep_all", "max_unacknowledged": 1 << 28}
    topic = participant.topic(name, cls)
    with participant.writer(topic, **keep) as writer, participant.reader(
        topic, reliability="reliable", history="keep_all"
    ) as reader:
        writer.wait_for_matched(1, timeout=30)
        writes, takes = [], []
        for _ in range(5):
            start = time.thread_time_ns()
            for _ in range(count):
                writer.write(value)
            writes.append((time.thread_time_ns() - start) / count)
            writer.wait_for_acknowledgments(timeout=60)
            start = time.thread_time_ns()
            samples = reader.take()
            for sample in samples:
                sample.data
            takes.append((time.thread_time_ns() - start) / count)
            assert len(samples) == count
        return statistics.median(writes), statistics.median(takes)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    numbers = [100.0 + n for n in range(100)]
    values = [
        ("Quote: str, float", Quote, Quote("TICK", 101.25)),
        ("Book: 2 x 100 float64 as arrays", Book, Book("TICK", 1, numbers, numbers)),
        ("the same as lists", Lists, Lists("TICK", 1, numbers, numbers)),
        ("Bytes: 1,000", tw.Bytes, bytes(1000)),
    ]
    print(f"{'ns a sample':34}{'encode':>9}{'decode':>9}{'write':>9}{'take':>9}")
    with tw.Participant(domain=0) as participant:
        for name, cls, value in values:
            kind = tw.describe(cls)
            payload = kind.encode(value)
            if cls is Book:
                # As a program that has numbers has them.
                value = kind.decode(payload)
            encode = repeated(count, kind.encode, value)
            decode = repeated(count, kind.decode, payload)
            write, take = stream(participant, name, cls, value, count)
            print(f"{name:34}{encode:9.0f}{decode:9.0f}{write:9.0f}{take:9.0f}")


if __name__ == "__main__":
    main()
