//! Each thread's own outboxes and scratch memory, so that writing allocates nothing once warm, and
//! what it holds back while its publications are suspended.

use std::cell::{Cell, RefCell, RefMut};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tickwire_base::Instant;
use tickwire_cdr::KeyScratch;
use tickwire_rtps::Outbox;
use tickwire_transport::ContextSwitches;

use crate::clock;
use crate::core::Core;
use crate::lifeline::Lifeline;
use crate::pending::{Pace, Place, Then};

/// What a write needs besides its writer.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(crate) outbox: Outbox,
    pub(crate) key: KeyScratch,
    pace: Pace,
}

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
    static HELD: Rc<RefCell<Held>> = Rc::default();
    static BUSY: Busy = const { Busy { suspended: Cell::new(false), serializing: Cell::new(false) } };
}

/// What a thread is at. Together, as each look at what is a thread's own is a call in a shared library.
struct Busy {
    /// Whether its publications are suspended.
    suspended: Cell<bool>,
    /// Whether it serializes a sample, for which it holds the lock of the writer's machine.
    serializing: Cell<bool>,
}

/// Whether the thread serializes a sample. It must not send then: what waits may be for the log of the same writer,
/// which is behind the lock that it holds.
#[inline]
pub(crate) fn is_serializing() -> bool {
    BUSY.with(|busy| busy.serializing.get())
}

/// Whether the thread serializes a sample, or its publications are suspended.
#[inline]
pub(crate) fn is_busy() -> bool {
    BUSY.with(|busy| busy.serializing.get() || busy.suspended.get())
}

/// Serializes a sample, which is code of the application.
#[inline]
pub(crate) fn serializing<R>(serialize: impl FnOnce() -> R) -> R {
    struct Serializing<'a>(&'a Cell<bool>);
    impl Drop for Serializing<'_> {
        fn drop(&mut self) {
            self.0.set(false);
        }
    }
    BUSY.with(|busy| {
        busy.serializing.set(true);
        let _until_it_has = Serializing(&busy.serializing);
        serialize()
    })
}

impl Scratch {
    /// Lends the thread's scratch memory, with an empty outbox. Within another loan it is new memory.
    pub(crate) fn lend<R>(use_it: impl FnOnce(&mut Self) -> R) -> R {
        let mut scratch = Self::take();
        let result = use_it(&mut scratch);
        scratch.give_back();
        result
    }

    #[inline]
    fn take() -> Box<Self> {
        let taken = SCRATCH.try_with(Cell::take).ok().flatten();
        let mut scratch = taken.unwrap_or_default();
        scratch.outbox.clear();
        scratch
    }

    #[inline]
    fn give_back(self: Box<Self>) {
        // Not kept when the thread is ending.
        let _ = SCRATCH.try_with(|slot| slot.set(Some(self)));
    }
}

/// Has `fill` put a writer's datagrams into an outbox at the time `now`, or into a place among what waits, and sends
/// them: at once, or when the thread resumes its publications, or within the writer's `latency_budget`, or a little
/// later if the thread does nothing but write.
#[inline(always)]
pub(crate) fn publish<R, F: Fn() -> Duration>(
    core: &Core,
    now: Instant,
    latency_budget: F,
    fill: impl FnOnce(&mut Outbox, &mut Company<'_, F>) -> R,
) -> R {
    let held = BUSY.with(|busy| busy.suspended.get()).then(held).flatten();
    let held = held.as_deref().and_then(borrow);
    let mut own = match held.filter(|held| held.is_of(core)) {
        Some(held) => OwnOutbox::Held(held),
        None => OwnOutbox::Scratch(Scratch::take()),
    };
    let (outbox, pace) = match &mut own {
        OwnOutbox::Held(held) => (&mut held.outbox, None),
        OwnOutbox::Scratch(scratch) => {
            let Scratch { outbox, pace, .. } = &mut **scratch;
            (outbox, Some(pace))
        }
    };
    let mut company = Company {
        core,
        now,
        latency_budget,
        pace,
        patience: None,
        then: Then::default(),
    };
    // Called in one place, it is inlined.
    let result = fill(outbox, &mut company);
    if company.then != Then::Nothing || !outbox.is_empty() {
        company.send(outbox);
    }
    outbox.let_go();
    match own {
        OwnOutbox::Held(mut held) => {
            if held.outbox.total_len() >= MAX_HELD_BYTES {
                held.send();
            }
        }
        OwnOutbox::Scratch(scratch) => scratch.give_back(),
    }
    result
}

/// The others for which what a thread writes may wait.
pub(crate) struct Company<'a, F> {
    core: &'a Core,
    now: Instant,
    latency_budget: F,
    /// Nobody's whose publications are suspended.
    pace: Option<&'a mut Pace>,
    /// How long it may wait, once that was asked.
    patience: Option<Duration>,
    then: Then,
}

impl<F: Fn() -> Duration> Company<'_, F> {
    /// A place behind what waits, for a sample that may wait, too, and is marked so.
    #[inline]
    pub(crate) fn place(&mut self, mark: u8) -> Option<Place<'_>> {
        // A lock is held.
        let patience = self
            .patience_told()
            .filter(|patience| !patience.is_zero())?;
        let pending = &self.core.pending;
        let mut place = pending.place(self.now, patience, &mut self.then)?;
        place.mark(mark);
        Some(place)
    }

    /// The thread has written several samples, which took longer than a pause: its pace goes on from here.
    pub(crate) fn has_written(&mut self) {
        if let Some(pace) = &mut self.pace
            && self.patience.is_some()
            && self.core.polled.is_none()
        {
            pace.written(clock::now());
        }
    }

    /// How long it may wait, if that can be told without asking the system.
    #[inline]
    fn patience_told(&mut self) -> Option<Duration> {
        let is_told = match (&self.pace, &self.core.polled) {
            (Some(pace), None) => pace.is_told(self.now),
            _ => true,
        };
        is_told.then(|| self.patience())
    }

    #[inline]
    fn patience(&mut self) -> Duration {
        if let Some(patience) = self.patience {
            return patience;
        }
        let patience = match &mut self.pace {
            None => Duration::ZERO,
            Some(pace) => {
                let latency_budget = (self.latency_budget)();
                match &self.core.polled {
                    None => {
                        latency_budget.max(pace.patience(self.now, ContextSwitches::of_this_thread))
                    }
                    // Nobody would look after what is left.
                    Some(_) => latency_budget,
                }
            }
        };
        *self.patience.insert(patience)
    }

    /// Sends what the thread has put into its own outbox, or leaves it to wait, and what has waited long enough.
    fn send(&mut self, outbox: &mut Outbox) {
        if self.pace.is_none() {
            return;
        }
        let mut has_sent = self.core.see_to_pending(self.then, self.now);
        if self.core.goes_by_logs(outbox) {
            // Nothing is gained by company, and nothing overtakes what waits.
            self.core.flush();
            self.core.send_user(outbox);
        } else {
            let patience = self.patience();
            has_sent |= self.core.send_samples(self.now, patience, outbox);
        }
        if let Some(pace) = &mut self.pace
            && has_sent
            && self.core.polled.is_none()
        {
            pace.written(clock::now());
        }
    }
}

/// Where a thread's datagrams go.
enum OwnOutbox<'a> {
    Held(RefMut<'a, Held>),
    Scratch(Box<Scratch>),
}

/// The thread has waited for room in a writer.
pub(crate) fn had_to_wait() {
    let (now, switches) = (clock::now(), ContextSwitches::of_this_thread());
    Scratch::lend(|scratch| scratch.pace.had_to_wait(now, switches));
}

/// Sends what the thread holds back. To be called before it waits for anybody, and before what must
/// not overtake its samples.
pub(crate) fn flush() {
    if let Some(mut held) = held().as_deref().and_then(borrow) {
        held.send();
    }
}

/// What a thread holds back.
struct Held {
    /// Whose samples; nobody's unless they are suspended.
    core: Option<Arc<Core>>,
    suspensions: u32,
    outbox: Outbox,
}

impl Default for Held {
    fn default() -> Self {
        Self {
            core: None,
            suspensions: 0,
            outbox: Outbox::gathering(),
        }
    }
}

impl Held {
    fn is_of(&self, core: &Core) -> bool {
        let held = self.core.as_deref();
        held.is_some_and(|held| std::ptr::eq(held, core))
    }

    fn send(&mut self) {
        if let Some(core) = &self.core {
            core.send_in_turn(&mut self.outbox);
        }
    }
}

/// The thread's own, unless it is ending.
fn held() -> Option<Rc<RefCell<Held>>> {
    HELD.try_with(Rc::clone).ok()
}

/// `None` while a sample is being serialized into it, which may write others.
fn borrow(held: &RefCell<Held>) -> Option<RefMut<'_, Held>> {
    held.try_borrow_mut().ok()
}

/// While this lives, what the calling thread writes is held back; see
/// [`Publisher::suspend_publications`](crate::Publisher::suspend_publications). Publications resume
/// when it is dropped.
#[must_use = "publications resume when this is dropped"]
pub struct SuspendedPublications {
    /// Stays with its thread, which `Rc` sees to.
    held: Option<Rc<RefCell<Held>>>,
    _lifeline: Arc<Lifeline>,
}

impl SuspendedPublications {
    pub(crate) fn new(lifeline: &Arc<Lifeline>) -> Self {
        let core = &lifeline.core;
        let is_ours = |held: &Rc<RefCell<Held>>| {
            borrow(held).is_some_and(|mut held| {
                let holder = held.core.get_or_insert_with(|| Arc::clone(core));
                let is_ours = Arc::ptr_eq(holder, core);
                held.suspensions += u32::from(is_ours);
                BUSY.with(|busy| busy.suspended.set(true));
                is_ours
            })
        };
        Self {
            held: held().filter(is_ours),
            _lifeline: Arc::clone(lifeline),
        }
    }

    /// Sends what is held back; the same as dropping.
    pub fn resume_publications(self) {}
}

impl Drop for SuspendedPublications {
    fn drop(&mut self) {
        if let Some(mut held) = self.held.as_deref().and_then(borrow) {
            held.suspensions -= 1;
            if held.suspensions == 0 {
                held.send();
                held.core = None;
                BUSY.with(|busy| busy.suspended.set(false));
            }
        }
    }
}

impl fmt::Debug for SuspendedPublications {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SuspendedPublications")
            .finish_non_exhaustive()
    }
}

/// What a thread holds back at most before it sends, in bytes: about what one datagram takes.
const MAX_HELD_BYTES: usize = 1 << 16;
