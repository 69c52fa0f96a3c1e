//! Which writers publishers have, for readers that look at the coherent sets of a whole publisher.
//! Knows no set.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::event::Event;
use super::{Discovery, EndpointData, Role};
use crate::qos::PresentationScope;
use crate::wire::{EntityId, Guid, GuidPrefix};

/// The writers of publishers that announce them, and who looks at the sets of publishers.
#[derive(Debug, Default)]
pub(super) struct Groups {
    writers: BTreeMap<Guid, BTreeSet<EntityId>>,
    /// Publishers of which not all writers are here, by participant; where they are more than
    /// `MAX_UNTOLD`, all that it has.
    untold: BTreeMap<GuidPrefix, BTreeSet<EntityId>>,
    /// Readers of ours.
    readers: BTreeSet<Guid>,
    /// A publisher, such a reader, and a writer of the one that matches the other.
    matched: BTreeSet<(Guid, Guid, EntityId)>,
    /// Publishers that readers are to be told of again.
    changed: BTreeSet<Guid>,
}

impl Groups {
    pub(super) fn insert(&mut self, data: &EndpointData, is_own: bool) {
        if let Some(group) = group_of(data) {
            let writers = self.writers.entry(group).or_default();
            writers.insert(data.guid.entity);
            self.changed.insert(group);
        }
        if is_own && looks_at_groups(data) {
            self.readers.insert(data.guid);
        }
    }

    /// An endpoint is gone, or is another one now that is yet to be [compared](Self::compared).
    pub(super) fn remove(&mut self, data: &EndpointData) {
        self.readers.remove(&data.guid);
        let Some(group) = group_of(data) else {
            return;
        };
        for &reader in &self.readers {
            self.matched.remove(&(group, reader, data.guid.entity));
        }
        if let Some(writers) = self.writers.get_mut(&group) {
            writers.remove(&data.guid.entity);
            if writers.is_empty() {
                self.writers.remove(&group);
            }
        }
        self.changed.insert(group);
    }

    /// A writer matches a reader now, or does not: it is another, gone, or undecided.
    pub(super) fn compared(&mut self, writer: &EndpointData, reader: Guid, matches: bool) {
        let Some(group) = group_of(writer) else {
            return;
        };
        let pair = (group, reader, writer.guid.entity);
        let looks = self.readers.contains(&reader);
        match matches && looks {
            true => self.matched.insert(pair),
            false => self.matched.remove(&pair),
        };
        if looks {
            self.changed.insert(group);
        }
    }

    /// A writer is there that is not taken over. Of its publisher nothing can be told any more.
    pub(super) fn leave_out(&mut self, data: &EndpointData) {
        let Some(group) = group_of(data).filter(|&group| !self.is_untold(group)) else {
            return;
        };
        let untold = self.untold.entry(group.prefix).or_default();
        untold.insert(group.entity);
        self.changed.insert(group);
        if untold.len() > MAX_UNTOLD {
            let all: Vec<_> = self.those_of(group.prefix).collect();
            self.changed.extend(all);
        }
    }

    /// The publishers of a participant.
    fn those_of(&self, prefix: GuidPrefix) -> impl Iterator<Item = Guid> {
        let all = Guid::new(prefix, FIRST)..=Guid::new(prefix, LAST);
        self.writers.range(all).map(|(group, _)| *group)
    }

    /// A participant is gone, and all its endpoints.
    pub(super) fn forget(&mut self, prefix: GuidPrefix) {
        self.untold.remove(&prefix);
    }

    /// Whether not all writers of a publisher are here, or too many to be told.
    fn is_untold(&self, group: Guid) -> bool {
        let untold = self.untold.get(&group.prefix);
        untold.is_some_and(|them| them.len() > MAX_UNTOLD || them.contains(&group.entity))
    }

    /// The writers of a publisher, ascending, unless they cannot be told.
    fn of(&self, group: Guid) -> impl Iterator<Item = Guid> {
        let writers = self.writers.get(&group);
        let told = writers.filter(|all| all.len() <= MAX_WRITERS && !self.is_untold(group));
        let told = told.into_iter().flatten();
        told.map(move |&entity| Guid::new(group.prefix, entity))
    }

    /// Those who look at a publisher and are matched with a writer of it.
    fn readers_of(&self, group: Guid) -> impl Iterator<Item = Guid> {
        self.readers.iter().copied().filter(move |&reader| {
            let writers = (group, reader, FIRST)..=(group, reader, LAST);
            self.matched.range(writers).next().is_some()
        })
    }
}

impl Discovery {
    /// Tells readers of all publishers that have changed: once for all that came together.
    pub(super) fn tell_of_groups(&mut self) {
        while let Some(group) = self.endpoints.groups_mut().changed.pop_first() {
            self.tell_of_group(group);
        }
    }

    /// Tells readers at once of the publisher that a writer had, before they are unmatched from it.
    pub(super) fn tell_of_group_without(&mut self, writer: &EndpointData) {
        if let Some(group) = group_of(writer) {
            self.endpoints.groups_mut().changed.remove(&group);
            self.tell_of_group(group);
        }
    }

    /// A participant goes: its writers are unmatched one by one, while sets of its publishers may end.
    pub(super) fn tell_no_more_of_groups(&mut self, prefix: GuidPrefix) {
        let groups = self.endpoints.groups();
        let those = groups.those_of(prefix);
        let told: Vec<_> = those
            .map(|group| (group, groups.readers_of(group).collect()))
            .collect();
        for (group, readers) in told {
            self.tell(group, readers, Arc::default());
        }
    }

    fn tell_of_group(&mut self, group: Guid) {
        let groups = self.endpoints.groups();
        let told: Vec<_> = groups.readers_of(group).collect();
        if told.is_empty() {
            return;
        }
        let undecided = self.endpoints.undecided();
        let is_decided = |&writer: &Guid| {
            let mut readers = undecided.readers_of(writer);
            !readers.any(|reader| groups.readers.contains(&reader))
        };
        let writers = groups.of(group).filter(is_decided);
        let writers = writers.map(|guid| guid.entity).collect();
        self.tell(group, told, writers);
    }

    fn tell(&mut self, group: Guid, readers: Vec<Guid>, writers: Arc<[EntityId]>) {
        for reader in readers {
            self.events.push_back(Event::GroupChanged {
                reader,
                publisher: group,
                writers: Arc::clone(&writers),
            });
        }
    }
}

/// The publisher of a writer, if its writers belong together. It is one of the same participant.
fn group_of(data: &EndpointData) -> Option<Guid> {
    let is_own = |group: &Guid| group.prefix == data.guid.prefix;
    data.group
        .filter(|group| data.role == Role::Writer && is_own(group))
}

/// Whether it is a reader that wants the sets of a whole publisher.
fn looks_at_groups(data: &EndpointData) -> bool {
    let presentation = &data.qos.presentation;
    data.role == Role::Reader
        && presentation.coherent_access
        && presentation.access_scope == PresentationScope::Group
}

/// Writers of a publisher that readers are told of; of more they are not, so that announcing one
/// does not cost as much as all of them.
const MAX_WRITERS: usize = 1024;
/// Publishers of one participant of which it is remembered one by one that not all writers are here.
const MAX_UNTOLD: usize = 64;
/// Between these all entity ids are.
const FIRST: EntityId = EntityId([0; 4]);
const LAST: EntityId = EntityId([0xff; 4]);
