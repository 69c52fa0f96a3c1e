//! `tickwire durability serve`: publishes the logs whose writers have ended.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use tickwire::error::{ServeLogError, StoreError};
use tickwire::qos::History;
use tickwire::store::{LogKey, LogSummary, Owner, Store};
use tickwire::{DomainParticipant, ServedLog, WaitSet};

use super::{Place, StoreOption};
use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::network::NetworkOptions;
use crate::output::{counted, note};
use crate::survey::history;

/// Publish what TRANSIENT and PERSISTENT writers left behind
#[derive(Args)]
#[command(
    long_about = "\
Takes each log of the domain whose writer has ended, however it ended, and publishes what is in it, with \
the QoS and the type of that writer, to readers that ask for history; but OWNERSHIP_STRENGTH is the lowest that there is, and LIVELINESS is \
AUTOMATIC if its lease is finite, so that readers that ask for a manual kind do not match. They get each sample once, with its \
timestamp, whoever gives it: its writer, this service, or the next writer of the topic, to which the log \
is handed back within a second of its start. Of each instance there are as many as the writer's \
DURABILITY_SERVICE keeps, by default the last one; `serving 3 of 7500 samples, of 3 instances` says how \
many of a log that is. A writer whose readers are to have all sets its DURABILITY_SERVICE to KEEP_ALL \
(`durability_service.history_kind`).

What it publishes is in memory. It runs on the machine that has the logs, as the user whose logs they \
are, until SIGINT or SIGTERM. Where they are, --store says: the directories of the store are made if they are \
not there, and standard error says so.",
    after_help = "\
Examples:
  tickwire durability serve
  tickwire durability serve --domain 5 --store /var/lib/tickwire
  tickwire durability serve --interface eth1 --max-mebibytes 4096"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    network: NetworkOptions,

    #[command(flatten)]
    store: StoreOption,

    /// Logs beyond so many are left alone
    #[arg(long, value_name = "N", default_value_t = 1000)]
    max_logs: usize,

    /// Logs beyond so many MiB together are left alone
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    max_mebibytes: u64,

    /// Do not say which logs come and go
    #[arg(short, long)]
    quiet: bool,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let interrupt = Interrupt::catch()?;
        let places = self.store.places()?;
        let mut service = Service {
            participant: self.network.join("tickwire durability serve")?,
            max_logs: self.max_logs,
            max_bytes: self.max_mebibytes.saturating_mul(1 << 20),
            quiet: self.quiet,
            served: Vec::new(),
            left: BTreeSet::new(),
            said: BTreeSet::new(),
            adopted: 0,
            handed_back: 0,
        };
        for Place { directory, .. } in &places {
            // Made if it is not there: others could put logs into it that are not this user's.
            let is_there = directory.exists();
            Store::open(directory).map_err(Failure::new)?;
            let (domain, directory) = (self.network.domain, directory.display());
            let made = match is_there {
                true => "",
                false => ", which was not there and is made",
            };
            note(format_args!("domain {domain}: logs of {directory}{made}"));
        }
        let waiting = WaitSet::new();
        waiting.attach(&interrupt.condition());
        loop {
            service.hand_back();
            for place in &places {
                for log in Store::logs(&place.directory).map_err(Failure::new)? {
                    if interrupt.is_raised() {
                        break;
                    }
                    service.look_at(&log);
                    // A writer waits for its log for a second only, and some logs are long.
                    service.hand_back();
                }
            }
            if waiting.wait(TURN).is_ok() {
                break;
            }
        }
        let Service {
            adopted,
            handed_back,
            ..
        } = service;
        note(format_args!(
            "{} adopted, {handed_back} handed back to writers",
            counted(adopted, "log", "logs")
        ));
        Ok(())
    }
}

struct Service {
    participant: DomainParticipant,
    max_logs: usize,
    max_bytes: u64,
    quiet: bool,
    served: Vec<Served>,
    /// Logs that cannot be served, or for which there is no room.
    left: BTreeSet<PathBuf>,
    /// Of which the user has been told.
    said: BTreeSet<PathBuf>,
    adopted: u64,
    handed_back: u64,
}

struct Served {
    log: ServedLog,
    /// Its length when it was adopted.
    bytes: u64,
}

impl Service {
    /// Lets writers have the logs that they want.
    fn hand_back(&mut self) {
        let wanted = self.served.extract_if(.., |served| served.log.is_wanted());
        for Served { log, .. } in wanted.collect::<Vec<_>>() {
            let name = Name(&log.description().key).to_string();
            drop(log);
            self.handed_back += 1;
            // There may be room for others now.
            self.left.clear();
            self.say(format_args!("{name}: handed back to its writer"));
        }
    }

    /// Adopts a log that nobody has.
    fn look_at(&mut self, directory: &Path) {
        let is_served = |served: &Served| served.log.directory() == directory;
        if self.served.iter().any(is_served) {
            return;
        }
        if self.left.contains(directory) {
            // What a writer leaves is another matter.
            if Store::owner(directory) == Ok(Owner::Writer) {
                self.left.remove(directory);
                self.said.remove(directory);
            }
            return;
        }
        if let Err(reason) = self.adopt(directory) {
            self.left.insert(directory.to_owned());
            if let Some(reason) = reason
                && self.said.insert(directory.to_owned())
            {
                note(reason);
            }
        }
    }

    /// Adopts a log, unless somebody has it. Says why it cannot be, if that is worth saying.
    fn adopt(&mut self, directory: &Path) -> Result<(), Option<String>> {
        let said = |error: StoreError| Some(error.to_string());
        if Store::owner(directory).map_err(said)? != Owner::Nobody {
            return Ok(());
        }
        let summary = LogSummary::of(directory).map_err(said)?;
        let key = &summary.description.key;
        if key.domain != self.participant.domain() {
            return Err(None);
        }
        let bytes = self.served.iter().map(|served| served.bytes).sum::<u64>();
        if self.served.len() >= self.max_logs
            || bytes.saturating_add(summary.bytes) > self.max_bytes
        {
            return Err(Some(format!(
                "{}: no room for its {}; see --max-logs and --max-mebibytes",
                Name(key),
                counted(summary.bytes, "byte", "bytes")
            )));
        }
        let log = match self.participant.serve_log(directory) {
            Ok(log) => log,
            // A writer was faster.
            Err(ServeLogError::Store(StoreError::Taken { .. })) => return Ok(()),
            Err(ServeLogError::OtherDomain { .. }) => return Err(None),
            Err(error) => return Err(Some(format!("{}: {error}", Name(key)))),
        };
        let what = Extent(&log, summary.records);
        self.say(format_args!("{}: serving {what}", Name(key)));
        if let Some(damage) = summary.damage {
            note(format_args!("{}: damaged {damage}", Name(key)));
        }
        self.adopted += 1;
        self.served.push(Served {
            log,
            bytes: summary.bytes,
        });
        Ok(())
    }

    fn say(&self, what: impl fmt::Display) {
        if !self.quiet {
            note(what);
        }
    }
}

/// A log, for people. Names come from a file: they are shown with escapes.
struct Name<'a>(&'a LogKey);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LogKey {
            topic,
            type_name,
            partition,
            ..
        } = self.0;
        write!(f, "{topic:?} of type {type_name:?}")?;
        match partition.as_slice() {
            [] => Ok(()),
            names => write!(f, " in {names:?}"),
        }
    }
}

/// How much of a log is served, of so many samples in it, for people. Why it is less is said only where that
/// is known: instances that have ended and resource limits take samples, too, and are not counted.
struct Extent<'a>(&'a ServedLog, u64);

impl fmt::Display for Extent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(log, recorded) = *self;
        let counters = log.counters();
        let served = counters.restored;
        let instances = counted(log.instance_count() as u64, "instance", "instances");
        if served == recorded {
            let samples = counted(served, "sample", "samples");
            return write!(f, "{samples} of {instances}");
        }
        write!(f, "{served} of {recorded} samples, of {instances}")?;
        if counters.expired > 0 {
            write!(f, "; {} outlived their LIFESPAN", counters.expired)?;
        }
        match log.durability_service().history {
            kept @ History::KeepLast(_) => {
                let kept = history(kept);
                write!(f, "; its writer's DURABILITY_SERVICE is {kept}")
            }
            History::KeepAll => Ok(()),
        }
    }
}

/// How soon a writer's wish is seen, and an abandoned log.
const TURN: Duration = Duration::from_millis(100);
