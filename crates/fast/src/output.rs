//! FAST's transfer encoding, write side (FAST 1.1 §10): the shortest form of every value. Knows nothing of fields or
//! operators.

use crate::Decimal;

/// Unsigned integer.
#[inline]
pub(crate) fn unsigned(out: &mut Vec<u8>, value: u64) {
    if value <= DATA.into() {
        return out.push(value as u8 | STOP);
    }
    match (u64::BITS - value.leading_zeros()).div_ceil(7) {
        count @ ..=8 => groups(out, value, count),
        count => wide_groups(out, value.into(), count),
    }
}

/// Signed integer.
#[inline]
pub(crate) fn signed(out: &mut Vec<u8>, value: i64) {
    let magnitude = (value ^ (value >> 63)).cast_unsigned();
    if magnitude < SIGN.into() {
        return out.push(value as u8 | STOP);
    }
    match (u64::BITS - magnitude.leading_zeros() + 1).div_ceil(7) {
        count @ ..=8 => groups(out, value.cast_unsigned(), count),
        count => wide_groups(out, i128::from(value).cast_unsigned(), count),
    }
}

/// Integer or NULL: values from 0 up are sent one larger, so that the largest takes 65 bits.
#[inline]
pub(crate) fn nullable(out: &mut Vec<u8>, value: Option<i64>) {
    match value {
        None => out.push(NULL),
        Some(i64::MAX) => wide(out, i128::from(i64::MAX) + 1),
        Some(value) => signed(out, value + i64::from(value >= 0)),
    }
}

/// Unsigned integer or NULL.
#[inline]
pub(crate) fn nullable_unsigned(out: &mut Vec<u8>, value: Option<u64>) {
    match value {
        None => out.push(NULL),
        Some(u64::MAX) => wide_groups(out, 1 << 64, 10),
        Some(value) => unsigned(out, value + 1),
    }
}

/// Difference of two integers of any type.
#[inline]
pub(crate) fn delta(out: &mut Vec<u8>, value: i128) {
    match i64::try_from(value) {
        Ok(value) => signed(out, value),
        Err(_) => wide(out, value),
    }
}

/// Difference or NULL.
#[inline]
pub(crate) fn nullable_delta(out: &mut Vec<u8>, value: Option<i128>) {
    match value {
        None => out.push(NULL),
        Some(value) => delta(out, value + i128::from(value >= 0)),
    }
}

/// Bytes that [`delta`] takes.
pub(crate) fn delta_len(value: i128) -> usize {
    let magnitude = (value ^ (value >> 127)).cast_unsigned();
    let bits = u128::BITS - magnitude.leading_zeros() + 1;
    bits.div_ceil(7) as usize
}

/// Exponent, then mantissa.
pub(crate) fn decimal(out: &mut Vec<u8>, value: Decimal) {
    signed(out, value.exponent().into());
    signed(out, value.mantissa());
}

/// Decimal or NULL, which takes the exponent's place.
pub(crate) fn nullable_decimal(out: &mut Vec<u8>, value: Option<Decimal>) {
    nullable(out, value.map(|value| value.exponent().into()));
    if let Some(value) = value {
        signed(out, value.mantissa());
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

/// Bytes that [`ascii`] takes.
pub(crate) fn ascii_len(text: &[u8]) -> usize {
    text.len().max(1) + usize::from(text.first() == Some(&0))
}

/// Byte vector: length, then bytes.
pub(crate) fn bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    unsigned(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Bytes that [`bytes`] takes.
pub(crate) fn bytes_len(bytes: &[u8]) -> usize {
    let bits = usize::BITS - bytes.len().leading_zeros();
    bytes.len() + bits.div_ceil(7).max(1) as usize
}

/// Byte vector or NULL.
pub(crate) fn nullable_bytes(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    nullable_unsigned(out, bytes.map(|bytes| bytes.len() as u64));
    out.extend_from_slice(bytes.unwrap_or_default());
}

/// A presence map being written in front of the fields whose bits it collects. Its longest form is reserved; the bytes
/// that turn out to be superfluous are taken out at the end.
#[derive(Debug)]
pub(crate) struct MapWriter {
    /// Where the next 7 bits go, and where the map may not go on.
    next: usize,
    limit: usize,
    /// After the last byte that has a bit set.
    end: usize,
    /// Bits for `next`, below a 1 that tells how many they are.
    group: u8,
}

impl MapWriter {
    /// Reserves a map of up to `max_bits`.
    #[inline]
    pub(crate) fn new(out: &mut Vec<u8>, max_bits: u32) -> Self {
        let next = out.len();
        let limit = next + (max_bits as usize).div_ceil(7).max(1);
        out.resize(limit, 0);
        Self {
            next,
            limit,
            end: next + 1,
            group: 1,
        }
    }

    /// The map of a segment whose fields need no bits.
    pub(crate) const fn none() -> Self {
        Self {
            next: 0,
            limit: 0,
            end: 0,
            group: 1,
        }
    }

    /// Whether it is the map of a segment without any.
    #[inline]
    pub(crate) const fn is_none(&self) -> bool {
        self.limit == 0
    }

    /// Appends a bit.
    #[inline]
    pub(crate) fn push(&mut self, out: &mut [u8], bit: bool) {
        self.group = self.group << 1 | u8::from(bit);
        if self.group & STOP != 0 {
            self.put(out, self.group & DATA);
            self.group = 1;
        }
    }

    /// Ends the map with its last byte that is not zero (R7).
    #[inline]
    pub(crate) fn finish(mut self, out: &mut Vec<u8>) {
        if self.group != 1 {
            // The 1 that counts goes up to the stop bit's place.
            let group = self.group << self.group.leading_zeros();
            self.put(out, group & DATA);
        }
        if let Some(byte) = out.get_mut(self.end - 1) {
            *byte |= STOP;
        }
        if self.end < self.limit {
            out.copy_within(self.limit.., self.end);
            out.truncate(out.len() - (self.limit - self.end));
        }
    }

    #[inline]
    fn put(&mut self, out: &mut [u8], bits: u8) {
        if let Some(byte) = out.get_mut(self.next) {
            *byte = bits;
        }
        self.next += 1;
        if bits != 0 {
            self.end = self.next;
        }
    }
}

/// The lowest `count` groups of 7 bits, at most 8, the last with the stop bit.
#[inline]
fn groups(out: &mut Vec<u8>, value: u64, count: u32) {
    // Spread over eight bytes without a loop: halves of 28 bits, then quarters, then groups of 7.
    let value = value & 0x00ff_ffff_ffff_ffff;
    let value = value & 0x0fff_ffff | (value & 0x00ff_ffff_f000_0000) << 4;
    let value = value & 0x0000_3fff_0000_3fff | (value & 0x0fff_c000_0fff_c000) << 2;
    let value = value & 0x007f_007f_007f_007f | (value & 0x3f80_3f80_3f80_3f80) << 1;
    let bytes = (value | u64::from(STOP)) << (u64::BITS - 8 * count);
    let end = out.len() + count as usize;
    out.extend_from_slice(&bytes.to_be_bytes());
    out.truncate(end);
}

/// Integer of more than 64 bits.
#[cold]
fn wide(out: &mut Vec<u8>, value: i128) {
    let magnitude = (value ^ (value >> 127)).cast_unsigned();
    let bits = u128::BITS - magnitude.leading_zeros() + 1;
    wide_groups(out, value.cast_unsigned(), bits.div_ceil(7));
}

#[cold]
fn wide_groups(out: &mut Vec<u8>, value: u128, count: u32) {
    for at in (1..count).rev() {
        out.push((value >> (7 * at)) as u8 & DATA);
    }
    out.push(value as u8 | STOP);
}

const STOP: u8 = 0x80;
const NULL: u8 = 0x80;
const DATA: u8 = 0x7f;
const SIGN: u8 = 0x40;
