//! What is written is read again, in both byte orders; nothing from outside panics.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use tickwire_base::{Locator, Timestamp};

use super::*;
use crate::change::{GroupPlace, Place};

const SOURCE: GuidPrefix = GuidPrefix([1; 12]);
const TARGET: GuidPrefix = GuidPrefix([2; 12]);

/// What one submessage is made of, owned.
#[derive(Clone, Debug)]
enum Sent {
    Data(SequenceNumber, Option<Vec<u8>>, u8, Vec<u8>),
    DataFrag(SequenceNumber, u32, u16, u16, bool),
    Heartbeat(Heartbeat),
    HeartbeatFrag(HeartbeatFrag),
    AckNack(AckNack),
    NackFrag(NackFrag),
    Gap(Gap),
}

const READER: EntityId = EntityId::user_reader(7, true);
const WRITER: EntityId = EntityId::user_writer(9, true);

impl Sent {
    fn write(&self, message: &mut MessageWriter<'_>, little_endian: bool) {
        match self {
            Self::Data(..) | Self::DataFrag(..) => {}
            Self::Heartbeat(heartbeat) => drop(message.heartbeat(heartbeat)),
            Self::HeartbeatFrag(heartbeat) => drop(message.heartbeat_frag(heartbeat)),
            Self::AckNack(acknack) => drop(message.acknack(acknack)),
            Self::NackFrag(nack) => drop(message.nack_frag(nack)),
            Self::Gap(gap) => drop(message.gap(gap)),
        }
        self.with(little_endian, |submessage| match submessage {
            Submessage::Data(data) => drop(message.data(&data)),
            Submessage::DataFrag(data) => drop(message.data_frag(&data)),
            _ => {}
        });
    }

    /// Calls `f` with the submessage.
    fn with(&self, little_endian: bool, f: impl FnOnce(Submessage<'_>)) {
        match self {
            Self::Data(sequence_number, qos, payload_kind, payload) => {
                let list = qos.as_ref().map(|value| parameters(value, little_endian));
                f(Submessage::Data(Data {
                    reader: READER,
                    writer: WRITER,
                    sequence_number: *sequence_number,
                    inline_qos: inline_qos(list.as_deref(), little_endian),
                    payload: match payload_kind {
                        0 => SerializedPayload::None,
                        1 => SerializedPayload::Data(payload),
                        _ => SerializedPayload::Key(payload),
                    },
                }));
            }
            Self::DataFrag(sequence_number, start, count, size, is_key) => {
                let sample_size = (start - 1 + u32::from(*count)) * u32::from(*size);
                f(Submessage::DataFrag(DataFrag {
                    reader: READER,
                    writer: WRITER,
                    sequence_number: *sequence_number,
                    fragment_start: *start,
                    fragment_count: *count,
                    fragment_size: *size,
                    sample_size,
                    inline_qos: InlineQos::default(),
                    is_key: *is_key,
                    payload: &vec![0x5a; usize::from(*count) * usize::from(*size)],
                }));
            }
            Self::Heartbeat(heartbeat) => f(Submessage::Heartbeat(*heartbeat)),
            Self::HeartbeatFrag(heartbeat) => f(Submessage::HeartbeatFrag(*heartbeat)),
            Self::AckNack(acknack) => f(Submessage::AckNack(*acknack)),
            Self::NackFrag(nack) => f(Submessage::NackFrag(*nack)),
            Self::Gap(gap) => f(Submessage::Gap(*gap)),
        }
    }
}

/// A list of one parameter and the sentinel.
fn parameters(value: &[u8], little_endian: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut out = Out {
        bytes: &mut bytes,
        little_endian,
    };
    out.u16(ParameterId::USER_DATA.0);
    out.u16(u16::try_from(value.len()).expect("short"));
    out.raw(value);
    out.u16(ParameterId::SENTINEL.0);
    out.u16(0);
    bytes
}

fn inline_qos(list: Option<&[u8]>, little_endian: bool) -> InlineQos<'_> {
    list.map_or_else(InlineQos::default, |bytes| InlineQos {
        bytes,
        little_endian,
    })
}

fn number() -> impl Strategy<Value = SequenceNumber> {
    prop_oneof![1..1000_i64, 1..i64::MAX - 1000].prop_map(SequenceNumber)
}

fn number_set() -> impl Strategy<Value = SequenceNumberSet> {
    (number(), prop::collection::vec(0..256_i64, 0..20)).prop_map(|(base, offsets)| {
        let mut set = SequenceNumberSet::empty(base);
        for offset in offsets {
            set.insert(SequenceNumber(base.0 + offset));
        }
        set
    })
}

fn fragment_set() -> impl Strategy<Value = FragmentNumberSet> {
    (1..u32::MAX - 256, prop::collection::vec(0..256_u32, 0..20)).prop_map(|(base, offsets)| {
        let mut set = FragmentNumberSet::empty(base);
        for offset in offsets {
            set.insert(base + offset);
        }
        set
    })
}

/// Bytes in whole words, as submessages are padded to those.
fn words(max_count: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<[u8; 4]>(), 0..max_count).prop_map(|words| words.concat())
}

fn sent() -> impl Strategy<Value = Sent> {
    let (reader, writer) = (READER, WRITER);
    prop_oneof![
        (number(), prop::option::of(words(8)), 0..3_u8, words(40))
            .prop_map(|(number, qos, kind, payload)| Sent::Data(number, qos, kind, payload)),
        (number(), 1..1000_u32, 1..4_u16, 1..50_u16, any::<bool>()).prop_map(
            |(number, start, count, size, key)| {
                Sent::DataFrag(number, start, count, size * 4, key)
            }
        ),
        (
            number(),
            0..1000_i64,
            any::<u32>(),
            any::<bool>(),
            any::<bool>()
        )
            .prop_map(
                move |(first, held, count, is_final, liveliness)| Sent::Heartbeat(Heartbeat {
                    reader,
                    writer,
                    first,
                    last: SequenceNumber(first.0 - 1 + held),
                    count,
                    is_final,
                    liveliness,
                })
            ),
        (number(), 1..u32::MAX, any::<u32>()).prop_map(
            move |(sequence_number, last_fragment, count)| {
                Sent::HeartbeatFrag(HeartbeatFrag {
                    reader,
                    writer,
                    sequence_number,
                    last_fragment,
                    count,
                })
            }
        ),
        (number_set(), any::<u32>(), any::<bool>()).prop_map(move |(state, count, is_final)| {
            Sent::AckNack(AckNack {
                reader,
                writer,
                state,
                count,
                is_final,
            })
        }),
        (number(), fragment_set(), any::<u32>()).prop_map(
            move |(sequence_number, state, count)| {
                Sent::NackFrag(NackFrag {
                    reader,
                    writer,
                    sequence_number,
                    state,
                    count,
                })
            }
        ),
        (number(), number_set()).prop_map(move |(start, list)| Sent::Gap(Gap {
            reader,
            writer,
            start,
            list,
        })),
    ]
}

/// A datagram of all of `sent`, in turns of one byte order and the other.
fn datagram(sent: &[(Sent, bool)], timestamp: Option<Timestamp>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut message = MessageWriter::new(&mut bytes, SOURCE);
    message.info_dst(TARGET).info_ts(timestamp);
    for (submessage, little_endian) in sent {
        message.set_little_endian(*little_endian);
        submessage.write(&mut message, *little_endian);
    }
    bytes
}

/// Reads everything that can be read from `bytes`.
fn read_all(bytes: &[u8]) {
    let Ok(messages) = MessageReader::new(bytes) else {
        return;
    };
    for (context, submessage) in messages.map_while(Result::ok) {
        let reply = context.unicast_reply.iter().count() + context.multicast_reply.iter().count();
        assert!(reply <= bytes.len());
        if let Submessage::Data(data) = submessage {
            data.inline_qos.key_hash();
            data.inline_qos.status_info();
            data.inline_qos.place();
            data.inline_qos.is_understood();
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        sent in prop::collection::vec((sent(), any::<bool>()), 0..6),
        timestamp in prop::option::of(0..4_000_000_000_000_000_000_i64),
    ) {
        let timestamp = timestamp.map(Timestamp::from_nanos);
        let bytes = datagram(&sent, timestamp);
        let mut messages = MessageReader::new(&bytes).expect("our own header");
        for (expected, little_endian) in &sent {
            let (context, read) = messages.next().expect("one each").expect("well formed");
            prop_assert_eq!(context.source_prefix, SOURCE);
            prop_assert!(context.is_for(TARGET) && !context.is_for(SOURCE));
            prop_assert_eq!(context.source_timestamp, timestamp);
            prop_assert_eq!(context.vendor, VendorId::TICKWIRE);
            expected.with(*little_endian, |expected| assert_eq!(read, expected));
        }
        prop_assert!(messages.next().is_none());
        prop_assert_eq!(messages.skipped(), 0);
    }

    #[test]
    fn arbitrary_bytes_never_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_all(&bytes);
        for (byte, header) in bytes.iter_mut().zip(*b"RTPS\x02\x05") {
            *byte = header;
        }
        read_all(&bytes);
    }

    #[test]
    fn mutated_datagrams_never_panic(
        sent in prop::collection::vec((sent(), any::<bool>()), 1..4),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = datagram(&sent, None);
        for (index, value) in changes {
            let index = index.index(bytes.len());
            bytes[index] = value;
        }
        read_all(&bytes);
        read_all(&bytes[..cut.index(bytes.len())]);
    }
}

/// Header of a message from SOURCE, then `body`.
fn message(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    Header::new(SOURCE).write(&mut bytes);
    bytes.extend_from_slice(body);
    bytes
}

#[test]
fn the_last_submessage_may_leave_its_length_out() {
    let mut bytes = Vec::new();
    MessageWriter::new(&mut bytes, SOURCE).heartbeat(&Heartbeat {
        reader: READER,
        writer: WRITER,
        first: SequenceNumber(1),
        last: SequenceNumber(0),
        count: 1,
        is_final: false,
        liveliness: false,
    });
    bytes[Header::LEN + 2..Header::LEN + 4].fill(0);
    let mut messages = MessageReader::new(&bytes).expect("our own header");
    assert!(matches!(
        messages.next(),
        Some(Ok((_, Submessage::Heartbeat(_))))
    ));
    // In PAD it is no length but nothing: the heartbeat after it is read as well.
    let mut padded = bytes[..Header::LEN].to_vec();
    padded.extend_from_slice(&[0x01, 0x01, 0, 0]);
    padded.extend_from_slice(&bytes[Header::LEN..]);
    assert_eq!(
        MessageReader::new(&padded).expect("our own header").count(),
        1
    );
}

#[test]
fn unknown_submessages_are_skipped_and_counted() {
    let bytes = message(&[0x80, 0x01, 4, 0, 1, 2, 3, 4, 0x30, 0x00, 0, 4, 1, 2, 3, 4]);
    let mut messages = MessageReader::new(&bytes).expect("our own header");
    assert!(messages.next().is_none());
    assert_eq!(messages.skipped(), 2);
}

#[test]
fn a_malformed_submessage_ends_the_datagram_and_says_where() {
    let sent = [
        (
            Sent::Data(SequenceNumber(1), None, 1, vec![1, 2, 3, 4]),
            true,
        ),
        (
            Sent::Data(SequenceNumber(2), None, 1, vec![1, 2, 3, 4]),
            true,
        ),
    ];
    let mut bytes = datagram(&sent, None);
    let second = bytes.len() - 28;
    bytes[second + 1] |= 0x08;
    let read: Vec<_> = MessageReader::new(&bytes)
        .expect("our own header")
        .collect();
    assert_eq!(read.len(), 2);
    assert!(read[0].is_ok());
    assert_eq!(
        read[1].expect_err("data and key at once"),
        Malformed {
            offset: second + 4,
            what: "DATA with both data and key flags",
        }
    );
}

#[test]
fn counts_are_bounded_by_the_bytes_there() {
    // INFO_REPLY of 2^32 - 1 locators, ACKNACK of 257 bits.
    let bytes = message(&[0x0f, 0x01, 4, 0, 0xff, 0xff, 0xff, 0xff]);
    let first = MessageReader::new(&bytes).expect("our own header").next();
    assert!(matches!(first, Some(Err(Malformed { offset: 24, .. }))));
    let mut acknack = vec![0x06, 0x01, 0, 0];
    acknack.extend_from_slice(&[0; 8]);
    acknack.extend_from_slice(&[0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0]);
    acknack.extend_from_slice(&[0; 40]);
    let bytes = message(&acknack);
    let first = MessageReader::new(&bytes).expect("our own header").next();
    assert!(matches!(first, Some(Err(Malformed { offset: 40, .. }))));
}

#[test]
fn a_reply_address_stands_for_what_follows() {
    let mut body = vec![0x0d, 0x00, 0, 8, 127, 0, 0, 1, 0, 0, 0x1c, 0xe8];
    body.extend_from_slice(&[0x08, 0x00, 0, 28, 0, 0, 0, 0, 0, 0, 0, 0]);
    body.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]);
    let bytes = message(&body);
    let (context, _) = MessageReader::new(&bytes)
        .expect("our own header")
        .next()
        .expect("a GAP")
        .expect("well formed");
    let reply: Vec<_> = context.unicast_reply.iter().collect();
    let expected = Locator::udp_v4(core::net::Ipv4Addr::LOCALHOST, 7400);
    assert_eq!(reply, [expected]);
}

#[test]
fn a_new_source_has_no_time_yet() {
    let mut bytes = Vec::new();
    MessageWriter::new(&mut bytes, SOURCE).info_ts(Some(Timestamp::from_nanos(5)));
    bytes.extend_from_slice(&[0x0c, 0x01, 20, 0, 0, 0, 0, 0, 2, 1, 9, 9]);
    bytes.extend_from_slice(&TARGET.0);
    let mut messages = MessageReader::new(&bytes).expect("our own header");
    assert!(messages.next().is_none());
    let context = messages.context();
    assert_eq!(context.source_prefix, TARGET);
    assert_eq!(context.vendor, VendorId([9, 9]));
    assert_eq!(context.source_timestamp, None);
}

#[test]
fn inline_qos_is_read_in_either_order() {
    for little_endian in [true, false] {
        let mut bytes = Vec::new();
        let mut out = Out {
            bytes: &mut bytes,
            little_endian,
        };
        out.u16(ParameterId::STATUS_INFO.0);
        out.u16(4);
        out.raw(&[0, 0, 0, 3]);
        out.u16(ParameterId::KEY_HASH.0);
        out.u16(16);
        out.raw(&[7; 16]);
        out.u16(ParameterId::COHERENT_SET.0);
        out.u16(8);
        SequenceNumber(5).write(&mut out);
        out.u16(ParameterId::SENTINEL.0);
        out.u16(99);
        let qos = InlineQos {
            bytes: &bytes,
            little_endian,
        };
        let gone = StatusInfo::DISPOSED.and(StatusInfo::UNREGISTERED);
        assert_eq!(qos.status_info(), gone);
        assert_eq!(qos.key_hash(), Some([7; 16]));
        assert_eq!(qos.place().coherent_set, SequenceNumber(5));
        assert_eq!(qos.place().group, GroupPlace::default());
        assert!(qos.is_understood());
    }
}

#[test]
fn a_place_is_read_as_it_was_written() {
    let number = prop_oneof![
        Just(SequenceNumber::ZERO),
        Just(SequenceNumber::UNKNOWN),
        (1..i64::MAX).prop_map(SequenceNumber),
    ];
    proptest!(|(numbers in prop::array::uniform3(number), digest: [u8; 4])| {
        let [coherent_set, number, group_set] = numbers;
        let writers = GroupDigest(digest);
        let place = Place {
            coherent_set,
            group: GroupPlace { number, coherent_set: group_set, writers },
        };
        let mut bytes = Vec::new();
        let mut list = ParameterListWriter::new(&mut bytes);
        list.place(&place);
        list.finish();
        let qos = InlineQos { bytes: &bytes, little_endian: true };
        prop_assert_eq!(qos.place(), place);
    });
}

#[test]
fn numbers_that_no_change_has_are_no_place() {
    for impossible in [0, -5, i64::MIN, i64::MAX] {
        let mut bytes = Vec::new();
        let mut out = Out {
            bytes: &mut bytes,
            little_endian: true,
        };
        out.u16(ParameterId::GROUP_COHERENT_SET.0);
        out.u16(8);
        out.u32((impossible >> 32) as u32);
        out.u32(impossible as u32);
        out.u16(ParameterId::SENTINEL.0);
        out.u16(0);
        let qos = InlineQos {
            bytes: &bytes,
            little_endian: true,
        };
        assert_eq!(qos.place(), Place::default());
    }
}

#[test]
fn a_list_that_must_be_understood_is_told_apart() {
    let mut bytes = Vec::new();
    let mut list = ParameterListWriter::new(&mut bytes);
    list.parameter(ParameterId(0x4099), &[1]).expect("short");
    assert_eq!(
        list.parameter(ParameterId::USER_DATA, &[0; 65533]),
        Err(ParameterTooLong {
            id: ParameterId::USER_DATA
        })
    );
    list.finish();
    let qos = InlineQos {
        bytes: &bytes,
        little_endian: true,
    };
    assert!(!qos.is_understood());
    let parameters: Vec<_> = qos.iter().map(|p| p.expect("well formed")).collect();
    assert_eq!(parameters.len(), 1);
    assert_eq!(parameters[0].value(), [1, 0, 0, 0]);
    assert!(InlineQos::default().is_understood());
}

#[test]
fn only_rtps_2_is_read() {
    let mut bytes = message(&[]);
    bytes[5] = 9;
    assert_eq!(Header::read(&bytes).map(|h| h.version.minor), Ok(9));
    bytes[4] = 3;
    assert_eq!(Header::read(&bytes).map_err(|e| e.offset), Err(4));
    assert_eq!(Header::read(b"RTPX").map_err(|e| e.offset), Err(0));
    assert_eq!(Header::read(&bytes[..3]).map_err(|e| e.offset), Err(0));
}
