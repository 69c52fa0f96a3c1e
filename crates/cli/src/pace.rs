//! Waiting between actions that are to happen at a rate.

use std::thread;
use std::time::{Duration, Instant};

/// A schedule with a fixed interval.
pub(crate) struct Pace {
    interval: Duration,
    /// How late an action may be for those after it to come earlier.
    catches_up: Duration,
    next: Instant,
}

impl Pace {
    /// The first action is due at once. Late actions are not caught up: an interval always separates
    /// two of them.
    pub(crate) fn new(interval: Duration) -> Self {
        Self {
            interval,
            catches_up: Duration::ZERO,
            next: Instant::now(),
        }
    }

    /// The same, as often in a second as asked for: what is late by up to 10 ms is caught up, so that the
    /// rate is kept, and more is not, lest a burst follow a pause.
    pub(crate) fn at_rate(per_second: u32) -> Self {
        Self {
            catches_up: Duration::from_millis(10),
            ..Self::new(Duration::from_secs(1) / per_second.max(1))
        }
    }

    /// Waits until the next action is due. Sleeps as long as the kernel can be trusted with it, and
    /// gives other threads their turn for the rest.
    pub(crate) fn wait(&mut self) {
        loop {
            let now = Instant::now();
            let left = self.next.saturating_duration_since(now);
            if left.is_zero() {
                self.next = self.after(now);
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

impl Pace {
    /// When the next action is due, if this one happens at `now`.
    fn after(&self, now: Instant) -> Instant {
        let late = now.saturating_duration_since(self.next);
        match late <= self.catches_up {
            true => self.next + self.interval,
            false => now + self.interval,
        }
    }
}

/// How late the kernel may wake a sleeping thread.
const TIMER_SLACK: Duration = Duration::from_micros(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_caught_up_and_a_pause_is_not() {
        let (ms, late) = (Duration::from_millis, Duration::from_micros(1_500));
        let pace = Pace::at_rate(1_000);
        let begin = pace.next;
        assert_eq!(pace.after(begin + late), begin + ms(1));
        assert_eq!(pace.after(begin + ms(11)), begin + ms(12));
        let pace = Pace {
            next: begin,
            ..Pace::new(ms(1))
        };
        assert_eq!(pace.after(begin + late), begin + late + ms(1));
    }
}
