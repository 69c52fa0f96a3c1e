//! Types as data: what the derive writes down at compile time, and what is built at run time from
//! a FAST template or from a peer's type object.
//!
//! A description does not know how its values are stored in memory.

mod aggregate;
mod bitset;
mod display;
mod enumerated;
mod equality;
mod invalid;
mod knot;
mod shared;

pub use aggregate::{Case, Member, TryConstruct, TypeDescription, UnionDescription};
pub use bitset::{Bitfield, BitsetDescription};
pub use enumerated::{BitmaskDescription, EnumDescription, Flag, Literal};
pub use invalid::InvalidDescription;
pub(crate) use knot::Knot;
pub use knot::{Circle, Link};
pub use shared::Shared;

/// A type that has a description known at compile time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a topic type",
    note = "members are numbers, bool, char, Decimal, String, CompactString, WString, WChar, Vec, arrays, BTreeMap, Option, Box, and types with `#[derive(Topic)]`"
)]
pub trait Describe {
    /// The type as data.
    const TYPE: Type;
    /// The same with a lifetime; not to be overridden.
    const TYPE_REF: &'static Type = &Self::TYPE;
    /// Whether a member of this type is stored apart from its struct: true of `Box`.
    const EXTERNAL: bool = false;
}

/// A type of IDL, as far as this crate encodes them.
#[derive(Clone)]
pub enum Type {
    /// `boolean`
    Bool,
    /// `uint8`
    U8,
    /// `octet`: the same bytes as `uint8`, but another type to a peer
    Byte,
    /// `int8`
    I8,
    /// `uint16`
    U16,
    /// `int16`
    I16,
    /// `uint32`
    U32,
    /// `int32`
    I32,
    /// `uint64`
    U64,
    /// `int64`
    I64,
    /// `float`
    F32,
    /// `double`
    F64,
    /// `char`: eight bits
    Char,
    /// `wchar`: a unit of UTF-16
    WChar,
    /// `string`
    String {
        /// Largest length in bytes without the NUL; 0 when unbounded.
        bound: u32,
    },
    /// `wstring`: UTF-16
    WString {
        /// Largest length in units of UTF-16; 0 when unbounded.
        bound: u32,
    },
    /// `sequence`
    Sequence {
        /// Type of the elements.
        element: Shared<Self>,
        /// Largest number of elements; 0 when unbounded.
        bound: u32,
    },
    /// An array. An array of arrays is one of several dimensions, and encoded like one that is
    /// their product long.
    Array {
        /// Type of the elements.
        element: Shared<Self>,
        /// Number of elements, at least 1.
        length: u32,
    },
    /// `map`
    Map {
        /// Type of the keys: see [`is_map_key`](Self::is_map_key).
        key: Shared<Self>,
        /// Type of the values.
        value: Shared<Self>,
        /// Largest number of entries; 0 when unbounded.
        bound: u32,
    },
    /// `enum`
    Enum(Shared<EnumDescription>),
    /// `bitmask`
    Bitmask(Shared<BitmaskDescription>),
    /// `bitset`.
    Bitset(Shared<BitsetDescription>),
    /// `struct`
    Struct(Shared<TypeDescription>),
    /// `union`
    Union(Shared<UnionDescription>),
    /// A struct or a union that contains the place where this stands. Only types that come from
    /// peers refer to themselves so.
    Recursive(Link),
}

impl Type {
    /// The type of a member with the derive's attribute `bound`, whose elements have bounds, too.
    pub const fn of(&'static self, element: &'static Self, bound: u32) -> Self {
        let element = Shared::Static(element);
        match self {
            Self::Sequence { .. } => Self::Sequence { element, bound },
            Self::Array { length, .. } if bound == 0 => Self::Array {
                element,
                length: *length,
            },
            _ => panic!("only Vec and arrays have elements with a bound"),
        }
    }

    /// The type of a member with the derive's attributes `map_key` and `map_value`, whose keys and values are of
    /// these types.
    pub const fn of_entries(
        &'static self,
        key: &'static Self,
        value: &'static Self,
        bound: u32,
    ) -> Self {
        match self {
            Self::Map { .. } => Self::Map {
                key: Shared::Static(key),
                value: Shared::Static(value),
                bound,
            },
            _ => panic!("only maps have keys and values"),
        }
    }

    /// The type of a member with the derive's attributes `octet` and `bound`, 0 for none.
    pub const fn constrained(&'static self, octet: bool, bound: u32) -> Self {
        match self {
            Self::U8 if octet && bound == 0 => Self::Byte,
            Self::String { .. } if !octet => Self::String { bound },
            Self::WString { .. } if !octet => Self::WString { bound },
            Self::Map {
                key: Shared::Static(key),
                value: Shared::Static(value),
                ..
            } if !octet => Self::Map {
                key: Shared::Static(key),
                value: Shared::Static(value),
                bound,
            },
            Self::Sequence {
                element: Shared::Static(Self::U8),
                ..
            } if octet => Self::Sequence {
                element: Shared::Static(&Self::Byte),
                bound,
            },
            Self::Sequence {
                element: Shared::Static(element),
                ..
            } if !octet => Self::Sequence {
                element: Shared::Static(element),
                bound,
            },
            Self::Array {
                element: Shared::Static(Self::U8),
                length,
            } if octet && bound == 0 => Self::Array {
                element: Shared::Static(&Self::Byte),
                length: *length,
            },
            _ if octet => panic!("only u8, Vec<u8> and [u8; N] are made of octets"),
            _ => panic!("only strings, Vec and maps have a bound"),
        }
    }
}
