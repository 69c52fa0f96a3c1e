//! A deadline that stays with the kernel from one wait to the next.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use tickwire_base::Instant;

use crate::WaitError;
use crate::poller::wait_error;

/// Ends waits of a [`Poller`](crate::Poller), of one thread at a time, when their deadlines have passed.
///
/// A wait with a time-out has the kernel set a timer and take it back, which is 1.4 µs of the 14 that a datagram takes to a
/// thread that sleeps. Here one is set (timerfd) and left as it is: who waits next, for longer, has its wait end too early
/// at most once, and sets it again. Takes a descriptor.
#[derive(Debug)]
pub struct Alarm {
    timer: TimerFd,
    /// When it goes off; [`NEVER`] if it is not set.
    at_ns: AtomicU64,
}

impl Alarm {
    /// One that is not set.
    ///
    /// # Errors
    /// Where the system has no more descriptors.
    pub fn new() -> Result<Self, WaitError> {
        let flags = TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags).map_err(wait_error)?;
        let at_ns = AtomicU64::new(NEVER);
        Ok(Self { timer, at_ns })
    }

    /// Whether it goes off by `deadline`. It is set for that, if it is not and that is worth it. One system call then.
    pub(crate) fn keeps(&self, deadline: Instant, now: Instant) -> bool {
        if self.at_ns.load(Ordering::Relaxed) <= deadline.as_nanos() {
            return true;
        }
        let wait = deadline.since(now);
        if wait < WORTH_IT {
            return false;
        }
        let after = Expiration::OneShot(TimeSpec::from_duration(wait));
        let is_set = self.timer.set(after, TimerSetTimeFlags::empty()).is_ok();
        if is_set {
            self.at_ns.store(deadline.as_nanos(), Ordering::Relaxed);
        }
        is_set
    }

    /// It has gone off, and is set no more.
    pub(crate) fn reset(&self) {
        self.at_ns.store(NEVER, Ordering::Relaxed);
        // Fails when there is nothing to reset.
        let _ = self.timer.wait();
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

const NEVER: u64 = u64::MAX;

/// To set it takes as long as a time-out does, and a system call more.
const WORTH_IT: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Poller, Waker, clock};

    const LONG: Duration = Duration::from_millis(15);

    #[test]
    fn a_wait_ends_at_its_deadline_and_no_sooner_for_that_of_another() {
        let (waker, alarm) = (
            Waker::new().expect("a waker"),
            Alarm::new().expect("an alarm"),
        );
        let mut poller = Poller::for_waker(&waker).alarm(&alarm);
        waker.wake();
        let far = clock::now() + Duration::from_secs(3600);
        assert!(poller.wait(Some(far)).expect("a wait").woken());
        assert_eq!(alarm.at_ns.load(Ordering::Relaxed), far.as_nanos());
        for wait in [3 * LONG, LONG, LONG / 5, Duration::ZERO] {
            let deadline = clock::now() + wait;
            let ready = poller.wait(Some(deadline)).expect("a wait");
            assert!(ready.timed_out() && clock::now() >= deadline);
        }
        // It is left as it is for who waits for longer, and nobody's time-out is late for it.
        let now = clock::now();
        let (soon, later) = (now + LONG, now + 2 * LONG);
        assert!(alarm.keeps(soon, now) && alarm.keeps(later, now));
        assert_eq!(alarm.at_ns.load(Ordering::Relaxed), soon.as_nanos());
        assert!(!alarm.keeps(now + LONG / 5, now));
        assert!(poller.wait(Some(later)).expect("a wait").timed_out());
        assert!(clock::now() >= later);
    }
}
