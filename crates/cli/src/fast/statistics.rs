//! How many messages a file has of each template, and how fast they decode.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tickwire_fast::{Message, Record, Value as FieldValue};

use super::decode::{Form, RESET, Tally};
use crate::failure::Result;
use crate::output::{ListFormat, write_list};

/// Counts of a file.
#[derive(Default)]
pub(super) struct Statistics {
    templates: BTreeMap<String, Counts>,
    tally: Tally,
    elapsed: Duration,
}

#[derive(Default)]
struct Counts {
    messages: u64,
    values: u64,
    entries: u64,
}

/// The counts of one thread, which are added to those of all when it is done.
pub(super) struct Counting<'a> {
    total: &'a Mutex<Statistics>,
    own: Statistics,
}

impl<'a> Counting<'a> {
    pub(super) fn into(total: &'a Mutex<Statistics>) -> Self {
        Self {
            total,
            own: Statistics::default(),
        }
    }

    pub(super) fn count(&mut self, message: &Message) {
        self.own.count(message);
    }
}

impl Drop for Counting<'_> {
    fn drop(&mut self) {
        let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        total.merge(std::mem::take(&mut self.own));
    }
}

impl Statistics {
    fn merge(&mut self, other: Self) {
        for (name, counts) in other.templates {
            let sum = self.templates.entry(name).or_default();
            sum.messages += counts.messages;
            sum.values += counts.values;
            sum.entries += counts.entries;
        }
    }

    pub(super) fn count(&mut self, message: &Message) {
        let name = message.template().map_or(RESET, |template| template.name());
        if !self.templates.contains_key(name) {
            self.templates.insert(name.to_owned(), Counts::default());
        }
        if let Some(counts) = self.templates.get_mut(name) {
            counts.messages += 1;
            counts.add(message.record());
        }
    }

    /// What decoding all of it took, and what else it came to.
    pub(super) fn measured(&mut self, elapsed: Duration, tally: Tally) {
        self.elapsed = elapsed;
        self.tally = tally;
    }

    pub(super) fn write(&self, form: Form, out: &mut impl Write) -> Result<()> {
        match form {
            Form::Json => Ok(writeln!(out, "{:#}", self.to_json())?),
            Form::Csv => Ok(write_list(out, ListFormat::Csv, &COLUMNS, &self.rows())?),
            Form::Table | Form::Jsonl => self.write_table(out),
        }
    }

    fn rows(&self) -> Vec<Vec<Value>> {
        let row = |(name, counts): (&String, &Counts)| {
            vec![
                json!(name),
                json!(counts.messages),
                json!(counts.entries),
                json!(counts.values),
            ]
        };
        self.templates.iter().map(row).collect()
    }

    fn sum(&self, of: fn(&Counts) -> u64) -> u64 {
        self.templates.values().map(of).sum()
    }

    fn ns_per_message(&self) -> f64 {
        let messages = self.sum(|counts| counts.messages).max(1);
        self.elapsed.as_nanos() as f64 / messages as f64
    }

    fn to_json(&self) -> Value {
        let templates: Vec<_> = self
            .rows()
            .into_iter()
            .map(|row| COLUMNS.into_iter().map(str::to_owned).zip(row).collect())
            .map(Value::Object)
            .collect();
        json!({
            "templates": templates,
            "messages": self.sum(|counts| counts.messages),
            "entries": self.sum(|counts| counts.entries),
            "bytes": self.tally.bytes,
            "duplicate_chunks": self.tally.duplicate_chunks,
            "missing_packets": self.tally.missing.count,
            "first_missing": self.first_missing(),
            "decode_mean_ns": self.ns_per_message(),
        })
    }

    /// The first and the last number of each run of missing packets, of the first runs.
    fn first_missing(&self) -> Vec<[u32; 2]> {
        let runs = self.tally.missing.first.iter();
        runs.map(|(first, last)| [first.0, last.0]).collect()
    }

    fn write_table(&self, out: &mut impl Write) -> Result<()> {
        write_list(out, ListFormat::Table, &COLUMNS, &self.rows())?;
        let messages = self.sum(|counts| counts.messages);
        writeln!(out)?;
        writeln!(out, "messages   {messages}")?;
        writeln!(out, "entries    {}", self.sum(|counts| counts.entries))?;
        writeln!(out, "bytes      {}", self.tally.bytes)?;
        if self.tally.duplicate_chunks > 0 {
            writeln!(out, "duplicate  {} of chunks", self.tally.duplicate_chunks)?;
        }
        if self.tally.missing.count > 0 {
            writeln!(out, "missing    {} packets", self.tally.missing.count)?;
        }
        if messages > 0 {
            let ns = self.elapsed.as_nanos().max(1) as f64;
            writeln!(out, "decode     {:.0} ns/message", self.ns_per_message())?;
            writeln!(
                out,
                "           {:.0} MB/s",
                self.tally.bytes as f64 * 1e3 / ns
            )?;
        }
        Ok(())
    }
}

impl Counts {
    fn add(&mut self, record: Record<'_>) {
        for (_, value) in record {
            self.values += 1;
            match value {
                FieldValue::Group(record) | FieldValue::Template(_, record) => self.add(record),
                FieldValue::Sequence(sequence) => {
                    self.entries += sequence.len() as u64;
                    sequence.iter().for_each(|element| self.add(element));
                }
                _ => {}
            }
        }
    }
}

const COLUMNS: [&str; 4] = ["template", "messages", "entries", "values"];
