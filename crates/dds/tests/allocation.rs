//! A warm writer and a warm reader do not allocate, in either way of driving.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tickwire::store::StoreOptions;
use tickwire::{
    BytesInPlace, BytesType, DataReader, DataReaderQos, DataWriter, DataWriterQos,
    DomainParticipant, Driving, Topic, Way,
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

/// The same with a reader that hands out samples, and so waits until there is one more of these.
fn exchange_handed_out<T>(
    writer: &DataWriter<T>,
    reading: &DomainParticipant,
    handed_out: &AtomicU64,
    sample: &T,
) where
    T: tickwire::cdr::Topic + Sync,
{
    let before = handed_out.load(Ordering::Relaxed);
    for number in before + 1..=before + SAMPLES {
        writer.write(sample).expect("room");
        let has_come = || (handed_out.load(Ordering::Relaxed) == number).then_some(());
        let found = reading.wait_for_samples(PATIENCE, has_come);
        assert_eq!(found, Some(()), "the sample");
    }
}

/// Waits until samples go by the log, if they are to.
fn wait_for_way(participant: &DomainParticipant, by_log: bool) {
    let view = participant.discovery();
    let goes = || {
        let pairs = view.pairs();
        let is_by_log = pairs.iter().all(|pair| pair.way == Some(Way::SharedMemory));
        (is_by_log == by_log).then_some(())
    };
    view.wait_for(PATIENCE, goes).expect("the way");
}

/// What discovery does once in a while may allocate; what every sample does may not.
fn assert_warm_exchange_allocates_nothing<T>(
    domain: u32,
    (driving, by_log): (Driving, bool),
    sample: &T,
) where
    T: tickwire::cdr::Topic + Sync,
{
    let participant = || {
        let builder = DomainParticipant::builder(domain).driving(driving);
        let builder = builder.shared_memory(by_log);
        let tag = std::process::id().to_string();
        builder.domain_tag(&tag).build().expect("a participant")
    };
    let one = participant();
    let two = match driving {
        Driving::Threaded | Driving::Cooperative => participant(),
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
    wait_for_way(&one, by_log);
    let assert_allocates_nothing = |exchange: &dyn Fn()| {
        // Until every buffer has been as full as it gets.
        (0..5).for_each(|_| exchange());
        // A thread that is starved once may still find more waiting than ever before. What each sample costs shows
        // every time.
        let counts = (0..10).map(|_| {
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            exchange();
            ALLOCATIONS.load(Ordering::Relaxed) - before
        });
        let allocations = counts.min().unwrap_or(u64::MAX);
        assert!(
            allocations < SAMPLES / 10,
            "{allocations} in {SAMPLES} samples, {driving:?}, by log: {by_log}"
        );
    };
    assert_allocates_nothing(&|| exchange(&writer, &reader, sample));
    let handed_out = Arc::new(AtomicU64::new(0));
    let counts = Arc::clone(&handed_out);
    reader.take_each(move |_| {
        counts.fetch_add(1, Ordering::Relaxed);
    });
    assert_allocates_nothing(&|| exchange_handed_out(&writer, &two, &handed_out, sample));
}

/// Neither do samples of a long burst, which wait for company unless they go by a log.
fn assert_warm_bursts_allocate_nothing<T>(domain: u32, by_log: bool, sample: &T)
where
    T: tickwire::cdr::Topic + Sync,
{
    let participant = || {
        let tag = std::process::id().to_string();
        let builder = DomainParticipant::builder(domain).domain_tag(&tag);
        let builder = builder.shared_memory(by_log);
        builder.build().expect("a participant")
    };
    let (one, two) = (participant(), participant());
    let topic = one.topic::<T>("Samples").expect("a topic");
    let qos = DataWriterQos::default()
        .reliable(PATIENCE)
        .keep_all()
        .max_unacknowledged_bytes(32 << 10);
    let writer = one.writer_with(&topic, qos).expect("a writer");
    let topic = two.topic::<T>("Samples").expect("a topic");
    let qos = DataReaderQos::default().reliable();
    let _reader = two.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    wait_for_way(&one, by_log);
    let burst = || {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..SAMPLES {
            writer.write(sample).expect("room");
        }
        writer.wait_for_acknowledgments(PATIENCE).expect("a reader");
        ALLOCATIONS.load(Ordering::Relaxed) - before
    };
    // Until every buffer has been as full as it gets; then as above.
    for _ in 0..5 {
        burst();
    }
    let allocations = (0..10).map(|_| burst()).min().unwrap_or(u64::MAX);
    assert!(
        allocations < SAMPLES / 10,
        "{allocations} in a burst of {SAMPLES}"
    );
}

/// Neither do loans, read in place or copied, as long as the pool is not used up.
fn assert_warm_loans_allocate_nothing(domain: u32, trusts: bool) {
    let participant = || {
        let tag = std::process::id().to_string();
        let builder = DomainParticipant::builder(domain).domain_tag(&tag);
        let builder = builder.shared_memory(true).trusts_lenders(trusts);
        builder.build().expect("a participant")
    };
    let (one, two) = (participant(), participant());
    let topic = one.topic::<Raw>("Samples").expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let qos = qos.max_loan_bytes(100_000);
    let writer = one.writer_with(&topic, qos).expect("a writer");
    let ty = BytesType::of::<Raw>().expect("bytes");
    let topic = two.topic_of::<BytesInPlace>("Samples", ty).expect("one");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = two.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    wait_for_way(&one, true);
    wait_for_way(&two, true);
    let exchange = || {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for number in 0..SAMPLES {
            let mut loan = writer.loan(100_000).expect("bytes");
            loan.bytes_mut()[..8].copy_from_slice(&number.to_le_bytes());
            assert!(loan.is_lent());
            loan.write().expect("room");
            reader.wait_for_data(PATIENCE).expect("the sample");
            let taken = reader.take();
            let sample = taken.data().next().expect("a value");
            assert_eq!(sample[..8], number.to_le_bytes());
            assert_eq!(sample.is_in_place(), trusts);
        }
        ALLOCATIONS.load(Ordering::Relaxed) - before
    };
    exchange();
    let allocations = (0..10).map(|_| exchange()).min().unwrap_or(u64::MAX);
    assert!(
        allocations < SAMPLES / 10,
        "{allocations} in {SAMPLES} loans, trusted: {trusts}"
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
    for driving in [
        (Driving::Threaded, false),
        (Driving::Threaded, true),
        (Driving::Polled, false),
    ] {
        assert_warm_exchange_allocates_nothing(120, driving, &raw);
        assert_warm_exchange_allocates_nothing(121, driving, &quote);
    }
    assert_warm_bursts_allocate_nothing(123, false, &raw);
    assert_warm_bursts_allocate_nothing(124, true, &raw);
    assert_warm_loans_allocate_nothing(125, true);
    assert_warm_loans_allocate_nothing(126, false);
    assert_warm_durable_writes_allocate_nothing(122, &quote);
}
