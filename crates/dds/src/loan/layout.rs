//! How a payload lies whose type is one sequence of numbers or of plain structs, or plain itself (XTypes 1.3 §7.4). Knows no
//! memory.

use std::ops::Range;

use tickwire_base::copy;
use tickwire_cdr::{
    ByteOrder, DecodeError, DecodeErrorKind, Encapsulation, Extensibility, Reader, Representation,
    Type, TypeDescription,
};

/// What payloads of such a type have before what is lent.
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
    /// The elements of a sequence, behind their number: so many bytes at most, and so many before the first that align it.
    Sequence {
        elements: Elements,
        max_len: usize,
        padding: usize,
    },
    /// Numbers, which take so many bytes without any between them.
    Plain { len: usize },
}

/// Elements of a sequence, which have no bytes between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Elements {
    /// Bytes of each.
    size: usize,
    /// What the first is aligned to in a payload.
    alignment: usize,
    /// Whether their length in bytes comes before their number, as in XCDR2 where they are structs.
    is_delimited: bool,
}

impl Elements {
    /// `None` unless they are numbers, or [plain](plain_len) and final.
    pub(super) fn of(element: &Type, representation: Representation) -> Option<Self> {
        let mut numbers = Numbers::of(representation);
        numbers.add(element)?;
        let is_xcdr2 = representation == Representation::Xcdr2;
        let alignment = numbers.alignment.min(if is_xcdr2 { 4 } else { 8 });
        // A struct begins where its first number does: behind their count, those that follow would be elsewhere.
        let is_alike = alignment <= 4 || numbers.first == numbers.alignment;
        Some(Self {
            size: numbers.len().filter(|&len| len > 0 && is_alike)?,
            alignment,
            is_delimited: is_xcdr2 && !is_number(element),
        })
    }

    /// Bytes behind the number of elements, with which `position` bytes of the body end, before the first.
    fn padding(&self, position: usize) -> usize {
        // A power of two.
        position.wrapping_neg() & (self.alignment - 1)
    }
}

impl Layout {
    /// `None` unless the type is one sequence of [such elements](Elements), or [plain](plain_len), and final or appendable.
    pub(crate) fn of(
        description: &TypeDescription,
        representation: Representation,
    ) -> Option<Self> {
        let encapsulation = Encapsulation::new(representation, description.extensibility);
        let is_delimited = encapsulation.extensibility == Extensibility::Appendable;
        let content = match sequence_of(description) {
            Some((element, bound)) => {
                let elements = Elements::of(element, representation)?;
                let bound = usize::try_from(bound).ok().filter(|&bound| bound > 0);
                let max = bound.and_then(|bound| bound.checked_mul(elements.size));
                let words = 1 + usize::from(is_delimited) + usize::from(elements.is_delimited);
                Content::Sequence {
                    elements,
                    max_len: max.map_or(MAX_LEN, |max| max.min(MAX_LEN)),
                    padding: elements.padding(4 * words),
                }
            }
            None => Content::Plain {
                len: plain_len(description, representation)?,
            },
        };
        let mut bytes = Vec::new();
        encapsulation.write(&mut bytes);
        Some(Self {
            encapsulation: bytes.try_into().ok()?,
            is_delimited,
            content,
        })
    }

    /// The most bytes that can be lent.
    pub(crate) fn max_len(&self) -> usize {
        match self.content {
            Content::Sequence { max_len, .. } => max_len,
            Content::Plain { len } => len,
        }
    }

    /// How many bytes each sample has, if its type is plain.
    pub(crate) fn plain_len(&self) -> Option<usize> {
        match self.content {
            Content::Sequence { .. } => None,
            Content::Plain { len } => Some(len),
        }
    }

    /// How many bytes come before.
    pub(crate) fn head_len(&self) -> usize {
        self.head(1).0.len
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
    #[inline]
    pub(crate) fn head(&self, len: usize) -> (Head, usize) {
        let padding = len.wrapping_neg() % 4;
        let [a, b, c, options] = self.encapsulation;
        // Two bits; there are no other options.
        let mut head = Head::of([a, b, c, options | [0, 1, 2, 3][padding]]);
        match self.content {
            Content::Sequence {
                elements, padding, ..
            } => {
                let padding = if len == 0 { 0 } else { padding };
                let behind = 4 + padding + len;
                if self.is_delimited {
                    head.add_word(behind + if elements.is_delimited { 4 } else { 0 });
                }
                if elements.is_delimited {
                    head.add_word(behind);
                }
                head.add_word(match elements.size {
                    1 => len,
                    size => len / size,
                });
                head.len += padding;
            }
            Content::Plain { .. } if self.is_delimited => head.add_word(len),
            Content::Plain { .. } => {}
        }
        (head, padding)
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
    #[inline]
    fn of(encapsulation: [u8; Encapsulation::SIZE]) -> Self {
        let mut bytes = [0; MAX_HEAD_LEN];
        bytes[..Encapsulation::SIZE].copy_from_slice(&encapsulation);
        Self {
            bytes,
            len: Encapsulation::SIZE,
        }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    #[inline]
    fn add_word(&mut self, word: usize) {
        let word = u32::try_from(word).unwrap_or(u32::MAX);
        self.bytes[self.len..self.len + 4].copy_from_slice(&word.to_le_bytes());
        self.len += 4;
    }
}

/// The elements of the one sequence that a type is, and the most of them, 0 for any number; `None` of other types.
pub(super) fn sequence_of(description: &TypeDescription) -> Option<(&Type, u32)> {
    let [member] = &description.members[..] else {
        return None;
    };
    let Type::Sequence { element, bound } = &member.ty else {
        return None;
    };
    let is_plain = !member.key && !member.optional;
    let is_plain = is_plain && description.extensibility != Extensibility::Mutable;
    is_plain.then_some((element, *bound))
}

/// Whether a type is a number, of which nothing but their count comes before several.
fn is_number(ty: &Type) -> bool {
    !matches!(ty, Type::Struct(_) | Type::Array { .. })
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
    /// The largest of any, and that of the first.
    alignment: usize,
    first: usize,
}

impl Numbers {
    fn of(representation: Representation) -> Self {
        Self {
            representation,
            len: 0,
            alignment: 1,
            first: 1,
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
            first: size,
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
        if self.len == 0 {
            self.first = one.first;
        }
        self.len = self.len.checked_add(len)?;
        Some(())
    }
}

/// Where in a payload the elements lie, be it of a final or of an appendable type, in XCDR1 or XCDR2. They are `bound` at
/// most if that is not 0. `None` where they have another order of bytes.
pub(super) fn find(
    payload: &[u8],
    [xcdr1, xcdr2]: &[Elements; 2],
    bound: u32,
) -> Result<Option<Range<usize>>, DecodeError> {
    let (encapsulation, body) = Encapsulation::parse(payload)?;
    let error = |kind| Reader::new(body, encapsulation).error(kind);
    let end = || error(DecodeErrorKind::UnexpectedEnd);
    let split = |bytes| split_word(bytes, encapsulation.order).ok_or_else(end);
    let elements = match encapsulation.representation {
        Representation::Xcdr1 => xcdr1,
        Representation::Xcdr2 => xcdr2,
    };
    let (mut rest, mut position) = (body, 0);
    match encapsulation.extensibility {
        Extensibility::Final => {}
        Extensibility::Appendable => {
            let (len, members) = split(rest)?;
            rest = members.get(..len).ok_or_else(end)?;
            position += 4;
        }
        Extensibility::Mutable => return Err(error(DecodeErrorKind::WrongExtensibility)),
    }
    if elements.is_delimited {
        let (len, all) = split(rest)?;
        rest = all.get(..len).ok_or_else(end)?;
        position += 4;
    }
    let (count, rest) = split(rest)?;
    if bound != 0 {
        Reader::new(body, encapsulation).check_bound(count, bound)?;
    }
    if encapsulation.order != ByteOrder::Little && elements.size > 1 {
        return Ok(None);
    }
    position += 4;
    let padding = match count {
        0 => 0,
        _ => elements.padding(position),
    };
    let len = count.checked_mul(elements.size).ok_or_else(end)?;
    let rest = rest.get(padding..).ok_or_else(end)?;
    rest.get(..len).ok_or_else(end)?;
    let start = Encapsulation::SIZE + position + padding;
    Ok(Some(start..start + len))
}

fn split_word(bytes: &[u8], order: ByteOrder) -> Option<(usize, &[u8])> {
    let (word, rest) = bytes.split_first_chunk::<4>()?;
    let word = match order {
        ByteOrder::Little => u32::from_le_bytes(*word),
        ByteOrder::Big => u32::from_be_bytes(*word),
    };
    Some((usize::try_from(word).ok()?, rest))
}

/// Encapsulation header, length of the struct, length and number of elements, and what aligns the first.
const MAX_HEAD_LEN: usize = 20;

/// So that the whole payload has a length of 32 bits.
const MAX_LEN: usize = (u32::MAX - 23) as usize;

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

    #[derive(Topic, Clone, Copy, Debug, Default, PartialEq)]
    #[topic(final)]
    struct Pair {
        price: f64,
        size: u32,
        orders: i32,
    }

    /// Behind the number of elements, which takes four bytes, its second member would be elsewhere than in memory.
    #[derive(Topic, Clone, Copy, Debug, Default, PartialEq)]
    #[topic(final)]
    struct Small {
        size: u32,
        orders: i32,
        price: f64,
    }

    #[derive(Topic, Clone, Debug, Default, PartialEq)]
    struct Doubles {
        all: Vec<f64>,
    }

    #[derive(Topic, Clone, Debug, Default, PartialEq)]
    #[topic(final)]
    struct Pairs {
        all: Vec<Pair>,
    }

    #[derive(Topic, Clone, Debug, Default, PartialEq)]
    #[topic(final)]
    struct Smalls {
        all: Vec<Small>,
    }

    fn elements<E: tickwire_cdr::Describe>() -> [Elements; 2] {
        BOTH.map(|it| Elements::of(&E::TYPE, it).expect("plain"))
    }

    /// Whether a payload of these bytes is that of a value, and has them where they are found.
    fn is_that_of_the_codec<T: Topic>(
        value: &T,
        bytes: &[u8],
        representation: Representation,
    ) -> bool {
        let layout = Layout::of(T::description(), representation).expect("a sequence");
        let (element, _) = sequence_of(T::description()).expect("a sequence");
        let elements = BOTH.map(|it| Elements::of(element, it).expect("plain"));
        let (mut written, mut encoded) = (Vec::new(), Vec::new());
        layout.write(bytes, &mut written);
        to_payload(value, representation, &mut encoded).expect("an encoding");
        let found = find(&written, &elements, 0).expect("elements");
        written == encoded && &written[found.expect("of our order")] == bytes
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
                    let found = find(buffer, &elements::<u8>(), 300).expect("bytes");
                    prop_assert_eq!(&buffer[found.expect("of any order")], &bytes);
                }
                let mut encoded = [Vec::new(), Vec::new()];
                let (one, other) = (Final { bytes: bytes.clone() }, Appendable { bytes: bytes.clone() });
                to_payload(&one, representation, &mut encoded[0]).expect("an encoding");
                to_payload(&other, representation, &mut encoded[1]).expect("an encoding");
                prop_assert_eq!(&written, &encoded);
            }
        }

        /// The same of elements that are aligned, or have their length before them.
        #[test]
        fn payloads_of_numbers_and_structs_are_those_of_the_codec(pairs in prop::collection::vec((any::<f64>(), any::<u32>()), 0..20)) {
            let doubles = Doubles { all: pairs.iter().map(|pair| pair.0).collect() };
            let all = pairs.iter().map(|&(price, size)| Pair { price, size, orders: -7 });
            let pairs = Pairs { all: all.collect() };
            for representation in BOTH {
                let numbers = doubles.all.iter().flat_map(|number| number.to_le_bytes());
                prop_assert!(is_that_of_the_codec(&doubles, &numbers.collect::<Vec<_>>(), representation));
                let structs = pairs.all.iter().flat_map(|pair| {
                    let [price, rest] = [pair.price.to_le_bytes().to_vec(), [pair.size.to_le_bytes(), pair.orders.to_le_bytes()].concat()];
                    [price, rest].concat()
                });
                prop_assert!(is_that_of_the_codec(&pairs, &structs.collect::<Vec<_>>(), representation));
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
            for elements in [elements::<f64>(), elements::<Pair>()] {
                if let Ok(Some(range)) = find(&payload, &elements, 0) {
                    prop_assert!(payload.get(range).is_some());
                }
            }
            if let Ok(Some(range)) = find(&payload, &elements::<u8>(), 0) {
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
            for other in [Mutable::description(), Two::description()] {
                assert_eq!(Layout::of(other, representation), None);
            }
            let words = Layout::of(Words::description(), representation);
            assert_eq!(words.map(|layout| layout.max_len()), Some(MAX_LEN));
        }
        let small = BOTH.map(|it| Layout::of(Smalls::description(), it).is_some());
        assert_eq!(small, [false, true]);
        let layout = Layout::of(Appendable::description(), Representation::Xcdr2);
        assert_eq!(layout.map(|layout| layout.max_len()), Some(300));
        let mut payload = Vec::new();
        layout.expect("bytes").write(&[1; 300], &mut payload);
        assert!(find(&payload, &elements::<u8>(), 299).is_err());
    }
}
