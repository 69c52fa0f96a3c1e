//! Nothing is lost between a reliable writer and its reliable readers, whatever the network does.

use crate::common::{World, assert_samples, keep_all, keep_last, reader_config};
use tickwire_base::Duration;
use tickwire_rtps::writer::WriterConfig;
use tickwire_simnet::{Link, Rng};

const LIMIT: Duration = Duration::from_secs(120);

/// Every fifth sample takes several fragments.
fn len(number: i64) -> usize {
    if number % 5 == 0 { 3001 } else { 40 }
}

fn exchange(seed: u64, samples: i64) -> World {
    let mut rng = Rng::new(seed ^ 0x5eed);
    let mut world = World::new(seed, Link::lossy(300));
    let writer = world.add_writer(WriterConfig {
        max_message_len: 1024,
        max_unacknowledged_len: 8 * 1024,
        ..keep_all()
    });
    for _ in 0..=seed % 3 {
        let multicast = rng.chance(500);
        let reader = world.add_reader(reader_config(), multicast);
        world.connect(writer, reader, true, false);
    }
    for number in 1..=samples {
        assert_eq!(world.write_blocking(writer, len(number)), number);
        let pause = Duration::from_micros(rng.below(300));
        world.run(pause);
    }
    world.settle(LIMIT);
    world
}

#[test]
fn a_thousand_seeds_at_thirty_percent_loss_lose_nothing() {
    for seed in 0..1000 {
        let world = exchange(seed, 60);
        for node in &world.readers {
            assert_samples(&node.cache, 1..=60, len, seed);
            assert_eq!(node.cache.lost, 0, "seed {seed}");
        }
        // Volatile samples that everybody has are forgotten.
        assert_eq!(world.writers[0].writer.history_len(), 0, "seed {seed}");
    }
}

#[test]
fn a_long_sample_gets_through_in_the_shortest_fragments() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(WriterConfig {
        max_fragment_len: 1,
        ..keep_all()
    });
    let reader = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, false);
    let len = 64 << 14;
    world.write(writer, len).expect("room");
    world.settle(LIMIT);
    assert_samples(&world.readers[reader].cache, 1..=1, |_| len, 1);
}

#[test]
fn the_seed_determines_the_exchange() {
    let (one, two) = (exchange(11, 60), exchange(11, 60));
    assert_eq!(one.now(), two.now());
    assert_eq!(one.network.totals(), two.network.totals());
}

#[test]
fn keep_last_readers_get_the_newest_and_are_told_of_the_rest() {
    for seed in 0..100 {
        let mut world = World::new(seed, Link::lossy(300));
        let writer = world.add_writer(keep_last(3));
        let reader = world.add_reader(reader_config(), false);
        world.connect(writer, reader, true, false);
        for _ in 0..200 {
            world.write(writer, 40).expect("KEEP_LAST never blocks");
            world.run(Duration::from_micros(20));
        }
        world.settle(LIMIT);
        let cache = &world.readers[reader].cache;
        let numbers = cache.numbers();
        assert!(numbers.is_sorted_by(|a, b| a < b), "seed {seed}");
        assert!(
            numbers.ends_with(&[198, 199, 200]),
            "seed {seed}: {numbers:?}"
        );
        let lost_or_gap = 200 - numbers.len() as u64;
        assert!(cache.lost <= lost_or_gap, "seed {seed}");
    }
}

#[test]
fn a_large_sample_arrives_whole_under_loss() {
    for seed in 0..3 {
        let mut world = World::new(seed, Link::lossy(100));
        let writer = world.add_writer(keep_all());
        let reader = world.add_reader(reader_config(), false);
        world.connect(writer, reader, true, false);
        for _ in 0..2 {
            world.write_blocking(writer, 10 << 20);
        }
        world.settle(LIMIT);
        assert_samples(&world.readers[reader].cache, 1..=2, |_| 10 << 20, seed);
        let counters = world.writers[writer].writer.counters();
        assert!(
            counters.fragments_resent < counters.fragments_sent / 2,
            "only what lacks is sent again: {counters:?}"
        );
    }
}

#[test]
fn a_large_sample_goes_as_fast_as_it_is_acknowledged() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(keep_all());
    let reader = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, false);
    world.settle(LIMIT);
    let begin = world.now();
    world.write_blocking(writer, 10 << 20);
    while !world.settled() {
        world.run(Duration::from_micros(100));
    }
    assert_samples(&world.readers[reader].cache, 1..=1, |_| 10 << 20, 1);
    // Bursts would take 80 ms.
    let took = world.now().since(begin);
    assert!(took < Duration::from_millis(10), "{took:?}");
}

#[test]
fn fragments_beyond_the_window_go_out_in_bursts() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(WriterConfig {
        burst_len: 64 << 10,
        max_unacknowledged_len: 1,
        ..keep_all()
    });
    let reader = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, false);
    world.settle(LIMIT);
    world.run(Duration::from_secs(1));
    let before = world.network.totals().sent;
    world.write_blocking(writer, 10 << 20);
    let first_burst = world.network.totals().sent - before;
    assert!(
        (4..=6).contains(&first_burst),
        "{first_burst} datagrams at once"
    );
    world.settle(LIMIT);
    assert_eq!(world.readers[reader].cache.numbers(), [1]);
}

#[test]
fn a_partition_only_delays() {
    for seed in 0..20 {
        let mut world = World::new(seed, Link::lossy(100));
        let writer = world.add_writer(keep_all());
        let reader = world.add_reader(reader_config(), false);
        world.connect(writer, reader, true, false);
        for number in 1..=60 {
            let ends = (world.writers[writer].node, world.readers[reader].node);
            match number {
                20 => world.network.partition(ends.0, ends.1),
                40 => {
                    world.run(Duration::from_secs(30));
                    world.network.heal(ends.0, ends.1);
                }
                _ => {}
            }
            world.write_blocking(writer, 40);
        }
        world.settle(LIMIT);
        assert_samples(&world.readers[reader].cache, 1..=60, |_| 40, seed);
    }
}
