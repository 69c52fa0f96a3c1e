//! When the next unasked heartbeat is due.

use tickwire_base::{Duration, Instant};

/// Beats every period while armed, slower and slower while the beats bring nothing; between that for
/// single readers that were never heard, each at its own pace.
#[derive(Debug)]
pub(super) struct HeartbeatTimer {
    period: Duration,
    interval: Duration,
    at: Option<Instant>,
    new_at: Option<Instant>,
}

impl HeartbeatTimer {
    pub(super) fn new(period: Duration) -> Self {
        Self {
            period,
            interval: period,
            at: None,
            new_at: None,
        }
    }

    /// Beats within one interval.
    pub(super) fn arm(&mut self, now: Instant) {
        if self.at.is_none() {
            self.at = Some(now + self.interval);
        }
    }

    /// Beats within a tenth of the period: a write is waiting for it.
    pub(super) fn hasten(&mut self, now: Instant) {
        self.interval = self.period / HASTE;
        let at = now + self.interval;
        self.at = Some(self.at.map_or(at, |armed| armed.min(at)));
    }

    /// A reader has got further: back to the period.
    pub(super) fn progress(&mut self) {
        self.interval = self.period;
    }

    /// Nobody lags.
    pub(super) fn disarm(&mut self) {
        self.at = None;
        self.interval = self.period;
    }

    pub(super) fn due(&self, now: Instant) -> bool {
        self.at().is_some_and(|at| at <= now)
    }

    /// Whether the beat that is due is for all that lag.
    pub(super) fn is_round(&self, now: Instant) -> bool {
        self.at.is_some_and(|at| at <= now)
    }

    /// The next beat for a reader that was never heard is at `at`, if there is one.
    pub(super) fn set_new(&mut self, at: Option<Instant>) {
        self.new_at = at;
    }

    /// Beats at `at` for a reader that was never heard, or before.
    pub(super) fn beat_for_new(&mut self, at: Instant) {
        self.new_at = Some(self.new_at.map_or(at, |armed| armed.min(at)));
    }

    /// The pause after the first beat for a new reader that is one of `readers`: where there are
    /// many, answers take their time, and asking again would only make it longer.
    pub(super) fn first_pause(&self, readers: usize) -> Duration {
        let crowd = u32::try_from(readers / CROWD).unwrap_or(u32::MAX);
        let pause = self.period / HASTE;
        pause
            .saturating_mul(crowd.saturating_add(1))
            .min(self.period * MAX_CROWD_PERIODS)
    }

    /// The pause after one of `pause` that brought nothing.
    pub(super) fn next_pause(&self, pause: Duration) -> Duration {
        (pause * 2).min(self.period * MAX_PERIODS)
    }

    /// A beat went out.
    pub(super) fn beaten(&mut self, now: Instant) {
        self.at = Some(now + self.interval);
        self.interval = (self.interval * 2).min(self.period * MAX_PERIODS);
    }

    pub(super) fn at(&self) -> Option<Instant> {
        [self.at, self.new_at].into_iter().flatten().min()
    }
}

const HASTE: u32 = 10;
const MAX_PERIODS: u32 = 64;
/// For every so many readers the first pause grows by another tenth of the period.
const CROWD: usize = 8;
const MAX_CROWD_PERIODS: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(100);

    #[test]
    fn beats_that_bring_nothing_become_rarer() {
        let mut timer = HeartbeatTimer::new(PERIOD);
        let mut now = Instant::ZERO;
        timer.hasten(now);
        let mut pauses = [0; 12];
        for pause in &mut pauses {
            let at = timer.at().expect("armed");
            *pause = at.since(now).as_millis();
            now = at;
            assert!(timer.due(now));
            timer.beaten(now);
        }
        assert_eq!(pauses[..4], [10, 10, 20, 40]);
        assert_eq!(pauses[11], 6400);
        timer.progress();
        timer.beaten(now);
        assert_eq!(timer.at().map(|at| at.since(now)), Some(PERIOD));
    }

    #[test]
    fn arming_twice_does_not_put_the_beat_off() {
        let mut timer = HeartbeatTimer::new(PERIOD);
        timer.arm(Instant::ZERO);
        timer.arm(Instant::ZERO + PERIOD / 2);
        assert_eq!(timer.at(), Some(Instant::ZERO + PERIOD));
        timer.disarm();
        assert_eq!(timer.at(), None);
    }
}
