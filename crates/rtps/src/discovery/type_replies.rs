//! How much of our types others may draw: so many bytes each and in all in a second. Everybody is sent what
//! one asks for, so that a short question costs much. Sends nothing.

use alloc::collections::BTreeMap;

use tickwire_base::{Duration, Instant};

use crate::wire::GuidPrefix;

/// Who has drawn how much in this second.
#[derive(Debug)]
pub(super) struct TypeReplies {
    /// How many participants are told apart.
    max_peers: usize,
    /// Bytes of replies by who asked.
    drawn: BTreeMap<GuidPrefix, usize>,
    drawn_by_all: usize,
    ends_at: Instant,
}

impl TypeReplies {
    pub(super) fn new(max_peers: usize) -> Self {
        Self {
            max_peers,
            drawn: BTreeMap::new(),
            drawn_by_all: 0,
            ends_at: Instant::ZERO,
        }
    }

    /// Whether a participant may be answered now. The last reply may exceed what is left.
    ///
    /// Where all together have drawn as much as they may, those that have drawn little are still answered:
    /// nobody can use up what the others need.
    pub(super) fn may_draw(&mut self, now: Instant, peer: GuidPrefix) -> bool {
        if now >= self.ends_at {
            self.drawn.clear();
            self.drawn_by_all = 0;
            self.ends_at = now + PERIOD;
        }
        let drawn = self.drawn.get(&peer);
        let has_place = drawn.is_some() || self.drawn.len() < self.max_peers;
        let share = match self.drawn_by_all < MAX_BYTES {
            true => MAX_BYTES_PER_PEER,
            false => LEAST_BYTES_PER_PEER,
        };
        has_place && drawn.is_none_or(|bytes| *bytes < share)
    }

    /// A participant was sent a reply of so many bytes.
    pub(super) fn drew(&mut self, peer: GuidPrefix, len: usize) {
        let drawn = self.drawn.entry(peer).or_default();
        *drawn = drawn.saturating_add(len);
        self.drawn_by_all = self.drawn_by_all.saturating_add(len);
    }
}

/// How long the bounds hold.
const PERIOD: Duration = Duration::from_secs(1);
/// Bytes for one participant, which by default takes no more types of one other.
pub(super) const MAX_BYTES_PER_PEER: usize = 4 << 20;
/// Bytes for all.
pub(super) const MAX_BYTES: usize = 16 << 20;
/// Bytes for one beyond that.
pub(super) const LEAST_BYTES_PER_PEER: usize = 64 << 10;
