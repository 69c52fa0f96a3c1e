//! What a reader is told at birth, where it delivers to, and what it counts.

use alloc::sync::Arc;
use alloc::vec::Vec;

use tickwire_base::{Duration, Timestamp};

use super::reorder::HeldChange;
use crate::change::{ChangeKind, GroupPlace, KeyHash, OriginalWriter, Place, SampleIdentity};
use crate::wire::{Guid, SequenceNumber, SerializedPayload};

/// Settings of a [`Reader`](super::Reader). Bounds are per matched writer, unless they say that they
/// are for [all](ReaderLimits).
#[derive(Clone, Debug)]
pub struct ReaderConfig {
    /// The reader itself.
    pub guid: Guid,
    /// Whether it asks reliable writers for what it lacks. Default true.
    pub reliable: bool,
    /// Whether [coherent sets](CoherentSet) are delivered whole or not at all: PRESENTATION with
    /// coherent access (DDS 1.4 §2.2.3.6). Default false: their changes are delivered one by one.
    pub coherent: bool,
    /// Whether to look where changes stand among those of their publisher, for
    /// [`ReceivedChange::place`]. Always if [`coherent`](Self::coherent). Default false.
    pub places: bool,
    /// Whether to drop changes that have come before from their
    /// [original writer](ReceivedChange::original), or from another that gave them. For readers that
    /// ask for history. Default false.
    pub originals: bool,
    /// Changes of a set; longer ones are discarded. Default 65,536.
    pub max_set: usize,
    /// Bytes of those. Default 64 MiB.
    pub max_set_len: usize,
    /// Samples kept that came before their turn. Default 4096.
    pub max_held: usize,
    /// Bytes of those; one sample passes, whatever its size. Default 8 MiB.
    pub max_held_len: usize,
    /// Longest fragmented sample in bytes; longer ones are dropped. Default 64 MiB.
    pub max_sample_len: usize,
    /// Samples of which some fragments have arrived. Default 16.
    pub max_partial: usize,
    /// Bytes of those, counting each at its full length. Default 128 MiB.
    pub max_partial_len: usize,
    /// Bounds for all matched writers together.
    pub limits: ReaderLimits,
    /// A partial sample is dropped when no fragment has come for as long. Default 10 s.
    pub fragment_timeout: Duration,
    /// How long to wait for what may only be out of order before asking for it. Default 1 ms.
    pub nack_delay: Duration,
    /// The same sample is not asked for again within this time, or a little longer than the writer usually takes to
    /// send what it is asked for, if that is less; or half as long after the last of this has come. Default 20 ms.
    pub nack_interval: Duration,
    /// Time between greetings (pre-emptive ACKNACKs) to a writer not heard from yet, doubled with
    /// each up to 32 times. Default 100 ms.
    pub greeting_interval: Duration,
}

impl ReaderConfig {
    /// The defaults for the reader `guid`.
    pub const fn new(guid: Guid) -> Self {
        Self {
            guid,
            reliable: true,
            coherent: false,
            places: false,
            originals: false,
            max_set: 1 << 16,
            max_set_len: 64 << 20,
            max_held: 4096,
            max_held_len: 8 << 20,
            max_sample_len: 64 << 20,
            max_partial: 16,
            max_partial_len: 128 << 20,
            limits: ReaderLimits::new(),
            fragment_timeout: Duration::from_secs(10),
            nack_delay: Duration::from_millis(1),
            nack_interval: Duration::from_millis(20),
            greeting_interval: Duration::from_millis(100),
        }
    }
}

/// Bounds on what writers, honest or not, make one reader keep, all of them together, and on what it
/// believes. What goes beyond is refused, and counted in [`ReaderCounters`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReaderLimits {
    /// Samples kept that came before their turn, and as many gaps among their numbers. Default 65,536.
    pub max_held: usize,
    /// Bytes of those; while there are none, one sample passes, whatever its size. Default 64 MiB.
    pub max_held_bytes: usize,
    /// Samples of which some fragments have arrived. Default 1,024.
    pub max_partial: usize,
    /// Bytes of those, counting each at its full length. Default 512 MiB.
    pub max_partial_bytes: usize,
    /// Changes kept of coherent sets that have not ended. Beyond that, the largest set is discarded.
    /// Default 262,144.
    pub max_set: usize,
    /// Bytes of those. Default 256 MiB.
    pub max_set_bytes: usize,
    /// How many sequence numbers a writer may go ahead at once. Default 16,777,216. A longer jump is
    /// only believed when the next submessage confirms it, as a single broken or forged one would
    /// otherwise make all samples before it count as lost.
    pub max_jump: u64,
}

impl ReaderLimits {
    /// The defaults.
    pub const fn new() -> Self {
        Self {
            max_held: 1 << 16,
            max_held_bytes: 64 << 20,
            max_partial: 1 << 10,
            max_partial_bytes: 512 << 20,
            max_set: 1 << 18,
            max_set_bytes: 256 << 20,
            max_jump: 1 << 24,
        }
    }
}

impl Default for ReaderLimits {
    fn default() -> Self {
        Self::new()
    }
}

/// Where a reader's changes go: the cache or the listener of the layer above.
pub trait Sink {
    /// Takes the next change of a writer. Each writer's changes come in ascending order, none twice.
    ///
    /// The answer [`Delivery::Full`] refuses it: a reliable writer is not told that it arrived, and
    /// it comes again when more of the writer's does and upon [`Reader::resume`](super::Reader::resume).
    /// From a best-effort writer it is lost.
    fn deliver(&mut self, change: &ReceivedChange<'_>) -> Delivery;

    /// Takes changes that follow one of that writer and number, which has just been [delivered](Self::deliver), and
    /// differ from it in what [`NextChange`] has alone: as many as `next` gives, or as there is room for. Each that was
    /// given counts as taken. By default none, as each can be delivered by itself.
    fn deliver_run<'a>(
        &mut self,
        behind: (Guid, SequenceNumber),
        next: impl FnMut() -> Option<NextChange<'a>>,
    ) {
        let _ = (behind, next);
    }

    /// `count` changes of a writer will never come.
    fn lost(&mut self, writer: Guid, count: u64);

    /// A change that has come before from another writer, to which it [goes back](ReceivedChange::original),
    /// or which gave it in this one's stead. It is not delivered again, but its writer has something to say
    /// about its instance now. By default nothing.
    fn known(&mut self, change: ReceivedChange<'_>) {
        let _ = change;
    }

    /// Takes all changes of a coherent set, or refuses them all as [`deliver`](Self::deliver) does.
    /// Only called if the reader is [coherent](ReaderConfig::coherent); by default each change is
    /// delivered by itself, which does for a sink that is never full.
    fn deliver_set(&mut self, set: CoherentSet<'_>) -> Delivery {
        for change in set.iter() {
            if self.deliver(&change) == Delivery::Full {
                return Delivery::Full;
            }
        }
        Delivery::Accepted
    }

    /// The first change of a writer's part in a coherent set of its publisher has come; `group_set`
    /// is the publisher's number for the set. By default nothing.
    fn set_begun(&mut self, writer: Guid, group_set: SequenceNumber) {
        let _ = (writer, group_set);
    }

    /// A coherent set has ended in this writer, delivered or not; see [`SetEnd`]. Called where the
    /// set is one of the publisher's, also if the writer had no part in it. By default nothing.
    fn set_ended(&mut self, writer: Guid, end: SetEnd) {
        let _ = (writer, end);
    }
}

/// A change of a stream: what it does not have in common with the one before.
#[derive(Clone, Copy, Debug)]
pub struct NextChange<'a> {
    /// The number after that one's.
    pub sequence_number: SequenceNumber,
    /// When the writer made it, if it says so.
    pub source_timestamp: Option<Timestamp>,
    /// The serialized value.
    pub payload: &'a [u8],
}

/// A coherent set of one writer: all its changes, in ascending order.
#[derive(Clone, Copy, Debug)]
pub struct CoherentSet<'a> {
    /// Who made it.
    pub writer: Guid,
    /// The publisher's number for the set; [`SequenceNumber::ZERO`] if it is the writer's alone.
    pub group_set: SequenceNumber,
    /// Whether it was refused before, as it is.
    pub was_refused: bool,
    pub(super) changes: &'a [(SequenceNumber, HeldChange)],
}

impl CoherentSet<'_> {
    /// Its changes; there is at least one.
    pub fn iter(&self) -> impl Iterator<Item = ReceivedChange<'_>> {
        self.changes
            .iter()
            .map(|(number, change)| change.as_received(self.writer, *number))
    }

    /// How many there are.
    #[expect(clippy::len_without_is_empty, reason = "it never is")]
    pub fn len(&self) -> usize {
        self.changes.len()
    }
}

/// The end of a writer's part in a coherent set of its publisher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetEnd {
    /// The publisher's numbers for the set and for its end.
    pub group: GroupPlace,
    /// The numbers that the part takes in the writer's history, the end included.
    pub first: SequenceNumber,
    /// The last of them.
    pub last: SequenceNumber,
    /// Whether the writer had ended it before it first answered the reader: it is older than their
    /// match.
    pub is_history: bool,
    /// What became of the part.
    pub part: SetPart,
}

/// What a writer contributed to a coherent set of its publisher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetPart {
    /// Nothing, as the writer says.
    Empty,
    /// Nothing that has come. Whether there was anything shows in whether numbers before the end are
    /// missing.
    Unheard,
    /// Changes that have been delivered as a set.
    Delivered,
    /// Changes of which some are missing, or too many.
    Discarded,
}

/// What became of a change that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Delivery {
    /// It was taken.
    Accepted,
    /// There is no room for it now.
    Full,
}

/// A change as it came from a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedChange<'a> {
    /// Who made it.
    pub writer: Guid,
    /// Its place in the writer's history.
    pub sequence_number: SequenceNumber,
    /// What it does to its instance.
    pub kind: ChangeKind,
    /// When it was made, if the writer says so.
    pub source_timestamp: Option<Timestamp>,
    /// When the kernel received the datagram with it, or with the fragment that made it whole, if that is
    /// known.
    pub kernel_timestamp: Option<Timestamp>,
    /// Its instance, if the writer says so.
    pub key_hash: Option<KeyHash>,
    /// Where it stands among others, as far as the reader [looks](ReaderConfig::places).
    pub place: Place,
    /// Who wrote it first, if it was another writer and the reader [looks](ReaderConfig::originals).
    pub original: Option<OriginalWriter>,
    /// The sample that it answers, if it does.
    pub related: Option<SampleIdentity>,
    /// The serialized value or key with its encapsulation header. It may be followed by up to three
    /// bytes of padding.
    pub payload: SerializedPayload<'a>,
    /// What that is, if it is so long (more than 64 KiB) that it has memory of its own. That is used for nothing else
    /// while somebody has a reference to it.
    pub memory: Option<&'a Arc<Vec<u8>>>,
}

impl ReceivedChange<'_> {
    /// Whether it only says that a coherent set has ended.
    pub(super) fn is_end_of_set(&self) -> bool {
        self.kind.is_alive() && self.payload == SerializedPayload::None && self.place.is_end()
    }
}

/// What a reader has seen, in samples unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReaderCounters {
    /// Taken by the sink, or kept for it until their coherent set is whole.
    pub delivered: u64,
    /// Coherent sets that were not delivered: a change was lost, replaced before it was sent again,
    /// or came before the reader was matched; there were more than
    /// [`max_set`](ReaderConfig::max_set), or in all sets more than [`ReaderLimits`] allow; or the
    /// writer was unmatched before the end.
    pub sets_discarded: u64,
    /// Changes that had come of those sets; the sink is told that they are lost.
    pub set_changes_discarded: u64,
    /// Came again, or too late for a best-effort reader.
    pub duplicates: u64,
    /// Dropped because they had come before from their original writer, or from another that gave them.
    pub known: u64,
    /// Runs of sequence numbers that had come of writers which others speak for, and were forgotten
    /// to make room for others: these may come again.
    pub forgotten: u64,
    /// Came before their turn and were kept.
    pub held: u64,
    /// Came before their turn when no more could be kept, or made way for what is needed first; they
    /// are asked for again.
    pub dropped: u64,
    /// Refused by the sink, each time counted.
    pub refused: u64,
    /// Will never come.
    pub lost: u64,
    /// Dropped for a parameter that must be understood but is not known here; of a fragmented
    /// sample, each fragment that says so.
    pub not_understood: u64,
    /// Had come, whole or in part, but were not delivered when their writer was unmatched.
    pub abandoned: u64,
    /// Numbers that a writer declared irrelevant, in GAP submessages.
    pub gaps: u64,
    /// DATA_FRAG submessages taken.
    pub fragments: u64,
    /// Partial samples given up for lack of room or for their age.
    pub partial_dropped: u64,
    /// HEARTBEAT submessages taken.
    pub heartbeats: u64,
    /// ACKNACK submessages sent.
    pub acknacks: u64,
    /// NACK_FRAG submessages sent.
    pub nack_frags: u64,
    /// Submessages from writers that are not matched.
    pub from_unmatched: u64,
    /// Heartbeats with a repeated or old count.
    pub stale: u64,
    /// Submessages that contradict themselves or what was said before.
    pub misbehaved: u64,
    /// Writers that began to count anew.
    pub restarts: u64,
    /// Submessages that were not believed, as they go further ahead than
    /// [`max_jump`](ReaderLimits::max_jump).
    pub jumps: u64,
}
