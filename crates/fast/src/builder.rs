//! Making messages by hand: values by field name, checked against the template. Knows nothing of encoding.

use core::fmt;
use std::sync::Arc;

use crate::field::{FieldIndex, FieldType};
use crate::meaning::Meaning;
use crate::message::{Message, Value};
use crate::plan::FieldEntry;
use crate::templates::Template;
use crate::{Decimal, Visitor};

/// Sets the fields of a message, group or element, in template order; optional fields and constants may be skipped.
///
/// ```
/// use tickwire_fast::{Encoder, Message, Mode, Templates};
/// let xml = r#"<template name="Book" id="7"><sequence name="Levels"><uInt32 name="Size"/></sequence></template>"#;
/// let templates = Templates::parse(xml, Mode::Strict)?;
/// let mut message = Message::new();
/// let mut book = message.build(templates.by_name("Book").ok_or("no Book")?);
/// book.sequence("Levels", [10u32, 20], |level, size| level.set("Size", size).map(|_| ()))?;
/// let mut bytes = Vec::new();
/// Encoder::new(&templates).encode(&message, &mut bytes)?;
/// assert_eq!(bytes, [0xc0, 0x87, 0x82, 0x8a, 0x94]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Builder<'m> {
    message: &'m mut Message,
    next: u32,
    end: u32,
}

/// A value that cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// No field of this name at this level, or only before one that was already set.
    NoField(Box<str>),
    /// The field with this path has another type.
    Type(Arc<str>),
    /// The value is out of the range of the field with this path, or is not ASCII.
    Range(Arc<str>),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoField(name) => write!(f, "no field {name} here or after the last one set"),
            Self::Type(path) => write!(f, "field {path} has another type"),
            Self::Range(path) => write!(f, "value out of range of field {path}"),
        }
    }
}

impl core::error::Error for BuildError {}

impl Message {
    /// Empties it, makes it a message of `template` and returns what sets its fields.
    pub fn build(&mut self, template: Template<'_>) -> Builder<'_> {
        self.start(template);
        Builder {
            message: self,
            next: template.entry.fields.start,
            end: template.entry.fields.end,
        }
    }
}

impl Builder<'_> {
    /// Sets a number, string or byte vector. Integers go into any integer field that can hold them, and into decimals.
    /// An enumeration takes the name of an element, or its integer; a set takes a sum of bits (or, by
    /// [`set_elements`](Self::set_elements), names); a boolean takes `true` and `false`, or 1 and 0; a timestamp takes
    /// its integer.
    ///
    /// # Errors
    /// There is no such field here, or it cannot have the value.
    pub fn set<'v>(
        &mut self,
        name: &str,
        value: impl Into<Value<'v>>,
    ) -> Result<&mut Self, BuildError> {
        let (field, entry) = self.find(name)?;
        let value = convert(entry, value.into()).map_err(|wrong| match wrong {
            Wrong::Type => BuildError::Type(entry.path.clone()),
            Wrong::Range => BuildError::Range(entry.path.clone()),
        })?;
        match value {
            Value::Unsigned(value) => self.message.unsigned(field, value),
            Value::Signed(value) => self.message.signed(field, value),
            Value::Decimal(value) => self.message.decimal(field, value),
            Value::Text(value) => Visitor::text(self.message, field, value),
            Value::Bytes(value) => self.message.bytes(field, value),
            Value::Group(_) | Value::Sequence(_) | Value::Template(..) => {}
        }
        self.passed(field);
        Ok(self)
    }

    /// Leaves the next field of this name absent; for templates that have several fields of one name.
    ///
    /// # Errors
    /// There is no such field here.
    pub fn skip(&mut self, name: &str) -> Result<&mut Self, BuildError> {
        let (field, _) = self.find(name)?;
        self.passed(field);
        Ok(self)
    }

    /// Sets a field of type set to the elements of these names (FAST 1.2), in any order.
    ///
    /// # Errors
    /// There is no such field here, it is no set (`Type`), or it has no element of one of the names (`Range`).
    pub fn set_elements<'v>(
        &mut self,
        name: &str,
        names: impl IntoIterator<Item = &'v str>,
    ) -> Result<&mut Self, BuildError> {
        let (_, entry) = self.find(name)?;
        let Meaning::Set(elements) = &entry.meaning else {
            return Err(BuildError::Type(entry.path.clone()));
        };
        let mut sum = 0;
        for name in names {
            let element = elements.named(name);
            sum |= element.ok_or(BuildError::Range(entry.path.clone()))?.value;
        }
        self.set(name, sum)
    }

    /// Adds a sequence with an element per item, each filled by `fill`.
    ///
    /// # Errors
    /// There is no such sequence here, or what `fill` returns.
    pub fn sequence<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        mut fill: impl FnMut(&mut Builder<'_>, T) -> Result<(), BuildError>,
    ) -> Result<&mut Self, BuildError> {
        let (field, end) = self.container(name, FieldType::Sequence)?;
        let at = self.message.nodes.len();
        self.message.begin_sequence(field, 0);
        let mut len = 0;
        for item in items {
            self.message.begin_element(field, len);
            fill(
                &mut Builder {
                    message: self.message,
                    next: field.0 + 1,
                    end,
                },
                item,
            )?;
            self.message.end_element(field);
            len += 1;
        }
        self.message.set_len(at, len);
        self.message.end_sequence(field);
        self.passed(field);
        Ok(self)
    }

    /// Adds a group, filled by `fill`.
    ///
    /// # Errors
    /// There is no such group here, or what `fill` returns.
    pub fn group(
        &mut self,
        name: &str,
        fill: impl FnOnce(&mut Builder<'_>) -> Result<(), BuildError>,
    ) -> Result<&mut Self, BuildError> {
        let (field, end) = self.container(name, FieldType::Group)?;
        self.message.begin_group(field);
        fill(&mut Builder {
            message: self.message,
            next: field.0 + 1,
            end,
        })?;
        self.message.end_group(field);
        self.passed(field);
        Ok(self)
    }

    /// Adds a message of `template` at the next dynamic template reference, filled by `fill`.
    ///
    /// # Errors
    /// There is no such reference here, or what `fill` returns.
    pub fn template(
        &mut self,
        template: Template<'_>,
        fill: impl FnOnce(&mut Builder<'_>) -> Result<(), BuildError>,
    ) -> Result<&mut Self, BuildError> {
        let (field, _) = self.container("templateRef", FieldType::Template)?;
        self.message.begin_template(field, template);
        let fields = &template.entry.fields;
        fill(&mut Builder {
            message: self.message,
            next: fields.start,
            end: fields.end,
        })?;
        self.message.end_template(field);
        self.passed(field);
        Ok(self)
    }

    fn container(&self, name: &str, wanted: FieldType) -> Result<(FieldIndex, u32), BuildError> {
        let (field, entry) = self.find(name)?;
        if entry.field_type != wanted {
            return Err(BuildError::Type(entry.path.clone()));
        }
        Ok((field, entry.end))
    }

    fn find(&self, name: &str) -> Result<(FieldIndex, &FieldEntry), BuildError> {
        let mut at = self.next;
        while at < self.end
            && let Some(entry) = self.message.field(FieldIndex(at))
        {
            if &*entry.name == name {
                return Ok((FieldIndex(at), entry));
            }
            at = entry.end;
        }
        Err(BuildError::NoField(name.into()))
    }

    fn passed(&mut self, field: FieldIndex) {
        self.next = self
            .message
            .field(field)
            .map_or(self.end, |entry| entry.end);
    }
}

enum Wrong {
    Type,
    Range,
}

/// The value as the field's type has it.
fn convert<'v>(entry: &FieldEntry, value: Value<'v>) -> Result<Value<'v>, Wrong> {
    let field_type = entry.field_type;
    if let (Meaning::Enumeration(elements), Value::Text(name)) = (&entry.meaning, value) {
        let element = elements.named(name).ok_or(Wrong::Range)?;
        return Ok(Value::Unsigned(element.value));
    }
    let integer = match value {
        Value::Unsigned(value) => Some(i128::from(value)),
        Value::Signed(value) => Some(i128::from(value)),
        _ => None,
    };
    let max = i128::from(entry.max);
    match (field_type, value, integer) {
        (unsigned, _, Some(value)) if unsigned.is_unsigned() => u64::try_from(value)
            .ok()
            .filter(|_| value <= max)
            .map(Value::Unsigned)
            .ok_or(Wrong::Range),
        (signed, _, Some(value)) if signed.is_signed() => i64::try_from(value)
            .ok()
            .filter(|_| (-max - 1..=max).contains(&value))
            .map(Value::Signed)
            .ok_or(Wrong::Range),
        (FieldType::Decimal, _, Some(value)) => {
            let decimal = i64::try_from(value)
                .ok()
                .and_then(|mantissa| Decimal::new(mantissa, 0));
            decimal.map(Value::Decimal).ok_or(Wrong::Range)
        }
        (FieldType::Ascii, Value::Text(text), _) if !text.is_ascii() => Err(Wrong::Range),
        (FieldType::Decimal, Value::Decimal(_), _)
        | (FieldType::Ascii | FieldType::Unicode, Value::Text(_), _)
        | (FieldType::ByteVector, Value::Bytes(_), _) => Ok(value),
        _ => Err(Wrong::Type),
    }
}

macro_rules! value_from {
    ($($from:ty => $variant:ident),*) => {$(
        impl From<$from> for Value<'_> {
            fn from(value: $from) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

value_from!(u8 => Unsigned, u16 => Unsigned, u32 => Unsigned, u64 => Unsigned);
value_from!(i8 => Signed, i16 => Signed, i32 => Signed, i64 => Signed, Decimal => Decimal);

/// The integer of a boolean field (FAST 1.2).
impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Self::Unsigned(value.into())
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value)
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(value: &'a [u8]) -> Self {
        Self::Bytes(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mode, Templates};

    fn templates() -> Templates {
        let xml = r#"<template name="T" id="1">
            <uInt32 name="A"/><int32 name="B" presence="optional"/><decimal name="C"/><string name="D"/>
            <group name="G" presence="optional"><byteVector name="E"/></group></template>"#;
        Templates::parse(xml, Mode::Strict).unwrap()
    }

    #[test]
    fn values_are_held_to_the_template() {
        let templates = templates();
        let mut message = Message::new();
        let mut t = message.build(templates.by_name("T").unwrap());
        assert_eq!(
            t.set("A", -1i32).map(|_| ()),
            Err(BuildError::Range("A".into()))
        );
        assert_eq!(
            t.set("A", 1u64 << 32).map(|_| ()),
            Err(BuildError::Range("A".into()))
        );
        assert_eq!(
            t.set("A", "x").map(|_| ()),
            Err(BuildError::Type("A".into()))
        );
        t.set("A", 7i8).unwrap().set("C", 5u8).unwrap();
        assert_eq!(
            t.set("B", 1).map(|_| ()),
            Err(BuildError::NoField("B".into()))
        );
        assert_eq!(
            t.set("D", "é").map(|_| ()),
            Err(BuildError::Range("D".into()))
        );
        t.group("G", |g| g.set("E", &[1u8, 2][..]).map(|_| ()))
            .unwrap();
        assert_eq!(
            t.set("A", 7).map(|_| ()),
            Err(BuildError::NoField("A".into()))
        );
        assert_eq!(message.get("A"), Some(Value::Unsigned(7)));
        assert_eq!(message.get("C"), Decimal::new(5, 0).map(Value::Decimal));
        let Some(Value::Group(group)) = message.get("G") else {
            panic!("{message:?}")
        };
        assert_eq!(group.get("E"), Some(Value::Bytes(&[1, 2])));
    }
}
