//! What the third participant says, as the input has it.

use tickwire_rtps::wire::{
    AckNack, Data, DataFrag, EntityId, FragmentNumberSet, Gap, GroupDigest, Heartbeat,
    HeartbeatFrag, InlineQos, MessageWriter, NackFrag, ParameterListWriter, SequenceNumber,
    SequenceNumberSet, SerializedPayload, StatusInfo,
};
use tickwire_rtps::{GroupPlace, Place};

use crate::world::{HOSTILE, WRITER, World};

/// The input, byte by byte; zeros after its end.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    pub(crate) fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// A small number, one near `near`, or one at an edge.
    pub(crate) fn number(&mut self, near: i64) -> i64 {
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

impl World {
    pub(crate) fn hostile(&mut self, input: &mut Bytes<'_>) {
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
                writers: GroupDigest([bits; 4]),
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
