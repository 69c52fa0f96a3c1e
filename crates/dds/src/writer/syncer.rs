//! Brings logs to the disk when it is time, on a thread of its own: a disk may take seconds, for which
//! acknowledgements and signs of life do not wait. Knows no machine and no network.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use tickwire_base::Instant;
use tickwire_transport::CoreSet;

use super::durable::Durable;
use crate::clock;
use crate::participant::thread_cores::spawn;
use crate::signal::lock;

/// The thread, once a writer needs it.
#[derive(Default)]
pub(crate) struct Syncer {
    queue: Arc<SyncQueue>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Logs that are to be brought to the disk. All of a participant's wait equally long, hence a queue.
#[derive(Default)]
pub(crate) struct SyncQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(Instant, Arc<Durable>)>,
    is_stopping: bool,
}

impl Syncer {
    /// Starts the thread unless it runs.
    pub(crate) fn start(&self, cores: Option<CoreSet>) -> io::Result<Arc<SyncQueue>> {
        let mut thread = lock(&self.thread);
        if thread.is_none() {
            let queue = Arc::clone(&self.queue);
            *thread = Some(spawn("tickwire-sync", cores, move || queue.run())?);
        }
        Ok(Arc::clone(&self.queue))
    }

    /// Ends the thread, and waits for what it is about.
    pub(crate) fn stop(&self) {
        lock(&self.queue.state).is_stopping = true;
        self.queue.changed.notify_all();
        if let Some(thread) = lock(&self.thread).take() {
            // If it panicked, it has told so on standard error.
            let _ = thread.join();
        }
    }
}

impl SyncQueue {
    /// Has a log synced at `at`, which is not before that of others.
    pub(super) fn push(&self, at: Instant, log: Arc<Durable>) {
        lock(&self.state).waiting.push_back((at, log));
        self.changed.notify_all();
    }

    /// Whether the thread has begun with the last of them.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        lock(&self.state).waiting.is_empty()
    }

    fn run(&self) {
        while let Some(log) = self.next() {
            log.sync();
        }
    }

    /// Waits for the next log; `None` at the end.
    fn next(&self) -> Option<Arc<Durable>> {
        let mut state = lock(&self.state);
        while !state.is_stopping {
            let now = clock::now();
            let next = state.waiting.front().map(|(at, _)| *at);
            state = match next {
                None => {
                    let waited = self.changed.wait(state);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
                Some(at) if at > now => {
                    let waited = self.changed.wait_timeout(state, at.since(now));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                Some(_) => return state.waiting.pop_front().map(|(_, log)| log),
            };
        }
        None
    }
}
