//! A KEEP_ALL writer waits for its readers, not longer than there are any, and says what it wants.

mod common;

use common::{World, assert_samples, keep_all, reader_config};
use tickwire_base::Duration;
use tickwire_rtps::Change;
use tickwire_rtps::writer::{ResourceLimits, WriteError, WriterConfig};
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
            .write(now, Change::default(), |_| Err("no"), &mut outbox);
    assert_eq!(failed, Err(WriteError::Payload("no")));
    assert_eq!(world.write(writer, 8), Ok(1));
}
