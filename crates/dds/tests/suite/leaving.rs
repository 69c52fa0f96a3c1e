//! Writers that leave while what they wrote last is still on its way.

use std::sync::mpsc;

use crate::common::{PATIENCE, Quote, builder, quote, wait_for_logs};
use tickwire::status::MatchedStatus;
use tickwire::{
    DataReader, DataReaderListener, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant,
    Driving, Transport,
};

const COUNT: i64 = 200;

fn pair(
    domain: u32,
    transport: Transport,
    driving: Driving,
    reliable: bool,
) -> (
    DomainParticipant,
    DataWriter<Quote>,
    DomainParticipant,
    DataReader<Quote>,
) {
    let participant = |driving| {
        let builder = builder(domain).transports([transport]).driving(driving);
        builder.build().expect("a participant")
    };
    let (writing, reading) = (participant(Driving::Threaded), participant(driving));
    let topic = writing.topic::<Quote>("Quotes").expect("a topic");
    let offered = DataWriterQos::default().keep_all();
    let requested = DataReaderQos::default().keep_all();
    let (offered, requested) = match reliable {
        true => (offered.reliable(PATIENCE), requested.reliable()),
        false => (offered.best_effort(), requested),
    };
    let writer = writing.writer_with(&topic, offered).expect("a writer");
    let topic = reading.topic::<Quote>("Quotes").expect("a topic");
    let reader = reading.reader_with(&topic, requested).expect("a reader");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    if transport == Transport::Shm {
        wait_for_logs(&reading, 1);
    }
    (writing, writer, reading, reader)
}

/// What a listener hears.
#[derive(Debug, PartialEq)]
enum Heard {
    Data,
    Unmatched,
}

/// Stands still from the first sample on until it is let go.
struct Slow {
    heard: mpsc::Sender<Heard>,
    go: mpsc::Receiver<()>,
    has_begun: bool,
}

impl DataReaderListener<Quote> for Slow {
    fn on_data_available(&mut self, _: &DataReader<Quote>) {
        self.heard.send(Heard::Data).expect("the test waits");
        if !std::mem::replace(&mut self.has_begun, true) {
            self.go.recv_timeout(PATIENCE).expect("the test goes on");
        }
    }

    fn on_subscription_matched(&mut self, _: &DataReader<Quote>, status: MatchedStatus) {
        if status.current_count == 0 {
            self.heard.send(Heard::Unmatched).expect("the test waits");
        }
    }
}

/// Discovery has heard that the writer is gone long before its samples are read.
fn all_is_read_before_the_match_ends(
    domain: u32,
    transport: Transport,
    driving: Driving,
    reliable: bool,
) {
    for with_participant in [true, false] {
        let name = format!("{transport:?} {driving:?} {reliable} {with_participant}");
        let (writing, writer, reading, reader) = pair(domain, transport, driving, reliable);
        let (heard, hears) = mpsc::channel();
        let (go, goes) = mpsc::channel();
        reader.set_listener(Slow {
            heard,
            go: goes,
            has_begun: false,
        });
        for number in 0..COUNT {
            writer.write(&quote("A", number)).expect("room");
        }
        drop(writer);
        let _stays = (!with_participant).then_some(writing);
        let first = hears.recv_timeout(PATIENCE).expect("it is told");
        assert_eq!(first, Heard::Data, "{name}");
        let view = reading.discovery();
        let is_gone = || view.publications().is_empty().then_some(());
        view.wait_for(PATIENCE, is_gone).expect("it says good-bye");
        go.send(()).expect("it waits");
        while hears
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|_| panic!("{name}: its match does not end, {:?}", reading.counters()))
            == Heard::Data
        {}
        let samples = reader.take();
        let prices: Vec<_> = samples.data().map(|quote| quote.price).collect();
        assert_eq!(prices, (0..COUNT).collect::<Vec<_>>(), "{name}");
        assert_eq!(reader.sample_lost_status().total_count, 0, "{name}");
    }
}

fn everybody_is_read(domain: u32, transport: Transport) {
    all_is_read_before_the_match_ends(domain, transport, Driving::Threaded, false);
    all_is_read_before_the_match_ends(domain, transport, Driving::Cooperative, false);
    all_is_read_before_the_match_ends(domain, transport, Driving::Threaded, true);
}

#[test]
fn by_udp() {
    everybody_is_read(182, Transport::Udp);
}

#[test]
fn by_tcp() {
    everybody_is_read(180, Transport::Tcp);
}

/// Who polls hears of both at once.
#[test]
fn a_polled_participant_reads_first_too() {
    for transport in [Transport::Udp, Transport::Shm, Transport::Tcp] {
        let (writing, writer, reading, reader) = pair(181, transport, Driving::Polled, false);
        for number in 0..COUNT {
            writer.write(&quote("A", number)).expect("room");
        }
        drop((writer, writing));
        let has_left = || reader.matched_publications().is_empty().then_some(());
        let left = reading.discovery().wait_for(PATIENCE, has_left);
        left.expect("its match ends");
        assert_eq!(reader.take().data().count(), 200, "{transport:?}");
    }
}

/// Of what the kernel has dropped for want of room at the very end no sample that follows tells.
#[test]
fn what_is_lost_at_the_end_has_a_number() {
    let reading = builder(181).transports([Transport::Udp]);
    let reading = reading.driving(Driving::Polled).receive_buffer_bytes(1);
    let reading = reading.build().expect("a participant");
    let writing = builder(181).transports([Transport::Udp]);
    let writing = writing.build().expect("a participant");
    let topic = writing.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().keep_all().best_effort();
    let writer = writing.writer_with(&topic, qos).expect("a writer");
    let topic = reading.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().keep_all();
    let reader = reading.reader_with(&topic, qos).expect("a reader");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    for number in 0..20 * COUNT {
        writer.write(&quote("A", number)).expect("room");
    }
    drop(writer);
    let has_left = || reader.matched_publications().is_empty().then_some(());
    let left = reading.discovery().wait_for(PATIENCE, has_left);
    left.expect("its match ends");
    let came = reader.take().data().count() as u64;
    let lost = reader.sample_lost_status().total_count;
    assert!(came > 0 && lost > 0, "{came} came, {lost} were lost");
    // One more tells that the instance has lost its writer.
    let told = came + lost;
    assert!(
        (4_000..=4_001).contains(&told),
        "{came} came, {lost} were lost"
    );
}

/// A writer that comes when another one leaves is heard at once, also within a participant.
#[test]
fn nobody_else_waits_for_who_leaves() {
    let participant = builder(184).build().expect("a participant");
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().keep_all();
    let reader = participant.reader_with(&topic, qos).expect("a reader");
    let (heard, hears) = mpsc::channel();
    let (go, goes) = mpsc::channel();
    reader.set_listener(Slow {
        heard,
        go: goes,
        has_begun: false,
    });
    let writer = || {
        let qos = DataWriterQos::default().keep_all().best_effort();
        let writer = participant.writer_with(&topic, qos).expect("a writer");
        writer.wait_for_matched(1, PATIENCE).expect("a match");
        writer
    };
    let first = writer();
    first.write(&quote("A", 1)).expect("room");
    assert_eq!(hears.recv_timeout(PATIENCE), Ok(Heard::Data));
    // The thread that delivers stands still.
    drop(first);
    let second = writer();
    assert_eq!(reader.matched_publications().len(), 2);
    second.write(&quote("B", 2)).expect("room");
    drop(second);
    go.send(()).expect("it waits");
    while hears.recv_timeout(PATIENCE).expect("both leave") == Heard::Data {}
    let samples = reader.take();
    let prices: Vec<_> = samples.data().map(|quote| quote.price).collect();
    assert_eq!(prices, [1, 2]);
}

#[test]
fn within_a_participant() {
    let participant = builder(184).build().expect("a participant");
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().keep_all().best_effort();
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    let qos = DataReaderQos::default().keep_all();
    let reader = participant.reader_with(&topic, qos).expect("a reader");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    for number in 0..COUNT {
        writer.write(&quote("A", number)).expect("room");
    }
    drop(writer);
    let has_left = || reader.matched_publications().is_empty().then_some(());
    let left = participant.discovery().wait_for(PATIENCE, has_left);
    left.expect("its match ends");
    assert_eq!(reader.take().data().count(), 200);
}

#[test]
fn by_shared_memory() {
    everybody_is_read(183, Transport::Shm);
}
