//! Progress on standard error, if a person is looking at it.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressStyle};

/// A bar that fills up; nothing where standard error is not a terminal.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A bar of `total` steps.
    pub(crate) fn new(what: &'static str, total: u64) -> Self {
        if !stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let template = "{msg:12} [{bar:40}] {pos}/{len} {elapsed}";
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        Self(ProgressBar::new(total).with_message(what).with_style(style))
    }

    /// The same, but nothing if another process shows the progress.
    pub(crate) fn unless_stage(what: &'static str, total: u64) -> Self {
        match crate::stage::is_stage() {
            true => Self(ProgressBar::hidden()),
            false => Self::new(what, total),
        }
    }

    /// So many steps are done in all.
    pub(crate) fn set(&self, steps: u64) {
        self.0.set_position(steps);
    }

    /// Some steps are done.
    pub(crate) fn advance(&self, steps: u64) {
        self.0.inc(steps);
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
