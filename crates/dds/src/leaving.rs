//! Writers that have left: their matches end once all is read that they wrote.
//!
//! That a writer has gone is heard on another way than its samples come by, and often before the last of them. A reliable
//! reader would lose those that it has not acknowledged, a best-effort one any number.
//!
//! ```text
//! discovery: a writer has gone   its matches stay
//! control lane                   raises a barrier; has the log read to its end
//! lanes that receive             what was in sockets and log is delivered
//! control lane                   ends the matches; what has not come by now, up to the writer's last number, is lost
//! ```
//!
//! Nothing else waits, but that the same writer comes back ends its matches first.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use hashbrown::HashMap;
use tickwire_base::Instant;
use tickwire_rtps::discovery::{Event, Gone, LostReason};
use tickwire_rtps::wire::Guid;

use crate::barrier::Barrier;
use crate::clock;
use crate::core::Core;
use crate::shm::Want;
use crate::signal::lock;

/// The writers whose matches are about to end.
#[derive(Default)]
pub(crate) struct Leaving {
    are_any: AtomicBool,
    left: Mutex<AllLeft>,
}

#[derive(Default)]
struct AllLeft {
    writers: HashMap<Guid, Left>,
    /// The newest barrier that was raised for any.
    newest: u64,
    raised_at: Instant,
    /// After which time it is raised again: a socket that is full takes no marker.
    again_after: Duration,
}

/// A writer that has left.
struct Left {
    gone: Gone,
    /// Our readers that were matched with it.
    readers: Vec<Guid>,
    /// Once that is passed, sockets have nothing of it; `None` until it is raised.
    barrier: Option<u64>,
    /// Whether its log is still to be read.
    has_log: bool,
    /// When its matches end in any case.
    until: Instant,
}

impl Left {
    fn is_ready(&self, now: Instant, barrier: &Barrier) -> bool {
        let is_passed = self.barrier.is_some_and(|number| barrier.is_passed(number));
        is_passed && !self.has_log || now >= self.until
    }

    fn into_events(self, writer: Guid) -> impl Iterator<Item = Event> {
        let gone = Some(self.gone);
        let unmatched = move |reader| Event::WriterUnmatched {
            reader,
            writer,
            gone,
        };
        self.readers.into_iter().map(unmatched)
    }
}

impl AllLeft {
    /// Whether a barrier is to be raised now: for who waits for none yet, or as the marker of the last one may be lost. If
    /// not, when to ask again.
    fn wants_barrier(&self, now: Instant, barrier: &Barrier) -> Result<(), Instant> {
        let is_new = |left: &Left| left.barrier.is_none();
        let mut at = Instant::MAX;
        if self.newest > 0 && !barrier.is_passed(self.newest) {
            at = self.raised_at + self.again_after;
        }
        if self.writers.values().any(is_new) {
            at = at.min(self.raised_at + SOONEST);
        }
        if at <= now { Ok(()) } else { Err(at) }
    }

    /// Has who waits for no barrier yet wait for that one, whose marker has not been sent.
    fn raise(&mut self, now: Instant, number: u64) {
        let mut is_new = false;
        for left in self.writers.values_mut() {
            is_new |= left.barrier.is_none();
            left.barrier.get_or_insert(number);
        }
        self.again_after = match is_new {
            true => FIRST_AGAIN,
            false => (self.again_after * 2).min(LAST_AGAIN),
        };
        (self.newest, self.raised_at) = (number, now);
    }

    /// Takes out those that are ready.
    fn take_ready(&mut self, now: Instant, barrier: &Barrier) -> Vec<Event> {
        let ready = self
            .writers
            .extract_if(|_, left| left.is_ready(now, barrier));
        ready
            .flat_map(|(writer, left)| left.into_events(writer))
            .collect()
    }
}

impl Leaving {
    /// Whether any writer is. An atomic load.
    pub(crate) fn are_any(&self) -> bool {
        self.are_any.load(Ordering::Acquire)
    }

    /// The logs of these writers are read to their ends, or are not read.
    pub(crate) fn logs_are_read(&self, writers: &[Guid]) {
        if writers.is_empty() || !self.are_any() {
            return;
        }
        let mut all = lock(&self.left);
        for writer in writers {
            if let Some(left) = all.writers.get_mut(writer) {
                left.has_log = false;
            }
        }
    }

    /// Keeps that a match ends; false if it is to end now.
    fn hold(&self, now: Instant, reader: Guid, writer: Guid, gone: Gone, has_log: bool) -> bool {
        let mut all = lock(&self.left);
        if all.writers.len() >= MOST_LEFT && !all.writers.contains_key(&writer) {
            return false;
        }
        // Before the log is told of, of which may be heard at once.
        self.are_any.store(true, Ordering::Release);
        let left = all.writers.entry(writer).or_insert_with(|| Left {
            gone,
            readers: Vec::new(),
            barrier: None,
            has_log,
            until: now + MOST,
        });
        left.readers.push(reader);
        true
    }

    /// Ends the wait of a writer of which something else is told.
    fn release(&self, writer: Guid) -> Option<Left> {
        if !self.are_any() {
            return None;
        }
        let mut all = lock(&self.left);
        let left = all.writers.remove(&writer);
        self.note(&all);
        left
    }

    fn note(&self, all: &MutexGuard<'_, AllLeft>) {
        let are_any = !all.writers.is_empty();
        self.are_any.store(are_any, Ordering::Release);
    }
}

impl Core {
    /// What is to be done now of what discovery has told; that a match ends may have to wait. To be called under discovery's
    /// lock.
    pub(crate) fn sift(&self, now: Instant, event: Event) -> impl Iterator<Item = Event> {
        let (before, event) = match event {
            Event::WriterUnmatched {
                reader,
                writer,
                gone: Some(gone),
            } if waits(gone) => (
                None,
                (!self.hold(now, reader, writer, gone)).then_some(event),
            ),
            Event::WriterMatched { ref writer, .. } => {
                let writer = writer.guid;
                (Some((writer, self.leaving.release(writer))), Some(event))
            }
            Event::WriterUnmatched { writer, .. } => {
                (Some((writer, self.leaving.release(writer))), Some(event))
            }
            event => (None, Some(event)),
        };
        let before = before.and_then(|(writer, left)| Some(left?.into_events(writer)));
        before.into_iter().flatten().chain(event)
    }

    fn hold(&self, now: Instant, reader: Guid, writer: Guid, gone: Gone) -> bool {
        let is_held = self
            .leaving
            .hold(now, reader, writer, gone, self.shm.is_some());
        if is_held {
            self.want(Want::Finish(writer));
            self.control.arm(now);
        }
        is_held
    }

    /// Ends the matches of writers that have left and of which all is read. For the control lane.
    pub(crate) fn see_who_left(&self) {
        let Self {
            leaving, barrier, ..
        } = self;
        if !leaving.are_any() {
            return;
        }
        let now = clock::now();
        let mut all = lock(&leaving.left);
        let wants = all.wants_barrier(now, barrier);
        let marker = wants.is_ok().then(|| {
            let (number, marker) = barrier.raise();
            all.raise(now, number);
            (number, marker)
        });
        let are_ready = all.writers.values().any(|left| left.is_ready(now, barrier));
        let until = all.writers.values().map(|left| left.until).min();
        drop(all);
        if let Some((number, marker)) = marker {
            self.send_marker(number, &marker);
        }
        if are_ready {
            self.with_discovery(|_, outbox| {
                let mut all = lock(&leaving.left);
                let events = all.take_ready(now, barrier);
                leaving.note(&all);
                drop(all);
                self.apply_in_order(events.into_iter(), outbox);
            });
        }
        let again = wants.err().unwrap_or(now + SOONEST);
        if leaving.are_any() {
            self.control
                .arm(until.map_or(again, |until| until.min(again)));
        }
    }
}

/// Of who is ignored nothing more is to come, and of who has long been silent nothing is on its way.
fn waits(gone: Gone) -> bool {
    matches!(gone.reason, LostReason::Left | LostReason::ProcessEnded)
}

/// How far apart barriers are raised, however many leave.
const SOONEST: Duration = Duration::from_millis(1);
/// When one is raised again at first, and at last: markers take room in the socket.
const FIRST_AGAIN: Duration = Duration::from_millis(10);
const LAST_AGAIN: Duration = Duration::from_secs(2);
/// How long listeners may take for what has been written.
const MOST: Duration = Duration::from_secs(10);
/// Writers that may be about to leave; of others the matches end at once.
const MOST_LEFT: usize = 4096;
