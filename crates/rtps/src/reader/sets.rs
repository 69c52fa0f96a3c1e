//! Coherent sets on their way to the sink (DDS 1.4 §2.2.3.6, RTPS 2.5 §8.7.5): a writer's changes
//! are kept until their set has ended, then delivered together, or not at all if one is missing.
//! Knows one writer; which sets of several writers belong together is for the sink to know.
//!
//! What is kept counts as received: it is acknowledged, so that a writer that waits for
//! acknowledgements can go on and end the set.

use alloc::vec::Vec;

use super::config::{CoherentSet, ReaderConfig, SetEnd, SetPart};
use super::reorder::HeldChange;
use super::{Delivery, ReaderCounters, ReceivedChange, Sink};
use crate::change::GroupPlace;
use crate::pool::BufferPool;
use crate::wire::SequenceNumber;

/// The set of a writer that has begun and not ended. Without one, `first` is zero.
#[derive(Debug, Default)]
pub(super) struct SetBuffer {
    first: SequenceNumber,
    group_set: SequenceNumber,
    /// Changes that came, kept or not.
    received: u64,
    /// What came, unless it was too much.
    changes: Vec<(SequenceNumber, HeldChange)>,
    /// Bytes of those.
    len: usize,
    is_too_long: bool,
}

/// Hands the next change of a writer on, if it is in no set; else keeps it, and delivers the set
/// that ends with it. [`Delivery::Full`] if the sink refuses either: then the change comes again.
pub(super) fn present(
    config: &ReaderConfig,
    set: &mut SetBuffer,
    pool: &mut BufferPool,
    counters: &mut ReaderCounters,
    change: &ReceivedChange<'_>,
    sink: &mut impl Sink,
) -> Delivery {
    match config.coherent {
        false => sink.deliver(*change),
        true => set.present(config, pool, counters, change, sink),
    }
}

impl SetBuffer {
    fn present(
        &mut self,
        config: &ReaderConfig,
        pool: &mut BufferPool,
        counters: &mut ReaderCounters,
        change: &ReceivedChange<'_>,
        sink: &mut impl Sink,
    ) -> Delivery {
        let place = change.place;
        let is_end = place.coherent_set == SequenceNumber::UNKNOWN;
        if self.is_open() && place.coherent_set != self.first {
            if self.deliver(change, sink) == Delivery::Full {
                return Delivery::Full;
            }
            self.finish(change, pool, counters, sink);
        } else if is_end && place.group.coherent_set != SequenceNumber::ZERO {
            let number = change.sequence_number;
            let end = SetEnd {
                group: place.group,
                first: number,
                last: number,
                part: SetPart::Empty,
            };
            sink.set_ended(change.writer, end);
        }
        if is_end {
            return Delivery::Accepted;
        }
        if place.coherent_set < SequenceNumber::FIRST {
            return sink.deliver(*change);
        }
        self.keep(config, pool, change);
        Delivery::Accepted
    }

    fn is_open(&self) -> bool {
        self.first != SequenceNumber::ZERO
    }

    /// Whether the set has all its changes if `end` is the first number beyond it.
    fn is_whole(&self, end: SequenceNumber) -> bool {
        let len = end.0.saturating_sub(self.first.0);
        !self.is_too_long && u64::try_from(len) == Ok(self.received)
    }

    /// Delivers the set, if it is whole, now that `next` shows its end.
    fn deliver(&self, next: &ReceivedChange<'_>, sink: &mut impl Sink) -> Delivery {
        match self.is_whole(next.sequence_number) {
            true => sink.deliver_set(CoherentSet {
                writer: next.writer,
                group_set: self.group_set,
                changes: &self.changes,
            }),
            false => Delivery::Accepted,
        }
    }

    /// Forgets the set once it has been delivered, or because it never will be.
    fn finish(
        &mut self,
        next: &ReceivedChange<'_>,
        pool: &mut BufferPool,
        counters: &mut ReaderCounters,
        sink: &mut impl Sink,
    ) {
        let is_whole = self.is_whole(next.sequence_number);
        if self.group_set != SequenceNumber::ZERO {
            let is_end = next.place.coherent_set == SequenceNumber::UNKNOWN;
            let before = |number: SequenceNumber| match is_end {
                true => number,
                false => number.previous(),
            };
            let end = SetEnd {
                group: GroupPlace {
                    number: before(next.place.group.number),
                    coherent_set: self.group_set,
                },
                first: self.first,
                last: before(next.sequence_number),
                part: match is_whole {
                    true => SetPart::Delivered,
                    false => SetPart::Discarded,
                },
            };
            sink.set_ended(next.writer, end);
        }
        match is_whole {
            true => self.clear(pool),
            false => {
                sink.lost(next.writer, self.received);
                self.abandon(pool, counters);
            }
        }
    }

    /// Keeps a change of the set, which it may begin.
    fn keep(&mut self, config: &ReaderConfig, pool: &mut BufferPool, change: &ReceivedChange<'_>) {
        self.first = change.place.coherent_set;
        self.group_set = change.place.group.coherent_set.max(SequenceNumber::ZERO);
        self.received += 1;
        let held = HeldChange::copy(change, pool);
        self.len += held.bytes.len();
        self.changes.push((change.sequence_number, held));
        if self.is_too_long || self.changes.len() > config.max_set || self.len > config.max_set_len
        {
            self.is_too_long = true;
            self.recycle(pool);
        }
    }

    /// Forgets the set, if there is one, and counts it.
    pub(super) fn abandon(&mut self, pool: &mut BufferPool, counters: &mut ReaderCounters) {
        if self.is_open() {
            counters.sets_discarded += 1;
            counters.set_changes_discarded += self.received;
            self.clear(pool);
        }
    }

    fn clear(&mut self, pool: &mut BufferPool) {
        self.recycle(pool);
        self.first = SequenceNumber::ZERO;
        self.group_set = SequenceNumber::ZERO;
        self.received = 0;
        self.is_too_long = false;
    }

    fn recycle(&mut self, pool: &mut BufferPool) {
        for (_, change) in self.changes.drain(..) {
            pool.give(change.bytes);
        }
        self.len = 0;
    }
}
