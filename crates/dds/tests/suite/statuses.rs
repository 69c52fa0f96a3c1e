//! Statuses and who is told of them.

use std::sync::mpsc;
use std::time::Duration;

use tickwire::status::CountStatus;
use tickwire::status::MatchedStatus;
use tickwire::{
    AnyDataReader, AnyDataWriter, DataReader, DomainParticipant, DomainParticipantListener,
    Driving, PublisherListener, StatusMask, Subscriber, SubscriberListener, Topic, TopicListener,
    WaitSet,
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
#[topic(name = "test::Other")]
struct Other {
    #[topic(key)]
    symbol: i32,
}

fn participant(domain: u32) -> DomainParticipant {
    let builder = DomainParticipant::builder(domain);
    let tag = std::process::id().to_string();
    builder.domain_tag(&tag).build().expect("a participant")
}

fn quote(price: i64) -> Quote {
    Quote {
        symbol: "A".to_owned(),
        price,
    }
}

#[test]
fn another_type_under_the_name_of_a_topic_is_counted() {
    let (one, two) = (participant(152), participant(152));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let _writer = one.writer(&topic).expect("a writer");
    let other = two.topic::<Other>("Quotes").expect("a topic");
    let _reader = two.reader(&other).expect("a reader");
    let wait = |participant: &DomainParticipant, status: &dyn Fn() -> CountStatus| {
        let found = || (status().total_count > 0).then_some(());
        let view = participant.discovery();
        view.wait_for(PATIENCE, found).expect("it is found");
    };
    wait(&one, &|| topic.inconsistent_topic_status());
    wait(&two, &|| other.inconsistent_topic_status());
    assert_eq!(topic.inconsistent_topic_status().total_count, 1);
}

/// Says what it is told and about which topic.
#[derive(Clone)]
struct Teller(
    &'static str,
    mpsc::Sender<(&'static str, &'static str, String)>,
);

impl Teller {
    fn say(&self, what: &'static str, topic: &str) {
        let said = self.1.send((self.0, what, topic.to_owned()));
        said.expect("the test waits for it");
    }
}

impl PublisherListener for Teller {
    fn on_publication_matched(&mut self, writer: &AnyDataWriter, _: MatchedStatus) {
        self.say("publication matched", writer.topic_name());
    }
}

impl SubscriberListener for Teller {
    fn on_data_on_readers(&mut self, reader: &AnyDataReader) {
        self.say("data on readers", reader.topic_name());
    }

    fn on_data_available(&mut self, reader: &AnyDataReader) {
        self.say("data available", reader.topic_name());
    }
}

impl DomainParticipantListener for Teller {
    fn on_inconsistent_topic(&mut self, topic_name: &str, status: CountStatus) {
        assert_eq!(status.total_count_change, 1);
        self.say("inconsistent topic", topic_name);
    }
}

#[test]
fn listeners_are_told_of_what_those_below_them_are_not_set_for() {
    let participant = participant(153);
    let (sender, receiver) = mpsc::channel();
    let next = || {
        let (who, what, topic) = receiver.recv_timeout(PATIENCE).expect("somebody is told");
        assert_eq!(topic, "Quotes");
        (who, what)
    };
    participant.set_listener(Teller("participant", sender.clone()));
    let subscriber = participant.subscriber(Default::default());
    subscriber.set_listener_for(
        StatusMask::DATA_AVAILABLE,
        Teller("subscriber", sender.clone()),
    );
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let reader = subscriber
        .reader(&topic, Default::default())
        .expect("a reader");
    let publisher = participant.publisher(Default::default());
    let writer = publisher
        .writer(&topic, Default::default())
        .expect("a writer");
    assert_eq!(next(), ("participant", "publication matched"));
    writer.write(&quote(1)).expect("room");
    assert_eq!(next(), ("subscriber", "data available"));

    let to_own = sender.clone();
    reader.set_listener(move |reader: &DataReader<Quote>| {
        let topic = reader.topic().name().to_owned();
        to_own
            .send(("own", "data available", topic))
            .expect("a test");
    });
    writer.write(&quote(2)).expect("room");
    assert_eq!(next(), ("own", "data available"));

    subscriber.set_listener_for(
        StatusMask::DATA_ON_READERS,
        Teller("subscriber", sender.clone()),
    );
    writer.write(&quote(3)).expect("room");
    assert_eq!(next(), ("subscriber", "data on readers"));
    subscriber.notify_datareaders();
    assert_eq!(next(), ("own", "data available"));

    let other = self::participant(153);
    let clash = other.topic::<Other>("Quotes").expect("a topic");
    let _clash = other.reader(&clash).expect("a reader");
    assert_eq!(next(), ("participant", "inconsistent topic"));
}

/// Tells the readers' own listeners from within its call.
struct Notifier(Subscriber);

impl SubscriberListener for Notifier {
    fn on_data_on_readers(&mut self, _: &AnyDataReader) {
        self.0.notify_datareaders();
    }
}

#[test]
fn a_subscribers_listener_has_those_of_its_readers_called() {
    let participant = participant(158);
    let subscriber = participant.subscriber(Default::default());
    let listener = Notifier(subscriber.clone());
    subscriber.set_listener_for(StatusMask::DATA_ON_READERS, listener);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let reader = subscriber
        .reader(&topic, Default::default())
        .expect("a reader");
    let (sender, receiver) = mpsc::channel();
    reader.set_listener(move |reader: &DataReader<Quote>| {
        if !reader.take().is_empty() {
            sender.send(()).expect("the test waits for it");
        }
    });
    let writer = participant.writer(&topic).expect("a writer");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    for _ in 0..3 {
        writer.write(&quote(1)).expect("room");
        receiver
            .recv_timeout(PATIENCE)
            .expect("the reader's listener is told");
    }
    // What holds its own subscriber would live for ever.
    subscriber.remove_listener();
}

#[test]
fn a_topic_tells_its_own_listener_and_who_waits_for_it() {
    struct Ear(mpsc::Sender<(String, u64)>);
    impl TopicListener<Quote> for Ear {
        fn on_inconsistent_topic(&mut self, topic: &Topic<Quote>, status: CountStatus) {
            let _ = self.0.send((topic.name().to_owned(), status.total_count));
        }
    }
    for driving in [Driving::Threaded, Driving::Polled] {
        let tag = std::process::id().to_string();
        let one = DomainParticipant::builder(167).domain_tag(&tag);
        let one = one.driving(driving).build().expect("a participant");
        let two = participant(167);
        let topic = one.topic::<Quote>("Quotes").expect("a topic");
        let other = two.topic::<Other>("Quotes").expect("another type");
        let changed = topic.status_condition(StatusMask::INCONSISTENT_TOPIC);
        assert!(!changed.holds());
        let _reader = one.reader(&topic).expect("a reader");
        let _writer = two.writer(&other).expect("a writer");
        let wait_set = WaitSet::new();
        wait_set.attach(&changed);
        wait_set.wait(PATIENCE).expect("another type");
        let (told, heard) = mpsc::channel();
        // Set late: what nobody was told of waits for it.
        topic.clone().set_listener(Ear(told));
        let turn = Duration::from_millis(10);
        let mut turns = (0..2_000).map(|_| {
            let _ = one.poll(turn);
            heard.recv_timeout(turn).ok()
        });
        let found = turns.find_map(|found| found).expect("a call");
        assert_eq!(found.0, "Quotes");
        topic.remove_listener();
    }
}
