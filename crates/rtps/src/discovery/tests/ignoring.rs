//! What the owner does not want to know of.

use super::*;

/// Two nodes that match twice, once in each direction, on two topics.
fn matched() -> Net {
    let mut net = pair();
    net.add(0, reader(1, "Trade"));
    net.add(1, writer(2, "Trade"));
    net.run(MOMENT);
    assert_eq!(net.count(0, is_match), 2);
    assert_eq!(net.count(1, is_match), 2);
    net
}

/// What the second node says of its endpoints from here on is new.
fn say_all_again(net: &mut Net) {
    for mut data in [reader(2, "Quote"), writer(2, "Trade")] {
        data.entity_name = "again".to_string();
        net.add(1, data);
    }
    net.run(LEASE);
}

fn known(net: &Net) -> (usize, usize) {
    let discovery = &net.nodes[0].discovery;
    let of_others = |data: &&Arc<EndpointData>| data.guid.prefix == prefix(2);
    let endpoints = discovery.endpoints().filter(of_others).count();
    (discovery.participants().count(), endpoints)
}

fn is_ignored(event: &Event) -> bool {
    let reason = match event {
        Event::ParticipantLost { reason, .. } | Event::EndpointLost { reason, .. } => reason,
        _ => return false,
    };
    assert_eq!(*reason, LostReason::Ignored);
    true
}

#[test]
fn an_ignored_participant_is_gone_and_does_not_come_back() {
    let mut net = matched();
    net.call(0, |discovery, now, _| {
        discovery.ignore_participant(now, prefix(2));
    });
    let mut unmatched = 0;
    let lost = net.count(0, |event| {
        unmatched += usize::from(is_unmatch(event));
        is_ignored(event)
    });
    assert_eq!((lost, unmatched), (3, 2), "it, its endpoints, its matches");
    say_all_again(&mut net);
    assert_eq!(net.count(0, |_| true), 0, "nothing of it is told any more");
    assert_eq!(known(&net), (0, 0));
    assert!(net.nodes[0].discovery.counters().ignored > 0);
    assert_eq!(net.count(1, is_unmatch), 0, "it does not know");
    // Others are not concerned.
    net.join(config(3));
    net.add(2, writer(3, "Trade"));
    net.run(MOMENT);
    assert_eq!(net.count(0, is_match), 1);
}

#[test]
fn a_participant_may_be_ignored_before_it_comes() {
    let mut net = Net::new([config(1)]);
    net.add(0, writer(1, "Quote"));
    net.call(0, |discovery, now, _| {
        discovery.ignore_participant(now, prefix(2));
    });
    net.join(config(2));
    net.add(1, reader(2, "Quote"));
    net.run(LEASE);
    assert_eq!(known(&net), (0, 0));
    assert_eq!(net.count(0, |_| true), 0);
}

#[test]
fn an_ignored_endpoint_is_unmatched_and_stays_so_while_others_match() {
    for (ignored, left) in [(reader(2, "Quote"), "Trade"), (writer(2, "Trade"), "Quote")] {
        let mut net = matched();
        net.call(0, |discovery, now, _| {
            discovery.ignore_endpoint(now, ignored.guid);
        });
        assert_eq!(net.count(0, is_unmatch), 1);
        say_all_again(&mut net);
        assert_eq!(known(&net), (1, 1));
        let mut of_left = 0;
        net.count(0, |event| {
            let (Event::ReaderMatched { reader: data, .. }
            | Event::WriterMatched { writer: data, .. }) = event
            else {
                return false;
            };
            assert_eq!(data.topic_name, left);
            of_left += 1;
            true
        });
        assert_eq!(of_left, 1, "the other one has changed");
    }
}

#[test]
fn an_ignored_topic_has_no_endpoints_but_ours() {
    let mut net = matched();
    net.call(0, |discovery, now, _| {
        discovery.ignore_topic(now, "Quote", "another type");
    });
    assert_eq!(known(&net), (1, 2));
    net.call(0, |discovery, now, _| {
        discovery.ignore_topic(now, "Quote", "T")
    });
    assert_eq!(net.count(0, is_unmatch), 1);
    say_all_again(&mut net);
    assert_eq!(known(&net), (1, 1));
    net.join(config(3));
    net.add(2, reader(3, "Quote"));
    net.run(MOMENT);
    let is_of_topic = |event: &Event| matches!(event, Event::ReaderMatched { .. });
    assert_eq!(net.count(0, is_of_topic), 0, "newcomers are ignored, too");
    // One that changes over to an ignored topic goes.
    let mut renamed = writer(2, "Trade");
    renamed.topic_name = "Quote".to_string();
    net.add(1, renamed);
    assert_eq!(known(&net), (2, 0));
}

#[test]
fn our_own_endpoints_are_not_ignored() {
    let mut net = Net::new([config(1)]);
    net.add(0, writer(1, "Quote"));
    net.add(0, reader(1, "Quote"));
    assert_eq!(net.count(0, is_match), 2);
    net.call(0, |discovery, now, _| {
        discovery.ignore_participant(now, prefix(1));
        discovery.ignore_endpoint(now, writer(1, "Quote").guid);
        discovery.ignore_topic(now, "Quote", "T");
    });
    assert_eq!(net.count(0, |_| true), 0);
    assert_eq!(net.nodes[0].discovery.endpoints().count(), 2);
}
