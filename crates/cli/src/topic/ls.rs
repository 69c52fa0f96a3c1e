//! `tickwire topic ls`: the topics, their endpoints, and who does not match whom.

use std::io::Write;

use clap::Args;
use serde_json::{Value, json};

use super::subscription::loss_policies;
use crate::failure::Result;
use crate::output::{ListFormat, counted, note, stdout, write_list};
use crate::survey::{Endpoints, Mismatch, Survey, SurveyOptions, distinct};

/// List the topics, and say who does not match whom
#[derive(Args)]
#[command(
    long_about = "\
Listens to discovery for a while and lists each topic with its type, its writers and readers, and \
what they offer and request. Writers and readers that share a topic but do not match are named with \
every reason and what to change; so are readers whose topic is likely misspelt.

It reads no sample and changes nothing; any DDS on the network is seen.",
    after_help = "\
Examples:
  tickwire topic ls
  tickwire topic ls --verbose --timeout 5s
  tickwire topic ls -o json | jq '.[] | select(.mismatches != [])'"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    survey: SurveyOptions,

    /// Name the participants of each topic, too
    #[arg(short, long)]
    verbose: bool,

    /// Form of the list
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ListFormat,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let (_participant, survey) = self.survey.look("tickwire topic ls")?;
        if survey.topics.is_empty() {
            note(format_args!(
                "no topic in domain {} on {}; {}",
                self.survey.network.domain,
                self.survey.network.interface,
                counted(
                    survey.participants.len() as u64,
                    "other participant",
                    "other participants"
                )
            ));
            self.survey.hint_at_other_transports();
        }
        let mut out = stdout();
        self.write(&survey, &mut out)?;
        Ok(out.flush()?)
    }

    fn write(&self, survey: &Survey, out: &mut impl Write) -> Result<()> {
        let mut columns = vec!["topic", "type", "keyed", "writers", "readers"];
        columns.extend(["mismatched", "offered", "requested"]);
        if self.verbose {
            columns.push("participants");
        }
        let is_table = self.output == ListFormat::Table;
        if !is_table {
            columns.extend(["mismatches", "hint"]);
        }
        let row = |(name, topic): (&String, &Endpoints)| {
            let mut row = row(name, topic);
            if self.verbose {
                let owners = topic.all().map(|data| survey.owner(data.guid));
                row.push(json!(distinct(owners)));
            }
            if !is_table {
                let mismatches = Mismatch::all_of(topic);
                row.push(mismatches.iter().map(Mismatch::to_json).collect());
                row.push(json!(survey.hint(name, topic)));
            }
            row
        };
        let rows: Vec<_> = survey.topics.iter().map(row).collect();
        write_list(out, self.output, &columns, &rows)?;
        match is_table {
            true => explain(survey, out),
            false => Ok(()),
        }
    }
}

/// Says below the table what is wrong.
fn explain(survey: &Survey, out: &mut impl Write) -> Result<()> {
    let mut told = Vec::new();
    for (name, topic) in &survey.topics {
        for mismatch in Mismatch::all_of(topic) {
            let Mismatch { writer, reader, .. } = mismatch;
            match mismatch.pairs {
                1 => writeln!(out, "\n{name}: a writer and a reader do not match")?,
                n => writeln!(
                    out,
                    "\n{name}: {n} pairs of writer and reader do not match, such as"
                )?,
            }
            writeln!(out, "  writer {writer} of {}", survey.owner(writer))?;
            writeln!(out, "  reader {reader} of {}", survey.owner(reader))?;
            for reason in &mismatch.verdict.mismatches {
                writeln!(out, "  {reason}")?;
            }
        }
        // Of two halves each has the other's name nearest.
        let is_told = |hint: &&str| told.contains(&(*hint, name.as_str()));
        if let Some(hint) = survey.hint(name, topic).filter(|hint| !is_told(hint)) {
            told.push((name.as_str(), hint));
            let (has, lacks) = match topic.writers.is_empty() {
                true => ("readers", "writer"),
                false => ("writers", "reader"),
            };
            writeln!(
                out,
                "\n{name}: has {has} but no {lacks}; was it meant to be {hint}?"
            )?;
        }
    }
    Ok(())
}

fn row(name: &str, topic: &Endpoints) -> Vec<Value> {
    let keyed = topic.keyed();
    let mismatches = Mismatch::all_of(topic)
        .iter()
        .map(|m| m.pairs)
        .sum::<usize>();
    vec![
        json!(name),
        json!(topic.type_names()),
        match (keyed.first(), keyed.len()) {
            (Some(keyed), 1) => json!(keyed),
            _ => json!("both"),
        },
        json!(topic.writers.len()),
        json!(topic.readers.len()),
        json!(mismatches),
        json!(distinct(topic.writers.iter().map(loss_policies))),
        json!(distinct(topic.readers.iter().map(loss_policies))),
    ]
}
