//! Values that are not given.

use super::{Context, DataError};
use crate::Type;
use crate::dynamic::Data;

impl Context<'_, '_> {
    /// Zero, empty, or the first literal.
    pub(super) fn default_scalar(&mut self, ty: &Type) -> Result<(), DataError> {
        match ty {
            Type::Bool => self.writer.write_bool(false),
            Type::F32 => self.writer.write_f32(0.0),
            Type::F64 => self.writer.write_f64(0.0),
            Type::Char => self.writer.write_u8(0),
            Type::String { .. } | Type::WString { .. } => {
                return self.scalar(ty, &Data::Text("".into()));
            }
            Type::Enum(description) => {
                let first = description.literals.first();
                let value = first.map_or(0, |literal| literal.value);
                self.writer.write_enum(value, description.size());
            }
            _ => return self.scalar(ty, &Data::Integer(0)),
        }
        Ok(())
    }
}
