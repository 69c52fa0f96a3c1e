//! What is known of one writer's changes beyond the next one: those that came early, which the caller
//! bounds, and those that never will. Asks for nothing.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use tickwire_base::{Timestamp, copy};

use super::ReceivedChange;
use crate::change::{ChangeKind, KeyHash, OriginalWriter, Place, SampleIdentity};
use crate::pool::{BufferPool, MAX_BUFFER_LEN};
use crate::wire::{Guid, SequenceNumber, SerializedPayload};

/// A change that waits for its turn.
#[derive(Debug)]
pub(super) struct HeldChange {
    pub(super) kind: ChangeKind,
    pub(super) source_timestamp: Option<Timestamp>,
    pub(super) kernel_timestamp: Option<Timestamp>,
    pub(super) key_hash: Option<KeyHash>,
    pub(super) place: Place,
    pub(super) original: Option<OriginalWriter>,
    pub(super) related: Option<SampleIdentity>,
    pub(super) content: Content,
    pub(super) bytes: Bytes,
}

/// The payload of a held change.
#[derive(Debug)]
pub(super) enum Bytes {
    /// Short enough to be copied.
    Short(Vec<u8>),
    /// A long one, which whoever takes the change may go on holding.
    Long(Arc<Vec<u8>>),
}

impl Bytes {
    /// In memory of the pool.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        match bytes.len() > MAX_BUFFER_LEN {
            true => Self::Long(Arc::new(bytes)),
            false => Self::Short(bytes),
        }
    }

    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Short(bytes) => bytes,
            Self::Long(bytes) => bytes,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Lets the pool have the memory, once nobody holds it.
    pub(super) fn give_back(self, pool: &mut BufferPool) {
        match self {
            Self::Short(bytes) => pool.give(bytes),
            Self::Long(bytes) => pool.give_shared(bytes),
        }
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Self::Short(Vec::new())
    }
}

/// What the bytes of a held change are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    None,
    Value,
    Key,
}

impl HeldChange {
    pub(super) fn copy(change: &ReceivedChange<'_>, pool: &mut BufferPool) -> Self {
        let (content, payload) = match change.payload {
            SerializedPayload::None => (Content::None, [].as_slice()),
            SerializedPayload::Data(payload) => (Content::Value, payload),
            SerializedPayload::Key(payload) => (Content::Key, payload),
        };
        let mut bytes = pool.take();
        copy::append(&mut bytes, payload);
        Self {
            kind: change.kind,
            source_timestamp: change.source_timestamp,
            kernel_timestamp: change.kernel_timestamp,
            key_hash: change.key_hash,
            place: change.place,
            original: change.original,
            related: change.related,
            content,
            bytes: Bytes::of(bytes),
        }
    }

    pub(super) fn as_received(&self, writer: Guid, number: SequenceNumber) -> ReceivedChange<'_> {
        ReceivedChange {
            writer,
            sequence_number: number,
            kind: self.kind,
            source_timestamp: self.source_timestamp,
            kernel_timestamp: self.kernel_timestamp,
            key_hash: self.key_hash,
            place: self.place,
            original: self.original,
            related: self.related,
            payload: match self.content {
                Content::None => SerializedPayload::None,
                Content::Value => SerializedPayload::Data(self.bytes.as_slice()),
                Content::Key => SerializedPayload::Key(self.bytes.as_slice()),
            },
            memory: match &self.bytes {
                Bytes::Short(_) => None,
                Bytes::Long(bytes) => Some(bytes),
            },
        }
    }
}

/// Disjoint spans of numbers in ascending order: single changes, and ranges that are irrelevant, of
/// any length. Most insertions are at one of the ends.
#[derive(Debug, Default)]
pub(super) struct Reorder {
    spans: VecDeque<Span>,
    held: usize,
    held_len: usize,
}

/// Numbers from `first` up to but without `end`.
#[derive(Debug)]
pub(super) struct Span {
    pub(super) first: SequenceNumber,
    pub(super) end: SequenceNumber,
    /// `None` if the numbers are irrelevant.
    pub(super) change: Option<HeldChange>,
}

impl Reorder {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Changes held.
    #[inline]
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Bytes of the changes held.
    pub(super) fn held_len(&self) -> usize {
        self.held_len
    }

    pub(super) fn contains(&self, number: SequenceNumber) -> bool {
        let at = self.spans.partition_point(|span| span.end <= number);
        self.spans.get(at).is_some_and(|span| span.first <= number)
    }

    /// Holds a change; the number is not in here yet.
    pub(super) fn hold(&mut self, number: SequenceNumber, change: HeldChange) {
        let at = self.spans.partition_point(|span| span.end <= number);
        self.held += 1;
        self.held_len += change.bytes.len();
        self.spans.insert(
            at,
            Span {
                first: number,
                end: number.next(),
                change: Some(change),
            },
        );
    }

    /// Marks `start` up to but without `end` as irrelevant, except for changes that have come, as
    /// long as there are fewer than `max_gaps`. Where the writer has as many as one may have, what is
    /// needed first displaces the highest spans; says how many changes were among those.
    pub(super) fn skip(
        &mut self,
        start: SequenceNumber,
        end: SequenceNumber,
        max_gaps: usize,
    ) -> u64 {
        let mut from = start;
        let mut displaced = 0;
        let mut at = self.spans.partition_point(|span| span.end <= start);
        while from < end {
            let next = self.spans.get(at);
            let (gap_end, resume) = match next.filter(|span| span.first < end) {
                Some(span) => (span.first, span.end),
                None => (end, end),
            };
            if from < gap_end {
                let is_full = self.gaps() >= MAX_GAPS;
                if self.gaps() >= max_gaps || is_full && at >= NEEDED_FIRST {
                    break;
                }
                if is_full {
                    displaced += self.forget_highest_gap();
                }
                at = self.insert_gap(at, from, gap_end);
            }
            from = from.max(resume);
            at += 1;
        }
        displaced
    }

    /// Spans of irrelevant numbers.
    pub(super) fn gaps(&self) -> usize {
        self.spans.len() - self.held
    }

    /// Forgets the highest gap and all beyond it; says how many changes that were.
    fn forget_highest_gap(&mut self) -> u64 {
        let mut changes = 0;
        while let Some(span) = self.pop_back()
            && span.change.is_some()
        {
            changes += 1;
        }
        changes
    }

    /// Inserts a gap before the span `at`, joined to its neighbours; says where the span after it is
    /// less one.
    fn insert_gap(&mut self, at: usize, first: SequenceNumber, end: SequenceNumber) -> usize {
        let touches_next = self
            .spans
            .get(at)
            .is_some_and(|next| next.change.is_none() && next.first == end);
        let end = match self.spans.get(at) {
            Some(next) if touches_next => next.end,
            _ => end,
        };
        if touches_next {
            self.spans.remove(at);
        }
        let before = at.checked_sub(1).and_then(|i| self.spans.get_mut(i));
        if let Some(previous) = before
            && previous.change.is_none()
            && previous.end == first
        {
            previous.end = end;
            return at - 1;
        }
        self.spans.insert(
            at,
            Span {
                first,
                end,
                change: None,
            },
        );
        at
    }

    /// The lowest span.
    pub(super) fn front(&self) -> Option<&Span> {
        self.spans.front()
    }

    pub(super) fn pop_front(&mut self) -> Option<Span> {
        let span = self.spans.pop_front()?;
        self.let_go_of(&span);
        if self.spans.is_empty() && self.spans.capacity() > SPARE_SPANS {
            self.spans.shrink_to(SPARE_SPANS);
        }
        Some(span)
    }

    fn pop_back(&mut self) -> Option<Span> {
        let span = self.spans.pop_back()?;
        self.let_go_of(&span);
        Some(span)
    }

    /// The highest span, if it reaches beyond `last`.
    pub(super) fn pop_back_beyond(&mut self, last: SequenceNumber) -> Option<Span> {
        self.spans.back().filter(|span| span.end > last.next())?;
        self.pop_back()
    }

    fn let_go_of(&mut self, span: &Span) {
        if let Some(change) = &span.change {
            self.held -= 1;
            self.held_len -= change.bytes.len();
        }
    }

    /// The numbers from `start` to `last` that are not in here. Finds its place by bisection.
    pub(super) fn holes(
        &self,
        start: SequenceNumber,
        last: SequenceNumber,
    ) -> impl Iterator<Item = SequenceNumber> {
        let at = self.spans.partition_point(|span| span.end <= start);
        let mut spans = self.spans.range(at..).peekable();
        let mut next = start;
        core::iter::from_fn(move || {
            while let Some(span) = spans.peek()
                && span.first <= next
            {
                next = next.max(span.end);
                spans.next();
            }
            let hole = next;
            next = next.next();
            (hole <= last && hole < SequenceNumber(i64::MAX)).then_some(hole)
        })
    }
}

/// No more gaps than that are kept; what is forgotten is asked for again.
const MAX_GAPS: usize = 4 * 1024;
/// Spans for which a writer has memory while nothing has come early.
const SPARE_SPANS: usize = 64;
/// The lowest spans, which gaps are always kept among: those that one request can be about.
const NEEDED_FIRST: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(reorder: &mut Reorder, number: i64) {
        let change = HeldChange {
            kind: ChangeKind::Alive,
            source_timestamp: None,
            kernel_timestamp: None,
            key_hash: None,
            place: Place::default(),
            original: None,
            related: None,
            content: Content::Value,
            bytes: Bytes::of(Vec::from([1, 2])),
        };
        reorder.hold(SequenceNumber(number), change);
    }

    fn skip(reorder: &mut Reorder, start: i64, end: i64) -> u64 {
        reorder.skip(SequenceNumber(start), SequenceNumber(end), usize::MAX)
    }

    fn spans(reorder: &Reorder) -> Vec<(i64, i64, bool)> {
        let spans = reorder.spans.iter();
        spans
            .map(|span| (span.first.0, span.end.0, span.change.is_some()))
            .collect()
    }

    fn holes(reorder: &Reorder, start: i64, last: i64) -> Vec<i64> {
        let holes = reorder.holes(SequenceNumber(start), SequenceNumber(last));
        holes.map(|number| number.0).collect()
    }

    #[test]
    fn gaps_flow_around_changes_and_join() {
        let mut reorder = Reorder::default();
        hold(&mut reorder, 5);
        skip(&mut reorder, 3, 8);
        assert_eq!(
            spans(&reorder),
            [(3, 5, false), (5, 6, true), (6, 8, false)]
        );
        skip(&mut reorder, 8, 9);
        skip(&mut reorder, 1, 10);
        assert_eq!(
            spans(&reorder),
            [(1, 5, false), (5, 6, true), (6, 10, false)]
        );
        skip(&mut reorder, 20, 10);
        skip(&mut reorder, 12, 13);
        skip(&mut reorder, 10, 12);
        assert_eq!(
            spans(&reorder),
            [(1, 5, false), (5, 6, true), (6, 13, false)]
        );
    }

    #[test]
    fn holes_are_what_is_neither_held_nor_irrelevant() {
        let mut reorder = Reorder::default();
        assert_eq!(holes(&reorder, 2, 4), [2, 3, 4]);
        hold(&mut reorder, 3);
        skip(&mut reorder, 5, 8);
        assert_eq!(holes(&reorder, 2, 9), [2, 4, 8, 9]);
        assert_eq!(holes(&reorder, 6, 7), []);
        assert!(reorder.contains(SequenceNumber(7)));
        assert!(!reorder.contains(SequenceNumber(8)));
    }

    #[test]
    fn the_ends_of_the_number_range_do_no_harm() {
        let mut reorder = Reorder::default();
        skip(&mut reorder, 1, i64::MAX);
        assert_eq!(holes(&reorder, 1, i64::MAX), []);
        assert_eq!(spans(&reorder), [(1, i64::MAX, false)]);
    }

    #[test]
    fn knowledge_is_bounded_and_what_is_needed_first_displaces_the_rest() {
        let mut reorder = Reorder::default();
        let high = 10_000;
        for number in 0..100_000 {
            skip(&mut reorder, high + 2 * number, high + 2 * number + 1);
        }
        assert_eq!(reorder.spans.len(), MAX_GAPS);
        for number in 0..50 {
            hold(&mut reorder, 2 * high + number);
        }
        let displaced = skip(&mut reorder, 1, 2);
        assert_eq!(displaced, 50, "all beyond the highest gap goes with it");
        for number in 2..1_000 {
            skip(&mut reorder, 2 * number, 2 * number + 1);
        }
        assert_eq!(reorder.spans.len(), MAX_GAPS);
        assert_eq!(reorder.held_len(), 0);
        let spans = spans(&reorder);
        assert!(spans[..NEEDED_FIRST].iter().all(|span| span.1 < high));
        assert_eq!(spans[NEEDED_FIRST].0, high);
    }
}
