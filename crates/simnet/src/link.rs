//! How well one node hears another.

use tickwire_base::Duration;

/// The properties of the way from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Datagrams lost, per mille.
    pub loss: u32,
    /// Datagrams that arrive twice, per mille. The second one is delayed on its own.
    pub duplication: u32,
    /// Shortest time on the way.
    pub delay: Duration,
    /// Up to this much is added at random, so that datagrams overtake one another.
    pub jitter: Duration,
    /// How fast datagrams leave, one after the other, in bytes a second; 0 is at once.
    pub bytes_per_second: u64,
    /// As many bytes may wait to leave; a datagram that finds more is dropped.
    pub queue_bytes: u64,
}

impl Link {
    /// Nothing goes wrong, and everything takes 50 µs.
    pub const PERFECT: Self = Self {
        loss: 0,
        duplication: 0,
        delay: Duration::from_micros(50),
        jitter: Duration::ZERO,
        bytes_per_second: 0,
        queue_bytes: u64::MAX,
    };

    /// Loses `loss` per mille, repeats 5 %, and takes from 50 µs to 1 ms.
    pub const fn lossy(loss: u32) -> Self {
        Self {
            loss,
            duplication: 50,
            delay: Duration::from_micros(50),
            jitter: Duration::from_micros(950),
            ..Self::PERFECT
        }
    }

    /// How long a datagram takes to leave.
    pub(crate) fn leaves_in(&self, len: usize) -> Duration {
        let ns = (len as u64).saturating_mul(1_000_000_000);
        Duration::from_nanos(ns.checked_div(self.bytes_per_second).unwrap_or(0))
    }

    /// Whether one may wait behind those that take so long to leave.
    pub(crate) fn has_room(&self, wait: Duration) -> bool {
        let waiting = wait.as_nanos() * u128::from(self.bytes_per_second) / 1_000_000_000;
        waiting <= u128::from(self.queue_bytes)
    }
}
