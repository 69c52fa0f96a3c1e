//! Descriptions to type objects.
//!
//! ```text
//! TypeObject    = length, EK, TK, (struct | union | enum | bitmask | bitset | collection)
//! struct        = flags16, [length, base TypeIdentifier, (detail)], [length, count, member...]
//! member        = length, id32, flags16, TypeIdentifier, (name + annotations | name hash)
//! union         = flags16, [length, (detail)], [length, discriminator], [length, count, case...]
//! discriminator = flags16, TypeIdentifier, (annotations)
//! case          = length, id32, flags16, TypeIdentifier, count, label32..., (name + ... | name hash)
//! bitmask       = length, flags16, [length, bit bound16, (detail)], [length, count, flag...]
//! flag          = length, position16, flags16, (name + annotations | name hash)
//! bitset        = length, flags16, [length, (detail)], [length, count, field...]
//! field         = length, position16, flags16, bits8, TK, (name + annotations | name hash)
//! enum          = flags16, [length, bit bound16, (detail)], [length, count, literal...]
//! literal       = length, [length, value32, flags16], (name + annotations | name hash)
//! collection    = flags16, [length, bound32 | count, dimension32..., (detail?)], element...
//! element       = [length, flags16, TypeIdentifier, (annotations)]
//! detail        = built-in annotations?, custom annotations?, type name       (complete only)
//! ```

mod cycles;

use alloc::string::String;
use alloc::vec::Vec;

use cycles::{Subject, Vertex, collection_place, place};

use super::*;
use crate::{
    BitmaskDescription, BitsetDescription, Case, EnumDescription, Member, Representation, Shared,
    Type, UnionDescription,
};

/// Adds the minimal and the complete objects of a type.
pub(super) fn add(
    objects: &mut TypeObjects,
    description: &TypeDescription,
) -> Result<TypeInformation, EncodeError> {
    let root = Origin::Struct(Shared::from(description.clone()));
    let mut minimal = Builder::new(objects, EquivalenceKind::Minimal, &root);
    let minimal_id = minimal.add(&root)?;
    let minimal_types = minimal.done;
    let mut complete = Builder::new(objects, EquivalenceKind::Complete, &root);
    let complete_id = complete.add(&root)?;
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

fn with_dependencies(root: TypeId, types: &[Done]) -> TypeWithDependencies {
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

/// A type with a name, by which it is known when it is met again.
#[derive(Clone)]
enum Origin {
    Struct(Shared<TypeDescription>),
    Union(Shared<UnionDescription>),
    Enum(Shared<EnumDescription>),
    Bitmask(Shared<BitmaskDescription>),
    Bitset(Shared<BitsetDescription>),
}

impl Origin {
    /// Of a type that has a name; `None` of any other.
    fn of(ty: &Type) -> Option<Self> {
        Some(match ty {
            Type::Struct(description) => Self::Struct(description.clone()),
            Type::Union(description) => Self::Union(description.clone()),
            Type::Enum(description) => Self::Enum(description.clone()),
            Type::Bitmask(description) => Self::Bitmask(description.clone()),
            Type::Bitset(description) => Self::Bitset(description.clone()),
            _ => return None,
        })
    }

    fn name(&self) -> &str {
        match self {
            Self::Struct(description) => &description.name,
            Self::Union(description) => &description.name,
            Self::Enum(description) => &description.name,
            Self::Bitmask(description) => &description.name,
            Self::Bitset(description) => &description.name,
        }
    }

    /// Whether it is the same in memory, or a copy, which the root of all is.
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Struct(one), Self::Struct(other)) => is_one(one, other) || is_copy(one, other),
            (Self::Union(one), Self::Union(other)) => is_one(one, other),
            (Self::Enum(one), Self::Enum(other)) => is_one(one, other),
            (Self::Bitmask(one), Self::Bitmask(other)) => is_one(one, other),
            (Self::Bitset(one), Self::Bitset(other)) => is_one(one, other),
            _ => false,
        }
    }
}

fn is_one<T>(one: &Shared<T>, other: &Shared<T>) -> bool {
    core::ptr::eq(&raw const **one, &raw const **other)
}

fn is_copy(one: &TypeDescription, other: &TypeDescription) -> bool {
    !one.name.is_empty() && one == other
}

struct Done {
    /// None for a collection in a circle of types.
    origin: Option<Origin>,
    id: TypeId,
    size: u32,
}

struct Builder<'o> {
    objects: &'o mut TypeObjects,
    kind: EquivalenceKind,
    done: Vec<Done>,
    /// Circles of types that no identifiers have been made for.
    components: Vec<Vec<Vertex>>,
    /// Identifiers of types in the others, by their names.
    assigned: Vec<(String, TypeId)>,
}

impl<'o> Builder<'o> {
    fn new(objects: &'o mut TypeObjects, kind: EquivalenceKind, root: &Origin) -> Self {
        Self {
            objects,
            kind,
            done: Vec::new(),
            components: cycles::components(root),
            assigned: Vec::new(),
        }
    }

    /// Adds the object of a type and those that it needs.
    fn add(&mut self, origin: &Origin) -> Result<TypeId, EncodeError> {
        let done = self.done.iter();
        let mut done = done.filter(|done| done.origin.as_ref().is_some_and(|o| o.same(origin)));
        if let Some(done) = done.next() {
            return Ok(done.id);
        }
        if matches!(origin, Origin::Struct(_) | Origin::Union(_))
            && let Some(id) = self.assigned(origin.name())
        {
            return Ok(id);
        }
        let is_here = |vertex: &Vertex| match &vertex.subject {
            Subject::Named(other) => other.same(origin),
            Subject::Collection(_) => false,
        };
        let component = self
            .components
            .iter()
            .position(|component| component.iter().any(is_here));
        if let Some(component) = component {
            let component = self.components.swap_remove(component);
            self.add_component(&component)?;
            return self.add(origin);
        }
        let object = self.object(&Subject::Named(origin.clone()), origin.name())?;
        let id = TypeId::of(self.kind, &object);
        self.keep(Some(origin.clone()), id, object);
        Ok(id)
    }

    fn keep(&mut self, origin: Option<Origin>, id: TypeId, object: Vec<u8>) {
        let size = u32::try_from(object.len()).unwrap_or(u32::MAX);
        self.objects.objects.insert(id, object);
        self.done.push(Done { origin, id, size });
    }

    fn assigned(&self, name: &str) -> Option<TypeId> {
        let assigned = self.assigned.iter().find(|(other, _)| other == name);
        assigned.map(|(_, id)| *id)
    }

    /// Adds the objects of types that contain each other. Their identifiers have a hash over all
    /// objects, in which these identifiers have zeros for the hash (XTypes 1.3 §7.3.4.9.2).
    fn add_component(&mut self, component: &[Vertex]) -> Result<(), EncodeError> {
        let hash = [0; 14];
        let before = self.assigned.len();
        for (index, vertex) in component.iter().enumerate() {
            let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            let id = TypeId {
                kind: self.kind,
                hash,
                component: Some(Component {
                    length: count(component.len()),
                    index: count(index + 1),
                }),
            };
            self.assigned.push((vertex.name.clone(), id));
        }
        let mut objects = Vec::new();
        for vertex in component {
            objects.push(self.object(&vertex.subject, &vertex.name)?);
        }
        let hash = component_hash(self.kind, objects.iter().map(Vec::as_slice))?;
        for (_, id) in self.assigned.iter_mut().skip(before) {
            id.hash = hash;
        }
        for (at, vertex) in component.iter().enumerate() {
            let object = self.object(&vertex.subject, &vertex.name)?;
            let origin = match &vertex.subject {
                Subject::Named(origin) => Some(origin.clone()),
                Subject::Collection(_) => None,
            };
            if let Some((_, id)) = self.assigned.get(before + at) {
                self.keep(origin, *id, object);
            }
        }
        Ok(())
    }

    /// The bytes of an object; its type is called so.
    fn object(&mut self, subject: &Subject, name: &str) -> Result<Vec<u8>, EncodeError> {
        let mut object = Vec::new();
        let mut writer = Writer::new(&mut object, Representation::Xcdr2);
        let whole = writer.begin_struct(Extensibility::Appendable);
        writer.write_u8(self.kind.discriminator());
        match subject {
            Subject::Named(Origin::Struct(description)) => {
                self.write_struct(description, &mut writer)?;
            }
            Subject::Named(Origin::Union(description)) => {
                self.write_union(description, &mut writer)?;
            }
            Subject::Named(Origin::Enum(description)) => {
                self.write_enum(description, &mut writer)?
            }
            Subject::Named(Origin::Bitmask(description)) => {
                self.write_bitmask(description, &mut writer)?;
            }
            Subject::Named(Origin::Bitset(description)) => {
                self.write_bitset(description, &mut writer)?;
            }
            Subject::Collection(ty) => self.write_collection(ty, name, &mut writer)?,
        }
        writer.end_struct(whole)?;
        Ok(object)
    }

    fn write_struct(
        &mut self,
        description: &TypeDescription,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        writer.write_u8(TK_STRUCTURE);
        let flags = [
            (description.nested, IS_NESTED),
            (description.hash_ids, IS_AUTOID_HASH),
        ];
        writer.write_u16(extensibility_flag(description.extensibility) | set_of(&flags));
        let header = writer.begin_struct(Extensibility::Appendable);
        writer.write_u8(TK_NONE);
        self.write_detail(&description.name, writer)?;
        writer.end_struct(header)?;
        let sequence = writer.begin_sequence(false);
        for member in description.members.iter() {
            self.write_member(&description.name, member, writer)?;
        }
        writer.end_sequence(sequence, description.members.len())
    }

    fn write_enum(
        &mut self,
        description: &EnumDescription,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        writer.write_u8(TK_ENUM);
        writer.write_u16(extensibility_flag(description.extensibility));
        let header = writer.begin_struct(Extensibility::Appendable);
        writer.write_u16(description.bit_bound);
        self.write_detail(&description.name, writer)?;
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
            self.write_name(&literal.name, None, writer)?;
            writer.end_struct(whole)?;
        }
        writer.end_sequence(sequence, description.literals.len())
    }

    fn write_bitmask(
        &mut self,
        description: &BitmaskDescription,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        writer.write_u8(TK_BITMASK);
        let whole = writer.begin_struct(Extensibility::Appendable);
        writer.write_u16(extensibility_flag(description.extensibility));
        let header = writer.begin_struct(Extensibility::Appendable);
        writer.write_u16(description.bit_bound);
        self.write_detail(&description.name, writer)?;
        writer.end_struct(header)?;
        let mut flags: Vec<_> = description.flags.iter().collect();
        flags.sort_by_key(|flag| flag.position);
        let sequence = writer.begin_sequence(false);
        for flag in flags {
            let mark = writer.begin_struct(Extensibility::Appendable);
            writer.write_u16(flag.position);
            writer.write_u16(0);
            self.write_name(&flag.name, None, writer)?;
            writer.end_struct(mark)?;
        }
        writer.end_sequence(sequence, description.flags.len())?;
        writer.end_struct(whole)
    }

    fn write_bitset(
        &mut self,
        description: &BitsetDescription,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        writer.write_u8(TK_BITSET);
        let whole = writer.begin_struct(Extensibility::Appendable);
        writer.write_u16(0);
        let header = writer.begin_struct(Extensibility::Appendable);
        self.write_detail(&description.name, writer)?;
        writer.end_struct(header)?;
        let sequence = writer.begin_sequence(false);
        for field in description.fields.iter() {
            let mark = writer.begin_struct(Extensibility::Appendable);
            writer.write_u16(field.position);
            writer.write_u16(0);
            writer.write_u8(field.bits);
            writer.write_u8(primitive_kind(&field.ty));
            self.write_name(&field.name, None, writer)?;
            writer.end_struct(mark)?;
        }
        writer.end_sequence(sequence, description.fields.len())?;
        writer.end_struct(whole)
    }

    fn write_union(
        &mut self,
        description: &UnionDescription,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        writer.write_u8(TK_UNION);
        let flags = set_of(&[(description.nested, IS_NESTED)]);
        writer.write_u16(extensibility_flag(description.extensibility) | flags);
        let header = writer.begin_struct(Extensibility::Appendable);
        self.write_detail(&description.name, writer)?;
        writer.end_struct(header)?;
        let discriminator = writer.begin_struct(Extensibility::Appendable);
        let key = set_of(&[(description.discriminator_key, IS_KEY)]);
        writer.write_u16(TRY_CONSTRUCT_DISCARD | IS_MUST_UNDERSTAND | key);
        self.write_identifier(&description.discriminator, "", writer)?;
        self.write_annotations(None, writer)?;
        writer.end_struct(discriminator)?;
        let sequence = writer.begin_sequence(false);
        for case in description.cases.iter() {
            self.write_case(&description.name, case, writer)?;
        }
        writer.end_sequence(sequence, description.cases.len())
    }

    fn write_member(
        &mut self,
        of: &str,
        member: &Member,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        let mark = writer.begin_struct(Extensibility::Appendable);
        writer.write_u32(member.id);
        writer.write_u16(member_flags(member));
        self.write_identifier(&member.ty, &place(of, member.id), writer)?;
        self.write_name(&member.name, member.hash_id.as_deref(), writer)?;
        writer.end_struct(mark)
    }

    fn write_case(
        &mut self,
        of: &str,
        case: &Case,
        writer: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        let member = &case.member;
        let mark = writer.begin_struct(Extensibility::Appendable);
        writer.write_u32(member.id);
        writer.write_u16(member_flags(member) | set_of(&[(case.default, IS_DEFAULT)]));
        self.write_identifier(&member.ty, &place(of, member.id), writer)?;
        let labels = writer.begin_sequence(true);
        case.labels
            .iter()
            .for_each(|label| writer.write_i32(*label));
        writer.end_sequence(labels, case.labels.len())?;
        self.write_name(&member.name, member.hash_id.as_deref(), writer)?;
        writer.end_struct(mark)
    }

    /// The identifier of a type in that place.
    fn write_identifier(
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
    fn write_collection(
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

/// The hash of a circle of types: of the sequence of their objects.
pub(super) fn component_hash<'b>(
    kind: EquivalenceKind,
    objects: impl ExactSizeIterator<Item = &'b [u8]>,
) -> Result<[u8; 14], EncodeError> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, Representation::Xcdr2);
    let sequence = writer.begin_sequence(false);
    let count = objects.len();
    // Each begins with its length, and is aligned as that is.
    objects.for_each(|object| writer.write_delimited(object));
    writer.end_sequence(sequence, count)?;
    Ok(TypeId::of(kind, &bytes).hash)
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
