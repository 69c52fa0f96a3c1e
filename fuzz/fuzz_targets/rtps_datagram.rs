//! Any sequence of datagrams from a matched peer, at a reliable reader and a reliable writer with
//! history: each datagram is a length byte pair and its bytes behind a valid header.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tickwire_base::{Duration, Instant};
use tickwire_rtps::reader::{Delivery, Reader, ReaderConfig, ReceivedChange, Sink, WriterProxy};
use tickwire_rtps::wire::{EntityId, Guid, GuidPrefix, MessageReader, Submessage};
use tickwire_rtps::writer::{ReaderProxy, Writer, WriterConfig};
use tickwire_rtps::{Change, Outbox};

const OURS: GuidPrefix = GuidPrefix(*b"ours90123456");
const PEER: GuidPrefix = GuidPrefix(*b"peer90123456");
const WRITER: EntityId = EntityId::user_writer(1, true);
const READER: EntityId = EntityId::user_reader(1, true);

/// Takes all but every seventh change.
#[derive(Default)]
struct Cache {
    offered: u64,
    last: i64,
}

impl Sink for Cache {
    fn deliver(&mut self, change: &ReceivedChange<'_>) -> Delivery {
        self.offered += 1;
        if self.offered.is_multiple_of(7) {
            return Delivery::Full;
        }
        assert!(
            change.sequence_number.0 > self.last,
            "delivered in order, none twice"
        );
        self.last = change.sequence_number.0;
        Delivery::Accepted
    }

    fn lost(&mut self, _: Guid, _: u64) {}
}

fuzz_target!(|input: &[u8]| {
    let mut outbox = Outbox::new();
    let mut now = Instant::from_nanos(1);
    let mut writer = Writer::new(WriterConfig {
        transient_local: true,
        ..WriterConfig::new(Guid::new(OURS, WRITER))
    });
    let peer_reader = ReaderProxy {
        guid: Guid::new(PEER, READER),
        reliable: true,
        wants_history: true,
        ..ReaderProxy::default()
    };
    for n in 0..5u8 {
        let change = Change {
            key_hash: Some([n; 16]),
            ..Change::default()
        };
        let write = |buffer: &mut Vec<u8>| {
            let len = if n == 3 { 40_000 } else { 20 };
            buffer.resize(buffer.len() + len, n);
            Ok::<_, ()>(())
        };
        writer
            .write(now, &change, write, &mut outbox)
            .expect("the history takes five");
    }
    writer.match_reader(now, peer_reader, &mut outbox);
    let mut cache = Cache::default();
    let mut reader = Reader::new(ReaderConfig {
        max_sample_len: 1 << 20,
        max_partial_len: 4 << 20,
        ..ReaderConfig::new(Guid::new(OURS, READER))
    });
    let peer_writer = WriterProxy {
        guid: Guid::new(PEER, WRITER),
        reliable: true,
        speaks_first: false,
        skip_history: false,
        unicast: vec![],
    };
    reader.match_writer(now, peer_writer, &mut outbox);

    let mut restarts = 0;
    let mut rest = input;
    while let [low, high, bytes @ ..] = rest {
        let len = usize::from(u16::from_le_bytes([*low, *high])).min(bytes.len());
        let (body, after) = bytes.split_at(len);
        rest = after;
        let mut datagram = b"RTPS\x02\x05\x01\x54".to_vec();
        datagram.extend_from_slice(&PEER.0);
        datagram.extend_from_slice(body);
        let Ok(message) = MessageReader::new(&datagram) else {
            continue;
        };
        for item in message {
            let Ok((context, submessage)) = item else {
                break;
            };
            let out = &mut outbox;
            match submessage {
                Submessage::Data(data) => reader.handle_data(now, &context, &data, &mut cache),
                Submessage::DataFrag(frag) => {
                    reader.handle_data_frag(now, &context, &frag, &mut cache);
                }
                Submessage::Heartbeat(heartbeat) => {
                    reader.handle_heartbeat(now, &context, &heartbeat, &mut cache, out);
                    let known = std::mem::replace(&mut restarts, reader.counters().restarts);
                    if known < restarts {
                        // It numbers anew.
                        cache.last = 0;
                    }
                }
                Submessage::HeartbeatFrag(heartbeat) => {
                    reader.handle_heartbeat_frag(now, &context, &heartbeat, out);
                }
                Submessage::Gap(gap) => reader.handle_gap(&context, &gap, &mut cache),
                Submessage::AckNack(acknack) => {
                    writer.handle_acknack(now, &context, &acknack, out);
                }
                Submessage::NackFrag(nack) => writer.handle_nack_frag(now, &context, &nack, out),
                _ => {}
            }
            reader.answer_owed(&mut outbox);
        }
        // A record of a log may be such a sample.
        let mut record = MessageReader::of(PEER);
        if let Ok(data) = record.plain_sample(Guid::new(PEER, WRITER), body) {
            reader.handle_data(now, record.context(), &data, &mut cache);
        }
        now = now + Duration::from_millis(7);
        writer.handle_timeout(now, &mut outbox);
        reader.handle_timeout(now, &mut outbox);
        reader.resume(now, &mut cache, &mut outbox);
        let sent: usize = outbox.datagrams().map(|(bytes, _)| bytes.len()).sum();
        assert!(
            sent < 1 << 20,
            "one datagram draws at most a bounded answer, not {sent} bytes"
        );
        outbox.clear();
    }
});
