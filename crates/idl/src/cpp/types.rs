//! Types, their codecs in `tickwire/cdr.hpp`, and values.

use super::{Cpp, names};
use crate::c::facts::{Kind, bitset_bits, bytes_of, kind, primitive_size, trimmed};
use crate::c::text::{character, literal};
use crate::c::{float, integer};
use crate::model::{DefinitionId, DefinitionKind, Member, Primitive, Type, Value};

impl Cpp<'_> {
    pub(super) fn name(&self, id: DefinitionId) -> String {
        names::qualified(self.model, self.model.definition(id))
    }

    /// A type as it is declared.
    pub(super) fn ty(&self, ty: &Type) -> String {
        match ty {
            Type::Primitive(primitive) => names::primitive(*primitive),
            Type::String { .. } => "std::string".to_owned(),
            Type::WString { .. } => "std::u16string".to_owned(),
            Type::Sequence { element, .. } => format!("std::vector<{}>", self.ty(element)),
            Type::Map { key, value, .. } => {
                format!("std::map<{}, {}>", self.ty(key), self.ty(value))
            }
            Type::Array {
                element,
                dimensions,
            } => {
                let lengths = dimensions.iter().rev();
                lengths.fold(self.ty(element), |inner, length| {
                    format!("std::array<{inner}, {length}>")
                })
            }
            Type::Named(id) => self.name(*id),
        }
    }

    /// The type of a member.
    pub(super) fn member_type(&self, member: &Member) -> String {
        let mut ty = self.ty(&member.ty);
        if member.external {
            ty = format!("::tickwire::external<{ty}>");
        }
        if member.optional {
            ty = format!("std::optional<{ty}>");
        }
        ty
    }

    /// Whether values of a member are passed as they are, and not by reference.
    pub(super) fn is_small(&self, member: &Member) -> bool {
        !member.optional
            && !member.external
            && matches!(
                kind(self.model, &member.ty),
                Kind::Primitive(_) | Kind::Enum(..) | Kind::Bitmask(..)
            )
    }

    /// Whether values of a member are not to be on the stack: arrays may have megabytes.
    pub(super) fn is_large(&self, member: &Member) -> bool {
        self.member_size(member) > 4096
    }

    /// Bytes of a value in memory, about.
    pub(super) fn member_size(&self, member: &Member) -> usize {
        match member.external {
            true => 16,
            false => self.size(&member.ty).saturating_add(8),
        }
    }

    fn size(&self, ty: &Type) -> usize {
        match kind(self.model, ty) {
            Kind::Array(element, dimensions) => {
                let counts = dimensions.iter().map(|count| *count as usize);
                counts.fold(self.size(element), usize::saturating_mul)
            }
            Kind::Struct(id) | Kind::Union(id) => self.sizes.get(&id).copied().unwrap_or(0),
            Kind::Primitive(primitive) => primitive_size(primitive),
            Kind::Enum(..) => 4,
            Kind::Bitmask(..) | Kind::Bitset(..) => 8,
            Kind::String(_) | Kind::WString(_) | Kind::Sequence(..) | Kind::Map(..) => 32,
        }
    }

    /// What encodes values of a type.
    pub(super) fn codec(&self, ty: &Type) -> String {
        self.codec_of(kind(self.model, ty))
    }

    fn codec_of(&self, kind: Kind<'_>) -> String {
        match kind {
            Kind::Primitive(primitive) => format!("Number<{}>", names::primitive(primitive)),
            Kind::String(bound) => format!("Text<{bound}>"),
            Kind::WString(bound) => format!("WideText<{bound}>"),
            Kind::Sequence(element, bound) => {
                format!("Sequence<{}, {bound}>", self.codec(element))
            }
            Kind::Map(key, value, bound) => {
                format!("Map<{}, {}, {bound}>", self.codec(key), self.codec(value))
            }
            Kind::Array(element, dimensions) => {
                let dimensions: Vec<String> = dimensions.iter().map(u32::to_string).collect();
                format!("Array<{}, {}>", self.codec(element), dimensions.join(", "))
            }
            Kind::Struct(id) | Kind::Union(id) => format!("Aggregate<{}>", self.name(id)),
            Kind::Enum(id, of) => {
                let bits = bytes_of(of.bit_bound) * 8;
                format!("Enumerated<{}, std::int{bits}_t>", self.name(id))
            }
            Kind::Bitmask(_, of) => format!("Bits<std::uint{}_t>", bytes_of(of.bit_bound) * 8),
            Kind::Bitset(id, of) => {
                let bits = bytes_of(bitset_bits(self.model, of)) * 8;
                format!("Bitset<{}, std::uint{bits}_t>", self.name(id))
            }
        }
    }

    /// The same of what a member is, where it is there.
    pub(super) fn member_codec(&self, member: &Member) -> String {
        match member.external {
            true => format!("External<{}>", self.codec(&member.ty)),
            false => self.codec(&member.ty),
        }
    }

    /// The codec by which a member is read of which the beginning is kept, and its bound, where that is cut after that.
    pub(super) fn trimming_codec(&self, member: &Member) -> (String, Option<u32>) {
        let (kind, bound) = trimmed(kind(self.model, &member.ty));
        let (codec, cut) = match kind {
            Kind::Map(key, value, _) => {
                let (key, value) = (self.codec(key), self.codec(value));
                (format!("Map<{key}, {value}, 0, {bound}>"), None)
            }
            other => (self.codec_of(other), Some(bound).filter(|bound| *bound > 0)),
        };
        match member.external {
            true => (format!("External<{codec}>"), cut),
            false => (codec, cut),
        }
    }

    /// The value that a member begins with, unless its type says it.
    pub(super) fn initial(&self, member: &Member) -> Option<String> {
        if member.optional {
            return None;
        }
        if let Some(value) = &member.default {
            return Some(self.value(value, &member.ty));
        }
        match kind(self.model, &member.ty) {
            Kind::Enum(id, of) => {
                let literal = of.literals.get(of.default as usize);
                let literal = literal.map_or("", |literal| &literal.name);
                Some(format!("{}::{}", self.name(id), names::identifier(literal)))
            }
            Kind::Array(element, _) if matches!(kind(self.model, element), Kind::Enum(..)) => {
                let codec = self.codec(&member.ty);
                Some(format!("::tickwire::cdr::initial<{}>()", in_cdr(&codec)))
            }
            _ => None,
        }
    }

    /// A value as an expression of its type.
    pub(super) fn value(&self, value: &Value, ty: &Type) -> String {
        let kind = kind(self.model, ty);
        match value {
            Value::Bool(value) => value.to_string(),
            Value::Integer(value) => match kind {
                Kind::Primitive(primitive) => integer(*value, primitive_size(primitive)),
                Kind::Bitmask(_, of) => integer(*value, bytes_of(of.bit_bound)),
                _ => integer(*value, 8),
            },
            Value::Float(value) => match kind {
                Kind::Primitive(Primitive::Float) => float(*value, "f"),
                _ => float(*value, ""),
            },
            Value::Char(value) => match u8::try_from(*value) {
                Ok(byte) if !matches!(kind, Kind::Primitive(Primitive::WChar)) => character(byte),
                _ => format!("char16_t({:#06x})", u32::from(*value)),
            },
            Value::String(text) => match kind {
                Kind::WString(_) => {
                    let units = text
                        .encode_utf16()
                        .map(|unit| format!("u\"\\x{unit:04x}\""));
                    let units: Vec<String> = units.collect();
                    match units.is_empty() {
                        true => "u\"\"".to_owned(),
                        false => units.join(" "),
                    }
                }
                _ => literal(text),
            },
            Value::Literal { of, index } => match &self.model.definition(*of).kind {
                DefinitionKind::Enum(of_enum) => {
                    let literal = of_enum.literals.get(*index as usize);
                    let literal = literal.map_or("", |literal| &literal.name);
                    format!("{}::{}", self.name(*of), names::identifier(literal))
                }
                _ => String::new(),
            },
        }
    }

    /// A label as a number.
    pub(super) fn label(&self, label: &Value) -> String {
        match label {
            Value::Bool(value) => u8::from(*value).to_string(),
            Value::Char(value) => u32::from(*value).to_string(),
            Value::Integer(value) => integer(*value, 4),
            Value::Literal { of, index } => match &self.model.definition(*of).kind {
                DefinitionKind::Enum(of) => {
                    let literal = of.literals.get(*index as usize);
                    integer(literal.map_or(0, |literal| literal.value).into(), 4)
                }
                _ => String::new(),
            },
            Value::Float(_) | Value::String(_) => String::new(),
        }
    }
}

/// A codec as it is called outside of its namespace.
fn in_cdr(codec: &str) -> String {
    let mut named = codec.to_owned();
    for name in ["Array<", "Enumerated<"] {
        named = named.replace(name, &format!("::tickwire::cdr::{name}"));
    }
    named
}
