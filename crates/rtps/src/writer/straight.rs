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
        let Some(timestamp) = change.source_timestamp else {
            return (0, None);
        };
        if self.composer.head.set_time(timestamp).is_none() {
            return (0, None);
        }
        self.composer.part();
        let (mut written, mut failed) = (0, None);
        for sample in samples {
            let number = self.last.next();
            let Some(max_len) = self.straight_len(now, number, change) else {
                break;
            };
            match self.stage_straight(number, max_len, |buffer| payload(sample, buffer)) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
            let len = self.history.staged().len();
            let max_joined_len = self.log.max_len().unwrap_or_default().min(MAX_JOINED_LEN);
            if self.composer.joined_len(len) > max_joined_len {
                self.publish_joined();
            }
            self.composer.join(number, self.history.staged());
            self.keep_straight(now, number, timestamp, len);
            written += 1;
            if self.is_to_ask() {
                break;
            }
        }
        self.publish_joined();
        (written, failed)
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

    /// Adds what was joined to the log.
    fn publish_joined(&mut self) {
        let joined = self.composer.joined();
        if !joined.is_empty() {
            self.log.publish(joined, &[]);
            self.composer.part();
        }
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
        self.count_sent(cost(len));
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

/// Changes are joined up to so many bytes, so that readers can begin while others are written.
const MAX_JOINED_LEN: usize = 4 << 10;
