"""What can go wrong. Every error of Tickwire is an :class:`Error`."""

import builtins
import enum
from typing import Any


class Error(Exception):
    """The base of all errors of Tickwire; its text says what to do about it."""


class TimeoutError(Error, builtins.TimeoutError):
    """What was waited for did not happen in time, or a write found no room."""


class NoServiceError(TimeoutError):
    """No service was found in time, and nothing was sent; the text says which of its topics nobody reads or writes."""


class ClosedError(Error):
    """The entity was closed before."""


class QosError(Error, ValueError):
    """A setting is unknown, contradicts another one, or cannot be had."""


class TypeDescriptionError(Error, TypeError):
    """A class cannot be the type of a topic, or a topic has another type already."""


class EncodeError(Error, ValueError):
    """A value does not fit its topic's type; the text names the member."""


class EncodeTypeError(EncodeError, TypeError):
    """An object is of another kind than its topic's type says."""


class DecodeError(Error, ValueError):
    """What a writer sent is no value of the topic's type."""


class UnknownTopicError(Error, LookupError):
    """Nobody on the network has such a topic, or nobody tells its type."""


class IdlError(Error, ValueError):
    """IDL that does not compile; the text has file, line and caret."""


class FilterError(Error, ValueError):
    """A filter or query does not fit the topic's type."""


class RemoteExceptionCode(enum.IntEnum):
    """What a service says instead of a result (DDS-RPC 1.0)."""

    OK = 0
    UNSUPPORTED = 1
    INVALID_ARGUMENT = 2
    OUT_OF_RESOURCES = 3
    UNKNOWN_OPERATION = 4
    UNKNOWN_EXCEPTION = 5


class RemoteError(Error):
    """A service says ``code`` instead of a result. An operation of a service raises it to say so."""

    def __init__(self, code: RemoteExceptionCode) -> None:
        super().__init__(_SAID[code])
        self.code = code

    def __reduce__(self) -> Any:
        return RemoteError, (self.code,)


_SAID = {
    RemoteExceptionCode.OK: "the service says that nothing is wrong, but gives no result",
    RemoteExceptionCode.UNSUPPORTED: "the service does not implement the operation",
    RemoteExceptionCode.INVALID_ARGUMENT: "the service takes no such argument",
    RemoteExceptionCode.OUT_OF_RESOURCES: "the service has run out of resources",
    RemoteExceptionCode.UNKNOWN_OPERATION: "the service does not know the operation: its interface is another one",
    RemoteExceptionCode.UNKNOWN_EXCEPTION: "the service has failed, and does not say why",
}
