//! Requested against offered (DDS 1.4 §2.2.3, "RxO"), with reasons.

use alloc::string::String;
use alloc::vec::Vec;

use tickwire_base::Duration;
use tickwire_cdr::xtypes::{NotAssignable, TypeId};

use super::{
    DestinationOrder, Durability, EndpointQos, Liveliness, Ownership, PolicyId, Presentation,
    ReliabilityKind, RepresentationId, partitions_match,
};

/// What a writer offers and a reader requests, where the offer does not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet<T> {
    /// The writer's.
    pub offered: T,
    /// The reader's.
    pub requested: T,
}

/// One reason why a writer and a reader of one topic do not match. Its display names both sides
/// and what to change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// The names of the types differ.
    TypeName(Unmet<String>),
    /// The types are not the same, which they must be as they are final, or as the reader says
    /// (TYPE_CONSISTENCY_ENFORCEMENT): their identifiers.
    Type(Unmet<TypeId>),
    /// The writer's type cannot be read as the reader's: where, and why.
    NotAssignable(Vec<NotAssignable>),
    /// The reader insists on comparing types (TYPE_CONSISTENCY_ENFORCEMENT), but one side does not
    /// tell its type.
    TypeUnknown,
    /// One side has a key (true), the other has none.
    Keyed(Unmet<bool>),
    /// No partition is shared. Not an incompatible QoS by the standard, but no match either.
    Partition(Unmet<Vec<String>>),
    /// DURABILITY.
    Durability(Unmet<Durability>),
    /// PRESENTATION.
    Presentation(Unmet<Presentation>),
    /// DEADLINE.
    Deadline(Unmet<Duration>),
    /// LATENCY_BUDGET.
    LatencyBudget(Unmet<Duration>),
    /// OWNERSHIP.
    Ownership(Unmet<Ownership>),
    /// LIVELINESS.
    Liveliness(Unmet<Liveliness>),
    /// RELIABILITY.
    Reliability(Unmet<ReliabilityKind>),
    /// DESTINATION_ORDER.
    DestinationOrder(Unmet<DestinationOrder>),
    /// DATA_REPRESENTATION; the writer's first one counts.
    DataRepresentation(Unmet<Vec<RepresentationId>>),
}

/// Whether a writer and a reader match, and if not, every reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The reasons; none is a match.
    pub mismatches: Vec<Mismatch>,
}

impl Verdict {
    /// Whether the two match.
    pub fn is_match(&self) -> bool {
        self.mismatches.is_empty()
    }

    /// The policies to count in the statuses OFFERED_ and REQUESTED_INCOMPATIBLE_QOS. None if the
    /// two do not even share a partition or a type, as then QoS is not compared.
    pub fn incompatible_policies(&self) -> impl Iterator<Item = PolicyId> {
        let compared = self.mismatches.iter().all(|m| m.policy().is_some());
        self.mismatches
            .iter()
            .filter(move |_| compared)
            .filter_map(Mismatch::policy)
    }

    /// Whether the two give one topic different types: INCONSISTENT_TOPIC (DDS 1.4 §2.2.4.1).
    pub fn is_inconsistent_topic(&self) -> bool {
        let mut others = self.mismatches.iter().filter(|m| m.policy().is_none());
        others.any(|mismatch| !matches!(mismatch, Mismatch::Partition(_)))
    }

    pub(crate) fn add(&mut self, mismatch: Mismatch) {
        self.mismatches.push(mismatch);
    }
}

/// Compares the QoS of a writer with that of a reader.
pub fn check(offered: &EndpointQos, requested: &EndpointQos) -> Verdict {
    let mut verdict = Verdict::default();
    let (o, r) = (offered, requested);
    let mut require = |is_met: bool, mismatch: &dyn Fn() -> Mismatch| {
        if !is_met {
            verdict.add(mismatch());
        }
    };
    require(partitions_match(&o.partition, &r.partition), &|| {
        Mismatch::Partition(unmet(&o.partition, &r.partition))
    });
    require(o.durability >= r.durability, &|| {
        Mismatch::Durability(unmet(&o.durability, &r.durability))
    });
    require(presentation_met(&o.presentation, &r.presentation), &|| {
        Mismatch::Presentation(unmet(&o.presentation, &r.presentation))
    });
    require(o.deadline <= r.deadline, &|| {
        Mismatch::Deadline(unmet(&o.deadline, &r.deadline))
    });
    require(o.latency_budget <= r.latency_budget, &|| {
        Mismatch::LatencyBudget(unmet(&o.latency_budget, &r.latency_budget))
    });
    require(o.ownership == r.ownership, &|| {
        Mismatch::Ownership(unmet(&o.ownership, &r.ownership))
    });
    require(liveliness_met(&o.liveliness, &r.liveliness), &|| {
        Mismatch::Liveliness(unmet(&o.liveliness, &r.liveliness))
    });
    require(o.reliability.kind >= r.reliability.kind, &|| {
        Mismatch::Reliability(unmet(&o.reliability.kind, &r.reliability.kind))
    });
    require(o.destination_order >= r.destination_order, &|| {
        Mismatch::DestinationOrder(unmet(&o.destination_order, &r.destination_order))
    });
    require(representation_met(o, r), &|| {
        Mismatch::DataRepresentation(unmet(&o.data_representation, &r.data_representation))
    });
    verdict
}

fn unmet<T: Clone>(offered: &T, requested: &T) -> Unmet<T> {
    Unmet {
        offered: offered.clone(),
        requested: requested.clone(),
    }
}

fn presentation_met(offered: &Presentation, requested: &Presentation) -> bool {
    offered.access_scope >= requested.access_scope
        && offered.coherent_access >= requested.coherent_access
        && offered.ordered_access >= requested.ordered_access
}

fn liveliness_met(offered: &Liveliness, requested: &Liveliness) -> bool {
    offered.kind >= requested.kind && offered.lease_duration <= requested.lease_duration
}

fn representation_met(offered: &EndpointQos, requested: &EndpointQos) -> bool {
    let offered = offered.offered_representation();
    match requested.data_representation.as_slice() {
        [] => offered == RepresentationId::XCDR1,
        accepted => accepted.contains(&offered),
    }
}

impl Mismatch {
    /// The policy that it is about; `None` for types and partitions, which are no incompatible QoS.
    pub fn policy(&self) -> Option<PolicyId> {
        Some(match self {
            Self::TypeName(_) | Self::Type(_) | Self::NotAssignable(_) | Self::TypeUnknown => {
                return None;
            }
            Self::Keyed(_) | Self::Partition(_) => return None,
            Self::Durability(_) => PolicyId::DURABILITY,
            Self::Presentation(_) => PolicyId::PRESENTATION,
            Self::Deadline(_) => PolicyId::DEADLINE,
            Self::LatencyBudget(_) => PolicyId::LATENCY_BUDGET,
            Self::Ownership(_) => PolicyId::OWNERSHIP,
            Self::Liveliness(_) => PolicyId::LIVELINESS,
            Self::Reliability(_) => PolicyId::RELIABILITY,
            Self::DestinationOrder(_) => PolicyId::DESTINATION_ORDER,
            Self::DataRepresentation(_) => PolicyId::DATA_REPRESENTATION,
        })
    }

    /// The name of the policy, or of what else differs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TypeName(_) => "type",
            Self::Type(_) | Self::NotAssignable(_) => "types differ",
            Self::TypeUnknown => "type unknown",
            Self::Keyed(_) => "key",
            Self::Partition(_) => "PARTITION",
            Self::Durability(_) => "DURABILITY",
            Self::Presentation(_) => "PRESENTATION",
            Self::Deadline(_) => "DEADLINE",
            Self::LatencyBudget(_) => "LATENCY_BUDGET",
            Self::Ownership(_) => "OWNERSHIP",
            Self::Liveliness(_) => "LIVELINESS",
            Self::Reliability(_) => "RELIABILITY",
            Self::DestinationOrder(_) => "DESTINATION_ORDER",
            Self::DataRepresentation(_) => "DATA_REPRESENTATION",
        }
    }

    /// What to change so that the two match.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TypeName(_) => "give both sides the same type name",
            Self::Type(_) => {
                "define the type alike on both sides, member by member and with all bounds"
            }
            Self::NotAssignable(_) => "change one of the types so that the other is assignable",
            Self::TypeUnknown => {
                "let both sides announce their types, or the reader's force_type_validation be off"
            }
            Self::Keyed(_) => "mark the same key members on both sides",
            Self::Partition(_) => "share one partition name, or use a pattern on one side",
            Self::Durability(_) => "raise the writer's durability or lower the reader's",
            Self::Presentation(_) => {
                "let the writer's publisher offer at least what the subscriber requests"
            }
            Self::Deadline(_) => "shorten the writer's period or lengthen the reader's",
            Self::LatencyBudget(_) => "shorten the writer's budget or lengthen the reader's",
            Self::Ownership(_) => "use the same ownership on both sides",
            Self::Liveliness(_) => {
                "let the writer assert at least as strictly and as often as the reader requests"
            }
            Self::Reliability(_) => "make the writer RELIABLE or the reader BEST_EFFORT",
            Self::DestinationOrder(_) => {
                "make the writer BY_SOURCE_TIMESTAMP or the reader BY_RECEPTION_TIMESTAMP"
            }
            Self::DataRepresentation(_) => {
                "let the writer offer first what the reader requests, or the reader accept the writer's first \
                 representation; old readers, as those of Fast DDS 2, take XCDR1 alone (`representation = [\"xcdr1\"]`)"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec;

    use super::*;
    use crate::qos::{LivelinessKind, PresentationScope};

    /// Whether a writer changed by `offered` meets a reader changed by `requested`; if not, why.
    fn verdict(
        offered: impl FnOnce(&mut EndpointQos),
        requested: impl FnOnce(&mut EndpointQos),
    ) -> String {
        let (mut writer, mut reader) = (EndpointQos::writer(), EndpointQos::reader());
        offered(&mut writer);
        requested(&mut reader);
        check(&writer, &reader).to_string()
    }

    #[test]
    fn the_defaults_match() {
        assert_eq!(verdict(|_| {}, |_| {}), "match");
    }

    #[test]
    fn an_unmet_request_is_explained() {
        let text = verdict(
            |writer| writer.reliability.kind = ReliabilityKind::BestEffort,
            |reader| reader.reliability.kind = ReliabilityKind::Reliable,
        );
        assert_eq!(
            text,
            "RELIABILITY: the reader requests RELIABLE, the writer offers BEST_EFFORT; \
             make the writer RELIABLE or the reader BEST_EFFORT"
        );
    }

    #[test]
    fn durations_compare_the_right_way_round() {
        let (short, long) = (Duration::from_millis(5), Duration::from_secs(1));
        assert_eq!(
            verdict(|w| w.deadline = short, |r| r.deadline = long),
            "match"
        );
        assert_eq!(
            verdict(|w| w.deadline = long, |r| r.deadline = short),
            "DEADLINE: the reader requests 5ms, the writer offers 1s; \
             shorten the writer's period or lengthen the reader's"
        );
        assert!(verdict(|_| {}, |r| r.deadline = long).contains("offers infinite"));
        assert!(verdict(|w| w.latency_budget = long, |_| {}).contains("LATENCY_BUDGET"));
        assert!(verdict(|_| {}, |r| r.liveliness.lease_duration = long).contains("LIVELINESS"));
    }

    #[test]
    fn kinds_compare_the_right_way_round() {
        let local = Durability::TransientLocal;
        assert_eq!(verdict(|w| w.durability = local, |_| {}), "match");
        let kinds = [
            Durability::Volatile,
            local,
            Durability::Transient,
            Durability::Persistent,
        ];
        for (offer, offered) in kinds.into_iter().enumerate() {
            for (request, requested) in kinds.into_iter().enumerate() {
                let text = verdict(|w| w.durability = offered, |r| r.durability = requested);
                assert_eq!(text == "match", offer >= request, "{text}");
            }
        }
        assert_eq!(
            verdict(
                |w| w.durability = local,
                |r| r.durability = Durability::Persistent
            ),
            "DURABILITY: the reader requests PERSISTENT, the writer offers TRANSIENT_LOCAL; \
             raise the writer's durability or lower the reader's"
        );
        assert!(verdict(|w| w.ownership = Ownership::Exclusive, |_| {}).starts_with("OWNERSHIP"));
        assert_eq!(
            verdict(
                |w| w.presentation.access_scope = PresentationScope::Group,
                |_| {}
            ),
            "match"
        );
        assert!(verdict(|_| {}, |r| r.presentation.ordered_access = true).contains("PRESENTATION"));
        assert!(
            verdict(
                |_| {},
                |r| r.destination_order = DestinationOrder::BySourceTimestamp
            )
            .starts_with("DESTINATION_ORDER")
        );
        assert!(
            verdict(
                |_| {},
                |r| r.liveliness.kind = LivelinessKind::ManualByTopic
            )
            .starts_with("LIVELINESS")
        );
    }

    #[test]
    fn the_writers_first_representation_counts() {
        let (one, two) = (RepresentationId::XCDR1, RepresentationId::XCDR2);
        assert_eq!(
            verdict(|_| {}, |r| r.data_representation = vec![two, one]),
            "match"
        );
        assert_eq!(
            verdict(|w| w.data_representation = vec![two, one], |_| {}),
            "DATA_REPRESENTATION: the reader requests XCDR1, the writer offers XCDR2; \
             let the writer offer first what the reader requests, or the reader accept the writer's first \
             representation; old readers, as those of Fast DDS 2, take XCDR1 alone (`representation = [\"xcdr1\"]`)"
        );
    }

    #[test]
    fn a_missed_partition_is_no_incompatible_policy() {
        let (mut writer, mut reader) = (EndpointQos::writer(), EndpointQos::reader());
        reader.partition = vec!["a".into()];
        writer.ownership = Ownership::Exclusive;
        let verdict = check(&writer, &reader);
        assert_eq!(verdict.mismatches.len(), 2);
        assert_eq!(verdict.incompatible_policies().count(), 0);
        reader.partition.clear();
        let policies: Vec<_> = check(&writer, &reader).incompatible_policies().collect();
        assert_eq!(policies, [PolicyId::OWNERSHIP]);
    }
}
