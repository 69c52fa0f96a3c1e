"""Request and reply: an interface of IDL, a service that implements it, and a client that calls it.

    python request_reply.py
"""

from typing import Any

import tickwire as tw

idl: Any = tw.idl(
    text="""
    exception UnknownSecurity { string symbol; };

    interface Desk {
        double cost(in string symbol, in unsigned long quantity) raises (UnknownSecurity);
    };
    """
)


class Exchange(idl.Desk):
    """Answers on a thread of its service's."""

    prices = {"TICK": 101.25}

    def cost(self, symbol: str, quantity: int) -> float:
        if symbol not in self.prices:
            raise idl.UnknownSecurity(symbol)
        return self.prices[symbol] * quantity


def main() -> None:
    with tw.Participant(domain=0) as exchange, tw.Participant(domain=0) as trader:
        with idl.DeskService(exchange, "Desk", Exchange()), idl.DeskClient(trader, "Desk", timeout=5) as desk:
            for quantity in (1, 100):
                print(quantity, "cost", desk.cost("TICK", quantity))
            try:
                desk.cost("TOCK", 1)
            except idl.UnknownSecurity as raised:
                print("unknown:", raised.symbol)


if __name__ == "__main__":
    main()
