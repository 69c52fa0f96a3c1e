//! Driving a participant by the application's own loop.

use std::sync::{Mutex, MutexGuard, TryLockError};

use tickwire_base::Instant;
use tickwire_transport::{Poller, Waker};

use crate::core::Core;
use crate::error::PollError;
use crate::lane::{Lane, LaneKind};

/// Both lanes of a participant without threads.
///
/// They are locked apart: a listener that waits in a write holds the data lane, and drives the
/// control lane meanwhile.
pub(crate) struct Polled {
    control: Mutex<Lane>,
    data: Mutex<Lane>,
    waker: Waker,
}

impl Polled {
    /// `waker` is the one of both lanes' timers.
    pub(crate) fn new(waker: Waker) -> Self {
        Self {
            control: Mutex::new(Lane::new(LaneKind::Control)),
            data: Mutex::new(Lane::new(LaneKind::Data)),
            waker,
        }
    }

    /// Waits until `deadline` for something to do and does it, in the lanes that nobody else is
    /// working in.
    pub(crate) fn turn(&self, core: &Core, deadline: Instant) -> Result<(), PollError> {
        let mut lanes = [try_lock(&self.control), try_lock(&self.data)];
        let kinds = [LaneKind::Control, LaneKind::Data];
        let mut sockets = Vec::new();
        let mut until = deadline;
        let mut starts = [0; 2];
        for ((lane, kind), start) in lanes.iter().zip(kinds).zip(&mut starts) {
            *start = sockets.len();
            if lane.is_some() {
                sockets.extend(kind.sockets(core));
                until = until.min(kind.timer(core).sleep());
            }
        }
        if lanes[1].is_some() && core.has_listeners_to_call() {
            until = Instant::ZERO;
        }
        let mut poller = Poller::new(sockets, Some(&self.waker)).busy_poll(core.busy_poll);
        let ready = poller.wait(Some(until));
        kinds.iter().for_each(|kind| kind.timer(core).awake());
        let ready = ready.map_err(PollError::Wait)?;
        for (lane, start) in lanes.iter_mut().zip(starts) {
            if let Some(lane) = lane {
                lane.turn(core, |index| ready.socket(start + index));
            }
        }
        Ok(())
    }

    /// One turn while the application waits for something else. Without any lane to work in, which
    /// happens when other threads poll, it is their turn.
    pub(crate) fn wait_turn(&self, core: &Core, deadline: Instant) {
        if self.turn(core, deadline).is_err() {
            core.counters.receive_errors.add(1);
        }
    }
}

fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
