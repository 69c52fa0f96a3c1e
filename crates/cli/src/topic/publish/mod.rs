//! `tickwire topic pub`: samples from JSON or YAML, by the type that the topic's endpoints tell.

mod input;
mod offer;
mod search;
mod yaml;

use std::fmt;
use std::io;
use std::time::{Duration, Instant};

use clap::Args;
use tickwire::cdr::dynamic::{self, Data, DataError, Omissions, Problem};
use tickwire::cdr::{Representation, TypeDescription};
use tickwire::writer::ReaderStatus;
use tickwire::{DataWriter, DomainParticipant, Role, Serialized, WaitSet};
use tickwire_profiles::parse_duration;

use super::ahead::is_acknowledged_within;
use super::learn::{LearnedType, TypeFile, TypeOptions};
use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::network::NetworkOptions;
use crate::output::{counted, note};
use search::{START_READERS, Search};

/// Write samples to a topic
#[derive(Args)]
#[command(
    long_about = "\
Writes samples that are given as JSON, in the form in which `tickwire topic echo` prints them, or as \
YAML. A decimal may be a number, or text such as \"101.50\", which keeps all digits. The writer is made \
to match the readers, but for the policies that the `writer` and `publisher` parts of a --qos-file's \
profile set. Without --rate and --count, each sample is written once. A best-effort reader confirms \
nothing: what the network loses on the way to it, it misses.

The type is learned from a program that reads or writes the topic, which is waited for, or comes from \
a file (--idl). `tickwire topic echo` learns it, too, so that one of these two commands needs --idl \
where there is no other program. Then either may be started first.

`-` reads samples from standard input as they come: a line that begins with `{` is one, other lines \
are YAML, with `---` between documents. {\"disposed\":{KEY}} and {\"unregistered\":{KEY}} end an \
instance, so what echo prints can be written again, but for ends of instances of which it knows the \
hash of the key alone, and with --defaults for samples of which it has left a member out.

The exit status is 1 if too few readers match within --timeout, or do not acknowledge.",
    after_help = "\
Examples:
  tickwire topic pub Quotes '{\"symbol\":\"ACME\",\"price\":101}'
  tickwire topic pub Quotes 'symbol: ACME' --defaults --rate 10 --count 100
  tickwire topic pub Quotes - --wait 2 < quotes.yaml
  tickwire topic pub Quotes - --idl market.idl --wait 0 < quotes.yaml
  tickwire topic echo Quotes | tickwire topic pub Quotes - --domain 1

Two terminals and no other program:
  tickwire topic echo Quotes --idl market.idl
  tickwire topic pub Quotes 'symbol: ACME' --defaults --idl market.idl"
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

    /// Readers to wait for before the first sample; with 0 it is written even if nobody reads, though without --idl
    /// somebody must be there who tells the type [default: one, and those that come with it]
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
        let file = self.ty.compile()?;
        let known = file.as_ref().map(TypeFile::alone).transpose()?.flatten();
        // What is wrong with a sample does not depend on who is there to take it.
        known.iter().try_for_each(|ty| self.check(&samples, ty))?;
        let participant = self.network.join("tickwire topic pub")?;
        let mut search = Search {
            arguments: &self,
            view: participant.discovery(),
            begin: Instant::now(),
            knows_type: known.is_some(),
            own: None,
        };
        let mut ahead = None;
        if let Some(ty) = &known {
            let has_readers = search.finds_readers_in_moments();
            if !has_readers && self.wanted() > 0 {
                // It may be a writer that they wait for, as `tickwire topic echo` does.
                ahead = Some(self.writer_ahead(&participant, ty)?);
            }
        }
        search.own = ahead.as_ref().map(|ahead| ahead.guid);
        let endpoints = search.endpoints_in_time()?;
        let learned = LearnedType::of(&participant, &endpoints, file.as_ref())?;
        let Some(ty) = learned.description else {
            let failure = Failure::new("without the type, no sample can be encoded");
            return Err(failure.hint(
                "`--idl FILE` takes it from a file of IDL; or let the topic's programs announce types (TypeInformation)",
            ));
        };
        // Those of the type that was known have been checked.
        if known.as_ref() != Some(&ty) {
            self.check(&samples, &ty)?;
        }
        let readers = endpoints.iter().filter(|data| data.role == Role::Reader);
        let readers: Vec<_> = readers.cloned().collect();
        if readers.len() < self.wanted() {
            return Err(self.too_few(readers.len()));
        }
        let writer = self.writer(&participant, &ty, &readers, ahead)?;
        let mut output = Output {
            encoder: self.encoder(&ty, offer::offered(&writer)),
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

    fn encoder(&self, ty: &TypeDescription, representation: Representation) -> Encoder {
        Encoder {
            ty: ty.clone(),
            representation,
            omissions: match self.defaults {
                true => Omissions::Defaulted,
                false => Omissions::Refused,
            },
        }
    }

    /// Whether the samples of the command line are of the type.
    fn check(&self, samples: &[Option<Data>], ty: &TypeDescription) -> Result<()> {
        let any = self.encoder(ty, Representation::Xcdr2);
        let mut samples = samples.iter().flatten();
        samples.try_for_each(|sample| any.encode(sample).map(drop).map_err(Failure::into_usage))
    }

    /// How many readers have to be there.
    fn wanted(&self) -> usize {
        self.wait.unwrap_or(1)
    }

    fn too_few(&self, found: usize) -> Failure {
        let failure = Failure::new(format_args!(
            "topic `{}` has {found} of the {} waited for",
            self.name,
            counted(self.wanted() as u64, "reader", "readers")
        ));
        match found {
            0 => failure.hint(START_READERS),
            found => failure.hint(format_args!(
                "start more readers, or write to fewer with `--wait {found}`"
            )),
        }
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
        if !is_acknowledged_within(self.timeout, &view, is_known) {
            note(
                "not all readers have acknowledged that they know the writer: they may miss samples",
            );
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

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text
        .parse()
        .map_err(|_| "expected a number of samples a second")?;
    match (1e-6..=1e6).contains(&rate) {
        true => Ok(rate),
        false => Err("expected 0.000001 to 1000000 samples a second".to_owned()),
    }
}

/// What a best-effort reader may need to take what waits in its socket.
const LINGER: Duration = Duration::from_millis(200);
