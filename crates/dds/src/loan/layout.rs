//! How a payload lies whose type is one sequence of bytes, or numbers alone (XTypes 1.3 §7.4). Knows no memory.

use std::ops::Range;

use tickwire_base::copy;
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
    content: Content,
}

/// What is lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// The elements of a sequence of bytes, so many at most, behind their number.
    Bytes { max_len: usize },
    /// Numbers, which take so many bytes without any between them.
    Plain { len: usize },
}

impl Layout {
    /// `None` unless the type is one sequence of bytes, or [plain](plain_len), and final or appendable.
    pub(crate) fn of(
        description: &TypeDescription,
        representation: Representation,
    ) -> Option<Self> {
        let content = match bound_of(description) {
            Some(0) => Content::Bytes { max_len: MAX_LEN },
            Some(bound) => Content::Bytes {
                max_len: usize::try_from(bound).map_or(MAX_LEN, |bound| bound.min(MAX_LEN)),
            },
            None => Content::Plain {
                len: plain_len(description, representation)?,
            },
        };
        let encapsulation = Encapsulation::new(representation, description.extensibility);
        let mut bytes = Vec::new();
        encapsulation.write(&mut bytes);
        Some(Self {
            encapsulation: bytes.try_into().ok()?,
            is_delimited: encapsulation.extensibility == Extensibility::Appendable,
            content,
        })
    }

    /// The most bytes that can be lent.
    pub(crate) fn max_len(&self) -> usize {
        match self.content {
            Content::Bytes { max_len } => max_len,
            Content::Plain { len } => len,
        }
    }

    /// How many bytes each sample has, if its type is plain.
    pub(crate) fn plain_len(&self) -> Option<usize> {
        match self.content {
            Content::Bytes { .. } => None,
            Content::Plain { len } => Some(len),
        }
    }

    /// How many bytes come before.
    pub(crate) fn head_len(&self) -> usize {
        let words = usize::from(self.is_delimited) + usize::from(self.plain_len().is_none());
        Encapsulation::SIZE + 4 * words
    }

    /// Where in a payload of a plain type the numbers lie, if it is as a writer of ours lends it, be it of a type that
    /// has more members behind.
    pub(crate) fn find_plain(&self, payload: &[u8]) -> Option<Range<usize>> {
        let start = self.head_len();
        let (head, body) = payload.split_at_checked(start)?;
        let is_alike = head.get(..2) == self.encapsulation.get(..2);
        let len = self.plain_len().filter(|_| is_alike)?;
        let told = match self.is_delimited {
            true => split_word(head.get(4..)?, ByteOrder::Little)?.0,
            false => len,
        };
        (told >= len && told <= body.len()).then_some(start..start + len)
    }

    /// What comes before `len` bytes, which is not more than the longest, and how many zeros behind them.
    pub(crate) fn head(&self, len: usize) -> (Head, usize) {
        let padding = len.wrapping_neg() % 4;
        let mut bytes = [0; MAX_HEAD_LEN];
        let [a, b, c, options] = self.encapsulation;
        // Two bits; there are no other options.
        let options = options | [0, 1, 2, 3][padding];
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        let words = match (self.is_delimited, self.content) {
            (true, Content::Bytes { .. }) => [len.saturating_add(4), len],
            _ => [len, 0],
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
        copy::append(buffer, bytes);
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

/// How many bytes the numbers of a plain type take, which are what a program has in memory: all members are numbers,
/// arrays of such, or final structs of such, and none has to be moved to be aligned to its own size, which is as far as
/// any encoding aligns it. XCDR2 tells the length of an array of structs. `None` of other types.
fn plain_len(description: &TypeDescription, representation: Representation) -> Option<usize> {
    if description.extensibility == Extensibility::Mutable {
        return None;
    }
    let mut numbers = Numbers::of(representation);
    numbers.add_members(description)?;
    numbers.len().filter(|&len| len > 0 && len <= MAX_LEN)
}

/// Numbers one behind the other.
struct Numbers {
    representation: Representation,
    len: usize,
    /// The largest of any.
    alignment: usize,
}

impl Numbers {
    fn of(representation: Representation) -> Self {
        Self {
            representation,
            len: 0,
            alignment: 1,
        }
    }

    /// `None` if another one of these behind them would have to be moved.
    fn len(&self) -> Option<usize> {
        self.len.is_multiple_of(self.alignment).then_some(self.len)
    }

    fn add_members(&mut self, description: &TypeDescription) -> Option<()> {
        let mut members = description.members.iter();
        members.try_for_each(|member| match member.optional {
            true => None,
            false => self.add(&member.ty),
        })
    }

    fn add(&mut self, ty: &Type) -> Option<()> {
        let size = match ty {
            Type::U8 | Type::Byte | Type::I8 => 1,
            Type::U16 | Type::I16 => 2,
            Type::U32 | Type::I32 | Type::F32 => 4,
            Type::U64 | Type::I64 | Type::F64 => 8,
            Type::Array { element, length } => {
                let is_delimited = self.representation == Representation::Xcdr2
                    && matches!(**element, Type::Struct(_));
                let mut one = Self::of(self.representation);
                one.add(element).filter(|()| !is_delimited)?;
                return self.add_all(&one, usize::try_from(*length).ok()?);
            }
            Type::Struct(nested) if nested.extensibility == Extensibility::Final => {
                let mut one = Self::of(self.representation);
                one.add_members(nested)?;
                return self.add_all(&one, 1);
            }
            _ => return None,
        };
        let one = Self {
            len: size,
            alignment: size,
            ..*self
        };
        self.add_all(&one, 1)
    }

    fn add_all(&mut self, one: &Self, count: usize) -> Option<()> {
        let len = one.len()?.checked_mul(count)?;
        if !self.len.is_multiple_of(one.alignment) {
            return None;
        }
        self.alignment = self.alignment.max(one.alignment);
        self.len = self.len.checked_add(len)?;
        Some(())
    }
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
    fn only_one_sequence_of_bytes_and_numbers_are_that() {
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
