//! Names of templates in the words of Rust and of IDL. Knows nothing of fields or types.
//!
//! ```text
//! FAST          Rust member    Rust type    IDL
//! MDEntryPx     md_entry_px    MdEntryPx    MDEntryPx
//! NoMDEntries   no_md_entries  NoMdEntries  NoMDEntries
//! type          r#type         Type         type
//! 3rd-Party     _3rd_party     _3rdParty    N3rd_Party
//! ```
//!
//! Letters and digits stay, in their order, so that a name is found again without regard to case and underscores; what
//! is printed has the name of the template beside it. Names that come out equal get numbers.

use std::collections::HashMap;

/// A member of a struct or a module: `md_entry_px`.
pub(crate) fn snake(name: &str) -> String {
    let words = words(name);
    legal(words.join("_").to_ascii_lowercase())
}

/// A constant: `MD_ENTRY_PX`.
pub(crate) fn screaming(name: &str) -> String {
    legal(words(name).join("_").to_ascii_uppercase())
}

/// A type: `MdEntryPx`.
pub(crate) fn camel(name: &str) -> String {
    let mut camel = String::new();
    for word in words(name) {
        // A digit beside a digit would make one number of two.
        let after_digit = camel.ends_with(|last: char| last.is_ascii_digit());
        if after_digit && word.starts_with(|first: char| first.is_ascii_digit()) {
            camel.push('_');
        }
        let (first, rest) = word.split_at(1);
        camel.push_str(&first.to_ascii_uppercase());
        camel.push_str(&rest.to_ascii_lowercase());
    }
    legal(camel)
}

/// A name of IDL: that of the template where it is legal there, an ASCII letter before letters, digits and underscores
/// (IDL 4.2 §7.2.3).
pub(crate) fn idl(name: &str) -> String {
    let mut legal = String::with_capacity(name.len());
    for char in name.chars() {
        match char {
            'a'..='z' | 'A'..='Z' => legal.push(char),
            '0'..='9' | '_' if !legal.is_empty() => legal.push(char),
            '0'..='9' | '_' => legal.extend(['N', char]),
            _ if legal.is_empty() => legal.push_str("N_"),
            _ => legal.push('_'),
        }
    }
    if legal.is_empty() {
        legal.push('N');
    }
    legal
}

/// The name as it stands in IDL text: an underscore keeps it from being a keyword and is no part of it (§7.2.3.2).
pub(crate) fn idl_text(name: &str) -> String {
    let is_keyword = IDL_KEYWORDS
        .iter()
        .any(|keyword| keyword.eq_ignore_ascii_case(name));
    if is_keyword {
        format!("_{name}")
    } else {
        name.to_owned()
    }
}

/// A member's, module's or variant's name as it stands in Rust text.
pub(crate) fn rust_text(name: &str) -> String {
    if RUST_KEYWORDS.contains(&name) {
        format!("r#{name}")
    } else {
        name.to_owned()
    }
}

/// The names of one scope, each once.
#[derive(Debug, Default)]
pub(crate) struct Namer {
    /// The names so far, and the next number to try for each.
    taken: HashMap<String, u32>,
    /// Whether names that differ only in case are the same, as in IDL (§7.2.3.1).
    fold_case: bool,
}

impl Namer {
    /// Of a scope of Rust in which these names mean other things.
    pub(crate) fn rust(reserved: &[&str]) -> Self {
        Self {
            taken: reserved
                .iter()
                .map(|name| ((*name).to_owned(), FIRST_NUMBER))
                .collect(),
            fold_case: false,
        }
    }

    /// Of a scope of IDL in which these names, in small letters, mean other things.
    pub(crate) fn idl(reserved: &[&str]) -> Self {
        Self {
            fold_case: true,
            ..Self::rust(reserved)
        }
    }

    /// The name of a member, module or constant, or of anything in IDL, with a number if it is taken.
    pub(crate) fn unique(&mut self, name: String) -> String {
        self.numbered(name, "_")
    }

    /// The name of a type or variant, with a number if it is taken.
    pub(crate) fn unique_type(&mut self, name: String) -> String {
        self.numbered(name, "")
    }

    fn numbered(&mut self, name: String, separator: &str) -> String {
        let Some(mut number) = self.taken.get(&self.key(&name)).copied() else {
            self.taken.insert(self.key(&name), FIRST_NUMBER);
            return name;
        };
        let after_digit = name.ends_with(|last: char| last.is_ascii_digit());
        let separator = if after_digit { "_" } else { separator };
        loop {
            let numbered = format!("{name}{separator}{number}");
            number += 1;
            let key = self.key(&numbered);
            if !self.taken.contains_key(&key) {
                self.taken.insert(key, FIRST_NUMBER);
                self.taken.insert(self.key(&name), number);
                return numbered;
            }
        }
    }

    fn key(&self, name: &str) -> String {
        if self.fold_case {
            name.to_ascii_lowercase()
        } else {
            name.to_owned()
        }
    }
}

/// The words that a name is put together from. A word begins at a capital after a small letter or digit, at the last of
/// several capitals before a small letter (but the plural of `ID` is one word), and after anything that is neither
/// letter nor digit. Characters beyond ASCII are words with their numbers.
fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let at = |index: usize| chars.get(index).copied().unwrap_or(' ');
    let mut words: Vec<String> = Vec::new();
    let mut inside = false;
    for (index, &char) in chars.iter().enumerate() {
        if !char.is_ascii_alphanumeric() {
            if !char.is_ascii() {
                words.push(format!("u{:x}", u32::from(char)));
            }
            inside = false;
            continue;
        }
        let before = if index > 0 { at(index - 1) } else { ' ' };
        let (next, after) = (at(index + 1), at(index + 2));
        let is_plural = next == 's' && !after.is_ascii_lowercase();
        let begins = char.is_ascii_uppercase()
            && (!before.is_ascii_uppercase() || next.is_ascii_lowercase() && !is_plural);
        match words.last_mut() {
            Some(word) if inside && !begins => word.push(char),
            _ => words.push(char.into()),
        }
        inside = true;
    }
    words
}

/// An identifier of Rust: no digit first, not empty, and none of the words that cannot be raw identifiers.
fn legal(name: String) -> String {
    match name.chars().next() {
        None => "unnamed".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("_{name}"),
        _ if NEVER_RAW.contains(&name.as_str()) => format!("{name}_"),
        _ => name,
    }
}

/// The number of the second of two equal names.
const FIRST_NUMBER: u32 = 2;

const NEVER_RAW: &[&str] = &["self", "Self", "super", "crate"];

/// Keywords of all editions, also those without a meaning yet.
const RUST_KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield", "union",
];

/// Keywords of IDL 4.2 (§7.2.4).
const IDL_KEYWORDS: &[&str] = &[
    "abstract",
    "alias",
    "any",
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
    "FALSE",
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
    "Object",
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
    "TRUE",
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
    "ValueBase",
    "valuetype",
    "void",
    "wchar",
    "wstring",
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn members_are_words_in_small_letters() {
        for (fast, rust) in [
            ("MDEntryPx", "md_entry_px"),
            ("NoMDEntries", "no_md_entries"),
            ("SecurityID", "security_id"),
            ("SecurityIDSource", "security_id_source"),
            ("PartyIDs", "party_ids"),
            ("PartyIDsGroup", "party_ids_group"),
            ("Px2Bid", "px2_bid"),
            ("already_snake", "already_snake"),
            ("X-MarketData", "x_market_data"),
            ("price", "price"),
            ("3rd-Party", "_3rd_party"),
            ("Größe", "gr_uf6_udf_e"),
            ("??", "unnamed"),
            ("", "unnamed"),
            ("self", "self_"),
        ] {
            assert_eq!(snake(fast), rust, "{fast}");
        }
    }

    #[test]
    fn types_are_words_with_capitals() {
        for (fast, rust) in [
            ("MDEntries", "MdEntries"),
            ("marketData", "MarketData"),
            ("X-MarketData", "XMarketData"),
            ("Level_1_5", "Level1_5"),
            ("3rd-Party", "_3rdParty"),
            ("self", "Self_"),
        ] {
            assert_eq!(camel(fast), rust, "{fast}");
        }
        assert_eq!(screaming("openPrice"), "OPEN_PRICE");
    }

    #[test]
    fn names_are_kept_where_idl_allows_them() {
        for (fast, name) in [
            ("MDEntryPx", "MDEntryPx"),
            ("3rd-Party", "N3rd_Party"),
            ("_x", "N_x"),
            ("-x", "N_x"),
            ("Größe", "Gr__e"),
            ("", "N"),
        ] {
            assert_eq!(idl(fast), name, "{fast}");
        }
        assert_eq!(idl_text("Port"), "_Port");
        assert_eq!(idl_text("true"), "_true");
        assert_eq!(idl_text("Price"), "Price");
    }

    #[test]
    fn names_that_come_out_equal_get_numbers() {
        let mut members = Namer::rust(&[]);
        let mut member = |name: &str| members.unique(snake(name));
        assert_eq!(member("BidPx"), "bid_px");
        assert_eq!(member("bidPX"), "bid_px_2");
        assert_eq!(member("bid_px_2"), "bid_px_2_2");
        assert_eq!(member("BIDPx"), "bid_px_3");

        let mut types = Namer::rust(&["Decoder"]);
        assert_eq!(types.unique_type(camel("decoder")), "Decoder2");
        assert_eq!(types.unique_type(camel("Level1")), "Level1");
        assert_eq!(types.unique_type(camel("LEVEL1")), "Level1_2");

        let mut idl_names = Namer::idl(&[]);
        assert_eq!(idl_names.unique(idl("Quote")), "Quote");
        assert_eq!(idl_names.unique(idl("QUOTE")), "QUOTE_2");
    }

    proptest! {
        /// Whatever a template calls its fields: names of Rust and IDL, each once.
        #[test]
        fn all_names_are_legal_and_unique(names in vec(any_name(), 1..40)) {
            let is_word = |name: &str| {
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            };
            let (mut members, mut types) = (Namer::rust(&[]), Namer::rust(&["Vec"]));
            let mut topic = Namer::idl(&[]);
            let mut seen = HashSet::new();
            for name in &names {
                let member = members.unique(snake(name));
                let ty = types.unique_type(camel(name));
                let idl = topic.unique(idl(name));
                for rust in [&member, &ty] {
                    prop_assert!(is_word(rust) && !rust.starts_with(|c: char| c.is_ascii_digit()), "{rust}");
                    prop_assert!(*rust != "_" && !NEVER_RAW.contains(&rust.as_str()), "{rust}");
                }
                prop_assert!(is_word(&idl) && idl.starts_with(|c: char| c.is_ascii_alphabetic()), "{idl}");
                let keys = [("member", member), ("type", ty), ("idl", idl.to_ascii_lowercase())];
                for key in keys {
                    prop_assert!(seen.insert(key.clone()), "{key:?} twice");
                }
            }
        }

        /// The way back: letters and digits of an ordinary name are all there, in their order.
        #[test]
        fn names_are_found_again(name in "[A-Za-z][A-Za-z0-9_]{0,20}") {
            prop_assume!(!["self", "super", "crate"].contains(&snake(&name).trim_end_matches('_')));
            let letters = |name: &str| name.replace('_', "").to_ascii_lowercase();
            prop_assert_eq!(letters(&snake(&name)), letters(&name));
            prop_assert_eq!(letters(&camel(&name)), letters(&name));
            prop_assert_eq!(idl(&name), name);
        }
    }

    /// Few different ones, so that some come out equal.
    fn any_name() -> impl Strategy<Value = String> {
        prop_oneof![
            "[aA_1-]{0,4}",
            "[ -~]{0,6}",
            any::<String>(),
            "self|Self|type|Vec|_"
        ]
    }

    #[test]
    fn keywords_become_raw() {
        assert_eq!(rust_text("type"), "r#type");
        assert_eq!(rust_text("price"), "price");
    }
}
