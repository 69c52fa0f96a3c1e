//! `tickwire topic echo`: the samples of a topic, whose type and QoS are learned from its writers.

use std::io::{self, Write};
use std::time::Duration;

use clap::{Args, ValueEnum};
use tickwire::cdr::TypeDescription;
use tickwire::{DataReader, InstanceHandle, Sample, Serialized};

use super::early::{Early, identity};
use super::field::FieldPath;
use super::learn::{LearnedType, TypeFile, TypeOptions};
use super::losses::{Losses, report_trouble};
use super::sample::{Lines, Shape};
use super::subscription::{Interest, Subscription, SubscriptionOptions};
use super::template::Template;
use crate::failure::{Failure, Result};
use crate::output::{note, stdout};

/// Print the samples of a topic
#[derive(Args)]
#[command(
    long_about = "\
Prints each sample of a topic as one JSON object a line. The writers are found by discovery, which \
is waited for; the type is asked of the participant that writes it; the reader is made to match what \
the writers offer. Samples of a type that nobody describes are printed in hexadecimal. With --idl, \
where no writer is there yet, there is a reader all the same, for those who wait for one before they \
write; if it is not what the writers offer, it is made anew when they come. A member with \
@try_construct(USE_DEFAULT) whose value the type cannot hold is left out. Nothing is lost or printed \
twice by that, unless the topic's writers have different types: one participant cannot read both at a time.

The end of an instance is a line of its own: {\"disposed\":{KEY}} or {\"unregistered\":{KEY}}. With \
--info, samples become {\"writer\":..., \"sequence_number\":..., \"source_timestamp\":..., \
\"latency_us\":..., \"data\":{SAMPLE}}; the latency is by both machines' clocks.

--filter takes the SQL subset of DDS (1.4, Annex B); writers keep back what it is not true of, if \
they can. --format takes text with places: {FIELD} and {$writer}, {$sequence_number}, {$time}, \
{$latency_us}; \\n and \\t as usual, {{ for a brace. A decimal stands there as people write it, such as \
101.50; as JSON it is mantissa and exponent, so that `tickwire topic pub` writes the very same.

Lost samples are reported on standard error, and all that was not shown at the end. A paused \
terminal never slows the writers down: what does not fit in memory meanwhile is counted as lost. \
While the command is stopped, as by Ctrl-Z, writers that keep all wait until its lease has ended, \
5 s; with --best-effort nobody waits.",
    after_help = "\
Examples:
  tickwire topic echo Quotes
  tickwire topic echo Quotes --once --timeout 5s
  tickwire topic echo Quotes --filter \"symbol = 'ACME' AND price > 100\"
  tickwire topic echo Book --field levels[0].price
  tickwire topic echo Quotes --format '{$time} {symbol} {price}'
  tickwire topic echo MarketData.1012 --info | jq .latency_us
  tickwire topic echo Quotes --idl market.idl    # if no program tells its type

Two terminals and no other program:
  tickwire topic echo Quotes --idl market.idl
  tickwire topic pub Quotes 'symbol: ACME' --defaults --idl market.idl"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subscription: SubscriptionOptions,

    /// End after the first sample
    #[arg(long, conflicts_with = "count")]
    once: bool,

    /// Say with each sample where it comes from, when it was written, and how long it took
    #[arg(short, long, conflicts_with_all = ["field", "format"])]
    info: bool,

    /// Only samples for which this is true, such as "price > 100 AND symbol LIKE 'A%'"
    #[arg(long, value_name = "SQL")]
    filter: Option<String>,

    /// Only this part of each sample, such as levels[0].price
    #[arg(long, value_name = "PATH", value_parser = FieldPath::parse, conflicts_with = "format")]
    field: Option<FieldPath>,

    /// A line of your own shape, such as '{symbol}: {price}'
    #[arg(long, value_name = "TEXT", value_parser = Template::parse, conflicts_with = "output")]
    format: Option<Template>,

    /// Form of the samples
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: EchoFormat,

    #[command(flatten)]
    ty: TypeOptions,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum EchoFormat {
    /// A JSON value a line
    #[default]
    Jsonl,
    /// One JSON array
    Json,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let file = self.ty.compile()?;
        let of_file = file.as_ref().map(TypeFile::alone).transpose()?.flatten();
        let mut subscription =
            (self.subscription).begin_as("tickwire topic echo", |participant| participant)?;
        if self.once {
            subscription.limit(1);
        }
        if let Some(description) = of_file {
            self.check(&description)?;
            subscription.read_ahead(&self.interest(&LearnedType::described(description)))?;
        }
        subscription.wait_for_writers(&self.subscription.network)?;
        let (participant, writers) = (&subscription.participant, &subscription.writers);
        let ty = LearnedType::of(participant, writers, file.as_ref())?;
        match &ty.description {
            Some(description) => self.check(description)?,
            None if self.field.is_some() || self.format.is_some() || self.filter.is_some() => {
                let failure = Failure::new("without the type, samples have no fields");
                return Err(failure.hint("`--idl FILE` takes it from a file of IDL"));
            }
            None => note("samples are printed in hexadecimal"),
        }
        let reader = subscription.reader(&self.interest(&ty))?;
        let is_array = self.output == EchoFormat::Json;
        let shape = match (self.field, self.format) {
            (Some(field), _) => Shape::Field(field),
            (_, Some(template)) => Shape::Template(template),
            _ if self.info => Shape::WithInfo,
            _ => Shape::Value,
        };
        let lines = Lines::new(ty.description, shape);
        let early = subscription.early(&reader);
        let printer = Printer::new(stdout(), lines, is_array)?;
        print(&subscription, &reader, &early, printer)
    }

    fn interest<'a>(&'a self, ty: &'a LearnedType) -> Interest<'a> {
        Interest {
            ty,
            history: true,
            filter: self.filter.as_deref(),
        }
    }

    /// Whether samples of the type have what is to be shown.
    fn check(&self, of: &TypeDescription) -> Result<()> {
        let field = self.field.as_ref().map(|field| field.check(of));
        let format = self.format.as_ref().map(|format| format.check(of));
        let checks = field.into_iter().chain(format);
        checks.collect::<Result<(), _>>().map_err(Failure::usage)
    }
}

fn print(
    subscription: &Subscription,
    reader: &DataReader<Serialized>,
    early: &Early,
    mut printer: Printer<impl Write>,
) -> Result<()> {
    let news = subscription.news_of(reader);
    let mut losses = Losses::after(early.before);
    let known = early.identities();
    printer.print(subscription, early.in_order())?;
    losses.report(reader);
    while subscription.wanted(printer.printed) > 0 && !subscription.is_over() {
        report_trouble(reader);
        // What it was, if anything, shows below.
        let _news = news.wait(subscription.rest(FOREVER));
        let samples = reader.take();
        let is_known = |sample| identity(sample).is_some_and(|of| known.contains(&of));
        let new = samples.iter().filter(|sample| !is_known(sample));
        printer.print(subscription, new)?;
        losses.report(reader);
    }
    printer.end()?;
    let shapeless = "ends of instances, which have no such fields";
    losses.add(printer.shapeless, shapeless);
    subscription.conclude(printer.printed, &losses)
}

/// Writes lines, and counts them.
struct Printer<W> {
    out: W,
    lines: Lines,
    is_array: bool,
    printed: usize,
    /// Ends of instances that have no line.
    shapeless: u64,
}

impl<W: Write> Printer<W> {
    fn new(mut out: W, lines: Lines, is_array: bool) -> io::Result<Self> {
        if is_array {
            write!(out, "[")?;
        }
        Ok(Self {
            out,
            lines,
            is_array,
            printed: 0,
            shapeless: 0,
        })
    }

    /// Prints as many samples as are still wanted.
    fn print<'a>(
        &mut self,
        subscription: &Subscription,
        samples: impl IntoIterator<Item = &'a Sample<Serialized>>,
    ) -> io::Result<()> {
        for sample in samples {
            if subscription.wanted(self.printed) == 0 {
                break;
            }
            // Without a key there is no instance that could end; the writer went.
            if sample.data().is_none() && sample.info().instance == InstanceHandle::KEYLESS {
                continue;
            }
            let Some(line) = self.lines.line(sample) else {
                self.shapeless += 1;
                continue;
            };
            match (self.is_array, self.printed) {
                (false, _) => writeln!(self.out, "{line}")?,
                (true, 0) => write!(self.out, "\n{line}")?,
                (true, _) => write!(self.out, ",\n{line}")?,
            }
            self.printed += 1;
        }
        self.out.flush()
    }

    fn end(&mut self) -> io::Result<()> {
        if self.is_array {
            writeln!(self.out, "\n]")?;
        }
        self.out.flush()
    }
}

/// An hour.
const FOREVER: Duration = Duration::from_secs(3_600);
