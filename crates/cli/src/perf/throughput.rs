//! `tickwire perf throughput`: how much one writer gets through to processes that lose nothing.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use tickwire::{DataReader, DataReaderQos, DataWriterQos};
use tickwire_profiles::parse_duration;

use super::bytes::{Bytes, MeasuredDomain, PING};
use super::{SIZES, parse_size};
use crate::domain::OwnDomain;
use crate::failure::{Failure, Result};
use crate::output::{ListFormat, stdout, write_list};
use crate::profile::ProfileOptions;
use crate::progress::Progress;
use crate::stage::{Stage, tell, wait_for_end};

/// Samples and bytes a second from one writer
#[derive(Args)]
#[command(
    long_about = "\
Measures how many samples a second one writer gets through to all subscribers, each a process, on a \
reliable topic that keeps all samples: the time ends when every subscriber has acknowledged every \
sample. Subscribers count; a missing sample ends the run with status 1.",
    after_help = "\
Examples:
  tickwire perf throughput
  tickwire perf throughput --size 256 --subscribers 3 --duration 5s -o json"
)]
pub(crate) struct Arguments {
    /// Bytes in a sample; may be given several times [default: 16 to 64000]
    #[arg(short, long = "size", value_name = "BYTES", value_parser = parse_size)]
    sizes: Vec<usize>,

    /// Subscribers, each a process; may be given several times [default: 1 and 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    subscribers: Vec<u32>,

    /// How long to write for each size and number of subscribers
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    duration: Duration,

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
        let measured = MeasuredDomain::new(domain.id(), &self.profile);
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
        write_list(&mut out, self.output, &columns, &rows)?;
        Ok(out.flush()?)
    }

    fn measure(
        domain: &MeasuredDomain,
        size: usize,
        subscribers: u32,
        duration: Duration,
    ) -> Result<Vec<Value>> {
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
        let begin = Instant::now();
        let mut count: u64 = 1;
        while begin.elapsed() < duration {
            for _ in 0..BURST {
                writer.write(&sample).map_err(Failure::new)?;
            }
            count += u64::from(BURST);
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
        let rate = count as f64 / seconds;
        let megabytes = rate * size as f64 / 1e6;
        Ok(vec![
            json!(subscribers),
            json!(size),
            json!(count),
            json!(rate.round() as u64),
            json!(megabytes),
        ])
    }
}

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
/// Samples between two looks at the clock.
const BURST: u32 = 32;
const PATIENCE: Duration = Duration::from_secs(20);
