//! Floods: a hundred thousand fake participants, endpoints, fragments and jumps. What they make us
//! keep and send is bounded, all that is refused is counted, and honest peers still get through.

#[path = "suite/common/mod.rs"]
mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::net::Ipv4Addr;

use common::group::in_set;
use common::reader_config;
use common::script::{ReaderScript, Said, WHERE};
use tickwire_base::{Duration, Instant, Locator};
use tickwire_rtps::Outbox;
use tickwire_rtps::discovery::{
    Discovery, DiscoveryConfig, DiscoveryLimits, EndpointData, Event, ParticipantData, Role,
};
use tickwire_rtps::reader::{ReaderConfig, ReaderLimits, WriterProxy};
use tickwire_rtps::wire::{
    Context, Data, DataFrag, EntityId, Gap, Guid, GuidPrefix, InlineQos, MessageReader,
    MessageWriter, SequenceNumber, SequenceNumberSet, SerializedPayload,
};

/// Counts the bytes that the thread that asks holds.
struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // Threads that are ending have no count any more.
    let _ = LIVE.try_with(|live| live.set(live.get() + bytes));
}

#[allow(unsafe_code)]
// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn live() -> isize {
    LIVE.with(Cell::get)
}

const FLOOD: u32 = 100_000;
const GROUP: Locator = Locator::udp_v4(Ipv4Addr::new(239, 255, 0, 1), 7400);
const SECOND: Duration = Duration::from_secs(1);

fn at(port: u16) -> Locator {
    Locator::udp_v4(Ipv4Addr::LOCALHOST, port)
}

fn participant(prefix: GuidPrefix, port: u16) -> ParticipantData {
    let mut data = ParticipantData::new(prefix);
    data.domain_id = Some(0);
    data.metatraffic_unicast = vec![at(port)];
    data.default_unicast = vec![at(port + 1)];
    data
}

/// One of a hundred thousand.
fn fake(number: u32) -> GuidPrefix {
    let mut prefix = GuidPrefix([0xee; 12]);
    prefix.0[8..].copy_from_slice(&number.to_be_bytes());
    prefix
}

/// DATA of a built-in writer, to everybody or to one participant.
fn built_in(
    from: GuidPrefix,
    to: GuidPrefix,
    writer: EntityId,
    number: i64,
    payload: &[u8],
) -> Vec<u8> {
    let mut datagram = Vec::new();
    MessageWriter::new(&mut datagram, from)
        .info_dst(to)
        .data(&Data {
            reader: EntityId::UNKNOWN,
            writer,
            sequence_number: SequenceNumber(number),
            inline_qos: InlineQos::default(),
            payload: SerializedPayload::Data(payload),
        });
    datagram
}

fn announcement(data: &ParticipantData, to: GuidPrefix) -> Vec<u8> {
    let mut payload = Vec::new();
    data.write(&mut payload).expect("short names");
    built_in(data.guid_prefix, to, EntityId::SPDP_WRITER, 1, &payload)
}

/// A participant of ours, on a network that only it and who speaks to it are on.
struct Node {
    now: Instant,
    discovery: Discovery,
    outbox: Outbox,
    matches: usize,
    /// Bytes sent, counted for each address.
    sent: usize,
    received: usize,
}

impl Node {
    fn new(id: u8, limits: DiscoveryLimits) -> Self {
        let data = participant(GuidPrefix([id; 12]), 7000 + 10 * u16::from(id));
        let mut config = DiscoveryConfig::new(data);
        config.announce_to = vec![GROUP];
        config.limits = limits;
        Self {
            now: Instant::from_nanos(1),
            discovery: Discovery::new(config).expect("short names"),
            outbox: Outbox::new(),
            matches: 0,
            sent: 0,
            received: 0,
        }
    }

    fn prefix(&self) -> GuidPrefix {
        self.discovery.participant().guid_prefix
    }

    fn add(&mut self, role: Role) {
        let entity = match role {
            Role::Writer => EntityId::user_writer(1, true),
            Role::Reader => EntityId::user_reader(1, true),
        };
        let data = EndpointData::new(
            role,
            Guid::new(self.prefix(), entity),
            "Quote".into(),
            "T".into(),
        );
        let added = self.discovery.add(self.now, data, &mut self.outbox);
        added.expect("its own endpoint");
    }

    /// What it says, to be handed to others.
    fn said(&mut self) -> Vec<Vec<u8>> {
        while let Some(event) = self.discovery.poll_event() {
            let is_match = matches!(
                event,
                Event::ReaderMatched { .. } | Event::WriterMatched { .. }
            );
            self.matches += usize::from(is_match);
        }
        let datagrams = self.outbox.datagrams();
        let datagrams = datagrams.map(|(bytes, to)| {
            // What goes to the group goes there anyway.
            let unicast = to.iter().filter(|to| !to.is_multicast()).count();
            self.sent += bytes.len() * unicast;
            bytes.to_vec()
        });
        let said = datagrams.collect();
        self.outbox.clear();
        said
    }

    fn hear(&mut self, datagram: &[u8]) {
        self.received += datagram.len();
        for item in MessageReader::new(datagram).expect("a header") {
            let (context, submessage) = item.expect("well-formed submessages");
            let outbox = &mut self.outbox;
            self.discovery
                .handle(self.now, &context, &submessage, outbox);
        }
    }

    fn tick(&mut self, now: Instant) {
        self.now = now;
        while self.discovery.poll_timeout().is_some_and(|at| at <= now) {
            self.discovery.handle_timeout(now, &mut self.outbox);
        }
    }
}

/// Two nodes talk for a while.
fn talk(one: &mut Node, other: &mut Node, duration: Duration) {
    let start = one.now;
    other.now = start;
    let step = Duration::from_millis(10);
    while one.now < start + duration {
        let now = one.now + step;
        one.tick(now);
        other.tick(now);
        loop {
            let (said, answered) = (one.said(), other.said());
            said.iter().for_each(|datagram| other.hear(datagram));
            answered.iter().for_each(|datagram| one.hear(datagram));
            if said.is_empty() && answered.is_empty() {
                break;
            }
        }
    }
}

fn small_limits() -> DiscoveryLimits {
    let mut limits = DiscoveryLimits::default();
    limits.max_participants = 100;
    limits.max_endpoints_per_participant = 1_000;
    limits.max_endpoints = 2_000;
    limits.max_bytes = 4 << 20;
    limits.max_bytes_per_participant = 2 << 20;
    limits
}

#[test]
fn fake_participants_are_capped_and_honest_ones_are_found() {
    let mut node = Node::new(1, small_limits());
    node.add(Role::Writer);
    let before = live();
    for number in 0..FLOOD {
        let forged = announcement(&participant(fake(number), 9), GuidPrefix::UNKNOWN);
        node.hear(&forged);
        node.said();
        if number % 1_000 == 0 {
            let now = node.now + Duration::from_millis(5);
            node.tick(now);
        }
        if number % 10_000 == 0 {
            let kept = live() - before;
            assert!(kept < 1 << 20, "{kept} bytes after {number}");
        }
    }
    // They stay as long as they said, and are not talked to any more.
    for _ in 0..60 {
        let now = node.now + SECOND;
        node.tick(now);
        node.said();
    }
    let (sent, received) = (node.sent, node.received);
    assert!(sent <= 10 * received, "{sent} bytes for {received}");
    let counters = node.discovery.counters();
    assert_eq!(counters.announcements_received, FLOOD.into());
    assert!(counters.participants_displaced >= u64::from(FLOOD) - 200);

    // While the table is full of fakes, an honest peer is found.
    for number in 0..100 {
        let forged = announcement(&participant(fake(FLOOD + number), 9), GuidPrefix::UNKNOWN);
        node.hear(&forged);
    }
    let mut honest = Node::new(2, DiscoveryLimits::default());
    honest.add(Role::Reader);
    talk(&mut node, &mut honest, SECOND);
    assert_eq!((node.matches, honest.matches), (1, 1));
}

#[test]
fn honest_participants_do_not_make_way_for_fakes() {
    let mut node = Node::new(1, small_limits());
    node.add(Role::Writer);
    let mut honest = Node::new(2, DiscoveryLimits::default());
    honest.add(Role::Reader);
    talk(&mut node, &mut honest, SECOND);
    assert_eq!(node.matches, 1);
    for number in 0..10_000 {
        node.hear(&announcement(
            &participant(fake(number), 9),
            GuidPrefix::UNKNOWN,
        ));
        node.said();
    }
    let mut known = node.discovery.participants();
    assert!(known.any(|known| known.guid_prefix == honest.prefix()));
}

#[test]
fn an_address_that_nobody_vouches_for_gets_ten_bytes_for_one() {
    for locators in [1, 4, 16] {
        let mut node = Node::new(1, DiscoveryLimits::default());
        for key in 1..100 {
            let guid = Guid::new(node.prefix(), EntityId::user_writer(key, true));
            let data = EndpointData::new(Role::Writer, guid, "Quote".into(), "T".into());
            let added = node.discovery.add(node.now, data, &mut node.outbox);
            added.expect("its own endpoint");
        }
        let mut forged = participant(fake(1), 9);
        forged.lease_duration = Duration::MAX;
        forged.metatraffic_unicast = (0..locators).map(|n| at(9 + n)).collect();
        let datagram = announcement(&forged, GuidPrefix::UNKNOWN);
        for _ in 0..3 {
            node.hear(&datagram);
            for _ in 0..600 {
                let now = node.now + SECOND;
                node.tick(now);
                node.said();
            }
        }
        let (sent, received) = (node.sent, node.received);
        assert!(0 < sent && sent <= 10 * received, "{sent} for {received}");
    }
}

/// A participant that knows the node, as far as the node can tell.
fn intrude(node: &mut Node, number: u32) -> GuidPrefix {
    let mut data = participant(fake(number), 9);
    data.builtin_endpoints = node.discovery.participant().builtin_endpoints;
    node.hear(&announcement(&data, node.prefix()));
    node.said();
    data.guid_prefix
}

#[test]
fn fake_endpoints_are_capped_and_honest_ones_are_matched() {
    let mut node = Node::new(1, small_limits());
    node.add(Role::Writer);
    let before = live();
    let to = node.prefix();
    for intruder in 0..10 {
        let from = intrude(&mut node, intruder);
        for number in 1..=i64::from(FLOOD / 10) {
            let key = u32::try_from(number).expect("a small number");
            let guid = Guid::new(from, EntityId::user_reader(key, true));
            let data = EndpointData::new(Role::Reader, guid, "Quote".into(), "T".into());
            let mut payload = Vec::new();
            data.write(&mut payload).expect("short names");
            let writer = EntityId::SUBSCRIPTIONS_WRITER;
            node.hear(&built_in(from, to, writer, number, &payload));
            node.said();
        }
    }
    let kept = live() - before;
    assert!(kept < 8 << 20, "{kept} bytes");
    assert_eq!(node.discovery.endpoints().count(), 2_000 + 1);
    let counters = node.discovery.counters();
    assert_eq!(counters.endpoints_refused, u64::from(FLOOD) - 2_000);
    // When the intruders are gone, so is all that was theirs.
    let now = node.now + SECOND * 200;
    node.tick(now);
    node.said();
    assert_eq!(node.discovery.endpoints().count(), 1);
    node.matches = 0;
    let mut honest = Node::new(2, DiscoveryLimits::default());
    honest.add(Role::Reader);
    talk(&mut node, &mut honest, SECOND);
    assert_eq!((node.matches, honest.matches), (1, 1));
}

#[test]
fn one_announcement_takes_bounded_memory() {
    let mut limits = small_limits();
    limits.max_announcement_bytes = 20_000;
    let mut node = Node::new(1, limits);
    let mut heavy = participant(fake(1), 9);
    heavy.user_data = vec![7; 30_000];
    node.hear(&announcement(&heavy, GuidPrefix::UNKNOWN));
    assert_eq!(node.discovery.counters().participants_refused, 1);
    heavy.user_data.clear();
    let property = |n: u32| (format!("property {n}"), "value".repeat(20));
    heavy.properties = (0..150).map(property).collect();
    node.hear(&announcement(&heavy, GuidPrefix::UNKNOWN));
    assert_eq!(node.discovery.counters().participants_refused, 2);
    heavy.properties.truncate(10);
    node.hear(&announcement(&heavy, GuidPrefix::UNKNOWN));
    assert_eq!(node.discovery.participants().count(), 1);
    // It cannot grow beyond it either.
    heavy.user_data = vec![7; 30_000];
    node.hear(&announcement(&heavy, GuidPrefix::UNKNOWN));
    assert_eq!(node.discovery.counters().participants_refused, 3);
}

fn writer(number: u32) -> Guid {
    Guid::new(fake(number), EntityId::user_writer(1, true))
}

/// A reader that is matched with so many writers beside the script's own.
fn matched(config: ReaderConfig, writers: u32) -> ReaderScript {
    let mut script = ReaderScript::new(config);
    script.match_writer(true, false);
    for number in 0..writers {
        script.match_proxy(WriterProxy {
            guid: writer(number),
            reliable: true,
            speaks_first: false,
            skip_history: false,
            unicast: vec![WHERE],
        });
    }
    script
}

/// Says something in the name of a writer.
fn say(script: &mut ReaderScript, from: Guid, say: impl FnOnce(&mut ReaderScript, &Context<'_>)) {
    let mut bytes = Vec::new();
    MessageWriter::new(&mut bytes, from.prefix);
    say(
        script,
        MessageReader::new(&bytes).expect("a header").context(),
    );
}

#[test]
fn fragments_of_all_writers_take_bounded_memory() {
    let mut limits = ReaderLimits::default();
    limits.max_partial = 200;
    limits.max_partial_bytes = 2 << 20;
    let config = ReaderConfig {
        limits,
        ..reader_config()
    };
    let mut script = matched(config, 100);
    let before = live();
    for number in 0..FLOOD {
        let from = writer(number % 100);
        say(&mut script, from, |script, context| {
            let data = DataFrag {
                reader: EntityId::UNKNOWN,
                writer: from.entity,
                sequence_number: SequenceNumber(1 + i64::from(number / 100)),
                fragment_start: 1,
                fragment_count: 1,
                fragment_size: 1_000,
                sample_size: 60_000,
                inline_qos: InlineQos::default(),
                is_key: false,
                payload: &[1; 1_000],
            };
            let (now, cache) = (script.now, &mut script.cache);
            script.reader.handle_data_frag(now, context, &data, cache);
        });
        let kept = live() - before;
        assert!(kept < 3 << 20, "{kept} bytes");
    }
    assert!(script.reader.counters().partial_dropped > u64::from(FLOOD) - 200);
    // A sample that goes whole needs no room, and fragments have it again when the others are old.
    script.data(1);
    assert_eq!(script.cache.numbers(), [1]);
    script.wait(Duration::from_secs(11));
    script.data_frag(2, 1, 2, 16);
    script.data_frag(2, 3, 2, 16);
    assert_eq!(script.cache.numbers(), [1, 2]);
}

#[test]
fn early_samples_of_all_writers_take_bounded_memory() {
    let mut limits = ReaderLimits::default();
    limits.max_held = 500;
    let config = ReaderConfig {
        limits,
        ..reader_config()
    };
    let mut script = matched(config, 100);
    let before = live();
    for number in 0..FLOOD {
        let from = writer(number % 100);
        say(&mut script, from, |script, context| {
            let data = Data {
                reader: EntityId::UNKNOWN,
                writer: from.entity,
                sequence_number: SequenceNumber(2 + i64::from(number / 100)),
                inline_qos: InlineQos::default(),
                payload: SerializedPayload::Data(&[1; 1_000]),
            };
            let (now, cache) = (script.now, &mut script.cache);
            script.reader.handle_data(now, context, &data, cache);
        });
    }
    let kept = live() - before;
    assert!(kept < 2 << 20, "{kept} bytes");
    let counters = script.reader.counters();
    assert_eq!(counters.held, 500);
    assert_eq!(counters.held + counters.dropped, FLOOD.into());
    script.data(1);
    assert_eq!(script.cache.numbers(), [1]);
}

/// A sample of a megabyte before its turn, whole or in fragments, from each of a hundred writers.
fn large_and_early(script: &mut ReaderScript, in_fragments: bool) {
    const LEN: usize = 1 << 20;
    let payload = vec![1; LEN];
    for number in 0..100 {
        let from = writer(number);
        say(script, from, |script, context| {
            let (now, cache) = (script.now, &mut script.cache);
            let data = Data {
                reader: EntityId::UNKNOWN,
                writer: from.entity,
                sequence_number: SequenceNumber(2),
                inline_qos: InlineQos::default(),
                payload: SerializedPayload::Data(&payload),
            };
            if !in_fragments {
                return script.reader.handle_data(now, context, &data, cache);
            }
            for (fragment_start, payload) in (1..).zip(payload.chunks(1 << 15)) {
                let data = DataFrag {
                    reader: EntityId::UNKNOWN,
                    writer: from.entity,
                    sequence_number: SequenceNumber(2),
                    fragment_start,
                    fragment_count: 1,
                    fragment_size: 1 << 15,
                    sample_size: LEN as u32,
                    inline_qos: InlineQos::default(),
                    is_key: false,
                    payload,
                };
                script.reader.handle_data_frag(now, context, &data, cache);
            }
        });
    }
}

#[test]
fn large_early_samples_of_all_writers_take_bounded_memory() {
    for in_fragments in [false, true] {
        let mut limits = ReaderLimits::default();
        limits.max_held_bytes = 4 << 20;
        let config = ReaderConfig {
            limits,
            ..reader_config()
        };
        let mut script = matched(config, 100);
        let before = live();
        large_and_early(&mut script, in_fragments);
        let kept = live() - before;
        assert!(kept < 6 << 20, "{kept} bytes");
        let counters = script.reader.counters();
        assert_eq!((counters.held, counters.dropped), (4, 96));
        script.data(1);
        assert_eq!(script.cache.numbers(), [1]);
    }
}

#[test]
fn one_sample_is_held_whatever_its_size() {
    let mut limits = ReaderLimits::default();
    limits.max_held_bytes = 1_000;
    let config = ReaderConfig {
        limits,
        max_held_len: 1_000,
        ..reader_config()
    };
    let mut script = matched(config, 100);
    large_and_early(&mut script, true);
    let counters = script.reader.counters();
    assert_eq!((counters.held, counters.dropped), (1, 99));
}

#[test]
fn gaps_of_all_writers_take_bounded_memory() {
    let mut limits = ReaderLimits::default();
    limits.max_held = 500;
    let config = ReaderConfig {
        limits,
        ..reader_config()
    };
    let mut script = matched(config, 100);
    let before = live();
    for number in 0..100 {
        let from = writer(number);
        for start in (2..10_000).step_by(300) {
            let mut list = SequenceNumberSet::empty(SequenceNumber(start + 1));
            (3..256).step_by(2).for_each(|further| {
                assert!(list.insert(SequenceNumber(start + further)));
            });
            let gap = Gap {
                reader: EntityId::UNKNOWN,
                writer: from.entity,
                start: SequenceNumber(start),
                list,
            };
            say(&mut script, from, |script, context| {
                script.reader.handle_gap(context, &gap, &mut script.cache);
            });
        }
    }
    let kept = live() - before;
    assert!(kept < 1 << 20, "{kept} bytes");
    // What is next is always passed over, and who has gone makes room.
    script.gap(1, 9, &[]);
    script.data(9);
    assert_eq!(script.cache.numbers(), [9]);
    for number in 0..100 {
        let gone = script
            .reader
            .unmatch_writer(writer(number), &mut script.cache);
        assert!(gone);
    }
    script.gap(11, 12, &[13]);
    let said = script.heartbeat(9, 14, false);
    assert_eq!(said, [Said::AckNack(10, vec![10, 12, 14], true)]);
}

#[test]
fn sets_that_do_not_end_take_bounded_memory() {
    let mut limits = ReaderLimits::default();
    limits.max_set_bytes = 4 << 20;
    for max_set in [300, usize::MAX] {
        limits.max_set = max_set;
        let config = ReaderConfig {
            coherent: true,
            limits: limits.clone(),
            ..reader_config()
        };
        let mut script = matched(config, 100);
        let (in_set, payload) = (in_set(1, 0), [1; 10_000]);
        let before = live();
        script.data_with_qos(1, &in_set);
        for number in 0..FLOOD / 10 {
            let from = writer(number % 100);
            say(&mut script, from, |script, context| {
                let data = Data {
                    reader: EntityId::UNKNOWN,
                    writer: from.entity,
                    sequence_number: SequenceNumber(1 + i64::from(number / 100)),
                    inline_qos: InlineQos {
                        bytes: &in_set,
                        little_endian: true,
                    },
                    payload: SerializedPayload::Data(&payload),
                };
                let (now, cache) = (script.now, &mut script.cache);
                script.reader.handle_data(now, context, &data, cache);
            });
            let kept = live() - before;
            assert!(kept < 10 << 20, "{kept} bytes after {number}");
        }
        // The largest sets made way, so that an honest one is still whole.
        script.data_with_qos(2, &in_set);
        script.data(3);
        assert_eq!(script.cache.sets, [2]);
        assert_eq!(script.cache.numbers(), [1, 2, 3]);
    }
}

#[test]
fn claims_to_speak_for_all_writers_take_bounded_memory() {
    let config = ReaderConfig {
        originals: true,
        ..reader_config()
    };
    let mut script = matched(config, 100);
    script.heartbeat(1, 0, true);
    let before = live();
    for number in 1..=2 * FLOOD {
        let mut claim = Vec::from([0x61, 0, 24, 0]);
        claim.extend(writer(number % 100).to_bytes());
        claim.extend([0; 4]);
        claim.extend((2 * number).to_le_bytes());
        claim.extend([1, 0, 0, 0]);
        script.data_with_qos(number.into(), &claim);
        script.cache.samples.clear();
    }
    let kept = live() - before;
    assert!(kept < 4 << 20, "{kept} bytes");
    let forgotten = u64::from(2 * FLOOD) - (1 << 16);
    assert_eq!(script.reader.counters().forgotten, forgotten);
}

#[test]
fn jumps_are_not_believed_before_they_are_confirmed() {
    let mut script = matched(reader_config(), 0);
    script.heartbeat(1, 2, true);
    script.data(1);
    script.data(2);
    let far = 1_i64 << 40;
    for number in 0..i64::from(FLOOD) {
        // Each jumps elsewhere, and what is true comes in between.
        let to = far + number * (far >> 10);
        match number % 3 {
            0 => script.data(to),
            1 => script.heartbeat(to, to, true),
            _ => script.gap(3, to, &[]),
        };
        script.heartbeat(1, 2, true);
    }
    assert_eq!(script.reader.counters().jumps, FLOOD.into());
    assert_eq!((script.reader.counters().lost, script.cache.lost), (0, 0));
    script.data(3);
    assert_eq!(script.cache.numbers(), [1, 2, 3]);
    // A writer that says so twice is there.
    script.heartbeat(far, far, true);
    script.heartbeat(far, far + 1, true);
    script.data(far);
    assert_eq!(script.cache.numbers(), [1, 2, 3, far]);
}

#[test]
fn what_was_delivered_before_a_first_heartbeat_is_not_delivered_again() {
    let mut script = matched(reader_config(), 0);
    (1..=3).for_each(|number| {
        script.data(number);
    });
    script.data(1 << 40);
    // It says less than it has sent.
    script.heartbeat(1, 1, true);
    (1..=4).for_each(|number| {
        script.data(number);
    });
    assert_eq!(script.cache.numbers(), [1, 2, 3, 4]);
}
