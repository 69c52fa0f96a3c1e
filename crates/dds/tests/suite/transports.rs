//! By what datagrams go is chosen from outside: programs that name no transport go by what the environment says.
//!
//! The processes are this test binary again, told by its environment what to do.

use std::collections::BTreeMap;
use std::env;
use std::process::{Command, Stdio};

use crate::common::{PATIENCE, Quote, quote};
use tickwire::{
    DataReader, DataReaderQos, DataWriterQos, DomainParticipant, Obstacle, SharedMemoryCounters,
    Way,
};

const SAMPLES: i64 = 100;
/// Of the reading process. What one alone is to have goes to no group.
const READERS: u32 = 2;

fn participant(tag: &str) -> DomainParticipant {
    let builder = DomainParticipant::builder(180).domain_tag(tag);
    builder.build().expect("a participant")
}

/// Not a test of its own: what each process does, and by which way.
#[test]
fn plays_its_role_by_any_transport() {
    let (Ok(role), Ok(tag)) = (env::var("TRANSPORTS_ROLE"), env::var("TRANSPORTS_TAG")) else {
        return;
    };
    match role.as_str() {
        "writer" => writes(&participant(&tag)),
        _ => reads(&tag),
    }
}

fn writes(participant: &DomainParticipant) {
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    let matched = writer.wait_for_matched(READERS, PATIENCE);
    matched.expect("readers");
    let view = participant.discovery();
    let pending = Some(Way::Network(Obstacle::Pending));
    let is_agreed = || {
        let is_agreed = view.pairs().iter().all(|pair| pair.way != pending);
        is_agreed.then_some(())
    };
    view.wait_for(PATIENCE, is_agreed).expect("ways");
    let by_log = view.pairs().into_iter();
    let by_log = by_log.filter(|pair| pair.way == Some(Way::SharedMemory));
    let by_log = by_log.count();
    for price in 0..SAMPLES {
        writer.write(&quote("A", price)).expect("room");
    }
    writer.wait_for_acknowledgments(PATIENCE).expect("readers");
    say("pairs by log", by_log as u64);
    say("sent", writer.counters().sent);
    say("sent by group", writer.counters().sent_by_group);
    tell(participant, |shared| shared.records_sent);
}

fn reads(tag: &str) {
    let both = [(); READERS as usize].map(|()| participant(tag));
    let readers = both.each_ref().map(|participant| {
        let topic = participant.topic::<Quote>("Quotes").expect("a topic");
        let qos = DataReaderQos::default().reliable().keep_all();
        participant.reader_with(&topic, qos).expect("a reader")
    });
    for reader in &readers {
        takes_all(reader);
    }
    tell(&both[0], |shared| shared.records_received);
}

fn takes_all(reader: &DataReader<Quote>) {
    let mut expected = 0;
    while expected < SAMPLES {
        reader.wait_for_data(PATIENCE).expect("samples");
        for quote in reader.take().data() {
            assert_eq!(quote.price, expected);
            expected += 1;
        }
    }
}

/// What both sides count.
fn tell(participant: &DomainParticipant, records: impl Fn(&SharedMemoryCounters) -> u64) {
    let counters = participant.counters();
    say("records", records(&counters.shared_memory));
    say("connections", counters.tcp.opened);
    // Only a socket of UDP has one.
    let has_udp = counters.receive_buffer_bytes > 0;
    say("udp", u64::from(has_udp));
}

fn say(what: &str, count: u64) {
    println!("\ncounted {what}: {count}");
}

/// What the processes of a writer and its readers count, if the environment says so.
fn counts(transport: &str) -> [BTreeMap<String, u64>; 2] {
    let tag = format!("{transport}-{}", std::process::id());
    let start = |role| {
        Command::new(env::current_exe().expect("the test's path"))
            .args(["--exact", "transports::plays_its_role_by_any_transport"])
            .arg("--nocapture")
            .env("TRANSPORTS_ROLE", role)
            .env("TRANSPORTS_TAG", &tag)
            .env("TICKWIRE_TRANSPORT", transport)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process")
    };
    ["reader", "writer"].map(start).map(|process| {
        let output = process.wait_with_output().expect("its output");
        assert!(output.status.success(), "{transport}: {}", output.status);
        let said = String::from_utf8(output.stdout).expect("text");
        let lines = said.lines();
        let counted = lines.filter_map(|line| line.strip_prefix("counted ")?.split_once(": "));
        let counted = counted.map(|(what, count)| {
            let count = count.parse().expect("a number");
            (what.to_owned(), count)
        });
        counted.collect()
    })
}

#[test]
fn programs_that_name_no_transport_go_by_what_the_environment_says() {
    let all = SAMPLES as u64;
    let readers = u64::from(READERS);
    for (transport, has_udp) in [("udp", 1), ("multicast", 1), ("tcp", 0), ("shm", 1)] {
        let [reader, writer] = counts(transport);
        let context = format!("{transport}: {writer:?} {reader:?}");
        assert_eq!(writer["sent"], all, "{context}");
        let by_group = if transport == "multicast" { all } else { 0 };
        assert_eq!(writer["sent by group"], by_group, "{context}");
        let by_log = if transport == "shm" { readers } else { 0 };
        assert_eq!(writer["pairs by log"], by_log, "{context}");
        for side in [&writer, &reader] {
            assert_eq!(side["udp"], has_udp, "{context}");
            assert_eq!(side["connections"] > 0, transport == "tcp", "{context}");
            match transport {
                "shm" => assert!(side["records"] >= all, "{context}"),
                _ => assert_eq!(side["records"], 0, "{context}"),
            }
        }
    }
}
