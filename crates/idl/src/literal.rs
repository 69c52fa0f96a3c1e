//! What literals mean (IDL 4.2 §7.2.6).

/// A whole number: decimal, octal after `0`, or hexadecimal after `0x`.
pub(crate) fn integer(text: &str) -> Option<u128> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = match (hex, text.strip_prefix('0')) {
        (Some(hex), _) => (hex, 16),
        (None, Some(octal)) if !octal.is_empty() => (octal, 8),
        _ => (text, 10),
    };
    let is_plain = !digits.is_empty() && !digits.starts_with(['+', '-']);
    u128::from_str_radix(digits, radix)
        .ok()
        .filter(|_| is_plain)
}

/// A number with a point or an exponent.
pub(crate) fn float(text: &str) -> Option<f64> {
    let is_decimal = text
        .chars()
        .all(|char| matches!(char, '0'..='9' | '.' | 'e' | 'E' | '+' | '-'));
    text.parse().ok().filter(|_| is_decimal)
}

/// The characters of a literal that stands between quotation marks, with or without `L` before them.
/// An error is what is wrong.
pub(crate) fn characters(literal: &str, wide: bool) -> Result<String, &'static str> {
    let body = literal.strip_prefix('L').unwrap_or(literal);
    let mut chars = body.chars();
    chars.next();
    chars.next_back();
    let mut text = String::new();
    while let Some(char) = chars.next() {
        if char != '\\' {
            text.push(char);
            continue;
        }
        let escape = chars.next().unwrap_or_default();
        let mut digits = |first: &str, radix: u32, most: usize| {
            let mut value = first.chars().next().and_then(|char| char.to_digit(radix));
            let mut count = first.len();
            while count < most
                && let Some(digit) = chars
                    .as_str()
                    .chars()
                    .next()
                    .and_then(|c| c.to_digit(radix))
            {
                chars.next();
                count += 1;
                value = Some(value.unwrap_or_default() * radix + digit);
            }
            value
        };
        let char = match escape {
            'n' => '\n',
            't' => '\t',
            'v' => '\u{b}',
            'b' => '\u{8}',
            'r' => '\r',
            'f' => '\u{c}',
            'a' => '\u{7}',
            '\\' | '?' | '\'' | '"' => escape,
            '0'..='7' => {
                let value = digits(escape.encode_utf8(&mut [0; 4]), 8, 3);
                value.and_then(char::from_u32).ok_or(WRONG_ESCAPE)?
            }
            'x' => digits("", 16, 2)
                .and_then(char::from_u32)
                .ok_or(WRONG_ESCAPE)?,
            'u' if wide => digits("", 16, 4)
                .and_then(char::from_u32)
                .ok_or(WRONG_ESCAPE)?,
            _ => return Err(WRONG_ESCAPE),
        };
        text.push(char);
    }
    Ok(text)
}

const WRONG_ESCAPE: &str = "there is an escape that IDL does not have";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_three_forms() {
        assert_eq!(integer("0"), Some(0));
        assert_eq!(integer("017"), Some(15));
        assert_eq!(integer("0xFF"), Some(255));
        assert_eq!(integer("340282366920938463463374607431768211456"), None);
        for wrong in ["", "08", "0x", "1a", "-1", "0x+1"] {
            assert_eq!(integer(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn escapes_are_those_of_idl() {
        assert_eq!(
            characters(r#""a\tb\101\x7a\"""#, false).as_deref(),
            Ok("a\tbAz\"")
        );
        assert_eq!(characters(r#"L"\u00e9""#, true).as_deref(), Ok("é"));
        assert!(characters(r#""\q""#, false).is_err());
        assert!(characters(r#""\u00e9""#, false).is_err());
    }

    #[test]
    fn floats_have_no_names() {
        assert_eq!(float("1.5e3"), Some(1500.0));
        assert_eq!(float("inf"), None);
        assert_eq!(float("1.5f"), None);
    }
}
