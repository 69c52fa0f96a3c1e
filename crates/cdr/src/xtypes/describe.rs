//! Complete type objects to descriptions.
//!
//! The objects are a peer's: every count is bounded by the bytes that hold it, references by the
//! number of objects, their depth and the total number of members by constants.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use super::*;
use crate::{
    ByteOrder, Encapsulation, EnumDescription, Extensibility, InvalidDescription, Literal, Member,
    Representation, Shared, Type,
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
    /// A minimal object has no names.
    Minimal(TypeId),
    /// An object's bytes are no type object.
    Malformed(TypeId, DecodeError),
    /// A struct breaks the rules of XTypes.
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
    complete: TypeId,
) -> Result<TypeDescription, DescribeError> {
    let members_left = MAX_MEMBERS;
    let mut resolver = Resolver {
        objects,
        known: BTreeMap::new(),
        open: Vec::new(),
        members_left,
    };
    match resolver.resolve(complete)? {
        Type::Struct(description) => Ok((*description).clone()),
        _ => Err(DescribeError::NotAStruct),
    }
}

struct Resolver<'o> {
    objects: &'o TypeObjects,
    known: BTreeMap<TypeId, Type>,
    /// Types that contain the one that is being resolved.
    open: Vec<TypeId>,
    members_left: usize,
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
        if let Some(ty) = self.known.get(&id) {
            return Ok(ty.clone());
        }
        if self.open.contains(&id) {
            return Err(DescribeError::Recursive(id));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(DescribeError::TooLarge);
        }
        if id.kind == EquivalenceKind::Minimal {
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
        let ty = ty?;
        self.known.insert(id, ty.clone());
        Ok(ty)
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
            TK_ENUM => Type::Enum(Shared::from(read_enum(reader)?)),
            TK_ALIAS => self.read_alias(reader)?,
            TK_SEQUENCE => self.read_sequence(reader)?,
            TK_ARRAY => self.read_array(reader)?,
            other => return Err(DescribeError::Unsupported(kind_name(other)).into()),
        };
        reader.end_struct(scope);
        Ok(ty)
    }

    fn read_struct(&mut self, reader: &mut Reader<'_>) -> Result<TypeDescription, Failure> {
        let extensibility = extensibility(reader.read_u16()?);
        let header = reader.begin_struct(Extensibility::Appendable)?;
        let mut members = match self.read_base(reader)? {
            Some(Type::Struct(base)) => base.members.to_vec(),
            Some(_) => return Err(DescribeError::NotAStruct.into()),
            None => Vec::new(),
        };
        let name = read_detail(reader)?;
        reader.end_struct(header);
        let elements = reader.begin_sequence(0, false, MIN_MEMBER)?;
        let total = elements.count + members.len();
        let left = self
            .members_left
            .checked_sub(total)
            .ok_or(DescribeError::TooLarge)?;
        self.members_left = left;
        for _ in 0..elements.count {
            members.push(self.read_member(reader)?);
        }
        reader.end_sequence(elements);
        Ok(TypeDescription::new(name, extensibility, members)?)
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

    fn read_member(&mut self, reader: &mut Reader<'_>) -> Result<Member, Failure> {
        let scope = reader.begin_struct(Extensibility::Appendable)?;
        let id = reader.read_u32()?;
        let flags = reader.read_u16()?;
        let ty = self.read_identifier(reader, 0)?;
        let name = reader.read_str(MAX_NAME)?;
        let member = Member {
            key: flags & IS_KEY != 0,
            optional: flags & IS_OPTIONAL != 0,
            must_understand: flags & IS_MUST_UNDERSTAND != 0,
            ..Member::new(name, id, ty)
        };
        reader.end_struct(scope);
        Ok(member)
    }

    fn read_alias(&mut self, reader: &mut Reader<'_>) -> Result<Type, Failure> {
        reader.read_u16()?;
        let header = reader.begin_struct(Extensibility::Appendable)?;
        reader.end_struct(header);
        let body = reader.begin_struct(Extensibility::Appendable)?;
        reader.read_u16()?;
        let ty = self.read_identifier(reader, 0)?;
        reader.end_struct(body);
        Ok(ty)
    }

    fn read_sequence(&mut self, reader: &mut Reader<'_>) -> Result<Type, Failure> {
        reader.read_u16()?;
        let header = reader.begin_struct(Extensibility::Appendable)?;
        let bound = reader.read_u32()?;
        reader.end_struct(header);
        let element = Shared::from(self.read_element(reader)?);
        Ok(Type::Sequence {
            element,
            bound: if bound == u32::MAX { 0 } else { bound },
        })
    }

    fn read_array(&mut self, reader: &mut Reader<'_>) -> Result<Type, Failure> {
        reader.read_u16()?;
        let header = reader.begin_struct(Extensibility::Appendable)?;
        let length = read_dimensions(reader, Reader::read_u32)?;
        reader.end_struct(header);
        let element = Shared::from(self.read_element(reader)?);
        Ok(Type::Array { element, length })
    }

    fn read_element(&mut self, reader: &mut Reader<'_>) -> Result<Type, Failure> {
        let scope = reader.begin_struct(Extensibility::Appendable)?;
        reader.read_u16()?;
        let ty = self.read_identifier(reader, 0)?;
        reader.end_struct(scope);
        Ok(ty)
    }

    /// The union `TypeIdentifier`. Plain collections contain their elements' identifiers.
    fn read_identifier(&mut self, reader: &mut Reader<'_>, depth: usize) -> Result<Type, Failure> {
        if depth > MAX_DEPTH {
            return Err(DescribeError::TooLarge.into());
        }
        let kind = reader.read_u8()?;
        let is_collection = (TI_PLAIN_SEQUENCE_SMALL..=TI_PLAIN_ARRAY_LARGE).contains(&kind);
        if is_collection {
            reader.read_u8()?;
            reader.read_u16()?;
        }
        let mut element =
            |reader: &mut Reader<'_>| self.read_identifier(reader, depth + 1).map(Shared::from);
        Ok(match kind {
            TI_STRING8_SMALL => Type::String {
                bound: reader.read_u8()?.into(),
            },
            TI_STRING8_LARGE => Type::String {
                bound: reader.read_u32()?,
            },
            TI_PLAIN_SEQUENCE_SMALL => {
                let bound = reader.read_u8()?.into();
                Type::Sequence {
                    bound,
                    element: element(reader)?,
                }
            }
            TI_PLAIN_SEQUENCE_LARGE => {
                let bound = reader.read_u32()?;
                Type::Sequence {
                    bound,
                    element: element(reader)?,
                }
            }
            TI_PLAIN_ARRAY_SMALL => {
                let length = read_dimensions(reader, |reader| reader.read_u8().map(u32::from))?;
                Type::Array {
                    length,
                    element: element(reader)?,
                }
            }
            TI_PLAIN_ARRAY_LARGE => {
                let length = read_dimensions(reader, Reader::read_u32)?;
                Type::Array {
                    length,
                    element: element(reader)?,
                }
            }
            EK_COMPLETE => {
                let id = TypeId::read_hash(EquivalenceKind::Complete, reader)?;
                self.resolve(id)?
            }
            EK_MINIMAL => {
                let id = TypeId::read_hash(EquivalenceKind::Minimal, reader)?;
                return Err(DescribeError::Minimal(id).into());
            }
            kind => primitive(kind).ok_or(DescribeError::Unsupported(kind_name(kind)))?,
        })
    }
}

fn read_enum(reader: &mut Reader<'_>) -> Result<EnumDescription, Failure> {
    let extensibility = extensibility(reader.read_u16()?);
    let header = reader.begin_struct(Extensibility::Appendable)?;
    let bit_bound = reader.read_u16()?;
    let name = read_detail(reader)?.into();
    reader.end_struct(header);
    let elements = reader.begin_sequence(0, false, MIN_MEMBER)?;
    let mut literals = Vec::with_capacity(elements.count);
    for _ in 0..elements.count {
        let scope = reader.begin_struct(Extensibility::Appendable)?;
        let common = reader.begin_struct(Extensibility::Appendable)?;
        let value = reader.read_i32()?;
        let flags = reader.read_u16()?;
        reader.end_struct(common);
        let literal = Literal {
            name: reader.read_str(MAX_NAME)?.into(),
            value,
        };
        reader.end_struct(scope);
        // Our descriptions have the default first.
        let at = if flags & IS_DEFAULT != 0 {
            0
        } else {
            literals.len()
        };
        literals.insert(at, literal);
    }
    reader.end_sequence(elements);
    Ok(EnumDescription {
        name,
        extensibility,
        bit_bound,
        literals: literals.into(),
    })
}

/// `CompleteTypeDetail`: annotations are skipped.
fn read_detail<'a>(reader: &mut Reader<'a>) -> Result<&'a str, DecodeError> {
    if reader.read_bool()? {
        let annotations = reader.begin_struct(Extensibility::Appendable)?;
        reader.end_struct(annotations);
    }
    if reader.read_bool()? {
        let annotations = reader.begin_sequence(0, false, 1)?;
        reader.end_sequence(annotations);
    }
    reader.read_str(MAX_NAME)
}

/// Arrays of several dimensions are encoded like arrays of one that is their product long.
fn read_dimensions<'a>(
    reader: &mut Reader<'a>,
    mut read: impl FnMut(&mut Reader<'a>) -> Result<u32, DecodeError>,
) -> Result<u32, Failure> {
    let dimensions = reader.begin_sequence(0, true, 1)?;
    let mut length = 1_u32;
    for _ in 0..dimensions.count {
        length = length
            .checked_mul(read(reader)?)
            .ok_or(DescribeError::TooLarge)?;
    }
    reader.end_sequence(dimensions);
    Ok(length)
}

fn extensibility(flags: u16) -> Extensibility {
    match flags & (IS_FINAL | IS_APPENDABLE | IS_MUTABLE) {
        IS_FINAL => Extensibility::Final,
        IS_MUTABLE => Extensibility::Mutable,
        _ => Extensibility::Appendable,
    }
}

fn primitive(kind: u8) -> Option<Type> {
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
        _ => return None,
    })
}

fn kind_name(kind: u8) -> &'static str {
    match kind {
        0x0b => "long double",
        0x11 => "wchar",
        0x72 | 0x73 => "wstring",
        0x41 => "bitmask",
        0x50 => "annotation",
        0x52 => "union",
        0x53 => "bitset",
        0x62 | 0xa0 | 0xa1 => "map",
        0xb0 => "recursive type",
        _ => "unknown kind of type",
    }
}

/// Structs, aliases and collections nest less than this. Descriptions can nest twice as deep:
/// [`crate::dynamic::MAX_DEPTH`] is above that.
const MAX_DEPTH: usize = 16;
/// Members of all structs of a type together.
const MAX_MEMBERS: usize = 4096;
/// Longest name in bytes (XTypes 1.3 §7.3.4.5).
const MAX_NAME: u32 = 256;
/// The fewest bytes of a member or a literal: length, id or value, flags, name.
const MIN_MEMBER: usize = 16;
