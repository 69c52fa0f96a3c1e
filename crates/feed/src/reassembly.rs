//! Chunks put together to messages. Knows nothing of what is in them.
//!
//! Chunks may come in any order and more than once. A message whose chunks do not all come is given up when as many
//! later ones are under way as there is room for, or [`MEMORY`] others are done. Memory is bounded whatever a preamble
//! says: [`MAX_MESSAGES`] messages of at most [`MAX_CHUNKS`] chunks and [`MAX_MESSAGE_LEN`] bytes.
//!
//! A late copy of a chunk looks like a chunk of a feed that has started again with the same numbers. What follows tells
//! them apart: a number that was done begins again with its first chunk, and is a message if all the others come too. If
//! they do not, they were copies, and are counted as such. A chunk of another count than the message under way, or of
//! other content in the same place, is no copy: with whichever chunk, the number has begun again.

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
    /// Messages given up, since some of their chunks did not come, were too long, or were of the number's next message.
    pub incomplete: u64,
    /// Chunks of which another copy had come before, or whose message had been given up.
    pub duplicate: u64,
    /// Chunks that belong to no message that could be: one of too many, beyond their count, or too long together.
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
    /// A message of this number was done before, and nothing yet tells this one from copies.
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
        if !(1..=MAX_CHUNKS).contains(&chunk.count) || chunk.index >= chunk.count {
            self.counters.refused += 1;
            return None;
        }
        let at = self.partial_of(number, chunk, bytes)?;
        let partial = self.partial.get_mut(at)?;
        if partial.bytes.len() + bytes.len() > MAX_MESSAGE_LEN {
            self.counters.refused += 1;
            self.give_up(at);
            return None;
        }
        partial.touched = self.done_count;
        let start = partial.bytes.len();
        partial.bytes.extend_from_slice(bytes);
        *partial.chunks.get_mut(usize::from(chunk.index))? = Some(start..partial.bytes.len());
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

    /// Where the message is that lacks the chunk, which begins if it is not there; `None` if the chunk is a copy.
    fn partial_of(&mut self, number: PacketNumber, chunk: Chunk, bytes: &[u8]) -> Option<usize> {
        let is_it = |partial: &Partial| partial.number == number;
        let Some(at) = self.partial.iter().position(is_it) else {
            let is_repeat = self.done.contains(&number);
            if is_repeat && chunk.index > 0 {
                self.counters.duplicate += 1;
                return None;
            }
            return Some(self.begin(number, chunk.count, is_repeat));
        };
        let partial = self.partial.get(at)?;
        if partial.chunks.len() == usize::from(chunk.count) {
            match partial.chunk(chunk.index.into()) {
                None => return Some(at),
                Some(before) if before == bytes => {
                    self.counters.duplicate += 1;
                    return None;
                }
                Some(_) => {}
            }
        }
        // Another count, or other content in the same place: the numbers have started again.
        self.give_up(at);
        Some(self.begin(number, chunk.count, false))
    }

    fn begin(&mut self, number: PacketNumber, count: u16, is_repeat: bool) -> usize {
        if self.partial.len() >= MAX_MESSAGES {
            // Rather a copy than a message.
            let repeat = self.partial.iter().position(|partial| partial.is_repeat);
            self.give_up(repeat.unwrap_or(0));
        }
        let mut partial = self.free.pop().unwrap_or_default();
        partial.number = number;
        partial.is_repeat = is_repeat;
        partial.missing = usize::from(count);
        partial.chunks.resize(usize::from(count), None);
        self.partial.push_back(partial);
        self.partial.len() - 1
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
        if !self.done.contains(&partial.number) {
            if self.done.len() >= MEMORY {
                self.done.pop_front();
            }
            self.done.push_back(partial.number);
        }
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
