//! Words and signs of a filter.

use super::{FilterError, FilterProblem};

/// A word or sign, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) offset: usize,
    pub(super) text: &'a str,
    pub(super) kind: TokenKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TokenKind {
    /// A name with dots and indices, or a word of the language.
    Word,
    /// A number. Whether it is a good one shows when it is compared.
    Number,
    /// Text, the quotes left out; quotes inside of it are still doubled.
    Text,
    /// `%n`, the sign left out.
    Parameter,
    /// An operator or a parenthesis.
    Sign,
    /// Nothing is left.
    End,
}

/// The first token of `rest`, which begins `offset` bytes into the expression, and what follows it.
pub(super) fn next<'a>(source: &'a str, from: usize) -> Result<(Token<'a>, usize), FilterError> {
    let rest = source.get(from..).unwrap_or_default();
    let offset = from + (rest.len() - rest.trim_start().len());
    let rest = rest.trim_start();
    let token = |kind, start: usize, end: usize| {
        let text = rest.get(start..end).unwrap_or_default();
        Token { offset, text, kind }
    };
    let Some(first) = rest.chars().next() else {
        return Ok((token(TokenKind::End, 0, 0), offset));
    };
    let span = |is_part: &dyn Fn(char) -> bool, start: usize| {
        let rest = rest.get(start..).unwrap_or_default();
        start + rest.find(|c| !is_part(c)).unwrap_or(rest.len())
    };
    let (found, len) = match first {
        // The standard's own examples open text with a grave accent.
        '\'' | '`' => {
            let end = end_of_text(rest).ok_or(FilterError {
                offset,
                problem: FilterProblem::OpenQuote,
            })?;
            (token(TokenKind::Text, 1, end), end + 1)
        }
        '%' => {
            let end = span(&|c| c.is_ascii_digit(), 1);
            (token(TokenKind::Parameter, 1, end), end)
        }
        c if c.is_alphabetic() || c == '_' => {
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']');
            let end = span(&is_part, 0);
            (token(TokenKind::Word, 0, end), end)
        }
        c if c.is_ascii_digit() || matches!(c, '+' | '-' | '.') => {
            let end = end_of_number(rest);
            (token(TokenKind::Number, 0, end), end)
        }
        _ => {
            let two = ["<=", ">=", "<>", "!="];
            let double = two.iter().any(|sign| rest.starts_with(sign));
            let end = if double { 2 } else { first.len_utf8() };
            (token(TokenKind::Sign, 0, end), end)
        }
    };
    Ok((found, offset + len))
}

/// Where the closing quote stands; two quotes are one of the text.
fn end_of_text(rest: &str) -> Option<usize> {
    let mut from = 1;
    loop {
        let quote = from + rest.get(from..)?.find('\'')?;
        if !rest.get(quote + 1..)?.starts_with('\'') {
            return Some(quote);
        }
        from = quote + 2;
    }
}

/// Digits, letters and points, and a sign at the beginning or behind an `e`.
fn end_of_number(rest: &str) -> usize {
    let mut previous = ' ';
    let is_hex = rest.trim_start_matches(['+', '-']).starts_with("0x");
    for (at, c) in rest.char_indices() {
        let sign = matches!(c, '+' | '-');
        let exponent = !is_hex && matches!(previous, 'e' | 'E');
        if !(c.is_ascii_alphanumeric() || c == '.' || sign && (at == 0 || exponent)) {
            return at;
        }
        previous = c;
    }
    rest.len()
}
