//! What a reader knows about a sample besides its value (DDS 1.4 §2.2.2.5.1 and §2.2.2.5.5).

use std::fmt;

use tickwire_base::Timestamp;
use tickwire_rtps::SampleIdentity;
use tickwire_rtps::wire::{Guid, SequenceNumber};

/// Names an instance: the key's hash (RTPS 2.5 §9.6.4.8), in the form that it has in XCDR2 whatever
/// a sample came in, so that writers of both representations mean the same instance. It is another
/// one in XCDR1 where a key has numbers of eight bytes or collections of other than numbers: such a
/// hash is in a writer's status of missed deadlines, if the writer sends XCDR1, and in the samples
/// of opaque types, of which only the writer knows the key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct InstanceHandle(pub [u8; 16]);

impl InstanceHandle {
    /// The only instance of a topic without a key.
    pub const KEYLESS: Self = Self([0; 16]);
}

impl From<Guid> for InstanceHandle {
    /// The instance of a [built-in topic](crate::BuiltinSubscriber) that a participant or endpoint is.
    fn from(guid: Guid) -> Self {
        Self(guid.to_bytes())
    }
}

impl fmt::Debug for InstanceHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Whether the application has had the sample before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampleState {
    /// A `read` returned it already.
    Read,
    /// It is new to the application.
    NotRead,
}

/// Whether the application has had any sample of the instance's present generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewState {
    /// No sample of it yet, or the instance came back to life since.
    New,
    /// It has.
    NotNew,
}

/// What has become of the instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstanceState {
    /// Writers say that it exists.
    Alive,
    /// A writer disposed of it.
    Disposed,
    /// No writer has anything more to say about it.
    NoWriters,
}

/// A sample's circumstances, as they were when `read` or `take` returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleInfo {
    /// Whether it was returned before.
    pub sample_state: SampleState,
    /// Whether the instance was seen before.
    pub view_state: ViewState,
    /// What has become of the instance by now.
    pub instance_state: InstanceState,
    /// When the writer made it, by the writer's clock; `None` if it did not say.
    pub source_timestamp: Option<Timestamp>,
    /// When the kernel received the datagram with it, or with the fragment that made it whole; `None`
    /// unless the participant [asks for that](crate::DomainParticipantBuilder::receive_timestamps), for
    /// what came by shared memory or TCP, and for milliseconds after nobody on the machine had asked, which
    /// the kernel takes to begin.
    pub kernel_timestamp: Option<Timestamp>,
    /// When it arrived, by this machine's clock.
    pub reception_timestamp: Timestamp,
    /// Its instance.
    pub instance: InstanceHandle,
    /// The writer that it came from.
    pub writer: Guid,
    /// Its place in the writer's history.
    pub sequence_number: SequenceNumber,
    /// The sample that it answers, if its writer says so (DDS-RPC 1.0 §7.8.2): see
    /// [`DataWriter::write_related`](crate::DataWriter::write_related).
    pub related: Option<SampleIdentity>,
    /// How often the instance had come back from disposal when the sample arrived.
    pub disposed_generation_count: u32,
    /// How often the instance had found a writer again when the sample arrived.
    pub no_writers_generation_count: u32,
    /// Samples of the same instance that follow in the returned collection.
    pub sample_rank: u32,
    /// Generations between the sample and the instance's last one in the collection.
    pub generation_rank: u32,
    /// Generations between the sample and the instance's last one received.
    pub absolute_generation_rank: u32,
    /// Whether there is a value. Without one, the sample tells of a change of `instance_state`.
    pub valid_data: bool,
}

impl SampleInfo {
    /// By which others name the sample, when they answer it.
    pub fn identity(&self) -> SampleIdentity {
        SampleIdentity {
            writer: self.writer,
            sequence_number: self.sequence_number,
        }
    }

    pub(crate) fn generation(&self) -> u32 {
        self.disposed_generation_count
            .saturating_add(self.no_writers_generation_count)
    }
}

/// Which samples to return, by their states. The default is any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StateMask(u8);

impl StateMask {
    /// Every sample.
    pub const ANY: Self = Self(0xff);
    /// Samples that no `read` has returned.
    pub const NOT_READ: Self = Self(Self::ANY.0 & !Self::sample(SampleState::Read));
    /// Samples that a `read` has returned.
    pub const READ: Self = Self(Self::ANY.0 & !Self::sample(SampleState::NotRead));
    /// Samples of instances that are new to the application.
    pub const NEW: Self = Self(Self::ANY.0 & !Self::view(ViewState::NotNew));
    /// Samples of instances that the application knows.
    pub const NOT_NEW: Self = Self(Self::ANY.0 & !Self::view(ViewState::New));
    /// Samples of instances that exist.
    pub const ALIVE: Self = Self(
        Self::ANY.0
            & !Self::instance(InstanceState::Disposed)
            & !Self::instance(InstanceState::NoWriters),
    );
    /// Samples of instances that exist no more.
    pub const NOT_ALIVE: Self = Self(Self::ANY.0 & !Self::instance(InstanceState::Alive));

    /// Samples whose states are among these bits: 1 for read ones and 2 for others, 4 for new instances and 8 for
    /// others, 16 for instances that are alive, 32 for disposed ones and 64 for those without writers.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Only what both masks accept.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether a sample in these states is accepted.
    pub const fn accepts(
        self,
        sample: SampleState,
        view: ViewState,
        instance: InstanceState,
    ) -> bool {
        let wanted = Self::sample(sample) | Self::view(view) | Self::instance(instance);
        self.0 & wanted == wanted
    }

    const fn sample(state: SampleState) -> u8 {
        match state {
            SampleState::Read => 1,
            SampleState::NotRead => 2,
        }
    }

    const fn view(state: ViewState) -> u8 {
        match state {
            ViewState::New => 4,
            ViewState::NotNew => 8,
        }
    }

    const fn instance(state: InstanceState) -> u8 {
        match state {
            InstanceState::Alive => 16,
            InstanceState::Disposed => 32,
            InstanceState::NoWriters => 64,
        }
    }
}

impl Default for StateMask {
    fn default() -> Self {
        Self::ANY
    }
}
