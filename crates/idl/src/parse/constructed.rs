//! Structs, unions, enums, bitmasks and bitsets.

use super::{Parser, Result, Wrong, comment_after};
use crate::syntax::{Bitfield, Case, DefinitionKind, Item, Member};

impl Parser<'_> {
    pub(super) fn structure(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let name = self.name()?;
        if self.take(';') {
            return Ok(DefinitionKind::StructAhead(name));
        }
        let base = match self.take(':') {
            true => Some(self.path()?),
            false => None,
        };
        let members = self.members()?;
        self.end_of("a struct");
        Ok(DefinitionKind::Struct {
            name,
            base,
            members,
        })
    }

    /// The members between `{` and `}`.
    pub(super) fn members(&mut self) -> Result<Vec<Member>> {
        let mut members = Vec::new();
        self.braces(|parser| {
            let mut head = parser.head()?;
            let ty = parser.type_spec()?;
            let declarators = parser.declarators()?;
            parser.no_value()?;
            let doc = parser.end_of("a member");
            head.doc = head.doc.take().or(doc);
            members.push(Member {
                head,
                ty,
                declarators,
            });
            Ok(())
        })?;
        Ok(members)
    }

    pub(super) fn union(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let name = self.name()?;
        if self.take(';') {
            return Ok(DefinitionKind::UnionAhead(name));
        }
        if !self.take_word("switch") {
            let help = "write `union NAME switch (TYPE) { case LABEL: TYPE member; };`";
            return Err(self.expected_with_help("`switch`", help));
        }
        self.expect('(')?;
        let switch = self.head()?.annotations;
        let discriminator = self.type_spec()?;
        self.expect(')')?;
        let mut cases = Vec::new();
        self.braces(|parser| {
            cases.push(parser.case()?);
            Ok(())
        })?;
        self.end_of("a union");
        Ok(DefinitionKind::Union {
            name,
            switch,
            discriminator,
            cases,
        })
    }

    fn case(&mut self) -> Result<Case> {
        let (mut labels, mut default) = (Vec::new(), None);
        let comment = super::comment_before(self.peek());
        loop {
            if self.at_word("default") {
                default = Some(self.advance().span);
            } else if self.take_word("case") {
                labels.push(self.expression()?);
            } else {
                break;
            }
            if !self.take(':') {
                let help = "write `case LABEL: TYPE member;`";
                return Err(self.expected_with_help("`:`", help));
            }
        }
        if labels.is_empty() && default.is_none() {
            let help = "members of a union are behind `case LABEL:` or `default:`";
            return Err(self.expected_with_help("`case` or `default`", help));
        }
        let mut head = self.head()?;
        let ty = self.type_spec()?;
        let declarator = self.declarator()?;
        self.no_value()?;
        let doc = self.end_of("a member");
        head.doc = head.doc.take().or(comment).or(doc);
        Ok(Case {
            labels,
            default,
            head,
            ty,
            declarator,
        })
    }

    pub(super) fn enumeration(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let name = self.name()?;
        let items = self.items()?;
        self.end_of("an enum");
        Ok(DefinitionKind::Enum(name, items))
    }

    pub(super) fn bitmask(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let name = self.name()?;
        let items = self.items()?;
        self.end_of("a bitmask");
        Ok(DefinitionKind::Bitmask(name, items))
    }

    /// Names with commas between them; one may be behind the last, as many write it.
    fn items(&mut self) -> Result<Vec<Item>> {
        self.expect('{')?;
        let items = self.items_within();
        if items.is_err() {
            // What follows is of the same scope only behind the `}`.
            self.recover();
            self.take('}');
        }
        items
    }

    fn items_within(&mut self) -> Result<Vec<Item>> {
        let mut items: Vec<Item> = Vec::new();
        while !self.at('}') {
            let mut head = self.head()?;
            let name = self.name()?;
            let own = comment_after(self.previous());
            if self.at('=') {
                let token = self.peek();
                let problem = self.error(token, "values are not assigned in IDL");
                problem.help("write `@value(N)` before the literal, `@position(N)` before a flag");
                return Err(Wrong);
            }
            let more = self.at(',');
            let behind = match more {
                true => {
                    let comma = self.advance();
                    if self.at('}') {
                        let message = "there is nothing behind this `,`";
                        let problem = self.context.problems.warning(comma.span, message);
                        problem.help(
                            "remove it: IDL 4.2 has none there, and other compilers refuse it",
                        );
                    }
                    comment_after(comma)
                }
                false => None,
            };
            head.doc = head.doc.take().or(own).or(behind);
            items.push(Item { head, name });
            if !more && !self.at('}') {
                return Err(self.expected("`,` or `}`"));
            }
        }
        self.advance();
        Ok(items)
    }

    pub(super) fn bitset(&mut self) -> Result<DefinitionKind> {
        self.advance();
        let name = self.name()?;
        let base = match self.take(':') {
            true => Some(self.path()?),
            false => None,
        };
        let mut fields = Vec::new();
        self.braces(|parser| {
            fields.push(parser.bitfield()?);
            Ok(())
        })?;
        self.end_of("a bitset");
        Ok(DefinitionKind::Bitset { name, base, fields })
    }

    fn bitfield(&mut self) -> Result<Bitfield> {
        let mut head = self.head()?;
        let span = self.peek().span;
        if !self.take_word("bitfield") {
            return Err(self.expected_with_help("`bitfield`", "write `bitfield<BITS> name;`"));
        }
        self.expect('<')?;
        let (bits, ty) = self.in_template(|parser| {
            let bits = parser.expression()?;
            let ty = match parser.take(',') {
                true => Some(parser.type_spec()?),
                false => None,
            };
            Ok((bits, ty))
        })?;
        self.expect('>')?;
        let names = match self.at(';') {
            true => Vec::new(),
            false => self.names()?,
        };
        let doc = self.end_of("a bitfield");
        head.doc = head.doc.take().or(doc);
        Ok(Bitfield {
            bits,
            ty,
            names,
            head,
            span,
        })
    }
}
