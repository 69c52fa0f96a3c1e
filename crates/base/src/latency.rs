//! How long things take, counted in buckets.

use alloc::boxed::Box;
use alloc::vec;
use core::fmt;

use crate::Duration;

/// How often which time was measured, in 34 KiB. Times are told to within 0.8 %, those of less than 256 ns
/// exactly; of more than 18 minutes only that they are. To count one takes no allocation.
#[derive(Clone, PartialEq, Eq)]
pub struct LatencyHistogram {
    /// 128 buckets for each doubling, of which the first two are one: a bucket for each nanosecond.
    buckets: Box<[u64]>,
    count: u64,
    negative: u64,
    total: u64,
    longest: u64,
}

impl LatencyHistogram {
    /// Counts a time in nanoseconds. One of less than zero, as clocks of two machines make it, is counted
    /// apart.
    pub fn record(&mut self, nanos: i64) {
        let Ok(nanos) = u64::try_from(nanos) else {
            self.negative += 1;
            return;
        };
        if let Some(bucket) = self.buckets.get_mut(bucket_of(nanos)) {
            *bucket += 1;
        }
        self.count += 1;
        self.total = self.total.saturating_add(nanos);
        self.longest = self.longest.max(nanos);
    }

    /// Times counted, without those of less than zero.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Times of less than zero: the clocks that were compared differ.
    pub fn negative(&self) -> u64 {
        self.negative
    }

    /// The mean; zero if there is none.
    pub fn mean(&self) -> Duration {
        Duration::from_nanos(self.total.checked_div(self.count).unwrap_or(0))
    }

    /// The longest, exactly; zero if there is none.
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.longest)
    }

    /// The time that so many of a million were not longer than: 500,000 for the median, 999,000 for what one
    /// of a thousand is longer than. Zero if there is none.
    pub fn percentile(&self, per_million: u32) -> Duration {
        let rank = u128::from(self.count) * u128::from(per_million.min(1_000_000));
        let rank = rank.div_ceil(1_000_000).max(1);
        let mut seen = 0;
        let found = self.buckets.iter().position(|count| {
            seen += u128::from(*count);
            seen >= rank
        });
        let end = found.map_or(0, end_of).min(self.longest);
        Duration::from_nanos(end)
    }

    /// Forgets all.
    pub fn reset(&mut self) {
        self.buckets.fill(0);
        (self.count, self.negative) = (0, 0);
        (self.total, self.longest) = (0, 0);
    }
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self {
            buckets: vec![0; BUCKETS].into_boxed_slice(),
            count: 0,
            negative: 0,
            total: 0,
            longest: 0,
        }
    }
}

impl fmt::Debug for LatencyHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LatencyHistogram")
            .field("count", &self.count)
            .field("negative", &self.negative)
            .field("median", &self.percentile(500_000))
            .field("max", &self.max())
            .finish()
    }
}

/// How far a time is shifted to the right until it has eight bits.
fn shift_of(nanos: u64) -> u32 {
    (nanos | HALF).ilog2() - HALF_BITS
}

fn bucket_of(nanos: u64) -> usize {
    let nanos = nanos.min(MAX);
    let shift = shift_of(nanos);
    // At most `BUCKETS - 1`.
    ((u64::from(shift) << HALF_BITS) + (nanos >> shift)) as usize
}

/// The longest time that is in a bucket.
fn end_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let shift = (bucket >> HALF_BITS).saturating_sub(1);
    ((bucket - (shift << HALF_BITS) + 1) << shift) - 1
}

const HALF_BITS: u32 = 7;
const HALF: u64 = 1 << HALF_BITS;
/// What is longer is counted as this.
const MAX: u64 = (1 << 40) - 1;
const BUCKETS: usize = (32 << HALF_BITS) + 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_in_a_bucket_that_ends_within_a_hundredth_of_it() {
        let mut nanos = 1_u64;
        let mut last = 0;
        while nanos < MAX {
            for near in [nanos - 1, nanos, nanos + nanos / 3] {
                let near = near.min(MAX);
                let (bucket, end) = (bucket_of(near), end_of(bucket_of(near)));
                assert!(bucket < BUCKETS && end >= near, "{near}");
                assert!(end - near <= near / 128, "{near} is told as {end}");
                assert!(bucket == 0 || end_of(bucket - 1) < near, "{near}");
            }
            assert!(bucket_of(nanos) >= last);
            last = bucket_of(nanos);
            nanos += nanos / 50 + 1;
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
        assert_eq!(end_of(BUCKETS - 1), MAX);
    }

    #[test]
    fn percentiles_are_those_of_what_was_counted() {
        let mut histogram = LatencyHistogram::default();
        assert_eq!(histogram.percentile(500_000), Duration::ZERO);
        for nanos in 1..=1_000 {
            histogram.record(nanos);
        }
        histogram.record(-5);
        assert_eq!((histogram.count(), histogram.negative()), (1_000, 1));
        assert_eq!(histogram.percentile(100_000), Duration::from_nanos(100));
        let median = histogram.percentile(500_000).as_nanos();
        assert!((500..=504).contains(&median), "{median}");
        assert_eq!(histogram.percentile(1_000_000), Duration::from_nanos(1_000));
        assert_eq!(histogram.max(), Duration::from_nanos(1_000));
        assert_eq!(histogram.mean(), Duration::from_nanos(500));
        histogram.record(i64::MAX);
        assert_eq!(histogram.percentile(1_000_000).as_nanos(), u128::from(MAX));
        histogram.reset();
        assert_eq!(histogram, LatencyHistogram::default());
    }
}
