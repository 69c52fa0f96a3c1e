//! System calls and bytes on the wire for each message: what a run of 2 N messages has more than one
//! of N, divided by N, so that beginnings and ends cancel out.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::measure::float;
use crate::record::Counted;
use crate::run::{Run, Starter};
use crate::scenario::{Task, Wait};

/// Counts with two more runs under strace, or two without it, or both.
pub(crate) fn count(starter: &mut Starter, run: &Run<'_>, strace: &Result<(), String>) -> Counted {
    let mut counted = Counted::default();
    let each = |more: u64| float(more) / float(COUNT * u64::from(run.part.publishers));
    // How often it asks in vain says nothing, and a broker's calls are known only once it has ended.
    if run.system.has_broker() {
        counted.missing = Some("system calls, of which a broker makes some".to_owned());
    } else if run.wait == Wait::Block {
        let twice = strace
            .clone()
            .and_then(|()| Ok((calls(starter, run, COUNT)?, calls(starter, run, 2 * COUNT)?)));
        match twice {
            Ok((once, twice)) => {
                counted.system_calls = Some(each(twice.0.saturating_sub(once.0)));
                counted.wire_bytes = Some(each(twice.1.saturating_sub(once.1)));
            }
            Err(reason) => counted.missing = Some(reason),
        }
    }
    // Who is slowed down by strace gathers other messages in a datagram than who is not.
    if run.part.task == Task::Stream || counted.wire_bytes.is_none() {
        match bytes(starter, run, COUNT)
            .and_then(|once| Ok((once, bytes(starter, run, 2 * COUNT)?)))
        {
            Ok((once, twice)) => counted.wire_bytes = Some(each(twice.saturating_sub(once))),
            Err(reason) => {
                counted.wire_bytes = None;
                counted.missing = counted.missing.or(Some(reason));
            }
        }
    }
    counted
}

/// Calls and bytes of a run under strace.
fn calls(starter: &mut Starter, run: &Run<'_>, count: u64) -> Result<(u64, u64), String> {
    let outcome = starter.run(&of_length(run, count), &STRACE.map(str::to_owned));
    match outcome.failure {
        None => Ok((
            calls_in(&outcome.folder.0)?,
            outcome.wire_bytes.unwrap_or(0),
        )),
        Some(failure) => Err(format!("under strace: {failure}")),
    }
}

/// Bytes over the loopback interface.
fn bytes(starter: &mut Starter, run: &Run<'_>, count: u64) -> Result<u64, String> {
    let outcome = starter.run(&of_length(run, count), &[]);
    match outcome.failure {
        None => outcome
            .wire_bytes
            .ok_or_else(|| "no counters of lo".to_owned()),
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
        expected: run.expected.max(Duration::from_secs(1)),
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

const COUNT: u64 = 500;
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
