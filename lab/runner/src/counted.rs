//! System calls and bytes on the wire for each message: what a run of 2 N messages has more than one
//! of N, divided by N, so that beginnings and ends cancel out.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::measure::float;
use crate::record::Counted;
use crate::run::{Outcome, Run, Starter};
use crate::scenario::{Task, Wait};

/// Counts with some more runs under strace, or two without it, or both.
pub(crate) fn count(starter: &mut Starter, run: &Run<'_>, strace: &Result<(), String>) -> Counted {
    let mut counted = Counted::default();
    // How often it asks in vain says nothing, and a broker's calls are known only once it has ended.
    if run.system.has_broker() {
        counted.missing = Some("system calls, of which a broker makes some".to_owned());
    } else if run.wait == Wait::Block {
        let counting = strace.clone();
        let counting = counting.and_then(|()| under_strace(starter, run, &mut counted));
        counted.missing = counting.err();
    }
    // Who is slowed down by strace gathers other messages in a datagram than who is not.
    let is_stream = run.part.task == Task::Stream;
    if is_stream || counted.wire_bytes.is_none() {
        let messages = if is_stream { MOST } else { LEAST };
        let runs = bytes(starter, run, messages)
            .and_then(|once| Ok((once, bytes(starter, run, 2 * messages)?)));
        match runs {
            Ok((once, twice)) => counted.wire_bytes = Some(each(run, messages, once, twice)),
            Err(reason) => {
                counted.wire_bytes = None;
                counted.missing = counted.missing.or(Some(reason));
            }
        }
    }
    counted
}

/// What a run of N and one of 2 N come to for a message.
fn each(run: &Run<'_>, messages: u64, once: u64, twice: u64) -> f64 {
    float(twice.saturating_sub(once)) / float(messages * u64::from(run.part.publishers))
}

/// Counts the calls of N messages and of 2 N. In a stream many messages may share a call, so that N is as large as
/// it may be in [`LONGEST`].
fn under_strace(starter: &mut Starter, run: &Run<'_>, counted: &mut Counted) -> Result<(), String> {
    let mut messages = LEAST;
    let mut once = traced(starter, run, messages)?;
    while run.part.task == Task::Stream && messages < MOST && once.lasted * STEP_TIMES < LONGEST {
        messages *= STEP;
        once = traced(starter, run, messages)?;
    }
    let twice = traced(starter, run, 2 * messages)?;
    let calls = each(run, messages, once.calls, twice.calls);
    // Beginnings and ends differ by some calls from run to run: so many are no calls of messages.
    let differ = match calls < 1.0 {
        true => traced(starter, run, messages)?.calls.abs_diff(once.calls),
        false => 0,
    };
    counted.messages = messages;
    counted.system_calls = Some(calls);
    counted.resolution = each(run, messages, 0, 2 * differ.max(1));
    counted.wire_bytes = Some(each(run, messages, once.bytes, twice.bytes));
    Ok(())
}

/// A run under strace.
struct Traced {
    calls: u64,
    bytes: u64,
    /// Its measured part.
    lasted: Duration,
}

fn traced(starter: &mut Starter, run: &Run<'_>, count: u64) -> Result<Traced, String> {
    let outcome = starter.run(&of_length(run, count), &STRACE.map(str::to_owned));
    match &outcome.failure {
        None => Ok(Traced {
            calls: calls_in(&outcome.folder.0)?,
            bytes: outcome.wire_bytes.unwrap_or(0),
            lasted: longest(&outcome),
        }),
        Some(failure) => Err(format!("under strace: {failure}")),
    }
}

fn longest(outcome: &Outcome) -> Duration {
    let longest = outcome.answers.iter().map(|it| it.elapsed_ns).max();
    Duration::from_nanos(longest.unwrap_or(0))
}

/// Bytes over the interface by which the sides reach each other.
fn bytes(starter: &mut Starter, run: &Run<'_>, count: u64) -> Result<u64, String> {
    let outcome = starter.run(&of_length(run, count), &[]);
    match outcome.failure {
        None => outcome
            .wire_bytes
            .ok_or_else(|| "no counters of the interface".to_owned()),
        Some(failure) => Err(failure),
    }
}

/// Why strace cannot be used, if it cannot.
pub(crate) fn strace_works() -> Result<(), String> {
    let run = Command::new("strace")
        .args(["-f", "-c", "-o", "/dev/null", "true"])
        .output()
        .map_err(|error| format!("strace cannot be started: {error}"))?;
    let said = String::from_utf8_lossy(&run.stderr);
    match run.status.success() {
        true => Ok(()),
        false => Err(format!("strace is refused: {}", said.trim())),
    }
}

fn of_length<'a>(run: &Run<'a>, count: u64) -> Run<'a> {
    Run {
        count,
        warmup: 100,
        demand: None,
        // Under strace a call takes some ten times as long.
        expected: run.expected.max(LONGEST),
        ..*run
    }
}

/// All calls of all processes of a run.
fn calls_in(folder: &Path) -> Result<u64, String> {
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
    let mut sum = 0;
    for file in entries.flatten().map(|entry| entry.path()) {
        let is_summary = file.extension().is_some_and(|it| it == "calls");
        if is_summary {
            let text = fs::read_to_string(&file).map_err(|error| error.to_string())?;
            sum += total(&text).ok_or_else(|| format!("strace wrote no total: {text}"))?;
        }
    }
    Ok(sum)
}

/// The calls in the last line of `strace -c`.
fn total(summary: &str) -> Option<u64> {
    let line = summary.lines().find(|line| line.ends_with(" total"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}

/// Messages of the shorter run.
const LEAST: u64 = 500;
/// And at most, in a stream.
const MOST: u64 = 50_000;
/// What a stream's N grows by, and its time, beside what a batch that is waited for takes once.
const STEP: u64 = 10;
const STEP_TIMES: u32 = 10;
/// What the measured part of the shorter run may last, about.
const LONGEST: Duration = Duration::from_secs(2);
const STRACE: [&str; 3] = ["strace", "-f", "-c"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_of_a_summary_is_read() {
        let summary = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.000300           3       100         5 sendto
 40.00    0.000200           2       101           recvfrom
------ ----------- ----------- --------- --------- ----------------
100.00    0.000500           2       201         5 total
";
        assert_eq!(total(summary), Some(201));
        assert_eq!(total("strace: no"), None);
    }
}
