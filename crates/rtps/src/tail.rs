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
    /// Each has changes.
    pieces: VecDeque<Piece>,
    len: usize,
    /// The number after the highest, if there are any.
    end: SequenceNumber,
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
}

#[derive(Debug)]
struct Plain {
    timestamp: Timestamp,
    /// Where its payload ends, and that of the next one begins.
    end: usize,
}

impl Piece {
    fn has_room(&self, len: usize) -> bool {
        self.changes.len() < MAX_CHANGES && self.bytes.len() + len <= MAX_BYTES
    }

    /// The number after its last.
    fn end(&self) -> SequenceNumber {
        number_at(self.first, self.changes.len())
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
}

impl Tail {
    /// Changes here.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The lowest number.
    pub(crate) fn first(&self) -> Option<SequenceNumber> {
        let piece = self.pieces.front()?;
        Some(number_at(piece.first, piece.gone))
    }

    /// The number after the highest.
    #[inline]
    pub(crate) fn end(&self) -> Option<SequenceNumber> {
        (self.len > 0).then_some(self.end)
    }

    /// Adds a change, whose number is [`end`](Self::end) unless there are none.
    #[inline]
    pub(crate) fn push(&mut self, number: SequenceNumber, timestamp: Timestamp, payload: &[u8]) {
        let piece = match self.pieces.back_mut() {
            Some(piece) if piece.has_room(payload.len()) => piece,
            _ => self.begin(number),
        };
        piece.bytes.extend_from_slice(payload);
        let end = piece.bytes.len();
        piece.changes.push(Plain { timestamp, end });
        self.len += 1;
        self.end = number.next();
    }

    #[cold]
    fn begin(&mut self, first: SequenceNumber) -> &mut Piece {
        let mut piece = self.spare.pop().unwrap_or_default();
        piece.first = first;
        self.pieces.push_back(piece);
        let last = self.pieces.len() - 1;
        &mut self.pieces[last]
    }

    /// When the change with this number was made, and its payload.
    pub(crate) fn get(&self, number: SequenceNumber) -> Option<(Timestamp, &[u8])> {
        let at = self.pieces.partition_point(|piece| piece.end() <= number);
        let piece = self.pieces.get(at)?;
        let index = index_of(piece.first, number).filter(|&index| index >= piece.gone)?;
        piece.get(index)
    }

    /// The changes in order.
    pub(crate) fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = (SequenceNumber, Timestamp, &[u8])> {
        self.pieces.iter().flat_map(|piece| {
            (piece.gone..piece.changes.len()).filter_map(|index| {
                let (timestamp, payload) = piece.get(index)?;
                Some((number_at(piece.first, index), timestamp, payload))
            })
        })
    }

    /// Removes all changes up to `end`; says how many, and how long their payloads were together.
    pub(crate) fn remove_through(&mut self, end: SequenceNumber) -> (usize, usize) {
        let (mut count, mut len) = (0, 0);
        while let Some(piece) = self.pieces.front_mut() {
            let passed = index_of(piece.first, end.next()).unwrap_or(0);
            let passed = passed.min(piece.changes.len());
            let Some(gone) = passed.checked_sub(piece.gone).filter(|&gone| gone > 0) else {
                break;
            };
            count += gone;
            len += piece.start_of(passed) - piece.start_of(piece.gone);
            piece.gone = passed;
            if passed < piece.changes.len() {
                break;
            }
            self.drop_first();
        }
        self.len -= count;
        (count, len)
    }

    /// Removes all changes.
    pub(crate) fn clear(&mut self) {
        while !self.pieces.is_empty() {
            self.drop_first();
        }
        self.len = 0;
    }

    /// Takes the first piece off, to be used again unless that would waste memory.
    fn drop_first(&mut self) {
        let Some(mut piece) = self.pieces.pop_front() else {
            return;
        };
        if self.spare.len() < MAX_SPARE {
            piece.gone = 0;
            piece.changes.clear();
            piece.bytes.clear();
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
/// Bytes of a piece, which is what the memory is given back by.
const MAX_BYTES: usize = 16 << 10;
/// Changes of a piece.
const MAX_CHANGES: usize = 512;
/// Pieces without changes that are kept.
const MAX_SPARE: usize = 128;
