//! Changes and notices as submessages to one target. Decides neither what to send nor when.

use alloc::vec::Vec;

use tickwire_base::Locator;

use super::WriterConfig;
use crate::history::CacheChange;
use crate::outbox::Outbox;
use crate::wire::{
    Data, DataFrag, EntityId, Gap, Guid, GuidPrefix, Heartbeat, HeartbeatFrag, InlineQos,
    MessageWriter, ParameterListWriter, SequenceNumber, SequenceNumberSet, SerializedPayload,
    StatusInfo,
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

/// Puts a writer's submessages into an outbox.
pub(super) struct Composer {
    writer: Guid,
    max_message_len: usize,
    max_fragment_len: usize,
    /// Whether DATA carries the key hash.
    pub(super) key_hash: bool,
    /// Whether it carries the place.
    presents: bool,
    /// Whether it carries the original writer.
    relays: bool,
    heartbeat_frag_count: u32,
    /// Scratch memory.
    inline_qos: Vec<u8>,
}

impl Composer {
    pub(super) fn new(config: &WriterConfig) -> Self {
        Self {
            writer: config.guid,
            max_message_len: config.max_message_len.clamp(512, 65_000),
            max_fragment_len: config.max_fragment_len.max(64),
            key_hash: config.key_hash_with_data,
            presents: config.presents,
            relays: config.relays,
            heartbeat_frag_count: 0,
            inline_qos: Vec::new(),
        }
    }

    /// DATA with its INFO_TS.
    pub(super) fn data(&mut self, change: &CacheChange, target: Target<'_>, outbox: &mut Outbox) {
        self.list_inline_qos(change);
        let payload = match (change.change.kind.is_alive(), change.payload.as_slice()) {
            (_, []) => SerializedPayload::None,
            (true, value) => SerializedPayload::Data(value),
            (false, key) => SerializedPayload::Key(key),
        };
        let len = self.data_len(change.payload.len());
        self.message(target, len, outbox)
            .info_ts(change.change.source_timestamp)
            .data(&Data {
                reader: target.reader,
                writer: self.writer.entity,
                sequence_number: change.sequence_number,
                inline_qos: self.inline_qos(),
                payload,
            });
    }

    /// DATA_FRAG with its INFO_TS. `fragment` counts from 1; one that the change does not have is
    /// not sent.
    pub(super) fn fragment(
        &mut self,
        change: &CacheChange,
        fragment: u32,
        target: Target<'_>,
        outbox: &mut Outbox,
    ) {
        let fragment_len = usize::from(self.fragment_len());
        let before = usize::try_from(fragment.saturating_sub(1)).unwrap_or(usize::MAX);
        let start = before.saturating_mul(fragment_len);
        let Some(rest) = change.payload.get(start..).filter(|rest| !rest.is_empty()) else {
            return;
        };
        let payload = rest.get(..fragment_len).unwrap_or(rest);
        self.list_inline_qos(change);
        let len = self.data_len(payload.len());
        self.message(target, len, outbox)
            .info_ts(change.change.source_timestamp)
            .data_frag(&DataFrag {
                reader: target.reader,
                writer: self.writer.entity,
                sequence_number: change.sequence_number,
                fragment_start: fragment,
                fragment_count: 1,
                fragment_size: self.fragment_len(),
                // Writing refuses payloads that 32 bits cannot count.
                sample_size: u32::try_from(change.payload.len()).unwrap_or(u32::MAX),
                inline_qos: self.inline_qos(),
                is_key: !change.change.kind.is_alive(),
                payload,
            });
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

    /// Bytes of a full fragment: what a datagram holds beside the submessages around it, unless it is to
    /// be less.
    pub(super) fn fragment_len(&self) -> u16 {
        let len = (self.max_message_len - HEADERS_LEN - self.submessages_len()) & !7;
        let len = len.min(self.max_fragment_len);
        u16::try_from(len).unwrap_or(0xfff8)
    }

    /// How many fragments a payload makes; 1 if it goes whole.
    pub(super) fn fragment_count(&self, payload_len: usize) -> u32 {
        let count = payload_len.div_ceil(usize::from(self.fragment_len()));
        u32::try_from(count).unwrap_or(u32::MAX).max(1)
    }

    /// How many bytes DATA with a payload of `payload_len`, or DATA_FRAG with as much of one, takes at
    /// most.
    pub(super) fn data_len(&self, payload_len: usize) -> usize {
        self.submessages_len() + payload_len
    }

    /// How many bytes a full fragment takes at most.
    pub(super) fn full_fragment_len(&self) -> usize {
        self.data_len(self.fragment_len().into())
    }

    /// What a datagram needs for DATA or DATA_FRAG beside the payload.
    fn submessages_len(&self) -> usize {
        let place = match self.presents {
            true => PLACE_LEN,
            false => 0,
        };
        let original = match self.relays {
            true => ORIGINAL_LEN,
            false => 0,
        };
        SUBMESSAGES_LEN + place + original
    }

    /// Lists the inline QoS that the change needs (RTPS 2.5 §8.7): the key hash where there is no
    /// value to compute it from, the status where it is not plainly alive, its place if it has one,
    /// and who wrote it first if that was another writer.
    fn list_inline_qos(&mut self, change: &CacheChange) {
        self.inline_qos.clear();
        let kind = change.change.kind;
        let key_hash = change.change.key_hash;
        let key_hash = key_hash.filter(|_| self.key_hash || !kind.is_alive());
        let original = change.change.original.filter(|_| self.relays);
        if key_hash.is_none() && kind.is_alive() && !self.presents && original.is_none() {
            return;
        }
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

/// The message header and INFO_DST.
const HEADERS_LEN: usize = 20 + 16;
/// INFO_TS, the larger head of DATA_FRAG, key hash, status and sentinel, HEARTBEAT or
/// HEARTBEAT_FRAG, padding.
const SUBMESSAGES_LEN: usize = 12 + 36 + 32 + HEARTBEAT_LEN + 4;
/// COHERENT_SET, GROUP_SEQ_NUM, GROUP_COHERENT_SET, WRITER_GROUP_INFO.
const PLACE_LEN: usize = 3 * 12 + 8;
/// ORIGINAL_WRITER_INFO.
const ORIGINAL_LEN: usize = 32;
const HEARTBEAT_LEN: usize = 32;
const HEARTBEAT_FRAG_LEN: usize = 28;
const GAP_LEN: usize = 32;
const BITMAP_LEN: usize = 32;
