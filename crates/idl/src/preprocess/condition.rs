//! What stands after `#if`.

use super::Preprocessor;
use crate::lexer::{RawToken, TokenKind};
use crate::limits;
use crate::literal;
use crate::source::Span;
use crate::token::Token;

impl Preprocessor<'_> {
    /// Whether the part after `#if`, `#ifdef` or `#ifndef` is taken.
    pub(super) fn condition(
        &mut self,
        directive: &str,
        at: Span,
        file: u32,
        rest: &[RawToken],
    ) -> bool {
        let tokens = self.tokens(file, rest);
        if directive != "if" {
            let Some(name) = tokens.first() else {
                self.no_name(directive, at);
                return false;
            };
            return self.is_defined(&name.text) == (directive == "ifdef");
        }
        let tokens = self.replace_defined(tokens);
        let tokens = self.expand(tokens);
        let mut parser = Condition {
            tokens: &tokens,
            at: 0,
            depth: 0,
        };
        let message = match parser.choice() {
            Ok(Some(value)) if parser.at == tokens.len() => return value != 0,
            Ok(None) if parser.at == tokens.len() => "this divides by zero",
            _ => "this is no condition",
        };
        let wrong = tokens.get(parser.at).map_or(at, |token| token.span);
        let problem = self.context.error(wrong, message);
        problem.help("write whole numbers, macros, `defined(NAME)` and operators of C");
        false
    }

    /// `defined NAME` and `defined(NAME)` as numbers.
    fn replace_defined(&self, tokens: Vec<Token>) -> Vec<Token> {
        let mut out = Vec::new();
        let mut rest = tokens.as_slice();
        while let Some((token, after)) = rest.split_first() {
            let (name, after) = match after {
                _ if !token.is_word("defined") => (None, after),
                [open, name, close, after @ ..] if open.is('(') && close.is(')') => {
                    (Some(name), after)
                }
                [name, after @ ..] if name.kind == TokenKind::Word => (Some(name), after),
                _ => (None, after),
            };
            let mut token = token.clone();
            if let Some(name) = name {
                token.kind = TokenKind::Number;
                let is_defined = self.is_defined(&name.text);
                token.text = if is_defined { "1" } else { "0" }.into();
            }
            out.push(token);
            rest = after;
        }
        out
    }
}

/// This is no expression.
struct Wrong;

/// A condition, evaluated while it is parsed. What divides by zero has no value, which does not
/// matter where C would not evaluate it: behind `0 &&`, and on the other side of `? :`.
struct Condition<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

impl Condition<'_> {
    fn choice(&mut self) -> Result<Option<i64>, Wrong> {
        self.depth += 1;
        if self.depth > limits::NESTING {
            return Err(Wrong);
        }
        let condition = self.binary(0)?;
        let value = match self.take("?") {
            false => condition,
            true => {
                let yes = self.choice()?;
                if !self.take(":") {
                    return Err(Wrong);
                }
                let no = self.choice()?;
                condition.and_then(|condition| if condition != 0 { yes } else { no })
            }
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Operators that bind at least as closely as those of this level.
    fn binary(&mut self, level: usize) -> Result<Option<i64>, Wrong> {
        let Some(operators) = OPERATORS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.take(operator)) {
            let right = self.binary(level + 1)?;
            left = match (*operator, left) {
                ("&&", Some(0)) => Some(0),
                ("||", Some(left)) if left != 0 => Some(1),
                _ => left.zip(right).and_then(|(a, b)| apply(operator, a, b)),
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Option<i64>, Wrong> {
        let Some(token) = self.tokens.get(self.at) else {
            return Err(Wrong);
        };
        self.at += 1;
        match token.kind {
            TokenKind::Number => {
                let digits = token.text.trim_end_matches(['u', 'U', 'l', 'L']);
                let value = literal::integer(digits).ok_or(Wrong)?;
                Ok(Some(value as i64))
            }
            TokenKind::Word => Ok(Some(0)),
            TokenKind::Punctuation('(') => {
                let value = self.choice()?;
                if self.take(")") {
                    Ok(value)
                } else {
                    Err(Wrong)
                }
            }
            TokenKind::Punctuation(operator @ ('!' | '~' | '-' | '+')) => {
                self.depth += 1;
                if self.depth > limits::NESTING {
                    return Err(Wrong);
                }
                let value = self.unary()?;
                self.depth -= 1;
                Ok(value.map(|value| match operator {
                    '!' => i64::from(value == 0),
                    '~' => !value,
                    '-' => value.wrapping_neg(),
                    _ => value,
                }))
            }
            _ => Err(Wrong),
        }
    }

    /// Takes an operator if it comes next, and no longer one begins there.
    fn take(&mut self, operator: &str) -> bool {
        let next = |index: usize| {
            let token = self.tokens.get(self.at + index);
            token.filter(|token| index == 0 || !token.spaced)
        };
        let is_here = operator
            .chars()
            .enumerate()
            .all(|(index, char)| next(index).is_some_and(|token| token.is(char)));
        let length = operator.chars().count();
        let longer = length == 1
            && next(1).is_some_and(|after| match operator {
                "&" | "|" | "<" | ">" if next(0).is_some_and(|t| t.kind == after.kind) => true,
                "<" | ">" => after.is('='),
                "!" | "=" => after.is('='),
                _ => false,
            });
        if is_here && !longer {
            self.at += length;
        }
        is_here && !longer
    }
}

fn apply(operator: &str, a: i64, b: i64) -> Option<i64> {
    Some(match operator {
        "||" => i64::from(a != 0 || b != 0),
        "&&" => i64::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => i64::from(a == b),
        "!=" => i64::from(a != b),
        "<=" => i64::from(a <= b),
        ">=" => i64::from(a >= b),
        "<" => i64::from(a < b),
        ">" => i64::from(a > b),
        "<<" => a.wrapping_shl(b as u32),
        ">>" => a.wrapping_shr(b as u32),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" => a.checked_div(b)?,
        _ => a.checked_rem(b)?,
    })
}

/// Those that bind least first.
const OPERATORS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];
