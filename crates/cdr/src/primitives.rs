//! Encodings of numbers, booleans and characters.

use alloc::vec::Vec;

use tickwire_base::copy;

use crate::{
    ByteOrder, Decode, DecodeError, Describe, Encode, EncodeError, EncodeErrorKind, LengthCode,
    Reader, Type, Writer,
};

macro_rules! numbers {
    (@all $writer:ident $values:ident $all:ident) => {
        $writer.$all($values)
    };
    (@all $writer:ident $values:ident) => {
        $writer.write_primitives($values, |value| value.to_le_bytes())
    };
    // Bytes have no order.
    (@extend $values:ident $bytes:ident $order:ident $all:ident) => {{
        let _ = $order;
        copy::append($values, $bytes.as_flattened());
    }};
    (@extend $values:ident $bytes:ident $order:ident) => {
        $values.reserve($bytes.len());
        // In pieces for the reason that `copy` has.
        for piece in $bytes.chunks(copy::PIECE / size_of::<Self>()) {
            match $order {
                ByteOrder::Little => $values.extend(piece.iter().map(|&b| Self::from_le_bytes(b))),
                ByteOrder::Big => $values.extend(piece.iter().map(|&b| Self::from_be_bytes(b))),
            }
        }
    };
    ($($rust:ident $idl:ident $read:ident $write:ident $($all:ident)?;)*) => {$(
        impl Describe for $rust {
            const TYPE: Type = Type::$idl;
        }

        impl Encode for $rust {
            const PRIMITIVE: bool = true;
            const LENGTH_CODE: LengthCode = LengthCode::of_size(size_of::<Self>());

            #[inline]
            fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
                writer.$write(*self);
                Ok(())
            }

            fn encode_all(values: &[Self], writer: &mut Writer<'_>) -> Result<(), EncodeError> {
                numbers!(@all writer values $($all)?);
                Ok(())
            }
        }

        impl Decode for $rust {
            const MIN_SIZE: usize = size_of::<Self>();

            fn initial() -> Self {
                Self::default()
            }

            #[inline]
            fn decode_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
                *self = reader.$read()?;
                Ok(())
            }

            fn decode_all(values: &mut [Self], reader: &mut Reader<'_>) -> Result<(), DecodeError> {
                let (bytes, order) = reader.read_primitives(values.len())?;
                // In pieces for the reason that `copy` has.
                const PIECE: usize = copy::PIECE / size_of::<$rust>();
                for (values, bytes) in values.chunks_mut(PIECE).zip(bytes.chunks(PIECE)) {
                    let pairs = values.iter_mut().zip(bytes);
                    match order {
                        ByteOrder::Little => pairs.for_each(|(v, &b)| *v = Self::from_le_bytes(b)),
                        ByteOrder::Big => pairs.for_each(|(v, &b)| *v = Self::from_be_bytes(b)),
                    }
                }
                Ok(())
            }

            fn decode_vec(
                values: &mut Vec<Self>,
                count: usize,
                reader: &mut Reader<'_>,
            ) -> Result<(), DecodeError> {
                let (bytes, order) = reader.read_primitives::<{ size_of::<Self>() }>(count)?;
                values.clear();
                numbers!(@extend values bytes order $($all)?);
                Ok(())
            }
        }
    )*};
}

numbers! {
    u8 U8 read_u8 write_u8 write_bytes;
    i8 I8 read_i8 write_i8;
    u16 U16 read_u16 write_u16;
    i16 I16 read_i16 write_i16;
    u32 U32 read_u32 write_u32;
    i32 I32 read_i32 write_i32;
    u64 U64 read_u64 write_u64;
    i64 I64 read_i64 write_i64;
    f32 F32 read_f32 write_f32;
    f64 F64 read_f64 write_f64;
}

impl Describe for bool {
    const TYPE: Type = Type::Bool;
}

impl Encode for bool {
    const PRIMITIVE: Self = true;
    const LENGTH_CODE: LengthCode = LengthCode::One;

    #[inline]
    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        writer.write_bool(*self);
        Ok(())
    }
}

impl Decode for bool {
    const MIN_SIZE: usize = 1;

    fn initial() -> Self {
        false
    }

    #[inline]
    fn decode_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        *self = reader.read_bool()?;
        Ok(())
    }
}

/// IDL's `char`: one byte, ISO 8859-1.
impl Describe for char {
    const TYPE: Type = Type::Char;
}

impl Encode for char {
    const PRIMITIVE: bool = true;
    const LENGTH_CODE: LengthCode = LengthCode::One;

    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        let byte =
            u8::try_from(*self).map_err(|_| EncodeError::new(EncodeErrorKind::WideChar(*self)))?;
        writer.write_u8(byte);
        Ok(())
    }
}

impl Decode for char {
    const MIN_SIZE: usize = 1;

    fn initial() -> Self {
        '\0'
    }

    fn decode_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        *self = reader.read_u8()?.into();
        Ok(())
    }
}
