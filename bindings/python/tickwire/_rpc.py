"""Requests and replies: what the clients and services that are made of interfaces of IDL share."""

import abc
import asyncio
import contextlib
import inspect
import threading
import time
import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from . import _tickwire
from ._classes import Classes, safe
from ._entities import Participant, Timeout, _Entity, _seconds
from ._errors import ClosedError, DecodeError, Error, NoServiceError, RemoteError, RemoteExceptionCode, TimeoutError

#: The enum of IDL that :class:`RemoteExceptionCode` is.
REMOTE_EXCEPTION = "dds::rpc::RemoteExceptionCode_t"

#: How long a task that waits for a service does not look whether there is one, in seconds.
_LOOK = 0.005

#: The name of a service, or of its topics for requests and replies.
Topics = Union[str, Tuple[str, str]]


def _topics(service: Topics) -> Tuple[str, str]:
    return (f"{service}_Request", f"{service}_Reply") if isinstance(service, str) else service


class Operation:
    """An operation of an interface."""

    def __init__(self, entry: tuple, request: Any, classes: Classes) -> None:
        name, self.doc, inputs, outputs, raises, asked, answer = entry
        self.name = safe(name)
        self._request = request
        self._inputs = [safe(name) for name in inputs]
        self._outputs = [safe(name) for name in outputs]
        self._raises = [(classes.make(full), safe(member)) for full, member in raises]
        self._asked = classes.make(asked)
        #: What comes back, and what of it is there; None where nothing does.
        self._output, self._result = [classes.make(full) for full in answer] if answer else (None, None)
        parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in self._inputs]
        self._signature = inspect.Signature(parameters)
        this = inspect.Parameter("self_" if "self" in self._inputs else "self", inspect.Parameter.POSITIONAL_ONLY)
        self._shown = inspect.Signature([this, *parameters])

    @property
    def is_oneway(self) -> bool:
        return self._result is None

    def method(self, function: Any, suffix: str = "") -> Any:
        """A function of the operation's name, arguments and comment."""
        function.__name__ = function.__qualname__ = self.name + suffix
        function.__doc__ = self.doc
        function.__signature__ = self._shown
        return function

    def request(self, arguments: tuple, keywords: Dict[str, Any]) -> Any:
        given = self._signature.bind(*arguments, **keywords)
        return self._request(**{self.name: self._asked(*given.args)})

    def outcome(self, reply: Any) -> Any:
        """What a reply says: the result, or what it raises."""
        result, code = getattr(reply, self.name), reply.remoteEx
        if code is not None and (result is None or code != RemoteExceptionCode.OK):
            raise RemoteError(RemoteExceptionCode(code))
        for _, member in self._raises:
            raised = getattr(result, member, None)
            if raised is not None:
                raise raised
        if result is None or result.result is None:
            raise DecodeError("the reply has no result of this operation: the interfaces differ")
        values = [getattr(result.result, name) for name in self._outputs]
        return tuple(values) if len(values) > 1 else values[0] if values else None

    def answer(self, implementation: Any, request: Any) -> Tuple[Any, bool]:
        """What comes of a request, and whether that is an exception of the operation."""
        asked = getattr(request, self.name)
        function = getattr(implementation, self.name)
        try:
            value = function(*[getattr(asked, name) for name in self._inputs])
        except tuple(kind for kind, _ in self._raises) as raised:
            member = next(member for kind, member in self._raises if isinstance(raised, kind))
            return self._result(**{member: raised}), True
        if self.is_oneway:
            return None, False
        values = (value,) if len(self._outputs) == 1 else value if self._outputs else ()
        if len(values) != len(self._outputs):
            raise ValueError(f"{self.name} gives {len(self._outputs)} values, not {len(values)}")
        return self._result(result=self._output(**dict(zip(self._outputs, values)))), False


class Client(_Entity):
    """What the clients of interfaces have in common: see :func:`tickwire.idl`."""

    _types: "Tuple[Any, Any]"

    def __init__(self, participant: Participant, service: Topics, timeout: Timeout = 5.0) -> None:
        request, reply = self._types
        self._timeout = _seconds(timeout)
        self._requester = _tickwire.Requester(participant, _topics(service), request(), reply())
        self._opened(participant)

    def wait_for_service(self, timeout: Timeout = None) -> None:
        """Waits until a service is there; raises NoServiceError after ``timeout`` seconds, by default as long as a call
        may take."""
        self._requester.wait_for_service(self._timeout if timeout is None else _seconds(timeout))

    @property
    def counters(self) -> Dict[str, int]:
        """What it has done and seen, by name."""
        return self._requester.counters

    def _close(self) -> None:
        self._requester.close()

    def _call(self, operation: Operation, arguments: tuple, keywords: Dict[str, Any]) -> Any:
        request = operation.request(arguments, keywords)
        end = None if self._timeout is None else time.monotonic() + self._timeout
        self._requester.wait_for_service(self._timeout)
        if operation.is_oneway:
            return self._requester.tell(request)
        pending = self._requester.send(request)
        try:
            reply = pending.wait(None if end is None else max(end - time.monotonic(), 0.0))
        finally:
            # What is raised would keep the call under way.
            del pending
        return operation.outcome(reply)

    async def _call_async(self, operation: Operation, arguments: tuple, keywords: Dict[str, Any]) -> Any:
        request = operation.request(arguments, keywords)
        loop = asyncio.get_running_loop()
        end = None if self._timeout is None else loop.time() + self._timeout
        while True:
            try:
                self._requester.wait_for_service(0.0, self._timeout)
                break
            except NoServiceError:
                if end is not None and loop.time() >= end:
                    raise
            await asyncio.sleep(_LOOK)
        pending = self._requester.send(request)
        come: "asyncio.Future[None]" = loop.create_future()

        def ring() -> None:
            # The loop may have ended.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(lambda: come.done() or come.set_result(None))

        try:
            reply = pending.poll(ring)
            if reply is None:
                await asyncio.wait_for(come, None if end is None else end - loop.time())
                reply = pending.poll(ring)
        except asyncio.TimeoutError:
            raise TimeoutError(f"no reply after {self._timeout} s") from None
        finally:
            del pending
        return operation.outcome(reply)


class Service(_Entity):
    """What the services of interfaces have in common: see :func:`tickwire.idl`."""

    _types: "Tuple[Any, Any]"
    _interface: Any
    _operations: List[Operation]

    def __init__(self, participant: Participant, service: Topics, implementation: Any) -> None:
        if not isinstance(implementation, self._interface):
            raise TypeError(f"{implementation!r} is no {self._interface.__name__}")
        request, reply = self._types
        replier = _tickwire.Replier(participant, _topics(service), request(), reply())
        self._server = _Server(replier, self._operations, reply, implementation)
        self._opened(participant)
        # One that nobody has any more ends.
        weakref.finalize(self, replier.close)
        # When the interpreter ends, `atexit` has closed it.
        self._thread = threading.Thread(target=self._server.run, name="tickwire-service", daemon=True)
        self._thread.start()

    @property
    def counters(self) -> Dict[str, int]:
        """What came of requests, by name."""
        return dict(self._server.counters)

    def _close(self) -> None:
        self._server.replier.close()
        if self._thread is not threading.current_thread():
            self._thread.join()


class _Server:
    """Answers requests, one after the other."""

    def __init__(self, replier: Any, operations: List[Operation], reply: Any, implementation: Any) -> None:
        self.replier = replier
        self._operations = operations
        self._reply = reply.type
        self._implementation = implementation
        outcomes = ("returned", "raised", "told", "unknown_operations", "refused", "failures")
        self.counters = dict.fromkeys(("requests", *outcomes, "unsent", "undecodable"), 0)

    def run(self) -> None:
        while True:
            try:
                request, identity = self.replier.wait()
            except ClosedError:
                return
            except DecodeError:
                # Nobody can be told.
                self.counters["undecodable"] += 1
                continue
            self.counters["requests"] += 1
            self._answer(request, identity)

    def _answer(self, request: Any, identity: Any) -> None:
        counters = self.counters
        asked = [operation for operation in self._operations if getattr(request, operation.name) is not None]
        try:
            if len(asked) != 1:
                codes = RemoteExceptionCode
                raise RemoteError(codes.INVALID_ARGUMENT if asked else codes.UNKNOWN_OPERATION)
            result, is_raised = asked[0].answer(self._implementation, request)
            if result is None:
                counters["told"] += 1
                return
            self.replier.reply(identity, self._reply(**{asked[0].name: result}))
            counters["raised" if is_raised else "returned"] += 1
            return
        except ClosedError:
            counters["unsent"] += 1
            return
        except RemoteError as error:
            code = error.code
            counters["unknown_operations" if code == RemoteExceptionCode.UNKNOWN_OPERATION else "refused"] += 1
        except BaseException as error:
            counters["failures"] += 1
            code = RemoteExceptionCode.UNKNOWN_EXCEPTION
            told = (type(error), error, error.__traceback__, threading.current_thread())
            threading.excepthook(threading.ExceptHookArgs(told))
        if len(asked) == 1 and asked[0].is_oneway:
            return
        try:
            self.replier.reply(identity, self._reply(remoteEx=code))
        except Error:
            counters["unsent"] += 1


class _Lazy:
    """A class of a request or reply, and its type, which is made when a client or a service needs it."""

    def __init__(self, made: Any, describe: Callable[[Any], Any]) -> None:
        self.type = made
        self._describe = describe

    def __call__(self) -> Any:
        return self._describe(self.type)


def stubs(entry: tuple, classes: Classes, known: Dict[str, Any], defined: Dict[str, Any]) -> Tuple[Any, Any, Any]:
    """The classes of an interface: what a service implements, a client, and what serves the one to the other.

    ``known`` are the first of these of the interfaces before, ``defined`` the types and constants in the interface. Raises
    ValueError with what Python cannot have.
    """
    from ._types import describe

    full, bases, doc, request, reply, calls = entry
    last = full.split("::")[-1]
    types = _Lazy(classes.make(request), describe), _Lazy(classes.make(reply), describe)
    operations = [Operation(call, types[0].type, classes) for call in calls]
    abstract: Dict[str, Any] = dict(defined)
    client: Dict[str, Any] = {"_types": types}
    for operation in operations:
        for name, is_async in ((operation.name, False), (f"{operation.name}_async", True)):
            if hasattr(Client, name) or name in client or name in defined:
                raise ValueError(f"two attributes of its client are {name}")
            if not (is_async and operation.is_oneway):
                client[name] = _asking(operation, is_async)
        abstract[operation.name] = _abstract(operation)
    above = [known[base] for base in bases]
    above = [base for base in above if not any(issubclass(other, base) for other in above if other is not base)]
    for base in above:
        for name in [name for name in abstract if name not in defined and hasattr(base, name)]:
            del abstract[name]
    try:
        interface: Any = abc.ABCMeta(safe(last), tuple(above) or (object,), abstract)
    except TypeError as error:
        raise ValueError(str(error)) from None
    interface.__doc__ = doc or f"The interface {full} of IDL."
    made_client = abc.ABCMeta(f"{last}Client", (Client, interface), client)
    made_client.__doc__ = f"Calls a service of the interface {full}: ``{last}Client(participant, name, timeout=5.0)``."
    server = {"_types": types, "_interface": interface, "_operations": operations}
    made_service = type(f"{last}Service", (Service,), server)
    made_service.__doc__ = f"Serves the interface {full}: ``{last}Service(participant, name, implementation)``."
    return interface, made_client, made_service


def _abstract(operation: Operation) -> Any:
    def method(self: Any, /, *arguments: Any, **keywords: Any) -> Any:
        raise NotImplementedError

    return abc.abstractmethod(operation.method(method))


def _asking(operation: Operation, is_async: bool) -> Any:
    if is_async:

        async def wait(self: Client, /, *arguments: Any, **keywords: Any) -> Any:
            return await self._call_async(operation, arguments, keywords)

        return operation.method(wait, "_async")

    def call(self: Client, /, *arguments: Any, **keywords: Any) -> Any:
        return self._call(operation, arguments, keywords)

    return operation.method(call)
