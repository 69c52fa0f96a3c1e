//! The error codes of FAST, and the few faults that FAST has no code for. Knows nothing of where they happened.

use core::fmt;

/// What is wrong with a template, a message on the wire or a value to be encoded.
///
/// S codes are found when templates are loaded, D and R codes when messages are decoded or encoded
/// (FAST 1.1 appendix 4). `Display` gives the code and a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Code {
    /// Template XML that is not well-formed or not valid.
    S1,
    /// Operator that the field's type does not have.
    S2,
    /// Initial value that the field's type cannot hold.
    S3,
    /// Constant without a value.
    S4,
    /// Mandatory field with a default operator without a value.
    S5,
    /// Field type that does not convert to the application's type.
    D1,
    /// Integer outside the range of its type.
    D2,
    /// Decimal that cannot be encoded under the operators of its exponent and mantissa.
    D3,
    /// Dictionary entry of another type than the field.
    D4,
    /// Mandatory field: not in the stream, no previous value, no initial value.
    D5,
    /// Mandatory field: not in the stream and its previous value is empty; or a delta on an empty previous value.
    D6,
    /// Subtraction length of a string delta that is larger than the string.
    D7,
    /// Name of a static template reference that no template has.
    D8,
    /// Template id that no template has.
    D9,
    /// Byte vector that is to become anything but a string, or be made of anything else.
    D10,
    /// String that is to become a number or bytes and is not written as such.
    D11,
    /// Block of no bytes.
    D12,
    /// Decimal whose exponent is outside -63..=63 or whose mantissa is outside int64.
    R1,
    /// Unicode string that is not UTF-8.
    R2,
    /// Unicode string with characters that ASCII does not have.
    R3,
    /// Integer that does not fit after a conversion or a delta.
    R4,
    /// Decimal that is to become an integer and has a fraction.
    R5,
    /// Integer with leading bytes that say nothing.
    R6,
    /// Presence map with a trailing byte that says nothing.
    R7,
    /// Presence map with bits that no field asks for.
    R8,
    /// String with a leading byte that says nothing.
    R9,
    /// The bytes end before the message does.
    Truncated,
    /// A sequence or string would grow beyond the decoder's budget for one message.
    Limit,
    /// Templates nested deeper than the decoder allows.
    Depth,
    /// Value that its operator has no encoding for, e.g. a tail that would have to shorten the string.
    Unencodable,
    /// Mandatory field without a value in the message to be encoded.
    Missing,
    /// Message of other templates than the encoder's.
    Foreign,
    /// An earlier message failed and left the dictionaries undefined: reset first.
    Poisoned,
    /// The value follows from an earlier one that was lost.
    Lost,
}

impl Code {
    /// What the code means, in one sentence without a full stop.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::S1 => "the template XML is not valid",
            Self::S2 => "the operator is not applicable to the field's type",
            Self::S3 => "the initial value does not convert to the field's type",
            Self::S4 => "a constant needs a value",
            Self::S5 => "a mandatory default needs a value",
            Self::D1 => "the field does not convert to the application's type",
            Self::D2 => "integer out of the range of its type",
            Self::D3 => "the decimal cannot be encoded under the operators of its parts",
            Self::D4 => "the dictionary entry has another type than the field",
            Self::D5 => "mandatory field not in the stream, without previous or initial value",
            Self::D6 => "mandatory field not in the stream and its previous value is empty",
            Self::D7 => "subtraction length larger than the string",
            Self::D8 => "no template of this name",
            Self::D9 => "no template of this id",
            Self::D10 => "a byte vector converts to and from strings only",
            Self::D11 => "the string is not written as the type that it converts to",
            Self::D12 => "block of no bytes",
            Self::R1 => "decimal out of range",
            Self::R2 => "the string is not UTF-8",
            Self::R3 => "the string has characters that ASCII does not have",
            Self::R4 => "integer does not fit after a conversion or a delta",
            Self::R5 => "a decimal with a fraction does not convert to an integer",
            Self::R6 => "overlong integer",
            Self::R7 => "overlong presence map",
            Self::R8 => "presence map with bits that no field asks for",
            Self::R9 => "overlong string",
            Self::Truncated => "the bytes end before the message does",
            Self::Limit => "the message is larger than the decoder's budget",
            Self::Depth => "templates nested too deep",
            Self::Unencodable => "the operator has no encoding for this value",
            Self::Missing => "mandatory field without a value",
            Self::Foreign => "the message belongs to other templates",
            Self::Poisoned => "an earlier message failed: reset first",
            Self::Lost => "the value follows from an earlier one that was lost",
        }
    }

    /// Whether the code is one of the standard's.
    pub const fn is_standard(self) -> bool {
        (self as u8) <= (Self::R9 as u8)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_standard() {
            write!(f, "{self:?}: ")?;
        }
        f.write_str(self.meaning())
    }
}
