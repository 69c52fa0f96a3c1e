//! What a writer knows of one matched reader (RTPS 2.5 §8.4.7.5). Sends nothing itself.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tickwire_base::{Duration, Instant, Locator};
use tickwire_cdr::filter::Filter;

use super::heartbeat::Turn;
use crate::count::CountFilter;
use crate::window::NumberWindow;
use crate::wire::{FragmentNumberSet, Guid, SequenceNumber, SequenceNumberSet};

/// A remote reader, as discovery describes it to a writer.
#[derive(Clone, Debug, Default)]
pub struct ReaderProxy {
    /// The reader.
    pub guid: Guid,
    /// Whether it acknowledges. Best-effort readers are sent each sample once.
    pub reliable: bool,
    /// Whether it is to have what the writer's history holds: both sides are at least
    /// TRANSIENT_LOCAL, and the reader is reliable.
    pub wants_history: bool,
    /// Whether it has matched the writer, or will have when what is sent now arrives. Then the history
    /// that it wants is sent at once, instead of being asked for. Default false.
    pub has_matched: bool,
    /// Whether it has greeted the writer by itself: it is told nothing before that comes, but for
    /// reminders. Default false.
    pub speaks_first: bool,
    /// Where it is told first of what there is, so that this comes after the announcement of the
    /// writer. Default none, which is where it is reached alone.
    pub introduced_at: Vec<Locator>,
    /// Whether it asked for inline QoS (PID_EXPECTS_INLINE_QOS).
    pub expects_inline_qos: bool,
    /// What it wants to see, if the writer can tell. Default everything.
    pub filter: Option<Box<Filter>>,
    /// Where it can be reached alone. Each datagram goes to all of them: leave those out that
    /// cannot be reached from here.
    pub unicast: Vec<Locator>,
    /// Groups that it listens to. One datagram to a group serves all readers that share it.
    pub multicast: Vec<Locator>,
    /// Where it is reached instead of all that; see [`Writer::divert`](super::Writer::divert), which
    /// sets it. Default nowhere else.
    pub detour: Option<Locator>,
}

impl ReaderProxy {
    /// Where it takes the first that it hears.
    pub(super) fn introduction_locators(&self) -> &[Locator] {
        match self.introduced_at.as_slice() {
            [] => self.locators(),
            introduced_at => introduced_at,
        }
    }

    /// Where to reach this reader alone.
    pub(super) fn locators(&self) -> &[Locator] {
        match (&self.detour, self.unicast.as_slice()) {
            (Some(detour), _) => core::slice::from_ref(detour),
            (None, []) => &self.multicast,
            (None, unicast) => unicast,
        }
    }

    /// The groups at which to reach it with others.
    pub(super) fn groups(&self) -> &[Locator] {
        match self.detour {
            Some(_) => &[],
            None => &self.multicast,
        }
    }
}

/// How things stand with one reader, for those who watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReaderStatus {
    /// The reader.
    pub guid: Guid,
    /// Whether it is served reliably.
    pub reliable: bool,
    /// Every sample up to here is acknowledged. Meaningless for best-effort readers.
    pub acknowledged: SequenceNumber,
    /// Samples sent to it again.
    pub resent: u64,
    /// GAP submessages sent to it.
    pub gaps: u64,
    /// ACKNACK and NACK_FRAG submessages taken from it. With the first one, a reliable reader shows
    /// that it has matched this writer, too.
    pub acknacks: u64,
}

/// How far a reliable reader is behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReaderLag {
    /// Samples written after the last that it has acknowledged, ends of coherent sets among them.
    pub behind: u64,
    /// Those of them that the history still has: newer ones have replaced the others, or their time is over.
    pub samples: usize,
    /// Bytes of these, serialized.
    pub bytes: usize,
}

/// A matched reader and the state of its reliability.
#[derive(Debug)]
pub(super) struct MatchedReader {
    pub(super) proxy: ReaderProxy,
    /// Every change up to here is acknowledged. Never lowered.
    pub(super) acked: SequenceNumber,
    /// Of the change that is being sent in fragments, every one up to this one has arrived.
    pub(super) acked_fragments: (SequenceNumber, u32),
    /// Changes below are none of the reader's business.
    pub(super) first_relevant: SequenceNumber,
    /// Whether the reader has said anything, hence knows us.
    pub(super) introduced: bool,
    /// The last change that it gets for having wanted the history.
    history_end: SequenceNumber,
    /// When it is reminded while it lags.
    pub(super) turn: Turn,
    /// Whether its turn has come.
    pub(super) is_due: bool,
    /// When it was matched.
    pub(super) met_at: Instant,
    /// Up to here it may just not know us yet, if it has said nothing; later its silence is its own
    /// affair.
    new_until: Instant,
    pub(super) acknack_count: CountFilter,
    pub(super) nack_frag_count: CountFilter,
    /// Whether the change that is being sent passes its filter.
    pub(super) wants_new: bool,
    /// Best effort: what was kept back begins here, and the reader has not been told.
    pub(super) kept_back_from: Option<SequenceNumber>,
    pub(super) repairs: Repairs,
    pub(super) resent: u64,
    pub(super) gaps: u64,
    pub(super) acknacks: u64,
}

impl MatchedReader {
    /// A reader that has everything below `first_relevant`, or needs it not, of what has been
    /// written up to `last`.
    pub(super) fn new(
        proxy: ReaderProxy,
        (first_relevant, last): (SequenceNumber, SequenceNumber),
        (met_at, new_until): (Instant, Instant),
    ) -> Self {
        Self {
            proxy,
            acked: first_relevant.previous(),
            acked_fragments: (SequenceNumber::ZERO, 0),
            first_relevant,
            introduced: false,
            history_end: last,
            turn: Turn::default(),
            is_due: false,
            met_at,
            new_until,
            acknack_count: CountFilter::default(),
            nack_frag_count: CountFilter::default(),
            wants_new: true,
            kept_back_from: None,
            repairs: Repairs::default(),
            resent: 0,
            gaps: 0,
            acknacks: 0,
        }
    }

    /// Whether it has still to show that it knows us, and has the history that it wanted.
    pub(super) fn is_unsettled(&self) -> bool {
        self.proxy.reliable && (!self.introduced || self.acked < self.history_end)
    }

    /// Whether a heartbeat is owed: the reader lacks something of what was sent up to `sent`, or has
    /// never been heard.
    pub(super) fn lags(&self, sent: SequenceNumber) -> bool {
        self.proxy.reliable && (!self.introduced || self.acked < sent)
    }
}

/// What has to be known of all readers together for each change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Survey {
    /// Whether any is reliable.
    pub(super) has_reliable: bool,
    /// Whether any is not, and so says nothing of what it has.
    pub(super) has_best_effort: bool,
    /// All reliable ones have acknowledged every change up to here.
    pub(super) acked: SequenceNumber,
    /// Until then some reliable one may not know us yet.
    pub(super) new_until: Instant,
}

impl Survey {
    pub(super) fn of(readers: &[Box<MatchedReader>]) -> Self {
        let none = Self {
            has_reliable: false,
            has_best_effort: readers.iter().any(|reader| !reader.proxy.reliable),
            acked: SequenceNumber(i64::MAX),
            new_until: Instant::ZERO,
        };
        let reliable = readers.iter().filter(|reader| reader.proxy.reliable);
        reliable.fold(none, |all, reader| Self {
            has_reliable: true,
            has_best_effort: all.has_best_effort,
            acked: all.acked.min(reader.acked),
            new_until: match reader.introduced {
                true => all.new_until,
                false => all.new_until.max(reader.new_until),
            },
        })
    }
}

/// What a reader asked for and has not been sent yet, and what it was sent a moment ago.
#[derive(Debug, Default)]
pub(super) struct Repairs {
    samples: NumberWindow,
    /// Whether `samples` are all to be sent: those that the reader is not to have are taken out.
    is_sifted: bool,
    /// The next fragment to send of the lowest of `samples`; 0 is the first, too.
    pub(super) fragment: u32,
    fragments: VecDeque<FragmentRequest>,
    recent: NumberWindow,
    recent_at: Instant,
    recent_fragments: Option<(SequenceNumber, u32, Instant)>,
}

/// Fragments asked for of one change.
#[derive(Clone, Copy, Debug)]
pub(super) struct FragmentRequest {
    pub(super) number: SequenceNumber,
    pub(super) set: FragmentNumberSet,
    /// Fragments below have been sent.
    pub(super) next: u32,
}

impl Repairs {
    pub(super) fn is_empty(&self) -> bool {
        self.samples.is_empty() && self.fragments.is_empty()
    }

    /// Takes the place of what was asked for before: an ACKNACK says all that is missing. Samples
    /// that were sent less than `interval` ago are left out; says how many.
    pub(super) fn request_samples(
        &mut self,
        now: Instant,
        set: &SequenceNumberSet,
        sent: SequenceNumber,
        interval: Duration,
    ) -> u64 {
        if now.since(self.recent_at) >= interval {
            self.recent.clear();
        }
        let under_way = self.samples.first();
        self.is_sifted = false;
        let mut suppressed = 0;
        self.samples.clear();
        for number in set.iter().take_while(|&number| number <= sent) {
            if self.recent.contains(number) {
                suppressed += 1;
            } else {
                self.samples.insert_or_restart(number);
            }
        }
        if self.samples.first() != under_way {
            self.fragment = 0;
        }
        suppressed
    }

    /// Queues fragments of one change; false if they were sent less than `interval` ago or wait
    /// already.
    pub(super) fn request_fragments(
        &mut self,
        now: Instant,
        number: SequenceNumber,
        set: FragmentNumberSet,
        interval: Duration,
    ) -> bool {
        let just_sent = self.recent_fragments.is_some_and(|(sent, base, at)| {
            sent == number && set.base <= base && now.since(at) < interval
        });
        let waiting = self
            .fragments
            .iter()
            .any(|request| request.number == number && request.set.base == set.base);
        let whole_sample_waits = self.samples.contains(number);
        if just_sent || waiting || whole_sample_waits || self.fragments.len() >= MAX_REQUESTS {
            return false;
        }
        self.fragments.push_back(FragmentRequest {
            number,
            set,
            next: 0,
        });
        true
    }

    pub(super) fn next_fragments(&mut self) -> Option<&mut FragmentRequest> {
        self.fragments.front_mut()
    }

    pub(super) fn fragments_done(&mut self, now: Instant) {
        if let Some(request) = self.fragments.pop_front() {
            self.recent_fragments = Some((request.number, request.set.base, now));
        }
    }

    pub(super) fn next_sample(&self) -> Option<SequenceNumber> {
        self.samples.first()
    }

    pub(super) fn sample_done(&mut self, now: Instant, number: SequenceNumber) {
        self.samples.remove(number);
        self.recent.insert_or_restart(number);
        self.recent_at = now;
        self.fragment = 0;
    }

    pub(super) fn is_sifted(&self) -> bool {
        self.is_sifted
    }

    /// Some of the samples may have gone.
    pub(super) fn sift_again(&mut self) {
        self.is_sifted = false;
    }

    /// Takes out the samples that are not `wanted`, which count as sent now.
    pub(super) fn sift(&mut self, now: Instant, mut wanted: impl FnMut(SequenceNumber) -> bool) {
        let first = self.samples.first();
        let mut asked = self.samples;
        while let Some(number) = asked.first() {
            asked.remove(number);
            if !wanted(number) {
                self.samples.remove(number);
                self.recent.insert_or_restart(number);
                self.recent_at = now;
            }
        }
        if self.samples.first() != first {
            self.fragment = 0;
        }
        self.is_sifted = true;
    }
}

/// Each covers 256 fragments.
const MAX_REQUESTS: usize = 8;
