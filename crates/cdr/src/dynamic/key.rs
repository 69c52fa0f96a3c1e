//! Keys of payloads whose type is known only at run time.

use alloc::vec::Vec;

use super::{Error, Form, MAX_DEPTH, begin_elements, for_each_element, for_each_member};
use crate::{
    DecodeErrorKind, EncodeError, KeyHash, Member, MemberHeader, Reader, Representation,
    StructMark, Type, TypeDescription, Writer, encapsulated, payload,
};

/// The key hash of a payload, as samples in `representation` have it, whichever the payload is in;
/// all zeros when the type has no key.
///
/// `scratch` is overwritten; nothing else is allocated. Costs one pass over the payload for each
/// key member.
pub fn key_hash(
    description: &TypeDescription,
    payload: &[u8],
    form: Form,
    representation: Representation,
    scratch: &mut Vec<u8>,
) -> Result<KeyHash, Error> {
    let mut reader = payload::reader(payload, description.extensibility)?;
    scratch.clear();
    if !description.has_key() {
        return Ok(KeyHash::default());
    }
    let mut writer = Writer::for_key_hash(scratch, representation);
    copy_struct(description, form, &mut reader, &mut writer, 0)?;
    Ok(KeyHash::new(scratch, description, representation))
}

/// Appends the payload of a dispose or unregister of the instance that a sample belongs to.
///
/// On an error the buffer is as it was.
pub fn key_payload(
    description: &TypeDescription,
    sample: &[u8],
    buffer: &mut Vec<u8>,
) -> Result<(), Error> {
    let mut reader = payload::reader(sample, description.extensibility)?;
    let representation = reader.representation();
    encapsulated(
        representation,
        description.extensibility,
        buffer,
        |writer| {
            if !description.has_key() {
                return Ok(());
            }
            copy_struct(description, Form::Sample, &mut reader, writer, 0)
        },
    )
}

/// Copies the key members: in order of their ids for a hash, of definition for a payload.
fn copy_struct(
    description: &TypeDescription,
    form: Form,
    reader: &mut Reader<'_>,
    writer: &mut Writer<'_>,
    depth: usize,
) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(reader.error(DecodeErrorKind::TooDeep).into());
    }
    let start = reader.clone();
    let mark = writer.begin_struct(description.extensibility);
    let all = !description.has_key();
    let mut copy = |key: &Member, writer: &mut Writer<'_>| {
        *reader = start.clone();
        copy_member(description, key, form, reader, writer, &mark, depth)
    };
    if writer.is_key_hash() {
        description
            .key_members(all)
            .try_for_each(|key| copy(key, writer))?;
    } else {
        let mut keys = description
            .members
            .iter()
            .filter(|member| all || member.key);
        keys.try_for_each(|key| copy(key, writer))?;
    }
    writer
        .end_struct(mark)
        .map_err(|error| too_large(error, reader))
}

/// Reads a whole struct and copies one member of it.
fn copy_member(
    description: &TypeDescription,
    key: &Member,
    form: Form,
    reader: &mut Reader<'_>,
    writer: &mut Writer<'_>,
    mark: &StructMark,
    depth: usize,
) -> Result<(), Error> {
    let mut found = false;
    for_each_member(description, form, reader, &mut |member, reader| {
        if member.id != key.id {
            return skip_value(&member.ty, form, reader, depth + 1);
        }
        found = true;
        let header = writer.begin_member(mark, MemberHeader::from(member));
        copy_value(&member.ty, form, reader, writer, depth + 1)?;
        writer
            .end_member(header)
            .map_err(|error| too_large(error, reader))
    })?;
    if !found && !key.optional {
        return Err(reader
            .error(DecodeErrorKind::MissingKey { id: key.id })
            .into());
    }
    if !found {
        writer.absent_member(mark, MemberHeader::from(key));
    }
    Ok(())
}

fn copy_value(
    ty: &Type,
    form: Form,
    reader: &mut Reader<'_>,
    writer: &mut Writer<'_>,
    depth: usize,
) -> Result<(), Error> {
    match ty {
        Type::Bool => writer.write_bool(reader.read_bool()?),
        Type::U8 | Type::Byte | Type::I8 | Type::Char => writer.write_u8(reader.read_u8()?),
        Type::U16 | Type::I16 => writer.write_u16(reader.read_u16()?),
        Type::U32 | Type::I32 | Type::F32 => writer.write_u32(reader.read_u32()?),
        Type::U64 | Type::I64 | Type::F64 => writer.write_u64(reader.read_u64()?),
        Type::Enum(description) => {
            let size = description.size();
            writer.write_enum(reader.read_enum(size)?, size);
        }
        Type::String { bound } => {
            let text = reader.read_str(*bound)?;
            writer
                .write_string(text, *bound)
                .map_err(|error| too_large(error, reader))?;
        }
        Type::Struct(description) => copy_struct(description, form, reader, writer, depth)?,
        Type::Sequence { element, .. } | Type::Array { element, .. } => {
            let sequence = matches!(ty, Type::Sequence { .. });
            let mark = writer.begin_elements(sequence, element.is_primitive());
            let mut count = 0;
            for_each_element(ty, reader, &mut |element, reader| {
                count += 1;
                copy_value(element, form, reader, writer, depth + 1)
            })?;
            writer
                .end_sequence(mark, count)
                .map_err(|error| too_large(error, reader))?;
        }
    }
    Ok(())
}

/// Passes over a value: at once when its length is known, element by element otherwise.
fn skip_value(ty: &Type, form: Form, reader: &mut Reader<'_>, depth: usize) -> Result<(), Error> {
    match ty {
        Type::String { .. } => reader.skip_string()?,
        Type::Enum(description) => reader.skip_primitives(1, description.size())?,
        Type::Struct(description) => {
            if depth > MAX_DEPTH {
                return Err(reader.error(DecodeErrorKind::TooDeep).into());
            }
            for_each_member(description, form, reader, &mut |member, reader| {
                skip_value(&member.ty, form, reader, depth + 1)
            })?;
        }
        Type::Sequence { element, .. } | Type::Array { element, .. } => {
            match element.primitive_size() {
                Some(size) => {
                    let scope = begin_elements(ty, reader)?;
                    reader.skip_primitives(scope.count, size)?;
                    reader.end_sequence(scope);
                }
                None => for_each_element(ty, reader, &mut |element, reader| {
                    skip_value(element, form, reader, depth + 1)
                })?,
            }
        }
        primitive => reader.skip_primitives(1, primitive.primitive_size().unwrap_or_default())?,
    }
    Ok(())
}

/// What was read can be written: only the sum of lengths could, in theory, be too large.
fn too_large(_: EncodeError, reader: &Reader<'_>) -> Error {
    reader.error(DecodeErrorKind::TooLarge).into()
}
