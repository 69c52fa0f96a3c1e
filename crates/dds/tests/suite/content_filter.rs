//! Readers of content-filtered topics get what they asked for, and the rest is counted.

use std::time::Duration;

use tickwire::error::ContentFilterError;
use tickwire::{
    DataReader, DataReaderQos, DataWriterQos, DomainParticipant, DynamicType, InstanceState,
    Samples, Serialized, StateMask, Topic, WaitSet,
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

fn quote(symbol: &str, price: i64) -> Quote {
    Quote {
        symbol: symbol.to_owned(),
        price,
    }
}

fn participant(domain: u32) -> DomainParticipant {
    let tag = std::process::id().to_string();
    let builder = DomainParticipant::builder(domain).domain_tag(&tag);
    builder.build().expect("a participant")
}

/// Takes until a sample with this price has come, and gives all prices.
fn prices_until(reader: &DataReader<Quote>, last: i64) -> Vec<i64> {
    let mut prices = Vec::new();
    while prices.last() != Some(&last) {
        reader.wait_for_data(PATIENCE).expect("more samples");
        prices.extend(reader.take().data().map(|quote| quote.price));
    }
    prices
}

#[test]
fn a_reader_gets_what_its_expression_is_true_of() {
    let (one, two) = (participant(121), participant(121));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let writer = one.writer_with(&topic, qos).expect("a writer");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let dear = topic.filtered("Dear", "symbol LIKE 'EUR%' AND price >= %0", &["90"]);
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = two
        .reader_with(&dear.expect("a filter"), qos)
        .expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    for price in 0..100 {
        writer.write(&quote("GBPUSD", price)).expect("room");
        writer.write(&quote("EURUSD", price)).expect("room");
    }
    assert_eq!(prices_until(&reader, 99), (90..100).collect::<Vec<_>>());
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all is acknowledged");
    let (sent, arrived) = (writer.counters(), reader.inbox_counters());
    assert_eq!(
        (sent.sent, sent.filtered, arrived.filtered_by_content),
        (10, 190, 0)
    );
}

#[test]
fn the_end_of_an_instance_that_is_not_wanted_is_not_heard_of() {
    let participant = participant(63);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    let euro = topic
        .filtered("Euro", "symbol = 'EURUSD'", &[])
        .expect("a filter");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = participant.reader_with(&euro, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    for symbol in ["GBPUSD", "EURUSD"] {
        writer.write(&quote(symbol, 1)).expect("room");
        writer.dispose(&quote(symbol, 1)).expect("room");
    }
    // Acknowledged, hence filtered or in the reader.
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("acknowledged");
    let euro = reader.lookup_instance(&quote("EURUSD", 0));
    assert_eq!(reader.lookup_instance(&quote("GBPUSD", 0)), None);
    let samples = reader.take();
    let infos = samples.iter().map(|sample| sample.info());
    let seen: Vec<_> = infos
        .map(|info| (Some(info.instance), info.valid_data, info.instance_state))
        .collect();
    let disposed = InstanceState::Disposed;
    assert_eq!(seen, [(euro, true, disposed), (euro, false, disposed)]);
    assert_eq!(writer.counters().filtered, 2, "a value and its end");
}

#[test]
fn the_filter_is_announced() {
    let (one, two) = (participant(64), participant(64));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let euro = topic
        .filtered("Euro", "symbol = %0", &["'EURUSD'"])
        .expect("a filter");
    let reader = one.reader(&euro).expect("a reader");
    let found = || {
        let subscriptions = two.discovery().subscriptions();
        subscriptions
            .into_iter()
            .find(|data| data.guid == reader.guid())
    };
    let data = two
        .discovery()
        .wait_for(PATIENCE, found)
        .expect("the reader");
    let filter = data.content_filter.clone().expect("a filter");
    assert_eq!(filter.content_filtered_topic_name, "Euro");
    assert_eq!(filter.related_topic_name, "Quotes");
    assert_eq!(filter.filter_class_name, "DDSSQL");
    assert_eq!(filter.filter_expression, "symbol = %0");
    assert_eq!(filter.expression_parameters, ["'EURUSD'"]);
}

#[test]
fn what_does_not_fit_the_type_is_refused() {
    let participant = participant(124);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let error = topic
        .filtered("Dear", "prize > 5", &[])
        .expect_err("no such member");
    assert_eq!(
        error.to_string(),
        "at byte 0 of the filter: test::Quote has no member `prize`; is `price` meant?"
    );
    let opaque = DynamicType::opaque("Blob", false);
    let topic = participant
        .topic_of::<Serialized>("Blobs", opaque)
        .expect("a topic");
    let error = topic
        .filtered("Some", "price > 5", &[])
        .expect_err("unknown members");
    assert_eq!(error, ContentFilterError::OpaqueType);
}

#[test]
fn a_query_picks_samples_and_leaves_the_others() {
    let participant = participant(125);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = participant.reader_with(&topic, qos).expect("a reader");
    let dear = reader.query_condition(StateMask::ANY, "price > %0", &["7"]);
    let dear = dear.expect("a query");
    let wait_set = WaitSet::new();
    wait_set.attach(dear.condition());
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    for price in 0..=7 {
        writer.write(&quote("EURUSD", price)).expect("room");
    }
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all is acknowledged");
    assert!(!dear.condition().holds());
    assert!(reader.select().query(&dear).take().is_empty());
    for price in 8..=10 {
        writer.write(&quote("EURUSD", price)).expect("room");
    }
    assert_eq!(wait_set.wait(PATIENCE), Ok(vec![dear.condition().clone()]));
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all is acknowledged");
    let prices = |samples: Samples<Quote>| samples.data().map(|quote| quote.price).collect();
    let taken: Vec<_> = prices(reader.select().query(&dear).max_samples(2).take());
    assert_eq!(taken, [8, 9]);
    let taken: Vec<_> = prices(reader.select().query(&dear).take());
    assert_eq!(taken, [10]);
    assert!(!dear.condition().holds());
    let left: Vec<_> = prices(reader.take());
    assert_eq!(left, (0..=7).collect::<Vec<_>>());
    let error = reader.query_condition(StateMask::ANY, "price > 'x'", &[]);
    assert!(matches!(error, Err(ContentFilterError::Filter(_))));
}

#[test]
fn a_query_orders_samples_by_their_members() {
    let participant = participant(126);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = participant.reader_with(&topic, qos).expect("a reader");
    let ordered = reader.query_condition(StateMask::ANY, "price < 9 ORDER BY symbol, price", &[]);
    let ordered = ordered.expect("a query");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    for (symbol, price) in [("B", 3), ("A", 9), ("C", 1), ("B", 2), ("A", 8), ("B", 1)] {
        writer.write(&quote(symbol, price)).expect("room");
    }
    writer.dispose(&quote("A", 0)).expect("room");
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all is acknowledged");
    let select = || reader.select().query(&ordered);
    let first = select().max_samples(2).read();
    assert!(first.data().eq([&quote("A", 8), &quote("B", 1)]));
    let all = select().take();
    let quotes: Vec<_> = all.iter().map(|sample| sample.data().cloned()).collect();
    let expected = [("A", 8), ("B", 1), ("B", 2), ("B", 3), ("C", 1)];
    let expected = expected.map(|(symbol, price)| Some(quote(symbol, price)));
    assert_eq!(quotes[..5], expected, "ascending, and the end of A behind");
    assert_eq!((quotes.len(), &quotes[5]), (6, &None));
    let ranks: Vec<_> = all.iter().map(|sample| sample.info().sample_rank).collect();
    assert_eq!(ranks, [1, 2, 1, 0, 0, 0]);
    assert!(reader.take().data().eq([&quote("A", 9)]));
}

#[test]
fn other_parameters_are_in_force_at_once_on_both_sides() {
    let (one, two) = (participant(127), participant(127));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let writer = one.writer_with(&topic, qos).expect("a writer");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let dear = topic.filtered("Dear", "price >= %0", &["90"]);
    let dear = dear.expect("a filter");
    let qos = || DataReaderQos::default().reliable().keep_all();
    let reader = two.reader_with(&dear, qos()).expect("a reader");
    let same = two.reader_with(&dear.clone(), qos()).expect("a reader");
    writer.wait_for_matched(2, PATIENCE).expect("two matches");
    writer.write(&quote("A", 50)).expect("room");
    writer.write(&quote("A", 90)).expect("room");
    assert_eq!(prices_until(&reader, 90), [90]);
    assert_eq!(writer.counters().filtered, 2, "by the writer");

    dear.set_expression_parameters(&["50"])
        .expect("it fits the type");
    assert_eq!(dear.expression_parameters(), ["50"]);
    let announced = || {
        let subscriptions = one.discovery().subscriptions().into_iter();
        let filters = subscriptions.filter_map(|data| data.content_filter.clone());
        let all: Vec<_> = filters.map(|one| one.expression_parameters).collect();
        (all == [["50"], ["50"]]).then_some(())
    };
    let told = one.discovery().wait_for(PATIENCE, announced);
    told.expect("both are announced anew");
    for price in [49, 50, 51] {
        writer.write(&quote("A", price)).expect("room");
    }
    assert_eq!(prices_until(&reader, 51), [50, 51]);
    assert_eq!(prices_until(&same, 51), [90, 50, 51]);
    assert_eq!(writer.counters().filtered, 4, "by the writer");
    let late = two.reader_with(&dear, qos()).expect("a reader");
    writer.wait_for_matched(3, PATIENCE).expect("three matches");
    writer.write(&quote("A", 50)).expect("room");
    assert_eq!(prices_until(&late, 50), [50], "what is in force now");

    let refused = dear.set_expression_parameters(&["'cheap'"]);
    assert!(matches!(refused, Err(ContentFilterError::Filter(_))));
    let refused = dear.set_expression_parameters(&[&"1".repeat(1 << 17)]);
    assert!(refused.is_err(), "too long for an announcement or a number");
    assert_eq!(dear.expression_parameters(), ["50"]);
}

#[test]
fn the_reader_itself_filters_by_other_parameters_before_writers_know() {
    let participant = participant(128);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    // Of an opaque type a writer cannot filter.
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let opaque = DynamicType::opaque("test::Quote", true);
    let samples = participant
        .topic_of::<Serialized>("Quotes", opaque)
        .expect("the same name and type");
    let writer = participant.writer_with(&samples, qos).expect("a writer");
    let dear = topic.filtered("Dear", "price >= %0", &["90"]);
    let dear = dear.expect("a filter");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = participant.reader_with(&dear, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    let write = |price| {
        let mut payload = Vec::new();
        let xcdr2 = tickwire::cdr::Representation::Xcdr2;
        tickwire::cdr::to_payload(&quote("A", price), xcdr2, &mut payload).expect("a sample");
        let mut sample = Serialized::from_payload(payload);
        sample.set_key_hash(Some(tickwire::cdr::KeyHash([1; 16])));
        writer.write(&sample).expect("room");
    };
    [50, 90].into_iter().for_each(write);
    assert_eq!(prices_until(&reader, 90), [90]);
    dear.set_expression_parameters(&["50"])
        .expect("it fits the type");
    [49, 50].into_iter().for_each(write);
    assert_eq!(prices_until(&reader, 50), [50]);
    assert_eq!(reader.inbox_counters().filtered_by_content, 2);
}

#[test]
fn other_parameters_of_a_query_hold_for_what_is_there() {
    let participant = participant(129);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = participant.reader_with(&topic, qos).expect("a reader");
    let writer = participant.writer(&topic).expect("a writer");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer.write(&quote("A", 5)).expect("room");
    reader.wait_for_data(PATIENCE).expect("a sample");
    let dear = reader.query_condition(StateMask::ANY, "price > %0", &["7"]);
    let dear = dear.expect("a query");
    let wait_set = WaitSet::new();
    wait_set.attach(dear.condition());
    assert!(wait_set.wait(Duration::ZERO).is_err());
    let same = dear.clone();
    same.set_query_parameters(&["3"]).expect("it fits the type");
    let woken = wait_set.wait(Duration::ZERO);
    assert_eq!(woken, Ok(vec![dear.condition().clone()]));
    assert_eq!(dear.query_expression(), "price > %0");
    assert_eq!(dear.query_parameters(), ["3"]);
    let refused = dear.set_query_parameters(&[]);
    assert!(matches!(refused, Err(ContentFilterError::Filter(_))));
    let taken = reader.select().query(&dear).take();
    assert!(taken.data().eq([&quote("A", 5)]), "the old ones hold");
}
