//! Samples that are taken as they come, by what the application has left here for that.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

use super::collect::Query;
use super::sample::Sample;
use super::shared::{ReaderShared, ReaderState};
use crate::listener::{calling, is_called};
use crate::signal::lock;
use crate::type_support::TopicSupport;

pub(super) type Taker<T> = Box<dyn FnMut(&Sample<T>) + Send>;

/// What takes samples, if anything does. Who calls it has it meanwhile, so that the reader is not locked then.
pub(super) struct Each<T> {
    taker: Option<Taker<T>>,
    is_set: bool,
    /// Counts replacements, so that one that replaces itself is not put back.
    generation: u64,
    is_being_called: bool,
    /// Whether somebody waits for it to return.
    is_awaited: bool,
    /// The collection that is handed out, empty otherwise.
    samples: Vec<Sample<T>>,
}

impl<T> Default for Each<T> {
    fn default() -> Self {
        Self {
            taker: None,
            is_set: false,
            generation: 0,
            is_being_called: false,
            is_awaited: false,
            samples: Vec::new(),
        }
    }
}

impl<T> Each<T> {
    /// Whether there is one, which may be being called.
    pub(super) fn is_set(&self) -> bool {
        self.is_set
    }

    /// The one that was there is to be dropped without the lock: it may own what looks here again.
    #[must_use]
    fn set(&mut self, taker: Option<Taker<T>>) -> Option<Taker<T>> {
        self.is_set = taker.is_some();
        self.generation += 1;
        std::mem::replace(&mut self.taker, taker)
    }
}

impl<T: TopicSupport> ReaderShared<T> {
    /// Has this take each sample from here on, those that are there among them, or nothing.
    pub(super) fn set_taker(&self, taker: Option<Taker<T>>) {
        let mut state = lock(&self.state);
        self.takes_each.store(taker.is_some(), Ordering::Relaxed);
        if taker.is_some() {
            self.show_data(false);
        } else if state.inbox.cache.len() > 0 {
            self.show_data(true);
        }
        let old = state.each.set(taker);
        drop(state);
        drop(old);
    }

    /// Waits until a call of what took samples has returned, unless this thread is in one of that or of a listener: two that
    /// wait for each other would do so for ever.
    pub(super) fn await_taker(&self) {
        if is_called() {
            return;
        }
        let mut state = lock(&self.state);
        while state.each.is_being_called {
            state.each.is_awaited = true;
            let woken = self.has_taken.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Hands out the samples that there are, if there is one to take them. If it is being called, on this thread or
    /// another, that call is followed by one for what has come meanwhile.
    pub(super) fn hand_out<'a>(&'a self, mut state: MutexGuard<'a, ReaderState<T>>) {
        while state.inbox.cache.len() > 0 {
            let Some(mut taker) = state.each.taker.take() else {
                return;
            };
            let generation = state.each.generation;
            state.each.is_being_called = true;
            let mut samples = std::mem::take(&mut state.each.samples);
            if !self.is_in_sets() && state.inbox.take_fresh(&mut samples) {
                drop(state);
            } else {
                samples = self.collect_of(state, &Query::ALL, None, true);
            }
            let mut rest = samples.iter();
            let mut hand_out = || rest.by_ref().for_each(&mut taker);
            // One that panics ends that call of it: the panic has been reported as any other, and there is more to do.
            calling(|| {
                while catch_unwind(AssertUnwindSafe(&mut hand_out)).is_err() {
                    self.core.counters.listener_panics.add(1);
                }
            });
            state = lock(&self.state);
            state.inbox.cache.recycle_all(&mut samples);
            state.each.samples = samples;
            if state.each.generation == generation {
                state.each.taker = Some(taker);
            } else {
                drop(state);
                drop(taker);
                state = lock(&self.state);
            }
            state.each.is_being_called = false;
            if std::mem::take(&mut state.each.is_awaited) {
                self.has_taken.notify_all();
            }
        }
    }
}
