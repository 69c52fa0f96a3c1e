//! The subscriber's side of the round trip: takes samples of topics that it finds, and sends each
//! back on the topic's echo with the time at which it was made. Knows nothing of what is in them.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tickwire::cdr::KeyHash;
use tickwire::error::{EndpointError, Timeout, TopicError, WriteError};
use tickwire::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, DynamicType,
    EndpointData, PublisherQos, SampleInfo, Serialized, TopicSupport,
};

use crate::publications::ECHO_SUFFIX;

/// Which topics are subscribed to, and what happens to their samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EchoOptions {
    /// Names, or beginnings of names followed by `*`. Default all but echoes.
    pub topics: Vec<String>,
    /// Whether samples are sent back. Default yes.
    pub echo: bool,
    /// What to pause between samples, so that echoing does not take the processor from others.
    /// Default nothing.
    pub pause: Duration,
    /// The topic whose first sample says that there will be no more. Default `Done`.
    pub done: String,
    /// How long to wait for an echo's reader or its room. Default 10 s.
    pub patience: Duration,
}

impl Default for EchoOptions {
    fn default() -> Self {
        Self {
            topics: Vec::new(),
            echo: true,
            pause: Duration::ZERO,
            done: "Done".to_owned(),
            patience: Duration::from_secs(10),
        }
    }
}

/// What has been received and sent back, Done included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EchoCounters {
    /// Samples received, of the topic that ends the feed apart.
    pub received: u64,
    /// Samples sent back.
    pub echoed: u64,
    /// Samples that could not be sent back.
    pub failed: u64,
    /// Why, for the first of them.
    pub first_failure: Option<WriteError>,
    /// Samples of the topic that ends the feed.
    pub done: u64,
}

/// Subscribes to topics as it finds them.
pub struct Echo {
    participant: DomainParticipant,
    options: EchoOptions,
    qos: Box<ReaderQos>,
    /// Names of the topics found.
    seen: HashSet<String>,
    subscriptions: Vec<Subscription>,
    shared: Arc<Shared>,
}

/// The QoS of a topic's reader, from that which keeps all samples and is reliable.
type ReaderQos = dyn Fn(&str, DataReaderQos) -> DataReaderQos + Send;

struct Subscription {
    topic: String,
    reader: DataReader<Serialized>,
    echo: Option<DataWriter<Serialized>>,
}

#[derive(Default)]
struct Shared {
    counters: Mutex<EchoCounters>,
    changed: Condvar,
}

impl Echo {
    /// An echo of a participant's domain; it hears nothing before [`Self::find_topics`].
    pub fn new(participant: DomainParticipant, options: EchoOptions) -> Self {
        Self {
            participant,
            options,
            qos: Box::new(|_, qos| qos),
            seen: HashSet::new(),
            subscriptions: Vec::new(),
            shared: Arc::default(),
        }
    }

    /// The same, whose readers have what `qos` makes of a topic's name and of the QoS that keeps all
    /// samples and is reliable.
    #[must_use]
    pub fn reader_qos(
        mut self,
        qos: impl Fn(&str, DataReaderQos) -> DataReaderQos + Send + 'static,
    ) -> Self {
        self.qos = Box::new(qos);
        self
    }

    /// Subscribes to the wanted topics that others publish by now and that are new, and says how many
    /// there are. The echo is matched before the subscription, so that no sample comes too early.
    ///
    /// # Errors
    /// When a topic or an endpoint cannot be made, or an echo finds no reader in time.
    pub fn find_topics(&mut self) -> Result<usize, EchoError> {
        let own = self.participant.guid().prefix;
        let mut found: Vec<Arc<EndpointData>> = self.participant.discovery().publications();
        found.retain(|publication| {
            publication.guid.prefix != own
                && self.wants(&publication.topic_name)
                && self.seen.insert(publication.topic_name.clone())
        });
        let mut echoes = Vec::new();
        for publication in &found {
            echoes.push(self.echo_writer(publication)?);
        }
        for (publication, echo) in found.iter().zip(echoes) {
            if let Some(writer) = &echo {
                writer
                    .wait_for_matched(1, self.options.patience)
                    .map_err(|timeout| EchoError::NoReader {
                        topic: publication.topic_name.clone(),
                        timeout,
                    })?;
            }
            self.subscribe(publication, echo)?;
        }
        Ok(found.len())
    }

    /// Topics subscribed to, without the one that ends the feed.
    pub fn topic_count(&self) -> usize {
        let topics = self.subscriptions.iter();
        topics
            .filter(|subscription| subscription.topic != self.options.done)
            .count()
    }

    /// A topic whose publisher reads its echoes, though the options say to send none: a feed handler that
    /// expects them.
    pub fn unanswered(&self) -> Option<String> {
        if self.options.echo {
            return None;
        }
        let discovery = self.participant.discovery();
        let publications = discovery.publications();
        let is_expected = |reader: &EndpointData, topic: &str| {
            let mut writers = publications.iter();
            self.seen.contains(topic)
                && writers.any(|writer| {
                    writer.guid.prefix == reader.guid.prefix && writer.topic_name == topic
                })
        };
        discovery.subscriptions().iter().find_map(|reader| {
            let topic = reader.topic_name.strip_suffix(ECHO_SUFFIX)?;
            is_expected(reader, topic).then(|| topic.to_owned())
        })
    }

    /// What has been received so far.
    pub fn counters(&self) -> EchoCounters {
        lock(&self.shared.counters).clone()
    }

    /// Waits until the feed has ended, for `timeout` at most; says whether it has.
    pub fn wait_for_done(&self, timeout: Duration) -> bool {
        let counters = lock(&self.shared.counters);
        let waited = self
            .shared
            .changed
            .wait_timeout_while(counters, timeout, |counters| counters.done == 0);
        waited.unwrap_or_else(PoisonError::into_inner).0.done > 0
    }

    /// Waits until all echoes are acknowledged.
    ///
    /// # Errors
    /// [`EchoError::Unacknowledged`] if one takes longer than the options' patience.
    pub fn finish(&self) -> Result<(), EchoError> {
        for subscription in &self.subscriptions {
            let Some(echo) = &subscription.echo else {
                continue;
            };
            let acknowledged = echo.wait_for_acknowledgments(self.options.patience);
            acknowledged.map_err(|timeout| EchoError::Unacknowledged {
                topic: subscription.topic.clone(),
                timeout,
            })?;
        }
        Ok(())
    }

    fn wants(&self, topic: &str) -> bool {
        let is_named = |pattern: &String| match pattern.strip_suffix('*') {
            Some(beginning) => topic.starts_with(beginning),
            None => topic == pattern,
        };
        let topics = &self.options.topics;
        !topic.ends_with(ECHO_SUFFIX)
            && (topics.is_empty() || topic == self.options.done || topics.iter().any(is_named))
    }

    /// The writer of a topic's echo, in the representation that the topic's samples have.
    fn echo_writer(
        &self,
        publication: &EndpointData,
    ) -> Result<Option<DataWriter<Serialized>>, EchoError> {
        if !self.options.echo || publication.topic_name == self.options.done {
            return Ok(None);
        }
        let name = format!("{}{ECHO_SUFFIX}", publication.topic_name);
        let topic = self
            .participant
            .topic_of::<Serialized>(&name, opaque(publication))?;
        let offered = publication.qos.data_representation.iter().copied();
        // Echoes are counted: nothing is to follow them.
        let mut qos = DataWriterQos::default()
            .keep_all()
            .reliable(self.options.patience)
            .autodispose_unregistered_instances(false);
        if offered.len() > 0 {
            qos = qos.representation(offered);
        }
        Ok(Some(self.participant.writer_with(&topic, qos)?))
    }

    fn subscribe(
        &mut self,
        publication: &EndpointData,
        echo: Option<DataWriter<Serialized>>,
    ) -> Result<(), EchoError> {
        let name = &publication.topic_name;
        let topic = self
            .participant
            .topic_of::<Serialized>(name, opaque(publication))?;
        let qos = (self.qos)(name, DataReaderQos::default().keep_all().reliable());
        let reader = self.participant.reader_with(&topic, qos)?;
        let is_done = *name == self.options.done;
        let pause = self.options.pause;
        let shared = Arc::clone(&self.shared);
        let writer = echo.clone();
        let publisher = self.participant.publisher(PublisherQos::default());
        reader.set_listener(move |reader: &DataReader<Serialized>| {
            let _batch = pause.is_zero().then(|| publisher.suspend_publications());
            for sample in &reader.take() {
                if let Some(data) = sample.data() {
                    let info = sample.info();
                    let echoed = writer.as_ref().map(|writer| send_back(writer, data, info));
                    shared.count(is_done, echoed);
                    if !pause.is_zero() {
                        #[expect(clippy::disallowed_methods, reason = "the pause was asked for")]
                        thread::sleep(pause);
                    }
                }
            }
        });
        self.subscriptions.push(Subscription {
            topic: name.clone(),
            reader,
            echo,
        });
        Ok(())
    }
}

/// Waits for listeners that are still at it: they hold the participant, which would not have left
/// the domain if the program ended now.
impl Drop for Echo {
    fn drop(&mut self) {
        for subscription in &self.subscriptions {
            subscription.reader.remove_listener();
        }
    }
}

impl Shared {
    fn count(&self, is_done: bool, echoed: Option<Result<(), WriteError>>) {
        let mut counters = lock(&self.counters);
        match echoed {
            Some(Ok(())) => counters.echoed += 1,
            Some(Err(error)) => {
                counters.failed += 1;
                counters.first_failure.get_or_insert(error);
            }
            None => {}
        }
        if is_done {
            counters.done += 1;
            self.changed.notify_all();
        } else {
            counters.received += 1;
        }
    }
}

/// A sample of a keyed topic is copied: its instance, which only the writer's type tells, goes along.
fn send_back(
    writer: &DataWriter<Serialized>,
    sample: &Serialized,
    info: &SampleInfo,
) -> Result<(), WriteError> {
    let mut copy = None;
    if writer.guid().entity.is_keyed() {
        let keyed = copy.insert(sample.clone());
        keyed.set_key_hash(Some(KeyHash(info.instance.0)));
    }
    let sample = copy.as_ref().unwrap_or(sample);
    let written = match info.source_timestamp {
        Some(made) => writer.write_with_timestamp(sample, made),
        None => writer.write(sample),
    };
    written.map(drop)
}

/// What discovery tells of a topic's type.
fn opaque(publication: &EndpointData) -> <Serialized as TopicSupport>::Type {
    let has_key = publication.guid.entity.is_keyed();
    DynamicType::opaque(&publication.type_name, has_key)
}

/// Why the echo ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum EchoError {
    /// A topic could not be made.
    Topic(TopicError),
    /// A reader or an echo writer could not be made.
    Endpoint(EndpointError),
    /// Nobody reads a topic's echo.
    NoReader {
        /// The topic.
        topic: String,
        /// How long was waited.
        timeout: Timeout,
    },
    /// Echoes were not acknowledged in time.
    Unacknowledged {
        /// The topic.
        topic: String,
        /// How long was waited.
        timeout: Timeout,
    },
}

impl fmt::Display for EchoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topic(error) => error.fmt(f),
            Self::Endpoint(error) => error.fmt(f),
            Self::NoReader { topic, timeout } => {
                write!(f, "nobody reads the echo of topic {topic:?}: {timeout}")
            }
            Self::Unacknowledged { topic, timeout } => {
                write!(f, "the echo of topic {topic:?}: {timeout}")
            }
        }
    }
}

impl std::error::Error for EchoError {}

impl From<TopicError> for EchoError {
    fn from(error: TopicError) -> Self {
        Self::Topic(error)
    }
}

impl From<EndpointError> for EchoError {
    fn from(error: EndpointError) -> Self {
        Self::Endpoint(error)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
