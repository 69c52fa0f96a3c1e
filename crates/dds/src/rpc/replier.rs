//! Who answers.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use tickwire_base::Counter;
use tickwire_rtps::SampleIdentity;

use super::config::ServiceConfig;
use super::error::CreateError;
use crate::error::{Awaited, Timeout, WriteError};
use crate::participant::DomainParticipant;
use crate::reader::{DataReader, SampleInfo, StateMask};
use crate::type_support::TopicSupport;
use crate::wait_set::Condition;
use crate::writer::DataWriter;

/// Gets requests and replies to them, whenever and in whatever order. Clones are the same replier.
pub struct Replier<Q: TopicSupport, P: TopicSupport> {
    reader: DataReader<Q>,
    writer: DataWriter<P>,
    counters: Arc<Counters>,
}

#[derive(Default)]
struct Counters {
    requests: Counter,
    replies: Counter,
    unsent: Counter,
}

/// What a replier has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplierCounters {
    /// Requests taken. What came and could not be read is in the
    /// [reader's counters](crate::DataReader::inbox_counters): nobody can be told of it, as nobody knows what it asks.
    pub requests: u64,
    /// Replies written.
    pub replies: u64,
    /// Replies that could not be written.
    pub unsent: u64,
}

/// A request.
pub struct Request<Q> {
    value: Arc<Q>,
    info: SampleInfo,
}

impl<Q> Request<Q> {
    /// Its circumstances: who asks, among others.
    pub fn info(&self) -> &SampleInfo {
        &self.info
    }

    /// By which its reply names it. Enough to reply later, when the request itself is gone.
    pub fn id(&self) -> SampleIdentity {
        self.info.identity()
    }
}

impl<Q> Deref for Request<Q> {
    type Target = Q;

    fn deref(&self) -> &Q {
        &self.value
    }
}

impl<Q: fmt::Debug> fmt::Debug for Request<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<Q, P> Replier<Q, P>
where
    Q: TopicSupport<Type = ()>,
    P: TopicSupport<Type = ()>,
{
    /// A replier of a service, by its name or with other topics and QoS.
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

impl<Q: TopicSupport, P: TopicSupport> Replier<Q, P> {
    /// A replier of a service whose types are known only at run time, such as those of [`Serialized`](crate::Serialized).
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
        // The writer first, that it may be known to who finds the reader.
        let writer =
            participant.writer_with(&replies, config.reply_writer.related_samples(true))?;
        let reader = participant.reader_with(&requests, config.request_reader)?;
        Ok(Self {
            reader,
            writer,
            counters: Arc::default(),
        })
    }

    /// The next request, if one has come.
    pub fn take(&self) -> Option<Request<Q>> {
        loop {
            let samples = self.reader.select().max_samples(1).take();
            let sample = samples.first()?;
            // Ends of instances, where the type has a key, ask nothing.
            if let Some(value) = sample.shared() {
                self.counters.requests.add(1);
                return Some(Request {
                    value: Arc::clone(value),
                    info: *sample.info(),
                });
            }
        }
    }

    /// Waits for the next request.
    ///
    /// # Errors
    /// When that takes longer than `timeout`.
    pub fn wait(&self, timeout: Duration) -> Result<Request<Q>, Timeout> {
        let ready = self.reader.ended().or(|| self.take());
        let request = self.reader.core().wait(timeout, ready);
        request.flatten().ok_or(Timeout {
            awaited: Awaited::Request,
            waited: timeout,
        })
    }

    /// Replies to a request. All clients of the service get it, and the one that has asked knows that it is for it. Where a
    /// client has gone, or has given the call up, nobody is troubled.
    ///
    /// # Errors
    /// If the reply cannot be written.
    pub fn reply(&self, request: &Request<Q>, reply: &P) -> Result<(), WriteError> {
        self.reply_to(request.id(), reply)
    }

    /// The same to a request of which only the [id](Request::id) is left.
    ///
    /// # Errors
    /// If the reply cannot be written.
    pub fn reply_to(&self, request: SampleIdentity, reply: &P) -> Result<(), WriteError> {
        let written = self.writer.write_related(reply, request);
        match &written {
            Ok(_) => self.counters.replies.add(1),
            Err(_) => self.counters.unsent.add(1),
        }
        written.map(drop)
    }

    /// Has all who wait for a request return at once, as if their time were over, and whoever comes later: for a thread that is
    /// about to let go of it, which ends with the last of its clones.
    pub fn end_waits(&self) {
        self.reader.end_waits();
    }

    /// A condition that holds while requests wait.
    pub fn condition(&self) -> Condition {
        self.reader.read_condition(StateMask::ANY)
    }

    /// What it has done.
    pub fn counters(&self) -> ReplierCounters {
        let Counters {
            requests,
            replies,
            unsent,
        } = &*self.counters;
        ReplierCounters {
            requests: requests.count(),
            replies: replies.count(),
            unsent: unsent.count(),
        }
    }

    /// The reader of the requests, which the replier takes.
    pub fn reader(&self) -> &DataReader<Q> {
        &self.reader
    }

    /// The writer of the replies.
    pub fn writer(&self) -> &DataWriter<P> {
        &self.writer
    }
}

impl<Q: TopicSupport, P: TopicSupport> Clone for Replier<Q, P> {
    fn clone(&self) -> Self {
        Self {
            reader: self.reader.clone(),
            writer: self.writer.clone(),
            counters: Arc::clone(&self.counters),
        }
    }
}

impl<Q: TopicSupport, P: TopicSupport> fmt::Debug for Replier<Q, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replier")
            .field("requests", &self.reader.topic().name())
            .field("replies", &self.writer.topic().name())
            .finish()
    }
}
