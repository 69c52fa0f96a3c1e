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
mod identifier;
mod layout;

use alloc::string::String;
use alloc::vec::Vec;

use cycles::{Subject, Vertex};

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
