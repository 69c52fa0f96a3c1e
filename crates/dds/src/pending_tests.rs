use std::io::ErrorKind;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;

use tickwire_base::Locator;
use tickwire_rtps::Change;
use tickwire_rtps::wire::{EntityId, Guid, GuidPrefix, MessageReader, Submessage};
use tickwire_rtps::writer::ReaderProxy;

use super::*;
use crate::clock::stopped::StoppedClock;
use crate::error::WriteError;
use crate::{
    DataReaderQos, DataWriter, DataWriterQos, DomainParticipant, DomainParticipantBuilder, Driving,
    Publisher,
};

#[derive(tickwire_derive::Topic, Debug)]
#[topic(crate = tickwire_cdr)]
struct Tick {
    price: i64,
    note: Vec<u8>,
}

const BUDGET: Duration = Duration::from_millis(10);
const SOCKET: Guid = Guid::new(GuidPrefix([7; 12]), EntityId::user_reader(1, false));

/// A participant, and a socket as a best-effort reader of it.
struct Stage {
    participant: DomainParticipant,
    publisher: Publisher,
    socket: UdpSocket,
}

impl Stage {
    fn new(domain: u32, driving: Driving) -> Self {
        Self::of(
            &DomainParticipant::builder(domain)
                .multicast(false)
                .driving(driving),
        )
    }

    fn of(builder: &DomainParticipantBuilder) -> Self {
        let participant = builder.clone().build().expect("a participant");
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        socket.set_nonblocking(true).expect("Linux can");
        Self {
            publisher: participant.publisher(Default::default()),
            participant,
            socket,
        }
    }

    fn writer(&self, name: &str, budget: Duration) -> DataWriter<Tick> {
        let topic = self.participant.topic::<Tick>(name).expect("a topic");
        let qos = DataWriterQos::default().best_effort();
        let qos = qos.latency_budget(budget);
        let writer = self.publisher.writer(&topic, qos).expect("a writer");
        let to = self.socket.local_addr().expect("it is bound");
        let proxy = ReaderProxy {
            guid: SOCKET,
            unicast: vec![Locator::udp(to)],
            ..ReaderProxy::default()
        };
        let core = self.core();
        let routes = core.directory.snapshot();
        let endpoint = Arc::clone(&routes.writers[&writer.guid().entity]);
        endpoint.match_reader(clock::now(), proxy, &mut Outbox::new());
        writer
    }

    fn core(&self) -> &Core {
        self.participant.core()
    }

    /// The numbers of the samples in each datagram that has come.
    fn received(&self) -> Vec<Vec<i64>> {
        let mut datagrams = Vec::new();
        let mut bytes = vec![0; 1 << 16];
        loop {
            let len = match self.socket.recv(&mut bytes) {
                Ok(len) => len,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    return datagrams;
                }
            };
            let submessages = MessageReader::new(&bytes[..len]).expect("a message");
            let numbers = submessages.filter_map(|submessage| match submessage {
                Ok((_, Submessage::Data(data))) => Some(data.sequence_number.0),
                _ => None,
            });
            datagrams.push(numbers.collect());
        }
    }
}

fn write(writer: &DataWriter<Tick>, note_len: usize) {
    let note = vec![0; note_len];
    writer.write(&Tick { price: 1, note }).expect("room");
}

#[test]
fn samples_wait_for_company_as_long_as_their_latency_budget() {
    let clock = StoppedClock::new();
    let stage = Stage::new(180, Driving::Polled);
    let writer = stage.writer("Ticks", BUDGET);
    for _ in 0..3 {
        write(&writer, 0);
        clock.advance(Duration::from_millis(1));
        stage.participant.poll(Duration::ZERO).expect("a turn");
    }
    assert!(stage.received().is_empty());
    clock.advance(BUDGET - Duration::from_millis(3));
    stage.participant.poll(Duration::ZERO).expect("a turn");
    assert_eq!(stage.received(), [[1, 2, 3]]);
}

#[test]
fn who_writes_sends_what_has_waited_long_enough_or_is_much() {
    let clock = StoppedClock::new();
    let stage = Stage::new(181, Driving::Polled);
    let writer = stage.writer("Ticks", BUDGET);
    write(&writer, 0);
    clock.advance(BUDGET);
    write(&writer, 0);
    assert_eq!(stage.received(), [[1, 2]]);
    while stage.received().is_empty() {
        write(&writer, 1000);
    }
    assert_eq!(writer.counters().written, 2 + 57, "60,000 bytes");
    write(&writer, MAX_JOINING_BYTES);
    assert_eq!(stage.received(), [[60]], "a large sample does not wait");
}

#[test]
fn nothing_overtakes_what_waits() {
    let _clock = StoppedClock::new();
    let stage = Stage::new(182, Driving::Polled);
    let (patient, hasty) = (
        stage.writer("Patient", BUDGET),
        stage.writer("Hasty", Duration::ZERO),
    );
    write(&patient, 0);
    write(&patient, 0);
    write(&hasty, 0);
    assert_eq!(stage.received(), [[1, 2, 1]]);
    write(&patient, 0);
    let suspended = stage.publisher.suspend_publications();
    write(&hasty, 0);
    write(&hasty, 0);
    assert!(stage.received().is_empty());
    drop(suspended);
    assert_eq!(stage.received(), [[3, 2, 3]]);
    write(&patient, 0);
    write(&hasty, MAX_JOINING_BYTES);
    assert_eq!(stage.received(), [[4], [4]]);
}

#[test]
fn who_flushes_waits_or_ends_sends_what_waits() {
    let _clock = StoppedClock::new();
    let stage = Stage::new(183, Driving::Polled);
    let writer = stage.writer("Ticks", Duration::MAX);
    write(&writer, 0);
    stage.publisher.flush();
    assert_eq!(stage.received(), [[1]]);
    write(&writer, 0);
    let acknowledged = writer.wait_for_acknowledgments(Duration::ZERO);
    assert!(acknowledged.is_ok(), "nobody has to");
    assert_eq!(stage.received(), [[2]]);
    write(&writer, 0);
    drop(writer);
    assert_eq!(stage.received(), [[3]]);
}

#[test]
fn a_long_burst_keeps_its_order_and_is_sent_though_nobody_asks_for_it() {
    const COUNT: i64 = 200;
    let stage = Stage::new(185, Driving::Threaded);
    let writer = stage.writer("Ticks", Duration::ZERO);
    (0..COUNT).for_each(|_| write(&writer, 0));
    let mut received = Vec::new();
    let end = clock::now() + Duration::from_secs(20);
    while received.len() < 200 && clock::now() < end {
        received.extend(stage.received().into_iter().flatten());
        std::thread::yield_now();
    }
    assert_eq!(received, (1..=COUNT).collect::<Vec<_>>());
}

#[test]
fn only_long_bursts_wait() {
    let (us, mut pace) = (Duration::from_micros(1), Pace::default());
    let mut now = Instant::ZERO + us * 1_000;
    let mut burst = |count: u32, pause: Duration| {
        now = now + us * 1_000;
        let mut waiting = 0;
        for _ in 0..count {
            waiting += u32::from(pace.patience(now, ContextSwitches::default) > Duration::ZERO);
            now = now + us * 5;
            pace.written(now);
            now = now + pause;
        }
        waiting
    };
    assert_eq!(burst(16, us), 0);
    assert_eq!(burst(100, us), 84);
    assert_eq!(
        burst(100, us * 3),
        0,
        "who looks for an answer takes longer"
    );
    let mut held_up = Pace::default();
    assert_eq!(
        held_up.patience(now, ContextSwitches::default),
        Duration::ZERO
    );
    now = now + us * 40;
    held_up.had_to_wait(now, ContextSwitches::default());
    assert_eq!(
        held_up.patience(now, ContextSwitches::default),
        us * 10,
        "for longer than others"
    );
}

#[test]
fn the_longer_a_burst_the_longer_its_samples_wait() {
    let (us, mut pace) = (Duration::from_micros(1), Pace::default());
    let begin = Instant::ZERO + us * 1_000;
    let patience: Vec<_> = (0..2_000)
        .map(|n| pace.patience(begin + us * n, ContextSwitches::default))
        .collect();
    assert_eq!(patience[16], us * 4);
    assert_eq!(patience[400], us * 100);
    assert_eq!(patience[1_999], MAX_BUSY_PATIENCE);
}

#[test]
fn who_has_to_make_way_for_another_thread_is_busy_all_the_same() {
    let (us, mut pace) = (Duration::from_micros(1), Pace::default());
    let mut now = Instant::ZERO + us * 1_000;
    for _ in 0..=MIN_STREAK {
        now = now + us;
        pace.patience(now, || ContextSwitches::new(7, 7));
    }
    now = now + us * 84;
    let preempted = pace.patience(now, || ContextSwitches::new(7, 8));
    assert_eq!(preempted, us * 25, "a quarter of the whole burst");
    now = now + us * 84;
    let waited = pace.patience(now, || ContextSwitches::new(8, 9));
    assert_eq!(waited, Duration::ZERO);
    now = now + us * 84;
    let nothing = pace.patience(now, || ContextSwitches::new(8, 9));
    assert_eq!(nothing, Duration::ZERO);
}

#[test]
fn what_waits_shares_no_longer_datagrams_than_may_be_sent() {
    let clock = StoppedClock::new();
    let stage = Stage::new(186, Driving::Polled);
    let writer = stage.writer("Ticks", BUDGET);
    write(&writer, 300);
    stage.core().pending.set_max_datagram_len(1_000);
    (0..4).for_each(|_| write(&writer, 300));
    clock.advance(BUDGET);
    stage.participant.poll(Duration::ZERO).expect("a turn");
    assert_eq!(stage.received(), [vec![1, 2], vec![3, 4], vec![5]]);
}

#[test]
fn a_sample_that_is_being_serialized_writes_no_other() {
    let stage = Stage::new(187, Driving::Polled);
    let (outer, inner) = (
        stage.writer("Outer", Duration::ZERO),
        stage.writer("Inner", Duration::ZERO),
    );
    let routes = stage.core().directory.snapshot();
    let endpoint = &routes.writers[&outer.guid().entity];
    let payload = |buffer: &mut Vec<u8>| {
        let tick = Tick {
            price: 1,
            note: Vec::new(),
        };
        assert_eq!(inner.write(&tick), Err(WriteError::Nested));
        buffer.extend([0; 8]);
        Ok(())
    };
    let written = endpoint.write(clock::now(), &Change::default(), &payload);
    assert!(written.is_ok());
    write(&inner, 0);
    assert_eq!(stage.received(), [[1], [1]]);
}

#[test]
fn nothing_in_a_log_overtakes_what_waits_for_one_who_leaves_as_well() {
    let clock = StoppedClock::new();
    let tag = format!("pending {}", std::process::id());
    let builder = DomainParticipant::builder(188).domain_tag(&tag);
    let builder = builder.driving(Driving::Polled).shared_memory(true);
    let stage = Stage::of(&builder);
    let other = builder.build().expect("a participant");
    let topic = other.topic::<Tick>("Ticks").expect("a topic");
    let qos = DataReaderQos::default().keep_all().latency_budget(BUDGET);
    let reader = other.reader_with(&topic, qos).expect("a reader");
    let writer = stage.writer("Ticks", BUDGET);
    let routes = stage.core().directory.snapshot();
    let endpoint = &routes.writers[&writer.guid().entity];
    let until = |pause: Duration, done: &mut dyn FnMut() -> bool| {
        let mut turns = (0..100_000).map(|_| {
            clock.advance(pause);
            for participant in [&stage.participant, &other] {
                participant.poll(Duration::ZERO).expect("a turn");
            }
        });
        turns.any(|()| done())
    };
    let follows = until(Duration::from_millis(1), &mut || {
        endpoint.with_log(|_| ()).is_some()
    });
    assert!(follows, "the log");
    let write = |price| {
        let note = Vec::new();
        writer.write(&Tick { price, note }).expect("room");
    };
    write(1);
    write(2);
    assert!(stage.received().is_empty(), "they wait");
    endpoint.unmatch_reader(clock::now(), SOCKET, &mut Outbox::new());
    write(3);
    assert_eq!(stage.received(), [[1, 2]]);
    write(4);
    let mut prices = Vec::new();
    let all_came = until(Duration::ZERO, &mut || {
        prices.extend(reader.take().data().map(|tick| tick.price));
        prices.len() == 4
    });
    assert!(all_came, "{prices:?}");
    assert_eq!(prices, [1, 2, 3, 4]);
}
