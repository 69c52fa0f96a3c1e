//! Waiting between actions that are to happen at a rate.

use std::thread;
use std::time::{Duration, Instant};

/// A schedule with a fixed interval. Late actions are not caught up: an interval always separates
/// two of them.
pub(crate) struct Pace {
    interval: Duration,
    next: Instant,
}

impl Pace {
    /// The first action is due at once.
    pub(crate) fn new(interval: Duration) -> Self {
        Self {
            interval,
            next: Instant::now(),
        }
    }

    /// Waits until the next action is due. Sleeps as long as the kernel can be trusted with it, and
    /// gives other threads their turn for the rest.
    pub(crate) fn wait(&mut self) {
        loop {
            let now = Instant::now();
            let left = self.next.saturating_duration_since(now);
            if left.is_zero() {
                self.next = now + self.interval;
                return;
            }
            if left > TIMER_SLACK {
                #[expect(clippy::disallowed_methods, reason = "the pause is what was asked for")]
                thread::sleep(left - TIMER_SLACK);
            } else {
                thread::yield_now();
            }
        }
    }
}

/// How late the kernel may wake a sleeping thread.
const TIMER_SLACK: Duration = Duration::from_micros(60);
