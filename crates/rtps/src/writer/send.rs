//! Sending of new changes and heartbeats, and where to.

use alloc::collections::BTreeMap;

use tickwire_base::{Duration, Instant, Locator};

use super::compose::Target;
use super::reader_proxy::{MatchedReader, ReaderProxy};
use super::{Cursor, Writer, cost};
use crate::outbox::Outbox;
use crate::wire::{EntityId, Guid, GuidPrefix, Heartbeat, SequenceNumber};

impl Writer {
    /// Sends what has not been sent yet, in order. Whole samples go at once; fragments as far as the
    /// burst allows, and what comes after them waits.
    pub(super) fn send_new(&mut self, now: Instant, outbox: &mut Outbox) {
        while self.cursor.number <= self.last {
            let Some((len, key, is_end)) = self
                .history
                .get(self.cursor.number)
                .map(|change| (change.payload.len(), change.change.key_hash, change.is_end))
            else {
                self.cursor = Cursor::at(self.cursor.number.next());
                continue;
            };
            self.choose_destinations(outbox);
            if !self.destinations.of_change().is_empty() {
                if !self.send_change(now, len, outbox) {
                    break;
                }
                self.counters.sent += 1;
                self.unasked_len = self.unasked_len.saturating_add(cost(len));
            }
            self.cursor = Cursor::at(self.cursor.number.next());
            if !is_end {
                self.trim(key);
            }
            self.after_change(now, len, outbox);
        }
        self.release();
    }

    /// Sends the change under the cursor, or as many of its fragments as may go now; false if some
    /// are left.
    fn send_change(&mut self, now: Instant, len: usize, outbox: &mut Outbox) -> bool {
        let Some(change) = self.history.get(self.cursor.number) else {
            return true;
        };
        let target = everybody(self.destinations.of_change());
        let count = self.composer.fragment_count(len);
        if count == 1 {
            self.composer.data(change, target, outbox);
            return true;
        }
        let reliable = self.readers.iter().any(|reader| reader.proxy.reliable);
        let start = self.cursor.fragment;
        while self.cursor.fragment <= count {
            if !self.pacer.take(now, self.composer.full_fragment_len()) {
                if reliable && self.cursor.fragment > start {
                    // Lets readers ask for what got lost before the rest has been sent.
                    let last = self.cursor.fragment - 1;
                    self.composer
                        .heartbeat_frag(self.cursor.number, last, target, outbox);
                }
                return false;
            }
            self.composer
                .fragment(change, self.cursor.fragment, target, outbox);
            self.cursor.fragment += 1;
            self.counters.fragments_sent += 1;
        }
        true
    }

    /// Adds a heartbeat to the change just sent where that spares waiting for the timer: for new
    /// readers that were never heard, at every quarter of the unacknowledged bytes allowed, and after
    /// fragments, whose loss shows in nothing else.
    fn after_change(&mut self, now: Instant, len: usize, outbox: &mut Outbox) {
        let mut reliable = self.readers.iter().filter(|reader| reader.proxy.reliable);
        if reliable.clone().next().is_none() {
            return;
        }
        self.heartbeat.arm(now);
        if self.composer.fragment_count(len) > 1
            || self.unasked_len >= self.window.len() / 4
            || reliable.any(|reader| reader.is_new(now))
        {
            self.send_heartbeat_to_all(false, false, outbox);
        }
    }

    /// Tells a reader what there is: a GAP over what is none of its business and a heartbeat.
    pub(super) fn introduce(&mut self, index: usize, is_final: bool, outbox: &mut Outbox) {
        let heartbeat = self.next_heartbeat(is_final, false);
        let Some(reader) = self.readers.get_mut(index) else {
            return;
        };
        let target = Target {
            locators: reader.proxy.introduction_locators(),
            ..target_of(&reader.proxy)
        };
        if reader.first_relevant > SequenceNumber::FIRST {
            let first = SequenceNumber::FIRST;
            self.composer
                .gap(first, reader.first_relevant, target, outbox);
            reader.gaps += 1;
            self.counters.gaps += 1;
        }
        self.composer.heartbeat(heartbeat, target, outbox);
    }

    /// The timer's heartbeats, to those whose turn it is of the readers that lag.
    pub(super) fn beat(&mut self, now: Instant, outbox: &mut Outbox) {
        let sent = self.sent();
        let is_round = self.heartbeat.begin(now);
        let mut reminded = 0;
        for reader in self.readers.iter_mut() {
            let patience = match reader.is_unsettled() {
                true => self.crowd.patience(now, reader.met_at),
                false => Duration::ZERO,
            };
            reader.is_due = reader.lags(sent)
                && self
                    .heartbeat
                    .take_turn(now, is_round, &mut reader.turn, patience);
            reminded += usize::from(reader.is_due && reader.introduced);
        }
        // Together if that spares datagrams and at least every second reader is among them, as each
        // that hears it answers.
        let together = reminded > 1 && reminded * 2 >= self.readers.len() && {
            self.find_destinations();
            reminded > self.destinations.all.len()
        };
        if together {
            self.send_heartbeat_to_all(false, false, outbox);
        }
        for index in 0..self.readers.len() {
            match (self.readers[index].is_due, self.readers[index].introduced) {
                (true, false) => self.introduce(index, false, outbox),
                (true, true) if !together => self.send_heartbeat(index, false, outbox),
                _ => {}
            }
        }
    }

    /// Asks the readers that lag to acknowledge now instead of when the next heartbeat is due: for
    /// those who wait for acknowledgements. Refused writes do so themselves. Asks again only after a
    /// twentieth of the heartbeat period.
    pub fn ask_acknowledgement(&mut self, now: Instant, outbox: &mut Outbox) {
        let interval = self.config.heartbeat_period / 20;
        let sent = self.sent();
        if !self.readers.iter().any(|reader| reader.lags(sent)) {
            return;
        }
        if self.asked_at.is_some_and(|at| now.since(at) < interval) {
            return;
        }
        self.asked_at = Some(now);
        self.heartbeat.hasten(now);
        for reader in self.readers.iter_mut().filter(|reader| reader.lags(sent)) {
            reader.turn = self.heartbeat.hasty_round();
        }
        self.send_heartbeat_to_all(false, false, outbox);
    }

    /// Asks a reader that is not matched for an acknowledgement (RTPS 2.5 §8.3.8.6): whoever knows
    /// this writer has to answer, by which it shows that it hears. Takes
    /// [`PROBE_LEN`](Self::PROBE_LEN) bytes for each locator.
    pub fn probe(&mut self, reader: Guid, to: &[Locator], outbox: &mut Outbox) {
        let heartbeat = self.next_heartbeat(false, false);
        let target = Target {
            prefix: reader.prefix,
            reader: reader.entity,
            locators: to,
        };
        self.composer.heartbeat(heartbeat, target, outbox);
    }

    /// A header, INFO_DST and a HEARTBEAT.
    pub const PROBE_LEN: usize = 20 + 16 + 32;

    pub(super) fn send_heartbeat(&mut self, index: usize, is_final: bool, outbox: &mut Outbox) {
        let heartbeat = self.next_heartbeat(is_final, false);
        let Some(reader) = self.readers.get(index) else {
            return;
        };
        self.composer
            .heartbeat(heartbeat, target_of(&reader.proxy), outbox);
    }

    pub(super) fn send_heartbeat_to_all(
        &mut self,
        is_final: bool,
        liveliness: bool,
        outbox: &mut Outbox,
    ) {
        self.find_destinations();
        if self.destinations.all.is_empty() {
            return;
        }
        let heartbeat = self.next_heartbeat(is_final, liveliness);
        if !is_final {
            self.unasked_len = 0;
        }
        self.composer
            .heartbeat(heartbeat, everybody(&self.destinations.all), outbox);
    }

    /// What can be asked for now. Changes that are still being sent are not announced, lest readers
    /// ask for what is on its way.
    fn next_heartbeat(&mut self, is_final: bool, liveliness: bool) -> Heartbeat {
        self.heartbeat_count = self.heartbeat_count.wrapping_add(1);
        self.counters.heartbeats += 1;
        let last = self.sent();
        let first = self.history.first().unwrap_or(last.next());
        Heartbeat {
            reader: EntityId::UNKNOWN,
            writer: self.config.guid.entity,
            first: first.min(last.next()),
            last,
            count: self.heartbeat_count,
            is_final,
            liveliness,
        }
    }

    pub(super) fn has_backlog(&self) -> bool {
        self.cursor.number <= self.last || self.has_repairs
    }

    /// Readers have come, gone or moved: where changes go is found out when one is sent, lest many
    /// who come at once have it found out as often.
    pub(super) fn readers_changed(&mut self) {
        self.composer.key_hash = self.config.key_hash_with_data
            || self
                .readers
                .iter()
                .any(|reader| reader.proxy.expects_inline_qos);
        self.destinations.are_stale = true;
    }

    /// Chooses where new changes go, unless that is known: to the group that most readers share, if
    /// two do, and alone to the others.
    pub(super) fn find_destinations(&mut self) {
        if !core::mem::take(&mut self.destinations.are_stale) {
            return;
        }
        let group = self.shared_group();
        let listens = |reader: &MatchedReader| {
            group.is_some_and(|group| reader.proxy.multicast.contains(&group))
        };
        self.destinations.reset(&self.readers);
        let all = &mut self.destinations.all;
        all.extend(group);
        let alone = self.readers.iter().filter(|reader| !listens(reader));
        all.extend(alone.flat_map(|reader| reader.proxy.locators()));
        all.sort_unstable();
        all.dedup();
    }

    /// The group with most listeners, if it spares a datagram.
    fn shared_group(&self) -> Option<Locator> {
        let mut listeners = BTreeMap::new();
        for group in self
            .readers
            .iter()
            .flat_map(|reader| &reader.proxy.multicast)
        {
            *listeners.entry(group).or_insert(0_usize) += 1;
        }
        let most = listeners.into_iter().max_by_key(|&(_, count)| count);
        most.filter(|&(_, count)| count >= 2)
            .map(|(group, _)| *group)
    }
}

fn everybody(locators: &[Locator]) -> Target<'_> {
    Target {
        prefix: GuidPrefix::UNKNOWN,
        reader: EntityId::UNKNOWN,
        locators,
    }
}

pub(super) fn target_of(proxy: &ReaderProxy) -> Target<'_> {
    Target {
        prefix: proxy.guid.prefix,
        reader: proxy.guid.entity,
        locators: proxy.locators(),
    }
}
