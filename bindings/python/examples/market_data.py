"""Keyed market data: books of several securities, whose instances come and go, with numbers in numpy arrays.

    python market_data.py
"""

import asyncio
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from typing import Annotated, Optional, Sequence

import tickwire as tw


class State(IntEnum):
    OPEN = 0
    HALTED = 1


@tw.topic(name="market::Book")
@dataclass
class Book:
    symbol: tw.key[str]
    state: State
    last: Optional[Decimal]
    bids: Annotated[Sequence[float], tw.sequence(tw.float64)]
    asks: Annotated[Sequence[float], tw.sequence(tw.float64)]


async def follow(reader: "tw.Reader[Book]", count: int) -> None:
    """Prints what happens to so many instances, until they are disposed of."""
    async for sample in reader.stream(timeout=10):
        book = sample.data
        if book is None:
            print(sample.key["symbol"], "is", sample.info.instance_state)
            count -= 1
            if count == 0:
                return
        else:
            print(book.symbol, book.state.name, book.last, "bid", max(book.bids), "ask", min(book.asks))


def publish(writer: "tw.Writer[Book]") -> None:
    for tick in range(3):
        for number, symbol in enumerate(("AAA", "BBB")):
            price = 100.0 * (number + 1) + tick
            last = None if tick == 0 else Decimal(str(price))
            writer.write(Book(symbol, State.OPEN, last, [price - 0.5, price - 1], [price + 0.5, price + 1]))
    for symbol in ("AAA", "BBB"):
        writer.dispose({"symbol": symbol})


async def main() -> None:
    with tw.Participant(domain=0) as participant:
        books = participant.topic("Books", Book)
        with participant.writer(books, reliability="reliable", history="keep_all") as writer:
            with participant.reader(books, reliability="reliable", history="keep_all") as reader:
                writer.wait_for_matched(1, timeout=5)
                following = asyncio.ensure_future(follow(reader, 2))
                await asyncio.to_thread(publish, writer)
                await following


if __name__ == "__main__":
    asyncio.run(main())
