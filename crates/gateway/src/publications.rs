//! The feed's topics as writers of a participant, and the round trips of their samples.
//!
//! Beside each topic there may be one named `<topic>.echo`, on which subscribers send samples back
//! with the time at which they were made: what has passed since then is the round trip.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tickwire::Instant;
use tickwire::error::{EndpointError, Timeout, TopicError, WriteError};
use tickwire::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, DynamicType, Guid,
    ParticipantData, Publisher, PublisherQos, Serialized, SuspendedPublications,
};
use tickwire_transport::{ReceiveError, clock};

use crate::feed_handler::Publish;
use crate::mapping::{FeedTopic, Mapper, TopicIndex};
use crate::round_trips::RoundTrips;

/// What is put behind a topic's name for the topic of its echoes.
pub const ECHO_SUFFIX: &str = ".echo";

/// How the feed's topics are published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicationOptions {
    /// Subscribers to wait for before the first sample of a topic. Default 0.
    pub subscribers: u32,
    /// Whether samples come back. Default yes.
    pub echo: bool,
    /// The topic that ends the feed and has no echo. Default `Done`.
    pub done: String,
    /// How long to wait for subscribers, for room in a writer, for acknowledgements and for echoes.
    /// Default 10 s.
    pub patience: Duration,
}

impl Default for PublicationOptions {
    fn default() -> Self {
        Self {
            subscribers: 0,
            echo: true,
            done: "Done".to_owned(),
            patience: Duration::from_secs(10),
        }
    }
}

/// A reliable writer that keeps all samples, for each topic of the feed. While a writer has no room,
/// and every few samples, it calls `idle`, so that whoever brings packets can empty its sockets. A log
/// that takes no more does not end the feed: that is counted.
pub struct Publications<I> {
    participant: DomainParticipant,
    publisher: Publisher,
    options: PublicationOptions,
    qos: Box<WriterQos>,
    types: Vec<DynamicType>,
    publications: Vec<Publication>,
    round_trips: Arc<RoundTrips>,
    counters: PublicationCounters,
    idle: I,
    until_idle: u32,
}

/// What went wrong with samples that have been sent all the same, and what was waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublicationCounters {
    /// Samples that are not in the log of their TRANSIENT or PERSISTENT writer: readers to come miss them.
    pub not_stored: u64,
    /// Writes of a TRANSIENT or PERSISTENT writer that told of a disk that failed: what was written
    /// lately is in the log, but may not outlive the machine.
    pub not_synced: u64,
    /// The topic of the first of either, and why.
    pub first_not_stored: Option<String>,
    /// Writes that waited for readers for longer than the `max_blocking_time` of their writer, which is
    /// 2 ms unless its QoS says otherwise.
    pub blocked: u64,
    /// How long these waited in all.
    pub blocked_for: Duration,
}

/// The reader that is furthest behind of those that are waited for.
#[derive(Clone, Debug)]
pub struct SlowReader {
    /// The reader.
    pub guid: Guid,
    /// Samples written after the last that it has acknowledged.
    pub behind: u64,
    /// Whose it is, if discovery still knows it.
    pub participant: Option<Arc<ParticipantData>>,
}

/// The QoS of a topic's writer, from that which keeps all samples and is reliable.
type WriterQos = dyn Fn(&str, DataWriterQos) -> DataWriterQos + Send;

struct Publication {
    name: String,
    writer: DataWriter<Serialized>,
    /// Dropping it would end it.
    echo: Option<DataReader<Serialized>>,
}

/// Waits for a listener that is still at it: it holds the participant, which would not have left the
/// domain if the program ended now.
impl Drop for Publication {
    fn drop(&mut self) {
        if let Some(echo) = &self.echo {
            echo.remove_listener();
        }
    }
}

impl<I: FnMut() -> Result<(), ReceiveError>> Publications<I> {
    /// Writers for the topics that `mapper` has by now, and for others as they come, each with what
    /// `qos` makes of a topic's name and of the QoS that keeps all samples and is reliable. The echo
    /// topics are subscribed to at the same time.
    ///
    /// # Errors
    /// When a topic or an endpoint cannot be made.
    pub fn new(
        participant: DomainParticipant,
        options: PublicationOptions,
        mapper: &Mapper,
        qos: impl Fn(&str, DataWriterQos) -> DataWriterQos + Send + 'static,
        idle: I,
    ) -> Result<Self, PublicationError> {
        let types = mapper.types().iter();
        let mut publications = Self {
            publisher: participant.publisher(PublisherQos::default()),
            participant,
            options,
            qos: Box::new(qos),
            types: types
                .map(|ty| DynamicType::described(ty.description().clone()))
                .collect(),
            publications: Vec::new(),
            round_trips: Arc::new(RoundTrips::new(mapper)),
            counters: PublicationCounters::default(),
            idle,
            until_idle: IDLE_EVERY,
        };
        publications.add(mapper.topics())?;
        Ok(publications)
    }

    /// Waits until every topic has its subscribers and, with echoes, its echoers.
    ///
    /// # Errors
    /// [`PublicationError::NoSubscriber`] or [`PublicationError::NoEcho`] if that takes longer than
    /// `timeout`.
    pub fn wait_for_subscribers(&self, timeout: Duration) -> Result<(), PublicationError> {
        self.wait_for_subscribers_from(0, timeout)
    }

    /// Waits until all samples are acknowledged.
    ///
    /// # Errors
    /// [`PublicationError::Unacknowledged`] if that takes longer than the options' patience.
    pub fn wait_for_acknowledgments(&self) -> Result<(), PublicationError> {
        let begin = clock::now();
        let deadline = begin + self.options.patience;
        for publication in &self.publications {
            let acknowledged = publication.writer.wait_for_acknowledgments(left(deadline));
            acknowledged.map_err(|mut timeout| {
                timeout.waited = clock::now().since(begin);
                PublicationError::Unacknowledged {
                    topic: publication.name.clone(),
                    timeout,
                    reader: self.slowest_reader(publication),
                }
            })?;
        }
        Ok(())
    }

    /// Whom a topic's writer waits for longest.
    fn slowest_reader(&self, publication: &Publication) -> Option<SlowReader> {
        let writer = &publication.writer;
        let readers = writer.matched_subscriptions().into_iter();
        let lags = readers.filter_map(|reader| {
            let lag = writer.lag_of(reader.guid)?;
            Some((lag.behind, reader.guid))
        });
        let (behind, guid) = lags.max_by_key(|(behind, _)| *behind)?;
        let participants = self.participant.discovery().participants();
        let mut owners = participants.into_iter();
        Some(SlowReader {
            guid,
            behind,
            participant: owners.find(|owner| owner.guid_prefix == guid.prefix),
        })
    }

    /// Number of topics.
    pub fn topic_count(&self) -> usize {
        self.publications.len()
    }

    /// Number of topics without the one that ends the feed.
    pub fn data_topic_count(&self) -> usize {
        let done = &self.options.done;
        let publications = self.publications.iter();
        publications
            .filter(|publication| publication.name != *done)
            .count()
    }

    /// The samples that came back.
    pub fn round_trips(&self) -> &Arc<RoundTrips> {
        &self.round_trips
    }

    /// What went wrong with samples that were sent.
    pub fn counters(&self) -> &PublicationCounters {
        &self.counters
    }

    /// Participants that publish topics of the same names: subscribers take their samples for the
    /// feed's, and echo both.
    pub fn other_publishers(&self) -> Vec<Arc<ParticipantData>> {
        let own = self.participant.guid().prefix;
        let names: HashSet<&String> = self.publications.iter().map(|own| &own.name).collect();
        let discovery = self.participant.discovery();
        let mut publications = discovery.publications();
        publications.retain(|publication| names.contains(&publication.topic_name));
        let others = publications.iter().map(|other| other.guid.prefix);
        let others: HashSet<_> = others.filter(|prefix| *prefix != own).collect();
        let mut participants = discovery.participants();
        participants.retain(|participant| others.contains(&participant.guid_prefix));
        participants
    }

    /// A topic whose samples somebody wants to send back, though the options ask for none: who waits to be asked
    /// does not subscribe.
    pub fn unasked(&self) -> Option<&str> {
        if self.options.echo {
            return None;
        }
        let own = self.participant.guid().prefix;
        let mut echoes = self.participant.discovery().publications();
        echoes.retain(|echo| echo.guid.prefix != own);
        let is_sent_back = |topic: &str| {
            let echoed = |name: &str| name.strip_suffix(ECHO_SUFFIX) == Some(topic);
            echoes.iter().any(|echo| echoed(&echo.topic_name))
        };
        let mut topics = self.publications.iter().map(|own| own.name.as_str());
        topics.find(|topic| is_sent_back(topic))
    }

    fn wait_for_subscribers_from(
        &self,
        first: usize,
        timeout: Duration,
    ) -> Result<(), PublicationError> {
        let deadline = clock::now() + timeout;
        let count = self.options.subscribers;
        for publication in self.publications.iter().skip(first) {
            let topic = || publication.name.clone();
            let matched = publication.writer.wait_for_matched(count, left(deadline));
            matched.map_err(|timeout| PublicationError::NoSubscriber {
                topic: topic(),
                timeout,
            })?;
            if let Some(echo) = &publication.echo {
                let matched = echo.wait_for_matched(count, left(deadline));
                matched.map_err(|timeout| PublicationError::NoEcho {
                    topic: topic(),
                    timeout,
                })?;
            }
        }
        Ok(())
    }

    /// Makes the publications of topics that have none yet.
    fn add(&mut self, topics: &[FeedTopic]) -> Result<(), PublicationError> {
        for topic in topics.iter().skip(self.publications.len()) {
            let Some(ty) = self.types.get(topic.type_index) else {
                continue;
            };
            let echo = match self.options.echo && topic.name != self.options.done {
                true => Some(self.echo_reader(topic, ty)?),
                false => None,
            };
            let data = self
                .participant
                .topic_of::<Serialized>(&topic.name, ty.clone())?;
            // A price stays what it is when the handler that read it ends.
            let qos = DataWriterQos::default()
                .keep_all()
                .reliable(ROOM_EVERY)
                .autodispose_unregistered_instances(false);
            let qos = (self.qos)(&topic.name, qos);
            self.publications.push(Publication {
                name: topic.name.clone(),
                writer: self.participant.writer_with(&data, qos)?,
                echo,
            });
        }
        Ok(())
    }

    fn echo_reader(
        &self,
        topic: &FeedTopic,
        ty: &DynamicType,
    ) -> Result<DataReader<Serialized>, PublicationError> {
        let name = format!("{}{ECHO_SUFFIX}", topic.name);
        let echo = self.participant.topic_of::<Serialized>(&name, ty.clone())?;
        let qos = DataReaderQos::default().keep_all().reliable();
        let reader = self.participant.reader_with(&echo, qos)?;
        let round_trips = Arc::clone(&self.round_trips);
        let group = round_trips.group(&topic.template);
        reader.set_listener(move |reader: &DataReader<Serialized>| {
            let now = clock::timestamp();
            for sample in &reader.take() {
                if let Some(made) = sample.info().source_timestamp {
                    round_trips.record(group, now.since(made));
                }
            }
        });
        Ok(reader)
    }
}

impl<I: FnMut() -> Result<(), ReceiveError>> Publish for Publications<I> {
    type Error = PublicationError;
    type Batch = SuspendedPublications;

    fn begin_batch(&mut self) -> SuspendedPublications {
        self.publisher.suspend_publications()
    }

    fn publish(
        &mut self,
        topics: &[FeedTopic],
        topic: TopicIndex,
        sample: &Serialized,
    ) -> Result<(), PublicationError> {
        let known = self.publications.len();
        if topic.0 >= known {
            self.add(topics)?;
            self.wait_for_subscribers_from(known, self.options.patience)?;
        }
        self.until_idle -= 1;
        if self.until_idle == 0 {
            self.until_idle = IDLE_EVERY;
            (self.idle)().map_err(PublicationError::Idle)?;
        }
        let Some(publication) = self.publications.get(topic.0) else {
            return Ok(());
        };
        let mut blocked = None;
        let written = loop {
            match publication.writer.write(sample) {
                Ok(_) => break Ok(()),
                Err(WriteError::Timeout { waited }) => {
                    let blocked = blocked.get_or_insert_with(|| Blocked::new(waited));
                    let waited = blocked.until(clock::now());
                    if waited >= self.options.patience {
                        break Err(PublicationError::NoRoom {
                            topic: publication.name.clone(),
                            waited,
                            reader: self.slowest_reader(publication),
                        });
                    }
                    if let Err(error) = (self.idle)() {
                        break Err(PublicationError::Idle(error));
                    }
                }
                // Readers that live have the sample. They do not suffer for those to come.
                Err(error @ (WriteError::Store(_) | WriteError::Unsynced(_))) => {
                    self.counters.failed_to_keep(&publication.name, &error);
                    break Ok(());
                }
                Err(error) => {
                    let topic = publication.name.clone();
                    break Err(PublicationError::Write { topic, error });
                }
            }
        };
        if let Some(blocked) = blocked {
            self.counters.blocked += 1;
            self.counters.blocked_for += blocked.until(clock::now());
        }
        written
    }

    fn flush(&mut self) -> Result<(), PublicationError> {
        self.wait_for_acknowledgments()
    }
}

impl PublicationCounters {
    fn failed_to_keep(&mut self, topic: &str, error: &WriteError) {
        match error {
            WriteError::Store(_) => self.not_stored += 1,
            _ => self.not_synced += 1,
        }
        self.first_not_stored
            .get_or_insert_with(|| format!("topic {topic}: {error}"));
    }
}

/// Why publishing ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum PublicationError {
    /// A topic could not be made.
    Topic(TopicError),
    /// A writer or an echo reader could not be made.
    Endpoint(EndpointError),
    /// A topic did not get its subscribers in time.
    NoSubscriber {
        /// The topic.
        topic: String,
        /// How long was waited.
        timeout: Timeout,
    },
    /// A topic has its subscribers, but not as many send its samples back.
    NoEcho {
        /// The topic.
        topic: String,
        /// How long was waited.
        timeout: Timeout,
    },
    /// A sample was not written.
    Write {
        /// The topic.
        topic: String,
        /// Why.
        error: WriteError,
    },
    /// Readers made no room for a sample in time.
    NoRoom {
        /// The topic.
        topic: String,
        /// How long was waited.
        waited: Duration,
        /// Who is furthest behind.
        reader: Option<SlowReader>,
    },
    /// Samples were not acknowledged in time.
    Unacknowledged {
        /// The topic.
        topic: String,
        /// How long was waited.
        timeout: Timeout,
        /// Who is furthest behind.
        reader: Option<SlowReader>,
    },
    /// The feed's sockets do not work.
    Idle(ReceiveError),
}

impl fmt::Display for PublicationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topic(error) => error.fmt(f),
            Self::Endpoint(error) => error.fmt(f),
            Self::NoSubscriber { topic, timeout } => {
                write!(f, "topic {topic} has too few subscribers: {timeout}")
            }
            Self::NoEcho { topic, timeout } => write!(
                f,
                "topic {topic} has subscribers, but too few send its samples back on {topic}{ECHO_SUFFIX}: {timeout}"
            ),
            Self::Write { topic, error } => write!(f, "topic {topic}: {error}"),
            Self::NoRoom {
                topic,
                waited,
                reader,
            } => {
                write!(
                    f,
                    "topic {topic}: readers made no room for a sample after {waited:.1?}"
                )?;
                reader.iter().try_for_each(|reader| write!(f, ": {reader}"))
            }
            Self::Unacknowledged {
                topic,
                timeout,
                reader,
            } => {
                write!(f, "topic {topic}: {timeout}")?;
                reader.iter().try_for_each(|reader| write!(f, ": {reader}"))
            }
            Self::Idle(error) => error.fmt(f),
        }
    }
}

/// The name comes from the network: it is shown with escapes.
impl fmt::Display for SlowReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the reader {}", self.guid)?;
        if let Some(participant) = &self.participant {
            write!(f, " of {:?}", participant.entity_name)?;
        }
        write!(f, " is {} behind", self.behind)
    }
}

impl std::error::Error for PublicationError {}

impl From<TopicError> for PublicationError {
    fn from(error: TopicError) -> Self {
        Self::Topic(error)
    }
}

impl From<EndpointError> for PublicationError {
    fn from(error: EndpointError) -> Self {
        Self::Endpoint(error)
    }
}

fn left(deadline: Instant) -> Duration {
    deadline.since(clock::now())
}

/// A write that waits for room.
struct Blocked {
    /// When it was first known, and how long it had waited by then.
    since: Instant,
    before: Duration,
}

impl Blocked {
    fn new(before: Duration) -> Self {
        let since = clock::now();
        Self { since, before }
    }

    fn until(&self, now: Instant) -> Duration {
        self.before + now.since(self.since)
    }
}

/// How long a write waits for room before `idle` is called.
const ROOM_EVERY: Duration = Duration::from_millis(2);

/// Samples between calls of `idle`.
const IDLE_EVERY: u32 = 32;
