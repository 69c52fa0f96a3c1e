//! What time does to the samples in a cache: LIFESPAN removes them, TIME_BASED_FILTER has them wait.
//! Knows no clock.

use std::sync::Arc;
use std::time::Duration;

use tickwire_base::Instant;

use super::cache::{Arrival, Cache, Insertion};
use super::slots::Slot;
use super::time_filter::{TimeFilter, Verdict};

/// A value that TIME_BASED_FILTER holds back.
#[derive(Debug)]
pub(super) struct Early<T> {
    arrival: Arrival,
    value: Option<Arc<T>>,
}

impl<T> Cache<T> {
    /// Stores a change unless TIME_BASED_FILTER has it wait. Changes of an instance's state do not
    /// wait; a value that waited goes before them.
    pub(super) fn filter(
        &mut self,
        index: usize,
        arrival: &Arrival,
        value: Option<Arc<T>>,
    ) -> (Insertion, Option<Arc<T>>) {
        let Some(filter) = &mut self.time_filter else {
            return self.store(index, arrival, value);
        };
        if !arrival.kind.is_alive() {
            if let Some(early) = filter.end(arrival.instance) {
                self.show(early);
            }
            return self.store(index, arrival, value);
        }
        let early = Early {
            arrival: *arrival,
            value,
        };
        match filter.offer(arrival.received_at, arrival.instance, early) {
            Verdict::Show(early, superseded) => {
                self.let_go(superseded);
                let (outcome, rest) = self.store(index, arrival, early.value);
                if let (Insertion::Rejected(_), Some(filter)) = (outcome, &mut self.time_filter) {
                    // Nothing was shown, so the next one is not too early.
                    filter.end(arrival.instance);
                }
                (outcome, rest)
            }
            Verdict::Hold(superseded) => {
                self.let_go(superseded);
                (Insertion::TooEarly, None)
            }
        }
    }

    /// Counts a value that will not be seen.
    fn let_go(&mut self, early: Option<Early<T>>) {
        if let Some(early) = early {
            self.too_early += 1;
            early
                .value
                .into_iter()
                .for_each(|value| self.recycle(value));
        }
    }

    /// Stores a value whose time has come; says whether it is there now.
    fn show(&mut self, early: Early<T>) -> bool {
        let Early { arrival, value } = early;
        let index = self.by_handle.get(&arrival.instance).copied();
        let (outcome, rest) = match index {
            Some(index) => self.store(index, &arrival, value),
            None => (Insertion::Ignored, value),
        };
        let is_shown = matches!(outcome, Insertion::Stored | Insertion::Replaced);
        match (rest, outcome, &mut self.time_filter) {
            (Some(value), Insertion::Rejected(_), Some(filter)) => {
                let value = Some(value);
                let now = arrival.received_at;
                let _ = filter.begin(now, arrival.instance, Some(Early { arrival, value }));
            }
            (Some(value), ..) => {
                self.too_early += 1;
                self.recycle(value);
            }
            (None, ..) => {}
        }
        is_shown
    }

    /// Shows what TIME_BASED_FILTER has held back long enough; says how many.
    pub(super) fn ripen(&mut self, now: Instant) -> u64 {
        let Some(filter) = &mut self.time_filter else {
            return 0;
        };
        let mut ripe = std::mem::take(&mut self.ripe);
        filter.expire(now, &mut ripe);
        let mut count = 0;
        for mut early in ripe.drain(..) {
            early.arrival.received_at = now;
            let instance = early.arrival.instance;
            if self.show(early) {
                count += 1;
                if let Some(filter) = &mut self.time_filter {
                    filter.begin(now, instance, None);
                }
            }
        }
        self.ripe = ripe;
        count
    }

    /// Takes over another separation; says how many of those that waited are shown.
    pub(super) fn change_separation(&mut self, separation: Duration) -> u64 {
        if self.policy.minimum_separation == separation {
            return 0;
        }
        self.policy.minimum_separation = separation;
        let next = TimeFilter::new(separation, self.policy.keeps_filtered);
        let Some(mut before) = std::mem::replace(&mut self.time_filter, next) else {
            return 0;
        };
        let mut ripe = std::mem::take(&mut self.ripe);
        before.expire(Instant::MAX, &mut ripe);
        let shown = ripe
            .drain(..)
            .map(|early| u64::from(self.show(early)))
            .sum();
        self.ripe = ripe;
        shown
    }

    /// When [`expire`](Self::expire) and [`ripen`](Self::ripen) are to be called.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let filter = self.time_filter.as_ref().and_then(TimeFilter::poll_timeout);
        [self.next_expiry, filter].into_iter().flatten().min()
    }

    /// When the change outlives its writer's LIFESPAN (DDS 1.4 §2.2.3.16): so long after it was
    /// made, by the writer's clock and ours.
    pub(super) fn expiry_of(&self, arrival: &Arrival) -> Option<Instant> {
        if !arrival.kind.is_alive() {
            return None;
        }
        let lifespan = self.writers.get(&arrival.writer)?.lifespan?;
        let received = arrival.reception_timestamp;
        let made = arrival.source_timestamp.unwrap_or(received);
        Some(arrival.received_at + lifespan.saturating_sub(received.since(made)))
    }

    /// Removes what has outlived its LIFESPAN; says whether there was any.
    pub(super) fn expire(&mut self, now: Instant) -> bool {
        if self.next_expiry.is_none_or(|next| next > now) {
            return false;
        }
        let before = self.expired;
        self.next_expiry = None;
        let mut slot = self.entries.first();
        while let Some(current) = slot {
            slot = self.entries.after(current);
            let expiry = self.entries.get(current).and_then(|entry| entry.expires_at);
            match expiry {
                Some(at) if at <= now => self.remove_expired(current),
                Some(at) => self.expect_expiry(at),
                None => {}
            }
        }
        self.expired > before
    }

    pub(super) fn expect_expiry(&mut self, at: Instant) {
        self.next_expiry = Some(self.next_expiry.map_or(at, |next| next.min(at)));
    }

    fn remove_expired(&mut self, slot: Slot) {
        if let Some(entry) = self.remove(slot) {
            self.expired += 1;
            entry
                .value
                .into_iter()
                .for_each(|value| self.recycle(value));
            self.forget_if_over(entry.instance);
        }
    }
}
