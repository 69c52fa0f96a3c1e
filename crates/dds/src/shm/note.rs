//! What readers say in the notes of a log: that they have everything up to some number, an acknowledgement that costs no
//! datagram.
//!
//! Only of what is lent. It is large, so each is worth a store; and its writer wants the memory back while the processor has
//! it at hand. Of what is copied, a word by UDP for each quarter of what may be unacknowledged costs less.

use tickwire_rtps::wire::{EntityId, SequenceNumber};
use tickwire_transport::shm::Note;

/// The note of a reader that has everything up to `number`.
pub(crate) fn note(EntityId(reader): EntityId, SequenceNumber(number): SequenceNumber) -> Note {
    Note {
        whom: u32::from_be_bytes(reader),
        number: u64::try_from(number).unwrap_or_default(),
    }
}

/// What a note says, if it is one of these.
pub(super) fn parse(note: Note) -> Option<(EntityId, SequenceNumber)> {
    let number = i64::try_from(note.number).ok()?;
    Some((EntityId(note.whom.to_be_bytes()), SequenceNumber(number)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn notes_say_what_they_were_told(reader: [u8; 4], number in 1..i64::MAX) {
            let (reader, number) = (EntityId(reader), SequenceNumber(number));
            prop_assert_eq!(parse(note(reader, number)), Some((reader, number)));
        }

        #[test]
        fn what_else_is_in_a_note_is_none(whom: u32, number: u64) {
            let left = Note { whom, number };
            let is_said = |(reader, number)| note(reader, number) == left;
            prop_assert!(parse(left).is_none_or(is_said));
        }
    }
}
