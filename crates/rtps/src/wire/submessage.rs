//! Submessages as values that borrow from the datagram (RTPS 2.5 §8.3.8).

use super::{EntityId, FragmentNumberSet, SequenceNumber, SequenceNumberSet};

/// Which kind of submessage (RTPS 2.5 §9.4.5.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SubmessageId(pub(crate) u8);

impl SubmessageId {
    pub(crate) const PAD: Self = Self(0x01);
    pub(crate) const ACKNACK: Self = Self(0x06);
    pub(crate) const HEARTBEAT: Self = Self(0x07);
    pub(crate) const GAP: Self = Self(0x08);
    pub(crate) const INFO_TS: Self = Self(0x09);
    pub(crate) const INFO_SRC: Self = Self(0x0c);
    pub(crate) const INFO_REPLY_IP4: Self = Self(0x0d);
    pub(crate) const INFO_DST: Self = Self(0x0e);
    pub(crate) const INFO_REPLY: Self = Self(0x0f);
    pub(crate) const NACK_FRAG: Self = Self(0x12);
    pub(crate) const HEARTBEAT_FRAG: Self = Self(0x13);
    pub(crate) const DATA: Self = Self(0x15);
    pub(crate) const DATA_FRAG: Self = Self(0x16);
}

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

impl Submessage<'_> {
    /// The writer that it comes from, or that it is for if a reader says it.
    pub fn writer(&self) -> EntityId {
        match self {
            Self::Data(data) => data.writer,
            Self::DataFrag(data) => data.writer,
            Self::Heartbeat(heartbeat) => heartbeat.writer,
            Self::HeartbeatFrag(heartbeat) => heartbeat.writer,
            Self::AckNack(acknack) => acknack.writer,
            Self::NackFrag(nack) => nack.writer,
            Self::Gap(gap) => gap.writer,
        }
    }

    /// The reader that it is for, [`EntityId::UNKNOWN`] being all; `None` if a reader says it.
    pub fn to_reader(&self) -> Option<EntityId> {
        match self {
            Self::Data(data) => Some(data.reader),
            Self::DataFrag(data) => Some(data.reader),
            Self::Heartbeat(heartbeat) => Some(heartbeat.reader),
            Self::HeartbeatFrag(heartbeat) => Some(heartbeat.reader),
            Self::Gap(gap) => Some(gap.reader),
            Self::AckNack(_) | Self::NackFrag(_) => None,
        }
    }
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

impl<'a> SerializedPayload<'a> {
    pub(crate) fn bytes(self) -> &'a [u8] {
        match self {
            Self::None => &[],
            Self::Data(bytes) | Self::Key(bytes) => bytes,
        }
    }
}

/// DATA (RTPS 2.5 §9.4.5.4).
///
/// ```text
/// +-------+--------+---------------+
/// |  15   |000NKDQE| octets next   |  Q inline QoS, D data, K key
/// +-------+--------+---------------+
/// |  extra flags   |octets to QoS  |  16: from here to the inline QoS
/// |           reader id            |
/// |           writer id            |
/// |   sequence number, high word   |
/// |   sequence number, low word    |
/// +--------------------------------+
/// ~        inline QoS, if Q        ~
/// ~  serialized payload, if D, K   ~
/// +--------------------------------+
/// ```
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
///
/// ```text
/// +-------+--------+---------------+
/// |  16   |0000NKQE| octets next   |  Q inline QoS, K key
/// +-------+--------+---------------+
/// |  extra flags   |octets to QoS  |  28: from here to the inline QoS
/// |           reader id            |
/// |           writer id            |
/// |   sequence number, high word   |
/// |   sequence number, low word    |
/// |     first fragment, from 1     |
/// |   fragments    | fragment size |
/// |          sample size           |
/// +--------------------------------+
/// ~        inline QoS, if Q        ~
/// ~       bytes of fragments       ~
/// +--------------------------------+
/// ```
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
///
/// ```text
/// +-------+--------+---------------+
/// |  07   |0000GLFE| octets next   |  F final, L liveliness
/// +-------+--------+---------------+  G: group fields follow; not read
/// |           reader id            |
/// |           writer id            |
/// ~     first sequence number      ~
/// ~      last sequence number      ~
/// |             count              |
/// +--------------------------------+
/// ```
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
///
/// ```text
/// +-------+--------+---------------+
/// |  13   |0000000E| octets next   |
/// +-------+--------+---------------+
/// |           reader id            |
/// |           writer id            |
/// ~        sequence number         ~
/// |         last fragment          |
/// |             count              |
/// +--------------------------------+
/// ```
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
///
/// ```text
/// +-------+--------+---------------+
/// |  06   |000000FE| octets next   |  F final
/// +-------+--------+---------------+
/// |           reader id            |
/// |           writer id            |
/// ~       SequenceNumberSet        ~
/// |             count              |
/// +--------------------------------+
/// ```
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
///
/// ```text
/// +-------+--------+---------------+
/// |  12   |0000000E| octets next   |
/// +-------+--------+---------------+
/// |           reader id            |
/// |           writer id            |
/// ~        sequence number         ~
/// ~       FragmentNumberSet        ~
/// |             count              |
/// +--------------------------------+
/// ```
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
///
/// ```text
/// +-------+--------+---------------+
/// |  08   |0000000E| octets next   |
/// +-------+--------+---------------+
/// |           reader id            |
/// |           writer id            |
/// ~     start sequence number      ~
/// ~       SequenceNumberSet        ~
/// +--------------------------------+
/// ```
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
