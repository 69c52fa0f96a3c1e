//! Names of IDL in C#: they stay as they are.

use crate::model::{Definition, DefinitionKind, Model, Primitive};

/// A name, kept from being taken for a keyword.
pub(super) fn identifier(name: &str) -> String {
    match KEYWORDS.contains(&name) {
        true => format!("@{name}"),
        false => name.to_owned(),
    }
}

/// A member of a class, which must not be called as the class is, or as what all classes have.
pub(super) fn member(name: &str, class: &str) -> String {
    match name == class || OBJECT.contains(&name) || name.starts_with('_') {
        true => format!("{name}_"),
        false => identifier(name),
    }
}

/// An operation of an interface, which must not be called as what its client has besides.
pub(super) fn operation(name: &str) -> String {
    match CLIENT.contains(&name) {
        true => format!("{name}_"),
        false => member(name, ""),
    }
}

/// A parameter of an operation. Variables of generated code begin with `_`.
pub(super) fn parameter(name: &str) -> String {
    match name.starts_with('_') {
        true => format!("{name}_"),
        false => identifier(name),
    }
}

/// The method of a client that gives a task, beside that which waits.
pub(super) fn task(operation: &str) -> String {
    format!("{}{TASK}", operation.trim_start_matches('@'))
}

/// Behind the name of an interface, the struct of all that comes back of an operation.
pub(super) fn out(operation: &str) -> String {
    format!("_{operation}_Out")
}

/// The namespace of a definition, empty where it has none. What an interface defines is in one beside it, as interfaces of
/// C# 7 define nothing.
pub(super) fn namespace(model: &Model, definition: &Definition) -> String {
    let mut parts = Vec::new();
    let mut scope = definition.scope;
    while let Some(id) = scope {
        let outer = model.definition(id);
        parts.push(match outer.kind {
            DefinitionKind::Interface(_) => format!("{}{TYPES}", outer.name),
            _ => identifier(&outer.name),
        });
        scope = outer.scope;
    }
    parts.reverse();
    parts.join(".")
}

/// Behind the name of an interface, the namespace of what it defines.
pub(super) const TYPES: &str = "Types";

/// The name of a definition with its namespaces, followed by `suffix`.
pub(super) fn global(model: &Model, definition: &Definition, suffix: &str) -> String {
    let own = match suffix {
        "" => identifier(&definition.name),
        _ => format!("{}{suffix}", definition.name),
    };
    match namespace(model, definition).as_str() {
        "" => format!("global::{own}"),
        namespace => format!("global::{namespace}.{own}"),
    }
}

/// A primitive in names of functions.
pub(super) fn function(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Boolean => "Boolean",
        Primitive::Octet | Primitive::UInt8 => "Byte",
        Primitive::Char => "Char",
        Primitive::WChar => "WChar",
        Primitive::Int8 => "SByte",
        Primitive::Int16 => "Int16",
        Primitive::UInt16 => "UInt16",
        Primitive::Int32 => "Int32",
        Primitive::UInt32 => "UInt32",
        Primitive::Int64 => "Int64",
        Primitive::UInt64 => "UInt64",
        Primitive::Float => "Single",
        Primitive::Double | Primitive::LongDouble => "Double",
    }
}

/// The type of a primitive.
pub(super) fn primitive(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Boolean => "bool",
        Primitive::Octet | Primitive::UInt8 => "byte",
        Primitive::Char | Primitive::WChar => "char",
        Primitive::Int8 => "sbyte",
        Primitive::Int16 => "short",
        Primitive::UInt16 => "ushort",
        Primitive::Int32 => "int",
        Primitive::UInt32 => "uint",
        Primitive::Int64 => "long",
        Primitive::UInt64 => "ulong",
        Primitive::Float => "float",
        Primitive::Double | Primitive::LongDouble => "double",
    }
}

/// The integer of this many bytes: in names of functions, and its type.
pub(super) fn integer(signed: bool, bytes: usize) -> (&'static str, &'static str) {
    match (signed, bytes) {
        (true, 1) => ("SByte", "sbyte"),
        (true, 2) => ("Int16", "short"),
        (true, 4) => ("Int32", "int"),
        (true, _) => ("Int64", "long"),
        (false, 1) => ("Byte", "byte"),
        (false, 2) => ("UInt16", "ushort"),
        (false, 4) => ("UInt32", "uint"),
        (false, _) => ("UInt64", "ulong"),
    }
}

/// What classes that are made of IDL have besides their members.
pub(super) const OBJECT: &[&str] = &[
    "Discriminator",
    "Equals",
    "Finalize",
    "GetHashCode",
    "GetType",
    "MemberwiseClone",
    "ReferenceEquals",
    "ToString",
];

/// What exceptions have besides that.
pub(super) const EXCEPTION: &[&str] = &[
    "Data",
    "GetBaseException",
    "GetObjectData",
    "HResult",
    "HelpLink",
    "InnerException",
    "Message",
    "SerializeObjectState",
    "Source",
    "StackTrace",
    "TargetSite",
];

/// What clients have besides their operations.
const CLIENT: &[&str] = &["Dispose", "WaitForService", "WaitForServiceAsync"];

/// Behind the name of an operation, its method that gives a task.
const TASK: &str = "Async";

/// The reserved words of C#.
const KEYWORDS: &[&str] = &[
    "abstract",
    "as",
    "base",
    "bool",
    "break",
    "byte",
    "case",
    "catch",
    "char",
    "checked",
    "class",
    "const",
    "continue",
    "decimal",
    "default",
    "delegate",
    "do",
    "double",
    "else",
    "enum",
    "event",
    "explicit",
    "extern",
    "false",
    "finally",
    "fixed",
    "float",
    "for",
    "foreach",
    "goto",
    "if",
    "implicit",
    "in",
    "int",
    "interface",
    "internal",
    "is",
    "lock",
    "long",
    "namespace",
    "new",
    "null",
    "object",
    "operator",
    "out",
    "override",
    "params",
    "private",
    "protected",
    "public",
    "readonly",
    "ref",
    "return",
    "sbyte",
    "sealed",
    "short",
    "sizeof",
    "stackalloc",
    "static",
    "string",
    "struct",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "uint",
    "ulong",
    "unchecked",
    "unsafe",
    "ushort",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    // Words that are no names of types.
    "await",
    "dynamic",
    "field",
    "file",
    "global",
    "nameof",
    "partial",
    "record",
    "required",
    "scoped",
    "value",
    "var",
    "when",
    "where",
    "yield",
];
