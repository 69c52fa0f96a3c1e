//! Ends a participant when the application has let go of everything that belongs to it.

use std::io;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use crate::core::Core;
use crate::lane::{Lane, LaneKind};
use crate::signal::lock;

/// Held by the participant, its publishers and subscribers, and each of its writers and readers.
pub(crate) struct Lifeline {
    pub(crate) core: Arc<Core>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Lifeline {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self {
            core,
            threads: Mutex::default(),
        }
    }

    /// Starts the threads, unless the application drives the participant or they run already.
    pub(crate) fn start(&self) -> io::Result<()> {
        let mut threads = lock(&self.threads);
        if self.core.polled.is_some() {
            return Ok(());
        }
        let lanes = [
            (LaneKind::Control, "tickwire-ctl"),
            (LaneKind::Data, "tickwire-data"),
            (LaneKind::Aside, "tickwire-aside"),
        ];
        // Those that a failure has left without the others run.
        for (kind, name) in lanes.into_iter().skip(threads.len()) {
            let core = Arc::clone(&self.core);
            let run = move || Lane::new(kind).run(&core);
            threads.push(thread::Builder::new().name(name.to_owned()).spawn(run)?);
        }
        Ok(())
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        self.core.stop();
        for handle in lock(&self.threads).drain(..) {
            // A listener may have held the last reference: a thread does not wait for itself. One
            // that panicked has told so on standard error.
            if handle.thread().id() != thread::current().id() {
                let _ = handle.join();
            }
        }
    }
}
