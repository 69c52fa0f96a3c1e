//! Memory that processes share, behind an interface without `unsafe`: the only unsafe code of this crate but for the [cycle
//! counter](crate::clock).
//!
//! What another process does to memory is outside of what Rust's rules can see, so it must not be
//! able to break what the compiler assumes of references. There are three kinds of mapping, by who writes:
//!
//! - [`OwnMap`]: this mapping alone, in all processes. The kernel sees to that: the memory is mapped and then
//!   sealed against further writing before anybody else can have it. So a `&mut [u8]` into it is what it
//!   says: others may only look, at any time, and what they see is theirs to doubt. [`OwnPart`]s are such a
//!   mapping divided: no two have a byte in common.
//! - [`ForeignMap`]: another process writes, at any time; here it is mapped for reading. There is never a
//!   reference to its bytes: they are copied by relaxed atomic loads, word for word, and what comes out
//!   may be torn, but is the reader's own. Whether it was torn, the log's positions tell. Loads
//!   are relaxed, with fences after them, as only these are defined for memory that cannot be written to.
//! - [`CommonMap`]: all write. Atomic words alone.
//!
//! Nothing shrinks: sizes are sealed, and looked at before mapping. Writers have pages where they write before
//! they do, and readers look only where a record is said to be, so that no access ends in a SIGBUS. (A writer
//! that says so where it has no pages has the reader's access make them; on a machine that has none left, the
//! kernel ends the reader, which such a writer, of the same user, can do anyway.)
//! An access outside of a mapping, which no caller makes, reads zero and writes nothing.
//!
//! In place of [`ForeignMap::copy`], a `&[u8]` saves a copy. Into a log it would be wrong as soon as a reader that
//! holds it is stopped, taken for dead and overrun. Into a pool it is right as long as the writer keeps to the
//! protocol, by which it does not touch what is held. That it cannot break it, the kernel does not offer: writing
//! is given up for all mappings that there are or for none. So [`ForeignMap::trusted_bytes`] rests on one thing
//! that nothing here proves: that the process which maps this memory for writing runs this crate, or one that
//! keeps to the same. The kernel vouches that it is the same user's, who could write to our memory without
//! it (`/proc/PID/mem`, `ptrace`), which Rust's rules leave outside, too. No other reader has to be trusted, since
//! each says in memory of its own what it holds. It is for whoever calls to decide, by that name, and who does not
//! trust calls `copy`.
#![allow(
    unsafe_code,
    reason = "mapped memory has no safe interface in the standard library"
)]

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;

use rustix::fs::{SealFlags, fcntl_add_seals};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

use super::atomic::{AtomicU64, Ordering, fence};
use super::memory::{self, MemoryError, kernel};

/// Room for what is not the ring, and the least that is mapped.
pub(crate) const PAGE: usize = 4096;

/// Memory that this mapping alone writes to.
#[derive(Debug)]
pub(crate) struct OwnMap {
    region: Region,
    source: Source,
}

/// Where pages come from that are not there from the beginning.
#[derive(Debug)]
enum Source {
    /// The memory's descriptor.
    File(Arc<OwnedFd>),
    /// Has pages up to there.
    #[cfg(test)]
    Heap { len: usize },
}

impl OwnMap {
    /// Makes memory of `len` bytes, all zero, that nobody else can ever write to, of which the first `backed` have
    /// pages. To access others is an error of the caller's until [`back`](Self::back) has seen to these.
    pub(crate) fn create(len: usize, backed: usize) -> Result<(Self, Arc<OwnedFd>), MemoryError> {
        let fd = Arc::new(memory::create(len, backed)?);
        let region =
            Region::map(&fd, len, ProtFlags::READ | ProtFlags::WRITE).map_err(kernel("mmap"))?;
        fcntl_add_seals(&fd, SealFlags::FUTURE_WRITE | SealFlags::SEAL)
            .map_err(|errno| kernel("F_SEAL_FUTURE_WRITE")(errno.into()))?;
        region.populate(0, backed, Advice::LinuxPopulateWrite);
        let source = Source::File(Arc::clone(&fd));
        Ok((Self { region, source }, fd))
    }

    /// Has pages for the bytes from `start` to `end`, whole pages both. False if there is no memory for them.
    pub(crate) fn back(&mut self, start: usize, end: usize) -> bool {
        match &self.source {
            Source::File(fd) => {
                let is_backed = memory::back(fd, start, end, self.region.len).is_ok();
                if is_backed {
                    self.region.populate(start, end, Advice::LinuxPopulateWrite);
                }
                is_backed
            }
            #[cfg(test)]
            Source::Heap { len } => end <= *len,
        }
    }

    #[inline]
    pub(crate) fn store(&mut self, at: usize, value: u64, order: Ordering) {
        if let Some(word) = self.region.word(at) {
            word.store(value, order);
        }
    }

    /// The bytes from `at`, a multiple of eight.
    #[inline]
    pub(crate) fn bytes_mut(&mut self, at: usize, len: usize) -> &mut [u8] {
        match self.region.within(at, len) {
            // SAFETY: the bytes are within the mapping, which lives as long as the borrow of `self`.
            // Nobody else writes to them: this is the only mapping that can be written to (`create` is the
            // only constructor outside of tests), and it is borrowed for as long. Other processes read them meanwhile,
            // through mappings of their own, which has no effect here.
            Some(start) => unsafe { slice::from_raw_parts_mut(start.as_ptr(), len) },
            None => &mut [],
        }
    }

    /// Divides it in parts of `part_len` bytes, a multiple of eight; what is left over at the end is nobody's.
    pub(crate) fn split(self, part_len: usize) -> Vec<OwnPart> {
        let region = Arc::new(self.region);
        let count = region.len.checked_div(part_len).unwrap_or_default();
        let part = |index| OwnPart {
            region: Arc::clone(&region),
            start: index * part_len,
            len: part_len,
        };
        (0..count).map(part).collect()
    }
}

/// A part of an [`OwnMap`], that whoever has it alone writes to.
#[derive(Debug)]
pub(crate) struct OwnPart {
    region: Arc<Region>,
    /// Where in the region it begins.
    start: usize,
    len: usize,
}

impl OwnPart {
    pub(crate) fn store(&mut self, at: usize, value: u64, order: Ordering) {
        let word = self.within(at, 8).and_then(|at| self.region.word(at));
        if let Some(word) = word {
            word.store(value, order);
        }
    }

    /// The bytes from `at`, a multiple of eight.
    pub(crate) fn bytes(&self, at: usize, len: usize) -> &[u8] {
        let within = self.within(at, len);
        match within.and_then(|at| self.region.within(at, len)) {
            // SAFETY: the bytes are within the mapping, which lives as long as `self`. Nobody writes to them while
            // `self` is borrowed: no other process can, as `OwnMap::create` has seen to; and in this one, who
            // writes to them borrows `self` mutably, since `split` has taken the mapping, gives each byte to one
            // part only, and parts cannot be cloned.
            Some(start) => unsafe { slice::from_raw_parts(start.as_ptr(), len) },
            None => &[],
        }
    }

    /// The bytes from `at`, a multiple of eight.
    pub(crate) fn bytes_mut(&mut self, at: usize, len: usize) -> &mut [u8] {
        let within = self.within(at, len);
        match within.and_then(|at| self.region.within(at, len)) {
            // SAFETY: as in `bytes`, and `self` is borrowed mutably for as long.
            Some(start) => unsafe { slice::from_raw_parts_mut(start.as_ptr(), len) },
            None => &mut [],
        }
    }

    /// Where in the region that is, if it is within the part.
    fn within(&self, at: usize, len: usize) -> Option<usize> {
        let end = at.checked_add(len)?;
        (end <= self.len).then_some(self.start + at)
    }
}

/// Memory that another process writes to, whatever and whenever it likes.
#[derive(Debug)]
pub(crate) struct ForeignMap(Region);

impl ForeignMap {
    /// Maps `len` bytes, of which [`memory::check`] has seen that they stay. Makes no page of them.
    pub(crate) fn map(fd: impl AsFd, len: usize) -> io::Result<Self> {
        Region::map(fd, len, ProtFlags::READ).map(Self)
    }

    /// Maps all pages in one go rather than each when it is looked at first, where the kernel can (Linux 5.14).
    pub(crate) fn populate(&self) {
        self.0.populate(0, self.0.len, Advice::LinuxPopulateRead);
    }

    /// A word, at a multiple of eight. Relaxed.
    #[inline]
    pub(crate) fn load(&self, at: usize) -> u64 {
        let word = self.0.word(at);
        word.map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// A word and, as it is no earlier than that, the one behind it.
    #[inline]
    pub(crate) fn load_two(&self, at: usize) -> [u64; 2] {
        let [one, other] = self.0.words(at, 16) else {
            return [0; 2];
        };
        let one = one.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        [one, other.load(Ordering::Relaxed)]
    }

    /// Copies the bytes from `at`, a multiple of eight. They may change meanwhile.
    pub(crate) fn copy(&self, at: usize, into: &mut [u8]) {
        let words = self.0.words(at, into.len().next_multiple_of(8));
        let (whole, rest) = into.as_chunks_mut::<8>();
        let (first, last) = words.split_at(whole.len().min(words.len()));
        let copy = |(bytes, word): (&mut [u8; 8], &AtomicU64)| {
            *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
        };
        // Several at a time, whose number is known when this is compiled.
        let (eights, ones) = whole.as_chunks_mut::<8>();
        let (first_eights, first_ones) = first.as_chunks::<8>();
        for (bytes, words) in eights.iter_mut().zip(first_eights) {
            bytes.iter_mut().zip(words).for_each(copy);
        }
        ones.iter_mut().zip(first_ones).for_each(copy);
        if let Some(word) = last.first() {
            let word = word.load(Ordering::Relaxed).to_ne_bytes();
            rest.iter_mut().zip(word).for_each(|(to, from)| *to = from);
        }
    }

    /// The bytes from `at`, a multiple of eight, of which the caller trusts the process that writes to this memory
    /// that they stay as they are while the slice lives: see the top of this file.
    pub(crate) fn trusted_bytes(&self, at: usize, len: usize) -> &[u8] {
        match self.0.within(at, len) {
            // SAFETY: the bytes are within the mapping, which lives as long as `self`. That nobody writes to them
            // meanwhile is what the caller trusts the writer for, who has lent them.
            Some(start) => unsafe { slice::from_raw_parts(start.as_ptr(), len) },
            None => &[],
        }
    }
}

/// Memory that all write to.
#[derive(Debug)]
pub(crate) struct CommonMap(Region);

impl CommonMap {
    /// Makes a page, all zero.
    pub(crate) fn create() -> Result<(Self, OwnedFd), MemoryError> {
        let fd = memory::create(PAGE, PAGE)?;
        fcntl_add_seals(&fd, SealFlags::SEAL)
            .map_err(|errno| kernel("F_ADD_SEALS")(errno.into()))?;
        let map = Self::map(&fd).map_err(kernel("mmap"))?;
        Ok((map, fd))
    }

    /// Maps a page, of which [`memory::check`] has seen that it is there and stays.
    pub(crate) fn map(fd: impl AsFd) -> io::Result<Self> {
        Region::map(fd, PAGE, ProtFlags::READ | ProtFlags::WRITE).map(Self)
    }

    pub(crate) fn load(&self, at: usize, order: Ordering) -> u64 {
        self.0.word(at).map_or(0, |word| word.load(order))
    }

    pub(crate) fn store(&self, at: usize, value: u64, order: Ordering) {
        if let Some(word) = self.0.word(at) {
            word.store(value, order);
        }
    }

    /// Replaces the word; what it was. Acquires and releases.
    pub(crate) fn swap(&self, at: usize, value: u64) -> u64 {
        let word = self.0.word(at);
        word.map_or(0, |word| word.swap(value, Ordering::AcqRel))
    }
}

/// Mapped memory, unmapped when dropped.
#[derive(Debug)]
struct Region {
    /// Aligned to a page.
    start: NonNull<u8>,
    len: usize,
    memory: Memory,
}

/// Where a region's memory comes from.
#[derive(Clone, Debug)]
enum Memory {
    Mapped,
    /// Miri knows no mappings of files.
    #[cfg(test)]
    Heap(#[expect(dead_code, reason = "keeps the words")] Arc<[AtomicU64]>),
}

// SAFETY: the memory belongs to the process, not to a thread; `Region` hands out atomics only, and `OwnMap` and
// `OwnPart` a `&mut` only for a `&mut` of their own, to bytes that are nobody else's.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    fn map(fd: impl AsFd, len: usize, protection: ProtFlags) -> io::Result<Self> {
        // SAFETY: the kernel chooses the place, so that no mapping is replaced.
        let start = unsafe { mmap(ptr::null_mut(), len, protection, MapFlags::SHARED, fd, 0) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self {
            start,
            len,
            memory: Memory::Mapped,
        })
    }

    /// Maps the pages from `start` to `end`, which there are. Where the kernel cannot, each is when it is first used.
    fn populate(&self, start: usize, end: usize, how: Advice) {
        if let Some(len) = end.checked_sub(start)
            && let Some(from) = self.within(start, len)
        {
            // SAFETY: the pages are within the mapping, and to populate them changes nothing that they hold.
            let _ = unsafe { madvise(from.as_ptr().cast(), len, how) };
        }
    }

    /// Where `len` bytes from `at` begin, if all are within the mapping and `at` is a multiple of eight.
    #[inline]
    fn within(&self, at: usize, len: usize) -> Option<NonNull<u8>> {
        let end = at.checked_add(len)?;
        if end > self.len || !at.is_multiple_of(8) {
            return None;
        }
        // SAFETY: `at` is at most `self.len`, the length of the allocation that `start` begins.
        Some(unsafe { self.start.add(at) })
    }

    /// The word that has the byte at `at`.
    #[inline]
    fn word(&self, at: usize) -> Option<&AtomicU64> {
        let (index, count) = (at / 8, self.len / 8);
        // SAFETY: as in `words`: it is one of so many words that the mapping has.
        (index < count).then(|| unsafe { self.start.cast::<AtomicU64>().add(index).as_ref() })
    }

    /// `len` is a multiple of eight.
    #[inline]
    fn words(&self, at: usize, len: usize) -> &[AtomicU64] {
        match self.within(at, len) {
            // SAFETY: the words are within the mapping, which lives as long as `self`, and aligned, as the mapping
            // is to a page and `at` to eight bytes. Whoever writes to them here does so atomically, or by
            // `bytes_mut`, which excludes that this slice lives.
            Some(start) => unsafe { slice::from_raw_parts(start.cast().as_ptr(), len / 8) },
            None => &[],
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        match self.memory {
            Memory::Mapped => {
                // SAFETY: `map` has mapped these bytes, and references to them borrow `self`.
                let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
            }
            #[cfg(test)]
            Memory::Heap(_) => {}
        }
    }
}

/// A log and control memory without a mapping: for the writer, and for as many readers as are asked for.
#[cfg(test)]
pub(crate) mod heap {
    use super::*;

    pub(crate) fn log(len: usize) -> (OwnMap, impl Fn() -> ForeignMap) {
        short_log(len, len)
    }

    /// For whose writer there is memory up to `backed` alone.
    pub(crate) fn short_log(len: usize, backed: usize) -> (OwnMap, impl Fn() -> ForeignMap) {
        let share = share(len);
        let own = OwnMap {
            region: share(),
            source: Source::Heap { len: backed },
        };
        (own, move || ForeignMap(share()))
    }

    pub(crate) fn common() -> impl Fn() -> CommonMap {
        let share = share(PAGE);
        move || CommonMap(share())
    }

    fn share(len: usize) -> impl Fn() -> Region {
        let words: Arc<[AtomicU64]> = (0..len / 8).map(|_| AtomicU64::new(0)).collect();
        move || Region {
            start: NonNull::new(words.as_ptr().cast_mut().cast()).expect("allocated"),
            len,
            memory: Memory::Heap(Arc::clone(&words)),
        }
    }
}
