//! `tickwire topic pub`: samples from JSON, by the type that the topic's endpoints tell.

use std::io::{self, BufRead};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::Value;
use tickwire::cdr::{Representation, TypeDescription};
use tickwire::qos::{DestinationOrder, Durability, Ownership, RepresentationId, nearest_name};
use tickwire::{
    DataWriter, DataWriterQos, DomainParticipant, DynamicType, EndpointData, PublisherQos, Role,
    Serialized, WaitSet,
};

use super::encode::{Omissions, write_sample};
use super::learn::LearnedType;
use super::subscription::partitions;
use crate::duration::parse_duration;
use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::network::NetworkOptions;
use crate::output::{counted, note};

/// Write samples to a topic
#[derive(Args)]
#[command(
    long_about = "\
Writes samples that are given as JSON, in the form in which `tickwire topic echo` prints them. The \
type is learned from a reader or a writer of the topic, which must be there; the writer is made to \
match the readers. Without --rate and --count, each sample is written once.

`-` reads samples from standard input, one a line. {\"disposed\":{KEY}} and {\"unregistered\":{KEY}} \
end an instance, so what echo prints can be written again.

The exit status is 1 if no reader matches within --timeout, or does not acknowledge.",
    after_help = "\
Examples:
  tickwire topic pub Quotes '{\"symbol\":\"ACME\",\"price\":101}'
  tickwire topic pub Quotes '{\"symbol\":\"ACME\"}' --defaults --rate 10 --count 100
  tickwire topic echo Quotes | tickwire topic pub Quotes - --domain 1"
)]
pub(crate) struct Arguments {
    /// Name of the topic
    #[arg(value_name = "NAME")]
    name: String,

    /// Samples, or `-` for standard input
    #[arg(value_name = "JSON", required = true)]
    samples: Vec<String>,

    #[command(flatten)]
    network: NetworkOptions,

    /// Samples a second; without --count, until Ctrl-C
    #[arg(short, long, value_name = "HZ", value_parser = parse_rate)]
    rate: Option<f64>,

    /// Write so many samples, beginning again where they are fewer
    #[arg(short = 'n', long, value_name = "N")]
    count: Option<u64>,

    /// Write each sample once, as is done without --rate and --count
    #[arg(long, conflicts_with_all = ["rate", "count"])]
    once: bool,

    /// Give members that are left out their defaults: zero, empty, the first literal
    #[arg(long)]
    defaults: bool,

    /// Readers to wait for before the first sample
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    wait: u32,

    /// How long to wait for the topic, for readers, and for their acknowledgements
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration, default_value = "10s")]
    timeout: Duration,
}

/// What to do with a sample.
#[derive(Clone, Copy)]
enum Act {
    Write,
    Dispose,
    Unregister,
}

/// Encodes and writes.
struct Output {
    writer: DataWriter<Serialized>,
    ty: TypeDescription,
    representation: Representation,
    omissions: Omissions,
    written: u64,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let interrupt = Interrupt::catch()?;
        let participant = self.network.join("tickwire topic pub")?;
        let endpoints = self.wait_for_endpoints(&participant)?;
        let learned = LearnedType::of(&participant, &endpoints);
        let Some(ty) = learned.description else {
            let failure = Failure::new("without the type, JSON cannot be encoded");
            return Err(failure.hint("let the topic's programs announce types (TypeInformation)"));
        };
        let readers = endpoints.iter().filter(|data| data.role == Role::Reader);
        let readers: Vec<_> = readers.cloned().collect();
        let representation = representation(&ty, &readers);
        let mut output = Output {
            writer: self.writer(&participant, &ty, &readers, representation)?,
            ty,
            representation,
            omissions: match self.defaults {
                true => Omissions::Defaulted,
                false => Omissions::Refused,
            },
            written: 0,
        };
        // What cannot be encoded is known before anybody is waited for.
        let samples = self.samples.iter().filter(|text| *text != "-");
        for text in samples {
            output.encode(text).map_err(Failure::usage)?;
        }
        self.wait_for_readers(&output.writer)?;
        self.write_all(&mut output, &interrupt)?;
        let readers = output.writer.matched_subscriptions().len() as u64;
        let acknowledged = output.writer.wait_for_acknowledgments(self.timeout);
        note(format_args!(
            "{} written, {} now",
            counted(output.written, "sample", "samples"),
            counted(readers, "reader", "readers")
        ));
        acknowledged.map_err(Failure::new)
    }

    /// Readers first, since they are to match.
    fn wait_for_endpoints(
        &self,
        participant: &DomainParticipant,
    ) -> Result<Vec<Arc<EndpointData>>> {
        let view = participant.discovery();
        let all = || [view.subscriptions(), view.publications()].concat();
        let find = || {
            let mut found = all();
            found.retain(|data| data.topic_name == self.name);
            (!found.is_empty()).then_some(found)
        };
        view.wait_for(self.timeout, find).map_err(|_| {
            let (domain, name) = (self.network.domain, &self.name);
            let failure = Failure::new(format_args!(
                "nobody in domain {domain} has the topic `{name}`, so its type is not known"
            ));
            let all = all();
            let names = all.iter().map(|data| data.topic_name.as_str());
            failure.hint(match nearest_name(name, names) {
                Some(near) => format!("there is a topic `{near}`"),
                None => format!("`tickwire topic ls --domain {domain}` lists the topics"),
            })
        })
    }

    /// Offers what all readers ask for.
    fn writer(
        &self,
        participant: &DomainParticipant,
        ty: &TypeDescription,
        readers: &[Arc<EndpointData>],
        representation: Representation,
    ) -> Result<DataWriter<Serialized>> {
        let requested = || readers.iter().map(|data| &data.qos);
        let id = match representation {
            Representation::Xcdr1 => RepresentationId::XCDR1,
            Representation::Xcdr2 => RepresentationId::XCDR2,
        };
        let mut qos = DataWriterQos::default()
            .reliable(self.timeout)
            .keep_all()
            .representation([id]);
        let durability = requested().map(|qos| qos.durability).max();
        qos = qos.with(|qos| qos.durability = durability.unwrap_or(Durability::Volatile));
        if let Some(deadline) = requested().map(|qos| qos.deadline).min() {
            qos = qos.deadline(deadline);
        }
        if requested().any(|qos| qos.destination_order == DestinationOrder::BySourceTimestamp) {
            qos = qos.by_source_timestamp();
        }
        if !readers.is_empty() && requested().all(|qos| qos.ownership == Ownership::Exclusive) {
            qos = qos.exclusive(0);
        }
        let publisher = PublisherQos::default().partition(partitions(readers));
        let publisher = participant.publisher(publisher);
        let ty = DynamicType::described(ty.clone());
        let topic = participant.topic_of::<Serialized>(&self.name, ty);
        let topic = topic.map_err(Failure::new)?;
        publisher.writer(&topic, qos).map_err(Failure::new)
    }

    fn wait_for_readers(&self, writer: &DataWriter<Serialized>) -> Result<()> {
        let matched = writer.wait_for_matched(self.wait, self.timeout);
        matched.map_err(|error| {
            if let Some(verdict) = writer.offered_incompatible_qos_status().verdict {
                note("a reader does not match:");
                verdict
                    .mismatches
                    .iter()
                    .for_each(|reason| note(format_args!("  {reason}")));
            }
            let failure = Failure::new(format_args!("topic `{}`: {error}", self.name));
            failure.hint("start a reader first, or write to nobody with `--wait 0`")
        })
    }

    fn write_all(&self, output: &mut Output, interrupt: &Interrupt) -> Result<()> {
        let pause = self.rate.map(|rate| Duration::from_secs_f64(1.0 / rate));
        let repeats = self.rate.is_some() || self.count.is_some();
        let stop = WaitSet::new();
        stop.attach(&interrupt.condition());
        let mut next = Instant::now();
        let mut put = |output: &mut Output, text: &str| {
            if let Some(pause) = pause {
                // Raised means the end, and no time means no wait.
                let _stop = stop.wait(next.saturating_duration_since(Instant::now()));
                next += pause;
            }
            let is_over = interrupt.is_raised() || Some(output.written) == self.count;
            match is_over {
                true => Ok(false),
                false => output.put(text).map(|()| true),
            }
        };
        loop {
            for sample in &self.samples {
                if sample != "-" {
                    if !put(output, sample)? {
                        return Ok(());
                    }
                    continue;
                }
                for line in io::stdin().lock().lines() {
                    let line = line.map_err(|error| {
                        Failure::new(format_args!("cannot read standard input: {error}"))
                    })?;
                    if !line.trim().is_empty() && !put(output, &line)? {
                        return Ok(());
                    }
                }
            }
            // Standard input cannot begin again.
            if !repeats || self.samples.iter().any(|sample| sample == "-") {
                return Ok(());
            }
        }
    }
}

impl Output {
    fn put(&mut self, text: &str) -> Result<()> {
        let (act, sample) = self.encode(text).map_err(Failure::new)?;
        let done = match act {
            Act::Write => self.writer.write(&sample),
            Act::Dispose => self.writer.dispose(&sample),
            Act::Unregister => self.writer.unregister(&sample),
        };
        done.map_err(Failure::new)?;
        self.written += 1;
        Ok(())
    }

    fn encode(&self, text: &str) -> Result<(Act, Serialized), String> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| format!("`{}` is no JSON: {error}", excerpt(text)))?;
        let ending = |name: &str| {
            let is_member = self.ty.members.iter().any(|member| &*member.name == name);
            let object = value
                .as_object()
                .filter(|object| object.len() == 1 && !is_member);
            object.and_then(|object| object.get(name))
        };
        let (act, value, omissions) = match (ending("disposed"), ending("unregistered")) {
            (Some(key), _) => (Act::Dispose, key, Omissions::Defaulted),
            (None, Some(key)) => (Act::Unregister, key, Omissions::Defaulted),
            (None, None) => (Act::Write, &value, self.omissions),
        };
        let mut payload = Vec::new();
        let extensibility = self.ty.extensibility;
        tickwire::cdr::encapsulated(self.representation, extensibility, &mut payload, |writer| {
            write_sample(&self.ty, value, omissions, writer)
        })?;
        Ok((act, Serialized::from_payload(payload)))
    }
}

/// What all readers understand; else what is usual for the type.
fn representation(ty: &TypeDescription, readers: &[Arc<EndpointData>]) -> Representation {
    use tickwire::cdr::Extensibility;
    let (one, two) = (Representation::Xcdr1, Representation::Xcdr2);
    let by_preference = match ty.extensibility {
        Extensibility::Final => [one, two],
        Extensibility::Appendable | Extensibility::Mutable => [two, one],
    };
    let is_understood = |representation: &Representation| {
        let id = match representation {
            Representation::Xcdr1 => RepresentationId::XCDR1,
            Representation::Xcdr2 => RepresentationId::XCDR2,
        };
        readers
            .iter()
            .all(|reader| match &*reader.qos.data_representation {
                [] => id == RepresentationId::XCDR1,
                list => list.contains(&id),
            })
    };
    let [usual, _] = by_preference;
    by_preference
        .into_iter()
        .find(is_understood)
        .unwrap_or(usual)
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text
        .parse()
        .map_err(|_| "expected a number of samples a second")?;
    match (1e-6..=1e6).contains(&rate) {
        true => Ok(rate),
        false => Err("expected 0.000001 to 1000000 samples a second".to_owned()),
    }
}

/// The beginning of what may be long.
fn excerpt(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
