//! Bit groups (FAST 1.2): several small fields in one stop bit entity. Reads and packs them; knows nothing of visitors,
//! messages or operators of other fields.
//!
//! ```text
//!  bit   7 6 5 4 3 2 1 0     A of 2 bits, B of 1, C of 1: from left to right in the data bits of as many bytes as they
//!       |1|A A|B|C|0 0 0|    need, over the boundaries of bytes; zeros fill the last, which has the stop bit
//! ```

use crate::Code;
use crate::dictionary::{Dictionary, Entries, State};
use crate::field::Operator;
use crate::plan::{Op, Spec};
use crate::wire::Input;

/// The packed fields of a group, the last one's bits lowest. `present` is the group's presence bit, true for one that has
/// none.
pub(crate) fn decode(
    spec: &Spec,
    input: &mut Input<'_>,
    present: bool,
    dictionary: &mut Dictionary<impl Entries>,
) -> Result<u64, Code> {
    let packed = if present {
        read(input, spec.width)?
    } else {
        match dictionary.state(spec.slot, spec.tag)? {
            State::Assigned => dictionary.value(spec.slot),
            State::Undefined => return Err(Code::D5),
            State::Empty => return Err(Code::D6),
        }
    };
    if spec.operator == Operator::Copy {
        dictionary.assign(spec.slot, spec.tag, packed);
    }
    Ok(packed)
}

/// Appends the packed fields to `out`, unless the operator implies them, and returns the presence bit.
pub(crate) fn encode(
    spec: &Spec,
    packed: u64,
    out: &mut Vec<u8>,
    dictionary: &mut Dictionary<impl Entries>,
) -> Result<bool, Code> {
    if spec.operator == Operator::Copy {
        let is_implied = dictionary.state(spec.slot, spec.tag)? == State::Assigned
            && dictionary.value(spec.slot) == packed;
        dictionary.assign(spec.slot, spec.tag, packed);
        if is_implied {
            return Ok(false);
        }
    }
    let len = u32::from(spec.width).div_ceil(DATA_BITS);
    let bits = packed << (len * DATA_BITS - u32::from(spec.width));
    for at in (0..len).rev() {
        let stop = if at == 0 { STOP } else { 0 };
        out.push((bits >> (at * DATA_BITS)) as u8 & DATA | stop);
    }
    Ok(true)
}

/// The fields of a group with their bits, in order. Each is as [`field`] wants it.
pub(crate) fn fields<'a>(
    spec: &Spec,
    packed: u64,
    ops: &'a [Op],
) -> impl Iterator<Item = (&'a Op, u64)> + use<'a> {
    let mut left = u32::from(spec.width);
    ops.iter().map(move |op| {
        let width = u32::from(op.spec.width);
        left = left.saturating_sub(width);
        (op, packed.checked_shr(left).unwrap_or(0) & mask(width))
    })
}

/// An unsigned field of its bits; `None`: it is absent. D2 if it has a value that its type has not.
pub(crate) fn field(spec: &Spec, bits: u64) -> Result<Option<u64>, Code> {
    let value = match spec.optional {
        true => bits.checked_sub(1),
        false => Some(bits),
    };
    match value {
        Some(value) if value > spec.max => Err(Code::D2),
        value => Ok(value),
    }
}

/// A signed field of its bits.
pub(crate) fn signed_field(spec: &Spec, bits: u64) -> i64 {
    let unused = u64::BITS - u32::from(spec.width);
    (bits << unused).cast_signed() >> unused
}

/// The group's bits with those of a further field; `None`: the field is absent.
pub(crate) fn append(packed: u64, spec: &Spec, value: Option<u64>) -> Result<u64, Code> {
    let bits = match value {
        Some(value) if value > spec.max => return Err(Code::D2),
        Some(value) => value + u64::from(spec.optional),
        None if spec.optional => 0,
        None => return Err(Code::Missing),
    };
    Ok(packed << spec.width | bits)
}

/// The group's bits with those of a further signed field.
pub(crate) fn append_signed(packed: u64, spec: &Spec, value: i64) -> Result<u64, Code> {
    if (value ^ (value >> 63)).cast_unsigned() > spec.max {
        return Err(Code::D2);
    }
    let bits = value.cast_unsigned() & mask(spec.width.into());
    Ok(packed << spec.width | bits)
}

/// Bits of a field whose largest value is `max`: a nullable one needs one value more for NULL.
pub(crate) fn width(max: u64, optional: bool) -> u32 {
    let largest = u128::from(max) + u128::from(optional);
    (u128::BITS - largest.leading_zeros()).max(1)
}

/// A group that ends early has zeros for the rest, as a presence map has. Bits that no field asks for are R8 in strict
/// mode, and so is any length but that of all fields.
fn read(input: &mut Input<'_>, width: u8) -> Result<u64, Code> {
    let before = *input;
    let bytes = input.stop_bit_entity()?;
    let len = u32::from(width).div_ceil(DATA_BITS);
    let data = |at: usize| bytes.get(at).map_or(0, |byte| u64::from(byte & DATA));
    let bits = (0..len as usize).fold(0, |bits, at| bits << DATA_BITS | data(at));
    let filler = len * DATA_BITS - u32::from(width);
    if input.is_strict() && (bytes.len() != len as usize || bits & mask(filler) != 0) {
        *input = before;
        return Err(Code::R8);
    }
    Ok(bits >> filler)
}

pub(crate) const fn mask(width: u32) -> u64 {
    if width < u64::BITS {
        (1 << width) - 1
    } else {
        u64::MAX
    }
}

/// Most bits of a group: nine bytes of data.
pub(crate) const MAX_WIDTH: u32 = 63;
const DATA_BITS: u32 = 7;
const STOP: u8 = 0x80;
const DATA: u8 = 0x7f;
