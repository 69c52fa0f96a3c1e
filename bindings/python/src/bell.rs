//! Tells an event loop that samples have come: a socket that can be read, so that no thread has to wait.

use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

/// A pair of sockets, of which one can be read once the bell has rung.
pub(crate) struct Bell {
    rung: AtomicBool,
    near: UnixStream,
    far: UnixStream,
}

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        let (near, far) = UnixStream::pair()?;
        near.set_nonblocking(true)?;
        far.set_nonblocking(true)?;
        Ok(Self {
            rung: AtomicBool::new(false),
            near,
            far,
        })
    }

    /// Makes it readable, if it is not so already. Costs a system call then.
    pub(crate) fn ring(&self) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            // It cannot be full.
            let _ = (&self.far).write(&[1]);
        }
    }

    /// Makes it unreadable, until it rings again. Whoever does so looks for samples afterwards.
    pub(crate) fn hear(&self) {
        let mut bytes = [0; 16];
        while (&self.near).read(&mut bytes).is_ok_and(|len| len > 0) {}
        self.rung.store(false, Ordering::Release);
    }

    /// What an event loop waits for.
    pub(crate) fn descriptor(&self) -> i32 {
        self.near.as_raw_fd()
    }
}
