//! Participants that have TCP, alone or beside UDP.
//!
//! Where a process is needed it is this test binary again, told by its environment what to do.

use std::env;
use std::io::{BufRead, BufReader, Lines};
use std::net::TcpListener;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::common::{PATIENCE, Quote, builder, quote};
use tickwire::error::ParticipantError;
use tickwire::{
    DataReader, DataReaderQos, DataWriter, DataWriterQos, DomainParticipant,
    DomainParticipantBuilder, Driving, TcpListen, Topic, Transport,
};

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Blob", final)]
struct Blob {
    bytes: Vec<u8>,
}

/// A port that nobody listens at.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("it has one").port()
}

fn by_tcp(domain: u32) -> DomainParticipantBuilder {
    builder(domain).transports([Transport::Tcp])
}

fn at(builder: DomainParticipantBuilder, port: u16) -> DomainParticipant {
    let builder = builder.tcp_listen(TcpListen::Port(port));
    builder.build().expect("a participant")
}

/// Can connect, and cannot be connected to.
fn inside(builder: DomainParticipantBuilder, to: u16) -> DomainParticipant {
    let builder = builder.tcp_listen(TcpListen::Off);
    let builder = builder.peer_named(&format!("tcp/127.0.0.1:{to}"));
    builder.build().expect("a participant")
}

fn writer<T: tickwire::TopicSupport<Type = ()>>(
    participant: &DomainParticipant,
    topic: &str,
) -> DataWriter<T> {
    let topic = participant.topic::<T>(topic).expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    participant.writer_with(&topic, qos).expect("a writer")
}

fn reader<T: tickwire::TopicSupport<Type = ()>>(
    participant: &DomainParticipant,
    topic: &str,
) -> DataReader<T> {
    let topic = participant.topic::<T>(topic).expect("a topic");
    let qos = DataReaderQos::default().reliable().keep_all();
    participant.reader_with(&topic, qos).expect("a reader")
}

/// Sends samples small and large one way.
fn exchange(from: &DomainParticipant, to: &DomainParticipant, topic: &str) {
    let (writer, reader) = (writer::<Blob>(from, topic), reader::<Blob>(to, topic));
    writer.wait_for_matched(1, PATIENCE).expect("a match");
    reader.wait_for_matched(1, PATIENCE).expect("a match");
    for len in [10, 1_000, 100_000, 10_000_000] {
        let bytes: Vec<_> = (0_u32..len).map(|n| n.to_le_bytes()[1]).collect();
        let sample = Blob { bytes };
        writer.write(&sample).expect("room");
        reader.wait_for_data(PATIENCE).expect("a sample");
        assert!(reader.take().data().eq([&sample]), "{len}");
    }
    let small = Blob { bytes: vec![1; 64] };
    for _ in 0..2_000 {
        writer.write(&small).expect("room");
    }
    let mut came = 0;
    while came < 2_000 {
        reader.wait_for_data(PATIENCE).expect("more samples");
        came += reader.take().data().count();
    }
}

#[test]
fn one_side_that_can_connect_is_enough_for_both_ways() {
    let port = free_port();
    let outside = at(by_tcp(190), port);
    let inside = inside(by_tcp(190), port);
    exchange(&inside, &outside, "Out");
    exchange(&outside, &inside, "In");
    for participant in [&inside, &outside] {
        let counts = participant.counters().tcp;
        assert_eq!(counts.connections, 2);
    }
}

#[test]
fn participants_that_connect_to_each_other_at_once_have_one_pair_of_connections() {
    let ports = [free_port(), free_port()];
    let both = [0, 1].map(|index: usize| {
        let peer = format!("tcp/127.0.0.1:{}", ports[1 - index]);
        at(by_tcp(191).peer_named(&peer), ports[index])
    });
    exchange(&both[0], &both[1], "One");
    exchange(&both[1], &both[0], "Two");
    let two_each = || {
        let is_two = |one: &DomainParticipant| one.counters().tcp.connections == 2;
        both.iter().all(is_two).then_some(())
    };
    let view = both[0].discovery();
    view.wait_for(PATIENCE, two_each)
        .expect("one pair of connections");
}

#[test]
fn on_one_machine_they_find_each_other_without_being_told() {
    let all: Vec<_> = (0..3)
        .map(|_| by_tcp(192).build().expect("a participant"))
        .collect();
    for (index, one) in all.iter().enumerate() {
        let other = &all[(index + 1) % 3];
        let topic = format!("Quotes{index}");
        let (writer, reader) = (writer::<Quote>(one, &topic), reader::<Quote>(other, &topic));
        writer.wait_for_matched(1, PATIENCE).expect("a match");
        writer.write(&quote("A", 1)).expect("room");
        reader.wait_for_data(PATIENCE).expect("a sample");
    }
}

#[test]
fn endpoints_of_one_participant_reach_each_other() {
    for listen in [TcpListen::Auto, TcpListen::Off] {
        let alone = by_tcp(199).tcp_listen(listen).peer_named("tcp/127.0.0.1:1");
        let alone = alone.build().expect("a participant");
        exchange(&alone, &alone, "Own");
        let counts = alone.counters().tcp;
        assert_eq!(counts.connections, 0);
    }
}

/// A listener that answers to its own participant goes through the same thread that it runs on, so that all
/// answers must find room before any is acknowledged: 500 of less than 300 bytes take less than the 256 KiB
/// that a writer begins with.
#[test]
fn a_listener_writes_to_its_own_participant() {
    let alone = at(by_tcp(198), free_port());
    let (asks, asked) = (writer::<Quote>(&alone, "Q"), reader::<Quote>(&alone, "Q"));
    let (answers, answered) = (writer::<Quote>(&alone, "A"), reader::<Quote>(&alone, "A"));
    asked.set_listener(move |asked: &DataReader<Quote>| {
        for quote in asked.take().data() {
            answers.write(quote).expect("room");
        }
    });
    asks.wait_for_matched(1, PATIENCE).expect("a match");
    answered.wait_for_matched(1, PATIENCE).expect("a match");
    for number in 0..500 {
        asks.write(&quote("AAPL", number)).expect("room");
    }
    let mut came = 0;
    while came < 500 {
        answered.wait_for_data(PATIENCE).expect("an answer");
        came += answered.take().data().count();
    }
}

#[test]
fn who_has_udp_is_reached_by_it_and_who_has_not_by_tcp() {
    let port = free_port();
    let both = at(
        builder(193).transports([Transport::Multicast, Transport::Tcp]),
        port,
    );
    let by_udp = builder(193).build().expect("a participant");
    let by_tcp = inside(by_tcp(193), port);
    exchange(&both, &by_udp, "ToUdp");
    exchange(&both, &by_tcp, "ToTcp");
    exchange(&by_tcp, &both, "FromTcp");
    let counts = both.counters().tcp;
    assert_eq!(counts.connections, 2);

    let second = builder(193).transports([Transport::Udp, Transport::Tcp]);
    let second = at(second, free_port());
    exchange(&both, &second, "ToBoth");
    assert_eq!(second.counters().tcp.opened, 0, "UDP is enough");
}

#[test]
fn an_application_that_drives_its_participant_has_tcp_too() {
    let port = free_port();
    let outside = at(by_tcp(194), port);
    let polled = inside(by_tcp(194).driving(Driving::Polled), port);
    let (to, back) = (
        reader::<Blob>(&outside, "There"),
        writer::<Blob>(&outside, "Back"),
    );
    to.set_listener(move |to: &DataReader<Blob>| {
        for sample in to.take().data() {
            back.write(sample).expect("room");
        }
    });
    let (there, answers) = (
        writer::<Blob>(&polled, "There"),
        reader::<Blob>(&polled, "Back"),
    );
    there.wait_for_matched(1, PATIENCE).expect("a match");
    answers.wait_for_matched(1, PATIENCE).expect("a match");
    for len in [10, 1_000_000] {
        let sample = Blob {
            bytes: vec![7; len],
        };
        there.write(&sample).expect("room");
        answers.wait_for_data(PATIENCE).expect("an answer");
        assert!(answers.take().data().eq([&sample]));
    }
}

/// The listener waits in writes most of the time. If it kept acknowledgements from being taken, they would
/// end with a time-out.
#[test]
fn a_listener_that_waits_in_a_write_does_not_keep_acknowledgements_away() {
    for hands_out in [false, true] {
        echo_through_little_room(hands_out);
    }
}

/// The reader hands out what it hears, or tells a listener.
fn echo_through_little_room(hands_out: bool) {
    let port = free_port();
    let one = at(by_tcp(195), port);
    let two = inside(by_tcp(195), port);
    let topic = two.topic::<Blob>("Echo").expect("a topic");
    let qos = DataWriterQos::default().reliable(PATIENCE).keep_all();
    let echo = two
        .writer_with(&topic, qos.max_unacknowledged_bytes(3_000))
        .expect("a writer");
    let ping = reader::<Blob>(&two, "Ping");
    let failed = Arc::new(AtomicU64::new(0));
    let failing = Arc::clone(&failed);
    let answer = move |sample: &Blob| {
        let written = echo.write(sample);
        failing.fetch_add(u64::from(written.is_err()), Ordering::Relaxed);
    };
    match hands_out {
        true => ping.take_each(move |sample| sample.data().into_iter().for_each(&answer)),
        false => ping.set_listener(move |ping: &DataReader<Blob>| {
            ping.take().data().for_each(&answer);
        }),
    }
    let (pings, echoes) = (writer::<Blob>(&one, "Ping"), reader::<Blob>(&one, "Echo"));
    pings.wait_for_matched(1, PATIENCE).expect("a match");
    echoes.wait_for_matched(1, PATIENCE).expect("a match");
    let mut came = 0;
    for _ in 0..300 {
        pings
            .write(&Blob {
                bytes: vec![3; 1_000],
            })
            .expect("room");
    }
    while came < 300 {
        echoes.wait_for_data(PATIENCE).expect("more samples");
        came += echoes.take().data().count();
    }
    assert_eq!(failed.load(Ordering::Relaxed), 0);
}

#[test]
fn what_reaches_nobody_is_refused_with_what_to_do() {
    let refused = |builder: DomainParticipantBuilder| match builder.build() {
        Err(error @ ParticipantError::Transports { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let alone = refused(by_tcp(196).tcp_listen(TcpListen::Off));
    assert!(
        alone.starts_with("with tcp alone and nowhere to listen"),
        "{alone}"
    );
    let rendezvous = refused(by_tcp(196).rendezvous("127.0.0.1:7399"));
    assert!(
        rendezvous.contains("add `udp` to the transports"),
        "{rendezvous}"
    );
    let peer = refused(builder(196).peer_named("tcp/127.0.0.1"));
    assert!(peer.contains("add `tcp` to the transports"), "{peer}");
    assert!(refused(builder(196).transports([])).contains("needs a transport"));
    let holder = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = holder.local_addr().expect("it has one").port();
    let taken = by_tcp(196).tcp_listen(TcpListen::Port(port)).build();
    let taken = taken.expect_err("it is taken").to_string();
    assert!(taken.contains("ss -tlnp"), "{taken}");
}

const ECHO: &str = "TICKWIRE_TEST_ECHO_AT";

/// Not a test by itself: the process of the next one.
#[test]
fn echoing_process() {
    let Ok(port) = env::var(ECHO) else {
        return;
    };
    let (port, tag) = port.split_once(' ').expect("a port and a tag");
    let participant = at(
        by_tcp(197).domain_tag(tag).lease_duration(LEASE),
        port.parse().expect("a port"),
    );
    let (ping, echo) = (
        reader::<Quote>(&participant, "Ping"),
        writer::<Quote>(&participant, "Echo"),
    );
    println!("ready");
    while let Ok(()) = ping.wait_for_data(PATIENCE) {
        for sample in ping.take().data() {
            echo.write(sample).expect("room");
        }
    }
}

const LEASE: Duration = Duration::from_secs(2);

/// A process that echoes until it is killed.
struct Echoing {
    child: Child,
    /// Who closes it would end the process.
    _stdout: Lines<BufReader<ChildStdout>>,
}

impl Echoing {
    fn start(port: u16) -> Self {
        let mut child = Command::new(env::current_exe().expect("it runs"))
            .args(["--exact", "tcp::echoing_process", "--nocapture"])
            .env(ECHO, format!("{port} {}", std::process::id()))
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let is_ready = |line: &String| line.ends_with("ready");
        let ready = lines.by_ref().map_while(Result::ok).find(is_ready);
        assert!(ready.is_some());
        Self {
            child,
            _stdout: lines,
        }
    }
}

impl Drop for Echoing {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_process_that_is_killed_and_starts_again_is_connected_to_again() {
    let port = free_port();
    let participant = inside(by_tcp(197).lease_duration(LEASE), port);
    let (ping, echo) = (
        writer::<Quote>(&participant, "Ping"),
        reader::<Quote>(&participant, "Echo"),
    );
    let mut known = Vec::new();
    for round in 0..3 {
        // It ends by `kill -9`, and its successor is another participant.
        let _echoing = Echoing::start(port);
        let is_new = || {
            let all = participant.discovery().participants();
            let names: Vec<_> = all.iter().map(|one| one.guid_prefix).collect();
            matches!(names.as_slice(), [name] if !known.contains(name)).then_some(names)
        };
        let view = participant.discovery();
        let only = view.wait_for(PATIENCE, is_new).expect("only the new one");
        known.extend(only);
        ping.wait_for_matched(1, PATIENCE).expect("a match");
        echo.wait_for_matched(1, PATIENCE).expect("a match");
        ping.write(&quote("A", round)).expect("room");
        // That the writer before it is gone is told by a sample without data.
        let mut echoes = Vec::new();
        while echoes.is_empty() {
            echo.wait_for_data(PATIENCE).expect("an echo");
            echoes.extend(echo.take().data().cloned());
        }
        assert_eq!(echoes, [quote("A", round)]);
    }
    assert!(participant.counters().tcp.opened >= 6);
}
