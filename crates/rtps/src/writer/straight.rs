//! The shortest ways of plain changes in a stream: from the history to the log that all readers follow, without an outbox;
//! and several at once in messages that they share, to that log or to an outbox.

use alloc::vec::Vec;

use tickwire_base::{Instant, Timestamp};

use super::send::everybody;
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
        let max_len = MAX_PLAIN_LEN.min(self.composer.whole_len(max_len));
        (flows && !self.is_greeting(now)).then_some(max_len)
    }

    /// Whether a heartbeat goes with each change, as readers are new.
    #[inline]
    fn is_greeting(&self, now: Instant) -> bool {
        self.survey.has_reliable && now < self.survey.new_until
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
        match self.straight_len(now, self.last.next(), change) {
            Some(max_len) => self.add_run((now, None), change, max_len, samples, payload),
            None => (0, None),
        }
    }

    /// The same of changes that go by datagrams, as far as they are plain and there is room.
    #[inline(always)]
    pub fn flow_run<S, E>(
        &mut self,
        now: Instant,
        change: &Change,
        samples: &[S],
        payload: impl Fn(&S, &mut Vec<u8>) -> Result<(), E>,
        outbox: &mut Outbox,
    ) -> (usize, Option<E>) {
        let flows = self.flows(self.last.next(), change) && !self.has_long && self.has_room();
        let goes_nowhere = self.destinations.all.is_empty();
        if !flows || goes_nowhere || self.is_greeting(now) || self.goes_by_log(outbox) {
            return (0, None);
        }
        let max_len = MAX_PLAIN_LEN.min(self.whole_len);
        self.add_run((now, Some(outbox)), change, max_len, samples, payload)
    }

    /// Adds changes whose payloads are no longer than that, in the outbox if there is one, and else in the log.
    #[inline(always)]
    fn add_run<S, E>(
        &mut self,
        (now, outbox): (Instant, Option<&mut Outbox>),
        change: &Change,
        max_len: usize,
        samples: &[S],
        payload: impl Fn(&S, &mut Vec<u8>) -> Result<(), E>,
    ) -> (usize, Option<E>) {
        let Some(timestamp) = change.source_timestamp else {
            return (0, None);
        };
        if self.composer.head.set_time(timestamp).is_none() {
            return (0, None);
        }
        let mut run = Run::begin(self, now, outbox);
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

/// Plain changes that follow each other. What they have in common is seen to once, when this is dropped, be it that
/// serializing one panics.
struct Run<'w, L: Log> {
    writer: &'w mut Writer<L>,
    now: Instant,
    /// Where they go; to the log if that is nothing.
    outbox: Option<&'w mut Outbox>,
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
    /// There is room for one.
    #[inline(always)]
    fn begin(writer: &'w mut Writer<L>, now: Instant, outbox: Option<&'w mut Outbox>) -> Self {
        let has_reliable = writer.survey.has_reliable;
        let window_len = writer.window.len();
        let room = match writer.keeps_last() {
            true => usize::MAX,
            false => window_len.saturating_sub(writer.unreleased_len),
        };
        let unasked = match has_reliable {
            true => (window_len / 4).saturating_sub(writer.unasked_len),
            false => usize::MAX,
        };
        // What has been acknowledged is let go of behind the first change, which may widen the window.
        let is_kept = has_reliable || writer.released != writer.last;
        let max_cost = match is_kept && writer.released < writer.survey.acked {
            true => 0,
            false => room.min(unasked),
        };
        let max_len = match outbox {
            Some(_) => writer.composer.max_message_len(),
            None => writer.log.max_len().unwrap_or_default(),
        };
        writer.composer.part();
        Self {
            now,
            number: writer.last.next(),
            count: 0,
            cost: 0,
            max_cost,
            max_joined_len: max_len.min(MAX_JOINED_LEN),
            is_kept,
            writer,
            outbox,
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
            writer.publish_joined(self.outbox.as_deref_mut());
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
            self.end();
        }
    }
}

impl<L: Log> Run<'_, L> {
    /// Publishes the last of the changes, of which there are some, and counts them all.
    fn end(&mut self) {
        let (writer, now, mut outbox) = (&mut *self.writer, self.now, self.outbox.as_deref_mut());
        writer.publish_joined(outbox.as_deref_mut());
        writer.count_sent(self.count, self.cost);
        writer.keep_run(self.count);
        if !self.is_kept {
            return writer.pass_kept(self.cost);
        }
        writer.unreleased_len += self.cost;
        if writer.keeps_last() {
            writer.replace_plain();
        }
        match outbox {
            Some(outbox) => writer.after_change(now, false, outbox),
            None if writer.survey.has_reliable => writer.heartbeat.arm(now),
            None => {}
        }
        if writer.released < writer.survey.acked {
            writer.release();
        }
    }
}

impl<L: Log> Writer<L> {
    /// Sends what was joined: by the outbox, if there is one, or else by the log.
    fn publish_joined(&mut self, outbox: Option<&mut Outbox>) {
        match outbox {
            Some(outbox) => self
                .composer
                .lay_joined(everybody(&self.destinations.all), outbox),
            None if self.composer.joined().is_empty() => {}
            None => self.log.publish(self.composer.joined(), &[]),
        }
        self.composer.part();
    }
}

/// Changes are joined up to so many bytes, so that readers can begin while others are written.
const MAX_JOINED_LEN: usize = 4 << 10;
