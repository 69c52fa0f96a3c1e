//! What a log's record says that has no message but tells where one lies.
//!
//! ```text
//! 0        4                                 20
//! +--------+---------------------------------+
//! | start  |  place (shm::Place), which has  |
//! |        |  the message from `start` on    |
//! +--------+---------------------------------+
//! ```
//!
//! Integers are little-endian.

use tickwire_rtps::writer::Lent;
use tickwire_transport::shm::{self, Place};

/// Where a message lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Whereabouts {
    pub(crate) start: u32,
    pub(crate) place: Place,
}

impl Whereabouts {
    /// How many bytes [`to_bytes`](Self::to_bytes) gives.
    pub(crate) const LEN: usize = 4 + Place::LEN;

    pub(crate) fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..4].copy_from_slice(&self.start.to_le_bytes());
        bytes[4..].copy_from_slice(&self.place.to_bytes());
        bytes
    }

    /// `None` of as many bytes as there never are.
    pub(crate) fn parse(record: &[u8]) -> Option<Self> {
        let (start, place) = record.split_first_chunk()?;
        Some(Self {
            start: u32::from_le_bytes(*start),
            place: Place::from_bytes(place.try_into().ok()?),
        })
    }

    /// The message, of the bytes at the place.
    pub(crate) fn message<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let start = usize::try_from(self.start).unwrap_or(usize::MAX);
        bytes.get(start..).unwrap_or_default()
    }
}

/// A message in a chunk of a pool.
#[derive(Debug)]
pub(crate) struct LentMessage {
    pub(super) lent: shm::Lent,
    /// Where in the chunk it begins, and its payload.
    pub(super) start: u16,
    pub(super) payload: u16,
    pub(super) counted_len: u32,
}

impl LentMessage {
    pub(crate) fn whereabouts(&self) -> Whereabouts {
        Whereabouts {
            start: self.start.into(),
            place: self.lent.place(),
        }
    }
}

impl Lent for LentMessage {
    fn payload(&self) -> &[u8] {
        let bytes = self.lent.bytes();
        bytes.get(usize::from(self.payload)..).unwrap_or_default()
    }

    fn counted_len(&self) -> usize {
        usize::try_from(self.counted_len).unwrap_or(usize::MAX)
    }

    fn done_with(&mut self) {
        self.lent.done_with();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whereabouts_are_what_they_were(start: u32, place: [u8; Place::LEN]) {
            let place = Place::from_bytes(place);
            let said = Whereabouts { start, place };
            prop_assert_eq!(Whereabouts::parse(&said.to_bytes()), Some(said));
            let message = said.message(&[7; 100]);
            prop_assert_eq!(message.len(), 100_usize.saturating_sub(start as usize));
        }

        #[test]
        fn other_records_are_none(record in prop::collection::vec(any::<u8>(), 0..40)) {
            let is_it = record.len() == Whereabouts::LEN;
            prop_assert_eq!(Whereabouts::parse(&record).is_some(), is_it);
        }
    }
}
