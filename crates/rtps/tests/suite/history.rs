//! Who joins late gets what the writer's history owes them, and who restarts is understood.

use crate::common::{World, assert_samples, keep_all, keep_last, reader_config};
use tickwire_base::Duration;
use tickwire_rtps::writer::{HistoryKind, ResourceLimits, WriterConfig};
use tickwire_rtps::{Change, ChangeKind};
use tickwire_simnet::Link;

const LIMIT: Duration = Duration::from_secs(120);

fn transient_local(history: HistoryKind) -> WriterConfig {
    WriterConfig {
        transient_local: true,
        history,
        ..keep_all()
    }
}

#[test]
fn a_transient_local_late_joiner_gets_the_history_before_live_samples() {
    for seed in 0..100 {
        let mut world = World::new(seed, Link::lossy(300));
        let writer = world.add_writer(transient_local(HistoryKind::KeepAll));
        for _ in 0..700 {
            world.write_blocking(writer, 40);
        }
        let reader = world.add_reader(reader_config(), false);
        world.connect(writer, reader, true, true);
        for _ in 0..50 {
            world.write_blocking(writer, 40);
            world.run(Duration::from_micros(200));
        }
        world.settle(LIMIT);
        assert_samples(&world.readers[reader].cache, 1..=750, |_| 40, seed);
    }
}

#[test]
fn history_is_as_deep_as_asked_for_each_instance() {
    let mut world = World::new(1, Link::lossy(300));
    let writer = world.add_writer(transient_local(HistoryKind::KeepLast(2)));
    for i in 0..300 {
        // Instance 9 is written once, at the very beginning.
        let key = if i == 0 { 9 } else { u8::from(i % 2 == 0) };
        let change = Change {
            key_hash: Some([key; 16]),
            ..Change::default()
        };
        world
            .write_change(writer, 40, change)
            .expect("never blocks");
    }
    let reader = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, true);
    world.settle(LIMIT);
    let cache = &world.readers[reader].cache;
    assert_eq!(cache.numbers(), [1, 297, 298, 299, 300]);
    assert_eq!(cache.samples[0].key_hash, Some([9; 16]));
    assert_eq!(cache.lost, 0, "what was replaced is not lost");
    let gaps = world.writers[writer].writer.counters().gaps;
    assert!(gaps <= 4, "a GAP covers a whole range: {gaps}");
}

#[test]
fn a_sparse_history_comes_though_more_is_written_meanwhile_than_can_wait_for_it() {
    let link = Link {
        delay: Duration::from_millis(20),
        ..Link::PERFECT
    };
    let mut world = World::new(1, link);
    let writer = world.add_writer(transient_local(HistoryKind::KeepLast(1)));
    let write = |world: &mut World, key: u16| {
        let mut change = Change::default();
        let mut hash = [0; 16];
        hash[..2].copy_from_slice(&key.to_be_bytes());
        change.key_hash = Some(hash);
        world.write_change(writer, 8, change).expect("room");
    };
    // Of every second instance there is something newer.
    for half in [1_u16, 2] {
        (0..3_000)
            .step_by(half.into())
            .for_each(|key| write(&mut world, key));
    }
    let reader = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, true);
    for _ in 0..8_000 {
        write(&mut world, 9_999);
        world.run(Duration::from_micros(50));
    }
    world.settle(LIMIT);
    let counters = world.readers[reader].reader.counters();
    assert!(counters.dropped > 0, "so many waited that no more could");
    assert_eq!(counters.lost, 0);
    let numbers = world.readers[reader].cache.numbers();
    let history = (2..=3_000).step_by(2).chain(3_001..=4_500);
    assert!(numbers[..3_000].iter().copied().eq(history));
    assert_eq!(numbers.last(), Some(&12_500));
}

#[test]
fn a_volatile_late_joiner_begins_after_its_match() {
    for seed in 0..100 {
        let mut world = World::new(seed, Link::lossy(300));
        let writer = world.add_writer(transient_local(HistoryKind::KeepAll));
        for _ in 0..20 {
            world.write_blocking(writer, 40);
        }
        let reader = world.add_reader(reader_config(), false);
        world.connect(writer, reader, true, false);
        for _ in 0..20 {
            world.write_blocking(writer, 40);
            world.run(Duration::from_micros(50));
        }
        world.settle(LIMIT);
        assert_samples(&world.readers[reader].cache, 21..=40, |_| 40, seed);
        assert_eq!(world.readers[reader].cache.lost, 0, "seed {seed}");
    }
}

#[test]
fn a_reader_that_knows_the_writer_later_misses_nothing_since_the_match() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(keep_all());
    let reader = world.add_reader(reader_config(), false);
    world.tell_writer(writer, reader, true, false);
    for _ in 0..10 {
        world.write_blocking(writer, 40);
    }
    world.run(Duration::from_millis(500));
    assert_eq!(world.readers[reader].cache.numbers(), []);
    world.tell_reader(writer, reader, true);
    world.settle(LIMIT);
    assert_samples(&world.readers[reader].cache, 1..=10, |_| 40, 1);
}

#[test]
fn what_comes_before_the_first_heartbeat_is_kept() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(keep_all());
    for _ in 0..2 {
        let other = world.add_reader(reader_config(), true);
        world.connect(writer, other, true, false);
    }
    for _ in 0..5 {
        world.write_blocking(writer, 40);
    }
    world.settle(LIMIT);
    // The new reader knows the writer and hears the group before the writer knows it.
    let reader = world.add_reader(reader_config(), true);
    world.tell_reader(writer, reader, true);
    for _ in 0..3 {
        world.write_blocking(writer, 40);
    }
    world.run(Duration::from_millis(1));
    assert_eq!(world.readers[reader].cache.numbers(), []);
    world.tell_writer(writer, reader, true, false);
    for _ in 0..2 {
        world.write_blocking(writer, 40);
    }
    world.settle(LIMIT);
    assert_samples(&world.readers[reader].cache, 6..=10, |_| 40, 1);
}

#[test]
fn disposed_and_unregistered_changes_arrive_as_such() {
    let mut world = World::new(1, Link::lossy(300));
    let writer = world.add_writer(transient_local(HistoryKind::KeepLast(1)));
    let reader = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, true);
    let kinds = [
        ChangeKind::Alive,
        ChangeKind::Disposed,
        ChangeKind::Alive,
        ChangeKind::DisposedUnregistered,
    ];
    for kind in kinds {
        let change = Change {
            kind,
            key_hash: Some([3; 16]),
            ..Change::default()
        };
        world
            .write_change(writer, 16, change)
            .expect("never blocks");
        world.settle(LIMIT);
    }
    let samples = &world.readers[reader].cache.samples;
    let seen: Vec<_> = samples.iter().map(|sample| sample.kind).collect();
    assert_eq!(seen, kinds);
    assert!(
        samples
            .iter()
            .all(|sample| sample.key_hash == Some([3; 16]))
    );
    // Nobody will ask for an instance that was taken leave of.
    assert_eq!(world.writers[writer].writer.history_len(), 0);
}

#[test]
fn a_reader_that_restarts_under_its_name_is_served_again() {
    for seed in 0..20 {
        let mut world = World::new(seed, Link::lossy(100));
        let writer = world.add_writer(transient_local(HistoryKind::KeepAll));
        let reader = world.add_reader(reader_config(), false);
        world.connect(writer, reader, true, true);
        for _ in 0..50 {
            world.write_blocking(writer, 40);
        }
        world.settle(LIMIT);
        // It crashes and is back before its lease has run out, so that the writer knows nothing.
        let guid = world.readers[reader].reader.guid();
        world.readers[reader].reader =
            tickwire_rtps::reader::Reader::new(tickwire_rtps::reader::ReaderConfig {
                guid,
                ..reader_config()
            });
        world.readers[reader].cache = crate::common::Cache::default();
        world.run(Duration::from_secs(3));
        world.tell_reader(writer, reader, true);
        world.run(Duration::from_secs(20));
        world.write_blocking(writer, 40);
        world.settle(LIMIT);
        world.run(Duration::from_secs(5));
        assert_samples(&world.readers[reader].cache, 1..=51, |_| 40, seed);
    }
}

#[test]
fn a_writer_that_restarts_under_its_name_is_heard_again() {
    for seed in 0..20 {
        let mut world = World::new(seed, Link::lossy(100));
        let writer = world.add_writer(keep_all());
        let reader = world.add_reader(reader_config(), false);
        world.connect(writer, reader, true, false);
        for _ in 0..50 {
            world.write_blocking(writer, 40);
        }
        world.settle(LIMIT);
        let guid = world.writers[writer].writer.guid();
        world.writers[writer].writer =
            tickwire_rtps::writer::Writer::new(WriterConfig { guid, ..keep_all() });
        world.readers[reader].cache = crate::common::Cache::default();
        world.run(Duration::from_secs(3));
        world.tell_writer(writer, reader, true, false);
        for _ in 0..20 {
            world.write_blocking(writer, 40);
        }
        world.settle(LIMIT);
        assert_samples(&world.readers[reader].cache, 1..=20, |_| 40, seed);
        assert_eq!(world.readers[reader].reader.counters().restarts, 1);
    }
}

#[test]
fn restarts_under_new_names_are_new_matches() {
    let mut world = World::new(5, Link::lossy(300));
    let writer = world.add_writer(transient_local(HistoryKind::KeepLast(10)));
    let first = world.add_reader(reader_config(), false);
    world.connect(writer, first, true, true);
    for _ in 0..30 {
        world.write_blocking(writer, 40);
    }
    world.settle(LIMIT);
    let gone = world.readers[first].reader.guid();
    let crashed = world.readers[first].node;
    world.network.silence(crashed);
    world.readers[first].up = false;
    world.write_blocking(writer, 40);
    assert!(world.writers[writer].writer.unmatch_reader(gone));
    assert!(!world.writers[writer].writer.unmatch_reader(gone));
    let second = world.add_reader(reader_config(), false);
    world.connect(writer, second, true, true);
    world.settle(LIMIT);
    assert_samples(&world.readers[second].cache, 22..=31, |_| 40, 5);

    let old = world.writers[writer].writer.guid();
    world.writers[writer].up = false;
    assert!(world.unmatch_writer(second, old));
    let reborn = world.add_writer(keep_last(1));
    world.connect(reborn, second, true, false);
    world.write_blocking(reborn, 40);
    world.settle(LIMIT);
    assert_eq!(world.readers[second].cache.samples.len(), 11);
}

#[test]
fn resource_limits_of_a_history_make_room_by_what_everybody_has() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(WriterConfig {
        limits: ResourceLimits {
            max_samples: Some(5),
            ..ResourceLimits::NONE
        },
        ..transient_local(HistoryKind::KeepAll)
    });
    let reader = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, true);
    for _ in 0..30 {
        world.write_blocking(writer, 40);
    }
    world.settle(LIMIT);
    assert_eq!(world.writers[writer].writer.history_len(), 5);
    let late = world.add_reader(reader_config(), false);
    world.connect(writer, late, true, true);
    world.settle(LIMIT);
    assert_samples(&world.readers[reader].cache, 1..=30, |_| 40, 1);
    assert_samples(&world.readers[late].cache, 26..=30, |_| 40, 1);
}

#[test]
fn a_large_sample_that_is_being_sent_is_not_cut_off_by_its_successors() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(WriterConfig {
        max_unacknowledged_len: 1,
        ..keep_last(1)
    });
    let reader = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, false);
    world.settle(Duration::from_secs(1));
    // Each takes 8 ms at the pace of the bursts.
    for _ in 0..200 {
        world
            .write(writer, 1 << 20)
            .expect("KEEP_LAST never blocks");
        assert!(world.writers[writer].writer.history_len() <= 2);
        world.run(Duration::from_millis(1));
    }
    let arrived = world.readers[reader].cache.numbers().len();
    assert!((20..=30).contains(&arrived), "{arrived}");
    world.settle(Duration::from_secs(1));
    assert_eq!(world.readers[reader].cache.numbers().last(), Some(&200));
    assert_eq!(world.writers[writer].writer.history_len(), 0);
}

#[test]
fn what_has_outlived_its_lifespan_is_neither_repeated_nor_given_to_late_joiners() {
    let lifespan = Duration::from_millis(250);
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(WriterConfig {
        lifespan,
        ..transient_local(HistoryKind::KeepAll)
    });
    let cut_off = world.add_reader(reader_config(), false);
    world.tell_writer(writer, cut_off, true, true);
    for _ in 0..10 {
        world.write_blocking(writer, 40);
        world.run(Duration::from_millis(100));
    }
    // Written 200 and 100 ms ago.
    assert_eq!(world.writers[writer].writer.history_len(), 2);
    assert_eq!(world.writers[writer].writer.counters().expired, 8);
    assert_eq!(
        world.writers[writer].writer.counters().removed_before_ack,
        8
    );
    let late = world.add_reader(reader_config(), false);
    world.connect(writer, late, true, true);
    world.tell_reader(writer, cut_off, true);
    world.settle(LIMIT);
    for reader in [late, cut_off] {
        assert_samples(&world.readers[reader].cache, 9..=10, |_| 40, 1);
    }
    world.run(lifespan);
    assert_eq!(world.writers[writer].writer.history_len(), 0);
    assert_eq!(world.writers[writer].writer.poll_timeout(), None);
}

#[test]
fn expired_samples_make_room_for_a_writer_that_waits() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(WriterConfig {
        lifespan: Duration::from_millis(10),
        limits: ResourceLimits {
            max_samples: Some(3),
            ..ResourceLimits::NONE
        },
        ..keep_all()
    });
    let silent = world.add_reader(reader_config(), false);
    world.tell_writer(writer, silent, true, false);
    for _ in 0..3 {
        world.write(writer, 40).expect("room");
    }
    assert!(world.write(writer, 40).is_err());
    world.run(Duration::from_millis(10));
    world.write(writer, 40).expect("room of what has expired");
}

#[test]
fn losses_do_not_bring_back_what_has_expired() {
    for seed in 0..50 {
        let mut world = World::new(seed, Link::lossy(300));
        let writer = world.add_writer(WriterConfig {
            lifespan: Duration::from_millis(30),
            ..transient_local(HistoryKind::KeepAll)
        });
        let reader = world.add_reader(reader_config(), false);
        world.connect(writer, reader, true, true);
        for _ in 0..100 {
            world.write_blocking(writer, 40);
            world.run(Duration::from_millis(1));
        }
        world.settle(LIMIT);
        let cache = &world.readers[reader].cache;
        let numbers = cache.numbers();
        assert!(numbers.is_sorted(), "seed {seed}: {numbers:?}");
        let missing = 100 - numbers.len() as u64;
        assert!(
            missing <= world.writers[writer].writer.counters().expired,
            "seed {seed}: nothing else goes missing"
        );
    }
}

#[test]
fn the_end_of_an_instance_does_not_expire_and_keeps_nothing_from_expiring() {
    let lifespan = Duration::from_millis(10);
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(WriterConfig {
        lifespan,
        ..transient_local(HistoryKind::KeepAll)
    });
    let cut_off = world.add_reader(reader_config(), false);
    world.tell_writer(writer, cut_off, true, true);
    let kinds = [
        ChangeKind::Alive,
        ChangeKind::Disposed,
        ChangeKind::Alive,
        ChangeKind::Unregistered,
        ChangeKind::Alive,
        ChangeKind::DisposedUnregistered,
    ];
    for kind in kinds {
        let change = Change {
            kind,
            key_hash: Some([3; 16]),
            ..Change::default()
        };
        world.write_change(writer, 16, change).expect("room");
    }
    world.run(lifespan);
    assert_eq!(world.writers[writer].writer.history_len(), 3);
    assert_eq!(world.writers[writer].writer.counters().expired, 3);
    world.tell_reader(writer, cut_off, true);
    world.settle(LIMIT);
    let samples = &world.readers[cut_off].cache.samples;
    let seen: Vec<_> = samples.iter().map(|s| (s.number, s.kind)).collect();
    assert_eq!(
        seen,
        [
            (2, ChangeKind::Disposed),
            (4, ChangeKind::Unregistered),
            (6, ChangeKind::DisposedUnregistered),
        ]
    );
}

#[test]
fn samples_of_a_shorter_lifespan_expire_before_older_ones() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(transient_local(HistoryKind::KeepAll));
    let lifespans = [
        Duration::MAX,
        Duration::from_secs(1),
        Duration::from_millis(10),
    ];
    for lifespan in lifespans {
        world.writers[writer].writer.set_lifespan(lifespan);
        world.write_blocking(writer, 40);
    }
    world.run(Duration::from_millis(10));
    let history_len = |world: &World| world.writers[writer].writer.history_len();
    assert_eq!(history_len(&world), 2);
    world.run(Duration::from_secs(1));
    assert_eq!(history_len(&world), 1);
    let late = world.add_reader(reader_config(), false);
    world.connect(writer, late, true, true);
    world.settle(LIMIT);
    assert_samples(&world.readers[late].cache, 1..=1, |_| 40, 1);
}
