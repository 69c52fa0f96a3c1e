//! A reader of a pool.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::SealFlags;

use super::Place;
use super::borrower::{BorrowError, Borrower};
use super::writer::PoolAdmission;
use crate::shm::map::{CommonMap, ForeignMap, PAGE};
use crate::shm::memory::{self, ForeignMemoryError};
use crate::shm::reader::FollowError;

/// Finds what a pool's writer has lent, usually in another process. A handle: clones are the same.
///
/// Nothing that the writer writes makes it panic or read outside of the pool.
#[derive(Clone, Debug)]
pub struct PoolReader(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    borrower: Borrower,
    /// Tells the writer, by its end, that nothing is held any more.
    _lifeline: OwnedFd,
}

impl PoolReader {
    pub(crate) fn new(admission: PoolAdmission) -> Result<Self, FollowError> {
        let PoolAdmission { shape, descriptors } = admission;
        let [pool, slots, lifeline] = descriptors;
        let kernel = |source| FollowError::Memory(ForeignMemoryError::Kernel { source });
        for (fd, seals, wanted) in [
            (&pool, SealFlags::FUTURE_WRITE, shape.len()),
            (&slots, SealFlags::empty(), PAGE),
        ] {
            let len = memory::check(fd, seals).map_err(FollowError::Memory)?;
            if len != wanted as u64 {
                return Err(FollowError::Memory(ForeignMemoryError::Size { len }));
            }
        }
        let pool = ForeignMap::map(pool, shape.len()).map_err(kernel)?;
        pool.populate();
        let slots = CommonMap::map(slots).map_err(kernel)?;
        Ok(Self(Arc::new(Shared {
            borrower: Borrower::new(pool, slots, shape),
            _lifeline: lifeline,
        })))
    }

    /// What lies there, copied to the beginning of `buffer`, which grows to the longest and does not shrink. What it
    /// returns is what was published.
    pub fn read<'b>(&self, place: Place, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], BorrowError> {
        // Before the buffer grows to what is said.
        self.0.borrower.find(place)?;
        if buffer.len() < place.len() {
            buffer.resize(place.len(), 0);
        }
        let bytes = buffer.get_mut(..place.len()).unwrap_or_default();
        self.0.borrower.copy(place, bytes)?;
        Ok(bytes)
    }

    /// Keeps what lies there as it is, to be read later or in place. No system call, no allocation; costs the
    /// same for any length.
    pub fn borrow(&self, place: Place) -> Result<Borrowed, BorrowError> {
        let slot = self.0.borrower.hold(place)?;
        let pool = self.clone();
        Ok(Borrowed { pool, place, slot })
    }
}

/// What a pool's writer has lent, and does not lend anew before this and all its clones are dropped. A clone holds
/// nothing more, and allocates nothing.
#[derive(Debug)]
pub struct Borrowed {
    pool: PoolReader,
    place: Place,
    slot: usize,
}

impl Borrowed {
    /// The bytes where they lie.
    ///
    /// That they stay as they are is up to the writer's process, which can write to them at any time, and of which
    /// the kernel vouches only that it is of the same user. So this is for who trusts all processes of that user which
    /// it exchanges samples with: **one that breaks the protocol has undefined behaviour here**, as if it wrote to our
    /// memory by a debugger. What a process does that uses this crate, killed or stopped at any point, does
    /// not. Who does not trust reads a copy, by [`PoolReader::read`].
    pub fn trusted_bytes(&self) -> &[u8] {
        let borrower = &self.pool.0.borrower;
        match borrower.find(self.place) {
            Ok(at) => borrower.pool.trusted_bytes(at, self.place.len()),
            Err(_) => &[],
        }
    }

    /// Where they lie.
    pub fn place(&self) -> Place {
        self.place
    }
}

impl Clone for Borrowed {
    fn clone(&self) -> Self {
        self.pool.0.borrower.share(self.slot);
        Self {
            pool: self.pool.clone(),
            ..*self
        }
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        self.pool.0.borrower.release(self.slot);
    }
}
