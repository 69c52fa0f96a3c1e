//! Communication statuses (DDS 1.4 §2.2.4.1): what has happened to an entity, with counts, and how
//! much of it since the status was last read.

use std::ops::{BitOr, BitOrAssign};
use std::sync::Arc;

use tickwire_rtps::qos::{PolicyId, Verdict};
use tickwire_rtps::wire::Guid;

use crate::reader::{InstanceHandle, SampleRejectedReason};

/// A set of statuses that have changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StatusMask(u32);

impl StatusMask {
    /// None.
    pub const NONE: Self = Self(0);
    /// All but [`DATA_ON_READERS`](Self::DATA_ON_READERS), which takes the place of another one.
    pub const ALL: Self = Self(!Self::DATA_ON_READERS.0);
    /// Another endpoint has given the topic another type.
    pub const INCONSISTENT_TOPIC: Self = Self(1);
    /// A period of the offered DEADLINE passed without a write.
    pub const OFFERED_DEADLINE_MISSED: Self = Self(1 << 1);
    /// A period of the requested DEADLINE passed without a sample.
    pub const REQUESTED_DEADLINE_MISSED: Self = Self(1 << 2);
    /// A reader asks for more than the writer offers.
    pub const OFFERED_INCOMPATIBLE_QOS: Self = Self(1 << 5);
    /// A writer offers less than the reader asks for.
    pub const REQUESTED_INCOMPATIBLE_QOS: Self = Self(1 << 6);
    /// Samples were lost on the way.
    pub const SAMPLE_LOST: Self = Self(1 << 7);
    /// Samples found no room.
    pub const SAMPLE_REJECTED: Self = Self(1 << 8);
    /// A reader of the subscriber has samples that were not read. For listeners of subscribers and
    /// participants, which are told of this instead of each reader's
    /// [`DATA_AVAILABLE`](Self::DATA_AVAILABLE) if they are set for it.
    pub const DATA_ON_READERS: Self = Self(1 << 9);
    /// There are samples that were not read.
    pub const DATA_AVAILABLE: Self = Self(1 << 10);
    /// The writer did not show that it lives within its lease.
    pub const LIVELINESS_LOST: Self = Self(1 << 11);
    /// A writer stopped or began to show that it lives.
    pub const LIVELINESS_CHANGED: Self = Self(1 << 12);
    /// A writer matched the reader, or no longer does.
    pub const SUBSCRIPTION_MATCHED: Self = Self(1 << 14);
    /// A reader matched the writer, or no longer does.
    pub const PUBLICATION_MATCHED: Self = Self(1 << 13);

    /// Whether the two sets share a status.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether no status is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// What both sets have.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What this set has and the other has not.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The set as bits, each as DDS 1.4 §2.3.3 numbers the statuses.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The set of these [bits](Self::bits).
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }
}

impl BitOr for StatusMask {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for StatusMask {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Endpoints matched with a writer or a reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchedStatus {
    /// Matches so far.
    pub total_count: u32,
    /// Of them, since the status was last read.
    pub total_count_change: u32,
    /// Matched now.
    pub current_count: u32,
    /// How that has changed since the status was last read.
    pub current_count_change: i32,
    /// The last one that matched or left.
    pub last: Option<Guid>,
}

impl MatchedStatus {
    pub(crate) fn matched(&mut self, peer: Guid) {
        self.total_count += 1;
        self.total_count_change += 1;
        self.current_count += 1;
        self.current_count_change += 1;
        self.last = Some(peer);
    }

    pub(crate) fn unmatched(&mut self, peer: Guid) {
        self.current_count = self.current_count.saturating_sub(1);
        self.current_count_change -= 1;
        self.last = Some(peer);
    }

    pub(crate) fn read(&mut self) -> Self {
        let status = *self;
        self.total_count_change = 0;
        self.current_count_change = 0;
        status
    }
}

/// Endpoints of the same topic that do not match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IncompatibleQosStatus {
    /// How often one was found.
    pub total_count: u32,
    /// Of them, since the status was last read.
    pub total_count_change: u32,
    /// The first policy that the last one disagreed on.
    pub last_policy: Option<PolicyId>,
    /// The last one.
    pub last: Option<Guid>,
    /// Everything that the last one disagreed on, and what to change.
    pub verdict: Option<Arc<Verdict>>,
}

impl IncompatibleQosStatus {
    pub(crate) fn found(&mut self, peer: Guid, verdict: Arc<Verdict>) {
        self.total_count += 1;
        self.total_count_change += 1;
        self.last_policy = verdict.incompatible_policies().next();
        self.last = Some(peer);
        self.verdict = Some(verdict);
    }

    pub(crate) fn read(&mut self) -> Self {
        let status = self.clone();
        self.total_count_change = 0;
        status
    }
}

/// A number of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountStatus {
    /// How many so far.
    pub total_count: u64,
    /// Of them, since the status was last read.
    pub total_count_change: u64,
}

impl CountStatus {
    pub(crate) fn add(&mut self, count: u64) {
        self.total_count += count;
        self.total_count_change += count;
    }

    pub(crate) fn read(&mut self) -> Self {
        let status = *self;
        self.total_count_change = 0;
        status
    }
}

/// Samples that found no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleRejectedStatus {
    /// How many, and how many are new. A sample that is sent again and finds none counts again.
    pub count: CountStatus,
    /// Which limit the last one met.
    pub last_reason: Option<SampleRejectedReason>,
    /// The instance of the last one.
    pub last_instance: Option<InstanceHandle>,
}

/// Periods of DEADLINE that passed without a sample of an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeadlineMissedStatus {
    /// How many, and how many are new.
    pub count: CountStatus,
    /// The instance of the last one.
    pub last_instance: Option<InstanceHandle>,
}

/// Writers that show that they live, and that do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LivelinessChangedStatus {
    /// Matched writers that live.
    pub alive_count: u32,
    /// Matched writers that have fallen silent.
    pub not_alive_count: u32,
    /// How the first has changed since the status was last read.
    pub alive_count_change: i32,
    /// How the second has changed since the status was last read.
    pub not_alive_count_change: i32,
    /// The writer that changed last.
    pub last: Option<Guid>,
}

impl LivelinessChangedStatus {
    pub(crate) fn alive(&mut self, writer: Guid) {
        self.alive_count += 1;
        self.alive_count_change += 1;
        self.last = Some(writer);
    }

    pub(crate) fn silent(&mut self, writer: Guid) {
        self.gone(writer, true);
        self.not_alive_count += 1;
        self.not_alive_count_change += 1;
    }

    pub(crate) fn back(&mut self, writer: Guid) {
        self.gone(writer, false);
        self.alive(writer);
    }

    pub(crate) fn gone(&mut self, writer: Guid, was_alive: bool) {
        let (count, change) = match was_alive {
            true => (&mut self.alive_count, &mut self.alive_count_change),
            false => (&mut self.not_alive_count, &mut self.not_alive_count_change),
        };
        *count = count.saturating_sub(1);
        *change -= 1;
        self.last = Some(writer);
    }

    pub(crate) fn read(&mut self) -> Self {
        let status = *self;
        self.alive_count_change = 0;
        self.not_alive_count_change = 0;
        status
    }
}

impl DeadlineMissedStatus {
    pub(crate) fn missed(&mut self, instance: InstanceHandle) {
        self.count.add(1);
        self.last_instance = Some(instance);
    }

    pub(crate) fn read(&mut self) -> Self {
        Self {
            count: self.count.read(),
            ..*self
        }
    }
}

impl SampleRejectedStatus {
    pub(crate) fn read(&mut self) -> Self {
        Self {
            count: self.count.read(),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use tickwire_rtps::wire::{EntityId, GuidPrefix};

    use super::*;

    fn peer(number: u8) -> Guid {
        Guid::new(GuidPrefix([number; 12]), EntityId::user_writer(1, true))
    }

    #[test]
    fn matches_count_up_and_down_and_their_changes_since_they_were_read() {
        let mut status = MatchedStatus::default();
        status.matched(peer(1));
        status.matched(peer(2));
        let mut expected = MatchedStatus {
            total_count: 2,
            total_count_change: 2,
            current_count: 2,
            current_count_change: 2,
            last: Some(peer(2)),
        };
        assert_eq!(status.read(), expected);
        status.unmatched(peer(1));
        expected.total_count_change = 0;
        (expected.current_count, expected.current_count_change) = (1, -1);
        expected.last = Some(peer(1));
        assert_eq!(status.read(), expected);
        expected.current_count_change = 0;
        assert_eq!(status.read(), expected);
    }

    #[test]
    fn writers_change_between_alive_silent_and_gone() {
        type Step = fn(&mut LivelinessChangedStatus);
        // What happens; who is alive and who is not, and how that has changed.
        let steps: [(Step, [i32; 4]); 6] = [
            (|status| status.alive(peer(1)), [1, 0, 1, 0]),
            (|status| status.silent(peer(1)), [0, 1, -1, 1]),
            (|status| status.back(peer(1)), [1, 0, 1, -1]),
            (|status| status.gone(peer(1), true), [0, 0, -1, 0]),
            (
                |status| {
                    status.alive(peer(2));
                    status.silent(peer(2));
                },
                [0, 1, 0, 1],
            ),
            (|status| status.gone(peer(2), false), [0, 0, 0, -1]),
        ];
        let mut status = LivelinessChangedStatus::default();
        for (number, (step, expected)) in steps.into_iter().enumerate() {
            step(&mut status);
            let read = status.read();
            let counts = [read.alive_count, read.not_alive_count].map(u32::cast_signed);
            let changes = [read.alive_count_change, read.not_alive_count_change];
            assert_eq!([counts, changes].concat(), expected, "step {number}");
        }
    }

    #[test]
    fn reading_clears_the_change_and_keeps_the_total() {
        let mut lost = CountStatus::default();
        let mut missed = DeadlineMissedStatus::default();
        let mut rejected = SampleRejectedStatus::default();
        let mut incompatible = IncompatibleQosStatus::default();
        for (total, change) in [(1, 1), (1, 0), (2, 1)] {
            if change > 0 {
                lost.add(1);
                missed.missed(InstanceHandle::KEYLESS);
                rejected.count.add(1);
                incompatible.found(peer(1), Arc::default());
            }
            let expected = CountStatus {
                total_count: total,
                total_count_change: change,
            };
            assert_eq!(lost.read(), expected);
            assert_eq!(missed.read().count, expected);
            assert_eq!(rejected.read().count, expected);
            let incompatible = incompatible.read();
            let read = (incompatible.total_count, incompatible.total_count_change);
            assert_eq!((u64::from(read.0), u64::from(read.1)), (total, change));
        }
    }
}
