//! Built-in topics between participants, and what is ignored of them.

use std::sync::mpsc;
use std::time::Duration;

use crate::common::{PATIENCE, Quote, builder, participant, quote};
use tickwire::error::IgnoreError;
use tickwire::qos::{Durability, History};
use tickwire::{
    AnyDataReader, DataReader, DataReaderListener, DataReaderQos, DataWriterQos, InstanceHandle,
    InstanceState, PublicationBuiltinTopicData, PublisherQos, StateMask, StatusMask,
    SubscriberListener, TopicSupport, WaitSet,
};

/// Waits for a sample of this instance in this state and takes it.
fn take_until<T: TopicSupport>(
    reader: &DataReader<T>,
    instance: impl Into<InstanceHandle>,
    state: InstanceState,
) {
    let instance = instance.into();
    let wait_set = WaitSet::new();
    wait_set.attach(&reader.read_condition(StateMask::ANY));
    loop {
        wait_set.wait(PATIENCE).expect("more samples");
        let samples = reader.take();
        let mut infos = samples.iter().map(|sample| sample.info());
        if infos.any(|info| info.instance == instance && info.instance_state == state) {
            return;
        }
    }
}

#[test]
fn what_others_have_is_told_with_all_its_policies_also_to_who_asks_late() {
    let (one, two) = (participant(184), builder(184).user_data(*b"desk"));
    let two = two.build().expect("a participant");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default()
        .keep_last(7)
        .transient_local()
        .deadline(Duration::from_millis(1_500))
        .exclusive(3)
        .with(|qos| qos.topic_data = b"topic".to_vec())
        .user_data(*b"writer");
    let publisher = PublisherQos::default().partition(["a", "b*"]);
    let publisher = two.publisher(publisher.group_data(*b"group"));
    let writer = publisher.writer(&topic, qos).expect("a writer");
    let reader = two.reader(&topic).expect("a reader");
    let own_topic = one.topic::<Quote>("Quotes").expect("a topic");
    let own = one.reader(&own_topic).expect("a reader");
    let found = || (one.discovery().subscriptions().len() == 2).then_some(());
    one.discovery().wait_for(PATIENCE, found).expect("a reader");
    let found = || (!one.discovery().publications().is_empty()).then_some(());
    one.discovery().wait_for(PATIENCE, found).expect("a writer");

    let builtin = one.builtin_subscriber();
    let participants = builtin.participants().take();
    let participants: Vec<_> = participants.data().collect();
    assert_eq!(participants.len(), 1, "not its own");
    assert_eq!(participants[0].key, two.guid());
    assert_eq!(participants[0].user_data, b"desk");

    let publications = builtin.publications().take();
    let publication = publications.data().next().expect("a writer");
    assert_eq!(publication.key, writer.guid());
    assert_eq!(publication.participant_key, two.guid());
    assert_eq!(publication.topic_name, "Quotes");
    assert_eq!(publication.type_name, "test::Quote");
    let qos = &publication.qos;
    assert_eq!(qos.history, History::KeepLast(7));
    assert_eq!(qos.durability, Durability::TransientLocal);
    assert_eq!(qos.deadline, Duration::from_millis(1_500));
    assert_eq!(qos.ownership_strength, 3);
    assert_eq!(qos.partition, ["a", "b*"]);
    let data = (&*qos.user_data, &*qos.topic_data, &*qos.group_data);
    assert_eq!(data, (&b"writer"[..], &b"topic"[..], &b"group"[..]));

    let subscriptions = builtin.subscriptions().take();
    let keys: Vec<_> = subscriptions.data().map(|data| data.key).collect();
    assert_eq!(keys, [reader.guid()], "not {}", own.guid());
    let topics = builtin.topics().take();
    let names: Vec<_> = topics.data().map(|data| &*data.name).collect();
    assert_eq!(names, ["Quotes"]);
}

/// Tells which publications it has seen.
struct Ear(mpsc::Sender<String>);

impl DataReaderListener<PublicationBuiltinTopicData> for Ear {
    fn on_data_available(&mut self, reader: &DataReader<PublicationBuiltinTopicData>) {
        for data in reader.take().data() {
            let _ = self.0.send(data.topic_name.clone());
        }
    }
}

impl SubscriberListener for Ear {
    fn on_data_on_readers(&mut self, reader: &AnyDataReader) {
        let _ = self.0.send(reader.topic_name().to_owned());
    }
}

#[test]
fn endpoints_and_participants_that_go_are_told_of() {
    let (one, two) = (participant(185), participant(185));
    let builtin = one.builtin_subscriber();
    let (publications, topics) = (builtin.publications(), builtin.topics());
    let (told, heard) = mpsc::channel();
    builtin.set_listener_for(StatusMask::DATA_ON_READERS, Ear(told.clone()));
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let writer = two.writer(&topic).expect("a writer");
    while heard.recv_timeout(PATIENCE).expect("news") != "DCPSPublication" {}
    builtin.remove_listener();
    publications.set_listener(Ear(told));
    builtin.notify_datareaders();
    while heard.recv_timeout(PATIENCE).expect("news") != "Quotes" {}
    publications.remove_listener();
    let publication = writer.guid();
    drop(writer);
    take_until(&publications, publication, InstanceState::Disposed);
    let ended = StateMask::NOT_ALIVE;
    let wait_set = WaitSet::new();
    wait_set.attach(&topics.read_condition(ended));
    wait_set.wait(PATIENCE).expect("it has no endpoints");
    let participants = builtin.participants();
    let guid = two.guid();
    take_until(&participants, guid, InstanceState::Alive);
    drop((topic, two));
    take_until(&participants, guid, InstanceState::Disposed);
}

#[test]
fn what_is_ignored_is_unmatched_and_stays_so() {
    let (one, two, three) = (participant(186), participant(186), participant(186));
    let reliable = || DataReaderQos::default().reliable().keep_all();
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let reader = one.reader_with(&topic, reliable()).expect("a reader");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let ignored = two.writer(&topic).expect("a writer");
    let topic = three.topic::<Quote>("Quotes").expect("a topic");
    let writer = three.writer(&topic).expect("a writer");
    reader.wait_for_matched(2, PATIENCE).expect("two matches");
    // What is ignored is not answered any more, if the first answer is lost.
    ignored.wait_for_matched(1, PATIENCE).expect("a match");
    let publications = one.builtin_subscriber().publications();
    one.ignore_publication(ignored.guid().into())
        .expect("a writer");
    assert_eq!(reader.matched_publications().len(), 1);
    take_until(&publications, ignored.guid(), InstanceState::NoWriters);
    assert_eq!(ignored.matched_subscriptions().len(), 1, "still there");
    ignored.write(&quote("A", 1)).expect("room");
    // It is announced anew, and so is what comes after it.
    let qos = ignored.qos().user_data(*b"again");
    ignored.set_qos(qos).expect("may change");
    let again = two.writer(&topic_of(&two)).expect("a writer");
    reader.wait_for_matched(2, PATIENCE).expect("the new one");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer.write(&quote("A", 2)).expect("room");
    reader.wait_for_data(PATIENCE).expect("a sample");
    let prices: Vec<_> = reader.take().data().map(|quote| quote.price).collect();
    assert_eq!(prices, [2]);

    let participants = one.builtin_subscriber().participants();
    one.ignore_participant(two.guid().into())
        .expect("a participant");
    let matched = reader.matched_publications().into_iter();
    let matched: Vec<_> = matched.map(|status| status.guid).collect();
    assert_eq!(matched, [writer.guid()], "not {}", again.guid());
    take_until(&participants, two.guid(), InstanceState::NoWriters);

    let topics = one.builtin_subscriber().topics();
    let known = topics.take();
    let quotes = known.data().next().expect("a topic").key;
    one.ignore_topic(quotes).expect("a topic");
    assert!(reader.matched_publications().is_empty());
    assert_eq!(one.ignore_topic(quotes), Err(IgnoreError::UnknownTopic));
}

fn topic_of(participant: &tickwire::DomainParticipant) -> tickwire::Topic<Quote> {
    participant.topic("Quotes").expect("a topic")
}

#[test]
fn a_handle_of_something_else_is_refused() {
    let participant = participant(187);
    let own = participant.guid().into();
    assert_eq!(participant.ignore_participant(own), Ok(()), "no effect");
    assert_eq!(
        participant.ignore_publication(own),
        Err(IgnoreError::NoPublication)
    );
    assert_eq!(
        participant.ignore_subscription(own),
        Err(IgnoreError::NoSubscription)
    );
    assert_eq!(
        participant.ignore_participant(InstanceHandle::KEYLESS),
        Err(IgnoreError::NoParticipant)
    );
    assert_eq!(
        participant.ignore_topic(own),
        Err(IgnoreError::UnknownTopic)
    );
}
