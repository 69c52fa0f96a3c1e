//! FAST's transfer encoding, read side: stop-bit integers, strings, presence maps (FAST 1.1 §10). Knows nothing of
//! fields or operators.
//!
//! ```text
//!  bit   7 6 5 4 3 2 1 0     a byte with bit 7 set (S) ends the value; the other 7 bits are its data,
//!       |S| 7 bits      |    most significant byte first
//! ```

use core::num::NonZeroUsize;

use crate::Code;

/// The rest of a message's bytes, read front to back. A read that fails consumes nothing, so that
/// [`offset`](Self::offset) is then the place of the value that is wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    strict: bool,
}

impl<'a> Input<'a> {
    /// Reads `bytes` from their start. If `strict`, encodings with bytes that say nothing are errors (R6 to R9).
    pub(crate) const fn new(bytes: &'a [u8], strict: bool) -> Self {
        Self {
            bytes,
            at: 0,
            strict,
        }
    }

    /// Bytes read so far.
    pub(crate) const fn offset(&self) -> usize {
        self.at
    }

    /// Goes back to an earlier [`offset`](Self::offset).
    pub(crate) fn back_to(&mut self, offset: usize) {
        self.at = self.at.min(offset);
    }

    /// Bytes not read yet.
    pub(crate) const fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    #[inline(always)]
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Unsigned integer, at most `max`.
    #[inline(always)]
    pub(crate) fn unsigned(&mut self, max: u64) -> Result<u64, Code> {
        Ok(self.maybe_unsigned(max, false)?.unwrap_or_default())
    }

    /// Unsigned integer, at most `max`. If it is `nullable`, 0 is NULL and a value is sent one larger, so that
    /// `u64::MAX` takes 65 bits (§10.6.1).
    #[inline(always)]
    pub(crate) fn maybe_unsigned(&mut self, max: u64, nullable: bool) -> Result<Option<u64>, Code> {
        let (value, len) = match short_unsigned(self.rest(), self.strict) {
            Some((sent, len)) if nullable => (sent.checked_sub(1), len.get()),
            Some((sent, len)) => (Some(sent), len.get()),
            None => long_unsigned(self.rest(), self.strict, nullable)?,
        };
        if value.is_some_and(|value| value > max) {
            return Err(Code::D2);
        }
        self.at += len;
        Ok(value)
    }

    /// Signed integer in `-max - 1 ..= max`.
    #[inline(always)]
    pub(crate) fn signed(&mut self, max: u64) -> Result<i64, Code> {
        Ok(self.maybe_signed(max, false)?.unwrap_or_default())
    }

    /// Signed integer in `-max - 1 ..= max`. If it is `nullable`, 0 is NULL, values from 0 up are sent one larger,
    /// negative ones as they are.
    #[inline(always)]
    pub(crate) fn maybe_signed(&mut self, max: u64, nullable: bool) -> Result<Option<i64>, Code> {
        let (value, len) = match short_signed(self.rest(), self.strict) {
            Some((0, len)) if nullable => (None, len.get()),
            Some((sent, len)) => (Some(sent - i64::from(nullable && sent > 0)), len.get()),
            None => long_signed(self.rest(), self.strict, nullable)?,
        };
        if let Some(value) = value {
            in_range(value, max)?;
        }
        self.at += len;
        Ok(value)
    }

    /// Difference between two integers of any type: 65 bits and a sign.
    #[inline(always)]
    pub(crate) fn delta(&mut self) -> Result<i128, Code> {
        let (value, len) = match short_signed(self.rest(), self.strict) {
            Some((value, len)) => (i128::from(value), len.get()),
            None => wide_signed(self.rest(), self.strict)?,
        };
        self.at += len;
        Ok(value)
    }

    /// Difference of at most 5 bytes, `Some(None)` for NULL; `None` leaves it to [`delta`](Self::delta) and
    /// [`nullable_delta`](Self::nullable_delta).
    #[inline(always)]
    pub(crate) fn short_delta(&mut self, nullable: bool) -> Option<Option<i64>> {
        let (sent, len) = short_signed(self.rest(), self.strict)?;
        self.at += len.get();
        Some(if !nullable {
            Some(sent)
        } else if sent == 0 {
            None
        } else {
            Some(sent - i64::from(sent > 0))
        })
    }

    /// Nullable difference.
    #[inline(always)]
    pub(crate) fn nullable_delta(&mut self) -> Result<Option<i128>, Code> {
        let sent = self.delta()?;
        Ok(if sent == 0 {
            None
        } else {
            Some(sent - i128::from(sent > 0))
        })
    }

    /// ASCII string. A first byte `00` is a preamble that only strings that are empty or begin with NUL need (§10.6.3).
    #[inline]
    pub(crate) fn ascii(&mut self) -> Result<Ascii<'a>, Code> {
        let whole = stop_bit_entity(self.rest())?;
        let text = if whole.first().is_some_and(|first| first & DATA == 0) {
            self.without_preamble(whole)?
        } else {
            Ascii(whole)
        };
        self.at += whole.len();
        Ok(text)
    }

    /// Nullable ASCII string: `80` is NULL, and the preamble is one byte longer.
    #[inline]
    pub(crate) fn nullable_ascii(&mut self) -> Result<Option<Ascii<'a>>, Code> {
        let whole = stop_bit_entity(self.rest())?;
        let text = match whole {
            [first, inner @ ..] if first & DATA == 0 => match inner {
                [] => None,
                [next, ..] if next & DATA == 0 => Some(self.without_preamble(inner)?),
                _ if self.strict => return Err(Code::R9),
                _ => Some(Ascii(inner)),
            },
            _ => Some(Ascii(whole)),
        };
        self.at += whole.len();
        Ok(text)
    }

    #[cold]
    fn without_preamble(&self, whole: &'a [u8]) -> Result<Ascii<'a>, Code> {
        let inner = whole.get(1..).unwrap_or_default();
        if self.strict && inner.first().is_some_and(|next| next & DATA != 0) {
            return Err(Code::R9);
        }
        Ok(Ascii(inner))
    }

    /// The data of a string of one byte.
    #[inline(always)]
    pub(crate) fn single(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        if byte <= STOP {
            return None;
        }
        self.at += 1;
        Some(byte & DATA)
    }

    /// Byte vector: length, then bytes.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Code> {
        let before = self.at;
        let len = self.unsigned(u64::from(u32::MAX))?;
        self.take(len, before)
    }

    /// Nullable byte vector: the length is nullable.
    pub(crate) fn nullable_bytes(&mut self) -> Result<Option<&'a [u8]>, Code> {
        let before = self.at;
        match self.maybe_unsigned(u64::from(u32::MAX), true)? {
            Some(len) => self.take(len, before).map(Some),
            None => Ok(None),
        }
    }

    fn take(&mut self, len: u64, before: usize) -> Result<&'a [u8], Code> {
        let bytes = usize::try_from(len)
            .ok()
            .and_then(|len| self.rest().get(..len));
        let Some(bytes) = bytes else {
            self.at = before;
            return Err(Code::Truncated);
        };
        self.at += bytes.len();
        Ok(bytes)
    }

    /// The bytes up to the first with a stop bit, that one included.
    pub(crate) fn stop_bit_entity(&mut self) -> Result<&'a [u8], Code> {
        let whole = stop_bit_entity(self.rest())?;
        self.at += whole.len();
        Ok(whole)
    }

    /// Whether encodings with bytes that say nothing are errors.
    pub(crate) const fn is_strict(&self) -> bool {
        self.strict
    }

    /// Presence map of any length. Nothing is copied: bits are taken from the bytes as they are asked for.
    #[inline]
    pub(crate) fn presence_map(&mut self) -> Result<PresenceMap<'a>, Code> {
        let rest = self.rest();
        if let [byte, ..] = rest
            && byte & STOP != 0
        {
            self.at += 1;
            return Ok(PresenceMap {
                bits: u64::from(*byte) << 57,
                left: u32::MAX,
                more: &[],
            });
        }
        if let [first, last, ..] = rest
            && last & STOP != 0
            && *last != STOP
        {
            self.at += 2;
            let bits = u64::from(*first) << 57 | u64::from(last & DATA) << 50;
            return Ok(PresenceMap {
                bits,
                left: u32::MAX,
                more: &[],
            });
        }
        let whole = stop_bit_entity(rest)?;
        if self.strict && whole.last() == Some(&STOP) {
            return Err(Code::R7);
        }
        self.at += whole.len();
        Ok(PresenceMap {
            bits: 0,
            left: 0,
            more: whole,
        })
    }

    /// The segment that `map` belongs to is complete: no bit may be left that says something.
    #[inline]
    pub(crate) fn check_used(&self, map: &PresenceMap<'_>) -> Result<(), Code> {
        if self.strict && !map.rest_is_zero() {
            Err(Code::R8)
        } else {
            Ok(())
        }
    }
}

/// The bytes of an ASCII string on the wire, the last one with its stop bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ascii<'a>(&'a [u8]);

impl Ascii<'_> {
    /// Appends the characters.
    #[inline]
    pub(crate) fn append_to(self, text: &mut Vec<u8>) {
        if let [head @ .., last] = self.0 {
            text.extend_from_slice(head);
            text.push(last & DATA);
        }
    }
}

/// The bits of a presence map that were not asked for yet; zeros without end follow the last (§10.5).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PresenceMap<'a> {
    /// Next bit on top.
    bits: u64,
    /// How many of `bits` come before `more`; all zeros to come once `more` is empty.
    left: u32,
    more: &'a [u8],
}

impl<'a> PresenceMap<'a> {
    /// The map of a segment that has none.
    #[inline]
    pub(crate) const fn none() -> Self {
        Self {
            bits: 0,
            left: u32::MAX,
            more: &[],
        }
    }

    /// The next bit.
    #[inline]
    pub(crate) fn bit(&mut self) -> bool {
        self.bit_if(true)
    }

    /// The same map with its first 63 bits at hand for [`early_bit`](Self::early_bit).
    #[inline(always)]
    pub(crate) fn begun(self) -> Self {
        if self.left == 0 {
            Self::refilled(self.more)
        } else {
            self
        }
    }

    /// The next bit of a map that has [`begun`](Self::begun), all of whose bits asked for are among the first 63.
    #[inline(always)]
    pub(crate) fn early_bit(&mut self) -> bool {
        let bit = self.bits >> 63 != 0;
        self.bits <<= 1;
        bit
    }

    /// The next bit if the field `uses` one, else true. Without branches, and in registers where the map is a local.
    #[inline(always)]
    pub(crate) fn bit_if(&mut self, uses: bool) -> bool {
        if uses && self.left == 0 {
            *self = Self::refilled(self.more);
        }
        let bit = self.bits >> 63 != 0;
        self.bits <<= u32::from(uses);
        self.left -= u32::from(uses);
        bit | !uses
    }

    #[inline(never)]
    fn refilled(bytes: &'a [u8]) -> Self {
        let (bytes, more) = bytes.split_at(bytes.len().min(9));
        let bits = bytes
            .iter()
            .fold(0, |bits, byte| bits << 7 | u64::from(byte & DATA));
        Self {
            bits: bits << (64 - 7 * bytes.len().max(1)),
            left: if more.is_empty() { u32::MAX } else { 63 },
            more,
        }
    }

    fn rest_is_zero(&self) -> bool {
        self.bits == 0 && self.more.iter().all(|byte| byte & DATA == 0)
    }
}

/// The bytes up to the first with a stop bit.
#[inline]
fn stop_bit_entity(bytes: &[u8]) -> Result<&[u8], Code> {
    let last = bytes.iter().position(|byte| byte & STOP != 0);
    last.and_then(|last| bytes.get(..=last))
        .ok_or(Code::Truncated)
}

/// Unsigned integer of at most 8 bytes that is not overlong (if `strict`), with its length; `None` leaves it to
/// [`wide_unsigned`].
#[inline(always)]
fn short_unsigned(bytes: &[u8], strict: bool) -> Option<(u64, NonZeroUsize)> {
    let first = *bytes.first()?;
    if first & STOP != 0 {
        return Some(((first & DATA).into(), bytes_of(1)));
    }
    if strict && first == 0 {
        return None;
    }
    let Some(word) = bytes.first_chunk() else {
        return last_unsigned(bytes);
    };
    let word = u64::from_le_bytes(*word);
    let data = |at: u32| word >> (8 * at) & u64::from(DATA);
    if word & 0x8000 != 0 {
        return Some((data(0) << 7 | data(1), bytes_of(2)));
    }
    if word & 0x80_0000 != 0 {
        return Some((data(0) << 14 | data(1) << 7 | data(2), bytes_of(3)));
    }
    if word & 0x8000_0000 != 0 {
        return Some((
            data(0) << 21 | data(1) << 14 | data(2) << 7 | data(3),
            bytes_of(4),
        ));
    }
    middle_unsigned(word)
}

/// The same of 5 to 8 bytes, all at once. Out of line, so that what is inlined for every field stays small.
#[inline(never)]
fn middle_unsigned(word: u64) -> Option<(u64, NonZeroUsize)> {
    let stops = word & 0x8080_8080_8080_8080;
    if stops == 0 {
        return None;
    }
    let bits = stops.trailing_zeros() + 1;
    let groups = (word.swap_bytes() >> (64 - bits)) & 0x7f7f_7f7f_7f7f_7f7f;
    // Pairs of 7 bits, then of 14, then of 28.
    let groups = (groups & 0x7f00_7f00_7f00_7f00) >> 1 | groups & 0x007f_007f_007f_007f;
    let groups = (groups & 0x3fff_0000_3fff_0000) >> 2 | groups & 0x0000_3fff_0000_3fff;
    let value = (groups & 0x0fff_ffff_0000_0000) >> 4 | groups & 0x0000_0000_0fff_ffff;
    Some((value, bytes_of(bits as usize / 8)))
}

/// The same among the last 7 bytes, where a whole word cannot be loaded.
#[inline(never)]
fn last_unsigned(bytes: &[u8]) -> Option<(u64, NonZeroUsize)> {
    let whole = stop_bit_entity(bytes).ok()?;
    let value = whole
        .iter()
        .fold(0, |value, byte| value << 7 | u64::from(byte & DATA));
    (whole.len() <= 8).then_some((value, bytes_of(whole.len())))
}

/// Signed integer of at most 8 bytes that is not overlong (if `strict`), with its length; `None` leaves it to
/// [`wide_signed`].
#[inline(always)]
fn short_signed(bytes: &[u8], strict: bool) -> Option<(i64, NonZeroUsize)> {
    let first = *bytes.first()?;
    if first & STOP != 0 {
        return Some((signed_of(first.into(), 1), bytes_of(1)));
    }
    if strict && is_overlong_signed(bytes) {
        return None;
    }
    let Some(word) = bytes.first_chunk() else {
        let (value, len) = last_unsigned(bytes)?;
        return Some((signed_of(value, len.get()), len));
    };
    let word = u64::from_le_bytes(*word);
    let data = |at: u32| word >> (8 * at) & u64::from(DATA);
    if word & 0x8000 != 0 {
        return Some((signed_of(data(0) << 7 | data(1), 2), bytes_of(2)));
    }
    if word & 0x80_0000 != 0 {
        let value = data(0) << 14 | data(1) << 7 | data(2);
        return Some((signed_of(value, 3), bytes_of(3)));
    }
    if word & 0x8000_0000 != 0 {
        let value = data(0) << 21 | data(1) << 14 | data(2) << 7 | data(3);
        return Some((signed_of(value, 4), bytes_of(4)));
    }
    let (value, len) = middle_unsigned(word)?;
    Some((signed_of(value, len.get()), len))
}

/// The length of a value, which is not 0. `Option` takes its 0 for `None`, so that a value and its length are returned in
/// two registers.
#[inline(always)]
const fn bytes_of(len: usize) -> NonZeroUsize {
    match NonZeroUsize::new(len) {
        Some(len) => len,
        None => NonZeroUsize::MIN,
    }
}

/// The two's complement in the lowest `len` groups of 7 bits.
#[inline(always)]
fn signed_of(groups: u64, len: usize) -> i64 {
    let unused = 64 - 7 * len;
    (groups << unused).cast_signed() >> unused
}

/// Unsigned integer of any length that must fit 64 bits; NULL if it is `nullable` and 0.
#[cold]
fn long_unsigned(bytes: &[u8], strict: bool, nullable: bool) -> Result<(Option<u64>, usize), Code> {
    let (sent, len) = wide_unsigned(bytes, strict)?;
    match sent.checked_sub(nullable.into()).map(u64::try_from) {
        None => Ok((None, len)),
        Some(Ok(value)) => Ok((Some(value), len)),
        Some(Err(_)) => Err(Code::D2),
    }
}

/// Signed integer of any length that must fit 64 bits; NULL if it is `nullable` and 0.
#[cold]
fn long_signed(bytes: &[u8], strict: bool, nullable: bool) -> Result<(Option<i64>, usize), Code> {
    let (sent, len) = wide_signed(bytes, strict)?;
    if nullable && sent == 0 {
        return Ok((None, len));
    }
    let value = sent - i128::from(nullable && sent > 0);
    Ok((Some(i64::try_from(value).map_err(|_| Code::D2)?), len))
}

/// Unsigned integer of any length. More than 66 bits are out of every range (D2); leading zero bytes are not, they are
/// only overlong (R6).
#[cold]
fn wide_unsigned(bytes: &[u8], strict: bool) -> Result<(u128, usize), Code> {
    let whole = stop_bit_entity(bytes)?;
    if strict && whole.len() > 1 && whole.first() == Some(&0) {
        return Err(Code::R6);
    }
    let mut value: u128 = 0;
    for byte in whole {
        value = value << 7 | u128::from(byte & DATA);
        if value >> WIDEST != 0 {
            return Err(Code::D2);
        }
    }
    Ok((value, whole.len()))
}

/// Signed integer of any length, within the same bounds.
#[cold]
fn wide_signed(bytes: &[u8], strict: bool) -> Result<(i128, usize), Code> {
    let whole = stop_bit_entity(bytes)?;
    if strict && is_overlong_signed(whole) {
        return Err(Code::R6);
    }
    let mut value: i128 = if whole.first().is_some_and(|first| first & SIGN != 0) {
        -1
    } else {
        0
    };
    for byte in whole {
        value = value << 7 | i128::from(byte & DATA);
        if value >> WIDEST != value >> 127 {
            return Err(Code::D2);
        }
    }
    Ok((value, whole.len()))
}

/// Whether the first byte only repeats the sign of the second (§10.6.1.1).
#[inline(always)]
fn is_overlong_signed(bytes: &[u8]) -> bool {
    matches!(bytes, [0, next, ..] if next & SIGN == 0)
        || matches!(bytes, [DATA, next, ..] if next & SIGN != 0)
}

#[inline(always)]
fn in_range(value: i64, max: u64) -> Result<(), Code> {
    // `value ^ (value >> 63)` is the value itself, or -value - 1 of a negative one.
    if (value ^ (value >> 63)) as u64 > max {
        Err(Code::D2)
    } else {
        Ok(())
    }
}

const STOP: u8 = 0x80;
const DATA: u8 = 0x7f;
const SIGN: u8 = 0x40;
/// Bits that the widest value on the wire needs without its sign: a difference of two uInt64, nullable.
const WIDEST: u32 = 66;

#[cfg(test)]
mod tests;
