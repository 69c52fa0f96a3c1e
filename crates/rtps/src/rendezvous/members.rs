//! The participants that are registered, by domain, within bounds. Sends nothing.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Bound;

use tickwire_base::{Duration, Instant, Locator};

use super::RendezvousConfig;
use crate::wire::{GuidPrefix, Header, SequenceNumber};

/// Domain and tag: only participants that share both are told of each other.
pub(super) type Domain = Arc<(u32, String)>;

/// A participant that is registered.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) domain: Domain,
    pub(super) name: String,
    pub(super) said: Said,
    pub(super) origin: Origin,
    /// The name under which we speak to it.
    pub(super) our_name: GuidPrefix,
    pub(super) lease: Duration,
    pub(super) heard_at: Instant,
    /// When it was last told of others.
    pub(super) served_at: Instant,
    /// When the others were told of it.
    pub(super) told_at: Instant,
    /// Whether the others do not yet know what it says now.
    pub(super) is_untold: bool,
    /// It has said good-bye, and is remembered for a while.
    pub(super) is_gone: bool,
    /// Of the others, the last one that it was told of.
    cursor: GuidPrefix,
    expires_at: Instant,
}

/// An announcement as it came.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) header: Header,
    /// Some raise it each time that they say the same.
    pub(super) sequence_number: SequenceNumber,
    pub(super) payload: Vec<u8>,
}

impl Said {
    fn is_same(&self, other: &Self) -> bool {
        self.header == other.header && self.payload == other.payload
    }
}

/// Where a participant is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// From itself: the address that has proved to be its own, and the one that it sends from.
    Itself { at: Locator, source: Locator },
    /// From another rendezvous.
    Federate(Locator),
}

/// What became of an announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admitted {
    New,
    Changed,
    Same,
    /// A bound is reached.
    Refused,
    /// It has left before, or is known better from itself.
    Outdated,
}

/// What registers a participant.
#[derive(Debug)]
pub(super) struct Registration {
    pub(super) domain: (u32, String),
    pub(super) name: String,
    pub(super) lease: Duration,
    pub(super) said: Said,
    pub(super) origin: Origin,
    /// The name under which we are to speak to it, if it is new.
    pub(super) our_name: GuidPrefix,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Members {
    by_prefix: BTreeMap<GuidPrefix, Member>,
    /// Without those that have left.
    by_domain: BTreeMap<Domain, BTreeSet<GuidPrefix>>,
    by_address: BTreeMap<[u8; 16], usize>,
    bytes: usize,
    /// No lease ends before.
    next_expiry: Option<Instant>,
}

impl Members {
    pub(super) fn get(&self, prefix: GuidPrefix) -> Option<&Member> {
        self.by_prefix.get(&prefix)
    }

    pub(super) fn get_mut(&mut self, prefix: GuidPrefix) -> Option<&mut Member> {
        self.by_prefix.get_mut(&prefix)
    }

    /// Those that are there.
    pub(super) fn iter(&self) -> impl Iterator<Item = (GuidPrefix, &Member)> {
        let all = self.by_prefix.iter().filter(|(_, member)| !member.is_gone);
        all.map(|(prefix, member)| (*prefix, member))
    }

    /// The others in the domain of `prefix`, from after `cursor` on and around.
    fn others(
        &self,
        prefix: GuidPrefix,
        cursor: GuidPrefix,
    ) -> impl Iterator<Item = (GuidPrefix, &Member)> {
        let member = self.by_prefix.get(&prefix);
        let domain = member.and_then(|member| self.by_domain.get(&member.domain));
        let around = domain.into_iter().flat_map(move |all| {
            let after = all.range((Bound::Excluded(cursor), Bound::Unbounded));
            after.chain(all.range(..=cursor))
        });
        around
            .filter(move |other| **other != prefix)
            .filter_map(|other| Some((*other, self.by_prefix.get(other)?)))
    }

    /// How many are in the domain of `prefix`.
    pub(super) fn domain_len(&self, prefix: GuidPrefix) -> usize {
        let member = self.by_prefix.get(&prefix);
        let domain = member.and_then(|member| self.by_domain.get(&member.domain));
        domain.map_or(0, BTreeSet::len)
    }

    /// Where to tell the others of `prefix`.
    pub(super) fn audience(&self, prefix: GuidPrefix) -> Vec<Locator> {
        let others = self.others(prefix, GuidPrefix::UNKNOWN);
        let at = others.filter_map(|(_, other)| other.origin.at());
        at.collect()
    }

    /// The next `limit` others that `prefix` is to be told of; of those that have been silent for half
    /// their lease only if `all`, since being told of renews a lease.
    pub(super) fn next_introductions(
        &mut self,
        now: Instant,
        prefix: GuidPrefix,
        (limit, all): (usize, bool),
    ) -> Vec<GuidPrefix> {
        let cursor = self.get(prefix).map_or(prefix, |member| member.cursor);
        let is_fresh = |member: &Member| all || now.since(member.heard_at) <= member.lease / 2;
        let others = self.others(prefix, cursor);
        let others = others.filter(|(_, member)| is_fresh(member)).take(limit);
        let next: Vec<_> = others.map(|(other, _)| other).collect();
        if let (Some(member), Some(last)) = (self.get_mut(prefix), next.last()) {
            member.cursor = *last;
        }
        next
    }

    /// Takes over what a participant announces.
    pub(super) fn admit(
        &mut self,
        now: Instant,
        prefix: GuidPrefix,
        new: Registration,
        config: &RendezvousConfig,
    ) -> Admitted {
        let lease = new.lease.min(config.max_lease).max(MIN_LEASE);
        let known = self.by_prefix.get_mut(&prefix);
        match known {
            Some(member) if member.is_gone || member.origin.outranks(&new.origin) => {
                return Admitted::Outdated;
            }
            Some(member) if member.said.is_same(&new.said) && member.origin == new.origin => {
                member.said.sequence_number = new.said.sequence_number;
                (member.heard_at, member.expires_at) = (now, now + member.lease);
                return Admitted::Same;
            }
            _ => {}
        }
        let before = known.map(|member| (member.said.payload.len(), member.origin.address()));
        if !self.has_room(before, &new, config) {
            return Admitted::Refused;
        }
        let old = self.take(prefix);
        let (domain, expires_at) = (Arc::new(new.domain), now + lease);
        self.bytes += new.said.payload.len();
        if let Some(address) = new.origin.address() {
            *self.by_address.entry(address).or_default() += 1;
        }
        let in_domain = self.by_domain.entry(Arc::clone(&domain)).or_default();
        in_domain.insert(prefix);
        self.next_expiry = Some(self.next_expiry.map_or(expires_at, |at| at.min(expires_at)));
        let member = Member {
            domain,
            name: new.name,
            said: new.said,
            origin: new.origin,
            our_name: old.as_ref().map_or(new.our_name, |old| old.our_name),
            lease,
            heard_at: now,
            served_at: old.as_ref().map_or(now, |old| old.served_at),
            told_at: old.as_ref().map_or(now, |old| old.told_at),
            is_untold: old.as_ref().is_some_and(|old| old.is_untold),
            is_gone: false,
            cursor: old.as_ref().map_or(prefix, |old| old.cursor),
            expires_at,
        };
        self.by_prefix.insert(prefix, member);
        match old {
            None => Admitted::New,
            Some(_) => Admitted::Changed,
        }
    }

    /// Whether it fits in place of what was there `before`: payload and address.
    fn has_room(
        &self,
        before: Option<(usize, Option<[u8; 16]>)>,
        new: &Registration,
        config: &RendezvousConfig,
    ) -> bool {
        let (old_len, old_address) = before.unwrap_or_default();
        let len = new.said.payload.len();
        let address = new.origin.address().filter(|new| old_address != Some(*new));
        let at_address = address.and_then(|address| self.by_address.get(&address));
        len <= config.max_announcement_len
            && self.bytes - old_len + len <= config.max_bytes
            && (before.is_some() || self.by_prefix.len() < config.max_participants)
            && at_address.is_none_or(|count| *count < config.max_participants_per_address)
    }

    /// Notes a good-bye. An announcement from before it may still be on its way, so that the participant
    /// is remembered for a while; it does not come back, as its prefix is its own.
    pub(super) fn bury(&mut self, now: Instant, prefix: GuidPrefix) {
        if let Some(member) = self.by_prefix.get_mut(&prefix) {
            member.is_gone = true;
            member.expires_at = now + REMEMBERED;
            self.bytes -= core::mem::take(&mut member.said.payload).len();
            let at = member.expires_at;
            self.next_expiry = Some(self.next_expiry.map_or(at, |next| next.min(at)));
            let domain = Arc::clone(&member.domain);
            self.leave(&domain, prefix);
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.next_expiry
    }

    /// Forgets those whose lease has ended, and tells which; not those that had said good-bye.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<GuidPrefix> {
        if self.next_expiry.is_none_or(|at| at > now) {
            return Vec::new();
        }
        let expired = self.by_prefix.iter();
        let expired = expired.filter(|(_, member)| member.expires_at <= now);
        let expired: Vec<_> = expired.map(|(prefix, _)| *prefix).collect();
        let taken = expired.into_iter().filter_map(|prefix| {
            let member = self.take(prefix)?;
            (!member.is_gone).then_some(prefix)
        });
        let silent = taken.collect();
        self.next_expiry = self
            .by_prefix
            .values()
            .map(|member| member.expires_at)
            .min();
        silent
    }

    fn take(&mut self, prefix: GuidPrefix) -> Option<Member> {
        let member = self.by_prefix.remove(&prefix)?;
        self.bytes -= member.said.payload.len();
        if let Some(address) = member.origin.address()
            && let Some(count) = self.by_address.get_mut(&address)
        {
            *count -= 1;
            if *count == 0 {
                self.by_address.remove(&address);
            }
        }
        self.leave(&member.domain, prefix);
        Some(member)
    }

    fn leave(&mut self, domain: &Domain, prefix: GuidPrefix) {
        if let Some(members) = self.by_domain.get_mut(domain) {
            members.remove(&prefix);
            if members.is_empty() {
                self.by_domain.remove(domain);
            }
        }
    }
}

impl Origin {
    /// Where to tell it something, which is left to its own rendezvous if it has another one.
    pub(super) fn at(&self) -> Option<Locator> {
        match self {
            Self::Itself { at, .. } => Some(*at),
            Self::Federate(_) => None,
        }
    }

    /// Whether it is known from itself, and sends from there.
    pub(super) fn is_from(&self, address: &Locator) -> bool {
        matches!(self, Self::Itself { source, .. } if source == address)
    }

    fn address(&self) -> Option<[u8; 16]> {
        self.at().map(|at| at.address)
    }

    fn outranks(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Itself { .. }, Self::Federate(_)))
    }
}

/// Shorter leases are taken for this.
const MIN_LEASE: Duration = Duration::from_secs(1);
const REMEMBERED: Duration = Duration::from_secs(10);
