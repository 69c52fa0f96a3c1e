"""Request and reply: two topics, and what a reply says of the request that it answers.

A request is known by its writer and its number there, which every sample has; the reply repeats both. The client
reads replies to its own requests alone, as their writer is the key.

    python request_reply.py
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import tickwire as tw


@tw.topic
@dataclass
class Request:
    symbol: str
    quantity: tw.uint32


@tw.topic
@dataclass
class Reply:
    client: tw.key[str]
    number: tw.key[int]
    price: Decimal


KEEP: "dict[str, Any]" = {"reliability": "reliable", "history": "keep_all"}
# A reply that is written before its client's reader is known waits for it.
KEEP_REPLIES: "dict[str, Any]" = {**KEEP, "durability": "transient_local", "lifespan": 10}


class Server:
    """Answers on a thread of its participant's."""

    def __init__(self, participant: tw.Participant) -> None:
        self.replies = participant.writer(participant.topic("Replies", Reply), **KEEP_REPLIES)
        self.requests = participant.reader(participant.topic("Requests", Request), listener=self.answer, **KEEP)

    def answer(self, requests: "tw.Reader[Request]") -> None:
        for sample in requests.take(states=["alive"]):
            price = Decimal("101.25") * sample.data.quantity
            self.replies.write(Reply(sample.info.writer, sample.info.sequence_number, price))


class Client:
    def __init__(self, participant: tw.Participant) -> None:
        self.requests = participant.writer(participant.topic("Requests", Request), **KEEP)
        mine = participant.topic("Replies", Reply).filtered("client = %0", self.requests.guid)
        self.replies = participant.reader(mine, durability="transient_local", **KEEP)
        self.requests.wait_for_matched(1, timeout=5)

    def ask(self, request: Request, timeout: float = 5) -> Reply:
        number = self.requests.write(request)
        for sample in self.replies.iter(timeout=timeout):
            if sample.info.valid_data and sample.data.number == number:
                return sample.data
        raise tw.TimeoutError(f"no reply to request {number} within {timeout} s")


def main() -> None:
    with tw.Participant(domain=0) as exchange, tw.Participant(domain=0) as desk:
        server = Server(exchange)
        client = Client(desk)
        for quantity in (1, 100):
            print(quantity, "cost", client.ask(Request("TICK", quantity)).price)
        server.requests.close()


if __name__ == "__main__":
    main()
