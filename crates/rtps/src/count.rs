//! Whether a count is news: repeats and stragglers of heartbeats and acknowledgements are dropped.

use tickwire_base::{Duration, Instant};

/// Remembers the last count of one peer (RTPS 2.5 §8.4.15.7).
///
/// A count that does not grow is a duplicate, unless the peer has been silent for [`RESTART`]: then
/// it began anew and its counts with it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CountFilter {
    last: Option<(u32, Instant)>,
}

impl CountFilter {
    /// Whether `count` is news, in which case it becomes the last one.
    pub(crate) fn accept(&mut self, now: Instant, count: u32) -> bool {
        let news = self.would_accept(now, count);
        if news {
            self.last = Some((count, now));
        }
        news
    }

    /// Whether [`accept`](Self::accept) would.
    pub(crate) fn would_accept(&self, now: Instant, count: u32) -> bool {
        match self.last {
            None => true,
            Some((last, at)) => is_after(count, last) || now.since(at) >= RESTART,
        }
    }

    /// Takes `count` for the last one without asking.
    pub(crate) fn restart(&mut self, now: Instant, count: u32) {
        self.last = Some((count, now));
    }
}

/// Whether `count` comes after `last` on the circle of 2^32.
pub(crate) fn is_after(count: u32, last: u32) -> bool {
    let distance = count.wrapping_sub(last);
    distance != 0 && distance < 1 << 31
}

const RESTART: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    const START: Instant = Instant::from_nanos(1_000_000_000);

    #[test]
    fn a_repeated_or_older_count_is_no_news() {
        let mut filter = CountFilter::default();
        assert!(filter.accept(START, 5));
        assert!(!filter.accept(START, 5));
        assert!(!filter.accept(START, 4));
        assert!(filter.accept(START, 6));
    }

    #[test]
    fn counts_wrap_around() {
        let mut filter = CountFilter::default();
        assert!(filter.accept(START, u32::MAX));
        assert!(filter.accept(START, 0));
        assert!(!filter.accept(START, u32::MAX));
    }

    #[test]
    fn a_peer_that_was_silent_for_long_may_count_anew() {
        let mut filter = CountFilter::default();
        assert!(filter.accept(START, 500));
        assert!(!filter.accept(START + (RESTART - Duration::from_nanos(1)), 1));
        assert!(filter.accept(START + RESTART, 1));
    }
}
