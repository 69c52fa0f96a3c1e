//! Readers that hand out samples as they come.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{PATIENCE, Quote, builder, quote, wait_for_logs};
use tickwire::status::MatchedStatus;
use tickwire::{
    DataReader, DataReaderListener, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant,
    Driving, InstanceState, Sample, Way,
};

/// Two participants with a writer and a reader.
struct Stage {
    ours: DomainParticipant,
    theirs: DomainParticipant,
    writer: DataWriter<Quote>,
    reader: DataReader<Quote>,
}

impl Stage {
    fn new(domain: u32, by_log: bool) -> Self {
        let one = || builder(domain).shared_memory(by_log).build().expect("one");
        let (ours, theirs) = (one(), one());
        let topic = ours.topic::<Quote>("Quotes").expect("a topic");
        let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
        let writer = ours.writer_with(&topic, qos).expect("a writer");
        let topic = theirs.topic::<Quote>("Quotes").expect("a topic");
        let qos = DataReaderQos::default().reliable().keep_all();
        let reader = theirs.reader_with(&topic, qos).expect("a reader");
        writer.wait_for_matched(1, PATIENCE).expect("a match");
        reader.wait_for_matched(1, PATIENCE).expect("a match");
        if by_log {
            wait_for_logs(&ours, 1);
        }
        Self {
            ours,
            theirs,
            writer,
            reader,
        }
    }

    fn write(&self, prices: impl IntoIterator<Item = i64>) {
        for price in prices {
            self.writer.write(&quote("TICK", price)).expect("room");
        }
    }
}

/// What sends on prices, and where they arrive.
fn prices() -> (impl FnMut(&Sample<Quote>) + Send, Receiver<i64>) {
    let (send, receive) = mpsc::channel();
    (send_to(send), receive)
}

fn send_to(send: Sender<i64>) -> impl FnMut(&Sample<Quote>) + Send {
    move |sample| {
        if let Some(quote) = sample.data() {
            // Who hears it may have heard enough.
            let _ = send.send(quote.price);
        }
    }
}

fn next(prices: &Receiver<i64>, count: usize) -> Vec<i64> {
    let next = || prices.recv_timeout(PATIENCE).expect("another price");
    (0..count).map(|_| next()).collect()
}

#[test]
fn each_sample_is_handed_out_once_and_in_order_whatever_the_way() {
    for (domain, by_log) in [(70, true), (72, false)] {
        let stage = Stage::new(domain, by_log);
        stage.write([0]);
        stage.reader.wait_for_data(PATIENCE).expect("a sample");
        let (taker, prices) = prices();
        stage.reader.take_each(taker);
        assert_eq!(next(&prices, 1), [0], "what was there");
        stage.write(1..5_000);
        let expected: Vec<_> = (1..5_000).collect();
        assert_eq!(next(&prices, expected.len()), expected, "{domain}");
        assert!(stage.reader.take().is_empty());
        assert_eq!(stage.reader.inbox_counters().stored, 5_000);
    }
}

#[test]
fn samples_stay_in_the_reader_once_nothing_takes_them() {
    let stage = Stage::new(74, true);
    let (taker, prices) = prices();
    stage.reader.take_each(taker);
    stage.write([1]);
    assert_eq!(next(&prices, 1), [1]);
    stage.reader.stop_taking();
    // It has been dropped, with the sender.
    assert!(prices.recv().is_err());
    stage.write([2]);
    stage.reader.wait_for_data(PATIENCE).expect("a sample");
    let samples = stage.reader.take();
    assert_eq!(samples.data().collect::<Vec<_>>(), [&quote("TICK", 2)]);
}

#[test]
fn a_panic_ends_the_call_for_one_sample() {
    let stage = Stage::new(75, true);
    let (mut taker, prices) = prices();
    stage.reader.take_each(move |sample| {
        if sample.data().is_some_and(|quote| quote.price % 10 == 0) {
            std::panic::resume_unwind(Box::new(()));
        }
        taker(sample);
    });
    stage.write(1..=30);
    let expected: Vec<_> = (1..30).filter(|price| price % 10 != 0).collect();
    assert_eq!(next(&prices, expected.len()), expected);
    let begin = Instant::now();
    while stage.theirs.counters().listener_panics < 3 {
        assert!(begin.elapsed() < PATIENCE, "three have panicked");
        std::thread::yield_now();
    }
}

#[test]
fn what_takes_samples_may_be_replaced_from_within_and_write_and_read_statuses() {
    let stage = Arc::new(Stage::new(76, true));
    let topic = stage.theirs.topic::<Quote>("Answers").expect("a topic");
    let answers = stage.theirs.writer(&topic).expect("a writer");
    let topic = stage.ours.topic::<Quote>("Answers").expect("a topic");
    let heard = stage.ours.reader(&topic).expect("a reader");
    answers.wait_for_matched(1, PATIENCE).expect("a match");
    heard.wait_for_matched(1, PATIENCE).expect("a match");
    let (taker, prices) = prices();
    let inner = Arc::downgrade(&stage);
    let taker = Mutex::new(Some(taker));
    stage.reader.take_each(move |sample| {
        let stage = inner.upgrade().expect("the test holds it");
        assert_eq!(stage.reader.counters().lost, 0);
        assert!(stage.reader.take().is_empty());
        answers
            .write(sample.data().expect("a value"))
            .expect("room");
        if let Some(taker) = taker.lock().expect("unharmed").take() {
            stage.reader.take_each(taker);
            // That waits for no call on this thread.
            stage.reader.stop_taking();
        }
    });
    stage.write([1]);
    heard.wait_for_data(PATIENCE).expect("an answer");
    assert!(
        prices.recv().is_err(),
        "it was replaced before it was called"
    );
    let (taker, prices) = self::prices();
    stage.reader.take_each(taker);
    stage.write([2]);
    assert_eq!(next(&prices, 1), [2]);
}

#[test]
fn listeners_hear_of_all_but_data() {
    struct Heard(Sender<&'static str>);

    impl DataReaderListener<Quote> for Heard {
        fn on_data_available(&mut self, _: &DataReader<Quote>) {
            self.0.send("data").expect("the test listens");
        }

        fn on_subscription_matched(&mut self, _: &DataReader<Quote>, status: MatchedStatus) {
            let heard = match status.current_count {
                0 => "left",
                _ => "matched",
            };
            self.0.send(heard).expect("the test listens");
        }
    }

    let stage = Stage::new(77, true);
    let (send, heard) = mpsc::channel();
    let (ends, ended) = mpsc::channel();
    stage.reader.take_each(move |sample| {
        if sample.data().is_none() {
            let state = sample.info().instance_state;
            ends.send(state).expect("the test listens");
        }
    });
    stage.reader.set_listener(Heard(send));
    stage.write(1..10);
    drop((stage.writer, stage.ours));
    // That the instance has ended is a sample, too.
    let ended = ended.recv_timeout(PATIENCE);
    assert_eq!(ended, Ok(InstanceState::Disposed));
    let mut heard = std::iter::from_fn(|| heard.recv_timeout(PATIENCE).ok());
    let until_left: Vec<_> = heard
        .by_ref()
        .take_while(|&heard| heard != "left")
        .collect();
    assert!(!until_left.contains(&"data"), "{until_left:?}");
    stage.reader.remove_listener();
    assert_eq!(heard.next(), None);
}

#[test]
fn who_polls_is_handed_what_comes_before_it_pushes_anything_out() {
    for by_log in [false, true] {
        let polled = || {
            let builder = builder(78).shared_memory(by_log);
            let builder = builder.driving(Driving::Polled).busy_poll(PATIENCE);
            builder.build().expect("a participant")
        };
        let (one, two) = (polled(), polled());
        let topic = one.topic::<Quote>("Quotes").expect("a topic");
        let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
        let writer = one.writer_with(&topic, qos).expect("a writer");
        let topic = two.topic::<Quote>("Quotes").expect("a topic");
        let qos = DataReaderQos::default().reliable().keep_last(1);
        let reader = two.reader_with(&topic, qos).expect("a reader");
        let poll = || {
            one.poll(Duration::ZERO).expect("sockets to look at");
            two.poll(Duration::ZERO).expect("sockets to look at");
        };
        let begin = Instant::now();
        while writer.publication_matched_status().current_count == 0
            || reader.subscription_matched_status().current_count == 0
            || by_log != by_logs(&two)
        {
            assert!(begin.elapsed() < PATIENCE, "they meet");
            poll();
        }
        let (taker, prices) = prices();
        reader.take_each(taker);
        for round in 0..100 {
            let expected: Vec<_> = (10 * round..10 * round + 10).collect();
            let quotes: Vec<_> = expected.iter().map(|&price| quote("TICK", price)).collect();
            writer.write_all(&quotes).expect("room");
            let mut taken = Vec::new();
            while taken.len() < expected.len() {
                assert!(begin.elapsed() < PATIENCE, "they come");
                poll();
                taken.extend(prices.try_iter());
            }
            assert_eq!(taken, expected);
        }
    }
}

fn by_logs(participant: &DomainParticipant) -> bool {
    let pairs = participant.discovery().pairs();
    !pairs.is_empty() && pairs.iter().all(|pair| pair.way == Some(Way::SharedMemory))
}
