//! Coherent sets that span the writers of a publisher (PRESENTATION with coherent access and GROUP
//! scope; DDS 1.4 §2.2.3.6, RTPS 2.5 §8.7.6): which of them are whole in all readers of a
//! subscriber. Knows neither the changes nor where they are kept, only what ended when.
//!
//! Every writer of a publisher tells of the end of every set, whether it had a part in it or not. A
//! set is whole when each of them has, and no part lacks a change. A reader that is matched after a
//! set was shown in the others shows its part by itself; one that was discarded stays so.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::config::{SetEnd, SetPart};
use crate::wire::{Guid, SequenceNumber};

/// A reader of the subscriber and a writer that it is matched with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    /// The reader.
    pub reader: Guid,
    /// The writer.
    pub writer: Guid,
}

/// What is to be done with a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whose set.
    pub publisher: Guid,
    /// The publisher's number for it.
    pub set: SequenceNumber,
    /// Whether to show its parts; else they are to be discarded.
    pub is_whole: bool,
}

/// The sets under way in the readers of one subscriber. Each publisher's are decided in order.
#[derive(Debug, Default)]
pub struct GroupSets {
    publishers: BTreeMap<Guid, PublisherSets>,
    publisher_of: BTreeMap<Member, Guid>,
}

/// The members that a publisher has here, and its sets that are not decided yet.
#[derive(Debug, Default)]
struct PublisherSets {
    members: BTreeMap<Member, Progress>,
    pending: BTreeMap<SequenceNumber, PendingSet>,
    /// Of all pending sets.
    change_count: usize,
    /// The highest number that anything has been heard of.
    heard: SequenceNumber,
    /// After which numbers up to which no set is whole, ascending and apart: sets that were
    /// discarded, and what a writer had not said when it left.
    lost: Vec<(SequenceNumber, SequenceNumber)>,
}

/// How far a member has got.
#[derive(Debug)]
struct Progress {
    /// The writer's next change, if none is missing.
    next: SequenceNumber,
    /// All that the writer has to say up to this number of the publisher has come.
    settled: SequenceNumber,
    /// Between which numbers of the publisher changes of the writer are missing.
    holes: Vec<(SequenceNumber, SequenceNumber)>,
}

#[derive(Debug)]
struct PendingSet {
    /// The publisher's number for its end.
    end: SequenceNumber,
    change_count: usize,
    is_broken: bool,
}

impl GroupSets {
    /// A reader is matched with a writer of `publisher`. Nothing changes if it was already; a writer
    /// that had another publisher has left that one.
    pub fn matched(&mut self, member: Member, publisher: Guid) {
        match self.publisher_of.insert(member, publisher) {
            Some(before) if before == publisher => return,
            Some(before) => self.left(member, before),
            None => {}
        }
        let progress = Progress {
            next: SequenceNumber::FIRST,
            settled: SequenceNumber::ZERO,
            holes: Vec::new(),
        };
        let sets = self.publishers.entry(publisher).or_default();
        sets.members.insert(member, progress);
    }

    /// A writer is gone. Sets that had begun and of which it had not told the end will never be
    /// whole.
    pub fn unmatched(&mut self, member: Member) {
        if let Some(publisher) = self.publisher_of.remove(&member) {
            self.left(member, publisher);
        }
    }

    fn left(&mut self, member: Member, publisher: Guid) {
        if let Some(sets) = self.publishers.get_mut(&publisher)
            && let Some(progress) = sets.members.remove(&member)
        {
            sets.broken_by(progress.settled);
        }
        self.forget_if_over(publisher);
    }

    /// A reader is gone. Sets are whole without it.
    pub fn remove_reader(&mut self, reader: Guid) {
        self.publisher_of
            .retain(|member, _| member.reader != reader);
        for sets in self.publishers.values_mut() {
            sets.members.retain(|member, _| member.reader != reader);
        }
        self.publishers.retain(|_, sets| !sets.is_over());
    }

    /// Whose writer a member is matched with.
    pub fn publisher_of(&self, member: Member) -> Option<Guid> {
        self.publisher_of.get(&member).copied()
    }

    /// A set has begun in a member.
    pub fn begun(&mut self, member: Member, set: SequenceNumber) {
        if let Some(sets) = self.of(member) {
            sets.heard = sets.heard.max(set);
        }
    }

    /// A set has ended in a member, whose part has `change_count` changes.
    pub fn ended(&mut self, member: Member, end: &SetEnd, change_count: usize) {
        if let Some(sets) = self.of(member) {
            sets.ended(member, end, change_count);
        }
    }

    /// A change that is in no set has come, with its number in the writer and in the publisher.
    pub fn passed(&mut self, member: Member, number: SequenceNumber, group_number: SequenceNumber) {
        if let Some(sets) = self.of(member)
            && let Some(progress) = sets.members.get_mut(&member)
        {
            progress.advance(number, number, group_number, group_number);
            sets.heard = sets.heard.max(group_number);
        }
    }

    fn of(&mut self, member: Member) -> Option<&mut PublisherSets> {
        let publisher = self.publisher_of.get(&member)?;
        self.publishers.get_mut(publisher)
    }

    /// The next decision on the sets of each publisher, where one can be taken. It comes again until
    /// it is [done](Self::done).
    pub fn decisions(&self) -> impl Iterator<Item = Decision> {
        let publishers = self.publishers.iter();
        publishers.filter_map(|(&publisher, sets)| {
            let (set, is_whole) = sets.decision()?;
            Some(Decision {
                publisher,
                set,
                is_whole,
            })
        })
    }

    /// A decision has been carried out. A set that was whole may have been discarded all the same.
    pub fn done(&mut self, decision: &Decision) {
        if let Some(sets) = self.publishers.get_mut(&decision.publisher) {
            sets.done(decision.set, decision.is_whole);
        }
        self.forget_if_over(decision.publisher);
    }

    fn forget_if_over(&mut self, publisher: Guid) {
        if self
            .publishers
            .get(&publisher)
            .is_some_and(PublisherSets::is_over)
        {
            self.publishers.remove(&publisher);
        }
    }
}

impl PublisherSets {
    /// No member will say anything more, and nothing waits.
    fn is_over(&self) -> bool {
        self.members.is_empty() && self.pending.is_empty()
    }

    fn ended(&mut self, member: Member, end: &SetEnd, change_count: usize) {
        let Some(progress) = self.members.get_mut(&member) else {
            return;
        };
        let set = end.group.coherent_set;
        let settled = end.group.number.max(set);
        // Whoever is silent on a set may have had changes of it among those that are missing.
        let covered = match end.part {
            SetPart::Unheard => settled.next(),
            SetPart::Empty | SetPart::Delivered | SetPart::Discarded => set,
        };
        progress.advance(end.first, end.last, covered, settled);
        self.heard = self.heard.max(settled);
        if set < SequenceNumber::FIRST {
            return;
        }
        let pending = self.pending.entry(set).or_insert(PendingSet {
            end: settled,
            change_count: 0,
            is_broken: false,
        });
        pending.end = pending.end.max(settled);
        pending.change_count += change_count;
        let has_lost = |&(from, to): &_| set <= to && from < pending.end;
        pending.is_broken |= end.part == SetPart::Discarded || self.lost.iter().any(has_lost);
        self.change_count += change_count;
        self.bound();
    }

    /// The first set, if it can be decided, and whether it is whole.
    fn decision(&self) -> Option<(SequenceNumber, bool)> {
        let (&set, state) = self.pending.first_key_value()?;
        let mut members = self.members.values();
        let is_whole = !state.is_broken && !members.any(|member| member.lacks(set, state.end));
        let mut members = self.members.values();
        let is_over = !is_whole || members.all(|member| member.settled >= state.end);
        is_over.then_some((set, is_whole))
    }

    fn done(&mut self, set: SequenceNumber, is_whole: bool) {
        if let Some(pending) = self.pending.remove(&set) {
            self.change_count -= pending.change_count;
            if !is_whole {
                self.lose(set.previous(), pending.end);
            }
        }
    }

    /// No set that has a number after `from` up to `to` is whole.
    fn lose(&mut self, mut from: SequenceNumber, mut to: SequenceNumber) {
        let first = self.lost.partition_point(|&(_, end)| end < from);
        let touching = self.lost.iter().skip(first);
        let count = touching.take_while(|(start, _)| *start <= to).count();
        for (start, end) in self.lost.drain(first..first + count) {
            (from, to) = (from.min(start), to.max(end));
        }
        self.lost.insert(first, (from, to));
        if self.lost.len() > MAX_HOLES {
            // Forgets that anything in between was whole.
            let (from, _) = self.lost.remove(0);
            self.lost[0].0 = from;
        }
    }

    /// A writer that had said all up to `settled` has left.
    fn broken_by(&mut self, settled: SequenceNumber) {
        if settled >= self.heard {
            return;
        }
        for pending in self.pending.values_mut() {
            pending.is_broken |= settled < pending.end;
        }
        self.lose(settled, self.heard);
    }

    /// Gives up the oldest sets where too much waits.
    fn bound(&mut self) {
        let mut excess = self.pending.len().saturating_sub(MAX_SETS);
        let mut changes = self.change_count;
        for set in self.pending.values_mut() {
            if excess == 0 && changes <= MAX_CHANGES {
                break;
            }
            set.is_broken = true;
            excess = excess.saturating_sub(1);
            changes -= set.change_count;
        }
    }
}

impl Progress {
    /// Changes `first` to `last` of the writer have come, which say all that it has to say from
    /// `covered` up to `settled` in the publisher.
    fn advance(
        &mut self,
        first: SequenceNumber,
        last: SequenceNumber,
        covered: SequenceNumber,
        settled: SequenceNumber,
    ) {
        if first != self.next {
            if self.holes.len() >= MAX_HOLES {
                // Forgets that anything came in between.
                let (_, end) = self.holes.remove(1);
                self.holes[0].1 = end;
            }
            self.holes.push((self.settled, covered));
        }
        self.next = last.next();
        self.settled = self.settled.max(settled);
    }

    /// Whether changes of a set may be missing.
    fn lacks(&self, set: SequenceNumber, end: SequenceNumber) -> bool {
        let mut holes = self.holes.iter();
        holes.any(|&(before, after)| before < end && set < after)
    }
}

/// Sets of a publisher that may wait for their end in some writer.
const MAX_SETS: usize = 1024;
/// Changes of those.
const MAX_CHANGES: usize = 1 << 20;
/// Older holes are taken as one.
const MAX_HOLES: usize = 64;

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
