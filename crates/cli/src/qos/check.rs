//! `tickwire qos check`: every writer of a topic against every reader of it, whoever they belong to.

use std::io::Write;

use clap::Args;
use serde_json::{Value, json};
use tickwire::Guid;
use tickwire::qos;

use crate::failure::{Failure, Result};
use crate::output::{counted, stdout, table};
use crate::survey::{Endpoints, Mismatch, ReportFormat, Survey, SurveyOptions, Ways};

/// Explain each writer and reader that do not match
#[derive(Args)]
#[command(
    long_about = "\
Listens to discovery for a while, compares every writer of each topic with every reader of it, and \
explains each pair that does not match: which policy, what the reader requests, what the writer \
offers, and what to change on which side. Types, keys and partitions are compared, too. Topics that \
have only readers, or only writers, are reported if their name is nearly that of the other half, and pairs that \
match and do not find each other, as the one participant has UDP alone and the other TCP.

Neither side needs to be Tickwire's: what is compared is what both announce. It changes nothing.

The exit status is 1 if any of this is found, but for pairs that partitions alone keep apart, since those \
are there to keep apart.",
    after_help = "\
Examples:
  tickwire qos check
  tickwire qos check Quotes
  tickwire qos check -o json | jq -r '.mismatches[].reasons[].policy'"
)]
pub(crate) struct Arguments {
    /// Name of the topic [default: all]
    #[arg(value_name = "TOPIC")]
    topic: Option<String>,

    #[command(flatten)]
    survey: SurveyOptions,

    /// Form of the answer
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ReportFormat,
}

/// What the check has found.
#[derive(Default)]
struct Findings<'s> {
    topics: u64,
    matching_pairs: u64,
    undecided_pairs: u64,
    mismatches: Vec<(&'s str, Mismatch)>,
    /// Of pairs that match, those that do not find each other.
    apart: Vec<(&'s str, Ways)>,
    /// A topic of which one half is missing, and the name that is likely meant.
    near_misses: Vec<(&'s str, &'s Endpoints, &'s str)>,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let (_participant, survey) = self.survey.look("tickwire qos check")?;
        if let Some(name) = &self.topic {
            survey.topic(name, &self.survey.network)?;
        }
        let mut findings = Findings::default();
        for (name, topic) in &survey.topics {
            if self.topic.as_ref().is_none_or(|wanted| wanted == name) {
                findings.check(&survey, name, topic);
            }
        }
        let mut out = stdout();
        match self.output {
            ReportFormat::Table => findings.write_lines(&survey, &mut out)?,
            ReportFormat::Json => {
                serde_json::to_writer_pretty(&mut out, &findings.to_json(&survey))
                    .map_err(std::io::Error::from)?;
                writeln!(out)?;
            }
        }
        out.flush()?;
        if findings.topics == 0 {
            self.survey.hint_at_other_transports();
        }
        findings.conclusion()
    }
}

impl<'s> Findings<'s> {
    fn check(&mut self, survey: &'s Survey, name: &'s str, topic: &'s Endpoints) {
        self.topics += 1;
        let mismatches = Mismatch::all_of(topic);
        let pairs = topic.writers.len() * topic.readers.len();
        let mismatched: usize = mismatches.iter().map(|mismatch| mismatch.pairs).sum();
        let undecided = topic.undecided_pairs();
        self.undecided_pairs += undecided as u64;
        self.matching_pairs += pairs.saturating_sub(mismatched + undecided) as u64;
        let ways = Ways::all_of(survey, topic).into_iter();
        let apart = ways.filter(|ways| ways.apart.is_some());
        self.apart.extend(apart.map(|ways| (name, ways)));
        let named = mismatches.into_iter().map(|mismatch| (name, mismatch));
        self.mismatches.extend(named);
        // Of two halves each has the other's name nearest.
        let is_told = |near: &str| {
            let mut told = self.near_misses.iter();
            told.any(|(half, _, other)| *half == near && *other == name)
        };
        if let Some(near) = survey.hint(name, topic).filter(|near| !is_told(near)) {
            self.near_misses.push((name, topic, near));
        }
    }

    fn write_lines(&self, survey: &Survey, out: &mut impl Write) -> Result<()> {
        for (name, mismatch) in &self.mismatches {
            match mismatch.pairs {
                1 => writeln!(out, "{name}: a writer and a reader do not match")?,
                n => writeln!(
                    out,
                    "{name}: {n} pairs of writer and reader do not match, such as"
                )?,
            }
            let Mismatch { writer, reader, .. } = *mismatch;
            writeln!(out, "  writer {writer} of {}", survey.owner(writer))?;
            writeln!(out, "  reader {reader} of {}", survey.owner(reader))?;
            let columns = ["", "the reader requests", "the writer offers", "to mend it"];
            let rows: Vec<_> = mismatch.verdict.mismatches.iter().map(row).collect();
            for line in table(&columns, &rows).to_string().lines() {
                writeln!(out, "  {}", line.trim_end())?;
            }
            writeln!(out)?;
        }
        for (name, ways) in &self.apart {
            let pairs = counted(ways.pairs as u64, "pair matches", "pairs match");
            writeln!(out, "{name}: {pairs}, but samples go by {ways}")?;
            for (role, endpoint) in [("writer", ways.writer), ("reader", ways.reader)] {
                writeln!(out, "  {role} {endpoint} of {}", survey.owner(endpoint))?;
            }
            writeln!(out)?;
        }
        for (name, topic, near) in &self.near_misses {
            let (has, lacks) = halves(topic);
            writeln!(
                out,
                "{name}: has {has}s but no {lacks}; was it meant to be {near}?\n"
            )?;
        }
        let matching = counted(self.matching_pairs, "pair matches", "pairs match");
        let topics = counted(self.topics, "topic", "topics");
        write!(out, "{topics}, {matching}, {} do not", self.mismatched())?;
        if self.undecided_pairs > 0 {
            let pairs = counted(self.undecided_pairs, "pair matches", "pairs match");
            write!(
                out,
                "; {pairs} by the names of types alone, which differ and which nobody tells"
            )?;
        }
        Ok(writeln!(out)?)
    }

    fn to_json(&self, survey: &Survey) -> Value {
        let endpoint =
            |guid: Guid| json!({"guid": guid.to_string(), "participant": survey.owner(guid)});
        let mismatches = self.mismatches.iter().map(|(name, mismatch)| {
            let reasons = mismatch.verdict.mismatches.iter().map(|reason| {
                let (requested, offered) = reason.sides();
                json!({
                    "policy": reason.name(),
                    "requested": requested,
                    "offered": offered,
                    "change": reason.hint(),
                })
            });
            json!({
                "topic": name,
                "writer": endpoint(mismatch.writer),
                "reader": endpoint(mismatch.reader),
                "pairs": mismatch.pairs,
                "reasons": reasons.collect::<Vec<_>>(),
            })
        });
        let near_misses = self.near_misses.iter().map(|(name, topic, near)| {
            let (has, lacks) = halves(topic);
            json!({"topic": name, "has": has, "lacks": lacks, "nearest": near})
        });
        let apart = self.apart.iter().map(|(name, ways)| {
            let mut apart = ways.to_json();
            apart["topic"] = json!(name);
            apart
        });
        json!({
            "topics": self.topics,
            "matching_pairs": self.matching_pairs,
            "mismatched_pairs": self.mismatched(),
            "undecided_pairs": self.undecided_pairs,
            "mismatches": mismatches.collect::<Vec<_>>(),
            "apart": apart.collect::<Vec<_>>(),
            "near_misses": near_misses.collect::<Vec<_>>(),
        })
    }

    fn mismatched(&self) -> u64 {
        self.mismatches.iter().map(|(_, m)| m.pairs as u64).sum()
    }

    /// Pairs that something else than partitions alone keeps apart.
    fn unwanted(&self) -> u64 {
        let is_unwanted = |mismatch: &&Mismatch| {
            let mut reasons = mismatch.verdict.mismatches.iter();
            !reasons.all(|reason| matches!(reason, qos::Mismatch::Partition(_)))
        };
        let all = self.mismatches.iter().map(|(_, mismatch)| mismatch);
        all.filter(is_unwanted).map(|m| m.pairs as u64).sum()
    }

    fn conclusion(&self) -> Result<()> {
        let apart: usize = self.apart.iter().map(|(_, ways)| ways.pairs).sum();
        match (self.unwanted(), self.near_misses.len()) {
            (0, 0) if apart > 0 => Err(Failure::new(counted(
                apart as u64,
                "pair of writer and reader has no transport in common",
                "pairs of writer and reader have no transport in common",
            ))),
            (0, 0) => Ok(()),
            (0, near) => Err(Failure::new(counted(
                near as u64,
                "topic has only one half",
                "topics have only one half",
            ))),
            (pairs, _) => Err(Failure::new(counted(
                pairs,
                "pair of writer and reader does not match",
                "pairs of writer and reader do not match",
            ))),
        }
    }
}

fn row(reason: &qos::Mismatch) -> Vec<Value> {
    let (requested, offered) = reason.sides();
    vec![
        json!(reason.name()),
        json!(requested),
        json!(offered),
        json!(reason.hint()),
    ]
}

/// Of a topic with one half: what it has, and what it lacks.
fn halves(topic: &Endpoints) -> (&'static str, &'static str) {
    match topic.writers.is_empty() {
        true => ("reader", "writer"),
        false => ("writer", "reader"),
    }
}
