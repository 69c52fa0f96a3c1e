//! The words that templates are made of: field types, operators, ids and indices. Knows nothing of XML or bytes.

use core::fmt;

/// A template's number on the wire, the `id` attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TemplateId(pub u32);

impl fmt::Display for TemplateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A field's place in its [`Templates`](crate::Templates): what a [`Visitor`](crate::Visitor) is given with a value.
///
/// Indices of one template are contiguous and in template order, a group or sequence before its own fields, so that
/// a table indexed by [`FieldIndex::get`] finds what a field means to an application without looking at names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldIndex(pub(crate) u32);

impl FieldIndex {
    /// The index as a number, from 0 to the number of all fields of the templates.
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

/// The type of a field (FAST 1.1 §6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FieldType {
    /// 8-bit signed integer (a dialect; not of the standard).
    Int8,
    /// 8-bit unsigned integer (a dialect; not of the standard).
    UInt8,
    /// 16-bit signed integer (a dialect; not of the standard).
    Int16,
    /// 16-bit unsigned integer (a dialect; not of the standard).
    UInt16,
    /// 32-bit signed integer.
    Int32,
    /// 32-bit unsigned integer.
    UInt32,
    /// 64-bit signed integer.
    Int64,
    /// 64-bit unsigned integer.
    UInt64,
    /// Decimal number of a mantissa and an exponent.
    Decimal,
    /// String of 7-bit characters.
    Ascii,
    /// String of UTF-8.
    Unicode,
    /// Bytes.
    ByteVector,
    /// Fields that come and go together.
    Group,
    /// List of elements with the same fields.
    Sequence,
    /// Message of any template within this one (dynamic `templateRef`).
    Template,
}

impl FieldType {
    /// Whether the type is an unsigned integer.
    pub const fn is_unsigned(self) -> bool {
        matches!(
            self,
            Self::UInt8 | Self::UInt16 | Self::UInt32 | Self::UInt64
        )
    }

    /// Whether the type is a signed integer.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64)
    }

    /// Whether the type is an integer.
    pub const fn is_integer(self) -> bool {
        self.is_unsigned() || self.is_signed()
    }

    /// Whether the type is an ASCII or Unicode string.
    pub const fn is_string(self) -> bool {
        matches!(self, Self::Ascii | Self::Unicode)
    }

    /// Whether the type has fields of its own.
    pub const fn is_container(self) -> bool {
        matches!(self, Self::Group | Self::Sequence | Self::Template)
    }

    /// The largest value of an integer type (the smallest signed one is `-max - 1`); 0 for other types.
    pub const fn max(self) -> u64 {
        match self {
            Self::Int8 => i8::MAX as u64,
            Self::UInt8 => u8::MAX as u64,
            Self::Int16 => i16::MAX as u64,
            Self::UInt16 => u16::MAX as u64,
            Self::Int32 => i32::MAX as u64,
            Self::UInt32 => u32::MAX as u64,
            Self::Int64 => i64::MAX as u64,
            Self::UInt64 => u64::MAX,
            _ => 0,
        }
    }

    /// The element's name in template XML; a string is `string` whatever its character set.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int8 => "int8",
            Self::UInt8 => "uInt8",
            Self::Int16 => "int16",
            Self::UInt16 => "uInt16",
            Self::Int32 => "int32",
            Self::UInt32 => "uInt32",
            Self::Int64 => "int64",
            Self::UInt64 => "uInt64",
            Self::Decimal => "decimal",
            Self::Ascii | Self::Unicode => "string",
            Self::ByteVector => "byteVector",
            Self::Group => "group",
            Self::Sequence => "sequence",
            Self::Template => "templateRef",
        }
    }
}

/// How a field's value is made from the stream and the dictionary (FAST 1.1 §6.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Operator {
    /// The value is in the stream.
    #[default]
    None,
    /// The value is in the template.
    Constant,
    /// The value is in the stream, or else in the template.
    Default,
    /// The value is in the stream, or else the previous one.
    Copy,
    /// The value is in the stream, or else the previous one plus 1.
    Increment,
    /// The stream has the difference from the previous value.
    Delta,
    /// The stream has the end of the string, the previous value its beginning.
    Tail,
}

impl Operator {
    /// The element's name in template XML; "none" has no element.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Constant => "constant",
            Self::Default => "default",
            Self::Copy => "copy",
            Self::Increment => "increment",
            Self::Delta => "delta",
            Self::Tail => "tail",
        }
    }

    /// Whether a field with this operator has a bit in the presence map (FAST 1.1 §10.5.1).
    pub const fn uses_map(self, optional: bool) -> bool {
        match self {
            Self::None | Self::Delta => false,
            Self::Constant => optional,
            Self::Default | Self::Copy | Self::Increment | Self::Tail => true,
        }
    }

    /// Whether the operator is applicable to a type (FAST 1.1 §6.3; S2 otherwise).
    pub const fn applies_to(self, field_type: FieldType) -> bool {
        match self {
            Self::None => true,
            Self::Constant | Self::Default | Self::Copy => !field_type.is_container(),
            Self::Increment => field_type.is_integer(),
            Self::Delta => !field_type.is_container(),
            Self::Tail => field_type.is_string() || matches!(field_type, FieldType::ByteVector),
        }
    }
}
