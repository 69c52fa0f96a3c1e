//! Whole payloads, as a data writer sends and a data reader receives them.

use alloc::vec::Vec;

use tickwire_base::copy;

use crate::encapsulation::{note_padding, pad};
use crate::{
    DecodeError, DecodeErrorKind, Encapsulation, EncodeError, Extensibility, Reader,
    Representation, Topic, Writer,
};

/// Appends the payload of a sample: header, body, padding to a multiple of four.
///
/// On an error the buffer is as it was.
#[inline]
pub fn to_payload<T: Topic>(
    value: &T,
    representation: Representation,
    buffer: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    encapsulated(representation, T::EXTENSIBILITY, buffer, |writer| {
        value.encode(writer)
    })
}

/// Appends the payload of a dispose or unregister: the key members alone, in the form that samples
/// of the type have (RTPS 2.5 §9.4.5.3, flag K).
///
/// On an error the buffer is as it was. A type without key has an empty key.
pub fn key_to_payload<T: Topic>(
    value: &T,
    representation: Representation,
    buffer: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    encapsulated(
        representation,
        T::EXTENSIBILITY,
        buffer,
        |writer| match T::HAS_KEY {
            true => value.encode_key(writer),
            false => Ok(()),
        },
    )
}

/// Replaces `value` by the sample in a payload, in the memory that it has.
///
/// On an error the value is some mixture of both.
pub fn from_payload_into<T: Topic>(payload: &[u8], value: &mut T) -> Result<(), DecodeError> {
    value.decode_into(&mut reader(payload, T::EXTENSIBILITY)?)
}

/// Replaces the key members of `value` by those in the payload of a dispose or unregister.
///
/// The key of an appendable type in XCDR2 may lack its DHEADER, as Cyclone DDS 0.10 writes it.
pub fn key_from_payload_into<T: Topic>(payload: &[u8], value: &mut T) -> Result<(), DecodeError> {
    let error = match decode_key(payload, value) {
        Ok(()) => return Ok(()),
        Err(error) => error,
    };
    let Some(whole) = with_length(payload) else {
        return Err(error);
    };
    decode_key(&whole, value).map_err(|_| error)?;
    let mut again = Vec::new();
    match key_to_payload(value, Representation::Xcdr2, &mut again) {
        Ok(()) if again == whole => Ok(()),
        _ => Err(error),
    }
}

fn decode_key<T: Topic>(payload: &[u8], value: &mut T) -> Result<(), DecodeError> {
    let mut reader = reader(payload, T::EXTENSIBILITY)?;
    if T::HAS_KEY {
        value.decode_key_into(&mut reader)
    } else {
        Ok(())
    }
}

/// The key of an appendable type in XCDR2 with the DHEADER that belongs before it, which Cyclone DDS
/// 0.10 leaves out; `None` of other payloads. Nothing in XCDR2 is aligned to more than the four bytes
/// that come before it.
///
/// Whoever reads it has to make sure that it is a key to its last byte: writing what was read must
/// give the same bytes.
pub(crate) fn with_length(payload: &[u8]) -> Option<Vec<u8>> {
    let (encapsulation, body) = Encapsulation::parse(payload).ok()?;
    let length = u32::try_from(body.len()).ok()?;
    if encapsulation != Encapsulation::new(Representation::Xcdr2, Extensibility::Appendable) {
        return None;
    }
    let mut whole = Vec::new();
    encapsulation.write(&mut whole);
    whole.extend_from_slice(&length.to_le_bytes());
    copy::append(&mut whole, body);
    pad(&mut whole, 0);
    Some(whole)
}

/// Writes a payload whose body `encode` writes; on an error takes everything back.
#[inline]
pub fn encapsulated<E>(
    representation: Representation,
    extensibility: Extensibility,
    buffer: &mut Vec<u8>,
    encode: impl FnOnce(&mut Writer<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let start = buffer.len();
    let header = Encapsulation::new(representation, extensibility).to_bytes();
    let mut writer = Writer::after(&header, buffer, representation);
    let result = encode(&mut writer);
    let padding = writer.finish_padded(start);
    match result {
        Ok(()) if padding == 0 => {}
        Ok(()) => note_padding(buffer, start, padding),
        Err(_) => buffer.truncate(start),
    }
    result
}

/// A reader of a payload's body, if it is of a type of this extensibility.
#[inline]
pub(crate) fn reader(
    payload: &[u8],
    extensibility: Extensibility,
) -> Result<Reader<'_>, DecodeError> {
    match Encapsulation::parse_own(payload, extensibility) {
        Some((encapsulation, body)) => Ok(Reader::new(body, encapsulation)),
        None => any_reader(payload, extensibility),
    }
}

/// The same of payloads that are not as ours.
#[cold]
fn any_reader(payload: &[u8], extensibility: Extensibility) -> Result<Reader<'_>, DecodeError> {
    let (encapsulation, body) = Encapsulation::parse(payload)?;
    let expected = Encapsulation::new(encapsulation.representation, extensibility).extensibility;
    if encapsulation.extensibility != expected {
        return Err(DecodeError::new(DecodeErrorKind::WrongExtensibility, 0));
    }
    Ok(Reader::new(body, encapsulation))
}
