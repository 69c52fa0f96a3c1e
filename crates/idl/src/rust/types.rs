//! Types of members.

use super::{Refused, Rust};
use crate::model::{Position, Primitive, Type};

/// A type in Rust, with what `#[topic(...)]` says of the member that has it.
pub(super) struct Written {
    pub(super) text: String,
    /// Whether its `u8`s are octets.
    octet: bool,
    /// Largest length, then that of each element, and so on; 0 for any. The last is none of these.
    bounds: Vec<u32>,
    /// Of the map that it is or that its elements are: what is said of keys and of values.
    entries: Vec<String>,
}

impl Written {
    fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            octet: false,
            bounds: Vec::new(),
            entries: Vec::new(),
        }
    }

    fn bounded(text: impl Into<String>, bound: Option<u32>) -> Self {
        Self {
            bounds: bound.into_iter().collect(),
            ..Self::plain(text)
        }
    }

    /// The same, in something that has a bound itself, or 0.
    fn within(self, text: String, bound: u32) -> Self {
        let mut bounds = vec![bound];
        bounds.extend(&self.bounds);
        if bounds == [0] {
            bounds.clear();
        }
        Self {
            text,
            bounds,
            ..self
        }
    }

    /// A map of such keys and values.
    fn map(key: &Self, value: &Self, bound: Option<u32>) -> Self {
        let sides = [("map_key", key), ("map_value", value)].map(|(name, side)| {
            let arguments = side.arguments();
            (!arguments.is_empty()).then(|| format!("{name}({})", arguments.join(", ")))
        });
        let text = format!("::std::collections::BTreeMap<{}, {}>", key.text, value.text);
        Self {
            entries: sides.into_iter().flatten().collect(),
            ..Self::bounded(text, bound)
        }
    }

    /// What `#[topic(...)]` says of it.
    pub(super) fn arguments(&self) -> Vec<String> {
        let bounds = match self.bounds.as_slice() {
            [] => None,
            [bound] => Some(format!("bound = {bound}")),
            bounds => {
                let bounds: Vec<String> = bounds.iter().map(u32::to_string).collect();
                Some(format!("bound({})", bounds.join(", ")))
            }
        };
        let octet = self.octet.then(|| "octet".to_owned());
        let entries = self.entries.iter().cloned();
        bounds.into_iter().chain(octet).chain(entries).collect()
    }
}

impl Rust<'_> {
    /// A type, whatever typedefs call it: the derive reads bounds off the type as it is written.
    pub(super) fn ty(&mut self, ty: &Type, position: Position) -> Result<Written, Refused> {
        let model = self.model;
        Ok(match model.resolve(ty) {
            Type::Primitive(Primitive::LongDouble) => {
                let message = "`long double` has no type in Rust";
                return Err(self.refuse(position, message, "take `double`"));
            }
            Type::Primitive(Primitive::Octet) => Written {
                octet: true,
                ..Written::plain("u8")
            },
            Type::Primitive(primitive) => Written::plain(number(*primitive)),
            Type::String { bound } => Written::bounded(self.standard("String", "string"), *bound),
            Type::WString { bound } => Written::bounded("::tickwire::cdr::WString", *bound),
            Type::Sequence { element, bound } => {
                let element = self.ty(element, position)?;
                let text = format!("{}<{}>", self.standard("Vec", "vec"), element.text);
                element.within(text, bound.unwrap_or(0))
            }
            Type::Array {
                element,
                dimensions,
            } => {
                let mut written = self.ty(element, position)?;
                for length in dimensions.iter().rev() {
                    let text = format!("[{}; {length}]", written.text);
                    written = written.within(text, 0);
                }
                written
            }
            Type::Map { key, value, bound } => {
                let (key, value) = (self.ty(key, position)?, self.ty(value, position)?);
                Written::map(&key, &value, *bound)
            }
            Type::Named(id) => Written::plain(self.path(*id)),
        })
    }

    /// A type of the standard library, with its path where the module has a type of that name.
    pub(super) fn standard(&self, name: &str, module: &str) -> String {
        match self
            .taken
            .contains_key(&(self.scope, false, name.to_owned()))
        {
            true => format!("::std::{module}::{name}"),
            false => name.to_owned(),
        }
    }
}

/// A number, `bool` or character.
pub(super) fn number(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Boolean => "bool",
        Primitive::Octet | Primitive::UInt8 => "u8",
        Primitive::Char => "char",
        Primitive::WChar => "::tickwire::cdr::WChar",
        Primitive::Int8 => "i8",
        Primitive::Int16 => "i16",
        Primitive::UInt16 => "u16",
        Primitive::Int32 => "i32",
        Primitive::UInt32 => "u32",
        Primitive::Int64 => "i64",
        Primitive::UInt64 => "u64",
        Primitive::Float => "f32",
        Primitive::Double | Primitive::LongDouble => "f64",
    }
}
