//! Chunks put together to messages. Knows nothing of what is in them.
//!
//! Chunks may come in any order and more than once. A message whose chunks do not all come is given up when as many
//! later ones are under way as there is room for, or [`MEMORY`] others are done. Memory is bounded whatever a preamble
//! says: [`MAX_MESSAGES`] messages of at most [`MAX_CHUNKS`] chunks and [`MAX_MESSAGE_LEN`] bytes.
//!
//! A late copy of a chunk looks like a chunk of a feed that has started again with the same numbers. What follows tells
//! them apart: a number that was done begins again with its first chunk, and is a message if all the others come too. If
//! they do not, they were copies, and are counted as such.

use std::collections::VecDeque;
use std::ops::Range;

use crate::preamble::{Chunk, PacketNumber};

/// Messages that are under way at most.
pub const MAX_MESSAGES: usize = 8;
/// Chunks of a message at most.
pub const MAX_CHUNKS: u16 = 1_024;
/// Bytes of a message at most.
pub const MAX_MESSAGE_LEN: usize = 1 << 20;
/// Messages whose late copies are known, and that a message under way waits through at most.
pub const MEMORY: usize = 64;

/// What came, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReassemblyCounters {
    /// Messages put together.
    pub whole: u64,
    /// Messages given up, since some of their chunks did not come, or did not suit the others.
    pub incomplete: u64,
    /// Chunks of which another copy had come before, or whose message had been given up.
    pub duplicate: u64,
    /// Chunks that belong to no message that could be: of too many, or of another count than those before.
    pub refused: u64,
}

/// The chunks of one line. Buffers are used again: it allocates only while messages grow.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    partial: VecDeque<Partial>,
    /// Messages done with lately, whole or given up: a late copy of a chunk is known by them.
    done: VecDeque<PacketNumber>,
    /// Messages done with since the first.
    done_count: u64,
    message: Vec<u8>,
    free: Vec<Partial>,
    counters: ReassemblyCounters,
}

/// A message of which some chunks have come.
#[derive(Clone, Debug, Default)]
struct Partial {
    number: PacketNumber,
    /// A message of this number was done before.
    is_repeat: bool,
    /// `done_count` when its last chunk came.
    touched: u64,
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
        self.give_up_stale();
        let mut at = self.partial_of(number, chunk)?;
        let partial = self.partial.get(at)?;
        let index = usize::from(chunk.index);
        let is_misfit = partial.chunks.len() != usize::from(chunk.count)
            || index >= partial.chunks.len()
            || partial.bytes.len() + bytes.len() > MAX_MESSAGE_LEN;
        if is_misfit {
            self.counters.refused += 1;
            self.give_up(at);
            return None;
        }
        if let Some(before) = partial.chunk(index) {
            if before == bytes {
                self.counters.duplicate += 1;
                return None;
            }
            // The same place with other content: the numbers have started again.
            self.give_up(at);
            at = self.partial_of(number, chunk)?;
        }
        let partial = self.partial.get_mut(at)?;
        partial.touched = self.done_count;
        let start = partial.bytes.len();
        partial.bytes.extend_from_slice(bytes);
        *partial.chunks.get_mut(index)? = Some(start..partial.bytes.len());
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
    fn partial_of(&mut self, number: PacketNumber, chunk: Chunk) -> Option<usize> {
        let found = self
            .partial
            .iter()
            .position(|partial| partial.number == number);
        if found.is_some() {
            return found;
        }
        if !(1..=MAX_CHUNKS).contains(&chunk.count) {
            self.counters.refused += 1;
            return None;
        }
        let is_repeat = self.done.contains(&number);
        if is_repeat && chunk.index > 0 {
            self.counters.duplicate += 1;
            return None;
        }
        if self.partial.len() >= MAX_MESSAGES {
            // Rather a copy than a message.
            let repeat = self.partial.iter().position(|partial| partial.is_repeat);
            self.give_up(repeat.unwrap_or(0));
        }
        let mut partial = self.free.pop().unwrap_or_default();
        partial.number = number;
        partial.is_repeat = is_repeat;
        partial.missing = usize::from(chunk.count);
        partial.chunks.resize(usize::from(chunk.count), None);
        self.partial.push_back(partial);
        Some(self.partial.len() - 1)
    }

    fn complete(&mut self, at: usize) {
        self.message.clear();
        let Some(partial) = self.partial.remove(at) else {
            return;
        };
        for index in 0..partial.chunks.len() {
            let chunk = partial.chunk(index).unwrap_or_default();
            self.message.extend_from_slice(chunk);
        }
        self.counters.whole += 1;
        self.forget(partial);
    }

    /// Gives up what so many others have overtaken that its number may come again with another meaning.
    fn give_up_stale(&mut self) {
        let done_count = self.done_count;
        let is_stale = |partial: &Partial| done_count - partial.touched > MEMORY as u64;
        while let Some(at) = self.partial.iter().position(is_stale) {
            self.give_up(at);
        }
    }

    fn give_up(&mut self, at: usize) {
        let Some(partial) = self.partial.remove(at) else {
            return;
        };
        match partial.is_repeat {
            true => self.counters.duplicate += (partial.chunks.len() - partial.missing) as u64,
            false => self.counters.incomplete += 1,
        }
        self.forget(partial);
    }

    fn forget(&mut self, mut partial: Partial) {
        if self.done.len() >= MEMORY {
            self.done.pop_front();
        }
        self.done.push_back(partial.number);
        self.done_count += 1;
        partial.chunks.clear();
        partial.bytes.clear();
        self.free.push(partial);
    }
}

impl Partial {
    /// A chunk that has come.
    fn chunk(&self, index: usize) -> Option<&[u8]> {
        self.bytes.get(self.chunks.get(index)?.clone()?)
    }
}

#[cfg(test)]
mod tests;
