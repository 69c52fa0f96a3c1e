//! What a compilation results in: every definition with its names resolved, its constants evaluated
//! and its annotations as values. All back ends read this, and nothing of the text.
//!
//! Definitions are kept in one list and name each other by [`DefinitionId`]; [`Model::definitions`]
//! of a scope are in the order of the text, in which whatever is needed comes first, but for what was
//! declared ahead (`struct Node;`). Names are without the underscore that IDL lets stand before a
//! name that is a keyword.

mod aggregate;
mod interface;
mod value;

use std::fmt;

pub use aggregate::{
    AutoId, Bitfield, Bitmask, Bitset, Case, Enum, Extensibility, Flag, IdSource, Literal, Member,
    Range, Struct, TryConstruct, Union,
};
pub use interface::{Attribute, Direction, Interface, Operation, Parameter};
pub use value::Value;

/// All definitions of a compilation.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub(crate) files: Vec<File>,
    pub(crate) definitions: Vec<Definition>,
    pub(crate) root: Vec<DefinitionId>,
}

impl Model {
    /// The files that were read, once for each time that they were included.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// The definitions outside of modules.
    pub fn root(&self) -> &[DefinitionId] {
        &self.root
    }

    /// One definition.
    ///
    /// # Panics
    /// If the id is of another model.
    pub fn definition(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.0 as usize]
    }

    /// All definitions: a module before what is in it, everything else in the order of the text.
    pub fn definitions(&self) -> impl Iterator<Item = (DefinitionId, &Definition)> {
        let ids = (0..).map(DefinitionId);
        ids.zip(&self.definitions)
    }

    /// The definition of a full name, `market::Quote`.
    pub fn find(&self, full_name: &str) -> Option<(DefinitionId, &Definition)> {
        let mut all = self.definitions();
        all.find(|(_, definition)| definition.full_name == full_name)
    }

    /// The type that a type is, once the names that typedefs gave it are taken away. Elements of
    /// what is found may have such names.
    pub fn resolve<'m>(&'m self, mut ty: &'m Type) -> &'m Type {
        while let Type::Named(id) = ty
            && let DefinitionKind::Typedef(of) = &self.definition(*id).kind
        {
            ty = of;
        }
        ty
    }

    /// A member with `@try_construct` other than DISCARD that is part of the key where this is the type of a key: of which a reader
    /// may make another key than the sample has.
    pub(crate) fn tried_in_key(&self, ty: &Type) -> Option<String> {
        self.tried_in_one(ty, &mut Vec::new())
    }

    fn tried_in_one(&self, ty: &Type, seen: &mut Vec<DefinitionId>) -> Option<String> {
        let id = match self.resolve(ty) {
            Type::Sequence { element, .. } | Type::Array { element, .. } => {
                return self.tried_in_one(element, seen);
            }
            Type::Map { key, value, .. } => {
                let of_key = self.tried_in_one(key, seen);
                return of_key.or_else(|| self.tried_in_one(value, seen));
            }
            Type::Named(id) if !seen.contains(id) => *id,
            _ => return None,
        };
        seen.push(id);
        let definition = self.definition(id);
        let members = match &definition.kind {
            DefinitionKind::Struct(of) => {
                let mut all = self.all_members(of);
                if all.iter().any(|member| member.key) {
                    all.retain(|member| member.key);
                }
                all
            }
            DefinitionKind::Union(of) if !of.discriminator_key => {
                of.cases.iter().map(|case| &case.member).collect()
            }
            _ => Vec::new(),
        };
        members
            .into_iter()
            .find_map(|member| match member.try_construct {
                TryConstruct::Discard => self.tried_in_one(&member.ty, seen),
                _ => Some(format!("{}.{}", definition.full_name, member.name)),
            })
    }

    /// Members of a struct, those of its bases first.
    pub fn all_members<'m>(&'m self, of: &'m Struct) -> Vec<&'m Member> {
        let mut levels = vec![of];
        let mut base = of.base;
        while let Some(id) = base
            && let DefinitionKind::Struct(of) = &self.definition(id).kind
        {
            levels.push(of);
            base = of.base;
        }
        let levels = levels.into_iter().rev();
        levels.flat_map(|of| &of.members).collect()
    }

    /// A type as it is written in IDL, names in full.
    pub fn display<'m>(&'m self, ty: &'m Type) -> impl fmt::Display + 'm {
        DisplayType(self, ty)
    }
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// As it was named or found.
    pub path: String,
    /// Whether another file includes it, so that the user did not name it.
    pub included: bool,
}

/// Which definition of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefinitionId(pub(crate) u32);

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Position {
    /// Index into [`Model::files`].
    pub file: u32,
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
}

/// Whatever has a name in a scope.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// With all scopes around it: `market::Quote`.
    pub full_name: String,
    /// The module or interface around it.
    pub scope: Option<DefinitionId>,
    /// Where its name stands.
    pub position: Position,
    /// The comment before it, or behind it on its line; lines without marks.
    pub doc: Option<String>,
    /// Annotations that this model has no field for, such as those that the text defines.
    pub annotations: Vec<Annotation>,
    /// What it is.
    pub kind: DefinitionKind,
}

/// What a definition is.
#[derive(Clone, Debug)]
pub enum DefinitionKind {
    /// `module`, with its definitions from wherever it is opened.
    Module(Vec<DefinitionId>),
    /// `const`
    Const(Type, Value),
    /// `struct`
    Struct(Struct),
    /// `union`
    Union(Union),
    /// `enum`
    Enum(Enum),
    /// `bitmask`
    Bitmask(Bitmask),
    /// `bitset`
    Bitset(Bitset),
    /// `typedef`
    Typedef(Type),
    /// `exception`, whose members are like those of a struct.
    Exception(Vec<Member>),
    /// `interface`
    Interface(Interface),
    /// `@annotation`: its parameters.
    Annotation(Vec<AnnotationParameter>),
}

impl DefinitionKind {
    /// The keyword that begins it.
    pub fn keyword(&self) -> &'static str {
        match self {
            Self::Module(_) => "module",
            Self::Const(..) => "const",
            Self::Struct(_) => "struct",
            Self::Union(_) => "union",
            Self::Enum(_) => "enum",
            Self::Bitmask(_) => "bitmask",
            Self::Bitset(_) => "bitset",
            Self::Typedef(_) => "typedef",
            Self::Exception(_) => "exception",
            Self::Interface(_) => "interface",
            Self::Annotation(_) => "annotation",
        }
    }
}

/// An annotation that stands somewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// Its name as it is written, without `@`.
    pub name: String,
    /// Its definition, if the text has one.
    pub definition: Option<DefinitionId>,
    /// Names and values. Of one that the text defines these are all its parameters; a value without
    /// a name has the name `value`.
    pub arguments: Vec<(String, Value)>,
    /// Where it stands.
    pub position: Position,
}

/// A parameter of an annotation that the text defines.
#[derive(Clone, Debug, PartialEq)]
pub struct AnnotationParameter {
    /// The name.
    pub name: String,
    /// A primitive type, a string or an enum.
    pub ty: Type,
    /// What it is where it is not given.
    pub default: Option<Value>,
}

/// A type where it is used.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// A number, `boolean`, `octet`, `char` or `wchar`.
    Primitive(Primitive),
    /// `string`
    String {
        /// Largest length in bytes without the NUL.
        bound: Option<u32>,
    },
    /// `wstring`
    WString {
        /// Largest length in units of UTF-16.
        bound: Option<u32>,
    },
    /// `sequence`
    Sequence {
        /// Type of the elements.
        element: Box<Self>,
        /// Largest number of elements.
        bound: Option<u32>,
    },
    /// `map`
    Map {
        /// Type of the keys.
        key: Box<Self>,
        /// Type of the values.
        value: Box<Self>,
        /// Largest number of entries.
        bound: Option<u32>,
    },
    /// An array, from its declarator.
    Array {
        /// Type of the elements.
        element: Box<Self>,
        /// Length of each dimension, outermost first; at least one, none of them 0.
        dimensions: Vec<u32>,
    },
    /// A struct, union, enum, bitmask, bitset or typedef.
    Named(DefinitionId),
}

/// A type of one value. The names that IDL has had longer (`unsigned long`) mean these, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are called as in IDL")]
pub enum Primitive {
    Boolean,
    Octet,
    Char,
    WChar,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Float,
    Double,
    LongDouble,
}

impl Primitive {
    /// The name in IDL 4.2.
    pub fn name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Octet => "octet",
            Self::Char => "char",
            Self::WChar => "wchar",
            Self::Int8 => "int8",
            Self::UInt8 => "uint8",
            Self::Int16 => "int16",
            Self::UInt16 => "uint16",
            Self::Int32 => "int32",
            Self::UInt32 => "uint32",
            Self::Int64 => "int64",
            Self::UInt64 => "uint64",
            Self::Float => "float",
            Self::Double => "double",
            Self::LongDouble => "long double",
        }
    }

    /// The least and the largest value of an integer or octet.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        Some(match self {
            Self::Int8 => (i8::MIN.into(), i8::MAX.into()),
            Self::UInt8 | Self::Octet => (0, u8::MAX.into()),
            Self::Int16 => (i16::MIN.into(), i16::MAX.into()),
            Self::UInt16 => (0, u16::MAX.into()),
            Self::Int32 => (i32::MIN.into(), i32::MAX.into()),
            Self::UInt32 => (0, u32::MAX.into()),
            Self::Int64 => (i64::MIN.into(), i64::MAX.into()),
            Self::UInt64 => (0, u64::MAX.into()),
            _ => return None,
        })
    }

    /// Whether it is a floating-point number.
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::Double | Self::LongDouble)
    }
}

struct DisplayType<'m>(&'m Model, &'m Type);

impl fmt::Display for DisplayType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(model, ty) = self;
        let of = |ty| DisplayType(model, ty);
        let limit = |bound: &Option<u32>| bound.map(|bound| format!(", {bound}"));
        match ty {
            Type::Primitive(primitive) => f.write_str(primitive.name()),
            Type::String { bound: None } => f.write_str("string"),
            Type::String { bound: Some(bound) } => write!(f, "string<{bound}>"),
            Type::WString { bound: None } => f.write_str("wstring"),
            Type::WString { bound: Some(bound) } => write!(f, "wstring<{bound}>"),
            Type::Sequence { element, bound } => {
                let bound = limit(bound).unwrap_or_default();
                write!(f, "sequence<{}{bound}>", of(element))
            }
            Type::Map { key, value, bound } => {
                let bound = limit(bound).unwrap_or_default();
                write!(f, "map<{}, {}{bound}>", of(key), of(value))
            }
            Type::Array {
                element,
                dimensions,
            } => {
                write!(f, "{}", of(element))?;
                dimensions
                    .iter()
                    .try_for_each(|length| write!(f, "[{length}]"))
            }
            Type::Named(id) => f.write_str(&model.definition(*id).full_name),
        }
    }
}
