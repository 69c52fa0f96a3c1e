//! A reader's machine and cache behind their lock.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use tickwire_base::{Instant, Timestamp};
use tickwire_cdr::filter::Filter;
use tickwire_rtps::Outbox;
use tickwire_rtps::qos::EndpointQos;
use tickwire_rtps::reader::{GroupSets, Member, Reader, ReaderConfig};
use tickwire_rtps::wire::Guid;

use super::collect::{Accepts, Query, SortBy};
use super::each::Each;
use super::group_inbox::GroupInbox;
use super::inbox::Inbox;
use super::info::StateMask;
use super::lifecycle::Lifecycle;
use super::policy;
use super::query_condition::Matcher;
use super::sample::Sample;
use super::status::ReaderStatuses;
use crate::clock;
use crate::core::Core;
use crate::deadline::DeadlineTracker;
use crate::listeners::{Listeners, ToTell};
use crate::outgoing::Scratch;
use crate::signal::{Observers, lock};
use crate::status::StatusMask;
use crate::subscriber::SubscriberGroup;
use crate::timer::{Due, earlier};
use crate::type_support::TopicSupport;

/// What the participant's threads and the application share of a reader.
pub(crate) struct ReaderShared<T: TopicSupport> {
    pub(crate) core: Arc<Core>,
    pub(crate) guid: Guid,
    pub(crate) listeners: Listeners,
    pub(super) topic_name: String,
    pub(crate) observers: Observers,
    pub(super) keeps_all: bool,
    subscriber: Option<Arc<SubscriberGroup>>,
    pub(super) state: Mutex<ReaderState<T>>,
    pub(super) due: Due,
    changes: AtomicU32,
    /// Whether something takes samples as they come; changed under the lock.
    pub(super) takes_each: AtomicBool,
    /// How often that was another one; changed under the lock.
    pub(super) takers: AtomicU64,
    /// Notified when what took samples has returned, where somebody waits for that.
    pub(super) has_taken: Condvar,
}

pub(super) struct ReaderState<T: TopicSupport> {
    pub(super) machine: Reader,
    pub(super) inbox: Inbox<T>,
    /// Whether each matched writer is alive.
    pub(super) writers: HashMap<Guid, bool>,
    /// When the subscriber gives up waiting for writers of a set.
    patience: Option<Instant>,
    /// What takes samples as they come.
    pub(super) each: Each<T>,
    /// Collections that came back empty, to be filled again.
    pub(super) spare: Vec<Vec<Sample<T>>>,
}

/// What others are to be told once the lock is dropped.
#[must_use = "somebody waits to hear it"]
pub(super) struct Settled {
    news: StatusMask,
    /// There are samples for what takes them as they come.
    has_samples: bool,
    /// The thread that runs the timers is to be interrupted, as a deadline is the first of all.
    is_first: bool,
}

impl Settled {
    /// Whether there are samples for what takes them as they come, and nothing else.
    pub(super) fn is_of_samples(&self) -> bool {
        self.has_samples && self.news.is_empty() && !self.is_first
    }
}

impl<T: TopicSupport> ReaderShared<T> {
    pub(crate) fn new(
        core: Arc<Core>,
        guid: Guid,
        topic_name: String,
        ty: T::Type,
        filter: Option<Filter>,
        policies: &EndpointQos,
        lifecycle: Lifecycle,
    ) -> Self {
        let config = ReaderConfig {
            limits: core.reader_limits.clone(),
            ..policy::reader_config(guid, policies)
        };
        let mut inbox = Inbox::new(
            ty,
            filter,
            policy::cache_policy(policies, lifecycle),
            policies.deadline,
        );
        inbox.latency = core.latency_histograms.then(Box::default);
        let state = ReaderState {
            machine: Reader::new(config),
            inbox,
            writers: HashMap::new(),
            patience: None,
            each: Each::default(),
            spare: Vec::new(),
        };
        Self {
            guid,
            listeners: Listeners::new(vec![Arc::clone(&core.listener)]),
            core,
            topic_name,
            observers: Observers::default(),
            keeps_all: policy::keeps_all(policies),
            subscriber: None,
            state: Mutex::new(state),
            due: Due::default(),
            changes: AtomicU32::new(0),
            takes_each: AtomicBool::new(false),
            takers: AtomicU64::new(0),
            has_taken: Condvar::new(),
        }
    }

    /// Has the listener of the subscriber told, and leaves it to the subscriber when sets of several
    /// readers are whole, if it has such.
    pub(crate) fn in_group(mut self, subscriber: &Arc<SubscriberGroup>) -> Self {
        let above = vec![
            Arc::clone(&subscriber.listener),
            Arc::clone(&self.core.listener),
        ];
        self.listeners = Listeners::new(above);
        if subscriber.decides() {
            let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
            state.inbox.group = Some(GroupInbox::default());
        }
        self.subscriber = Some(Arc::clone(subscriber));
        self
    }

    /// Ends the reader; what the threads still do with it has no effect.
    pub(super) fn remove(&self) {
        self.listeners.own.set(None, StatusMask::NONE);
        self.end_taking();
        self.core.remove_reader(self.guid);
        if let Some(subscriber) = &self.subscriber {
            subscriber.remove(self.guid);
        }
    }

    /// The subscriber, if it decides when sets of several readers are whole.
    fn decider(&self) -> Option<&SubscriberGroup> {
        let subscriber = self.subscriber.as_deref();
        subscriber.filter(|subscriber| subscriber.decides())
    }

    /// Whether its subscriber decides when sets of several readers are whole.
    pub(super) fn is_in_sets(&self) -> bool {
        self.decider().is_some()
    }

    /// Takes over what may change of the QoS.
    pub(super) fn change(&self, policies: &EndpointQos, lifecycle: Lifecycle) {
        let has_news = self.update(|state| {
            let inbox = &mut state.inbox;
            inbox.now = clock::now();
            DeadlineTracker::change(&mut inbox.deadline, inbox.now, policies.deadline);
            inbox.cache.change_lifecycle(lifecycle);
            inbox.change_separation(policies.time_based_filter)
        });
        if has_news {
            self.core.call_listener_later(self.guid.entity);
        }
    }

    /// Filters by this what comes from here on.
    pub(crate) fn set_filter(&self, filter: &Filter) {
        lock(&self.state).inbox.filter = Some(filter.clone());
    }

    /// Reads or takes what the query is after.
    pub(super) fn collect(
        &self,
        query: &Query,
        matcher: Option<&Matcher<T>>,
        take: bool,
    ) -> Vec<Sample<T>> {
        self.collect_of(lock(&self.state), query, matcher, take)
    }

    /// The same of this state, which is let go of.
    pub(super) fn collect_of(
        &self,
        mut state: MutexGuard<'_, ReaderState<T>>,
        query: &Query,
        matcher: Option<&Matcher<T>>,
        take: bool,
    ) -> Vec<Sample<T>> {
        let accepts = |value: &T| matcher.is_none_or(|matcher| matcher.accepts(value));
        let accepts: Option<Accepts<'_, T>> = matcher.is_some().then_some(&accepts);
        let sort_key = |value: &T| matcher.and_then(|matcher| matcher.sort_key(value));
        let is_ordered = matcher.is_some_and(|matcher| matcher.is_ordered);
        let order: Option<SortBy<'_, T>> = is_ordered.then_some(&sort_key);
        let is_first = self.expire(&mut state);
        // Under the lock: what arrives later is news again.
        self.show_data(false);
        let mut samples = state.spare.pop().unwrap_or_default();
        state
            .inbox
            .cache
            .collect(query, accepts, order, take, &mut samples);
        if let Some(latency) = &mut state.inbox.latency {
            latency.returned(&samples, clock::now());
        }
        let has_room = take && state.inbox.is_stalled && !samples.is_empty();
        drop(state);
        if is_first {
            self.core.data.interrupt();
        }
        if let Some(subscriber) = self.decider().filter(|_| take) {
            subscriber.release();
        }
        if has_room {
            self.resume(clock::timestamp());
        }
        samples
    }

    /// Takes what was refused before.
    fn resume(&self, timestamp: Timestamp) {
        Scratch::lend(|scratch| {
            let outbox = &mut scratch.outbox;
            let has_news = self.update(|state| {
                state.resume(clock::now(), timestamp, outbox);
                StatusMask::NONE
            });
            self.core.send_user(outbox);
            if has_news {
                self.core.call_listener_later(self.guid.entity);
            }
        });
    }

    /// Takes back what [`collect`](Self::collect) returned.
    pub(super) fn give_back(&self, samples: Vec<Sample<T>>) {
        if samples.capacity() > 0 {
            lock(&self.state).take_back(samples);
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
        let is_first = self.expire(&mut state);
        let has = state.inbox.cache.has(mask, accepts);
        drop(state);
        if is_first {
            self.core.data.interrupt();
        }
        has
    }

    /// Removes what has outlived its time. What was refused for lack of room is then taken by the
    /// thread that runs the timers; whether that is to be interrupted.
    fn expire(&self, state: &mut ReaderState<T>) -> bool {
        let ends = state.inbox.cache.has_ends();
        if ends && state.inbox.cache.expire(clock::now()) {
            state.inbox.has_room |= state.inbox.is_stalled;
            return self.settle(state).is_first;
        }
        false
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

    pub(super) fn member(&self, writer: Guid) -> Member {
        Member {
            reader: self.guid,
            writer,
        }
    }

    /// Statuses that changed since they were last read.
    pub(crate) fn changes(&self) -> StatusMask {
        StatusMask::from_bits(self.changes.load(Ordering::Acquire))
    }

    /// To be called under the lock, as all that changes them.
    fn set_changes(&self, changes: StatusMask) {
        self.changes.store(changes.bits(), Ordering::Release);
    }

    /// To be called under the lock.
    fn clear(&self, mask: StatusMask) {
        self.set_changes(self.changes().without(mask));
    }

    /// To be called under the lock: whether anybody is to know that there are samples.
    pub(super) fn show_data(&self, shows: bool) {
        let data = StatusMask::DATA_AVAILABLE;
        let others = self.changes().without(data);
        self.set_changes(if shows { others | data } else { others });
        if let Some(subscriber) = &self.subscriber {
            subscriber.set_data_on_readers(shows);
        }
    }

    /// To be called under the lock after anything was done to the machine: takes over its deadline
    /// and notes the news.
    pub(super) fn settle(&self, state: &mut ReaderState<T>) -> Settled {
        let deadline = state.inbox.deadline.as_ref();
        let deadline = deadline.and_then(DeadlineTracker::poll_timeout);
        let cache = state.inbox.cache.poll_timeout();
        let retry = state.inbox.has_room.then_some(Instant::ZERO);
        let machine = state.machine.poll_timeout();
        let due = earlier(earlier(machine, deadline), earlier(cache, retry));
        let due = earlier(due, state.patience);
        let is_first = self.due.set(due, &self.core.data);
        let mut news = std::mem::take(&mut state.inbox.news);
        // Nobody else gets to see them.
        let has_samples = state.each.is_set() && news.intersects(StatusMask::DATA_AVAILABLE);
        if has_samples {
            news = news.without(StatusMask::DATA_AVAILABLE);
        }
        if !news.is_empty() {
            self.set_changes(self.changes() | news);
        }
        if let Some(subscriber) = &self.subscriber
            && news.intersects(StatusMask::DATA_AVAILABLE)
        {
            subscriber.set_data_on_readers(true);
        }
        Settled {
            news,
            has_samples,
            is_first,
        }
    }

    /// To be called without the lock: wakes those who wait for the news or are to look at a deadline; says whether
    /// the listener has something to hear.
    pub(super) fn announce(&self, settled: Settled) -> bool {
        let to_tell = self.announce_for(settled);
        self.listeners.keep(to_tell)
    }

    /// The same for who is about to call the listeners.
    pub(super) fn announce_for(&self, settled: Settled) -> ToTell {
        let Settled {
            news,
            has_samples,
            is_first,
        } = settled;
        if is_first {
            self.core.data.interrupt();
        }
        if news.is_empty() {
            return ToTell::default().with_noted(has_samples);
        }
        self.core.raise_for_samples();
        self.observers.raise();
        if let Some(subscriber) = &self.subscriber {
            subscriber.raise();
        }
        let to_tell = self.listeners.note_above(self.guid, news);
        to_tell.with_noted(has_samples)
    }

    pub(super) fn update(&self, update: impl FnOnce(&mut ReaderState<T>) -> StatusMask) -> bool {
        self.update_in_group(|state, _| update(state))
    }

    /// The same with the sets of the subscriber's readers, if it decides on such.
    pub(super) fn update_in_group(
        &self,
        update: impl FnOnce(&mut ReaderState<T>, Option<&mut GroupSets>) -> StatusMask,
    ) -> bool {
        let settled = self.change_state(update);
        self.announce(settled)
    }

    /// What is to be announced of a change with the sets of the subscriber's readers, if it decides on such. Its lock is held
    /// until it has been told what has come, lest two threads tell of one writer out of order.
    pub(super) fn change_state(
        &self,
        update: impl FnOnce(&mut ReaderState<T>, Option<&mut GroupSets>) -> StatusMask,
    ) -> Settled {
        let decider = self.decider();
        let mut group = decider.map(SubscriberGroup::lock);
        let mut state = lock(&self.state);
        let news = update(&mut state, group.as_mut().map(|group| &mut group.sets));
        state.inbox.news |= news;
        if let Some(group) = &mut group {
            state.inbox.tell(self.guid, &mut group.sets);
        }
        let mut settled = self.settle(&mut state);
        let now = state.inbox.now;
        drop(state);
        if let (Some(decider), Some(group)) = (decider, &mut group) {
            decider.carry_out(now, group);
            let mut state = lock(&self.state);
            state.patience = group.sets.poll_timeout(now);
            let more = self.settle(&mut state);
            settled.news |= more.news;
            settled.has_samples |= more.has_samples;
            settled.is_first |= more.is_first;
        }
        settled
    }
}

impl<T: TopicSupport> ReaderState<T> {
    /// Takes back what was collected.
    pub(super) fn take_back(&mut self, mut samples: Vec<Sample<T>>) {
        self.inbox.cache.recycle_all(&mut samples);
        if self.spare.len() < MAX_SPARE {
            self.spare.push(samples);
        }
    }

    /// Takes what was refused before, now that there is room.
    pub(super) fn resume(&mut self, now: Instant, timestamp: Timestamp, outbox: &mut Outbox) {
        let Self { machine, inbox, .. } = self;
        inbox.is_stalled = false;
        inbox.now = now;
        inbox.timestamp = timestamp;
        inbox.reveal_waiting();
        machine.resume(now, inbox, outbox);
    }
}

/// Empty collections kept at most.
const MAX_SPARE: usize = 16;
