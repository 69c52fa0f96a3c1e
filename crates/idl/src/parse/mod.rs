//! Tokens to syntax (IDL 4.2 §7.4: core data types, extended data types, anonymous types,
//! annotations, and the interfaces that remote calls need). Resolves nothing.
//!
//! After an error the parser goes on behind the next `;` of the same scope, so that one run finds
//! what is wrong in several places. Names of definitions that it has skipped are kept: that they are
//! unknown says nothing.

mod annotation;
mod constructed;
mod definition;
mod expression;
mod interface;
mod keywords;
mod types;

use std::collections::HashSet;
use std::fmt;
use std::rc::Rc;

use crate::diagnostic::Problem;
use crate::lexer::TokenKind;
use crate::limits;
use crate::preprocess::Context;
use crate::source::Span;
use crate::syntax::{Definition, DefinitionKind, Head, Name, Path};
use crate::token::Token;

use keywords::Keyword;
pub(crate) use keywords::keyword;

/// What the tokens are.
pub(crate) struct Syntax {
    pub(crate) definitions: Vec<Definition>,
    /// Words of definitions that were not understood, in small letters: what they define is among these.
    pub(crate) skipped: HashSet<String>,
}

/// All definitions of the tokens, the last of which is an end.
pub(crate) fn parse(context: &mut Context, tokens: &[Token]) -> Syntax {
    let mut parser = Parser {
        context,
        tokens,
        at: 0,
        depth: 0,
        in_template: false,
        pragmas: Vec::new(),
        skipped: HashSet::new(),
    };
    let mut all = Vec::new();
    loop {
        parser.definitions(&mut all);
        let token = parser.peek();
        if token.kind == TokenKind::End || parser.context.problems.is_full() {
            return Syntax {
                definitions: all,
                skipped: parser.skipped,
            };
        }
        let problem = parser.error(token, "there is nothing that this closes");
        problem.help("remove it, or look for a `{` that is missing before");
        parser.advance();
        parser.take(';');
    }
}

/// What was wrong is told already.
#[derive(Debug)]
struct Wrong;

type Result<T> = std::result::Result<T, Wrong>;

struct Parser<'a> {
    context: &'a mut Context,
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    /// Whether `>` ends what is being read.
    in_template: bool,
    /// Pragmas that were met and belong to no scope yet.
    pragmas: Vec<(Rc<str>, Span)>,
    /// As in [`Syntax`].
    skipped: HashSet<String>,
}

impl<'a> Parser<'a> {
    /// The next token that is no pragma.
    fn peek(&mut self) -> &'a Token {
        while let Some(token) = self.tokens.get(self.at)
            && token.kind == TokenKind::Pragma
        {
            self.pragmas.push((token.text.clone(), token.span));
            self.at += 1;
        }
        let last = self.tokens.len() - 1;
        &self.tokens[self.at.min(last)]
    }

    /// The token after the next.
    fn peek_second(&mut self) -> &'a Token {
        self.peek();
        let mut rest = self.tokens.iter().skip(self.at + 1);
        let second = rest.find(|token| token.kind != TokenKind::Pragma);
        second.unwrap_or(&self.tokens[self.tokens.len() - 1])
    }

    /// The token that is this many behind the next.
    fn peek_at(&mut self, count: usize) -> &'a Token {
        self.peek();
        let rest = self.tokens.iter().skip(self.at);
        let mut rest = rest.filter(|token| token.kind != TokenKind::Pragma);
        rest.nth(count)
            .unwrap_or(&self.tokens[self.tokens.len() - 1])
    }

    /// Takes the next token. There is always one more: the last is an end.
    fn advance(&mut self) -> &'a Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// The token that was taken last.
    fn previous(&self) -> &'a Token {
        let before = self.tokens.get(..self.at).unwrap_or_default();
        let last = before.iter().rfind(|token| token.kind != TokenKind::Pragma);
        last.unwrap_or(&self.tokens[0])
    }

    fn at(&mut self, char: char) -> bool {
        self.peek().is(char)
    }

    fn at_word(&mut self, word: &str) -> bool {
        self.peek().is_word(word)
    }

    fn take(&mut self, char: char) -> bool {
        let is_next = self.at(char);
        if is_next {
            self.advance();
        }
        is_next
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_next = self.at_word(word);
        if is_next {
            self.advance();
        }
        is_next
    }

    /// `::`
    fn at_scope(&mut self) -> bool {
        self.at(':') && {
            let second = self.peek_second();
            second.is(':') && !second.spaced
        }
    }

    fn take_scope(&mut self) -> bool {
        let is_next = self.at_scope();
        if is_next {
            self.advance();
            self.advance();
        }
        is_next
    }

    fn error(&mut self, token: &Token, message: impl fmt::Display) -> &mut Problem {
        self.context.error(token.span, message)
    }

    /// Says that something else is expected where the next token stands.
    fn expected(&mut self, what: impl fmt::Display) -> Wrong {
        let token = self.peek();
        match token.kind {
            // Told already.
            TokenKind::Wrong(_) => {}
            TokenKind::End => {
                self.error(
                    token,
                    format_args!("the text ends where {what} is expected"),
                );
            }
            _ => {
                let message = format!("{what} is expected here, not `{}`", token.text);
                self.error(token, message);
            }
        }
        Wrong
    }

    /// The same, with what to do.
    fn expected_with_help(&mut self, what: impl fmt::Display, help: impl fmt::Display) -> Wrong {
        let token = self.peek();
        match token.kind {
            TokenKind::Wrong(_) => {}
            TokenKind::End => {
                let message = format!("the text ends where {what} is expected");
                self.error(token, message).help(help);
            }
            _ => {
                let message = format!("{what} is expected here, not `{}`", token.text);
                self.error(token, message).help(help);
            }
        }
        Wrong
    }

    fn expect(&mut self, char: char) -> Result<&'a Token> {
        match self.at(char) {
            true => Ok(self.advance()),
            false => Err(self.expected(format_args!("`{char}`"))),
        }
    }

    /// Takes the `;` that ends something, and gives the comment behind it. One that is missing is
    /// told, and taken to be there.
    fn end_of(&mut self, what: &str) -> Option<String> {
        if self.at(';') {
            let token = self.advance();
            return comment_after(token);
        }
        let next = self.peek().kind;
        let last = self.previous();
        if !matches!(next, TokenKind::Wrong(_)) {
            let end = Span {
                start: last.span.end.saturating_sub(1),
                ..last.span
            };
            let problem = self.context.error(end, "`;` is missing behind this");
            problem.help(format_args!("{what} ends with `;`"));
        }
        comment_after(last)
    }

    /// A name that is being defined.
    fn name(&mut self) -> Result<Name> {
        let token = self.peek();
        if token.kind != TokenKind::Word {
            return Err(self.expected("a name"));
        }
        let name = self.name_of(token)?;
        match keyword(&token.text) {
            Some(Keyword::Elsewhere) => {
                let message = format!("`{}` is a keyword of IDL 4.2", token.text);
                let problem = self.context.problems.warning(token.span, message);
                problem.help(format_args!(
                    "write `_{}` for compilers that insist: the underscore is no part of the name",
                    token.text
                ));
            }
            Some(Keyword::Resembling) => {
                let message = format!(
                    "`{}` is a keyword but for the case of its letters",
                    token.text
                );
                let problem = self.context.problems.warning(token.span, message);
                problem.help("other compilers may refuse it: take another name");
            }
            _ => {}
        }
        self.advance();
        Ok(name)
    }

    /// The name that a word is.
    fn name_of(&mut self, token: &Token) -> Result<Name> {
        let escaped = token.text.strip_prefix('_');
        if escaped.is_none() && keyword(&token.text) == Some(Keyword::Reserved) {
            let word = &token.text;
            let ends = self.peek_second().kind != TokenKind::Word;
            let before = self.tokens[..self.at].iter().rev();
            let ty = before
                .take_while(|token| types::is_primitive(&token.text))
                .last();
            if let (Some(first), true, false) = (ty, types::is_primitive(word), ends) {
                let place = first.span.to(token.span);
                let message = format!("there is no type `{}`", self.context.sources.text(place));
                let problem = self.context.error(place, message);
                problem.help(
                    "there are short, long, long long, with `unsigned` before them, and long double",
                );
                return Err(Wrong);
            }
            let message = format!("`{word}` is a keyword, and no name");
            self.error(token, message).help(format_args!(
                "write `_{word}`: the underscore is no part of the name"
            ));
            return Err(Wrong);
        }
        let is_legal =
            escaped.is_none_or(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
        if !is_legal {
            let message = format!("`{}` is no name", token.text);
            let problem = self.error(token, message);
            problem.help("a name begins with a letter; one underscore may be before it");
            return Err(Wrong);
        }
        let text = match escaped {
            Some(text) => self.context.sources.word(text),
            None => token.text.clone(),
        };
        let span = token.span;
        if text.len() > limits::NAME_BYTES {
            let problem = self.error(token, "this name is too long");
            problem.help(format_args!(
                "peers take up to {} letters: shorten it",
                limits::NAME_BYTES
            ));
            return Err(Wrong);
        }
        Ok(Name { text, span })
    }

    /// A name that is used.
    fn path(&mut self) -> Result<Path> {
        let start = self.peek().span;
        let absolute = self.take_scope();
        let mut parts = Vec::new();
        loop {
            let token = self.peek();
            if token.kind != TokenKind::Word {
                return Err(self.expected("a name"));
            }
            parts.push(self.name_of(token)?);
            self.advance();
            if !self.take_scope() {
                break;
            }
        }
        let span = start.to(self.previous().span);
        Ok(Path {
            absolute,
            parts,
            span,
        })
    }

    /// Calls `inner` one level deeper, unless that is too deep.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= limits::NESTING {
            let token = self.peek();
            let most = limits::NESTING;
            let problem = self.error(token, "this is nested too deep");
            problem.help(format_args!("there are at most {most} levels"));
            return Err(Wrong);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Goes on behind the next `;` of this scope, or before the `}` that closes it.
    fn recover(&mut self) {
        let mut depth = 0;
        loop {
            let token = self.peek();
            match token.kind {
                TokenKind::End => return,
                TokenKind::Punctuation('{') => depth += 1,
                TokenKind::Punctuation('}') if depth == 0 => return,
                TokenKind::Punctuation('}') => depth -= 1,
                TokenKind::Punctuation(';') if depth == 0 => {
                    self.advance();
                    return;
                }
                _ => {}
            }
            self.advance();
        }
    }

    /// Keeps the words from there to here, which are of a definition that was not understood.
    fn skip(&mut self, from: usize) {
        let words = self.tokens[from..self.at].iter();
        let words = words.filter(|token| token.kind == TokenKind::Word);
        let names = words.filter(|token| keyword(&token.text) != Some(Keyword::Reserved));
        let names = names.map(|token| token.text.trim_start_matches('_').to_ascii_lowercase());
        self.skipped.extend(names);
    }

    /// Parts between `{` and `}`, each read by `part`, which may fail.
    fn braces(&mut self, mut part: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        let open = self.expect('{')?.span;
        while !self.at('}') {
            if self.peek().kind == TokenKind::End {
                let end = self.peek();
                let problem = self.error(end, "the text ends where `}` is expected");
                problem.note("it closes the `{`", open);
                return Err(Wrong);
            }
            if self.context.problems.is_full() {
                return Err(Wrong);
            }
            let before = self.at;
            if part(self).is_err() {
                self.recover();
                let skipped = &self.tokens[before..self.at];
                if skipped.iter().any(definition::begins) {
                    self.skip(before);
                }
                if self.at == before {
                    self.advance();
                }
            }
        }
        self.advance();
        Ok(())
    }

    /// Definitions up to what closes their scope, or the end.
    fn definitions(&mut self, all: &mut Vec<Definition>) {
        loop {
            let token = self.peek();
            let pragmas = self.pragmas.drain(..);
            all.extend(pragmas.map(|(text, span)| Definition {
                head: Head::default(),
                kind: DefinitionKind::Pragma(text, span),
            }));
            if token.kind == TokenKind::End || token.is('}') || self.context.problems.is_full() {
                return;
            }
            let before = self.at;
            match self.definition() {
                Ok(Some(definition)) => all.push(definition),
                Ok(None) => {}
                Err(Wrong) => {
                    self.recover();
                    self.skip(before);
                    if self.at == before {
                        self.advance();
                    }
                }
            }
        }
    }
}

fn comment_before(token: &Token) -> Option<String> {
    let comments = token.comments.as_ref()?;
    Some(comments.before.clone()).filter(|text| !text.is_empty())
}

fn comment_after(token: &Token) -> Option<String> {
    let comments = token.comments.as_ref()?;
    Some(comments.after.clone()).filter(|text| !text.is_empty())
}
