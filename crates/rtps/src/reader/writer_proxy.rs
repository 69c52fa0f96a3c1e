//! What a reader knows of one matched writer (RTPS 2.5 §8.4.10.4). Sends nothing itself.

use alloc::vec::Vec;

use tickwire_base::{Duration, Instant, Locator};

use super::ReaderConfig;
use super::limits::Kept;
use super::originals::Range;
use super::reassembly::Reassembly;
use super::reorder::Reorder;
use super::sets::SetBuffer;
use crate::count::CountFilter;
use crate::wire::{Guid, SequenceNumber};

/// A remote writer, as discovery describes it to a reader.
#[derive(Clone, Debug, Default)]
pub struct WriterProxy {
    /// The writer.
    pub guid: Guid,
    /// Whether it answers requests. From best-effort writers, what does not come is lost.
    pub reliable: bool,
    /// Whether it sends its first heartbeat by itself, or has sent it: it is asked only if none comes.
    /// Default false.
    pub speaks_first: bool,
    /// Begin after what the first heartbeat announces, instead of asking for it. For volatile
    /// readers of a TRANSIENT_LOCAL writer that does not say where they begin by a GAP, as ours do,
    /// but sends its history to whoever asks.
    pub skip_history: bool,
    /// Where it takes acknowledgements.
    pub unicast: Vec<Locator>,
}

/// How things stand with one writer, for those who watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterStatus {
    /// The writer.
    pub guid: Guid,
    /// The next change to deliver; all below are delivered, lost or irrelevant.
    pub expected: SequenceNumber,
    /// The newest change known to exist.
    pub announced: SequenceNumber,
    /// Samples delivered.
    pub delivered: u64,
    /// Samples that will never come.
    pub lost: u64,
    /// Samples that came again.
    pub duplicates: u64,
    /// Whether it has been heard from: with its first heartbeat, a reliable writer shows that it has matched this
    /// reader, too.
    pub heard: bool,
}

/// What a writer is to be told of what has come at last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Owed {
    #[default]
    Nothing,
    /// That all announced fragments of a change are there.
    Fragments(SequenceNumber),
    /// What has been delivered.
    Acknowledgement,
}

/// What a writer was asked for last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// Up to this change.
    pub(super) last: SequenceNumber,
    /// When, or when the last of it came.
    pub(super) at: Instant,
    /// Whether nothing of it was asked for before, and nothing has come yet: what comes first tells how long that takes.
    pub(super) is_timed: bool,
    /// Whether something of it has come.
    pub(super) has_come: bool,
}

/// How long it takes until the first of what was asked for comes, as RFC 6298 has it of acknowledgements.
#[derive(Clone, Copy, Debug)]
struct RepairTime {
    mean: Duration,
    deviation: Duration,
}

impl RepairTime {
    fn first(time: Duration) -> Self {
        Self {
            mean: time,
            deviation: time / 2,
        }
    }

    fn and(self, time: Duration) -> Self {
        let apart = self.mean.max(time).saturating_sub(self.mean.min(time));
        Self {
            mean: (self.mean * 7 + time) / 8,
            deviation: (self.deviation * 3 + apart) / 4,
        }
    }

    /// What comes hardly takes longer.
    fn longest(self) -> Duration {
        self.mean + (self.deviation * 4).max(self.mean / 2)
    }
}

/// A matched writer and the state of its reliability.
#[derive(Debug)]
pub(super) struct MatchedWriter {
    pub(super) proxy: WriterProxy,
    /// The next change to deliver.
    pub(super) expected: SequenceNumber,
    /// The first change that was to be delivered.
    pub(super) began: SequenceNumber,
    /// The newest change that was delivered.
    pub(super) delivered_up_to: SequenceNumber,
    /// The newest change known to exist.
    pub(super) announced: SequenceNumber,
    /// No number below lacks, so that holes are looked for from here on.
    complete: SequenceNumber,
    /// A heartbeat has come (reliable), or a sample (best effort): `expected` is a true number.
    pub(super) synchronized: bool,
    /// What was the newest change then.
    pub(super) history_last: SequenceNumber,
    /// When it was matched.
    pub(super) met_at: Instant,
    /// It has answered, and given what it had then.
    pub(super) has_settled: bool,
    /// It is reliable and has begun, and but for its next change nothing is to be expected of it: so it is between the
    /// samples of a stream that loses nothing.
    pub(super) flows: bool,
    pub(super) reorder: Reorder,
    pub(super) reassembly: Reassembly,
    pub(super) set: SetBuffer,
    /// What is counted of what is [kept](Self::kept).
    pub(super) counted: Kept,
    pub(super) heartbeat_count: CountFilter,
    pub(super) heartbeat_frag_count: CountFilter,
    /// What the newest heartbeat said.
    pub(super) heartbeat_last: SequenceNumber,
    /// The count of a heartbeat that only a restarted writer can have sent.
    pub(super) restart_count: Option<u32>,
    /// A number that was too far ahead to be believed.
    pub(super) jump_to: Option<SequenceNumber>,
    pub(super) acknack_count: u32,
    pub(super) nack_frag_count: u32,
    pub(super) answer_at: Option<Instant>,
    /// Whether a heartbeat has asked for it, and came while something lacked.
    pub(super) owes_answer: bool,
    /// What it is to be told now, without having to wait.
    pub(super) owed: Owed,
    pub(super) greet_at: Option<Instant>,
    /// When it was greeted last, or matched.
    pub(super) greeted_at: Instant,
    pub(super) greeting_interval: Duration,
    pub(super) asked: Option<Asked>,
    repair_time: Option<RepairTime>,
    /// How long to wait for an answer before asking again.
    pub(super) patience: Duration,
    pub(super) delivered: u64,
    pub(super) lost: u64,
    pub(super) duplicates: u64,
}

impl MatchedWriter {
    pub(super) fn new(proxy: WriterProxy, now: Instant, config: &ReaderConfig) -> Self {
        Self {
            proxy,
            expected: SequenceNumber::FIRST,
            began: SequenceNumber::FIRST,
            delivered_up_to: SequenceNumber::ZERO,
            announced: SequenceNumber::ZERO,
            complete: SequenceNumber::FIRST,
            synchronized: false,
            history_last: SequenceNumber::ZERO,
            met_at: now,
            has_settled: false,
            flows: false,
            reorder: Reorder::default(),
            reassembly: Reassembly::default(),
            set: SetBuffer::default(),
            counted: Kept::default(),
            heartbeat_count: CountFilter::default(),
            heartbeat_frag_count: CountFilter::default(),
            heartbeat_last: SequenceNumber::ZERO,
            restart_count: None,
            jump_to: None,
            acknack_count: 0,
            nack_frag_count: 0,
            answer_at: None,
            owes_answer: false,
            owed: Owed::Nothing,
            greet_at: None,
            greeted_at: now,
            greeting_interval: config.greeting_interval,
            asked: None,
            repair_time: None,
            patience: config.nack_interval,
            delivered: 0,
            lost: 0,
            duplicates: 0,
        }
    }

    /// Forgets what the writer sent before it began anew. Our own counts go on.
    pub(super) fn restart(&mut self) {
        self.expected = SequenceNumber::FIRST;
        self.delivered_up_to = SequenceNumber::ZERO;
        self.announced = SequenceNumber::ZERO;
        self.complete = SequenceNumber::FIRST;
        self.synchronized = false;
        self.began = SequenceNumber::FIRST;
        self.reorder = Reorder::default();
        self.reassembly = Reassembly::default();
        self.set = SetBuffer::default();
        self.heartbeat_frag_count = CountFilter::default();
        self.heartbeat_last = SequenceNumber::ZERO;
        self.restart_count = None;
        self.jump_to = None;
        self.asked = None;
        self.owes_answer = false;
        self.owed = Owed::Nothing;
    }

    /// Of which changes the sink has been told, from where the reader began up to a coherent set that
    /// has not ended; `None` if of none.
    pub(super) fn had(&self) -> Option<Range> {
        let end = self.set.first_kept().unwrap_or(self.expected);
        (self.began < end).then(|| (self.began, end.previous()))
    }

    /// What is kept of changes whose turn has not come.
    pub(super) fn kept(&self) -> Kept {
        Kept {
            held: self.reorder.held(),
            held_len: self.reorder.held_len(),
            partials: self.reassembly.len(),
            partial_len: self.reassembly.bytes(),
        }
    }

    /// The lowest change that is known to exist and lacks.
    pub(super) fn first_hole(&mut self) -> Option<SequenceNumber> {
        let start = self.complete.max(self.expected);
        let hole = self.reorder.holes(start, self.announced).next();
        self.complete = hole.unwrap_or(start.max(self.announced.next()));
        hole
    }

    /// Takes note of what comes of a change that lacks.
    pub(super) fn came(&mut self, now: Instant, number: SequenceNumber) {
        let Some(asked) = self.asked.as_mut().filter(|asked| number <= asked.last) else {
            return;
        };
        if number < self.expected || self.reorder.contains(number) {
            return;
        }
        if core::mem::take(&mut asked.is_timed) {
            let time = now.since(asked.at);
            let known = self.repair_time;
            self.repair_time = Some(known.map_or(RepairTime::first(time), |known| known.and(time)));
        }
        asked.at = now;
        asked.has_come = true;
    }

    /// How long what was asked for may stay away before it is asked for again: a little longer than it usually takes, as
    /// what is lost of it holds up all that comes after.
    pub(super) fn nack_interval(&self, config: &ReaderConfig) -> Duration {
        let longest = config.nack_interval;
        let shortest = config.nack_delay.min(longest);
        let usual = self.repair_time.map(RepairTime::longest);
        usual.map_or(longest, |usual| usual.clamp(shortest, longest))
    }

    /// When what was asked for up to `hole` may be asked for again. What has not come by then with the rest is lost.
    fn ask_again_at(&self, hole: SequenceNumber, config: &ReaderConfig) -> Option<Instant> {
        let asked = self.asked.filter(|asked| hole <= asked.last)?;
        let interval = self.nack_interval(config);
        Some(match asked.has_come {
            true => asked.at + (interval / 2).max(config.nack_delay).min(interval),
            false => asked.at + interval,
        })
    }

    /// Whether to ask now; if not, when.
    pub(super) fn may_answer(
        &mut self,
        now: Instant,
        config: &ReaderConfig,
    ) -> Result<(), Instant> {
        let again_at = self
            .first_hole()
            .and_then(|hole| self.ask_again_at(hole, config));
        again_at.filter(|&at| at > now).map_or(Ok(()), Err)
    }

    /// Answers a little later, so that what is only out of order can still come; later if the same was asked for within
    /// the [interval](Self::nack_interval), or within `patience`.
    pub(super) fn ask_soon(&mut self, now: Instant, patience: Duration, config: &ReaderConfig) {
        let Some(hole) = self.first_hole() else {
            return;
        };
        let mut at = now + config.nack_delay;
        if let Some(again_at) = self.ask_again_at(hole, config) {
            let asked_at = self.asked.map_or(now, |asked| asked.at);
            at = at.max(again_at).max(asked_at + patience);
        }
        self.answer_at = Some(self.answer_at.map_or(at, |armed| armed.min(at)));
    }

    /// Nothing lacks.
    pub(super) fn has_nothing_to_ask(&mut self, config: &ReaderConfig) {
        self.answer_at = None;
        self.asked = None;
        self.patience = self.nack_interval(config);
    }

    /// Whether everything has come that a reliable writer had when it first answered, or never will.
    pub(super) fn has_history(&self) -> bool {
        self.synchronized && self.expected > self.history_last
    }

    /// Whether it is reliable and has still to answer, or to give its history.
    #[inline]
    pub(super) fn is_unsettled(&self) -> bool {
        self.proxy.reliable && !self.has_settled
    }

    /// Whether nothing is kept of it, due, or still to settle.
    #[inline]
    pub(super) fn is_at_rest(&self) -> bool {
        self.counted.is_nothing()
            && !self.is_unsettled()
            && self.answer_at.is_none()
            && self.greet_at.is_none()
            && self.keeps_nothing()
    }

    /// Its changes before this number have been delivered, one behind the other. How many those are.
    #[inline]
    pub(super) fn went_on(&mut self, next: SequenceNumber) -> u64 {
        let count = next.0.abs_diff(self.expected.0);
        self.expected = next;
        self.delivered_up_to = next.previous();
        self.announced = self.announced.max(next.previous());
        self.delivered += count;
        count
    }

    /// Whether it keeps no change whose turn has not come.
    #[inline]
    fn keeps_nothing(&self) -> bool {
        self.reorder.held() == 0 && self.reassembly.len() == 0
    }

    /// What [`flows`](Self::flows) is to be.
    #[inline]
    pub(super) fn is_flowing(&self) -> bool {
        let has_begun = self.proxy.reliable && self.synchronized;
        has_begun && self.is_at_rest() && self.is_in_order()
    }

    /// Whether nothing is known of what comes after the next change.
    #[inline]
    fn is_in_order(&self) -> bool {
        self.reorder.is_empty() && self.reassembly.len() == 0
    }

    /// When something is due.
    pub(super) fn timeout(&self, config: &ReaderConfig) -> Option<Instant> {
        let expiry = self.reassembly.expires_at(config);
        [self.answer_at, self.greet_at, expiry]
            .into_iter()
            .flatten()
            .min()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::change::ChangeKind;
    use crate::reader::reorder::{Bytes, Content, HeldChange};

    fn held() -> HeldChange {
        HeldChange {
            kind: ChangeKind::Alive,
            source_timestamp: None,
            kernel_timestamp: None,
            key_hash: None,
            place: crate::change::Place::default(),
            original: None,
            related: None,
            content: Content::None,
            bytes: Bytes::default(),
        }
    }

    proptest! {
        #[test]
        fn what_is_remembered_of_holes_hides_none(
            steps in proptest::collection::vec((0..4, 1..40_i64, 1..8_i64), 1..60),
        ) {
            let config = ReaderConfig::new(Guid::UNKNOWN);
            let mut writer = MatchedWriter::new(WriterProxy::default(), Instant::ZERO, &config);
            for (step, number, count) in steps {
                let (first, end) = (SequenceNumber(number), SequenceNumber(number + count));
                match step {
                    0 if first > writer.expected && !writer.reorder.contains(first) => {
                        writer.reorder.hold(first, held());
                    }
                    1 => assert_eq!(writer.reorder.skip(first.max(writer.expected), end, usize::MAX), 0),
                    2 => writer.expected = writer.expected.next(),
                    _ => writer.announced = writer.announced.max(first),
                }
                let all = writer.reorder.holes(writer.expected, writer.announced).next();
                prop_assert_eq!(writer.first_hole(), all);
            }
        }
    }
}
