//! The type lookup service (XTypes 1.3 §7.6.3.3): asks other participants for the objects behind
//! announced hashes of types, and answers when they ask. Knows nothing of what is in an object.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use core::fmt;

use tickwire_base::{Duration, Instant};
use tickwire_cdr::xtypes::{Question, Reply, Request, RequestIdentity, TypeId, TypeObjects};

use super::builtin_topic::{BuiltinTopic, Received};
use super::event::Event;
use super::{BuiltinEndpoints, Discovery, DiscoveryDataError};
use crate::change::ChangeKind;
use crate::outbox::Outbox;
use crate::wire::{EntityId, Guid, GuidPrefix};

/// Both services and what is under way.
pub(super) struct TypeLookup {
    pub(super) requests: BuiltinTopic,
    pub(super) replies: BuiltinTopic,
    /// Those of our own types, and those that others sent.
    objects: TypeObjects,
    pending: BTreeMap<i64, Pending>,
    /// What participants were asked for so that pairs can be matched: once is enough.
    asked: BTreeSet<(GuidPrefix, TypeId)>,
    /// Participants that did not answer in time, and have not answered since.
    silent: BTreeSet<GuidPrefix>,
}

/// A request without an answer yet.
struct Pending {
    asked: GuidPrefix,
    types: Vec<TypeId>,
    expires_at: Instant,
}

/// Why types could not be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestError {
    /// The participant is not known, or gone.
    UnknownParticipant,
    /// The participant does not offer the service.
    NoService,
    /// Too many requests wait for their answers. Each is given up after 10 s.
    TooMany,
}

impl TypeLookup {
    pub(super) fn new(prefix: GuidPrefix) -> Self {
        Self {
            requests: BuiltinTopic::service(
                prefix,
                EntityId::TYPE_LOOKUP_REQUEST_WRITER,
                EntityId::TYPE_LOOKUP_REQUEST_READER,
            ),
            replies: BuiltinTopic::service(
                prefix,
                EntityId::TYPE_LOOKUP_REPLY_WRITER,
                EntityId::TYPE_LOOKUP_REPLY_READER,
            ),
            objects: TypeObjects::new(),
            pending: BTreeMap::new(),
            asked: BTreeSet::new(),
            silent: BTreeSet::new(),
        }
    }

    /// The type objects known.
    pub(super) fn objects(&self) -> &TypeObjects {
        &self.objects
    }

    /// Notes that an object is asked for; false if it was before, or too many are.
    pub(super) fn ask(&mut self, participant: GuidPrefix, id: TypeId) -> bool {
        self.asked.len() < MAX_ASKED && self.asked.insert((participant, id))
    }

    /// Whether a participant was asked for an object, whatever came of it.
    pub(super) fn was_asked(&self, participant: GuidPrefix, id: TypeId) -> bool {
        self.asked.contains(&(participant, id))
    }

    /// Whether there is no use in asking a participant for an object: it was asked and the answer,
    /// if any, is here, or it is we ourselves.
    pub(super) fn is_unavailable(&self, participant: GuidPrefix, id: TypeId) -> bool {
        let is_pending = || {
            let mut pending = self.pending.values();
            pending.any(|one| one.asked == participant && one.types.contains(&id))
        };
        let is_full = self.asked.len() >= MAX_ASKED;
        participant == self.requests.writer_guid().prefix
            || self.silent.contains(&participant)
            || (self.was_asked(participant, id) || is_full) && !is_pending()
    }

    /// A participant that is gone answers nothing more.
    pub(super) fn forget(&mut self, prefix: GuidPrefix) {
        self.pending.retain(|_, pending| pending.asked != prefix);
        self.asked.retain(|(participant, _)| *participant != prefix);
        self.silent.remove(&prefix);
    }

    /// When [`expire`](Self::expire) is to be called.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.pending
            .values()
            .map(|pending| pending.expires_at)
            .min()
    }

    /// Gives up requests that have waited for too long; says how many.
    pub(super) fn expire(&mut self, now: Instant) -> u64 {
        let before = self.pending.len();
        let silent = &mut self.silent;
        self.pending.retain(|_, pending| {
            let waits = pending.expires_at > now;
            if !waits {
                silent.insert(pending.asked);
            }
            waits
        });
        (before - self.pending.len()) as u64
    }

    /// Takes the objects that were asked for out of a reply, and says which those are.
    fn take(&mut self, from: GuidPrefix, reply: &Reply<'_>) -> Option<Vec<TypeId>> {
        let is_ours = reply.identity.writer == self.requests.writer_guid().to_bytes();
        let replier = Guid::new(from, EntityId::TYPE_LOOKUP_REPLY_WRITER);
        let names_replier = reply.identity.writer == in_swapped_words(replier);
        if !is_ours && !names_replier {
            return None;
        }
        self.silent.remove(&from);
        let number = reply.identity.sequence_number;
        let pending = self.pending.get(&number).filter(|one| one.asked == from)?;
        let mut taken = Vec::new();
        for (id, object) in &reply.objects {
            // An object's identifier is the hash of its bytes, whatever the peer calls it.
            let is_itself = TypeObjects::new().insert(object) == Ok(*id);
            if pending.types.contains(id) && is_itself && self.objects.insert(object).is_ok() {
                taken.push(*id);
            }
        }
        // It may be the answer to another participant's question of that number.
        if names_replier && taken.is_empty() {
            return None;
        }
        self.pending.remove(&number);
        Some(taken)
    }
}

/// What Cyclone DDS 0.10 puts where the writer of the question belongs: the one of the answer, in
/// its machine's byte order. Who is answered shows only by the types.
fn in_swapped_words(guid: Guid) -> [u8; 16] {
    let mut bytes = guid.to_bytes();
    bytes
        .as_chunks_mut::<4>()
        .0
        .iter_mut()
        .for_each(|word| word.reverse());
    bytes
}

impl Discovery {
    /// The type objects of our own types and of those that others sent.
    pub fn types(&self) -> &TypeObjects {
        &self.type_lookup.objects
    }

    /// The same, to add our own types before the endpoints that announce them.
    pub fn types_mut(&mut self) -> &mut TypeObjects {
        &mut self.type_lookup.objects
    }

    /// Asks a participant for type objects. [`Event::TypesReceived`] says what came.
    ///
    /// # Errors
    /// When the participant cannot be asked.
    pub fn request_types(
        &mut self,
        now: Instant,
        participant: GuidPrefix,
        types: Vec<TypeId>,
        outbox: &mut Outbox,
    ) -> Result<(), RequestError> {
        self.request_until(now, now + REQUEST_TIMEOUT, participant, types, outbox)
    }

    /// The same, of what two endpoints need to be matched: they wait for a short while only.
    pub(super) fn request_for_matching(
        &mut self,
        now: Instant,
        participant: GuidPrefix,
        types: Vec<TypeId>,
        outbox: &mut Outbox,
    ) -> Result<(), RequestError> {
        self.request_until(now, now + MATCHING_TIMEOUT, participant, types, outbox)
    }

    fn request_until(
        &mut self,
        now: Instant,
        expires_at: Instant,
        participant: GuidPrefix,
        types: Vec<TypeId>,
        outbox: &mut Outbox,
    ) -> Result<(), RequestError> {
        let asked = self
            .participants
            .get(participant)
            .ok_or(RequestError::UnknownParticipant)?;
        if !asked.data.builtin_endpoints.contains(SERVICE) {
            return Err(RequestError::NoService);
        }
        let lookup = &mut self.type_lookup;
        if lookup.pending.len() >= MAX_PENDING {
            return Err(RequestError::TooMany);
        }
        let number = lookup.requests.next_number().0;
        let request = Request {
            identity: RequestIdentity {
                writer: lookup.requests.writer_guid().to_bytes(),
                sequence_number: number,
            },
            instance: instance_name(participant),
            question: Question::Types,
            types,
        };
        let alive = ChangeKind::Alive;
        let written = lookup
            .requests
            .write(now, alive, None, outbox, |payload| request.encode(payload));
        // Only a request of 4 GiB cannot be written.
        written.map_err(|_| RequestError::TooMany)?;
        let pending = Pending {
            asked: participant,
            types: request.types,
            expires_at,
        };
        lookup.pending.insert(number, pending);
        Ok(())
    }

    /// Somebody asks for types.
    pub(super) fn handle_type_request(
        &mut self,
        now: Instant,
        received: &Received,
        outbox: &mut Outbox,
    ) {
        let request = match Request::parse(&received.payload) {
            Ok(Some(request)) => request,
            Ok(None) => return,
            Err(error) => {
                let error = DiscoveryDataError::Payload(error);
                return self.unusable(received.writer.prefix, error);
            }
        };
        let objects = &self.type_lookup.objects;
        let for_us = request.instance == instance_name(self.config.participant.guid_prefix);
        let known = request.types.iter().any(|&id| objects.get(id).is_some());
        let for_anybody =
            request.instance == anybody() || !request.instance.starts_with(INSTANCE_PREFIX);
        if !(for_us || for_anybody && known) {
            return;
        }
        let answer = |payload: &mut Vec<u8>| request.answer(objects, payload);
        let alive = ChangeKind::Alive;
        let replies = &mut self.type_lookup.replies;
        match replies.write(now, alive, None, outbox, answer) {
            Ok(()) => self.counters.types_answered += 1,
            Err(_) => self.counters.types_unanswered += 1,
        }
    }

    /// Somebody answers, maybe us.
    pub(super) fn handle_type_reply(&mut self, now: Instant, received: &Received) {
        let from = received.writer.prefix;
        match Reply::parse(&received.payload) {
            Ok(Some(reply)) => {
                if let Some(types) = self.type_lookup.take(from, &reply) {
                    let objects = &mut self.type_lookup.objects;
                    let forgotten = objects.forget_inserted(self.config.max_type_bytes);
                    self.counters.types_forgotten += forgotten as u64;
                    self.events.push_back(Event::TypesReceived {
                        participant: from,
                        types,
                    });
                    self.decide(now);
                }
            }
            Ok(None) => {}
            Err(error) => self.unusable(from, DiscoveryDataError::Payload(error)),
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownParticipant => "participant is not known",
            Self::NoService => "participant does not tell its types",
            Self::TooMany => "too many requests for types wait for their answers",
        })
    }
}

impl core::error::Error for RequestError {}

/// The name of a participant's service (XTypes 1.3 §7.6.3.3.4).
fn instance_name(prefix: GuidPrefix) -> alloc::string::String {
    format!("{INSTANCE_PREFIX}{prefix:?}{:?}", EntityId::PARTICIPANT)
}

/// What Cyclone DDS calls the service when it does not mind who answers.
fn anybody() -> alloc::string::String {
    format!("{INSTANCE_PREFIX}{:032}", 0)
}

const INSTANCE_PREFIX: &str = "dds.builtin.TOS.";
const SERVICE: BuiltinEndpoints =
    BuiltinEndpoints::TYPE_LOOKUP_REQUEST_READER.and(BuiltinEndpoints::TYPE_LOOKUP_REPLY_WRITER);
const MAX_PENDING: usize = 1024;
/// Objects asked for to match endpoints, of all participants present. Beyond, types are compared
/// by name.
const MAX_ASKED: usize = 65_536;
/// How long two endpoints wait for their types before they are matched by the types' names.
const MATCHING_TIMEOUT: Duration = Duration::from_secs(2);
/// How long an answer is waited for.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
