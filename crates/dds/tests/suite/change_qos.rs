//! Policies that change while endpoints live.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use tickwire::error::{AddError, SetQosError};
use tickwire::qos::ResourceLimits;
use tickwire::{
    DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, PublisherQos, StatusMask,
    SubscriberQos, Topic, WaitSet,
};

/// Long enough that only a fault reaches it.
const PATIENCE: Duration = Duration::from_secs(20);

/// Octets that fill a parameter.
const FULL: usize = 65_528;

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Quote")]
struct Quote {
    #[topic(key)]
    symbol: String,
    price: i64,
}

fn participant(domain: u32) -> DomainParticipant {
    let builder = DomainParticipant::builder(domain);
    let tag = std::process::id().to_string();
    builder.domain_tag(&tag).build().expect("a participant")
}

fn write(writer: &DataWriter<Quote>, price: i64) {
    let symbol = "A".to_owned();
    writer.write(&Quote { symbol, price }).expect("room");
}

/// Until the writer matches so many readers.
fn wait_for_count(participant: &DomainParticipant, writer: &DataWriter<Quote>, count: usize) {
    let matched = || (writer.matched_subscriptions().len() == count).then_some(());
    let view = participant.discovery();
    view.wait_for(PATIENCE, matched)
        .expect("a match or its end");
}

#[test]
fn a_partition_that_changes_matches_others() {
    let (one, two) = (participant(160), participant(160));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let publisher = one.publisher(PublisherQos::default().partition(["a"]));
    let writer = publisher
        .writer(&topic, DataWriterQos::default())
        .expect("a writer");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let subscriber = two.subscriber(SubscriberQos::default().partition(["b"]));
    let reader = subscriber
        .reader(&topic, DataReaderQos::default().reliable())
        .expect("a reader");
    subscriber
        .set_qos(SubscriberQos::default().partition(["a", "c"]))
        .expect("a partition may change");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    assert_eq!(reader.qos().policies().partition, ["a", "c"]);
    publisher
        .set_qos(PublisherQos::default().partition(["b"]))
        .expect("a partition may change");
    wait_for_count(&one, &writer, 0);
    // What the writer has of its publisher stays when it is changed itself.
    writer
        .set_qos(DataWriterQos::default().user_data([1, 2]))
        .expect("user data may change");
    assert_eq!(writer.qos().policies().partition, ["b"]);
    assert_eq!(writer.qos().policies().user_data, [1, 2]);
    // So does what later writers get.
    let later = publisher.writer(writer.topic(), DataWriterQos::default());
    assert_eq!(later.expect("a writer").qos().policies().partition, ["b"]);
}

#[test]
fn the_stronger_of_two_writers_may_become_the_weaker() {
    let participant = participant(161);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let strength = |strength| DataWriterQos::default().exclusive(strength);
    let [one, other] = [10, 5].map(|value| {
        let writer = participant.writer_with(&topic, strength(value));
        writer.expect("a writer")
    });
    let qos = DataReaderQos::default().reliable().keep_all().exclusive();
    let reader = participant.reader_with(&topic, qos).expect("a reader");
    for writer in [&one, &other] {
        writer.wait_for_matched(1, PATIENCE).expect("a match");
    }
    let write_both = |price: i64| {
        for (writer, price) in [(&one, price), (&other, -price)] {
            write(writer, price);
            writer
                .wait_for_acknowledgments(PATIENCE)
                .expect("acknowledged");
        }
    };
    write_both(1);
    one.set_qos(strength(1)).expect("a strength may change");
    write(&other, -2);
    other
        .wait_for_acknowledgments(PATIENCE)
        .expect("acknowledged");
    write_both(3);
    let prices: Vec<_> = reader.take().data().map(|quote| quote.price).collect();
    assert_eq!(prices, [1, -2, -3]);
}

#[test]
fn a_deadline_that_becomes_too_long_ends_the_match() {
    let (one, two) = (participant(162), participant(162));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let deadline = |ms| DataWriterQos::default().deadline(Duration::from_millis(ms));
    let writer = one.writer_with(&topic, deadline(500)).expect("a writer");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().deadline(Duration::from_secs(1));
    let reader = two.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer
        .set_qos(deadline(2000))
        .expect("a deadline may change");
    wait_for_count(&one, &writer, 0);
    assert_eq!(writer.offered_incompatible_qos_status().total_count, 1);
    reader
        .set_qos(DataReaderQos::default())
        .expect("a deadline may change");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
}

/// A reader that is full of what a disposed instance has left takes nothing until that is purged.
#[test]
fn a_shorter_life_of_what_has_ended_makes_room() {
    let participant = participant(166);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let writer = participant.writer_with(&topic, DataWriterQos::default().keep_all());
    let writer = writer.expect("a writer");
    let limits = ResourceLimits {
        max_samples: Some(2),
        ..ResourceLimits::default()
    };
    let qos = DataReaderQos::default()
        .reliable()
        .keep_all()
        .resource_limits(limits);
    let reader = participant.reader_with(&topic, qos.clone());
    let reader = reader.expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    write(&writer, 1);
    let ended = Quote {
        symbol: "A".to_owned(),
        price: 0,
    };
    writer.dispose(&ended).expect("room");
    write(&writer, 2);
    let refused = WaitSet::new();
    refused.attach(&reader.status_condition(StatusMask::SAMPLE_REJECTED));
    refused.wait(PATIENCE).expect("there is no room");
    assert_eq!(reader.read().len(), 2);
    let qos = qos.autopurge_disposed_samples_delay(Duration::from_millis(1));
    reader.set_qos(qos.clone()).expect("the delay may change");
    reader.wait_for_data(PATIENCE).expect("there is room");
    assert!(reader.take().data().map(|quote| quote.price).eq([2]));
    assert_eq!(reader.inbox_counters().purged, 1);
    let in_force = reader.qos();
    reader.set_qos(in_force.clone()).expect("nothing changes");
    assert_eq!(in_force, reader.qos());
    let longer = in_force.clone().autopurge_disposed_samples_delay(PATIENCE);
    assert_ne!(in_force, longer, "it is told with the rest");
}

#[test]
fn what_decides_how_samples_are_kept_does_not_change() {
    let participant = participant(68);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let writer = participant.writer(&topic).expect("a writer");
    let refused = writer.set_qos(DataWriterQos::default().keep_all());
    assert_eq!(refused, Err(SetQosError::Immutable("HISTORY")));
    let reader = participant.reader(&topic).expect("a reader");
    let refused = reader.set_qos(DataReaderQos::default().reliable());
    assert_eq!(refused, Err(SetQosError::Immutable("RELIABILITY")));
    assert_eq!(reader.qos(), participant.reader(&topic).expect("one").qos());
}

#[test]
fn of_changes_at_the_same_time_none_undoes_another() {
    let (one, two) = (participant(164), participant(164));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let publisher = one.publisher(PublisherQos::default());
    let make = || publisher.writer(&topic, DataWriterQos::default());
    let writer = make().expect("a writer");
    for round in 0..200_u8 {
        let together = Barrier::new(3);
        let later = thread::scope(|scope| {
            scope.spawn(|| {
                together.wait();
                let qos = PublisherQos::default().partition([round.to_string()]);
                publisher.set_qos(qos).expect("a partition may change");
            });
            scope.spawn(|| {
                together.wait();
                let qos = DataWriterQos::default().user_data([round]);
                writer.set_qos(qos).expect("user data may change");
            });
            together.wait();
            make().expect("a writer")
        });
        for writer in [&writer, &later] {
            let policies = writer.qos().policies().clone();
            assert_eq!(policies.partition, [round.to_string()], "round {round}");
        }
        assert_eq!(writer.qos().policies().user_data, [round]);
    }
    let announced = || {
        let publications = two.discovery().publications().into_iter();
        let found = publications.map(|data| (data.guid, data.qos.clone()));
        let found = found.filter(|(guid, _)| *guid == writer.guid());
        found
            .map(|(_, qos)| qos)
            .find(|qos| qos == writer.qos().policies())
    };
    two.discovery()
        .wait_for(PATIENCE, announced)
        .expect("what is in force is announced");
}

#[test]
fn a_partition_that_cannot_be_announced_changes_nothing() {
    let participant = participant(165);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let publisher = participant.publisher(PublisherQos::default().partition(["a"]));
    // A parameter holds 64 KiB, an announcement 256: the second writer alone says too much.
    let writers = [0, FULL].map(|len| {
        let qos = DataWriterQos::default().user_data(vec![0; len]);
        let qos = qos.with(|qos| qos.topic_data = vec![0; len]);
        publisher.writer(&topic, qos).expect("a writer")
    });
    let names = (0..31).map(|number| format!("{number:02}{}", "x".repeat(2_098)));
    let wanted = PublisherQos::default()
        .partition(names)
        .group_data(vec![0; FULL]);
    let refused = publisher.set_qos(wanted);
    let too_large = matches!(
        refused,
        Err(SetQosError::Announcement(AddError::TooLarge { .. }))
    );
    assert!(too_large, "{refused:?}");
    for writer in writers {
        assert_eq!(writer.qos().policies().partition, ["a"]);
    }
}
