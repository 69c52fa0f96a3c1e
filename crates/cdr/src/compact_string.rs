//! Encoding of `CompactString`: to peers the same `string` as `String`.

use compact_str::CompactString;

use crate::{Decode, DecodeError, Describe, Encode, EncodeError, LengthCode, Reader, Type, Writer};

impl Describe for CompactString {
    const TYPE: Type = Type::String { bound: 0 };
}

impl Encode for CompactString {
    const LENGTH_CODE: LengthCode = LengthCode::AlsoNextInt;

    #[inline]
    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        writer.write_string(self, 0)
    }
}

impl Decode for CompactString {
    const MIN_SIZE: usize = 4;

    fn initial() -> Self {
        Self::const_new("")
    }

    #[inline]
    fn decode_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        let text = reader.read_str(0)?;
        self.clear();
        self.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::*;
    use crate::{ByteOrder, Encapsulation, Extensibility, Representation};

    #[test]
    fn a_compact_string_is_a_string_to_peers() {
        assert_eq!(CompactString::TYPE, String::TYPE);
        for text in ["", "ESZ6", "longer than what is kept inline"] {
            let (mut bytes, mut expected) = (Vec::new(), Vec::new());
            let mut writer = Writer::new(&mut bytes, Representation::Xcdr2);
            CompactString::from(text).encode(&mut writer).unwrap();
            let mut writer = Writer::new(&mut expected, Representation::Xcdr2);
            String::from(text).encode(&mut writer).unwrap();
            assert_eq!(bytes, expected);

            let encapsulation = Encapsulation {
                representation: Representation::Xcdr2,
                order: ByteOrder::Little,
                extensibility: Extensibility::Final,
            };
            let mut read = CompactString::from("before");
            read.decode_into(&mut Reader::new(&bytes, encapsulation))
                .unwrap();
            assert_eq!(read, text);
        }
    }
}
