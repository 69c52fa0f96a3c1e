//! The writer's side of the API.

mod any;
mod description;
pub(crate) mod durable;
#[cfg(test)]
mod durable_tests;
pub(crate) mod endpoint;
mod handed;
mod lifecycle;
mod listener;
#[cfg(test)]
mod priority_tests;
pub(crate) mod served;
mod several;
pub(crate) mod syncer;

use std::fmt;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tickwire_base::{Instant, Timestamp};
use tickwire_cdr::Representation;
use tickwire_rtps::discovery::Role;
use tickwire_rtps::wire::{Guid, SequenceNumber};
use tickwire_rtps::{Change, ChangeKind, SampleIdentity};
use tickwire_transport::shm;

pub use any::AnyDataWriter;
pub use handed::{COPIED_LEN, HandedMemory};
pub use listener::DataWriterListener;
pub use served::ServedLog;
pub use tickwire_rtps::writer::{ReaderLag, ReaderStatus, WriterCounters};
pub use tickwire_store::LogCounters;

use crate::clock;
use crate::enabling::Enabling;
use crate::endpoints;
use crate::error::{Awaited, EnableError, SetQosError, Timeout, WriteError};
use crate::lifeline::Lifeline;
use crate::loan::{BytesInPlace, Lender, Loan, LoanError};
use crate::outgoing::Scratch;
use crate::qos::DataWriterQos;
use crate::reader::InstanceHandle;
use crate::signal::{Ended, lock};
use crate::status::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, MatchedStatus, StatusMask,
};
use crate::topic::Topic;
use crate::type_support::{Payload, Serialized, TopicSupport, Written};
use crate::wait_set::{Condition, WriterCondition};
use endpoint::WriterEndpoint;
use lifecycle::Instances;

/// Publishes samples of a topic. Clones are the same writer; it ends with the last of them.
///
/// The end waits up to a second until all reliable readers have what was written, so that a program
/// may write and exit. It disposes of the instances that the writer has not ended, unless
/// [WRITER_DATA_LIFECYCLE](DataWriterQos::autodispose_unregistered_instances) says not to; readers of
/// a writer that dies otherwise see them without writers.
///
/// Any number of threads may write. The samples of one thread keep their order.
pub struct DataWriter<T: TopicSupport> {
    handle: Arc<Handle<T>>,
}

/// Ends the writer when the application has let go of it.
struct Handle<T: TopicSupport> {
    endpoint: Arc<WriterEndpoint>,
    topic: Topic<T>,
    qos: Mutex<DataWriterQos>,
    enabling: Arc<Enabling>,
    instances: Instances,
    lifeline: Arc<Lifeline>,
    /// Whether nobody is to wait for something of it any more.
    ended: Ended,
}

impl<T: TopicSupport> DataWriter<T> {
    pub(crate) fn new(
        endpoint: Arc<WriterEndpoint>,
        topic: Topic<T>,
        qos: DataWriterQos,
        enabling: Arc<Enabling>,
        lifeline: Arc<Lifeline>,
    ) -> Self {
        let handle = Handle {
            endpoint,
            topic,
            qos: Mutex::new(qos),
            enabling,
            instances: Instances::default(),
            lifeline,
            ended: Ended::default(),
        };
        Self {
            handle: Arc::new(handle),
        }
    }

    /// Writes a sample, made now. From here to the system call that sends it everything runs on the
    /// calling thread.
    ///
    /// # Errors
    /// [`WriteError::Timeout`] if a reliable KEEP_ALL writer found no room within its
    /// `max_blocking_time`, [`WriteError::NotEnabled`] before the writer is
    /// [enabled](Self::enable).
    pub fn write(&self, sample: &T) -> Result<SequenceNumber, WriteError> {
        self.change(ChangeKind::Alive, sample, clock::both())
    }

    /// Writes a sample that was made at `timestamp`.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_with_timestamp(
        &self,
        sample: &T,
        timestamp: Timestamp,
    ) -> Result<SequenceNumber, WriteError> {
        self.change(ChangeKind::Alive, sample, (clock::now(), timestamp))
    }

    /// Writes a sample that answers another one, such as a reply to a request, made now: its
    /// [`related`](crate::SampleInfo::related) says which (DDS-RPC 1.0 §7.8.2). Logs of TRANSIENT and PERSISTENT
    /// writers do not keep that.
    ///
    /// # Errors
    /// [`WriteError::NotRelated`] unless the writer's QoS has
    /// [`related_samples`](DataWriterQos::related_samples); else as [`write`](Self::write).
    pub fn write_related(
        &self,
        sample: &T,
        related: SampleIdentity,
    ) -> Result<SequenceNumber, WriteError> {
        if !lock(&self.handle.qos).related_samples {
            return Err(WriteError::NotRelated);
        }
        self.change_of(ChangeKind::Alive, sample, clock::both(), Some(related))
    }

    /// Lends `len` bytes to be written in place, for topics whose type is one sequence of bytes: see [`loan`](crate::loan).
    /// Nothing is copied where all readers follow the writer's log in shared memory, a loan is free, and
    /// [`max_loan_bytes`](DataWriterQos::max_loan_bytes) is not less. Else the loan is memory of the writer's own,
    /// which may have to be allocated: one of more than 64 KiB is handed over when it is written, and sent from there
    /// (unless the writer is durable), and a shorter one is copied.
    ///
    /// # Errors
    /// If the type is another one, or has not so many bytes.
    pub fn loan(&self, len: usize) -> Result<Loan<'_, T>, LoanError> {
        Loan::new(self, len)
    }

    /// The encoding of its samples.
    pub(crate) fn representation(&self) -> Representation {
        self.handle.endpoint.representation
    }

    pub(crate) fn lender(&self) -> Option<&Lender> {
        self.handle.endpoint.lender.as_ref()
    }

    /// How often there was no [loan](Self::loan) that readers see, as all that the writer has were written to, kept or
    /// held.
    pub fn loans_used_up(&self) -> u64 {
        self.lender().map_or(0, Lender::used_up)
    }

    /// Writes `len` bytes that lie where readers see them.
    pub(crate) fn write_lent(
        &self,
        lender: &Lender,
        loan: shm::Loan,
        len: usize,
        (now, timestamp): (Instant, Timestamp),
    ) -> Result<SequenceNumber, WriteError> {
        let change = self.value_at(timestamp)?;
        self.write_loan(lender, loan, len, (now, &change))
    }

    /// Writes a change whose `len` bytes lie where readers see them.
    pub(crate) fn write_loan(
        &self,
        lender: &Lender,
        loan: shm::Loan,
        len: usize,
        (now, change): (Instant, &Change),
    ) -> Result<SequenceNumber, WriteError> {
        let endpoint = &self.handle.endpoint;
        endpoint.write_lent(now, lender, change, loan, len)
    }

    /// Writes a payload; what is left of it is memory for another.
    pub(crate) fn write_serialized(
        &self,
        payload: &mut Vec<u8>,
        (now, timestamp): (Instant, Timestamp),
    ) -> Result<SequenceNumber, WriteError> {
        let change = self.value_at(timestamp)?;
        let endpoint = &self.handle.endpoint;
        endpoint.write_serialized(now, &change, payload)
    }

    /// A change to a value of a type without key.
    fn value_at(&self, timestamp: Timestamp) -> Result<Change, WriteError> {
        match self.handle.enabling.is_enabled() {
            true => Ok(Change {
                source_timestamp: Some(timestamp),
                ..Change::default()
            }),
            false => Err(WriteError::NotEnabled),
        }
    }

    /// Ends the instance that `sample`'s key names; its other members do not count.
    ///
    /// # Errors
    /// [`WriteError::NoKey`] for types without a key; else as [`write`](Self::write).
    pub fn dispose(&self, sample: &T) -> Result<SequenceNumber, WriteError> {
        self.dispose_with_timestamp(sample, clock::both().1)
    }

    /// [Disposes](Self::dispose) of an instance as of `timestamp`.
    ///
    /// # Errors
    /// As [`dispose`](Self::dispose).
    pub fn dispose_with_timestamp(
        &self,
        sample: &T,
        timestamp: Timestamp,
    ) -> Result<SequenceNumber, WriteError> {
        self.end(ChangeKind::Disposed, sample, timestamp)
    }

    /// Says that this writer has nothing more to say about the instance that `sample`'s key names,
    /// and disposes of it unless the QoS says not to.
    ///
    /// # Errors
    /// As [`dispose`](Self::dispose).
    pub fn unregister(&self, sample: &T) -> Result<SequenceNumber, WriteError> {
        self.unregister_with_timestamp(sample, clock::both().1)
    }

    /// [Unregisters](Self::unregister) an instance as of `timestamp`.
    ///
    /// # Errors
    /// As [`dispose`](Self::dispose).
    pub fn unregister_with_timestamp(
        &self,
        sample: &T,
        timestamp: Timestamp,
    ) -> Result<SequenceNumber, WriteError> {
        let kind = match self.handle.endpoint.autodisposes() {
            true => ChangeKind::DisposedUnregistered,
            false => ChangeKind::Unregistered,
        };
        self.end(kind, sample, timestamp)
    }

    /// The name of the sample's instance. Instances need no registration before they are written.
    ///
    /// # Errors
    /// [`WriteError::Sample`] if the key has no encoding.
    pub fn register(&self, sample: &T) -> Result<InstanceHandle, WriteError> {
        let hash = self.key_hash(sample, Representation::Xcdr2)?;
        Ok(hash.map_or(InstanceHandle::KEYLESS, InstanceHandle))
    }

    /// Waits until every matched reliable reader has acknowledged everything written so far, and does the work of the
    /// [control thread](crate::Driving::Threaded) meanwhile, unless another thread that waits does.
    ///
    /// # Errors
    /// When that takes longer than `timeout`.
    pub fn wait_for_acknowledgments(&self, timeout: Duration) -> Result<(), Timeout> {
        let Handle {
            endpoint, ended, ..
        } = &*self.handle;
        let acknowledged = endpoint.wait_for_acknowledgments(timeout, ended);
        acknowledged.ok_or(Timeout {
            awaited: Awaited::Acknowledgments,
            waited: timeout,
        })
    }

    /// Waits until at least `count` readers match, and each reliable one of them has been heard
    /// from: it knows this writer, then, and gets all that is written from here on. A best-effort
    /// reader says nothing, and may miss what is written before it knows this writer.
    ///
    /// It also waits until shared memory is agreed on with those that can have it, but not longer than
    /// 100 ms.
    ///
    /// # Errors
    /// When that takes longer than `timeout`.
    pub fn wait_for_matched(&self, count: u32, timeout: Duration) -> Result<(), Timeout> {
        let endpoint = &self.handle.endpoint;
        let deadline = clock::now() + timeout;
        let is_ready = |reader: &ReaderStatus| !reader.reliable || reader.acknacks > 0;
        let matched = || {
            let ready =
                endpoint.with_machine(|machine, _, _| machine.readers().filter(is_ready).count());
            (ready >= usize::try_from(count).unwrap_or(usize::MAX)).then_some(())
        };
        let ready = self.handle.ended.or(matched);
        let waited = endpoint.core.wait_for_control(timeout, ready);
        waited.flatten().ok_or(Timeout {
            awaited: Awaited::Readers,
            waited: timeout,
        })?;
        let pair = |reader: ReaderStatus| (endpoint.guid, reader.guid);
        let pairs = self.matched_subscriptions().into_iter().map(pair);
        endpoint
            .core
            .settle_ways(deadline, &pairs.collect::<Vec<_>>());
        Ok(())
    }

    /// Has all who wait for something of this writer return at once, as if their time were over, and whoever comes later: for
    /// a thread that is about to let go of it, which ends with the last of its clones.
    pub fn end_waits(&self) {
        self.handle.ended.set();
        self.handle.endpoint.core.raise();
    }

    /// Says that the writer lives, where its LIVELINESS is MANUAL_BY_TOPIC, or that all writers of
    /// the participant do whose LIVELINESS is MANUAL_BY_PARTICIPANT as this one's. A write says the
    /// same.
    pub fn assert_liveliness(&self) {
        self.handle.endpoint.assert_liveliness();
    }

    /// The readers matched now, and how far each has got.
    pub fn matched_subscriptions(&self) -> Vec<ReaderStatus> {
        let endpoint = &self.handle.endpoint;
        endpoint.with_machine(|machine, _, _| machine.readers().collect())
    }

    /// How far a matched reader is behind; `None` of one that is not matched, or is best effort.
    pub fn lag_of(&self, reader: Guid) -> Option<ReaderLag> {
        let endpoint = &self.handle.endpoint;
        endpoint.with_machine(|machine, _, _| machine.lag_of(reader))
    }

    /// What the writer has done so far.
    pub fn counters(&self) -> WriterCounters {
        let endpoint = &self.handle.endpoint;
        endpoint.with_machine(|machine, _, _| *machine.counters())
    }

    /// What the log of a TRANSIENT or PERSISTENT writer has done; `None` for others.
    pub fn log_counters(&self) -> Option<LogCounters> {
        self.handle.endpoint.durable.as_ref()?.counters()
    }

    /// The readers that matched, and clears the change.
    pub fn publication_matched_status(&self) -> MatchedStatus {
        let mask = StatusMask::PUBLICATION_MATCHED;
        self.handle.endpoint.status(mask, |all| all.matched.read())
    }

    /// The readers that ask for more than is offered, and clears the change.
    pub fn offered_incompatible_qos_status(&self) -> IncompatibleQosStatus {
        let mask = StatusMask::OFFERED_INCOMPATIBLE_QOS;
        let endpoint = &self.handle.endpoint;
        endpoint.status(mask, |all| all.incompatible_qos.read())
    }

    /// Periods of DEADLINE without a write, and clears the change.
    pub fn offered_deadline_missed_status(&self) -> DeadlineMissedStatus {
        let mask = StatusMask::OFFERED_DEADLINE_MISSED;
        let endpoint = &self.handle.endpoint;
        endpoint.status(mask, |all| all.deadline_missed.read())
    }

    /// How often the writer was not shown to live within the lease of its LIVELINESS, and clears the
    /// change. A manual writer that is lost is lost until it is asserted; an automatic one loses its
    /// lease when nobody drives the participant for as long.
    pub fn liveliness_lost_status(&self) -> CountStatus {
        let mask = StatusMask::LIVELINESS_LOST;
        let endpoint = &self.handle.endpoint;
        endpoint.status(mask, |all| all.liveliness_lost.read())
    }

    /// Statuses that changed since they were last read.
    pub fn status_changes(&self) -> StatusMask {
        self.handle.endpoint.changes()
    }

    /// A condition that holds while one of these statuses has changed.
    pub fn status_condition(&self, mask: StatusMask) -> Condition {
        let endpoint = Arc::clone(&self.handle.endpoint);
        Condition::new(WriterCondition { endpoint, mask })
    }

    /// Has the listener told of what happens from now on.
    pub fn set_listener(&self, listener: impl DataWriterListener<T>) {
        self.set_listener_for(StatusMask::ALL, listener);
    }

    /// Has the listener told of what happens to the statuses in `mask`. Of others, the listener of
    /// the publisher or of the participant is told.
    pub fn set_listener_for(&self, mask: StatusMask, listener: impl DataWriterListener<T>) {
        let mut listener = listener;
        let weak: Weak<Handle<T>> = Arc::downgrade(&self.handle);
        let endpoint = &self.handle.endpoint;
        let callback = move |news| {
            if let Some(handle) = weak.upgrade() {
                listener::dispatch(&mut listener, &Self { handle }, news);
            }
        };
        endpoint.listeners.own.set(Some(Box::new(callback)), mask);
        endpoint.core.call_listener_later(endpoint.guid.entity);
    }

    /// Has nobody told any more, and waits until a call of the listener on another thread has
    /// returned. Not to be called with a lock held that the listener takes.
    pub fn remove_listener(&self) {
        self.handle.endpoint.listeners.own.remove();
    }

    /// The QoS that the writer has now, with what it has of its publisher.
    pub fn qos(&self) -> DataWriterQos {
        let Handle { endpoint, qos, .. } = &*self.handle;
        let qos = lock(qos).clone();
        match endpoint.core.policies_of(endpoint.guid) {
            Some(policies) => DataWriterQos { policies, ..qos },
            None => qos,
        }
    }

    /// Changes the QoS: DEADLINE, LATENCY_BUDGET, OWNERSHIP_STRENGTH, LIFESPAN, TRANSPORT_PRIORITY,
    /// USER_DATA, TOPIC_DATA and WRITER_DATA_LIFECYCLE (DDS 1.4 §2.2.3). What the writer has of its
    /// publisher stays. Readers that match only the old or only the new one leave or come; LIFESPAN
    /// counts for what is written from here on.
    ///
    /// # Errors
    /// When another policy differs, two contradict each other, or the QoS is too long to announce.
    /// Then nothing changes.
    pub fn set_qos(&self, qos: DataWriterQos) -> Result<(), SetQosError> {
        let Handle {
            endpoint,
            topic,
            qos: own,
            ..
        } = &*self.handle;
        let mut own = lock(own);
        if qos.max_unacknowledged_bytes != own.max_unacknowledged_bytes {
            return Err(SetQosError::Immutable("max_unacknowledged_bytes"));
        }
        if (qos.max_loan_bytes, qos.loan_count) != (own.max_loan_bytes, own.loan_count) {
            return Err(SetQosError::Immutable("max_loan_bytes and loan_count"));
        }
        if qos.related_samples != own.related_samples {
            return Err(SetQosError::Immutable("related_samples"));
        }
        let policies = qos.resolved(T::extensibility(topic.ty()));
        let autodispose = qos.autodispose_unregistered_instances;
        endpoints::change(
            &endpoint.core,
            Role::Writer,
            endpoint.guid,
            policies,
            |policies| endpoint.change(policies, autodispose),
        )?;
        *own = qos;
        Ok(())
    }

    /// Has the writer take part, where what made it does not
    /// [enable](crate::qos::GroupQos::autoenable_created_entities) it (DDS 1.4 §2.2.2.1.1.7). Nothing can be written
    /// before, and nobody knows of it. Nothing changes if it is enabled already.
    ///
    /// # Errors
    /// When what made it is not enabled, or it cannot be announced.
    pub fn enable(&self) -> Result<(), EnableError> {
        self.handle.enabling.enable()
    }

    /// The topic.
    pub fn topic(&self) -> &Topic<T> {
        &self.handle.topic
    }

    /// The writer's name on the network.
    pub fn guid(&self) -> Guid {
        self.handle.endpoint.guid
    }

    fn end(
        &self,
        kind: ChangeKind,
        sample: &T,
        timestamp: Timestamp,
    ) -> Result<SequenceNumber, WriteError> {
        match T::has_key(self.handle.topic.ty()) {
            true => self.change(kind, sample, (clock::now(), timestamp)),
            false => Err(WriteError::NoKey),
        }
    }

    fn change(
        &self,
        kind: ChangeKind,
        sample: &(impl Written<T> + ?Sized),
        times: (Instant, Timestamp),
    ) -> Result<SequenceNumber, WriteError> {
        self.change_of(kind, sample, times, None)
    }

    #[inline(always)]
    fn change_of(
        &self,
        kind: ChangeKind,
        sample: &(impl Written<T> + ?Sized),
        (now, timestamp): (Instant, Timestamp),
        related: Option<SampleIdentity>,
    ) -> Result<SequenceNumber, WriteError> {
        let change = self.change_to(kind, sample, timestamp, related)?;
        let Handle {
            endpoint, topic, ..
        } = &*self.handle;
        let representation = endpoint.representation;
        endpoint.write(now, &change, &|buffer: &mut Vec<u8>| {
            let written = match kind {
                ChangeKind::Alive => sample.payload(topic.ty(), representation, buffer),
                _ => sample.key_payload(topic.ty(), representation, buffer),
            };
            written.map_err(Box::new)
        })
    }

    /// The change that makes `sample` be, or ends what it names.
    #[inline(always)]
    pub(crate) fn change_to(
        &self,
        kind: ChangeKind,
        sample: &(impl Written<T> + ?Sized),
        timestamp: Timestamp,
        related: Option<SampleIdentity>,
    ) -> Result<Change, WriteError> {
        let Handle {
            endpoint,
            topic,
            enabling,
            instances,
            ..
        } = &*self.handle;
        if !enabling.is_enabled() {
            return Err(WriteError::NotEnabled);
        }
        let representation = endpoint.representation;
        let serialize_key =
            |buffer: &mut Vec<u8>| sample.key_payload(topic.ty(), representation, buffer);
        let change = Change {
            kind,
            source_timestamp: Some(timestamp),
            key_hash: self.key_hash(sample, representation)?,
            related,
            ..Change::default()
        };
        if let Some(hash) = change.key_hash
            && endpoint.disposes_at_its_end()
        {
            match kind {
                ChangeKind::Alive => instances
                    .written(hash, serialize_key)
                    .map_err(WriteError::Sample)?,
                _ => instances.ended(hash),
            }
        }
        Ok(change)
    }

    fn key_hash(
        &self,
        sample: &(impl Written<T> + ?Sized),
        representation: Representation,
    ) -> Result<Option<[u8; 16]>, WriteError> {
        let ty = self.handle.topic.ty();
        if !T::has_key(ty) {
            return Ok(None);
        }
        let hash = Scratch::lend(|scratch| sample.hash(ty, representation, &mut scratch.key));
        hash.map(|hash| hash.map(|hash| hash.0))
            .map_err(WriteError::Sample)
    }
}

impl DataWriter<Serialized> {
    /// Writes a sample that lies encoded somewhere, made now; it need not be copied into a [`Serialized`] first.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_payload(&self, payload: Payload<'_>) -> Result<SequenceNumber, WriteError> {
        self.change(ChangeKind::Alive, &payload, clock::both())
    }

    /// [Writes](Self::write_payload) a sample that was made at `timestamp`.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_payload_with_timestamp(
        &self,
        payload: Payload<'_>,
        timestamp: Timestamp,
    ) -> Result<SequenceNumber, WriteError> {
        self.change(ChangeKind::Alive, &payload, (clock::now(), timestamp))
    }
}

impl DataWriter<BytesInPlace> {
    /// Writes a sample of these bytes, made now; they need not be copied into a [`BytesInPlace`] first.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_bytes(&self, bytes: &[u8]) -> Result<SequenceNumber, WriteError> {
        self.change(ChangeKind::Alive, bytes, clock::both())
    }

    /// [Writes](Self::write_bytes) a sample that was made at `timestamp`.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_bytes_with_timestamp(
        &self,
        bytes: &[u8],
        timestamp: Timestamp,
    ) -> Result<SequenceNumber, WriteError> {
        self.change(ChangeKind::Alive, bytes, (clock::now(), timestamp))
    }
}

impl<T: TopicSupport> Clone for DataWriter<T> {
    fn clone(&self) -> Self {
        Self {
            handle: Arc::clone(&self.handle),
        }
    }
}

impl<T: TopicSupport> fmt::Debug for DataWriter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataWriter")
            .field("guid", &self.guid())
            .field("topic", &self.topic().name())
            .finish()
    }
}

impl<T: TopicSupport> Drop for Handle<T> {
    fn drop(&mut self) {
        let Self {
            endpoint,
            instances,
            lifeline,
            ..
        } = self;
        let end = clock::now() + LINGER;
        let left = || end.since(clock::now());
        // That of the waits of others is none of its own.
        let ended = Ended::default();
        endpoint.listeners.own.set(None, StatusMask::NONE);
        let _ = endpoint.wait_for_acknowledgments(left(), &ended);
        instances.end_all(endpoint, lifeline, left());
        let _ = endpoint.wait_for_acknowledgments(left(), &ended);
        endpoint.leave_group();
        endpoint
            .core
            .remove_writer(endpoint.guid, endpoint.last_for_all());
        endpoint.give_back_handed();
        endpoint.close_log();
    }
}

/// How long the end of a writer takes at most.
const LINGER: Duration = Duration::from_secs(1);
