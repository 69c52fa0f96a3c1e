//! Writers and readers on a simulated network, in virtual time.
#![allow(dead_code, unreachable_pub, unused_imports)]

mod cache;
pub mod group;
pub mod plain_sample;
mod route;
pub mod script;

use std::net::Ipv4Addr;

use tickwire_base::{Duration, Instant, Locator, Timestamp};
use tickwire_rtps::reader::{Reader, ReaderConfig, WriterProxy};
use tickwire_rtps::wire::{EntityId, GroupDigest, Guid, GuidPrefix, SequenceNumber, VendorId};
use tickwire_rtps::writer::{HistoryKind, ReaderProxy, WriteError, Writer, WriterConfig};
use tickwire_rtps::{Change, Outbox};
use tickwire_simnet::{Arrival, Link, Network, NodeId};

pub use cache::{Cache, Sample, Told, assert_samples};
pub use route::{route_to_reader, route_to_writer, tell_reader, tell_writer};

pub const GROUP: Locator = Locator::udp_v4(Ipv4Addr::new(239, 255, 0, 1), 7401);

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
        prefix[..2].copy_from_slice(&VendorId::TICKWIRE.0);
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
            speaks_first: false,
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
        // Some of them without a time, which is another way to take.
        let next = self.writers[writer].writer.last().0 + 1;
        let time = Timestamp::from_nanos(next * 1_000_000_000);
        let change = Change {
            source_timestamp: Some(time).filter(|_| next / 32 % 4 != 3),
            ..Change::default()
        };
        self.write_change(writer, len, change)
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
            &change,
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
        self.end_group_set(writer, group_number, GroupDigest::NONE);
    }

    pub fn end_group_set(&mut self, writer: usize, group_number: i64, writers: GroupDigest) {
        let now = self.now();
        let node = &mut self.writers[writer];
        let id = node.node;
        let number = SequenceNumber(group_number);
        node.writer.end_set(now, number, writers, &mut self.outbox);
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
                self.network.send(from, *locator, &bytes.joined());
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

pub fn number(number: i64) -> SequenceNumber {
    SequenceNumber(number)
}
