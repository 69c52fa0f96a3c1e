"""What type checkers make of a program: `mypy --strict` finds nothing wrong with it but what is marked."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Optional

from typing_extensions import assert_type

import tickwire as tw


@tw.struct
@dataclass
class Level:
    price: Decimal
    size: tw.uint32


@tw.topic(name="market::Book", extensibility="final")
@dataclass
class Book:
    symbol: tw.key[str]
    venue: Annotated[str, tw.string(8)]
    levels: list[Level]
    prices: Annotated[list[float], tw.sequence(tw.float64)]
    ratio: tw.float32 = 0.5
    note: Optional[str] = None


@tw.topic
class Made:
    symbol: tw.key[str]
    price: float


def books(participant: tw.Participant) -> None:
    topic = participant.topic("Books", Book)
    assert_type(topic, tw.Topic[Book])
    writer = participant.writer(topic, reliability="reliable")
    reader = participant.reader(topic.filtered("symbol = %0", "TICK"), history=("keep_last", 5))
    assert_type(reader, tw.Reader[Book])
    assert_type(writer.write(Book("TICK", "XETR", [Level(Decimal(1), 2)], [1.5])), int)
    writer.write("a text")  # error: arg-type
    writer.write(Book("TICK", 5, [], []))  # error: arg-type
    for sample in reader.take(5, states=["alive"]):
        assert_type(sample.data, Book)
        assert_type(sample.data.levels[0].size, int)
        assert_type(sample.info.source_timestamp, Optional[int])
        sample.data.symbols  # error: attr-defined
    for sample in reader.iter(timeout=1):
        assert_type(sample.data.ratio, float)
    for batch in reader.arrow_batches(1000, every=1.0, info={"writer": "from"}):
        assert_type(batch, tw.Batch)
        assert_type(batch.num_rows, int)
    made = participant.writer(participant.topic("Made", Made))
    made.write(Made("TICK", price=1.5))
    raw = participant.reader(participant.topic("Raw", tw.Bytes))
    assert_type(raw.take()[0].data, bytes)
    learned = participant.topic("Learned")
    assert_type(learned, tw.Topic[Any])


def compiled(participant: tw.Participant) -> None:
    market = tw.idl("market.idl")
    # What is made when the program runs is not known before.
    assert_type(market.Quote(price=1.5), Any)
    assert_type(participant.topic("Quotes", market.Quote), tw.Topic[Any])


async def stream(reader: "tw.Reader[Book]") -> list[str]:
    await reader.wait(timeout=1)
    return [sample.data.symbol async for sample in reader.stream(timeout=1)]


def feeds() -> None:
    with tw.decode_feed("day.pcap", "feed.xml", venue="moex-asts", rows=1000) as feed:
        for batch in feed:
            assert_type(batch.name, str)
        assert_type(feed.counters["packets"], int)
    tw.decode_feed("day.pcap")  # error: call-arg
