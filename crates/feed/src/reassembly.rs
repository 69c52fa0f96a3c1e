//! Chunks put together to messages. Knows nothing of what is in them.
//!
//! Chunks may come in any order and more than once. A message whose chunks do not all come is given up when as many
//! later ones are under way as there is room for. Memory is bounded whatever a preamble says: [`MAX_MESSAGES`] messages
//! of at most [`MAX_CHUNKS`] chunks and [`MAX_MESSAGE_LEN`] bytes.

use std::collections::VecDeque;
use std::ops::Range;

use crate::preamble::{Chunk, PacketNumber};

/// Messages that are under way at most.
pub const MAX_MESSAGES: usize = 8;
/// Chunks of a message at most.
pub const MAX_CHUNKS: u16 = 1_024;
/// Bytes of a message at most.
pub const MAX_MESSAGE_LEN: usize = 1 << 20;

/// What came, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReassemblyCounters {
    /// Messages put together.
    pub whole: u64,
    /// Messages given up, since some of their chunks did not come, or did not suit the others.
    pub incomplete: u64,
    /// Chunks of which another copy had come before.
    pub duplicate: u64,
    /// Chunks that belong to no message that could be: of too many, or of another count than those before.
    pub refused: u64,
}

/// The chunks of one line. Buffers are used again: it allocates only while messages grow.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    partial: VecDeque<Partial>,
    /// Messages done with lately, whole or given up: their late copies start no new message.
    done: VecDeque<PacketNumber>,
    message: Vec<u8>,
    free: Vec<Partial>,
    counters: ReassemblyCounters,
}

/// A message of which some chunks have come.
#[derive(Clone, Debug, Default)]
struct Partial {
    number: PacketNumber,
    /// Where each chunk is in `bytes`.
    chunks: Vec<Option<Range<usize>>>,
    missing: usize,
    bytes: Vec<u8>,
}

impl Reassembly {
    /// One that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a chunk of message `number`; gives the message if it was the last that was missing. Cost: the chunk is
    /// copied, and the whole message once more.
    pub fn handle_chunk(
        &mut self,
        number: PacketNumber,
        chunk: Chunk,
        bytes: &[u8],
    ) -> Option<&[u8]> {
        if self.done.contains(&number) {
            self.counters.duplicate += 1;
            return None;
        }
        let at = self.partial_of(number, chunk.count)?;
        let partial = self.partial.get_mut(at)?;
        let index = usize::from(chunk.index);
        let start = partial.bytes.len();
        let end = start + bytes.len();
        let is_misfit = partial.chunks.len() != usize::from(chunk.count)
            || index >= partial.chunks.len()
            || end > MAX_MESSAGE_LEN;
        if is_misfit {
            self.counters.refused += 1;
            self.give_up(at);
            return None;
        }
        match partial.chunks.get_mut(index) {
            Some(place @ None) => *place = Some(start..end),
            _ => {
                self.counters.duplicate += 1;
                return None;
            }
        }
        partial.bytes.extend_from_slice(bytes);
        partial.missing -= 1;
        if partial.missing > 0 {
            return None;
        }
        self.complete(at);
        Some(&self.message)
    }

    /// What became of the chunks so far.
    pub fn counters(&self) -> ReassemblyCounters {
        self.counters
    }

    /// No more chunks come: gives up what is not whole.
    pub fn finish(&mut self) {
        while !self.partial.is_empty() {
            self.give_up(0);
        }
    }

    /// Where the message is, which begins if it is not there; `None` if it cannot be.
    fn partial_of(&mut self, number: PacketNumber, count: u16) -> Option<usize> {
        let found = self
            .partial
            .iter()
            .position(|partial| partial.number == number);
        if found.is_some() {
            return found;
        }
        if !(1..=MAX_CHUNKS).contains(&count) {
            self.counters.refused += 1;
            return None;
        }
        if self.partial.len() >= MAX_MESSAGES {
            self.give_up(0);
        }
        let mut partial = self.free.pop().unwrap_or_default();
        partial.number = number;
        partial.missing = usize::from(count);
        partial.chunks.resize(usize::from(count), None);
        self.partial.push_back(partial);
        Some(self.partial.len() - 1)
    }

    fn complete(&mut self, at: usize) {
        self.message.clear();
        let Some(partial) = self.partial.remove(at) else {
            return;
        };
        for range in partial.chunks.iter().flatten() {
            let chunk = partial.bytes.get(range.clone()).unwrap_or_default();
            self.message.extend_from_slice(chunk);
        }
        self.counters.whole += 1;
        self.forget(partial);
    }

    fn give_up(&mut self, at: usize) {
        if let Some(partial) = self.partial.remove(at) {
            self.counters.incomplete += 1;
            self.forget(partial);
        }
    }

    fn forget(&mut self, mut partial: Partial) {
        if self.done.len() >= MAX_DONE {
            self.done.pop_front();
        }
        self.done.push_back(partial.number);
        partial.chunks.clear();
        partial.bytes.clear();
        self.free.push(partial);
    }
}

/// Messages whose late copies are known.
const MAX_DONE: usize = 64;

#[cfg(test)]
mod tests;
