//! Payloads in memory of the application's go out as copies of them would, and that memory is given back.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;

use tickwire_base::{Channel, Instant, Locator, StreamAddress, Timestamp};
use tickwire_rtps::wire::{
    AckNack, EntityId, FragmentNumberSet, Guid, GuidPrefix, MessageReader, MessageWriter, NackFrag,
    SequenceNumber, SequenceNumberSet, Submessage,
};
use tickwire_rtps::writer::{
    Handed, HistoryKind, Lent, Log, MAX_FRONT_LEN, ReaderProxy, WriteError, Writer, WriterConfig,
};
use tickwire_rtps::{Change, Outbox};

const WRITER: Guid = Guid::new(GuidPrefix([1; 12]), EntityId::user_writer(1, true));
const READER: Guid = Guid::new(GuidPrefix([2; 12]), EntityId::user_reader(1, true));
const UDP: Locator = Locator::udp_v4(Ipv4Addr::LOCALHOST, 7411);

/// Keeps what is published.
struct Kept {
    messages: Vec<Vec<u8>>,
    max_len: Option<usize>,
}

#[derive(Debug)]
enum Nothing {}

impl Lent for Nothing {
    fn payload(&self) -> &[u8] {
        match *self {}
    }

    fn counted_len(&self) -> usize {
        match *self {}
    }

    fn done_with(&mut self) {}
}

impl Log for Kept {
    type Lent = Nothing;

    fn max_len(&self) -> Option<usize> {
        self.max_len
    }

    fn publish(&mut self, head: &[u8], payload: &[u8]) {
        let mut message = [head, payload].concat();
        message.resize(message.len().next_multiple_of(4), 0);
        self.messages.push(message);
    }

    fn publish_plain(&mut self, _: tickwire_rtps::wire::PlainSample, _: &[u8]) {
        panic!("long ones are told whole");
    }

    fn publish_lent(&mut self, lent: &Nothing) {
        match *lent {}
    }

    fn hear(&mut self, _: usize, _: &mut Vec<(Guid, SequenceNumber)>) {}
}

/// How a payload goes.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// In datagrams of up to so many bytes.
    Datagrams(usize),
    /// By a stream.
    Stream,
    /// By a log that takes messages of up to so many bytes.
    Log(usize),
}

const WAYS: [Way; 6] = [
    Way::Datagrams(1_400),
    Way::Datagrams(40_000),
    Way::Datagrams(65_000),
    Way::Stream,
    Way::Log(1 << 20),
    Way::Log(100_000),
];

struct Script {
    writer: Writer<Kept>,
    outbox: Outbox,
    now: Instant,
    count: u32,
}

impl Script {
    fn new(way: Way, history: HistoryKind) -> Self {
        let max_message_len = match way {
            Way::Datagrams(len) => len,
            Way::Stream | Way::Log(_) => 65_000,
        };
        let config = WriterConfig {
            guid: WRITER,
            max_message_len,
            max_stream_message_len: 10 << 20,
            max_unacknowledged_len: 10 << 20,
            burst_len: 10 << 20,
            history,
            ..WriterConfig::new(WRITER)
        };
        let max_len = match way {
            Way::Log(len) => Some(len),
            Way::Datagrams(_) | Way::Stream => None,
        };
        let messages = Vec::new();
        let mut writer = Writer::with_log(config, Kept { messages, max_len });
        if let Way::Log(_) = way {
            writer.divert(READER.prefix, Some(Locator::log(WRITER.entity.0)));
        }
        let stream = StreamAddress {
            owner: READER.prefix.0,
            address: SocketAddrV4::new(Ipv4Addr::LOCALHOST, 7410),
            channel: Channel::Data,
        };
        let proxy = ReaderProxy {
            guid: READER,
            reliable: true,
            unicast: vec![match way {
                Way::Stream => stream.to_locator(),
                Way::Datagrams(_) | Way::Log(_) => UDP,
            }],
            ..ReaderProxy::default()
        };
        let mut script = Self {
            writer,
            outbox: Outbox::new(),
            now: Instant::from_nanos(1_000_000_000),
            count: 0,
        };
        let outbox = &mut script.outbox;
        script.writer.match_reader(script.now, proxy, outbox);
        script.answer(1);
        script.outbox.clear();
        script
    }

    /// Everything that is sent until nothing is due any more, but for what only asks again.
    fn said(&mut self) -> Vec<Vec<u8>> {
        for _ in 0..200 {
            let Some(at) = self.writer.poll_timeout() else {
                break;
            };
            self.now = self.now.max(at);
            self.writer.handle_timeout(self.now, &mut self.outbox);
        }
        let datagrams = self.outbox.datagrams();
        let mut said: Vec<_> = datagrams
            .map(|(pieces, _)| pieces.in_order().concat())
            .collect();
        self.outbox.clear();
        said.append(&mut self.writer.log().messages);
        said
    }

    /// The reader has all before this number.
    fn answer(&mut self, base: i64) {
        let state = SequenceNumberSet::empty(SequenceNumber(base));
        self.hear(|count| {
            Submessage::AckNack(AckNack {
                reader: READER.entity,
                writer: WRITER.entity,
                state,
                count,
                is_final: true,
            })
        });
    }

    fn hear(&mut self, say: impl FnOnce(u32) -> Submessage<'static>) {
        self.count += 1;
        let mut bytes = Vec::new();
        MessageWriter::new(&mut bytes, READER.prefix);
        let mut message = MessageReader::new(&bytes).expect("a header");
        assert!(message.next_submessage().is_none());
        let (context, outbox) = (message.context(), &mut self.outbox);
        match say(self.count) {
            Submessage::AckNack(acknack) => {
                self.writer
                    .handle_acknack(self.now, context, &acknack, outbox);
            }
            Submessage::NackFrag(nack) => {
                self.writer
                    .handle_nack_frag(self.now, context, &nack, outbox);
            }
            _ => unreachable!("readers say nothing else here"),
        }
    }
}

fn change(key: Option<u8>) -> Change {
    Change {
        source_timestamp: Some(Timestamp::from_nanos(1_700_000_000_000_000_001)),
        key_hash: key.map(|key| [key; 16]),
        ..Change::default()
    }
}

fn bytes(len: usize) -> Vec<u8> {
    let byte = |at: usize| u8::try_from(at % 251).expect("below 251");
    (0..len).map(byte).collect()
}

#[test]
fn what_is_handed_over_goes_out_as_a_copy_of_it_would() {
    for way in WAYS {
        for (front, len, is_padded) in [
            (0, 70_000, false),
            (0, 70_001, false),
            (8, 70_000, true),
            (8, 99_997, true),
            (12, 300_002, true),
            (MAX_FRONT_LEN, 65_537, true),
        ] {
            for key in [None, Some(7)] {
                let history = HistoryKind::KeepAll;
                let mut scripts = [Script::new(way, history), Script::new(way, history)];
                let [copied, handed] = &mut scripts;
                let (front, memory) = (vec![9; front], bytes(len));
                let mut payload = [&front[..], &memory].concat();
                if is_padded {
                    payload.resize(payload.len().next_multiple_of(4), 0);
                }
                let fill = |buffer: &mut Vec<u8>| {
                    buffer.extend_from_slice(&payload);
                    Ok::<(), ()>(())
                };
                let (now, change) = (copied.now, change(key));
                let written = copied
                    .writer
                    .write(now, &change, fill, &mut copied.outbox)
                    .expect("room");
                let memory: Handed = Arc::new(memory);
                let what = (&front[..], &memory, is_padded);
                let same = handed
                    .writer
                    .write_handed::<()>(now, &change, what, &mut handed.outbox);
                assert_eq!(same, Ok(written));
                let [one, other] = scripts.each_mut().map(Script::said);
                assert!(!one.is_empty());
                assert!(one == other, "{way:?}, {len} bytes behind {front:?}");
                // What is asked for again, too.
                let fragments = FragmentNumberSet::empty(1);
                for script in &mut scripts {
                    let mut state = fragments;
                    assert!(state.insert(1) && state.insert(2));
                    script.hear(|count| {
                        Submessage::NackFrag(NackFrag {
                            reader: READER.entity,
                            writer: WRITER.entity,
                            sequence_number: SequenceNumber(1),
                            state,
                            count,
                        })
                    });
                }
                let [one, other] = scripts.each_mut().map(Script::said);
                assert!(one == other, "{way:?}, {len} bytes again");
            }
        }
    }
}

/// What the application would see: whether anybody has its memory still.
fn is_free(memory: &Arc<Vec<u8>>) -> bool {
    Arc::strong_count(memory) == 1
}

#[test]
fn memory_is_given_back_when_nobody_needs_it() {
    for way in WAYS {
        for history in [HistoryKind::KeepAll, HistoryKind::KeepLast(1)] {
            let mut script = Script::new(way, history);
            let memories: [_; 3] = std::array::from_fn(|_| Arc::new(bytes(100_000)));
            for (number, memory) in (1..).zip(&memories) {
                let handed: Handed = Arc::clone(memory) as Handed;
                let (now, what) = (script.now, (&[0; 4][..], &handed, true));
                let outbox = &mut script.outbox;
                let written = script
                    .writer
                    .write_handed::<()>(now, &change(None), what, outbox);
                assert_eq!(written, Ok(SequenceNumber(number)));
                drop(handed);
                assert!(!is_free(memory), "it has not been acknowledged");
                script.said();
            }
            let replaced = std::mem::take(script.writer.given_back());
            match history {
                HistoryKind::KeepAll => assert!(replaced.is_empty()),
                HistoryKind::KeepLast(_) => assert_eq!(replaced.len(), 2),
            }
            drop(replaced);
            script.answer(4);
            let given_back = std::mem::take(script.writer.given_back());
            assert!(!is_free(&memories[2]), "it is given back, not dropped");
            drop(given_back);
            assert!(memories.iter().all(is_free), "{way:?}, {history:?}");
        }
    }
}

#[test]
fn a_front_that_is_none_is_refused() {
    let mut script = Script::new(Way::Stream, HistoryKind::KeepAll);
    let memory: Handed = Arc::new(bytes(70_000));
    for front in [1, 3, MAX_FRONT_LEN + 4] {
        let (front, outbox) = (vec![0; front], &mut script.outbox);
        let what = (&front[..], &memory, true);
        let written = script
            .writer
            .write_handed::<()>(script.now, &change(None), what, outbox);
        assert_eq!(written, Err(WriteError::TooLarge));
    }
    assert_eq!(Arc::strong_count(&memory), 1);
}
