//! Names and annotations, which only complete objects have.

use alloc::borrow::Cow;
use alloc::format;

use crate::xtypes::EquivalenceKind;
use crate::{DecodeError, DecodeErrorKind, Extensibility, Reader, Shared};

/// The name of a type, from `CompleteTypeDetail`; annotations are skipped. A minimal object has
/// neither.
pub(super) fn read_detail<'a>(
    kind: EquivalenceKind,
    reader: &mut Reader<'a>,
) -> Result<&'a str, DecodeError> {
    if kind == EquivalenceKind::Minimal {
        return Ok("");
    }
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

/// The name of a member or a literal; of a minimal object, `#` and the hash of the name in
/// hexadecimal.
pub(super) fn read_name<'a>(
    kind: EquivalenceKind,
    reader: &mut Reader<'a>,
) -> Result<Cow<'a, str>, DecodeError> {
    match kind {
        EquivalenceKind::Complete => {
            let name = reader.read_str(MAX_NAME)?;
            // No identifier of IDL begins like a hash, or like what JSON calls a discriminator.
            match name.starts_with(['#', '$']) {
                true => Err(reader.error(DecodeErrorKind::InvalidString)),
                false => Ok(Cow::Borrowed(name)),
            }
        }
        EquivalenceKind::Minimal => {
            let mut hash = 0;
            for _ in 0..4 {
                hash = hash << 8 | u32::from(reader.read_u8()?);
            }
            Ok(Cow::Owned(format!("#{hash:08x}")))
        }
    }
}

/// The text of `@hashid` among the annotations of a member; the others are skipped.
pub(super) fn read_annotations(
    kind: EquivalenceKind,
    reader: &mut Reader<'_>,
) -> Result<Option<Shared<str>>, DecodeError> {
    if kind == EquivalenceKind::Minimal || !reader.read_bool()? {
        return Ok(None);
    }
    let builtin = reader.begin_struct(Extensibility::Appendable)?;
    if reader.read_bool()? {
        reader.read_str(MAX_NAME)?;
    }
    // A minimum or maximum is a union of all types: what is behind one is not looked for.
    let has_limit = reader.read_bool()? || reader.read_bool()?;
    let hash_id = match !has_limit && reader.read_bool()? {
        true => Some(reader.read_str(MAX_NAME)?.into()),
        false => None,
    };
    reader.end_struct(builtin);
    Ok(hash_id)
}

/// Longest name in bytes (XTypes 1.3 §7.3.4.5).
const MAX_NAME: u32 = 256;
