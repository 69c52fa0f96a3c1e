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
    /// False once removed; the slot stays until the ring passes it or is compacted.
    present: bool,
}

impl CacheChange {
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
            present: true,
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
            present: true,
        });
    }

    /// Removes the end of a coherent set.
    pub(crate) fn remove_end(&mut self, number: SequenceNumber) {
        let Some(slot) = self.slot(number) else {
            return;
        };
        if let Some(end) = self.ring.get_mut(slot).filter(|change| change.is_end)
            && core::mem::replace(&mut end.present, false)
        {
            self.end_count -= 1;
            self.compact();
        }
    }

    /// The change with this number.
    pub(crate) fn get(&self, number: SequenceNumber) -> Option<&CacheChange> {
        let slot = self.slot(number)?;
        self.ring.get(slot).filter(|change| change.present)
    }

    /// The lowest number at or above `number` that is here.
    pub(crate) fn at_or_after(&self, number: SequenceNumber) -> Option<SequenceNumber> {
        let start = match self.guess(number) {
            Ok(slot) | Err(slot) => slot,
        };
        self.ring
            .range(start..)
            .find(|change| change.present)
            .map(|change| change.sequence_number)
    }

    /// The lowest number here.
    pub(crate) fn first(&self) -> Option<SequenceNumber> {
        // Removal keeps the front of the ring present.
        self.ring.front().map(|change| change.sequence_number)
    }

    /// The oldest change that is not the end of a set.
    pub(crate) fn oldest(&self) -> Option<&CacheChange> {
        let mut changes = self.ring.iter();
        changes.find(|change| change.present && !change.is_end)
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

    /// The oldest change but one of an instance.
    pub(crate) fn second_of(&self, key: Option<KeyHash>) -> Option<SequenceNumber> {
        self.get(self.oldest_of(key)?)?.newer
    }

    /// Whose LIFESPAN ends first, and when.
    pub(crate) fn next_expiry(&self) -> Option<(Instant, SequenceNumber)> {
        self.expiries.first()
    }

    /// Removes a change that is not the end of a set; says what it was.
    pub(crate) fn remove(&mut self, number: SequenceNumber) -> Option<Removed> {
        let slot = self.slot(number)?;
        let change = self.ring.get_mut(slot);
        let change = change.filter(|change| change.present && !change.is_end)?;
        change.present = false;
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
        while self.ring.front().is_some_and(|change| !change.present) {
            self.ring.pop_front();
        }
        if self.ring.len() > 2 * (self.len + self.end_count) + SPARE_SLOTS {
            self.ring.retain(|change| change.present);
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
mod tests {
    use super::*;

    fn push(history: &mut History, number: i64, key: u8) {
        let change = Change {
            key_hash: Some([key; 16]),
            ..Change::default()
        };
        let mut payload = history.buffer();
        payload.push(key);
        let place = Place::default();
        history.push(SequenceNumber(number), change, payload, None, place);
    }

    fn remove_oldest_of(history: &mut History, key: Option<KeyHash>) -> Option<Removed> {
        history.remove(history.oldest_of(key)?)
    }

    fn one_byte(number: i64) -> Removed {
        Removed {
            number: SequenceNumber(number),
            len: 1,
            coherent_set: SequenceNumber::ZERO,
        }
    }

    #[test]
    fn ends_of_sets_belong_to_no_instance() {
        let mut history = History::default();
        push(&mut history, 1, 7);
        for number in 2..1000 {
            history.push_end(SequenceNumber(number), Place::default());
            history.remove_end(SequenceNumber(number - 1));
        }
        assert_eq!((history.len(), history.instance_count()), (1, 1));
        assert!(
            history
                .get(SequenceNumber(999))
                .is_some_and(|end| end.is_end)
        );
        assert!(history.get(SequenceNumber(998)).is_none());
        assert!(history.ring.len() <= 2 * 2 + SPARE_SLOTS);
        assert_eq!(history.oldest().map(|c| c.sequence_number.0), Some(1));
        remove_oldest_of(&mut history, Some([7; 16]));
        assert_eq!(history.first(), Some(SequenceNumber(999)));
        assert!(history.oldest().is_none());
    }

    #[test]
    fn changes_are_found_with_and_without_holes() {
        let mut history = History::default();
        for number in 1..=300 {
            push(&mut history, number, u8::from(number % 3 == 0));
        }
        while history.instance_len(Some([0; 16])) > 1 {
            remove_oldest_of(&mut history, Some([0; 16]));
        }
        assert_eq!(history.len(), 101);
        assert_eq!(history.first(), Some(SequenceNumber(3)));
        for number in 1..=300 {
            let kept = number % 3 == 0 || number == 299;
            assert_eq!(history.get(SequenceNumber(number)).is_some(), kept);
        }
        assert_eq!(
            history.at_or_after(SequenceNumber(4)),
            Some(SequenceNumber(6))
        );
        assert_eq!(history.at_or_after(SequenceNumber(301)), None);
    }

    #[test]
    fn one_old_instance_does_not_keep_the_ring_long() {
        let mut history = History::default();
        push(&mut history, 1, 7);
        for number in 2..100_000 {
            push(&mut history, number, 8);
            if history.instance_len(Some([8; 16])) > 1 {
                remove_oldest_of(&mut history, Some([8; 16]));
            }
        }
        assert_eq!(history.len(), 2);
        assert!(history.ring.len() <= 2 * history.len() + SPARE_SLOTS);
        assert!(history.get(SequenceNumber(1)).is_some());
        assert_eq!(history.instance_count(), 2);
    }

    #[test]
    fn numbers_outside_are_not_found() {
        let mut history = History::default();
        assert_eq!(history.at_or_after(SequenceNumber(i64::MIN)), None);
        push(&mut history, 5, 0);
        for number in [i64::MIN, -1, 0, 4, 6, i64::MAX] {
            assert!(history.get(SequenceNumber(number)).is_none());
        }
    }

    #[test]
    fn the_oldest_may_outlive_its_successors() {
        let mut history = History::default();
        for number in 1..=3 {
            push(&mut history, number, 1);
        }
        let key = Some([1; 16]);
        for second in [2, 3] {
            assert_eq!(history.second_of(key), Some(SequenceNumber(second)));
            let removed = history.remove(SequenceNumber(second));
            assert_eq!(removed, Some(one_byte(second)));
        }
        assert_eq!(history.second_of(key), None);
        push(&mut history, 4, 1);
        assert_eq!(history.instance_len(key), 2);
        for oldest in [1, 4] {
            let removed = remove_oldest_of(&mut history, key);
            assert_eq!(removed, Some(one_byte(oldest)));
        }
        assert_eq!((history.len(), history.instance_count()), (0, 0));
    }

    #[test]
    fn an_instance_that_lost_its_last_change_is_gone() {
        let mut history = History::default();
        push(&mut history, 1, 1);
        assert_eq!(
            remove_oldest_of(&mut history, Some([1; 16])),
            Some(one_byte(1))
        );
        assert_eq!(history.instance_count(), 0);
        assert_eq!(remove_oldest_of(&mut history, Some([1; 16])), None);
        assert_eq!(history.first(), None);
    }

    #[test]
    fn a_change_between_others_can_go_first() {
        let mut history = History::default();
        for number in 1..=5 {
            push(&mut history, number, 1);
        }
        let key = Some([1; 16]);
        for number in [3, 5, 2] {
            let removed = history.remove(SequenceNumber(number));
            assert_eq!(removed, Some(one_byte(number)));
            assert_eq!(history.remove(SequenceNumber(number)), None);
        }
        push(&mut history, 6, 1);
        let mut left = Vec::new();
        while let Some(removed) = remove_oldest_of(&mut history, key) {
            left.push(removed.number.0);
        }
        assert_eq!(left, [1, 4, 6]);
        assert_eq!(history.instance_count(), 0);
    }

    #[test]
    fn what_has_been_removed_does_not_expire() {
        let mut history = History::default();
        let at = |nanos| Some(Instant::from_nanos(nanos));
        for (number, expires_at) in [(1, at(30)), (2, None), (3, at(10)), (4, at(20))] {
            let (change, place) = (Change::default(), Place::default());
            history.push(
                SequenceNumber(number),
                change,
                Vec::new(),
                expires_at,
                place,
            );
        }
        let mut order = Vec::new();
        while let Some((at, number)) = history.next_expiry() {
            order.push((at.as_nanos(), number.0));
            history.remove(number);
        }
        assert_eq!(order, [(10, 3), (20, 4), (30, 1)]);
        assert_eq!(history.len(), 1);
    }
}
