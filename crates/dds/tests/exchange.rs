//! Samples between participants, over the loopback interface.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tickwire::cdr::dynamic::Form;
use tickwire::cdr::{Representation, key_hash};
use tickwire::qos::{RepresentationId, ResourceLimits};
use tickwire::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant,
    DomainParticipantBuilder, Driving, DynamicType, InstanceState, Publisher, PublisherQos,
    Serialized, StateMask, Topic,
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

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Blob", final)]
struct Blob {
    bytes: Vec<u8>,
}

fn quote(symbol: &str, price: i64) -> Quote {
    Quote {
        symbol: symbol.to_owned(),
        price,
    }
}

/// A domain of its own for each test and a tag for each run, so that they do not see each other.
fn builder(domain: u32) -> DomainParticipantBuilder {
    DomainParticipant::builder(domain).domain_tag(&std::process::id().to_string())
}

fn participant(domain: u32) -> DomainParticipant {
    builder(domain).build().expect("a participant")
}

#[test]
fn hello_world_within_one_participant() {
    let participant = participant(101);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let reader = participant.reader(&topic).expect("a reader");
    let writer = participant.writer(&topic).expect("a writer");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer.write(&quote("TICK", 5)).expect("room");
    reader.wait_for_data(PATIENCE).expect("a sample");
    let samples = reader.take();
    assert_eq!(samples.data().collect::<Vec<_>>(), [&quote("TICK", 5)]);
    assert_eq!(samples[0].info().writer, writer.guid());
}

#[test]
fn many_samples_between_two_participants_arrive_in_order() {
    let (one, two) = (participant(102), participant(102));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let writer_qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let writer = one.writer_with(&topic, writer_qos).expect("a writer");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let reader_qos = DataReaderQos::default().reliable().keep_all();
    let reader = two.reader_with(&topic, reader_qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    const COUNT: i64 = 20_000;
    for number in 0..COUNT {
        writer.write(&quote("TICK", number)).expect("room");
    }
    let mut expected = 0;
    while expected < COUNT {
        reader.wait_for_data(PATIENCE).expect("more samples");
        for quote in reader.take().data() {
            assert_eq!(quote.price, expected);
            expected += 1;
        }
    }
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all acknowledged");
    assert_eq!(reader.counters().lost, 0);
}

#[test]
fn what_is_written_last_arrives_though_its_program_ends_at_once() {
    let reading = participant(130);
    let topic = reading.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = reading.reader_with(&topic, qos).expect("a reader");
    for round in 0..50 {
        let writing = participant(130);
        let topic = writing.topic::<Quote>("Quotes").expect("a topic");
        let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
        let writer = writing.writer_with(&topic, qos).expect("a writer");
        writer.wait_for_matched(1, PATIENCE).expect("a match");
        for number in 0..5 {
            writer
                .write(&quote("TICK", round * 5 + number))
                .expect("room");
        }
    }
    let arrived: Vec<_> = reader.take().data().map(|quote| quote.price).collect();
    assert_eq!(arrived, (0..250).collect::<Vec<_>>());
}

#[test]
fn a_late_joiner_gets_the_history_and_then_what_follows() {
    let (one, two) = (participant(103), participant(103));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().keep_last(2).transient_local();
    let writer = one.writer_with(&topic, qos).expect("a writer");
    for price in 0..5 {
        writer.write(&quote("A", price)).expect("room");
        writer.write(&quote("B", price)).expect("room");
    }
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default()
        .reliable()
        .keep_all()
        .transient_local();
    let reader = two.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer.write(&quote("A", 5)).expect("room");
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all acknowledged");
    let prices = |symbol: &str| -> Vec<i64> {
        let samples = reader.read();
        let own = samples.data().filter(|quote| quote.symbol == symbol);
        own.map(|quote| quote.price).collect()
    };
    // The writer may have replaced 3 by 5 before the reader asked.
    assert_eq!(prices("B"), [3, 4]);
    assert!(prices("A").ends_with(&[4, 5]));
}

#[test]
fn durability_above_transient_local_gives_the_writers_history_where_there_is_no_store() {
    let participant = builder(131).store(None).build().expect("a participant");
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().persistent().keep_all();
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    for price in 0..5 {
        writer.write(&quote("A", price)).expect("room");
    }
    let qos = DataReaderQos::default().reliable().keep_all().transient();
    let reader = participant.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all acknowledged");
    assert_eq!(reader.take().data().count(), 5);
}

#[test]
fn a_volatile_reader_gets_only_what_follows() {
    let (one, two) = (participant(104), participant(104));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().keep_all().transient_local();
    let writer = one.writer_with(&topic, qos).expect("a writer");
    writer.write(&quote("A", 1)).expect("room");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = two.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer.write(&quote("A", 2)).expect("room");
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all acknowledged");
    let samples = reader.take();
    assert_eq!(samples.data().collect::<Vec<_>>(), [&quote("A", 2)]);
}

#[test]
fn a_full_reader_holds_the_writer_up_until_it_takes() {
    let (one, two) = (participant(105), participant(105));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let limits = |max_samples| ResourceLimits {
        max_samples: Some(max_samples),
        ..Default::default()
    };
    let qos = DataWriterQos::default()
        .keep_all()
        .resource_limits(limits(10));
    let writer = one
        .writer_with(&topic, qos.reliable(Duration::from_millis(50)))
        .expect("a writer");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = two
        .reader_with(&topic, qos.resource_limits(limits(5)))
        .expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    let mut written = 0;
    let error = loop {
        match writer.write(&quote("A", written)) {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, tickwire::error::WriteError::Timeout { .. }));
    // Five in the reader and ten in the writer's history.
    assert_eq!(written, 15);
    assert!(reader.sample_rejected_status().count.total_count > 0);
    let mut expected = 0;
    while expected < written {
        reader.wait_for_data(PATIENCE).expect("more samples");
        for quote in reader.take().data() {
            assert_eq!(quote.price, expected);
            expected += 1;
        }
    }
    writer.write(&quote("A", written)).expect("room again");
}

/// The listener echoes what it hears through a writer whose history is full most of the time. If it
/// kept acknowledgements from being taken, the echo would end with a time-out.
#[test]
fn a_listener_that_waits_in_a_write_does_not_block_its_acknowledgements() {
    let (one, two) = (participant(106), participant(106));
    let limits = ResourceLimits {
        max_samples: Some(1),
        ..Default::default()
    };
    let writer_qos = DataWriterQos::default()
        .reliable(PATIENCE)
        .keep_all()
        .resource_limits(limits);
    let reader_qos = DataReaderQos::default().reliable().keep_all();

    let (there, back) = ("There", "Back");
    let topic =
        |participant: &DomainParticipant, name| participant.topic::<Quote>(name).expect("a topic");
    let writer = one
        .writer_with(&topic(&one, there), writer_qos.clone())
        .expect("a writer");
    let echoes = one
        .reader_with(&topic(&one, back), reader_qos.clone())
        .expect("a reader");
    let heard = two
        .reader_with(&topic(&two, there), reader_qos)
        .expect("a reader");
    let echo = two
        .writer_with(&topic(&two, back), writer_qos)
        .expect("a writer");
    for writer in [&writer, &echo] {
        writer.wait_for_matched(1, PATIENCE).expect("a match");
    }
    for reader in [&heard, &echoes] {
        reader.wait_for_matched(1, PATIENCE).expect("a match");
    }
    let failures = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&failures);
    heard.set_listener(move |reader: &DataReader<Quote>| {
        for quote in reader.take().data() {
            for _ in 0..2 {
                if echo.write(quote).is_err() {
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    });
    for price in 0..50 {
        writer.write(&quote("A", price)).expect("room");
    }
    let mut prices = Vec::new();
    while prices.len() < 100 {
        echoes.wait_for_data(PATIENCE).expect("more echoes");
        prices.extend(echoes.take().data().map(|quote| quote.price));
    }
    assert_eq!(
        prices,
        (0..50).flat_map(|price| [price, price]).collect::<Vec<_>>()
    );
    assert_eq!(failures.load(Ordering::Relaxed), 0);
}

#[test]
fn ten_megabytes_pass() {
    let (one, two) = (participant(107), participant(107));
    let topic = one.topic::<Blob>("Blobs").expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE);
    let writer = one.writer_with(&topic, qos).expect("a writer");
    let topic = two.topic::<Blob>("Blobs").expect("a topic");
    let qos = DataReaderQos::default().reliable();
    let reader = two.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    let bytes = (0..10 << 20).map(|i: u32| i.to_le_bytes()[0] ^ i.to_le_bytes()[2]);
    let blob = Blob {
        bytes: bytes.collect(),
    };
    writer.write(&blob).expect("room");
    reader.wait_for_data(PATIENCE).expect("the sample");
    assert!(reader.take().data().eq([&blob]));
}

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
    let notice = reader.select().states(unseen).instance(instance).read();
    assert_eq!(notice[0].info().instance_state, InstanceState::NoWriters);
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
        let hash = key_hash(&order(number), representation, &mut Vec::new());
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

#[test]
fn two_polled_participants_live_on_one_thread() {
    let polled = || {
        builder(110)
            .driving(Driving::Polled)
            .build()
            .expect("a participant")
    };
    let (one, two) = (polled(), polled());
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let writer = one.writer(&topic).expect("a writer");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let reader = two.reader(&topic).expect("a reader");
    let matched = writer.status_condition(tickwire::StatusMask::PUBLICATION_MATCHED);
    let ready = tickwire::WaitSet::new();
    ready.attach(&matched);
    ready.attach(&reader.status_condition(tickwire::StatusMask::SUBSCRIPTION_MATCHED));
    while writer.matched_subscriptions().is_empty() || reader.matched_publications().is_empty() {
        ready.wait(PATIENCE).expect("a match");
        writer.publication_matched_status();
        reader.subscription_matched_status();
    }
    writer.write(&quote("A", 1)).expect("room");
    reader.wait_for_data(PATIENCE).expect("the sample");
    assert!(reader.take().data().eq([&quote("A", 1)]));
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
fn a_guard_condition_ends_a_wait_from_another_thread() {
    let guard = tickwire::GuardCondition::new();
    let waiting = tickwire::WaitSet::new();
    waiting.attach(&guard.condition());
    assert!(waiting.wait(Duration::ZERO).is_err());
    std::thread::scope(|scope| {
        scope.spawn(|| guard.set(true));
        assert_eq!(waiting.wait(PATIENCE).expect("set"), [guard.condition()]);
    });
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

#[test]
fn a_missed_deadline_is_told_on_both_sides() {
    let participant = participant(113);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let period = Duration::from_millis(20);
    let qos = DataWriterQos::default().deadline(period);
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    let qos = DataReaderQos::default().deadline(period);
    let reader = participant.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer.write(&quote("A", 1)).expect("room");
    let missed = |condition: &tickwire::Condition| {
        let waiting = tickwire::WaitSet::new();
        waiting.attach(condition);
        waiting.wait(PATIENCE).expect("a missed deadline");
    };
    missed(&reader.status_condition(tickwire::StatusMask::REQUESTED_DEADLINE_MISSED));
    missed(&writer.status_condition(tickwire::StatusMask::OFFERED_DEADLINE_MISSED));
    let instance = Some(writer.register(&quote("A", 0)).expect("a key"));
    assert_eq!(
        reader.requested_deadline_missed_status().last_instance,
        instance
    );
    assert_eq!(
        writer.offered_deadline_missed_status().last_instance,
        instance
    );
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
fn an_instance_that_lost_its_writers_is_known_by_its_key() {
    let participant = participant(133);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable();
    let reader = participant.reader_with(&topic, qos).expect("a reader");
    let writer = participant.writer(&topic).expect("a writer");
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
fn a_reliable_reader_with_a_time_based_filter_gets_the_last_value() {
    let participant = participant(132);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default()
        .reliable()
        .keep_all()
        .time_based_filter(Duration::from_millis(50));
    let reader = participant.reader_with(&topic, qos).expect("a reader");
    let writer = participant.writer(&topic).expect("a writer");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    for price in 0..=100 {
        writer.write(&quote("A", price)).expect("room");
    }
    let mut prices = Vec::new();
    while prices.last() != Some(&100) {
        reader.wait_for_data(PATIENCE).expect("the last value");
        prices.extend(reader.take().data().map(|quote| quote.price));
    }
    assert_eq!(prices.first(), Some(&0));
    let counters = reader.inbox_counters();
    assert_eq!(counters.stored, prices.len() as u64);
    assert_eq!(counters.stored + counters.too_early, 101);
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

/// A reader of another participant that keeps all, and a writer of as many samples as it has room
/// for.
fn publisher_and_reader(domain: u32) -> (Publisher, DataWriter<Quote>, DataReader<Quote>) {
    let (here, there) = (participant(domain), participant(domain));
    let publisher = here.publisher(PublisherQos::default());
    let topic = here.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default()
        .reliable(PATIENCE)
        .keep_all()
        .resource_limits(ResourceLimits {
            max_samples: Some(16),
            ..ResourceLimits::default()
        });
    let writer = publisher.writer(&topic, qos).expect("a writer");
    let topic = there.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = there.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    (publisher, writer, reader)
}

#[test]
fn suspended_publications_leave_together() {
    let (publisher, writer, reader) = publisher_and_reader(122);
    let calls = Arc::new(AtomicU64::new(0));
    let (count, (tell, told)) = (Arc::clone(&calls), mpsc::channel());
    reader.set_listener(move |reader: &DataReader<Quote>| {
        count.fetch_add(1, Ordering::Relaxed);
        let prices: Vec<_> = reader.take().data().map(|quote| quote.price).collect();
        let _ = tell.send(prices);
    });
    let outer = publisher.suspend_publications();
    let inner = publisher.suspend_publications();
    for price in 0..10 {
        writer.write(&quote("TICK", price)).expect("room");
    }
    drop(inner);
    writer.write(&quote("TICK", 10)).expect("room");
    outer.resume_publications();
    let prices = told.recv_timeout(PATIENCE).expect("the samples");
    assert_eq!(prices, Vec::from_iter(0..=10));
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn waiting_sends_what_is_suspended() {
    let (publisher, writer, reader) = publisher_and_reader(123);
    let _suspended = publisher.suspend_publications();
    // More than there is room for: the writes wait for acknowledgements.
    for price in 0..100 {
        writer.write(&quote("TICK", price)).expect("room");
    }
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all of them");
    assert_eq!(reader.take().data().count(), 100);
}
