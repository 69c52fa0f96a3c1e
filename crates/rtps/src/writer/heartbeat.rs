//! When readers are reminded of what they have not acknowledged, by heartbeats that nobody asked for.

use tickwire_base::{Duration, Instant};

/// Whose turn it is next. A reader that begins to lag is reminded after a period, together with all
/// that have begun meanwhile; from then on at its own pace, slower and slower until it gets further.
/// How others fare does not matter.
#[derive(Debug)]
pub(super) struct HeartbeatTimer {
    period: Duration,
    /// When those that lag without a turn of their own are reminded.
    round_at: Option<Instant>,
    /// No turn of a single reader is before.
    turn_at: Option<Instant>,
}

/// One reader's turns.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    /// When it was reminded, or begun with, unless its turn is with the round.
    since: Option<Instant>,
    /// How long after that it is reminded again.
    pause: Duration,
}

impl HeartbeatTimer {
    pub(super) fn new(period: Duration) -> Self {
        Self {
            period,
            round_at: None,
            turn_at: None,
        }
    }

    /// Somebody lags: has a round within a period. One that was armed before is no later.
    #[inline]
    pub(super) fn arm(&mut self, now: Instant) {
        if self.round_at.is_none() {
            self.round_at = Some(now + self.period);
        }
    }

    /// The same within a tenth of the period: a write is waiting for it.
    pub(super) fn hasten(&mut self, now: Instant) {
        self.round_by(now + self.period / HASTE);
    }

    fn round_by(&mut self, at: Instant) {
        self.round_at = Some(self.round_at.map_or(at, |armed| armed.min(at)));
    }

    /// The turn of a reader that keeps up, or has just got further.
    pub(super) fn next_round(&self) -> Turn {
        Turn {
            since: None,
            pause: self.period,
        }
    }

    /// The turn of one that a write waits for.
    pub(super) fn hasty_round(&self) -> Turn {
        Turn {
            since: None,
            pause: self.period / HASTE,
        }
    }

    /// The turn of a reader that has matched a moment ago and may take that long to answer, as it is
    /// one of many newcomers.
    pub(super) fn first_turn(&mut self, now: Instant, patience: Duration) -> Turn {
        let pause = self.period / HASTE;
        self.turn_by(now + pause.max(patience));
        Turn {
            since: Some(now),
            pause,
        }
    }

    fn turn_by(&mut self, at: Instant) {
        self.turn_at = Some(self.turn_at.map_or(at, |armed| armed.min(at)));
    }

    /// Begins to go through the turns; says whether the round has come.
    pub(super) fn begin(&mut self, now: Instant) -> bool {
        self.turn_at = None;
        self.round_at.take_if(|at| *at <= now).is_some()
    }

    /// Whether a lagging reader's turn has come, which then makes way for its next one. `patience` is
    /// how long it may take to answer if it is one of many newcomers, else 0.
    pub(super) fn take_turn(
        &mut self,
        now: Instant,
        is_round: bool,
        turn: &mut Turn,
        patience: Duration,
    ) -> bool {
        let at = turn.since.map(|since| since + turn.pause.max(patience));
        let is_due = at.map_or(is_round, |at| at <= now);
        if is_due && turn.since.replace(now).is_some() {
            turn.pause = (turn.pause.max(patience) * 2).min(self.period * MAX_PERIODS);
        }
        if let Some(since) = turn.since {
            self.turn_by(since + turn.pause.max(patience));
        }
        is_due
    }

    pub(super) fn at(&self) -> Option<Instant> {
        super::earlier(self.round_at, self.turn_at)
    }
}

const HASTE: u32 = 10;
const MAX_PERIODS: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(100);
    const FEW: Duration = Duration::from_millis(10);
    const MANY: Duration = Duration::from_millis(500);

    /// The pauses, in milliseconds, between the first beats to one reader that never answers.
    fn pauses(mut turn: Turn, timer: &mut HeartbeatTimer, patience: Duration) -> [u128; 12] {
        let mut now = Instant::ZERO;
        [(); 12].map(|()| {
            let before = now;
            loop {
                now = timer.at().expect("it lags");
                let is_round = timer.begin(now);
                if timer.take_turn(now, is_round, &mut turn, patience) {
                    return now.since(before).as_millis();
                }
            }
        })
    }

    #[test]
    fn beats_that_bring_nothing_become_rarer() {
        let mut timer = HeartbeatTimer::new(PERIOD);
        timer.arm(Instant::ZERO);
        let seen = pauses(timer.next_round(), &mut timer, Duration::ZERO);
        assert_eq!(seen[..4], [100, 100, 200, 400]);
        assert_eq!(seen[11], 6400);
        let mut timer = HeartbeatTimer::new(PERIOD);
        timer.hasten(Instant::ZERO);
        let seen = pauses(timer.hasty_round(), &mut timer, Duration::ZERO);
        assert_eq!(seen[..4], [10, 10, 20, 40]);
    }

    #[test]
    fn a_new_reader_is_reminded_soon_unless_it_is_one_of_many() {
        let mut timer = HeartbeatTimer::new(PERIOD);
        let first = timer.first_turn(Instant::ZERO, FEW);
        assert_eq!(pauses(first, &mut timer, FEW)[..3], [10, 20, 40]);
        let mut timer = HeartbeatTimer::new(PERIOD);
        let first = timer.first_turn(Instant::ZERO, MANY);
        assert_eq!(pauses(first, &mut timer, MANY)[..3], [500, 1000, 2000]);
        // Most of them came after it.
        let mut timer = HeartbeatTimer::new(PERIOD);
        let first = timer.first_turn(Instant::ZERO, FEW);
        assert_eq!(pauses(first, &mut timer, MANY)[0], 500);
    }

    #[test]
    fn arming_twice_does_not_put_the_beat_off() {
        let mut timer = HeartbeatTimer::new(PERIOD);
        timer.arm(Instant::ZERO);
        timer.arm(Instant::ZERO + PERIOD / 2);
        assert_eq!(timer.at(), Some(Instant::ZERO + PERIOD));
        assert!(timer.begin(Instant::ZERO + PERIOD));
        assert_eq!(timer.at(), None);
    }
}
