//! Who finds whom and matches, and why not.

use std::sync::mpsc;
use std::time::Duration;

use crate::common::{PATIENCE, Quote, builder, participant, quote};
use tickwire::cdr::dynamic::Form;
use tickwire::qos::RepresentationId;
use tickwire::{
    DataReader, DataReaderQos, DataWriterQos, DomainParticipant, DynamicType, Serialized, Topic,
};

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Blob", final)]
struct Blob {
    bytes: Vec<u8>,
}

#[test]
fn what_does_not_match_is_explained_on_both_sides() {
    let (one, two) = (participant(109), participant(109));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().best_effort();
    let writer = one.writer_with(&topic, qos).expect("a writer");
    let (told, heard) = mpsc::channel();
    struct Ear(mpsc::Sender<String>);
    impl tickwire::DataReaderListener<Quote> for Ear {
        fn on_requested_incompatible_qos(
            &mut self,
            _: &DataReader<Quote>,
            status: tickwire::status::IncompatibleQosStatus,
        ) {
            let verdict = status.verdict.expect("a reason");
            self.0.send(verdict.to_string()).expect("the test listens");
        }
    }
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable();
    let reader = two.reader_with(&topic, qos).expect("a reader");
    reader.set_listener(Ear(told));
    let verdict = heard.recv_timeout(PATIENCE).expect("the listener is told");
    assert!(verdict.contains("RELIABILITY"), "{verdict}");
    let pairs = two.discovery().pairs();
    assert_eq!(pairs.len(), 1);
    assert_eq!(
        (pairs[0].writer, pairs[0].reader),
        (writer.guid(), reader.guid())
    );
    assert!(!pairs[0].verdict.is_match());
    assert!(writer.wait_for_matched(1, Duration::ZERO).is_err());
}

/// Called as the other one, but with a longer member.
#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Blob", final)]
struct LongBlob {
    bytes: Vec<u32>,
}

#[test]
fn final_types_of_one_name_that_differ_do_not_match() {
    let (one, two) = (participant(117), participant(117));
    let topic = one.topic::<Blob>("Blobs").expect("a topic");
    let writer = one.writer(&topic).expect("a writer");
    let topic = two.topic::<LongBlob>("Blobs").expect("a topic");
    let reader = two.reader(&topic).expect("a reader");
    for participant in [&one, &two] {
        let view = participant.discovery();
        let pair = view.wait_for(PATIENCE, || view.pairs().pop());
        let pair = pair.expect("both are found");
        assert_eq!((pair.writer, pair.reader), (writer.guid(), reader.guid()));
        let verdict = pair.verdict.to_string();
        assert!(verdict.starts_with("types differ"), "{verdict}");
    }
}

#[test]
fn a_policy_that_is_not_implemented_makes_no_endpoint() {
    let participant = participant(115);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos =
        DataReaderQos::default().with(|qos| qos.data_representation = vec![RepresentationId::XML]);
    let reader = participant
        .subscriber(Default::default())
        .reader(&topic, qos);
    let reason = reader.expect_err("an endpoint error").to_string();
    assert!(reason.starts_with("DATA_REPRESENTATION"), "{reason}");
    assert_eq!(participant.discovery().publications().len(), 0);
    assert_eq!(participant.discovery().subscriptions().len(), 0);
}

#[test]
fn a_filter_longer_than_the_deadline_makes_no_reader() {
    let participant = participant(115);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default()
        .time_based_filter(Duration::from_secs(2))
        .deadline(Duration::from_secs(1));
    let refused = participant.reader_with(&topic, qos);
    let reason = refused.expect_err("an endpoint error").to_string();
    assert!(reason.contains("TIME_BASED_FILTER"), "{reason}");
}

#[test]
fn a_participant_that_goes_is_missed_at_once() {
    let (one, two) = (participant(111), participant(111));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let reader = one.reader(&topic).expect("a reader");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let writer = two.writer(&topic).expect("a writer");
    drop(two);
    // The writer keeps its participant.
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    let changed = reader.status_condition(tickwire::StatusMask::SUBSCRIPTION_MATCHED);
    reader.subscription_matched_status();
    drop(writer);
    let gone = tickwire::WaitSet::new();
    gone.attach(&changed);
    gone.wait(PATIENCE).expect("good-bye");
    assert_eq!(reader.subscription_matched_status().current_count, 0);
}

#[test]
fn an_impossible_domain_is_explained() {
    let error = DomainParticipant::new(233).expect_err("its ports do not exist");
    assert!(error.to_string().contains("232"));
}

#[test]
fn participants_with_different_tags_do_not_hear_each_other() {
    let one = participant(114);
    let other = builder(114)
        .domain_tag("other")
        .build()
        .expect("a participant");
    let topic = other.topic::<Quote>("Quotes").expect("a topic");
    let _stranger = other.writer(&topic).expect("a writer");
    let two = participant(114);
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let writer = two.writer(&topic).expect("a writer");
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let reader = one.reader(&topic).expect("a reader");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    // The stranger announced itself before the one that matched.
    let refused = || (one.discovery().counters().other_domain > 0).then_some(());
    one.discovery()
        .wait_for(PATIENCE, refused)
        .expect("a refusal");
    let matched = reader.matched_publications();
    assert_eq!(
        matched.iter().map(|w| w.guid).collect::<Vec<_>>(),
        [writer.guid()]
    );
}

/// As `topic echo` does: discovery alone tells what to print.
#[test]
fn the_type_of_a_topic_is_learnt_from_its_writer() {
    let (one, two) = (participant(112), participant(112));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().transient_local();
    let writer = one.writer_with(&topic, qos).expect("a writer");
    writer.write(&quote("A", 7)).expect("room");

    let found = two.discovery();
    let known = || found.publications().first().map(|writer| writer.guid);
    let guid = found.wait_for(PATIENCE, known).expect("the writer");
    let ty = found.type_of(guid, PATIENCE).expect("an answer");
    assert_eq!(&*ty.name, "test::Quote");

    let topic = two
        .topic_of::<Serialized>("Quotes", DynamicType::described(ty.clone()))
        .expect("a topic");
    let qos = DataReaderQos::default().reliable().transient_local();
    let reader = two.reader_with(&topic, qos).expect("a reader");
    reader.wait_for_data(PATIENCE).expect("the sample");
    let samples = reader.take();
    let payload = samples[0].data().expect("a value").payload();
    let mut json = String::new();
    tickwire::cdr::dynamic::to_json(&ty, payload, Form::Sample, &mut json).expect("JSON");
    assert_eq!(json, r#"{"symbol":"A","price":7}"#);
    assert_eq!(
        samples[0].info().instance,
        writer.register(&quote("A", 0)).expect("a key")
    );
}
