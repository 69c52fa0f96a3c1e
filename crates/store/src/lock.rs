//! Who has a log: locks on three bytes of its `lock` file, which go with the process however it ends.
//!
//! ```text
//! byte 0  has the log             byte 1  wants the log            byte 2  is a durability service
//! ```
//!
//! They are locks of the open file (`F_OFD_SETLK`), as two writers of one process must exclude each
//! other, and as others can look at them without taking them (`F_OFD_GETLK`), which `flock` does not let
//! them do.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

use crate::error::{Operation, StoreError};

/// Who has a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Nobody: its writer has ended.
    Nobody,
    /// A writer.
    Writer,
    /// A durability service, until a writer [wants](crate::Log::is_wanted) it.
    Service,
}

/// A log's `lock` file; what it has locked is free when it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Opens the file, which is made if it is not there.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path);
        Ok(Self {
            file: file.map_err(StoreError::io(Operation::Open, path))?,
        })
    }

    /// Takes the log, unless somebody has it; then this is to be dropped.
    pub(crate) fn try_own(&self, is_service: bool) -> io::Result<bool> {
        // First, lest a writer takes the service for one of its kind.
        if is_service {
            self.set(SERVICE)?;
        }
        self.set(OWN)
    }

    /// Has a service that has the log let go of it.
    pub(crate) fn want(&self) -> io::Result<bool> {
        self.set(WANT)
    }

    /// Whether somebody else wants the log.
    pub(crate) fn is_wanted(&self) -> bool {
        is_locked(&self.file, WANT).unwrap_or(false)
    }

    /// Who else has the log.
    pub(crate) fn owner(&self) -> io::Result<Owner> {
        owner(&self.file)
    }

    fn set(&self, byte: i64) -> io::Result<bool> {
        let lock = write_lock(byte);
        match fcntl(&self.file, FcntlArg::F_OFD_SETLK(&lock)) {
            Ok(_) => Ok(true),
            Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// A process that another thread forks meanwhile keeps the open file, and with it the locks, until it
/// runs another program.
impl Drop for Lock {
    fn drop(&mut self) {
        let all = libc::flock {
            l_type: libc::F_UNLCK as libc::c_short,
            l_len: 0,
            ..write_lock(0)
        };
        // Closing the file unlocks it otherwise.
        let _ = fcntl(&self.file, FcntlArg::F_OFD_SETLK(&all));
    }
}

/// Who has the log of this `lock` file, as far as others than `file` go.
pub(crate) fn owner(file: &File) -> io::Result<Owner> {
    Ok(match (is_locked(file, OWN)?, is_locked(file, SERVICE)?) {
        (false, _) => Owner::Nobody,
        (true, false) => Owner::Writer,
        (true, true) => Owner::Service,
    })
}

fn is_locked(file: &File, byte: i64) -> io::Result<bool> {
    let mut lock = write_lock(byte);
    fcntl(file, FcntlArg::F_OFD_GETLK(&mut lock))?;
    Ok(i32::from(lock.l_type) != libc::F_UNLCK)
}

fn write_lock(byte: i64) -> libc::flock {
    libc::flock {
        // Constants between 0 and 2.
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: byte,
        l_len: 1,
        l_pid: 0,
    }
}

const OWN: i64 = 0;
const WANT: i64 = 1;
const SERVICE: i64 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_is_free_though_a_forked_process_still_has_the_file() {
        let name = format!("tickwire-lock-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let lock = Lock::open(&path).expect("a new file");
        assert!(lock.try_own(true).expect("nobody has it"));
        // As a fork has it: the same open file.
        let forked = lock.file.try_clone().expect("an open file");
        drop(lock);
        let other = Lock::open(&path).expect("the file");
        assert_eq!(other.owner().expect("a look"), Owner::Nobody);
        assert!(other.try_own(false).expect("nobody has it"));
        drop(forked);
        std::fs::remove_file(&path).expect("the file");
    }
}
