//! What a reader keeps of the coherent sets of a publisher (PRESENTATION with coherent access and
//! GROUP scope; DDS 1.4 §2.2.3.6) until its subscriber says that all readers have their parts. Knows
//! no other reader.
//!
//! A writer's changes in no set wait behind its parts, so that each writer's stay in order. What
//! waits counts against the RESOURCE_LIMITS: what finds no room is refused, hence stays with its
//! writer. One part of each writer is always taken, as others may wait for it.

use std::collections::VecDeque;

use hashbrown::HashMap;
use tickwire_rtps::reader::{Decision, Delivery, GroupSets, Member, SetEnd, SetPart};
use tickwire_rtps::wire::{Guid, SequenceNumber};

use super::SampleRejectedReason;
use super::inbox::{Inbox, Staged};
use super::room::Room;
use crate::clock;
use crate::status::StatusMask;
use crate::type_support::TopicSupport;

/// What waits, and what is to be told.
pub(super) struct GroupInbox<T> {
    /// By writer and publisher, in the order of the writer's changes; none is empty.
    queues: HashMap<(Guid, Guid), VecDeque<Part<T>>>,
    /// Changes in those.
    waiting: usize,
    /// What the subscriber has not been told yet.
    events: Vec<GroupEvent>,
    /// By publisher, the set that waits for room.
    blocked: HashMap<Guid, Blocked>,
    /// Scratch for the changes of a set.
    shown: Vec<Staged<T>>,
}

/// A set that found no room.
struct Blocked {
    set: SequenceNumber,
    reason: SampleRejectedReason,
    /// It finds none before so much is [gone](Cache::gone).
    until: u64,
}

/// A writer's part in a set of its publisher, or changes in no set that came after one.
struct Part<T> {
    /// [`SequenceNumber::ZERO`] for changes in no set.
    set: SequenceNumber,
    staged: VecDeque<Staged<T>>,
}

/// What a reader tells its subscriber.
#[derive(Clone, Copy, Debug)]
enum GroupEvent {
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
            queues: HashMap::new(),
            waiting: 0,
            events: Vec::new(),
            blocked: HashMap::new(),
            shown: Vec::new(),
        }
    }
}

impl<T: TopicSupport> Inbox<T> {
    /// Keeps a writer's part in a set. What would find no room in an empty cache is discarded.
    pub(super) fn keep_part(
        &mut self,
        writer: Guid,
        set: SequenceNumber,
        staged: &mut Vec<Staged<T>>,
    ) -> Delivery {
        let arrivals = staged.iter().map(|staged| &staged.arrival);
        if let Room::Never(reason) = self.cache.room_for(arrivals) {
            self.statuses.reject(reason, None);
            self.news |= StatusMask::SAMPLE_REJECTED;
            self.discarded(writer, staged.len());
            return Delivery::Accepted;
        }
        let (key, room) = (self.queue_of(writer), self.room_to_wait());
        let Some(group) = &mut self.group else {
            return Delivery::Accepted;
        };
        if group.queues.contains_key(&key) && staged.len() > room {
            self.statuses.reject(SampleRejectedReason::Samples, None);
            return self.full();
        }
        group.waiting += staged.len();
        let staged = staged.drain(..).collect();
        let queue = group.queues.entry(key).or_default();
        queue.push_back(Part { set, staged });
        Delivery::Accepted
    }

    /// Takes a change that is in no set, behind the parts of its writer that wait.
    pub(super) fn insert_in_turn(&mut self, staged: Staged<T>) -> Delivery {
        let (key, room) = (self.queue_of(staged.arrival.writer), self.room_to_wait());
        let group = self.group.as_mut();
        let Some(group) = group.filter(|group| group.queues.contains_key(&key)) else {
            return self.insert(staged);
        };
        if room == 0 {
            self.statuses.reject(SampleRejectedReason::Samples, None);
            self.recycle(std::iter::once(staged));
            return self.full();
        }
        group.waiting += 1;
        let queue = group.queues.entry(key).or_default();
        match queue.back_mut() {
            Some(part) if part.set == SequenceNumber::ZERO => part.staged.push_back(staged),
            _ => queue.push_back(Part {
                set: SequenceNumber::ZERO,
                staged: VecDeque::from([staged]),
            }),
        }
        Delivery::Accepted
    }

    fn queue_of(&self, writer: Guid) -> (Guid, Guid) {
        (writer, self.cache.publisher_of(writer))
    }

    /// Changes that may wait besides those that do.
    fn room_to_wait(&self) -> usize {
        let waiting = self.group.as_ref().map_or(0, |group| group.waiting);
        let held = self.cache.len() + waiting;
        let limit = self.cache.policy.max_samples.min(MAX_WAITING);
        limit.saturating_sub(held)
    }

    /// A set of a publisher has begun in a writer.
    pub(super) fn part_begun(&mut self, writer: Guid, set: SequenceNumber) {
        self.note(GroupEvent::Begun(writer, set));
    }

    /// A set of a publisher has ended in a writer.
    pub(super) fn part_ended(&mut self, writer: Guid, mut end: SetEnd) {
        let key = self.queue_of(writer);
        let Some(group) = &self.group else {
            return;
        };
        let last = group.queues.get(&key).and_then(VecDeque::back);
        let kept = last.filter(|part| part.set == end.group.coherent_set);
        if kept.is_none() && end.part == SetPart::Delivered {
            // It could not be decoded, or has no room.
            end.part = SetPart::Discarded;
        }
        let count = kept.map_or(0, |part| part.staged.len());
        self.note(GroupEvent::Ended(writer, end, count));
    }

    /// A change in no set has been taken, whatever became of it.
    pub(super) fn passed(&mut self, writer: Guid, number: SequenceNumber, group: SequenceNumber) {
        if group >= SequenceNumber::FIRST {
            self.note(GroupEvent::Passed(writer, number, group));
        }
    }

    fn note(&mut self, event: GroupEvent) {
        if let Some(group) = &mut self.group {
            group.events.push(event);
        }
    }

    /// Tells the subscriber what has come to `reader`.
    pub(super) fn tell(&mut self, reader: Guid, sets: &mut GroupSets) {
        let Some(group) = &mut self.group else {
            return;
        };
        let now = clock::now();
        for event in group.events.drain(..) {
            match event {
                GroupEvent::Begun(writer, set) => sets.begun(Member { reader, writer }, set),
                GroupEvent::Passed(writer, number, group_number) => {
                    sets.passed(Member { reader, writer }, number, group_number);
                }
                GroupEvent::Ended(writer, end, count) => {
                    sets.ended(now, Member { reader, writer }, &end, count);
                }
            }
        }
    }

    /// Whether the parts of a set can be shown now; those that never can are taken for discarded.
    pub(super) fn room_for_set(&mut self, publisher: Guid, set: SequenceNumber) -> Room {
        self.reveal_waiting();
        let Some(group) = &mut self.group else {
            return Room::Enough;
        };
        // Lest a long set is looked through for each sample that is taken meanwhile.
        let known = group.blocked.get(&publisher);
        if let Some(blocked) = known.filter(|known| known.set == set)
            && let Some(excess) = blocked.until.checked_sub(self.cache.gone)
            && excess > 0
        {
            return Room::NotYet(
                blocked.reason,
                usize::try_from(excess).unwrap_or(usize::MAX),
            );
        }
        let mut arrivals = Vec::new();
        for (&(_, of), queue) in &group.queues {
            match queue.front().filter(|_| of == publisher) {
                Some(part) if part.set == SequenceNumber::ZERO => {
                    return Room::NotYet(SampleRejectedReason::Samples, 1);
                }
                Some(part) if part.set == set => {
                    arrivals.extend(part.staged.iter().map(|staged| &staged.arrival));
                }
                _ => {}
            }
        }
        let room = self.cache.room_for(arrivals.into_iter());
        if let Room::NotYet(reason, excess) = room {
            let until = self.cache.gone + excess as u64;
            let blocked = Blocked { set, reason, until };
            group.blocked.insert(publisher, blocked);
        }
        room
    }

    /// Shows or discards the parts of a set, and shows what has waited behind them.
    pub(super) fn decide(&mut self, decision: &Decision) {
        let Decision {
            publisher,
            set,
            judgement,
        } = *decision;
        let Some(mut group) = self.group.take() else {
            return;
        };
        group.blocked.remove(&publisher);
        let mut shown = std::mem::take(&mut group.shown);
        for (&(writer, of), queue) in &mut group.queues {
            // Before it there can only be changes in no set.
            let mut first = queue.iter().take(2);
            let at = first.position(|part| of == publisher && part.set == set);
            let Some(part) = at.and_then(|at| queue.remove(at)) else {
                continue;
            };
            group.waiting -= part.staged.len();
            self.counters.parts_guessed += u64::from(judgement.is_guess);
            match judgement.is_whole {
                true => shown.extend(part.staged),
                false => {
                    self.discarded(writer, part.staged.len());
                    self.recycle(part.staged.into_iter());
                }
            }
        }
        // Several writers of the topic may have had a part.
        shown.sort_by_key(|staged| staged.arrival.group_number);
        for staged in shown.drain(..) {
            self.reveal(staged);
        }
        group.shown = shown;
        self.group = Some(group);
        self.reveal_waiting();
    }

    /// Shows what waits behind no set any more, as far as there is room. A writer that has left
    /// meanwhile leaves its instances once nothing of it waits.
    pub(super) fn reveal_waiting(&mut self) {
        let Some(mut group) = self.group.take() else {
            return;
        };
        let waiting = &mut group.waiting;
        group.queues.retain(|&(writer, _), queue| {
            while let Some(part) = queue.front_mut()
                && part.set == SequenceNumber::ZERO
            {
                while let Some(staged) = part.staged.pop_front() {
                    let arrival = std::iter::once(&staged.arrival);
                    if let Room::NotYet(..) = self.cache.room_for(arrival) {
                        part.staged.push_front(staged);
                        self.is_stalled = true;
                        return true;
                    }
                    *waiting -= 1;
                    self.reveal(staged);
                }
                queue.pop_front();
            }
            let waits = !queue.is_empty();
            if !waits
                && !self.cache.knows_writer(writer)
                && self.lose_writer(writer, false, self.now, self.timestamp)
            {
                self.news |= StatusMask::DATA_AVAILABLE;
            }
            waits
        });
        self.group = Some(group);
    }
}

/// Changes that wait at most where RESOURCE_LIMITS say nothing.
const MAX_WAITING: usize = 1 << 20;
