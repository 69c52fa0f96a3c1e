//! What other participants are asked for of their types, so that endpoints can be matched: each
//! object once, several in one request, and within bounds for each participant. Sends nothing.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use tickwire_base::Instant;
use tickwire_cdr::xtypes::TypeId;

use super::DiscoveryLimits;
use crate::wire::GuidPrefix;

/// Requests under way and what came of the others.
#[derive(Debug, Default)]
pub(super) struct TypeRequests {
    /// By the number of the request.
    pending: BTreeMap<i64, Pending>,
    /// When those are given up.
    expiries: BTreeSet<(Instant, i64)>,
    peers: BTreeMap<GuidPrefix, Peer>,
    /// Those that have something queued and room for a request.
    ready: BTreeSet<GuidPrefix>,
    /// Objects known to `peers`.
    object_count: usize,
}

/// A request without an answer yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) asked: GuidPrefix,
    pub(super) types: Vec<TypeId>,
    pub(super) expires_at: Instant,
}

/// One participant's share.
#[derive(Debug, Default)]
struct Peer {
    objects: BTreeMap<TypeId, State>,
    queue: BTreeSet<TypeId>,
    pending_count: usize,
    /// Bytes of the objects that came from it.
    bytes: usize,
    /// It did not answer in time, and has not answered since.
    is_silent: bool,
}

/// How far asking for an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    UnderWay,
    /// It is here, or it will not come.
    Done,
}

/// Whether an object is to be had from a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Availability {
    /// It can be asked for, or has been.
    Askable,
    /// It was asked for, and the answer is here if there is any.
    Never,
    /// The participant has been asked for as much as it may.
    Refused,
}

impl TypeRequests {
    /// Notes that objects of a participant are wanted, each once; false if the first is beyond a
    /// limit, and will not be asked for.
    pub(super) fn enqueue(
        &mut self,
        participant: GuidPrefix,
        types: &[TypeId],
        limits: &DiscoveryLimits,
    ) -> bool {
        let peer = self.peers.entry(participant).or_default();
        for &id in types {
            let has_room = peer.objects.len() < limits.max_types_per_participant
                && self.object_count < limits.max_types;
            if has_room && !peer.objects.contains_key(&id) {
                peer.objects.insert(id, State::UnderWay);
                peer.queue.insert(id);
                self.object_count += 1;
            }
        }
        if peer.is_ready() {
            self.ready.insert(participant);
        }
        let first = types.first();
        first.is_none_or(|id| peer.objects.contains_key(id))
    }

    /// What to ask a participant for next, in one request.
    pub(super) fn next_batch(&mut self) -> Option<(GuidPrefix, Vec<TypeId>)> {
        let participant = self.ready.pop_first()?;
        let peer = self.peers.get_mut(&participant)?;
        let mut batch = Vec::new();
        let mut count = 0;
        while count < MAX_BATCH
            && let Some(first) = peer.queue.pop_first()
        {
            for id in first.circle() {
                count += 1;
                if id == first || peer.queue.remove(&id) {
                    batch.push(id);
                }
            }
        }
        Some((participant, batch))
    }

    /// Whether an object was wanted of a participant before, whatever came of it.
    pub(super) fn was_wanted(&self, participant: GuidPrefix, id: TypeId) -> bool {
        let peer = self.peers.get(&participant);
        peer.is_some_and(|peer| peer.objects.contains_key(&id))
    }

    /// Whether an object is to be had from a participant.
    pub(super) fn availability(
        &self,
        participant: GuidPrefix,
        id: TypeId,
        limits: &DiscoveryLimits,
    ) -> Availability {
        let peer = self.peers.get(&participant);
        let state = peer.and_then(|peer| peer.objects.get(&id));
        let count = peer.map_or(0, |peer| peer.objects.len());
        let is_full =
            count >= limits.max_types_per_participant || self.object_count >= limits.max_types;
        match state {
            _ if peer.is_some_and(|peer| peer.is_silent) => Availability::Never,
            Some(State::Done) => Availability::Never,
            None if is_full => Availability::Refused,
            _ => Availability::Askable,
        }
    }

    /// Whether a participant may be asked once more now.
    pub(super) fn may_ask(&self, participant: GuidPrefix) -> bool {
        let peer = self.peers.get(&participant);
        peer.is_none_or(|peer| peer.pending_count < MAX_PENDING)
    }

    /// A request went out under that number.
    pub(super) fn asked(&mut self, number: i64, pending: Pending) {
        let peer = self.peers.entry(pending.asked).or_default();
        peer.pending_count += 1;
        if peer.is_ready() {
            self.ready.insert(pending.asked);
        }
        self.expiries.insert((pending.expires_at, number));
        self.pending.insert(number, pending);
    }

    /// A request that cannot be made, or needs no answer any more: its objects will not come.
    pub(super) fn done(&mut self, participant: GuidPrefix, types: &[TypeId]) {
        let Some(peer) = self.peers.get_mut(&participant) else {
            return;
        };
        for id in types {
            if let Some(state) = peer.objects.get_mut(id) {
                *state = State::Done;
            }
        }
        if peer.is_ready() {
            self.ready.insert(participant);
        }
    }

    /// Who was asked under that number, and for what.
    pub(super) fn types_of(&self, number: i64) -> Option<(GuidPrefix, &[TypeId])> {
        let pending = self.pending.get(&number)?;
        Some((pending.asked, &pending.types))
    }

    /// A request has been answered; gives what it was about.
    pub(super) fn answered(&mut self, number: i64) -> Option<Pending> {
        let pending = self.pending.remove(&number)?;
        self.expiries.remove(&(pending.expires_at, number));
        if let Some(peer) = self.peers.get_mut(&pending.asked) {
            peer.pending_count = peer.pending_count.saturating_sub(1);
        }
        self.done(pending.asked, &pending.types);
        Some(pending)
    }

    /// A participant answers somebody.
    pub(super) fn heard(&mut self, participant: GuidPrefix) {
        if let Some(peer) = self.peers.get_mut(&participant) {
            peer.is_silent = false;
        }
    }

    /// Whether objects of so many bytes may be kept for a participant; if so, they count from now on.
    pub(super) fn charge(
        &mut self,
        participant: GuidPrefix,
        len: usize,
        limits: &DiscoveryLimits,
    ) -> bool {
        let Some(peer) = self.peers.get_mut(&participant) else {
            return false;
        };
        let bytes = peer.bytes.saturating_add(len);
        let fits = bytes <= limits.max_type_bytes_per_participant;
        if fits {
            peer.bytes = bytes;
        }
        fits
    }

    /// When [`expire`](Self::expire) is to be called.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.expiries.first().map(|&(at, _)| at)
    }

    /// Gives up requests that have waited for too long, and what is queued behind them.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<Pending> {
        let mut expired = Vec::new();
        while let Some(&(at, number)) = self.expiries.first()
            && at <= now
            && let Some(mut pending) = self.answered(number)
        {
            self.ready.remove(&pending.asked);
            if let Some(peer) = self.peers.get_mut(&pending.asked) {
                peer.is_silent = true;
                pending.types.extend(core::mem::take(&mut peer.queue));
            }
            self.done(pending.asked, &pending.types);
            expired.push(pending);
        }
        expired
    }

    /// A participant that is gone answers nothing more.
    pub(super) fn forget(&mut self, participant: GuidPrefix) {
        let expiries = &mut self.expiries;
        self.pending.retain(|&number, pending| {
            let stays = pending.asked != participant;
            if !stays {
                expiries.remove(&(pending.expires_at, number));
            }
            stays
        });
        self.ready.remove(&participant);
        if let Some(peer) = self.peers.remove(&participant) {
            self.object_count -= peer.objects.len();
        }
    }
}

impl Peer {
    fn is_ready(&self) -> bool {
        !self.queue.is_empty() && self.pending_count < MAX_PENDING_FOR_MATCHING
    }
}

/// Requests without an answer that one participant may hold up. Each is given up in time.
const MAX_PENDING: usize = 256;
/// The same, of those for matching endpoints: what else is wanted waits and goes into one request.
const MAX_PENDING_FOR_MATCHING: usize = 16;
/// Objects in one request, so that the answer is no megabytes; more of types that contain each
/// other, which come together.
const MAX_BATCH: usize = 64;
