//! How long the samples of each template take to come back. Knows nothing of topics.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::mapping::Mapper;
use crate::timing::Timing;

/// Round trips by template, recorded by the thread that receives echoes.
pub struct RoundTrips {
    groups: Vec<(String, Mutex<Timing>)>,
    state: Mutex<Awaited>,
    reached: Condvar,
}

#[derive(Default)]
struct Awaited {
    count: u64,
    /// Who waits is woken at this count.
    target: u64,
}

impl RoundTrips {
    pub(crate) fn new(mapper: &Mapper) -> Self {
        let types = mapper.types().iter();
        let name = |ty: &crate::TopicType| ty.description().name.to_string();
        Self {
            groups: types.map(|ty| (name(ty), Mutex::default())).collect(),
            state: Mutex::default(),
            reached: Condvar::new(),
        }
    }

    /// Samples that came back.
    pub fn count(&self) -> u64 {
        lock(&self.state).count
    }

    /// The round trips of one template's samples so far.
    pub fn of(&self, template: &str) -> Option<Timing> {
        let (_, timing) = self.groups.iter().find(|(name, _)| name == template)?;
        Some(lock(timing).clone())
    }

    /// Waits until `count` samples have come back or `timeout` has passed; says how many have.
    pub fn wait_for(&self, count: u64, timeout: Duration) -> u64 {
        let mut state = lock(&self.state);
        state.target = count;
        let waited = self
            .reached
            .wait_timeout_while(state, timeout, |state| state.count < count);
        waited.unwrap_or_else(PoisonError::into_inner).0.count
    }

    pub(crate) fn group(&self, template: &str) -> Option<usize> {
        self.groups.iter().position(|(name, _)| name == template)
    }

    pub(crate) fn record(&self, group: Option<usize>, round_trip: Duration) {
        if let Some((_, timing)) = group.and_then(|group| self.groups.get(group)) {
            lock(timing).record(round_trip);
        }
        let mut state = lock(&self.state);
        state.count += 1;
        if state.count == state.target {
            self.reached.notify_all();
        }
    }
}

/// What the locks guard is whole after each step, also if a listener panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
