//! What follows from types: sizes, who owns memory, what needs what.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    Bitmask, Bitset, DefinitionId, DefinitionKind, Enum, Extensibility, Member, Model, Primitive,
    Struct, Type, Union, Value,
};

/// What a type is, whatever typedefs call it.
#[derive(Clone)]
pub(crate) enum Kind<'m> {
    Primitive(Primitive),
    String(u32),
    WString(u32),
    /// Elements and bound, 0 for none.
    Sequence(&'m Type, u32),
    Map(&'m Type, &'m Type, u32),
    /// What is in all dimensions, and these.
    Array(&'m Type, Vec<u32>),
    Struct(DefinitionId),
    Union(DefinitionId),
    Enum(DefinitionId, &'m Enum),
    Bitmask(DefinitionId, &'m Bitmask),
    Bitset(DefinitionId, &'m Bitset),
}

pub(crate) fn kind<'m>(model: &'m Model, ty: &'m Type) -> Kind<'m> {
    match model.resolve(ty) {
        Type::Primitive(primitive) => Kind::Primitive(*primitive),
        Type::String { bound } => Kind::String(bound.unwrap_or(0)),
        Type::WString { bound } => Kind::WString(bound.unwrap_or(0)),
        Type::Sequence { element, bound } => Kind::Sequence(element, bound.unwrap_or(0)),
        Type::Map { key, value, bound } => Kind::Map(key, value, bound.unwrap_or(0)),
        Type::Array {
            element,
            dimensions,
        } => match kind(model, element) {
            Kind::Array(innermost, inner) => {
                Kind::Array(innermost, [dimensions.clone(), inner].concat())
            }
            _ => Kind::Array(element, dimensions.clone()),
        },
        Type::Named(id) => match &model.definition(*id).kind {
            DefinitionKind::Struct(_) => Kind::Struct(*id),
            DefinitionKind::Union(_) => Kind::Union(*id),
            DefinitionKind::Enum(of) => Kind::Enum(*id, of),
            DefinitionKind::Bitmask(of) => Kind::Bitmask(*id, of),
            DefinitionKind::Bitset(of) => Kind::Bitset(*id, of),
            other => unreachable!(
                "the resolver has checked that no {} is a type",
                other.keyword()
            ),
        },
    }
}

/// A text, sequence or map of which the beginning is kept, as one without a bound, and that bound.
pub(crate) fn trimmed<'m>(kind: Kind<'m>) -> (Kind<'m>, u32) {
    match kind {
        Kind::String(bound) => (Kind::String(0), bound),
        Kind::WString(bound) => (Kind::WString(0), bound),
        Kind::Sequence(element, bound) => (Kind::Sequence(element, 0), bound),
        Kind::Map(key, value, bound) => (Kind::Map(key, value, 0), bound),
        other => (other, 0),
    }
}

/// Bytes of a number with this many bits.
pub(crate) fn bytes_of(bits: u16) -> usize {
    match bits {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        _ => 8,
    }
}

pub(crate) fn primitive_size(primitive: Primitive) -> usize {
    match primitive {
        Primitive::Boolean
        | Primitive::Octet
        | Primitive::Char
        | Primitive::Int8
        | Primitive::UInt8 => 1,
        Primitive::WChar | Primitive::Int16 | Primitive::UInt16 => 2,
        Primitive::Int32 | Primitive::UInt32 | Primitive::Float => 4,
        _ => 8,
    }
}

/// The bits of a bitset up to the end of the last field that has a name, which is what its type on the
/// wire tells.
pub(crate) fn bitset_bits(model: &Model, of: &Bitset) -> u16 {
    let fields = bitset_fields(model, of);
    let ends = fields.iter().map(|field| field.position + field.bits);
    ends.max().unwrap_or_default()
}

/// The fields that have names, those of bases first.
pub(crate) fn bitset_fields<'m>(
    model: &'m Model,
    of: &'m Bitset,
) -> Vec<&'m crate::model::Bitfield> {
    let mut levels = vec![of];
    let mut base = of.base;
    while let Some(id) = base
        && let DefinitionKind::Bitset(of) = &model.definition(id).kind
    {
        levels.push(of);
        base = of.base;
    }
    let fields = levels.into_iter().rev().flat_map(|of| &of.fields);
    fields.filter(|field| field.name.is_some()).collect()
}

/// The member that a union has at first, if any, and its discriminator.
pub(crate) fn initial_case(of: &Union) -> (Option<usize>, Option<&Value>) {
    let default = of.cases.iter().position(|case| case.default);
    let index = match (default, &of.unlabelled) {
        (Some(default), _) => default,
        (None, Some(free)) => return (None, Some(free)),
        (None, None) => 0,
    };
    let case = of.cases.get(index);
    let label = case.and_then(|case| case.labels.first());
    (case.map(|_| index), label.or(of.unlabelled.as_ref()))
}

/// Facts of structs and unions, each known before it is asked for.
#[derive(Default)]
pub(crate) struct Facts {
    /// Own memory.
    owns: BTreeSet<DefinitionId>,
    /// Are not all zeros at first.
    begins: BTreeSet<DefinitionId>,
    /// The fewest bytes of a value.
    least: BTreeMap<DefinitionId, usize>,
    /// Of which the key is not all that there is.
    partial: BTreeSet<DefinitionId>,
    /// With strings that are there, if only where a union has that member.
    texts: BTreeSet<DefinitionId>,
    /// Bytes of a value in memory, about, and of what it has @external when it begins.
    sizes: BTreeMap<DefinitionId, (usize, usize)>,
}

impl Facts {
    /// Of all structs and unions among these definitions, which are in such an order that a value
    /// contains none of a later one.
    pub(crate) fn of(model: &Model, order: &[DefinitionId]) -> Self {
        let mut facts = Self::default();
        for id in order {
            let kind = &model.definition(*id).kind;
            let members = members_of(model, kind);
            if members.is_empty() {
                continue;
            }
            if members
                .iter()
                .any(|member| facts.member_owns(model, member))
            {
                facts.owns.insert(*id);
            }
            let mut there = members.iter().filter(|member| !member.optional);
            if there.any(|member| facts.has_texts(model, &member.ty)) {
                facts.texts.insert(*id);
            }
            let sizes = facts.sizes_of(model, kind, &members);
            facts.sizes.insert(*id, sizes);
            let (begins, least) = match kind {
                DefinitionKind::Union(of) => facts.union(model, of),
                DefinitionKind::Struct(of) => {
                    let begins = members
                        .iter()
                        .any(|member| facts.member_begins(model, member));
                    let serialized = members.iter().filter(|member| !member.non_serialized);
                    let least = serialized.map(|member| match member.optional {
                        true => 1,
                        false => facts.least(model, &member.ty),
                    });
                    let least = least.fold(0, usize::saturating_add);
                    (begins, least_of(of.extensibility, least))
                }
                _ => continue,
            };
            if begins {
                facts.begins.insert(*id);
            }
            facts.least.insert(*id, least);
        }
        facts.find_partial(model, order);
        facts
    }

    fn union(&self, model: &Model, of: &Union) -> (bool, usize) {
        let (case, label) = initial_case(of);
        let label = label.is_some_and(|value| !is_zero(model, value, &of.discriminator));
        let member = case.and_then(|index| of.cases.get(index));
        let member = member.is_some_and(|case| self.member_begins(model, &case.member));
        let least = self.least(model, &of.discriminator);
        (label || member, least_of(of.extensibility, least))
    }

    fn sizes_of(
        &self,
        model: &Model,
        kind: &DefinitionKind,
        members: &[&Member],
    ) -> (usize, usize) {
        let each = members
            .iter()
            .map(|member| self.member_sizes(model, member));
        let add = usize::saturating_add;
        let (size, apart) = match kind {
            DefinitionKind::Union(of) => {
                let first = initial_case(of).0.and_then(|index| of.cases.get(index));
                let apart = first.map_or(0, |case| self.member_sizes(model, &case.member).1);
                (each.fold(8, |size, (one, _)| size.max(add(one, 8))), apart)
            }
            _ => each.fold((0, 0), |(size, apart), (one, other)| {
                (add(size, one), add(apart, other))
            }),
        };
        (size.checked_next_multiple_of(8).unwrap_or(size), apart)
    }

    fn member_sizes(&self, model: &Model, member: &Member) -> (usize, usize) {
        let (size, apart) = self.size(model, &member.ty);
        match (is_pointer(model, member), member.optional) {
            (_, true) => (size.min(8), 0),
            (true, false) => (8, size.saturating_add(apart)),
            (false, false) => (size, apart.saturating_add(default_bytes(model, member))),
        }
    }

    fn size(&self, model: &Model, ty: &Type) -> (usize, usize) {
        match kind(model, ty) {
            Kind::Primitive(primitive) => (primitive_size(primitive), 0),
            Kind::Array(element, dimensions) => {
                let (size, apart) = self.size(model, element);
                let counts = dimensions.iter().map(|count| *count as usize);
                let count = counts.fold(1, usize::saturating_mul);
                (size.saturating_mul(count), apart.saturating_mul(count))
            }
            Kind::Struct(id) | Kind::Union(id) => self.sizes.get(&id).copied().unwrap_or_default(),
            Kind::Sequence(..) | Kind::Map(..) => (16, 0),
            Kind::String(_) | Kind::WString(_) => (8, TEXT),
            _ => (8, 0),
        }
    }

    /// The bytes that a value takes, about, apart from itself when it begins, or is made empty as a sample lacks it: those of
    /// its members that are @external, and of strings. One that is an element is there, and its bytes in the payload.
    pub(crate) fn apart(&self, model: &Model, ty: &Type) -> usize {
        match is_text(model, ty) {
            true => 0,
            false => self.size(model, ty).1,
        }
    }

    /// The same of a member of a union that is chosen.
    pub(crate) fn member_apart(&self, model: &Model, member: &Member) -> usize {
        match is_text(model, &member.ty) {
            true => default_bytes(model, member),
            false => self.member_sizes(model, member).1,
        }
    }

    /// Whether there may be strings in a value, other than in what may be absent and in sequences and maps.
    pub(crate) fn has_texts(&self, model: &Model, ty: &Type) -> bool {
        match kind(model, ty) {
            Kind::String(_) | Kind::WString(_) => true,
            Kind::Array(element, _) => self.has_texts(model, element),
            Kind::Struct(id) | Kind::Union(id) => self.texts.contains(&id),
            _ => false,
        }
    }

    pub(crate) fn definition_has_texts(&self, id: DefinitionId) -> bool {
        self.texts.contains(&id)
    }

    /// Types whose key, or that of what is in them, is a part of them.
    fn find_partial(&mut self, model: &Model, order: &[DefinitionId]) {
        let mut users: BTreeMap<DefinitionId, Vec<DefinitionId>> = BTreeMap::new();
        let mut found = Vec::new();
        for id in order {
            let kind = &model.definition(*id).kind;
            let members = members_of(model, kind);
            let is_partial = match kind {
                DefinitionKind::Union(of) => of.discriminator_key,
                _ => {
                    let serialized = members.iter().filter(|member| !member.non_serialized);
                    let keys = members.iter().filter(|member| member.key).count();
                    keys > 0 && keys < serialized.count()
                }
            };
            if is_partial {
                found.push(*id);
            }
            for member in members {
                if let Some(inner) = keyed(model, &member.ty) {
                    users.entry(inner).or_default().push(*id);
                }
            }
        }
        while let Some(id) = found.pop() {
            if self.partial.insert(id) {
                found.extend(users.remove(&id).unwrap_or_default());
            }
        }
    }

    /// Whether the key of a value is less than all of it. Maps belong to keys as they are.
    pub(crate) fn is_partial(&self, model: &Model, ty: &Type) -> bool {
        keyed(model, ty).is_some_and(|id| self.partial.contains(&id))
    }

    pub(crate) fn definition_is_partial(&self, id: DefinitionId) -> bool {
        self.partial.contains(&id)
    }

    /// Whether a value has memory of its own.
    pub(crate) fn owns(&self, model: &Model, ty: &Type) -> bool {
        match kind(model, ty) {
            Kind::String(_) | Kind::WString(_) | Kind::Sequence(..) | Kind::Map(..) => true,
            Kind::Array(element, _) => self.owns(model, element),
            Kind::Struct(id) | Kind::Union(id) => self.owns.contains(&id),
            _ => false,
        }
    }

    pub(crate) fn member_owns(&self, model: &Model, member: &Member) -> bool {
        member.optional || member.external || self.owns(model, &member.ty)
    }

    /// Whether a value is not all zeros at first.
    pub(crate) fn begins(&self, model: &Model, ty: &Type) -> bool {
        match kind(model, ty) {
            Kind::Array(element, _) => self.begins(model, element),
            Kind::Struct(id) | Kind::Union(id) => self.begins.contains(&id),
            Kind::Enum(_, of) => {
                let literal = of.literals.get(of.default as usize);
                literal.is_some_and(|literal| literal.value != 0)
            }
            _ => false,
        }
    }

    pub(crate) fn member_begins(&self, model: &Model, member: &Member) -> bool {
        if member.optional {
            return false;
        }
        match &member.default {
            Some(value) => !is_zero(model, value, &member.ty),
            None => is_pointer(model, member) || self.begins(model, &member.ty),
        }
    }

    /// The fewest bytes that a value takes in any version of the encoding, at least 1.
    pub(crate) fn least(&self, model: &Model, ty: &Type) -> usize {
        match kind(model, ty) {
            Kind::Primitive(primitive) => primitive_size(primitive),
            Kind::String(_) | Kind::WString(_) | Kind::Sequence(..) | Kind::Map(..) => 4,
            Kind::Array(element, dimensions) => {
                let least = self.least(model, element);
                let counts = dimensions.iter().map(|count| *count as usize);
                counts.fold(least, usize::saturating_mul)
            }
            Kind::Struct(id) | Kind::Union(id) => self.least.get(&id).copied().unwrap_or(1),
            Kind::Enum(_, of) => bytes_of(of.bit_bound),
            Kind::Bitmask(_, of) => bytes_of(of.bit_bound),
            Kind::Bitset(_, of) => bytes_of(bitset_bits(model, of)),
        }
    }
}

/// The struct or union whose key belongs to that of a value.
fn keyed(model: &Model, ty: &Type) -> Option<DefinitionId> {
    match kind(model, ty) {
        Kind::Struct(id) | Kind::Union(id) => Some(id),
        Kind::Sequence(element, _) | Kind::Array(element, _) => keyed(model, element),
        _ => None,
    }
}

fn least_of(extensibility: Extensibility, members: usize) -> usize {
    let least = match extensibility {
        Extensibility::Final => members,
        Extensibility::Appendable => members.min(4),
        Extensibility::Mutable => 4,
    };
    least.max(1)
}

/// Whether a member is a pointer, other than strings, which always are.
pub(crate) fn is_pointer(model: &Model, member: &Member) -> bool {
    (member.optional || member.external) && !is_text(model, &member.ty)
}

pub(crate) fn is_text(model: &Model, ty: &Type) -> bool {
    matches!(
        model.resolve(ty),
        Type::String { .. } | Type::WString { .. }
    )
}

/// Whether a value is all zeros in memory.
pub(crate) fn is_zero(model: &Model, value: &Value, ty: &Type) -> bool {
    match value {
        Value::Bool(value) => !value,
        Value::Integer(value) => *value == 0,
        Value::Float(value) => *value == 0.0 && value.is_sign_positive(),
        Value::Char(value) => *value == '\0',
        Value::String(text) => text.is_empty(),
        Value::Literal { index, .. } => match kind(model, ty) {
            Kind::Enum(_, of) => {
                let literal = of.literals.get(*index as usize);
                literal.is_some_and(|literal| literal.value == 0)
            }
            _ => false,
        },
    }
}

/// How a mutable struct's member of this type tells its length (XTypes 1.3 §7.4.3.4.2).
pub(crate) fn length_code(model: &Model, ty: &Type) -> u32 {
    let of_size = |size: usize| match size {
        1 => 0,
        2 => 1,
        4 => 2,
        8 => 3,
        _ => NEXT_INT,
    };
    let is_primitive = |ty| matches!(kind(model, ty), Kind::Primitive(_));
    match kind(model, ty) {
        Kind::Primitive(primitive) => of_size(primitive_size(primitive)),
        Kind::String(_) | Kind::WString(_) => 5,
        Kind::Sequence(element, _) => match kind(model, element) {
            Kind::Primitive(primitive) => match primitive_size(primitive) {
                1 => 5,
                4 => 6,
                8 => 7,
                _ => NEXT_INT,
            },
            _ => 5,
        },
        Kind::Map(key, value, _) if is_primitive(key) && is_primitive(value) => NEXT_INT,
        Kind::Array(element, _) if is_primitive(element) => NEXT_INT,
        Kind::Map(..) | Kind::Array(..) => 5,
        Kind::Struct(..) | Kind::Union(..) => NEXT_INT,
        Kind::Enum(_, of) => of_size(bytes_of(of.bit_bound)),
        Kind::Bitmask(_, of) => of_size(bytes_of(of.bit_bound)),
        Kind::Bitset(_, of) => of_size(bytes_of(bitset_bits(model, of))),
    }
}

/// The members of a struct that are in samples, those of its bases among them: of the key, or all.
pub(crate) fn members_for<'m>(model: &'m Model, of: &'m Struct, key: bool) -> Vec<&'m Member> {
    let mut members = model.all_members(of);
    let has_key = members.iter().any(|member| member.key);
    members.retain(|member| match key && has_key {
        true => member.key,
        false => !member.non_serialized,
    });
    members
}

/// Members that are in no sample, which begin anew when one is read.
pub(crate) fn non_serialized<'m>(model: &'m Model, of: &'m Struct) -> Vec<&'m Member> {
    let mut members = model.all_members(of);
    members.retain(|member| member.non_serialized);
    members
}

/// All members of a struct, those of its bases among them, or of a union.
pub(crate) fn members_of<'m>(model: &'m Model, kind: &'m DefinitionKind) -> Vec<&'m Member> {
    match kind {
        DefinitionKind::Struct(of) => model.all_members(of),
        DefinitionKind::Union(of) => of.cases.iter().map(|case| &case.member).collect(),
        _ => Vec::new(),
    }
}

/// The bytes of a string that a member begins as.
fn default_bytes(model: &Model, member: &Member) -> usize {
    match (&member.default, model.resolve(&member.ty)) {
        (Some(Value::String(text)), Type::WString { .. }) => text.len().saturating_mul(2),
        (Some(Value::String(text)), _) => text.len(),
        _ => 0,
    }
}

/// What the memory of a short string takes, about.
const TEXT: usize = 32;

/// The length is a word after the header.
const NEXT_INT: u32 = 4;
