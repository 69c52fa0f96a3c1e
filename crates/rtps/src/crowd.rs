//! How long to wait for answers where many are to answer.

use tickwire_base::{Duration, Instant};

/// Those who have just met us: each until it leaves, or for ten seconds. What stays silent for longer
/// keeps nobody else waiting.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crowd {
    /// How many came in each of the last seconds, with the second, which is at its remainder.
    came: [(u64, u32); SECONDS],
}

impl Crowd {
    /// Counts one that came at `at`.
    pub(crate) fn enter(&mut self, at: Instant) {
        let (second, slot) = self.slot(at);
        if slot.0 < second {
            *slot = (second, 0);
        }
        if slot.0 == second {
            slot.1 += 1;
        }
    }

    /// One that came at `at` has answered, or is gone.
    pub(crate) fn leave(&mut self, at: Instant) {
        let (second, slot) = self.slot(at);
        if slot.0 == second {
            slot.1 = slot.1.saturating_sub(1);
        }
    }

    /// How long an answer of one that came at `at` may take, while it counts here: they have as much
    /// to read and to say as we have, and asking again would only make it longer. Nothing where it is
    /// the only one.
    pub(crate) fn patience(&self, now: Instant, at: Instant) -> Duration {
        let is_recent = |second: u64| second_of(now) < second + SECONDS as u64;
        if !is_recent(second_of(at)) {
            return Duration::ZERO;
        }
        let recent = self.came.iter().filter(|(second, _)| is_recent(*second));
        let many: u32 = recent.map(|&(_, many)| many).sum();
        EACH.saturating_mul(many.saturating_sub(1)).min(LONGEST)
    }

    fn slot(&mut self, at: Instant) -> (u64, &mut (u64, u32)) {
        let second = second_of(at);
        (second, &mut self.came[(second % SECONDS as u64) as usize])
    }
}

fn second_of(at: Instant) -> u64 {
    at.as_nanos() / 1_000_000_000
}

/// A hundred that share two cores take about that long to meet, and less if nobody asks again sooner.
const EACH: Duration = Duration::from_millis(25);
const LONGEST: Duration = Duration::from_secs(4);
const SECONDS: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_counts_until_it_leaves_and_for_ten_seconds_at_most() {
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let mut crowd = Crowd::default();
        for _ in 0..50 {
            crowd.enter(at(3));
        }
        crowd.enter(at(5));
        crowd.leave(at(3));
        assert_eq!(crowd.patience(at(5), at(5)), EACH * 49);
        assert_eq!(crowd.patience(at(12), at(3)), EACH * 49);
        assert_eq!(crowd.patience(at(13), at(5)), Duration::ZERO);
        assert_eq!(crowd.patience(at(13), at(3)), Duration::ZERO);
        // One of the third second leaves late, and the thirteenth is at its place.
        crowd.enter(at(13));
        crowd.leave(at(3));
        assert_eq!(crowd.patience(at(13), at(13)), EACH);
        assert_eq!(crowd.patience(at(40), at(13)), Duration::ZERO);
    }
}
