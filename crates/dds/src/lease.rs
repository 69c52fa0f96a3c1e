//! The LIVELINESS of our own writers (DDS 1.4 §2.2.3.11): notices one that was not asserted within
//! its lease. Knows no clock, and sends nothing.

use std::time::Duration;

use tickwire_base::Instant;

use crate::qos::{Liveliness, LivelinessKind};

/// A writer's finite lease.
#[derive(Debug)]
pub(crate) struct Lease {
    kind: LivelinessKind,
    duration: Duration,
    asserted_at: Instant,
    /// When readers were last told by more than samples.
    told_at: Option<Instant>,
    is_lost: bool,
}

impl Lease {
    /// `None` for an infinite lease, which is the policy's default. The writer counts as alive now.
    pub(crate) fn new(now: Instant, liveliness: &Liveliness) -> Option<Self> {
        let duration = liveliness.lease_duration.max(MIN_DURATION);
        (liveliness.lease_duration != Duration::MAX).then_some(Self {
            kind: liveliness.kind,
            duration,
            asserted_at: now,
            told_at: None,
            is_lost: false,
        })
    }

    /// The writer has shown that it lives.
    pub(crate) fn assert(&mut self, now: Instant) {
        self.asserted_at = now;
        self.is_lost = false;
    }

    /// Whether readers that are not sent the sample just written are to be told that the writer
    /// lives: four times in each lease at most, and only where nobody else tells them.
    pub(crate) fn is_to_tell(&mut self, now: Instant) -> bool {
        let is_to_tell = self.kind == LivelinessKind::ManualByTopic
            && self
                .told_at
                .is_none_or(|told_at| now >= told_at + self.duration / 4);
        if is_to_tell {
            self.told_at = Some(now);
        }
        is_to_tell
    }

    /// When [`check`](Self::check) is to be called.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        match self.kind {
            // Whoever checks asserts as well: twice in each lease, so that it may be late once.
            LivelinessKind::Automatic => Some(self.asserted_at + self.duration / 2),
            _ => (!self.is_lost).then(|| self.expires_at()),
        }
    }

    fn expires_at(&self) -> Instant {
        self.asserted_at + self.duration
    }

    /// Whether the lease has ended since it was last checked. An automatic writer loses its lease if
    /// nobody drove the participant for as long, and has it back at once.
    pub(crate) fn check(&mut self, now: Instant) -> bool {
        let is_over = now >= self.expires_at() && !self.is_lost;
        match self.kind {
            LivelinessKind::Automatic => self.assert(now),
            _ => self.is_lost |= is_over,
        }
        is_over
    }
}

/// Whatever the policy says, timers have a pause.
const MIN_DURATION: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_millis(10);

    fn lease(kind: LivelinessKind) -> Lease {
        let liveliness = Liveliness {
            kind,
            lease_duration: LEASE,
        };
        Lease::new(Instant::ZERO, &liveliness).expect("a finite lease")
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn an_infinite_lease_is_never_lost() {
        assert!(Lease::new(at(0), &Liveliness::default()).is_none());
    }

    #[test]
    fn a_manual_lease_is_lost_once_until_it_is_asserted_again() {
        let by_hand = [
            LivelinessKind::ManualByParticipant,
            LivelinessKind::ManualByTopic,
        ];
        for mut lease in by_hand.map(lease) {
            assert_eq!(lease.poll_timeout(), Some(at(10)));
            assert!(!lease.check(at(9)));
            lease.assert(at(9));
            assert!(!lease.check(at(18)));
            assert!(lease.check(at(19)));
            assert_eq!(lease.poll_timeout(), None);
            assert!(!lease.check(at(40)));
            lease.assert(at(50));
            assert_eq!(lease.poll_timeout(), Some(at(60)));
            assert!(lease.check(at(60)));
        }
    }

    #[test]
    fn readers_that_filter_are_told_four_times_in_a_lease() {
        let mut by_topic = lease(LivelinessKind::ManualByTopic);
        let told = (0..20).filter(|&ms| by_topic.is_to_tell(at(ms))).count();
        assert_eq!(told, 7, "at 0, 3, 6 ...");
        let mut by_participant = lease(LivelinessKind::ManualByParticipant);
        assert!(!by_participant.is_to_tell(at(0)), "its participant does");
    }

    #[test]
    fn an_automatic_lease_is_lost_where_nobody_checks() {
        let mut lease = lease(LivelinessKind::Automatic);
        assert_eq!(lease.poll_timeout(), Some(at(5)));
        assert!(!lease.check(at(5)));
        assert!(!lease.check(at(14)));
        assert!(lease.check(at(24)));
        assert_eq!(lease.poll_timeout(), Some(at(29)));
        assert!(!lease.check(at(30)));
    }
}
