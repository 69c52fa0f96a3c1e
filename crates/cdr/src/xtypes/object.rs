//! Descriptions to type objects.
//!
//! ```text
//! TypeObject    = length, EK, TK, (struct | union | enum | bitmask)
//! struct        = flags16, [length, base TypeIdentifier, (detail)], [length, count, member...]
//! member        = length, id32, flags16, TypeIdentifier, (name + annotations | name hash)
//! union         = flags16, [length, (detail)], [length, discriminator], [length, count, case...]
//! discriminator = flags16, TypeIdentifier, (annotations)
//! case          = length, id32, flags16, TypeIdentifier, count, label32..., (name + ... | name hash)
//! bitmask       = length, flags16, [length, bit bound16, (detail)], [length, count, flag...]
//! flag          = length, position16, flags16, (name + annotations | name hash)
//! enum          = flags16, [length, bit bound16, (detail)], [length, count, literal...]
//! literal       = length, [length, value32, flags16], (name + annotations | name hash)
//! detail        = built-in annotations?, custom annotations?, type name       (complete only)
//! ```

use alloc::vec::Vec;

use super::*;
use crate::{
    BitmaskDescription, Case, EnumDescription, Extensibility, Member, Representation, Type,
    UnionDescription,
};

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
    Union(&'d UnionDescription),
    Enum(&'d EnumDescription),
    Bitmask(&'d BitmaskDescription),
}

impl Origin<'_> {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Origin::Struct(one), Origin::Struct(other)) => core::ptr::eq(*one, *other),
            (Origin::Union(one), Origin::Union(other)) => core::ptr::eq(*one, *other),
            (Origin::Enum(one), Origin::Enum(other)) => core::ptr::eq(*one, *other),
            (Origin::Bitmask(one), Origin::Bitmask(other)) => core::ptr::eq(*one, *other),
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
            let flags = [
                (description.nested, IS_NESTED),
                (description.hash_ids, IS_AUTOID_HASH),
            ];
            writer.write_u16(extensibility_flag(description.extensibility) | set_of(&flags));
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
            // In order of values (XTypes 1.3 §7.3.4.5). The default is told only if it is not the
            // least, which is what idlc of Cyclone DDS and Fast DDS-Gen take it for.
            let mut literals: Vec<_> = description.literals.iter().collect();
            literals.sort_by_key(|literal| literal.value);
            let default = description.literals.first();
            let told = default.filter(|default| literals.first() != Some(default));
            let sequence = writer.begin_sequence(false);
            for literal in literals {
                let whole = writer.begin_struct(Extensibility::Appendable);
                let common = writer.begin_struct(Extensibility::Appendable);
                writer.write_i32(literal.value);
                writer.write_u16(set_of(&[(told == Some(literal), IS_DEFAULT)]));
                writer.end_struct(common)?;
                builder.write_name(&literal.name, None, writer)?;
                writer.end_struct(whole)?;
            }
            writer.end_sequence(sequence, description.literals.len())
        })
    }

    fn add_bitmask(&mut self, description: &'d BitmaskDescription) -> Result<TypeId, EncodeError> {
        self.add(Origin::Bitmask(description), |builder, writer| {
            writer.write_u8(TK_BITMASK);
            let whole = writer.begin_struct(Extensibility::Appendable);
            writer.write_u16(extensibility_flag(description.extensibility));
            let header = writer.begin_struct(Extensibility::Appendable);
            writer.write_u16(description.bit_bound);
            builder.write_detail(&description.name, writer)?;
            writer.end_struct(header)?;
            let mut flags: Vec<_> = description.flags.iter().collect();
            flags.sort_by_key(|flag| flag.position);
            let sequence = writer.begin_sequence(false);
            for flag in flags {
                let mark = writer.begin_struct(Extensibility::Appendable);
                writer.write_u16(flag.position);
                writer.write_u16(0);
                builder.write_name(&flag.name, None, writer)?;
                writer.end_struct(mark)?;
            }
            writer.end_sequence(sequence, description.flags.len())?;
            writer.end_struct(whole)
        })
    }

    fn add_union(&mut self, description: &'d UnionDescription) -> Result<TypeId, EncodeError> {
        self.add(Origin::Union(description), |builder, writer| {
            writer.write_u8(TK_UNION);
            let flags = set_of(&[(description.nested, IS_NESTED)]);
            writer.write_u16(extensibility_flag(description.extensibility) | flags);
            let header = writer.begin_struct(Extensibility::Appendable);
            builder.write_detail(&description.name, writer)?;
            writer.end_struct(header)?;
            let discriminator = writer.begin_struct(Extensibility::Appendable);
            let key = set_of(&[(description.discriminator_key, IS_KEY)]);
            writer.write_u16(TRY_CONSTRUCT_DISCARD | IS_MUST_UNDERSTAND | key);
            builder.write_identifier(&description.discriminator, writer)?;
            builder.write_annotations(None, writer)?;
            writer.end_struct(discriminator)?;
            let sequence = writer.begin_sequence(false);
            for case in description.cases.iter() {
                builder.write_case(case, writer)?;
            }
            writer.end_sequence(sequence, description.cases.len())
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
        writer.write_u16(member_flags(member));
        self.write_identifier(&member.ty, writer)?;
        self.write_name(&member.name, member.hash_id.as_deref(), writer)?;
        writer.end_struct(mark)
    }

    fn write_case(&mut self, case: &'d Case, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        let member = &case.member;
        let mark = writer.begin_struct(Extensibility::Appendable);
        writer.write_u32(member.id);
        writer.write_u16(member_flags(member) | set_of(&[(case.default, IS_DEFAULT)]));
        self.write_identifier(&member.ty, writer)?;
        let labels = writer.begin_sequence(true);
        case.labels
            .iter()
            .for_each(|label| writer.write_i32(*label));
        writer.end_sequence(labels, case.labels.len())?;
        self.write_name(&member.name, member.hash_id.as_deref(), writer)?;
        writer.end_struct(mark)
    }

    fn write_identifier(
        &mut self,
        ty: &'d Type,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        match ty {
            Type::Struct(description) => self.add_struct(description)?.write(writer),
            Type::Union(description) => self.add_union(description)?.write(writer),
            Type::Enum(description) => self.add_enum(description)?.write(writer),
            Type::Bitmask(description) => self.add_bitmask(description)?.write(writer),
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
            Type::Sequence { element, bound } => {
                let small = is_small(*bound);
                let kinds = (TI_PLAIN_SEQUENCE_SMALL, TI_PLAIN_SEQUENCE_LARGE);
                self.write_collection_header(kinds, small, refers(element), writer);
                write_bound(*bound, small, writer);
                self.write_identifier(element, writer)?;
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
                self.write_identifier(element, writer)?;
            }
            Type::Map { key, value, bound } => {
                let small = is_small(*bound);
                let kinds = (TI_PLAIN_MAP_SMALL, TI_PLAIN_MAP_LARGE);
                self.write_collection_header(kinds, small, refers(key) || refers(value), writer);
                write_bound(*bound, small, writer);
                self.write_identifier(value, writer)?;
                writer.write_u16(TRY_CONSTRUCT_DISCARD);
                self.write_identifier(key, writer)?;
            }
            primitive => writer.write_u8(primitive_kind(primitive)),
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
    fn write_name(
        &self,
        name: &str,
        hash_id: Option<&str>,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        if self.kind == EquivalenceKind::Minimal {
            name_hash(name)
                .iter()
                .for_each(|byte| writer.write_u8(*byte));
            return Ok(());
        }
        writer.write_string(name, 0)?;
        self.write_annotations(hash_id, writer)
    }

    /// Built-in annotations of a member, of which `@hashid` is told, and no others.
    fn write_annotations(
        &self,
        hash_id: Option<&str>,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        if self.kind == EquivalenceKind::Minimal {
            return Ok(());
        }
        writer.write_bool(hash_id.is_some());
        if let Some(hash_id) = hash_id {
            let builtin = writer.begin_struct(Extensibility::Appendable);
            // Neither unit nor minimum nor maximum.
            (0..3).for_each(|_| writer.write_bool(false));
            writer.write_bool(true);
            writer.write_string(hash_id, 0)?;
            writer.end_struct(builtin)?;
        }
        writer.write_bool(false);
        Ok(())
    }
}

/// Whether a type's identifier contains a hash.
fn refers(ty: &Type) -> bool {
    match ty {
        Type::Struct(_) | Type::Union(_) | Type::Enum(_) | Type::Bitmask(_) => true,
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

fn set_of(flags: &[(bool, u16)]) -> u16 {
    let set = flags.iter().filter(|(set, _)| *set);
    set.fold(0, |all, (_, flag)| all | flag)
}

fn member_flags(member: &Member) -> u16 {
    let flags = [
        (member.external, IS_EXTERNAL),
        (member.optional, IS_OPTIONAL),
        (member.must_understand || member.key, IS_MUST_UNDERSTAND),
        (member.key, IS_KEY),
    ];
    TRY_CONSTRUCT_DISCARD | set_of(&flags)
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
        Type::WChar => TK_CHAR16,
        _ => TK_NONE,
    }
}
