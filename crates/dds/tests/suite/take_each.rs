//! Readers that hand out samples as they come.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
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
    assert_eq!(stage.theirs.counters().listener_panics, 0);
}

/// Who replaces what takes samples while it is being called, by samples of two ways: nothing is taken by two at once.
#[test]
fn what_replaces_another_waits_until_that_has_returned() {
    let stage = Stage::new(79, true);
    let elsewhere = builder(79).shared_memory(false).build().expect("one");
    let topic = elsewhere.topic::<Quote>("Quotes").expect("a topic");
    let by_udp = elsewhere.writer(&topic).expect("a writer");
    by_udp.wait_for_matched(1, PATIENCE).expect("a match");
    stage.reader.wait_for_matched(2, PATIENCE).expect("two");
    let (entered, enters) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    stage.reader.take_each(move |_| {
        entered.send(()).expect("the test listens");
        // Once the test is over.
        let _ = released.recv();
    });
    stage.write([1]);
    enters.recv_timeout(PATIENCE).expect("it is called");
    let (taker, prices) = prices();
    stage.reader.take_each(taker);
    by_udp.write(&quote("UDP", 2)).expect("room");
    by_udp
        .wait_for_acknowledgments(PATIENCE)
        .expect("it has come");
    assert!(prices.try_recv().is_err(), "the first is in its call");
    drop(release);
    assert_eq!(next(&prices, 1), [2]);
}

/// Two participants that one thread drives, so that samples that are written together come together.
fn driven(domain: u32, qos: DataReaderQos) -> (Driven, DataReader<Quote>) {
    let polled = || {
        let builder = builder(domain).driving(Driving::Polled);
        builder.build().expect("a participant")
    };
    let (one, two) = (polled(), polled());
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let writer_qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let writer = one.writer_with(&topic, writer_qos).expect("a writer");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let reader = two.reader_with(&topic, qos).expect("a reader");
    let driven = Driven { one, two, writer };
    driven.until(|| {
        driven.writer.publication_matched_status().current_count > 0
            && reader.subscription_matched_status().current_count > 0
    });
    (driven, reader)
}

struct Driven {
    one: DomainParticipant,
    two: DomainParticipant,
    writer: DataWriter<Quote>,
}

impl Driven {
    fn until(&self, is_so: impl Fn() -> bool) {
        let begin = Instant::now();
        while !is_so() {
            assert!(begin.elapsed() < PATIENCE, "that takes too long");
            self.one.poll(Duration::ZERO).expect("sockets to look at");
            self.two.poll(Duration::ZERO).expect("sockets to look at");
        }
    }

    fn write(&self, prices: std::ops::Range<i64>) {
        let quotes: Vec<_> = prices.map(|price| quote("TICK", price)).collect();
        self.writer.write_all(&quotes).expect("room");
    }
}

#[test]
fn samples_that_came_with_the_last_that_was_taken_stay_in_the_reader() {
    for (domain, qos) in [
        (80, DataReaderQos::default().reliable().keep_all()),
        (81, DataReaderQos::default().reliable().keep_last(3)),
    ] {
        let (driven, reader) = driven(domain, qos);
        let reader = Arc::new(reader);
        let taken = Arc::new(Mutex::new(Vec::new()));
        let (inner, takes) = (Arc::downgrade(&reader), Arc::clone(&taken));
        driven.write(0..10);
        driven.until(|| reader.counters().delivered == 10);
        let came = reader.read().len();
        reader.take_each(move |sample| {
            let mut taken = takes.lock().expect("unharmed");
            taken.push(sample.data().expect("a value").price);
            if taken.len() == 2 {
                inner.upgrade().expect("the test holds it").stop_taking();
            }
        });
        driven.until(|| taken.lock().expect("unharmed").len() == 2);
        let taken = taken.lock().expect("unharmed").clone();
        let left = reader.take();
        let left: Vec<_> = left.data().map(|quote| quote.price).collect();
        let first = 10 - i64::try_from(came).expect("a few");
        assert_eq!(taken, [first, first + 1]);
        assert_eq!(left, (first + 2..10).collect::<Vec<_>>());
        driven.write(10..11);
        reader.wait_for_data(PATIENCE).expect("another sample");
        assert_eq!(reader.take().len(), 1);
    }
}

#[test]
fn values_of_an_instance_that_is_over_stay_with_its_end() {
    let stage = Arc::new(Stage::new(87, true));
    stage.write(0..10);
    stage.writer.unregister(&quote("TICK", 0)).expect("room");
    let ended = tickwire::StateMask::NOT_ALIVE;
    let begin = Instant::now();
    while stage.reader.select().states(ended).read().is_empty() {
        assert!(begin.elapsed() < PATIENCE, "the writer leaves");
        std::thread::yield_now();
    }
    let came = stage.reader.read().len();
    let (count, inner) = (Arc::new(AtomicUsize::new(0)), Arc::downgrade(&stage));
    let counts = Arc::clone(&count);
    stage.reader.take_each(move |_| {
        if counts.fetch_add(1, Ordering::Relaxed) == 1 {
            inner
                .upgrade()
                .expect("the test holds it")
                .reader
                .stop_taking();
        }
    });
    while count.load(Ordering::Relaxed) < 2 {
        assert!(begin.elapsed() < PATIENCE, "two are taken");
        std::thread::yield_now();
    }
    stage.reader.stop_taking();
    let left = stage.reader.take();
    assert_eq!((left.len(), count.load(Ordering::Relaxed)), (came - 2, 2));
    let prices: Vec<_> = left.data().map(|quote| quote.price).collect();
    assert_eq!(prices, (2..10).collect::<Vec<_>>());
}

#[test]
fn what_replaces_another_within_a_collection_gets_the_rest_of_it() {
    let qos = DataReaderQos::default().reliable().keep_all();
    let (driven, reader) = driven(82, qos);
    let reader = Arc::new(reader);
    let (taker, prices) = prices();
    let taker = Mutex::new(Some(taker));
    let inner = Arc::downgrade(&reader);
    driven.write(0..10);
    driven.until(|| reader.counters().delivered == 10);
    reader.take_each(move |sample| {
        if sample.data().is_some_and(|quote| quote.price == 3) {
            let reader = inner.upgrade().expect("the test holds it");
            let taker = taker.lock().expect("unharmed").take();
            reader.take_each(taker.expect("it is replaced once"));
        }
    });
    let taken = Mutex::new(Vec::new());
    driven.until(|| {
        let mut taken = taken.lock().expect("unharmed");
        taken.extend(prices.try_iter());
        taken.len() == 6
    });
    assert_eq!(
        *taken.lock().expect("unharmed"),
        (4..10).collect::<Vec<_>>()
    );
    assert_eq!(driven.two.counters().listener_panics, 0);
}

/// What takes samples owns something whose end stops it.
#[test]
fn what_ends_with_what_takes_samples_may_look_at_the_reader() {
    struct Stops(std::sync::Weak<Stage>);
    impl Drop for Stops {
        fn drop(&mut self) {
            if let Some(stage) = self.0.upgrade() {
                stage.reader.stop_taking();
            }
        }
    }
    let stage = Arc::new(Stage::new(83, true));
    let (stops, inner) = (Stops(Arc::downgrade(&stage)), Arc::downgrade(&stage));
    let (ended, ends) = mpsc::channel();
    let ended = Mutex::new(ended);
    stage.reader.take_each(move |_| {
        let _owned = &stops;
        inner
            .upgrade()
            .expect("the test holds it")
            .reader
            .stop_taking();
        let ended = ended.lock().expect("unharmed");
        ended.send(()).expect("the test listens");
    });
    stage.write([1]);
    ends.recv_timeout(PATIENCE).expect("it was called");
    // It has been dropped.
    assert_eq!(
        ends.recv_timeout(PATIENCE),
        Err(RecvTimeoutError::Disconnected)
    );
    stage.write([2]);
    stage.reader.wait_for_data(PATIENCE).expect("a sample");
}

#[test]
fn who_waits_for_samples_sees_what_has_been_made_of_them() {
    for driving in [Driving::Threaded, Driving::Cooperative] {
        let two = builder(84).driving(driving).build().expect("one");
        let one = builder(84).build().expect("one");
        let topic = one.topic::<Quote>("Quotes").expect("a topic");
        let writer = one.writer(&topic).expect("a writer");
        let topic = two.topic::<Quote>("Quotes").expect("a topic");
        let qos = DataReaderQos::default().reliable().keep_all();
        let reader = two.reader_with(&topic, qos).expect("a reader");
        writer.wait_for_matched(1, PATIENCE).expect("a match");
        reader.wait_for_matched(1, PATIENCE).expect("a match");
        let count = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&count);
        reader.take_each(move |_| {
            counts.fetch_add(1, Ordering::Relaxed);
        });
        for number in 1..=50 {
            writer.write(&quote("TICK", 1)).expect("room");
            let is_there = || (count.load(Ordering::Relaxed) == number).then_some(());
            let found = two.wait_for_samples(PATIENCE, is_there);
            assert_eq!(found, Some(()), "{number}");
        }
    }
}

#[test]
fn who_waits_hears_of_what_is_left_when_nothing_takes_samples_any_more() {
    let stage = Arc::new(Stage::new(85, true));
    let elsewhere = builder(85).shared_memory(false).build().expect("one");
    let topic = elsewhere.topic::<Quote>("Quotes").expect("a topic");
    let by_udp = elsewhere.writer(&topic).expect("a writer");
    by_udp.wait_for_matched(1, PATIENCE).expect("a match");
    stage.reader.wait_for_matched(2, PATIENCE).expect("two");
    let (entered, enters) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let inner = Arc::downgrade(&stage);
    stage.reader.take_each(move |_| {
        entered.send(()).expect("the test listens");
        // Once the next one has come.
        let _ = released.recv();
        inner
            .upgrade()
            .expect("the test holds it")
            .reader
            .stop_taking();
    });
    stage.write([1]);
    enters.recv_timeout(PATIENCE).expect("it is called");
    by_udp.write(&quote("UDP", 2)).expect("room");
    by_udp
        .wait_for_acknowledgments(PATIENCE)
        .expect("it has come");
    let (send, heard) = mpsc::channel();
    stage
        .reader
        .set_listener(move |reader: &DataReader<Quote>| {
            let prices: Vec<_> = reader.take().data().map(|quote| quote.price).collect();
            send.send(prices).expect("the test listens");
        });
    drop(release);
    let left = heard.recv_timeout(PATIENCE).expect("it is told");
    assert_eq!(left, [2]);
}

#[test]
fn nobody_hears_of_data_that_has_been_read_when_nothing_was_taking_samples() {
    let stage = Stage::new(86, true);
    stage.write([1]);
    stage.reader.wait_for_data(PATIENCE).expect("a sample");
    assert_eq!(stage.reader.read().len(), 1);
    stage.reader.stop_taking();
    let data = tickwire::StatusMask::DATA_AVAILABLE;
    assert!(!stage.reader.status_changes().intersects(data));
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
