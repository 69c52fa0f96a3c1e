//! The writer of a pool.

use std::error::Error;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tickwire_base::Counter;

use super::lender::{Chunk, Lender};
use super::{Place, Shape};
use crate::shm::map::{CommonMap, OwnMap};
use crate::shm::memory::{MemoryError, kernel};
use crate::shm::writer::SeatError;

/// Memory that this process lends, and any number of readers, here or in other processes, read in place. A handle:
/// clones are the same pool.
///
/// Costs a descriptor and the memory, which it has from the beginning; a page and a descriptor for each
/// participant that reads, until that has let go of all that it holds.
///
/// ```
/// # use std::sync::Arc;
/// # use tickwire_transport::shm::{Ear, Gating, LogReader, LogWriter};
/// use tickwire_transport::shm::{Place, Pool};
///
/// let pool = Pool::new(1 << 20, 8)?;
/// let mut writer = LogWriter::with_pool(1 << 16, pool.clone())?;
/// # let ear = Ear::new()?;
/// # let seat = writer.seat(Arc::new(ear.bell()?), Gating::Waits)?;
/// # let [log, control] = writer.descriptors();
/// # let descriptors = [log.try_clone_to_owned()?, control.try_clone_to_owned()?];
/// # let mut reader = LogReader::new(descriptors, seat, None)?;
///
/// let mut loan = pool.loan(1 << 20)?;
/// loan.bytes_mut().fill(7);
/// let lent = loan.publish();
/// writer.publish(&lent.place().to_bytes())?;
/// drop(writer.ringing());
///
/// let mut place = [0; Place::LEN];
/// let mut record = reader.next()?.expect("published");
/// record.read_start(&mut place)?;
/// let borrowed = reader.pool().expect("the log has one").borrow(Place::from_bytes(place))?;
/// assert_eq!(borrowed.trusted_bytes().len(), 1 << 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    shape: Shape,
    memory: Arc<OwnedFd>,
    state: Mutex<State>,
    used_up: Counter,
}

#[derive(Debug)]
struct State {
    lender: Lender,
    /// Of the lender's seats.
    lifelines: Vec<(u64, Lifeline)>,
}

/// The end of a pipe whose other end the reader at a seat has while it may hold anything: the kernel closes that
/// one however the reader's process ends.
type Lifeline = Arc<OwnedFd>;

/// Why there is no loan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoanError {
    /// No chunk of this pool is that long.
    TooLong {
        /// The length that was asked for, in bytes.
        len: usize,
        /// The longest, in bytes.
        max: usize,
    },
    /// Each chunk is lent, kept or held. What is sent can still be copied.
    UsedUp {
        /// How many chunks that are.
        chunks: usize,
    },
}

impl fmt::Display for LoanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { len, max } => {
                write!(
                    f,
                    "a loan of {len} bytes is longer than the {max} that the pool lends"
                )
            }
            Self::UsedUp { chunks } => {
                write!(
                    f,
                    "the pool is used up: all {chunks} loans are kept or held by readers"
                )
            }
        }
    }
}

impl Error for LoanError {}

impl Pool {
    /// Makes a pool that lends `count` times `chunk_len` bytes at once: from 2 to [`MAX_CHUNKS`](super::MAX_CHUNKS), and
    /// [`MAX_POOL_BYTES`](super::MAX_POOL_BYTES) in all, of which each chunk takes 64 for itself.
    pub fn new(chunk_len: usize, count: usize) -> Result<Self, MemoryError> {
        let wrong = MemoryError::Pool { chunk_len, count };
        let shape = Shape::new(chunk_len, count).ok_or(wrong)?;
        let (map, memory) = OwnMap::create(shape.len(), shape.len())?;
        let state = State {
            lender: Lender::new(map, shape),
            lifelines: Vec::new(),
        };
        Ok(Self(Arc::new(Shared {
            shape,
            memory,
            state: Mutex::new(state),
            used_up: Counter::new(),
        })))
    }

    /// The longest loan, in bytes.
    pub fn max_len(&self) -> usize {
        self.0.shape.chunk_len()
    }

    /// How often there was no loan because the pool was used up.
    pub fn used_up(&self) -> u64 {
        self.0.used_up.count()
    }

    /// Lends `len` bytes, to be written in place. No allocation; no system call unless all chunks are held.
    pub fn loan(&self, len: usize) -> Result<Loan, LoanError> {
        let (max, chunks) = (self.max_len(), self.0.shape.count());
        if len > max {
            return Err(LoanError::TooLong { len, max });
        }
        let mut taken = self.state().lender.take();
        if taken.is_none() {
            // Whoever is gone may have been forgotten by another thread meanwhile.
            self.reap();
            taken = self.state().lender.take();
        }
        let Some(chunk) = taken else {
            self.0.used_up.add(1);
            return Err(LoanError::UsedUp { chunks });
        };
        let place = chunk.place(len);
        let had = Had {
            pool: self.clone(),
            chunk: Some(chunk),
        };
        Ok(Loan { had, place })
    }

    /// Has the pool heed what one more reader holds.
    pub(crate) fn seat(&self) -> Result<PoolAdmission, SeatError> {
        let (map, slots) = CommonMap::create().map_err(SeatError::Memory)?;
        let failed = |call| move |source: io::Error| SeatError::Memory(kernel(call)(source));
        let (ours, theirs) = io::pipe().map_err(failed("pipe"))?;
        let memory = self.0.memory.try_clone().map_err(failed("fcntl"))?;
        self.reap();
        let mut state = self.state();
        let seat = state.lender.seat(map).ok_or(SeatError::Taken)?;
        state.lifelines.push((seat, Arc::new(ours.into())));
        Ok(PoolAdmission {
            shape: self.0.shape,
            descriptors: [memory, slots, theirs.into()],
        })
    }

    /// Forgets readers that can hold nothing any more.
    pub(crate) fn reap(&self) {
        let lifelines = self.state().lifelines.clone();
        let mut fds: Vec<_> = lifelines
            .iter()
            .map(|(_, lifeline)| PollFd::new(lifeline, PollFlags::empty()))
            .collect();
        // One that fails is done again when the pool is used up next.
        if !poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ended| ended > 0) {
            return;
        }
        let mut gone = Vec::new();
        let mut state = self.state();
        for ((seat, _), fd) in lifelines.iter().zip(&fds) {
            if !fd.revents().is_empty() {
                gone.extend(state.lender.free(*seat));
                state.lifelines.retain(|(number, _)| number != seat);
            }
        }
        drop(state);
        // Its pages are unmapped without the lock.
        drop(gone);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No method of a lender panics half-way.
        let state = self.0.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Memory to be written in place. Dropped without being published, it leaves nothing.
#[derive(Debug)]
pub struct Loan {
    had: Had,
    place: Place,
}

impl Loan {
    /// The bytes. Hold what was there before.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.had.chunk {
            Some(chunk) => chunk.bytes_mut(self.place.len()),
            None => &mut [],
        }
    }

    /// The same to be looked at.
    pub fn bytes(&self) -> &[u8] {
        let chunk = self.had.chunk.as_ref();
        chunk.map_or(&[], |chunk| chunk.bytes(self.place.len()))
    }

    /// Makes it shorter.
    pub fn truncate(&mut self, len: usize) {
        self.place.truncate(len);
    }

    /// Lets readers find the bytes, once they are told the [`Place`]. Costs the same for any length.
    pub fn publish(self) -> Lent {
        let Self { mut had, place } = self;
        if let Some(chunk) = &mut had.chunk {
            chunk.open();
        }
        Lent { had, place }
    }
}

/// What was lent to readers, and stays as it is until this is dropped: as long as the writer may have to tell
/// somebody of it. After that, who does not hold it may find that it is gone.
#[derive(Debug)]
pub struct Lent {
    had: Had,
    place: Place,
}

impl Lent {
    /// Where it lies.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.had.chunk {
            Some(chunk) => chunk.bytes(self.place.len()),
            None => &[],
        }
    }

    /// Every reader has looked: once this is dropped, and none holds it, the next loan is of this memory, which the
    /// processor may still have at hand. Otherwise it is of what was published longest ago, which a reader is the least
    /// likely to be about to look at.
    pub fn done_with(&mut self) {
        if let Some(chunk) = &mut self.had.chunk {
            chunk.done_with();
        }
    }
}

/// A chunk, which goes back to its pool.
#[derive(Debug)]
struct Had {
    pool: Pool,
    /// There until it is dropped.
    chunk: Option<Box<Chunk>>,
}

impl Drop for Had {
    fn drop(&mut self) {
        if let Some(chunk) = self.chunk.take() {
            self.pool.state().lender.put(chunk);
        }
    }
}

/// What a reader needs of a pool.
#[derive(Debug)]
pub(crate) struct PoolAdmission {
    pub(crate) shape: Shape,
    /// The pool, the reader's slots, its lifeline.
    pub(crate) descriptors: [OwnedFd; 3],
}

impl PoolAdmission {
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.descriptors.iter().map(AsFd::as_fd)
    }
}
