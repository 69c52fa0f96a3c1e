//! Leader/Followers: a thread of the application that waits drives a lane itself, and a thread of the participant does
//! while none waits. So what somebody waits for comes to him without a change of threads: samples, where the participant is
//! to be driven so, and what the control lane brings to writers and discovery, such as the acknowledgements without which a
//! writer has no room.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tickwire_base::Instant;
use tickwire_transport::Waker;

use crate::clock;
use crate::core::Core;
use crate::lane::LaneKind;
use crate::polled::Polled;
use crate::signal::lock;

/// A lane of a participant, and whose turn it is to drive it.
pub(crate) struct Turns {
    kind: LaneKind,
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
    /// Ends the [rest](Rest) of that of the control lane.
    rouser: Waker,
}

#[derive(Default)]
struct State {
    driver: Option<Driver>,
    /// Threads of the application that sleep until it is their turn, or there is news.
    followers: usize,
    /// How often one has had it, and driven.
    turns: u64,
    /// Whether who drives has been told to ask again, or to let another one drive.
    is_interrupted: bool,
    /// Whether the participant's own thread sleeps until a turn ends.
    awaits_end_of_turn: bool,
    /// That of the control lane sleeps, which is nobody's turn: who wants to drive need not wait until it has woken up. On a
    /// busy machine that takes as long as others work.
    rest: Option<Rest>,
}

/// How the control lane's own thread sleeps until there is something to do.
#[derive(Clone, Copy)]
struct Rest {
    until: Instant,
    /// Whether anything that comes wakes it, besides deadlines.
    hears: bool,
    /// Whether it is being roused.
    is_over: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Driver {
    /// A thread of the application.
    Application,
    /// The participant's.
    Own,
}

impl Turns {
    /// Of the control lane or the data lane: `waker` is the one of its timer, and the others nobody else uses.
    pub(crate) fn new(kind: LaneKind, waker: Waker, [interrupter, rouser]: [Waker; 2]) -> Self {
        Self {
            kind,
            rouser,
            lane: Polled::of(kind, waker, interrupter),
            state: Mutex::default(),
            waiting: AtomicUsize::new(0),
            driver: AtomicUsize::new(NOBODY),
            news: AtomicU64::new(0),
            left: Condvar::new(),
            idle: Condvar::new(),
        }
    }

    /// Waits until `ready` has a result, for `timeout` at most: drives meanwhile, once no other thread does, with no time
    /// once. `ready` is asked before, after each turn, and with each [news](Self::raise). That of the data lane is asked in
    /// the turn, lest it goes from thread to thread. That of the control lane may write, for which nobody is to be kept from
    /// driving. Who drives already, and calls this in a listener, does not wait.
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
        let (mut kept, mut has_waited) = (None, false);
        loop {
            let seen = self.news.load(Ordering::Acquire);
            let found = ready();
            let left = deadline.since(clock::now());
            if found.is_some() || has_waited && left.is_zero() {
                return found;
            }
            has_waited = true;
            let turn = kept.take().or_else(|| self.take_turn(core, left, seen));
            let Some(mut turn) = turn else {
                continue;
            };
            // In a turn that was kept it may itself have had samples delivered, which it is to be asked about.
            if self.news.load(Ordering::Acquire) == seen || left.is_zero() {
                turn.drive(left);
            }
            if self.kind == LaneKind::Data {
                turn.go_on();
                kept = Some(turn);
            }
        }
    }

    /// There is news of a reader or writer, which was changed under its lock: has who waits ask again. To be called after that.
    #[inline]
    pub(crate) fn raise_of_locked(&self) {
        if self.is_awaited() {
            self.wake();
        }
    }

    /// Whether somebody waits who may not have seen a change under a lock, which has been made.
    #[inline]
    pub(crate) fn is_awaited(&self) -> bool {
        // Who has held the lock before the change had counted itself before that, and who gets it after sees the change.
        self.waiting.load(Ordering::Relaxed) != 0
    }

    /// The same of what was changed without a lock.
    pub(crate) fn raise(&self) {
        // Either we see who waits, or he sees the change.
        fence(Ordering::SeqCst);
        self.raise_of_locked();
    }

    fn wake(&self) {
        self.news.fetch_add(1, Ordering::Release);
        if self.is_driver() {
            // It asks itself, and tells the others, once it has called the listeners.
            return;
        }
        let mut state = lock(&self.state);
        let has_followers = state.followers > 0;
        let is_new = state.driver == Some(Driver::Application) && state.interrupt();
        drop(state);
        if has_followers {
            self.left.notify_all();
        }
        if is_new {
            self.lane.interrupt();
        }
    }

    /// Drives while no thread of the application does, until the participant ends.
    pub(crate) fn run(&self, core: &Core) {
        match self.kind {
            LaneKind::Control => self.run_control(core),
            _ => self.run_data(core),
        }
        self.lane.forget();
    }

    fn run_data(&self, core: &Core) {
        while let Some(mut turn) = self.await_idleness(core) {
            turn.drive(Duration::MAX);
        }
    }

    /// While the application has a turn now and then it sees to deadlines between these, and glances at what has come after
    /// each [`PAUSE`]. To be woken by that would take the processor from who is to wait for it, or from another program that
    /// writes, whose memory would leave the cache meanwhile.
    fn run_control(&self, core: &Core) {
        let (mut turns_before, mut waited_at) = (0, Instant::ZERO);
        loop {
            let mut state = lock(&self.state);
            if core.is_stopping.load(Ordering::Acquire) {
                return;
            }
            let is_same = std::mem::replace(&mut turns_before, state.turns) == state.turns;
            let is_driven = state.driver.is_some();
            if is_driven && is_same {
                drop(self.await_end_of_turn(state));
                continue;
            }
            let now = clock::now();
            if is_driven || !is_same {
                waited_at = now;
            }
            let hears = now.since(waited_at) >= ATTENTION;
            let glance = if hears { Instant::MAX } else { now + PAUSE };
            // Who drives sees to deadlines, and says afterwards if one is earlier.
            let until = match is_driven {
                true => glance,
                false => glance.min(self.kind.sleep(core)),
            };
            state.rest = Some(Rest {
                until,
                hears,
                is_over: false,
            });
            drop(state);
            let ready = self.lane.rest(core, &self.rouser, until, hears);

            state = lock(&self.state);
            let rest = state.rest.take();
            // Who has roused it has looked at all that had come.
            if state.driver.is_some() || rest.is_none_or(|rest| rest.is_over) {
                continue;
            }
            let mut turn = self.begin(core, &mut state, Driver::Own, false);
            drop(state);
            self.kind.timer(core).awake();
            match (ready, hears) {
                (Ok(ready), true) => self.lane.work(core, ready),
                (Ok(_), false) => turn.drive(Duration::ZERO),
                (Err(_), _) => turn.failed(PAUSE),
            }
        }
    }

    /// The participant ends: so does [`run`](Self::run).
    pub(crate) fn stop(&self) {
        // Who looks whether it ends, and then sleeps, holds the lock.
        drop(lock(&self.state));
        self.idle.notify_all();
        self.lane.forget();
    }

    /// A turn of the application, once nobody drives, within `timeout`. None if there is other news than has been seen.
    fn take_turn<'a>(&'a self, core: &'a Core, timeout: Duration, seen: u64) -> Option<Turn<'a>> {
        let mut state = lock(&self.state);
        let has_news = || seen != self.news.load(Ordering::Acquire);
        if state.driver.is_some() && !has_news() {
            // That of the control lane does not sleep in its turn.
            let may_sleep = state.driver == Some(Driver::Own) && self.kind == LaneKind::Data;
            if may_sleep && state.interrupt() {
                drop(state);
                self.lane.interrupt();
                state = lock(&self.state);
            }
            let is_in_vain = |state: &mut State| state.driver.is_some() && !has_news();
            state = self.follow(state, timeout, is_in_vain);
        }
        if state.driver.is_some() || has_news() {
            return None;
        }
        // Who only looks is not waited for.
        let turn = self.begin(core, &mut state, Driver::Application, !timeout.is_zero());
        if state.rest.is_some() {
            self.kind.timer(core).awake();
        }
        // It is not to be woken by what comes from here on.
        let rest = state.rest.as_mut().filter(|rest| rest.hears);
        let is_roused = rest.is_some_and(Rest::end);
        drop(state);
        if is_roused {
            self.rouser.wake();
        }
        Some(turn)
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
    fn await_idleness<'a>(&'a self, core: &'a Core) -> Option<Turn<'a>> {
        let mut state = lock(&self.state);
        let mut seen = state.turns;
        while !core.is_stopping.load(Ordering::Acquire) {
            let is_same = std::mem::replace(&mut seen, state.turns) == state.turns;
            match (state.driver, is_same) {
                (None, true) if self.waiting.load(Ordering::Relaxed) == 0 => {
                    return Some(self.begin(core, &mut state, Driver::Own, false));
                }
                // It may have nothing to do for long, and is to have nobody wake up for that.
                (Some(_), true) => state = self.await_end_of_turn(state),
                _ => {
                    let woken = self.idle.wait_timeout(state, PAUSE);
                    (state, _) = woken.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
        None
    }

    fn await_end_of_turn<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.awaits_end_of_turn = true;
        let woken = self.idle.wait(state);
        state = woken.unwrap_or_else(PoisonError::into_inner);
        state.awaits_end_of_turn = false;
        state
    }

    fn begin<'a>(
        &'a self,
        core: &'a Core,
        state: &mut State,
        driver: Driver,
        counts: bool,
    ) -> Turn<'a> {
        state.driver = Some(driver);
        self.driver.store(this_thread(), Ordering::Relaxed);
        Turn {
            of: self,
            core,
            counts,
            has_driven: false,
            told: self.news.load(Ordering::Acquire),
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
    of: &'a Turns,
    core: &'a Core,
    /// Whether more such turns are to be expected.
    counts: bool,
    has_driven: bool,
    /// The news that others have been told of.
    told: u64,
}

impl Turn<'_> {
    /// Waits for something to do, and does it.
    fn drive(&mut self, timeout: Duration) {
        let Self { of, core, .. } = *self;
        self.has_driven = true;
        if of.lane.poll(core, timeout).is_err() {
            self.failed(timeout.min(PAUSE));
        }
    }

    /// The system could not wait: nobody does for so long.
    fn failed(&self, pause: Duration) {
        self.core.counters.receive_errors.add(1);
        drop(self.of.follow(lock(&self.of.state), pause, |_| true));
    }

    /// It goes on: who waits besides is to ask again if there is news that he has not been told of.
    fn go_on(&mut self) {
        let mut state = lock(&self.of.state);
        let is_told = self.has_news_for_others(&mut state);
        drop(state);
        if is_told {
            self.of.left.notify_all();
        }
    }

    /// Whether there is news that others who wait have not been told of, from which on they are.
    fn has_news_for_others(&mut self, state: &mut State) -> bool {
        // That was meant for who drove until now.
        state.is_interrupted = false;
        let news = self.of.news.load(Ordering::Acquire);
        std::mem::replace(&mut self.told, news) != news && state.followers > 0
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let Self { of, core, .. } = *self;
        let mut state = lock(&of.state);
        let is_told = self.has_news_for_others(&mut state);
        state.driver = None;
        of.driver.store(NOBODY, Ordering::Relaxed);
        state.turns += u64::from(self.counts && self.has_driven);
        // Nobody else sees to deadlines from here on.
        let rest = state.rest.as_mut();
        let rest = rest.filter(|rest| of.kind.sleep(core) < rest.until);
        let is_roused = rest.is_some_and(Rest::end);
        let (is_awaited, has_followers) = (state.awaits_end_of_turn, state.followers > 0);
        drop(state);
        if is_roused {
            of.rouser.wake();
        }
        if is_awaited {
            of.idle.notify_one();
        }
        match has_followers {
            true if is_told => of.left.notify_all(),
            true => of.left.notify_one(),
            false => {}
        }
    }
}

impl State {
    /// Whether who drives is to be [interrupted](Polled::interrupt), which is noted.
    fn interrupt(&mut self) -> bool {
        !std::mem::replace(&mut self.is_interrupted, true)
    }
}

impl Rest {
    /// Whether the thread is to be roused, which is noted. It takes until it has the processor.
    fn end(&mut self) -> bool {
        !std::mem::replace(&mut self.is_over, true)
    }
}

/// Counts itself among those who wait.
struct Waiter<'a>(&'a AtomicUsize);

impl<'a> Waiter<'a> {
    fn new(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::SeqCst);
        // Of this and the fence of who changes a word one comes first.
        fence(Ordering::SeqCst);
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

/// How long the application may do something else before the participant's own thread drives, or glances at what has come to
/// the control lane: as long as samples are not acknowledged, or not repaired, so that it is short beside what others wait
/// for that, but not woken for each sample. As long does nobody drive after a failure.
const PAUSE: Duration = Duration::from_millis(4);
/// How long after a turn of the application another one of the control lane is to be expected.
const ATTENTION: Duration = Duration::from_millis(20);
