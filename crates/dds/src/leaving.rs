//! Writers that have left: their matches end once all is read that they wrote.
//!
//! That a writer is gone is heard on another way than its samples come by, and often before the last of them. A reliable
//! reader would lose those that it has not acknowledged, a best-effort one any number, and neither could say how many.
//!
//! ```text
//! discovery: a writer is gone   its matches stay, and all that is told of its participant's writers waits
//! control lane                  raises a barrier; has the log read to its end
//! lanes that receive            what was in sockets and log is delivered
//! control lane                  does what has waited
//! ```

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tickwire_base::Instant;
use tickwire_rtps::discovery::{Event, LostReason};
use tickwire_rtps::wire::{Guid, GuidPrefix};

use crate::barrier::Barrier;
use crate::clock;
use crate::core::Core;
use crate::shm::Want;
use crate::signal::lock;

/// Events that wait.
#[derive(Default)]
pub(crate) struct Leaving {
    are_any: AtomicBool,
    participants: Mutex<Vec<Held>>,
}

/// Those of a participant's writers, which keep their order.
struct Held {
    participant: GuidPrefix,
    /// What is in the sockets, once that is being waited for.
    barrier: Option<u64>,
    /// When the barrier is raised again: a socket that is full takes no marker.
    again_at: Instant,
    /// The writers whose logs are still to be read.
    logs: BTreeSet<Guid>,
    /// When they are done in any case.
    until: Instant,
    events: Vec<Event>,
}

impl Held {
    fn wants_barrier(&self, now: Instant, barrier: &Barrier) -> bool {
        let is_passed = |number| now < self.again_at || barrier.is_passed(number);
        !self.barrier.is_some_and(is_passed)
    }

    fn is_ready(&self, now: Instant, barrier: &Barrier) -> bool {
        let is_passed = self.barrier.is_some_and(|number| barrier.is_passed(number));
        is_passed && self.logs.is_empty() || now >= self.until || self.events.len() > MAX_EVENTS
    }
}

impl Leaving {
    /// Keeps an event if it has to wait, else gives it back. `log` is told of a writer whose log is to be read to its end;
    /// says whether [that will be heard of](Self::logs_are_read).
    pub(crate) fn hold(
        &self,
        now: Instant,
        event: Event,
        log: impl FnOnce(Guid) -> bool,
    ) -> Option<Event> {
        let Some(writer) = writer_of(&event) else {
            return Some(event);
        };
        // Of who is ignored nothing more is to come, and of who has long been silent nothing is on its way.
        let waits = matches!(
            &event,
            Event::WriterUnmatched {
                lost: Some(LostReason::Left | LostReason::ProcessEnded),
                ..
            }
        );
        if !waits && !self.are_any() {
            return Some(event);
        }
        let mut participants = lock(&self.participants);
        let held = participants
            .iter_mut()
            .position(|held| held.participant == writer.prefix);
        if held.is_none() && !waits {
            return Some(event);
        }
        let index = held.unwrap_or_else(|| {
            participants.push(Held {
                participant: writer.prefix,
                barrier: None,
                again_at: Instant::ZERO,
                logs: BTreeSet::new(),
                until: now + MOST,
                events: Vec::new(),
            });
            participants.len() - 1
        });
        // Before the log is told of, of which may be heard at once.
        self.are_any.store(true, Ordering::Release);
        let held = &mut participants[index];
        if waits {
            held.barrier = None;
            if log(writer) {
                held.logs.insert(writer);
            }
        }
        held.events.push(event);
        None
    }

    /// Whether any wait. An atomic load.
    pub(crate) fn are_any(&self) -> bool {
        self.are_any.load(Ordering::Acquire)
    }

    /// The logs of these writers are read to their ends, or are not read.
    pub(crate) fn logs_are_read(&self, writers: &[Guid]) {
        if writers.is_empty() || !self.are_any() {
            return;
        }
        for held in lock(&self.participants).iter_mut() {
            for writer in writers {
                held.logs.remove(writer);
            }
        }
    }

    /// Whether a barrier is to be raised.
    fn wants_barrier(&self, now: Instant, barrier: &Barrier) -> bool {
        let participants = lock(&self.participants);
        participants
            .iter()
            .any(|held| held.wants_barrier(now, barrier))
    }

    /// That barrier has been raised for those who want one.
    fn raised(&self, now: Instant, number: u64, barrier: &Barrier) {
        let mut participants = lock(&self.participants);
        for held in participants
            .iter_mut()
            .filter(|held| held.wants_barrier(now, barrier))
        {
            held.barrier = Some(number);
            held.again_at = now + AGAIN;
        }
    }

    /// Whether there is what has waited for long enough.
    fn is_ready(&self, now: Instant, barrier: &Barrier) -> bool {
        let participants = lock(&self.participants);
        participants.iter().any(|held| held.is_ready(now, barrier))
    }

    /// Takes what has waited for long enough.
    fn take_ready(&self, now: Instant, barrier: &Barrier) -> Vec<Event> {
        let mut participants = lock(&self.participants);
        let ready = participants.extract_if(.., |held| held.is_ready(now, barrier));
        let events = ready.flat_map(|held| held.events).collect();
        self.are_any
            .store(!participants.is_empty(), Ordering::Release);
        events
    }
}

impl Core {
    /// Keeps an event if it has to wait, else gives it back. To be called under discovery's lock.
    pub(crate) fn hold(&self, now: Instant, event: Event) -> Option<Event> {
        let finish = |writer| {
            self.want(Want::Finish(writer));
            self.shm.is_some()
        };
        let event = self.leaving.hold(now, event, finish);
        if event.is_none() {
            self.control.arm(now);
        }
        event
    }

    /// Does what has waited for what writers have written that left, once that is read. For the control lane.
    pub(crate) fn see_who_left(&self) {
        let Self {
            leaving, barrier, ..
        } = self;
        if !leaving.are_any() {
            return;
        }
        let now = clock::now();
        if leaving.wants_barrier(now, barrier) {
            leaving.raised(now, self.raise_barrier(), barrier);
        }
        if leaving.is_ready(now, barrier) {
            self.with_discovery(|_, outbox| {
                let events = leaving.take_ready(now, barrier);
                self.apply_in_order(events.into_iter(), outbox);
            });
        }
        if leaving.are_any() {
            self.control.arm(now + AGAIN);
        }
    }
}

/// The writer, or the publisher, of whom something is told that concerns our readers.
fn writer_of(event: &Event) -> Option<Guid> {
    match event {
        Event::WriterMatched { writer, .. } => Some(writer.guid),
        Event::WriterUnmatched { writer, .. } | Event::LivelinessChanged { writer, .. } => {
            Some(*writer)
        }
        Event::GroupChanged { publisher, .. } => Some(*publisher),
        Event::Incompatible { local, remote, .. } => {
            (!local.entity.is_writer()).then_some(remote.guid)
        }
        _ => None,
    }
}

/// How often is looked whether they are done, and a barrier raised again that is not passed.
const AGAIN: Duration = Duration::from_millis(10);
/// How long a listener may take for what has been written.
const MOST: Duration = Duration::from_secs(60);
/// Events of one participant that wait.
const MAX_EVENTS: usize = 4096;
