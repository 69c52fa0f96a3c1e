//! Whether two descriptions are the same. Types may contain themselves, so what has been compared
//! is remembered: two types are the same unless a difference is found.

use alloc::vec::Vec;

use super::{Member, Type, TypeDescription, UnionDescription};

impl PartialEq for Type {
    fn eq(&self, other: &Self) -> bool {
        Equality::default().types(self, other)
    }
}

impl PartialEq for TypeDescription {
    fn eq(&self, other: &Self) -> bool {
        Equality::default().structs(self, other)
    }
}

impl PartialEq for UnionDescription {
    fn eq(&self, other: &Self) -> bool {
        Equality::default().unions(self, other)
    }
}

impl PartialEq for Member {
    fn eq(&self, other: &Self) -> bool {
        Equality::default().members(self, other)
    }
}

impl Eq for Type {}
impl Eq for TypeDescription {}
impl Eq for UnionDescription {}
impl Eq for Member {}

/// The structs and unions that were compared, by their addresses.
#[derive(Default)]
struct Equality {
    compared: Vec<(usize, usize)>,
}

impl Equality {
    fn types(&mut self, one: &Type, other: &Type) -> bool {
        match (one, other) {
            (Type::Recursive(a), Type::Recursive(b)) => match (a.target(), b.target()) {
                (Some(a), Some(b)) => self.types(&a, &b),
                (a, b) => a.is_none() && b.is_none(),
            },
            (Type::Recursive(link), other) | (other, Type::Recursive(link)) => {
                let target = link.target();
                target.is_some_and(|target| self.types(&target, other))
            }
            (Type::Struct(a), Type::Struct(b)) => self.structs(a, b),
            (Type::Union(a), Type::Union(b)) => self.unions(a, b),
            (Type::Enum(a), Type::Enum(b)) => a == b,
            (Type::Bitmask(a), Type::Bitmask(b)) => a == b,
            (Type::Bitset(a), Type::Bitset(b)) => a == b,
            (Type::String { bound: a }, Type::String { bound: b })
            | (Type::WString { bound: a }, Type::WString { bound: b }) => a == b,
            (
                Type::Sequence { element, bound },
                Type::Sequence {
                    element: theirs,
                    bound: other,
                },
            ) => bound == other && self.types(element, theirs),
            (
                Type::Array { element, length },
                Type::Array {
                    element: theirs,
                    length: other,
                },
            ) => length == other && self.types(element, theirs),
            (
                Type::Map { key, value, bound },
                Type::Map {
                    key: their_key,
                    value: their_value,
                    bound: other,
                },
            ) => bound == other && self.types(key, their_key) && self.types(value, their_value),
            (one, other) => {
                one.is_primitive() && core::mem::discriminant(one) == core::mem::discriminant(other)
            }
        }
    }

    /// Whether two types need no comparing: they are one, or are being compared.
    fn is_known<T>(&mut self, one: &T, other: &T) -> bool {
        let address = |of: &T| core::ptr::from_ref(of).addr();
        let pair = (address(one), address(other));
        let is_known = pair.0 == pair.1 || self.compared.contains(&pair);
        if !is_known {
            self.compared.push(pair);
        }
        is_known
    }

    fn structs(&mut self, one: &TypeDescription, other: &TypeDescription) -> bool {
        if one.name != other.name {
            return false;
        }
        if self.is_known(one, other) {
            return true;
        }
        let head = |of: &TypeDescription| (of.extensibility, of.nested, of.hash_ids);
        head(one) == head(other)
            && one.members.len() == other.members.len()
            && one
                .members
                .iter()
                .zip(other.members.iter())
                .all(|(one, other)| self.members(one, other))
    }

    fn unions(&mut self, one: &UnionDescription, other: &UnionDescription) -> bool {
        if self.is_known(one, other) {
            return true;
        }
        let head = |of: &UnionDescription| (of.extensibility, of.nested, of.discriminator_key);
        let mut cases = one.cases.iter().zip(other.cases.iter());
        one.name == other.name
            && head(one) == head(other)
            && one.cases.len() == other.cases.len()
            && self.types(&one.discriminator, &other.discriminator)
            && cases.all(|(one, other)| {
                one.labels == other.labels
                    && one.default == other.default
                    && self.members(&one.member, &other.member)
            })
    }

    fn members(&mut self, one: &Member, other: &Member) -> bool {
        let flags = |of: &Member| (of.id, of.key, of.optional, of.must_understand, of.external);
        one.name == other.name
            && one.try_construct == other.try_construct
            && flags(one) == flags(other)
            && one.hash_id == other.hash_id
            && self.types(&one.ty, &other.ty)
    }
}
