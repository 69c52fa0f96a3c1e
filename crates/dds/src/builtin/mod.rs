//! The built-in topics (DDS 1.4 §2.2.5): what discovery finds, as samples. Their readers are ordinary
//! ones that discovery's events feed; nothing of this is on the network.

mod data;

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use tickwire_rtps::discovery::{
    Discovery, DiscoveryLimits, EndpointData, Event, LostReason, ParticipantData, Role,
};
use tickwire_rtps::wire::{EntityId, Guid};

pub(crate) use data::topic_key;
pub use data::{
    ParticipantBuiltinTopicData, PublicationBuiltinTopicData, SubscriptionBuiltinTopicData,
    TopicBuiltinTopicData,
};

use crate::DataReader;
use crate::endpoints;
use crate::group_listener::SubscriberListener;
use crate::lifeline::Lifeline;
use crate::qos::{DataReaderQos, GroupQos, Presentation, PresentationScope, ResourceLimits};
use crate::reader::WeakDataReader;
use crate::reader::shared::ReaderShared;
use crate::signal::lock;
use crate::status::StatusMask;
use crate::subscriber::{Access, Subscriber, SubscriberShared};
use crate::topic::Topic;
use crate::wait_set::Condition;
use data::{BuiltinTopicData, BuiltinType};

/// The readers of the built-in topics (`get_builtin_subscriber`; DDS 1.4 §2.2.2.2.1.10): the other
/// participants of the domain, their topics, writers and readers, but not one's own.
///
/// A reader is made when it is first asked for, and is the same as long as somebody has it. It starts
/// with all that is known, and costs a copy of that; without it nothing is kept. An instance that its
/// participant has taken back is `Disposed`; one whose participant has fallen silent or is ignored has
/// `NoWriters`, and so has a topic without endpoints. The QoS is the standard's: reliable,
/// TRANSIENT_LOCAL, the last sample of each instance. Beyond twice as many instances as the limits of
/// discovery allow, those that have ended are forgotten, though nobody took them.
///
/// ```no_run
/// # use std::time::Duration;
/// # use tickwire::{DomainParticipant, InstanceState};
/// let participant = DomainParticipant::new(0)?;
/// let publications = participant.builtin_subscriber().publications();
/// publications.wait_for_data(Duration::from_secs(5))?;
/// for sample in publications.take().iter() {
///     match sample.data() {
///         Some(writer) => println!("{} on {}", writer.key, writer.topic_name),
///         None => println!("{:?} is gone", sample.info().instance),
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Query conditions can ask for `topic_name` and `type_name` (of topics `name`), and for octets of keys.
#[derive(Clone)]
pub struct BuiltinSubscriber {
    lifeline: Arc<Lifeline>,
    subscriber: Subscriber,
}

impl BuiltinSubscriber {
    pub(crate) fn new(lifeline: &Arc<Lifeline>) -> Self {
        let core = &lifeline.core;
        let shared = core.builtin.subscriber.get_or_init(|| {
            let qos = GroupQos::default().presentation(Presentation {
                access_scope: PresentationScope::Topic,
                ..Presentation::default()
            });
            Arc::new(SubscriberShared::new(core, qos))
        });
        Self {
            subscriber: Subscriber::from_parts(Arc::clone(lifeline), Arc::clone(shared)),
            lifeline: Arc::clone(lifeline),
        }
    }

    /// `DCPSParticipant`: the other participants. A rendezvous, which takes no part, is not among them;
    /// [`discovery`](crate::DomainParticipant::discovery) has it.
    pub fn participants(&self) -> DataReader<ParticipantBuiltinTopicData> {
        self.reader(|all| &all.participants)
    }

    /// `DCPSTopic`: the topics that the others have writers or readers of.
    pub fn topics(&self) -> DataReader<TopicBuiltinTopicData> {
        self.reader(|all| &all.topics)
    }

    /// `DCPSPublication`: the writers of the others.
    pub fn publications(&self) -> DataReader<PublicationBuiltinTopicData> {
        self.reader(|all| &all.publications)
    }

    /// `DCPSSubscription`: the readers of the others.
    pub fn subscriptions(&self) -> DataReader<SubscriptionBuiltinTopicData> {
        self.reader(|all| &all.subscriptions)
    }

    /// [`StatusMask::DATA_ON_READERS`] if data has come to any of the four since one was read.
    pub fn status_changes(&self) -> StatusMask {
        self.subscriber.status_changes()
    }

    /// A condition that holds while one of these statuses has changed.
    pub fn status_condition(&self, mask: StatusMask) -> Condition {
        self.subscriber.status_condition(mask)
    }

    /// As [`Subscriber::set_listener`], for the four.
    pub fn set_listener(&self, listener: impl SubscriberListener) {
        self.subscriber.set_listener(listener);
    }

    /// As [`Subscriber::set_listener_for`], for the four.
    pub fn set_listener_for(&self, mask: StatusMask, listener: impl SubscriberListener) {
        self.subscriber.set_listener_for(mask, listener);
    }

    /// As [`Subscriber::remove_listener`].
    pub fn remove_listener(&self) {
        self.subscriber.remove_listener();
    }

    /// As [`Subscriber::notify_datareaders`].
    pub fn notify_datareaders(&self) {
        self.subscriber.notify_datareaders();
    }

    /// As [`Subscriber::begin_access`].
    pub fn begin_access(&self) -> Access {
        self.subscriber.begin_access()
    }

    fn reader<T: Known>(&self, slot: fn(&BuiltinTopics) -> &Slot<T>) -> DataReader<T> {
        let core = &self.lifeline.core;
        let slot = slot(&core.builtin);
        let known = lock(slot).reader.upgrade();
        if let Some(known) = known {
            return known;
        }
        let topic = Topic::unregistered(T::TOPIC_NAME, BuiltinType(()));
        let qos = reader_qos(core.view(|discovery| T::most(discovery.limits())));
        let reader = endpoints::fed_reader(&self.lifeline, topic, qos, &self.subscriber);
        // Under discovery's lock, lest an event pass it by.
        core.view(|discovery| {
            let mut slot = lock(slot);
            if let Some(other) = slot.reader.upgrade() {
                return other;
            }
            *slot = Fed {
                reader: reader.downgrade(),
                shared: Arc::downgrade(reader.shared()),
            };
            T::tell_known(reader.shared(), discovery);
            reader.clone()
        })
    }
}

impl fmt::Debug for BuiltinSubscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltinSubscriber").finish_non_exhaustive()
    }
}

/// The built-in readers of a participant, as far as the application has them. Locked under
/// discovery's lock, or for an instant.
#[derive(Default)]
pub(crate) struct BuiltinTopics {
    subscriber: OnceLock<Arc<SubscriberShared>>,
    participants: Slot<ParticipantBuiltinTopicData>,
    topics: Slot<TopicBuiltinTopicData>,
    publications: Slot<PublicationBuiltinTopicData>,
    subscriptions: Slot<SubscriptionBuiltinTopicData>,
    /// Readers made so far.
    made: AtomicU32,
}

type Slot<T> = Mutex<Fed<T>>;

/// A reader that may have ended. Under discovery's lock only `shared` may be held: the end of the reader
/// itself takes that lock.
struct Fed<T: BuiltinTopicData> {
    reader: WeakDataReader<T>,
    shared: Weak<ReaderShared<T>>,
}

impl<T: BuiltinTopicData> Default for Fed<T> {
    fn default() -> Self {
        Self {
            reader: WeakDataReader::default(),
            shared: Weak::new(),
        }
    }
}

impl BuiltinTopics {
    /// The name of another reader. It is not that of the one before, whose end may be under way.
    pub(crate) fn next_entity(&self) -> EntityId {
        EntityId::vendor_reader(self.made.fetch_add(1, Ordering::Relaxed))
    }

    /// Has the readers take over what has happened. To be called under discovery's lock.
    pub(crate) fn follow(&self, event: &Event) {
        match event {
            Event::ParticipantFound(data) | Event::ParticipantChanged(data) => {
                tell(&self.participants, |reader| tell_participant(reader, data));
            }
            Event::ParticipantLost { prefix, reason } => tell(&self.participants, |reader| {
                let guid = Guid::new(*prefix, EntityId::PARTICIPANT);
                reader.feed_end(announcer(guid), guid.into(), *reason == LostReason::Left);
            }),
            Event::EndpointFound(data) => {
                match data.role {
                    Role::Writer => tell(&self.publications, |reader| tell_writer(reader, data)),
                    Role::Reader => tell(&self.subscriptions, |reader| tell_reader(reader, data)),
                }
                tell(&self.topics, |reader| tell_topic(reader, data));
            }
            Event::EndpointLost { endpoint, reason } => self.end_endpoint(endpoint, *reason),
            _ => {}
        }
    }

    fn end_endpoint(&self, data: &EndpointData, reason: LostReason) {
        let (guid, is_disposed) = (data.guid, reason == LostReason::Left);
        let (source, instance) = (announcer(guid), guid.into());
        match data.role {
            Role::Writer => tell(&self.publications, |reader| {
                reader.feed_end(source, instance, is_disposed);
            }),
            Role::Reader => tell(&self.subscriptions, |reader| {
                reader.feed_end(source, instance, is_disposed);
            }),
        }
        tell(&self.topics, |reader| {
            reader.feed_end(guid, topic_key(data), false);
        });
    }
}

fn tell<T: BuiltinTopicData>(slot: &Slot<T>, tell: impl FnOnce(&ReaderShared<T>)) {
    let shared = lock(slot).shared.upgrade();
    if let Some(shared) = shared {
        tell(&shared);
    }
}

/// A rendezvous takes no part in the domain.
fn tell_participant(reader: &ReaderShared<ParticipantBuiltinTopicData>, data: &ParticipantData) {
    if data.is_rendezvous() {
        return;
    }
    let guid = data.guid();
    let value = ParticipantBuiltinTopicData::new(data);
    reader.feed(announcer(guid), guid.into(), value);
}

fn tell_writer(reader: &ReaderShared<PublicationBuiltinTopicData>, data: &EndpointData) {
    let value = PublicationBuiltinTopicData::new(data);
    reader.feed(announcer(data.guid), data.guid.into(), value);
}

fn tell_reader(reader: &ReaderShared<SubscriptionBuiltinTopicData>, data: &EndpointData) {
    let value = SubscriptionBuiltinTopicData::new(data);
    reader.feed(announcer(data.guid), data.guid.into(), value);
}

/// A topic lives as long as one of its endpoints says so.
fn tell_topic(reader: &ReaderShared<TopicBuiltinTopicData>, data: &EndpointData) {
    let topic = || TopicBuiltinTopicData::new(data);
    reader.feed_once(data.guid, topic_key(data), topic);
}

/// The built-in writer that speaks of an entity.
fn announcer(guid: Guid) -> Guid {
    let entity = match guid.entity {
        EntityId::PARTICIPANT => EntityId::SPDP_WRITER,
        entity if entity.is_writer() => EntityId::PUBLICATIONS_WRITER,
        _ => EntityId::SUBSCRIPTIONS_WRITER,
    };
    Guid::new(guid.prefix, entity)
}

/// What discovery knows already.
trait Known: BuiltinTopicData {
    fn tell_known(reader: &ReaderShared<Self>, discovery: &Discovery);

    /// How many there can be at once.
    fn most(limits: &DiscoveryLimits) -> usize {
        limits.max_endpoints
    }
}

impl Known for ParticipantBuiltinTopicData {
    fn tell_known(reader: &ReaderShared<Self>, discovery: &Discovery) {
        let participants = discovery.participants();
        participants.for_each(|data| tell_participant(reader, data));
    }

    fn most(limits: &DiscoveryLimits) -> usize {
        limits.max_participants
    }
}

impl Known for TopicBuiltinTopicData {
    fn tell_known(reader: &ReaderShared<Self>, discovery: &Discovery) {
        of_others(discovery).for_each(|data| tell_topic(reader, data));
    }
}

impl Known for PublicationBuiltinTopicData {
    fn tell_known(reader: &ReaderShared<Self>, discovery: &Discovery) {
        let writers = of_others(discovery).filter(|data| data.role == Role::Writer);
        writers.for_each(|data| tell_writer(reader, data));
    }
}

impl Known for SubscriptionBuiltinTopicData {
    fn tell_known(reader: &ReaderShared<Self>, discovery: &Discovery) {
        let readers = of_others(discovery).filter(|data| data.role == Role::Reader);
        readers.for_each(|data| tell_reader(reader, data));
    }
}

/// The endpoints of other participants.
pub(crate) fn of_others(discovery: &Discovery) -> impl Iterator<Item = &Arc<EndpointData>> {
    let own = discovery.participant().guid_prefix;
    let endpoints = discovery.endpoints();
    endpoints.filter(move |data| data.guid.prefix != own)
}

/// The standard's, with a bound. Half of it is for what has ended.
fn reader_qos(most: usize) -> DataReaderQos {
    let max_instances = u32::try_from(most.saturating_mul(2)).ok();
    DataReaderQos::default()
        .reliable()
        .transient_local()
        .resource_limits(ResourceLimits {
            max_instances,
            ..ResourceLimits::default()
        })
}

#[cfg(test)]
mod tests;
