//! `tickwire perf latency`: one-way latency between processes, beside bare UDP or TCP in the same run.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use tickwire_gateway::Timing;

use super::bare::Wire;
use super::bytes::{MeasuredDomain, Wait};
use super::expect::{self, Expectation, Metric, Unit};
use super::floor::Floor;
use super::histogram_log::HistogramLog;
use super::pong::PingPong;
use super::schedule::MARK_LEN;
use super::{SIZES, parse_size};
use crate::domain::OwnDomain;
use crate::failure::{Failure, Result};
use crate::output::{ListFormat, counted, note, stdout, write_list};
use crate::profile::ProfileOptions;
use crate::progress::Progress;

/// One-way latency by ping-pong, with bare UDP or TCP as the floor
#[derive(Args)]
#[command(
    long_about = "\
Measures the one-way latency of a sample between processes: half of the time from writing it until \
each subscriber's answer is there. Topics are reliable and carry bytes.

The floor is the same ping-pong over bare UDP sockets between processes, connected where there is one subscriber, one system call a datagram; with \
`--transport tcp`, over bare TCP connections with TCP_NODELAY. With `--transport shm` samples go by shared \
memory, as they do by default in other programs, and the floor stays UDP. \
Both wait the same way and take turns in the same run, so that they meet the same machine. The ratio is \
that of the medians. To one subscriber by sockets, and without --rate, a ratio below 0.9 shows that the machine was probably busy: \
standard error names such rows, whose comparison then means nothing. To several it may be less, as one multicast datagram \
reaches all of them.

With --rate samples are written by the clock, whether the last one was answered or not, and each counts \
from when it was to be written: a stall of the writer shows whole in every sample that it held up, one \
on the way by half, as every round trip counts. Standard error names rows of which 1 % of the samples were \
written late by more than the median latency, and of the others those whose samples came faster than they were \
answered: by then 16 are on the way at once, and a hundredth of --count. Of each row, json has `late_p99_us`, how \
late 99 of 100 samples were written at most, and `on_the_way`, how many were so in the median, which says something \
where few were late; csv has both with blanks. Without --rate they are null.

Datagrams of the floor that get lost are counted and told; a sample that is lost comes again.

With --expect a run that does not come to what is expected, in any row, ends with status 1.",
    after_help = "\
Examples:
  tickwire perf latency
  tickwire perf latency --size 64 --size 1024 --subscribers 1 -o csv
  tickwire perf latency --wait poll --subscribers 1
  tickwire perf latency --transport tcp
  tickwire perf latency --transport shm --wait poll
  tickwire perf latency --size 256 --rate 20000 -n 100000 --log latency.hlog
  tickwire perf latency -s 256 --subscribers 1 --expect 'p99<50us'
  tickwire perf latency --qos-file qos.toml --qos-profile desk"
)]
pub(crate) struct Arguments {
    /// Bytes in a sample; may be given several times [default: 16 to 64000]
    #[arg(short, long = "size", value_name = "BYTES", value_parser = parse_size)]
    sizes: Vec<usize>,

    /// Subscribers, each a process; may be given several times [default: 1 and 3; with `--wait poll` 3
    /// only where each has a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    subscribers: Vec<u32>,

    /// Round trips for each size and number of subscribers
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(10..))]
    count: u32,

    /// How both sides wait
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    wait: Wait,

    /// Samples a second, by the clock [default: the next one follows the answer]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    rate: Option<u32>,

    /// A bound on p50, p99, p99.9, max, mean (with a unit of time) or ratio; may be given several times
    #[arg(long = "expect", value_name = "BOUND", value_parser = parse_expectation)]
    expectations: Vec<Expectation>,

    /// File for all distributions, as tools for HdrHistograms read them, in nanoseconds
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// DDS domain, 0 to 232, or any with a rendezvous [default: the profile's, or one that other runs
    /// will not use]
    #[arg(short, long, value_name = "ID")]
    domain: Option<u32>,

    #[command(flatten)]
    profile: ProfileOptions,

    /// Form of the result
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ListFormat,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let sizes = if self.sizes.is_empty() {
            &SIZES[..]
        } else {
            &self.sizes
        };
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let has_cores = |subscribers: u32| cores > subscribers as usize;
        let subscribers = match (self.subscribers.as_slice(), self.wait) {
            ([], Wait::Poll) if !has_cores(3) => &[1][..],
            ([], _) => &[1, 3],
            (named, _) => named,
        };
        if let Some(most) = subscribers.iter().max()
            && self.wait == Wait::Poll
            && !has_cores(*most)
        {
            note(format_args!(
                "{} and the writer poll on {}: they wait for each other's time slices, a run takes \
                 minutes, and what is measured is the scheduler; --count makes it shorter",
                counted((*most).into(), "subscriber", "subscribers"),
                counted(cores as u64, "core", "cores"),
            ));
        }
        if let Some(size) = sizes.iter().find(|&&size| size < MARK_LEN)
            && self.rate.is_some()
        {
            return Err(Failure::usage(format_args!(
                "--rate needs samples of at least {MARK_LEN} bytes, which number them; not {size}"
            )));
        }
        let mut log = self.log.as_deref().map(HistogramLog::create).transpose()?;
        let steps = sizes.len() * subscribers.len() * TURNS as usize;
        let progress = Progress::new("measuring", steps as u64);
        let domain = OwnDomain::reserve(self.domain.or(self.profile.profile.domain()))?;
        let measured = MeasuredDomain::new(domain.id(), &self.profile, self.wait);
        let measured = measured.beside_floor();
        let wire = measured.wire();
        let mut rows = Vec::new();
        for &subscribers in subscribers {
            let mut sides = Sides {
                ours: PingPong::start(&measured, subscribers)?,
                bare: Floor::start(subscribers, wire, self.wait)?,
            };
            for &size in sizes {
                let mut row = Row::new(subscribers, size, self.rate);
                sides.warm_up(size)?;
                let begin = Instant::now();
                for _ in 0..TURNS {
                    let rounds = self.count.div_ceil(TURNS);
                    sides.turn(rounds, &mut row)?;
                    progress.advance(1);
                }
                if let Some(log) = &mut log {
                    row.write(log, wire, begin)?;
                }
                rows.push(row);
            }
        }
        progress.finish();
        for row in &rows {
            row.note_losses(wire);
            // Lateness is in the latencies, and would count as samples on the way.
            if !row.note_lateness() {
                row.note_backlog(self.count.div_ceil(TURNS));
            }
            // By the clock, samples also wait for those before them.
            if self.wait == Wait::Poll && self.rate.is_none() && has_cores(row.subscribers) {
                row.note_preemption();
            }
        }
        let cells: Vec<_> = rows.iter().map(|row| row.cells(self.output)).collect();
        let columns = columns(wire, self.output);
        let columns: Vec<_> = columns.iter().map(String::as_str).collect();
        let mut out = stdout();
        write_list(&mut out, self.output, &columns, &cells)?;
        out.flush()?;
        // By the clock, bare sockets may be late, too.
        if !measured.has_shared_memory() && self.rate.is_none() {
            note_busy(&rows, wire);
        }
        let figures: Vec<_> = rows.iter().map(|row| (row.name(), row.figures())).collect();
        let figures = figures.iter().map(|(name, row)| (name.clone(), &row[..]));
        expect::check(&self.expectations, figures)
    }
}

/// Those who take turns.
struct Sides {
    ours: PingPong,
    bare: Floor,
}

impl Sides {
    fn warm_up(&mut self, size: usize) -> Result<()> {
        self.ours.ping(size, WARM_UP, &mut Timing::new())?;
        self.bare.ping(size, WARM_UP, &mut Timing::new())
    }

    fn turn(&mut self, rounds: u32, row: &mut Row) -> Result<()> {
        let (size, before) = (row.size, self.bare.lost());
        if let Some(rate) = row.rate {
            self.ours.ping(size, WAKE_UP, &mut Timing::new())?;
            let late = self.ours.ping_at(size, rounds, rate, &mut row.ours)?;
            row.late.merge(&late);
            self.bare.ping(size, WAKE_UP, &mut Timing::new())?;
            self.bare.ping_at(size, rounds, rate, &mut row.bare)?;
        } else {
            self.ours.ping(size, WAKE_UP, &mut Timing::new())?;
            self.ours.ping(size, rounds, &mut row.ours)?;
            self.bare.ping(size, WAKE_UP, &mut Timing::new())?;
            self.bare.ping(size, rounds, &mut row.bare)?;
        }
        row.lost += self.bare.lost() - before;
        Ok(())
    }
}

/// What was measured of one size with one number of subscribers.
struct Row {
    subscribers: u32,
    size: usize,
    /// Samples a second, where a clock said when.
    rate: Option<u32>,
    ours: Timing,
    bare: Timing,
    /// How late samples were written, where there is a rate.
    late: Timing,
    /// Pings of the floor that some responder has not answered.
    lost: u64,
}

impl Row {
    fn new(subscribers: u32, size: usize, rate: Option<u32>) -> Self {
        Self {
            subscribers,
            size,
            rate,
            ours: Timing::new(),
            bare: Timing::new(),
            late: Timing::new(),
            lost: 0,
        }
    }

    fn name(&self) -> String {
        let subscribers = counted(self.subscribers.into(), "subscriber", "subscribers");
        format!("{} B to {subscribers}", self.size)
    }

    fn ratio(&self) -> f64 {
        self.ours.quantile_ns(0.5) as f64 / self.bare.quantile_ns(0.5).max(1) as f64
    }

    /// What uses sockets is not faster than these: others had the cores in their turns. Where there are several
    /// subscribers, samples are multicast and bare datagrams are not.
    fn is_busy(&self) -> bool {
        self.subscribers == 1 && self.ratio() < LEAST_RATIO
    }

    /// In the order of [`columns`].
    fn cells(&self, format: ListFormat) -> Vec<Value> {
        let us = |timing: &Timing| {
            let quantile = |quantile| json!(timing.quantile_ns(quantile) as f64 / 1e3);
            let max = json!(timing.max_ns() as f64 / 1e3);
            let mean = json!(timing.mean_ns() / 1e3);
            [quantile(0.5), quantile(0.99), quantile(0.999), max, mean]
        };
        let mut cells = vec![json!(self.subscribers), json!(self.size)];
        cells.extend(us(&self.ours));
        let bare = us(&self.bare).into_iter();
        match format {
            ListFormat::Table => {
                cells.extend(bare.take(FEW));
                cells.push(json!(format!("{:.2}", self.ratio())));
            }
            ListFormat::Json | ListFormat::Csv => {
                cells.extend(bare);
                // The last two are null without a clock.
                let late = self.rate.map(|_| self.late_us());
                cells.extend([json!(self.lost), json!(self.ratio())]);
                cells.extend([json!(late), json!(self.on_the_way())]);
            }
        }
        cells
    }

    fn figures(&self) -> [(&'static str, f64); METRICS.len()] {
        let us = |quantile| self.ours.quantile_ns(quantile) as f64 / 1e3;
        [
            ("p50", us(0.5)),
            ("p99", us(0.99)),
            ("p99.9", us(0.999)),
            ("max", self.ours.max_ns() as f64 / 1e3),
            ("mean", self.ours.mean_ns() / 1e3),
            ("ratio", self.ratio()),
        ]
    }

    fn write(&self, log: &mut HistogramLog, wire: Wire, since: Instant) -> Result<()> {
        let bare = wire.to_string();
        for (side, timing) in [("tickwire", &self.ours), (bare.as_str(), &self.bare)] {
            log.write(&format!("{side}/{}", self.name()), timing, since)?;
        }
        Ok(())
    }

    /// What the bare sockets have lost is missing from their figures.
    fn note_losses(&self, wire: Wire) {
        if self.lost > 0 {
            let (name, lost) = (self.name(), counted(self.lost, "ping", "pings"));
            note(format_args!(
                "{name}: bare {wire} has lost {lost} or the answers: its figures are those of the others"
            ));
        }
    }

    /// Where those that poll wait for time slices, though there are cores for all.
    fn note_preemption(&self) {
        let median = Duration::from_nanos(self.ours.quantile_ns(0.5));
        if median >= TIME_SLICE {
            let (name, cores) = (self.name(), self.subscribers + 1);
            note(format_args!(
                "{name}: the median is as long as a time slice: something else had the cores, and what is measured is \
                 the scheduler; measure again when {cores} cores are idle (`top` shows what is not)"
            ));
        }
    }

    /// Where samples come faster than they are answered, what is measured is how long they queue.
    fn note_backlog(&self, rounds: u32) {
        if self.on_the_way().is_some_and(|it| is_backlog(it, rounds)) {
            let name = self.name();
            note(format_args!(
                "{name}: samples come faster than they are answered, and queue: what is measured is how long the queue \
                 is; give a lower --rate, or a larger --count if turns are short"
            ));
        }
    }

    /// How many samples were on the way at once, in the median, where a clock said when they are written.
    fn on_the_way(&self) -> Option<f64> {
        let round_trip = 2.0 * self.ours.quantile_ns(0.5) as f64 / 1e9;
        Some(round_trip * f64::from(self.rate?))
    }

    /// How late 99 of 100 samples were written at most.
    fn late_us(&self) -> f64 {
        self.late.quantile_ns(0.99) as f64 / 1e3
    }

    /// Where the schedule could not be kept the figures are those of a writer that is late. Whether that is so.
    fn note_lateness(&self) -> bool {
        let late_us = self.late_us();
        let is_late = late_us > self.ours.quantile_ns(0.5) as f64 / 1e3;
        if is_late {
            let name = self.name();
            note(format_args!(
                "{name}: 1 % of samples were written {late_us:.0} us late or more, which their latencies count: give a \
                 lower --rate, or measure again when the machine is idle"
            ));
        }
        is_late
    }
}

/// Whether so many samples on the way, of as many as are sent in a row, are more than are answered in time: then a part of
/// all is, which grows with these.
fn is_backlog(on_the_way: f64, rounds: u32) -> bool {
    on_the_way >= f64::from(rounds / 10).max(16.0)
}

/// Says of which rows the comparison is worth nothing.
fn note_busy(rows: &[Row], wire: Wire) {
    let busy = rows.iter().filter(|row| row.is_busy());
    let busy: Vec<_> = busy.map(Row::name).collect();
    if !busy.is_empty() {
        note(format_args!(
            "{}: bare {wire} took longer than samples, which go by it. The machine was probably busy with something \
             else, so that this comparison means nothing; measure again when it is idle (`top` shows what is not), or with \
             a larger --count",
            busy.join(", ")
        ));
    }
}

/// What the kernel gives each of those that want the same core, at least.
const TIME_SLICE: Duration = Duration::from_micros(700);
/// A ratio below it is no chance of a machine that has nothing else to do.
const LEAST_RATIO: f64 = 0.9;

fn parse_expectation(text: &str) -> Result<Expectation, String> {
    Expectation::parse(text, &METRICS)
}

/// What can be expected to be something.
const METRICS: [Metric; 6] = [
    ("p50", Unit::Microseconds),
    ("p99", Unit::Microseconds),
    ("p99.9", Unit::Microseconds),
    ("max", Unit::Microseconds),
    ("mean", Unit::Microseconds),
    ("ratio", Unit::Number),
];

/// For people, of the floor what the others are compared with; for programs, all.
fn columns(wire: Wire, format: ListFormat) -> Vec<String> {
    let bare = |name: &str| format!("{wire} {name}");
    let mut columns = vec!["subscribers".to_owned(), "bytes".to_owned()];
    columns.extend(TIMES.map(str::to_owned));
    match format {
        ListFormat::Table => columns.extend(TIMES.into_iter().take(FEW).map(bare)),
        ListFormat::Json | ListFormat::Csv => {
            columns.extend(TIMES.map(bare));
            columns.push(bare("lost"));
        }
    }
    columns.push("ratio".to_owned());
    if !matches!(format, ListFormat::Table) {
        columns.extend(["late p99 us", "on the way"].map(str::to_owned));
    }
    columns
}

const TIMES: [&str; 5] = ["p50 us", "p99 us", "p99.9 us", "max us", "mean us"];
/// Of those, how many a table has of the floor.
const FEW: usize = 3;

/// Turns that both sides take for each size.
const TURNS: u32 = 10;

/// Round trips that do not count.
const WARM_UP: u32 = 200;
/// The same at the begin of a turn: who polls may have fallen asleep.
const WAKE_UP: u32 = 10;

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_bare_socket_that_is_slower_than_samples_shows_a_busy_machine() {
        let row = |subscribers: u32, ours: u64, bare: u64| {
            let mut row = Row::new(subscribers, 16, None);
            row.ours.record(Duration::from_nanos(ours));
            row.bare.record(Duration::from_nanos(bare));
            row
        };
        assert!(!row(1, 10_000, 10_500).is_busy());
        assert!(row(1, 10_000, 12_000).is_busy());
        assert!(!row(3, 10_000, 12_000).is_busy());
    }

    #[test]
    fn rows_have_what_columns_say() {
        for format in [ListFormat::Table, ListFormat::Json, ListFormat::Csv] {
            let columns = columns(Wire::Udp, format);
            for rate in [None, Some(1_000)] {
                let cells = Row::new(1, 16, rate).cells(format);
                assert_eq!(cells.len(), columns.len(), "{columns:?}");
                let place = columns.iter().position(|name| name == "late p99 us");
                if let Some(place) = place {
                    let is_null = [place, place + 1].map(|at| cells[at].is_null());
                    assert_eq!(is_null, [rate.is_none(); 2]);
                    assert_eq!(columns[place + 1], "on the way");
                }
                assert_eq!(place.is_none(), matches!(format, ListFormat::Table));
            }
        }
    }

    #[test]
    fn samples_that_come_faster_than_answers_queue() {
        let on_the_way = |round_trip: Duration| {
            let mut row = Row::new(1, 16, Some(20_000));
            row.ours.record(round_trip / 2);
            row.on_the_way().expect("there is a rate")
        };
        let few = on_the_way(Duration::from_micros(60));
        assert!(!is_backlog(few, 400));
        assert!(!is_backlog(few, 1));
        assert!(is_backlog(on_the_way(Duration::from_millis(100)), 10_000));
    }
}
