//! Coherent sets that span the writers of a publisher (PRESENTATION with coherent access and GROUP
//! scope; DDS 1.4 §2.2.3.6, RTPS 2.5 §8.7.6): which of them are whole in all readers of a
//! subscriber. Knows neither the changes nor where they are kept, only what ended when.
//!
//! Every writer of a publisher tells of the end of every set, whether it had a part in it or not. A
//! set is whole when each of them has, and no part lacks a change.

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
    members: BTreeMap<Member, Progress>,
    publishers: BTreeMap<Guid, Pending>,
}

/// How far a member has got.
#[derive(Debug)]
struct Progress {
    publisher: Guid,
    /// The writer's next change, if none is missing.
    next: SequenceNumber,
    /// All that the writer has to say up to this number of the publisher has come.
    settled: SequenceNumber,
    /// Between which numbers of the publisher changes of the writer are missing.
    holes: Vec<(SequenceNumber, SequenceNumber)>,
}

/// The sets of a publisher that are not decided yet, by number.
#[derive(Debug, Default)]
struct Pending {
    sets: BTreeMap<SequenceNumber, PendingSet>,
    change_count: usize,
    /// The last set that was decided.
    decided: SequenceNumber,
}

#[derive(Debug)]
struct PendingSet {
    /// The publisher's number for its end.
    end: SequenceNumber,
    change_count: usize,
    is_broken: bool,
}

impl GroupSets {
    /// A reader is matched with a writer of `publisher`. Nothing changes if it was already.
    pub fn matched(&mut self, member: Member, publisher: Guid) {
        self.members.entry(member).or_insert(Progress {
            publisher,
            next: SequenceNumber::FIRST,
            settled: SequenceNumber::ZERO,
            holes: Vec::new(),
        });
        self.publishers.entry(publisher).or_default();
    }

    /// A writer is gone. Sets of which it had not told the end will never be whole.
    pub fn unmatched(&mut self, member: Member) {
        let Some(progress) = self.members.remove(&member) else {
            return;
        };
        let publisher = progress.publisher;
        let is_last = !self.members.values().any(|one| one.publisher == publisher);
        let Some(pending) = self.publishers.get_mut(&publisher) else {
            return;
        };
        for set in pending.sets.values_mut() {
            set.is_broken |= progress.settled < set.end;
        }
        if is_last && pending.sets.is_empty() {
            self.publishers.remove(&publisher);
        }
    }

    /// Whose writer a member is matched with.
    pub fn publisher_of(&self, member: Member) -> Option<Guid> {
        self.members.get(&member).map(|progress| progress.publisher)
    }

    /// A set has ended in a member, whose part has `change_count` changes. False if the set was
    /// decided before: then the part is to be discarded.
    #[must_use]
    pub fn ended(&mut self, member: Member, end: &SetEnd, change_count: usize) -> bool {
        let Some(progress) = self.members.get_mut(&member) else {
            return false;
        };
        let set = end.group.coherent_set;
        let settled = end.group.number.max(set);
        // What an empty part lacks before its end may have been changes of the set.
        let covered = match end.part {
            SetPart::Empty => settled.next(),
            SetPart::Delivered | SetPart::Discarded => set,
        };
        progress.advance(end.first, end.last, covered, settled);
        let Some(pending) = self.publishers.get_mut(&progress.publisher) else {
            return false;
        };
        if set < SequenceNumber::FIRST {
            return true;
        }
        if set <= pending.decided {
            return false;
        }
        let pending_set = pending.sets.entry(set).or_insert(PendingSet {
            end: settled,
            change_count: 0,
            is_broken: false,
        });
        pending_set.end = pending_set.end.max(settled);
        pending_set.change_count += change_count;
        pending_set.is_broken |= end.part == SetPart::Discarded;
        pending.change_count += change_count;
        pending.bound();
        true
    }

    /// A change that is in no set has come, with its number in the writer and in the publisher.
    pub fn passed(&mut self, member: Member, number: SequenceNumber, group_number: SequenceNumber) {
        if let Some(progress) = self.members.get_mut(&member) {
            progress.advance(number, number, group_number, group_number);
        }
    }

    /// The next decision that can be taken. It comes again until it is [done](Self::done).
    pub fn poll(&self) -> Option<Decision> {
        self.publishers.iter().find_map(|(&publisher, pending)| {
            let (&set, state) = pending.sets.first_key_value()?;
            let members = || {
                let members = self.members.values();
                members.filter(|member| member.publisher == publisher)
            };
            let is_whole =
                !state.is_broken && !members().any(|member| member.lacks(set, state.end));
            let is_over = !is_whole || members().all(|member| member.settled >= state.end);
            is_over.then_some(Decision {
                publisher,
                set,
                is_whole,
            })
        })
    }

    /// A decision has been carried out.
    pub fn done(&mut self, decision: &Decision) {
        let Some(pending) = self.publishers.get_mut(&decision.publisher) else {
            return;
        };
        if let Some(set) = pending.sets.remove(&decision.set) {
            pending.change_count -= set.change_count;
        }
        pending.decided = pending.decided.max(decision.set);
        let publisher = decision.publisher;
        let is_over = pending.sets.is_empty();
        if is_over && !self.members.values().any(|one| one.publisher == publisher) {
            self.publishers.remove(&publisher);
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

impl Pending {
    /// Gives up the oldest sets where too much waits.
    fn bound(&mut self) {
        let mut excess = self.sets.len().saturating_sub(MAX_SETS);
        let mut changes = self.change_count;
        for set in self.sets.values_mut() {
            if excess == 0 && changes <= MAX_CHANGES {
                break;
            }
            set.is_broken = true;
            excess = excess.saturating_sub(1);
            changes -= set.change_count;
        }
    }
}

/// Sets of a publisher that may wait for their end in some writer.
const MAX_SETS: usize = 1024;
/// Changes of those.
const MAX_CHANGES: usize = 1 << 20;
/// Older holes are taken as one.
const MAX_HOLES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::GroupPlace;
    use crate::wire::{EntityId, GuidPrefix};

    const PUBLISHER: Guid = Guid::new(GuidPrefix([9; 12]), EntityId::PARTICIPANT);

    fn member(number: u32) -> Member {
        let guid = |entity| Guid::new(GuidPrefix([1; 12]), entity);
        Member {
            reader: guid(EntityId::user_reader(number, true)),
            writer: guid(EntityId::user_writer(number, true)),
        }
    }

    fn sets(members: u32) -> GroupSets {
        let mut sets = GroupSets::default();
        for number in 1..=members {
            sets.matched(member(number), PUBLISHER);
        }
        sets
    }

    /// The end of set `set..end` in numbers `first` to `last` of the writer.
    fn end(set: i64, end: i64, first: i64, last: i64, part: SetPart) -> SetEnd {
        SetEnd {
            group: GroupPlace {
                number: SequenceNumber(end),
                coherent_set: SequenceNumber(set),
            },
            first: SequenceNumber(first),
            last: SequenceNumber(last),
            part,
        }
    }

    fn decisions(sets: &mut GroupSets) -> Vec<(i64, bool)> {
        let mut decisions = Vec::new();
        while let Some(decision) = sets.poll() {
            sets.done(&decision);
            decisions.push((decision.set.0, decision.is_whole));
        }
        decisions
    }

    #[test]
    fn a_set_is_whole_when_it_has_ended_in_every_writer() {
        let mut sets = sets(2);
        assert!(sets.ended(member(1), &end(1, 3, 1, 3, SetPart::Delivered), 2));
        assert_eq!(decisions(&mut sets), []);
        assert!(sets.ended(member(2), &end(1, 3, 1, 1, SetPart::Empty), 0));
        assert_eq!(decisions(&mut sets), [(1, true)]);
    }

    #[test]
    fn one_broken_part_breaks_the_set_and_what_comes_later_of_it() {
        let mut sets = sets(2);
        assert!(sets.ended(member(1), &end(1, 5, 1, 3, SetPart::Discarded), 0));
        assert_eq!(decisions(&mut sets), [(1, false)]);
        assert!(!sets.ended(member(2), &end(1, 5, 1, 3, SetPart::Delivered), 2));
        assert_eq!(decisions(&mut sets), []);
    }

    #[test]
    fn sets_are_decided_in_order() {
        let mut sets = sets(2);
        assert!(sets.ended(member(1), &end(1, 2, 1, 2, SetPart::Delivered), 1));
        assert!(sets.ended(member(1), &end(3, 4, 3, 4, SetPart::Delivered), 1));
        assert!(sets.ended(member(2), &end(1, 2, 1, 1, SetPart::Empty), 0));
        assert_eq!(decisions(&mut sets), [(1, true)]);
        assert!(sets.ended(member(2), &end(3, 4, 2, 2, SetPart::Empty), 0));
        assert_eq!(decisions(&mut sets), [(3, true)]);
    }

    #[test]
    fn a_set_that_ended_before_a_writer_was_heard_is_not_whole() {
        let mut sets = sets(2);
        assert!(sets.ended(member(1), &end(1, 3, 1, 3, SetPart::Delivered), 2));
        // Its first nine changes are unknown, and may have been of the set.
        assert!(sets.ended(member(2), &end(1, 3, 10, 10, SetPart::Empty), 0));
        assert_eq!(decisions(&mut sets), [(1, false)]);
        assert!(sets.ended(member(1), &end(4, 6, 4, 6, SetPart::Delivered), 2));
        assert!(sets.ended(member(2), &end(4, 6, 11, 11, SetPart::Empty), 0));
        assert_eq!(decisions(&mut sets), [(4, true)]);
    }

    #[test]
    fn a_hole_in_a_writer_breaks_the_sets_around_it_alone() {
        let mut sets = sets(2);
        for set in [1, 3, 5, 7] {
            let part = end(set, set + 1, set, set + 1, SetPart::Delivered);
            assert!(sets.ended(member(1), &part, 1));
        }
        assert!(sets.ended(member(2), &end(1, 2, 1, 2, SetPart::Delivered), 1));
        assert!(sets.ended(member(2), &end(7, 8, 9, 10, SetPart::Delivered), 1));
        let expected = [(1, true), (3, false), (5, false), (7, true)];
        assert_eq!(decisions(&mut sets), expected);
    }

    #[test]
    fn changes_outside_sets_show_how_far_a_writer_has_got() {
        let mut sets = sets(2);
        assert!(sets.ended(member(1), &end(1, 2, 1, 2, SetPart::Delivered), 1));
        sets.passed(member(2), SequenceNumber::FIRST, SequenceNumber(3));
        assert_eq!(decisions(&mut sets), [(1, true)]);
    }

    #[test]
    fn a_writer_that_leaves_breaks_the_sets_that_it_has_not_ended() {
        let mut sets = sets(2);
        assert!(sets.ended(member(2), &end(1, 2, 1, 1, SetPart::Empty), 0));
        assert!(sets.ended(member(1), &end(1, 2, 1, 2, SetPart::Delivered), 1));
        assert!(sets.ended(member(1), &end(3, 4, 3, 4, SetPart::Delivered), 1));
        sets.unmatched(member(2));
        assert_eq!(decisions(&mut sets), [(1, true), (3, false)]);
        sets.unmatched(member(1));
        assert!(sets.publishers.is_empty());
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut sets = sets(2);
        for set in 1..=5000 {
            let _ = sets.ended(
                member(1),
                &end(2 * set, 2 * set + 1, set, set, SetPart::Delivered),
                1,
            );
            decisions(&mut sets);
        }
        let pending = &sets.publishers[&PUBLISHER];
        assert_eq!(
            (pending.sets.len(), pending.change_count),
            (MAX_SETS, MAX_SETS)
        );
        for hole in 1..=1000 {
            sets.passed(
                member(2),
                SequenceNumber(2 * hole),
                SequenceNumber(10 * hole),
            );
        }
        assert_eq!(sets.members[&member(2)].holes.len(), MAX_HOLES);
    }
}
