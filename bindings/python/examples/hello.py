"""The smallest whole program: a writer and a reader of one topic.

    python hello.py
"""

from dataclasses import dataclass

import tickwire as tw


@tw.topic
@dataclass
class Quote:
    symbol: tw.key[str]
    price: float


def main() -> None:
    with tw.Participant(domain=0) as participant:
        quotes = participant.topic("Quotes", Quote)
        with participant.writer(quotes) as writer, participant.reader(quotes) as reader:
            writer.wait_for_matched(1, timeout=5)
            writer.write(Quote("TICK", 101.25))
            for sample in reader.iter(timeout=5, max=1):
                print(sample.data)


if __name__ == "__main__":
    main()
