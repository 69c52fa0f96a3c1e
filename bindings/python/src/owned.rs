//! What Python objects hold of the engine, until they are closed or collected.

use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use crate::errors::{Kind, run};

/// Forks that this process has come from, since the module was loaded: children of `os.fork` have none of the
/// engine's threads, and its locks as they were.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// In which process something was made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Generation(u32);

impl Generation {
    pub(crate) fn now() -> Self {
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// Whether that was in this process.
    pub(crate) fn is_now(self) -> bool {
        self == Self::now()
    }

    /// Why something cannot be used where it was not made.
    pub(crate) fn error(what: &str) -> PyErr {
        let text = "belongs to the process that has forked this one: make another here";
        Kind::Closed.error(format!("the {what} {text}"))
    }
}

/// This process is the child of a fork: what was made before is not its own.
#[pyfunction(name = "_has_forked")]
pub(crate) fn has_forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// A handle that can be closed before its Python object ends. The engine may wait when it lets go of one,
/// for threads that may be about to call a listener: so never with the interpreter's lock held. And never in the
/// child of a fork, where it would wait for threads that are not there: what came from the parent stays as it is.
pub(crate) struct Owned<T: Send> {
    what: &'static str,
    made: Generation,
    handle: Mutex<Option<T>>,
}

impl<T: Clone + Send> Owned<T> {
    pub(crate) fn new(what: &'static str, handle: T) -> Self {
        Self {
            what,
            made: Generation::now(),
            handle: Mutex::new(Some(handle)),
        }
    }

    /// The handle; an error if it is closed.
    pub(crate) fn get(&self) -> PyResult<T> {
        if !self.made.is_now() {
            return Err(Generation::error(self.what));
        }
        let handle = lock(&self.handle).clone();
        handle.ok_or_else(|| Kind::Closed.error(format!("the {} is closed", self.what)))
    }

    /// Whether it is closed.
    pub(crate) fn is_closed(&self) -> bool {
        !self.made.is_now() || lock(&self.handle).is_none()
    }

    /// Lets go of the handle; who is in a call with it ends that first.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        let handle = lock(&self.handle).take();
        if !self.made.is_now() {
            mem::forget(handle);
            return Ok(());
        }
        run(py, || drop(handle))
    }
}

impl<T: Send> Drop for Owned<T> {
    fn drop(&mut self) {
        let handle = lock(&self.handle).take();
        if !self.made.is_now() {
            mem::forget(handle);
        } else if handle.is_some() {
            // When the interpreter ends, `atexit` has closed everything.
            Python::try_attach(|py| py.detach(|| drop(handle)));
        }
    }
}

/// The lock of what no panic leaves half done.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
