//! The other participants and their leases. Sends nothing.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::IpAddr;

use tickwire_base::{Duration, Instant, Locator};

use super::attachment::{Choice, Confidence};
use super::builtin_topic::BuiltinTopic;
use super::{DiscoveryLimits, ParticipantData};
use crate::crowd::Crowd;
use crate::wire::{Arrival, GuidPrefix};

/// A participant that announced itself.
#[derive(Debug)]
pub(super) struct Participant {
    pub(super) data: Arc<ParticipantData>,
    /// Where to reach its discovery, of what it announced.
    pub(super) metatraffic: Vec<Locator>,
    /// How sure that is.
    pub(super) confidence: Confidence,
    /// Where it was heard from when that was chosen.
    pub(super) source: Option<IpAddr>,
    /// It was heard by multicast, so multicast passes between us.
    heard_by_multicast: bool,
    /// Endpoints that it announced.
    pub(super) endpoint_count: usize,
    /// Memory for what it announced, its endpoints included.
    bytes: usize,
    came_at: Instant,
    expires_at: Instant,
    /// It has sent something to us, so our announcement has reached it.
    knows_us: bool,
    /// It has announced other addresses and has sent nothing to us since. What made it move may have
    /// kept it from hearing that we have moved, too.
    has_moved: bool,
    /// Quick repetitions of the answer that are left while it may not know where we are.
    answers_left: u8,
    /// When it was last answered, or came, or moved.
    answered_at: Instant,
    /// Bytes that may be sent to it while it may not know where we are.
    credit: usize,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Participants {
    by_prefix: BTreeMap<GuidPrefix, Participant>,
    /// Memory for what all of them announced.
    bytes: usize,
    /// Endpoints of all of them.
    endpoint_count: usize,
    /// Those that did not know us when they came, oldest first; some may by now, or be gone.
    newcomers: VecDeque<GuidPrefix>,
    /// Those that have just come. Who has answered us has others to answer still.
    crowd: Crowd,
    /// No lease ends before.
    next_expiry: Option<Instant>,
    /// When those that do not know us are answered again.
    answer_at: Option<Instant>,
    /// Those that said goodbye lately, oldest first.
    departed: VecDeque<(Instant, GuidPrefix)>,
}

impl Participants {
    /// Notes a goodbye. An announcement from before it may still wait in another socket; taken for
    /// a new participant, it would be missed only when its lease ends.
    pub(super) fn bury(&mut self, now: Instant, prefix: GuidPrefix) {
        if self.departed.len() == MAX_DEPARTED {
            self.departed.pop_front();
        }
        self.departed.push_back((now, prefix));
    }

    /// Whether a participant said goodbye lately. It does not come back: its prefix is its own.
    pub(super) fn has_departed(&self, now: Instant, prefix: GuidPrefix) -> bool {
        self.departed
            .iter()
            .any(|&(at, departed)| departed == prefix && now.since(at) < DEPARTED_FOR)
    }

    pub(super) fn len(&self) -> usize {
        self.by_prefix.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Participant> {
        self.by_prefix.values()
    }

    pub(super) fn get(&self, prefix: GuidPrefix) -> Option<&Participant> {
        self.by_prefix.get(&prefix)
    }

    /// Notes that something a participant announced takes `new` bytes of memory instead of `old`;
    /// false, and nothing is noted, if that goes beyond a bound of `limits`.
    pub(super) fn charge(
        &mut self,
        prefix: GuidPrefix,
        (old, new): (usize, usize),
        limits: &DiscoveryLimits,
    ) -> bool {
        let Some(participant) = self.by_prefix.get_mut(&prefix) else {
            return false;
        };
        let own = participant.bytes.saturating_sub(old).saturating_add(new);
        let all = self.bytes.saturating_sub(old).saturating_add(new);
        let fits = own <= limits.max_bytes_per_participant && all <= limits.max_bytes;
        // What takes less than before is never refused.
        if fits || new <= old {
            (participant.bytes, self.bytes) = (own, all);
        }
        fits || new <= old
    }

    /// Counts one more endpoint of a participant; false, and nothing is counted, if that goes beyond
    /// a bound of `limits`.
    pub(super) fn add_endpoint(&mut self, prefix: GuidPrefix, limits: &DiscoveryLimits) -> bool {
        let Some(participant) = self.by_prefix.get_mut(&prefix) else {
            return false;
        };
        let fits = participant.endpoint_count < limits.max_endpoints_per_participant
            && self.endpoint_count < limits.max_endpoints;
        if fits {
            participant.endpoint_count += 1;
            self.endpoint_count += 1;
        }
        fits
    }

    /// Counts one endpoint less.
    pub(super) fn remove_endpoint(&mut self, prefix: GuidPrefix) {
        if let Some(participant) = self.by_prefix.get_mut(&prefix) {
            participant.endpoint_count = participant.endpoint_count.saturating_sub(1);
            self.endpoint_count = self.endpoint_count.saturating_sub(1);
        }
    }

    /// The oldest participant that has not shown that it hears us: it makes way where room lacks.
    pub(super) fn next_to_displace(&mut self) -> Option<GuidPrefix> {
        while let Some(prefix) = self.newcomers.pop_front() {
            let is_new = |participant: &Participant| !participant.knows_us;
            if self.by_prefix.get(&prefix).is_some_and(is_new) {
                return Some(prefix);
            }
        }
        None
    }

    /// A participant has announced itself in `len` bytes, which allows some to be sent to it even if
    /// it should not know us.
    pub(super) fn allow(&mut self, prefix: GuidPrefix, len: usize, limits: &DiscoveryLimits) {
        if let Some(participant) = self.by_prefix.get_mut(&prefix) {
            let more = len.saturating_mul(limits.max_amplification);
            participant.credit = participant.credit.saturating_add(more);
        }
    }

    /// Whether a participant may be sent `len` bytes at each of its addresses now; if so, they are
    /// charged.
    pub(super) fn may_send(&mut self, prefix: GuidPrefix, len: usize) -> bool {
        let participant = self.by_prefix.get_mut(&prefix);
        participant.is_some_and(|participant| participant.may_be_sent(len))
    }

    /// Whether a participant that is not known yet may announce so much of itself.
    pub(super) fn has_room_for(&self, bytes: usize, limits: &DiscoveryLimits) -> bool {
        self.len() < limits.max_participants
            && bytes <= limits.max_bytes_per_participant
            && self.bytes.saturating_add(bytes) <= limits.max_bytes
    }

    /// Takes over what a participant announces. Of one that is known, the change in memory is
    /// [charged](Self::charge) already.
    pub(super) fn insert(
        &mut self,
        now: Instant,
        data: Arc<ParticipantData>,
        metatraffic: Choice,
        source: Option<IpAddr>,
    ) {
        let expires_at = now + data.lease_duration;
        let bytes = data.footprint();
        let participant = self.by_prefix.entry(data.guid_prefix).or_insert_with(|| {
            self.bytes += bytes;
            self.newcomers.push_back(data.guid_prefix);
            self.crowd.enter(now);
            Participant {
                data: Arc::clone(&data),
                metatraffic: Vec::new(),
                confidence: metatraffic.confidence,
                source,
                heard_by_multicast: false,
                endpoint_count: 0,
                bytes,
                came_at: now,
                expires_at,
                knows_us: false,
                has_moved: false,
                answers_left: QUICK_ANSWERS,
                answered_at: now,
                credit: 0,
            }
        });
        if participant.data.metatraffic_unicast != data.metatraffic_unicast {
            participant.has_moved = true;
            participant.answers_left = QUICK_ANSWERS;
            participant.answered_at = now;
            // What its announcements from elsewhere allow is not for there.
            participant.credit = 0;
        }
        participant.data = data;
        participant.metatraffic = metatraffic.locators;
        participant.confidence = metatraffic.confidence;
        participant.source = source;
        participant.expires_at = expires_at;
        if participant.may_miss_us() {
            let answer_at = now + quick_answer_period(&self.crowd, now, participant);
            self.answer_at = Some(self.answer_at.map_or(answer_at, |at| at.min(answer_at)));
        }
        self.next_expiry = Some(self.next_expiry.map_or(expires_at, |at| at.min(expires_at)));
    }

    pub(super) fn remove(&mut self, prefix: GuidPrefix) -> Option<Participant> {
        let participant = self.by_prefix.remove(&prefix)?;
        self.bytes = self.bytes.saturating_sub(participant.bytes);
        self.endpoint_count -= participant.endpoint_count;
        self.crowd.leave(participant.came_at);
        if self.newcomers.len() > 2 * self.by_prefix.len() + SPARE_NEWCOMERS {
            let known = &self.by_prefix;
            self.newcomers.retain(|prefix| known.contains_key(prefix));
        }
        Some(participant)
    }

    /// From now on its discovery is reached there, as chosen when it was heard from `source`.
    pub(super) fn reached_at(
        &mut self,
        prefix: GuidPrefix,
        metatraffic: Choice,
        source: Option<IpAddr>,
    ) {
        if let Some(participant) = self.by_prefix.get_mut(&prefix) {
            participant.metatraffic = metatraffic.locators;
            participant.confidence = metatraffic.confidence;
            participant.source = source;
        }
    }

    /// Renews the lease. Anything that a participant sends shows that it is there; what is sent to
    /// us alone shows that it knows us. True if that is new.
    pub(super) fn heard(
        &mut self,
        now: Instant,
        prefix: GuidPrefix,
        to_us: bool,
        arrival: Option<Arrival>,
    ) -> bool {
        let Some(participant) = self.by_prefix.get_mut(&prefix) else {
            return false;
        };
        participant.expires_at = now + participant.data.lease_duration;
        participant.heard_by_multicast |= arrival.is_some_and(|arrival| arrival.by_multicast);
        participant.has_moved &= !to_us;
        let is_news = to_us && !participant.knows_us;
        participant.knows_us |= to_us;
        is_news
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        [self.next_expiry, self.answer_at]
            .into_iter()
            .flatten()
            .min()
    }

    /// Those whose lease has ended.
    pub(super) fn expired(&mut self, now: Instant) -> Vec<GuidPrefix> {
        if self.next_expiry.is_none_or(|at| at > now) {
            return Vec::new();
        }
        let (expired, alive): (Vec<_>, Vec<_>) = self
            .by_prefix
            .iter()
            .partition(|(_, participant)| participant.expires_at <= now);
        self.next_expiry = alive.iter().map(|(_, alive)| alive.expires_at).min();
        expired.into_iter().map(|(prefix, _)| *prefix).collect()
    }

    /// Those to whom we must announce ourselves alone now, in `len` bytes: they do not know us yet, or
    /// not where we are, or, when everybody is told (`is_round`), they do not listen where we tell it. Some are to be
    /// probed, too: one that knows us from before, or named us before it was known here, has nothing
    /// to say to an announcement.
    pub(super) fn due_answers<'a>(
        &'a mut self,
        now: Instant,
        (is_round, len): (bool, usize),
        announce_to: &'a [Locator],
    ) -> impl Iterator<Item = (&'a Participant, bool)> {
        let is_quick = self.answer_at.take_if(|at| *at <= now).is_some();
        let (all, crowd) = (self.by_prefix.values_mut(), &self.crowd);
        let answer_at = &mut self.answer_at;
        let concerned = all.take(if is_quick || is_round { usize::MAX } else { 0 });
        concerned.filter_map(move |participant| {
            let is_unsure = participant.may_miss_us();
            let period = quick_answer_period(crowd, now, participant);
            let waits = is_unsure && participant.answers_left > 0;
            let quick = waits && participant.answered_at + period <= now;
            if quick {
                participant.answers_left -= 1;
                participant.answered_at = now;
            }
            if is_unsure && participant.answers_left > 0 {
                let at = participant.answered_at + period;
                *answer_at = Some(answer_at.map_or(at, |armed| armed.min(at)));
            }
            let is_first = quick && participant.answers_left == QUICK_ANSWERS - 1;
            // Who listens there has just been told, unless all else was in vain.
            let in_vain = is_unsure && participant.answers_left == 0;
            let round = is_round && (in_vain || !participant.listens_at(announce_to));
            if !((quick || round) && participant.may_be_sent(len)) {
                return None;
            }
            let is_probed = is_unsure
                && (is_first || round)
                && participant.may_be_sent(BuiltinTopic::PROBE_LEN);
            Some((&*participant, is_probed))
        })
    }
}

impl Participant {
    /// Whether it has shown that it hears us.
    pub(super) fn knows_us(&self) -> bool {
        self.knows_us
    }

    /// Whether it has announced other addresses and not shown since that it hears us.
    pub(super) fn has_moved(&self) -> bool {
        self.has_moved
    }

    /// Whether it may not know where we are, as far as it has shown.
    fn may_miss_us(&self) -> bool {
        !self.knows_us || self.has_moved
    }

    /// Its address may be somebody else's until it has shown that it hears us there: until then it
    /// is sent a multiple of what came from it at most.
    fn may_be_sent(&mut self, len: usize) -> bool {
        if !self.may_miss_us() {
            return true;
        }
        let left = self.credit.checked_sub(len * self.metatraffic.len());
        self.credit = left.unwrap_or(self.credit);
        left.is_some()
    }

    /// Whether one of `announce_to` reaches its discovery. Where peers are named beside groups,
    /// groups are relied on once it was heard by one.
    fn listens_at(&self, announce_to: &[Locator]) -> bool {
        let by_group = self.heard_by_multicast || announce_to.iter().all(Locator::is_multicast);
        let groups = &self.data.metatraffic_multicast;
        announce_to
            .iter()
            .any(|to| self.metatraffic.contains(to) || (by_group && groups.contains(to)))
    }
}

/// How long to wait for a sign that an answer to a participant has arrived.
fn quick_answer_period(crowd: &Crowd, now: Instant, participant: &Participant) -> Duration {
    QUICK_ANSWER_PERIOD.max(crowd.patience(now, participant.came_at))
}

const MAX_DEPARTED: usize = 256;
/// Stale ones that are always tolerated.
const SPARE_NEWCOMERS: usize = 64;
const DEPARTED_FOR: Duration = Duration::from_secs(10);
const QUICK_ANSWERS: u8 = 5;
const QUICK_ANSWER_PERIOD: Duration = Duration::from_millis(100);
