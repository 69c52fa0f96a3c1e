//! How types, labels and names are written in IDL.

use tickwire::cdr::Type;

/// An array's innermost element, and its dimensions.
pub(super) fn split_array(mut ty: &Type) -> (&Type, String) {
    let mut dimensions = String::new();
    while let Type::Array { element, length } = ty {
        dimensions.push_str(&format!("[{length}]"));
        ty = element;
    }
    (ty, dimensions)
}

/// A type in a member; arrays in collections get a name, of which the definitions are added.
pub(super) fn spell(ty: &Type, prefix: &str, definitions: &mut Vec<String>) -> String {
    let mut part = |ty: &Type, what: &str| {
        let (base, dimensions) = split_array(ty);
        let name = format!("{prefix}_{what}");
        let base = spell(base, &name, definitions);
        if dimensions.is_empty() {
            return base;
        }
        definitions.push(format!("typedef {base} {name}{dimensions};"));
        name
    };
    match ty {
        Type::Sequence { element, bound } => {
            bounded("sequence", &[part(element, "element")], *bound)
        }
        Type::Map { key, value, bound } => {
            let (key, value) = (part(key, "key"), part(value, "value"));
            bounded("map", &[key, value], *bound)
        }
        other => type_name(other),
    }
}

/// The name of a type that is no collection.
pub(super) fn type_name(ty: &Type) -> String {
    let name = match ty {
        Type::Bool => "boolean",
        Type::U8 => "uint8",
        Type::Byte => "octet",
        Type::I8 => "int8",
        Type::U16 => "uint16",
        Type::I16 => "int16",
        Type::U32 => "uint32",
        Type::I32 => "int32",
        Type::U64 => "uint64",
        Type::I64 => "int64",
        Type::F32 => "float",
        Type::F64 => "double",
        Type::Char => "char",
        Type::WChar => "wchar",
        Type::String { bound } => return bounded("string", &[], *bound),
        Type::WString { bound } => return bounded("wstring", &[], *bound),
        Type::Enum(of) => return full_name(&of.name),
        Type::Bitmask(of) => return full_name(&of.name),
        Type::Bitset(of) => return full_name(&of.name),
        Type::Struct(of) => return full_name(&of.name),
        Type::Union(of) => return full_name(&of.name),
        Type::Recursive(link) => {
            let target = link.target();
            return target.map_or_else(|| "any".to_owned(), |target| type_name(&target));
        }
        Type::Sequence { .. } | Type::Array { .. } | Type::Map { .. } => "",
    };
    name.to_owned()
}

fn bounded(name: &str, parameters: &[String], bound: u32) -> String {
    let bound = (bound > 0).then(|| bound.to_string());
    let parameters: Vec<_> = parameters.iter().cloned().chain(bound).collect();
    match parameters.is_empty() {
        true => name.to_owned(),
        // `>>` is one token to older compilers.
        false => format!("{name}<{}>", parameters.join(", ")).replace(">>", "> >"),
    }
}

fn full_name(name: &str) -> String {
    let parts: Vec<_> = name.split("::").map(identifier).collect();
    parts.join("::")
}

/// A label of a union, as its discriminator has it.
pub(super) fn label(discriminator: &Type, value: i32) -> String {
    match discriminator {
        Type::Bool => if value == 0 { "FALSE" } else { "TRUE" }.to_owned(),
        Type::Char => match u8::try_from(value).map(char::from) {
            Ok(char) if char.is_ascii_graphic() => format!("'{}'", char.escape_default()),
            _ => format!("'\\x{:02x}'", value & 0xff),
        },
        Type::WChar => format!("L'\\u{:04x}'", value & 0xffff),
        Type::Enum(of) => match of.literal(value) {
            Some(literal) => {
                // A literal's scope is that of its enumeration.
                let scope = of
                    .name
                    .rsplit_once("::")
                    .map(|(modules, _)| full_name(modules));
                let literal = identifier(&literal.name);
                scope.map_or(literal.clone(), |scope| format!("{scope}::{literal}"))
            }
            None => value.to_string(),
        },
        _ => value.to_string(),
    }
}

pub(super) fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

pub(super) fn comma(index: usize, len: usize) -> &'static str {
    if index + 1 < len { "," } else { "" }
}

/// A name as it may stand in IDL: keywords are escaped (IDL 4.2 §7.2.3.2), impossible characters
/// become underscores.
pub(super) fn identifier(name: &str) -> String {
    let valid = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut text: String = name.chars().map(valid).collect();
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        text.insert_str(0, "x_");
    }
    // Keywords collide with names that differ in case alone, too.
    match KEYWORDS.contains(&text.to_ascii_lowercase().as_str()) {
        true => format!("_{text}"),
        false => text,
    }
}

const KEYWORDS: [&str; 83] = [
    "abstract",
    "any",
    "alias",
    "attribute",
    "bitfield",
    "bitmask",
    "bitset",
    "boolean",
    "case",
    "char",
    "component",
    "connector",
    "const",
    "consumes",
    "context",
    "custom",
    "default",
    "double",
    "emits",
    "enum",
    "eventtype",
    "exception",
    "factory",
    "false",
    "finder",
    "fixed",
    "float",
    "getraises",
    "home",
    "import",
    "in",
    "inout",
    "int16",
    "int32",
    "int64",
    "int8",
    "interface",
    "local",
    "long",
    "manages",
    "map",
    "mirrorport",
    "module",
    "multiple",
    "native",
    "object",
    "octet",
    "oneway",
    "out",
    "port",
    "porttype",
    "primarykey",
    "private",
    "provides",
    "public",
    "publishes",
    "raises",
    "readonly",
    "sequence",
    "setraises",
    "short",
    "string",
    "struct",
    "supports",
    "switch",
    "true",
    "truncatable",
    "typedef",
    "typeid",
    "typename",
    "typeprefix",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "union",
    "unsigned",
    "uses",
    "valuebase",
    "valuetype",
    "void",
    "wchar",
    "wstring",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_from_the_wire_stay_names() {
        assert_eq!(identifier("price"), "price");
        assert_eq!(identifier("Struct"), "_Struct");
        assert_eq!(identifier("a;}\nstruct b"), "a___struct_b");
        assert_eq!(identifier("7"), "x_7");
        assert_eq!(identifier(""), "x_");
        let keyword_twice = KEYWORDS.iter().collect::<BTreeSet<_>>();
        assert_eq!(keyword_twice.len(), KEYWORDS.len());
    }
}
