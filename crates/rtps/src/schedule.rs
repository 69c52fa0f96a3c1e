//! What is due when: a queue by time whose entries can be moved and taken out. Reads no clock.

use alloc::vec::Vec;
use core::hash::Hash;

use hashbrown::HashMap;
use tickwire_base::Instant;

/// Points in time by key, the earliest at hand.
///
/// A binary heap and an index of it: all changes cost O(log n), and nothing is allocated that a queue
/// of the same length has not needed before.
#[derive(Clone, Debug)]
pub struct Schedule<K> {
    heap: Vec<(Instant, K)>,
    places: HashMap<K, usize>,
}

impl<K> Default for Schedule<K> {
    fn default() -> Self {
        Self {
            heap: Vec::new(),
            places: HashMap::new(),
        }
    }
}

impl<K: Copy + Eq + Hash> Schedule<K> {
    /// Enters a key, or moves it to another time.
    pub fn set(&mut self, key: K, at: Instant) {
        let place = match self.places.get(&key) {
            Some(&place) => place,
            None => {
                self.heap.push((at, key));
                self.heap.len() - 1
            }
        };
        if let Some(entry) = self.heap.get_mut(place) {
            entry.0 = at;
        }
        self.settle(place);
    }

    /// Takes a key out; when it was due.
    #[inline]
    pub fn remove(&mut self, key: &K) -> Option<Instant> {
        if self.heap.is_empty() {
            return None;
        }
        self.take_out(key)
    }

    fn take_out(&mut self, key: &K) -> Option<Instant> {
        let place = self.places.remove(key)?;
        let (at, _) = self.heap.swap_remove(place);
        if place < self.heap.len() {
            self.settle(place);
        }
        Some(at)
    }

    /// Takes all keys out.
    pub fn clear(&mut self) {
        if !self.heap.is_empty() {
            self.heap.clear();
            self.places.clear();
        }
    }

    /// The earliest time, and whose it is.
    pub fn first(&self) -> Option<(Instant, K)> {
        self.heap.first().copied()
    }

    /// Takes out the earliest key that is due.
    pub fn pop_due(&mut self, now: Instant) -> Option<K> {
        let (_, key) = self.first().filter(|&(at, _)| at <= now)?;
        self.remove(&key);
        Some(key)
    }

    /// When a key is due.
    pub fn get(&self, key: &K) -> Option<Instant> {
        let place = *self.places.get(key)?;
        self.heap.get(place).map(|&(at, _)| at)
    }

    /// The keys, in no order.
    pub fn keys(&self) -> impl Iterator<Item = K> {
        self.heap.iter().map(|&(_, key)| key)
    }

    /// Keys in it.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing will ever be due.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Moves the entry at a place to where it belongs.
    fn settle(&mut self, mut place: usize) {
        while place > 0 && self.is_earlier(place, (place - 1) / 2) {
            self.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
        loop {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let child = match self.is_earlier(right, left) {
                true => right,
                false => left,
            };
            if !self.is_earlier(child, place) {
                break;
            }
            self.swap(place, child);
            place = child;
        }
        if let Some(&(_, key)) = self.heap.get(place) {
            self.places.insert(key, place);
        }
    }

    /// False where there is no `one`.
    fn is_earlier(&self, one: usize, other: usize) -> bool {
        let at = |place: usize| self.heap.get(place).map(|&(at, _)| at);
        match (at(one), at(other)) {
            (Some(one), Some(other)) => one < other,
            _ => false,
        }
    }

    fn swap(&mut self, moving: usize, other: usize) {
        self.heap.swap(moving, other);
        if let Some(&(_, key)) = self.heap.get(moving) {
            self.places.insert(key, moving);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn at(nanos: u8) -> Instant {
        Instant::from_nanos(u64::from(nanos))
    }

    proptest! {
        /// Whatever is entered, moved and taken out, the earliest is what a sorted map says.
        #[test]
        fn the_earliest_is_at_hand(steps in prop::collection::vec((0_u8..4, 0_u8..20, any::<u8>()), 0..200)) {
            let mut schedule = Schedule::default();
            let mut model = BTreeMap::new();
            for (step, key, time) in steps {
                match step {
                    0 | 1 => {
                        schedule.set(key, at(time));
                        model.insert(key, at(time));
                    }
                    2 => prop_assert_eq!(schedule.remove(&key), model.remove(&key)),
                    _ => {
                        let popped = schedule.pop_due(at(time));
                        let due = model.values().min().copied().filter(|&due| due <= at(time));
                        prop_assert_eq!(popped.and_then(|key| model.remove(&key)), due);
                    }
                }
                prop_assert_eq!(schedule.first().map(|(at, _)| at), model.values().min().copied());
                prop_assert_eq!(schedule.len(), model.len());
                for (key, at) in &model {
                    prop_assert_eq!(schedule.get(key), Some(*at));
                }
            }
        }
    }

    #[test]
    fn nothing_comes_before_its_time() {
        let mut schedule = Schedule::default();
        for key in [3, 1, 2] {
            schedule.set(key, at(key));
        }
        assert_eq!(schedule.pop_due(at(0)), None);
        assert_eq!(schedule.pop_due(at(1)), Some(1));
        assert_eq!(schedule.pop_due(at(1)), None);
        assert_eq!(schedule.keys().count(), 2);
        assert!(!schedule.is_empty());
    }
}
