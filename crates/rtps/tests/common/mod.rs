//! Writers and readers on a simulated network, in virtual time.
#![allow(dead_code, unreachable_pub)]

pub mod group;
pub mod script;

use std::net::Ipv4Addr;

use tickwire_base::{Duration, Instant, Locator, Timestamp};
use tickwire_rtps::reader::{
    CoherentSet, Delivery, Reader, ReaderConfig, ReceivedChange, SetEnd, SetPart, Sink, WriterProxy,
};
use tickwire_rtps::wire::{
    Context, EntityId, Guid, GuidPrefix, MessageReader, SequenceNumber, SerializedPayload,
    Submessage,
};
use tickwire_rtps::writer::{HistoryKind, ReaderProxy, WriteError, Writer, WriterConfig};
use tickwire_rtps::{Change, ChangeKind, KeyHash, Outbox, Place};
use tickwire_simnet::{Arrival, Link, Network, NodeId};

pub const GROUP: Locator = Locator::udp_v4(Ipv4Addr::new(239, 255, 0, 1), 7401);

/// What a reader has been given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    pub writer: Guid,
    pub number: i64,
    pub kind: ChangeKind,
    pub key_hash: Option<KeyHash>,
    pub source_timestamp: Option<Timestamp>,
    pub payload: Vec<u8>,
    pub place: Place,
}

/// A cache that may be full.
#[derive(Debug)]
pub struct Cache {
    pub samples: Vec<Sample>,
    pub lost: u64,
    pub room: usize,
    /// What came together: how many samples each time.
    pub sets: Vec<usize>,
    /// Sets that were offered, each time: whether they were refused before.
    pub offers: Vec<bool>,
    /// What a subscriber would be told, in order.
    pub told: Vec<(Guid, Told)>,
}

/// What a reader tells of the sets of a publisher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    Begun(SequenceNumber),
    /// With the changes that were delivered.
    Ended(SetEnd, usize),
    /// A change in no set: its number in the writer and in the publisher.
    Passed(SequenceNumber, SequenceNumber),
}

impl Default for Cache {
    fn default() -> Self {
        Self {
            samples: Vec::new(),
            lost: 0,
            room: usize::MAX,
            sets: Vec::new(),
            offers: Vec::new(),
            told: Vec::new(),
        }
    }
}

impl Cache {
    pub fn numbers(&self) -> Vec<i64> {
        self.samples.iter().map(|sample| sample.number).collect()
    }
}

impl Sink for Cache {
    fn deliver(&mut self, change: ReceivedChange<'_>) -> Delivery {
        if self.samples.len() >= self.room {
            return Delivery::Full;
        }
        let payload = match change.payload {
            SerializedPayload::None => &[],
            SerializedPayload::Data(bytes) | SerializedPayload::Key(bytes) => bytes,
        };
        self.samples.push(Sample {
            writer: change.writer,
            number: change.sequence_number.0,
            kind: change.kind,
            key_hash: change.key_hash,
            source_timestamp: change.source_timestamp,
            payload: payload.to_vec(),
            place: change.place,
        });
        let place = change.place;
        if place.coherent_set < SequenceNumber::FIRST && place.group.number >= SequenceNumber::FIRST
        {
            let passed = Told::Passed(change.sequence_number, place.group.number);
            self.told.push((change.writer, passed));
        }
        Delivery::Accepted
    }

    fn lost(&mut self, _: Guid, count: u64) {
        self.lost = self.lost.saturating_add(count);
    }

    fn deliver_set(&mut self, set: CoherentSet<'_>) -> Delivery {
        self.offers.push(set.was_refused);
        if self.samples.len() + set.len() > self.room {
            return Delivery::Full;
        }
        self.sets.push(set.len());
        for change in set.iter() {
            assert_eq!(self.deliver(change), Delivery::Accepted);
        }
        Delivery::Accepted
    }

    fn set_begun(&mut self, writer: Guid, group_set: SequenceNumber) {
        self.told.push((writer, Told::Begun(group_set)));
    }

    fn set_ended(&mut self, writer: Guid, end: SetEnd) {
        let count = match end.part {
            SetPart::Delivered => self.sets.last().copied().unwrap_or(0),
            _ => 0,
        };
        self.told.push((writer, Told::Ended(end, count)));
    }
}

pub struct WriterNode {
    pub node: NodeId,
    pub locator: Locator,
    pub writer: Writer,
    pub up: bool,
}

impl WriterNode {
    /// Whether all of its changes are acknowledged.
    pub fn acknowledged(&self) -> bool {
        self.writer.is_acknowledged(self.writer.last())
    }
}

pub struct ReaderNode {
    pub node: NodeId,
    pub locator: Locator,
    pub multicast: bool,
    pub reader: Reader,
    pub cache: Cache,
    pub up: bool,
}

pub struct World {
    pub network: Network,
    pub writers: Vec<WriterNode>,
    pub readers: Vec<ReaderNode>,
    outbox: Outbox,
    nodes: u16,
}

/// Every test of a payload is its own: the number, then what the number determines.
pub fn payload(number: i64, len: usize) -> Vec<u8> {
    let mut bytes = Vec::from(number.to_le_bytes());
    let mut rng = tickwire_simnet::Rng::new(number.unsigned_abs());
    bytes.resize(len.max(8), 0);
    rng.fill(&mut bytes[8..]);
    bytes
}

pub fn keep_all() -> WriterConfig {
    WriterConfig {
        history: HistoryKind::KeepAll,
        ..WriterConfig::new(Guid::UNKNOWN)
    }
}

pub fn keep_last(depth: u32) -> WriterConfig {
    WriterConfig {
        history: HistoryKind::KeepLast(depth),
        ..WriterConfig::new(Guid::UNKNOWN)
    }
}

pub fn reader_config() -> ReaderConfig {
    ReaderConfig::new(Guid::UNKNOWN)
}

impl World {
    pub fn new(seed: u64, link: Link) -> Self {
        Self {
            network: Network::new(seed, link),
            writers: Vec::new(),
            readers: Vec::new(),
            outbox: Outbox::new(),
            nodes: 0,
        }
    }

    pub fn now(&self) -> Instant {
        self.network.now()
    }

    fn add_node(&mut self, name: &str) -> (NodeId, Locator, GuidPrefix) {
        self.nodes += 1;
        let node = self.network.add_node(name);
        let locator = Locator::udp_v4(Ipv4Addr::LOCALHOST, self.nodes);
        self.network.listen(node, locator);
        let mut prefix = [7; 12];
        prefix[10..].copy_from_slice(&self.nodes.to_be_bytes());
        (node, locator, GuidPrefix(prefix))
    }

    pub fn add_writer(&mut self, config: WriterConfig) -> usize {
        let (node, locator, prefix) = self.add_node("writer");
        let guid = Guid::new(prefix, EntityId::user_writer(1, true));
        self.writers.push(WriterNode {
            node,
            locator,
            writer: Writer::new(WriterConfig { guid, ..config }),
            up: true,
        });
        self.writers.len() - 1
    }

    pub fn add_reader(&mut self, config: ReaderConfig, multicast: bool) -> usize {
        let (node, locator, prefix) = self.add_node("reader");
        if multicast {
            self.network.listen(node, GROUP);
        }
        let guid = Guid::new(prefix, EntityId::user_reader(1, true));
        self.readers.push(ReaderNode {
            node,
            locator,
            multicast,
            reader: Reader::new(ReaderConfig { guid, ..config }),
            cache: Cache::default(),
            up: true,
        });
        self.readers.len() - 1
    }

    /// Tells both that they match: the writer first.
    pub fn connect(&mut self, writer: usize, reader: usize, reliable: bool, history: bool) {
        self.tell_writer(writer, reader, reliable, history);
        self.tell_reader(writer, reader, reliable);
    }

    pub fn tell_writer(&mut self, writer: usize, reader: usize, reliable: bool, history: bool) {
        let proxy = ReaderProxy {
            reliable,
            wants_history: history,
            ..self.proxy(reader)
        };
        self.match_reader(writer, proxy);
    }

    /// A reader, best effort, as a writer is told of it.
    pub fn proxy(&self, reader: usize) -> ReaderProxy {
        let node = &self.readers[reader];
        ReaderProxy {
            guid: node.reader.guid(),
            unicast: vec![node.locator],
            multicast: if node.multicast { vec![GROUP] } else { vec![] },
            ..ReaderProxy::default()
        }
    }

    pub fn match_reader(&mut self, writer: usize, proxy: ReaderProxy) {
        let now = self.now();
        let writer_node = self.writers[writer].node;
        let writer = &mut self.writers[writer].writer;
        writer.match_reader(now, proxy, &mut self.outbox);
        self.flush(writer_node);
    }

    pub fn tell_reader(&mut self, writer: usize, reader: usize, reliable: bool) {
        let proxy = WriterProxy {
            guid: self.writers[writer].writer.guid(),
            reliable,
            skip_history: false,
            unicast: vec![self.writers[writer].locator],
        };
        let now = self.now();
        let node = self.readers[reader].node;
        let reader = &mut self.readers[reader].reader;
        reader.match_writer(now, proxy, &mut self.outbox);
        self.flush(node);
    }

    /// Tells a reader that a writer is gone; false if it did not know it.
    pub fn unmatch_writer(&mut self, reader: usize, writer: Guid) -> bool {
        let node = &mut self.readers[reader];
        node.reader.unmatch_writer(writer, &mut node.cache)
    }

    /// Writes the next sample with a payload of `len` bytes.
    pub fn write(&mut self, writer: usize, len: usize) -> Result<i64, WriteError<()>> {
        self.write_change(writer, len, Change::default())
    }

    pub fn write_change(
        &mut self,
        writer: usize,
        len: usize,
        change: Change,
    ) -> Result<i64, WriteError<()>> {
        let next = self.writers[writer].writer.last().0 + 1;
        self.write_payload(writer, change, &payload(next, len))
    }

    pub fn write_payload(
        &mut self,
        writer: usize,
        change: Change,
        payload: &[u8],
    ) -> Result<i64, WriteError<()>> {
        let now = self.now();
        let node = &mut self.writers[writer];
        let written = node.writer.write(
            now,
            change,
            |buffer| {
                buffer.extend_from_slice(payload);
                Ok(())
            },
            &mut self.outbox,
        );
        let id = node.node;
        self.flush(id);
        written.map(|number| number.0)
    }

    pub fn begin_set(&mut self, writer: usize, group_set: i64) {
        let writer = &mut self.writers[writer].writer;
        writer.begin_set(SequenceNumber(group_set));
    }

    pub fn end_set(&mut self, writer: usize, group_number: i64) {
        let now = self.now();
        let node = &mut self.writers[writer];
        let id = node.node;
        let number = SequenceNumber(group_number);
        node.writer.end_set(now, number, &mut self.outbox);
        self.flush(id);
    }

    /// Writes as soon as there is room.
    pub fn write_blocking(&mut self, writer: usize, len: usize) -> i64 {
        for _ in 0..100_000 {
            match self.write(writer, len) {
                Ok(number) => return number,
                Err(WriteError::WouldBlock) => self.step(Instant::MAX),
                Err(error) => panic!("{error:?}"),
            }
        }
        panic!("blocked for ever at {:?}", self.now());
    }

    /// Whether every sample of every writer is acknowledged.
    pub fn settled(&self) -> bool {
        self.writers
            .iter()
            .filter(|node| node.up)
            .all(WriterNode::acknowledged)
    }

    /// Runs until all is acknowledged; panics if that takes longer than `limit`.
    pub fn settle(&mut self, limit: Duration) {
        let end = self.now() + limit;
        while !self.settled() {
            assert!(self.now() < end, "not settled within {limit:?}: {self:#?}");
            self.step(end);
        }
    }

    pub fn run(&mut self, duration: Duration) {
        let end = self.now() + duration;
        while self.now() < end {
            self.step(end);
        }
    }

    /// The next thing that happens until `end`: timers that are due, or an arrival.
    pub fn step(&mut self, end: Instant) {
        let timers = self.writers.iter().filter(|node| node.up);
        let timers = timers.filter_map(|node| node.writer.poll_timeout());
        let readers = self.readers.iter().filter(|node| node.up);
        let readers = readers.filter_map(|node| node.reader.poll_timeout());
        let timer = timers.chain(readers).min().unwrap_or(Instant::MAX);
        let next = self.network.next_arrival_at().unwrap_or(Instant::MAX);
        assert!(
            end < Instant::MAX || timer < Instant::MAX || next < Instant::MAX,
            "nothing will ever happen again"
        );
        match self.network.receive_until(timer.min(end)) {
            Some(arrival) => self.arrive(&arrival),
            None => self.fire_timers(),
        }
    }

    fn fire_timers(&mut self) {
        let now = self.now();
        for i in 0..self.writers.len() {
            let node = &mut self.writers[i];
            if node.up && node.writer.poll_timeout().is_some_and(|at| at <= now) {
                node.writer.handle_timeout(now, &mut self.outbox);
                let id = node.node;
                self.flush(id);
            }
        }
        for i in 0..self.readers.len() {
            let node = &mut self.readers[i];
            if node.up && node.reader.poll_timeout().is_some_and(|at| at <= now) {
                node.reader.handle_timeout(now, &mut self.outbox);
                let id = node.node;
                self.flush(id);
            }
        }
    }

    fn arrive(&mut self, arrival: &Arrival) {
        let now = self.now();
        for node in self
            .writers
            .iter_mut()
            .filter(|n| n.node == arrival.to && n.up)
        {
            tell_writer(&mut node.writer, now, &arrival.bytes, &mut self.outbox);
        }
        for node in self
            .readers
            .iter_mut()
            .filter(|n| n.node == arrival.to && n.up)
        {
            let (reader, cache) = (&mut node.reader, &mut node.cache);
            tell_reader(reader, cache, now, &arrival.bytes, &mut self.outbox);
        }
        self.flush(arrival.to);
    }

    /// Lets the cache of a reader take up to `room` samples in all.
    pub fn make_room(&mut self, reader: usize, room: usize) {
        let now = self.now();
        let node = &mut self.readers[reader];
        node.cache.room = room;
        node.reader.resume(now, &mut node.cache, &mut self.outbox);
        let id = node.node;
        self.flush(id);
    }

    pub fn flush(&mut self, from: NodeId) {
        for (bytes, locators) in self.outbox.datagrams() {
            for locator in locators {
                self.network.send(from, *locator, bytes);
            }
        }
        self.outbox.clear();
    }

    pub fn last(&self, writer: usize) -> i64 {
        self.writers[writer].writer.last().0
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "at {:?}, {:?}", self.now(), self.network.totals())?;
        for node in &self.writers {
            writeln!(f, "{:?} {:?}", node.writer, node.writer.counters())?;
            writeln!(f, "  {:?}", node.writer.readers().collect::<Vec<_>>())?;
        }
        for node in &self.readers {
            writeln!(f, "{:?} {:?}", node.reader, node.reader.counters())?;
            writeln!(f, "  {:?}", node.reader.writers().collect::<Vec<_>>())?;
        }
        Ok(())
    }
}

/// Hands a datagram's submessages to a writer, as a participant does.
pub fn tell_writer(writer: &mut Writer, now: Instant, datagram: &[u8], outbox: &mut Outbox) {
    let guid = writer.guid();
    for item in MessageReader::new(datagram).expect("a header") {
        let (context, submessage) = item.expect("well-formed submessages");
        if !context.is_for(guid.prefix) {
            continue;
        }
        route_to_writer(writer, now, &context, &submessage, outbox);
    }
}

/// Hands a submessage to a writer if it is the one named.
pub fn route_to_writer(
    writer: &mut Writer,
    now: Instant,
    context: &Context<'_>,
    submessage: &Submessage<'_>,
    outbox: &mut Outbox,
) {
    let guid = writer.guid();
    match submessage {
        Submessage::AckNack(acknack) if acknack.writer == guid.entity => {
            writer.handle_acknack(now, context, acknack, outbox);
        }
        Submessage::NackFrag(nack) if nack.writer == guid.entity => {
            writer.handle_nack_frag(now, context, nack, outbox);
        }
        _ => {}
    }
}

/// Hands a datagram's submessages to a reader, as a participant does.
pub fn tell_reader(
    reader: &mut Reader,
    sink: &mut impl Sink,
    now: Instant,
    datagram: &[u8],
    outbox: &mut Outbox,
) {
    let guid = reader.guid();
    for item in MessageReader::new(datagram).expect("a header") {
        let (context, submessage) = item.expect("well-formed submessages");
        if !context.is_for(guid.prefix) {
            continue;
        }
        route_to_reader(reader, sink, now, &context, &submessage, outbox);
    }
}

/// Hands a submessage to a reader if it is among those named.
pub fn route_to_reader(
    reader: &mut Reader,
    sink: &mut impl Sink,
    now: Instant,
    context: &Context<'_>,
    submessage: &Submessage<'_>,
    outbox: &mut Outbox,
) {
    let guid = reader.guid();
    let mine = |entity| entity == EntityId::UNKNOWN || entity == guid.entity;
    match submessage {
        Submessage::Data(data) if mine(data.reader) => {
            reader.handle_data(now, context, data, sink);
        }
        Submessage::DataFrag(data) if mine(data.reader) => {
            reader.handle_data_frag(now, context, data, sink);
        }
        Submessage::Heartbeat(heartbeat) if mine(heartbeat.reader) => {
            reader.handle_heartbeat(now, context, heartbeat, sink, outbox);
        }
        Submessage::HeartbeatFrag(heartbeat) if mine(heartbeat.reader) => {
            reader.handle_heartbeat_frag(now, context, heartbeat);
        }
        Submessage::Gap(gap) if mine(gap.reader) => {
            reader.handle_gap(context, gap, sink);
        }
        _ => {}
    }
}

/// Checks that a reader was given exactly these samples of lengths `len(number)`.
pub fn assert_samples(
    cache: &Cache,
    numbers: impl Iterator<Item = i64>,
    len: impl Fn(i64) -> usize,
    seed: u64,
) {
    let numbers: Vec<i64> = numbers.collect();
    assert_eq!(cache.numbers(), numbers, "seed {seed}");
    for sample in &cache.samples {
        let expected = payload(sample.number, len(sample.number));
        // DATA pads to a multiple of four.
        assert_eq!(
            sample.payload.get(..expected.len()),
            Some(&expected[..]),
            "sample {}, seed {seed}",
            sample.number
        );
        assert!(sample.payload.len() < expected.len() + 4);
    }
}

pub fn number(number: i64) -> SequenceNumber {
    SequenceNumber(number)
}
