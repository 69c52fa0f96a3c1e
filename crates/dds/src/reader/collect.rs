//! Reading and taking: which samples, in which order, with which ranks.

use tickwire_cdr::filter::SortKey;
use tickwire_rtps::wire::{Guid, SequenceNumber};

use super::cache::{Cache, Order};
use super::endpoint::Listed;
use super::info::{InstanceHandle, SampleState, StateMask, ViewState};
use super::sample::Sample;
use super::slots::{List, Slot};

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

    /// Whether it is after samples in any state, of any instance.
    fn has_all(&self) -> bool {
        self.mask == StateMask::ANY && matches!(self.instances, Instances::All)
    }
}

/// Says of a value whether it is wanted.
pub(crate) type Accepts<'a, T> = &'a dyn Fn(&T) -> bool;

/// Says of a value where it belongs; `None` comes last.
pub(crate) type SortBy<'a, T> = &'a dyn Fn(&T) -> Option<SortKey>;

impl<T> Cache<T> {
    /// Whether there are samples in these states, with a value that is accepted.
    pub(crate) fn has(&mut self, mask: StateMask, accepts: Option<Accepts<'_, T>>) -> bool {
        self.settle();
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
    pub(crate) fn list(&mut self, reader: Guid, mask: StateMask, samples: &mut Vec<Listed>) {
        self.settle();
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
            if entry.info.sequence_number != SequenceNumber::UNKNOWN {
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
        self.collections += 1;
        let is_choosy = accepts.is_some() || order.is_some();
        let is_in_order = !is_choosy && self.policy.order != Order::Instance;
        if take && is_in_order && query.has_all() && self.len() <= query.max_samples {
            if self.entries.len() == 0 && samples.is_empty() {
                return self.take_fresh(samples);
            }
            self.take_all(samples);
        } else {
            self.settle();
            match order {
                Some(order) => self.choose_in_order(query, accepts, order),
                None => self.choose(query, accepts),
            }
            let mut chosen = std::mem::take(&mut self.chosen);
            samples.extend(chosen.drain(..).filter_map(|slot| self.sample(slot, take)));
            self.chosen = chosen;
        }
        self.rank(samples);
        if take {
            // Once for each instance.
            let last = samples.iter().filter(|sample| sample.info.sample_rank == 0);
            for sample in last {
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
            let entry = self.entries.get(slot).filter(|entry| entry.info.valid_data);
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
        let visit = self.collections;
        let mut slot = self.entries.first();
        while let Some(current) = slot
            && self.chosen.len() < query.max_samples
        {
            let index = self.entries.get(current).map(|entry| entry.instance_index);
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
            let entry = self.entries.get(slot).filter(|entry| entry.info.valid_data);
            let value = entry.and_then(|entry| entry.value.as_deref());
            value.is_none_or(accepts)
        };
        self.matches(slot, mask) && accepts.is_none_or(has_value)
    }

    pub(super) fn matches(&self, slot: Slot, mask: StateMask) -> bool {
        let Some(entry) = self.entries.get(slot) else {
            return false;
        };
        let Some(Some(instance)) = self.instances.get(entry.instance_index) else {
            return false;
        };
        mask.accepts(entry.info.sample_state, instance.view, instance.state)
    }

    /// All samples where there are only [fresh](Self::fresh) ones. Since they came nothing has changed about their
    /// instances, and nobody has looked: so they are in the states that they came in, of the latest generation, and
    /// their instances, which have writers, remain.
    #[inline]
    fn take_fresh(&mut self, samples: &mut Vec<Sample<T>>) {
        std::mem::swap(samples, &mut self.fresh);
        self.gone += samples.len() as u64;
        for sample in samples.iter_mut().rev() {
            if let Some(Some(instance)) = self.instances.get_mut(sample.instance_index) {
                sample.info.sample_rank = instance.count_back(self.collections);
            }
        }
    }

    /// The same for who wants all. False if there are others.
    #[inline]
    pub(super) fn take_if_fresh(&mut self, samples: &mut Vec<Sample<T>>) -> bool {
        let is_alone = self.entries.len() == 0 && self.policy.order != Order::Instance;
        if is_alone {
            self.collections += 1;
            self.take_fresh(samples);
        }
        is_alone
    }

    /// Puts samples that were taken last back before all others, and says how many found no room, as others of their
    /// instance have come meanwhile.
    pub(super) fn put_back(&mut self, samples: Vec<Sample<T>>) -> u64 {
        self.settle();
        let mut replaced = 0;
        for mut sample in samples.into_iter().rev() {
            let index = self.index_of_taken(&sample);
            let ends_at = self.expiry_of_taken(&sample);
            sample.instance_index = index;
            let Some(Some(instance)) = self.instances.get_mut(index) else {
                continue;
            };
            let held = instance.samples.len - instance.notice_count;
            let is_value = sample.info.valid_data;
            if is_value && self.policy.depth.is_some_and(|depth| held >= depth) {
                replaced += 1;
                if let Some(value) = sample.value.take() {
                    self.recycle(value);
                }
                continue;
            }
            instance.notice_count += usize::from(!is_value);
            let slot = self.entries.push_front(sample, &mut instance.samples);
            if let Some(at) = ends_at {
                self.expiries.set(slot, at);
            }
        }
        replaced
    }

    /// Where the instance of a sample is that has been taken. One that is over by now is as it was then.
    fn index_of_taken(&mut self, sample: &Sample<T>) -> usize {
        let info = &sample.info;
        if let Some(index) = self.find(info.instance) {
            return index;
        }
        let index = self.add_instance(info.instance);
        if let Some(Some(instance)) = self.instances.get_mut(index) {
            instance.state = info.instance_state;
            instance.disposed_generation = info.disposed_generation_count;
            instance.no_writers_generation = info.no_writers_generation_count;
        }
        index
    }

    /// All samples as the application gets to see them; ranks come later.
    fn take_all(&mut self, samples: &mut Vec<Sample<T>>) {
        self.gone += self.len() as u64;
        self.expiries.clear();
        samples.reserve(self.len());
        samples.extend(self.entries.drain());
        samples.append(&mut self.fresh);
        for sample in samples {
            if let Some(Some(instance)) = self.instances.get_mut(sample.instance_index) {
                instance.samples = List::default();
                instance.notice_count = 0;
                instance.show(&mut sample.info, self.collections);
            }
        }
    }

    /// What the application gets to see of a sample; ranks come later.
    fn sample(&mut self, slot: Slot, take: bool) -> Option<Sample<T>> {
        let mut sample = match take {
            true => self.remove(slot)?,
            false => {
                let kept = self.entries.get_mut(slot)?;
                let sample = kept.clone();
                kept.info.sample_state = SampleState::Read;
                sample
            }
        };
        let instance = self.instances.get_mut(sample.instance_index)?.as_mut()?;
        instance.show(&mut sample.info, self.collections);
        Some(sample)
    }

    /// Fills in the ranks (DDS 1.4 §2.2.2.5.1.6 to §2.2.2.5.1.8), from the last sample to the first, whose
    /// instances have been seen then.
    fn rank(&mut self, samples: &mut [Sample<T>]) {
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
            instance.view = ViewState::NotNew;
        }
    }
}
