//! Driving a participant by the application's own loop.

use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use tickwire_base::Instant;
use tickwire_transport::{Poller, Waker};

use crate::clock;
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
    /// working in. False if there is none.
    pub(crate) fn turn(&self, core: &Core, deadline: Instant) -> Result<bool, PollError> {
        let mut control = try_lock(&self.control);
        let mut data = try_lock(&self.data);
        let locked = |lane: &Option<_>, kind| lane.is_some().then_some(kind);
        let kinds = [
            locked(&control, LaneKind::Control),
            locked(&data, LaneKind::Data),
        ];
        let mut kinds = kinds.into_iter().flatten();
        let Some(first) = kinds.next() else {
            return Ok(false);
        };
        let second = kinds.next();

        let mut poller = first.poll(core, Poller::for_waker(&self.waker));
        let mut until = deadline.min(first.timer(core).sleep());
        if let Some(second) = second {
            poller = second.poll(core, poller);
            until = until.min(second.timer(core).sleep());
        }
        if data.is_some() && core.has_listeners_to_call() {
            until = Instant::ZERO;
        }
        let ready = poller.busy_poll(core.busy_poll).wait(Some(until));
        core.control.awake();
        core.data.awake();
        let ready = ready.map_err(PollError::Wait)?;

        let mut offset = 0;
        if let Some(lane) = &mut control {
            lane.turn(core, |index| ready.socket(index));
            offset = LaneKind::Control.poll_count(core);
        }
        if let Some(lane) = &mut data {
            lane.turn(core, |index| ready.socket(offset + index));
        }
        Ok(true)
    }

    /// One turn while the application waits for `ready`. Where other threads work in both lanes, it
    /// is theirs.
    pub(crate) fn wait_turn<R>(
        &self,
        core: &Core,
        deadline: Instant,
        ready: impl FnMut() -> Option<R>,
    ) -> Option<R> {
        let until = deadline.min(clock::now() + TURN);
        match self.turn(core, until) {
            Ok(true) => None,
            Ok(false) => core.signal.wait(until.since(clock::now()), ready),
            Err(_) => {
                core.counters.receive_errors.add(1);
                None
            }
        }
    }

    /// Lets go of the endpoints that the lanes remember.
    pub(crate) fn forget(&self) {
        for lane in [&self.control, &self.data] {
            if let Some(mut lane) = try_lock(lane) {
                lane.forget();
            }
        }
    }
}

/// How long one thread that waits does not look at what others have done.
const TURN: Duration = Duration::from_millis(10);

fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
