//! What readers of coherent sets of GROUP scope are told of the writers of a publisher.

use alloc::format;
use alloc::string::String;

use super::*;
use crate::qos::{Presentation, PresentationScope};

const GROUP_SETS: Presentation = Presentation {
    access_scope: PresentationScope::Group,
    coherent_access: true,
    ordered_access: false,
};

/// A writer of the publisher of participant 1.
fn member(number: u32, topic: &str) -> EndpointData {
    let mut data = writer(1, topic);
    data.guid.entity = EntityId::user_writer(number, true);
    data.qos.presentation = GROUP_SETS;
    data.group = Some(Guid::new(prefix(1), EntityId::user_publisher(1)));
    data
}

fn looking_reader(topic: &str) -> EndpointData {
    let mut data = reader(2, topic);
    data.qos.presentation = GROUP_SETS;
    data
}

/// What the second node is told of matches and groups.
fn told(net: &mut Net) -> Vec<String> {
    let number = |entity: &EntityId| format!("{}", entity.0[2]);
    let events = net.nodes[1].events.drain(..);
    let told = events.filter_map(|event| match event {
        Event::WriterMatched { writer, .. } => Some(format!("+{}", number(&writer.guid.entity))),
        Event::WriterUnmatched { writer, .. } => Some(format!("-{}", number(&writer.entity))),
        Event::GroupChanged {
            publisher, writers, ..
        } => {
            assert_eq!(Some(publisher), member(1, "").group);
            let all: Vec<_> = writers.iter().map(number).collect();
            Some(all.join(" "))
        }
        _ => None,
    });
    told.collect()
}

fn add(net: &mut Net, index: usize, data: EndpointData) {
    let added = net.call(index, |discovery, now, outbox| {
        discovery.add(now, data, outbox)
    });
    added.expect("a short announcement");
    net.run(MOMENT);
}

#[test]
fn a_group_is_told_after_its_matches_and_before_their_end() {
    let mut net = Net::new([config(1), config(2)]);
    net.run(MOMENT);
    add(&mut net, 0, member(1, "A"));
    add(&mut net, 1, looking_reader("A"));
    assert_eq!(told(&mut net), ["+1", "1"]);
    add(&mut net, 0, member(2, "A"));
    assert_eq!(told(&mut net), ["+2", "1 2"]);
    // One that the reader has nothing to do with.
    add(&mut net, 0, member(3, "B"));
    assert_eq!(told(&mut net), ["1 2 3"]);
    net.call(0, |discovery, now, outbox| {
        assert!(discovery.remove(now, member(2, "A").guid, outbox));
    });
    net.run(MOMENT);
    assert_eq!(told(&mut net), ["1 3", "-2"]);
}

#[test]
fn readers_that_do_not_look_at_groups_are_told_nothing() {
    let mut net = Net::new([config(1), config(2)]);
    net.run(MOMENT);
    add(&mut net, 0, member(1, "A"));
    add(&mut net, 1, reader(2, "A"));
    add(&mut net, 0, member(2, "A"));
    assert_eq!(told(&mut net), ["+1", "+2"]);
}

#[test]
fn nobody_speaks_for_the_publisher_of_another_participant() {
    let mut net = Net::new([config(1), config(2), config(3)]);
    net.run(MOMENT);
    add(&mut net, 0, member(1, "A"));
    add(&mut net, 1, looking_reader("A"));
    told(&mut net);
    let mut foreign = member(7, "B");
    foreign.guid.prefix = prefix(3);
    add(&mut net, 2, foreign);
    assert!(told(&mut net).is_empty());
}

#[test]
fn of_a_publisher_with_too_many_writers_none_is_told() {
    let mut net = Net::new([config(1), config(2)]);
    net.run(MOMENT);
    add(&mut net, 0, member(1, "A"));
    add(&mut net, 1, looking_reader("A"));
    told(&mut net);
    for number in 2..=1025 {
        net.call(0, |discovery, now, outbox| {
            let added = discovery.add(now, member(number, "B"), outbox);
            added.expect("a short announcement");
        });
    }
    net.run(MOMENT);
    assert_eq!(told(&mut net).last().map(String::as_str), Some(""));
}

#[test]
fn of_a_publisher_with_a_writer_that_is_ignored_none_is_told() {
    for is_known in [false, true] {
        let mut net = Net::new([config(1), config(2)]);
        net.run(MOMENT);
        add(&mut net, 0, member(1, "A"));
        add(&mut net, 1, looking_reader("A"));
        if is_known {
            add(&mut net, 0, member(2, "B"));
        }
        told(&mut net);
        net.call(1, |discovery, now, _| {
            discovery.ignore_endpoint(now, member(2, "B").guid);
        });
        if !is_known {
            add(&mut net, 0, member(2, "B"));
        }
        assert_eq!(told(&mut net), [""]);
    }
}
