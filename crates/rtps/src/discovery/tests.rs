//! Several discoveries on a network of their own, in virtual time.

use alloc::collections::VecDeque;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::net::Ipv4Addr;

use proptest::prelude::*;
use tickwire_base::{Duration, Locator};

use super::*;
use crate::qos::{Durability, LivelinessKind, Mismatch, ReliabilityKind};
use crate::wire::{Data, InlineQos, MessageReader, SequenceNumber, SerializedPayload, StatusInfo};

const GROUP: Locator = Locator::udp_v4(Ipv4Addr::new(239, 255, 0, 1), 7400);
pub(super) const LEASE: Duration = Duration::from_secs(9);

fn metatraffic(id: u8) -> Locator {
    Locator::udp_v4(Ipv4Addr::LOCALHOST, 7410 + 2 * u16::from(id))
}

fn user(id: u8) -> Locator {
    Locator::udp_v4(Ipv4Addr::LOCALHOST, 7411 + 2 * u16::from(id))
}

pub(super) fn prefix(id: u8) -> GuidPrefix {
    GuidPrefix([id; 12])
}

pub(super) fn config(id: u8) -> DiscoveryConfig {
    let mut participant = ParticipantData::new(prefix(id));
    participant.domain_id = Some(0);
    participant.lease_duration = LEASE;
    participant.metatraffic_unicast = vec![metatraffic(id)];
    participant.metatraffic_multicast = vec![GROUP];
    participant.default_unicast = vec![user(id)];
    let mut config = DiscoveryConfig::new(participant);
    config.announce_to = vec![GROUP];
    config
}

pub(super) fn writer(id: u8, topic: &str) -> EndpointData {
    let guid = Guid::new(prefix(id), EntityId::user_writer(1, true));
    EndpointData::new(Role::Writer, guid, topic.to_string(), "T".to_string())
}

pub(super) fn reader(id: u8, topic: &str) -> EndpointData {
    let guid = Guid::new(prefix(id), EntityId::user_reader(2, true));
    EndpointData::new(Role::Reader, guid, topic.to_string(), "T".to_string())
}

pub(super) struct Node {
    pub(super) discovery: Discovery,
    pub(super) events: Vec<Event>,
}

/// Delivers at once what it does not lose.
pub(super) struct Net {
    pub(super) now: Instant,
    pub(super) nodes: Vec<Node>,
    /// Of 100 datagrams, so many are lost.
    pub(super) loss_percent: u64,
    /// Whether anybody hears what is sent to the group.
    group_works: bool,
    /// How often each one is delivered.
    copies: usize,
    pub(super) random: u64,
    /// Who is to receive what.
    queue: VecDeque<(usize, Vec<u8>)>,
}

impl Net {
    pub(super) fn new(configs: impl IntoIterator<Item = DiscoveryConfig>) -> Self {
        let mut net = Self {
            now: Instant::from_nanos(1),
            nodes: Vec::new(),
            loss_percent: 0,
            group_works: true,
            copies: 1,
            random: 1,
            queue: VecDeque::new(),
        };
        configs.into_iter().for_each(|config| net.join(config));
        net
    }

    pub(super) fn join(&mut self, config: DiscoveryConfig) {
        self.nodes.push(Node {
            discovery: Discovery::new(config).expect("short names"),
            events: Vec::new(),
        });
    }

    /// Calls one of the nodes, and the others until all is said.
    pub(super) fn call<R>(
        &mut self,
        index: usize,
        f: impl FnOnce(&mut Discovery, Instant, &mut Outbox) -> R,
    ) -> R {
        let result = self.call_one(index, f);
        self.settle();
        result
    }

    pub(super) fn settle(&mut self) {
        while let Some((index, datagram)) = self.queue.pop_front() {
            self.receive(index, &datagram);
        }
    }

    /// Calls one of the nodes and queues what it says.
    pub(super) fn call_one<R>(
        &mut self,
        index: usize,
        f: impl FnOnce(&mut Discovery, Instant, &mut Outbox) -> R,
    ) -> R {
        let mut outbox = Outbox::new();
        let node = &mut self.nodes[index];
        let result = f(&mut node.discovery, self.now, &mut outbox);
        node.events
            .extend(core::iter::from_fn(|| node.discovery.poll_event()));
        self.deliver(&outbox);
        result
    }

    pub(super) fn add(&mut self, index: usize, data: EndpointData) {
        self.call(index, |discovery, now, outbox| {
            discovery.add(now, data, outbox)
        })
        .expect("an endpoint of that node");
    }

    fn deliver(&mut self, outbox: &Outbox) {
        for (datagram, to) in outbox.datagrams() {
            for index in 0..self.nodes.len() {
                let data = &self.nodes[index].discovery.config.participant;
                let hears = (self.group_works && to.contains(&GROUP))
                    || to.contains(&data.metatraffic_unicast[0]);
                for _ in 0..self.copies {
                    if hears && !self.loses() {
                        self.queue.push_back((index, datagram.to_vec()));
                    }
                }
            }
        }
    }

    fn loses(&mut self) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % 100 < self.loss_percent
    }

    fn receive(&mut self, index: usize, datagram: &[u8]) {
        for item in MessageReader::new(datagram).expect("our own header") {
            let (context, submessage) = item.expect("our own submessages");
            self.call_one(index, |discovery, now, outbox| {
                discovery.handle(now, &context, &submessage, outbox);
            });
        }
    }

    /// Runs all timers that end within `duration`.
    pub(super) fn run(&mut self, duration: Duration) {
        let end = self.now + duration;
        let due = |(index, node): (usize, &Node)| Some((node.discovery.poll_timeout()?, index));
        while let Some((at, index)) = self.nodes.iter().enumerate().filter_map(due).min()
            && at <= end
        {
            self.now = self.now.max(at);
            self.call(index, Discovery::handle_timeout);
        }
        self.now = end;
    }

    /// Counts a node's events and forgets them.
    pub(super) fn count(
        &mut self,
        index: usize,
        mut is_meant: impl FnMut(&Event) -> bool,
    ) -> usize {
        let events = core::mem::take(&mut self.nodes[index].events);
        events.iter().filter(|event| is_meant(event)).count()
    }
}

pub(super) fn is_match(event: &Event) -> bool {
    matches!(
        event,
        Event::ReaderMatched { .. } | Event::WriterMatched { .. }
    )
}

fn is_unmatch(event: &Event) -> bool {
    matches!(
        event,
        Event::ReaderUnmatched { .. } | Event::WriterUnmatched { .. }
    )
}

/// Two nodes, a writer at the first and a reader at the second.
fn pair() -> Net {
    let mut net = Net::new([config(1), config(2)]);
    net.add(0, writer(1, "Quote"));
    net.add(1, reader(2, "Quote"));
    net
}

pub(super) const MOMENT: Duration = Duration::from_millis(50);

#[test]
fn a_writer_and_a_reader_of_one_topic_find_each_other() {
    let mut net = pair();
    let mut history = reader(2, "Quote");
    history.qos.durability = Durability::Volatile;
    history.qos.reliability.kind = ReliabilityKind::Reliable;
    net.add(1, history);
    net.run(MOMENT);
    let matched = net.nodes[0].events.iter().find_map(|event| match event {
        Event::ReaderMatched { writer, proxy, .. } => Some((*writer, proxy.clone())),
        _ => None,
    });
    let (local, proxy) = matched.expect("a match");
    assert_eq!(local, writer(1, "").guid);
    assert_eq!(proxy.guid, reader(2, "").guid);
    assert_eq!(proxy.unicast, [user(2)]);
    assert!(proxy.reliable && !proxy.wants_history);
    let matched = net.nodes[1].events.iter().find_map(|event| match event {
        Event::WriterMatched { proxy, .. } => Some(proxy.clone()),
        _ => None,
    });
    let proxy = matched.expect("a match");
    assert_eq!(proxy.guid, local);
    assert_eq!(proxy.unicast, [user(1)]);
    assert_eq!(net.count(0, is_match), 1);
    net.run(LEASE * 3);
    assert_eq!(net.count(0, |_| true), 0, "nothing changes any more");
    assert_eq!(net.nodes[0].discovery.endpoints().count(), 2);
}

#[test]
fn endpoints_that_come_and_go_later_are_matched_and_unmatched() {
    let mut net = Net::new([config(1), config(2)]);
    net.run(MOMENT);
    net.add(0, writer(1, "Quote"));
    net.add(1, reader(2, "Quote"));
    assert_eq!(net.count(0, is_match), 1);
    assert_eq!(net.count(1, is_match), 1);
    let removed = net.call(1, |discovery, now, outbox| {
        discovery.remove(now, reader(2, "").guid, outbox)
    });
    assert!(removed);
    assert_eq!(net.count(0, is_unmatch), 1);
    assert_eq!(net.count(1, is_unmatch), 1);
    let again = net.call(1, |discovery, now, outbox| {
        discovery.remove(now, reader(2, "").guid, outbox)
    });
    assert!(!again);
    net.join(config(3));
    net.add(2, reader(3, "Quote"));
    net.run(MOMENT);
    assert_eq!(net.count(0, is_match), 1);
    assert_eq!(net.nodes[2].discovery.endpoints().count(), 2);
}

#[test]
fn a_writer_and_a_reader_of_one_participant_match_without_a_network() {
    let mut net = Net::new([config(1)]);
    net.add(0, reader(1, "Quote"));
    net.add(0, writer(1, "Quote"));
    net.add(0, writer(1, "Quote"));
    assert_eq!(net.count(0, is_match), 2);
    net.call(0, |discovery, now, outbox| {
        discovery.remove(now, writer(1, "").guid, outbox)
    });
    assert_eq!(net.count(0, is_unmatch), 2);
}

#[test]
fn both_sides_are_told_why_they_do_not_match() {
    let mut net = Net::new([config(1), config(2)]);
    let mut offered = writer(1, "Quote");
    offered.qos.reliability.kind = ReliabilityKind::BestEffort;
    let mut requested = reader(2, "Quote");
    requested.qos.reliability.kind = ReliabilityKind::Reliable;
    net.add(0, offered);
    net.add(1, requested.clone());
    net.run(MOMENT);
    for index in [0, 1] {
        let discovery = &net.nodes[index].discovery;
        let (_, _, verdict) = discovery.verdicts().next().expect("one pair");
        assert!(matches!(verdict.mismatches[..], [Mismatch::Reliability(_)]));
        assert_eq!(
            net.count(index, |event| matches!(event, Event::Incompatible { .. })),
            1
        );
    }
    requested.qos.reliability.kind = ReliabilityKind::BestEffort;
    net.add(1, requested.clone());
    assert_eq!(net.count(0, is_match), 1);
    requested.qos.partition = vec!["elsewhere".to_string()];
    net.add(1, requested);
    let mut kinds = Vec::new();
    net.count(0, |event| {
        kinds.push(core::mem::discriminant(event));
        is_unmatch(event)
    });
    assert_eq!(kinds.len(), 3, "found, unmatched, incompatible");
    assert_eq!(net.count(1, is_unmatch), 1);
}

#[test]
fn a_good_bye_ends_everything_at_once() {
    let mut net = pair();
    net.run(MOMENT);
    net.count(1, |_| true);
    net.call(0, |discovery, _, outbox| discovery.close(outbox));
    let mut lost = None;
    assert_eq!(
        net.count(1, |event| {
            if let Event::ParticipantLost { reason, .. } = event {
                lost = Some(*reason);
            }
            is_unmatch(event)
        }),
        1
    );
    assert_eq!(lost, Some(LostReason::Left));
    assert_eq!(net.nodes[0].discovery.poll_timeout(), None);
    assert_eq!(net.nodes[1].discovery.endpoints().count(), 1);
    assert_eq!(net.nodes[1].discovery.participants().count(), 0);
}

#[test]
fn an_announcement_overtaken_by_the_goodbye_does_not_bring_the_participant_back() {
    let mut net = pair();
    net.run(MOMENT);
    let hears = net.nodes[1].discovery.config.participant.clone();
    let mut overtaken = Outbox::new();
    let to = &hears.metatraffic_unicast;
    let announcer = &mut net.nodes[0].discovery.announcer;
    announcer.answer(hears.guid_prefix, to, &mut overtaken);
    net.call(0, |discovery, _, outbox| discovery.close(outbox));
    net.deliver(&overtaken);
    net.settle();
    let discovery = &net.nodes[1].discovery;
    assert_eq!(discovery.participants().count(), 0);
    assert_eq!(discovery.counters().announcements_overtaken, 1);
}

#[test]
fn a_participant_that_falls_silent_is_lost_when_its_lease_ends() {
    let mut net = pair();
    net.run(MOMENT);
    net.count(1, |_| true);
    // All was said in the first instant.
    net.nodes.remove(0);
    let nanosecond = Duration::from_nanos(1);
    net.run(LEASE - MOMENT - nanosecond);
    assert_eq!(net.count(0, is_unmatch), 0);
    net.run(nanosecond);
    assert_eq!(net.count(0, is_unmatch), 1);
    assert_eq!(net.nodes[0].discovery.counters().leases_expired, 1);
    assert_eq!(net.nodes[0].discovery.participants().count(), 0);
}

#[test]
fn a_participant_that_starts_again_is_another_one() {
    let mut net = pair();
    net.run(MOMENT);
    net.nodes[0] = Node {
        discovery: Discovery::new(config(3)).expect("short names"),
        events: Vec::new(),
    };
    net.add(0, writer(3, "Quote"));
    net.count(1, |_| true);
    net.run(MOMENT);
    assert_eq!(net.count(1, is_match), 1);
    net.run(LEASE);
    assert_eq!(net.count(1, is_unmatch), 1);
    assert_eq!(net.nodes[1].discovery.participants().count(), 1);
}

#[test]
fn one_that_knows_the_others_address_is_enough() {
    let mut configs = [config(1), config(2)];
    for config in &mut configs {
        config.participant.metatraffic_multicast.clear();
        config.announce_to.clear();
    }
    configs[1].announce_to.push(metatraffic(1));
    let mut net = Net::new(configs);
    net.add(0, writer(1, "Quote"));
    net.add(1, reader(2, "Quote"));
    net.run(MOMENT);
    assert_eq!(net.count(0, is_match), 1);
    assert_eq!(net.count(1, is_match), 1);
    net.run(LEASE * 3);
    assert_eq!(net.nodes[0].discovery.counters().leases_expired, 0);
    assert_eq!(net.nodes[1].discovery.counters().leases_expired, 0);
}

/// Two nodes without a working group of which only the second knows the other's address, and each
/// of which announces itself once in a period.
fn one_sided(announce_to: Locator) -> Net {
    let mut configs = [config(1), config(2)];
    for config in &mut configs {
        config.initial_count = 1;
    }
    configs[0].announce_to = vec![announce_to];
    configs[1].announce_to.push(metatraffic(1));
    let mut net = Net::new(configs);
    net.group_works = false;
    net.call(0, Discovery::handle_timeout);
    net.add(0, writer(1, "Quote"));
    net.add(1, reader(2, "Quote"));
    net
}

#[test]
fn a_lost_answer_is_repeated_soon() {
    let mut net = one_sided(metatraffic(7));
    net.call_one(1, Discovery::handle_timeout);
    net.loss_percent = 100;
    net.settle();
    net.loss_percent = 0;
    assert_eq!(net.nodes[0].discovery.participants().count(), 1);
    assert_eq!(net.nodes[1].discovery.participants().count(), 0);
    net.run(Duration::from_millis(300));
    assert_eq!(net.count(0, is_match), 1);
    assert_eq!(net.count(1, is_match), 1);
}

#[test]
fn who_cannot_hear_the_group_is_told_for_as_long_as_it_lives() {
    let mut net = one_sided(metatraffic(7));
    net.call(1, Discovery::handle_timeout);
    assert_eq!(net.count(1, is_match), 1);
    net.run(LEASE * 3);
    for node in &net.nodes {
        assert_eq!(node.discovery.counters().leases_expired, 0);
    }
}

#[test]
fn who_does_not_know_us_is_told_alone_though_it_claims_to_hear_the_group() {
    let mut net = one_sided(GROUP);
    net.call_one(1, Discovery::handle_timeout);
    net.loss_percent = 100;
    net.settle();
    net.run(Duration::from_secs(1));
    net.loss_percent = 0;
    assert_eq!(net.nodes[1].discovery.participants().count(), 0);
    net.run(LEASE / 3);
    assert_eq!(net.count(1, is_match), 1);
}

#[test]
fn loss_delays_discovery_but_does_not_prevent_it() {
    for seed in 1..=200 {
        let mut net = Net::new([config(1), config(2), config(3)]);
        net.random = seed * 0x9e37_79b9;
        net.loss_percent = 40;
        net.add(0, writer(1, "Quote"));
        net.add(1, reader(2, "Quote"));
        net.add(2, reader(3, "Quote"));
        net.run(Duration::from_secs(8));
        assert_eq!(net.count(0, is_match), 2, "seed {seed}");
        for index in [1, 2] {
            assert_eq!(net.count(index, is_match), 1, "seed {seed}");
        }
    }
}

#[test]
fn duplicates_change_nothing() {
    let mut net = pair();
    net.copies = 3;
    net.run(LEASE);
    assert_eq!(net.count(0, is_match), 1);
    assert_eq!(
        net.count(1, |event| matches!(event, Event::ParticipantFound(_))),
        1
    );
}

#[test]
fn news_of_a_participant_reaches_the_others_at_once() {
    let mut net = pair();
    net.run(MOMENT);
    net.count(1, |_| true);
    let moved = user(9);
    net.call(0, |discovery, now, _| {
        discovery.update_participant(now, |data| {
            data.default_unicast = vec![moved];
            data.guid_prefix = prefix(9);
        })
    })
    .expect("short names");
    net.run(MOMENT);
    let mut proxies = Vec::new();
    net.count(1, |event| {
        if let Event::WriterMatched { proxy, .. } = event {
            proxies.push(proxy.unicast.clone());
        }
        is_match(event)
    });
    assert_eq!(proxies, [[moved]]);
    assert_eq!(net.nodes[1].discovery.participants().count(), 1);
}

#[test]
fn many_participants_find_each_other_with_few_datagrams() {
    const COUNT: u8 = 60;
    let mut net = Net::new((1..=COUNT).map(config));
    for (index, id) in (1..=COUNT).enumerate() {
        net.add(index, writer(id, "Quote"));
        net.add(index, reader(id, "Quote"));
    }
    net.run(Duration::from_secs(2));
    let others = usize::from(COUNT) - 1;
    for index in 0..usize::from(COUNT) {
        // With each other one, and twice with oneself.
        assert_eq!(net.count(index, is_match), 2 * others + 2);
        let counters = *net.nodes[index].discovery.counters();
        assert!(
            counters.answers_sent <= 2 * u64::from(COUNT),
            "{counters:?}"
        );
    }
}

#[test]
fn another_domain_or_tag_is_not_ours() {
    let mut other_id = config(2);
    other_id.participant.domain_id = Some(1);
    let mut other_tag = config(3);
    other_tag.participant.domain_tag = "test".to_string();
    let mut silent = config(4);
    silent.participant.domain_id = None;
    let mut net = Net::new([config(1), other_id, other_tag, silent]);
    net.run(MOMENT);
    let discovery = &net.nodes[0].discovery;
    let known: Vec<_> = discovery.participants().map(|p| p.guid_prefix).collect();
    assert_eq!(known, [prefix(4)]);
    assert!(discovery.counters().other_domain >= 2);
}

#[test]
fn a_flood_meets_a_limit() {
    let mut narrow = config(1);
    narrow.limits.max_participants = 2;
    narrow.limits.max_endpoints_per_participant = 1;
    let mut net = Net::new([narrow, config(2), config(3), config(4)]);
    net.add(1, writer(2, "Quote"));
    net.add(1, reader(2, "Quote"));
    net.run(MOMENT);
    let discovery = &net.nodes[0].discovery;
    assert_eq!(discovery.participants().count(), 2);
    assert!(discovery.counters().participants_refused > 0);
    assert_eq!(discovery.endpoints().count(), 1);
    assert_eq!(discovery.counters().endpoints_refused, 1);
}

/// A reader with 60,000 octets of user data, one of many.
fn heavy_reader(id: u8, key: u32) -> EndpointData {
    let mut data = reader(id, "Quote");
    data.guid = Guid::new(prefix(id), EntityId::user_reader(key, true));
    data.qos.user_data = vec![7; 60_000];
    data
}

#[test]
fn what_one_participant_announces_takes_bounded_memory() {
    let mut narrow = config(1);
    narrow.limits.max_bytes_per_participant = 200_000;
    let mut net = Net::new([narrow, config(2), config(3)]);
    (1..=5).for_each(|key| net.add(1, heavy_reader(2, key)));
    net.add(2, reader(3, "Quote"));
    net.run(MOMENT);
    let known = |net: &Net| net.nodes[0].discovery.endpoints().count();
    let refused = |net: &Net| net.nodes[0].discovery.counters().endpoints_refused;
    assert_eq!((known(&net), refused(&net)), (3 + 1, 2));
    // What grows is refused, what shrinks or goes makes room.
    let mut first = heavy_reader(2, 1);
    first.qos.topic_data = vec![8; 60_000];
    net.add(1, first.clone());
    net.run(MOMENT);
    assert_eq!((known(&net), refused(&net)), (4, 3));
    first.qos.topic_data.clear();
    first.qos.user_data.clear();
    net.add(1, first);
    net.add(1, heavy_reader(2, 6));
    net.run(MOMENT);
    assert_eq!((known(&net), refused(&net)), (5, 3));
    net.call(1, |discovery, now, outbox| {
        discovery.remove(now, heavy_reader(2, 6).guid, outbox)
    });
    net.add(1, heavy_reader(2, 7));
    net.run(MOMENT);
    assert_eq!((known(&net), refused(&net)), (5, 3));
}

#[test]
fn what_all_participants_announce_takes_bounded_memory() {
    let mut narrow = config(1);
    narrow.limits.max_bytes = 150_000;
    let mut net = Net::new([narrow, config(2), config(3)]);
    net.add(1, heavy_reader(2, 1));
    net.add(1, heavy_reader(2, 2));
    net.add(2, heavy_reader(3, 1));
    net.run(MOMENT);
    assert_eq!(net.nodes[0].discovery.endpoints().count(), 2);
    assert_eq!(net.nodes[0].discovery.counters().endpoints_refused, 1);
    // All that one held is free when it goes.
    net.call(1, |discovery, _, outbox| discovery.close(outbox));
    net.call(2, |discovery, now, outbox| {
        let updated = discovery.update_participant(now, |own| own.user_data = vec![1; 20_000]);
        discovery.handle_timeout(now, outbox);
        updated
    })
    .expect("short enough");
    net.add(2, heavy_reader(3, 2));
    net.run(MOMENT);
    let discovery = &net.nodes[0].discovery;
    assert_eq!(discovery.counters().participants_refused, 0);
    assert!(discovery.endpoint(heavy_reader(3, 2).guid).is_some());
}

#[test]
fn an_announcement_that_nobody_would_take_is_not_made() {
    let mut net = Net::new([config(1)]);
    let mut data = heavy_reader(1, 1);
    data.qos.topic_data = vec![8; 65_000];
    data.qos.group_data = vec![9; 65_000];
    net.add(0, data.clone());
    data.qos.partition = (0..4_000).map(|n| n.to_string()).collect();
    data.type_information = vec![0; 60_000];
    let result = net.call(0, |discovery, now, outbox| discovery.add(now, data, outbox));
    assert!(matches!(result, Err(AddError::TooLarge { .. })));
}

#[test]
fn liveliness_is_asserted_without_the_application_and_its_end_noticed() {
    let mut net = Net::new([config(1), config(2)]);
    let mut live = writer(1, "Quote");
    live.qos.liveliness.lease_duration = Duration::from_secs(1);
    net.add(0, live);
    net.add(1, reader(2, "Quote"));
    net.run(Duration::from_secs(5));
    let changes = |event: &Event| matches!(event, Event::LivelinessChanged { .. });
    assert_eq!(net.count(1, changes), 0);
    net.loss_percent = 100;
    net.run(Duration::from_millis(1100));
    let not_alive = |event: &Event| matches!(event, Event::LivelinessChanged { alive: false, .. });
    assert_eq!(net.count(1, not_alive), 1);
    net.loss_percent = 0;
    net.run(Duration::from_secs(1));
    let alive = |event: &Event| matches!(event, Event::LivelinessChanged { alive: true, .. });
    assert_eq!(net.count(1, alive), 1);
}

#[test]
fn manual_liveliness_is_asserted_by_the_application_alone() {
    let mut net = Net::new([config(1), config(2)]);
    let mut live = writer(1, "Quote");
    live.qos.liveliness.kind = LivelinessKind::ManualByParticipant;
    live.qos.liveliness.lease_duration = Duration::from_secs(1);
    net.add(0, live);
    net.add(1, reader(2, "Quote"));
    net.run(MOMENT);
    for _ in 0..100 {
        net.call(0, Discovery::assert_liveliness);
        net.run(Duration::from_millis(20));
    }
    let changes = |event: &Event| matches!(event, Event::LivelinessChanged { .. });
    assert_eq!(net.count(1, changes), 0);
    let asserted = net.nodes[0].discovery.messages.write_count();
    assert!(
        (16..=18).contains(&asserted),
        "eight a lease, not {asserted}"
    );
    net.run(Duration::from_secs(2));
    assert_eq!(net.count(1, changes), 1);
    let guid = writer(1, "").guid;
    net.call(1, |discovery, now, _| discovery.writer_heard(now, guid));
    assert_eq!(net.count(1, changes), 1);
}

#[test]
fn a_silent_writer_that_announces_something_new_is_alive_again() {
    let mut net = Net::new([config(1), config(2)]);
    let mut live = writer(1, "Quote");
    live.qos.liveliness.kind = LivelinessKind::ManualByParticipant;
    live.qos.liveliness.lease_duration = Duration::from_secs(1);
    net.add(0, live.clone());
    net.add(1, reader(2, "Quote"));
    net.run(Duration::from_secs(2));
    let alive = |event: &Event| matches!(event, Event::LivelinessChanged { alive: true, .. });
    let not_alive = |event: &Event| matches!(event, Event::LivelinessChanged { alive: false, .. });
    assert_eq!(net.count(1, not_alive), 1);
    live.qos.user_data = vec![1];
    net.add(0, live);
    net.run(MOMENT);
    assert_eq!(net.count(1, alive), 1);
    net.run(Duration::from_secs(2));
    assert_eq!(net.count(1, not_alive), 1);
}

#[test]
fn a_participant_speaks_only_for_itself() {
    let mut net = pair();
    net.run(MOMENT);
    net.count(1, |_| true);
    let mut key = Vec::new();
    ParticipantData::write_key(&mut key, prefix(1));
    let mut qos = Vec::new();
    let mut list = crate::wire::ParameterListWriter::new(&mut qos);
    list.status_info(StatusInfo::DISPOSED);
    list.finish();
    let mut outbox = Outbox::new();
    outbox.message(prefix(7), &[metatraffic(2)]).data(&Data {
        reader: EntityId::SPDP_READER,
        writer: EntityId::SPDP_WRITER,
        sequence_number: SequenceNumber(1),
        inline_qos: InlineQos {
            bytes: &qos,
            little_endian: true,
        },
        payload: SerializedPayload::Key(&key),
    });
    net.deliver(&outbox);
    net.settle();
    assert_eq!(net.count(1, |_| true), 0);
    assert_eq!(net.nodes[1].discovery.counters().misbehaved, 1);
}

#[test]
fn an_endpoint_belongs_to_no_publisher_of_another_participant() {
    let mut net = Net::new([config(1), config(2)]);
    net.run(MOMENT);
    let own = Guid::new(prefix(1), EntityId::user_publisher(3));
    let foreign = Guid::new(prefix(2), EntityId::user_publisher(3));
    for (group, believed) in [(own, Some(own)), (foreign, None)] {
        let data = EndpointData {
            group: Some(group),
            ..writer(1, "Quote")
        };
        let guid = data.guid;
        net.add(0, data);
        net.run(MOMENT);
        let heard = net.nodes[1].discovery.endpoint(guid);
        assert_eq!(heard.map(|data| data.group), Some(believed));
    }
    assert_eq!(net.nodes[1].discovery.counters().misbehaved, 1);
}

#[test]
fn a_slip_in_a_topic_name_is_found() {
    let mut net = pair();
    net.add(1, reader(2, "MarketData"));
    net.run(MOMENT);
    let discovery = &net.nodes[0].discovery;
    assert_eq!(discovery.nearest_topic("MarketDta"), Some("MarketData"));
    assert_eq!(discovery.nearest_topic("Depth"), None);
}

#[test]
fn a_foreign_endpoint_is_not_ours_to_add() {
    let mut net = Net::new([config(1)]);
    let result = net.call(0, |discovery, now, outbox| {
        discovery.add(now, writer(2, "Quote"), outbox)
    });
    assert_eq!(result, Err(AddError::Foreign));
    let mut long = writer(1, "Quote");
    long.qos.user_data = vec![0; 70_000];
    let result = net.call(0, |discovery, now, outbox| discovery.add(now, long, outbox));
    assert!(matches!(result, Err(AddError::TooLong(_))));
    assert_eq!(net.nodes[0].discovery.endpoints().count(), 0);
}

proptest! {
    #[test]
    fn garbage_between_participants_never_panics(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        every in 1..4_usize,
    ) {
        let mut net = pair();
        let mut seen = 0;
        // Everything that one says reaches the other with bytes changed.
        for _ in 0..20 {
            let mut outbox = Outbox::new();
            let node = &mut net.nodes[0];
            node.discovery.handle_timeout(net.now, &mut outbox);
            node.discovery.add(net.now, writer(1, "Quote"), &mut outbox).expect("own endpoint");
            for (datagram, _) in outbox.datagrams() {
                seen += 1;
                let mut bytes = datagram.to_vec();
                for (index, value) in changes.iter().filter(|_| seen % every == 0) {
                    let index = index.index(bytes.len());
                    bytes[index] = *value;
                }
                let Ok(reader) = MessageReader::new(&bytes) else { continue };
                for (context, submessage) in reader.map_while(Result::ok) {
                    net.call(1, |discovery, now, outbox| {
                        discovery.handle(now, &context, &submessage, outbox);
                    });
                }
            }
            net.now = net.now + Duration::from_millis(120);
        }
        prop_assert!(net.nodes[1].discovery.participants().count() <= 20);
    }
}
