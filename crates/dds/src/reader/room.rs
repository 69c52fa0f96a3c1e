//! Whether a coherent set fits the RESOURCE_LIMITS as a whole (DDS 1.4 §2.2.3.6 and §2.2.3.19).
//! Changes nothing.

use super::cache::Cache;
use super::info::InstanceHandle;
use super::insert::{Arrival, SampleRejectedReason};

/// Whether there is room for all of several changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    Enough,
    /// There will be once samples are taken: not before so many samples and instances are gone.
    NotYet(SampleRejectedReason, usize),
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
        self.settle();
        let mut instances = std::mem::take(&mut self.set_instances);
        instances.clear();
        for arrival in arrivals {
            let is_value = arrival.kind.is_alive();
            instances.push((arrival.instance, is_value));
            // A change of state may show a value that waits.
            if !is_value && self.holds_back(arrival.instance) {
                instances.push((arrival.instance, true));
            }
        }
        instances.sort_unstable();
        let room = self.room_of(&instances);
        self.set_instances = instances;
        room
    }

    /// The same for as many values (`true`) and changes of state of each instance as are listed. Each
    /// of the latter may be stored, too.
    fn room_of(&self, changes: &[(InstanceHandle, bool)]) -> Room {
        let policy = &self.policy;
        let depth = policy.depth.unwrap_or(usize::MAX);
        let (mut alone, mut added, mut new_instances, mut count) = (0, 0, 0, 0);
        for run in changes.chunk_by(|(one, _), (other, _)| one == other) {
            let Some(&(instance, _)) = run.first() else {
                continue;
            };
            let values = run.iter().filter(|(_, is_value)| *is_value).count();
            let notices = run.len() - values;
            let held = self.held(instance);
            let (all, kept) = (held + values, values.min(depth));
            if kept > policy.max_samples_per_instance {
                return Room::Never(SampleRejectedReason::SamplesPerInstance);
            }
            let excess = all
                .min(depth)
                .saturating_sub(policy.max_samples_per_instance);
            if excess > 0 {
                return Room::NotYet(SampleRejectedReason::SamplesPerInstance, excess);
            }
            count += 1;
            new_instances += usize::from(!self.by_handle.contains_key(&instance));
            alone += kept + notices;
            added += all.min(depth.max(held)) - held + notices;
        }
        let instances = self.by_handle.len() + new_instances;
        let samples = self.entries.len() + added;
        match () {
            () if count > policy.max_instances => Room::Never(SampleRejectedReason::Instances),
            () if alone > policy.max_samples => Room::Never(SampleRejectedReason::Samples),
            () if instances > policy.max_instances => {
                let excess = instances - policy.max_instances;
                Room::NotYet(SampleRejectedReason::Instances, excess)
            }
            () if samples > policy.max_samples => {
                let excess = samples - policy.max_samples;
                Room::NotYet(SampleRejectedReason::Samples, excess)
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
