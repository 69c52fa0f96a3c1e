//! The TIME_BASED_FILTER policy (DDS 1.4 §2.2.3.12): of each instance at most one value in
//! `minimum_separation`. Knows no clock, and of values only their instance.
//!
//! A reliable reader keeps the newest value that came too early and shows it when its time has come,
//! so that the last value of an instance is never missed. A best-effort reader lets it go.

use std::time::Duration;

use hashbrown::HashMap;
use tickwire_base::Instant;
use tickwire_rtps::Schedule;

use super::info::InstanceHandle;

/// When each instance may be shown again. Holds instances that were shown within the last
/// separation.
pub(super) struct TimeFilter<V> {
    separation: Duration,
    keeps_newest: bool,
    /// When the time after a value ends in which no other one is shown.
    windows: Schedule<InstanceHandle>,
    kept: HashMap<InstanceHandle, V>,
}

/// What becomes of a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict<V> {
    /// It is shown now. An older one, if any, never will be.
    Show(V, Option<V>),
    /// It is not shown now. What never will be is returned: an older one, or itself.
    Hold(Option<V>),
}

impl<V> TimeFilter<V> {
    /// `None` for a separation of zero, which is the policy's default.
    pub(super) fn new(separation: Duration, keeps_newest: bool) -> Option<Self> {
        (separation > Duration::ZERO).then(|| Self {
            separation,
            keeps_newest,
            windows: Schedule::default(),
            kept: HashMap::new(),
        })
    }

    /// Decides on a value that has come.
    pub(super) fn offer(&mut self, now: Instant, instance: InstanceHandle, value: V) -> Verdict<V> {
        let is_early = self.windows.get(&instance).is_some_and(|end| now < end);
        match is_early {
            true if self.keeps_newest => Verdict::Hold(self.kept.insert(instance, value)),
            true => Verdict::Hold(Some(value)),
            false => Verdict::Show(value, self.begin(now, instance)),
        }
    }

    /// Begins a window; what waited before.
    pub(super) fn begin(&mut self, now: Instant, instance: InstanceHandle) -> Option<V> {
        self.windows.set(instance, now + self.separation);
        self.kept.remove(&instance)
    }

    /// Has a value wait for another separation.
    pub(super) fn hold(&mut self, now: Instant, instance: InstanceHandle, value: V) {
        self.windows.set(instance, now + self.separation);
        self.kept.insert(instance, value);
    }

    /// What waits for the end of an instance's window.
    pub(super) fn waiting(&self, instance: InstanceHandle) -> Option<&V> {
        self.kept.get(&instance)
    }

    /// Ends an instance's window at once; what waited in it.
    pub(super) fn end(&mut self, instance: InstanceHandle) -> Option<V> {
        self.windows.remove(&instance);
        self.kept.remove(&instance)
    }

    /// When [`expire`](Self::expire) is to be called.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.windows.first().map(|(end, _)| end)
    }

    /// Forgets the windows that have ended, and hands on the values that waited for that.
    pub(super) fn expire(&mut self, now: Instant, shown: &mut Vec<V>) {
        while let Some(instance) = self.windows.pop_due(now) {
            shown.extend(self.kept.remove(&instance));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEPARATION: Duration = Duration::from_millis(10);
    const ONE: InstanceHandle = InstanceHandle([1; 16]);
    const TWO: InstanceHandle = InstanceHandle([2; 16]);

    fn at(ms: i64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms.unsigned_abs())
    }

    fn filter(keeps_newest: bool) -> TimeFilter<u32> {
        TimeFilter::new(SEPARATION, keeps_newest).expect("a separation")
    }

    #[test]
    fn zero_filters_nothing() {
        assert!(TimeFilter::<u32>::new(Duration::ZERO, true).is_none());
    }

    #[test]
    fn best_effort_shows_the_first_of_each_window() {
        let mut filter = filter(false);
        assert_eq!(filter.offer(at(0), ONE, 1), Verdict::Show(1, None));
        assert_eq!(filter.offer(at(5), TWO, 2), Verdict::Show(2, None));
        assert_eq!(filter.offer(at(9), ONE, 3), Verdict::Hold(Some(3)));
        assert_eq!(filter.offer(at(10), ONE, 4), Verdict::Show(4, None));
        let mut shown = Vec::new();
        filter.expire(at(100), &mut shown);
        assert_eq!((shown, filter.poll_timeout()), (vec![], None));
    }

    #[test]
    fn the_newest_waits_for_the_end_of_the_window() {
        let mut filter = filter(true);
        assert_eq!(filter.offer(at(0), ONE, 1), Verdict::Show(1, None));
        assert_eq!(filter.offer(at(1), ONE, 2), Verdict::Hold(None));
        assert_eq!(filter.offer(at(2), ONE, 3), Verdict::Hold(Some(2)));
        assert_eq!(filter.poll_timeout(), Some(at(10)));
        let mut shown = Vec::new();
        filter.expire(at(9), &mut shown);
        assert_eq!(shown, []);
        filter.expire(at(10), &mut shown);
        assert_eq!((shown, filter.poll_timeout()), (vec![3], None));
    }

    #[test]
    fn a_value_after_the_window_supersedes_what_waited() {
        let mut filter = filter(true);
        assert_eq!(filter.offer(at(0), ONE, 1), Verdict::Show(1, None));
        assert_eq!(filter.offer(at(1), ONE, 2), Verdict::Hold(None));
        assert_eq!(filter.offer(at(11), ONE, 3), Verdict::Show(3, Some(2)));
        assert_eq!(filter.offer(at(12), ONE, 4), Verdict::Hold(None));
        assert_eq!(filter.end(ONE), Some(4));
        assert_eq!(filter.offer(at(13), ONE, 5), Verdict::Show(5, None));
    }
}
