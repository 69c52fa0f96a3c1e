//! Coherent sets between the reader's machine and the cache (DDS 1.4 §2.2.3.6): shown as a whole,
//! and with GROUP scope not before the subscriber says that the other readers have their parts.
//! Knows no other reader.

use std::collections::VecDeque;

use tickwire_rtps::reader::{CoherentSet, Delivery, SetEnd, SetPart, Sink};
use tickwire_rtps::wire::{Guid, SequenceNumber};

use super::inbox::{Inbox, Staged};
use super::room::Room;
use crate::status::StatusMask;
use crate::type_support::TopicSupport;

/// What a reader keeps until its subscriber has decided, in the order of arrival.
pub(super) struct GroupInbox<T> {
    parts: VecDeque<Part<T>>,
    /// What the subscriber has not been told yet.
    events: Vec<GroupEvent>,
}

/// A writer's part in a set of its publisher, or changes in no set that came after one.
struct Part<T> {
    writer: Guid,
    publisher: Guid,
    /// [`SequenceNumber::ZERO`] for changes in no set.
    set: SequenceNumber,
    staged: Vec<Staged<T>>,
}

/// What a reader tells its subscriber.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GroupEvent {
    /// A set began in a writer.
    Begun(Guid, SequenceNumber),
    /// A set ended in a writer whose part has so many changes.
    Ended(Guid, SetEnd, usize),
    /// A change in no set: its writer, its number there and in the publisher.
    Passed(Guid, SequenceNumber, SequenceNumber),
}

impl<T> Default for GroupInbox<T> {
    fn default() -> Self {
        Self {
            parts: VecDeque::new(),
            events: Vec::new(),
        }
    }
}

impl<T: TopicSupport> Inbox<T> {
    /// Takes a whole set: shows it, or keeps it if it is only a part of one.
    pub(super) fn take_set(&mut self, set: &CoherentSet<'_>) -> Delivery {
        let mut staged = std::mem::take(&mut self.staged);
        let delivery = match self.stage_set(set, &mut staged) {
            false => {
                self.lost(set.writer, set.len() as u64);
                Delivery::Accepted
            }
            true => match &mut self.group {
                Some(group) if set.group_set >= SequenceNumber::FIRST => {
                    group.parts.push_back(Part {
                        writer: set.writer,
                        publisher: self.cache.publisher_of(set.writer),
                        set: set.group_set,
                        staged: std::mem::take(&mut staged),
                    });
                    Delivery::Accepted
                }
                _ => self.show(set.writer, &mut staged),
            },
        };
        self.discard(&mut staged);
        self.staged = staged;
        delivery
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
                    // There is room, and what is filtered is accepted.
                    let _ = self.insert(staged);
                }
                Delivery::Accepted
            }
            Room::NotYet(reason) => {
                self.statuses.reject(reason, None);
                self.full()
            }
            Room::Never(reason) => {
                self.statuses.reject(reason, None);
                self.news |= StatusMask::SAMPLE_REJECTED;
                self.lost(writer, staged.len() as u64);
                Delivery::Accepted
            }
        }
    }

    /// A set of a publisher has begun in a writer.
    pub(super) fn part_begun(&mut self, writer: Guid, set: SequenceNumber) {
        if let Some(group) = &mut self.group {
            group.events.push(GroupEvent::Begun(writer, set));
        }
    }

    /// A set of a publisher has ended in a writer.
    pub(super) fn part_ended(&mut self, writer: Guid, mut end: SetEnd) {
        let Some(group) = &mut self.group else {
            return;
        };
        let set = end.group.coherent_set;
        let mut parts = group.parts.iter().rev();
        let kept = parts.find(|part| part.writer == writer && part.set == set);
        if kept.is_none() && end.part == SetPart::Delivered {
            // It could not be decoded.
            end.part = SetPart::Discarded;
        }
        let count = kept.map_or(0, |part| part.staged.len());
        group.events.push(GroupEvent::Ended(writer, end, count));
    }

    /// Takes a change that is in no set, behind the parts of its writer that wait.
    pub(super) fn insert_in_turn(&mut self, staged: Staged<T>) -> Delivery {
        let Some(group) = &mut self.group else {
            return self.insert(staged);
        };
        let arrival = staged.arrival;
        if !group.parts.iter().any(|part| part.writer == arrival.writer) {
            return self.insert(staged);
        }
        group.parts.push_back(Part {
            writer: arrival.writer,
            publisher: arrival.publisher,
            set: SequenceNumber::ZERO,
            staged: vec![staged],
        });
        Delivery::Accepted
    }

    /// A change in no set has been taken, whatever became of it.
    pub(super) fn passed(&mut self, writer: Guid, number: SequenceNumber, group: SequenceNumber) {
        if let Some(inbox) = &mut self.group
            && group >= SequenceNumber::FIRST
        {
            inbox.events.push(GroupEvent::Passed(writer, number, group));
        }
    }

    /// What is to be told to the subscriber.
    pub(super) fn take_events(&mut self) -> Vec<GroupEvent> {
        let group = self.group.as_mut();
        group.map_or(Vec::new(), |group| std::mem::take(&mut group.events))
    }

    /// Whether the parts of a set can be shown now; those that never can are taken for discarded.
    pub(super) fn room_for_set(&mut self, publisher: Guid, set: SequenceNumber) -> Room {
        let Some(group) = &self.group else {
            return Room::Enough;
        };
        let parts = group.parts.iter();
        let parts = parts.filter(|part| part.publisher == publisher && part.set == set);
        let arrivals = parts.flat_map(|part| &part.staged);
        self.cache.room_for(arrivals.map(|staged| &staged.arrival))
    }

    /// Shows or discards the parts of a set, and shows what has waited behind them.
    pub(super) fn decide(&mut self, publisher: Guid, set: SequenceNumber, is_whole: bool) {
        let Some(group) = &mut self.group else {
            return;
        };
        let mut parts = std::mem::take(&mut group.parts);
        let mut kept = VecDeque::with_capacity(parts.len());
        for mut part in parts.drain(..) {
            let is_decided = part.publisher == publisher && part.set == set;
            let waits = kept.iter().any(|kept: &Part<T>| kept.writer == part.writer);
            match part.set {
                _ if is_decided && is_whole => self.release(part),
                _ if is_decided => {
                    self.lost(part.writer, part.staged.len() as u64);
                    self.discard(&mut part.staged);
                }
                SequenceNumber::ZERO if !waits => self.release(part),
                _ => kept.push_back(part),
            }
        }
        if let Some(group) = &mut self.group {
            group.parts = kept;
        }
    }

    /// Stores the changes of a part. If its writer has left meanwhile, it leaves them, too.
    fn release(&mut self, part: Part<T>) {
        for staged in part.staged {
            // There was room when the decision was taken; what has filled it since is counted.
            let _ = self.insert(staged);
        }
        if !self.cache.knows_writer(part.writer) {
            self.cache.silence_writer(part.writer, self.timestamp);
        }
    }

    fn discard(&mut self, staged: &mut Vec<Staged<T>>) {
        for value in staged.drain(..).filter_map(|staged| staged.value) {
            self.cache.recycle(value);
        }
    }
}
