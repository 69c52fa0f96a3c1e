//! Which writers publishers have, for readers that look at the coherent sets of a whole publisher.
//! Knows no set.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::event::Event;
use super::{Discovery, EndpointData, Role};
use crate::qos::{PresentationScope, Verdict};
use crate::wire::{EntityId, Guid, GuidPrefix};

/// The writers of publishers that announce them, and who looks at the sets of publishers.
#[derive(Debug, Default)]
pub(super) struct Groups {
    writers: BTreeMap<Guid, BTreeSet<EntityId>>,
    /// Publishers of which not all writers are here.
    untold: BTreeSet<Guid>,
    /// Readers of ours.
    readers: BTreeSet<Guid>,
}

impl Groups {
    pub(super) fn insert(&mut self, data: &EndpointData, is_own: bool) {
        if let Some(group) = group_of(data) {
            let writers = self.writers.entry(group).or_default();
            writers.insert(data.guid.entity);
        }
        if is_own && looks_at_groups(data) {
            self.readers.insert(data.guid);
        }
    }

    pub(super) fn remove(&mut self, data: &EndpointData) {
        if let Some(group) = group_of(data)
            && let Some(writers) = self.writers.get_mut(&group)
        {
            writers.remove(&data.guid.entity);
            if writers.is_empty() {
                self.writers.remove(&group);
            }
        }
        self.readers.remove(&data.guid);
    }

    pub(super) fn leave_out(&mut self, group: Guid) {
        if self.untold.len() < MAX_UNTOLD {
            self.untold.insert(group);
        }
    }

    pub(super) fn forget(&mut self, prefix: GuidPrefix) {
        self.untold.retain(|group| group.prefix != prefix);
    }

    /// The writers of a publisher, ascending.
    fn of(&self, group: Guid) -> impl Iterator<Item = Guid> + Clone {
        let writers = self.writers.get(&group).into_iter().flatten();
        writers.map(move |&entity| Guid::new(group.prefix, entity))
    }
}

impl Discovery {
    /// Tells readers which writers the publishers have now that an endpoint has to do with: its own,
    /// or those of the writers that it is matched with.
    pub(super) fn tell_of_groups_around(&mut self, data: &EndpointData) {
        let groups = match data.role {
            Role::Writer => group_of(data).into_iter().collect(),
            Role::Reader if !self.endpoints.groups().readers.contains(&data.guid) => return,
            Role::Reader => {
                let writers = self.endpoints.iter().filter(|writer| {
                    let matches = |writer: &EndpointData| self.matches(writer.guid, data.guid);
                    writer.group.is_some() && matches(writer)
                });
                let groups: BTreeSet<_> = writers.filter_map(|writer| group_of(writer)).collect();
                groups
            }
        };
        for group in groups {
            self.tell_of_group(group);
        }
    }

    /// A writer is ignored, or there is no room for it. Of its publisher nothing can be told any more.
    pub(super) fn leave_out(&mut self, data: &EndpointData) {
        if let Some(group) = group_of(data).filter(|group| group.prefix == data.guid.prefix) {
            self.endpoints.leave_out_of_group(group);
            self.tell_of_group(group);
        }
    }

    fn tell_of_group(&mut self, group: Guid) {
        let groups = self.endpoints.groups();
        let (all, readers) = (groups.of(group), &groups.readers);
        let matched = |reader: &&Guid| all.clone().any(|writer| self.matches(writer, **reader));
        let told: Vec<_> = readers.iter().filter(matched).copied().collect();
        if told.is_empty() {
            return;
        }
        let undecided = self.endpoints.undecided();
        let is_decided = |writer: &Guid| {
            !readers
                .iter()
                .any(|&reader| undecided.has((*writer, reader)))
        };
        let is_untold = groups.untold.contains(&group) || all.clone().nth(MAX_WRITERS).is_some();
        let writers: Arc<[EntityId]> = match is_untold {
            true => Arc::default(),
            false => all.filter(is_decided).map(|guid| guid.entity).collect(),
        };
        for reader in told {
            self.events.push_back(Event::GroupChanged {
                reader,
                publisher: group,
                writers: Arc::clone(&writers),
            });
        }
    }

    fn matches(&self, writer: Guid, reader: Guid) -> bool {
        let verdict = self.endpoints.verdict(writer, reader);
        verdict.is_some_and(Verdict::is_match)
    }
}

/// The publisher of a writer, if its writers belong together.
fn group_of(data: &EndpointData) -> Option<Guid> {
    data.group.filter(|_| data.role == Role::Writer)
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
/// Publishers of which it is remembered that not all writers are here.
const MAX_UNTOLD: usize = 1024;
