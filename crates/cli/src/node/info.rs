//! `tickwire node info`: all that a participant announces.

use std::io::Write;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use tickwire::qos::nearest_name;
use tickwire::{Locator, ParticipantData, SharedMemoryAddress};

use crate::failure::{Failure, Result};
use crate::output::stdout;
use crate::survey::{Process, ReportFormat, Survey, SurveyOptions, kind, participant_name, vendor};

/// Show all that a participant announces
#[derive(Args)]
#[command(
    long_about = "\
Shows what participants of a name announce: whose DDS they run on, host and process where they tell \
them, where they receive, whether they offer shared memory and on which machine, their lease, their properties and their endpoints. A participant without \
a name goes by the beginning of its GUID.

It changes nothing; any DDS on the network is seen.",
    after_help = "\
Examples:
  tickwire node info \"my feed handler\"
  tickwire node info 0154a3 -o json | jq '.[0].endpoints'"
)]
pub(crate) struct Arguments {
    /// Name of the participant, or the first digits of its GUID
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
        let (_participant, survey) = self.survey.look("tickwire node info")?;
        let all = survey.participants.values();
        let meant: Vec<_> = all.filter(|data| self.is_meant(data)).collect();
        if meant.is_empty() {
            return Err(self.not_found(&survey));
        }
        let mut out = stdout();
        match self.output {
            ReportFormat::Table => {
                for (index, data) in meant.iter().enumerate() {
                    if index > 0 {
                        writeln!(out)?;
                    }
                    write_lines(&survey, data, &mut out)?;
                }
            }
            ReportFormat::Json => {
                let list: Vec<_> = meant.iter().map(|data| to_json(&survey, data)).collect();
                serde_json::to_writer_pretty(&mut out, &list).map_err(std::io::Error::from)?;
                writeln!(out)?;
            }
        }
        Ok(out.flush()?)
    }

    fn is_meant(&self, data: &ParticipantData) -> bool {
        let guid = format!("{:?}", data.guid_prefix);
        let name = self.name.to_ascii_lowercase();
        data.entity_name == self.name || (name.len() >= FEWEST_DIGITS && guid.starts_with(&name))
    }

    fn not_found(&self, survey: &Survey) -> Failure {
        let (network, name) = (&self.survey.network, &self.name);
        let domain = network.domain;
        let failure = Failure::new(format_args!(
            "no participant in domain {domain} is called `{name}`, and no GUID begins so"
        ));
        let names = survey.participants.values();
        let names = names.map(|data| data.entity_name.as_str());
        failure.hint(match nearest_name(name, names) {
            Some(near) if !near.is_empty() => format!("there is a participant `{near}`"),
            _ => format!(
                "`tickwire node ls {}` lists the participants",
                network.again()
            ),
        })
    }
}

fn write_lines(survey: &Survey, data: &ParticipantData, out: &mut impl Write) -> Result<()> {
    let mut line = |label: &str, text: String| match text.as_str() {
        "" => Ok(()),
        text => writeln!(out, "  {label:20} {text}"),
    };
    let process = Process::of(data);
    let list = |locators: &[Locator]| {
        let list: Vec<_> = locators.iter().map(ToString::to_string).collect();
        list.join(", ")
    };
    let lease = match data.lease_duration {
        Duration::MAX => "infinite".to_owned(),
        lease => format!("{lease:?}"),
    };
    line(kind(data), participant_name(data))?;
    line("GUID", format!("{:?}", data.guid_prefix))?;
    let version = data.version;
    line(
        "protocol",
        format!("RTPS {}.{}", version.major, version.minor),
    )?;
    line("domain tag", data.domain_tag.clone())?;
    line("process", process.to_string())?;
    line(
        "age",
        process
            .age()
            .map_or_else(String::new, |age| format!("{age:?}")),
    )?;
    line("lease", lease)?;
    line("discovery at", list(&data.metatraffic_unicast))?;
    line("discovery groups", list(&data.metatraffic_multicast))?;
    line("data at", list(&data.default_unicast))?;
    line("data groups", list(&data.default_multicast))?;
    line(
        "shared memory",
        match data.shared_memory {
            Some(address) => format!("offered on machine {}", machine(&address)),
            None => "not offered".to_owned(),
        },
    )?;
    line(
        "user data",
        String::from_utf8_lossy(&data.user_data).into_owned(),
    )?;
    for (name, value) in &data.properties {
        line("property", format!("{name} = {value}"))?;
    }
    for endpoint in survey.endpoints_of(data.guid_prefix) {
        let (topic, ty) = (&endpoint.topic_name, &endpoint.type_name);
        let (reliability, durability) = (endpoint.qos.reliability.kind, endpoint.qos.durability);
        let text = format!("{topic} ({ty}) {reliability} {durability}");
        line(&endpoint.role.to_string(), text)?;
    }
    Ok(())
}

fn to_json(survey: &Survey, data: &ParticipantData) -> Value {
    let process = Process::of(data);
    let list = |locators: &[Locator]| -> Vec<String> {
        locators.iter().map(ToString::to_string).collect()
    };
    let endpoints = survey.endpoints_of(data.guid_prefix).map(|endpoint| {
        json!({
            "role": endpoint.role.to_string(),
            "guid": endpoint.guid.to_string(),
            "topic": endpoint.topic_name,
            "type": endpoint.type_name,
            "reliability": endpoint.qos.reliability.kind.to_string(),
            "durability": endpoint.qos.durability.to_string(),
        })
    });
    let properties = data.properties.iter();
    json!({
        "participant": format!("{:?}", data.guid_prefix),
        "name": data.entity_name,
        "kind": kind(data),
        "vendor": vendor(data),
        "protocol": format!("{}.{}", data.version.major, data.version.minor),
        "domain_tag": data.domain_tag,
        "host": process.host,
        "pid": process.pid,
        "program": process.program,
        "age_s": process.age().map(|age| age.as_secs()),
        "lease_s": (data.lease_duration != Duration::MAX)
            .then_some(data.lease_duration.as_secs_f64()),
        "locators": {
            "discovery": list(&data.metatraffic_unicast),
            "discovery_groups": list(&data.metatraffic_multicast),
            "data": list(&data.default_unicast),
            "data_groups": list(&data.default_multicast),
        },
        "shared_memory": data.shared_memory.map(|address| json!({
            "version": address.version,
            "machine": machine(&address),
        })),
        "properties": properties
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect::<serde_json::Map<_, _>>(),
        "endpoints": endpoints.collect::<Vec<_>>(),
    })
}

/// Equal for those who share memory.
fn machine(address: &SharedMemoryAddress) -> String {
    let bytes = address.machine.iter().take(4);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// Fewer digits of a GUID name too many participants: the first four are the vendor's.
const FEWEST_DIGITS: usize = 5;
