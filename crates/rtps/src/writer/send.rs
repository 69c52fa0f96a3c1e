//! Sending of new changes and heartbeats, and where to.

use alloc::collections::BTreeMap;

use tickwire_base::{Duration, Instant, Locator};

use super::compose::Target;
use super::reader_proxy::{MatchedReader, ReaderProxy, Survey};
use super::{Cursor, Log, Writer, cost};
use crate::outbox::Outbox;
use crate::wire::{EntityId, Guid, GuidPrefix, Heartbeat, SequenceNumber};

impl<L: Log> Writer<L> {
    /// Sends what has not been sent yet, in order. Whole samples go at once; fragments as far as the
    /// burst allows, and what comes after them waits.
    pub(super) fn send_new(&mut self, now: Instant, outbox: &mut Outbox) {
        while self.cursor.number <= self.last {
            self.choose_destinations(outbox);
            let Some(change) = self.history.get(self.cursor.number) else {
                self.cursor = Cursor::at(self.cursor.number.next());
                continue;
            };
            let (len, is_end) = (change.payload.len(), change.is_end());
            let cost = cost(change.payload.counted_len());
            let is_bounded = !is_end && self.depth() < usize::MAX;
            let bounded = is_bounded.then_some(change.key_hash());
            let target = everybody(self.destinations.of_change());
            let mut is_cut = false;
            if !target.locators.is_empty() {
                let by_log = self.goes_by_log(outbox);
                let is_whole = self.cursor.fragment == 1
                    && (len <= self.whole_len(by_log) || by_log && self.composer.is_ready(change));
                is_cut = !is_whole;
                if is_whole && by_log {
                    self.composer.record(change, &mut self.log);
                } else if is_whole {
                    self.composer.data(change, target, outbox);
                } else if !self.send_fragments_of_change(now, len, outbox) {
                    break;
                }
                self.count_sent(1, cost);
            }
            if !is_end {
                self.unsent_len = self.unsent_len.saturating_sub(cost);
            }
            self.cursor = Cursor::at(self.cursor.number.next());
            if let Some(key) = bounded {
                self.trim(key);
            }
            self.after_change(now, is_cut, outbox);
        }
        if self.released < self.acknowledged() {
            self.release();
        }
    }

    /// So many changes have been sent whole.
    #[inline(always)]
    pub(super) fn count_sent(&mut self, count: usize, cost: usize) {
        self.counters.sent += count as u64;
        if self.destinations.has_group() {
            self.counters.sent_by_group += count as u64;
        }
        self.unasked_len = self.unasked_len.saturating_add(cost);
    }

    /// Whether new changes go straight to the log instead of into the outbox.
    #[inline]
    pub(super) fn goes_by_log(&self, outbox: &Outbox) -> bool {
        self.destinations.are_log && !outbox.gathers() && self.log.max_len().is_some()
    }

    /// The longest payload that goes in one piece.
    #[inline]
    pub(super) fn whole_len(&self, by_log: bool) -> usize {
        match self.log.max_len().filter(|_| by_log) {
            Some(max_len) => self.composer.whole_len(max_len),
            None if self.destinations.are_streams => {
                let max_len = self.config.max_stream_message_len;
                self.composer
                    .whole_len(max_len)
                    .max(self.composer.fragment_len())
            }
            None => self.composer.fragment_len(),
        }
    }

    /// The fragments from the cursor on, as far as they may go now; false if some are left. Readers are
    /// told now and then how far that is, lest they learn of a loss, and the writer of what has come, only
    /// after the last.
    fn send_fragments_of_change(&mut self, now: Instant, len: usize, outbox: &mut Outbox) -> bool {
        let count = self.composer.fragment_count(len);
        let by_log = self.goes_by_log(outbox);
        let reliable = self.survey.has_reliable;
        while self.cursor.fragment <= count {
            let is_admitted = self.admits_fragment(now, reliable, by_log);
            let is_time = self.cursor.unasked_len >= (self.window.len() / 4).max(MIN_ASKED_LEN);
            let target = everybody(self.destinations.of_change());
            if reliable && self.cursor.unasked_len > 0 && (is_time || !is_admitted) {
                self.cursor.unasked_len = 0;
                let last = self.cursor.fragment - 1;
                self.composer
                    .heartbeat_frag(self.cursor.number, last, target, outbox);
            }
            if !is_admitted {
                return false;
            }
            let fragment = self.cursor.fragment;
            if let Some(change) = self.history.get(self.cursor.number) {
                match by_log {
                    true => self
                        .composer
                        .fragment_record(change, fragment, &mut self.log),
                    false => self.composer.fragment(change, fragment, target, outbox),
                }
            }
            self.cursor.fragment += 1;
            self.cursor.unasked_len += self.composer.full_fragment_len();
            self.counters.fragments_sent += 1;
        }
        true
    }

    /// Adds a heartbeat to the change just sent where that spares waiting for the timer: for new
    /// readers that were never heard, at every quarter of the unacknowledged bytes allowed, and after
    /// fragments, whose loss shows in nothing else. Where one such change follows the other, what comes
    /// after the last heartbeat waits for the next, or for the timer a little.
    #[inline(always)]
    pub(super) fn after_change(&mut self, now: Instant, is_cut: bool, outbox: &mut Outbox) {
        if !self.survey.has_reliable {
            return;
        }
        self.heartbeat.arm(now);
        let is_many = self.unasked_len >= self.window.len() / 4;
        if is_many || now < self.survey.new_until || is_cut && !self.told_soon_before(now) {
            self.told_at = Some(now);
            self.send_heartbeat_to_all(false, false, outbox);
        } else if is_cut {
            self.heartbeat.hasten(now);
        }
    }

    /// Whether a heartbeat has followed a change a moment ago.
    fn told_soon_before(&self, now: Instant) -> bool {
        let pause = self.config.heartbeat_period / FRAGMENTED_PER_PERIOD;
        self.told_at.is_some_and(|at| now.since(at) < pause)
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
        self.hear_log(now, usize::MAX);
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
        let mut readers = self.readers.iter();
        let expects_inline_qos = readers.any(|reader| reader.proxy.expects_inline_qos);
        self.composer.expects_inline_qos = expects_inline_qos;
        self.composer.key_hash = self.config.key_hash_with_data || expects_inline_qos;
        self.destinations.are_stale = true;
        self.look_whether_it_flows();
        self.survey = Survey::of(&self.readers);
    }

    /// Chooses where new changes go, unless that is known: to the group that most readers share, if
    /// two do, and alone to the others.
    pub(super) fn find_destinations(&mut self) {
        if !core::mem::take(&mut self.destinations.are_stale) {
            return;
        }
        let group = self.shared_group();
        let listens = |reader: &MatchedReader| {
            group.is_some_and(|group| reader.proxy.groups().contains(&group))
        };
        let had_others = !self.destinations.are_log && !self.destinations.all.is_empty();
        self.destinations.reset(&self.readers);
        let all = &mut self.destinations.all;
        all.extend(group);
        let alone = self.readers.iter().filter(|reader| !listens(reader));
        all.extend(alone.flat_map(|reader| reader.proxy.locators()));
        all.sort_unstable();
        all.dedup();
        self.destinations.sort_out();
        let EntityId(name) = self.config.guid.entity;
        // The end of a coherent set is laid down under the publisher's lock, and overtakes no change.
        let may_be_log = !self.destinations.filters && !self.config.presents;
        let is_log = may_be_log && self.destinations.all[..] == [Locator::log(name)];
        self.destinations.are_log = is_log && !had_others;
        self.destinations.become_log = is_log && had_others;
        self.look_whether_it_flows();
    }

    /// A change is in the outbox, with all before it: whoever sends that sends before it what waits for those who have
    /// left too, so that the next ones overtake nothing in the log.
    pub(super) fn begin_log(&mut self) {
        if self.cursor.number > self.last {
            self.destinations.are_log = true;
            self.destinations.become_log = false;
            self.look_whether_it_flows();
        }
    }

    /// The group with most listeners, if it spares a datagram and groups are used.
    fn shared_group(&self) -> Option<Locator> {
        if !self.config.multicast {
            return None;
        }
        let mut listeners = BTreeMap::new();
        for group in self.readers.iter().flat_map(|reader| reader.proxy.groups()) {
            *listeners.entry(group).or_insert(0_usize) += 1;
        }
        let most = listeners.into_iter().max_by_key(|&(_, count)| count);
        most.filter(|&(_, count)| count >= 2)
            .map(|(group, _)| *group)
    }
}

/// How many heartbeats that follow changes sent in fragments a heartbeat period has.
const FRAGMENTED_PER_PERIOD: u32 = 100;
/// It is not worth asking more often whether fragments have arrived.
const MIN_ASKED_LEN: usize = 4 << 10;

pub(super) fn everybody(locators: &[Locator]) -> Target<'_> {
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
