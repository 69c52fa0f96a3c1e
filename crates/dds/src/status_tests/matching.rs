//! PUBLICATION_MATCHED and SUBSCRIPTION_MATCHED (DDS 1.4 §2.2.4.1).

use super::*;
use crate::{Guid, PublisherQos, SubscriberQos};

/// A match, the last of so many, or its end, after which there are so many.
fn status(total: u32, total_change: u32, current: u32, change: i32, last: Guid) -> MatchedStatus {
    MatchedStatus {
        total_count: total,
        total_count_change: total_change,
        current_count: current,
        current_count_change: change,
        last: Some(last),
    }
}

fn is_matching(told: &Told) -> bool {
    matches!(
        told,
        Told::PublicationMatched(_) | Told::SubscriptionMatched(_)
    )
}

impl World {
    /// What the listener hears next of matches and their ends.
    fn hear_matching(&self, ear: &Ear) -> Vec<Told> {
        self.wait_until(|| lock(&ear.0).iter().any(is_matching));
        let mut told = ear.told();
        told.retain(is_matching);
        told
    }
}

#[test]
fn both_sides_are_told_of_each_match_and_its_end() {
    let world = World::new(2);
    let writer = world.writer(0, DataWriterQos::default());
    let of_writer = Ear::of_writer(&writer);
    let join = || world.reader(1, DataReaderQos::default().reliable());
    let reader = join();
    let of_reader = Ear::of_reader(&reader);
    let matched = status(1, 1, 1, 1, writer.guid());
    let expected = [Told::SubscriptionMatched(matched)];
    assert_eq!(world.hear_matching(&of_reader), expected);
    let matched = status(1, 1, 1, 1, reader.guid());
    let expected = [Told::PublicationMatched(matched)];
    assert_eq!(world.hear_matching(&of_writer), expected);

    let second = join();
    let matched = status(2, 1, 2, 1, second.guid());
    let expected = [Told::PublicationMatched(matched)];
    assert_eq!(world.hear_matching(&of_writer), expected);
    let gone = status(2, 0, 1, -1, second.guid());
    drop(second);
    let expected = [Told::PublicationMatched(gone)];
    assert_eq!(world.hear_matching(&of_writer), expected);
    assert_eq!(writer.publication_matched_status().current_count_change, 0);

    let gone = status(1, 0, 0, -1, writer.guid());
    drop(writer);
    let expected = [Told::SubscriptionMatched(gone)];
    assert_eq!(world.hear_matching(&of_reader), expected);
}

#[test]
fn a_participant_that_falls_silent_is_unmatched_when_its_lease_ends() {
    const LEASE: Duration = Duration::from_secs(1);
    let world = World::with(2, |builder| builder.lease_duration(LEASE));
    let writer = world.writer(0, DataWriterQos::default());
    let reader = world.reader(1, DataReaderQos::default().reliable());
    world.meet(&writer, &reader);
    let ear = Ear::of_reader(&reader);
    world.hear_matching(&ear);
    let heard_at = crate::clock::now();
    // The participant of the writer stands still; it has announced itself by now.
    for _ in 0..LEASE.as_millis() + 1 {
        assert_eq!(ear.told(), []);
        world.clock.advance(MS);
        world.turn(1);
        if !reader.matched_publications().is_empty() {
            continue;
        }
        let gone = status(1, 0, 0, -1, writer.guid());
        let told: Vec<_> = ear.told().into_iter().filter(is_matching).collect();
        assert_eq!(told, [Told::SubscriptionMatched(gone)]);
        let lived = crate::clock::now().since(heard_at);
        assert!(LEASE / 2 < lived && lived <= LEASE, "{lived:?}");
        return;
    }
    panic!("its lease does not end");
}

#[test]
fn a_partition_that_changes_ends_a_match_and_begins_another() {
    let world = World::new(2);
    let topic = world.participants[0].topic::<Quote>("Quotes");
    let publisher = world.participants[0].publisher(PublisherQos::default());
    let writer = publisher.writer(&topic.expect("a topic"), DataWriterQos::default());
    let writer = writer.expect("a writer");
    let topic = world.participants[1].topic::<Quote>("Quotes");
    let subscriber = world.participants[1].subscriber(SubscriberQos::default());
    let qos = DataReaderQos::default().reliable();
    let reader = subscriber.reader(&topic.expect("a topic"), qos);
    let reader = reader.expect("a reader");
    let ears = [Ear::of_writer(&writer), Ear::of_reader(&reader)];
    let assert_told = |total, total_change, current, change| {
        let of = |guid| status(total, total_change, current, change, guid);
        let expected = [
            Told::PublicationMatched(of(reader.guid())),
            Told::SubscriptionMatched(of(writer.guid())),
        ];
        for (ear, expected) in ears.iter().zip(expected) {
            assert_eq!(world.hear_matching(ear), [expected]);
        }
    };
    assert_told(1, 1, 1, 1);
    let elsewhere = PublisherQos::default().partition(["elsewhere"]);
    publisher.set_qos(elsewhere).expect("it may change");
    assert_told(1, 0, 0, -1);
    let there = SubscriberQos::default().partition(["else*"]);
    subscriber.set_qos(there).expect("it may change");
    assert_told(2, 1, 1, 1);
    for status in [
        writer.offered_incompatible_qos_status(),
        reader.requested_incompatible_qos_status(),
    ] {
        assert_eq!(status.total_count, 0, "partitions are no incompatible QoS");
    }
}
