//! All names of a text, for advice about those that are not known where they are used.

use std::collections::HashMap;

use crate::near::distance;
use crate::source::Span;
use crate::syntax::{Definition, DefinitionKind, Name};

/// Where each name is defined, with the name in full.
pub(super) struct Index(HashMap<String, Vec<(String, Span)>>);

impl Index {
    pub(super) fn new(definitions: &[Definition]) -> Self {
        let mut index = Self(HashMap::new());
        index.add(definitions, "");
        index
    }

    fn add(&mut self, definitions: &[Definition], scope: &str) {
        for definition in definitions {
            match &definition.kind {
                DefinitionKind::Module(name, inner) => {
                    self.add(inner, &format!("{scope}{}::", name.text));
                }
                DefinitionKind::Const(_, name, _)
                | DefinitionKind::Struct { name, .. }
                | DefinitionKind::Union { name, .. }
                | DefinitionKind::Bitmask(name, _)
                | DefinitionKind::Bitset { name, .. }
                | DefinitionKind::Exception(name, _) => self.insert(scope, name),
                DefinitionKind::Enum(name, items) => {
                    self.insert(scope, name);
                    items.iter().for_each(|item| self.insert(scope, &item.name));
                }
                DefinitionKind::Typedef(_, declarators) => {
                    let names = declarators.iter().map(|declarator| &declarator.name);
                    names.for_each(|name| self.insert(scope, name));
                }
                _ => {}
            }
        }
    }

    fn insert(&mut self, scope: &str, name: &Name) {
        let places = self.0.entry(name.text.to_ascii_lowercase()).or_default();
        // More would help nobody.
        if places.len() < 8 {
            places.push((format!("{scope}{}", name.text), name.span));
        }
    }

    /// A definition of this name, in any scope.
    pub(super) fn find(&self, name: &str) -> Option<(&str, Span)> {
        let places = self.0.get(&name.to_ascii_lowercase())?;
        places.first().map(|(full, span)| (full.as_str(), *span))
    }

    /// The full name of a definition whose name is like this one but for a letter or two.
    pub(super) fn similar(&self, name: &str) -> Option<&str> {
        let name = name.to_ascii_lowercase();
        if name.len() > MAX_COMPARED || self.0.len() > MAX_NAMES {
            return None;
        }
        let allowed = 1 + name.len() / 6;
        let names = self
            .0
            .iter()
            .filter(|(other, _)| other.len() <= MAX_COMPARED);
        let distances = names.map(|(other, places)| (distance(&name, other), other, places));
        let near = distances.filter(|(distance, ..)| *distance <= allowed);
        let (_, _, places) = near.min_by_key(|(distance, other, _)| (*distance, *other))?;
        places.first().map(|(full, _)| full.as_str())
    }
}

/// Letters of names that are compared.
const MAX_COMPARED: usize = 64;
/// Names among which similar ones are looked for.
const MAX_NAMES: usize = 4096;
