//! When a lane of the participant has to look at its machines next.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};

use tickwire_base::Instant;
use tickwire_transport::Waker;

/// The earliest deadline of many, which any thread may bring forward.
pub(crate) struct Timer {
    next: AtomicU64,
    asleep: AtomicBool,
    waker: Waker,
}

impl Timer {
    pub(crate) fn new(waker: Waker) -> Self {
        Self {
            next: AtomicU64::new(u64::MAX),
            asleep: AtomicBool::new(false),
            waker,
        }
    }

    pub(crate) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Makes sure that the lane looks at `at`. A system call only if it would sleep past it.
    pub(crate) fn arm(&self, at: Instant) {
        if self.bring_forward(at) {
            self.interrupt();
        }
    }

    /// Has the lane look at `at` once it is awake. Whether it is to be [interrupted](Self::interrupt), lest it sleep
    /// past that.
    fn bring_forward(&self, at: Instant) -> bool {
        at.as_nanos() < self.next.fetch_min(at.as_nanos(), Ordering::AcqRel)
    }

    /// Makes the lane look at once, if it sleeps.
    pub(crate) fn interrupt(&self) {
        // Pairs with the fence in `sleep`: either we see it asleep, or it sees the new deadline.
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) {
            self.waker.wake();
        }
    }

    /// Announces that the lane goes to sleep; says until when it may.
    pub(crate) fn sleep(&self) -> Instant {
        self.asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        self.next()
    }

    /// Ends what [`sleep`](Self::sleep) began.
    pub(crate) fn awake(&self) {
        self.asleep.store(false, Ordering::Relaxed);
    }

    fn next(&self) -> Instant {
        Instant::from_nanos(self.next.load(Ordering::Acquire))
    }

    /// Whether a deadline has passed, which is left to whom it concerns.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        now >= self.next()
    }

    /// Whether a deadline has passed. Then the lane looks at all of its machines, and arms the timer
    /// anew for each.
    pub(crate) fn expired(&self, now: Instant) -> bool {
        if !self.is_due(now) {
            return false;
        }
        // Acquires what is armed before it, whose deadline the lane is about to look at; a mere store
        // might overwrite that after the lane has looked.
        self.next.swap(u64::MAX, Ordering::AcqRel);
        true
    }
}

/// One machine's deadline, to be read without its lock.
pub(crate) struct Due(AtomicU64);

impl Default for Due {
    fn default() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }
}

impl Due {
    pub(crate) fn at(&self) -> Instant {
        Instant::from_nanos(self.0.load(Ordering::Acquire))
    }

    /// The machine's lane does what is due: the next deadline is armed even if it is the same. To be
    /// called under the machine's lock.
    pub(crate) fn forget(&self) {
        self.0.store(u64::MAX, Ordering::Release);
    }

    /// Takes over a machine's deadline. To be called under its lock. Whether it is the first of all: once the lock is
    /// dropped, the timer's lane is to be [interrupted](Timer::interrupt).
    #[must_use = "the lane sleeps until a later deadline"]
    pub(crate) fn set(&self, at: Option<Instant>, timer: &Timer) -> bool {
        let at = at.unwrap_or(Instant::MAX);
        if at.as_nanos() == self.0.load(Ordering::Relaxed) {
            // The timer knows, or its lane is about to look here.
            return false;
        }
        self.0.store(at.as_nanos(), Ordering::Release);
        at != Instant::MAX && timer.bring_forward(at)
    }
}

/// The earlier of two deadlines.
pub(crate) fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use tickwire_transport::Poller;

    use super::*;

    /// Whether the lane has been woken.
    fn is_woken(timer: &Timer) -> bool {
        let mut poller = Poller::for_waker(timer.waker());
        poller.wait(Some(Instant::ZERO)).expect("a look").woken()
    }

    #[test]
    fn who_holds_a_lock_wakes_nobody() {
        let timer = Timer::new(Waker::new().expect("an eventfd"));
        let (due, at) = (Due::default(), Instant::from_nanos(10));
        timer.sleep();
        assert!(due.set(Some(at), &timer));
        assert!(!is_woken(&timer));
        timer.interrupt();
        assert!(is_woken(&timer));
        assert_eq!(timer.sleep(), at);
        let other = Due::default();
        assert!(!due.set(Some(at), &timer), "it is known");
        assert!(
            !other.set(Some(Instant::from_nanos(11)), &timer),
            "it is later"
        );
        assert!(!other.set(None, &timer));
    }

    #[test]
    fn the_earliest_deadline_counts() {
        let timer = Timer::new(Waker::new().expect("an eventfd"));
        assert_eq!(timer.sleep(), Instant::MAX);
        timer.arm(Instant::from_nanos(20));
        timer.arm(Instant::from_nanos(10));
        timer.arm(Instant::from_nanos(30));
        assert_eq!(timer.sleep(), Instant::from_nanos(10));
        assert!(!timer.expired(Instant::from_nanos(9)));
        assert!(timer.expired(Instant::from_nanos(10)));
        assert!(!timer.expired(Instant::from_nanos(100)));
    }
    #[test]
    fn a_deadline_that_is_still_the_same_after_it_was_due_is_armed_again() {
        let timer = Timer::new(Waker::new().expect("an eventfd"));
        let (due, at) = (Due::default(), Instant::from_nanos(10));
        assert!(due.set(Some(at), &timer));
        assert!(timer.expired(at));
        assert!(!due.set(Some(at), &timer));
        assert_eq!(timer.sleep(), Instant::MAX, "the lane looks at it now");
        due.forget();
        assert!(due.set(Some(at), &timer));
        assert_eq!(timer.sleep(), at);
    }
}
