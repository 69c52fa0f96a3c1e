//! What a participant's builder says of fragments and announcements.

use std::time::Duration;

use crate::common::{PATIENCE, builder, participant};
use tickwire::{DataReaderQos, DataWriterQos, Topic};

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Blob", final)]
struct Blob {
    bytes: Vec<u8>,
}

#[test]
fn samples_travel_in_fragments_of_the_size_that_was_asked_for() {
    let one = builder(188).max_fragment_bytes(1_000);
    let (one, two) = (one.build().expect("a participant"), participant(188));
    let topic = one.topic::<Blob>("Blobs").expect("a topic");
    let writer = DataWriterQos::default().reliable(PATIENCE);
    let writer = one.writer_with(&topic, writer).expect("a writer");
    let topic = two.topic::<Blob>("Blobs").expect("a topic");
    let reader = DataReaderQos::default().reliable();
    let reader = two.reader_with(&topic, reader).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    // Header and length take eight bytes.
    for (len, fragments) in [(992, 0), (993, 2), (20_000, 2 + 21)] {
        let bytes: Vec<_> = (0_u32..len).map(|n| n.to_le_bytes()[0]).collect();
        let sample = Blob { bytes };
        writer.write(&sample).expect("room");
        reader.wait_for_data(PATIENCE).expect("a sample");
        assert!(reader.take().data().eq([&sample]));
        assert_eq!(writer.counters().fragments_sent, fragments, "{len}");
    }
}

/// Those are rounded down to eights, and what is long is sent from where it lies.
#[test]
fn fragments_of_any_size_make_the_sample() {
    for (domain, size) in [(193, 1_450), (194, 1_001), (195, 30_003)] {
        let one = builder(domain).max_fragment_bytes(size);
        let (one, two) = (one.build().expect("a participant"), participant(domain));
        let topic = one.topic::<Blob>("Blobs").expect("a topic");
        let writer = DataWriterQos::default().reliable(PATIENCE).keep_all();
        let writer = one.writer_with(&topic, writer).expect("a writer");
        let topic = two.topic::<Blob>("Blobs").expect("a topic");
        let reader = DataReaderQos::default().reliable().keep_all();
        let reader = two.reader_with(&topic, reader).expect("a reader");
        writer.wait_for_matched(1, PATIENCE).expect("a match");
        for len in [100_000_u32, 100_001, 200_003] {
            let bytes: Vec<_> = (0..len).map(|n| n.to_le_bytes()[0]).collect();
            let sample = Blob { bytes };
            writer.write(&sample).expect("room");
            reader.wait_for_data(PATIENCE).expect("a sample");
            assert!(reader.take().data().eq([&sample]));
        }
        assert_eq!(writer.counters().fragments_resent, 0);
    }
}

#[test]
fn a_participant_is_announced_as_often_as_was_asked_for() {
    let participant = builder(189).announce_period(Duration::from_millis(20));
    let participant = participant.build().expect("a participant");
    // By default there would be eight in that time.
    let many = || (participant.discovery().counters().announcements_sent > 20).then_some(());
    let view = participant.discovery();
    view.wait_for(PATIENCE, many).expect("announcements");
}
