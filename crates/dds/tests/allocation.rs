//! A warm writer and a warm reader do not allocate, in either way of driving.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tickwire::store::StoreOptions;
use tickwire::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, Driving, Topic,
};

/// Counts the allocations of all threads.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

#[allow(unsafe_code)]
// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const PATIENCE: Duration = Duration::from_secs(20);
const SAMPLES: u64 = 2_000;

#[derive(Topic)]
struct Quote {
    #[topic(key)]
    symbol: String,
    levels: Vec<i64>,
}

#[derive(Topic)]
#[topic(final)]
struct Raw {
    bytes: Vec<u8>,
}

/// Writes `samples` times and takes each sample before the next one.
fn exchange<T>(writer: &DataWriter<T>, reader: &DataReader<T>, sample: &T)
where
    T: tickwire::cdr::Topic + Sync,
{
    for _ in 0..SAMPLES {
        writer.write(sample).expect("room");
        reader.wait_for_data(PATIENCE).expect("the sample");
        assert_eq!(reader.take().data().count(), 1);
    }
}

/// What discovery does once in a while may allocate; what every sample does may not.
fn assert_warm_exchange_allocates_nothing<T>(domain: u32, driving: Driving, sample: &T)
where
    T: tickwire::cdr::Topic + Sync,
{
    let participant = || {
        let builder = DomainParticipant::builder(domain).driving(driving);
        let tag = std::process::id().to_string();
        builder.domain_tag(&tag).build().expect("a participant")
    };
    let one = participant();
    let two = match driving {
        Driving::Threaded => participant(),
        // Waiting drives one participant.
        Driving::Polled => one.clone(),
    };
    let topic = one.topic::<T>("Samples").expect("a topic");
    // The history grows with what is not acknowledged, so a starved thread may find it longer than
    // it was in the warm-up. A small bound keeps that far below one allocation a sample.
    let qos = DataWriterQos::default()
        .reliable(PATIENCE)
        .keep_all()
        .max_unacknowledged_bytes(32 << 10);
    let writer = one.writer_with(&topic, qos).expect("a writer");
    let topic = two.topic::<T>("Samples").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = two.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    // Until every buffer has been as full as it gets.
    for _ in 0..5 {
        exchange(&writer, &reader, sample);
    }
    // A thread that is starved once may still find more waiting than ever before. What each sample costs shows
    // every time.
    let counts = (0..10).map(|_| {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        exchange(&writer, &reader, sample);
        ALLOCATIONS.load(Ordering::Relaxed) - before
    });
    let allocations = counts.min().unwrap_or(u64::MAX);
    assert!(
        allocations < SAMPLES / 10,
        "{allocations} in {SAMPLES} samples, {driving:?}"
    );
}

/// Neither does a durable writer, whose samples go to its log as well.
fn assert_warm_durable_writes_allocate_nothing<T>(domain: u32, sample: &T)
where
    T: tickwire::cdr::Topic + Sync,
{
    let tag = std::process::id().to_string();
    let directory = std::env::temp_dir().join(format!("tickwire-allocation-{tag}"));
    let participant = DomainParticipant::builder(domain)
        .domain_tag(&tag)
        .driving(Driving::Polled)
        .store(StoreOptions::below(&directory))
        .build()
        .expect("a participant");
    let topic = participant.topic::<T>("Samples").expect("a topic");
    let qos = DataWriterQos::default().transient();
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    let write = || {
        for _ in 0..SAMPLES {
            writer.write(sample).expect("room");
        }
    };
    write();
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    write();
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    std::fs::remove_dir_all(&directory).expect("a store");
    assert_eq!(allocations, 0);
}

/// One test, as the count is of the whole process.
#[test]
fn a_warm_exchange_allocates_nothing() {
    let quote = Quote {
        symbol: "EURUSD".to_owned(),
        levels: vec![1; 20],
    };
    let raw = Raw {
        bytes: vec![7; 1000],
    };
    for driving in [Driving::Threaded, Driving::Polled] {
        assert_warm_exchange_allocates_nothing(120, driving, &raw);
        assert_warm_exchange_allocates_nothing(121, driving, &quote);
    }
    assert_warm_durable_writes_allocate_nothing(122, &quote);
}
