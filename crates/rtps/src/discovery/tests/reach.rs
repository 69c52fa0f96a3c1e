//! Who is reached by what: groups, addresses, loss.

use super::*;

#[test]
fn one_that_knows_the_others_address_is_enough() {
    let mut configs = [config(1), config(2)];
    for config in &mut configs {
        config.participant.metatraffic_multicast.clear();
        config.announce_to.clear();
    }
    configs[1].announce_to.push(metatraffic(1));
    let mut net = Net::new(configs);
    net.add(0, writer(1, "Quote"));
    net.add(1, reader(2, "Quote"));
    net.run(MOMENT);
    assert_eq!(net.count(0, is_match), 1);
    assert_eq!(net.count(1, is_match), 1);
    net.run(LEASE * 3);
    assert_eq!(net.nodes[0].discovery.counters().leases_expired, 0);
    assert_eq!(net.nodes[1].discovery.counters().leases_expired, 0);
}

/// Two nodes without a working group of which only the second knows the other's address, and each
/// of which announces itself once in a period.
fn one_sided(announce_to: Locator) -> Net {
    let mut configs = [config(1), config(2)];
    for config in &mut configs {
        config.initial_count = 1;
    }
    configs[0].announce_to = vec![announce_to];
    configs[1].announce_to.push(metatraffic(1));
    let mut net = Net::new(configs);
    net.group_works = false;
    net.call(0, Discovery::handle_timeout);
    net.add(0, writer(1, "Quote"));
    net.add(1, reader(2, "Quote"));
    net
}

#[test]
fn a_lost_answer_is_repeated_soon() {
    let mut net = one_sided(metatraffic(7));
    net.call_one(1, Discovery::handle_timeout);
    net.loss_percent = 100;
    net.settle();
    net.loss_percent = 0;
    assert_eq!(net.nodes[0].discovery.participants().count(), 1);
    assert_eq!(net.nodes[1].discovery.participants().count(), 0);
    net.run(Duration::from_millis(300));
    assert_eq!(net.count(0, is_match), 1);
    assert_eq!(net.count(1, is_match), 1);
}

#[test]
fn who_cannot_hear_the_group_is_told_for_as_long_as_it_lives() {
    let mut net = one_sided(metatraffic(7));
    net.call(1, Discovery::handle_timeout);
    assert_eq!(net.count(1, is_match), 1);
    net.run(LEASE * 3);
    for node in &net.nodes {
        assert_eq!(node.discovery.counters().leases_expired, 0);
    }
}

#[test]
fn who_does_not_know_us_is_told_alone_though_it_claims_to_hear_the_group() {
    let mut net = one_sided(GROUP);
    net.call_one(1, Discovery::handle_timeout);
    net.loss_percent = 100;
    net.settle();
    net.run(Duration::from_secs(1));
    net.loss_percent = 0;
    assert_eq!(net.nodes[1].discovery.participants().count(), 0);
    net.run(LEASE / 3);
    assert_eq!(net.count(1, is_match), 1);
}

#[test]
fn loss_delays_discovery_but_does_not_prevent_it() {
    for seed in 1..=200 {
        let mut net = Net::new([config(1), config(2), config(3)]);
        net.random = seed * 0x9e37_79b9;
        net.loss_percent = 40;
        net.add(0, writer(1, "Quote"));
        net.add(1, reader(2, "Quote"));
        net.add(2, reader(3, "Quote"));
        net.run(Duration::from_secs(8));
        assert_eq!(net.count(0, is_match), 2, "seed {seed}");
        for index in [1, 2] {
            assert_eq!(net.count(index, is_match), 1, "seed {seed}");
        }
    }
}

#[test]
fn duplicates_change_nothing() {
    let mut net = pair();
    net.copies = 3;
    net.run(LEASE);
    assert_eq!(net.count(0, is_match), 1);
    assert_eq!(
        net.count(1, |event| matches!(event, Event::ParticipantFound(_))),
        1
    );
}

#[test]
fn news_of_a_participant_reaches_the_others_at_once() {
    let mut net = pair();
    net.run(MOMENT);
    net.count(1, |_| true);
    let moved = user(9);
    net.call(0, |discovery, now, _| {
        discovery.update_participant(now, |data| {
            data.default_unicast = vec![moved];
            data.guid_prefix = prefix(9);
        })
    })
    .expect("short names");
    net.run(MOMENT);
    let mut proxies = Vec::new();
    net.count(1, |event| {
        if let Event::WriterMatched { proxy, .. } = event {
            proxies.push(proxy.unicast.clone());
        }
        is_match(event)
    });
    assert_eq!(proxies, [[moved]]);
    assert_eq!(net.nodes[1].discovery.participants().count(), 1);
}

#[test]
fn many_participants_find_each_other_with_few_datagrams() {
    const COUNT: u8 = 60;
    let mut net = Net::new((1..=COUNT).map(config));
    for (index, id) in (1..=COUNT).enumerate() {
        net.add(index, writer(id, "Quote"));
        net.add(index, reader(id, "Quote"));
    }
    net.run(Duration::from_secs(2));
    let others = usize::from(COUNT) - 1;
    for index in 0..usize::from(COUNT) {
        // With each other one, and twice with oneself.
        assert_eq!(net.count(index, is_match), 2 * others + 2);
        let counters = *net.nodes[index].discovery.counters();
        assert!(
            counters.answers_sent <= 2 * u64::from(COUNT),
            "{counters:?}"
        );
    }
}
