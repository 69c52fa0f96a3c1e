//! Waking a process that sleeps: a word of shared memory, and a futex on it.

use std::fs::OpenOptions;
use std::io::Error;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::Duration;

use libc::{FUTEX_WAIT, FUTEX_WAKE, SYS_futex, syscall, timespec};
use memmap2::{MmapOptions, MmapRaw};

/// A process's doorbell. Its word is 1 while the process sleeps.
pub(crate) struct Doorbell(MmapRaw);

impl Doorbell {
    /// The doorbell of a file, which is made if it is not there.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        file.set_len(64)?;
        Ok(Self(MmapOptions::new().populate().map_raw(&file)?))
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: the mapping is that long, aligned to a page, and every value is valid.
        unsafe { &*self.0.as_ptr().cast() }
    }

    /// Wakes the process if it sleeps; to be called when there is something to see. No system call if
    /// it does not.
    pub(crate) fn ring(&self) {
        fence(Ordering::SeqCst);
        let word = self.word();
        if word.load(Ordering::Relaxed) == 1 && word.swap(0, Ordering::Relaxed) == 1 {
            // SAFETY: the word lives as long as `self`.
            unsafe { syscall(SYS_futex, word.as_ptr(), FUTEX_WAKE, 1) };
        }
    }

    /// Sleeps until it rings or the time is over, unless `is_ready` by then. May wake for nothing.
    pub(crate) fn sleep(&self, patience: Duration, is_ready: impl Fn() -> bool) {
        let word = self.word();
        word.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if is_ready() {
            word.store(0, Ordering::Relaxed);
            return;
        }
        let time = timespec {
            tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(patience.subsec_nanos()),
        };
        // SAFETY: the word lives as long as `self`, the time as long as the call.
        unsafe { syscall(SYS_futex, word.as_ptr(), FUTEX_WAIT, 1, &raw const time) };
    }
}
