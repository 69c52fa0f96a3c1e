//! Participants whose samples are delivered by who waits for them, and by a thread of theirs while nobody does.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::common::{PATIENCE, Quote, quote, wait_for_logs};
use tickwire::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, Driving, StateMask,
    Transport,
};

/// A writer, and a cooperative participant with a reader that it has found.
struct Pair {
    writer: DataWriter<Quote>,
    writing: DomainParticipant,
    reader: DataReader<Quote>,
    reading: DomainParticipant,
}

fn pair(domain: u32, transports: &[Transport]) -> Pair {
    let participant = |driving| {
        let builder = crate::common::builder(domain).transports(transports.iter().copied());
        let builder = builder.peer(Ipv4Addr::LOCALHOST).driving(driving);
        builder.build().expect("a participant")
    };
    let writing = participant(Driving::Threaded);
    let reading = participant(Driving::Cooperative);
    let topic = writing.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let writer = writing.writer_with(&topic, qos).expect("a writer");
    let topic = reading.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = reading.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    Pair {
        writer,
        writing,
        reader,
        reading,
    }
}

impl Pair {
    /// The next prices, for which this thread waits.
    fn wait(&self) -> Vec<i64> {
        let prices = self.reading.wait_for_samples(PATIENCE, || self.look());
        prices.expect("something has come")
    }

    fn look(&self) -> Option<Vec<i64>> {
        let samples = self.reader.take();
        let prices: Vec<_> = samples.data().map(|quote| quote.price).collect();
        (!prices.is_empty()).then_some(prices)
    }
}

/// Which threads have delivered samples.
fn watch(reader: &DataReader<Quote>) -> Arc<Mutex<Vec<ThreadId>>> {
    let threads: Arc<Mutex<Vec<_>>> = Arc::default();
    let told = Arc::clone(&threads);
    reader.set_listener(move |_: &DataReader<Quote>| {
        told.lock()
            .expect("nobody panics")
            .push(thread::current().id());
    });
    threads
}

/// A thread that waits delivers what comes meanwhile, itself, on whatever way it comes: once it has its turn, all.
fn who_waits_delivers(pair: &Pair) {
    let threads = watch(&pair.reader);
    let own = thread::current().id();
    let (asked, is_asked) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            for price in is_asked {
                pair.writer.write(&quote("A", price)).expect("room");
            }
        });
        let mut price = 0;
        asked.send(price).expect("it listens");
        let found = pair.reading.wait_for_samples(PATIENCE, || {
            assert_eq!(pair.look()?, [price]);
            let threads = threads.lock().expect("nobody panics");
            if threads.iter().filter(|thread| **thread == own).count() >= 20 {
                return Some(());
            }
            price += 1;
            asked.send(price).expect("it listens");
            None
        });
        drop(asked);
        found.expect("this thread has delivered");
    });
    let threads = threads.lock().expect("nobody panics");
    let mut since = threads.iter().skip_while(|thread| **thread != own);
    assert!(since.all(|thread| *thread == own), "{threads:?}");
}

#[test]
fn who_waits_delivers_what_comes_by_udp() {
    who_waits_delivers(&pair(90, &[Transport::Udp, Transport::Multicast]));
}

#[test]
fn who_waits_delivers_what_comes_by_tcp() {
    who_waits_delivers(&pair(91, &[Transport::Tcp]));
}

#[test]
fn who_waits_delivers_what_comes_by_shared_memory() {
    let transports = [Transport::Udp, Transport::Multicast, Transport::Shm];
    let pair = pair(92, &transports);
    wait_for_logs(&pair.writing, 1);
    who_waits_delivers(&pair);
    let counters = pair.reading.counters().shared_memory;
    assert!(counters.records_received > 0, "{counters:?}");
}

/// Before its first wait, and long after it.
#[test]
fn samples_are_delivered_while_the_application_does_not_wait() {
    let pair = pair(93, &[Transport::Udp, Transport::Multicast]);
    let threads = watch(&pair.reader);
    let mut price = 0;
    for _ in 0..3 {
        for _ in 0..100 {
            pair.writer.write(&quote("A", price)).expect("room");
            price += 1;
        }
        let acknowledged = pair.writer.wait_for_acknowledgments(PATIENCE);
        acknowledged.expect("the thread of the participant delivers");
        pair.writer.write(&quote("A", price)).expect("room");
        price += 1;
        let mut found = Vec::new();
        while found.last() != Some(&(price - 1)) {
            found.extend(pair.wait());
        }
        assert!(found.into_iter().eq(price - 101..price));
    }
    let threads = threads.lock().expect("nobody panics");
    let own = thread::current().id();
    assert!(threads.iter().any(|thread| *thread != own));
}

#[test]
fn of_several_threads_that_wait_each_is_woken() {
    let pair = pair(94, &[Transport::Udp, Transport::Multicast]);
    let next = || {
        let samples = pair.reader.select().max_samples(1).take();
        samples.data().next().map(|quote| quote.price)
    };
    let heard = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let wait = || pair.reading.wait_for_samples(PATIENCE, next);
                while wait().expect("more comes") >= 0 {
                    heard.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for price in (0..1_000).chain([-1; 4]) {
            pair.writer.write(&quote("A", price)).expect("room");
        }
    });
    assert_eq!(heard.into_inner(), 1_000);
}

/// One thread waits for what does not come, and delivers what the other waits for.
#[test]
fn who_drives_tells_others_of_what_it_delivers_to_them() {
    let pair = pair(61, &[Transport::Udp, Transport::Multicast]);
    let topic = pair.writing.topic::<Quote>("Others").expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let writer = pair.writing.writer_with(&topic, qos).expect("a writer");
    let topic = pair.reading.topic::<Quote>("Others").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = pair.reading.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    let (waits, is_waiting) = mpsc::channel();
    thread::scope(|scope| {
        let pair = &pair;
        let silent = scope.spawn(move || {
            pair.reading.wait_for_samples(Duration::MAX, || {
                // Who has let go of it does not listen any more.
                let _ = waits.send(());
                pair.look()
            })
        });
        is_waiting.recv().expect("it waits");
        let answers: Vec<_> = (0..50)
            .map(|price| {
                writer.write(&quote("A", price)).expect("room");
                pair.reading.wait_for_samples(PATIENCE, || {
                    let samples = reader.take();
                    samples.data().next().map(|quote| quote.price)
                })
            })
            .collect();
        pair.writer.write(&quote("A", 1)).expect("room");
        assert_eq!(silent.join().expect("no panic"), Some(vec![1]));
        assert!(answers.into_iter().eq((0..50).map(Some)));
    });
}

/// What the control thread finds out is told as well, to who drives and to who follows.
#[test]
fn who_waits_hears_what_other_threads_find_out() {
    let pair = pair(62, &[Transport::Udp, Transport::Multicast]);
    let participants = pair.reading.builtin_subscriber().participants();
    pair.writer.write(&quote("A", 1)).expect("room");
    assert_eq!(pair.wait(), [1]);
    let Pair {
        writer,
        writing,
        reader,
        reading,
    } = pair;
    let ended = StateMask::NOT_ALIVE;
    let (waits, is_waiting) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let (waits_too, reading) = (waits.clone(), &reading);
        scope.spawn(move || {
            let mut waits = Some(waits);
            let notice = reading.wait_for_samples(PATIENCE, || {
                drop(waits.take());
                let samples = reader.select().states(ended).take();
                (!samples.is_empty()).then_some(())
            });
            notice.expect("the writer has gone");
        });
        scope.spawn(move || {
            let mut waits = Some(waits_too);
            let notice = reading.wait_for_samples(PATIENCE, || {
                drop(waits.take());
                let samples = participants.select().states(ended).take();
                (!samples.is_empty()).then_some(())
            });
            notice.expect("the participant has gone");
        });
        assert!(is_waiting.recv().is_err(), "both have asked");
        drop((writer, writing));
    });
}

#[test]
fn who_takes_what_is_there_keeps_nobody_from_driving() {
    let pair = pair(99, &[Transport::Udp, Transport::Multicast]);
    let is_acknowledged = AtomicBool::new(false);
    thread::scope(|scope| {
        let answer = scope.spawn(|| {
            pair.writer.write(&quote("A", 1)).expect("room");
            let answer = pair.writer.wait_for_acknowledgments(PATIENCE);
            is_acknowledged.store(true, Ordering::Release);
            answer
        });
        while !is_acknowledged.load(Ordering::Acquire) {
            let found = pair.reading.wait_for_samples(Duration::MAX, || Some(()));
            assert_eq!(found, Some(()));
        }
        let answer = answer.join().expect("no panic");
        answer.expect("the thread of the participant drives");
    });
}

#[test]
fn who_waits_in_a_listener_is_told_at_once_what_is_there() {
    let pair = pair(89, &[Transport::Udp, Transport::Multicast]);
    let (told, hears) = mpsc::channel();
    let reading = pair.reading.clone();
    pair.reader.set_listener(move |_: &DataReader<Quote>| {
        let found = reading.wait_for_samples(Duration::MAX, || None::<()>);
        // Who has let go of it does not listen any more.
        let _ = told.send(found);
    });
    for price in 0..20 {
        pair.writer.write(&quote("A", price)).expect("room");
        assert_eq!(pair.wait(), [price]);
        assert_eq!(hears.recv_timeout(PATIENCE), Ok(None));
    }
    pair.reader.remove_listener();
}

#[test]
fn who_waits_returns_when_its_time_is_over_or_waits_are_ended() {
    let pair = pair(95, &[Transport::Udp, Transport::Multicast]);
    let wait = |timeout| pair.reading.wait_for_samples(timeout, || pair.look());
    assert_eq!(wait(Duration::ZERO), None);
    assert_eq!(wait(Duration::from_millis(1)), None);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert_eq!(wait(Duration::MAX), None));
        }
        pair.reading.end_waits();
    });
    assert_eq!(wait(Duration::MAX), None);
    pair.writer.write(&quote("A", 1)).expect("room");
    let acknowledged = pair.writer.wait_for_acknowledgments(PATIENCE);
    acknowledged.expect("the thread of the participant goes on");
    assert_eq!(wait(Duration::MAX), Some(vec![1]));
}

/// No thread is left behind that would hold the participant.
#[test]
fn a_participant_ends_whoever_has_driven_it() {
    for waits in [false, true] {
        let pair = pair(96, &[Transport::Udp, Transport::Multicast]);
        if waits {
            pair.writer.write(&quote("A", 1)).expect("room");
            assert_eq!(pair.wait(), [1]);
        }
        let Pair {
            writer,
            writing,
            reader,
            reading,
        } = pair;
        drop((reader, reading));
        let left = writing.discovery();
        let is_gone = || writer.publication_matched_status().current_count == 0;
        let gone = left.wait_for(PATIENCE, || is_gone().then_some(()));
        gone.expect("it has said good-bye");
    }
}
