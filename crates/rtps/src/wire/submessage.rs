//! Submessages as values that borrow from the datagram (RTPS 2.5 §8.3.8).

use super::{EntityId, FragmentNumberSet, SequenceNumber, SequenceNumberSet};

/// What one submessage says to a writer or a reader. Those that only set the receiver's state
/// (INFO_*) never reach them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Submessage<'a> {
    /// A change, or notice of a disposed or unregistered instance.
    Data(Data<'a>),
    /// Part of a change.
    DataFrag(DataFrag<'a>),
    /// What a writer holds.
    Heartbeat(Heartbeat),
    /// How far a writer has sent the fragments of one change.
    HeartbeatFrag(HeartbeatFrag),
    /// What a reader has and lacks.
    AckNack(AckNack),
    /// Which fragments of one change a reader lacks.
    NackFrag(NackFrag),
    /// Which changes are not for a reader.
    Gap(Gap),
}

/// A serialized value or only its key, encapsulation header included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SerializedPayload<'a> {
    /// Neither.
    None,
    /// A whole value.
    Data(&'a [u8]),
    /// The key fields alone.
    Key(&'a [u8]),
}

/// DATA (RTPS 2.5 §9.4.5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data<'a> {
    /// For whom; [`EntityId::UNKNOWN`] is every matched reader.
    pub reader: EntityId,
    /// From whom.
    pub writer: EntityId,
    /// The change's place in the writer's history.
    pub sequence_number: SequenceNumber,
    /// The inline parameter list in its own byte order, sentinel included; empty without.
    pub inline_qos: InlineQos<'a>,
    /// The value or its key.
    pub payload: SerializedPayload<'a>,
}

/// DATA_FRAG (RTPS 2.5 §9.4.5.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataFrag<'a> {
    /// For whom; [`EntityId::UNKNOWN`] is every matched reader.
    pub reader: EntityId,
    /// From whom.
    pub writer: EntityId,
    /// The change's place in the writer's history.
    pub sequence_number: SequenceNumber,
    /// The first fragment here, from 1.
    pub fragment_start: u32,
    /// How many fragments follow one another here.
    pub fragment_count: u16,
    /// Bytes of each fragment but the last.
    pub fragment_size: u16,
    /// Bytes of the whole payload, encapsulation header included.
    pub sample_size: u32,
    /// The inline parameter list, as in [`Data`].
    pub inline_qos: InlineQos<'a>,
    /// Whether the fragments make up a key instead of a value.
    pub is_key: bool,
    /// The bytes of the fragments.
    pub payload: &'a [u8],
}

/// An inline parameter list that has not been read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct InlineQos<'a> {
    /// The parameters, sentinel included; empty if there are none.
    pub bytes: &'a [u8],
    /// Byte order of the submessage, hence of the list.
    pub little_endian: bool,
}

/// HEARTBEAT (RTPS 2.5 §9.4.5.7). `first = last + 1` says that the writer holds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// For whom; [`EntityId::UNKNOWN`] is every matched reader.
    pub reader: EntityId,
    /// From whom.
    pub writer: EntityId,
    /// The oldest change that the writer can still send.
    pub first: SequenceNumber,
    /// The newest change that the writer has made.
    pub last: SequenceNumber,
    /// Grows with each heartbeat of the writer.
    pub count: u32,
    /// The reader need not answer when it lacks nothing.
    pub is_final: bool,
    /// The heartbeat only asserts that the writer lives.
    pub liveliness: bool,
}

/// HEARTBEAT_FRAG (RTPS 2.5 §9.4.5.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatFrag {
    /// For whom; [`EntityId::UNKNOWN`] is every matched reader.
    pub reader: EntityId,
    /// From whom.
    pub writer: EntityId,
    /// The change in question.
    pub sequence_number: SequenceNumber,
    /// The last fragment that the writer can send now.
    pub last_fragment: u32,
    /// Grows with each.
    pub count: u32,
}

/// ACKNACK (RTPS 2.5 §9.4.5.2): everything below the set's base has arrived, what is in the set is
/// asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckNack {
    /// From whom.
    pub reader: EntityId,
    /// For whom.
    pub writer: EntityId,
    /// What is acknowledged and asked for.
    pub state: SequenceNumberSet,
    /// Grows with each.
    pub count: u32,
    /// No heartbeat is wanted in return.
    pub is_final: bool,
}

/// NACK_FRAG (RTPS 2.5 §9.4.5.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NackFrag {
    /// From whom.
    pub reader: EntityId,
    /// For whom.
    pub writer: EntityId,
    /// The change in question.
    pub sequence_number: SequenceNumber,
    /// The fragments asked for.
    pub state: FragmentNumberSet,
    /// Grows with each.
    pub count: u32,
}

/// GAP (RTPS 2.5 §9.4.5.6): the changes from `start` to below the set's base, and those in the set,
/// are not for the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// For whom; [`EntityId::UNKNOWN`] is every matched reader.
    pub reader: EntityId,
    /// From whom.
    pub writer: EntityId,
    /// The first change of the unbroken range.
    pub start: SequenceNumber,
    /// The end of that range, and single changes beyond it.
    pub list: SequenceNumberSet,
}
