//! One of the reliable topics that discovery itself speaks over: our writer and our reader of it
//! (RTPS 2.5 §8.5.4). Knows no payload's meaning.

use alloc::vec::Vec;

use tickwire_base::{Instant, Locator};

use crate::change::{Change, ChangeKind, KeyHash};
use crate::outbox::Outbox;
use crate::reader::{Delivery, Reader, ReaderConfig, ReceivedChange, Sink, WriterProxy};
use crate::wire::{
    Context, EntityId, Guid, GuidPrefix, SequenceNumber, SerializedPayload, Submessage,
};
use crate::writer::{HistoryKind, ReaderProxy, WriteError, Writer, WriterConfig};

/// Both our ends of one built-in topic.
pub(super) struct BuiltinTopic {
    writer: Writer,
    reader: Reader,
    inbox: Inbox,
}

/// A change that came over a built-in topic.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) writer: Guid,
    pub(super) kind: ChangeKind,
    pub(super) key_hash: Option<KeyHash>,
    /// The value or the key; empty if there was neither.
    pub(super) payload: Vec<u8>,
}

impl BuiltinTopic {
    /// A topic of state: late comers get the last change of each instance.
    pub(super) fn state(prefix: GuidPrefix, writer: EntityId, reader: EntityId) -> Self {
        let writer = WriterConfig {
            transient_local: true,
            ..WriterConfig::new(Guid::new(prefix, writer))
        };
        Self::new(prefix, writer, reader, MAX_ANNOUNCEMENT_LEN)
    }

    /// A topic of requests or replies: each reaches those who are there. Who does not acknowledge
    /// them misses the older ones, lest everybody waits for it.
    pub(super) fn service(prefix: GuidPrefix, writer: EntityId, reader: EntityId) -> Self {
        let writer = WriterConfig {
            history: HistoryKind::KeepLast(MAX_MESSAGES),
            ..WriterConfig::new(Guid::new(prefix, writer))
        };
        Self::new(prefix, writer, reader, MAX_MESSAGE_LEN)
    }

    fn new(
        prefix: GuidPrefix,
        writer: WriterConfig,
        reader: EntityId,
        max_sample_len: usize,
    ) -> Self {
        Self {
            writer: Writer::new(writer),
            reader: Reader::new(ReaderConfig {
                max_sample_len,
                max_held: MAX_HELD,
                max_held_len: MAX_HELD_LEN,
                max_partial: 4,
                max_partial_len: MAX_MESSAGE_LEN,
                ..ReaderConfig::new(Guid::new(prefix, reader))
            }),
            inbox: Inbox::default(),
        }
    }

    pub(super) fn writer_guid(&self) -> Guid {
        self.writer.guid()
    }

    /// The sequence number of the next change.
    pub(super) fn next_number(&self) -> SequenceNumber {
        self.writer.last().next()
    }

    /// Writes a change; of the instance `key` in a topic of state.
    pub(super) fn write<E>(
        &mut self,
        now: Instant,
        kind: ChangeKind,
        key: Option<KeyHash>,
        outbox: &mut Outbox,
        payload: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), WriteError<E>> {
        let change = Change {
            kind,
            source_timestamp: None,
            key_hash: key,
            ..Change::default()
        };
        let written = self.writer.write(now, &change, payload, outbox);
        written.map(drop)
    }

    /// Begins to talk to the other participant's ends of the topic, as far as it has them.
    pub(super) fn match_participant(
        &mut self,
        now: Instant,
        prefix: GuidPrefix,
        has: (bool, bool),
        is_ours: bool,
        unicast: &[Locator],
        outbox: &mut Outbox,
    ) {
        let (has_writer, has_reader) = has;
        if has_reader {
            let proxy = ReaderProxy {
                guid: Guid::new(prefix, self.reader.guid().entity),
                reliable: true,
                wants_history: true,
                // Whoever has shown that it knows us knows our writers. Others than ours may all the
                // same want to hear of what there is before they take it.
                has_matched: is_ours,
                speaks_first: false,
                introduced_at: Vec::new(),
                expects_inline_qos: false,
                filter: None,
                unicast: unicast.to_vec(),
                multicast: Vec::new(),
                detour: None,
            };
            self.writer.match_reader(now, proxy, outbox);
        }
        if has_writer {
            let proxy = WriterProxy {
                guid: Guid::new(prefix, self.writer.guid().entity),
                reliable: true,
                speaks_first: is_ours,
                skip_history: false,
                unicast: unicast.to_vec(),
            };
            self.reader.match_writer(now, proxy, outbox);
        }
    }

    /// Whether a participant has acknowledged what we last announced of an endpoint.
    pub(super) fn is_known_to(&self, prefix: GuidPrefix, endpoint: Guid) -> bool {
        let reader = Guid::new(prefix, self.reader.guid().entity);
        self.writer.has_given(reader, endpoint.to_bytes())
    }

    /// Has a participant that we do not talk to yet show whether it knows us.
    pub(super) fn probe(&mut self, prefix: GuidPrefix, to: &[Locator], outbox: &mut Outbox) {
        let reader = Guid::new(prefix, self.reader.guid().entity);
        self.writer.probe(reader, to, outbox);
    }

    /// Bytes of a probe.
    pub(super) const PROBE_LEN: usize = Writer::PROBE_LEN;

    pub(super) fn unmatch_participant(&mut self, prefix: GuidPrefix) {
        let (writer, reader) = (self.writer.guid().entity, self.reader.guid().entity);
        self.writer.unmatch_reader(Guid::new(prefix, reader));
        let writer = Guid::new(prefix, writer);
        self.reader.unmatch_writer(writer, &mut self.inbox);
    }

    /// Takes a submessage if it is about this topic; gives what came with it, in order.
    pub(super) fn handle(
        &mut self,
        now: Instant,
        context: &Context<'_>,
        submessage: &Submessage<'_>,
        outbox: &mut Outbox,
    ) -> Vec<Received> {
        let topic = self.writer.guid().entity;
        let (reader, sink) = (&mut self.reader, &mut self.inbox);
        match submessage {
            Submessage::Data(data) if data.writer == topic => {
                reader.handle_data(now, context, data, sink);
            }
            Submessage::DataFrag(data) if data.writer == topic => {
                reader.handle_data_frag(now, context, data, sink);
            }
            Submessage::Heartbeat(heartbeat) if heartbeat.writer == topic => {
                reader.handle_heartbeat(now, context, heartbeat, sink, outbox);
            }
            Submessage::HeartbeatFrag(heartbeat) if heartbeat.writer == topic => {
                reader.handle_heartbeat_frag(now, context, heartbeat, outbox);
            }
            Submessage::Gap(gap) if gap.writer == topic => reader.handle_gap(context, gap, sink),
            Submessage::AckNack(acknack) if acknack.writer == topic => {
                self.writer.handle_acknack(now, context, acknack, outbox);
            }
            Submessage::NackFrag(nack) if nack.writer == topic => {
                self.writer.handle_nack_frag(now, context, nack, outbox);
            }
            _ => {}
        }
        self.reader.answer_owed(outbox);
        core::mem::take(&mut self.inbox.received)
    }

    /// Changes written so far.
    #[cfg(test)]
    pub(super) fn write_count(&self) -> u64 {
        self.writer.counters().written
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let timeouts = [self.writer.poll_timeout(), self.reader.poll_timeout()];
        timeouts.into_iter().flatten().min()
    }

    pub(super) fn handle_timeout(&mut self, now: Instant, outbox: &mut Outbox) {
        self.writer.handle_timeout(now, outbox);
        self.reader.handle_timeout(now, outbox);
    }
}

/// Copies what arrives, to be looked at when the reader is done.
#[derive(Default)]
struct Inbox {
    received: Vec<Received>,
}

impl Sink for Inbox {
    fn deliver(&mut self, change: &ReceivedChange<'_>) -> Delivery {
        let payload = match change.payload {
            SerializedPayload::None => &[],
            SerializedPayload::Data(payload) | SerializedPayload::Key(payload) => payload,
        };
        self.received.push(Received {
            writer: change.writer,
            kind: change.kind,
            key_hash: change.key_hash,
            payload: payload.to_vec(),
        });
        Delivery::Accepted
    }

    fn lost(&mut self, _writer: Guid, _count: u64) {
        // Replaced by newer changes of the same instances, as the history keeps the last.
    }
}

/// Longest announcement of an endpoint in bytes. USER_DATA, TOPIC_DATA and GROUP_DATA of 64 KiB
/// each fit, which is as much as a parameter holds.
pub(super) const MAX_ANNOUNCEMENT_LEN: usize = 256 << 10;
/// Longest request or reply in bytes, and as much of unfinished ones from one participant.
pub(super) const MAX_MESSAGE_LEN: usize = 1 << 20;
/// Requests or replies kept for those who have not acknowledged them.
const MAX_MESSAGES: u32 = 64;
/// Announcements kept of one participant that came before their turn, and their bytes.
const MAX_HELD: usize = 1024;
const MAX_HELD_LEN: usize = 512 << 10;
