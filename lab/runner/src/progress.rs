//! How far a run is, and how long it will take.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// A bar on a terminal, a line for each round elsewhere.
pub(crate) struct Progress {
    bar: ProgressBar,
    is_terminal: bool,
    begun: Instant,
    /// What the scenarios that are still to come will take.
    ahead: Duration,
    /// What the present one will take from now on.
    left: Duration,
}

impl Progress {
    /// For scenarios that take so long in all.
    pub(crate) fn new(ahead: Duration) -> Self {
        let is_terminal = stderr().is_terminal();
        let bar = if is_terminal {
            let template = "{prefix} [{bar:30}] {msg}";
            let style = ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(1).with_style(style)
        } else {
            ProgressBar::hidden()
        };
        Self {
            bar,
            is_terminal,
            begun: Instant::now(),
            ahead,
            left: Duration::ZERO,
        }
    }

    /// A scenario begins, of which so much time was to come.
    pub(crate) fn begin(&mut self, scenario: &str, budget: Duration) {
        self.bar.set_prefix(scenario.to_owned());
        self.ahead = self.ahead.saturating_sub(budget);
        self.left = budget;
    }

    /// A run is about to begin. Nothing is drawn while it lasts.
    pub(crate) fn at(&self, what: &str, left: Duration) {
        let left = left + self.ahead;
        let passed = self.begun.elapsed();
        self.bar.set_length(seconds(passed + left).max(1));
        self.bar.set_position(seconds(passed));
        self.bar
            .set_message(format!("about {} left  {what}", minutes(left)));
    }

    /// A round is over.
    pub(crate) fn round(&self, scenario: &str, round: u32, runs: usize, left: Duration) {
        if !self.is_terminal {
            let left = minutes(left + self.ahead);
            eprintln!(
                "{scenario}: round {} done, {runs} runs; about {left} left",
                round + 1
            );
        }
    }

    /// Says something above the bar.
    pub(crate) fn note(&self, what: &str) {
        self.bar.suspend(|| eprintln!("{what}"));
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// `4 min`, `50 s`.
pub(crate) fn minutes(time: Duration) -> String {
    match seconds(time) {
        seconds @ ..120 => format!("{seconds} s"),
        seconds => format!("{} min", (seconds + 30) / 60),
    }
}

fn seconds(time: Duration) -> u64 {
    time.as_secs()
}
