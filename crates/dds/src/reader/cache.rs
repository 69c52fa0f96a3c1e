//! What a reader holds for its application: values by instance and in order of arrival.
//!
//! Knows nothing of the network, of serialized bytes or of waiting. Values are recycled: once the
//! application has given back as many as it ever held at once, storing a sample allocates nothing.

use std::sync::Arc;
use std::time::Duration;

use hashbrown::HashMap;
use tickwire_base::{Instant, Timestamp};
use tickwire_rtps::wire::{Guid, SequenceNumber};
use tickwire_rtps::{ChangeKind, Schedule};

use super::aliases::Aliases;
use super::info::{InstanceHandle, InstanceState};
use super::insert::Arrival;
use super::instance::Instance;
use super::lifecycle::Lifecycle;
use super::next_instance::SortedInstances;
use super::sample::Sample;
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
    /// READER_DATA_LIFECYCLE.
    pub(crate) lifecycle: Lifecycle,
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

pub(crate) struct Cache<T> {
    pub(super) policy: CachePolicy,
    /// Of an instance that has fewer samples, the next value keeps nothing out and makes way for nothing, whoever wrote
    /// it. Zero where the order is not that of arrival.
    pub(super) appends_below: usize,
    pub(super) entries: Slots<Sample<T>>,
    /// Values that came after those, one behind the other, and are not in the lists of their instances: most samples
    /// are [appended](Self::append) and then taken with all others. Anything else [settles](Self::settle) them first.
    pub(super) fresh: Vec<Sample<T>>,
    pub(super) instances: Vec<Option<Instance>>,
    free_instances: Vec<usize>,
    pub(super) by_handle: HashMap<InstanceHandle, usize>,
    /// Of which instance the last sample was: often the next one is of the same.
    latest: usize,
    /// Lifespan and ownership strength of each writer that has any.
    pub(super) writers: HashMap<Guid, WriterPolicy>,
    /// Whether any of them ever had a LIFESPAN.
    pub(super) has_lifespans: bool,
    /// When the LIFESPAN of samples ends.
    pub(super) expiries: Schedule<Slot>,
    /// Samples that have outlived their LIFESPAN, here or on the way.
    pub(super) expired: u64,
    /// When READER_DATA_LIFECYCLE removes what an instance has left.
    pub(super) purges: Schedule<InstanceHandle>,
    /// Values that it has removed.
    pub(super) purged: u64,
    pub(super) time_filter: Option<TimeFilter<Early<T>>>,
    /// Samples that TIME_BASED_FILTER keeps from being seen for ever.
    pub(super) too_early: u64,
    /// Those that it has held back for a while.
    pub(super) shown_late: u64,
    /// Scratch for those whose time has come.
    pub(super) ripe: Vec<Early<T>>,
    pub(super) aliases: Aliases,
    pub(super) sorted: SortedInstances,
    /// Scratch for the samples of one collection.
    pub(super) chosen: Vec<Slot>,
    /// An instance whose key has not been noted, and a sample of it.
    pub(super) unnamed: Option<(usize, Slot)>,
    /// Scratch for the instances of a coherent set, with whether a change is a value.
    pub(super) set_instances: Vec<(InstanceHandle, bool)>,
    /// Samples and instances that have been removed.
    pub(super) gone: u64,
    pool: Vec<Arc<T>>,
    /// Has a value let go of what is not its own, if it may hold such.
    pub(super) let_go: Option<fn(&mut T)>,
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
        let is_in_order = policy.order == Order::Arrival && !policy.by_source_timestamp;
        let per_instance = policy.depth.unwrap_or(usize::MAX);
        Self {
            policy,
            appends_below: match is_in_order && !policy.exclusive {
                true => per_instance.min(policy.max_samples_per_instance),
                false => 0,
            },
            entries: Slots::new(),
            fresh: Vec::new(),
            instances: Vec::new(),
            free_instances: Vec::new(),
            by_handle: HashMap::new(),
            latest: 0,
            writers: HashMap::new(),
            has_lifespans: false,
            expiries: Schedule::default(),
            expired: 0,
            purges: Schedule::default(),
            purged: 0,
            time_filter: TimeFilter::new(policy.minimum_separation, policy.keeps_filtered),
            too_early: 0,
            shown_late: 0,
            ripe: Vec::new(),
            aliases: Aliases::default(),
            sorted: SortedInstances::default(),
            chosen: Vec::new(),
            unnamed: None,
            set_instances: Vec::new(),
            gone: 0,
            pool: Vec::new(),
            let_go: None,
            collections: 0,
        }
    }

    /// How many samples there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len() + self.fresh.len()
    }

    /// Has all samples among the entries and in the lists of their instances.
    #[inline]
    pub(super) fn settle(&mut self) {
        if !self.fresh.is_empty() {
            self.settle_fresh();
        }
    }

    fn settle_fresh(&mut self) {
        for sample in self.fresh.drain(..) {
            if let Some(Some(instance)) = self.instances.get_mut(sample.instance_index) {
                self.entries.push(sample, &mut instance.samples);
            }
        }
    }

    /// A value to decode into, which still holds what it was last used for.
    #[inline]
    pub(crate) fn value(&mut self, initial: impl FnOnce() -> T) -> Arc<T> {
        while let Some(value) = self.pool.pop() {
            // The application may have a reference still: then the value is its own.
            if Arc::strong_count(&value) == 1 {
                return value;
            }
        }
        Arc::new(initial())
    }

    /// Gives a value back.
    #[inline]
    pub(crate) fn recycle(&mut self, mut value: Arc<T>) {
        if let Some(let_go) = self.let_go {
            // Who has it still lets go of it by dropping it.
            let Some(value) = Arc::get_mut(&mut value) else {
                return;
            };
            let_go(value);
        }
        if self.pool.len() < MAX_POOLED {
            self.pool.push(value);
        }
    }

    /// Gives the values of samples back.
    #[inline]
    pub(super) fn recycle_all(&mut self, samples: &mut Vec<Sample<T>>) {
        for value in samples.drain(..).filter_map(|sample| sample.value) {
            self.recycle(value);
        }
    }

    /// Whether every further sample would be rejected, whatever its instance.
    pub(crate) fn is_full(&self) -> bool {
        self.policy.depth.is_none() && self.len() >= self.policy.max_samples
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
        self.has_lifespans |= policy.lifespan.is_some();
        let before = self.writers.insert(writer, policy);
        if before.is_some_and(|before| before.strength != policy.strength) {
            for instance in self.instances.iter_mut().flatten() {
                instance.change_strength(writer, policy.strength);
            }
        }
    }

    /// Where an instance is, if it is known.
    #[inline(always)]
    pub(super) fn find(&mut self, handle: InstanceHandle) -> Option<usize> {
        let latest = self.instances.get(self.latest);
        if let Some(Some(instance)) = latest
            && instance.handle == handle
        {
            return Some(self.latest);
        }
        self.latest = *self.by_handle.get(&handle)?;
        Some(self.latest)
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

    /// The writer is gone. As [`silence_writer`](Self::silence_writer) otherwise.
    pub(crate) fn remove_writer(
        &mut self,
        writer: Guid,
        now: Instant,
        time: Timestamp,
        key_holder: impl Fn(&[u8]) -> Option<Arc<T>>,
    ) -> bool {
        self.writers.remove(&writer);
        self.silence_writer(writer, now, time, key_holder)
    }

    /// The writer has nothing more to say about any instance for now. Says whether that leaves
    /// instances without writers, of which samples tell: each with what `key_holder` makes of the key of its instance, if
    /// that is known.
    pub(crate) fn silence_writer(
        &mut self,
        writer: Guid,
        now: Instant,
        time: Timestamp,
        key_holder: impl Fn(&[u8]) -> Option<Arc<T>>,
    ) -> bool {
        self.settle();
        let mut news = false;
        for index in 0..self.instances.len() {
            news |= self.show_last_of(index, writer);
            let Some(Some(instance)) = self.instances.get_mut(index) else {
                continue;
            };
            if instance.unregister(writer) {
                let arrival = Arrival {
                    writer,
                    sequence_number: SequenceNumber::UNKNOWN,
                    original: None,
                    related: None,
                    kind: ChangeKind::Unregistered,
                    source_timestamp: None,
                    kernel_timestamp: None,
                    reception_timestamp: time,
                    received_at: now,
                    expires_at: None,
                    publisher: writer,
                    group_number: SequenceNumber::ZERO,
                    instance: instance.handle,
                };
                let key_holder = instance.key.as_deref().and_then(&key_holder);
                self.push(index, &arrival, key_holder);
                self.begin_state(index, now);
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

    #[inline(always)]
    pub(super) fn remove(&mut self, slot: Slot) -> Option<Sample<T>> {
        debug_assert!(self.fresh.is_empty(), "they are in no list");
        let index = self.entries.get(slot)?.instance_index;
        let instance = self.instances.get_mut(index)?.as_mut()?;
        let removed = self.entries.remove(slot, &mut instance.samples)?;
        self.expiries.remove(&slot);
        instance.notice_count -= usize::from(!removed.info.valid_data);
        self.gone += 1;
        Some(removed)
    }

    pub(super) fn add_instance(&mut self, handle: InstanceHandle) -> usize {
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

    #[inline(always)]
    pub(super) fn forget_if_over(&mut self, index: usize) {
        let instance = self.instances.get(index).and_then(Option::as_ref);
        if instance.is_some_and(Instance::is_over) {
            self.forget(index);
        }
    }

    fn forget(&mut self, index: usize) {
        debug_assert!(self.fresh.is_empty(), "they may be of that instance");
        if let Some(instance) = self.instances.get_mut(index).and_then(Option::take) {
            self.by_handle.remove(&instance.handle);
            self.gone += 1;
            self.aliases.forget(instance.handle);
            self.keep(instance.handle);
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
