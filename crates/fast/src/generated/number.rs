//! The Rust types that numbers have in structs, and bit groups, which pack several of them.

use super::{Fault, Op, Reader};
use crate::bit_group;
use crate::dictionary::Entries;
use crate::operator;
use crate::{Code, Decimal};

/// A type that integer fields have in structs.
pub trait Integer: Sized {
    #[doc(hidden)]
    fn read(op: &Op, present: bool, reader: &mut Reader<'_, impl Entries>) -> Result<Self, Fault>;
    #[doc(hidden)]
    fn unpack(op: &Op, bits: u64) -> Result<Self, Fault>;
}

macro_rules! integer {
    ($($narrow:ty as $wide:ty, $unpack:ident;)*) => {$(
        impl Integer for $narrow {
            #[inline(always)]
            fn read(op: &Op, present: bool, reader: &mut Reader<'_, impl Entries>) -> Result<Self, Fault> {
                let Reader { input, dictionary, .. } = reader;
                match operator::integer::<$wide>(&op.spec, input, present, dictionary) {
                    // The largest value of the instruction makes it fit.
                    Ok(Some(value)) => Ok(value as Self),
                    Ok(None) => Err(Fault::of_field(Code::D5, op.field)),
                    Err(code) => Err(Fault::of_field(code, op.field)),
                }
            }

            fn unpack(op: &Op, bits: u64) -> Result<Self, Fault> {
                match $unpack(op, bits)? {
                    Some(value) => Ok(value as Self),
                    None => Err(Fault::of_field(Code::D5, op.field)),
                }
            }
        }

        impl Integer for Option<$narrow> {
            #[inline(always)]
            fn read(op: &Op, present: bool, reader: &mut Reader<'_, impl Entries>) -> Result<Self, Fault> {
                let Reader { input, dictionary, .. } = reader;
                match operator::integer::<$wide>(&op.spec, input, present, dictionary) {
                    Ok(value) => Ok(value.map(|value| value as $narrow)),
                    Err(code) => Err(Fault::of_field(code, op.field)),
                }
            }

            fn unpack(op: &Op, bits: u64) -> Result<Self, Fault> {
                Ok($unpack(op, bits)?.map(|value| value as $narrow))
            }
        }
    )*};
}

integer! {
    u8 as u64, unsigned_of;
    u16 as u64, unsigned_of;
    u32 as u64, unsigned_of;
    u64 as u64, unsigned_of;
    i8 as i64, signed_of;
    i16 as i64, signed_of;
    i32 as i64, signed_of;
    i64 as i64, signed_of;
}

fn unsigned_of(op: &Op, bits: u64) -> Result<Option<u64>, Fault> {
    bit_group::field(&op.spec, bits).map_err(|code| Fault::of_field(code, op.field))
}

fn signed_of(op: &Op, bits: u64) -> Result<Option<i64>, Fault> {
    Ok(Some(bit_group::signed_field(&op.spec, bits)))
}

impl Integer for bool {
    #[inline(always)]
    fn read(op: &Op, present: bool, reader: &mut Reader<'_, impl Entries>) -> Result<Self, Fault> {
        Ok(u64::read(op, present, reader)? != 0)
    }

    fn unpack(op: &Op, bits: u64) -> Result<Self, Fault> {
        Ok(u64::unpack(op, bits)? != 0)
    }
}

impl Integer for Option<bool> {
    #[inline(always)]
    fn read(op: &Op, present: bool, reader: &mut Reader<'_, impl Entries>) -> Result<Self, Fault> {
        Ok(Option::<u64>::read(op, present, reader)?.map(|value| value != 0))
    }

    fn unpack(op: &Op, bits: u64) -> Result<Self, Fault> {
        Ok(Option::<u64>::unpack(op, bits)?.map(|value| value != 0))
    }
}

/// The enum of an enumeration.
pub trait Choice: Sized {
    /// The element with this number; `None`: there is none, or it has to be there and is not.
    fn of(number: Option<u64>) -> Option<Self>;
}

impl<T: Choice> Choice for Option<T> {
    #[inline(always)]
    fn of(number: Option<u64>) -> Option<Self> {
        match number {
            Some(number) => T::of(Some(number)).map(Some),
            None => Some(None),
        }
    }
}

#[inline(always)]
pub(super) fn choice<T: Choice>(op: &Op, number: Option<u64>) -> Result<T, Fault> {
    match T::of(number) {
        Some(element) => Ok(element),
        None => Err(Fault::of_field(Code::D2, op.field)),
    }
}

/// A decimal or an optional one.
pub trait Number: Sized {
    #[doc(hidden)]
    fn of(value: Option<Decimal>, op: &Op) -> Result<Self, Fault>;
}

impl Number for Decimal {
    #[inline(always)]
    fn of(value: Option<Decimal>, op: &Op) -> Result<Self, Fault> {
        match value {
            Some(value) => Ok(value),
            None => Err(Fault::of_field(Code::D5, op.field)),
        }
    }
}

impl Number for Option<Decimal> {
    #[inline(always)]
    fn of(value: Option<Decimal>, _: &Op) -> Result<Self, Fault> {
        Ok(value)
    }
}

/// The fields of a bit group that were not taken yet.
#[derive(Clone, Copy, Debug)]
pub struct Packed {
    pub(super) bits: u64,
    pub(super) left: u8,
}

impl Packed {
    /// The next field, an enumeration.
    pub fn enumeration<T: Choice>(&mut self, op: &Op) -> Result<T, Fault> {
        choice(op, self.integer(op)?)
    }

    /// The next field.
    pub fn integer<T: Integer>(&mut self, op: &Op) -> Result<T, Fault> {
        self.left = self.left.saturating_sub(op.spec.width);
        let bits = self.bits.checked_shr(self.left.into()).unwrap_or(0);
        T::unpack(op, bits & bit_group::mask(op.spec.width.into()))
    }
}
