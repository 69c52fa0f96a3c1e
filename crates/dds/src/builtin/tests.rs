//! What discovery tells becomes samples; nothing is on a network here, and nobody drives anything.

use std::time::Duration;

use tickwire_rtps::discovery::BuiltinEndpoints;
use tickwire_rtps::wire::GuidPrefix;

use super::*;
use crate::participant::{DomainParticipant, Driving};
use crate::reader::{InstanceState, SampleInfo, StateMask, ViewState};
use crate::status::StatusMask;
use crate::type_support::TopicSupport;

fn participant() -> DomainParticipant {
    let builder = DomainParticipant::builder(230).driving(Driving::Polled);
    let builder = builder.limits(|limits| limits.discovery.max_endpoints = 4);
    builder.build().expect("a participant")
}

fn prefix(id: u8) -> GuidPrefix {
    GuidPrefix([id; 12])
}

fn writer(id: u8, key: u32, topic: &str) -> Arc<EndpointData> {
    let guid = Guid::new(prefix(id), EntityId::user_writer(key, true));
    let data = EndpointData::new(Role::Writer, guid, topic.to_owned(), "T".to_owned());
    Arc::new(data)
}

fn found(data: &Arc<EndpointData>) -> Event {
    Event::EndpointFound(Arc::clone(data))
}

fn lost(data: &Arc<EndpointData>, reason: LostReason) -> Event {
    let endpoint = Arc::clone(data);
    Event::EndpointLost { endpoint, reason }
}

fn tell(participant: &DomainParticipant, events: &[Event]) {
    for event in events {
        participant.core().builtin.follow(event);
    }
}

/// What a reader has, of each sample whether there is a value, and the instance's state.
fn taken<T: TopicSupport>(reader: &DataReader<T>) -> Vec<(bool, InstanceState)> {
    let samples = reader.take();
    let infos = samples.iter().map(|sample| sample.info());
    let state = |info: &SampleInfo| (info.valid_data, info.instance_state);
    infos.map(state).collect()
}

const ALIVE: (bool, InstanceState) = (true, InstanceState::Alive);
const DISPOSED: (bool, InstanceState) = (false, InstanceState::Disposed);
const NO_WRITERS: (bool, InstanceState) = (false, InstanceState::NoWriters);

#[test]
fn participants_are_instances_that_end_as_they_went() {
    let participant = participant();
    let reader = participant.builtin_subscriber().participants();
    let mut data = ParticipantData::new(prefix(1));
    tell(
        &participant,
        &[Event::ParticipantFound(Arc::new(data.clone()))],
    );
    data.user_data = b"desk".to_vec();
    tell(
        &participant,
        &[Event::ParticipantChanged(Arc::new(data.clone()))],
    );
    let samples = reader.take();
    let [sample] = &*samples else {
        panic!("the last sample of one instance")
    };
    let expected = ParticipantBuiltinTopicData {
        key: data.guid(),
        user_data: b"desk".to_vec(),
    };
    assert_eq!(sample.data(), Some(&expected));
    assert_eq!(sample.info().instance, data.guid().into());
    let ends = [
        (LostReason::Left, DISPOSED),
        (LostReason::LeaseExpired, NO_WRITERS),
        (LostReason::ProcessEnded, NO_WRITERS),
        (LostReason::Displaced, NO_WRITERS),
        (LostReason::Ignored, NO_WRITERS),
    ];
    for (reason, end) in ends {
        let prefix = prefix(1);
        tell(&participant, &[Event::ParticipantLost { prefix, reason }]);
        assert_eq!(taken(&reader), [end], "{reason:?}");
        tell(
            &participant,
            &[Event::ParticipantFound(Arc::new(data.clone()))],
        );
        let samples = reader.take();
        let view: Vec<_> = samples.iter().map(|one| one.info().view_state).collect();
        assert_eq!(view, [ViewState::New], "it is back");
    }
}

#[test]
fn endpoints_go_to_the_reader_of_their_role() {
    let participant = participant();
    let builtin = participant.builtin_subscriber();
    let (publications, subscriptions) = (builtin.publications(), builtin.subscriptions());
    let mut data = EndpointData::clone(&writer(1, 1, "Quotes"));
    tell(&participant, &[found(&Arc::new(data.clone()))]);
    assert_eq!(taken(&subscriptions), []);
    let samples = publications.take();
    let value = samples[0].data().expect("a value");
    assert_eq!((value.key, &value.qos), (data.guid, &data.qos));
    assert_eq!(value.participant_key.entity, EntityId::PARTICIPANT);
    data.role = Role::Reader;
    data.guid.entity = EntityId::user_reader(1, true);
    data.qos = crate::qos::EndpointQos::reader();
    let data = Arc::new(data);
    tell(
        &participant,
        &[found(&data), lost(&data, LostReason::LeaseExpired)],
    );
    assert_eq!(taken(&publications), []);
    let value_and_end = [(true, InstanceState::NoWriters), NO_WRITERS];
    assert_eq!(taken(&subscriptions), value_and_end);
}

#[test]
fn a_topic_lives_as_long_as_an_endpoint_has_it() {
    let participant = participant();
    let reader = participant.builtin_subscriber().topics();
    let (one, two) = (writer(1, 1, "Quotes"), writer(2, 1, "Quotes"));
    tell(&participant, &[found(&one), found(&two), found(&two)]);
    let samples = reader.take();
    assert_eq!(samples.len(), 1);
    let value = samples[0].data().expect("a value").clone();
    assert_eq!((&*value.name, &*value.type_name), ("Quotes", "T"));
    assert_eq!(samples[0].info().instance, value.key);
    assert_eq!(reader.lookup_instance(&value), Some(value.key));
    tell(&participant, &[lost(&one, LostReason::Left)]);
    assert_eq!(taken(&reader), [], "the other one has it");
    tell(&participant, &[lost(&two, LostReason::Left)]);
    assert_eq!(taken(&reader), [NO_WRITERS]);
    tell(&participant, &[found(&one)]);
    assert_eq!(taken(&reader), [ALIVE]);
    let other_type = EndpointData {
        type_name: "another".to_owned(),
        ..EndpointData::clone(&two)
    };
    tell(&participant, &[found(&Arc::new(other_type))]);
    assert_eq!(taken(&reader), [ALIVE], "it is another topic");
}

#[test]
fn what_has_ended_makes_way_when_nobody_takes_it() {
    let participant = participant();
    let reader = participant.builtin_subscriber().publications();
    let stays = writer(1, 0, "Quotes");
    tell(&participant, &[found(&stays)]);
    for key in 1..100 {
        let passes = writer(1, key, "Quotes");
        tell(
            &participant,
            &[found(&passes), lost(&passes, LostReason::Left)],
        );
        let known = reader.select().states(StateMask::ANY).read();
        let mut instances: Vec<_> = known.iter().map(|one| one.info().instance).collect();
        instances.dedup();
        assert!(instances.len() <= 8, "twice the limit: {}", instances.len());
    }
    let alive = reader.select().states(StateMask::ALIVE).take();
    let alive: Vec<_> = alive.data().map(|data| data.key).collect();
    assert_eq!(alive, [stays.guid]);
    assert_eq!(reader.sample_rejected_status().count.total_count, 0);
}

#[test]
fn a_reader_is_the_same_while_somebody_has_it_and_nothing_is_kept_without() {
    let participant = participant();
    let builtin = participant.builtin_subscriber();
    let slot = &participant.core().builtin.publications;
    let first = builtin.publications();
    let guid = participant.builtin_subscriber().publications().guid();
    assert_eq!(first.guid(), guid);
    tell(&participant, &[found(&writer(1, 1, "Quotes"))]);
    assert!(participant.discovery().subscriptions().is_empty());
    drop(first);
    assert!(lock(slot).shared.upgrade().is_none());
    assert!(participant.core().directory.snapshot().readers.is_empty());
    let second = builtin.publications();
    assert_ne!(second.guid(), guid);
    assert_eq!(taken(&second), [], "discovery itself has found nothing");
}

#[test]
fn conditions_ask_for_names() {
    let participant = participant();
    let reader = participant.builtin_subscriber().publications();
    let quotes = reader
        .query_condition(StateMask::NOT_READ, "topic_name LIKE 'Quo%'", &[])
        .expect("a member");
    tell(&participant, &[found(&writer(1, 1, "Trades"))]);
    assert!(!quotes.condition().holds());
    tell(&participant, &[found(&writer(1, 2, "Quotes"))]);
    assert!(quotes.condition().holds());
    let taken = reader.select().query(&quotes).take();
    let names: Vec<_> = taken.data().map(|data| &*data.topic_name).collect();
    assert_eq!(names, ["Quotes"]);
}

#[test]
fn the_subscriber_says_that_a_reader_has_data_until_one_is_read() {
    let participant = participant();
    let builtin = participant.builtin_subscriber();
    let (publications, topics) = (builtin.publications(), builtin.topics());
    let mask = StatusMask::DATA_ON_READERS;
    let condition = builtin.status_condition(mask);
    assert!(!condition.holds());
    tell(&participant, &[found(&writer(1, 1, "Quotes"))]);
    assert!(condition.holds());
    publications.take();
    assert!(!condition.holds(), "though the other one was not read");
    assert_eq!(topics.status_changes(), StatusMask::DATA_AVAILABLE);
}

#[test]
fn what_went_with_its_reader_is_no_data_of_the_subscriber() {
    let participant = participant();
    let builtin = participant.builtin_subscriber();
    let (publications, topics) = (builtin.publications(), builtin.topics());
    let condition = builtin.status_condition(StatusMask::DATA_ON_READERS);
    tell(&participant, &[found(&writer(1, 1, "Quotes"))]);
    drop(publications);
    assert!(condition.holds(), "the other one has data");
    drop(topics);
    assert!(!condition.holds());
    let publications = builtin.publications();
    tell(&participant, &[found(&writer(1, 2, "Trades"))]);
    assert!(condition.holds());
    drop(publications);
    assert!(!condition.holds());
}

#[test]
fn a_rendezvous_is_no_participant() {
    let participant = participant();
    let reader = participant.builtin_subscriber().participants();
    let mut data = ParticipantData::new(prefix(1));
    data.builtin_endpoints =
        BuiltinEndpoints::PARTICIPANT_ANNOUNCER.and(BuiltinEndpoints::PARTICIPANT_DETECTOR);
    assert!(data.is_rendezvous());
    let changed = Event::ParticipantChanged(Arc::new(data.clone()));
    let lost = Event::ParticipantLost {
        prefix: prefix(1),
        reason: LostReason::Left,
    };
    let found = Event::ParticipantFound(Arc::new(data));
    tell(&participant, &[found, changed, lost]);
    assert_eq!(taken(&reader), []);
}

#[test]
fn the_lifecycle_of_a_built_in_reader_may_be_changed() {
    let participant = participant();
    let reader = participant.builtin_subscriber().publications();
    let qos = reader.qos();
    assert_eq!(qos.policies().resource_limits.max_instances, Some(8));
    let at_once = qos.autopurge_disposed_samples_delay(Duration::ZERO);
    reader.set_qos(at_once.clone()).expect("may change");
    assert_eq!(reader.qos(), at_once);
    let quotes = writer(1, 1, "Quotes");
    tell(
        &participant,
        &[found(&quotes), lost(&quotes, LostReason::Left)],
    );
    assert_eq!(taken(&reader), []);
}
