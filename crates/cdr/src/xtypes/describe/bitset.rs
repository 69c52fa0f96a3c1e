//! Bitsets.

use super::identifier::primitive;
use super::*;
use crate::{Bitfield, BitsetDescription};

impl Resolver<'_> {
    pub(super) fn read_bitset(
        &mut self,
        reader: &mut Reader<'_>,
    ) -> Result<BitsetDescription, Failure> {
        let whole = reader.begin_struct(Extensibility::Appendable)?;
        reader.read_u16()?;
        let header = reader.begin_struct(Extensibility::Appendable)?;
        let name = read_detail(self.kind, reader)?.into();
        reader.end_struct(header);
        let elements = reader.begin_sequence(0, false, MIN_FIELD)?;
        let mut fields = Vec::with_capacity(elements.count);
        for _ in 0..elements.count {
            let scope = reader.begin_struct(Extensibility::Appendable)?;
            let position = reader.read_u16()?;
            reader.read_u16()?;
            let bits = reader.read_u8()?;
            let kind = reader.read_u8()?;
            fields.push(Bitfield {
                name: (&*read_name(self.kind, reader)?).into(),
                position,
                bits,
                ty: primitive(kind).ok_or(DescribeError::Unsupported(kind_name(kind)))?,
            });
            reader.end_struct(scope);
        }
        reader.end_sequence(elements);
        reader.end_struct(whole);
        let description = BitsetDescription {
            name,
            fields: fields.into(),
        };
        description.check()?;
        Ok(description)
    }
}

/// The fewest bytes of a field: length, position, flags, bits, kind, hash of the name.
const MIN_FIELD: usize = 14;
