//! Leader/Followers: a thread of the application that waits delivers samples itself, and a thread of the participant does
//! while none waits. So a sample comes to who waits for it without a change of threads.

use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use tickwire_transport::Waker;

use crate::clock;
use crate::core::Core;
use crate::polled::Polled;
use crate::signal::lock;

/// The data lane of a participant, and whose turn it is to drive it.
pub(crate) struct Cooperative {
    lane: Polled,
    state: Mutex<State>,
    /// Tells threads of the application that nobody drives, or that nobody is to wait any more.
    left: Condvar,
    /// Tells the participant's own thread that nobody drives, or that it is to end.
    idle: Condvar,
}

#[derive(Default)]
struct State {
    driver: Option<Driver>,
    /// Threads of the application that wait for their turn.
    waiting: usize,
    /// How often one has had it.
    turns: u64,
    /// Whether the participant's own thread sleeps until a turn ends.
    awaits_end_of_turn: bool,
    has_ended: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Driver {
    /// A thread of the application.
    Application,
    /// The participant's.
    Own,
}

impl Cooperative {
    /// `waker` is the one of the data lane's timer, and `ended` one that nobody else uses.
    pub(crate) fn new(waker: Waker, ended: Waker) -> Self {
        Self {
            lane: Polled::of_data(waker, ended),
            state: Mutex::default(),
            left: Condvar::new(),
            idle: Condvar::new(),
        }
    }

    /// Drives until `ready` has a result, for `timeout` at most, once no other thread of the application does; with no
    /// time, once. `ready` is asked while nobody drives, so that it misses nothing.
    pub(crate) fn wait<R>(
        &self,
        core: &Core,
        timeout: Duration,
        mut ready: impl FnMut() -> Option<R>,
    ) -> Option<R> {
        let deadline = clock::now() + timeout;
        let Some(_turn) = self.take_turn(timeout) else {
            return ready();
        };
        let mut left = timeout;
        loop {
            if let Some(result) = ready() {
                return Some(result);
            }
            if self.lane.poll(core, left).is_err() {
                core.counters.receive_errors.add(1);
            }
            left = deadline.since(clock::now());
            if left.is_zero() {
                return ready();
            }
        }
    }

    /// Has all who [wait](Self::wait) ask once more whether they are ready, and whoever comes later.
    pub(crate) fn end_waits(&self) {
        lock(&self.state).has_ended = true;
        self.left.notify_all();
        self.lane.end_waits();
    }

    /// Drives while no thread of the application does, until the participant ends.
    pub(crate) fn run(&self, core: &Core) {
        while let Some(_turn) = self.await_idleness(core) {
            self.lane.run(core);
        }
        self.lane.forget();
    }

    /// The participant ends: so does [`run`](Self::run).
    pub(crate) fn stop(&self) {
        // Who looks whether it ends, and then sleeps, holds the lock.
        drop(lock(&self.state));
        self.idle.notify_all();
        self.lane.forget();
    }

    /// A turn of the application, once nobody drives, within `timeout`.
    fn take_turn(&self, timeout: Duration) -> Option<Turn<'_>> {
        let mut state = lock(&self.state);
        if let Some(driver) = state.driver.filter(|_| !timeout.is_zero()) {
            if driver == Driver::Own {
                self.lane.interrupt();
            }
            state.waiting += 1;
            let is_driven = |state: &mut State| state.driver.is_some() && !state.has_ended;
            let waited = self.left.wait_timeout_while(state, timeout, is_driven);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        let is_free = state.driver.is_none() && !state.has_ended;
        // Who only looks is not waited for.
        is_free.then(|| self.begin(&mut state, Driver::Application, !timeout.is_zero()))
    }

    /// A turn of the participant's own thread, once the application has had none for a [`PAUSE`]. None when it ends.
    fn await_idleness(&self, core: &Core) -> Option<Turn<'_>> {
        let mut state = lock(&self.state);
        let mut seen = state.turns;
        while !core.is_stopping.load(Ordering::Acquire) {
            let is_same = std::mem::replace(&mut seen, state.turns) == state.turns;
            match (state.driver, is_same) {
                (None, true) if state.waiting == 0 => {
                    return Some(self.begin(&mut state, Driver::Own, false));
                }
                // It may have nothing to do for long, and is to have nobody wake up for that.
                (Some(_), true) => {
                    state.awaits_end_of_turn = true;
                    let woken = self.idle.wait(state);
                    state = woken.unwrap_or_else(PoisonError::into_inner);
                    state.awaits_end_of_turn = false;
                }
                _ => {
                    let woken = self.idle.wait_timeout(state, PAUSE);
                    (state, _) = woken.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
        None
    }

    fn begin(&self, state: &mut State, driver: Driver, counts: bool) -> Turn<'_> {
        state.driver = Some(driver);
        Turn { of: self, counts }
    }
}

/// Ends when dropped.
struct Turn<'a> {
    of: &'a Cooperative,
    /// Whether more such turns are to be expected.
    counts: bool,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.of.state);
        state.driver = None;
        state.turns += u64::from(self.counts);
        let (is_awaited, has_followers) = (state.awaits_end_of_turn, state.waiting > 0);
        drop(state);
        if is_awaited {
            self.of.idle.notify_one();
        }
        if has_followers {
            self.of.left.notify_one();
        }
    }
}

/// How long the application may do something else before the participant's own thread drives: as long as samples are not
/// acknowledged, so that it is short beside what others wait for that, but not woken for each sample.
const PAUSE: Duration = Duration::from_millis(4);
