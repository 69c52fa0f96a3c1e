"""A service and a client in Python of the interface `Desk` of `services.idl`, which the programs in other languages are like.

`serve NAME` serves it as `Desk_NAME` until its input ends. `call NAMES` calls each operation of each of these services, in
every way that it can end, and says `NAME ok`, or what is not as it should be.
"""

import sys
import threading
from pathlib import Path

import tickwire as tw

#: Longer than a program takes to start.
PATIENCE = 20

idl = tw.idl(Path(__file__).parent / "../../crates/idl/tests/corpus/services.idl")
market = idl.market
codes = tw.RemoteExceptionCode


class Book(idl.Desk):
    """Knows one security."""

    def __init__(self):
        self.depth = 0
        self.subscribed = set()

    def get_version(self):
        return "1.2"

    def ping(self):
        pass

    def price(self, securityID):
        if securityID == "TICK":
            return 101.25
        if securityID == "OLD":
            raise market.Closed(reason="delisted")
        if securityID == "":
            raise tw.RemoteError(codes.INVALID_ARGUMENT)
        if securityID == "FAULT":
            raise RuntimeError("a fault")
        if (securityID, "last") in self.subscribed:
            return 1.0
        raise market.Unknown()

    def levels(self, securityID, side, count):
        if securityID != "TICK":
            raise market.Unknown()
        sign = -1 if side == market.Quotes.Side.BID else 1
        given = max(min(count, 2), 0)
        levels = [market.Level(101.25 + sign * level / 4, 100) for level in range(given)]
        return levels, given, given < count

    def subscribe(self, securityID, type):
        self.subscribed.add((securityID, type))

    def type(self, self_):
        return self_ + 1

    def get_depth(self):
        return self.depth

    def set_depth(self, depth):
        self.depth = depth

    def now(self):
        raise tw.RemoteError(codes.UNSUPPORTED)

    def halt(self, all):
        if not all:
            raise market.Closed()


def outcome(function, *arguments):
    """What comes of a call, in a form that can be compared."""
    try:
        return function(*arguments)
    except (market.Closed, market.Unknown) as raised:
        return repr(raised)
    except tw.RemoteError as error:
        return error.code


def call(participant, name):
    bid = market.Quotes.Side.BID
    with idl.DeskClient(participant, f"Desk_{name}", timeout=PATIENCE) as desk:
        expected = [
            ("1.2", desk.get_version),
            (None, desk.ping),
            (None, desk.set_depth, 7),
            (7, desk.get_depth),
            (101.25, desk.price, "TICK"),
            (repr(market.Closed("delisted")), desk.price, "OLD"),
            (repr(market.Unknown()), desk.price, "X"),
            (codes.INVALID_ARGUMENT, desk.price, ""),
            (codes.UNKNOWN_EXCEPTION, desk.price, "FAULT"),
            (([market.Level(101.25, 100), market.Level(101.0, 100)], 2, True), desk.levels, "TICK", bid, 5),
            (repr(market.Unknown()), desk.levels, "X", bid, 5),
            (None, desk.subscribe, "python", "last"),
            (1.0, desk.price, "python"),
            (5, desk.type, 4),
            (codes.UNSUPPORTED, desk.now),
            (None, desk.halt, True),
            (repr(market.Closed("")), desk.halt, False),
        ]
        for result, function, *arguments in expected:
            found = outcome(function, *arguments)
            if found != result:
                return f"{function.__name__}{tuple(arguments)} is {found!r}, not {result!r}"
    return "ok"


def main():
    job, names = sys.argv[1:]
    with tw.Participant(domain=0) as participant:
        if job == "serve":
            # Faults are what is tried.
            threading.excepthook = lambda _: None
            with idl.DeskService(participant, f"Desk_{names}", Book()):
                sys.stdin.read()
            return
        for name in names.split(","):
            print(name, call(participant, name), flush=True)


main()
