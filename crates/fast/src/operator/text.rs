//! The operators of strings and byte vectors, read side (FAST 1.1 §6.3).

use super::{absent, read_delta};
use crate::Code;
use crate::dictionary::{Dictionary, Entries, State};
use crate::field::Operator;
use crate::plan::{Kind, Spec};
use crate::wire::Input;

/// Where the value of a string or byte vector is, after decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The template's initial value.
    Template,
    /// The dictionary entry.
    Dictionary,
    /// The scratch buffer.
    Scratch,
}

/// Decodes a string or byte vector field that is not the template's constant or default (whose presence bit, if any, was
/// read); `None`: it is absent. The bytes are not checked to be UTF-8.
pub(crate) fn text(
    kind: Kind,
    spec: &Spec,
    initial: &[u8],
    input: &mut Input<'_>,
    present: bool,
    dictionary: &mut Dictionary<impl Entries>,
    scratch: &mut Vec<u8>,
) -> Result<Option<Place>, Code> {
    match spec.operator {
        Operator::None | Operator::Constant | Operator::Default => {
            scratch.clear();
            Ok(read_text(kind, spec.optional, input, scratch)?.then_some(Place::Scratch))
        }
        Operator::Copy | Operator::Increment => {
            if !present {
                return previous_text(spec, initial, dictionary, Code::D5, Code::D6);
            }
            scratch.clear();
            if !read_text(kind, spec.optional, input, scratch)? {
                dictionary.set_empty(spec.slot);
                return Ok(None);
            }
            Ok(Some(store(spec, scratch, dictionary)))
        }
        Operator::Tail => {
            if !present {
                // §6.3.8 has these codes; appendix 4 names them one lower.
                return previous_text(spec, initial, dictionary, Code::D6, Code::D7);
            }
            scratch.clear();
            if !read_text(kind, spec.optional, input, scratch)? {
                dictionary.set_empty(spec.slot);
                return Ok(None);
            }
            apply_tail(spec, initial, dictionary, scratch)
        }
        Operator::Delta => {
            let Some(subtraction) = read_delta(spec, input)? else {
                return Ok(None);
            };
            scratch.clear();
            read_text(kind, false, input, scratch)?;
            apply_delta(spec, initial, subtraction, dictionary, scratch)
        }
    }
}

/// The value of a string field whose presence bit is 0.
fn previous_text(
    spec: &Spec,
    initial: &[u8],
    dictionary: &mut Dictionary<impl Entries>,
    undefined: Code,
    empty: Code,
) -> Result<Option<Place>, Code> {
    let place = match dictionary.state(spec.slot, spec.tag)? {
        State::Assigned => Some(Place::Dictionary),
        State::Undefined if spec.has_initial => Some(store(spec, initial, dictionary)),
        State::Undefined => absent(spec, undefined)?,
        State::Empty => absent(spec, empty)?,
    };
    if place.is_none() {
        dictionary.set_empty(spec.slot);
    }
    Ok(place)
}

/// Puts a tail in place of the end of the previous value, or of the initial one, or of nothing.
fn apply_tail(
    spec: &Spec,
    initial: &[u8],
    dictionary: &mut Dictionary<impl Entries>,
    tail: &[u8],
) -> Result<Option<Place>, Code> {
    let state = dictionary.state(spec.slot, spec.tag)?;
    let value = dictionary.assign_text(spec.slot, spec.tag);
    if state != State::Assigned {
        replace(value, initial);
    }
    value.truncate(value.len().saturating_sub(tail.len()));
    value.extend_from_slice(tail);
    Ok(Some(Place::Dictionary))
}

/// Takes `subtraction` bytes from the back of the previous value and appends `added`; if it is negative, takes
/// `-subtraction - 1` from the front and prepends (§6.3.7.3).
fn apply_delta(
    spec: &Spec,
    initial: &[u8],
    subtraction: i128,
    dictionary: &mut Dictionary<impl Entries>,
    added: &mut Vec<u8>,
) -> Result<Option<Place>, Code> {
    let state = dictionary.state(spec.slot, spec.tag)?;
    let base_len = match state {
        State::Assigned => dictionary.text(spec.slot).len(),
        State::Undefined => initial.len(),
        State::Empty => return Err(Code::D6),
    };
    let removed = if subtraction < 0 {
        -subtraction - 1
    } else {
        subtraction
    };
    let removed = usize::try_from(removed)
        .ok()
        .filter(|removed| *removed <= base_len)
        .ok_or(Code::D7)?;
    if base_len - removed + added.len() > MAX_TEXT_LEN {
        return Err(Code::Limit);
    }
    let value = dictionary.assign_text(spec.slot, spec.tag);
    if state == State::Undefined {
        replace(value, initial);
    }
    if subtraction < 0 {
        added.extend_from_slice(value.get(removed..).unwrap_or_default());
        core::mem::swap(value, added);
    } else {
        value.truncate(base_len - removed);
        value.extend_from_slice(added);
    }
    Ok(Some(Place::Dictionary))
}

fn store(spec: &Spec, bytes: &[u8], dictionary: &mut Dictionary<impl Entries>) -> Place {
    replace(dictionary.assign_text(spec.slot, spec.tag), bytes);
    Place::Dictionary
}

fn replace(value: &mut Vec<u8>, bytes: &[u8]) {
    value.clear();
    value.extend_from_slice(bytes);
}

/// Appends the string in the stream; false: it is NULL.
fn read_text(
    kind: Kind,
    nullable: bool,
    input: &mut Input<'_>,
    text: &mut Vec<u8>,
) -> Result<bool, Code> {
    match (kind, nullable) {
        (Kind::Ascii, false) => input.ascii()?.append_to(text),
        (Kind::Ascii, true) => match input.nullable_ascii()? {
            Some(ascii) => ascii.append_to(text),
            None => return Ok(false),
        },
        (_, false) => text.extend_from_slice(input.bytes()?),
        (_, true) => match input.nullable_bytes()? {
            Some(bytes) => text.extend_from_slice(bytes),
            None => return Ok(false),
        },
    }
    Ok(true)
}

/// Longest string that deltas may build up, in bytes.
pub(crate) const MAX_TEXT_LEN: usize = 1 << 24;
