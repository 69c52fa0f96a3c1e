//! The values of parameters: strings, octets, GUIDs, and the encapsulation around a list.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::DiscoveryDataError;
use crate::wire::{
    Cursor, Guid, Malformed, Out, Parameter, ParameterId, ParameterList, ParameterListWriter,
    ParameterTooLong,
};

/// Opens the parameter list in a payload (RTPS 2.5 §10.2): PL_CDR in either byte order.
///
/// ```text
///  0                   1                   2                   3
/// +---------------+---------------+
/// | 0002 or 0003  |    options    |  big-endian: PL_CDR_BE, PL_CDR_LE
/// +---------------+---------------+
/// ~        parameter list         ~
/// +-------------------------------+
/// ```
pub(super) fn open_list(payload: &[u8]) -> Result<ParameterList<'_>, DiscoveryDataError> {
    let mut from = Cursor::new(payload, 0, false);
    let encapsulation = from.array("encapsulation header")?;
    from.little_endian = match encapsulation {
        [0, 2] => false,
        [0, 3] => true,
        other => return Err(DiscoveryDataError::Encapsulation(other)),
    };
    from.array::<2>("encapsulation options")?;
    Ok(ParameterList::at(from))
}

/// Starts a little-endian list with its encapsulation header.
pub(super) fn start_list(payload: &mut Vec<u8>) -> ParameterListWriter<'_> {
    payload.extend_from_slice(&[0, 3, 0, 0]);
    ParameterListWriter::new(payload)
}

/// What to do about a parameter that nobody here knows: nothing, unless it must be understood.
pub(super) fn unknown(id: ParameterId) -> Result<(), DiscoveryDataError> {
    match id.must_understand() {
        true => Err(DiscoveryDataError::NotUnderstood(id)),
        false => Ok(()),
    }
}

/// Writes a list that says who is meant, and `more`, as the payload of a dispose.
pub(super) fn write_key(
    payload: &mut Vec<u8>,
    id: ParameterId,
    guid: Guid,
    more: impl FnOnce(&mut ParameterListWriter<'_>),
) {
    let mut list = start_list(payload);
    let written = list.parameter(id, &guid.to_bytes());
    debug_assert_eq!(written, Ok(()));
    more(&mut list);
    list.finish();
}

/// Who is meant by a list, if it says so.
pub(super) fn read_key(
    payload: &[u8],
    id: ParameterId,
) -> Result<Option<Guid>, DiscoveryDataError> {
    for parameter in open_list(payload)? {
        let parameter = parameter?;
        if parameter.id == id {
            return Ok(Some(read_guid(&parameter)?));
        }
    }
    Ok(None)
}

pub(super) fn read_guid(parameter: &Parameter<'_>) -> Result<Guid, Malformed> {
    parameter.cursor().array("GUID").map(Guid::from_bytes)
}

/// A CDR string. Its length counts the final NUL; some peers leave that out.
pub(super) fn read_string(from: &mut Cursor<'_>) -> Result<String, Malformed> {
    let len = from.count(1, "string length")?;
    let at = *from;
    let bytes = from.bytes(len, "string")?;
    let text = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    // The next element starts at a multiple of four; after the last one the padding may be absent.
    let padding = (4 - len % 4) % 4;
    from.bytes(padding.min(from.rest().len()), "padding")?;
    core::str::from_utf8(text)
        .map(ToString::to_string)
        .map_err(|_| at.malformed("string is not UTF-8"))
}

pub(super) fn read_strings(from: &mut Cursor<'_>) -> Result<Vec<String>, Malformed> {
    let count = from.count(4, "number of strings")?;
    (0..count).map(|_| read_string(from)).collect()
}

pub(super) fn read_octets(from: &mut Cursor<'_>) -> Result<Vec<u8>, Malformed> {
    let len = from.count(1, "number of octets")?;
    Ok(from.bytes(len, "octets")?.to_vec())
}

pub(super) fn read_bool(from: &mut Cursor<'_>) -> Result<bool, Malformed> {
    Ok(from.u8("boolean")? != 0)
}

/// Names and values. Those of the second kind, binary ones, may follow and are left out.
pub(super) fn read_properties(from: &mut Cursor<'_>) -> Result<Vec<(String, String)>, Malformed> {
    let count = from.count(8, "number of properties")?;
    (0..count)
        .map(|_| Ok((read_string(from)?, read_string(from)?)))
        .collect()
}

/// Writes a string in whole words, so that another may follow.
pub(super) fn write_string(out: &mut Out<'_>, text: &str) {
    write_len(out, text.len() + 1);
    out.raw(text.as_bytes());
    let padding = 4 - text.len() % 4;
    out.raw(&[0; 4][..padding]);
}

pub(super) fn write_strings(out: &mut Out<'_>, texts: &[String]) {
    write_len(out, texts.len());
    texts.iter().for_each(|text| write_string(out, text));
}

pub(super) fn write_octets(out: &mut Out<'_>, octets: &[u8]) {
    write_len(out, octets.len());
    out.raw(octets);
}

/// Writes a parameter that holds one string.
pub(super) fn string_parameter(
    list: &mut ParameterListWriter<'_>,
    id: ParameterId,
    text: &str,
) -> Result<(), ParameterTooLong> {
    list.parameter_with(id, |out| write_string(out, text))
}

/// Writes a parameter that holds octets, unless there are none.
pub(super) fn octets_parameter(
    list: &mut ParameterListWriter<'_>,
    id: ParameterId,
    octets: &[u8],
) -> Result<(), ParameterTooLong> {
    match octets {
        [] => Ok(()),
        octets => list.parameter_with(id, |out| write_octets(out, octets)),
    }
}

/// A length; one beyond 32 bits makes the parameter too long anyway.
pub(super) fn write_len(out: &mut Out<'_>, len: usize) {
    out.u32(u32::try_from(len).unwrap_or(u32::MAX));
}
