"""How many rows a second samples and messages of a feed become, in this process.

    python bench/columns.py [rows]

Run it with the installed package, built for release, and with pyarrow; on this machine alone, over loopback.
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


def median(measured):
    return int(statistics.median(measured))


def topics(participant, rows):
    for number, (name, sample) in enumerate(SAMPLES.items()):
        topic = participant.topic(f"Columns{number}", type(sample))
        keep = {"reliability": "reliable", "history": "keep_all"}
        with participant.writer(topic, **keep) as writer, participant.reader(topic, **keep) as reader:
            writer.wait_for_matched(1, timeout=5)
            speeds = {"arrow()": [], "take()": []}
            for _ in range(RUNS):
                for how, taken in (("arrow()", lambda: len(reader.arrow())), ("take()", lambda: len(reader.take()))):
                    writer.write_all(sample for _ in range(rows))
                    writer.wait_for_acknowledgments(60)
                    begin = time.perf_counter()
                    count = taken()
                    speeds[how].append(count / (time.perf_counter() - begin))
                    assert count == rows, count
            for how, measured in speeds.items():
                print(f"{name:<40} {how:<14} {median(measured):>12,} rows/s")


def feed(rows):
    with tempfile.TemporaryDirectory() as folder:
        path, templates = Path(folder, "feed.dat"), Path(folder, "feed.xml")
        packet = QUOTE * TOGETHER
        path.write_bytes((struct.pack("<I", len(packet)) + packet) * (rows // TOGETHER))
        templates.write_text(TEMPLATES)
        speeds = []
        for _ in range(RUNS):
            begin = time.perf_counter()
            stream = tw.decode_feed(path, templates, message="Quote")
            count = sum(batch.num_rows for batch in pyarrow.RecordBatchReader.from_stream(stream))
            speeds.append(count / (time.perf_counter() - begin))
        print(f"{'FAST quotes of a file':<40} {'decode_feed()':<14} {median(speeds):>12,} rows/s")


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tw.Participant() as participant:
        topics(participant, rows)
    feed(50 * rows)


if __name__ == "__main__":
    main()
