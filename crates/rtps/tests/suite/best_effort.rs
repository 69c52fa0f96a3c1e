//! Best effort: each sample once or never, in order, and nothing waits for anything.

use crate::common::{World, assert_samples, keep_last, reader_config};
use tickwire_base::Duration;
use tickwire_rtps::reader::ReaderConfig;
use tickwire_rtps::writer::WriterConfig;
use tickwire_simnet::Link;

fn best_effort_reader() -> ReaderConfig {
    ReaderConfig {
        reliable: false,
        ..reader_config()
    }
}

#[test]
fn samples_come_in_order_without_repetition_and_losses_are_counted() {
    for seed in 0..200 {
        let mut world = World::new(seed, Link::lossy(200));
        let writer = world.add_writer(WriterConfig {
            max_message_len: 1024,
            ..keep_last(1)
        });
        let reader = world.add_reader(best_effort_reader(), seed % 2 == 0);
        world.connect(writer, reader, false, false);
        let len = |number: i64| if number % 7 == 0 { 2000 } else { 40 };
        for number in 1..=200 {
            world.write(writer, len(number)).expect("never blocks");
            world.run(Duration::from_micros(300));
        }
        world.run(Duration::from_secs(1));
        let cache = &world.readers[reader].cache;
        let numbers = cache.numbers();
        assert!(
            numbers.is_sorted_by(|a, b| a < b),
            "seed {seed}: {numbers:?}"
        );
        assert!(numbers.len() > 60, "seed {seed}: {}", numbers.len());
        let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
        let missed = (last - first + 1) as u64 - numbers.len() as u64;
        assert_eq!(cache.lost, missed, "seed {seed}");
        assert_samples(cache, numbers.iter().copied(), len, seed);
        // Nobody acknowledges and nothing is kept.
        assert_eq!(world.writers[writer].writer.history_len(), 0);
        assert_eq!(world.writers[writer].writer.counters().heartbeats, 0);
        assert!(world.settled());
    }
}

#[test]
fn a_full_cache_loses_what_comes_meanwhile() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(keep_last(1));
    let reader = world.add_reader(best_effort_reader(), false);
    world.connect(writer, reader, false, false);
    world.readers[reader].cache.room = 3;
    for _ in 0..5 {
        world.write(writer, 40).expect("never blocks");
    }
    world.run(Duration::from_secs(1));
    world.make_room(reader, usize::MAX);
    world.write(writer, 40).expect("never blocks");
    world.run(Duration::from_secs(1));
    let cache = &world.readers[reader].cache;
    assert_eq!(cache.numbers(), [1, 2, 3, 6]);
    assert_eq!(cache.lost, 2);
}

#[test]
fn reliable_and_best_effort_readers_share_a_writer() {
    for seed in 0..50 {
        let mut world = World::new(seed, Link::lossy(300));
        let writer = world.add_writer(crate::common::keep_all());
        let reliable = world.add_reader(reader_config(), true);
        let best_effort = world.add_reader(best_effort_reader(), true);
        world.connect(writer, reliable, true, false);
        world.connect(writer, best_effort, false, false);
        for _ in 0..100 {
            world.write_blocking(writer, 40);
        }
        world.settle(Duration::from_secs(60));
        assert_samples(&world.readers[reliable].cache, 1..=100, |_| 40, seed);
        let numbers = world.readers[best_effort].cache.numbers();
        assert!(numbers.is_sorted_by(|a, b| a < b), "seed {seed}");
        assert_eq!(world.readers[best_effort].reader.counters().acknacks, 0);
    }
}

#[test]
fn one_datagram_to_a_group_serves_all_who_hear_it() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(WriterConfig {
        reliable: false,
        ..keep_last(1)
    });
    for _ in 0..3 {
        let reader = world.add_reader(best_effort_reader(), true);
        world.connect(writer, reader, false, false);
    }
    let alone = world.add_reader(best_effort_reader(), false);
    world.connect(writer, alone, false, false);
    let before = world.network.totals().sent;
    world.write(writer, 40).expect("never blocks");
    // Three hear the group; the fourth gets its own copy, and no one two.
    assert_eq!(world.network.totals().sent - before, 4);
    world.run(Duration::from_secs(1));
    for node in &world.readers {
        assert_eq!(node.cache.numbers(), [1]);
        assert_eq!(node.reader.counters().duplicates, 0);
    }
}
