//! What Python objects hold of the engine, until they are closed or collected.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use crate::errors::{Kind, run};

/// A handle that can be closed before its Python object ends. The engine may wait when it lets go of one,
/// for threads that may be about to call a listener: so never with the interpreter's lock held.
pub(crate) struct Owned<T: Send> {
    what: &'static str,
    handle: Mutex<Option<T>>,
}

impl<T: Clone + Send> Owned<T> {
    pub(crate) fn new(what: &'static str, handle: T) -> Self {
        Self {
            what,
            handle: Mutex::new(Some(handle)),
        }
    }

    /// The handle; an error if it is closed.
    pub(crate) fn get(&self) -> PyResult<T> {
        let handle = lock(&self.handle).clone();
        handle.ok_or_else(|| Kind::Closed.error(format!("the {} is closed", self.what)))
    }

    /// Whether it is closed.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.handle).is_none()
    }

    /// Lets go of the handle; who is in a call with it ends that first.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        let handle = lock(&self.handle).take();
        run(py, || drop(handle))
    }
}

impl<T: Send> Drop for Owned<T> {
    fn drop(&mut self) {
        let handle = lock(&self.handle).take();
        if handle.is_some() {
            // When the interpreter ends, `atexit` has closed everything.
            Python::try_attach(|py| py.detach(|| drop(handle)));
        }
    }
}

/// The lock of what no panic leaves half done.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
