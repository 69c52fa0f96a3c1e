//! What a reader believes, and keeps for all its writers together. Takes nothing, sends nothing.

use core::ops::{AddAssign, SubAssign};

use super::Reader;
use super::originals::Originals;
use super::reassembly::Room;
use super::writer_proxy::MatchedWriter;
use crate::pool::BufferPool;
use crate::wire::SequenceNumber;

/// Buffers to use again, and how much is kept of all writers.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) pool: BufferPool,
    pub(super) originals: Originals,
    /// Gaps known beyond what is next.
    pub(super) gaps: usize,
    /// Changes of coherent sets that have not ended.
    pub(super) set_count: usize,
    /// Bytes of those.
    pub(super) set_len: usize,
    /// What else is kept, as of when anything was last done about each writer.
    pub(super) kept: Kept,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            pool: BufferPool::with_large(MAX_LARGE_BYTES),
            originals: Originals::default(),
            gaps: 0,
            set_count: 0,
            set_len: 0,
            kept: Kept::default(),
        }
    }
}

/// What is kept of changes whose turn has not come, of one writer or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    /// Whole changes.
    pub(super) held: usize,
    /// Bytes of those.
    pub(super) held_len: usize,
    /// Changes of which some fragments lack.
    pub(super) partials: usize,
    /// Bytes reserved for those.
    pub(super) partial_len: usize,
}

impl Kept {
    #[inline]
    pub(super) fn is_nothing(&self) -> bool {
        self.held == 0 && self.partials == 0
    }
}

impl AddAssign for Kept {
    fn add_assign(&mut self, other: Self) {
        self.held += other.held;
        self.held_len += other.held_len;
        self.partials += other.partials;
        self.partial_len += other.partial_len;
    }
}

impl SubAssign for Kept {
    fn sub_assign(&mut self, other: Self) {
        self.held -= other.held;
        self.held_len -= other.held_len;
        self.partials -= other.partials;
        self.partial_len -= other.partial_len;
    }
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

    /// The highest number that is believed of a writer whose newest is `last`.
    pub(super) fn farthest(&self, last: SequenceNumber) -> SequenceNumber {
        SequenceNumber(last.0.saturating_add(to_i64(self.config.limits.max_jump)))
    }

    /// Forgets what came before the first heartbeat if that, with `last`, is too far behind it, and all
    /// that GAPs said of what the writer does not have. What is true comes again, but for what was delivered.
    pub(super) fn forget_jumps(&mut self, index: usize, last: SequenceNumber) {
        let farthest = self.farthest(last);
        let writer = &mut self.writers[index];
        if writer.announced > farthest {
            writer.announced = last;
            self.counters.jumps += 1;
        }
        // Nothing is delivered twice, whatever the heartbeat says.
        let known = writer.announced.max(last).max(writer.delivered_up_to);
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

    /// What is kept of all writers but one.
    fn kept_of_others(&self, writer: &MatchedWriter) -> Kept {
        let mut kept = self.memory.kept;
        kept -= writer.counted;
        kept
    }

    /// What the partial changes of a writer may take, beside those of all others.
    pub(super) fn room_for_fragments(&self, index: usize) -> Room {
        let others = self.kept_of_others(&self.writers[index]);
        let limits = &self.config.limits;
        Room {
            count: limits.max_partial.saturating_sub(others.partials),
            len: limits.max_partial_bytes.saturating_sub(others.partial_len),
        }
    }

    /// Whether a change of so many bytes may be held. Whatever its size, it is within the bounds of
    /// its writer if that has no other, and within those of all if nobody has any.
    pub(super) fn has_room_to_hold(&self, index: usize, len: usize) -> bool {
        let has_room = |kept: Kept, max_held: usize, max_len: usize| {
            kept.held == 0 || kept.held < max_held && kept.held_len.saturating_add(len) <= max_len
        };
        let (config, limits) = (&self.config, &self.config.limits);
        let own = self.writers[index].kept();
        let mut all = self.kept_of_others(&self.writers[index]);
        all += own;
        has_room(all, limits.max_held, limits.max_held_bytes)
            && has_room(own, config.max_held, config.max_held_len)
    }

    /// Counts what is kept of a writer now.
    pub(super) fn count_kept(&mut self, index: usize) {
        let writer = &mut self.writers[index];
        let kept = writer.kept();
        self.memory.kept -= core::mem::replace(&mut writer.counted, kept);
        self.memory.kept += kept;
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

/// Bytes of large buffers that are kept for samples to come.
const MAX_LARGE_BYTES: usize = 64 << 20;
