//! Publishers: what several writers have in common.

use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tickwire_rtps::Outbox;
use tickwire_rtps::qos::PresentationScope;
use tickwire_rtps::wire::{EntityId, GroupDigest, Guid, SequenceNumber};
use tickwire_rtps::writer::EndedSet;

use crate::DataWriter;
use crate::clock;
use crate::enabling::Enabling;
use crate::endpoints::{self, Factory};
use crate::error::{EnableError, EndpointError, SetQosError};
use crate::group_listener::{PublisherListener, listeners_of_writers};
use crate::lifeline::Lifeline;
use crate::listeners::GroupListener;
use crate::outgoing::{self, SuspendedPublications};
use crate::qos::{DataWriterQos, GroupQos, Presentation};
use crate::signal::lock;
use crate::status::StatusMask;
use crate::topic::Topic;
use crate::type_support::TopicSupport;
use crate::writer::endpoint::WriterEndpoint;

/// The QoS of a [`Publisher`].
pub type PublisherQos = GroupQos;

/// Makes writers that share PARTITION, PRESENTATION and GROUP_DATA. Clones are the same publisher.
#[derive(Clone)]
pub struct Publisher {
    lifeline: Arc<Lifeline>,
    qos: Arc<Mutex<PublisherQos>>,
    group: Arc<PublisherGroup>,
    enabling: Arc<Enabling>,
}

impl Publisher {
    pub(crate) fn new(lifeline: Arc<Lifeline>, qos: PublisherQos) -> Self {
        let core = &lifeline.core;
        // Without a name left there are none for writers either.
        let key = core.next_entity_key().unwrap_or_default();
        let guid = Guid::new(core.prefix, EntityId::user_publisher(key));
        let group = Arc::new(PublisherGroup::new(guid, qos.presentation_qos()));
        let nothing = Box::new(|| Ok(()));
        let enabling = Enabling::new(Some(&lifeline.core.enabling), qos.autoenables(), nothing);
        // There is nothing to do that could fail.
        let _ = enabling.begin();
        Self {
            lifeline,
            qos: Arc::new(Mutex::new(qos)),
            group,
            enabling,
        }
    }

    /// Has the publisher take part, where the participant does not
    /// [enable](crate::DomainParticipantBuilder::autoenable_created_entities) it, and with it what it
    /// has made unless its own
    /// [ENTITY_FACTORY](GroupQos::autoenable_created_entities) says otherwise. Nothing changes if it is
    /// enabled already.
    ///
    /// # Errors
    /// When the participant is not enabled, or a writer cannot be announced; then the others are
    /// enabled all the same.
    pub fn enable(&self) -> Result<(), EnableError> {
        self.enabling.enable()
    }

    /// A writer.
    ///
    /// # Errors
    /// When two policies contradict each other, one is not implemented, or the QoS is too long to
    /// announce.
    pub fn writer<T: TopicSupport>(
        &self,
        topic: &Topic<T>,
        qos: DataWriterQos,
    ) -> Result<DataWriter<T>, EndpointError> {
        // Held until the writer is known, lest a change passes it by.
        let own = lock(&self.qos);
        let qos = qos.with(|policies| own.apply(policies));
        let factory = Factory::Group(&self.group, &self.enabling);
        endpoints::writer(&self.lifeline, topic, &qos, factory)
    }

    /// The QoS that the publisher has now.
    pub fn qos(&self) -> PublisherQos {
        lock(&self.qos).clone()
    }

    /// Changes ENTITY_FACTORY, and PARTITION and GROUP_DATA of the publisher and all its writers (DDS 1.4 §2.2.3.13 and
    /// §2.2.3.3). Readers that match only the old or only the new ones leave or come.
    ///
    /// # Errors
    /// When PRESENTATION differs, or the QoS is too long to announce. Then nothing changes.
    pub fn set_qos(&self, qos: PublisherQos) -> Result<(), SetQosError> {
        let mut own = lock(&self.qos);
        if qos.presentation_qos() != own.presentation_qos() {
            return Err(SetQosError::Immutable("PRESENTATION"));
        }
        let writers = self.group.writers();
        endpoints::change_group(&self.lifeline.core, &writers, &qos)?;
        self.enabling.set_autoenables(qos.autoenables());
        *own = qos;
        Ok(())
    }

    /// Begins a coherent set (DDS 1.4 §2.2.2.4.1.10): readers with coherent access see what all
    /// writers of this publisher write from here on together, or not at all, once the result is
    /// dropped or [ended](CoherentChanges::end_coherent_changes).
    ///
    /// ```
    /// # use tickwire::{DomainParticipant, PublisherQos, Topic, qos::Presentation};
    /// # #[derive(Topic)]
    /// # struct Leg { #[topic(key)] id: u32, price: i64 }
    /// # let participant = DomainParticipant::new(0)?;
    /// let publisher = participant.publisher(PublisherQos::default().presentation(Presentation {
    ///     coherent_access: true,
    ///     ..Presentation::default()
    /// }));
    /// # let topic = participant.topic::<Leg>("Legs")?;
    /// let writer = publisher.writer(&topic, Default::default())?;
    /// let both_legs = publisher.begin_coherent_changes();
    /// writer.write(&Leg { id: 1, price: 100 })?;
    /// writer.write(&Leg { id: 2, price: 101 })?;
    /// both_legs.end_coherent_changes();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The writes of all threads belong to the set. Sets may be nested: the outermost counts. A set
    /// belongs together within each writer, and with GROUP scope across the publisher's writers.
    /// Samples are sent at once, in the set or not; with [KEEP_LAST](DataWriterQos::keep_last) a
    /// sample that is replaced before a reader has it makes its whole set invisible to that reader.
    /// Nothing begins if the publisher does not offer
    /// [coherent access](PublisherQos::presentation).
    pub fn begin_coherent_changes(&self) -> CoherentChanges {
        self.group.begin();
        CoherentChanges {
            group: Arc::clone(&self.group),
            lifeline: Arc::clone(&self.lifeline),
        }
    }

    /// Has the listener told of what happens to writers of this publisher, where they have none of
    /// their own for it.
    pub fn set_listener(&self, listener: impl PublisherListener) {
        self.set_listener_for(StatusMask::ALL, listener);
    }

    /// The same for the statuses in `mask` alone. Of others, the participant's listener is told.
    pub fn set_listener_for(&self, mask: StatusMask, listener: impl PublisherListener) {
        let core = Arc::downgrade(&self.lifeline.core);
        self.group
            .listener
            .set(mask, listeners_of_writers(core, listener));
    }

    /// Has nobody told any more, and waits until a call of the listener on another thread has
    /// returned. Not to be called with a lock held that the listener takes.
    pub fn remove_listener(&self) {
        self.group.listener.remove();
    }

    /// Sends what waits for company: samples of all writers of the participant that have a
    /// [LATENCY_BUDGET](DataWriterQos::latency_budget), or that were written faster than they could be
    /// sent, and what the calling thread [holds back](Self::suspend_publications). All that was
    /// written before is sent when this returns.
    pub fn flush(&self) {
        outgoing::flush();
        self.lifeline.core.flush();
    }

    /// Says that many samples are about to be written, and holds back what the calling thread writes
    /// until the result is dropped (DDS 1.4 §2.2.2.4.1.10): samples that go the same way then share
    /// datagrams, and one system call sends up to 32 of these.
    ///
    /// ```
    /// # let participant = tickwire::DomainParticipant::new(0)?;
    /// # let publisher = participant.publisher(tickwire::PublisherQos::default());
    /// let suspended = publisher.suspend_publications();
    /// // ... many writes, to one or several topics ...
    /// suspended.resume_publications();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The first sample waits for the last, so this pays for samples that are at hand together, not
    /// for those that have yet to come. What is held back leaves earlier when it reaches 64 KiB, when
    /// the thread waits in this library for anything (also for room in a writer), and when a writer
    /// ends. A reader that has samples of other threads from the same writer waits for these.
    ///
    /// It covers all writers of the participant, and may be nested: publications resume with the
    /// last. While those of one participant are suspended, the thread's writes in another one leave
    /// at once.
    pub fn suspend_publications(&self) -> SuspendedPublications {
        SuspendedPublications::new(&self.lifeline)
    }
}

/// A coherent set that has not ended; see [`Publisher::begin_coherent_changes`]. It ends when this is
/// dropped.
#[must_use = "the set ends when this is dropped"]
pub struct CoherentChanges {
    group: Arc<PublisherGroup>,
    lifeline: Arc<Lifeline>,
}

impl CoherentChanges {
    /// Ends the set; the same as dropping.
    pub fn end_coherent_changes(self) {}
}

impl Drop for CoherentChanges {
    fn drop(&mut self) {
        let core = &self.lifeline.core;
        outgoing::publish(
            core,
            clock::now(),
            || Duration::ZERO,
            |outbox, _| {
                self.group.end(outbox);
            },
        );
    }
}

impl fmt::Debug for CoherentChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoherentChanges").finish_non_exhaustive()
    }
}

/// What the writers of a publisher share.
pub(crate) struct PublisherGroup {
    guid: Guid,
    pub(crate) listener: Arc<GroupListener>,
    is_coherent: bool,
    pub(crate) is_group: bool,
    /// The last number given to a change of any of the writers; GROUP scope only.
    last_number: AtomicI64,
    state: Mutex<GroupState>,
}

#[derive(Default)]
struct GroupState {
    /// Sets that have begun, one in the other.
    depth: u32,
    /// The number of the outermost; [`SequenceNumber::ZERO`] without GROUP scope.
    set: SequenceNumber,
    writers: Vec<Weak<WriterEndpoint>>,
    /// Writers that have left after they wrote in the set; GROUP scope only.
    gone: Vec<EntityId>,
}

impl PublisherGroup {
    fn new(guid: Guid, presentation: Presentation) -> Self {
        Self {
            guid,
            listener: Arc::default(),
            is_coherent: presentation.coherent_access,
            is_group: presentation.access_scope == PresentationScope::Group,
            last_number: AtomicI64::new(0),
            state: Mutex::default(),
        }
    }

    /// What its writers announce of it, so that readers know whose numbers theirs are.
    pub(crate) fn announced(&self) -> Option<Guid> {
        self.is_group.then_some(self.guid)
    }

    /// A new writer, which joins a set that has begun.
    pub(crate) fn add(&self, writer: &Arc<WriterEndpoint>) {
        let mut state = lock(&self.state);
        state.writers.retain(|known| known.strong_count() > 0);
        state.writers.push(Arc::downgrade(writer));
        if state.depth > 0 && self.is_coherent {
            writer.begin_set(state.set);
        }
    }

    /// A writer leaves. If it has a part in the set that has begun, readers are told of it at the
    /// end, lest one that never knew the writer takes the set for whole.
    pub(crate) fn remove(&self, writer: &WriterEndpoint) {
        let mut state = lock(&self.state);
        let is_other = |known: &Weak<WriterEndpoint>| known.as_ptr() != ptr::from_ref(writer);
        state.writers.retain(is_other);
        if state.depth > 0 && writer.has_part() {
            state.gone.push(writer.guid.entity);
        }
    }

    fn writers(&self) -> Vec<Guid> {
        let state = lock(&self.state);
        let writers = state.writers.iter().filter_map(Weak::upgrade);
        writers.map(|writer| writer.guid).collect()
    }

    /// The number of the next change. To be called under the lock of its writer, so that each
    /// writer's numbers ascend.
    pub(crate) fn next_number(&self) -> SequenceNumber {
        match self.is_group {
            true => SequenceNumber(self.last_number.fetch_add(1, Ordering::Relaxed) + 1),
            false => SequenceNumber::ZERO,
        }
    }

    fn begin(&self) {
        let mut state = lock(&self.state);
        state.depth += 1;
        if state.depth > 1 || !self.is_coherent {
            return;
        }
        state.set = match self.is_group {
            true => SequenceNumber(self.last_number.load(Ordering::Relaxed) + 1),
            false => SequenceNumber::ZERO,
        };
        for writer in state.writers.iter().filter_map(Weak::upgrade) {
            writer.begin_set(state.set);
        }
    }

    fn end(&self, outbox: &mut Outbox) {
        // The lock of a log comes before that of the publisher.
        for (writer, ended) in self.end_in_all(outbox) {
            writer.keep_end_of_set(ended);
        }
    }

    /// Under the lock, lest the next set begins in some writers before this one has ended in all. The
    /// ends of durable writers are to be kept.
    fn end_in_all(&self, outbox: &mut Outbox) -> Vec<(Arc<WriterEndpoint>, EndedSet)> {
        let mut state = lock(&self.state);
        state.depth = state.depth.saturating_sub(1);
        if state.depth > 0 || !self.is_coherent {
            return Vec::new();
        }
        let number = self.next_number();
        let gone = std::mem::take(&mut state.gone);
        let writers: Vec<_> = state.writers.iter().filter_map(Weak::upgrade).collect();
        let digest = match self.is_group {
            true => digest(&writers, gone),
            false => GroupDigest::NONE,
        };
        let ended = writers.into_iter().filter_map(|writer| {
            let ended = writer.end_set(number, digest, outbox)?;
            Some((writer, ended))
        });
        ended.collect()
    }
}

/// The writers that others know of, and those that are gone.
fn digest(writers: &[Arc<WriterEndpoint>], gone: Vec<EntityId>) -> GroupDigest {
    let announced = writers.iter().filter(|writer| writer.is_announced());
    let mut ids: Vec<_> = announced.map(|writer| writer.guid.entity).collect();
    ids.extend(gone);
    ids.sort_unstable();
    GroupDigest::of(&ids)
}
