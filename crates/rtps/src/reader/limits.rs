//! What a reader believes, and keeps for all its writers together. Takes nothing, sends nothing.

use super::Reader;
use super::originals::Originals;
use super::reassembly::Room;
use super::writer_proxy::MatchedWriter;
use crate::pool::BufferPool;
use crate::wire::SequenceNumber;

/// Buffers to use again, and how much is kept of all writers.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) pool: BufferPool,
    pub(super) originals: Originals,
    /// Gaps known beyond what is next.
    pub(super) gaps: usize,
    /// Changes of coherent sets that have not ended.
    pub(super) set_count: usize,
    /// Bytes of those.
    pub(super) set_len: usize,
}

impl Reader {
    /// Whether a writer can have got as far as `number`. Before its first heartbeat it can be
    /// anywhere; then [that](Self::forget_jumps) decides.
    pub(super) fn believes(&mut self, index: usize, number: SequenceNumber) -> bool {
        let (writer, max_jump) = (&mut self.writers[index], self.config.limits.max_jump);
        let is_near = |from: SequenceNumber| number.0.saturating_sub(from.0) <= to_i64(max_jump);
        let known = writer.announced.max(writer.expected);
        if !writer.synchronized || is_near(known) {
            writer.jump_to = None;
            return true;
        }
        let confirms = |seen: SequenceNumber| is_near(seen) && number >= seen;
        let is_confirmed = writer.jump_to.is_some_and(confirms);
        writer.jump_to = match is_confirmed {
            true => None,
            false => Some(number),
        };
        self.counters.jumps += u64::from(!is_confirmed);
        is_confirmed
    }

    /// Forgets what came before the first heartbeat if that, with `last`, is too far behind it, and all
    /// that GAPs said of what the writer does not have. What is true comes again.
    pub(super) fn forget_jumps(&mut self, index: usize, last: SequenceNumber) {
        let writer = &mut self.writers[index];
        let farthest = last.0.saturating_add(to_i64(self.config.limits.max_jump));
        if writer.announced > SequenceNumber(farthest) {
            writer.announced = last;
            self.counters.jumps += 1;
        }
        let known = writer.announced.max(last);
        if writer.expected > known.next() {
            writer.expected = match writer.began == writer.expected {
                true => SequenceNumber::FIRST,
                false => known.next(),
            };
            writer.began = writer.began.min(writer.expected);
            self.counters.jumps += 1;
        }
        while let Some(span) = writer.reorder.pop_back_beyond(known) {
            match span.change {
                Some(_) => self.counters.dropped += 1,
                None => self.memory.gaps -= 1,
            }
        }
    }

    /// What fragments of that change may take, beside those of all others.
    pub(super) fn room_for_fragments(&self, index: usize, number: SequenceNumber) -> Room {
        let is_known = |writer: &MatchedWriter| writer.reassembly.contains(number);
        if self
            .writers
            .get(index)
            .is_some_and(|writer| is_known(writer))
        {
            return Room::default();
        }
        let limits = &self.config.limits;
        let mut room = Room {
            count: limits.max_partial,
            len: limits.max_partial_bytes,
        };
        for (at, writer) in self.writers.iter().enumerate() {
            if at != index {
                room.count = room.count.saturating_sub(writer.reassembly.len());
                room.len = room.len.saturating_sub(writer.reassembly.bytes());
            }
        }
        room
    }

    /// Whether a change of so many bytes may be held. Whatever its size, it is within the bounds of
    /// its writer if that has no other, and within those of all if nobody has any.
    pub(super) fn has_room_to_hold(&self, index: usize, len: usize) -> bool {
        let has_room = |held: (usize, usize), max_held: usize, max_len: usize| {
            held.0 == 0 || held.0 < max_held && held.1.saturating_add(len) <= max_len
        };
        let held = |writer: &MatchedWriter| (writer.reorder.held(), writer.reorder.held_len());
        let all = self.writers.iter().map(|writer| held(writer));
        let all = all.fold((0, 0), |sum, held| (sum.0 + held.0, sum.1 + held.1));
        let (config, limits) = (&self.config, &self.config.limits);
        has_room(all, limits.max_held, limits.max_held_bytes)
            && self
                .writers
                .get(index)
                .is_some_and(|writer| has_room(held(writer), config.max_held, config.max_held_len))
    }

    /// Gives up the largest of the sets that have not ended, until all of them are within bounds. What
    /// comes of it later is only counted, and it is discarded when it ends.
    pub(super) fn bound_sets(&mut self) {
        let limits = &self.config.limits;
        while self.memory.set_count > limits.max_set || self.memory.set_len > limits.max_set_bytes {
            let sets = self.writers.iter_mut().map(|writer| &mut writer.set);
            let by_count = self.memory.set_count > limits.max_set;
            let largest = sets.max_by_key(|set| if by_count { set.count() } else { set.len() });
            let Some(set) = largest.filter(|set| set.count() > 0) else {
                return;
            };
            set.give_up(&mut self.memory);
        }
    }
}

fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
