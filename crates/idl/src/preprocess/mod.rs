//! The preprocessor (IDL 4.2 §7.3): includes, conditions and macros; what comes out is one row of
//! tokens, each with its place. Knows nothing of IDL's grammar.

mod condition;
mod include;
mod macros;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::Loader;
use crate::diagnostic::{Problem, Problems};
use crate::lexer::{self, RawToken, TokenKind};
use crate::limits;
use crate::source::{Sources, Span};
use crate::token::{Comments, Token, comment_text};

use macros::Macro;

/// What all stages share.
#[derive(Default)]
pub(crate) struct Context {
    pub(crate) sources: Sources,
    pub(crate) problems: Problems,
}

impl Context {
    pub(crate) fn error(&mut self, span: Span, message: impl fmt::Display) -> &mut Problem {
        self.problems.error(span, message)
    }
}

pub(crate) struct Preprocessor<'a> {
    context: &'a mut Context,
    loader: &'a mut dyn Loader,
    search: &'a [PathBuf],
    macros: HashMap<Rc<str>, Rc<Macro>>,
    /// Files with `#pragma once`.
    once: HashSet<PathBuf>,
    /// Files that are being read, the innermost last.
    open: Vec<PathBuf>,
    bytes: usize,
    expansions: usize,
    made_bytes: usize,
    out: Vec<Token>,
    /// Set when a limit is met: nothing more is read.
    stopped: bool,
}

/// An `#if` that has not ended.
struct Condition {
    begin: Span,
    /// Whether one of its parts was taken.
    taken: bool,
    /// Whether this part is taken.
    active: bool,
    has_else: bool,
}

impl<'a> Preprocessor<'a> {
    pub(crate) fn new(
        context: &'a mut Context,
        loader: &'a mut dyn Loader,
        search: &'a [PathBuf],
    ) -> Self {
        Self {
            context,
            loader,
            search,
            macros: HashMap::new(),
            once: HashSet::new(),
            open: Vec::new(),
            bytes: 0,
            expansions: 0,
            made_bytes: 0,
            out: Vec::new(),
            stopped: false,
        }
    }

    /// Makes a definition as by `#define NAME VALUE`.
    pub(crate) fn define(&mut self, name: &str, value: &str) {
        let text: Rc<str> = format!("{name} {value}").into();
        let (file, _) = self.context.sources.add("<definition>", text.clone(), None);
        let tokens = lexer::lex(&text);
        let tokens = self.tokens(file, &tokens);
        self.directive_define(&tokens);
    }

    /// All tokens of all files so far, and an end after them.
    pub(crate) fn finish(mut self, end: Span) -> Vec<Token> {
        self.out.push(Token {
            kind: TokenKind::End,
            text: "".into(),
            span: end,
            spaced: true,
            comments: None,
        });
        self.out
    }

    /// Reads a file that was loaded and gives the place where it ends.
    fn file(&mut self, path: &Path, text: Rc<str>, from: Option<Span>) -> Span {
        let shown = path.to_string_lossy();
        let (file, start) = self.context.sources.add(&shown, text.clone(), from);
        let raw = lexer::lex(&text);
        if let Some(token) = raw.get(limits::TOKENS) {
            self.stop(span_of(file, token), TOO_MUCH).help(SPLIT);
        }
        self.warn_of_pasted_text(file, &text, &raw);
        self.open.push(path.to_owned());
        let mut conditions: Vec<Condition> = Vec::new();
        let mut segment = Segment::default();
        let mut at = 0;
        while let Some(token) = raw.get(at) {
            if self.stopped {
                break;
            }
            let active = conditions.iter().all(|condition| condition.active);
            if token.first && token.kind == TokenKind::Punctuation('#') {
                let rest = raw.get(at + 1..).unwrap_or_default();
                let length = rest.iter().take_while(|token| !token.first).count();
                let line = rest.get(..length).unwrap_or_default();
                let keeps_comment = self.is_pragma(file, line);
                self.flush(&mut segment, !keeps_comment);
                let span = span_of(file, token);
                self.directive(file, span, line, active, &mut conditions);
                if keeps_comment {
                    segment.move_comment_past(self.context.sources.line(file, token.start));
                }
                at += 1 + length;
                continue;
            }
            if active {
                self.add(file, *token, &mut segment);
            }
            at += 1;
        }
        self.flush(&mut segment, true);
        for condition in conditions {
            let problem = self
                .context
                .error(condition.begin, "this condition does not end");
            problem.help("close it by `#endif`");
        }
        self.open.pop();
        let end = text.trim_end().len() as u32;
        Span {
            start: end,
            end,
            ..start
        }
    }

    fn warn_of_pasted_text(&mut self, file: u32, text: &str, raw: &[RawToken]) {
        let found = lexer::no_break_spaces(text, raw);
        let Some(&start) = found.first() else { return };
        let span = Span {
            file,
            start,
            end: start + 2,
            expansion: 0,
        };
        let more = match found.len() {
            1 => String::new(),
            count => format!(", as {} more in this file", count - 1),
        };
        let message = format!("a no-break space is taken as a space{more}");
        let problem = self.context.problems.warning(span, message);
        problem
            .help("it came with pasted text: write a plain space, as other compilers may insist");
    }

    /// Takes a token that is no part of a directive.
    fn add(&mut self, file: u32, raw: RawToken, segment: &mut Segment) {
        let sources = &self.context.sources;
        let span = span_of(file, &raw);
        let line = sources.line(file, raw.start);
        if raw.kind == TokenKind::Comment {
            let text = comment_text(sources.text(span));
            self.warn_of_commented_key(span, &text);
            let end = self.context.sources.line(file, raw.end.saturating_sub(1));
            return segment.comment(text, line, end);
        }
        let mut token = self.token(span, raw);
        token.comments = segment.comment_before(line);
        segment.last_line = line;
        segment.tokens.push(token);
    }

    /// `//@key` is what compilers before IDL 4 had instead of `@key`.
    fn warn_of_commented_key(&mut self, span: Span, text: &str) {
        let word = text.split_whitespace().next().unwrap_or_default();
        if ["@key", "@Key", "@ID", "@Optional"].contains(&word) {
            let message = format!("`{word}` in a comment means nothing");
            let problem = self.context.problems.warning(span, message);
            let name = word.to_ascii_lowercase();
            problem.help(format_args!("write `{name}` before the member"));
        }
    }

    fn token(&mut self, span: Span, raw: RawToken) -> Token {
        let text = self.context.sources.text(span).to_owned();
        if let TokenKind::Wrong(defect) = raw.kind {
            let (what, help) = defect.explain();
            self.context.error(span, what).help(help);
        }
        Token {
            kind: raw.kind,
            text: self.context.sources.word(&text),
            span,
            spaced: raw.spaced,
            comments: None,
        }
    }

    /// The tokens of a directive.
    fn tokens(&mut self, file: u32, raw: &[RawToken]) -> Vec<Token> {
        let raw = raw.iter().filter(|token| token.kind != TokenKind::Comment);
        raw.map(|raw| self.token(span_of(file, raw), *raw))
            .collect()
    }

    /// Expands macros in what was taken so far.
    fn flush(&mut self, segment: &mut Segment, forget_comment: bool) {
        let tokens = std::mem::take(&mut segment.tokens);
        let expanded = self.expand(tokens);
        self.out.extend(expanded);
        if forget_comment {
            *segment = Segment::default();
        }
        if self.out.len() > limits::TOKENS {
            let span = self.out.last().map(|token| token.span);
            self.out.truncate(limits::TOKENS);
            if let Some(span) = span {
                self.stop(span, TOO_MUCH).help(SPLIT);
            }
        }
    }

    /// Says that a limit is met, and ends.
    fn stop(&mut self, span: Span, message: impl fmt::Display) -> &mut Problem {
        self.stopped = true;
        self.context.error(span, message)
    }

    fn is_pragma(&self, file: u32, line: &[RawToken]) -> bool {
        let mut words = line.iter().filter(|token| token.kind != TokenKind::Comment);
        let word = words.next().map(|token| span_of(file, token));
        word.is_some_and(|word| self.context.sources.text(word) == "pragma")
    }

    fn directive(
        &mut self,
        file: u32,
        hash: Span,
        line: &[RawToken],
        active: bool,
        conditions: &mut Vec<Condition>,
    ) {
        let is_word = |token: &RawToken| token.kind != TokenKind::Comment;
        let Some(index) = line.iter().position(is_word) else {
            return;
        };
        let (first, rest) = (&line[index], &line[index + 1..]);
        let name = span_of(file, first);
        let directive = self.context.sources.text(name).to_owned();
        let at = hash.to(name);
        match directive.as_str() {
            "if" | "ifdef" | "ifndef" => {
                if conditions.len() >= limits::CONDITION_DEPTH {
                    self.stop(at, "conditions are nested too deep")
                        .help("make one condition of several by `&&`");
                    return;
                }
                let taken = active && self.condition(&directive, at, file, rest);
                conditions.push(Condition {
                    begin: at,
                    taken,
                    active: taken,
                    has_else: false,
                });
            }
            "elif" | "else" => {
                let outer = conditions
                    .split_last()
                    .is_some_and(|(_, outer)| outer.iter().all(|condition| condition.active));
                let last = conditions.last_mut().filter(|last| !last.has_else);
                let Some(last) = last else {
                    let problem = self
                        .context
                        .error(at, "there is no `#if` that this belongs to");
                    problem.help("`#if` is followed by `#elif`s, one `#else`, and `#endif`");
                    return;
                };
                last.has_else = directive == "else";
                let candidate = outer && !last.taken;
                let chosen = match directive.as_str() {
                    "else" => candidate,
                    _ => candidate && self.condition("if", at, file, rest),
                };
                if let Some(last) = conditions.last_mut() {
                    last.active = chosen;
                    last.taken |= chosen;
                }
            }
            "endif" => {
                if conditions.pop().is_none() {
                    let problem = self.context.error(at, "there is no `#if` that this ends");
                    problem.help("remove it");
                }
            }
            _ if !active => {}
            "include" => self.include(file, at, rest),
            "define" | "undef" => {
                let tokens = self.tokens(file, rest);
                match tokens.first() {
                    None => self.no_name(&directive, at),
                    Some(_) if directive == "define" => self.directive_define(&tokens),
                    Some(word) => drop(self.macros.remove(&word.text)),
                }
            }
            "pragma" => self.pragma(file, at, rest),
            "error" | "warning" => {
                let text = self.line_text(file, rest);
                let text = match text.is_empty() {
                    true => format!("`#{directive}`"),
                    false => text,
                };
                match directive == "error" {
                    true => self.context.error(at, text),
                    false => self.context.problems.warning(at, text),
                };
            }
            // Where the text came from before another preprocessor had it.
            "line" => {}
            _ if first.kind == TokenKind::Number => {}
            _ => {
                let message = format!("there is no directive `#{directive}`");
                self.context.error(at, message).help(
                    "there are include, define, undef, if, ifdef, ifndef, elif, else, endif, \
                     pragma, error, warning and line",
                );
            }
        }
    }

    fn no_name(&mut self, directive: &str, at: Span) {
        let problem = self.context.error(at, "the name of a macro is missing");
        problem.help(format_args!("write `#{directive} NAME`"));
    }

    fn pragma(&mut self, file: u32, at: Span, rest: &[RawToken]) {
        let text = self.line_text(file, rest);
        if text == "once" {
            self.once.extend(self.open.last().cloned());
            return;
        }
        let span = rest.first().zip(rest.last());
        let span = span.map_or(at, |(first, last)| {
            span_of(file, first).to(span_of(file, last))
        });
        self.out.push(Token {
            kind: TokenKind::Pragma,
            text: text.into(),
            span,
            spaced: true,
            comments: None,
        });
    }

    /// The text of a directive after its name, without comments.
    fn line_text(&self, file: u32, rest: &[RawToken]) -> String {
        let tokens = rest.iter().filter(|token| token.kind != TokenKind::Comment);
        let tokens: Vec<_> = tokens.collect();
        let Some((first, last)) = tokens.first().zip(tokens.last()) else {
            return String::new();
        };
        let span = Span {
            end: last.end,
            ..span_of(file, first)
        };
        let text = self.context.sources.text(span);
        // A line can be continued by `\`.
        let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
        text.replace('\u{a0}', " ")
    }
}

const TOO_MUCH: &str = "this is more text than any type has";
const SPLIT: &str = "compile parts of it apart";

/// Tokens between two directives: arguments of a macro can stand on several lines.
#[derive(Default)]
struct Segment {
    tokens: Vec<Token>,
    /// The line of the last token.
    last_line: usize,
    /// Comments that no token follows yet, and the line where the last of them ends.
    pending: String,
    pending_end: usize,
}

impl Segment {
    fn comment(&mut self, text: String, line: usize, end: usize) {
        if let Some(token) = self.tokens.last_mut().filter(|_| self.last_line == line) {
            let comments = token.comments.get_or_insert_default();
            Rc::make_mut(comments).after = text;
            return;
        }
        if !self.pending.is_empty() && line > self.pending_end + 1 {
            self.pending.clear();
        }
        if !self.pending.is_empty() {
            self.pending.push('\n');
        }
        self.pending.push_str(&text);
        self.pending_end = end;
    }

    /// The comment that ends on the line before this one, or on it.
    fn comment_before(&mut self, line: usize) -> Option<Rc<Comments>> {
        let before = std::mem::take(&mut self.pending);
        let before = Some(before).filter(|text| !text.is_empty() && line <= self.pending_end + 1);
        let after = String::new();
        before.map(|before| Rc::new(Comments { before, after }))
    }

    /// A pragma on this line may stand between a comment and what that is about.
    fn move_comment_past(&mut self, line: usize) {
        match line <= self.pending_end + 1 {
            true => self.pending_end = line,
            false => self.pending.clear(),
        }
    }
}

fn span_of(file: u32, raw: &RawToken) -> Span {
    Span {
        file,
        start: raw.start,
        end: raw.end,
        expansion: 0,
    }
}
