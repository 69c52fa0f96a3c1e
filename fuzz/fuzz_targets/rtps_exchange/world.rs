//! A writer and a reader of ours, the network between them, and what must hold of both.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use std::sync::atomic::Ordering;

use tickwire_base::{Duration, Instant, Locator};
use tickwire_cdr::filter::Filter;
use tickwire_rtps::reader::{
    Delivery, Reader, ReaderConfig, ReceivedChange, SetEnd, Sink, WriterProxy,
};
use tickwire_rtps::wire::{
    Context, EntityId, GroupDigest, Guid, GuidPrefix, MessageReader, SequenceNumber,
    SerializedPayload, Submessage,
};
use tickwire_rtps::writer::{HistoryKind, ReaderProxy, WriteError, Writer, WriterConfig};
use tickwire_rtps::{Change, ChangeKind, Outbox};

use crate::LIVE;

const US: GuidPrefix = GuidPrefix([1; 12]);
const PEER: GuidPrefix = GuidPrefix([2; 12]);
pub(crate) const HOSTILE: GuidPrefix = GuidPrefix([3; 12]);
pub(crate) const WRITER: Guid = Guid::new(US, EntityId::user_writer(1, true));
const READER: Guid = Guid::new(PEER, EntityId::user_reader(1, true));
const BURST_LEN: usize = 8 << 10;
const MAX_MESSAGE_LEN: usize = 1024;
const BURST_INTERVAL: Duration = Duration::from_millis(1);
/// What a submessage may draw beside samples: an acknowledgement and four requests for fragments, or
/// a heartbeat and a GAP, with their datagram's header.
const MAX_ANSWER: usize = 5 * 72 + 64;
/// What all is kept in: histories, what came early, fragments, sets, and the queue.
const MAX_LIVE: usize = 24 << 20;
const MAX_QUEUE: usize = 128;
const MAX_WRITES: usize = 64;
/// What is older than that never comes: two old heartbeats after a silence of two seconds look like
/// a writer that began anew.
const MAX_DELAY: Duration = Duration::from_millis(1_900);

fn at(port: u16) -> Locator {
    Locator::udp_v4(Ipv4Addr::LOCALHOST, port)
}

/// Takes what is delivered and looks at its order.
#[derive(Default)]
pub(crate) struct Cache {
    last: BTreeMap<Guid, i64>,
    /// Lengths of the samples of our writer.
    pub(crate) ours: Vec<usize>,
    pub(crate) lost: u64,
    pub(crate) is_full: bool,
}

impl Sink for Cache {
    fn deliver(&mut self, change: &ReceivedChange<'_>) -> Delivery {
        if self.is_full {
            return Delivery::Full;
        }
        let number = change.sequence_number.0;
        let last = self.last.insert(change.writer, number).unwrap_or(0);
        assert!(
            last < number,
            "{number} of {:?} after {last}",
            change.writer
        );
        if change.writer == WRITER {
            let payload = match change.payload {
                SerializedPayload::Data(payload) | SerializedPayload::Key(payload) => payload,
                SerializedPayload::None => &[],
            };
            let fill = payload.get(4).copied().unwrap_or(0);
            // DATA pads to whole words.
            let body = payload.get(8..).unwrap_or_default();
            let whole = body.len().saturating_sub(3);
            assert!(body.iter().take(whole).all(|&byte| byte == fill));
            self.ours.push(payload.len());
        }
        Delivery::Accepted
    }

    fn lost(&mut self, writer: Guid, _count: u64) {
        self.lost += u64::from(writer == WRITER);
    }

    fn set_ended(&mut self, _writer: Guid, end: SetEnd) {
        assert!(end.first <= end.last);
    }
}

pub(crate) struct World {
    pub(crate) now: Instant,
    pub(crate) writer: Writer,
    pub(crate) reader: Reader,
    pub(crate) cache: Cache,
    /// Datagrams between ours, with the time when they were sent: to the reader, or to the writer.
    pub(crate) queue: VecDeque<(Instant, bool, Vec<u8>)>,
    pub(crate) outbox: Outbox,
    /// Lengths of our samples.
    pub(crate) written: Vec<usize>,
    is_in_set: bool,
    pub(crate) count: u32,
    /// What the writer may have sent by now, beside first transmissions.
    allowance: usize,
    restarts: u64,
    started_at: usize,
}

impl World {
    pub(crate) fn new(bits: u8) -> Self {
        let started_at = LIVE.load(Ordering::Relaxed);
        let now = Instant::from_nanos(1_000_000_000);
        let mut world = Self {
            now,
            writer: Writer::new(WriterConfig {
                transient_local: bits & 1 != 0,
                history: HistoryKind::KeepAll,
                presents: bits & 2 != 0,
                max_message_len: MAX_MESSAGE_LEN,
                max_unacknowledged_len: 1 << 20,
                burst_len: BURST_LEN,
                burst_interval: BURST_INTERVAL,
                ..WriterConfig::new(WRITER)
            }),
            reader: Reader::new(ReaderConfig {
                coherent: bits & 4 != 0,
                places: bits & 8 != 0,
                max_set: 256,
                max_set_len: 1 << 20,
                max_held: 64,
                max_held_len: 64 << 10,
                max_sample_len: 32 << 10,
                max_partial: 4,
                max_partial_len: 64 << 10,
                ..ReaderConfig::new(READER)
            }),
            cache: Cache::default(),
            queue: VecDeque::new(),
            outbox: Outbox::new(),
            written: Vec::new(),
            is_in_set: false,
            count: 0,
            allowance: BURST_LEN + 2 * MAX_MESSAGE_LEN,
            restarts: 0,
            started_at,
        };
        world.match_ours();
        for key in 1..=2 {
            world.match_hostile_reader(key, key == 2, None);
            world.match_hostile_writer(key, key == 1);
        }
        world
    }

    fn match_ours(&mut self) {
        let proxy = ReaderProxy {
            guid: READER,
            reliable: true,
            unicast: vec![at(1)],
            ..ReaderProxy::default()
        };
        self.writer.match_reader(self.now, proxy, &mut self.outbox);
        let proxy = WriterProxy {
            guid: WRITER,
            reliable: true,
            speaks_first: false,
            skip_history: false,
            unicast: vec![at(2)],
        };
        self.reader.match_writer(self.now, proxy, &mut self.outbox);
        self.sent();
    }

    pub(crate) fn match_hostile_reader(
        &mut self,
        key: u32,
        wants_history: bool,
        filter: Option<Filter>,
    ) {
        let proxy = ReaderProxy {
            guid: Guid::new(HOSTILE, EntityId::user_reader(key, true)),
            reliable: true,
            wants_history,
            filter: filter.map(Box::new),
            unicast: vec![at(3)],
            ..ReaderProxy::default()
        };
        self.writer.match_reader(self.now, proxy, &mut self.outbox);
        self.sent();
    }

    pub(crate) fn match_hostile_writer(&mut self, key: u32, reliable: bool) {
        let guid = Guid::new(HOSTILE, EntityId::user_writer(key, true));
        let proxy = WriterProxy {
            guid,
            reliable,
            speaks_first: false,
            skip_history: false,
            unicast: vec![at(3)],
        };
        self.reader.match_writer(self.now, proxy, &mut self.outbox);
        self.sent();
    }

    pub(crate) fn unmatch_hostile(&mut self, key: u32) {
        let reader = Guid::new(HOSTILE, EntityId::user_reader(key, true));
        self.writer.unmatch_reader(reader);
        let writer = Guid::new(HOSTILE, EntityId::user_writer(key, true));
        self.reader.unmatch_writer(writer, &mut self.cache);
        self.cache.last.remove(&writer);
    }

    /// Forwards what ours say to each other; says how many bytes went to anybody.
    pub(crate) fn sent(&mut self) -> usize {
        let mut len = 0;
        for (bytes, to) in self.outbox.datagrams() {
            assert!(bytes.len() <= MAX_MESSAGE_LEN.max(1452) + 64);
            len += bytes.len();
            for (to_reader, locator) in [(true, at(1)), (false, at(2))] {
                if to.contains(&locator) && self.queue.len() < MAX_QUEUE {
                    self.queue.push_back((self.now, to_reader, bytes.to_vec()));
                }
            }
        }
        self.outbox.clear();
        let live = LIVE.load(Ordering::Relaxed);
        assert!(live <= self.started_at + MAX_LIVE, "{live} bytes are kept");
        len
    }

    pub(crate) fn write(&mut self, len: usize, kind: ChangeKind) {
        if self.written.len() >= MAX_WRITES {
            return;
        }
        let fill = self.written.len() as u8;
        let change = Change {
            kind,
            key_hash: Some([fill % 3; 16]),
            ..Change::default()
        };
        let payload = |buffer: &mut Vec<u8>| {
            buffer.extend_from_slice(&[0, 7, 0, 0, fill, 0, 0, 0]);
            buffer.resize(buffer.len() + len, fill);
            Ok::<_, ()>(())
        };
        let (now, outbox) = (self.now, &mut self.outbox);
        match self.writer.write(now, &change, payload, outbox) {
            Ok(_) => self.written.push(8 + len),
            Err(WriteError::WouldBlock) => {}
            Err(error) => panic!("{error:?}"),
        }
        self.sent();
    }

    pub(crate) fn set(&mut self, begins: bool) {
        match begins && self.written.len() < MAX_WRITES {
            true => self.writer.begin_set(SequenceNumber::ZERO),
            false => {
                let (zero, writers) = (SequenceNumber::ZERO, GroupDigest::NONE);
                self.writer
                    .end_set(self.now, zero, writers, &mut self.outbox);
            }
        }
        self.is_in_set = begins;
        self.sent();
    }

    /// Hands a datagram to the reader, the writer, or as a hostile one to both.
    pub(crate) fn deliver(&mut self, to_reader: bool, to_writer: bool, datagram: &[u8]) {
        let Ok(message) = MessageReader::new(datagram) else {
            return;
        };
        for item in message {
            let Ok((context, submessage)) = item else {
                break;
            };
            if to_reader && context.is_for(PEER) {
                self.tell_reader(&context, &submessage);
                let said = self.sent();
                assert!(said <= MAX_ANSWER, "{said} bytes for {submessage:?}");
            }
            if to_writer && context.is_for(US) {
                self.tell_writer(&context, &submessage);
                let said = self.sent();
                self.charge(said, MAX_ANSWER);
            }
        }
    }

    /// Whatever the writer says at the request of others comes out of bursts, but for what one
    /// submessage may draw at once.
    fn charge(&mut self, said: usize, free: usize) {
        let cost = said.saturating_sub(free);
        assert!(cost <= self.allowance, "{cost} bytes of {}", self.allowance);
        self.allowance -= cost;
    }

    fn tell_reader(&mut self, context: &Context<'_>, submessage: &Submessage<'_>) {
        let (now, sink) = (self.now, &mut self.cache);
        let (reader, outbox) = (&mut self.reader, &mut self.outbox);
        match submessage {
            Submessage::Data(data) => reader.handle_data(now, context, data, sink),
            Submessage::DataFrag(data) => reader.handle_data_frag(now, context, data, sink),
            Submessage::Heartbeat(heartbeat) => {
                reader.handle_heartbeat(now, context, heartbeat, sink, outbox);
            }
            Submessage::HeartbeatFrag(heartbeat) => {
                reader.handle_heartbeat_frag(now, context, heartbeat, outbox);
            }
            Submessage::Gap(gap) => reader.handle_gap(context, gap, sink),
            _ => {}
        }
        reader.answer_owed(outbox);
        let restarts = reader.counters().restarts;
        if restarts > std::mem::replace(&mut self.restarts, restarts) {
            // It numbers anew.
            self.cache.last.remove(&context.source(match submessage {
                Submessage::Heartbeat(heartbeat) => heartbeat.writer,
                _ => unreachable!("only heartbeats tell of a restart"),
            }));
        }
    }

    fn tell_writer(&mut self, context: &Context<'_>, submessage: &Submessage<'_>) {
        let (now, outbox) = (self.now, &mut self.outbox);
        match submessage {
            Submessage::AckNack(acknack) => {
                self.writer.handle_acknack(now, context, acknack, outbox);
            }
            Submessage::NackFrag(nack) => {
                self.writer.handle_nack_frag(now, context, nack, outbox);
            }
            _ => {}
        }
    }

    pub(crate) fn deliver_first(&mut self) {
        if let Some((sent_at, to_reader, datagram)) = self.queue.pop_front()
            && self.now.since(sent_at) < MAX_DELAY
        {
            self.deliver(to_reader, !to_reader, &datagram);
        }
    }

    pub(crate) fn pass(&mut self, duration: Duration, honest: bool) {
        let end = self.now + duration;
        for _ in 0..2000 {
            while honest && !self.queue.is_empty() {
                self.deliver_first();
            }
            let due = [self.writer.poll_timeout(), self.reader.poll_timeout()];
            let Some(next) = due.into_iter().flatten().min().filter(|&next| next <= end) else {
                break;
            };
            self.refill(next);
            self.writer.handle_timeout(self.now, &mut self.outbox);
            let said = self.sent();
            self.charge(said, 4 * MAX_ANSWER);
            self.reader.handle_timeout(self.now, &mut self.outbox);
            let said = self.sent();
            assert!(said <= 3 * MAX_ANSWER, "{said} bytes");
        }
        self.refill(end);
    }

    /// Time goes on, and bursts with it.
    fn refill(&mut self, now: Instant) {
        if now > self.now {
            let bursts = now.since(self.now).as_nanos() / BURST_INTERVAL.as_nanos() + 2;
            let len = usize::try_from(bursts).unwrap_or(usize::MAX);
            let more = len.saturating_mul(BURST_LEN + 2 * MAX_MESSAGE_LEN);
            self.allowance = self.allowance.saturating_add(more);
            self.now = now;
        }
    }
}
