"""Statuses: what has happened to an entity, and how much of it since the status was last read."""

from typing import NamedTuple, Optional


class CountStatus(NamedTuple):
    """A number of events."""

    total_count: int
    total_count_change: int


class MatchedStatus(NamedTuple):
    """Endpoints matched with a writer or a reader. ``last`` matched or left last."""

    total_count: int
    total_count_change: int
    current_count: int
    current_count_change: int
    last: Optional[str]


class IncompatibleQosStatus(NamedTuple):
    """Endpoints of the same topic that do not match. ``verdict`` says why, and what to change."""

    total_count: int
    total_count_change: int
    last_policy: Optional[str]
    last: Optional[str]
    verdict: Optional[str]


class LivelinessChangedStatus(NamedTuple):
    """Writers that show that they live, and that do not. ``last`` changed last."""

    alive_count: int
    not_alive_count: int
    alive_count_change: int
    not_alive_count_change: int
    last: Optional[str]


class DeadlineMissedStatus(NamedTuple):
    """Periods of DEADLINE that passed without a sample of an instance."""

    total_count: int
    total_count_change: int
    last_instance: Optional[bytes]


class SampleRejectedStatus(NamedTuple):
    """Samples that found no room."""

    total_count: int
    total_count_change: int
    last_reason: Optional[str]
    last_instance: Optional[bytes]


#: The class of each status by name, and with it what listeners can be told of.
STATUSES = {
    "inconsistent_topic": CountStatus,
    "offered_deadline_missed": DeadlineMissedStatus,
    "requested_deadline_missed": DeadlineMissedStatus,
    "offered_incompatible_qos": IncompatibleQosStatus,
    "requested_incompatible_qos": IncompatibleQosStatus,
    "sample_lost": CountStatus,
    "sample_rejected": SampleRejectedStatus,
    "liveliness_lost": CountStatus,
    "liveliness_changed": LivelinessChangedStatus,
    "publication_matched": MatchedStatus,
    "subscription_matched": MatchedStatus,
}
