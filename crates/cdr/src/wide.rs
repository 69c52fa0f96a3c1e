//! Encodings of `wchar` and `wstring`: UTF-16, for peers that have such members. New types do
//! better with `String`, which is UTF-8.

use alloc::string::String;

use crate::{Decode, DecodeError, Describe, Encode, EncodeError, LengthCode, Reader, Type, Writer};

/// A `wchar`: one unit of UTF-16, which may be half of a character.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct WChar(pub u16);

/// A `wstring`. In memory it is UTF-8 like every string.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct WString(pub String);

impl WString {
    /// Length in units of UTF-16, which is what a bound counts. Costs a pass over the string.
    pub fn len(&self) -> usize {
        self.0.encode_utf16().count()
    }

    /// Whether there is no character.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for WString {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl Describe for WChar {
    const TYPE: Type = Type::WChar;
}

impl Encode for WChar {
    const PRIMITIVE: bool = true;
    const LENGTH_CODE: LengthCode = LengthCode::Two;

    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        writer.write_u16(self.0);
        Ok(())
    }
}

impl Decode for WChar {
    const MIN_SIZE: usize = 2;

    fn initial() -> Self {
        Self(0)
    }

    fn decode_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        self.0 = reader.read_u16()?;
        Ok(())
    }
}

impl Describe for WString {
    const TYPE: Type = Type::WString { bound: 0 };
}

impl Encode for WString {
    const LENGTH_CODE: LengthCode = LengthCode::AlsoNextInt;

    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        writer.write_wstring(&self.0, 0)
    }
}

impl Decode for WString {
    const MIN_SIZE: usize = 4;

    fn initial() -> Self {
        Self(String::new())
    }

    fn decode_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        reader.read_wstring_into(0, &mut self.0)
    }
}
