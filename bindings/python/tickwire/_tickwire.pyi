"""The extension module: what participants, topics, writers and readers have from Rust.

Constructors are for `tickwire`, which subclasses these.
"""

from typing import Any, Dict, Generic, List, Optional, Sequence, Tuple, TypeVar
import os

T = TypeVar("T")

__version__: str

def settings() -> List[Tuple[str, List[str], str, str]]: ...
def compile_idl(
    paths: List[str],
    text: Optional[str],
    include: List[str],
    define: List[Tuple[str, str]],
    extensibility: str,
) -> Tuple[Dict[str, tuple], Dict[str, str], List[Tuple[str, Any]], List[str], List[str], List[tuple]]: ...

class Type:
    """A type of topics: of `describe(cls)`, `idl(path)` or `participant.topic(name)`."""

    def __init__(self, table: Dict[str, tuple], root: str, classes: Dict[str, Any]) -> None: ...
    @property
    def name(self) -> str:
        """The name under which peers know the type."""
    @property
    def has_key(self) -> bool:
        """Whether samples belong to instances."""
    @property
    def extensibility(self) -> str:
        """How the type may change: "final", "appendable" or "mutable"."""
    def table(self) -> Dict[str, tuple]:
        """The type and all that it needs, by name."""
    def encode(self, value: Any, representation: str = "xcdr2", key_only: bool = False) -> bytes:
        """The payload of a sample as it travels, encapsulation header included."""
    def decode(self, payload: bytes, key_only: bool = False) -> Any:
        """The sample of a payload; with `key_only` a dict of its key."""
    def _bind(self, classes: Dict[str, Any]) -> "Type": ...

class Batch:
    """A batch of rows, one for each sample or message, whose columns are the members of their type.

    It has Arrow's PyCapsule interface: `pyarrow.table(batch)`, `polars.DataFrame(batch)`,
    `pandas.DataFrame.from_arrow(batch)` and whatever else takes that share its memory."""

    @property
    def name(self) -> str:
        """The name of the rows' type."""
    @property
    def num_rows(self) -> int:
        """How many rows it has."""
    @property
    def num_columns(self) -> int:
        """How many columns it has."""
    @property
    def column_names(self) -> List[str]:
        """The names of its columns."""
    @property
    def nbytes(self) -> int:
        """Bytes of memory that it takes."""
    @property
    def undecodable(self) -> int:
        """Samples that became no row, since they are no values of the type or do not fit its columns."""
    @property
    def errors(self) -> List[str]:
        """Why, of the first eight of these."""
    @property
    def ended(self) -> int:
        """Samples that became no row, since they only tell that their instances have ended."""
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: Optional[object] = None) -> Tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...

class Rows:
    def __new__(cls, ty: Type, decimals: Optional[int], enums: str, info: List[Tuple[str, str]]) -> Any: ...
    @property
    def samples(self) -> int: ...
    @property
    def is_large(self) -> bool: ...
    def finish(self) -> Batch: ...

class Feed:
    """A feed that is being decoded, of `decode_feed` or `receive_feed`: an iterator of batches, each of the messages of
    one template.

    Of a feed of one `message` it is a stream of Arrow's PyCapsule interface, too: `polars.DataFrame(feed)`,
    `pyarrow.RecordBatchReader.from_stream(feed)`. Whoever takes it so has all batches."""

    def __new__(cls, source: tuple, settings: Dict[str, Any]) -> "Feed": ...
    @property
    def messages(self) -> List[str]:
        """The templates whose messages become rows."""
    @property
    def unmapped(self) -> Dict[str, str]:
        """Templates whose messages cannot be rows, and why."""
    @property
    def counters(self) -> Dict[str, int]:
        """What became of packets and messages up to the last batch that was finished, by name."""
    def close(self) -> None:
        """Ends it. Again is nothing."""
    def __iter__(self) -> "Feed": ...
    def __next__(self) -> Batch: ...
    def __enter__(self) -> "Feed": ...
    def __exit__(self, *exception: object) -> None: ...
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...

def _has_forked() -> None: ...

class Profile:
    """A QoS profile of a file in TOML, DDS-XML or Fast DDS's XML."""

    def __init__(self, file: "str | os.PathLike[str]", name: Optional[str] = None) -> None: ...
    @staticmethod
    def parse(text: str, name: Optional[str] = None) -> "Profile":
        """A profile of text, in any of the three formats."""
    @staticmethod
    def from_env() -> "Profile":
        """The profile that TICKWIRE_QOS_FILE and TICKWIRE_QOS_PROFILE name."""
    @property
    def names(self) -> List[str]:
        """The names of all profiles of the file."""
    @property
    def ignored(self) -> List[str]:
        """What the file says that Tickwire does not have."""
    def settings(self, entity: str, topic: Optional[str] = None) -> Dict[str, str]:
        """What holds of an entity, by key, as TOML."""

class SampleInfo:
    """A sample's circumstances, as they were when it was returned (DDS 1.4 §2.2.2.5.5)."""

    @property
    def sample_state(self) -> str:
        """"read" if it was returned before, else "not_read"."""
    @property
    def view_state(self) -> str:
        """"new" if the instance was not seen before, else "not_new"."""
    @property
    def instance_state(self) -> str:
        """"alive", "disposed" or "no_writers"."""
    @property
    def valid_data(self) -> bool:
        """Whether there is data."""
    @property
    def source_timestamp(self) -> Optional[int]:
        """When the writer made it, by its clock: nanoseconds since 1970."""
    @property
    def reception_timestamp(self) -> int:
        """When it arrived, by this machine's clock: nanoseconds since 1970."""
    @property
    def kernel_timestamp(self) -> Optional[int]:
        """When the kernel received it, if the participant asks for that (`receive_timestamps`)."""
    @property
    def instance(self) -> bytes:
        """Its instance: a handle of 16 bytes."""
    @property
    def writer(self) -> str:
        """The name of the writer on the network."""
    @property
    def sequence_number(self) -> int:
        """Its place in the writer's history."""
    @property
    def disposed_generation_count(self) -> int: ...
    @property
    def no_writers_generation_count(self) -> int: ...
    @property
    def sample_rank(self) -> int: ...
    @property
    def generation_rank(self) -> int: ...
    @property
    def absolute_generation_rank(self) -> int: ...

class Sample(Generic[T]):
    """A sample: its data, and its circumstances."""

    @property
    def data(self) -> T:
        """The value; None if the sample only tells of the end of its instance. Raises DecodeError if what the writer
        sent is no value of the type."""
    @property
    def key(self) -> Optional[Dict[str, Any]]:
        """A dict of the key members; None if the writer did not say the key."""
    @property
    def info(self) -> SampleInfo:
        """Its circumstances."""

class Condition:
    """Something that holds or does not, for a WaitSet."""

    @property
    def holds(self) -> bool:
        """Whether it holds now."""
    def set_parameters(self, *parameters: Any) -> None:
        """Changes what `%0`, `%1` ... stand for, in a condition of `query_condition`: numbers, and text."""
    def __bool__(self) -> bool: ...

class GuardCondition(Condition):
    """A condition that is set by hand, from any thread."""

    def __init__(self) -> None: ...
    def set(self, holds: bool = True) -> None:
        """Makes it hold or not."""

class WaitSet:
    """Waits for any of several conditions."""

    def __init__(self, *conditions: Condition) -> None: ...
    def attach(self, condition: Condition) -> None:
        """Waits for this condition, too; again is the same as once."""
    def detach(self, condition: Condition) -> bool:
        """No longer waits for this condition; False if it did not."""
    def wait(self, timeout: Optional[float] = None) -> List[Condition]:
        """Waits until a condition holds, and returns all that do; raises TimeoutError after `timeout` seconds."""

class Topic:
    def __new__(cls, participant: Any, name: str, ty: Type) -> Any: ...
    @property
    def name(self) -> str:
        """The topic's name."""
    @property
    def type(self) -> Type:
        """Its type."""
    @property
    def type_name(self) -> str:
        """The name of its type."""
    @property
    def closed(self) -> bool: ...
    @property
    def status_changes(self) -> List[str]:
        """The statuses that have changed since they were last read, by name."""
    def status_condition(self, *statuses: str) -> Condition:
        """A condition that holds while one of these statuses has changed."""
    def _status(self) -> tuple: ...
    def _listen(self, statuses: List[str]) -> None: ...
    def _close(self) -> None: ...

class FilteredTopic:
    def __new__(cls, topic: Any, expression: str, parameters: List[Any], name: str) -> Any: ...
    @property
    def topic(self) -> Any:
        """The topic that is filtered."""
    @property
    def expression(self) -> str:
        """The expression."""
    @property
    def parameters(self) -> List[str]:
        """What `%0`, `%1` ... stand for now."""
    def set_parameters(self, *parameters: Any) -> None:
        """Changes what `%0`, `%1` ... stand for, in all its readers, for what comes from here on."""

class Participant:
    def __new__(cls, domain: Optional[int] = None, profile: Optional[Profile] = None, settings: Optional[str] = None) -> Any: ...
    @property
    def domain(self) -> int:
        """The domain."""
    @property
    def guid(self) -> str:
        """The participant's name on the network."""
    @property
    def counters(self) -> Dict[str, int]:
        """What has passed through its sockets, by name."""
    @property
    def closed(self) -> bool: ...
    def enable(self) -> None:
        """Has the participant take part, where it was made not to."""
    def poll(self, timeout: float = 0.0) -> None:
        """Does what is to be done, for up to `timeout` seconds, where `driving="polled"`."""
    def assert_liveliness(self) -> None:
        """Says that all writers of this participant live whose LIVELINESS is MANUAL_BY_PARTICIPANT."""
    def discovered_participants(self) -> List[Dict[str, Any]]:
        """Other participants that discovery knows."""
    def discovered_endpoints(self) -> List[Dict[str, Any]]:
        """Writers and readers that discovery knows, those of this participant included."""
    def discovered_pairs(self) -> List[Dict[str, Any]]:
        """Each writer and reader of one topic of which at least one is of this participant, and why they do not match."""
    def _learn(self, name: str, timeout: Optional[float] = None) -> Type: ...
    def _close(self) -> None: ...

class Publisher:
    def __new__(cls, participant: Any, profile: Optional[Profile] = None, settings: Optional[str] = None) -> Any: ...
    @property
    def closed(self) -> bool: ...
    def flush(self) -> None:
        """Sends what waits for company: all that was written before is sent when this returns."""
    def enable(self) -> None: ...
    def _begin_coherent(self) -> Any: ...
    def _suspend(self) -> int: ...
    def _resume(self, number: int) -> None: ...
    def _close(self) -> None: ...

class Subscriber:
    def __new__(cls, participant: Any, profile: Optional[Profile] = None, settings: Optional[str] = None) -> Any: ...
    @property
    def closed(self) -> bool: ...
    def enable(self) -> None: ...
    def _begin_access(self) -> Any: ...
    def _close(self) -> None: ...

class Writer:
    def __new__(cls, owner: Any, topic: Any, profile: Optional[Profile] = None, settings: Optional[str] = None) -> Any: ...
    def write(self, sample: Any, timestamp: Optional[int] = None) -> int:
        """Writes a sample and returns its sequence number. `timestamp` is when it was made, in nanoseconds since 1970."""
    def write_all(self, samples: Any) -> int:
        """Writes all samples of something that can be walked through, and returns how many."""
    def dispose(self, key: Any, timestamp: Optional[int] = None) -> int:
        """Ends the instance of a key: of a sample, or of a dict of the key members."""
    def unregister(self, key: Any, timestamp: Optional[int] = None) -> int:
        """Says that this writer has nothing more to say about the instance of a key."""
    def register(self, key: Any) -> bytes:
        """The handle of a key's instance."""
    def wait_for_matched(self, count: int = 1, timeout: Optional[float] = None) -> None:
        """Waits until at least `count` readers match, and each reliable one gets all that is written from here on."""
    def wait_for_acknowledgments(self, timeout: Optional[float] = None) -> None:
        """Waits until every matched reliable reader has acknowledged everything written so far."""
    def assert_liveliness(self) -> None: ...
    def matched_subscriptions(self) -> List[Dict[str, Any]]:
        """The readers matched now, and how far each has got."""
    @property
    def counters(self) -> Dict[str, int]:
        """What the writer has done so far, by name."""
    @property
    def status_changes(self) -> List[str]: ...
    def status_condition(self, *statuses: str) -> Condition: ...
    def enable(self) -> None: ...
    @property
    def topic(self) -> Any: ...
    @property
    def guid(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    def _set_qos(self, settings: str) -> None: ...
    def _status(self, name: str) -> tuple: ...
    def _listen(self, statuses: List[str]) -> None: ...
    def _close(self) -> None: ...

class Reader:
    def __new__(cls, owner: Any, topic: Any, profile: Optional[Profile] = None, settings: Optional[str] = None) -> Any: ...
    def take(
        self,
        max: Optional[int] = None,
        *,
        states: Sequence[str] = ...,
        instance: Optional[bytes] = None,
        query: Optional[Condition] = None,
    ) -> List[Sample[Any]]:
        """Removes samples and returns them: all, or at most `max`, of those in all of the `states` ("not_read", "read",
        "new", "not_new", "alive", "not_alive"), of one `instance`, and for which a `query` holds."""
    def read(
        self,
        max: Optional[int] = None,
        *,
        states: Sequence[str] = ...,
        instance: Optional[bytes] = None,
        query: Optional[Condition] = None,
    ) -> List[Sample[Any]]:
        """Returns samples and leaves them in the reader, marked as read: see `take`."""
    def _append(
        self, rows: Rows, take: bool, chosen: Tuple[int, List[str], Optional[bytes]], query: Optional[Condition]
    ) -> int: ...
    @property
    def has_data(self) -> bool:
        """Whether there are samples that were not read."""
    def wait_for_data(self, timeout: Optional[float] = None) -> None:
        """Waits until there is a sample that was not read; raises TimeoutError after `timeout` seconds."""
    def wait_for_matched(self, count: int = 1, timeout: Optional[float] = None) -> None:
        """Waits until at least `count` writers match."""
    def wait_for_historical_data(self, timeout: Optional[float] = None) -> None:
        """Waits until what the writers that match now had written before has come, or never will."""
    def lookup_instance(self, key: Any) -> Optional[bytes]:
        """The handle of the instance of a key; None if it is not known."""
    def key_value(self, instance: bytes) -> Optional[Dict[str, Any]]:
        """A dict of the key members of an instance; None if it is not known."""
    def matched_publications(self) -> List[Dict[str, Any]]:
        """The writers matched now, and how far each has got."""
    @property
    def counters(self) -> Dict[str, int]:
        """What arrived by the protocol, and what became of it, by name."""
    @property
    def status_changes(self) -> List[str]: ...
    def status_condition(self, *statuses: str) -> Condition: ...
    def read_condition(self, *states: str) -> Condition:
        """A condition that holds while there are samples in all of these states."""
    def enable(self) -> None: ...
    @property
    def topic(self) -> Any: ...
    @property
    def guid(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    def _query_condition(self, expression: str, parameters: List[Any], states: List[str]) -> Condition: ...
    def _set_qos(self, settings: str) -> None: ...
    def _status(self, name: str) -> tuple: ...
    def _listen(self, statuses: List[str]) -> None: ...
    def _bell(self) -> int: ...
    def _hear(self) -> None: ...
    def _close(self) -> None: ...

class Requester:
    def __init__(self, participant: Any, topics: Tuple[str, str], request: Type, reply: Type) -> None: ...
    def wait_for_service(self, timeout: Optional[float] = None, told: Optional[float] = None) -> None:
        """Waits until a service is there; raises NoServiceError after `timeout` seconds, which tells of `told`."""
    def send(self, request: Any) -> Pending:
        """Sends a request."""
    def tell(self, request: Any) -> None:
        """Sends a request that nobody replies to."""
    @property
    def counters(self) -> Dict[str, int]:
        """What it has done and seen, by name."""
    def close(self) -> None: ...

class Pending:
    def wait(self, timeout: Optional[float] = None) -> Any:
        """Waits for the reply; raises TimeoutError after `timeout` seconds."""
    def poll(self, ring: Any) -> Any:
        """The reply, if it has come, once; else `ring` is called when it comes."""

class Replier:
    def __init__(self, participant: Any, topics: Tuple[str, str], request: Type, reply: Type) -> None: ...
    def wait(self) -> Tuple[Any, RequestId]:
        """Waits for the next request; raises DecodeError if it is none."""
    def reply(self, request: RequestId, reply: Any) -> None:
        """Replies to a request."""
    def close(self) -> None: ...

class RequestId: ...
