//! What a reader believes, and keeps for all its writers together. Takes nothing, sends nothing.

use super::Reader;
use super::reassembly::Room;
use super::writer_proxy::MatchedWriter;
use crate::wire::SequenceNumber;

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

    /// Forgets what came before the first heartbeat if that, with `last`, is too far behind it. What
    /// is true comes again.
    pub(super) fn forget_jumps(&mut self, index: usize, last: SequenceNumber) {
        let writer = &mut self.writers[index];
        let max_jump = to_i64(self.config.limits.max_jump);
        let farthest = SequenceNumber(last.0.saturating_add(max_jump));
        if writer.announced <= farthest {
            return;
        }
        writer.announced = last;
        self.counters.jumps += 1;
        while let Some(span) = writer.reorder.pop_back_beyond(farthest) {
            self.counters.dropped += u64::from(span.change.is_some());
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

    /// Changes held, of all writers, and their bytes.
    pub(super) fn held_by_all(&self) -> (usize, usize) {
        self.writers.iter().fold((0, 0), |(count, len), writer| {
            let reorder = &writer.reorder;
            (count + reorder.held(), len + reorder.held_len())
        })
    }
}

fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
