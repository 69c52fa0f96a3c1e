//! Who meets whom, and what both are told.

use super::*;

#[test]
fn a_writer_and_a_reader_of_one_topic_find_each_other() {
    let mut net = pair();
    let mut history = reader(2, "Quote");
    history.qos.durability = Durability::Volatile;
    history.qos.reliability.kind = ReliabilityKind::Reliable;
    net.add(1, history);
    net.run(MOMENT);
    let matched = net.nodes[0].events.iter().find_map(|event| match event {
        Event::ReaderMatched { writer, proxy, .. } => Some((*writer, proxy.clone())),
        _ => None,
    });
    let (local, proxy) = matched.expect("a match");
    assert_eq!(local, writer(1, "").guid);
    assert_eq!(proxy.guid, reader(2, "").guid);
    assert_eq!(proxy.unicast, [user(2)]);
    assert!(proxy.reliable && !proxy.wants_history);
    let matched = net.nodes[1].events.iter().find_map(|event| match event {
        Event::WriterMatched { proxy, .. } => Some(proxy.clone()),
        _ => None,
    });
    let proxy = matched.expect("a match");
    assert_eq!(proxy.guid, local);
    assert_eq!(proxy.unicast, [user(1)]);
    assert_eq!(net.count(0, is_match), 1);
    net.run(LEASE * 3);
    assert_eq!(net.count(0, |_| true), 0, "nothing changes any more");
    assert_eq!(net.nodes[0].discovery.endpoints().count(), 2);
}

/// Its first words come behind its announcement, so they are understood; the other one need only
/// answer. Where announcements cross, both speak.
#[test]
fn of_two_endpoints_the_one_that_matches_first_speaks() {
    let mut net = Net::new([config(1), config(2)]);
    net.run(MOMENT);
    net.add(0, writer(1, "Quote"));
    // Its announcement is acknowledged.
    net.run(Duration::from_millis(200));
    net.add(1, reader(2, "Quote"));
    let of_writer = net.nodes[0].events.iter().find_map(|event| match event {
        Event::ReaderMatched { proxy, .. } => Some(proxy.clone()),
        _ => None,
    });
    let of_reader = net.nodes[1].events.iter().find_map(|event| match event {
        Event::WriterMatched { proxy, .. } => Some(proxy.speaks_first),
        _ => None,
    });
    assert_eq!(of_reader, Some(false), "it matches first");
    let of_writer = of_writer.expect("a match");
    assert_eq!(of_writer.introduced_at, [metatraffic(2)]);
    assert!(of_writer.speaks_first && !of_writer.has_matched);
}

#[test]
fn endpoints_that_come_and_go_later_are_matched_and_unmatched() {
    let mut net = Net::new([config(1), config(2)]);
    net.run(MOMENT);
    net.add(0, writer(1, "Quote"));
    net.add(1, reader(2, "Quote"));
    assert_eq!(net.count(0, is_match), 1);
    assert_eq!(net.count(1, is_match), 1);
    let removed = net.call(1, |discovery, now, outbox| {
        discovery.remove(now, reader(2, "").guid, None, outbox)
    });
    assert!(removed);
    assert_eq!(net.count(0, is_unmatch), 1);
    assert_eq!(net.count(1, is_unmatch), 1);
    let again = net.call(1, |discovery, now, outbox| {
        discovery.remove(now, reader(2, "").guid, None, outbox)
    });
    assert!(!again);
    net.join(config(3));
    net.add(2, reader(3, "Quote"));
    net.run(MOMENT);
    assert_eq!(net.count(0, is_match), 1);
    assert_eq!(net.nodes[2].discovery.endpoints().count(), 2);
}

#[test]
fn a_writer_that_leaves_says_what_it_wrote_last() {
    let mut net = pair();
    net.run(MOMENT);
    net.take_events(1);
    let last_change = Some(SequenceNumber(7));
    net.call(0, |discovery, now, outbox| {
        discovery.remove(now, writer(1, "").guid, last_change, outbox)
    });
    let events = net.take_events(1);
    let gone = events.iter().find_map(|event| match event {
        Event::WriterUnmatched { gone, .. } => *gone,
        _ => None,
    });
    let left = Gone {
        reason: LostReason::Left,
        last_change,
    };
    assert_eq!(gone, Some(left));
}

/// The other one sees nothing new in our announcement, and has nothing to say to us by itself.
#[test]
fn a_participant_that_knows_us_from_before_is_met_again() {
    let mut net = pair();
    net.run(MOMENT);
    assert_eq!(net.count(0, is_match), 1);
    net.call(0, |discovery, now, _| {
        discovery.forget(now, prefix(2), LostReason::LeaseExpired);
    });
    assert_eq!(net.count(0, is_unmatch), 1);
    net.run(LEASE);
    assert_eq!(net.count(0, is_match), 1);
    assert_eq!(net.nodes[0].discovery.endpoints().count(), 2);
}

#[test]
fn a_writer_and_a_reader_of_one_participant_match_without_a_network() {
    let mut net = Net::new([config(1)]);
    net.add(0, reader(1, "Quote"));
    net.add(0, writer(1, "Quote"));
    net.add(0, writer(1, "Quote"));
    assert_eq!(net.count(0, is_match), 2);
    net.call(0, |discovery, now, outbox| {
        discovery.remove(now, writer(1, "").guid, None, outbox)
    });
    assert_eq!(net.count(0, is_unmatch), 2);
}

#[test]
fn both_sides_are_told_why_they_do_not_match() {
    let mut net = Net::new([config(1), config(2)]);
    let mut offered = writer(1, "Quote");
    offered.qos.reliability.kind = ReliabilityKind::BestEffort;
    let mut requested = reader(2, "Quote");
    requested.qos.reliability.kind = ReliabilityKind::Reliable;
    net.add(0, offered);
    net.add(1, requested.clone());
    net.run(MOMENT);
    for index in [0, 1] {
        let discovery = &net.nodes[index].discovery;
        let (_, _, verdict) = discovery.verdicts().next().expect("one pair");
        assert!(matches!(verdict.mismatches[..], [Mismatch::Reliability(_)]));
        assert_eq!(
            net.count(index, |event| matches!(event, Event::Incompatible { .. })),
            1
        );
    }
    requested.qos.reliability.kind = ReliabilityKind::BestEffort;
    net.add(1, requested.clone());
    assert_eq!(net.count(0, is_match), 1);
    requested.qos.partition = vec!["elsewhere".to_string()];
    net.add(1, requested);
    let mut kinds = Vec::new();
    net.count(0, |event| {
        kinds.push(core::mem::discriminant(event));
        is_unmatch(event)
    });
    assert_eq!(kinds.len(), 3, "found, unmatched, incompatible");
    assert_eq!(net.count(1, is_unmatch), 1);
}

#[test]
fn another_domain_or_tag_is_not_ours() {
    let mut other_id = config(2);
    other_id.participant.domain_id = Some(1);
    let mut other_tag = config(3);
    other_tag.participant.domain_tag = "test".to_string();
    let mut silent = config(4);
    silent.participant.domain_id = None;
    let mut net = Net::new([config(1), other_id, other_tag, silent]);
    net.run(MOMENT);
    let discovery = &net.nodes[0].discovery;
    let known: Vec<_> = discovery.participants().map(|p| p.guid_prefix).collect();
    assert_eq!(known, [prefix(4)]);
    assert!(discovery.counters().other_domain >= 2);
}

#[test]
fn a_slip_in_a_topic_name_is_found() {
    let mut net = pair();
    net.add(1, reader(2, "MarketData"));
    net.run(MOMENT);
    let discovery = &net.nodes[0].discovery;
    assert_eq!(discovery.nearest_topic("MarketDta"), Some("MarketData"));
    assert_eq!(discovery.nearest_topic("Depth"), None);
}

#[test]
fn an_endpoint_that_changes_its_topic_is_another_one() {
    let mut net = pair();
    net.run(MOMENT);
    net.count(1, |_| true);
    let mut renamed = writer(1, "Trade");
    net.add(0, renamed.clone());
    let mut told = Vec::new();
    net.count(1, |event| {
        match event {
            Event::EndpointLost { endpoint, .. } => told.push(("lost", endpoint.clone())),
            Event::EndpointFound(data) => told.push(("found", data.clone())),
            _ => {}
        }
        true
    });
    let told: Vec<_> = told
        .iter()
        .map(|(what, data)| (*what, data.topic_name.as_str()))
        .collect();
    assert_eq!(told, [("lost", "Quote"), ("found", "Trade")]);
    renamed.entity_name = "again".to_string();
    net.add(0, renamed);
    let is_found = |event: &Event| matches!(event, Event::EndpointFound(_));
    assert_eq!(net.count(1, is_found), 1);
}
