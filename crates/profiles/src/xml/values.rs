//! Values as XML writes them (DDS-XML 1.0 §7.1.4, §7.2). Knows no path.

use std::time::Duration;

use roxmltree::Node;

use super::walk::{Dialect, Walk};
use super::{elements, peers, text_of};
use crate::setting::{Kind, Setting, Words};
use crate::value::{self, Value};
use tickwire::qos::nearest_name;

/// The value in an element and its place; what is wrong with it is told to `walk`.
pub(super) fn read(
    node: Node<'_, '_>,
    setting: &Setting,
    dialect: Dialect,
    walk: &mut Walk<'_, '_>,
) -> Option<(Value, usize)> {
    let at = value_at(node);
    match setting.kind {
        Kind::Duration | Kind::FiniteDuration => {
            return Some((Value::Duration(duration(node, walk)?), at));
        }
        Kind::Peers => return Some((Value::Peers(peers::read(node, dialect, walk)), at)),
        Kind::Names | Kind::Choices(_) => return list(node, setting.kind, dialect, walk),
        _ => {}
    }
    if let Some(child) = elements(node).next() {
        let message = format!("`{}` holds a value, no elements", node.tag_name().name());
        walk.problems.add(child.range().start, message);
        return None;
    }
    match scalar(
        &text_of(node),
        node.tag_name().name(),
        setting.kind,
        dialect,
    ) {
        Ok(value) => Some((value, at)),
        Err(message) => {
            walk.problems.add(at, message);
            None
        }
    }
}

fn scalar(text: &str, element: &str, kind: Kind, dialect: Dialect) -> Result<Value, String> {
    Ok(match kind {
        Kind::Choice(words) => Value::Choice(word(&words, text)?),
        Kind::Integer { min, max } => Value::Integer(value::integer(number(text), text, min, max)?),
        Kind::Limit => match (unprefixed(text), number(text), dialect) {
            ("LENGTH_UNLIMITED", _, _) | (_, Some(-1), _) => Value::Limit(None),
            (_, Some(..=0), Dialect::FastDds) => Value::Limit(None),
            (_, number, _) => Value::Limit(Some(limit(number, text)?)),
        },
        Kind::Bool => match text {
            "true" | "1" | "TRUE" => Value::Bool(true),
            "false" | "0" | "FALSE" => Value::Bool(false),
            _ => return Err(format!("`{text}` is neither `true` nor `false`")),
        },
        Kind::Size => {
            let bytes = number(text).and_then(|bytes| u64::try_from(bytes).ok());
            let bytes = bytes.and_then(value::bounded_size);
            Value::Size(bytes.ok_or_else(|| format!("`{text}` is no number of bytes up to 1 GiB"))?)
        }
        Kind::Octets if element.ends_with("B64") => Value::Octets(base64(text)?),
        Kind::Octets => Value::Octets(octets(text, dialect)?),
        _ => Value::Text(value::text(text)?),
    })
}

fn limit(number: Option<i64>, text: &str) -> Result<u32, String> {
    let error = |_| {
        format!(
            "`{text}` is neither a number from 1 to {} nor LENGTH_UNLIMITED",
            i32::MAX
        )
    };
    value::limit(number, text).map_err(error)
}

/// A word as Connext's C API has it, without the prefix.
fn unprefixed(text: &str) -> &str {
    text.strip_prefix("DDS_").unwrap_or(text)
}

/// A word in capitals, with or without what the standard's IDL puts behind it.
pub(super) fn word(words: &Words, text: &str) -> Result<u32, String> {
    let stem = unprefixed(text);
    let stem = match stem.strip_suffix(words.suffix).unwrap_or(stem) {
        // What is XCDR in the standard's IDL is version 1.
        "XCDR" => "XCDR1",
        // Connext's default, which is what the standard's is.
        "AUTO_TYPE_COERCION" => "ALLOW_TYPE_COERCION",
        stem => stem,
    };
    let capitals = words.words.iter().map(|word| word.to_ascii_uppercase());
    let number = words
        .number(stem)
        .filter(|_| capitals.clone().any(|word| word == stem));
    number.ok_or_else(|| {
        let suffix = if text.contains("_QOS") {
            words.suffix
        } else {
            ""
        };
        let known: Vec<_> = capitals.map(|word| format!("{word}{suffix}")).collect();
        match nearest_name(text, known.iter().map(String::as_str)) {
            Some(near) => format!("unknown value `{text}`; did you mean `{near}`?"),
            None => format!(
                "unknown value `{text}`; use {}",
                value::alternatives(known.into_iter())
            ),
        }
    })
}

/// A sequence: `element` in DDS-XML, `name` in Fast DDS.
fn list(
    node: Node<'_, '_>,
    kind: Kind,
    dialect: Dialect,
    walk: &mut Walk<'_, '_>,
) -> Option<(Value, usize)> {
    let item = match (dialect, kind) {
        (Dialect::FastDds, Kind::Names) => "name",
        _ => "element",
    };
    walk.refuse_text_around(node, &[item]);
    let (mut names, mut numbers) = (Vec::new(), Vec::new());
    let mut is_sound = true;
    for child in elements(node) {
        let name = child.tag_name().name();
        if name != item {
            let message = format!("unknown element `{name}`; the values are in `{item}`");
            walk.problems.add(child.range().start, message);
            return None;
        }
        let text = text_of(child);
        let parsed = match kind {
            // Connext's word for the default, as if there were no list.
            Kind::Choices(_) if text == "AUTO_DATA_REPRESENTATION" => Ok(()),
            Kind::Choices(words) => word(&words, &text).map(|number| numbers.push(number)),
            _ => value::text(&text).map(|name| names.push(name)),
        };
        if let Err(message) = parsed {
            walk.problems.add(value_at(child), message);
            is_sound = false;
        }
    }
    let value = match kind {
        Kind::Choices(_) => Value::Choices(numbers),
        _ => Value::Names(names),
    };
    is_sound.then_some((value, node.range().start))
}

/// `sec` and `nanosec` (DDS-XML 1.0 §7.2.6); infinite if either is.
pub(super) fn duration(node: Node<'_, '_>, walk: &mut Walk<'_, '_>) -> Option<Duration> {
    walk.refuse_text(node);
    let (mut seconds, mut nanoseconds) = (None, None);
    for child in elements(node) {
        let (to, most) = match child.tag_name().name() {
            "sec" => (&mut seconds, INFINITE),
            "nanosec" => (&mut nanoseconds, 999_999_999),
            name => {
                let known = ["sec", "nanosec"].into_iter();
                walk.problems
                    .unknown(child.range().start, "element", name, known);
                return None;
            }
        };
        let text = text_of(child);
        let parsed = match unprefixed(&text) {
            "DURATION_INFINITY" | "DURATION_INFINITE_SEC" | "DURATION_INFINITE_NSEC" => {
                Some(INFINITE)
            }
            "DURATION_ZERO_SEC" | "DURATION_ZERO_NSEC" => Some(0),
            text => number(text).and_then(|number| u64::try_from(number).ok()),
        };
        match parsed {
            Some(number) if number <= most || number == INFINITE => *to = Some(number),
            _ => {
                let what = child.tag_name().name();
                let message = format!(
                    "`{text}` is no `{what}`: use a whole number from 0 to {most} or DURATION_INFINITY"
                );
                walk.problems.add(value_at(child), message);
                return None;
            }
        }
    }
    match (seconds, nanoseconds) {
        (None, None) => {
            let message = format!(
                "`{}` has neither `sec` nor `nanosec`",
                node.tag_name().name()
            );
            walk.problems.add(node.range().start, message);
            None
        }
        (Some(INFINITE), _) | (_, Some(INFINITE)) => Some(Duration::MAX),
        (seconds, nanoseconds) => {
            let nanoseconds = u32::try_from(nanoseconds.unwrap_or(0)).unwrap_or(0);
            Some(Duration::new(seconds.unwrap_or(0), nanoseconds))
        }
    }
}

/// Decimal, or hexadecimal after 0x.
pub(super) fn number(text: &str) -> Option<i64> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    match hexadecimal {
        Some(digits) if digits.starts_with(['+', '-']) => None,
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// DDS-XML: numbers between commas. Fast DDS: hexadecimal digits between dots.
fn octets(text: &str, dialect: Dialect) -> Result<Vec<u8>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let octet = |part: &str| match dialect {
        Dialect::DdsXml => number(part).and_then(|number| u8::try_from(number).ok()),
        Dialect::FastDds => u8::from_str_radix(part, 16).ok(),
    };
    let (separator, example) = match dialect {
        Dialect::DdsXml => (',', "72, 0x69"),
        Dialect::FastDds => ('.', "48.69"),
    };
    let parts = text.split(separator).map(str::trim);
    let parsed = parts.map(|part| {
        octet(part).ok_or_else(|| format!("`{part}` is no octet; write them as {example}"))
    });
    parsed.collect()
}

/// Base 64 (RFC 4648 §4), with or without padding; space is skipped.
fn base64(text: &str) -> Result<Vec<u8>, String> {
    let digits = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let digits: Vec<u8> = digits.collect();
    let unpadded = digits
        .strip_suffix(b"==")
        .or_else(|| digits.strip_suffix(b"="));
    let (mut bits, mut count, mut octets) = (0_u32, 0_u32, Vec::new());
    for &digit in unpadded.unwrap_or(&digits) {
        let six = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            other => return Err(format!("`{}` is no digit of base 64", char::from(other))),
        };
        bits = (bits << 6 | u32::from(six)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            octets.extend(u8::try_from((bits >> count) & 0xff));
        }
    }
    match count {
        6 => Err("a digit of base 64 is missing".to_owned()),
        _ => Ok(octets),
    }
}

/// Where the text of an element begins.
pub(super) fn value_at(node: Node<'_, '_>) -> usize {
    let text = node.children().find(|child| child.is_text());
    let spaces = |text: Node<'_, '_>| {
        let text = text.text().unwrap_or_default();
        text.len() - text.trim_start().len()
    };
    text.map_or(node.range().start, |text| text.range().start + spaces(text))
}

/// What stands for infinite in numbers (DDS 1.4 §2.3.3).
const INFINITE: u64 = 0x7fff_ffff;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_as_the_rfc_has_it() {
        let decoded =
            |text: &str| base64(text).map(|octets| String::from_utf8(octets).expect("ASCII"));
        for (text, expected) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9v\n YmFy", "foobar"),
            ("Zm9vYg", "foob"),
        ] {
            assert_eq!(decoded(text).as_deref(), Ok(expected));
        }
        assert!(base64("Zm9v!").is_err());
        assert!(base64("Z").is_err());
    }

    #[test]
    fn octets_have_a_form_for_each_dialect() {
        assert_eq!(octets("72, 0x69", Dialect::DdsXml), Ok(vec![72, 0x69]));
        assert_eq!(octets("48.6.f", Dialect::FastDds), Ok(vec![0x48, 6, 15]));
        assert!(octets("256", Dialect::DdsXml).is_err());
        assert!(octets("48.", Dialect::FastDds).is_err());
    }
}
