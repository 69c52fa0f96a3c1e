//! What a run leaves behind, as `data.json` has it. The report is made from this alone.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::hosts::HostsRecord;
use crate::scenario::Wait;

/// Everything.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Results {
    /// Of this document; 1.
    pub(crate) schema: u32,
    /// The scenarios that ran.
    pub(crate) scenarios: Vec<String>,
    pub(crate) is_quick: bool,
    /// If there were two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hosts: Option<HostsRecord>,
    pub(crate) environment: Environment,
    /// That of the second machine, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) second: Option<Environment>,
    pub(crate) systems: Vec<SystemRecord>,
    /// Those that could not run.
    pub(crate) absent: Vec<Absent>,
    /// Systems of this run that a table does not have.
    #[serde(default)]
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) cells: Vec<Cell>,
}

/// A system that is not asked for a part, or for some of its sizes or waits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct LeftOut {
    pub(crate) scenario: String,
    pub(crate) part: String,
    pub(crate) reason: String,
    pub(crate) system: String,
}

/// A system that took part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SystemRecord {
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) transport: String,
    pub(crate) is_floor: bool,
    /// As the programs said.
    pub(crate) version: String,
    /// How it was built, if by a command of its own.
    pub(crate) build: Option<String>,
    pub(crate) policy: String,
    /// The system that it calls from another language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) calls: Option<String>,
    /// What the programs set.
    pub(crate) settings: BTreeMap<String, String>,
}

/// A system that could not run, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Absent {
    /// As systems are called.
    #[serde(default)]
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) reason: String,
    /// The scenarios, or parts of them (`raw one-to-one`), whose tables have a row that says so.
    #[serde(default)]
    pub(crate) missed: Vec<String>,
}

/// One system at one size of a part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cell {
    #[serde(flatten)]
    pub(crate) key: Key,
    pub(crate) rounds: Vec<Round>,
    /// The named stages of all rounds that went through, as one distribution each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) all_rounds: BTreeMap<String, Percentiles>,
    /// Why the system cannot do it, as its program says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refusal: Option<String>,
    /// The demands that were tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) search: Vec<Tried>,
    /// What a message costs beyond the process's own account.
    #[serde(default)]
    pub(crate) counted: Counted,
}

/// Which cell it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Key {
    pub(crate) scenario: String,
    pub(crate) part: String,
    pub(crate) size: u32,
    pub(crate) wait: Wait,
    pub(crate) system: String,
}

/// One run of a cell.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Round {
    /// Which round, from 0.
    pub(crate) round: u32,
    /// Messages of each publisher.
    pub(crate) count: u64,
    pub(crate) demand: Option<u64>,
    /// Why the run failed. Then its figures are shown, and used for nothing.
    pub(crate) failure: Option<String>,
    /// Of the named stages; the first is the part's own.
    pub(crate) stages: BTreeMap<String, Percentiles>,
    /// What all processes together cost, and what they counted.
    pub(crate) totals: Totals,
    /// What the programs answered.
    pub(crate) answers: Vec<Answer>,
}

/// A distribution, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Percentiles {
    pub(crate) count: u64,
    pub(crate) mean: f64,
    /// Standard deviation; runs of old do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) std_dev: Option<f64>,
    pub(crate) p50: u64,
    pub(crate) p90: u64,
    pub(crate) p99: u64,
    pub(crate) p99_9: u64,
    pub(crate) max: u64,
    /// At the percentiles of [`crate::statistics::CURVE`].
    pub(crate) curve: Vec<u64>,
}

/// Figures of a run as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Totals {
    /// Messages a second that publishers sent.
    pub(crate) sent_per_s: f64,
    /// Messages a second that a subscriber received.
    pub(crate) received_per_s: f64,
    /// In what time the subscriber receives a message of each publisher, in nanoseconds.
    pub(crate) cycle_ns: f64,
    /// The article's latency: elapsed / (2 x count) / subscribers.
    pub(crate) seed_ns: Option<f64>,
    /// Processor time of all processes for each unit, in nanoseconds.
    pub(crate) cpu_ns: f64,
    /// Context switches of all processes for each unit.
    pub(crate) switches: f64,
    /// Of the larger side.
    pub(crate) resident_kb: u64,
    /// Of the side that has more.
    pub(crate) threads: u64,
    /// Bytes over the interface by which the sides reach each other for each unit, the beginning of the conversation
    /// and the warm-up in them.
    pub(crate) wire_bytes: Option<f64>,
    /// Mean length of an encoded payload.
    pub(crate) encoded_bytes: Option<u64>,
}

/// A demand that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tried {
    pub(crate) demand: u64,
    /// Messages a second of the publisher.
    pub(crate) sent_per_s: f64,
    /// Messages a second of the subscriber.
    pub(crate) received_per_s: f64,
    pub(crate) failure: Option<String>,
}

/// Differences between runs of N and of 2 N messages, divided by N.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Counted {
    /// System calls of both sides.
    pub(crate) system_calls: Option<f64>,
    /// N of the system calls; runs of old do not have it, whose N was 500.
    #[serde(default)]
    pub(crate) messages: u64,
    /// How many system calls a message it takes to be more than what two equal runs may differ by.
    #[serde(default)]
    pub(crate) resolution: f64,
    /// Bytes over that interface, with all headers.
    pub(crate) wire_bytes: Option<f64>,
    /// Why one of them is missing.
    pub(crate) missing: Option<String>,
}

/// One program's answer, as the contract has it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Answer {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) system: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) version: String,
    pub(crate) job: String,
    pub(crate) index: u8,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) lost: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) out_of_order: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) wrong: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    pub(crate) elapsed_ns: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) taken: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) taken_ns: u64,
    pub(crate) payload_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) encoded_bytes: Option<u64>,
    pub(crate) cpu_user_ns: u64,
    pub(crate) cpu_system_ns: u64,
    pub(crate) voluntary_switches: u64,
    pub(crate) involuntary_switches: u64,
    pub(crate) resident_kb: u64,
    pub(crate) threads: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) samples: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) samples_decode: Option<String>,
    /// Files of further stages by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) stages: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) settings: BTreeMap<String, String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Results {
    /// The cells of a part, in the order in which they ran.
    pub(crate) fn cells_of(&self, scenario: &str, part: &str) -> impl Iterator<Item = &Cell> {
        self.cells
            .iter()
            .filter(move |cell| cell.key.scenario == scenario && cell.key.part == part)
    }

    /// The record of a system.
    pub(crate) fn system(&self, id: &str) -> Option<&SystemRecord> {
        self.systems.iter().find(|system| system.id == id)
    }
}

impl Percentiles {
    /// All samples together, in nanoseconds.
    pub(crate) fn sum(&self) -> f64 {
        self.mean * crate::measure::float(self.count)
    }

    /// Whether ten samples lie beyond a percentile; it says little otherwise.
    pub(crate) fn reaches(&self, percentile: f64) -> bool {
        crate::measure::float(self.count) * (100.0 - percentile) >= 999.999
    }
}

impl Cell {
    /// A cell that has not run.
    pub(crate) fn new(key: Key) -> Self {
        Self {
            key,
            rounds: Vec::new(),
            all_rounds: BTreeMap::new(),
            refusal: None,
            search: Vec::new(),
            counted: Counted::default(),
        }
    }

    /// The runs that went through.
    pub(crate) fn good(&self) -> impl Iterator<Item = &Round> + Clone {
        self.rounds.iter().filter(|round| round.failure.is_none())
    }

    /// How many runs there were, and how many of them failed.
    pub(crate) fn failures(&self) -> (usize, usize) {
        let failed = self.rounds.iter().filter(|round| round.failure.is_some());
        (self.rounds.len(), failed.count())
    }
}
