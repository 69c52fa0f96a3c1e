//! Ctrl-C, so that a command leaves all in good order: a reader that vanishes without a word would
//! hold up its reliable writers until its lease ends, and files would stay.

use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use nix::sys::signal::{SigSet, Signal};
use tickwire::{Condition, GuardCondition};

use crate::failure::{Failure, Result};
use crate::stage::is_stage;

/// Whether the user wants the command to end.
pub(crate) struct Interrupt(GuardCondition);

impl Interrupt {
    /// Takes SIGINT and SIGTERM for all threads that are started from now on. A second signal ends
    /// the process at once. A stage takes none: its parent, which gets them too, ends it.
    pub(crate) fn catch() -> Result<Self> {
        let guard = GuardCondition::new();
        if is_stage() {
            return Ok(Self(guard));
        }
        let signals = block()?;
        let raised = guard.clone();
        thread::spawn(move || {
            while let Ok(signal) = signals.wait() {
                if raised.condition().holds() {
                    process::exit(status(signal));
                }
                raised.set(true);
            }
        });
        Ok(Self(guard))
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.condition().holds()
    }

    /// Holds from the first signal on.
    pub(crate) fn condition(&self) -> Condition {
        self.0.condition()
    }
}

/// Calls `clean_up` and ends the process when SIGINT or SIGTERM comes to a thread that is started
/// from now on, or to this one. What fails because it was cleaned up is not told ([`last_word`]).
pub(crate) fn end_cleanly(clean_up: impl FnOnce() + Send + 'static) -> Result<()> {
    let signals = block()?;
    thread::spawn(move || {
        if let Ok(signal) = signals.wait() {
            let _main_waits = last_word();
            clean_up();
            process::exit(status(signal));
        }
    });
    Ok(())
}

/// For the thread that tells how the process ends: `main` when the command is done, or the one that
/// a signal came to, until the process has ended. The other waits.
pub(crate) fn last_word() -> MutexGuard<'static, ()> {
    static LAST_WORD: Mutex<()> = Mutex::new(());
    LAST_WORD.lock().unwrap_or_else(PoisonError::into_inner)
}

fn block() -> Result<SigSet> {
    let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM].into_iter().collect();
    let failed = |error| Failure::new(format_args!("cannot wait for signals: {error}"));
    signals.thread_block().map_err(failed)?;
    Ok(signals)
}

/// What shells call a process that a signal ended.
fn status(signal: Signal) -> i32 {
    128_i32.saturating_add(signal as i32)
}
