//! Types of members.

use super::{Refused, Rust};
use crate::model::{Position, Primitive, Type};

/// A type in Rust, with what `#[topic(...)]` says of the member that has it.
pub(super) struct Written {
    pub(super) text: String,
    /// Whether its `u8`s are octets.
    pub(super) octet: bool,
    /// Largest length, then that of each element, and so on; 0 for any. The last is none of these.
    pub(super) bounds: Vec<u32>,
}

impl Written {
    fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            octet: false,
            bounds: Vec::new(),
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
        bounds.extend(self.bounds);
        if bounds == [0] {
            bounds.clear();
        }
        Self {
            text,
            octet: self.octet,
            bounds,
        }
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
                let has_bounds = !key.bounds.is_empty() || !value.bounds.is_empty();
                if has_bounds || key.octet || value.octet {
                    let (what, help) = match has_bounds {
                        true => (
                            "bounds of what is in a map",
                            "take types without bounds there",
                        ),
                        false => ("octets in a map", "take uint8"),
                    };
                    let message = format!("{what} cannot be said in Rust yet");
                    return Err(self.refuse(position, message, help));
                }
                let text = format!("::std::collections::BTreeMap<{}, {}>", key.text, value.text);
                Written::bounded(text, *bound)
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
