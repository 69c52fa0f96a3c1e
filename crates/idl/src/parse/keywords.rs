//! The words that are no names (IDL 4.2 §7.2.4).

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyword {
    /// Has its meaning wherever it stands.
    Reserved,
    /// Of a part of IDL that is not for types. Names of members are often such words.
    Elsewhere,
    /// A keyword but for the case of its letters.
    Resembling,
}

/// What a word is, if it is a keyword or like one.
pub(crate) fn keyword(word: &str) -> Option<Keyword> {
    if RESERVED.contains(&word) {
        return Some(Keyword::Reserved);
    }
    if ELSEWHERE.contains(&word) {
        return Some(Keyword::Elsewhere);
    }
    let mut all = RESERVED.iter().chain(ELSEWHERE);
    all.any(|keyword| keyword.eq_ignore_ascii_case(word))
        .then_some(Keyword::Resembling)
}

const RESERVED: &[&str] = &[
    "any",
    "attribute",
    "bitfield",
    "bitmask",
    "bitset",
    "boolean",
    "case",
    "char",
    "const",
    "default",
    "double",
    "enum",
    "exception",
    "FALSE",
    "fixed",
    "float",
    "in",
    "inout",
    "int16",
    "int32",
    "int64",
    "int8",
    "interface",
    "long",
    "map",
    "module",
    "native",
    "octet",
    "oneway",
    "out",
    "raises",
    "readonly",
    "sequence",
    "short",
    "string",
    "struct",
    "switch",
    "TRUE",
    "typedef",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "union",
    "unsigned",
    "valuetype",
    "void",
    "wchar",
    "wstring",
];

const ELSEWHERE: &[&str] = &[
    "abstract",
    "alias",
    "component",
    "connector",
    "consumes",
    "context",
    "custom",
    "emits",
    "eventtype",
    "factory",
    "finder",
    "getraises",
    "home",
    "import",
    "local",
    "manages",
    "mirrorport",
    "multiple",
    "Object",
    "port",
    "porttype",
    "primarykey",
    "private",
    "provides",
    "public",
    "publishes",
    "setraises",
    "supports",
    "truncatable",
    "typeid",
    "typename",
    "typeprefix",
    "uses",
    "ValueBase",
];
