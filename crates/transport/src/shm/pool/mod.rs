//! Memory that a writer lends: large samples are written where they are read, and only where they lie is
//! told.
//!
//! A [`Pool`] has chunks of one length. A [`Loan`] is a chunk to be written in place; [published](Loan::publish), its
//! [`Place`] is what records tell readers. A reader copies what lies there, or [borrows](PoolReader::borrow) it: then
//! the chunk stays as it is until that is dropped, whatever the writer does meanwhile. The writer does the same by
//! keeping what `publish` gave, a [`Lent`]. What nobody keeps is lent anew, what was published longest ago first.
//!
//! So nobody is waited for, as in a log: a reader that does not look loses what it was told of, and knows; one
//! that is stopped while it holds chunks keeps these, a quarter of the pool at most. If all chunks are
//! kept, there is no loan.
//!
//! ```text
//! pool: its writer alone writes to it              seat: a page, which its reader alone writes to
//!   chunk 0                                           0  slot  u64  1 + the chunk that it holds, or 0
//!      0  number  u64  of the loan that lies here,    8  slot       as many as a reader may hold
//!                      0 while it is written             ...
//!     64  bytes, to a multiple of 64
//!   chunk 1
//!     ...
//!
//! place, little-endian
//!   0                 8        12       16
//!   +-----------------+--------+--------+
//!   |     number      | chunk  | length |
//!   +-----------------+--------+--------+
//! ```
//!
//! Numbers are not used again. Holding a chunk is what the literature calls a hazard pointer:
//!
//! ```text
//! reader                                 writer
//!   slot = chunk                           number = 0
//!   fence                                  fence
//!   number as told? it is held             chunk in any slot? then not this one
//!   otherwise slot = 0                     write
//! ```
//!
//! Of the two fences one comes first. If it is the reader's, the writer sees the slot; if it is the writer's,
//! the reader sees that the number is gone.

mod borrower;
mod lender;
#[cfg(not(loom))]
mod reader;
#[cfg(all(test, not(loom)))]
mod tests;
#[cfg(not(loom))]
mod writer;

#[cfg(all(loom, test))]
pub(crate) use borrower::Borrower;
#[cfg(all(loom, test))]
pub(crate) use lender::Lender;
#[cfg(not(loom))]
pub use reader::{Borrowed, PoolReader};
#[cfg(not(loom))]
pub(crate) use writer::PoolAdmission;
#[cfg(not(loom))]
pub use writer::{Lent, Loan, LoanError, Pool};

pub use borrower::BorrowError;

/// The most bytes that a pool's chunks have in all: 1 GiB.
pub const MAX_POOL_BYTES: usize = 1 << 30;

/// The most chunks that a pool has.
pub const MAX_CHUNKS: usize = 512;

/// How a pool is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    chunk_len: usize,
    count: usize,
}

impl Shape {
    /// `None` unless there are from 2 to [`MAX_CHUNKS`] chunks, with [`MAX_POOL_BYTES`] in all at most.
    pub(crate) fn new(chunk_len: usize, count: usize) -> Option<Self> {
        let shape = Self { chunk_len, count };
        let is_allowed = (1..=MAX_POOL_BYTES).contains(&chunk_len)
            && (2..=MAX_CHUNKS).contains(&count)
            && shape.stride() <= MAX_POOL_BYTES / count;
        is_allowed.then_some(shape)
    }

    pub(crate) fn chunk_len(self) -> usize {
        self.chunk_len
    }

    pub(crate) fn count(self) -> usize {
        self.count
    }

    /// From one chunk to the next.
    pub(crate) fn stride(self) -> usize {
        BYTES + self.chunk_len.next_multiple_of(BYTES)
    }

    /// The pool's memory.
    pub(crate) fn len(self) -> usize {
        self.stride() * self.count
    }

    /// How many chunks a reader holds at most.
    pub(crate) fn slots(self) -> usize {
        (self.count / 4).clamp(1, MAX_SLOTS)
    }

    /// Where a chunk begins in which that place may be.
    pub(crate) fn start(self, place: Place) -> Option<usize> {
        let chunk = place.chunk as usize;
        let is_here =
            place.number != 0 && chunk < self.count && place.len as usize <= self.chunk_len;
        is_here.then(|| chunk * self.stride())
    }
}

/// Where what was lent lies, as records tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    number: u64,
    chunk: u32,
    len: u32,
}

impl Place {
    /// How many bytes [`to_bytes`](Self::to_bytes) gives.
    pub const LEN: usize = 16;

    /// As it is written into a record.
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        let [number, rest] = bytes.as_chunks_mut::<8>().0 else {
            return bytes;
        };
        *number = self.number.to_le_bytes();
        *rest = (u64::from(self.len) << 32 | u64::from(self.chunk)).to_le_bytes();
        bytes
    }

    /// What a record says, be it true or not.
    #[expect(clippy::cast_possible_truncation, reason = "the halves are meant")]
    pub fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        let [number, rest] = *bytes.as_chunks::<8>().0 else {
            return Self {
                number: 0,
                chunk: 0,
                len: 0,
            };
        };
        let rest = u64::from_le_bytes(rest);
        Self {
            number: u64::from_le_bytes(number),
            chunk: rest as u32,
            len: (rest >> 32) as u32,
        }
    }

    /// How many bytes lie there.
    pub fn len(self) -> usize {
        self.len as usize
    }

    #[cfg(all(loom, test))]
    pub(crate) fn number(self) -> u64 {
        self.number
    }

    fn truncate(&mut self, len: usize) {
        self.len = self.len.min(u32::try_from(len).unwrap_or(u32::MAX));
    }

    /// Whether none do.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// Where in a chunk its number lies.
const NUMBER: usize = 0;
/// Where its bytes begin, a cache line behind that.
pub(crate) const BYTES: usize = 64;

/// Two cache lines.
const MAX_SLOTS: usize = 16;

fn slot(index: usize) -> usize {
    index * 8
}

/// What a slot says that holds a chunk.
fn held(chunk: u32) -> u64 {
    u64::from(chunk) + 1
}
