//! Coherent sets on their way to the sink (DDS 1.4 §2.2.3.6, RTPS 2.5 §8.7.5): a writer's changes
//! are kept until their set has ended, then delivered together, or not at all if one is missing.
//! Knows one writer; which sets of several writers belong together is for the sink to know.
//!
//! What is kept counts as received: it is acknowledged, so that a writer that waits for
//! acknowledgements can go on and end the set.

use alloc::vec::Vec;

use super::config::{CoherentSet, ReaderConfig, SetEnd, SetPart};
use super::limits::Memory;
use super::reorder::HeldChange;
use super::{Delivery, ReaderCounters, ReceivedChange, Sink};
use crate::change::GroupPlace;
use crate::wire::{GroupDigest, Guid, SequenceNumber};

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
    /// The sink had no room for it, whole as it is.
    was_refused: bool,
    /// The newest change of the writer when it first answered.
    pub(super) history_last: SequenceNumber,
}

/// Hands the next change of a writer on, if it is in no set; else keeps it, and delivers the set
/// that ends with it. [`Delivery::Full`] if the sink refuses either: then the change comes again.
/// What `is_known` has come from another writer, and counts as delivered or kept.
pub(super) fn present(
    config: &ReaderConfig,
    set: &mut SetBuffer,
    memory: &mut Memory,
    counters: &mut ReaderCounters,
    change: &ReceivedChange<'_>,
    is_known: bool,
    sink: &mut impl Sink,
) -> Delivery {
    match config.coherent {
        false => hand_on(memory, counters, change, is_known, sink),
        true => set.present(config, memory, counters, change, is_known, sink),
    }
}

fn hand_on(
    memory: &mut Memory,
    counters: &mut ReaderCounters,
    change: &ReceivedChange<'_>,
    is_known: bool,
    sink: &mut impl Sink,
) -> Delivery {
    if is_known {
        counters.known += 1;
        sink.known(*change);
        return Delivery::Accepted;
    }
    let delivery = sink.deliver(change);
    if delivery == Delivery::Accepted
        && let Some(original) = change.original
    {
        counters.forgotten += memory.originals.note(original);
    }
    delivery
}

impl SetBuffer {
    fn present(
        &mut self,
        config: &ReaderConfig,
        memory: &mut Memory,
        counters: &mut ReaderCounters,
        change: &ReceivedChange<'_>,
        is_known: bool,
        sink: &mut impl Sink,
    ) -> Delivery {
        let set = change.place.coherent_set;
        let ends = change.is_end_of_set().then(|| self.is_ended_by(change));
        if self.is_open() && (ends.is_some() || set != self.first) {
            if self.deliver(memory, counters, change, sink) == Delivery::Full {
                return Delivery::Full;
            }
            self.finish(change, ends, memory, counters, sink);
        } else if ends.is_some() {
            self.tell_of_end(change, sink);
        }
        if ends.is_some() {
            return Delivery::Accepted;
        }
        if set < SequenceNumber::FIRST {
            return hand_on(memory, counters, change, is_known, sink);
        }
        self.begin(change, sink);
        self.received += 1;
        match is_known {
            true => hand_on(memory, counters, change, is_known, sink),
            false => {
                self.keep(config, memory, change);
                Delivery::Accepted
            }
        }
    }

    /// The first change of the set that has begun.
    pub(super) fn first_kept(&self) -> Option<SequenceNumber> {
        self.is_open().then_some(self.first)
    }

    fn is_open(&self) -> bool {
        self.first != SequenceNumber::ZERO
    }

    /// Whether the end of a set is that of this one: its own may be lost.
    fn is_ended_by(&self, end: &ReceivedChange<'_>) -> bool {
        let group_set = end.place.group.coherent_set;
        self.is_open()
            && end.place.coherent_set == SequenceNumber::UNKNOWN
            && (group_set == self.group_set || group_set < SequenceNumber::FIRST)
    }

    /// Whether the set has all its changes if `end` is the first number beyond it.
    fn is_whole(&self, end: SequenceNumber) -> bool {
        let len = end.0.saturating_sub(self.first.0);
        !self.is_too_long && u64::try_from(len) == Ok(self.received)
    }

    /// Delivers the set, if it is whole, now that `next` shows its end; but what has come from another
    /// writer meanwhile.
    fn deliver(
        &mut self,
        memory: &mut Memory,
        counters: &mut ReaderCounters,
        next: &ReceivedChange<'_>,
        sink: &mut impl Sink,
    ) -> Delivery {
        if !self.is_whole(next.sequence_number) {
            return Delivery::Accepted;
        }
        self.leave_out_known(next.writer, memory, counters, sink);
        if self.changes.is_empty() {
            return Delivery::Accepted;
        }
        let delivery = sink.deliver_set(CoherentSet {
            writer: next.writer,
            group_set: self.group_set,
            was_refused: self.was_refused,
            changes: &self.changes,
        });
        self.was_refused = delivery == Delivery::Full;
        if delivery == Delivery::Accepted {
            let originals = self
                .changes
                .iter()
                .filter_map(|(_, change)| change.original);
            for original in originals {
                counters.forgotten += memory.originals.note(original);
            }
        }
        delivery
    }

    fn leave_out_known(
        &mut self,
        writer: Guid,
        memory: &mut Memory,
        counters: &mut ReaderCounters,
        sink: &mut impl Sink,
    ) {
        self.changes.retain_mut(|(number, change)| {
            let is_known = memory.originals.has_given(writer, *number, change.original);
            if is_known {
                counters.known += 1;
                sink.known(change.as_received(writer, *number));
                self.len -= change.bytes.len();
                memory.set_len -= change.bytes.len();
                memory.set_count -= 1;
                core::mem::take(&mut change.bytes).give_back(&mut memory.pool);
                self.was_refused = false;
            }
            !is_known
        });
    }

    /// Forgets the set once it has been delivered, or because it never will be. `ends` says of an end
    /// of a set whether it is that of this one.
    fn finish(
        &mut self,
        next: &ReceivedChange<'_>,
        ends: Option<bool>,
        memory: &mut Memory,
        counters: &mut ReaderCounters,
        sink: &mut impl Sink,
    ) {
        let is_whole = self.is_whole(next.sequence_number);
        let group = next.place.group;
        let (number, last, writers) = match ends {
            Some(true) => (group.number, next.sequence_number, group.writers),
            // The set that the other end is of may have begun with any number from its first on.
            Some(false) => (
                group.coherent_set.previous(),
                next.sequence_number.previous(),
                GroupDigest::NONE,
            ),
            None => (
                group.number.previous(),
                next.sequence_number.previous(),
                GroupDigest::NONE,
            ),
        };
        if self.group_set != SequenceNumber::ZERO {
            let end = SetEnd {
                group: GroupPlace {
                    number,
                    coherent_set: self.group_set,
                    writers,
                },
                first: self.first,
                last,
                is_history: last <= self.history_last,
                part: match is_whole {
                    true if self.changes.is_empty() => SetPart::Empty,
                    true => SetPart::Delivered,
                    false => SetPart::Discarded,
                },
            };
            sink.set_ended(next.writer, end);
        }
        match is_whole {
            true => self.clear(memory),
            false => self.abandon(next.writer, memory, counters, sink),
        }
        if ends == Some(false) {
            self.tell_of_end(next, sink);
        }
    }

    /// Says that a set of the publisher has ended of which nothing is kept here.
    fn tell_of_end(&self, end: &ReceivedChange<'_>, sink: &mut impl Sink) {
        let group = end.place.group;
        if group.coherent_set < SequenceNumber::FIRST {
            return;
        }
        let part = match end.place.coherent_set {
            SequenceNumber::ZERO => SetPart::Empty,
            _ => SetPart::Unheard,
        };
        let number = end.sequence_number;
        sink.set_ended(
            end.writer,
            SetEnd {
                group,
                first: number,
                last: number,
                is_history: number <= self.history_last,
                part,
            },
        );
    }

    /// Begins a set with its first change.
    fn begin(&mut self, change: &ReceivedChange<'_>, sink: &mut impl Sink) {
        if !self.is_open() {
            self.first = change.place.coherent_set;
            self.group_set = change.place.group.coherent_set.max(SequenceNumber::ZERO);
            if self.group_set != SequenceNumber::ZERO {
                sink.set_begun(change.writer, self.group_set);
            }
        }
    }

    /// Keeps a change of the set.
    fn keep(&mut self, config: &ReaderConfig, memory: &mut Memory, change: &ReceivedChange<'_>) {
        if self.is_too_long {
            return;
        }
        let held = HeldChange::copy(change, &mut memory.pool);
        self.len += held.bytes.len();
        memory.set_len += held.bytes.len();
        memory.set_count += 1;
        self.changes.push((change.sequence_number, held));
        if self.changes.len() > config.max_set || self.len > config.max_set_len {
            self.give_up(memory);
        }
    }

    /// Changes kept.
    pub(super) fn count(&self) -> usize {
        self.changes.len()
    }

    /// Bytes of those.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Keeps no more of the set, which is too long.
    pub(super) fn give_up(&mut self, memory: &mut Memory) {
        self.is_too_long = true;
        self.recycle(memory);
    }

    /// Forgets the set, if there is one; counts its changes, which are lost.
    pub(super) fn abandon(
        &mut self,
        writer: Guid,
        memory: &mut Memory,
        counters: &mut ReaderCounters,
        sink: &mut impl Sink,
    ) {
        if self.is_open() {
            counters.sets_discarded += 1;
            counters.set_changes_discarded += self.received;
            sink.lost(writer, self.received);
            self.clear(memory);
        }
    }

    fn clear(&mut self, memory: &mut Memory) {
        self.recycle(memory);
        self.first = SequenceNumber::ZERO;
        self.group_set = SequenceNumber::ZERO;
        self.received = 0;
        self.is_too_long = false;
        self.was_refused = false;
    }

    fn recycle(&mut self, memory: &mut Memory) {
        memory.set_count -= self.changes.len();
        memory.set_len -= self.len;
        for (_, change) in self.changes.drain(..) {
            change.bytes.give_back(&mut memory.pool);
        }
        self.changes.shrink_to(SPARE_CHANGES);
        self.len = 0;
    }
}

/// Changes for which a writer has memory between its sets.
const SPARE_CHANGES: usize = 64;
