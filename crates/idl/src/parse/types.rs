//! Types where they are used.

use super::{Parser, Result, Wrong};
use crate::lexer::TokenKind;
use crate::model::Primitive;
use crate::syntax::{Expression, TypeKind, TypeSpec};
use crate::token::Token;

impl Parser<'_> {
    pub(super) fn type_spec(&mut self) -> Result<TypeSpec> {
        self.nested(|parser| {
            let start = parser.peek().span;
            let kind = parser.type_kind()?;
            let span = start.to(parser.previous().span);
            Ok(TypeSpec { kind, span })
        })
    }

    fn type_kind(&mut self) -> Result<TypeKind> {
        let token = self.peek();
        if self.at_scope() {
            return Ok(TypeKind::Path(self.path()?));
        }
        if token.kind != TokenKind::Word {
            return Err(self.expected("a type"));
        }
        let primitive = match &*token.text {
            "boolean" => Primitive::Boolean,
            "octet" => Primitive::Octet,
            "char" => Primitive::Char,
            "wchar" => Primitive::WChar,
            "int8" => Primitive::Int8,
            "uint8" => Primitive::UInt8,
            "int16" | "short" => Primitive::Int16,
            "uint16" => Primitive::UInt16,
            "int32" => Primitive::Int32,
            "uint32" => Primitive::UInt32,
            "int64" => Primitive::Int64,
            "uint64" => Primitive::UInt64,
            "float" => Primitive::Float,
            "double" => Primitive::Double,
            "long" => return Ok(TypeKind::Primitive(self.long())),
            "unsigned" => return Ok(TypeKind::Primitive(self.unsigned()?)),
            "string" | "wstring" => return self.text_type(),
            "sequence" => return self.sequence(),
            "map" => return self.map(),
            _ => return self.other_type(token),
        };
        self.advance();
        Ok(TypeKind::Primitive(primitive))
    }

    fn long(&mut self) -> Primitive {
        self.advance();
        if self.take_word("long") {
            return Primitive::Int64;
        }
        match self.take_word("double") {
            true => Primitive::LongDouble,
            false => Primitive::Int32,
        }
    }

    fn unsigned(&mut self) -> Result<Primitive> {
        self.advance();
        if self.take_word("short") {
            return Ok(Primitive::UInt16);
        }
        if !self.take_word("long") {
            let help = "there are unsigned short, unsigned long and unsigned long long; \
                        eight bits are uint8 or octet";
            return Err(self.expected_with_help("`short` or `long`", help));
        }
        Ok(match self.take_word("long") {
            true => Primitive::UInt64,
            false => Primitive::UInt32,
        })
    }

    fn text_type(&mut self) -> Result<TypeKind> {
        let wide = &*self.advance().text == "wstring";
        let bound = match self.take('<') {
            true => {
                let bound = self.in_template(Self::expression)?;
                self.expect('>')?;
                Some(bound)
            }
            false => None,
        };
        Ok(TypeKind::Text { wide, bound })
    }

    fn sequence(&mut self) -> Result<TypeKind> {
        self.advance();
        self.expect('<')?;
        let (element, bound) = self.in_template(|parser| {
            let element = parser.element()?;
            Ok((element, parser.bound()?))
        })?;
        self.expect('>')?;
        Ok(TypeKind::Sequence(Box::new(element), bound))
    }

    fn map(&mut self) -> Result<TypeKind> {
        self.advance();
        self.expect('<')?;
        let (key, value, bound) = self.in_template(|parser| {
            let key = parser.element()?;
            parser.expect(',')?;
            let value = parser.element()?;
            Ok((key, value, parser.bound()?))
        })?;
        self.expect('>')?;
        Ok(TypeKind::Map(Box::new(key), Box::new(value), bound))
    }

    fn element(&mut self) -> Result<TypeSpec> {
        if self.at('@') {
            let token = self.peek();
            let problem = self.error(token, "annotations of elements are not supported");
            problem.help("write it before the member");
            return Err(Wrong);
        }
        self.type_spec()
    }

    fn bound(&mut self) -> Result<Option<Expression>> {
        match self.take(',') {
            true => self.expression().map(Some),
            false => Ok(None),
        }
    }

    /// Calls `inner` where `>` ends what is being read.
    pub(super) fn in_template<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = std::mem::replace(&mut self.in_template, true);
        let result = inner(self);
        self.in_template = before;
        result
    }

    /// A name, or what is refused.
    fn other_type(&mut self, token: &Token) -> Result<TypeKind> {
        let instead = match &*token.text {
            "struct" | "union" | "enum" | "bitmask" | "bitset" => {
                return self.no_inner_type(&token.text).map(|spec| spec.kind);
            }
            "any" => "write a union of what there can be, or `sequence<octet>`",
            "fixed" => {
                "write a struct of a mantissa and an exponent (int64 mantissa; int32 exponent;), \
                 or a string"
            }
            "Object" | "ValueBase" | "valuetype" => "write a struct",
            _ => return Ok(TypeKind::Path(self.path()?)),
        };
        let message = format!("`{}` is not supported", token.text);
        self.error(token, message).help(instead);
        Err(Wrong)
    }
}
