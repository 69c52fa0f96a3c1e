//! Several discoveries on a network of their own, in virtual time.

mod bounds;
mod crowd;
mod groups;
mod ignoring;
mod leaving;
mod liveliness;
mod meeting;
mod reach;

use alloc::collections::VecDeque;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::net::Ipv4Addr;

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
    pub(super) group_works: bool,
    /// How often each one is delivered.
    copies: usize,
    pub(super) random: u64,
    /// Who is to receive what.
    queue: VecDeque<(usize, Vec<u8>)>,
    /// Datagrams sent, one for each destination.
    pub(super) sent: usize,
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
            sent: 0,
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
            self.sent += to.len();
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
        self.call_one(index, |discovery, now, outbox| {
            for item in MessageReader::new(datagram).expect("our own header") {
                let (context, submessage) = item.expect("our own submessages");
                discovery.handle(now, &context, &submessage, outbox);
            }
        });
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
        let events = self.take_events(index);
        events.iter().filter(|event| is_meant(event)).count()
    }

    /// A node's events, which it forgets.
    pub(super) fn take_events(&mut self, index: usize) -> Vec<Event> {
        core::mem::take(&mut self.nodes[index].events)
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
