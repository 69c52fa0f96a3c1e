//! A reader's machine and cache behind their lock.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hashbrown::HashMap;
use tickwire_base::{Instant, Timestamp};
use tickwire_cdr::filter::Filter;
use tickwire_rtps::Outbox;
use tickwire_rtps::discovery::EndpointData;
use tickwire_rtps::qos::{
    DestinationOrder, Durability, EndpointQos, History, Ownership, PresentationScope,
    RepresentationId, Verdict,
};
use tickwire_rtps::reader::{Reader, ReaderConfig, WriterProxy};
use tickwire_rtps::wire::{Context, Guid, SequenceNumber, Submessage};
use tickwire_transport::clock;

use super::cache::{CachePolicy, Order, WriterPolicy};
use super::coherent::GroupInbox;
use super::collect::{Accepts, Query, SortBy};
use super::inbox::Inbox;
use super::info::StateMask;
use super::query_condition::Matcher;
use super::room::Room;
use super::sample::Sample;
use super::status::ReaderStatuses;
use crate::core::Core;
use crate::deadline::DeadlineTracker;
use crate::listeners::Listeners;
use crate::outgoing::Scratch;
use crate::signal::{Observers, lock};
use crate::status::StatusMask;
use crate::subscriber::SubscriberGroup;
use crate::timer::Due;
use crate::type_support::TopicSupport;

/// A submessage for a reader, and when it came.
pub(crate) struct Received<'a> {
    pub(crate) now: Instant,
    pub(crate) timestamp: Timestamp,
    pub(crate) context: &'a Context<'a>,
    pub(crate) submessage: &'a Submessage<'a>,
}

/// A reader as the participant's threads see it, whatever the type of its samples.
pub(crate) trait ReaderEndpoint: Send + Sync {
    fn guid(&self) -> Guid;

    /// Takes a submessage; says whether the listener has something to hear.
    fn receive(&self, received: &Received<'_>, outbox: &mut Outbox) -> bool;

    /// A writer matches; says whether the listener has something to hear.
    fn match_writer(
        &self,
        now: Instant,
        proxy: WriterProxy,
        writer: &EndpointData,
        outbox: &mut Outbox,
    ) -> bool;

    /// A writer is gone; says whether the listener has something to hear.
    fn unmatch_writer(&self, writer: Guid) -> bool;

    /// A writer does not match; says whether the listener has something to hear.
    fn incompatible(&self, writer: Guid, verdict: Arc<Verdict>) -> bool;

    /// A matched writer has fallen silent or is back; says whether the listener has something to
    /// hear.
    fn liveliness_changed(&self, writer: Guid, is_alive: bool) -> bool;

    /// When [`handle_timeout`](Self::handle_timeout) is to be called.
    fn due(&self) -> Instant;

    /// Does what is due; says whether the listener has something to hear.
    fn handle_timeout(&self, now: Instant, outbox: &mut Outbox) -> bool;

    /// Whether samples never make room for each other, so that the listener may be told of several
    /// together.
    fn keeps_all(&self) -> bool;

    /// Tells the listener.
    fn call_listener(&self);

    fn topic_name(&self) -> &str;

    /// Tells its own listener of data, if there is any that was not read.
    fn notify(&self);

    /// Reads a status, which clears its change.
    fn read_status(&self, mask: StatusMask, read: &mut dyn FnMut(&mut ReaderStatuses));

    /// Lists its samples in these states for [`Access::datareaders`](crate::Access::datareaders).
    fn list(&self, mask: StateMask, samples: &mut Vec<Listed>);

    /// Whether there is room for its parts in a set of a publisher.
    fn room_for_set(&self, publisher: Guid, set: SequenceNumber) -> Room;

    /// Shows or discards its parts in a set of a publisher.
    fn decide(&self, publisher: Guid, set: SequenceNumber, is_whole: bool);
}

/// A sample among those of all readers of a subscriber.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    pub(crate) reader: Guid,
    pub(crate) publisher: Guid,
    pub(crate) group_number: SequenceNumber,
    pub(crate) made: Timestamp,
}

/// What the participant's threads and the application share of a reader.
pub(crate) struct ReaderShared<T: TopicSupport> {
    pub(crate) core: Arc<Core>,
    pub(crate) guid: Guid,
    pub(crate) listeners: Listeners,
    topic_name: String,
    pub(crate) observers: Observers,
    keeps_all: bool,
    /// Who decides when sets of several readers are whole; only with GROUP scope.
    subscriber: Option<Arc<SubscriberGroup>>,
    state: Mutex<ReaderState<T>>,
    due: Due,
    changes: AtomicU32,
}

pub(super) struct ReaderState<T: TopicSupport> {
    pub(super) machine: Reader,
    pub(super) inbox: Inbox<T>,
    /// Whether each matched writer is alive.
    writers: HashMap<Guid, bool>,
    /// Collections that came back empty, to be filled again.
    spare: Vec<Vec<Sample<T>>>,
}

impl<T: TopicSupport> ReaderShared<T> {
    pub(crate) fn new(
        core: Arc<Core>,
        guid: Guid,
        topic_name: String,
        ty: T::Type,
        filter: Option<Filter>,
        policies: &EndpointQos,
    ) -> Self {
        let presentation = &policies.presentation;
        let config = ReaderConfig {
            reliable: policies.is_reliable(),
            coherent: presentation.coherent_access,
            originals: policies.durability >= Durability::TransientLocal,
            places: presentation.access_scope == PresentationScope::Group,
            limits: core.reader_limits.clone(),
            ..ReaderConfig::new(guid)
        };
        let state = ReaderState {
            machine: Reader::new(config),
            inbox: Inbox::new(ty, filter, cache_policy(policies), policies.deadline),
            writers: HashMap::new(),
            spare: Vec::new(),
        };
        Self {
            guid,
            listeners: Listeners::new(vec![Arc::clone(&core.listener)]),
            core,
            topic_name,
            observers: Observers::default(),
            keeps_all: keeps_all(policies),
            subscriber: None,
            state: Mutex::new(state),
            due: Due::default(),
            changes: AtomicU32::new(0),
        }
    }

    /// Leaves it to the subscriber when sets of several readers are whole, if it has such.
    pub(crate) fn in_group(mut self, subscriber: &Arc<SubscriberGroup>) -> Self {
        let above = vec![
            Arc::clone(&subscriber.listener),
            Arc::clone(&self.core.listener),
        ];
        self.listeners = Listeners::new(above);
        if subscriber.decides() {
            let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
            state.inbox.group = Some(GroupInbox::default());
            self.subscriber = Some(Arc::clone(subscriber));
        }
        self
    }

    /// Takes over what may change of the QoS.
    pub(super) fn change(&self, policies: &EndpointQos) {
        let has_news = self.update(|state| {
            let inbox = &mut state.inbox;
            inbox.now = clock::now();
            DeadlineTracker::change(&mut inbox.deadline, inbox.now, policies.deadline);
            inbox.change_separation(policies.time_based_filter)
        });
        if has_news {
            self.core.call_listener_later(self.guid.entity);
        }
    }

    /// Reads or takes what the query is after.
    pub(super) fn collect(
        &self,
        query: &Query,
        matcher: Option<&Matcher<T>>,
        take: bool,
    ) -> Vec<Sample<T>> {
        let accepts = |value: &T| matcher.is_none_or(|matcher| matcher.accepts(value));
        let accepts: Option<Accepts<'_, T>> = matcher.is_some().then_some(&accepts);
        let sort_key = |value: &T| matcher.and_then(|matcher| matcher.sort_key(value));
        let is_ordered = matcher.is_some_and(|matcher| matcher.is_ordered);
        let order: Option<SortBy<'_, T>> = is_ordered.then_some(&sort_key);
        let mut state = lock(&self.state);
        // Cleared under the lock: what arrives later is news again.
        self.clear(StatusMask::DATA_AVAILABLE);
        let mut samples = state.spare.pop().unwrap_or_default();
        state
            .inbox
            .cache
            .collect(query, accepts, order, take, clock::now(), &mut samples);
        let has_room = take && state.inbox.is_stalled && !samples.is_empty();
        drop(state);
        if has_room {
            self.resume(clock::timestamp());
        }
        if let Some(subscriber) = self.subscriber.as_ref().filter(|_| take) {
            subscriber.release();
        }
        samples
    }

    /// Takes what was refused before.
    fn resume(&self, timestamp: Timestamp) {
        Scratch::lend(|scratch| {
            let outbox = &mut scratch.outbox;
            let has_news = self.update(|state| {
                let ReaderState { machine, inbox, .. } = state;
                inbox.is_stalled = false;
                inbox.now = clock::now();
                inbox.timestamp = timestamp;
                machine.resume(inbox.now, inbox, outbox);
                StatusMask::NONE
            });
            self.core.send_user(outbox);
            if has_news {
                self.core.call_listener_later(self.guid.entity);
            }
        });
    }

    /// Takes back what [`collect`](Self::collect) returned.
    pub(super) fn give_back(&self, mut samples: Vec<Sample<T>>) {
        if samples.capacity() == 0 {
            return;
        }
        let mut state = lock(&self.state);
        for value in samples.drain(..).filter_map(|sample| sample.value) {
            state.inbox.cache.recycle(value);
        }
        if state.spare.len() < MAX_SPARE {
            state.spare.push(samples);
        }
    }

    /// Whether there are samples in these states.
    pub(crate) fn has(&self, mask: StateMask) -> bool {
        self.has_accepted(mask, None)
    }

    /// Whether there are samples that the matcher is after.
    pub(super) fn has_matching(&self, matcher: &Matcher<T>) -> bool {
        self.has_accepted(matcher.mask, Some(&|value| matcher.accepts(value)))
    }

    fn has_accepted(&self, mask: StateMask, accepts: Option<Accepts<'_, T>>) -> bool {
        let mut state = lock(&self.state);
        let cache = &mut state.inbox.cache;
        cache.expire(clock::now());
        cache.has(mask, accepts)
    }

    pub(super) fn with_state<R>(&self, call: impl FnOnce(&mut ReaderState<T>) -> R) -> R {
        call(&mut lock(&self.state))
    }

    /// Reads a status, which clears its change.
    pub(super) fn status<R>(
        &self,
        mask: StatusMask,
        read: impl FnOnce(&mut ReaderStatuses) -> R,
    ) -> R {
        let mut state = lock(&self.state);
        self.clear(mask);
        read(&mut state.inbox.statuses)
    }

    /// Statuses that changed since they were last read.
    pub(crate) fn changes(&self) -> StatusMask {
        StatusMask::from_bits(self.changes.load(Ordering::Acquire))
    }

    fn clear(&self, mask: StatusMask) {
        self.changes.fetch_and(!mask.bits(), Ordering::AcqRel);
    }

    /// To be called under the lock after anything was done to the machine: takes over its deadline
    /// and notes the news.
    fn settle(&self, state: &mut ReaderState<T>) -> StatusMask {
        let deadline = state.inbox.deadline.as_ref();
        let deadline = deadline.and_then(DeadlineTracker::poll_timeout);
        let cache = state.inbox.cache.poll_timeout();
        let due = [state.machine.poll_timeout(), deadline, cache];
        self.due
            .set(due.into_iter().flatten().min(), &self.core.data);
        let news = std::mem::take(&mut state.inbox.news);
        if !news.is_empty() {
            self.changes.fetch_or(news.bits(), Ordering::AcqRel);
        }
        news
    }

    /// To be called without the lock: wakes those who wait for the news; says whether the listener
    /// has something to hear.
    fn announce(&self, news: StatusMask) -> bool {
        if news.is_empty() {
            return false;
        }
        self.core.signal.raise();
        self.observers.raise();
        self.listeners.note(self.guid, news)
    }

    fn update(&self, update: impl FnOnce(&mut ReaderState<T>) -> StatusMask) -> bool {
        let mut state = lock(&self.state);
        let news = update(&mut state);
        state.inbox.news |= news;
        let news = self.settle(&mut state);
        let events = match self.subscriber {
            Some(_) => state.inbox.take_events(),
            None => Vec::new(),
        };
        drop(state);
        if let Some(subscriber) = &self.subscriber
            && !events.is_empty()
        {
            subscriber.settle(self, &events);
        }
        self.announce(news)
    }
}

impl<T: TopicSupport> ReaderEndpoint for ReaderShared<T> {
    fn guid(&self) -> Guid {
        self.guid
    }

    fn receive(&self, received: &Received<'_>, outbox: &mut Outbox) -> bool {
        let Received {
            now,
            timestamp,
            context,
            submessage,
        } = *received;
        self.update(|state| {
            let ReaderState { machine, inbox, .. } = state;
            inbox.now = now;
            inbox.timestamp = timestamp;
            match submessage {
                Submessage::Data(data) => machine.handle_data(now, context, data, inbox),
                Submessage::DataFrag(data) => machine.handle_data_frag(now, context, data, inbox),
                Submessage::Heartbeat(heartbeat) => {
                    machine.handle_heartbeat(now, context, heartbeat, inbox, outbox);
                }
                Submessage::HeartbeatFrag(heartbeat) => {
                    machine.handle_heartbeat_frag(now, context, heartbeat);
                }
                Submessage::Gap(gap) => machine.handle_gap(context, gap, inbox),
                _ => {}
            }
            StatusMask::NONE
        })
    }

    fn match_writer(
        &self,
        now: Instant,
        proxy: WriterProxy,
        data: &EndpointData,
        outbox: &mut Outbox,
    ) -> bool {
        let (writer, qos) = (proxy.guid, &data.qos);
        let publisher = data.group.unwrap_or(writer);
        if let Some(subscriber) = &self.subscriber {
            subscriber.matched(self.guid, writer, publisher);
        }
        let policy = WriterPolicy {
            strength: qos.ownership_strength,
            lifespan: Some(qos.lifespan).filter(|&lifespan| lifespan != Duration::MAX),
            is_xcdr1: qos.offered_representation() == RepresentationId::XCDR1,
            publisher,
        };
        self.update(|state| {
            state.machine.match_writer(now, proxy, outbox);
            state.inbox.cache.set_writer(writer, policy);
            if state.writers.contains_key(&writer) {
                return StatusMask::NONE;
            }
            state.writers.insert(writer, true);
            state.inbox.statuses.matched.matched(writer);
            state.inbox.statuses.liveliness.alive(writer);
            StatusMask::SUBSCRIPTION_MATCHED | StatusMask::LIVELINESS_CHANGED
        })
    }

    fn unmatch_writer(&self, writer: Guid) -> bool {
        let has_news = self.update(|state| {
            let ReaderState { machine, inbox, .. } = state;
            machine.unmatch_writer(writer, inbox);
            let Some(was_alive) = state.writers.remove(&writer) else {
                return StatusMask::NONE;
            };
            let mut news = StatusMask::SUBSCRIPTION_MATCHED | StatusMask::LIVELINESS_CHANGED;
            if state.inbox.cache.remove_writer(writer, clock::timestamp()) {
                news |= StatusMask::DATA_AVAILABLE;
            }
            state.inbox.statuses.matched.unmatched(writer);
            state.inbox.statuses.liveliness.gone(writer, was_alive);
            news
        });
        if let Some(subscriber) = &self.subscriber {
            subscriber.unmatched(self.guid, writer);
        }
        has_news
    }

    fn incompatible(&self, writer: Guid, verdict: Arc<Verdict>) -> bool {
        if verdict.incompatible_policies().next().is_none() {
            return false;
        }
        self.update(|state| {
            state.inbox.statuses.incompatible_qos.found(writer, verdict);
            StatusMask::REQUESTED_INCOMPATIBLE_QOS
        })
    }

    fn liveliness_changed(&self, writer: Guid, is_alive: bool) -> bool {
        self.update(|state| {
            match state.writers.get_mut(&writer) {
                Some(known) if *known != is_alive => *known = is_alive,
                _ => return StatusMask::NONE,
            }
            let mut news = StatusMask::LIVELINESS_CHANGED;
            let liveliness = &mut state.inbox.statuses.liveliness;
            match is_alive {
                true => liveliness.back(writer),
                false => liveliness.silent(writer),
            }
            // A silent writer owns nothing and keeps no instance alive (DDS 1.4 §2.2.3.11).
            if !is_alive && state.inbox.cache.silence_writer(writer, clock::timestamp()) {
                news |= StatusMask::DATA_AVAILABLE;
            }
            news
        })
    }

    fn due(&self) -> Instant {
        self.due.at()
    }

    fn handle_timeout(&self, now: Instant, outbox: &mut Outbox) -> bool {
        self.update(|state| {
            let ReaderState { machine, inbox, .. } = state;
            machine.handle_timeout(now, outbox);
            if inbox.handle_timeout(now) && inbox.is_stalled {
                inbox.is_stalled = false;
                inbox.now = now;
                inbox.timestamp = clock::timestamp();
                machine.resume(now, inbox, outbox);
            }
            StatusMask::NONE
        })
    }

    fn keeps_all(&self) -> bool {
        self.keeps_all
    }

    fn call_listener(&self) {
        self.listeners.call(&self.core.counters.listener_panics);
    }

    fn topic_name(&self) -> &str {
        &self.topic_name
    }

    fn notify(&self) {
        let data = StatusMask::DATA_AVAILABLE;
        if self.changes().intersects(data) && self.listeners.own.note(data) {
            self.core.call_listener_later(self.guid.entity);
        }
    }

    fn read_status(&self, mask: StatusMask, read: &mut dyn FnMut(&mut ReaderStatuses)) {
        self.status(mask, read);
    }

    fn list(&self, mask: StateMask, samples: &mut Vec<Listed>) {
        lock(&self.state).inbox.cache.list(self.guid, mask, samples);
    }

    fn room_for_set(&self, publisher: Guid, set: SequenceNumber) -> Room {
        lock(&self.state).inbox.room_for_set(publisher, set)
    }

    fn decide(&self, publisher: Guid, set: SequenceNumber, is_whole: bool) {
        let mut state = lock(&self.state);
        state.inbox.now = clock::now();
        state.inbox.timestamp = clock::timestamp();
        state.inbox.decide(publisher, set, is_whole);
        let news = self.settle(&mut state);
        drop(state);
        if self.announce(news) {
            self.core.call_listener_later(self.guid.entity);
        }
    }
}

fn keeps_all(policies: &EndpointQos) -> bool {
    let limits = policies.resource_limits;
    let limited = limits.max_samples.or(limits.max_samples_per_instance);
    policies.history == History::KeepAll && limited.is_none()
}

fn cache_policy(policies: &EndpointQos) -> CachePolicy {
    let limit = |limit: Option<u32>| {
        limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        })
    };
    let limits = policies.resource_limits;
    CachePolicy {
        depth: match policies.history {
            History::KeepLast(depth) => Some(limit(Some(depth)).max(1)),
            History::KeepAll => None,
        },
        max_samples: limit(limits.max_samples),
        max_instances: limit(limits.max_instances),
        max_samples_per_instance: limit(limits.max_samples_per_instance),
        by_source_timestamp: policies.destination_order == DestinationOrder::BySourceTimestamp,
        exclusive: policies.ownership == Ownership::Exclusive,
        order: order(policies),
        minimum_separation: policies.time_based_filter,
        keeps_filtered: policies.is_reliable(),
    }
}

fn order(policies: &EndpointQos) -> Order {
    let presentation = &policies.presentation;
    match presentation.access_scope {
        _ if !presentation.ordered_access => Order::Arrival,
        PresentationScope::Instance => Order::Instance,
        _ if policies.destination_order == DestinationOrder::BySourceTimestamp => Order::Source,
        // Each writer's samples come in the order of writing.
        PresentationScope::Topic | PresentationScope::Group => Order::Arrival,
    }
}

/// Empty collections kept at most.
const MAX_SPARE: usize = 16;
