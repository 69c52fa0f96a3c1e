//! Samples that are taken as they come, by what the application has left here for that.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

use super::collect::Query;
use super::info::StateMask;
use super::sample::Sample;
use super::shared::{ReaderShared, ReaderState};
use super::straight::Straight;
use crate::listener::{calling, is_called};
use crate::signal::lock;
use crate::status::StatusMask;
use crate::type_support::TopicSupport;

pub(super) type Taker<T> = Box<dyn FnMut(&Sample<T>) + Send>;

/// What takes samples, if anything does. Who calls it has it meanwhile, so that the reader is not locked then.
pub(super) struct Each<T> {
    taker: Option<Taker<T>>,
    is_set: bool,
    is_being_called: bool,
    /// Which one was called last.
    called: u64,
    /// Whether somebody waits for it to return.
    is_awaited: bool,
    /// Whether the reader has ended, and nobody is to hear of what it has left.
    has_ended: bool,
    /// What takes the shortest way.
    pub(super) straight: Straight<T>,
}

impl<T> Default for Each<T> {
    fn default() -> Self {
        Self {
            taker: None,
            is_set: false,
            is_being_called: false,
            called: 0,
            is_awaited: false,
            has_ended: false,
            straight: Straight::default(),
        }
    }
}

impl<T> Each<T> {
    /// Whether there is one, which may be being called.
    pub(super) fn is_set(&self) -> bool {
        self.is_set
    }

    /// Whether there is one that can be called.
    #[inline]
    pub(super) fn is_at_hand(&self) -> bool {
        self.taker.is_some() && !self.is_being_called
    }
}

impl<T: TopicSupport> ReaderShared<T> {
    /// Has this take each sample from here on, those that are there among them.
    pub(super) fn take_each(&self, taker: Taker<T>) {
        let mut state = lock(&self.state);
        self.show_data(false);
        let old = self.replace_taker(&mut state, Some(taker));
        drop(state);
        self.let_go(old);
    }

    /// Has samples stay in the reader again, and waits until a call of what took them has returned, unless this thread is in
    /// one of that or of a listener: two that wait for each other would do so for ever.
    pub(super) fn stop_taking(&self) {
        let mut state = lock(&self.state);
        let was_set = state.each.is_set;
        let old = self.replace_taker(&mut state, None);
        let number = self.takers.load(Ordering::Relaxed);
        // Who is calling it says so when that has returned.
        if was_set && !state.each.is_being_called {
            self.show_left(state);
        } else {
            drop(state);
        }
        self.let_go(old);
        if is_called() {
            return;
        }
        let mut state = lock(&self.state);
        // Not for one that has been set since.
        while state.each.is_being_called && state.each.called < number {
            state.each.is_awaited = true;
            let woken = self.has_taken.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The reader ends.
    pub(super) fn end_taking(&self) {
        let mut state = lock(&self.state);
        state.each.has_ended = true;
        let old = self.replace_taker(&mut state, None);
        drop(state);
        self.let_go(old);
    }

    /// Drops what took samples, which may own what ends with it.
    fn let_go(&self, taker: Option<Taker<T>>) {
        if calling(|| catch_unwind(AssertUnwindSafe(|| drop(taker)))).is_err() {
            self.core.counters.listener_panics.add(1);
        }
    }

    fn replace_taker(
        &self,
        state: &mut ReaderState<T>,
        taker: Option<Taker<T>>,
    ) -> Option<Taker<T>> {
        self.takes_each.store(taker.is_some(), Ordering::Relaxed);
        self.takers.fetch_add(1, Ordering::Relaxed);
        state.each.is_set = taker.is_some();
        mem::replace(&mut state.each.taker, taker)
    }

    /// Tells of samples that nothing takes any more.
    fn show_left(&self, mut state: MutexGuard<'_, ReaderState<T>>) {
        if state.each.has_ended || !state.inbox.cache.has(StateMask::NOT_READ, None) {
            return;
        }
        state.inbox.news |= StatusMask::DATA_AVAILABLE;
        let settled = self.settle(&mut state);
        drop(state);
        if self.announce(settled) {
            self.core.call_listener_later(self.guid.entity);
        }
    }

    /// Hands out the samples that there are, if there is one to take them. If it is being called, on this thread or
    /// another, that call is followed by one for what has come meanwhile.
    pub(super) fn hand_out<'a>(&'a self, mut state: MutexGuard<'a, ReaderState<T>>) {
        if state.each.is_being_called {
            return;
        }
        let mut has_called = false;
        while !state.each.straight.is_empty() || state.inbox.cache.len() > 0 {
            let Some(mut taker) = state.each.taker.take() else {
                break;
            };
            let number = self.takers.load(Ordering::Relaxed);
            state.each.is_being_called = true;
            state.each.called = number;
            has_called = true;
            let is_straight = !state.each.straight.is_empty();
            let (mut samples, len, is_fresh) = match is_straight {
                true => {
                    let (samples, len) = state.each.straight.take();
                    drop(state);
                    (samples, len, true)
                }
                false => self.collect_all(state),
            };
            let mut count = 0;
            let mut hand_out = || {
                // Not those that are left when it has been stopped or replaced.
                while let Some(sample) = samples.get(count).filter(|_| count < len)
                    && self.takers.load(Ordering::Relaxed) == number
                {
                    count += 1;
                    taker(sample);
                }
            };
            // One that panics ends that call of it: the panic has been reported as any other, and there is more to do.
            calling(|| {
                while catch_unwind(AssertUnwindSafe(&mut hand_out)).is_err() {
                    self.core.counters.listener_panics.add(1);
                }
            });
            state = lock(&self.state);
            if count < len {
                state.inbox.put_back(samples.drain(count..len).collect());
            }
            if is_straight {
                state.each.straight.come_back(samples);
            } else {
                state.take_back_handed(samples, is_fresh);
            }
            if self.takers.load(Ordering::Relaxed) == number {
                state.each.taker = Some(taker);
            } else {
                drop(state);
                self.let_go(Some(taker));
                state = lock(&self.state);
            }
            if self.core.awaits_samples() {
                drop(state);
                self.core.raise_for_samples();
                state = lock(&self.state);
            }
            // From here on the lock is held until it is called again, or is not.
            state.each.is_being_called = false;
            if mem::take(&mut state.each.is_awaited) {
                self.has_taken.notify_all();
            }
        }
        if has_called && !state.each.is_set {
            self.show_left(state);
        }
    }

    /// All samples and how many those are, and whether they lie as they came.
    fn collect_all(
        &self,
        mut state: MutexGuard<'_, ReaderState<T>>,
    ) -> (Vec<Sample<T>>, usize, bool) {
        if !self.is_in_sets() {
            let mut samples = state.spare.pop().unwrap_or_default();
            if state.inbox.take_fresh(&mut samples) {
                let len = samples.len();
                return (samples, len, true);
            }
            state.spare.push(samples);
        }
        let samples = self.collect_of(state, &Query::ALL, None, true);
        let len = samples.len();
        (samples, len, false)
    }
}

impl<T: TopicSupport> ReaderState<T> {
    /// Takes back what was collected and handed out.
    fn take_back_handed(&mut self, mut samples: Vec<Sample<T>>, is_fresh: bool) {
        let first = samples.first().filter(|_| is_fresh);
        if first.is_some_and(|first| self.is_to_remember(first.info.writer)) {
            let first = samples.swap_remove(0);
            self.remember(first);
        }
        self.take_back(samples);
    }
}
