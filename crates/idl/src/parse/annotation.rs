//! Annotations where they stand, and where they are defined (IDL 4.2 §7.4.15).

use super::{Parser, Result, comment_before};
use crate::lexer::TokenKind;
use crate::syntax::{Annotation, AnnotationParameter, Definition, DefinitionKind, Head, Path};

impl Parser<'_> {
    /// The annotations before something, and the comment before them.
    pub(super) fn head(&mut self) -> Result<Head> {
        let doc = comment_before(self.peek());
        let mut annotations = Vec::new();
        while self.at('@') {
            annotations.push(self.annotation()?);
        }
        // A comment between the annotations and what they are about.
        let doc = doc.or_else(|| comment_before(self.peek()));
        Ok(Head { annotations, doc })
    }

    fn annotation(&mut self) -> Result<Annotation> {
        let start = self.advance().span;
        let name = self.annotation_name()?;
        let mut arguments = Vec::new();
        if self.take('(') {
            let before = std::mem::replace(&mut self.in_template, false);
            let list = self.arguments(&mut arguments);
            self.in_template = before;
            list?;
        }
        let span = start.to(self.previous().span);
        Ok(Annotation {
            name,
            arguments,
            span,
        })
    }

    /// A name, which may be a keyword: `@default`.
    fn annotation_name(&mut self) -> Result<Path> {
        let token = self.peek();
        let is_keyword = token.is_word("default") || token.is_word("oneway");
        if !is_keyword {
            return self.path();
        }
        self.advance();
        let (text, span) = (token.text.clone(), token.span);
        Ok(Path {
            absolute: false,
            parts: vec![crate::syntax::Name { text, span }],
            span,
        })
    }

    fn arguments(
        &mut self,
        arguments: &mut Vec<(Option<crate::syntax::Name>, crate::syntax::Expression)>,
    ) -> Result<()> {
        while !self.at(')') {
            let named = self.peek().kind == TokenKind::Word && self.peek_second().is('=');
            let name = match named {
                true => {
                    let token = self.peek();
                    let (text, span) = (token.text.clone(), token.span);
                    self.advance();
                    self.advance();
                    Some(crate::syntax::Name { text, span })
                }
                false => None,
            };
            arguments.push((name, self.expression()?));
            if !self.take(',') {
                break;
            }
        }
        self.expect(')')?;
        Ok(())
    }

    pub(super) fn annotation_definition(&mut self) -> Result<Definition> {
        let doc = comment_before(self.peek());
        self.advance();
        self.advance();
        let name = self.name()?;
        let (mut parameters, mut definitions) = (Vec::new(), Vec::new());
        self.braces(|parser| {
            let token = parser.peek();
            if ["enum", "const", "typedef"].contains(&&*token.text) {
                definitions.extend(parser.definition()?);
                return Ok(());
            }
            let ty = parser.type_spec()?;
            let name = parser.name()?;
            let default = match parser.take_word("default") {
                true => Some(parser.expression()?),
                false => None,
            };
            parser.end_of("a parameter");
            parameters.push(AnnotationParameter { ty, name, default });
            Ok(())
        })?;
        self.end_of("an annotation");
        let annotations = Vec::new();
        Ok(Definition {
            head: Head { annotations, doc },
            kind: DefinitionKind::Annotation {
                name,
                parameters,
                definitions,
            },
        })
    }
}
