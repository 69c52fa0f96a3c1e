//! Values without parts.

use alloc::format;
use alloc::string::ToString;

use super::{Context, DataError, Problem};
use crate::dynamic::Data;
use crate::{BitmaskDescription, EnumDescription, Type};

impl Context<'_, '_> {
    pub(super) fn scalar(&mut self, ty: &Type, data: &Data) -> Result<(), DataError> {
        match (ty, data) {
            (Type::Bool, Data::Bool(value)) => self.writer.write_bool(*value),
            (Type::F32, _) => self.float32(ty, data)?,
            (Type::F64, _) => {
                let value = self.float(ty, data)?;
                self.writer.write_f64(value);
            }
            (Type::Char, Data::Text(text)) => {
                let mut chars = text.chars();
                let (first, rest) = (chars.next(), chars.next());
                let byte = first.and_then(|char| u8::try_from(char).ok());
                match byte.filter(|_| rest.is_none()) {
                    Some(byte) => self.writer.write_u8(byte),
                    None => return Err(self.out_of_range(ty, &format!("{text:?}"))),
                }
            }
            (Type::WChar, Data::Text(text)) => {
                let mut units = text.encode_utf16();
                match (units.next(), units.next()) {
                    (Some(unit), None) => self.writer.write_u16(unit),
                    _ => return Err(self.out_of_range(ty, &format!("{text:?}"))),
                }
            }
            (Type::String { bound }, Data::Text(text)) => {
                let written = self.writer.write_string(text, *bound);
                written.map_err(|error| self.encode_error(error))?;
            }
            (Type::WString { bound }, Data::Text(text)) => {
                let written = self.writer.write_wstring(text, *bound);
                written.map_err(|error| self.encode_error(error))?;
            }
            (Type::Enum(description), _) => {
                let value = self.literal(ty, description, data)?;
                self.writer.write_enum(value, description.size());
            }
            (Type::Bitmask(description), _) => {
                let bits = self.bits(ty, description, data)?;
                self.writer.write_bits(bits, description.size());
            }
            (Type::Bool | Type::Char | Type::String { .. } | Type::WString { .. }, other) => {
                return Err(self.wrong_kind(ty, other));
            }
            _ => self.integer(ty, data)?,
        }
        Ok(())
    }

    /// A key of a map, which text formats have as text.
    pub(super) fn map_key(&mut self, ty: &Type, key: &str) -> Result<(), DataError> {
        let data = match ty {
            Type::Bool => match key {
                "true" => Data::Bool(true),
                "false" => Data::Bool(false),
                _ => return Err(self.out_of_range(ty, key)),
            },
            Type::Char | Type::String { .. } | Type::WString { .. } | Type::Enum(_) => {
                Data::Text(key.into())
            }
            Type::WChar if key.encode_utf16().count() == 1 => Data::Text(key.into()),
            _ => match key.parse() {
                Ok(value) => Data::Integer(value),
                Err(_) => return Err(self.out_of_range(ty, key)),
            },
        };
        self.scalar(ty, &data)
    }

    fn integer(&mut self, ty: &Type, data: &Data) -> Result<(), DataError> {
        let value = self.whole(ty, data)?;
        self.write_integer(ty, value)
            .ok_or_else(|| self.out_of_range(ty, &value.to_string()))
    }

    /// A whole number, of any size.
    pub(super) fn whole(&self, ty: &Type, data: &Data) -> Result<i128, DataError> {
        match data {
            Data::Integer(value) => Ok(*value),
            // A number such as 1e3 is whole, too. All whole numbers of 64 bits fit.
            Data::Float(value) if *value % 1.0 == 0.0 && value.abs() < 1e20 => Ok(*value as i128),
            Data::Float(value) => Err(self.out_of_range(ty, &value.to_string())),
            other => Err(self.wrong_kind(ty, other)),
        }
    }

    /// Writes a number as an integer type, if it is in its range.
    pub(super) fn write_integer(&mut self, ty: &Type, value: i128) -> Option<()> {
        match ty {
            Type::I8 => self.writer.write_i8(i8::try_from(value).ok()?),
            Type::U16 | Type::WChar => self.writer.write_u16(u16::try_from(value).ok()?),
            Type::I16 => self.writer.write_i16(i16::try_from(value).ok()?),
            Type::U32 => self.writer.write_u32(u32::try_from(value).ok()?),
            Type::I32 => self.writer.write_i32(i32::try_from(value).ok()?),
            Type::U64 => self.writer.write_u64(u64::try_from(value).ok()?),
            Type::I64 => self.writer.write_i64(i64::try_from(value).ok()?),
            _ => self.writer.write_u8(u8::try_from(value).ok()?),
        }
        Some(())
    }

    fn float32(&mut self, ty: &Type, data: &Data) -> Result<(), DataError> {
        let value = self.float(ty, data)?;
        // The nearest number of 32 bits, which is infinite beyond their range.
        let narrow = value as f32;
        if narrow.is_infinite() && value.is_finite() {
            return Err(self.out_of_range(ty, &value.to_string()));
        }
        self.writer.write_f32(narrow);
        Ok(())
    }

    fn float(&self, ty: &Type, data: &Data) -> Result<f64, DataError> {
        match data {
            // The nearest one.
            Data::Integer(value) => Ok(*value as f64),
            Data::Float(value) => Ok(*value),
            Data::Text(text) => match text.as_str() {
                "NaN" => Ok(f64::NAN),
                "inf" => Ok(f64::INFINITY),
                "-inf" => Ok(f64::NEG_INFINITY),
                _ => Err(self.wrong_kind(ty, data)),
            },
            other => Err(self.wrong_kind(ty, other)),
        }
    }

    /// The value of a literal, given by its name or by that value.
    pub(super) fn literal(
        &self,
        ty: &Type,
        description: &EnumDescription,
        data: &Data,
    ) -> Result<i32, DataError> {
        let mut literals = description.literals.iter();
        match data {
            Data::Text(name) => match literals.find(|literal| *literal.name == **name) {
                Some(literal) => Ok(literal.value),
                None => {
                    let names = description.literals.iter().map(|literal| &*literal.name);
                    Err(self.no_literal(&description.name, name, names))
                }
            },
            Data::Integer(value) => match literals.find(|one| i128::from(one.value) == *value) {
                Some(literal) => Ok(literal.value),
                None => Err(self.out_of_range(ty, &value.to_string())),
            },
            other => Err(self.wrong_kind(ty, other)),
        }
    }

    /// Bits, given by names and positions, or as a number.
    fn bits(
        &self,
        ty: &Type,
        description: &BitmaskDescription,
        data: &Data,
    ) -> Result<u64, DataError> {
        let in_range =
            |bits: &u64| description.bit_bound >= 64 || bits >> description.bit_bound == 0;
        let list = match data {
            Data::List(list) => list,
            Data::Integer(value) => {
                let bits = u64::try_from(*value).ok().filter(in_range);
                return bits.ok_or_else(|| self.out_of_range(ty, &value.to_string()));
            }
            other => return Err(self.wrong_kind(ty, other)),
        };
        let mut bits = 0;
        for one in list {
            let position = match one {
                Data::Text(name) => self.position(description, name)?,
                Data::Integer(position) => u16::try_from(*position).unwrap_or(u16::MAX),
                other => return Err(self.wrong_kind(ty, other)),
            };
            let bit = 1_u64.checked_shl(position.into()).filter(in_range);
            bits |= bit.ok_or_else(|| self.out_of_range(ty, &format!("bit {position}")))?;
        }
        Ok(bits)
    }

    fn position(&self, of: &BitmaskDescription, name: &str) -> Result<u16, DataError> {
        let flag = of.flags.iter().find(|flag| *flag.name == *name);
        let names = of.flags.iter().map(|flag| &*flag.name);
        flag.map(|flag| flag.position)
            .ok_or_else(|| self.no_literal(&of.name, name, names))
    }

    fn no_literal<'n>(
        &self,
        of: &str,
        name: &str,
        known: impl Iterator<Item = &'n str>,
    ) -> DataError {
        self.error(Problem::NoLiteral {
            of: of.into(),
            name: name.into(),
            known: known.map(Into::into).collect(),
        })
    }

    pub(super) fn out_of_range(&self, ty: &Type, value: &str) -> DataError {
        self.error(Problem::Range {
            ty: ty.to_string(),
            value: value.into(),
        })
    }
}
