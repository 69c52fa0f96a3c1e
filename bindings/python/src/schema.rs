//! Types as tuples and dicts of Python, and as descriptions. `tickwire/_types.py` makes such tables of
//! dataclasses, and `tickwire/_classes.py` dataclasses of tables; it says what they look like.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use tickwire::Decimal;
use tickwire::cdr::{
    Bitfield, BitmaskDescription, BitsetDescription, Case, Circle, Describe, EnumDescription,
    Extensibility, Flag, Literal, Member, Shared, TryConstruct, Type, TypeDescription,
    UnionDescription,
};

use crate::errors::Kind;

/// The description of the struct that a table calls `root`.
pub(crate) fn describe(table: &Bound<'_, PyDict>, root: &str) -> PyResult<TypeDescription> {
    if table.len() > MAX_TYPES {
        return Err(Kind::Type.error(format!("{root} needs more than {MAX_TYPES} other types")));
    }
    let circular = circular(table)?;
    let builder = Builder {
        table,
        circular,
        done: RefCell::default(),
    };
    let circle = Circle::tie(|link| {
        let numbers = builder.circular.iter();
        let types = numbers.map(|(name, number)| {
            let ty = builder.definition(name, 0, &Resolve::Inside(link))?;
            Ok((*number, ty))
        });
        types.collect::<PyResult<Vec<_>>>()
    })?;
    builder.done.borrow_mut().clear();
    match builder.definition(root, 0, &Resolve::Outside(&circle))? {
        Type::Struct(description) => Ok((*description).clone()),
        other => Err(Kind::Type.error(format!("a topic's type is a struct, not {other}"))),
    }
}

/// How the types of circles are referred to.
enum Resolve<'r> {
    Inside(&'r dyn Fn(u32) -> Type),
    Outside(&'r Circle),
}

struct Builder<'b, 'py> {
    table: &'b Bound<'py, PyDict>,
    /// Those that contain themselves.
    circular: BTreeMap<String, u32>,
    done: RefCell<HashMap<String, Type>>,
}

impl<'py> Builder<'_, 'py> {
    /// What the table says of a name.
    fn entry(&self, name: &str) -> PyResult<(String, Bound<'py, PyTuple>)> {
        entry(self.table, name)
    }

    fn named(&self, name: &str, depth: usize, resolve: &Resolve<'_>) -> PyResult<Type> {
        if let Some(number) = self.circular.get(name) {
            let ty = match resolve {
                Resolve::Inside(link) => Some(link(*number)),
                Resolve::Outside(circle) => circle.get(*number),
            };
            return ty.ok_or_else(|| Kind::Type.error(format!("{name} cannot be described")));
        }
        let done = self.done.borrow().get(name).cloned();
        if let Some(done) = done {
            return Ok(done);
        }
        let ty = self.definition(name, depth + 1, resolve)?;
        self.done.borrow_mut().insert(name.to_owned(), ty.clone());
        Ok(ty)
    }

    fn definition(&self, name: &str, depth: usize, resolve: &Resolve<'_>) -> PyResult<Type> {
        let (kind, entry) = self.entry(name)?;
        let invalid =
            |error: &dyn ToString| Kind::Type.error(format!("{name}: {}", error.to_string()));
        if depth > MAX_DEPTH {
            return Err(invalid(&"types nest too deeply"));
        }
        Ok(match kind.as_str() {
            "struct" => {
                let (_, ext, members, nested, hash_ids): (
                    String,
                    String,
                    Vec<Bound<'_, PyAny>>,
                    bool,
                    bool,
                ) = entry.extract()?;
                if members.len() > MAX_MEMBERS {
                    return Err(invalid(&format!("more than {MAX_MEMBERS} members")));
                }
                let members = members.iter().map(|it| self.member(it, depth, resolve));
                let members = members.collect::<PyResult<Vec<_>>>()?;
                let extensibility = extensibility(&ext)?;
                let description = match members.is_empty() && nested {
                    // What a call takes or gives may be nothing.
                    true => TypeDescription {
                        name: name.into(),
                        extensibility,
                        nested,
                        hash_ids,
                        members: members.into(),
                    },
                    false => TypeDescription::new(name, extensibility, members)
                        .map_err(|error| invalid(&error))?,
                };
                Type::Struct(Shared::from(TypeDescription {
                    nested,
                    hash_ids,
                    ..description
                }))
            }
            "union" => {
                type Cases<'py> = Vec<(Bound<'py, PyAny>, Vec<i32>, bool)>;
                let (_, ext, discriminator, cases, nested, discriminator_key): (
                    String,
                    String,
                    Bound<'_, PyAny>,
                    Cases<'_>,
                    bool,
                    bool,
                ) = entry.extract()?;
                if cases.len() > MAX_MEMBERS {
                    return Err(invalid(&format!("more than {MAX_MEMBERS} members")));
                }
                let discriminator = self.ty(&discriminator, depth, resolve)?;
                let cases = cases.into_iter().map(|(member, labels, default)| {
                    Ok(Case {
                        member: self.member(&member, depth, resolve)?,
                        labels: labels.into(),
                        default,
                    })
                });
                let cases = cases.collect::<PyResult<Vec<_>>>()?;
                let description =
                    UnionDescription::new(name, extensibility(&ext)?, discriminator, cases)
                        .map_err(|error| invalid(&error))?;
                Type::Union(Shared::from(UnionDescription {
                    nested,
                    discriminator_key,
                    ..description
                }))
            }
            "enum" => {
                let (_, bit_bound, literals, ext): (String, u16, Vec<(String, i32)>, String) =
                    entry.extract()?;
                let literals = literals.into_iter().map(|(name, value)| Literal {
                    name: Shared::from(name.as_str()),
                    value,
                });
                let description = EnumDescription {
                    name: name.into(),
                    extensibility: extensibility(&ext)?,
                    bit_bound,
                    literals: literals.collect::<Vec<_>>().into(),
                };
                description.check().map_err(|error| invalid(&error))?;
                Type::Enum(Shared::from(description))
            }
            "bitmask" => {
                let (_, bit_bound, flags, ext): (String, u16, Vec<(String, u16)>, String) =
                    entry.extract()?;
                let flags = flags.into_iter().map(|(name, position)| Flag {
                    name: Shared::from(name.as_str()),
                    position,
                });
                let description = BitmaskDescription {
                    name: name.into(),
                    extensibility: extensibility(&ext)?,
                    bit_bound,
                    flags: flags.collect::<Vec<_>>().into(),
                };
                description.check().map_err(|error| invalid(&error))?;
                Type::Bitmask(Shared::from(description))
            }
            "bitset" => {
                type Field<'py> = (String, u16, u8, Bound<'py, PyAny>);
                let (_, fields): (String, Vec<Field<'py>>) = entry.extract()?;
                let fields = fields.into_iter().map(|(name, position, bits, ty)| {
                    Ok(Bitfield {
                        name: Shared::from(name.as_str()),
                        position,
                        bits,
                        ty: self.ty(&ty, depth, resolve)?,
                    })
                });
                let description = BitsetDescription {
                    name: name.into(),
                    fields: fields.collect::<PyResult<Vec<_>>>()?.into(),
                };
                description.check().map_err(|error| invalid(&error))?;
                Type::Bitset(Shared::from(description))
            }
            other => return Err(invalid(&format!("`{other}` is no kind of type"))),
        })
    }

    fn member(
        &self,
        member: &Bound<'py, PyAny>,
        depth: usize,
        resolve: &Resolve<'_>,
    ) -> PyResult<Member> {
        let (name, id, key, optional, must_understand, external, hash_id, ty, try_construct): (
            String,
            u32,
            bool,
            bool,
            bool,
            bool,
            Option<String>,
            Bound<'_, PyAny>,
            String,
        ) = member.extract()?;
        let known = TRY_CONSTRUCT
            .iter()
            .find(|(word, _)| *word == try_construct);
        let Some((_, try_construct)) = known else {
            let message = format!("`{try_construct}` is no @try_construct");
            return Err(Kind::Type.error(message));
        };
        Ok(Member {
            key,
            optional,
            must_understand,
            external,
            hash_id: hash_id.map(|text| Shared::from(text.as_str())),
            try_construct: *try_construct,
            ..Member::new(&name, id, self.ty(&ty, depth, resolve)?)
        })
    }

    fn ty(&self, ty: &Bound<'py, PyAny>, depth: usize, resolve: &Resolve<'_>) -> PyResult<Type> {
        if depth > MAX_DEPTH {
            return Err(Kind::Type.error("types nest too deeply"));
        }
        if let Ok(word) = ty.cast::<PyString>() {
            return primitive(&word.to_cow()?);
        }
        let parts = ty.cast::<PyTuple>()?;
        let kind: String = parts.get_item(0)?.extract()?;
        let inner = |at: usize| {
            let ty = self.ty(&parts.get_item(at)?, depth + 1, resolve)?;
            PyResult::Ok(Shared::from(ty))
        };
        let number = |at: usize| parts.get_item(at)?.extract::<u32>();
        Ok(match kind.as_str() {
            "string" => Type::String { bound: number(1)? },
            "wstring" => Type::WString { bound: number(1)? },
            "sequence" => Type::Sequence {
                element: inner(1)?,
                bound: number(2)?,
            },
            "array" => Type::Array {
                element: inner(1)?,
                length: number(2)?,
            },
            "map" => Type::Map {
                key: inner(1)?,
                value: inner(2)?,
                bound: number(3)?,
            },
            "named" => {
                let name: String = parts.get_item(1)?.extract()?;
                return self.named(&name, depth, resolve);
            }
            other => return Err(Kind::Type.error(format!("`{other}` is no type"))),
        })
    }
}

fn entry<'py>(table: &Bound<'py, PyDict>, name: &str) -> PyResult<(String, Bound<'py, PyTuple>)> {
    let entry = table.get_item(name)?;
    let entry = entry.ok_or_else(|| Kind::Type.error(format!("{name} is not described")))?;
    let entry = entry.cast_into::<PyTuple>()?;
    Ok((entry.get_item(0)?.extract()?, entry))
}

/// The definitions of a table that contain themselves, directly or not.
fn circular(table: &Bound<'_, PyDict>) -> PyResult<BTreeMap<String, u32>> {
    let mut needed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for name in table.keys() {
        let name: String = name.extract()?;
        let (_, parts) = entry(table, &name)?;
        let mut names = BTreeSet::new();
        find_named(parts.as_any(), 0, &mut names)?;
        needed.insert(name, names);
    }
    let is_circular = |name: &&String| {
        let mut seen = BTreeSet::new();
        let mut rest: Vec<&String> = needed.get(*name).into_iter().flatten().collect();
        while let Some(next) = rest.pop() {
            if next == *name {
                return true;
            }
            if seen.insert(next) {
                rest.extend(needed.get(next).into_iter().flatten());
            }
        }
        false
    };
    let circular = needed.keys().filter(is_circular).cloned();
    Ok(circular.zip(0..).collect())
}

/// What `("named", ...)` tuples name, wherever they stand.
fn find_named(
    object: &Bound<'_, PyAny>,
    depth: usize,
    names: &mut BTreeSet<String>,
) -> PyResult<()> {
    if depth > 2 * MAX_DEPTH {
        return Err(Kind::Type.error("types nest too deeply"));
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        if tuple.len() == 2
            && let (Ok(kind), Ok(name)) = (
                tuple.get_item(0)?.extract::<String>(),
                tuple.get_item(1)?.extract::<String>(),
            )
            && kind == "named"
        {
            names.insert(name);
            return Ok(());
        }
        for part in tuple.iter() {
            find_named(&part, depth + 1, names)?;
        }
    } else if let Ok(list) = object.cast::<PyList>() {
        for part in list.iter() {
            find_named(&part, depth + 1, names)?;
        }
    }
    Ok(())
}

fn primitive(word: &str) -> PyResult<Type> {
    if word == "decimal" {
        return Ok(Decimal::TYPE);
    }
    let known = PRIMITIVES.iter().find(|(name, _)| *name == word);
    let (_, ty) = known.ok_or_else(|| Kind::Type.error(format!("`{word}` is no type")))?;
    Ok(ty.clone())
}

const PRIMITIVES: [(&str, Type); 14] = [
    ("bool", Type::Bool),
    ("uint8", Type::U8),
    ("octet", Type::Byte),
    ("int8", Type::I8),
    ("uint16", Type::U16),
    ("int16", Type::I16),
    ("uint32", Type::U32),
    ("int32", Type::I32),
    ("uint64", Type::U64),
    ("int64", Type::I64),
    ("float32", Type::F32),
    ("float64", Type::F64),
    ("char", Type::Char),
    ("wchar", Type::WChar),
];

fn extensibility(word: &str) -> PyResult<Extensibility> {
    let all = [
        Extensibility::Final,
        Extensibility::Appendable,
        Extensibility::Mutable,
    ];
    let known = all.into_iter().find(|known| known.to_string() == word);
    known.ok_or_else(|| {
        Kind::Type.error(format!(
            "there is no extensibility `{word}`; there are final, appendable, mutable"
        ))
    })
}

/// The table of a description, and of all that it needs.
pub(crate) fn table<'py>(
    py: Python<'py>,
    description: &TypeDescription,
) -> PyResult<Bound<'py, PyDict>> {
    table_of(
        py,
        vec![Type::Struct(Shared::from(description.clone()))],
        MAX_TYPES,
    )
}

/// The table of types, and of all that they need: so many at most.
pub(crate) fn table_of(
    py: Python<'_>,
    mut rest: Vec<Type>,
    most: usize,
) -> PyResult<Bound<'_, PyDict>> {
    let table = PyDict::new(py);
    while let Some(ty) = rest.pop() {
        let name = name_of(&ty)?;
        if table.contains(&name)? {
            continue;
        }
        if table.len() >= most {
            return Err(Kind::Type.error(format!("the type needs more than {most} others")));
        }
        table.set_item(name, definition_entry(py, &ty, &mut rest)?)?;
    }
    Ok(table)
}

fn definition_entry<'py>(
    py: Python<'py>,
    ty: &Type,
    rest: &mut Vec<Type>,
) -> PyResult<Bound<'py, PyTuple>> {
    match ty {
        Type::Struct(of) => struct_entry(py, of, rest),
        Type::Union(of) => union_entry(py, of, rest),
        Type::Enum(of) => {
            let literals = of.literals.iter().map(|it| (&*it.name, it.value));
            let literals = PyList::new(py, literals)?;
            let ext = of.extensibility.to_string();
            ("enum", of.bit_bound, literals, ext).into_pyobject(py)
        }
        Type::Bitmask(of) => {
            let flags = of.flags.iter().map(|it| (&*it.name, it.position));
            let flags = PyList::new(py, flags)?;
            let ext = of.extensibility.to_string();
            ("bitmask", of.bit_bound, flags, ext).into_pyobject(py)
        }
        Type::Bitset(of) => {
            let fields = PyList::empty(py);
            for field in of.fields.iter() {
                let ty = expression(py, &field.ty, rest)?;
                fields.append((&*field.name, field.position, field.bits, ty))?;
            }
            ("bitset", fields).into_pyobject(py)
        }
        other => Err(Kind::Type.error(format!("{other} has no name"))),
    }
}

fn struct_entry<'py>(
    py: Python<'py>,
    of: &TypeDescription,
    rest: &mut Vec<Type>,
) -> PyResult<Bound<'py, PyTuple>> {
    let members = PyList::empty(py);
    for member in of.members.iter() {
        members.append(member_entry(py, member, rest)?)?;
    }
    let ext = of.extensibility.to_string();
    ("struct", ext, members, of.nested, of.hash_ids).into_pyobject(py)
}

fn union_entry<'py>(
    py: Python<'py>,
    of: &UnionDescription,
    rest: &mut Vec<Type>,
) -> PyResult<Bound<'py, PyTuple>> {
    let cases = PyList::empty(py);
    for case in of.cases.iter() {
        let labels = PyList::new(py, case.labels.iter())?;
        cases.append((member_entry(py, &case.member, rest)?, labels, case.default))?;
    }
    let ext = of.extensibility.to_string();
    let discriminator = expression(py, &of.discriminator, rest)?;
    let entry = (
        "union",
        ext,
        discriminator,
        cases,
        of.nested,
        of.discriminator_key,
    );
    entry.into_pyobject(py)
}

fn member_entry<'py>(
    py: Python<'py>,
    member: &Member,
    rest: &mut Vec<Type>,
) -> PyResult<Bound<'py, PyTuple>> {
    let words = TRY_CONSTRUCT.iter();
    let mut words = words.filter(|(_, known)| *known == member.try_construct);
    let entry = (
        &*member.name,
        member.id,
        member.key,
        member.optional,
        member.must_understand,
        member.external,
        member.hash_id.as_deref(),
        expression(py, &member.ty, rest)?,
        words.next().map_or("discard", |(word, _)| word),
    );
    entry.into_pyobject(py)
}

/// What tables call what becomes of a member that its type cannot hold.
const TRY_CONSTRUCT: [(&str, TryConstruct); 3] = [
    ("discard", TryConstruct::Discard),
    ("use_default", TryConstruct::UseDefault),
    ("trim", TryConstruct::Trim),
];

/// A type as a member has it; `rest` gets what it names.
fn expression<'py>(
    py: Python<'py>,
    ty: &Type,
    rest: &mut Vec<Type>,
) -> PyResult<Bound<'py, PyAny>> {
    let tuple = match ty {
        Type::String { bound } => ("string", bound).into_pyobject(py)?,
        Type::WString { bound } => ("wstring", bound).into_pyobject(py)?,
        Type::Sequence { element, bound } => {
            ("sequence", expression(py, element, rest)?, bound).into_pyobject(py)?
        }
        Type::Array { element, length } => {
            ("array", expression(py, element, rest)?, length).into_pyobject(py)?
        }
        Type::Map { key, value, bound } => {
            let (key, value) = (expression(py, key, rest)?, expression(py, value, rest)?);
            ("map", key, value, bound).into_pyobject(py)?
        }
        Type::Recursive(link) => {
            let target = link.target();
            let target = target.ok_or_else(|| Kind::Type.error("the type has gone"))?;
            return named_expression(py, target, rest);
        }
        Type::Enum(_) | Type::Bitmask(_) | Type::Bitset(_) | Type::Struct(_) | Type::Union(_) => {
            if *ty == Decimal::TYPE {
                return Ok(PyString::new(py, "decimal").into_any());
            }
            return named_expression(py, ty.clone(), rest);
        }
        primitive => {
            let known = PRIMITIVES.iter().find(|(_, known)| known == primitive);
            let (word, _) = known.ok_or_else(|| Kind::Type.error(format!("{ty} is not known")))?;
            return Ok(PyString::new(py, word).into_any());
        }
    };
    Ok(tuple.into_any())
}

fn named_expression<'py>(
    py: Python<'py>,
    ty: Type,
    rest: &mut Vec<Type>,
) -> PyResult<Bound<'py, PyAny>> {
    let name = name_of(&ty)?;
    rest.push(ty);
    Ok(("named", name).into_pyobject(py)?.into_any())
}

fn name_of(ty: &Type) -> PyResult<String> {
    Ok(match ty {
        Type::Struct(of) => of.name.to_string(),
        Type::Union(of) => of.name.to_string(),
        Type::Enum(of) => of.name.to_string(),
        Type::Bitmask(of) => of.name.to_string(),
        Type::Bitset(of) => of.name.to_string(),
        other => return Err(Kind::Type.error(format!("{other} has no name"))),
    })
}

/// Types that one needs, directly or not.
const MAX_TYPES: usize = 256;
/// Members of a type, as many as are taken from peers.
const MAX_MEMBERS: usize = 4096;
/// How deep types nest.
const MAX_DEPTH: usize = 64;
