//! Coherent sets that span the writers of a publisher: seen in all readers or in none.

use crate::common::group::{Group, coherent, in_set, presenting};
use crate::common::script::{ReaderScript, WRITER};
use crate::common::{Told, World, keep_all, keep_last};
use tickwire_base::Duration;
use tickwire_rtps::Change;
use tickwire_rtps::reader::{ReaderConfig, SetPart};
use tickwire_rtps::wire::SequenceNumber;
use tickwire_simnet::Link;

#[test]
fn every_writer_of_a_group_tells_of_the_end() {
    let mut world = World::new(1, Link::PERFECT);
    let reader = world.add_reader(coherent(), false);
    let writers = [0; 2].map(|_| {
        let writer = world.add_writer(presenting(keep_all()));
        world.connect(writer, reader, true, false);
        writer
    });
    writers
        .into_iter()
        .for_each(|writer| world.begin_set(writer, 7));
    let change = Change {
        group_number: SequenceNumber(7),
        ..Change::default()
    };
    world.write_change(writers[0], 40, change).expect("room");
    writers
        .into_iter()
        .for_each(|writer| world.end_set(writer, 8));
    world.settle(crate::common::group::LIMIT);
    let cache = &world.readers[reader].cache;
    assert_eq!(cache.samples[0].place.group.number.0, 7);
    let ends = cache.told.iter().filter_map(|(_, told)| {
        let Told::Ended(end, _) = told else {
            return None;
        };
        let group = (end.group.coherent_set.0, end.group.number.0);
        Some((group, end.first.0, end.last.0, end.part))
    });
    let ends: Vec<_> = ends.collect();
    assert_eq!(
        ends,
        [
            ((7, 8), 1, 2, SetPart::Delivered),
            ((7, 8), 1, 1, SetPart::Empty)
        ]
    );
}

#[test]
fn sets_of_a_group_are_whole_in_every_reader_whatever_the_network_does() {
    for seed in 0..50 {
        let mut group = Group::new(seed, Link::lossy(300), &keep_all());
        group.connect(0);
        group.connect(1);
        let mut expected = Vec::new();
        for set in 0..30_usize {
            expected.push(group.write_set([set % 3, (set + 1) % 3]));
            group.world.run(Duration::from_millis(1));
        }
        group.settle();
        assert_eq!(group.whole, expected, "seed {seed}");
        assert_eq!(group.discarded, [], "seed {seed}");
    }
}

#[test]
fn a_late_joiner_gets_the_sets_of_a_group_that_its_writers_still_hold() {
    let mut group = Group::new(1, Link::lossy(100), &keep_all());
    let expected: Vec<_> = (0..10).map(|set| group.write_set([1, set % 2])).collect();
    group.connect(0);
    group.world.run(Duration::from_secs(1));
    group.decide();
    group.connect(1);
    group.settle();
    // Those that the first reader had before the second was matched are shown in each by itself.
    assert_eq!(group.whole, [expected.clone(), expected].concat());
    let mut group = Group::new(1, Link::lossy(100), &keep_all());
    let expected: Vec<_> = (0..10).map(|set| group.write_set([1, set % 2])).collect();
    group.connect(0);
    group.connect(1);
    group.settle();
    assert_eq!(group.whole, expected);
}

#[test]
fn of_a_group_that_keeps_the_last_only_whole_sets_are_seen() {
    for seed in 0..50 {
        let mut group = Group::new(seed, Link::lossy(300), &keep_last(1));
        group.connect(0);
        group.connect(1);
        let sets: Vec<_> = (0..30).map(|_| group.write_set([1, 1])).collect();
        group.settle();
        assert!(group.whole.is_sorted(), "seed {seed}");
        // What is replaced at once never arrives, but the last set stays.
        assert_eq!(group.whole.last(), sets.last(), "seed {seed}");
        for which in 0..2 {
            let cache = &group.world.readers[group.readers[which]].cache;
            let delivered = |set: &i64| {
                cache.told.iter().any(|(_, told)| {
                    matches!(told, Told::Ended(end, 1) if end.group.coherent_set.0 == *set)
                })
            };
            assert!(group.whole.iter().all(delivered), "seed {seed}");
        }
    }
}

#[test]
fn changes_replaced_outside_sets_break_no_set() {
    for seed in 0..50 {
        let mut group = Group::new(seed, Link::lossy(300), &keep_last(1));
        group.connect(0);
        group.connect(1);
        let mut sets = Vec::new();
        for _ in 0..30 {
            // The second writer has no part in the sets, and most of what it writes is replaced.
            (0..10).for_each(|_| group.write(1, 1));
            sets.push(group.write_set([1, 0]));
            group.settle_writer(0);
        }
        group.settle();
        assert_eq!(group.whole, sets, "seed {seed}");
    }
}

#[test]
fn a_writer_that_leaves_within_a_set_breaks_it() {
    let mut group = Group::new(1, Link::PERFECT, &keep_all());
    group.connect(0);
    group.connect(1);
    let first = group.write_set([1, 1]);
    let second = group.begin_set();
    group.write(1, 1);
    group.write(0, 1);
    group.settle();
    group.leave(1);
    group.end_set();
    let third = group.write_set([1, 0]);
    group.settle_writer(0);
    group.decide();
    assert_eq!(group.whole, [first, third]);
    assert_eq!(group.discarded, [second]);
}

#[test]
fn an_end_without_a_set_before_it_says_whether_the_writer_had_a_part() {
    let mut script = ReaderScript::new(coherent());
    script.match_writer(true, false);
    for (number, coherent_set) in [(1, 0), (2, SequenceNumber::UNKNOWN.0)] {
        script.end_of_set(number, &in_set(coherent_set, 5));
    }
    let parts = script.cache.told.iter().map(|told| match told {
        (WRITER, Told::Ended(end, 0)) => end.part,
        other => panic!("{other:?}"),
    });
    let parts: Vec<_> = parts.collect();
    assert_eq!(parts, [SetPart::Empty, SetPart::Unheard]);
}

#[test]
fn the_end_of_another_set_ends_the_one_whose_own_is_lost() {
    let mut script = ReaderScript::new(ReaderConfig {
        reliable: false,
        ..coherent()
    });
    script.match_writer(false, false);
    script.data_with_qos(1, &in_set(1, 5));
    // The end at 2 and a change at 3 are lost.
    script.end_of_set(4, &in_set(SequenceNumber::UNKNOWN.0, 8));
    let told = script.cache.told.iter().map(|(_, told)| match told {
        Told::Ended(end, 0) => (end.group.coherent_set.0, end.part),
        Told::Begun(set) => (set.0, SetPart::Delivered),
        other => panic!("{other:?}"),
    });
    let told: Vec<_> = told.collect();
    assert_eq!(
        told,
        [
            (5, SetPart::Delivered),
            (5, SetPart::Discarded),
            (8, SetPart::Unheard)
        ]
    );
}
