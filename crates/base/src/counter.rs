//! Event counters that any thread may bump and any thread may read.

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};

/// A number that only grows.
#[derive(Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// A counter at zero.
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Counts `n` events. One relaxed atomic addition.
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// The same where one thread at a time counts, for which a lock or the like sees: what two count at once may be lost. A
    /// load and a store, which take a fraction of the time.
    pub fn add_alone(&self, n: u64) {
        let count = self.0.load(Ordering::Relaxed);
        self.0.store(count.wrapping_add(n), Ordering::Relaxed);
    }

    /// Events so far.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.count().fmt(f)
    }
}
