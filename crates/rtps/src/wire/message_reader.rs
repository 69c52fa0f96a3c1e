//! Takes a datagram apart. Knows what a submessage says, not what to do about it.

use core::net::IpAddr;

use tickwire_base::Timestamp;

use super::cursor::{Cursor, Malformed};
use super::header::{Header, ProtocolVersion};
use super::locator_list::LocatorList;
use super::message_writer::SampleHead;
use super::parameter_list::KEY_HASH_LIST_LEN;
use super::submessage::{Data, InlineQos, SerializedPayload, Submessage, SubmessageId};
use super::{EntityId, Guid, GuidPrefix, PlainSample, SequenceNumber, VendorId, time};

/// What the header and the INFO_* submessages say about the submessage after them
/// (RTPS 2.5 §8.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context<'a> {
    /// The version of the source.
    pub version: ProtocolVersion,
    /// The implementation of the source.
    pub vendor: VendorId,
    /// The participant that the submessage comes from.
    pub source_prefix: GuidPrefix,
    /// The participant that it is for; [`GuidPrefix::UNKNOWN`] is everybody.
    pub destination_prefix: GuidPrefix,
    /// When the source made what follows, if it says so.
    pub source_timestamp: Option<Timestamp>,
    /// Where the source wants unicast answers; empty if it does not say.
    pub unicast_reply: LocatorList<'a>,
    /// Where the source wants multicast answers; empty if it does not say.
    pub multicast_reply: LocatorList<'a>,
    /// How the datagram came, if its receiver says so.
    pub arrival: Option<Arrival>,
}

/// How a datagram came to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The address that it was sent from.
    pub from: IpAddr,
    /// Whether it was sent to a multicast group.
    pub by_multicast: bool,
    /// When the kernel received it, if it was asked to note that.
    pub kernel_timestamp: Option<Timestamp>,
}

impl Context<'_> {
    #[inline]
    fn new(header: &Header) -> Self {
        Self {
            version: header.version,
            vendor: header.vendor,
            source_prefix: header.prefix,
            destination_prefix: GuidPrefix::UNKNOWN,
            source_timestamp: None,
            unicast_reply: LocatorList::default(),
            multicast_reply: LocatorList::default(),
            arrival: None,
        }
    }

    /// When the kernel received the datagram, if that is known.
    #[inline]
    pub fn kernel_timestamp(&self) -> Option<Timestamp> {
        self.arrival?.kernel_timestamp
    }

    /// Whether the submessage is for the participant `prefix`.
    pub fn is_for(&self, prefix: GuidPrefix) -> bool {
        self.destination_prefix == GuidPrefix::UNKNOWN || self.destination_prefix == prefix
    }

    /// An entity of the source.
    #[inline]
    pub fn source(&self, entity: EntityId) -> Guid {
        Guid::new(self.source_prefix, entity)
    }
}

/// Iterates over the submessages of a datagram that concern writers and readers.
///
/// INFO_* submessages change the [`Context`] of the next ones, PAD says nothing, and unknown ones
/// are counted ([`skipped`](Self::skipped)). An error ends the datagram; what came before it
/// stands (RTPS 2.5 §8.3.4.1).
///
/// ```text
///  0                   1                   2                   3
/// +-------+-------+---------------+
/// |  id   | flags | octets to next|  flag 01: little-endian;
/// +-------+-------+---------------+  0 octets: up to the end of the datagram
/// ~             body              ~  (in PAD and INFO_TS: none)
/// +-------------------------------+
/// ```
#[derive(Clone, Debug)]
pub struct MessageReader<'a> {
    rest: Cursor<'a>,
    context: Context<'a>,
    /// The datagram's header.
    header: [u8; Header::LEN],
    /// Whether nothing but that and a time has set the state.
    is_plain: bool,
    skipped_count: u32,
    failed: bool,
}

impl<'a> MessageReader<'a> {
    /// Starts on a datagram.
    ///
    /// # Errors
    /// See [`Header::read`].
    #[inline]
    pub fn new(datagram: &'a [u8]) -> Result<Self, Malformed> {
        let header = Header::read(datagram)?;
        let mut rest = Cursor::new(datagram, 0, false);
        Ok(Self {
            header: rest.array("header")?,
            rest,
            context: Context::new(&header),
            is_plain: true,
            skipped_count: 0,
            failed: false,
        })
    }

    /// Starts on one that has nothing but our header, of that participant.
    #[inline]
    pub fn of(prefix: GuidPrefix) -> Self {
        let header = Header::new(prefix);
        Self {
            rest: Cursor::new(&[], 0, false),
            context: Context::new(&header),
            header: header.to_bytes(),
            is_plain: true,
            skipped_count: 0,
            failed: false,
        }
    }

    /// Goes on with another datagram, which came as this one did, whatever is left of it. What was
    /// [skipped](Self::skipped) is counted on.
    ///
    /// # Errors
    /// See [`Header::read`]; then nothing changes.
    #[inline]
    pub fn begin(&mut self, datagram: &'a [u8]) -> Result<(), Malformed> {
        let header = Header::read(datagram)?;
        let mut rest = Cursor::new(datagram, 0, false);
        self.header = rest.array("header")?;
        self.rest = rest;
        self.context = Context {
            arrival: self.context.arrival,
            ..Context::new(&header)
        };
        self.is_plain = true;
        self.failed = false;
        Ok(())
    }

    /// The same if it begins as this one did, of which only a time has been said since: then all that is known stays.
    /// False, and nothing changes, if it is otherwise.
    #[inline]
    pub fn begin_alike(&mut self, datagram: &'a [u8]) -> bool {
        let Some((header, body)) = datagram.split_first_chunk() else {
            return false;
        };
        if !self.is_plain || *header != self.header {
            return false;
        }
        self.rest = Cursor::new(body, Header::LEN, false);
        self.context.source_timestamp = None;
        self.failed = false;
        true
    }

    /// Goes on with a [`PlainSample`] and its payload, of that writer, as if it were a message: the same DATA as
    /// [`next_sample`](Self::next_sample) would give.
    ///
    /// # Errors
    /// See [`PlainSample::read`]; then nothing changes.
    #[inline]
    pub fn plain_sample(&mut self, writer: Guid, bytes: &'a [u8]) -> Result<Data<'a>, Malformed> {
        let (sample, payload) = PlainSample::read(bytes)?;
        if !self.is_alike(writer) {
            *self = Self {
                skipped_count: self.skipped_count,
                context: Context {
                    arrival: self.context.arrival,
                    ..Context::new(&Header::new(writer.prefix))
                },
                ..Self::of(writer.prefix)
            };
        }
        self.rest = Cursor::new(&[], 0, false);
        self.failed = false;
        self.context.source_timestamp = Some(sample.timestamp);
        Ok(Data {
            reader: EntityId::UNKNOWN,
            writer: writer.entity,
            sequence_number: sample.number,
            inline_qos: InlineQos::default(),
            payload: SerializedPayload::Data(payload),
        })
    }

    /// Whether [`plain_sample`](Self::plain_sample) of that writer would leave all that is known as it is but the time.
    #[inline]
    pub fn is_alike(&self, writer: Guid) -> bool {
        let Context {
            version,
            vendor,
            source_prefix,
            ..
        } = self.context;
        let header = Header {
            version,
            vendor,
            prefix: source_prefix,
        };
        self.is_plain && header == Header::new(writer.prefix)
    }

    /// Says how the datagram came.
    #[inline]
    pub fn arrived(mut self, arrival: Arrival) -> Self {
        self.context.arrival = Some(arrival);
        self
    }

    /// The state that the next submessage will have.
    #[inline]
    pub fn context(&self) -> &Context<'a> {
        &self.context
    }

    /// Submessages passed over so far because nobody here knows their id.
    pub fn skipped(&self) -> u32 {
        self.skipped_count
    }

    /// What the iterator gives, without the state, which is in [`context`](Self::context) until the
    /// next one is asked for.
    #[inline]
    pub fn next_submessage(&mut self) -> Option<Result<Submessage<'a>, Malformed>> {
        if self.is_done() {
            return None;
        }
        match self.next_sample() {
            Some(data) => Some(Ok(Submessage::Data(data))),
            None => self.any_submessage(),
        }
    }

    /// The next submessage if it is the DATA of a sample that says nothing besides, or the hash of its key alone, as ours
    /// are with the INFO_TS before it, which the next ones may have been made at, too: what most datagrams consist of.
    /// Nothing is taken of anything else.
    #[inline]
    pub fn next_sample(&mut self) -> Option<Data<'a>> {
        const INFO_TS: u32 = u32::from_le_bytes([SubmessageId::INFO_TS.0, 0x01, 8, 0]);
        const DATA: u16 = u16::from_le_bytes([SubmessageId::DATA.0, 0x05]);
        const WITH_INLINE_QOS: u16 = u16::from_le_bytes([SubmessageId::DATA.0, 0x07]);
        let (words, _) = self.rest.rest().as_chunks::<4>();
        let (time, head) = match words {
            [info_ts, seconds, fraction, head @ ..] if u32::from_le_bytes(*info_ts) == INFO_TS => {
                (Some((*seconds, *fraction)), head)
            }
            head => (None, head),
        };
        let &[[id, flags, len @ ..], octets, reader, writer, high, low] = head.first_chunk()?;
        let len = usize::from(u16::from_le_bytes(len));
        let [high, low] = [high, low].map(u32::from_le_bytes);
        let sequence_number = SequenceNumber::of_words(high, low);
        let inline_qos_len = match u16::from_le_bytes([id, flags]) {
            DATA => 0,
            WITH_INLINE_QOS => KEY_HASH_LIST_LEN,
            _ => return None,
        };
        if octets != [0, 0, 16, 0] || sequence_number < SequenceNumber::FIRST || self.failed {
            return None;
        }
        let data = if time.is_some() {
            SampleHead::TIME_LEN
        } else {
            0
        };
        let (begin, end) = (data + SampleHead::DATA_LEN, data + 4 + len);
        let (list, payload) = self
            .rest
            .rest()
            .get(begin..end)?
            .split_at_checked(inline_qos_len)?;
        let inline_qos = match list {
            [] => InlineQos::default(),
            bytes => InlineQos {
                bytes,
                little_endian: true,
            },
        };
        if !list.is_empty() && inline_qos.key_hash_alone().is_none() {
            return None;
        }
        self.rest.bytes(end, "").ok()?;
        if let Some((seconds, fraction)) = time {
            let time = [seconds, fraction].map(u32::from_le_bytes);
            self.context.source_timestamp = time::to_timestamp(time.into());
        }
        Some(Data {
            reader: EntityId(reader),
            writer: EntityId(writer),
            sequence_number,
            inline_qos,
            payload: SerializedPayload::Data(payload),
        })
    }

    /// How many bytes of the datagram have not been read.
    #[inline]
    pub fn left(&self) -> usize {
        self.rest.rest().len()
    }

    /// Whether nothing is left of the datagram.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.failed || self.rest.rest().is_empty()
    }

    fn any_submessage(&mut self) -> Option<Result<Submessage<'a>, Malformed>> {
        while !self.is_done() {
            match self.submessage() {
                Ok(Some(submessage)) => return Some(Ok(submessage)),
                Ok(None) => {}
                Err(malformed) => {
                    self.failed = true;
                    return Some(Err(malformed));
                }
            }
        }
        None
    }

    /// The next submessage; `None` if it was only for the state.
    #[inline]
    fn submessage(&mut self) -> Result<Option<Submessage<'a>>, Malformed> {
        let at = self.rest;
        let [id, flags, len @ ..] = self.rest.array::<4>("submessage header")?;
        let id = SubmessageId(id);
        self.rest.little_endian = flags & 1 != 0;
        let len = match self.rest.little_endian {
            true => u16::from_le_bytes(len),
            false => u16::from_be_bytes(len),
        };
        let len = match usize::from(len) {
            0 if id != SubmessageId::PAD && id != SubmessageId::INFO_TS => self.rest.rest().len(),
            len => len,
        };
        let body = self
            .rest
            .split(len, "")
            .map_err(|_| at.malformed("octetsToNextHeader goes past the end"))?;
        if id == SubmessageId::DATA {
            return Data::read(flags, body).map(|data| Some(Submessage::Data(data)));
        }
        if self.info(id, flags, body)? {
            return Ok(None);
        }
        let submessage = Submessage::read(id, flags, body)?;
        if submessage.is_none() {
            self.skipped_count += 1;
        }
        Ok(submessage)
    }

    /// Applies a submessage that only sets state; false if it is none of those.
    #[inline]
    fn info(
        &mut self,
        id: SubmessageId,
        flags: u8,
        mut body: Cursor<'a>,
    ) -> Result<bool, Malformed> {
        self.is_plain &= !matches!(
            id,
            SubmessageId::INFO_DST
                | SubmessageId::INFO_SRC
                | SubmessageId::INFO_REPLY
                | SubmessageId::INFO_REPLY_IP4
        );
        match id {
            SubmessageId::PAD => {}
            SubmessageId::INFO_TS if flags & 0x02 != 0 => self.context.source_timestamp = None,
            SubmessageId::INFO_TS => {
                let [seconds, fraction] = *body.words("INFO_TS is short")?;
                let time = (body.to_u32(seconds), body.to_u32(fraction));
                self.context.source_timestamp = time::to_timestamp(time);
            }
            SubmessageId::INFO_DST => {
                self.context.destination_prefix = GuidPrefix(body.array("INFO_DST prefix")?);
            }
            SubmessageId::INFO_SRC => self.info_src(body)?,
            SubmessageId::INFO_REPLY => {
                self.context.unicast_reply = LocatorList::read(&mut body, "INFO_REPLY unicast")?;
                self.context.multicast_reply = match flags & 0x02 {
                    0 => LocatorList::default(),
                    _ => LocatorList::read(&mut body, "INFO_REPLY multicast")?,
                };
            }
            SubmessageId::INFO_REPLY_IP4 => {
                self.context.unicast_reply =
                    LocatorList::read_short(&mut body, "INFO_REPLY_IP4 unicast")?;
                self.context.multicast_reply = match flags & 0x02 {
                    0 => LocatorList::default(),
                    _ => LocatorList::read_short(&mut body, "INFO_REPLY_IP4 multicast")?,
                };
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A new source brings its own version, and neither time nor reply address of the old one
    /// (RTPS 2.5 §8.3.8.9).
    fn info_src(&mut self, mut body: Cursor<'a>) -> Result<(), Malformed> {
        body.bytes(4, "INFO_SRC unused")?;
        let [major, minor] = body.array("INFO_SRC version")?;
        self.context = Context {
            version: ProtocolVersion { major, minor },
            vendor: VendorId(body.array("INFO_SRC vendor")?),
            source_prefix: GuidPrefix(body.array("INFO_SRC prefix")?),
            destination_prefix: self.context.destination_prefix,
            source_timestamp: None,
            unicast_reply: LocatorList::default(),
            multicast_reply: LocatorList::default(),
            arrival: self.context.arrival,
        };
        Ok(())
    }
}

impl<'a> Iterator for MessageReader<'a> {
    type Item = Result<(Context<'a>, Submessage<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        let submessage = self.next_submessage()?;
        Some(submessage.map(|submessage| (self.context, submessage)))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::wire::MessageWriter;

    fn message(prefix: u8, write: impl FnOnce(&mut MessageWriter<'_>)) -> Vec<u8> {
        let mut bytes = vec![];
        let prefix = GuidPrefix([prefix; 12]);
        write(&mut MessageWriter::new(&mut bytes, prefix));
        bytes
    }

    #[test]
    fn a_datagram_that_begins_as_the_one_before_leaves_all_as_it_is_but_the_time() {
        let plain = message(1, |message| {
            message.info_ts(Some(Timestamp::from_nanos(1)));
        });
        let other = message(2, |_| {});
        let addressed = message(1, |message| {
            message.info_dst(GuidPrefix([3; 12]));
        });
        let broken = {
            let mut bytes = message(1, |_| {});
            bytes.extend([SubmessageId::INFO_REPLY.0, 1, 4, 0, 9, 0, 0, 0]);
            bytes
        };
        let second = message(1, |_| {});
        for (first, is_alike) in [
            (plain, true),
            (other, false),
            (addressed, false),
            (broken, false),
        ] {
            let mut reader = MessageReader::new(&first).expect("a header");
            while reader.next_submessage().is_some() {}
            let before = *reader.context();
            assert_eq!(reader.begin_alike(&second), is_alike);
            if is_alike {
                let fresh = MessageReader::new(&second).expect("a header");
                assert_eq!(reader.context(), fresh.context());
                assert_eq!(reader.rest.rest(), fresh.rest.rest());
            } else {
                assert_eq!(*reader.context(), before);
            }
            assert!(!reader.begin_alike(&second[..Header::LEN - 1]));
        }
    }

    #[test]
    fn a_plain_sample_is_read_as_the_message_that_it_stands_for() {
        let writer = Guid::new(GuidPrefix([1; 12]), EntityId::user_writer(1, false));
        let sample = PlainSample {
            number: SequenceNumber(7),
            timestamp: Timestamp::from_nanos(1_000_000_001),
        };
        let payload = [0, 1, 0, 0, 5, 0, 0, 0];
        let head = SampleHead::new(writer);
        let head = head.of(sample.timestamp, sample.number, payload.len());
        let bytes = [&head.expect("a time that can be told")[..], &payload].concat();
        let mut reader = MessageReader::new(&bytes).expect("a header");
        let data = reader.next_sample().expect("plain");
        let expected = (data, *reader.context());
        let bytes = [&sample.to_bytes()[..], &payload].concat();
        let before = [
            message(1, |_| {}),
            message(2, |message| {
                message.info_dst(GuidPrefix([3; 12]));
            }),
        ];
        let foreign = {
            let mut bytes = message(1, |_| {});
            bytes[6..8].copy_from_slice(&VendorId::UNKNOWN.0);
            bytes
        };
        let before = before.iter().chain([&foreign]).map(|message| {
            let mut reader = MessageReader::new(message).expect("a header");
            assert!(reader.next_submessage().is_none());
            reader
        });
        for mut reader in before.chain([MessageReader::of(writer.prefix)]) {
            let data = reader.plain_sample(writer, &bytes).expect("well-formed");
            assert_eq!((data, *reader.context()), expected);
            assert!(reader.is_done() && reader.is_alike(writer));
            assert!(reader.plain_sample(writer, &bytes[..15]).is_err());
            assert_eq!(*reader.context(), expected.1);
        }
    }

    /// What the submessages of a datagram are, each with the state before the next one.
    type Seen = Vec<(Option<Timestamp>, Result<alloc::string::String, Malformed>)>;

    fn read<'a>(
        datagram: &'a [u8],
        next: fn(&mut MessageReader<'a>) -> Option<Result<Submessage<'a>, Malformed>>,
    ) -> (Seen, u32) {
        let mut reader = MessageReader::new(datagram).expect("a header");
        let mut seen = Vec::new();
        while let Some(submessage) = next(&mut reader) {
            let submessage = submessage.map(|submessage| alloc::format!("{submessage:?}"));
            seen.push((reader.context.source_timestamp, submessage));
        }
        (seen, reader.skipped())
    }

    proptest! {
        /// Whatever is wrong with a sample, the shorter way gives what the other does.
        #[test]
        fn samples_taken_apart_at_once_are_what_they_are_piece_by_piece(
            samples in prop::collection::vec((0..20_usize, any::<bool>(), 0..3_usize), 1..4),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            cut in 0..40_usize,
        ) {
            let mut bytes = vec![];
            let mut writer = MessageWriter::new(&mut bytes, GuidPrefix([1; 12]));
            let head = SampleHead::new(Guid::new(GuidPrefix([1; 12]), EntityId::user_writer(1, false)));
            let hash = InlineQos::of_key_hash([6; 16]);
            for ((len, has_time, qos), number) in samples.into_iter().zip(1..) {
                let (time, payload) = (Timestamp::from_nanos(number * 1_500_000_000), vec![7; len]);
                let sequence_number = SequenceNumber(number);
                match head.of(time, sequence_number, len) {
                    Some(head) if has_time && qos == 0 => writer.sample(&head, &payload),
                    _ => {
                        // Whole, or without its beginning and end, which then are not what they are taken for.
                        let list = [&[][..], &hash, &hash[4..20]][qos];
                        writer.data(&Data {
                            reader: EntityId::UNKNOWN,
                            writer: EntityId::user_writer(1, false),
                            sequence_number,
                            inline_qos: InlineQos { bytes: list, little_endian: true },
                            payload: SerializedPayload::Data(&payload),
                        });
                    }
                }
            }
            for (place, byte) in changes {
                let body = &mut bytes[Header::LEN..];
                body[place.index(body.len())] = byte;
            }
            let len = bytes.len().saturating_sub(cut).max(Header::LEN);
            let datagram = &bytes[..len];
            let both = [MessageReader::next_submessage, MessageReader::any_submessage];
            let [at_once, piece_by_piece] = both.map(|next| read(datagram, next));
            prop_assert_eq!(at_once, piece_by_piece);
        }
    }
}
