//! What readers get of what was written before they came.

use crate::common::{PATIENCE, Quote, builder, participant, quote};
use tickwire::{DataReaderQos, DataWriterQos};

#[test]
fn a_late_joiner_gets_the_history_and_then_what_follows() {
    let (one, two) = (participant(103), participant(103));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().keep_last(2).transient_local();
    let writer = one.writer_with(&topic, qos).expect("a writer");
    for price in 0..5 {
        writer.write(&quote("A", price)).expect("room");
        writer.write(&quote("B", price)).expect("room");
    }
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default()
        .reliable()
        .keep_all()
        .transient_local();
    let reader = two.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer.write(&quote("A", 5)).expect("room");
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all acknowledged");
    let prices = |symbol: &str| -> Vec<i64> {
        let samples = reader.read();
        let own = samples.data().filter(|quote| quote.symbol == symbol);
        own.map(|quote| quote.price).collect()
    };
    // The writer may have replaced 3 by 5 before the reader asked.
    assert_eq!(prices("B"), [3, 4]);
    assert!(prices("A").ends_with(&[4, 5]));
}

#[test]
fn durability_above_transient_local_gives_the_writers_history_where_there_is_no_store() {
    let participant = builder(131).store(None).build().expect("a participant");
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().persistent().keep_all();
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    for price in 0..5 {
        writer.write(&quote("A", price)).expect("room");
    }
    let qos = DataReaderQos::default().reliable().keep_all().transient();
    let reader = participant.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all acknowledged");
    assert_eq!(reader.take().data().count(), 5);
}

#[test]
fn a_volatile_reader_gets_only_what_follows() {
    let (one, two) = (participant(104), participant(104));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().keep_all().transient_local();
    let writer = one.writer_with(&topic, qos).expect("a writer");
    writer.write(&quote("A", 1)).expect("room");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = two.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer.write(&quote("A", 2)).expect("room");
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all acknowledged");
    let samples = reader.take();
    assert_eq!(samples.data().collect::<Vec<_>>(), [&quote("A", 2)]);
}
