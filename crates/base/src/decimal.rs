//! Exact decimal numbers, as FAST carries them and topics publish them. Knows neither encoding.

use core::fmt::{self, Write as _};
use core::str::FromStr;

/// A decimal number: `mantissa` · 10^`exponent`, kept apart so that it stays exactly as it was on the wire.
///
/// Equality is that of the parts: 5·10^1 and 50·10^0 are two values. FAST allows exponents -63..=63
/// (FAST 1.1 §6.2.2); [`Decimal::new`] holds to that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Decimal {
    mantissa: i64,
    exponent: i8,
}

impl Decimal {
    /// The largest exponent; the smallest is its negative.
    pub const MAX_EXPONENT: i8 = 63;

    /// `mantissa` · 10^`exponent`, or `None` for an exponent outside -63..=63.
    pub const fn new(mantissa: i64, exponent: i8) -> Option<Self> {
        if exponent < -Self::MAX_EXPONENT || exponent > Self::MAX_EXPONENT {
            None
        } else {
            Some(Self { mantissa, exponent })
        }
    }

    /// The digits with their sign.
    pub const fn mantissa(self) -> i64 {
        self.mantissa
    }

    /// The power of ten.
    pub const fn exponent(self) -> i8 {
        self.exponent
    }

    /// The same number without trailing zeros in the mantissa; zero is 0·10^0. Initial values are kept in this form
    /// (FAST 1.1 §6.3.2). Zeros that would take the exponent above 63 stay.
    pub const fn normalized(mut self) -> Self {
        if self.mantissa == 0 {
            return Self {
                mantissa: 0,
                exponent: 0,
            };
        }
        while self.mantissa % 10 == 0 && self.exponent < Self::MAX_EXPONENT {
            self.mantissa /= 10;
            self.exponent += 1;
        }
        self
    }
}

/// The number without exponent notation, with as many fraction digits as the exponent has: 1250·10^-2 is `12.50`.
/// The text is a JSON number too.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.exponent >= 0 {
            write!(f, "{}", self.mantissa)?;
            let zeros = if self.mantissa == 0 { 0 } else { self.exponent };
            return (0..zeros).try_for_each(|_| f.write_char('0'));
        }
        let fraction_len = usize::from(self.exponent.unsigned_abs());
        let sign = if self.mantissa < 0 { "-" } else { "" };
        let magnitude = self.mantissa.unsigned_abs();
        match 10u64.checked_pow(u32::from(self.exponent.unsigned_abs())) {
            Some(unit) => write!(
                f,
                "{sign}{}.{:0fraction_len$}",
                magnitude / unit,
                magnitude % unit
            ),
            None => write!(f, "{sign}0.{magnitude:0fraction_len$}"),
        }
    }
}

/// Why text is no decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseDecimalError {
    /// It is not a decimal number.
    Syntax,
    /// Its mantissa or exponent is out of range.
    Range,
}

impl fmt::Display for ParseDecimalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "not a decimal number",
            Self::Range => "a decimal number out of range",
        })
    }
}

impl core::error::Error for ParseDecimalError {}

/// Reads `[-]digits[.digits]` or `[-].digits`; fraction digits count: `12.50` is 1250·10^-2. Trailing zeros for which the
/// mantissa has no room go into the exponent.
impl FromStr for Decimal {
    type Err = ParseDecimalError;

    fn from_str(text: &str) -> Result<Self, ParseDecimalError> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let has_point = whole.len() < digits.len();
        if (whole.is_empty() && fraction.is_empty()) || (has_point && fraction.is_empty()) {
            return Err(ParseDecimalError::Syntax);
        }
        let mut magnitude: i128 = 0;
        let mut exponent = -i32::try_from(fraction.len()).map_err(|_| ParseDecimalError::Range)?;
        let mut zeros = 0;
        for byte in whole.bytes().chain(fraction.bytes()) {
            if !byte.is_ascii_digit() {
                return Err(ParseDecimalError::Syntax);
            }
            if byte == b'0' && magnitude > MANTISSA_FOR_TEN {
                zeros += 1;
                continue;
            }
            // Zeros that were left out count again before another digit.
            for _ in 0..=zeros {
                magnitude = magnitude.saturating_mul(10);
            }
            zeros = 0;
            magnitude = magnitude.saturating_add(i128::from(byte - b'0'));
        }
        exponent += zeros;
        let mantissa = i64::try_from(if negative { -magnitude } else { magnitude })
            .map_err(|_| ParseDecimalError::Range)?;
        let exponent = i8::try_from(exponent).map_err(|_| ParseDecimalError::Range)?;
        Self::new(mantissa, exponent).ok_or(ParseDecimalError::Range)
    }
}

/// The largest magnitude that can be multiplied by ten and stay a mantissa.
const MANTISSA_FOR_TEN: i128 = (i64::MAX / 10) as i128;

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    fn decimal(mantissa: i64, exponent: i8) -> Decimal {
        Decimal::new(mantissa, exponent).unwrap()
    }

    #[test]
    fn text_is_exact() {
        for (mantissa, exponent, text) in [
            (1250, -2, "12.50"),
            (-5, -3, "-0.005"),
            (0, -2, "0.00"),
            (0, 7, "0"),
            (12, 3, "12000"),
            (i64::MIN, 0, "-9223372036854775808"),
            (i64::MIN, -19, "-0.9223372036854775808"),
            (1, -20, "0.00000000000000000001"),
            (-1, -1, "-0.1"),
        ] {
            assert_eq!(decimal(mantissa, exponent).to_string(), text);
        }
        assert_eq!(decimal(7, -63).to_string().len(), 65);
        assert_eq!(decimal(7, 63).to_string().len(), 64);
    }

    #[test]
    fn text_is_read_back() {
        for (text, mantissa, exponent) in [
            ("12.50", 1250, -2),
            ("-.5", -5, -1),
            ("50000000000000000000", 5_000_000_000_000_000_000, 1),
            ("-0.50000000000000000000", -5_000_000_000_000_000_000, -19),
            ("0", 0, 0),
            ("-9223372036854775808", i64::MIN, 0),
        ] {
            assert_eq!(text.parse(), Ok(decimal(mantissa, exponent)));
        }
        for text in ["", "-", ".", "5.", "1e3", "+1", "1.2.3"] {
            let error = Err(ParseDecimalError::Syntax);
            assert_eq!(text.parse::<Decimal>(), error, "{text}");
        }
        for text in [
            "9223372036854775808",
            "99999999999999999999999999999999999999999999",
        ] {
            let error = Err(ParseDecimalError::Range);
            assert_eq!(text.parse::<Decimal>(), error, "{text}");
        }
    }

    #[test]
    fn exponents_are_bounded() {
        assert_eq!(Decimal::new(1, 64), None);
        assert_eq!(Decimal::new(1, -64), None);
        assert_eq!(Decimal::new(1, i8::MIN), None);
    }

    #[test]
    fn normal_form_has_no_trailing_zeros() {
        assert_eq!(decimal(12000, 0).normalized(), decimal(12, 3));
        assert_eq!(decimal(0, -4).normalized(), decimal(0, 0));
        assert_eq!(decimal(100, 62).normalized(), decimal(10, 63));
    }
}
