//! PRESENTATION between participants, over the loopback interface.

use std::time::Duration;

use tickwire::qos::{Presentation, PresentationScope, ResourceLimits};
use tickwire::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, Publisher,
    PublisherQos, StateMask, Subscriber, SubscriberQos, Topic,
};

/// Long enough that only a fault reaches it.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Leg")]
struct Leg {
    #[topic(key)]
    id: u32,
    price: i64,
}

fn leg(id: u32, price: i64) -> Leg {
    Leg { id, price }
}

/// A publisher and a subscriber with several topics, each in a participant of its own.
struct Both {
    publisher: Publisher,
    subscriber: Subscriber,
    one: DomainParticipant,
    two: DomainParticipant,
}

impl Both {
    fn new(domain: u32, presentation: Presentation) -> Self {
        let participant = || {
            let builder = DomainParticipant::builder(domain);
            let tag = std::process::id().to_string();
            builder.domain_tag(&tag).build().expect("a participant")
        };
        let (one, two) = (participant(), participant());
        Self {
            publisher: one.publisher(PublisherQos::default().presentation(presentation)),
            subscriber: two.subscriber(SubscriberQos::default().presentation(presentation)),
            one,
            two,
        }
    }

    fn writer(&self, topic: &str) -> DataWriter<Leg> {
        let topic = self.one.topic::<Leg>(topic).expect("a topic");
        let qos = DataWriterQos::default()
            .reliable(PATIENCE)
            .keep_all()
            .transient_local();
        self.publisher.writer(&topic, qos).expect("a writer")
    }

    fn reader_with(&self, topic: &str, qos: DataReaderQos) -> DataReader<Leg> {
        let topic = self.two.topic::<Leg>(topic).expect("a topic");
        let qos = qos.reliable().keep_all();
        self.subscriber.reader(&topic, qos).expect("a reader")
    }

    fn reader(&self, topic: &str) -> DataReader<Leg> {
        self.reader_with(topic, DataReaderQos::default())
    }
}

fn coherent(access_scope: PresentationScope) -> Presentation {
    Presentation {
        access_scope,
        coherent_access: true,
        ordered_access: false,
    }
}

fn match_both(writer: &DataWriter<Leg>, reader: &DataReader<Leg>) {
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
}

fn prices(reader: &DataReader<Leg>) -> Vec<i64> {
    reader.take().data().map(|leg| leg.price).collect()
}

#[test]
fn a_coherent_set_appears_when_it_has_ended() {
    for (domain, scope) in [
        (140, PresentationScope::Instance),
        (141, PresentationScope::Topic),
    ] {
        let both = Both::new(domain, coherent(scope));
        let (writer, reader) = (both.writer("Legs"), both.reader("Legs"));
        match_both(&writer, &reader);
        let set = both.publisher.begin_coherent_changes();
        let nested = both.publisher.begin_coherent_changes();
        for id in 0..10 {
            writer.write(&leg(id, i64::from(id))).expect("room");
        }
        nested.end_coherent_changes();
        writer
            .wait_for_acknowledgments(PATIENCE)
            .expect("all acknowledged");
        assert_eq!(prices(&reader), []);
        set.end_coherent_changes();
        reader.wait_for_data(PATIENCE).expect("the set");
        assert_eq!(prices(&reader), (0..10).collect::<Vec<_>>());
        writer.write(&leg(1, 77)).expect("room");
        reader.wait_for_data(PATIENCE).expect("a sample");
        assert_eq!(prices(&reader), [77]);
    }
}

#[test]
fn a_set_beyond_the_limits_of_a_reader_is_lost_as_a_whole() {
    let both = Both::new(142, coherent(PresentationScope::Topic));
    let writer = both.writer("Legs");
    let limits = ResourceLimits {
        max_samples: Some(5),
        ..ResourceLimits::default()
    };
    let qos = DataReaderQos::default().resource_limits(limits);
    let reader = both.reader_with("Legs", qos);
    match_both(&writer, &reader);
    for len in [6, 4, 3] {
        let _set = both.publisher.begin_coherent_changes();
        for id in 0..len {
            writer.write(&leg(id, i64::from(len))).expect("room");
        }
    }
    reader.wait_for_data(PATIENCE).expect("the set that fits");
    assert_eq!(prices(&reader), [4; 4]);
    reader.wait_for_data(PATIENCE).expect("the one that waited");
    assert_eq!(prices(&reader), [3; 3]);
    assert_eq!(reader.sample_lost_status().total_count, 6);
}

#[test]
fn a_set_of_a_group_appears_in_all_readers_together() {
    let both = Both::new(143, coherent(PresentationScope::Group));
    let topics = ["Bids", "Asks", "Trades"];
    let writers = topics.map(|topic| both.writer(topic));
    let readers = topics.map(|topic| both.reader(topic));
    for (writer, reader) in writers.iter().zip(&readers) {
        match_both(writer, reader);
    }
    // The third writer has no part in the sets.
    let write_set = |price: i64| {
        let _set = both.publisher.begin_coherent_changes();
        for writer in &writers[..2] {
            writer.write(&leg(1, price)).expect("room");
            writer.write(&leg(2, price)).expect("room");
        }
    };
    const SETS: i64 = 200;
    std::thread::scope(|scope| {
        scope.spawn(|| (1..=SETS).for_each(write_set));
        let mut seen = 0;
        while seen < SETS {
            readers[0].wait_for_data(PATIENCE).expect("more sets");
            let access = both.subscriber.begin_access();
            let of_one = prices(&readers[0]);
            assert_eq!(prices(&readers[1]), of_one);
            access.end_access();
            let expected: Vec<_> = (0..of_one.len() as i64).map(|i| seen + 1 + i / 2).collect();
            assert_eq!(of_one, expected);
            seen += of_one.len() as i64 / 2;
        }
    });
    for reader in &readers {
        assert_eq!(reader.sample_lost_status().total_count, 0);
    }
}

#[test]
fn nothing_appears_in_a_group_while_somebody_looks() {
    let both = Both::new(144, coherent(PresentationScope::Group));
    let (writer, reader) = (both.writer("Bids"), both.reader("Bids"));
    match_both(&writer, &reader);
    let access = both.subscriber.begin_access();
    {
        let _set = both.publisher.begin_coherent_changes();
        writer.write(&leg(1, 5)).expect("room");
    }
    // Outside of a set, but behind it.
    writer.write(&leg(1, 6)).expect("room");
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all acknowledged");
    assert_eq!(prices(&reader), []);
    assert_eq!(access.datareaders(StateMask::ANY), []);
    access.end_access();
    assert_eq!(prices(&reader), [5, 6]);
}

#[test]
fn a_late_joiner_of_a_group_gets_whole_sets() {
    let both = Both::new(145, coherent(PresentationScope::Group));
    let topics = ["Bids", "Asks"];
    let writers = topics.map(|topic| both.writer(topic));
    for price in 0..20 {
        let _set = both.publisher.begin_coherent_changes();
        for writer in &writers {
            writer.write(&leg(1, price)).expect("room");
        }
    }
    let durable = || DataReaderQos::default().transient_local();
    let readers = topics.map(|topic| both.reader_with(topic, durable()));
    let access = both.subscriber.begin_access();
    for (writer, reader) in writers.iter().zip(&readers) {
        match_both(writer, reader);
        writer
            .wait_for_acknowledgments(PATIENCE)
            .expect("all acknowledged");
    }
    access.end_access();
    for reader in &readers {
        assert_eq!(prices(reader), (0..20).collect::<Vec<_>>());
    }
}

#[test]
fn ordered_access_to_a_group_goes_through_its_readers_in_the_order_of_writing() {
    let ordered = Presentation {
        access_scope: PresentationScope::Group,
        ordered_access: true,
        coherent_access: true,
    };
    let both = Both::new(146, ordered);
    let topics = ["Bids", "Asks"];
    let writers = topics.map(|topic| both.writer(topic));
    let readers = topics.map(|topic| both.reader(topic));
    for (writer, reader) in writers.iter().zip(&readers) {
        match_both(writer, reader);
    }
    let turns = [0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1, 0];
    {
        let _set = both.publisher.begin_coherent_changes();
        for (price, turn) in (0_i64..).zip(turns) {
            writers[turn].write(&leg(1, price)).expect("room");
        }
    }
    readers[0].wait_for_data(PATIENCE).expect("the set");
    let access = both.subscriber.begin_access();
    let mut order = Vec::new();
    for guid in access.datareaders(StateMask::ANY) {
        let reader = readers.iter().find(|reader| reader.guid() == guid);
        let samples = reader.expect("one of ours").select().max_samples(1).take();
        order.extend(samples.data().map(|leg| leg.price));
    }
    assert_eq!(order, (0..turns.len() as i64).collect::<Vec<_>>());
}

#[test]
fn ordered_access_to_instances_keeps_each_together() {
    let ordered = |access_scope| Presentation {
        access_scope,
        ordered_access: true,
        coherent_access: false,
    };
    let both = Both::new(147, ordered(PresentationScope::Topic));
    let by_instance = SubscriberQos::default().presentation(ordered(PresentationScope::Instance));
    let by_instance = both.two.subscriber(by_instance);
    let writer = both.writer("Legs");
    let by_topic = both.reader("Legs");
    let qos = DataReaderQos::default().reliable().keep_all();
    let by_instance = by_instance.reader(by_topic.topic(), qos).expect("a reader");
    writer.wait_for_matched(2, PATIENCE).expect("a match");
    for price in 0..6 {
        writer
            .write(&leg(u32::from(price % 2 == 0), price))
            .expect("room");
    }
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all acknowledged");
    assert_eq!(prices(&by_topic), [0, 1, 2, 3, 4, 5]);
    assert_eq!(prices(&by_instance), [0, 2, 4, 1, 3, 5]);
}

#[test]
fn what_is_left_of_a_set_is_shown_as_a_guess_to_who_comes_after_one_of_its_writers_has_left() {
    let both = Both::new(148, coherent(PresentationScope::Group));
    let (one, two) = (both.writer("One"), both.writer("Two"));
    let both_legs = both.publisher.begin_coherent_changes();
    one.write(&leg(1, 10)).expect("room");
    two.write(&leg(1, 11)).expect("room");
    both_legs.end_coherent_changes();
    drop(two);
    // While the other participant knows of it, it knows that this reader does not miss it; then
    // nothing tells whose the other part was.
    let found = both.two.discovery().wait_for(PATIENCE, || {
        let writers = both.two.discovery().publications();
        let topics: Vec<_> = writers.iter().map(|writer| &*writer.topic_name).collect();
        (topics == ["One"]).then_some(())
    });
    found.expect("one writer is left");
    let one_leg = both.publisher.begin_coherent_changes();
    one.write(&leg(1, 20)).expect("room");
    one_leg.end_coherent_changes();
    let reader = both.reader_with("One", DataReaderQos::default().transient_local());
    let mut seen = Vec::new();
    while seen.len() < 2 {
        reader.wait_for_data(PATIENCE).expect("both sets");
        seen.extend(prices(&reader));
    }
    assert_eq!(seen, [10, 20]);
    assert_eq!(reader.inbox_counters().parts_guessed, 1);
    assert_eq!(reader.sample_lost_status().total_count, 0);
}
