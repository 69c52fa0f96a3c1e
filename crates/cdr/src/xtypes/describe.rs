//! Type objects to descriptions.
//!
//! The objects are a peer's: every count is bounded by the bytes that hold it, references by the
//! number of objects, their depth, the total number of members, and what is read anew at each
//! reference by constants.

mod bitset;
mod component;
mod details;
mod identifier;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use component::Tying;
use details::{read_annotations, read_detail, read_name};

use super::*;
use crate::{
    BitmaskDescription, ByteOrder, Case, Encapsulation, EnumDescription, Extensibility, Flag,
    InvalidDescription, Literal, Member, Representation, Shared, TryConstruct, Type,
    UnionDescription,
};

/// Why type objects do not give a description.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DescribeError {
    /// This object is not known: to be asked for.
    Missing(TypeId),
    /// A kind of type that this crate does not encode, by its name in IDL.
    Unsupported(&'static str),
    /// The type contains itself.
    Recursive(TypeId),
    /// Types nest deeper, or have more members, than this crate allows.
    TooLarge,
    /// The type itself is no struct.
    NotAStruct,
    /// A complete object refers to this minimal one, which has no names.
    Minimal(TypeId),
    /// An object's bytes are no type object.
    Malformed(TypeId, DecodeError),
    /// A struct or a union breaks the rules of XTypes.
    Invalid(InvalidDescription),
}

impl fmt::Display for DescribeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(id) => write!(f, "type object {id:?} is not known"),
            Self::Unsupported(kind) => write!(f, "{kind} is not supported"),
            Self::Recursive(id) => write!(f, "type {id:?} contains itself"),
            Self::TooLarge => f.write_str("the type is too large"),
            Self::NotAStruct => f.write_str("the type is no struct"),
            Self::Minimal(id) => write!(f, "type object {id:?} has no names"),
            Self::Malformed(id, error) => write!(f, "type object {id:?}: {error}"),
            Self::Invalid(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for DescribeError {}

pub(super) fn describe(
    objects: &TypeObjects,
    id: TypeId,
) -> Result<TypeDescription, DescribeError> {
    let mut resolver = Resolver {
        objects,
        kind: id.kind,
        known: BTreeMap::new(),
        open: Vec::new(),
        tying: Vec::new(),
        members_left: MAX_MEMBERS,
        repeated_left: MAX_REPEATED,
        weight: 0,
    };
    match resolver.resolve(id)? {
        Type::Struct(description) => {
            let mut whole = (*description).clone();
            if let Shared::Knotted(..) = description {
                // The copy is outside of the circle, and keeps it.
                let members = whole.members.iter().map(|member| Member {
                    ty: member.ty.owning(),
                    ..member.clone()
                });
                whole.members = Shared::from(members.collect::<Vec<_>>());
            }
            Ok(whole)
        }
        _ => Err(DescribeError::NotAStruct),
    }
}

struct Resolver<'o> {
    objects: &'o TypeObjects,
    /// Of the objects: complete ones do not refer to minimal ones, nor the other way round.
    kind: EquivalenceKind,
    /// What was resolved, and how many members that has, those of its members counted in.
    known: BTreeMap<TypeId, (Type, usize)>,
    /// Types that contain the one that is being resolved.
    open: Vec<TypeId>,
    /// Circles of types that contain the one that is being resolved.
    tying: Vec<Tying>,
    members_left: usize,
    /// Bytes of objects that may still be read more than once.
    repeated_left: usize,
    /// Members and collections met so far in the type that is being resolved.
    weight: usize,
}

/// What went wrong in an object: its bytes, or what it refers to.
enum Failure {
    Bytes(DecodeError),
    Other(DescribeError),
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        Self::Bytes(error)
    }
}

impl From<DescribeError> for Failure {
    fn from(error: DescribeError) -> Self {
        Self::Other(error)
    }
}

impl From<InvalidDescription> for Failure {
    fn from(error: InvalidDescription) -> Self {
        Self::Other(DescribeError::Invalid(error))
    }
}

impl Resolver<'_> {
    fn resolve(&mut self, id: TypeId) -> Result<Type, DescribeError> {
        let outer = self.weight;
        if !self.known.contains_key(&id) {
            self.weight = 0;
            let ty = match id.component {
                Some(component) => self.resolve_component(id, component)?,
                None => self.resolve_new(id)?,
            };
            // References belong to the circle in which they stand.
            if self.tying.iter().any(|tying| tying.contains(id)) {
                self.weight = self.weight.saturating_add(outer);
                return Ok(ty);
            }
            self.known.insert(id, (ty, self.weight));
        }
        let (ty, weight) = self.known.get(&id).ok_or(DescribeError::Missing(id))?;
        // Types refer to each other without repetition; who follows them all would repeat.
        self.weight = outer.saturating_add(*weight);
        match self.weight {
            0..=MAX_WEIGHT => Ok(ty.clone()),
            _ => Err(DescribeError::TooLarge),
        }
    }

    fn resolve_new(&mut self, id: TypeId) -> Result<Type, DescribeError> {
        if self.open.contains(&id) {
            return Err(DescribeError::Recursive(id));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(DescribeError::TooLarge);
        }
        if id.kind != self.kind {
            return Err(DescribeError::Minimal(id));
        }
        let objects = self.objects;
        let object = objects.get(id).ok_or(DescribeError::Missing(id))?;
        self.open.push(id);
        let ty = self.read_object(object).map_err(|failure| match failure {
            Failure::Bytes(error) => DescribeError::Malformed(id, error),
            Failure::Other(error) => error,
        });
        self.open.pop();
        ty
    }

    fn read_object(&mut self, object: &[u8]) -> Result<Type, Failure> {
        let encapsulation = Encapsulation {
            representation: Representation::Xcdr2,
            order: ByteOrder::Little,
            extensibility: Extensibility::Appendable,
        };
        let mut reader = Reader::new(object, encapsulation);
        let reader = &mut reader;
        let scope = reader.begin_struct(Extensibility::Appendable)?;
        // The kind of equivalence, which the identifier has told.
        reader.read_u8()?;
        let ty = match reader.read_u8()? {
            TK_STRUCTURE => Type::Struct(Shared::from(self.read_struct(reader)?)),
            TK_UNION => Type::Union(Shared::from(self.read_union(reader)?)),
            TK_ENUM => Type::Enum(Shared::from(self.read_enum(reader)?)),
            TK_BITMASK => Type::Bitmask(Shared::from(self.read_bitmask(reader)?)),
            TK_BITSET => Type::Bitset(Shared::from(self.read_bitset(reader)?)),
            TK_ALIAS => self.read_alias(reader)?,
            TK_SEQUENCE => self.read_sequence(reader)?,
            TK_ARRAY => self.read_array(reader)?,
            TK_MAP => self.read_map(reader)?,
            other => return Err(DescribeError::Unsupported(kind_name(other)).into()),
        };
        reader.end_struct(scope);
        Ok(ty)
    }

    fn read_struct(&mut self, reader: &mut Reader<'_>) -> Result<TypeDescription, Failure> {
        let flags = reader.read_u16()?;
        let header = reader.begin_struct(Extensibility::Appendable)?;
        let mut members = match self.read_base(reader)? {
            Some(Type::Struct(base)) => base.members.to_vec(),
            Some(_) => return Err(DescribeError::NotAStruct.into()),
            None => Vec::new(),
        };
        let name = read_detail(self.kind, reader)?;
        reader.end_struct(header);
        let elements = reader.begin_sequence(0, false, MIN_MEMBER)?;
        self.charge(elements.count + members.len())?;
        for _ in 0..elements.count {
            let scope = reader.begin_struct(Extensibility::Appendable)?;
            let (member, _) = self.read_member(reader, |_| Ok(()))?;
            members.push(member);
            reader.end_struct(scope);
        }
        reader.end_sequence(elements);
        Ok(TypeDescription {
            nested: flags & IS_NESTED != 0,
            hash_ids: flags & IS_AUTOID_HASH != 0,
            ..TypeDescription::new(name, extensibility(flags), members)?
        })
    }

    fn read_union(&mut self, reader: &mut Reader<'_>) -> Result<UnionDescription, Failure> {
        let flags = reader.read_u16()?;
        let header = reader.begin_struct(Extensibility::Appendable)?;
        let name = read_detail(self.kind, reader)?;
        reader.end_struct(header);
        let member = reader.begin_struct(Extensibility::Appendable)?;
        let discriminator_flags = reader.read_u16()?;
        let discriminator = self.read_identifier(reader, 0)?;
        reader.end_struct(member);
        let elements = reader.begin_sequence(0, false, MIN_MEMBER)?;
        self.charge(elements.count)?;
        let mut cases = Vec::with_capacity(elements.count);
        for _ in 0..elements.count {
            let scope = reader.begin_struct(Extensibility::Appendable)?;
            let mut labels = Vec::new();
            let (member, flags) = self.read_member(reader, |reader| {
                let sequence = reader.begin_sequence(0, true, size_of::<i32>())?;
                for _ in 0..sequence.count {
                    labels.push(reader.read_i32()?);
                }
                reader.end_sequence(sequence);
                Ok(())
            })?;
            cases.push(Case {
                member,
                labels: labels.into(),
                default: flags & IS_DEFAULT != 0,
            });
            reader.end_struct(scope);
        }
        reader.end_sequence(elements);
        Ok(UnionDescription {
            nested: flags & IS_NESTED != 0,
            discriminator_key: discriminator_flags & IS_KEY != 0,
            ..UnionDescription::new(name, extensibility(flags), discriminator, cases)?
        })
    }

    /// Takes members from what the whole type may have.
    fn charge(&mut self, members: usize) -> Result<(), DescribeError> {
        let left = self.members_left.checked_sub(members);
        self.members_left = left.ok_or(DescribeError::TooLarge)?;
        self.weight = self.weight.saturating_add(members);
        Ok(())
    }

    /// The identifier of the base type, which a struct without one says is of no kind.
    fn read_base(&mut self, reader: &mut Reader<'_>) -> Result<Option<Type>, Failure> {
        match reader.clone().read_u8()? {
            TK_NONE => {
                reader.read_u8()?;
                Ok(None)
            }
            _ => self.read_identifier(reader, 0).map(Some),
        }
    }

    /// A member of a struct or a union, and its flags; `labels` reads what only unions have.
    fn read_member(
        &mut self,
        reader: &mut Reader<'_>,
        labels: impl FnOnce(&mut Reader<'_>) -> Result<(), DecodeError>,
    ) -> Result<(Member, u16), Failure> {
        let id = reader.read_u32()?;
        let flags = reader.read_u16()?;
        let ty = self.read_identifier(reader, 0)?;
        labels(reader)?;
        let name = read_name(self.kind, reader)?;
        let key = flags & IS_KEY != 0;
        let member = Member {
            key,
            optional: flags & IS_OPTIONAL != 0,
            must_understand: flags & IS_MUST_UNDERSTAND != 0 && !key,
            external: flags & IS_EXTERNAL != 0,
            hash_id: read_annotations(self.kind, reader)?,
            try_construct: match flags & TRY_CONSTRUCT_TRIM {
                // Another one would be another instance's.
                _ if key => TryConstruct::Discard,
                TRY_CONSTRUCT_USE_DEFAULT => TryConstruct::UseDefault,
                TRY_CONSTRUCT_TRIM => TryConstruct::Trim,
                // Cyclone DDS 0.9 says none of them.
                _ => TryConstruct::Discard,
            },
            ..Member::new(&name, id, ty)
        };
        Ok((member, flags))
    }

    fn read_enum(&mut self, reader: &mut Reader<'_>) -> Result<EnumDescription, Failure> {
        let extensibility = extensibility(reader.read_u16()?);
        let header = reader.begin_struct(Extensibility::Appendable)?;
        let bit_bound = reader.read_u16()?;
        let name = read_detail(self.kind, reader)?.into();
        reader.end_struct(header);
        let elements = reader.begin_sequence(0, false, MIN_LITERAL)?;
        let mut literals = Vec::with_capacity(elements.count);
        let mut default = 0;
        for index in 0..elements.count {
            let scope = reader.begin_struct(Extensibility::Appendable)?;
            let common = reader.begin_struct(Extensibility::Appendable)?;
            let value = reader.read_i32()?;
            if reader.read_u16()? & IS_DEFAULT != 0 {
                default = index;
            }
            reader.end_struct(common);
            literals.push(Literal {
                name: (&*read_name(self.kind, reader)?).into(),
                value,
            });
            reader.end_struct(scope);
        }
        reader.end_sequence(elements);
        // Our descriptions have the default first.
        if let Some(up_to_default) = literals.get_mut(..=default) {
            up_to_default.rotate_right(1);
        }
        let description = EnumDescription {
            name,
            extensibility,
            bit_bound,
            literals: literals.into(),
        };
        description.check()?;
        Ok(description)
    }

    fn read_bitmask(&mut self, reader: &mut Reader<'_>) -> Result<BitmaskDescription, Failure> {
        let whole = reader.begin_struct(Extensibility::Appendable)?;
        let extensibility = extensibility(reader.read_u16()?);
        let header = reader.begin_struct(Extensibility::Appendable)?;
        let bit_bound = reader.read_u16()?;
        let name = read_detail(self.kind, reader)?.into();
        reader.end_struct(header);
        let elements = reader.begin_sequence(0, false, MIN_LITERAL)?;
        let mut flags = Vec::with_capacity(elements.count);
        for _ in 0..elements.count {
            let scope = reader.begin_struct(Extensibility::Appendable)?;
            let position = reader.read_u16()?;
            reader.read_u16()?;
            flags.push(Flag {
                name: (&*read_name(self.kind, reader)?).into(),
                position,
            });
            reader.end_struct(scope);
        }
        reader.end_sequence(elements);
        reader.end_struct(whole);
        let description = BitmaskDescription {
            name,
            extensibility,
            bit_bound,
            flags: flags.into(),
        };
        description.check()?;
        Ok(description)
    }
}

fn extensibility(flags: u16) -> Extensibility {
    match flags & (IS_FINAL | IS_APPENDABLE | IS_MUTABLE) {
        IS_FINAL => Extensibility::Final,
        IS_MUTABLE => Extensibility::Mutable,
        _ => Extensibility::Appendable,
    }
}

fn kind_name(kind: u8) -> &'static str {
    match kind {
        0x0b => "long double",
        0x50 => "annotation",
        _ => "unknown kind of type",
    }
}

/// Structs, aliases and collections nest less than this.
const MAX_DEPTH: usize = 16;
/// Members of all structs and unions of a type together.
const MAX_MEMBERS: usize = 4096;
/// Members and collections, those of a type counted as often as it is referred to.
const MAX_WEIGHT: usize = 1 << 16;
/// Bytes of the objects of collections in circles, which are read at each reference.
const MAX_REPEATED: usize = 1 << 20;
/// The fewest bytes of a member: length, id, flags, identifier, hash of the name.
const MIN_MEMBER: usize = 12;
/// The fewest bytes of a literal or a flag: length, position, flags, hash of the name.
const MIN_LITERAL: usize = 12;
