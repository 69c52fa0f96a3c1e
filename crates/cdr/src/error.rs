//! What can go wrong: a caller's value that has no encoding, a peer's bytes that are no value.

use core::fmt;

/// A value cannot be encoded: the caller's mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EncodeError {
    /// What is wrong.
    pub kind: EncodeErrorKind,
    /// `Type.member` of the innermost member concerned; empty when the error is not in a member.
    pub member: &'static str,
}

/// Why a value has no encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EncodeErrorKind {
    /// A string, sequence or struct longer than 2^32 - 1 bytes or elements.
    TooLong,
    /// A string longer than the bound of its type, or a sequence with more elements.
    OverBound {
        /// The largest length that the type allows.
        bound: u32,
    },
    /// A string with a NUL inside (IDL 4.2 §7.4.1.4.4.3.3 forbids it).
    NulInString,
    /// A `char` beyond U+00FF: IDL's `char` has eight bits.
    WideChar(char),
    /// A number that has more bits than its field of a bitset.
    TooWide {
        /// The bits that the field has.
        bits: u8,
    },
    /// More `end` calls than members, or members of the wrong kind: [`Writer`](crate::Writer)
    /// calls that do not nest.
    Misnested,
    /// Structs nested deeper than readers accept: 65 around a member.
    TooDeep,
}

impl EncodeError {
    /// An error if a string or sequence of this length is longer than `bound` (0 for unbounded).
    pub fn check_bound(length: usize, bound: u32) -> Result<(), Self> {
        match usize::try_from(bound) {
            Ok(limit) if bound != 0 && length > limit => {
                Err(Self::new(EncodeErrorKind::OverBound { bound }))
            }
            _ => Ok(()),
        }
    }

    pub(crate) const fn new(kind: EncodeErrorKind) -> Self {
        Self { kind, member: "" }
    }

    /// Names the member that was being written, unless an inner one is named already.
    #[must_use]
    pub fn within(self, member: &'static str) -> Self {
        if self.member.is_empty() {
            Self { member, ..self }
        } else {
            self
        }
    }
}

impl From<EncodeErrorKind> for EncodeError {
    fn from(kind: EncodeErrorKind) -> Self {
        Self::new(kind)
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.member.is_empty() {
            write!(f, "{}: ", self.member)?;
        }
        match self.kind {
            EncodeErrorKind::TooLong => f.write_str("longer than 2^32 - 1"),
            EncodeErrorKind::OverBound { bound } => write!(f, "longer than its bound {bound}"),
            EncodeErrorKind::NulInString => f.write_str("a string contains NUL"),
            EncodeErrorKind::WideChar(char) => write!(f, "{char:?} does not fit an 8-bit char"),
            EncodeErrorKind::TooWide { bits } => write!(f, "more than {bits} bits can say"),
            EncodeErrorKind::Misnested => f.write_str("begin and end calls do not nest"),
            EncodeErrorKind::TooDeep => f.write_str("structs nest too deeply"),
        }
    }
}

impl core::error::Error for EncodeError {}

/// Bytes are not the encoding of a value of the expected type: the peer's mistake, or a peer with
/// another type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecodeError {
    /// What is wrong.
    pub kind: DecodeErrorKind,
    /// Bytes from the start of the body (after the encapsulation header) to where decoding
    /// stopped.
    pub offset: usize,
    /// `Type.member` of the innermost member concerned; empty when the error is not in a member.
    pub member: &'static str,
}

/// Why bytes are not a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The bytes end inside the value, or inside the struct that announced its length.
    UnexpectedEnd,
    /// An encapsulation that this crate does not read (XML, RTPS parameter lists are not values).
    UnknownEncapsulation(u16),
    /// The payload says another extensibility than the type's.
    WrongExtensibility,
    /// A boolean that is neither 0 nor 1.
    InvalidBool(u8),
    /// A string that is not UTF-8.
    InvalidUtf8,
    /// A wide string that is not UTF-16.
    InvalidUtf16,
    /// A string whose last byte is not NUL, or with a NUL inside.
    InvalidString,
    /// A string or sequence longer than its type allows, or with more elements than the bytes
    /// that remain could hold.
    InvalidLength(u32),
    /// A decimal whose exponent is outside -63..=63.
    InvalidExponent(i32),
    /// A value that no literal of the enumeration has.
    UnknownLiteral(i32),
    /// A discriminator that selects no member of the union.
    UnknownCase(i64),
    /// A member that this type does not have and the writer marked as indispensable.
    MustUnderstand {
        /// Id of that member.
        id: u32,
    },
    /// A key member that the payload lacks.
    MissingKey {
        /// Id of that member.
        id: u32,
    },
    /// A member header with an impossible length or id.
    MalformedMemberHeader,
    /// The decoded value would take far more memory than the payload's length justifies.
    TooLarge,
    /// Structs nested deeper than any description allows.
    TooDeep,
}

impl DecodeError {
    pub(crate) const fn new(kind: DecodeErrorKind, offset: usize) -> Self {
        Self {
            kind,
            offset,
            member: "",
        }
    }

    /// Names the member that was being read, unless an inner one is named already.
    #[must_use]
    pub fn within(self, member: &'static str) -> Self {
        if self.member.is_empty() {
            Self { member, ..self }
        } else {
            self
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}", self.offset)?;
        if !self.member.is_empty() {
            write!(f, ", {}", self.member)?;
        }
        write!(f, ": {}", self.kind)
    }
}

impl fmt::Display for DecodeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnexpectedEnd => f.write_str("the bytes end inside a value"),
            Self::UnknownEncapsulation(kind) => write!(f, "unknown encapsulation {kind:#06x}"),
            Self::WrongExtensibility => {
                f.write_str("the writer's type is of another extensibility")
            }
            Self::InvalidBool(byte) => write!(f, "{byte:#04x} is no boolean"),
            Self::InvalidUtf8 => f.write_str("a string is not UTF-8"),
            Self::InvalidUtf16 => f.write_str("a wide string is not UTF-16"),
            Self::InvalidString => f.write_str("a string does not end in its only NUL"),
            Self::InvalidLength(length) => write!(f, "impossible length {length}"),
            Self::InvalidExponent(exponent) => {
                write!(f, "exponent {exponent} is outside -63..=63")
            }
            Self::UnknownLiteral(value) => write!(f, "no literal has the value {value}"),
            Self::UnknownCase(value) => write!(f, "no member of the union has the label {value}"),
            Self::MustUnderstand { id } => write!(f, "unknown indispensable member {id}"),
            Self::MissingKey { id } => write!(f, "key member {id} is missing"),
            Self::MalformedMemberHeader => f.write_str("malformed member header"),
            Self::TooLarge => f.write_str("the value is too large for its payload"),
            Self::TooDeep => f.write_str("structs nest too deeply"),
        }
    }
}

impl core::error::Error for DecodeError {}
