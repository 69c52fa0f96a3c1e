//! The other rendezvous. Sends nothing.

use alloc::vec::Vec;

use tickwire_base::{Duration, Instant, Locator};

use crate::wire::GuidPrefix;

/// Another rendezvous.
#[derive(Clone, Debug)]
pub(super) struct Federate {
    pub(super) at: Locator,
    /// Once it has answered: the name under which it speaks to us, and ours for it.
    pub(super) names: Option<(GuidPrefix, GuidPrefix)>,
    is_named: bool,
    expires_at: Instant,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Federates {
    all: Vec<Federate>,
    accepts_others: bool,
    announce_at: Option<Instant>,
}

impl Federates {
    pub(super) fn new(named: &[Locator], accepts_others: bool) -> Self {
        let all = named.iter().map(|at| Federate {
            at: *at,
            names: None,
            is_named: true,
            expires_at: Instant::ZERO,
        });
        Self {
            all: all.collect(),
            accepts_others,
            announce_at: (!named.is_empty()).then_some(Instant::ZERO),
        }
    }

    /// Whether the rendezvous at that address may be one.
    pub(super) fn may_join(&self, at: &Locator) -> bool {
        let is_known = self.all.iter().any(|federate| federate.at == *at);
        is_known || (self.accepts_others && self.all.len() < MAX_FEDERATES)
    }

    /// The name under which we speak to the one at that address, if it has answered.
    pub(super) fn our_name_for(&self, at: &Locator) -> Option<GuidPrefix> {
        let mut joined = self.joined();
        let (_, ours) = joined.find(|federate| federate.at == *at)?.names?;
        Some(ours)
    }

    /// Those that have answered.
    pub(super) fn joined(&self) -> impl Iterator<Item = &Federate> {
        let all = self.all.iter();
        all.filter(|federate| federate.names.is_some())
    }

    /// One that [may join](Self::may_join) has answered us by a name of ours; whether it is new, or has
    /// another name than before and so has forgotten us.
    pub(super) fn heard(
        &mut self,
        now: Instant,
        at: Locator,
        (theirs, ours): (GuidPrefix, GuidPrefix),
    ) -> bool {
        let found = self.all.iter().position(|federate| federate.at == at);
        let index = found.unwrap_or_else(|| {
            self.all.push(Federate {
                at,
                names: None,
                is_named: false,
                expires_at: now,
            });
            self.all.len() - 1
        });
        let next = now + PERIOD;
        self.announce_at = Some(self.announce_at.map_or(next, |at| at.min(next)));
        let Some(federate) = self.all.get_mut(index) else {
            return false;
        };
        federate.expires_at = now + LEASE;
        let before = federate.names.replace((theirs, ours));
        before.is_none_or(|(name, _)| name != theirs)
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.announce_at
    }

    /// Those that are silent now.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<Locator> {
        let mut silent = Vec::new();
        for federate in &mut self.all {
            if federate.names.is_some() && federate.expires_at <= now {
                federate.names = None;
                silent.push(federate.at);
            }
        }
        let is_kept = |federate: &Federate| federate.is_named || federate.names.is_some();
        self.all.retain(is_kept);
        silent
    }

    /// Those that are to be told now that we are there.
    pub(super) fn due(&mut self, now: Instant) -> Vec<Federate> {
        if self.announce_at.is_none_or(|at| at > now) {
            return Vec::new();
        }
        let all_joined = self.all.iter().all(|federate| federate.names.is_some());
        let period = if all_joined { PERIOD } else { RETRY_PERIOD };
        self.announce_at = (!self.all.is_empty()).then(|| now + period);
        self.all.clone()
    }
}

/// How long another rendezvous counts as there after its last sign.
pub(super) const LEASE: Duration = Duration::from_secs(20);
const PERIOD: Duration = Duration::from_secs(5);
const RETRY_PERIOD: Duration = Duration::from_secs(1);
const MAX_FEDERATES: usize = 32;
