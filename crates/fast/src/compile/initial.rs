//! Initial values: from the text of a `value` attribute to a value of the field's type (FAST 1.1 §6.3.2, appendix 3).

use crate::Decimal;
use crate::field::FieldType;

/// A converted initial value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// The bits of a signed or unsigned integer.
    Integer(u64),
    Decimal(Decimal),
    Text(Box<str>),
    Bytes(Box<[u8]>),
}

impl Value {
    /// Whether the value is an integer that a decimal's exponent can be.
    pub(super) fn is_exponent(&self) -> bool {
        matches!(self, Self::Integer(bits) if i8::try_from(bits.cast_signed()).is_ok_and(|e| Decimal::new(0, e).is_some()))
    }
}

/// `None` if the type cannot hold what the text says (S3).
pub(super) fn convert(field_type: FieldType, text: &str) -> Option<Value> {
    match field_type {
        FieldType::Decimal => text
            .trim()
            .parse::<Decimal>()
            .ok()
            .map(|value| Value::Decimal(value.normalized())),
        FieldType::Ascii => text.is_ascii().then(|| Value::Text(text.into())),
        FieldType::Unicode => Some(Value::Text(text.into())),
        FieldType::ByteVector => hex(text).map(Value::Bytes),
        unsigned if unsigned.is_unsigned() => digits(text)?
            .parse::<u64>()
            .ok()
            .filter(|value| *value <= unsigned.max())
            .map(Value::Integer),
        signed if signed.is_signed() => {
            let value = digits(text)?.parse::<i64>().ok()?;
            let max = i128::from(signed.max());
            (-max - 1..=max)
                .contains(&i128::from(value))
                .then(|| Value::Integer(value.cast_unsigned()))
        }
        _ => None,
    }
}

/// A byte vector in the dialects: mFAST lets hyphens stand between digits, QuickFAST has text that is not hexadecimal.
pub(super) fn lenient_bytes(text: &str) -> Value {
    let bytes = hex(&text.replace('-', " "));
    Value::Bytes(bytes.unwrap_or_else(|| text.as_bytes().into()))
}

/// Trimmed digits with an optional minus; other notations that Rust would read are refused.
fn digits(text: &str) -> Option<&str> {
    let text = text.trim();
    (!text.starts_with('+')).then_some(text)
}

/// Pairs of hexadecimal digits, blanks anywhere.
fn hex(text: &str) -> Option<Box<[u8]>> {
    let mut bytes = Vec::new();
    let mut high = None;
    for c in text.chars().filter(|c| !c.is_ascii_whitespace()) {
        let digit = u8::try_from(c.to_digit(16)?).ok()?;
        match high.take() {
            None => high = Some(digit << 4),
            Some(high) => bytes.push(high | digit),
        }
    }
    high.is_none().then(|| bytes.into_boxed_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_held_to_their_type() {
        assert_eq!(
            convert(FieldType::UInt32, " 4294967295 "),
            Some(Value::Integer(u64::from(u32::MAX)))
        );
        assert_eq!(
            convert(FieldType::Int32, "-2147483648"),
            Some(Value::Integer((-2_147_483_648_i64).cast_unsigned()))
        );
        assert_eq!(
            convert(FieldType::UInt64, "18446744073709551615"),
            Some(Value::Integer(u64::MAX))
        );
        for (field_type, text) in [
            (FieldType::UInt32, "4294967296"),
            (FieldType::UInt32, "-1"),
            (FieldType::UInt32, ""),
            (FieldType::UInt32, "+1"),
            (FieldType::Int32, "2147483648"),
            (FieldType::Int8, "-129"),
            (FieldType::UInt8, "1x"),
        ] {
            assert_eq!(convert(field_type, text), None, "{field_type:?} {text}");
        }
    }

    #[test]
    fn decimals_are_normalized() {
        assert_eq!(
            convert(FieldType::Decimal, "12000"),
            Decimal::new(12, 3).map(Value::Decimal)
        );
        assert_eq!(
            convert(FieldType::Decimal, "12.50"),
            Decimal::new(125, -1).map(Value::Decimal)
        );
        assert_eq!(
            convert(FieldType::Decimal, ".5"),
            Decimal::new(5, -1).map(Value::Decimal)
        );
        assert_eq!(convert(FieldType::Decimal, "1,5"), None);
    }

    #[test]
    fn strings_and_bytes() {
        assert_eq!(
            convert(FieldType::Ascii, " a "),
            Some(Value::Text(" a ".into()))
        );
        assert_eq!(convert(FieldType::Ascii, "é"), None);
        assert_eq!(
            convert(FieldType::Unicode, "é"),
            Some(Value::Text("é".into()))
        );
        assert_eq!(
            convert(FieldType::ByteVector, "0A ff"),
            Some(Value::Bytes([0x0a, 0xff].into()))
        );
        assert_eq!(convert(FieldType::ByteVector, "0A f"), None);
        assert_eq!(convert(FieldType::ByteVector, "zz"), None);
        assert_eq!(lenient_bytes("0A-ff"), Value::Bytes([0x0a, 0xff].into()));
        assert_eq!(
            lenient_bytes("a vector"),
            Value::Bytes(b"a vector"[..].into())
        );
    }
}
