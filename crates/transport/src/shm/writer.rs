//! The writer of a log.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use std::error::Error;
use std::fmt;

use tickwire_base::copy;

use super::layout::{MAX_SEATS, RING, Ring};
use super::map::{CommonMap, OwnMap};
use super::memory::MemoryError;
use super::pool::PoolAdmission;
use super::producer::{NoRoom, Producer, Start};
use super::{Bell, Ear, MAX_LOG_BYTES, MIN_LOG_BYTES, Note, Pool};

/// A log that this process writes, and any number of readers, here or in other processes, read.
///
/// Costs two descriptors and, of memory, 64 KiB and a page for readers at the beginning, and as much again each time
/// that its records come to the end of that while a reader lags, up to its length. Publishing costs the same for
/// one reader as for all 62; it makes no system call unless one of them sleeps, or memory is to be had.
#[derive(Debug)]
pub struct LogWriter {
    producer: Producer,
    files: LogFiles,
    bells: Arc<Bells>,
    pool: Option<Pool>,
}

/// What readers map.
#[derive(Clone, Debug)]
pub struct LogFiles {
    log: Arc<OwnedFd>,
    control: Arc<OwnedFd>,
}

impl LogFiles {
    /// Log, control memory.
    pub fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.log.as_fd(), self.control.as_fd()]
    }
}

type Bells = [Option<Arc<Bell>>; MAX_SEATS];

/// Why there is no place for a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClaimError {
    /// A reader that the writer waits for has not read yet what would be overwritten.
    Full,
    /// The machine has no memory for a record that long.
    Short {
        /// The length that was asked for, in bytes.
        len: usize,
        /// The longest from now on, in bytes.
        max: usize,
    },
    /// No record of this log is that long.
    TooLong {
        /// The length that was asked for, in bytes.
        len: usize,
        /// The longest, in bytes.
        max: usize,
    },
}

impl fmt::Display for ClaimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => write!(f, "the log is full of what a reader has not read"),
            Self::Short { len, max } => write!(
                f,
                "no memory for a record of {len} bytes: the log takes {max} from now on"
            ),
            Self::TooLong { len, max } => {
                write!(
                    f,
                    "a record of {len} bytes is longer than the {max} that the log takes"
                )
            }
        }
    }
}

impl Error for ClaimError {}

/// Why a reader gets no seat.
#[derive(Debug)]
#[non_exhaustive]
pub enum SeatError {
    /// All 62 are taken, or at the log's pool: by readers that have left and still hold something.
    Taken,
    /// There is no memory for what the reader shall say of the pool.
    Memory(MemoryError),
}

impl fmt::Display for SeatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken => write!(f, "all {MAX_SEATS} seats of the log are taken"),
            Self::Memory(error) => error.fmt(f),
        }
    }
}

impl Error for SeatError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Taken => None,
            Self::Memory(error) => Some(error),
        }
    }
}

/// A reader's place at a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seat(pub(crate) usize);

/// Whether a writer waits for a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gating {
    /// It does, until it evicts it: nothing is lost.
    Waits,
    /// It does not: what the reader has not read in time is lost, and the reader knows.
    Overruns,
}

impl LogWriter {
    /// Makes a log whose ring has `len` bytes: a power of two from [`MIN_LOG_BYTES`] to [`MAX_LOG_BYTES`].
    /// A reader may lag seven eighths of it.
    pub fn new(len: usize) -> Result<Self, MemoryError> {
        let wrong = MemoryError::Length { len: len as u64 };
        let is_allowed = (MIN_LOG_BYTES..=MAX_LOG_BYTES).contains(&len);
        let ring = Ring::new(len as u64).filter(|_| is_allowed).ok_or(wrong)?;
        let step = len.min(STEP);
        let (log_map, log) = OwnMap::create(RING + len, RING + step)?;
        let (control_map, control) = CommonMap::create()?;
        let control = Arc::new(control);
        Ok(Self {
            producer: Producer::new(log_map, control_map, ring, step as u64),
            files: LogFiles { log, control },
            bells: Arc::new([const { None }; MAX_SEATS]),
            pool: None,
        })
    }

    /// The same, with a pool whose [`Place`](super::Place)s records tell: who is given a seat at the log can read
    /// what was lent.
    pub fn with_pool(len: usize, pool: Pool) -> Result<Self, MemoryError> {
        let pool = Some(pool);
        Ok(Self {
            pool,
            ..Self::new(len)?
        })
    }

    /// The longest payload of a record, in bytes: a quarter of the ring less 16. Once the log [is
    /// short](Self::is_short) no more than what it has memory for.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a ring fits the address space"
    )]
    #[inline]
    pub fn max_len(&self) -> usize {
        self.producer.max_payload() as usize
    }

    /// Room for a record of `len` bytes, to be written in place. No system call, no allocation.
    ///
    /// [`ClaimError::Full`] leaves to the caller how long to wait, and whether then to
    /// [evict](Self::evict) those that it waits for; see [`want_room`](Self::want_room).
    #[inline]
    pub fn claim(&mut self, len: usize) -> Result<Claim<'_>, ClaimError> {
        let max = self.max_len();
        let room = match u32::try_from(len) {
            Ok(len) if len as usize <= max => self.producer.claim(len),
            _ => return Err(ClaimError::TooLong { len, max }),
        };
        let at = room.map_err(|error| match error {
            NoRoom::Full => ClaimError::Full,
            NoRoom::Short => ClaimError::Short {
                len,
                max: self.max_len(),
            },
        })?;
        Ok(Claim {
            writer: self,
            at,
            len,
        })
    }

    /// Whether the machine had no memory when the log was to have more. It goes round in what it has then, for good.
    pub fn is_short(&self) -> bool {
        self.producer.is_short()
    }

    /// How much of the ring has memory, in bytes.
    pub fn backed(&self) -> u64 {
        self.producer.backed()
    }

    /// A record of these bytes.
    pub fn publish(&mut self, payload: &[u8]) -> Result<(), ClaimError> {
        let mut claim = self.claim(payload.len())?;
        copy::copy(payload, claim.bytes_mut());
        claim.publish();
        Ok(())
    }

    /// Who is to be rung, because records were published since this was asked last and readers sleep; usually
    /// nobody. To be called after each record, or after several that belong together: what is not called may
    /// leave readers asleep. One exchange of a word that is at hand.
    #[must_use = "readers sleep until this is rung or dropped"]
    #[inline]
    pub fn ringing(&self) -> Option<Ringing> {
        self.producer
            .bell()
            .then(|| Ringing(Arc::clone(&self.bells)))
    }

    /// Says that the thread is about to sleep until readers make room, which rings `ear`: their bell is its.
    /// They may have made it before, so claim again, and sleep only if that fails. [`Ear::wake`] must follow in
    /// either case. Whoever is rung may find less room than it needs, and asks again.
    pub fn want_room(&self, ear: &Ear) {
        ear.lie_down([]);
        self.producer.want_room();
    }

    /// Takes a seat for a reader that begins with the next record, and whose ear is rung by `bell`.
    pub fn seat(&mut self, bell: Arc<Bell>, gating: Gating) -> Result<Admission, SeatError> {
        let pool = self.pool.as_ref().map(Pool::seat).transpose()?;
        let start = self.producer.seat(gating == Gating::Waits);
        let start = start.ok_or(SeatError::Taken)?;
        self.set_bell(start.seat, Some(bell));
        Ok(Admission { start, pool })
    }

    /// No longer waits for the reader at a seat: it may be overrun from now on. It keeps the seat.
    pub fn evict(&mut self, seat: Seat) {
        self.producer.evict(seat.0);
    }

    /// Gives a seat back, whose reader is gone. What it holds of the pool, it keeps until it lets go of that, or its
    /// process ends.
    pub fn free(&mut self, seat: Seat) {
        self.producer.free(seat.0);
        self.set_bell(seat.0, None);
        if let Some(pool) = &self.pool {
            pool.reap();
        }
    }

    /// How far the reader at a seat lags, in bytes of the ring, headers included, to an eighth of the ring. Where the
    /// log has turned early, what it has passed over counts.
    pub fn lag(&mut self, seat: Seat) -> u64 {
        self.producer.lag(seat.0)
    }

    /// The note that the reader of a seat has left at a place, if there is one: whatever it likes, as nothing else of
    /// what it says of itself. Four loads.
    #[inline]
    pub fn note(&self, seat: Seat, place: usize) -> Option<Note> {
        self.producer.note(seat.0, place)
    }

    /// The seats that the writer waits for.
    pub fn waits_for(&self) -> impl Iterator<Item = Seat> + use<> {
        let gating = self.producer.gating();
        (0..MAX_SEATS)
            .filter(move |seat| gating & (1 << seat) != 0)
            .map(Seat)
    }

    /// What readers need.
    pub fn files(&self) -> &LogFiles {
        &self.files
    }

    /// The same: log, control memory.
    pub fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        self.files.descriptors()
    }

    fn set_bell(&mut self, seat: usize, bell: Option<Arc<Bell>>) {
        if let Some(place) = Arc::make_mut(&mut self.bells).get_mut(seat) {
            *place = bell;
        }
    }
}

/// Room for a record. Dropped without being published, it leaves nothing.
#[derive(Debug)]
pub struct Claim<'a> {
    writer: &'a mut LogWriter,
    at: usize,
    len: usize,
}

impl Claim<'_> {
    /// Where the payload goes. Holds what was there before.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.writer.producer.log.bytes_mut(self.at, self.len)
    }

    /// Makes the record shorter than was claimed.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Makes the record visible to readers that look. Those that sleep are not woken before
    /// [`LogWriter::ringing`].
    #[inline]
    pub fn publish(self) {
        self.publish_as(0);
    }

    /// The same with a tag, which tells readers what the payload is.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "claimed as a u32")]
    pub fn publish_as(self, tag: u8) {
        self.writer.producer.publish(self.len as u32, tag);
    }
}

/// Rings the sleeping readers of a log when it is dropped, which makes a system call for each: so not while
/// the log's lock is held.
#[derive(Debug)]
pub struct Ringing(Arc<Bells>);

impl Drop for Ringing {
    fn drop(&mut self) {
        self.0.iter().flatten().for_each(|bell| bell.ring());
    }
}

/// What a reader is told of its seat. To be sent to it, or used, once; then to be dropped.
#[derive(Debug)]
pub struct Admission {
    pub(crate) start: Start,
    pub(crate) pool: Option<PoolAdmission>,
}

impl Admission {
    /// Its seat.
    pub fn seat(&self) -> Seat {
        Seat(self.start.seat)
    }

    /// The number of the first record that it will read: how many came before.
    pub fn sequence(&self) -> u64 {
        self.start.sequence
    }
}

/// What of a ring has memory from the beginning, and how much more it gets at once. Has room for any datagram of
/// RTPS, which go there in one piece.
const STEP: usize = 64 << 10;
