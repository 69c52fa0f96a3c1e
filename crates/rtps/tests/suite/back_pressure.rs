//! A KEEP_ALL writer waits for its readers, not longer than there are any, and says what it wants.

use crate::common::{World, assert_samples, keep_all, keep_last, reader_config};
use tickwire_base::{Duration, Instant};
use tickwire_rtps::Change;
use tickwire_rtps::writer::{HistoryKind, ReaderLag, ResourceLimits, WriteError, WriterConfig};
use tickwire_simnet::Link;

const LIMIT: Duration = Duration::from_secs(60);

fn bounded(max_samples: usize) -> WriterConfig {
    WriterConfig {
        limits: ResourceLimits {
            max_samples: Some(max_samples),
            ..ResourceLimits::NONE
        },
        ..keep_all()
    }
}

#[test]
fn a_full_history_refuses_and_an_acknowledgement_frees_it() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(bounded(10));
    let reader = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, false);
    world.run(Duration::from_secs(1));
    for _ in 0..10 {
        world.write(writer, 40).expect("room for ten");
    }
    assert_eq!(world.write(writer, 40), Err(WriteError::WouldBlock));
    assert_eq!(world.last(writer), 10, "a refused change has no number");
    // The refusal itself asked for the acknowledgement: one round trip is enough.
    world.run(Duration::from_micros(110));
    assert_eq!(world.write(writer, 40), Ok(11));
}

#[test]
fn unacknowledged_bytes_are_bounded_but_one_sample_always_passes() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(WriterConfig {
        max_unacknowledged_len: 4096,
        ..keep_all()
    });
    let reader = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, false);
    world.run(Duration::from_secs(1));
    assert_eq!(world.write(writer, 1 << 20), Ok(1));
    assert_eq!(world.write(writer, 40), Err(WriteError::WouldBlock));
    world.settle(LIMIT);
    assert_eq!(world.write(writer, 40), Ok(2));
}

#[test]
fn an_unreachable_reader_holds_writes_up_only_while_it_is_matched() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(bounded(10));
    let reader = world.add_reader(reader_config(), false);
    let gone = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, false);
    world.connect(writer, gone, true, false);
    let node = world.readers[gone].node;
    world.network.silence(node);
    while world.write(writer, 40).is_ok() {}
    world.run(Duration::from_secs(10));
    assert_eq!(world.write(writer, 40), Err(WriteError::WouldBlock));
    assert!(!world.settled());
    let guid = world.readers[gone].reader.guid();
    assert!(world.writers[writer].writer.unmatch_reader(guid));
    assert!(world.settled());
    assert_eq!(world.write(writer, 40), Ok(11));
}

/// When the first reader has each of a hundred samples, of which one is written each millisecond; beside a second one
/// that has stopped, if there is one.
fn deliveries(config: WriterConfig, is_one_stopped: bool) -> (World, Vec<Instant>) {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(config);
    let reader = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, false);
    if is_one_stopped {
        let stopped = world.add_reader(reader_config(), false);
        world.connect(writer, stopped, true, false);
    }
    world.run(Duration::from_secs(1));
    if is_one_stopped {
        let node = world.readers[1].node;
        world.network.silence(node);
    }
    let mut times = Vec::new();
    for _ in 0..100 {
        world.write(writer, 40).expect("room");
        let end = world.now() + Duration::from_millis(1);
        while world.now() < end {
            world.step(end);
            let delivered = world.readers[reader].cache.samples.len();
            times.resize(delivered, world.now());
        }
    }
    (world, times)
}

#[test]
fn a_stopped_reader_delays_no_other_and_its_lag_is_seen() {
    for config in [keep_last(10), keep_all()] {
        let (_, alone) = deliveries(config.clone(), false);
        let (mut world, beside) = deliveries(config.clone(), true);
        assert_eq!(alone.len(), 100);
        assert_eq!(alone, beside);
        // Reminded, who lives acknowledges.
        world.run(Duration::from_secs(1));
        let lag = |reader: usize| {
            let reader = world.readers[reader].reader.guid();
            world.writers[0].writer.lag_of(reader).expect("matched")
        };
        let kept = match config.history {
            HistoryKind::KeepLast(depth) => depth as usize,
            HistoryKind::KeepAll => 100,
        };
        let stopped = ReaderLag {
            behind: 100,
            samples: kept,
            bytes: kept * 40,
        };
        assert_eq!(lag(1), stopped);
        assert_eq!(lag(0), ReaderLag::default());
        let nobody = world.writers[0].writer.guid();
        assert_eq!(world.writers[0].writer.lag_of(nobody), None);
    }
}

#[test]
fn a_full_reader_cache_reaches_back_to_the_writer() {
    for seed in 0..50 {
        let mut world = World::new(seed, Link::lossy(300));
        let writer = world.add_writer(bounded(10));
        let reader = world.add_reader(reader_config(), false);
        world.readers[reader].cache.room = 25;
        world.connect(writer, reader, true, false);
        let mut written = 0;
        for _ in 0..2000 {
            written += i64::from(world.write(writer, 40).is_ok());
            world.run(Duration::from_millis(1));
        }
        assert_eq!(
            written, 35,
            "seed {seed}: the cache and the history are full"
        );
        assert_eq!(world.readers[reader].cache.samples.len(), 25);
        world.make_room(reader, usize::MAX);
        for _ in 0..20 {
            world.write_blocking(writer, 40);
        }
        world.settle(LIMIT);
        assert_samples(&world.readers[reader].cache, 1..=55, |_| 40, seed);
    }
}

#[test]
fn limits_count_instances_and_samples_of_each() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(WriterConfig {
        limits: ResourceLimits {
            max_instances: Some(2),
            max_samples_per_instance: Some(3),
            max_samples: None,
        },
        ..keep_all()
    });
    let reader = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, false);
    let of = |key: u8| Change {
        key_hash: Some([key; 16]),
        ..Change::default()
    };
    for _ in 0..3 {
        assert!(world.write_change(writer, 40, of(1)).is_ok());
    }
    let refused = world.write_change(writer, 40, of(1));
    assert_eq!(refused, Err(WriteError::WouldBlock));
    assert!(world.write_change(writer, 40, of(2)).is_ok());
    let refused = world.write_change(writer, 40, of(3));
    assert_eq!(refused, Err(WriteError::TooManyInstances));
    world.settle(LIMIT);
    assert!(world.write_change(writer, 40, of(3)).is_ok());
}

#[test]
fn a_payload_that_fails_takes_no_number() {
    let mut outbox = tickwire_rtps::Outbox::new();
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(keep_all());
    let now = world.now();
    let failed =
        world.writers[writer]
            .writer
            .write(now, &Change::default(), |_| Err("no"), &mut outbox);
    assert_eq!(failed, Err(WriteError::Payload("no")));
    assert_eq!(world.write(writer, 8), Ok(1));
}
