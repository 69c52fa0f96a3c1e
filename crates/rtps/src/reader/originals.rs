//! What a reader has had of writers that others speak for (RTPS 2.5 §8.7.9): a durability service, or
//! the writer that took their place, gives their changes again. Knows names and numbers alone.
//!
//! Anybody can say that a change was another's, so such a word counts for little: it stands for the
//! one change that came with it.

use alloc::collections::{BTreeMap, VecDeque};

use hashbrown::HashMap;

use super::Reader;
use crate::change::OriginalWriter;
use crate::wire::{Guid, SequenceNumber};

/// What has come of original writers, by their GUID.
#[derive(Debug, Default)]
pub(super) struct Originals {
    had: HashMap<Guid, Had>,
    /// The same writers, in the order of their first change.
    order: VecDeque<Guid>,
    /// Ranges of all of them.
    range_count: usize,
}

/// What has come of one writer.
#[derive(Debug, Default)]
struct Had {
    /// From others.
    given: Numbers,
    /// From itself while it was matched, which it is no more.
    passed: Numbers,
}

/// Numbers of a writer: ranges that do not touch, by their first.
#[derive(Debug, Default)]
struct Numbers(BTreeMap<SequenceNumber, SequenceNumber>);

impl Originals {
    /// Whether nothing has come of any writer that others speak for.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.had.is_empty()
    }

    /// Whether a change has come from another than its original writer, or from that before it was
    /// unmatched.
    fn has(&self, original: OriginalWriter) -> bool {
        let number = original.sequence_number;
        let had = self.had.get(&original.guid);
        had.is_some_and(|had| had.given.has(number) || had.passed.has(number))
    }

    /// Whether a writer's change, which goes back to another if `original` says so, has come from
    /// elsewhere.
    pub(super) fn has_given(
        &self,
        guid: Guid,
        sequence_number: SequenceNumber,
        original: Option<OriginalWriter>,
    ) -> bool {
        match original {
            _ if self.had.is_empty() => false,
            Some(original) => self.has(original),
            // A writer that is matched again may have begun anew: what it gave before does not count.
            None => self
                .had
                .get(&guid)
                .is_some_and(|had| had.given.has(sequence_number)),
        }
    }

    /// Remembers that a change has come from another than its original writer. Says how many ranges
    /// of numbers make way for that.
    pub(super) fn note(&mut self, original: OriginalWriter) -> u64 {
        let number = original.sequence_number;
        self.insert(original.guid, |had| had.given.insert(number, number))
    }

    /// Forgets a writer that begins anew.
    pub(super) fn forget(&mut self, guid: Guid) {
        if let Some(had) = self.had.remove(&guid) {
            self.range_count -= had.range_count();
            self.order.retain(|&other| other != guid);
        }
    }

    fn insert(&mut self, guid: Guid, insert: impl FnOnce(&mut Had)) -> u64 {
        let order = &mut self.order;
        let had = self.had.entry(guid).or_insert_with(|| {
            order.push_back(guid);
            Had::default()
        });
        let before = had.range_count();
        insert(had);
        self.range_count = self.range_count - before + had.range_count();
        let mut forgotten = 0;
        while (self.had.len() > MAX_ORIGINALS || self.range_count > MAX_RANGES)
            && let Some(&oldest) = self.order.front()
            && let Some(had) = self.had.get_mut(&oldest)
        {
            if had.given.0.pop_first().is_some() || had.passed.0.pop_first().is_some() {
                self.range_count -= 1;
                forgotten += 1;
            } else {
                self.forget(oldest);
            }
        }
        forgotten
    }
}

impl Had {
    fn range_count(&self) -> usize {
        self.given.0.len() + self.passed.0.len()
    }
}

impl Numbers {
    fn has(&self, number: SequenceNumber) -> bool {
        let before = self.0.range(..=number).next_back();
        before.is_some_and(|(_, &last)| last >= number)
    }

    fn insert(&mut self, mut first: SequenceNumber, mut last: SequenceNumber) {
        while let Some((&start, &end)) = self.0.range(..=last.next()).next_back()
            && end.next() >= first
        {
            self.0.remove(&start);
            (first, last) = (first.min(start), last.max(end));
        }
        self.0.insert(first, last);
    }
}

impl Reader {
    /// Whether a writer's change has come before, from its original writer or from another that gave
    /// it. Its original writer has given all from where the reader began with it up to where it has
    /// got, whether that came, was lost or was passed over: of what is older the writer said nothing.
    pub(super) fn is_known(
        &self,
        index: usize,
        number: SequenceNumber,
        original: Option<OriginalWriter>,
    ) -> bool {
        let from_itself = || {
            let original = original?;
            let writer = self.writers.get(self.find(original.guid).ok()?)?;
            let (first, last) = writer.had()?;
            Some((first..=last).contains(&original.sequence_number))
        };
        let guid = self.writers[index].proxy.guid;
        self.memory.originals.has_given(guid, number, original) || from_itself().unwrap_or(false)
    }

    /// Remembers what has come of a writer that is no longer matched.
    pub(super) fn note_end(&mut self, guid: Guid, had: Option<Range>) {
        if let Some((first, last)) = had.filter(|_| self.config.originals) {
            let originals = &mut self.memory.originals;
            self.counters.forgotten += originals.insert(guid, |had| had.passed.insert(first, last));
        }
    }
}

/// The first and the last number.
pub(super) type Range = (SequenceNumber, SequenceNumber);

/// Writers that are remembered; the one first heard of makes way.
const MAX_ORIGINALS: usize = 1024;
/// Ranges of numbers of all those.
const MAX_RANGES: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::wire::{EntityId, GuidPrefix};

    fn writer(number: u32) -> Guid {
        Guid::new(GuidPrefix::UNKNOWN, EntityId::user_writer(number, false))
    }

    fn change(number: u32, sequence_number: i64) -> OriginalWriter {
        OriginalWriter {
            guid: writer(number),
            sequence_number: SequenceNumber(sequence_number),
        }
    }

    #[test]
    fn what_is_remembered_is_bounded_and_the_oldest_makes_way() {
        let mut originals = Originals::default();
        let mut forgotten = 0;
        for number in 0..=1024 {
            for sequence_number in 3..=5 {
                forgotten += originals.note(change(number, sequence_number));
            }
        }
        assert_eq!((originals.had.len(), forgotten), (MAX_ORIGINALS, 1));
        assert!(!originals.has(change(0, 3)));
        assert!(originals.has(change(1, 5)));
        assert!(!originals.has(change(1024, 6)));
        for hole in 1..=1 << 17 {
            forgotten += originals.note(change(7, 2 * hole));
        }
        assert_eq!(originals.range_count, MAX_RANGES);
        let ranges = originals.had.values().map(Had::range_count);
        assert_eq!(ranges.sum::<usize>(), MAX_RANGES);
        assert_eq!(originals.had.len(), originals.order.len());
        assert!(!originals.has(change(7, 2)));
        assert!(originals.has(change(7, 1 << 18)) && originals.has(change(1024, 5)));
        assert!(forgotten > 1 << 16);
    }

    proptest! {
        #[test]
        fn ranges_hold_what_was_put_in(ranges in prop::collection::vec((1..200_i64, 0..9_i64), 0..40)) {
            let (mut numbers, mut model) = (Numbers::default(), BTreeSet::new());
            for (first, len) in ranges {
                numbers.insert(SequenceNumber(first), SequenceNumber(first + len));
                model.extend(first..=first + len);
            }
            for number in 0..=210 {
                prop_assert_eq!(numbers.has(SequenceNumber(number)), model.contains(&number));
            }
            let apart = numbers.0.iter().zip(numbers.0.iter().skip(1));
            for ((_, last), (first, _)) in apart {
                prop_assert!(last.next() < *first);
            }
        }
    }
}
