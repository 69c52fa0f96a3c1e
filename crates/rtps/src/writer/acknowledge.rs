//! What readers say, and what their saying it sets free.

use tickwire_base::{Duration, Instant};

use super::reader_proxy::Survey;
use super::{Log, SAMPLE_OVERHEAD_LEN, Writer, cost};
use crate::outbox::Outbox;
use crate::wire::{AckNack, Context, NackFrag, SequenceNumber, SequenceNumberSet};

impl<L: Log> Writer<L> {
    /// Takes an acknowledgement and sends what the reader lacks (RTPS 2.5 §8.4.9.2).
    ///
    /// One with a base of 1 or 0, without requests and not final is the greeting of a reader that
    /// knows of no heartbeat yet; it is answered with one at once and never taken for a step back.
    pub fn handle_acknack(
        &mut self,
        now: Instant,
        context: &Context<'_>,
        acknack: &AckNack,
        outbox: &mut Outbox,
    ) {
        let Ok(index) = self.find(context.source(acknack.reader)) else {
            self.counters.from_unmatched += 1;
            return;
        };
        let base = acknack.state.base;
        let asks = !acknack.state.is_empty();
        let greeting = base <= SequenceNumber::FIRST && !asks && !acknack.is_final;
        let valid = base >= SequenceNumber::FIRST || base == SequenceNumber::ZERO && !asks;
        let reliable = self.readers[index].proxy.reliable;
        if !reliable || !valid || base.previous() > self.sent() {
            // Also what a reader says that knew another writer of this name, before a restart: its
            // acknowledgement means nothing here, and heartbeats go on until it gives a true one.
            self.counters.misbehaved += 1;
            return;
        }
        let count = &mut self.readers[index].acknack_count;
        if greeting {
            count.restart(now, acknack.count);
        } else if !count.accept(now, acknack.count) {
            self.counters.stale += 1;
            return;
        }
        self.counters.acknacks += 1;
        self.readers[index].acknacks += 1;
        if self.acknowledge(now, index, base.previous()) {
            let flows = !asks && acknack.is_final;
            if !flows || !self.leaves_release() {
                self.release();
            }
        }
        let idle = !self.request(now, index, &acknack.state);
        let lags = self.readers[index].lags(self.sent());
        if lags {
            self.heartbeat.arm(now);
        }
        if self.cursor.number <= self.last {
            // What has arrived makes room for more.
            self.release();
            self.send_new(now, outbox);
        }
        self.send_repairs(now, index, outbox);
        if greeting {
            self.introduce(index, !lags, outbox);
        } else if idle && !acknack.is_final {
            self.send_heartbeat(index, true, outbox);
        }
    }

    /// Takes what readers that follow the log have said beside it, those of the next `count` participants: of what is
    /// lent, without a word by the network. What is not true changes nothing.
    pub(super) fn hear_log(&mut self, now: Instant, count: usize) {
        let mut said = core::mem::take(&mut self.said);
        self.log.hear(count, &mut said);
        let mut has_advanced = false;
        for (reader, number) in said.drain(..) {
            match self.find(reader) {
                Err(_) => self.counters.from_unmatched += 1,
                Ok(index) if self.readers[index].proxy.reliable && number <= self.sent() => {
                    has_advanced |= self.acknowledge(now, index, number);
                }
                Ok(_) => self.counters.misbehaved += 1,
            }
        }
        self.said = said;
        if has_advanced {
            self.release();
            // There is less to ask for.
            self.unasked_len = self.unasked_len.min(self.unreleased_len);
        }
    }

    /// The reader has everything up to `number`; whether it had less before.
    fn acknowledge(&mut self, now: Instant, index: usize, number: SequenceNumber) -> bool {
        let reader = &mut self.readers[index];
        let was_unsettled = reader.is_unsettled();
        let is_first = !core::mem::replace(&mut reader.introduced, true);
        let has_advanced = number > reader.acked;
        reader.acked = reader.acked.max(number);
        let is_unsettled = reader.is_unsettled();
        if was_unsettled && !is_unsettled {
            self.crowd.leave(reader.met_at);
        }
        self.survey = Survey::of(&self.readers);
        let reader = &mut self.readers[index];
        if is_first || has_advanced {
            let patience = self.crowd.patience(now, reader.met_at);
            reader.turn = match is_unsettled {
                true => self.heartbeat.first_turn(now, patience),
                false => self.heartbeat.next_round(),
            };
        }
        if has_advanced {
            self.asked_at = None;
        }
        has_advanced
    }

    /// Whether who writes next is to [let go](Self::release) of what has just been acknowledged: while more is
    /// to come anyway, he does so for less, whose processor has it at hand.
    fn leaves_release(&self) -> bool {
        // What is lent is wanted back.
        self.acknowledged() < self.last && !self.history.begins_lent()
    }

    /// Begins to serve a reliable reader: with the history that it wants and is ready for, as far as
    /// one request could ask for it, else with a heartbeat.
    pub(super) fn begin(&mut self, now: Instant, index: usize, outbox: &mut Outbox) {
        let proxy = &self.readers[index].proxy;
        let is_ready = proxy.has_matched && proxy.wants_history;
        let Some(first) = self.history.first().filter(|_| is_ready) else {
            return self.introduce(index, false, outbox);
        };
        let mut history = SequenceNumberSet::empty(first);
        for number in first.0..=self.sent().0 {
            if !history.insert(SequenceNumber(number)) {
                break;
            }
        }
        let (sent, repairs) = (self.sent(), &mut self.readers[index].repairs);
        repairs.request_samples(now, &history, sent, Duration::ZERO);
        self.send_repairs(now, index, outbox);
    }

    /// Queues what the reader asks for; whether anything is to be sent.
    fn request(&mut self, now: Instant, index: usize, set: &SequenceNumberSet) -> bool {
        let (sent, interval) = (self.sent(), self.repair_interval(now, index));
        let repairs = &mut self.readers[index].repairs;
        self.counters.suppressed += repairs.request_samples(now, set, sent, interval);
        !repairs.is_empty()
    }

    /// Takes a request for fragments and sends them (RTPS 2.5 §8.4.14).
    pub fn handle_nack_frag(
        &mut self,
        now: Instant,
        context: &Context<'_>,
        nack: &NackFrag,
        outbox: &mut Outbox,
    ) {
        let Ok(index) = self.find(context.source(nack.reader)) else {
            self.counters.from_unmatched += 1;
            return;
        };
        let under_way = nack.sequence_number > self.cursor.number;
        let interval = self.repair_interval(now, index);
        let reader = &mut self.readers[index];
        if !reader.proxy.reliable
            || nack.sequence_number < SequenceNumber::FIRST
            || nack.sequence_number > self.last
        {
            self.counters.misbehaved += 1;
            return;
        }
        if !reader.nack_frag_count.accept(now, nack.count) {
            self.counters.stale += 1;
            return;
        }
        self.counters.nack_frags += 1;
        reader.acknacks += 1;
        if nack.state.is_empty() {
            let has = (nack.sequence_number, nack.state.base.saturating_sub(1));
            if !self.acknowledge_fragments(now, index, has, outbox) {
                self.counters.misbehaved += 1;
            }
            return;
        }
        let queued = !under_way
            && reader
                .repairs
                .request_fragments(now, nack.sequence_number, nack.state, interval);
        match queued {
            true => self.send_repairs(now, index, outbox),
            false => self.counters.suppressed += 1,
        }
    }

    /// What a reader was sent within this time is on its way. Those who have just met us take longer
    /// to answer where they are many.
    fn repair_interval(&self, now: Instant, index: usize) -> Duration {
        let patience = self.patience_with(now, index);
        self.config.repair_interval.max(patience / 2)
    }

    /// How much longer than others a reader may take to answer, as it is one of many newcomers.
    pub(super) fn patience_with(&self, now: Instant, index: usize) -> Duration {
        let reader = &self.readers[index];
        match reader.is_unsettled() {
            true => self.crowd.patience(now, reader.met_at),
            false => Duration::ZERO,
        }
    }

    /// Lets go of what everybody has: it no longer counts against writes, and nobody will ask for it
    /// unless the history is kept for late joiners.
    pub(super) fn release(&mut self) {
        let end = self.acknowledged();
        if end <= self.released {
            return;
        }
        if !self.config.transient_local && !self.config.presents && self.retained.is_none() {
            self.forget_all(end);
        }
        while self.released < end {
            let Some(number) = self
                .history
                .at_or_after(self.released.next())
                .filter(|&number| number <= end)
            else {
                break;
            };
            self.release_change(number);
        }
        self.released = self.released.max(end);
    }

    /// Lets go of all changes up to `end`, which nobody comes late for.
    fn forget_all(&mut self, end: SequenceNumber) {
        let (count, len) = self
            .history
            .remove_through(end, !self.survey.has_best_effort);
        let len = len + count * SAMPLE_OVERHEAD_LEN;
        self.unreleased_len = self.unreleased_len.saturating_sub(len);
        self.window.acknowledged(len);
        self.released = end;
    }

    fn release_change(&mut self, number: SequenceNumber) {
        self.released = number;
        let Some(change) = self.history.get(number) else {
            return;
        };
        if change.is_end() {
            return self.forget_end(number);
        }
        let cost = cost(change.payload.counted_len());
        self.unreleased_len = self.unreleased_len.saturating_sub(cost);
        self.window.acknowledged(cost);
        let key = change.key_hash();
        let gone = change.kind().is_unregistered();
        if self.retained.is_some() {
            self.retain(number, key);
        } else if !self.config.transient_local || gone {
            // An unregistered instance is of no use to late joiners.
            while let Some(oldest) = self.history.oldest_of(key)
                && oldest <= number
            {
                self.remove(oldest);
            }
        }
    }
}
