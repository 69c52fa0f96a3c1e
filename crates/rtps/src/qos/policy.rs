//! The policies, each with the standard's default (DDS 1.4 §2.2.3, XTypes 1.3 §7.6.3).
//!
//! Enumerations are ordered from the weaker to the stronger guarantee, so that an offer meets a
//! request when it is not less.

use core::fmt;

use tickwire_base::Duration;

/// Gives an enumeration its wire numbers and the standard's words.
macro_rules! policy_kinds {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$variant_doc:meta])* $variant:ident = $value:literal $word:literal),+ $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant),+
        }

        impl $name {
            /// The number that stands for it in discovery.
            pub const fn to_wire(self) -> u32 {
                match self {
                    $(Self::$variant => $value),+
                }
            }

            /// What `number` stands for in discovery.
            pub const fn from_wire(number: u32) -> Option<Self> {
                match number {
                    $($value => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $word),+
                })
            }
        }
    };
}

policy_kinds! {
    /// DURABILITY: what a reader that comes late gets.
    Durability {
        /// Nothing of what was written before.
        Volatile = 0 "VOLATILE",
        /// What the writer's history holds.
        TransientLocal = 1 "TRANSIENT_LOCAL",
        /// What a service holds, beyond the writer's life.
        Transient = 2 "TRANSIENT",
        /// What a service holds on disk.
        Persistent = 3 "PERSISTENT",
    }
}

policy_kinds! {
    /// RELIABILITY, its kind. The wire counts from 1.
    ReliabilityKind {
        /// What is lost is lost.
        BestEffort = 1 "BEST_EFFORT",
        /// What is lost is sent again.
        Reliable = 2 "RELIABLE",
    }
}

policy_kinds! {
    /// LIVELINESS, its kind: who must show that the writer lives.
    LivelinessKind {
        /// The middleware, as long as the process lives.
        Automatic = 0 "AUTOMATIC",
        /// The application, for all its writers at once.
        ManualByParticipant = 1 "MANUAL_BY_PARTICIPANT",
        /// The application, for this writer.
        ManualByTopic = 2 "MANUAL_BY_TOPIC",
    }
}

policy_kinds! {
    /// OWNERSHIP: how many writers may update one instance.
    Ownership {
        /// Any number.
        Shared = 0 "SHARED",
        /// The strongest one alive.
        Exclusive = 1 "EXCLUSIVE",
    }
}

policy_kinds! {
    /// DESTINATION_ORDER: which of two samples of an instance is the later.
    DestinationOrder {
        /// The one received later.
        ByReceptionTimestamp = 0 "BY_RECEPTION_TIMESTAMP",
        /// The one written later.
        BySourceTimestamp = 1 "BY_SOURCE_TIMESTAMP",
    }
}

policy_kinds! {
    /// PRESENTATION, its scope: among what order and coherence hold.
    PresentationScope {
        /// The changes of one instance.
        Instance = 0 "INSTANCE",
        /// The changes of one writer.
        Topic = 1 "TOPIC",
        /// The changes of all writers of one publisher.
        Group = 2 "GROUP",
    }
}

policy_kinds! {
    /// TYPE_CONSISTENCY_ENFORCEMENT, its kind.
    TypeConsistencyKind {
        /// The types must be the same.
        DisallowTypeCoercion = 1 "DISALLOW_TYPE_COERCION",
        /// The writer's type must be assignable to the reader's.
        AllowTypeCoercion = 2 "ALLOW_TYPE_COERCION",
    }
}

/// RELIABILITY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reliability {
    /// Best effort or reliable.
    pub kind: ReliabilityKind,
    /// How long a write may wait for room in the history. Default 100 ms.
    pub max_blocking_time: Duration,
}

impl Default for Reliability {
    fn default() -> Self {
        Self {
            kind: ReliabilityKind::BestEffort,
            max_blocking_time: Duration::from_millis(100),
        }
    }
}

/// LIVELINESS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Liveliness {
    /// Who shows that the writer lives. Default automatic.
    pub kind: LivelinessKind,
    /// How long the writer counts as alive without a sign. Default infinite.
    pub lease_duration: Duration,
}

impl Default for Liveliness {
    fn default() -> Self {
        Self {
            kind: LivelinessKind::Automatic,
            lease_duration: Duration::MAX,
        }
    }
}

/// PRESENTATION.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presentation {
    /// Among what order and coherence hold. Default instance.
    pub access_scope: PresentationScope,
    /// Sets of changes become visible together. Default no.
    pub coherent_access: bool,
    /// Changes are seen in the order of writing. Default no.
    pub ordered_access: bool,
}

impl Default for Presentation {
    fn default() -> Self {
        Self {
            access_scope: PresentationScope::Instance,
            coherent_access: false,
            ordered_access: false,
        }
    }
}

/// HISTORY: how many samples of an instance are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// The last so many; at least 1.
    KeepLast(u32),
    /// All, as far as RESOURCE_LIMITS allow.
    KeepAll,
}

impl Default for History {
    fn default() -> Self {
        Self::KeepLast(1)
    }
}

/// RESOURCE_LIMITS. `None` is no limit, which is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceLimits {
    /// Samples in all.
    pub max_samples: Option<u32>,
    /// Instances.
    pub max_instances: Option<u32>,
    /// Samples of one instance.
    pub max_samples_per_instance: Option<u32>,
}

/// DURABILITY_SERVICE: what a service keeps for TRANSIENT and PERSISTENT writers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DurabilityService {
    /// How long an unregistered instance is kept. Default zero.
    pub cleanup_delay: Duration,
    /// How many samples.
    pub history: History,
    /// Up to which bounds.
    pub resource_limits: ResourceLimits,
}

/// TYPE_CONSISTENCY_ENFORCEMENT (XTypes 1.3 §7.6.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeConsistency {
    /// Same or assignable. Default assignable.
    pub kind: TypeConsistencyKind,
    /// Bounds of sequences do not count. Default true.
    pub ignore_sequence_bounds: bool,
    /// Bounds of strings do not count. Default true.
    pub ignore_string_bounds: bool,
    /// Names of members do not count. Default false.
    pub ignore_member_names: bool,
    /// The writer's type may not have less than the reader's. Default false.
    pub prevent_type_widening: bool,
    /// Names of types are not enough. Default false.
    pub force_type_validation: bool,
}

impl Default for TypeConsistency {
    fn default() -> Self {
        Self {
            kind: TypeConsistencyKind::AllowTypeCoercion,
            ignore_sequence_bounds: true,
            ignore_string_bounds: true,
            ignore_member_names: false,
            prevent_type_widening: false,
            force_type_validation: false,
        }
    }
}

/// An encoding of data (XTypes 1.3 §7.6.3.1.1). Others' own numbers are kept.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepresentationId(pub i16);

impl RepresentationId {
    /// XCDR version 1: classic CDR, and parameter lists for mutable types.
    pub const XCDR1: Self = Self(0);
    /// XML.
    pub const XML: Self = Self(1);
    /// XCDR version 2.
    pub const XCDR2: Self = Self(2);
}

impl fmt::Display for RepresentationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::XCDR1 => f.write_str("XCDR1"),
            Self::XML => f.write_str("XML"),
            Self::XCDR2 => f.write_str("XCDR2"),
            Self(other) => write!(f, "representation {other}"),
        }
    }
}

/// Its name, if it has one.
impl fmt::Debug for RepresentationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::XCDR1 | Self::XML | Self::XCDR2 => fmt::Display::fmt(self, f),
            Self(other) => f.debug_tuple("RepresentationId").field(&other).finish(),
        }
    }
}

/// The number of a policy in statuses (DDS 1.4 §2.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyId(pub u32);

impl PolicyId {
    /// DURABILITY.
    pub const DURABILITY: Self = Self(2);
    /// PRESENTATION.
    pub const PRESENTATION: Self = Self(3);
    /// DEADLINE.
    pub const DEADLINE: Self = Self(4);
    /// LATENCY_BUDGET.
    pub const LATENCY_BUDGET: Self = Self(5);
    /// OWNERSHIP.
    pub const OWNERSHIP: Self = Self(6);
    /// LIVELINESS.
    pub const LIVELINESS: Self = Self(8);
    /// RELIABILITY.
    pub const RELIABILITY: Self = Self(11);
    /// DESTINATION_ORDER.
    pub const DESTINATION_ORDER: Self = Self(12);
    /// DATA_REPRESENTATION.
    pub const DATA_REPRESENTATION: Self = Self(23);
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn representations_are_shown_by_name() {
        let shown = |id| format!("{:?}", RepresentationId(id));
        assert_eq!([0, 1, 2].map(shown), ["XCDR1", "XML", "XCDR2"]);
        assert_eq!(shown(77), "RepresentationId(77)");
    }
}
