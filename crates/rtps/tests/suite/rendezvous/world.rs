//! Participants and rendezvous on a simulated network, in virtual time.

use std::hash::{BuildHasher, DefaultHasher, Hasher};
use std::net::Ipv4Addr;

use tickwire_base::{Duration, Instant, Locator};
use tickwire_rtps::Outbox;
use tickwire_rtps::discovery::{Discovery, DiscoveryConfig, ParticipantData};
use tickwire_rtps::rendezvous::{Rendezvous, RendezvousConfig};
use tickwire_rtps::wire::{GuidPrefix, MessageReader};
use tickwire_simnet::{Arrival, Link, Network, NodeId, Totals};

pub(crate) const LEASE: Duration = Duration::from_secs(9);
pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// A secret of tests.
#[derive(Clone, Copy)]
pub(crate) struct Secret(pub(crate) u64);

impl BuildHasher for Secret {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.0);
        hasher
    }
}

pub(crate) fn prefix(id: u8) -> GuidPrefix {
    GuidPrefix([id; 12])
}

/// Where the participant of that number receives.
pub(crate) fn home(id: u8) -> Locator {
    Locator::udp_v4(Ipv4Addr::new(10, 0, 0, id), 7410)
}

/// Where the rendezvous of that number receives.
pub(crate) fn place(number: u8) -> Locator {
    Locator::udp_v4(Ipv4Addr::new(10, 0, 1, number), 7399)
}

pub(crate) fn participant(id: u8, domain: u32) -> ParticipantData {
    let mut data = ParticipantData::new(prefix(id));
    data.domain_id = Some(domain);
    data.lease_duration = LEASE;
    data.entity_name = format!("participant {id}");
    data.properties = vec![(
        "dds.sys_info.hostname".into(),
        "a-host-of-the-market".into(),
    )];
    data.metatraffic_unicast = vec![home(id)];
    data.default_unicast = vec![home(id)];
    data
}

pub(crate) fn discovery(data: ParticipantData, rendezvous: u8) -> Discovery {
    let mut config = DiscoveryConfig::new(data);
    config.announce_to = vec![place(rendezvous)];
    Discovery::new(config).expect("short names")
}

enum Kind {
    Participant(Box<Discovery>),
    Rendezvous(Box<Rendezvous<Secret>>),
    Gone,
}

struct Node {
    id: NodeId,
    at: Locator,
    kind: Kind,
}

pub(crate) struct World {
    pub(crate) network: Network,
    nodes: Vec<Node>,
    outbox: Outbox,
}

impl World {
    pub(crate) fn new(seed: u64, link: Link) -> Self {
        Self {
            network: Network::new(seed, link),
            nodes: Vec::new(),
            outbox: Outbox::new(),
        }
    }

    /// A rendezvous at its [`place`].
    pub(crate) fn open(&mut self, number: u8, change: impl FnOnce(&mut RendezvousConfig)) -> usize {
        let mut config = RendezvousConfig::new(vec![place(number)]);
        change(&mut config);
        let secret = Secret(u64::from(number) + self.network.now().as_nanos());
        let kind = Kind::Rendezvous(Box::new(Rendezvous::new(config, secret)));
        self.add(place(number), kind)
    }

    /// A participant that knows a rendezvous.
    pub(crate) fn join(&mut self, id: u8, domain: u32, rendezvous: u8) -> usize {
        self.join_as(participant(id, domain), rendezvous)
    }

    pub(crate) fn join_as(&mut self, data: ParticipantData, rendezvous: u8) -> usize {
        let at = data.metatraffic_unicast[0];
        let discovery = discovery(data, rendezvous);
        self.add(at, Kind::Participant(Box::new(discovery)))
    }

    fn add(&mut self, at: Locator, kind: Kind) -> usize {
        let id = self.network.add_node(&at.to_string());
        self.network.listen(id, at);
        self.nodes.push(Node { id, at, kind });
        self.nodes.len() - 1
    }

    /// It dies without a word.
    pub(crate) fn crash(&mut self, node: usize) {
        self.nodes[node].kind = Kind::Gone;
        self.network.silence(self.nodes[node].id);
    }

    pub(crate) fn partition(&mut self, a: usize, b: usize) {
        self.network.partition(self.nodes[a].id, self.nodes[b].id);
    }

    pub(crate) fn heal(&mut self, a: usize, b: usize) {
        self.network.heal(self.nodes[a].id, self.nodes[b].id);
    }

    pub(crate) fn with<R>(
        &mut self,
        node: usize,
        call: impl FnOnce(&mut Discovery, Instant, &mut Outbox) -> R,
    ) -> R {
        let Kind::Participant(discovery) = &mut self.nodes[node].kind else {
            panic!("node {node} is no participant");
        };
        let result = call(discovery, self.network.now(), &mut self.outbox);
        self.send(node);
        result
    }

    pub(crate) fn rendezvous(&mut self, node: usize) -> &mut Rendezvous<Secret> {
        match &mut self.nodes[node].kind {
            Kind::Rendezvous(rendezvous) => rendezvous,
            _ => panic!("node {node} is no rendezvous"),
        }
    }

    /// Whom a participant knows, without rendezvous.
    pub(crate) fn known_by(&mut self, node: usize) -> Vec<u8> {
        self.with(node, |discovery, _, _| {
            let all = discovery
                .participants()
                .filter(|data| !data.is_rendezvous());
            all.map(|data| data.guid_prefix.0[0]).collect()
        })
    }

    /// Sends a datagram as if it came from the node.
    pub(crate) fn inject(&mut self, node: usize, to: Locator, bytes: &[u8]) {
        self.network.send(self.nodes[node].id, to, bytes);
    }

    /// Lets time pass, and says what became of the datagrams meanwhile.
    pub(crate) fn run(&mut self, duration: Duration) -> Totals {
        let end = self.network.now() + duration;
        loop {
            let timers = self.nodes.iter().filter_map(|node| match &node.kind {
                Kind::Participant(discovery) => discovery.poll_timeout(),
                Kind::Rendezvous(rendezvous) => rendezvous.poll_timeout(),
                Kind::Gone => None,
            });
            let next = timers.min().unwrap_or(Instant::MAX).min(end);
            if let Some(arrival) = self.network.receive_until(next) {
                self.deliver(&arrival);
                continue;
            }
            (0..self.nodes.len()).for_each(|node| self.wake(node));
            if next == end {
                return self.network.totals();
            }
        }
    }

    fn deliver(&mut self, arrival: &Arrival) {
        let source = self.nodes.iter().find(|node| node.id == arrival.from);
        let source = source.map_or(arrival.locator, |node| node.at);
        let Some(index) = self.nodes.iter().position(|node| node.id == arrival.to) else {
            return;
        };
        let (now, outbox) = (self.network.now(), &mut self.outbox);
        match &mut self.nodes[index].kind {
            Kind::Rendezvous(rendezvous) => rendezvous.handle(now, source, &arrival.bytes, outbox),
            Kind::Participant(discovery) => {
                let message = MessageReader::new(&arrival.bytes).into_iter().flatten();
                for (context, submessage) in message.flatten() {
                    discovery.handle(now, &context, &submessage, outbox);
                }
            }
            Kind::Gone => {}
        }
        self.send(index);
    }

    fn wake(&mut self, node: usize) {
        let now = self.network.now();
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        match &mut self.nodes[node].kind {
            Kind::Participant(discovery) if is_due(discovery.poll_timeout()) => {
                discovery.handle_timeout(now, &mut self.outbox);
            }
            Kind::Rendezvous(rendezvous) if is_due(rendezvous.poll_timeout()) => {
                rendezvous.handle_timeout(now, &mut self.outbox);
            }
            _ => {}
        }
        self.send(node);
    }

    fn send(&mut self, node: usize) {
        if let Kind::Participant(discovery) = &mut self.nodes[node].kind {
            while discovery.poll_event().is_some() {}
        }
        for (bytes, to) in self.outbox.datagrams() {
            for to in to {
                self.network.send(self.nodes[node].id, *to, bytes.head);
            }
        }
        self.outbox.clear();
    }
}
