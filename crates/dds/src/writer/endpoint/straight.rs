//! The shortest way of samples: from the caller to the writer's log, where all readers follow that, under one lock and without
//! an outbox.

use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::thread;

use tickwire_base::Instant;
use tickwire_rtps::Change;
use tickwire_rtps::wire::SequenceNumber;

use super::{WriterEndpoint, WriterState};
use crate::error::WriteError;
use crate::outgoing::{self, Scratch};
use crate::signal::lock;
use crate::type_support::SampleError;

impl WriterEndpoint {
    /// Writes a change to the log, if it is like most, and all readers follow that. `None` if not.
    #[inline(always)]
    pub(super) fn write_straight(
        &self,
        now: Instant,
        change: &Change,
        payload: impl Fn(&mut Vec<u8>) -> Result<(), Box<SampleError>>,
    ) -> Result<Option<SequenceNumber>, WriteError> {
        let mut state = lock(&self.state);
        if state.has_watch() {
            return Ok(None);
        }
        let written = state.machine.write_straight(now, change, payload);
        self.end_straight(now, state);
        written.map_err(|error| (*error).into())
    }

    /// Writes changes that differ from `change` in what `payload` makes of each of `samples` alone, as far as they go
    /// straight to the log, or in one datagram. How many do, and the error of the one behind these, if it has one.
    pub(crate) fn write_run<S>(
        &self,
        now: Instant,
        change: &Change,
        samples: &[S],
        payload: impl Fn(&S, &mut Vec<u8>) -> Result<(), Box<SampleError>>,
    ) -> (usize, Option<WriteError>) {
        if outgoing::is_serializing() {
            return (0, None);
        }
        let run = if self.goes_straight.load(Ordering::Relaxed) && !outgoing::is_busy() {
            self.log_run(now, change, samples, payload)
        } else if self.flows.load(Ordering::Relaxed) {
            self.datagram_run(now, change, samples, payload)
        } else {
            return (0, None);
        };
        // What was written before the application's code failed is on its way.
        let (written, failed) = run.unwrap_or_else(|panic| panic::resume_unwind(panic));
        (written, failed.map(|error| (*error).into()))
    }

    fn log_run<S>(
        &self,
        now: Instant,
        change: &Change,
        samples: &[S],
        payload: impl Fn(&S, &mut Vec<u8>) -> Result<(), Box<SampleError>>,
    ) -> Run {
        let mut state = lock(&self.state);
        if state.has_watch() {
            return Ok((0, None));
        }
        let machine = &mut state.machine;
        let run = run(|| machine.log_run(now, change, samples, payload));
        self.end_straight(now, state);
        run
    }

    fn datagram_run<S>(
        &self,
        now: Instant,
        change: &Change,
        samples: &[S],
        payload: impl Fn(&S, &mut Vec<u8>) -> Result<(), Box<SampleError>>,
    ) -> Run {
        let latency_budget = || self.latency_budget();
        outgoing::publish(&self.core, now, latency_budget, |outbox, company| {
            let run = self.on_state(now, outbox, |state, now, outbox| {
                if state.has_watch() {
                    return Ok((0, None));
                }
                let machine = &mut state.machine;
                let whole = (outbox, self.core.pending.max_datagram_len());
                let mark = self.dscp.load(Ordering::Relaxed);
                let company = &mut *company;
                run(move || {
                    machine.datagram_run(now, change, samples, payload, whole, move || {
                        company.place(mark)
                    })
                })
            });
            company.has_written();
            run
        })
    }

    /// Whether nothing is to be seen to for each change but what its machine does.
    fn writes_runs(&self) -> bool {
        self.group.is_none() && self.durable.is_none() && !self.asserts_participant
    }

    /// Does what is left to do when something has gone straight to the log.
    #[inline(always)]
    fn end_straight(&self, now: Instant, mut state: MutexGuard<'_, WriterState>) {
        let machine = &mut state.machine;
        let is_first = self.due.set(machine.poll_timeout(), &self.core.control);
        let is_to_ask = machine.is_to_ask();
        let ringing = machine.log().take_ringing();
        let given_back = machine.given_back();
        let given_back = (!given_back.is_empty()).then(|| mem::take(given_back));
        drop(state);
        drop(ringing);
        if is_first {
            self.core.control.interrupt();
        }
        if is_to_ask {
            self.ask(now);
        }
        if let Some(given_back) = given_back {
            // That may call code of the application's.
            drop(given_back);
        }
    }

    /// Asks readers to acknowledge what has gone straight to the log, if much has.
    #[cold]
    fn ask(&self, now: Instant) {
        Scratch::lend(|scratch| {
            let outbox = &mut scratch.outbox;
            self.on_machine(now, outbox, |machine, now, outbox| machine.ask(now, outbox));
            self.core.send_in_turn(outbox);
        });
    }

    /// To be called under the lock after anything was done to the machine: whether the next change can go straight to
    /// the log, as nobody but that has to do with it.
    pub(super) fn look_whether_straight(&self, state: &WriterState) {
        let goes_straight =
            self.writes_runs() && !state.has_watch() && state.machine.goes_straight();
        if goes_straight != self.goes_straight.load(Ordering::Relaxed) {
            self.goes_straight.store(goes_straight, Ordering::Relaxed);
        }
        let flows = self.writes_runs() && !state.has_watch() && state.machine.flows_by_datagrams();
        if flows != self.flows.load(Ordering::Relaxed) {
            self.flows.store(flows, Ordering::Relaxed);
        }
    }
}

/// How many changes were written, and the error of the one behind these; or what the application's code panicked with.
type Run = thread::Result<(usize, Option<Box<SampleError>>)>;

/// Calls what serializes samples, which is code of the application.
fn run(call: impl FnOnce() -> (usize, Option<Box<SampleError>>)) -> Run {
    // The machine ends what it has begun also then.
    panic::catch_unwind(AssertUnwindSafe(|| outgoing::serializing(call)))
}

impl WriterState {
    /// Whether each change is looked out for.
    fn has_watch(&self) -> bool {
        self.deadline.is_some() || self.lease.is_some()
    }
}
