//! `tickwire rendezvous`: processes that meet without multicast, on loopback.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::common::{Folder, tickwire};
use serde_json::Value;
use tickwire::{DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, Topic};

/// Long enough that only a fault reaches it.
const PATIENCE: Duration = Duration::from_secs(20);

/// A domain that no port can be made from.
const FAR_DOMAIN: &str = "8675309";

/// A process that ends with the test.
struct Process {
    child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Process {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tickwire"))
            .args(arguments)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the built binary starts");
        let stderr = child.stderr.take().expect("it is piped");
        Self {
            child,
            stderr: BufReader::new(stderr),
        }
    }

    /// A rendezvous that has written `FILE`, and where it is.
    fn rendezvous(folder: &Folder, file: &str, arguments: &[&str]) -> (Self, String) {
        let all = [&["rendezvous", "-o", file], arguments].concat();
        let mut process = Self::start(folder, &all);
        let line = process.line("rendezvous at ");
        let address = line.trim_start_matches("rendezvous at ").to_owned();
        (process, address)
    }

    /// The next line on standard error that contains `text`.
    fn line(&mut self, text: &str) -> String {
        let mut lines = self.stderr.by_ref().lines().map_while(Result::ok);
        let found = lines.find(|line| line.contains(text));
        found.unwrap_or_else(|| panic!("it ended without {text:?}"))
    }

    /// Ends it without a word.
    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it is ours");
    }

    fn wait(mut self) -> Option<i32> {
        self.child.wait().expect("it is ours").code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only if it has ended and was waited for.
        let _ended = self.child.kill();
        let _waited_for = self.child.wait();
    }
}

const ANYWHERE: &[&str] = &["--listen", "127.0.0.1:0"];

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn one_publisher_and_three_subscribers_meet_in_a_domain_without_ports() {
    let folder = Folder::new("rendezvous-1-to-3");
    let (_rendezvous, _) = Process::rendezvous(&folder, "repo.ior", ANYWHERE);
    let perf = tickwire(
        &folder,
        &[
            "perf",
            "throughput",
            "--rendezvous",
            "file://repo.ior",
            "-d",
            FAR_DOMAIN,
            "-s",
            "64",
            "--subscribers",
            "3",
            "--duration",
            "100ms",
            "-o",
            "json",
        ],
    );
    assert_eq!(perf.status, 0, "{}", perf.stderr);
    let samples = json(&perf.stdout)[0]["samples"].as_u64();
    assert!(samples > Some(0), "{samples:?}");
    let refused = tickwire(&folder, &["topic", "ls", "-d", FAR_DOMAIN]);
    assert_eq!(refused.status, 2);
    assert!(
        refused.stderr.contains("domains are 0 to 232"),
        "{}",
        refused.stderr
    );
}

#[test]
fn who_has_met_goes_on_when_the_rendezvous_is_killed() {
    let folder = Folder::new("rendezvous-killed");
    let (mut rendezvous, address) = Process::rendezvous(&folder, "repo.ior", ANYWHERE);
    let perf = [
        "perf",
        "throughput",
        "--rendezvous",
        &address,
        "-d",
        FAR_DOMAIN,
        "-s",
        "64",
        "--subscribers",
        "1",
        "--duration",
        "1500ms",
    ];
    let perf = Process::start(&folder, &perf);
    let publisher = rendezvous.line("domain 8675309");
    let subscriber = rendezvous.line("domain 8675309");
    assert_ne!(publisher, subscriber);
    rendezvous.kill();
    assert_eq!(perf.wait(), Some(0));
}

/// Those who have met need no rendezvous, and those who come later find them at the one that has been
/// started again: each sees every sample, in order.
#[test]
fn nothing_is_lost_while_a_rendezvous_is_killed_and_started_again() {
    let folder = Folder::new("rendezvous-sequence");
    let (rendezvous, address) = Process::rendezvous(&folder, "repo.ior", ANYWHERE);
    let writer = count_writer(&join(&address));
    let reader = count_reader(&join(&address));
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    let stop = AtomicBool::new(false);
    let (seen, late, written) = thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let numbers = (0..).take_while(|_| !stop.load(Ordering::Relaxed));
            let write = |number| {
                writer.write(&Count { number }).expect("room");
                let acknowledged = writer.wait_for_acknowledgments(PATIENCE);
                acknowledged.expect("those who have met hear it");
            };
            numbers.inspect(|&number| write(number)).count()
        });
        let _stops = Stop(&stop);
        let mut seen = Vec::new();
        read_more(&reader, &mut seen);
        rendezvous.kill();
        // What was there already, and what has come since.
        read_more(&reader, &mut seen);
        read_more(&reader, &mut seen);
        let again = ["--listen", &address];
        let (_rendezvous, _) = Process::rendezvous(&folder, "repo.ior", &again);
        read_more(&reader, &mut seen);
        let late = count_reader(&join(&address));
        late.wait_for_matched(1, PATIENCE)
            .expect("it finds the writer");
        read_more(&reader, &mut seen);
        stop.store(true, Ordering::Relaxed);
        (seen, late, writing.join().expect("all is written"))
    });
    let written = u64::try_from(written).expect("not so many");
    for (reader, mut seen) in [(reader, seen), (late, Vec::new())] {
        while seen.last().is_none_or(|last| last + 1 < written) {
            read_more(&reader, &mut seen);
        }
        assert!(seen.into_iter().eq(0..written), "complete and in order");
    }
}

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Count")]
struct Count {
    number: u64,
}

/// Has who writes end, however the test does.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn join(rendezvous: &str) -> DomainParticipant {
    let domain = FAR_DOMAIN.parse().expect("a number");
    let builder = DomainParticipant::builder(domain).rendezvous(rendezvous);
    // Often enough that a rendezvous that has been started again knows everybody soon.
    let builder = builder.announce_period(Duration::from_millis(200));
    builder.build().expect("a participant")
}

fn count_writer(participant: &DomainParticipant) -> DataWriter<Count> {
    let topic = participant.topic::<Count>("Counts").expect("a topic");
    let qos = DataWriterQos::default().keep_all().transient_local();
    participant.writer_with(&topic, qos).expect("a writer")
}

fn count_reader(participant: &DomainParticipant) -> DataReader<Count> {
    let topic = participant.topic::<Count>("Counts").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = participant.reader_with(&topic, qos.transient_local());
    reader.expect("a reader")
}

/// Takes what is there, and waits for it first.
fn read_more(reader: &DataReader<Count>, seen: &mut Vec<u64>) {
    reader.wait_for_data(PATIENCE).expect("samples flow");
    seen.extend(reader.take().data().map(|count| count.number));
}

#[test]
fn federated_rendezvous_act_as_one_and_a_restarted_one_forgets_nobody() {
    let folder = Folder::new("rendezvous-federated");
    folder.generate("simple", &["--messages", "200"]);
    folder.write(
        "qos.toml",
        b"[profiles.quick.participant]\nlease_duration = '3s'\n",
    );
    let as_in_the_article = [
        "-ORBSvcConf",
        "lib_tcp.conf",
        "-ORBListenEndpoints",
        "iiop://127.0.0.1:0",
        "-NOBITS",
        "-FederationId",
        "1",
    ];
    let (mut first, address) = Process::rendezvous(&folder, "one.ior", &as_in_the_article);
    let joining = [
        "-ORBListenEndpoints",
        "iiop://127.0.0.1:0",
        "-FederateWith",
        "file://one.ior",
    ];
    let (mut second, _) = Process::rendezvous(&folder, "two.ior", &joining);
    first.line("federated with");
    let mut handler = Process::start(
        &folder,
        &[
            "feed",
            "run",
            "-t",
            "simple.xml",
            "-f",
            "simple.dat",
            "-d",
            FAR_DOMAIN,
            "--rendezvous",
            "file://one.ior",
            "--qos-file",
            "qos.toml",
            "--qos-profile",
            "quick",
        ],
    );
    second.line("told by");
    let topics = |file: &str| {
        let run = tickwire(
            &folder,
            &[
                "topic",
                "ls",
                "--rendezvous",
                file,
                "-d",
                FAR_DOMAIN,
                "-o",
                "json",
            ],
        );
        assert_eq!(run.status, 0, "{}", run.stderr);
        json(&run.stdout).as_array().map(Vec::len)
    };
    // Five topics, of which four are echoed.
    assert_eq!(topics("two.ior"), Some(9));
    first.kill();
    let again = ["--listen", &address, "--accept-federates"];
    let (mut first, _) = Process::rendezvous(&folder, "one.ior", &again);
    first.line("tickwire feed run");
    assert_eq!(topics("one.ior"), Some(9));
    let subscriber = tickwire(
        &folder,
        &[
            "feed",
            "subscribe",
            "-d",
            FAR_DOMAIN,
            "--rendezvous",
            "two.ior",
        ],
    );
    assert_eq!(subscriber.status, 0, "{}", subscriber.stderr);
    assert_eq!(handler.child.wait().expect("it is ours").code(), Some(0));
}

#[test]
fn tools_show_who_is_there_and_whether_the_rendezvous_answers() {
    let folder = Folder::new("rendezvous-tools");
    let (rendezvous, address) = Process::rendezvous(&folder, "repo.ior", ANYWHERE);
    let list = [
        "node",
        "ls",
        "--rendezvous",
        &address,
        "-d",
        "4000000000",
        "-o",
        "json",
    ];
    let listed = tickwire(&folder, &list);
    assert_eq!(listed.status, 0, "{}", listed.stderr);
    let nodes = json(&listed.stdout);
    assert_eq!(nodes[0]["name"], "tickwire rendezvous", "{nodes}");
    assert_eq!(nodes[0]["kind"], "rendezvous", "{nodes}");
    let doctor = || {
        let run = Command::new(env!("CARGO_BIN_EXE_tickwire"))
            .args(["doctor", "-d", "4294967295", "-o", "json", "-t", "500ms"])
            .current_dir(folder.path())
            .env("TICKWIRE_RENDEZVOUS", "repo.ior")
            .output()
            .expect("the built binary starts");
        let report = json(std::str::from_utf8(&run.stdout).expect("text"));
        let checks = report["checks"].as_array().cloned().unwrap_or_default();
        let found = checks
            .into_iter()
            .find(|check| check["check"] == "rendezvous");
        found.expect("one is named")["status"].clone()
    };
    assert_eq!(doctor(), "OK");
    rendezvous.kill();
    assert_eq!(doctor(), "FAIL");
    // To a script, nobody is something else than nobody knows.
    let listed = tickwire(&folder, &list);
    assert_eq!((listed.status, listed.stdout.as_str()), (1, ""));
    let expected = format!("error: the rendezvous {address} does not answer, and nobody else is ");
    assert!(listed.stderr.starts_with(&expected), "{}", listed.stderr);
}

#[test]
fn a_reference_is_written_whole_and_stays() {
    let folder = Folder::new("rendezvous-reference");
    folder.write("repo.ior", b"IOR:0100");
    let (rendezvous, address) = Process::rendezvous(&folder, "repo.ior", ANYWHERE);
    rendezvous.kill();
    let text = String::from_utf8(folder.read("repo.ior")).expect("text");
    assert_eq!(text.lines().last(), Some(address.as_str()));
    let files = fs::read_dir(folder.path()).expect("it is ours").count();
    assert_eq!(files, 1, "nothing else is left");
    let taken = [&["rendezvous", "-o", "no-such-folder/x"], ANYWHERE].concat();
    let run = tickwire(&folder, &taken);
    assert_eq!(run.status, 1);
    assert!(
        run.stderr.contains("cannot write no-such-folder/x"),
        "{}",
        run.stderr
    );
}
