//! Coherent sets that span the writers of a publisher (PRESENTATION with coherent access and GROUP
//! scope; DDS 1.4 §2.2.3.6, RTPS 2.5 §8.7.6): which of them are whole in all readers of a
//! subscriber. Knows neither the changes nor where they are kept, only what ended when.
//!
//! Every writer of a publisher tells of the end of every set, whether it had a part in it or not. A
//! set is whole when each of them has, and no part lacks a change. A reader that is matched after a
//! set was shown in the others shows its part by itself; one that was discarded stays so.
//!
//! That these are all of them shows in the digest that a set ends with, where a writer sends it: it
//! must be that of writers that discovery knows (`group_writers.rs`), or the parts must have all
//! numbers of the set. Else the set waits, as a writer may be known soon. It is discarded when a
//! later set has a digest that is known, since then a writer has left that nobody here ever heard
//! of, or after ten seconds. A publisher none of whose digests has ever been known may count them
//! otherwise than we do: its sets are taken for whole after that time, and those that follow at
//! once, but for those that end within that time of a writer's leave, as it may have had a part in
//! them.
//!
//! Whether a writer that has left unheard of had a topic that is read here nobody can tell. Of a set
//! that a late joiner gets from the history of the others it is done without: what it wrote has gone
//! with it.

use alloc::collections::BTreeMap;

use tickwire_base::Instant;

use super::config::SetEnd;
use super::publisher_sets::{Judgement, PublisherSets};
use crate::wire::{EntityId, Guid, SequenceNumber};

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
    /// What to do with it.
    pub judgement: Judgement,
}

/// The sets under way in the readers of one subscriber. Each publisher's are decided in order.
#[derive(Debug, Default)]
pub struct GroupSets {
    publishers: BTreeMap<Guid, PublisherSets>,
    publisher_of: BTreeMap<Member, Guid>,
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
        self.publishers.entry(publisher).or_default().join(member);
    }

    /// A publisher has these writers now, by what it announces; their ids ascend. None at all says
    /// that they cannot be told. To be told after readers were matched with a new writer, and before
    /// they are unmatched from one that is gone.
    pub fn has_writers(&mut self, publisher: Guid, writers: &[EntityId]) {
        if let Some(sets) = self.publishers.get_mut(&publisher) {
            sets.has_writers(writers);
        }
    }

    /// A writer is gone. Sets that had begun and of which it had not told the end will never be
    /// whole, nor will those that changes of it may be missing of.
    pub fn unmatched(&mut self, member: Member) {
        if let Some(publisher) = self.publisher_of.remove(&member) {
            self.left(member, publisher);
        }
    }

    fn left(&mut self, member: Member, publisher: Guid) {
        if let Some(sets) = self.publishers.get_mut(&publisher) {
            sets.leave(member);
        }
        self.forget_if_over(publisher);
    }

    /// A reader is gone. Sets are whole without it.
    pub fn remove_reader(&mut self, reader: Guid) {
        self.publisher_of
            .retain(|member, _| member.reader != reader);
        for sets in self.publishers.values_mut() {
            sets.remove_reader(reader);
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
            sets.begun(set);
        }
    }

    /// A set has ended in a member, whose part has `change_count` changes.
    pub fn ended(&mut self, now: Instant, member: Member, end: &SetEnd, change_count: usize) {
        if let Some(sets) = self.of(member) {
            sets.ended(now, member, end, change_count);
        }
    }

    /// A change that is in no set has come, with its number in the writer and in the publisher.
    pub fn passed(&mut self, member: Member, number: SequenceNumber, group_number: SequenceNumber) {
        if let Some(sets) = self.of(member) {
            sets.passed(member, number, group_number);
        }
    }

    fn of(&mut self, member: Member) -> Option<&mut PublisherSets> {
        let publisher = self.publisher_of.get(&member)?;
        self.publishers.get_mut(publisher)
    }

    /// The next decision on the sets of each publisher, where one can be taken. It comes again until
    /// it is [done](Self::done).
    pub fn decisions(&self, now: Instant) -> impl Iterator<Item = Decision> {
        let publishers = self.publishers.iter();
        publishers.filter_map(move |(&publisher, sets)| {
            let (set, judgement) = sets.decision(now)?;
            Some(Decision {
                publisher,
                set,
                judgement,
            })
        })
    }

    /// When there may be decisions though nothing comes.
    pub fn poll_timeout(&self, now: Instant) -> Option<Instant> {
        let sets = self.publishers.values();
        let ends = sets.filter_map(PublisherSets::poll_timeout);
        ends.filter(|&end| end > now).min()
    }

    /// A decision has been carried out. A set that was whole may have been discarded all the same.
    pub fn done(&mut self, decision: &Decision) {
        if let Some(sets) = self.publishers.get_mut(&decision.publisher) {
            sets.done(decision.set, decision.judgement);
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

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
