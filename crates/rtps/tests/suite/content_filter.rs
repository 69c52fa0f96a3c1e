//! A writer that knows its readers' content filters keeps back what they do not want, and nobody
//! waits for it.

use crate::common::{World, keep_all, reader_config};
use tickwire_base::Duration;
use tickwire_cdr::filter::Filter;
use tickwire_cdr::{Extensibility, Member, Type, TypeDescription};
use tickwire_rtps::Change;
use tickwire_rtps::reader::ReaderConfig;
use tickwire_rtps::writer::{ReaderProxy, WriterConfig};
use tickwire_simnet::Link;

/// Samples are `struct { uint32 number; octet rest[]; }` as far as filters are concerned.
fn filter(expression: &str) -> Filter {
    let members = vec![Member::new("number", 0, Type::U32)];
    let ty = TypeDescription::new("Sample", Extensibility::Final, members).expect("a type");
    Filter::new(expression, &[""; 0], &ty).expect("a filter")
}

/// Little-endian XCDR2 of sample `number`, with `len` bytes after what the filter looks at.
fn sample(number: u32, len: usize) -> Vec<u8> {
    let mut payload = vec![0, 7, 0, 0];
    payload.extend_from_slice(&number.to_le_bytes());
    payload.resize(payload.len() + len, 0xaa);
    payload
}

struct Wanted {
    expression: Option<&'static str>,
    reliable: bool,
    history: bool,
}

fn connect(world: &mut World, writer: usize, multicast: bool, wanted: &Wanted) -> usize {
    let reader = world.add_reader(
        ReaderConfig {
            reliable: wanted.reliable,
            ..reader_config()
        },
        multicast,
    );
    let proxy = ReaderProxy {
        reliable: wanted.reliable,
        wants_history: wanted.history,
        filter: wanted.expression.map(filter).map(Box::new),
        ..world.proxy(reader)
    };
    world.match_reader(writer, proxy);
    world.tell_reader(writer, reader, wanted.reliable);
    reader
}

fn write(world: &mut World, writer: usize, numbers: impl Iterator<Item = u32>, len: usize) {
    for number in numbers {
        let payload = sample(number, len);
        while world
            .write_payload(writer, Change::default(), &payload)
            .is_err()
        {
            world.run(Duration::from_millis(1));
        }
        world.run(Duration::from_micros(300));
    }
}

fn wants(expression: &'static str) -> Wanted {
    Wanted {
        expression: Some(expression),
        reliable: true,
        history: false,
    }
}

#[test]
fn each_reader_gets_what_it_wants_under_loss_and_reordering() {
    for seed in 0..100 {
        let mut world = World::new(seed, Link::lossy(150));
        let writer = world.add_writer(WriterConfig {
            max_message_len: 1024,
            ..keep_all()
        });
        let multicast = seed % 2 == 0;
        let low = connect(&mut world, writer, multicast, &wants("number <= 100"));
        let tens = connect(
            &mut world,
            writer,
            multicast,
            &wants("number BETWEEN 10 AND 19"),
        );
        let everything = Wanted {
            expression: None,
            ..wants("")
        };
        let all = connect(&mut world, writer, multicast, &everything);
        let len = if seed % 3 == 0 { 3000 } else { 40 };
        write(&mut world, writer, 1..=200, len);
        world.settle(Duration::from_secs(60));
        let got = |reader: usize| world.readers[reader].cache.numbers();
        assert_eq!(got(low), (1..=100).collect::<Vec<_>>(), "seed {seed}");
        assert_eq!(got(tens), (10..=19).collect::<Vec<_>>(), "seed {seed}");
        assert_eq!(got(all), (1..=200).collect::<Vec<_>>(), "seed {seed}");
        let lost: u64 = world.readers.iter().map(|node| node.cache.lost).sum();
        assert_eq!(lost, 0, "seed {seed}");
        assert_eq!(world.writers[writer].writer.counters().filtered, 100 + 190);
    }
}

#[test]
fn what_nobody_wants_is_not_sent() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(keep_all());
    connect(&mut world, writer, false, &wants("number = 7"));
    write(&mut world, writer, 1..=100, 1000);
    world.settle(Duration::from_secs(10));
    let counters = world.writers[writer].writer.counters();
    assert_eq!(
        (counters.sent, counters.resent, counters.filtered),
        (1, 0, 99)
    );
}

#[test]
fn history_is_filtered_for_late_joiners() {
    let mut world = World::new(1, Link::lossy(100));
    let writer = world.add_writer(WriterConfig {
        transient_local: true,
        ..keep_all()
    });
    write(&mut world, writer, 1..=100, 40);
    let late = Wanted {
        history: true,
        ..wants("number > 90")
    };
    let reader = connect(&mut world, writer, false, &late);
    world.settle(Duration::from_secs(10));
    let numbers = world.readers[reader].cache.numbers();
    assert_eq!(numbers, (91..=100).collect::<Vec<_>>());
}

#[test]
fn best_effort_readers_are_spared_too_and_lose_nothing() {
    let mut world = World::new(1, Link::PERFECT);
    let writer = world.add_writer(keep_all());
    let wanted = Wanted {
        reliable: false,
        ..wants("number = 10 OR number > 90")
    };
    let reader = connect(&mut world, writer, false, &wanted);
    write(&mut world, writer, 1..=100, 40);
    let node = &world.readers[reader];
    let expected: Vec<_> = [10].into_iter().chain(91..=100).collect();
    assert_eq!(node.cache.numbers(), expected);
    assert_eq!(world.writers[writer].writer.counters().sent, 11);
    assert_eq!(node.cache.lost, 0);
}
