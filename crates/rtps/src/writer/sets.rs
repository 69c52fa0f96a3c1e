//! Coherent sets (DDS 1.4 §2.2.3.6, RTPS 2.5 §8.7.5 and §8.7.6): changes that readers are to see
//! together. Knows no other writer of the publisher.
//!
//! Each change of a set carries the number of the first. A DATA without payload ends the set; it
//! takes a number of its own, is repaired like any other, and stays in the history for as long as
//! any change of its set does, so that late joiners know the set to be whole.

use tickwire_base::Instant;

use super::{GroupPlace, Place, Writer};
use crate::outbox::Outbox;
use crate::wire::SequenceNumber;

/// A coherent set that has not ended.
#[derive(Debug)]
pub(super) struct OpenSet {
    /// Its first change; [`SequenceNumber::ZERO`] before that.
    first: SequenceNumber,
    /// The publisher's number of the set; [`SequenceNumber::ZERO`] without GROUP scope.
    group_set: SequenceNumber,
}

impl Writer {
    /// Begins a coherent set: what is written from here on belongs to it. `group_set` is the
    /// publisher's number for it, or [`SequenceNumber::ZERO`] where the set is this writer's alone.
    /// Nothing changes if a set has begun already, or if the writer does not
    /// [present](super::WriterConfig::presents) its changes.
    pub fn begin_set(&mut self, group_set: SequenceNumber) {
        if self.config.presents && self.open_set.is_none() {
            self.open_set = Some(OpenSet {
                first: SequenceNumber::ZERO,
                group_set,
            });
        }
    }

    /// Ends the coherent set, if one has begun, and tells readers so. `group_number` is the
    /// publisher's number for the end. Of a set without changes nothing is told unless it is the
    /// publisher's: readers must know that this writer has no part in it.
    ///
    /// The end needs no room in the history and never blocks.
    pub fn end_set(&mut self, now: Instant, group_number: SequenceNumber, outbox: &mut Outbox) {
        let Some(OpenSet { first, group_set }) = self.open_set.take() else {
            return;
        };
        let (is_empty, is_of_group) = (
            first == SequenceNumber::ZERO,
            group_set != SequenceNumber::ZERO,
        );
        if is_empty && !is_of_group {
            return;
        }
        let before = self.last;
        self.last = self.last.next();
        let place = Place {
            coherent_set: if is_empty { self.last } else { first },
            group: GroupPlace {
                number: group_number,
                coherent_set: group_set,
            },
        };
        self.history.push_end(self.last, place);
        self.forget_end(before);
        self.send_new(now, outbox);
    }

    /// Where the newest change stands.
    pub(super) fn place(&mut self, group_number: SequenceNumber) -> Place {
        let mut place = Place::default();
        place.group.number = group_number;
        if let Some(set) = &mut self.open_set {
            if set.first == SequenceNumber::ZERO {
                set.first = self.last;
            }
            place.coherent_set = set.first;
            place.group.coherent_set = set.group_set;
        }
        place
    }

    /// A change of the set is gone; so is the set's end, if it was the last one.
    pub(super) fn forget_end_of(&mut self, set: SequenceNumber) {
        if let Some(number) = self.history.at_or_after(set) {
            self.forget_end(number);
        }
    }

    /// Removes the end of a set that has no changes left, if that is what `number` is. Not before
    /// it is acknowledged, and not the newest, which tells late joiners how far their publisher has
    /// got.
    pub(super) fn forget_end(&mut self, number: SequenceNumber) {
        let Some(end) = self.history.get(number).filter(|change| change.is_end) else {
            return;
        };
        let (set, is_empty) = (end.place.coherent_set, end.place.coherent_set == number);
        let has_changes = self.history.at_or_after(set).is_some_and(|at| at < number);
        let is_needed = has_changes || is_empty && self.keeps_empty_ends();
        if number <= self.released && number < self.last && !is_needed {
            self.history.remove_end(number);
        }
    }

    /// Whether to remember that this writer had no part in a set: late joiners need it as long as
    /// other writers may hold changes of the set.
    fn keeps_empty_ends(&self) -> bool {
        self.config.transient_local && self.history.end_count() <= MAX_EMPTY_ENDS
    }
}

/// Sets without changes that are remembered at most.
const MAX_EMPTY_ENDS: usize = 1024;
