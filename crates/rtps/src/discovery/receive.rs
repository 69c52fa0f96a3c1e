//! What arrives at discovery, and what becomes of those who sent it.

use alloc::sync::Arc;
use alloc::vec::Vec;

use tickwire_base::Instant;

use super::builtin_topic::Received;
use super::event::{Event, Gone, LostReason};
use super::liveliness::Assertion;
use super::participants::Participant;
use super::proxies::metatraffic;
use super::{Discovery, DiscoveryDataError, EndpointData, ParticipantData, Role};
use crate::change::ChangeKind;
use crate::outbox::Outbox;
use crate::wire::{
    Context, Data, EntityId, Guid, GuidPrefix, ParameterId, SerializedPayload, Submessage, VendorId,
};

impl Discovery {
    /// Takes a submessage from or for a built-in endpoint; others are left alone.
    pub fn handle(
        &mut self,
        now: Instant,
        context: &Context<'_>,
        submessage: &Submessage<'_>,
        outbox: &mut Outbox,
    ) {
        let source = context.source_prefix;
        if self.is_closed || source == self.prefix() || !context.is_for(self.prefix()) {
            return;
        }
        if self.ignored.has_participant(source) {
            self.counters.ignored += 1;
            return;
        }
        if let Submessage::Data(data) = submessage
            && data.writer == EntityId::SPDP_WRITER
        {
            self.handle_announcement(now, context, data, outbox);
            return self.heard(now, context, outbox);
        }
        self.heard(now, context, outbox);
        for received in self.publications.handle(now, context, submessage, outbox) {
            self.handle_endpoint(now, Role::Writer, &received);
        }
        for received in self.subscriptions.handle(now, context, submessage, outbox) {
            self.handle_endpoint(now, Role::Reader, &received);
        }
        for received in self.messages.handle(now, context, submessage, outbox) {
            self.handle_assertion(now, &received);
        }
        let lookup = &mut self.type_lookup;
        let requests = lookup
            .requests_topic
            .handle(now, context, submessage, outbox);
        for reply in lookup
            .replies_topic
            .handle(now, context, submessage, outbox)
        {
            self.handle_type_reply(now, &reply);
        }
        for request in requests {
            self.handle_type_request(now, &request, outbox);
        }
        self.ask_for_types(now, outbox);
    }

    /// Anything from a participant renews its lease. The first that names us shows that it hears us
    /// where it says it does: from then on the built-in topics are spoken with it, which sends it
    /// far more than it has sent itself.
    fn heard(&mut self, now: Instant, context: &Context<'_>, outbox: &mut Outbox) {
        let source = context.source_prefix;
        let to_us = context.destination_prefix == self.prefix();
        if self.participants.heard(now, source, to_us, context.arrival) {
            self.match_builtin_topics(now, source, outbox);
        }
    }

    /// A participant says that it is there, or that it goes (RTPS 2.5 §8.5.3.2).
    fn handle_announcement(
        &mut self,
        now: Instant,
        context: &Context<'_>,
        data: &Data<'_>,
        outbox: &mut Outbox,
    ) {
        let source = context.source_prefix;
        self.counters.announcements_received += 1;
        let kind = ChangeKind::from_status_info(data.inline_qos.status_info().0);
        let read = match data.payload {
            SerializedPayload::Data(payload) if kind.is_alive() => ParticipantData::read(payload),
            _ if !kind.is_alive() => return self.handle_goodbye(now, source, data),
            _ => Err(DiscoveryDataError::Missing(ParameterId::PARTICIPANT_GUID)),
        };
        match read {
            Ok(participant) if participant.guid_prefix != source => self.counters.misbehaved += 1,
            Ok(participant) => {
                let len = match data.payload {
                    SerializedPayload::Data(payload) => DATA_LEN + payload.len(),
                    _ => 0,
                };
                self.handle_participant(now, context, participant, len, outbox);
            }
            Err(error) => self.unusable(source, error),
        }
    }

    /// A participant goes. It can only speak for itself.
    fn handle_goodbye(&mut self, now: Instant, source: GuidPrefix, data: &Data<'_>) {
        let named = match (data.payload, data.inline_qos.key_hash()) {
            (SerializedPayload::Data(key) | SerializedPayload::Key(key), _) => {
                ParticipantData::read_key(key)
            }
            (SerializedPayload::None, Some(hash)) => Ok(Guid::from_bytes(hash).prefix),
            (SerializedPayload::None, None) => Ok(source),
        };
        match named {
            Ok(prefix) if prefix == source => {
                self.participants.bury(now, source);
                self.forget(now, source, LostReason::Left);
            }
            Ok(_) => self.counters.misbehaved += 1,
            Err(error) => self.unusable(source, error),
        }
    }

    /// A participant says who and where it is, in `len` bytes.
    fn handle_participant(
        &mut self,
        now: Instant,
        context: &Context<'_>,
        data: ParticipantData,
        len: usize,
        outbox: &mut Outbox,
    ) {
        let from = context.arrival.map(|arrival| arrival.from);
        let own = &self.config.participant;
        let same_id = match (data.domain_id, own.domain_id) {
            (Some(theirs), Some(ours)) => theirs == ours,
            _ => true,
        };
        if !same_id || data.domain_tag != own.domain_tag {
            self.counters.other_domain += 1;
            return;
        }
        let prefix = data.guid_prefix;
        self.participants.allow(prefix, len, &self.config.limits);
        let known = self.participants.get(prefix);
        if known.is_some_and(|known| *known.data == data) {
            return self.consider_source(now, data.guid_prefix, from, outbox);
        }
        let is_new = known.is_none();
        if is_new && self.participants.has_departed(now, prefix) {
            self.counters.announcements_overtaken += 1;
            return;
        }
        if !self.admit_participant(now, &data) {
            self.counters.participants_refused += 1;
            return;
        }
        let data = Arc::new(data);
        let metatraffic = metatraffic(&data, &self.config.attachment, from);
        self.participants
            .insert(now, Arc::clone(&data), metatraffic, from);
        let known = self.participants.get(prefix);
        let has_moved = known.is_some_and(Participant::has_moved);
        if is_new || has_moved {
            self.participants.allow(prefix, len, &self.config.limits);
        }
        if (is_new || has_moved) && context.destination_prefix != self.prefix() {
            // One that announces itself to us alone knows where we are.
            self.greet(prefix, outbox);
        }
        match is_new {
            true => self.events.push_back(Event::ParticipantFound(data)),
            false => {
                self.events.push_back(Event::ParticipantChanged(data));
                self.compare_again(now, prefix);
                self.match_builtin_topics(now, prefix, outbox);
            }
        }
    }

    /// Whether there is room for what a participant, new or changed, announces of itself. Those that
    /// have not shown that they hear us make way for a new one, the oldest first.
    fn admit_participant(&mut self, now: Instant, data: &ParticipantData) -> bool {
        let (prefix, bytes) = (data.guid_prefix, data.footprint());
        let known = self.participants.get(prefix);
        if let Some(before) = known.map(|known| known.data.footprint()) {
            let fits = bytes <= self.config.limits.max_announcement_bytes.max(before);
            let charge = (before, bytes);
            return fits
                && self
                    .participants
                    .charge(prefix, charge, &self.config.limits);
        }
        if bytes > self.config.limits.max_announcement_bytes {
            return false;
        }
        while !self.participants.has_room_for(bytes, &self.config.limits) {
            let Some(displaced) = self.participants.next_to_displace() else {
                return false;
            };
            self.forget(now, displaced, LostReason::Displaced);
        }
        true
    }

    /// Answers a participant that has come or moved at once, lest it wait for our next announcement.
    fn greet(&mut self, prefix: GuidPrefix, outbox: &mut Outbox) {
        let len = self.announcer.answer_len();
        if !self.participants.may_send(prefix, len) {
            return;
        }
        if let Some(participant) = self.participants.get(prefix) {
            self.announcer
                .answer(prefix, &participant.metatraffic, outbox);
            self.counters.answers_sent += 1;
        }
    }

    pub(super) fn match_builtin_topics(
        &mut self,
        now: Instant,
        prefix: GuidPrefix,
        outbox: &mut Outbox,
    ) {
        let Some(participant) = self.participants.get(prefix) else {
            return;
        };
        if !participant.knows_us() {
            return;
        }
        let unicast = participant.metatraffic.clone();
        let endpoints = participant.data.builtin_endpoints;
        let is_ours = participant.data.vendor == VendorId::TICKWIRE;
        for (topic, writer, reader) in self.topics_mut() {
            let has = (endpoints.contains(writer), endpoints.contains(reader));
            topic.match_participant(now, prefix, has, is_ours, &unicast, outbox);
        }
    }

    /// A participant says what it writes or reads (RTPS 2.5 §8.5.4.3).
    fn handle_endpoint(&mut self, now: Instant, role: Role, received: &Received) {
        let source = received.writer.prefix;
        if !received.kind.is_alive() {
            return self.handle_endpoint_gone(now, received);
        }
        let mut data = match EndpointData::read(role, &received.payload, received.key_hash) {
            Ok(data) => data,
            Err(error) => return self.unusable(source, error),
        };
        let right_kind = match role {
            Role::Writer => data.guid.entity.is_writer(),
            Role::Reader => data.guid.entity.is_reader(),
        };
        if data.guid.prefix != source || !right_kind {
            self.counters.misbehaved += 1;
            return;
        }
        if self.ignored.has_endpoint(&data) {
            self.counters.ignored += 1;
            self.endpoints.groups_mut().leave_out(&data);
            return self.forget_endpoint(now, data.guid, LostReason::Ignored);
        }
        if data.group.take_if(|group| group.prefix != source).is_some() {
            // It cannot join another participant's publisher, whose sets would wait for it.
            self.counters.misbehaved += 1;
        }
        let is_other = |known: &EndpointData| {
            known.topic_name != data.topic_name || known.type_name != data.type_name
        };
        let known = self.endpoints.get(data.guid);
        if known.is_some_and(|known| is_other(known)) {
            // Another endpoint by the same name.
            self.forget_endpoint(now, data.guid, LostReason::Left);
        }
        let known = self.endpoints.get(data.guid);
        if known.is_some_and(|known| **known == data) {
            return;
        }
        let is_new = known.is_none();
        if !self.admit(&data) {
            return self.endpoints.groups_mut().leave_out(&data);
        }
        if !is_new {
            // Its lease may be another one; what it says shows that it is alive.
            self.tracker.writer_heard(now, data.guid, &mut self.events);
            self.tracker.remove(data.guid);
        }
        let data = Arc::new(data);
        self.events
            .push_back(Event::EndpointFound(Arc::clone(&data)));
        self.upsert(now, data);
    }

    /// Whether its participant may announce this endpoint, new or changed, too.
    fn admit(&mut self, data: &EndpointData) -> bool {
        let (prefix, limits) = (data.guid.prefix, &self.config.limits);
        let known = self.endpoints.get(data.guid).map(|known| known.footprint());
        let (before, bytes) = (known.unwrap_or(0), data.footprint());
        let fits = bytes <= limits.max_announcement_bytes.max(before)
            && (known.is_some() || self.participants.add_endpoint(prefix, limits));
        let admitted = fits && self.participants.charge(prefix, (before, bytes), limits);
        if fits && !admitted && known.is_none() {
            self.participants.remove_endpoint(prefix);
        }
        self.counters.endpoints_refused += u64::from(!admitted);
        admitted
    }

    /// An endpoint goes; it is named by the key or its hash.
    fn handle_endpoint_gone(&mut self, now: Instant, received: &Received) {
        let source = received.writer.prefix;
        let named = match (received.payload.as_slice(), received.key_hash) {
            (_, Some(hash)) => Ok(Guid::from_bytes(hash)),
            (key, None) => EndpointData::read_key(key),
        };
        match named {
            Ok(guid) if guid.prefix == source => {
                let participant = self.participants.get(source);
                let is_ours = |found: &Participant| found.data.vendor == VendorId::TICKWIRE;
                let last_change = match participant.is_some_and(is_ours) {
                    true => EndpointData::read_last_change(&received.payload),
                    false => None,
                };
                let gone = Gone {
                    reason: LostReason::Left,
                    last_change,
                };
                self.forget_endpoint(now, guid, gone);
            }
            Ok(_) => self.counters.misbehaved += 1,
            Err(error) => self.unusable(source, error),
        }
    }

    fn handle_assertion(&mut self, now: Instant, received: &Received) {
        if !received.kind.is_alive() {
            return;
        }
        match Assertion::read(&received.payload) {
            Ok((prefix, _)) if prefix != received.writer.prefix => self.counters.misbehaved += 1,
            Ok((prefix, Some(assertion))) => {
                self.tracker
                    .asserted(now, prefix, assertion, &mut self.events);
            }
            // A vendor's own message.
            Ok((_, None)) => {}
            Err(error) => self.unusable(received.writer.prefix, error),
        }
    }

    /// Drops a participant and all that it announced.
    pub(super) fn forget(&mut self, now: Instant, prefix: GuidPrefix, reason: LostReason) {
        if self.participants.remove(prefix).is_none() {
            return;
        }
        match reason {
            LostReason::Left => self.counters.participants_left += 1,
            LostReason::LeaseExpired => self.counters.leases_expired += 1,
            LostReason::ProcessEnded => self.counters.processes_ended += 1,
            LostReason::Displaced => self.counters.participants_displaced += 1,
            LostReason::Ignored => {}
        }
        self.tell_no_more_of_groups(prefix);
        let guids: Vec<_> = self.endpoints.of(prefix).map(|data| data.guid).collect();
        for guid in guids {
            self.forget_endpoint(now, guid, reason);
        }
        self.endpoints.groups_mut().forget(prefix);
        for (topic, ..) in self.topics_mut() {
            topic.unmatch_participant(prefix);
        }
        self.type_lookup.requests.forget(prefix);
        self.events
            .push_back(Event::ParticipantLost { prefix, reason });
    }

    pub(super) fn forget_endpoint(&mut self, now: Instant, guid: Guid, gone: impl Into<Gone>) {
        let gone = gone.into();
        let reason = gone.reason;
        let Some(endpoint) = self.endpoints.get(guid).cloned() else {
            return;
        };
        let (bytes, limits) = ((endpoint.footprint(), 0), &self.config.limits);
        self.participants.charge(guid.prefix, bytes, limits);
        self.participants.remove_endpoint(guid.prefix);
        self.tracker.remove(guid);
        let changes = self.endpoints.remove(guid);
        if reason == LostReason::Ignored {
            self.endpoints.groups_mut().leave_out(&endpoint);
        }
        let stays = self.participants.get(guid.prefix).is_some();
        // Of one that goes as a whole all has been told.
        if stays && !changes.is_empty() {
            self.tell_of_group_without(&endpoint);
        }
        self.report(now, changes, Some(gone));
        self.events
            .push_back(Event::EndpointLost { endpoint, reason });
    }

    pub(super) fn unusable(&mut self, source: GuidPrefix, error: DiscoveryDataError) {
        self.counters.unusable += 1;
        self.counters.last_unusable = Some((source, error));
    }
}

/// A DATA submessage up to its payload.
const DATA_LEN: usize = 24;
