//! Who is there, what they write and read, and who matches whom (RTPS 2.5 §8.5).
//!
//! [`Discovery`] announces its participant, keeps track of the others, exchanges endpoints with
//! them over the reliable built-in topics, and compares every local endpoint with all others of
//! its topic. It owns no user endpoint: what its owner has to do it says in [`Event`]s. It knows
//! neither sockets nor clocks, and of types only what decides whether they agree.
//!
//! ```text
//!  announcement (SPDP) ──► participants ──► built-in topics (SEDP) ──► endpoints ──► events
//!     announcer.rs         participants.rs      builtin_topic.rs      endpoints.rs
//! ```

#[cfg(test)]
mod address_tests;
mod addresses;
mod announcer;
mod attachment;
mod builtin_topic;
#[cfg(test)]
mod compatibility_tests;
mod config;
mod content_filter;
mod data_error;
#[cfg(test)]
mod data_tests;
mod endpoint_data;
mod endpoints;
mod event;
mod footprint;
mod groups;
mod ignored;
mod limits;
mod liveliness;
mod matching;
mod participant_data;
mod participants;
mod proxies;
mod qos_parameters;
mod receive;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod type_circle_tests;
mod type_lookup;
#[cfg(test)]
mod type_lookup_tests;
mod type_matching;
#[cfg(test)]
mod type_matching_tests;
mod type_replies;
#[cfg(test)]
mod type_replies_tests;
mod type_requests;
mod undecided;
mod values;

pub use addresses::OwnAddresses;
pub use attachment::Attachment;
pub use config::{AddError, DiscoveryConfig, DiscoveryCounters};
pub use content_filter::ContentFilterProperty;
pub use data_error::DiscoveryDataError;
pub use endpoint_data::{EndpointData, Role};
pub use event::{Event, Gone, LostReason};
pub use limits::DiscoveryLimits;
pub use participant_data::{BuiltinEndpoints, ParticipantData, SharedMemoryAddress};
pub use type_lookup::RequestError;

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::convert::Infallible;

use tickwire_base::Instant;

use crate::change::ChangeKind;
use crate::outbox::Outbox;
use crate::qos::{Verdict, nearest_name};
use crate::wire::{EntityId, Guid, GuidPrefix, ParameterTooLong, SequenceNumber};

use announcer::Announcer;
use builtin_topic::{BuiltinTopic, MAX_ANNOUNCEMENT_LEN};
use endpoints::Endpoints;
use ignored::Ignored;
use liveliness::{LivelinessAsserter, LivelinessTracker};
use participants::Participants;
use type_lookup::TypeLookup;

/// The discovery of one participant.
///
/// Its owner hands it the submessages for built-in endpoints ([`handle`](Self::handle)), calls
/// [`handle_timeout`](Self::handle_timeout) when [`poll_timeout`](Self::poll_timeout) says, and
/// after each call does what [`poll_event`](Self::poll_event) tells.
pub struct Discovery {
    config: DiscoveryConfig,
    announcer: Announcer,
    participants: Participants,
    publications: BuiltinTopic,
    subscriptions: BuiltinTopic,
    messages: BuiltinTopic,
    type_lookup: TypeLookup,
    endpoints: Endpoints,
    ignored: Ignored,
    asserter: LivelinessAsserter,
    tracker: LivelinessTracker,
    events: VecDeque<Event>,
    counters: DiscoveryCounters,
    is_closed: bool,
}

impl Discovery {
    /// Discovery that knows nobody yet. It announces itself on the first
    /// [`handle_timeout`](Self::handle_timeout), which is due at once.
    ///
    /// # Errors
    /// When a name, the user data or the properties of the participant are too long to announce.
    pub fn new(mut config: DiscoveryConfig) -> Result<Self, ParameterTooLong> {
        config.participant.builtin_endpoints = OWN_BUILTIN_ENDPOINTS;
        let prefix = config.participant.guid_prefix;
        let topic = |writer, reader| BuiltinTopic::state(prefix, writer, reader);
        Ok(Self {
            announcer: Announcer::new(&config)?,
            participants: Participants::default(),
            publications: topic(EntityId::PUBLICATIONS_WRITER, EntityId::PUBLICATIONS_READER),
            subscriptions: topic(
                EntityId::SUBSCRIPTIONS_WRITER,
                EntityId::SUBSCRIPTIONS_READER,
            ),
            messages: topic(EntityId::MESSAGE_WRITER, EntityId::MESSAGE_READER),
            type_lookup: TypeLookup::new(prefix, &config.limits),
            endpoints: Endpoints::new(prefix),
            ignored: Ignored::default(),
            asserter: LivelinessAsserter::default(),
            tracker: LivelinessTracker::default(),
            events: VecDeque::new(),
            counters: DiscoveryCounters::default(),
            is_closed: false,
            config,
        })
    }

    /// Announces a local endpoint and matches it, or takes over its changed data. The events come
    /// before this returns.
    ///
    /// # Errors
    /// When the endpoint belongs to another participant, or says too much for an announcement.
    pub fn add(
        &mut self,
        now: Instant,
        data: EndpointData,
        outbox: &mut Outbox,
    ) -> Result<(), AddError> {
        if data.guid.prefix != self.prefix() {
            return Err(AddError::Foreign);
        }
        let topic = self.topic_of(data.role);
        topic.write(
            now,
            ChangeKind::Alive,
            Some(data.guid.to_bytes()),
            outbox,
            |payload| write_endpoint(&data, payload),
        )?;
        self.asserter.add(now, &data);
        self.upsert(now, Arc::new(data));
        self.ask_for_types(now, outbox);
        Ok(())
    }

    /// Whether [`add`](Self::add) would take the endpoint, or its changed data.
    ///
    /// # Errors
    /// Those of `add`.
    pub fn check(&self, data: &EndpointData) -> Result<(), AddError> {
        if data.guid.prefix != self.prefix() {
            return Err(AddError::Foreign);
        }
        write_endpoint(data, &mut Vec::new())
    }

    /// Takes a local endpoint back and unmatches it; false if it was not there. Of a writer, readers are told what the
    /// `last_change` is that it has sent them all; `None` if that is not known, as some may have been kept back from some.
    pub fn remove(
        &mut self,
        now: Instant,
        guid: Guid,
        last_change: Option<SequenceNumber>,
        outbox: &mut Outbox,
    ) -> bool {
        let Some(data) = self
            .endpoints
            .get(guid)
            .filter(|_| guid.prefix == self.prefix())
        else {
            return false;
        };
        let (role, kind) = (data.role, ChangeKind::DisposedUnregistered);
        let data = Arc::clone(data);
        let written =
            self.topic_of(role)
                .write(now, kind, Some(guid.to_bytes()), outbox, |payload| {
                    EndpointData::write_end(payload, guid, last_change);
                    Ok::<_, Infallible>(())
                });
        debug_assert!(written.is_ok(), "topics of state have no bounds");
        self.asserter.remove(guid);
        let changes = self.endpoints.remove(guid);
        self.tell_of_group_without(&data);
        let gone = Gone {
            reason: LostReason::Left,
            last_change,
        };
        self.report(now, changes, (role == Role::Writer).then_some(gone));
        true
    }

    /// Changes what our participant announces of itself, and announces it at once. Who it is and
    /// which built-in endpoints it has stays.
    ///
    /// # Errors
    /// When it says more than an announcement can hold; then nothing changes.
    pub fn update_participant(
        &mut self,
        now: Instant,
        change: impl FnOnce(&mut ParticipantData),
    ) -> Result<(), ParameterTooLong> {
        let mut data = self.config.participant.clone();
        change(&mut data);
        data.guid_prefix = self.prefix();
        data.builtin_endpoints = OWN_BUILTIN_ENDPOINTS;
        self.announcer.update(now, &data)?;
        self.config.participant = data;
        self.compare_again(now, self.prefix());
        Ok(())
    }

    /// Announces our participant at once, and again as often as at the beginning: somebody may have come
    /// within reach who does not know us.
    pub fn announce_anew(&mut self, now: Instant) {
        self.announcer.hurry(self.config.initial_count);
        self.announcer.hasten(now);
    }

    /// Says that all local MANUAL_BY_PARTICIPANT writers are alive (DDS 1.4 §2.2.2.2.1.20). May be
    /// called with every write: more than eight times a lease, assertions are put together.
    pub fn assert_liveliness(&mut self, now: Instant, outbox: &mut Outbox) {
        self.asserter.assert_manual(now);
        self.send_assertions(now, outbox);
    }

    /// A sample or an assertion of a remote writer arrived at `heard_at`, so it was alive. Only needed
    /// for writers whose LIVELINESS has a finite lease; of these it says when the lease ends now.
    ///
    /// It need not be told of each: before [`handle_timeout`](Self::handle_timeout) it suffices to tell
    /// when the [silent writers](Self::silent_writers) were last heard, and once one is reported as not
    /// alive, the next time that it is.
    pub fn writer_heard(&mut self, heard_at: Instant, writer: Guid) -> Option<Instant> {
        self.tracker
            .writer_heard(heard_at, writer, &mut self.events)
    }

    /// The writers that [`handle_timeout`](Self::handle_timeout) is going to report as not alive, as far
    /// as discovery has been told.
    pub fn silent_writers(&self, now: Instant) -> Vec<Guid> {
        self.tracker.silent(now).collect()
    }

    /// Says good-bye to everybody, so that they need not wait for the lease to end. Afterwards
    /// nothing more is announced, and nothing that arrives is looked at.
    pub fn close(&mut self, outbox: &mut Outbox) {
        if core::mem::replace(&mut self.is_closed, true) {
            return;
        }
        let mut to = self.config.announce_to.clone();
        for participant in self.participants.iter().filter(|one| one.knows_us()) {
            to.extend_from_slice(&participant.metatraffic);
        }
        to.sort_unstable();
        to.dedup();
        self.announcer.say_goodbye(&to, outbox);
    }

    /// Another participant is known to be gone, as its process has ended: nobody waits for its lease to end.
    pub fn process_ended(&mut self, now: Instant, participant: GuidPrefix) {
        if !self.is_closed {
            self.forget(now, participant, LostReason::ProcessEnded);
        }
    }

    /// What happened next; `None` when all has been told.
    pub fn poll_event(&mut self) -> Option<Event> {
        if self.events.is_empty() {
            self.tell_of_groups();
        }
        let mut event = self.events.pop_front()?;
        self.tell_who_speaks(&mut event);
        Some(event)
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.is_closed {
            return None;
        }
        let topics = self.topics().into_iter().map(BuiltinTopic::poll_timeout);
        let own = [
            Some(self.announcer.poll_timeout()),
            self.participants.poll_timeout(),
            self.asserter.poll_timeout(),
            self.tracker.poll_timeout(),
            self.type_lookup.requests.poll_timeout(),
        ];
        own.into_iter().chain(topics).flatten().min()
    }

    /// Does what is due: announcements, the end of leases, heartbeats and answers.
    pub fn handle_timeout(&mut self, now: Instant, outbox: &mut Outbox) {
        if self.is_closed {
            return;
        }
        for prefix in self.participants.expired(now) {
            self.forget(now, prefix, LostReason::LeaseExpired);
        }
        self.announce(now, outbox);
        self.send_assertions(now, outbox);
        self.tracker.handle_timeout(now, &mut self.events);
        self.expire_type_requests(now);
        self.ask_for_types(now, outbox);
        for (topic, ..) in self.topics_mut() {
            topic.handle_timeout(now, outbox);
        }
        // Each topic speaks to everybody in turn.
        outbox.gather(MAX_GATHERED_LEN);
    }

    /// Our own participant as announced.
    pub fn participant(&self) -> &ParticipantData {
        &self.config.participant
    }

    /// The other participants known now.
    pub fn participants(&self) -> impl Iterator<Item = &Arc<ParticipantData>> {
        self.participants
            .iter()
            .map(|participant| &participant.data)
    }

    /// All endpoints known now, our own included.
    pub fn endpoints(&self) -> impl Iterator<Item = &Arc<EndpointData>> {
        self.endpoints.iter()
    }

    /// One endpoint, our own included.
    pub fn endpoint(&self, guid: Guid) -> Option<&Arc<EndpointData>> {
        self.endpoints.get(guid)
    }

    /// Whether another participant has acknowledged what we last announced of an endpoint of ours: before,
    /// it may not know that this one is there.
    pub fn is_known_to(&self, participant: GuidPrefix, endpoint: Guid) -> bool {
        let role = self.endpoints.get(endpoint).map(|data| data.role);
        match role {
            Some(Role::Writer) => self.publications.is_known_to(participant, endpoint),
            Some(Role::Reader) => self.subscriptions.is_known_to(participant, endpoint),
            None => false,
        }
    }

    /// For each writer and reader of one topic of which at least one is ours, whether they match,
    /// and if not, why: writer, reader, verdict.
    pub fn verdicts(&self) -> impl Iterator<Item = (Guid, Guid, &Verdict)> {
        self.endpoints.verdicts()
    }

    /// Of the topics known now, the one whose name looks most like `name` without being it.
    pub fn nearest_topic(&self, name: &str) -> Option<&str> {
        nearest_name(name, self.endpoints.topic_names())
    }

    /// What others may have us keep and send.
    pub fn limits(&self) -> &DiscoveryLimits {
        &self.config.limits
    }

    /// What happened so far.
    pub fn counters(&self) -> &DiscoveryCounters {
        &self.counters
    }

    fn prefix(&self) -> GuidPrefix {
        self.config.participant.guid_prefix
    }

    fn topics(&self) -> [&BuiltinTopic; 5] {
        [
            &self.publications,
            &self.subscriptions,
            &self.messages,
            &self.type_lookup.requests_topic,
            &self.type_lookup.replies_topic,
        ]
    }

    /// All built-in topics, each with the bits that announce its writer and its reader.
    fn topics_mut(&mut self) -> [(&mut BuiltinTopic, BuiltinEndpoints, BuiltinEndpoints); 5] {
        type Bits = BuiltinEndpoints;
        [
            (
                &mut self.publications,
                Bits::PUBLICATIONS_ANNOUNCER,
                Bits::PUBLICATIONS_DETECTOR,
            ),
            (
                &mut self.subscriptions,
                Bits::SUBSCRIPTIONS_ANNOUNCER,
                Bits::SUBSCRIPTIONS_DETECTOR,
            ),
            (
                &mut self.messages,
                Bits::MESSAGE_WRITER,
                Bits::MESSAGE_READER,
            ),
            (
                &mut self.type_lookup.requests_topic,
                Bits::TYPE_LOOKUP_REQUEST_WRITER,
                Bits::TYPE_LOOKUP_REQUEST_READER,
            ),
            (
                &mut self.type_lookup.replies_topic,
                Bits::TYPE_LOOKUP_REPLY_WRITER,
                Bits::TYPE_LOOKUP_REPLY_READER,
            ),
        ]
    }

    fn topic_of(&mut self, role: Role) -> &mut BuiltinTopic {
        match role {
            Role::Writer => &mut self.publications,
            Role::Reader => &mut self.subscriptions,
        }
    }

    /// Sends the announcements that are due: to everybody, and to those that do not know us yet or
    /// do not hear what everybody hears.
    fn announce(&mut self, now: Instant, outbox: &mut Outbox) {
        let due = self.announcer.is_due(now);
        if due {
            self.announcer.announce(now, outbox);
            self.counters.announcements_sent += 1;
        }
        let announce_to = &self.config.announce_to;
        let round = (due, self.announcer.answer_len());
        for (participant, is_probed) in self.participants.due_answers(now, round, announce_to) {
            let (prefix, to) = (participant.data.guid_prefix, &participant.metatraffic);
            self.announcer.answer(prefix, to, outbox);
            self.counters.answers_sent += 1;
            if is_probed {
                self.subscriptions.probe(prefix, to, outbox);
            }
        }
    }

    fn send_assertions(&mut self, now: Instant, outbox: &mut Outbox) {
        let prefix = self.prefix();
        while let Some(assertion) = self.asserter.next(now) {
            let written = self.messages.write(
                now,
                ChangeKind::Alive,
                Some(assertion.key_hash(prefix)),
                outbox,
                |payload| {
                    assertion.write(prefix, payload);
                    Ok::<_, Infallible>(())
                },
            );
            debug_assert!(written.is_ok(), "topics of state have no bounds");
        }
    }
}

impl core::fmt::Debug for Discovery {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Discovery")
            .field("prefix", &self.prefix())
            .field("participants", &self.participants.len())
            .field("counters", &self.counters)
            .finish_non_exhaustive()
    }
}

/// Serializes an endpoint, unless others would not listen to so much.
fn write_endpoint(data: &EndpointData, payload: &mut Vec<u8>) -> Result<(), AddError> {
    let start = payload.len();
    data.write(payload).map_err(AddError::TooLong)?;
    match payload.len() - start {
        0..=MAX_ANNOUNCEMENT_LEN => Ok(()),
        len => Err(AddError::TooLarge { len }),
    }
}

/// Up to so many bytes, what is for one participant is put together: it fits an Ethernet frame.
pub const MAX_GATHERED_LEN: usize = 1452;
/// What we have.
const OWN_BUILTIN_ENDPOINTS: BuiltinEndpoints = BuiltinEndpoints::PARTICIPANT_ANNOUNCER
    .and(BuiltinEndpoints::PARTICIPANT_DETECTOR)
    .and(BuiltinEndpoints::PUBLICATIONS_ANNOUNCER)
    .and(BuiltinEndpoints::PUBLICATIONS_DETECTOR)
    .and(BuiltinEndpoints::SUBSCRIPTIONS_ANNOUNCER)
    .and(BuiltinEndpoints::SUBSCRIPTIONS_DETECTOR)
    .and(BuiltinEndpoints::MESSAGE_WRITER)
    .and(BuiltinEndpoints::MESSAGE_READER)
    .and(BuiltinEndpoints::TYPE_LOOKUP_REQUEST_WRITER)
    .and(BuiltinEndpoints::TYPE_LOOKUP_REQUEST_READER)
    .and(BuiltinEndpoints::TYPE_LOOKUP_REPLY_WRITER)
    .and(BuiltinEndpoints::TYPE_LOOKUP_REPLY_READER);
