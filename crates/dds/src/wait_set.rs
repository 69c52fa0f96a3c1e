//! Conditions and wait sets (DDS 1.4 §2.2.2.1.6).

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::clock;
use crate::core::Core;
use crate::error::{Awaited, Timeout};
use crate::outgoing;
use crate::reader::StateMask;
use crate::reader::shared::ReaderShared;
use crate::signal::{Ended, Observers, Signal, lock};
use crate::status::StatusMask;
use crate::type_support::TopicSupport;
use crate::writer::endpoint::WriterEndpoint;

/// Something that holds or does not. Topics, subscribers, readers and writers make them; clones are the same condition.
#[derive(Clone)]
pub struct Condition(Arc<dyn Trigger>);

impl Condition {
    pub(crate) fn new(trigger: impl Trigger + 'static) -> Self {
        Self(Arc::new(trigger))
    }

    /// Whether it holds now.
    pub fn holds(&self) -> bool {
        self.0.holds()
    }
}

impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Condition {}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condition")
            .field("holds", &self.holds())
            .finish()
    }
}

/// What a condition asks its owner.
pub(crate) trait Trigger: Send + Sync {
    fn holds(&self) -> bool;
    /// Who tells of changes.
    fn observers(&self) -> &Observers;
    /// The participant that must be driven for it to change.
    fn core(&self) -> Option<Arc<Core>>;
}

/// A condition that the application sets by hand. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct GuardCondition(Arc<Guard>);

#[derive(Debug, Default)]
struct Guard {
    holds: AtomicBool,
    observers: Observers,
}

impl GuardCondition {
    /// One that does not hold.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes it hold or not.
    pub fn set(&self, holds: bool) {
        self.0.holds.store(holds, Ordering::Release);
        if holds {
            self.0.observers.raise();
        }
    }

    /// The condition, to be attached to a wait set.
    pub fn condition(&self) -> Condition {
        Condition(Arc::clone(&self.0) as Arc<dyn Trigger>)
    }
}

impl Trigger for Guard {
    fn holds(&self) -> bool {
        self.holds.load(Ordering::Acquire)
    }

    fn observers(&self) -> &Observers {
        &self.observers
    }

    fn core(&self) -> Option<Arc<Core>> {
        None
    }
}

pub(crate) struct WriterCondition {
    pub(crate) endpoint: Arc<WriterEndpoint>,
    pub(crate) mask: StatusMask,
}

impl Trigger for WriterCondition {
    fn holds(&self) -> bool {
        self.endpoint.changes().intersects(self.mask)
    }

    fn observers(&self) -> &Observers {
        &self.endpoint.observers
    }

    fn core(&self) -> Option<Arc<Core>> {
        Some(Arc::clone(&self.endpoint.core))
    }
}

pub(crate) struct ReaderCondition<T: TopicSupport> {
    pub(crate) reader: Arc<ReaderShared<T>>,
    pub(crate) trigger: ReaderTrigger,
}

#[derive(Clone, Copy)]
pub(crate) enum ReaderTrigger {
    Status(StatusMask),
    States(StateMask),
}

impl<T: TopicSupport> Trigger for ReaderCondition<T> {
    fn holds(&self) -> bool {
        match self.trigger {
            ReaderTrigger::Status(mask) => self.reader.changes().intersects(mask),
            ReaderTrigger::States(mask) => self.reader.has(mask),
        }
    }

    fn observers(&self) -> &Observers {
        &self.reader.observers
    }

    fn core(&self) -> Option<Arc<Core>> {
        Some(Arc::clone(&self.reader.core))
    }
}

/// Waits for any of several conditions.
///
/// Where a condition belongs to a participant that the application drives, waiting drives it.
#[derive(Debug, Default)]
pub struct WaitSet {
    signal: Arc<Signal>,
    conditions: Mutex<Vec<Condition>>,
    /// Whether nobody is to wait any more.
    ended: Ended,
}

impl WaitSet {
    /// One without conditions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits for this condition, too; again is the same as once.
    pub fn attach(&self, condition: &Condition) {
        condition.0.observers().add(&self.signal);
        let mut conditions = lock(&self.conditions);
        if !conditions.contains(condition) {
            conditions.push(condition.clone());
        }
        drop(conditions);
        self.signal.raise();
    }

    /// No longer waits for this condition; false if it did not.
    pub fn detach(&self, condition: &Condition) -> bool {
        let mut conditions = lock(&self.conditions);
        let before = conditions.len();
        conditions.retain(|known| known != condition);
        conditions.len() < before
    }

    /// Waits until a condition holds, and returns all that do.
    ///
    /// # Errors
    /// When that takes longer than `timeout`.
    pub fn wait(&self, timeout: Duration) -> Result<Vec<Condition>, Timeout> {
        let ready = || {
            let conditions = lock(&self.conditions);
            let holding = conditions.iter().filter(|condition| condition.holds());
            let holding: Vec<_> = holding.cloned().collect();
            (!holding.is_empty()).then_some(holding)
        };
        let ready = self.ended.or(ready);
        outgoing::flush();
        let polled = self.polled_participants();
        let result = match polled.as_slice() {
            [] => self.signal.wait(timeout, ready),
            polled => drive_until(polled, timeout, ready),
        };
        result.flatten().ok_or(Timeout {
            awaited: Awaited::Condition,
            waited: timeout,
        })
    }

    /// Has all who wait return at once, as if their time were over, and whoever comes later: for a thread that is about to
    /// let go of it, while others wait.
    pub fn end_waits(&self) {
        self.ended.set();
        self.signal.raise();
    }

    /// Each participant once that has no threads of its own.
    fn polled_participants(&self) -> Vec<Arc<Core>> {
        let conditions = lock(&self.conditions);
        let cores = conditions.iter().filter_map(|condition| condition.0.core());
        let mut polled: Vec<Arc<Core>> = Vec::new();
        for core in cores.filter(|core| core.polled.is_some()) {
            if !polled.iter().any(|known| Arc::ptr_eq(known, &core)) {
                polled.push(core);
            }
        }
        polled
    }
}

/// Drives the participants in turn until `ready` has a result, for `timeout` at most.
fn drive_until<R>(
    cores: &[Arc<Core>],
    timeout: Duration,
    mut ready: impl FnMut() -> Option<R>,
) -> Option<R> {
    let deadline = clock::now() + timeout;
    loop {
        for core in cores {
            if let Some(result) = ready() {
                return Some(result);
            }
            let turn = match cores {
                [_] => deadline,
                _ => deadline.min(clock::now() + TURN),
            };
            if let Some(polled) = &core.polled
                && let Some(result) = polled.wait_turn(core, turn, &mut ready)
            {
                return Some(result);
            }
        }
        if clock::now() >= deadline {
            return ready();
        }
    }
}

/// How long each of several participants may keep the others waiting.
const TURN: Duration = Duration::from_millis(1);
