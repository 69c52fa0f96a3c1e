//! FAST's transfer encoding, read side: stop-bit integers, strings, presence maps (FAST 1.1 §10). Knows nothing of
//! fields or operators.
//!
//! ```text
//!  bit   7 6 5 4 3 2 1 0     a byte with bit 7 set (S) ends the value; the other 7 bits are its data,
//!       |S| 7 bits      |    most significant byte first
//! ```

use crate::Code;

/// The rest of a message's bytes, read front to back. A read that fails consumes nothing, so that
/// [`offset`](Self::offset) is then the place of the value that is wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    rest: &'a [u8],
    len: usize,
    strict: bool,
}

impl<'a> Input<'a> {
    /// Reads `bytes` from their start. If `strict`, encodings with bytes that say nothing are errors (R6 to R9).
    pub(crate) const fn new(bytes: &'a [u8], strict: bool) -> Self {
        Self {
            rest: bytes,
            len: bytes.len(),
            strict,
        }
    }

    /// Bytes read so far.
    pub(crate) const fn offset(&self) -> usize {
        self.len - self.rest.len()
    }

    /// Bytes not read yet.
    pub(crate) const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Unsigned integer, at most `max`.
    #[inline(always)]
    pub(crate) fn unsigned(&mut self, max: u64) -> Result<u64, Code> {
        let (value, rest) = match short_unsigned(self.rest, self.strict) {
            Some(short) => short,
            None => {
                let (value, rest) = wide_unsigned(self.rest, self.strict)?;
                (u64::try_from(value).map_err(|_| Code::D2)?, rest)
            }
        };
        if value > max {
            return Err(Code::D2);
        }
        self.rest = rest;
        Ok(value)
    }

    /// Nullable unsigned integer: 0 is NULL, a value is sent one larger, so that `u64::MAX` takes 65 bits (§10.6.1).
    #[inline(always)]
    pub(crate) fn nullable_unsigned(&mut self, max: u64) -> Result<Option<u64>, Code> {
        let (value, rest) = match short_unsigned(self.rest, self.strict) {
            Some((sent, rest)) => (sent.checked_sub(1), rest),
            None => {
                let (sent, rest) = wide_unsigned(self.rest, self.strict)?;
                (
                    sent.checked_sub(1)
                        .map(u64::try_from)
                        .transpose()
                        .map_err(|_| Code::D2)?,
                    rest,
                )
            }
        };
        if value.is_some_and(|value| value > max) {
            return Err(Code::D2);
        }
        self.rest = rest;
        Ok(value)
    }

    /// Signed integer in `-max - 1 ..= max`.
    #[inline(always)]
    pub(crate) fn signed(&mut self, max: u64) -> Result<i64, Code> {
        let (value, rest) = match short_signed(self.rest, self.strict) {
            Some(short) => short,
            None => {
                let (value, rest) = wide_signed(self.rest, self.strict)?;
                (i64::try_from(value).map_err(|_| Code::D2)?, rest)
            }
        };
        in_range(value, max)?;
        self.rest = rest;
        Ok(value)
    }

    /// Nullable signed integer: 0 is NULL, values from 0 up are sent one larger, negative ones as they are.
    #[inline(always)]
    pub(crate) fn nullable_signed(&mut self, max: u64) -> Result<Option<i64>, Code> {
        let (value, rest) = match short_signed(self.rest, self.strict) {
            Some((sent, rest)) => (
                if sent == 0 {
                    None
                } else {
                    Some(sent - i64::from(sent > 0))
                },
                rest,
            ),
            None => {
                let (sent, rest) = wide_signed(self.rest, self.strict)?;
                let value = sent - i128::from(sent > 0);
                (
                    if sent == 0 {
                        None
                    } else {
                        Some(i64::try_from(value).map_err(|_| Code::D2)?)
                    },
                    rest,
                )
            }
        };
        if let Some(value) = value {
            in_range(value, max)?;
        }
        self.rest = rest;
        Ok(value)
    }

    /// Difference between two integers of any type: 65 bits and a sign.
    #[inline(always)]
    pub(crate) fn delta(&mut self) -> Result<i128, Code> {
        let (value, rest) = match short_signed(self.rest, self.strict) {
            Some((value, rest)) => (i128::from(value), rest),
            None => wide_signed(self.rest, self.strict)?,
        };
        self.rest = rest;
        Ok(value)
    }

    /// Difference of at most 5 bytes, `Some(None)` for NULL; `None` leaves it to [`delta`](Self::delta) and
    /// [`nullable_delta`](Self::nullable_delta).
    #[inline(always)]
    pub(crate) fn short_delta(&mut self, nullable: bool) -> Option<Option<i64>> {
        let (sent, rest) = short_signed(self.rest, self.strict)?;
        self.rest = rest;
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
        let (whole, rest) = stop_bit_entity(self.rest)?;
        let text = if whole.first().is_some_and(|first| first & DATA == 0) {
            self.without_preamble(whole)?
        } else {
            Ascii(whole)
        };
        self.rest = rest;
        Ok(text)
    }

    /// Nullable ASCII string: `80` is NULL, and the preamble is one byte longer.
    #[inline]
    pub(crate) fn nullable_ascii(&mut self) -> Result<Option<Ascii<'a>>, Code> {
        let (whole, rest) = stop_bit_entity(self.rest)?;
        let text = match whole {
            [first, inner @ ..] if first & DATA == 0 => match inner {
                [] => None,
                [next, ..] if next & DATA == 0 => Some(self.without_preamble(inner)?),
                _ if self.strict => return Err(Code::R9),
                _ => Some(Ascii(inner)),
            },
            _ => Some(Ascii(whole)),
        };
        self.rest = rest;
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
        match self.rest {
            [byte, rest @ ..] if byte & STOP != 0 && *byte != STOP => {
                self.rest = rest;
                Some(byte & DATA)
            }
            _ => None,
        }
    }

    /// Byte vector: length, then bytes.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Code> {
        let before = self.rest;
        let len = self.unsigned(u64::from(u32::MAX))?;
        self.take(len, before)
    }

    /// Nullable byte vector: the length is nullable.
    pub(crate) fn nullable_bytes(&mut self) -> Result<Option<&'a [u8]>, Code> {
        let before = self.rest;
        match self.nullable_unsigned(u64::from(u32::MAX))? {
            Some(len) => self.take(len, before).map(Some),
            None => Ok(None),
        }
    }

    fn take(&mut self, len: u64, before: &'a [u8]) -> Result<&'a [u8], Code> {
        let split = usize::try_from(len)
            .ok()
            .and_then(|len| self.rest.split_at_checked(len));
        let Some((bytes, rest)) = split else {
            self.rest = before;
            return Err(Code::Truncated);
        };
        self.rest = rest;
        Ok(bytes)
    }

    /// The bytes up to the first with a stop bit, that one included.
    pub(crate) fn stop_bit_entity(&mut self) -> Result<&'a [u8], Code> {
        let (whole, rest) = stop_bit_entity(self.rest)?;
        self.rest = rest;
        Ok(whole)
    }

    /// Whether encodings with bytes that say nothing are errors.
    pub(crate) const fn is_strict(&self) -> bool {
        self.strict
    }

    /// Presence map of any length. Nothing is copied: bits are taken from the bytes as they are asked for.
    #[inline]
    pub(crate) fn presence_map(&mut self) -> Result<PresenceMap<'a>, Code> {
        if let [byte, rest @ ..] = self.rest
            && byte & STOP != 0
        {
            self.rest = rest;
            return Ok(PresenceMap {
                bits: u64::from(*byte) << 57,
                left: u32::MAX,
                more: &[],
            });
        }
        if let [first, last, rest @ ..] = self.rest
            && last & STOP != 0
            && *last != STOP
        {
            self.rest = rest;
            let bits = u64::from(*first) << 57 | u64::from(last & DATA) << 50;
            return Ok(PresenceMap {
                bits,
                left: u32::MAX,
                more: &[],
            });
        }
        let (whole, rest) = stop_bit_entity(self.rest)?;
        if self.strict && whole.last() == Some(&STOP) {
            return Err(Code::R7);
        }
        self.rest = rest;
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

/// The bytes up to the first with a stop bit, and those after it.
#[inline]
fn stop_bit_entity(bytes: &[u8]) -> Result<(&[u8], &[u8]), Code> {
    let last = bytes
        .iter()
        .position(|byte| byte & STOP != 0)
        .ok_or(Code::Truncated)?;
    Ok(bytes.split_at(last + 1))
}

/// Unsigned integer of at most 5 bytes that is not overlong (if `strict`); `None` leaves it to [`wide_unsigned`].
#[inline(always)]
fn short_unsigned(bytes: &[u8], strict: bool) -> Option<(u64, &[u8])> {
    let data = |byte: u8| u64::from(byte & DATA);
    if let [a, rest @ ..] = bytes
        && a & STOP != 0
    {
        return Some((data(*a), rest));
    }
    if strict && bytes.first() == Some(&0) {
        return None;
    }
    match bytes {
        [a, b, rest @ ..] if b & STOP != 0 => Some((data(*a) << 7 | data(*b), rest)),
        [a, b, c, rest @ ..] if c & STOP != 0 => {
            Some((data(*a) << 14 | data(*b) << 7 | data(*c), rest))
        }
        [a, b, c, d, rest @ ..] if d & STOP != 0 => Some((
            data(*a) << 21 | data(*b) << 14 | data(*c) << 7 | data(*d),
            rest,
        )),
        [a, b, c, d, e, rest @ ..] if e & STOP != 0 => Some((
            data(*a) << 28 | data(*b) << 21 | data(*c) << 14 | data(*d) << 7 | data(*e),
            rest,
        )),
        _ => None,
    }
}

/// Signed integer of at most 5 bytes that is not overlong (if `strict`); `None` leaves it to [`wide_signed`].
#[inline(always)]
fn short_signed(bytes: &[u8], strict: bool) -> Option<(i64, &[u8])> {
    if strict && is_overlong_signed(bytes) {
        return None;
    }
    let (value, rest) = short_unsigned(bytes, false)?;
    let bits = 7 * (bytes.len() - rest.len());
    let unused = 64 - bits;
    Some(((value << unused) as i64 >> unused, rest))
}

/// Unsigned integer of any length. More than 66 bits are out of every range (D2); leading zero bytes are not, they are
/// only overlong (R6).
#[cold]
fn wide_unsigned(bytes: &[u8], strict: bool) -> Result<(u128, &[u8]), Code> {
    let (whole, rest) = stop_bit_entity(bytes)?;
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
    Ok((value, rest))
}

/// Signed integer of any length, within the same bounds.
#[cold]
fn wide_signed(bytes: &[u8], strict: bool) -> Result<(i128, &[u8]), Code> {
    let (whole, rest) = stop_bit_entity(bytes)?;
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
    Ok((value, rest))
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
