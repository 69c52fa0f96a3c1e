//! Keys of payloads whose type is known only at run time.

use alloc::string::String;
use alloc::vec::Vec;

use super::walk::{Elements, Part, find_member, for_each_member, for_each_part};
use super::{Error, Form, MAX_DEPTH};
use crate::{
    DecodeErrorKind, EncodeError, KeyHash, KeyScratch, Member, MemberHeader, Reader,
    Representation, StructMark, Type, TypeDescription, UnionDescription, Writer, encapsulated,
    payload,
};

/// The key hash of a payload, as samples in `representation` have it, whichever the payload is in;
/// all zeros when the type has no key.
///
/// Nothing is allocated but by `scratch`. Costs one pass over the payload for each
/// key member, of a sample as far as that alone: what is behind it is not looked at, so that it may be malformed.
pub fn key_hash(
    description: &TypeDescription,
    payload: &[u8],
    form: Form,
    representation: Representation,
    scratch: &mut KeyScratch,
) -> Result<KeyHash, Error> {
    let mut reader = payload::reader(payload, description.extensibility)?;
    if !description.has_key() {
        return Ok(KeyHash::default());
    }
    let mut writer = scratch.begin(representation);
    copy_struct(description, form, &mut reader, &mut writer, 0)?;
    writer.finish();
    Ok(scratch.hash(description, representation))
}

/// Appends the payload of a dispose or unregister of the instance that a sample belongs to.
///
/// On an error the buffer is as it was.
pub fn key_payload(
    description: &TypeDescription,
    sample: &[u8],
    buffer: &mut Vec<u8>,
) -> Result<(), Error> {
    copy_key(description, sample, Form::Sample, buffer)
}

/// The payload of a dispose or unregister with the DHEADER that it lacks; `None` if it can be read as
/// it is, and if it cannot be read either way.
///
/// Cyclone DDS 0.10 leaves the DHEADER of appendable types out.
pub fn mended_key(description: &TypeDescription, payload: &[u8]) -> Option<Vec<u8>> {
    let mut again = Vec::new();
    if copy_key(description, payload, Form::Key, &mut again).is_ok() {
        return None;
    }
    let whole = payload::with_length(payload)?;
    copy_key(description, &whole, Form::Key, &mut again).ok()?;
    (again == whole).then_some(whole)
}

/// Appends the key in a payload as the payload of a key.
fn copy_key(
    description: &TypeDescription,
    payload: &[u8],
    form: Form,
    buffer: &mut Vec<u8>,
) -> Result<(), Error> {
    let mut reader = payload::reader(payload, description.extensibility)?;
    let representation = reader.representation();
    encapsulated(
        representation,
        description.extensibility,
        buffer,
        |writer| {
            if !description.has_key() {
                return Ok(());
            }
            copy_struct(description, form, &mut reader, writer, 0)
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

/// Reads a struct and copies one member of it: a whole struct, but for the sample itself, of which nobody needs the rest.
fn copy_member(
    description: &TypeDescription,
    key: &Member,
    form: Form,
    reader: &mut Reader<'_>,
    writer: &mut Writer<'_>,
    mark: &StructMark,
    depth: usize,
) -> Result<(), Error> {
    let mut copy = |reader: &mut Reader<'_>| {
        let header = writer.begin_member(mark, MemberHeader::from(key));
        copy_value(&key.ty, form, reader, writer, depth + 1)?;
        writer
            .end_member(header)
            .map_err(|error| too_large(error, reader))
    };
    let mut found = false;
    if depth == 0 && form == Form::Sample {
        found = find_member(description, key.id, reader, &mut |ty, reader| {
            pass_over(ty, form, reader, depth + 1)
        })?;
        if found {
            copy(reader).map_err(|error| error.within(&description.name, key))?;
        }
    } else {
        for_each_member(description, form, reader, &mut |member, reader| {
            if member.id != key.id {
                return pass_over(&member.ty, form, reader, depth + 1);
            }
            found = true;
            copy(reader)
        })?;
    }
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

/// Copies a union: all of it, or its discriminator if that alone is the key.
fn copy_union(
    description: &UnionDescription,
    form: Form,
    reader: &mut Reader<'_>,
    writer: &mut Writer<'_>,
    depth: usize,
) -> Result<(), Error> {
    let mark = writer.begin_struct(description.extensibility);
    for_each_part(description, form, reader, &mut |part, reader| {
        let (header, ty) = match part {
            Part::Discriminator(ty) => (MemberHeader::of_discriminator(ty.length_code()), ty),
            Part::Member(case) if description.discriminator_key => {
                return pass_over(&case.member.ty, form, reader, depth + 1);
            }
            Part::Member(case) => (MemberHeader::from(&case.member), &case.member.ty),
        };
        let member = writer.begin_member(&mark, header);
        copy_value(ty, form, reader, writer, depth + 1)?;
        writer
            .end_member(member)
            .map_err(|error| too_large(error, reader))
    })?;
    writer
        .end_struct(mark)
        .map_err(|error| too_large(error, reader))
}

fn copy_value(
    ty: &Type,
    form: Form,
    reader: &mut Reader<'_>,
    writer: &mut Writer<'_>,
    depth: usize,
) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(reader.error(DecodeErrorKind::TooDeep).into());
    }
    if let Some(size) = ty.scalar_size() {
        // What value it is matters to who reads the sample, not here.
        writer.write_bits(reader.read_bits(size)?, size);
        return Ok(());
    }
    let written = match ty {
        Type::String { bound } => writer.write_string(reader.read_str(*bound)?, *bound),
        Type::WString { bound } => {
            let mut text = String::new();
            reader.read_wstring_into(*bound, &mut text)?;
            writer.write_wstring(&text, *bound)
        }
        Type::Struct(description) => return copy_struct(description, form, reader, writer, depth),
        Type::Union(description) => return copy_union(description, form, reader, writer, depth),
        Type::Recursive(link) => match link.target() {
            Some(target) => return copy_value(&target, form, reader, writer, depth),
            None => return Err(reader.error(DecodeErrorKind::TooDeep).into()),
        },
        _ => match Elements::of(ty) {
            None => Ok(()),
            Some(elements) => {
                let mark = writer.begin_elements(elements.counted, elements.are_primitive());
                let count = elements.for_each(reader, &mut |element, reader| {
                    copy_value(element, form, reader, writer, depth + 1)
                })?;
                writer.end_sequence(mark, count)
            }
        },
    };
    written.map_err(|error| too_large(error, reader))
}

/// Passes over a value, whether its type can hold it or not: a reader may make something else of it, and the key is behind it all
/// the same.
fn pass_over(ty: &Type, form: Form, reader: &mut Reader<'_>, depth: usize) -> Result<(), Error> {
    let tried = reader.begin_try();
    skip_value(ty, form, reader, depth)?;
    reader.end_try(tried);
    Ok(())
}

/// At once when its length is known, element by element otherwise.
fn skip_value(ty: &Type, form: Form, reader: &mut Reader<'_>, depth: usize) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(reader.error(DecodeErrorKind::TooDeep).into());
    }
    match ty {
        Type::String { .. } | Type::WString { .. } => reader.skip_string()?,
        Type::Struct(description) => {
            for_each_member(description, form, reader, &mut |member, reader| {
                skip_value(&member.ty, form, reader, depth + 1)
            })?;
        }
        Type::Union(description) => {
            for_each_part(description, form, reader, &mut |part, reader| match part {
                Part::Discriminator(ty) => skip_value(ty, form, reader, depth + 1),
                Part::Member(case) => skip_value(&case.member.ty, form, reader, depth + 1),
            })?;
        }
        Type::Recursive(link) => match link.target() {
            Some(target) => return skip_value(&target, form, reader, depth),
            None => return Err(reader.error(DecodeErrorKind::TooDeep).into()),
        },
        _ => match Elements::of(ty) {
            None => reader.skip_primitives(1, ty.scalar_size().unwrap_or_default())?,
            Some(elements) => match elements.element.primitive_size() {
                Some(size) if elements.value.is_none() => {
                    let scope = elements.begin(reader)?;
                    reader.skip_primitives(scope.count, size)?;
                    reader.end_sequence(scope);
                }
                _ => elements
                    .for_each(reader, &mut |element, reader| {
                        skip_value(element, form, reader, depth + 1)
                    })
                    .map(drop)?,
            },
        },
    }
    Ok(())
}

/// What was read can be written: only the sum of lengths could, in theory, be too large.
fn too_large(_: EncodeError, reader: &Reader<'_>) -> Error {
    reader.error(DecodeErrorKind::TooLarge).into()
}
