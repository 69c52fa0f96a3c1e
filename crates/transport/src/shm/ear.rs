//! What a thread sleeps on that follows logs, and what a writer rings.
//!
//! An eventfd, since a loop that polls sockets can wait for it too: waking another core by it took 1.04
//! times as long as by a futex (medians of seven interleaved rounds of 10,000 round trips; by `ppoll` and
//! `read`, 0.95 times), which is less than rounds differ.

use std::error::Error;
use std::fmt;
use std::fs::read_link;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{OFlags, SealFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{read, write};

use super::map::{CommonMap, PAGE};
use super::memory::{self, ForeignMemoryError, MemoryError};
use super::{LogReader, doze};

/// What the thread that follows logs sleeps on: one for all of them. Two descriptors and a page.
///
/// Becomes readable when a writer has published to a log whose reader sleeps. Writers look whether it
/// sleeps, in memory, and spare those that are awake the system call.
///
/// ```
/// # use tickwire_transport::shm::{Ear, LogReader};
/// # fn turn(ear: &Ear, readers: &mut [LogReader], is_readable: impl Fn(&Ear) -> bool) {
/// // Waits in a poller.
/// if ear.lie_down(readers.iter()) && is_readable(ear) {
///     ear.drain();
/// }
/// ear.wake();
/// for reader in readers {
///     while let Ok(Some(record)) = reader.next() {
///         // ...
///     }
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Ear {
    event: OwnedFd,
    memory: OwnedFd,
    map: CommonMap,
}

/// Why an ear could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum EarError {
    /// The kernel gave no eventfd.
    Open {
        /// Its reason.
        source: io::Error,
    },
    /// There is no memory to share.
    Memory(MemoryError),
}

impl fmt::Display for EarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { source } => write!(f, "cannot open an eventfd: {source}"),
            Self::Memory(error) => error.fmt(f),
        }
    }
}

impl Error for EarError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Open { source } => Some(source),
            Self::Memory(error) => Some(error),
        }
    }
}

impl Ear {
    /// An ear that is awake.
    pub fn new() -> Result<Self, EarError> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let event = event.map_err(|errno| EarError::Open {
            source: errno.into(),
        })?;
        let (map, memory) = CommonMap::create().map_err(EarError::Memory)?;
        Ok(Self { event, memory, map })
    }

    /// Says to the writers of all that `follows` that the thread is about to sleep. Whether it may: if
    /// not, there is news. [`wake`](Self::wake) must follow in either case, after sleeping in the one.
    ///
    /// A cache line of its own, and one or two of each log.
    pub fn lie_down<'a>(
        &self,
        follows: impl IntoIterator<Item = &'a LogReader, IntoIter: Clone>,
    ) -> bool {
        let consumers = follows.into_iter().map(LogReader::consumer);
        doze::lie_down(&self.map, consumers)
    }

    /// Says that the thread is awake.
    pub fn wake(&self) {
        doze::wake(&self.map);
    }

    /// Has it not be readable any more, where it was: only then, as it is a system call. Who rings may do so
    /// late, after the ear is awake: then the next sleep is short.
    pub fn drain(&self) {
        // Fails if it was not readable.
        let _ = read(&self.event, &mut [0; 8]);
    }

    /// Rings it, whether it sleeps or not: as a writer does, but from the own process. A system call.
    pub fn ring(&self) {
        ring(&self.event);
    }

    /// What others need to ring it: eventfd, memory.
    pub fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.event.as_fd(), self.memory.as_fd()]
    }

    /// One's own, to be rung as others' are.
    pub fn bell(&self) -> Result<Bell, ForeignMemoryError> {
        let duplicate = |fd: &OwnedFd| {
            let fd = fd.try_clone();
            fd.map_err(|source| ForeignMemoryError::Kernel { source })
        };
        Bell::new(duplicate(&self.event)?, &duplicate(&self.memory)?)
    }
}

impl AsFd for Ear {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

/// What rings an [`Ear`], be it of another process.
#[derive(Debug)]
pub struct Bell {
    event: OwnedFd,
    map: CommonMap,
}

impl Bell {
    /// Of descriptors that another process has sent.
    pub(crate) fn new(event: OwnedFd, memory: &OwnedFd) -> Result<Self, ForeignMemoryError> {
        let failed = |source| ForeignMemoryError::Kernel { source };
        let len = memory::check(memory, SealFlags::empty())?;
        if len != PAGE as u64 {
            return Err(ForeignMemoryError::Size { len });
        }
        // Something else might have us wait when we ring it.
        let kind = read_link(format!("/proc/self/fd/{}", event.as_raw_fd())).map_err(failed)?;
        if kind.as_os_str() != "anon_inode:[eventfd]" {
            return Err(ForeignMemoryError::Unsealed);
        }
        let flags = fcntl_getfl(&event).map_err(|errno| failed(errno.into()))?;
        fcntl_setfl(&event, flags | OFlags::NONBLOCK).map_err(|errno| failed(errno.into()))?;
        let map = CommonMap::map(memory).map_err(failed)?;
        Ok(Self { event, map })
    }

    /// Rings if the ear sleeps. Otherwise, a load.
    pub fn ring(&self) {
        if doze::rouse(&self.map) {
            ring(&self.event);
        }
    }
}

fn ring(event: &OwnedFd) {
    // Fails only when 2^64 - 2 rings are pending, and then the ear is awake anyway.
    let _ = write(event, &1_u64.to_ne_bytes());
}
