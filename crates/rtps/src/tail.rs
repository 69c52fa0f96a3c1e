//! The newest changes of a history in the form that costs least. Knows neither instances nor readers.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tickwire_base::Timestamp;

use crate::wire::SequenceNumber;

/// Plain changes, whose numbers follow each other: alive, of no instance, in no set, kept until they are
/// acknowledged and no longer. Of each there is its time and its payload, and no memory of its own, so that
/// many are let go of as fast as one.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// The older pieces. Each has changes.
    full: VecDeque<Piece>,
    /// The newest changes, and behind them the payload of the next.
    open: Piece,
    /// Those that are used again.
    spare: Vec<Piece>,
}

/// Some of the changes, and their payloads back to back.
#[derive(Debug, Default)]
struct Piece {
    /// The number of the first that it had.
    first: SequenceNumber,
    /// How many of them are gone.
    gone: usize,
    changes: Vec<Plain>,
    bytes: Vec<u8>,
    /// How many of the bytes belong to changes.
    len: usize,
}

#[derive(Debug)]
struct Plain {
    timestamp: Timestamp,
    /// Where its payload ends, and that of the next one begins.
    end: usize,
}

impl Piece {
    fn has_room(&self) -> bool {
        self.changes.len() < MAX_CHANGES && self.len <= MAX_BYTES
    }

    /// The number after its last.
    fn end(&self) -> SequenceNumber {
        number_at(self.first, self.changes.len())
    }

    /// Whether no change is here.
    fn is_empty(&self) -> bool {
        self.gone == self.changes.len()
    }

    /// Where the payload of a change begins.
    fn start_of(&self, index: usize) -> usize {
        let before = index
            .checked_sub(1)
            .and_then(|before| self.changes.get(before));
        before.map_or(0, |before| before.end)
    }

    fn get(&self, index: usize) -> Option<(Timestamp, &[u8])> {
        let change = self.changes.get(index)?;
        let payload = self.bytes.get(self.start_of(index)..change.end)?;
        Some((change.timestamp, payload))
    }

    /// Removes the changes up to `end`; says how many, and how long their payloads were together.
    fn remove_through(&mut self, end: SequenceNumber) -> (usize, usize) {
        let passed = index_of(self.first, end.next()).unwrap_or(0);
        let passed = passed.clamp(self.gone, self.changes.len());
        let len = self.start_of(passed) - self.start_of(self.gone);
        let count = passed - self.gone;
        self.gone = passed;
        (count, len)
    }

    /// Removes the oldest change; its number, and how long its payload was.
    #[inline]
    fn remove_first(&mut self) -> (SequenceNumber, usize) {
        let (number, start) = (number_at(self.first, self.gone), self.start_of(self.gone));
        let Some(change) = self.changes.get(self.gone) else {
            return (number, 0);
        };
        self.gone += 1;
        (number, change.end - start)
    }

    /// The same where newer ones go on replacing older ones: it does not grow by what is gone.
    #[inline]
    fn replace_first(&mut self) -> (SequenceNumber, usize) {
        let removed = self.remove_first();
        if self.gone >= MANY_GONE && self.gone * 2 >= self.changes.len() {
            self.drop_gone();
        }
        removed
    }

    #[cold]
    fn drop_gone(&mut self) {
        let start = self.start_of(self.gone);
        self.first = number_at(self.first, self.gone);
        self.changes.drain(..self.gone);
        self.changes
            .iter_mut()
            .for_each(|change| change.end -= start);
        self.bytes.drain(..start);
        self.len -= start;
        self.gone = 0;
    }

    /// Forgets all changes; the next one has the number after them.
    fn clear(&mut self) {
        self.first = self.end();
        self.gone = 0;
        self.changes.clear();
        self.bytes.clear();
        self.len = 0;
    }
}

impl Tail {
    /// Changes here.
    pub(crate) fn len(&self) -> usize {
        let first = self.first();
        let len = first.and_then(|first| index_of(first, self.open.end()));
        len.unwrap_or(0)
    }

    /// Whether there are none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.full.is_empty()
    }

    /// The lowest number.
    pub(crate) fn first(&self) -> Option<SequenceNumber> {
        let piece = self.full.front().unwrap_or(&self.open);
        (!piece.is_empty()).then(|| number_at(piece.first, piece.gone))
    }

    /// The number after the highest.
    pub(crate) fn end(&self) -> Option<SequenceNumber> {
        (!self.is_empty()).then(|| self.open.end())
    }

    /// Whether the change with this number can be [staged](Self::stage).
    #[inline]
    pub(crate) fn is_ready_for(&self, number: SequenceNumber) -> bool {
        self.open.end() == number && self.open.has_room()
    }

    /// Sees to that. The number is [`end`](Self::end) unless there are no changes.
    pub(crate) fn prepare_for(&mut self, number: SequenceNumber) {
        if !self.open.is_empty() {
            let next = self.spare.pop().unwrap_or_default();
            let full = core::mem::replace(&mut self.open, next);
            self.full.push_back(full);
        }
        self.open.first = number;
    }

    /// Where the payload of the next change is to be appended, for which this is ready; [`push`](Self::push) then
    /// adds it. What has been appended since a change was added is gone.
    #[inline]
    pub(crate) fn stage(&mut self) -> &mut Vec<u8> {
        self.open.bytes.truncate(self.open.len);
        &mut self.open.bytes
    }

    /// What has been appended.
    #[inline]
    pub(crate) fn staged(&self) -> &[u8] {
        self.open.bytes.get(self.open.len..).unwrap_or_default()
    }

    /// Takes back what has been appended, and memory that only this needed.
    pub(crate) fn unstage(&mut self) {
        self.open.bytes.truncate(self.open.len);
        self.open.bytes.shrink_to(MAX_BYTES + MAX_PLAIN_LEN);
    }

    /// Adds the change that was staged, with the payload that has been appended.
    #[inline]
    pub(crate) fn push(&mut self, timestamp: Timestamp) {
        let open = &mut self.open;
        open.len = open.bytes.len();
        let end = open.len;
        open.changes.push(Plain { timestamp, end });
    }

    /// When the change with this number was made, and its payload.
    pub(crate) fn get(&self, number: SequenceNumber) -> Option<(Timestamp, &[u8])> {
        let at = self.full.partition_point(|piece| piece.end() <= number);
        let piece = self.full.get(at).unwrap_or(&self.open);
        let index = index_of(piece.first, number).filter(|&index| index >= piece.gone)?;
        piece.get(index)
    }

    /// The changes in order.
    pub(crate) fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = (SequenceNumber, Timestamp, &[u8])> {
        let pieces = self.full.iter().chain([&self.open]);
        pieces.flat_map(|piece| {
            (piece.gone..piece.changes.len()).filter_map(|index| {
                let (timestamp, payload) = piece.get(index)?;
                Some((number_at(piece.first, index), timestamp, payload))
            })
        })
    }

    /// Whether there are more changes than that.
    #[inline]
    pub(crate) fn is_longer_than(&self, len: usize) -> bool {
        match self.full.is_empty() {
            true => self.open.changes.len() - self.open.gone > len,
            false => self.len() > len,
        }
    }

    /// Removes the oldest change, of some; its number, and how long its payload was.
    #[inline]
    pub(crate) fn remove_first(&mut self) -> (SequenceNumber, usize) {
        let Some(piece) = self.full.front_mut() else {
            return self.open.replace_first();
        };
        let removed = piece.remove_first();
        if piece.is_empty() {
            self.drop_first();
        }
        removed
    }

    /// The change that was staged, of an empty tail, is not added: the next one has the number after it.
    #[inline]
    pub(crate) fn pass(&mut self) {
        debug_assert_eq!(self.len(), 0, "of an empty tail");
        self.open.first = self.open.first.next();
    }

    /// Removes all changes up to `end`; says how many, and how long their payloads were together.
    pub(crate) fn remove_through(&mut self, end: SequenceNumber) -> (usize, usize) {
        let (mut count, mut len) = (0, 0);
        while let Some(piece) = self.full.front_mut() {
            let (more, longer) = piece.remove_through(end);
            (count, len) = (count + more, len + longer);
            if !piece.is_empty() {
                return (count, len);
            }
            self.drop_first();
        }
        let (more, longer) = self.open.remove_through(end);
        if self.open.is_empty() {
            self.open.clear();
        }
        (count + more, len + longer)
    }

    /// Removes all changes.
    pub(crate) fn clear(&mut self) {
        while !self.full.is_empty() {
            self.drop_first();
        }
        self.open.clear();
    }

    fn drop_first(&mut self) {
        if let Some(piece) = self.full.pop_front() {
            self.spare(piece);
        }
    }

    /// Keeps a piece to be used again unless that would waste memory.
    fn spare(&mut self, mut piece: Piece) {
        if self.spare.len() < MAX_SPARE {
            piece.clear();
            self.spare.push(piece);
        }
    }
}

/// The number of the change with that index.
fn number_at(first: SequenceNumber, index: usize) -> SequenceNumber {
    SequenceNumber(first.0.saturating_add_unsigned(index as u64))
}

/// The index of the change with that number, in the piece or after it.
fn index_of(first: SequenceNumber, number: SequenceNumber) -> Option<usize> {
    usize::try_from(number.0.checked_sub(first.0)?).ok()
}

/// The longest payload that is kept here: to copy longer ones once more would cost more than it spares.
pub(crate) const MAX_PLAIN_LEN: usize = 4 << 10;
/// A piece with more bytes gets no further change. Pieces are what the memory is given back by.
const MAX_BYTES: usize = 12 << 10;
/// So many changes that newer ones have replaced are moved over at once.
const MANY_GONE: usize = 16;
/// Changes of a piece.
const MAX_CHANGES: usize = 512;
/// Pieces without changes that are kept.
const MAX_SPARE: usize = 128;
