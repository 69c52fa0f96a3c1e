//! Reading and taking: which samples, in which order, with which ranks.

use tickwire_base::Instant;

use super::cache::Cache;
use super::info::{InstanceHandle, SampleInfo, SampleState, StateMask, ViewState};
use super::sample::Sample;
use super::slots::Slot;

/// Which samples `read` and `take` are after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    pub(crate) mask: StateMask,
    pub(crate) instance: Option<InstanceHandle>,
    pub(crate) max_samples: usize,
}

impl Query {
    /// All samples.
    pub(crate) const ALL: Self = Self {
        mask: StateMask::ANY,
        instance: None,
        max_samples: usize::MAX,
    };
}

impl<T> Cache<T> {
    /// Whether `collect` would return anything.
    pub(crate) fn has(&self, query: &Query) -> bool {
        let mut slot = self.entries.first();
        while let Some(current) = slot {
            if self.matches(current, query) {
                return true;
            }
            slot = self.entries.after(current);
        }
        false
    }

    /// Appends the samples that the query is after to `samples`, oldest arrival first.
    pub(crate) fn collect(
        &mut self,
        query: &Query,
        take: bool,
        now: Instant,
        samples: &mut Vec<Sample<T>>,
    ) {
        self.expire(now);
        let mut slot = self.entries.first();
        while let Some(current) = slot
            && samples.len() < query.max_samples
        {
            slot = self.entries.after(current);
            if self.matches(current, query) {
                samples.extend(self.sample(current, take));
            }
        }
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

    fn matches(&self, slot: Slot, query: &Query) -> bool {
        let Some(entry) = self.entries.get(slot) else {
            return false;
        };
        let Some(Some(instance)) = self.instances.get(entry.instance) else {
            return false;
        };
        query
            .mask
            .accepts(entry.state, instance.view, instance.state)
            && query
                .instance
                .is_none_or(|wanted| wanted == instance.handle)
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
        for sample in samples.iter_mut().rev() {
            let Some(Some(instance)) = self.instances.get_mut(sample.instance_index) else {
                continue;
            };
            let generation = sample.info.generation();
            let current = instance.generation();
            let rank = &mut instance.rank;
            if rank.collection != self.collections {
                rank.collection = self.collections;
                rank.count = 0;
                rank.newest_generation = generation;
            }
            sample.info.sample_rank = rank.count;
            sample.info.generation_rank = rank.newest_generation.saturating_sub(generation);
            sample.info.absolute_generation_rank = current.saturating_sub(generation);
            rank.count = rank.count.saturating_add(1);
        }
    }
}
