//! Ends a participant when the application has let go of everything that belongs to it.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crate::core::Core;

/// Held by the participant, its publishers and subscribers, and each of its writers and readers.
pub(crate) struct Lifeline {
    pub(crate) core: Arc<Core>,
    threads: Vec<JoinHandle<()>>,
}

impl Lifeline {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self {
            core,
            threads: Vec::new(),
        }
    }

    /// Ends the thread, too.
    pub(crate) fn adopt(&mut self, thread: JoinHandle<()>) {
        self.threads.push(thread);
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        self.core.stop();
        for handle in self.threads.drain(..) {
            // A listener may have held the last reference: a thread does not wait for itself. One
            // that panicked has told so on standard error.
            if handle.thread().id() != thread::current().id() {
                let _ = handle.join();
            }
        }
    }
}
