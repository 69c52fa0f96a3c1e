//! What a text says, before anything of it is resolved: names are words and constants expressions.

use std::rc::Rc;

use crate::model::{Direction, Primitive};
use crate::source::Span;

/// A name where it is defined or used, without the underscore that lets it be a keyword.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: Rc<str>,
    pub(crate) span: Span,
}

/// `::a::b`
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) absolute: bool,
    /// At least one.
    pub(crate) parts: Vec<Name>,
    pub(crate) span: Span,
}

impl Path {
    pub(crate) fn text(&self) -> String {
        let parts: Vec<&str> = self.parts.iter().map(|part| &*part.text).collect();
        parts.join("::")
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub(crate) kind: ExpressionKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum ExpressionKind {
    Bool(bool),
    Integer(u128),
    Float(f64),
    Char(char),
    Text(String),
    Path(Path),
    /// `-`, `+` or `~`
    Unary(char, Box<Expression>),
    /// `<<` and `>>` by their first characters.
    Binary(char, Box<Expression>, Box<Expression>),
}

/// `@name`, `@name(value)` or `@name(a = value, b = value)`
#[derive(Clone, Debug)]
pub(crate) struct Annotation {
    pub(crate) name: Path,
    pub(crate) arguments: Vec<(Option<Name>, Expression)>,
    pub(crate) span: Span,
}

/// What stands before something that is defined, and beside it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) doc: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct TypeSpec {
    pub(crate) kind: TypeKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum TypeKind {
    Primitive(Primitive),
    Text {
        wide: bool,
        bound: Option<Expression>,
    },
    Sequence(Box<TypeSpec>, Option<Expression>),
    Map(Box<TypeSpec>, Box<TypeSpec>, Option<Expression>),
    Path(Path),
}

/// A name with the dimensions of an array behind it.
#[derive(Clone, Debug)]
pub(crate) struct Declarator {
    pub(crate) name: Name,
    pub(crate) dimensions: Vec<Expression>,
}

#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) head: Head,
    pub(crate) ty: TypeSpec,
    pub(crate) declarators: Vec<Declarator>,
}

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) labels: Vec<Expression>,
    /// Where `default` stands.
    pub(crate) default: Option<Span>,
    pub(crate) head: Head,
    pub(crate) ty: TypeSpec,
    pub(crate) declarator: Declarator,
}

/// A literal of an enum or a flag of a bitmask.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) head: Head,
    pub(crate) name: Name,
}

#[derive(Clone, Debug)]
pub(crate) struct Bitfield {
    pub(crate) bits: Expression,
    pub(crate) ty: Option<TypeSpec>,
    /// None where bits are left out.
    pub(crate) names: Vec<Name>,
    pub(crate) head: Head,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) head: Head,
    pub(crate) oneway: bool,
    /// None for `void`.
    pub(crate) result: Option<TypeSpec>,
    pub(crate) name: Name,
    /// Each with its annotations.
    pub(crate) parameters: Vec<(Vec<Annotation>, Direction, TypeSpec, Name)>,
    pub(crate) raises: Vec<Path>,
}

#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) head: Head,
    pub(crate) readonly: bool,
    pub(crate) ty: TypeSpec,
    pub(crate) names: Vec<Name>,
}

#[derive(Clone, Debug)]
pub(crate) enum Export {
    Operation(Operation),
    Attribute(Attribute),
    Definition(Definition),
}

#[derive(Clone, Debug)]
pub(crate) struct AnnotationParameter {
    pub(crate) ty: TypeSpec,
    pub(crate) name: Name,
    pub(crate) default: Option<Expression>,
}

#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) head: Head,
    pub(crate) kind: DefinitionKind,
}

#[derive(Clone, Debug)]
pub(crate) enum DefinitionKind {
    Module(Name, Vec<Definition>),
    Const(TypeSpec, Name, Expression),
    /// `struct Node;`
    StructAhead(Name),
    Struct {
        name: Name,
        base: Option<Path>,
        members: Vec<Member>,
    },
    /// `union Node;`
    UnionAhead(Name),
    Union {
        name: Name,
        /// Annotations of the discriminator.
        switch: Vec<Annotation>,
        discriminator: TypeSpec,
        cases: Vec<Case>,
    },
    Enum(Name, Vec<Item>),
    Bitmask(Name, Vec<Item>),
    Bitset {
        name: Name,
        base: Option<Path>,
        fields: Vec<Bitfield>,
    },
    Typedef(TypeSpec, Vec<Declarator>),
    Exception(Name, Vec<Member>),
    /// `interface Service;`
    InterfaceAhead(Name),
    Interface {
        name: Name,
        bases: Vec<Path>,
        exports: Vec<Export>,
    },
    Annotation {
        name: Name,
        parameters: Vec<AnnotationParameter>,
        /// Enums, constants and typedefs in it.
        definitions: Vec<Definition>,
    },
    /// What stands after `#pragma`.
    Pragma(Rc<str>, Span),
}
