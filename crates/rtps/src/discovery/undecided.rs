//! Pairs of a writer and a reader whose types must be known before they match, by what they wait
//! for. Asks for nothing, decides nothing.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use tickwire_cdr::xtypes::TypeId;

use super::type_matching::Wanted;
use crate::wire::{Guid, GuidPrefix};

/// A writer and a reader.
pub(super) type Pair = (Guid, Guid);

/// Every pair waits for one type object of one participant.
#[derive(Debug, Default)]
pub(super) struct Undecided {
    pairs: BTreeMap<Pair, (TypeId, GuidPrefix)>,
    by_object: BTreeMap<(TypeId, GuidPrefix), BTreeSet<Pair>>,
    /// What has not been looked at yet by who asks.
    unasked: Vec<Wanted>,
}

impl Undecided {
    pub(super) fn insert(&mut self, pair: Pair, wanted: Wanted) {
        self.remove(pair);
        let Some(&missing) = wanted.types.first() else {
            return;
        };
        let object = (missing, wanted.participant);
        self.pairs.insert(pair, object);
        self.by_object.entry(object).or_default().insert(pair);
        self.unasked.push(wanted);
    }

    pub(super) fn remove(&mut self, pair: Pair) {
        let Some(object) = self.pairs.remove(&pair) else {
            return;
        };
        if let Some(pairs) = self.by_object.get_mut(&object) {
            pairs.remove(&pair);
            if pairs.is_empty() {
                self.by_object.remove(&object);
            }
        }
    }

    /// What is to be asked for, since the last call.
    pub(super) fn take_unasked(&mut self) -> Vec<Wanted> {
        core::mem::take(&mut self.unasked)
    }

    /// The pairs that wait for an object, whoever was asked for it.
    pub(super) fn waiting_for(&self, id: TypeId) -> impl Iterator<Item = Pair> {
        let (first, last) = (GuidPrefix([0; 12]), GuidPrefix([0xff; 12]));
        let range = self.by_object.range((id, first)..=(id, last));
        range.flat_map(|(_, pairs)| pairs.iter().copied())
    }

    /// The pairs that wait for an object of one participant.
    pub(super) fn waiting_for_answer(
        &self,
        participant: GuidPrefix,
        id: TypeId,
    ) -> impl Iterator<Item = Pair> {
        let pairs = self.by_object.get(&(id, participant));
        pairs.into_iter().flatten().copied()
    }

    /// The readers with which a writer waits.
    pub(super) fn readers_of(&self, writer: Guid) -> impl Iterator<Item = Guid> {
        let (first, last) = (Guid::from_bytes([0; 16]), Guid::from_bytes([0xff; 16]));
        let pairs = self.pairs.range((writer, first)..=(writer, last));
        pairs.map(|(&(_, reader), _)| reader)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }
}
