//! Sizes that follow from a type alone: how its values are announced, how short and how long they
//! can be.

use crate::{EnumDescription, Extensibility, Member, Representation, Type, TypeDescription};

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

impl Type {
    /// Whether sequences and arrays of it go without a length in bytes (XTypes 1.3 §7.4.3.5).
    pub fn is_primitive(&self) -> bool {
        self.primitive_size().is_some()
    }

    /// Bytes of a value of a primitive type.
    pub fn primitive_size(&self) -> Option<usize> {
        Some(match self {
            Self::Bool | Self::U8 | Self::Byte | Self::I8 | Self::Char => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
            _ => return None,
        })
    }

    /// How a mutable struct's member of this type tells its length.
    pub fn length_code(&self) -> LengthCode {
        match self {
            Self::String { .. } => LengthCode::AlsoNextInt,
            Self::Sequence { element, .. } => {
                LengthCode::of_sequence(element.length_code(), element.is_primitive())
            }
            Self::Array { element, .. } => LengthCode::of_array(element.is_primitive()),
            Self::Enum(description) => LengthCode::of_size(description.size()),
            Self::Struct(_) => LengthCode::NextInt,
            primitive => LengthCode::of_size(primitive.primitive_size().unwrap_or_default()),
        }
    }

    /// Whether a value's bytes in the form for key hashes can depend on the representation: XCDR2
    /// aligns eight bytes to four, and gives lengths to collections of non-primitives.
    fn hash_varies(&self) -> bool {
        match self {
            Self::Sequence { element, .. } | Self::Array { element, .. } => {
                !element.is_primitive() || element.hash_varies()
            }
            Self::Struct(description) => {
                let mut members = description.key_members(!description.has_key());
                members.any(|member| member.optional || member.ty.hash_varies())
            }
            primitive => primitive.primitive_size() == Some(8),
        }
    }

    /// Where a key member of this type can end at most when it starts at `offset`; `None` when
    /// unbounded or beyond `limit`.
    fn max_key_end(
        &self,
        offset: usize,
        limit: usize,
        representation: Representation,
    ) -> Option<usize> {
        let end = match self {
            Self::String { bound: 0 } | Self::Sequence { bound: 0, .. } => return None,
            Self::String { bound } => {
                let text = usize::try_from(*bound).ok()?.checked_add(1)?;
                align(offset, LENGTH_SIZE)
                    .checked_add(LENGTH_SIZE)?
                    .checked_add(text)?
            }
            Self::Sequence {
                element,
                bound: count,
            }
            | Self::Array {
                element,
                length: count,
            } => {
                let sequence = usize::from(matches!(self, Self::Sequence { .. }));
                let delimited = !element.is_primitive() && representation == Representation::Xcdr2;
                let lengths = sequence + usize::from(delimited);
                let mut end = match lengths {
                    0 => offset,
                    lengths => align(offset, LENGTH_SIZE) + lengths * LENGTH_SIZE,
                };
                for _ in 0..*count {
                    end = element.max_key_end(end, limit, representation)?;
                }
                end
            }
            Self::Enum(description) => aligned_end(offset, description.size(), representation),
            Self::Struct(description) => {
                description.max_key_end(offset, limit, representation, !description.has_key())?
            }
            primitive => {
                let size = primitive.primitive_size().unwrap_or_default();
                aligned_end(offset, size, representation)
            }
        };
        (end <= limit).then_some(end)
    }
}

impl EnumDescription {
    /// Bytes of an encoded value.
    pub fn size(&self) -> usize {
        enum_size(self.bit_bound)
    }
}

impl TypeDescription {
    /// Whether the key hash of a sample can depend on the representation that it is sent in.
    pub fn key_hash_varies(&self) -> bool {
        self.key_members(false)
            .any(|member| member.ty.hash_varies())
    }

    /// The most bytes that the key takes in the form that is hashed, if at most `limit`.
    pub(crate) fn max_key_size(
        &self,
        limit: usize,
        representation: Representation,
    ) -> Option<usize> {
        self.max_key_end(0, limit, representation, false)
    }

    /// The key members in order of their ids, or all members.
    pub(crate) fn key_members(&self, all: bool) -> impl Iterator<Item = &Member> {
        let mut from = Some(0);
        core::iter::from_fn(move || {
            let least = from?;
            let members = self.members.iter().filter(|member| all || member.key);
            let next = members
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
    ) -> Option<usize> {
        self.key_members(all).try_fold(offset, |end, member| {
            member.ty.max_key_end(end, limit, representation)
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
