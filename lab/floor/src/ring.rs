//! A ring in shared memory that one process writes and one reads: messages of one length, copied in
//! and out.
//!
//! ```text
//!  0           64          128
//! +-----------+-----------+--------- - - ---------+
//! | written   | read      | messages              |
//! +-----------+-----------+--------- - - ---------+
//! ```

use std::fs::OpenOptions;
use std::io::Error;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};

/// One end of a ring; which one, the caller knows.
pub(crate) struct Ring {
    memory: MmapRaw,
    len: usize,
    count: u64,
}

#[repr(C)]
struct Head {
    written: Count,
    read: Count,
}

#[repr(C, align(64))]
struct Count(AtomicU64);

impl Ring {
    /// The ring of a file, which is made if it is not there.
    pub(crate) fn open(path: &Path, len: usize) -> Result<Self, Error> {
        let count = (RING_BYTES / len).max(8).next_power_of_two();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        let bytes = size_of::<Head>() + count * len;
        file.set_len(u64::try_from(bytes).expect("64 bits"))?;
        let memory = MmapOptions::new().populate().map_raw(&file)?;
        Ok(Self {
            memory,
            len,
            count: u64::try_from(count).expect("64 bits"),
        })
    }

    fn head(&self) -> &Head {
        // SAFETY: the mapping is as long as that, aligned to a page, and zeros are a head.
        unsafe { &*self.memory.as_ptr().cast::<Head>() }
    }

    fn message(&self, number: u64) -> *mut u8 {
        let at = usize::try_from(number % self.count).expect("64 bits") * self.len;
        // SAFETY: within the mapping.
        unsafe { self.memory.as_mut_ptr().add(size_of::<Head>() + at) }
    }

    /// Whether there is room for a message.
    pub(crate) fn has_room(&self) -> bool {
        let head = self.head();
        head.written.0.load(Ordering::Relaxed) - head.read.0.load(Ordering::Acquire) < self.count
    }

    /// Writes a message, for which there is room.
    pub(crate) fn write(&self, bytes: &[u8]) {
        assert!(bytes.len() == self.len && self.has_room());
        let head = self.head();
        let number = head.written.0.load(Ordering::Relaxed);
        // SAFETY: room for a message, which the reader does not look at before it is told.
        unsafe {
            self.message(number)
                .copy_from_nonoverlapping(bytes.as_ptr(), self.len)
        };
        head.written.0.store(number + 1, Ordering::Release);
    }

    /// Whether there is a message.
    pub(crate) fn has_message(&self) -> bool {
        let head = self.head();
        head.written.0.load(Ordering::Acquire) != head.read.0.load(Ordering::Relaxed)
    }

    /// Takes a message that is there.
    pub(crate) fn read(&self, bytes: &mut [u8]) {
        assert_eq!(bytes.len(), self.len);
        let head = self.head();
        let number = head.read.0.load(Ordering::Relaxed);
        // SAFETY: a message that is there; the writer does not touch it before it is told.
        unsafe {
            self.message(number)
                .copy_to_nonoverlapping(bytes.as_mut_ptr(), self.len)
        };
        head.read.0.store(number + 1, Ordering::Release);
    }
}

/// What a ring holds, if it holds eight messages.
const RING_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_written_is_read_in_order_by_another_thread() {
        let path = std::env::temp_dir().join(format!("ring {}", std::process::id()));
        let (one, other) = (Ring::open(&path, 24), Ring::open(&path, 24));
        let (one, other) = (one.expect("a ring"), other.expect("the same"));
        std::fs::remove_file(&path).expect("it was made");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..200_000_u64 {
                    while !one.has_room() {
                        std::thread::yield_now();
                    }
                    one.write(&number.to_le_bytes().repeat(3));
                }
            });
            let mut bytes = [0; 24];
            for number in 0..200_000_u64 {
                while !other.has_message() {
                    std::thread::yield_now();
                }
                other.read(&mut bytes);
                assert_eq!(bytes[16..], number.to_le_bytes());
            }
        });
    }
}
