//! What a writer has written comes once, whoever gives it again: writers die and others take their place
//! with what they had written (RTPS 2.5 §8.7.9).

use crate::common::{World, keep_all, keep_last, number, payload, reader_config};
use tickwire_base::{Duration, Timestamp};
use tickwire_rtps::reader::ReaderConfig;
use tickwire_rtps::wire::{Guid, SequenceNumber};
use tickwire_rtps::writer::WriterConfig;
use tickwire_rtps::{Change, OriginalWriter};
use tickwire_simnet::{Link, Rng};

/// What has been written by whom: a durability store.
#[derive(Default)]
struct Log(Vec<(OriginalWriter, i64, usize)>);

impl Log {
    /// A writer that has what is in the log.
    fn start(&self, world: &mut World, lifespan: Duration) -> usize {
        let writer = world.add_writer(WriterConfig {
            relays: true,
            transient_local: true,
            max_message_len: 1024,
            lifespan,
            ..keep_all()
        });
        for &(original, id, len) in &self.0 {
            let change = Change {
                original: Some(original),
                source_timestamp: Some(Timestamp::from_nanos(id)),
                ..Change::default()
            };
            let (now, age) = (world.now(), Duration::from_secs(id.unsigned_abs()));
            let machine = &mut world.writers[writer].writer;
            machine.restore(now, change, age, &payload(id, len));
        }
        writer
    }

    /// Writes the next sample, whose id is its place in the log.
    fn write(&mut self, world: &mut World, writer: usize, len: usize) {
        let id = i64::try_from(self.0.len()).unwrap() + 1;
        let change = Change {
            source_timestamp: Some(Timestamp::from_nanos(id)),
            ..Change::default()
        };
        let written = world.write_payload(writer, change, &payload(id, len));
        let original = OriginalWriter {
            guid: world.writers[writer].writer.guid(),
            sequence_number: number(written.unwrap()),
        };
        self.0.push((original, id, len));
    }
}

fn reader(world: &mut World) -> usize {
    let config = ReaderConfig {
        originals: true,
        ..reader_config()
    };
    world.add_reader(config, false)
}

fn unmatch(world: &mut World, reader: usize, writer: Guid) -> bool {
    let node = &mut world.readers[reader];
    node.reader.unmatch_writer(writer, &mut node.cache)
}

/// The ids of what a reader has been given.
fn ids(world: &World, reader: usize) -> Vec<i64> {
    let samples = world.readers[reader].cache.samples.iter();
    samples
        .map(|sample| {
            let id = sample.source_timestamp.unwrap().as_nanos();
            let expected = payload(id, sample.payload.len());
            assert_eq!(sample.payload[..8], expected[..8]);
            id
        })
        .collect()
}

const FOR_EVER: Duration = Duration::MAX;

#[test]
fn a_writers_successor_gives_only_what_the_reader_lacks() {
    let mut world = World::new(1, Link::PERFECT);
    let mut log = Log::default();
    let reader = reader(&mut world);
    let first = log.start(&mut world, FOR_EVER);
    world.connect(first, reader, true, true);
    for _ in 0..3 {
        log.write(&mut world, first, 40);
    }
    world.settle(Duration::from_secs(1));
    world.writers[first].up = false;
    // Written, but not heard by the reader any more.
    for (id, len) in [(4, 40), (5, 4000)] {
        let original = OriginalWriter {
            sequence_number: number(id),
            ..log.0[0].0
        };
        log.0.push((original, id, len));
    }

    let second = log.start(&mut world, FOR_EVER);
    world.connect(second, reader, true, true);
    log.write(&mut world, second, 40);
    world.settle(Duration::from_secs(1));
    assert_eq!(ids(&world, reader), [1, 2, 3, 4, 5, 6]);
    assert_eq!(world.readers[reader].reader.counters().known, 3);
    assert!(world.readers[reader].reader.has_history());
}

#[test]
fn one_that_was_unmatched_is_remembered() {
    let mut world = World::new(1, Link::PERFECT);
    let mut log = Log::default();
    let reader = reader(&mut world);
    for incarnation in 0..5 {
        let writer = log.start(&mut world, FOR_EVER);
        world.connect(writer, reader, true, true);
        log.write(&mut world, writer, 40);
        world.settle(Duration::from_secs(1));
        world.writers[writer].up = false;
        let guid = world.writers[writer].writer.guid();
        assert!(unmatch(&mut world, reader, guid));
        let known = world.readers[reader].reader.counters().known;
        assert_eq!(known, (0..=incarnation).sum());
    }
    assert_eq!(ids(&world, reader), [1, 2, 3, 4, 5]);
}

#[test]
fn a_coherent_set_that_died_with_its_writer_comes_from_the_successor() {
    let mut world = World::new(1, Link::PERFECT);
    let mut log = Log::default();
    let config = ReaderConfig {
        originals: true,
        coherent: true,
        ..reader_config()
    };
    let reader = world.add_reader(config, false);
    let first = world.add_writer(WriterConfig {
        presents: true,
        transient_local: true,
        ..keep_all()
    });
    world.connect(first, reader, true, true);
    log.write(&mut world, first, 40);
    world.begin_set(first, 0);
    log.write(&mut world, first, 40);
    log.write(&mut world, first, 40);
    world.settle(Duration::from_secs(1));
    assert_eq!(ids(&world, reader), [1]);
    world.writers[first].up = false;
    for unmatched in [false, true] {
        if unmatched {
            let guid = world.writers[first].writer.guid();
            assert!(unmatch(&mut world, reader, guid));
        }
        let successor = log.start(&mut world, FOR_EVER);
        world.connect(successor, reader, true, true);
        world.settle(Duration::from_secs(1));
        assert_eq!(ids(&world, reader), [1, 2, 3], "{unmatched}");
    }
}

#[test]
fn a_set_that_a_successor_restores_is_seen_whole_or_not_at_all() {
    let mut world = World::new(1, Link::PERFECT);
    let config = ReaderConfig {
        originals: true,
        coherent: true,
        ..reader_config()
    };
    let coherent = world.add_reader(config.clone(), false);
    let plain = world.add_reader(
        ReaderConfig {
            coherent: false,
            ..config
        },
        false,
    );
    let writer = world.add_writer(WriterConfig {
        presents: true,
        relays: true,
        transient_local: true,
        lifespan: Duration::from_secs(100),
        ..keep_all()
    });
    let now = world.now();
    let machine = &mut world.writers[writer].writer;
    let mut restore = |ids: &[i64], is_whole| {
        machine.begin_restored_set(is_whole);
        for &id in ids {
            let change = Change {
                original: Some(OriginalWriter {
                    sequence_number: number(id),
                    ..OriginalWriter::default()
                }),
                source_timestamp: Some(Timestamp::from_nanos(id)),
                ..Change::default()
            };
            let age = Duration::from_secs(id.unsigned_abs());
            machine.restore(now, change, age, &payload(id, 40));
        }
        machine.end_restored_set();
    };
    restore(&[1, 2], true);
    restore(&[3], false);
    restore(&[4, 5], true);
    // The one of which something is too old.
    restore(&[6, 100], true);
    restore(&[], true);
    restore(&[7], true);
    for reader in [coherent, plain] {
        world.connect(writer, reader, true, true);
    }
    world.settle(Duration::from_secs(1));
    assert_eq!(ids(&world, plain), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(ids(&world, coherent), [1, 2, 4, 5, 7]);
    let counters = world.readers[coherent].reader.counters();
    assert_eq!(
        (counters.sets_discarded, counters.set_changes_discarded),
        (2, 2)
    );
    world.begin_set(writer, 0);
    world.write(writer, 40).unwrap();
    world.end_set(writer, 0);
    world.settle(Duration::from_secs(1));
    assert_eq!(world.readers[coherent].cache.samples.len(), 6);
}

#[test]
fn lifespan_counts_from_the_first_writing() {
    let mut world = World::new(1, Link::PERFECT);
    let mut log = Log::default();
    let first = log.start(&mut world, FOR_EVER);
    for _ in 0..4 {
        log.write(&mut world, first, 40);
    }
    // Sample n is n seconds old.
    let second = log.start(&mut world, Duration::from_secs(3));
    let machine = &mut world.writers[second].writer;
    assert_eq!((machine.counters().expired, machine.history_len()), (2, 2));
    world.run(Duration::from_millis(2500));
    let machine = &world.writers[second].writer;
    assert_eq!(machine.history_len(), 0);
}

#[test]
fn a_hundred_lines_of_succession_give_each_sample_once_and_in_order() {
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let mut world = World::new(seed, Link::lossy(200));
        let mut log = Log::default();
        let reader = reader(&mut world);
        let mut writer = log.start(&mut world, FOR_EVER);
        world.connect(writer, reader, true, true);
        for _ in 0..4 {
            for _ in 0..rng.below(12) {
                let len = if rng.chance(200) { 3001 } else { 40 };
                log.write(&mut world, writer, len);
                let pause = Duration::from_micros(rng.below(3000));
                world.run(pause);
            }
            let dead = writer;
            world.writers[dead].up = false;
            writer = log.start(&mut world, FOR_EVER);
            world.connect(writer, reader, true, true);
            if rng.chance(500) {
                world.run(Duration::from_millis(rng.below(100)));
                let guid = world.writers[dead].writer.guid();
                unmatch(&mut world, reader, guid);
            }
        }
        world.settle(Duration::from_secs(60));
        let all = 1..=i64::try_from(log.0.len()).unwrap();
        assert_eq!(ids(&world, reader), all.collect::<Vec<_>>(), "seed {seed}");
    }
}

/// A participant that says of its own samples that they are another writer's.
fn impostor(world: &mut World, claims: &[(OriginalWriter, i64)]) -> usize {
    let log = Log(claims.iter().map(|&(claim, id)| (claim, id, 40)).collect());
    log.start(world, FOR_EVER)
}

#[test]
fn a_false_claim_takes_nothing_from_what_a_writer_has_yet_to_write() {
    let mut world = World::new(1, Link::PERFECT);
    let mut log = Log::default();
    let reader = reader(&mut world);
    let honest = log.start(&mut world, FOR_EVER);
    world.connect(honest, reader, true, true);
    log.write(&mut world, honest, 40);
    world.settle(Duration::from_secs(1));
    let claim = |number| OriginalWriter {
        guid: log.0[0].0.guid,
        sequence_number: SequenceNumber(number),
    };
    let claims = [
        (claim(i64::MAX - 1), 101),
        (claim(1 << 40), 102),
        (claim(1000), 103),
    ];
    let impostor = impostor(&mut world, &claims);
    world.connect(impostor, reader, true, true);
    world.settle(Duration::from_secs(1));
    for _ in 0..20 {
        log.write(&mut world, honest, 40);
    }
    world.settle(Duration::from_secs(1));
    let expected: Vec<_> = [1, 101, 102, 103].into_iter().chain(2..=21).collect();
    assert_eq!(ids(&world, reader), expected);
    assert_eq!(world.readers[reader].reader.counters().known, 0);
}

#[test]
fn a_false_claim_takes_nothing_from_a_successor_but_the_change_it_names() {
    let mut world = World::new(1, Link::PERFECT);
    let mut log = Log::default();
    let reader = reader(&mut world);
    let first = log.start(&mut world, FOR_EVER);
    for _ in 0..5 {
        log.write(&mut world, first, 40);
    }
    world.writers[first].up = false;
    let claim = |number| OriginalWriter {
        guid: log.0[0].0.guid,
        sequence_number: SequenceNumber(number),
    };
    let impostor = impostor(&mut world, &[(claim(3), 101), (claim(1 << 40), 102)]);
    world.connect(impostor, reader, true, true);
    world.settle(Duration::from_secs(1));
    let second = log.start(&mut world, FOR_EVER);
    world.connect(second, reader, true, true);
    world.settle(Duration::from_secs(1));
    assert_eq!(ids(&world, reader), [101, 102, 1, 2, 4, 5]);
}

#[test]
fn what_one_gives_takes_nothing_from_another_but_what_it_gave() {
    for service_comes_first in [false, true] {
        let mut world = World::new(1, Link::PERFECT);
        let mut log = Log::default();
        let reader = reader(&mut world);
        let first = log.start(&mut world, FOR_EVER);
        for _ in 0..5 {
            log.write(&mut world, first, 40);
        }
        // It keeps less than the writer.
        let service = Log(log.0.split_off(2)).start(&mut world, FOR_EVER);
        let mut givers = [first, service];
        if service_comes_first {
            givers.reverse();
        }
        for giver in givers {
            world.connect(giver, reader, true, true);
        }
        world.settle(Duration::from_secs(1));
        let mut seen = ids(&world, reader);
        seen.sort_unstable();
        assert_eq!(seen, [1, 2, 3, 4, 5]);
    }
}

#[test]
fn a_service_gives_what_its_writer_no_longer_had() {
    let mut world = World::new(1, Link::PERFECT);
    let mut log = Log::default();
    let reader = reader(&mut world);
    let first = world.add_writer(WriterConfig {
        transient_local: true,
        ..keep_last(1)
    });
    for _ in 0..10 {
        log.write(&mut world, first, 40);
    }
    world.connect(first, reader, true, true);
    world.settle(Duration::from_secs(1));
    assert_eq!(ids(&world, reader), [10]);
    log.write(&mut world, first, 40);
    world.settle(Duration::from_secs(1));
    let guid = world.writers[first].writer.guid();
    world.writers[first].up = false;
    for unmatched in [false, true] {
        if unmatched {
            assert!(unmatch(&mut world, reader, guid));
        }
        let service = log.start(&mut world, FOR_EVER);
        world.connect(service, reader, true, true);
        world.settle(Duration::from_secs(1));
        let expected: Vec<_> = [10, 11].into_iter().chain(1..=9).collect();
        assert_eq!(ids(&world, reader), expected);
    }
    let counters = world.readers[reader].reader.counters();
    assert_eq!((counters.known, counters.forgotten), (2 + 11, 0));
}

/// A writer that gives the changes 1 to `last` of another as one coherent set, or so far as it got.
fn set_giver(world: &mut World, last: i64, has_ended: bool) -> usize {
    let giver = world.add_writer(WriterConfig {
        presents: true,
        relays: true,
        transient_local: true,
        max_message_len: 1024,
        ..keep_all()
    });
    let now = world.now();
    let machine = &mut world.writers[giver].writer;
    machine.begin_restored_set(true);
    for id in 1..=last {
        let change = Change {
            original: Some(OriginalWriter {
                sequence_number: number(id),
                ..OriginalWriter::default()
            }),
            source_timestamp: Some(Timestamp::from_nanos(id)),
            ..Change::default()
        };
        machine.restore(now, change, Duration::ZERO, &payload(id, 600));
    }
    if has_ended {
        machine.end_restored_set();
    }
    giver
}

fn coherent_reader(world: &mut World) -> usize {
    let config = ReaderConfig {
        originals: true,
        coherent: true,
        ..reader_config()
    };
    world.add_reader(config, false)
}

#[test]
fn a_set_whose_giver_left_before_its_end_comes_from_the_next() {
    for unmatched in [false, true] {
        let mut world = World::new(1, Link::PERFECT);
        let reader = coherent_reader(&mut world);
        let service = set_giver(&mut world, 2, false);
        world.connect(service, reader, true, true);
        world.settle(Duration::from_secs(1));
        world.writers[service].up = false;
        if unmatched {
            let guid = world.writers[service].writer.guid();
            assert!(unmatch(&mut world, reader, guid));
        }
        let successor = set_giver(&mut world, 3, true);
        world.connect(successor, reader, true, true);
        world.settle(Duration::from_secs(1));
        assert_eq!(ids(&world, reader), [1, 2, 3], "{unmatched}");
        assert_eq!(world.readers[reader].cache.sets, [3]);
    }
}

#[test]
fn a_set_that_two_give_at_once_comes_once() {
    for seed in 0..20 {
        let mut world = World::new(seed, Link::lossy(100));
        let reader = coherent_reader(&mut world);
        for _ in 0..2 {
            let giver = set_giver(&mut world, 20, true);
            world.connect(giver, reader, true, true);
        }
        world.settle(Duration::from_secs(60));
        let expected: Vec<_> = (1..=20).collect();
        assert_eq!(ids(&world, reader), expected, "seed {seed}");
        let node = &world.readers[reader];
        assert_eq!(node.cache.sets, [20]);
        assert_eq!((node.reader.counters().known, node.cache.lost), (20, 0));
    }
}
