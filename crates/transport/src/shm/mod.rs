//! Shared memory between processes of one machine and one user: a log for each writer.
//!
//! [`LogWriter`] lays records into a ring that it alone can write to, and [`LogReader`]s follow it, each at its own
//! pace. A thread that follows logs sleeps on an [`Ear`]. What the bytes mean is not known here; nor is there
//! a thread, or a name in any file system: memory goes from process to process as descriptors, and ends
//! with the last that has it.
//!
//! Readers copy payloads out, those too that the writer waits for: one that is evicted while it looks must not
//! see bytes change under a reference (`map.rs` has the argument). So all readers take one way, and gating
//! only decides whether the writer waits.
//!
//! What is too large to be copied lies in a [`Pool`] beside the log, where its writer writes it and readers read
//! it; records only tell where.
//!
//! ```
//! use std::sync::Arc;
//! use tickwire_transport::shm::{Ear, Gating, LogReader, LogWriter};
//!
//! let ear = Ear::new()?;
//! let mut writer = LogWriter::new(1 << 16)?;
//! let seat = writer.seat(Arc::new(ear.bell()?), Gating::Waits)?;
//! let [log, control] = writer.descriptors();
//! let descriptors = [log.try_clone_to_owned()?, control.try_clone_to_owned()?];
//! let mut reader = LogReader::new(descriptors, seat, None)?;
//!
//! let mut claim = writer.claim(5)?;
//! claim.bytes_mut().copy_from_slice(b"hello");
//! claim.publish();
//! drop(writer.ringing());
//!
//! let mut buffer = Vec::new();
//! let mut record = reader.next()?.expect("published");
//! assert_eq!(record.read(&mut buffer)?, b"hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(
    loom,
    allow(dead_code, reason = "models use the lock-free parts alone")
)]

use std::ops::Range;

mod atomic;
mod consumer;
mod doze;
#[cfg(not(loom))]
mod ear;
mod layout;
#[cfg_attr(loom, path = "modeled.rs")]
mod map;
#[cfg(not(loom))]
pub mod meeting;
#[cfg(not(loom))]
mod memory;
#[cfg(all(loom, test))]
mod models;
mod overrun;
mod pool;
mod producer;
#[cfg(not(loom))]
mod reader;
#[cfg(all(test, not(loom)))]
mod tests;
#[cfg(not(loom))]
mod writer;

pub use layout::MAX_NOTES;

#[cfg(not(loom))]
pub use ear::{Bell, Ear, EarError};
#[cfg(not(loom))]
pub use memory::{ForeignMemoryError, MemoryError};
pub use overrun::{Lost, NextError, Overrun};
pub use pool::{BorrowError, MAX_CHUNKS, MAX_POOL_BYTES, Place};
#[cfg(not(loom))]
pub use pool::{Borrowed, Lent, Loan, LoanError, Pool, PoolReader};
#[cfg(not(loom))]
pub use reader::{FollowError, LogReader, Record};
#[cfg(not(loom))]
pub use writer::{
    Admission, Claim, ClaimError, Gating, LogFiles, LogWriter, Ringing, Seat, SeatError,
};

/// What a reader of a log has to say to its writer beside how far it has read; what that means is theirs to agree on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// Whom it is about.
    pub whom: u32,
    /// What is said; 0 is nothing.
    pub number: u64,
}

/// Where a record's payload was copied to, and its tag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// The place in the buffer.
    pub place: Range<usize>,
    /// What its writer [tagged](Claim::publish_as) it with.
    pub tag: u8,
}

/// The shortest ring of a log, in bytes.
pub const MIN_LOG_BYTES: usize = 1 << 12;

/// The longest ring of a log, in bytes: 1 GiB.
pub const MAX_LOG_BYTES: usize = 1 << 30;
