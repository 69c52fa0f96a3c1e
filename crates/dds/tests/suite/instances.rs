//! Instances as writers and readers see them: whose they are, and how they end.

use crate::common::{PATIENCE, Quote, participant, quote};
use tickwire::cdr::{KeyScratch, Representation, key_hash};
use tickwire::qos::RepresentationId;
use tickwire::{
    DataReaderQos, DataWriterQos, DynamicType, InstanceState, Serialized, StateMask, Topic,
};

#[test]
fn instances_end_by_dispose_unregister_and_loss_of_the_writer() {
    let (one, two) = (participant(108), participant(108));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default()
        .keep_all()
        .autodispose_unregistered_instances(false);
    let writer = one.writer_with(&topic, qos).expect("a writer");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = two.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    for symbol in ["A", "B", "C"] {
        writer.write(&quote(symbol, 1)).expect("room");
    }
    writer.dispose(&quote("A", 0)).expect("room");
    writer.unregister(&quote("B", 0)).expect("room");
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all acknowledged");
    let state = |symbol: &str| {
        let instance = writer.register(&quote(symbol, 0)).expect("a key");
        let samples = reader.select().instance(instance).read();
        samples.last().map(|sample| sample.info().instance_state)
    };
    assert_eq!(state("A"), Some(InstanceState::Disposed));
    assert_eq!(state("B"), Some(InstanceState::NoWriters));
    assert_eq!(state("C"), Some(InstanceState::Alive));
    let ended = reader.select().states(StateMask::NOT_ALIVE).read();
    let keys: Vec<_> = ended
        .iter()
        .filter(|sample| sample.data().is_none())
        .collect();
    assert_eq!(
        keys[0].key_holder().map(|quote| quote.symbol.as_str()),
        Some("A")
    );
    let instance = writer.register(&quote("C", 0)).expect("a key");
    drop(writer);
    let unseen = StateMask::NOT_READ;
    reader.wait_for_data(PATIENCE).expect("the notice");
    let notice = reader.select().states(unseen).instance(instance).take();
    assert_eq!(notice[0].info().instance_state, InstanceState::NoWriters);
    assert!(notice[0].data().is_none());
    let key = notice[0].key_holder().expect("it has come with the sample");
    assert_eq!(*key, quote("C", 0));
}

#[test]
fn a_writer_that_is_deleted_disposes_of_what_it_has_not_ended() {
    let (one, two) = (participant(134), participant(134));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let writer = one
        .writer_with(&topic, DataWriterQos::default().keep_all())
        .expect("a writer");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = two.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    for symbol in ["A", "B", "C"] {
        writer.write(&quote(symbol, 1)).expect("room");
    }
    writer.dispose(&quote("A", 0)).expect("room");
    drop(writer);
    let mut ends: Vec<_> = reader
        .take()
        .iter()
        .filter(|sample| sample.data().is_none())
        .map(|sample| {
            let symbol = sample.key_holder().map(|quote| quote.symbol.to_string());
            (symbol, sample.info().instance_state)
        })
        .collect();
    ends.sort_by(|one, other| one.0.cmp(&other.0));
    let disposed = |symbol: &str| (Some(symbol.to_owned()), InstanceState::Disposed);
    assert_eq!(ends, ["A", "B", "C"].map(disposed));
}

#[test]
fn an_instance_that_lost_its_writers_is_known_by_its_key() {
    let participant = participant(133);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable();
    let reader = participant.reader_with(&topic, qos).expect("a reader");
    let writer = participant
        .writer_with(
            &topic,
            DataWriterQos::default().autodispose_unregistered_instances(false),
        )
        .expect("a writer");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    assert_eq!(reader.lookup_instance(&quote("TICK", 0)), None);
    writer.write(&quote("TICK", 5)).expect("room");
    reader.wait_for_data(PATIENCE).expect("a sample");
    let instance = reader.take()[0].info().instance;
    assert_eq!(reader.lookup_instance(&quote("TICK", 9)), Some(instance));
    drop(writer);
    reader.wait_for_data(PATIENCE).expect("a notice");
    let notices = reader.read();
    assert_eq!(notices[0].info().instance_state, InstanceState::NoWriters);
    assert!(notices[0].data().is_none());
    let key = reader.key_value(instance).expect("a known instance");
    assert_eq!(key.symbol, "TICK");
    drop(notices);
    reader.take();
    assert_eq!(reader.key_value(instance), None);
}

/// Its key hash is another one in each representation.
#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Order")]
struct Order {
    #[topic(key)]
    venue: u32,
    #[topic(key)]
    number: i64,
    size: u16,
}

#[test]
fn writers_of_both_representations_mean_the_same_instance() {
    let participant = participant(116);
    let topic = participant.topic::<Order>("Orders").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = participant.reader_with(&topic, qos).expect("a reader");
    let in_form = |id| DataWriterQos::default().representation([id]);
    let [one, two] = [RepresentationId::XCDR1, RepresentationId::XCDR2].map(|id| {
        let writer = participant.writer_with(&topic, in_form(id));
        writer.expect("a writer")
    });
    // A peer that disposes by the key hash alone.
    let opaque = DynamicType::opaque("test::Order", true);
    let terse = participant.topic_of::<Serialized>("Orders", opaque);
    let qos = in_form(RepresentationId::XCDR1);
    let terse = participant.writer_with(&terse.expect("a topic"), qos);
    let terse = terse.expect("a writer");
    reader.wait_for_matched(3, PATIENCE).expect("all match");
    let order = |number| Order {
        venue: 1,
        number,
        size: 100,
    };
    let hash = |number, representation| {
        let hash = key_hash(&order(number), representation, &mut KeyScratch::default());
        hash.expect("a key")
    };
    assert_ne!(
        hash(7, Representation::Xcdr1),
        hash(7, Representation::Xcdr2)
    );
    one.write(&order(7)).expect("room");
    two.write(&order(7)).expect("room");
    two.write(&order(8)).expect("room");
    for writer in [&one, &two] {
        let acknowledged = writer.wait_for_acknowledgments(PATIENCE);
        acknowledged.expect("all acknowledged");
    }
    for (number, samples) in [(7, 2), (8, 1)] {
        let instance = one.register(&order(number)).expect("a key");
        assert_eq!(two.register(&order(number)), Ok(instance));
        assert_eq!(reader.select().instance(instance).read().len(), samples);
    }
    // Of 9 nobody has heard.
    for number in [8, 9] {
        let mut named = Serialized::new();
        named.set_key_hash(Some(hash(number, Representation::Xcdr1)));
        terse.dispose(&named).expect("room");
    }
    terse.wait_for_acknowledgments(PATIENCE).expect("arrived");
    let state = |number| {
        let instance = two.register(&order(number)).expect("a key");
        let samples = reader.select().instance(instance).read();
        samples.last().map(|sample| sample.info().instance_state)
    };
    assert_eq!(state(7), Some(InstanceState::Alive));
    assert_eq!(state(8), Some(InstanceState::Disposed));
    assert_eq!(state(9), None);
    assert_eq!(reader.select().read().len(), 4);
}
