//! Quality of service: the policies that discovery carries, and whether two endpoints agree.
//!
//! Knows neither the wire form of a policy nor how an endpoint obeys it. [`check`] gives a
//! [`Verdict`] that says of each disagreement what was requested, what was offered, and what to
//! change.

mod changeable;
mod consistency;
mod explain;
mod partition;
mod policy;
mod verdict;

use alloc::vec::Vec;

pub use consistency::Inconsistent;
pub use partition::{is_pattern, name_matches, partitions_match};
pub use policy::{
    DestinationOrder, Durability, DurabilityService, History, Liveliness, LivelinessKind,
    Ownership, PolicyId, Presentation, PresentationScope, Reliability, ReliabilityKind,
    RepresentationId, ResourceLimits, TypeConsistency, TypeConsistencyKind,
};
pub use tickwire_base::nearest_name;
pub use verdict::{Mismatch, Unmet, Verdict, check};

use alloc::string::String;
use tickwire_base::Duration;

/// All policies of a writer or a reader, with those of its publisher or subscriber and its topic.
///
/// Fields that concern only the other role keep their defaults and count for nothing. Infinite
/// durations are [`Duration::MAX`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointQos {
    /// Whether samples outlive their writing, for readers that come late. Default volatile.
    pub durability: Durability,
    /// What a durability service keeps. Writers only.
    pub durability_service: DurabilityService,
    /// How changes of several instances or topics hang together. Default: not at all.
    pub presentation: Presentation,
    /// The longest time between samples of an instance. Default infinite.
    pub deadline: Duration,
    /// How late samples may come (DDS 1.4 §2.2.3.8): a hint, which is announced and compared; no sample is
    /// held back for it. Default zero.
    pub latency_budget: Duration,
    /// Whether one writer at a time owns an instance. Default shared.
    pub ownership: Ownership,
    /// Who wins exclusive ownership: the greatest. Writers only, default 0.
    pub ownership_strength: i32,
    /// How a writer shows that it lives. Default automatic, never late.
    pub liveliness: Liveliness,
    /// Whether lost samples are sent again. Default: writers do, readers do not ask.
    pub reliability: Reliability,
    /// Which of two writers' samples is the later. Default by reception.
    pub destination_order: DestinationOrder,
    /// How long a sample is worth reading. Writers only, default for ever.
    pub lifespan: Duration,
    /// The shortest time between samples of an instance. Readers only, default zero.
    pub time_based_filter: Duration,
    /// Names that one must share with the other side; may be patterns. Empty is the one name "".
    pub partition: Vec<String>,
    /// How many samples are kept. Default the last one of each instance.
    pub history: History,
    /// Upper bounds of what is kept. Default none.
    pub resource_limits: ResourceLimits,
    /// A hint to the transport. Writers only, default 0.
    pub transport_priority: i32,
    /// Encodings: a writer uses the first, a reader understands all. Empty is XCDR1 alone.
    pub data_representation: Vec<RepresentationId>,
    /// How alike the types must be. Readers only.
    pub type_consistency: TypeConsistency,
    /// Bytes that the endpoint attaches to itself.
    pub user_data: Vec<u8>,
    /// Bytes attached to the topic.
    pub topic_data: Vec<u8>,
    /// Bytes attached to the publisher or subscriber.
    pub group_data: Vec<u8>,
}

impl EndpointQos {
    /// The standard's defaults for a writer: reliable.
    pub fn writer() -> Self {
        Self::with_reliability(ReliabilityKind::Reliable)
    }

    /// The standard's defaults for a reader: best effort.
    pub fn reader() -> Self {
        Self::with_reliability(ReliabilityKind::BestEffort)
    }

    fn with_reliability(kind: ReliabilityKind) -> Self {
        Self {
            durability: Durability::Volatile,
            durability_service: DurabilityService::default(),
            presentation: Presentation::default(),
            deadline: Duration::MAX,
            latency_budget: Duration::ZERO,
            ownership: Ownership::Shared,
            ownership_strength: 0,
            liveliness: Liveliness::default(),
            reliability: Reliability {
                kind,
                ..Reliability::default()
            },
            destination_order: DestinationOrder::ByReceptionTimestamp,
            lifespan: Duration::MAX,
            time_based_filter: Duration::ZERO,
            partition: Vec::new(),
            history: History::default(),
            resource_limits: ResourceLimits::default(),
            transport_priority: 0,
            data_representation: Vec::new(),
            type_consistency: TypeConsistency::default(),
            user_data: Vec::new(),
            topic_data: Vec::new(),
            group_data: Vec::new(),
        }
    }

    /// What a writer with this QoS encodes in (XTypes 1.3 §7.6.3.1.1).
    pub fn offered_representation(&self) -> RepresentationId {
        self.data_representation
            .first()
            .copied()
            .unwrap_or(RepresentationId::XCDR1)
    }

    /// Whether samples that get lost are sent again.
    pub fn is_reliable(&self) -> bool {
        self.reliability.kind == ReliabilityKind::Reliable
    }
}
