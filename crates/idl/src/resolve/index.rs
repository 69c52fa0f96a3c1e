//! All names of a text, for advice about those that are not known where they are used.

use std::collections::HashMap;

use crate::near::distance;
use crate::source::Span;
use crate::syntax::{Definition, DefinitionKind, Name};

/// Where each name is defined, with the name in full.
pub(super) struct Index(HashMap<String, Vec<Place>>);

struct Place {
    full: String,
    span: Span,
    /// Whether it is a constant or a literal, and no type.
    is_value: bool,
}

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
                DefinitionKind::Const(_, name, _) => self.insert(scope, name, true),
                DefinitionKind::Struct { name, .. }
                | DefinitionKind::Union { name, .. }
                | DefinitionKind::Bitmask(name, _)
                | DefinitionKind::Bitset { name, .. }
                | DefinitionKind::Exception(name, _) => self.insert(scope, name, false),
                DefinitionKind::Enum(name, items) => {
                    self.insert(scope, name, false);
                    for item in items {
                        self.insert(scope, &item.name, true);
                    }
                }
                DefinitionKind::Typedef(_, declarators) => {
                    let names = declarators.iter().map(|declarator| &declarator.name);
                    names.for_each(|name| self.insert(scope, name, false));
                }
                _ => {}
            }
        }
    }

    fn insert(&mut self, scope: &str, name: &Name, is_value: bool) {
        let places = self.0.entry(name.text.to_ascii_lowercase()).or_default();
        // More would help nobody.
        if places.len() < 8 {
            places.push(Place {
                full: format!("{scope}{}", name.text),
                span: name.span,
                is_value,
            });
        }
    }

    /// A definition of this name, in any scope.
    pub(super) fn find(&self, name: &str) -> Option<(&str, Span)> {
        let places = self.0.get(&name.to_ascii_lowercase())?;
        places
            .first()
            .map(|place| (place.full.as_str(), place.span))
    }

    /// Whether something of this full name is defined before a place, but for that of `except`.
    pub(super) fn has_before(&self, full: &str, place: Span, except: Option<Span>) -> bool {
        let last = full.rsplit("::").next().unwrap_or_default();
        let places = self.0.get(&last.to_ascii_lowercase());
        places.into_iter().flatten().any(|other| {
            let is_before = other.span.file != place.file || other.span.start < place.start;
            is_before && Some(other.span) != except && other.full.eq_ignore_ascii_case(full)
        })
    }

    /// The full name of a definition whose name is like this one but for a letter or two: of one that can stand where a
    /// value can, or a type. That of `except` is none.
    pub(super) fn similar(&self, name: &str, is_value: bool, except: Option<Span>) -> Option<&str> {
        let name = name.to_ascii_lowercase();
        if name.len() > MAX_COMPARED || self.0.len() > MAX_NAMES {
            return None;
        }
        // Of two letters and less, all words are alike.
        let allowed = match name.len() {
            0..=2 => 0,
            length => 1 + length / 6,
        };
        let all = self
            .0
            .iter()
            .filter(|(other, _)| other.len() <= MAX_COMPARED);
        let all = all.flat_map(|(other, places)| places.iter().map(move |place| (other, place)));
        let all = all.filter(|(_, place)| place.is_value == is_value && Some(place.span) != except);
        let distances = all.map(|(other, place)| (distance(&name, other), other, place));
        let near = distances.filter(|(distance, ..)| *distance <= allowed);
        let (_, _, place) = near.min_by_key(|(distance, other, _)| (*distance, *other))?;
        Some(&place.full)
    }
}

/// Letters of names that are compared.
const MAX_COMPARED: usize = 64;
/// Names among which similar ones are looked for.
const MAX_NAMES: usize = 4096;
