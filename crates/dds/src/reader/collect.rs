//! Reading and taking: which samples, in which order, with which ranks.

use tickwire_cdr::filter::SortKey;
use tickwire_rtps::wire::{Guid, SequenceNumber};

use super::cache::{Cache, Order};
use super::endpoint::Listed;
use super::info::{InstanceHandle, SampleInfo, SampleState, StateMask, ViewState};
use super::instance::Rank;
use super::sample::Sample;
use super::slots::Slot;

/// Which samples `read` and `take` are after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    pub(crate) mask: StateMask,
    pub(crate) instances: Instances,
    pub(crate) max_samples: usize,
}

/// Of which instances.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Instances {
    All,
    One(InstanceHandle),
    /// The first one behind this that has samples in the right states.
    Next(Option<InstanceHandle>),
}

impl Query {
    /// All samples.
    pub(crate) const ALL: Self = Self {
        mask: StateMask::ANY,
        instances: Instances::All,
        max_samples: usize::MAX,
    };
}

/// Says of a value whether it is wanted.
pub(crate) type Accepts<'a, T> = &'a dyn Fn(&T) -> bool;

/// Says of a value where it belongs; `None` comes last.
pub(crate) type SortBy<'a, T> = &'a dyn Fn(&T) -> Option<SortKey>;

impl<T> Cache<T> {
    /// Whether there are samples in these states, with a value that is accepted.
    pub(crate) fn has(&self, mask: StateMask, accepts: Option<Accepts<'_, T>>) -> bool {
        let mut slot = self.entries.first();
        while let Some(current) = slot {
            if self.is_wanted(current, mask, accepts) {
                return true;
            }
            slot = self.entries.after(current);
        }
        false
    }

    /// Lists the samples in these states, as those of `reader`. A notice that an instance has lost its
    /// writers has no number of its own; it stands with the sample behind it, or else with the one before,
    /// as it is returned between the two.
    pub(crate) fn list(&self, reader: Guid, mask: StateMask, samples: &mut Vec<Listed>) {
        let mut notices = samples.len();
        let mut slot = self.entries.first();
        while let Some(current) = slot {
            slot = self.entries.after(current);
            if !self.matches(current, mask) {
                continue;
            }
            let Some(entry) = self.entries.get(current) else {
                continue;
            };
            let listed = Listed {
                reader,
                publisher: entry.publisher,
                group_number: entry.group_number,
                made: entry.made(),
            };
            samples.push(listed);
            if entry.sequence_number != SequenceNumber::UNKNOWN {
                samples[notices..].fill(listed);
                notices = samples.len();
            }
        }
        if let Some(last) = notices
            .checked_sub(1)
            .and_then(|at| samples.get(at).copied())
            && last.reader == reader
        {
            samples[notices..].fill(last);
        }
    }

    /// Appends the samples that the query is after to `samples`, in the order of the cache or in
    /// `order`.
    pub(crate) fn collect(
        &mut self,
        query: &Query,
        accepts: Option<Accepts<'_, T>>,
        order: Option<SortBy<'_, T>>,
        take: bool,
        samples: &mut Vec<Sample<T>>,
    ) {
        match order {
            Some(order) => self.choose_in_order(query, accepts, order),
            None => self.choose(query, accepts),
        }
        let mut chosen = std::mem::take(&mut self.chosen);
        samples.extend(chosen.drain(..).filter_map(|slot| self.sample(slot, take)));
        self.chosen = chosen;
        self.rank(samples);
        for sample in samples.iter() {
            if let Some(Some(instance)) = self.instances.get_mut(sample.instance_index) {
                instance.view = ViewState::NotNew;
            }
        }
        if take {
            for sample in samples.iter() {
                self.forget_if_over(sample.instance_index);
            }
        }
    }

    /// The same in another order. Of all that the query is after, the first `max_samples` by it.
    fn choose_in_order(
        &mut self,
        query: &Query,
        accepts: Option<Accepts<'_, T>>,
        order: SortBy<'_, T>,
    ) {
        let all = Query {
            max_samples: usize::MAX,
            ..*query
        };
        self.choose(&all, accepts);
        let mut chosen = std::mem::take(&mut self.chosen);
        chosen.sort_by_cached_key(|&slot| {
            let entry = self.entries.get(slot).filter(|entry| entry.valid);
            let key = entry.and_then(|entry| order(entry.value.as_deref()?));
            // What has no value tells of an end, and comes last.
            (key.is_none(), key)
        });
        chosen.truncate(query.max_samples);
        self.chosen = chosen;
    }

    /// Lists the samples that the query is after in `chosen`.
    fn choose(&mut self, query: &Query, accepts: Option<Accepts<'_, T>>) {
        match query.instances {
            Instances::All if self.policy.order == Order::Instance => {
                self.choose_grouped(query, accepts)
            }
            Instances::All => {
                let mut slot = self.entries.first();
                while let Some(current) = slot
                    && self.chosen.len() < query.max_samples
                {
                    if self.is_wanted(current, query.mask, accepts) {
                        self.chosen.push(current);
                    }
                    slot = self.entries.after(current);
                }
            }
            Instances::One(handle) => self.choose_of(handle, query, accepts),
            Instances::Next(previous) => self.choose_next(previous, query, accepts),
        }
    }

    /// Instance by instance, each where its oldest sample is.
    fn choose_grouped(&mut self, query: &Query, accepts: Option<Accepts<'_, T>>) {
        let visit = self.collections + 1;
        let mut slot = self.entries.first();
        while let Some(current) = slot
            && self.chosen.len() < query.max_samples
        {
            let index = self.entries.get(current).map(|entry| entry.instance);
            let instance = index.and_then(|index| self.instances.get_mut(index)?.as_mut());
            if let Some(instance) = instance.filter(|instance| instance.visited != visit) {
                instance.visited = visit;
                let first = instance.samples.first;
                self.choose_from(first, query, accepts);
            }
            slot = self.entries.after(current);
        }
    }

    fn choose_of(
        &mut self,
        handle: InstanceHandle,
        query: &Query,
        accepts: Option<Accepts<'_, T>>,
    ) {
        let index = self.by_handle.get(&handle).copied();
        let instance = index.and_then(|index| self.instances.get(index)?.as_ref());
        let first = instance.and_then(|instance| instance.samples.first);
        self.choose_from(first, query, accepts);
    }

    fn choose_next(
        &mut self,
        previous: Option<InstanceHandle>,
        query: &Query,
        accepts: Option<Accepts<'_, T>>,
    ) {
        let mut sorted = std::mem::take(&mut self.sorted);
        for &handle in sorted.after(previous, self.by_handle.keys().copied()) {
            self.choose_of(handle, query, accepts);
            if !self.chosen.is_empty() {
                break;
            }
        }
        self.sorted = sorted;
    }

    /// From `slot` on in the list of an instance.
    fn choose_from(
        &mut self,
        mut slot: Option<Slot>,
        query: &Query,
        accepts: Option<Accepts<'_, T>>,
    ) {
        while let Some(current) = slot
            && self.chosen.len() < query.max_samples
        {
            if self.is_wanted(current, query.mask, accepts) {
                self.chosen.push(current);
            }
            slot = self.entries.own_after(current);
        }
    }

    /// Whether a sample is in the right states, and its value is accepted. One without a value of its
    /// own, which tells of the end of an instance, always is.
    fn is_wanted(&self, slot: Slot, mask: StateMask, accepts: Option<Accepts<'_, T>>) -> bool {
        let has_value = |accepts: Accepts<'_, T>| {
            let entry = self.entries.get(slot).filter(|entry| entry.valid);
            let value = entry.and_then(|entry| entry.value.as_deref());
            value.is_none_or(accepts)
        };
        self.matches(slot, mask) && accepts.is_none_or(has_value)
    }

    pub(super) fn matches(&self, slot: Slot, mask: StateMask) -> bool {
        let Some(entry) = self.entries.get(slot) else {
            return false;
        };
        let Some(Some(instance)) = self.instances.get(entry.instance) else {
            return false;
        };
        mask.accepts(entry.state, instance.view, instance.state)
    }

    /// What the application gets to see of an entry; ranks come later.
    fn sample(&mut self, slot: Slot, take: bool) -> Option<Sample<T>> {
        let sample_state = self.entries.get(slot)?.state;
        let entry = self.entries.get_mut(slot)?;
        let instance = self.instances.get(entry.instance)?.as_ref()?;
        let info = SampleInfo {
            sample_state,
            view_state: instance.view,
            instance_state: instance.state,
            source_timestamp: entry.source_timestamp,
            reception_timestamp: entry.reception_timestamp,
            instance: instance.handle,
            writer: entry.writer,
            sequence_number: entry.sequence_number,
            disposed_generation_count: entry.disposed_generation,
            no_writers_generation_count: entry.no_writers_generation,
            sample_rank: 0,
            generation_rank: 0,
            absolute_generation_rank: 0,
            valid_data: entry.valid,
        };
        let instance_index = entry.instance;
        let value = if take {
            self.remove(slot)?.value
        } else {
            entry.state = SampleState::Read;
            entry.value.clone()
        };
        Some(Sample {
            value,
            info,
            instance_index,
        })
    }

    /// Fills in the ranks (DDS 1.4 §2.2.2.5.1.6 to §2.2.2.5.1.8), from the last sample to the first.
    fn rank(&mut self, samples: &mut [Sample<T>]) {
        self.collections += 1;
        for sample in samples.iter() {
            let Some(Some(instance)) = self.instances.get_mut(sample.instance_index) else {
                continue;
            };
            let (generation, rank) = (sample.info.generation(), &mut instance.rank);
            let is_first = rank.collection != self.collections;
            if is_first {
                *rank = Rank {
                    collection: self.collections,
                    ..Rank::default()
                };
            }
            rank.newest_generation = rank.newest_generation.max(generation);
        }
        for sample in samples.iter_mut().rev() {
            let Some(Some(instance)) = self.instances.get_mut(sample.instance_index) else {
                continue;
            };
            let generation = sample.info.generation();
            let current = instance.generation();
            let rank = &mut instance.rank;
            sample.info.sample_rank = rank.count;
            sample.info.generation_rank = rank.newest_generation.saturating_sub(generation);
            sample.info.absolute_generation_rank = current.saturating_sub(generation);
            rank.count = rank.count.saturating_add(1);
        }
    }
}
