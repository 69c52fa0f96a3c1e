//! The endpoints whose listeners are to be called by the thread that delivers data. Knows no
//! listener.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use hashbrown::HashSet;
use tickwire_rtps::wire::EntityId;

use crate::signal::lock;

/// Each waits once, however often it is added meanwhile.
#[derive(Debug, Default)]
pub(crate) struct PendingCalls {
    entities: Mutex<HashSet<EntityId>>,
    is_any: AtomicBool,
}

impl PendingCalls {
    pub(crate) fn add(&self, entity: EntityId) {
        lock(&self.entities).insert(entity);
        self.is_any.store(true, Ordering::Release);
    }

    /// Whether there are any. Takes no lock.
    pub(crate) fn is_any(&self) -> bool {
        self.is_any.load(Ordering::Acquire)
    }

    /// Those added since this was last called. Takes no lock if there are none.
    pub(crate) fn take(&self) -> HashSet<EntityId> {
        match self.is_any.swap(false, Ordering::AcqRel) {
            true => std::mem::take(&mut *lock(&self.entities)),
            false => HashSet::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_waits_once_however_often_it_is_added() {
        let calls = PendingCalls::default();
        let [one, two] = [1, 2].map(|key| EntityId::user_reader(key, true));
        for _ in 0..1_000 {
            calls.add(one);
            calls.add(two);
        }
        assert!(calls.is_any());
        assert_eq!(calls.take(), HashSet::from([one, two]));
        assert!(!calls.is_any() && calls.take().is_empty());
    }
}
