//! What a writer that is its own durability service keeps for readers that come late.

use crate::common::{World, keep_all, keep_last, reader_config};
use tickwire_base::Duration;
use tickwire_rtps::writer::{HistoryKind, ResourceLimits, ServiceHistory, WriterConfig};
use tickwire_rtps::{Change, ChangeKind};
use tickwire_simnet::Link;

const LIMIT: Duration = Duration::from_secs(120);

const KEEP_ALL: ServiceHistory = ServiceHistory {
    history: HistoryKind::KeepAll,
    limits: ResourceLimits::NONE,
    cleanup_delay: Duration::ZERO,
};

fn serving(service: ServiceHistory, config: WriterConfig) -> WriterConfig {
    WriterConfig {
        transient_local: true,
        service: Some(service),
        ..config
    }
}

fn at_most(max_samples: usize) -> ResourceLimits {
    ResourceLimits {
        max_samples: Some(max_samples),
        ..ResourceLimits::NONE
    }
}

fn write(world: &mut World, writer: usize, key: u8, kind: ChangeKind) {
    let change = Change {
        kind,
        key_hash: Some([key; 16]),
        ..Change::default()
    };
    let written = world.write_change(writer, 40, change);
    written.expect("it does not block");
}

fn write_to(world: &mut World, writer: usize, keys: impl IntoIterator<Item = u8>) {
    for key in keys {
        write(world, writer, key, ChangeKind::Alive);
    }
}

fn history_len(world: &World, writer: usize) -> usize {
    world.writers[writer].writer.history_len()
}

/// The numbers that a reader that comes now is given.
fn late(world: &mut World, writer: usize) -> Vec<i64> {
    let reader = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, true);
    world.settle(LIMIT);
    world.readers[reader].cache.numbers()
}

#[test]
fn what_everybody_has_is_bounded_by_the_service_alone() {
    for config in [keep_all(), keep_last(1), keep_last(9)] {
        let mut world = World::new(1, Link::PERFECT);
        let all = ServiceHistory {
            limits: at_most(100),
            ..KEEP_ALL
        };
        let writer = world.add_writer(serving(all, config.clone()));
        write_to(&mut world, writer, (0..250).map(|i| i % 7));
        assert_eq!(history_len(&world, writer), 100);
        assert_eq!(late(&mut world, writer), (151..=250).collect::<Vec<_>>());

        let two = ServiceHistory {
            history: HistoryKind::KeepLast(2),
            ..KEEP_ALL
        };
        let writer = world.add_writer(serving(two, config));
        write_to(&mut world, writer, [1, 2, 1, 3, 1, 1, 2]);
        assert_eq!(late(&mut world, writer), [2, 4, 5, 6, 7]);
    }
}

#[test]
fn what_somebody_lacks_stays_however_little_the_service_keeps() {
    let mut world = World::new(1, Link::PERFECT);
    let least = ServiceHistory {
        history: HistoryKind::KeepLast(1),
        limits: ResourceLimits {
            max_samples: Some(1),
            max_instances: Some(1),
            max_samples_per_instance: Some(1),
        },
        ..KEEP_ALL
    };
    let writer = world.add_writer(serving(least, keep_all()));
    let reader = world.add_reader(reader_config(), false);
    world.tell_writer(writer, reader, true, true);
    write_to(&mut world, writer, (0..60).map(|i| i % 3));
    assert_eq!(history_len(&world, writer), 60);
    world.tell_reader(writer, reader, true);
    world.settle(LIMIT);
    let numbers = world.readers[reader].cache.numbers();
    assert_eq!(numbers, (1..=60).collect::<Vec<_>>());
    assert_eq!(late(&mut world, writer), [60]);
    assert_eq!(history_len(&world, writer), 1);
}

#[test]
fn what_is_kept_for_others_does_not_hold_up_a_keep_last_writer() {
    let mut world = World::new(1, Link::PERFECT);
    let ten = ServiceHistory {
        history: HistoryKind::KeepLast(10),
        ..KEEP_ALL
    };
    let config = WriterConfig {
        limits: at_most(60),
        ..keep_last(1)
    };
    let writer = world.add_writer(serving(ten, config));
    let stalled = world.add_reader(reader_config(), false);
    world.tell_writer(writer, stalled, true, true);
    for _ in 0..20 {
        write_to(&mut world, writer, 0..50);
    }
    assert_eq!(history_len(&world, writer), 500);
    let refused = |world: &mut World, key: u8| {
        let change = Change {
            key_hash: Some([key; 16]),
            ..Change::default()
        };
        world.write_change(writer, 40, change).is_err()
    };
    write_to(&mut world, writer, 50..60);
    assert!(refused(&mut world, 60), "HISTORY itself may hold no more");
    assert!(!refused(&mut world, 0), "it replaces one of its own");
}

#[test]
fn the_instances_written_last_stay() {
    let mut world = World::new(1, Link::PERFECT);
    let three = ServiceHistory {
        limits: ResourceLimits {
            max_instances: Some(3),
            ..ResourceLimits::NONE
        },
        ..KEEP_ALL
    };
    for config in [keep_all(), keep_last(1)] {
        let writer = world.add_writer(serving(three, config));
        write_to(&mut world, writer, [1, 2, 3, 4, 2, 5, 4]);
        assert_eq!(late(&mut world, writer), [2, 4, 5, 6, 7]);
    }
}

#[test]
fn an_instance_goes_when_it_is_disposed_and_unregistered_for_the_delay() {
    let delay = Duration::from_secs(5);
    let delayed = ServiceHistory {
        cleanup_delay: delay,
        ..KEEP_ALL
    };
    use ChangeKind::{Alive, Disposed, DisposedUnregistered, Unregistered};
    for config in [keep_all(), keep_last(1)] {
        for (service, kept) in [(KEEP_ALL, vec![1, 2]), (delayed, vec![1, 2, 3, 4, 5, 6])] {
            let mut world = World::new(1, Link::PERFECT);
            let writer = world.add_writer(serving(service, config.clone()));
            write(&mut world, writer, 1, Alive);
            write(&mut world, writer, 1, Unregistered);
            write(&mut world, writer, 2, Alive);
            write(&mut world, writer, 2, DisposedUnregistered);
            write(&mut world, writer, 3, Disposed);
            write(&mut world, writer, 3, Unregistered);
            assert_eq!(late(&mut world, writer), kept);
            world.run(delay);
            assert_eq!(history_len(&world, writer), 2);
            // An instance that is written to again begins anew.
            write(&mut world, writer, 4, DisposedUnregistered);
            write(&mut world, writer, 4, Alive);
            world.settle(LIMIT);
            world.run(delay);
            assert_eq!(history_len(&world, writer), 4);
        }
    }
}

#[test]
fn an_end_that_somebody_has_yet_to_hear_of_stays_beyond_the_delay() {
    let mut world = World::new(1, Link::PERFECT);
    let delayed = ServiceHistory {
        cleanup_delay: Duration::from_secs(1),
        ..KEEP_ALL
    };
    let writer = world.add_writer(serving(delayed, keep_all()));
    let reader = world.add_reader(reader_config(), false);
    world.tell_writer(writer, reader, true, true);
    write(&mut world, writer, 1, ChangeKind::DisposedUnregistered);
    world.run(Duration::from_secs(2));
    assert_eq!(history_len(&world, writer), 1);
    world.tell_reader(writer, reader, true);
    world.settle(LIMIT);
    assert_eq!(history_len(&world, writer), 0);
}

#[test]
fn instances_that_everybody_knows_do_not_hold_up_a_writer() {
    let limits = ResourceLimits {
        max_instances: Some(2),
        ..ResourceLimits::NONE
    };
    for config in [keep_all(), keep_last(1), keep_last(3)] {
        let mut world = World::new(1, Link::PERFECT);
        let writer = world.add_writer(serving(KEEP_ALL, WriterConfig { limits, ..config }));
        for key in 0..10 {
            write(&mut world, writer, key, ChangeKind::Alive);
            write(&mut world, writer, key, ChangeKind::Unregistered);
        }
        let stalled = world.add_reader(reader_config(), false);
        world.tell_writer(writer, stalled, true, true);
        write_to(&mut world, writer, [10, 11, 11, 10]);
        let change = Change {
            key_hash: Some([12; 16]),
            ..Change::default()
        };
        assert!(world.write_change(writer, 40, change).is_err());
        world.tell_reader(writer, stalled, true);
        world.settle(LIMIT);
        write_to(&mut world, writer, [12, 13]);
        assert_eq!(history_len(&world, writer), 26);
    }
}

/// Each write looks at no more than the one before, or this takes minutes.
#[test]
fn a_write_costs_no_more_where_somebody_lags() {
    const COUNT: u32 = 60_000;
    let limits = ResourceLimits {
        max_samples_per_instance: Some(COUNT as usize),
        ..ResourceLimits::NONE
    };
    for config in [keep_all(), keep_last(COUNT / 2)] {
        let mut world = World::new(1, Link::PERFECT);
        let config = WriterConfig {
            limits,
            max_unacknowledged_len: usize::MAX,
            ..config
        };
        let writer = world.add_writer(serving(KEEP_ALL, config));
        let stalled = world.add_reader(reader_config(), false);
        world.tell_writer(writer, stalled, true, true);
        write_to(&mut world, writer, (0..COUNT).map(|_| 1));
        assert_eq!(history_len(&world, writer), COUNT as usize);
    }
}
