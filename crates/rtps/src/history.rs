//! A writer's changes, by sequence number and by instance. Knows no readers, and reads no clock.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use hashbrown::HashMap;
use tickwire_base::{Instant, Timestamp, copy};

use crate::change::{Change, ChangeKind, KeyHash, OriginalWriter, Place, SampleIdentity};
use crate::payload::{Borrowed, Handed, Payload};
use crate::pool::BufferPool;
use crate::schedule::Schedule;
use crate::tail::Tail;
use crate::wire::SequenceNumber;
use crate::writer::Lent;

/// A change in the history, in whatever form it is there.
#[derive(Debug)]
pub(crate) struct Kept<'a, B> {
    pub(crate) sequence_number: SequenceNumber,
    pub(crate) source_timestamp: Option<Timestamp>,
    pub(crate) payload: Borrowed<'a, B>,
    /// What it has beside that, unless it is plain.
    more: Option<&'a CacheChange<B>>,
}

impl<B> Clone for Kept<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Kept<'_, B> {}

impl<'a, B: Lent> Kept<'a, B> {
    #[inline]
    fn of(change: &'a CacheChange<B>) -> Self {
        Self {
            sequence_number: change.sequence_number,
            source_timestamp: change.change.source_timestamp,
            payload: change.payload.borrow(),
            more: Some(change),
        }
    }

    fn plain((number, timestamp, payload): (SequenceNumber, Timestamp, &'a [u8])) -> Self {
        Self {
            sequence_number: number,
            source_timestamp: Some(timestamp),
            payload: Borrowed::Own(payload),
            more: None,
        }
    }

    #[inline]
    pub(crate) fn kind(&self) -> ChangeKind {
        self.more.map_or(ChangeKind::Alive, |more| more.change.kind)
    }

    #[inline]
    pub(crate) fn key_hash(&self) -> Option<KeyHash> {
        self.more?.change.key_hash
    }

    /// Who wrote it first, if it was another writer.
    #[inline]
    pub(crate) fn original(&self) -> Option<OriginalWriter> {
        self.more?.change.original
    }

    /// The sample that it answers.
    #[inline]
    pub(crate) fn related(&self) -> Option<SampleIdentity> {
        self.more?.change.related
    }

    /// Where it stands among others. The end of a coherent set has the place of that set.
    pub(crate) fn place(&self) -> Place {
        self.more.map_or_else(Place::default, |more| more.place)
    }

    /// Whether it is the end of a coherent set, which belongs to no instance.
    #[inline]
    pub(crate) fn is_end(&self) -> bool {
        self.more.is_some_and(|more| more.is_end)
    }

    /// Where readers are told that it stands. An end without changes before it ends no set of the
    /// writer, only one of its publisher.
    pub(crate) fn announced_place(&self) -> Place {
        let place = self.place();
        let coherent_set = match self.is_end() {
            false => place.coherent_set,
            true if place.coherent_set == self.sequence_number => SequenceNumber::ZERO,
            true => SequenceNumber::UNKNOWN,
        };
        Place {
            coherent_set,
            ..place
        }
    }
}

/// A change in the ring, and its serialized payload.
#[derive(Debug)]
struct CacheChange<B> {
    sequence_number: SequenceNumber,
    change: Change,
    payload: Payload<B>,
    place: Place,
    is_end: bool,
    /// The next older change of the same instance.
    older: Option<SequenceNumber>,
    /// The next newer one.
    newer: Option<SequenceNumber>,
    /// 0 while it is here. The slot of what has been removed stays until the ring passes it or is
    /// compacted; so many slots on, and not before, there may be something.
    removed_run: u32,
}

impl<B> CacheChange<B> {
    fn is_here(&self) -> bool {
        self.removed_run == 0
    }
}

/// A ring of changes in ascending order, and behind it a tail of those that are plain.
///
/// In the ring, numbers without holes are found by subtraction, with holes by bisection, and each instance is
/// a chain threaded through it. What comes after plain changes and is not plain moves them to the ring, so
/// that a stream of one kind stays where it is.
pub(crate) struct History<B> {
    ring: VecDeque<CacheChange<B>>,
    tail: Tail,
    /// Changes in the ring.
    len: usize,
    /// Ends of coherent sets, which `len` does not count.
    end_count: usize,
    instances: Chains,
    /// When changes end that have a LIFESPAN.
    expiries: Schedule<SequenceNumber>,
    pool: BufferPool,
    /// Memory of the application's that is not needed here any more.
    given_back: Vec<Handed>,
}

/// What has been removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Removed {
    pub(crate) number: SequenceNumber,
    /// As how many bytes its payload counted.
    pub(crate) counted_len: usize,
    pub(crate) coherent_set: SequenceNumber,
}

/// The chains of all instances. That of a topic without keys is at hand.
#[derive(Default)]
struct Chains {
    keyless: Option<Chain>,
    keyed: HashMap<KeyHash, Chain>,
}

impl Chains {
    fn len(&self) -> usize {
        self.keyed.len() + usize::from(self.keyless.is_some())
    }

    fn get(&self, key: &Option<KeyHash>) -> Option<&Chain> {
        match key {
            Some(key) => self.keyed.get(key),
            None => self.keyless.as_ref(),
        }
    }

    fn get_mut(&mut self, key: &Option<KeyHash>) -> Option<&mut Chain> {
        match key {
            Some(key) => self.keyed.get_mut(key),
            None => self.keyless.as_mut(),
        }
    }

    fn insert(&mut self, key: Option<KeyHash>, chain: Chain) {
        match key {
            Some(key) => {
                self.keyed.insert(key, chain);
            }
            None => self.keyless = Some(chain),
        }
    }

    fn remove(&mut self, key: &Option<KeyHash>) {
        match key {
            Some(key) => {
                self.keyed.remove(key);
            }
            None => self.keyless = None,
        }
    }
}

/// One instance's changes in the ring.
#[derive(Clone, Copy)]
struct Chain {
    oldest: SequenceNumber,
    newest: SequenceNumber,
    len: usize,
}

impl<B> Default for History<B> {
    fn default() -> Self {
        Self {
            ring: VecDeque::new(),
            tail: Tail::default(),
            len: 0,
            end_count: 0,
            instances: Chains::default(),
            expiries: Schedule::default(),
            pool: BufferPool::with_large(MAX_LARGE_BYTES),
            given_back: Vec::new(),
        }
    }
}

impl<B: Lent> History<B> {
    /// An empty buffer for the next change's payload.
    pub(crate) fn buffer(&mut self) -> Vec<u8> {
        self.pool.take()
    }

    /// Memory for a long payload, with what was in it; empty if none is left over.
    pub(crate) fn used_buffer(&mut self) -> Vec<u8> {
        self.pool.take_used()
    }

    /// Takes one back that was not needed.
    pub(crate) fn give_back(&mut self, buffer: Vec<u8>) {
        self.pool.give(buffer);
    }

    /// Memory of the application's that is not needed here any more.
    #[inline]
    pub(crate) fn given_back(&mut self) -> &mut Vec<Handed> {
        &mut self.given_back
    }

    /// The first change that lies in such memory.
    pub(crate) fn first_handed(&self) -> Option<SequenceNumber> {
        let handed = |change: &&CacheChange<B>| matches!(change.payload, Payload::Handed(_));
        self.ring
            .iter()
            .find(handed)
            .map(|change| change.sequence_number)
    }

    /// Adds a change. `number` is above all that were added before.
    pub(crate) fn push(
        &mut self,
        number: SequenceNumber,
        change: Change,
        payload: Payload<B>,
        expires_at: Option<Instant>,
        place: Place,
    ) {
        self.settle();
        self.push_to_ring(number, change, payload, expires_at, place);
    }

    /// Where the payload of the next change is to be appended, if that is alive, of no instance, in no set, and stays
    /// until it is removed: [`push_plain`](Self::push_plain) then adds it. `number` is above all that were added
    /// before.
    #[inline]
    pub(crate) fn stage(&mut self, number: SequenceNumber) -> &mut Vec<u8> {
        if !self.tail.is_ready_for(number) {
            self.prepare_for(number);
        }
        self.tail.stage()
    }

    #[cold]
    fn prepare_for(&mut self, number: SequenceNumber) {
        if self.tail.end().is_some_and(|end| end != number) {
            self.settle_all();
        }
        self.tail.prepare_for(number);
    }

    /// What has been appended.
    #[inline]
    pub(crate) fn staged(&self) -> &[u8] {
        self.tail.staged()
    }

    /// Has nothing be appended.
    #[cold]
    pub(crate) fn forget_staged(&mut self) {
        self.tail.unstage();
    }

    /// Takes back what has been appended.
    pub(crate) fn unstage(&mut self) -> Vec<u8> {
        let mut bytes = self.pool.take();
        copy::append(&mut bytes, self.tail.staged());
        self.tail.unstage();
        bytes
    }

    /// Adds the change whose payload has been appended.
    #[inline(always)]
    pub(crate) fn push_plain(&mut self, timestamp: Timestamp) {
        self.tail.push(timestamp);
    }

    /// Passes by the change whose payload has been appended to an empty history.
    #[inline(always)]
    pub(crate) fn pass_plain(&mut self) {
        self.tail.pass();
    }

    /// Whether all changes here are plain.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.ring.is_empty()
    }

    /// Removes the oldest of the plain changes if there are more than that; its number, and how long its payload was.
    #[inline]
    pub(crate) fn remove_plain_beyond(&mut self, len: usize) -> Option<(SequenceNumber, usize)> {
        self.tail
            .is_longer_than(len)
            .then(|| self.tail.remove_first())
    }

    /// Moves the tail to the ring.
    #[inline]
    fn settle(&mut self) {
        if !self.tail.is_empty() {
            self.settle_all();
        }
    }

    #[cold]
    fn settle_all(&mut self) {
        let mut tail = core::mem::take(&mut self.tail);
        for (number, timestamp, payload) in tail.iter() {
            let change = Change {
                source_timestamp: Some(timestamp),
                ..Change::default()
            };
            let mut bytes = self.pool.take();
            copy::append(&mut bytes, payload);
            self.push_to_ring(number, change, Payload::Own(bytes), None, Place::default());
        }
        tail.clear();
        self.tail = tail;
    }

    fn push_to_ring(
        &mut self,
        number: SequenceNumber,
        change: Change,
        payload: Payload<B>,
        expires_at: Option<Instant>,
        place: Place,
    ) {
        let older = self.instances.get_mut(&change.key_hash).map(|chain| {
            chain.len += 1;
            core::mem::replace(&mut chain.newest, number)
        });
        match older {
            Some(older) => {
                let newest = self.ring.back_mut();
                let newest = newest.filter(|newest| newest.sequence_number == older);
                if let Some(older) = match newest {
                    Some(newest) => Some(newest),
                    None => self.get_mut(older),
                } {
                    older.newer = Some(number);
                }
            }
            None => {
                let chain = Chain {
                    oldest: number,
                    newest: number,
                    len: 1,
                };
                self.instances.insert(change.key_hash, chain);
            }
        }
        if let Some(at) = expires_at {
            self.expiries.set(number, at);
        }
        self.len += 1;
        self.ring.push_back(CacheChange {
            sequence_number: number,
            change,
            payload,
            place,
            is_end: false,
            older,
            newer: None,
            removed_run: 0,
        });
    }

    /// Adds the end of a coherent set. `number` is above all that were added before.
    pub(crate) fn push_end(&mut self, number: SequenceNumber, place: Place) {
        self.settle();
        self.end_count += 1;
        self.ring.push_back(CacheChange {
            sequence_number: number,
            change: Change::default(),
            payload: Payload::NONE,
            place,
            is_end: true,
            older: None,
            newer: None,
            removed_run: 0,
        });
    }

    /// Removes the end of a coherent set.
    pub(crate) fn remove_end(&mut self, number: SequenceNumber) {
        let Some(slot) = self.slot(number) else {
            return;
        };
        if let Some(end) = self.ring.get_mut(slot).filter(|change| change.is_end)
            && core::mem::replace(&mut end.removed_run, 1) == 0
        {
            self.end_count -= 1;
            self.compact();
        }
    }

    /// The change with this number.
    pub(crate) fn get(&self, number: SequenceNumber) -> Option<Kept<'_, B>> {
        if self.tail.first().is_some_and(|first| first <= number) {
            let (timestamp, payload) = self.tail.get(number)?;
            return Some(Kept::plain((number, timestamp, payload)));
        }
        self.in_ring(number).map(Kept::of)
    }

    fn in_ring(&self, number: SequenceNumber) -> Option<&CacheChange<B>> {
        // The newest is asked for most.
        let newest = self.ring.back();
        let found = match newest.filter(|newest| newest.sequence_number == number) {
            Some(newest) => newest,
            None => self.ring.get(self.slot(number)?)?,
        };
        found.is_here().then_some(found)
    }

    /// The lowest number at or above `number` that is here.
    pub(crate) fn at_or_after(&mut self, number: SequenceNumber) -> Option<SequenceNumber> {
        let start = match self.guess(number) {
            Ok(slot) | Err(slot) => slot,
        };
        let slot = self.here_from(start);
        match self.ring.get(slot) {
            Some(change) => Some(change.sequence_number),
            None => {
                let first = self.tail.first()?.max(number);
                self.tail.end().filter(|&end| first < end).map(|_| first)
            }
        }
    }

    /// The first slot at or after `slot` that is not removed, or the end of the ring. Runs of removed
    /// slots are made shorter for the next time, so that one costs little however often it is met.
    fn here_from(&mut self, slot: usize) -> usize {
        let mut found = slot;
        while let Some(change) = self.ring.get(found).filter(|change| !change.is_here()) {
            found += change.removed_run as usize;
        }
        let mut passed = slot;
        while let Some(change) = self.ring.get_mut(passed).filter(|_| passed < found) {
            let run = u32::try_from(found - passed).unwrap_or(u32::MAX);
            passed += core::mem::replace(&mut change.removed_run, run) as usize;
        }
        found
    }

    /// The changes above `number`, without ends of sets.
    pub(crate) fn above(&self, number: SequenceNumber) -> impl Iterator<Item = Kept<'_, B>> {
        let start = match self.guess(number.next()) {
            Ok(slot) | Err(slot) => slot,
        };
        let changes = self.ring.range(start.min(self.ring.len())..);
        let changes = changes.filter(|change| change.is_here() && !change.is_end);
        let tail = self.tail.iter().filter(move |&(at, ..)| at > number);
        changes.map(Kept::of).chain(tail.map(Kept::plain))
    }

    /// The lowest number here.
    pub(crate) fn first(&self) -> Option<SequenceNumber> {
        self.first_in_ring().or_else(|| self.tail.first())
    }

    fn first_in_ring(&self) -> Option<SequenceNumber> {
        // Removal keeps the front of the ring present.
        self.ring.front().map(|change| change.sequence_number)
    }

    /// Whether the payload of the oldest change is lent.
    pub(crate) fn begins_lent(&self) -> bool {
        let oldest = self.ring.front();
        oldest.is_some_and(|oldest| matches!(oldest.payload, Payload::Lent(_)))
    }

    /// The oldest change that is not the end of a set.
    pub(crate) fn oldest(&mut self) -> Option<SequenceNumber> {
        let mut slot = 0;
        loop {
            slot = self.here_from(slot);
            let Some(change) = self.ring.get(slot) else {
                return self.tail.first();
            };
            if !change.is_end {
                return Some(change.sequence_number);
            }
            slot += 1;
        }
    }

    /// Changes here.
    pub(crate) fn len(&self) -> usize {
        self.len + self.tail.len()
    }

    /// Instances that have changes here.
    pub(crate) fn instance_count(&self) -> usize {
        let is_apart = !self.tail.is_empty() && self.instances.keyless.is_none();
        self.instances.len() + usize::from(is_apart)
    }

    /// Changes of one instance.
    pub(crate) fn instance_len(&self, key: Option<KeyHash>) -> usize {
        let in_ring = self.instances.get(&key).map_or(0, |chain| chain.len);
        in_ring + self.tail_of(key).map_or(0, Tail::len)
    }

    /// The oldest change of one instance.
    pub(crate) fn oldest_of(&self, key: Option<KeyHash>) -> Option<SequenceNumber> {
        let in_ring = self.instances.get(&key).map(|chain| chain.oldest);
        in_ring.or_else(|| self.tail_of(key)?.first())
    }

    /// What the tail has of one instance.
    fn tail_of(&self, key: Option<KeyHash>) -> Option<&Tail> {
        key.is_none().then_some(&self.tail)
    }

    /// The changes of one instance, the newest first.
    pub(crate) fn newest_of(
        &self,
        key: Option<KeyHash>,
    ) -> impl Iterator<Item = SequenceNumber> + '_ {
        let tail = self.tail_of(key).into_iter().flat_map(Tail::iter).rev();
        let newest = self.instances.get(&key).map(|chain| chain.newest);
        let in_ring = core::iter::successors(newest, |&number| self.in_ring(number)?.older);
        tail.map(|(number, ..)| number).chain(in_ring)
    }

    /// The oldest change but one of an instance.
    pub(crate) fn second_of(&self, key: Option<KeyHash>) -> Option<SequenceNumber> {
        self.newer_than(self.oldest_of(key)?)
    }

    /// The change of the same instance that came next.
    pub(crate) fn newer_than(&self, number: SequenceNumber) -> Option<SequenceNumber> {
        let Some(change) = self.in_ring(number) else {
            self.tail.get(number)?;
            return Some(number.next()).filter(|&next| Some(next) < self.tail.end());
        };
        let is_last = !change.is_end && change.newer.is_none();
        let tail = self.tail_of(change.change.key_hash).filter(|_| is_last);
        change.newer.or_else(|| tail?.first())
    }

    /// Whose LIFESPAN ends first, and when.
    pub(crate) fn next_expiry(&self) -> Option<(Instant, SequenceNumber)> {
        self.expiries.first()
    }

    /// Removes a change that is not the end of a set; says what it was.
    pub(crate) fn remove(&mut self, number: SequenceNumber) -> Option<Removed> {
        if self.tail.get(number).is_some() {
            self.settle();
        }
        let slot = self.slot(number)?;
        let change = self.ring.get_mut(slot);
        let change = change.filter(|change| change.is_here() && !change.is_end)?;
        change.removed_run = 1;
        let payload = core::mem::replace(&mut change.payload, Payload::NONE);
        let removed = Removed {
            number,
            counted_len: payload.counted_len(),
            coherent_set: change.place.coherent_set,
        };
        let (key, older, newer) = (change.change.key_hash, change.older, change.newer);
        self.unlink(key, older, newer);
        self.expiries.remove(&number);
        match payload {
            Payload::Own(bytes) => self.pool.give(bytes),
            Payload::Long(long) => self.pool.give_shared(long.bytes),
            Payload::Lent(_) => {}
            Payload::Handed(handed) => self.given_back.push(handed.memory),
        }
        self.len -= 1;
        self.compact();
        Some(removed)
    }

    /// Removes all changes up to `end`, or up to the first end of a set, which every reader has if they are
    /// `done_with`; says how many, and as how many bytes their payloads counted.
    pub(crate) fn remove_through(
        &mut self,
        end: SequenceNumber,
        done_with: bool,
    ) -> (usize, usize) {
        let (count, len) = match self.ring.is_empty() {
            true => (0, 0),
            false => self.remove_from_ring(end, done_with),
        };
        match self.ring.is_empty() {
            true => {
                let (more, longer) = self.tail.remove_through(end);
                (count + more, len + longer)
            }
            false => (count, len),
        }
    }

    fn remove_from_ring(&mut self, end: SequenceNumber, done_with: bool) -> (usize, usize) {
        let (mut count, mut len) = (0, 0);
        let (mut keyless, mut next_keyless) = (0, None);
        let mut passed = 0;
        while let Some(oldest) = self.ring.get_mut(passed)
            && oldest.sequence_number <= end
            && !(oldest.is_end && oldest.is_here())
        {
            passed += 1;
            if oldest.is_here() {
                let payload = core::mem::replace(&mut oldest.payload, Payload::NONE);
                let (number, newer) = (oldest.sequence_number, oldest.newer);
                (count, len) = (count + 1, len + payload.counted_len());
                self.len -= 1;
                match oldest.change.key_hash {
                    None => (keyless, next_keyless) = (keyless + 1, newer),
                    key => self.unlink(key, None, newer),
                }
                self.expiries.remove(&number);
                match payload {
                    Payload::Own(bytes) => self.pool.give(bytes),
                    Payload::Long(long) => self.pool.give_shared(long.bytes),
                    Payload::Lent(mut lent) if done_with => lent.done_with(),
                    Payload::Lent(_) => {}
                    Payload::Handed(handed) => self.given_back.push(handed.memory),
                }
            }
        }
        self.ring.drain(..passed);
        self.compact();
        // One chain, one look.
        if let Some(chain) = self.instances.keyless.as_mut().filter(|_| keyless > 0) {
            chain.len -= keyless;
            match next_keyless {
                None => self.instances.keyless = None,
                Some(next) => {
                    chain.oldest = next;
                    if let Some(next) = self.get_mut(next) {
                        next.older = None;
                    }
                }
            }
        }
        (count, len)
    }

    /// Takes the change between two others out of its instance's chain.
    fn unlink(
        &mut self,
        key: Option<KeyHash>,
        older: Option<SequenceNumber>,
        newer: Option<SequenceNumber>,
    ) {
        if let Some(older) = older.and_then(|number| self.get_mut(number)) {
            older.newer = newer;
        }
        if let Some(newer) = newer.and_then(|number| self.get_mut(number)) {
            newer.older = older;
        }
        let Some(chain) = self.instances.get_mut(&key) else {
            return;
        };
        chain.len -= 1;
        match (older, newer) {
            (None, None) => {
                self.instances.remove(&key);
            }
            (None, Some(newer)) => chain.oldest = newer,
            (Some(older), None) => chain.newest = older,
            (Some(_), Some(_)) => {}
        }
    }

    fn get_mut(&mut self, number: SequenceNumber) -> Option<&mut CacheChange<B>> {
        let slot = self.slot(number)?;
        self.ring.get_mut(slot)
    }

    /// Drops what has been removed at the front, and everywhere once most of the ring is that.
    fn compact(&mut self) {
        while self.ring.front().is_some_and(|change| !change.is_here()) {
            self.ring.pop_front();
        }
        if self.ring.len() > 2 * (self.len + self.end_count) + SPARE_SLOTS {
            self.ring.retain(CacheChange::is_here);
        }
    }

    fn slot(&self, number: SequenceNumber) -> Option<usize> {
        self.guess(number).ok()
    }

    /// The slot of `number`, or where it would be.
    fn guess(&self, number: SequenceNumber) -> Result<usize, usize> {
        let Some(first) = self.first_in_ring() else {
            return Err(0);
        };
        let dense = number.0.checked_sub(first.0).map(usize::try_from);
        if let Some(Ok(slot)) = dense
            && self
                .ring
                .get(slot)
                .is_some_and(|change| change.sequence_number == number)
        {
            return Ok(slot);
        }
        self.ring
            .binary_search_by_key(&number, |change| change.sequence_number)
    }
}

/// What large payloads leave for the next ones: a mapping of new memory for each costs more than to copy it.
const MAX_LARGE_BYTES: usize = 32 << 20;
/// Removed slots that are always tolerated, lest short rings are compacted all the time.
const SPARE_SLOTS: usize = 64;

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
