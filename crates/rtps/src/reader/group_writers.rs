//! Whether all that a publisher's writers had to do with a coherent set was heard of, by the digest
//! that the set ends with (PID_WRITER_GROUP_INFO; RTPS 2.5 §8.7.6). Knows no set.
//!
//! A digest cannot be read, only compared with those of writers that are known: those that the
//! publisher has now, by what discovery says; that it had before; and, as a late joiner gets sets
//! that are older than some of the writers, those without the newest of them. What is none of these
//! is of a writer that is not known yet, or that left before anybody here heard of it.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use crate::wire::{EntityId, GroupDigest, SequenceNumber};

/// The writers of one publisher.
#[derive(Debug, Default)]
pub(super) struct GroupWriters {
    /// Those that it has, and had before; the newest last.
    known: VecDeque<Writers>,
    /// Up to which number of the publisher those had said everything that matter to nobody here any
    /// more.
    left: BTreeMap<EntityId, SequenceNumber>,
}

#[derive(Debug)]
struct Writers {
    /// Ascending.
    ids: Vec<EntityId>,
    /// That of all, of all but the last, and so on.
    digests: Vec<GroupDigest>,
}

impl GroupWriters {
    /// The publisher has these writers now; their ids ascend.
    pub(super) fn set(&mut self, ids: &[EntityId]) {
        if self.known.back().is_some_and(|writers| writers.ids == ids) {
            return;
        }
        if self.known.len() == MAX_KNOWN {
            self.known.pop_front();
        }
        let lens = (1..=ids.len()).rev().take(MAX_NEWER + 1);
        let prefixes = lens.filter_map(|len| ids.get(..len));
        self.known.push_back(Writers {
            ids: ids.to_vec(),
            digests: prefixes.map(GroupDigest::of).collect(),
        });
        let known = &self.known;
        self.left
            .retain(|id, _| known.iter().any(|writers| writers.has(*id)));
    }

    /// A writer matters here again.
    pub(super) fn matched(&mut self, id: EntityId) {
        self.left.remove(&id);
    }

    /// A writer that had said all up to `settled` matters to a reader no more.
    pub(super) fn unmatched(&mut self, id: EntityId, settled: SequenceNumber) {
        if self.known.iter().any(|writers| writers.has(id)) {
            let before = self.left.entry(id).or_insert(settled);
            *before = settled.min(*before);
        }
    }

    /// Whether the writers of a digest are known.
    pub(super) fn knows(&self, digest: GroupDigest) -> bool {
        let mut known = self.known.iter();
        known.any(|writers| writers.of(digest).is_some())
    }

    /// Whether the writers of a digest are known, and if so, whether those that are gone had said
    /// all up to `end`.
    pub(super) fn had_said_all(&self, digest: GroupDigest, end: SequenceNumber) -> Option<bool> {
        let mut known = self.known.iter().rev();
        let ids = known.find_map(|writers| writers.of(digest))?;
        let had_said = |id: &EntityId| {
            let is_there = self.known.back().is_some_and(|writers| writers.has(*id));
            is_there || self.left.get(id).is_none_or(|&settled| settled >= end)
        };
        Some(ids.iter().all(had_said))
    }
}

impl Writers {
    fn has(&self, id: EntityId) -> bool {
        self.ids.binary_search(&id).is_ok()
    }

    /// Those that have this digest.
    fn of(&self, digest: GroupDigest) -> Option<&[EntityId]> {
        let newer = self.digests.iter().position(|known| *known == digest)?;
        self.ids.get(..self.ids.len().checked_sub(newer)?)
    }
}

/// What is remembered of the writers that a publisher had.
const MAX_KNOWN: usize = 16;
/// Writers that came after a set at most for the set to be recognized.
const MAX_NEWER: usize = 32;
