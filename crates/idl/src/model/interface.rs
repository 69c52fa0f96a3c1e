//! Interfaces, for request and reply.

use super::{Annotation, DefinitionId, Position, Type};

/// `interface`
#[derive(Clone, Debug, Default)]
pub struct Interface {
    /// Interfaces whose operations it has, too.
    pub bases: Vec<DefinitionId>,
    /// Types, constants and exceptions defined in it.
    pub definitions: Vec<DefinitionId>,
    /// Its operations.
    pub operations: Vec<Operation>,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
}

/// An operation of an interface.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The name.
    pub name: String,
    /// Where the name stands.
    pub position: Position,
    /// The comment at it.
    pub doc: Option<String>,
    /// Annotations, such as `@oneway`.
    pub annotations: Vec<Annotation>,
    /// Whether nobody waits for its end.
    pub oneway: bool,
    /// Type of the result; none for `void`.
    pub result: Option<Type>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Exceptions that it can end with.
    pub raises: Vec<DefinitionId>,
}

/// A parameter of an operation.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Where the name stands.
    pub position: Position,
    /// Which way it goes.
    pub direction: Direction,
    /// The type.
    pub ty: Type,
    /// The name.
    pub name: String,
}

/// Which way a parameter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the one who is asked.
    In,
    /// Back from it.
    Out,
    /// Both.
    InOut,
}

/// An attribute of an interface.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The name.
    pub name: String,
    /// Where the name stands.
    pub position: Position,
    /// The comment at it.
    pub doc: Option<String>,
    /// Whether it can be read alone.
    pub readonly: bool,
    /// The type.
    pub ty: Type,
}
