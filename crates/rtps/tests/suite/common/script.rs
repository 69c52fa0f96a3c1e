//! A scripted peer: says submessages to one machine and sees what that says back.

use std::net::Ipv4Addr;

use tickwire_base::{Duration, Instant, Locator, Timestamp};
use tickwire_rtps::reader::{Reader, ReaderConfig, WriterProxy};
use tickwire_rtps::wire::{
    AckNack, Arrival, Context, Data, DataFrag, EntityId, FragmentNumberSet, Gap, Guid, GuidPrefix,
    Heartbeat, HeartbeatFrag, InlineQos, MessageReader, MessageWriter, NackFrag, SequenceNumber,
    SequenceNumberSet, SerializedPayload, Submessage,
};
use tickwire_rtps::writer::{ReaderProxy, WriteError, Writer, WriterConfig};
use tickwire_rtps::{Change, Outbox};

use super::Cache;

pub const WRITER: Guid = Guid::new(GuidPrefix([1; 12]), EntityId::user_writer(1, true));
pub const READER: Guid = Guid::new(GuidPrefix([2; 12]), EntityId::user_reader(1, true));
pub const WHERE: Locator = Locator::udp_v4(Ipv4Addr::LOCALHOST, 7411);

/// A submessage heard, cut down to what scripts compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Data(i64),
    DataFrag(i64, u32),
    /// First, last, final.
    Heartbeat(i64, i64, bool),
    /// From, up to but without.
    Gap(i64, i64),
    /// Base, requested, final.
    AckNack(i64, Vec<i64>, bool),
    NackFrag(i64, Vec<u32>),
    /// Number, last fragment.
    HeartbeatFrag(i64, u32),
}

/// A writer under test and the clock.
pub struct WriterScript {
    pub writer: Writer,
    pub now: Instant,
    pub outbox: Outbox,
    pub count: u32,
}

impl WriterScript {
    pub fn new(config: WriterConfig) -> Self {
        Self {
            writer: Writer::new(WriterConfig {
                guid: WRITER,
                ..config
            }),
            now: Instant::from_nanos(1_000_000_000),
            outbox: Outbox::new(),
            count: 0,
        }
    }

    pub fn match_reader(&mut self, wants_history: bool) -> Vec<Said> {
        self.match_proxy(ReaderProxy {
            guid: READER,
            reliable: true,
            wants_history,
            unicast: vec![WHERE],
            ..ReaderProxy::default()
        })
    }

    pub fn match_proxy(&mut self, proxy: ReaderProxy) -> Vec<Said> {
        self.writer.match_reader(self.now, proxy, &mut self.outbox);
        heard(&mut self.outbox)
    }

    pub fn write(&mut self, len: usize) -> Result<Vec<Said>, WriteError<()>> {
        let fill = |buffer: &mut Vec<u8>| {
            buffer.resize(buffer.len() + len, 0x5a);
            Ok(())
        };
        let written = self
            .writer
            .write(self.now, &Change::default(), fill, &mut self.outbox);
        let said = heard(&mut self.outbox);
        written.map(|_| said)
    }

    pub fn acknack(&mut self, base: i64, asked: &[i64], is_final: bool) -> Vec<Said> {
        self.count += 1;
        self.acknack_with_count(base, asked, is_final, self.count)
    }

    pub fn acknack_with_count(
        &mut self,
        base: i64,
        asked: &[i64],
        is_final: bool,
        count: u32,
    ) -> Vec<Said> {
        let mut state = SequenceNumberSet::empty(SequenceNumber(base));
        for &number in asked {
            assert!(state.insert(SequenceNumber(number)));
        }
        let acknack = AckNack {
            reader: READER.entity,
            writer: WRITER.entity,
            state,
            count,
            is_final,
        };
        self.hear(&Submessage::AckNack(acknack))
    }

    pub fn nack_frag(&mut self, number: i64, asked: &[u32]) -> Vec<Said> {
        self.count += 1;
        let mut state = FragmentNumberSet::empty(asked[0]);
        for &fragment in asked {
            assert!(state.insert(fragment));
        }
        let nack = NackFrag {
            reader: READER.entity,
            writer: WRITER.entity,
            sequence_number: SequenceNumber(number),
            state,
            count: self.count,
        };
        self.hear(&Submessage::NackFrag(nack))
    }

    /// Has every fragment below `base`.
    pub fn ack_fragments(&mut self, number: i64, base: u32) -> Vec<Said> {
        self.count += 1;
        self.hear(&Submessage::NackFrag(NackFrag {
            reader: READER.entity,
            writer: WRITER.entity,
            sequence_number: SequenceNumber(number),
            state: FragmentNumberSet::empty(base),
            count: self.count,
        }))
    }

    /// Lets time pass up to each deadline within `duration`.
    pub fn wait(&mut self, duration: Duration) -> Vec<Said> {
        let end = self.now + duration;
        while let Some(at) = self.writer.poll_timeout().filter(|&at| at <= end) {
            self.now = self.now.max(at);
            self.writer.handle_timeout(self.now, &mut self.outbox);
        }
        self.now = end;
        heard(&mut self.outbox)
    }

    fn hear(&mut self, submessage: &Submessage<'_>) -> Vec<Said> {
        let (writer, now) = (&mut self.writer, self.now);
        in_message_of(READER.prefix, now, |context| {
            super::route_to_writer(writer, now, context, submessage, &mut self.outbox);
        });
        heard(&mut self.outbox)
    }
}

/// A reader under test and the clock.
pub struct ReaderScript {
    pub reader: Reader,
    /// Whose submessages it is told of.
    pub writer: Guid,
    pub cache: Cache,
    pub now: Instant,
    pub outbox: Outbox,
    pub count: u32,
}

impl ReaderScript {
    pub fn new(config: ReaderConfig) -> Self {
        Self {
            reader: Reader::new(ReaderConfig {
                guid: READER,
                ..config
            }),
            writer: WRITER,
            cache: Cache::default(),
            now: Instant::from_nanos(1_000_000_000),
            outbox: Outbox::new(),
            count: 0,
        }
    }

    pub fn match_writer(&mut self, reliable: bool, skip_history: bool) -> Vec<Said> {
        self.match_proxy(WriterProxy {
            guid: self.writer,
            reliable,
            speaks_first: false,
            skip_history,
            unicast: vec![WHERE],
        })
    }

    pub fn match_proxy(&mut self, proxy: WriterProxy) -> Vec<Said> {
        self.reader.match_writer(self.now, proxy, &mut self.outbox);
        heard(&mut self.outbox)
    }

    pub fn data(&mut self, number: i64) -> Vec<Said> {
        self.data_with_qos(number, &[])
    }

    /// With a little-endian list as its inline QoS.
    pub fn data_with_qos(&mut self, number: i64, qos: &[u8]) -> Vec<Said> {
        self.data_of(number, qos, SerializedPayload::Data(&[0; 8]))
    }

    /// A DATA without payload.
    pub fn end_of_set(&mut self, number: i64, qos: &[u8]) -> Vec<Said> {
        self.data_of(number, qos, SerializedPayload::None)
    }

    fn data_of(&mut self, number: i64, qos: &[u8], payload: SerializedPayload<'_>) -> Vec<Said> {
        let data = Data {
            reader: EntityId::UNKNOWN,
            writer: WRITER.entity,
            sequence_number: SequenceNumber(number),
            inline_qos: InlineQos {
                bytes: qos,
                little_endian: true,
            },
            payload,
        };
        self.hear(&Submessage::Data(data))
    }

    /// Fragments of 4 bytes of a sample of `sample_size` bytes.
    pub fn data_frag(
        &mut self,
        number: i64,
        start: u32,
        count: u16,
        sample_size: u32,
    ) -> Vec<Said> {
        self.data_frag_of(
            number,
            start,
            count,
            4,
            sample_size,
            &[1; 256][..4 * usize::from(count)],
        )
    }

    pub fn data_frag_of(
        &mut self,
        number: i64,
        fragment_start: u32,
        fragment_count: u16,
        fragment_size: u16,
        sample_size: u32,
        payload: &[u8],
    ) -> Vec<Said> {
        self.hear(&Submessage::DataFrag(DataFrag {
            reader: EntityId::UNKNOWN,
            writer: WRITER.entity,
            sequence_number: SequenceNumber(number),
            fragment_start,
            fragment_count,
            fragment_size,
            sample_size,
            inline_qos: InlineQos::default(),
            is_key: false,
            payload,
        }))
    }

    /// A sample of 8 bytes in two fragments of 4, with a little-endian list as its inline QoS.
    pub fn data_in_two_with_qos(&mut self, number: i64, qos: &[u8]) -> Vec<Said> {
        let mut said = Vec::new();
        for fragment_start in [1, 2] {
            said.extend(self.hear(&Submessage::DataFrag(DataFrag {
                reader: EntityId::UNKNOWN,
                writer: WRITER.entity,
                sequence_number: SequenceNumber(number),
                fragment_start,
                fragment_count: 1,
                fragment_size: 4,
                sample_size: 8,
                inline_qos: InlineQos {
                    bytes: qos,
                    little_endian: true,
                },
                is_key: false,
                payload: &[1; 4],
            })));
        }
        said
    }

    pub fn heartbeat(&mut self, first: i64, last: i64, is_final: bool) -> Vec<Said> {
        self.count += 1;
        self.heartbeat_with_count(first, last, is_final, self.count)
    }

    pub fn heartbeat_with_count(
        &mut self,
        first: i64,
        last: i64,
        is_final: bool,
        count: u32,
    ) -> Vec<Said> {
        let heartbeat = Heartbeat {
            reader: EntityId::UNKNOWN,
            writer: WRITER.entity,
            first: SequenceNumber(first),
            last: SequenceNumber(last),
            count,
            is_final,
            liveliness: false,
        };
        self.hear(&Submessage::Heartbeat(heartbeat))
    }

    pub fn heartbeat_frag(&mut self, number: i64, last_fragment: u32) -> Vec<Said> {
        self.count += 1;
        let heartbeat = HeartbeatFrag {
            reader: EntityId::UNKNOWN,
            writer: WRITER.entity,
            sequence_number: SequenceNumber(number),
            last_fragment,
            count: self.count,
        };
        self.hear(&Submessage::HeartbeatFrag(heartbeat))
    }

    /// A GAP from `start` to below `end`, and over `more` at or beyond `end`.
    pub fn gap(&mut self, start: i64, end: i64, more: &[i64]) -> Vec<Said> {
        let mut list = SequenceNumberSet::empty(SequenceNumber(end));
        for &number in more {
            assert!(list.insert(SequenceNumber(number)));
        }
        let gap = Gap {
            reader: EntityId::UNKNOWN,
            writer: WRITER.entity,
            start: SequenceNumber(start),
            list,
        };
        self.hear(&Submessage::Gap(gap))
    }

    /// Lets time pass up to each deadline within `duration`.
    pub fn wait(&mut self, duration: Duration) -> Vec<Said> {
        let end = self.now + duration;
        while let Some(at) = self.reader.poll_timeout().filter(|&at| at <= end) {
            self.now = self.now.max(at);
            self.reader.handle_timeout(self.now, &mut self.outbox);
        }
        self.now = end;
        heard(&mut self.outbox)
    }

    pub fn resume(&mut self, room: usize) -> Vec<Said> {
        self.cache.room = room;
        self.reader
            .resume(self.now, &mut self.cache, &mut self.outbox);
        heard(&mut self.outbox)
    }

    fn hear(&mut self, submessage: &Submessage<'_>) -> Vec<Said> {
        let (reader, cache, now) = (&mut self.reader, &mut self.cache, self.now);
        in_message_of(self.writer.prefix, now, |context| {
            super::route_to_reader(reader, cache, now, context, submessage, &mut self.outbox);
        });
        heard(&mut self.outbox)
    }
}

/// When the kernel receives what is said at that time.
pub fn kernel_timestamp(now: Instant) -> Timestamp {
    Timestamp::from_nanos(now.since(Instant::ZERO).as_nanos() as i64)
}

/// Scripts say things that no datagram can, so that machines need not trust the parser.
fn in_message_of(source: GuidPrefix, now: Instant, say: impl FnOnce(&Context<'_>)) {
    let mut bytes = Vec::new();
    MessageWriter::new(&mut bytes, source);
    let arrival = Arrival {
        from: Ipv4Addr::LOCALHOST.into(),
        by_multicast: false,
        kernel_timestamp: Some(kernel_timestamp(now)),
    };
    let message = MessageReader::new(&bytes).expect("a header");
    say(message.arrived(arrival).context());
}

/// Empties an outbox into what it says.
pub fn heard(outbox: &mut Outbox) -> Vec<Said> {
    let mut said = Vec::new();
    for (bytes, locators) in outbox.datagrams() {
        assert_eq!(locators, [WHERE]);
        for item in MessageReader::new(&bytes.joined()).expect("a header") {
            let (_, submessage) = item.expect("well-formed submessages");
            said.push(cut_down(&submessage));
        }
    }
    outbox.clear();
    said
}

fn cut_down(submessage: &Submessage<'_>) -> Said {
    match submessage {
        Submessage::Data(data) => Said::Data(data.sequence_number.0),
        Submessage::DataFrag(data) => Said::DataFrag(data.sequence_number.0, data.fragment_start),
        Submessage::Heartbeat(heartbeat) => {
            Said::Heartbeat(heartbeat.first.0, heartbeat.last.0, heartbeat.is_final)
        }
        Submessage::Gap(gap) => Said::Gap(gap.start.0, gap.list.base.0),
        Submessage::AckNack(acknack) => Said::AckNack(
            acknack.state.base.0,
            acknack.state.iter().map(|number| number.0).collect(),
            acknack.is_final,
        ),
        Submessage::NackFrag(nack) => {
            Said::NackFrag(nack.sequence_number.0, nack.state.iter().collect())
        }
        Submessage::HeartbeatFrag(heartbeat) => {
            Said::HeartbeatFrag(heartbeat.sequence_number.0, heartbeat.last_fragment)
        }
        other => panic!("unexpected {other:?}"),
    }
}
