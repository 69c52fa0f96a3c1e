//! Who asks.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tickwire_rtps::wire::{GuidPrefix, SequenceNumber};

use super::call::{Calls, PendingReply, Reply};
use super::config::ServiceConfig;
use super::error::{CallError, CreateError, NoService};
use crate::clock;
use crate::participant::DomainParticipant;
use crate::reader::DataReader;
use crate::type_support::TopicSupport;
use crate::writer::DataWriter;

/// Sends requests and gets the replies to them. Clones are the same requester, and any number of threads may call.
///
/// It gets what all services of its topics reply, to whomever: replies to others are counted and let go. Where several
/// services reply to one request, the first reply counts.
///
/// Calls wait for the reply on threads that are not the participant's: within a listener, none can come.
pub struct Requester<Q: TopicSupport, P: TopicSupport> {
    shared: Arc<Shared<Q, P>>,
}

struct Shared<Q: TopicSupport, P: TopicSupport> {
    writer: DataWriter<Q>,
    reader: DataReader<P>,
    calls: Arc<Calls<P>>,
}

/// What a requester has done and seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequesterCounters {
    /// Requests written.
    pub requests: u64,
    /// Replies that were waited for.
    pub replies: u64,
    /// Replies to requests that nobody waits for: those of a second service, and those that came too late.
    pub late: u64,
    /// Calls that were given up before a reply came.
    pub given_up: u64,
    /// Calls that were refused since too many were under way.
    pub refused: u64,
    /// Replies to the requests of others.
    pub for_others: u64,
    /// Replies that do not say to what: the service is of another mapping.
    pub unrelated: u64,
}

impl<Q, P> Requester<Q, P>
where
    Q: TopicSupport<Type = ()>,
    P: TopicSupport<Type = ()>,
{
    /// A requester of a service, by its name or with other topics and QoS.
    ///
    /// # Errors
    /// When a topic, a writer or a reader cannot be.
    pub fn new(
        participant: &DomainParticipant,
        config: impl Into<ServiceConfig>,
    ) -> Result<Self, CreateError> {
        Self::of(participant, config, (), ())
    }
}

impl<Q: TopicSupport, P: TopicSupport> Requester<Q, P> {
    /// A requester of a service whose types are known only at run time, such as those of [`Serialized`](crate::Serialized).
    ///
    /// # Errors
    /// When a topic, a writer or a reader cannot be.
    pub fn of(
        participant: &DomainParticipant,
        config: impl Into<ServiceConfig>,
        request: Q::Type,
        reply: P::Type,
    ) -> Result<Self, CreateError> {
        let config = config.into();
        let requests = participant.topic_of::<Q>(&config.request_topic, request)?;
        let replies = participant.topic_of::<P>(&config.reply_topic, reply)?;
        let reader = participant.reader_with(&replies, config.reply_reader)?;
        let writer = participant.writer_with(&requests, config.request_writer)?;
        let calls = Arc::new(Calls::new(config.max_pending));
        let (of, guid) = (Arc::clone(&calls), writer.guid());
        reader.set_listener(move |reader: &DataReader<P>| {
            if of.receive(guid, reader) {
                reader.core().signal.raise();
            }
        });
        let shared = Shared {
            writer,
            reader,
            calls,
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// Waits until a service is there: until one participant reads the requests and writes the replies, and has shown that
    /// it knows this requester's reader and writer. What is asked earlier may get no reply.
    ///
    /// # Errors
    /// When that takes longer than `timeout`; the error says which of the topics has no match.
    pub fn wait_for_service(&self, timeout: Duration) -> Result<(), NoService> {
        if self.has_service() {
            return Ok(());
        }
        let deadline = clock::now() + timeout;
        loop {
            // A first heartbeat wakes nobody.
            let rest = deadline.since(clock::now());
            let ready = || self.has_service().then_some(());
            let ready = self.shared.calls.ended.or(ready);
            match self.core().wait(rest.min(LOOK), ready) {
                Some(Some(())) => return Ok(()),
                None if rest > LOOK => {}
                _ => return Err(self.no_service(timeout)),
            }
        }
    }

    /// Whether a service is there.
    pub fn has_service(&self) -> bool {
        let readers = self.shared.writer.matched_subscriptions();
        let readers = readers.iter();
        let readers = readers.filter(|reader| !reader.reliable || reader.acknacks > 0);
        let readers: Vec<GuidPrefix> = readers.map(|reader| reader.guid.prefix).collect();
        if readers.is_empty() {
            return false;
        }
        let writers = self.shared.reader.matched_publications();
        let mut writers = writers.iter().filter(|writer| writer.heard);
        writers.any(|writer| readers.contains(&writer.guid.prefix))
    }

    fn no_service(&self, waited: Duration) -> NoService {
        let Shared { writer, reader, .. } = &*self.shared;
        NoService {
            request_topic: writer.topic().name().to_owned(),
            has_reader: !writer.matched_subscriptions().is_empty(),
            reply_topic: reader.topic().name().to_owned(),
            has_writer: !reader.matched_publications().is_empty(),
            waited,
        }
    }

    /// Sends a request and waits for the reply, first for a service if there is none yet; all that within `timeout`.
    ///
    /// # Errors
    /// [`CallError::NoService`] and [`CallError::Timeout`] when that takes longer, and those of [`send`](Self::send).
    pub fn call(&self, request: &Q, timeout: Duration) -> Result<Reply<P>, CallError> {
        let deadline = clock::now() + timeout;
        self.wait_for_service(timeout)?;
        let pending = self.send(request)?;
        let reply = pending.wait(deadline.since(clock::now()));
        reply.map_err(|error| match error {
            CallError::Timeout { .. } => CallError::Timeout { waited: timeout },
            error => error,
        })
    }

    /// Sends a request to whatever services there are, and does not wait for the reply.
    ///
    /// # Errors
    /// [`CallError::TooMany`] if as many calls as may be are under way, [`CallError::Write`] if the request cannot be
    /// written.
    pub fn send(&self, request: &Q) -> Result<PendingReply<P>, CallError> {
        let Shared { writer, calls, .. } = &*self.shared;
        calls.begin()?;
        let written = writer.write(request);
        calls.written(written.as_ref().ok().copied());
        Ok(PendingReply {
            number: written?,
            calls: Arc::clone(calls),
            core: Arc::clone(self.core()),
        })
    }

    /// Sends a request that nobody replies to (`@oneway`).
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn tell(&self, request: &Q) -> Result<SequenceNumber, CallError> {
        let number = self.shared.writer.write(request)?;
        self.shared.calls.count_told();
        Ok(number)
    }

    /// Has all who wait for a service, or for the reply to a call, return at once, as if their time were over, and whoever
    /// comes later: for a thread that is about to let go of it, which ends with the last of its clones.
    pub fn end_waits(&self) {
        let Shared { writer, calls, .. } = &*self.shared;
        calls.ended.set();
        // Its participant is the reader's.
        writer.end_waits();
    }

    /// What it has done and seen.
    pub fn counters(&self) -> RequesterCounters {
        self.shared.calls.counters()
    }

    /// The writer of the requests.
    pub fn writer(&self) -> &DataWriter<Q> {
        &self.shared.writer
    }

    /// The reader of the replies, which the requester takes.
    pub fn reader(&self) -> &DataReader<P> {
        &self.shared.reader
    }

    fn core(&self) -> &Arc<crate::core::Core> {
        self.shared.reader.core()
    }
}

impl<Q: TopicSupport, P: TopicSupport> Clone for Requester<Q, P> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<Q: TopicSupport, P: TopicSupport> fmt::Debug for Requester<Q, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requester")
            .field("requests", &self.shared.writer.topic().name())
            .field("replies", &self.shared.reader.topic().name())
            .finish()
    }
}

/// How long a thread that waits for a service does not look what has come.
const LOOK: Duration = Duration::from_millis(5);
