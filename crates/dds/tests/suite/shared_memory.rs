//! Participants of one machine exchange samples by logs in shared memory, and by UDP where they cannot.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{PATIENCE, wait_for_logs};
use tickwire::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant,
    DomainParticipantBuilder, Driving, Obstacle, Topic, Way,
};

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Block")]
struct Block {
    number: i64,
    bytes: Vec<u8>,
}

fn block(number: i64, len: usize) -> Block {
    let byte = number.to_le_bytes()[0];
    let bytes = vec![byte; len];
    Block { number, bytes }
}

fn writer(participant: &DomainParticipant, qos: DataWriterQos) -> DataWriter<Block> {
    let topic = participant.topic::<Block>("Blocks").expect("a topic");
    participant.writer_with(&topic, qos).expect("a writer")
}

fn reader(participant: &DomainParticipant, qos: DataReaderQos) -> DataReader<Block> {
    let topic = participant.topic::<Block>("Blocks").expect("a topic");
    participant.reader_with(&topic, qos).expect("a reader")
}

fn reliable() -> (DataWriterQos, DataReaderQos) {
    (
        DataWriterQos::default().reliable(PATIENCE).keep_all(),
        DataReaderQos::default().reliable().keep_all(),
    )
}

fn best_effort() -> (DataWriterQos, DataReaderQos) {
    (
        DataWriterQos::default().best_effort(),
        DataReaderQos::default().keep_all(),
    )
}

/// A domain of its own for each test, with shared memory whatever the environment says.
fn builder(domain: u32) -> DomainParticipantBuilder {
    crate::common::builder(domain).shared_memory(true)
}

fn participant(domain: u32) -> DomainParticipant {
    builder(domain).build().expect("a participant")
}

/// The numbers of the next `count` samples, whose bytes are as they were written.
fn take(reader: &DataReader<Block>, count: usize) -> Vec<i64> {
    let mut numbers = Vec::new();
    while numbers.len() < count {
        let waited = reader.wait_for_data(PATIENCE);
        waited.unwrap_or_else(|_| panic!("{} of {count}: {numbers:?}", numbers.len()));
        for taken in reader.take().data() {
            assert_eq!(*taken, block(taken.number, taken.bytes.len()));
            numbers.push(taken.number);
        }
    }
    numbers
}

fn records_sent(participant: &DomainParticipant) -> u64 {
    participant.counters().shared_memory.records_sent
}

#[test]
fn samples_of_any_reliability_go_by_the_log_alone() {
    for (domain, qos) in [(201, reliable()), (202, best_effort())] {
        let (ours, theirs) = (participant(domain), participant(domain));
        let (writer, reader) = (writer(&ours, qos.0), reader(&theirs, qos.1));
        wait_for_logs(&ours, 1);
        wait_for_logs(&theirs, 1);
        let before = ours.counters();
        for number in 0..100 {
            writer.write(&block(number, 10_000)).expect("room");
        }
        assert_eq!(take(&reader, 100), (0..100).collect::<Vec<_>>());
        let sent = ours.counters();
        assert!(sent.shared_memory.records_sent >= 100);
        assert!(sent.bytes_sent - before.bytes_sent < 100_000, "{sent:?}");
        // A heartbeat may still be on its way.
        let end = Instant::now() + PATIENCE;
        let received = loop {
            let received = theirs.counters().shared_memory;
            let is_all = received.records_received >= sent.shared_memory.records_sent;
            if is_all || Instant::now() > end {
                assert!(is_all, "{received:?} of {sent:?}");
                break received;
            }
            thread::yield_now();
        };
        assert_eq!((received.records_lost, received.refused), (0, 0));
    }
}

#[test]
fn one_record_serves_all_readers_of_all_participants() {
    let ours = participant(203);
    let others = [participant(203), participant(203)];
    let (offered, requested) = best_effort();
    let writer = writer(&ours, offered);
    let readers: Vec<_> = others
        .iter()
        .flat_map(|other| [(); 3].map(|()| reader(other, requested.clone())))
        .collect();
    wait_for_logs(&ours, 6);
    let before = records_sent(&ours);
    writer.write(&block(1, 100)).expect("room");
    for reader in &readers {
        assert_eq!(take(reader, 1), [1]);
    }
    assert_eq!(records_sent(&ours), before + 1);

    // A further reader is served by the log as soon as it matches.
    let late = reader(&others[0], requested);
    wait_for_logs(&ours, 7);
    wait_for_logs(&others[0], 4);
    writer.write(&block(2, 100)).expect("room");
    assert_eq!(take(&late, 1), [2]);
    assert_eq!(records_sent(&ours), before + 2);
}

#[test]
fn who_joins_late_has_the_history_and_what_follows() {
    let (ours, theirs) = (participant(204), participant(204));
    let (offered, requested) = reliable();
    let writer = writer(&ours, offered.transient_local());
    for number in 0..50 {
        writer.write(&block(number, 1_000)).expect("room");
    }
    let reader = reader(&theirs, requested.transient_local());
    for number in 50..100 {
        writer.write(&block(number, 1_000)).expect("room");
    }
    assert_eq!(take(&reader, 100), (0..100).collect::<Vec<_>>());
    wait_for_logs(&ours, 1);
    for number in 100..150 {
        writer.write(&block(number, 1_000)).expect("room");
    }
    assert_eq!(take(&reader, 50), (100..150).collect::<Vec<_>>());
    assert!(records_sent(&ours) >= 50);
}

#[test]
fn a_reader_without_shared_memory_is_served_by_udp_beside_one_with_it() {
    let (ours, with) = (participant(205), participant(205));
    let without = builder(205).shared_memory(false).build().expect("one");
    let (offered, requested) = reliable();
    let writer = writer(&ours, offered);
    let readers = [&with, &without].map(|other| reader(other, requested.clone()));
    writer.wait_for_matched(2, PATIENCE).expect("both");
    wait_for_logs(&ours, 1);
    let ways: Vec<_> = ours.discovery().pairs();
    let obstacle = ways.into_iter().find_map(|pair| match pair.way {
        Some(Way::Network(obstacle)) => Some(obstacle),
        _ => None,
    });
    assert_eq!(obstacle, Some(Obstacle::NotOffered));
    let own = without.discovery().pairs().pop().expect("a pair");
    assert_eq!(own.way, Some(Way::Network(Obstacle::Off)));
    for number in 0..200 {
        writer.write(&block(number, 5_000)).expect("room");
    }
    for reader in &readers {
        assert_eq!(take(reader, 200), (0..200).collect::<Vec<_>>());
    }
    assert_eq!(without.counters().shared_memory.records_received, 0);
    // Since they wait for company on their way to UDP, several share a record.
    assert!(with.counters().shared_memory.bytes_received >= 200 * 5_000);
}

#[test]
fn large_samples_go_in_fragments() {
    let (ours, theirs) = (participant(206), participant(206));
    let (offered, requested) = reliable();
    let (writer, reader) = (writer(&ours, offered), reader(&theirs, requested));
    wait_for_logs(&ours, 1);
    for number in 0..3 {
        writer.write(&block(number, 10 << 20)).expect("room");
    }
    assert_eq!(take(&reader, 3), [0, 1, 2]);
    assert!(ours.counters().shared_memory.bytes_sent > 30 << 20);
}

/// The change of ways loses nothing and brings nothing twice, and neither does the way back.
#[test]
fn a_stream_survives_that_logs_come_and_go() {
    let (ours, steady) = (participant(207), participant(207));
    let (offered, requested) = reliable();
    let writer = writer(&ours, offered);
    let (mut number, mut seen) = (0, Vec::new());
    let first = reader(&steady, requested.clone());
    writer.wait_for_matched(1, PATIENCE).expect("a reader");
    for _ in 0..10 {
        let passing = participant(207);
        let other = reader(&passing, requested.clone());
        while ours.discovery().pairs().len() < 2 || number % 100 != 0 {
            writer.write(&block(number, 500)).expect("room");
            number += 1;
            seen.extend(first.take().data().map(|block| block.number));
        }
        let waited = other.wait_for_matched(1, PATIENCE);
        waited.expect("the writer");
        drop((other, passing));
    }
    while seen.len() < usize::try_from(number).expect("few") {
        seen.extend(take(&first, 1));
    }
    assert_eq!(seen, (0..number).collect::<Vec<_>>());
}

/// One thread drives both; nobody has threads.
#[test]
fn driven_participants_use_logs_too() {
    for (domain, busy) in [(208, Duration::ZERO), (209, Duration::from_millis(1))] {
        let driven = || {
            let builder = builder(domain).driving(Driving::Polled).busy_poll(busy);
            builder.build().expect("a participant")
        };
        let (ours, theirs) = (driven(), driven());
        let (offered, requested) = reliable();
        let (writer, reader) = (writer(&ours, offered), reader(&theirs, requested));
        let drive_until = |is_done: &mut dyn FnMut() -> bool| {
            for _ in 0..100_000 {
                if is_done() {
                    return;
                }
                for one in [&ours, &theirs] {
                    one.poll(Duration::from_micros(100)).expect("driven");
                }
            }
            panic!("nothing comes");
        };
        let is_by_log = |one: &DomainParticipant| {
            let pairs = one.discovery().pairs();
            pairs.iter().any(|pair| pair.way == Some(Way::SharedMemory))
        };
        drive_until(&mut || is_by_log(&ours) && is_by_log(&theirs));
        let before = records_sent(&ours);
        for number in 0..50 {
            writer.write(&block(number, 100)).expect("room");
        }
        let mut seen = Vec::new();
        drive_until(&mut || {
            seen.extend(reader.take().data().map(|block| block.number));
            seen.len() >= 50
        });
        assert_eq!(seen, (0..50).collect::<Vec<_>>());
        assert!(records_sent(&ours) >= before + 50);
    }
}

/// A participant that is not driven for a while is overrun. What is best effort it has lost, and knows.
#[test]
fn who_is_overrun_knows_and_goes_on() {
    let ours = participant(210);
    let theirs = builder(210).driving(Driving::Polled).build().expect("one");
    let (offered, requested) = best_effort();
    let (writer, reader) = (writer(&ours, offered), reader(&theirs, requested));
    wait_for_logs(&theirs, 1);
    for number in 0..1_000 {
        writer.write(&block(number, 20_000)).expect("room");
    }
    // Waiting drives it.
    while take(&reader, 1).last() != Some(&999) {}
    let lost = theirs.counters().shared_memory.records_lost;
    assert!((500..1_000).contains(&lost), "{lost}");
}

/// Whoever only writes from the match on drives nothing that could agree on a log.
#[test]
fn who_is_driven_has_its_log_with_the_match() {
    let driven = || builder(212).driving(Driving::Polled).build().expect("one");
    let (ours, theirs) = (driven(), driven());
    let (offered, requested) = reliable();
    let (writer, reader) = (writer(&ours, offered), reader(&theirs, requested));
    let is_matched = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_matched.load(Ordering::Acquire) {
                theirs.poll(Duration::from_millis(1)).expect("driven");
            }
        });
        let matched = writer.wait_for_matched(1, PATIENCE);
        is_matched.store(true, Ordering::Release);
        matched.expect("a match");
    });
    writer.write(&block(0, 100)).expect("room");
    assert_eq!(records_sent(&ours), 1);
    assert_eq!(take(&reader, 1), [0]);
}

/// A reliable one has repaired what the writer still keeps.
#[test]
fn who_is_overrun_has_it_repaired() {
    let ours = participant(211);
    let theirs = builder(211).driving(Driving::Polled).build().expect("one");
    let offered = DataWriterQos::default().reliable(PATIENCE).keep_last(50);
    let (writer, reader) = (writer(&ours, offered), reader(&theirs, reliable().1));
    wait_for_logs(&theirs, 1);
    for number in 0..1_000 {
        writer.write(&block(number, 20_000)).expect("room");
    }
    let mut seen = Vec::new();
    while seen.last() != Some(&999) {
        seen.extend(take(&reader, 1));
    }
    assert!(theirs.counters().shared_memory.records_lost >= 500);
    assert!(seen.is_sorted() && seen.ends_with(&(950..1_000).collect::<Vec<_>>()));
}
