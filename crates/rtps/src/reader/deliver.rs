//! The order in which a writer's changes reach the sink, and what is passed over on the way.

use tickwire_base::Instant;

use super::reorder::HeldChange;
use super::sets::present;
use super::{Delivery, Reader, ReceivedChange, Sink};
use crate::count::is_after;
use crate::wire::{Heartbeat, SequenceNumber};

impl Reader {
    /// Whether a heartbeat is newer than the last one. A writer that counts or numbers anew has been
    /// restarted under its old name, which two heartbeats must agree on as one may be a straggler.
    pub(super) fn is_news(
        &mut self,
        now: Instant,
        index: usize,
        heartbeat: &Heartbeat,
        sink: &mut impl Sink,
    ) -> bool {
        let writer = &mut self.writers[index];
        let older = heartbeat.last < writer.heartbeat_last;
        if older && writer.heartbeat_count.would_accept(now, heartbeat.count) {
            let agreed = writer
                .restart_count
                .is_some_and(|count| is_after(heartbeat.count, count));
            if !agreed {
                writer.restart_count = Some(heartbeat.count);
                return false;
            }
            self.begin_anew(index, sink);
            let writer = &mut self.writers[index];
            writer.heartbeat_count.restart(now, heartbeat.count);
        } else if !writer.heartbeat_count.accept(now, heartbeat.count) {
            self.counters.stale += 1;
            return false;
        }
        let writer = &mut self.writers[index];
        writer.heartbeat_last = writer.heartbeat_last.max(heartbeat.last);
        true
    }

    /// Forgets what a writer has sent: it numbers anew.
    fn begin_anew(&mut self, index: usize, sink: &mut impl Sink) {
        let writer = &mut self.writers[index];
        let (memory, counters) = (&mut self.memory, &mut self.counters);
        writer
            .set
            .abandon(writer.proxy.guid, memory, counters, sink);
        self.memory.gaps -= writer.reorder.gaps();
        self.memory.originals.forget(writer.proxy.guid);
        writer.restart();
        self.counters.restarts += 1;
    }

    /// The first heartbeat says where this reader begins: with the first change that the writer
    /// holds, or with what came before the heartbeat if that is older. A GAP from the very first
    /// number on has said so already, so that no history needs skipping.
    pub(super) fn synchronize(
        &mut self,
        index: usize,
        heartbeat: &Heartbeat,
        sink: &mut impl Sink,
    ) {
        let farthest = self.farthest(heartbeat.last);
        if self.writers[index].delivered_up_to > farthest {
            // Too far behind what was delivered to be of the same numbers.
            self.begin_anew(index, sink);
            self.writers[index].heartbeat_last = heartbeat.last;
        }
        let writer = &mut self.writers[index];
        writer.synchronized = true;
        writer.history_last = heartbeat.last;
        writer.set.history_last = heartbeat.last;
        writer.greet_at = None;
        writer.greeting_interval = self.config.greeting_interval;
        self.forget_jumps(index, heartbeat.last);
        let writer = &mut self.writers[index];
        let told = writer.expected > SequenceNumber::FIRST;
        let start = match writer.proxy.skip_history && !told {
            true => heartbeat.last.next(),
            false => heartbeat.first,
        };
        let whole = writer.reorder.front().map(|span| span.first);
        let partial = writer.reassembly.iter().map(|partial| partial.number);
        let early = whole.into_iter().chain(partial).fold(start, Ord::min);
        if early > writer.expected {
            writer.began = early;
            writer.expected = early;
        }
        self.drain(index, sink);
    }

    /// Delivers a change if it is its turn. One from a best-effort writer is past help afterwards.
    pub(super) fn offer(
        &mut self,
        index: usize,
        change: &ReceivedChange<'_>,
        sink: &mut impl Sink,
    ) -> Offer {
        let number = change.sequence_number;
        let writer = &mut self.writers[index];
        let begun = writer.proxy.reliable || writer.synchronized;
        if begun && (number < writer.expected || writer.reorder.contains(number)) {
            writer.duplicates += 1;
            self.counters.duplicates += 1;
            return Offer::Done;
        }
        writer.announced = writer.announced.max(number);
        if writer.proxy.reliable && number > writer.expected {
            return Offer::Keep;
        }
        let missed = number.0.saturating_sub(writer.expected.0);
        if begun && missed > 0 {
            self.lose(index, missed.unsigned_abs(), sink);
        }
        let is_known = self.is_known(index, number, change.original);
        let writer = &mut self.writers[index];
        let delivery = present(
            &self.config,
            &mut writer.set,
            &mut self.memory,
            &mut self.counters,
            change,
            is_known,
            sink,
        );
        match delivery {
            Delivery::Accepted => {
                writer.delivered_up_to = number;
                writer.delivered += u64::from(!is_known);
                self.counters.delivered += u64::from(!is_known);
            }
            Delivery::Full => {
                self.counters.refused += 1;
                if writer.proxy.reliable {
                    return Offer::Keep;
                }
                self.lose(index, 1, sink);
            }
        }
        let writer = &mut self.writers[index];
        if !begun {
            writer.began = number;
        }
        writer.synchronized |= !writer.proxy.reliable;
        writer.expected = number.next();
        self.drain(index, sink);
        Offer::Done
    }

    /// Keeps a change for later if there is room, and soon asks for what lacks before it.
    pub(super) fn hold(
        &mut self,
        now: Instant,
        index: usize,
        number: SequenceNumber,
        change: HeldChange,
    ) {
        let patience = self.patience_with(now, index);
        let has_room = self.has_room_to_hold(index, change.bytes.len());
        let writer = &mut self.writers[index];
        if has_room {
            writer.reorder.hold(number, change);
            self.counters.held += 1;
        } else {
            change.bytes.give_back(&mut self.memory.pool);
            self.counters.dropped += 1;
        }
        if writer.synchronized {
            writer.ask_soon(now, patience, &self.config);
        }
    }

    /// Passes over irrelevant numbers from `start` up to but without `end`, and delivers what comes
    /// after them.
    pub(super) fn skip(
        &mut self,
        index: usize,
        start: SequenceNumber,
        end: SequenceNumber,
        sink: &mut impl Sink,
    ) {
        if self.pass(index, start, end) {
            self.drain(index, sink);
        }
    }

    /// Notes that numbers from `start` up to but without `end` are irrelevant; false if they are
    /// past. Delivers nothing: what is next now is for [`drain`](Self::drain).
    pub(super) fn pass(
        &mut self,
        index: usize,
        start: SequenceNumber,
        end: SequenceNumber,
    ) -> bool {
        let writer = &mut self.writers[index];
        if end <= writer.expected {
            return false;
        }
        let start = start.max(writer.expected);
        if start == writer.expected {
            // What is next needs no room, and must not wait for any.
            let held = writer.reorder.front().map_or(end, |span| span.first);
            let next = end.min(held);
            if !writer.synchronized && writer.began == writer.expected {
                writer.began = next;
            }
            writer.expected = next;
            writer.patience = writer.nack_interval(&self.config);
        }
        if writer.proxy.reliable {
            let start = start.max(writer.expected);
            let others = self.memory.gaps - writer.reorder.gaps();
            let max_gaps = self.config.limits.max_held.saturating_sub(others);
            self.counters.dropped += writer.reorder.skip(start, end, max_gaps);
            self.memory.gaps = others + writer.reorder.gaps();
        }
        true
    }

    /// Drops a change that says what must be understood but is not (RTPS 2.5 §9.6.3). It would be the
    /// same the next time, so it is not asked for again.
    pub(super) fn pass_over(&mut self, index: usize, number: SequenceNumber, sink: &mut impl Sink) {
        self.counters.not_understood += 1;
        self.skip(index, number, number.next(), sink);
    }

    /// Delivers what has come early and is next now, as far as the sink takes it.
    pub(super) fn drain(&mut self, index: usize, sink: &mut impl Sink) {
        while let Some(span) = self.writers[index].reorder.front()
            && span.first <= self.writers[index].expected
        {
            let original = span.change.as_ref().and_then(|change| change.original);
            let is_known = self.is_known(index, span.first, original);
            let writer = &mut self.writers[index];
            let (config, counters) = (&self.config, &mut self.counters);
            let memory = &mut self.memory;
            if let Some(span) = writer.reorder.front()
                && let Some(change) = &span.change
                && span.first == writer.expected
            {
                let received = change.as_received(writer.proxy.guid, span.first);
                let set = &mut writer.set;
                let delivery = present(config, set, memory, counters, &received, is_known, sink);
                if delivery == Delivery::Full {
                    counters.refused += 1;
                    break;
                }
                writer.delivered_up_to = span.first;
                writer.delivered += u64::from(!is_known);
                counters.delivered += u64::from(!is_known);
            }
            let writer = &mut self.writers[index];
            writer.patience = writer.nack_interval(&self.config);
            if let Some(span) = writer.reorder.pop_front() {
                writer.expected = writer.expected.max(span.end);
                match span.change {
                    Some(change) => change.bytes.give_back(&mut self.memory.pool),
                    None => self.memory.gaps -= 1,
                }
            }
        }
        let writer = &mut self.writers[index];
        writer.reassembly.remove_below(writer.expected);
        if self.config.coherent {
            self.bound_sets();
        }
    }

    /// The writer no longer holds anything below `first`: what has not come by now is lost.
    pub(super) fn advance(
        &mut self,
        index: usize,
        first: SequenceNumber,
        count_lost: bool,
        sink: &mut impl Sink,
    ) {
        loop {
            self.drain(index, sink);
            let writer = &mut self.writers[index];
            let next = writer.reorder.front().map_or(first, |span| span.first);
            let end = next.min(first);
            if end <= writer.expected {
                return;
            }
            let missed = end.0.saturating_sub(writer.expected.0).unsigned_abs();
            writer.expected = end;
            if count_lost {
                self.lose(index, missed, sink);
            }
        }
    }

    pub(super) fn lose(&mut self, index: usize, count: u64, sink: &mut impl Sink) {
        let writer = &mut self.writers[index];
        writer.lost = writer.lost.saturating_add(count);
        self.counters.lost = self.counters.lost.saturating_add(count);
        sink.lost(writer.proxy.guid, count);
    }
}

/// What is left to do with a change that was offered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Offer {
    Done,
    Keep,
}
