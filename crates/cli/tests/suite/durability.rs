//! `tickwire durability`: what a killed writer leaves is listed, served, and handed back.
//!
//! The writer is this test binary again, told by its environment what to do.

use std::env;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::{Domain, Folder, tickwire};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tickwire::qos::{DurabilityService, History};
use tickwire::store::StoreOptions;
use tickwire::{DataReader, DataReaderQos, DataWriterQos, DomainParticipant, Timestamp, Topic};

/// Long enough that only a fault reaches it.
const PATIENCE: Duration = Duration::from_secs(20);
/// Samples that each writer writes.
const COUNT: i64 = 100;

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Tick")]
struct Tick {
    #[topic(key)]
    instrument: u32,
    id: i64,
}

fn participant(domain: u32, directory: &Path) -> DomainParticipant {
    let builder = DomainParticipant::builder(domain).store(StoreOptions::below(directory));
    builder.build().expect("a participant")
}

fn reader(participant: &DomainParticipant) -> DataReader<Tick> {
    let topic = participant.topic::<Tick>("Ticks").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all().transient();
    participant.reader_with(&topic, qos).expect("a reader")
}

/// Not a test of its own: what the writing process does.
#[test]
fn writes_and_waits_to_be_killed() {
    let Some(directory) = env::var_os("DURABILITY_STORE").map(PathBuf::from) else {
        return;
    };
    let number = |name: &str| {
        env::var(name)
            .expect("set")
            .parse::<i64>()
            .expect("a number")
    };
    let domain = u32::try_from(number("DURABILITY_DOMAIN")).expect("a domain");
    let participant = participant(domain, &directory);
    let topic = participant.topic::<Tick>("Ticks").expect("a topic");
    let service = DurabilityService {
        history: match env::var_os("DURABILITY_KEEPS_LAST") {
            Some(_) => History::KeepLast(1),
            None => History::KeepAll,
        },
        ..DurabilityService::default()
    };
    let mut qos = DataWriterQos::default()
        .reliable(PATIENCE)
        .keep_all()
        .transient()
        .durability_service(service);
    // So many of the samples are as old as can be.
    let old = match env::var_os("DURABILITY_OLD") {
        Some(_) => number("DURABILITY_OLD"),
        None => 0,
    };
    if old > 0 {
        qos = qos.lifespan(Duration::from_secs(3_600));
    }
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    println!("\nrestored {}", writer.counters().restored);
    let first = number("DURABILITY_FIRST");
    for id in first..first + COUNT {
        let instrument = u32::try_from(id % 3).expect("small");
        let tick = Tick { instrument, id };
        let written = match id - first < old {
            true => writer.write_with_timestamp(&tick, Timestamp::default()),
            false => writer.write(&tick),
        };
        written.expect("written");
    }
    println!("\nwritten");
    loop {
        thread::park();
    }
}

/// A process that ends with the test.
struct Process {
    child: Child,
    lines: Box<dyn BufRead>,
}

impl Process {
    fn writer(folder: &Folder, domain: &Domain, first: i64) -> Self {
        Self::writer_with(folder, domain, &[("DURABILITY_FIRST", &first.to_string())])
    }

    fn writer_with(folder: &Folder, domain: &Domain, variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env::current_exe().expect("the test's path"))
            .args([
                "--exact",
                "durability::writes_and_waits_to_be_killed",
                "--nocapture",
            ])
            .env("DURABILITY_STORE", folder.path())
            .env("DURABILITY_DOMAIN", &domain.id)
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        let out = child.stdout.take().expect("piped");
        let lines = Box::new(BufReader::new(out));
        Self { child, lines }
    }

    fn service(folder: &Folder, domain: &Domain) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tickwire"))
            .args(["durability", "serve", "--store", ".", "-d", &domain.id])
            .current_dir(folder.path())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the built binary starts");
        let out = child.stderr.take().expect("piped");
        let lines = Box::new(BufReader::new(out));
        Self { child, lines }
    }

    /// The next line that contains `text`.
    fn line(&mut self, text: &str) -> String {
        let mut lines = self.lines.by_ref().lines().map_while(Result::ok);
        let found = lines.find(|line| line.contains(text));
        found.unwrap_or_else(|| panic!("it ended without {text:?}"))
    }

    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it is ours");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only if it has ended and was waited for.
        let _ended = self.child.kill();
        let _waited_for = self.child.wait();
    }
}

/// What a reader has been given once it has `last`.
fn ids(reader: &DataReader<Tick>, ids: &mut Vec<i64>, last: i64) {
    while ids.last() != Some(&last) {
        reader.wait_for_data(PATIENCE).expect("more samples");
        ids.extend(reader.take().data().map(|tick| tick.id));
    }
}

/// The only log, as it is listed.
fn listed(folder: &Folder) -> Value {
    let run = tickwire(folder, &["durability", "ls", "--store", ".", "-o", "json"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let logs: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(logs.as_array().map(Vec::len), Some(1), "{logs}");
    logs[0].clone()
}

#[test]
fn a_killed_writers_samples_are_served_until_it_is_back() {
    let (folder, domain) = (Folder::new("durability-serve"), Domain::reserve());
    let number = domain.id.parse().expect("a number");
    let here = participant(number, folder.path());
    let (live, mut live_ids) = (reader(&here), Vec::new());
    let mut writer = Process::writer(&folder, &domain, 0);
    writer.line("restored 0");
    writer.line("written");
    assert_eq!(listed(&folder)["owner"], "writer");
    ids(&live, &mut live_ids, COUNT - 1);
    writer.kill();
    assert_eq!(listed(&folder)["owner"], "nobody");

    let mut service = Process::service(&folder, &domain);
    let line = service.line("serving");
    assert_eq!(
        line,
        "\"Ticks\" of type \"test::Tick\": serving 100 samples of 3 instances"
    );
    let log = listed(&folder);
    assert_eq!(log["owner"], "service");
    assert_eq!(
        (&log["topic"], &log["samples"]),
        (&"Ticks".into(), &100.into())
    );
    let late_participant = participant(number, folder.path());
    let (late, mut late_ids) = (reader(&late_participant), Vec::new());
    ids(&late, &mut late_ids, COUNT - 1);
    assert_eq!(late_ids, (0..COUNT).collect::<Vec<_>>());

    let mut writer = Process::writer(&folder, &domain, COUNT);
    writer.line("restored 100");
    service.line("handed back");
    writer.line("written");
    ids(&late, &mut late_ids, 2 * COUNT - 1);
    ids(&live, &mut live_ids, 2 * COUNT - 1);
    assert_eq!(late_ids, (0..2 * COUNT).collect::<Vec<_>>());
    assert_eq!(live_ids, late_ids);

    writer.kill();
    service.line("serving 200 samples");
    let id = i32::try_from(service.child.id()).expect("a process id");
    kill(Pid::from_raw(id), Signal::SIGINT).expect("it runs");
    service.line("2 logs adopted, 1 handed back to writers");
    assert_eq!(service.child.wait().expect("it is ours").code(), Some(0));
    assert_eq!(listed(&folder)["owner"], "nobody");
}

#[test]
fn it_is_said_how_much_of_a_log_is_served_and_why_where_that_is_known() {
    for (name, variables, extent) in [
        (
            "keeps-last",
            &[("DURABILITY_KEEPS_LAST", "1")][..],
            "3 of 100 samples, of 3 instances; its writer's DURABILITY_SERVICE is KEEP_LAST 1",
        ),
        (
            "keeps-all",
            &[("DURABILITY_OLD", "60")],
            "40 of 100 samples, of 3 instances; 60 outlived their LIFESPAN",
        ),
    ] {
        let (folder, domain) = (Folder::new(name), Domain::reserve());
        let variables = [variables, &[("DURABILITY_FIRST", "0")]].concat();
        let mut writer = Process::writer_with(&folder, &domain, &variables);
        writer.line("written");
        writer.kill();
        let mut service = Process::service(&folder, &domain);
        let expected = format!("\"Ticks\" of type \"test::Tick\": serving {extent}");
        assert_eq!(service.line("serving"), expected);
    }
}

#[test]
fn logs_that_cannot_be_read_are_named() {
    let folder = Folder::new("durability-damaged");
    let log = folder.path().join("transient/0.Quotes.00000000.0");
    std::fs::create_dir_all(&log).expect("the folder is ours");
    std::fs::write(log.join("log"), b"nonsense").expect("the folder is ours");
    let run = tickwire(&folder, &["durability", "ls", "--store", "."]);
    assert_eq!(run.status, 1);
    assert!(run.stderr.contains("0.Quotes.00000000.0"), "{}", run.stderr);
    assert!(
        run.stderr.contains("1 log cannot be read"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_log_is_removed_only_if_it_is_named_exactly_and_nobody_has_it() {
    let (folder, domain) = (Folder::new("durability-rm"), Domain::reserve());
    let here = participant(domain.id.parse().expect("a number"), folder.path());
    let topic = here.topic::<Tick>("Ticks").expect("a topic");
    let qos = DataWriterQos::default().transient();
    let writer = here.writer_with(&topic, qos).expect("a writer");
    writer
        .write(&Tick {
            instrument: 1,
            id: 1,
        })
        .expect("written");
    let log = listed(&folder);
    let directory = log["directory"].as_str().expect("a path");
    let name = log["log"].as_str().expect("a name");
    let remove = |names: &[&str]| {
        let arguments = ["durability", "rm", "--store", "."];
        tickwire(&folder, &[&arguments, names].concat())
    };
    let run = remove(&[name]);
    assert_eq!(run.status, 1);
    assert!(run.stderr.contains("belongs to a writer"), "{}", run.stderr);
    let run = remove(&[]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    let expected = "nothing can be removed: 1 log is in use\n";
    assert_eq!(run.stderr, expected);
    drop(writer);
    let run = remove(&[]);
    let line = format!("{directory}: 1 sample, ");
    assert!(
        run.status == 0 && run.stdout.starts_with(&line),
        "{}",
        run.stdout
    );
    let run = remove(&["Ticks"]);
    assert_eq!(run.status, 2);
    assert!(run.stdout.starts_with(&line), "{}", run.stdout);
    assert!(
        run.stderr.contains("0 logs are called Ticks"),
        "{}",
        run.stderr
    );
    assert_eq!(listed(&folder)["owner"], "nobody");
    let run = remove(&[name]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    let list = tickwire(&folder, &["durability", "ls", "--store", ".", "-o", "json"]);
    assert_eq!(list.stdout.trim(), "[]");
    assert_eq!(remove(&[]).stderr, "there are no logs\n");
}
