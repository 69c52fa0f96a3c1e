//! Payloads of types that are known only at run time: followed value by value along a
//! [`TypeDescription`], without allocating, and written from [`Data`] or JSON.
//!
//! This module knows nothing of where a description comes from. A program that writes many samples
//! of such a type does so with less effort by [`Writer`](crate::Writer) and
//! [`encapsulated`](crate::encapsulated).

mod data;
mod json;
mod key;
mod visitor;
mod walk;
mod write;

use alloc::format;
use alloc::string::String;
use core::fmt;

pub use data::{Data, JsonError};
pub use json::to_json;
pub use key::{key_hash, key_payload, mended_key};
pub use visitor::{Value, Visitor};
pub use write::{DataError, FromJsonError, Omissions, Problem, from_json, write};

use visitor::Nobody;
use walk::{Elements, Part, for_each_member, for_each_part};

use crate::trim::{trimmed, wide_trimmed};
use crate::{
    DecodeError, DecodeErrorKind, Member, Reader, TryConstruct, Type, TypeDescription,
    UnionDescription, payload,
};

/// Which members a payload carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// All: a sample.
    Sample,
    /// The key members alone: a dispose or unregister.
    Key,
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
        visit_member(member, form, reader, visitor, depth + 1)
    })?;
    visitor.end_struct();
    Ok(())
}

fn visit_union(
    description: &UnionDescription,
    form: Form,
    reader: &mut Reader<'_>,
    visitor: &mut dyn Visitor,
    depth: usize,
) -> Result<(), Error> {
    visitor.begin_union(description);
    for_each_part(description, form, reader, &mut |part, reader| match part {
        Part::Discriminator(ty) => visit_value(ty, form, reader, visitor, depth + 1),
        Part::Member(case) => visit_member(&case.member, form, reader, visitor, depth + 1),
    })?;
    visitor.end_union();
    Ok(())
}

/// Tells a member, if its type can hold what there is, or what of it is kept ([`TryConstruct`]).
fn visit_member(
    member: &Member,
    form: Form,
    reader: &mut Reader<'_>,
    visitor: &mut dyn Visitor,
    depth: usize,
) -> Result<(), Error> {
    if member.try_construct == TryConstruct::UseDefault {
        // It is known at its end. Within what is tried nobody is told anything, so that each byte is tried once for each
        // member around it at most.
        let mut trial = reader.clone();
        let tried = trial.begin_try();
        visit_value(&member.ty, form, &mut trial, &mut Nobody, depth)?;
        if trial.end_try(tried) || reader.is_trying() {
            *reader = trial;
            return Ok(());
        }
    }
    visitor.member(member);
    match member.try_construct {
        TryConstruct::Trim => visit_trimmed(&member.ty, form, reader, visitor, depth),
        TryConstruct::Discard | TryConstruct::UseDefault => {
            visit_value(&member.ty, form, reader, visitor, depth)
        }
    }
}

/// Tells as much of a text, sequence or map as its bound allows, and passes over the rest.
fn visit_trimmed(
    ty: &Type,
    form: Form,
    reader: &mut Reader<'_>,
    visitor: &mut dyn Visitor,
    depth: usize,
) -> Result<(), Error> {
    let limit = |bound: u32| usize::try_from(bound).unwrap_or(usize::MAX);
    match ty {
        Type::String { bound: 1.. } | Type::WString { bound: 1.. } => {
            let mut text = String::new();
            match ty {
                Type::String { bound } => text.push_str(trimmed(reader.read_str(0)?, *bound)),
                Type::WString { bound } => {
                    reader.read_wstring_into(0, &mut text)?;
                    text.truncate(wide_trimmed(&text, *bound).len());
                }
                _ => {}
            }
            visitor.value(Value::Str(&text));
        }
        Type::Sequence {
            element,
            bound: bound @ 1..,
        } => {
            let scope = reader.begin_sequence(0, element.is_primitive(), 1)?;
            let kept = scope.count.min(limit(*bound));
            visitor.begin_sequence(kept);
            for _ in 0..kept {
                visit_value(element, form, reader, visitor, depth + 1)?;
            }
            visitor.end_sequence();
            for _ in kept..scope.count {
                visit_value(element, form, reader, &mut Nobody, depth + 1)?;
            }
            reader.end_sequence(scope);
        }
        Type::Map {
            key,
            value,
            bound: bound @ 1..,
        } => {
            let primitive = key.is_primitive() && value.is_primitive();
            let scope = reader.begin_sequence(0, primitive, 2)?;
            let kept = scope.count.min(limit(*bound));
            visitor.begin_map(kept);
            for _ in 0..kept {
                visitor.map_key();
                visit_value(key, form, reader, visitor, depth + 1)?;
                visit_value(value, form, reader, visitor, depth + 1)?;
            }
            visitor.end_map();
            for _ in kept..scope.count {
                visit_value(key, form, reader, &mut Nobody, depth + 1)?;
                visit_value(value, form, reader, &mut Nobody, depth + 1)?;
            }
            reader.end_sequence(scope);
        }
        _ => visit_value(ty, form, reader, visitor, depth)?,
    }
    Ok(())
}

fn visit_value(
    ty: &Type,
    form: Form,
    reader: &mut Reader<'_>,
    visitor: &mut dyn Visitor,
    depth: usize,
) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(reader.error(DecodeErrorKind::TooDeep).into());
    }
    match ty {
        Type::Struct(description) => visit_struct(description, form, reader, visitor, depth),
        Type::Union(description) => visit_union(description, form, reader, visitor, depth),
        Type::Recursive(link) => match link.target() {
            Some(target) => visit_value(&target, form, reader, visitor, depth),
            None => Err(reader.error(DecodeErrorKind::TooDeep).into()),
        },
        _ => match Elements::of(ty) {
            Some(elements) => visit_elements(ty, &elements, form, reader, visitor, depth + 1),
            None => visit_scalar(ty, reader, visitor),
        },
    }
}

fn visit_elements(
    ty: &Type,
    elements: &Elements<'_>,
    form: Form,
    reader: &mut Reader<'_>,
    visitor: &mut dyn Visitor,
    depth: usize,
) -> Result<(), Error> {
    let scope = elements.begin(reader)?;
    match elements.value {
        None if !elements.counted => visit_array(ty, form, reader, visitor, depth)?,
        None => {
            visitor.begin_sequence(scope.count);
            for _ in 0..scope.count {
                visit_value(elements.element, form, reader, visitor, depth)?;
            }
            visitor.end_sequence();
        }
        Some(value) => {
            visitor.begin_map(scope.count);
            for _ in 0..scope.count {
                visitor.map_key();
                visit_value(elements.element, form, reader, visitor, depth)?;
                visit_value(value, form, reader, visitor, depth)?;
            }
            visitor.end_map();
        }
    }
    reader.end_sequence(scope);
    Ok(())
}

/// Tells an array dimension by dimension, though it has one frame.
fn visit_array(
    ty: &Type,
    form: Form,
    reader: &mut Reader<'_>,
    visitor: &mut dyn Visitor,
    depth: usize,
) -> Result<(), Error> {
    let Type::Array { element, length } = ty else {
        return visit_value(ty, form, reader, visitor, depth);
    };
    if depth > MAX_DEPTH {
        return Err(reader.error(DecodeErrorKind::TooDeep).into());
    }
    let count = usize::try_from(*length).unwrap_or(usize::MAX);
    visitor.begin_sequence(count);
    for _ in 0..count {
        visit_array(element, form, reader, visitor, depth + 1)?;
    }
    visitor.end_sequence();
    Ok(())
}

fn visit_scalar(
    ty: &Type,
    reader: &mut Reader<'_>,
    visitor: &mut dyn Visitor,
) -> Result<(), Error> {
    let value = match ty {
        Type::Bool => Value::Bool(reader.read_bool()?),
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
        Type::WChar => {
            let unit = reader.read_u16()?;
            char::from_u32(unit.into()).map_or(Value::Unsigned(unit.into()), Value::Char)
        }
        Type::String { bound } => Value::Str(reader.read_str(*bound)?),
        Type::WString { bound } => {
            let mut text = String::new();
            reader.read_wstring_into(*bound, &mut text)?;
            visitor.value(Value::Str(&text));
            return Ok(());
        }
        Type::Enum(description) => {
            let value = reader.read_enum(description.size())?;
            match description.literal(value) {
                Some(literal) => Value::Enum(literal),
                None => {
                    // Nobody is told what is being tried.
                    return Ok(reader.not_constructed(DecodeErrorKind::UnknownLiteral(value))?);
                }
            }
        }
        Type::Bitmask(description) => {
            Value::Bits(description, reader.read_bits(description.size())?)
        }
        Type::Bitset(description) => {
            Value::Bitset(description, reader.read_bits(description.size())?)
        }
        // Bytes, and nothing else that is no scalar.
        _ => Value::Unsigned(reader.read_u8()?.into()),
    };
    visitor.value(value);
    Ok(())
}

impl Error {
    fn within(self, of: &str, member: &Member) -> Self {
        match self.member.is_empty() {
            true => Self {
                member: format!("{of}.{}", &*member.name),
                ..self
            },
            false => self,
        }
    }
}

/// Descriptions nest less than this.
pub(crate) const MAX_DEPTH: usize = 64;
