//! Bitsets, field by field.

use super::{Context, DataError, Omissions, Problem};
use crate::dynamic::Data;
use crate::{Bitfield, BitsetDescription, Type};

impl Context<'_, '_> {
    pub(super) fn bitset(
        &mut self,
        ty: &Type,
        description: &BitsetDescription,
        data: Option<&Data>,
    ) -> Result<(), DataError> {
        let fields = match data {
            None => &[][..],
            Some(Data::Fields(fields)) => fields,
            Some(other) => return Err(self.wrong_kind(ty, other)),
        };
        let names = description.fields.iter().map(|field| &*field.name);
        self.check_names(&description.name, fields, names)?;
        let mut bits = 0;
        for field in description.fields.iter() {
            let given = fields.iter().find(|(name, _)| *name == *field.name);
            match given {
                Some((name, value)) => self.at_member(name, |at| {
                    bits |= at.bitfield(field, value)?;
                    Ok(())
                })?,
                None if self.omissions == Omissions::Refused && data.is_some() => {
                    return Err(self.error(Problem::Missing((*field.name).into())));
                }
                None => {}
            }
        }
        self.writer.write_bits(bits, description.size());
        Ok(())
    }

    fn bitfield(&self, field: &Bitfield, data: &Data) -> Result<u64, DataError> {
        let value = match (&field.ty, data) {
            (Type::Bool, Data::Bool(value)) => i128::from(*value),
            (ty, data) if *ty != Type::Bool => self.whole(ty, data)?,
            (ty, other) => return Err(self.wrong_kind(ty, other)),
        };
        let range = || Problem::Range {
            ty: alloc::format!("bitfield<{}, {}>", field.bits, field.ty),
            value: alloc::format!("{value}"),
        };
        field.place(value).ok_or_else(|| self.error(range()))
    }
}
