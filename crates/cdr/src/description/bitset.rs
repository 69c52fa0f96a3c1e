//! Bitsets: several small numbers in one integer.

use alloc::collections::BTreeSet;

use super::{InvalidDescription, Shared, Type};
use crate::layout::bitmask_size;

/// A bitset as data (IDL 4.2 §7.4.13): fields of bits in up to 64 bits. They are encoded as the
/// smallest unsigned integer that holds them, the first field in its lowest bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BitsetDescription {
    /// Full name with `::` between modules.
    pub name: Shared<str>,
    /// Its fields in order of their positions. Bits between them have no name.
    pub fields: Shared<[Bitfield]>,
}

/// A field of a bitset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bitfield {
    /// Its name.
    pub name: Shared<str>,
    /// Its lowest bit, from 0 for the least significant.
    pub position: u16,
    /// Number of bits, no more than its type has.
    pub bits: u8,
    /// Type of its values: an integer, `octet` or `boolean`. Signed ones are in two's complement.
    pub ty: Type,
}

impl BitsetDescription {
    /// Number of bits up to the end of the last field.
    pub fn bit_bound(&self) -> u16 {
        let ends = self.fields.iter().map(Bitfield::end);
        ends.max().unwrap_or_default()
    }

    /// Bytes of an encoded value.
    pub fn size(&self) -> usize {
        bitmask_size(self.bit_bound())
    }

    /// What must hold of a description made at run time: names differ, no two fields share a bit,
    /// fields are in order and fit their types, and all fit 64 bits.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn check(&self) -> Result<(), InvalidDescription> {
        if self.fields.is_empty() {
            return Err(InvalidDescription::NoMember);
        }
        let mut names = BTreeSet::new();
        let mut free = 0;
        for field in self.fields.iter() {
            if !names.insert(&*field.name) {
                return Err(InvalidDescription::DuplicateName(field.name.clone()));
            }
            let fits = (1..=field.ty.bitfield_width()).contains(&field.bits);
            if !fits || field.position < free || field.end() > 64 {
                return Err(InvalidDescription::Bitfield(field.name.clone()));
            }
            free = field.end();
        }
        Ok(())
    }
}

impl Bitfield {
    fn end(&self) -> u16 {
        self.position.saturating_add(self.bits.into())
    }

    /// The value of this field in the integer that the bitset is.
    pub fn value(&self, bitset: u64) -> i128 {
        let bits = u32::from(self.bits.clamp(1, 64));
        let unused = 64 - bits;
        let shifted = bitset.checked_shr(self.position.into()).unwrap_or(0) << unused;
        match self.ty.is_signed() {
            true => (shifted.cast_signed() >> unused).into(),
            false => (shifted >> unused).into(),
        }
    }

    /// The bits of the bitset for a value of this field; `None` if it does not fit.
    pub fn place(&self, value: i128) -> Option<u64> {
        let low = value.rem_euclid(1 << self.bits.min(64));
        let bits = u64::try_from(low).ok()?.checked_shl(self.position.into())?;
        (self.value(bits) == value).then_some(bits)
    }
}

impl Type {
    /// The most bits that a field of a bitset can have of this type, 0 if none can be of it.
    fn bitfield_width(&self) -> u8 {
        match self {
            Self::Bool => 1,
            Self::U8 | Self::Byte | Self::I8 => 8,
            Self::U16 | Self::I16 => 16,
            Self::U32 | Self::I32 => 32,
            Self::U64 | Self::I64 => 64,
            _ => 0,
        }
    }

    fn is_signed(&self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }
}
