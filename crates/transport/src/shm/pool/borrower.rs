//! A reader's side of a pool: holding a chunk, or copying it and looking whether it was whole. Believes nothing
//! that it reads.

use std::error::Error;
use std::fmt;

use super::{BYTES, MAX_SLOTS, NUMBER, Place, Shape, held, slot};
use crate::shm::atomic::{AtomicU64, Ordering, fence};
use crate::shm::map::{CommonMap, ForeignMap};

/// Finds what was lent.
#[derive(Debug)]
pub(crate) struct Borrower {
    pub(crate) pool: ForeignMap,
    slots: CommonMap,
    shape: Shape,
    /// A bit for each slot that a thread of this process uses.
    used: AtomicU64,
    /// How often what a slot holds is to be released.
    counts: [AtomicU64; MAX_SLOTS],
}

/// Why what was lent cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BorrowError {
    /// The writer has lent the chunk anew: the reader was too slow.
    Reused,
    /// The reader holds as many chunks as it may, a quarter of the pool or 16. Copying is possible.
    TooMany {
        /// How many that are.
        max: usize,
    },
    /// The pool has no such place: whoever has told it lies.
    Malformed,
}

impl fmt::Display for BorrowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reused => write!(f, "the writer has lent the memory of an unread sample anew"),
            Self::TooMany { max } => {
                write!(
                    f,
                    "{max} samples in the writer's memory are held, and no more may be"
                )
            }
            Self::Malformed => write!(f, "the writer's memory has no such place"),
        }
    }
}

impl Error for BorrowError {}

impl Borrower {
    /// The memory has the length that `shape` asks for, and the slots are empty and nobody else's.
    pub(crate) fn new(pool: ForeignMap, slots: CommonMap, shape: Shape) -> Self {
        Self {
            pool,
            slots,
            shape,
            used: AtomicU64::new(0),
            counts: [(); MAX_SLOTS].map(|()| AtomicU64::new(0)),
        }
    }

    /// Where the bytes of that place lie.
    pub(crate) fn find(&self, place: Place) -> Result<usize, BorrowError> {
        let start = self.shape.start(place).ok_or(BorrowError::Malformed)?;
        Ok(start + BYTES)
    }

    /// Copies the first bytes of what lies there, as many as there are and as there is room for.
    pub(crate) fn copy(&self, place: Place, into: &mut [u8]) -> Result<(), BorrowError> {
        let bytes = self.find(place)?;
        let len = into.len().min(place.len());
        self.pool
            .copy(bytes, into.get_mut(..len).unwrap_or_default());
        // Who has copied a byte that was written later sees that the number is gone.
        fence(Ordering::Acquire);
        self.is_there(place)
    }

    /// Keeps the chunk as it is, until the slot that this returns is [released](Self::release), and again for each
    /// time that it was [shared](Self::share).
    pub(crate) fn hold(&self, place: Place) -> Result<usize, BorrowError> {
        self.find(place)?;
        let index = self.take_slot()?;
        self.add(index);
        // Releases what was read by the slot's last use, which the writer then does not see end.
        self.slots
            .store(slot(index), held(place.chunk), Ordering::Release);
        fence(Ordering::SeqCst);
        let there = self.is_there(place);
        match there {
            Ok(()) => fence(Ordering::Acquire),
            Err(_) => self.release(index),
        }
        there.map(|()| index)
    }

    /// One more holds what a slot does, which whoever calls does, too.
    pub(crate) fn share(&self, index: usize) {
        self.add(index);
    }

    fn add(&self, index: usize) {
        if let Some(count) = self.counts.get(index) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Lets the writer have the chunk that a slot holds, if nobody else holds it by the same slot.
    pub(crate) fn release(&self, index: usize) {
        // The last one releases what all others have read, too.
        let count = self.counts.get(index);
        let is_last = count.is_none_or(|count| count.fetch_sub(1, Ordering::AcqRel) == 1);
        if !is_last {
            return;
        }
        self.slots.store(slot(index), 0, Ordering::Release);
        self.used.fetch_and(!(1 << index), Ordering::Release);
    }

    fn is_there(&self, place: Place) -> Result<(), BorrowError> {
        let start = self.shape.start(place).ok_or(BorrowError::Malformed)?;
        match self.pool.load(start + NUMBER) == place.number {
            true => Ok(()),
            false => Err(BorrowError::Reused),
        }
    }

    /// The first slot that is free.
    fn take_slot(&self) -> Result<usize, BorrowError> {
        let max = self.shape.slots();
        loop {
            let index = self.used.load(Ordering::Relaxed).trailing_ones() as usize;
            if index >= max {
                return Err(BorrowError::TooMany { max });
            }
            let bit = 1 << index;
            if self.used.fetch_or(bit, Ordering::Acquire) & bit == 0 {
                return Ok(index);
            }
        }
    }
}
