//! Comments and literals of C#.

use crate::c::text::Text;
use crate::diagnostic::visible_char;

/// A documentation comment.
pub(super) fn doc(text: &mut Text, comment: &str) {
    let lines: Vec<String> = comment
        .lines()
        .map(|line| line.chars().map(shown).collect::<String>())
        .map(|line| line.trim_end().to_owned())
        .collect();
    match lines.as_slice() {
        [] => {}
        [one] => text.line(&format!("/// <summary>{}</summary>", one.trim())),
        _ => {
            text.line("/// <summary>");
            for line in lines {
                text.line(format!("/// {line}").trim_end());
            }
            text.line("/// </summary>");
        }
    }
}

/// As it stands in XML.
fn shown(char: char) -> String {
    match char {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        char if char.is_control() || matches!(char, '\u{fffe}' | '\u{ffff}') => " ".to_owned(),
        char => visible_char(char).to_string(),
    }
}

/// A text as a literal, wherever it comes from.
pub(super) fn literal(text: &str) -> String {
    let mut shown = String::from("\"");
    for unit in text.encode_utf16() {
        push(&mut shown, unit);
    }
    shown.push('"');
    shown
}

/// A unit of UTF-16 as a literal.
pub(super) fn character(unit: u16) -> String {
    let mut shown = String::from("'");
    push(&mut shown, unit);
    shown.push('\'');
    shown
}

fn push(shown: &mut String, unit: u16) {
    match u8::try_from(unit) {
        Ok(byte @ (b'"' | b'\\' | b'\'')) => shown.extend(['\\', byte.into()]),
        Ok(b'\n') => shown.push_str("\\n"),
        Ok(byte @ b' '..=b'~') => shown.push(byte.into()),
        _ => shown.push_str(&format!("\\u{unit:04x}")),
    }
}
