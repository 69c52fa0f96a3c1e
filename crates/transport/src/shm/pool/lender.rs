//! The writer's side of a pool: which chunk may be written to. Knows no descriptors and no processes.

use std::collections::VecDeque;

use super::{NUMBER, Place, Shape, held, slot};
use crate::shm::atomic::{Ordering, fence};
use crate::shm::layout::MAX_SEATS;
use crate::shm::map::{CommonMap, OwnMap, OwnPart};

/// The chunks that the writer does not keep, and who may hold them.
#[derive(Debug)]
pub(crate) struct Lender {
    /// What nobody will look for any more, which the processor may still have at hand: what has come last is lent next. What
    /// a reader was found to hold goes to the front.
    warm: VecDeque<Box<Chunk>>,
    /// What a reader may be about to look for: what was published longest ago is lent next, unless something is warm.
    idle: VecDeque<Box<Chunk>>,
    /// The slots of the readers, by numbers that are not used again.
    seats: Vec<(u64, CommonMap)>,
    last_seat: u64,
    slots: usize,
    /// The number of the last loan.
    number: u64,
}

/// A chunk that the writer has, to write to it or to keep it. In a box, which who keeps many has in many places.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) part: OwnPart,
    index: u32,
    /// The loan that it is, or is to be.
    number: u64,
    /// Whether readers may find it.
    is_open: bool,
    /// Whether none will look for it any more.
    is_done_with: bool,
}

impl Lender {
    /// The memory is new, and has the length that `shape` asks for.
    pub(crate) fn new(pool: OwnMap, shape: Shape) -> Self {
        let parts = pool.split(shape.stride());
        let chunk = |(index, part)| Chunk {
            part,
            index,
            number: 0,
            is_open: false,
            is_done_with: false,
        };
        let chunk = |part| Box::new(chunk(part));
        let idle: VecDeque<_> = (0..).zip(parts).map(chunk).collect();
        Self {
            // So that it never allocates again.
            warm: VecDeque::with_capacity(idle.len()),
            idle,
            seats: Vec::new(),
            last_seat: 0,
            slots: shape.slots(),
            number: 0,
        }
    }

    /// A chunk that nobody holds, and that nobody can hold before it is [opened](Chunk::open). `None` if each
    /// is held or kept. Does not allocate. One fence, and a look at each slot, for each chunk that is
    /// looked at: usually one, and one more where readers keep what they have.
    pub(crate) fn take(&mut self) -> Option<Box<Chunk>> {
        let mut chunk = self.take_warm().or_else(|| self.take_idle())?;
        self.number += 1;
        chunk.number = self.number;
        Some(chunk)
    }

    fn take_warm(&mut self) -> Option<Box<Chunk>> {
        for _ in 0..self.warm.len() {
            let mut chunk = self.warm.pop_back()?;
            if self.close(&mut chunk) {
                return Some(chunk);
            }
            self.warm.push_front(chunk);
        }
        None
    }

    fn take_idle(&mut self) -> Option<Box<Chunk>> {
        for _ in 0..self.idle.len() {
            let mut chunk = self.idle.pop_front()?;
            if self.close(&mut chunk) {
                return Some(chunk);
            }
            self.idle.push_back(chunk);
        }
        None
    }

    /// Has no reader find a chunk any more; whether none holds it.
    fn close(&self, chunk: &mut Chunk) -> bool {
        chunk.part.store(NUMBER, 0, Ordering::Relaxed);
        chunk.is_open = false;
        fence(Ordering::SeqCst);
        !self.is_held(chunk.index)
    }

    /// Takes back a chunk that the writer is done with.
    pub(crate) fn put(&mut self, mut chunk: Box<Chunk>) {
        match std::mem::take(&mut chunk.is_done_with) || !chunk.is_open {
            true => self.warm.push_back(chunk),
            false => self.idle.push_back(chunk),
        }
    }

    /// Heeds the slots of one more reader, all empty. `None` if there are 62 already.
    pub(crate) fn seat(&mut self, slots: CommonMap) -> Option<u64> {
        if self.seats.len() >= MAX_SEATS {
            return None;
        }
        self.last_seat += 1;
        self.seats.push((self.last_seat, slots));
        Some(self.last_seat)
    }

    /// Does not heed any more the slots of a reader that is gone, which are to be let go of without the lock.
    pub(crate) fn free(&mut self, seat: u64) -> Option<CommonMap> {
        let index = self.seats.iter().position(|(number, _)| *number == seat)?;
        Some(self.seats.swap_remove(index).1)
    }

    fn is_held(&self, chunk: u32) -> bool {
        let held = held(chunk);
        let mut seats = self.seats.iter();
        seats.any(|(_, slots)| {
            (0..self.slots).any(|index| slots.load(slot(index), Ordering::Acquire) == held)
        })
    }
}

impl Chunk {
    /// Lets readers find what was written to it.
    pub(crate) fn open(&mut self) {
        self.is_open = true;
        self.part.store(NUMBER, self.number, Ordering::Release);
    }

    /// No reader will look for it any more, though some may hold it.
    pub(crate) fn done_with(&mut self) {
        self.is_done_with = true;
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "chunks are shorter than 1 GiB"
    )]
    pub(crate) fn place(&self, len: usize) -> Place {
        Place {
            number: self.number,
            chunk: self.index,
            len: len as u32,
        }
    }
}

#[cfg(not(loom))]
impl Chunk {
    pub(crate) fn bytes(&self, len: usize) -> &[u8] {
        self.part.bytes(super::BYTES, len)
    }

    pub(crate) fn bytes_mut(&mut self, len: usize) -> &mut [u8] {
        self.part.bytes_mut(super::BYTES, len)
    }
}
