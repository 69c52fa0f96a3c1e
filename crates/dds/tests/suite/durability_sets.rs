//! Coherent sets of writers that have ended: readers with coherent access see each as a whole or not at
//! all, others see what is there (DDS 1.4 §2.2.3.6).

use std::path::PathBuf;
use std::{env, fs, process};

use crate::common::{PATIENCE, Quote, builder, quote};
use tickwire::qos::{DurabilityService, History, Presentation, PresentationScope};
use tickwire::store::{Store, StoreOptions};
use tickwire::{
    DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, Publisher, PublisherQos,
    SubscriberQos,
};

const COHERENT: Presentation = Presentation {
    access_scope: PresentationScope::Topic,
    coherent_access: true,
    ordered_access: false,
};

/// A store that goes with the test, and a participant that uses it.
struct Scratch {
    path: PathBuf,
    participant: DomainParticipant,
}

impl Scratch {
    fn new(domain: u32) -> Self {
        let path = env::temp_dir().join(format!("tickwire-sets-{}-{domain}", process::id()));
        fs::create_dir(&path).expect("a directory");
        let options = StoreOptions::below(&path);
        let participant = builder(domain).store(options).build();
        let participant = participant.expect("a participant");
        Self { path, participant }
    }

    fn writer(&self, presentation: Presentation, kept: History) -> (Publisher, DataWriter<Quote>) {
        let participant = &self.participant;
        let qos = PublisherQos::default().presentation(presentation);
        let publisher = participant.publisher(qos);
        let topic = participant.topic::<Quote>("Quotes").expect("a topic");
        let service = DurabilityService {
            history: kept,
            ..DurabilityService::default()
        };
        let qos = DataWriterQos::default().keep_all().transient();
        let writer = publisher.writer(&topic, qos.durability_service(service));
        (publisher, writer.expect("a writer"))
    }

    /// The prices that a reader is given that comes now, and how many of sets it is not.
    fn late(&self, presentation: Presentation) -> (Vec<i64>, u64) {
        let participant = &self.participant;
        let subscriber =
            participant.subscriber(SubscriberQos::default().presentation(presentation));
        let topic = participant.topic::<Quote>("Quotes").expect("a topic");
        let qos = DataReaderQos::default().reliable().keep_all().transient();
        let reader = subscriber.reader(&topic, qos).expect("a reader");
        reader.wait_for_matched(1, PATIENCE).expect("a match");
        let history = reader.wait_for_historical_data(PATIENCE);
        history.expect("historical data");
        let prices = reader.take().data().map(|quote| quote.price).collect();
        (prices, reader.counters().set_changes_discarded)
    }

    /// The same where what has come is shown by the subscriber, which may be later: as many prices.
    fn late_of_group(&self, group: Presentation, count: usize) -> Vec<i64> {
        let subscriber = self
            .participant
            .subscriber(SubscriberQos::default().presentation(group));
        let topic = self.participant.topic::<Quote>("Quotes").expect("a topic");
        let qos = DataReaderQos::default().reliable().keep_all().transient();
        let reader = subscriber.reader(&topic, qos).expect("a reader");
        let mut prices = Vec::new();
        while prices.len() < count {
            reader.wait_for_data(PATIENCE).expect("more samples");
            prices.extend(reader.take().data().map(|quote| quote.price));
        }
        prices
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn write(writer: &DataWriter<Quote>, quotes: &[(&str, i64)]) {
    for (symbol, price) in quotes {
        writer.write(&quote(symbol, *price)).expect("written");
    }
}

#[test]
fn a_set_that_had_not_ended_is_not_seen() {
    let scratch = Scratch::new(65);
    let (publisher, writer) = scratch.writer(COHERENT, History::KeepAll);
    write(&writer, &[("A", 1)]);
    let set = publisher.begin_coherent_changes();
    write(&writer, &[("A", 2), ("B", 3)]);
    set.end_coherent_changes();
    write(&writer, &[("B", 4)]);
    let set = publisher.begin_coherent_changes();
    write(&writer, &[("A", 5), ("B", 6)]);
    // As if the process had been killed.
    let log = Store::logs(&scratch.path.join("transient")).expect("a store")[0].join("log");
    let as_killed = fs::read(&log).expect("a log");
    drop((set, writer));
    fs::write(&log, as_killed).expect("written");

    let (publisher, successor) = scratch.writer(COHERENT, History::KeepAll);
    assert_eq!(successor.counters().restored, 6);
    assert_eq!(scratch.late(COHERENT), (vec![1, 2, 3, 4], 2));
    let (all, _) = scratch.late(Presentation::default());
    assert_eq!(all, [1, 2, 3, 4, 5, 6]);
    // What comes after belongs to no broken set, here and in the log.
    write(&successor, &[("A", 7)]);
    let set = publisher.begin_coherent_changes();
    write(&successor, &[("A", 8), ("A", 9)]);
    set.end_coherent_changes();
    assert_eq!(scratch.late(COHERENT), (vec![1, 2, 3, 4, 7, 8, 9], 2));
    drop(successor);
    let logs = Store::logs(&scratch.path.join("transient")).expect("a store");
    let service = scratch.participant.serve_log(&logs[0]);
    let service = service.expect("nobody has it");
    assert_eq!(scratch.late(COHERENT), (vec![1, 2, 3, 4, 7, 8, 9], 2));
    drop(service);
}

#[test]
fn a_set_of_which_the_log_keeps_a_part_is_not_seen() {
    let scratch = Scratch::new(66);
    let last = History::KeepLast(1);
    let (publisher, writer) = scratch.writer(COHERENT, last);
    for [bid, ask] in [[1, 2], [3, 4]] {
        let set = publisher.begin_coherent_changes();
        write(&writer, &[("bid", bid), ("ask", ask)]);
        set.end_coherent_changes();
    }
    drop(writer);
    let (_, writer) = scratch.writer(COHERENT, last);
    assert_eq!(scratch.late(COHERENT), (vec![3, 4], 0));
    write(&writer, &[("bid", 5)]);
    drop(writer);
    let (_, _writer) = scratch.writer(COHERENT, last);
    assert_eq!(scratch.late(COHERENT), (vec![5], 1));
    assert_eq!(scratch.late(Presentation::default()), (vec![4, 5], 0));
}

#[test]
fn of_a_set_across_topics_each_writers_part_is_a_set() {
    let scratch = Scratch::new(67);
    let group = Presentation {
        access_scope: PresentationScope::Group,
        ..COHERENT
    };
    let (publisher, writer) = scratch.writer(group, History::KeepAll);
    let set = publisher.begin_coherent_changes();
    write(&writer, &[("A", 1), ("A", 2)]);
    set.end_coherent_changes();
    drop(writer);
    let (publisher, writer) = scratch.writer(group, History::KeepAll);
    let set = publisher.begin_coherent_changes();
    write(&writer, &[("A", 3)]);
    assert_eq!(scratch.late_of_group(group, 2), [1, 2]);
    set.end_coherent_changes();
    assert_eq!(scratch.late_of_group(group, 3), [1, 2, 3]);
}
