//! Types whose values are names: enumerations and bitmasks.

use alloc::collections::BTreeSet;

use super::{InvalidDescription, Shared};
use crate::Extensibility;

/// An enumeration as data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EnumDescription {
    /// Full name with `::` between modules.
    pub name: Shared<str>,
    /// How it may change; only type objects tell.
    pub extensibility: Extensibility,
    /// Bits that hold its values: 1 to 8 are encoded in one byte, to 16 in two, to 32 in four.
    pub bit_bound: u16,
    /// Its literals in order of definition. The first is the default.
    pub literals: Shared<[Literal]>,
}

/// One name of an enumeration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Literal {
    /// Its name.
    pub name: Shared<str>,
    /// Its value.
    pub value: i32,
}

/// A bitmask as data (XTypes 1.3 §7.2.2.3): up to 64 bits, some of which have names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BitmaskDescription {
    /// Full name with `::` between modules.
    pub name: Shared<str>,
    /// How it may change; only type objects tell.
    pub extensibility: Extensibility,
    /// Number of bits: 1 to 8 are encoded in one byte, to 16 in two, to 32 in four, to 64 in eight.
    pub bit_bound: u16,
    /// The bits that have names, in order of their positions.
    pub flags: Shared<[Flag]>,
}

/// One named bit of a bitmask.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flag {
    /// Its name.
    pub name: Shared<str>,
    /// Which bit, from 0 for the least significant; below the bit bound.
    pub position: u16,
}

impl EnumDescription {
    /// The literal of this value.
    pub fn literal(&self, value: i32) -> Option<&Literal> {
        self.literals.iter().find(|literal| literal.value == value)
    }
}

impl EnumDescription {
    /// What the derive checks at compile time, of a description made at run time.
    ///
    /// # Errors
    /// The first rule of XTypes that it breaks.
    pub fn check(&self) -> Result<(), InvalidDescription> {
        let literals = self.literals.iter();
        let numbers = literals.map(|literal| (&literal.name, i64::from(literal.value)));
        check_names(numbers, self.bit_bound, 32)
    }
}

impl BitmaskDescription {
    /// What the derive checks at compile time, of a description made at run time.
    ///
    /// # Errors
    /// The first rule of XTypes that it breaks.
    pub fn check(&self) -> Result<(), InvalidDescription> {
        let flags = self.flags.iter();
        check_names(
            flags.map(|flag| (&flag.name, i64::from(flag.position))),
            self.bit_bound,
            64,
        )?;
        match self
            .flags
            .iter()
            .any(|flag| flag.position >= self.bit_bound)
        {
            true => Err(InvalidDescription::BitBound(self.bit_bound)),
            false => Ok(()),
        }
    }
}

/// That no name and no number is there twice.
fn check_names<'n>(
    names: impl Iterator<Item = (&'n Shared<str>, i64)>,
    bit_bound: u16,
    most: u16,
) -> Result<(), InvalidDescription> {
    if !(1..=most).contains(&bit_bound) {
        return Err(InvalidDescription::BitBound(bit_bound));
    }
    let (mut seen, mut numbers) = (BTreeSet::new(), BTreeSet::new());
    for (name, number) in names {
        if !(seen.insert(&**name) & numbers.insert(number)) {
            return Err(InvalidDescription::DuplicateLiteral(name.clone()));
        }
    }
    Ok(())
}
