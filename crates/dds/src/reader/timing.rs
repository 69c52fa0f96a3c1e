//! What time does to the samples in a cache: LIFESPAN and READER_DATA_LIFECYCLE remove them,
//! TIME_BASED_FILTER has them wait.
//! Knows no clock.

use std::sync::Arc;
use std::time::Duration;

use tickwire_base::{Instant, Timestamp};
use tickwire_rtps::ChangeKind;
use tickwire_rtps::wire::Guid;

use super::cache::Cache;
use super::info::InstanceHandle;
use super::insert::{Arrival, Insertion, SampleRejectedReason};
use super::sample::Sample;
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
    /// wait; a value that waited goes before them, and holds them up where it finds no room.
    pub(super) fn filter(
        &mut self,
        index: usize,
        arrival: &Arrival,
        value: Option<Arc<T>>,
    ) -> (Insertion, Option<Arc<T>>) {
        if !arrival.kind.is_alive() {
            return match self.show_before(index, arrival) {
                Ok(()) => self.store(index, arrival, value),
                Err(reason) => (Insertion::Rejected(reason), value),
            };
        }
        let Some(filter) = &mut self.time_filter else {
            return self.store(index, arrival, value);
        };
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
                if let Some(Some(instance)) = self.instances.get_mut(index) {
                    instance.register(arrival.writer);
                }
                (Insertion::TooEarly, None)
            }
        }
    }

    /// Shows the value that waits before a change of its instance's state: before the instance ends,
    /// and before the value's own writer leaves it.
    fn show_before(&mut self, index: usize, change: &Arrival) -> Result<(), SampleRejectedReason> {
        let Some(Some(instance)) = self.instances.get(index) else {
            return Ok(());
        };
        let ends = change.kind != ChangeKind::Unregistered || instance.depends_on(change.writer);
        if !ends && !self.waits_from(change.instance, change.writer) {
            return Ok(());
        }
        let filter = self.time_filter.as_mut();
        let Some(early) = filter.and_then(|filter| filter.end(change.instance)) else {
            return Ok(());
        };
        match self.show(early, change.received_at) {
            Insertion::Rejected(reason) => Err(reason),
            _ => Ok(()),
        }
    }

    /// Before a writer leaves an instance without a word, shows its value that waits, if there is
    /// room, and ends the wait if the instance does; says whether anything is shown.
    pub(super) fn show_last_of(&mut self, index: usize, writer: Guid) -> bool {
        let (Some(Some(instance)), Some(filter)) =
            (self.instances.get(index), &mut self.time_filter)
        else {
            return false;
        };
        let handle = instance.handle;
        let is_its_own = filter
            .waiting(handle)
            .is_some_and(|early| early.arrival.writer == writer);
        if !is_its_own && !instance.depends_on(writer) {
            return false;
        }
        let Some(early) = filter.end(handle) else {
            return false;
        };
        let now = early.arrival.received_at;
        let outcome = self.show(early, now);
        if let (Insertion::Rejected(_), Some(filter)) = (outcome, &mut self.time_filter) {
            let early = filter.end(handle);
            self.let_go(early);
        }
        is_shown(outcome)
    }

    /// Whether a value of this writer waits.
    fn waits_from(&self, instance: InstanceHandle, writer: Guid) -> bool {
        let waiting = self.time_filter.as_ref();
        let waiting = waiting.and_then(|filter| filter.waiting(instance));
        waiting.is_some_and(|early| early.arrival.writer == writer)
    }

    /// Whether a value waits that a change of the instance's state would show.
    pub(super) fn holds_back(&self, instance: InstanceHandle) -> bool {
        let filter = self.time_filter.as_ref();
        filter.is_some_and(|filter| filter.waiting(instance).is_some())
    }

    /// Counts a value that will not be seen.
    fn let_go(&mut self, early: Option<Early<T>>) {
        if let Some(early) = early {
            self.too_early += 1;
            self.gone += 1;
            early
                .value
                .into_iter()
                .for_each(|value| self.recycle(value));
        }
    }

    /// Stores a value whose time has come, unless it has expired meanwhile. Without room it waits
    /// for another separation.
    fn show(&mut self, early: Early<T>, now: Instant) -> Insertion {
        let Early { arrival, value } = early;
        let index = self.by_handle.get(&arrival.instance).copied();
        let (outcome, rest) = match index {
            Some(_) if arrival.has_expired(now) => (Insertion::Expired, value),
            Some(index) => self.store(index, &arrival, value),
            None => (Insertion::Ignored, value),
        };
        match (rest, outcome, &mut self.time_filter) {
            (Some(value), Insertion::Rejected(_), Some(filter)) => {
                let value = Some(value);
                filter.hold(now, arrival.instance, Early { arrival, value });
            }
            (Some(value), Insertion::Expired, _) => {
                self.expired += 1;
                self.recycle(value);
            }
            (Some(value), ..) => {
                self.too_early += 1;
                self.recycle(value);
            }
            (None, ..) => {}
        }
        self.shown_late += u64::from(is_shown(outcome));
        outcome
    }

    /// Shows what TIME_BASED_FILTER has held back long enough; says whether there was any.
    pub(super) fn ripen(&mut self, now: Instant) -> bool {
        self.settle();
        let before = self.shown_late;
        let Some(filter) = &mut self.time_filter else {
            return false;
        };
        let mut ripe = std::mem::take(&mut self.ripe);
        filter.expire(now, &mut ripe);
        for early in ripe.drain(..) {
            let instance = early.arrival.instance;
            if is_shown(self.show(early, now))
                && let Some(filter) = &mut self.time_filter
            {
                filter.begin(now, instance);
            }
        }
        self.ripe = ripe;
        self.shown_late > before
    }

    /// Takes over another separation, and shows what waited; says whether there was any.
    pub(super) fn change_separation(&mut self, separation: Duration, now: Instant) -> bool {
        self.settle();
        let shown_before = self.shown_late;
        if self.policy.minimum_separation == separation {
            return false;
        }
        self.policy.minimum_separation = separation;
        let next = TimeFilter::new(separation, self.policy.keeps_filtered);
        let Some(mut before) = std::mem::replace(&mut self.time_filter, next) else {
            return false;
        };
        let mut ripe = std::mem::take(&mut self.ripe);
        before.expire(Instant::MAX, &mut ripe);
        for early in ripe.drain(..) {
            self.show(early, now);
        }
        self.ripe = ripe;
        self.shown_late > shown_before
    }

    /// When [`expire`](Self::expire) and [`ripen`](Self::ripen) are to be called.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let filter = self.time_filter.as_ref().and_then(TimeFilter::poll_timeout);
        let expiry = self.expiries.first().map(|(at, _)| at);
        let purge = self.purges.first().map(|(at, _)| at);
        [expiry, purge, filter].into_iter().flatten().min()
    }

    /// When the change outlives its writer's LIFESPAN (DDS 1.4 §2.2.3.16): so long after it was
    /// made, by the writer's clock and ours.
    #[inline(always)]
    pub(super) fn expiry_of(&self, arrival: &Arrival) -> Option<Instant> {
        match self.has_lifespans && arrival.kind.is_alive() {
            // A copy, lest all others are in memory for this.
            true => self.end_of_lifespan(&{ *arrival }),
            false => None,
        }
    }

    fn end_of_lifespan(&self, arrival: &Arrival) -> Option<Instant> {
        let received = (arrival.received_at, arrival.reception_timestamp);
        self.expiry(arrival.writer, received, arrival.source_timestamp)
    }

    /// The same of a sample that has been taken.
    pub(super) fn expiry_of_taken(&self, sample: &Sample<T>) -> Option<Instant> {
        let info = &sample.info;
        if !self.has_lifespans || !info.valid_data {
            return None;
        }
        let received = (sample.received_at, info.reception_timestamp);
        self.expiry(info.writer, received, info.source_timestamp)
    }

    fn expiry(
        &self,
        writer: Guid,
        (received_at, received): (Instant, Timestamp),
        made: Option<Timestamp>,
    ) -> Option<Instant> {
        let lifespan = self.writers.get(&writer)?.lifespan?;
        let made = made.unwrap_or(received);
        Some(received_at + lifespan.saturating_sub(received.since(made)))
    }

    /// Whether anything is ever to be removed for its age.
    pub(super) fn has_ends(&self) -> bool {
        !self.expiries.is_empty() || !self.purges.is_empty()
    }

    /// Removes what has outlived its LIFESPAN or, by READER_DATA_LIFECYCLE, its instance; says whether
    /// there was any.
    pub(super) fn expire(&mut self, now: Instant) -> bool {
        self.settle();
        let before = self.expired;
        while let Some(slot) = self.expiries.pop_due(now) {
            self.remove_expired(slot);
        }
        self.purge(now) || self.expired > before
    }

    fn remove_expired(&mut self, slot: Slot) {
        if let Some(entry) = self.remove(slot) {
            self.expired += 1;
            entry
                .value
                .into_iter()
                .for_each(|value| self.recycle(value));
            self.forget_if_over(entry.instance_index);
        }
    }
}

fn is_shown(outcome: Insertion) -> bool {
    matches!(outcome, Insertion::Stored | Insertion::Replaced)
}
