//! Coherent sets: readers see them whole or not at all, whatever the network does.

mod common;

use common::{World, assert_samples, keep_all, keep_last, reader_config};
use tickwire_base::Duration;
use tickwire_rtps::reader::{GroupSets, Member, ReaderConfig, SetPart};
use tickwire_rtps::wire::{EntityId, Guid, GuidPrefix, SequenceNumber};
use tickwire_rtps::writer::{ResourceLimits, WriterConfig};
use tickwire_rtps::{Change, KeyHash};
use tickwire_simnet::Link;

const LIMIT: Duration = Duration::from_secs(60);

fn presenting(config: WriterConfig) -> WriterConfig {
    WriterConfig {
        presents: true,
        transient_local: true,
        ..config
    }
}

fn coherent() -> ReaderConfig {
    ReaderConfig {
        coherent: true,
        ..reader_config()
    }
}

fn write_set(world: &mut World, writer: usize, len: usize) {
    world.begin_set(writer, 0);
    for _ in 0..len {
        world.write_blocking(writer, 40);
    }
    world.end_set(writer, 0);
}

fn write_key(world: &mut World, writer: usize, key: u8) {
    let change = Change {
        key_hash: Some([key; 16] as KeyHash),
        ..Change::default()
    };
    world.write_change(writer, 40, change).expect("room");
}

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
fn the_next_set_or_change_ends_a_set_whose_end_says_nothing() {
    for of_next_set in [false, true] {
        let mut world = World::new(1, Link::PERFECT);
        // Ends are what a writer adds; a peer may leave them out where a change follows.
        let writer = world.add_writer(presenting(keep_all()));
        let reader = world.add_reader(coherent(), false);
        world.connect(writer, reader, true, false);
        world.begin_set(writer, 0);
        world.write_blocking(writer, 40);
        world.write_blocking(writer, 40);
        world.settle(LIMIT);
        assert_eq!(world.readers[reader].cache.numbers(), []);
        world.end_set(writer, 0);
        if of_next_set {
            world.begin_set(writer, 0);
        }
        world.write_blocking(writer, 40);
        world.settle(LIMIT);
        let expected: &[i64] = if of_next_set { &[1, 2] } else { &[1, 2, 4] };
        assert_eq!(world.readers[reader].cache.numbers(), expected);
    }
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
    assert!(world.readers[reader].reader.unmatch_writer(guid));
    assert_eq!(world.readers[reader].cache.numbers(), [1, 2]);
    let counters = world.readers[reader].reader.counters();
    assert_eq!(
        (counters.sets_discarded, counters.set_changes_discarded),
        (1, 1)
    );
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
    world.settle(LIMIT);
    let cache = &world.readers[reader].cache;
    assert_eq!(cache.samples[0].place.group.number.0, 7);
    let ends: Vec<_> = cache
        .ends
        .iter()
        .map(|(_, end)| {
            let group = (end.group.coherent_set.0, end.group.number.0);
            (group, end.first.0, end.last.0, end.part)
        })
        .collect();
    assert_eq!(
        ends,
        [
            ((7, 8), 1, 2, SetPart::Delivered),
            ((7, 8), 1, 1, SetPart::Empty)
        ]
    );
}

/// Two writers of one publisher, each with a reader of one subscriber.
struct Group {
    world: World,
    writers: [usize; 2],
    readers: [usize; 2],
    sets: GroupSets,
    /// Ends of each reader that the subscriber has been told of.
    told: [usize; 2],
    number: i64,
    whole: Vec<i64>,
    discarded: Vec<i64>,
}

const PUBLISHER: Guid = Guid::new(GuidPrefix([3; 12]), EntityId::user_publisher(1));

impl Group {
    fn new(seed: u64, link: Link, config: &WriterConfig) -> Self {
        let mut world = World::new(seed, link);
        let writers = [0; 2].map(|_| world.add_writer(presenting(config.clone())));
        let readers = [0; 2].map(|_| world.add_reader(coherent(), false));
        Self {
            world,
            writers,
            readers,
            sets: GroupSets::default(),
            told: [0; 2],
            number: 0,
            whole: Vec::new(),
            discarded: Vec::new(),
        }
    }

    fn member(&self, which: usize) -> Member {
        Member {
            reader: self.world.readers[self.readers[which]].reader.guid(),
            writer: self.world.writers[self.writers[which]].writer.guid(),
        }
    }

    fn connect(&mut self, which: usize) {
        let (writer, reader) = (self.writers[which], self.readers[which]);
        self.sets.matched(self.member(which), PUBLISHER);
        self.world.connect(writer, reader, true, true);
    }

    /// Writes so many changes with each writer in one set; says its number.
    fn write_set(&mut self, counts: [usize; 2]) -> i64 {
        let set = self.number + 1;
        for writer in self.writers {
            self.world.begin_set(writer, set);
        }
        for (writer, count) in self.writers.into_iter().zip(counts) {
            for _ in 0..count {
                self.number += 1;
                let change = Change {
                    group_number: SequenceNumber(self.number),
                    ..Change::default()
                };
                self.world.write_change(writer, 40, change).expect("room");
            }
        }
        self.number += 1;
        let end = self.number;
        for writer in self.writers {
            self.world.end_set(writer, end);
        }
        self.decide();
        set
    }

    fn decide(&mut self) {
        for which in 0..2 {
            let member = self.member(which);
            let cache = &self.world.readers[self.readers[which]].cache;
            for (_, end) in &cache.ends[self.told[which]..] {
                let count = usize::from(end.part == SetPart::Delivered);
                let _ = self.sets.ended(member, end, count);
            }
            self.told[which] = cache.ends.len();
        }
        while let Some(decision) = self.sets.poll() {
            self.sets.done(&decision);
            match decision.is_whole {
                true => self.whole.push(decision.set.0),
                false => self.discarded.push(decision.set.0),
            }
        }
    }

    fn settle(&mut self) {
        self.world.settle(LIMIT);
        self.decide();
    }
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
    // Those that the first reader had before the second was matched were decided without it.
    assert!(expected.ends_with(&group.whole));
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
                let mut ends = cache.ends.iter();
                ends.any(|(_, end)| {
                    end.group.coherent_set.0 == *set && end.part == SetPart::Delivered
                })
            };
            assert!(group.whole.iter().all(delivered), "seed {seed}");
        }
    }
}
