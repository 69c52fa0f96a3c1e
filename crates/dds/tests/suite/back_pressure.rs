//! Writers that wait for their readers, and samples that wait to be sent.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::common::{PATIENCE, Quote, builder, participant, quote};
use tickwire::qos::ResourceLimits;
use tickwire::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, Driving, Publisher,
    PublisherQos,
};

const BLOCKING: Duration = Duration::from_millis(50);

#[test]
fn a_full_reader_holds_the_writer_up_until_it_takes() {
    let (one, two) = (participant(105), participant(105));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let limits = |max_samples| ResourceLimits {
        max_samples: Some(max_samples),
        ..Default::default()
    };
    let qos = DataWriterQos::default()
        .keep_all()
        .resource_limits(limits(10));
    let writer = one
        .writer_with(&topic, qos.reliable(BLOCKING))
        .expect("a writer");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = two
        .reader_with(&topic, qos.resource_limits(limits(5)))
        .expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    let mut written = 0;
    let error = loop {
        match writer.write(&quote("A", written)) {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
    };
    let is_timeout =
        matches!(error, tickwire::error::WriteError::Timeout { waited } if waited == BLOCKING);
    assert!(is_timeout, "{error}");
    let lag = writer.lag_of(reader.guid()).expect("a reliable reader");
    assert_eq!(
        (lag.behind, lag.samples),
        (10, 10),
        "what is in the writer's history"
    );
    // Five in the reader and ten in the writer's history.
    assert_eq!(written, 15);
    assert!(reader.sample_rejected_status().count.total_count > 0);
    let mut expected = 0;
    while expected < written {
        reader.wait_for_data(PATIENCE).expect("more samples");
        for quote in reader.take().data() {
            assert_eq!(quote.price, expected);
            expected += 1;
        }
    }
    writer.write(&quote("A", written)).expect("room again");
}

/// Whoever waits for room drives the control lane for all others that do, or is told by them. Missed news would end a write
/// with a time-out.
#[test]
fn writers_of_one_participant_that_wait_at_once_all_get_room() {
    for driving in [Driving::Threaded, Driving::Cooperative] {
        let one = builder(179).driving(driving);
        let one = one.build().expect("a participant");
        let two = participant(179);
        let limits = ResourceLimits {
            max_samples: Some(2),
            ..Default::default()
        };
        std::thread::scope(|scope| {
            for name in ["A", "B", "C", "D"] {
                let (one, two, limits) = (&one, &two, limits);
                scope.spawn(move || {
                    let qos = DataWriterQos::default().keep_all().reliable(PATIENCE);
                    let topic = one.topic::<Quote>(name).expect("a topic");
                    let writer = one.writer_with(&topic, qos.resource_limits(limits));
                    let writer = writer.expect("a writer");
                    let topic = two.topic::<Quote>(name).expect("a topic");
                    let qos = DataReaderQos::default().reliable().keep_all();
                    let reader = two.reader_with(&topic, qos).expect("a reader");
                    writer.wait_for_matched(1, PATIENCE).expect("a match");
                    reader.wait_for_matched(1, PATIENCE).expect("a match");
                    for price in 0..1_000 {
                        writer.write(&quote(name, price)).expect("room");
                    }
                    let all_are_there = writer.wait_for_acknowledgments(PATIENCE);
                    all_are_there.expect("acknowledgements");
                    let prices = reader.take();
                    let prices: Vec<_> = prices.data().map(|quote| quote.price).collect();
                    assert_eq!(prices, Vec::from_iter(0..1_000), "{driving:?} {name}");
                });
            }
        });
    }
}

/// The listener echoes what it hears through a writer whose history is full most of the time. If it
/// kept acknowledgements from being taken, the echo would end with a time-out.
#[test]
fn a_listener_that_waits_in_a_write_does_not_block_its_acknowledgements() {
    for (busy_poll, hands_out) in [
        (None, false),
        (None, true),
        (Some(Duration::ZERO), false),
        (Some(PATIENCE), false),
        (Some(PATIENCE), true),
    ] {
        let Some(busy_poll) = busy_poll else {
            echo_to(&participant(106), hands_out);
            continue;
        };
        let polled = builder(106).driving(Driving::Polled).busy_poll(busy_poll);
        let polled = polled.build().expect("a participant");
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    polled
                        .poll(Duration::from_millis(1))
                        .expect("it has no threads");
                }
            });
            // Also where this panics.
            let _done = Done(&is_done);
            echo_to(&polled, hands_out);
        });
    }
}

struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The reader hands out what it hears, or tells a listener.
fn echo_to(two: &DomainParticipant, hands_out: bool) {
    let one = participant(106);
    let limits = ResourceLimits {
        max_samples: Some(1),
        ..Default::default()
    };
    let writer_qos = DataWriterQos::default()
        .reliable(PATIENCE)
        .keep_all()
        .resource_limits(limits);
    let reader_qos = DataReaderQos::default().reliable().keep_all();

    let (there, back) = ("There", "Back");
    let topic =
        |participant: &DomainParticipant, name| participant.topic::<Quote>(name).expect("a topic");
    let writer = one
        .writer_with(&topic(&one, there), writer_qos.clone())
        .expect("a writer");
    let echoes = one
        .reader_with(&topic(&one, back), reader_qos.clone())
        .expect("a reader");
    let heard = two
        .reader_with(&topic(two, there), reader_qos)
        .expect("a reader");
    let echo = two
        .writer_with(&topic(two, back), writer_qos)
        .expect("a writer");
    for writer in [&writer, &echo] {
        writer.wait_for_matched(1, PATIENCE).expect("a match");
    }
    for reader in [&heard, &echoes] {
        reader.wait_for_matched(1, PATIENCE).expect("a match");
    }
    let failures = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&failures);
    let answer = move |quote: &Quote| {
        for _ in 0..2 {
            if echo.write(quote).is_err() {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
    };
    match hands_out {
        true => heard.take_each(move |sample| sample.data().into_iter().for_each(&answer)),
        false => heard.set_listener(move |reader: &DataReader<Quote>| {
            reader.take().data().for_each(&answer);
        }),
    }
    for price in 0..50 {
        writer.write(&quote("A", price)).expect("room");
    }
    let mut prices = Vec::new();
    while prices.len() < 100 {
        echoes.wait_for_data(PATIENCE).expect("more echoes");
        prices.extend(echoes.take().data().map(|quote| quote.price));
    }
    assert_eq!(
        prices,
        (0..50).flat_map(|price| [price, price]).collect::<Vec<_>>()
    );
    assert_eq!(failures.load(Ordering::Relaxed), 0);
}

/// A reader of another participant that keeps all, and a writer of as many samples as it has room
/// for.
fn publisher_and_reader(domain: u32) -> (Publisher, DataWriter<Quote>, DataReader<Quote>) {
    let (here, there) = (participant(domain), participant(domain));
    let publisher = here.publisher(PublisherQos::default());
    let topic = here.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default()
        .reliable(PATIENCE)
        .keep_all()
        .resource_limits(ResourceLimits {
            max_samples: Some(16),
            ..ResourceLimits::default()
        });
    let writer = publisher.writer(&topic, qos).expect("a writer");
    let topic = there.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = there.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    (publisher, writer, reader)
}

#[test]
fn suspended_publications_leave_together() {
    let (publisher, writer, reader) = publisher_and_reader(122);
    let calls = Arc::new(AtomicU64::new(0));
    let (count, (tell, told)) = (Arc::clone(&calls), mpsc::channel());
    reader.set_listener(move |reader: &DataReader<Quote>| {
        count.fetch_add(1, Ordering::Relaxed);
        let prices: Vec<_> = reader.take().data().map(|quote| quote.price).collect();
        let _ = tell.send(prices);
    });
    let outer = publisher.suspend_publications();
    let inner = publisher.suspend_publications();
    for price in 0..10 {
        writer.write(&quote("TICK", price)).expect("room");
    }
    drop(inner);
    writer.write(&quote("TICK", 10)).expect("room");
    outer.resume_publications();
    let prices = told.recv_timeout(PATIENCE).expect("the samples");
    assert_eq!(prices, Vec::from_iter(0..=10));
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn waiting_sends_what_is_suspended() {
    let (publisher, writer, reader) = publisher_and_reader(123);
    let _suspended = publisher.suspend_publications();
    // More than there is room for: the writes wait for acknowledgements.
    for price in 0..100 {
        writer.write(&quote("TICK", price)).expect("room");
    }
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all of them");
    assert_eq!(reader.take().data().count(), 100);
}

/// How often the listener was called that takes what 100 samples leave which share datagrams, and how many of them found
/// no room.
fn told_of_hundred(domain: u32, max_samples: u32) -> (usize, u64) {
    let one = || {
        let builder = builder(domain).shared_memory(false);
        builder.build().expect("a participant")
    };
    let (one, two) = (one(), one());
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let publisher = one.publisher(PublisherQos::default());
    let qos = DataWriterQos::default().keep_all().reliable(PATIENCE);
    let writer = publisher.writer(&topic, qos).expect("a writer");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let qos = qos.resource_limits(ResourceLimits {
        max_samples: Some(max_samples),
        ..Default::default()
    });
    let reader = two.reader_with(&topic, qos).expect("a reader");
    let (told, takes) = mpsc::channel();
    reader.set_listener(move |reader: &DataReader<Quote>| {
        // The test may have failed.
        let _ = told.send(reader.take().len());
    });
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    let suspended = publisher.suspend_publications();
    for price in 0..100 {
        writer.write(&quote("A", price)).expect("there is room");
    }
    drop(suspended);
    let (mut calls, mut taken) = (0, 0);
    while taken < 100 {
        taken += takes.recv_timeout(PATIENCE).expect("more samples");
        calls += 1;
    }
    (calls, reader.sample_rejected_status().count.total_count)
}

#[test]
fn a_listener_is_told_of_samples_together_where_the_limits_have_room_for_all() {
    let (calls, rejected) = told_of_hundred(97, 10_000);
    assert!(calls < 20, "{calls}");
    assert_eq!(rejected, 0);
    assert_eq!(told_of_hundred(98, 5), (100, 0));
}
