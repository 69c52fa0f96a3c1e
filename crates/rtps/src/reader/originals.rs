//! What a reader has had of writers that others speak for (RTPS 2.5 §8.7.9): a durability service, or
//! the writer that took their place, gives their changes again. Knows names and numbers alone.

use alloc::collections::VecDeque;

use hashbrown::HashMap;

use super::Reader;
use crate::change::OriginalWriter;
use crate::wire::{Guid, SequenceNumber};

/// How far each original writer has got. Its changes come in ascending order, whoever gives them.
#[derive(Debug, Default)]
pub(super) struct Originals {
    last: HashMap<Guid, SequenceNumber>,
    /// The same writers, in the order of their first change.
    order: VecDeque<Guid>,
}

impl Originals {
    pub(super) fn has(&self, original: OriginalWriter) -> bool {
        let last = self.last.get(&original.guid);
        last.is_some_and(|&last| original.sequence_number <= last)
    }

    pub(super) fn note(&mut self, original: OriginalWriter) {
        let OriginalWriter {
            guid,
            sequence_number,
        } = original;
        if let Some(last) = self.last.get_mut(&guid) {
            *last = sequence_number.max(*last);
            return;
        }
        if self.order.len() >= MAX_ORIGINALS
            && let Some(oldest) = self.order.pop_front()
        {
            self.last.remove(&oldest);
        }
        self.order.push_back(guid);
        self.last.insert(guid, sequence_number);
    }
}

impl Reader {
    /// Whether a writer's change has come before, from its original writer or from another that gave
    /// it.
    pub(super) fn is_known(
        &self,
        index: usize,
        number: SequenceNumber,
        original: Option<OriginalWriter>,
    ) -> bool {
        let Some(original) = original else {
            return number <= self.writers[index].relayed;
        };
        let from_itself = || {
            let writer = self.writers.get(self.find(original.guid).ok()?)?;
            let begun = writer.synchronized || writer.delivered > 0;
            let has_passed = original.sequence_number < writer.passed();
            Some(begun && has_passed || original.sequence_number <= writer.relayed)
        };
        self.originals.has(original) || from_itself().unwrap_or(false)
    }

    /// Remembers that a change has come from another than its original writer.
    pub(super) fn note_original(&mut self, original: OriginalWriter) {
        match self.find(original.guid) {
            Ok(index) => {
                let relayed = &mut self.writers[index].relayed;
                *relayed = original.sequence_number.max(*relayed);
            }
            Err(_) => self.originals.note(original),
        }
    }

    /// Remembers how far a writer got that is no longer matched.
    pub(super) fn note_end(&mut self, guid: Guid, last: SequenceNumber) {
        if self.config.originals && last >= SequenceNumber::FIRST {
            self.originals.note(OriginalWriter {
                guid,
                sequence_number: last,
            });
        }
    }
}

/// Writers that are remembered; the one first heard of makes way.
const MAX_ORIGINALS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{EntityId, GuidPrefix};

    fn original(writer: u32, number: i64) -> OriginalWriter {
        let entity = EntityId::user_writer(writer, false);
        OriginalWriter {
            guid: Guid::new(GuidPrefix::UNKNOWN, entity),
            sequence_number: SequenceNumber(number),
        }
    }

    #[test]
    fn what_is_remembered_is_bounded_and_the_oldest_makes_way() {
        let mut originals = Originals::default();
        for writer in 0..=1024 {
            originals.note(original(writer, 5));
            originals.note(original(writer, 3));
        }
        assert_eq!(originals.last.len(), MAX_ORIGINALS);
        assert!(!originals.has(original(0, 1)));
        assert!(originals.has(original(1, 5)));
        assert!(!originals.has(original(1024, 6)));
    }
}
