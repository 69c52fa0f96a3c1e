//! `tickwire topic ls`: the topics, their endpoints, and who does not match whom.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Display;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use tickwire::qos::{Verdict, nearest_name};
use tickwire::{DiscoveryView, EndpointData, Guid, GuidPrefix};

use super::participant_name;
use crate::duration::parse_duration;
use crate::failure::Result;
use crate::network::NetworkOptions;
use crate::output::{ListFormat, note, stdout, write_list};

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
  tickwire topic ls --verbose --wait 5s
  tickwire topic ls -o json | jq '.[] | select(.mismatches != [])'"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    network: NetworkOptions,

    /// How long to listen, such as 500ms [default: 1.5s, and on while there is news]
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration)]
    wait: Option<Duration>,

    /// Name the participants of each topic, too
    #[arg(short, long)]
    verbose: bool,

    /// Form of the list
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ListFormat,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let participant = self.network.join("tickwire topic ls")?;
        let view = participant.discovery();
        self.listen(&view);
        let survey = Survey::new(&view);
        if survey.topics.is_empty() {
            note(format_args!(
                "no topic in domain {} on {}; {} other participants",
                self.network.domain,
                self.network.interface,
                survey.participants.len()
            ));
        }
        let mut out = stdout();
        self.write(&survey, &mut out)?;
        Ok(out.flush()?)
    }

    /// Waits for answers, unless told how long, until they cease.
    fn listen(&self, view: &DiscoveryView<'_>) {
        let _never = view.wait_for(self.wait.unwrap_or(SHORTEST), || None::<()>);
        let begin = Instant::now();
        let mut known = size(view);
        while self.wait.is_none() && begin.elapsed() < LONGEST {
            match view.wait_for(QUIET, || Some(size(view)).filter(|size| *size != known)) {
                Ok(size) => known = size,
                Err(_) => return,
            }
        }
    }

    fn write(&self, survey: &Survey, out: &mut impl Write) -> Result<()> {
        let mut columns = vec!["topic", "type", "keyed", "writers", "readers"];
        columns.extend(["offered", "requested"]);
        if self.verbose {
            columns.push("participants");
        }
        let is_table = self.output == ListFormat::Table;
        if !is_table {
            columns.extend(["mismatches", "hint"]);
        }
        let row = |(name, topic): (&String, &Endpoints)| {
            let mut row = topic.row(name);
            if self.verbose {
                row.push(json!(distinct(topic.participants(survey))));
            }
            if !is_table {
                let mismatches = topic.mismatches();
                row.push(mismatches.iter().map(Mismatch::to_json).collect());
                row.push(json!(survey.hint(name, topic)));
            }
            row
        };
        let rows: Vec<_> = survey.topics.iter().map(row).collect();
        write_list(out, self.output, &columns, &rows)?;
        match is_table {
            true => survey.explain(out),
            false => Ok(()),
        }
    }
}

/// What discovery has found.
struct Survey {
    topics: BTreeMap<String, Endpoints>,
    /// What the owners of their endpoints are called.
    participants: HashMap<GuidPrefix, String>,
}

/// Writers and readers of one topic.
#[derive(Default)]
struct Endpoints {
    writers: Vec<Arc<EndpointData>>,
    readers: Vec<Arc<EndpointData>>,
}

/// Pairs of one topic that do not match for the same reasons.
struct Mismatch {
    /// The first pair.
    writer: Guid,
    reader: Guid,
    verdict: Verdict,
    pairs: usize,
}

impl Survey {
    fn new(view: &DiscoveryView<'_>) -> Self {
        let mut topics: BTreeMap<String, Endpoints> = BTreeMap::new();
        for writer in view.publications() {
            let topic = topics.entry(writer.topic_name.clone()).or_default();
            topic.writers.push(writer);
        }
        for reader in view.subscriptions() {
            let topic = topics.entry(reader.topic_name.clone()).or_default();
            topic.readers.push(reader);
        }
        let participants = view.participants();
        let named = participants
            .iter()
            .map(|data| (data.guid_prefix, participant_name(data)));
        Self {
            topics,
            participants: named.collect(),
        }
    }

    /// The name that the readers of a topic without writers were probably meant to have.
    fn hint(&self, name: &str, topic: &Endpoints) -> Option<&str> {
        let written = self.topics.iter().filter(|(_, t)| !t.writers.is_empty());
        let is_orphan = topic.writers.is_empty();
        is_orphan.then(|| nearest_name(name, written.map(|(name, _)| name.as_str())))?
    }

    fn participant(&self, endpoint: Guid) -> &str {
        let name = self.participants.get(&endpoint.prefix);
        name.map_or("a participant that has left", String::as_str)
    }

    /// Says below the table what is wrong.
    fn explain(&self, out: &mut impl Write) -> Result<()> {
        for (name, topic) in &self.topics {
            for mismatch in topic.mismatches() {
                let Mismatch { writer, reader, .. } = mismatch;
                match mismatch.pairs {
                    1 => writeln!(out, "\n{name}: a writer and a reader do not match")?,
                    n => writeln!(
                        out,
                        "\n{name}: {n} pairs of writer and reader do not match, such as"
                    )?,
                }
                writeln!(out, "  writer {writer} of {}", self.participant(writer))?;
                writeln!(out, "  reader {reader} of {}", self.participant(reader))?;
                for reason in &mismatch.verdict.mismatches {
                    writeln!(out, "  {reason}")?;
                }
            }
            if let Some(hint) = self.hint(name, topic) {
                writeln!(
                    out,
                    "\n{name}: has readers but no writer; was it meant to be {hint}?"
                )?;
            }
        }
        Ok(())
    }
}

impl Endpoints {
    fn all(&self) -> impl Iterator<Item = &Arc<EndpointData>> {
        self.writers.iter().chain(&self.readers)
    }

    fn row(&self, name: &str) -> Vec<Value> {
        let keyed: BTreeSet<_> = self.all().map(|data| data.guid.entity.is_keyed()).collect();
        vec![
            json!(name),
            json!(distinct(self.all().map(|data| &data.type_name))),
            match (keyed.first(), keyed.len()) {
                (Some(keyed), 1) => json!(keyed),
                _ => json!("both"),
            },
            json!(self.writers.len()),
            json!(self.readers.len()),
            json!(distinct(self.writers.iter().map(qos))),
            json!(distinct(self.readers.iter().map(qos))),
        ]
    }

    fn participants<'a>(&'a self, survey: &'a Survey) -> impl Iterator<Item = &'a str> {
        self.all().map(|data| survey.participant(data.guid))
    }

    fn mismatches(&self) -> Vec<Mismatch> {
        let mut mismatches: Vec<Mismatch> = Vec::new();
        let pairs = self.writers.iter();
        let pairs =
            pairs.flat_map(|writer| self.readers.iter().map(move |reader| (writer, reader)));
        for (writer, reader) in pairs {
            let Some(verdict) = writer.verdict(reader).filter(|v| !v.is_match()) else {
                continue;
            };
            match mismatches.iter_mut().find(|known| known.verdict == verdict) {
                Some(known) => known.pairs += 1,
                None => mismatches.push(Mismatch {
                    writer: writer.guid,
                    reader: reader.guid,
                    verdict,
                    pairs: 1,
                }),
            }
        }
        mismatches
    }
}

impl Mismatch {
    fn to_json(&self) -> Value {
        let reasons = self.verdict.mismatches.iter();
        json!({
            "writer": self.writer.to_string(),
            "reader": self.reader.to_string(),
            "pairs": self.pairs,
            "reasons": reasons.map(ToString::to_string).collect::<Vec<_>>(),
        })
    }
}

/// The policies that decide whether samples get lost.
fn qos(endpoint: &Arc<EndpointData>) -> String {
    let qos = &endpoint.qos;
    format!("{} {}", qos.reliability.kind, qos.durability)
}

/// Each text once.
fn distinct<T: Display>(texts: impl Iterator<Item = T>) -> String {
    let texts: BTreeSet<_> = texts.map(|text| text.to_string()).collect();
    texts.into_iter().collect::<Vec<_>>().join(", ")
}

/// How much has been found.
fn size(view: &DiscoveryView<'_>) -> [usize; 3] {
    [
        view.participants().len(),
        view.publications().len(),
        view.subscriptions().len(),
    ]
}

/// Participants answer a new one at once, but the first announcement may get lost.
const SHORTEST: Duration = Duration::from_millis(1_500);
/// Without news for so long, the list is complete.
const QUIET: Duration = Duration::from_millis(300);
/// Where news never ceases, they are listened to for so long.
const LONGEST: Duration = Duration::from_secs(10);
