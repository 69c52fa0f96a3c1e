'''Publish/subscribe for market data: an OMG DDS, on the wire with Cyclone DDS, Fast DDS and others.

    import tickwire as tw
    from dataclasses import dataclass

    @tw.topic
    @dataclass
    class Quote:
        symbol: tw.key[str]
        price: float

    with tw.Participant(domain=0) as participant:
        quotes = participant.topic("Quotes", Quote)
        with participant.writer(quotes) as writer, participant.reader(quotes) as reader:
            writer.wait_for_matched(1, timeout=5)
            writer.write(Quote("TICK", 101.25))
            for sample in reader.iter(timeout=1):
                print(sample.data, sample.info.source_timestamp)

A type is a dataclass. Its annotations say the members:

    bool, str, bytes, Decimal       themselves; bytes is a sequence of octets
    int, float                      int64 and float64; others are tw.int8 to tw.uint64, tw.float32
    tw.key[str]                     part of the key: each value of it is an instance
    Optional[float]                 may be absent
    list[Level], dict[str, int]     a sequence, a map; tw.sequence(Level, 10) has at most ten
    tw.sequence(tw.float64)         a sequence of numbers, which arrives as a numpy array without a copy
    tw.array(tw.float32, 3, 3)      an array, likewise
    tw.string(8), tw.wstring()      text of at most eight bytes, text of UTF-16
    IntEnum, IntFlag, dataclass     an enum, a bitmask, a struct; @tw.union makes unions

Types come from IDL, too (``tw.idl("market.idl")``, with clients and services of its interfaces), and from the network (``participant.topic("Quotes")``, whose
samples are dicts); ``tw.Bytes`` is raw bytes.

QoS is said by keyword, ``participant.reader(quotes, reliability="reliable", history=("keep_last", 5))``, and by
profiles of files, ``qos=tw.Profile("market.toml", "quotes")``; ``tw.settings("reader")`` lists all there is.

Samples are read by ``take()`` and ``read()``, by iteration, by listeners (``reader.listen(...)``), wait sets, and
asyncio (``async for sample in reader.stream()``). Everything that can be closed is a context manager. The
interpreter's lock is released while Tickwire waits, writes or reads; listeners are called on its threads.

For pyarrow, polars, pandas and DuckDB samples are taken as Arrow batches, ``polars.DataFrame(reader.arrow())``, and
feeds of FAST messages decoded into such, without any network: ``tw.decode_feed("day.pcap", "feed.xml")``.
'''

from . import _tickwire
from ._arrow import decode_feed, receive_feed
from ._entities import FilteredTopic, Participant, Publisher, Reader, Subscriber, Topic, Writer
from ._errors import (
    ClosedError,
    DecodeError,
    EncodeError,
    EncodeTypeError,
    Error,
    FilterError,
    IdlError,
    NoServiceError,
    QosError,
    RemoteError,
    RemoteExceptionCode,
    TimeoutError,
    TypeDescriptionError,
    UnknownTopicError,
)
from ._idl import idl
from ._settings import settings
from ._status import (
    CountStatus,
    DeadlineMissedStatus,
    IncompatibleQosStatus,
    LivelinessChangedStatus,
    MatchedStatus,
    SampleRejectedStatus,
)
from ._tickwire import Condition, GuardCondition, Profile, Sample, SampleInfo, Type, WaitSet, __version__
from ._types import (
    Bytes,
    array,
    bits,
    bytes_type,
    case,
    char,
    default,
    describe,
    float32,
    float64,
    id,
    int8,
    int16,
    int32,
    int64,
    key,
    map,
    must_understand,
    name,
    octet,
    sequence,
    string,
    struct,
    topic,
    uint8,
    uint16,
    uint32,
    uint64,
    union,
    wchar,
    wstring,
)
from ._union import Union

if hasattr(_tickwire, "Batch"):
    from ._tickwire import Batch, Feed

__all__ = [
    "Batch",
    "Bytes",
    "ClosedError",
    "Condition",
    "CountStatus",
    "DeadlineMissedStatus",
    "DecodeError",
    "EncodeError",
    "EncodeTypeError",
    "Error",
    "Feed",
    "FilterError",
    "FilteredTopic",
    "GuardCondition",
    "IdlError",
    "IncompatibleQosStatus",
    "LivelinessChangedStatus",
    "MatchedStatus",
    "NoServiceError",
    "Participant",
    "Profile",
    "Publisher",
    "QosError",
    "Reader",
    "RemoteError",
    "RemoteExceptionCode",
    "Sample",
    "SampleInfo",
    "SampleRejectedStatus",
    "Subscriber",
    "TimeoutError",
    "Topic",
    "Type",
    "TypeDescriptionError",
    "Union",
    "UnknownTopicError",
    "WaitSet",
    "Writer",
    "array",
    "bits",
    "bytes_type",
    "case",
    "char",
    "decode_feed",
    "default",
    "describe",
    "float32",
    "float64",
    "id",
    "idl",
    "int16",
    "int32",
    "int64",
    "int8",
    "key",
    "map",
    "must_understand",
    "name",
    "octet",
    "receive_feed",
    "sequence",
    "settings",
    "string",
    "struct",
    "topic",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "union",
    "wchar",
    "wstring",
]
