//! What a reader has had of writers that others speak for (RTPS 2.5 §8.7.9): a durability service, or
//! the writer that took their place, gives their changes again. Knows names and numbers alone.
//!
//! Anybody can say that a change was another's, so such a word counts for little: it stands for the
//! one change that came with it, and for older ones of a writer that itself has announced it. A wrong
//! number takes nothing from what a writer has yet to write.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::Reader;
use crate::change::OriginalWriter;
use crate::wire::{Guid, SequenceNumber};

/// What has come of original writers that are not matched, whoever gave it.
#[derive(Debug, Default)]
pub(super) struct Originals {
    given: HashMap<Guid, Numbers>,
    /// The same writers, in the order of their first change.
    order: VecDeque<Guid>,
    /// Ranges of all of them.
    range_count: usize,
}

/// Numbers of a writer: ranges that do not touch, by their first.
#[derive(Debug, Default)]
pub(super) struct Numbers(BTreeMap<SequenceNumber, SequenceNumber>);

impl Originals {
    fn has(&self, original: OriginalWriter) -> bool {
        let numbers = self.given.get(&original.guid);
        numbers.is_some_and(|numbers| numbers.has(original.sequence_number))
    }

    fn note(&mut self, guid: Guid, ranges: impl IntoIterator<Item = Range>) {
        if !self.given.contains_key(&guid) {
            self.order.push_back(guid);
        }
        let numbers = self.given.entry(guid).or_default();
        self.range_count -= numbers.0.len();
        for (first, last) in ranges {
            numbers.insert(first, last);
        }
        self.range_count += numbers.0.len();
        while self.given.len() > MAX_ORIGINALS || self.range_count > MAX_RANGES {
            let Some(oldest) = self.order.pop_front() else {
                return;
            };
            let numbers = self.given.remove(&oldest);
            self.range_count -= numbers.map_or(0, |numbers| numbers.0.len());
        }
    }
}

impl Numbers {
    fn has(&self, number: SequenceNumber) -> bool {
        self.at_or_after(number) == Some(number)
    }

    /// The first from that one on.
    fn at_or_after(&self, number: SequenceNumber) -> Option<SequenceNumber> {
        let before = self.0.range(..=number).next_back();
        if before.is_some_and(|(_, &last)| last >= number) {
            return Some(number);
        }
        self.0.range(number..).next().map(|(&first, _)| first)
    }

    fn insert(&mut self, mut first: SequenceNumber, mut last: SequenceNumber) {
        while let Some((&start, &end)) = self.0.range(..=last.next()).next_back()
            && end.next() >= first
        {
            self.0.remove(&start);
            (first, last) = (first.min(start), last.max(end));
        }
        self.0.insert(first, last);
        if self.0.len() > MAX_RANGES {
            self.0.pop_first();
        }
    }
}

impl Reader {
    /// Whether a writer's change has come before, from its original writer or from another that gave
    /// it. One that is older than a change which another gave and its writer has announced counts as
    /// if it had come: what replaces it is here.
    pub(super) fn is_known(
        &self,
        index: usize,
        number: SequenceNumber,
        original: Option<OriginalWriter>,
    ) -> bool {
        let Some(original) = original else {
            let writer = &self.writers[index];
            let given = writer.given.at_or_after(number);
            return given.is_some_and(|given| given <= writer.announced);
        };
        let from_itself = || {
            let writer = self.writers.get(self.find(original.guid).ok()?)?;
            let begun = writer.synchronized || writer.delivered > 0;
            let has_passed = original.sequence_number < writer.passed();
            Some(begun && has_passed || writer.given.has(original.sequence_number))
        };
        self.originals.has(original) || from_itself().unwrap_or(false)
    }

    /// Remembers that a change has come from another than its original writer.
    pub(super) fn note_original(&mut self, original: OriginalWriter) {
        let OriginalWriter {
            guid,
            sequence_number,
        } = original;
        match self.find(guid) {
            Ok(index) => {
                let given = &mut self.writers[index].given;
                given.insert(sequence_number, sequence_number);
            }
            Err(_) => {
                let range = (sequence_number, sequence_number);
                self.originals.note(guid, [range]);
            }
        }
    }

    /// Remembers what has come of a writer that is no longer matched: all that it `passed`, and what
    /// others have given.
    pub(super) fn note_end(&mut self, guid: Guid, passed: SequenceNumber, given: Numbers) {
        if self.config.originals {
            let own = (SequenceNumber::FIRST, passed);
            let own = (passed >= SequenceNumber::FIRST).then_some(own);
            let all: Vec<_> = own.into_iter().chain(given.0).collect();
            if !all.is_empty() {
                self.originals.note(guid, all);
            }
        }
    }
}

/// The first and the last of them.
type Range = (SequenceNumber, SequenceNumber);

/// Writers that are remembered; the one first heard of makes way.
const MAX_ORIGINALS: usize = 1024;
/// Ranges of numbers of all those, and of each writer that is matched.
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

    fn has(originals: &Originals, number: u32, sequence_number: i64) -> bool {
        originals.has(OriginalWriter {
            guid: writer(number),
            sequence_number: SequenceNumber(sequence_number),
        })
    }

    #[test]
    fn what_is_remembered_is_bounded_and_the_oldest_makes_way() {
        let mut originals = Originals::default();
        for number in 0..=1024 {
            originals.note(writer(number), [(SequenceNumber(3), SequenceNumber(5))]);
        }
        assert_eq!(originals.given.len(), MAX_ORIGINALS);
        assert!(!has(&originals, 0, 3));
        assert!(has(&originals, 1, 5));
        assert!(!has(&originals, 1024, 6));
        for hole in 1..=1 << 17 {
            let number = SequenceNumber(2 * hole);
            originals.note(writer(1), [(number, number)]);
        }
        assert!(originals.range_count <= MAX_RANGES);
        let ranges = originals.given.values().map(|numbers| numbers.0.len());
        assert_eq!(ranges.sum::<usize>(), originals.range_count);
        assert_eq!(originals.given.len(), originals.order.len());
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
                let expected = model.range(number..).next().copied();
                let found = numbers.at_or_after(SequenceNumber(number));
                prop_assert_eq!(found.map(|found| found.0), expected);
            }
            let apart = numbers.0.iter().zip(numbers.0.iter().skip(1));
            for ((_, last), (first, _)) in apart {
                prop_assert!(last.next() < *first);
            }
        }
    }
}
