//! Where an entity keeps its listener. Only the threads that deliver data call it, one at a time, so
//! that a listener that waits in a write never holds up the acknowledgements that would free it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::signal::lock;
use crate::status::StatusMask;

type Callback = Box<dyn FnMut(StatusMask) + Send>;

/// A listener and the statuses that it has not been told of.
#[derive(Default)]
pub(crate) struct ListenerSlot {
    is_set: AtomicBool,
    news: AtomicU32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    callback: Option<Callback>,
    /// Counts replacements, so that a listener that replaces itself is not put back.
    generation: u64,
}

impl ListenerSlot {
    pub(crate) fn set(&self, callback: Option<Callback>) {
        let mut state = lock(&self.state);
        self.is_set.store(callback.is_some(), Ordering::Release);
        state.generation += 1;
        let old = std::mem::replace(&mut state.callback, callback);
        drop(state);
        // Dropped unlocked: it may own the entity whose end looks here again.
        drop(old);
    }

    /// Notes what has changed; says whether there is a listener to tell.
    pub(crate) fn note(&self, news: StatusMask) -> bool {
        self.news.fetch_or(news.bits(), Ordering::AcqRel);
        self.is_set.load(Ordering::Acquire)
    }

    /// Tells the listener what has changed since it was last told. If it is being called, on this
    /// thread or another, that call is followed by one for what has changed meanwhile.
    pub(crate) fn call(&self) {
        while self.has_to_tell() {
            let mut state = lock(&self.state);
            let generation = state.generation;
            let Some(mut callback) = state.callback.take() else {
                return;
            };
            drop(state);
            let news = StatusMask::from_bits(self.news.swap(0, Ordering::AcqRel));
            if !news.is_empty() {
                callback(news);
            }
            let mut state = lock(&self.state);
            if state.generation != generation {
                drop(state);
                drop(callback);
                return;
            }
            state.callback = Some(callback);
        }
    }

    fn has_to_tell(&self) -> bool {
        self.is_set.load(Ordering::Acquire) && self.news.load(Ordering::Acquire) != 0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn a_listener_hears_what_happened_before_it_was_set() {
        let slot = ListenerSlot::default();
        assert!(!slot.note(StatusMask::DATA_AVAILABLE));
        let heard = Arc::new(AtomicU32::new(0));
        let ear = Arc::clone(&heard);
        slot.set(Some(Box::new(move |news| {
            ear.store(news.bits(), Ordering::Relaxed)
        })));
        assert!(slot.note(StatusMask::SAMPLE_LOST));
        slot.call();
        let both = StatusMask::DATA_AVAILABLE | StatusMask::SAMPLE_LOST;
        assert_eq!(heard.load(Ordering::Relaxed), both.bits());
    }

    #[test]
    fn what_happens_during_a_call_is_told_after_it() {
        let slot = Arc::new(ListenerSlot::default());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (inner, ear) = (Arc::clone(&slot), Arc::clone(&heard));
        slot.set(Some(Box::new(move |news| {
            lock(&ear).push(news);
            if news == StatusMask::DATA_AVAILABLE {
                inner.note(StatusMask::SAMPLE_LOST);
                inner.call();
                lock(&ear).push(StatusMask::NONE);
            }
        })));
        slot.note(StatusMask::DATA_AVAILABLE);
        slot.call();
        let expected = [
            StatusMask::DATA_AVAILABLE,
            StatusMask::NONE,
            StatusMask::SAMPLE_LOST,
        ];
        assert_eq!(lock(&heard)[..], expected);
        slot.set(None);
    }

    #[test]
    fn a_listener_may_remove_itself() {
        let slot = Arc::new(ListenerSlot::default());
        let calls = Arc::new(AtomicUsize::new(0));
        let (inner, count) = (Arc::clone(&slot), Arc::clone(&calls));
        slot.set(Some(Box::new(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            inner.call();
            inner.set(None);
        })));
        for _ in 0..2 {
            slot.note(StatusMask::DATA_AVAILABLE);
            slot.call();
        }
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    }
}
