//! What TRANSIENT and PERSISTENT writers leave behind, however they end.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tickwire::error::{EndpointError, ServeLogError, StoreError};
use tickwire::qos::{DurabilityService, History, LivelinessKind, ResourceLimits};
use tickwire::store::{Store, StoreOptions, SyncPolicy};
use tickwire::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, InstanceState,
    PublisherQos, Topic,
};

/// Long enough that only a fault reaches it.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Quote")]
struct Quote {
    #[topic(key)]
    symbol: String,
    price: i64,
}

fn quote(symbol: &str, price: i64) -> Quote {
    Quote {
        symbol: symbol.to_owned(),
        price,
    }
}

/// A store that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tickwire-dds-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("a directory");
        Self(path)
    }

    fn participant(&self, domain: u32) -> DomainParticipant {
        participant(domain, StoreOptions::below(&self.0))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn participant(domain: u32, store: StoreOptions) -> DomainParticipant {
    DomainParticipant::builder(domain)
        .domain_tag(&std::process::id().to_string())
        .store(store)
        .build()
        .expect("a participant")
}

fn keeps(history: History) -> DataWriterQos {
    let service = DurabilityService {
        history,
        ..DurabilityService::default()
    };
    let qos = DataWriterQos::default().keep_all().transient();
    qos.durability_service(service)
}

fn topic(participant: &DomainParticipant) -> Topic<Quote> {
    participant.topic::<Quote>("Quotes").expect("a topic")
}

fn writer(participant: &DomainParticipant, qos: DataWriterQos) -> DataWriter<Quote> {
    let topic = topic(participant);
    participant.writer_with(&topic, qos).expect("a writer")
}

fn reader(participant: &DomainParticipant) -> DataReader<Quote> {
    let qos = DataReaderQos::default().reliable().keep_all().transient();
    let topic = topic(participant);
    participant.reader_with(&topic, qos).expect("a reader")
}

/// What a reader that comes now is given.
fn late(participant: &DomainParticipant) -> Vec<Quote> {
    let reader = reader(participant);
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    let history = reader.wait_for_historical_data(PATIENCE);
    history.expect("historical data");
    reader.take().data().cloned().collect()
}

#[test]
fn a_writers_samples_outlive_it_with_their_timestamps() {
    let scratch = Scratch::new();
    let participant = scratch.participant(140);
    let first = writer(&participant, keeps(History::KeepAll));
    let stamp = tickwire_base::Timestamp::from_nanos(1_700_000_000_123_456_789);
    for price in 1..=3 {
        let sample = quote("A", price);
        first.write_with_timestamp(&sample, stamp).expect("written");
    }
    let counters = first.log_counters().expect("a log");
    assert_eq!((counters.appended, counters.cut_off_bytes), (3, 0));
    drop(first);

    let second = writer(&participant, keeps(History::KeepAll));
    second.write(&quote("A", 4)).expect("written");
    let reader = reader(&participant);
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    let history = reader.wait_for_historical_data(PATIENCE);
    history.expect("historical data");
    let samples = reader.take();
    let prices: Vec<_> = samples.data().map(|quote| quote.price).collect();
    assert_eq!(prices, [1, 2, 3, 4]);
    let info = samples[2].info();
    assert_eq!(info.source_timestamp, Some(stamp));
    assert_eq!(info.writer, second.guid());
}

#[test]
fn a_reader_that_had_them_does_not_get_them_twice() {
    let scratch = Scratch::new();
    let participant = scratch.participant(141);
    let reader = reader(&participant);
    let mut prices = Vec::new();
    for incarnation in 0..4 {
        let writer = writer(&participant, keeps(History::KeepAll));
        writer.wait_for_matched(1, PATIENCE).expect("a match");
        for price in [incarnation * 2, incarnation * 2 + 1] {
            writer.write(&quote("A", price)).expect("written");
        }
        let acknowledged = writer.wait_for_acknowledgments(PATIENCE);
        acknowledged.expect("all acknowledged");
        prices.extend(reader.take().data().map(|quote| quote.price));
    }
    assert_eq!(prices, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(reader.counters().known, 2 + 4 + 6);
}

#[test]
fn a_successor_is_a_writer_of_the_instances_that_it_takes_over() {
    let scratch = Scratch::new();
    let participant = scratch.participant(148);
    let reader = reader(&participant);
    let state_of_a = || {
        let samples = reader.read();
        let of_a =
            |sample: &tickwire::Sample<Quote>| sample.data().is_some_and(|q| q.symbol == "A");
        let found = samples.iter().find(|sample| of_a(sample));
        found.map(|sample| sample.info().instance_state)
    };
    let write = |symbols: &[&str]| {
        let writer = writer(&participant, keeps(History::KeepAll));
        writer.wait_for_matched(1, PATIENCE).expect("a match");
        for symbol in symbols {
            writer.write(&quote(symbol, 1)).expect("written");
        }
        let acknowledged = writer.wait_for_acknowledgments(PATIENCE);
        acknowledged.expect("all acknowledged");
        writer
    };
    let first = write(&["A", "B", "C"]);
    first.unregister(&quote("B", 0)).expect("written");
    first.dispose(&quote("C", 0)).expect("written");
    drop(first);
    let gone = participant.discovery().wait_for(PATIENCE, || {
        (state_of_a() == Some(InstanceState::NoWriters)).then_some(())
    });
    gone.expect("no writers");
    let successor = write(&["D"]);
    assert_eq!(state_of_a(), Some(InstanceState::Alive));
    let samples = reader.read();
    let states = samples.iter().filter_map(|sample| {
        let symbol = &sample.data()?.symbol;
        Some((symbol.as_str(), sample.info().instance_state))
    });
    let states: Vec<_> = states.collect();
    assert_eq!(
        states,
        [
            ("A", InstanceState::Alive),
            ("B", InstanceState::Disposed),
            ("C", InstanceState::Disposed),
            ("D", InstanceState::Alive),
        ]
    );
    drop(successor);
}

#[test]
fn a_service_gives_what_a_writer_left_and_lets_its_successor_have_it() {
    let scratch = Scratch::new();
    let participant = scratch.participant(149);
    let live = reader(&participant);
    let stamp = tickwire_base::Timestamp::from_nanos(1_700_000_000_123_456_789);
    let publisher = participant.publisher(PublisherQos::default());
    let topic = topic(&participant);
    let first = publisher
        .writer(&topic, keeps(History::KeepAll))
        .expect("a writer");
    for price in 1..=3 {
        let sample = quote("A", price);
        first.write_with_timestamp(&sample, stamp).expect("written");
    }
    let log = only_log(&scratch.0);
    let log = log.parent().expect("its directory");
    let error = participant.serve_log(log).expect_err("a writer has it");
    assert!(matches!(
        error,
        ServeLogError::Store(StoreError::Taken { .. })
    ));
    drop(first);
    let elsewhere = scratch.participant(150).serve_log(log);
    let error = elsewhere.expect_err("another domain");
    assert!(matches!(
        error,
        ServeLogError::OtherDomain { domain: 149, .. }
    ));

    let service = participant.serve_log(log).expect("nobody has it");
    assert_eq!(service.counters().restored, 3);
    assert_eq!(service.description().key.topic, "Quotes");
    let reader = reader(&scratch.participant(149));
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    let history = reader.wait_for_historical_data(PATIENCE);
    history.expect("historical data");
    let samples = reader.take();
    let prices: Vec<_> = samples.data().map(|quote| quote.price).collect();
    assert_eq!(prices, [1, 2, 3]);
    assert_eq!(samples[0].info().source_timestamp, Some(stamp));
    assert_eq!(samples[0].info().writer, service.guid());
    let type_of = participant.discovery().type_of(service.guid(), PATIENCE);
    assert_eq!(type_of.expect("described").members.len(), 2);

    let second = std::thread::scope(|scope| {
        let second = scope.spawn(|| writer(&participant, keeps(History::KeepAll)));
        while !service.is_wanted() {
            std::thread::yield_now();
        }
        drop(service);
        second.join().expect("no panic")
    });
    assert_eq!(second.counters().restored, 3);
    second.write(&quote("A", 4)).expect("written");
    let acknowledged = second.wait_for_acknowledgments(PATIENCE);
    acknowledged.expect("all acknowledged");
    let prices = |reader: &DataReader<Quote>| -> Vec<_> {
        reader.take().data().map(|quote| quote.price).collect()
    };
    assert_eq!(prices(&live), [1, 2, 3, 4]);
    reader.wait_for_data(PATIENCE).expect("the live sample");
    assert_eq!(prices(&reader), [4]);
}

/// A late reader's history while its writer lives is what a successor would give.
#[test]
fn a_writer_keeps_what_its_log_keeps() {
    let scratch = Scratch::new();
    let participant = scratch.participant(154);
    let service = DurabilityService {
        history: History::KeepAll,
        resource_limits: ResourceLimits {
            max_samples: Some(5),
            ..ResourceLimits::default()
        },
        ..DurabilityService::default()
    };
    let qos = || {
        let qos = DataWriterQos::default().transient();
        qos.durability_service(service)
    };
    let first = writer(&participant, qos());
    for price in 1..=20 {
        first.write(&quote("A", price)).expect("written");
    }
    let kept: Vec<_> = (16..=20).map(|price| quote("A", price)).collect();
    assert_eq!(late(&participant), kept);
    drop(first);
    let second = writer(&participant, qos());
    assert_eq!(late(&participant), kept);
    drop(second);
}

#[test]
fn a_service_stands_behind_writers_that_live() {
    let scratch = Scratch::new();
    let participant = scratch.participant(155);
    let qos = |strength| {
        let qos = keeps(History::KeepAll).exclusive(strength);
        qos.liveliness(LivelinessKind::ManualByTopic, PATIENCE)
    };
    let primary = writer(&participant, qos(20));
    let standby = writer(&participant, qos(10));
    primary.write(&quote("A", 1)).expect("written");
    drop(primary);
    let logs = Store::logs(&scratch.0.join("transient")).expect("a store");
    let service = participant.serve_log(&logs[0]).expect("nobody has it");
    let peer = scratch.participant(155);
    let view = peer.discovery();
    let announced = view.wait_for(PATIENCE, || {
        let writers = view.publications();
        writers.into_iter().find(|data| data.guid == service.guid())
    });
    let offered = &announced.expect("it is announced").qos;
    assert_eq!(offered.liveliness.kind, LivelinessKind::Automatic);
    assert_eq!(offered.liveliness.lease_duration, PATIENCE);

    let qos = DataReaderQos::default().reliable().keep_all().transient();
    let reader = peer.reader_with(&topic(&peer), qos.exclusive());
    let reader = reader.expect("a reader");
    reader.wait_for_matched(2, PATIENCE).expect("two matches");
    let history = reader.wait_for_historical_data(PATIENCE);
    history.expect("historical data");
    standby.write(&quote("A", 2)).expect("written");
    let acknowledged = standby.wait_for_acknowledgments(PATIENCE);
    acknowledged.expect("all acknowledged");
    let prices: Vec<_> = reader.take().data().map(|quote| quote.price).collect();
    assert_eq!(prices, [1, 2]);
}

/// Only writers need a store, which a service has elsewhere.
#[test]
fn a_service_without_a_store_keeps_what_durability_service_says() {
    let scratch = Scratch::new();
    let kept = DurabilityService {
        history: History::KeepAll,
        ..DurabilityService::default()
    };
    let qos = DataWriterQos::default().transient();
    let first = writer(&scratch.participant(156), qos.durability_service(kept));
    let prices = (1..=3).map(|price| quote("A", price));
    let prices: Vec<_> = prices.collect();
    for price in &prices {
        first.write(price).expect("written");
    }
    drop(first);
    let log = only_log(&scratch.0);
    let tag = std::process::id().to_string();
    let participant = DomainParticipant::builder(156).domain_tag(&tag);
    let participant = participant.store(None).build().expect("a participant");
    let service = participant.serve_log(log.parent().expect("its directory"));
    let service = service.expect("nobody has it");
    assert_eq!(late(&participant), prices);
    drop(service);
}

#[test]
fn what_is_kept_is_what_durability_service_says() {
    let scratch = Scratch::new();
    let participant = scratch.participant(142);
    let first = writer(&participant, keeps(History::KeepLast(2)));
    for price in 1..=4 {
        first.write(&quote("A", price)).expect("written");
        first.write(&quote("B", price)).expect("written");
    }
    first.write(&quote("gone", 1)).expect("written");
    first.unregister(&quote("gone", 0)).expect("written");
    first.dispose(&quote("B", 0)).expect("written");
    drop(first);
    let second = writer(&participant, keeps(History::KeepLast(2)));
    let reader = reader(&participant);
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    let history = reader.wait_for_historical_data(PATIENCE);
    history.expect("historical data");
    let samples = reader.take();
    let of = |symbol: &str| {
        let data = samples.data();
        let of = data.filter(|quote| quote.symbol == symbol);
        of.map(|quote| quote.price).collect::<Vec<_>>()
    };
    assert_eq!(
        (of("A"), of("B"), of("gone")),
        (vec![3, 4], vec![4], vec![])
    );
    assert_eq!(second.counters().restored, 4);
}

#[test]
fn logs_are_told_apart_by_partition_type_and_durability() {
    let scratch = Scratch::new();
    let participant = scratch.participant(143);
    let service = DurabilityService::default();
    let topic = topic(&participant);
    let publisher = participant.publisher(PublisherQos::default().partition(["X"]));
    let qos = || {
        let qos = DataWriterQos::default().transient();
        qos.durability_service(service)
    };
    let in_x = publisher.writer(&topic, qos()).expect("a writer");
    in_x.write(&quote("A", 1)).expect("written");
    drop(in_x);
    let elsewhere = writer(&participant, qos());
    assert_eq!(elsewhere.counters().restored, 0);
    let persistent = writer(&participant, qos().persistent());
    assert_eq!(persistent.counters().restored, 0);
    let again = publisher.writer(&topic, qos()).expect("a writer");
    assert_eq!(again.counters().restored, 1);
    assert_eq!(late(&participant), []);
}

#[test]
fn persistent_samples_reach_the_disk_within_the_interval() {
    let scratch = Scratch::new();
    let interval = Duration::from_millis(1);
    let participant = participant(
        144,
        StoreOptions {
            sync: SyncPolicy::Interval(interval),
            ..StoreOptions::below(&scratch.0)
        },
    );
    let qos = DataWriterQos::default().persistent();
    let writer = writer(&participant, qos);
    for price in 0..100 {
        writer.write(&quote("A", price)).expect("written");
    }
    let counters = || writer.log_counters().expect("a log");
    let view = participant.discovery();
    let synced = view.wait_for(PATIENCE, || {
        // Discovery has no news to wake up for; a write has.
        writer.assert_liveliness();
        (counters().syncs > 0).then_some(())
    });
    synced.expect("a sync");
    assert_eq!(counters().appended, 100);
}

#[test]
fn a_store_that_cannot_be_is_an_error_that_names_it() {
    let scratch = Scratch::new();
    let file = scratch.0.join("file");
    fs::write(&file, "").expect("a file");
    let create = |store: StoreOptions| {
        let participant = participant(145, store);
        let topic = topic(&participant);
        let qos = DataWriterQos::default().transient();
        let error = participant.writer_with(&topic, qos).expect_err("no store");
        assert!(matches!(error, EndpointError::Store(_)), "{error:?}");
        error.to_string()
    };
    let error = create(StoreOptions::below(&file));
    assert!(error.contains(file.to_str().expect("UTF-8")), "{error}");
    assert!(error.contains("TICKWIRE_STORE"), "{error}");
    let nowhere = StoreOptions {
        transient: None,
        ..StoreOptions::below(&file)
    };
    assert_eq!(create(nowhere), StoreError::NoPlace.to_string());
}

#[test]
fn a_damaged_log_is_left_as_it_is_and_a_torn_one_is_mended() {
    let scratch = Scratch::new();
    let participant = scratch.participant(146);
    let first = writer(&participant, keeps(History::KeepAll));
    for price in 1..=3 {
        first.write(&quote("A", price)).expect("written");
    }
    drop(first);
    let log = only_log(&scratch.0);
    let whole = fs::read(&log).expect("a log");
    fs::write(&log, &whole[..whole.len() - 5]).expect("written");
    let second = writer(&participant, keeps(History::KeepAll));
    assert_eq!(second.counters().restored, 2);
    let counters = second.log_counters().expect("a log");
    assert!(counters.cut_off_bytes > 0);
    drop(second);
    fs::write(&log, &whole[1..]).expect("written");
    let third = writer(&participant, keeps(History::KeepAll));
    assert_eq!(third.counters().restored, 0);
    let counters = third.log_counters().expect("a log of its own");
    assert_eq!(counters.logs_passed_over, 1);
    third.write(&quote("A", 4)).expect("written");
    drop(third);
    assert_eq!(fs::read(&log).expect("the damaged one"), whole[1..]);
}

fn only_log(store: &Path) -> PathBuf {
    let logs = Store::logs(&store.join("transient")).expect("a store");
    assert_eq!(logs.len(), 1);
    logs[0].join("log")
}
