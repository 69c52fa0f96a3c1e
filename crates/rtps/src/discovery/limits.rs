//! What others may have us keep and send. Every bound is counted where it refuses something.

/// Bounds on what other participants, honest or not, make a participant keep and send.
///
/// What goes beyond one is refused, and counted in
/// [`DiscoveryCounters`](super::DiscoveryCounters); what is there already stays.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscoveryLimits {
    /// Participants. Default 1,000. One that has not shown that it hears us makes way for a new one.
    pub max_participants: usize,
    /// Endpoints of one participant. Default 10,000.
    pub max_endpoints_per_participant: usize,
    /// Endpoints of all other participants. Default 100,000.
    pub max_endpoints: usize,
    /// Bytes of memory for one announcement: names, locators, properties, user data, filters, type
    /// information. Default 512 KiB.
    pub max_announcement_bytes: usize,
    /// Bytes of memory for all that one participant announces of itself and its endpoints. Default
    /// 16 MiB.
    pub max_bytes_per_participant: usize,
    /// The same for all participants together. Default 256 MiB.
    pub max_bytes: usize,
    /// Type objects that one participant is asked for, so that endpoints can be matched; what goes
    /// beyond is matched by the types' names. Default 4,096.
    pub max_types_per_participant: usize,
    /// The same for all participants together. Default 65,536.
    pub max_types: usize,
    /// Bytes of type objects taken from one participant. Default 4 MiB.
    pub max_type_bytes_per_participant: usize,
    /// Bytes of type objects learnt from others; beyond it the oldest are forgotten. Default 16 MiB.
    pub max_type_bytes: usize,
    /// Bytes sent to a participant for each byte of its announcements, until it shows by naming us
    /// that it hears us. Default 10. Keeps who announces somebody else's address from having us
    /// flood it.
    pub max_amplification: usize,
}

impl Default for DiscoveryLimits {
    fn default() -> Self {
        Self {
            max_participants: 1_000,
            max_endpoints_per_participant: 10_000,
            max_endpoints: 100_000,
            max_announcement_bytes: 512 << 10,
            max_bytes_per_participant: 16 << 20,
            max_bytes: 256 << 20,
            max_types_per_participant: 4_096,
            max_types: 65_536,
            max_type_bytes_per_participant: 4 << 20,
            max_type_bytes: 16 << 20,
            max_amplification: 10,
        }
    }
}
