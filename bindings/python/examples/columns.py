"""Samples as columns: an Arrow batch of what a reader has, for polars, pyarrow, pandas or DuckDB.

    pip install polars
    python columns.py
"""

import sys
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from typing import Any

try:
    import polars
except ImportError:
    sys.exit("columns.py needs polars: pip install polars")

import tickwire as tw


class Side(IntEnum):
    BUY = 1
    SELL = 2


@tw.topic
@dataclass
class Trade:
    symbol: tw.key[str]
    side: Side
    price: Decimal
    size: tw.uint32


def main() -> None:
    keep: "dict[str, Any]" = {"reliability": "reliable", "history": "keep_all"}
    with tw.Participant(domain=0) as participant:
        trades = participant.topic("Trades", Trade)
        with participant.writer(trades, **keep) as writer, participant.reader(trades, **keep) as reader:
            writer.wait_for_matched(1, timeout=5)
            for number in range(1_000):
                side = Side.BUY if number % 4 else Side.SELL
                writer.write(Trade(("AAA", "BBB")[number % 2], side, Decimal(10_000 + number).scaleb(-2), 1 + number % 5))

            # As they come: each batch of 400 samples, and the last one when there is silence.
            batches = list(reader.arrow_batches(400, timeout=1, max=1_000, decimals=2, info=["source_timestamp"]))
            print("rows:", [len(batch) for batch in batches])

            frame = polars.concat([polars.DataFrame(batch) for batch in batches])
            volume = frame.group_by("symbol").agg(polars.col("size").sum(), polars.col("price").max()).sort("symbol")
            for row in volume.iter_rows():
                print(*row)


if __name__ == "__main__":
    main()
