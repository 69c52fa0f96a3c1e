"""How many rows a second samples and messages of a feed become, in this process, and what a row costs.

    python bench/columns.py [rows]

Run it with the installed package, built for release, and with pyarrow; on this machine alone, over loopback.
Each figure is the median of five runs: rows by the clock, nanoseconds a row of processor time, which other programs
disturb less: that of the calling thread, of a feed that of all threads. By 100 a row costs what all at once do, and a
hundredth of what a batch does. Samples are taken with their data.
"""

import statistics
import struct
import sys
import tempfile
import time
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pyarrow

import tickwire as tw

TEMPLATES = """
<template name="Quote" id="1">
  <uInt64 name="Time"/>
  <string name="Symbol"><copy/></string>
  <decimal name="Bid"/><decimal name="Ask"/>
  <uInt32 name="BidSize"/><uInt32 name="AskSize" presence="optional"/>
</template>
"""
# Stop bit, template id and symbol; time, "AAPL", 10000 E-2, 10001 E-2, 100, 200.
QUOTE = bytes.fromhex("e0 81 0b 1e 6a 3f 80 41 41 50 cc fe 00 4e 90 fe 00 4e 91 e4 01 c9")
#: Messages of a packet.
TOGETHER = 20


@tw.topic
@dataclass
class Quote:
    time: int
    symbol: tw.key[str]
    bid: Decimal
    ask: Decimal
    bid_size: tw.uint32
    ask_size: tw.uint32


@tw.topic
@dataclass
class Numbers:
    id: int
    x: float
    y: float
    z: tw.float32
    count: tw.uint32


@tw.topic
@dataclass
class Arrays:
    id: int
    bids: tw.sequence(tw.float64) = field(default_factory=list)


SAMPLES = {
    "quotes: str, 2 decimals, 3 integers": Quote(1, "AAPL", Decimal("100.00"), Decimal("100.01"), 100, 200),
    "5 numbers": Numbers(1, 1.5, 2.5, 3.5, 4),
    "an array of 100 float64": Arrays(1, [1.5] * 100),
}
RUNS = 5


def by_100(reader):
    count = 0
    while batch := reader.arrow(max=100):
        count += len(batch)
    return count


WAYS = {
    "arrow()": lambda reader: len(reader.arrow()),
    "arrow(max=100)": by_100,
    "take()": lambda reader: len([sample.data for sample in reader.take()]),
}


def measure(count, clock, call):
    """Rows a second, and nanoseconds of processor time a row."""
    begin, begin_work = time.perf_counter(), clock()
    assert call() == count
    return count / (time.perf_counter() - begin), (clock() - begin_work) * 1e9 / count


def tell(name, how, measured):
    speed, cost = (statistics.median(one) for one in zip(*measured))
    print(f"{name:<40} {how:<14} {speed:>12,.0f} rows/s {cost:>8,.0f} ns a row")


def topics(participant, rows):
    for number, (name, sample) in enumerate(SAMPLES.items()):
        topic = participant.topic(f"Columns{number}", type(sample))
        keep = {"reliability": ("reliable", 60), "history": "keep_all"}
        with participant.writer(topic, **keep) as writer, participant.reader(topic, **keep) as reader:
            writer.wait_for_matched(1, timeout=5)
            measured = {how: [] for how in WAYS}
            for _ in range(RUNS):
                for how, taken in WAYS.items():
                    writer.write_all(sample for _ in range(rows))
                    writer.wait_for_acknowledgments(60)
                    measured[how].append(measure(rows, time.thread_time, lambda: taken(reader)))
            for how in WAYS:
                tell(name, how, measured[how])


def feed(rows):
    with tempfile.TemporaryDirectory() as folder:
        path, templates = Path(folder, "feed.dat"), Path(folder, "feed.xml")
        packet = QUOTE * TOGETHER
        path.write_bytes((struct.pack("<I", len(packet)) + packet) * (rows // TOGETHER))
        templates.write_text(TEMPLATES)

        def decoded():
            stream = tw.decode_feed(path, templates, message="Quote")
            return sum(batch.num_rows for batch in pyarrow.RecordBatchReader.from_stream(stream))

        measured = [measure(rows // TOGETHER * TOGETHER, time.process_time, decoded) for _ in range(RUNS)]
        tell("FAST quotes of a file", "decode_feed()", measured)


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tw.Participant() as participant:
        topics(participant, rows)
    feed(50 * rows)


if __name__ == "__main__":
    main()
