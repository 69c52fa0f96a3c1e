//! Coherent sets between the reader's machine and the cache (DDS 1.4 §2.2.3.6): decoded once, and
//! shown as a whole when there is room for all of it. Knows one reader; parts of a publisher's sets
//! it hands to [`GroupInbox`](super::group_inbox::GroupInbox).

use hashbrown::HashMap;
use tickwire_rtps::reader::{CoherentSet, Delivery, Sink};
use tickwire_rtps::wire::{Guid, SequenceNumber};

use super::inbox::{Inbox, Staged};
use super::room::Room;
use crate::status::StatusMask;
use crate::type_support::TopicSupport;

/// Sets on their way into the cache.
pub(super) struct Sets<T> {
    /// Sets that found no room, decoded, by their writers.
    refused: HashMap<Guid, Vec<Staged<T>>>,
    /// Scratch for the changes of a set.
    spare: Vec<Staged<T>>,
}

impl<T> Sets<T> {
    pub(super) fn new() -> Self {
        Self {
            refused: HashMap::new(),
            spare: Vec::new(),
        }
    }

    /// A writer is gone, and what it has left unfinished.
    pub(super) fn forget_writer(&mut self, writer: Guid) {
        self.refused.remove(&writer);
    }
}

impl<T: TopicSupport> Inbox<T> {
    /// Takes a whole set: shows it, or keeps it if it is only a part of one.
    pub(super) fn take_set(&mut self, set: &CoherentSet<'_>) -> Delivery {
        let Some(mut staged) = self.staged(set) else {
            // One of them is counted as not being of the topic's type.
            self.discarded(set.writer, set.len().saturating_sub(1));
            return Delivery::Accepted;
        };
        let is_part = self.group.is_some() && set.group_set >= SequenceNumber::FIRST;
        let delivery = match is_part {
            true => self.keep_part(set.writer, set.group_set, &mut staged),
            false => self.show(set.writer, &mut staged),
        };
        match delivery {
            Delivery::Full => {
                self.sets.refused.insert(set.writer, staged);
            }
            Delivery::Accepted => {
                self.recycle(staged.drain(..));
                self.sets.spare = staged;
            }
        }
        delivery
    }

    /// The changes of a set, decoded now or when it was refused; `None` if one cannot be.
    fn staged(&mut self, set: &CoherentSet<'_>) -> Option<Vec<Staged<T>>> {
        if let Some(staged) = self.sets.refused.remove(&set.writer)
            && set.was_refused
        {
            return Some(staged);
        }
        let mut staged = std::mem::take(&mut self.sets.spare);
        if self.stage_set(set, &mut staged) {
            return Some(staged);
        }
        self.recycle(staged.drain(..));
        self.sets.spare = staged;
        None
    }

    /// Decodes all changes of a set that the content filter lets pass; false if one cannot be. What
    /// is filtered makes no set incomplete.
    fn stage_set(&mut self, set: &CoherentSet<'_>, staged: &mut Vec<Staged<T>>) -> bool {
        for change in set.iter() {
            if !self.is_wanted(&change) {
                self.counters.filtered_by_content += 1;
                continue;
            }
            let Some(decoded) = self.decode(&change) else {
                self.counters.undecodable += 1;
                return false;
            };
            staged.push(self.stage(&change, decoded));
        }
        true
    }

    /// Shows all changes, or none if there is no room for all. What would find none in an empty cache
    /// is discarded.
    fn show(&mut self, writer: Guid, staged: &mut Vec<Staged<T>>) -> Delivery {
        let arrivals = staged.iter().map(|staged| &staged.arrival);
        match self.cache.room_for(arrivals) {
            Room::Enough => {
                for staged in staged.drain(..) {
                    self.reveal(staged);
                }
                Delivery::Accepted
            }
            Room::NotYet(reason, _) => {
                self.statuses.reject(reason, None);
                self.full()
            }
            Room::Never(reason) => {
                self.statuses.reject(reason, None);
                self.news |= StatusMask::SAMPLE_REJECTED;
                self.discarded(writer, staged.len());
                Delivery::Accepted
            }
        }
    }

    /// Stores a change that there is room for. What finds none all the same is lost, as it has been
    /// acknowledged.
    pub(super) fn reveal(&mut self, mut staged: Staged<T>) {
        let writer = staged.arrival.writer;
        if !staged.arrival.kind.is_alive() {
            // READER_DATA_LIFECYCLE counts from here on.
            staged.arrival.received_at = self.now;
        }
        if self.insert(staged) == Delivery::Full {
            self.discarded(writer, 1);
        }
    }

    /// Changes of a set have come that will never be shown.
    pub(super) fn discarded(&mut self, writer: Guid, count: usize) {
        self.counters.discarded_with_set += count as u64;
        self.lost(writer, count as u64);
    }

    pub(super) fn recycle(&mut self, staged: impl Iterator<Item = Staged<T>>) {
        for value in staged.filter_map(|staged| staged.value) {
            self.cache.recycle(value);
        }
    }
}
