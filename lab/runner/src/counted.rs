//! System calls and bytes on the wire for each message: what a run of 2 N messages has more than one
//! of N, divided by N, so that beginnings and ends cancel out.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::measure::float;
use crate::record::Counted;
use crate::run::{Run, Starter};
use crate::scenario::Wait;

/// Counts with four more runs; two of them under strace.
pub(crate) fn count(starter: &mut Starter, run: &Run<'_>, strace: &Result<(), String>) -> Counted {
    let mut counted = Counted::default();
    let mut bytes = |count| {
        let outcome = starter.run(&of_length(run, count), &[]);
        match outcome.failure {
            None => outcome
                .wire_bytes
                .ok_or_else(|| "no counters of lo".to_owned()),
            Some(failure) => Err(failure),
        }
    };
    let publishers = u64::from(run.part.publishers);
    match bytes(COUNT).and_then(|once| Ok((once, bytes(2 * COUNT)?))) {
        Ok((once, twice)) => {
            let more = twice.saturating_sub(once);
            counted.wire_bytes = Some(float(more) / float(COUNT * publishers));
        }
        Err(reason) => counted.missing = Some(reason),
    }
    let mut calls = |count| {
        let wrapper = STRACE.map(str::to_owned);
        let outcome = starter.run(&of_length(run, count), &wrapper);
        match outcome.failure {
            None => calls_in(&outcome.folder.0),
            Some(failure) => Err(format!("under strace: {failure}")),
        }
    };
    if run.wait == Wait::Poll {
        // How often it asks in vain says nothing.
        return counted;
    }
    let difference = strace
        .clone()
        .and_then(|()| calls(COUNT).and_then(|once| Ok((once, calls(2 * COUNT)?))));
    match difference {
        Ok((once, twice)) => {
            let more = twice.saturating_sub(once);
            counted.system_calls = Some(float(more) / float(COUNT * publishers));
        }
        Err(reason) => counted.missing = counted.missing.or(Some(reason)),
    }
    counted
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
        // A broker's calls are not ended with it before they are read.
        let is_broker = file.to_string_lossy().contains("broker");
        if is_summary && !is_broker {
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
