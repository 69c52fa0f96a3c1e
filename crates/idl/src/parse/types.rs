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
            let help = "write `unsigned long` for 32 bits; there are unsigned short and unsigned \
                        long long, too, and eight bits are uint8 or octet";
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
                if self.at('>') {
                    let help = "write `string<BOUND>`, or `string` without a bound";
                    return Err(self.expected_with_help("a bound", help));
                }
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
        self.expect_in_form('<', SEQUENCE)?;
        let (element, bound) = self.in_template(|parser| {
            let element = parser.element(SEQUENCE)?;
            Ok((element, parser.bound()?))
        })?;
        self.expect_in_form('>', SEQUENCE)?;
        Ok(TypeKind::Sequence(Box::new(element), bound))
    }

    fn map(&mut self) -> Result<TypeKind> {
        self.advance();
        self.expect_in_form('<', MAP)?;
        let (key, value, bound) = self.in_template(|parser| {
            let key = parser.element(MAP)?;
            parser.expect_in_form(',', MAP)?;
            let value = parser.element(MAP)?;
            Ok((key, value, parser.bound()?))
        })?;
        self.expect_in_form('>', MAP)?;
        Ok(TypeKind::Map(Box::new(key), Box::new(value), bound))
    }

    /// Takes a character of a type whose form is told if it is not there.
    fn expect_in_form(&mut self, char: char, form: &str) -> Result<()> {
        if self.take(char) {
            return Ok(());
        }
        Err(self.expected_with_help(format_args!("`{char}`"), form))
    }

    fn element(&mut self, form: &str) -> Result<TypeSpec> {
        if self.at('>') {
            return Err(self.expected_with_help("a type", form));
        }
        if self.at('@') {
            let token = self.peek();
            let problem = self.error(token, "annotations of elements are not supported");
            problem.help("remove it; one before the member is of the member alone");
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
            _ => {
                self.no_modifier(token)?;
                self.no_type_of_cpp(token)?;
                return Ok(TypeKind::Path(self.path()?));
            }
        };
        let message = format!("`{}` is not supported", token.text);
        self.error(token, message).help(instead);
        Err(Wrong)
    }

    /// Refuses a word of other languages before a type. It may be the name of a type, behind which there is one name.
    fn no_modifier(&mut self, token: &Token) -> Result<()> {
        if !MODIFIERS.contains(&&*token.text) {
            return Ok(());
        }
        let second = self.peek_second();
        let is_before_type = second.kind == TokenKind::Word
            && (is_primitive(&second.text) || self.peek_at(2).kind == TokenKind::Word);
        if !is_before_type && &*token.text != "const" {
            return Ok(());
        }
        let message = format!("`{}` does not belong here", token.text);
        let problem = self.error(token, message);
        problem.help(match &*token.text {
            "signed" => "remove it: `short`, `long` and `long long` have a sign",
            _ => "remove it: a member is a type and a name",
        });
        Err(Wrong)
    }

    /// Refuses `std::string` and the like, of which IDL has its own.
    fn no_type_of_cpp(&mut self, token: &Token) -> Result<()> {
        let second = self.peek_second();
        let at = match token.is_word("std") && second.is(':') {
            true => 3,
            false => 0,
        };
        let (named, is_template) = (self.peek_at(at), self.peek_at(at + 1).is('<'));
        let instead = match &*named.text {
            // Without `std::` they may be names of types.
            "string" | "string_view" if at > 0 => "string",
            "wstring" | "u16string" if at > 0 => "wstring",
            "vector" | "list" | "deque" | "set" | "List" | "Vec" if is_template => "sequence<TYPE>",
            "map" | "unordered_map" | "Map" if is_template => "map<KEY, VALUE>",
            "array" if is_template => "TYPE name[COUNT]",
            "optional" if is_template => "@optional TYPE name",
            _ => return Ok(()),
        };
        let place = token.span.to(named.span);
        let message = format!("`{}` is no type of IDL", self.context.sources.text(place));
        let problem = self.context.error(place, message);
        problem.help(format_args!("write `{instead}`"));
        Err(Wrong)
    }
}

/// Whether a word is of the name of a primitive.
pub(super) fn is_primitive(word: &str) -> bool {
    PRIMITIVES.contains(&word)
}

const PRIMITIVES: &[&str] = &[
    "boolean", "char", "double", "float", "int16", "int32", "int64", "int8", "long", "octet",
    "short", "string", "uint16", "uint32", "uint64", "uint8", "unsigned", "wchar", "wstring",
];

const MODIFIERS: &[&str] = &[
    "const",
    "inline",
    "mutable",
    "private",
    "protected",
    "public",
    "signed",
    "static",
    "virtual",
    "volatile",
];

const SEQUENCE: &str = "write `sequence<TYPE>`, or `sequence<TYPE, BOUND>`";
const MAP: &str = "write `map<KEY, VALUE>`, or `map<KEY, VALUE, BOUND>`";
