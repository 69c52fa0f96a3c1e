//! A participant that the application polls starts no thread. In a process of its own, whose threads are counted.

#[path = "suite/common/mod.rs"]
mod common;

use std::fs;
use std::time::{Duration, Instant};

use common::{PATIENCE, Quote, builder, quote};
use tickwire::{DataReaderQos, DataWriterQos, DomainParticipant, Driving, Transport};

fn threads() -> usize {
    fs::read_dir("/proc/self/task").expect("Linux").count()
}

#[test]
fn a_polled_participant_starts_no_thread() {
    let before = threads();
    for transports in [&[Transport::Udp, Transport::Multicast][..], &Transport::ALL] {
        let polled = || {
            let builder = builder(181).driving(Driving::Polled);
            let builder = builder.transports(transports.iter().copied());
            builder.build().expect("a participant")
        };
        let (one, two) = (polled(), polled());
        let topic = |participant: &DomainParticipant| {
            let topic = participant.topic::<Quote>("Quotes");
            topic.expect("a topic")
        };
        let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
        let writer = one.writer_with(&topic(&one), qos).expect("a writer");
        let qos = DataReaderQos::default().reliable().keep_all();
        let reader = two.reader_with(&topic(&two), qos).expect("a reader");
        let begin = Instant::now();
        let turn = || {
            assert!(begin.elapsed() < PATIENCE, "no match, or no sample");
            for participant in [&one, &two] {
                let polled = participant.poll(Duration::from_millis(1));
                polled.expect("it has no threads");
            }
        };
        while writer.publication_matched_status().current_count == 0 {
            turn();
        }
        writer.write(&quote("A", 1)).expect("room");
        while reader.take().is_empty() {
            turn();
        }
        assert_eq!(threads(), before, "{transports:?}");
    }
    // As others do, which shows that they are counted.
    let threaded = builder(181).build().expect("a participant");
    assert!(threads() > before);
    drop(threaded);
}
