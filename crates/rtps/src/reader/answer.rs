//! What a reader says to writers: greetings, acknowledgements and requests.

use tickwire_base::Instant;

use super::Reader;
use super::writer_proxy::{Asked, Owed};
use crate::outbox::Outbox;
use crate::wire::{
    AckNack, FragmentNumberSet, NackFrag, SequenceNumber, SequenceNumberSet, VendorId,
};

impl Reader {
    /// Asks a writer for its first heartbeat, and again later: much later where many have matched a
    /// moment ago.
    ///
    /// Fast DDS answers if nothing is acknowledged from number 0 on, which is not a valid set (RTPS
    /// 2.5 §9.4.2.6). To what the others take it says nothing until its next period, 3 s by default.
    pub(super) fn greet(&mut self, now: Instant, index: usize, outbox: &mut Outbox) {
        let patience = self.patience_with(now, index);
        let Some(writer) = self.writers.get_mut(index) else {
            return;
        };
        let longest = self.config.greeting_interval * MAX_INTERVALS;
        writer.greeted_at = now;
        writer.greet_at = Some(now + writer.greeting_interval.max(patience));
        writer.greeting_interval = (writer.greeting_interval * 2).min(longest);
        let base = match writer.proxy.guid.prefix.vendor() {
            VendorId::EPROSIMA => SequenceNumber::ZERO,
            _ => SequenceNumber::FIRST,
        };
        let state = SequenceNumberSet::empty(base);
        self.acknack(index, state, false, outbox);
    }

    /// Acknowledges what has been delivered and asks for what lacks. Of samples that have come in
    /// part, only the missing fragments are asked for.
    pub(super) fn answer(&mut self, now: Instant, index: usize, outbox: &mut Outbox) {
        let patience = self.patience_with(now, index);
        let Some(writer) = self.writers.get_mut(index) else {
            return;
        };
        writer.answer_at = None;
        writer.owes_answer = false;
        let mut state = SequenceNumberSet::empty(writer.expected);
        let before = writer
            .asked
            .map_or(SequenceNumber::ZERO, |asked| asked.last);
        let mut asked: Option<Asked> = None;
        for hole in writer.reorder.holes(writer.expected, writer.announced) {
            let partial = writer.reassembly.contains(hole);
            if hole.0 - writer.expected.0 >= 256 || !partial && !state.insert(hole) {
                break;
            }
            asked = Some(Asked {
                last: hole,
                at: now,
                is_timed: asked.map_or(hole > before, |asked| asked.is_timed),
                has_come: false,
            });
        }
        writer.asked = asked;
        if asked.is_some() {
            // The writer may think that all is well and send no heartbeat to remind us.
            let longest = self.config.nack_interval * MAX_INTERVALS;
            writer.patience = (writer.patience * 2).min(longest);
            writer.answer_at = Some(now + writer.patience.max(patience));
        } else {
            writer.patience = writer.nack_interval(&self.config);
        }
        self.acknack(index, state, true, outbox);
        self.nack_fragments(index, outbox);
    }

    /// Acknowledges what a heartbeat or HEARTBEAT_FRAG has asked about that came before the changes, or fragments, that it
    /// tells of, now that these are there. To be called after anything but a heartbeat was handled. Asks for nothing: what
    /// lacks may be on its way.
    #[inline]
    pub fn answer_owed(&mut self, outbox: &mut Outbox) {
        if core::mem::take(&mut self.is_owing) {
            self.answer_all_owed(outbox);
        }
    }

    #[cold]
    fn answer_all_owed(&mut self, outbox: &mut Outbox) {
        for index in 0..self.writers.len() {
            let writer = &mut self.writers[index];
            match core::mem::take(&mut writer.owed) {
                Owed::Nothing => continue,
                Owed::Fragments(number) => {
                    let partial = writer.reassembly.get_mut(number);
                    let answered = partial.map(|partial| {
                        partial.owes_answer = false;
                        FragmentNumberSet::empty(partial.announced.saturating_add(1))
                    });
                    if let Some(set) = answered {
                        self.nack_frag(index, number, set, outbox);
                    }
                }
                Owed::Acknowledgement => {
                    writer.owes_answer = false;
                    if writer.first_hole().is_none() && writer.reassembly.len() == 0 {
                        writer.has_nothing_to_ask(&self.config);
                    }
                    let state = SequenceNumberSet::empty(self.writers[index].expected);
                    self.acknack(index, state, true, outbox);
                }
            }
            self.touched(index);
        }
    }

    fn acknack(
        &mut self,
        index: usize,
        state: SequenceNumberSet,
        is_final: bool,
        outbox: &mut Outbox,
    ) {
        let Some(writer) = self.writers.get_mut(index) else {
            return;
        };
        writer.acknack_count = writer.acknack_count.wrapping_add(1);
        self.counters.acknacks += 1;
        let (reader, guid) = (self.config.guid, writer.proxy.guid);
        outbox
            .append(
                reader.prefix,
                guid.prefix,
                &writer.proxy.unicast,
                ACKNACK_LEN,
                MAX_MESSAGE_LEN,
            )
            .acknack(&AckNack {
                reader: reader.entity,
                writer: guid.entity,
                state,
                count: writer.acknack_count,
                is_final,
            });
    }

    /// NACK_FRAG for each partial sample, within what one answer may ask for.
    fn nack_fragments(&mut self, index: usize, outbox: &mut Outbox) {
        let Some(writer) = self.writers.get(index) else {
            return;
        };
        let mut sets = [None; MAX_FRAGMENT_SETS];
        let mut places = sets.iter_mut();
        for partial in writer.reassembly.iter() {
            // What is not announced is still being sent.
            let last = match (partial.number <= writer.announced, partial.announced) {
                (true, _) => 0,
                (false, 0) => continue,
                (false, last) => last,
            };
            let mut from = 1;
            while let Some(state) = partial.missing(from, last)
                && let Some(place) = places.next()
            {
                from = state.base.saturating_add(256);
                *place = Some((partial.number, state));
            }
        }
        for (number, state) in sets.into_iter().flatten() {
            self.nack_frag(index, number, state, outbox);
        }
    }

    /// Asks a writer for fragments of a change. An empty set tells it that everything below its base is
    /// there, which only ours understand.
    pub(super) fn nack_frag(
        &mut self,
        index: usize,
        number: SequenceNumber,
        state: FragmentNumberSet,
        outbox: &mut Outbox,
    ) {
        let Some(writer) = self.writers.get_mut(index) else {
            return;
        };
        writer.nack_frag_count = writer.nack_frag_count.wrapping_add(1);
        self.counters.nack_frags += 1;
        let (reader, guid) = (self.config.guid, writer.proxy.guid);
        outbox
            .append(
                reader.prefix,
                guid.prefix,
                &writer.proxy.unicast,
                ACKNACK_LEN,
                MAX_MESSAGE_LEN,
            )
            .nack_frag(&NackFrag {
                reader: reader.entity,
                writer: guid.entity,
                sequence_number: number,
                state,
                count: writer.nack_frag_count,
            });
    }
}

/// Greetings and repeated requests become rarer up to this multiple of their interval.
const MAX_INTERVALS: u32 = 32;
/// Each is up to 256 fragments.
const MAX_FRAGMENT_SETS: usize = 4;
/// ACKNACK or NACK_FRAG with a full set.
const ACKNACK_LEN: usize = 72;
/// Answers fit an Ethernet frame.
const MAX_MESSAGE_LEN: usize = 1452;
