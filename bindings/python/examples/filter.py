"""Content filters: the writer keeps back what a reader does not want.

    python filter.py
"""

from dataclasses import dataclass
from typing import Any

import tickwire as tw


@tw.topic
@dataclass
class Trade:
    symbol: tw.key[str]
    price: float
    size: tw.int32


def main() -> None:
    keep: "dict[str, Any]" = {"reliability": "reliable", "history": "keep_all"}
    with tw.Participant(domain=0) as exchange, tw.Participant(domain=0) as desk:
        writer = exchange.writer(exchange.topic("Trades", Trade), **keep)
        trades = desk.topic("Trades", Trade)
        large = trades.filtered("symbol LIKE %0 AND size >= %1", "EUR%", 100)
        reader = desk.reader(large, **keep)
        dear = reader.query_condition("price > %0", 1.15)
        writer.wait_for_matched(1, timeout=5)

        for size in (50, 150, 250):
            for symbol, price in (("EURUSD", 1.1), ("EURGBP", 1.2), ("GBPUSD", 1.3)):
                writer.write(Trade(symbol, price, size))
        writer.wait_for_acknowledgments(timeout=5)

        for sample in reader.take(query=dear):
            print("dear: ", sample.data)
        for sample in reader.take():
            print("other:", sample.data)
        print("kept back by the writer:", writer.counters["filtered"])


if __name__ == "__main__":
    main()
