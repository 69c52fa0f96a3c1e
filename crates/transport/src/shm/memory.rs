//! Memory without a name, which ends with the last process that has it: made with the pages that are used at
//! once, given the others before they are, and sealed against changes of size; and looked at before it is mapped,
//! if another process has made it.

use std::error::Error;
use std::fmt;
use std::fs::read_to_string;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fcntl_get_seals, fstat,
    ftruncate, memfd_create,
};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

/// Why memory to share could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum MemoryError {
    /// A log's length is not a power of two, or too small or too large.
    Length {
        /// What was asked for, in bytes.
        len: u64,
    },
    /// A pool has too few chunks, too many, or too large ones.
    Pool {
        /// Bytes of a chunk, as was asked for.
        chunk_len: usize,
        /// How many chunks.
        count: usize,
    },
    /// The machine has less memory to spare.
    Scarce {
        /// What was asked for, in bytes.
        len: u64,
        /// What it has, in bytes.
        available: u64,
    },
    /// The process may not make files that large, which counts for memory, too.
    Limited {
        /// What was asked for, in bytes.
        len: u64,
        /// RLIMIT_FSIZE, in bytes.
        limit: u64,
    },
    /// The kernel refused.
    Kernel {
        /// What it was asked to do: a system call, or a seal.
        call: &'static str,
        /// Its reason.
        source: io::Error,
    },
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { len } => write!(
                f,
                "a log of {len} bytes: its length is a power of two from {} to {}",
                super::MIN_LOG_BYTES,
                super::MAX_LOG_BYTES
            ),
            Self::Pool { chunk_len, count } => write!(
                f,
                "a pool of {count} times {chunk_len} bytes: it has from 2 to {} chunks, each of a byte at least, \
                 and {} bytes in all, of which each chunk takes {} for itself",
                super::MAX_CHUNKS,
                super::MAX_POOL_BYTES,
                super::pool::BYTES
            ),
            Self::Scarce { len, available } => write!(
                f,
                "no memory for {len} bytes to share: the machine has {available} to spare; ask for less"
            ),
            Self::Limited { len, limit } => write!(
                f,
                "no memory for {len} bytes to share: the process is limited to files of {limit} \
                 (`ulimit -f` shows it in blocks)"
            ),
            Self::Kernel { call, source } => {
                write!(f, "cannot make memory to share: {call}: {source}")?;
                match *call {
                    "F_SEAL_FUTURE_WRITE" => write!(f, "; it takes Linux 5.1"),
                    _ => Ok(()),
                }
            }
        }
    }
}

impl Error for MemoryError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Kernel { source, .. } => Some(source),
            _ => None,
        }
    }
}

pub(crate) fn kernel(call: &'static str) -> impl FnOnce(io::Error) -> MemoryError {
    move |source| MemoryError::Kernel { call, source }
}

/// Why memory that another process has made is not mapped.
#[derive(Debug)]
#[non_exhaustive]
pub enum ForeignMemoryError {
    /// It has another size than it should.
    Size {
        /// Its size in bytes.
        len: u64,
    },
    /// It may shrink, or others than its maker may write to it.
    Unsealed,
    /// The kernel did not tell, or did not map it.
    Kernel {
        /// Its reason.
        source: io::Error,
    },
}

impl fmt::Display for ForeignMemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { len } => write!(f, "shared memory has the wrong size, {len} bytes"),
            Self::Unsealed => write!(f, "shared memory is not sealed as it must be"),
            Self::Kernel { source } => write!(f, "cannot map shared memory: {source}"),
        }
    }
}

impl Error for ForeignMemoryError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Kernel { source } => Some(source),
            Self::Size { .. } | Self::Unsealed => None,
        }
    }
}

/// Makes memory of `len` bytes, all zero, whose size stays and whose first `backed` bytes have pages. More seals
/// may be set.
pub(crate) fn create(len: usize, backed: usize) -> Result<OwnedFd, MemoryError> {
    let wanted = allowed(len)?;
    let failed = |call| move |errno: Errno| kernel(call)(errno.into());
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let fd = memfd_create("tickwire", flags).map_err(failed("memfd_create"))?;
    ftruncate(&fd, wanted).map_err(failed("ftruncate"))?;
    reserve(&fd, 0, backed).map_err(failed("fallocate"))?;
    fcntl_add_seals(&fd, SIZE_SEALS).map_err(failed("F_ADD_SEALS"))?;
    Ok(fd)
}

/// The size of memory that another process has made, which stays as it is.
pub(crate) fn check(fd: impl AsFd, seals: SealFlags) -> Result<u64, ForeignMemoryError> {
    let failed = |errno: Errno| ForeignMemoryError::Kernel {
        source: errno.into(),
    };
    // What cannot be sealed is no such memory.
    let has = fcntl_get_seals(&fd).map_err(|_| ForeignMemoryError::Unsealed)?;
    if !has.contains(seals | SIZE_SEALS) {
        return Err(ForeignMemoryError::Unsealed);
    }
    let size = fstat(&fd).map_err(failed)?.st_size;
    u64::try_from(size).map_err(|_| ForeignMemoryError::Size { len: 0 })
}

/// Has pages for the bytes from `start` to `end` of memory of `len` bytes.
pub(crate) fn back(fd: &OwnedFd, start: usize, end: usize, len: usize) -> Result<(), MemoryError> {
    allowed(len)?;
    reserve(fd, start, end).map_err(|errno| kernel("fallocate")(errno.into()))
}

/// The length, unless the process may not have memory of that length, or the machine has less to spare: it is asked
/// for the whole even where a part is wanted, which leaves something for others.
fn allowed(len: usize) -> Result<u64, MemoryError> {
    let len = len as u64;
    // Beyond this limit the kernel does not just refuse, it sends SIGXFSZ.
    let limit = getrlimit(Resource::Fsize).current;
    if let Some(limit) = limit.filter(|&limit| limit < len) {
        return Err(MemoryError::Limited { len, limit });
    }
    // Nor does it refuse what the machine does not have, it kills somebody.
    match available_bytes().filter(|&available| available < len) {
        Some(available) => Err(MemoryError::Scarce { len, available }),
        None => Ok(len),
    }
}

/// A step at a time, as a signal undoes the step that it interrupts.
fn reserve(fd: &OwnedFd, start: usize, end: usize) -> Result<(), Errno> {
    let (mut start, end) = (start as u64, end as u64);
    while start < end {
        let step = (end - start).min(RESERVE_STEP);
        match fallocate(fd, FallocateFlags::empty(), start, step) {
            Ok(()) => start += step,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// What the machine can give to programs without swapping, by its own estimate; `None` if it does not say.
fn available_bytes() -> Option<u64> {
    let text = read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

const SIZE_SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

const RESERVE_STEP: u64 = 4 << 20;

#[cfg(test)]
mod tests {
    use super::super::map::PAGE;
    use super::*;

    #[test]
    fn memory_that_the_machine_does_not_have_is_refused() {
        let available = available_bytes().expect("Linux says");
        let wanted = usize::try_from(available).expect("64 bits") * 2;
        let error = create(wanted, PAGE).expect_err("twice as much as there is");
        assert!(matches!(error, MemoryError::Scarce { .. }), "{error}");
    }

    #[test]
    fn memory_that_may_shrink_is_not_trusted() {
        let fd = memfd_create("test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
        let fd = fd.expect("a memfd");
        ftruncate(&fd, 8192).expect("room");
        let unsealed = check(&fd, SealFlags::empty());
        assert!(matches!(unsealed, Err(ForeignMemoryError::Unsealed)));
        fcntl_add_seals(&fd, SIZE_SEALS).expect("allowed");
        assert!(matches!(check(&fd, SealFlags::empty()), Ok(8192)));
        let writable = check(&fd, SealFlags::FUTURE_WRITE);
        assert!(matches!(writable, Err(ForeignMemoryError::Unsealed)));
        let file = std::fs::File::open("/proc/self/exe").expect("a file");
        let file = check(&file, SealFlags::empty());
        assert!(matches!(file, Err(ForeignMemoryError::Unsealed)));
    }
}
