//! Payloads to Python objects, along a plan.

use std::cell::Cell;
use std::fmt::Write as _;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyList, PyString, PyTuple};
use tickwire::Decimal;
use tickwire::cdr::dynamic::Form;
use tickwire::cdr::{
    ByteOrder, DecodeError, DecodeErrorKind, Encapsulation, Extensibility, Reader, Representation,
    Trim, TryConstruct, Type, UnionDescription, WString,
};

use crate::errors::{Kind, ends};
use crate::memory::Memory;
use crate::numbers::{Number, View, to_python};
use crate::plan::{Fields, Flags, MAX_DEPTH, Make, MemberPlan, Node, Plan, StructPlan, UnionPlan};

/// Why there is no object.
pub(crate) struct Failure {
    cause: Cause,
    /// The members on the way to it, the innermost first.
    path: Vec<Box<str>>,
}

enum Cause {
    Payload(DecodeError),
    Python(PyErr),
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        Self {
            cause: Cause::Payload(error),
            path: Vec::new(),
        }
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self {
            cause: Cause::Python(error),
            path: Vec::new(),
        }
    }
}

impl Failure {
    fn within(mut self, name: &str) -> Self {
        self.path.push(name.into());
        self
    }

    fn into_error(self, of: &str) -> PyErr {
        let mut place = of.to_owned();
        for step in self.path.iter().rev() {
            // Writing to a string succeeds.
            let _ = write!(place, ".{step}");
        }
        match self.cause {
            Cause::Payload(error) => Kind::Decode.error(format!("{place}: {error}")),
            Cause::Python(cause) => Python::attach(|py| match ends(py, &cause) {
                true => cause,
                false => {
                    let error = Kind::Decode.error(format!("{place}: {cause}"));
                    error.set_cause(py, Some(cause));
                    error
                }
            }),
        }
    }
}

type Object<'py> = Bound<'py, PyAny>;
type Decoded<'py> = Result<Object<'py>, Failure>;

/// The object of a payload: with [`Form::Key`] a dict of the key members.
pub(crate) fn decode<'py>(
    py: Python<'py>,
    plan: &Plan,
    memory: &Memory,
    form: Form,
) -> PyResult<Object<'py>> {
    let Some(root) = plan.structs.get(plan.root) else {
        return Err(Kind::Decode.error("the type has no members"));
    };
    let decoder = Decoder {
        py,
        plan,
        memory,
        form,
        budget: Cell::new(MAX_DEFAULTS),
    };
    let decoded = decoder.payload(root);
    decoded.map_err(|failure| failure.into_error(&root.name))
}

struct Decoder<'d, 'py> {
    py: Python<'py>,
    plan: &'d Plan,
    memory: &'d Memory,
    form: Form,
    /// How many more bytes of memory may be made up for members that are not there: a type can have arrays
    /// of any length.
    budget: Cell<usize>,
}

impl<'py> Decoder<'_, 'py> {
    fn payload(&self, root: &StructPlan) -> Decoded<'py> {
        let (encapsulation, body) = Encapsulation::parse(self.memory.bytes())?;
        let representation = encapsulation.representation;
        let expected = Encapsulation::new(representation, root.extensibility).extensibility;
        let mut reader = Reader::new(body, encapsulation);
        if encapsulation.extensibility != expected {
            return Err(reader.error(DecodeErrorKind::WrongExtensibility).into());
        }
        if self.form == Form::Key && !root.has_key {
            return Ok(PyDict::new(self.py).into_any());
        }
        self.structure(root, &mut reader, 0)
    }

    fn structure(&self, plan: &StructPlan, reader: &mut Reader<'_>, depth: usize) -> Decoded<'py> {
        let all = self.form == Form::Sample || !plan.has_key;
        let mut values: Vec<Option<Object<'py>>> = Vec::new();
        values.resize_with(plan.members.len(), || None);
        let scope = reader.begin_struct(plan.extensibility)?;
        if plan.extensibility == Extensibility::Mutable {
            let is_empty = |id| {
                let mut members = plan.members.iter();
                members.any(|member| member.id == id && self.has_no_bytes(&member.node))
            };
            while let Some(header) = reader.next_member_with(&scope, is_empty)? {
                let members = plan.members.iter().zip(&mut values);
                let mut known = members.filter(|(member, _)| all || member.is_key);
                match known.find(|(member, _)| member.id == header.id) {
                    Some((member, value)) => {
                        *value = self.member(member, reader, depth + 1)?;
                    }
                    None => reader.skip_unknown(&header)?,
                }
                reader.end_member(header);
            }
        } else {
            for (member, value) in plan.members.iter().zip(&mut values) {
                if !all && !member.is_key {
                    continue;
                }
                if !reader.has_member(&scope) {
                    break;
                }
                if !member.optional {
                    *value = self.member(member, reader, depth + 1)?;
                } else if let Some(header) = reader.begin_optional(member.id)? {
                    *value = self.member(member, reader, depth + 1)?;
                    reader.end_member(header);
                }
            }
        }
        reader.end_struct(scope);
        self.make(plan, values, all)
    }

    /// Whether values are there although they have no bytes: those of final structs without members.
    fn has_no_bytes(&self, node: &Node) -> bool {
        let Node::Struct(index) = node else {
            return false;
        };
        let of = self.plan.structs.get(*index);
        of.is_some_and(|of| of.members.is_empty() && of.extensibility == Extensibility::Final)
    }

    /// The object of a member; `None` if it is to be its default, as its type cannot hold what there is.
    fn member(
        &self,
        member: &MemberPlan,
        reader: &mut Reader<'_>,
        depth: usize,
    ) -> Result<Option<Object<'py>>, Failure> {
        let within = |failure: Failure| failure.within(&member.name);
        match member.try_construct {
            TryConstruct::Discard => self.value(&member.node, reader, depth),
            TryConstruct::Trim => self.value_of(&member.node, true, reader, depth),
            TryConstruct::UseDefault => {
                let tried = reader.begin_try();
                let value = self.value(&member.node, reader, depth).map_err(within)?;
                return Ok((!reader.end_try(tried)).then_some(value));
            }
        }
        .map_err(within)
        .map(Some)
    }

    /// The object of a struct; what is not there is absent or zero.
    fn make(&self, plan: &StructPlan, values: Vec<Option<Object<'py>>>, all: bool) -> Decoded<'py> {
        let py = self.py;
        let members = plan.members.iter().zip(values);
        let members = members.filter(|(member, _)| all || member.is_key);
        let members = members.map(|(member, value)| -> Result<_, Failure> {
            let value = match value {
                Some(value) => value,
                None if member.optional => py.None().into_bound(py),
                None => self.missing(member, 0)?,
            };
            Ok((member, value))
        });
        let make = match self.form {
            Form::Sample => &plan.make,
            Form::Key => &Make::Dict,
        };
        match make {
            Make::Dict => {
                let dict = PyDict::new(py);
                for made in members {
                    let (member, value) = made?;
                    dict.set_item(&member.key, value)?;
                }
                Ok(dict.into_any())
            }
            Make::Positional(class) => {
                let values = members.map(|made| made.map(|(_, value)| value));
                let values = values.collect::<Result<Vec<_>, Failure>>()?;
                Ok(class.bind(py).call1(PyTuple::new(py, values)?)?)
            }
            Make::Keywords(class) => {
                let dict = PyDict::new(py);
                for made in members {
                    let (member, value) = made?;
                    dict.set_item(&member.attribute, value)?;
                }
                Ok(class.bind(py).call((), Some(&dict))?)
            }
            Make::Bare => {
                let mut members = members;
                match members.next() {
                    Some(made) => Ok(made?.1),
                    None => Ok(py.None().into_bound(py)),
                }
            }
        }
    }

    fn union(&self, plan: &UnionPlan, reader: &mut Reader<'_>, depth: usize) -> Decoded<'py> {
        let headers = plan.extensibility == Extensibility::Mutable;
        let scope = reader.begin_struct(plan.extensibility)?;
        let header = match headers {
            true => reader.next_member(&scope)?,
            false => None,
        };
        let id = header.as_ref().map(|header| header.id);
        if headers && id != Some(UnionDescription::DISCRIMINATOR_ID) {
            return Err(reader.error(DecodeErrorKind::MalformedMemberHeader).into());
        }
        let label = label(&plan.discriminator, &mut reader.clone())?;
        if let Node::Enum(literals) = &plan.discriminator
            && reader.is_trying()
            && i32::try_from(label).is_ok_and(|label| !literals.members.contains_key(&label))
        {
            // It is not known either what follows.
            match header {
                Some(header) => reader.end_member(header),
                None => drop(reader.read_enum(literals.size)?),
            }
            reader.unknown_case(&scope, plan.extensibility, label, "")?;
            reader.end_struct(scope);
            return Ok(self.py.None().into_bound(self.py));
        }
        let discriminator = self.value(&plan.discriminator, reader, depth + 1)?;
        if let Some(header) = header {
            reader.end_member(header);
        }
        let is_key = self.form == Form::Key && plan.description.discriminator_key;
        let selected = plan.description.case(label).filter(|_| !is_key);
        let selected = selected.and_then(|case| {
            let mut cases = plan.cases.iter();
            cases.find(|known| known.id == case.member.id)
        });
        let mut value = None;
        if headers {
            while let Some(header) = reader.next_member(&scope)? {
                match selected.filter(|case| case.id == header.id) {
                    Some(case) => value = self.member(case, reader, depth + 1)?,
                    None => reader.skip_unknown(&header)?,
                }
                reader.end_member(header);
            }
        } else if let Some(case) = selected {
            value = self.member(case, reader, depth + 1)?;
        }
        reader.end_struct(scope);
        let member = match (selected, value) {
            (Some(case), Some(value)) => Some((case, value)),
            (Some(case), None) => Some((case, self.missing(case, 0)?)),
            (None, _) => None,
        };
        self.make_union(plan, discriminator, member)
    }

    fn make_union(
        &self,
        plan: &UnionPlan,
        discriminator: Object<'py>,
        member: Option<(&MemberPlan, Object<'py>)>,
    ) -> Decoded<'py> {
        let py = self.py;
        if let (Some(class), Form::Sample) = (&plan.class, self.form) {
            let none = || py.None().into_bound(py);
            let (name, value) = match member {
                Some((case, value)) => (case.attribute.bind(py).clone().into_any(), value),
                None => (none(), none()),
            };
            let make = pyo3::intern!(py, "_make");
            let made = class
                .bind(py)
                .call_method1(make, (discriminator, name, value));
            return Ok(made?);
        }
        let dict = PyDict::new(py);
        dict.set_item(DISCRIMINATOR, discriminator)?;
        if let Some((case, value)) = member {
            dict.set_item(&case.key, value)?;
        }
        Ok(dict.into_any())
    }

    fn value(&self, node: &Node, reader: &mut Reader<'_>, depth: usize) -> Decoded<'py> {
        self.value_of(node, false, reader, depth)
    }

    /// The object of a value, of which the beginning is kept if it has more than its bound allows and is to be trimmed.
    fn value_of(
        &self,
        node: &Node,
        trim: bool,
        reader: &mut Reader<'_>,
        depth: usize,
    ) -> Decoded<'py> {
        // What it may have, and how much of it is kept.
        let limits = |bound: u32| match bound {
            1.. if trim => (0, usize::try_from(bound).unwrap_or(usize::MAX)),
            bound => (bound, usize::MAX),
        };
        if depth > MAX_DEPTH {
            return Err(reader.error(DecodeErrorKind::TooDeep).into());
        }
        let py = self.py;
        Ok(match node {
            Node::Bool => PyBool::new(py, reader.read_bool()?).to_owned().into_any(),
            Node::Number(number) => {
                let bytes = reader.read_numbers(1, number.size())?;
                number.read(py, bytes, reader.byte_order())?
            }
            Node::Char => {
                let char = char::from(reader.read_u8()?);
                PyString::new(py, char.encode_utf8(&mut [0; 4])).into_any()
            }
            Node::WChar => self.wide(reader.read_u16()?)?,
            Node::String { bound } if trim && *bound > 0 => {
                let mut text = reader.read_str(0)?.to_owned();
                text.trim(*bound);
                PyString::new(py, &text).into_any()
            }
            Node::String { bound } => PyString::new(py, reader.read_str(*bound)?).into_any(),
            Node::WString { bound } => {
                let mut text = WString::default();
                reader.read_wstring_into(limits(*bound).0, &mut text.0)?;
                if trim && *bound > 0 {
                    text.trim(*bound);
                }
                PyString::new(py, &text.0).into_any()
            }
            Node::Octets { bound } => {
                let (bound, kept) = limits(*bound);
                let scope = reader.begin_sequence(bound, true, 1)?;
                let bytes = reader.read_numbers(scope.count, 1)?;
                reader.end_sequence(scope);
                PyBytes::new(py, bytes.get(..kept).unwrap_or(bytes)).into_any()
            }
            Node::Numbers {
                number,
                bound,
                shape,
            } => {
                let (scope, shape) = match shape {
                    None => {
                        let (bound, kept) = limits(*bound);
                        let scope = reader.begin_sequence(bound, true, number.size())?;
                        let shape = vec![scope.count.min(kept)];
                        (scope, shape)
                    }
                    Some(shape) => (reader.begin_array(flat(shape), true)?, shape.clone()),
                };
                let bytes = reader.read_numbers(scope.count, number.size())?;
                let start = Encapsulation::SIZE + reader.position() - bytes.len();
                let order = reader.byte_order();
                reader.end_sequence(scope);
                let view = View::new(self.memory.clone(), start, *number, order, shape);
                to_python(py, view)?
            }
            Node::Sequence {
                element,
                bound,
                primitive,
            } => {
                let (bound, kept) = limits(*bound);
                let scope = reader.begin_sequence(bound, *primitive, 1)?;
                self.charge(element, scope.count, reader)?;
                let list = PyList::empty(py);
                for index in 0..scope.count {
                    let value = self.value(element, reader, depth + 1)?;
                    if index < kept {
                        list.append(value)?;
                    }
                }
                reader.end_sequence(scope);
                list.into_any()
            }
            Node::Array {
                element,
                shape,
                primitive,
            } => {
                let scope = reader.begin_array(flat(shape), *primitive)?;
                self.charge(element, scope.count, reader)?;
                let list = self.array(element, shape, reader, depth + 1)?;
                reader.end_sequence(scope);
                list
            }
            Node::Map {
                key,
                value,
                bound,
                primitive,
            } => {
                let (bound, kept) = limits(*bound);
                let scope = reader.begin_sequence(bound, *primitive, 2)?;
                self.charge(key, scope.count, reader)?;
                self.charge(value, scope.count, reader)?;
                let dict = PyDict::new(py);
                for index in 0..scope.count {
                    let key = self.value(key, reader, depth + 1)?;
                    let value = self.value(value, reader, depth + 1)?;
                    if index < kept {
                        dict.set_item(key, value)?;
                    }
                }
                reader.end_sequence(scope);
                dict.into_any()
            }
            Node::Enum(literals) => {
                let value = reader.read_enum(literals.size)?;
                match literals.members.get(&value) {
                    Some(member) => member.bind(py).clone(),
                    None => {
                        reader.not_constructed(DecodeErrorKind::UnknownLiteral(value))?;
                        // Any: it becomes of what is thrown away.
                        let any = literals.members.values().next();
                        any.map_or_else(|| py.None().into_bound(py), |any| any.bind(py).clone())
                    }
                }
            }
            Node::Bitmask(flags) => {
                let bits = reader.read_bits(flags.size)?;
                match &flags.class {
                    Some(class) => flag(class.bind(py), flags, bits)?,
                    None => bits.into_pyobject(py).map_err(PyErr::from)?.into_any(),
                }
            }
            Node::Bitset(fields) => {
                let bits = reader.read_bits(fields.size)?;
                self.bitset(fields, bits)?
            }
            Node::Decimal => {
                let (mantissa, exponent) = (reader.read_i64()?, reader.read_i32()?);
                let value = i8::try_from(exponent)
                    .ok()
                    .and_then(|exponent| Decimal::new(mantissa, exponent));
                let invalid = || reader.error(DecodeErrorKind::InvalidExponent(exponent));
                decimal(py, value.ok_or_else(invalid)?)?
            }
            Node::Struct(at) => match self.plan.structs.get(*at) {
                Some(plan) => self.structure(plan, reader, depth)?,
                None => return Err(reader.error(DecodeErrorKind::TooDeep).into()),
            },
            Node::Union(at) => match self.plan.unions.get(*at) {
                Some(plan) => self.union(plan, reader, depth)?,
                None => return Err(reader.error(DecodeErrorKind::TooDeep).into()),
            },
        })
    }

    /// Lists within lists, one for each dimension.
    fn array(
        &self,
        element: &Node,
        shape: &[usize],
        reader: &mut Reader<'_>,
        depth: usize,
    ) -> Decoded<'py> {
        let Some((count, inner)) = shape.split_first() else {
            return self.value(element, reader, depth);
        };
        if depth > MAX_DEPTH {
            return Err(reader.error(DecodeErrorKind::TooDeep).into());
        }
        let list = PyList::empty(self.py);
        for _ in 0..*count {
            list.append(self.array(element, inner, reader, depth + 1)?)?;
        }
        Ok(list.into_any())
    }

    /// A unit of UTF-16, which may be half of a character.
    fn wide(&self, unit: u16) -> Decoded<'py> {
        let py = self.py;
        match char::from_u32(unit.into()) {
            Some(char) => Ok(PyString::new(py, char.encode_utf8(&mut [0; 4])).into_any()),
            None => Ok(py.import("builtins")?.getattr("chr")?.call1((unit,))?),
        }
    }

    fn bitset(&self, fields: &Fields, bits: u64) -> Decoded<'py> {
        let py = self.py;
        let dict = PyDict::new(py);
        for (field, name) in fields.description.fields.iter().zip(&fields.names) {
            let value = field.value(bits);
            match field.ty {
                Type::Bool => dict.set_item(name, value != 0)?,
                _ => dict.set_item(name, value)?,
            }
        }
        match &fields.make {
            Make::Positional(class) | Make::Keywords(class) if self.form == Form::Sample => {
                Ok(class.bind(py).call((), Some(&dict))?)
            }
            _ => Ok(dict.into_any()),
        }
    }

    /// What the elements of a collection take in memory, at least, which a handful of bytes must not
    /// make large.
    fn charge(&self, element: &Node, count: usize, reader: &mut Reader<'_>) -> Result<(), Failure> {
        Ok(reader.charge(count.saturating_mul(self.size(element)))?)
    }

    /// What an object takes in memory, at least.
    fn size(&self, node: &Node) -> usize {
        match node {
            Node::Struct(at) => {
                let plan = self.plan.structs.get(*at);
                48 + 16 * plan.map_or(0, |plan| plan.members.len())
            }
            Node::Union(_) => 96,
            _ => 32,
        }
    }

    /// Takes bytes of memory from what may be made up.
    fn make_up(&self, bytes: usize) -> Result<(), Failure> {
        let left = self.budget.get().checked_sub(bytes);
        self.budget.set(left.ok_or_else(too_large)?);
        Ok(())
    }

    /// What a member has that the writer does not know: its default, else that of its type.
    fn missing(&self, member: &MemberPlan, depth: usize) -> Decoded<'py> {
        match &member.default {
            Some(default) => Ok(default.bind(self.py).clone()),
            None => self.default(&member.node, depth),
        }
    }

    /// What values of a type are where nothing is known of them: zero, empty, the first literal.
    fn default(&self, node: &Node, depth: usize) -> Decoded<'py> {
        let py = self.py;
        if depth > MAX_DEPTH {
            return Err(too_large());
        }
        self.make_up(self.size(node))?;
        Ok(match node {
            Node::Bool => PyBool::new(py, false).to_owned().into_any(),
            Node::Number(number) => number.read(py, &[0; 8], ByteOrder::Little)?,
            Node::Char | Node::WChar => PyString::new(py, "\0").into_any(),
            Node::String { .. } | Node::WString { .. } => PyString::new(py, "").into_any(),
            Node::Octets { .. } => PyBytes::new(py, &[]).into_any(),
            Node::Numbers { number, shape, .. } => {
                let shape = shape.clone().unwrap_or_else(|| vec![0]);
                let len = flat(&shape).saturating_mul(number.size());
                self.make_up(len)?;
                let memory = Memory::Own(vec![0; len].into());
                to_python(py, View::new(memory, 0, *number, ByteOrder::Little, shape))?
            }
            Node::Sequence { .. } => PyList::empty(py).into_any(),
            Node::Array { element, shape, .. } => self.default_array(element, shape, depth)?,
            Node::Map { .. } => PyDict::new(py).into_any(),
            Node::Enum(literals) => {
                let first = literals.description.literals.first();
                let member = first.and_then(|first| literals.members.get(&first.value));
                member.map_or_else(|| py.None().into_bound(py), |it| it.bind(py).clone())
            }
            Node::Bitmask(flags) => match &flags.class {
                Some(class) => class.bind(py).call1((0,))?,
                None => 0_u64.into_pyobject(py).map_err(PyErr::from)?.into_any(),
            },
            Node::Bitset(fields) => self.bitset(fields, 0)?,
            Node::Decimal => decimal(py, Decimal::default())?,
            Node::Struct(at) => {
                let plan = self.plan.structs.get(*at).ok_or_else(too_large)?;
                let mut values = Vec::new();
                for member in &plan.members {
                    values.push(match member.optional {
                        true => None,
                        false => Some(self.missing(member, depth + 1)?),
                    });
                }
                self.make(plan, values, self.form == Form::Sample || !plan.has_key)?
            }
            Node::Union(at) => {
                let plan = self.plan.unions.get(*at).ok_or_else(too_large)?;
                self.default_union(plan, depth)?
            }
        })
    }

    fn default_array(&self, element: &Node, shape: &[usize], depth: usize) -> Decoded<'py> {
        let Some((count, inner)) = shape.split_first() else {
            return self.default(element, depth + 1);
        };
        self.make_up(LIST)?;
        let list = PyList::empty(self.py);
        for _ in 0..*count {
            list.append(self.default_array(element, inner, depth)?)?;
        }
        Ok(list.into_any())
    }

    /// That which the discriminator's own default selects, as in every other language.
    fn default_union(&self, plan: &UnionPlan, depth: usize) -> Decoded<'py> {
        let label = match &plan.discriminator {
            Node::Enum(literals) => literals.description.literals.first(),
            _ => None,
        };
        let label = label.map_or(0, |first| first.value.into());
        let selected = plan.description.case(label);
        let mut cases = plan.description.cases.iter().zip(&plan.cases);
        let selected = cases.find(|(case, _)| selected.is_some_and(|it| std::ptr::eq(it, *case)));
        let discriminator = self.default(&plan.discriminator, depth + 1)?;
        let member = match selected {
            Some((_, case)) => Some((case, self.missing(case, depth + 1)?)),
            None => None,
        };
        self.make_union(plan, discriminator, member)
    }
}

/// More is to be made up than may be.
fn too_large() -> Failure {
    let encapsulation = Encapsulation::new(Representation::Xcdr2, Extensibility::Final);
    let nothing = Reader::new(&[], encapsulation);
    nothing.error(DecodeErrorKind::TooLarge).into()
}

/// The value of a discriminator. Those beyond `i64` select what no label selects.
fn label(node: &Node, reader: &mut Reader<'_>) -> Result<i64, DecodeError> {
    Ok(match node {
        Node::Bool => reader.read_bool()?.into(),
        Node::WChar => reader.read_u16()?.into(),
        Node::Number(Number::I8) => reader.read_i8()?.into(),
        Node::Number(Number::U16) => reader.read_u16()?.into(),
        Node::Number(Number::I16) => reader.read_i16()?.into(),
        Node::Number(Number::U32) => reader.read_u32()?.into(),
        Node::Number(Number::I32) => reader.read_i32()?.into(),
        Node::Number(Number::U64) => i64::try_from(reader.read_u64()?).unwrap_or(i64::MAX),
        Node::Number(Number::I64) => reader.read_i64()?,
        Node::Enum(literals) => reader.read_enum(literals.size)?.into(),
        _ => reader.read_u8()?.into(),
    })
}

/// A value of a flag enum, which keeps each that it has made: only so many of those that writers send.
fn flag<'py>(class: &Object<'py>, flags: &Flags, bits: u64) -> PyResult<Object<'py>> {
    let known = flags.known.as_ref().map(|known| known.bind(class.py()));
    let is_new = match known {
        Some(known) => known.len() >= MAX_FLAGS && !known.contains(bits)?,
        None => false,
    };
    let made = class.call1((bits,))?;
    if let Some(known) = known.filter(|_| is_new) {
        known.call_method1("pop", (bits, ()))?;
    }
    Ok(made)
}

/// A `decimal.Decimal`, exactly.
fn decimal(py: Python<'_>, value: Decimal) -> PyResult<Bound<'_, PyAny>> {
    let text = format!("{}E{}", value.mantissa(), value.exponent());
    decimal_class(py)?.call1((text,))
}

/// The class `decimal.Decimal`.
pub(crate) fn decimal_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || {
        let class = py.import("decimal")?.getattr("Decimal")?;
        PyResult::Ok(class.unbind())
    });
    Ok(class?.bind(py))
}

/// Elements of an array, all of its dimensions counted.
pub(crate) fn flat(shape: &[usize]) -> usize {
    let product = |all: usize, length: &usize| all.saturating_mul(*length);
    shape.iter().fold(1, product)
}

/// What dicts call the discriminator of a union.
pub(crate) const DISCRIMINATOR: &str = "$discriminator";
/// Bytes of memory that are made up for one sample.
const MAX_DEFAULTS: usize = 16 << 20;
/// Those of an empty list.
const LIST: usize = 56;
/// Values that a flag enum keeps.
const MAX_FLAGS: usize = 1_024;
