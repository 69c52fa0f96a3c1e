//! Puts datagrams together. Does not choose what goes into one, nor where it goes.

use alloc::vec::Vec;

use tickwire_base::{Timestamp, copy};

use super::cursor::Out;
use super::header::Header;
use super::parameter_list::KEY_HASH_LIST_LEN;
use super::submessage::SubmessageId;
use super::{
    AckNack, Data, DataFrag, Gap, Guid, GuidPrefix, Heartbeat, HeartbeatFrag, InlineQos, NackFrag,
    SequenceNumber, SerializedPayload, time,
};

/// Appends one RTPS message to a buffer: first its header, then submessages.
///
/// Everything is little-endian, except that DATA and DATA_FRAG take the byte order of the inline
/// QoS that they are given. A payload is padded with zeros to a multiple of four bytes, as the
/// next submessage must start there (RTPS 2.5 §9.4.1).
#[derive(Debug)]
pub struct MessageWriter<'a> {
    bytes: &'a mut Vec<u8>,
    start: usize,
    little_endian: bool,
}

impl<'a> MessageWriter<'a> {
    /// Starts a message from the participant `source` at the end of `bytes`.
    pub fn new(bytes: &'a mut Vec<u8>, source: GuidPrefix) -> Self {
        Self::with_header(bytes, &Header::new(source))
    }

    /// Starts a message with that header at the end of `bytes`.
    pub fn with_header(bytes: &'a mut Vec<u8>, header: &Header) -> Self {
        let start = bytes.len();
        header.write(bytes);
        Self {
            bytes,
            start,
            little_endian: true,
        }
    }

    /// Goes on with the message that begins at `start` of `bytes`.
    pub(crate) fn resume(bytes: &'a mut Vec<u8>, start: usize) -> Self {
        Self {
            bytes,
            start,
            little_endian: true,
        }
    }

    /// The same message goes on in the other byte order, for tests of the reader.
    #[cfg(test)]
    pub(crate) fn set_little_endian(&mut self, little_endian: bool) {
        self.little_endian = little_endian;
    }

    /// Bytes of the message so far, header included.
    pub fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Whether the message holds only its header.
    pub fn is_empty(&self) -> bool {
        self.len() == Header::LEN
    }

    /// INFO_TS: when what follows was made. `None`, and times before 1970 or after 2106, say that
    /// it is not known.
    pub fn info_ts(&mut self, timestamp: Option<Timestamp>) -> &mut Self {
        let Some((seconds, fraction)) = timestamp.and_then(time::from_timestamp) else {
            return self.submessage(SubmessageId::INFO_TS, 0x02, |_| {});
        };
        // As a whole, which costs less than piece by piece.
        let order = self.order();
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&order.head(SubmessageId::INFO_TS, 0, 8));
        bytes[4..8].copy_from_slice(&order.u32(seconds));
        bytes[8..].copy_from_slice(&order.u32(fraction));
        self.bytes.extend_from_slice(&bytes);
        self
    }

    /// INFO_TS and DATA of a sample that needs no inline QoS; `head` is of these bytes.
    #[inline]
    pub(crate) fn sample(&mut self, head: &[u8; SampleHead::MESSAGE_LEN], payload: &[u8]) {
        self.bytes.reserve(SampleHead::LEN + payload.len() + 3);
        self.bytes.extend_from_slice(&head[Header::LEN..]);
        copy::append(self.bytes, payload);
        self.pad();
    }

    /// INFO_DST: whom what follows is for.
    pub fn info_dst(&mut self, destination: GuidPrefix) -> &mut Self {
        self.submessage(SubmessageId::INFO_DST, 0, |out| out.raw(&destination.0))
    }

    /// DATA. Longer than 65,535 bytes it must be the last submessage.
    pub fn data(&mut self, data: &Data<'_>) -> &mut Self {
        let payload = data.payload.bytes();
        self.data_head(data, payload.len()).last(payload)
    }

    /// DATA up to its payload of `payload_len` bytes, which is to follow with its padding, of the kind of that in `data`.
    pub(crate) fn data_head(&mut self, data: &Data<'_>, payload_len: usize) -> &mut Self {
        let payload_flag = match data.payload {
            SerializedPayload::None => 0,
            SerializedPayload::Data(_) => 0x04,
            SerializedPayload::Key(_) => 0x08,
        };
        let qos = data.inline_qos;
        let flags = payload_flag | if qos.bytes.is_empty() { 0 } else { 0x02 };
        self.with_order_of(&qos, |writer| {
            let order = writer.order();
            let len = (DATA_HEAD_LEN + qos.bytes.len() + payload_len).next_multiple_of(4);
            let [high, low] = data.sequence_number.words().map(|word| order.u32(word));
            let mut head = [0; 4 + DATA_HEAD_LEN];
            head[..4].copy_from_slice(&order.head(SubmessageId::DATA, flags, len));
            head[6..8].copy_from_slice(&order.u16(16));
            head[8..12].copy_from_slice(&data.reader.0);
            head[12..16].copy_from_slice(&data.writer.0);
            head[16..20].copy_from_slice(&high);
            head[20..].copy_from_slice(&low);
            writer.bytes.extend_from_slice(&head);
            writer.bytes.extend_from_slice(qos.bytes);
        })
    }

    /// DATA_FRAG. Longer than 65,535 bytes it must be the last submessage.
    pub fn data_frag(&mut self, data: &DataFrag<'_>) -> &mut Self {
        let payload = data.payload;
        self.data_frag_head(data, payload.len()).last(payload)
    }

    /// DATA_FRAG up to its payload of `payload_len` bytes, which is to follow with its padding.
    pub(crate) fn data_frag_head(&mut self, data: &DataFrag<'_>, payload_len: usize) -> &mut Self {
        let qos = data.inline_qos;
        let flags =
            if qos.bytes.is_empty() { 0 } else { 0x02 } | if data.is_key { 0x04 } else { 0 };
        self.with_order_of(&qos, |writer| {
            let len = DATA_FRAG_HEAD_LEN + qos.bytes.len() + payload_len;
            let order = writer.order();
            let head = order.head(SubmessageId::DATA_FRAG, flags, len.next_multiple_of(4));
            let out = &mut Out {
                bytes: writer.bytes,
                little_endian: writer.little_endian,
            };
            out.raw(&head);
            out.u16(0);
            out.u16(28);
            out.raw(&data.reader.0);
            out.raw(&data.writer.0);
            data.sequence_number.write(out);
            out.u32(data.fragment_start);
            out.u16(data.fragment_count);
            out.u16(data.fragment_size);
            out.u32(data.sample_size);
            out.raw(qos.bytes);
        })
    }

    /// HEARTBEAT.
    pub fn heartbeat(&mut self, heartbeat: &Heartbeat) -> &mut Self {
        let flags =
            if heartbeat.is_final { 0x02 } else { 0 } | if heartbeat.liveliness { 0x04 } else { 0 };
        self.submessage(SubmessageId::HEARTBEAT, flags, |out| {
            out.raw(&heartbeat.reader.0);
            out.raw(&heartbeat.writer.0);
            heartbeat.first.write(out);
            heartbeat.last.write(out);
            out.u32(heartbeat.count);
        })
    }

    /// HEARTBEAT_FRAG.
    pub fn heartbeat_frag(&mut self, heartbeat: &HeartbeatFrag) -> &mut Self {
        self.submessage(SubmessageId::HEARTBEAT_FRAG, 0, |out| {
            out.raw(&heartbeat.reader.0);
            out.raw(&heartbeat.writer.0);
            heartbeat.sequence_number.write(out);
            out.u32(heartbeat.last_fragment);
            out.u32(heartbeat.count);
        })
    }

    /// ACKNACK.
    pub fn acknack(&mut self, acknack: &AckNack) -> &mut Self {
        let flags = if acknack.is_final { 0x02 } else { 0 };
        self.submessage(SubmessageId::ACKNACK, flags, |out| {
            out.raw(&acknack.reader.0);
            out.raw(&acknack.writer.0);
            acknack.state.write(out);
            out.u32(acknack.count);
        })
    }

    /// NACK_FRAG.
    pub fn nack_frag(&mut self, nack: &NackFrag) -> &mut Self {
        self.submessage(SubmessageId::NACK_FRAG, 0, |out| {
            out.raw(&nack.reader.0);
            out.raw(&nack.writer.0);
            nack.sequence_number.write(out);
            nack.state.write(out);
            out.u32(nack.count);
        })
    }

    /// GAP.
    pub fn gap(&mut self, gap: &Gap) -> &mut Self {
        self.submessage(SubmessageId::GAP, 0, |out| {
            out.raw(&gap.reader.0);
            out.raw(&gap.writer.0);
            gap.start.write(out);
            gap.list.write(out);
        })
    }

    /// What a payload begins with.
    pub(crate) fn first(&mut self, payload: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(payload);
        self
    }

    /// The end of a payload, or all of it, with its padding.
    #[inline]
    pub(crate) fn last(&mut self, payload: &[u8]) -> &mut Self {
        copy::append(self.bytes, payload);
        self.pad();
        self
    }

    /// Writes a submessage whose body must have the byte order of `qos`.
    fn with_order_of(&mut self, qos: &InlineQos<'_>, write: impl FnOnce(&mut Self)) -> &mut Self {
        let before = self.little_endian;
        if !qos.bytes.is_empty() {
            self.little_endian = qos.little_endian;
        }
        write(self);
        self.little_endian = before;
        self
    }

    fn order(&self) -> Order {
        Order {
            little_endian: self.little_endian,
        }
    }

    fn pad(&mut self) {
        let padding = (self.start.wrapping_sub(self.bytes.len())) % 4;
        if padding > 0 {
            self.bytes.extend_from_slice(&[0; 3][..padding]);
        }
    }

    fn submessage(
        &mut self,
        id: SubmessageId,
        flags: u8,
        body: impl FnOnce(&mut Out<'_>),
    ) -> &mut Self {
        let order_flag = u8::from(self.little_endian);
        self.bytes
            .extend_from_slice(&[id.0, flags | order_flag, 0, 0]);
        let body_start = self.bytes.len();
        body(&mut Out {
            bytes: self.bytes,
            little_endian: self.little_endian,
        });
        self.pad();
        // 0 means "up to the end", for what 16 bits cannot count.
        let len = u16::try_from(self.bytes.len() - body_start).unwrap_or(0);
        let len = match self.little_endian {
            true => len.to_le_bytes(),
            false => len.to_be_bytes(),
        };
        self.bytes[body_start - 2..body_start].copy_from_slice(&len);
        self
    }
}

/// The header of a message to everybody, INFO_TS, and the head of a DATA to all readers with a payload and no
/// inline QoS, little-endian. Of one writer's samples only times, numbers and lengths differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleHead {
    message: [u8; Self::MESSAGE_LEN],
    /// When the second began that the message has, in nanoseconds.
    second_ns: u64,
}

impl SampleHead {
    /// Without the message's header.
    pub(crate) const LEN: usize = Self::TIME_LEN + Self::DATA_LEN;
    /// INFO_TS.
    pub(crate) const TIME_LEN: usize = 12;
    /// DATA up to its payload.
    pub(crate) const DATA_LEN: usize = 4 + DATA_HEAD_LEN;
    pub(crate) const MESSAGE_LEN: usize = Header::LEN + Self::LEN;
    /// With inline QoS that is a key hash.
    pub(crate) const KEYED_MESSAGE_LEN: usize = Self::MESSAGE_LEN + KEY_HASH_LIST_LEN;
    /// Where DATA begins, which another one may follow that was made at the same time.
    pub(crate) const DATA: usize = Header::LEN + Self::TIME_LEN;

    pub(crate) fn new(writer: Guid) -> Self {
        let mut message = [0; Self::MESSAGE_LEN];
        let (head, bytes) = message.split_at_mut(Header::LEN);
        head.copy_from_slice(&Header::new(writer.prefix).to_bytes());
        bytes[..4].copy_from_slice(&LITTLE_ENDIAN.head(SubmessageId::INFO_TS, 0, 8));
        bytes[12..16].copy_from_slice(&LITTLE_ENDIAN.head(SubmessageId::DATA, 0x04, 0));
        bytes[18..20].copy_from_slice(&LITTLE_ENDIAN.u16(16));
        bytes[24..28].copy_from_slice(&writer.entity.0);
        let second_ns = 0;
        Self { message, second_ns }
    }

    /// That of one sample; `None` if the time cannot be told.
    pub(crate) fn of(
        self,
        timestamp: Timestamp,
        number: SequenceNumber,
        payload_len: usize,
    ) -> Option<[u8; Self::MESSAGE_LEN]> {
        let mut head = self;
        head.set(timestamp, number, payload_len).copied()
    }

    /// The same of a sample that says the hash of its key.
    pub(crate) fn with_key_hash(
        self,
        timestamp: Timestamp,
        number: SequenceNumber,
        hash: [u8; 16],
        payload_len: usize,
    ) -> Option<[u8; Self::KEYED_MESSAGE_LEN]> {
        let mut head = self.of(timestamp, number, KEY_HASH_LIST_LEN + payload_len)?;
        head[Self::DATA + 1] |= 0x02;
        let mut keyed = [0; Self::KEYED_MESSAGE_LEN];
        let (plain, list) = keyed.split_at_mut(Self::MESSAGE_LEN);
        plain.copy_from_slice(&head);
        list.copy_from_slice(&InlineQos::of_key_hash(hash));
        Some(keyed)
    }

    /// The same, made of that of the sample before.
    #[inline]
    pub(crate) fn set(
        &mut self,
        timestamp: Timestamp,
        number: SequenceNumber,
        payload_len: usize,
    ) -> Option<&[u8; Self::MESSAGE_LEN]> {
        self.set_time(timestamp)?;
        Some(self.next(number, payload_len))
    }

    /// Has the samples to come be made at that time. `None` if it cannot be told.
    #[inline]
    pub(crate) fn set_time(&mut self, timestamp: Timestamp) -> Option<()> {
        let ns = timestamp.as_nanos().cast_unsigned();
        if ns.wrapping_sub(self.second_ns) >= time::NANOS_PER_SECOND {
            self.set_second(timestamp)?;
        }
        let fraction = time::fraction(ns - self.second_ns);
        let (_, bytes) = self.message.split_at_mut(Header::LEN);
        bytes[8..12].copy_from_slice(&fraction.to_le_bytes());
        Some(())
    }

    /// That of a sample made at the same time as the one before.
    #[inline]
    pub(crate) fn next(
        &mut self,
        number: SequenceNumber,
        payload_len: usize,
    ) -> &[u8; Self::MESSAGE_LEN] {
        let (_, bytes) = self.message.split_at_mut(Header::LEN);
        let len = (DATA_HEAD_LEN + payload_len).next_multiple_of(4);
        // 0 means "up to the end", for what 16 bits cannot count.
        let len = u16::try_from(len).unwrap_or(0);
        bytes[14..16].copy_from_slice(&len.to_le_bytes());
        let [high, low] = number.words();
        bytes[28..32].copy_from_slice(&high.to_le_bytes());
        bytes[32..].copy_from_slice(&low.to_le_bytes());
        &self.message
    }

    #[cold]
    fn set_second(&mut self, timestamp: Timestamp) -> Option<()> {
        let (seconds, _) = time::from_timestamp(timestamp)?;
        self.second_ns = u64::from(seconds) * time::NANOS_PER_SECOND;
        let (_, bytes) = self.message.split_at_mut(Header::LEN);
        bytes[4..8].copy_from_slice(&seconds.to_le_bytes());
        Some(())
    }
}

const LITTLE_ENDIAN: Order = Order {
    little_endian: true,
};

/// Integers as bytes in one order.
#[derive(Clone, Copy)]
struct Order {
    little_endian: bool,
}

impl Order {
    /// The head of a submessage whose body has `len` bytes; 0 means "up to the end", for what 16 bits
    /// cannot count.
    fn head(self, id: SubmessageId, flags: u8, len: usize) -> [u8; 4] {
        let [first, second] = self.u16(u16::try_from(len).unwrap_or(0));
        [id.0, flags | u8::from(self.little_endian), first, second]
    }

    fn u16(self, value: u16) -> [u8; 2] {
        match self.little_endian {
            true => value.to_le_bytes(),
            false => value.to_be_bytes(),
        }
    }

    fn u32(self, value: u32) -> [u8; 4] {
        match self.little_endian {
            true => value.to_le_bytes(),
            false => value.to_be_bytes(),
        }
    }
}

/// What DATA_FRAG has before the inline QoS.
const DATA_FRAG_HEAD_LEN: usize = 32;
/// What DATA has before the inline QoS.
const DATA_HEAD_LEN: usize = 20;

#[cfg(test)]
mod tests {
    use alloc::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::wire::{EntityId, ParameterListWriter};

    proptest! {
        #[test]
        fn heads_made_of_one_another_are_those_made_anew(
            samples in prop::collection::vec((any::<i64>(), 0..3_000_000_000_i64, 1..70_000_usize), 1..8),
            near: bool,
        ) {
            let writer = Guid::new(GuidPrefix([1; 12]), EntityId::user_writer(1, false));
            let mut head = SampleHead::new(writer);
            for ((any, soon, len), number) in samples.into_iter().zip(1 << 31..) {
                let time = Timestamp::from_nanos(if near { soon } else { any });
                let number = SequenceNumber(number);
                let payload = vec![0; len];
                let data = Data {
                    reader: EntityId::UNKNOWN,
                    writer: writer.entity,
                    sequence_number: number,
                    inline_qos: InlineQos { bytes: &[], little_endian: true },
                    payload: SerializedPayload::Data(&payload),
                };
                let mut anew = Vec::new();
                MessageWriter::new(&mut anew, writer.prefix).info_ts(Some(time)).data_head(&data, data.payload.bytes().len());
                let made = head.set(time, number, len).map(|head| head.to_vec());
                prop_assert_eq!(made, time::from_timestamp(time).map(|_| anew));

                let hash = [len.to_le_bytes()[0]; 16];
                let mut list = Vec::new();
                let mut parameters = ParameterListWriter::new(&mut list);
                parameters.key_hash(hash);
                parameters.finish();
                let keyed = Data {
                    inline_qos: InlineQos { bytes: &list, little_endian: true },
                    ..data
                };
                let mut anew = Vec::new();
                MessageWriter::new(&mut anew, writer.prefix).info_ts(Some(time)).data_head(&keyed, keyed.payload.bytes().len());
                let made = head.with_key_hash(time, number, hash, len).map(|head| head.to_vec());
                prop_assert_eq!(made, time::from_timestamp(time).map(|_| anew));
            }
        }
    }
}
