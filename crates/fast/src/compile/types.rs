//! The types of fields: FAST 1.1's, the dialects' integers, and FAST 1.2's that give integers a meaning. Knows nothing of
//! operators or dictionaries.

use std::sync::Arc;

use roxmltree::Node;

use super::Compiler;
use super::declaration::{Declaration, OPERATORS};
use super::initial;
use crate::error::TemplateError;
use crate::field::FieldType;
use crate::meaning::{Element, Elements, Epoch, Meaning, TimeUnit, Timestamp};
use crate::{Code, Mode};

/// The type of a field, completely.
pub(super) struct Type {
    pub(super) field_type: FieldType,
    pub(super) meaning: Meaning,
    /// Largest integer.
    pub(super) max: u64,
}

impl From<FieldType> for Type {
    fn from(field_type: FieldType) -> Self {
        Self {
            field_type,
            meaning: Meaning::Plain,
            max: field_type.max(),
        }
    }
}

impl Type {
    /// The attributes that an element of the type has in the standard.
    pub(super) fn attributes(&self) -> &'static [&'static str] {
        match self.meaning {
            Meaning::Timestamp(_) => &["name", "ns", "id", "presence", "unit", "epoch"],
            _ if self.field_type.is_string() => &["name", "ns", "id", "presence", "charset"],
            _ => &["name", "ns", "id", "presence"],
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self.meaning {
            Meaning::Plain => self.field_type.name(),
            Meaning::Enumeration(_) => "enum",
            Meaning::Set(_) => "set",
            Meaning::Boolean => "boolean",
            Meaning::Timestamp(_) => "timestamp",
        }
    }

    /// An initial value from its text; `None` if the type cannot hold it (S3).
    ///
    /// FAST 1.2 does not say how elements are written. Deutsche Boerse writes their integers, also where elements have
    /// digits for names: its templates for FAST 1.1 and 1.2 are one interface, and have the same values. Names come
    /// second.
    pub(super) fn initial(&self, text: &str, mode: Mode) -> Option<initial::Value> {
        let number = text.trim().parse::<u64>().ok().filter(|n| *n <= self.max);
        let integer = match &self.meaning {
            Meaning::Plain if self.field_type == FieldType::ByteVector && mode == Mode::Lenient => {
                return Some(initial::lenient_bytes(text));
            }
            Meaning::Plain | Meaning::Timestamp(_) => {
                return initial::convert(self.field_type, text);
            }
            Meaning::Enumeration(elements) => number
                .and_then(|number| elements.with_value(number))
                .or_else(|| elements.named(text.trim()))
                .map(|element| element.value),
            Meaning::Set(elements) => number.or_else(|| {
                let mut bits = text
                    .split_whitespace()
                    .map(|name| elements.named(name).map(|element| element.value));
                bits.try_fold(0, |sum, bit| Some(sum | bit?))
            }),
            Meaning::Boolean => match text.trim() {
                "true" => Some(1),
                "false" => Some(0),
                _ => number,
            },
        };
        integer.map(initial::Value::Integer)
    }
}

impl<'d> Compiler<'_, 'd> {
    /// The type of a field that is neither group nor sequence.
    pub(super) fn type_of_leaf(
        &mut self,
        declaration: &Declaration<'d>,
    ) -> Result<Type, TemplateError> {
        let body = declaration.body();
        let name = self.source.name(body);
        let refused = |detail| Err(self.source.error(body, Code::S1, detail));
        let field_type = match name {
            "int32" => FieldType::Int32,
            "uInt32" => FieldType::UInt32,
            "int64" => FieldType::Int64,
            "uInt64" => FieldType::UInt64,
            "decimal" => FieldType::Decimal,
            "byteVector" => FieldType::ByteVector,
            "string" => match declaration.attribute(self.source, "charset") {
                None => FieldType::Ascii,
                Some(charset) if self.source.is_word(charset, "ascii") => FieldType::Ascii,
                Some(charset) if self.source.is_word(charset, "unicode") => FieldType::Unicode,
                Some(other) => return refused(format!("charset {other:?}")),
            },
            "int8" | "uInt8" | "int16" | "uInt16" if self.source.mode == Mode::Strict => {
                return refused(format!(
                    "{name} is a dialect: FAST has integers of 32 and 64 bits"
                ));
            }
            "int8" => FieldType::Int8,
            "uInt8" => FieldType::UInt8,
            "int16" => FieldType::Int16,
            "uInt16" => FieldType::UInt16,
            "enum" | "set" => return self.elements_type(body, name == "set"),
            "boolean" => {
                return Ok(Type {
                    field_type: FieldType::UInt8,
                    meaning: Meaning::Boolean,
                    max: 1,
                });
            }
            "timestamp" => {
                return Ok(Type {
                    meaning: Meaning::Timestamp(Arc::new(self.timestamp(declaration)?)),
                    ..FieldType::Int64.into()
                });
            }
            other if small_integer(other).is_some() => {
                return refused(format!("{other} outside a bit group"));
            }
            other => return refused(format!("element {other} is not a field of FAST")),
        };
        Ok(field_type.into())
    }

    /// An enumeration or a set; the elements of a defined type are read once.
    pub(super) fn elements_type(
        &mut self,
        body: Node<'d, 'd>,
        is_set: bool,
    ) -> Result<Type, TemplateError> {
        let elements = match self.elements.get(&body.id()) {
            Some(elements) => elements.clone(),
            None => {
                let elements = Arc::new(self.read_elements(body, is_set)?);
                self.elements.insert(body.id(), elements.clone());
                elements
            }
        };
        let last = elements.iter().map(|element| element.value).max();
        let max = match last {
            Some(last) if is_set => last | (last - 1),
            last => last.unwrap_or(0),
        };
        Ok(Type {
            field_type: if max <= u32::MAX.into() {
                FieldType::UInt32
            } else {
                FieldType::UInt64
            },
            meaning: if is_set {
                Meaning::Set(elements)
            } else {
                Meaning::Enumeration(elements)
            },
            max,
        })
    }

    fn read_elements(
        &mut self,
        body: Node<'d, 'd>,
        is_set: bool,
    ) -> Result<Elements, TemplateError> {
        let mut list = Vec::new();
        for (number, node) in (0u64..).zip(
            self.source
                .elements(body)?
                .into_iter()
                .filter(|node| !OPERATORS.contains(&self.source.name(*node))),
        ) {
            if self.source.name(node) != "element" {
                let detail = format!("{} among elements", self.source.name(node));
                return Err(self.source.error(node, Code::S1, detail));
            }
            self.source.check_attributes(node, &["name", "id"])?;
            let name = self.source.required(node, "name")?;
            let id = self.source.attribute(node, "id");
            self.keep_text(node, name.len() + id.map_or(0, str::len))?;
            if is_set && number >= 64 {
                let detail = "a set of more than 64 elements".to_owned();
                return Err(self.source.error(node, Code::S1, detail));
            }
            let value = match self.source.attribute(node, "value") {
                _ if is_set => 1 << number,
                None => number,
                Some(text) => text.trim().parse().map_err(|_| {
                    let detail = format!("value {text:?} is not a 64-bit number");
                    self.source.error(node, Code::S1, detail)
                })?,
            };
            list.push(Element {
                name: name.into(),
                id: id.map(Box::from),
                value,
            });
        }
        if list.is_empty() && self.source.mode == Mode::Strict {
            let detail = format!("{} without elements", self.source.name(body));
            return Err(self.source.error(body, Code::S1, detail));
        }
        self.check_distinct(body, &list)?;
        Ok(Elements::new(list))
    }

    /// In strict mode, refuses a name that two elements have.
    fn check_distinct(&self, body: Node<'d, 'd>, list: &[Element]) -> Result<(), TemplateError> {
        let mut names: Vec<_> = list.iter().map(|element| &*element.name).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) if self.source.mode == Mode::Strict => {
                let detail = format!("two elements are called {}", pair[0]);
                Err(self.source.error(body, Code::S1, detail))
            }
            _ => Ok(()),
        }
    }

    fn timestamp(&self, declaration: &Declaration<'d>) -> Result<Timestamp, TemplateError> {
        let unit = match declaration.attribute(self.source, "unit") {
            None => TimeUnit::default(),
            Some(word) => TimeUnit::ALL
                .into_iter()
                .find(|unit| self.source.is_word(word, unit.name()))
                .ok_or_else(|| {
                    let detail = format!("unit {word:?} of a timestamp");
                    self.source.error(declaration.body(), Code::S1, detail)
                })?,
        };
        let epoch = match declaration.attribute(self.source, "epoch") {
            None => Epoch::Unix,
            Some(word) if self.source.is_word(word, "unix") => Epoch::Unix,
            Some(word) if self.source.is_word(word, "today") => Epoch::Today,
            Some(other) => Epoch::Other(other.into()),
        };
        Ok(Timestamp { unit, epoch })
    }
}

/// The type and bits of an integer that only bit groups have: `int2` to `int7`, `uInt1` to `uInt7`.
pub(super) fn small_integer(name: &str) -> Option<(FieldType, u8)> {
    let (field_type, digits) = match name.strip_prefix("uInt") {
        Some(digits) => (FieldType::UInt8, digits),
        None => (FieldType::Int8, name.strip_prefix("int")?),
    };
    let least = if field_type == FieldType::Int8 { 2 } else { 1 };
    let bits = digits
        .parse()
        .ok()
        .filter(|bits| (least..=7).contains(bits))?;
    (digits.len() == 1).then_some((field_type, bits))
}
