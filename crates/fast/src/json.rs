//! Messages as JSON text: one object, fields by their template names. Knows nothing of files or lines.

use core::fmt::{self, Write};

use crate::Field;
use crate::message::{Message, Record, Value};

/// Writes a message as one JSON object without line breaks; an empty message is `{}`.
///
/// The template's name comes first, under `template`. Absent fields are left out, groups are objects, sequences arrays
/// of objects, and a dynamic template reference is an object with a `template` of its own. Decimals are exact: 1250·10^-2
/// is `12.50`, 12·10^3 is `12e3`. Byte vectors are strings of hexadecimal digits. Of FAST 1.2, enumerations are the names of their elements,
/// sets arrays of such names, booleans `true` and `false`, timestamps integers, and bit groups objects.
///
/// # Errors
/// Those of `out`.
pub fn write(message: &Message, out: &mut impl Write) -> fmt::Result {
    out.write_char('{')?;
    if let Some(template) = message.template() {
        out.write_str("\"template\":")?;
        string(template.name(), out)?;
        members(message.record(), true, out)?;
    }
    out.write_char('}')
}

/// Writes the members of an object; `follows`: there was one before.
fn members(record: Record<'_>, mut follows: bool, out: &mut impl Write) -> fmt::Result {
    for (field, value) in record {
        if follows {
            out.write_char(',')?;
        }
        follows = true;
        string(field.name(), out)?;
        out.write_char(':')?;
        self::value(field, value, out)?;
    }
    Ok(())
}

fn value(field: Field<'_>, value: Value<'_>, out: &mut impl Write) -> fmt::Result {
    match value {
        Value::Unsigned(value) => unsigned(field, value, out),
        Value::Signed(value) => write!(out, "{value}"),
        // Zeros would say that the sender sent them.
        Value::Decimal(value) if value.exponent() > 0 => {
            write!(out, "{}e{}", value.mantissa(), value.exponent())
        }
        Value::Decimal(value) => write!(out, "{value}"),
        Value::Text(text) => string(text, out),
        Value::Bytes(bytes) => {
            out.write_char('"')?;
            bytes
                .iter()
                .try_for_each(|byte| write!(out, "{byte:02x}"))?;
            out.write_char('"')
        }
        Value::Group(record) => object(record, out),
        Value::Sequence(sequence) => {
            out.write_char('[')?;
            for (index, element) in sequence.iter().enumerate() {
                if index > 0 {
                    out.write_char(',')?;
                }
                object(element, out)?;
            }
            out.write_char(']')
        }
        Value::Template(template, record) => {
            out.write_str("{\"template\":")?;
            string(template.name(), out)?;
            members(record, true, out)?;
            out.write_char('}')
        }
    }
}

/// An unsigned integer by what its field means by it.
fn unsigned(field: Field<'_>, value: u64, out: &mut impl Write) -> fmt::Result {
    if let Some(elements) = field.enumeration() {
        // An enumeration with explicit values has integers that no element has.
        return match elements.with_value(value) {
            Some(element) => string(&element.name, out),
            None => write!(out, "{value}"),
        };
    }
    if let Some(elements) = field.set() {
        out.write_char('[')?;
        for (index, element) in elements.within(value).enumerate() {
            if index > 0 {
                out.write_char(',')?;
            }
            string(&element.name, out)?;
        }
        return out.write_char(']');
    }
    if field.is_boolean() {
        return write!(out, "{}", value != 0);
    }
    write!(out, "{value}")
}

fn object(record: Record<'_>, out: &mut impl Write) -> fmt::Result {
    out.write_char('{')?;
    members(record, false, out)?;
    out.write_char('}')
}

/// A JSON string: quotes, backslashes and control characters escaped (RFC 8259 §7).
fn string(text: &str, out: &mut impl Write) -> fmt::Result {
    out.write_char('"')?;
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '\\' || c < ' ' || c == '\u{7f}') {
        let (plain, from) = rest.split_at(at);
        out.write_str(plain)?;
        let mut chars = from.chars();
        match chars.next() {
            Some(c @ ('"' | '\\')) => write!(out, "\\{c}")?,
            Some('\n') => out.write_str("\\n")?,
            Some(c) => write!(out, "\\u{:04x}", u32::from(c))?,
            None => {}
        }
        rest = chars.as_str();
    }
    out.write_str(rest)?;
    out.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decimal, Mode, Templates};

    #[test]
    fn every_kind_of_value() {
        let xml = r#"<templates>
            <template name="In\ner" id="2"><uInt32 name="X"/></template>
            <template name="T" id="1">
              <uInt64 name="U"/><int64 name="I"/><decimal name="D"/><string name="S"/><string name="O" presence="optional"/>
              <byteVector name="B"/><group name="G"><uInt32 name="X"/></group>
              <sequence name="Q"><uInt32 name="X"/></sequence><sequence name="E"><uInt32 name="X"/></sequence><templateRef/>
            </template></templates>"#;
        let templates = Templates::parse(xml, Mode::Strict).unwrap();
        let mut message = Message::new();
        let mut text = String::new();
        write(&message, &mut text).unwrap();
        assert_eq!(text, "{}");
        let mut t = message.build(templates.by_name("T").unwrap());
        t.set("U", u64::MAX)
            .unwrap()
            .set("I", i64::MIN)
            .unwrap()
            .set("D", Decimal::new(1250, -2).unwrap())
            .unwrap();
        t.set("S", "a\"\\\n\u{1}\u{7f}")
            .unwrap()
            .set("B", &[0u8, 0xff][..])
            .unwrap();
        t.group("G", |g| g.set("X", 1u8).map(|_| ())).unwrap();
        t.sequence("Q", [2u8, 3], |e, x| e.set("X", x).map(|_| ()))
            .unwrap();
        t.sequence("E", [0u8; 0], |_, _| Ok(())).unwrap();
        t.template(templates.by_name("In\\ner").unwrap(), |i| {
            i.set("X", 4u8).map(|_| ())
        })
        .unwrap();
        text.clear();
        write(&message, &mut text).unwrap();
        let expected = concat!(
            r#"{"template":"T","U":18446744073709551615,"I":-9223372036854775808,"D":12.50,"#,
            r#""S":"a\"\\\n\u0001\u007f","B":"00ff","G":{"X":1},"Q":[{"X":2},{"X":3}],"E":[],"#,
            r#""templateRef":{"template":"In\\ner","X":4}}"#
        );
        assert_eq!(text, expected);
    }
}
