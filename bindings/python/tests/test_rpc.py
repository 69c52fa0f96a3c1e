"""Clients and services of interfaces of IDL."""

import asyncio
import gc
import inspect
import pickle
import threading
import time

import pytest

import tickwire as tw

IDL = """
module market {
    exception Closed { string reason; long args; };
    exception Unknown {};

    interface Named {
        readonly attribute string name;
    };

    // Prices.
    interface Quotes : Named {
        enum Side { BID, ASK };
        const long DEPTH = 3;
        struct Level { double price; long size; };

        attribute long depth;
        // The last price.
        double price(in string symbol, in long self) raises (Closed, Unknown);
        Level best(in Side side, inout long count, out boolean more);
        void ping();
        @oneway void note(in string text);
        void from(in long from);
    };

    interface Constants { const long ONE = 1; };
    interface Nothing {};
};
interface Desk : market::Quotes, market::Named { void halt(); };
"""

PATIENCE = 30


@pytest.fixture(scope="module")
def idl():
    return tw.idl(text=IDL)


@pytest.fixture(scope="module")
def Book(idl):
    market = idl.market

    class Book(market.Quotes):
        def __init__(self):
            self.depth = 2
            self.noted = []
            self.goes_on = threading.Event()

        def get_name(self):
            return "book"

        def get_depth(self):
            return self.depth

        def set_depth(self, depth):
            self.depth = depth

        def price(self, symbol, self_):
            if symbol == "closed":
                raise market.Closed(reason="holiday", args_=7)
            if symbol == "unknown":
                raise market.Unknown()
            if symbol == "unsupported":
                raise tw.RemoteError(tw.RemoteExceptionCode.UNSUPPORTED)
            if symbol == "text":
                return "no number"
            if symbol == "slow":
                assert self.goes_on.wait(PATIENCE)
            return 100.0 + self_

        def best(self, side, count):
            if count < 0:
                return market.Quotes.Level()
            return market.Quotes.Level(1.0 if side is market.Quotes.Side.BID else 2.0, 5), count + 1, True

        def ping(self):
            pass

        def note(self, text):
            if not text:
                raise RuntimeError("nothing to note")
            self.noted.append(text)

        def from_(self, from_):
            self.noted.append(from_)

    return Book


@pytest.fixture
def told(monkeypatch):
    """What threads have ended with."""
    told = []
    monkeypatch.setattr(threading, "excepthook", lambda args: told.append(args.exc_value))
    return told


@pytest.fixture
def quotes(idl, Book, participant, other):
    """A service, what it is of, and a client."""
    book = Book()
    market = idl.market
    with market.QuotesService(participant, "Quotes", book) as service:
        with market.QuotesClient(other, "Quotes", timeout=PATIENCE) as client:
            yield service, book, client


def test_a_client_calls_a_service(idl, quotes):
    service, book, client = quotes
    market = idl.market
    assert client.price("TICK", 1) == client.price(self=1, symbol="TICK") == 101.0
    assert client.best(market.Quotes.Side.ASK, count=4) == (market.Quotes.Level(2.0, 5), 5, True)
    assert client.ping() is None and client.get_name() == "book"
    client.set_depth(9)
    assert client.get_depth() == book.depth == 9
    client.note("x")
    client.from_(3)
    assert book.noted == ["x", 3], "requests of one client are answered in their order"
    service.close()
    counters = service.counters
    assert (counters["requests"], counters["returned"], counters["told"]) == (9, 8, 1)
    assert not any(counters[name] for name in ("raised", "unknown_operations", "refused", "failures", "undecodable"))
    assert client.counters["replies"] == 8


def test_what_is_raised_is_raised(idl, quotes, told):
    service, _, client = quotes
    market = idl.market
    with pytest.raises(market.Closed) as raised:
        client.price("closed", 0)
    assert (raised.value.reason, raised.value.args_) == ("holiday", 7)
    assert str(raised.value) == "Closed(reason='holiday', args_=7)"
    with pytest.raises(market.Unknown):
        client.price("unknown", 0)
    with pytest.raises(tw.RemoteError, match="does not implement") as remote:
        client.price("unsupported", 0)
    assert remote.value.code is tw.RemoteExceptionCode.UNSUPPORTED
    assert pickle.loads(pickle.dumps(remote.value)).code is tw.RemoteExceptionCode.UNSUPPORTED
    assert not told
    for faulty in (lambda: client.price("text", 0), lambda: client.best(market.Quotes.Side.BID, -1)):
        with pytest.raises(tw.RemoteError) as remote:
            faulty()
        assert remote.value.code is tw.RemoteExceptionCode.UNKNOWN_EXCEPTION
    client.note("")
    assert client.ping() is None, "it goes on"
    assert [type(error) for error in told] == [tw.EncodeTypeError, TypeError, RuntimeError]
    service.close()
    counters = service.counters
    assert (counters["raised"], counters["refused"], counters["failures"]) == (2, 1, 3)


def test_a_request_asks_for_one_operation(idl, quotes):
    service, _, client = quotes
    detail = idl.market.detail
    client.wait_for_service()
    for request, code in [
        (detail.Quotes_Request(), tw.RemoteExceptionCode.UNKNOWN_OPERATION),
        (
            detail.Quotes_Request(ping=detail.Quotes_ping_In(), get_depth=detail.Quotes_get_depth_In()),
            tw.RemoteExceptionCode.INVALID_ARGUMENT,
        ),
        (detail.Quotes_Request(ping=detail.Quotes_ping_In()), None),
    ]:
        assert client._requester.send(request).wait(PATIENCE).remoteEx is code
    service.close()
    assert (service.counters["unknown_operations"], service.counters["refused"]) == (1, 1)


def test_arguments_are_checked_before_anything_is_sent(quotes):
    _, _, client = quotes
    with pytest.raises(TypeError, match="symbol"):
        client.price()
    with pytest.raises(TypeError, match="too many"):
        client.ping(1)
    with pytest.raises(tw.EncodeError, match="symbol"):
        client.price(5, 0)
    assert client.counters["requests"] == 0


def test_time_is_kept(idl, quotes, other):
    _, book, _ = quotes
    with idl.market.QuotesClient(other, "Nobody", timeout=0.05) as alone:
        with pytest.raises(tw.NoServiceError, match="after 50ms: nobody reads `Nobody_Request`"):
            alone.ping()
        with pytest.raises(tw.NoServiceError, match="after 50ms: nobody reads"):
            asyncio.run(alone.ping_async())
        with pytest.raises(tw.NoServiceError, match="after 10ms"):
            alone.wait_for_service(0.01)
    with idl.market.QuotesClient(other, "Quotes", timeout=0.1) as hasty:
        hasty.wait_for_service(PATIENCE)
        with pytest.raises(TimeoutError, match="no reply"):
            hasty.price("slow", 0)
        with pytest.raises(TimeoutError, match="no reply"):
            asyncio.run(hasty.price_async("slow", 0))
        book.goes_on.set()
        assert hasty.counters["given_up"] == 2


def test_calls_in_an_event_loop(idl, quotes):
    _, _, client = quotes

    async def main():
        prices = await asyncio.gather(*[client.price_async("TICK", n) for n in range(50)])
        with pytest.raises(idl.market.Closed):
            await client.price_async("closed", 0)
        return prices

    assert asyncio.run(main()) == [100.0 + n for n in range(50)]
    assert not hasattr(client, "note_async"), "nobody replies to it"


def test_topics_have_any_names(idl, Book, participant, other):
    topics = ("asked", "answered")
    with idl.market.QuotesService(participant, topics, Book()), idl.market.QuotesClient(other, topics) as client:
        assert client.get_name() == "book"


def test_a_service_ends(idl, Book, participant, other):
    def threads():
        return [thread for thread in threading.enumerate() if thread.name == "tickwire-service"]

    service = idl.market.QuotesService(participant, "Ended", Book())
    assert len(threads()) == 1
    service.close()
    assert not threads(), "by hand"
    service = idl.market.QuotesService(participant, "Ended", Book())
    del service
    gc.collect()
    end = time.monotonic() + PATIENCE
    while threads():
        assert time.monotonic() < end, "when it is collected"
        time.sleep(0.01)
    client = idl.market.QuotesClient(other, "Ended")
    client.close()
    with pytest.raises(tw.ClosedError):
        client.ping()
    with tw.Participant(domain=77) as short:
        service = idl.market.QuotesService(short, "Ended", Book())
    assert not threads(), "with its participant"


def test_an_operation_may_close_its_service(idl, Book, participant, other):
    class Ending(Book):
        def ping(self):
            service.close()

    service = idl.market.QuotesService(participant, "Ending", Ending())
    with idl.market.QuotesClient(other, "Ending", timeout=0.5) as client:
        client.wait_for_service(PATIENCE)
        with pytest.raises(TimeoutError):
            client.ping()
    assert service.counters["unsent"] == 1


def test_classes(idl, Book):
    market = idl.market
    assert inspect.isabstract(market.Quotes) and issubclass(market.Quotes, market.Named)
    assert issubclass(market.QuotesClient, market.Quotes) and issubclass(idl.Desk, market.Quotes)
    assert market.Quotes.DEPTH == 3 and market.Quotes.Side.ASK == 1 and market.Constants.ONE == 1
    assert market.Quotes.__doc__ == "Prices." and market.Quotes.price.__doc__ == "The last price."
    assert str(inspect.signature(market.QuotesClient.price)) == "(self_, /, symbol, self)"
    assert market.Quotes.__module__ == "idl.market" and market.QuotesClient.__qualname__ == "QuotesClient"
    assert issubclass(market.Closed, Exception) and market.Closed() != market.Closed()
    with pytest.raises(TypeError, match="abstract"):
        market.Quotes()


def test_a_service_implements_its_interface(idl, participant):
    with pytest.raises(TypeError, match="is no Quotes"):
        idl.market.QuotesService(participant, "Quotes", object())


def test_what_has_no_stubs_is_told_when_it_is_asked_for(idl):
    with pytest.raises(AttributeError, match="market::Nothing has no description: it has no operations"):
        idl.market.Nothing
    for text, why in [
        ("interface I { void close(); };", "I has no client and no service: two attributes of its client are close"),
        ("interface I { void f(); void f_async(); };", "two attributes of its client are f_async"),
        ("interface I { void f(in long double a); };", "long double"),
        ("struct IClient { long a; }; interface I { void f(); };", "IClient is something else"),
    ]:
        module = tw.idl(text=f"struct S {{ long a; }}; {text}")
        assert module.S(1).a == 1
        with pytest.raises(AttributeError, match=why):
            module.I
