//! A participant may be reached otherwise than its readers announce.

use std::net::Ipv4Addr;

use tickwire_base::{Instant, Locator};
use tickwire_rtps::wire::{EntityId, Guid, GuidPrefix};
use tickwire_rtps::writer::{HistoryKind, ReaderProxy, Writer, WriterConfig};
use tickwire_rtps::{Change, Outbox};

const HERE: Locator = Locator::udp_v4(Ipv4Addr::LOCALHOST, 1);
const THERE: Locator = Locator::udp_v4(Ipv4Addr::LOCALHOST, 2);
const GROUP: Locator = Locator::udp_v4(Ipv4Addr::new(239, 255, 0, 1), 3);
const LOG: Locator = Locator::log([0, 0, 1, 2]);
const NEIGHBOUR: GuidPrefix = GuidPrefix([2; 12]);
const STRANGER: GuidPrefix = GuidPrefix([3; 12]);

fn reader(prefix: GuidPrefix, key: u32, unicast: Locator) -> ReaderProxy {
    ReaderProxy {
        guid: Guid::new(prefix, EntityId::user_reader(key, false)),
        unicast: vec![unicast],
        multicast: vec![GROUP],
        ..ReaderProxy::default()
    }
}

/// Where the next sample goes, in ascending order.
fn sent_to(writer: &mut Writer) -> Vec<Locator> {
    let mut outbox = Outbox::new();
    let payload = |buffer: &mut Vec<u8>| {
        buffer.resize(buffer.len() + 20, 1);
        Ok::<(), ()>(())
    };
    let written = writer.write(Instant::ZERO, &Change::default(), payload, &mut outbox);
    written.expect("room");
    let datagrams: Vec<_> = outbox.datagrams().collect();
    assert_eq!(datagrams.len(), 1, "one datagram for all destinations");
    datagrams[0].1.to_vec()
}

#[test]
fn all_readers_of_a_participant_are_reached_by_its_detour_present_and_future_ones() {
    let mut writer = Writer::new(WriterConfig {
        history: HistoryKind::KeepLast(1),
        ..WriterConfig::new(Guid::new(
            GuidPrefix([1; 12]),
            EntityId::user_writer(1, false),
        ))
    });
    let mut outbox = Outbox::new();
    for (prefix, key, unicast) in [(NEIGHBOUR, 1, HERE), (STRANGER, 1, THERE)] {
        let proxy = reader(prefix, key, unicast);
        writer.match_reader(Instant::ZERO, proxy, &mut outbox);
    }
    assert_eq!(sent_to(&mut writer), [GROUP], "two share it");

    writer.divert(NEIGHBOUR, Some(LOG));
    assert_eq!(sent_to(&mut writer), [THERE, LOG]);
    for key in [1, 2] {
        // Known or new, its locators change nothing.
        let proxy = reader(NEIGHBOUR, key, HERE);
        writer.match_reader(Instant::ZERO, proxy, &mut outbox);
    }
    assert_eq!(sent_to(&mut writer), [THERE, LOG], "one record for both");
    let second = reader(STRANGER, 2, THERE);
    writer.match_reader(Instant::ZERO, second, &mut outbox);
    assert_eq!(sent_to(&mut writer), [GROUP, LOG]);

    writer.divert(NEIGHBOUR, None);
    assert_eq!(sent_to(&mut writer), [GROUP], "as if nothing had been");
}
