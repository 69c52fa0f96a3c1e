"""What can go wrong. Every error of Tickwire is an :class:`Error`."""

import builtins


class Error(Exception):
    """The base of all errors of Tickwire; its text says what to do about it."""


class TimeoutError(Error, builtins.TimeoutError):
    """What was waited for did not happen in time, or a write found no room."""


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
