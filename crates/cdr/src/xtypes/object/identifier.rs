//! Identifiers of types: in themselves where they are plain, by a hash where they have an object.

use alloc::vec::Vec;

use super::cycles::collection_place;
use super::*;

impl Builder<'_> {
    /// The identifier of a type in that place.
    pub(super) fn write_identifier(
        &mut self,
        ty: &Type,
        place: &str,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        if let Some(origin) = Origin::of(ty) {
            return self.add(&origin)?.write(writer);
        }
        match ty {
            Type::Recursive(link) => match link.target() {
                Some(target) => self.write_identifier(&target, place, writer)?,
                None => writer.write_u8(TK_NONE),
            },
            Type::String { bound } => {
                let small = is_small(*bound);
                writer.write_u8(if small {
                    TI_STRING8_SMALL
                } else {
                    TI_STRING8_LARGE
                });
                write_bound(*bound, small, writer);
            }
            Type::WString { bound } => {
                let small = is_small(*bound);
                writer.write_u8(if small {
                    TI_STRING16_SMALL
                } else {
                    TI_STRING16_LARGE
                });
                write_bound(*bound, small, writer);
            }
            Type::Sequence { .. } | Type::Array { .. } | Type::Map { .. } => {
                let place = collection_place(ty, place);
                match self.assigned(&place) {
                    Some(id) => id.write(writer)?,
                    None => self.write_plain(ty, &place, writer)?,
                }
            }
            primitive => writer.write_u8(primitive_kind(primitive)),
        }
        Ok(())
    }

    /// The identifier of a collection that has no object.
    fn write_plain(
        &mut self,
        ty: &Type,
        place: &str,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        match ty {
            Type::Sequence { element, bound } => {
                let small = is_small(*bound);
                let kinds = (TI_PLAIN_SEQUENCE_SMALL, TI_PLAIN_SEQUENCE_LARGE);
                self.write_collection_header(kinds, small, refers(element), writer);
                write_bound(*bound, small, writer);
                self.write_identifier(element, place, writer)?;
            }
            Type::Array { .. } => {
                let element = ty.innermost();
                let dimensions = dimensions(ty);
                let small = dimensions.iter().all(|length| is_small(*length));
                let kinds = (TI_PLAIN_ARRAY_SMALL, TI_PLAIN_ARRAY_LARGE);
                self.write_collection_header(kinds, small, refers(element), writer);
                let sequence = writer.begin_sequence(true);
                let lengths = dimensions.iter();
                lengths.for_each(|length| write_bound(*length, small, writer));
                writer.end_sequence(sequence, dimensions.len())?;
                self.write_identifier(element, place, writer)?;
            }
            Type::Map { key, value, bound } => {
                let small = is_small(*bound);
                let kinds = (TI_PLAIN_MAP_SMALL, TI_PLAIN_MAP_LARGE);
                self.write_collection_header(kinds, small, refers(key) || refers(value), writer);
                write_bound(*bound, small, writer);
                self.write_identifier(value, place, writer)?;
                writer.write_u16(TRY_CONSTRUCT_DISCARD);
                self.write_identifier(key, place, writer)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The object of a collection in a circle of types, which is as anonymous as elsewhere.
    pub(super) fn write_collection(
        &mut self,
        ty: &Type,
        place: &str,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        let (kind, elements): (_, [Option<&Type>; 2]) = match ty {
            Type::Array { .. } => (TK_ARRAY, [Some(ty.innermost()), None]),
            Type::Map { key, value, .. } => (TK_MAP, [Some(key), Some(value)]),
            Type::Sequence { element, .. } => (TK_SEQUENCE, [Some(element), None]),
            _ => return Ok(()),
        };
        writer.write_u8(kind);
        writer.write_u16(0);
        let header = writer.begin_struct(Extensibility::Appendable);
        match ty {
            Type::Sequence { bound, .. } | Type::Map { bound, .. } => writer.write_u32(*bound),
            _ => {
                let dimensions = dimensions(ty);
                let sequence = writer.begin_sequence(true);
                let mut lengths = dimensions.iter();
                lengths
                    .by_ref()
                    .for_each(|length| writer.write_u32(*length));
                writer.end_sequence(sequence, dimensions.len())?;
            }
        }
        if self.kind == EquivalenceKind::Complete {
            writer.write_bool(false);
        }
        writer.end_struct(header)?;
        for element in elements.into_iter().flatten() {
            let mark = writer.begin_struct(Extensibility::Appendable);
            writer.write_u16(TRY_CONSTRUCT_DISCARD);
            self.write_identifier(element, place, writer)?;
            self.write_annotations(None, writer)?;
            writer.end_struct(mark)?;
        }
        Ok(())
    }

    fn write_collection_header(
        &self,
        (small, large): (u8, u8),
        is_small: bool,
        refers: bool,
        writer: &mut Writer<'_>,
    ) {
        writer.write_u8(if is_small { small } else { large });
        writer.write_u8(if refers {
            self.kind.discriminator()
        } else {
            EK_BOTH
        });
        writer.write_u16(TRY_CONSTRUCT_DISCARD);
    }
}

/// Whether a type's identifier contains a hash.
fn refers(ty: &Type) -> bool {
    match ty {
        Type::Struct(_)
        | Type::Union(_)
        | Type::Enum(_)
        | Type::Bitmask(_)
        | Type::Bitset(_)
        | Type::Recursive(_) => true,
        Type::Sequence { element, .. } | Type::Array { element, .. } => refers(element),
        Type::Map { key, value, .. } => refers(key) || refers(value),
        _ => false,
    }
}

/// Whether a bound or a dimension takes the short form of an identifier.
fn is_small(bound: u32) -> bool {
    u8::try_from(bound).is_ok()
}

fn write_bound(bound: u32, small: bool, writer: &mut Writer<'_>) {
    match u8::try_from(bound) {
        Ok(bound) if small => writer.write_u8(bound),
        _ => writer.write_u32(bound),
    }
}

/// The lengths of an array, outermost first.
fn dimensions(mut ty: &Type) -> Vec<u32> {
    let mut lengths = Vec::new();
    while let Type::Array { element, length } = ty {
        lengths.push(*length);
        ty = element;
    }
    lengths
}

pub(super) fn primitive_kind(ty: &Type) -> u8 {
    match ty {
        Type::Bool => TK_BOOLEAN,
        Type::U8 => TK_UINT8,
        Type::Byte => TK_BYTE,
        Type::I8 => TK_INT8,
        Type::U16 => TK_UINT16,
        Type::I16 => TK_INT16,
        Type::U32 => TK_UINT32,
        Type::I32 => TK_INT32,
        Type::U64 => TK_UINT64,
        Type::I64 => TK_INT64,
        Type::F32 => TK_FLOAT32,
        Type::F64 => TK_FLOAT64,
        Type::Char => TK_CHAR8,
        Type::WChar => TK_CHAR16,
        _ => TK_NONE,
    }
}
