//! A reader of a log.

use std::error::Error;
use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::SealFlags;

use super::consumer::{Consumer, Found};
use super::layout::{HEADER, MAX_SEATS, RING, Ring};
use super::map::{CommonMap, ForeignMap, PAGE};
use super::memory::{self, ForeignMemoryError};
use super::producer::Start;
use super::{
    Admission, Bell, Copied, Lost, MAX_LOG_BYTES, MIN_LOG_BYTES, NextError, Note, Overrun,
    PoolReader,
};

/// Follows a log, usually of another process. Maps it for reading, and keeps no descriptor.
///
/// Nothing that the writer writes makes it panic or read outside of the log: the worst is
/// [`NextError::Malformed`].
#[derive(Debug)]
pub struct LogReader {
    consumer: Consumer,
    /// Rung when room was made that the writer waits for.
    writer: Option<Arc<Bell>>,
    pool: Option<PoolReader>,
}

/// Why a log cannot be followed.
#[derive(Debug)]
#[non_exhaustive]
pub enum FollowError {
    /// One of the memories that its writer sent is not as it must be.
    Memory(ForeignMemoryError),
    /// The writer speaks of a place that the log does not have.
    Malformed,
}

impl fmt::Display for FollowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(error) => error.fmt(f),
            Self::Malformed => write!(f, "no such place in the log"),
        }
    }
}

impl Error for FollowError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Memory(error) => Some(error),
            Self::Malformed => None,
        }
    }
}

impl LogReader {
    /// Follows the log of these descriptors (see [`LogWriter::descriptors`](super::LogWriter::descriptors)) from the
    /// seat that its writer gave. `writer` is rung when it waits for room and this reader makes some.
    pub fn new(
        [log, control]: [OwnedFd; 2],
        admission: Admission,
        writer: Option<Arc<Bell>>,
    ) -> Result<Self, FollowError> {
        let Start { seat, position, .. } = admission.start;
        if seat >= MAX_SEATS || position > u64::MAX / 2 || !position.is_multiple_of(HEADER) {
            return Err(FollowError::Malformed);
        }
        let kernel = |source| FollowError::Memory(ForeignMemoryError::Kernel { source });
        let len = memory::check(&log, SealFlags::FUTURE_WRITE).map_err(FollowError::Memory)?;
        let (ring, len) = ring(len).map_err(FollowError::Memory)?;
        let page = memory::check(&control, SealFlags::empty()).map_err(FollowError::Memory)?;
        if page != PAGE as u64 {
            return Err(FollowError::Memory(ForeignMemoryError::Size { len: page }));
        }
        let log = ForeignMap::map(log, len).map_err(kernel)?;
        let control = CommonMap::map(control).map_err(kernel)?;
        Ok(Self {
            consumer: Consumer::new(log, control, ring, admission.start),
            writer,
            pool: admission.pool.map(PoolReader::new).transpose()?,
        })
    }

    /// The pool that the log's records tell [`Place`](super::Place)s of, if it has one.
    pub fn pool(&self) -> Option<&PoolReader> {
        self.pool.as_ref()
    }

    /// The next record, if there is one. Does not wait; makes no system call, unless it has made room that the
    /// writer waits for. The record before counts as read.
    ///
    /// After [`NextError::Overrun`] the next call goes on with the newest record; after
    /// [`NextError::Malformed`] nothing more comes.
    #[expect(clippy::should_implement_trait, reason = "a record borrows the reader")]
    pub fn next(&mut self) -> Result<Option<Record<'_>>, NextError> {
        if self.consumer.tell() {
            self.ring_writer();
        }
        let found = self.consumer.next()?;
        if found.is_none() && self.consumer.tell_all() {
            self.ring_writer();
        }
        Ok(found.map(|found| Record {
            consumer: &mut self.consumer,
            found,
        }))
    }

    /// The same for who copies records together before looking at them: where there is none, that is left for
    /// [`next`](Self::next) to tell the writer, which may wait until what was copied is done with.
    #[inline]
    pub fn next_of_batch(&mut self) -> Result<Option<Record<'_>>, NextError> {
        if self.consumer.tell() {
            self.ring_writer();
        }
        let found = self.consumer.next()?;
        Ok(found.map(|found| Record {
            consumer: &mut self.consumer,
            found,
        }))
    }

    /// Copies records that lie one behind the other to the begin of `buffer`, which grows to the longest and does not
    /// shrink: all in one go, which takes less than [`next`](Self::next) for each. What the payloads of `records` are in
    /// the buffer then is what was published; bytes between them say nothing. They are appended to, up to `max_count`, and of no
    /// more than `max_len` bytes or an eighth of the ring unless it is one; by none if there is no record, which is left
    /// for [`next`](Self::next) to tell the writer. Else as `next`.
    pub fn read_run(
        &mut self,
        max_count: usize,
        max_len: usize,
        buffer: &mut Vec<u8>,
        records: &mut Vec<Copied>,
    ) -> Result<(), NextError> {
        let max_len = self.consumer.max_run_len(max_len);
        let read = self
            .consumer
            .copy_run((max_count, max_len), buffer, records);
        // The log may have its room, as there are copies.
        if self.consumer.tell() {
            self.ring_writer();
        }
        read
    }

    #[cold]
    fn ring_writer(&self) {
        self.writer.iter().for_each(|writer| writer.ring());
    }

    /// Whether [`next`](Self::next) would give anything, be it an error. Tells the writer nothing.
    #[inline]
    pub fn has_next(&self) -> bool {
        self.consumer.has_next()
    }

    /// Tells the writer that all records so far count as read, as [`next`](Self::next) does where it gives none.
    #[inline]
    pub fn tell_all(&mut self) {
        if self.consumer.tell_all() {
            self.ring_writer();
        }
    }

    /// Leaves a note for the writer at a place below [`MAX_NOTES`](super::MAX_NOTES), instead of the one that was there.
    /// Two or three stores; nobody is woken.
    pub fn leave_note(&mut self, place: usize, note: Note) {
        self.consumer.leave_note(place, note);
    }

    /// What was overrun so far. What an overrun has cost is known in bytes at once, in records when the next one
    /// was read.
    #[inline]
    pub fn lost(&self) -> Lost {
        self.consumer.lost()
    }

    pub(crate) fn consumer(&self) -> &Consumer {
        &self.consumer
    }
}

/// A record of a log, where it lies.
#[derive(Debug)]
pub struct Record<'a> {
    consumer: &'a mut Consumer,
    found: Found,
}

impl Record<'_> {
    /// The length of its payload in bytes: less than a quarter of the ring.
    #[inline]
    pub fn len(&self) -> usize {
        self.found.len
    }

    /// Whether there is no payload.
    pub fn is_empty(&self) -> bool {
        self.found.len == 0
    }

    /// What its writer [tagged](super::Claim::publish_as) it with.
    #[inline]
    pub fn tag(&self) -> u8 {
        self.found.tag
    }

    /// How many records the log had before this one.
    pub fn sequence(&self) -> u64 {
        self.found.sequence
    }

    /// The payload, copied to the beginning of `buffer`, which grows to the longest and does not shrink.
    /// What it returns is what was published.
    pub fn read<'b>(&mut self, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], Overrun> {
        self.read_behind(0, buffer)
    }

    /// The same behind the first `at` bytes of the buffer.
    #[inline]
    pub fn read_behind<'b>(
        &mut self,
        at: usize,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], Overrun> {
        let end = at + self.found.len;
        if buffer.len() < end {
            buffer.resize(end, 0);
        }
        let bytes = buffer.get_mut(at..end).unwrap_or_default();
        self.consumer.copy(self.found, bytes)?;
        Ok(bytes)
    }

    /// The first bytes of the payload, as many as there are and as fit: to see whether the rest is wanted.
    pub fn read_start<'b>(&mut self, buffer: &'b mut [u8]) -> Result<&'b [u8], Overrun> {
        let len = buffer.len().min(self.found.len);
        let bytes = buffer.get_mut(..len).unwrap_or_default();
        self.consumer.copy(self.found, bytes)?;
        Ok(bytes)
    }
}

/// The ring of a log whose memory has that many bytes.
fn ring(len: u64) -> Result<(Ring, usize), ForeignMemoryError> {
    let wrong = ForeignMemoryError::Size { len };
    let Ok(all) = usize::try_from(len) else {
        return Err(wrong);
    };
    let ring = all.checked_sub(RING);
    let ring = ring.filter(|ring| (MIN_LOG_BYTES..=MAX_LOG_BYTES).contains(ring));
    let ring = ring.and_then(|ring| Ring::new(ring as u64));
    ring.map(|ring| (ring, all)).ok_or(wrong)
}
