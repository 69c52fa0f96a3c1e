//! What a rendezvous is told at birth, what it tells its owner, and what it counts.

use alloc::string::String;
use alloc::vec::Vec;

use tickwire_base::{Duration, Locator};

use crate::wire::GuidPrefix;

/// Settings of a [`Rendezvous`](super::Rendezvous).
#[derive(Clone, Debug)]
pub struct RendezvousConfig {
    /// Where it receives: what it announces to participants.
    pub locators: Vec<Locator>,
    /// The domain of participants that do not say theirs. Default 0.
    pub default_domain: u32,
    /// Participants beyond so many, of all domains, are refused, and counted. Default 10,000.
    pub max_participants: usize,
    /// The same for one IP address. Default 1,000. One that has left counts for ten seconds more, so
    /// that this also bounds how many come and go.
    pub max_participants_per_address: usize,
    /// Bytes that one participant may announce; more is refused, and counted. Default 16 KiB.
    pub max_announcement_len: usize,
    /// Bytes for what all participants announce. Default 64 MiB.
    pub max_bytes: usize,
    /// The longest lease that holds here, whatever a participant announces. Default 10 minutes.
    pub max_lease: Duration,
    /// Other rendezvous to federate with. Default none.
    pub federates: Vec<Locator>,
    /// Whether others that are not among `federates` may federate with this one. Default no.
    pub accepts_federates: bool,
}

impl RendezvousConfig {
    /// The defaults for one that receives there.
    pub fn new(locators: Vec<Locator>) -> Self {
        Self {
            locators,
            default_domain: 0,
            max_participants: 10_000,
            max_participants_per_address: 1_000,
            max_announcement_len: 16 << 10,
            max_bytes: 64 << 20,
            max_lease: Duration::from_secs(600),
            federates: Vec::new(),
            accepts_federates: false,
        }
    }
}

/// What happened, in the order in which it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RendezvousEvent {
    /// A participant was registered, and is told to the others of its domain.
    Joined {
        /// Which one.
        prefix: GuidPrefix,
        /// Its domain.
        domain: u32,
        /// What it is called, maybe nothing.
        name: String,
        /// Where it receives, or the rendezvous that told it.
        at: Locator,
        /// Whether another rendezvous told it.
        is_federated: bool,
    },
    /// A participant is registered no more.
    Left {
        /// Which one.
        prefix: GuidPrefix,
        /// Whether its lease ended; else it said good-bye.
        lease_expired: bool,
    },
    /// Another rendezvous is there, or there again.
    FederateFound(Locator),
    /// Another rendezvous is silent. What it told stays until the leases end.
    FederateLost(Locator),
}

/// What a rendezvous has done and seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RendezvousCounters {
    /// Datagrams received.
    pub datagrams_received: u64,
    /// Datagrams that are not RTPS, or whose remainder is malformed.
    pub malformed: u64,
    /// Submessages that are no announcements.
    pub ignored: u64,
    /// Announcements of participants, repeated ones included.
    pub announcements_received: u64,
    /// Announcements of which nothing can be used.
    pub unusable: u64,
    /// Announcements and good-byes in another participant's name, or after its own good-bye.
    pub misbehaved: u64,
    /// Announcements without a UDP address at which the participant could be told anything.
    pub unreachable: u64,
    /// Announcements answered by a request to show that the address is the participant's own.
    pub challenged: u64,
    /// Announcements not answered, since they are shorter than the answer.
    pub too_short: u64,
    /// Participants that have answered and must do so once more before they are registered, since others
    /// of their address, or of the one that most have answered from, came after them.
    pub answers_displaced: u64,
    /// Participants registered.
    pub joined: u64,
    /// Participants that said good-bye.
    pub left: u64,
    /// Participants whose lease ended.
    pub leases_expired: u64,
    /// Announcements refused because a bound was reached.
    pub refused: u64,
    /// Announcements passed on, once for each that was told.
    pub introductions: u64,
    /// Announcements of other rendezvous that are not to federate with this one.
    pub federates_refused: u64,
}
