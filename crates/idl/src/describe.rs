//! Types of a model as descriptions, which the rules of XTypes are about.
//!
//! A struct or union refers to others by links, so that those which contain themselves are like the
//! others; one table keeps them all.

use std::collections::{BTreeMap, BTreeSet};

use tickwire_cdr::{
    self as cdr, Bitfield, BitmaskDescription, BitsetDescription, Case, Circle, EnumDescription,
    Flag, InvalidDescription, Literal, Shared, TypeDescription, UnionDescription,
};

use crate::Model;
use crate::model::{
    AutoId, Bitmask, Bitset, DefinitionId, DefinitionKind, Enum, Extensibility, IdSource, Member,
    Primitive, Struct, TryConstruct, Type, Union, Value,
};

/// Descriptions of the types of a model: what topics have whose types are known only at run time.
#[derive(Debug)]
pub struct Descriptions {
    types: BTreeMap<DefinitionId, Result<cdr::Type, String>>,
}

impl Descriptions {
    /// Those of all structs, unions, enums, bitmasks and bitsets.
    pub fn of(model: &Model) -> Self {
        let numbers: BTreeMap<DefinitionId, u32> =
            model.definitions().map(|(id, _)| id).zip(0..).collect();
        let mut describer = Describer {
            model,
            numbers: &numbers,
            simple: BTreeMap::new(),
            wrong: BTreeMap::new(),
        };
        describer.find_wrong();
        let tied = Circle::tie(|link| -> Result<_, std::convert::Infallible> {
            let aggregates = numbers.iter().filter_map(|(id, number)| {
                let described = describer.aggregate(*id, link)?;
                Some((*number, described.ok()?))
            });
            Ok(aggregates.collect())
        });
        let Ok(circle) = tied;
        let Describer { simple, wrong, .. } = describer;
        let mut types: BTreeMap<DefinitionId, Result<cdr::Type, String>> = BTreeMap::new();
        for (id, number) in &numbers {
            if let Some(ty) = circle.get(*number) {
                types.insert(*id, Ok(ty));
            }
        }
        types.extend(simple.into_iter().map(|(id, ty)| (id, Ok(ty))));
        types.extend(wrong.into_iter().map(|(id, why)| (id, Err(why))));
        Self { types }
    }

    /// The description of a struct, union, enum, bitmask or bitset; an error is why there is none.
    pub fn get(&self, id: DefinitionId) -> Option<Result<&cdr::Type, &str>> {
        let described = self.types.get(&id)?;
        Some(described.as_ref().map_err(String::as_str))
    }

    /// The description of a struct, which keeps the types that it refers to: these end with what is
    /// [got](Self::get) otherwise.
    pub fn structure(&self, id: DefinitionId) -> Option<Result<TypeDescription, &str>> {
        let of = match self.get(id)? {
            Ok(cdr::Type::Struct(of)) => of,
            Ok(_) => return None,
            Err(why) => return Some(Err(why)),
        };
        let members = of.members.iter().map(|member| cdr::Member {
            ty: owning(&member.ty),
            ..member.clone()
        });
        Some(Ok(TypeDescription {
            members: members.collect::<Vec<_>>().into(),
            ..(**of).clone()
        }))
    }
}

/// The same type, which keeps what it refers to.
fn owning(ty: &cdr::Type) -> cdr::Type {
    match ty {
        cdr::Type::Recursive(link) => link.target().unwrap_or_else(|| ty.clone()),
        cdr::Type::Sequence { element, bound } => cdr::Type::Sequence {
            element: Shared::from(owning(element)),
            bound: *bound,
        },
        cdr::Type::Array { element, length } => cdr::Type::Array {
            element: Shared::from(owning(element)),
            length: *length,
        },
        cdr::Type::Map { key, value, bound } => cdr::Type::Map {
            key: key.clone(),
            value: Shared::from(owning(value)),
            bound: *bound,
        },
        other => other.clone(),
    }
}

struct Describer<'m> {
    model: &'m Model,
    /// By which links know structs and unions.
    numbers: &'m BTreeMap<DefinitionId, u32>,
    /// Enums, bitmasks and bitsets.
    simple: BTreeMap<DefinitionId, cdr::Type>,
    /// What has no description, and why.
    wrong: BTreeMap<DefinitionId, String>,
}

/// What stands for a struct or union by its number.
type LinkTo<'l> = &'l dyn Fn(u32) -> cdr::Type;

impl Describer<'_> {
    /// Finds what has no description, also since it contains what has none.
    fn find_wrong(&mut self) {
        let model = self.model;
        for (id, definition) in model.definitions() {
            let simple = match &definition.kind {
                DefinitionKind::Enum(of) => enumeration(&definition.full_name, of),
                DefinitionKind::Bitmask(of) => bitmask(&definition.full_name, of),
                DefinitionKind::Bitset(of) => self.bitset(&definition.full_name, of),
                _ => continue,
            };
            match simple {
                Ok(ty) => drop(self.simple.insert(id, ty)),
                Err(why) => drop(self.wrong.insert(id, why.to_string())),
            }
        }
        for id in self.numbers.keys() {
            if self.needs_too_many(*id) {
                let why = format!("it needs more than {MAX_NEEDED} other types");
                self.wrong.insert(*id, why);
            }
        }
        // Almost all that a type needs comes before it, so that once is enough, or twice.
        loop {
            let known = self.wrong.len();
            for id in self.numbers.keys() {
                if !self.wrong.contains_key(id)
                    && let Some(Err(why)) = self.aggregate(*id, &|_| cdr::Type::Bool)
                {
                    self.wrong.insert(*id, why);
                }
            }
            if self.wrong.len() == known {
                return;
            }
        }
    }

    /// Whether a type needs more others than anybody has: who follows them all does so by recursion.
    fn needs_too_many(&self, id: DefinitionId) -> bool {
        let mut needed = BTreeSet::from([id]);
        let mut rest = vec![id];
        while let Some(next) = rest.pop() {
            let members: Vec<&Member> = match &self.model.definition(next).kind {
                DefinitionKind::Struct(of) => self.model.all_members(of),
                DefinitionKind::Union(of) => of.cases.iter().map(|case| &case.member).collect(),
                _ => Vec::new(),
            };
            let members = members.iter().filter(|member| !member.non_serialized);
            for member in members {
                if let Some(named) = self.innermost(&member.ty)
                    && needed.insert(named)
                {
                    rest.push(named);
                }
                if needed.len() > MAX_NEEDED {
                    return true;
                }
            }
        }
        false
    }

    /// The type that a type, or what it is a collection of, is called; keys of maps are simple.
    fn innermost(&self, ty: &Type) -> Option<DefinitionId> {
        match self.model.resolve(ty) {
            Type::Named(id) => Some(*id),
            Type::Sequence { element, .. } | Type::Array { element, .. } => self.innermost(element),
            Type::Map { value, .. } => self.innermost(value),
            _ => None,
        }
    }

    /// A struct or union.
    fn aggregate(&self, id: DefinitionId, link: LinkTo<'_>) -> Option<Result<cdr::Type, String>> {
        let definition = self.model.definition(id);
        let name = &definition.full_name;
        match &definition.kind {
            DefinitionKind::Struct(of) => Some(self.structure(name, of, link)),
            DefinitionKind::Union(of) => Some(self.union(name, of, link)),
            _ => None,
        }
    }

    fn structure(&self, name: &str, of: &Struct, link: LinkTo<'_>) -> Result<cdr::Type, String> {
        // A program that learns types while it runs knows what travels: what is not in samples is in no type object either,
        // and could have nothing but its default.
        let mut all = self.model.all_members(of);
        all.retain(|member| !member.non_serialized);
        if all.len() > MAX_MEMBERS {
            return Err(format!("it has more than {MAX_MEMBERS} members"));
        }
        let members = all.into_iter().map(|member| self.member(member, link));
        let members = members.collect::<Result<Vec<_>, _>>()?;
        let extensibility = extensibility(of.extensibility);
        let described = match members.is_empty() && of.nested {
            // What a call takes or gives may be nothing.
            true => Ok(TypeDescription {
                name: name.into(),
                extensibility,
                nested: true,
                hash_ids: false,
                members: members.into(),
            }),
            false => TypeDescription::new(name, extensibility, members),
        };
        let described = TypeDescription {
            nested: of.nested,
            hash_ids: of.auto_id == AutoId::Hash,
            ..described.map_err(|error| error.to_string())?
        };
        Ok(cdr::Type::Struct(Shared::from(described)))
    }

    fn union(&self, name: &str, of: &Union, link: LinkTo<'_>) -> Result<cdr::Type, String> {
        let discriminator = self.ty(&of.discriminator, link)?;
        if of.cases.len() > MAX_MEMBERS {
            return Err(format!("it has more than {MAX_MEMBERS} members"));
        }
        let cases = of.cases.iter().map(|case| {
            let labels = case.labels.iter().map(|label| self.label(label));
            Ok(Case {
                member: self.member(&case.member, link)?,
                labels: labels.collect::<Result<Vec<_>, String>>()?.into(),
                default: case.default,
            })
        });
        let cases = cases.collect::<Result<Vec<_>, String>>()?;
        let extensibility = extensibility(of.extensibility);
        let described = UnionDescription::new(name, extensibility, discriminator, cases);
        let described = UnionDescription {
            nested: of.nested,
            discriminator_key: of.discriminator_key,
            ..described.map_err(|error| error.to_string())?
        };
        Ok(cdr::Type::Union(Shared::from(described)))
    }

    fn member(&self, member: &Member, link: LinkTo<'_>) -> Result<cdr::Member, String> {
        let name = &member.name;
        let ty = self.ty(&member.ty, link);
        let ty = ty.map_err(|why| format!("`{name}` is {why}"))?;
        Ok(cdr::Member {
            key: member.key,
            optional: member.optional,
            must_understand: member.must_understand,
            try_construct: match member.try_construct {
                TryConstruct::Discard => cdr::TryConstruct::Discard,
                TryConstruct::UseDefault => cdr::TryConstruct::UseDefault,
                TryConstruct::Trim => cdr::TryConstruct::Trim,
            },
            external: member.external,
            hash_id: match &member.id_source {
                IdSource::Hash(text) => Some(Shared::from(text.as_str())),
                IdSource::Automatic | IdSource::Given => None,
            },
            ..cdr::Member::new(name, member.id, ty)
        })
    }

    /// Labels on the wire are `int32`, of whatever type the discriminator is.
    fn label(&self, label: &Value) -> Result<i32, String> {
        let number = match label {
            Value::Bool(value) => i128::from(*value),
            Value::Integer(value) => *value,
            Value::Char(value) => i128::from(u32::from(*value)),
            Value::Literal { of, index } => match &self.model.definition(*of).kind {
                DefinitionKind::Enum(of) => {
                    let literal = of.literals.get(*index as usize);
                    literal.map_or(0, |literal| i128::from(literal.value))
                }
                _ => 0,
            },
            Value::Float(_) | Value::String(_) => 0,
        };
        i32::try_from(number).map_err(|_| format!("the label {number} has more than 32 bits"))
    }

    fn ty(&self, ty: &Type, link: LinkTo<'_>) -> Result<cdr::Type, String> {
        Ok(match ty {
            Type::Primitive(ty) => primitive(*ty)?,
            Type::String { bound } => cdr::Type::String {
                bound: bound.unwrap_or(0),
            },
            Type::WString { bound } => cdr::Type::WString {
                bound: bound.unwrap_or(0),
            },
            Type::Sequence { element, bound } => cdr::Type::Sequence {
                element: Shared::from(self.ty(element, link)?),
                bound: bound.unwrap_or(0),
            },
            Type::Map { key, value, bound } => cdr::Type::Map {
                key: Shared::from(self.ty(key, link)?),
                value: Shared::from(self.ty(value, link)?),
                bound: bound.unwrap_or(0),
            },
            Type::Array {
                element,
                dimensions,
            } => {
                let element = self.ty(element, link)?;
                dimensions
                    .iter()
                    .rev()
                    .fold(element, |element, length| cdr::Type::Array {
                        element: Shared::from(element),
                        length: *length,
                    })
            }
            Type::Named(id) => {
                let definition = self.model.definition(*id);
                if self.wrong.contains_key(id) {
                    return Err(format!(
                        "of `{}`, which cannot be compared",
                        definition.full_name
                    ));
                }
                match (&definition.kind, self.numbers.get(id)) {
                    (DefinitionKind::Typedef(of), _) => self.ty(of, link)?,
                    (DefinitionKind::Struct(_) | DefinitionKind::Union(_), Some(number)) => {
                        link(*number)
                    }
                    _ => match self.simple.get(id) {
                        Some(simple) => simple.clone(),
                        None => {
                            return Err(format!("of `{}`, which is no type", definition.full_name));
                        }
                    },
                }
            }
        })
    }

    fn bitset(&self, name: &str, of: &Bitset) -> Result<cdr::Type, InvalidDescription> {
        let mut levels = vec![of];
        let mut base = of.base;
        while let Some(id) = base
            && let DefinitionKind::Bitset(of) = &self.model.definition(id).kind
        {
            levels.push(of);
            base = of.base;
        }
        let fields = levels.into_iter().rev().flat_map(|of| &of.fields);
        let fields = fields.filter_map(|field| {
            Some(Bitfield {
                name: Shared::from(field.name.as_deref()?),
                position: field.position,
                bits: u8::try_from(field.bits).ok()?,
                ty: primitive(field.ty).ok()?,
            })
        });
        let described = BitsetDescription {
            name: name.into(),
            fields: fields.collect::<Vec<_>>().into(),
        };
        described.check()?;
        Ok(cdr::Type::Bitset(Shared::from(described)))
    }
}

fn enumeration(name: &str, of: &Enum) -> Result<cdr::Type, InvalidDescription> {
    let literals = of.literals.iter().map(|literal| Literal {
        name: Shared::from(literal.name.as_str()),
        value: literal.value,
    });
    let mut literals: Vec<_> = literals.collect();
    // Descriptions have the default first.
    if let Some(up_to_default) = literals.get_mut(..=of.default as usize) {
        up_to_default.rotate_right(1);
    }
    let described = EnumDescription {
        name: name.into(),
        extensibility: extensibility(of.extensibility),
        bit_bound: of.bit_bound,
        literals: literals.into(),
    };
    described.check()?;
    Ok(cdr::Type::Enum(Shared::from(described)))
}

fn bitmask(name: &str, of: &Bitmask) -> Result<cdr::Type, InvalidDescription> {
    let flags = of.flags.iter().map(|flag| Flag {
        name: Shared::from(flag.name.as_str()),
        position: flag.bit,
    });
    let mut flags: Vec<_> = flags.collect();
    flags.sort_by_key(|flag| flag.position);
    let described = BitmaskDescription {
        name: name.into(),
        extensibility: extensibility(of.extensibility),
        bit_bound: of.bit_bound,
        flags: flags.into(),
    };
    described.check()?;
    Ok(cdr::Type::Bitmask(Shared::from(described)))
}

fn primitive(ty: Primitive) -> Result<cdr::Type, String> {
    Ok(match ty {
        Primitive::Boolean => cdr::Type::Bool,
        Primitive::Octet => cdr::Type::Byte,
        Primitive::Char => cdr::Type::Char,
        Primitive::WChar => cdr::Type::WChar,
        Primitive::Int8 => cdr::Type::I8,
        Primitive::UInt8 => cdr::Type::U8,
        Primitive::Int16 => cdr::Type::I16,
        Primitive::UInt16 => cdr::Type::U16,
        Primitive::Int32 => cdr::Type::I32,
        Primitive::UInt32 => cdr::Type::U32,
        Primitive::Int64 => cdr::Type::I64,
        Primitive::UInt64 => cdr::Type::U64,
        Primitive::Float => cdr::Type::F32,
        Primitive::Double => cdr::Type::F64,
        Primitive::LongDouble => return Err("of `long double`, which is not known here".to_owned()),
    })
}

fn extensibility(extensibility: Extensibility) -> cdr::Extensibility {
    match extensibility {
        Extensibility::Final => cdr::Extensibility::Final,
        Extensibility::Appendable => cdr::Extensibility::Appendable,
        Extensibility::Mutable => cdr::Extensibility::Mutable,
    }
}

/// Types that a type needs, directly or not.
const MAX_NEEDED: usize = 256;
/// Members of a type, as many as are taken from peers.
const MAX_MEMBERS: usize = 4096;
