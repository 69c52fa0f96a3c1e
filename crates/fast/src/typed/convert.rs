//! Conversions between the type of a field and that of a member (FAST 1.1 §8). Knows nothing of members or messages.
//!
//! ```text
//! from \ to     integer            decimal            string             byte vector
//! integer       R4 if it is lost   R1 if it is lost   digits             D10
//! decimal       R5, R4             itself             with a point       D10
//! string        D11, R4            D11, R1            R3 if not ASCII    hexadecimal, D11
//! byte vector   D10                D10                hexadecimal        itself
//! ```

use core::fmt::Write;

use super::member::Event;
use crate::{Code, Decimal};
use tickwire_base::ParseDecimalError;

/// An integer that a field or member can have.
pub(super) trait Integer: TryFrom<u64> + TryFrom<i64> + TryFrom<i128> {
    /// Whether text may have a minus.
    const SIGNED: bool;
}

macro_rules! integers {
    ($($type:ty => $signed:literal),*) => {$(
        impl Integer for $type {
            const SIGNED: bool = $signed;
        }
    )*};
}

integers!(u8 => false, u16 => false, u32 => false, u64 => false);
integers!(i8 => true, i16 => true, i32 => true, i64 => true);

/// An integer of any value that is none (D10 for byte vectors; §8.1.1, §8.2.1, §8.3.1).
#[inline]
pub(super) fn integer<T: Integer>(value: Event<'_>) -> Result<T, Code> {
    match value {
        Event::Unsigned(value) => T::try_from(value).map_err(|_| Code::R4),
        Event::Signed(value) => T::try_from(value).map_err(|_| Code::R4),
        Event::Decimal(value) => T::try_from(whole(value)?).map_err(|_| Code::R4),
        Event::Text(text) => T::try_from(digits(text, T::SIGNED)?).map_err(|_| Code::R4),
        Event::Bytes(_) => Err(Code::D10),
        Event::Begin | Event::Element => Err(Code::D1),
    }
}

/// §8.1.2, §8.2.2.
#[inline]
pub(super) fn decimal(value: Event<'_>) -> Result<Decimal, Code> {
    match value {
        Event::Decimal(value) => Ok(value),
        Event::Unsigned(value) => from_integer(value.into()),
        Event::Signed(value) => from_integer(value.into()),
        Event::Text(text) => match trimmed(text).parse() {
            Ok(value) => Ok(value),
            Err(ParseDecimalError::Syntax) => Err(Code::D11),
            Err(ParseDecimalError::Range) => Err(Code::R1),
        },
        Event::Bytes(_) => Err(Code::D10),
        Event::Begin | Event::Element => Err(Code::D1),
    }
}

/// Appends the value as text (§8.2.3, §8.3.2, §8.4).
#[inline]
pub(super) fn text(value: Event<'_>, out: &mut impl Write) -> Result<(), Code> {
    let written = match value {
        Event::Text(text) => out.write_str(text),
        Event::Unsigned(value) => write!(out, "{value}"),
        Event::Signed(value) => write!(out, "{value}"),
        Event::Decimal(value) => match whole(value) {
            Ok(value) => write!(out, "{value}"),
            Err(_) => write!(out, "{value}"),
        },
        Event::Bytes(bytes) => bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}")),
        Event::Begin | Event::Element => return Err(Code::D1),
    };
    // Text in memory takes all that is written to it.
    written.map_err(|_| Code::D1)
}

/// Appends the bytes of a byte vector, or those that a string has in hexadecimal (§8.1.3).
#[inline]
pub(super) fn bytes(value: Event<'_>, out: &mut Vec<u8>) -> Result<(), Code> {
    match value {
        Event::Bytes(bytes) => out.extend_from_slice(bytes),
        Event::Text(text) => {
            let digit = |byte: u8| char::from(byte).to_digit(16).ok_or(Code::D11);
            let mut first = None;
            for byte in text.bytes().filter(|byte| !is_blank(*byte)) {
                let digit = u8::try_from(digit(byte)?).map_err(|_| Code::D11)?;
                match first.take() {
                    None => first = Some(digit << 4),
                    Some(high) => out.push(high | digit),
                }
            }
            if first.is_some() {
                return Err(Code::D11);
            }
        }
        Event::Unsigned(_) | Event::Signed(_) | Event::Decimal(_) => return Err(Code::D10),
        Event::Begin | Event::Element => return Err(Code::D1),
    }
    Ok(())
}

/// A decimal that is an integer: R5 if it has a fraction, R4 if it is beyond every integer.
fn whole(value: Decimal) -> Result<i128, Code> {
    let mantissa = i128::from(value.mantissa());
    let power = 10i128.checked_pow(value.exponent().unsigned_abs().into());
    match (mantissa, power) {
        (0, _) => Ok(0),
        (_, Some(power)) if value.exponent() >= 0 => mantissa.checked_mul(power).ok_or(Code::R4),
        (_, None) if value.exponent() >= 0 => Err(Code::R4),
        (_, Some(power)) if mantissa % power == 0 => Ok(mantissa / power),
        _ => Err(Code::R5),
    }
}

/// With the exponent 0 if the mantissa has room; R1 if digits would be lost.
fn from_integer(value: i128) -> Result<Decimal, Code> {
    let (mantissa, exponent) = match i64::try_from(value) {
        Ok(mantissa) => (mantissa, 0),
        Err(_) if value % 10 == 0 => (i64::try_from(value / 10).map_err(|_| Code::R1)?, 1),
        Err(_) => return Err(Code::R1),
    };
    Decimal::new(mantissa, exponent).ok_or(Code::R1)
}

/// The number that text has: a minus if it may, and digits.
fn digits(text: &str, signed: bool) -> Result<i128, Code> {
    let text = trimmed(text);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) if signed => (true, digits),
        Some(_) => return Err(Code::D11),
        None => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Code::D11);
    }
    let number = digits.bytes().fold(0i128, |number, digit| {
        let digit = i128::from(digit.saturating_sub(b'0'));
        number.saturating_mul(10).saturating_add(digit)
    });
    Ok(if negative { -number } else { number })
}

/// Without the blanks around it (§8.1).
fn trimmed(text: &str) -> &str {
    text.trim_matches(|char: char| u8::try_from(char).is_ok_and(is_blank))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
