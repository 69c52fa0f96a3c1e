//! The life of one instance, as a reader sees it (DDS 1.4 §2.2.2.5.1.3 to §2.2.2.5.1.5).

use tickwire_base::{Instant, Timestamp};
use tickwire_rtps::wire::{Guid, SequenceNumber};

use super::info::{InstanceHandle, InstanceState, SampleInfo, ViewState};
use super::insert::Arrival;
use super::slots::List;

/// An instance and the list of its samples.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) handle: InstanceHandle,
    /// The serialized key; empty if it cannot be known, `None` as long as nobody looked.
    pub(crate) key: Option<Box<[u8]>>,
    pub(crate) view: ViewState,
    pub(crate) state: InstanceState,
    /// When that was last said.
    pub(crate) state_since: Instant,
    pub(crate) disposed_generation: u32,
    pub(crate) no_writers_generation: u32,
    pub(crate) samples: List,
    /// Of those, the ones without a value, which tell of a change of state.
    pub(crate) notice_count: usize,
    /// Writers that have something to say about it.
    writers: Vec<Guid>,
    /// Under EXCLUSIVE ownership, who is listened to, and how strong it is.
    owner: Option<(i32, Guid)>,
    /// Source timestamp and writer of the newest sample, which order samples BY_SOURCE_TIMESTAMP.
    newest: Option<(Timestamp, Guid)>,
    /// The last sample that came from its own writer.
    last_own: Option<(Guid, SequenceNumber)>,
    pub(crate) rank: Rank,
    /// The last collection that looked for its samples.
    pub(crate) visited: u64,
}

/// Scratch for the ranks of one collection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rank {
    /// The collection that the other fields belong to.
    pub(crate) collection: u64,
    /// Samples of the instance counted so far, from the end.
    pub(crate) count: u32,
    /// Generation of the instance's last sample in the collection.
    pub(crate) newest_generation: u32,
}

impl Instance {
    pub(crate) fn new(handle: InstanceHandle) -> Self {
        Self {
            handle,
            key: None,
            view: ViewState::New,
            state: InstanceState::Alive,
            state_since: Instant::ZERO,
            disposed_generation: 0,
            no_writers_generation: 0,
            samples: List::default(),
            notice_count: 0,
            writers: Vec::new(),
            owner: None,
            newest: None,
            last_own: None,
            rank: Rank::default(),
            visited: 0,
        }
    }

    /// A collection returns a sample of it: fills in the states, and begins its ranks.
    #[inline]
    pub(super) fn show(&mut self, info: &mut SampleInfo, collection: u64) {
        info.view_state = self.view;
        info.instance_state = self.state;
        if self.rank.collection != collection {
            self.rank = Rank {
                collection,
                ..Rank::default()
            };
        }
        let newest = self.rank.newest_generation.max(info.generation());
        self.rank.newest_generation = newest;
    }

    /// A collection returns one more sample of it, before those that it counted so far: how many these are.
    #[inline]
    pub(super) fn count_back(&mut self, collection: u64) -> u32 {
        if self.rank.collection != collection {
            self.view = ViewState::NotNew;
            self.rank = Rank {
                collection,
                ..Rank::default()
            };
        }
        let behind = self.rank.count;
        self.rank.count = behind.saturating_add(1);
        behind
    }

    pub(crate) fn generation(&self) -> u32 {
        self.disposed_generation
            .saturating_add(self.no_writers_generation)
    }

    /// A value arrived: the instance exists, again if it had ended.
    pub(crate) fn revive(&mut self, writer: Guid) {
        self.register(writer);
        let generation = match self.state {
            InstanceState::Alive => return,
            InstanceState::Disposed => &mut self.disposed_generation,
            InstanceState::NoWriters => &mut self.no_writers_generation,
        };
        *generation = generation.saturating_add(1);
        self.state = InstanceState::Alive;
        self.view = ViewState::New;
    }

    /// A value came of a writer that the instance has, while it was alive: nothing changes but the time. False, and
    /// nothing is done, if it is otherwise.
    #[inline(always)]
    pub(super) fn goes_on(&mut self, arrival: &Arrival) -> bool {
        if !self.would_go_on(arrival.writer) {
            return false;
        }
        self.has_come(arrival.writer, arrival.sequence_number);
        self.state_since = arrival.received_at;
        true
    }

    /// Whether a value of that writer changes nothing but the time.
    #[inline(always)]
    pub(super) fn would_go_on(&self, writer: Guid) -> bool {
        let is_known = match self.writers.as_slice() {
            [only] => *only == writer,
            writers => writers.contains(&writer),
        };
        is_known && self.key.is_some() && self.state == InstanceState::Alive
    }

    /// The last sample that came from its own writer is that one.
    #[inline]
    pub(super) fn has_come(&mut self, writer: Guid, number: SequenceNumber) {
        self.last_own = Some((writer, number));
    }

    /// A value came again by another writer: the instance has one, but is no more alive than it was if it
    /// was disposed of.
    pub(crate) fn succeed(&mut self, writer: Guid) {
        match self.state {
            InstanceState::NoWriters => self.revive(writer),
            InstanceState::Alive | InstanceState::Disposed => self.register(writer),
        }
    }

    /// Whether that changed anything.
    pub(crate) fn dispose(&mut self, writer: Guid) -> bool {
        self.register(writer);
        let changed = self.state != InstanceState::Disposed;
        self.state = InstanceState::Disposed;
        changed
    }

    /// Whether that left the instance without writers while it was alive.
    pub(crate) fn unregister(&mut self, writer: Guid) -> bool {
        let before = self.writers.len();
        self.writers.retain(|&known| known != writer);
        if self.owner.is_some_and(|(_, owner)| owner == writer) {
            self.owner = None;
        }
        let orphaned = self.writers.is_empty() && before > 0 && self.state == InstanceState::Alive;
        if orphaned {
            self.state = InstanceState::NoWriters;
        }
        orphaned
    }

    /// Whether the writer is the instance's owner, or strong enough to become it (DDS 1.4
    /// §2.2.3.9.2). Of equally strong writers the lower GUID wins, on every reader alike.
    pub(crate) fn yields_to(&mut self, writer: Guid, strength: i32) -> bool {
        let wins = self.owner.is_none_or(|(owner_strength, owner)| {
            owner == writer || (strength, owner) > (owner_strength, writer)
        });
        if wins {
            self.owner = Some((strength, writer));
        }
        wins
    }

    /// A writer has another strength now, which counts at once if it is the owner.
    pub(crate) fn change_strength(&mut self, writer: Guid, strength: i32) {
        if let Some((owner_strength, owner)) = &mut self.owner
            && *owner == writer
        {
            *owner_strength = strength;
        }
    }

    /// Nobody owns it.
    pub(crate) fn release(&mut self) {
        self.owner = None;
    }

    /// Whether a sample is not older than the newest one (DDS 1.4 §2.2.3.18); notes it if so.
    pub(crate) fn advances_to(&mut self, timestamp: Timestamp, writer: Guid) -> bool {
        let advances = self
            .newest
            .is_none_or(|newest| (timestamp, writer) >= newest);
        if advances {
            self.newest = Some((timestamp, writer));
        }
        advances
    }

    /// Whether a sample is not one that another gives (RTPS 2.5 §8.7.9) though its writer itself has
    /// gone on; notes how far a writer has got.
    pub(crate) fn follows(&mut self, arrival: &Arrival) -> bool {
        let Some(original) = arrival.original else {
            self.last_own = Some((arrival.writer, arrival.sequence_number));
            return true;
        };
        self.last_own.is_none_or(|(writer, number)| {
            writer != original.guid || number < original.sequence_number
        })
    }

    /// Whether nothing would be forgotten with it. One that is alive without writers never had a
    /// sample.
    pub(crate) fn is_over(&self) -> bool {
        self.samples.len == 0 && self.writers.is_empty()
    }

    /// Whether it would be left without writers if this one took leave.
    pub(crate) fn depends_on(&self, writer: Guid) -> bool {
        self.writers.iter().all(|&known| known == writer)
    }

    /// The writer has something to say about it.
    pub(crate) fn register(&mut self, writer: Guid) {
        if !self.writers.contains(&writer) {
            self.writers.push(writer);
        }
    }
}
