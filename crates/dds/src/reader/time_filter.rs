//! The TIME_BASED_FILTER policy (DDS 1.4 §2.2.3.12): of each instance at most one value in
//! `minimum_separation`. Knows no clock, and of values only their instance.
//!
//! A reliable reader keeps the newest value that came too early and shows it when its time has come,
//! so that the last value of an instance is never missed. A best-effort reader lets it go.

use std::time::Duration;

use hashbrown::HashMap;
use tickwire_base::Instant;

use super::info::InstanceHandle;

/// When each instance may be shown again. Holds instances that were shown within the last
/// separation.
pub(super) struct TimeFilter<V> {
    separation: Duration,
    keeps_newest: bool,
    windows: HashMap<InstanceHandle, Window<V>>,
    /// No window ends before.
    next: Option<Instant>,
}

/// The time after a value in which no other one is shown.
struct Window<V> {
    ends_at: Instant,
    kept: Option<V>,
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
            windows: HashMap::new(),
            next: None,
        })
    }

    /// Decides on a value that has come.
    pub(super) fn offer(&mut self, now: Instant, instance: InstanceHandle, value: V) -> Verdict<V> {
        match self.windows.get_mut(&instance) {
            Some(window) if now < window.ends_at && self.keeps_newest => {
                Verdict::Hold(window.kept.replace(value))
            }
            Some(window) if now < window.ends_at => Verdict::Hold(Some(value)),
            _ => Verdict::Show(value, self.begin(now, instance, None)),
        }
    }

    /// Begins a window, which may have a value waiting already; what waited before.
    pub(super) fn begin(
        &mut self,
        now: Instant,
        instance: InstanceHandle,
        kept: Option<V>,
    ) -> Option<V> {
        let ends_at = now + self.separation;
        self.next = self.next.or(Some(ends_at));
        let before = self.windows.insert(instance, Window { ends_at, kept });
        before.and_then(|window| window.kept)
    }

    /// Ends an instance's window at once; what waited in it.
    pub(super) fn end(&mut self, instance: InstanceHandle) -> Option<V> {
        self.windows
            .remove(&instance)
            .and_then(|window| window.kept)
    }

    /// When [`expire`](Self::expire) is to be called.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.next
    }

    /// Forgets the windows that have ended, and hands on the values that waited for that.
    pub(super) fn expire(&mut self, now: Instant, shown: &mut Vec<V>) {
        if self.next.is_none_or(|next| next > now) {
            return;
        }
        self.windows.retain(|_, window| {
            let is_open = now < window.ends_at;
            if !is_open {
                shown.extend(window.kept.take());
            }
            is_open
        });
        self.next = self.windows.values().map(|window| window.ends_at).min();
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
