//! Bursts of bounded size, so that a large sample does not overrun the receiver's socket buffer.

use tickwire_base::{Duration, Instant};

/// Hands out `burst_len` bytes per `interval`.
#[derive(Debug)]
pub(super) struct Pacer {
    burst_len: usize,
    interval: Duration,
    left: usize,
    refill_at: Instant,
}

impl Pacer {
    pub(super) fn new(burst_len: usize, interval: Duration) -> Self {
        Self {
            burst_len: burst_len.max(1),
            interval,
            left: 0,
            refill_at: Instant::ZERO,
        }
    }

    /// Whether `len` bytes may go now. The last ones of a burst may exceed it.
    pub(super) fn take(&mut self, now: Instant, len: usize) -> bool {
        if now >= self.refill_at {
            self.left = self.burst_len;
            self.refill_at = now + self.interval;
        }
        let admitted = self.left > 0;
        self.left = self.left.saturating_sub(len);
        admitted
    }

    /// When the next burst may begin.
    pub(super) fn refill_at(&self) -> Instant {
        self.refill_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_followed_by_a_pause() {
        let mut pacer = Pacer::new(100, Duration::from_nanos(10));
        let start = Instant::from_nanos(5);
        assert!(pacer.take(start, 60));
        assert!(pacer.take(start, 60));
        assert!(!pacer.take(start, 60));
        assert_eq!(pacer.refill_at(), Instant::from_nanos(15));
        assert!(!pacer.take(Instant::from_nanos(14), 1));
        assert!(pacer.take(Instant::from_nanos(15), 1));
    }
}
