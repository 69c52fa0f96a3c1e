//! What a writer that is its own durability service keeps for readers that come late (DDS 1.4 §2.2.3.5):
//! changes that HISTORY has let go of, since everybody has them or newer ones replace them. Knows
//! nothing of where they outlive the writer.

use alloc::collections::BTreeSet;

use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use tickwire_base::{Duration, Instant};

use super::{HistoryKind, Lent, Log, Refused, ServiceHistory, Writer};
use crate::change::{Change, ChangeKind, KeyHash};
use crate::history::History;
use crate::schedule::Schedule;
use crate::wire::SequenceNumber;

/// Which changes HISTORY has let go of, and which instances may go.
pub(super) struct Retained {
    service: ServiceHistory,
    /// Changes of each instance.
    depth: usize,
    /// Changes that HISTORY holds: not everybody has them, and no newer ones replace them.
    held: usize,
    /// Their instances.
    instances: HashMap<Option<KeyHash>, Held>,
    /// Changes that not everybody has, but newer ones replace by HISTORY.
    displaced: BTreeSet<SequenceNumber>,
    /// The newest change of each instance, where the number of instances is limited.
    newest: BTreeSet<SequenceNumber>,
    /// Instances that are disposed.
    disposed: HashSet<Option<KeyHash>>,
    /// Those of them that are unregistered, and when they may go.
    ended: Schedule<Option<KeyHash>>,
}

/// What HISTORY holds of an instance.
struct Held {
    count: usize,
    oldest: SequenceNumber,
}

impl Retained {
    pub(super) fn new(service: ServiceHistory) -> Self {
        let depth = match service.history {
            HistoryKind::KeepLast(depth) => usize::try_from(depth).unwrap_or(usize::MAX),
            HistoryKind::KeepAll => usize::MAX,
        };
        let limit = service.limits.max_samples_per_instance;
        Self {
            service,
            depth: depth.min(limit.unwrap_or(usize::MAX)).max(1),
            held: 0,
            instances: HashMap::new(),
            displaced: BTreeSet::new(),
            newest: BTreeSet::new(),
            disposed: HashSet::new(),
            ended: Schedule::default(),
        }
    }

    /// Changes of each instance.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Changes of an instance that HISTORY holds.
    fn held_of(&self, key: Option<KeyHash>) -> usize {
        self.instances.get(&key).map_or(0, |held| held.count)
    }

    /// Whether HISTORY holds something of so many other instances.
    pub(super) fn has_instances_besides(&self, key: Option<KeyHash>, count: usize) -> bool {
        self.instances.len() >= count && !self.instances.contains_key(&key)
    }

    /// HISTORY holds one more change of an instance, and `depth` of them at most.
    fn hold(&mut self, history: &History<impl Lent>, key: Option<KeyHash>, depth: usize) {
        let Some(number) = history.newest_of(key).next() else {
            return;
        };
        let (count, oldest) = (0, number);
        let held = self.instances.entry(key).or_insert(Held { count, oldest });
        if held.count < depth {
            held.count += 1;
            self.held += 1;
        } else {
            self.displaced.insert(held.oldest);
            held.oldest = history.newer_than(held.oldest).unwrap_or(number);
        }
    }

    /// HISTORY no longer has to hold a change, after which `newer` comes in its instance.
    fn let_go(
        &mut self,
        key: Option<KeyHash>,
        number: SequenceNumber,
        newer: Option<SequenceNumber>,
    ) {
        if self.displaced.remove(&number) {
            return;
        }
        let Entry::Occupied(mut entry) = self.instances.entry(key) else {
            return;
        };
        self.held -= 1;
        let held = entry.get_mut();
        held.count -= 1;
        if held.count == 0 {
            entry.remove();
        } else if held.oldest == number {
            held.oldest = newer.unwrap_or(number);
        }
    }

    /// Follows what becomes of an instance, which was written to `age` ago.
    fn follow(&mut self, now: Instant, change: &Change, age: Duration) {
        let (key, delay) = (change.key_hash, self.service.cleanup_delay);
        match change.kind {
            ChangeKind::Alive => {
                self.disposed.remove(&key);
            }
            ChangeKind::Disposed | ChangeKind::DisposedUnregistered => {
                self.disposed.insert(key);
            }
            ChangeKind::Unregistered => {}
        }
        if !change.kind.is_unregistered() || !self.disposed.contains(&key) {
            self.ended.remove(&key);
        } else if delay.is_zero() {
            // It goes with the acknowledgement, which needs no timer.
            self.ended.set(key, Instant::MAX);
        } else {
            self.ended.set(key, now + delay.saturating_sub(age));
        }
    }
}

impl<L: Log> Writer<L> {
    /// Makes room for one change of the instance by what HISTORY and RESOURCE_LIMITS say, which do not
    /// count what is kept for others.
    pub(super) fn make_room_retained(&self, key: Option<KeyHash>) -> Result<(), Refused> {
        let Some(retained) = &self.retained else {
            return Ok(());
        };
        let limits = self.config.limits;
        let holds = |limit: usize| retained.held_of(key) >= limit;
        let is_full = limits.max_samples.is_some_and(|max| retained.held >= max);
        let is_refused = match self.config.history {
            // A write may replace a change of its own instance.
            HistoryKind::KeepLast(_) => is_full && !holds(self.history_depth()),
            HistoryKind::KeepAll => is_full || limits.max_samples_per_instance.is_some_and(holds),
        };
        match is_refused {
            true => Err(Refused::Full),
            false => Ok(()),
        }
    }

    /// A change has come into the history, which was written `age` ago.
    pub(super) fn note_written(&mut self, now: Instant, change: &Change, age: Duration) {
        let (depth, key) = (self.history_depth(), change.key_hash);
        let Some(retained) = &mut self.retained else {
            return;
        };
        if retained.service.limits.max_instances.is_some() {
            if let Some(before) = self.history.newest_of(key).nth(1) {
                retained.newest.remove(&before);
            }
            retained.newest.insert(self.last);
        }
        if self.last > self.released {
            retained.hold(&self.history, key, depth);
        }
        retained.follow(now, change, age);
        self.trim_retained();
    }

    /// Everybody has a change.
    pub(super) fn retain(&mut self, number: SequenceNumber, key: Option<KeyHash>) {
        let Some(retained) = &mut self.retained else {
            return;
        };
        retained.let_go(key, number, self.history.newer_than(number));
        let is_last = self.history.newest_of(key).next() == Some(number);
        let goes = is_last && retained.ended.get(&key) == Some(Instant::MAX);
        let depth = match goes {
            true => 0,
            false => retained.depth,
        };
        while self.history.instance_len(key) > depth
            && let Some(oldest) = self.history.oldest_of(key)
            && oldest <= self.released
        {
            self.forget(oldest, key);
        }
        self.trim_retained();
    }

    /// A change has left the history, after which `newer` comes in its instance.
    pub(super) fn note_removed(
        &mut self,
        number: SequenceNumber,
        key: Option<KeyHash>,
        newer: Option<SequenceNumber>,
    ) {
        let Some(retained) = &mut self.retained else {
            return;
        };
        if number > self.released {
            retained.let_go(key, number, newer);
        }
        let newest = self.history.newest_of(key).next();
        if retained.newest.remove(&number)
            && let Some(newest) = newest
        {
            retained.newest.insert(newest);
        }
    }

    /// Removes a change that no other of its instance replaces.
    fn forget(&mut self, number: SequenceNumber, key: Option<KeyHash>) {
        self.remove(number);
        if let Some(retained) = &mut self.retained
            && self.history.instance_len(key) == 0
        {
            retained.disposed.remove(&key);
            retained.ended.remove(&key);
        }
    }

    /// Removes the oldest of what is kept for others where that is too much.
    fn trim_retained(&mut self) {
        while let Some((number, key)) = self.excess() {
            self.forget(number, key);
        }
        while let Some(key) = self.excess_instance() {
            self.remove_instance(key);
        }
    }

    /// The oldest change that may go, if there are too many.
    fn excess(&mut self) -> Option<(SequenceNumber, Option<KeyHash>)> {
        let max_samples = self.retained.as_ref()?.service.limits.max_samples?;
        if self.history.len() <= max_samples {
            return None;
        }
        let oldest = self.history.oldest()?;
        let excess = match oldest <= self.released {
            true => oldest,
            false => {
                let mut displaced = self.retained.as_ref()?.displaced.iter().copied();
                displaced.find(|&number| !self.is_under_way(Some(number)))?
            }
        };
        Some((excess, self.history.get(excess)?.key_hash()))
    }

    /// The instance to which nothing was written for the longest time, if there are too many and
    /// everybody knows all of it.
    fn excess_instance(&self) -> Option<Option<KeyHash>> {
        let retained = self.retained.as_ref()?;
        if self.history.instance_count() <= retained.service.limits.max_instances? {
            return None;
        }
        let newest = *retained.newest.first()?;
        let change = self
            .history
            .get(newest)
            .filter(|_| newest <= self.released)?;
        Some(change.key_hash())
    }

    fn remove_instance(&mut self, key: Option<KeyHash>) {
        while let Some(oldest) = self.history.oldest_of(key) {
            self.forget(oldest, key);
        }
    }

    /// When the next instance is to be forgotten.
    pub(super) fn next_cleanup(&self) -> Option<Instant> {
        let (at, _) = self.retained.as_ref()?.ended.first()?;
        Some(at).filter(|&at| at < Instant::MAX)
    }

    /// Forgets the instances whose time has come. Those whose end somebody has yet to hear of stay until
    /// he has.
    pub(super) fn clean_up(&mut self, now: Instant) {
        while let Some(retained) = &mut self.retained
            && let Some(key) = retained.ended.pop_due(now)
        {
            let newest = self.history.newest_of(key).next();
            match newest.is_some_and(|newest| newest > self.released) {
                true => retained.ended.set(key, Instant::MAX),
                false => self.remove_instance(key),
            }
        }
    }
}
