//! How a payload lies whose type is one sequence of bytes (XTypes 1.3 §7.4). Knows no memory.

use std::ops::Range;

use tickwire_cdr::{
    ByteOrder, DecodeError, DecodeErrorKind, Encapsulation, Extensibility, Reader, Representation,
    Type, TypeDescription,
};

/// What payloads of such a type have before the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    encapsulation: [u8; Encapsulation::SIZE],
    /// Whether the struct tells its length, as an appendable one does in XCDR2.
    is_delimited: bool,
    /// The most bytes.
    max_len: usize,
}

impl Layout {
    /// `None` unless the type is one sequence of bytes, final or appendable.
    pub(crate) fn of(
        description: &TypeDescription,
        representation: Representation,
    ) -> Option<Self> {
        let bound = bound_of(description)?;
        let encapsulation = Encapsulation::new(representation, description.extensibility);
        let mut bytes = Vec::new();
        encapsulation.write(&mut bytes);
        Some(Self {
            encapsulation: bytes.try_into().ok()?,
            is_delimited: encapsulation.extensibility == Extensibility::Appendable,
            max_len: match bound {
                0 => MAX_LEN,
                bound => usize::try_from(bound).map_or(MAX_LEN, |bound| bound.min(MAX_LEN)),
            },
        })
    }

    /// The most bytes that a payload has.
    pub(crate) fn max_len(&self) -> usize {
        self.max_len
    }

    /// How many bytes come before.
    pub(crate) fn head_len(&self) -> usize {
        match self.is_delimited {
            true => MAX_HEAD_LEN,
            false => MAX_HEAD_LEN - 4,
        }
    }

    /// What comes before `len` bytes, which is not more than the longest, and how many zeros behind them.
    pub(crate) fn head(&self, len: usize) -> (Head, usize) {
        let padding = len.wrapping_neg() % 4;
        let mut bytes = [0; MAX_HEAD_LEN];
        let [a, b, c, options] = self.encapsulation;
        // Two bits; there are no other options.
        let options = options | [0, 1, 2, 3][padding];
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        let words = match self.is_delimited {
            true => [len.saturating_add(4), len],
            false => [len, 0],
        };
        bytes[..4].copy_from_slice(&[a, b, c, options]);
        bytes[4..8].copy_from_slice(&words[0].to_le_bytes());
        bytes[8..].copy_from_slice(&words[1].to_le_bytes());
        let len = self.head_len();
        (Head { bytes, len }, padding)
    }

    /// Appends a payload of these bytes.
    pub(crate) fn write(&self, bytes: &[u8], buffer: &mut Vec<u8>) {
        let (head, padding) = self.head(bytes.len());
        buffer.extend_from_slice(head.bytes());
        buffer.extend_from_slice(bytes);
        buffer.extend_from_slice(&[0; 3][..padding]);
    }
}

/// What comes before the bytes of a payload.
pub(crate) struct Head {
    bytes: [u8; MAX_HEAD_LEN],
    len: usize,
}

impl Head {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The most elements of the one sequence of bytes that a type is, 0 for any number; `None` of other types.
pub(super) fn bound_of(description: &TypeDescription) -> Option<u32> {
    let [member] = &description.members[..] else {
        return None;
    };
    let Type::Sequence { element, bound } = &member.ty else {
        return None;
    };
    let is_bytes = matches!(**element, Type::U8 | Type::Byte);
    let is_plain = !member.key && !member.optional;
    let is_plain = is_plain && description.extensibility != Extensibility::Mutable;
    (is_bytes && is_plain).then_some(*bound)
}

/// Where in a payload the bytes lie, be it of a final or of an appendable type. They are `bound` at most if that is
/// not 0.
pub(super) fn find(payload: &[u8], bound: u32) -> Result<Range<usize>, DecodeError> {
    let (encapsulation, body) = Encapsulation::parse(payload)?;
    let error = |kind| Reader::new(body, encapsulation).error(kind);
    let end = || error(DecodeErrorKind::UnexpectedEnd);
    let (start, members) = match encapsulation.extensibility {
        Extensibility::Final => (Encapsulation::SIZE, body),
        Extensibility::Appendable => {
            let (len, rest) = split_word(body, encapsulation.order).ok_or_else(end)?;
            (Encapsulation::SIZE + 4, rest.get(..len).ok_or_else(end)?)
        }
        Extensibility::Mutable => return Err(error(DecodeErrorKind::WrongExtensibility)),
    };
    let (len, bytes) = split_word(members, encapsulation.order).ok_or_else(end)?;
    if bound != 0 {
        Reader::new(body, encapsulation).check_bound(len, bound)?;
    }
    bytes.get(..len).ok_or_else(end)?;
    Ok(start + 4..start + 4 + len)
}

fn split_word(bytes: &[u8], order: ByteOrder) -> Option<(usize, &[u8])> {
    let (word, rest) = bytes.split_first_chunk::<4>()?;
    let word = match order {
        ByteOrder::Little => u32::from_le_bytes(*word),
        ByteOrder::Big => u32::from_be_bytes(*word),
    };
    Some((usize::try_from(word).ok()?, rest))
}

/// Encapsulation header, length of the struct, length of the sequence.
const MAX_HEAD_LEN: usize = 12;

/// So that the whole payload has a length of 32 bits.
const MAX_LEN: usize = (u32::MAX - 15) as usize;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tickwire_cdr::{Topic, from_payload_into, to_payload};

    use super::*;

    #[derive(Topic, Clone, Debug, Default, PartialEq)]
    #[topic(final)]
    struct Final {
        bytes: Vec<u8>,
    }

    #[derive(Topic, Clone, Debug, Default, PartialEq)]
    struct Appendable {
        #[topic(octet, bound = 300)]
        bytes: Vec<u8>,
    }

    #[derive(Topic, Clone, Debug, Default, PartialEq)]
    #[topic(mutable)]
    struct Mutable {
        bytes: Vec<u8>,
    }

    #[derive(Topic, Clone, Debug, Default, PartialEq)]
    struct Two {
        bytes: Vec<u8>,
        more: u8,
    }

    #[derive(Topic, Clone, Debug, Default, PartialEq)]
    struct Words {
        words: Vec<u16>,
    }

    const BOTH: [Representation; 2] = [Representation::Xcdr1, Representation::Xcdr2];

    proptest! {
        /// As the codec does it.
        #[test]
        fn payloads_are_those_of_the_codec(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            for representation in BOTH {
                let layouts = [Final::description(), Appendable::description()]
                    .map(|ty| Layout::of(ty, representation).expect("bytes"));
                let mut written = [Vec::new(), Vec::new()];
                for (layout, buffer) in layouts.iter().zip(&mut written) {
                    layout.write(&bytes, buffer);
                    prop_assert_eq!(&buffer[find(buffer, 300).expect("bytes")], &bytes);
                }
                let mut encoded = [Vec::new(), Vec::new()];
                let (one, other) = (Final { bytes: bytes.clone() }, Appendable { bytes: bytes.clone() });
                to_payload(&one, representation, &mut encoded[0]).expect("an encoding");
                to_payload(&other, representation, &mut encoded[1]).expect("an encoding");
                prop_assert_eq!(&written, &encoded);
            }
        }

        /// Whatever comes, what is found lies within, and is what the codec finds.
        #[test]
        fn what_is_found_is_there(mut payload in prop::collection::vec(any::<u8>(), 0..40), kind in 0..12_u8) {
            if let Some(first) = payload.first_chunk_mut::<8>() {
                first[0] = 0;
                first[1] = kind;
                first[6..].fill(0);
            }
            if let Ok(range) = find(&payload, 0) {
                prop_assert!(payload.get(range.clone()).is_some());
                let (mut one, mut other) = (Final::default(), Appendable::default());
                let read = from_payload_into(&payload, &mut one).is_ok();
                let bytes = match read {
                    true => one.bytes,
                    false => {
                        prop_assert!(from_payload_into(&payload, &mut other).is_ok());
                        other.bytes
                    }
                };
                prop_assert_eq!(&payload[range], bytes);
            }
        }
    }

    #[test]
    fn only_one_sequence_of_bytes_is_that() {
        for representation in BOTH {
            for other in [
                Mutable::description(),
                Two::description(),
                Words::description(),
            ] {
                assert_eq!(Layout::of(other, representation), None);
            }
        }
        let layout = Layout::of(Appendable::description(), Representation::Xcdr2);
        assert_eq!(layout.map(|layout| layout.max_len()), Some(300));
        let mut payload = Vec::new();
        layout.expect("bytes").write(&[1; 300], &mut payload);
        assert!(find(&payload, 299).is_err());
    }
}
