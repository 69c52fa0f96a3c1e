//! `tickwire perf durability`: what a write costs that outlives its writer, beside one that does not and
//! beside bare system calls that do as much, in the same run.

use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use serde_json::{Value, json};
use tickwire::store::{StoreOptions, SyncPolicy};
use tickwire::{DataWriter, DataWriterQos, DomainParticipant};
use tickwire_gateway::Timing;

use super::bytes::Bytes;
use super::parse_size;
use crate::domain::OwnDomain;
use crate::durability::StoreOption;
use crate::failure::{Failure, Result};
use crate::interrupt::end_cleanly;
use crate::output::{ListFormat, stdout, write_list};
use crate::progress::Progress;

/// What a write costs that outlives its writer, with bare write(2) as the floor
#[derive(Args)]
#[command(
    long_about = "\
Measures how long a write takes, from the call to its return, by the DURABILITY of the writer. There is \
no reader, so that nothing is sent: what is left is the sample's way into the history, and into the log.

    volatile              kept in the process alone
    transient             survives the process, also by kill -9: the log is in memory
    persistent            survives the machine's restart: the log is on disk, when the kernel likes
    persistent, synced    survives a loss of power: on the disk before the write returns

The floor is write(2) of as many bytes as the log takes, to a file beside the log, and fdatasync(2) where \
the log is synced. Both take turns in the same run. The ratio is that of the medians. The logs go to \
directories of their own beside the store's, which are removed.",
    after_help = "\
Examples:
  tickwire perf durability
  tickwire perf durability --size 64 --count 20000
  tickwire perf durability --store /var/lib/tickwire -o json"
)]
pub(crate) struct Arguments {
    /// Bytes in a sample; may be given several times [default: 64, 1024 and 16384]
    #[arg(short, long = "size", value_name = "BYTES", value_parser = parse_size)]
    sizes: Vec<usize>,

    /// Writes for each size; a twentieth of them where each is synced
    #[arg(short = 'n', long, value_name = "N", default_value_t = 4_000, value_parser = clap::value_parser!(u32).range(10..))]
    count: u32,

    #[command(flatten)]
    store: StoreOption,

    /// Form of the result
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ListFormat,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let sizes = match self.sizes.as_slice() {
            [] => &SIZES[..],
            sizes => sizes,
        };
        let scratch = Scratch::beside(&self.store)?;
        let domain = OwnDomain::reserve(None)?;
        let mut contenders = scratch.contenders(domain.id())?;
        let steps = sizes.len() * contenders.len() * TURNS as usize;
        let progress = Progress::new("measuring", steps as u64);
        let mut rows = Vec::new();
        for &size in sizes {
            for _ in 0..TURNS {
                for contender in &mut contenders {
                    contender.take_turn(size, self.count.div_ceil(TURNS))?;
                    progress.advance(1);
                }
            }
            rows.extend(contenders.iter_mut().map(|contender| contender.row(size)));
        }
        progress.finish();
        let mut out = stdout();
        write_list(&mut out, self.output, &COLUMNS, &rows)?;
        Ok(out.flush()?)
    }
}

/// Directories beside those of the store, until the measurement ends.
struct Scratch {
    transient: PathBuf,
    persistent: PathBuf,
}

impl Scratch {
    fn beside(store: &StoreOption) -> Result<Self> {
        let place = |kind| {
            let directory = store.place(kind)?;
            let mut name = directory.file_name().unwrap_or_default().to_owned();
            name.push(format!("-perf-{}", std::process::id()));
            Ok::<_, Failure>(directory.with_file_name(name))
        };
        let scratch = Self {
            transient: place("transient")?,
            persistent: place("persistent")?,
        };
        let directories = scratch.directories().map(Path::to_owned);
        end_cleanly(move || directories.iter().for_each(|path| remove(path)))?;
        for path in scratch.directories() {
            let created = DirBuilder::new().recursive(true).mode(0o700).create(path);
            created.map_err(|error| failed(path, error))?;
        }
        Ok(scratch)
    }

    fn directories(&self) -> [&Path; 2] {
        [&self.transient, &self.persistent]
    }

    fn contenders(&self, domain: u32) -> Result<Vec<Contender>> {
        let participant = |sync| {
            let store = StoreOptions {
                transient: Some(self.transient.clone()),
                persistent: Some(self.persistent.clone()),
                sync,
            };
            let builder = DomainParticipant::builder(domain).store(store);
            builder.build().map_err(Failure::new)
        };
        let (lazy, eager) = (
            participant(SyncPolicy::Never)?,
            participant(SyncPolicy::EachWrite)?,
        );
        let qos = DataWriterQos::default;
        let contender = |name, participant: &DomainParticipant, qos, floor| {
            let topic = participant.topic::<Bytes>("perf.durability");
            let topic = topic.map_err(Failure::new)?;
            let writer = participant.writer_with(&topic, qos);
            Ok::<_, Failure>(Contender {
                name,
                writer: writer.map_err(Failure::new)?,
                floor,
                ours: Timing::new(),
                bare: Timing::new(),
            })
        };
        let floor = |directory, is_synced| Floor::create(directory, is_synced).map(Some);
        Ok(vec![
            contender("volatile", &lazy, qos(), None)?,
            contender(
                "transient",
                &lazy,
                qos().transient(),
                floor(&self.transient, false)?,
            )?,
            contender(
                "persistent",
                &lazy,
                qos().persistent(),
                floor(&self.persistent, false)?,
            )?,
            contender(
                "persistent, synced",
                &eager,
                qos().persistent(),
                floor(&self.persistent, true)?,
            )?,
        ])
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.directories().into_iter().for_each(remove);
    }
}

/// There is nobody to tell of a failure.
fn remove(directory: &Path) {
    let _ = fs::remove_dir_all(directory);
}

/// Writers of one kind, and the floor below them.
struct Contender {
    name: &'static str,
    writer: DataWriter<Bytes>,
    floor: Option<Floor>,
    ours: Timing,
    bare: Timing,
}

impl Contender {
    /// Writes so many samples and as many bare records.
    fn take_turn(&mut self, size: usize, rounds: u32) -> Result<()> {
        let is_synced = self.floor.as_ref().is_some_and(|floor| floor.is_synced);
        let rounds = match is_synced {
            true => rounds.div_ceil(SYNCED_PART),
            false => rounds,
        };
        let sample = Bytes {
            data: vec![0x5a; size],
        };
        self.writer.write(&sample).map_err(Failure::new)?;
        for _ in 0..rounds {
            let begin = Instant::now();
            self.writer.write(&sample).map_err(Failure::new)?;
            self.ours.record(begin.elapsed());
        }
        match &mut self.floor {
            Some(floor) => floor.take_turn(size, rounds, &mut self.bare),
            None => Ok(()),
        }
    }

    /// What was measured since the last row.
    fn row(&mut self, size: usize) -> Vec<Value> {
        let ours = std::mem::replace(&mut self.ours, Timing::new());
        let bare = std::mem::replace(&mut self.bare, Timing::new());
        let us = |timing: &Timing, quantile| json!(timing.quantile_ns(quantile) as f64 / 1e3);
        let mut row = vec![json!(self.name), json!(size)];
        row.extend([0.5, 0.99, 0.999].map(|quantile| us(&ours, quantile)));
        match self.floor {
            Some(_) => {
                let ratio = ours.quantile_ns(0.5) as f64 / bare.quantile_ns(0.5).max(1) as f64;
                row.extend([0.5, 0.99, 0.999].map(|quantile| us(&bare, quantile)));
                row.push(json!(format!("{ratio:.2}")));
            }
            None => row.extend([Value::Null, Value::Null, Value::Null, Value::Null]),
        }
        row
    }
}

/// A file to which records are appended that are as long as those of a log.
struct Floor {
    path: PathBuf,
    file: File,
    is_synced: bool,
}

impl Floor {
    fn create(directory: &Path, is_synced: bool) -> Result<Self> {
        let path = directory.join(format!("floor-{is_synced}"));
        let file = File::options().append(true).create(true).open(&path);
        let file = file.map_err(|error| failed(&path, error))?;
        Ok(Self {
            path,
            file,
            is_synced,
        })
    }

    fn take_turn(&mut self, size: usize, rounds: u32, timing: &mut Timing) -> Result<()> {
        let record = vec![0x5a; size + RECORD_OVERHEAD];
        let written = (0..rounds).try_for_each(|_| {
            let begin = Instant::now();
            self.file.write_all(&record)?;
            if self.is_synced {
                self.file.sync_data()?;
            }
            timing.record(begin.elapsed());
            Ok(())
        });
        // A log does not grow for ever, either.
        let written = written.and_then(|()| self.file.set_len(0));
        written.map_err(|error| failed(&self.path, error))
    }
}

fn failed(path: &Path, error: std::io::Error) -> Failure {
    let failure = Failure::new(format_args!("{}: {error}", path.display()));
    failure.hint("name another place by --store")
}

const COLUMNS: [&str; 9] = [
    "durability",
    "bytes",
    "p50 us",
    "p99 us",
    "p99.9 us",
    "floor p50 us",
    "floor p99 us",
    "floor p99.9 us",
    "ratio",
];

/// Sizes that are measured unless others are asked for.
const SIZES: [usize; 3] = [64, 1_024, 16_384];
/// Turns that all take for each size.
const TURNS: u32 = 10;
/// Which part of the rounds is made where each takes as long as the disk.
const SYNCED_PART: u32 = 20;
/// What a log keeps of a sample besides its bytes: the record's head, the encapsulation header, and the
/// length of the sequence.
const RECORD_OVERHEAD: usize = 68 + 4 + 4;
