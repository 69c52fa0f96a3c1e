//! Samples of topics without keys, which take the shortest way to what takes them as they come: nothing is to be seen of that.

use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{PATIENCE, builder, wait_for_logs};
use tickwire::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, Driving,
    InstanceState, Sample, SampleInfo, Topic, ViewState,
};

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Trade")]
struct Trade {
    price: i64,
    note: String,
}

/// Some are longer than the one before, and some are shorter.
fn trade(price: i64) -> Trade {
    let note = "a trade".repeat(usize::try_from(price % 5).unwrap_or(0));
    Trade { price, note }
}

/// A participant that writes, and two that read.
struct Stage {
    from: DomainParticipant,
    to: [DomainParticipant; 2],
    writer: DataWriter<Trade>,
    readers: [DataReader<Trade>; 2],
}

impl Stage {
    fn new(domain: u32, by_log: bool) -> Self {
        let one = || builder(domain).shared_memory(by_log).build().expect("one");
        let (from, to) = (one(), [one(), one()]);
        let writer = writer(&from);
        let readers = to.each_ref().map(|to| {
            let topic = to.topic("Trades").expect("a topic");
            let qos = DataReaderQos::default().reliable().keep_all();
            to.reader_with(&topic, qos).expect("a reader")
        });
        writer.wait_for_matched(2, PATIENCE).expect("matches");
        for reader in &readers {
            reader.wait_for_matched(1, PATIENCE).expect("a match");
        }
        if by_log {
            wait_for_logs(&from, 2);
        }
        Self {
            from,
            to,
            writer,
            readers,
        }
    }
}

fn writer(of: &DomainParticipant) -> DataWriter<Trade> {
    let topic = of.topic("Trades").expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    of.writer_with(&topic, qos).expect("a writer")
}

/// What has been handed out of a sample.
type Handed = (SampleInfo, Option<Arc<Trade>>);

/// Has a reader hand out what comes.
fn handed(reader: &DataReader<Trade>) -> Receiver<Handed> {
    let (send, receive) = mpsc::channel();
    reader.take_each(move |sample: &Sample<Trade>| {
        // Who hears it may have heard enough.
        let _ = send.send((*sample.info(), sample.shared().cloned()));
    });
    receive
}

fn next(handed: &Receiver<Handed>, count: usize) -> Vec<Handed> {
    let next = || handed.recv_timeout(PATIENCE).expect("another sample");
    (0..count).map(|_| next()).collect()
}

/// What does not depend on when it was looked at.
fn is_same(one: &SampleInfo, other: &SampleInfo) -> bool {
    let of = |info: &SampleInfo| {
        let generations = (
            info.disposed_generation_count,
            info.no_writers_generation_count,
        );
        let sample = (info.source_timestamp, info.valid_data, info.related);
        let who = (info.writer, info.sequence_number, info.instance);
        (info.instance_state, generations, sample, who)
    };
    of(one) == of(other)
}

#[test]
fn what_is_handed_out_is_what_another_reader_takes() {
    for (domain, by_log) in [(52, true), (53, false)] {
        let stage = Stage::new(domain, by_log);
        let [one, other] = &stage.readers;
        let each = handed(one);
        let mut infos = Vec::new();
        let mut begin = 0;
        // By one alone, and by several that come together.
        for len in [1, 1, 2, 1, 100, 1, 3, 1_000, 1, 1] {
            let trades: Vec<_> = (begin..begin + len).map(trade).collect();
            stage.writer.write_all(&trades).expect("room");
            let count = trades.len();
            let handed = next(&each, count);
            let values = handed.iter().filter_map(|(_, value)| value.as_deref());
            assert_eq!(values.cloned().collect::<Vec<_>>(), trades);
            let mut taken = Vec::new();
            while taken.len() < count {
                other.wait_for_data(PATIENCE).expect("the same");
                let samples = other.take();
                let samples = samples.iter();
                taken.extend(samples.map(|sample| (*sample.info(), sample.shared().cloned())));
            }
            for ((info, value), (expected, same)) in handed.iter().zip(&taken) {
                assert!(is_same(info, expected), "{info:?} and {expected:?}");
                assert_eq!(value, same);
            }
            infos.extend(handed.into_iter().map(|(info, _)| info));
            begin += len;
        }
        assert_eq!(infos[0].view_state, ViewState::New);
        for pair in infos.windows(2) {
            let [before, info] = pair else { continue };
            assert!(before.sequence_number < info.sequence_number);
            assert!(before.reception_timestamp <= info.reception_timestamp);
            // Those that are handed out together count down.
            let behind = before.sample_rank.checked_sub(1);
            assert!(behind.is_none_or(|behind| behind == info.sample_rank));
        }
        let news = infos
            .iter()
            .filter(|info| info.view_state == ViewState::New);
        let new_ones = news.count();
        let together = infos.iter().take_while(|info| info.sample_rank > 0).count();
        assert!(new_ones <= together + 1, "{new_ones} of {together}");
        let count = u64::try_from(begin).expect("not negative");
        assert_eq!(one.inbox_counters().stored, count);
        assert_eq!(one.counters().delivered, other.counters().delivered);
        assert_eq!(infos.last().map(|info| info.sample_rank), Some(0));
    }
}

#[test]
fn a_writer_that_leaves_and_another_one_are_told_of() {
    let stage = Stage::new(54, true);
    let Stage {
        from,
        to,
        writer: first,
        readers,
    } = stage;
    let [one, other] = &readers;
    let each = handed(one);
    let write = |writer: &DataWriter<Trade>| {
        for price in 0..5 {
            writer.write(&trade(price)).expect("room");
            next(&each, 1)
                .iter()
                .for_each(|(info, _)| assert!(info.valid_data));
        }
    };
    write(&first);
    drop(first);
    let (ended, _) = next(&each, 1).remove(0);
    assert_eq!(ended.instance_state, InstanceState::NoWriters);
    assert!(!ended.valid_data);
    let second = writer(&from);
    second.wait_for_matched(2, PATIENCE).expect("matches");
    one.wait_for_matched(1, PATIENCE).expect("a match");
    for price in 0..5 {
        second.write(&trade(price)).expect("room");
        let (info, value) = next(&each, 1).remove(0);
        assert_eq!(value.as_deref(), Some(&trade(price)));
        let view = match price {
            0 => ViewState::New,
            _ => ViewState::NotNew,
        };
        assert_eq!((price, info.view_state), (price, view));
        assert_eq!(info.instance_state, InstanceState::Alive);
    }
    // Two at a time, of which each is next after the other one's.
    let third = writer(&from);
    third.wait_for_matched(2, PATIENCE).expect("matches");
    one.wait_for_matched(2, PATIENCE).expect("matches");
    for price in 0..20 {
        for writer in [&second, &third] {
            writer.write(&trade(price)).expect("room");
            let (info, value) = next(&each, 1).remove(0);
            assert_eq!(info.writer, writer.guid());
            assert_eq!(value.as_deref(), Some(&trade(price)));
        }
    }
    drop((other, to));
}

#[test]
fn what_one_sample_says_besides_is_not_said_of_the_next() {
    let [one, two] = [(); 2].map(|()| builder(59).build().expect("a participant"));
    let topic = one.topic("Trades").expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let writer = one
        .writer_with::<Trade>(&topic, qos.related_samples(true))
        .expect("a writer");
    let topic = two.topic("Trades").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = two.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    let each = handed(&reader);
    for price in 0..20 {
        let related = (price % 4 == 1).then(|| tickwire::SampleIdentity {
            writer: writer.guid(),
            sequence_number: tickwire::SequenceNumber(price + 1),
        });
        match related {
            Some(related) => writer.write_related(&trade(price), related),
            None => writer.write(&trade(price)),
        }
        .expect("room");
        let (info, value) = next(&each, 1).remove(0);
        assert_eq!(
            (info.related, value.as_deref()),
            (related, Some(&trade(price)))
        );
    }
}

/// A writer and a reader that one thread drives.
struct Driven {
    participants: [DomainParticipant; 2],
    writer: DataWriter<Trade>,
    reader: Arc<DataReader<Trade>>,
}

impl Driven {
    fn new(domain: u32, by_log: bool, qos: DataReaderQos) -> Self {
        let polled = || {
            let builder = builder(domain).shared_memory(by_log);
            let builder = builder.driving(Driving::Polled).busy_poll(PATIENCE);
            builder.build().expect("a participant")
        };
        let participants = [polled(), polled()];
        let writer = writer(&participants[0]);
        let topic = participants[1].topic("Trades").expect("a topic");
        let reader = participants[1].reader_with(&topic, qos).expect("a reader");
        let driven = Self {
            participants,
            writer,
            reader: Arc::new(reader),
        };
        driven.until(|| {
            driven.writer.publication_matched_status().current_count > 0
                && driven.reader.subscription_matched_status().current_count > 0
        });
        driven
    }

    fn until(&self, is_so: impl Fn() -> bool) {
        let begin = Instant::now();
        while !is_so() {
            assert!(begin.elapsed() < PATIENCE, "that takes too long");
            for participant in &self.participants {
                participant.poll(Duration::ZERO).expect("sockets");
            }
        }
    }

    fn write(&self, prices: std::ops::Range<i64>) {
        let trades: Vec<_> = prices.map(trade).collect();
        self.writer.write_all(&trades).expect("room");
    }
}

#[test]
fn what_is_left_of_samples_that_came_together_stays_in_the_reader() {
    let keeping = [
        DataReaderQos::default().reliable().keep_all(),
        DataReaderQos::default().reliable().keep_last(20),
    ];
    for (domain, by_log) in [(55, true), (56, false)] {
        for qos in keeping.clone() {
            let driven = Driven::new(domain, by_log, qos);
            let taken = Arc::new(Mutex::new(Vec::new()));
            let all = |to| (0..to).collect::<Vec<_>>();
            let take_up_to = |last: i64| {
                let (inner, takes) = (Arc::downgrade(&driven.reader), Arc::clone(&taken));
                driven.reader.take_each(move |sample| {
                    let price = sample.data().expect("a value").price;
                    takes.lock().expect("unharmed").push(price);
                    if price == last {
                        inner.upgrade().expect("the test has it").stop_taking();
                    }
                });
            };
            let has = |count| taken.lock().expect("unharmed").len() == count;
            take_up_to(14);
            for price in 0..5 {
                driven.write(price..price + 1);
                driven.until(|| has(usize::try_from(price + 1).expect("a few")));
            }
            for (from, to) in [(5, 9), (9, 13), (13, 17)] {
                driven.write(from..to);
                let count = u64::try_from(to).expect("a few");
                driven.until(|| driven.reader.counters().delivered == count);
            }
            assert_eq!(*taken.lock().expect("unharmed"), all(15));
            let left = driven.reader.read();
            let left: Vec<_> = left.data().cloned().collect();
            assert_eq!(left, [trade(15), trade(16)]);
            take_up_to(-1);
            driven.write(17..21);
            driven.until(|| has(21));
            assert_eq!(*taken.lock().expect("unharmed"), all(21));
        }
    }
}

#[test]
fn none_pushes_another_out_before_it_was_handed_out() {
    for (domain, by_log) in [(57, true), (58, false)] {
        let qos = DataReaderQos::default().reliable().keep_last(1);
        let driven = Driven::new(domain, by_log, qos);
        let each = handed(&driven.reader);
        for round in 0..50 {
            driven.write(10 * round..10 * round + 10);
            let count = u64::try_from(10 * round + 10).expect("a few");
            driven.until(|| driven.reader.counters().delivered == count);
        }
        let handed: Vec<_> = each.try_iter().collect();
        let prices = handed.iter().filter_map(|(_, value)| value.as_ref());
        let prices: Vec<_> = prices.map(|value| value.price).collect();
        assert_eq!(prices, (0..500).collect::<Vec<_>>());
        assert!(handed.iter().all(|(info, _)| info.sample_rank == 0));
        assert_eq!(driven.reader.inbox_counters().replaced, 0);
    }
}
