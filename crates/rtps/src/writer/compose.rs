//! Changes and notices as submessages to one target. Decides neither what to send nor when.

use alloc::vec::Vec;
use core::ops::Range;

use tickwire_base::{Locator, Timestamp, copy};

use super::{Lent, Log, WriterConfig};
use crate::change::Change;
use crate::history::Kept;
use crate::outbox::Outbox;
use crate::payload::Borrowed;
use crate::wire::{
    Data, DataFrag, EntityId, Gap, Guid, GuidPrefix, Header, Heartbeat, HeartbeatFrag, InlineQos,
    MessageWriter, ParameterListWriter, SampleHead, SequenceNumber, SequenceNumberSet,
    SerializedPayload, StatusInfo,
};

/// Whom submessages are for and where they go.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    /// [`GuidPrefix::UNKNOWN`] is everybody.
    pub(super) prefix: GuidPrefix,
    /// [`EntityId::UNKNOWN`] is every matched reader.
    pub(super) reader: EntityId,
    pub(super) locators: &'a [Locator],
}

/// A fragment of a change.
struct Fragment<'a> {
    /// With what of its payload lies where most of the change's does.
    data: DataFrag<'a>,
    /// What of it comes before that.
    front: &'a [u8],
    /// Where it lies there.
    place: Range<usize>,
    /// All bytes of it; those that lack behind what lies there are zeros.
    len: usize,
}

/// Puts a writer's submessages into an outbox.
pub(super) struct Composer {
    writer: Guid,
    max_message_len: usize,
    /// Bytes of a full fragment: what a datagram holds beside the submessages around it, unless it is
    /// to be less.
    fragment_len: u16,
    /// Whether it is.
    cuts: bool,
    /// What samples begin with that need no inline QoS.
    pub(super) head: SampleHead,
    /// Whether DATA carries the key hash.
    pub(super) key_hash: bool,
    /// Whether a reader wants all of them in inline QoS.
    pub(super) expects_inline_qos: bool,
    /// Whether it carries the place.
    presents: bool,
    /// What a datagram needs for DATA or DATA_FRAG beside the payload.
    around_len: usize,
    /// Whether it carries the original writer.
    relays: bool,
    /// Whether it carries the sample that it answers.
    relates: bool,
    heartbeat_frag_count: u32,
    /// Scratch memory.
    inline_qos: Vec<u8>,
    record: Vec<u8>,
}

impl Composer {
    pub(super) fn new(config: &WriterConfig) -> Self {
        let max_message_len = config.max_message_len.clamp(512, 65_000);
        let around_len = submessages_len(config);
        let len = max_message_len - HEADERS_LEN - around_len;
        let fragment_len = len.min(config.max_fragment_len.max(64)) & !7;
        Self {
            writer: config.guid,
            max_message_len,
            fragment_len: u16::try_from(fragment_len).unwrap_or(0xfff8),
            cuts: config.max_fragment_len < len & !7,
            head: SampleHead::new(config.guid),
            key_hash: config.key_hash_with_data,
            expects_inline_qos: false,
            presents: config.presents,
            around_len,
            relays: config.relays,
            relates: config.relates,
            heartbeat_frag_count: 0,
            inline_qos: Vec::new(),
            record: Vec::new(),
        }
    }

    /// DATA with its INFO_TS.
    pub(super) fn data(
        &mut self,
        change: Kept<'_, impl Lent>,
        target: Target<'_>,
        outbox: &mut Outbox,
    ) {
        let len = self.data_len(change.payload.len());
        // The submessage of one that is sent from where it lies is longer than its head can say, so that it is the last.
        if let Some(part) = match change.payload {
            Borrowed::Long(long) => Some(long.part(0, long.len())),
            Borrowed::Handed(handed) => Some(handed.part(0..handed.bytes().len())),
            Borrowed::Own(_) | Borrowed::Lent(_) => None,
        } {
            self.list_inline_qos(change);
            let mut message = self.message(target, self.max_message_len, outbox);
            message
                .info_ts(change.source_timestamp)
                .data_head(&self.data_of(change, target.reader), change.payload.len());
            if let Borrowed::Handed(handed) = change.payload {
                message.first(handed.front());
            }
            return outbox.insert(part, true);
        }
        let payload = change.payload.first_piece();
        if target.reader == EntityId::UNKNOWN
            && let Some(head) = self.plain_head(change)
        {
            self.message(target, len, outbox).sample(&head, payload);
            return;
        }
        self.list_inline_qos(change);
        self.message(target, len, outbox)
            .info_ts(change.source_timestamp)
            .data(&self.data_of(change, target.reader));
    }

    /// The same of a change for all readers that needs no inline QoS and has a payload. `None` if its time cannot be
    /// told.
    #[inline]
    pub(super) fn plain(
        &mut self,
        time: Timestamp,
        number: SequenceNumber,
        payload: &[u8],
        target: Target<'_>,
        outbox: &mut Outbox,
    ) -> Option<()> {
        let (len, max_len) = (self.data_len(payload.len()), self.max_message_len);
        let head = self.head.set(time, number, payload.len())?;
        let Target {
            prefix, locators, ..
        } = target;
        outbox
            .append(self.writer.prefix, prefix, locators, len, max_len)
            .sample(head, payload);
        Some(())
    }

    /// DATA with its INFO_TS as a message to all readers, put together in a log, which is told of what lies ready where
    /// readers can see it.
    pub(super) fn record<L: Log>(&mut self, change: Kept<'_, L::Lent>, log: &mut L) {
        let payload = match change.payload {
            Borrowed::Own(_) | Borrowed::Long(_) | Borrowed::Lent(_) => {
                change.payload.first_piece()
            }
            Borrowed::Handed(handed) => handed.bytes(),
        };
        let is_in_one = payload.len() == change.payload.len();
        if is_in_one && let Some(head) = self.plain_head(change) {
            return match change.payload {
                Borrowed::Lent(lent) => log.publish_lent(lent),
                _ => log.publish(&head, payload),
            };
        }
        if is_in_one && let Some(head) = self.keyed_head(change) {
            return log.publish(&head, payload);
        }
        self.list_inline_qos(change);
        let mut record = core::mem::take(&mut self.record);
        record.clear();
        let mut message = MessageWriter::new(&mut record, self.writer.prefix);
        message.info_ts(change.source_timestamp).data_head(
            &self.data_of(change, EntityId::UNKNOWN),
            change.payload.len(),
        );
        if let Borrowed::Handed(handed) = change.payload {
            message.first(handed.front());
        }
        log.publish(&record, payload);
        self.record = record;
    }

    /// Lays DATA of a plain change of `payload` behind those that have been joined to a message to all readers, all of
    /// the time that [was set](SampleHead::set_time); the first one brings the message's begin and that time.
    #[inline(always)]
    pub(super) fn join(&mut self, number: SequenceNumber, payload: &[u8]) {
        let record = &mut self.record;
        let head = self.head.next(number, payload.len());
        match record.is_empty() {
            true => record.extend_from_slice(head),
            false => record.extend_from_slice(&head[SampleHead::DATA..]),
        }
        copy::append(record, payload);
        let padding = record.len().wrapping_neg() & 3;
        if padding > 0 {
            record.extend_from_slice(&[0; 3][..padding]);
        }
    }

    /// What has been joined; empty if that is nothing.
    #[inline]
    pub(super) fn joined(&self) -> &[u8] {
        &self.record
    }

    /// Lays what has been joined, if that is anything, into a datagram to all readers.
    pub(super) fn lay_joined(&self, target: Target<'_>, outbox: &mut Outbox) {
        if let Some((head, rest)) = self.record.split_first_chunk() {
            let (len, max_len) = (self.record.len() - Header::LEN, self.max_message_len);
            let (source, to) = (self.writer.prefix, target.locators);
            let mut message = outbox.append(source, target.prefix, to, len, max_len);
            message.sample(head, rest);
        }
    }

    /// The longest datagram.
    pub(super) fn max_message_len(&self) -> usize {
        self.max_message_len
    }

    /// How long that would be with a payload of `len` bytes more.
    #[inline]
    pub(super) fn joined_len(&self, len: usize) -> usize {
        self.record.len() + SampleHead::DATA_LEN + len.next_multiple_of(4)
    }

    /// Has nothing be joined.
    #[inline]
    pub(super) fn part(&mut self) {
        self.record.clear();
    }

    /// Whether a change lies ready as a message to all readers.
    pub(super) fn is_ready(&self, change: Kept<'_, impl Lent>) -> bool {
        matches!(change.payload, Borrowed::Lent(_)) && self.plain_head(change).is_some()
    }

    /// What a message to all readers with that change, which has no inline QoS, has before a payload of
    /// `len` bytes. Without a time that can be told it will not do, and is not told of.
    pub(super) fn lent_head(
        &self,
        change: &Change,
        number: SequenceNumber,
        len: usize,
    ) -> [u8; SampleHead::MESSAGE_LEN] {
        let time = change.source_timestamp.unwrap_or_default();
        let head = self.head.of(time, number, len);
        head.unwrap_or([0; SampleHead::MESSAGE_LEN])
    }

    /// The head of a change that needs no inline QoS and has a payload, unless its time cannot be told.
    #[inline]
    fn plain_head(&self, change: Kept<'_, impl Lent>) -> Option<[u8; SampleHead::MESSAGE_LEN]> {
        let (time, len) = (change.source_timestamp, change.payload.len());
        let time = time.filter(|_| len > 0 && !self.needs_inline_qos(change));
        self.head.of(time?, change.sequence_number, len)
    }

    /// The head of a change that needs a key hash in inline QoS and no more, and has a payload, unless its time cannot be
    /// told.
    #[inline]
    fn keyed_head(
        &self,
        change: Kept<'_, impl Lent>,
    ) -> Option<[u8; SampleHead::KEYED_MESSAGE_LEN]> {
        let hash = change.key_hash().filter(|_| self.key_hash)?;
        let (time, len) = (change.source_timestamp, change.payload.len());
        let time = time.filter(|_| len > 0 && !self.says_more(change));
        let number = change.sequence_number;
        self.head.with_key_hash(time?, number, hash, len)
    }

    fn data_of<'a>(&'a self, change: Kept<'a, impl Lent>, reader: EntityId) -> Data<'a> {
        Data {
            reader,
            writer: self.writer.entity,
            sequence_number: change.sequence_number,
            inline_qos: self.inline_qos(),
            payload: match (change.kind().is_alive(), change.payload.first_piece()) {
                _ if change.payload.is_empty() => SerializedPayload::None,
                (true, value) => SerializedPayload::Data(value),
                (false, key) => SerializedPayload::Key(key),
            },
        }
    }

    /// DATA_FRAG with its INFO_TS. `fragment` counts from 1; one that the change does not have is
    /// not sent.
    pub(super) fn fragment(
        &mut self,
        change: Kept<'_, impl Lent>,
        fragment: u32,
        target: Target<'_>,
        outbox: &mut Outbox,
    ) {
        self.list_inline_qos(change);
        let Some(Fragment {
            data,
            front,
            place,
            len,
        }) = self.fragment_of(change, fragment, target.reader)
        else {
            return;
        };
        let part = match change.payload {
            _ if place.len() < MIN_PART_LEN => None,
            Borrowed::Long(long) => Some(long.part(place.start, place.len())),
            Borrowed::Handed(handed) => Some(handed.part(place)),
            Borrowed::Own(_) | Borrowed::Lent(_) => None,
        };
        let max_len = match part {
            Some(_) => self.max_message_len,
            None => self.data_len(len),
        };
        let mut message = self.message(target, max_len, outbox);
        message
            .info_ts(change.source_timestamp)
            .data_frag_head(&data, len)
            .first(front);
        match part {
            Some(part) => outbox.insert(part, false),
            None => {
                message.last(data.payload);
            }
        }
    }

    /// Where a fragment begins, counted from 1.
    fn fragment_start(&self, fragment: u32) -> usize {
        let before = usize::try_from(fragment.saturating_sub(1)).unwrap_or(usize::MAX);
        before.saturating_mul(self.fragment_len())
    }

    /// The same as a message to all readers, put together in a log.
    pub(super) fn fragment_record(
        &mut self,
        change: Kept<'_, impl Lent>,
        fragment: u32,
        log: &mut impl Log,
    ) {
        self.list_inline_qos(change);
        let mut record = core::mem::take(&mut self.record);
        record.clear();
        if let Some(fragment) = self.fragment_of(change, fragment, EntityId::UNKNOWN) {
            MessageWriter::new(&mut record, self.writer.prefix)
                .info_ts(change.source_timestamp)
                .data_frag_head(&fragment.data, fragment.len)
                .first(fragment.front);
            log.publish(&record, fragment.data.payload);
        }
        self.record = record;
    }

    /// `None` if the change has no such fragment.
    fn fragment_of<'a>(
        &'a self,
        change: Kept<'a, impl Lent>,
        fragment: u32,
        reader: EntityId,
    ) -> Option<Fragment<'a>> {
        let (start, whole) = (self.fragment_start(fragment), change.payload.len());
        let len = whole.saturating_sub(start).min(self.fragment_len());
        let (front, place, bytes) = match change.payload {
            _ if len == 0 => return None,
            Borrowed::Handed(handed) => {
                let (front, place) = handed.range(start, len);
                (front, place, handed.bytes())
            }
            payload => (&[][..], start..start + len, payload.first_piece()),
        };
        let data = DataFrag {
            reader,
            writer: self.writer.entity,
            sequence_number: change.sequence_number,
            fragment_start: fragment,
            fragment_count: 1,
            fragment_size: self.fragment_len,
            // Writing refuses payloads that 32 bits cannot count.
            sample_size: u32::try_from(whole).unwrap_or(u32::MAX),
            inline_qos: self.inline_qos(),
            is_key: !change.kind().is_alive(),
            payload: bytes.get(place.clone()).unwrap_or_default(),
        };
        Some(Fragment {
            data,
            front,
            place,
            len,
        })
    }

    /// GAP over `start` up to but without `end`.
    pub(super) fn gap(
        &self,
        start: SequenceNumber,
        end: SequenceNumber,
        target: Target<'_>,
        outbox: &mut Outbox,
    ) {
        self.gap_list(start, SequenceNumberSet::empty(end), target, outbox);
    }

    /// GAP over `start` up to but without the base of `list`, and over what is in the list; says how
    /// many bytes it takes at most.
    pub(super) fn gap_list(
        &self,
        start: SequenceNumber,
        list: SequenceNumberSet,
        target: Target<'_>,
        outbox: &mut Outbox,
    ) -> usize {
        let len = match list.is_empty() {
            true => GAP_LEN,
            false => GAP_LEN + BITMAP_LEN,
        };
        self.message(target, len, outbox).gap(&Gap {
            reader: target.reader,
            writer: self.writer.entity,
            start,
            list,
        });
        len
    }

    /// HEARTBEAT; whom it is for is filled in here.
    pub(super) fn heartbeat(&self, heartbeat: Heartbeat, target: Target<'_>, outbox: &mut Outbox) {
        self.message(target, HEARTBEAT_LEN, outbox)
            .heartbeat(&Heartbeat {
                reader: target.reader,
                ..heartbeat
            });
    }

    /// HEARTBEAT_FRAG: the fragments of `number` up to `last_fragment` have been sent.
    pub(super) fn heartbeat_frag(
        &mut self,
        number: SequenceNumber,
        last_fragment: u32,
        target: Target<'_>,
        outbox: &mut Outbox,
    ) {
        self.heartbeat_frag_count = self.heartbeat_frag_count.wrapping_add(1);
        self.message(target, HEARTBEAT_FRAG_LEN, outbox)
            .heartbeat_frag(&HeartbeatFrag {
                reader: target.reader,
                writer: self.writer.entity,
                sequence_number: number,
                last_fragment,
                count: self.heartbeat_frag_count,
            });
    }

    /// Bytes of a full fragment, which is the longest payload that goes in one piece by datagrams.
    pub(super) fn fragment_len(&self) -> usize {
        self.fragment_len.into()
    }

    /// The longest payload that goes in one piece by messages of up to `max_len` bytes, unless fragments
    /// are to be short.
    #[inline]
    pub(super) fn whole_len(&self, max_len: usize) -> usize {
        match self.cuts {
            true => self.fragment_len(),
            false => max_len.saturating_sub(HEADERS_LEN + self.around_len),
        }
    }

    /// How many fragments a payload makes; 1 if it goes whole.
    pub(super) fn fragment_count(&self, payload_len: usize) -> u32 {
        let count = payload_len.div_ceil(usize::from(self.fragment_len));
        u32::try_from(count).unwrap_or(u32::MAX).max(1)
    }

    /// How many bytes DATA with a payload of `payload_len`, or DATA_FRAG with as much of one, takes at
    /// most.
    #[inline]
    pub(super) fn data_len(&self, payload_len: usize) -> usize {
        self.around_len + payload_len
    }

    /// How many bytes the first `count` fragments take at most.
    pub(super) fn fragments_len(&self, count: u32) -> usize {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        count.saturating_mul(self.full_fragment_len())
    }

    /// How many bytes a full fragment takes at most.
    pub(super) fn full_fragment_len(&self) -> usize {
        self.data_len(self.fragment_len.into())
    }

    /// Whether the change needs inline QoS.
    fn needs_inline_qos(&self, change: Kept<'_, impl Lent>) -> bool {
        // What is lent has the key where it lies, and nothing before it but the head that it was given.
        let has_hash = match change.payload {
            Borrowed::Lent(_) => self.expects_inline_qos,
            Borrowed::Own(_) | Borrowed::Long(_) | Borrowed::Handed(_) => self.key_hash,
        };
        has_hash && change.key_hash().is_some() || self.says_more(change)
    }

    /// Whether it needs more there than a key hash.
    fn says_more(&self, change: Kept<'_, impl Lent>) -> bool {
        self.presents
            || !change.kind().is_alive()
            || self.relays && change.original().is_some()
            || self.relates && change.related().is_some()
    }

    /// Lists the inline QoS that the change needs (RTPS 2.5 §8.7): the key hash where there is no
    /// value to compute it from, the status where it is not plainly alive, its place if it has one,
    /// who wrote it first if that was another writer, and the sample that it answers.
    fn list_inline_qos(&mut self, change: Kept<'_, impl Lent>) {
        self.inline_qos.clear();
        if !self.needs_inline_qos(change) {
            return;
        }
        let kind = change.kind();
        let key_hash = change.key_hash();
        let key_hash = key_hash.filter(|_| self.key_hash || !kind.is_alive());
        let original = change.original().filter(|_| self.relays);
        let related = change.related().filter(|_| self.relates);
        let mut list = ParameterListWriter::new(&mut self.inline_qos);
        if let Some(key_hash) = key_hash {
            list.key_hash(key_hash);
        }
        if !kind.is_alive() {
            list.status_info(StatusInfo(kind.status_info()));
        }
        if self.presents {
            list.place(&change.announced_place());
        }
        if let Some(original) = original {
            list.original_writer(&original);
        }
        if let Some(related) = related {
            list.related_sample(&related);
        }
        list.finish();
    }

    fn inline_qos(&self) -> InlineQos<'_> {
        InlineQos {
            bytes: &self.inline_qos,
            little_endian: true,
        }
    }

    fn message<'a>(
        &self,
        target: Target<'_>,
        len: usize,
        outbox: &'a mut Outbox,
    ) -> MessageWriter<'a> {
        let Target {
            prefix, locators, ..
        } = target;
        outbox.append(
            self.writer.prefix,
            prefix,
            locators,
            len,
            self.max_message_len,
        )
    }
}

/// What a datagram needs for DATA or DATA_FRAG beside the payload.
const fn submessages_len(config: &WriterConfig) -> usize {
    let place = if config.presents { PLACE_LEN } else { 0 };
    let original = if config.relays { ORIGINAL_LEN } else { 0 };
    let related = if config.relates { RELATED_LEN } else { 0 };
    SUBMESSAGES_LEN + place + original + related
}

/// Shorter parts of a payload are copied, and may share a datagram.
const MIN_PART_LEN: usize = 16 << 10;
/// The message header and INFO_DST.
const HEADERS_LEN: usize = 20 + 16;
/// INFO_TS, the larger head of DATA_FRAG, key hash, status and sentinel, HEARTBEAT or
/// HEARTBEAT_FRAG, padding.
const SUBMESSAGES_LEN: usize = 12 + 36 + 32 + HEARTBEAT_LEN + 4;
/// COHERENT_SET, GROUP_SEQ_NUM, GROUP_COHERENT_SET, WRITER_GROUP_INFO.
const PLACE_LEN: usize = 3 * 12 + 8;
/// ORIGINAL_WRITER_INFO.
const ORIGINAL_LEN: usize = 32;
/// RELATED_SAMPLE_IDENTITY by both of its ids.
const RELATED_LEN: usize = 2 * 28;
const HEARTBEAT_LEN: usize = 32;
const HEARTBEAT_FRAG_LEN: usize = 28;
const GAP_LEN: usize = 32;
const BITMAP_LEN: usize = 32;
