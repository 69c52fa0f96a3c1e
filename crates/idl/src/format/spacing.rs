//! Between which tokens a space or a line break stands.

use crate::lexer::{RawToken, TokenKind};

/// What came so far of a statement: a member, a definition up to its `{`, a literal.
#[derive(Clone, Default)]
pub(super) struct Spacing<'t> {
    /// The last token, and its text.
    last: Option<(TokenKind, &'t str)>,
    /// What it was beyond that.
    role: Role,
    /// `(`, `[` and the `<` of types that are open.
    open: Vec<char>,
    /// The first word that belongs to no annotation.
    word: Option<&'t str>,
    /// How many of `open` are around the annotation that is being read.
    annotation: Option<usize>,
    /// Whether a `case` or `default` waits for its colon.
    in_label: bool,
    /// Whether labels came, and nothing behind them.
    after_label: bool,
    /// Whether a line ends behind the last token.
    pub(super) ends_line: bool,
    /// Whether the last token was `{`.
    pub(super) opened: bool,
    /// Whether what `{` opened has literals, which commas part.
    pub(super) opens_list: bool,
}

/// What a token of punctuation is.
#[derive(Clone, Copy, Default, PartialEq)]
enum Role {
    #[default]
    Plain,
    /// The first of two characters that are one operator.
    First,
    /// The second one of `::`.
    Scope,
    /// `<` of a type.
    Open,
    /// `>` of a type.
    Close,
    /// An operator before its only operand.
    Unary,
    /// An operator between two.
    Binary,
    /// The `:` of a label.
    Label,
}

impl<'t> Spacing<'t> {
    /// Takes a token; whether a space is before it on its line. `next` is the token that follows
    /// without a space.
    pub(super) fn take(
        &mut self,
        token: &RawToken,
        text: &'t str,
        next: Option<TokenKind>,
        in_list: bool,
    ) -> bool {
        let role = self.role_of(token, next);
        let space = self.space(token, text, role);
        self.advance(token.kind, text, role, in_list);
        space
    }

    fn char(&self) -> Option<char> {
        match self.last {
            Some((TokenKind::Punctuation(char), _)) => Some(char),
            _ => None,
        }
    }

    fn role_of(&self, token: &RawToken, next: Option<TokenKind>) -> Role {
        let TokenKind::Punctuation(char) = token.kind else {
            return Role::Plain;
        };
        let doubled = next == Some(token.kind);
        let second = self.role == Role::First && self.char() == Some(char) && !token.spaced;
        match char {
            ':' if second => Role::Scope,
            ':' if doubled => Role::First,
            ':' if self.in_label => Role::Label,
            '<' if second => Role::Binary,
            '<' if self.is_template() => Role::Open,
            '<' if doubled => Role::First,
            '>' if self.open.last() == Some(&'<') => Role::Close,
            '>' if second => Role::Binary,
            '>' if doubled => Role::First,
            '+' | '-' | '~' if self.expects_operand() => Role::Unary,
            '+' | '-' | '*' | '/' | '%' | '|' | '&' | '^' | '=' => Role::Binary,
            _ => Role::Plain,
        }
    }

    /// Whether `<` is that of a type.
    fn is_template(&self) -> bool {
        let word = self.last.map_or("", |(_, text)| text);
        ["sequence", "map", "string", "wstring", "bitfield", "fixed"].contains(&word)
    }

    /// Whether a value comes next.
    fn expects_operand(&self) -> bool {
        match self.last {
            None => true,
            Some((TokenKind::Word, word)) => ["case", "default"].contains(&word),
            Some((TokenKind::Punctuation(char), _)) => match self.role {
                Role::Close => false,
                Role::Plain => !matches!(char, ')' | ']' | '}'),
                _ => true,
            },
            _ => false,
        }
    }

    fn space(&self, token: &RawToken, text: &str, role: Role) -> bool {
        let Some((kind, last)) = self.last else {
            return true;
        };
        let before = self.char();
        // What is close to what is before it.
        match (token.kind, role) {
            (TokenKind::Punctuation(';' | ',' | ')' | ']' | '['), _) => return false,
            (_, Role::Scope | Role::Open | Role::Label) => return false,
            // Older compilers take `>>` for one operator.
            (_, Role::Close) => return self.role == Role::Close && token.spaced,
            _ if self.role == Role::First => return false,
            (_, Role::First) if text == ":" && kind == TokenKind::Word => return token.spaced,
            _ => {}
        }
        // What keeps close what is behind it.
        match (before, self.role) {
            (_, Role::Scope | Role::Open | Role::Unary) => return false,
            (Some('(' | '[' | '@'), _) => return false,
            _ => {}
        }
        match (kind, token.kind) {
            (TokenKind::Word, TokenKind::Punctuation('(')) => {
                self.annotation.is_none() && ["switch", "raises"].contains(&last)
            }
            (_, TokenKind::Punctuation(char)) if !KNOWN.contains(char) => token.spaced,
            (TokenKind::Punctuation(char), _) if !KNOWN.contains(char) => token.spaced,
            _ => true,
        }
    }

    fn advance(&mut self, kind: TokenKind, text: &'t str, role: Role, in_list: bool) {
        self.end_annotation(kind, role);
        let is_outside = self.open.is_empty() && self.annotation.is_none();
        let was_closed = self.char() == Some('}');
        self.opened = false;
        self.ends_line = false;
        if !(self.in_label || role == Role::Label) {
            self.after_label = false;
        }
        match kind {
            TokenKind::Word if is_outside => {
                if self.word.is_none() && ["case", "default"].contains(&text) {
                    self.in_label = true;
                } else if !self.in_label {
                    self.word = self.word.or(Some(text));
                }
            }
            TokenKind::Punctuation('@') if is_outside => self.annotation = Some(self.open.len()),
            TokenKind::Punctuation(char @ ('(' | '[')) => self.open.push(char),
            TokenKind::Punctuation('<') if role == Role::Open => self.open.push('<'),
            TokenKind::Punctuation(')' | ']') => drop(self.open.pop()),
            TokenKind::Punctuation('>') if role == Role::Close => drop(self.open.pop()),
            TokenKind::Punctuation(':') if role == Role::Label => {
                (self.in_label, self.after_label) = (false, true);
            }
            TokenKind::Punctuation(char @ ('{' | '}' | ';')) => {
                let opens_list = char == '{' && self.word.is_some_and(|word| LISTS.contains(&word));
                *self = Self {
                    opens_list,
                    opened: char == '{',
                    ends_line: char != '}',
                    ..Self::default()
                };
            }
            TokenKind::Punctuation(',') if is_outside && in_list => {
                *self = Self {
                    ends_line: true,
                    ..Self::default()
                };
            }
            _ if was_closed => self.word = self.word.or(Some("}")),
            _ => {}
        }
        if self.open.len() > MAX_OPEN {
            self.open.clear();
        }
        self.last = Some((kind, text));
        self.role = role;
    }

    /// An annotation goes on as long as its name does, or in its parentheses.
    fn end_annotation(&mut self, kind: TokenKind, role: Role) {
        let Some(around) = self.annotation else {
            return;
        };
        let is_name = self.char() == Some('@') || self.role == Role::Scope;
        let goes_on = self.open.len() > around
            || is_name && kind == TokenKind::Word
            || matches!(role, Role::First | Role::Scope)
            || kind == TokenKind::Punctuation('(') && self.char() != Some(')');
        if !goes_on {
            self.annotation = None;
        }
    }

    /// Whether a line may end before a token, of which this is the punctuation.
    pub(super) fn may_break(&self, char: Option<char>) -> bool {
        let is_close = matches!(
            char,
            Some(';' | ',' | ')' | ']' | '(' | '[' | '<' | '>' | ':')
        );
        let keeps = matches!(self.char(), Some('@' | '}'))
            || matches!(self.role, Role::Scope | Role::First | Role::Unary);
        !is_close && !keeps
    }

    /// How much deeper than its braces a line begins, of which this is the first word.
    pub(super) fn depth(&self, text: &str) -> usize {
        let is_label = ["case", "default"].contains(&text);
        if ["{", ",", ";"].contains(&text) {
            return 0;
        }
        if self.last.is_none() || self.ends_line || self.char() == Some('}') {
            return 0;
        }
        if self.after_label {
            return usize::from(!is_label);
        }
        // Annotations stand above what they are about.
        let is_beginning = self.word.is_none() && self.open.is_empty() && !self.in_label;
        match is_beginning {
            true => 0,
            false => 2,
        }
    }
}

/// Definitions of literals, which commas part.
const LISTS: &[&str] = &["enum", "bitmask"];
/// Punctuation of IDL.
const KNOWN: &str = "{}()[]<>;,:=@+-*/%|&^~";
/// Parentheses that are counted.
const MAX_OPEN: usize = 256;
