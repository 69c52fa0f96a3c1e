//! All endpoints by topic, and the verdict on each pair with a local side. Sends nothing.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::Cell;

use super::endpoint_data::Judgement;
use super::groups::Groups;
use super::type_lookup::TypeLookup;
use super::type_matching::{Agreement, Asking, Wanted};
use super::undecided::{Pair, Undecided};
use super::{EndpointData, Role, type_matching};
use crate::qos::Verdict;
use crate::wire::{EntityId, Guid, GuidPrefix};

/// Endpoints of our participant and of all others.
pub(super) struct Endpoints {
    own: GuidPrefix,
    by_guid: BTreeMap<Guid, Arc<EndpointData>>,
    by_topic: BTreeMap<String, BTreeSet<Guid>>,
    /// By writer and reader.
    verdicts: BTreeMap<(Guid, Guid), Verdict>,
    /// Pairs without a verdict yet.
    undecided: Undecided,
    groups: Groups,
    /// Comparisons so far.
    compared: u64,
    /// Those that went without types that are beyond a limit.
    types_refused: u64,
}

/// What changed between a writer and a reader, one of them local.
#[derive(Debug)]
pub(super) struct PairChange {
    pub(super) writer: Arc<EndpointData>,
    pub(super) reader: Arc<EndpointData>,
    pub(super) outcome: Outcome,
}

/// How two endpoints stand now.
#[derive(Debug)]
pub(super) enum Outcome {
    Matched,
    /// They did match before.
    Unmatched,
    Incompatible(Verdict),
}

impl Endpoints {
    pub(super) fn new(own: GuidPrefix) -> Self {
        Self {
            own,
            by_guid: BTreeMap::new(),
            by_topic: BTreeMap::new(),
            verdicts: BTreeMap::new(),
            undecided: Undecided::default(),
            groups: Groups::default(),
            compared: 0,
            types_refused: 0,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<EndpointData>> {
        self.by_guid.values()
    }

    pub(super) fn get(&self, guid: Guid) -> Option<&Arc<EndpointData>> {
        self.by_guid.get(&guid)
    }

    /// The endpoints of one participant.
    pub(super) fn of(&self, prefix: GuidPrefix) -> impl Iterator<Item = &Arc<EndpointData>> {
        let first = Guid::new(prefix, EntityId([0; 4]));
        let last = Guid::new(prefix, EntityId([0xff; 4]));
        self.by_guid.range(first..=last).map(|(_, data)| data)
    }

    pub(super) fn topic_names(&self) -> impl Iterator<Item = &str> {
        self.by_topic.keys().map(String::as_str)
    }

    pub(super) fn verdicts(&self) -> impl Iterator<Item = (Guid, Guid, &Verdict)> {
        self.verdicts
            .iter()
            .map(|(&(writer, reader), verdict)| (writer, reader, verdict))
    }

    /// What is to be asked for so that all pairs have a verdict, since the last call.
    pub(super) fn take_unasked(&mut self) -> Vec<Wanted> {
        self.undecided.take_unasked()
    }

    /// Pairs without a verdict, by what they wait for.
    pub(super) fn undecided(&self) -> &Undecided {
        &self.undecided
    }

    /// Which writers belong to one publisher.
    pub(super) fn groups(&self) -> &Groups {
        &self.groups
    }

    /// The same, to note what is not here, or was told.
    pub(super) fn groups_mut(&mut self) -> &mut Groups {
        &mut self.groups
    }

    /// Comparisons of a writer with a reader so far.
    pub(super) fn compared(&self) -> u64 {
        self.compared
    }

    /// Those that went without types that are beyond a limit.
    pub(super) fn types_refused(&self) -> u64 {
        self.types_refused
    }

    /// Takes over an endpoint, new or changed. Without news there is no change.
    pub(super) fn insert(
        &mut self,
        data: Arc<EndpointData>,
        types: &TypeLookup,
    ) -> Vec<PairChange> {
        let guid = data.guid;
        let mut changes = Vec::new();
        let known = self.by_guid.get(&guid);
        let same_types = known.is_some_and(|known| type_matching::is_unchanged(known, &data));
        match known {
            Some(known) if *known == data => return changes,
            Some(known) if known.topic_name != data.topic_name || known.role != data.role => {
                changes = self.remove(guid);
            }
            _ => {}
        }
        if let Some(before) = self.by_guid.insert(guid, Arc::clone(&data)) {
            self.groups.remove(&before);
        }
        self.groups.insert(&data, guid.prefix == self.own);
        let topic = self.by_topic.entry(data.topic_name.clone()).or_default();
        topic.insert(guid);
        changes.extend(self.compare_types(&data, types, same_types));
        changes
    }

    /// Forgets an endpoint.
    pub(super) fn remove(&mut self, guid: Guid) -> Vec<PairChange> {
        let Some(data) = self.by_guid.remove(&guid) else {
            return Vec::new();
        };
        let mut changes = Vec::new();
        for other in self.others(&data) {
            let (writer, reader) = in_order(&data, &other);
            self.groups.compared(&writer, reader.guid, false);
            self.undecided.remove((writer.guid, reader.guid));
            let verdict = self.verdicts.remove(&(writer.guid, reader.guid));
            if verdict.is_some_and(|verdict| verdict.is_match()) {
                changes.push(PairChange {
                    writer,
                    reader,
                    outcome: Outcome::Unmatched,
                });
            }
        }
        self.groups.remove(&data);
        if let Some(topic) = self.by_topic.get_mut(&data.topic_name) {
            topic.remove(&guid);
            if topic.is_empty() {
                self.by_topic.remove(&data.topic_name);
            }
        }
        changes
    }

    /// Compares an endpoint, whose data are as they were, with all others of its topic. One that
    /// still matches is reported again, as it may be reached elsewhere.
    pub(super) fn compare(
        &mut self,
        data: &Arc<EndpointData>,
        types: &TypeLookup,
    ) -> Vec<PairChange> {
        self.compare_types(data, types, true)
    }

    /// Compares an endpoint with all others of its topic. Where its type is as it was, types that
    /// agreed still do, though their objects may have been forgotten since.
    fn compare_types(
        &mut self,
        data: &Arc<EndpointData>,
        types: &TypeLookup,
        same_types: bool,
    ) -> Vec<PairChange> {
        let mut changes = Vec::new();
        for other in self.others(data) {
            let (writer, reader) = in_order(data, &other);
            self.compare_pair(&writer, &reader, types, same_types, &mut changes);
        }
        changes
    }

    /// Compares pairs that had no verdict yet.
    pub(super) fn decide(
        &mut self,
        pairs: impl IntoIterator<Item = Pair>,
        types: &TypeLookup,
    ) -> Vec<PairChange> {
        let mut changes = Vec::new();
        for (writer, reader) in pairs {
            let pair = self.by_guid.get(&writer).zip(self.by_guid.get(&reader));
            if let Some((writer, reader)) = pair.map(|(one, other)| (one.clone(), other.clone())) {
                self.compare_pair(&writer, &reader, types, false, &mut changes);
            }
        }
        changes
    }

    fn compare_pair(
        &mut self,
        writer: &Arc<EndpointData>,
        reader: &Arc<EndpointData>,
        types: &TypeLookup,
        same_types: bool,
        changes: &mut Vec<PairChange>,
    ) {
        let key = (writer.guid, reader.guid);
        self.compared += 1;
        let asking = Asking {
            lookup: types,
            is_refused: Cell::new(false),
        };
        let agreed = same_types && self.verdicts.get(&key).is_some_and(Verdict::is_match);
        let judgement = writer.judge(reader, |writer, reader| match agreed {
            true => Agreement::Agree,
            false => type_matching::compare_or_ask(writer, reader, &asking),
        });
        self.types_refused += u64::from(asking.is_refused.get());
        let (verdict, before) = match judgement {
            None => return,
            Some(Judgement::Undecided(wanted)) => {
                self.undecided.insert(key, wanted);
                (None, self.verdicts.remove(&key))
            }
            Some(Judgement::Decided(verdict)) => {
                self.undecided.remove(key);
                let before = self.verdicts.insert(key, verdict.clone());
                (Some(verdict), before)
            }
        };
        let mut change = |outcome| {
            changes.push(PairChange {
                writer: Arc::clone(writer),
                reader: Arc::clone(reader),
                outcome,
            });
        };
        let matches = verdict.as_ref().is_some_and(Verdict::is_match);
        self.groups.compared(writer, reader.guid, matches);
        if before.as_ref().is_some_and(Verdict::is_match) && !matches {
            change(Outcome::Unmatched);
        }
        match verdict {
            Some(_) if matches => change(Outcome::Matched),
            Some(verdict) if before.as_ref() != Some(&verdict) => {
                change(Outcome::Incompatible(verdict));
            }
            _ => {}
        }
    }

    /// The endpoints at the other end of the topic that concern us: all for a local endpoint, the
    /// local ones for a remote endpoint.
    fn others(&self, data: &EndpointData) -> Vec<Arc<EndpointData>> {
        let prefixes = match data.guid.prefix == self.own {
            true => GuidPrefix([0; 12])..=GuidPrefix([0xff; 12]),
            false => self.own..=self.own,
        };
        let first = Guid::new(*prefixes.start(), EntityId([0; 4]));
        let last = Guid::new(*prefixes.end(), EntityId([0xff; 4]));
        let topic = self.by_topic.get(&data.topic_name).into_iter();
        topic
            .flat_map(|guids| guids.range(first..=last))
            .filter_map(|guid| self.by_guid.get(guid))
            .filter(|other| other.role != data.role)
            .cloned()
            .collect()
    }
}

/// The writer before the reader.
fn in_order(
    one: &Arc<EndpointData>,
    other: &Arc<EndpointData>,
) -> (Arc<EndpointData>, Arc<EndpointData>) {
    match one.role {
        Role::Writer => (Arc::clone(one), Arc::clone(other)),
        Role::Reader => (Arc::clone(other), Arc::clone(one)),
    }
}
