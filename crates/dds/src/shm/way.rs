//! By which way samples come from a writer to a reader.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tickwire_base::Instant;
use tickwire_rtps::wire::Guid;
use tickwire_transport::shm::meeting::{AskError, Refusal};

use super::SharedMemory;
use crate::clock;
use crate::core::Core;
use crate::signal::lock;

/// By which way samples come from a writer to a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// By the writer's log in shared memory.
    SharedMemory,
    /// By the network, and why not by shared memory.
    Network(Obstacle),
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SharedMemory => f.write_str("shared memory"),
            Self::Network(obstacle) => write!(f, "network ({obstacle})"),
        }
    }
}

/// Why samples do not come by shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// Writer and reader belong to one participant, whose samples go by its own sockets.
    SameParticipant,
    /// This participant was told not to use it.
    Off,
    /// This participant could not open it: the system's reason.
    Local(String),
    /// The other participant does not offer it: it was told not to, could not, or is not Tickwire's.
    NotOffered,
    /// The other participant is on another machine, or in another network namespace.
    OtherMachine,
    /// The other participant is of another version, which lays out memory otherwise.
    OtherVersion,
    /// It has not been agreed on yet, which takes a moment after the match.
    Pending,
    /// The other participant could not be asked: it is another user's, is gone, or has too many to talk
    /// to.
    NotMet(String),
    /// The writer's participant had no memory for the log.
    NoMemory,
    /// All 62 seats of the writer's log are taken.
    NoSeat,
    /// The writer's participant does not have the writer.
    NoWriter,
    /// It refused for a reason that this version does not know.
    Refused(u8),
    /// What the writer's log held was malformed.
    Malformed,
    /// The connection to the writer's participant has ended.
    Ended,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SameParticipant => "same participant",
            Self::Off => "shared memory is off here",
            Self::Local(reason) | Self::NotMet(reason) => reason,
            Self::NotOffered => "shared memory is not offered by both sides",
            Self::OtherMachine => "another machine or network namespace",
            Self::OtherVersion => "another version of shared memory",
            Self::Pending => "shared memory is not agreed on yet",
            Self::NoMemory => "the writer's participant has no memory for a log",
            Self::NoSeat => "the writer's log has no seat left",
            Self::NoWriter => "the writer's participant has no such writer",
            Self::Refused(code) => return write!(f, "refused for reason {code}"),
            Self::Malformed => "the writer's log was malformed",
            Self::Ended => "the connection to the writer's participant has ended",
        })
    }
}

impl From<Refusal> for Obstacle {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Unknown => Self::NoWriter,
            Refusal::Full => Self::NoSeat,
            Refusal::Other(NO_MEMORY) => Self::NoMemory,
            Refusal::Other(code) => Self::Refused(code),
            _ => Self::Refused(0),
        }
    }
}

impl From<&AskError> for Obstacle {
    fn from(error: &AskError) -> Self {
        Self::NotMet(error.to_string())
    }
}

impl Core {
    /// Waits until these pairs of a writer and a reader have agreed on shared memory, or found out that they
    /// cannot: to make many logs takes its time, in which nothing else is done, and who drives a participant
    /// and only writes from here on would make the log long after. Not for long, as others may be driven by
    /// nobody.
    pub(crate) fn settle_ways(self: &Arc<Self>, deadline: Instant, pairs: &[(Guid, Guid)]) {
        let Some(shm) = &self.shm else {
            return;
        };
        let timeout = deadline.since(clock::now()).min(PATIENCE);
        let is_pending = |&(writer, reader)| shm.is_pending(self, writer, reader);
        let settled = || (!shm.has_wants() && !pairs.iter().any(is_pending)).then_some(());
        // What is not settled goes by the network meanwhile.
        let _ = self.wait_for_control(timeout, settled);
    }
}

impl SharedMemory {
    fn is_pending(&self, core: &Core, writer: Guid, reader: Guid) -> bool {
        let is_ours = writer.prefix == core.prefix;
        let other = if is_ours { reader } else { writer }.prefix;
        let address = lock(&self.meets).guest.known.get(&other).copied();
        let way = self.way(writer, reader, is_ours, address);
        other != core.prefix && way == Way::Network(Obstacle::Pending)
    }
}

/// How long a match waits for shared memory.
const PATIENCE: Duration = Duration::from_millis(100);

/// What a participant says that has no memory for a log.
pub(super) const NO_MEMORY: u8 = 3;
