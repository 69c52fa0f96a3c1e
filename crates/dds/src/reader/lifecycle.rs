//! READER_DATA_LIFECYCLE (DDS 1.4 §2.2.3.22): what is left of an instance some time after it has
//! ended. Knows no clock.

use std::time::Duration;

use tickwire_base::Instant;

use super::cache::Cache;
use super::info::{InstanceHandle, InstanceState};

/// How long what an instance leaves is kept; [`Duration::MAX`] is for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lifecycle {
    /// After its last writer has gone.
    pub(crate) no_writers: Duration,
    /// After it was disposed.
    pub(crate) disposed: Duration,
}

impl Lifecycle {
    /// The standard's default.
    pub(crate) const FOREVER: Self = Self {
        no_writers: Duration::MAX,
        disposed: Duration::MAX,
    };

    /// When to purge what has ended `at` some time; `None` is never.
    fn purge_at(&self, state: InstanceState, at: Instant) -> Option<Instant> {
        let delay = match state {
            InstanceState::Alive => Duration::MAX,
            InstanceState::Disposed => self.disposed,
            InstanceState::NoWriters => self.no_writers,
        };
        (delay != Duration::MAX).then(|| at + delay)
    }
}

impl<T> Cache<T> {
    /// Notes that the instance is in its state since `now`.
    #[inline]
    pub(super) fn begin_state(&mut self, index: usize, now: Instant) {
        let Some(Some(instance)) = self.instances.get_mut(index) else {
            return;
        };
        instance.state_since = now;
        let (handle, state) = (instance.handle, instance.state);
        match self.policy.lifecycle.purge_at(state, now) {
            Some(at) => self.purges.set(handle, at),
            None => self.keep(handle),
        }
    }

    /// Nothing of the instance is to be purged.
    pub(super) fn keep(&mut self, instance: InstanceHandle) {
        if !self.purges.is_empty() {
            self.purges.remove(&instance);
        }
    }

    /// Takes over other delays, for what has ended before, too.
    pub(super) fn change_lifecycle(&mut self, lifecycle: Lifecycle) {
        self.policy.lifecycle = lifecycle;
        for instance in self.instances.iter().flatten() {
            match lifecycle.purge_at(instance.state, instance.state_since) {
                Some(at) => self.purges.set(instance.handle, at),
                None => drop(self.purges.remove(&instance.handle)),
            }
        }
    }

    /// Removes the samples of instances that have ended long enough ago, and forgets those that have
    /// no writer; says whether there were any samples.
    pub(super) fn purge(&mut self, now: Instant) -> bool {
        let before = self.entries.len();
        while let Some(handle) = self.purges.pop_due(now) {
            if let Some(&index) = self.by_handle.get(&handle) {
                self.remove_samples(index);
                self.forget_if_over(index);
            }
        }
        self.entries.len() < before
    }

    /// Whether a value of the instance would not go beyond `max_instances`.
    pub(super) fn has_room_for(&self, instance: InstanceHandle) -> bool {
        self.by_handle.len() < self.policy.max_instances || self.by_handle.contains_key(&instance)
    }

    /// Removes what all instances that have ended have left.
    pub(super) fn purge_ended(&mut self) {
        self.settle();
        for index in 0..self.instances.len() {
            let instance = self.instances.get(index).and_then(Option::as_ref);
            if instance.is_some_and(|instance| instance.state != InstanceState::Alive) {
                self.remove_samples(index);
                self.forget_if_over(index);
            }
        }
    }

    fn remove_samples(&mut self, index: usize) {
        loop {
            let instance = self.instances.get(index).and_then(Option::as_ref);
            let oldest = instance.and_then(|instance| instance.samples.first);
            let Some(removed) = oldest.and_then(|slot| self.remove(slot)) else {
                return;
            };
            self.purged += u64::from(removed.info.valid_data);
            if let Some(value) = removed.value {
                self.recycle(value);
            }
        }
    }
}
