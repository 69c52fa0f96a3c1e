//! What the owner does not want to know of (DDS 1.4 §2.2.2.2.1.11 to §2.2.2.2.1.14). Whom it concerns is
//! not told; he goes on as if he were heard.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use tickwire_base::Instant;

use super::{Discovery, EndpointData, LostReason};
use crate::wire::{Guid, GuidPrefix};

/// Other participants and endpoints that count as if they were not there, for ever.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    participants: BTreeSet<GuidPrefix>,
    endpoints: BTreeSet<Guid>,
    /// By their names and those of their types.
    topics: BTreeSet<(String, String)>,
}

impl Ignored {
    pub(super) fn has_participant(&self, prefix: GuidPrefix) -> bool {
        self.participants.contains(&prefix)
    }

    /// Whether the endpoint itself or its topic is ignored.
    pub(super) fn has_endpoint(&self, data: &EndpointData) -> bool {
        let is_of_topic =
            |(name, ty): &(String, String)| *name == data.topic_name && *ty == data.type_name;
        self.endpoints.contains(&data.guid) || self.topics.iter().any(is_of_topic)
    }
}

impl Discovery {
    /// From now on another participant counts as if it were not there: what it has matched is
    /// unmatched, and nothing that it says is looked at. It is not told. Costs its prefix in memory,
    /// for ever.
    pub fn ignore_participant(&mut self, now: Instant, prefix: GuidPrefix) {
        if prefix != self.prefix() && self.ignored.participants.insert(prefix) {
            self.forget(now, prefix, LostReason::Ignored);
        }
    }

    /// The same for one writer or reader of another participant.
    pub fn ignore_endpoint(&mut self, now: Instant, guid: Guid) {
        if guid.prefix != self.prefix() && self.ignored.endpoints.insert(guid) {
            self.forget_endpoint(now, guid, LostReason::Ignored);
        }
    }

    /// The same for all writers and readers of other participants that share a topic and the name of
    /// its type, now and later. Our own are not concerned.
    pub fn ignore_topic(&mut self, now: Instant, topic_name: &str, type_name: &str) {
        let topic = (topic_name.into(), type_name.into());
        if !self.ignored.topics.insert(topic) {
            return;
        }
        let of_others = self.endpoints.iter();
        let of_others = of_others.filter(|data| data.guid.prefix != self.prefix());
        let ignored: Vec<_> = of_others
            .filter(|data| self.ignored.has_endpoint(data))
            .map(|data| data.guid)
            .collect();
        for guid in ignored {
            self.forget_endpoint(now, guid, LostReason::Ignored);
        }
    }
}
