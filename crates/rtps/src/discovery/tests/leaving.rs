//! Participants that go, with or without a word, and come again.

use super::*;

#[test]
fn a_good_bye_ends_everything_at_once() {
    let mut net = pair();
    net.run(MOMENT);
    net.count(1, |_| true);
    net.call(0, |discovery, _, outbox| discovery.close(outbox));
    let mut lost = None;
    assert_eq!(
        net.count(1, |event| {
            if let Event::ParticipantLost { reason, .. } = event {
                lost = Some(*reason);
            }
            is_unmatch(event)
        }),
        1
    );
    assert_eq!(lost, Some(LostReason::Left));
    assert_eq!(net.nodes[0].discovery.poll_timeout(), None);
    assert_eq!(net.nodes[1].discovery.endpoints().count(), 1);
    assert_eq!(net.nodes[1].discovery.participants().count(), 0);
}

#[test]
fn an_announcement_overtaken_by_the_goodbye_does_not_bring_the_participant_back() {
    let mut net = pair();
    net.run(MOMENT);
    let hears = net.nodes[1].discovery.config.participant.clone();
    let mut overtaken = Outbox::new();
    let to = &hears.metatraffic_unicast;
    let announcer = &mut net.nodes[0].discovery.announcer;
    announcer.answer(hears.guid_prefix, to, &mut overtaken);
    net.call(0, |discovery, _, outbox| discovery.close(outbox));
    net.deliver(&overtaken);
    net.settle();
    let discovery = &net.nodes[1].discovery;
    assert_eq!(discovery.participants().count(), 0);
    assert_eq!(discovery.counters().announcements_overtaken, 1);
}

#[test]
fn a_participant_that_falls_silent_is_lost_when_its_lease_ends() {
    let mut net = pair();
    net.run(MOMENT);
    net.count(1, |_| true);
    // All was said in the first instant.
    net.nodes.remove(0);
    let nanosecond = Duration::from_nanos(1);
    net.run(LEASE - MOMENT - nanosecond);
    assert_eq!(net.count(0, is_unmatch), 0);
    net.run(nanosecond);
    assert_eq!(net.count(0, is_unmatch), 1);
    assert_eq!(net.nodes[0].discovery.counters().leases_expired, 1);
    assert_eq!(net.nodes[0].discovery.participants().count(), 0);
}

#[test]
fn a_participant_that_starts_again_is_another_one() {
    let mut net = pair();
    net.run(MOMENT);
    net.nodes[0] = Node {
        discovery: Discovery::new(config(3)).expect("short names"),
        events: Vec::new(),
    };
    net.add(0, writer(3, "Quote"));
    net.count(1, |_| true);
    net.run(MOMENT);
    assert_eq!(net.count(1, is_match), 1);
    net.run(LEASE);
    assert_eq!(net.count(1, is_unmatch), 1);
    assert_eq!(net.nodes[1].discovery.participants().count(), 1);
}
