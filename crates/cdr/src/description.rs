//! Types as data: what the derive writes down at compile time, and what is built at run time from
//! a FAST template or from a peer's type object.
//!
//! A description does not know how its values are stored in memory.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;

use crate::Extensibility;

/// A type that has a description known at compile time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a topic type",
    note = "members are numbers, bool, char, Decimal, String, CompactString, Vec, arrays, Option, and types with `#[derive(Topic)]`"
)]
pub trait Describe {
    /// The type as data.
    const TYPE: Type;
    /// The same with a lifetime; not to be overridden.
    const TYPE_REF: &'static Type = &Self::TYPE;
}

/// A type of IDL, as far as this crate encodes them.
#[derive(Clone, PartialEq, Eq, Debug)]
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
    /// `string`
    String {
        /// Largest length in bytes without the NUL; 0 when unbounded.
        bound: u32,
    },
    /// `sequence`
    Sequence {
        /// Type of the elements.
        element: Shared<Self>,
        /// Largest number of elements; 0 when unbounded.
        bound: u32,
    },
    /// An array. One of several dimensions is encoded like one that is their product long.
    Array {
        /// Type of the elements.
        element: Shared<Self>,
        /// Number of elements, at least 1.
        length: u32,
    },
    /// `enum`
    Enum(Shared<EnumDescription>),
    /// `struct`
    Struct(Shared<TypeDescription>),
}

impl Type {
    /// The type of a member with the derive's attributes `octet` and `bound`, 0 for none.
    pub const fn constrained(&'static self, octet: bool, bound: u32) -> Self {
        match self {
            Self::U8 if octet && bound == 0 => Self::Byte,
            Self::String { .. } if !octet => Self::String { bound },
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
            _ => panic!("only strings and Vec have a bound"),
        }
    }
}

/// A struct type as data. A topic's type is always one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeDescription {
    /// Full name with `::` between modules.
    pub name: Shared<str>,
    /// How it may change.
    pub extensibility: Extensibility,
    /// Its members in order of definition.
    pub members: Shared<[Member]>,
}

/// A member of a struct.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its name.
    pub name: Shared<str>,
    /// Its id, below 2^28 - 1, unique in the struct.
    pub id: u32,
    /// Whether it is part of the key. Key members are not optional.
    pub key: bool,
    /// Whether it can be absent.
    pub optional: bool,
    /// Whether a reader that does not know it must drop the sample (mutable structs only).
    pub must_understand: bool,
    /// Its type.
    pub ty: Type,
}

/// An enumeration as data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EnumDescription {
    /// Full name with `::` between modules.
    pub name: Shared<str>,
    /// How it may change; only type objects tell.
    pub extensibility: Extensibility,
    /// Bits that hold its values: 1 to 8 are encoded in one byte, to 16 in two, to 32 in four.
    pub bit_bound: u16,
    /// Its literals in order of definition. The first is the default.
    pub literals: Shared<[Literal]>,
}

/// One name of an enumeration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Literal {
    /// Its name.
    pub name: Shared<str>,
    /// Its value.
    pub value: i32,
}

impl TypeDescription {
    /// A description made at run time. Checks what the derive checks at compile time, in
    /// quadratic time of the number of members.
    pub fn new(
        name: &str,
        extensibility: Extensibility,
        members: Vec<Member>,
    ) -> Result<Self, InvalidDescription> {
        if members.is_empty() {
            return Err(InvalidDescription::NoMember);
        }
        for (index, member) in members.iter().enumerate() {
            let earlier = members.iter().take(index);
            if earlier.clone().any(|other| other.id == member.id) {
                return Err(InvalidDescription::DuplicateId(member.id));
            }
            if earlier.clone().any(|other| other.name == member.name) {
                return Err(InvalidDescription::DuplicateName(member.name.clone()));
            }
            if member.id > Member::MAX_ID {
                return Err(InvalidDescription::IdTooLarge(member.id));
            }
            if member.key && member.optional {
                return Err(InvalidDescription::OptionalKey(member.name.clone()));
            }
            member.check_arrays()?;
        }
        Ok(Self {
            name: name.into(),
            extensibility,
            members: members.into(),
        })
    }

    /// Whether any member is part of the key.
    pub fn has_key(&self) -> bool {
        self.members.iter().any(|member| member.key)
    }
}

impl Member {
    /// The largest member id (XTypes 1.3 §7.3.1.2.1.1: the highest are reserved).
    pub const MAX_ID: u32 = 0x0fff_fffe;

    /// A member that is neither key nor optional.
    pub fn new(name: &str, id: u32, ty: Type) -> Self {
        Self {
            name: name.into(),
            id,
            key: false,
            optional: false,
            must_understand: false,
            ty,
        }
    }

    /// Arrays have elements, which are no arrays, also inside sequences. Hence every value takes a
    /// byte at least.
    fn check_arrays(&self) -> Result<(), InvalidDescription> {
        let mut ty = &self.ty;
        while let Type::Sequence { element, .. } | Type::Array { element, .. } = ty {
            match ty {
                Type::Array { length: 0, .. } => {
                    return Err(InvalidDescription::EmptyArray(self.name.clone()));
                }
                Type::Array { .. } if matches!(**element, Type::Array { .. }) => {
                    return Err(InvalidDescription::NestedArray(self.name.clone()));
                }
                _ => ty = element,
            }
        }
        Ok(())
    }
}

/// Why a struct cannot be described so.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InvalidDescription {
    /// A struct needs a member.
    NoMember,
    /// Two members have this id.
    DuplicateId(u32),
    /// Two members have this name.
    DuplicateName(Shared<str>),
    /// Above [`Member::MAX_ID`].
    IdTooLarge(u32),
    /// A key member cannot be optional (XTypes 1.3 §7.2.2.4.4.1.2).
    OptionalKey(Shared<str>),
    /// An array without elements.
    EmptyArray(Shared<str>),
    /// An array of arrays. On the wire, and so here, that is one array as long as their product.
    NestedArray(Shared<str>),
}

impl fmt::Display for InvalidDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMember => f.write_str("a struct needs at least one member"),
            Self::DuplicateId(id) => write!(f, "two members have the id {id}"),
            Self::DuplicateName(name) => write!(f, "two members are named {}", &**name),
            Self::IdTooLarge(id) => write!(f, "member id {id} is above {}", Member::MAX_ID),
            Self::OptionalKey(name) => write!(f, "key member {} cannot be optional", &**name),
            Self::EmptyArray(name) => write!(f, "array member {} has no elements", &**name),
            Self::NestedArray(name) => write!(f, "member {} is an array of arrays", &**name),
        }
    }
}

impl core::error::Error for InvalidDescription {}

/// Part of a description: a constant of the program, or counted when made at run time.
pub enum Shared<T: ?Sized + 'static> {
    /// Known at compile time.
    Static(&'static T),
    /// Made at run time.
    Counted(Arc<T>),
}

impl<T: ?Sized> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Static(value) => value,
            Self::Counted(value) => value,
        }
    }
}

impl<T: ?Sized> Clone for Shared<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Static(value) => Self::Static(value),
            Self::Counted(value) => Self::Counted(Arc::clone(value)),
        }
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Shared<T> {}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl From<&str> for Shared<str> {
    fn from(value: &str) -> Self {
        Self::Counted(value.into())
    }
}

impl<T> From<Vec<T>> for Shared<[T]> {
    fn from(value: Vec<T>) -> Self {
        Self::Counted(value.into())
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self::Counted(Arc::new(value))
    }
}
