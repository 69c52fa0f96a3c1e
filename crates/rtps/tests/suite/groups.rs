//! A writer whose readers share a group, in virtual time: it sends once for all of them, and again to
//! those alone that have lost something.

use std::net::Ipv4Addr;

use crate::common::script::{READER, WriterScript};
use crate::common::{World, assert_samples, keep_all, reader_config};
use tickwire_base::{Duration, Locator};
use tickwire_rtps::Change;
use tickwire_rtps::wire::{Guid, GuidPrefix};
use tickwire_rtps::writer::{ReaderProxy, WriterConfig};
use tickwire_simnet::Link;

const READERS: u8 = 50;
const GROUP: Locator = Locator::udp_v4(Ipv4Addr::new(239, 255, 0, 1), 7401);

fn alone(id: u8) -> Locator {
    Locator::udp_v4(Ipv4Addr::new(10, 0, 0, id), 7411)
}

/// Where a sample goes to `READERS` readers of the group, and how many datagrams hold it.
fn destinations(multicast: bool, len: usize) -> (usize, Vec<Locator>) {
    let mut script = WriterScript::new(WriterConfig {
        multicast,
        ..keep_all()
    });
    for id in 1..=READERS {
        let reader = ReaderProxy {
            guid: Guid {
                prefix: GuidPrefix([id; 12]),
                ..READER
            },
            unicast: vec![alone(id)],
            multicast: vec![GROUP],
            ..ReaderProxy::default()
        };
        let outbox = &mut script.outbox;
        script.writer.match_reader(script.now, reader, outbox);
    }
    script.outbox.clear();
    let fill = |buffer: &mut Vec<u8>| -> Result<(), ()> {
        buffer.resize(buffer.len() + len, 7);
        Ok(())
    };
    let (writer, outbox) = (&mut script.writer, &mut script.outbox);
    let written = writer.write(script.now, &Change::default(), fill, outbox);
    written.expect("room");
    let by_group = writer.counters().sent_by_group;
    assert_eq!(by_group, u64::from(multicast));
    let to = outbox.datagrams().next().map(|(_, to)| to.to_vec());
    assert!(
        outbox
            .datagrams()
            .all(|(_, all)| Some(all) == to.as_deref())
    );
    (outbox.len(), to.expect("it sends something"))
}

#[test]
fn a_sample_for_a_group_costs_the_writer_what_one_for_a_single_reader_does() {
    assert_eq!(destinations(true, 100), (1, vec![GROUP]));
    let each: Vec<_> = (1..=READERS).map(alone).collect();
    assert_eq!(destinations(false, 100), (1, each));
    let (fragments, to) = destinations(true, 30_000);
    assert_eq!((fragments, to), (3, vec![GROUP]));
}

#[test]
fn fifty_readers_of_a_lossy_group_get_everything_and_share_what_is_not_lost() {
    const SAMPLES: i64 = 100;
    let sent_to_group = |multicast| {
        let mut world = World::new(5, Link::lossy(50));
        let writer = world.add_writer(WriterConfig {
            multicast,
            ..keep_all()
        });
        for _ in 0..READERS {
            let reader = world.add_reader(reader_config(), true);
            world.connect(writer, reader, true, false);
        }
        world.settle(Duration::from_secs(60));
        let len = |number: i64| if number % 10 == 0 { 30_000 } else { 40 };
        for number in 1..=SAMPLES {
            assert_eq!(world.write_blocking(writer, len(number)), number);
            world.run(Duration::from_millis(1));
        }
        world.settle(Duration::from_secs(120));
        for reader in &world.readers {
            assert_samples(&reader.cache, 1..=SAMPLES, len, 5);
        }
        let counters = world.writers[writer].writer.counters();
        // One in twenty is lost on the way to each, and sent again to those alone.
        let readers = u64::from(READERS);
        assert!(
            counters.resent < counters.sent * readers / 4,
            "{counters:?}"
        );
        counters.sent_by_group
    };
    assert_eq!(sent_to_group(true), 100);
    assert_eq!(sent_to_group(false), 0);
}
