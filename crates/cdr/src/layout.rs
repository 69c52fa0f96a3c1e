//! Sizes that follow from a type alone: how its values are announced, how short and how long they
//! can be.

use crate::dynamic::MAX_DEPTH;
use crate::{
    BitmaskDescription, EnumDescription, Extensibility, Member, Representation, Type,
    TypeDescription, UnionDescription,
};

/// How the header of a mutable struct's member tells the member's length (XTypes 1.3 §7.4.3.4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LengthCode {
    /// One byte.
    One = 0,
    /// Two bytes.
    Two = 1,
    /// Four bytes.
    Four = 2,
    /// Eight bytes.
    Eight = 3,
    /// A count of bytes follows the header.
    NextInt = 4,
    /// The value's own first four bytes count the bytes after them.
    AlsoNextInt = 5,
    /// The value's own first four bytes count the groups of four bytes after them.
    AlsoNextInt4 = 6,
    /// The value's own first four bytes count the groups of eight bytes after them.
    AlsoNextInt8 = 7,
}

impl LengthCode {
    /// Of a value that always has `size` bytes.
    pub const fn of_size(size: usize) -> Self {
        match size {
            1 => Self::One,
            2 => Self::Two,
            4 => Self::Four,
            8 => Self::Eight,
            _ => Self::NextInt,
        }
    }

    /// Of a sequence. A sequence of primitives starts with its count, any other with its length.
    pub const fn of_sequence(element: Self, primitive: bool) -> Self {
        match (element, primitive) {
            (_, false) | (Self::One, true) => Self::AlsoNextInt,
            (Self::Four, true) => Self::AlsoNextInt4,
            (Self::Eight, true) => Self::AlsoNextInt8,
            (_, true) => Self::NextInt,
        }
    }

    /// Of a map. Only a map of two primitives starts with its count.
    pub const fn of_map(primitive: bool) -> Self {
        Self::of_array(primitive)
    }

    /// Of an array.
    pub const fn of_array(primitive: bool) -> Self {
        if primitive {
            Self::NextInt
        } else {
            Self::AlsoNextInt
        }
    }
}

/// The fewest bytes that a struct can take, given the sum over its members, in any representation.
/// At least 1.
pub const fn min_struct_size(extensibility: Extensibility, members: usize) -> usize {
    let least = match extensibility {
        Extensibility::Final => members,
        Extensibility::Appendable if members < LENGTH_SIZE => members,
        Extensibility::Appendable | Extensibility::Mutable => LENGTH_SIZE,
    };
    if least == 0 { 1 } else { least }
}

/// Bytes of a value of an enumeration with this bit bound.
pub const fn enum_size(bit_bound: u16) -> usize {
    match bit_bound {
        0..=8 => 1,
        9..=16 => 2,
        _ => 4,
    }
}

/// Bytes of a value of a bitmask with this bit bound.
pub const fn bitmask_size(bit_bound: u16) -> usize {
    match bit_bound {
        0..=32 => enum_size(bit_bound),
        _ => 8,
    }
}

impl Type {
    /// Whether sequences and arrays of it go without a length in bytes (XTypes 1.3 §7.4.3.5).
    pub fn is_primitive(&self) -> bool {
        self.primitive_size().is_some()
    }

    /// Bytes of a value of a primitive type.
    pub fn primitive_size(&self) -> Option<usize> {
        Some(match self {
            Self::Bool | Self::U8 | Self::Byte | Self::I8 | Self::Char => 1,
            Self::U16 | Self::I16 | Self::WChar => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
            _ => return None,
        })
    }

    /// Bytes of a value that is one number: a primitive, an enumeration, a bitmask or a bitset.
    pub(crate) fn scalar_size(&self) -> Option<usize> {
        match self {
            Self::Enum(description) => Some(description.size()),
            Self::Bitmask(description) => Some(description.size()),
            Self::Bitset(description) => Some(description.size()),
            other => other.primitive_size(),
        }
    }

    /// What an array of this type, all of its dimensions counted, consists of.
    pub(crate) fn innermost(&self) -> &Self {
        match self {
            Self::Array { element, .. } => element.innermost(),
            other => other,
        }
    }

    /// Number of elements of an array, all of its dimensions counted; 1 of anything else.
    pub(crate) fn flat_count(&self) -> usize {
        match self {
            Self::Array { element, length } => usize::try_from(*length)
                .unwrap_or(usize::MAX)
                .saturating_mul(element.flat_count()),
            _ => 1,
        }
    }

    /// How a mutable struct's member of this type tells its length.
    pub fn length_code(&self) -> LengthCode {
        match self {
            Self::String { .. } | Self::WString { .. } => LengthCode::AlsoNextInt,
            Self::Sequence { element, .. } => {
                LengthCode::of_sequence(element.length_code(), element.is_primitive())
            }
            Self::Map { key, value, .. } => {
                LengthCode::of_map(key.is_primitive() && value.is_primitive())
            }
            Self::Array { element, .. } => LengthCode::of_array(element.innermost().is_primitive()),
            Self::Enum(description) => LengthCode::of_size(description.size()),
            Self::Bitmask(description) => LengthCode::of_size(description.size()),
            Self::Bitset(description) => LengthCode::of_size(description.size()),
            Self::Struct(_) | Self::Union(_) | Self::Recursive(_) => LengthCode::NextInt,
            primitive => LengthCode::of_size(primitive.primitive_size().unwrap_or_default()),
        }
    }

    /// Whether a value's bytes in the form for key hashes can depend on the representation: XCDR2
    /// aligns eight bytes to four, and gives lengths to collections of non-primitives.
    fn hash_varies(&self, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return true;
        }
        match self {
            Self::Sequence { element, .. } | Self::Array { element, .. } => {
                !element.is_primitive() || element.hash_varies(depth + 1)
            }
            Self::Map { .. } | Self::Recursive(_) => true,
            Self::Struct(description) => {
                let mut members = description.key_members(!description.has_key());
                members.any(|member| member.optional || member.ty.hash_varies(depth + 1))
            }
            Self::Union(description) => {
                let mut cases = description.cases.iter();
                description.discriminator.hash_varies(depth)
                    || !description.discriminator_key
                        && cases.any(|case| case.member.ty.hash_varies(depth + 1))
            }
            scalar => scalar.scalar_size() == Some(8),
        }
    }

    /// Where a key member of this type can end at most when it starts at `offset`; `None` when
    /// unbounded or beyond `limit`.
    fn max_key_end(
        &self,
        offset: usize,
        limit: usize,
        representation: Representation,
        depth: usize,
    ) -> Option<usize> {
        if depth > MAX_DEPTH {
            return None;
        }
        let end = match self {
            Self::String { bound: 0 } | Self::WString { bound: 0 } => return None,
            Self::Sequence { bound: 0, .. } | Self::Map { .. } | Self::Recursive(_) => {
                return None;
            }
            Self::String { bound } => {
                let text = usize::try_from(*bound).ok()?.checked_add(1)?;
                align(offset, LENGTH_SIZE)
                    .checked_add(LENGTH_SIZE)?
                    .checked_add(text)?
            }
            Self::WString { bound } => {
                let text = usize::try_from(*bound).ok()?.checked_mul(2)?;
                align(offset, LENGTH_SIZE)
                    .checked_add(LENGTH_SIZE)?
                    .checked_add(text)?
            }
            Self::Sequence { element, bound } => {
                let count = usize::try_from(*bound).ok()?;
                element.max_elements_end(offset, 1, count, limit, representation, depth)?
            }
            Self::Array { element, .. } => {
                let (element, count) = (element.innermost(), self.flat_count());
                element.max_elements_end(offset, 0, count, limit, representation, depth)?
            }
            Self::Struct(description) => description.max_key_end(
                offset,
                limit,
                representation,
                !description.has_key(),
                depth + 1,
            )?,
            Self::Union(description) => {
                description.max_key_end(offset, limit, representation, depth + 1)?
            }
            scalar => {
                let size = scalar.scalar_size().unwrap_or_default();
                aligned_end(offset, size, representation)
            }
        };
        (end <= limit).then_some(end)
    }

    /// The same of `count` values of this type, after `counts` words that count them.
    fn max_elements_end(
        &self,
        offset: usize,
        counts: usize,
        count: usize,
        limit: usize,
        representation: Representation,
        depth: usize,
    ) -> Option<usize> {
        let delimited = !self.is_primitive() && representation == Representation::Xcdr2;
        let mut end = match counts + usize::from(delimited) {
            0 => offset,
            words => align(offset, LENGTH_SIZE) + words * LENGTH_SIZE,
        };
        // Each element takes a byte at least, so that this ends at the limit.
        for _ in 0..count {
            end = self.max_key_end(end, limit, representation, depth + 1)?;
        }
        Some(end)
    }
}

impl EnumDescription {
    /// Bytes of an encoded value.
    pub fn size(&self) -> usize {
        enum_size(self.bit_bound)
    }
}

impl BitmaskDescription {
    /// Bytes of an encoded value.
    pub fn size(&self) -> usize {
        bitmask_size(self.bit_bound)
    }
}

impl UnionDescription {
    fn max_key_end(
        &self,
        offset: usize,
        limit: usize,
        representation: Representation,
        depth: usize,
    ) -> Option<usize> {
        let start = self
            .discriminator
            .max_key_end(offset, limit, representation, depth)?;
        let cases = self.cases.iter().filter(|_| !self.discriminator_key);
        cases
            .map(|case| &case.member.ty)
            .try_fold(start, |end, ty| {
                ty.max_key_end(start, limit, representation, depth)
                    .map(|other| other.max(end))
            })
    }
}

impl TypeDescription {
    /// Whether the key hash of a sample can depend on the representation that it is sent in.
    pub fn key_hash_varies(&self) -> bool {
        self.key_members(false)
            .any(|member| member.ty.hash_varies(0))
    }

    /// The most bytes that the key takes in the form that is hashed, if at most `limit`.
    pub(crate) fn max_key_size(
        &self,
        limit: usize,
        representation: Representation,
    ) -> Option<usize> {
        self.max_key_end(0, limit, representation, false, 0)
    }

    /// The key members in order of their ids, or all members.
    pub(crate) fn key_members(&self, all: bool) -> impl Iterator<Item = &Member> {
        let keys = move || self.members.iter().filter(move |member| all || member.key);
        // As a rule they are in order.
        let mut in_order = keys().is_sorted_by_key(|member| member.id).then(keys);
        let mut from = Some(0);
        core::iter::from_fn(move || {
            if let Some(in_order) = &mut in_order {
                return in_order.next();
            }
            let least = from?;
            let next = keys()
                .filter(|member| member.id >= least)
                .min_by_key(|member| member.id);
            from = next.and_then(|member| member.id.checked_add(1));
            next
        })
    }

    fn max_key_end(
        &self,
        offset: usize,
        limit: usize,
        representation: Representation,
        all: bool,
        depth: usize,
    ) -> Option<usize> {
        self.key_members(all).try_fold(offset, |end, member| {
            member.ty.max_key_end(end, limit, representation, depth)
        })
    }
}

impl Representation {
    /// Alignment of a primitive of `size` bytes.
    pub(crate) const fn alignment(self, size: usize) -> usize {
        match self {
            Self::Xcdr2 if size > 4 => 4,
            _ => size,
        }
    }
}

/// The first multiple of `alignment`, a power of two, at or after `offset`. Offsets are lengths of
/// buffers in memory, so the sum cannot overflow.
pub(crate) const fn align(offset: usize, alignment: usize) -> usize {
    (offset + alignment - 1) & !(alignment - 1)
}

fn aligned_end(offset: usize, size: usize, representation: Representation) -> usize {
    align(offset, representation.alignment(size)) + size
}

/// Of a count or a length in bytes.
pub(crate) const LENGTH_SIZE: usize = 4;
