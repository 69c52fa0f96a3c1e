//! The grammar of filters: from text to a tree of comparisons. Knows no type.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use super::token::{self, Token, TokenKind};
use super::{Filter, FilterError, FilterProblem};

/// A condition as it is written. Operands are words, numbers, texts and parameters.
#[derive(Debug)]
pub(super) enum Syntax<'a> {
    Comparison {
        left: Token<'a>,
        relation: Relation,
        right: Token<'a>,
    },
    Not(Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
}

/// How two values are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Like,
}

impl Relation {
    /// The same with the sides exchanged.
    pub(super) fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            same => same,
        }
    }
}

/// Reads a whole filter.
pub(super) fn parse(source: &str) -> Result<Syntax<'_>, FilterError> {
    let mut parser = Parser::new(source)?;
    let condition = parser.condition()?;
    match parser.token.kind {
        TokenKind::End => Ok(condition),
        _ if parser.is_order()? => Err(parser.error(FilterProblem::Order)),
        _ => Err(parser.unexpected("AND, OR or the end")),
    }
}

/// Reads a whole query: its condition, and the members to order by.
pub(super) fn parse_query(source: &str) -> Result<(Syntax<'_>, Vec<Token<'_>>), FilterError> {
    let mut parser = Parser::new(source)?;
    let condition = match parser.is_order()? {
        // No condition is one that always holds.
        true => Syntax::All(Vec::new()),
        false => parser.condition()?,
    };
    let order = match parser.is_order()? {
        true => parser.order()?,
        false => Vec::new(),
    };
    match parser.token.kind {
        TokenKind::End => Ok((condition, order)),
        _ if order.is_empty() => Err(parser.unexpected("AND, OR, ORDER BY or the end")),
        _ => Err(parser.unexpected("a comma or the end")),
    }
}

struct Parser<'a> {
    source: &'a str,
    /// The token to look at.
    token: Token<'a>,
    /// Where the next one begins.
    position: usize,
    depth: usize,
    comparisons: usize,
}

impl<'a> Parser<'a> {
    fn new(source: &'a str) -> Result<Self, FilterError> {
        let (token, position) = token::next(source, 0)?;
        Ok(Self {
            source,
            token,
            position,
            depth: 0,
            comparisons: 0,
        })
    }

    /// Whether ORDER BY comes next. ORDER alone may be a member.
    fn is_order(&self) -> Result<bool, FilterError> {
        let (next, _) = token::next(self.source, self.position)?;
        Ok(self.is_word("ORDER") && is_word(next, "BY"))
    }

    /// ORDER BY and its members.
    fn order(&mut self) -> Result<Vec<Token<'a>>, FilterError> {
        self.advance()?;
        self.advance()?;
        let mut members = Vec::new();
        loop {
            if members.len() == Filter::MAX_COMPARISONS {
                return Err(self.error(FilterProblem::TooManyComparisons));
            }
            if self.token.kind != TokenKind::Word {
                return Err(self.unexpected("a member"));
            }
            members.push(self.token);
            self.advance()?;
            if !self.take_sign(",")? {
                return Ok(members);
            }
        }
    }

    fn condition(&mut self) -> Result<Syntax<'a>, FilterError> {
        self.list("OR", Self::conjunction, Syntax::Any)
    }

    fn conjunction(&mut self) -> Result<Syntax<'a>, FilterError> {
        self.list("AND", Self::factor, Syntax::All)
    }

    /// One or more, with a word between.
    fn list(
        &mut self,
        word: &str,
        mut part: impl FnMut(&mut Self) -> Result<Syntax<'a>, FilterError>,
        whole: impl FnOnce(Vec<Syntax<'a>>) -> Syntax<'a>,
    ) -> Result<Syntax<'a>, FilterError> {
        let first = part(self)?;
        if !self.is_word(word) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.take_word(word)? {
            parts.push(part(self)?);
        }
        Ok(whole(parts))
    }

    fn factor(&mut self) -> Result<Syntax<'a>, FilterError> {
        if self.take_word("NOT")? {
            let inner = self.nested(Self::factor)?;
            return Ok(Syntax::Not(Box::new(inner)));
        }
        if self.take_sign("(")? {
            let inner = self.nested(Self::condition)?;
            return match self.take_sign(")")? {
                true => Ok(inner),
                false => Err(self.unexpected("AND, OR or `)`")),
            };
        }
        self.predicate()
    }

    fn nested(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<Syntax<'a>, FilterError>,
    ) -> Result<Syntax<'a>, FilterError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(FilterProblem::TooDeep));
        }
        self.depth += 1;
        let result = inner(self)?;
        self.depth -= 1;
        Ok(result)
    }

    fn predicate(&mut self) -> Result<Syntax<'a>, FilterError> {
        let left = self.operand()?;
        let negated = self.take_word("NOT")?;
        if self.take_word("BETWEEN")? {
            let low = self.operand()?;
            if !self.take_word("AND")? {
                return Err(self.unexpected("AND and the end of the range"));
            }
            let high = self.operand()?;
            let range = Syntax::All(vec![
                self.comparison(left, Relation::GreaterOrEqual, low)?,
                self.comparison(left, Relation::LessOrEqual, high)?,
            ]);
            return Ok(negate(range, negated));
        }
        if self.take_word("LIKE")? {
            let pattern = self.operand()?;
            let like = self.comparison(left, Relation::Like, pattern)?;
            return Ok(negate(like, negated));
        }
        if negated {
            return Err(self.unexpected("BETWEEN or LIKE"));
        }
        let relation = match (self.token.kind, self.token.text) {
            (TokenKind::Sign, "=") => Relation::Equal,
            (TokenKind::Sign, "<>" | "!=") => Relation::NotEqual,
            (TokenKind::Sign, "<") => Relation::Less,
            (TokenKind::Sign, "<=") => Relation::LessOrEqual,
            (TokenKind::Sign, ">") => Relation::Greater,
            (TokenKind::Sign, ">=") => Relation::GreaterOrEqual,
            _ => return Err(self.unexpected("=, <>, <, <=, >, >=, LIKE or BETWEEN")),
        };
        self.advance()?;
        let right = self.operand()?;
        self.comparison(left, relation, right)
    }

    fn comparison(
        &mut self,
        left: Token<'a>,
        relation: Relation,
        right: Token<'a>,
    ) -> Result<Syntax<'a>, FilterError> {
        self.comparisons += 1;
        if self.comparisons > Filter::MAX_COMPARISONS {
            return Err(self.error(FilterProblem::TooManyComparisons));
        }
        Ok(Syntax::Comparison {
            left,
            relation,
            right,
        })
    }

    fn operand(&mut self) -> Result<Token<'a>, FilterError> {
        let token = self.token;
        let reserved = ["AND", "OR", "NOT", "LIKE", "BETWEEN"];
        let is_reserved = reserved.iter().any(|word| self.is_word(word));
        if is_reserved || matches!(token.kind, TokenKind::Sign | TokenKind::End) {
            return Err(self.unexpected("a member or a literal"));
        }
        self.advance()?;
        Ok(token)
    }

    fn is_word(&self, word: &str) -> bool {
        is_word(self.token, word)
    }

    fn take_word(&mut self, word: &str) -> Result<bool, FilterError> {
        let found = self.is_word(word);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn take_sign(&mut self, sign: &str) -> Result<bool, FilterError> {
        let found = self.token.kind == TokenKind::Sign && self.token.text == sign;
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn advance(&mut self) -> Result<(), FilterError> {
        (self.token, self.position) = token::next(self.source, self.position)?;
        Ok(())
    }

    fn unexpected(&self, expected: &'static str) -> FilterError {
        let found = self.token.text.to_string();
        self.error(FilterProblem::Unexpected { found, expected })
    }

    fn error(&self, problem: FilterProblem) -> FilterError {
        let offset = self.token.offset;
        FilterError { offset, problem }
    }
}

fn is_word(token: Token<'_>, word: &str) -> bool {
    token.kind == TokenKind::Word && token.text.eq_ignore_ascii_case(word)
}

fn negate(syntax: Syntax<'_>, negated: bool) -> Syntax<'_> {
    match negated {
        true => Syntax::Not(Box::new(syntax)),
        false => syntax,
    }
}

/// Parentheses and NOT within each other.
const MAX_DEPTH: usize = 64;
