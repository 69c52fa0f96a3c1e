"""How a subscriber judges what it receives.

A check gets the events of a subscriber's output, beginning with the first sample, and the number of
samples of the first instance that it is to look at. The events end when nothing comes for too long;
`Ended` is raised when the program ends. What a check returns is a word of the suite.
"""

import re
from dataclasses import dataclass

OK = "OK"
WRONG = "DATA_NOT_CORRECT"
TOO_FEW = "DATA_NOT_RECEIVED"


@dataclass(frozen=True)
class Sample:
    topic: str
    color: str
    size: int
    payload: int | None


@dataclass(frozen=True)
class End:
    """An instance is no longer alive."""

    color: str
    state: str


@dataclass(frozen=True)
class Round:
    """Another round of reading begins."""


@dataclass(frozen=True)
class DeadlineMissed:
    pass


class Ended(Exception):
    """The program has ended."""


SAMPLE = re.compile(r"(\w+) +(\w+) +\d+ \d+ \[(\d+)\](?: \{(\d+)\})?")
END = re.compile(r"\w+ +(\w+) +NOT_ALIVE_(\w+)_INSTANCE_STATE")


def event(line):
    """What a line of output says, as far as checks want to know."""
    if match := SAMPLE.match(line):
        topic, color, size, payload = match.groups()
        return Sample(topic, color, int(size), None if payload is None else int(payload))
    if match := END.match(line):
        return End(*match.groups())
    if line.startswith(("Reading coherent sets", "Reading with ordered access")):
        return Round()
    if "on_requested_deadline_missed()" in line:
        return DeadlineMissed()
    return None


def samples(events):
    return (event for event in events if isinstance(event, Sample))


def arrived(events, count):
    """A sample has come, and it has a size."""
    return OK if next(samples(events)).size else WRONG


def steps(events, count, is_good):
    """Judges each step from one size to the next of an instance, until the first instance has had
    `count` samples."""
    sizes, first, seen = {}, None, 0
    for sample in samples(events):
        color, size = sample.color, sample.size
        first = first or color
        if color in sizes and not is_good(color, sizes[color], size):
            return WRONG
        sizes[color] = size
        seen += color == first
        if seen > count:
            return OK
    return TOO_FEW


def grow(events, count):
    return steps(events, count, lambda color, old, new: new > old)


def no_losses(events, count):
    return steps(events, count, lambda color, old, new: new == old + 1)


def every_tenth(events, count):
    """Of ten samples one, as a filter of 1 s leaves of a sample every 100 ms. The first step of an
    instance does not count."""
    stepped = set()

    def is_good(color, old, new):
        is_first = color not in stepped
        stepped.add(color)
        return is_first or 9 <= new - old <= 19

    return steps(events, count // 10, is_good)


def sizes_heard(events, count):
    """Publishers write different sizes. One change is a handover, two are two publishers."""
    changes, last = 0, None
    for number, sample in enumerate(samples(events)):
        changes += last not in (None, sample.size)
        last = sample.size
        if changes == 2:
            return "RECEIVING_FROM_BOTH"
        if number == count:
            break
    return "RECEIVING_FROM_ONE"


def colors_heard(events, count):
    first = None
    for number, sample in enumerate(samples(events)):
        first = first or sample.color
        if sample.color != first:
            return "RECEIVING_FROM_BOTH"
        if number == count:
            break
    return "RECEIVING_FROM_ONE"


def at_most_20(events, count):
    for number, sample in enumerate(samples(events)):
        if not 1 <= sample.size <= 20:
            return WRONG
        if number == count // 2:
            return OK
    return TOO_FEW


def begins_late(events, count):
    return OK if next(samples(events)).size >= 5 else WRONG


def begins_with_the_first(events, count):
    return OK if next(samples(events)).size == 1 else WRONG


def deadline_missed(events, count):
    missed = any(isinstance(event, DeadlineMissed) for event in events)
    return "DEADLINE_MISSED" if missed else TOO_FEW


def large(events, count):
    for number, sample in enumerate(samples(events)):
        if sample.payload != 255:
            return WRONG
        if number == count:
            return OK
    return TOO_FEW


def all_end_as(state):
    """Every instance that was seen comes to this end, and no instance is left."""

    def check(events, count):
        seen, ended = set(), set()
        for event in events:
            if isinstance(event, Sample):
                seen.add(event.color)
            elif isinstance(event, End) and event.state == state:
                ended.add(event.color)
                if seen == ended:
                    return OK
        return WRONG

    return check


all_lose_writers = all_end_as("NO_WRITERS")
all_disposed = all_end_as("DISPOSED")


def two_or_three_at_once(events, count):
    """Reading finds two or three samples of an instance that have not expired: sizes come in runs of
    that length. The first run of an instance may be cut."""
    runs, last, first, seen, expired = {}, {}, None, 0, False
    for sample in samples(events):
        color, size = sample.color, sample.size
        first = first or color
        if color not in last:
            runs[color] = [1]
        elif size == last[color] + 1:
            runs[color][-1] += 1
        else:
            is_cut = len(runs[color]) == 1
            if runs[color][-1] not in (2, 3) and not is_cut:
                return WRONG
            expired = True
            runs[color].append(1)
        last[color] = size
        seen += color == first
        if seen > count // 10:
            return OK if expired else WRONG
    return TOO_FEW


def rounds(events):
    """The samples of each round of reading that has any."""
    samples = []
    for event in events:
        if isinstance(event, Sample):
            samples.append(event)
        elif isinstance(event, Round) and samples:
            yield samples
            samples = []


def order(events, count):
    """Whether rounds come instance by instance, or with the instances mixed as they were written."""
    behaviours, seen = set(), 0
    for samples in rounds(events):
        pairs = list(zip(samples, samples[1:]))
        changes = sum(a.color != b.color for a, b in pairs)
        # With fewer there may be only one sample of each of the four instances.
        if len(pairs) > 5:
            behaviours.add("INSTANCE" if 2 * changes < len(pairs) else "TOPIC")
        seen += sum(sample.color == samples[0].color for sample in samples)
        if seen >= count:
            break
    else:
        return TOO_FEW
    return "ORDERED_ACCESS_" + behaviours.pop() if len(behaviours) == 1 else WRONG


def whole_sets(events, count):
    """A round shows a whole set, three samples of each of four instances of three topics, or nothing.
    The first two rounds are not judged: history may hold several sets."""
    seen = 0
    for number, samples in enumerate(rounds(events)):
        instances = [(sample.topic, sample.color) for sample in samples]
        if number >= 2 and any(instances.count(instance) != 3 for instance in set(instances)):
            return WRONG
        if number >= 2 and len(samples) != 3 * 4 * 3:
            return WRONG
        seen += instances.count(instances[0])
        if seen >= max(count // 5, 30):
            return OK
    return TOO_FEW
