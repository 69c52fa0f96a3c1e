//! What waits a little to be sent, since it leaves cheaper in company: samples that are written faster
//! than the system takes datagrams, and samples whose LATENCY_BUDGET allows it (DDS 1.4 §2.2.3.8).
//!
//! Whoever writes sends what is due; the control thread looks after what is left when nobody writes any
//! more. One thread at a time sends, without the lock; what comes meanwhile waits for its turn, so
//! that nothing overtakes what a thread has written before.

use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tickwire_base::Instant;
use tickwire_rtps::Outbox;
use tickwire_transport::ContextSwitches;

use crate::clock;
use crate::core::Core;
use crate::signal::lock;

/// The datagrams of one participant that wait.
pub(crate) struct Pending {
    /// Whether something waits or is being sent.
    is_any: AtomicBool,
    /// When the control thread looks here, in nanoseconds.
    look_at: AtomicU64,
    max_datagram_len: AtomicUsize,
    state: Mutex<State>,
    /// A thread has sent something, and others wait for that.
    sent: Condvar,
}

/// What waits, and who sends.
#[derive(Default)]
struct State {
    outbox: Outbox,
    /// Memory in which to go on while the outbox is being sent.
    spare: Outbox,
    /// When the first of what waits has waited long enough.
    due: Option<Instant>,
    /// How long the newest of it may wait.
    patience: Duration,
    is_sending: bool,
    /// How often something was sent.
    rounds: u64,
    /// Threads that wait for that.
    waiters: usize,
    /// Whether anything came since the control thread looked.
    has_come: bool,
}

impl State {
    fn is_due(&self, now: Instant) -> bool {
        self.outbox.total_len() >= MAX_WAITING_BYTES || self.due.is_some_and(|due| due <= now)
    }

    /// The control thread looks: when it is to look again. As long as something comes it does so
    /// again and again, which spares those who write waking it.
    fn look(&mut self, now: Instant) -> Option<Instant> {
        let has_come = mem::take(&mut self.has_come);
        let next = now + self.interval();
        let again = self.due.map(|due| due.max(next));
        again.or_else(|| has_come.then_some(next))
    }

    /// How often the control thread looks: who may wait long does not mind to wait as long again.
    fn interval(&self) -> Duration {
        (2 * self.patience).clamp(MIN_INTERVAL, 2 * MAX_BUSY_PATIENCE)
    }
}

impl Pending {
    pub(crate) fn new(max_datagram_len: usize) -> Self {
        Self {
            is_any: AtomicBool::new(false),
            look_at: AtomicU64::new(u64::MAX),
            max_datagram_len: AtomicUsize::new(max_datagram_len),
            state: Mutex::default(),
            sent: Condvar::new(),
        }
    }

    /// Sends no longer datagrams from here on, unless they are so already.
    pub(crate) fn set_max_datagram_len(&self, len: usize) {
        self.max_datagram_len.store(len, Ordering::Relaxed);
    }

    /// The longest datagram.
    pub(crate) fn max_datagram_len(&self) -> usize {
        self.max_datagram_len.load(Ordering::Relaxed)
    }

    /// When the control thread is to look.
    pub(crate) fn look_at(&self) -> Instant {
        Instant::from_nanos(self.look_at.load(Ordering::Acquire))
    }

    fn set_look_at(&self, at: Option<Instant>) {
        let at = at.unwrap_or(Instant::MAX);
        self.look_at.store(at.as_nanos(), Ordering::Release);
    }

    /// Whether something waits or is being sent that may not be overtaken.
    fn is_any(&self) -> bool {
        self.is_any.load(Ordering::Acquire)
    }

    /// A place for what may wait for `patience` from `now` on, unless too much waits already.
    pub(crate) fn place<'a>(
        &'a self,
        now: Instant,
        patience: Duration,
        then: &'a mut Then,
    ) -> Option<Place<'a>> {
        let mut state = lock(&self.state);
        let max_len = self.max_datagram_len.load(Ordering::Relaxed);
        state.outbox.share_up_to(max_len);
        let len_before = state.outbox.total_len();
        let is_full = state.is_sending && len_before >= MAX_PENDING_BYTES;
        (!is_full).then_some(Place {
            pending: self,
            state,
            len_before,
            now,
            patience: patience.min(MAX_PATIENCE),
            then,
        })
    }

    /// Whether the control thread is to be told that it is to look, which is noted.
    #[inline]
    fn is_to_look(&self, state: &State) -> bool {
        let Some(due) = state.due else {
            return false;
        };
        let is_late = self.look_at() > due + state.interval();
        if is_late {
            self.set_look_at(Some(due));
        }
        is_late
    }

    /// Waits until a thread that is sending has done so once more.
    fn wait<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let before = state.rounds;
        state.waiters += 1;
        while state.is_sending && state.rounds == before {
            let woken = self.sent.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state.waiters -= 1;
        state
    }
}

/// What is to be done about what waits, once all locks are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Then {
    #[default]
    Nothing,
    /// It is to be sent.
    Send,
    /// The control thread is to look after it.
    Wake,
}

/// A place behind what waits. It holds the lock, and says when it is dropped what is to be done.
pub(crate) struct Place<'a> {
    pending: &'a Pending,
    state: MutexGuard<'a, State>,
    /// Bytes that waited before.
    len_before: usize,
    now: Instant,
    patience: Duration,
    then: &'a mut Then,
}

impl Deref for Place<'_> {
    type Target = Outbox;

    #[inline]
    fn deref(&self) -> &Outbox {
        &self.state.outbox
    }
}

impl DerefMut for Place<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Outbox {
        &mut self.state.outbox
    }
}

impl Drop for Place<'_> {
    #[inline]
    fn drop(&mut self) {
        let Self { pending, state, .. } = self;
        if state.outbox.total_len() == self.len_before {
            return;
        }
        let due = self.now + self.patience;
        let is_first = state.due.is_none_or(|first| due < first);
        if is_first {
            state.due = Some(due);
            pending.is_any.store(true, Ordering::Release);
        }
        state.patience = self.patience;
        state.has_come = true;
        if state.is_sending {
            // Who sends looks again.
        } else if state.is_due(self.now) {
            *self.then = Then::Send;
        } else if is_first && pending.is_to_look(state) {
            *self.then = Then::Wake;
        }
    }
}

impl Core {
    /// Sends what a writer has left, or lets it wait for up to `patience` from `now` on; says whether
    /// anything was sent. Empties the outbox.
    pub(crate) fn send_samples(
        &self,
        now: Instant,
        patience: Duration,
        outbox: &mut Outbox,
    ) -> bool {
        if outbox.is_empty() {
            outbox.let_go();
            return false;
        }
        // Large ones gain nothing by company, and would be copied.
        let is_large = outbox.total_len() > MAX_JOINING_BYTES;
        if is_large {
            self.flush();
        }
        if is_large || patience.is_zero() && !self.pending.is_any() {
            self.send_user(outbox);
            return true;
        }
        self.leave(now, patience, outbox)
    }

    /// Sends what a writer has left, behind what it has left before.
    pub(crate) fn send_in_turn(&self, outbox: &mut Outbox) {
        self.send_samples(clock::now(), Duration::ZERO, outbox);
    }

    fn leave(&self, now: Instant, patience: Duration, outbox: &mut Outbox) -> bool {
        let pending = &self.pending;
        let max_len = pending.max_datagram_len.load(Ordering::Relaxed);
        let mut then = Then::default();
        loop {
            if let Some(mut place) = pending.place(now, patience, &mut then) {
                place.absorb(outbox, max_len);
                break;
            }
            drop(pending.wait(lock(&pending.state)));
        }
        outbox.clear();
        self.see_to_pending(then, now)
    }

    /// Does what is to be done after something was left to wait; says whether anything was sent.
    pub(crate) fn see_to_pending(&self, then: Then, now: Instant) -> bool {
        match then {
            Then::Nothing => {}
            Then::Send => {
                let state = lock(&self.pending.state);
                if !state.is_sending && state.is_due(now) {
                    self.send_pending(state, now);
                    return true;
                }
            }
            Then::Wake => self.control.interrupt(),
        }
        false
    }

    /// Has the control thread look in time, unless it is about to.
    fn have_looked_after(&self, state: MutexGuard<'_, State>) {
        if self.pending.is_to_look(&state) {
            drop(state);
            self.control.interrupt();
        }
    }

    /// Sends all that waits, and what becomes due meanwhile.
    fn send_pending<'a>(&'a self, mut state: MutexGuard<'a, State>, mut now: Instant) {
        let pending = &self.pending;
        state.is_sending = true;
        while state.is_due(now) {
            let spare = mem::take(&mut state.spare);
            let mut outbox = mem::replace(&mut state.outbox, spare);
            state.due = None;
            drop(state);
            self.send_user(&mut outbox);
            now = clock::now();
            state = lock(&pending.state);
            state.spare = outbox;
            state.rounds += 1;
            if state.waiters > 0 {
                pending.sent.notify_all();
            }
        }
        state.is_sending = false;
        let is_any = state.due.is_some();
        pending.is_any.store(is_any, Ordering::Release);
        self.have_looked_after(state);
    }

    /// Sends what waits, and returns when all is sent that was left before.
    pub(crate) fn flush(&self) {
        if !self.pending.is_any() {
            return;
        }
        let mut state = lock(&self.pending.state);
        let rounds = match state.is_sending {
            true => 1 + u64::from(state.due.is_some()),
            false => 0,
        };
        state.due = state.due.map(|_| Instant::ZERO);
        let until = state.rounds + rounds;
        while state.is_sending && state.rounds < until {
            state = self.pending.wait(state);
        }
        if !state.is_sending && state.due.is_some() {
            self.send_pending(state, Instant::ZERO);
        }
    }

    /// Sends what has waited long enough and nobody has sent. For the control thread, at
    /// [`look_at`](Pending::look_at).
    pub(crate) fn look_after_pending(&self, now: Instant) {
        if self.pending.look_at() > now {
            return;
        }
        let mut state = lock(&self.pending.state);
        let is_due = !state.is_sending && state.is_due(now);
        if is_due {
            self.send_pending(state, now);
            state = lock(&self.pending.state);
        }
        let again = state.look(now);
        self.pending.set_look_at(again);
    }
}

/// How closely a thread's writes follow each other.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// When it was last in a write.
    last: Instant,
    /// When it was in the first of those.
    began: Instant,
    /// Writes in a row to which the thread came straight from the one before.
    streak: u32,
    /// What the system counted when there were enough of them, or afterwards.
    switches: ContextSwitches,
}

impl Pace {
    /// The thread writes: how long the sample may wait because the thread does nothing but write, which is a
    /// quarter of the time for which it has done so. Who waits for answers, or has a handful to write, never gets
    /// there. `switches` is asked when the thread gets there, and after each pause.
    pub(crate) fn patience(
        &mut self,
        now: Instant,
        switches: impl Fn() -> ContextSwitches,
    ) -> Duration {
        let was_busy = self.streak >= MIN_STREAK;
        let pause = now.since(self.last);
        let goes_on = match was_busy {
            false => pause < STRAIGHT,
            true => pause < INTERRUPTED || self.was_preempted(switches()),
        };
        if goes_on {
            self.streak = self.streak.saturating_add(1);
        } else {
            self.streak = 0;
            self.began = now;
        }
        self.last = now;
        if self.streak < MIN_STREAK {
            return Duration::ZERO;
        }
        if !was_busy {
            self.switches = switches();
        }
        (now.since(self.began) / 4).min(MAX_BUSY_PATIENCE)
    }

    /// Whether [`patience`](Self::patience) asks for no switches.
    #[inline]
    pub(crate) fn is_told(&self, now: Instant) -> bool {
        let pause = now.since(self.last);
        match self.streak >= MIN_STREAK {
            true => pause < INTERRUPTED,
            false => self.streak + 1 < MIN_STREAK || pause >= STRAIGHT,
        }
    }

    /// Whether another thread had the processor, and this one has waited for nothing.
    fn was_preempted(&mut self, switches: ContextSwitches) -> bool {
        let before = mem::replace(&mut self.switches, switches);
        switches.was_preempted_since(before)
    }

    /// The thread has waited until there is room: it does write faster than anybody can take it.
    pub(crate) fn had_to_wait(&mut self, now: Instant, switches: ContextSwitches) {
        self.last = now;
        self.streak = self.streak.max(MIN_STREAK);
        self.switches = switches;
    }

    /// What it wrote has been sent, or left.
    pub(crate) fn written(&mut self, now: Instant) {
        self.last = now;
    }
}

/// Who writes again within this time after a write has done nothing else: to look for an answer on the
/// same machine takes longer.
const STRAIGHT: Duration = Duration::from_nanos(1_500);
/// Who has done nothing but write is believed to do so still if it comes back within this time: an interrupt
/// takes no longer, and the answer to a sample that waits here cannot come so soon.
const INTERRUPTED: Duration = Duration::from_micros(8);
/// So many samples of a burst are sent at once.
const MIN_STREAK: u32 = 16;
/// The longest that a sample of a longer one waits for others.
const MAX_BUSY_PATIENCE: Duration = Duration::from_micros(250);
/// The control thread looks no more often than that while samples come in long bursts.
const MIN_INTERVAL: Duration = Duration::from_micros(100);
/// The longest that a LATENCY_BUDGET holds samples back.
const MAX_PATIENCE: Duration = Duration::from_millis(100);
/// What waits is sent when it has so many bytes: about what one datagram takes on loopback.
const MAX_WAITING_BYTES: usize = 60_000;
/// While another thread sends, so many may wait before who writes has to.
const MAX_PENDING_BYTES: usize = 256 << 10;
/// Longer ones do not wait for company.
const MAX_JOINING_BYTES: usize = 8 << 10;

#[cfg(test)]
#[path = "pending_tests.rs"]
mod tests;
