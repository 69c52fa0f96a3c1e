//! Points in time, in nanoseconds. The caller reads the clock; engines are told.

pub use core::time::Duration;

/// A point on a monotonic clock, in nanoseconds from an origin that only differences reveal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

impl Instant {
    /// The clock's origin, and the start of every simulated run.
    pub const ZERO: Self = Self(0);
    /// Later than any instant that happens; "no deadline".
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `ns` nanoseconds after the origin.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Time from `earlier` to `self`; zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl core::ops::Add<Duration> for Instant {
    type Output = Self;

    /// Saturates at [`Instant::MAX`], so that an infinite duration means "never".
    fn add(self, duration: Duration) -> Self {
        let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(ns))
    }
}

/// A point in calendar time: nanoseconds since 1970-01-01T00:00:00 UTC, without leap seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The instant `ns` nanoseconds after 1970-01-01T00:00:00 UTC.
    pub const fn from_nanos(ns: i64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since 1970-01-01T00:00:00 UTC.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Time from `earlier` to `self`; zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        let ns = self.0.saturating_sub(earlier.0);
        Duration::from_nanos(if ns < 0 { 0 } else { ns.unsigned_abs() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_infinite_duration_never_elapses() {
        assert_eq!(Instant::from_nanos(5) + Duration::MAX, Instant::MAX);
    }

    #[test]
    fn differences_do_not_go_below_zero() {
        assert_eq!(Instant::ZERO.since(Instant::from_nanos(1)), Duration::ZERO);
        assert_eq!(
            Timestamp::from_nanos(-5).since(Timestamp::from_nanos(-2)),
            Duration::ZERO
        );
        assert_eq!(
            Timestamp::from_nanos(-2).since(Timestamp::from_nanos(-5)),
            Duration::from_nanos(3)
        );
    }
}
