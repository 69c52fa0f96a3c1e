//! The short way of plain changes in a stream: while all of them are kept until they are acknowledged, or so many have
//! followed, and go to the same places, nothing has to be found out for each.

use tickwire_base::{Duration, Instant, Timestamp};

use super::send::everybody;
use super::{Log, ResourceLimits, Writer, cost};
use crate::change::Change;
use crate::outbox::Outbox;
use crate::tail::MAX_PLAIN_LEN;
use crate::wire::{PlainSample, SequenceNumber};

impl<L: Log> Writer<L> {
    /// Finds out whether plain changes flow. To be called when anything has changed that this depends on.
    pub(super) fn look_whether_it_flows(&mut self) {
        let config = &self.config;
        let keeps_until_acknowledged = config.limits == ResourceLimits::NONE
            && config.service.is_none()
            && !config.transient_local
            && !config.presents;
        let nothing_expires =
            config.lifespan == Duration::MAX && self.history.next_expiry().is_none();
        let destinations = &self.destinations;
        let have_one_way =
            !destinations.are_stale && !destinations.filters && !destinations.become_log;
        self.flows = keeps_until_acknowledged && nothing_expires && have_one_way;
        self.whole_len = self.whole_len(false);
    }

    /// Whether a change with that number, the next, can take the short way, unless it is too long.
    #[inline(always)]
    pub(super) fn flows(&self, number: SequenceNumber, change: &Change) -> bool {
        self.flows && self.cursor.number == number && change.is_plain()
    }

    /// Gives the change that number, the next, whose payload is staged in the history, keeps it and sends it. False if
    /// it asks for more; then nothing has happened.
    #[inline(always)]
    pub(super) fn flow(
        &mut self,
        now: Instant,
        number: SequenceNumber,
        change: &Change,
        outbox: &mut Outbox,
    ) -> bool {
        let payload = self.history.staged();
        let len = payload.len();
        let log_len = self.log.max_len();
        let log_len = log_len.filter(|_| self.destinations.are_log && !outbox.gathers());
        let whole_len = match log_len {
            Some(max_len) => self.composer.whole_len(max_len),
            None => self.whole_len,
        };
        let Some(timestamp) = change.source_timestamp else {
            return false;
        };
        if len == 0 || len > MAX_PLAIN_LEN.min(whole_len) {
            return false;
        }
        let target = everybody(&self.destinations.all);
        if !target.locators.is_empty() {
            let is_sent = match log_len {
                Some(_) => {
                    let sample = PlainSample::new(number, timestamp);
                    sample.map(|sample| self.log.publish_plain(sample, payload))
                }
                None => {
                    let composer = &mut self.composer;
                    composer.plain(timestamp, number, payload, target, outbox)
                }
            };
            if is_sent.is_none() {
                return false;
            }
            self.count_sent(1, cost(len));
        }
        if self.keep_plain(number, timestamp, len) {
            self.after_change(now, false, outbox);
            // It has been sent, as all before it.
            if self.released < self.survey.acked {
                self.release();
            }
        }
        true
    }

    /// Keeps the next change, which has been sent and whose payload is staged. False if nobody acknowledges it, nor
    /// anything before it.
    #[inline(always)]
    pub(super) fn keep_plain(
        &mut self,
        number: SequenceNumber,
        timestamp: Timestamp,
        len: usize,
    ) -> bool {
        let is_kept = self.survey.has_reliable || self.released != self.last;
        debug_assert_eq!(number, self.last.next(), "the next");
        self.keep_run(1);
        if !is_kept {
            self.history.pass_plain();
            self.released = self.last;
            self.window.acknowledged(cost(len));
            return false;
        }
        self.unreleased_len += cost(len);
        self.history.push_plain(timestamp);
        if self.keeps_last() {
            self.replace_plain();
        }
        true
    }

    /// So many changes have been written and sent, and nothing is left to send.
    #[inline(always)]
    pub(super) fn keep_run(&mut self, count: usize) {
        let last = self.last.0.saturating_add_unsigned(count as u64);
        self.last = SequenceNumber(last);
        self.counters.written += count as u64;
        self.cursor.number = self.last.next();
    }

    /// Removes what the changes that have just been kept replace under KEEP_LAST.
    pub(super) fn replace_plain(&mut self) {
        if !self.history.is_plain() {
            return self.trim(None);
        }
        let depth = self.history_depth();
        while let Some((number, len)) = self.history.remove_plain_beyond(depth) {
            self.unreleased_len = self.unreleased_len.saturating_sub(cost(len));
            self.counters.removed_before_ack += u64::from(number > self.survey.acked);
        }
    }
}
