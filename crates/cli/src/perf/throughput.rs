//! `tickwire perf throughput`: how much one writer gets through to processes that lose nothing.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use tickwire::{DataReader, DataReaderQos, DataWriterQos};
use tickwire_profiles::parse_duration;

use super::SIZES;
use super::bytes::{Bytes, MeasuredDomain, PING, Wait};
use super::expect::{self, Expectation, Metric, Unit};
use crate::domain::OwnDomain;
use crate::failure::{Failure, Result};
use crate::output::{ListFormat, counted, stdout, write_list};
use crate::profile::ProfileOptions;
use crate::progress::Progress;
use crate::stage::{Stage, tell, wait_for_end};

/// Samples and bytes a second from one writer
#[derive(Args)]
#[command(
    long_about = "\
Measures how many samples a second one writer gets through to all subscribers, each a process, on a \
reliable topic that keeps all samples: the time ends when every subscriber has acknowledged every \
sample. Samples go by UDP, or as `--transport` says. Subscribers count; a missing sample ends the run with status 1, as does a row that does not come \
to what --expect says.",
    after_help = "\
Examples:
  tickwire perf throughput
  tickwire perf throughput --size 10000000 --subscribers 1
  tickwire perf throughput --transport shm --subscribers 1
  tickwire perf throughput --size 64 --subscribers 1 --expect 'samples/s>100000'
  tickwire perf throughput --size 256 --subscribers 3 --duration 5s -o json"
)]
pub(crate) struct Arguments {
    /// Bytes in a sample; may be given several times [default: 16 to 64000]
    #[arg(short, long = "size", value_name = "BYTES", value_parser = parse_large_size)]
    sizes: Vec<usize>,

    /// Subscribers, each a process; may be given several times [default: 1 and 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    subscribers: Vec<u32>,

    /// How long to write for each size and number of subscribers
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    duration: Duration,

    /// A bound on samples/s or MB/s; may be given several times
    #[arg(long = "expect", value_name = "BOUND", value_parser = parse_expectation)]
    expectations: Vec<Expectation>,

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
        let subscribers = if self.subscribers.is_empty() {
            &[1, 3][..]
        } else {
            &self.subscribers
        };
        let progress = Progress::new("measuring", (sizes.len() * subscribers.len()) as u64);
        let domain = OwnDomain::reserve(self.domain.or(self.profile.profile.domain()))?;
        let measured = MeasuredDomain::new(domain.id(), &self.profile, Wait::Block);
        let measured = measured.beside_floor();
        let mut rows = Vec::new();
        for &subscribers in subscribers {
            for &size in sizes {
                rows.push(Self::measure(&measured, size, subscribers, self.duration)?);
                progress.advance(1);
            }
        }
        progress.finish();
        let mut out = stdout();
        let columns = ["subscribers", "bytes", "samples", "samples/s", "MB/s"];
        let cells: Vec<_> = rows.iter().map(Row::cells).collect();
        write_list(&mut out, self.output, &columns, &cells)?;
        out.flush()?;
        let figures: Vec<_> = rows.iter().map(|row| (row.name(), row.figures())).collect();
        let figures = figures.iter().map(|(name, row)| (name.clone(), &row[..]));
        expect::check(&self.expectations, figures)
    }

    fn measure(
        domain: &MeasuredDomain,
        size: usize,
        subscribers: u32,
        duration: Duration,
    ) -> Result<Row> {
        let participant = domain.participant()?;
        let qos = DataWriterQos::default().keep_all().reliable(PATIENCE);
        let writer = domain.writer(&participant, PING, qos)?;
        let arguments = domain.peer("count");
        let stages = (0..subscribers).map(|_| Stage::start("subscriber", &arguments));
        let mut stages = stages.collect::<Result<Vec<_>>>()?;
        writer
            .wait_for_matched(subscribers, PATIENCE)
            .map_err(Failure::new)?;
        let mut sample = Bytes {
            data: vec![0; size],
        };
        // So many that the clock costs nothing, so few that it is looked at.
        let burst = (MAX_BURST_BYTES / size as u64).clamp(1, MAX_BURST);
        let begin = Instant::now();
        let mut count: u64 = 1;
        while begin.elapsed() < duration {
            for _ in 0..burst {
                writer.write(&sample).map_err(Failure::new)?;
            }
            count += burst;
        }
        sample.data.fill(LAST);
        writer.write(&sample).map_err(Failure::new)?;
        writer
            .wait_for_acknowledgments(PATIENCE)
            .map_err(Failure::new)?;
        let seconds = begin.elapsed().as_secs_f64();
        for stage in &mut stages {
            let received = stage.wait_for("report", PATIENCE, |_| {})?["received"].as_u64();
            if received != Some(count) {
                let received = received.unwrap_or(0);
                return Err(Failure::new(format_args!(
                    "a subscriber received {received} of {count} samples of {size} bytes"
                )));
            }
        }
        Ok(Row {
            subscribers,
            size,
            count,
            seconds,
        })
    }
}

/// What was measured of one size with one number of subscribers.
struct Row {
    subscribers: u32,
    size: usize,
    count: u64,
    seconds: f64,
}

impl Row {
    fn name(&self) -> String {
        let subscribers = counted(self.subscribers.into(), "subscriber", "subscribers");
        format!("{} B to {subscribers}", self.size)
    }

    fn figures(&self) -> [(&'static str, f64); METRICS.len()] {
        let rate = self.count as f64 / self.seconds;
        [("samples/s", rate), ("MB/s", rate * self.size as f64 / 1e6)]
    }

    fn cells(&self) -> Vec<Value> {
        let [(_, rate), (_, megabytes)] = self.figures();
        vec![
            json!(self.subscribers),
            json!(self.size),
            json!(self.count),
            json!(rate.round() as u64),
            json!(megabytes),
        ]
    }
}

fn parse_large_size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(size) if (1..=MAX_SIZE).contains(&size) => Ok(size),
        _ => Err(format!("expected 1 to {MAX_SIZE} bytes")),
    }
}

/// Beyond what one datagram holds, samples go in fragments.
const MAX_SIZE: usize = 100_000_000;

fn parse_expectation(text: &str) -> Result<Expectation, String> {
    Expectation::parse(text, &METRICS)
}

/// What can be expected to be something.
const METRICS: [Metric; 2] = [("samples/s", Unit::Number), ("MB/s", Unit::Number)];

/// Counts samples until the last one, and reports.
pub(super) fn count(domain: &MeasuredDomain) -> Result<()> {
    let participant = domain.participant()?;
    let reader = domain.reader(
        &participant,
        PING,
        DataReaderQos::default().keep_all().reliable(),
    )?;
    let shared = Arc::new((Mutex::new((0_u64, false)), Condvar::new()));
    let counting = Arc::clone(&shared);
    reader.set_listener(move |reader: &DataReader<Bytes>| {
        let (state, finished) = &*counting;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        for sample in reader.take().data() {
            state.0 += 1;
            state.1 |= sample.data.first() == Some(&LAST);
        }
        if state.1 {
            finished.notify_all();
        }
    });
    let (state, finished) = &*shared;
    let state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let state = finished.wait_while(state, |state| !state.1);
    let received = state.unwrap_or_else(PoisonError::into_inner).0;
    tell(&json!({"event": "report", "received": received}))?;
    // Whoever measures still waits for acknowledgements.
    wait_for_end();
    Ok(())
}

const LAST: u8 = 1;
/// Samples and bytes between two looks at the clock.
const MAX_BURST: u64 = 32;
const MAX_BURST_BYTES: u64 = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(20);
