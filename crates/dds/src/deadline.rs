//! The DEADLINE policy (DDS 1.4 §2.2.3.7): notices instances that were not written in time, on
//! either side. Knows no clock.

use std::time::Duration;

use hashbrown::HashMap;
use tickwire_base::Instant;
use tickwire_rtps::Schedule;

use crate::reader::InstanceHandle;

/// When each instance is due.
pub(crate) struct DeadlineTracker {
    period: Duration,
    instances: HashMap<InstanceHandle, Instant>,
    /// When to look at each instance: not after it is due. A sample does not move it, which keeps
    /// samples cheap.
    looks: Schedule<InstanceHandle>,
}

impl DeadlineTracker {
    /// `None` for an infinite period, which is the policy's default.
    pub(crate) fn new(period: Duration) -> Option<Self> {
        (period != Duration::MAX).then(|| Self {
            period: period.max(MIN_PERIOD),
            instances: HashMap::new(),
            looks: Schedule::default(),
        })
    }

    /// Takes over another period, from `now` on for the instances that are known. Where there was
    /// none, instances are known from their next sample on.
    pub(crate) fn change(tracker: &mut Option<Self>, now: Instant, period: Duration) {
        let before = tracker.take();
        *tracker = Self::new(period);
        if let (Some(before), Some(tracker)) = (before, tracker) {
            for instance in before.instances.into_keys() {
                tracker.written(instance, now);
            }
        }
    }

    /// A sample of an instance: the next one is due within the period.
    pub(crate) fn written(&mut self, instance: InstanceHandle, now: Instant) {
        let due = now + self.period;
        if self.instances.insert(instance, due).is_none() {
            self.looks.set(instance, due);
        }
    }

    /// No more is expected of an instance.
    pub(crate) fn ended(&mut self, instance: InstanceHandle) {
        self.instances.remove(&instance);
        self.looks.remove(&instance);
    }

    /// When [`check`](Self::check) is to be called.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.looks.first().map(|(at, _)| at)
    }

    /// Tells of each instance of which a period has passed without a sample; `missed` says whether
    /// one is still expected.
    pub(crate) fn check(&mut self, now: Instant, mut missed: impl FnMut(InstanceHandle) -> bool) {
        while let Some(instance) = self.looks.pop_due(now) {
            let Some(due) = self.instances.get_mut(&instance) else {
                continue;
            };
            if *due <= now {
                if !missed(instance) {
                    self.instances.remove(&instance);
                    continue;
                }
                *due = now + self.period;
            }
            self.looks.set(instance, *due);
        }
    }
}

/// Whatever the policy says, timers have a pause.
const MIN_PERIOD: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(10);
    const ONE: InstanceHandle = InstanceHandle([1; 16]);
    const TWO: InstanceHandle = InstanceHandle([2; 16]);

    fn missed(tracker: &mut DeadlineTracker, now: Instant) -> Vec<InstanceHandle> {
        let mut instances = Vec::new();
        tracker.check(now, |instance| {
            instances.push(instance);
            true
        });
        instances
    }

    #[test]
    fn another_period_counts_from_its_change() {
        let start = Instant::ZERO;
        let mut tracker = DeadlineTracker::new(PERIOD);
        tracker
            .as_mut()
            .expect("a finite period")
            .written(ONE, start);
        DeadlineTracker::change(&mut tracker, start + PERIOD / 2, PERIOD * 2);
        let changed = tracker.as_mut().expect("a finite period");
        assert!(missed(changed, start + PERIOD * 2).is_empty());
        assert_eq!(missed(changed, start + PERIOD * 5 / 2), [ONE]);
        DeadlineTracker::change(&mut tracker, start, Duration::MAX);
        assert!(tracker.is_none());
    }

    #[test]
    fn each_instance_has_its_own_deadline() {
        assert!(DeadlineTracker::new(Duration::MAX).is_none());
        let mut tracker = DeadlineTracker::new(PERIOD).expect("a finite period");
        let start = Instant::ZERO;
        assert_eq!(tracker.poll_timeout(), None);
        tracker.written(ONE, start);
        tracker.written(TWO, start + PERIOD / 2);
        assert_eq!(tracker.poll_timeout(), Some(start + PERIOD));
        assert_eq!(missed(&mut tracker, start + PERIOD), [ONE]);
        assert_eq!(tracker.poll_timeout(), Some(start + PERIOD / 2 + PERIOD));
        tracker.written(TWO, start + PERIOD);
        assert!(missed(&mut tracker, start + PERIOD / 2 + PERIOD).is_empty());
        tracker.ended(ONE);
        assert_eq!(missed(&mut tracker, start + PERIOD * 2), [TWO]);
        tracker.ended(TWO);
        assert!(missed(&mut tracker, start + PERIOD * 9).is_empty());
        assert_eq!(tracker.poll_timeout(), None);
    }
}
