"""Participants, topics, writers and readers."""

import asyncio
import atexit
import contextlib
import datetime
import os
import weakref
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Generic, Iterator, Optional, Sequence, Type, TypeVar, Union, overload

from . import _arrow, _tickwire
from ._classes import learned
from ._errors import ClosedError, Error, TimeoutError
from ._settings import to_toml
from ._status import (
    STATUSES,
    CountStatus,
    DeadlineMissedStatus,
    IncompatibleQosStatus,
    LivelinessChangedStatus,
    MatchedStatus,
    SampleRejectedStatus,
)
from ._tickwire import Condition, Profile, Sample
from ._types import Bytes, describe

#: Samples that a stream takes before others have their turn.
_IN_A_ROW = 16

T = TypeVar("T")
Timeout = Union[None, float, int, datetime.timedelta]

#: What is to be closed before the interpreter ends, as listeners need it.
_open: "weakref.WeakSet[Any]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for entity in list(_open):
        with contextlib.suppress(Exception):
            entity.close()


# The child has none of the threads that entities need: what it has of its parent says so.
os.register_at_fork(after_in_child=_tickwire._has_forked)


def _seconds(timeout: Timeout) -> Optional[float]:
    return timeout.total_seconds() if isinstance(timeout, datetime.timedelta) else timeout


class _Entity:
    """What can be closed, by hand or by ``with``."""

    def _opened(self, owner: Any = None) -> None:
        _open.add(self)
        if owner is not None:
            owner._children.add(self)

    def close(self) -> None:
        """Ends it, and what was made from it. Again is nothing."""
        for child in list(getattr(self, "_children", ())):
            child.close()
        self._close()  # type: ignore[attr-defined]

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class _Listening:
    """What can be listened to."""

    _handlers: "dict[str, Callable[..., Any]]" = {}

    def listen(self, listener: Any = None, **handlers: Callable[..., Any]) -> None:
        """Has functions called when something happens, on a thread of the participant's, one at a time.

        Each is called with the entity, and with the status where there is one: of readers ``data_available``,
        ``subscription_matched``, ``requested_incompatible_qos``, ``liveliness_changed``,
        ``requested_deadline_missed``, ``sample_lost``, ``sample_rejected``; of writers ``publication_matched``,
        ``offered_incompatible_qos``, ``offered_deadline_missed``, ``liveliness_lost``; of topics
        ``inconsistent_topic``. A ``listener`` is an object with methods of these names after ``on_``, or a
        function for the first of them. Without any, nobody is told any more, and calls on other threads have
        returned.

        >>> reader.listen(lambda reader: print(reader.take()))
        >>> writer.listen(publication_matched=lambda writer, status: print(status.current_count))

        What is raised is given to ``sys.unraisablehook``.
        """
        known = self._events  # type: ignore[attr-defined]
        found = {}
        if listener is not None:
            for event in known:
                method = getattr(listener, f"on_{event}", None)
                if method is not None:
                    found[event] = method
            if not found:
                if not callable(listener):
                    names = ", ".join(f"on_{event}" for event in known)
                    raise TypeError(f"{listener!r} can be told of nothing: it has none of {names}")
                found[known[0]] = listener
        for event, handler in handlers.items():
            event = event[3:] if event.startswith("on_") else event
            if event not in known:
                raise TypeError(f"{type(self).__name__} has no event {event!r}; there are {', '.join(known)}")
            found[event] = handler
        self._handlers = found
        self._listen(list(found))  # type: ignore[attr-defined]

    def _told(self, event: str, status: tuple) -> None:
        handler = self._handlers.get(event)
        if handler is None:
            return
        made = STATUSES.get(event)
        if made is None:
            handler(self)
        else:
            handler(self, made(*status))


class Topic(_Listening, _Entity, _tickwire.Topic, Generic[T]):
    """What samples are published under: a name, and the type that they all have. Made by
    :meth:`Participant.topic`."""

    _events = ("inconsistent_topic",)

    def filtered(self, expression: str, *parameters: Any, name: Optional[str] = None) -> "FilteredTopic[T]":
        """The topic's samples for which an expression is true; ``%0``, ``%1`` ... stand for the parameters.

        The language is the SQL subset of DDS: ``symbol LIKE %0 AND price > 1.1``, with text in single quotes.
        Parameters are numbers, or text, which is quoted here. Writers keep back what the reader does not want.

        >>> participant.reader(quotes.filtered("symbol LIKE %0", "EUR%"))
        """
        return FilteredTopic(self, expression, list(parameters), name or f"{self.name} filtered")

    @property
    def inconsistent_topic_status(self) -> CountStatus:
        """How often another endpoint has given the topic another type; clears the change."""
        return CountStatus(*self._status())


class FilteredTopic(_tickwire.FilteredTopic, Generic[T]):
    """A topic of which a reader gets those samples only for which an expression is true. Made by
    :meth:`Topic.filtered`."""


class Participant(_Entity, _tickwire.Participant):
    """A program's membership in a domain; everything else is made from it.

    >>> with tw.Participant(domain=0) as participant:
    ...     quotes = participant.topic("Quotes", Quote)
    ...     writer, reader = participant.writer(quotes), participant.reader(quotes)

    Keywords are the settings of participants: ``interface="eth1"``, ``transports=["udp"]``, ``peers=["10.0.0.7"]``,
    ``name="desk"``, ``driving="polled"`` and all others of ``tw.settings("participant")``. ``qos`` is a
    :class:`Profile`, over which the keywords hold. By default nothing leaves the machine.
    """

    def __new__(cls, domain: Optional[int] = None, *, qos: Optional[Profile] = None, **settings: Any) -> "Participant":
        made = super().__new__(cls, domain, qos, to_toml("participant", settings))
        made._children = weakref.WeakSet()
        made._opened()
        return made

    if TYPE_CHECKING:

        @overload
        def topic(self, name: str, type: "Type[Bytes]", *, timeout: Timeout = 5.0) -> "Topic[bytes]": ...
        @overload
        def topic(self, name: str, type: "Type[T]", *, timeout: Timeout = 5.0) -> "Topic[T]": ...
        @overload
        def topic(self, name: str, type: "Optional[_tickwire.Type]" = None, *, timeout: Timeout = 5.0) -> "Topic[Any]": ...

    def topic(self, name: str, type: Any = None, *, timeout: Timeout = 5.0) -> "Topic[Any]":
        """A topic with the type that a dataclass is, or one of :func:`tickwire.idl`, or :class:`tickwire.Bytes`.

        Without a type it is learned from others on the network that write or read the topic: then samples are
        dicts, and :class:`UnknownTopicError` is raised if there is nobody within ``timeout`` seconds. The same name
        and type make the same topic.
        """
        described = learned(self._learn(name, _seconds(timeout))) if type is None else describe(type)
        made: "Topic[Any]" = Topic(self, name, described)
        made._opened(self)
        return made

    def writer(self, topic: "Topic[T]", *, qos: Optional[Profile] = None, listener: Any = None, **settings: Any) -> "Writer[T]":
        """A writer of a topic; see :class:`Writer` for the keywords."""
        return Writer(self, topic, qos=qos, listener=listener, **settings)

    def reader(
        self, topic: "Topic[T] | FilteredTopic[T]", *, qos: Optional[Profile] = None, listener: Any = None, **settings: Any
    ) -> "Reader[T]":
        """A reader of a topic; see :class:`Reader` for the keywords."""
        return Reader(self, topic, qos=qos, listener=listener, **settings)

    def publisher(self, *, qos: Optional[Profile] = None, **settings: Any) -> "Publisher":
        """A publisher: ``partition=["A"]``, ``presentation={"coherent_access": True}``."""
        return Publisher(self, qos=qos, **settings)

    def subscriber(self, *, qos: Optional[Profile] = None, **settings: Any) -> "Subscriber":
        """A subscriber: ``partition=["A"]``, ``presentation={"coherent_access": True}``."""
        return Subscriber(self, qos=qos, **settings)


class Publisher(_Entity, _tickwire.Publisher):
    """Makes writers that share PARTITION, PRESENTATION and GROUP_DATA."""

    def __new__(cls, participant: Participant, *, qos: Optional[Profile] = None, **settings: Any) -> "Publisher":
        made = super().__new__(cls, participant, qos, to_toml("publisher", settings))
        made._children = weakref.WeakSet()
        made._opened(participant)
        return made

    def writer(self, topic: "Topic[T]", *, qos: Optional[Profile] = None, listener: Any = None, **settings: Any) -> "Writer[T]":
        """A writer of a topic; see :class:`Writer` for the keywords."""
        return Writer(self, topic, qos=qos, listener=listener, **settings)

    @contextlib.contextmanager
    def coherent(self) -> Iterator[None]:
        """Readers with coherent access see what is written within together, or not at all.

        >>> publisher = participant.publisher(presentation={"coherent_access": True})
        >>> with publisher.coherent():
        ...     writer.write(Leg(1, 100)), writer.write(Leg(2, 101))
        """
        changes = self._begin_coherent()
        try:
            yield
        finally:
            changes._end()

    @contextlib.contextmanager
    def suspended(self) -> Iterator[None]:
        """Holds back what the calling thread writes within, so that samples share datagrams.

        It pays for samples that are at hand together. Writers of the whole participant are held back.
        """
        number = self._suspend()
        try:
            yield
        finally:
            self._resume(number)


class Subscriber(_Entity, _tickwire.Subscriber):
    """Makes readers that share PARTITION, PRESENTATION and GROUP_DATA."""

    def __new__(cls, participant: Participant, *, qos: Optional[Profile] = None, **settings: Any) -> "Subscriber":
        made = super().__new__(cls, participant, qos, to_toml("subscriber", settings))
        made._children = weakref.WeakSet()
        made._opened(participant)
        return made

    def reader(
        self, topic: "Topic[T] | FilteredTopic[T]", *, qos: Optional[Profile] = None, listener: Any = None, **settings: Any
    ) -> "Reader[T]":
        """A reader of a topic; see :class:`Reader` for the keywords."""
        return Reader(self, topic, qos=qos, listener=listener, **settings)

    @contextlib.contextmanager
    def access(self) -> Iterator[None]:
        """Looks at all readers together: no coherent set of GROUP scope appears in any of them meanwhile."""
        access = self._begin_access()
        try:
            yield
        finally:
            access._end()


class Writer(_Listening, _Entity, _tickwire.Writer, Generic[T]):
    """Publishes samples of a topic. Made by :meth:`Participant.writer` or :meth:`Publisher.writer`.

    >>> writer = participant.writer(quotes, reliability="reliable", history=("keep_last", 5), deadline=0.5)
    >>> writer.write(Quote("TICK", 101.25))

    Keywords are the settings of writers, of ``tw.settings("writer")``: ``history_depth=5`` is ``history.depth``, a
    tuple sets a policy's kind and its value, a dict its parts; durations are seconds, None for ever. Of its
    publisher ``partition`` and ``presentation`` may be said, too, and ``topic_data``. ``qos`` is a
    :class:`Profile`, over which the keywords hold. By default a writer is reliable and keeps the last sample of
    each instance.

    Any number of threads may write. The end of a writer, by ``close``, ``with`` or collection, waits up to a
    second until all reliable readers have what was written.
    """

    _events = ("publication_matched", "offered_incompatible_qos", "offered_deadline_missed", "liveliness_lost")

    def __new__(
        cls,
        owner: "Participant | Publisher",
        topic: "Topic[T]",
        *,
        qos: Optional[Profile] = None,
        listener: Any = None,
        **settings: Any,
    ) -> "Writer[T]":
        made = super().__new__(cls, owner, topic, qos, to_toml("writer", settings))
        made._opened(owner)
        if listener is not None:
            made.listen(listener)
        return made

    if TYPE_CHECKING:

        def write(self, sample: T, timestamp: Optional[int] = None) -> int: ...
        @property
        def topic(self) -> "Topic[T]": ...

    def set_qos(self, **settings: Any) -> None:
        """Changes what may change while the writer lives: DEADLINE, LATENCY_BUDGET, OWNERSHIP_STRENGTH, LIFESPAN,
        TRANSPORT_PRIORITY, USER_DATA, TOPIC_DATA, WRITER_DATA_LIFECYCLE."""
        self._set_qos(to_toml("writer", settings) or "")

    @property
    def publication_matched_status(self) -> MatchedStatus:
        """The readers that matched; clears the change."""
        return MatchedStatus(*self._status("publication_matched"))

    @property
    def offered_incompatible_qos_status(self) -> IncompatibleQosStatus:
        """The readers that ask for more than is offered; clears the change."""
        return IncompatibleQosStatus(*self._status("offered_incompatible_qos"))

    @property
    def offered_deadline_missed_status(self) -> DeadlineMissedStatus:
        """Periods of DEADLINE without a write; clears the change."""
        return DeadlineMissedStatus(*self._status("offered_deadline_missed"))

    @property
    def liveliness_lost_status(self) -> CountStatus:
        """How often the writer was not shown to live within its lease; clears the change."""
        return CountStatus(*self._status("liveliness_lost"))

    def __repr__(self) -> str:
        return f"<tickwire.Writer of {self.topic.name!r}>"


class Reader(_Listening, _Entity, _tickwire.Reader, Generic[T]):
    """Subscribes to a topic. Made by :meth:`Participant.reader` or :meth:`Subscriber.reader`.

    >>> reader = participant.reader(quotes, reliability="reliable", history="keep_all")
    >>> for sample in reader.take():
    ...     print(sample.data, sample.info.source_timestamp)

    Keywords are as those of :class:`Writer`, of ``tw.settings("reader")``. By default a reader is best effort and
    keeps the last sample of each instance.

    A reader can be walked through: ``for sample in reader`` waits for samples for ever, ``reader.iter(timeout=1)``
    ends when none has come for a second. With asyncio there are ``await reader.wait()`` and
    ``async for sample in reader.stream()``, for which no thread waits.
    """

    _events = (
        "data_available",
        "subscription_matched",
        "requested_incompatible_qos",
        "liveliness_changed",
        "requested_deadline_missed",
        "sample_lost",
        "sample_rejected",
    )
    _waiting: "Optional[_Waiting]"

    def __new__(
        cls,
        owner: "Participant | Subscriber",
        topic: "Topic[T] | FilteredTopic[T]",
        *,
        qos: Optional[Profile] = None,
        listener: Any = None,
        **settings: Any,
    ) -> "Reader[T]":
        made = super().__new__(cls, owner, topic, qos, to_toml("reader", settings))
        made._waiting = None
        made._opened(owner)
        if listener is not None:
            made.listen(listener)
        return made

    def close(self) -> None:
        """Ends the reader. Who waits for it, in a thread or in asyncio, is told by ClosedError."""
        waiting = self._waiting
        super().close()
        if waiting is not None:
            waiting.closed()

    if TYPE_CHECKING:

        def take(
            self,
            max: Optional[int] = None,
            *,
            states: "Sequence[str]" = (),
            instance: Optional[bytes] = None,
            query: Optional[Condition] = None,
        ) -> "list[Sample[T]]": ...
        def read(
            self,
            max: Optional[int] = None,
            *,
            states: "Sequence[str]" = (),
            instance: Optional[bytes] = None,
            query: Optional[Condition] = None,
        ) -> "list[Sample[T]]": ...
        @property
        def topic(self) -> "Topic[T]": ...

    def set_qos(self, **settings: Any) -> None:
        """Changes what may change while the reader lives: DEADLINE, LATENCY_BUDGET, TIME_BASED_FILTER,
        READER_DATA_LIFECYCLE, USER_DATA, TOPIC_DATA."""
        self._set_qos(to_toml("reader", settings) or "")

    def query_condition(self, expression: str, *parameters: Any, states: "list[str] | tuple[str, ...]" = ()) -> Condition:
        """A condition that holds while there are samples for which an expression is true, as in
        :meth:`Topic.filtered`; ``take(query=...)`` takes these.

        >>> dear = reader.query_condition("price > %0", 100, states=["not_read"])
        >>> reader.take(query=dear)
        """
        return self._query_condition(expression, list(parameters), list(states))

    def iter(self, timeout: Timeout = None, max: Optional[int] = None) -> "Iterator[Sample[T]]":
        """Takes samples one after the other, and waits where there is none. Ends when none has come for ``timeout``
        seconds, after ``max`` samples, or when the reader is closed. Samples that were not reached stay in the
        reader."""
        left = max
        while left is None or left > 0:
            try:
                samples = self.take(1)
                if not samples:
                    self.wait_for_data(_seconds(timeout))
                    continue
            except (TimeoutError, ClosedError):
                return
            if left is not None:
                left -= 1
            yield samples[0]

    def __iter__(self) -> "Iterator[Sample[T]]":
        return self.iter()

    def arrow(
        self,
        max: Optional[int] = None,
        *,
        take: bool = True,
        states: "list[str] | tuple[str, ...]" = (),
        instance: Optional[bytes] = None,
        query: Optional[Condition] = None,
        decimals: Optional[int] = 9,
        enums: str = "names",
        info: "_arrow.Info" = (),
    ) -> "_tickwire.Batch":
        """Takes samples as one Arrow batch, whose columns are the members: no Python object is made of any of them.

        >>> frame = polars.DataFrame(reader.arrow(info=["source_timestamp"]))
        >>> table = pyarrow.table(reader.arrow(max=1000, decimals=4))

        ``max``, ``states``, ``instance`` and ``query`` are as of ``take``; with ``take=False`` samples stay in the reader.
        Samples are taken up to some 64 MiB; the rest waits for the next call.

        Decimals are ``decimal128(38, decimals)``, or with ``decimals=None`` structs of mantissa and exponent, which have
        every value exactly. Enums are dictionaries of names, or with ``enums="numbers"`` integers. ``info`` names
        columns to put behind: ``source_timestamp``, ``reception_timestamp``, ``kernel_timestamp``, ``sample_state``,
        ``view_state``, ``instance_state``, ``instance``, ``writer``, ``sequence_number``; a dict gives them other names.

        Samples that only tell of the end of their instance are rows of key members and nulls if ``instance_state`` is
        asked for; else ``batch.ended`` counts them. Samples that are no values of the type, or have decimals with more
        digits, are counted by ``batch.undecodable``, with reasons in ``batch.errors``.
        """
        made = _arrow.rows(self, decimals, enums, info)
        return _arrow.batch(self, made, max, take, list(states), instance, query)

    def arrow_batches(
        self,
        rows: int = 65_536,
        *,
        every: Timeout = None,
        timeout: Timeout = None,
        max: Optional[int] = None,
        decimals: Optional[int] = 9,
        enums: str = "names",
        info: "_arrow.Info" = (),
    ) -> "Iterator[_tickwire.Batch]":
        """Takes samples as Arrow batches, and waits where there is none: each of ``rows`` samples, or of those that have
        come within ``every`` so many seconds. Ends when none has come for ``timeout`` seconds, after ``max`` samples, or
        when the reader is closed, with a batch of what has been taken till then. The rest is as of :meth:`arrow`.

        >>> for batch in reader.arrow_batches(10_000, every=1.0):
        ...     sink.write(pyarrow.record_batch(batch))
        """
        if rows < 1:
            raise ValueError(f"a batch of {rows} rows")
        made = _arrow.rows(self, decimals, enums, info)
        return _arrow.batches(self, made, rows, _seconds(every), _seconds(timeout), max)

    async def wait(self, timeout: Timeout = None) -> None:
        """Waits in asyncio until there is a sample that was not read; raises TimeoutError after ``timeout`` seconds.

        The event loop is told by a socket: no thread waits.
        """
        loop = asyncio.get_running_loop()
        if self._waiting is None or self._waiting.is_over():
            self._waiting = _Waiting(self, loop)
        await self._waiting.wait(loop, _seconds(timeout))

    async def stream(self, timeout: Timeout = None) -> "AsyncIterator[Sample[T]]":
        """Takes samples one after the other in asyncio. Ends when none has come for ``timeout`` seconds, or when the
        reader is closed. Samples that were not reached stay in the reader, and however fast they come, other tasks
        have their turn."""
        taken = 0
        while True:
            try:
                samples = self.take(1)
                if not samples:
                    await self.wait(timeout)
                    continue
            except (TimeoutError, ClosedError):
                return
            yield samples[0]
            taken += 1
            if taken % _IN_A_ROW == 0:
                await asyncio.sleep(0)

    @property
    def subscription_matched_status(self) -> MatchedStatus:
        """The writers that matched; clears the change."""
        return MatchedStatus(*self._status("subscription_matched"))

    @property
    def requested_incompatible_qos_status(self) -> IncompatibleQosStatus:
        """The writers that offer less than is asked for; clears the change."""
        return IncompatibleQosStatus(*self._status("requested_incompatible_qos"))

    @property
    def liveliness_changed_status(self) -> LivelinessChangedStatus:
        """The writers that show that they live and that do not; clears the change."""
        return LivelinessChangedStatus(*self._status("liveliness_changed"))

    @property
    def requested_deadline_missed_status(self) -> DeadlineMissedStatus:
        """Periods of DEADLINE without a sample; clears the change."""
        return DeadlineMissedStatus(*self._status("requested_deadline_missed"))

    @property
    def sample_lost_status(self) -> CountStatus:
        """Samples that will never come; clears the change."""
        return CountStatus(*self._status("sample_lost"))

    @property
    def sample_rejected_status(self) -> SampleRejectedStatus:
        """Samples that found no room; clears the change."""
        return SampleRejectedStatus(*self._status("sample_rejected"))

    def __repr__(self) -> str:
        return f"<tickwire.Reader of {self.topic.name!r}>"


class _Waiting:
    """Who waits for a reader in an event loop."""

    def __init__(self, reader: Reader[Any], loop: asyncio.AbstractEventLoop) -> None:
        self._reader = weakref.ref(reader)
        self._loop = loop
        self._bell = reader._bell()
        self._futures: "set[asyncio.Future[None]]" = set()

    def is_over(self) -> bool:
        return self._loop.is_closed()

    async def wait(self, loop: asyncio.AbstractEventLoop, timeout: Optional[float]) -> None:
        if loop is not self._loop:
            raise Error("the reader is waited for in another event loop already; make a reader for each")
        end = None if timeout is None else loop.time() + timeout
        while True:
            reader = self._reader()
            if reader is None or reader.closed:
                raise ClosedError("the reader is closed")
            # Heard first: what comes from here on rings again.
            reader._hear()
            if reader.has_data:
                # Others wait for the same ring, which is not heard again.
                self._wake()
                return
            del reader
            await self._ring(None if end is None else end - loop.time(), timeout)

    async def _ring(self, left: Optional[float], timeout: Optional[float]) -> None:
        future: "asyncio.Future[None]" = self._loop.create_future()
        if not self._futures:
            self._loop.add_reader(self._bell, self._rung)
        self._futures.add(future)
        try:
            await asyncio.wait_for(future, left)
        except asyncio.TimeoutError:
            raise TimeoutError(f"no sample has come after {timeout} s") from None
        finally:
            self._futures.discard(future)
            if not self._futures:
                self._loop.remove_reader(self._bell)

    def _rung(self) -> None:
        reader = self._reader()
        if reader is not None:
            reader._hear()
        self._wake()

    def _wake(self) -> None:
        for future in self._futures:
            if not future.done():
                future.set_result(None)

    def closed(self) -> None:
        """Tells who waits, from any thread."""
        if not self._loop.is_closed():
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._rung)
