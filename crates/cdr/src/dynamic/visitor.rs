//! Who is told what is in a payload, and in which words.

use crate::{
    BitmaskDescription, BitsetDescription, Literal, Member, TypeDescription, UnionDescription,
};

/// What is told about a payload, in the order of its bytes.
///
/// Members that are absent are not told, nor those that are to be their defaults because their types cannot hold what there
/// is ([`TryConstruct::UseDefault`](crate::TryConstruct::UseDefault)).
pub trait Visitor {
    /// A struct begins: the payload itself, a member or an element.
    fn begin_struct(&mut self, description: &TypeDescription);
    /// Its members have all been told.
    fn end_struct(&mut self);
    /// A union begins. The next value is its discriminator; a member follows if that selects one.
    fn begin_union(&mut self, description: &UnionDescription);
    /// It has been told.
    fn end_union(&mut self);
    /// The next value is that of a member of the innermost struct or union.
    fn member(&mut self, member: &Member);
    /// A sequence or an array begins. One of several dimensions is an array of arrays.
    fn begin_sequence(&mut self, count: usize);
    /// Its elements have all been told.
    fn end_sequence(&mut self);
    /// A map begins. Keys, which are values without parts, and what they stand for take turns.
    fn begin_map(&mut self, count: usize);
    /// The next value is a key of the innermost map.
    fn map_key(&mut self);
    /// Its entries have all been told.
    fn end_map(&mut self);
    /// A value without parts.
    fn value(&mut self, value: Value<'_>);
}

/// Is told, and does nothing.
pub(super) struct Nobody;

impl Visitor for Nobody {
    fn begin_struct(&mut self, _: &TypeDescription) {}
    fn end_struct(&mut self) {}
    fn begin_union(&mut self, _: &UnionDescription) {}
    fn end_union(&mut self) {}
    fn member(&mut self, _: &Member) {}
    fn begin_sequence(&mut self, _: usize) {}
    fn end_sequence(&mut self) {}
    fn begin_map(&mut self, _: usize) {}
    fn map_key(&mut self) {}
    fn end_map(&mut self) {}
    fn value(&mut self, _: Value<'_>) {}
}

/// A value without parts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value<'a> {
    /// `boolean`
    Bool(bool),
    /// Any unsigned integer, and a `wchar` that is half of a character.
    Unsigned(u64),
    /// Any signed integer.
    Signed(i64),
    /// `float`
    F32(f32),
    /// `double`
    F64(f64),
    /// `char` or `wchar`
    Char(char),
    /// `string`, in the payload, or `wstring`
    Str(&'a str),
    /// A literal of an enumeration.
    Enum(&'a Literal),
    /// A bitmask, and which of its bits are set.
    Bits(&'a BitmaskDescription, u64),
    /// A bitset, and the bits of all its fields: see [`Bitfield::value`](crate::Bitfield::value).
    Bitset(&'a BitsetDescription, u64),
}
