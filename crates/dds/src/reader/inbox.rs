//! From a received payload to a value in the cache: what the reader's machine delivers to.

use std::sync::Arc;
use std::time::Duration;

use tickwire_base::{Instant, Timestamp};
use tickwire_cdr::dynamic::Form;
use tickwire_cdr::filter::Filter;
use tickwire_cdr::{KeyHash, KeyScratch, Representation, TypeDescription};
use tickwire_rtps::ChangeKind;
use tickwire_rtps::reader::{CoherentSet, Delivery, NextChange, ReceivedChange, SetEnd, Sink};
use tickwire_rtps::wire::{Guid, SequenceNumber, SerializedPayload};

use super::cache::{Cache, CachePolicy};
use super::coherent::Sets;
use super::group_inbox::GroupInbox;
use super::info::InstanceHandle;
use super::insert::{Arrival, Insertion};
use super::latency::ReaderLatency;
use super::sample::Sample;
use super::slots::Slot;
use super::status::ReaderStatuses;
use crate::deadline::DeadlineTracker;
use crate::loan::{Holdable, LentPayload};
use crate::status::StatusMask;
use crate::type_support::TopicSupport;

/// The cache, and what decoding into it needs.
pub(super) struct Inbox<T: TopicSupport> {
    pub(super) cache: Cache<T>,
    pub(super) ty: T::Type,
    /// What the application wants to see.
    pub(super) filter: Option<Filter>,
    /// Key hashes depend on the representation.
    pub(super) hash_varies: bool,
    scratch: KeyScratch,
    pub(super) counters: InboxCounters,
    pub(super) statuses: ReaderStatuses,
    pub(super) deadline: Option<DeadlineTracker>,
    /// When what is delivered arrived, by both clocks.
    pub(super) now: Instant,
    pub(super) timestamp: Timestamp,
    /// Memory that can be held, where what is delivered may lie.
    pub(super) memory: Option<Holdable>,
    /// What has changed since it was last looked at.
    pub(super) news: StatusMask,
    /// Something was refused, hence waits in the machine or in the writer.
    pub(super) is_stalled: bool,
    /// What was refused may find room now.
    pub(super) has_room: bool,
    pub(super) sets: Sets<T>,
    /// What waits for other readers of the subscriber.
    pub(super) group: Option<GroupInbox<T>>,
    /// How long samples take, if that is counted.
    pub(super) latency: Option<Box<ReaderLatency>>,
}

/// What became of samples after they arrived in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InboxCounters {
    /// Could be read by the application.
    pub stored: u64,
    /// Replaced under KEEP_LAST before they were read.
    pub replaced: u64,
    /// Of another than the strongest writer, or older than what was there.
    pub filtered: u64,
    /// Never to be seen, because a newer value of the instance took their place within the
    /// TIME_BASED_FILTER's separation, or, of a best-effort reader, because they came within it.
    pub too_early: u64,
    /// Older than their writer's LIFESPAN, on the way or before they were taken.
    pub expired: u64,
    /// Removed by READER_DATA_LIFECYCLE some time after their instance had ended.
    pub purged: u64,
    /// Not among those that the content-filtered topic is after.
    pub filtered_by_content: u64,
    /// Not of the topic's type.
    pub undecodable: u64,
    /// Of a coherent set that had come whole from its writer, but not in all readers of the subscriber,
    /// or that the RESOURCE_LIMITS have no room for, or of which another change is not of the topic's
    /// type. The status SAMPLE_LOST counts them, too.
    pub discarded_with_set: u64,
    /// Parts in coherent sets of a publisher of which it could not be found out whether all writers
    /// are known that had to do with the set: shown if that was so with every set of the publisher,
    /// or if the set is older than the reader, else discarded.
    pub parts_guessed: u64,
    /// Ends of instances that had ended, or that nobody here knew.
    pub ignored: u64,
}

/// A value and its instance.
pub(super) struct Decoded<T> {
    value: Option<Arc<T>>,
    instance: InstanceHandle,
    /// The hash that XCDR1 writers have for the instance, if it is another one and not known yet.
    alias: Option<[u8; 16]>,
}

/// A change of a coherent set, ready for the cache.
pub(super) struct Staged<T> {
    pub(super) arrival: Arrival,
    pub(super) value: Option<Arc<T>>,
    pub(super) alias: Option<[u8; 16]>,
}

impl<T: TopicSupport> Inbox<T> {
    pub(super) fn new(
        ty: T::Type,
        filter: Option<Filter>,
        policy: CachePolicy,
        deadline: Duration,
    ) -> Self {
        let description = T::description(&ty);
        let mut cache = Cache::new(policy);
        cache.let_go = T::BORROWS.then_some(T::let_go);
        Self {
            cache,
            hash_varies: description.is_some_and(TypeDescription::key_hash_varies),
            ty,
            filter,
            scratch: KeyScratch::default(),
            counters: InboxCounters::default(),
            statuses: ReaderStatuses::default(),
            deadline: DeadlineTracker::new(deadline),
            now: Instant::ZERO,
            timestamp: Timestamp::default(),
            memory: None,
            news: StatusMask::NONE,
            is_stalled: false,
            has_room: false,
            sets: Sets::new(),
            group: None,
            latency: None,
        }
    }

    /// Takes all samples, if they are such as nothing else is to be done about.
    #[inline]
    pub(super) fn take_fresh(&mut self, samples: &mut Vec<Sample<T>>) -> bool {
        self.latency.is_none() && !self.is_stalled && self.cache.take_if_fresh(samples)
    }

    /// Has samples again that were taken last.
    pub(super) fn put_back(&mut self, samples: Vec<Sample<T>>) {
        self.counters.replaced += self.cache.put_back(samples);
    }

    pub(super) fn counters(&self) -> InboxCounters {
        InboxCounters {
            stored: self.counters.stored + self.cache.shown_late,
            too_early: self.cache.too_early,
            expired: self.cache.expired,
            purged: self.cache.purged,
            ..self.counters
        }
    }

    /// Takes over another TIME_BASED_FILTER, for what comes from here on; what waited is shown. Says
    /// what that changes.
    pub(super) fn change_separation(&mut self, separation: Duration) -> StatusMask {
        match self.cache.change_separation(separation, self.now) {
            false => StatusMask::NONE,
            true => StatusMask::DATA_AVAILABLE,
        }
    }

    /// Does what time demands of the samples; says whether that made room.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> bool {
        let has_room = self.cache.expire(now);
        if self.cache.ripen(now) {
            self.news |= StatusMask::DATA_AVAILABLE;
        }
        self.check_deadlines(now);
        has_room
    }

    pub(super) fn stage(&self, change: &ReceivedChange<'_>, decoded: Decoded<T>) -> Staged<T> {
        Staged {
            arrival: self.arrival(change, decoded.instance),
            value: decoded.value,
            alias: decoded.alias,
        }
    }

    #[inline(always)]
    fn arrival(&self, change: &ReceivedChange<'_>, instance: InstanceHandle) -> Arrival {
        let mut arrival = Arrival {
            writer: change.writer,
            sequence_number: change.sequence_number,
            original: change.original,
            related: change.related,
            kind: change.kind,
            source_timestamp: change.source_timestamp,
            kernel_timestamp: change.kernel_timestamp,
            reception_timestamp: self.timestamp,
            received_at: self.now,
            expires_at: None,
            instance,
            publisher: self.publisher_of(change),
            group_number: change.place.group.number,
        };
        arrival.expires_at = self.cache.expiry_of(&arrival);
        arrival
    }

    /// Who numbers the changes of a writer; looked up only where that matters.
    #[inline(always)]
    fn publisher_of(&self, change: &ReceivedChange<'_>) -> Guid {
        match change.place.group.number {
            SequenceNumber::ZERO => change.writer,
            _ => self.cache.publisher_of(change.writer),
        }
    }

    pub(super) fn insert(&mut self, staged: Staged<T>) -> Delivery {
        self.insert_arrival(&staged.arrival, staged.value, staged.alias)
    }

    #[inline(always)]
    fn insert_arrival(
        &mut self,
        arrival: &Arrival,
        value: Option<Arc<T>>,
        alias: Option<[u8; 16]>,
    ) -> Delivery {
        let value = match value {
            Some(value) if alias.is_none() => match self.cache.append(arrival, value) {
                Ok(()) => {
                    self.stored(arrival);
                    return Delivery::Accepted;
                }
                Err(value) => Some(value),
            },
            value => value,
        };
        // A copy, lest a value that is appended has all of this in memory.
        let arrival = *arrival;
        self.insert_any(&arrival, value, alias)
    }

    fn insert_any(
        &mut self,
        arrival: &Arrival,
        value: Option<Arc<T>>,
        alias: Option<[u8; 16]>,
    ) -> Delivery {
        let insertion = self.cache.insert(arrival, value);
        if let Some((index, slot)) = self.cache.unnamed.take() {
            self.note_key(index, slot);
        }
        if let Some(alias) = alias {
            self.cache.note_alias(arrival.instance, alias);
        }
        match insertion {
            Insertion::Stored => self.stored(arrival),
            Insertion::Replaced => {
                self.counters.replaced += 1;
                self.stored(arrival);
            }
            Insertion::Ignored => self.counters.ignored += 1,
            Insertion::Filtered => self.counters.filtered += 1,
            // The writer has kept its promise, whether the value is shown or not.
            Insertion::TooEarly => self.written(arrival),
            Insertion::Expired => {}
            Insertion::Rejected(reason) => {
                self.statuses.reject(reason, Some(arrival.instance));
                return self.full();
            }
        }
        Delivery::Accepted
    }

    /// Keeps the key of an instance, serialized, as long as the instance is known. Once for each.
    fn note_key(&mut self, index: usize, slot: Slot) {
        let entry = self.cache.entries.get(slot);
        let value = entry.and_then(|entry| entry.value.as_deref());
        let mut key = Vec::new();
        let is_written = value.is_some_and(|value| {
            T::has_key(&self.ty)
                && value
                    .write_key_payload(&self.ty, Representation::Xcdr2, &mut key)
                    .is_ok()
        });
        if !is_written {
            key.clear();
        }
        if let Some(Some(instance)) = self.cache.instances.get_mut(index) {
            instance.key = Some(key.into_boxed_slice());
        }
    }

    /// A value with the key of an instance.
    pub(super) fn key_value(&self, handle: InstanceHandle) -> Option<T> {
        key_value(&self.ty, self.cache.instance(handle)?.key.as_deref()?)
    }

    /// The writer is gone, or has nothing more to say about any instance for now. Says whether that leaves instances
    /// without writers.
    pub(super) fn lose_writer(
        &mut self,
        writer: Guid,
        is_gone: bool,
        now: Instant,
        time: Timestamp,
    ) -> bool {
        let ty = &self.ty;
        let key_holder = |key: &[u8]| key_value(ty, key).map(Arc::new);
        match is_gone {
            true => self.cache.remove_writer(writer, now, time, key_holder),
            false => self.cache.silence_writer(writer, now, time, key_holder),
        }
    }

    /// The instance of a value, if it is known.
    pub(super) fn lookup(&mut self, value: &T) -> Option<InstanceHandle> {
        let handle = match T::has_key(&self.ty) {
            false => InstanceHandle::KEYLESS,
            true => {
                let hash = value.key_hash(&self.ty, Representation::Xcdr2, &mut self.scratch);
                InstanceHandle(hash.ok().flatten()?.0)
            }
        };
        self.cache.instance(handle).map(|instance| instance.handle)
    }

    #[inline(always)]
    fn stored(&mut self, arrival: &Arrival) {
        self.counters.stored += 1;
        self.news |= StatusMask::DATA_AVAILABLE;
        if let Some(latency) = &mut self.latency
            && arrival.kind.is_alive()
        {
            latency.received(&{ *arrival });
        }
        self.written(arrival);
    }

    #[inline(always)]
    fn written(&mut self, arrival: &Arrival) {
        match &mut self.deadline {
            Some(deadline) if arrival.kind.is_alive() => {
                deadline.written(arrival.instance, self.now);
            }
            Some(deadline) => deadline.ended(arrival.instance),
            None => {}
        }
    }

    /// Notes the instances that have missed their deadline; their owners lose them.
    fn check_deadlines(&mut self, now: Instant) {
        let Self {
            deadline: Some(deadline),
            statuses,
            news,
            cache,
            ..
        } = self
        else {
            return;
        };
        deadline.check(now, |instance| {
            if !cache.is_alive(instance) {
                return false;
            }
            statuses.deadline_missed.missed(instance);
            cache.release(instance);
            *news |= StatusMask::REQUESTED_DEADLINE_MISSED;
            true
        });
    }

    /// Whether the content filter, if there is one, lets a change pass. One that is not of our type
    /// does, to be counted as that.
    pub(super) fn is_wanted(&mut self, change: &ReceivedChange<'_>) -> bool {
        let Some(filter) = &mut self.filter else {
            return true;
        };
        let (payload, form) = match change.payload {
            SerializedPayload::Data(payload) => (payload, Form::Sample),
            SerializedPayload::Key(payload) => (payload, Form::Key),
            SerializedPayload::None => return true,
        };
        filter.passes(payload, form).unwrap_or(true)
    }

    pub(super) fn full(&mut self) -> Delivery {
        self.is_stalled = true;
        self.news |= StatusMask::SAMPLE_REJECTED;
        Delivery::Full
    }

    /// The value and the instance of a change; `None` if there is none or it is not of our type.
    #[inline(always)]
    pub(super) fn decode(&mut self, change: &ReceivedChange<'_>) -> Option<Decoded<T>> {
        let (payload, is_key) = match change.payload {
            SerializedPayload::Data(payload) => (payload, false),
            SerializedPayload::Key(payload) if !change.kind.is_alive() => (payload, true),
            // A key hash alone names an instance that must be known (RTPS 2.5 §9.6.4.8).
            SerializedPayload::None if !change.kind.is_alive() => {
                let hash = change.key_hash?;
                let instance = match self.hash_varies {
                    true => self.cache.named_by(change.writer, hash)?,
                    false => InstanceHandle(hash),
                };
                return Some(Decoded {
                    value: self.key_value(instance).map(Arc::new),
                    instance,
                    alias: None,
                });
            }
            _ => return None,
        };
        let ty = &self.ty;
        let mut value = self.cache.value(|| T::initial(ty));
        let fresh = Arc::get_mut(&mut value)?;
        let own = change.memory.filter(|_| T::BORROWS).map(Arc::clone);
        let own = own.map(Holdable::Sample);
        let memory = own.as_ref().or(self.memory.as_ref());
        // What was lent may have been kept elsewhere while it waited for its turn.
        let lent = memory.and_then(|memory| LentPayload::of(payload, memory));
        let read = match lent {
            _ if is_key => fresh.read_key_payload(ty, payload),
            Some(lent) => fresh.read_lent_payload(ty, lent),
            None => fresh.read_payload(ty, payload),
        };
        let instance = read.ok().and_then(|()| self.instance(&value, change));
        match instance {
            Some(instance) => Some(Decoded {
                alias: self.alias(&value, instance),
                value: Some(value),
                instance,
            }),
            None => {
                self.cache.recycle(value);
                None
            }
        }
    }

    /// Computed rather than believed, and in one representation, so that writers of all vendors mean
    /// the same instance.
    fn instance(&mut self, value: &T, change: &ReceivedChange<'_>) -> Option<InstanceHandle> {
        if !T::has_key(&self.ty) {
            return Some(InstanceHandle::KEYLESS);
        }
        match value.key_hash(&self.ty, Representation::Xcdr2, &mut self.scratch) {
            Ok(hash) => hash.map(|KeyHash(hash)| InstanceHandle(hash)),
            Err(crate::SampleError::UnknownKey) => Some(
                change
                    .key_hash
                    .map_or(InstanceHandle::KEYLESS, InstanceHandle),
            ),
            Err(_) => None,
        }
    }

    /// What XCDR1 writers call the instance, unless that is noted or the same. Costs one hash for
    /// each instance.
    fn alias(&mut self, value: &T, instance: InstanceHandle) -> Option<[u8; 16]> {
        if !self.hash_varies || self.cache.aliases.has(instance) {
            return None;
        }
        let hash = value.key_hash(&self.ty, Representation::Xcdr1, &mut self.scratch);
        hash.ok().flatten().map(|KeyHash(hash)| hash)
    }
}

impl<T: TopicSupport> Inbox<T> {
    #[inline(always)]
    fn take(&mut self, change: &ReceivedChange<'_>) -> Delivery {
        if !self.is_wanted(change) {
            self.counters.filtered_by_content += 1;
            return Delivery::Accepted;
        }
        if self.cache.is_full() {
            self.statuses
                .reject(super::SampleRejectedReason::Samples, None);
            return self.full();
        }
        // A key hash alone names an instance that nobody here knows.
        let says_nothing = change.payload == SerializedPayload::None
            && (change.kind == ChangeKind::Alive || change.key_hash.is_some());
        match self.decode(change) {
            Some(decoded) if self.group.is_none() => {
                let arrival = self.arrival(change, decoded.instance);
                return self.insert_arrival(&arrival, decoded.value, decoded.alias);
            }
            Some(decoded) => {
                let staged = self.stage(&{ *change }, decoded);
                return self.insert_in_turn(staged);
            }
            None if says_nothing => self.counters.ignored += 1,
            None => self.counters.undecodable += 1,
        }
        Delivery::Accepted
    }
}

/// A value with the key that these bytes have, if it is one.
fn key_value<T: TopicSupport>(ty: &T::Type, key: &[u8]) -> Option<T> {
    let mut value = T::initial(ty);
    value.read_key_payload(ty, key).ok().map(|()| value)
}

impl<T: TopicSupport> Sink for Inbox<T> {
    #[inline(always)]
    fn deliver(&mut self, change: &ReceivedChange<'_>) -> Delivery {
        let delivery = self.take(change);
        if self.group.is_some() && delivery == Delivery::Accepted {
            let group_number = change.place.group.number;
            self.passed(change.writer, change.sequence_number, group_number);
        }
        delivery
    }

    #[inline(always)]
    fn deliver_run<'a>(
        &mut self,
        behind: (Guid, SequenceNumber),
        next: impl FnMut() -> Option<NextChange<'a>>,
    ) {
        self.take_stream(behind, next);
    }

    fn known(&mut self, change: ReceivedChange<'_>) {
        let Some(decoded) = self.decode(&change) else {
            return;
        };
        self.cache
            .succeed(decoded.instance, change.writer, change.kind, self.now);
        if let Some(value) = decoded.value {
            self.cache.recycle(value);
        }
    }

    fn lost(&mut self, _writer: Guid, count: u64) {
        self.statuses.lost.add(count);
        self.news |= StatusMask::SAMPLE_LOST;
    }

    fn deliver_set(&mut self, set: CoherentSet<'_>) -> Delivery {
        self.take_set(&set)
    }

    fn set_begun(&mut self, writer: Guid, group_set: SequenceNumber) {
        self.part_begun(writer, group_set);
    }

    fn set_ended(&mut self, writer: Guid, end: SetEnd) {
        self.part_ended(writer, end);
    }
}
