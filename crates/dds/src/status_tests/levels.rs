//! Each status is told of by the nearest listener: the entity's own, else the one of its publisher or
//! subscriber, else the participant's (DDS 1.4 §2.2.4.3.1).

use std::collections::BTreeSet;

use super::*;
use crate::qos::{LivelinessKind, ResourceLimits};
use crate::status::SampleRejectedStatus;
use crate::{
    AnyDataReader, AnyDataWriter, DomainParticipantListener, PublisherListener, SubscriberListener,
};

/// Says what it is told of, once it has seen that something has changed.
#[derive(Clone)]
struct Teller(Arc<Mutex<BTreeSet<&'static str>>>);

impl Teller {
    fn say(&self, what: &'static str, has_changed: bool) {
        assert!(has_changed, "{what}: nothing has changed");
        lock(&self.0).insert(what);
    }

    fn count(&self, what: &'static str, status: CountStatus) {
        self.say(what, status.total_count_change > 0);
    }

    fn incompatible(&self, what: &'static str, status: &IncompatibleQosStatus) {
        self.say(what, status.total_count_change > 0);
    }

    fn matched(&self, what: &'static str, status: MatchedStatus) {
        let changed = status.total_count_change > 0 || status.current_count_change != 0;
        self.say(what, changed);
    }
}

/// What a listener of writers does, whoever they are.
macro_rules! tell_of_writers {
    ($writer:ty) => {
        fn on_publication_matched(&mut self, _: &$writer, status: MatchedStatus) {
            self.matched("publication matched", status);
        }

        fn on_offered_deadline_missed(&mut self, _: &$writer, status: DeadlineMissedStatus) {
            self.count("offered deadline missed", status.count);
        }

        fn on_liveliness_lost(&mut self, _: &$writer, status: CountStatus) {
            self.count("liveliness lost", status);
        }

        fn on_offered_incompatible_qos(&mut self, _: &$writer, status: IncompatibleQosStatus) {
            self.incompatible("offered incompatible QoS", &status);
        }
    };
}

/// What a listener of readers does, whoever they are.
macro_rules! tell_of_readers {
    ($reader:ty) => {
        fn on_data_available(&mut self, _: &$reader) {
            self.say("data available", true);
        }

        fn on_subscription_matched(&mut self, _: &$reader, status: MatchedStatus) {
            self.matched("subscription matched", status);
        }

        fn on_requested_incompatible_qos(&mut self, _: &$reader, status: IncompatibleQosStatus) {
            self.incompatible("requested incompatible QoS", &status);
        }

        fn on_liveliness_changed(&mut self, _: &$reader, status: LivelinessChangedStatus) {
            let changes = (status.alive_count_change, status.not_alive_count_change);
            // A writer that came back before it was told of has changed nothing.
            if changes != (0, 0) {
                self.say("liveliness changed", true);
            }
        }

        fn on_requested_deadline_missed(&mut self, _: &$reader, status: DeadlineMissedStatus) {
            self.count("requested deadline missed", status.count);
        }

        fn on_sample_lost(&mut self, _: &$reader, status: CountStatus) {
            self.count("sample lost", status);
        }

        fn on_sample_rejected(&mut self, _: &$reader, status: SampleRejectedStatus) {
            self.count("sample rejected", status.count);
        }
    };
}

impl DataWriterListener<Quote> for Teller {
    tell_of_writers!(DataWriter<Quote>);
}

impl PublisherListener for Teller {
    tell_of_writers!(AnyDataWriter);
}

impl DataReaderListener<Quote> for Teller {
    tell_of_readers!(DataReader<Quote>);
}

impl SubscriberListener for Teller {
    tell_of_readers!(AnyDataReader);
}

impl DomainParticipantListener for Teller {}

const ALL: [&str; 11] = [
    "data available",
    "liveliness changed",
    "liveliness lost",
    "offered deadline missed",
    "offered incompatible QoS",
    "publication matched",
    "requested deadline missed",
    "requested incompatible QoS",
    "sample lost",
    "sample rejected",
    "subscription matched",
];

/// Who has the listener.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Own,
    Group,
    Participant,
}

/// A writer that is asserted by hand and overwrites what its reader has no room for, and two
/// endpoints that do not match.
fn hear_all(level: Level) {
    // What it neither has room for nor may hold is overwritten at the writer, and lost.
    let world = World::with(1, |builder| {
        builder.limits(|limits| limits.reader.max_held = 1)
    });
    let participant = &world.participants[0];
    let teller = Teller(Arc::default());
    let publisher = participant.publisher(Default::default());
    let subscriber = participant.subscriber(Default::default());
    match level {
        Level::Own => {}
        Level::Group => {
            publisher.set_listener(teller.clone());
            subscriber.set_listener(teller.clone());
        }
        Level::Participant => participant.set_listener(teller.clone()),
    }
    let period = 20 * MS;
    let writer_qos = DataWriterQos::default()
        .deadline(period)
        .liveliness(LivelinessKind::ManualByTopic, period);
    let reader_qos = DataReaderQos::default()
        .reliable()
        .keep_all()
        .resource_limits(ResourceLimits {
            max_samples: Some(1),
            ..ResourceLimits::default()
        })
        .deadline(period)
        .liveliness(LivelinessKind::ManualByTopic, period);
    let quotes = participant.topic::<Quote>("Quotes").expect("a topic");
    let others = participant.topic::<Quote>("Others").expect("a topic");
    let writer = publisher.writer(&quotes, writer_qos).expect("a writer");
    let unreliable = DataWriterQos::default().best_effort();
    let unreliable = publisher.writer(&others, unreliable).expect("a writer");
    let reader = subscriber
        .reader(&quotes, reader_qos.clone())
        .expect("a reader");
    let unmatched = subscriber.reader(&others, reader_qos).expect("a reader");
    if level == Level::Own {
        for writer in [&writer, &unreliable] {
            writer.set_listener(teller.clone());
        }
        for reader in [&reader, &unmatched] {
            reader.set_listener(teller.clone());
        }
    }
    world.meet(&writer, &reader);
    for _ in 0..50 {
        for _ in 0..10 {
            writer.write(&quote("A")).expect("room");
        }
        // A pause longer than the period.
        (0..60).for_each(|_| world.advance(MS));
        reader.take();
    }
    let heard: Vec<_> = lock(&teller.0).iter().copied().collect();
    assert_eq!(heard, ALL);
}

#[test]
fn an_entity_hears_of_each_of_its_statuses() {
    hear_all(Level::Own);
}

#[test]
fn publishers_and_subscribers_hear_of_those_of_their_entities() {
    hear_all(Level::Group);
}

#[test]
fn a_participant_hears_of_all_else() {
    hear_all(Level::Participant);
}
