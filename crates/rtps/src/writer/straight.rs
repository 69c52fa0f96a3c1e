//! The shortest ways of plain changes in a stream: from the history to the log that all readers follow, without an outbox;
//! and several at once in messages that they share, to that log or to an outbox.

use alloc::vec::Vec;
use core::ops::DerefMut;

use tickwire_base::{Instant, Timestamp};

use super::send::everybody;
use super::{Log, WARY_FOR, Writer, cost};
use crate::change::Change;
use crate::outbox::Outbox;
use crate::tail::MAX_PLAIN_LEN;
use crate::wire::{PlainSample, SequenceNumber};

impl<L: Log> Writer<L> {
    /// Whether plain changes go straight to the log, as far as can be told without looking at one.
    #[inline]
    pub fn goes_straight(&self) -> bool {
        let has_log = self.destinations.are_log && self.log.max_len().is_some();
        self.flows && has_log && self.wary_for == 0
    }

    /// The longest payload of a change with that number, the next, that goes straight to the log; `None` if it does not,
    /// whatever its length.
    #[inline(always)]
    fn straight_len(&self, now: Instant, number: SequenceNumber, change: &Change) -> Option<usize> {
        let max_len = self.log.max_len().filter(|_| self.destinations.are_log)?;
        let flows = self.flows(number, change) && self.wary_for == 0 && self.has_room();
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
        let Some(sample) = PlainSample::new(number, timestamp) else {
            return Ok(None);
        };
        if !self.stage_straight(number, max_len, payload)? {
            return Ok(None);
        }
        let payload = self.history.staged();
        let len = payload.len();
        self.log.publish_plain(sample, payload);
        self.keep_straight(now, number, timestamp, len);
        Ok(Some(number))
    }

    /// The same of changes that differ from `change` in what `payload` makes of each of `samples` alone, one after the
    /// other as far as they go straight, or readers are to be asked. How many do, and the error of the one behind these,
    /// if it has one: then that is not written.
    #[inline(always)]
    pub fn log_run<S, E>(
        &mut self,
        now: Instant,
        change: &Change,
        samples: &[S],
        payload: impl Fn(&S, &mut Vec<u8>) -> Result<(), E>,
    ) -> (usize, Option<E>) {
        let Some(max_len) = self.straight_len(now, self.last.next(), change) else {
            return (0, None);
        };
        let Some(mut run) = Run::begin(self, now, change, None) else {
            return (0, None);
        };
        let failed = run.add_all(max_len, samples, payload);
        (run.end(), failed)
    }

    /// The same of changes that go by datagrams, as far as they are plain, there is room, and one datagram takes them, of
    /// `max_datagram_len` bytes at most. It is laid into the outbox, or to where `company` says, which is asked once they
    /// are serialized: a place behind what waits. What that gives is dropped before this returns.
    #[inline(always)]
    pub fn datagram_run<S, E, O: DerefMut<Target = Outbox>>(
        &mut self,
        now: Instant,
        change: &Change,
        samples: &[S],
        payload: impl Fn(&S, &mut Vec<u8>) -> Result<(), E>,
        (outbox, max_datagram_len): (&mut Outbox, usize),
        company: impl FnOnce() -> Option<O>,
    ) -> (usize, Option<E>) {
        if !self.flows_by_datagrams() || self.is_greeting(now) || self.goes_by_log(outbox) {
            return (0, None);
        }
        if !self.flows(self.last.next(), change) || !self.has_room() {
            return (0, None);
        }
        let max_len = MAX_PLAIN_LEN.min(self.whole_len);
        let Some(mut run) = Run::begin(self, now, change, Some((outbox, max_datagram_len))) else {
            return (0, None);
        };
        let failed = run.add_all(max_len, samples, payload);
        let count = match run.count {
            0 => 0,
            _ => run.end_in(company().as_deref_mut()),
        };
        (count, failed)
    }

    /// Whether plain changes go by datagrams, as far as can be told without looking at one.
    #[inline]
    pub fn flows_by_datagrams(&self) -> bool {
        self.flows && self.wary_for == 0 && !self.destinations.all.is_empty()
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
            if len > MAX_PLAIN_LEN {
                self.wary_for = WARY_FOR;
            }
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
            self.end_straight(now);
        }
    }

    /// Some of what was kept went straight to the log.
    #[inline(always)]
    fn end_straight(&mut self, now: Instant) {
        if self.survey.has_reliable {
            self.heartbeat.arm(now);
        }
        // Else when they have been asked, which is decided by the window that there was.
        if self.released < self.survey.acked && !self.is_to_ask() {
            self.release();
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
            if self.released < self.survey.acked {
                self.release();
            }
        }
    }
}

/// Plain changes that follow each other. What they have in common is seen to once, at the [end](Self::end), or when this
/// is dropped as serializing one panics.
struct Run<'w, L: Log> {
    writer: &'w mut Writer<L>,
    now: Instant,
    timestamp: Timestamp,
    /// Where they go in one datagram; to the log if that is nothing.
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
    /// There is room for one. `None` if its time cannot be told.
    #[inline(always)]
    fn begin(
        writer: &'w mut Writer<L>,
        now: Instant,
        change: &Change,
        datagram: Option<(&'w mut Outbox, usize)>,
    ) -> Option<Self> {
        let timestamp = change.source_timestamp?;
        writer.composer.head.set_time(timestamp)?;
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
        let (outbox, max_joined_len) = match datagram {
            Some((outbox, max_len)) => {
                let max_len = max_len.min(writer.composer.max_message_len());
                (Some(outbox), max_len.min(MAX_DATAGRAM_LEN))
            }
            None => {
                let max_len = writer.log.max_len().unwrap_or_default();
                (None, max_len.min(MAX_RECORD_LEN))
            }
        };
        writer.composer.part();
        Some(Self {
            now,
            timestamp,
            number: writer.last.next(),
            count: 0,
            cost: 0,
            max_cost,
            max_joined_len,
            is_kept,
            writer,
            outbox,
        })
    }

    /// Adds changes up to the first that is too long, has an error, which is returned, or comes when enough have.
    #[inline(always)]
    fn add_all<S, E>(
        &mut self,
        max_len: usize,
        samples: &[S],
        payload: impl Fn(&S, &mut Vec<u8>) -> Result<(), E>,
    ) -> Option<E> {
        for sample in samples {
            match self.add(max_len, |buffer| payload(sample, buffer)) {
                Ok(true) if self.cost < self.max_cost => {}
                Ok(_) => break,
                Err(error) => return Some(error),
            }
        }
        None
    }

    /// Adds a change. False, and nothing happens, if it is too long.
    #[inline(always)]
    fn add<E>(
        &mut self,
        max_len: usize,
        payload: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<bool, E> {
        let writer = &mut *self.writer;
        if !writer.stage_straight(self.number, max_len, payload)? {
            return Ok(false);
        }
        let len = writer.history.staged().len();
        if writer.composer.joined_len(len) > self.max_joined_len && self.count > 0 {
            if self.outbox.is_some() {
                writer.history.forget_staged();
                return Ok(false);
            }
            writer.publish_joined();
        }
        writer.composer.join(self.number, writer.history.staged());
        match self.is_kept {
            true => writer.history.push_plain(self.timestamp),
            false => {
                writer.history.pass_plain();
                writer.window.acknowledged(cost(len));
            }
        }
        self.number = self.number.next();
        self.count += 1;
        self.cost += cost(len);
        Ok(true)
    }

    /// Publishes the last of the changes, and counts them all; how many there are.
    #[inline]
    fn end(&mut self) -> usize {
        self.end_in(None)
    }

    /// The same, where those of a datagram go into that outbox, if there is one.
    #[inline]
    fn end_in(&mut self, place: Option<&mut Outbox>) -> usize {
        let count = core::mem::take(&mut self.count);
        if count > 0 {
            let own = self.outbox.as_deref_mut();
            let outbox = place.or(own);
            let run = (count, self.cost, self.is_kept);
            self.writer.end_run(self.now, run, outbox);
        }
        count
    }
}

impl<L: Log> Drop for Run<'_, L> {
    #[inline]
    fn drop(&mut self) {
        self.end();
    }
}

impl<L: Log> Writer<L> {
    /// Adds what was joined to the log.
    fn publish_joined(&mut self) {
        self.log.publish(self.composer.joined(), &[]);
        self.composer.part();
    }

    /// Publishes what was joined last, by the outbox if there is one and else by the log, and counts so many changes of
    /// that cost.
    fn end_run(
        &mut self,
        now: Instant,
        (count, cost, is_kept): (usize, usize, bool),
        outbox: Option<&mut Outbox>,
    ) {
        let outbox = match outbox {
            Some(outbox) => {
                let target = everybody(&self.destinations.all);
                self.composer.lay_joined(target, outbox);
                self.composer.part();
                Some(outbox)
            }
            None => {
                self.publish_joined();
                None
            }
        };
        self.count_sent(count, cost);
        self.keep_run(count);
        if !is_kept {
            self.released = self.last;
            return;
        }
        self.unreleased_len += cost;
        if self.keeps_last() {
            self.replace_plain();
        }
        let Some(outbox) = outbox else {
            return self.end_straight(now);
        };
        self.after_change(now, false, outbox);
        if self.released < self.survey.acked {
            self.release();
        }
    }
}

/// Changes are joined in records up to so many bytes, so that readers can begin while others are written.
const MAX_RECORD_LEN: usize = 4 << 10;
/// And in datagrams up to so many, so that not many wait for those behind them.
const MAX_DATAGRAM_LEN: usize = 16 << 10;
