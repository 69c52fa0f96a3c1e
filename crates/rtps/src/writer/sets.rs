//! Coherent sets (DDS 1.4 §2.2.3.6, RTPS 2.5 §8.7.5 and §8.7.6): changes that readers are to see
//! together. Knows no other writer of the publisher.
//!
//! Each change of a set carries the number of the first. A DATA without payload ends the set; it
//! takes a number of its own, is repaired like any other, and stays in the history for as long as
//! any change of its set does, so that late joiners know the set to be whole.

use tickwire_base::Instant;

use super::{GroupPlace, Log, Place, Writer};
use crate::outbox::Outbox;
use crate::wire::{GroupDigest, SequenceNumber};

/// A coherent set that has not ended.
#[derive(Debug)]
pub(super) struct OpenSet {
    /// Its first change; [`SequenceNumber::ZERO`] before that.
    pub(super) first: SequenceNumber,
    /// The publisher's number of the set; [`SequenceNumber::ZERO`] without GROUP scope.
    group_set: SequenceNumber,
}

/// Which changes a coherent set has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedSet {
    /// The number of the first.
    pub first: SequenceNumber,
    /// The number of its end, which is the first beyond them.
    pub end: SequenceNumber,
}

impl<L: Log> Writer<L> {
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
    /// publisher's number for the end, `writers` are those that had to do with the set; neither
    /// counts where the set is this writer's alone. Of a set without changes nothing is told unless
    /// it is the publisher's: readers must know that this writer has no part in it.
    ///
    /// The end needs no room in the history and never blocks. Says which changes the set has, if any.
    pub fn end_set(
        &mut self,
        now: Instant,
        group_number: SequenceNumber,
        writers: GroupDigest,
        outbox: &mut Outbox,
    ) -> Option<EndedSet> {
        let OpenSet { first, group_set } = self.open_set.take()?;
        let (is_empty, is_of_group) = (
            first == SequenceNumber::ZERO,
            group_set != SequenceNumber::ZERO,
        );
        if is_empty && !is_of_group {
            return None;
        }
        let before = self.last;
        self.last = self.last.next();
        let place = Place {
            coherent_set: if is_empty { self.last } else { first },
            group: GroupPlace {
                number: group_number,
                coherent_set: group_set,
                writers,
            },
        };
        self.history.push_end(self.last, place);
        self.forget_end(before);
        self.send_new(now, outbox);
        (!is_empty).then_some(EndedSet {
            first,
            end: self.last,
        })
    }

    /// The first change of the coherent set that has begun; [`SequenceNumber::ZERO`] if there is none.
    pub fn coherent_set(&self) -> SequenceNumber {
        let set = self.open_set.as_ref();
        set.map_or(SequenceNumber::ZERO, |set| set.first)
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

    /// Removes the end of a set that has no changes left, if that is what `number` is. It is spared
    /// for a while where somebody may still want it: until it is acknowledged; while it is the
    /// newest, which tells late joiners how far their publisher has got; and, where the writer had no
    /// part in the set, as long as other writers may hold changes of it for late joiners.
    pub(super) fn forget_end(&mut self, number: SequenceNumber) {
        let Some(end) = self.history.get(number).filter(|change| change.is_end()) else {
            return;
        };
        let (set, is_empty) = (end.place().coherent_set, end.place().coherent_set == number);
        if self.history.at_or_after(set).is_some_and(|at| at < number) {
            return;
        }
        let is_wanted = number > self.released
            || number == self.last
            || is_empty && self.config.transient_local;
        match is_wanted {
            true => self.spare_end(number),
            false => {
                self.spared_ends.remove(&number);
                self.history.remove_end(number);
            }
        }
    }

    /// Keeps an end whose set has no changes, and lets go of the oldest of too many: a reader that
    /// has not acknowledged it by now gets a GAP, and does without the set.
    fn spare_end(&mut self, number: SequenceNumber) {
        self.spared_ends.insert(number);
        if self.spared_ends.len() > MAX_SPARED_ENDS
            && let Some(oldest) = self.spared_ends.pop_first()
        {
            self.history.remove_end(oldest);
        }
    }
}

/// Ends of sets without changes that are kept at most.
const MAX_SPARED_ENDS: usize = 1024;
