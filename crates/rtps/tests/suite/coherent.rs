//! Coherent sets: readers see them whole or not at all, whatever the network does.

use crate::common::group::{LIMIT, coherent, in_set, presenting, write_key, write_set};
use crate::common::script::ReaderScript;
use crate::common::{Told, World, assert_samples, keep_all, keep_last, reader_config};
use tickwire_base::Duration;
use tickwire_rtps::reader::ReaderConfig;
use tickwire_rtps::wire::SequenceNumber;
use tickwire_rtps::writer::{ResourceLimits, WriterConfig};
use tickwire_simnet::Link;

#[test]
fn a_set_is_seen_when_it_has_ended() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(presenting(keep_all()));
    let reader = world.add_reader(coherent(), false);
    let plain = world.add_reader(reader_config(), false);
    world.connect(writer, reader, true, false);
    world.connect(writer, plain, true, false);
    world.write_blocking(writer, 40);
    world.begin_set(writer, 0);
    for _ in 0..3 {
        world.write_blocking(writer, 40);
    }
    world.settle(LIMIT);
    assert_eq!(world.readers[reader].cache.numbers(), [1]);
    assert_eq!(world.readers[plain].cache.numbers(), [1, 2, 3, 4]);
    world.end_set(writer, 0);
    world.settle(LIMIT);
    assert_eq!(world.readers[reader].cache.numbers(), [1, 2, 3, 4]);
    assert_eq!(world.readers[reader].cache.sets, [3]);
    assert_eq!(world.readers[plain].cache.numbers(), [1, 2, 3, 4]);
    // A set without changes says nothing.
    world.begin_set(writer, 0);
    world.end_set(writer, 0);
    assert_eq!(world.last(writer), 5);
}

#[test]
fn the_next_set_or_change_ends_a_set_whose_end_a_peer_leaves_out() {
    for next in [in_set(3, 0), in_set(0, 0)] {
        let mut script = ReaderScript::new(coherent());
        script.match_writer(true, false);
        script.data_with_qos(1, &in_set(1, 0));
        script.data_with_qos(2, &in_set(1, 0));
        assert_eq!(script.cache.sets, []);
        script.data_with_qos(3, &next);
        assert_eq!(script.cache.sets, [2]);
        let is_in_set = next == in_set(3, 0);
        let expected: &[i64] = if is_in_set { &[1, 2] } else { &[1, 2, 3] };
        assert_eq!(script.cache.numbers(), expected);
    }
}

#[test]
fn a_change_that_says_that_it_is_in_no_set_ends_the_last_and_is_seen() {
    let mut script = ReaderScript::new(coherent());
    script.match_writer(true, false);
    script.data_with_qos(1, &in_set(1, 0));
    script.data_with_qos(2, &in_set(SequenceNumber::UNKNOWN.0, 0));
    assert_eq!(script.cache.numbers(), [1, 2]);
}

#[test]
fn a_set_does_not_begin_after_one_of_its_changes() {
    let mut script = ReaderScript::new(coherent());
    script.match_writer(true, false);
    script.data_with_qos(1, &in_set(5, 7));
    assert_eq!(script.cache.numbers(), [1], "it is in no set");
    script.data_with_qos(2, &in_set(2, 7));
    assert_eq!(script.cache.numbers(), [1]);
}

#[test]
fn a_set_that_found_no_room_is_marked_when_it_is_offered_again() {
    let mut script = ReaderScript::new(coherent());
    script.match_writer(true, false);
    script.cache.room = 1;
    script.data_with_qos(1, &in_set(1, 0));
    script.data_with_qos(2, &in_set(1, 0));
    script.data_with_qos(3, &in_set(0, 0));
    assert_eq!(script.cache.offers, [false]);
    script.resume(1);
    script.resume(3);
    assert_eq!(script.cache.offers, [false, true, true]);
    // Under its old name the writer begins anew, with another set of the same numbers.
    script.cache.room = 3;
    script.data_with_qos(4, &in_set(4, 0));
    script.data_with_qos(5, &in_set(4, 0));
    script.data_with_qos(6, &in_set(0, 0));
    assert_eq!(script.cache.offers, [false, true, true, false]);
}

#[test]
fn one_gap_offers_a_set_that_waits_once_however_many_changes_it_names() {
    let mut script = ReaderScript::new(coherent());
    script.match_writer(true, false);
    script.heartbeat(1, 3, true);
    script.cache.room = 0;
    script.data_with_qos(1, &in_set(1, 0));
    script.data_with_qos(2, &in_set(0, 0));
    assert_eq!(script.cache.offers.len(), 1);
    let every_other: Vec<i64> = (5..100).step_by(2).collect();
    script.gap(4, 5, &every_other);
    assert_eq!(script.cache.offers.len(), 2);
}

#[test]
fn losses_reordering_and_duplicates_break_no_reliable_set() {
    for seed in 0..100 {
        let mut world = World::new(seed, Link::lossy(300));
        let writer = world.add_writer(presenting(keep_all()));
        let reader = world.add_reader(coherent(), false);
        let late = world.add_reader(coherent(), false);
        world.connect(writer, reader, true, true);
        let mut expected = Vec::new();
        for set in 0..30 {
            if set == 15 {
                world.connect(writer, late, true, true);
            }
            let len = 1 + set % 5;
            write_set(&mut world, writer, len);
            expected.push(len);
        }
        world.settle(LIMIT);
        for reader in [reader, late] {
            let cache = &world.readers[reader].cache;
            assert_eq!(cache.sets, expected, "seed {seed}");
            assert!(cache.numbers().is_sorted(), "seed {seed}");
            let counters = world.readers[reader].reader.counters();
            assert_eq!(counters.sets_discarded, 0, "seed {seed}");
        }
    }
}

#[test]
fn large_changes_make_sets_as_well() {
    for seed in 0..20 {
        let mut world = World::new(seed, Link::lossy(100));
        let writer = world.add_writer(presenting(keep_all()));
        let reader = world.add_reader(coherent(), false);
        world.connect(writer, reader, true, false);
        world.begin_set(writer, 0);
        for _ in 0..4 {
            world.write_blocking(writer, 50_000);
        }
        world.end_set(writer, 0);
        world.settle(LIMIT);
        assert_samples(&world.readers[reader].cache, 1..=4, |_| 50_000, seed);
        assert_eq!(world.readers[reader].cache.sets, [4]);
    }
}

#[test]
fn best_effort_sets_are_whole_or_missing() {
    let (mut whole, mut broken) = (0, 0);
    for seed in 0..50 {
        let mut world = World::new(seed, Link::lossy(100));
        let writer = world.add_writer(WriterConfig {
            reliable: false,
            ..presenting(keep_last(1))
        });
        let config = ReaderConfig {
            reliable: false,
            ..coherent()
        };
        let reader = world.add_reader(config, false);
        world.connect(writer, reader, false, false);
        for _ in 0..20 {
            world.begin_set(writer, 0);
            for _ in 0..4 {
                world.write_blocking(writer, 40);
                // So far apart that what is not lost is in order.
                world.run(Duration::from_millis(20));
            }
            world.end_set(writer, 0);
            world.run(Duration::from_millis(20));
        }
        world.run(Duration::from_secs(1));
        let cache = &world.readers[reader].cache;
        assert!(cache.sets.iter().all(|&len| len == 4), "seed {seed}");
        assert_eq!(cache.samples.len(), 4 * cache.sets.len(), "seed {seed}");
        for set in cache.samples.chunks(4) {
            let first = set[0].place.coherent_set;
            assert!(set.iter().all(|sample| sample.place.coherent_set == first));
        }
        whole += cache.sets.len() as u64;
        broken += world.readers[reader].reader.counters().sets_discarded;
    }
    assert!(
        whole > 100 && broken > 100,
        "{whole} whole, {broken} broken"
    );
}

#[test]
fn a_set_of_which_changes_were_replaced_is_not_shown() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(presenting(keep_last(1)));
    for keys in [[1, 2], [2, 3]] {
        world.begin_set(writer, 0);
        keys.into_iter()
            .for_each(|key| write_key(&mut world, writer, key));
        world.end_set(writer, 0);
    }
    let late = world.add_reader(coherent(), false);
    world.connect(writer, late, true, true);
    world.settle(LIMIT);
    // Of the first set one change is left, which is not shown.
    assert_eq!(world.readers[late].cache.numbers(), [4, 5]);
    assert_eq!(world.readers[late].cache.lost, 1);
    let counters = world.readers[late].reader.counters();
    assert_eq!(
        (counters.sets_discarded, counters.set_changes_discarded),
        (1, 1)
    );
}

#[test]
fn a_reader_that_is_matched_within_a_set_does_not_see_it() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(presenting(keep_all()));
    let reader = world.add_reader(coherent(), false);
    world.begin_set(writer, 0);
    world.write_blocking(writer, 40);
    world.connect(writer, reader, true, false);
    world.write_blocking(writer, 40);
    world.end_set(writer, 0);
    write_set(&mut world, writer, 2);
    world.settle(LIMIT);
    assert_eq!(world.readers[reader].cache.numbers(), [4, 5]);
    assert_eq!(world.readers[reader].reader.counters().sets_discarded, 1);
}

#[test]
fn a_writer_that_dies_within_a_set_leaves_nothing_of_it() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(presenting(keep_all()));
    let reader = world.add_reader(coherent(), false);
    world.connect(writer, reader, true, false);
    write_set(&mut world, writer, 2);
    world.begin_set(writer, 0);
    world.write_blocking(writer, 40);
    world.settle(LIMIT);
    world.writers[writer].up = false;
    let guid = world.writers[writer].writer.guid();
    assert!(world.unmatch_writer(reader, guid));
    assert_eq!(world.readers[reader].cache.numbers(), [1, 2]);
    let counters = world.readers[reader].reader.counters();
    assert_eq!(
        (counters.sets_discarded, counters.set_changes_discarded),
        (1, 1)
    );
    assert_eq!(world.readers[reader].cache.lost, 1);
}

#[test]
fn a_set_waits_for_room_as_a_whole_and_holds_up_what_follows() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(presenting(keep_all()));
    let reader = world.add_reader(coherent(), false);
    world.connect(writer, reader, true, false);
    world.readers[reader].cache.room = 3;
    write_set(&mut world, writer, 2);
    write_set(&mut world, writer, 2);
    let last = world.write_blocking(writer, 40);
    world.run(Duration::from_secs(1));
    assert_eq!(world.readers[reader].cache.numbers(), [1, 2]);
    assert!(!world.settled());
    world.make_room(reader, 5);
    world.settle(LIMIT);
    assert_eq!(world.readers[reader].cache.numbers(), [1, 2, 4, 5, last]);
    assert_eq!(world.readers[reader].cache.sets, [2, 2]);
}

#[test]
fn a_writer_that_waits_for_acknowledgements_can_still_end_its_set() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(WriterConfig {
        limits: ResourceLimits {
            max_samples: Some(2),
            ..ResourceLimits::NONE
        },
        ..presenting(keep_all())
    });
    let reader = world.add_reader(coherent(), false);
    world.connect(writer, reader, true, false);
    write_set(&mut world, writer, 20);
    world.settle(LIMIT);
    assert_eq!(world.readers[reader].cache.sets, [20]);
}

#[test]
fn sets_that_are_too_long_are_discarded_and_counted() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(presenting(keep_all()));
    let reader = world.add_reader(
        ReaderConfig {
            max_set: 4,
            max_set_len: 1000,
            ..coherent()
        },
        false,
    );
    world.connect(writer, reader, true, false);
    write_set(&mut world, writer, 5);
    world.begin_set(writer, 0);
    world.write_blocking(writer, 600);
    world.write_blocking(writer, 600);
    world.end_set(writer, 0);
    write_set(&mut world, writer, 4);
    world.settle(LIMIT);
    assert_eq!(world.readers[reader].cache.sets, [4]);
    let counters = world.readers[reader].reader.counters();
    assert_eq!(
        (counters.sets_discarded, counters.set_changes_discarded),
        (2, 7)
    );
}

#[test]
fn ends_of_sets_do_not_pile_up() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(presenting(keep_last(1)));
    let reader = world.add_reader(coherent(), false);
    world.connect(writer, reader, true, true);
    write_key(&mut world, writer, 1);
    for _ in 0..5_000 {
        world.begin_set(writer, 0);
        write_key(&mut world, writer, 2);
        world.end_set(writer, 0);
    }
    world.settle(LIMIT);
    let gaps = world.writers[writer].writer.counters().gaps;
    let late = world.add_reader(coherent(), false);
    world.connect(writer, late, true, true);
    world.settle(LIMIT);
    assert_eq!(world.readers[late].cache.numbers(), [1, 10_000]);
    assert!(world.writers[writer].writer.counters().gaps - gaps <= 2);
}

#[test]
fn ends_of_sets_do_not_pile_up_behind_a_reader_that_says_nothing() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(WriterConfig {
        transient_local: false,
        ..presenting(keep_last(1))
    });
    let reader = world.add_reader(coherent(), false);
    world.tell_writer(writer, reader, true, false);
    world.readers[reader].up = false;
    for number in 0..10_000 {
        world.begin_set(writer, 7);
        if number % 2 == 0 {
            write_key(&mut world, writer, 1);
        }
        world.end_set(writer, 8);
    }
    world.run(Duration::from_secs(1));
    // The newest are kept, as the reader may yet ask for them.
    world.readers[reader].up = true;
    world.tell_reader(writer, reader, true);
    world.settle(LIMIT);
    let told = &world.readers[reader].cache.told;
    assert!((1000..1030).contains(&told.len()), "{}", told.len());
    let ends = told.iter().filter_map(|(_, told)| match told {
        Told::Ended(end, _) => Some(end.last.0),
        _ => None,
    });
    let ends: Vec<i64> = ends.collect();
    assert!(ends[0] > 13_400, "{}", ends[0]);
    assert_eq!(ends.last(), Some(&15_000));
}
