//! What refers to types: identifiers, aliases, and collections, plain or not.

use alloc::vec::Vec;

use super::*;

impl Resolver<'_> {
    /// The union `TypeIdentifier`. Plain collections contain their elements' identifiers.
    pub(super) fn read_identifier(
        &mut self,
        reader: &mut Reader<'_>,
        depth: usize,
    ) -> Result<Type, Failure> {
        if depth > MAX_DEPTH {
            return Err(DescribeError::TooLarge.into());
        }
        let kind = reader.read_u8()?;
        if (TI_PLAIN_SEQUENCE_SMALL..=TI_PLAIN_MAP_LARGE).contains(&kind) {
            reader.read_u8()?;
            reader.read_u16()?;
            return self.read_plain(kind, reader, depth + 1);
        }
        Ok(match kind {
            TI_STRING8_SMALL => Type::String {
                bound: reader.read_u8()?.into(),
            },
            TI_STRING8_LARGE => Type::String {
                bound: reader.read_u32()?,
            },
            TI_STRING16_SMALL => Type::WString {
                bound: reader.read_u8()?.into(),
            },
            TI_STRING16_LARGE => Type::WString {
                bound: reader.read_u32()?,
            },
            EK_COMPLETE => {
                let id = TypeId::read_hash(EquivalenceKind::Complete, reader)?;
                self.resolve(id)?
            }
            EK_MINIMAL => {
                let id = TypeId::read_hash(EquivalenceKind::Minimal, reader)?;
                self.resolve(id)?
            }
            TI_STRONGLY_CONNECTED_COMPONENT => {
                let id = TypeId::read_component(reader)?;
                self.resolve(id)?
            }
            kind => primitive(kind).ok_or(DescribeError::Unsupported(kind_name(kind)))?,
        })
    }

    fn read_plain(
        &mut self,
        kind: u8,
        reader: &mut Reader<'_>,
        depth: usize,
    ) -> Result<Type, Failure> {
        self.weight += 1;
        Ok(match kind {
            TI_PLAIN_SEQUENCE_SMALL | TI_PLAIN_SEQUENCE_LARGE => {
                let bound = read_bound(kind == TI_PLAIN_SEQUENCE_SMALL, reader)?;
                sequence(self.read_identifier(reader, depth)?, bound)
            }
            TI_PLAIN_ARRAY_SMALL | TI_PLAIN_ARRAY_LARGE => {
                let dimensions = read_dimensions(kind == TI_PLAIN_ARRAY_SMALL, reader)?;
                let element = self.read_identifier(reader, depth + dimensions.len())?;
                array(&dimensions, element)
            }
            TI_PLAIN_MAP_SMALL | TI_PLAIN_MAP_LARGE => {
                let bound = read_bound(kind == TI_PLAIN_MAP_SMALL, reader)?;
                let value = self.read_identifier(reader, depth)?;
                reader.read_u16()?;
                map(self.read_identifier(reader, depth)?, value, bound)
            }
            kind => return Err(DescribeError::Unsupported(kind_name(kind)).into()),
        })
    }

    pub(super) fn read_alias(&mut self, reader: &mut Reader<'_>) -> Result<Type, Failure> {
        reader.read_u16()?;
        let header = reader.begin_struct(Extensibility::Appendable)?;
        reader.end_struct(header);
        self.read_element(reader)
    }

    pub(super) fn read_sequence(&mut self, reader: &mut Reader<'_>) -> Result<Type, Failure> {
        reader.read_u16()?;
        let header = reader.begin_struct(Extensibility::Appendable)?;
        let bound = reader.read_u32()?;
        reader.end_struct(header);
        Ok(sequence(self.read_element(reader)?, bound))
    }

    pub(super) fn read_array(&mut self, reader: &mut Reader<'_>) -> Result<Type, Failure> {
        reader.read_u16()?;
        let header = reader.begin_struct(Extensibility::Appendable)?;
        let dimensions = read_dimensions(false, reader)?;
        reader.end_struct(header);
        Ok(array(&dimensions, self.read_element(reader)?))
    }

    pub(super) fn read_map(&mut self, reader: &mut Reader<'_>) -> Result<Type, Failure> {
        reader.read_u16()?;
        let header = reader.begin_struct(Extensibility::Appendable)?;
        let bound = reader.read_u32()?;
        reader.end_struct(header);
        let key = self.read_element(reader)?;
        Ok(map(key, self.read_element(reader)?, bound))
    }

    /// An element of a collection, or what an alias stands for: flags and an identifier.
    fn read_element(&mut self, reader: &mut Reader<'_>) -> Result<Type, Failure> {
        self.weight += 1;
        let scope = reader.begin_struct(Extensibility::Appendable)?;
        reader.read_u16()?;
        let ty = self.read_identifier(reader, 0)?;
        reader.end_struct(scope);
        Ok(ty)
    }
}

fn read_bound(is_small: bool, reader: &mut Reader<'_>) -> Result<u32, DecodeError> {
    match is_small {
        true => reader.read_u8().map(u32::from),
        false => reader.read_u32(),
    }
}

fn read_dimensions(is_small: bool, reader: &mut Reader<'_>) -> Result<Vec<u32>, Failure> {
    let dimensions = reader.begin_sequence(0, true, 1)?;
    if dimensions.count == 0 || dimensions.count > MAX_DEPTH {
        return Err(DescribeError::TooLarge.into());
    }
    let mut lengths = Vec::with_capacity(dimensions.count);
    for _ in 0..dimensions.count {
        lengths.push(read_bound(is_small, reader)?);
    }
    reader.end_sequence(dimensions);
    Ok(lengths)
}

/// Some write the largest number for a bound that there is not.
fn unbounded(bound: u32) -> u32 {
    if bound == u32::MAX { 0 } else { bound }
}

fn sequence(element: Type, bound: u32) -> Type {
    Type::Sequence {
        element: Shared::from(element),
        bound: unbounded(bound),
    }
}

fn map(key: Type, value: Type, bound: u32) -> Type {
    Type::Map {
        key: Shared::from(key),
        value: Shared::from(value),
        bound: unbounded(bound),
    }
}

/// An array of arrays for one of several dimensions, outermost first.
fn array(dimensions: &[u32], element: Type) -> Type {
    let lengths = dimensions.iter().rev();
    lengths.fold(element, |element, &length| Type::Array {
        element: Shared::from(element),
        length,
    })
}

pub(super) fn primitive(kind: u8) -> Option<Type> {
    Some(match kind {
        TK_BOOLEAN => Type::Bool,
        TK_BYTE => Type::Byte,
        TK_INT8 => Type::I8,
        TK_UINT8 => Type::U8,
        TK_INT16 => Type::I16,
        TK_UINT16 => Type::U16,
        TK_INT32 => Type::I32,
        TK_UINT32 => Type::U32,
        TK_INT64 => Type::I64,
        TK_UINT64 => Type::U64,
        TK_FLOAT32 => Type::F32,
        TK_FLOAT64 => Type::F64,
        TK_CHAR8 => Type::Char,
        TK_CHAR16 => Type::WChar,
        _ => return None,
    })
}
