//! Names of IDL in the words of Rust. `SecurityID` is the type `SecurityId`, the member
//! `security_id` and the constant `SECURITY_ID`.

/// A type or variant.
pub(super) fn camel(name: &str) -> String {
    let mut camel = String::new();
    for word in words(name) {
        // A digit beside a digit would make one number of two.
        let digit = |char: char| char.is_ascii_digit();
        if camel.ends_with(digit) && word.starts_with(digit) {
            camel.push('_');
        }
        let (first, rest) = word.split_at(1);
        camel.push_str(&first.to_ascii_uppercase());
        camel.push_str(&rest.to_ascii_lowercase());
    }
    legal(camel)
}

/// A member or module.
pub(super) fn snake(name: &str) -> String {
    legal(words(name).join("_").to_ascii_lowercase())
}

/// A constant.
pub(super) fn screaming(name: &str) -> String {
    legal(words(name).join("_").to_ascii_uppercase())
}

/// What the derive takes a variant's member to be called.
pub(super) fn derived_member(variant: &str) -> String {
    let mut name = String::new();
    for char in variant.chars() {
        if char.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(char.to_lowercase());
    }
    name
}

/// A name as it stands in the text.
pub(super) fn text(name: &str) -> String {
    match KEYWORDS.contains(&name) {
        true => format!("r#{name}"),
        false => name.to_owned(),
    }
}

/// The words that a name is put together from: one begins at a capital after a small letter or a
/// digit, at the last of several capitals before a small letter (but the plural of `ID` is one word),
/// and after an underscore.
fn words(name: &str) -> Vec<String> {
    let bytes = name.as_bytes();
    let at = |index: usize| bytes.get(index).copied().unwrap_or(b'_');
    let mut words: Vec<String> = Vec::new();
    let mut inside = false;
    for (index, char) in name.char_indices() {
        if !char.is_ascii_alphanumeric() {
            inside = false;
            continue;
        }
        let before = if index > 0 { at(index - 1) } else { b'_' };
        let (next, after) = (at(index + 1), at(index + 2));
        let is_plural = next == b's' && !after.is_ascii_lowercase();
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

fn legal(name: String) -> String {
    match name.as_str() {
        "" => "_unnamed".to_owned(),
        "self" | "Self" | "super" | "crate" => format!("{name}_"),
        _ if name.starts_with(|first: char| first.is_ascii_digit()) => format!("_{name}"),
        _ => name,
    }
}

/// Keywords of all editions, also those without a meaning yet.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words() {
        for (idl, ty, member, constant) in [
            ("MarketData", "MarketData", "market_data", "MARKET_DATA"),
            ("securityID", "SecurityId", "security_id", "SECURITY_ID"),
            ("MD_ENTRY_PX", "MdEntryPx", "md_entry_px", "MD_ENTRY_PX"),
            ("PartyIDs", "PartyIds", "party_ids", "PARTY_IDS"),
            ("Level_1_5", "Level1_5", "level_1_5", "LEVEL_1_5"),
            ("String_", "String", "string", "STRING"),
            ("self", "Self_", "self_", "SELF"),
        ] {
            assert_eq!(camel(idl), ty);
            assert_eq!(snake(idl), member);
            assert_eq!(screaming(idl), constant);
        }
    }
}
