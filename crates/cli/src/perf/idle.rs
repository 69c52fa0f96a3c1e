//! `tickwire perf idle`: what a participant and its endpoints take while nothing happens.

use std::io::Write;
use std::thread;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use tickwire::{DataReaderQos, DataWriterQos};
use tickwire_profiles::parse_duration;
use tickwire_transport::clock;

use super::bytes::{MeasuredDomain, Wait};
use super::cost::Costs;
use super::process::{cpu_seconds, own_cpu_seconds, resident_bytes, threads};
use crate::domain::OwnDomain;
use crate::failure::Result;
use crate::output::{ListFormat, counted, stdout, write_list};
use crate::profile::ProfileOptions;
use crate::progress::Progress;

/// Memory, processor time and wake-ups of a participant that has nothing to do
#[derive(Args)]
#[command(
    long_about = "\
Makes a participant in this process and measures, while nothing happens but the announcements by which \
it stays known: memory that came with it, its threads, the part of one processor core that it takes, and \
how often a second it wakes. Then the same with writers and readers of as many topics. What is done \
at the beginning, such as the first announcements, which come faster, is not in it: each time it waits \
until no thread has woken for half a second, five seconds at most. Then what each further participant, \
topic, writer, reader, pair that matches, instance and sample takes of resident memory, by the \
difference that many make; of participants two, so that this is within what memory varies by.

Memory of the first participant has the pages of the program in it that nobody had used before.",
    after_help = "\
Examples:
  tickwire perf idle
  tickwire perf idle --writers 10 --readers 10 --matched --transport udp
  tickwire perf idle --endpoints 1000 --duration 30s -o json"
)]
pub(crate) struct Arguments {
    /// Writers, and as many readers
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    endpoints: u32,

    /// Writers, if they are not as many as readers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    writers: Option<u32>,

    /// Readers, if they are not as many as writers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    readers: Option<u32>,

    /// Have the first writer match the first reader, the second the second, and so on
    #[arg(long)]
    matched: bool,

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
        let looks = u64::try_from(self.duration.as_nanos() / LOOK.as_nanos()).unwrap_or(0) + 1;
        let progress = Progress::new("measuring", 2 * looks + Costs::STEPS);
        progress.set(0);
        let domain = OwnDomain::reserve(self.domain.or(self.profile.profile.domain()))?;
        let measured = MeasuredDomain::new(domain.id(), &self.profile, Wait::Block);
        let (before, threads_before) = (resident_bytes(), threads().0);
        let participant = measured.participant()?;
        let watched = |name: String| {
            settle();
            let grown = resident_bytes().saturating_sub(before);
            watch(name, grown, threads_before, self.duration, &progress)
        };
        let alone = watched("a participant".to_owned());
        let (count, others) = (
            self.writers.unwrap_or(self.endpoints),
            self.readers.unwrap_or(self.endpoints),
        );
        let back = match self.matched {
            true => "perf.idle",
            false => "perf.idle back",
        };
        let (qos, reader_qos) = (
            DataWriterQos::default(),
            DataReaderQos::default().reliable(),
        );
        let writers = (0..count).map(|number| {
            let name = format!("perf.idle {number}");
            measured.writer(&participant, &name, qos.clone())
        });
        let _writers = writers.collect::<Result<Vec<_>>>()?;
        let readers = (0..others).map(|number| {
            let name = format!("{back} {number}");
            measured.reader(&participant, &name, reader_qos.clone())
        });
        let _readers = readers.collect::<Result<Vec<_>>>()?;
        let writers = counted(count.into(), "writer", "writers");
        let readers = counted(others.into(), "reader", "readers");
        let with_all = watched(format!("with {writers} and {readers}"));
        let another = OwnDomain::reserve(None)?;
        let elsewhere = MeasuredDomain::new(another.id(), &self.profile, Wait::Block);
        let costs = Costs {
            measured: &measured,
            elsewhere: &elsewhere,
            participant: &participant,
            progress: &progress,
        };
        let costs = costs.measure()?;
        progress.finish();
        let costs = costs
            .into_iter()
            .map(|(what, bytes)| vec![json!(what), json!(bytes / 1e3)]);
        let rows: Vec<_> = [alone, with_all].into_iter().chain(costs).collect();
        let rows = rows.into_iter().map(|mut row| {
            row.resize(COLUMNS.len(), Value::Null);
            row
        });
        let rows: Vec<_> = rows.collect();
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

/// Waits until what has just begun is still.
fn settle() {
    let (begin, mut stillness) = (clock::now(), Stillness::default());
    while !stillness.has_come(clock::now().since(begin), threads().1) {
        #[expect(clippy::disallowed_methods, reason = "it takes its time")]
        thread::sleep(LOOK);
    }
}

/// No thread wakes for a while. Who is never still is waited for no longer than [`PATIENCE`].
#[derive(Default)]
struct Stillness {
    wakes: u64,
    /// When there were as many for the first time.
    since: Duration,
}

impl Stillness {
    /// Whether that is so after this time, in which threads have woken so often.
    fn has_come(&mut self, time: Duration, wakes: u64) -> bool {
        if wakes != self.wakes {
            *self = Self { wakes, since: time };
        }
        time.saturating_sub(self.since) >= STILL || time >= PATIENCE
    }
}

/// What the process does within `duration`, but for this thread, which shows how far it is.
fn watch(
    name: String,
    grown: u64,
    threads_before: u64,
    duration: Duration,
    progress: &Progress,
) -> Vec<Value> {
    let others_cpu = || cpu_seconds() - own_cpu_seconds();
    let (cpu, waits, begin) = (others_cpu(), threads().1, clock::now());
    while let Some(left) = duration.checked_sub(clock::now().since(begin)) {
        #[expect(
            clippy::disallowed_methods,
            reason = "nothing is to happen for that long"
        )]
        thread::sleep(left.min(LOOK).max(Duration::from_millis(1)));
        progress.advance(1);
    }
    let seconds = clock::now().since(begin).as_secs_f64().max(1e-9);
    // Its own time is read a moment after that of all.
    let cpu = (others_cpu() - cpu).max(0.0);
    let (count, after) = threads();
    vec![
        json!(name),
        json!(grown as f64 / 1e3),
        json!(count.saturating_sub(threads_before)),
        json!(100.0 * cpu / seconds),
        json!(after.saturating_sub(waits) as f64 / seconds),
    ]
}

const COLUMNS: [&str; 5] = ["what", "memory KB", "threads", "CPU %", "wakes/s"];
/// How long between two looks at how far it is.
const LOOK: Duration = Duration::from_millis(100);
/// Announcements of a participant that has just begun come faster than that.
const STILL: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many looks, 100 ms apart, it is still that has woken as often at each.
    fn looks(wakes: impl Fn(u32) -> u64) -> Option<u32> {
        let mut stillness = Stillness::default();
        (0..1_000).find(|&look| stillness.has_come(LOOK * look, wakes(look)))
    }

    #[test]
    fn what_has_just_begun_is_watched_once_it_is_still() {
        assert_eq!(looks(|_| 7), Some(5));
        assert_eq!(
            looks(|look| look.min(4).into()),
            Some(4 + 5),
            "five announcements"
        );
        assert_eq!(looks(u64::from), Some(50), "it never is");
    }
}
