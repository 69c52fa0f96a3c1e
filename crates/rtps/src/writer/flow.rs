//! The short way of plain changes in a stream: while all of them are kept for the same time and go to the same
//! places, nothing has to be found out for each.

use tickwire_base::{Duration, Instant};

use super::send::everybody;
use super::{HistoryKind, Log, ResourceLimits, Writer, cost};
use crate::change::Change;
use crate::outbox::Outbox;
use crate::tail::MAX_PLAIN_LEN;

impl<L: Log> Writer<L> {
    /// Finds out whether plain changes flow. To be called when anything has changed that this depends on.
    pub(super) fn look_whether_it_flows(&mut self) {
        let config = &self.config;
        let keeps_until_acknowledged = config.history == HistoryKind::KeepAll
            && config.limits == ResourceLimits::NONE
            && config.service.is_none()
            && !config.transient_local
            && !config.presents;
        let nothing_expires =
            config.lifespan == Duration::MAX && self.history.next_expiry().is_none();
        let have_one_way = !self.destinations.are_stale && !self.destinations.filters;
        self.flows = keeps_until_acknowledged && nothing_expires && have_one_way;
    }

    /// Gives a change its number, keeps it and sends it. False if it, or what was written before, asks for more;
    /// then nothing has happened.
    #[inline(always)]
    pub(super) fn flow(
        &mut self,
        now: Instant,
        change: &Change,
        payload: &[u8],
        outbox: &mut Outbox,
    ) -> bool {
        if self.destinations.are_stale {
            self.find_destinations();
        }
        let (number, len) = (self.last.next(), payload.len());
        let flows = self.flows && self.cursor.number == number;
        if !flows || !change.is_plain() || !(1..=MAX_PLAIN_LEN).contains(&len) {
            return false;
        }
        let by_log = self.goes_by_log(outbox);
        let Some(timestamp) = change.source_timestamp else {
            return false;
        };
        if len > self.whole_len(by_log) {
            return false;
        }
        let Some(head) = self.composer.head(timestamp, number, len) else {
            return false;
        };
        self.last = number;
        self.counters.written += 1;
        let target = everybody(&self.destinations.all);
        if !target.locators.is_empty() {
            match by_log {
                true => self.log.publish(&head, payload),
                false => self.composer.sample(&head, payload, target, outbox),
            }
            self.count_sent(cost(len));
        }
        self.cursor.number = number.next();
        self.unreleased_len += cost(len);
        self.history.push_plain(number, timestamp, payload);
        self.after_change(now, false, outbox);
        if self.released < self.acknowledged() {
            self.release();
        }
        true
    }
}
