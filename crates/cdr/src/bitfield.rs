//! The numbers that fields of a bitset are, and their bits among those of the others.

use crate::{Describe, EncodeError, EncodeErrorKind};

/// A type that a field of a bitset can have (IDL 4.2 §7.4.13.4.3.3): an integer or `bool`. What `#[derive(Topic)]` asks of
/// it.
pub trait BitfieldValue: Describe + Copy {
    /// The most bits that such a field has.
    const WIDTH: u8;

    /// Its lowest `bits` bits, in two's complement, moved up by `position`.
    ///
    /// # Errors
    /// [`EncodeErrorKind::TooWide`] if they do not say all of it.
    fn place(self, position: u16, bits: u8) -> Result<u64, EncodeError>;

    /// The value whose bits these are, of a bitset that has them at `position`.
    fn take(bitset: u64, position: u16, bits: u8) -> Self;
}

/// As many ones.
fn mask(bits: u8) -> u64 {
    u64::MAX
        .checked_shr(64 - u32::from(bits.min(64)))
        .unwrap_or(0)
}

fn put(value: u64, position: u16, bits: u8, fits: bool) -> Result<u64, EncodeError> {
    match fits {
        true => Ok((value & mask(bits)) << (position % 64)),
        false => Err(EncodeError::new(EncodeErrorKind::TooWide { bits })),
    }
}

fn get(bitset: u64, position: u16, bits: u8) -> u64 {
    bitset >> (position % 64) & mask(bits)
}

impl BitfieldValue for bool {
    const WIDTH: u8 = 1;

    fn place(self, position: u16, bits: u8) -> Result<u64, EncodeError> {
        put(self.into(), position, bits, true)
    }

    fn take(bitset: u64, position: u16, bits: u8) -> Self {
        get(bitset, position, bits) != 0
    }
}

macro_rules! unsigned {
    ($($number:ty)*) => {$(
        impl BitfieldValue for $number {
            const WIDTH: u8 = <$number>::BITS as u8;

            #[inline]
            fn place(self, position: u16, bits: u8) -> Result<u64, EncodeError> {
                let value = u64::from(self);
                put(value, position, bits, value <= mask(bits))
            }

            #[inline]
            #[allow(clippy::cast_possible_truncation, reason = "it has no more bits than that")]
            fn take(bitset: u64, position: u16, bits: u8) -> Self {
                get(bitset, position, bits) as Self
            }
        }
    )*};
}

macro_rules! signed {
    ($($number:ty)*) => {$(
        impl BitfieldValue for $number {
            const WIDTH: u8 = <$number>::BITS as u8;

            #[inline]
            fn place(self, position: u16, bits: u8) -> Result<u64, EncodeError> {
                let value = i64::from(self);
                let most = (mask(bits) >> 1).cast_signed();
                put(value.cast_unsigned(), position, bits, (-most - 1..=most).contains(&value))
            }

            #[inline]
            #[allow(clippy::cast_possible_truncation, reason = "it has no more bits than that")]
            fn take(bitset: u64, position: u16, bits: u8) -> Self {
                let unused = u32::from(64 - bits.clamp(1, 64));
                ((get(bitset, position, bits) << unused).cast_signed() >> unused) as Self
            }
        }
    )*};
}

unsigned!(u8 u16 u32 u64);
signed!(i8 i16 i32 i64);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Bitfield, Shared};

    /// As [`Bitfield`] has it, which data of peers are read and written by.
    fn agrees<T: BitfieldValue + Into<i128> + PartialEq + core::fmt::Debug>(
        value: T,
        bitset: u64,
        position: u16,
        bits: u8,
    ) {
        let bits = bits.min(T::WIDTH);
        let position = position.min(64 - u16::from(bits));
        let field = Bitfield {
            name: Shared::from("field"),
            position,
            bits,
            ty: T::TYPE,
        };
        assert_eq!(value.place(position, bits).ok(), field.place(value.into()));
        let taken = T::take(bitset, position, bits);
        assert_eq!(taken.into(), field.value(bitset));
        let placed = taken.place(position, bits).expect("it was there");
        assert_eq!(T::take(placed, position, bits), taken);
    }

    proptest! {
        #[test]
        fn values_lie_where_descriptions_say(value: u64, unused in 0_u32..64, bitset: u64, position in 0_u16..64, bits in 1_u8..=64) {
            let value = value >> unused;
            agrees(value & 1 == 1, bitset, position, bits);
            agrees(value as u8, bitset, position, bits);
            agrees(value as u16, bitset, position, bits);
            agrees(value as u32, bitset, position, bits);
            agrees(value, bitset, position, bits);
            agrees(value as i8, bitset, position, bits);
            agrees(value as i16, bitset, position, bits);
            agrees(value as i32, bitset, position, bits);
            agrees(value as i64, bitset, position, bits);
            agrees((value as i64).wrapping_neg(), bitset, position, bits);
        }
    }
}
