//! Samples between participants, over the loopback interface.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use crate::common::{PATIENCE, Quote, builder, participant, quote};
use tickwire::qos::ResourceLimits;
use tickwire::reader::ReaderLatency;
use tickwire::{
    DataReader, DataReaderListener, DataReaderQos, DataWriterQos, Driving, ReceiveTimestamps,
    Topic, Transport,
};
use tickwire_transport::{CoreSet, clock};

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Blob", final)]
struct Blob {
    bytes: Vec<u8>,
}

#[test]
fn hello_world_within_one_participant() {
    let participant = participant(101);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let reader = participant.reader(&topic).expect("a reader");
    let writer = participant.writer(&topic).expect("a writer");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer.write(&quote("TICK", 5)).expect("room");
    reader.wait_for_data(PATIENCE).expect("a sample");
    let samples = reader.take();
    assert_eq!(samples.data().collect::<Vec<_>>(), [&quote("TICK", 5)]);
    assert_eq!(samples[0].info().writer, writer.guid());
}

#[test]
fn many_samples_between_two_participants_arrive_in_order() {
    let (one, two) = (participant(102), participant(102));
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let writer_qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let writer = one.writer_with(&topic, writer_qos).expect("a writer");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let reader_qos = DataReaderQos::default().reliable().keep_all();
    let reader = two.reader_with(&topic, reader_qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    const COUNT: i64 = 20_000;
    for number in 0..COUNT {
        writer.write(&quote("TICK", number)).expect("room");
    }
    let mut expected = 0;
    while expected < COUNT {
        reader.wait_for_data(PATIENCE).expect("more samples");
        for quote in reader.take().data() {
            assert_eq!(quote.price, expected);
            expected += 1;
        }
    }
    writer
        .wait_for_acknowledgments(PATIENCE)
        .expect("all acknowledged");
    assert_eq!(reader.counters().lost, 0);
}

#[test]
fn what_is_written_last_arrives_though_its_program_ends_at_once() {
    let reading = participant(130);
    let topic = reading.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = reading.reader_with(&topic, qos).expect("a reader");
    for round in 0..50 {
        let writing = participant(130);
        let topic = writing.topic::<Quote>("Quotes").expect("a topic");
        let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
        let writer = writing.writer_with(&topic, qos).expect("a writer");
        writer.wait_for_matched(1, PATIENCE).expect("a match");
        for number in 0..5 {
            writer
                .write(&quote("TICK", round * 5 + number))
                .expect("room");
        }
    }
    let arrived: Vec<_> = reader.take().data().map(|quote| quote.price).collect();
    assert_eq!(arrived, (0..250).collect::<Vec<_>>());
}

#[test]
fn ten_megabytes_pass() {
    let (one, two) = (participant(107), participant(107));
    let topic = one.topic::<Blob>("Blobs").expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE);
    let writer = one.writer_with(&topic, qos).expect("a writer");
    let topic = two.topic::<Blob>("Blobs").expect("a topic");
    let qos = DataReaderQos::default().reliable();
    let reader = two.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    let bytes = (0..10 << 20).map(|i: u32| i.to_le_bytes()[0] ^ i.to_le_bytes()[2]);
    let blob = Blob {
        bytes: bytes.collect(),
    };
    writer.write(&blob).expect("room");
    reader.wait_for_data(PATIENCE).expect("the sample");
    assert!(reader.take().data().eq([&blob]));
}

#[test]
fn two_polled_participants_live_on_one_thread() {
    let polled = || {
        builder(110)
            .driving(Driving::Polled)
            .build()
            .expect("a participant")
    };
    let (one, two) = (polled(), polled());
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let writer = one.writer(&topic).expect("a writer");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let reader = two.reader(&topic).expect("a reader");
    let matched = writer.status_condition(tickwire::StatusMask::PUBLICATION_MATCHED);
    let ready = tickwire::WaitSet::new();
    ready.attach(&matched);
    ready.attach(&reader.status_condition(tickwire::StatusMask::SUBSCRIPTION_MATCHED));
    while writer.matched_subscriptions().is_empty() || reader.matched_publications().is_empty() {
        ready.wait(PATIENCE).expect("a match");
        writer.publication_matched_status();
        reader.subscription_matched_status();
    }
    writer.write(&quote("A", 1)).expect("room");
    reader.wait_for_data(PATIENCE).expect("the sample");
    assert!(reader.take().data().eq([&quote("A", 1)]));
}

/// Two threads that take turns, so that each sleeps while the other is at work, too.
#[test]
fn polls_end_when_waits_are_ended() {
    let participant = builder(136)
        .driving(Driving::Polled)
        .announce_period(Duration::from_secs(3600))
        .lease_duration(Duration::from_secs(7200))
        .build()
        .expect("a participant");
    let ending = Arc::new(AtomicBool::new(false));
    let (told, ended) = mpsc::channel();
    for _ in 0..2 {
        let (participant, ending, told) = (participant.clone(), Arc::clone(&ending), told.clone());
        std::thread::spawn(move || {
            while !ending.load(Ordering::Acquire) {
                participant.poll(Duration::MAX).expect("it is polled");
            }
            // More often than there is something to do in an hour.
            for _ in 0..100 {
                participant.poll(Duration::MAX).expect("it is polled");
            }
            told.send(()).expect("somebody waits");
        });
    }
    let never = participant
        .discovery()
        .wait_for(Duration::from_millis(1), || None::<()>);
    assert!(never.is_err());
    ending.store(true, Ordering::Release);
    participant.end_waits();
    for _ in 0..2 {
        ended.recv_timeout(PATIENCE).expect("its polls end");
    }
    let never = participant
        .discovery()
        .wait_for(Duration::MAX, || None::<()>);
    assert!(never.is_err());
}

#[test]
fn busy_polling_neglects_neither_samples_nor_acknowledgements() {
    let busy = || {
        builder(119)
            .driving(Driving::Polled)
            .busy_poll(Duration::from_millis(1))
            .build()
            .expect("a participant")
    };
    let (one, two) = (busy(), busy());
    let topic = one.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataWriterQos::default().keep_all().reliable(PATIENCE);
    let qos = qos.resource_limits(ResourceLimits {
        max_samples: Some(50),
        ..ResourceLimits::default()
    });
    let writer = one.writer_with(&topic, qos).expect("a writer");
    let topic = two.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default().keep_all().reliable();
    let reader = two.reader_with(&topic, qos).expect("a reader");
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            writer.wait_for_matched(1, PATIENCE).expect("the reader");
            for number in 0..1_000 {
                writer.write(&quote("A", number)).expect("room");
            }
            writer.wait_for_acknowledgments(PATIENCE).expect("all");
        });
        let mut expected = 0;
        while expected < 1_000 {
            reader.wait_for_data(PATIENCE).expect("more");
            for quote in reader.take().data() {
                assert_eq!(quote.price, expected);
                expected += 1;
            }
        }
        // Its acknowledgements are still awaited.
        while !writing.is_finished() {
            two.poll(Duration::from_millis(1))
                .expect("it has no threads");
        }
    });
}

#[test]
fn samples_have_the_time_at_which_the_kernel_received_them_if_it_is_asked_to() {
    let builder = builder(159).transports([Transport::Udp]);
    let stamped = builder.clone();
    let stamped = stamped.receive_timestamps(ReceiveTimestamps::Software);
    let participants = [builder, stamped].map(|builder| builder.build().expect("a participant"));
    let topic = participants[0].topic::<Blob>("Blobs").expect("a topic");
    let writer = participants[0].writer(&topic).expect("a writer");
    let readers = participants.each_ref().map(|participant| {
        let topic = participant.topic::<Blob>("Blobs").expect("a topic");
        let qos = DataReaderQos::default().reliable().keep_all();
        participant.reader_with(&topic, qos).expect("a reader")
    });
    writer.wait_for_matched(2, PATIENCE).expect("matches");
    for reader in &readers {
        reader.wait_for_matched(1, PATIENCE).expect("a match");
    }
    let infos_of_next = |len| {
        let bytes = vec![7; len];
        writer.write(&Blob { bytes }).expect("room");
        readers.each_ref().map(|reader| {
            reader.wait_for_data(PATIENCE).expect("a sample");
            *reader.take()[0].info()
        })
    };
    // The kernel begins some time after it was asked to.
    let deadline = clock::now() + PATIENCE;
    while infos_of_next(1)[1].kernel_timestamp.is_none() {
        assert!(clock::now() < deadline, "no sample has a time");
    }
    // The second one takes several datagrams.
    for len in [1, 200_000] {
        let [plain, stamped] = infos_of_next(len);
        assert_eq!(plain.kernel_timestamp, None);
        let stamp = stamped.kernel_timestamp;
        assert!(stamped.source_timestamp <= stamp, "{stamped:?}");
        assert!(stamp <= Some(stamped.reception_timestamp), "{stamped:?}");
    }
}

#[test]
fn a_reader_counts_how_long_its_samples_take_if_it_is_asked_to() {
    let builder = builder(163).transports([Transport::Udp]);
    let counting = builder.clone().latency_histograms(true);
    let counting = counting.receive_timestamps(ReceiveTimestamps::Software);
    let participants = [builder, counting].map(|builder| builder.build().expect("a participant"));
    let topic = participants[0].topic::<Quote>("Quotes").expect("a topic");
    let writer = participants[0].writer(&topic).expect("a writer");
    let [plain, reader] = participants.each_ref().map(|participant| {
        let topic = participant.topic::<Quote>("Quotes").expect("a topic");
        let qos = DataReaderQos::default().reliable().keep_all();
        participant.reader_with(&topic, qos).expect("a reader")
    });
    writer.wait_for_matched(2, PATIENCE).expect("matches");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    for number in 0..3 {
        writer.write(&quote("A", number)).expect("room");
    }
    while reader.read().len() < 3 {
        reader.wait_for_data(PATIENCE).expect("more samples");
    }
    // What was returned before counts once.
    assert_eq!(reader.take().len(), 3);
    let latency = reader.latency().expect("it counts");
    assert_eq!(latency.source_to_reception.count(), 3);
    assert_eq!(latency.source_to_reception.negative(), 0);
    assert!(latency.source_to_reception.max() > Duration::ZERO);
    assert_eq!(latency.reception_to_take.count(), 3);
    let kernel = latency.source_to_kernel.count();
    assert_eq!(latency.kernel_to_reception.count(), kernel);
    assert!(latency.source_to_kernel.max() <= latency.source_to_reception.max());
    reader.reset_latency();
    assert_eq!(reader.latency(), Some(ReaderLatency::default()));
    assert_eq!(plain.latency(), None);
}

/// Tells on which cores it is called.
struct Where(Sender<io::Result<CoreSet>>);

impl DataReaderListener<Quote> for Where {
    fn on_data_available(&mut self, _: &DataReader<Quote>) {
        let _ = self.0.send(CoreSet::of_this_thread());
    }
}

#[test]
fn threads_run_on_the_cores_that_they_are_given() {
    let cores = CoreSet::of_this_thread().expect("it runs somewhere");
    let one: CoreSet = cores.iter().take(1).collect();
    let builder = builder(151).transports([Transport::Udp]);
    // The thread aside, which looks what there is when a listener is set, may be the one that tells of the sample.
    let said = format!("data={one} aside={one}").parse().expect("cores");
    let participant = builder.clone().thread_cores(said).build();
    let participant = participant.expect("a participant");
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let reader = participant.reader(&topic).expect("a reader");
    let (tell, told) = mpsc::channel();
    reader.set_listener(Where(tell));
    let writer = participant.writer(&topic).expect("a writer");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer.write(&quote("A", 1)).expect("room");
    let told = told.recv_timeout(PATIENCE).expect("a call");
    assert_eq!(told.expect("it runs somewhere"), one);

    let absent = "1000-1023".parse().expect("cores");
    let error = builder.thread_cores(absent).build();
    let error = error.expect_err("few have so many").to_string();
    assert!(error.contains("does not have 1000-1023"), "{error}");
}

#[test]
fn a_guard_condition_ends_a_wait_from_another_thread() {
    let guard = tickwire::GuardCondition::new();
    let waiting = tickwire::WaitSet::new();
    waiting.attach(&guard.condition());
    assert!(waiting.wait(Duration::ZERO).is_err());
    std::thread::scope(|scope| {
        scope.spawn(|| guard.set(true));
        assert_eq!(waiting.wait(PATIENCE).expect("set"), [guard.condition()]);
    });
}

#[test]
fn a_missed_deadline_is_told_on_both_sides() {
    let participant = participant(113);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let period = Duration::from_millis(20);
    let qos = DataWriterQos::default().deadline(period);
    let writer = participant.writer_with(&topic, qos).expect("a writer");
    let qos = DataReaderQos::default().deadline(period);
    let reader = participant.reader_with(&topic, qos).expect("a reader");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    writer.write(&quote("A", 1)).expect("room");
    let missed = |condition: &tickwire::Condition| {
        let waiting = tickwire::WaitSet::new();
        waiting.attach(condition);
        waiting.wait(PATIENCE).expect("a missed deadline");
    };
    missed(&reader.status_condition(tickwire::StatusMask::REQUESTED_DEADLINE_MISSED));
    missed(&writer.status_condition(tickwire::StatusMask::OFFERED_DEADLINE_MISSED));
    let instance = Some(writer.register(&quote("A", 0)).expect("a key"));
    assert_eq!(
        reader.requested_deadline_missed_status().last_instance,
        instance
    );
    assert_eq!(
        writer.offered_deadline_missed_status().last_instance,
        instance
    );
}

#[test]
fn a_reliable_reader_with_a_time_based_filter_gets_the_last_value() {
    let participant = participant(132);
    let topic = participant.topic::<Quote>("Quotes").expect("a topic");
    let qos = DataReaderQos::default()
        .reliable()
        .keep_all()
        .time_based_filter(Duration::from_millis(50));
    let reader = participant.reader_with(&topic, qos).expect("a reader");
    let writer = participant.writer(&topic).expect("a writer");
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    for price in 0..=100 {
        writer.write(&quote("A", price)).expect("room");
    }
    let mut prices = Vec::new();
    while prices.last() != Some(&100) {
        reader.wait_for_data(PATIENCE).expect("the last value");
        prices.extend(reader.take().data().map(|quote| quote.price));
    }
    assert_eq!(prices.first(), Some(&0));
    let counters = reader.inbox_counters();
    assert_eq!(counters.stored, prices.len() as u64);
    assert_eq!(counters.stored + counters.too_early, 101);
}
