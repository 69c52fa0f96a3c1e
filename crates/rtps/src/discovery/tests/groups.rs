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

/// Has the second node receive all that waits in one go.
fn receive_together(net: &mut Net) {
    let datagrams: Vec<_> = net.queue.drain(..).collect();
    net.call(1, |discovery, now, outbox| {
        for (_, datagram) in datagrams.iter().filter(|(index, _)| *index == 1) {
            for item in MessageReader::new(datagram).expect("our own header") {
                let (context, submessage) = item.expect("our own submessages");
                discovery.handle(now, &context, &submessage, outbox);
            }
        }
    });
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
        assert!(discovery.remove(now, member(2, "A").guid, None, outbox));
    });
    net.run(MOMENT);
    assert_eq!(told(&mut net), ["1 3", "-2"]);
}

#[test]
fn writers_that_come_together_are_told_once() {
    let mut net = Net::new([config(1), config(2)]);
    net.run(MOMENT);
    add(&mut net, 0, member(1, "A"));
    add(&mut net, 1, looking_reader("A"));
    told(&mut net);
    for number in 2..=100 {
        let data = member(number, if number % 2 == 0 { "A" } else { "B" });
        let added = net.call_one(0, |discovery, now, outbox| discovery.add(now, data, outbox));
        added.expect("a short announcement");
    }
    receive_together(&mut net);
    let all: Vec<_> = (1..=100).map(|number| number.to_string()).collect();
    let told = told(&mut net);
    assert_eq!(told.len(), 50 + 1);
    assert_eq!(told.last(), Some(&all.join(" ")));
}

#[test]
fn of_a_participant_that_goes_as_a_whole_nothing_is_known_before_its_writers_go() {
    let mut net = Net::new([config(1), config(2)]);
    net.run(MOMENT);
    add(&mut net, 1, looking_reader("A"));
    (1..=3).for_each(|number| add(&mut net, 0, member(number, "A")));
    told(&mut net);
    net.call(0, |discovery, _, outbox| discovery.close(outbox));
    assert_eq!(told(&mut net), ["", "-1", "-2", "-3"]);
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

#[test]
fn of_a_participant_with_too_many_publishers_that_are_not_whole_none_is_told() {
    let publisher = |id, number| Guid::new(prefix(id), EntityId::user_publisher(number));
    for (count, are_told) in [(64, 1), (65, 0), (1_100, 0)] {
        let mut net = Net::new([config(1), config(2), config(3)]);
        net.run(MOMENT);
        net.call(1, |discovery, now, _| discovery.ignore_topic(now, "B", "T"));
        let mut data = member(1, "A");
        net.add(0, data.clone());
        for number in 1..=count {
            data = member(1 + number, "B");
            data.group = Some(publisher(1, 1 + number));
            net.add(0, data.clone());
        }
        // Of the last of these there is one that is not ignored.
        data.guid = member(2 + count, "A").guid;
        data.topic_name = "A".to_string();
        net.add(0, data.clone());
        data.guid.prefix = prefix(3);
        data.group = Some(publisher(3, 1));
        net.add(2, data);
        add(&mut net, 1, looking_reader("A"));
        let events = net.nodes[1].events.drain(..);
        let told = events.filter_map(|event| match event {
            Event::GroupChanged {
                publisher, writers, ..
            } => Some((publisher, writers.len())),
            _ => None,
        });
        let expected = [
            (publisher(1, 1), are_told),
            (publisher(1, 1 + count), 0),
            (publisher(3, 1), 1),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected, "{count} of them");
    }
}
