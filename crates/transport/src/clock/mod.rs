//! The two clocks. Engines never read them; the driver does, and passes the value in.

mod steady;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use nix::time::{ClockId, clock_gettime};
use tickwire_base::{Instant, Timestamp};

/// The monotonic clock, in nanoseconds since boot. Never goes back, and is not slewed to UTC's steps.
///
/// Comparable between threads, and between processes on one machine, to some tens of nanoseconds, 2 µs at worst: a
/// thread that asks often looks at the system's clock every 100 µs, and at the processor's counter in between. Within a
/// thread each is later than the one before.
#[inline]
pub fn now() -> Instant {
    Instant::from_nanos(steady::now_ns(system_ns))
}

/// What the system says of it.
fn system_ns() -> u64 {
    // The clock exists on every Linux; a kernel without it reads as the origin.
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC);
    time.map_or(0, |time| {
        nanos(time.tv_sec(), time.tv_nsec()).unsigned_abs()
    })
}

/// The calendar clock, in nanoseconds since 1970-01-01T00:00:00 UTC. May step when it is set.
pub fn timestamp() -> Timestamp {
    let time = clock_gettime(ClockId::CLOCK_REALTIME);
    Timestamp::from_nanos(time.map_or(0, |time| nanos(time.tv_sec(), time.tv_nsec())))
}

/// Both clocks, by one look at the monotonic one. How far the calendar clock is ahead of it changes only when that is
/// set, since both are slewed alike: it is looked up once in a millisecond, and the timestamp follows that late.
/// Timestamps of one thread go back only if the calendar clock does; those of two are as comparable as [`now`] is.
pub fn both() -> (Instant, Timestamp) {
    static AHEAD_NS: AtomicI64 = AtomicI64::new(0);
    static UNTIL_NS: AtomicU64 = AtomicU64::new(0);
    let now = now();
    if now.as_nanos() >= UNTIL_NS.load(Ordering::Acquire) {
        let (ahead, error) = look_ahead();
        // What differs by less is the same, found less exactly.
        if ahead.abs_diff(AHEAD_NS.load(Ordering::Relaxed)) > error {
            AHEAD_NS.store(ahead, Ordering::Relaxed);
        }
        UNTIL_NS.store(now.as_nanos() + AHEAD_VALID_NS, Ordering::Release);
    }
    let ahead = AHEAD_NS.load(Ordering::Relaxed);
    (
        now,
        Timestamp::from_nanos(now.as_nanos().cast_signed() + ahead),
    )
}

/// What the calendar clock is ahead of the monotonic one, and by how much that may be wrong, in nanoseconds. Of some
/// attempts the closest, as the thread may be interrupted between two looks.
#[cold]
fn look_ahead() -> (i64, u64) {
    let attempt = || {
        let before = system_ns();
        let calendar = timestamp();
        let took = system_ns().saturating_sub(before);
        let middle = (before + took / 2).cast_signed();
        (took, calendar.as_nanos() - middle)
    };
    let attempts = (0..3).map(|_| attempt());
    let (took, ahead) = attempts.min().unwrap_or_default();
    (ahead, MIN_ERROR_NS.saturating_add(took))
}

/// No clock is set by less.
const MIN_ERROR_NS: u64 = 1_000;

const AHEAD_VALID_NS: u64 = 1_000_000;

pub(crate) fn nanos(seconds: i64, nanos: i64) -> i64 {
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
    fn both_clocks_at_once_are_the_two() {
        let mut last = both();
        for _ in 0..10_000 {
            let before = (now(), timestamp());
            let (now_ns, time) = both();
            let after = (now(), timestamp());
            assert!(before.0 <= now_ns && now_ns <= after.0);
            assert!(last < (now_ns, time) && last.1 <= time);
            last = (now_ns, time);
            // What the thread lost while it looked how far apart the clocks are is not known here.
            let early = before.1.as_nanos() - time.as_nanos();
            let late = time.as_nanos() - after.1.as_nanos();
            assert!(early.max(late) < 1_000_000_000, "{early} {late}");
        }
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
