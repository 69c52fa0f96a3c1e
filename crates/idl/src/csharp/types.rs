//! How types are declared, what values begin with, and how much memory they take.

use std::collections::BTreeMap;

use super::names;
use super::text::{character, literal};
use crate::c::facts::{Kind, bytes_of, kind, members_of};
use crate::model::{DefinitionId, DefinitionKind, Enum, Member, Model, Primitive, Type, Value};

/// The name of a definition.
pub(super) fn name(model: &Model, id: DefinitionId) -> String {
    names::global(model, model.definition(id), "")
}

/// The class that reads and writes a definition.
pub(super) fn support(model: &Model, id: DefinitionId) -> String {
    names::global(model, model.definition(id), "Support")
}

/// A type that is used somewhere.
pub(super) fn declared(model: &Model, ty: &Type) -> String {
    let (base, ranks) = parts(model, ty);
    format!("{base}{ranks}")
}

/// A type without the brackets of arrays, and these.
fn parts(model: &Model, ty: &Type) -> (String, String) {
    let plain = |base: String| (base, String::new());
    match kind(model, ty) {
        Kind::Primitive(primitive) => plain(names::primitive(primitive).to_owned()),
        Kind::String(_) | Kind::WString(_) => plain("string".to_owned()),
        Kind::Sequence(element, _) if is_primitive(model, element) => {
            (declared(model, element), "[]".to_owned())
        }
        Kind::Sequence(element, _) => plain(format!("{LIST}<{}>", declared(model, element))),
        Kind::Map(key, value, _) => plain(format!(
            "{MAP}<{}, {}>",
            declared(model, key),
            declared(model, value)
        )),
        Kind::Array(element, dimensions) => {
            let (base, ranks) = parts(model, element);
            let commas = ",".repeat(dimensions.len() - 1);
            (base, format!("[{commas}]{ranks}"))
        }
        Kind::Struct(id)
        | Kind::Union(id)
        | Kind::Enum(id, _)
        | Kind::Bitmask(id, _)
        | Kind::Bitset(id, _) => plain(name(model, id)),
    }
}

/// A new array, its elements all zeros.
pub(super) fn new_array(model: &Model, element: &Type, dimensions: &[u32]) -> String {
    let (base, ranks) = parts(model, element);
    format!("new {base}[{}]{ranks}", list(dimensions))
}

/// Numbers with commas between.
pub(super) fn list(dimensions: &[u32]) -> String {
    let dimensions: Vec<String> = dimensions.iter().map(u32::to_string).collect();
    dimensions.join(", ")
}

/// The type of a member.
pub(super) fn of_member(model: &Model, member: &Member) -> String {
    let declared = declared(model, &member.ty);
    match member.optional && is_value(model, &member.ty) {
        true => format!("{declared}?"),
        false => declared,
    }
}

pub(super) fn is_primitive(model: &Model, ty: &Type) -> bool {
    matches!(kind(model, ty), Kind::Primitive(_))
}

/// Whether a variable of the type is the value itself, and never null.
pub(super) fn is_value(model: &Model, ty: &Type) -> bool {
    matches!(
        kind(model, ty),
        Kind::Primitive(_) | Kind::Enum(..) | Kind::Bitmask(..) | Kind::Bitset(..)
    )
}

/// What a member begins with; none where that is what its variable begins with.
pub(super) fn initial_member(model: &Model, member: &Member) -> Option<String> {
    if member.optional {
        return None;
    }
    match &member.default {
        Some(given) => Some(value(model, given, &member.ty)),
        None => initial(model, &member.ty),
    }
}

/// What a value of a type begins with; none where that is all zeros.
pub(super) fn initial(model: &Model, ty: &Type) -> Option<String> {
    Some(match kind(model, ty) {
        Kind::Primitive(_) | Kind::Bitmask(..) | Kind::Bitset(..) => return None,
        Kind::String(_) | Kind::WString(_) => "\"\"".to_owned(),
        Kind::Sequence(element, _) if is_primitive(model, element) => {
            format!("global::System.Array.Empty<{}>()", declared(model, element))
        }
        Kind::Sequence(..) | Kind::Struct(_) | Kind::Union(_) => {
            format!("new {}()", declared(model, ty))
        }
        Kind::Map(key, ..) => {
            let keys = map_keys(model, key).unwrap_or_default();
            format!("new {}({keys})", declared(model, ty))
        }
        Kind::Enum(_, of) if default_of(of) == 0 => return None,
        Kind::Enum(id, of) => literal_of(model, id, of, of.default),
        Kind::Array(element, dimensions) => {
            let array = new_array(model, element, &dimensions);
            match initial(model, element) {
                None => array,
                Some(each) => match dimensions.len() {
                    1..=3 => format!("global::Tickwire.Cdr.Shape.Fill({array}, () => {each})"),
                    _ => format!(
                        "({})global::Tickwire.Cdr.Shape.FillAll({array}, () => {each})",
                        declared(model, ty)
                    ),
                },
            }
        }
    })
}

/// What compares the keys of a map, where there are enough of them to collide.
pub(super) fn map_keys(model: &Model, key: &Type) -> Option<String> {
    let of = match kind(model, key) {
        Kind::Primitive(primitive) => match names::function(primitive) {
            of @ ("Int32" | "UInt32" | "Int64" | "UInt64") => of,
            _ => return None,
        },
        Kind::String(_) | Kind::WString(_) => "String",
        _ => return None,
    };
    Some(format!("global::Tickwire.Cdr.MapKeys.{of}"))
}

fn default_of(of: &Enum) -> i32 {
    let literal = of.literals.get(of.default as usize);
    literal.map_or(0, |literal| literal.value)
}

fn literal_of(model: &Model, id: DefinitionId, of: &Enum, index: u32) -> String {
    let literal = of.literals.get(index as usize);
    let literal = literal.map_or("", |literal| &literal.name);
    format!("{}.{}", name(model, id), names::identifier(literal))
}

/// A value as an expression of its type.
pub(super) fn value(model: &Model, value: &Value, ty: &Type) -> String {
    let kind = kind(model, ty);
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => match kind {
            Kind::Primitive(primitive) => integer(*value, primitive),
            Kind::Bitmask(id, of) => {
                let (_, underlying) = names::integer(false, bytes_of(of.bit_bound));
                let number = match underlying {
                    "ulong" => format!("{value}UL"),
                    "uint" => format!("{value}U"),
                    _ => value.to_string(),
                };
                format!("({}){number}", name(model, id))
            }
            _ => value.to_string(),
        },
        Value::Float(value) => match kind {
            Kind::Primitive(Primitive::Float) => format!("{value:?}f"),
            _ => format!("{value:?}"),
        },
        Value::Char(value) => {
            let mut units = [0; 2];
            let unit = value.encode_utf16(&mut units).first().copied();
            character(unit.unwrap_or_default())
        }
        Value::String(text) => literal(text),
        Value::Literal { of, index } => match &model.definition(*of).kind {
            DefinitionKind::Enum(of_enum) => literal_of(model, *of, of_enum, *index),
            _ => String::new(),
        },
    }
}

fn integer(value: i128, primitive: Primitive) -> String {
    match primitive {
        Primitive::UInt32 => format!("{value}U"),
        Primitive::Int64 => format!("{value}L"),
        Primitive::UInt64 => format!("{value}UL"),
        _ => value.to_string(),
    }
}

/// Bytes that objects take, about.
#[derive(Default)]
pub(super) struct Weights {
    objects: BTreeMap<DefinitionId, u64>,
}

impl Weights {
    /// Of all structs and unions among these definitions, each behind those that it contains.
    pub(super) fn of(model: &Model, order: &[DefinitionId]) -> Self {
        let mut weights = Self::default();
        for id in order {
            let of = &model.definition(*id).kind;
            let members = members_of(model, of).into_iter();
            let members = members.map(|member| weights.member(model, member));
            let weight = match of {
                DefinitionKind::Struct(_) => members.fold(HEADER, u64::saturating_add),
                // Of its members one is there, and all have a variable.
                DefinitionKind::Union(of) => members
                    .max()
                    .unwrap_or_default()
                    .saturating_add(HEADER + 8 * (of.cases.len() as u64 + 1)),
                _ => continue,
            };
            weights.objects.insert(*id, weight);
        }
        weights
    }

    fn member(&self, model: &Model, member: &Member) -> u64 {
        match member.optional {
            true if is_value(model, &member.ty) => 16,
            true => 8,
            false => self.variable(model, &member.ty),
        }
    }

    /// What a variable of a type takes, with what it points to at first.
    fn variable(&self, model: &Model, ty: &Type) -> u64 {
        match kind(model, ty) {
            Kind::Sequence(element, _) if is_primitive(model, element) => 8,
            Kind::Sequence(..) => 8 + 32,
            Kind::Map(..) => 8 + 80,
            Kind::Array(element, dimensions) => {
                let counts = dimensions.iter().map(|count| u64::from(*count));
                let element = self.variable(model, element);
                let elements = counts.fold(element, u64::saturating_mul);
                elements.saturating_add(8 + HEADER)
            }
            Kind::Struct(id) | Kind::Union(id) => {
                let object = self.objects.get(&id).copied().unwrap_or(HEADER);
                object.saturating_add(8)
            }
            _ => 8,
        }
    }

    /// The same, as a number that C# has.
    pub(super) fn element(&self, model: &Model, ty: &Type) -> u64 {
        self.variable(model, ty).min(i32::MAX as u64)
    }
}

/// What each object has besides its variables.
const HEADER: u64 = 16;
const LIST: &str = "global::System.Collections.Generic.List";
const MAP: &str = "global::System.Collections.Generic.Dictionary";
