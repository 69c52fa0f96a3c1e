//! Announces our participant (RTPS 2.5 §8.5.3): best effort, again and again, with the same
//! sequence number as long as it says the same. Knows nobody.

use alloc::vec::Vec;

use tickwire_base::{Duration, Instant, Locator};

use super::{DiscoveryConfig, ParticipantData};
use crate::outbox::Outbox;
use crate::wire::{
    Data, EntityId, Guid, GuidPrefix, InlineQos, ParameterListWriter, ParameterTooLong,
    SequenceNumber, SerializedPayload, StatusInfo,
};

/// Sends announcements and knows when the next one is due.
pub(super) struct Announcer {
    prefix: GuidPrefix,
    payload: Vec<u8>,
    /// Grows when we have something new to say.
    sequence_number: SequenceNumber,
    to: Vec<Locator>,
    due_at: Instant,
    initial_left: u32,
    initial_period: Duration,
    period: Duration,
}

impl Announcer {
    pub(super) fn new(config: &DiscoveryConfig) -> Result<Self, ParameterTooLong> {
        let mut payload = Vec::new();
        config.participant.write(&mut payload)?;
        Ok(Self {
            prefix: config.participant.guid_prefix,
            payload,
            sequence_number: SequenceNumber::FIRST,
            to: config.announce_to.clone(),
            due_at: Instant::ZERO,
            initial_left: config.initial_count,
            initial_period: config.initial_period.max(MIN_PERIOD),
            period: config.announce_period.max(MIN_PERIOD),
        })
    }

    /// From now on we announce `data`, to begin with at once.
    pub(super) fn update(
        &mut self,
        now: Instant,
        data: &ParticipantData,
    ) -> Result<(), ParameterTooLong> {
        let mut payload = Vec::new();
        data.write(&mut payload)?;
        self.payload = payload;
        self.sequence_number = self.sequence_number.next();
        self.due_at = now;
        Ok(())
    }

    /// Announcements come fast again, as at the beginning.
    pub(super) fn hurry(&mut self, count: u32) {
        self.initial_left = self.initial_left.max(count);
    }

    /// The next announcement is due now.
    pub(super) fn hasten(&mut self, now: Instant) {
        self.due_at = self.due_at.min(now);
    }

    pub(super) fn poll_timeout(&self) -> Instant {
        self.due_at
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.due_at <= now
    }

    /// Announces us to everybody.
    pub(super) fn announce(&mut self, now: Instant, outbox: &mut Outbox) {
        self.send(GuidPrefix::UNKNOWN, &self.to, outbox);
        self.initial_left = self.initial_left.saturating_sub(1);
        let pause = match self.initial_left {
            0 => self.period,
            _ => self.initial_period,
        };
        self.due_at = now + pause;
    }

    /// Announces us to one participant.
    pub(super) fn answer(&self, prefix: GuidPrefix, to: &[Locator], outbox: &mut Outbox) {
        self.send(prefix, to, outbox);
    }

    /// Bytes of an announcement to one participant.
    pub(super) fn answer_len(&self) -> usize {
        HEADERS_LEN + self.payload.len()
    }

    /// Takes the announcement back.
    pub(super) fn say_goodbye(&self, to: &[Locator], outbox: &mut Outbox) {
        let mut key = Vec::new();
        ParticipantData::write_key(&mut key, self.prefix);
        let mut qos = Vec::new();
        let mut list = ParameterListWriter::new(&mut qos);
        list.key_hash(Guid::new(self.prefix, EntityId::PARTICIPANT).to_bytes());
        list.status_info(StatusInfo::DISPOSED.and(StatusInfo::UNREGISTERED));
        list.finish();
        self.send_data(
            GuidPrefix::UNKNOWN,
            to,
            &Data {
                sequence_number: self.sequence_number.next(),
                inline_qos: InlineQos {
                    bytes: &qos,
                    little_endian: true,
                },
                payload: SerializedPayload::Key(&key),
                ..EMPTY
            },
            outbox,
        );
    }

    fn send(&self, destination: GuidPrefix, to: &[Locator], outbox: &mut Outbox) {
        let data = Data {
            sequence_number: self.sequence_number,
            payload: SerializedPayload::Data(&self.payload),
            ..EMPTY
        };
        self.send_data(destination, to, &data, outbox);
    }

    fn send_data(
        &self,
        destination: GuidPrefix,
        to: &[Locator],
        data: &Data<'_>,
        outbox: &mut Outbox,
    ) {
        if !to.is_empty() {
            outbox
                .message(self.prefix, to)
                .info_dst(destination)
                .data(data);
        }
    }
}

/// An announcement without content.
const EMPTY: Data<'static> = Data {
    reader: EntityId::SPDP_READER,
    writer: EntityId::SPDP_WRITER,
    sequence_number: SequenceNumber::FIRST,
    inline_qos: InlineQos {
        bytes: &[],
        little_endian: true,
    },
    payload: SerializedPayload::None,
};

/// The message header, INFO_DST, and DATA without its payload.
const HEADERS_LEN: usize = 20 + 16 + 24;
/// Whatever the settings say, there is a pause.
const MIN_PERIOD: Duration = Duration::from_millis(1);
