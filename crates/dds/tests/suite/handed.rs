//! Samples in memory of the application's arrive whatever the way, and the memory is given back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use crate::common::{PATIENCE, builder, wait_for_logs};
use tickwire::cdr::Topic as _;
use tickwire::store::StoreOptions;
use tickwire::{
    BytesInPlace, BytesType, COPIED_LEN, DataReader, DataReaderQos, DataWriter, DataWriterQos,
    DomainParticipant, DynamicType, HandedMemory, Serialized, Topic, Transport,
};

#[derive(Topic)]
#[topic(name = "test::Frame", final)]
struct Frame {
    bytes: Vec<u8>,
}

/// A key, and what makes it long.
#[derive(Topic)]
#[topic(name = "test::Note", final)]
struct Note {
    #[topic(key)]
    id: i32,
    text: String,
}

/// Bytes that say when they are let go of.
struct Memory {
    bytes: Vec<u8>,
    let_go: Arc<AtomicUsize>,
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.let_go.fetch_add(1, Ordering::Release);
    }
}

fn handed(bytes: Vec<u8>, let_go: &Arc<AtomicUsize>) -> HandedMemory {
    let let_go = Arc::clone(let_go);
    Arc::new(Memory { bytes, let_go })
}

/// Bytes that panic when they are asked for, once they are not calm any more, and when they are let go of.
struct Panicky {
    bytes: Vec<u8>,
    is_calm: Arc<AtomicBool>,
    let_go: Arc<AtomicUsize>,
}

impl AsRef<[u8]> for Panicky {
    fn as_ref(&self) -> &[u8] {
        assert!(self.is_calm.load(Ordering::Acquire), "nobody is to ask");
        &self.bytes
    }
}

impl Drop for Panicky {
    fn drop(&mut self) {
        self.let_go.fetch_add(1, Ordering::Release);
        panic!("nobody is to let go");
    }
}

fn bytes(len: usize, first: usize) -> Vec<u8> {
    let byte = |at: usize| u8::try_from((first + at) % 251).expect("below 251");
    (0..len).map(byte).collect()
}

fn wait_until(is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "that takes too long");
        std::thread::yield_now();
    }
}

fn topic(of: &DomainParticipant) -> Topic<BytesInPlace> {
    let ty = BytesType::of::<Frame>().expect("bytes");
    of.topic_of("Frames", ty).expect("a topic")
}

fn writer(of: &DomainParticipant, qos: DataWriterQos) -> DataWriter<BytesInPlace> {
    of.writer_with(&topic(of), qos).expect("a writer")
}

fn reader(of: &DomainParticipant, qos: DataReaderQos) -> DataReader<BytesInPlace> {
    of.reader_with(&topic(of), qos).expect("a reader")
}

fn take(reader: &DataReader<BytesInPlace>) -> Vec<u8> {
    reader.wait_for_data(PATIENCE).expect("a sample");
    let samples = reader.select().max_samples(1).take();
    samples.data().next().expect("a value").to_vec()
}

#[test]
fn what_is_handed_over_arrives_by_any_way_and_is_let_go_of() {
    let with = |domain, transports: &[Transport]| {
        let builder = builder(domain).transports(transports.iter().copied());
        builder.build().expect("a participant")
    };
    let udp = [Transport::Udp, Transport::Multicast];
    let shm = [Transport::Udp, Transport::Multicast, Transport::Shm];
    for (domain, transports) in [(44, &udp[..]), (45, &shm[..]), (46, &[Transport::Tcp][..])] {
        let (one, two) = (with(domain, transports), with(domain, transports));
        let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
        let writer = writer(&one, qos);
        let qos = DataReaderQos::default().reliable().keep_all();
        let (theirs, own) = (reader(&two, qos.clone()), reader(&one, qos));
        writer.wait_for_matched(2, PATIENCE).expect("matches");
        theirs.wait_for_matched(1, PATIENCE).expect("a match");
        own.wait_for_matched(1, PATIENCE).expect("a match");
        if transports.contains(&Transport::Shm) {
            wait_for_logs(&one, 1);
        }
        let let_go = Arc::new(AtomicUsize::new(0));
        // What makes a datagram, a record, fragments of either; and lengths of which none is a multiple of four.
        let lens = [
            0,
            100,
            COPIED_LEN,
            COPIED_LEN + 1,
            99_997,
            500_002,
            3_000_003,
        ];
        for (first, len) in lens.into_iter().enumerate() {
            let before = let_go.load(Ordering::Acquire);
            let memory = handed(bytes(len, first), &let_go);
            writer.write_handed(&memory, None).expect("room");
            drop(memory);
            let is_kept = len > COPIED_LEN;
            if !is_kept {
                assert_eq!(let_go.load(Ordering::Acquire), before + 1, "{len}");
            }
            for reader in [&theirs, &own] {
                assert!(take(reader) == bytes(len, first), "{domain}: {len}");
            }
            wait_until(|| let_go.load(Ordering::Acquire) == before + 1);
        }
        // Of a writer that ends with what nobody has.
        let memory = handed(bytes(100_000, 0), &let_go);
        drop((theirs, own));
        writer.write_handed(&memory, None).expect("room");
        drop((memory, writer, one, two));
        assert_eq!(let_go.load(Ordering::Acquire), lens.len() + 1);
    }
}

#[test]
fn late_readers_get_what_was_handed_over() {
    let [one, two] = [(); 2].map(|()| builder(41).build().expect("a participant"));
    let qos = DataWriterQos::default().reliable(PATIENCE);
    let writer = writer(&one, qos.transient_local().keep_last(2));
    let let_go = Arc::new(AtomicUsize::new(0));
    for first in 0..3 {
        let memory = handed(bytes(100_000, first), &let_go);
        writer.write_handed(&memory, None).expect("room");
    }
    assert_eq!(let_go.load(Ordering::Acquire), 1, "it has been replaced");
    let qos = DataReaderQos::default().reliable().transient_local();
    let reader = reader(&two, qos.keep_all());
    for first in 1..3 {
        assert!(take(&reader) == bytes(100_000, first));
    }
    drop(writer);
    wait_until(|| let_go.load(Ordering::Acquire) == 3);
}

#[test]
fn a_durable_writer_copies_what_is_handed_over() {
    let folder = std::env::temp_dir().join(format!("tickwire-handed-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a directory");
    let builder = builder(42).store(StoreOptions::below(&folder));
    let one = builder.build().expect("a participant");
    let qos = DataWriterQos::default().reliable(PATIENCE).persistent();
    let writer = writer(&one, qos);
    let let_go = Arc::new(AtomicUsize::new(0));
    let memory = handed(bytes(100_000, 0), &let_go);
    writer.write_handed(&memory, None).expect("room");
    drop(memory);
    assert_eq!(let_go.load(Ordering::Acquire), 1);
    drop((writer, one));
    std::fs::remove_dir_all(folder).expect("it is there");
}

#[test]
fn payloads_that_are_handed_over_have_their_instances_and_are_filtered() {
    let [one, two] = [(); 2].map(|()| builder(43).build().expect("a participant"));
    let ty = DynamicType::described(Note::description().clone());
    let topic = one
        .topic_of::<Serialized>("Notes", ty.clone())
        .expect("one");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let writer = one.writer_with(&topic, qos).expect("a writer");
    let topic = two.topic_of::<Serialized>("Notes", ty).expect("a topic");
    let filtered = topic.filtered("Some", "id > 5", &[]).expect("a filter");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = two.reader_with(&filtered, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    let let_go = Arc::new(AtomicUsize::new(0));
    let text = |id: i32| "a long note ".repeat(8_000 + usize::try_from(id).expect("a few"));
    for id in 0..10_i32 {
        let text = text(id);
        let mut payload = vec![0, 1, 0, 0];
        payload.extend(id.to_le_bytes());
        payload.extend(u32::try_from(text.len() + 1).expect("short").to_le_bytes());
        payload.extend(text.as_bytes());
        payload.push(0);
        let memory = handed(payload, &let_go);
        writer.write_handed(&memory, None, None).expect("room");
    }
    let mut ids = Vec::new();
    while ids.len() < 4 {
        reader.wait_for_data(PATIENCE).expect("some");
        for sample in &reader.take() {
            let payload = sample.data().expect("a value").payload();
            let id = i32::from_le_bytes(payload[4..8].try_into().expect("four"));
            let text = text(id);
            assert!(payload[12..12 + text.len()] == *text.as_bytes());
            let expected = [0, 0, 0, u8::try_from(id).expect("a few")];
            assert_eq!(sample.info().instance.0[..4], expected);
            ids.push(id);
        }
    }
    assert_eq!(ids, [6, 7, 8, 9]);
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("they have come");
    wait_until(|| let_go.load(Ordering::Acquire) == 10);
    // One that is none.
    let memory = handed(vec![7; 70_000], &let_go);
    writer
        .write_handed(&memory, None, None)
        .expect_err("no encapsulation");
    drop(memory);
    assert_eq!(let_go.load(Ordering::Acquire), 11);
}

#[test]
fn memory_that_panics_is_counted_and_everything_goes_on() {
    let [one, two] = [(); 2].map(|()| builder(22).build().expect("a participant"));
    let qos = DataWriterQos::default().reliable(PATIENCE);
    let writer = writer(&one, qos.transient_local().keep_last(1));
    let is_calm = Arc::new(AtomicBool::new(true));
    let let_go = Arc::new(AtomicUsize::new(0));
    let panics = || one.counters().listener_panics;
    let panicky: HandedMemory = Arc::new(Panicky {
        bytes: bytes(100_000, 0),
        is_calm: Arc::clone(&is_calm),
        let_go: Arc::clone(&let_go),
    });
    writer.write_handed(&panicky, None).expect("room");
    drop(panicky);
    assert_eq!(panics(), 0);

    // It is asked for as it is repeated, by a thread of the participant's.
    is_calm.store(false, Ordering::Release);
    let qos = DataReaderQos::default().reliable().transient_local();
    let reader = reader(&two, qos.keep_all());
    wait_until(|| panics() > 0);

    // It is let go of as others replace it.
    for first in 1..3 {
        let memory: HandedMemory = Arc::new(bytes(100_000, first));
        writer.write_handed(&memory, None).expect("room");
        assert!(take(&reader) == bytes(100_000, first));
    }
    wait_until(|| let_go.load(Ordering::Acquire) == 1);
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("they have come");
}
