//! FAST's transfer encoding, write side (FAST 1.1 §10): the shortest form of every value. Knows nothing of fields or
//! operators.

use crate::Decimal;

/// Unsigned integer.
#[inline]
pub(crate) fn unsigned(out: &mut Vec<u8>, value: u128) {
    if value <= DATA.into() {
        out.push(value as u8 | STOP);
        return;
    }
    let bits = u128::BITS - value.leading_zeros();
    groups(out, value, bits.div_ceil(7));
}

/// Signed integer.
#[inline]
pub(crate) fn signed(out: &mut Vec<u8>, value: i128) {
    let magnitude = (value ^ (value >> 127)).cast_unsigned();
    let bits = u128::BITS - magnitude.leading_zeros() + 1;
    groups(out, value.cast_unsigned(), bits.div_ceil(7));
}

/// Integer or NULL: values from 0 up are sent one larger.
#[inline]
pub(crate) fn nullable(out: &mut Vec<u8>, value: Option<i128>) {
    match value {
        None => out.push(NULL),
        Some(value) => signed(out, value + i128::from(value >= 0)),
    }
}

/// Unsigned integer or NULL.
#[inline]
pub(crate) fn nullable_unsigned(out: &mut Vec<u8>, value: Option<u128>) {
    match value {
        None => out.push(NULL),
        Some(value) => unsigned(out, value + 1),
    }
}

/// Exponent, then mantissa.
pub(crate) fn decimal(out: &mut Vec<u8>, value: Decimal) {
    signed(out, value.exponent().into());
    signed(out, value.mantissa().into());
}

/// Decimal or NULL, which takes the exponent's place.
pub(crate) fn nullable_decimal(out: &mut Vec<u8>, value: Option<Decimal>) {
    nullable(out, value.map(|value| value.exponent().into()));
    if let Some(value) = value {
        signed(out, value.mantissa().into());
    }
}

/// ASCII string: a preamble if it is empty or begins with NUL, then the characters.
pub(crate) fn ascii(out: &mut Vec<u8>, text: &[u8]) {
    match text {
        [] => out.push(STOP),
        [first, .., last] | [first @ last] => {
            if *first == 0 {
                out.push(0);
            }
            out.extend_from_slice(text);
            let end = out.len() - 1;
            out[end] = last | STOP;
        }
    }
}

/// ASCII string or NULL: the preamble is one byte longer.
pub(crate) fn nullable_ascii(out: &mut Vec<u8>, text: Option<&[u8]>) {
    match text {
        None => out.push(NULL),
        Some(text) => {
            if text.first().is_none_or(|first| *first == 0) {
                out.push(0);
            }
            ascii(out, text);
        }
    }
}

/// Byte vector: length, then bytes.
pub(crate) fn bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    unsigned(out, bytes.len() as u128);
    out.extend_from_slice(bytes);
}

/// Byte vector or NULL.
pub(crate) fn nullable_bytes(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    nullable_unsigned(out, bytes.map(|bytes| bytes.len() as u128));
    out.extend_from_slice(bytes.unwrap_or_default());
}

/// A presence map being written in front of the fields whose bits it collects. Its longest form is reserved; the bytes
/// that turn out to be superfluous are taken out at the end.
#[derive(Debug)]
pub(crate) struct MapWriter {
    start: usize,
    reserved: usize,
    next: usize,
}

impl MapWriter {
    /// Reserves a map of up to `max_bits`.
    pub(crate) fn new(out: &mut Vec<u8>, max_bits: u32) -> Self {
        let start = out.len();
        let reserved = (max_bits as usize).div_ceil(7).max(1);
        out.resize(start + reserved, 0);
        Self {
            start,
            reserved,
            next: 0,
        }
    }

    /// The map of a segment whose fields need no bits.
    pub(crate) const fn none() -> Self {
        Self {
            start: 0,
            reserved: 0,
            next: 0,
        }
    }

    /// Appends a bit.
    #[inline]
    pub(crate) fn push(&mut self, out: &mut [u8], bit: bool) {
        if bit && let Some(byte) = out.get_mut(self.start + self.next / 7) {
            *byte |= SIGN >> (self.next % 7);
        }
        self.next += 1;
    }

    /// Ends the map with its last byte that is not zero (R7).
    pub(crate) fn finish(self, out: &mut Vec<u8>) {
        let end = self.start + self.reserved;
        let map = out.get_mut(self.start..end).unwrap_or_default();
        let last = map.iter().rposition(|byte| *byte != 0).unwrap_or(0);
        if let Some(byte) = map.get_mut(last) {
            *byte |= STOP;
            out.drain(self.start + last + 1..end);
        }
    }
}

/// The lowest `count` groups of 7 bits, the last with the stop bit.
#[inline]
fn groups(out: &mut Vec<u8>, value: u128, count: u32) {
    if count <= 9 {
        let value = value as u64;
        for at in (1..count).rev() {
            out.push((value >> (7 * at)) as u8 & DATA);
        }
        out.push(value as u8 | STOP);
        return;
    }
    for at in (1..count).rev() {
        out.push((value >> (7 * at)) as u8 & DATA);
    }
    out.push(value as u8 | STOP);
}

const STOP: u8 = 0x80;
const NULL: u8 = 0x80;
const DATA: u8 = 0x7f;
const SIGN: u8 = 0x40;
