//! Why descriptions break the rules of XTypes.

use core::fmt;

use super::{Member, Shared};

/// Why a struct or a union cannot be described so.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InvalidDescription {
    /// A struct, a union or a bitset needs a member.
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
    /// A map whose keys are not numbers, strings or literals.
    MapKey(Shared<str>),
    /// A union discriminated by what is no integer, boolean, octet, char or enumeration.
    Discriminator,
    /// Two members of a union have this label.
    DuplicateLabel(i32),
    /// Two members of a union are the default.
    TwoDefaults,
    /// Nothing selects this member of a union.
    NoLabel(Shared<str>),
    /// Two literals of an enumeration, or two flags of a bitmask, are the same.
    DuplicateLiteral(Shared<str>),
    /// An enumeration has 1 to 32 bits, a bitmask 1 to 64, and no flag beyond them.
    BitBound(u16),
    /// A field of a bitset overlaps the one before it, or has more bits than its type or a bitset.
    Bitfield(Shared<str>),
}

impl fmt::Display for InvalidDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMember => {
                f.write_str("a struct, a union or a bitset needs at least one member")
            }
            Self::DuplicateId(id) => write!(f, "two members have the id {id}"),
            Self::DuplicateName(name) => write!(f, "two members are named {}", &**name),
            Self::IdTooLarge(id) => write!(f, "member id {id} is above {}", Member::MAX_ID),
            Self::OptionalKey(name) => write!(f, "key member {} cannot be optional", &**name),
            Self::EmptyArray(name) => write!(f, "array member {} has no elements", &**name),
            Self::MapKey(name) => write!(
                f,
                "keys of the map {} are neither numbers nor strings nor literals",
                &**name
            ),
            Self::Discriminator => f.write_str(
                "a union is discriminated by an integer, a boolean, a char or an enumeration",
            ),
            Self::DuplicateLabel(label) => write!(f, "two members have the label {label}"),
            Self::TwoDefaults => f.write_str("two members are the default"),
            Self::NoLabel(name) => write!(f, "no label selects member {}", &**name),
            Self::DuplicateLiteral(name) => write!(f, "two literals are {}", &**name),
            Self::BitBound(bits) => write!(f, "no enumeration or bitmask has {bits} bits"),
            Self::Bitfield(name) => {
                write!(f, "bitfield {} does not fit where it stands", &**name)
            }
        }
    }
}

impl core::error::Error for InvalidDescription {}
