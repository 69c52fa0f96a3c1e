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
}

impl Link {
    /// Nothing goes wrong, and everything takes 50 µs.
    pub const PERFECT: Self = Self {
        loss: 0,
        duplication: 0,
        delay: Duration::from_micros(50),
        jitter: Duration::ZERO,
    };

    /// Loses `loss` per mille, repeats 5 %, and takes from 50 µs to 1 ms.
    pub const fn lossy(loss: u32) -> Self {
        Self {
            loss,
            duplication: 50,
            delay: Duration::from_micros(50),
            jitter: Duration::from_micros(950),
        }
    }
}
