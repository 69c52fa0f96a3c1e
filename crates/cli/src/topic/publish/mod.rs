//! `tickwire topic pub`: samples from JSON or YAML, by the type that the topic's endpoints tell.

mod input;
mod offer;
mod yaml;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use tickwire::cdr::dynamic::{self, Data, DataError, Omissions, Problem};
use tickwire::cdr::{Representation, TypeDescription};
use tickwire::qos::nearest_name;
use tickwire::writer::ReaderStatus;
use tickwire::{
    DataWriter, DiscoveryView, DomainParticipant, EndpointData, Role, Serialized, WaitSet,
};
use tickwire_profiles::parse_duration;

use super::learn::{LearnedType, TypeOptions, announces_type};
use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::network::NetworkOptions;
use crate::output::{counted, note};

/// Write samples to a topic
#[derive(Args)]
#[command(
    long_about = "\
Writes samples that are given as JSON, in the form in which `tickwire topic echo` prints them, or as \
YAML. A decimal may be a number, or text such as \"101.50\", which keeps all digits. The type is \
learned from a reader or a writer of the topic, which must be there, and not `topic echo`, which itself \
learns it so; the writer is made to match the \
readers, but for the policies that the `writer` and `publisher` parts of a --qos-file's profile set. \
Without --rate and --count, each sample is written once. A best-effort reader confirms nothing: what the \
network loses on the way to it, it misses.

`-` reads samples from standard input as they come: a line that begins with `{` is one, other lines \
are YAML, with `---` between documents. {\"disposed\":{KEY}} and {\"unregistered\":{KEY}} end an \
instance, so what echo prints can be written again, but for ends of instances of which it knows the \
hash of the key alone.

The exit status is 1 if too few readers match within --timeout, or do not acknowledge.",
    after_help = "\
Examples:
  tickwire topic pub Quotes '{\"symbol\":\"ACME\",\"price\":101}'
  tickwire topic pub Quotes 'symbol: ACME' --defaults --rate 10 --count 100
  tickwire topic pub Quotes - --wait 2 < quotes.yaml
  tickwire topic echo Quotes | tickwire topic pub Quotes - --domain 1"
)]
pub(crate) struct Arguments {
    /// Name of the topic
    #[arg(value_name = "NAME")]
    name: String,

    /// Samples as JSON or YAML, or `-` for standard input
    #[arg(value_name = "SAMPLE", required = true)]
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

    /// Readers to wait for before the first sample [default: one, and those that come with it]
    #[arg(short, long, value_name = "N")]
    wait: Option<usize>,

    /// How long to wait for the topic, for readers, and for their acknowledgements
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration, default_value = "10s")]
    timeout: Duration,

    #[command(flatten)]
    ty: TypeOptions,
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
    encoder: Encoder,
    written: u64,
}

struct Encoder {
    ty: TypeDescription,
    representation: Representation,
    omissions: Omissions,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let interrupt = Interrupt::catch()?;
        let samples = self.samples()?;
        let participant = self.network.join("tickwire topic pub")?;
        let endpoints = self.wait_for_endpoints(&participant)?;
        let learned = LearnedType::of(&participant, &endpoints, &self.ty)?;
        let Some(ty) = learned.description else {
            let failure = Failure::new("without the type, no sample can be encoded");
            return Err(failure.hint(
                "`--idl FILE` takes it from a file of IDL; or let the topic's programs announce types (TypeInformation)",
            ));
        };
        let readers = endpoints.iter().filter(|data| data.role == Role::Reader);
        let readers: Vec<_> = readers.cloned().collect();
        let encoder = |representation| Encoder {
            ty: ty.clone(),
            representation,
            omissions: match self.defaults {
                true => Omissions::Defaulted,
                false => Omissions::Refused,
            },
        };
        // What is wrong with a sample does not depend on who is there to take it.
        let any = encoder(Representation::Xcdr2);
        for sample in samples.iter().flatten() {
            any.encode(sample).map_err(Failure::into_usage)?;
        }
        if readers.len() < self.wanted() {
            return Err(self.too_few(readers.len()));
        }
        let writer = self.writer(&participant, &ty, &readers)?;
        let mut output = Output {
            encoder: encoder(offer::offered(&writer)),
            writer,
            written: 0,
        };
        self.wait_for_readers(&output.writer)?;
        self.wait_until_known(&participant, &output.writer);
        self.write_all(&samples, &mut output, &interrupt)?;
        let readers = output.writer.matched_subscriptions();
        let acknowledged = output.writer.wait_for_acknowledgments(self.timeout);
        let confirms_nothing = readers.iter().filter(|reader| !reader.reliable).count();
        if confirms_nothing > 0 {
            // The good-bye comes by another socket and may overtake samples, which are dropped then: they are of
            // nobody any more.
            let _over = participant.discovery().wait_for(LINGER, || None::<()>);
        }
        note(format_args!(
            "{} written, {} now{}",
            counted(output.written, "sample", "samples"),
            counted(readers.len() as u64, "reader", "readers"),
            match confirms_nothing {
                0 => String::new(),
                some => format!(", {some} of them best effort, without confirmation"),
            }
        ));
        acknowledged.map_err(|timeout| output.failure(timeout))
    }

    /// The samples of the command line, `None` for standard input.
    fn samples(&self) -> Result<Vec<Option<Data>>> {
        let mut samples = Vec::new();
        for text in &self.samples {
            match text.as_str() {
                "-" => samples.push(None),
                text => {
                    let all = input::parse(text).map_err(Failure::usage)?;
                    samples.extend(all.into_iter().map(Some));
                }
            }
        }
        Ok(samples)
    }

    /// How many readers have to be there.
    fn wanted(&self) -> usize {
        self.wait.unwrap_or(1)
    }

    /// Whoever has the topic, as soon as there are as many readers as are wanted, or in the end: the writer
    /// is to match them, and they tell the type.
    fn wait_for_endpoints(
        &self,
        participant: &DomainParticipant,
    ) -> Result<Vec<Arc<EndpointData>>> {
        let view = participant.discovery();
        let is_enough = |found: &Vec<_>| readers(found) >= self.wanted() && !found.is_empty();
        // Who takes samples of any type does not tell this one; somebody else may be about to.
        let is_told = |found: &Vec<_>| {
            self.ty.is_given() || found.iter().any(|data: &Arc<_>| announces_type(data))
        };
        let find = || Some(self.endpoints(&view)).filter(|all| is_enough(all) && is_told(all));
        let soon = view.wait_for(self.timeout.min(SOON), find);
        let found = soon.or_else(|late| {
            let rest = self.timeout.saturating_sub(SOON);
            if rest.is_zero() {
                return Err(late);
            }
            note(format_args!(
                "waiting for {} of the topic `{}`, for {:?} at most",
                counted(self.wanted() as u64, "reader", "readers"),
                self.name,
                self.timeout
            ));
            view.wait_for(rest, find)
        });
        let mut found = found.unwrap_or_else(|_| self.endpoints(&view));
        if found.is_empty() {
            return Err(self.nobody(&view));
        }
        if !is_enough(&found) {
            return Ok(found);
        }
        // Readers that are there already announce themselves within moments of each other.
        let begin = Instant::now();
        while self.wait.is_none() && begin.elapsed() < self.timeout {
            let more = || Some(self.endpoints(&view)).filter(|all| all.len() != found.len());
            match view.wait_for(QUIET, more) {
                Ok(all) => found = all,
                Err(_) => break,
            }
        }
        Ok(found)
    }

    /// Who has the topic, readers first.
    fn endpoints(&self, view: &DiscoveryView<'_>) -> Vec<Arc<EndpointData>> {
        let mut found = [view.subscriptions(), view.publications()].concat();
        found.retain(|data| data.topic_name == self.name);
        found
    }

    fn nobody(&self, view: &DiscoveryView<'_>) -> Failure {
        let (domain, name) = (self.network.domain, &self.name);
        let failure = Failure::new(format_args!(
            "nobody in domain {domain} has the topic `{name}`, so {}",
            match self.ty.is_given() {
                true => "nobody would get the samples",
                false => "its type is not known",
            }
        ));
        let all = [view.subscriptions(), view.publications()].concat();
        let names = all.iter().map(|data| data.topic_name.as_str());
        failure.hint(match nearest_name(name, names) {
            Some(near) => format!("there is a topic `{near}`"),
            None => format!(
                "`tickwire topic ls {}` lists the topics",
                self.network.again()
            ),
        })
    }

    fn too_few(&self, found: usize) -> Failure {
        let failure = Failure::new(format_args!(
            "topic `{}` has {found} of the {} waited for",
            self.name,
            counted(self.wanted() as u64, "reader", "readers")
        ));
        failure.hint("start readers first, or write to nobody with `--wait 0`")
    }

    fn wait_for_readers(&self, writer: &DataWriter<Serialized>) -> Result<()> {
        let wanted = match self.wait {
            Some(wanted) => wanted,
            None => writer.matched_subscriptions().len().max(1),
        };
        let count = u32::try_from(wanted).unwrap_or(u32::MAX);
        let matched = writer.wait_for_matched(count, self.timeout);
        matched.map_err(|_| {
            if let Some(verdict) = writer.offered_incompatible_qos_status().verdict {
                note("a reader does not match:");
                verdict
                    .mismatches
                    .iter()
                    .for_each(|reason| note(format_args!("  {reason}")));
            }
            let matched = writer.matched_subscriptions().len();
            let failure = Failure::new(format_args!(
                "topic `{}`: {} within {:?}, and {wanted} waited for",
                self.name,
                counted(matched as u64, "reader matches", "readers match"),
                self.timeout
            ));
            let again = self.network.again();
            failure.hint(format_args!(
                "`tickwire qos check {again}` says why a reader does not match"
            ))
        })
    }

    /// A reader that does not know the writer yet drops what comes from it; if it is best effort, nothing
    /// repeats that.
    fn wait_until_known(&self, participant: &DomainParticipant, writer: &DataWriter<Serialized>) {
        let view = participant.discovery();
        let readers = writer.matched_subscriptions();
        let is_known = || {
            let mut readers = readers.iter();
            readers.all(|reader| view.is_known_to(reader.guid, writer.guid()))
        };
        let begin = Instant::now();
        while !is_known() {
            if begin.elapsed() > self.timeout {
                note(
                    "not all readers have acknowledged that they know the writer: they may miss samples",
                );
                break;
            }
            // Acknowledgements wake nobody.
            let _news = view.wait_for(TICK, || is_known().then_some(()));
        }
    }

    fn write_all(
        &self,
        samples: &[Option<Data>],
        output: &mut Output,
        interrupt: &Interrupt,
    ) -> Result<()> {
        let pause = self.rate.map(|rate| Duration::from_secs_f64(1.0 / rate));
        let repeats = self.rate.is_some() || self.count.is_some();
        let stop = WaitSet::new();
        stop.attach(&interrupt.condition());
        let mut next = Instant::now();
        let mut put = |sample: &Data| {
            if let Some(pause) = pause {
                // Raised means the end, and no time means no wait.
                let _stop = stop.wait(next.saturating_duration_since(Instant::now()));
                next += pause;
            }
            let is_over = interrupt.is_raised() || Some(output.written) == self.count;
            match is_over {
                true => Ok(false),
                false => output.put(sample).map(|()| true),
            }
        };
        // Standard input cannot begin again.
        let once = !repeats || samples.iter().any(Option::is_none) || samples.is_empty();
        loop {
            for sample in samples {
                let mut goes_on = true;
                match sample {
                    Some(sample) => goes_on = put(sample)?,
                    None => input::read(io::stdin().lock(), |sample| {
                        goes_on = put(sample)?;
                        Ok(goes_on)
                    })?,
                }
                if !goes_on {
                    return Ok(());
                }
            }
            if once {
                return Ok(());
            }
        }
    }
}

impl Output {
    fn put(&mut self, sample: &Data) -> Result<()> {
        let (act, sample) = self.encoder.encode(sample)?;
        let done = match act {
            Act::Write => self.writer.write(&sample),
            Act::Dispose => self.writer.dispose(&sample),
            Act::Unregister => self.writer.unregister(&sample),
        };
        done.map_err(|error| self.failure(error))?;
        self.written += 1;
        Ok(())
    }

    /// What went wrong, and which readers lag.
    fn failure(&self, error: impl fmt::Display) -> Failure {
        let readers = self.writer.matched_subscriptions().into_iter();
        let lag = |reader: ReaderStatus| {
            let lag = self.writer.lag_of(reader.guid)?;
            let samples = counted(lag.samples as u64, "sample", "samples");
            (lag.samples > 0)
                .then(|| format!("{} lacks {samples}, {} bytes", reader.guid, lag.bytes))
        };
        let lags: Vec<_> = readers.filter_map(lag).collect();
        match lags.is_empty() {
            true => Failure::new(error),
            false => Failure::new(error).hint(format_args!("reader {}", lags.join("; "))),
        }
    }
}

impl Encoder {
    fn encode(&self, sample: &Data) -> Result<(Act, Serialized)> {
        let is_member = |name: &str| self.ty.members.iter().any(|member| &*member.name == name);
        let (act, data, omissions) = match sample {
            Data::Fields(fields) => match &fields[..] {
                [(name, key)] if name == "disposed" && !is_member(name) => {
                    (Act::Dispose, key, Omissions::Defaulted)
                }
                [(name, key)] if name == "unregistered" && !is_member(name) => {
                    (Act::Unregister, key, Omissions::Defaulted)
                }
                _ => (Act::Write, sample, self.omissions),
            },
            _ => (Act::Write, sample, self.omissions),
        };
        let mut payload = Vec::new();
        dynamic::write(&self.ty, data, omissions, self.representation, &mut payload)
            .map_err(|error| self.not_of_the_type(&error))?;
        Ok((act, Serialized::from_payload(payload)))
    }

    fn not_of_the_type(&self, error: &DataError) -> Failure {
        let failure = Failure::new(format_args!("not a sample of {}: {error}", &*self.ty.name));
        match &error.problem {
            Problem::Missing(_) => failure.hint("--defaults fills in what is not given"),
            _ => failure,
        }
    }
}

/// How many of the endpoints read.
fn readers(endpoints: &[Arc<EndpointData>]) -> usize {
    let readers = endpoints.iter().filter(|data| data.role == Role::Reader);
    readers.count()
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

/// Without another reader for so long, all have come.
const QUIET: Duration = Duration::from_millis(300);

/// How soon one who waits is told what for.
const SOON: Duration = Duration::from_secs(1);

/// What a best-effort reader may need to take what waits in its socket.
const LINGER: Duration = Duration::from_millis(200);

/// How often acknowledgements are looked for.
const TICK: Duration = Duration::from_millis(5);
