//! Driving a participant by the application's own loop.

use std::os::fd::AsFd as _;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use tickwire_base::Instant;
use tickwire_transport::{Poller, Ready, WaitError, Waker};

use crate::clock;
use crate::core::Core;
use crate::error::PollError;
use crate::lane::{Lane, LaneKind};

/// Both lanes of a participant without threads, or [one](Self::of) alone.
///
/// They are locked apart: a listener that waits in a write holds the data lane, and drives the
/// control lane meanwhile.
pub(crate) struct Polled {
    control: Option<Mutex<Lane>>,
    data: Option<Mutex<Lane>>,
    waker: Waker,
    /// Has who waits in [`poll`](Self::poll), or comes next, return: for ever, or where threads take turns once.
    interrupter: Waker,
    takes_turns: bool,
}

impl Polled {
    /// `waker` is the one of both lanes' timers, and `interrupter` one that nobody else uses.
    pub(crate) fn new(waker: Waker, interrupter: Waker) -> Self {
        let lane = |kind| Some(Mutex::new(Lane::new(kind)));
        Self {
            control: lane(LaneKind::Control),
            data: lane(LaneKind::Data),
            waker,
            interrupter,
            takes_turns: false,
        }
    }

    /// The control lane or the data lane alone, which threads take turns at. `waker` is the one of its timer.
    pub(crate) fn of(kind: LaneKind, waker: Waker, interrupter: Waker) -> Self {
        let lane = |of| (kind == of).then(|| Mutex::new(Lane::new(of)));
        Self {
            control: lane(LaneKind::Control),
            data: lane(LaneKind::Data),
            waker,
            interrupter,
            takes_turns: true,
        }
    }

    /// Has who waits in [`poll`](Self::poll) return, or who comes next: all from here on, or where threads take turns one.
    pub(crate) fn interrupt(&self) {
        self.interrupter.wake();
    }

    /// Waits until `until`, or for `rouser`, or for what has the control lane look at its deadlines, and with `hears` for
    /// anything that comes to it. To be done in that lane is nothing yet: others may drive it meanwhile.
    pub(crate) fn rest(
        &self,
        core: &Core,
        rouser: &Waker,
        until: Instant,
        hears: bool,
    ) -> Result<Ready, PollError> {
        let mut poller = Poller::for_waker(rouser);
        if hears {
            poller = LaneKind::Control.poll(core, poller);
            poller = poller.busy_poll(core.busy_poll);
        }
        // Who drives takes back what it was used for.
        let mut poller = poller.descriptor(self.waker.as_fd());
        let ready = poller.wait(Some(until).filter(|&until| until != Instant::MAX));
        ready.map_err(PollError::Wait)
    }

    /// Does in the control lane what a [rest](Self::rest) that heard all has found.
    pub(crate) fn work(&self, core: &Core, ready: Ready) {
        let lane = LaneKind::Control;
        if ready.socket(lane.poll_count(core)) {
            self.waker.reset();
        }
        if let Some(mut lane) = self.try_lock_control() {
            lane.turn(core, None, |index| ready.socket(index));
        }
    }

    /// Waits up to `timeout` for something to do and does it, in the lanes that nobody else is working in.
    pub(crate) fn poll(&self, core: &Core, timeout: Duration) -> Result<(), PollError> {
        let interrupter = Some(&self.interrupter);
        self.turn(core, timeout, Instant::MAX, interrupter)
            .map(drop)
    }

    /// Waits for `timeout`, not past `deadline`, and not once `interrupter` is used, for something to do and does it, in the
    /// lanes that nobody else is working in. False if there is none.
    #[inline(always)]
    fn turn(
        &self,
        core: &Core,
        timeout: Duration,
        deadline: Instant,
        interrupter: Option<&Waker>,
    ) -> Result<bool, PollError> {
        let mut data = self.data.as_ref().and_then(try_lock);
        // Where there is something at once, the clock is read once: when that has come.
        let looks = match interrupter {
            _ if timeout.is_zero() => LOOKS,
            // Who waits for something else than samples.
            None => MORE_LOOKS,
            Some(_) => MOST_LOOKS,
        };
        let found = data.as_deref_mut().and_then(|lane| look(core, lane, looks));
        if let (Some(lane), Some(now)) = (&mut data, found) {
            if LaneKind::Control.is_due(core, now)
                && let Some(mut control) = self.try_lock_control()
            {
                control.turn(core, found, |_| false);
            }
            lane.end_look(core, now);
            return Ok(true);
        }
        self.turn_after(core, data, looks, (timeout, deadline), interrupter)
    }

    /// The same after `looks` at samples that have found none.
    fn turn_after(
        &self,
        core: &Core,
        mut data: Option<MutexGuard<'_, Lane>>,
        looks: u32,
        (timeout, deadline): (Duration, Instant),
        interrupter: Option<&Waker>,
    ) -> Result<bool, PollError> {
        let mut control = self.try_lock_control();
        let locked = |lane: &Option<_>, kind| lane.is_some().then_some(kind);
        let kinds = [
            locked(&control, LaneKind::Control),
            locked(&data, LaneKind::Data),
        ];
        let mut kinds = kinds.into_iter().flatten();
        let Some(first) = kinds.next() else {
            return Ok(false);
        };
        let second = kinds.next();

        let deadline = deadline.min(clock::now() + timeout);
        let lanes = (&mut control, data.as_deref_mut());
        let waits = (deadline, looks);
        let ready = self.wait(core, (first, second), lanes, waits, interrupter)?;

        let offset = match first {
            LaneKind::Control => first.poll_count(core),
            _ => 0,
        };
        // Not locked any longer, for listeners that wait in a write.
        if let Some(mut lane) = control {
            lane.turn(core, None, |index| ready.socket(index));
        }
        if let Some(lane) = &mut data {
            lane.turn(core, None, |index| ready.socket(offset + index));
        }
        Ok(true)
    }

    /// Waits until a socket of these parts can be read, a deadline of theirs, `deadline`, or an interruption.
    fn wait<'a>(
        &'a self,
        core: &Core,
        (first, second): (LaneKind, Option<LaneKind>),
        (control, data): (&mut Option<MutexGuard<'a, Lane>>, Option<&mut Lane>),
        (deadline, looks): (Instant, u32),
        interrupter: Option<&Waker>,
    ) -> Result<Ready, PollError> {
        let mut poller = first.poll(core, Poller::for_waker(&self.waker));
        let mut until = deadline.min(first.sleep(core));
        if let Some(second) = second {
            poller = second.poll(core, poller);
            until = until.min(second.sleep(core));
        }
        if let Some(interrupter) = interrupter {
            // After what belongs to the parts, which count from the first place.
            poller = poller.descriptor(interrupter.as_fd());
        }
        if data.is_some() && core.has_listeners_to_call() {
            until = Instant::ZERO;
        }
        let ready = self.wait_busily(core, (control, data), &mut poller, (until, looks));
        first.timer(core).awake();
        if let Some(second) = second {
            second.timer(core).awake();
        }
        let ready = ready.map_err(PollError::Wait)?;
        let place = first.poll_count(core) + second.map_or(0, |second| second.poll_count(core));
        if self.takes_turns && ready.socket(place) {
            self.interrupter.reset();
        }
        Ok(ready)
    }

    /// Waits until a socket can be read or `until`, after a [`look`] at samples that has found none.
    fn wait_busily<'a>(
        &'a self,
        core: &Core,
        (control, mut data): (&mut Option<MutexGuard<'a, Lane>>, Option<&mut Lane>),
        poller: &mut Poller<'_>,
        (mut until, looks): (Instant, u32),
    ) -> Result<Ready, WaitError> {
        let mut now = clock::now();
        let busy_until = now + core.busy_poll;
        loop {
            let is_busy = now < busy_until;
            let ready = match is_busy {
                true => poller.wait(Some(Instant::ZERO))?,
                false => match sleep(core, data.as_deref(), poller, until)? {
                    Some(ready) => ready,
                    // There is news in a log.
                    None => return poller.wait(Some(Instant::ZERO)),
                },
            };
            now = clock::now();
            if let Some(lane) = &mut data {
                lane.asked_others(now);
            }
            if !ready.timed_out() || now >= until {
                return Ok(ready);
            }
            if let Some(lane) = data.as_deref_mut().filter(|_| is_busy) {
                // A listener that waits in a write drives the control lane meanwhile.
                let had_control = control.take().is_some();
                let found = look(core, lane, looks);
                *control = had_control.then(|| self.try_lock_control()).flatten();
                if found.is_some() || had_control && control.is_none() {
                    return Ok(Ready::default());
                }
                if had_control {
                    // Who drove it meanwhile has woken up, and new deadlines would wake nobody.
                    let control = LaneKind::Control.sleep(core);
                    until = until.min(control).min(LaneKind::Data.sleep(core));
                }
            }
        }
    }

    /// One turn while the application waits for `ready`. Where other threads work in both lanes, it
    /// is theirs.
    pub(crate) fn wait_turn<R>(
        &self,
        core: &Core,
        deadline: Instant,
        ready: impl FnMut() -> Option<R>,
    ) -> Option<R> {
        match self.turn(core, TURN, deadline, None) {
            Ok(true) => None,
            Ok(false) => {
                let rest = deadline.since(clock::now());
                core.signal.wait(rest.min(TURN), ready)
            }
            Err(_) => {
                core.counters.receive_errors.add(1);
                None
            }
        }
    }

    /// Lets go of the endpoints that the lanes remember.
    pub(crate) fn forget(&self) {
        for lane in self.control.iter().chain(&self.data) {
            if let Some(mut lane) = try_lock(lane) {
                lane.forget();
            }
        }
    }

    fn try_lock_control(&self) -> Option<MutexGuard<'_, Lane>> {
        self.control.as_ref().and_then(try_lock)
    }
}

/// Takes samples, if there are some, where the participant polls busily: they are what it looks for most. The data lane
/// asks its logs and its socket for them up to `times`, and says when they came; then nothing else is reported.
#[inline(always)]
fn look(core: &Core, data: &mut Lane, times: u32) -> Option<Instant> {
    let may_look = !core.busy_poll.is_zero() && data.may_look();
    let times = match data.has_logs() {
        _ if !may_look => 0,
        // Of which each looks at the logs again and again.
        true => times.min(MORE_LOOKS),
        false => times,
    };
    (0..times).find_map(|_| data.look(core))
}

/// Sleeps until a socket can be read, a log has news, or `until`. `None` if a log that the data lane follows
/// has news already; who does not drive that lane has nothing to do with its logs.
fn sleep(
    core: &Core,
    data: Option<&Lane>,
    poller: &mut Poller<'_>,
    until: Instant,
) -> Result<Option<Ready>, WaitError> {
    let (Some(shm), Some(lane)) = (&core.shm, data.filter(|lane| lane.has_logs())) else {
        return poller.wait(Some(until)).map(Some);
    };
    let waited = lane
        .lie_down(shm)
        .then(|| poller.wait(Some(until)))
        .transpose();
    shm.ear.wake();
    waited
}

/// How often samples are looked for before it is the other sockets' turn: by who does not wait, and by who does.
const LOOKS: u32 = 8;
const MORE_LOOKS: u32 = 32;
/// The same for who waits for samples alone.
const MOST_LOOKS: u32 = 128;

/// How long one thread that waits does not look at what others have done.
const TURN: Duration = Duration::from_millis(10);

fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
