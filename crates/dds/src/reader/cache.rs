//! What a reader holds for its application: values by instance and in order of arrival.
//!
//! Knows nothing of the network, of serialized bytes or of waiting. Values are recycled: once the
//! application has given back as many as it ever held at once, storing a sample allocates nothing.

use std::sync::Arc;
use std::time::Duration;

use hashbrown::HashMap;
use tickwire_base::{Instant, Timestamp};
use tickwire_rtps::ChangeKind;
use tickwire_rtps::wire::{Guid, SequenceNumber};

use super::aliases::Aliases;
use super::info::{InstanceHandle, InstanceState, SampleState};
use super::instance::Instance;
use super::next_instance::SortedInstances;
use super::slots::{Slot, Slots};
use super::time_filter::TimeFilter;
use super::timing::Early;

/// The part of the reader's QoS that decides what is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CachePolicy {
    /// Samples per instance under KEEP_LAST; `None` is KEEP_ALL.
    pub(crate) depth: Option<usize>,
    pub(crate) max_samples: usize,
    pub(crate) max_instances: usize,
    pub(crate) max_samples_per_instance: usize,
    pub(crate) by_source_timestamp: bool,
    pub(crate) exclusive: bool,
    /// PRESENTATION with ordered access.
    pub(crate) order: Order,
    /// TIME_BASED_FILTER; zero is none.
    pub(crate) minimum_separation: Duration,
    /// Whether the newest value that came too early is kept.
    pub(crate) keeps_filtered: bool,
}

/// In which order samples of several instances are returned (DDS 1.4 §2.2.3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// As they came.
    Arrival,
    /// Those of an instance together.
    Instance,
    /// As they were made, by the source timestamps.
    Source,
}

/// A change on its way into the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) writer: Guid,
    pub(crate) sequence_number: SequenceNumber,
    pub(crate) kind: ChangeKind,
    pub(crate) source_timestamp: Option<Timestamp>,
    pub(crate) reception_timestamp: Timestamp,
    /// The same by the clock that deadlines go by.
    pub(crate) received_at: Instant,
    pub(crate) instance: InstanceHandle,
    /// Who numbers the changes of its writer, and the number.
    pub(crate) publisher: Guid,
    pub(crate) group_number: SequenceNumber,
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

/// A stored sample. Its states are those of its instance until it is returned.
#[derive(Debug)]
pub(super) struct Entry<T> {
    pub(super) instance: usize,
    pub(super) state: SampleState,
    pub(super) valid: bool,
    pub(super) value: Option<Arc<T>>,
    pub(super) writer: Guid,
    pub(super) publisher: Guid,
    pub(super) sequence_number: SequenceNumber,
    pub(super) group_number: SequenceNumber,
    pub(super) source_timestamp: Option<Timestamp>,
    pub(super) reception_timestamp: Timestamp,
    pub(super) disposed_generation: u32,
    pub(super) no_writers_generation: u32,
    /// When its LIFESPAN ends.
    pub(super) expires_at: Option<Instant>,
}

impl<T> Entry<T> {
    /// When it was made, as far as is known.
    pub(super) fn made(&self) -> Timestamp {
        self.source_timestamp.unwrap_or(self.reception_timestamp)
    }
}

pub(crate) struct Cache<T> {
    pub(super) policy: CachePolicy,
    pub(super) entries: Slots<Entry<T>>,
    pub(super) instances: Vec<Option<Instance>>,
    free_instances: Vec<usize>,
    pub(super) by_handle: HashMap<InstanceHandle, usize>,
    /// Lifespan and ownership strength of each writer that has any.
    pub(super) writers: HashMap<Guid, WriterPolicy>,
    /// No LIFESPAN ends before.
    pub(super) next_expiry: Option<Instant>,
    /// Samples that have outlived their LIFESPAN, here or on the way.
    pub(super) expired: u64,
    pub(super) time_filter: Option<TimeFilter<Early<T>>>,
    /// Samples that TIME_BASED_FILTER keeps from being seen for ever.
    pub(super) too_early: u64,
    /// Scratch for those whose time has come.
    pub(super) ripe: Vec<Early<T>>,
    pub(super) aliases: Aliases,
    pub(super) sorted: SortedInstances,
    /// Scratch for the samples of one collection.
    pub(super) chosen: Vec<Slot>,
    /// An instance whose key has not been noted, and a sample of it.
    pub(super) unnamed: Option<(usize, Slot)>,
    /// Scratch for the instances of a coherent set.
    pub(super) set_instances: Vec<InstanceHandle>,
    pool: Vec<Arc<T>>,
    pub(super) collections: u64,
}

/// What a writer's QoS says about its samples.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WriterPolicy {
    pub(crate) strength: i32,
    /// Counted from the source timestamp; `None` is for ever.
    pub(crate) lifespan: Option<Duration>,
    /// It sends key hashes of XCDR1.
    pub(crate) is_xcdr1: bool,
    /// Whose changes its numbers count, itself if it does not say.
    pub(crate) publisher: Guid,
}

impl<T> Cache<T> {
    pub(crate) fn new(policy: CachePolicy) -> Self {
        Self {
            policy,
            entries: Slots::new(),
            instances: Vec::new(),
            free_instances: Vec::new(),
            by_handle: HashMap::new(),
            writers: HashMap::new(),
            next_expiry: None,
            expired: 0,
            time_filter: TimeFilter::new(policy.minimum_separation, policy.keeps_filtered),
            too_early: 0,
            ripe: Vec::new(),
            aliases: Aliases::default(),
            sorted: SortedInstances::default(),
            chosen: Vec::new(),
            unnamed: None,
            set_instances: Vec::new(),
            pool: Vec::new(),
            collections: 0,
        }
    }

    /// A value to decode into, which still holds what it was last used for.
    pub(crate) fn value(&mut self, initial: impl FnOnce() -> T) -> Arc<T> {
        while let Some(mut value) = self.pool.pop() {
            // The application may have kept a clone of the reference: then the value is its own.
            if Arc::get_mut(&mut value).is_some() {
                return value;
            }
        }
        Arc::new(initial())
    }

    /// Gives a value back.
    pub(crate) fn recycle(&mut self, value: Arc<T>) {
        if self.pool.len() < MAX_POOLED {
            self.pool.push(value);
        }
    }

    /// Whether every further sample would be rejected, whatever its instance.
    pub(crate) fn is_full(&self) -> bool {
        self.policy.depth.is_none() && self.entries.len() >= self.policy.max_samples
    }

    #[cfg(test)]
    pub(crate) fn knows(&self, instance: InstanceHandle) -> bool {
        self.by_handle.contains_key(&instance)
    }

    /// Which instance a writer means by a key hash alone, where hashes depend on the representation.
    pub(crate) fn named_by(&self, writer: Guid, hash: [u8; 16]) -> Option<InstanceHandle> {
        match self.writers.get(&writer) {
            Some(policy) if policy.is_xcdr1 => self.aliases.find(hash),
            _ => Some(InstanceHandle(hash)),
        }
    }

    /// Notes the hash that XCDR1 writers have for an instance, if the instance is known.
    pub(crate) fn note_alias(&mut self, instance: InstanceHandle, hash: [u8; 16]) {
        if self.by_handle.contains_key(&instance) {
            self.aliases.note(instance, hash);
        }
    }

    pub(crate) fn set_writer(&mut self, writer: Guid, policy: WriterPolicy) {
        let before = self.writers.insert(writer, policy);
        if before.is_some_and(|before| before.strength != policy.strength) {
            for instance in self.instances.iter_mut().flatten() {
                instance.change_strength(writer, policy.strength);
            }
        }
    }

    /// The instance, if it is known.
    pub(super) fn instance(&self, handle: InstanceHandle) -> Option<&Instance> {
        let index = self.by_handle.get(&handle).copied()?;
        self.instances.get(index)?.as_ref()
    }

    pub(super) fn knows_writer(&self, writer: Guid) -> bool {
        self.writers.contains_key(&writer)
    }

    /// Who numbers the changes of a writer.
    pub(super) fn publisher_of(&self, writer: Guid) -> Guid {
        let policy = self.writers.get(&writer);
        policy.map_or(writer, |policy| policy.publisher)
    }

    /// Stores a change. A `value` that it does not keep is recycled.
    pub(crate) fn insert(&mut self, arrival: &Arrival, value: Option<Arc<T>>) -> Insertion {
        let (outcome, rest) = self.try_insert(arrival, value);
        if let Some(value) = rest {
            self.recycle(value);
        }
        outcome
    }

    fn try_insert(
        &mut self,
        arrival: &Arrival,
        value: Option<Arc<T>>,
    ) -> (Insertion, Option<Arc<T>>) {
        let index = match self.admit(arrival) {
            Ok(index) => index,
            Err(outcome) => return (outcome, value),
        };
        if self
            .expiry_of(arrival)
            .is_some_and(|at| at <= arrival.received_at)
        {
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
        match replaced {
            true => (Insertion::Replaced, None),
            false => (Insertion::Stored, None),
        }
    }

    /// The instance that the change is about, unless ownership, order or a limit keeps it out.
    fn admit(&mut self, arrival: &Arrival) -> Result<usize, Insertion> {
        let index = match self.by_handle.get(&arrival.instance) {
            Some(&index) => index,
            None if arrival.kind == ChangeKind::Unregistered => return Err(Insertion::Ignored),
            None if self.by_handle.len() >= self.policy.max_instances => {
                return Err(Insertion::Rejected(SampleRejectedReason::Instances));
            }
            None => self.add_instance(arrival.instance),
        };
        let Some(Some(instance)) = self.instances.get_mut(index) else {
            return Err(Insertion::Ignored);
        };
        if self.policy.exclusive {
            let policy = self.writers.get(&arrival.writer);
            let strength = policy.map_or(0, |policy| policy.strength);
            let leaves = arrival.kind == ChangeKind::Unregistered;
            if !leaves && !instance.yields_to(arrival.writer, strength) {
                return Err(Insertion::Filtered);
            }
        }
        let timestamp = arrival.source_timestamp;
        if self.policy.by_source_timestamp
            && !timestamp.is_none_or(|time| instance.advances_to(time, arrival.writer))
        {
            return Err(Insertion::Filtered);
        }
        Ok(index)
    }

    /// Removes the oldest value of a full KEEP_LAST history, and notices before it; says whether the
    /// value had not been read.
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
            if removed.valid {
                return removed.state == SampleState::NotRead;
            }
        }
    }

    fn push(&mut self, index: usize, arrival: &Arrival, value: Option<Arc<T>>) {
        let expires_at = self.expiry_of(arrival);
        if let Some(at) = expires_at {
            self.expect_expiry(at);
        }
        let Some(Some(instance)) = self.instances.get_mut(index) else {
            return;
        };
        instance.notice_count += usize::from(!arrival.kind.is_alive());
        let entry = Entry {
            instance: index,
            state: SampleState::NotRead,
            valid: arrival.kind.is_alive(),
            value,
            writer: arrival.writer,
            publisher: arrival.publisher,
            sequence_number: arrival.sequence_number,
            group_number: arrival.group_number,
            source_timestamp: arrival.source_timestamp,
            reception_timestamp: arrival.reception_timestamp,
            disposed_generation: instance.disposed_generation,
            no_writers_generation: instance.no_writers_generation,
            expires_at,
        };
        let is_unnamed = instance.key.is_none() && entry.value.is_some();
        let slot = if self.policy.order == Order::Source {
            let made = entry.made();
            let previous = self.entries.place(|other| other.made() > made);
            self.entries.insert(entry, previous, &mut instance.samples)
        } else {
            self.entries.push(entry, &mut instance.samples)
        };
        if is_unnamed {
            self.unnamed = Some((index, slot));
        }
    }

    /// The writer is gone. Says whether that leaves instances without writers.
    pub(crate) fn remove_writer(&mut self, writer: Guid, now: Timestamp) -> bool {
        self.writers.remove(&writer);
        self.silence_writer(writer, now)
    }

    /// The writer has nothing more to say about any instance for now. Says whether that leaves
    /// instances without writers.
    pub(crate) fn silence_writer(&mut self, writer: Guid, now: Timestamp) -> bool {
        let mut news = false;
        for index in 0..self.instances.len() {
            let Some(Some(instance)) = self.instances.get_mut(index) else {
                continue;
            };
            if instance.unregister(writer) {
                let arrival = Arrival {
                    writer,
                    sequence_number: SequenceNumber::UNKNOWN,
                    kind: ChangeKind::Unregistered,
                    source_timestamp: None,
                    reception_timestamp: now,
                    received_at: Instant::ZERO,
                    publisher: writer,
                    group_number: SequenceNumber::ZERO,
                    instance: instance.handle,
                };
                self.push(index, &arrival, None);
                news = true;
            } else {
                self.forget_if_over(index);
            }
        }
        news
    }

    pub(crate) fn is_alive(&self, instance: InstanceHandle) -> bool {
        let index = self.by_handle.get(&instance).copied();
        let instance = index.and_then(|index| self.instances.get(index)?.as_ref());
        instance.is_some_and(|instance| instance.state == InstanceState::Alive)
    }

    /// Whoever owns the instance has missed its deadline (DDS 1.4 §2.2.3.9.2): the next writer to
    /// update it owns it.
    pub(crate) fn release(&mut self, instance: InstanceHandle) {
        let index = self.by_handle.get(&instance).copied();
        if let Some(Some(instance)) = index.and_then(|index| self.instances.get_mut(index)) {
            instance.release();
        }
    }

    pub(super) fn remove(&mut self, slot: Slot) -> Option<Entry<T>> {
        let index = self.entries.get(slot)?.instance;
        let instance = self.instances.get_mut(index)?.as_mut()?;
        let removed = self.entries.remove(slot, &mut instance.samples)?;
        instance.notice_count -= usize::from(!removed.valid);
        Some(removed)
    }

    fn add_instance(&mut self, handle: InstanceHandle) -> usize {
        let instance = Some(Instance::new(handle));
        let index = match self.free_instances.pop() {
            Some(index) => index,
            None => {
                self.instances.push(None);
                self.instances.len() - 1
            }
        };
        if let Some(place) = self.instances.get_mut(index) {
            *place = instance;
        }
        self.by_handle.insert(handle, index);
        self.sorted.changed();
        index
    }

    pub(super) fn forget_if_over(&mut self, index: usize) {
        let Some(place) = self.instances.get_mut(index) else {
            return;
        };
        if let Some(instance) = place.take_if(|instance| instance.is_over()) {
            self.by_handle.remove(&instance.handle);
            self.aliases.forget(instance.handle);
            self.sorted.changed();
            self.free_instances.push(index);
        }
    }
}

/// Values kept for reuse at most.
const MAX_POOLED: usize = 4096;

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
