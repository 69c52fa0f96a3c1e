//! Descriptions to type objects.
//!
//! ```text
//! TypeObject    = length, EK, TK, (struct | enum)
//! struct        = flags16, [length, base TypeIdentifier, (detail)], [length, count, member...]
//! member        = length, id32, flags16, TypeIdentifier, (name + annotations | name hash)
//! enum          = flags16, [length, bit bound16, (detail)], [length, count, literal...]
//! literal       = length, [length, value32, flags16], (name + annotations | name hash)
//! detail        = built-in annotations?, custom annotations?, type name       (complete only)
//! ```

use alloc::vec::Vec;

use md5::{Digest, Md5};

use super::*;
use crate::{EnumDescription, Extensibility, Member, Representation, Type};

/// Adds the minimal and the complete objects of a type.
pub(super) fn add(
    objects: &mut TypeObjects,
    description: &TypeDescription,
) -> Result<TypeInformation, EncodeError> {
    let mut minimal = Builder::new(objects, EquivalenceKind::Minimal);
    let minimal_id = minimal.add_struct(description)?;
    let minimal_types = minimal.done;
    let mut complete = Builder::new(objects, EquivalenceKind::Complete);
    let complete_id = complete.add_struct(description)?;
    let complete_types = complete.done;
    // Both walks meet the same types in the same order.
    let pairs = complete_types.iter().zip(&minimal_types);
    objects
        .complete_to_minimal
        .extend(pairs.map(|(complete, minimal)| (complete.id, minimal.id)));
    Ok(TypeInformation {
        minimal: Some(with_dependencies(minimal_id, &minimal_types)),
        complete: Some(with_dependencies(complete_id, &complete_types)),
    })
}

fn with_dependencies(root: TypeId, types: &[Done<'_>]) -> TypeWithDependencies {
    let size = |id| {
        types
            .iter()
            .find(|done| done.id == id)
            .map_or(0, |done| done.size)
    };
    let mut dependencies: Vec<(TypeId, u32)> = Vec::new();
    for done in types.iter().filter(|done| done.id != root) {
        if dependencies.iter().all(|(id, _)| *id != done.id) {
            dependencies.push((done.id, done.size));
        }
    }
    TypeWithDependencies {
        id: root,
        size: size(root),
        dependencies,
    }
}

/// Where a description lies, so that a type that is met again is not built again.
enum Origin<'d> {
    Struct(&'d TypeDescription),
    Enum(&'d EnumDescription),
}

impl Origin<'_> {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Origin::Struct(one), Origin::Struct(other)) => core::ptr::eq(*one, *other),
            (Origin::Enum(one), Origin::Enum(other)) => core::ptr::eq(*one, *other),
            _ => false,
        }
    }
}

struct Done<'d> {
    origin: Origin<'d>,
    id: TypeId,
    size: u32,
}

struct Builder<'o, 'd> {
    objects: &'o mut TypeObjects,
    kind: EquivalenceKind,
    done: Vec<Done<'d>>,
}

impl<'o, 'd> Builder<'o, 'd> {
    fn new(objects: &'o mut TypeObjects, kind: EquivalenceKind) -> Self {
        Self {
            objects,
            kind,
            done: Vec::new(),
        }
    }

    fn add_struct(&mut self, description: &'d TypeDescription) -> Result<TypeId, EncodeError> {
        self.add(Origin::Struct(description), |builder, writer| {
            writer.write_u8(TK_STRUCTURE);
            writer.write_u16(extensibility_flag(description.extensibility));
            let header = writer.begin_struct(Extensibility::Appendable);
            writer.write_u8(TK_NONE);
            builder.write_detail(&description.name, writer)?;
            writer.end_struct(header)?;
            let sequence = writer.begin_sequence(false);
            for member in description.members.iter() {
                builder.write_member(member, writer)?;
            }
            writer.end_sequence(sequence, description.members.len())
        })
    }

    fn add_enum(&mut self, description: &'d EnumDescription) -> Result<TypeId, EncodeError> {
        self.add(Origin::Enum(description), |builder, writer| {
            writer.write_u8(TK_ENUM);
            writer.write_u16(extensibility_flag(description.extensibility));
            let header = writer.begin_struct(Extensibility::Appendable);
            writer.write_u16(description.bit_bound);
            builder.write_detail(&description.name, writer)?;
            writer.end_struct(header)?;
            // In order of values, the first defined being the default (XTypes 1.3 §7.3.4.5).
            let default = description.literals.first();
            let mut literals: Vec<_> = description.literals.iter().collect();
            literals.sort_by_key(|literal| literal.value);
            let sequence = writer.begin_sequence(false);
            for literal in literals {
                let whole = writer.begin_struct(Extensibility::Appendable);
                let common = writer.begin_struct(Extensibility::Appendable);
                writer.write_i32(literal.value);
                writer.write_u16(if default == Some(literal) {
                    IS_DEFAULT
                } else {
                    0
                });
                writer.end_struct(common)?;
                builder.write_name(&literal.name, writer)?;
                writer.end_struct(whole)?;
            }
            writer.end_sequence(sequence, description.literals.len())
        })
    }

    fn add(
        &mut self,
        origin: Origin<'d>,
        write: impl FnOnce(&mut Self, &mut Writer<'_>) -> Result<(), EncodeError>,
    ) -> Result<TypeId, EncodeError> {
        if let Some(done) = self.done.iter().find(|done| done.origin.same(&origin)) {
            return Ok(done.id);
        }
        let mut object = Vec::new();
        let mut writer = Writer::new(&mut object, Representation::Xcdr2);
        let whole = writer.begin_struct(Extensibility::Appendable);
        writer.write_u8(self.kind.discriminator());
        write(self, &mut writer)?;
        writer.end_struct(whole)?;
        let id = TypeId::of(self.kind, &object);
        let size = u32::try_from(object.len()).unwrap_or(u32::MAX);
        self.objects.objects.insert(id, object);
        self.done.push(Done { origin, id, size });
        Ok(id)
    }

    fn write_member(
        &mut self,
        member: &'d Member,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        let mark = writer.begin_struct(Extensibility::Appendable);
        writer.write_u32(member.id);
        let flags = [
            (member.optional, IS_OPTIONAL),
            (member.must_understand, IS_MUST_UNDERSTAND),
            (member.key, IS_KEY),
        ];
        let set = flags.iter().filter(|(set, _)| *set).map(|(_, flag)| flag);
        writer.write_u16(set.fold(TRY_CONSTRUCT_DISCARD, |flags, flag| flags | flag));
        self.write_identifier(&member.ty, writer)?;
        self.write_name(&member.name, writer)?;
        writer.end_struct(mark)
    }

    fn write_identifier(
        &mut self,
        ty: &'d Type,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        match ty {
            Type::Struct(description) => self.add_struct(description)?.write(writer),
            Type::Enum(description) => self.add_enum(description)?.write(writer),
            Type::String { bound } => match u8::try_from(*bound) {
                Ok(bound) => {
                    writer.write_u8(TI_STRING8_SMALL);
                    writer.write_u8(bound);
                }
                Err(_) => {
                    writer.write_u8(TI_STRING8_LARGE);
                    writer.write_u32(*bound);
                }
            },
            Type::Sequence { element, bound } => {
                let small = u8::try_from(*bound);
                let kinds = (TI_PLAIN_SEQUENCE_SMALL, TI_PLAIN_SEQUENCE_LARGE);
                self.write_collection_header(kinds, small.is_ok(), element, writer);
                match small {
                    Ok(bound) => writer.write_u8(bound),
                    Err(_) => writer.write_u32(*bound),
                }
                self.write_identifier(element, writer)?;
            }
            Type::Array { element, length } => {
                let small = u8::try_from(*length);
                let kinds = (TI_PLAIN_ARRAY_SMALL, TI_PLAIN_ARRAY_LARGE);
                self.write_collection_header(kinds, small.is_ok(), element, writer);
                writer.write_u32(1);
                match small {
                    Ok(length) => writer.write_u8(length),
                    Err(_) => writer.write_u32(*length),
                }
                self.write_identifier(element, writer)?;
            }
            primitive => writer.write_u8(primitive_kind(primitive)),
        }
        Ok(())
    }

    fn write_collection_header(
        &self,
        (small, large): (u8, u8),
        is_small: bool,
        element: &Type,
        writer: &mut Writer<'_>,
    ) {
        writer.write_u8(if is_small { small } else { large });
        writer.write_u8(if refers(element) {
            self.kind.discriminator()
        } else {
            EK_BOTH
        });
        writer.write_u16(TRY_CONSTRUCT_DISCARD);
    }

    /// `CompleteTypeDetail`; the minimal one is empty.
    fn write_detail(&self, name: &str, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        if self.kind == EquivalenceKind::Minimal {
            return Ok(());
        }
        writer.write_bool(false);
        writer.write_bool(false);
        writer.write_string(name, 0)
    }

    /// `CompleteMemberDetail` or `MinimalMemberDetail`.
    fn write_name(&self, name: &str, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        if self.kind == EquivalenceKind::Minimal {
            let hash: [u8; 16] = Md5::digest(name.as_bytes()).into();
            hash.iter().take(4).for_each(|byte| writer.write_u8(*byte));
            return Ok(());
        }
        writer.write_string(name, 0)?;
        writer.write_bool(false);
        writer.write_bool(false);
        Ok(())
    }
}

/// Whether a type's identifier contains a hash.
fn refers(ty: &Type) -> bool {
    match ty {
        Type::Struct(_) | Type::Enum(_) => true,
        Type::Sequence { element, .. } | Type::Array { element, .. } => refers(element),
        _ => false,
    }
}

fn extensibility_flag(extensibility: Extensibility) -> u16 {
    match extensibility {
        Extensibility::Final => IS_FINAL,
        Extensibility::Appendable => IS_APPENDABLE,
        Extensibility::Mutable => IS_MUTABLE,
    }
}

fn primitive_kind(ty: &Type) -> u8 {
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
        _ => TK_NONE,
    }
}
