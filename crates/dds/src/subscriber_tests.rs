//! PRESENTATION over a simulated network, in virtual time: whatever is written, lost, repeated and
//! out of order, and whoever comes late or leaves, a coherent set is seen whole and in order or not
//! at all (DDS 1.4 §2.2.3.6).

use std::time::Duration;

use proptest::prelude::*;
use tickwire_base::{Instant, Locator};
use tickwire_cdr::Representation;
use tickwire_derive::Topic;
use tickwire_rtps::discovery::{EndpointData, Role};
use tickwire_rtps::reader::WriterProxy;
use tickwire_rtps::wire::{EntityId, GuidPrefix, MessageReader, Submessage};
use tickwire_rtps::writer::{HistoryKind, ReaderProxy, WriteError, Writer, WriterConfig};
use tickwire_rtps::{Change, ChangeKind, Outbox};
use tickwire_simnet::{Arrival, Link, Network, NodeId};
use tickwire_transport::clock;

use super::*;
use crate::qos::ResourceLimits;
use crate::reader::endpoint::Received;
use crate::{DomainParticipant, Driving};

#[derive(Topic, Clone, Debug, PartialEq)]
#[topic(name = "test::Leg")]
struct Leg {
    #[topic(key)]
    id: u32,
    price: i64,
}

/// What the writers, the readers and the network are like.
#[derive(Clone, Debug)]
struct Setting {
    seed: u64,
    loss: u32,
    scope: PresentationScope,
    ordered: bool,
    writers: usize,
    /// All writers write one topic, which one reader reads.
    one_topic: bool,
    max_samples: Option<u32>,
    /// Of the writers; `None` is KEEP_ALL.
    depth: Option<u32>,
    /// The last reader is not there from the beginning.
    is_late: bool,
}

/// What happens. Writers and readers are numbered; those that are gone do nothing.
#[derive(Clone, Debug)]
enum Step {
    Begin,
    End,
    Write(usize, u32),
    Dispose(usize, u32),
    Wait(u64),
    Take,
    /// Looks twice, so long apart.
    Look(u64),
    Join,
    ReaderLeaves(usize),
    WriterLeaves(usize),
}

fn settings() -> impl Strategy<Value = Setting> {
    let scope = prop_oneof![
        Just(PresentationScope::Topic),
        Just(PresentationScope::Group)
    ];
    let limit = prop_oneof![3 => Just(None), 1 => Just(Some(6))];
    (
        any::<u64>(),
        0_u32..300,
        scope,
        any::<bool>(),
        1_usize..=3,
        any::<bool>(),
        limit,
        prop_oneof![2 => Just(None), 1 => (1_u32..3).prop_map(Some)],
        any::<bool>(),
    )
        .prop_map(
            |(seed, loss, scope, ordered, writers, one_topic, max_samples, depth, is_late)| {
                Setting {
                    seed,
                    loss,
                    scope,
                    ordered,
                    writers,
                    one_topic,
                    max_samples,
                    depth,
                    is_late,
                }
            },
        )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Begin),
        4 => Just(Step::End),
        12 => (0_usize..3, 0_u32..3).prop_map(|(writer, key)| Step::Write(writer, key)),
        2 => (0_usize..3, 0_u32..3).prop_map(|(writer, key)| Step::Dispose(writer, key)),
        4 => (0_u64..5).prop_map(Step::Wait),
        3 => Just(Step::Take),
        1 => (0_u64..5).prop_map(Step::Look),
        1 => Just(Step::Join),
        1 => (0_usize..3).prop_map(Step::ReaderLeaves),
        1 => (0_usize..3).prop_map(Step::WriterLeaves),
    ];
    proptest::collection::vec(step, 1..60)
}

struct WriterNode {
    node: NodeId,
    locator: Locator,
    machine: Writer,
    is_up: bool,
}

struct ReaderNode {
    reader: Option<DataReader<Leg>>,
    guid: Guid,
    /// The writers that it was matched with.
    writers: Vec<usize>,
    /// The first set that began after it was matched.
    since: usize,
    /// What it has shown: when, and the price.
    seen: Vec<(usize, i64)>,
}

/// Prices count what is written.
#[derive(Clone, Copy, Debug)]
struct Written {
    writer: usize,
    set: Option<usize>,
}

struct Sim {
    setting: Setting,
    network: Network,
    node: NodeId,
    locator: Locator,
    /// What the virtual clock is ahead of the network's: beyond any real time.
    ahead: Duration,
    outbox: Outbox,
    _participant: DomainParticipant,
    subscriber: Subscriber,
    writers: Vec<WriterNode>,
    readers: Vec<ReaderNode>,
    group_number: i64,
    written: Vec<Written>,
    /// Sets so far, and whether the last one is open.
    sets: usize,
    is_open: bool,
    /// Sets within which a writer has left that had a part in them.
    cut: Vec<usize>,
    views: usize,
    has_left: bool,
}

const PUBLISHER_PREFIX: GuidPrefix = GuidPrefix([3; 12]);
const LIMIT: Duration = Duration::from_secs(120);

impl Sim {
    fn new(setting: &Setting) -> Self {
        let participant = DomainParticipant::builder(148)
            .domain_tag(&format!("sim {}", std::process::id()))
            .driving(Driving::Polled)
            .multicast(false)
            .build()
            .expect("a participant");
        let presentation = Presentation {
            access_scope: setting.scope,
            coherent_access: true,
            ordered_access: setting.ordered,
        };
        let subscriber =
            participant.subscriber(SubscriberQos::default().presentation(presentation));
        let mut network = Network::new(setting.seed, Link::lossy(setting.loss));
        let node = network.add_node("subscriber");
        let locator = Locator::udp_v4(std::net::Ipv4Addr::LOCALHOST, 1);
        network.listen(node, locator);
        let mut sim = Self {
            setting: setting.clone(),
            network,
            node,
            locator,
            ahead: clock::now().since(Instant::ZERO) + Duration::from_secs(86_400),
            outbox: Outbox::new(),
            _participant: participant,
            subscriber,
            writers: Vec::new(),
            readers: Vec::new(),
            group_number: 0,
            written: Vec::new(),
            sets: 0,
            is_open: false,
            cut: Vec::new(),
            views: 0,
            has_left: false,
        };
        (0..setting.writers).for_each(|index| sim.add_writer(index));
        let topics = if setting.one_topic {
            1
        } else {
            setting.writers
        };
        let late = usize::from(setting.is_late);
        (0..topics - late.min(topics)).for_each(|_| sim.join());
        sim
    }

    fn add_writer(&mut self, index: usize) {
        let number = u16::try_from(index + 2).expect("few writers");
        let node = self.network.add_node("writer");
        let locator = Locator::udp_v4(std::net::Ipv4Addr::LOCALHOST, number);
        self.network.listen(node, locator);
        let mut prefix = PUBLISHER_PREFIX;
        // A node each, so that they are apart on the network.
        prefix.0[10..].copy_from_slice(&number.to_be_bytes());
        let machine = Writer::new(WriterConfig {
            history: match self.setting.depth {
                Some(depth) => HistoryKind::KeepLast(depth),
                None => HistoryKind::KeepAll,
            },
            transient_local: true,
            presents: true,
            ..WriterConfig::new(Guid::new(prefix, EntityId::user_writer(1, true)))
        });
        self.writers.push(WriterNode {
            node,
            locator,
            machine,
            is_up: true,
        });
    }

    fn is_group(&self) -> bool {
        self.setting.scope == PresentationScope::Group
    }

    fn now(&self) -> Instant {
        self.network.now() + self.ahead
    }

    fn reader_of(&self, writer: usize) -> usize {
        if self.setting.one_topic { 0 } else { writer }
    }

    fn endpoint(&self, guid: Guid) -> Arc<dyn ReaderEndpoint> {
        let readers = self.subscriber.group.readers();
        let mut readers = readers.into_iter();
        readers
            .find(|reader| reader.guid() == guid)
            .expect("a reader of the subscriber")
    }

    fn join(&mut self) {
        let index = self.readers.len();
        let topics = if self.setting.one_topic {
            1
        } else {
            self.setting.writers
        };
        if index >= topics {
            return;
        }
        let topic = self
            ._participant
            .topic::<Leg>(&format!("Legs {index}"))
            .expect("a topic");
        let limits = ResourceLimits {
            max_samples: self.setting.max_samples,
            ..ResourceLimits::default()
        };
        let qos = DataReaderQos::default()
            .reliable()
            .keep_all()
            .transient_local();
        let reader = self.subscriber.reader(&topic, qos.resource_limits(limits));
        let reader = reader.expect("a reader");
        let guid = reader.guid();
        self.readers.push(ReaderNode {
            reader: Some(reader),
            guid,
            writers: Vec::new(),
            since: self.sets,
            seen: Vec::new(),
        });
        for writer in 0..self.writers.len() {
            if self.reader_of(writer) == index && self.writers[writer].is_up {
                self.connect(writer, guid);
                self.readers[index].writers.push(writer);
            }
        }
    }

    fn connect(&mut self, index: usize, reader: Guid) {
        let (now, endpoint) = (self.now(), self.endpoint(reader));
        let writer = &mut self.writers[index];
        let guid = writer.machine.guid();
        let mut data = EndpointData::new(Role::Writer, guid, "Legs".into(), "test::Leg".into());
        data.qos.data_representation = vec![tickwire_rtps::qos::RepresentationId::XCDR2];
        let group = Guid::new(PUBLISHER_PREFIX, EntityId::user_publisher(1));
        data.group = Some(group).filter(|_| self.setting.scope == PresentationScope::Group);
        let proxy = ReaderProxy {
            guid: reader,
            reliable: true,
            wants_history: true,
            unicast: vec![self.locator],
            ..ReaderProxy::default()
        };
        writer.machine.match_reader(now, proxy, &mut self.outbox);
        let (node, locator) = (writer.node, writer.locator);
        self.flush(node);
        let proxy = WriterProxy {
            guid,
            reliable: true,
            skip_history: false,
            unicast: vec![locator],
        };
        endpoint.match_writer(now, proxy, &data, &mut self.outbox);
        self.flush(self.node);
    }

    fn reader_leaves(&mut self, index: usize) {
        let there = self
            .readers
            .iter()
            .filter(|node| node.reader.is_some())
            .count();
        let Some(node) = self.readers.get_mut(index).filter(|_| there > 1) else {
            return;
        };
        if node.reader.take().is_some() {
            for writer in &mut self.writers {
                writer.machine.unmatch_reader(node.guid);
            }
            self.has_left = true;
        }
    }

    fn writer_leaves(&mut self, index: usize) {
        let there = self.writers.iter().filter(|node| node.is_up).count();
        if there < 2 || !self.writers.get(index).is_some_and(|node| node.is_up) {
            return;
        }
        // Of a set of which nothing is heard before the writer is gone nobody can tell.
        self.settle();
        let reader = self.readers.get(self.reader_of(index));
        let is_heard = reader.is_some_and(|node| node.reader.is_some());
        let open = self.is_open.then(|| self.sets - 1);
        let mut written = self.written.iter();
        let has_part = written.any(|one| one.writer == index && one.set == open);
        if let Some(open) = open.filter(|_| is_heard && has_part) {
            self.cut.push(open);
        }
        self.writers[index].is_up = false;
        let guid = self.writers[index].machine.guid();
        for reader in self.subscriber.group.readers() {
            reader.unmatch_writer(guid);
        }
        self.has_left = true;
    }

    fn begin(&mut self) {
        if self.is_open {
            return;
        }
        let set = if self.is_group() {
            self.group_number + 1
        } else {
            0
        };
        for writer in self.writers.iter_mut().filter(|writer| writer.is_up) {
            writer.machine.begin_set(SequenceNumber(set));
        }
        self.sets += 1;
        self.is_open = true;
    }

    fn end(&mut self) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let (now, number) = (self.now(), self.next_number());
        for index in 0..self.writers.len() {
            if self.writers[index].is_up {
                let writer = &mut self.writers[index];
                writer.machine.end_set(now, number, &mut self.outbox);
                let node = writer.node;
                self.flush(node);
            }
        }
    }

    fn next_number(&mut self) -> SequenceNumber {
        if !self.is_group() {
            return SequenceNumber::ZERO;
        }
        self.group_number += 1;
        SequenceNumber(self.group_number)
    }

    fn write(&mut self, index: usize, key: u32, kind: ChangeKind) {
        if !self.writers.get(index).is_some_and(|writer| writer.is_up) {
            return;
        }
        let leg = Leg {
            id: key,
            price: self.written.len() as i64,
        };
        let mut scratch = Vec::new();
        let hash = leg
            .key_hash(&(), Representation::Xcdr2, &mut scratch)
            .expect("a key");
        let change = Change {
            kind,
            key_hash: hash.map(|hash| hash.0),
            group_number: self.next_number(),
            ..Change::default()
        };
        for _ in 0..10_000 {
            let fill = |buffer: &mut Vec<u8>| match kind.is_alive() {
                true => leg.write_payload(&(), Representation::Xcdr2, buffer),
                false => leg.write_key_payload(&(), Representation::Xcdr2, buffer),
            };
            let now = self.now();
            let writer = &mut self.writers[index];
            let node = writer.node;
            let written = writer.machine.write(now, change, fill, &mut self.outbox);
            self.flush(node);
            match written {
                Ok(_) => {
                    if kind.is_alive() {
                        self.written.push(Written {
                            writer: index,
                            set: self.is_open.then(|| self.sets - 1),
                        });
                    }
                    return;
                }
                Err(WriteError::WouldBlock) => {
                    self.take();
                }
                Err(error) => panic!("{error:?}"),
            }
            self.run(Duration::from_millis(10));
        }
        panic!("blocked for ever");
    }

    /// Takes what all readers have, as one look shows it; says how many samples of sets there were.
    fn take(&mut self) -> usize {
        let access = self.subscriber.begin_access();
        let in_sets = self.take_all(&access);
        access.end_access();
        in_sets
    }

    fn take_all(&mut self, access: &Access) -> usize {
        let view = self.views;
        self.views += 1;
        let (mut in_sets, mut last) = (0, None);
        for guid in access.datareaders(StateMask::ANY) {
            let node = self.readers.iter_mut().find(|node| node.guid == guid);
            let node = node.expect("a reader of ours");
            let reader = node.reader.as_ref().expect("one that has not left");
            let is_ordered = self.setting.ordered && self.setting.scope == PresentationScope::Group;
            let max = if is_ordered { 1 } else { usize::MAX };
            for leg in reader.select().max_samples(max).take().data() {
                node.seen.push((view, leg.price));
                let is_in_set = self.written[usize::try_from(leg.price).expect("ours")]
                    .set
                    .is_some();
                if is_in_set {
                    in_sets += 1;
                    assert!(
                        !is_ordered || last < Some(leg.price),
                        "out of order: {}",
                        leg.price
                    );
                    last = Some(leg.price);
                }
            }
        }
        in_sets
    }

    fn look(&mut self, wait: u64) {
        let access = self.subscriber.begin_access();
        self.take_all(&access);
        self.run(Duration::from_millis(wait));
        let appeared = self.take_all(&access);
        assert!(
            !self.is_group() || appeared == 0,
            "a set appears while somebody looks"
        );
        access.end_access();
    }

    fn is_settled(&self) -> bool {
        let mut writers = self.writers.iter().filter(|writer| writer.is_up);
        writers.all(|writer| writer.machine.is_acknowledged(writer.machine.last()))
    }

    /// Runs until all is acknowledged, and takes what comes.
    fn settle(&mut self) {
        let end = self.now() + LIMIT;
        while !self.is_settled() {
            assert!(self.now() < end, "not settled");
            self.run(Duration::from_millis(20));
            self.take();
        }
    }

    fn run(&mut self, duration: Duration) {
        let end = self.now() + duration;
        while self.now() < end {
            let readers = self.subscriber.group.readers();
            let timers = self.writers.iter().filter(|writer| writer.is_up);
            let timers = timers.filter_map(|writer| writer.machine.poll_timeout());
            let next = timers
                .chain(readers.iter().map(|reader| reader.due()))
                .min();
            let until = next
                .unwrap_or(end)
                .min(end)
                .since(Instant::ZERO + self.ahead);
            match self.network.receive_until(Instant::ZERO + until) {
                Some(arrival) => self.arrive(&arrival, &readers),
                None => self.fire_timers(&readers),
            }
        }
    }

    fn fire_timers(&mut self, readers: &[Arc<dyn ReaderEndpoint>]) {
        let now = self.now();
        for index in 0..self.writers.len() {
            let writer = &mut self.writers[index];
            let is_due = writer.machine.poll_timeout().is_some_and(|at| at <= now);
            if writer.is_up && is_due {
                writer.machine.handle_timeout(now, &mut self.outbox);
                let node = writer.node;
                self.flush(node);
            }
        }
        for reader in readers.iter().filter(|reader| reader.due() <= now) {
            reader.handle_timeout(now, &mut self.outbox);
            self.flush(self.node);
        }
    }

    fn arrive(&mut self, arrival: &Arrival, readers: &[Arc<dyn ReaderEndpoint>]) {
        let (now, timestamp) = (self.now(), clock::timestamp());
        for item in MessageReader::new(&arrival.bytes).expect("a header") {
            let (context, submessage) = item.expect("well-formed submessages");
            let context = &context;
            if arrival.to == self.node {
                let received = Received {
                    now,
                    timestamp,
                    context,
                    submessage: &submessage,
                };
                let to = receiver(&submessage);
                for reader in readers {
                    if to == EntityId::UNKNOWN || to == reader.guid().entity {
                        reader.receive(&received, &mut self.outbox);
                    }
                }
                continue;
            }
            let mut writers = self.writers.iter_mut().filter(|writer| writer.is_up);
            let writer = writers.find(|writer| writer.node == arrival.to);
            if let (Some(writer), Submessage::AckNack(acknack)) = (writer, &submessage) {
                writer
                    .machine
                    .handle_acknack(now, context, acknack, &mut self.outbox);
            }
        }
        self.flush(arrival.to);
    }

    fn flush(&mut self, from: NodeId) {
        for (bytes, locators) in self.outbox.datagrams() {
            for locator in locators {
                self.network.send(from, *locator, bytes);
            }
        }
        self.outbox.clear();
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Begin => self.begin(),
            Step::End => self.end(),
            Step::Write(writer, key) => self.write(writer, key, ChangeKind::Alive),
            Step::Dispose(writer, key) => self.write(writer, key, ChangeKind::Disposed),
            Step::Wait(wait) => self.run(Duration::from_millis(wait)),
            Step::Take => {
                self.take();
            }
            Step::Look(wait) => self.look(wait),
            Step::Join => self.join(),
            Step::ReaderLeaves(reader) => self.reader_leaves(reader),
            Step::WriterLeaves(writer) => self.writer_leaves(writer),
        }
    }

    /// Ends with a set in which everybody who is there has a part; says where its prices begin.
    fn finish(&mut self) -> usize {
        self.end();
        self.settle();
        let first = self.written.len();
        self.begin();
        (0..self.writers.len()).for_each(|writer| self.write(writer, 0, ChangeKind::Alive));
        self.end();
        self.settle();
        // What waited for room comes once there is some.
        for _ in 0..200 {
            self.run(Duration::from_millis(50));
            self.take();
        }
        first
    }

    /// The prices of a set whose writers a reader was matched with.
    fn part_of(&self, set: usize, reader: usize) -> Vec<i64> {
        let writers = &self.readers[reader].writers;
        let written = self.written.iter().enumerate();
        written
            .filter(|(_, one)| one.set == Some(set) && writers.contains(&one.writer))
            .map(|(price, _)| price as i64)
            .collect()
    }

    /// When a reader has shown which prices of a set.
    fn shown(&self, set: usize, reader: usize, writer: Option<usize>) -> (Vec<usize>, Vec<i64>) {
        let seen = self.readers[reader].seen.iter().filter(|(_, price)| {
            let written = self.written[*price as usize];
            written.set == Some(set) && writer.is_none_or(|writer| writer == written.writer)
        });
        let (mut views, prices): (Vec<_>, Vec<_>) = seen.copied().unzip();
        views.dedup();
        (views, prices)
    }

    fn check_order(&self) {
        for node in &self.readers {
            for writer in 0..self.writers.len() {
                let own = |price: &&(usize, i64)| self.written[price.1 as usize].writer == writer;
                let prices: Vec<_> = node
                    .seen
                    .iter()
                    .filter(own)
                    .map(|(_, price)| price)
                    .collect();
                assert!(prices.is_sorted_by(|one, next| one < next), "{prices:?}");
            }
        }
    }

    /// Each writer's sets are whole in each reader, and appear at once.
    fn check_topic_sets(&self) {
        for set in 0..self.sets {
            for writer in 0..self.writers.len() {
                let reader = self.reader_of(writer);
                if reader >= self.readers.len() {
                    continue;
                }
                let mut part = self.part_of(set, reader);
                part.retain(|&price| self.written[price as usize].writer == writer);
                let (views, prices) = self.shown(set, reader, Some(writer));
                assert!(
                    prices.is_empty() || prices == part,
                    "set {set}: {prices:?} of {part:?}"
                );
                assert!(views.len() <= 1, "set {set} in {views:?}");
            }
        }
    }

    /// The publisher's sets are whole in all readers, and appear at once. One that was matched later
    /// shows what came before by itself, or more of it than others: sets that it alone has heard of.
    fn check_group_sets(&self) {
        for set in 0..self.sets {
            let (mut first_view, mut lacks) = (None, None);
            for (index, node) in self.readers.iter().enumerate() {
                let (views, prices) = self.shown(set, index, None);
                let part = self.part_of(set, index);
                let is_none = prices.is_empty();
                assert!(
                    is_none || prices == part,
                    "set {set}, reader {index}: {prices:?} of {part:?}"
                );
                assert!(views.len() <= 1, "set {set}, reader {index}: in {views:?}");
                if node.since > set {
                    continue;
                }
                if let Some(&view) = views.first() {
                    assert_eq!(*first_view.get_or_insert(view), view, "set {set}");
                } else if !part.is_empty() && node.reader.is_some() {
                    lacks = Some(index);
                }
            }
            if first_view.is_some() {
                assert_eq!(lacks, None, "set {set} is not shown by all");
                assert!(
                    !self.cut.contains(&set),
                    "set {set} lacks what a writer took along"
                );
            }
        }
    }

    /// The last set has come; without any trouble everything has.
    fn check_completeness(&self, first_of_last: usize) {
        let is_unlimited = self.setting.max_samples.is_none() && self.setting.depth.is_none();
        let all = !self.has_left && is_unlimited;
        let from = if all { 0 } else { first_of_last };
        for (price, written) in self.written.iter().enumerate().skip(from) {
            let Some(node) = self.readers.get(self.reader_of(written.writer)) else {
                continue;
            };
            let is_seen = node.seen.iter().any(|(_, seen)| *seen == price as i64);
            assert!(is_seen || node.reader.is_none(), "{price} has not come");
        }
    }
}

fn receiver(submessage: &Submessage<'_>) -> EntityId {
    match submessage {
        Submessage::Data(data) => data.reader,
        Submessage::Heartbeat(heartbeat) => heartbeat.reader,
        Submessage::Gap(gap) => gap.reader,
        other => panic!("unexpected {other:?}"),
    }
}

fn check(setting: &Setting, steps: &[Step]) {
    let mut sim = Sim::new(setting);
    steps.iter().for_each(|step| sim.step(step));
    let first_of_last = sim.finish();
    sim.check_order();
    match sim.is_group() {
        true => sim.check_group_sets(),
        false => sim.check_topic_sets(),
    }
    sim.check_completeness(first_of_last);
}

proptest! {
    #[test]
    fn sets_are_seen_whole_and_in_order_or_not_at_all(setting in settings(), steps in steps()) {
        check(&setting, &steps);
    }
}

/// Two writers of a publisher and a reader for each, without trouble.
const TWO: Setting = Setting {
    seed: 1,
    loss: 0,
    scope: PresentationScope::Group,
    ordered: false,
    writers: 2,
    one_topic: false,
    max_samples: None,
    depth: None,
    is_late: false,
};

impl Sim {
    fn prices(&self, reader: usize) -> Vec<i64> {
        let seen = self.readers[reader].seen.iter();
        seen.map(|(_, price)| *price).collect()
    }

    fn write_set(&mut self, writers: &[usize]) {
        self.begin();
        for &writer in writers {
            self.write(writer, 0, ChangeKind::Alive);
        }
        self.end();
    }

    fn acknowledged(&self, writer: usize) -> i64 {
        let mut readers = self.writers[writer].machine.readers();
        readers.next().map_or(0, |reader| reader.acknowledged.0)
    }
}

#[test]
fn sets_do_not_wait_for_a_reader_that_was_deleted() {
    let mut sim = Sim::new(&TWO);
    sim.write_set(&[0, 1]);
    sim.settle();
    sim.take();
    let access = sim.subscriber.begin_access();
    sim.write_set(&[0, 1]);
    sim.run(Duration::from_millis(10));
    sim.reader_leaves(1);
    access.end_access();
    sim.write_set(&[0]);
    sim.settle();
    sim.take();
    assert_eq!(sim.prices(0), [0, 2, 4]);
}

#[test]
fn what_waits_for_other_readers_is_bounded_and_none_of_it_lost() {
    let mut sim = Sim::new(&Setting {
        max_samples: Some(6),
        ..TWO
    });
    let other = sim.writers[1].node;
    sim.network.partition(other, sim.node);
    (0..50).for_each(|_| sim.write_set(&[0]));
    sim.run(Duration::from_secs(1));
    // A change and an end for each set, and what the machine keeps of the next.
    let acknowledged = sim.acknowledged(0);
    assert!((10..=16).contains(&acknowledged), "{acknowledged}");
    let reader = sim.readers[0].reader.as_ref().expect("there");
    assert!(reader.sample_rejected_status().count.total_count > 0);
    sim.network.heal(other, sim.node);
    sim.settle();
    sim.take();
    assert_eq!(sim.prices(0), (0..50).collect::<Vec<_>>());
}

#[test]
fn changes_that_waited_behind_a_set_are_not_lost_for_lack_of_room() {
    let mut sim = Sim::new(&Setting {
        max_samples: Some(6),
        ..TWO
    });
    let access = sim.subscriber.begin_access();
    sim.write_set(&[0]);
    (0..20).for_each(|_| sim.write(0, 0, ChangeKind::Alive));
    sim.run(Duration::from_secs(1));
    access.end_access();
    sim.settle();
    for _ in 0..10 {
        sim.take();
    }
    assert_eq!(sim.prices(0), (0..21).collect::<Vec<_>>());
}

#[test]
fn a_set_that_can_never_fit_is_discarded_in_all_readers_and_counted() {
    let mut sim = Sim::new(&Setting {
        max_samples: Some(3),
        ..TWO
    });
    sim.write_set(&[0, 0, 0, 0, 1]);
    sim.write_set(&[0, 1]);
    sim.settle();
    sim.take();
    assert_eq!((sim.prices(0), sim.prices(1)), (vec![5], vec![6]));
    for (reader, count) in [(0, 4), (1, 1)] {
        let reader = sim.readers[reader].reader.as_ref().expect("there");
        assert_eq!(reader.inbox_counters().discarded_with_set, count);
        assert_eq!(reader.sample_lost_status().total_count, count);
    }
}

#[test]
fn changes_of_several_writers_of_a_topic_come_in_the_order_of_the_publisher() {
    let mut sim = Sim::new(&Setting {
        one_topic: true,
        ..TWO
    });
    sim.write_set(&[0, 1, 1, 0, 1, 0]);
    sim.settle();
    assert_eq!(sim.prices(0), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_reader_that_joins_after_a_set_was_shown_gets_its_part_of_it() {
    let mut sim = Sim::new(&Setting {
        is_late: true,
        ..TWO
    });
    sim.write_set(&[0, 1]);
    sim.settle();
    sim.take();
    assert_eq!(sim.prices(0), [0]);
    sim.write_set(&[0, 1]);
    sim.join();
    sim.settle();
    sim.take();
    assert_eq!((sim.prices(0), sim.prices(1)), (vec![0, 2], vec![1, 3]));
}

#[test]
fn a_reader_that_joins_after_a_set_was_discarded_does_not_show_its_part() {
    let mut sim = Sim::new(&Setting {
        is_late: true,
        max_samples: Some(3),
        ..TWO
    });
    sim.write_set(&[0, 0, 0, 0, 1]);
    sim.write_set(&[0, 1]);
    sim.settle();
    sim.take();
    sim.join();
    sim.settle();
    sim.take();
    assert_eq!((sim.prices(0), sim.prices(1)), (vec![5], vec![6]));
}
