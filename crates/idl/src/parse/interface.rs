//! Interfaces and what they export.

use super::{Parser, Result};
use crate::model::Direction;
use crate::syntax::{Attribute, DefinitionKind, Export, Head, Operation};

impl Parser<'_> {
    pub(super) fn interface(&mut self) -> Result<DefinitionKind> {
        // `local` and `abstract` tell where an object lives, which is nothing to a service.
        if self.at_word("local") || self.at_word("abstract") {
            self.advance();
        }
        if !self.take_word("interface") {
            return Err(self.expected("`interface`"));
        }
        let name = self.name()?;
        if self.take(';') {
            return Ok(DefinitionKind::InterfaceAhead(name));
        }
        let mut bases = Vec::new();
        if self.take(':') {
            bases.push(self.path()?);
            while self.take(',') {
                bases.push(self.path()?);
            }
        }
        let mut exports = Vec::new();
        self.nested(|parser| {
            parser.braces(|parser| {
                exports.push(parser.export()?);
                Ok(())
            })
        })?;
        self.end_of("an interface");
        Ok(DefinitionKind::Interface {
            name,
            bases,
            exports,
        })
    }

    fn export(&mut self) -> Result<Export> {
        let mut head = self.head()?;
        if DEFINITIONS.contains(&&*self.peek().text) {
            return Ok(Export::Definition(self.definition_of(head)?));
        }
        if self.at_word("readonly") || self.at_word("attribute") {
            return self.attribute(head).map(Export::Attribute);
        }
        let oneway = self.take_word("oneway");
        let result = match self.take_word("void") {
            true => None,
            false => Some(self.type_spec()?),
        };
        let name = self.name()?;
        self.expect('(')?;
        let mut parameters = Vec::new();
        while !self.at(')') {
            let annotations = self.head()?.annotations;
            let direction = match &*self.peek().text {
                "in" => Direction::In,
                "out" => Direction::Out,
                "inout" => Direction::InOut,
                _ => return Err(self.expected("`in`, `out` or `inout`")),
            };
            self.advance();
            let ty = self.type_spec()?;
            parameters.push((annotations, direction, ty, self.name()?));
            if !self.take(',') {
                break;
            }
        }
        self.expect(')')?;
        let raises = self.raises()?;
        let doc = self.end_of("an operation");
        head.doc = head.doc.take().or(doc);
        Ok(Export::Operation(Operation {
            head,
            oneway,
            result,
            name,
            parameters,
            raises,
        }))
    }

    fn raises(&mut self) -> Result<Vec<crate::syntax::Path>> {
        let mut all = Vec::new();
        if self.take_word("raises") {
            self.expect('(')?;
            all.push(self.path()?);
            while self.take(',') {
                all.push(self.path()?);
            }
            self.expect(')')?;
        }
        Ok(all)
    }

    fn attribute(&mut self, mut head: Head) -> Result<Attribute> {
        let readonly = self.take_word("readonly");
        if !self.take_word("attribute") {
            return Err(self.expected("`attribute`"));
        }
        let ty = self.type_spec()?;
        let names = self.names()?;
        let doc = self.end_of("an attribute");
        head.doc = head.doc.take().or(doc);
        Ok(Attribute {
            head,
            readonly,
            ty,
            names,
        })
    }
}

/// What can be defined in an interface.
const DEFINITIONS: &[&str] = &[
    "const",
    "typedef",
    "struct",
    "union",
    "enum",
    "bitmask",
    "bitset",
    "exception",
];
