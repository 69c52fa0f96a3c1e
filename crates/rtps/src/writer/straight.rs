//! The shortest way of plain changes in a stream: from the history to the log that all readers follow, without an outbox,
//! one by one or in messages that they share.

use alloc::vec::Vec;

use tickwire_base::{Instant, Timestamp};

use super::{Log, Writer, cost};
use crate::change::Change;
use crate::outbox::Outbox;
use crate::tail::MAX_PLAIN_LEN;
use crate::wire::SequenceNumber;

impl<L: Log> Writer<L> {
    /// Whether plain changes go straight to the log, as far as can be told without looking at one.
    #[inline]
    pub fn goes_straight(&self) -> bool {
        let has_log = self.destinations.are_log && self.log.max_len().is_some();
        self.flows && has_log && !self.has_long
    }

    /// The longest payload of a change with that number, the next, that goes straight to the log; `None` if it does not,
    /// whatever its length.
    #[inline(always)]
    fn straight_len(&self, now: Instant, number: SequenceNumber, change: &Change) -> Option<usize> {
        let max_len = self.log.max_len().filter(|_| self.destinations.are_log)?;
        let flows = self.flows(number, change) && !self.has_long && self.has_room();
        let is_greeting = self.survey.has_reliable && now < self.survey.new_until;
        let max_len = MAX_PLAIN_LEN.min(self.composer.whole_len(max_len));
        (flows && !is_greeting).then_some(max_len)
    }

    /// Adds a plain change to the history, and to the log that all readers follow: [`write`](Self::write) for who has no
    /// outbox. `None` if more than that is to be done; then nothing has happened. Where there is a number,
    /// [`is_to_ask`](Self::is_to_ask) says what is left to do.
    ///
    /// # Errors
    /// Those of `payload`, after which the change has no sequence number.
    #[inline(always)]
    pub fn write_straight<E>(
        &mut self,
        now: Instant,
        change: &Change,
        payload: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Option<SequenceNumber>, E> {
        let number = self.last.next();
        let max_len = self.straight_len(now, number, change);
        let (Some(max_len), Some(timestamp)) = (max_len, change.source_timestamp) else {
            return Ok(None);
        };
        if self.composer.head.set_time(timestamp).is_none() {
            return Ok(None);
        }
        if !self.stage_straight(number, max_len, payload)? {
            return Ok(None);
        }
        let payload = self.history.staged();
        let len = payload.len();
        let head = self.composer.head.next(number, len);
        self.log.publish_sample(head, payload);
        self.keep_straight(now, number, timestamp, len);
        Ok(Some(number))
    }

    /// The same of changes that differ from `change` in what `payload` makes of each of `samples` alone, one after the
    /// other as far as they go straight, or readers are to be asked. How many do, and the error of the one behind these,
    /// if it has one: then that is not written.
    #[inline(always)]
    pub fn write_run<S, E>(
        &mut self,
        now: Instant,
        change: &Change,
        samples: &[S],
        payload: impl Fn(&S, &mut Vec<u8>) -> Result<(), E>,
    ) -> (usize, Option<E>) {
        let (Some(timestamp), Some(max_len)) = (
            change.source_timestamp,
            self.straight_len(now, self.last.next(), change),
        ) else {
            return (0, None);
        };
        if self.composer.head.set_time(timestamp).is_none() {
            return (0, None);
        }
        let mut run = Run::begin(self, now);
        for sample in samples {
            match run.add(timestamp, max_len, |buffer| payload(sample, buffer)) {
                Ok(true) if !run.is_to_end() => {}
                Ok(_) => break,
                Err(error) => return (run.count, Some(error)),
            }
        }
        (run.count, None)
    }

    /// Serializes the payload of the next change to where it is to stay. False if it is too long to go straight; then it
    /// is forgotten.
    #[inline(always)]
    fn stage_straight<E>(
        &mut self,
        number: SequenceNumber,
        max_len: usize,
        payload: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<bool, E> {
        if let Err(error) = payload(self.history.stage(number)) {
            self.history.forget_staged();
            return Err(error);
        }
        let len = self.history.staged().len();
        let is_short = len != 0 && len <= max_len;
        if !is_short {
            self.has_long |= len > MAX_PLAIN_LEN;
            self.history.forget_staged();
        }
        Ok(is_short)
    }

    /// Keeps the staged change, which goes straight to the log.
    #[inline(always)]
    fn keep_straight(
        &mut self,
        now: Instant,
        number: SequenceNumber,
        timestamp: Timestamp,
        len: usize,
    ) {
        self.count_sent(1, cost(len));
        if self.keep_plain(number, timestamp, len) {
            if self.survey.has_reliable {
                self.heartbeat.arm(now);
            }
            if self.released < self.survey.acked {
                self.release();
            }
        }
    }

    /// Whether so much has gone straight to the log that readers are to be [asked](Self::ask) to acknowledge it.
    #[inline(always)]
    pub fn is_to_ask(&self) -> bool {
        self.survey.has_reliable && self.unasked_len >= self.window.len() / 4
    }

    /// Asks them, if that is so.
    pub fn ask(&mut self, now: Instant, outbox: &mut Outbox) {
        if self.is_to_ask() {
            self.told_at = Some(now);
            self.send_heartbeat_to_all(false, false, outbox);
        }
    }
}

/// Changes that follow each other straight to the log. What they have in common is seen to once, when this is dropped,
/// be it that serializing one panics.
struct Run<'w, L: Log> {
    writer: &'w mut Writer<L>,
    now: Instant,
    /// Of the next change.
    number: SequenceNumber,
    count: usize,
    /// Of all that have been added.
    cost: usize,
    /// What they may cost before room is to be looked for, or readers to be asked.
    max_cost: usize,
    /// Messages up to that length are joined.
    max_joined_len: usize,
    /// Whether anybody acknowledges them, or what is before them.
    is_kept: bool,
}

impl<'w, L: Log> Run<'w, L> {
    /// The next change goes straight.
    #[inline(always)]
    fn begin(writer: &'w mut Writer<L>, now: Instant) -> Self {
        let has_reliable = writer.survey.has_reliable;
        let room = match writer.keeps_last() {
            true => usize::MAX,
            false => writer.window.len().saturating_sub(writer.unreleased_len),
        };
        let unasked = match has_reliable {
            true => (writer.window.len() / 4).saturating_sub(writer.unasked_len),
            false => usize::MAX,
        };
        let max_len = writer.log.max_len().unwrap_or_default();
        writer.composer.part();
        Self {
            now,
            number: writer.last.next(),
            count: 0,
            cost: 0,
            max_cost: room.min(unasked),
            max_joined_len: max_len.min(MAX_JOINED_LEN),
            is_kept: has_reliable || writer.released != writer.last,
            writer,
        }
    }

    /// Adds a change. False, and nothing happens, if it is too long.
    #[inline(always)]
    fn add<E>(
        &mut self,
        timestamp: Timestamp,
        max_len: usize,
        payload: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<bool, E> {
        let writer = &mut *self.writer;
        if !writer.stage_straight(self.number, max_len, payload)? {
            return Ok(false);
        }
        let len = writer.history.staged().len();
        if writer.composer.joined_len(len) > self.max_joined_len {
            writer.publish_joined();
        }
        writer.composer.join(self.number, writer.history.staged());
        match self.is_kept {
            true => writer.history.push_plain(timestamp),
            false => writer.history.pass_plain(),
        }
        self.number = self.number.next();
        self.count += 1;
        self.cost += cost(len);
        Ok(true)
    }

    /// Whether there may be no room for another change, or readers are to be asked before.
    #[inline(always)]
    fn is_to_end(&self) -> bool {
        self.cost >= self.max_cost
    }
}

impl<L: Log> Drop for Run<'_, L> {
    #[inline]
    fn drop(&mut self) {
        if self.count > 0 {
            self.writer
                .end_run(self.now, self.count, self.cost, self.is_kept);
        }
    }
}

impl<L: Log> Writer<L> {
    /// Adds what was joined to the log.
    fn publish_joined(&mut self) {
        let joined = self.composer.joined();
        if !joined.is_empty() {
            self.log.publish(joined, &[]);
            self.composer.part();
        }
    }

    /// Publishes the last of so many changes, which have been joined and added to the history, and counts them all.
    fn end_run(&mut self, now: Instant, count: usize, cost: usize, is_kept: bool) {
        self.publish_joined();
        self.count_sent(count, cost);
        self.keep_run(count);
        if !is_kept {
            self.pass_kept(cost);
            return;
        }
        self.unreleased_len += cost;
        if self.keeps_last() {
            self.replace_plain();
        }
        if self.survey.has_reliable {
            self.heartbeat.arm(now);
        }
        if self.released < self.survey.acked {
            self.release();
        }
    }
}

/// Changes are joined up to so many bytes, so that readers can begin while others are written.
const MAX_JOINED_LEN: usize = 4 << 10;
