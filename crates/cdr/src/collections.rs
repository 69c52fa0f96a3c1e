//! Encodings of strings, sequences, arrays, maps and what is boxed.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::slice;

use crate::{
    Decode, DecodeError, Describe, Encode, EncodeError, LengthCode, Reader, Shared, Type, Writer,
};

impl Describe for String {
    const TYPE: Type = Type::String { bound: 0 };
}

impl Encode for String {
    const LENGTH_CODE: LengthCode = LengthCode::AlsoNextInt;

    #[inline]
    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        writer.write_string(self, 0)
    }
}

impl Decode for String {
    const MIN_SIZE: usize = 4;

    fn initial() -> Self {
        Self::new()
    }

    #[inline(always)]
    fn decode_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        reader.read_string_into(self)
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
    const LENGTH_CODE: LengthCode = LengthCode::of_array(T::FLAT_PRIMITIVE);
    const FLAT_PRIMITIVE: bool = T::FLAT_PRIMITIVE;

    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        let mark = writer.begin_array(T::FLAT_PRIMITIVE);
        T::encode_flat(self, writer)?;
        writer.end_sequence(mark, N)
    }

    fn encode_key(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        let mark = writer.begin_array(T::FLAT_PRIMITIVE);
        T::encode_key_flat(self, writer)?;
        writer.end_sequence(mark, N)
    }

    fn encode_flat(values: &[Self], writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        T::encode_flat(values.as_flattened(), writer)
    }

    fn encode_key_flat(values: &[Self], writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        T::encode_key_flat(values.as_flattened(), writer)
    }
}

impl<T: Decode + Encode, const N: usize> Decode for [T; N] {
    const MIN_SIZE: usize = N * T::MIN_SIZE;

    fn initial() -> Self {
        core::array::from_fn(|_| T::initial())
    }

    fn decode_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        let scope = reader.begin_array(N, T::FLAT_PRIMITIVE)?;
        T::decode_flat(self, reader)?;
        reader.end_sequence(scope);
        Ok(())
    }

    fn decode_key_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        let scope = reader.begin_array(N, T::FLAT_PRIMITIVE)?;
        T::decode_key_flat(self, reader)?;
        reader.end_sequence(scope);
        Ok(())
    }

    fn decode_flat(values: &mut [Self], reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        T::decode_flat(values.as_flattened_mut(), reader)
    }

    fn decode_key_flat(values: &mut [Self], reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        T::decode_key_flat(values.as_flattened_mut(), reader)
    }
}

impl<K: Describe, V: Describe> Describe for BTreeMap<K, V> {
    const TYPE: Type = Type::Map {
        key: Shared::Static(K::TYPE_REF),
        value: Shared::Static(V::TYPE_REF),
        bound: 0,
    };
}

impl<K: Encode, V: Encode> Encode for BTreeMap<K, V> {
    const LENGTH_CODE: LengthCode = LengthCode::of_map(K::PRIMITIVE && V::PRIMITIVE);

    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        let mark = writer.begin_sequence(K::PRIMITIVE && V::PRIMITIVE);
        for (key, value) in self {
            key.encode(writer)?;
            value.encode(writer)?;
        }
        writer.end_sequence(mark, self.len())
    }
}

/// Of entries with one key, the last stays.
impl<K: Decode + Encode + Ord, V: Decode + Encode> Decode for BTreeMap<K, V> {
    const MIN_SIZE: usize = 4;

    fn initial() -> Self {
        Self::new()
    }

    fn decode_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        let min_size = K::MIN_SIZE + V::MIN_SIZE;
        let scope = reader.begin_sequence(0, K::PRIMITIVE && V::PRIMITIVE, min_size)?;
        reader.charge(scope.count.saturating_mul(size_of::<(K, V)>()))?;
        self.clear();
        for _ in 0..scope.count {
            let (mut key, mut value) = (K::initial(), V::initial());
            key.decode_into(reader)?;
            value.decode_into(reader)?;
            self.insert(key, value);
        }
        reader.end_sequence(scope);
        Ok(())
    }
}

/// `@external`: on the wire no different from what is in it.
impl<T: Describe> Describe for Box<T> {
    const TYPE: Type = T::TYPE;
    const EXTERNAL: bool = true;
}

impl<T: Encode> Encode for Box<T> {
    const PRIMITIVE: bool = T::PRIMITIVE;
    const FLAT_PRIMITIVE: bool = T::FLAT_PRIMITIVE;
    const LENGTH_CODE: LengthCode = T::LENGTH_CODE;

    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        T::encode(self, writer)
    }

    fn encode_key(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        T::encode_key(self, writer)
    }

    fn encode_flat(values: &[Self], writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        let mut values = values.iter();
        values.try_for_each(|value| T::encode_flat(slice::from_ref(value), writer))
    }

    fn encode_key_flat(values: &[Self], writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        let mut values = values.iter();
        values.try_for_each(|value| T::encode_key_flat(slice::from_ref(value), writer))
    }
}

impl<T: Decode> Decode for Box<T> {
    const MIN_SIZE: usize = T::MIN_SIZE;

    fn initial() -> Self {
        Self::new(T::initial())
    }

    fn decode_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        T::decode_into(self, reader)
    }

    fn decode_key_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        T::decode_key_into(self, reader)
    }

    fn decode_flat(values: &mut [Self], reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        let mut values = values.iter_mut();
        values.try_for_each(|value| T::decode_flat(slice::from_mut(value), reader))
    }

    fn decode_key_flat(values: &mut [Self], reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        let mut values = values.iter_mut();
        values.try_for_each(|value| T::decode_key_flat(slice::from_mut(value), reader))
    }
}
