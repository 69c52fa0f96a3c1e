//! Encodings of strings, sequences and arrays.

use alloc::string::String;
use alloc::vec::Vec;

use crate::{
    Decode, DecodeError, Describe, Encode, EncodeError, LengthCode, Reader, Shared, Type, Writer,
};

impl Describe for String {
    const TYPE: Type = Type::String { bound: 0 };
}

impl Encode for String {
    const LENGTH_CODE: LengthCode = LengthCode::AlsoNextInt;

    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        writer.write_string(self, 0)
    }
}

impl Decode for String {
    const MIN_SIZE: usize = 4;

    fn initial() -> Self {
        Self::new()
    }

    fn decode_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        let text = reader.read_str(0)?;
        self.clear();
        self.push_str(text);
        Ok(())
    }
}

impl<T: Describe> Describe for Vec<T> {
    const TYPE: Type = Type::Sequence {
        element: Shared::Static(T::TYPE_REF),
        bound: 0,
    };
}

impl<T: Encode> Encode for Vec<T> {
    const LENGTH_CODE: LengthCode = LengthCode::of_sequence(T::LENGTH_CODE, T::PRIMITIVE);

    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        let mark = writer.begin_sequence(T::PRIMITIVE);
        T::encode_all(self, writer)?;
        writer.end_sequence(mark, self.len())
    }

    fn encode_key(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        let mark = writer.begin_sequence(T::PRIMITIVE);
        self.iter()
            .try_for_each(|element| element.encode_key(writer))?;
        writer.end_sequence(mark, self.len())
    }
}

impl<T: Decode + Encode> Decode for Vec<T> {
    const MIN_SIZE: usize = 4;

    fn initial() -> Self {
        Self::new()
    }

    fn decode_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        let scope = reader.begin_sequence(0, T::PRIMITIVE, T::MIN_SIZE)?;
        T::decode_vec(self, scope.count, reader)?;
        reader.end_sequence(scope);
        Ok(())
    }

    fn decode_key_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        let scope = reader.begin_sequence(0, T::PRIMITIVE, 1)?;
        reader.charge(scope.count.saturating_mul(size_of::<T>()))?;
        self.resize_with(scope.count, T::initial);
        self.iter_mut()
            .try_for_each(|element| element.decode_key_into(reader))?;
        reader.end_sequence(scope);
        Ok(())
    }
}

impl<T: Describe, const N: usize> Describe for [T; N] {
    const TYPE: Type = {
        assert!(N > 0, "an array in a topic type needs at least one element");
        assert!(
            N <= 0x7fff_ffff,
            "an array in a topic type has less than 2^31 elements"
        );
        Type::Array {
            element: Shared::Static(T::TYPE_REF),
            length: N as u32,
        }
    };
}

impl<T: Encode, const N: usize> Encode for [T; N] {
    const LENGTH_CODE: LengthCode = LengthCode::of_array(T::PRIMITIVE);

    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        let mark = writer.begin_array(T::PRIMITIVE);
        T::encode_all(self, writer)?;
        writer.end_sequence(mark, N)
    }

    fn encode_key(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        let mark = writer.begin_array(T::PRIMITIVE);
        self.iter()
            .try_for_each(|element| element.encode_key(writer))?;
        writer.end_sequence(mark, N)
    }
}

impl<T: Decode + Encode, const N: usize> Decode for [T; N] {
    const MIN_SIZE: usize = N * T::MIN_SIZE;

    fn initial() -> Self {
        core::array::from_fn(|_| T::initial())
    }

    fn decode_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        let scope = reader.begin_array(N, T::PRIMITIVE)?;
        T::decode_all(self, reader)?;
        reader.end_sequence(scope);
        Ok(())
    }

    fn decode_key_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        let scope = reader.begin_array(N, T::PRIMITIVE)?;
        self.iter_mut()
            .try_for_each(|element| element.decode_key_into(reader))?;
        reader.end_sequence(scope);
        Ok(())
    }
}
