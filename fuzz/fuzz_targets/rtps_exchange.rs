//! Whole conversations about samples: a writer and a reader of ours talk over a network that loses,
//! repeats and reorders, while another participant, matched with both, says whatever it likes: data,
//! heartbeats, gaps, fragments, coherent sets, acknowledgements, requests, raw bytes.
//!
//! Nothing panics. Each writer's samples come in ascending order, none twice. What is said back is
//! bounded by what was said, and by the burst that the writer is allowed. What is kept is bounded,
//! too. When the network is honest again, every sample has arrived, whole.
#![no_main]

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};

use libfuzzer_sys::fuzz_target;
use tickwire_base::{Duration, Instant, Locator};
use tickwire_cdr::filter::Filter;
use tickwire_cdr::{Extensibility, Member, Type, TypeDescription};
use tickwire_rtps::reader::{
    Delivery, Reader, ReaderConfig, ReceivedChange, SetEnd, Sink, WriterProxy,
};
use tickwire_rtps::wire::{
    AckNack, Context, Data, DataFrag, EntityId, FragmentNumberSet, Gap, Guid, GuidPrefix,
    Heartbeat, HeartbeatFrag, InlineQos, MessageReader, MessageWriter, NackFrag,
    ParameterListWriter, SequenceNumber, SequenceNumberSet, SerializedPayload, StatusInfo,
    Submessage,
};
use tickwire_rtps::writer::{HistoryKind, ReaderProxy, WriteError, Writer, WriterConfig};
use tickwire_rtps::{Change, ChangeKind, GroupPlace, Outbox, Place};

/// Counts the bytes that are allocated now.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const US: GuidPrefix = GuidPrefix([1; 12]);
const PEER: GuidPrefix = GuidPrefix([2; 12]);
const HOSTILE: GuidPrefix = GuidPrefix([3; 12]);
const WRITER: Guid = Guid::new(US, EntityId::user_writer(1, true));
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

/// The input, byte by byte; zeros after its end.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// A small number, one near `near`, or one at an edge.
    fn number(&mut self, near: i64) -> i64 {
        let byte = self.byte();
        let low = i64::from(byte & 63);
        match byte >> 6 {
            0 => low,
            1 => near.saturating_add(low - 8),
            2 => near.saturating_add(low * i64::from(self.byte()) * 64),
            _ => [
                i64::MIN,
                -1,
                1 << 32,
                i64::MAX - 256,
                i64::MAX - 1,
                i64::MAX,
            ][low as usize % 6],
        }
    }
}

/// Takes what is delivered and looks at its order.
#[derive(Default)]
struct Cache {
    last: BTreeMap<Guid, i64>,
    /// Lengths of the samples of our writer.
    ours: Vec<usize>,
    lost: u64,
    is_full: bool,
}

impl Sink for Cache {
    fn deliver(&mut self, change: ReceivedChange<'_>) -> Delivery {
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

struct World {
    now: Instant,
    writer: Writer,
    reader: Reader,
    cache: Cache,
    /// Datagrams between ours, with the time when they were sent: to the reader, or to the writer.
    queue: VecDeque<(Instant, bool, Vec<u8>)>,
    outbox: Outbox,
    /// Lengths of our samples.
    written: Vec<usize>,
    is_in_set: bool,
    count: u32,
    /// What the writer may have sent by now, beside first transmissions.
    allowance: usize,
    restarts: u64,
    started_at: usize,
}

impl World {
    fn new(bits: u8) -> Self {
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
            skip_history: false,
            unicast: vec![at(2)],
        };
        self.reader.match_writer(self.now, proxy, &mut self.outbox);
        self.sent();
    }

    fn match_hostile_reader(&mut self, key: u32, wants_history: bool, filter: Option<Filter>) {
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

    fn match_hostile_writer(&mut self, key: u32, reliable: bool) {
        let guid = Guid::new(HOSTILE, EntityId::user_writer(key, true));
        let proxy = WriterProxy {
            guid,
            reliable,
            skip_history: false,
            unicast: vec![at(3)],
        };
        self.reader.match_writer(self.now, proxy, &mut self.outbox);
        self.sent();
    }

    fn unmatch_hostile(&mut self, key: u32) {
        let reader = Guid::new(HOSTILE, EntityId::user_reader(key, true));
        self.writer.unmatch_reader(reader);
        let writer = Guid::new(HOSTILE, EntityId::user_writer(key, true));
        self.reader.unmatch_writer(writer, &mut self.cache);
        self.cache.last.remove(&writer);
    }

    /// Forwards what ours say to each other; says how many bytes went to anybody.
    fn sent(&mut self) -> usize {
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

    fn write(&mut self, len: usize, kind: ChangeKind) {
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
            buffer.resize(8 + len, fill);
            Ok::<_, ()>(())
        };
        let (now, outbox) = (self.now, &mut self.outbox);
        match self.writer.write(now, change, payload, outbox) {
            Ok(_) => self.written.push(8 + len),
            Err(WriteError::WouldBlock) => {}
            Err(error) => panic!("{error:?}"),
        }
        self.sent();
    }

    fn set(&mut self, begins: bool) {
        match begins && self.written.len() < MAX_WRITES {
            true => self.writer.begin_set(SequenceNumber::ZERO),
            false => {
                let zero = SequenceNumber::ZERO;
                self.writer.end_set(self.now, zero, &mut self.outbox);
            }
        }
        self.is_in_set = begins;
        self.sent();
    }

    /// Hands a datagram to the reader, the writer, or as a hostile one to both.
    fn deliver(&mut self, to_reader: bool, to_writer: bool, datagram: &[u8]) {
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
                reader.handle_heartbeat_frag(now, context, heartbeat);
            }
            Submessage::Gap(gap) => reader.handle_gap(context, gap, sink),
            _ => {}
        }
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

    fn deliver_first(&mut self) {
        if let Some((sent_at, to_reader, datagram)) = self.queue.pop_front()
            && self.now.since(sent_at) < MAX_DELAY
        {
            self.deliver(to_reader, !to_reader, &datagram);
        }
    }

    fn pass(&mut self, duration: Duration, honest: bool) {
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

    fn hostile(&mut self, input: &mut Bytes<'_>) {
        let mut datagram = Vec::new();
        let mut message = MessageWriter::new(&mut datagram, HOSTILE);
        for _ in 0..1 + input.below(4) {
            self.count = match input.byte() {
                byte @ 0..16 => u32::from(byte) << 28,
                _ => self.count.wrapping_add(1),
            };
            match input.byte() % 3 {
                0 => say_as_reader(&mut message, input, self.writer.last().0, self.count),
                _ => say_as_writer(&mut message, input, self.count),
            }
        }
        self.deliver(true, true, &datagram);
    }
}

/// An inline QoS of whatever parameters.
fn inline_qos(input: &mut Bytes<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let bits = input.byte();
    if bits & 7 == 7 {
        return input.take(usize::from(bits >> 3)).to_vec();
    }
    if bits & 3 == 0 {
        return bytes;
    }
    let mut list = ParameterListWriter::new(&mut bytes);
    if bits & 1 != 0 {
        let mut number = || match input.byte() {
            255 => SequenceNumber::UNKNOWN,
            byte => SequenceNumber(i64::from(byte >> 2)),
        };
        list.place(&Place {
            coherent_set: number(),
            group: GroupPlace {
                number: number(),
                coherent_set: number(),
            },
        });
    }
    if bits & 2 != 0 {
        list.status_info(StatusInfo(u32::from(bits >> 3)));
        list.key_hash([bits; 16]);
    }
    list.finish();
    bytes
}

fn say_as_writer(message: &mut MessageWriter<'_>, input: &mut Bytes<'_>, count: u32) {
    let writer = EntityId::user_writer(1 + u32::from(input.byte() & 1), true);
    let reader = EntityId::UNKNOWN;
    let sequence_number = SequenceNumber(input.number(1));
    let qos = match input.byte() & 1 {
        0 => Vec::new(),
        _ => inline_qos(input),
    };
    let inline_qos = InlineQos {
        bytes: &qos,
        little_endian: true,
    };
    let payload = &[0x5a; 600][..input.below(150) * 4];
    match input.byte() % 8 {
        0..3 => message.data(&Data {
            reader,
            writer,
            sequence_number,
            inline_qos,
            payload: match payload {
                [] => SerializedPayload::None,
                payload => SerializedPayload::Data(payload),
            },
        }),
        3 => message.data_frag(&DataFrag {
            reader,
            writer,
            sequence_number,
            fragment_start: u32::from(input.byte()),
            fragment_count: u16::from(input.byte() % 8),
            fragment_size: [1, 8, 64, 512][input.below(4)],
            sample_size: [64, 600, 5_000, 30_000, u32::MAX][input.below(5)],
            inline_qos,
            is_key: input.byte() == 7,
            payload,
        }),
        4 | 5 => message.heartbeat(&Heartbeat {
            reader,
            writer,
            first: sequence_number,
            last: SequenceNumber(input.number(sequence_number.0)),
            count,
            is_final: input.byte() & 1 == 0,
            liveliness: false,
        }),
        6 => message.heartbeat_frag(&HeartbeatFrag {
            reader,
            writer,
            sequence_number,
            last_fragment: u32::from(input.byte()),
            count,
        }),
        _ => message.gap(&Gap {
            reader,
            writer,
            start: sequence_number,
            list: set(input.number(sequence_number.0), input),
        }),
    };
}

fn say_as_reader(message: &mut MessageWriter<'_>, input: &mut Bytes<'_>, last: i64, count: u32) {
    let reader = EntityId::user_reader(1 + u32::from(input.byte() & 1), true);
    let number = input.number(last);
    if input.byte() & 3 == 0 {
        let mut state = FragmentNumberSet::empty(1 + u32::from(input.byte() & 15));
        for _ in 0..input.byte() {
            let fragment = state.base.saturating_add(u32::from(input.byte()));
            state.insert(fragment);
        }
        message.nack_frag(&NackFrag {
            reader,
            writer: WRITER.entity,
            sequence_number: SequenceNumber(number),
            state,
            count,
        });
    } else {
        message.acknack(&AckNack {
            reader,
            writer: WRITER.entity,
            state: set(number, input),
            count,
            is_final: input.byte() & 1 == 0,
        });
    }
}

/// A set from `base`: nothing, everything, every other one, or some.
fn set(base: i64, input: &mut Bytes<'_>) -> SequenceNumberSet {
    let mut set = SequenceNumberSet::empty(SequenceNumber(base));
    let step = match input.byte() {
        0..64 => return set,
        64..128 => 1,
        128..192 => 2,
        _ => 1 + input.below(40),
    };
    for offset in (0..256).step_by(step) {
        set.insert(SequenceNumber(base.saturating_add(offset)));
    }
    set
}

fn filter(bits: u8) -> Option<Filter> {
    let members = vec![Member::new("number", 0, Type::U32)];
    let ty = TypeDescription::new("Sample", Extensibility::Final, members).ok()?;
    let expression = ["number > 7", "number < 3", "number = 5"][usize::from(bits) % 3];
    Filter::new(expression, &[""; 0], &ty).ok()
}

fuzz_target!(|input: &[u8]| {
    let mut input = Bytes(input);
    let mut world = World::new(input.byte());
    while !input.0.is_empty() {
        match input.byte() % 16 {
            0 => {
                let len = [0, 40, 900, 3_000][input.below(4)];
                world.write(len, ChangeKind::Alive);
            }
            1 => world.write(0, ChangeKind::from_status_info(input.byte().into())),
            2..5 => world.deliver_first(),
            5 => drop(world.queue.pop_front()),
            6 => {
                if let Some(first) = world.queue.front().cloned() {
                    world.queue.push_back(first);
                }
            }
            7 => {
                let by = input.below(world.queue.len().max(1));
                world.queue.rotate_left(by);
            }
            8 => {
                let ms = 1 << (input.byte() % 15);
                world.pass(Duration::from_millis(ms), false);
            }
            9 => {
                let len = input.byte().into();
                let mut datagram = b"RTPS\x02\x05\x01\x54".to_vec();
                datagram.extend_from_slice(&HOSTILE.0);
                datagram.extend_from_slice(input.take(len));
                world.deliver(true, true, &datagram);
            }
            10 => {
                let bits = input.byte();
                match bits & 1 {
                    0 => world.set(bits & 2 == 0),
                    _ => {
                        world.cache.is_full = bits & 2 != 0;
                        let (now, sink) = (world.now, &mut world.cache);
                        world.reader.resume(now, sink, &mut world.outbox);
                        world.sent();
                    }
                }
            }
            11 => {
                let bits = input.byte();
                let key = 1 + u32::from(bits & 1);
                world.unmatch_hostile(key);
                world.match_hostile_reader(key, bits & 2 != 0, filter(bits >> 2));
                world.match_hostile_writer(key, bits & 4 != 0);
            }
            _ => world.hostile(&mut input),
        }
    }

    world.cache.is_full = false;
    world.unmatch_hostile(1);
    world.unmatch_hostile(2);
    world.set(false);
    let sink = &mut world.cache;
    world.reader.resume(world.now, sink, &mut world.outbox);
    world.sent();
    world.pass(Duration::from_secs(60), true);
    assert_eq!(world.cache.lost, 0);
    assert_eq!(world.cache.ours.len(), world.written.len());
    for (got, sent) in world.cache.ours.iter().zip(&world.written) {
        assert!(got >= sent && got - sent < 4, "{got} bytes of {sent}");
    }
});
