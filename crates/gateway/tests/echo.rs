//! The echo finds topics, not writers.

use std::net::UdpSocket;
use std::time::Duration;

use tickwire::{DataWriterQos, DomainParticipant, DynamicType, Serialized};
use tickwire_gateway::{Echo, EchoOptions};

/// A DDS domain that no other test on this machine uses while the socket is open.
fn own_domain() -> (u32, UdpSocket) {
    let reserved = (1..=220_u16).rev().find_map(|id| {
        let reservation = UdpSocket::bind(("127.0.0.1", 7_400 + 250 * id + 249)).ok()?;
        Some((u32::from(id), reservation))
    });
    reserved.expect("not all domains are in use")
}

#[test]
fn two_writers_of_a_topic_get_one_reader() {
    let (domain, _reservation) = own_domain();
    let participant = || DomainParticipant::new(domain).expect("a free domain");
    let (feed, subscriber) = (participant(), participant());
    let opaque = DynamicType::opaque("Quote", false);
    let topic = feed
        .topic_of::<Serialized>("Quote", opaque)
        .expect("a sound name");
    let writers = [(); 2].map(|()| {
        feed.writer_with(&topic, DataWriterQos::default().reliable(PATIENCE))
            .expect("sound QoS")
    });
    let view = subscriber.discovery();
    let both = || (view.publications().len() == writers.len()).then_some(());
    view.wait_for(PATIENCE, both)
        .expect("both writers are found");
    let options = EchoOptions {
        echo: false,
        ..EchoOptions::default()
    };
    let mut echo = Echo::new(subscriber.clone(), options);
    assert_eq!(echo.find_topics().expect("a free domain"), 1);
    assert_eq!(echo.find_topics().expect("a free domain"), 0);
    assert_eq!(echo.topic_count(), 1);
    assert_eq!(view.subscriptions().len(), 1);
}

#[test]
fn what_is_said_of_readers_is_heeded_and_the_rest_stays() {
    let (domain, _reservation) = own_domain();
    let participant = || DomainParticipant::new(domain).expect("a free domain");
    let (feed, subscriber) = (participant(), participant());
    let opaque = DynamicType::opaque("Quote", false);
    let topic = feed.topic_of::<Serialized>("Quote", opaque);
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let writer = feed.writer_with(&topic.expect("a sound name"), qos.transient_local());
    let writer = writer.expect("sound QoS");
    // Nobody is there yet.
    for _ in 0..3 {
        let sample = Serialized::from_payload(vec![0, 7, 0, 0, 7, 0, 0, 0]);
        writer.write(&sample).expect("there is room");
    }
    let options = EchoOptions {
        echo: false,
        done: "Quote".to_owned(),
        ..EchoOptions::default()
    };
    let mut echo = Echo::new(subscriber.clone(), options).reader_qos(|topic, qos| {
        assert_eq!(topic, "Quote");
        assert!(qos.policies().is_reliable());
        qos.transient_local()
    });
    let view = subscriber.discovery();
    let found = || (view.publications().len() == 1).then_some(());
    view.wait_for(PATIENCE, found).expect("the writer is found");
    assert_eq!(echo.find_topics().expect("a free domain"), 1);
    assert!(echo.wait_for_done(PATIENCE), "{:?}", echo.counters());
}

#[test]
fn who_publishes_a_topic_and_reads_its_echo_expects_one() {
    let (domain, _reservation) = own_domain();
    let participant = || DomainParticipant::new(domain).expect("a free domain");
    let (feed, curious, subscriber) = (participant(), participant(), participant());
    let opaque = || DynamicType::opaque("Quote", false);
    let reads_echo = |participant: &DomainParticipant| {
        let topic = participant.topic_of::<Serialized>("Quote.echo", opaque());
        let reader = participant.reader(&topic.expect("a sound name"));
        reader.expect("sound QoS")
    };
    let topic = feed.topic_of::<Serialized>("Quote", opaque());
    let _writer = feed.writer(&topic.expect("a sound name"));
    let view = subscriber.discovery();
    let options = EchoOptions {
        echo: false,
        ..EchoOptions::default()
    };
    let mut echo = Echo::new(subscriber.clone(), options);
    let found = || (view.publications().len() == 1).then_some(());
    view.wait_for(PATIENCE, found).expect("the writer is found");
    assert_eq!(echo.find_topics().expect("a free domain"), 1);
    let readers = |count| {
        let found = || {
            let mut all = view.subscriptions();
            all.retain(|reader| reader.topic_name == "Quote.echo");
            (all.len() == count).then_some(())
        };
        view.wait_for(PATIENCE, found).expect("the reader is found");
    };
    // Somebody looks at the echo.
    let _looks = reads_echo(&curious);
    readers(1);
    assert_eq!(echo.unanswered(), None);
    let _expects = reads_echo(&feed);
    readers(2);
    assert_eq!(echo.unanswered().as_deref(), Some("Quote"));
}

const PATIENCE: Duration = Duration::from_secs(10);
