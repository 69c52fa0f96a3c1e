//! Ctrl-C, by which the suite ends the program: entities leave in good order.

use std::thread;

use nix::sys::signal::{SigSet, Signal};
use tickwire::{Condition, GuardCondition};

/// Holds from the first SIGINT or SIGTERM on. To be called before any thread is started.
pub(crate) fn condition() -> nix::Result<Condition> {
    let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM].into_iter().collect();
    signals.thread_block()?;
    let guard = GuardCondition::new();
    let condition = guard.condition();
    thread::spawn(move || {
        if signals.wait().is_ok() {
            guard.set(true);
        }
    });
    Ok(condition)
}
