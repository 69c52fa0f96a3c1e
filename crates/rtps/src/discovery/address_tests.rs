//! Addresses that change, and several ways to one participant, in virtual time.

use alloc::vec;
use alloc::vec::Vec;
use core::net::Ipv4Addr;

use tickwire_base::{Duration, Locator};

use super::tests::{LEASE, MOMENT, Net, config, reader, writer};
use super::*;
use crate::wire::{Arrival, MessageReader};

fn at(host: [u8; 4]) -> OwnAddresses {
    OwnAddresses {
        metatraffic: vec![Locator::udp_v4(host.into(), 7410)],
        user: vec![Locator::udp_v4(host.into(), 7411)],
    }
}

/// A participant, a writer and a reader at several addresses.
fn multihomed(id: u8, hosts: &[[u8; 4]]) -> DiscoveryConfig {
    let mut config = config(id);
    let locators = |port| {
        hosts
            .iter()
            .map(move |&host| Locator::udp_v4(host.into(), port))
    };
    config.participant.metatraffic_unicast = locators(7410).collect();
    config.participant.default_unicast = locators(7411).collect();
    config
}

fn attached_to(network: [u8; 4]) -> Attachment {
    Attachment {
        addresses: vec![network.into()],
        networks: vec![(network.into(), 24)],
        ..Attachment::default()
    }
}

/// The addresses of the proxies that a node was told of since this was asked last.
fn proxies_told(net: &mut Net, index: usize) -> Vec<Vec<Locator>> {
    let events = core::mem::take(&mut net.nodes[index].events);
    let proxies = events.into_iter().filter_map(|event| match event {
        Event::ReaderMatched { proxy, .. } => Some(proxy.unicast),
        Event::WriterMatched { proxy, .. } => Some(proxy.unicast),
        _ => None,
    });
    proxies.collect()
}

/// Everything that `from` announces now, as `to` hears it from an address.
fn hear(net: &mut Net, from: usize, to: usize, source: [u8; 4]) {
    let mut outbox = Outbox::new();
    let (now, node) = (net.now, &mut net.nodes[from]);
    node.discovery.announcer.announce(now, &mut outbox);
    let arrival = Arrival {
        kernel_timestamp: None,
        from: Ipv4Addr::from(source).into(),
        by_multicast: true,
    };
    for (datagram, _) in outbox.datagrams() {
        let message = MessageReader::new(datagram.head).expect("our own header");
        for item in message.arrived(arrival) {
            let (context, submessage) = item.expect("our own submessages");
            net.call(to, |discovery, now, outbox| {
                discovery.handle(now, &context, &submessage, outbox);
            });
        }
    }
}

#[test]
fn who_moves_is_reached_at_its_new_address_at_once() {
    let mut net = Net::new([config(1), config(2)]);
    net.add(0, writer(1, "Quote"));
    net.add(0, reader(1, "Order"));
    net.add(1, reader(2, "Quote"));
    net.add(1, writer(2, "Order"));
    net.run(MOMENT);
    proxies_told(&mut net, 1);
    let moved = at([10, 0, 0, 7]);
    net.call(0, |discovery, now, outbox| {
        discovery.move_to(now, Attachment::default(), &moved, outbox)
    })
    .expect("a short announcement");
    net.run(Duration::ZERO);
    let told = proxies_told(&mut net, 1);
    // The reader at the address for user data, as its participant says.
    assert!(told.contains(&moved.user), "{told:?}");
    assert_eq!(net.nodes[1].discovery.participants().count(), 1);
}

fn move_to(net: &mut Net, index: usize, to: &OwnAddresses) {
    net.call(index, |discovery, now, outbox| {
        discovery.move_to(now, Attachment::default(), to, outbox)
    })
    .expect("a short announcement");
}

#[test]
fn who_moves_unheard_is_found_when_the_other_one_moves() {
    let (first, second) = (at([10, 1, 0, 1]), at([10, 1, 0, 2]));
    for loss_percent in [0, 40] {
        let mut net = Net::new([config(1), config(2)]);
        net.add(0, writer(1, "Quote"));
        net.add(1, reader(2, "Quote"));
        net.run(MOMENT);
        proxies_told(&mut net, 1);
        // The second host's link to the new network comes up after all that the first one announces.
        net.group_works = false;
        move_to(&mut net, 0, &first);
        move_to(&mut net, 1, &at([10, 9, 0, 2]));
        net.run(Duration::from_secs(1));
        assert!(!proxies_told(&mut net, 1).contains(&first.user));
        net.group_works = true;
        net.loss_percent = loss_percent;
        move_to(&mut net, 1, &second);
        net.run(Duration::from_secs(1));
        let known = net.nodes[1].discovery.participants().next();
        let known = known.expect("their leases have not ended");
        assert_eq!(known.metatraffic_unicast, first.metatraffic);
        assert_eq!(net.nodes[1].discovery.counters().leases_expired, 0);
    }
}

#[test]
fn who_moves_is_answered_until_it_shows_that_it_hears_and_no_longer() {
    let mut net = Net::new([config(1), config(2)]);
    net.run(LEASE);
    let answers = |net: &Net| net.nodes[1].discovery.counters().answers_sent;
    let before = answers(&net);
    move_to(&mut net, 0, &at([10, 1, 0, 1]));
    net.run(LEASE * 4);
    assert_eq!(answers(&net) - before, 2, "one at once, one with a probe");
}

#[test]
fn an_address_of_a_writer_moves_with_its_participant() {
    let mut net = Net::new([config(1), config(2)]);
    let mut own = writer(1, "Quote");
    own.unicast_locators = at([10, 0, 0, 1]).metatraffic;
    net.add(0, own);
    net.add(1, reader(2, "Quote"));
    net.run(MOMENT);
    let told = proxies_told(&mut net, 1);
    assert_eq!(told, [at([10, 0, 0, 1]).metatraffic]);
    let moved = at([10, 0, 0, 7]);
    net.call(0, |discovery, now, outbox| {
        discovery.move_to(now, Attachment::default(), &moved, outbox)
    })
    .expect("a short announcement");
    net.run(Duration::ZERO);
    let last = proxies_told(&mut net, 1).pop();
    assert_eq!(last, Some(moved.metatraffic));
}

#[test]
fn who_loses_a_network_reaches_others_by_another_one() {
    let (first, second) = ([10, 0, 0, 2], [10, 1, 0, 2]);
    let mut both = config(1);
    both.attachment = attached_to([10, 0, 0, 1]);
    let mut net = Net::new([both, multihomed(2, &[first, second])]);
    net.add(0, writer(1, "Quote"));
    net.add(1, reader(2, "Quote"));
    net.run(MOMENT);
    assert_eq!(proxies_told(&mut net, 0), [at(first).user]);
    net.call(0, |discovery, now, outbox| {
        let attachment = attached_to([10, 1, 0, 1]);
        discovery.move_to(now, attachment, &at([10, 1, 0, 1]), outbox)
    })
    .expect("a short announcement");
    assert!(proxies_told(&mut net, 0).contains(&at(second).user));
}

#[test]
fn a_better_way_is_taken_and_one_as_good_is_not() {
    let (first, second) = ([10, 0, 0, 2], [10, 1, 0, 2]);
    let mut us = config(1);
    us.attachment = attached_to([10, 0, 0, 1]);
    us.attachment
        .networks
        .push((Ipv4Addr::new(10, 1, 0, 1), 24));
    let mut net = Net::new([us, multihomed(2, &[first, second])]);
    net.add(0, writer(1, "Quote"));
    net.add(1, reader(2, "Quote"));
    net.run(MOMENT);
    assert_eq!(proxies_told(&mut net, 0), [at(first).user]);
    hear(&mut net, 1, 0, second);
    assert_eq!(proxies_told(&mut net, 0), [at(second).user]);
    hear(&mut net, 1, 0, first);
    assert!(proxies_told(&mut net, 0).is_empty());
}

#[test]
fn nobody_is_sent_to_at_an_address_that_is_our_own() {
    let mut us = config(1);
    us.attachment = attached_to([10, 0, 0, 1]);
    us.attachment.addresses.push(Ipv4Addr::new(172, 17, 0, 1));
    let mut net = Net::new([us, multihomed(2, &[[172, 17, 0, 1], [127, 0, 0, 1]])]);
    net.add(0, writer(1, "Quote"));
    net.call(1, |discovery, now, outbox| {
        discovery.add(now, reader(2, "Quote"), outbox)
    })
    .expect("an endpoint of that node");
    hear(&mut net, 1, 0, [10, 0, 0, 2]);
    net.run(MOMENT);
    let told = proxies_told(&mut net, 0);
    assert!(told.iter().all(Vec::is_empty), "{told:?}");
}
