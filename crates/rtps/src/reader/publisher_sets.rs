//! The coherent sets of one publisher in the readers of one subscriber, and which of them are whole.
//! Knows no other publisher.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use tickwire_base::{Duration, Instant};

use super::config::{SetEnd, SetPart};
use super::group::Member;
use super::group_writers::GroupWriters;
use crate::wire::{EntityId, GroupDigest, Guid, SequenceNumber};

/// The members that a publisher has here, and its sets that are not decided yet.
#[derive(Debug, Default)]
pub(super) struct PublisherSets {
    members: BTreeMap<Member, Progress>,
    pending: BTreeMap<SequenceNumber, PendingSet>,
    /// Of all pending sets.
    change_count: usize,
    /// The highest number that anything has been heard of.
    heard: SequenceNumber,
    /// After which numbers up to which no set is whole, ascending and apart: sets that were
    /// discarded, and what had not come of a writer when it left.
    lost: Vec<(SequenceNumber, SequenceNumber)>,
    writers: GroupWriters,
    /// The highest number of a set whose writers were known.
    known_until: SequenceNumber,
    /// Digests are of no use: none was known when it should have been.
    is_unreadable: bool,
    /// Writers that have left.
    left: Option<Left>,
}

/// Writers that may have had a part in sets that others tell the end of.
#[derive(Clone, Copy, Debug)]
struct Left {
    /// Up to which number all of them had said everything.
    settled: SequenceNumber,
    /// When what they had a part in has long come; nothing has since they left.
    until: Option<Instant>,
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
    /// The same without those that came to a second reader.
    distinct_count: usize,
    is_broken: bool,
    /// It is older than all members that have told of its end.
    is_history: bool,
    /// As far as somebody has said.
    writers: GroupDigest,
    /// When it ended in the first member.
    since: Instant,
}

impl PublisherSets {
    /// No member will say anything more, and nothing waits.
    pub(super) fn is_over(&self) -> bool {
        self.members.is_empty() && self.pending.is_empty()
    }

    /// A member more; a part of it in sets that were shown before is shown by itself.
    pub(super) fn join(&mut self, member: Member) {
        let progress = Progress {
            next: SequenceNumber::FIRST,
            settled: SequenceNumber::ZERO,
            holes: Vec::new(),
        };
        self.members.insert(member, progress);
        self.writers.matched(member.writer.entity);
    }

    /// A member less, whose writer will say nothing more.
    pub(super) fn leave(&mut self, member: Member) {
        if let Some(progress) = self.members.remove(&member) {
            let settled = progress.settled;
            self.writers.unmatched(member.writer.entity, settled);
            let before = self.left.map_or(settled, |left| left.settled);
            self.left = Some(Left {
                settled: before.min(settled),
                until: None,
            });
            // What is missing will not come any more.
            for &(before, after) in &progress.holes {
                self.break_sets(before, after.previous());
            }
            self.break_sets(settled, self.heard);
        }
    }

    /// A reader is gone. Sets are whole without it.
    pub(super) fn remove_reader(&mut self, reader: Guid) {
        self.members.retain(|member, _| member.reader != reader);
    }

    /// A set has begun in a member.
    pub(super) fn begun(&mut self, set: SequenceNumber) {
        self.heard = self.heard.max(set);
    }

    /// A change that is in no set has come to a member.
    pub(super) fn passed(
        &mut self,
        member: Member,
        number: SequenceNumber,
        group_number: SequenceNumber,
    ) {
        if let Some(progress) = self.members.get_mut(&member) {
            progress.advance(number, number, group_number, group_number);
            self.heard = self.heard.max(group_number);
        }
    }

    /// A set has ended in a member, whose part has `change_count` changes.
    pub(super) fn ended(
        &mut self,
        now: Instant,
        member: Member,
        end: &SetEnd,
        change_count: usize,
    ) {
        let set = end.group.coherent_set;
        let settled = end.group.number.max(set);
        let mut others = self.members.iter();
        let is_second = others.any(|(other, progress)| {
            other.writer == member.writer
                && other.reader != member.reader
                && progress.settled >= settled
        });
        let Some(progress) = self.members.get_mut(&member) else {
            return;
        };
        // Whoever is silent on a set may have had changes of it among those that are missing.
        let covered = match end.part {
            SetPart::Unheard => settled.next(),
            SetPart::Empty | SetPart::Delivered | SetPart::Discarded => set,
        };
        progress.advance(end.first, end.last, covered, settled);
        self.heard = self.heard.max(settled);
        if let Some(left) = &mut self.left {
            left.until.get_or_insert(now + PATIENCE);
        }
        if set < SequenceNumber::FIRST {
            return;
        }
        let pending = self.pending.entry(set).or_insert(PendingSet {
            end: settled,
            change_count: 0,
            distinct_count: 0,
            is_broken: false,
            is_history: true,
            writers: GroupDigest::NONE,
            since: now,
        });
        pending.end = pending.end.max(settled);
        pending.is_history &= end.is_history;
        pending.change_count += change_count;
        pending.distinct_count += if is_second { 0 } else { change_count };
        if end.group.writers != GroupDigest::NONE {
            pending.writers = end.group.writers;
            if self.writers.knows(pending.writers) {
                self.known_until = self.known_until.max(pending.end);
            }
        }
        let has_lost = |&(from, to): &_| set <= to && from < pending.end;
        pending.is_broken |= end.part == SetPart::Discarded || self.lost.iter().any(has_lost);
        self.change_count += change_count;
        self.bound();
    }

    /// The first set, if it can be decided, and whether it is whole.
    pub(super) fn decision(&self, now: Instant) -> Option<(SequenceNumber, Judgement)> {
        let (&set, state) = self.pending.first_key_value()?;
        let mut members = self.members.values();
        if state.is_broken || members.any(|member| member.lacks(set, state.end)) {
            return Some((set, Judgement::certain(false)));
        }
        let mut members = self.members.values();
        if members.any(|member| member.settled < state.end) {
            return None;
        }
        Some((set, self.judge_writers(now, set, state)?))
    }

    /// Whether all writers have been heard that had to do with a set, now that all members have told
    /// of its end; nothing as long as that may show.
    fn judge_writers(
        &self,
        now: Instant,
        set: SequenceNumber,
        state: &PendingSet,
    ) -> Option<Judgement> {
        let numbers = state.end.0.checked_sub(set.0).map(usize::try_from);
        let has_all_numbers = numbers == Some(Ok(state.distinct_count));
        if state.writers == GroupDigest::NONE || has_all_numbers {
            return Some(Judgement::certain(true));
        }
        if let Some(is_whole) = self.writers.had_said_all(state.writers, state.end) {
            return Some(Judgement::certain(is_whole));
        }
        let is_superseded = self.known_until > state.end;
        if is_superseded && !state.is_history {
            return Some(Judgement::certain(false));
        }
        let is_unreadable = self.is_unreadable && self.known_until == SequenceNumber::ZERO;
        let is_over = is_superseded || is_unreadable || now >= state.since + PATIENCE;
        // Who left before we came has nothing to give any more, or no digest of this publisher was ever
        // known; nor did anybody leave who may have begun it.
        let is_whole = (state.is_history || self.known_until == SequenceNumber::ZERO)
            && !self.left.is_some_and(|left| left.may_have_part(state));
        is_over.then_some(Judgement {
            is_whole,
            is_guess: true,
        })
    }

    /// A judgement has been carried out.
    pub(super) fn done(&mut self, set: SequenceNumber, judgement: Judgement) {
        let Some(pending) = self.pending.remove(&set) else {
            return;
        };
        self.change_count -= pending.change_count;
        if !judgement.is_whole {
            self.lose(set.previous(), pending.end);
        }
        self.is_unreadable |= judgement.is_guess && judgement.is_whole;
    }

    /// The publisher has these writers now; none if that is not told.
    pub(super) fn has_writers(&mut self, writers: &[EntityId]) {
        if writers.is_empty() {
            self.writers = GroupWriters::default();
            self.known_until = SequenceNumber::ZERO;
            self.is_unreadable = true;
            return;
        }
        self.writers.set(writers);
        let pending = self.pending.values();
        let known = pending.filter(|set| self.writers.knows(set.writers));
        let newest = known.map(|set| set.end).max();
        self.known_until = self.known_until.max(newest.unwrap_or_default());
    }

    /// When the first set has waited long enough for its writers to be known.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let (_, next) = self.pending.first_key_value()?;
        (next.writers != GroupDigest::NONE).then_some(next.since + PATIENCE)
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

    /// No set that has a number after `from` up to `to` is whole, nor is any that waits.
    fn break_sets(&mut self, from: SequenceNumber, to: SequenceNumber) {
        if from >= to {
            return;
        }
        for (&set, pending) in &mut self.pending {
            pending.is_broken |= set <= to && from < pending.end;
        }
        self.lose(from, to);
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

impl Left {
    fn may_have_part(self, set: &PendingSet) -> bool {
        self.settled < set.end && self.until.is_none_or(|until| set.since < until)
    }
}

/// What is thought of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Whether to show its parts; else they are to be discarded.
    pub is_whole: bool,
    /// Whether that is a guess: it could not be found out whether all writers are known that had to
    /// do with the set.
    pub is_guess: bool,
}

impl Judgement {
    pub(super) fn certain(is_whole: bool) -> Self {
        Self {
            is_whole,
            is_guess: false,
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
/// How long a set waits for discovery to tell of its writers.
const PATIENCE: Duration = Duration::from_secs(10);
/// Older holes are taken as one.
const MAX_HOLES: usize = 64;

#[cfg(test)]
#[path = "publisher_sets_tests.rs"]
mod tests;
