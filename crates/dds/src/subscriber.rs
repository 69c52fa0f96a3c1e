//! Subscribers: what several readers have in common.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use tickwire_base::Instant;
use tickwire_rtps::qos::PresentationScope;
use tickwire_rtps::reader::{Decision, GroupSets};
use tickwire_rtps::wire::{Guid, SequenceNumber};

use crate::DataReader;
use crate::clock;
use crate::content_filter::TopicDescription;
use crate::core::Core;
use crate::enabling::Enabling;
use crate::endpoints::{self, Factory};
use crate::error::{EnableError, EndpointError, SetQosError};
use crate::group_listener::{SubscriberListener, listeners_of_readers};
use crate::lifeline::Lifeline;
use crate::listeners::GroupListener;
use crate::qos::{DataReaderQos, GroupQos, Presentation};
use crate::reader::StateMask;
use crate::reader::endpoint::{Listed, ReaderEndpoint};
use crate::reader::room::Room;
use crate::signal::{Observers, lock};
use crate::status::StatusMask;
use crate::type_support::TopicSupport;
use crate::wait_set::{Condition, Trigger};

/// The QoS of a [`Subscriber`].
pub type SubscriberQos = GroupQos;

/// Makes readers that share PARTITION, PRESENTATION and GROUP_DATA. Clones are the same subscriber.
#[derive(Clone)]
pub struct Subscriber {
    lifeline: Arc<Lifeline>,
    shared: Arc<SubscriberShared>,
}

/// A subscriber without what keeps its participant.
pub(crate) struct SubscriberShared {
    qos: Mutex<SubscriberQos>,
    pub(crate) group: Arc<SubscriberGroup>,
    pub(crate) enabling: Arc<Enabling>,
}

impl SubscriberShared {
    pub(crate) fn new(core: &Core, qos: SubscriberQos) -> Self {
        let group = Arc::new(SubscriberGroup::new(qos.presentation_qos()));
        let nothing = Box::new(|| Ok(()));
        let enabling = Enabling::new(Some(&core.enabling), qos.autoenables(), nothing);
        // There is nothing to do that could fail.
        let _ = enabling.begin();
        Self {
            qos: Mutex::new(qos),
            group,
            enabling,
        }
    }
}

impl Subscriber {
    pub(crate) fn new(lifeline: Arc<Lifeline>, qos: SubscriberQos) -> Self {
        let shared = Arc::new(SubscriberShared::new(&lifeline.core, qos));
        Self { lifeline, shared }
    }

    pub(crate) fn from_parts(lifeline: Arc<Lifeline>, shared: Arc<SubscriberShared>) -> Self {
        Self { lifeline, shared }
    }

    /// Has the subscriber take part, where the participant does not
    /// [enable](crate::DomainParticipantBuilder::autoenable_created_entities) it, and with it what it
    /// has made unless its own
    /// [ENTITY_FACTORY](GroupQos::autoenable_created_entities) says otherwise. Nothing changes if it is
    /// enabled already.
    ///
    /// # Errors
    /// When the participant is not enabled, or a reader cannot be announced; then the others are
    /// enabled all the same.
    pub fn enable(&self) -> Result<(), EnableError> {
        self.shared.enabling.enable()
    }

    /// A reader.
    ///
    /// # Errors
    /// When two policies contradict each other, one is not implemented, or the QoS is too long to
    /// announce.
    pub fn reader<T: TopicSupport>(
        &self,
        topic: &impl TopicDescription<T>,
        qos: DataReaderQos,
    ) -> Result<DataReader<T>, EndpointError> {
        // Held until the reader is known, lest a change passes it by.
        let own = lock(&self.shared.qos);
        let qos = qos.with(|policies| own.apply(policies));
        let factory = Factory::Group(&self.shared.group, &self.shared.enabling);
        endpoints::reader(&self.lifeline, topic, &qos, factory)
    }

    /// The QoS that the subscriber has now.
    pub fn qos(&self) -> SubscriberQos {
        lock(&self.shared.qos).clone()
    }

    /// Changes ENTITY_FACTORY, and PARTITION and GROUP_DATA of the subscriber and all its readers (DDS 1.4 §2.2.3.13 and
    /// §2.2.3.3). Writers that match only the old or only the new ones leave or come.
    ///
    /// # Errors
    /// When PRESENTATION differs, or the QoS is too long to announce. Then nothing changes.
    pub fn set_qos(&self, qos: SubscriberQos) -> Result<(), SetQosError> {
        let mut own = lock(&self.shared.qos);
        if qos.presentation_qos() != own.presentation_qos() {
            return Err(SetQosError::Immutable("PRESENTATION"));
        }
        let readers = self.shared.group.readers();
        let readers: Vec<_> = readers.iter().map(|reader| reader.guid()).collect();
        endpoints::change_group(&self.lifeline.core, &readers, &qos)?;
        self.shared.enabling.set_autoenables(qos.autoenables());
        *own = qos;
        Ok(())
    }

    /// Begins to look at all readers together (DDS 1.4 §2.2.2.5.2.8): until the result is dropped or
    /// [ended](Access::end_access), no further coherent set of GROUP scope appears in any of them.
    /// May be nested.
    ///
    /// Only with GROUP scope does it make a difference: there, what is read without it may show a
    /// set in one reader and, for a moment, not yet in the next. Samples that are in no set, and all
    /// samples without coherent access, appear as they come.
    pub fn begin_access(&self) -> Access {
        lock(&self.shared.group.state).accesses += 1;
        Access {
            group: Arc::clone(&self.shared.group),
            _lifeline: Arc::clone(&self.lifeline),
        }
    }

    /// Has the listener told of what happens to readers of this subscriber, where they have none of
    /// their own for it.
    pub fn set_listener(&self, listener: impl SubscriberListener) {
        self.set_listener_for(StatusMask::ALL, listener);
    }

    /// The same for the statuses in `mask` alone. Of others, the participant's listener is told.
    /// With [`StatusMask::DATA_ON_READERS`] the listener is told of data in place of the readers'
    /// own listeners, which [`notify_datareaders`](Self::notify_datareaders) then tells.
    pub fn set_listener_for(&self, mask: StatusMask, listener: impl SubscriberListener) {
        let core = Arc::downgrade(&self.lifeline.core);
        self.shared
            .group
            .listener
            .set(mask, listeners_of_readers(core, listener));
    }

    /// Has nobody told any more, and waits until a call of the listener on another thread has
    /// returned. Not to be called with a lock held that the listener takes.
    pub fn remove_listener(&self) {
        self.shared.group.listener.remove();
    }

    /// Has the listeners of the readers told that have data which was not read (DDS 1.4
    /// §2.2.2.5.2.11); they are called on a thread that delivers data.
    pub fn notify_datareaders(&self) {
        for reader in self.shared.group.readers() {
            reader.notify();
        }
    }

    /// The statuses that have changed: [`StatusMask::DATA_ON_READERS`], the only one of subscribers, from
    /// when data comes to any of its readers until any of them is read (DDS 1.4 §2.2.4.2.2). Unlike
    /// in the standard, that a listener is called does not clear it, nor DATA_AVAILABLE of a reader: who
    /// waits hears of what a listener has left unread.
    pub fn status_changes(&self) -> StatusMask {
        self.shared.group.changes()
    }

    /// A condition that holds while one of these statuses has changed.
    pub fn status_condition(&self, mask: StatusMask) -> Condition {
        Condition::new(SubscriberCondition {
            core: Arc::clone(&self.lifeline.core),
            group: Arc::clone(&self.shared.group),
            mask,
        })
    }

    pub(crate) fn shared(&self) -> &SubscriberShared {
        &self.shared
    }
}

struct SubscriberCondition {
    core: Arc<Core>,
    group: Arc<SubscriberGroup>,
    mask: StatusMask,
}

impl Trigger for SubscriberCondition {
    fn holds(&self) -> bool {
        self.group.changes().intersects(self.mask)
    }

    fn observers(&self) -> &Observers {
        &self.group.observers
    }

    fn core(&self) -> Option<Arc<Core>> {
        Some(Arc::clone(&self.core))
    }
}

/// A look at all readers of a subscriber; see [`Subscriber::begin_access`]. It ends when this is
/// dropped.
#[must_use = "the access ends when this is dropped"]
pub struct Access {
    group: Arc<SubscriberGroup>,
    _lifeline: Arc<Lifeline>,
}

impl Access {
    /// The readers that have samples in these states, by their names (`get_datareaders`; DDS 1.4
    /// §2.2.2.5.2.10).
    ///
    /// With ordered access of GROUP scope there is one entry for each sample, in the order in which
    /// the writers of a publisher made them; those of several publishers are in the order of their
    /// source timestamps. Take one sample ([`max_samples(1)`](crate::reader::Select::max_samples))
    /// from each reader in turn to get that order. A sample that was lost on the way and has been
    /// sent again may come later than what was made after it. Otherwise each reader is there once,
    /// in no particular order.
    pub fn datareaders(&self, mask: StateMask) -> Vec<Guid> {
        let mut samples = Vec::new();
        for reader in self.group.readers() {
            reader.list(mask, &mut samples);
        }
        match self.group.is_ordered() {
            true => in_order(samples),
            false => {
                samples.dedup_by_key(|sample| sample.reader);
                samples.into_iter().map(|sample| sample.reader).collect()
            }
        }
    }

    /// Ends the access; the same as dropping.
    pub fn end_access(self) {}
}

impl Drop for Access {
    fn drop(&mut self) {
        lock(&self.group.state).accesses -= 1;
        self.group.release();
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").finish_non_exhaustive()
    }
}

/// The readers of samples: each publisher's by its numbers, and of several publishers the one first
/// whose next sample was made first.
fn in_order(mut samples: Vec<Listed>) -> Vec<Guid> {
    samples.sort_by_key(|sample| (sample.publisher, sample.group_number, sample.made));
    let mut publishers: Vec<_> = samples
        .chunk_by(|one, other| one.publisher == other.publisher)
        .map(|chunk| chunk.iter().peekable())
        .collect();
    let mut readers = Vec::with_capacity(samples.len());
    while let Some(next) = publishers
        .iter_mut()
        .filter_map(|samples| Some((samples.peek()?.made, samples)))
        .min_by_key(|(made, _)| *made)
    {
        readers.extend(next.1.next().map(|sample| sample.reader));
    }
    readers
}

/// What the readers of a subscriber share. Its lock is taken before those of readers.
pub(crate) struct SubscriberGroup {
    presentation: Presentation,
    pub(crate) listener: Arc<GroupListener>,
    readers: Mutex<Vec<Weak<dyn ReaderEndpoint>>>,
    state: Mutex<GroupState>,
    has_data: AtomicBool,
    observers: Observers,
}

/// How many look at the readers, and what is known of their sets.
#[derive(Default)]
pub(crate) struct GroupState {
    accesses: u32,
    pub(crate) sets: GroupSets,
}

impl SubscriberGroup {
    fn new(presentation: Presentation) -> Self {
        Self {
            presentation,
            listener: Arc::default(),
            readers: Mutex::default(),
            state: Mutex::default(),
            has_data: AtomicBool::new(false),
            observers: Observers::default(),
        }
    }

    /// Data has come to a reader, or a reader is read.
    pub(crate) fn set_data_on_readers(&self, has_data: bool) {
        self.has_data.store(has_data, Ordering::Release);
    }

    /// Wakes those who wait for the subscriber.
    pub(crate) fn raise(&self) {
        self.observers.raise();
    }

    /// The reader that data came to may be gone, and the data with it.
    fn changes(&self) -> StatusMask {
        let has_news = || self.readers().iter().any(|reader| reader.has_news());
        match self.has_data.load(Ordering::Acquire) && has_news() {
            true => StatusMask::DATA_ON_READERS,
            false => StatusMask::NONE,
        }
    }

    /// Whether sets span readers.
    pub(crate) fn decides(&self) -> bool {
        self.presentation.coherent_access
            && self.presentation.access_scope == PresentationScope::Group
    }

    fn is_ordered(&self) -> bool {
        self.presentation.ordered_access
            && self.presentation.access_scope == PresentationScope::Group
    }

    pub(crate) fn add(&self, reader: Arc<dyn ReaderEndpoint>) {
        let mut readers = lock(&self.readers);
        readers.retain(|known| known.strong_count() > 0);
        readers.push(Arc::downgrade(&reader));
    }

    fn readers(&self) -> Vec<Arc<dyn ReaderEndpoint>> {
        lock(&self.readers)
            .iter()
            .filter_map(Weak::upgrade)
            .collect()
    }

    /// A reader is gone; sets do not wait for it.
    pub(crate) fn remove(&self, reader: Guid) {
        let is_other = |known: &Weak<dyn ReaderEndpoint>| {
            let known = known.upgrade();
            known.is_some_and(|known| known.guid() != reader)
        };
        let mut state = self.lock();
        lock(&self.readers).retain(is_other);
        state.sets.remove_reader(reader);
        self.carry_out(clock::now(), &mut state);
    }

    /// For those who tell what has come to a reader: from before they lock the reader until they have
    /// told it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, GroupState> {
        lock(&self.state)
    }

    /// Shows the sets that are whole and have room in all readers, unless somebody is looking; lets
    /// go of those that never will be.
    pub(crate) fn release(&self) {
        self.carry_out(clock::now(), &mut self.lock());
    }

    /// The same under the lock.
    pub(crate) fn carry_out(&self, now: Instant, state: &mut GroupState) {
        loop {
            let decisions: Vec<_> = state.sets.decisions(now).collect();
            let mut is_over = true;
            for decision in decisions {
                if let Some(decision) = self.decide(decision, state.accesses > 0) {
                    state.sets.done(&decision);
                    is_over = false;
                }
            }
            if is_over {
                return;
            }
        }
    }

    /// Shows or discards a set, and says which; nothing if it has to wait.
    fn decide(&self, mut decision: Decision, is_looked_at: bool) -> Option<Decision> {
        if decision.judgement.is_whole && is_looked_at {
            return None;
        }
        let (publisher, set) = (decision.publisher, decision.set);
        let readers = self.readers();
        if decision.judgement.is_whole {
            match room_for(&readers, publisher, set) {
                Room::Enough => {}
                Room::NotYet(..) => return None,
                Room::Never(_) => decision.judgement.is_whole = false,
            }
        }
        for reader in readers {
            reader.decide(&decision);
        }
        Some(decision)
    }
}

/// Whether all readers have room for their parts.
fn room_for(readers: &[Arc<dyn ReaderEndpoint>], publisher: Guid, set: SequenceNumber) -> Room {
    let mut all = Room::Enough;
    for reader in readers {
        match reader.room_for_set(publisher, set) {
            Room::Enough => {}
            Room::Never(reason) => return Room::Never(reason),
            not_yet => all = not_yet,
        }
    }
    all
}

#[cfg(test)]
#[path = "subscriber_tests/mod.rs"]
mod tests;
