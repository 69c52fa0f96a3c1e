//! Enums, bitmasks and bitsets.

use std::collections::HashMap;

use super::annotations::Place;
use super::scope::Entry;
use super::{Resolver, Result, Wrong};
use crate::model::{
    Bitfield, Bitmask, Bitset, DefinitionKind, Enum, Extensibility, Flag, Literal, Primitive, Type,
};
use crate::syntax::{self, Head, Item, Name, Path};

impl Resolver<'_> {
    pub(super) fn enumeration(&mut self, head: &Head, name: &Name, items: &[Item]) -> Result<()> {
        let kind = DefinitionKind::Enum(Enum::default());
        let (id, applied) = self.define(head, name, Place::ENUM, kind)?;
        let bit_bound = applied.bit_bound.unwrap_or(32);
        let mut of = Enum {
            extensibility: self.small_extensibility(applied.extensibility, name),
            bit_bound,
            ..Enum::default()
        };
        let half = 1_i128 << (bit_bound - 1);
        let mut next = 0_i128;
        let mut values: HashMap<i32, usize> = HashMap::new();
        let mut names: Vec<&Name> = Vec::new();
        for item in items {
            if self.context.problems.is_full() {
                break;
            }
            let applied = self.annotations(&item.head.annotations, Place::LITERAL);
            let value = applied.value.unwrap_or(next);
            let Some(fitting) = i32::try_from(value)
                .ok()
                .filter(|_| (-half..half).contains(&value))
            else {
                let message = format!("{value} needs more than {bit_bound} bits");
                let problem = self.context.error(item.name.span, message);
                problem
                    .help("values are signed: write a smaller one, or raise @bit_bound (up to 32)");
                continue;
            };
            next = value + 1;
            if let Some(other) = values.insert(fitting, of.literals.len()) {
                let other = &of.literals[other];
                let message = format!("`{}` and `{}` are both {value}", item.name.text, other.name);
                let problem = self.context.error(item.name.span, message);
                problem.help("give one of them another @value");
            }
            if applied.default_literal {
                of.default = of.literals.len() as u32;
            }
            names.push(&item.name);
            of.literals.push(Literal {
                name: item.name.text.to_string(),
                position: self.position(item.name.span),
                doc: item.head.doc.clone().or(applied.comment),
                annotations: applied.others,
                value: fitting,
            });
        }
        if self.is_whole && items.is_empty() {
            let problem = self
                .context
                .error(name.span, "an enum has at least one literal");
            problem.help("add one");
        }
        self.model.definitions[id.0 as usize].kind = DefinitionKind::Enum(of);
        for (index, name) in (0..).zip(names) {
            self.literals.insert((id, name.text.clone()), index);
            // What was wrong is told.
            let _told = self.enter(name, Entry::Literal(id, index));
        }
        Ok(())
    }

    /// How an enum or a bitmask may change: not as members do.
    fn small_extensibility(&mut self, given: Option<Extensibility>, name: &Name) -> Extensibility {
        if given == Some(Extensibility::Mutable) {
            let message = format!("`{}` has no members that could come and go", name.text);
            let problem = self.context.error(name.span, message);
            problem.help("write @final or @appendable");
        }
        let default = match self.options.extensibility {
            Extensibility::Mutable => Extensibility::Appendable,
            other => other,
        };
        given.unwrap_or(default)
    }

    pub(super) fn bitmask(&mut self, head: &Head, name: &Name, items: &[Item]) -> Result<()> {
        let kind = DefinitionKind::Bitmask(Bitmask::default());
        let (id, applied) = self.define(head, name, Place::BITMASK, kind)?;
        let bit_bound = applied.bit_bound.unwrap_or(32);
        let mut flags: Vec<Flag> = Vec::new();
        let mut next = 0;
        for item in items {
            let applied = self.annotations(&item.head.annotations, Place::FLAG);
            let bit = applied.position.unwrap_or(next);
            next = bit.saturating_add(1);
            let (text, span) = (&item.name.text, item.name.span);
            if bit >= bit_bound {
                let message = format!("`{text}` is bit {bit} of {bit_bound}");
                let problem = self.context.error(span, message);
                problem.help("bits count from 0: take a lower @position, or raise @bit_bound");
            }
            let mut others = flags.iter();
            let other =
                others.find(|other| other.bit == bit || other.name.eq_ignore_ascii_case(text));
            if let Some(other) = other {
                let message = match other.bit == bit {
                    true => format!("`{text}` and `{}` are both bit {bit}", other.name),
                    false => format!("two flags are called `{text}`, whatever the case of letters"),
                };
                self.context.error(span, message).help("change one of them");
            }
            if flags.len() > 64 {
                break;
            }
            flags.push(Flag {
                name: text.to_string(),
                position: self.position(span),
                doc: item.head.doc.clone().or(applied.comment),
                annotations: applied.others,
                bit,
            });
        }
        if self.is_whole && items.is_empty() {
            let problem = self
                .context
                .error(name.span, "a bitmask has at least one flag");
            problem.help("add one");
        }
        let of = Bitmask {
            extensibility: self.small_extensibility(applied.extensibility, name),
            bit_bound,
            flags,
        };
        self.model.definitions[id.0 as usize].kind = DefinitionKind::Bitmask(of);
        Ok(())
    }

    pub(super) fn bitset(
        &mut self,
        head: &Head,
        name: &Name,
        base: Option<&Path>,
        fields: &[syntax::Bitfield],
    ) -> Result<()> {
        let base = base.map(|base| self.bitset_base(base)).transpose();
        let kind = DefinitionKind::Bitset(Bitset::default());
        let (id, _) = self.define(head, name, Place::BITSET, kind)?;
        let mut of = Bitset::default();
        if let Ok(Some((base, bits))) = base {
            (of.base, of.bits) = (Some(base), bits);
        }
        for field in fields {
            self.annotations(&field.head.annotations, Place::FIELD);
            let Ok((bits, ty)) = self.bitfield(field) else {
                continue;
            };
            let names = field.names.iter().map(|name| Some(name.text.to_string()));
            let names: Vec<_> = match field.names.is_empty() {
                true => vec![None],
                false => names.collect(),
            };
            for name in names {
                let mut others = of.fields.iter().filter_map(|field| field.name.as_ref());
                let same =
                    |other: &String| name.as_ref().is_some_and(|n| n.eq_ignore_ascii_case(other));
                if others.any(same) {
                    let message = "two fields have this name, whatever the case of letters";
                    self.context
                        .error(field.span, message)
                        .help("rename one of them");
                }
                let position = of.bits;
                of.bits += bits;
                if of.bits > 64 {
                    let problem = self
                        .context
                        .error(field.span, "a bitset has at most 64 bits");
                    problem.help("make two of it");
                    return Err(Wrong);
                }
                let doc = field.head.doc.clone();
                self.charge(doc.as_ref().map_or(0, String::len), field.span)?;
                of.fields.push(Bitfield {
                    name,
                    doc,
                    position,
                    bits,
                    ty,
                });
            }
        }
        if self.is_whole && of.bits == 0 && fields.is_empty() {
            let problem = self
                .context
                .error(name.span, "a bitset has at least one field");
            problem.help("add `bitfield<BITS> name;`");
        }
        self.model.definitions[id.0 as usize].kind = DefinitionKind::Bitset(of);
        Ok(())
    }

    fn bitset_base(&mut self, path: &Path) -> Result<(crate::model::DefinitionId, u16)> {
        let entry = self.lookup(path)?;
        if let Entry::Definition(id) = entry
            && let DefinitionKind::Bitset(of) = &self.model.definition(id).kind
        {
            return Ok((id, of.bits));
        }
        Err(self.no_base(path, "a bitset"))
    }

    /// How many bits, and the type; the least unsigned one that has them if none is given
    /// (IDL 4.2 §7.4.13.4.3.2).
    fn bitfield(&mut self, field: &syntax::Bitfield) -> Result<(u16, Primitive)> {
        let bits = self.integer(&field.bits, Primitive::UInt16)?;
        let ty = match &field.ty {
            Some(spec) => match self.ty(spec, false)? {
                Type::Primitive(ty) if ty.integer_range().is_some() || ty == Primitive::Boolean => {
                    ty
                }
                _ => {
                    let problem = self
                        .context
                        .error(spec.span, "this is no type of a bitfield");
                    problem.help("take boolean, octet or an integer");
                    return Err(Wrong);
                }
            },
            None => match bits {
                1 => Primitive::Boolean,
                2..=8 => Primitive::UInt8,
                9..=16 => Primitive::UInt16,
                17..=32 => Primitive::UInt32,
                _ => Primitive::UInt64,
            },
        };
        let most = match ty.integer_range() {
            Some((least, most)) => 128 - (most - least).leading_zeros() as i128,
            None => 1,
        };
        match u16::try_from(bits)
            .ok()
            .filter(|bits| (1..=most).contains(&i128::from(*bits)))
        {
            Some(bits) => Ok((bits, ty)),
            None => {
                let message = format!("{bits} bits of {} there cannot be", ty.name());
                let problem = self.context.error(field.bits.span, message);
                problem.help(format_args!("1 to {most} there can"));
                Err(Wrong)
            }
        }
    }
}
