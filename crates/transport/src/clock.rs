//! The two clocks. Engines never read them; the driver does, and passes the value in.

use nix::time::{ClockId, clock_gettime};
use tickwire_base::{Instant, Timestamp};

/// The monotonic clock, in nanoseconds since boot. Never goes back, and is not slewed to UTC's steps.
///
/// Comparable between processes on one machine.
pub fn now() -> Instant {
    // The clock exists on every Linux; a kernel without it reads as the origin.
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC);
    Instant::from_nanos(time.map_or(0, |time| {
        nanos(time.tv_sec(), time.tv_nsec()).unsigned_abs()
    }))
}

/// The calendar clock, in nanoseconds since 1970-01-01T00:00:00 UTC. May step when it is set.
pub fn timestamp() -> Timestamp {
    let time = clock_gettime(ClockId::CLOCK_REALTIME);
    Timestamp::from_nanos(time.map_or(0, |time| nanos(time.tv_sec(), time.tv_nsec())))
}

fn nanos(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_monotonic_clock_does_not_go_back() {
        let first = now();
        let second = now();
        assert!(first > Instant::ZERO && second >= first);
    }

    #[test]
    fn the_calendar_clock_agrees_with_the_standard_library() {
        let before = std::time::UNIX_EPOCH
            .elapsed()
            .expect("this machine's clock is set after 1970");
        let ours = u128::from(timestamp().as_nanos().unsigned_abs());
        let after = std::time::UNIX_EPOCH
            .elapsed()
            .expect("this machine's clock is set after 1970");
        assert!(before.as_nanos() <= ours && ours <= after.as_nanos());
    }
}
