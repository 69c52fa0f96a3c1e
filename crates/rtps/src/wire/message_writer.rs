//! Puts datagrams together. Does not choose what goes into one, nor where it goes.

use alloc::vec::Vec;

use tickwire_base::Timestamp;

use super::cursor::Out;
use super::header::Header;
use super::submessage::SubmessageId;
use super::{
    AckNack, Data, DataFrag, Gap, GuidPrefix, Heartbeat, HeartbeatFrag, NackFrag,
    SerializedPayload, time,
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
        let time = timestamp.and_then(time::from_timestamp);
        let invalidate = if time.is_none() { 0x02 } else { 0 };
        self.submessage(SubmessageId::INFO_TS, invalidate, |out| {
            if let Some((seconds, fraction)) = time {
                out.u32(seconds);
                out.u32(fraction);
            }
        })
    }

    /// INFO_DST: whom what follows is for.
    pub fn info_dst(&mut self, destination: GuidPrefix) -> &mut Self {
        self.submessage(SubmessageId::INFO_DST, 0, |out| out.raw(&destination.0))
    }

    /// DATA. Longer than 65,535 bytes it must be the last submessage.
    pub fn data(&mut self, data: &Data<'_>) -> &mut Self {
        let (payload_flag, payload) = match data.payload {
            SerializedPayload::None => (0, [].as_slice()),
            SerializedPayload::Data(payload) => (0x04, payload),
            SerializedPayload::Key(payload) => (0x08, payload),
        };
        let qos = data.inline_qos;
        let flags = payload_flag | if qos.bytes.is_empty() { 0 } else { 0x02 };
        self.with_order_of(&qos, |writer| {
            writer.submessage(SubmessageId::DATA, flags, |out| {
                out.u16(0);
                out.u16(16);
                out.raw(&data.reader.0);
                out.raw(&data.writer.0);
                data.sequence_number.write(out);
                out.raw(qos.bytes);
                out.raw(payload);
            });
        })
    }

    /// DATA_FRAG. Longer than 65,535 bytes it must be the last submessage.
    pub fn data_frag(&mut self, data: &DataFrag<'_>) -> &mut Self {
        let qos = data.inline_qos;
        let flags =
            if qos.bytes.is_empty() { 0 } else { 0x02 } | if data.is_key { 0x04 } else { 0 };
        self.with_order_of(&qos, |writer| {
            writer.submessage(SubmessageId::DATA_FRAG, flags, |out| {
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
                out.raw(data.payload);
            });
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

    /// Writes a submessage whose body must have the byte order of `qos`.
    fn with_order_of(
        &mut self,
        qos: &super::InlineQos<'_>,
        write: impl FnOnce(&mut Self),
    ) -> &mut Self {
        let before = self.little_endian;
        if !qos.bytes.is_empty() {
            self.little_endian = qos.little_endian;
        }
        write(self);
        self.little_endian = before;
        self
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
        let padding = (self.start.wrapping_sub(self.bytes.len())) % 4;
        self.bytes.extend_from_slice(&[0; 3][..padding]);
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
