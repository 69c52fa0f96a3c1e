//! Ends a participant when the application has let go of everything that belongs to it.

use std::io;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use crate::core::Core;
use crate::lane::{Lane, LaneKind};
use crate::participant::thread_cores::{ThreadKind, spawn};
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
        let network = &self.core.network;
        let is_cooperative = self.core.data_turns.is_some();
        let has_udp = is_cooperative || network.user.is_some();
        let has_tcp = !is_cooperative && network.tcp.is_some();
        let has_shm = !is_cooperative && self.core.shm.is_some();
        let lanes = [
            (LaneKind::Control, ThreadKind::Control, "ctl", true),
            (LaneKind::Data, ThreadKind::Data, "data", has_udp),
            (LaneKind::Aside, ThreadKind::Aside, "aside", !is_cooperative),
            (LaneKind::Streams, ThreadKind::Tcp, "tcp", has_tcp),
            (LaneKind::Logs, ThreadKind::Shm, "shm", has_shm),
        ];
        let lanes = lanes.into_iter().filter(|(.., is_used)| *is_used);
        // Those that a failure has left without the others run.
        for (lane, kind, name, _) in lanes.skip(threads.len()) {
            let core = Arc::clone(&self.core);
            let run = move || match core.turns(lane) {
                Some(turns) => turns.run(&core),
                None => Lane::new(lane).run(&core),
            };
            let cores = self.core.thread_cores.of(kind);
            threads.push(spawn(&format!("tickwire-{name}"), cores, run)?);
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
