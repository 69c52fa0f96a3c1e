//! Tokens as the parser reads them: includes and macros are behind them.

use std::rc::Rc;

use crate::lexer::TokenKind;
use crate::source::Span;

/// A token, and the comments beside it.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) text: Rc<str>,
    pub(crate) span: Span,
    /// Whether white space or a comment is before it.
    pub(crate) spaced: bool,
    pub(crate) comments: Option<Rc<Comments>>,
}

/// The comments beside a token, without their marks; empty for none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comments {
    /// That which ends on the line before the token.
    pub(crate) before: String,
    /// That which begins on the token's line after it.
    pub(crate) after: String,
}

impl Token {
    pub(crate) fn is(&self, char: char) -> bool {
        self.kind == TokenKind::Punctuation(char)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && &*self.text == word
    }
}

/// What a comment says: its lines without marks, and without the white space that they share.
pub(crate) fn comment_text(comment: &str) -> String {
    let body = match comment.strip_prefix("//") {
        Some(line) => line.trim_start_matches(['/', '!']).trim_start_matches('<'),
        None => {
            let body = comment.strip_prefix("/*").unwrap_or(comment);
            let body = body.strip_suffix("*/").unwrap_or(body);
            body.trim_start_matches(['*', '!']).trim_start_matches('<')
        }
    };
    let lines = body.lines().map(|line| {
        let line = line.trim();
        // The column of stars that many comments have.
        match line.strip_prefix('*') {
            Some(rest) => rest.trim_matches('*').trim(),
            None => line.trim_end_matches('*').trim_end(),
        }
    });
    let mut lines: Vec<&str> = lines.collect();
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let empty = lines.iter().take_while(|line| line.is_empty()).count();
    lines.drain(..empty);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::comment_text;

    #[test]
    fn comments_lose_their_marks() {
        for (comment, text) in [
            ("// timestamp", "timestamp"),
            ("///< of the exchange", "of the exchange"),
            ("/* one */", "one"),
            ("/**\n * First.\n *\n * Second.\n */", "First.\n\nSecond."),
            ("/****\n  plain\n****/", "plain"),
            ("//", ""),
            ("//------", "------"),
        ] {
            assert_eq!(comment_text(comment), text, "{comment}");
        }
    }
}
