//! The bodies of submessages, checked as the standard asks (RTPS 2.5 §8.3.8, "validity").

use super::cursor::{Cursor, Malformed};
use super::sequence_number::Bitmap;
use super::submessage::{
    AckNack, Data, DataFrag, Gap, Heartbeat, HeartbeatFrag, InlineQos, NackFrag, SerializedPayload,
    Submessage, SubmessageId,
};
use super::{EntityId, FragmentNumberSet, SequenceNumber, SequenceNumberSet, parameter_list};

impl<'a> Submessage<'a> {
    /// Reads the body of a submessage; `None` if the id is not one that concerns an endpoint.
    pub(crate) fn read(
        id: SubmessageId,
        flags: u8,
        body: Cursor<'a>,
    ) -> Result<Option<Self>, Malformed> {
        Ok(Some(match id {
            SubmessageId::DATA => Self::Data(Data::read(flags, body)?),
            SubmessageId::DATA_FRAG => Self::DataFrag(DataFrag::read(flags, body)?),
            SubmessageId::HEARTBEAT => Self::Heartbeat(Heartbeat::read(flags, body)?),
            SubmessageId::HEARTBEAT_FRAG => Self::HeartbeatFrag(HeartbeatFrag::read(body)?),
            SubmessageId::ACKNACK => Self::AckNack(AckNack::read(flags, body)?),
            SubmessageId::NACK_FRAG => Self::NackFrag(NackFrag::read(body)?),
            SubmessageId::GAP => Self::Gap(Gap::read(body)?),
            _ => return Ok(None),
        }))
    }
}

impl<'a> Data<'a> {
    #[inline]
    pub(crate) fn read(flags: u8, mut body: Cursor<'a>) -> Result<Self, Malformed> {
        let at = body;
        let payload_kind = (flags & 0x04 != 0, flags & 0x08 != 0);
        if payload_kind == (true, true) {
            return Err(at.malformed("DATA with both data and key flags"));
        }
        let [[_, _, octets @ ..], reader, writer, high, low] = *body.words("DATA is short")?;
        let sequence_number = SequenceNumber::of_words(body.to_u32(high), body.to_u32(low));
        if sequence_number < SequenceNumber::FIRST {
            return Err(at.malformed("DATA sequence number"));
        }
        let mut qos_at = at;
        let octets = 4 + usize::from(body.to_u16(octets));
        qos_at.bytes(octets, "DATA octetsToInlineQos goes past the end")?;
        let (inline_qos, payload) = inline_qos(flags, qos_at)?;
        Ok(Self {
            reader: EntityId(reader),
            writer: EntityId(writer),
            sequence_number,
            inline_qos,
            payload: match payload_kind {
                (true, _) => SerializedPayload::Data(payload.rest()),
                (_, true) => SerializedPayload::Key(payload.rest()),
                _ => SerializedPayload::None,
            },
        })
    }
}

impl<'a> DataFrag<'a> {
    fn read(flags: u8, mut body: Cursor<'a>) -> Result<Self, Malformed> {
        body.u16("DATA_FRAG extra flags")?;
        let qos_at = octets_to_inline_qos(&mut body)?;
        let reader = EntityId(body.array("DATA_FRAG reader id")?);
        let writer = EntityId(body.array("DATA_FRAG writer id")?);
        let sequence_number =
            SequenceNumber::read_positive(&mut body, "DATA_FRAG sequence number")?;
        let at = body;
        let fragment_start = body.u32("DATA_FRAG first fragment")?;
        let fragment_count = body.u16("DATA_FRAG number of fragments")?;
        let fragment_size = body.u16("DATA_FRAG fragment size")?;
        let sample_size = body.u32("DATA_FRAG sample size")?;
        let len = fragments_len(fragment_start, fragment_count, fragment_size, sample_size)
            .ok_or_else(|| at.malformed("DATA_FRAG fragments outside the sample"))?;
        let (inline_qos, mut payload) = inline_qos(flags, qos_at)?;
        Ok(Self {
            reader,
            writer,
            sequence_number,
            fragment_start,
            fragment_count,
            fragment_size,
            sample_size,
            inline_qos,
            is_key: flags & 0x04 != 0,
            payload: payload.bytes(len, "DATA_FRAG payload is short")?,
        })
    }
}

impl Heartbeat {
    fn read(flags: u8, mut body: Cursor<'_>) -> Result<Self, Malformed> {
        let reader = EntityId(body.array("HEARTBEAT reader id")?);
        let writer = EntityId(body.array("HEARTBEAT writer id")?);
        let at = body;
        let first = SequenceNumber::read_positive(&mut body, "HEARTBEAT first")?;
        let last = SequenceNumber::read(&mut body, "HEARTBEAT last")?;
        if last < first.previous() {
            return Err(at.malformed("HEARTBEAT first is beyond last + 1"));
        }
        Ok(Self {
            reader,
            writer,
            first,
            last,
            count: body.u32("HEARTBEAT count")?,
            is_final: flags & 0x02 != 0,
            liveliness: flags & 0x04 != 0,
        })
    }
}

impl HeartbeatFrag {
    fn read(mut body: Cursor<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            reader: EntityId(body.array("HEARTBEAT_FRAG reader id")?),
            writer: EntityId(body.array("HEARTBEAT_FRAG writer id")?),
            sequence_number: SequenceNumber::read_positive(
                &mut body,
                "HEARTBEAT_FRAG sequence number",
            )?,
            last_fragment: positive(&mut body, "HEARTBEAT_FRAG last fragment")?,
            count: body.u32("HEARTBEAT_FRAG count")?,
        })
    }
}

impl AckNack {
    fn read(flags: u8, mut body: Cursor<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            reader: EntityId(body.array("ACKNACK reader id")?),
            writer: EntityId(body.array("ACKNACK writer id")?),
            state: SequenceNumberSet::read(&mut body, "ACKNACK state")?,
            count: body.u32("ACKNACK count")?,
            is_final: flags & 0x02 != 0,
        })
    }
}

impl NackFrag {
    fn read(mut body: Cursor<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            reader: EntityId(body.array("NACK_FRAG reader id")?),
            writer: EntityId(body.array("NACK_FRAG writer id")?),
            sequence_number: SequenceNumber::read_positive(&mut body, "NACK_FRAG sequence number")?,
            state: FragmentNumberSet::read(&mut body, "NACK_FRAG state")?,
            count: body.u32("NACK_FRAG count")?,
        })
    }
}

impl Gap {
    fn read(mut body: Cursor<'_>) -> Result<Self, Malformed> {
        let reader = EntityId(body.array("GAP reader id")?);
        let writer = EntityId(body.array("GAP writer id")?);
        let start = SequenceNumber::read_positive(&mut body, "GAP start")?;
        let at = body;
        let list = SequenceNumberSet::read(&mut body, "GAP list")?;
        if list.base < SequenceNumber::FIRST {
            return Err(at.malformed("GAP list starts below 1"));
        }
        Ok(Self {
            reader,
            writer,
            start,
            list,
        })
    }
}

impl SequenceNumber {
    pub(crate) fn read(from: &mut Cursor<'_>, what: &'static str) -> Result<Self, Malformed> {
        let [high, low] = *from.words(what)?;
        Ok(Self::of_words(from.to_u32(high), from.to_u32(low)))
    }

    pub(super) fn of_words(high: u32, low: u32) -> Self {
        Self(i64::from(high.cast_signed()) << 32 | i64::from(low))
    }

    fn read_positive(from: &mut Cursor<'_>, what: &'static str) -> Result<Self, Malformed> {
        let at = *from;
        Self::read(from, what)
            .ok()
            .filter(|&number| number >= Self::FIRST)
            .ok_or_else(|| at.malformed(what))
    }
}

impl SequenceNumberSet {
    /// A base below 1 passes with no bits only: some peers ask so for a first heartbeat.
    fn read(from: &mut Cursor<'_>, what: &'static str) -> Result<Self, Malformed> {
        let at = *from;
        let base = SequenceNumber::read(from, what)?;
        let bits = Bitmap::read(from, what)?;
        let lowest = i64::from(bits.num_bits != 0);
        if base.0 < lowest {
            return Err(at.malformed(what));
        }
        Ok(Self::from_parts(base, bits))
    }
}

impl FragmentNumberSet {
    fn read(from: &mut Cursor<'_>, what: &'static str) -> Result<Self, Malformed> {
        let base = positive(from, what)?;
        Ok(Self::from_parts(base, Bitmap::read(from, what)?))
    }
}

impl Bitmap {
    fn read(from: &mut Cursor<'_>, what: &'static str) -> Result<Self, Malformed> {
        let at = *from;
        let num_bits = from.u32(what)?;
        if num_bits > Self::MAX_BITS {
            return Err(at.malformed("set of more than 256 numbers"));
        }
        let mut words = [0; 8];
        for (word, first_bit) in words.iter_mut().zip((0..num_bits).step_by(32)) {
            let used = (num_bits - first_bit).min(32);
            *word = from.u32(what)? & (u32::MAX << (32 - used));
        }
        Ok(Self { num_bits, words })
    }
}

fn positive(from: &mut Cursor<'_>, what: &'static str) -> Result<u32, Malformed> {
    let at = *from;
    match from.u32(what)? {
        0 => Err(at.malformed(what)),
        number => Ok(number),
    }
}

/// Reads octetsToInlineQos and gives what starts so many bytes after it.
fn octets_to_inline_qos<'a>(body: &mut Cursor<'a>) -> Result<Cursor<'a>, Malformed> {
    let at = *body;
    let octets = body.u16("octetsToInlineQos")?;
    let mut qos_at = *body;
    qos_at
        .bytes(usize::from(octets), "")
        .map_err(|_| at.malformed("octetsToInlineQos goes past the end"))?;
    Ok(qos_at)
}

/// Splits what follows a DATA's fixed part into inline QoS and payload.
fn inline_qos(flags: u8, from: Cursor<'_>) -> Result<(InlineQos<'_>, Cursor<'_>), Malformed> {
    if flags & 0x02 == 0 {
        return Ok((InlineQos::default(), from));
    }
    let mut payload = from;
    let len = parameter_list::list_len(from)?;
    let bytes = payload.bytes(len, "inline QoS")?;
    let qos = InlineQos {
        bytes,
        little_endian: from.little_endian,
    };
    Ok((qos, payload))
}

/// Bytes of `count` fragments from `start` on; `None` if not all are fragments of the sample.
fn fragments_len(start: u32, count: u16, size: u16, sample_size: u32) -> Option<usize> {
    let sample_size = u64::from(sample_size);
    let size = u64::from(size);
    let from = u64::from(start.checked_sub(1)?) * size;
    let to = from + u64::from(count) * size;
    let in_sample = count > 0 && size > 0 && from < sample_size && to < sample_size + size;
    match in_sample {
        true => usize::try_from(to.min(sample_size) - from).ok(),
        false => None,
    }
}
