//! A writer's changes, by sequence number and by instance. Knows no readers, and reads no clock.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use hashbrown::HashMap;
use tickwire_base::Instant;

use crate::change::{Change, KeyHash, Place};
use crate::pool::BufferPool;
use crate::schedule::Schedule;
use crate::wire::SequenceNumber;

/// A change and its serialized payload.
#[derive(Debug)]
pub(crate) struct CacheChange {
    pub(crate) sequence_number: SequenceNumber,
    pub(crate) change: Change,
    pub(crate) payload: Vec<u8>,
    /// Where it stands among others. The end of a coherent set has the place of that set.
    pub(crate) place: Place,
    /// Whether it is the end of a coherent set, which belongs to no instance.
    pub(crate) is_end: bool,
    /// The next older change of the same instance.
    older: Option<SequenceNumber>,
    /// The next newer one.
    newer: Option<SequenceNumber>,
    /// 0 while it is here. The slot of what has been removed stays until the ring passes it or is
    /// compacted; so many slots on, and not before, there may be something.
    removed_run: u32,
}

impl CacheChange {
    fn is_here(&self) -> bool {
        self.removed_run == 0
    }

    /// Where readers are told that it stands. An end without changes before it ends no set of the
    /// writer, only one of its publisher.
    pub(crate) fn announced_place(&self) -> Place {
        let coherent_set = match self.is_end {
            false => self.place.coherent_set,
            true if self.place.coherent_set == self.sequence_number => SequenceNumber::ZERO,
            true => SequenceNumber::UNKNOWN,
        };
        Place {
            coherent_set,
            ..self.place
        }
    }
}

/// A ring of changes in ascending order.
///
/// Numbers without holes are found by subtraction, with holes by bisection. Each instance is a chain
/// threaded through the ring.
#[derive(Default)]
pub(crate) struct History {
    ring: VecDeque<CacheChange>,
    len: usize,
    /// Ends of coherent sets, which `len` does not count.
    end_count: usize,
    instances: HashMap<Option<KeyHash>, Chain>,
    /// When changes end that have a LIFESPAN.
    expiries: Schedule<SequenceNumber>,
    pool: BufferPool,
}

/// What has been removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Removed {
    pub(crate) number: SequenceNumber,
    /// Of the payload, in bytes.
    pub(crate) len: usize,
    pub(crate) coherent_set: SequenceNumber,
}

/// One instance's changes in the ring.
#[derive(Clone, Copy)]
struct Chain {
    oldest: SequenceNumber,
    newest: SequenceNumber,
    len: usize,
}

impl History {
    /// An empty buffer for the next change's payload.
    pub(crate) fn buffer(&mut self) -> Vec<u8> {
        self.pool.take()
    }

    /// Takes back a buffer that no change was made of.
    pub(crate) fn recycle(&mut self, buffer: Vec<u8>) {
        self.pool.give(buffer);
    }

    /// Adds a change. `number` is above all that were added before.
    pub(crate) fn push(
        &mut self,
        number: SequenceNumber,
        change: Change,
        payload: Vec<u8>,
        expires_at: Option<Instant>,
        place: Place,
    ) {
        let older = self.instances.get_mut(&change.key_hash).map(|chain| {
            chain.len += 1;
            core::mem::replace(&mut chain.newest, number)
        });
        match older {
            Some(older) => {
                if let Some(older) = self.get_mut(older) {
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
        self.end_count += 1;
        self.ring.push_back(CacheChange {
            sequence_number: number,
            change: Change::default(),
            payload: Vec::new(),
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
    pub(crate) fn get(&self, number: SequenceNumber) -> Option<&CacheChange> {
        let slot = self.slot(number)?;
        self.ring.get(slot).filter(|change| change.is_here())
    }

    /// The lowest number at or above `number` that is here.
    pub(crate) fn at_or_after(&mut self, number: SequenceNumber) -> Option<SequenceNumber> {
        let start = match self.guess(number) {
            Ok(slot) | Err(slot) => slot,
        };
        let slot = self.here_from(start);
        self.ring.get(slot).map(|change| change.sequence_number)
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

    /// The lowest number here.
    pub(crate) fn first(&self) -> Option<SequenceNumber> {
        // Removal keeps the front of the ring present.
        self.ring.front().map(|change| change.sequence_number)
    }

    /// The oldest change that is not the end of a set.
    pub(crate) fn oldest(&mut self) -> Option<SequenceNumber> {
        let mut slot = 0;
        loop {
            slot = self.here_from(slot);
            let change = self.ring.get(slot)?;
            if !change.is_end {
                return Some(change.sequence_number);
            }
            slot += 1;
        }
    }

    /// Changes here.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Instances that have changes here.
    pub(crate) fn instance_count(&self) -> usize {
        self.instances.len()
    }

    /// Changes of one instance.
    pub(crate) fn instance_len(&self, key: Option<KeyHash>) -> usize {
        self.instances.get(&key).map_or(0, |chain| chain.len)
    }

    /// The oldest change of one instance.
    pub(crate) fn oldest_of(&self, key: Option<KeyHash>) -> Option<SequenceNumber> {
        self.instances.get(&key).map(|chain| chain.oldest)
    }

    /// The changes of one instance, the newest first.
    pub(crate) fn newest_of(
        &self,
        key: Option<KeyHash>,
    ) -> impl Iterator<Item = SequenceNumber> + '_ {
        let newest = self.instances.get(&key).map(|chain| chain.newest);
        core::iter::successors(newest, |&number| self.get(number)?.older)
    }

    /// The oldest change but one of an instance.
    pub(crate) fn second_of(&self, key: Option<KeyHash>) -> Option<SequenceNumber> {
        self.newer_than(self.oldest_of(key)?)
    }

    /// The change of the same instance that came next.
    pub(crate) fn newer_than(&self, number: SequenceNumber) -> Option<SequenceNumber> {
        self.get(number)?.newer
    }

    /// Whose LIFESPAN ends first, and when.
    pub(crate) fn next_expiry(&self) -> Option<(Instant, SequenceNumber)> {
        self.expiries.first()
    }

    /// Removes a change that is not the end of a set; says what it was.
    pub(crate) fn remove(&mut self, number: SequenceNumber) -> Option<Removed> {
        let slot = self.slot(number)?;
        let change = self.ring.get_mut(slot);
        let change = change.filter(|change| change.is_here() && !change.is_end)?;
        change.removed_run = 1;
        let payload = core::mem::take(&mut change.payload);
        let removed = Removed {
            number,
            len: payload.len(),
            coherent_set: change.place.coherent_set,
        };
        let (key, older, newer) = (change.change.key_hash, change.older, change.newer);
        self.unlink(key, older, newer);
        self.expiries.remove(&number);
        self.pool.give(payload);
        self.len -= 1;
        self.compact();
        Some(removed)
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

    fn get_mut(&mut self, number: SequenceNumber) -> Option<&mut CacheChange> {
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
        let Some(first) = self.first() else {
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

/// Removed slots that are always tolerated, lest short rings are compacted all the time.
const SPARE_SLOTS: usize = 64;

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
