//! What other participants, honest or not, may have one of ours keep and send.

pub use tickwire_rtps::discovery::DiscoveryLimits;
pub use tickwire_rtps::reader::ReaderLimits;
pub use tickwire_rtps::writer::FilterLimits;

/// Bounds on what others have a participant keep, compute and send, whatever they say. The defaults
/// do for thousands of endpoints; narrower ones suit networks that are not trusted.
///
/// ```no_run
/// # use tickwire::DomainParticipant;
/// let participant = DomainParticipant::builder(0)
///     .limits(|limits| limits.discovery.max_participants = 50)
///     .build()?;
/// # Ok::<(), tickwire::error::ParticipantError>(())
/// ```
///
/// What is refused is counted: in [`DiscoveryCounters`](crate::DiscoveryCounters), and in the
/// counters of readers and writers. `docs/hostile.md` says what an attacker can and cannot do.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ParticipantLimits {
    /// Participants, endpoints and types of others.
    pub discovery: DiscoveryLimits,
    /// What all writers together have one reader keep.
    pub reader: ReaderLimits,
    /// Content filters that one writer evaluates for its readers.
    pub filters: FilterLimits,
}
