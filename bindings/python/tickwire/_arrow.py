"""Samples and feeds as batches of Apache Arrow."""

import datetime
import os
import sys
import time
from typing import Any, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _tickwire
from ._errors import ClosedError, Error, TimeoutError

Info = Union[Sequence[str], Mapping[str, str]]
Path = Union[str, "os.PathLike[str]"]

#: Samples that are taken out of a reader at once.
_AT_ONCE = 4096


def rows(reader: Any, decimals: Optional[int], enums: str, info: Info) -> Any:
    """No rows yet, of a reader's type."""
    if not hasattr(_tickwire, "Rows"):
        raise Error("this build of Tickwire has no Arrow: build it with the feature `arrow`")
    return _tickwire.Rows(reader.topic.type, decimals, enums, _named(info))


def _named(info: Info) -> List[Tuple[str, str]]:
    if isinstance(info, str):
        info = [info]
    return list(info.items()) if isinstance(info, Mapping) else [(what, what) for what in info]


def batch(reader: Any, made: Any, max: Optional[int], take: bool, states: List[str], instance: Any, query: Any) -> Any:
    """What a reader has now, as one batch."""
    left = sys.maxsize if max is None else max
    if not take:
        reader._append(made, False, (left, states, instance), query)
        return made.finish()
    while left > 0 and not made.is_large:
        taken = reader._append(made, True, (min(left, _AT_ONCE), states, instance), query)
        if not taken:
            break
        left -= taken
    return made.finish()


def batches(
    reader: Any, made: Any, count: int, every: Optional[float], timeout: Optional[float], max: Optional[int]
) -> Iterator[Any]:
    """Batches of `count` rows, or of those that have come within `every` seconds."""
    left = sys.maxsize if max is None else max
    now = last = time.monotonic()
    due: Optional[float] = None
    while left > 0:
        over = False
        try:
            taken = reader._append(made, True, (min(count - made.samples, left, _AT_ONCE), [], None), None)
            left -= taken
            now = time.monotonic()
            if taken:
                last = now
                if due is None and every is not None:
                    due = now + every
            elif due is None or now < due:
                reader.wait_for_data(_first(None if timeout is None else last + timeout, due))
                continue
        except TimeoutError:
            now = time.monotonic()
            over = timeout is not None and now >= last + timeout
        except ClosedError:
            over = True
        if made.samples >= count or made.is_large or (due is not None and now >= due):
            due = None
            yield made.finish()
        if over:
            break
    if made.samples:
        yield made.finish()


def _first(*ends: Optional[float]) -> Optional[float]:
    """Seconds until the first of these; None if there is none."""
    known = [end for end in ends if end is not None]
    return max(0.0, min(known) - time.monotonic()) if known else None


def decode_feed(
    path: Path,
    templates: Path,
    *,
    message: Optional[str] = None,
    venue: Optional[str] = None,
    framing: Optional[str] = None,
    preamble: Optional[str] = None,
    reset: Optional[str] = None,
    to: Optional[str] = None,
    default_template: Optional[str] = None,
    strict: bool = False,
    rows: int = 65_536,
    errors: str = "raise",
    decimals: Optional[int] = 9,
    enums: str = "names",
) -> "_tickwire.Feed":
    """Decodes a file of FAST messages by its templates, without any network, into Arrow batches.

    >>> for batch in tw.decode_feed("day.pcap", "moex.xml", venue="moex-asts"):
    ...     print(batch.name, pyarrow.record_batch(batch))
    >>> quotes = polars.DataFrame(tw.decode_feed("feed.dat", "feed.xml", message="Quote"))

    Each batch has up to ``rows`` messages of one template, in the order of the file, and that template's name.
    With ``message`` there are those of this one alone, and the feed is an Arrow stream.

    ``path`` is a capture (pcap, pcapng), of which ``to="239.192.3.1:16001"`` (or a port) chooses the datagrams, or has
    packets by its ``framing``: "u32le", "block", "step", "hex" or "none". ``preamble`` ("none", "seq", "cme", "b3",
    "opra") precedes the messages of each packet, and dictionaries go back when ``reset`` says: "packet", "message",
    "template" or "never". ``venue`` says all three for an exchange, as ``tickwire feed venues`` lists them; messages
    without a template id are of the ``default_template``. ``strict`` refuses what is not FAST 1.1 or 1.2.

    What cannot be decoded raises DecodeError behind all that was decoded before; with ``errors="count"`` it is passed
    over, and ``counters`` has how much that was. ``decimals`` and ``enums`` are as :meth:`Reader.arrow` has them.
    """
    return _feed(
        (os.fspath(path), to),
        templates=os.fspath(templates),
        message=message,
        venue=venue,
        framing=framing,
        preamble=preamble,
        reset=reset,
        default_template=default_template,
        strict=strict,
        rows=rows,
        errors=errors,
        decimals=decimals,
        enums=enums,
    )


def receive_feed(
    line: str,
    templates: Path,
    *,
    line_b: Optional[str] = None,
    interface: str = "127.0.0.1",
    message: Optional[str] = None,
    venue: Optional[str] = None,
    preamble: Optional[str] = None,
    reset: Optional[str] = None,
    default_template: Optional[str] = None,
    strict: bool = False,
    rows: int = 65_536,
    every: Union[None, float, datetime.timedelta] = 1.0,
    silence: Union[None, float, datetime.timedelta] = None,
    done: Optional[str] = None,
    errors: str = "count",
    decimals: Optional[int] = 9,
    enums: str = "names",
) -> "_tickwire.Feed":
    """Receives a feed of FAST messages from a multicast group, and decodes it into Arrow batches.

    >>> with tw.receive_feed("239.195.1.1:16001", "moex.xml", venue="moex-asts", interface="eth1",
    ...                      line_b="239.195.1.129:17001") as feed:
    ...     for batch in feed: ...

    Two lines are arbitrated into one by the numbers of their packets. A batch is handed over when it has ``rows``
    messages, and all ``every`` so many seconds after the first message that waits; None is by rows alone. The feed ends
    when nothing has come for ``silence`` seconds, with a message of the template ``done``, or by ``close``. What
    cannot be decoded is counted (``counters``), or raised with ``errors="raise"``. All else is as in
    :func:`decode_feed`.
    """
    return _feed(
        (line, line_b, interface),
        templates=os.fspath(templates),
        message=message,
        venue=venue,
        preamble=preamble,
        reset=reset,
        default_template=default_template,
        strict=strict,
        rows=rows,
        every=seconds(every),
        silence=seconds(silence),
        done=done,
        errors=errors,
        decimals=decimals,
        enums=enums,
    )


def _feed(source: tuple, **settings: Any) -> "_tickwire.Feed":
    if not hasattr(_tickwire, "Feed"):
        raise Error("this build of Tickwire has no Arrow: build it with the feature `arrow`")
    if settings["rows"] < 1:
        raise ValueError(f"a batch of {settings['rows']} rows")
    return _tickwire.Feed(source, {"framing": None, "every": None, "silence": None, "done": None, **settings})


def seconds(time: Union[None, float, datetime.timedelta]) -> Optional[float]:
    """A time as seconds."""
    return time.total_seconds() if isinstance(time, datetime.timedelta) else time
