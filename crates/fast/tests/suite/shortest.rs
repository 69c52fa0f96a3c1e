//! Strings relative to previous ones take no more bytes than any other way of saying them, tried one by one.

use proptest::prelude::*;
use tickwire_fast::{Decoder, DecoderOptions, Encoder, Message, Mode, Templates, Value};

/// A stop bit entity of as few bytes as a signed integer needs.
fn signed(value: i64) -> Vec<u8> {
    let mut bytes = vec![value as u8 & 0x7f | 0x80];
    let mut rest = value >> 6;
    while rest != 0 && rest != -1 {
        bytes.insert(0, (rest >> 1) as u8 & 0x7f);
        rest >>= 7;
    }
    bytes
}

fn nullable(value: i64) -> Vec<u8> {
    signed(value + i64::from(value >= 0))
}

fn unsigned(value: usize) -> Vec<u8> {
    match value {
        0..=127 => vec![value as u8 | 0x80],
        _ => vec![(value >> 7) as u8, value as u8 & 0x7f | 0x80],
    }
}

fn ascii(text: &str, optional: bool) -> Vec<u8> {
    // A preamble marks what is empty or begins with NUL, and in nullable form is no NULL.
    let zeros = match text.as_bytes() {
        [] | [0, ..] => 1 + usize::from(optional),
        _ => 0,
    };
    let mut bytes = vec![0; zeros];
    bytes.extend(text.as_bytes());
    *bytes.last_mut().unwrap() |= 0x80;
    bytes
}

/// The string in its own form.
fn string(text: &str, unicode: bool, optional: bool) -> Vec<u8> {
    if !unicode {
        return ascii(text, optional);
    }
    let mut bytes = unsigned(text.len() + usize::from(optional));
    bytes.extend(text.as_bytes());
    bytes
}

fn templates(operator: &str, unicode: bool, optional: bool) -> Templates {
    let charset = if unicode { "unicode" } else { "ascii" };
    let presence = if optional { "optional" } else { "mandatory" };
    let xml = format!(
        r#"<template name="T" id="1"><string name="F" charset="{charset}" presence="{presence}">{operator}</string></template>"#
    );
    Templates::parse(&xml, Mode::Strict).unwrap()
}

fn message(templates: &Templates, value: &str) -> Message {
    let mut message = Message::new();
    let template = templates.by_name("T").unwrap();
    message.build(template).set("F", value).unwrap();
    message
}

/// How many bytes `value` takes after `base`, by the encoder and by the shortest of `ways` that decodes to it.
fn lengths(templates: &Templates, base: &str, value: &str, ways: Vec<Vec<u8>>) -> (usize, usize) {
    let strict = DecoderOptions {
        strict: true,
        ..DecoderOptions::default()
    };
    let mut encoder = Encoder::new(templates);
    let mut decoder = Decoder::with_options(templates, strict);
    let (mut first, mut bytes, mut decoded) = (Vec::new(), Vec::new(), Message::new());
    encoder
        .encode(&message(templates, base), &mut first)
        .unwrap();
    decoder.decode(&first, &mut ()).unwrap();
    encoder
        .encode(&message(templates, value), &mut bytes)
        .unwrap();
    let mut says_value = |bytes: &[u8]| {
        let done = decoder.clone().decode(bytes, &mut decoded);
        done == Ok(bytes.len()) && decoded.get("F") == Some(Value::Text(value))
    };
    assert!(says_value(&bytes), "{bytes:02x?}");
    let shortest = ways
        .iter()
        .filter(|way| says_value(way))
        .map(Vec::len)
        .min();
    (bytes.len(), shortest.unwrap())
}

/// Strings with much in common, at and around the lengths that take another byte.
fn strings() -> impl Strategy<Value = (String, String)> {
    let part = || {
        prop_oneof![
            Just(String::new()),
            "[\\x00ab]{0,5}",
            "a{60,66}",
            "b{126,130}"
        ]
    };
    (part(), part(), part(), part())
        .prop_map(|(a, b, c, d)| (format!("{a}{b}{c}"), format!("{a}{d}{c}")))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_all_subtraction_lengths((base, value) in strings(), unicode: bool, optional: bool) {
        let templates = templates("<delta/>", unicode, optional);
        let mut ways = Vec::new();
        for kept in 0..=base.len().min(value.len()) {
            let removed = (base.len() - kept) as i64;
            let sides = [(removed, &value[kept..]), (-removed - 1, &value[..value.len() - kept])];
            for (subtraction, added) in sides {
                let subtraction = if optional { nullable(subtraction) } else { signed(subtraction) };
                ways.push([&[0x80], &subtraction[..], &string(added, unicode, false)].concat());
            }
        }
        let (encoded, shortest) = lengths(&templates, &base, &value, ways);
        prop_assert_eq!(encoded, shortest, "{:?} after {:?}", value, base);
    }

    #[test]
    fn of_all_tails((base, value) in strings(), unicode: bool, optional: bool) {
        // A tail does not shorten.
        let (base, value) = if base.len() > value.len() { (value, base) } else { (base, value) };
        let templates = templates("<tail/>", unicode, optional);
        let tails = (0..=value.len()).map(|from| [&[0xa0], &string(&value[from..], unicode, optional)[..]].concat());
        let ways = tails.chain([vec![0x80]]).collect();
        let (encoded, shortest) = lengths(&templates, &base, &value, ways);
        prop_assert_eq!(encoded, shortest, "{:?} after {:?}", value, base);
    }
}
