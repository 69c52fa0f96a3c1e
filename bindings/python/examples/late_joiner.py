"""A late joiner: a reader that comes when everything is written gets the last state of each instance, and then
what changes. It knows the topic's name alone, and learns the type.

    python late_joiner.py
"""

from dataclasses import dataclass
from typing import Any

import tickwire as tw


@tw.topic(name="market::Limit")
@dataclass
class Limit:
    trader: tw.key[str]
    limit: tw.int32


def main() -> None:
    kept: "dict[str, Any]" = {"durability": "transient_local", "reliability": "reliable"}
    with tw.Participant(domain=0, name="risk") as risk, tw.Participant(domain=0, name="desk") as desk:
        with risk.writer(risk.topic("Limits", Limit), **kept) as writer:
            for trader in ("ann", "bob"):
                for limit in (100, 200, 300):
                    writer.write(Limit(trader, limit))

            reader = desk.reader(desk.topic("Limits"), **kept)
            reader.wait_for_matched(1, timeout=5)
            reader.wait_for_historical_data(timeout=5)
            for sample in reader.take():
                print("late:", sample.data)

            writer.write({"trader": "bob", "limit": 50})
            for sample in reader.iter(timeout=5, max=1):
                print("new:", sample.data)


if __name__ == "__main__":
    main()
