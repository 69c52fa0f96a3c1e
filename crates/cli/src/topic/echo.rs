//! `tickwire topic echo`: the samples of a topic, whatever its type.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use tickwire::cdr::TypeDescription;
use tickwire::cdr::dynamic::{Form, to_json};
use tickwire::qos::Durability;
use tickwire::{
    DataReader, DataReaderQos, DomainParticipant, DynamicType, EndpointData, InstanceState, Sample,
    Serialized, StatusMask, SubscriberQos,
};

use super::Look;
use crate::failure::{Failure, Result};
use crate::feed::parse_duration;
use crate::output::stdout;

/// Print the samples of a topic
#[derive(Args)]
#[command(
    long_about = "\
Subscribes to a topic and prints each sample as one line of JSON. The type is learned from the \
writer: nothing needs to be compiled or configured. The subscription asks for what the writer \
offers, so that it gets repairs and history where there are any, and never holds the writer up.",
    after_help = "\
Examples:
  tickwire topic echo MarketData.1012
  tickwire topic echo Quote --count 1
  tickwire topic echo Quote --timeout 10s | jq .Price"
)]
pub(crate) struct Arguments {
    /// Topic
    #[arg(value_name = "TOPIC")]
    name: String,

    #[command(flatten)]
    look: Look,

    /// End after so many samples
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<u64>,

    /// End after so long, with status 1 if the count was not reached [default: wait for ever]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,

    /// Put the sample's time, writer and number around it
    #[arg(long)]
    info: bool,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let begin = Instant::now();
        let participant = self.look.participant()?;
        let writer = self.writer(&participant)?;
        let description = self.description(&participant, &writer)?;
        let reader = self.reader(&participant, &writer, &description)?;
        let mut left = self.count.unwrap_or(u64::MAX);
        let mut line = String::new();
        let mut lost = 0;
        while left > 0 {
            if reader.wait_for_data(TICK).is_err() {
                match self.timeout {
                    Some(timeout) if begin.elapsed() > timeout => {
                        return self.too_late(timeout, left);
                    }
                    _ => continue,
                }
            }
            let mut out = stdout();
            for sample in &reader.take() {
                if left > 0 && self.print(sample, &description, &mut line)? {
                    writeln!(out, "{line}")?;
                    left -= 1;
                }
            }
            out.flush()?;
            if reader.status_changes().intersects(StatusMask::SAMPLE_LOST) {
                lost += reader.sample_lost_status().total_count_change;
                eprintln!("-- {lost} samples lost on the way --");
            }
        }
        Ok(())
    }

    /// Some writer of the topic, as soon as it is found.
    fn writer(&self, participant: &DomainParticipant) -> Result<Arc<EndpointData>> {
        let discovery = participant.discovery();
        let wait = self.timeout.unwrap_or(self.look.wait.max(PATIENCE));
        let found = discovery.wait_for(wait, || {
            let mut writers = discovery.publications().into_iter();
            writers.find(|writer| writer.topic_name == self.name)
        });
        found.map_err(|_| {
            let (name, domain) = (&self.name, self.look.domain);
            let failure = Failure::new(format_args!(
                "nobody writes topic `{name}` in domain {domain} within {wait:?}"
            ));
            match discovery.nearest_topic(name) {
                Some(nearest) => failure.hint(format_args!("there is a topic `{nearest}`")),
                None => failure.hint("`tickwire topic ls` lists the topics of a domain"),
            }
        })
    }

    fn description(
        &self,
        participant: &DomainParticipant,
        writer: &EndpointData,
    ) -> Result<TypeDescription> {
        let described = participant.discovery().type_of(writer.guid, PATIENCE);
        described.map_err(|error| {
            let (topic, ty) = (&self.name, &writer.type_name);
            Failure::new(format_args!("the type {ty} of topic `{topic}`: {error}"))
        })
    }

    /// A reader that asks for no more than the writer offers.
    fn reader(
        &self,
        participant: &DomainParticipant,
        writer: &EndpointData,
        description: &TypeDescription,
    ) -> Result<DataReader<Serialized>> {
        let ty = DynamicType::described(description.clone());
        let topic = participant
            .topic_of::<Serialized>(&self.name, ty)
            .map_err(Failure::new)?;
        let mut qos = DataReaderQos::default().keep_last(DEPTH);
        if writer.qos.is_reliable() {
            qos = qos.reliable();
        }
        if writer.qos.durability >= Durability::TransientLocal {
            qos = qos.transient_local();
        }
        let partitions = writer.qos.partition.iter().cloned();
        let subscriber = participant.subscriber(SubscriberQos::default().partition(partitions));
        subscriber.reader(&topic, qos).map_err(Failure::new)
    }

    /// Puts a sample into `line`; false for the end of an instance, which only standard error tells.
    fn print(
        &self,
        sample: &Sample<Serialized>,
        description: &TypeDescription,
        line: &mut String,
    ) -> Result<bool> {
        line.clear();
        let info = sample.info();
        let Some(data) = sample.data() else {
            let state = match info.instance_state {
                InstanceState::Alive => "alive",
                InstanceState::Disposed => "disposed",
                InstanceState::NoWriters => "without writers",
            };
            eprintln!("-- instance {:?} is {state} --", info.instance);
            return Ok(false);
        };
        if self.info {
            let made_ns = info
                .source_timestamp
                .map_or(0, tickwire::Timestamp::as_nanos);
            let (writer, number) = (info.writer, info.sequence_number.0);
            line.push_str(&format!(
                r#"{{"source_timestamp_ns":{made_ns},"writer":"{writer}","sequence_number":{number},"sample":"#
            ));
        }
        to_json(description, data.payload(), Form::Sample, line)
            .map_err(|error| Failure::new(format_args!("topic `{}`: {error}", self.name)))?;
        if self.info {
            line.push('}');
        }
        Ok(true)
    }

    fn too_late(&self, timeout: Duration, left: u64) -> Result<()> {
        match self.count {
            Some(count) => Err(Failure::new(format_args!(
                "{} of {count} samples of topic `{}` within {timeout:?}",
                count - left,
                self.name
            ))),
            None => Ok(()),
        }
    }
}

const TICK: Duration = Duration::from_millis(100);
/// How long to wait for a writer, and for the answer about its type.
const PATIENCE: Duration = Duration::from_secs(10);
/// Samples of an instance that wait to be printed.
const DEPTH: u32 = 10_000;
