//! Decimals, which people write as numbers.

use alloc::format;
use alloc::string::ToString;
use alloc::vec;

use tickwire_base::Decimal;

use super::{Context, DataError};
use crate::dynamic::Data;
use crate::{Describe, Type};

impl Context<'_, '_> {
    /// A decimal given as a number or as text, such as `"101.50"`, with as many fraction digits as are
    /// written. A number with a fraction loses trailing zeros, and digits beyond the 15 that are sure to
    /// survive in 64 bits; text does not.
    pub(super) fn decimal(&mut self, ty: &Type, data: &Data) -> Result<(), DataError> {
        let text = match data {
            Data::Integer(value) => value.to_string(),
            Data::Float(value) => value.to_string(),
            Data::Text(text) => text.clone(),
            _ => return Err(self.wrong_kind(ty, data)),
        };
        let Ok(value) = text.parse::<Decimal>() else {
            return Err(self.out_of_range(ty, &format!("{text:?}")));
        };
        let parts = [
            ("mantissa", i128::from(value.mantissa())),
            ("exponent", i128::from(value.exponent())),
        ];
        let parts = parts.map(|(name, value)| (name.to_string(), Data::Integer(value)));
        self.value(ty, Some(&Data::Fields(vec::Vec::from(parts))))
    }
}

/// Whether it is what a [`Decimal`] is described as.
pub(super) fn is_decimal(ty: &Type) -> bool {
    *ty == Decimal::TYPE
}
