//! Definitions, by the word that they begin with.

use super::{Parser, Result, Wrong};
use crate::lexer::TokenKind;
use crate::syntax::{Declarator, Definition, DefinitionKind, Head, Name, TypeSpec};
use crate::token::Token;

impl Parser<'_> {
    /// One definition; nothing for an empty one.
    pub(super) fn definition(&mut self) -> Result<Option<Definition>> {
        if self.at(';') {
            let token = self.advance();
            let problem = self
                .context
                .problems
                .warning(token.span, "this `;` ends nothing");
            problem.help("remove it");
            return Ok(None);
        }
        if self.at('@') && self.peek_second().is_word("annotation") {
            return self.annotation_definition().map(Some);
        }
        let head = self.head()?;
        self.definition_of(head).map(Some)
    }

    /// What is defined behind these annotations.
    pub(super) fn definition_of(&mut self, mut head: Head) -> Result<Definition> {
        let token = self.peek();
        if token.kind != TokenKind::Word {
            return Err(self.expected_with_help("a definition", EXPECTED));
        }
        let kind = match &*token.text {
            "module" => self.module()?,
            "const" => self.constant(&mut head)?,
            "typedef" => self.typedef(&mut head)?,
            "struct" => self.structure()?,
            "union" => self.union()?,
            "enum" => self.enumeration()?,
            "bitmask" => self.bitmask()?,
            "bitset" => self.bitset()?,
            "exception" => self.exception()?,
            "interface" | "local" | "abstract" => self.interface()?,
            _ => return Err(self.no_definition(token)),
        };
        Ok(Definition { head, kind })
    }

    fn no_definition(&mut self, token: &Token) -> Wrong {
        let instead = match &*token.text {
            "valuetype" | "eventtype" | "custom" => "write a struct: it can have a base, too",
            "native" => "write a struct of what is in it, or `sequence<octet>`",
            "component" | "home" | "porttype" | "connector" => {
                "write an interface for what it does, and structs for what it publishes"
            }
            "import" => "write `#include` of the file",
            "typeid" | "typeprefix" => "remove it: types have the names of their modules",
            _ => {
                let mut near = DEFINITIONS.iter();
                let near = near.find(|word| is_near(word, &token.text));
                return match near {
                    Some(word) => {
                        self.expected_with_help("a definition", format_args!("is `{word}` meant?"))
                    }
                    None => self.expected_with_help("a definition", EXPECTED),
                };
            }
        };
        let message = format!("`{}` is not supported", token.text);
        self.error(token, message).help(instead);
        Wrong
    }

    fn module(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let name = self.name()?;
        let open = self.expect('{')?.span;
        let mut definitions = Vec::new();
        self.nested(|parser| {
            parser.definitions(&mut definitions);
            Ok(())
        })?;
        if !self.at('}') {
            if self.context.problems.is_full() {
                return Err(Wrong);
            }
            let end = self.peek();
            let problem = self.error(end, "the text ends where `}` is expected");
            problem.note(format_args!("it closes the module `{}`", name.text), open);
            return Ok(DefinitionKind::Module(name, definitions));
        }
        self.advance();
        self.end_of("a module");
        Ok(DefinitionKind::Module(name, definitions))
    }

    fn constant(&mut self, head: &mut Head) -> Result<DefinitionKind> {
        self.advance();
        let ty = self.type_spec()?;
        let name = self.name()?;
        self.expect('=')?;
        let value = self.expression()?;
        let doc = self.end_of("a constant");
        head.doc = head.doc.take().or(doc);
        Ok(DefinitionKind::Const(ty, name, value))
    }

    fn typedef(&mut self, head: &mut Head) -> Result<DefinitionKind> {
        self.advance();
        let ty = self.type_spec()?;
        let declarators = self.declarators()?;
        let doc = self.end_of("a typedef");
        head.doc = head.doc.take().or(doc);
        Ok(DefinitionKind::Typedef(ty, declarators))
    }

    fn exception(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let name = self.name()?;
        let members = self.members()?;
        self.end_of("an exception");
        Ok(DefinitionKind::Exception(name, members))
    }

    /// `a, b[2]`
    pub(super) fn declarators(&mut self) -> Result<Vec<Declarator>> {
        let mut all = vec![self.declarator()?];
        while self.take(',') {
            all.push(self.declarator()?);
        }
        Ok(all)
    }

    pub(super) fn declarator(&mut self) -> Result<Declarator> {
        let help = match self.peek().kind {
            TokenKind::Punctuation('[') => "write the dimensions behind the name: `TYPE name[3]`",
            TokenKind::Punctuation('*' | '&') => {
                "IDL has no pointers: write `string` for text, `sequence<TYPE>` for many, \
                 `@optional` or `@external` before the member"
            }
            TokenKind::Punctuation('<') => {
                "there are sequence<TYPE>, map<KEY, VALUE> and string<BOUND>"
            }
            _ => "write `TYPE name;`",
        };
        if self.peek().kind != TokenKind::Word {
            return Err(self.expected_with_help("a name", help));
        }
        let name = self.name()?;
        let mut dimensions = Vec::new();
        while self.take('[') {
            dimensions.push(self.expression()?);
            self.expect(']')?;
        }
        Ok(Declarator { name, dimensions })
    }

    /// Says that a member is given no value by `=`, and goes on behind it.
    pub(super) fn no_value(&mut self) -> Result<()> {
        if !self.at('=') {
            return Ok(());
        }
        let equals = self.advance();
        let value = self.expression()?;
        let text = self.context.sources.text(value.span).trim().to_owned();
        let problem = self.error(equals, "members are given no value by `=`");
        problem.help(format_args!("write `@default({text})` before the member"));
        Ok(())
    }

    /// `a, b`
    pub(super) fn names(&mut self) -> Result<Vec<Name>> {
        let mut all = vec![self.name()?];
        while self.take(',') {
            all.push(self.name()?);
        }
        Ok(all)
    }

    /// Says that a type cannot be defined where it is used.
    pub(super) fn no_inner_type(&mut self, keyword: &str) -> Result<TypeSpec> {
        let token = self.peek();
        let message = format!("`{keyword}` cannot be defined where it is used");
        let problem = self.error(token, message);
        problem.help("define it before, and write its name here");
        Err(Wrong)
    }
}

/// Whether a definition begins with this.
pub(super) fn begins(token: &Token) -> bool {
    token.kind == TokenKind::Word && DEFINITIONS.contains(&&*token.text)
}

/// Whether two words differ in one letter, or in the order of two.
fn is_near(word: &str, other: &str) -> bool {
    let (word, other) = (word.as_bytes(), other.as_bytes());
    let same = word.iter().zip(other).take_while(|(a, b)| a == b).count();
    let rest = |bytes: &[u8], from: usize| bytes.get(from..).unwrap_or_default().to_vec();
    let swapped = |bytes: &[u8]| {
        let mut rest = rest(bytes, same);
        if rest.len() >= 2 {
            rest.swap(0, 1);
        }
        rest
    };
    rest(word, same + 1) == rest(other, same + 1)
        || rest(word, same) == rest(other, same + 1)
        || rest(word, same + 1) == rest(other, same)
        || rest(word, same) == swapped(other)
}

const DEFINITIONS: &[&str] = &[
    "module",
    "const",
    "typedef",
    "struct",
    "union",
    "enum",
    "bitmask",
    "bitset",
    "exception",
    "interface",
];
const EXPECTED: &str = "there are module, const, typedef, struct, union, enum, bitmask, bitset, \
                        interface, exception and @annotation";
