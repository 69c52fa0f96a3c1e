//! Entities that take no part before they are enabled (DDS 1.4 §2.2.2.1.1.7 and §2.2.3.20).

use std::time::Duration;

use tickwire::error::{EnableError, PollError, WriteError};
use tickwire::qos::LivelinessKind;
use tickwire::{
    DataReaderQos, DataWriterQos, DomainParticipant, DomainParticipantBuilder, Driving,
    PublisherQos, SubscriberQos, Topic,
};

/// Long enough that only a fault reaches it.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Quote")]
struct Quote {
    #[topic(key)]
    symbol: String,
    price: i64,
}

fn builder(domain: u32) -> DomainParticipantBuilder {
    let tag = std::process::id().to_string();
    DomainParticipant::builder(domain).domain_tag(&tag)
}

fn quote(price: i64) -> Quote {
    Quote {
        symbol: "A".to_owned(),
        price,
    }
}

#[test]
fn a_participant_takes_all_that_it_has_made_with_it() {
    let other = builder(173).build().expect("a participant");
    let participant = builder(173).enabled(false).build().expect("a participant");
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let publisher = participant.publisher(PublisherQos::default());
    let writer = publisher.writer(&topic, DataWriterQos::default());
    let writer = writer.expect("a writer");
    let qos = DataReaderQos::default().reliable();
    let reader = participant.reader_with(&topic, qos).expect("a reader");
    assert_eq!(writer.write(&quote(1)), Err(WriteError::NotEnabled));
    assert_eq!(writer.dispose(&quote(1)), Err(WriteError::NotEnabled));
    for refused in [writer.enable(), reader.enable(), publisher.enable()] {
        assert!(matches!(refused, Err(EnableError::FactoryNotEnabled)));
    }
    // Their QoS may change, though nobody knows of it yet.
    let qos = DataWriterQos::default().user_data([7]);
    writer.set_qos(qos).expect("user data may change");
    let qos = PublisherQos::default().partition(["a", ""]);
    publisher.set_qos(qos).expect("a partition may change");
    assert!(other.discovery().publications().is_empty());

    participant.enable().expect("threads");
    participant.enable().expect("it is enabled already");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer.write(&quote(2)).expect("room");
    reader.wait_for_data(PATIENCE).expect("a sample");
    assert!(reader.take().data().eq([&quote(2)]));
    let found = || {
        let publications = other.discovery().publications().into_iter();
        publications.map(|data| data.qos.clone()).next()
    };
    let qos = other.discovery().wait_for(PATIENCE, found);
    let qos = qos.expect("the writer is announced");
    assert_eq!(
        (&qos.user_data[..], &qos.partition[..]),
        (&[7][..], &["a".to_owned(), String::new()][..])
    );
    assert_eq!(&qos, writer.qos().policies());
}

#[test]
fn without_autoenable_each_is_enabled_by_itself() {
    let participant = builder(174).autoenable_created_entities(false);
    let participant = participant.build().expect("a participant");
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let subscriber = participant.subscriber(SubscriberQos::default());
    let lease = Duration::from_millis(1);
    let qos = DataWriterQos::default().liveliness(LivelinessKind::ManualByTopic, lease);
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    let qos = DataReaderQos::default().reliable();
    let reader = subscriber.reader(&topic, qos).expect("a reader");
    let refused = reader.enable();
    assert!(matches!(refused, Err(EnableError::FactoryNotEnabled)));
    writer.enable().expect("the participant is enabled");
    // The subscriber's own policy is that its readers go with it.
    subscriber.enable().expect("the participant is enabled");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer.write(&quote(1)).expect("room");
    reader.wait_for_data(PATIENCE).expect("a sample");

    participant.set_autoenable_created_entities(true);
    let qos = SubscriberQos::default().autoenable_created_entities(false);
    let subscriber = participant.subscriber(qos.clone());
    let by_hand = subscriber.reader(&topic, DataReaderQos::default());
    let by_hand = by_hand.expect("a reader");
    subscriber
        .set_qos(qos.autoenable_created_entities(true))
        .expect("it may change");
    let at_once = subscriber.reader(&topic, DataReaderQos::default());
    let at_once = at_once.expect("a reader");
    at_once.wait_for_matched(1, PATIENCE).expect("a match");
    assert!(by_hand.matched_publications().is_empty());
    by_hand.enable().expect("the subscriber is enabled");
    by_hand.wait_for_matched(1, PATIENCE).expect("a match");
}

#[test]
fn what_is_not_enabled_is_not_polled_and_leaves_no_trace() {
    let builder = builder(175).driving(Driving::Polled).enabled(false);
    let participant = builder.build().expect("a participant");
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    drop(participant.writer(&topic).expect("a writer"));
    let refused = participant.poll(Duration::ZERO);
    assert!(matches!(refused, Err(PollError::NotEnabled)));
    let reader = participant.reader(&topic).expect("a reader");
    assert!(reader.wait_for_data(Duration::from_millis(1)).is_err());
    assert_eq!(participant.counters().datagrams_received, 0);
    participant.enable().expect("nothing to start");
    participant.poll(Duration::ZERO).expect("it takes part");
    let known = participant.discovery().pairs().len();
    assert_eq!(known, 0, "the writer is gone");
}
