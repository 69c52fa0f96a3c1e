//! The type lookup service (XTypes 1.3 §7.6.3.3): asks other participants for the objects behind
//! announced hashes of types, and answers when they ask. Knows nothing of what is in an object.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;
use core::fmt;

use tickwire_base::{Duration, Instant};
use tickwire_cdr::EncodeError;
use tickwire_cdr::xtypes::{Question, Reply, Request, RequestIdentity, TypeId, TypeObjects};

use super::builtin_topic::{BuiltinTopic, MAX_MESSAGE_LEN, Received};
use super::event::Event;
use super::type_replies::TypeReplies;
use super::type_requests::{Availability, Pending, TypeRequests};
use super::{BuiltinEndpoints, Discovery, DiscoveryDataError, DiscoveryLimits};
use crate::change::ChangeKind;
use crate::outbox::Outbox;
use crate::wire::{EntityId, Guid, GuidPrefix};

/// Both services and what is under way.
pub(super) struct TypeLookup {
    pub(super) requests_topic: BuiltinTopic,
    pub(super) replies_topic: BuiltinTopic,
    /// Those of our own types, and those that others sent.
    objects: TypeObjects,
    pub(super) requests: TypeRequests,
    replies: TypeReplies,
    limits: DiscoveryLimits,
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
    pub(super) fn new(prefix: GuidPrefix, limits: &DiscoveryLimits) -> Self {
        Self {
            requests_topic: BuiltinTopic::service(
                prefix,
                EntityId::TYPE_LOOKUP_REQUEST_WRITER,
                EntityId::TYPE_LOOKUP_REQUEST_READER,
            ),
            replies_topic: BuiltinTopic::service(
                prefix,
                EntityId::TYPE_LOOKUP_REPLY_WRITER,
                EntityId::TYPE_LOOKUP_REPLY_READER,
            ),
            objects: TypeObjects::new(),
            requests: TypeRequests::default(),
            replies: TypeReplies::new(limits.max_participants),
            limits: limits.clone(),
        }
    }

    /// The type objects known.
    pub(super) fn objects(&self) -> &TypeObjects {
        &self.objects
    }

    /// Notes that a participant is to be asked for objects; false if the first is beyond a limit.
    pub(super) fn want(&mut self, participant: GuidPrefix, types: &[TypeId]) -> bool {
        self.requests.enqueue(participant, types, &self.limits)
    }

    /// Whether an object was wanted of a participant before, whatever came of it.
    pub(super) fn was_wanted(&self, participant: GuidPrefix, id: TypeId) -> bool {
        self.requests.was_wanted(participant, id)
    }

    /// Whether an object is to be had from a participant, which may be we ourselves.
    pub(super) fn availability(&self, participant: GuidPrefix, id: TypeId) -> Availability {
        match participant == self.requests_topic.writer_guid().prefix {
            true => Availability::Never,
            false => self.requests.availability(participant, id, &self.limits),
        }
    }

    /// Takes the objects that were asked for out of a reply; `None` if it answers somebody else.
    ///
    /// Where several participants share a process, another than the one that was asked may answer:
    /// it is believed if it has all that was asked for, since objects prove themselves.
    fn take(&mut self, from: GuidPrefix, reply: &Reply<'_>) -> Option<Taken> {
        let is_ours = reply.identity.writer == self.requests_topic.writer_guid().to_bytes();
        let replier = Guid::new(from, EntityId::TYPE_LOOKUP_REPLY_WRITER);
        let names_replier = reply.identity.writer == in_swapped_words(replier);
        if !is_ours && !names_replier {
            return None;
        }
        self.requests.heard(from);
        let number = reply.identity.sequence_number;
        let (asked, wanted) = self.requests.types_of(number)?;
        let mut came = Vec::new();
        for (id, object) in reply.right_objects() {
            if wanted.contains(&id) {
                came.push((id, object));
            }
        }
        let is_complete = wanted
            .iter()
            .all(|id| came.iter().any(|(one, _)| one == id));
        // It may be the answer to another participant's question of that number.
        let is_another = names_replier && came.is_empty();
        if is_another || from != asked && !is_complete {
            return None;
        }
        let mut taken = Taken {
            participant: asked,
            asked: self.requests.answered(number)?.types,
            came: Vec::new(),
            refused: 0,
        };
        for (id, object) in came {
            let is_new = self.objects.get(id).is_none();
            let fits = !is_new || self.requests.charge(asked, object.len(), &self.limits);
            match fits {
                true => {
                    self.objects.insert_part(id, object);
                    taken.came.push(id);
                }
                false => taken.refused += 1,
            }
        }
        Some(taken)
    }
}

/// What came of a request.
struct Taken {
    /// Who was asked.
    participant: GuidPrefix,
    asked: Vec<TypeId>,
    came: Vec<TypeId>,
    /// Objects beyond a limit.
    refused: u64,
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
        if !lookup.requests.may_ask(participant) {
            return Err(RequestError::TooMany);
        }
        // Types that contain each other can be checked together only.
        let mut seen = BTreeSet::new();
        let types = types.into_iter().flat_map(TypeId::circle);
        let types = types.filter(|id| seen.insert(*id)).collect();
        let number = lookup.requests_topic.next_number().0;
        let request = Request {
            identity: RequestIdentity {
                writer: lookup.requests_topic.writer_guid().to_bytes(),
                sequence_number: number,
            },
            instance: instance_name(participant),
            question: Question::Types,
            types,
        };
        let alive = ChangeKind::Alive;
        let written = lookup
            .requests_topic
            .write(now, alive, None, outbox, |payload| request.encode(payload));
        // Only a request of 4 GiB cannot be written.
        written.map_err(|_| RequestError::TooMany)?;
        let pending = Pending {
            asked: participant,
            types: request.types,
            expires_at,
        };
        lookup.requests.asked(number, pending);
        Ok(())
    }

    /// Somebody asks for types.
    pub(super) fn handle_type_request(
        &mut self,
        now: Instant,
        received: &Received,
        outbox: &mut Outbox,
    ) {
        let from = received.writer.prefix;
        let mut request = match Request::parse(&received.payload) {
            Ok(Some(request)) => request,
            Ok(None) => return,
            Err(error) => {
                let error = DiscoveryDataError::Payload(error);
                return self.unusable(from, error);
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
        if !self.type_lookup.replies.may_draw(now, from) {
            self.counters.type_requests_refused += 1;
            return;
        }
        keep_what_fits(&mut request.types, objects);
        let mut len = 0;
        let answer = |payload: &mut Vec<u8>| {
            let before = payload.len();
            request.answer(objects, payload)?;
            len = payload.len() - before;
            Ok::<(), EncodeError>(())
        };
        let alive = ChangeKind::Alive;
        let replies = &mut self.type_lookup.replies_topic;
        match replies.write(now, alive, None, outbox, answer) {
            Ok(()) => self.counters.types_answered += 1,
            Err(_) => self.counters.types_unanswered += 1,
        }
        self.type_lookup.replies.drew(from, len);
    }

    /// Somebody answers, maybe us.
    pub(super) fn handle_type_reply(&mut self, now: Instant, received: &Received) {
        let from = received.writer.prefix;
        match Reply::parse(&received.payload) {
            Ok(Some(reply)) => {
                let Some(taken) = self.type_lookup.take(from, &reply) else {
                    return;
                };
                let objects = &mut self.type_lookup.objects;
                let forgotten = objects.forget_inserted(self.config.limits.max_type_bytes);
                self.counters.types_forgotten += forgotten as u64;
                self.counters.type_objects_refused += taken.refused;
                self.events.push_back(Event::TypesReceived {
                    participant: taken.participant,
                    types: taken.came.clone(),
                });
                self.have_come(now, &taken.came);
                self.will_not_come(now, taken.participant, &taken.asked);
            }
            Ok(None) => {}
            Err(error) => self.unusable(from, DiscoveryDataError::Payload(error)),
        }
    }
}

impl Discovery {
    /// Gives up requests that nobody answered in time; what waited for them is decided without.
    pub(super) fn expire_type_requests(&mut self, now: Instant) {
        for request in self.type_lookup.requests.expire(now) {
            self.counters.type_requests_expired += 1;
            self.will_not_come(now, request.asked, &request.types);
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

/// Leaves as many known objects of those that are asked for as one reply holds.
fn keep_what_fits(types: &mut Vec<TypeId>, objects: &TypeObjects) {
    let mut len = MAX_REPLY_HEADER_LEN;
    types.retain(|&id| {
        let object_len = objects.get(id).map(<[u8]>::len);
        len += object_len.map_or(0, |object_len| object_len + MAX_OBJECT_HEADER_LEN);
        object_len.is_some() && len <= MAX_MESSAGE_LEN
    });
}

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
/// Bytes of a reply around its objects, at most.
const MAX_REPLY_HEADER_LEN: usize = 256;
/// Bytes around one object, at most: its id, length, padding, and two ids that relate it to its minimal one.
const MAX_OBJECT_HEADER_LEN: usize = 128;
/// How long two endpoints wait for their types before they are matched by the types' names.
const MATCHING_TIMEOUT: Duration = Duration::from_secs(2);
/// How long an answer is waited for.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
