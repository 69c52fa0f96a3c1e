//! Where an entity keeps its listener. Only the threads that deliver data call it, one at a time, so
//! that a listener that waits in a write never holds up the acknowledgements that would free it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use tickwire_base::Counter;

use crate::signal::lock;
use crate::status::StatusMask;

type Callback = Box<dyn FnMut(StatusMask) + Send>;

/// A listener and the statuses that it has not been told of.
#[derive(Default)]
pub(crate) struct ListenerSlot {
    /// The statuses that it is set for; none without a listener.
    mask: AtomicU32,
    news: AtomicU32,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Default)]
struct State {
    callback: Option<Callback>,
    /// Counts replacements, so that a listener that replaces itself is not put back.
    generation: u64,
    /// The thread that is calling the listener.
    caller: Option<ThreadId>,
    /// Whether somebody waits for it to return.
    is_awaited: bool,
}

impl ListenerSlot {
    pub(crate) fn set(&self, callback: Option<Callback>, mask: StatusMask) {
        let mut state = lock(&self.state);
        let mask = callback.as_ref().map_or(0, |_| mask.bits());
        self.mask.store(mask, Ordering::Release);
        state.generation += 1;
        let old = std::mem::replace(&mut state.callback, callback);
        drop(state);
        // Dropped unlocked: it may own the entity whose end looks here again.
        drop(old);
    }

    /// Takes the listener away, and waits until a call of it on another thread has returned.
    pub(crate) fn remove(&self) {
        self.set(None, StatusMask::NONE);
        let mut state = lock(&self.state);
        let us = this_thread();
        while state.caller.is_some_and(|caller| caller != us) {
            state.is_awaited = true;
            let woken = self.returned.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The statuses that it is set for; none without a listener.
    pub(crate) fn handles(&self) -> StatusMask {
        StatusMask::from_bits(self.mask.load(Ordering::Acquire))
    }

    /// Notes what has changed; says whether there is a listener to tell.
    pub(crate) fn note(&self, news: StatusMask) -> bool {
        self.keep(news);
        self.handles().intersects(news)
    }

    /// Tells the listener what has changed since it was last told, and these `news`. If it is being called, on this
    /// thread or another, that call is followed by one for what has changed meanwhile.
    ///
    /// A listener that panics is counted and stays: the panic has been reported as any other, and the
    /// thread has more to do.
    pub(crate) fn call(&self, mut news: StatusMask, panics: &Counter) {
        while !(news | self.noted()).is_empty() {
            let mut state = lock(&self.state);
            let handles = self.handles();
            let tells = handles.intersects(news | self.noted()) && state.caller.is_none();
            let Some(mut callback) = state.callback.take_if(|_| tells) else {
                // Under the lock, by which who calls it looks here again.
                self.keep(news);
                return;
            };
            let generation = state.generation;
            state.caller = Some(this_thread());
            self.keep(news.without(handles));
            drop(state);
            news = (news | self.take_noted(handles)).and(handles);
            let call = AssertUnwindSafe(|| callback(news));
            if !news.is_empty() && calling(|| catch_unwind(call)).is_err() {
                panics.add(1);
            }
            news = StatusMask::NONE;
            self.put_back(callback, generation);
        }
    }

    /// What the listener would be told that is noted.
    fn noted(&self) -> StatusMask {
        StatusMask::from_bits(self.news.load(Ordering::Acquire)).and(self.handles())
    }

    fn take_noted(&self, mask: StatusMask) -> StatusMask {
        match self.noted().is_empty() {
            true => StatusMask::NONE,
            false => StatusMask::from_bits(self.news.fetch_and(!mask.bits(), Ordering::AcqRel)),
        }
    }

    fn keep(&self, news: StatusMask) {
        if !news.is_empty() {
            self.news.fetch_or(news.bits(), Ordering::AcqRel);
        }
    }

    /// Puts the listener back, or drops it if it was replaced; tells those who wait for its return.
    fn put_back(&self, callback: Callback, generation: u64) {
        let mut state = lock(&self.state);
        if state.generation == generation {
            state.callback = Some(callback);
        } else {
            drop(state);
            drop(callback);
            state = lock(&self.state);
        }
        state.caller = None;
        if std::mem::take(&mut state.is_awaited) {
            self.returned.notify_all();
        }
    }
}

thread_local! {
    /// How many calls of the application's code the thread is in that it was asked to be told by.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Calls what the application has left to be called, which does not unwind.
#[inline]
pub(crate) fn calling<R>(call: impl FnOnce() -> R) -> R {
    DEPTH.with(|depth| {
        depth.set(depth.get() + 1);
        let result = call();
        depth.set(depth.get() - 1);
        result
    })
}

/// Whether the thread is in such a call.
pub(crate) fn is_called() -> bool {
    DEPTH.get() > 0
}

/// The calling thread. The standard library counts a reference for each time that it is asked.
fn this_thread() -> ThreadId {
    thread_local! {
        static ID: ThreadId = thread::current().id();
    }
    ID.with(|id| *id)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize};
    use std::sync::{Arc, mpsc};

    use super::*;

    #[test]
    fn a_listener_hears_what_happened_before_it_was_set() {
        let slot = ListenerSlot::default();
        assert!(!slot.note(StatusMask::DATA_AVAILABLE));
        slot.call(StatusMask::SAMPLE_REJECTED, &Counter::default());
        let heard = Arc::new(AtomicU32::new(0));
        let ear = Arc::clone(&heard);
        slot.set(
            Some(Box::new(move |news| {
                ear.store(news.bits(), Ordering::Relaxed)
            })),
            StatusMask::ALL,
        );
        slot.call(StatusMask::SAMPLE_LOST, &Counter::default());
        let lost = StatusMask::SAMPLE_REJECTED | StatusMask::SAMPLE_LOST;
        let all = StatusMask::DATA_AVAILABLE | lost;
        assert_eq!(heard.load(Ordering::Relaxed), all.bits());
    }

    #[test]
    fn what_a_listener_is_not_set_for_waits() {
        let slot = ListenerSlot::default();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let set = |mask| {
            let ear = Arc::clone(&heard);
            slot.set(Some(Box::new(move |news| lock(&ear).push(news))), mask);
        };
        set(StatusMask::DATA_AVAILABLE);
        let both = StatusMask::DATA_AVAILABLE | StatusMask::SAMPLE_LOST;
        slot.call(both, &Counter::default());
        set(StatusMask::ALL);
        slot.call(StatusMask::NONE, &Counter::default());
        let expected = [StatusMask::DATA_AVAILABLE, StatusMask::SAMPLE_LOST];
        assert_eq!(lock(&heard)[..], expected);
    }

    #[test]
    fn what_happens_during_a_call_is_told_after_it() {
        let slot = Arc::new(ListenerSlot::default());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (inner, ear) = (Arc::clone(&slot), Arc::clone(&heard));
        slot.set(
            Some(Box::new(move |news| {
                lock(&ear).push(news);
                if news == StatusMask::DATA_AVAILABLE {
                    inner.call(StatusMask::SAMPLE_LOST, &Counter::default());
                    lock(&ear).push(StatusMask::NONE);
                }
            })),
            StatusMask::ALL,
        );
        slot.note(StatusMask::DATA_AVAILABLE);
        slot.call(StatusMask::NONE, &Counter::default());
        let expected = [
            StatusMask::DATA_AVAILABLE,
            StatusMask::NONE,
            StatusMask::SAMPLE_LOST,
        ];
        assert_eq!(lock(&heard)[..], expected);
        slot.set(None, StatusMask::NONE);
    }

    #[test]
    fn a_listener_that_panics_is_counted_and_called_again() {
        let slot = ListenerSlot::default();
        let panics = Counter::default();
        slot.set(
            Some(Box::new(|_| std::panic::resume_unwind(Box::new(())))),
            StatusMask::ALL,
        );
        for count in 1..=2 {
            slot.note(StatusMask::DATA_AVAILABLE);
            slot.call(StatusMask::NONE, &panics);
            assert_eq!(panics.count(), count);
        }
    }

    #[test]
    fn a_removed_listener_has_returned() {
        let slot = Arc::new(ListenerSlot::default());
        let (entered, enter) = mpsc::channel();
        let has_returned = Arc::new(AtomicBool::new(false));
        let returned = Arc::clone(&has_returned);
        slot.set(
            Some(Box::new(move |_| {
                entered.send(()).expect("the test waits for it");
                thread::yield_now();
                returned.store(true, Ordering::Release);
            })),
            StatusMask::ALL,
        );
        slot.note(StatusMask::DATA_AVAILABLE);
        thread::scope(|scope| {
            scope.spawn(|| slot.call(StatusMask::NONE, &Counter::default()));
            enter.recv().expect("the listener is called");
            slot.remove();
            assert!(has_returned.load(Ordering::Acquire));
        });
    }

    #[test]
    fn a_listener_may_remove_itself() {
        let slot = Arc::new(ListenerSlot::default());
        let calls = Arc::new(AtomicUsize::new(0));
        let (inner, count) = (Arc::clone(&slot), Arc::clone(&calls));
        slot.set(
            Some(Box::new(move |_| {
                count.fetch_add(1, Ordering::Relaxed);
                inner.call(StatusMask::NONE, &Counter::default());
                inner.remove();
            })),
            StatusMask::ALL,
        );
        for _ in 0..2 {
            slot.note(StatusMask::DATA_AVAILABLE);
            slot.call(StatusMask::NONE, &Counter::default());
        }
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    }
}
