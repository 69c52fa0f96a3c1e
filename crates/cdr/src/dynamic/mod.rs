//! Payloads of types that are known only at run time: followed value by value along a
//! [`TypeDescription`], without allocating.
//!
//! This module knows nothing of where a description comes from. To write such a payload, see
//! [`Writer`](crate::Writer) and [`encapsulated`](crate::encapsulated).

mod json;
mod key;

use alloc::format;
use alloc::string::String;
use core::fmt;

pub use json::to_json;
pub use key::{key_hash, key_payload};

use crate::{
    DecodeError, DecodeErrorKind, Extensibility, Literal, Member, Reader, SequenceScope, Type,
    TypeDescription, payload,
};

/// Which members a payload carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// All: a sample.
    Sample,
    /// The key members alone: a dispose or unregister.
    Key,
}

/// What is told about a payload, in the order of its bytes.
///
/// Members that are absent are not told.
pub trait Visitor {
    /// A struct begins: the payload itself, a member or an element.
    fn begin_struct(&mut self, description: &TypeDescription);
    /// Its members have all been told.
    fn end_struct(&mut self);
    /// The next value is that of a member of the innermost struct.
    fn member(&mut self, member: &Member);
    /// A sequence or an array begins.
    fn begin_sequence(&mut self, count: usize);
    /// Its elements have all been told.
    fn end_sequence(&mut self);
    /// A value that is neither struct nor sequence.
    fn value(&mut self, value: Value<'_>);
}

/// A value without parts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value<'a> {
    /// `boolean`
    Bool(bool),
    /// Any unsigned integer.
    Unsigned(u64),
    /// Any signed integer.
    Signed(i64),
    /// `float`
    F32(f32),
    /// `double`
    F64(f64),
    /// `char`
    Char(char),
    /// `string`, in the payload.
    Str(&'a str),
    /// A literal of an enumeration.
    Enum(&'a Literal),
}

/// Bytes are not a value of the described type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// What is wrong and where. Its `member` is empty.
    pub error: DecodeError,
    /// `Type.member` of the innermost member concerned; empty when the error is not in a member.
    pub member: String,
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        Self {
            error,
            member: String::new(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.member.as_str() {
            "" => self.error.fmt(f),
            member => write!(f, "{member}: {}", self.error),
        }
    }
}

impl core::error::Error for Error {}

/// Tells `visitor` what is in a payload.
pub fn visit(
    description: &TypeDescription,
    payload: &[u8],
    form: Form,
    visitor: &mut impl Visitor,
) -> Result<(), Error> {
    let mut reader = payload::reader(payload, description.extensibility)?;
    if form == Form::Key && !description.has_key() {
        return Ok(());
    }
    visit_struct(description, form, &mut reader, visitor, 0)
}

fn visit_struct(
    description: &TypeDescription,
    form: Form,
    reader: &mut Reader<'_>,
    visitor: &mut dyn Visitor,
    depth: usize,
) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(reader.error(DecodeErrorKind::TooDeep).into());
    }
    visitor.begin_struct(description);
    for_each_member(description, form, reader, &mut |member, reader| {
        visitor.member(member);
        visit_value(&member.ty, form, reader, visitor, depth + 1)
    })?;
    visitor.end_struct();
    Ok(())
}

fn visit_value(
    ty: &Type,
    form: Form,
    reader: &mut Reader<'_>,
    visitor: &mut dyn Visitor,
    depth: usize,
) -> Result<(), Error> {
    let value = match ty {
        Type::Struct(description) => {
            return visit_struct(description, form, reader, visitor, depth);
        }
        Type::Sequence { .. } | Type::Array { .. } => {
            let count = begin_elements(ty, &mut reader.clone())?.count;
            visitor.begin_sequence(count);
            for_each_element(ty, reader, &mut |element, reader| {
                visit_value(element, form, reader, visitor, depth + 1)
            })?;
            visitor.end_sequence();
            return Ok(());
        }
        Type::Bool => Value::Bool(reader.read_bool()?),
        Type::U8 | Type::Byte => Value::Unsigned(reader.read_u8()?.into()),
        Type::U16 => Value::Unsigned(reader.read_u16()?.into()),
        Type::U32 => Value::Unsigned(reader.read_u32()?.into()),
        Type::U64 => Value::Unsigned(reader.read_u64()?),
        Type::I8 => Value::Signed(reader.read_i8()?.into()),
        Type::I16 => Value::Signed(reader.read_i16()?.into()),
        Type::I32 => Value::Signed(reader.read_i32()?.into()),
        Type::I64 => Value::Signed(reader.read_i64()?),
        Type::F32 => Value::F32(reader.read_f32()?),
        Type::F64 => Value::F64(reader.read_f64()?),
        Type::Char => Value::Char(reader.read_u8()?.into()),
        Type::String { bound } => Value::Str(reader.read_str(*bound)?),
        Type::Enum(description) => {
            let value = reader.read_enum(description.size())?;
            let unknown = DecodeErrorKind::UnknownLiteral(value);
            let literal = description
                .literals
                .iter()
                .find(|literal| literal.value == value);
            Value::Enum(literal.ok_or_else(|| reader.error(unknown))?)
        }
    };
    visitor.value(value);
    Ok(())
}

/// Reads a sequence or an array; `each` must read an element.
fn for_each_element(
    ty: &Type,
    reader: &mut Reader<'_>,
    each: &mut dyn FnMut(&Type, &mut Reader<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let (Type::Sequence { element, .. } | Type::Array { element, .. }) = ty else {
        return Ok(());
    };
    let scope = begin_elements(ty, reader)?;
    for _ in 0..scope.count {
        each(element, reader)?;
    }
    reader.end_sequence(scope);
    Ok(())
}

/// Reads the frame of a sequence or an array; anything else has no elements.
fn begin_elements(ty: &Type, reader: &mut Reader<'_>) -> Result<SequenceScope, Error> {
    Ok(match ty {
        Type::Sequence { element, bound } => {
            reader.begin_sequence(*bound, element.is_primitive(), 1)?
        }
        Type::Array { element, length } => {
            let count = usize::try_from(*length).unwrap_or(usize::MAX);
            reader.begin_array(count, element.is_primitive())?
        }
        _ => reader.begin_array(0, true)?,
    })
}

/// Reads the frame of a struct; `each` reads a member that is present.
fn for_each_member(
    description: &TypeDescription,
    form: Form,
    reader: &mut Reader<'_>,
    each: &mut dyn FnMut(&Member, &mut Reader<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let all = form == Form::Sample || !description.has_key();
    let mut members = description
        .members
        .iter()
        .filter(|member| all || member.key);
    let mut named = |member: &Member, reader: &mut Reader<'_>| {
        each(member, reader).map_err(|error| error.within(description, member))
    };
    let scope = reader.begin_struct(description.extensibility)?;
    if description.extensibility == Extensibility::Mutable {
        while let Some(header) = reader.next_member(&scope)? {
            match description
                .members
                .iter()
                .find(|member| member.id == header.id)
            {
                Some(member) if all || member.key => named(member, reader)?,
                _ => reader.skip_unknown(&header)?,
            }
            reader.end_member(header);
        }
    } else {
        while let Some(member) = members.next().filter(|_| reader.has_member(&scope)) {
            if !member.optional {
                named(member, reader)?;
            } else if let Some(header) = reader.begin_optional(member.id)? {
                named(member, reader)?;
                reader.end_member(header);
            }
        }
    }
    reader.end_struct(scope);
    Ok(())
}

impl Error {
    fn within(self, description: &TypeDescription, member: &Member) -> Self {
        match self.member.is_empty() {
            true => Self {
                member: format!("{}.{}", &*description.name, &*member.name),
                ..self
            },
            false => self,
        }
    }
}

/// Descriptions nest less than this.
pub(crate) const MAX_DEPTH: usize = 64;
