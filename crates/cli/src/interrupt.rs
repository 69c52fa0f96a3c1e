//! Ctrl-C as a condition, so that a command leaves the domain in good order: a reader that vanishes
//! without a word would hold up its reliable writers until its lease ends.

use std::process;
use std::thread;

use nix::sys::signal::{SigSet, Signal};
use tickwire::{Condition, GuardCondition};

use crate::failure::{Failure, Result};

/// Whether the user wants the command to end.
pub(super) struct Interrupt(GuardCondition);

impl Interrupt {
    /// Takes SIGINT and SIGTERM for all threads that are started from now on. A second signal ends
    /// the process at once.
    pub(super) fn catch() -> Result<Self> {
        let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM].into_iter().collect();
        let failed = |error| Failure::new(format_args!("cannot wait for signals: {error}"));
        signals.thread_block().map_err(failed)?;
        let guard = GuardCondition::new();
        let raised = guard.clone();
        thread::spawn(move || {
            while let Ok(signal) = signals.wait() {
                if raised.condition().holds() {
                    process::exit(128_i32.saturating_add(signal as i32));
                }
                raised.set(true);
            }
        });
        Ok(Self(guard))
    }

    pub(super) fn is_raised(&self) -> bool {
        self.condition().holds()
    }

    /// Holds from the first signal on.
    pub(super) fn condition(&self) -> Condition {
        self.0.condition()
    }
}
