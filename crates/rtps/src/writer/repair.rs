//! Sending again what readers asked for, in bursts of bounded size.

use tickwire_base::Instant;

use super::reader_proxy::MatchedReader;
use super::send::target_of;
use super::{Log, Writer, cost};
use crate::outbox::Outbox;
use crate::wire::{SequenceNumber, SequenceNumberSet};

impl<L: Log> Writer<L> {
    /// Sends the reader what it asked for, as far as the burst allows, and a heartbeat after the
    /// last of it.
    pub(super) fn send_repairs(&mut self, now: Instant, index: usize, outbox: &mut Outbox) {
        let Some(reader) = self.readers.get(index) else {
            return;
        };
        if reader.repairs.is_empty() {
            return;
        }
        let in_flight = self.sent_len();
        self.repaired_len = 0;
        let done = self.send_fragments(now, index, outbox) && self.send_samples(now, index, outbox);
        if self.repaired_len > 0 {
            self.window.lost(now, self.repaired_len, in_flight);
        }
        if !done {
            self.has_repairs = true;
            return;
        }
        self.send_heartbeat(index, false, outbox);
        if self.readers[index].is_unsettled() {
            // It has just been reminded.
            let patience = self.patience_with(now, index);
            self.readers[index].turn = self.heartbeat.first_turn(now, patience);
        }
    }

    /// Sends single fragments; false if the burst ended before the requests did.
    fn send_fragments(&mut self, now: Instant, index: usize, outbox: &mut Outbox) -> bool {
        let reader = &mut self.readers[index];
        let target = target_of(&reader.proxy);
        while let Some(request) = reader.repairs.next_fragments() {
            let (number, set, start) = (request.number, request.set, request.next);
            if let Some(change) = self.history.get(number) {
                let count = match number == self.cursor.number {
                    // The rest of what is still being sent comes anyway.
                    true => self.cursor.fragment - 1,
                    false => self.composer.fragment_count(change.payload.len()),
                };
                for fragment in set.iter().filter(|&f| f >= start && f <= count) {
                    if !self.pacer.take(now, self.composer.full_fragment_len()) {
                        request.next = fragment;
                        return false;
                    }
                    self.composer.fragment(change, fragment, target, outbox);
                    self.counters.fragments_resent += 1;
                    if number > self.released {
                        self.repaired_len += self.composer.full_fragment_len();
                    }
                }
                if number == self.cursor.number && count > 0 {
                    self.composer.heartbeat_frag(number, count, target, outbox);
                }
            } else {
                self.composer.gap(number, number.next(), target, outbox);
                self.counters.gaps += 1;
                reader.gaps += 1;
            }
            reader.repairs.fragments_done(now);
        }
        true
    }

    /// Sends whole samples and GAPs; false if the burst ended before the requests did.
    fn send_samples(&mut self, now: Instant, index: usize, outbox: &mut Outbox) -> bool {
        loop {
            if !self.send_gaps(now, index, outbox) {
                return false;
            }
            let Some(number) = self.readers[index].repairs.next_sample() else {
                return true;
            };
            if self.history.get(number).is_none() {
                // Removed since it was asked for.
                self.readers[index].repairs.sift_again();
            } else if !self.send_sample(now, index, number, outbox) {
                return false;
            }
        }
    }

    /// Tells the reader which of the samples that it asked for it is not to have, in one GAP if that
    /// holds them; false if the burst has ended. A GAP goes on up to the next change that there is.
    fn send_gaps(&mut self, now: Instant, index: usize, outbox: &mut Outbox) -> bool {
        let end = self.sent().next();
        let (composer, pacer) = (&self.composer, &mut self.pacer);
        let history = &mut self.history;
        let MatchedReader {
            proxy,
            repairs,
            first_relevant,
            gaps,
            ..
        } = &mut *self.readers[index];
        if repairs.is_sifted() {
            return true;
        }
        if !pacer.take(now, 0) {
            return false;
        }
        let mut lists = GapLists::default();
        repairs.sift(now, |number| {
            let relevant = number >= *first_relevant;
            let change = history.get(number).filter(|_| relevant);
            if change.is_some_and(|change| proxy.wants(change)) {
                return true;
            }
            let next = history.at_or_after(number.next().max(*first_relevant));
            let end = next.map_or(end, |next| next.min(end)).max(number.next());
            lists.add(number, end);
            false
        });
        for &(start, list) in lists.iter() {
            pacer.take(
                now,
                composer.gap_list(start, list, target_of(proxy), outbox),
            );
            *gaps += 1;
            self.counters.gaps += 1;
        }
        true
    }

    /// One change, whole or in all its fragments; false if the burst ended before.
    fn send_sample(
        &mut self,
        now: Instant,
        index: usize,
        number: SequenceNumber,
        outbox: &mut Outbox,
    ) -> bool {
        let Some(change) = self.history.get(number) else {
            return true;
        };
        let reader = &mut self.readers[index];
        let target = target_of(&reader.proxy);
        let count = self.composer.fragment_count(change.payload.len());
        if count == 1 {
            let len = self.composer.data_len(change.payload.len());
            if !self.pacer.take(now, len) {
                return false;
            }
            self.composer.data(change, target, outbox);
        } else {
            for fragment in reader.repairs.fragment.max(1)..=count {
                if !self.pacer.take(now, self.composer.full_fragment_len()) {
                    reader.repairs.fragment = fragment;
                    return false;
                }
                self.composer.fragment(change, fragment, target, outbox);
                self.counters.fragments_resent += 1;
            }
        }
        if number > self.released {
            self.repaired_len += cost(change.payload.counted_len());
        }
        reader.repairs.sample_done(now, number);
        reader.resent += 1;
        self.counters.resent += 1;
        true
    }
}

/// Irrelevant numbers in as few GAPs as hold them: each has a range of any length and, in the 256
/// numbers from its end on, single ones.
#[derive(Default)]
struct GapLists {
    full: Option<(SequenceNumber, SequenceNumberSet)>,
    open: Option<(SequenceNumber, SequenceNumberSet)>,
}

impl GapLists {
    /// Adds the numbers from `first` up to but without `end`, where no `first` is below an earlier
    /// one. All of them lie within 256, as those of a request do, so that two GAPs always do.
    fn add(&mut self, first: SequenceNumber, end: SequenceNumber) {
        let fresh = Some((first, SequenceNumberSet::empty(end)));
        let Some((_, list)) = &mut self.open else {
            self.open = fresh;
            return;
        };
        if list.is_empty() && list.base >= first {
            list.base = list.base.max(end);
        } else if end.0.saturating_sub(list.base.0) <= 256 {
            for number in first.0..end.0 {
                list.insert(SequenceNumber(number));
            }
        } else if self.full.is_none() {
            self.full = core::mem::replace(&mut self.open, fresh);
        }
    }

    fn iter(&self) -> impl Iterator<Item = &(SequenceNumber, SequenceNumberSet)> {
        self.full.iter().chain(&self.open)
    }
}
