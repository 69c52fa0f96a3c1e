//! `tickwire perf idle`: what a participant and its endpoints take while nothing happens.

use std::io::Write;
use std::thread;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use tickwire::{DataReaderQos, DataWriterQos, DomainParticipant};
use tickwire_profiles::parse_duration;
use tickwire_transport::clock;

use super::bytes::{MeasuredDomain, Wait};
use super::process::{cpu_seconds, resident_bytes, threads};
use crate::domain::OwnDomain;
use crate::failure::Result;
use crate::output::{ListFormat, counted, stdout, write_list};
use crate::profile::ProfileOptions;
use crate::progress::Progress;

/// Memory, processor time and wake-ups of a participant that has nothing to do
#[derive(Args)]
#[command(
    long_about = "\
Makes a participant in this process, gives it writers and readers of as many topics, and measures, \
while nothing happens but its own announcements: memory that came with it, its threads, the part of \
one processor core that it takes, and how often a second it wakes. Then what each further writer and \
reader takes of memory, from many.",
    after_help = "\
Examples:
  tickwire perf idle
  tickwire perf idle --endpoints 1000 --duration 30s -o json"
)]
pub(crate) struct Arguments {
    /// Writers, and as many readers
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    endpoints: u32,

    /// How long to watch
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_some_time)]
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
        let progress = Progress::new("measuring", 4);
        let domain = OwnDomain::reserve(self.domain.or(self.profile.profile.domain()))?;
        let measured = MeasuredDomain::new(domain.id(), &self.profile, Wait::Block);
        let (before, threads_before) = (resident_bytes(), threads().0);
        let participant = measured.participant()?;
        let watched = |name: String| {
            let grown = resident_bytes().saturating_sub(before);
            let row = watch(name, grown, threads_before, self.duration);
            progress.advance(1);
            row
        };
        let alone = watched("a participant".to_owned());
        let makes = Endpoints {
            measured: &measured,
            participant: &participant,
        };
        let _writers = makes.writers("perf.idle", self.endpoints)?;
        let _readers = makes.readers("perf.idle back", self.endpoints)?;
        let writers = counted(self.endpoints.into(), "writer", "writers");
        let readers = counted(self.endpoints.into(), "reader", "readers");
        let with_all = watched(format!("with {writers} and {readers}"));
        let writer = each(|| makes.writers("perf.writers", MANY))?;
        progress.advance(1);
        let reader = each(|| makes.readers("perf.readers", MANY))?;
        progress.finish();
        let rows = [
            alone,
            with_all,
            vec![json!("each further writer"), json!(writer / 1e3)],
            vec![json!("each further reader"), json!(reader / 1e3)],
        ];
        let rows = rows.map(|mut row| {
            row.resize(COLUMNS.len(), Value::Null);
            row
        });
        let mut out = stdout();
        write_list(&mut out, self.output, &COLUMNS, &rows)?;
        Ok(out.flush()?)
    }
}

fn parse_some_time(text: &str) -> Result<Duration, String> {
    let duration = parse_duration(text)?;
    match duration.is_zero() {
        true => Err("in no time nothing can be watched".to_owned()),
        false => Ok(duration),
    }
}

/// What the process does within `duration`.
fn watch(name: String, grown: u64, threads_before: u64, duration: Duration) -> Vec<Value> {
    let (cpu, waits, begin) = (cpu_seconds(), threads().1, clock::now());
    #[expect(
        clippy::disallowed_methods,
        reason = "nothing is to happen for that long"
    )]
    thread::sleep(duration);
    let seconds = clock::now().since(begin).as_secs_f64().max(1e-9);
    let cpu = cpu_seconds() - cpu;
    let (count, after) = threads();
    // This thread has woken, too.
    let waits = after.saturating_sub(waits).saturating_sub(1);
    vec![
        json!(name),
        json!(grown as f64 / 1e3),
        json!(count.saturating_sub(threads_before)),
        json!(100.0 * cpu / seconds),
        json!(waits as f64 / seconds),
    ]
}

/// Makes endpoints of topics of their own.
struct Endpoints<'a> {
    measured: &'a MeasuredDomain,
    participant: &'a DomainParticipant,
}

impl Endpoints<'_> {
    fn writers(&self, topic: &str, count: u32) -> Result<Vec<impl Sized + use<>>> {
        let writer = |number| {
            let name = format!("{topic} {number}");
            let qos = DataWriterQos::default();
            self.measured.writer(self.participant, &name, qos)
        };
        (0..count).map(writer).collect()
    }

    fn readers(&self, topic: &str, count: u32) -> Result<Vec<impl Sized + use<>>> {
        let reader = |number| {
            let name = format!("{topic} {number}");
            let qos = DataReaderQos::default().reliable();
            self.measured.reader(self.participant, &name, qos)
        };
        (0..count).map(reader).collect()
    }
}

/// What each of [`MANY`] takes, in bytes.
fn each<E>(make: impl FnOnce() -> Result<Vec<E>>) -> Result<f64> {
    let before = resident_bytes();
    let made = make()?;
    let grown = resident_bytes().saturating_sub(before);
    Ok(grown as f64 / made.len().max(1) as f64)
}

const COLUMNS: [&str; 5] = ["what", "memory KB", "threads", "CPU %", "wakes/s"];
/// So many that a page more or less does not count.
const MANY: u32 = 1_000;
