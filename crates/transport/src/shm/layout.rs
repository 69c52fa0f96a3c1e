//! What lies where in a log and in its control memory, and what a record's header says. Knows no
//! memory: offsets and words alone.
//!
//! A log is one page and a ring of bytes, a power of two. Only its writer writes to it.
//!
//! ```text
//!       0  reserved  u64  the writer may be overwriting what lies a ring's length before this position
//!      64  newest    u64  position of the newest record
//!    4096  ring
//!
//! record, 16-byte aligned, never wraps
//!   0        4    5   6   8                16
//!   +--------+----+---+---+-----------------+-------------------+-----------+
//!   | length |kind|tag| 0 | sequence number | payload, `length` | 0-15 more |
//!   +--------+----+---+---+-----------------+-------------------+-----------+
//! ```
//!
//! A tag says what the payload is, to those who know.
//!
//! Positions count the bytes of the ring since the log began, and do not wrap: what has position `p`
//! lies at `p` modulo the ring's length. Length, kind and tag are one word, written last, which makes the
//! record visible; before that, the writer has zeroed this word of the next record. So a reader looks at
//! one word, where a small payload lies in the same cache line, and never takes old bytes for a header.
//! Where a record finds no room before the ring's end, or the writer turns early, padding fills it: a header
//! without a sequence number, whose length counts the header, too. So each lap begins with a record.
//!
//! In the first lap the ring has memory as far as the writer has come, which it gets by steps. It turns early
//! where all readers have read everything, and so stays within what it has until one of them lags; and where
//! there is no more memory to be had.
//!
//! Control memory is one page, and writer and readers write to it: words alone, a cache line each.
//!
//! ```text
//!       0  bell      u64  1: a reader sleeps, or is about to
//!      64  wanted    u64  1: the writer waits for room
//!     128  cursor    u64  of seat 0: the position of the next record that its reader will look at,
//!                         to an eighth of the ring, and exactly when it has read everything
//!     144  notes     3 times two u64, whom it is about and a number: what its reader has to say besides
//!                         u32 whom, u16 how often that has changed, u16 the admission to the seat
//!                         u48 number, u16 the admission
//!          ...
//!    4032  cursor    u64  of seat 61
//!    4048  notes
//! ```
//!
//! A note is none while its number is 0. Before it is about somebody else its number is made 0, so who finds both words
//! the same, once one has been read behind the other, has found what belongs together. One of an earlier admission is of
//! a reader that has had the seat before, and has not heard yet that it has no more.

/// Where the ring begins.
pub(crate) const RING: usize = super::map::PAGE;
pub(crate) const RESERVED: usize = 0;
pub(crate) const NEWEST: usize = LINE;

pub(crate) const BELL: usize = 0;
pub(crate) const WANTED: usize = LINE;

/// How many readers, at most, a log has.
pub(crate) const MAX_SEATS: usize = 62;

/// Bytes of a record's header.
pub(crate) const HEADER: u64 = 16;

/// Where the cursor of a seat lies.
pub(crate) const fn cursor(seat: usize) -> usize {
    (2 + seat) * LINE
}

/// How many notes a reader leaves beside its cursor.
pub const MAX_NOTES: usize = 3;

/// Either word of a note that a reader of that admission leaves.
pub(crate) fn note_word(what: u64, admission: u32) -> u64 {
    u64::from(admission) << NOTE_BITS | what & NOTE_MASK
}

/// What such a word says, if it is of a reader of that admission.
pub(crate) fn noted(word: u64, admission: u32) -> Option<u64> {
    (note_word(word, admission) == word).then_some(word & NOTE_MASK)
}

const NOTE_BITS: u32 = 48;
/// What a note's words have room for.
pub(crate) const NOTE_MASK: u64 = (1 << NOTE_BITS) - 1;

/// Where a note of a seat lies: whom it is about, and its number.
pub(crate) const fn note(seat: usize, place: usize) -> [usize; 2] {
    let at = cursor(seat) + 16 * (1 + place);
    [at, at + 8]
}

/// The length of a ring, from which all else follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ring(u64);

impl Ring {
    /// `None` unless it is a power of two that has room for the smallest records.
    pub(crate) fn new(len: u64) -> Option<Self> {
        (len.is_power_of_two() && len >= 8 * HEADER).then_some(Self(len))
    }

    pub(crate) fn len(self) -> u64 {
        self.0
    }

    /// Where in the log's memory so many bytes of the ring end.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a ring fits the address space"
    )]
    pub(crate) fn end_of(self, len: u64) -> usize {
        RING + len as usize
    }

    /// What a position lacks to the ring's end.
    pub(crate) fn rest(self, position: u64) -> u64 {
        self.0 - (position & (self.0 - 1))
    }

    /// Where in the log's memory a position lies.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a ring fits the address space"
    )]
    pub(crate) fn at(self, position: u64) -> usize {
        RING + (position & (self.0 - 1)) as usize
    }

    /// The largest payload: with it, a record takes a quarter of the ring. So it finds room, with the
    /// padding before it, in a ring that has been read but for an eighth.
    pub(crate) fn max_payload(self) -> u64 {
        self.0 / 4 - HEADER
    }

    /// The next eighth of the ring's length at or after a position: room is made and reported in these.
    pub(crate) fn eighth_after(self, position: u64) -> u64 {
        position.next_multiple_of(self.0 / 8)
    }

    /// Whether what lies at a position may have been overwritten.
    pub(crate) fn is_overrun(self, position: u64, reserved: u64) -> bool {
        reserved > position.saturating_add(self.0)
    }
}

/// The first word of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// There is no record yet.
    Absent,
    /// A record with a payload of that many bytes, and its tag.
    Record(u32, u8),
    /// That many bytes without meaning, these included.
    Padding(u32),
}

impl Header {
    pub(crate) fn word(self) -> u64 {
        match self {
            Self::Absent => 0,
            Self::Record(len, tag) => {
                u64::from(tag) << 40 | u64::from(RECORD) << 32 | u64::from(len)
            }
            Self::Padding(len) => u64::from(PADDING) << 32 | u64::from(len),
        }
    }

    /// What a word says that another process has written: `None` if it cannot be a header at this
    /// position.
    pub(crate) fn parse(word: u64, position: u64, ring: Ring) -> Option<Self> {
        let [len @ .., kind, tag, 0, 0] = word.to_le_bytes() else {
            return None;
        };
        let len = u32::from_le_bytes(len);
        let rest = ring.rest(position);
        match (kind, tag) {
            (0, 0) if len == 0 => Some(Self::Absent),
            (RECORD, _) if u64::from(len) <= ring.max_payload() && total(len) <= rest => {
                Some(Self::Record(len, tag))
            }
            (PADDING, 0) if u64::from(len) == rest && rest < ring.len() => Some(Self::Padding(len)),
            _ => None,
        }
    }
}

/// What a record takes of the ring.
#[inline]
pub(crate) fn total(payload_len: u32) -> u64 {
    (HEADER + u64::from(payload_len) + HEADER - 1) & !(HEADER - 1)
}

const LINE: usize = 64;
const RECORD: u8 = 1;
const PADDING: u8 = 2;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_a_word_says_stays_within_the_ring(word: u64, record: u64, shift in 7_u32..31) {
            let ring = Ring::new(1 << shift).expect("a power of two");
            let position = record.saturating_mul(HEADER) & !(HEADER - 1);
            let rest = ring.rest(position);
            let padding = u64::from(PADDING) << 32 | rest;
            for word in [word, word & 0x3_0000_ffff, word & 0xff03_0000_ffff, padding] {
                match Header::parse(word, position, ring) {
                    None => {}
                    Some(Header::Absent) => prop_assert_eq!(word, 0),
                    Some(header @ Header::Record(len, _)) => {
                        prop_assert!(total(len) <= rest && total(len) <= ring.len() / 4);
                        prop_assert_eq!(header.word(), word);
                    }
                    Some(header @ Header::Padding(len)) => {
                        prop_assert!(u64::from(len) == rest && rest < ring.len());
                        prop_assert_eq!(header.word(), word);
                    }
                }
            }
        }
    }

    #[test]
    fn rings_are_powers_of_two() {
        let lens = [0, 64, 127, 128, 129, 1 << 20, (1 << 20) + 16];
        let rings = lens.map(|len| Ring::new(len).is_some());
        assert_eq!(rings, [false, false, false, true, false, true, false]);
    }

    #[test]
    fn all_seats_fit_the_page() {
        assert_eq!(cursor(MAX_SEATS), 4096);
        assert_eq!(note(0, MAX_NOTES)[0], cursor(1));
    }
}
