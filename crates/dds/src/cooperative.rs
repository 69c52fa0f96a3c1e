//! Leader/Followers: a thread of the application that waits delivers samples itself, and a thread of the participant does
//! while none waits. So a sample comes to who waits for it without a change of threads.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tickwire_base::Instant;
use tickwire_transport::Waker;

use crate::clock;
use crate::core::Core;
use crate::polled::Polled;
use crate::signal::lock;

/// The data lane of a participant, and whose turn it is to drive it.
pub(crate) struct Cooperative {
    lane: Polled,
    state: Mutex<State>,
    /// Threads of the application that wait, whether one of them drives or not.
    waiting: AtomicUsize,
    /// [Whose](this_thread) turn it is. Changed under the lock.
    driver: AtomicUsize,
    /// How often followers were to ask once more whether they are ready.
    news: AtomicU64,
    /// Tells threads of the application that nobody drives, or that there is news.
    left: Condvar,
    /// Tells the participant's own thread that nobody drives, or that it is to end.
    idle: Condvar,
}

#[derive(Default)]
struct State {
    driver: Option<Driver>,
    /// Threads of the application that sleep until it is their turn, or there is news.
    followers: usize,
    /// How often one has had it, and driven.
    turns: u64,
    /// Whether the participant's own thread sleeps until a turn ends.
    awaits_end_of_turn: bool,
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
            waiting: AtomicUsize::new(0),
            driver: AtomicUsize::new(NOBODY),
            news: AtomicU64::new(0),
            left: Condvar::new(),
            idle: Condvar::new(),
        }
    }

    /// Waits until `ready` has a result, for `timeout` at most: drives meanwhile, once no other thread does, with no time
    /// once. `ready` is asked before, then with each [news](Self::raise) and after each time that anybody has driven.
    /// Who drives already, and calls this in a listener, does not wait.
    pub(crate) fn wait<R>(
        &self,
        core: &Core,
        timeout: Duration,
        mut ready: impl FnMut() -> Option<R>,
    ) -> Option<R> {
        let deadline = clock::now() + timeout;
        let found = ready();
        if found.is_some() || self.is_driver() {
            return found;
        }
        // What has come since `ready` was asked, nobody may have told us of: it is asked again.
        let _waiter = Waiter::new(&self.waiting);
        let (mut left, mut seen) = (timeout, None);
        loop {
            match self.take_turn(left, seen) {
                Ok(turn) => return self.drive(core, turn, deadline, ready),
                Err(news) => seen = Some(news),
            }
            let found = ready();
            left = deadline.since(clock::now());
            if found.is_some() || left.is_zero() {
                return found;
            }
        }
    }

    /// Drives until `ready` has a result or the deadline, once at least if it has none.
    fn drive<R>(
        &self,
        core: &Core,
        mut turn: Turn<'_>,
        deadline: Instant,
        mut ready: impl FnMut() -> Option<R>,
    ) -> Option<R> {
        loop {
            let seen = self.news.load(Ordering::Acquire);
            let found = ready();
            let left = deadline.since(clock::now());
            if found.is_some() || turn.has_driven && left.is_zero() {
                return found;
            }
            // It may itself have had samples delivered, which it is to be asked about.
            if self.news.load(Ordering::Acquire) != seen && !left.is_zero() {
                continue;
            }
            turn.has_driven = true;
            if self.lane.poll(core, left).is_err() {
                core.counters.receive_errors.add(1);
                drop(self.follow(lock(&self.state), left.min(PAUSE), |_| true));
            }
            self.tell(&lock(&self.state));
        }
    }

    /// There is news of a reader, which was changed under its lock: has who waits ask again. To be called after that.
    #[inline]
    pub(crate) fn raise(&self) {
        // Who has held the lock before the change had counted itself before that, and who gets it after sees the change.
        if self.waiting.load(Ordering::Relaxed) != 0 {
            self.wake();
        }
    }

    fn wake(&self) {
        if self.is_driver() {
            // It asks itself, and tells the others, once it has called the listeners.
            self.news.fetch_add(1, Ordering::Release);
            return;
        }
        let state = lock(&self.state);
        self.tell(&state);
        let is_application = state.driver == Some(Driver::Application);
        drop(state);
        if is_application {
            self.lane.interrupt();
        }
    }

    /// Has all followers ask again.
    fn tell(&self, state: &State) {
        self.news.fetch_add(1, Ordering::Release);
        if state.followers > 0 {
            self.left.notify_all();
        }
    }

    /// Has all who [wait](Self::wait) ask once more whether they are ready, and whoever comes later.
    pub(crate) fn end_waits(&self) {
        self.tell(&lock(&self.state));
        self.lane.end_waits();
    }

    /// Drives while no thread of the application does, until the participant ends.
    pub(crate) fn run(&self, core: &Core) {
        while let Some(turn) = self.await_idleness(core) {
            let driven = self.lane.run(core);
            let state = lock(&self.state);
            self.tell(&state);
            drop(state);
            drop(turn);
            if driven.is_err() {
                core.counters.receive_errors.add(1);
                drop(self.idle.wait_timeout(lock(&self.state), PAUSE));
            }
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

    /// A turn of the application, once nobody drives, within `timeout`. Else, once there is other news than has been seen,
    /// which that is.
    fn take_turn(&self, timeout: Duration, seen: Option<u64>) -> Result<Turn<'_>, u64> {
        let mut state = lock(&self.state);
        let has_news = || seen != Some(self.news.load(Ordering::Relaxed));
        if state.driver.is_some() && !has_news() {
            if state.driver == Some(Driver::Own) {
                self.lane.interrupt();
            }
            let is_in_vain = |state: &mut State| state.driver.is_some() && !has_news();
            state = self.follow(state, timeout, is_in_vain);
        }
        match state.driver {
            // Who only looks is not waited for.
            None => Ok(self.begin(&mut state, Driver::Application, !timeout.is_zero())),
            Some(_) => Err(self.news.load(Ordering::Acquire)),
        }
    }

    /// Sleeps for `timeout`, and when it is woken goes on with that while `is_in_vain`.
    fn follow<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        timeout: Duration,
        is_in_vain: impl FnMut(&mut State) -> bool,
    ) -> MutexGuard<'a, State> {
        state.followers += 1;
        let waited = self.left.wait_timeout_while(state, timeout, is_in_vain);
        (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.followers -= 1;
        state
    }

    /// A turn of the participant's own thread, once the application has had none for a [`PAUSE`]. None when it ends.
    fn await_idleness(&self, core: &Core) -> Option<Turn<'_>> {
        let mut state = lock(&self.state);
        let mut seen = state.turns;
        while !core.is_stopping.load(Ordering::Acquire) {
            let is_same = std::mem::replace(&mut seen, state.turns) == state.turns;
            match (state.driver, is_same) {
                (None, true) if self.waiting.load(Ordering::Relaxed) == 0 => {
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
        self.driver.store(this_thread(), Ordering::Relaxed);
        Turn {
            of: self,
            counts,
            has_driven: false,
        }
    }

    /// Whether this thread drives.
    fn is_driver(&self) -> bool {
        // Nobody else writes what this thread has written while it drives.
        self.driver.load(Ordering::Relaxed) == this_thread()
    }
}

/// Ends when dropped.
struct Turn<'a> {
    of: &'a Cooperative,
    /// Whether more such turns are to be expected.
    counts: bool,
    has_driven: bool,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.of.state);
        state.driver = None;
        self.of.driver.store(NOBODY, Ordering::Relaxed);
        state.turns += u64::from(self.counts && self.has_driven);
        let (is_awaited, has_followers) = (state.awaits_end_of_turn, state.followers > 0);
        drop(state);
        if is_awaited {
            self.of.idle.notify_one();
        }
        if has_followers {
            self.of.left.notify_one();
        }
    }
}

/// Counts itself among those who wait.
struct Waiter<'a>(&'a AtomicUsize);

impl<'a> Waiter<'a> {
    fn new(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::AcqRel);
        Self(waiting)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A number that no other thread has while this one lives, and which takes no call to know.
fn this_thread() -> usize {
    thread_local!(static PLACE: Cell<u8> = const { Cell::new(0) });
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

/// The number of no thread.
const NOBODY: usize = 0;

/// How long the application may do something else before the participant's own thread drives: as long as samples are not
/// acknowledged, so that it is short beside what others wait for that, but not woken for each sample. As long does nobody
/// drive after a failure.
const PAUSE: Duration = Duration::from_millis(4);
