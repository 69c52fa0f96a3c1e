//! How a payload lies whose type is one sequence of numbers or of plain structs, or plain itself (XTypes 1.3 §7.4). Knows no
//! memory.

use std::ops::Range;

use tickwire_base::copy;
use tickwire_cdr::{
    ByteOrder, DecodeError, DecodeErrorKind, Encapsulation, Extensibility, Reader, Representation,
    TryConstruct, Type, TypeDescription,
};

/// What payloads of such a type have before what is lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    encapsulation: [u8; Encapsulation::SIZE],
    /// Whether the struct tells its length, as an appendable one does in XCDR2.
    is_delimited: bool,
    content: Content,
    head_len: usize,
    /// Bytes of each element, where nothing is before them but the encapsulation header and their number, as before bytes of a
    /// final type.
    short: Option<usize>,
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
struct Elements {
    /// Bytes of each.
    size: usize,
    /// What the first is aligned to in a payload.
    alignment: usize,
    /// Whether their length in bytes comes before their number, as in XCDR2 where they are structs.
    is_delimited: bool,
}

impl Elements {
    /// `None` unless they are numbers, or [plain](plain_len) and final.
    fn of(element: &Type, representation: Representation) -> Option<Self> {
        let mut numbers = Numbers::of(representation);
        numbers.add(element)?;
        // A struct begins where its first number does: behind their count, those that follow would be elsewhere.
        let is_alike = numbers.alignment <= 4 || numbers.first == numbers.alignment;
        Some(Self {
            size: numbers.len().filter(|&len| len > 0 && is_alike)?,
            alignment: numbers.alignment,
            is_delimited: representation == Representation::Xcdr2 && !is_number(element),
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
        let mut layout = Self {
            encapsulation: bytes.try_into().ok()?,
            is_delimited,
            content,
            head_len: 0,
            short: None,
        };
        layout.head_len = layout.head(1).0.len;
        if let Content::Sequence { elements, .. } = content
            && layout.head_len == SHORT_HEAD_LEN
        {
            layout.short = Some(elements.size);
        }
        Some(layout)
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

    /// How many bytes come before, where there are some.
    #[inline]
    pub(crate) fn head_len(&self) -> usize {
        self.head_len
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
        let padding = padding_behind(len);
        let mut head = Head::of(self.encapsulation(padding));
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
                head.add_word(number_of(len, elements.size));
                head.len += padding;
            }
            Content::Plain { .. } if self.is_delimited => head.add_word(len),
            Content::Plain { .. } => {}
        }
        (head, padding)
    }

    /// The encapsulation header of a payload with so many zeros behind it.
    #[inline]
    fn encapsulation(&self, padding: usize) -> [u8; Encapsulation::SIZE] {
        let [a, b, c, options] = self.encapsulation;
        // Two bits; there are no other options.
        [a, b, c, options | [0, 1, 2, 3][padding]]
    }

    /// Appends a payload of these bytes.
    #[inline]
    pub(crate) fn write(&self, bytes: &[u8], buffer: &mut Vec<u8>) {
        let padding = padding_behind(bytes.len());
        match self.short {
            Some(size) => {
                // No more than the longest.
                let count = u32::try_from(number_of(bytes.len(), size)).unwrap_or(u32::MAX);
                let [a, b, c, d] = self.encapsulation(padding);
                let [e, f, g, h] = count.to_le_bytes();
                buffer.extend_from_slice(&[a, b, c, d, e, f, g, h]);
            }
            None => buffer.extend_from_slice(self.head(bytes.len()).0.bytes()),
        }
        copy::append(buffer, bytes);
        if padding > 0 {
            buffer.extend_from_slice(&[0; 3][..padding]);
        }
    }

    /// Where the elements lie in a payload that has nothing before them but a header like ours and their number.
    #[inline]
    fn find_short(&self, payload: &[u8], bound: u32) -> Option<Range<usize>> {
        let size = self.short?;
        let &[high, low, _, options, ref count @ ..] = payload.first_chunk::<SHORT_HEAD_LEN>()?;
        let count = u32::from_le_bytes(*count);
        let len = usize::try_from(count).ok()?.checked_mul(size)?;
        let end = SHORT_HEAD_LEN.checked_add(len)?;
        let is_alike = self.encapsulation.starts_with(&[high, low]);
        let fits = payload.len() - usize::from(options & 3) >= end;
        let is_within = bound == 0 || count <= bound;
        (is_alike && fits && is_within).then_some(SHORT_HEAD_LEN..end)
    }
}

/// Zeros behind so many bytes, with which a payload ends where a word does.
#[inline]
fn padding_behind(len: usize) -> usize {
    len.wrapping_neg() % 4
}

/// How many elements so many bytes are.
#[inline]
fn number_of(len: usize, size: usize) -> usize {
    match size {
        1 => len,
        size => len / size,
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
    // One that is tried may be read as something else than what lies there.
    let is_read_as_it_lies = !member.optional && member.try_construct == TryConstruct::Discard;
    let is_plain =
        !member.key && is_read_as_it_lies && description.extensibility != Extensibility::Mutable;
    is_plain.then_some((element, *bound))
}

/// Whether a type is a number, of which nothing but their count comes before several.
fn is_number(ty: &Type) -> bool {
    !matches!(ty, Type::Struct(_) | Type::Array { .. })
}

/// Whether a type is a number, or an array or a final struct of such, with or without gaps.
pub(super) fn is_of_numbers(ty: &Type) -> bool {
    match ty {
        Type::Array { element, .. } => is_of_numbers(element),
        Type::Struct(nested) if nested.extensibility == Extensibility::Final => {
            let mut members = nested.members.iter();
            members.all(|member| !member.optional && is_of_numbers(&member.ty))
        }
        ty => number_size(ty).is_some(),
    }
}

/// Bytes of a number.
fn number_size(ty: &Type) -> Option<usize> {
    match ty {
        Type::U8 | Type::Byte | Type::I8 => Some(1),
        Type::U16 | Type::I16 => Some(2),
        Type::U32 | Type::I32 | Type::F32 => Some(4),
        Type::U64 | Type::I64 | Type::F64 => Some(8),
        _ => None,
    }
}

/// How many bytes the numbers of a plain type take, which are what a program has in memory: all members are numbers,
/// arrays of such, or final structs of such, and none has to be moved to be aligned as the encoding aligns it: to its own
/// size, or to four bytes if that is less and it is XCDR2, which tells the length of an array of structs. `None` of other
/// types.
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
            number => number_size(number)?,
        };
        let alignment = match self.representation {
            Representation::Xcdr1 => size,
            Representation::Xcdr2 => size.min(4),
        };
        let one = Self {
            len: size,
            alignment,
            first: alignment,
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

/// Where in a payload the elements lie, be it of a final or of an appendable type, in XCDR1 or XCDR2, whose layouts these
/// are. They are `bound` at most if that is not 0. `None` where they have another order of bytes, or no layout.
#[inline]
pub(super) fn find(
    payload: &[u8],
    layouts: &[Option<Layout>; 2],
    bound: u32,
) -> Result<Option<Range<usize>>, DecodeError> {
    let mut short = layouts.iter().flatten();
    match short.find_map(|layout| layout.find_short(payload, bound)) {
        Some(range) => Ok(Some(range)),
        None => find_any(payload, layouts, bound),
    }
}

#[inline(never)]
fn find_any(
    payload: &[u8],
    [xcdr1, xcdr2]: &[Option<Layout>; 2],
    bound: u32,
) -> Result<Option<Range<usize>>, DecodeError> {
    let (encapsulation, body) = Encapsulation::parse(payload)?;
    let error = |kind| Reader::new(body, encapsulation).error(kind);
    let end = || error(DecodeErrorKind::UnexpectedEnd);
    let split = |bytes| split_word(bytes, encapsulation.order).ok_or_else(end);
    let layout = match encapsulation.representation {
        Representation::Xcdr1 => xcdr1,
        Representation::Xcdr2 => xcdr2,
    };
    if encapsulation.extensibility == Extensibility::Mutable {
        return Err(error(DecodeErrorKind::WrongExtensibility));
    }
    let Some(Content::Sequence { elements, .. }) = layout.map(|layout| layout.content) else {
        return Ok(None);
    };
    let (mut rest, mut position) = (body, 0);
    if encapsulation.extensibility == Extensibility::Appendable {
        let (len, members) = split(rest)?;
        rest = members.get(..len).ok_or_else(end)?;
        position += 4;
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

/// Encapsulation header, number of elements, and either the lengths of the struct and of the sequence, or what aligns the first
/// element: one encoding has these, the other that.
const MAX_HEAD_LEN: usize = 16;

/// The two that all sequences have.
const SHORT_HEAD_LEN: usize = Encapsulation::SIZE + 4;

/// In the order of what there is for each.
pub(super) const BOTH: [Representation; 2] = [Representation::Xcdr1, Representation::Xcdr2];

/// So that the whole payload has a length of 32 bits.
const MAX_LEN: usize = (u32::MAX - 19) as usize;

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

    /// Behind the number of elements, which takes four bytes, its last member is elsewhere in XCDR1 than in memory.
    #[derive(Topic, Clone, Copy, Debug, Default, PartialEq)]
    #[topic(final)]
    struct Small {
        size: u32,
        orders: i32,
        price: f64,
    }

    /// In memory as in XCDR2, which aligns nothing to more than four bytes.
    #[derive(Topic, Clone, Copy, Debug, Default, PartialEq)]
    #[topic(final)]
    #[repr(C, packed(4))]
    struct Packed {
        size: u32,
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
    struct GrowingPairs {
        all: Vec<Pair>,
    }

    #[derive(Topic, Clone, Debug, Default, PartialEq)]
    #[topic(final)]
    struct Smalls {
        all: Vec<Small>,
    }

    #[derive(Topic, Clone, Debug, Default, PartialEq)]
    struct GrowingPacked {
        all: Vec<Packed>,
    }

    fn layouts<T: Topic>() -> [Option<Layout>; 2] {
        BOTH.map(|it| Layout::of(T::description(), it))
    }

    /// What a sequence has in memory.
    trait InMemory: Topic + Default {
        fn bytes(&self) -> Vec<u8>;
    }

    impl InMemory for Final {
        fn bytes(&self) -> Vec<u8> {
            self.bytes.clone()
        }
    }

    impl InMemory for Appendable {
        fn bytes(&self) -> Vec<u8> {
            self.bytes.clone()
        }
    }

    impl InMemory for Doubles {
        fn bytes(&self) -> Vec<u8> {
            let numbers = self.all.iter().map(|number| number.to_le_bytes());
            numbers.flatten().collect()
        }
    }

    impl InMemory for Pairs {
        fn bytes(&self) -> Vec<u8> {
            self.all.iter().flat_map(bytes_of).collect()
        }
    }

    impl InMemory for GrowingPairs {
        fn bytes(&self) -> Vec<u8> {
            self.all.iter().flat_map(bytes_of).collect()
        }
    }

    impl InMemory for Smalls {
        fn bytes(&self) -> Vec<u8> {
            let all = self.all.iter().map(|it| {
                let words = [it.size.to_le_bytes(), it.orders.to_le_bytes()];
                [words.concat(), it.price.to_le_bytes().to_vec()]
            });
            all.flatten().flatten().collect()
        }
    }

    impl InMemory for GrowingPacked {
        fn bytes(&self) -> Vec<u8> {
            let all = self.all.iter().map(|&Packed { size, price }| {
                [size.to_le_bytes().to_vec(), price.to_le_bytes().to_vec()]
            });
            all.flatten().flatten().collect()
        }
    }

    fn bytes_of(pair: &Pair) -> Vec<u8> {
        let rest = [pair.size.to_le_bytes(), pair.orders.to_le_bytes()];
        [pair.price.to_le_bytes().to_vec(), rest.concat()].concat()
    }

    /// A payload that is laid down is that of the codec, and what it has is found; nothing where the encoding has something else.
    fn is_as_the_codec_has_it(value: &impl InMemory) -> bool {
        fn check<T: InMemory>(value: &T, representation: Representation) -> bool {
            let (mut written, mut encoded) = (Vec::new(), Vec::new());
            to_payload(value, representation, &mut encoded).expect("an encoding");
            let Some(layout) = Layout::of(T::description(), representation) else {
                return find(&encoded, &layouts::<T>(), 300) == Ok(None);
            };
            layout.write(&value.bytes(), &mut written);
            let found = find(&written, &layouts::<T>(), 300).expect("elements");
            written == encoded && written[found.expect("of our order")] == value.bytes()
        }
        BOTH.iter()
            .all(|&representation| check(value, representation))
    }

    /// Whether what is found in a payload that was damaged lies within, and is what the codec finds.
    fn is_found_as_by_the_codec<T: InMemory>(
        value: &T,
        representation: Representation,
        changes: &[(usize, u8)],
        cut: usize,
    ) -> bool {
        let mut payload = Vec::new();
        to_payload(value, representation, &mut payload).expect("an encoding");
        let kind = payload[1];
        for &(at, byte) in changes {
            let at = at % payload.len();
            payload[at] = byte;
        }
        payload.truncate(payload.len() - cut.min(payload.len()));
        let Ok(Some(range)) = find(&payload, &layouts::<T>(), 0) else {
            return true;
        };
        let Some(found) = payload.get(range) else {
            return false;
        };
        let mut read = T::default();
        match from_payload_into(&payload, &mut read) {
            Ok(()) => found == read.bytes(),
            // Of a final type or an appendable one, whichever it is.
            Err(_) => payload[..2] != [0, kind],
        }
    }

    proptest! {
        #[test]
        fn payloads_are_those_of_the_codec(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            pairs in prop::collection::vec((any::<f64>(), any::<u32>()), 0..20),
        ) {
            prop_assert!(is_as_the_codec_has_it(&Final { bytes: bytes.clone() }), "Final");
            prop_assert!(is_as_the_codec_has_it(&Appendable { bytes }), "Appendable");
            let all = pairs.iter().map(|&(price, size)| Pair { price, size, orders: -7 });
            let all: Vec<_> = all.collect();
            prop_assert!(is_as_the_codec_has_it(&Doubles { all: all.iter().map(|it| it.price).collect() }), "Doubles");
            prop_assert!(is_as_the_codec_has_it(&Pairs { all: all.clone() }), "Pairs");
            prop_assert!(is_as_the_codec_has_it(&GrowingPairs { all }), "GrowingPairs");
            let small = |&(price, size)| Small { size, orders: -7, price };
            prop_assert!(is_as_the_codec_has_it(&Smalls { all: pairs.iter().map(small).collect() }), "Smalls");
            let packed = |&(price, size)| Packed { size, price };
            prop_assert!(is_as_the_codec_has_it(&GrowingPacked { all: pairs.iter().map(packed).collect() }), "GrowingPacked");
        }

        #[test]
        fn what_is_found_in_damaged_payloads_is_there(
            bytes in prop::collection::vec(any::<u8>(), 0..9),
            pairs in prop::collection::vec((any::<f64>(), any::<u32>()), 0..3),
            changes in prop::collection::vec((0..24_usize, 0..20_u8), 0..3),
            cut in 0..6_usize,
            is_xcdr2: bool,
        ) {
            let representation = BOTH[usize::from(is_xcdr2)];
            let check = (representation, &changes[..], cut);
            fn holds<T: InMemory>(value: T, (representation, changes, cut): (Representation, &[(usize, u8)], usize)) -> bool {
                is_found_as_by_the_codec(&value, representation, changes, cut)
            }
            let all = pairs.iter().map(|&(price, size)| Pair { price, size, orders: -7 });
            let all: Vec<_> = all.collect();
            prop_assert!(holds(Final { bytes: bytes.clone() }, check), "Final");
            prop_assert!(holds(Appendable { bytes }, check), "Appendable");
            prop_assert!(holds(Doubles { all: all.iter().map(|it| it.price).collect() }, check), "Doubles");
            prop_assert!(holds(Pairs { all: all.clone() }, check), "Pairs");
            prop_assert!(holds(GrowingPairs { all }, check), "GrowingPairs");
            let small = |&(price, size)| Small { size, orders: -7, price };
            prop_assert!(holds(Smalls { all: pairs.iter().map(small).collect() }, check), "Smalls");
            let packed = |&(price, size)| Packed { size, price };
            prop_assert!(holds(GrowingPacked { all: pairs.iter().map(packed).collect() }, check), "GrowingPacked");
        }
    }

    #[derive(Topic, Clone, Debug, Default, PartialEq)]
    struct Tried {
        #[topic(bound = 4, try_construct = trim)]
        bytes: Vec<u8>,
    }

    #[test]
    fn only_one_sequence_of_bytes_and_numbers_are_that() {
        for representation in BOTH {
            for other in [
                Mutable::description(),
                Two::description(),
                Tried::description(),
            ] {
                assert_eq!(Layout::of(other, representation), None);
            }
            let words = Layout::of(Words::description(), representation);
            assert_eq!(words.map(|layout| layout.max_len()), Some(MAX_LEN));
        }
        let [_, Some(layout)] = layouts::<Appendable>() else {
            panic!("a sequence");
        };
        assert_eq!(layout.max_len(), 300);
        let mut payload = Vec::new();
        layout.write(&[1; 300], &mut payload);
        assert!(find(&payload, &layouts::<Appendable>(), 299).is_err());
    }

    /// What is in memory as in one of them alone is not asked of the other.
    #[test]
    fn each_encoding_has_elements_of_its_own() {
        for [xcdr1, xcdr2] in [layouts::<Smalls>(), layouts::<GrowingPacked>()] {
            assert!(xcdr1.is_none() && xcdr2.is_some());
        }
        let plain = |it| plain_len(Packed::description(), it);
        assert_eq!(BOTH.map(plain), [None, Some(size_of::<Packed>())]);
        let plain = |it| plain_len(Small::description(), it);
        assert_eq!(BOTH.map(plain), [Some(16), Some(16)]);
    }
}
