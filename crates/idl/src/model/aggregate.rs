//! Types that a text defines.

use super::{Annotation, DefinitionId, Position, Primitive, Type, Value};

/// How a type may change (XTypes 1.3 §7.2.2.4.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Extensibility {
    /// `@final`: not at all.
    Final,
    /// `@appendable`: at its end.
    #[default]
    Appendable,
    /// `@mutable`: members come and go.
    Mutable,
}

/// Where ids of members come from that are not given (XTypes 1.3 §7.3.1.2.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AutoId {
    /// One more than that of the member before.
    #[default]
    Sequential,
    /// The hash of the name.
    Hash,
}

/// `struct`
#[derive(Clone, Debug, Default)]
pub struct Struct {
    /// The struct whose members come first.
    pub base: Option<DefinitionId>,
    /// How it may change.
    pub extensibility: Extensibility,
    /// Whether it is no type of a topic.
    pub nested: bool,
    /// Where ids come from that are not given.
    pub auto_id: AutoId,
    /// Its own members.
    pub members: Vec<Member>,
}

/// `union`
#[derive(Clone, Debug)]
pub struct Union {
    /// An integer, `boolean`, `octet`, `char`, `wchar` or enum.
    pub discriminator: Type,
    /// Whether the discriminator is the key.
    pub discriminator_key: bool,
    /// How it may change.
    pub extensibility: Extensibility,
    /// Whether it is no type of a topic.
    pub nested: bool,
    /// Where ids come from that are not given.
    pub auto_id: AutoId,
    /// Its members.
    pub cases: Vec<Case>,
    /// The first value of the discriminator that no label has, if there is any: with it the union has
    /// the default member, or none.
    pub unlabelled: Option<Value>,
}

/// A member of a union.
#[derive(Clone, Debug)]
pub struct Case {
    /// Values of the discriminator with which it is there.
    pub labels: Vec<Value>,
    /// Whether it is there with all other values, too.
    pub default: bool,
    /// What is there.
    pub member: Member,
}

/// A member of a struct, union or exception.
#[derive(Clone, Debug)]
pub struct Member {
    /// The name.
    pub name: String,
    /// Where the name stands.
    pub position: Position,
    /// Where the type stands.
    pub type_position: Position,
    /// The comment at it.
    pub doc: Option<String>,
    /// Annotations that there is no field for.
    pub annotations: Vec<Annotation>,
    /// The type.
    pub ty: Type,
    /// The id, below 2^28 - 1.
    pub id: u32,
    /// Where the id comes from.
    pub id_source: IdSource,
    /// `@key`, or by a pragma.
    pub key: bool,
    /// `@optional`
    pub optional: bool,
    /// `@external`
    pub external: bool,
    /// `@must_understand`
    pub must_understand: bool,
    /// `@non_serialized`: the member is in values, and neither in samples nor in the type that peers are told of. Never of
    /// a key, nor of a member of a union.
    pub non_serialized: bool,
    /// `@try_construct`; of a key always `DISCARD`.
    pub try_construct: TryConstruct,
    /// `@default`
    pub default: Option<Value>,
    /// `@range`, `@min` and `@max`
    pub range: Range,
    /// `@unit`
    pub unit: Option<String>,
}

/// What a reader does with a value that the member's type cannot hold (XTypes 1.3 §7.2.2.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TryConstruct {
    /// `DISCARD`: what the member is in cannot be had either.
    #[default]
    Discard,
    /// `USE_DEFAULT`: the member is its default.
    UseDefault,
    /// `TRIM`: of a text, sequence or map the beginning is kept.
    Trim,
}

/// Where the id of a member comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdSource {
    /// [`AutoId`] of its type.
    Automatic,
    /// `@id`
    Given,
    /// `@hashid` with this text, or the member's name where that is empty.
    Hash(String),
}

/// Values that a member may have. They are told to people; nothing on the wire keeps them.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Range {
    /// The least.
    pub min: Option<Value>,
    /// The largest.
    pub max: Option<Value>,
}

/// `enum`
#[derive(Clone, Debug, Default)]
pub struct Enum {
    /// How it may change; never mutable.
    pub extensibility: Extensibility,
    /// Bits of its values, 1 to 32.
    pub bit_bound: u16,
    /// Its literals, at least one.
    pub literals: Vec<Literal>,
    /// Index of the literal with `@default_literal`, else 0.
    pub default: u32,
}

/// A value of an enum.
#[derive(Clone, Debug)]
pub struct Literal {
    /// The name, which belongs to the scope around the enum.
    pub name: String,
    /// Where it stands.
    pub position: Position,
    /// The comment at it.
    pub doc: Option<String>,
    /// Annotations that there is no field for.
    pub annotations: Vec<Annotation>,
    /// Its number.
    pub value: i32,
}

/// `bitmask`
#[derive(Clone, Debug, Default)]
pub struct Bitmask {
    /// How it may change; never mutable.
    pub extensibility: Extensibility,
    /// Bits that there are, 1 to 64.
    pub bit_bound: u16,
    /// Those that have names.
    pub flags: Vec<Flag>,
}

/// A bit of a bitmask.
#[derive(Clone, Debug)]
pub struct Flag {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub position: Position,
    /// The comment at it.
    pub doc: Option<String>,
    /// Annotations that there is no field for.
    pub annotations: Vec<Annotation>,
    /// Which bit, from 0.
    pub bit: u16,
}

/// `bitset`
#[derive(Clone, Debug, Default)]
pub struct Bitset {
    /// The bitset whose fields come first.
    pub base: Option<DefinitionId>,
    /// Its own fields.
    pub fields: Vec<Bitfield>,
    /// Bits of all fields, those of the base among them; at most 64.
    pub bits: u16,
}

/// Some bits of a bitset.
#[derive(Clone, Debug)]
pub struct Bitfield {
    /// The name; none where bits are left out.
    pub name: Option<String>,
    /// The comment at it.
    pub doc: Option<String>,
    /// Its lowest bit.
    pub position: u16,
    /// How many bits.
    pub bits: u16,
    /// The type of its values.
    pub ty: Primitive,
}
