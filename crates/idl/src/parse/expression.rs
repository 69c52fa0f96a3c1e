//! Constant expressions (IDL 4.2 §7.4.1.4.3).

use super::{Parser, Result, Wrong};
use crate::lexer::TokenKind;
use crate::limits;
use crate::literal;
use crate::syntax::{Expression, ExpressionKind};
use crate::token::Token;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Result<Expression> {
        let mut operators = 0;
        self.binary(0, &mut operators)
    }

    /// Operators that bind at least as closely as those of this level.
    fn binary(&mut self, level: usize, operators: &mut usize) -> Result<Expression> {
        let Some(own) = OPERATORS.get(level) else {
            return self.unary(operators);
        };
        let mut left = self.binary(level + 1, operators)?;
        while let Some(operator) = self.operator(own) {
            *operators += 1;
            if *operators > limits::OPERATORS {
                let problem = self.context.error(left.span, "this is too long");
                problem.help("put parts of it into constants");
                return Err(Wrong);
            }
            let right = self.binary(level + 1, operators)?;
            let span = left.span.to(right.span);
            let kind = ExpressionKind::Binary(operator, Box::new(left), Box::new(right));
            left = Expression { kind, span };
        }
        Ok(left)
    }

    /// Takes the next token if it is one of these operators.
    fn operator(&mut self, own: &str) -> Option<char> {
        let token = self.peek();
        let TokenKind::Punctuation(char) = token.kind else {
            return None;
        };
        if !own.contains(char) {
            return None;
        }
        if matches!(char, '<' | '>') {
            let second = self.peek_second();
            let is_shift = second.is(char) && !second.spaced;
            if !is_shift || char == '>' && self.in_template {
                return None;
            }
            self.advance();
        }
        self.advance();
        Some(char)
    }

    fn unary(&mut self, operators: &mut usize) -> Result<Expression> {
        let token = self.peek();
        match token.kind {
            TokenKind::Punctuation(operator @ ('-' | '+' | '~')) => {
                self.advance();
                let inner = self.nested(|parser| parser.unary(operators))?;
                let span = token.span.to(inner.span);
                let kind = ExpressionKind::Unary(operator, Box::new(inner));
                Ok(Expression { kind, span })
            }
            TokenKind::Punctuation('(') => {
                self.advance();
                let before = std::mem::replace(&mut self.in_template, false);
                let inner = self.nested(|parser| parser.binary(0, operators));
                self.in_template = before;
                let inner = inner?;
                self.expect(')')?;
                Ok(inner)
            }
            _ => self.primary(token),
        }
    }

    fn primary(&mut self, token: &Token) -> Result<Expression> {
        let kind = match token.kind {
            TokenKind::Number => self.number(token)?,
            TokenKind::Char { wide } => {
                let text = self.characters(token, wide)?;
                let mut chars = text.chars();
                let (Some(value), None) = (chars.next(), chars.next()) else {
                    let problem = self.error(token, "this is not one character");
                    problem.help("strings stand between `\"`");
                    return Err(Wrong);
                };
                ExpressionKind::Char(value)
            }
            TokenKind::Text { wide } => return self.text(token, wide),
            TokenKind::Word if &*token.text == "TRUE" => ExpressionKind::Bool(true),
            TokenKind::Word if &*token.text == "FALSE" => ExpressionKind::Bool(false),
            _ if token.kind == TokenKind::Word || self.at_scope() => {
                let path = self.path()?;
                let span = path.span;
                let kind = ExpressionKind::Path(path);
                return Ok(Expression { kind, span });
            }
            _ => return Err(self.expected_with_help("a value", VALUES)),
        };
        self.advance();
        let span = token.span;
        Ok(Expression { kind, span })
    }

    fn number(&mut self, token: &Token) -> Result<ExpressionKind> {
        let text = &*token.text;
        if let Some(value) = literal::integer(text) {
            return Ok(ExpressionKind::Integer(value));
        }
        let is_float = text.contains(['.', 'e', 'E']) && !text.starts_with("0x");
        match literal::float(text).filter(|value| is_float && value.is_finite()) {
            Some(value) => Ok(ExpressionKind::Float(value)),
            None if literal::float(text).is_some_and(f64::is_infinite) => {
                let problem = self.error(token, "this is beyond double");
                problem.help("numbers with a point are up to 1.79e308");
                Err(Wrong)
            }
            None => {
                let problem = self.error(token, "this is no number");
                let help = match text.ends_with(['d', 'D']) {
                    true => "fixed-point numbers are not supported: write one without the `d`",
                    false => "numbers are 10, 012 (octal), 0xA, 1.5 or 1.5e3, without a suffix",
                };
                problem.help(help);
                Err(Wrong)
            }
        }
    }

    /// A string; those beside each other are one.
    fn text(&mut self, first: &Token, wide: bool) -> Result<Expression> {
        let mut value = String::new();
        while let TokenKind::Text { wide: other } = self.peek().kind {
            let token = self.advance();
            if other != wide {
                let problem = self.error(token, "strings of two kinds stand beside each other");
                problem.help("write `L` before all of them, or before none");
                return Err(Wrong);
            }
            value.push_str(&self.characters(token, wide)?);
        }
        let span = first.span.to(self.previous().span);
        let kind = ExpressionKind::Text(value);
        Ok(Expression { kind, span })
    }

    fn characters(&mut self, token: &Token, wide: bool) -> Result<String> {
        literal::characters(&token.text, wide).map_err(|what| {
            let problem = self.error(token, what);
            problem.help(
                "there are \\n \\t \\v \\b \\r \\f \\a \\\\ \\? \\' \\\", \\ with octal digits, \
                 \\x with hexadecimal ones, and \\u with four in wide literals",
            );
            Wrong
        })
    }
}

/// Those that bind least first.
const OPERATORS: &[&str] = &["|", "^", "&", "<>", "+-", "*/%"];
const VALUES: &str =
    "there are numbers, TRUE and FALSE, characters, strings, and names of constants";
