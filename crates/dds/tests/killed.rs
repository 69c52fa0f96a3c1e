//! A process that is killed with `kill -9` loses no sample whose write has returned.
//!
//! The publishing process is this test binary again, told by its environment what to do.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use tickwire::qos::{DurabilityService, History};
use tickwire::store::StoreOptions;
use tickwire::{DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, Topic};

/// Long enough that only a fault reaches it.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often the publisher is killed.
const ROUNDS: i64 = 40;
/// Ids of a round's samples begin at a multiple of it.
const ROUND: i64 = 1_000_000;

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Tick")]
struct Tick {
    #[topic(key)]
    instrument: u32,
    id: i64,
    /// Some samples take several datagrams.
    padding: Vec<u8>,
}

fn participant(directory: &Path) -> DomainParticipant {
    DomainParticipant::builder(147)
        .domain_tag(directory.to_str().expect("UTF-8"))
        .store(StoreOptions::below(directory))
        .build()
        .expect("a participant")
}

fn writer(participant: &DomainParticipant) -> DataWriter<Tick> {
    let service = DurabilityService {
        history: History::KeepAll,
        ..DurabilityService::default()
    };
    let qos = DataWriterQos::default()
        .reliable(PATIENCE)
        .keep_all()
        .transient()
        .durability_service(service);
    let topic = participant.topic::<Tick>("Ticks").expect("a topic");
    participant.writer_with(&topic, qos).expect("a writer")
}

fn reader(participant: &DomainParticipant) -> DataReader<Tick> {
    let topic = participant.topic::<Tick>("Ticks").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all().transient();
    participant.reader_with(&topic, qos).expect("a reader")
}

/// Not a test of its own: what the publishing process does. Says of each sample that it is written.
#[test]
fn publishes_until_it_is_killed() {
    let Some(directory) = env::var_os("KILLED_STORE").map(PathBuf::from) else {
        return;
    };
    let first: i64 = env::var("KILLED_FIRST").unwrap().parse().unwrap();
    let participant = participant(&directory);
    let writer = writer(&participant);
    let mut out = std::io::stdout().lock();
    for id in first.. {
        let sample = Tick {
            instrument: u32::try_from(id % 3).unwrap(),
            id,
            padding: vec![7; if id % 16 == 0 { 20_000 } else { 16 }],
        };
        let line = match writer.write(&sample) {
            Ok(_) => format!("\nwritten {id}\n"),
            Err(error) => format!("\nfailed {error}\n"),
        };
        out.write_all(line.as_bytes()).unwrap();
        out.flush().unwrap();
        if line.contains("failed") {
            return;
        }
    }
}

struct Publisher {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Publisher {
    /// `wrapper` is a program, with arguments, that runs this one.
    fn start(directory: &Path, first: i64, wrapper: &[&str]) -> Self {
        let program = env::current_exe().expect("the test's path");
        let mut command = match wrapper {
            [] => Command::new(&program),
            [wrapper, arguments @ ..] => {
                let mut command = Command::new(wrapper);
                command.args(arguments).arg(&program);
                command
            }
        };
        let mut child = command
            .args(["--exact", "publishes_until_it_is_killed", "--nocapture"])
            .env("KILLED_STORE", directory)
            .env("KILLED_FIRST", first.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        let out = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, out }
    }

    /// What it says next after `word`; `None` once it has ended.
    fn next(&mut self, word: &str) -> Option<String> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.out.read_line(&mut line).expect("its output") == 0 {
                return None;
            }
            // The last line may be torn.
            if let Some(rest) = line.strip_prefix(word)
                && let Some(rest) = rest.strip_suffix('\n')
            {
                return Some(rest.trim().to_owned());
            }
        }
    }

    /// Kills it after `count` samples at least; says how many it has said to be written.
    fn kill_after(mut self, count: i64) -> i64 {
        let mut written = 0;
        while written < count {
            self.next("written").expect("it publishes");
            written += 1;
        }
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
        while self.next("written").is_some() {
            written += 1;
        }
        written
    }
}

fn ids(reader: &DataReader<Tick>) -> Vec<i64> {
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    let history = reader.wait_for_historical_data(PATIENCE);
    history.expect("historical data");
    reader.take().data().map(|tick| tick.id).collect()
}

fn scratch(name: &str) -> PathBuf {
    let name = format!("tickwire-{name}-{}", std::process::id());
    let directory = env::temp_dir().join(name);
    fs::create_dir(&directory).expect("a directory");
    directory
}

#[test]
fn a_killed_process_loses_no_sample_that_it_has_written() {
    let directory = scratch("killed");
    let participant = participant(&directory);
    let live = reader(&participant);
    let mut random = 0x2545_f491_4f6c_dd1d_u64 ^ u64::from(std::process::id());
    println!("seed {random}");
    let mut written = Vec::new();
    for round in 0..ROUNDS {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let publisher = Publisher::start(&directory, round * ROUND, &[]);
        let count = i64::try_from(random % 200).expect("small");
        written.push(publisher.kill_after(count));
    }

    // A successor has it all, for readers new and old. Of the dead, a new participant knows nothing;
    // the old one would wait for their history as long as their leases last.
    let successor = writer(&participant);
    let late = ids(&reader(&self::participant(&directory)));
    for (round, &count) in (0..).zip(&written) {
        let of_round = late.iter().filter(|&&id| id / ROUND == round);
        let of_round: Vec<_> = of_round.map(|id| id % ROUND).collect();
        // It may have been killed after a write and before it could say so.
        let len = i64::try_from(of_round.len()).expect("few");
        assert!((count..=count + 1).contains(&len), "{len} of {count}");
        assert_eq!(of_round, (0..len).collect::<Vec<_>>(), "round {round}");
    }
    assert!(late.is_sorted(), "{late:?}");
    let acknowledged = successor.wait_for_acknowledgments(PATIENCE);
    acknowledged.expect("all acknowledged");
    let live: Vec<_> = live.take().data().map(|tick| tick.id).collect();
    assert_eq!(live, late);
    fs::remove_dir_all(&directory).expect("removed");
}

#[test]
fn a_store_that_is_full_is_an_error_of_the_write() {
    let directory = scratch("full");
    // No file of more than 16 blocks of 512 bytes; the limit's signal is ignored.
    let limited = r#"trap '' XFSZ; ulimit -f 16; exec "$0" "$@""#;
    let mut publisher = Publisher::start(&directory, 1, &["sh", "-c", limited]);
    let error = publisher.next("failed").expect("an error");
    publisher.child.wait().expect("it ends");
    assert!(
        error.contains(directory.to_str().expect("UTF-8")),
        "{error}"
    );
    assert!(error.contains("TICKWIRE_STORE"), "{error}");
    fs::remove_dir_all(&directory).expect("removed");
}
