//! How types are declared, and the structs that sequences and maps are.

use super::facts::{Kind, kind};
use super::{C, names};
use crate::model::{DefinitionId, Type};

/// A sequence or a map.
#[derive(Clone)]
pub(super) struct Collection<'m> {
    pub(super) name: String,
    /// Elements or keys.
    pub(super) element: &'m Type,
    /// Values of a map.
    pub(super) value: Option<&'m Type>,
}

impl<'m> C<'m> {
    /// A declaration of something that is of a type: `*` before the declarator makes it a pointer.
    pub(super) fn declare(&self, ty: &Type, declarator: &str) -> String {
        match ty {
            Type::Primitive(primitive) => {
                format!("{} {declarator}", names::primitive_type(*primitive))
            }
            Type::String { .. } => format!("char *{declarator}"),
            Type::WString { .. } => format!("uint16_t *{declarator}"),
            Type::Named(id) => format!("{} {declarator}", self.names[id]),
            Type::Sequence { .. } | Type::Map { .. } => {
                format!("{} {declarator}", self.mangle(ty))
            }
            Type::Array {
                element,
                dimensions,
            } => {
                let mut inner = match declarator.starts_with('*') {
                    true => format!("({declarator})"),
                    false => declarator.to_owned(),
                };
                for length in dimensions {
                    inner.push_str(&format!("[{length}]"));
                }
                self.declare(element, &inner)
            }
        }
    }

    /// A name for a type, the same for all that are the same in C.
    pub(super) fn mangle(&self, ty: &Type) -> String {
        match kind(self.model, ty) {
            Kind::Primitive(primitive) => format!("tw_{}", names::primitive(primitive)),
            Kind::String(_) => "tw_string".to_owned(),
            Kind::WString(_) => "tw_wstring".to_owned(),
            Kind::Sequence(element, _) => format!("{}_seq", self.mangle(element)),
            Kind::Map(key, value, _) => {
                format!("{}_{}_map", self.mangle(key), self.mangle(value))
            }
            Kind::Array(element, dimensions) => {
                let dimensions: Vec<String> = dimensions.iter().map(u32::to_string).collect();
                format!("{}_{}", self.mangle(element), dimensions.join("x"))
            }
            Kind::Struct(id)
            | Kind::Union(id)
            | Kind::Enum(id, _)
            | Kind::Bitmask(id, _)
            | Kind::Bitset(id, _) => self.names[&id].clone(),
        }
    }

    /// Defines the sequences and maps in a type, unless they are; `by` needs it.
    pub(super) fn need(&mut self, ty: &'m Type, by: DefinitionId) {
        let name = self.mangle(ty);
        match kind(self.model, ty) {
            Kind::Array(element, _) => self.need(element, by),
            Kind::Sequence(element, _) => {
                self.need(element, by);
                let is_standard = matches!(
                    kind(self.model, element),
                    Kind::Primitive(_) | Kind::String(_) | Kind::WString(_)
                );
                if is_standard || !self.takes(&name, by) {
                    return;
                }
                let buffer = self.declare(element, "*buffer");
                self.guard(&name, "");
                let text = &mut self.header;
                text.open(&format!("typedef struct {name} {{"));
                text.line("uint32_t length;");
                text.line("uint32_t capacity;");
                text.line(&format!("{buffer};"));
                text.close(&format!("}} {name};"));
                self.unguard(&name);
                self.functions.push(Collection {
                    name,
                    element,
                    value: None,
                });
            }
            Kind::Map(key, value, _) => {
                self.need(key, by);
                self.need(value, by);
                if !self.takes(&name, by) {
                    return;
                }
                self.guard(&name, "");
                let text = &mut self.header;
                text.line(&format!("typedef struct {name}_entry {name}_entry;"));
                text.open(&format!("typedef struct {name} {{"));
                text.line("uint32_t length;");
                text.line("uint32_t capacity;");
                text.line(&format!("{name}_entry *buffer;"));
                text.close(&format!("}} {name};"));
                self.unguard(&name);
                let map = Collection {
                    name,
                    element: key,
                    value: Some(value),
                };
                self.functions.push(map.clone());
                self.entries.push(map);
                self.write_entries();
            }
            _ => {}
        }
    }

    /// Whether a collection is new; a name that something else has is refused.
    fn takes(&mut self, name: &str, by: DefinitionId) -> bool {
        if self.collections.contains_key(name) {
            return false;
        }
        self.collections.insert(name.to_owned(), by);
        let suffixes = ["", "_resize", "_copy", "_free", "_entry"];
        for suffix in suffixes {
            let whole = format!("{name}{suffix}");
            let Some(other) = self.taken.get(&whole) else {
                continue;
            };
            let other = &self.model.definition(*other).full_name;
            let definition = self.model.definition(by);
            let (position, full_name) = (definition.position, &definition.full_name);
            let message = format!("a type in `{full_name}` and `{other}` both have `{whole}` in C");
            self.refuse(position, message, "rename one of them");
        }
        true
    }

    /// What headers made of other files may define, too, is defined once.
    pub(super) fn guard(&mut self, name: &str, what: &str) {
        self.header.line("");
        if name.starts_with("tw_") {
            let macro_name = format!("TW_HAVE_{name}{what}");
            self.header.line(&format!("#ifndef {macro_name}"));
            self.header.line(&format!("#define {macro_name}"));
        }
    }

    pub(super) fn unguard(&mut self, name: &str) {
        if name.starts_with("tw_") {
            self.header.line("#endif");
        }
    }

    /// Defines the entries of maps whose keys and values are complete.
    pub(super) fn write_entries(&mut self) {
        let waiting = std::mem::take(&mut self.entries);
        for map in waiting {
            let value = map.value.unwrap_or(map.element);
            if !self.is_complete(value) {
                self.entries.push(map);
                continue;
            }
            let (key, value) = (
                self.declare(map.element, "key"),
                self.declare(value, "value"),
            );
            let name = &map.name;
            self.guard(name, "_entry");
            self.header.open(&format!("struct {name}_entry {{"));
            self.header.line(&format!("{key};"));
            self.header.line(&format!("{value};"));
            self.header.close("};");
            self.unguard(name);
        }
    }

    fn is_complete(&self, ty: &Type) -> bool {
        match kind(self.model, ty) {
            Kind::Struct(id) | Kind::Union(id) => self.written.contains(&id),
            Kind::Array(element, _) => self.is_complete(element),
            _ => true,
        }
    }
}
