//! What discovery is told at birth, what it answers to its owner, and what it counts.

use alloc::vec::Vec;
use core::fmt;

use tickwire_base::{Duration, Locator};

use super::builtin_topic::MAX_ANNOUNCEMENT_LEN;
use super::{Attachment, DiscoveryDataError, DiscoveryLimits, ParticipantData};
use crate::wire::{GuidPrefix, ParameterTooLong};
use crate::writer::WriteError;

/// Settings of a [`Discovery`](super::Discovery).
#[derive(Clone, Debug)]
pub struct DiscoveryConfig {
    /// Our participant. Its locators are where the owner receives; which built-in endpoints it has
    /// is filled in by discovery.
    pub participant: ParticipantData,
    /// Where it is announced: multicast groups and the initial peers. Default nowhere. With any
    /// peer in it, groups count as unreliable, and each participant found is told by unicast, too.
    pub announce_to: Vec<Locator>,
    /// Time between announcements. Default a third of the announced lease.
    pub announce_period: Duration,
    /// How many announcements come faster at the beginning, as any may get lost. Default 5.
    pub initial_count: u32,
    /// Time between those. Default 100 ms.
    pub initial_period: Duration,
    /// What we are attached to, which decides the addresses that others are reached at. Default
    /// nothing in particular, hence all that they announce.
    pub attachment: Attachment,
    /// What others may have us keep and send.
    pub limits: DiscoveryLimits,
}

impl DiscoveryConfig {
    /// The defaults for a participant.
    pub fn new(participant: ParticipantData) -> Self {
        Self {
            announce_period: participant.lease_duration / 3,
            participant,
            announce_to: Vec::new(),
            initial_count: 5,
            initial_period: Duration::from_millis(100),
            attachment: Attachment::default(),
            limits: DiscoveryLimits::default(),
        }
    }
}

/// Why a local endpoint was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddError {
    /// Its GUID has another participant's prefix.
    Foreign,
    /// It says more than an announcement can hold.
    TooLong(ParameterTooLong),
    /// Its announcement is longer than others accept, which is 256 KiB.
    TooLarge {
        /// Length of the announcement in bytes.
        len: usize,
    },
    /// There is no room for its announcement. Does not happen with the present bounds.
    Refused,
}

impl From<WriteError<Self>> for AddError {
    fn from(error: WriteError<Self>) -> Self {
        match error {
            WriteError::Payload(error) => error,
            // The history of endpoints has no bounds, and some dozen parameters are no 4 GiB.
            WriteError::WouldBlock | WriteError::TooManyInstances | WriteError::TooLarge => {
                Self::Refused
            }
        }
    }
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str("endpoint belongs to another participant"),
            Self::TooLong(too_long) => too_long.fmt(f),
            Self::TooLarge { len } => write!(
                f,
                "the announcement has {len} bytes, others accept {MAX_ANNOUNCEMENT_LEN}"
            ),
            Self::Refused => f.write_str("there is no room for the announcement"),
        }
    }
}

impl core::error::Error for AddError {}

/// What discovery has done and seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DiscoveryCounters {
    /// Announcements to everybody.
    pub announcements_sent: u64,
    /// Announcements to one participant.
    pub answers_sent: u64,
    /// Announcements received, repeated ones included.
    pub announcements_received: u64,
    /// Announcements that came after their participant's goodbye.
    pub announcements_overtaken: u64,
    /// Announcements and assertions of which nothing can be used, and the newest of them.
    pub unusable: u64,
    /// Who sent the newest of those, and what is wrong with it.
    pub last_unusable: Option<(GuidPrefix, DiscoveryDataError)>,
    /// Announcements of participants in another domain.
    pub other_domain: u64,
    /// Announcements of participants beyond a limit, of their number or their bytes.
    pub participants_refused: u64,
    /// Announcements of endpoints beyond a limit, of their number or their bytes. What was known
    /// of the endpoint before still holds.
    pub endpoints_refused: u64,
    /// Submessages of participants, and announcements of endpoints, that are
    /// [ignored](super::Discovery::ignore_participant).
    pub ignored: u64,
    /// Announcements in another participant's name, of an endpoint of the wrong kind, or of one that
    /// claims to belong to another participant's publisher or subscriber, which is not believed.
    pub misbehaved: u64,
    /// Requests for types answered.
    pub types_answered: u64,
    /// Requests for types whose answer could not be written.
    pub types_unanswered: u64,
    /// Requests for types that were not answered, as who asked had drawn enough in that second.
    pub type_requests_refused: u64,
    /// Our requests for types that nobody answered in time.
    pub type_requests_expired: u64,
    /// Type objects of others that made way for newer ones.
    pub types_forgotten: u64,
    /// Comparisons that went without types that one would have had to ask for beyond a limit.
    pub types_refused: u64,
    /// Type objects that came and were not kept, as they go beyond a limit.
    pub type_objects_refused: u64,
    /// Comparisons of a writer with a reader.
    pub pairs_compared: u64,
    /// Participants that made way for others before they had shown that they hear us.
    pub participants_displaced: u64,
    /// Participants that said good-bye.
    pub participants_left: u64,
    /// Participants whose lease ended.
    pub leases_expired: u64,
    /// Participants whose process ended before their lease did, and without a word.
    pub processes_ended: u64,
}
