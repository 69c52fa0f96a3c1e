//! What discovery has found.

use std::sync::Arc;

use tickwire_rtps::discovery::DiscoveryCounters;
pub use tickwire_rtps::discovery::{EndpointData, ParticipantData, Role};
use tickwire_rtps::qos::Verdict;
use tickwire_rtps::wire::Guid;

use crate::core::Core;

/// A look at what discovery knows; each call sees the present state.
pub struct DiscoveryView<'a> {
    core: &'a Core,
}

/// A writer and a reader of one topic, and whether they match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The writer.
    pub writer: Guid,
    /// The reader.
    pub reader: Guid,
    /// Why they do not match, or that they do.
    pub verdict: Verdict,
}

impl<'a> DiscoveryView<'a> {
    pub(crate) fn new(core: &'a Core) -> Self {
        Self { core }
    }

    /// The other participants.
    pub fn participants(&self) -> Vec<Arc<ParticipantData>> {
        self.core
            .view(|discovery| discovery.participants().cloned().collect())
    }

    /// All writers, those of this participant included.
    pub fn publications(&self) -> Vec<Arc<EndpointData>> {
        self.endpoints(Role::Writer)
    }

    /// All readers, those of this participant included.
    pub fn subscriptions(&self) -> Vec<Arc<EndpointData>> {
        self.endpoints(Role::Reader)
    }

    /// Each writer and reader of one topic of which at least one belongs to this participant.
    pub fn pairs(&self) -> Vec<Pair> {
        let pair = |(writer, reader, verdict): (Guid, Guid, &Verdict)| Pair {
            writer,
            reader,
            verdict: verdict.clone(),
        };
        self.core
            .view(|discovery| discovery.verdicts().map(pair).collect())
    }

    /// Of the topics known, the one whose name looks most like `name` without being it.
    pub fn nearest_topic(&self, name: &str) -> Option<String> {
        let owned = |name: &str| name.to_owned();
        self.core
            .view(|discovery| discovery.nearest_topic(name).map(owned))
    }

    /// What discovery has done and seen.
    pub fn counters(&self) -> DiscoveryCounters {
        self.core.view(|discovery| *discovery.counters())
    }

    fn endpoints(&self, role: Role) -> Vec<Arc<EndpointData>> {
        self.core.view(|discovery| {
            let endpoints = discovery.endpoints();
            endpoints
                .filter(|data| data.role == role)
                .cloned()
                .collect()
        })
    }
}
