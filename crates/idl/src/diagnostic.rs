//! What is wrong with a text, where, and what to do about it.

use std::fmt;

use crate::source::{Sources, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The text means something, perhaps not what was meant.
    Warning,
    /// The text cannot be compiled.
    Error,
}

/// One finding, with its place and the line that it is about. `Display` is for people:
///
/// ```text
/// market.idl:4:14: error: nothing is called `Qoute` here
///   |
/// 4 |     sequence<Qoute> quotes;
///   |              ^^^^^
///   help: `Quote` is
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The file, as it was named or found.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// What else is good to know, such as the place of the other of two definitions.
    pub notes: Vec<String>,
    /// The line's text, or the part of a long one around the column.
    excerpt: String,
    /// Characters of the excerpt before the column, and those that are meant.
    marked: (usize, usize),
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file, line, column, ..
        } = self;
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        writeln!(f, "{file}:{line}:{column}: {severity}: {}", self.message)?;
        let margin = " ".repeat(line.to_string().len());
        let (before, length) = self.marked;
        // Tabs stay, so that the caret is below what it means however wide they are.
        let before = self.excerpt.chars().take(before);
        let indent: String = before.map(|c| if c == '\t' { c } else { ' ' }).collect();
        writeln!(f, "{margin} |\n{line} | {}", self.excerpt)?;
        write!(f, "{margin} | {indent}{}", "^".repeat(length))?;
        if let Some(help) = &self.help {
            write!(f, "\n{margin} help: {help}")?;
        }
        for note in &self.notes {
            write!(f, "\n{margin} note: {note}")?;
        }
        Ok(())
    }
}

/// A finding whose places are still spans.
pub(crate) struct Problem {
    severity: Severity,
    span: Span,
    message: String,
    help: Option<String>,
    notes: Vec<(String, Option<Span>)>,
}

impl Problem {
    /// Adds what to do.
    pub(crate) fn help(&mut self, help: impl fmt::Display) -> &mut Self {
        self.help = Some(help.to_string());
        self
    }

    /// Adds another place.
    pub(crate) fn note(&mut self, text: impl fmt::Display, span: Span) -> &mut Self {
        self.notes.push((text.to_string(), Some(span)));
        self
    }

    fn resolve(&self, sources: &Sources) -> Diagnostic {
        let place = |span: Span| {
            let (line, column) = sources.line_column(span);
            format!("{}:{line}:{column}", sources.file(span.file).path)
        };
        let Self { span, .. } = *self;
        let (line, column) = sources.line_column(span);
        let (excerpt, before) = excerpt(sources.line_text(span), column as usize - 1);
        let meant = sources.text(span).lines().next().unwrap_or_default();
        let rest = excerpt.chars().count().saturating_sub(before);
        let length = meant.chars().count().min(rest).max(1);
        let mut notes: Vec<String> = self
            .notes
            .iter()
            .map(|(text, span)| match span {
                Some(span) => format!("{text} at {}", place(*span)),
                None => text.clone(),
            })
            .collect();
        if let Some(expansion) = sources.expansion(span) {
            let (name, at) = (&expansion.name, place(expansion.definition));
            notes.push(format!(
                "this comes out of the macro `{name}`, defined at {at}"
            ));
        }
        let mut includer = sources.file(span.file).included_from;
        for _ in 0..MAX_INCLUDERS {
            let Some(from) = includer else { break };
            notes.push(format!("included at {}", place(from)));
            includer = sources.file(from.file).included_from;
        }
        Diagnostic {
            severity: self.severity,
            file: visible(&sources.file(span.file).path),
            line,
            column,
            message: visible(&self.message),
            help: self.help.as_deref().map(visible),
            notes: notes.iter().map(|note| visible(note)).collect(),
            excerpt,
            marked: (before, length),
        }
    }
}

/// The line, or the part of it around a column, and the column in that part.
fn excerpt(line: &str, column: usize) -> (String, usize) {
    let skipped = match line.chars().count() > MAX_EXCERPT {
        true => column.saturating_sub(MAX_EXCERPT / 2),
        false => 0,
    };
    let part = line.chars().skip(skipped).take(MAX_EXCERPT);
    let part = part.map(|char| {
        if char == '\t' {
            char
        } else {
            visible_char(char)
        }
    });
    (part.collect(), column - skipped)
}

/// A text without what would let it write over what is said of it, be read in another order, or begin a line
/// (where it is a comment of a language that has such lines).
pub(crate) fn visible(text: &str) -> String {
    text.chars().map(visible_char).collect()
}

pub(crate) fn visible_char(char: char) -> char {
    let begins_line = matches!(char, '\u{2028}' | '\u{2029}');
    let reorders = matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    match char.is_control() || begins_line || reorders {
        true => '\u{fffd}',
        false => char,
    }
}

/// All findings of a compilation: the first [`MAX_ERRORS`] errors, and as many warnings.
#[derive(Default)]
pub(crate) struct Problems {
    found: Vec<Problem>,
    errors: usize,
    warnings: usize,
    /// The last of those that are not told.
    untold: Option<Problem>,
}

impl Problems {
    pub(crate) fn error(&mut self, span: Span, message: impl fmt::Display) -> &mut Problem {
        self.errors += 1;
        self.push(Severity::Error, span, message.to_string(), self.errors)
    }

    pub(crate) fn warning(&mut self, span: Span, message: impl fmt::Display) -> &mut Problem {
        self.warnings += 1;
        self.push(Severity::Warning, span, message.to_string(), self.warnings)
    }

    fn push(
        &mut self,
        severity: Severity,
        span: Span,
        message: String,
        count: usize,
    ) -> &mut Problem {
        let problem = Problem {
            severity,
            span,
            message,
            help: None,
            notes: Vec::new(),
        };
        if count > MAX_ERRORS {
            return self.untold.insert(problem);
        }
        let index = self.found.len();
        self.found.push(problem);
        &mut self.found[index]
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether more errors are of no use.
    pub(crate) fn is_full(&self) -> bool {
        self.errors >= MAX_ERRORS
    }

    /// All in the order of their places, what is said twice of one place once.
    pub(crate) fn into_diagnostics(mut self, sources: &Sources) -> Vec<Diagnostic> {
        let place = |problem: &Problem| (problem.span.file, problem.span.start);
        self.found.sort_by_key(place);
        let found = self.found.iter();
        let mut all: Vec<Diagnostic> = found.map(|problem| problem.resolve(sources)).collect();
        all.dedup();
        all
    }
}

/// Errors, and as many warnings, that are told.
pub(crate) const MAX_ERRORS: usize = 50;
/// Characters of a line that are shown.
const MAX_EXCERPT: usize = 160;
/// Files that are named as including the one that is meant.
const MAX_INCLUDERS: usize = 3;
