//! Whole conversations about who is there: a participant's discovery talks to another one's, of
//! participants, endpoints, liveliness and types, while somebody in between drops, repeats, reorders,
//! cuts and changes what is said, adds participants and datagrams of his own, and lets time pass.
//! Nothing panics, nobody sends without bound, what is kept stays within the limits, readers are told
//! which writers publishers have, and once the network is honest again the two find each other's
//! endpoints.
#![no_main]

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use tickwire_base::{Duration, Instant, Locator};
use tickwire_cdr::xtypes::TypeObjects;
use tickwire_cdr::{Extensibility, Member, Type, TypeDescription};
use tickwire_rtps::Outbox;
use tickwire_rtps::discovery::{
    Discovery, DiscoveryConfig, EndpointData, Event, ParticipantData, Role,
};
use tickwire_rtps::qos::{
    Durability, LivelinessKind, Ownership, PresentationScope, ReliabilityKind, Verdict,
};
use tickwire_rtps::wire::{EntityId, Guid, GuidPrefix, MessageReader};

const GROUP: Locator = Locator::udp_v4(Ipv4Addr::new(239, 255, 0, 1), 7400);
const MAX_PARTICIPANTS: usize = 6;
const MAX_ENDPOINTS: usize = 8;
/// What one datagram may draw from each side.
const MAX_ANSWER: usize = 1 << 20;
/// What waits on the network; more is lost, as on a real one.
const MAX_QUEUE: usize = 64;

fn prefix(id: u8) -> GuidPrefix {
    GuidPrefix([id; 12])
}

fn participant(id: u8) -> ParticipantData {
    let at = |port| vec![Locator::udp_v4(Ipv4Addr::new(127, 0, 0, id), port)];
    let mut data = ParticipantData::new(prefix(id));
    data.domain_id = Some(0);
    data.lease_duration = Duration::from_secs(9);
    data.metatraffic_unicast = at(7410);
    data.metatraffic_multicast = vec![GROUP];
    data.default_unicast = at(7411);
    data
}

fn discovery(id: u8) -> Discovery {
    let mut config = DiscoveryConfig::new(participant(id));
    config.announce_to = vec![GROUP];
    config.limits.max_participants = MAX_PARTICIPANTS;
    config.limits.max_endpoints_per_participant = MAX_ENDPOINTS;
    config.limits.max_bytes = 1 << 20;
    config.limits.max_bytes_per_participant = 1 << 18;
    config.limits.max_type_bytes = 1 << 16;
    config.limits.max_types_per_participant = 8;
    let mut discovery = Discovery::new(config).expect("short names");
    // What others have beyond that, ours asks for.
    for key in 0..if id == 1 { 4 } else { 6 } {
        let added = discovery.types_mut().add(&quote(key));
        added.expect("a small type");
    }
    discovery
}

/// The type of endpoints with that key: nobody announces the first, and those with other prices are
/// not assignable to the others.
fn quote(key: u32) -> TypeDescription {
    let price = match key % 6 {
        3 => Type::I32,
        5 => Type::I64,
        _ => Type::F64,
    };
    let mut members = vec![Member::new("price", 0, price)];
    members.extend(matches!(key % 6, 2 | 4).then(|| Member::new("size", 1, Type::U32)));
    members.extend((key % 6 == 4).then(|| Member::new("venue", 2, Type::U32)));
    TypeDescription::new("Quote", Extensibility::Appendable, members)
        .expect("three members at most")
}

/// An endpoint whose policies are those bits.
fn endpoint(id: u8, key: u32, role: Role, bits: u8) -> EndpointData {
    let entity = match role {
        Role::Writer => EntityId::user_writer(key, bits & 1 == 0),
        Role::Reader => EntityId::user_reader(key, bits & 1 == 0),
    };
    let guid = Guid::new(prefix(id), entity);
    let topic = ["Quotes", "Trades"][usize::from(bits >> 1 & 1)];
    let mut data = EndpointData::new(role, guid, topic.into(), "Quote".into());
    data.qos.reliability.kind = match bits & 4 {
        0 => ReliabilityKind::Reliable,
        _ => ReliabilityKind::BestEffort,
    };
    if !key.is_multiple_of(6) {
        let information = TypeObjects::new().add(&quote(key));
        let encoded = information.map(|one| one.encode(&mut data.type_information));
        assert!(matches!(encoded, Ok(Ok(()))), "a small type");
    }
    if bits & 8 != 0 {
        data.qos.durability = Durability::TransientLocal;
    }
    if bits & 16 != 0 {
        data.qos.ownership = Ownership::Exclusive;
    }
    if bits & 32 != 0 {
        data.qos.liveliness.kind = LivelinessKind::ManualByParticipant;
        data.qos.liveliness.lease_duration = Duration::from_secs(2);
    }
    if bits & 64 != 0 {
        data.qos.partition = vec!["fut*".into(), "spot".into()];
    }
    if bits & 128 != 0 {
        data.qos.user_data = vec![bits; 300];
        data.qos.presentation.access_scope = PresentationScope::Group;
        data.qos.presentation.coherent_access = true;
        let publisher = Guid::new(prefix(id), EntityId::user_publisher(1 + key % 2));
        data.group = Some(publisher).filter(|_| role == Role::Writer);
    }
    data
}

/// What a node has told each of its readers: the writers of a publisher.
type Told = BTreeMap<(Guid, Guid), Arc<[EntityId]>>;

/// Two participants, and the network between them.
struct World {
    now: Instant,
    /// Ours, then the other one.
    nodes: [Discovery; 2],
    peer_id: u8,
    queue: VecDeque<(usize, Vec<u8>)>,
    outbox: Outbox,
    told: [Told; 2],
}

impl World {
    fn new() -> Self {
        let mut world = Self {
            now: Instant::from_nanos(1),
            nodes: [discovery(1), discovery(2)],
            peer_id: 2,
            queue: VecDeque::new(),
            outbox: Outbox::new(),
            told: Default::default(),
        };
        world.add(0, endpoint(1, 1, Role::Writer, 0));
        world.add(0, endpoint(1, 2, Role::Reader, 0));
        world.add(0, endpoint(1, 7, Role::Reader, 128));
        world
    }

    fn add(&mut self, node: usize, data: EndpointData) {
        let added = self.nodes[node].add(self.now, data, &mut self.outbox);
        added.expect("an endpoint of that node that can be announced");
        self.sent(node);
    }

    /// What a node has put into the outbox goes to the other one.
    fn sent(&mut self, node: usize) {
        while let Some(event) = self.nodes[node].poll_event() {
            if let Event::GroupChanged {
                reader,
                publisher,
                writers,
            } = event
            {
                self.told[node].insert((reader, publisher), writers);
            }
        }
        self.check_told(node);
        let len: usize = self.outbox.datagrams().map(|(bytes, _)| bytes.len()).sum();
        assert!(len <= MAX_ANSWER, "{len} bytes at once");
        for (bytes, _) in self.outbox.datagrams() {
            if self.queue.len() < MAX_QUEUE {
                self.queue.push_back((1 - node, bytes.to_vec()));
            }
        }
        self.outbox.clear();
        let node = &self.nodes[node];
        assert!(node.participants().count() <= MAX_PARTICIPANTS);
        assert!(node.endpoints().count() <= MAX_ENDPOINTS * (MAX_PARTICIPANTS + 1) + 64);
    }

    /// Readers that look at a publisher, as they match a writer of it, know all its writers, but for
    /// those that are undecided; or they have been told that it cannot be told.
    fn check_told(&self, node: usize) {
        let discovery = &self.nodes[node];
        let own = discovery.participant().guid_prefix;
        let verdicts: BTreeMap<(Guid, Guid), &Verdict> = discovery
            .verdicts()
            .map(|(writer, reader, verdict)| ((writer, reader), verdict))
            .collect();
        let looks = |data: &&Arc<EndpointData>| {
            let is_own_reader = data.role == Role::Reader && data.guid.prefix == own;
            is_own_reader && data.qos.presentation.coherent_access
        };
        let readers: Vec<_> = discovery.endpoints().filter(looks).collect();
        let mut publishers: BTreeMap<Guid, Vec<&EndpointData>> = BTreeMap::new();
        for writer in discovery
            .endpoints()
            .filter(|data| data.role == Role::Writer)
        {
            if let Some(publisher) = writer.group {
                publishers.entry(publisher).or_default().push(writer);
            }
        }
        for (publisher, writers) in publishers {
            let is_decided = |writer: &&&EndpointData| {
                let mut others = readers
                    .iter()
                    .filter(|one| one.topic_name == writer.topic_name);
                others.all(|reader| verdicts.contains_key(&(writer.guid, reader.guid)))
            };
            let decided = writers.iter().filter(is_decided);
            let decided: Vec<_> = decided.map(|writer| writer.guid.entity).collect();
            for reader in &readers {
                let verdict = |writer: &&EndpointData| verdicts.get(&(writer.guid, reader.guid));
                if !writers.iter().filter_map(verdict).any(|it| it.is_match()) {
                    continue;
                }
                let told = self.told[node].get(&(reader.guid, publisher));
                let told = told.expect("a reader that matches is told");
                assert!(
                    told.is_empty() || **told == decided,
                    "{told:?}, {decided:?}"
                );
            }
        }
    }

    fn deliver(&mut self, node: usize, datagram: &[u8]) {
        let Ok(message) = MessageReader::new(datagram) else {
            return;
        };
        for item in message {
            let Ok((context, submessage)) = item else {
                break;
            };
            self.nodes[node].handle(self.now, &context, &submessage, &mut self.outbox);
        }
        self.sent(node);
    }

    fn deliver_first(&mut self) {
        if let Some((node, datagram)) = self.queue.pop_front() {
            self.deliver(node, &datagram);
        }
    }

    /// Fires the timers that end within `duration`, at most some hundred.
    fn pass(&mut self, duration: Duration, honest: bool) {
        let end = self.now + duration;
        for _ in 0..400 {
            while honest && !self.queue.is_empty() {
                self.deliver_first();
            }
            let due = |node: usize| Some((self.nodes[node].poll_timeout()?, node));
            let Some((at, node)) = [due(0), due(1)].into_iter().flatten().min() else {
                break;
            };
            if at > end {
                break;
            }
            self.now = self.now.max(at);
            self.nodes[node].handle_timeout(self.now, &mut self.outbox);
            self.sent(node);
        }
        self.now = end;
    }

    /// The peer is gone without a word, and another one is there.
    fn restart_peer(&mut self) {
        // Numbers of forged participants are others.
        self.peer_id = match self.peer_id {
            id @ 2..60 => id + 1,
            _ => 2,
        };
        self.nodes[1] = discovery(self.peer_id);
        self.told[1].clear();
    }

    fn matched(&self) -> bool {
        let prefix = prefix(self.peer_id);
        let mut pairs = self.nodes[0].verdicts();
        pairs.any(|(_, reader, verdict)| reader.prefix == prefix && verdict.is_match())
    }
}

/// A participant that nobody knows.
fn forged_announcement(id: u8) -> Vec<u8> {
    let mut forger = discovery(100 + id % 100);
    let mut outbox = Outbox::new();
    forger.handle_timeout(Instant::from_nanos(1), &mut outbox);
    let first = outbox.datagrams().next();
    first.map(|(bytes, _)| bytes.to_vec()).unwrap_or_default()
}

fuzz_target!(|input: &[u8]| {
    let mut world = World::new();
    let mut rest = input;
    let mut key = 10;
    while let [act, a, b, after @ ..] = rest {
        rest = after;
        match act % 13 {
            0 | 1 => world.deliver_first(),
            2 => drop(world.queue.pop_front()),
            3 => {
                if let Some(first) = world.queue.front().cloned() {
                    world.queue.push_back(first);
                }
            }
            4 => {
                if let Some((_, bytes)) = world.queue.front_mut() {
                    let at = usize::from(*a) * 3 % bytes.len().max(1);
                    bytes[at] ^= b | 1;
                }
                world.deliver_first();
            }
            5 => {
                if let Some((_, bytes)) = world.queue.front_mut() {
                    bytes.truncate(usize::from(*a) * 4 + usize::from(*b));
                }
                world.deliver_first();
            }
            6 => world
                .queue
                .rotate_left(usize::from(*a) % world.queue.len().max(1)),
            7 => {
                let (body, later) = rest.split_at(usize::from(*a).min(rest.len()));
                rest = later;
                let mut datagram = b"RTPS\x02\x05\x01\x54".to_vec();
                let from = [prefix(world.peer_id), prefix(100 + b % 100)][usize::from(b & 1)];
                datagram.extend_from_slice(&from.0);
                datagram.extend_from_slice(body);
                world.deliver(usize::from(b >> 7), &datagram);
            }
            8 => {
                let ms = u64::from(u16::from_le_bytes([*a, *b]));
                world.pass(Duration::from_millis(ms), false);
            }
            9 if key < 40 => {
                key += 1;
                let role = [Role::Writer, Role::Reader][usize::from(*b & 1)];
                let data = endpoint(world.peer_id, key, role, *a);
                world.add(1, data);
            }
            10 => {
                let keys = [Role::Writer, Role::Reader][usize::from(*b & 1)];
                let guid = endpoint(world.peer_id, 10 + u32::from(*a) % 30, keys, b >> 1).guid;
                world.nodes[1].remove(world.now, guid, None, &mut world.outbox);
                world.sent(1);
            }
            11 => world.restart_peer(),
            12 => world.deliver(0, &forged_announcement(*a)),
            _ => {}
        }
    }

    // Forged participants may have long leases; where they fill the table, nobody else gets in.
    world.queue.clear();
    world.restart_peer();
    if world.nodes[0].participants().count() >= MAX_PARTICIPANTS {
        return;
    }
    let reader = endpoint(world.peer_id, 1, Role::Reader, 0);
    world.add(1, reader);
    world.pass(Duration::from_secs(30), true);
    assert!(world.matched(), "an honest peer is not matched");
});
