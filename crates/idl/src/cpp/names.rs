//! Names of IDL in C++.

use super::macros::is_macro;
use crate::c::names::{KEYWORDS, STANDARD, primitive_type};
use crate::model::{Definition, DefinitionKind, Model, Primitive};

/// A name as the OMG's mapping has it: what C++ means something else by gets `_cxx_` before it.
pub(super) fn identifier(name: &str) -> String {
    match KEYWORDS.contains(&name) || is_macro(name) || name == "std" {
        true => format!("_cxx_{name}"),
        false => name.to_owned(),
    }
}

/// The name of a definition, beside which types have functions.
fn definition_name(name: &str) -> String {
    match name {
        "swap" => format!("_cxx_{name}"),
        name => identifier(name),
    }
}

/// The namespaces of a definition, and its name in them. What an interface defines is in one beside it, as a struct can
/// have none.
pub(super) fn path(model: &Model, definition: &Definition) -> Vec<String> {
    let mut path = vec![definition_name(&definition.name)];
    let mut scope = definition.scope;
    while let Some(id) = scope {
        let outer = model.definition(id);
        let name = definition_name(&outer.name);
        path.push(match outer.kind {
            DefinitionKind::Interface(_) => format!("{name}{TYPES}"),
            _ => name,
        });
        scope = outer.scope;
    }
    path.reverse();
    if let Some(first) = path.first_mut()
        && is_global(first)
    {
        *first = format!("_cxx_{first}");
    }
    path
}

/// The name of a definition wherever it is used.
pub(super) fn qualified(model: &Model, definition: &Definition) -> String {
    format!("::{}", path(model, definition).join("::"))
}

/// Behind the name of an interface, the namespace of what it defines.
pub(super) const TYPES: &str = "Types";

/// The type of a primitive.
pub(super) fn primitive(primitive: Primitive) -> String {
    match primitive {
        Primitive::WChar => "char16_t".to_owned(),
        other => match primitive_type(other) {
            name if name.ends_with("_t") => format!("std::{name}"),
            name => name.to_owned(),
        },
    }
}

/// What a literal is called beside its enum.
pub(super) fn constant(of: &Definition, literal: &str) -> String {
    match of.scope.is_none() && is_global(literal) {
        true => format!("_cxx_{literal}"),
        false => definition_name(literal),
    }
}

/// Whether the headers that are included have something of that name outside of namespaces.
fn is_global(name: &str) -> bool {
    let is_ours = name.starts_with("tw_") || name.starts_with("TW_");
    is_ours || STANDARD.contains(&name) || GLOBAL.contains(&name)
}

/// What those of C++ have besides those of C, and our namespaces.
const GLOBAL: &[&str] = &[
    "alloca",
    "basename",
    "clock",
    "clock_t",
    "clone",
    "ctime",
    "dds",
    "difftime",
    "getc",
    "getchar",
    "getcpu",
    "getdate",
    "getline",
    "gmtime",
    "localtime",
    "mktime",
    "nanosleep",
    "perror",
    "pid_t",
    "popen",
    "printf",
    "putc",
    "putchar",
    "puts",
    "realpath",
    "remove",
    "rename",
    "rewind",
    "scanf",
    "setlocale",
    "sprintf",
    "strerror",
    "strftime",
    "strptime",
    "sysconf",
    "tickwire",
    "time",
    "timer_t",
    "timespec",
    "timeval",
    "tm",
    "tolower",
    "toupper",
    "tzset",
    "unshare",
];
