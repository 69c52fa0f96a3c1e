//! The four bytes before every serialized payload (RTPS 2.5 §10.2, XTypes 1.3 §7.6.3.1.2).
//!
//! ```text
//!  0               1               2               3
//! +---------------+---------------+---------------+---------------+
//! | representation identifier, always big-endian  | options   |pad|
//! +---------------+---------------+---------------+---------------+
//! ```
//! The identifier's lowest bit is the byte order of what follows (1 little-endian); the low two
//! bits of the options count the bytes that pad the payload to a multiple of four.

use alloc::vec::Vec;

use crate::{DecodeError, DecodeErrorKind};

/// The version of the encoding (XTypes 1.3 §7.4.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Representation {
    /// Eight-byte values aligned to 8; appendable types look like final ones.
    Xcdr1,
    /// Alignment of at most 4; appendable and mutable types carry their length.
    Xcdr2,
}

/// How a struct may change and still be understood (XTypes 1.3 §7.2.2.4.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Extensibility {
    /// Never: the most compact form.
    Final,
    /// By new members at its end. What a type is when it says nothing.
    #[default]
    Appendable,
    /// By adding, removing and reordering members, each marked with its id.
    Mutable,
}

/// Byte order of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// The one of two that is in this order.
    #[inline]
    pub(crate) fn bytes<const SIZE: usize>(
        self,
        little: [u8; SIZE],
        big: [u8; SIZE],
    ) -> [u8; SIZE] {
        match self {
            Self::Little => little,
            Self::Big => big,
        }
    }
}

/// A parsed encapsulation header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Encapsulation {
    /// Version of the encoding.
    pub representation: Representation,
    /// Order of the bytes in the body.
    pub order: ByteOrder,
    /// Of the top-level type. XCDR1 does not tell appendable from final and says `Final`.
    pub extensibility: Extensibility,
}

impl Encapsulation {
    /// Length of the header in bytes.
    pub const SIZE: usize = 4;

    /// The header of a little-endian payload.
    pub const fn new(representation: Representation, extensibility: Extensibility) -> Self {
        let extensibility = match (representation, extensibility) {
            (Representation::Xcdr1, Extensibility::Appendable) => Extensibility::Final,
            (_, extensibility) => extensibility,
        };
        Self {
            representation,
            order: ByteOrder::Little,
            extensibility,
        }
    }

    /// Splits a payload into its header and its body without the padding.
    pub fn parse(payload: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let Some((&[kind_high, kind_low, _, options], body)) = payload.split_first_chunk() else {
            return Err(DecodeError::new(
                DecodeErrorKind::UnexpectedEnd,
                payload.len(),
            ));
        };
        let kind = u16::from_be_bytes([kind_high, kind_low]);
        let (representation, extensibility) = match kind & !1 {
            CDR => (Representation::Xcdr1, Extensibility::Final),
            PL_CDR => (Representation::Xcdr1, Extensibility::Mutable),
            CDR2 => (Representation::Xcdr2, Extensibility::Final),
            D_CDR2 => (Representation::Xcdr2, Extensibility::Appendable),
            PL_CDR2 => (Representation::Xcdr2, Extensibility::Mutable),
            _ => {
                return Err(DecodeError::new(
                    DecodeErrorKind::UnknownEncapsulation(kind),
                    0,
                ));
            }
        };
        let order = if kind & 1 == 1 {
            ByteOrder::Little
        } else {
            ByteOrder::Big
        };
        let padding = usize::from(options & 3);
        let Some(end) = body.len().checked_sub(padding) else {
            return Err(DecodeError::new(
                DecodeErrorKind::UnexpectedEnd,
                payload.len(),
            ));
        };
        let (body, _padding) = body.split_at(end);
        Ok((
            Self {
                representation,
                order,
                extensibility,
            },
            body,
        ))
    }

    /// What [`parse`](Self::parse) gives of a payload as we write it, of a type of that extensibility, in two comparisons
    /// at most. `None` of all others.
    #[inline]
    pub(crate) fn parse_own(payload: &[u8], extensibility: Extensibility) -> Option<(Self, &[u8])> {
        let (&[high, low, _, options], body) = payload.split_first_chunk()?;
        let forms = [Representation::Xcdr1, Representation::Xcdr2];
        let mut forms = forms.map(|form| Self::new(form, extensibility)).into_iter();
        let own =
            forms.find(|own| matches!(own.to_bytes(), [a, b, ..] if [a, b] == [high, low]))?;
        let end = body.len().checked_sub(usize::from(options & 3))?;
        Some((own, body.get(..end)?))
    }

    /// Appends the header, saying that nothing pads the body.
    pub fn write(self, buffer: &mut Vec<u8>) {
        buffer.extend_from_slice(&self.to_bytes());
    }

    /// The header, saying that nothing pads the body.
    #[inline]
    pub(crate) fn to_bytes(self) -> [u8; Self::SIZE] {
        let kind = match (self.representation, self.extensibility) {
            (Representation::Xcdr1, Extensibility::Mutable) => PL_CDR,
            (Representation::Xcdr1, _) => CDR,
            (Representation::Xcdr2, Extensibility::Final) => CDR2,
            (Representation::Xcdr2, Extensibility::Appendable) => D_CDR2,
            (Representation::Xcdr2, Extensibility::Mutable) => PL_CDR2,
        };
        let little = u16::from(self.order == ByteOrder::Little);
        let [high, low] = (kind | little).to_be_bytes();
        [high, low, 0, 0]
    }
}

/// Pads the payload that starts at `start` to a multiple of four and notes by how much in its
/// header.
pub(crate) fn pad(buffer: &mut Vec<u8>, start: usize) {
    let padding = buffer.len().wrapping_sub(start).wrapping_neg() & 3;
    buffer.extend(core::iter::repeat_n(0, padding));
    note_padding(buffer, start, padding);
}

/// Notes in the header of the payload that starts at `start` that `padding` bytes pad it.
#[inline]
pub(crate) fn note_padding(buffer: &mut [u8], start: usize, padding: usize) {
    if let Some(options) = buffer.get_mut(start + 3) {
        *options |= [0, 1, 2, 3][padding];
    }
}

const CDR: u16 = 0x0000;
const PL_CDR: u16 = 0x0002;
const CDR2: u16 = 0x0006;
const D_CDR2: u16 = 0x0008;
const PL_CDR2: u16 = 0x000a;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn payloads_as_ours_are_what_they_are_found_to_be_at_length(
            (kind, options) in (0..14_u8, any::<u8>()),
            body in prop::collection::vec(any::<u8>(), 0..6),
            cut in 0..5_usize,
        ) {
            let payload = [&[0, kind, 0, options], &body[..]].concat();
            let payload = payload.get(cut..).unwrap_or_default();
            for extensibility in [Extensibility::Final, Extensibility::Appendable, Extensibility::Mutable] {
                let forms = [Representation::Xcdr1, Representation::Xcdr2];
                let is_own = |found: &(Encapsulation, &[u8])| {
                    forms.iter().any(|&form| found.0 == Encapsulation::new(form, extensibility))
                };
                let expected = Encapsulation::parse(payload).ok().filter(is_own);
                prop_assert_eq!(Encapsulation::parse_own(payload, extensibility), expected);
            }
        }
    }
}
