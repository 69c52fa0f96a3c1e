//! What a writer is told at birth, what it answers to a write, and what it counts.

use tickwire_base::Duration;

use crate::wire::Guid;

/// Settings of a [`Writer`](super::Writer).
#[derive(Clone, Debug)]
pub struct WriterConfig {
    /// The writer itself.
    pub guid: Guid,
    /// Whether reliable readers are served reliably. Default true.
    pub reliable: bool,
    /// Whether late joiners that ask for history get it. Default false: samples are forgotten once
    /// they are sent and acknowledged.
    pub transient_local: bool,
    /// How many samples are kept. Default the last one of each instance, as DDS 1.4 §2.2.3.18.
    pub history: HistoryKind,
    /// Bounds on the history. Default none.
    pub limits: ResourceLimits,
    /// What is kept for late joiners of changes that the history has let go of, if the writer is its own
    /// durability service. Then `history` and `limits` hold for changes alone that some reliable reader
    /// has not acknowledged, and for their instances. Default none: they hold for all.
    pub service: Option<ServiceHistory>,
    /// How long a change stays in the history: the LIFESPAN policy (DDS 1.4 §2.2.3.16), counted
    /// from the write. Then it is removed as if it had been replaced, whether readers have it or
    /// not. Default for ever.
    pub lifespan: Duration,
    /// Whether changes carry their [`Place`](crate::Place) in coherent sets and in their publisher,
    /// up to 36 bytes each: PRESENTATION with coherent access or GROUP scope (DDS 1.4 §2.2.3.6).
    /// Default false.
    pub presents: bool,
    /// Whether changes say who wrote them first if it was another writer, 32 bytes each (RTPS 2.5
    /// §8.7.9), so that readers do not take twice what they had from that one. Default false.
    pub relays: bool,
    /// Whether changes say which sample they answer, if they answer one, 56 bytes each (DDS-RPC 1.0
    /// §7.8.2). Default false.
    pub relates: bool,
    /// Whether DATA of keyed topics carries the key hash even when no reader asks: 24 bytes that
    /// spare readers computing it. What is [lent](super::Writer::write_lent) has none unless a reader asks; dispose and
    /// unregister always carry it. Default true.
    pub key_hash_with_data: bool,
    /// Whether changes go to a group that several readers listen to, once for all of them, instead of to
    /// each alone. Repairs go to each alone in any case. Default true.
    pub multicast: bool,
    /// Bounds on the content filters that the writer evaluates for its readers.
    pub filter_limits: FilterLimits,
    /// Longest datagram in bytes; samples that do not fit are fragmented. Default 14,720, which is
    /// ten Ethernet frames. Taken as 512 if less and as 65,000 if more.
    pub max_message_len: usize,
    /// Longest message in bytes where it goes by streams alone; samples that do not fit are fragmented as
    /// for datagrams. Default 0, as if streams took no more than datagrams.
    pub max_stream_message_len: usize,
    /// Longest fragment of a sample, in bytes; taken as 64 if less, as readers refuse long samples in
    /// shorter ones. Default what fits a message. Samples that are longer are sent in fragments.
    pub max_fragment_len: usize,
    /// As many bytes may be in flight of samples that are sent in fragments, or fewer when readers report
    /// losses, or by a [`Log`](super::Log) as many as its longest message has; more go in
    /// [bursts](Self::burst_len). Under KEEP_ALL, writes are refused while as many
    /// are not acknowledged; each sample counts with [`SAMPLE_OVERHEAD_LEN`] on top.
    /// Acknowledgement is asked for at every quarter of it. One sample always passes, whatever its
    /// size. Default 1 MiB.
    pub max_unacknowledged_len: usize,
    /// Time between heartbeats while a reader lags, doubled with each that brings no progress up to
    /// 64 times. Default 100 ms.
    pub heartbeat_period: Duration,
    /// The same sample is not sent again to the same reader within this time. Default 1 ms.
    pub repair_interval: Duration,
    /// Repairs, and fragments beyond what may be in flight or to readers that acknowledge nothing, are sent
    /// in bursts of as many bytes, headers counted. Default 64 KiB, which
    /// fits the usual socket buffers.
    pub burst_len: usize,
    /// Time between bursts. Default 0.5 ms, hence 131 MB/s.
    pub burst_interval: Duration,
}

impl WriterConfig {
    /// The defaults for the writer `guid`.
    pub const fn new(guid: Guid) -> Self {
        Self {
            guid,
            reliable: true,
            transient_local: false,
            history: HistoryKind::KeepLast(1),
            limits: ResourceLimits::NONE,
            service: None,
            lifespan: Duration::MAX,
            presents: false,
            relays: false,
            relates: false,
            key_hash_with_data: true,
            multicast: true,
            filter_limits: FilterLimits::new(),
            max_message_len: 14_720,
            max_stream_message_len: 0,
            max_fragment_len: usize::MAX,
            max_unacknowledged_len: 1 << 20,
            heartbeat_period: Duration::from_millis(100),
            repair_interval: Duration::from_micros(500),
            burst_len: 64 << 10,
            burst_interval: Duration::from_micros(500),
        }
    }
}

/// Bounds on the content filters that a writer evaluates for its readers. Beyond them it sends
/// everything, and readers filter for themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilterLimits {
    /// Readers with a filter. Default 64.
    pub max_filters: usize,
    /// Comparisons in all filters, each of which is made for every sample. Default 1,024.
    pub max_comparisons: usize,
}

impl FilterLimits {
    /// The defaults.
    pub const fn new() -> Self {
        Self {
            max_filters: 64,
            max_comparisons: 1_024,
        }
    }
}

impl Default for FilterLimits {
    fn default() -> Self {
        Self::new()
    }
}

/// The HISTORY policy (DDS 1.4 §2.2.3.18).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryKind {
    /// The newest samples of each instance; 0 is taken as 1. A sample that nobody has acknowledged
    /// yet makes way like any other, but for one of which some fragments are still to be sent: it
    /// stays until they are, at depth 1 beside the newest. Where a deeper
    /// [service](WriterConfig::service) keeps it for late joiners, readers that lack it still get it.
    KeepLast(u32),
    /// Every sample until all reliable readers have it. A reader that lives but never acknowledges
    /// holds up writes until it is unmatched:
    /// [`ReaderStatus::acknowledged`](super::ReaderStatus::acknowledged) tells which it is.
    KeepAll,
}

/// The RESOURCE_LIMITS policy (DDS 1.4 §2.2.3.19); `None` is unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ResourceLimits {
    /// Samples of all instances.
    pub max_samples: Option<usize>,
    /// Instances that have samples in the history.
    pub max_instances: Option<usize>,
    /// Samples of one instance; of a writer's history for KEEP_ALL only.
    pub max_samples_per_instance: Option<usize>,
}

impl ResourceLimits {
    /// No limit.
    pub const NONE: Self = Self {
        max_samples: None,
        max_instances: None,
        max_samples_per_instance: None,
    };
}

/// The DURABILITY_SERVICE policy (DDS 1.4 §2.2.3.5). What was written last is kept; the oldest makes way
/// once every reliable reader has it, or a newer change of the instance replaces it by HISTORY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceHistory {
    /// Changes of each instance.
    pub history: HistoryKind,
    /// Bounds on all, of which none refuses a write.
    pub limits: ResourceLimits,
    /// How long an instance is kept after it was disposed and unregistered.
    pub cleanup_delay: Duration,
}

/// Why a change was not written. Nothing of it is in the history, though older samples that
/// everybody has may have made room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteError<E> {
    /// The history is full of samples that readers have not acknowledged. Try again after the next
    /// acknowledgement, or after a reader is unmatched.
    WouldBlock,
    /// The change begins one more instance than [`ResourceLimits::max_instances`] allows.
    TooManyInstances,
    /// The payload has more bytes than the wire can say (2^32 - 1).
    TooLarge,
    /// The payload could not be serialized.
    Payload(E),
}

impl<E: core::fmt::Display> core::fmt::Display for WriteError<E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::WouldBlock => f.write_str("history is full of unacknowledged samples"),
            Self::TooManyInstances => f.write_str("resource limits allow no further instance"),
            Self::TooLarge => f.write_str("serialized sample exceeds 2^32 - 1 bytes"),
            Self::Payload(error) => write!(f, "sample cannot be serialized: {error}"),
        }
    }
}

impl<E: core::error::Error> core::error::Error for WriteError<E> {}

/// What a writer has done, in samples unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct WriterCounters {
    /// Written by the application.
    pub written: u64,
    /// Taken over from another writer's history.
    pub restored: u64,
    /// Writes refused because the history was full.
    pub would_block: u64,
    /// Sent for the first time, fragmented ones when their last fragment is.
    pub sent: u64,
    /// Of those, how many went to a group that several readers share.
    pub sent_by_group: u64,
    /// Sent again at a reader's request, fragmented ones when their last fragment is.
    pub resent: u64,
    /// Fragments sent for the first time.
    pub fragments_sent: u64,
    /// Fragments sent again.
    pub fragments_resent: u64,
    /// Requests left unanswered because the answer was already under way.
    pub suppressed: u64,
    /// Not sent to a reader because its content filter does not pass them, counted per reader.
    pub filtered: u64,
    /// Content filters that are left to their readers, as they go beyond
    /// [`FilterLimits`].
    pub filters_refused: u64,
    /// GAP submessages.
    pub gaps: u64,
    /// HEARTBEAT submessages.
    pub heartbeats: u64,
    /// ACKNACK submessages taken.
    pub acknacks: u64,
    /// NACK_FRAG submessages taken.
    pub nack_frags: u64,
    /// Replaced or dropped under KEEP_LAST, or expired, before all reliable readers had them.
    pub removed_before_ack: u64,
    /// Removed from the history at the end of their LIFESPAN.
    pub expired: u64,
    /// ACKNACK and NACK_FRAG from readers that are not matched.
    pub from_unmatched: u64,
    /// ACKNACK and NACK_FRAG with a repeated or old count.
    pub stale: u64,
    /// ACKNACK and NACK_FRAG that no reader may send, such as for samples never written.
    pub misbehaved: u64,
}

/// What a sample costs beyond its payload in sockets and history, in bytes.
pub const SAMPLE_OVERHEAD_LEN: usize = 256;
