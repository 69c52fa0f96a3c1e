//! The reader's side of the API.

mod aliases;
mod any;
mod cache;
mod coherent;
mod collect;
mod driven;
mod each;
pub(crate) mod endpoint;
mod fed;
mod group_inbox;
mod inbox;
mod info;
mod insert;
mod instance;
mod latency;
mod lifecycle;
mod listener;
mod next_instance;
mod policy;
mod query_condition;
pub(crate) mod room;
mod sample;
mod samples;
mod select;
pub(crate) mod shared;
mod slots;
mod status;
mod straight;
mod stream;
mod time_filter;
mod timing;
mod weak;

use std::fmt;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tickwire_rtps::discovery::Role;
use tickwire_rtps::wire::Guid;

pub use any::AnyDataReader;
pub use inbox::InboxCounters;
pub use info::{InstanceHandle, InstanceState, SampleInfo, SampleState, StateMask, ViewState};
pub use insert::SampleRejectedReason;
pub use latency::ReaderLatency;
pub(crate) use lifecycle::Lifecycle;
pub use listener::DataReaderListener;
pub use query_condition::QueryCondition;
pub use sample::Sample;
pub use samples::Samples;
pub use select::Select;
pub use tickwire_rtps::reader::{ReaderCounters, WriterStatus};
pub(crate) use weak::WeakDataReader;

use crate::clock;
use crate::core::Core;
use crate::enabling::Enabling;
use crate::endpoints;
use crate::error::{Awaited, ContentFilterError, EnableError, SetQosError, Timeout};
use crate::lifeline::Lifeline;
use crate::qos::DataReaderQos;
use crate::signal::{Ended, lock};
use crate::status::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, LivelinessChangedStatus,
    MatchedStatus, SampleRejectedStatus, StatusMask,
};
use crate::topic::Topic;
use crate::type_support::TopicSupport;
use crate::wait_set::{Condition, ReaderCondition, ReaderTrigger};
use shared::ReaderShared;

/// Subscribes to a topic. Clones are the same reader; it ends with the last of them.
///
/// [`read`](Self::read) leaves the samples in the reader, [`take`](Self::take) removes them;
/// [`select`](Self::select) does either with some of them.
pub struct DataReader<T: TopicSupport> {
    handle: Arc<Handle<T>>,
}

/// Ends the reader when the application has let go of it.
struct Handle<T: TopicSupport> {
    shared: Arc<ReaderShared<T>>,
    topic: Topic<T>,
    qos: Mutex<DataReaderQos>,
    enabling: Arc<Enabling>,
    _lifeline: Arc<Lifeline>,
    /// Whether nobody is to wait for something of it any more.
    ended: Ended,
}

impl<T: TopicSupport> DataReader<T> {
    pub(crate) fn new(
        shared: Arc<ReaderShared<T>>,
        topic: Topic<T>,
        qos: DataReaderQos,
        enabling: Arc<Enabling>,
        lifeline: Arc<Lifeline>,
    ) -> Self {
        let handle = Handle {
            shared,
            topic,
            qos: Mutex::new(qos),
            enabling,
            _lifeline: lifeline,
            ended: Ended::default(),
        };
        Self {
            handle: Arc::new(handle),
        }
    }

    /// Removes and returns all samples.
    pub fn take(&self) -> Samples<T> {
        self.select().take()
    }

    /// Returns all samples and leaves them, marked as read.
    pub fn read(&self) -> Samples<T> {
        self.select().read()
    }

    /// Begins a choice among the samples; without further ado it is all of them.
    pub fn select(&self) -> Select<'_, T> {
        Select::new(&self.handle.shared)
    }

    /// A value whose key fields are those of an instance, the others as in a new value
    /// (`get_key_value`; DDS 1.4 §2.2.2.5.3.28): for samples that only tell of a change of state.
    /// `None` if the instance is not known, or no longer, or if only the writer knows its key.
    pub fn key_value(&self, instance: InstanceHandle) -> Option<T> {
        let shared = &self.handle.shared;
        shared.with_state(|state| state.inbox.key_value(instance))
    }

    /// The instance that `sample`'s key names, if it is known (DDS 1.4 §2.2.2.5.3.29).
    pub fn lookup_instance(&self, sample: &T) -> Option<InstanceHandle> {
        let shared = &self.handle.shared;
        shared.with_state(|state| state.inbox.lookup(sample))
    }

    /// Waits until there is a sample that was not read.
    ///
    /// # Errors
    /// When that takes longer than `timeout`.
    pub fn wait_for_data(&self, timeout: Duration) -> Result<(), Timeout> {
        let Handle { shared, ended, .. } = &*self.handle;
        let has_data = || shared.has(StateMask::NOT_READ).then_some(());
        let waited = shared.core.wait(timeout, ended.or(has_data));
        waited.flatten().ok_or(Timeout {
            awaited: Awaited::Sample,
            waited: timeout,
        })
    }

    /// Waits until at least `count` writers match.
    ///
    /// It also waits until shared memory is agreed on with those that can have it, but not longer than
    /// 100 ms.
    ///
    /// # Errors
    /// When that takes longer than `timeout`.
    pub fn wait_for_matched(&self, count: u32, timeout: Duration) -> Result<(), Timeout> {
        let Handle { shared, ended, .. } = &*self.handle;
        let deadline = clock::now() + timeout;
        let matched = || {
            let current = shared.status(StatusMask::NONE, |all| all.matched.current_count);
            (current >= count).then_some(())
        };
        let waited = shared.core.wait(timeout, ended.or(matched));
        waited.flatten().ok_or(Timeout {
            awaited: Awaited::Writers,
            waited: timeout,
        })?;
        let pair = |writer: &Guid| (*writer, shared.guid);
        let pairs: Vec<_> = shared.with_state(|state| state.writers.keys().map(pair).collect());
        shared.core.settle_ways(deadline, &pairs);
        Ok(())
    }

    /// Waits until what the writers that match now had written before they matched has come, or never
    /// will (DDS 1.4 §2.2.2.5.3.32). A writer that discovery has not found yet does not match yet:
    /// [`wait_for_matched`](Self::wait_for_matched) waits for that. Volatile readers, and those of
    /// volatile writers, have no history to wait for. Coherent sets of GROUP scope are shown a little later, when
    /// the subscriber knows that all writers of the publisher have had their parts.
    ///
    /// # Errors
    /// When that takes longer than `timeout`.
    pub fn wait_for_historical_data(&self, timeout: Duration) -> Result<(), Timeout> {
        let Handle { shared, ended, .. } = &*self.handle;
        let has_history = || shared.with_state(|state| state.machine.has_history().then_some(()));
        let waited = shared.core.wait(timeout, ended.or(has_history));
        waited.flatten().ok_or(Timeout {
            awaited: Awaited::History,
            waited: timeout,
        })
    }

    /// Has all who wait for something of this reader return at once, as if their time were over, and whoever comes later: for
    /// a thread that is about to let go of it, which ends with the last of its clones.
    pub fn end_waits(&self) {
        self.handle.ended.set();
        self.handle.shared.core.signal.raise();
    }

    /// The writers matched now, and how far each has got.
    pub fn matched_publications(&self) -> Vec<WriterStatus> {
        let shared = &self.handle.shared;
        shared.with_state(|state| state.machine.writers().collect())
    }

    /// What arrived, by the protocol.
    pub fn counters(&self) -> ReaderCounters {
        let shared = &self.handle.shared;
        shared.with_state(|state| *state.machine.counters())
    }

    /// What became of what arrived.
    pub fn inbox_counters(&self) -> InboxCounters {
        let shared = &self.handle.shared;
        shared.with_state(|state| state.inbox.counters())
    }

    /// How long samples have taken from hop to hop since the reader was made or this was
    /// [reset](Self::reset_latency); `None` unless the participant
    /// [asks for it](crate::DomainParticipantBuilder::latency_histograms). Copies 136 KiB under the
    /// reader's lock.
    pub fn latency(&self) -> Option<ReaderLatency> {
        let shared = &self.handle.shared;
        shared.with_state(|state| state.inbox.latency.as_deref().cloned())
    }

    /// Forgets how long samples have taken.
    pub fn reset_latency(&self) {
        let shared = &self.handle.shared;
        shared.with_state(|state| {
            if let Some(latency) = &mut state.inbox.latency {
                latency.reset();
            }
        });
    }

    /// The writers that matched, and clears the change.
    pub fn subscription_matched_status(&self) -> MatchedStatus {
        let mask = StatusMask::SUBSCRIPTION_MATCHED;
        self.handle.shared.status(mask, |all| all.matched.read())
    }

    /// The writers that offer less than is asked for, and clears the change.
    pub fn requested_incompatible_qos_status(&self) -> IncompatibleQosStatus {
        let mask = StatusMask::REQUESTED_INCOMPATIBLE_QOS;
        let shared = &self.handle.shared;
        shared.status(mask, |all| all.incompatible_qos.read())
    }

    /// The writers that show that they live and that do not, and clears the change.
    pub fn liveliness_changed_status(&self) -> LivelinessChangedStatus {
        let mask = StatusMask::LIVELINESS_CHANGED;
        self.handle.shared.status(mask, |all| all.liveliness.read())
    }

    /// Samples that will never come, and clears the change.
    pub fn sample_lost_status(&self) -> CountStatus {
        let mask = StatusMask::SAMPLE_LOST;
        self.handle.shared.status(mask, |all| all.lost.read())
    }

    /// Samples that found no room, and clears the change.
    pub fn sample_rejected_status(&self) -> SampleRejectedStatus {
        let mask = StatusMask::SAMPLE_REJECTED;
        self.handle.shared.status(mask, |all| all.rejected.read())
    }

    /// Periods of DEADLINE without a sample, and clears the change.
    pub fn requested_deadline_missed_status(&self) -> DeadlineMissedStatus {
        let mask = StatusMask::REQUESTED_DEADLINE_MISSED;
        let shared = &self.handle.shared;
        shared.status(mask, |all| all.deadline_missed.read())
    }

    /// Statuses that changed since they were last read.
    pub fn status_changes(&self) -> StatusMask {
        self.handle.shared.changes()
    }

    /// A condition that holds while one of these statuses has changed.
    pub fn status_condition(&self, mask: StatusMask) -> Condition {
        self.condition(ReaderTrigger::Status(mask))
    }

    /// A condition that holds while there are samples in these states.
    pub fn read_condition(&self, mask: StateMask) -> Condition {
        self.condition(ReaderTrigger::States(mask))
    }

    /// A condition that holds while there are samples in these states for which `expression` is true
    /// (see [`Topic::filtered`] for the language), or ends of instances in these states. What it
    /// holds for is read by [`Select::query`]:
    ///
    /// ```no_run
    /// # #[derive(tickwire::Topic)]
    /// # struct Quote { #[topic(key)] symbol: String, price: f64 }
    /// # fn example(reader: &tickwire::DataReader<Quote>) -> Result<(), Box<dyn std::error::Error>> {
    /// let dear = reader.query_condition(tickwire::StateMask::NOT_READ, "price > %0", &["100"])?;
    /// for quote in reader.select().query(&dear).take().data() {
    ///     println!("{}", quote.symbol);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The expression may end in ORDER BY and members: samples are then read and taken in ascending
    /// order of these, of all that the condition is after, and the ends of instances behind them.
    ///
    /// # Errors
    /// When the expression does not fit the type, or the members of the type are not known.
    pub fn query_condition(
        &self,
        mask: StateMask,
        expression: &str,
        parameters: &[&str],
    ) -> Result<QueryCondition<T>, ContentFilterError> {
        let Handle { shared, topic, .. } = &*self.handle;
        QueryCondition::new(shared, topic, mask, expression, parameters)
    }

    fn condition(&self, trigger: ReaderTrigger) -> Condition {
        let reader = Arc::clone(&self.handle.shared);
        Condition::new(ReaderCondition { reader, trigger })
    }

    /// Has the listener told of what happens from now on, and of data that is there already.
    pub fn set_listener(&self, listener: impl DataReaderListener<T>) {
        self.set_listener_for(StatusMask::ALL, listener);
    }

    /// Has the listener told of what happens to the statuses in `mask`, and of data that is there
    /// already. Of others, the listener of the subscriber or of the participant is told.
    pub fn set_listener_for(&self, mask: StatusMask, listener: impl DataReaderListener<T>) {
        let mut listener = listener;
        let weak: Weak<Handle<T>> = Arc::downgrade(&self.handle);
        let shared = &self.handle.shared;
        let callback = move |news| {
            if let Some(handle) = weak.upgrade() {
                listener::dispatch(&mut listener, &Self { handle }, news);
            }
        };
        shared.listeners.own.set(Some(Box::new(callback)), mask);
        shared.core.call_listener_later(shared.guid.entity);
    }

    /// Has nobody told any more, and waits until a call of the listener on another thread has
    /// returned. Not to be called with a lock held that the listener takes.
    pub fn remove_listener(&self) {
        self.handle.shared.listeners.own.remove();
    }

    /// Has `taker` called with each sample as it comes, and with those that are there already: as if a listener
    /// [took](Self::take) all whenever there are some, for less. In exchange nobody else hears of data while it is so:
    /// neither listeners, which are told of all else, nor wait sets. What takes samples itself nevertheless gets those that
    /// were not handed out yet.
    ///
    /// It is called where a [listener](DataReaderListener) is, by one thread at a time, which may be another than the one
    /// that tells the reader's listener of something else meanwhile, and as soon as what came is acknowledged. It may do what
    /// a listener may, but is not to own the reader or a clone of it, which would never end then. A panic ends the call for that sample alone,
    /// and is counted in [`listener_panics`](crate::ParticipantCounters::listener_panics).
    ///
    /// Samples go through the reader all the same: its QoS decides which come. The values of those that have come together
    /// are let go of after the last of them, and so is what a writer has lent. The order across readers that
    /// [GROUP access](crate::SubscriberQos::presentation) keeps is not.
    ///
    /// ```no_run
    /// # #[derive(tickwire::Topic)]
    /// # struct Quote { #[topic(key)] symbol: String, price: f64 }
    /// # fn example(reader: &tickwire::DataReader<Quote>) {
    /// reader.take_each(|sample| {
    ///     if let Some(quote) = sample.data() {
    ///         println!("{} {}", quote.symbol, quote.price);
    ///     }
    /// });
    /// # }
    /// ```
    pub fn take_each(&self, taker: impl FnMut(&Sample<T>) + Send + 'static) {
        let shared = &self.handle.shared;
        shared.take_each(Box::new(taker));
        shared.core.call_listener_later(shared.guid.entity);
    }

    /// Drops what [took each](Self::take_each): samples stay in the reader again, also those that came together with the one
    /// that is being handed out. Waits until a call of it has returned, unless this is such a call itself, or one of a
    /// listener. Not to be called with a lock held that it takes.
    pub fn stop_taking(&self) {
        self.handle.shared.stop_taking();
    }

    /// The QoS that the reader has now, with what it has of its subscriber.
    pub fn qos(&self) -> DataReaderQos {
        let shared = &self.handle.shared;
        match shared.core.policies_of(shared.guid) {
            Some(policies) => DataReaderQos {
                policies,
                ..lock(&self.handle.qos).clone()
            },
            None => lock(&self.handle.qos).clone(),
        }
    }

    /// Changes the QoS: DEADLINE, LATENCY_BUDGET, TIME_BASED_FILTER, READER_DATA_LIFECYCLE, USER_DATA
    /// and TOPIC_DATA (DDS 1.4 §2.2.3). What the reader has of its subscriber stays. Writers that match only the old or
    /// only the new one leave or come.
    ///
    /// # Errors
    /// When another policy differs, two contradict each other, or the QoS is too long to announce.
    /// Then nothing changes.
    pub fn set_qos(&self, qos: DataReaderQos) -> Result<(), SetQosError> {
        let shared = &self.handle.shared;
        let mut own = lock(&self.handle.qos);
        let policies = qos.resolved();
        endpoints::change(
            &shared.core,
            Role::Reader,
            shared.guid,
            policies,
            |policies| shared.change(policies, qos.lifecycle),
        )?;
        *own = qos;
        Ok(())
    }

    /// Has the reader take part, where what made it does not
    /// [enable](crate::qos::GroupQos::autoenable_created_entities) it (DDS 1.4 §2.2.2.1.1.7). There are no samples
    /// before, and nobody knows of it. Nothing changes if it is enabled already.
    ///
    /// # Errors
    /// When what made it is not enabled, or it cannot be announced.
    pub fn enable(&self) -> Result<(), EnableError> {
        self.handle.enabling.enable()
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.handle.shared.core
    }

    /// Whether nobody is to wait for it any more.
    pub(crate) fn ended(&self) -> &Ended {
        &self.handle.ended
    }

    /// The topic.
    pub fn topic(&self) -> &Topic<T> {
        &self.handle.topic
    }

    /// The reader's name on the network.
    pub fn guid(&self) -> Guid {
        self.handle.shared.guid
    }
}

impl<T: TopicSupport> Clone for DataReader<T> {
    fn clone(&self) -> Self {
        Self {
            handle: Arc::clone(&self.handle),
        }
    }
}

impl<T: TopicSupport> fmt::Debug for DataReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataReader")
            .field("guid", &self.guid())
            .field("topic", &self.topic().name())
            .finish()
    }
}

impl<T: TopicSupport> Drop for Handle<T> {
    fn drop(&mut self) {
        self.shared.remove();
    }
}
