//! Whether a coherent set fits the RESOURCE_LIMITS as a whole (DDS 1.4 §2.2.3.6 and §2.2.3.19).
//! Changes nothing.

use super::cache::Cache;
use super::info::InstanceHandle;
use super::insert::{Arrival, SampleRejectedReason};

/// Whether there is room for all of several changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    Enough,
    /// There will be once samples are taken.
    NotYet(SampleRejectedReason),
    /// There would not be in an empty cache.
    Never(SampleRejectedReason),
}

impl<T> Cache<T> {
    /// Whether all of `arrivals` would be stored. Without limits that costs nothing, with limits
    /// sorting the instances of the set.
    pub(super) fn room_for<'a>(&mut self, arrivals: impl Iterator<Item = &'a Arrival>) -> Room {
        let policy = self.policy;
        let limits = [
            policy.max_samples,
            policy.max_instances,
            policy.max_samples_per_instance,
        ];
        if limits == [usize::MAX; 3] {
            return Room::Enough;
        }
        let mut instances = std::mem::take(&mut self.set_instances);
        // A change of state needs no room itself, but may show a value that waits.
        let needs_room =
            |arrival: &&Arrival| arrival.kind.is_alive() || self.holds_back(arrival.instance);
        let values = arrivals.filter(needs_room);
        instances.clear();
        instances.extend(values.map(|arrival| arrival.instance));
        instances.sort_unstable();
        let room = self.room_of(&instances);
        self.set_instances = instances;
        room
    }

    /// The same for as many values of each instance as it is listed.
    fn room_of(&self, instances: &[InstanceHandle]) -> Room {
        let policy = &self.policy;
        let depth = policy.depth.unwrap_or(usize::MAX);
        let (mut alone, mut added, mut new_instances, mut count) = (0, 0, 0, 0);
        for run in instances.chunk_by(|one, other| one == other) {
            let held = run.first().map_or(0, |&instance| self.held(instance));
            let (all, kept) = (held + run.len(), run.len().min(depth));
            if kept > policy.max_samples_per_instance {
                return Room::Never(SampleRejectedReason::SamplesPerInstance);
            }
            if all.min(depth) > policy.max_samples_per_instance {
                return Room::NotYet(SampleRejectedReason::SamplesPerInstance);
            }
            let is_known = run
                .first()
                .is_some_and(|one| self.by_handle.contains_key(one));
            count += 1;
            new_instances += usize::from(!is_known);
            alone += kept;
            added += all.min(depth.max(held)) - held;
        }
        match () {
            () if count > policy.max_instances => Room::Never(SampleRejectedReason::Instances),
            () if alone > policy.max_samples => Room::Never(SampleRejectedReason::Samples),
            () if self.by_handle.len() + new_instances > policy.max_instances => {
                Room::NotYet(SampleRejectedReason::Instances)
            }
            () if self.entries.len() + added > policy.max_samples => {
                Room::NotYet(SampleRejectedReason::Samples)
            }
            () => Room::Enough,
        }
    }

    /// Values of an instance that are here.
    fn held(&self, instance: InstanceHandle) -> usize {
        let index = self.by_handle.get(&instance).copied();
        let instance = index.and_then(|index| self.instances.get(index)?.as_ref());
        instance.map_or(0, |instance| instance.samples.len - instance.notice_count)
    }
}
