//! Characters that come into templates by copy and paste from documents and web pages: what they are called and what was
//! meant. Knows nothing of XML.

use std::borrow::Cow;

/// What a pasted character stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meant {
    /// Nothing: it has no width.
    Nothing,
    /// This character of ASCII.
    Ascii(char),
}

/// What a character stands for, if it is one of those that look like blanks, nothing, or ASCII.
pub(super) fn meant(c: char) -> Option<Meant> {
    match c {
        '\u{ff01}'..='\u{ff5e}' => {
            char::from_u32(u32::from(c) - FULLWIDTH_FROM_ASCII).map(Meant::Ascii)
        }
        _ => TABLE
            .iter()
            .find(|(known, ..)| *known == c)
            .map(|row| row.1),
    }
}

/// Code point and Unicode name, as far as it is known here.
pub(super) fn name(c: char) -> String {
    let code = u32::from(c);
    let row = TABLE.iter().find(|(known, ..)| *known == c);
    let name = match (row, meant(c)) {
        (Some((.., name)), _) => Cow::Borrowed(*name),
        (None, Some(Meant::Ascii(ascii))) => fullwidth_name(ascii),
        _ => return format!("U+{code:04X}"),
    };
    format!("U+{code:04X} {name}")
}

fn fullwidth_name(ascii: char) -> Cow<'static, str> {
    const DIGITS: [&str; 10] = [
        "ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE",
    ];
    let sign = match ascii {
        '<' => "LESS-THAN SIGN",
        '>' => "GREATER-THAN SIGN",
        '=' => "EQUALS SIGN",
        '"' => "QUOTATION MARK",
        '\'' => "APOSTROPHE",
        '/' => "SOLIDUS",
        '-' => "HYPHEN-MINUS",
        '_' => "LOW LINE",
        ':' => "COLON",
        ';' => "SEMICOLON",
        ',' => "COMMA",
        '.' => "FULL STOP",
        '!' => "EXCLAMATION MARK",
        '?' => "QUESTION MARK",
        _ => {
            let digit = ascii.to_digit(10).and_then(|at| DIGITS.get(at as usize));
            return match (
                digit,
                ascii.is_ascii_uppercase(),
                ascii.is_ascii_lowercase(),
            ) {
                (Some(digit), ..) => format!("FULLWIDTH DIGIT {digit}"),
                (_, true, _) => format!("FULLWIDTH LATIN CAPITAL LETTER {ascii}"),
                (_, _, true) => {
                    format!(
                        "FULLWIDTH LATIN SMALL LETTER {}",
                        ascii.to_ascii_uppercase()
                    )
                }
                _ => format!("FULLWIDTH FORM OF {ascii}"),
            }
            .into();
        }
    };
    format!("FULLWIDTH {sign}").into()
}

const FULLWIDTH_FROM_ASCII: u32 = 0xfee0;

const BLANK: Meant = Meant::Ascii(' ');
const DOUBLE: Meant = Meant::Ascii('"');
const SINGLE: Meant = Meant::Ascii('\'');

const TABLE: [(char, Meant, &str); 47] = [
    ('\u{85}', BLANK, "NEXT LINE"),
    ('\u{a0}', BLANK, "NO-BREAK SPACE"),
    (
        '\u{ab}',
        DOUBLE,
        "LEFT-POINTING DOUBLE ANGLE QUOTATION MARK",
    ),
    ('\u{ad}', Meant::Nothing, "SOFT HYPHEN"),
    ('\u{b4}', SINGLE, "ACUTE ACCENT"),
    (
        '\u{bb}',
        DOUBLE,
        "RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK",
    ),
    ('\u{1680}', BLANK, "OGHAM SPACE MARK"),
    ('\u{2000}', BLANK, "EN QUAD"),
    ('\u{2001}', BLANK, "EM QUAD"),
    ('\u{2002}', BLANK, "EN SPACE"),
    ('\u{2003}', BLANK, "EM SPACE"),
    ('\u{2004}', BLANK, "THREE-PER-EM SPACE"),
    ('\u{2005}', BLANK, "FOUR-PER-EM SPACE"),
    ('\u{2006}', BLANK, "SIX-PER-EM SPACE"),
    ('\u{2007}', BLANK, "FIGURE SPACE"),
    ('\u{2008}', BLANK, "PUNCTUATION SPACE"),
    ('\u{2009}', BLANK, "THIN SPACE"),
    ('\u{200a}', BLANK, "HAIR SPACE"),
    ('\u{200b}', Meant::Nothing, "ZERO WIDTH SPACE"),
    ('\u{200c}', Meant::Nothing, "ZERO WIDTH NON-JOINER"),
    ('\u{200d}', Meant::Nothing, "ZERO WIDTH JOINER"),
    ('\u{200e}', Meant::Nothing, "LEFT-TO-RIGHT MARK"),
    ('\u{200f}', Meant::Nothing, "RIGHT-TO-LEFT MARK"),
    ('\u{2010}', Meant::Ascii('-'), "HYPHEN"),
    ('\u{2011}', Meant::Ascii('-'), "NON-BREAKING HYPHEN"),
    ('\u{2018}', SINGLE, "LEFT SINGLE QUOTATION MARK"),
    ('\u{2019}', SINGLE, "RIGHT SINGLE QUOTATION MARK"),
    ('\u{201a}', SINGLE, "SINGLE LOW-9 QUOTATION MARK"),
    ('\u{201c}', DOUBLE, "LEFT DOUBLE QUOTATION MARK"),
    ('\u{201d}', DOUBLE, "RIGHT DOUBLE QUOTATION MARK"),
    ('\u{201e}', DOUBLE, "DOUBLE LOW-9 QUOTATION MARK"),
    ('\u{2028}', BLANK, "LINE SEPARATOR"),
    ('\u{2029}', BLANK, "PARAGRAPH SEPARATOR"),
    ('\u{202a}', Meant::Nothing, "LEFT-TO-RIGHT EMBEDDING"),
    ('\u{202b}', Meant::Nothing, "RIGHT-TO-LEFT EMBEDDING"),
    ('\u{202c}', Meant::Nothing, "POP DIRECTIONAL FORMATTING"),
    ('\u{202d}', Meant::Nothing, "LEFT-TO-RIGHT OVERRIDE"),
    ('\u{202e}', Meant::Nothing, "RIGHT-TO-LEFT OVERRIDE"),
    ('\u{202f}', BLANK, "NARROW NO-BREAK SPACE"),
    ('\u{2032}', SINGLE, "PRIME"),
    ('\u{2033}', DOUBLE, "DOUBLE PRIME"),
    ('\u{205f}', BLANK, "MEDIUM MATHEMATICAL SPACE"),
    ('\u{2060}', Meant::Nothing, "WORD JOINER"),
    ('\u{2061}', Meant::Nothing, "FUNCTION APPLICATION"),
    ('\u{2212}', Meant::Ascii('-'), "MINUS SIGN"),
    ('\u{3000}', BLANK, "IDEOGRAPHIC SPACE"),
    ('\u{feff}', Meant::Nothing, "ZERO WIDTH NO-BREAK SPACE"),
];
