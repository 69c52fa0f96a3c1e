//! What a process costs between two moments.

use std::fs;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use serde::Serialize;

use crate::clock::now;

/// What a process used.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cost {
    /// Processor time of all its threads, in the program.
    pub cpu_user_ns: u64,
    /// The same in the kernel.
    pub cpu_system_ns: u64,
    /// How often a thread waited.
    pub voluntary_switches: u64,
    /// How often a thread was interrupted.
    pub involuntary_switches: u64,
    /// Resident memory at the end.
    pub resident_kb: u64,
    /// Threads at the end.
    pub threads: u64,
}

/// Begins with the first measured message, and ends with the last.
#[derive(Debug, Default)]
pub struct Meter {
    begun: Option<(u64, Usage)>,
    ended: Option<(u64, Cost)>,
}

impl Meter {
    /// Begins, unless it has.
    pub fn begin(&mut self) {
        self.begun.get_or_insert_with(|| (now(), usage()));
    }

    /// Ends; `at` is the time of the last message.
    pub fn end(&mut self, at: u64) {
        if let Some((_, before)) = &self.begun {
            self.ended = Some((at, cost(before, &usage())));
        }
    }

    /// When it ended.
    pub(crate) fn ended(&self) -> Option<u64> {
        self.ended.as_ref().map(|(at, _)| *at)
    }

    /// Time that passed, and what it cost.
    pub fn result(self) -> (u64, Cost) {
        let begun = self.begun.map_or(0, |(at, _)| at);
        let (ended, cost) = self.ended.unwrap_or_default();
        (ended.saturating_sub(begun), cost)
    }
}

fn usage() -> Usage {
    getrusage(UsageWho::RUSAGE_SELF).expect("Linux tells a process about itself")
}

fn cost(before: &Usage, after: &Usage) -> Cost {
    let time = |from: TimeVal, to: TimeVal| unsigned((to - from).num_nanoseconds());
    let count = |of: fn(&Usage) -> i64| unsigned(of(after) - of(before));
    Cost {
        cpu_user_ns: time(before.user_time(), after.user_time()),
        cpu_system_ns: time(before.system_time(), after.system_time()),
        voluntary_switches: count(Usage::voluntary_context_switches),
        involuntary_switches: count(Usage::involuntary_context_switches),
        resident_kb: of_status("VmRSS:"),
        threads: of_status("Threads:"),
    }
}

fn of_status(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|number| number.parse().ok())
        .unwrap_or_default()
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
