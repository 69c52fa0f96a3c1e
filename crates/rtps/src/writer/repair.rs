//! Sending again what readers asked for, in bursts of bounded size.

use tickwire_base::Instant;

use super::Writer;
use super::send::target_of;
use crate::outbox::Outbox;
use crate::wire::SequenceNumber;

impl Writer {
    /// Sends the reader what it asked for, as far as the burst allows, and a heartbeat after the
    /// last of it.
    pub(super) fn send_repairs(&mut self, now: Instant, index: usize, outbox: &mut Outbox) {
        let Some(reader) = self.readers.get(index) else {
            return;
        };
        if reader.repairs.is_empty() {
            return;
        }
        let done = self.send_fragments(now, index, outbox) && self.send_samples(now, index, outbox);
        if done {
            self.send_heartbeat(index, false, outbox);
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
                    if !self.pacer.take(now, self.composer.fragment_len().into()) {
                        request.next = fragment;
                        return false;
                    }
                    self.composer.fragment(change, fragment, target, outbox);
                    self.counters.fragments_resent += 1;
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
        while let Some(number) = self.readers[index].repairs.next_sample() {
            let reader = &mut self.readers[index];
            let wanted = number >= reader.first_relevant
                && self
                    .history
                    .get(number)
                    .is_some_and(|change| reader.proxy.wants(change));
            if !wanted {
                self.send_gap(index, number, outbox);
            } else if !self.send_sample(now, index, number, outbox) {
                return false;
            }
        }
        true
    }

    /// One GAP from `number` up to the next change that the reader can have.
    fn send_gap(&mut self, index: usize, number: SequenceNumber, outbox: &mut Outbox) {
        let end = self.sent().next();
        let reader = &mut self.readers[index];
        let from = number.max(reader.first_relevant);
        let next = self.history.at_or_after(from).unwrap_or(end);
        let end = next.min(end).max(number.next());
        self.composer
            .gap(number, end, target_of(&reader.proxy), outbox);
        reader.repairs.gap_done(end);
        reader.gaps += 1;
        self.counters.gaps += 1;
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
            if !self.pacer.take(now, change.payload.len()) {
                return false;
            }
            self.composer.data(change, target, outbox);
        } else {
            for fragment in reader.repairs.fragment.max(1)..=count {
                if !self.pacer.take(now, self.composer.fragment_len().into()) {
                    reader.repairs.fragment = fragment;
                    return false;
                }
                self.composer.fragment(change, fragment, target, outbox);
                self.counters.fragments_resent += 1;
            }
        }
        reader.repairs.sample_done(now, number);
        reader.resent += 1;
        self.counters.resent += 1;
        true
    }
}
