//! `tickwire demo`: both examples of the article, each stage a process of its own, and an account of
//! every message.

mod example;
mod invocation;
mod report;

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::domain::OwnDomain;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::output::{note, note_debug_build, stdout};
use example::Example;

/// Run an exchange, a feed handler and a subscriber on this machine
#[derive(Args)]
#[command(
    long_about = "\
Runs a market-data system on this machine's loopback interface, as three processes: one multicasts \
a FAST feed, one decodes it and publishes typed samples over RTPS, one subscribes and echoes every \
sample back, so that the time of the round trip can be taken.

There are two examples. `simple` has small messages of four kinds on four topics; `complex` has \
messages over 100 securities, split so that each security has topics of its own, 200 in all. They \
are those of \"Using QuickFAST and OpenDDS for a Low Latency Market Data Feed\" (Object Computing, \
2010), whose figures are shown for comparison.

Every stage counts. If the counts do not agree, the demo says what was lost where and ends with \
status 1.",
    after_help = "\
Examples:
  tickwire demo
  tickwire demo --example complex --messages 5000 -o json"
)]
pub(crate) struct Arguments {
    /// Which example to run
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Which::Both)]
    example: Which,

    /// Messages of each example, before Done
    #[arg(short = 'n', long, value_name = "N", default_value_t = 30_000, value_parser = clap::value_parser!(u32).range(1..))]
    messages: u32,

    /// DDS domain, 0 to 232 [default: one that other runs will not use]
    #[arg(short, long, value_name = "ID", value_parser = clap::value_parser!(u32).range(..=232))]
    domain: Option<u32>,

    /// Form of the result
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: Form,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Small messages, then repeating groups
    Both,
    /// Quote, New, Change and Remove on four topics
    Simple,
    /// MarketData and QuoteRequest on 200 topics
    Complex,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Tables for people
    #[default]
    Table,
    /// An array with an object for each example
    Json,
    /// A line for each group of topics
    Csv,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        note_debug_build();
        let folder = Folder::new()?;
        let path = folder.0.clone();
        // The stages end with this process.
        interrupt::end_cleanly(move || remove(&path))?;
        let domain = OwnDomain::reserve(self.domain)?;
        let mut reports = Vec::new();
        for example in [Example::Simple, Example::Complex] {
            let wanted = match example {
                Example::Simple => self.example != Which::Complex,
                Example::Complex => self.example != Which::Simple,
            };
            if wanted {
                reports.push(example.run(&folder.0, domain.id(), group(), self.messages)?);
            }
        }
        let mut out = stdout();
        match self.output {
            Form::Table => reports
                .iter()
                .try_for_each(|report| report.write(&mut out))?,
            Form::Json => {
                let examples: Vec<_> = reports.iter().map(report::Report::to_json).collect();
                serde_json::to_writer_pretty(&mut out, &json!(examples))
                    .map_err(std::io::Error::from)?;
                writeln!(out)?;
            }
            Form::Csv => report::write_csv(&mut out, &reports)?,
        }
        out.flush()?;
        drop(out);
        let lost: Vec<_> = reports
            .iter()
            .flat_map(report::Report::discrepancies)
            .collect();
        if !lost.is_empty() {
            return Err(Failure::new(lost.join("; ")).hint(
                "a machine that is busy with other work may drop datagrams of the feed: try again",
            ));
        }
        if self.output == Form::Table {
            note(try_next(&invocation::command()));
        }
        Ok(())
    }
}

/// A multicast group that other demos on this machine will not use.
fn group() -> SocketAddr {
    let [_, _, high, low] = process::id().to_be_bytes();
    SocketAddr::from((Ipv4Addr::new(239, 192, high, low), 13014))
}

/// A folder for the feeds, gone when the demo ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let path = env::temp_dir().join(format!("tickwire-demo-{}", process::id()));
        fs::create_dir_all(&path).map_err(|error| {
            Failure::new(format_args!("cannot create {}: {error}", path.display()))
        })?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn remove(folder: &Path) {
    // What cannot be removed is left to the system's cleaning of its temporary folder.
    let _ignored = fs::remove_dir_all(folder);
}

/// What to do after it, as can be pasted into the shell that the demo was started from.
fn try_next(command: &str) -> String {
    let next = [
        ("feed generate complex --out feed.dat", "make such a feed"),
        (
            "fast decode feed.dat --templates feed.xml -o jsonl | head",
            "look inside it",
        ),
        ("perf latency", "measure against bare UDP"),
    ];
    let width = next.map(|(arguments, _)| arguments.len()).into_iter().max();
    let width = width.unwrap_or(0);
    let lines = next.map(|(arguments, why)| format!("\n  {command} {arguments:width$}  # {why}"));
    format!("Try next:{}", lines.concat())
}
