//! Text to tokens (IDL 4.2 §7.2), comments among them. Knows no keyword and no directive.

use crate::limits;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// An identifier or a keyword.
    Word,
    /// Whatever begins with a digit: checked when it is used.
    Number,
    /// `'a'`, or `L'a'`.
    Char { wide: bool },
    /// `"a"`, or `L"a"`.
    Text { wide: bool },
    /// One character. `::`, `<<` and `>>` are two of them.
    Punctuation(char),
    /// What stands after `#pragma`.
    Pragma,
    /// To the end of the line, or between `/*` and `*/`.
    Comment,
    /// What no token is.
    Wrong(Defect),
    /// After the last token.
    End,
}

/// Why something is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    OpenComment,
    OpenText,
    OpenChar,
    Quotes,
    Character,
}

impl Defect {
    /// What is wrong, and what to do.
    pub(crate) fn explain(self) -> (&'static str, &'static str) {
        match self {
            Self::OpenComment => ("this comment does not end", "close it by `*/`"),
            Self::OpenText => (
                "this string does not end on its line",
                "close it by `\"`; strings beside each other are one",
            ),
            Self::OpenChar => (
                "this is no character",
                "write one character between `'`, or a string between `\"`",
            ),
            Self::Quotes => (
                "these quotation marks are not those of IDL",
                "write `\"` for strings and `'` for characters",
            ),
            Self::Character => (
                "this character means nothing in IDL",
                "names have letters of ASCII, digits and underscores",
            ),
        }
    }
}

/// A token of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawToken {
    pub(crate) kind: TokenKind,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Whether nothing but white space is before it on its line.
    pub(crate) first: bool,
    /// Whether white space or a comment is before it.
    pub(crate) spaced: bool,
}

/// The tokens of a text, without an end token; of one that has more than [`limits::TOKENS`], one
/// more than that.
pub(crate) fn lex(text: &str) -> Vec<RawToken> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    let (mut first, mut spaced) = (true, true);
    while let Some(char) = lexer.peek()
        && tokens.len() <= limits::TOKENS
    {
        let start = lexer.at;
        if lexer.white_space() {
            first |= char == '\n';
            spaced = true;
            continue;
        }
        let kind = lexer.token(char);
        tokens.push(RawToken {
            kind,
            start: start as u32,
            end: lexer.at as u32,
            first,
            spaced,
        });
        // A comment before a directive leaves it one.
        first &= kind == TokenKind::Comment;
        spaced = kind == TokenKind::Comment;
    }
    tokens
}

/// Where no-break spaces stand outside of strings and comments, given the tokens of the text.
pub(crate) fn no_break_spaces(text: &str, tokens: &[RawToken]) -> Vec<u32> {
    let mut found = Vec::new();
    let mut tokens = tokens.iter().peekable();
    for (at, _) in text.match_indices(NO_BREAK_SPACE) {
        let at = at as u32;
        while tokens.next_if(|token| token.end <= at).is_some() {}
        if tokens.peek().is_none_or(|token| token.start > at) {
            found.push(at);
        }
    }
    found
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_while(&mut self, accept: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|char| !accept(char)).unwrap_or(rest.len());
    }

    /// Takes white space, of which a line that is continued by `\` is part.
    fn white_space(&mut self) -> bool {
        let before = self.at;
        match self.peek() {
            // One at a time, since it begins a line.
            Some('\n') => self.at += 1,
            Some('\\') if self.rest().starts_with("\\\n") => self.at += 2,
            Some('\\') if self.rest().starts_with("\\\r\n") => self.at += 3,
            Some(_) => self.skip_while(is_space),
            None => {}
        }
        self.at > before
    }

    fn token(&mut self, first: char) -> TokenKind {
        let rest = self.rest();
        if rest.starts_with("//") {
            self.skip_while(|char| char != '\n');
            return TokenKind::Comment;
        }
        if let Some(body) = rest.strip_prefix("/*") {
            return match body.find("*/") {
                Some(length) => self.take(length + 4, TokenKind::Comment),
                None => self.take(rest.len(), TokenKind::Wrong(Defect::OpenComment)),
            };
        }
        for (prefix, wide) in [("\"", false), ("L\"", true)] {
            if let Some(body) = rest.strip_prefix(prefix) {
                return match closing(body, '"') {
                    Some(length) => self.take(prefix.len() + length, TokenKind::Text { wide }),
                    None => self.rest_of_line(Defect::OpenText),
                };
            }
        }
        for (prefix, wide) in [("'", false), ("L'", true)] {
            if let Some(body) = rest.strip_prefix(prefix) {
                return match closing(body, '\'') {
                    Some(length) => self.take(prefix.len() + length, TokenKind::Char { wide }),
                    None => self.rest_of_line(Defect::OpenChar),
                };
            }
        }
        let mut chars = rest.chars();
        chars.next();
        match first {
            'a'..='z' | 'A'..='Z' | '_' => {
                self.skip_while(is_word);
                TokenKind::Word
            }
            '0'..='9' => self.number(),
            '.' if chars.next().is_some_and(|next| next.is_ascii_digit()) => self.number(),
            '\u{2018}'..='\u{201f}' | '\u{ab}' | '\u{bb}' => {
                self.take(first.len_utf8(), TokenKind::Wrong(Defect::Quotes))
            }
            '!'..='~' => self.take(1, TokenKind::Punctuation(first)),
            _ => {
                self.at += first.len_utf8();
                self.skip_while(|char| !char.is_ascii() && !is_space(char) || is_word(char));
                TokenKind::Wrong(Defect::Character)
            }
        }
    }

    fn take(&mut self, length: usize, kind: TokenKind) -> TokenKind {
        self.at += length;
        kind
    }

    fn rest_of_line(&mut self, defect: Defect) -> TokenKind {
        self.skip_while(|char| char != '\n');
        TokenKind::Wrong(defect)
    }

    /// Digits, letters, points, and the sign of an exponent.
    fn number(&mut self) -> TokenKind {
        let is_hex = self.rest().starts_with("0x") || self.rest().starts_with("0X");
        loop {
            self.skip_while(|char| is_word(char) || char == '.');
            let before = self.text.get(..self.at).unwrap_or_default();
            if is_hex || !before.ends_with(['e', 'E']) || !self.rest().starts_with(['+', '-']) {
                return TokenKind::Number;
            }
            self.at += 1;
        }
    }
}

/// How long the body of a literal is, with its closing mark, if that is on the line.
fn closing(body: &str, mark: char) -> Option<usize> {
    let mut escaped = false;
    for (at, char) in body.char_indices() {
        match char {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if char == mark => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// White space within a line. No-break spaces come with text that was pasted, a byte order mark with
/// some editors.
fn is_space(char: char) -> bool {
    matches!(
        char,
        ' ' | '\t' | '\r' | '\u{b}' | '\u{c}' | NO_BREAK_SPACE | '\u{feff}'
    )
}

fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

const NO_BREAK_SPACE: char = '\u{a0}';

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        let tokens = lex(text).into_iter();
        tokens
            .map(|token| &text[token.start as usize..token.end as usize])
            .collect()
    }

    #[test]
    fn tokens_are_told_apart() {
        assert_eq!(
            texts("sequence<a::b,10> x[2]; // c\n/* d */ 'a' L\"b\\\"\" 1.5e-3 0x1f .5"),
            [
                "sequence",
                "<",
                "a",
                ":",
                ":",
                "b",
                ",",
                "10",
                ">",
                "x",
                "[",
                "2",
                "]",
                ";",
                "// c",
                "/* d */",
                "'a'",
                "L\"b\\\"\"",
                "1.5e-3",
                "0x1f",
                ".5"
            ]
        );
    }

    #[test]
    fn what_does_not_end_is_wrong() {
        let last = |text| lex(text).last().map(|token| token.kind);
        assert_eq!(last("a /* b"), Some(TokenKind::Wrong(Defect::OpenComment)));
        assert_eq!(last("\"b\n"), Some(TokenKind::Wrong(Defect::OpenText)));
        assert_eq!(last("'b\\'"), Some(TokenKind::Wrong(Defect::OpenChar)));
        assert_eq!(last("größe"), Some(TokenKind::Wrong(Defect::Character)));
        assert_eq!(last("\u{201c}"), Some(TokenKind::Wrong(Defect::Quotes)));
    }

    #[test]
    fn no_break_spaces_are_white_space_and_counted_outside_of_literals() {
        let text = "a\u{a0}b \"\u{a0}\" // \u{a0}\n\u{a0}";
        let tokens = lex(text);
        assert_eq!(tokens.len(), 4);
        assert_eq!(no_break_spaces(text, &tokens).len(), 2);
    }

    #[test]
    fn lines_can_be_continued() {
        let tokens = lex("#define A \\\n 1\n  B");
        let first: Vec<bool> = tokens.iter().map(|token| token.first).collect();
        assert_eq!(first, [true, false, false, false, true]);
    }
}
