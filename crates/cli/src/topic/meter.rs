//! `tickwire topic hz`, `bw` and `delay`: what a topic's samples measure, a line for each period.

mod figures;

use std::io::{self, Write};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::learn::LearnedType;
use super::losses::{Losses, report_trouble};
use super::subscription::{Interest, SubscriptionOptions};
use crate::failure::{Failure, Result};
use crate::output::{note, six_digits, stdout};
use figures::{Bandwidth, Delay, Figures, Rate};
use tickwire::{LatencyHistogram, ReaderLatency, ReceiveTimestamps};
use tickwire_profiles::parse_duration;

/// Measure how often samples come
#[derive(Args)]
#[command(
    long_about = "\
Takes the time between one sample of a topic and the next: the shortest, mean and longest, and the \
standard deviation, in milliseconds. The rate is one divided by the mean, in samples a second: where \
samples come in bursts with silence around them, it is higher than the number of samples in a period. \
A line for each period, in which the time since the last sample of an earlier one counts, too, and \
one for all at the end. A figure for which there is nothing, as no sample has followed another, is `-`, in JSON \
null. The type need not be known. Ends of instances are no samples. Lost samples are told of.

The times are those at which samples came. What a program sends in one go may come in one batch, at \
one time: where that is all there is to a line, its figures are of the times at which the samples \
were written, by the writer's clock, unless there were several writers, whose clocks may differ. \
The column `clock` says of which times a line is, `reception` or `source`. Of all samples standard \
error says so, too; and if there is no rate, why.",
    after_help = "\
Examples:
  tickwire topic hz Quotes
  tickwire topic hz Quotes --window 10s --timeout 60s
  tickwire topic hz Quotes -n 1000 -o jsonl | jq .rate_hz
  tickwire topic hz Quotes -n 1000 -o json | jq '.[-1].rate_hz'    # of all"
)]
pub(crate) struct Hz {
    #[command(flatten)]
    options: MeterOptions,
}

/// Measure how many bytes come
#[derive(Args)]
#[command(
    long_about = "\
Adds up the serialized samples of a topic as they arrive: megabytes and samples, each divided by the \
seconds of the period, silent ones included, and the shortest, mean and longest sample in bytes. \
Headers of RTPS, UDP and IP and ends of instances are not counted. A line for each period, and one for \
all at the end. Without a sample its sizes are `-`, in JSON null. The type need not be known.",
    after_help = "\
Examples:
  tickwire topic bw Quotes
  tickwire topic bw Quotes -n 1000 -o jsonl | jq .mb_per_s"
)]
pub(crate) struct Bw {
    #[command(flatten)]
    options: MeterOptions,
}

/// Measure how long samples take
#[derive(Args)]
#[command(
    long_about = "\
Compares the time at which each sample was written, by the writer's clock, with the time at which it \
arrived, by this machine's: percentiles in microseconds. A line for each period, and one for all at \
the end. Without a sample its figures are `-`, in JSON null. Samples written before the command began are not \
asked for, and ends of instances are no samples.

With --hops a line for each part of the way follows: from the writer to this machine's kernel, from \
there to the reader, and from the reader to this command. The kernel notes when datagrams come by UDP \
alone: of what comes otherwise, the first two are one, source_to_reception. That is what the other \
lines measure, in another histogram; reception_to_take is not in them.

What is `early` seemed to arrive before it was written.

Between machines the figures are only as good as the clocks agree. Where samples seem to arrive \
before they were written, the clocks differ, and standard error says by how much at least.",
    after_help = "\
Examples:
  tickwire topic delay Quotes
  tickwire topic delay Quotes --hops --transport udp -n 1000
  tickwire topic delay Quotes -n 1000 -o jsonl | tail -1 | jq .p99_us"
)]
pub(crate) struct DelayArguments {
    #[command(flatten)]
    options: MeterOptions,

    /// Say at the end how long each part of the way took
    #[arg(long)]
    hops: bool,
}

/// What is measured, and how often that is said
#[derive(Args)]
struct MeterOptions {
    #[command(flatten)]
    subscription: SubscriptionOptions,

    /// Time between two lines
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration, default_value = "1s")]
    window: Duration,

    /// Form of the lines
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: LineFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum LineFormat {
    /// Columns for people
    #[default]
    Table,
    /// A JSON object a line
    Jsonl,
    /// One JSON array of these
    Json,
}

impl Hz {
    pub(crate) fn run(self) -> Result<()> {
        self.options.run::<Rate>("tickwire topic hz", false)
    }
}

impl Bw {
    pub(crate) fn run(self) -> Result<()> {
        self.options.run::<Bandwidth>("tickwire topic bw", false)
    }
}

impl DelayArguments {
    pub(crate) fn run(self) -> Result<()> {
        self.options.run::<Delay>("tickwire topic delay", self.hops)
    }
}

impl MeterOptions {
    fn run<F: Figures>(&self, command: &str, hops: bool) -> Result<()> {
        if self.window.is_zero() {
            return Err(Failure::usage("`--window` must be longer than nothing"));
        }
        let mut subscription = self
            .subscription
            .begin_as(command, |participant| match hops {
                true => participant
                    .latency_histograms(true)
                    .receive_timestamps(ReceiveTimestamps::Software),
                false => participant,
            })?;
        subscription.wait_for_writers(&self.subscription.network)?;
        let first = subscription.writers.first();
        let ty = first.map(|writer| LearnedType::unknown(writer));
        let reader = subscription.reader(&Interest {
            ty: &ty.unwrap_or_default(),
            history: false,
            filter: None,
        })?;
        let news = subscription.news_of(&reader);
        let mut losses = Losses::default();
        let (mut all, mut period) = (F::default(), F::default());
        let (mut seen, mut lines) = (0, Lines::new(stdout(), self.output, hops));
        let begin = Instant::now();
        let mut line_at = begin + self.window;
        while subscription.wanted(seen) > 0 && !subscription.is_over() {
            report_trouble(&reader);
            let rest = line_at.saturating_duration_since(Instant::now());
            let _news = news.wait(subscription.rest(rest));
            let taken = reader.take();
            // What has no data ends an instance.
            let samples = taken
                .iter()
                .filter_map(|sample| Some((sample.info(), sample.data()?)));
            for (info, value) in samples.take(subscription.wanted(seen)) {
                let bytes = value.payload().len();
                all.add(info, bytes);
                period.add(info, bytes);
                seen += 1;
            }
            losses.report(&reader);
            if line_at <= Instant::now() {
                lines.write("", &period.row(self.window))?;
                period.begin_period();
                line_at += self.window;
            }
        }
        lines.write("all", &all.row(begin.elapsed()))?;
        for (hop, times) in reader.latency().iter().flat_map(hops_of) {
            lines.write(hop, &figures::row_of(times))?;
        }
        lines.end()?;
        if let Some(remark) = all.remark() {
            note(remark);
        }
        subscription.conclude(seen, &losses)
    }
}

/// The parts of the way that were timed.
fn hops_of(latency: &ReaderLatency) -> impl Iterator<Item = (&'static str, &LatencyHistogram)> {
    let hops = [
        ("source_to_kernel", &latency.source_to_kernel),
        ("kernel_to_reception", &latency.kernel_to_reception),
        ("source_to_reception", &latency.source_to_reception),
        ("reception_to_take", &latency.reception_to_take),
    ];
    let is_timed = |times: &LatencyHistogram| times.count() + times.negative() > 0;
    hops.into_iter().filter(move |(_, times)| is_timed(times))
}

/// Lines of figures as they come: a table cannot know its widest cell.
struct Lines<W> {
    out: W,
    format: LineFormat,
    label_width: usize,
    has_begun: bool,
}

impl<W: Write> Lines<W> {
    fn new(out: W, format: LineFormat, hops: bool) -> Self {
        Self {
            out,
            format,
            label_width: if hops { 19 } else { 3 },
            has_begun: false,
        }
    }

    fn write(&mut self, label: &str, row: &[(&'static str, Value)]) -> io::Result<()> {
        let out = &mut self.out;
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        match self.format {
            LineFormat::Jsonl => writeln!(out, "{}", object(label, row))?,
            // The comma comes with the next one.
            LineFormat::Json => {
                let before = if is_first { "[" } else { "," };
                write!(out, "{before}\n{}", object(label, row))?;
            }
            LineFormat::Table => {
                if is_first {
                    write!(out, "{:1$}", "", self.label_width)?;
                    for (name, _) in row {
                        write!(out, " {name:>11}")?;
                    }
                    writeln!(out)?;
                }
                write!(out, "{label:0$}", self.label_width)?;
                for (_, value) in row {
                    match value.as_f64() {
                        Some(number) if value.is_f64() => write!(out, " {number:>11.3}")?,
                        Some(_) => write!(out, " {:>11}", value.to_string())?,
                        None => write!(out, " {:>11}", value.as_str().unwrap_or("-"))?,
                    }
                }
                writeln!(out)?;
            }
        }
        out.flush()
    }

    /// After the last line.
    fn end(mut self) -> io::Result<()> {
        if self.format == LineFormat::Json {
            writeln!(self.out, "\n]")?;
        }
        // What is left to be written as it is dropped fails without a word.
        self.out.flush()
    }
}

fn object(label: &str, row: &[(&'static str, Value)]) -> Value {
    let scope = if label.is_empty() { "window" } else { label };
    let figures = row.iter();
    let figures = figures.map(|(name, value)| ((*name).to_owned(), six_digits(value)));
    let scope = ("scope".to_owned(), Value::from(scope));
    Value::Object(std::iter::once(scope).chain(figures).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufWriter;

    /// As large as it is, which may be too small.
    struct Disk(Vec<u8>, usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let room = self.1.saturating_sub(self.0.len());
            match bytes.get(..room.min(bytes.len())) {
                Some(fitting @ [_, ..]) => self.0.write(fitting),
                _ => Err(io::ErrorKind::StorageFull.into()),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The array of one line, on a disk of that size.
    fn array(size: usize) -> io::Result<()> {
        let disk = BufWriter::new(Disk(Vec::new(), size));
        let mut lines = Lines::new(disk, LineFormat::Json, false);
        lines.write("all", &[("samples", Value::from(0))])?;
        lines.end()
    }

    #[test]
    fn a_line_says_of_which_clock_it_is() {
        for (format, expected) in [
            (
                LineFormat::Table,
                "        samples       clock\nall           2      source\nall           0           -\n",
            ),
            (
                LineFormat::Jsonl,
                "{\"clock\":\"source\",\"samples\":2,\"scope\":\"all\"}\n\
                 {\"clock\":null,\"samples\":0,\"scope\":\"all\"}\n",
            ),
        ] {
            let mut printed = Vec::new();
            let mut lines = Lines::new(&mut printed, format, false);
            for (samples, clock) in [(2, Value::from("source")), (0, Value::Null)] {
                let row = [("samples", Value::from(samples)), ("clock", clock)];
                lines.write("all", &row).expect("room");
            }
            lines.end().expect("room");
            assert_eq!(String::from_utf8(printed).expect("text"), expected);
        }
    }

    #[test]
    fn an_array_that_cannot_be_closed_is_an_error() {
        let whole = "[\n{\"scope\":\"all\",\"samples\":0}\n]\n".len();
        assert!(array(whole).is_ok());
        for lacking in 1..=3 {
            let error = array(whole - lacking).expect_err("no room");
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
    }
}
