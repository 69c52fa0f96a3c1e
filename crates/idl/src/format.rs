//! Layout: the same tokens and comments in the lines and columns that people expect. Works on tokens
//! alone, before the preprocessor, so that comments, directives and what is not compiled stay.
//!
//! Line breaks come from the grammar where it tells (behind `;` and braces, between literals) and from
//! the text elsewhere (behind annotations and labels, in long lists), so that a text which was laid
//! out is laid out as it is.

mod spacing;

use crate::diagnostic::Diagnostic;
use crate::lexer::{self, RawToken, TokenKind};
use crate::limits;
use crate::preprocess::Context;
use crate::source::Span;

use spacing::Spacing;

/// Lays out a text: two columns for each brace, a line for each member, one empty line where there
/// were some. Nothing but white space changes, also in comments.
///
/// `path` is the name that diagnostics tell.
///
/// # Errors
/// What is no token, such as a string that does not end, with its place; or text that would mean
/// something else in another layout.
pub fn format(path: &str, text: &str) -> Result<String, Vec<Diagnostic>> {
    let mut context = Context::default();
    let too_long = text.len() > limits::FILE_BYTES;
    let read = if too_long { "" } else { text };
    let (file, start) = context.sources.add(path, read.into(), None);
    let tokens = lexer::lex(read);
    if too_long || tokens.len() > limits::TOKENS {
        let problem = context.error(start, "this is too much text");
        problem.help("make several files of it");
    }
    for token in &tokens {
        if let TokenKind::Wrong(defect) = token.kind {
            let (what, help) = defect.explain();
            context.error(span_of(file, token), what).help(help);
        }
    }
    if context.problems.has_errors() {
        return Err(context.problems.into_diagnostics(&context.sources));
    }
    let mut layout = Layout::new(read, &tokens);
    layout.all();
    let out = layout.out;
    match first_difference(read, &tokens, &out) {
        None => Ok(out),
        Some(token) => {
            let message = "this would mean something else in another layout";
            let problem = context.error(span_of(file, token), message);
            problem.help("write what is around it in the usual form");
            Err(context.problems.into_diagnostics(&context.sources))
        }
    }
}

struct Layout<'t> {
    text: &'t str,
    tokens: &'t [RawToken],
    out: String,
    spacing: Spacing<'t>,
    /// Braces that are open, and whether literals are in them.
    braces: Vec<bool>,
    /// How many braces were open at each `#if` that is.
    conditions: Vec<Vec<bool>>,
    /// What the line that is being written ends with.
    last: Last,
    /// Where the last token ends.
    end: usize,
}

/// What was written last.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    Nothing,
    Token,
    Directive,
    /// A comment up to the end of its line, or behind what ends a line.
    LineComment,
    Comment,
}

impl<'t> Layout<'t> {
    fn new(text: &'t str, tokens: &'t [RawToken]) -> Self {
        Self {
            text,
            tokens,
            out: String::with_capacity(text.len()),
            spacing: Spacing::default(),
            braces: Vec::new(),
            conditions: Vec::new(),
            last: Last::Nothing,
            end: 0,
        }
    }

    fn all(&mut self) {
        let mut at = 0;
        while let Some(token) = self.tokens.get(at) {
            let rest = self.tokens.get(at + 1..).unwrap_or_default();
            let before = self.text.get(self.end..token.start as usize);
            let breaks = before.unwrap_or_default().matches('\n').count();
            let mut taken = 1;
            if token.first && token.kind == TokenKind::Punctuation('#') {
                taken += rest.iter().take_while(|token| !token.first).count();
                let line = self.tokens.get(at..at + taken).unwrap_or_default();
                self.directive(line, breaks);
            } else if token.kind == TokenKind::Comment {
                self.comment(token, breaks);
            } else {
                self.token(token, rest.first(), breaks);
            }
            let last = self.tokens.get(at + taken - 1);
            self.end = last.map_or(self.end, |token| token.end as usize);
            at += taken;
        }
        if self.last != Last::Nothing {
            self.out.push('\n');
        }
    }

    fn text_of(&self, token: &RawToken) -> &'t str {
        let range = token.start as usize..token.end as usize;
        self.text.get(range).unwrap_or_default()
    }

    /// A directive, as it is, on lines of its own.
    fn directive(&mut self, line: &[RawToken], breaks: usize) {
        let Some((first, last)) = line.first().zip(line.last()) else {
            return;
        };
        self.line_break(breaks, 0);
        let text = self.text.get(first.start as usize..last.end as usize);
        let text = text.unwrap_or_default().trim_end();
        self.out.push_str(&text.replace("\r\n", "\n"));
        let mut words = line.iter().skip(1);
        let word = words.find(|token| token.kind != TokenKind::Comment);
        match word.map_or("", |word| self.text_of(word)) {
            "if" | "ifdef" | "ifndef" => self.conditions.push(self.braces.clone()),
            // Braces that one part opens are opened by the other one, too.
            "elif" | "else" => {
                if let Some(braces) = self.conditions.last() {
                    self.braces.clone_from(braces);
                }
            }
            "endif" => drop(self.conditions.pop()),
            _ => {}
        }
        if self.conditions.len() > limits::CONDITION_DEPTH {
            self.conditions.clear();
        }
        self.last = Last::Directive;
    }

    fn comment(&mut self, token: &RawToken, breaks: usize) {
        let text = self.text_of(token);
        let ends_line = self.spacing.ends_line;
        let is_behind = breaks == 0 && !matches!(self.last, Last::Nothing | Last::Directive);
        match is_behind {
            true => self.out.push(' '),
            false => self.line_break(breaks, self.braces.len() + self.deeper()),
        }
        self.comment_text(text);
        self.last = match text.starts_with("//") || is_behind && ends_line {
            true => Last::LineComment,
            false => Last::Comment,
        };
    }

    /// The lines of a comment; those of one with a column of stars get that below its first.
    fn comment_text(&mut self, text: &str) {
        let has_stars = text
            .lines()
            .skip(1)
            .all(|line| line.trim_start().starts_with('*'));
        let start = self.out.rfind('\n').map_or(0, |at| at + 1);
        let column = self.out.get(start..).unwrap_or_default().chars().count();
        for (index, line) in text.lines().enumerate() {
            if index > 0 {
                self.out.push('\n');
            }
            if index > 0 && has_stars {
                self.out.extend(std::iter::repeat_n(' ', column + 1));
                self.out.push_str(line.trim());
            } else {
                self.out.push_str(line.trim_end());
            }
        }
    }

    fn token(&mut self, token: &RawToken, next: Option<&RawToken>, breaks: usize) {
        let text = self.text_of(token);
        let char = match token.kind {
            TokenKind::Punctuation(char) => Some(char),
            _ => None,
        };
        let next_kind = next.filter(|next| !next.spaced).map(|next| next.kind);
        if char == Some('}') {
            self.braces.pop();
        }
        let before = self.spacing.clone();
        let in_list = self.braces.last() == Some(&true);
        let wants_space = self.spacing.take(token, text, next_kind, in_list);
        let base = self.braces.len();
        match (self.last, char) {
            (Last::Nothing, _) => {}
            (Last::Directive | Last::LineComment, Some('}')) => self.line_break(1, base),
            (Last::Directive | Last::LineComment, _) => {
                self.line_break(breaks, base + before.depth(text));
            }
            (Last::Token, Some('}')) if before.opened => {}
            (_, Some('}')) => self.line_break(1, base),
            (Last::Comment, _) if breaks == 0 => self.out.push(' '),
            (Last::Comment, _) => self.line_break(breaks, base + before.depth(text)),
            (Last::Token, _) if before.ends_line => {
                self.line_break(breaks.max(1), base + before.depth(text));
            }
            (Last::Token, Some('{')) => self.out.push(' '),
            (Last::Token, _) if breaks > 0 && before.may_break(char) => {
                self.line_break(1, base + before.depth(text));
            }
            (Last::Token, _) if wants_space => self.out.push(' '),
            (Last::Token, _) => {}
        }
        self.out.push_str(text);
        if char == Some('{') && self.braces.len() < MAX_INDENT {
            self.braces.push(self.spacing.opens_list);
        }
        self.last = Last::Token;
    }

    /// How much deeper than its braces a comment stands.
    fn deeper(&self) -> usize {
        self.spacing.depth("")
    }

    /// Ends the line, with an empty one after it if there was one, and begins one at a depth.
    fn line_break(&mut self, breaks: usize, depth: usize) {
        if self.last == Last::Nothing {
            return;
        }
        self.out.push('\n');
        if breaks > 1 && !(self.spacing.opened && self.last == Last::Token) {
            self.out.push('\n');
        }
        let spaces = INDENT * depth.min(MAX_INDENT);
        self.out.extend(std::iter::repeat_n(' ', spaces));
    }
}

/// The first token of a text that another text does not have there.
fn first_difference<'t>(text: &str, tokens: &'t [RawToken], out: &str) -> Option<&'t RawToken> {
    let others = lexer::lex(out);
    let mut others = others.iter();
    for (index, token) in tokens.iter().enumerate() {
        let is_same = others.next().is_some_and(|other| {
            let same_text = shown(text, token).eq(shown(out, other));
            // `::`, `<<` and `>>` are what they are without a space; `#` begins a directive.
            let same_place = match token.kind {
                TokenKind::Punctuation('#') => token.first == other.first,
                TokenKind::Punctuation(':' | '<' | '>') if index > 0 => {
                    tokens[index - 1].kind != token.kind || token.spaced == other.spaced
                }
                _ => true,
            };
            same_text && same_place && token.kind == other.kind
        });
        if !is_same {
            return Some(token);
        }
    }
    match others.next() {
        None => None,
        Some(_) => tokens.last(),
    }
}

/// The lines of a token, those of comments without the white space around them.
fn shown<'s>(text: &'s str, token: &RawToken) -> impl Iterator<Item = &'s str> {
    let range = token.start as usize..token.end as usize;
    let is_comment = token.kind == TokenKind::Comment;
    let lines = text.get(range).unwrap_or_default().lines();
    lines.map(move |line| if is_comment { line.trim() } else { line })
}

fn span_of(file: u32, token: &RawToken) -> Span {
    Span {
        file,
        start: token.start,
        end: token.end,
        expansion: 0,
    }
}

/// Columns of a level.
const INDENT: usize = 2;
/// Levels that are shown.
const MAX_INDENT: usize = 32;

#[cfg(test)]
mod tests;
