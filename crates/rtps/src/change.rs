//! What a change is, whichever side it is on (RTPS 2.5 §8.2.1.2). Knows no payload's meaning.

use tickwire_base::Timestamp;

use crate::wire::{GroupDigest, Guid, SequenceNumber};

/// The 16 bytes that stand for an instance's key (RTPS 2.5 §9.6.4.8).
pub type KeyHash = [u8; 16];

/// What a change does to its instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ChangeKind {
    /// Gives it a new value.
    #[default]
    Alive,
    /// Ends it.
    Disposed,
    /// Says that the writer has no more to say about it.
    Unregistered,
    /// Both at once: what `unregister` means under `autodispose_unregistered_instances`.
    DisposedUnregistered,
}

impl ChangeKind {
    /// The flags of PID_STATUS_INFO (RTPS 2.5 §9.6.4.9).
    pub const fn status_info(self) -> u32 {
        match self {
            Self::Alive => 0,
            Self::Disposed => 1,
            Self::Unregistered => 2,
            Self::DisposedUnregistered => 3,
        }
    }

    /// The kind that the flags of PID_STATUS_INFO say; unknown flags do not count.
    pub const fn from_status_info(flags: u32) -> Self {
        match flags & 3 {
            0 => Self::Alive,
            1 => Self::Disposed,
            2 => Self::Unregistered,
            _ => Self::DisposedUnregistered,
        }
    }

    /// Whether the payload is a value, not only a key.
    pub const fn is_alive(self) -> bool {
        matches!(self, Self::Alive)
    }

    /// Whether the writer takes leave of the instance.
    pub const fn is_unregistered(self) -> bool {
        matches!(self, Self::Unregistered | Self::DisposedUnregistered)
    }
}

/// A change as the application hands it to a writer; its payload comes separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Change {
    /// What it does to its instance.
    pub kind: ChangeKind,
    /// When it was made; sent as INFO_TS.
    pub source_timestamp: Option<Timestamp>,
    /// Which instance it is about; `None` for topics without a key, which are one instance.
    pub key_hash: Option<KeyHash>,
    /// Its number among all changes of its publisher, if these have an order
    /// ([`SequenceNumber::ZERO`] if not).
    pub group_number: SequenceNumber,
    /// Who wrote it first, if it was another writer. Sent only if the writer
    /// [relays](crate::writer::WriterConfig::relays).
    pub original: Option<OriginalWriter>,
    /// The sample that it answers. Sent only if the writer [relates](crate::writer::WriterConfig::relates).
    pub related: Option<SampleIdentity>,
}

impl Change {
    /// Whether it gives a topic without a key a new value, and nothing more is to be said of it.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.kind.is_alive()
            && self.key_hash.is_none()
            && self.group_number == SequenceNumber::ZERO
            && self.original.is_none()
            && self.related.is_none()
    }
}

/// Who wrote a change first that another writer gives (RTPS 2.5 §8.7.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct OriginalWriter {
    /// That writer.
    pub guid: Guid,
    /// The change's number there.
    pub sequence_number: SequenceNumber,
}

/// Which sample of all (DDS-RPC 1.0 §7.5.1.1.1): its writer, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SampleIdentity {
    /// That writer.
    pub writer: Guid,
    /// The sample's number there.
    pub sequence_number: SequenceNumber,
}

/// Where a change stands among those that belong together (RTPS 2.5 §8.7.5 and §8.7.6).
/// [`SequenceNumber::ZERO`] is nowhere.
///
/// A DATA without payload that is in no set of its writer ends one:
///
/// ```text
/// COHERENT_SET   GROUP_COHERENT_SET   ends
/// unknown        -                    the writer's set
/// unknown        its number           the writer's part in a set of its publisher
/// -              its number           a set of the publisher in which the writer has no part
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Place {
    /// The number of the first change of the coherent set that it is part of.
    /// [`SequenceNumber::UNKNOWN`] says that the last set has ended.
    pub coherent_set: SequenceNumber,
    /// The same among the writers of a publisher.
    pub group: GroupPlace,
}

impl Place {
    /// Whether a change without payload that stands here is the end of a set.
    pub(crate) fn is_end(&self) -> bool {
        match self.coherent_set {
            SequenceNumber::UNKNOWN => true,
            SequenceNumber::ZERO => self.group.coherent_set >= SequenceNumber::FIRST,
            _ => false,
        }
    }
}

impl Place {
    /// What of it can be true of the change with that number: a set does not begin after one of its
    /// changes.
    pub(crate) fn of(self, number: SequenceNumber) -> Self {
        match self.coherent_set > number {
            true => Self::default(),
            false => self,
        }
    }
}

/// Where a change stands among those of all writers of its publisher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct GroupPlace {
    /// Its own number; several changes have one number when a set ends.
    pub number: SequenceNumber,
    /// The number with which the coherent set begins that it is part of, or ends.
    pub coherent_set: SequenceNumber,
    /// At the end of a set, the writers that had to do with it.
    pub writers: GroupDigest,
}
