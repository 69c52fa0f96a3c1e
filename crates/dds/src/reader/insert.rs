//! The way of a change into the cache: ownership, order, LIFESPAN and the limits may keep it out
//! (DDS 1.4 §2.2.3.9, §2.2.3.16 to §2.2.3.19). Knows no clock.

use std::sync::Arc;

use tickwire_base::{Instant, Timestamp};
use tickwire_rtps::wire::{Guid, SequenceNumber};
use tickwire_rtps::{ChangeKind, OriginalWriter, SampleIdentity};

use super::cache::{Cache, Order};
use super::info::{InstanceHandle, SampleState};
use super::sample::Sample;

/// A change on its way into the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) writer: Guid,
    pub(crate) sequence_number: SequenceNumber,
    /// Who wrote it first, if it was another writer.
    pub(crate) original: Option<OriginalWriter>,
    /// The sample that it answers.
    pub(crate) related: Option<SampleIdentity>,
    pub(crate) kind: ChangeKind,
    pub(crate) source_timestamp: Option<Timestamp>,
    pub(crate) kernel_timestamp: Option<Timestamp>,
    pub(crate) reception_timestamp: Timestamp,
    /// The same by the clock that deadlines go by.
    pub(crate) received_at: Instant,
    pub(crate) instance: InstanceHandle,
    /// When its LIFESPAN ends.
    pub(crate) expires_at: Option<Instant>,
    /// Who numbers the changes of its writer, and the number.
    pub(crate) publisher: Guid,
    pub(crate) group_number: SequenceNumber,
}

impl Arrival {
    /// Whether its LIFESPAN has ended.
    pub(super) fn has_expired(&self, now: Instant) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Insertion {
    /// It can be read.
    Stored,
    /// It can be read, and an older one that was not read before no longer can.
    Replaced,
    /// It says nothing new.
    Ignored,
    /// A stronger writer owns the instance, or a later sample came first.
    Filtered,
    /// It came too early for TIME_BASED_FILTER.
    TooEarly,
    /// It has outlived its LIFESPAN on the way.
    Expired,
    /// There is no room.
    Rejected(SampleRejectedReason),
}

/// Which limit left no room for a sample (DDS 1.4 §2.2.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampleRejectedReason {
    /// `max_instances`.
    Instances,
    /// `max_samples`.
    Samples,
    /// `max_samples_per_instance`.
    SamplesPerInstance,
}

impl<T> Cache<T> {
    /// Stores a change. A `value` that it does not keep is recycled.
    pub(crate) fn insert(&mut self, arrival: &Arrival, value: Option<Arc<T>>) -> Insertion {
        self.settle();
        let (outcome, rest) = self.try_insert(arrival, value);
        if let Some(value) = rest {
            self.recycle(value);
        }
        outcome
    }

    /// Stores a value of an instance that is alive and has this writer, where nothing keeps it out or makes
    /// way for it: most values. Gives back any other.
    #[inline(always)]
    pub(super) fn append(&mut self, arrival: &Arrival, value: Arc<T>) -> Result<(), Arc<T>> {
        let is_free = self.len() < self.policy.max_samples
            && self.time_filter.is_none()
            && self.purges.is_empty()
            && arrival.expires_at.is_none();
        let is_plain = arrival.kind == ChangeKind::Alive && arrival.original.is_none();
        let index = self.find(arrival.instance).filter(|_| is_free && is_plain);
        let instance = index.and_then(|index| self.instances.get_mut(index)?.as_mut());
        let (Some(index), Some(instance)) = (index, instance) else {
            return Err(value);
        };
        // As if all that is fresh were of this instance.
        let held = instance.samples.len + self.fresh.len();
        if held >= self.appends_below || !instance.goes_on(arrival) {
            return Err(value);
        }
        self.fresh
            .push(Sample::new(arrival, Some(value), instance, index));
        Ok(())
    }

    /// A writer has given a change again that had come from another, in whose place it is now.
    pub(super) fn succeed(
        &mut self,
        handle: InstanceHandle,
        writer: Guid,
        kind: ChangeKind,
        now: Instant,
    ) {
        self.settle();
        let Some(&index) = self.by_handle.get(&handle) else {
            return;
        };
        let Some(Some(instance)) = self.instances.get_mut(index) else {
            return;
        };
        let before = instance.state;
        match kind {
            ChangeKind::Alive => instance.succeed(writer),
            ChangeKind::Disposed => instance.register(writer),
            ChangeKind::Unregistered | ChangeKind::DisposedUnregistered => {
                instance.unregister(writer);
            }
        }
        if instance.state != before {
            self.begin_state(index, now);
        }
        self.forget_if_over(index);
    }

    fn try_insert(
        &mut self,
        arrival: &Arrival,
        value: Option<Arc<T>>,
    ) -> (Insertion, Option<Arc<T>>) {
        let (index, kind) = match self.admit(arrival) {
            Ok(admitted) => admitted,
            Err(outcome) => return (outcome, value),
        };
        if kind != arrival.kind {
            let admitted = Arrival { kind, ..*arrival };
            return match self.store_in_time(index, &admitted, value) {
                (Insertion::Ignored, value) => (Insertion::Filtered, value),
                stored => stored,
            };
        }
        self.store_in_time(index, arrival, value)
    }

    /// Stores a change that ownership and order let pass.
    #[inline(always)]
    fn store_in_time(
        &mut self,
        index: usize,
        arrival: &Arrival,
        value: Option<Arc<T>>,
    ) -> (Insertion, Option<Arc<T>>) {
        if arrival.has_expired(arrival.received_at) {
            self.expired += 1;
            self.forget_if_over(index);
            return (Insertion::Expired, value);
        }
        match self.time_filter {
            Some(_) => self.filter(index, arrival, value),
            None => self.store(index, arrival, value),
        }
    }

    /// Stores a change that ownership, order and time let pass.
    #[inline(always)]
    pub(super) fn store(
        &mut self,
        index: usize,
        arrival: &Arrival,
        value: Option<Arc<T>>,
    ) -> (Insertion, Option<Arc<T>>) {
        let room = match arrival.kind.is_alive() {
            true => self.make_room(index),
            // A notice takes no value's place (DDS 1.4 §2.2.2.5.1.4): there is one at most for each
            // change of state, and values make way for values.
            false => Ok(false),
        };
        let replaced = match room {
            Ok(replaced) => replaced,
            Err(reason) => {
                self.forget_if_over(index);
                return (Insertion::Rejected(reason), value);
            }
        };
        let Some(Some(instance)) = self.instances.get_mut(index) else {
            return (Insertion::Ignored, value);
        };
        let writer = arrival.writer;
        let news = match arrival.kind {
            ChangeKind::Alive => {
                instance.revive(writer);
                true
            }
            ChangeKind::Disposed => instance.dispose(writer),
            ChangeKind::Unregistered => instance.unregister(writer),
            ChangeKind::DisposedUnregistered => {
                let disposed = instance.dispose(writer);
                instance.unregister(writer);
                disposed
            }
        };
        if !news {
            self.forget_if_over(index);
            return (Insertion::Ignored, value);
        }
        self.push(index, arrival, value);
        self.begin_state(index, arrival.received_at);
        match replaced {
            true => (Insertion::Replaced, None),
            false => (Insertion::Stored, None),
        }
    }

    /// The instance that the change is about and what it says of it, unless ownership, order or a
    /// limit keeps it out.
    #[inline(always)]
    fn admit(&mut self, arrival: &Arrival) -> Result<(usize, ChangeKind), Insertion> {
        let index = match self.find(arrival.instance) {
            Some(index) => index,
            None if arrival.kind == ChangeKind::Unregistered => return Err(Insertion::Ignored),
            None if self.by_handle.len() >= self.policy.max_instances => {
                return Err(Insertion::Rejected(SampleRejectedReason::Instances));
            }
            None => self.add_instance(arrival.instance),
        };
        let Some(Some(instance)) = self.instances.get_mut(index) else {
            return Err(Insertion::Ignored);
        };
        let (writer, kind) = (arrival.writer, arrival.kind);
        let mut is_heard = || {
            if self.policy.exclusive {
                let policy = self.writers.get(&writer);
                let strength = policy.map_or(0, |policy| policy.strength);
                if !instance.yields_to(writer, strength) {
                    return false;
                }
            }
            if !self.policy.by_source_timestamp {
                return instance.follows(arrival);
            }
            let timestamp = arrival.source_timestamp;
            timestamp.is_none_or(|time| instance.advances_to(time, writer))
        };
        match kind {
            // That is about its writer alone: it takes no ownership and is no newer value.
            ChangeKind::Unregistered => Ok((index, kind)),
            _ if is_heard() => Ok((index, kind)),
            // Its writer leaves the instance all the same (DDS 1.4 §2.2.2.5.1.3) ...
            ChangeKind::DisposedUnregistered => Ok((index, ChangeKind::Unregistered)),
            // ... or keeps it alive.
            ChangeKind::Alive | ChangeKind::Disposed => {
                instance.register(writer);
                Err(Insertion::Filtered)
            }
        }
    }

    /// Removes the oldest value of a full KEEP_LAST history, and notices before it; says whether the
    /// value had not been read.
    #[inline(always)]
    fn make_room(&mut self, index: usize) -> Result<bool, SampleRejectedReason> {
        let Some(Some(instance)) = self.instances.get(index) else {
            return Ok(false);
        };
        let held = instance.samples.len - instance.notice_count;
        match self.policy.depth {
            Some(depth) if held >= depth => Ok(self.remove_oldest_value(index)),
            _ if held >= self.policy.max_samples_per_instance => {
                Err(SampleRejectedReason::SamplesPerInstance)
            }
            _ if self.entries.len() >= self.policy.max_samples => {
                Err(SampleRejectedReason::Samples)
            }
            _ => Ok(false),
        }
    }

    fn remove_oldest_value(&mut self, index: usize) -> bool {
        loop {
            let instance = self.instances.get(index).and_then(Option::as_ref);
            let oldest = instance.and_then(|instance| instance.samples.first);
            let Some(removed) = oldest.and_then(|slot| self.remove(slot)) else {
                return false;
            };
            if let Some(value) = removed.value {
                self.recycle(value);
            }
            if removed.info.valid_data {
                return removed.info.sample_state == SampleState::NotRead;
            }
        }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, index: usize, arrival: &Arrival, value: Option<Arc<T>>) {
        let Some(Some(instance)) = self.instances.get_mut(index) else {
            return;
        };
        instance.notice_count += usize::from(!arrival.kind.is_alive());
        let sample = Sample::new(arrival, value, instance, index);
        let is_unnamed = instance.key.is_none() && sample.value.is_some();
        let slot = if self.policy.order == Order::Source {
            let made = sample.made();
            let previous = self.entries.place(|other| other.made() > made);
            self.entries.insert(sample, previous, &mut instance.samples)
        } else {
            self.entries.push(sample, &mut instance.samples)
        };
        if let Some(at) = arrival.expires_at {
            self.expiries.set(slot, at);
        }
        if is_unnamed {
            self.unnamed = Some((index, slot));
        }
    }
}
