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

/// What is being built, and how much is left: a bar on a terminal, now and then a line elsewhere.
pub(crate) struct Builds {
    bar: ProgressBar,
    is_terminal: bool,
    count: usize,
    begun: usize,
    name: String,
    last_line: Instant,
}

impl Builds {
    /// So many are to come.
    pub(crate) fn new(count: usize) -> Self {
        let is_terminal = stderr().is_terminal();
        let bar = match is_terminal && count > 0 {
            true => ProgressBar::new_spinner(),
            false => ProgressBar::hidden(),
        };
        bar.enable_steady_tick(Duration::from_millis(200));
        let style = ProgressStyle::with_template("{spinner} {msg}  {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Self {
            bar,
            is_terminal,
            count,
            begun: 0,
            name: String::new(),
            last_line: Instant::now(),
        }
    }

    /// The next one begins.
    pub(crate) fn begin(&mut self, name: &str) {
        self.begun += 1;
        name.clone_into(&mut self.name);
        let text = self.text("");
        self.bar.set_message(text.clone());
        if !self.is_terminal {
            eprintln!("{text}");
        }
        self.last_line = Instant::now();
    }

    /// It is so far.
    pub(crate) fn at(&mut self, step: &str) {
        let text = self.text(step);
        if !self.is_terminal && self.last_line.elapsed() >= LINE_EVERY {
            eprintln!("{text}");
            self.last_line = Instant::now();
        }
        self.bar.set_message(text);
    }

    /// Says something above the bar.
    pub(crate) fn say(&self, what: &str) {
        self.bar.suspend(|| eprintln!("{what}"));
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn text(&self, step: &str) -> String {
        let left = match self.count.saturating_sub(self.begun) {
            0 => "the last one".to_owned(),
            left => format!("{left} left after it"),
        };
        // What changed meanwhile is built too.
        let (name, begun, count) = (&self.name, self.begun, self.count.max(self.begun));
        let step = match step.split_once(':') {
            Some((crates, name)) => format!(": crate {crates}, {}", name.trim()),
            None => String::new(),
        };
        format!("building {name} ({begun} of {count}, {left}){step}")
    }
}

/// How often a line is written where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_says_what_it_is_and_how_many_are_left() {
        let mut builds = Builds::new(2);
        builds.begin("ZeroMQ");
        assert_eq!(builds.text(""), "building ZeroMQ (1 of 2, 1 left after it)");
        builds.begin("Tickwire");
        assert_eq!(
            builds.text("34/78: tickwire-rtps, serde"),
            "building Tickwire (2 of 2, the last one): crate 34/78, tickwire-rtps, serde"
        );
    }
}
