//! Values of members and literals, in the few forms that can be compared.

use alloc::string::String;
use core::cmp::Ordering;

use crate::dynamic::Value;

/// A member's place for its value; the value is worth reading only if it is present.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) is_present: bool,
    pub(super) held: Held,
}

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Held {
    /// Integers, booleans (0 and 1), characters, enumerators, bitmasks and bitsets.
    Integer(i128),
    /// A mantissa and a power of ten.
    Decimal(i64, i32),
    /// `float` and `double`.
    Float(f64),
    /// Strings.
    Text(String),
}

impl Held {
    /// Takes over a value of the kind that this one is of.
    pub(super) fn set(&mut self, value: Value<'_>) {
        match (self, value) {
            (Self::Text(held), Value::Str(text)) => {
                held.clear();
                held.push_str(text);
            }
            (held, Value::Bool(value)) => *held = Self::Integer(value.into()),
            (held, Value::Unsigned(value)) => *held = Self::Integer(value.into()),
            (held, Value::Bits(_, value) | Value::Bitset(_, value)) => {
                *held = Self::Integer(value.into());
            }
            (held, Value::Signed(value)) => *held = Self::Integer(value.into()),
            (held, Value::Char(value)) => *held = Self::Integer(u32::from(value).into()),
            (held, Value::Enum(literal)) => *held = Self::Integer(literal.value.into()),
            (held, Value::F32(value)) => *held = Self::Float(value.into()),
            (held, Value::F64(value)) => *held = Self::Float(value),
            (held, Value::Str(text)) => *held = Self::Text(text.into()),
        }
    }

    /// Which of two is greater; `None` when that cannot be said, as of NaN.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(b)),
            (Self::Integer(a), &Self::Decimal(m, e)) => {
                Some(compare_decimals((*a, 0), (m.into(), e)))
            }
            (&Self::Decimal(m, e), Self::Integer(b)) => {
                Some(compare_decimals((m.into(), e), (*b, 0)))
            }
            (&Self::Decimal(m, e), &Self::Decimal(n, f)) => {
                Some(compare_decimals((m.into(), e), (n.into(), f)))
            }
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b),
            (Self::Integer(a), Self::Float(b)) => compare_with_float(*a, *b),
            (Self::Float(a), Self::Integer(b)) => compare_with_float(*b, *a).map(Ordering::reverse),
            (Self::Text(a), Self::Text(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

/// Exactly, of mantissas within 65 bits and any exponents.
fn compare_decimals(a: (i128, i32), b: (i128, i32)) -> Ordering {
    let signs = a.0.signum().cmp(&b.0.signum());
    if signs != Ordering::Equal || a.0 == 0 {
        return signs;
    }
    let (x, y) = (a.0.unsigned_abs(), b.0.unsigned_abs());
    let magnitude =
        |mantissa: u128, exponent: i32| i64::from(mantissa.ilog10()) + i64::from(exponent);
    let order = magnitude(x, a.1).cmp(&magnitude(y, b.1)).then_with(|| {
        // Of equal magnitude: the exponents differ by no more than the mantissas' lengths do.
        let scale = 10u128.saturating_pow(a.1.abs_diff(b.1));
        match a.1 > b.1 {
            true => x.saturating_mul(scale).cmp(&y),
            false => x.cmp(&y.saturating_mul(scale)),
        }
    });
    if a.0 < 0 { order.reverse() } else { order }
}

/// An integer within 65 bits with a float, exactly.
fn compare_with_float(integer: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // Rounds towards zero, and to the ends of the range beyond it.
    let whole = float as i128;
    let rest = float - whole as f64;
    let by_rest = || 0.0.partial_cmp(&rest);
    match integer.cmp(&whole) {
        Ordering::Equal => by_rest(),
        order => Some(order),
    }
}

/// Whether text is like a pattern in which `%` stands for any text and `_` for one character.
pub(super) fn is_like(text: &str, pattern: &str) -> bool {
    let (mut text, mut pattern) = (text.chars(), pattern.chars());
    // Where to go on when what followed the last `%` does not fit: one character later.
    let mut retry = None;
    loop {
        let mut rest = text.clone();
        match (pattern.clone().next(), rest.next()) {
            (Some('%'), _) => {
                pattern.next();
                retry = Some((text.clone(), pattern.clone()));
                continue;
            }
            (None, None) => return true,
            (Some(wanted), Some(found)) if wanted == '_' || wanted == found => {
                pattern.next();
                text = rest;
                continue;
            }
            _ => {}
        }
        let Some((mut later, after)) = retry else {
            return false;
        };
        if later.next().is_none() {
            return false;
        }
        (text, pattern) = (later.clone(), after.clone());
        retry = Some((later, after));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_compared_exactly() {
        let cases = [
            ((15, -1), (2, 0), Ordering::Less),
            ((20, -1), (2, 0), Ordering::Equal),
            ((-15, -1), (-2, 0), Ordering::Greater),
            ((0, 63), (0, -63), Ordering::Equal),
            ((1, 63), (i128::from(u64::MAX), 0), Ordering::Greater),
            ((1, -63), (0, 0), Ordering::Greater),
            (
                (9_007_199_254_740_993, 0),
                (9_007_199_254_740_992, 0),
                Ordering::Greater,
            ),
            ((-1, 0), (1, -63), Ordering::Less),
        ];
        for (a, b, order) in cases {
            assert_eq!(compare_decimals(a, b), order, "{a:?} {b:?}");
            assert_eq!(compare_decimals(b, a), order.reverse(), "{b:?} {a:?}");
        }
    }

    #[test]
    fn integers_are_compared_with_floats_exactly() {
        let big = 9_007_199_254_740_993; // 2^53 + 1, which no double is
        assert_eq!(
            compare_with_float(big, 9_007_199_254_740_992.0),
            Some(Ordering::Greater)
        );
        assert_eq!(compare_with_float(1, 1.5), Some(Ordering::Less));
        assert_eq!(compare_with_float(-1, -1.5), Some(Ordering::Greater));
        assert_eq!(compare_with_float(1, f64::INFINITY), Some(Ordering::Less));
        assert_eq!(compare_with_float(1, f64::NAN), None);
    }

    #[test]
    fn patterns_fit_as_in_sql() {
        for (text, pattern) in [
            ("", ""),
            ("", "%"),
            ("EURUSD", "EUR%"),
            ("EURUSD", "%USD"),
            ("EURUSD", "%R%S%"),
            ("EURUSD", "______"),
            ("aab", "%ab"),
            ("äb", "_b"),
        ] {
            assert!(is_like(text, pattern), "{text} {pattern}");
        }
        for (text, pattern) in [
            ("", "_"),
            ("EURUSD", "EUR"),
            ("EURUSD", "%USE"),
            ("ab", "_"),
            ("a", ""),
        ] {
            assert!(!is_like(text, pattern), "{text} {pattern}");
        }
    }
}
