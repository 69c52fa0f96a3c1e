//! `tickwire topic info`: a topic's endpoints, and all that they announce.

use std::io::Write;

use clap::Args;
use serde_json::{Map, Value, json};
use tickwire::cdr::ByteOrder;
use tickwire::cdr::xtypes::{TypeId, TypeInformation};
use tickwire::{EndpointData, Locator};

use crate::failure::Result;
use crate::output::{counted, stdout};
use crate::survey::{
    Endpoints, Mismatch, Process, ReportFormat, Survey, SurveyOptions, Ways, non_default_policies,
    vendor,
};

/// Show the writers and readers of a topic, and all that they announce
#[derive(Args)]
#[command(
    long_about = "\
Shows each writer and reader of a topic: the participant that it belongs to and whose DDS that is, \
every policy of its QoS that is not the standard's default, where it receives, and the identifiers \
of its type. What they disagree about follows, and by which way samples go, as announcements tell it: \
shared memory, UDP or TCP, and if not shared memory why, and whose participant does not offer it. It may \
still be refused for lack of memory, or by another user.

It reads no sample and changes nothing; any DDS on the network is seen.",
    after_help = "\
Examples:
  tickwire topic info Quotes
  tickwire topic info Quotes -o json \\
      | jq '.endpoints[] | select(.role == \"reader\") | .qos'"
)]
pub(crate) struct Arguments {
    /// Name of the topic
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    survey: SurveyOptions,

    /// Form of the answer
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ReportFormat,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let (_participant, survey) = self.survey.look("tickwire topic info")?;
        let topic = survey.topic(&self.name, &self.survey.network)?;
        let mut out = stdout();
        match self.output {
            ReportFormat::Table => self.write_lines(&survey, topic, &mut out)?,
            ReportFormat::Json => {
                serde_json::to_writer_pretty(&mut out, &self.to_json(&survey, topic))
                    .map_err(std::io::Error::from)?;
                writeln!(out)?;
            }
        }
        Ok(out.flush()?)
    }

    fn to_json(&self, survey: &Survey, topic: &Endpoints) -> Value {
        let endpoints = topic.all().map(|data| endpoint_json(survey, data));
        let mismatches = Mismatch::all_of(topic);
        json!({
            "topic": self.name,
            "type": topic.type_names(),
            "endpoints": endpoints.collect::<Vec<_>>(),
            "ways": Ways::all_of(survey, topic).iter().map(Ways::to_json).collect::<Vec<_>>(),
            "mismatches": mismatches.iter().map(Mismatch::to_json).collect::<Vec<_>>(),
        })
    }

    fn write_lines(&self, survey: &Survey, topic: &Endpoints, out: &mut impl Write) -> Result<()> {
        writeln!(
            out,
            "{}: type {}, writers: {}, readers: {}",
            self.name,
            topic.type_names(),
            topic.writers.len(),
            topic.readers.len()
        )?;
        for data in topic.all() {
            let name = match data.entity_name.as_str() {
                "" => String::new(),
                name => format!(" {name:?}"),
            };
            let (role, guid, owner) = (data.role, data.guid, survey.owner(data.guid));
            writeln!(out, "\n{role}{name} {guid} of {owner}")?;
            for (label, text) in lines(survey, data) {
                writeln!(out, "  {label:20} {text}")?;
            }
        }
        for ways in Ways::all_of(survey, topic) {
            let Ways {
                writer,
                reader,
                pairs,
                ..
            } = ways;
            let others = match pairs {
                1 => String::new(),
                pairs => format!(", and {} more", counted(pairs as u64 - 1, "pair", "pairs")),
            };
            writeln!(
                out,
                "\nfrom writer {writer} to reader {reader}{others}: by {ways}"
            )?;
        }
        for mismatch in Mismatch::all_of(topic) {
            let Mismatch { writer, reader, .. } = mismatch;
            writeln!(out, "\nwriter {writer} and reader {reader} do not match")?;
            for reason in &mismatch.verdict.mismatches {
                writeln!(out, "  {reason}")?;
            }
        }
        Ok(())
    }
}

/// What there is to say of an endpoint, with labels.
fn lines(survey: &Survey, data: &EndpointData) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let key = match data.guid.entity.is_keyed() {
        true => "keyed",
        false => "no key",
    };
    lines.push(("type", format!("{}, {key}", data.type_name)));
    let [complete, minimal] = type_ids(data);
    match (complete, minimal) {
        (None, None) => lines.push(("type id", "not announced".to_owned())),
        ids => {
            let ids = [ids.0, ids.1].into_iter().flatten();
            lines.extend(ids.map(|id| ("type id", format!("{id:?}").to_lowercase())));
        }
    }
    if let Some(participant) = survey.participants.get(&data.guid.prefix) {
        let process = Process::of(participant).to_string();
        if !process.is_empty() {
            lines.push(("process", process));
        }
    }
    let (locators, is_own) = locators(survey, data);
    let whose = if is_own { "" } else { ", its participant's" };
    let list: Vec<_> = locators.iter().map(ToString::to_string).collect();
    lines.push(("receives at", format!("{}{whose}", list.join(", "))));
    if let Some(filter) = &data.content_filter {
        let text = format!(
            "{} {:?}",
            filter.filter_expression, filter.expression_parameters
        );
        lines.push(("content filter", text));
    }
    match non_default_policies(data.role, &data.qos) {
        policies if policies.is_empty() => lines.push(("QoS", "all default".to_owned())),
        policies => lines.extend(policies),
    }
    lines
}

fn endpoint_json(survey: &Survey, data: &EndpointData) -> Value {
    let participant = survey.participants.get(&data.guid.prefix);
    let process = participant.map(|p| Process::of(p)).unwrap_or_default();
    let policies = non_default_policies(data.role, &data.qos).into_iter();
    let policies: Map<_, _> = policies
        .map(|(name, text)| (name.to_owned(), Value::String(text)))
        .collect();
    let [complete, minimal] = type_ids(data).map(|id| id.map(hexadecimal));
    let (locators, _) = locators(survey, data);
    let filter = data.content_filter.as_ref();
    json!({
        "role": data.role.to_string(),
        "guid": data.guid.to_string(),
        "name": data.entity_name,
        "participant": {
            "name": participant.map(|p| &p.entity_name),
            "vendor": participant.map(|p| vendor(p)),
            "host": process.host,
            "pid": process.pid,
        },
        "type": data.type_name,
        "keyed": data.guid.entity.is_keyed(),
        "type_ids": {"complete": complete, "minimal": minimal},
        "locators": locators.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "content_filter": filter.map(|filter| json!({
            "expression": filter.filter_expression,
            "parameters": filter.expression_parameters,
        })),
        "qos": policies,
    })
}

/// Where an endpoint receives, and whether it says so itself; else it is as its participant says.
fn locators(survey: &Survey, data: &EndpointData) -> (Vec<Locator>, bool) {
    let own = [&*data.unicast_locators, &*data.multicast_locators].concat();
    match survey.participants.get(&data.guid.prefix) {
        Some(participant) if own.is_empty() => {
            let all = [
                &*participant.default_unicast,
                &*participant.default_multicast,
            ];
            (all.concat(), false)
        }
        _ => (own, true),
    }
}

/// The identifiers of the complete and the minimal type object.
fn type_ids(data: &EndpointData) -> [Option<TypeId>; 2] {
    let information = TypeInformation::parse(&data.type_information, ByteOrder::Little);
    let information = information.unwrap_or_default();
    [information.complete, information.minimal].map(|of| of.map(|of| of.id))
}

pub(crate) fn hexadecimal(id: TypeId) -> String {
    id.hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
