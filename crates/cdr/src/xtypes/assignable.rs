//! Whether samples of one type can be read as another (XTypes 1.3 §7.2.4), and if not, why.
//!
//! Knows nothing of where the types come from. Types from minimal objects are compared by the
//! hashes of their members' names.

mod enumerated;
mod reason;
mod structure;
mod union;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub use reason::{Need, NotAssignable, Reason};

use super::name_hash;
use crate::{Representation, Type, TypeDescription};

/// What a reader lets pass (TYPE_CONSISTENCY_ENFORCEMENT, XTypes 1.3 §7.6.3.4), and in which
/// encoding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Consistency {
    /// Bounds of sequences and maps do not count, except in keys. Default true.
    pub ignore_sequence_bounds: bool,
    /// Bounds of strings do not count, except in keys. Default true.
    pub ignore_string_bounds: bool,
    /// Names of members, literals and flags do not count. Default false.
    pub ignore_member_names: bool,
    /// The reader's type has no member that the writer's does not have. Default false.
    pub prevent_type_widening: bool,
    /// The encoding of the samples. In XCDR1, appendable types inside others cannot differ, as
    /// nothing tells where they end. Default XCDR2.
    pub representation: Representation,
}

impl Default for Consistency {
    fn default() -> Self {
        Self {
            ignore_sequence_bounds: true,
            ignore_string_bounds: true,
            ignore_member_names: false,
            prevent_type_widening: false,
            representation: Representation::Xcdr2,
        }
    }
}

/// Whether a reader's type can take over what a writer of another type writes; if not, the first
/// reasons, at most eight.
///
/// Costs a pass over both types.
pub fn check_assignable(
    reader: &TypeDescription,
    writer: &TypeDescription,
    consistency: Consistency,
) -> Result<(), Vec<NotAssignable>> {
    let name = [&reader.name, &writer.name];
    let root = name.iter().find(|name| !name.is_empty());
    let mut comparison = Comparison {
        consistency,
        path: root.map_or_else(String::new, |name| (***name).into()),
        in_key: false,
        can_differ: true,
        depth: 0,
        compared: BTreeSet::new(),
        reasons: Vec::new(),
    };
    comparison.structs(reader, writer);
    match comparison.reasons.is_empty() {
        true => Ok(()),
        false => Err(comparison.reasons),
    }
}

struct Comparison {
    consistency: Consistency,
    /// From the type down to what is compared.
    path: String,
    /// Whether what is compared is in the key.
    in_key: bool,
    /// Whether something tells where a value ends, so that a reader who knows less can go on.
    can_differ: bool,
    depth: usize,
    /// Structs and unions that are being compared, or were without finding a reason. Types may
    /// contain themselves.
    compared: BTreeSet<Compared>,
    reasons: Vec<NotAssignable>,
}

/// Two structs or unions by their addresses, and what else the comparison depends on.
type Compared = (usize, usize, bool, bool);

impl Comparison {
    fn refuse(&mut self, reason: Reason) {
        if self.reasons.len() < MAX_REASONS {
            let path = self.path.clone();
            self.reasons.push(NotAssignable { path, reason });
        }
    }

    /// Compares further below this place.
    fn at(&mut self, step: &str, compare: impl FnOnce(&mut Self)) {
        if self.depth >= MAX_DEPTH || self.reasons.len() >= MAX_REASONS {
            return;
        }
        let len = self.path.len();
        self.path.push_str(step);
        self.depth += 1;
        compare(self);
        self.depth -= 1;
        self.path.truncate(len);
    }

    /// Compares members of structs or unions.
    fn at_member(&mut self, name: &str, compare: impl FnOnce(&mut Self)) {
        self.at(&format!(".{name}"), compare);
    }

    fn types(&mut self, reader: &Type, writer: &Type) {
        match (reader, writer) {
            (Type::String { bound }, Type::String { bound: other })
            | (Type::WString { bound }, Type::WString { bound: other }) => {
                self.bounds(self.consistency.ignore_string_bounds, *bound, *other);
            }
            (
                Type::Sequence { element, bound },
                Type::Sequence {
                    element: theirs,
                    bound: other,
                },
            ) => {
                self.bounds(self.consistency.ignore_sequence_bounds, *bound, *other);
                self.at("[]", |inner| inner.types(element, theirs));
            }
            (
                Type::Array { element, length },
                Type::Array {
                    element: theirs,
                    length: other,
                },
            ) if length == other => self.at("[]", |inner| inner.types(element, theirs)),
            (
                Type::Map { key, value, bound },
                Type::Map {
                    key: their_key,
                    value: their_value,
                    bound: other,
                },
            ) => {
                self.bounds(self.consistency.ignore_sequence_bounds, *bound, *other);
                self.at("{key}", |inner| inner.types(key, their_key));
                self.at("{}", |inner| inner.types(value, their_value));
            }
            (Type::Enum(one), Type::Enum(other)) => self.enums(one, other),
            (Type::Bitmask(one), Type::Bitmask(other)) => self.bitmasks(one, other),
            (Type::Bitset(one), Type::Bitset(other)) => self.bitsets(one, other),
            (Type::Recursive(one), other) => {
                if let Some(one) = one.target() {
                    self.types(&one, other);
                }
            }
            (one, Type::Recursive(other)) => {
                if let Some(other) = other.target() {
                    self.types(one, &other);
                }
            }
            (Type::Struct(one), Type::Struct(other)) => {
                self.once(&**one, &**other, |at| at.nested_structs(one, other));
            }
            (Type::Union(one), Type::Union(other)) => {
                self.once(&**one, &**other, |at| at.unions(one, other));
            }
            (one, other) if are_alike(one, other) => {}
            (one, other) => self.refuse(Reason::Type {
                reader: one.to_string(),
                writer: other.to_string(),
            }),
        }
    }

    /// Compares two types unless that is under way, or has been done without finding a reason.
    fn once<T>(&mut self, reader: &T, writer: &T, compare: impl FnOnce(&mut Self)) {
        let address = |of: &T| core::ptr::from_ref(of).addr();
        let pair = (
            address(reader),
            address(writer),
            self.in_key,
            self.can_differ,
        );
        if !self.compared.insert(pair) {
            return;
        }
        let reasons = self.reasons.len();
        compare(self);
        if self.reasons.len() > reasons {
            // There is something to tell of it at another place, too.
            self.compared.remove(&pair);
        }
    }

    /// A reader's bound, 0 for none, is at least the writer's. It always is in keys, or two
    /// instances could become one.
    fn bounds(&mut self, ignore: bool, reader: u32, writer: u32) {
        let holds = reader == 0 || writer != 0 && reader >= writer;
        if !holds && (self.in_key || !ignore) {
            self.refuse(Reason::Bound { reader, writer });
        }
    }

    /// Whether two names are one, or names do not count.
    fn same_name(&self, one: &str, other: &str) -> bool {
        self.consistency.ignore_member_names || are_one_name(one, other)
    }
}

/// Types without parts that are read from the same bytes as the same values. An octet is a number
/// here as in most languages, and a bitmask as good as a number of as many bytes (XTypes 1.3
/// §7.2.4.4.2).
fn are_alike(one: &Type, other: &Type) -> bool {
    let width = |ty: &Type| match ty {
        Type::U8 | Type::Byte => Some(1),
        Type::U16 => Some(2),
        Type::U32 => Some(4),
        Type::U64 => Some(8),
        Type::Bitmask(description) => Some(description.size()),
        _ => None,
    };
    match (width(one), width(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one.is_primitive() && one == other,
    }
}

/// Whether two names are one. That of a minimal object is its hash.
fn are_one_name(one: &str, other: &str) -> bool {
    let hash = |name: &str| match name.strip_prefix('#') {
        Some(digits) => u32::from_str_radix(digits, 16).unwrap_or_default(),
        None => u32::from_be_bytes(name_hash(name)),
    };
    one == other || (one.starts_with('#') || other.starts_with('#')) && hash(one) == hash(other)
}

const MAX_REASONS: usize = 8;
/// Types nest less than this.
const MAX_DEPTH: usize = crate::dynamic::MAX_DEPTH;
