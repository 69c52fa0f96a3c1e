//! Hot standby: of two processes that publish the same instances the stronger one is killed, and the
//! reader goes on with the weaker (DDS 1.4 §2.2.3.9.2 and §2.2.3.11).

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use tickwire::qos::LivelinessKind;
use tickwire::{
    DataReader, DataReaderQos, DataWriterQos, DomainParticipant, DomainParticipantBuilder,
    InstanceState, Topic,
};

/// Long enough that only a fault reaches it.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a writer counts as alive without a sign. On a busy machine a process may get no processor
/// for a while; that is not to look like its end.
const LEASE: Duration = Duration::from_secs(1);
/// What may pass after the lease until the weaker one is heard. Nothing in the protocol adds to the
/// lease; it is for three processes that wait for a processor where many tests run. Only the lease of
/// the participants would bring the reader over as well, and that is far longer.
const DELAY: Duration = Duration::from_secs(5);
const DOMAIN: u32 = 172;
/// Tells the process of a test that it is to be a writer, of this strength, and whose.
const STRENGTH: &str = "TICKWIRE_TEST_STRENGTH";
const TAG: &str = "TICKWIRE_TEST_TAG";

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Quote")]
struct Quote {
    #[topic(key)]
    symbol: String,
    strength: i32,
}

/// Only the lease of LIVELINESS ends within the test, not that of the participant.
fn builder(tag: &str) -> DomainParticipantBuilder {
    let builder = DomainParticipant::builder(DOMAIN).domain_tag(tag);
    builder.lease_duration(Duration::from_secs(600))
}

/// Not a test by itself: a process of the test below, which writes a sample for each line it reads.
#[test]
fn writer_process() {
    let (Ok(strength), Ok(tag)) = (std::env::var(STRENGTH), std::env::var(TAG)) else {
        return;
    };
    let strength = strength.parse().expect("a number");
    let participant = builder(&tag).build().expect("a participant");
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default()
        .exclusive(strength)
        .liveliness(LivelinessKind::Automatic, LEASE);
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    println!("\nmatched");
    for _line in std::io::stdin().lines() {
        let symbol = "A".to_owned();
        writer.write(&Quote { symbol, strength }).expect("room");
        writer
            .wait_for_acknowledgments(PATIENCE)
            .expect("acknowledged");
        println!("\nwritten");
    }
}

/// A running writer; it ends with its standard input.
struct Writer {
    process: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
}

impl Writer {
    fn start(strength: i32, tag: &str) -> Self {
        let program = std::env::current_exe().expect("this test");
        let mut process = Command::new(program)
            .args(["--exact", "writer_process", "--nocapture"])
            .env(STRENGTH, strength.to_string())
            .env(TAG, tag)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs once more");
        let output = process.stdout.take().expect("it is piped");
        Self {
            input: process.stdin.take(),
            output: BufReader::new(output).lines(),
            process,
        }
    }

    fn wait_for(&mut self, wanted: &str) {
        let found = self.output.any(|line| line.expect("text") == wanted);
        assert!(found, "the writer has ended");
    }

    /// Writes a sample, which has been acknowledged afterwards.
    fn write(&mut self) {
        let input = self.input.as_mut().expect("it has not ended");
        input.write_all(b"\n").expect("it reads");
        self.wait_for("written");
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.input.take());
        let _status = self.process.wait();
    }
}

fn taken(reader: &DataReader<Quote>) -> Vec<(Option<i32>, InstanceState)> {
    let samples = reader.take();
    let seen = samples.iter().map(|sample| {
        let strength = sample.data().map(|quote| quote.strength);
        (strength, sample.info().instance_state)
    });
    seen.collect()
}

#[test]
fn when_the_stronger_process_is_killed_the_weaker_is_heard_after_its_lease() {
    let TakenOver {
        lived,
        silent,
        alive,
    } = take_over("network", false);
    assert!(lived >= LEASE, "given up {lived:?} after it was heard");
    assert!(silent <= LEASE + DELAY, "heard {silent:?} after the end");
    assert_eq!(alive, (1, 1));
}

#[test]
fn where_they_share_memory_its_end_is_known_at_once() {
    let TakenOver { silent, alive, .. } = take_over("memory", true);
    // Not its lease has ended: nobody has seen it silent.
    assert_eq!(alive, (1, 0), "heard {silent:?} after the end");
}

/// How the weaker one was heard.
struct TakenOver {
    /// How long after the last sign of the stronger one.
    lived: Duration,
    /// How long after its end.
    silent: Duration,
    /// Writers that are alive then, and not alive.
    alive: (u32, u32),
}

fn take_over(tag: &str, shares_memory: bool) -> TakenOver {
    let tag = format!("{tag}-{}", std::process::id());
    let participant = builder(&tag).shared_memory(shares_memory);
    let participant = participant.build().expect("a participant");
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default()
        .reliable()
        .keep_all()
        .exclusive()
        .liveliness(LivelinessKind::Automatic, LEASE);
    let reader = participant.reader_with(&topic, qos).expect("a reader");
    let [mut strong, mut weak] = [2, 1].map(|strength| Writer::start(strength, &tag));
    for writer in [&mut strong, &mut weak] {
        writer.wait_for("matched");
    }
    reader.wait_for_matched(2, PATIENCE).expect("both match");
    let mut last_sign = Instant::now();
    strong.write();
    for _ in 0..2 {
        weak.write();
        last_sign = Instant::now();
        strong.write();
    }
    let alive = InstanceState::Alive;
    assert_eq!(taken(&reader), [(Some(2), alive); 3]);
    assert_eq!(reader.liveliness_changed_status().alive_count, 2);

    // SIGKILL: no goodbye, and by the network nobody is told.
    strong.process.kill().expect("it runs");
    let killed = Instant::now();
    // The weaker one publishes all the time, as a standby does.
    let (asked, heard) = loop {
        let asked = Instant::now();
        weak.write();
        let seen = taken(&reader);
        if !seen.is_empty() {
            // The instance has had the weaker writer all the time.
            assert_eq!(seen, [(Some(1), alive)]);
            break (asked, Instant::now());
        }
        assert!(killed.elapsed() < PATIENCE, "the stronger one does not end");
    };
    let status = reader.liveliness_changed_status();
    for _ in 0..3 {
        weak.write();
    }
    assert_eq!(taken(&reader), [(Some(1), alive); 3]);
    TakenOver {
        lived: heard - last_sign,
        silent: asked.saturating_duration_since(killed),
        alive: (status.alive_count, status.not_alive_count),
    }
}
