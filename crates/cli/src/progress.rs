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

    /// Some steps are done.
    pub(crate) fn advance(&self, steps: u64) {
        self.0.inc(steps);
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
