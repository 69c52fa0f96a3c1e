//! Who is alive, and who says so.

use super::*;

#[test]
fn liveliness_is_asserted_without_the_application_and_its_end_noticed() {
    let mut net = Net::new([config(1), config(2)]);
    let mut live = writer(1, "Quote");
    live.qos.liveliness.lease_duration = Duration::from_secs(1);
    net.add(0, live);
    net.add(1, reader(2, "Quote"));
    net.run(Duration::from_secs(5));
    let changes = |event: &Event| matches!(event, Event::LivelinessChanged { .. });
    assert_eq!(net.count(1, changes), 0);
    net.loss_percent = 100;
    net.run(Duration::from_millis(1100));
    let not_alive = |event: &Event| matches!(event, Event::LivelinessChanged { alive: false, .. });
    assert_eq!(net.count(1, not_alive), 1);
    net.loss_percent = 0;
    net.run(Duration::from_secs(1));
    let alive = |event: &Event| matches!(event, Event::LivelinessChanged { alive: true, .. });
    assert_eq!(net.count(1, alive), 1);
}

#[test]
fn manual_liveliness_is_asserted_by_the_application_alone() {
    let mut net = Net::new([config(1), config(2)]);
    let mut live = writer(1, "Quote");
    live.qos.liveliness.kind = LivelinessKind::ManualByParticipant;
    live.qos.liveliness.lease_duration = Duration::from_secs(1);
    net.add(0, live);
    net.add(1, reader(2, "Quote"));
    net.run(MOMENT);
    for _ in 0..100 {
        net.call(0, Discovery::assert_liveliness);
        net.run(Duration::from_millis(20));
    }
    let changes = |event: &Event| matches!(event, Event::LivelinessChanged { .. });
    assert_eq!(net.count(1, changes), 0);
    let asserted = net.nodes[0].discovery.messages.write_count();
    assert!(
        (16..=18).contains(&asserted),
        "eight a lease, not {asserted}"
    );
    net.run(Duration::from_secs(2));
    assert_eq!(net.count(1, changes), 1);
    let guid = writer(1, "").guid;
    net.call(1, |discovery, now, _| {
        discovery.writer_heard(now, guid);
    });
    assert_eq!(net.count(1, changes), 1);
}

#[test]
fn a_silent_writer_that_announces_something_new_is_alive_again() {
    let mut net = Net::new([config(1), config(2)]);
    let mut live = writer(1, "Quote");
    live.qos.liveliness.kind = LivelinessKind::ManualByParticipant;
    live.qos.liveliness.lease_duration = Duration::from_secs(1);
    net.add(0, live.clone());
    net.add(1, reader(2, "Quote"));
    net.run(Duration::from_secs(2));
    let alive = |event: &Event| matches!(event, Event::LivelinessChanged { alive: true, .. });
    let not_alive = |event: &Event| matches!(event, Event::LivelinessChanged { alive: false, .. });
    assert_eq!(net.count(1, not_alive), 1);
    live.qos.user_data = vec![1];
    net.add(0, live);
    net.run(MOMENT);
    assert_eq!(net.count(1, alive), 1);
    net.run(Duration::from_secs(2));
    assert_eq!(net.count(1, not_alive), 1);
}

#[test]
fn when_a_writer_was_heard_may_be_told_late() {
    const LEASE: Duration = Duration::from_secs(1);
    let mut net = Net::new([config(1), config(2)]);
    let mut live = writer(1, "Quote");
    live.qos.liveliness.kind = LivelinessKind::ManualByTopic;
    live.qos.liveliness.lease_duration = LEASE;
    let guid = live.guid;
    net.add(0, live);
    net.add(1, reader(2, "Quote"));
    net.run(MOMENT);
    net.call(1, |discovery, now, outbox| {
        assert_eq!(discovery.silent_writers(now), []);
        let later = now + LEASE;
        assert_eq!(discovery.silent_writers(later), [guid]);
        let heard_at = now + (LEASE - Duration::from_millis(1));
        assert_eq!(
            discovery.writer_heard(heard_at, guid),
            Some(heard_at + LEASE)
        );
        assert_eq!(discovery.writer_heard(now, guid), Some(heard_at + LEASE));
        assert_eq!(discovery.silent_writers(later), []);
        discovery.handle_timeout(later, outbox);
        discovery.handle_timeout(heard_at + LEASE, outbox);
    });
    let changes = |event: &Event| matches!(event, Event::LivelinessChanged { .. });
    assert_eq!(net.count(1, changes), 1);
}
