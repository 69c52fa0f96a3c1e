//! What can go wrong, per operation. Each message says what to do about it.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

pub use crate::content_filter::ContentFilterError;
pub use crate::participant::{IgnoreError, ThreadCoresError};
use crate::participant::{ParseTransportsError, TRANSPORT_VARIABLE, Transports};
use crate::rendezvous::ReferenceError;
use crate::type_support::SampleError;
pub use crate::unimplemented::UnimplementedQos;
pub use crate::writer::served::ServeLogError;
use tickwire_cdr::EncodeError;
use tickwire_cdr::xtypes::DescribeError;
pub use tickwire_rtps::discovery::AddError;
pub use tickwire_rtps::discovery::DiscoveryDataError;
use tickwire_rtps::discovery::RequestError;
use tickwire_rtps::qos::{Inconsistent, RepresentationId};
use tickwire_rtps::wire::ParameterTooLong;
pub use tickwire_store::StoreError;
use tickwire_transport::{InterfaceError, ReceiveError, SocketError, WaitError};

/// Why there is no participant. Its `Debug` is what its `Display` says, as a program whose `main` returns it shows that.
#[non_exhaustive]
pub enum ParticipantError {
    /// The domain's ports would lie beyond UDP's last one, and no rendezvous makes them unnecessary.
    Domain {
        /// What was asked for.
        domain: u32,
    },
    /// A peer that was given by name has no IPv4 address.
    Peer {
        /// The name.
        name: String,
        /// What the system says, unless it knows the name.
        source: Option<io::Error>,
    },
    /// The environment names a transport that there is not.
    TransportVariable(ParseTransportsError),
    /// By the transports that were chosen nobody could be reached.
    Transports {
        /// Those.
        chosen: Transports,
        /// Why not, and what to do about it.
        reason: &'static str,
    },
    /// The rendezvous is not named by what was given.
    Rendezvous(ReferenceError),
    /// The network interface was not found, or has no IPv4 address.
    Interface(InterfaceError),
    /// A socket could not be opened.
    Socket(SocketError),
    /// The participant's name or user data is too long to announce.
    Announcement(ParameterTooLong),
    /// The kernel gave nothing to wait with.
    Wait(WaitError),
    /// The kernel gave no thread.
    Thread(io::Error),
    /// The threads cannot run on the cores that they were told to.
    ThreadCores(ThreadCoresError),
}

impl fmt::Debug for ParticipantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ParticipantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Domain { domain } => write!(
                f,
                "domain {domain} has no ports: they are 7400 + 250 x domain and up, so that domains \
                 are 0 to 232, unless participants meet at a rendezvous"
            ),
            Self::Peer { name, source } => {
                write!(f, "the peer `{name}` has no IPv4 address")?;
                source.iter().try_for_each(|source| write!(f, ": {source}"))
            }
            Self::TransportVariable(error) => write!(f, "{TRANSPORT_VARIABLE}: {error}"),
            Self::Transports { chosen, reason } if chosen.is_empty() => f.write_str(reason),
            Self::Transports { chosen, reason } => write!(f, "with {chosen} alone {reason}"),
            Self::Rendezvous(error) => error.fmt(f),
            Self::Interface(error) => error.fmt(f),
            Self::Socket(error) => error.fmt(f),
            Self::Announcement(error) => write!(f, "cannot be announced: {error}"),
            Self::Wait(error) => error.fmt(f),
            Self::Thread(error) => write!(f, "cannot start a thread: {error}"),
            Self::ThreadCores(error) => error.fmt(f),
        }
    }
}

impl Error for ParticipantError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Interface(error) => Some(error),
            Self::Rendezvous(error) => Some(error),
            Self::Socket(error) => Some(error),
            Self::Announcement(error) => Some(error),
            Self::Wait(error) => Some(error),
            Self::Thread(error) => Some(error),
            Self::ThreadCores(error) => Some(error),
            Self::Peer { source, .. } => source.as_ref().map(|source| source as _),
            Self::TransportVariable(error) => Some(error),
            Self::Domain { .. } | Self::Transports { .. } => None,
        }
    }
}

/// Why an entity was not enabled.
#[derive(Debug)]
#[non_exhaustive]
pub enum EnableError {
    /// What made it is not enabled itself (DDS 1.4 §2.2.2.1.1.7 calls that PRECONDITION_NOT_MET).
    FactoryNotEnabled,
    /// A writer or reader cannot be announced.
    Endpoint(EndpointError),
    /// The kernel gave no thread.
    Thread(io::Error),
}

impl fmt::Display for EnableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FactoryNotEnabled => {
                f.write_str("what made it is not enabled; enable that first")
            }
            Self::Endpoint(error) => error.fmt(f),
            Self::Thread(error) => write!(f, "cannot start a thread: {error}"),
        }
    }
}

impl Error for EnableError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::FactoryNotEnabled => None,
            Self::Endpoint(error) => Some(error),
            Self::Thread(error) => Some(error),
        }
    }
}

/// Why there is no topic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TopicError {
    /// A topic needs a name of 1 to 255 bytes without NUL.
    Name {
        /// What was asked for.
        name: String,
    },
    /// The participant already has a topic of that name with another type.
    InconsistentType {
        /// The topic.
        name: String,
        /// The type that it has.
        existing: String,
        /// The type that it was to have.
        wanted: String,
    },
}

impl fmt::Display for TopicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { name } => write!(
                f,
                "{name:?} is no topic name: use 1 to 255 bytes without a NUL"
            ),
            Self::InconsistentType {
                name,
                existing,
                wanted,
            } => write!(
                f,
                "topic {name:?} has the type {existing} in this participant, not {wanted}"
            ),
        }
    }
}

impl Error for TopicError {}

/// Why there is no writer or reader.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndpointError {
    /// Two policies contradict each other.
    InconsistentQos(Inconsistent),
    /// A policy asks for what is not implemented.
    UnimplementedQos(UnimplementedQos),
    /// The writer is to encode in something else than XCDR1 or XCDR2.
    Representation {
        /// What it is to encode in.
        wanted: RepresentationId,
    },
    /// Discovery cannot announce it: a name or its QoS is too long.
    Announcement(AddError),
    /// The type cannot be described to others.
    Type(EncodeError),
    /// The participant has made 2^24 endpoints and has no name left for another.
    TooManyEndpoints,
    /// What a TRANSIENT or PERSISTENT writer is to leave behind has no place.
    Store(StoreError),
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InconsistentQos(inconsistent) => write!(f, "inconsistent QoS: {inconsistent}"),
            Self::UnimplementedQos(unimplemented) => unimplemented.fmt(f),
            Self::Representation { wanted } => write!(
                f,
                "samples cannot be written as {wanted}; use XCDR1 or XCDR2"
            ),
            Self::Announcement(error) => write!(f, "cannot be announced: {error}"),
            Self::Type(error) => write!(f, "the type cannot be described: {error}"),
            Self::TooManyEndpoints => {
                f.write_str("the participant has named 2^24 endpoints; make another participant")
            }
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl Error for EndpointError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::InconsistentQos(inconsistent) => Some(inconsistent),
            Self::UnimplementedQos(unimplemented) => Some(unimplemented),
            Self::Announcement(error) => Some(error),
            Self::Type(error) => Some(error),
            Self::Store(error) => Some(error),
            Self::Representation { .. } | Self::TooManyEndpoints => None,
        }
    }
}

/// Why an entity keeps the QoS that it had.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetQosError {
    /// A policy, by the standard's name, that cannot be changed while the entity lives (DDS 1.4
    /// §2.2.3).
    Immutable(&'static str),
    /// Two policies contradict each other.
    InconsistentQos(Inconsistent),
    /// A policy asks for what is not implemented.
    UnimplementedQos(UnimplementedQos),
    /// The QoS is too long to announce.
    Announcement(AddError),
}

impl fmt::Display for SetQosError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Immutable(policy) => write!(
                f,
                "{policy} cannot be changed while the entity lives; make another entity"
            ),
            Self::InconsistentQos(inconsistent) => write!(f, "inconsistent QoS: {inconsistent}"),
            Self::UnimplementedQos(unimplemented) => unimplemented.fmt(f),
            Self::Announcement(error) => write!(f, "cannot be announced: {error}"),
        }
    }
}

impl Error for SetQosError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::InconsistentQos(inconsistent) => Some(inconsistent),
            Self::UnimplementedQos(unimplemented) => Some(unimplemented),
            Self::Announcement(error) => Some(error),
            Self::Immutable(_) => None,
        }
    }
}

/// Why a sample was not written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// A reliable reader did not make room within `max_blocking_time`.
    Timeout {
        /// The time waited.
        waited: Duration,
    },
    /// RESOURCE_LIMITS allow no further instance.
    TooManyInstances,
    /// More than 2^32 - 1 bytes.
    TooLarge,
    /// The sample cannot be encoded.
    Sample(SampleError),
    /// The type has no key, hence no instances to speak of.
    NoKey,
    /// The writer's QoS does not have [`related_samples`](crate::DataWriterQos::related_samples), so that its samples
    /// answer none.
    NotRelated,
    /// The sample was sent, but is not in the log of the TRANSIENT or PERSISTENT writer: it does not
    /// outlive the process.
    Store(StoreError),
    /// The sample was sent and is in the log, so it is not to be written again. What was written since the
    /// last write that succeeded, this sample with [`SyncPolicy::EachWrite`](crate::store::SyncPolicy),
    /// may not outlive the machine, or the end of a coherent set is not in the log.
    Unsynced(StoreError),
    /// The writer takes no part yet.
    NotEnabled,
    /// Another sample is being serialized on this thread, whose writer others wait for.
    Nested,
}

impl From<SampleError> for WriteError {
    fn from(error: SampleError) -> Self {
        Self::Sample(error)
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout { waited } => write!(
                f,
                "no room after {waited:?}: a reliable reader lags; raise max_blocking_time, keep \
                 only the last samples, or see by `lag_of` which of `matched_subscriptions` it is"
            ),
            Self::TooManyInstances => {
                f.write_str("RESOURCE_LIMITS.max_instances allows no further instance")
            }
            Self::TooLarge => f.write_str("the sample takes more than 2^32 - 1 bytes"),
            Self::Sample(error) => write!(f, "the sample cannot be encoded: {error}"),
            Self::NoKey => f.write_str("the type has no key, so there is no instance to end"),
            Self::NotRelated => {
                f.write_str("the writer's QoS does not have `related_samples`: set that first")
            }
            Self::Store(error) => write!(f, "the sample is sent but not stored: {error}"),
            Self::Unsynced(error) => write!(
                f,
                "the sample is sent and stored, but what was written lately may not outlive the \
                 machine: {error}"
            ),
            Self::NotEnabled => f.write_str("the writer is not enabled; enable it first"),
            Self::Nested => f.write_str(
                "another sample is being serialized on this thread; write this one before or after it",
            ),
        }
    }
}

impl Error for WriteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Sample(error) => Some(error),
            Self::Store(error) | Self::Unsynced(error) => Some(error),
            _ => None,
        }
    }
}

/// Why not all of [several](crate::DataWriter::write_all) samples were written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteAllError {
    /// How many were: the first ones.
    pub written: usize,
    /// Why the next one was not, or what became of it instead.
    pub source: WriteError,
}

impl fmt::Display for WriteAllError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { written, source } = self;
        write!(f, "after {written} samples: {source}")
    }
}

impl Error for WriteAllError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

/// What was waited for did not happen in time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Timeout {
    /// What it was.
    pub(crate) awaited: Awaited,
    /// How long it was waited for.
    pub waited: Duration,
}

/// What can be waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaited {
    Acknowledgments,
    Condition,
    Discovery,
    History,
    Readers,
    Request,
    Sample,
    Writers,
}

impl fmt::Display for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lacks = match self.awaited {
            Awaited::Acknowledgments => "samples are not acknowledged by all readers",
            Awaited::Condition => "no condition holds",
            Awaited::Discovery => "discovery has not found it",
            Awaited::History => "historical data has not come",
            Awaited::Readers => "not enough readers match",
            Awaited::Request => "no request has come",
            Awaited::Sample => "no sample has come",
            Awaited::Writers => "not enough writers match",
        };
        write!(f, "{lacks} after {:?}", self.waited)
    }
}

/// The sentence, too, and the [hint](Timeout::hint), which a `main` that returns the error shows.
impl fmt::Debug for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        self.hint().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

impl Timeout {
    /// What to do about it, for a person who can run `tickwire` while the participants are there.
    pub fn hint(&self) -> Option<&'static str> {
        match self.awaited {
            Awaited::Readers | Awaited::Writers => Some(
                "while one waits, `tickwire topic ls` in its domain (--domain) says who is there, and `tickwire qos check` \
                 why they do not match",
            ),
            _ => None,
        }
    }
}

impl Error for Timeout {}

/// Why polling failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum PollError {
    /// The participant drives itself with threads of its own.
    Threaded,
    /// The participant takes no part yet.
    NotEnabled,
    /// Waiting is not possible.
    Wait(WaitError),
    /// A socket does not work.
    Receive(ReceiveError),
}

impl fmt::Display for PollError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threaded => f.write_str(
                "the participant has threads of its own; build it with Driving::Polled to poll it",
            ),
            Self::NotEnabled => f.write_str("the participant is not enabled; enable it first"),
            Self::Wait(error) => error.fmt(f),
            Self::Receive(error) => error.fmt(f),
        }
    }
}

impl Error for PollError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Threaded | Self::NotEnabled => None,
            Self::Wait(error) => Some(error),
            Self::Receive(error) => Some(error),
        }
    }
}

/// Why the type of a remote endpoint is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeError {
    /// Discovery does not know the endpoint, or no longer.
    UnknownEndpoint,
    /// The endpoint announces no complete type.
    NotAnnounced,
    /// Its participant cannot be asked.
    Request(RequestError),
    /// Its participant has not answered in time, or not with what was asked for.
    NoAnswer {
        /// The time waited.
        waited: Duration,
    },
    /// The type says something that we do not support, or that is malformed.
    Description(DescribeError),
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownEndpoint => f.write_str("no such endpoint is known"),
            Self::NotAnnounced => f.write_str(
                "the endpoint does not announce its type, which some implementations never do",
            ),
            Self::Request(error) => write!(f, "the type cannot be asked for: {error}"),
            Self::NoAnswer { waited } => write!(f, "no answer about the type after {waited:?}"),
            Self::Description(error) => write!(f, "the announced type cannot be used: {error}"),
        }
    }
}

impl Error for TypeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Request(error) => Some(error),
            Self::Description(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_main_that_returns_it_shows_a_sentence() {
        let error = "udp,bogus"
            .parse::<Transports>()
            .expect_err("no such transport");
        let error = ParticipantError::TransportVariable(error);
        assert_eq!(
            format!("Error: {error:?}"),
            "Error: TICKWIRE_TRANSPORT: there is no transport `bogus`; there are udp, multicast, tcp, shm"
        );
        let timeout = |awaited| {
            let waited = Duration::from_secs(60);
            format!("Error: {:?}", Timeout { awaited, waited })
        };
        assert_eq!(
            timeout(Awaited::Sample),
            "Error: no sample has come after 60s"
        );
        for (awaited, whom) in [(Awaited::Readers, "readers"), (Awaited::Writers, "writers")] {
            let hint = "while one waits, `tickwire topic ls` in its domain (--domain) says who is there, and `tickwire \
                        qos check` why they do not match";
            let told = format!("Error: not enough {whom} match after 60s; {hint}");
            assert_eq!(timeout(awaited), told);
        }
    }
}
