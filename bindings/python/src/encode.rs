//! Python objects to payloads, along a plan. What an object does when its attributes are asked for is code of
//! Python's: it runs before any lock of the engine is taken.

use std::borrow::Cow;

use pyo3::exceptions::{PyAttributeError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyIterator, PyMapping, PyString};
use tickwire::Decimal;
use tickwire::cdr::dynamic::Form;
use tickwire::cdr::{EncodeError, EncodeErrorKind, Representation, Type, Writer, encapsulated};

use crate::decode::{DISCRIMINATOR, decimal_class, flat};
use crate::errors::{Kind, ends, fitting};
use crate::numbers::{Number, from_buffer};
use crate::plan::{
    Fields, Flags, Literals, MAX_DEPTH, Make, MemberPlan, Node, Plan, StructPlan, UnionPlan,
};

/// Why there is no payload.
pub(crate) struct Wrong {
    why: Why,
    /// The way to it, the innermost step first.
    path: Vec<String>,
}

enum Why {
    /// Not such an object: what was expected.
    Kind(String),
    /// Such an object, but not such a value.
    Value(String),
    Python(PyErr),
}

impl From<EncodeError> for Wrong {
    fn from(error: EncodeError) -> Self {
        Self::value(error.to_string())
    }
}

impl From<PyErr> for Wrong {
    fn from(error: PyErr) -> Self {
        Self {
            why: Why::Python(error),
            path: Vec::new(),
        }
    }
}

impl Wrong {
    fn value(text: impl Into<String>) -> Self {
        Self {
            why: Why::Value(text.into()),
            path: Vec::new(),
        }
    }

    fn kind(expected: &str, found: &Bound<'_, PyAny>) -> Self {
        let found = found.get_type();
        let name = found
            .name()
            .map_or_else(|_| "?".to_owned(), |name| name.to_string());
        Self {
            why: Why::Kind(format!("expected {expected}, got {name}")),
            path: Vec::new(),
        }
    }

    fn range(expected: &str, found: &Bound<'_, PyAny>) -> Self {
        let mut found = match shown(found) {
            Ok(found) => found,
            Err(error) => return error.into(),
        };
        if found.chars().count() > MAX_SHOWN {
            found = found.chars().take(MAX_SHOWN).chain("...".chars()).collect();
        }
        Self::value(format!("{found} does not fit {expected}"))
    }

    fn too_deep() -> Self {
        let kind = EncodeErrorKind::TooDeep;
        Self::value(format!(
            "{}, or contain themselves",
            EncodeError::from(kind)
        ))
    }

    fn at(mut self, step: impl Into<String>) -> Self {
        self.path.push(step.into());
        self
    }

    fn into_error(self, of: &str) -> PyErr {
        let mut place = of.to_owned();
        for step in self.path.iter().rev() {
            place.push_str(step);
        }
        match self.why {
            Why::Kind(text) => Kind::EncodeType.error(format!("{place}: {text}")),
            Why::Value(text) => Kind::Encode.error(format!("{place}: {text}")),
            Why::Python(cause) => Python::attach(|py| match ends(py, &cause) {
                true => cause,
                false => {
                    let error = Kind::Encode.error(format!("{place}: {cause}"));
                    error.set_cause(py, Some(cause));
                    error
                }
            }),
        }
    }
}

type Written = Result<(), Wrong>;

/// Appends the payload of an object; with [`Form::Key`] of its key members alone. On an error the buffer
/// is as it was.
pub(crate) fn encode(
    plan: &Plan,
    object: &Bound<'_, PyAny>,
    form: Form,
    representation: Representation,
    buffer: &mut Vec<u8>,
) -> PyResult<()> {
    let Some(root) = plan.structs.get(plan.root) else {
        return Err(Kind::Encode.error("the type has no members"));
    };
    let encoder = Encoder { plan, form };
    let encoded = encapsulated(representation, root.extensibility, buffer, |writer| {
        if form == Form::Key && !root.has_key {
            return Ok(());
        }
        encoder.structure(root, object, writer, 0)
    });
    encoded.map_err(|wrong| wrong.into_error(&root.name))
}

struct Encoder<'e> {
    plan: &'e Plan,
    form: Form,
}

impl Encoder<'_> {
    fn structure(
        &self,
        plan: &StructPlan,
        object: &Bound<'_, PyAny>,
        writer: &mut Writer<'_>,
        depth: usize,
    ) -> Written {
        if depth > MAX_DEPTH {
            return Err(Wrong::too_deep());
        }
        let py = object.py();
        let all = self.form == Form::Sample || !plan.has_key;
        let fields = Fielded::of(plan, object)?;
        let mark = writer.begin_struct(plan.extensibility);
        for member in plan.members.iter().filter(|member| all || member.is_key) {
            let value = match fields.get(member)? {
                Some(value) => value,
                None if member.optional => py.None().into_bound(py),
                None => {
                    let name = &member.name;
                    return Err(Wrong::value(format!("the member `{name}` is missing")));
                }
            };
            if member.optional && value.is_none() {
                writer.absent_member(&mark, member.header);
                continue;
            }
            let begun = writer.begin_member(&mark, member.header);
            self.value(&member.node, &value, writer, depth + 1)
                .map_err(|wrong| wrong.at(format!(".{}", member.name)))?;
            writer.end_member(begun)?;
        }
        Ok(writer.end_struct(mark)?)
    }

    fn union(
        &self,
        plan: &UnionPlan,
        object: &Bound<'_, PyAny>,
        writer: &mut Writer<'_>,
        depth: usize,
    ) -> Written {
        if depth > MAX_DEPTH {
            return Err(Wrong::too_deep());
        }
        let py = object.py();
        let (discriminator, named) = parts_of_union(plan, object)?;
        let label = match (&discriminator, &named) {
            (Some(discriminator), _) => label(&plan.discriminator, discriminator)
                .map_err(|wrong| wrong.at(".discriminator"))?,
            (None, Some((case, _))) => {
                label_of(plan, case).ok_or_else(|| Wrong::value("no discriminator selects it"))?
            }
            (None, None) => return Err(Wrong::value("neither a discriminator nor a member")),
        };
        let selected = plan
            .description
            .case(i64::try_from(label).unwrap_or(i64::MAX));
        let selected = selected.and_then(|case| {
            let mut cases = plan.cases.iter();
            cases.find(|known| known.id == case.member.id)
        });
        if let Some((case, _)) = named
            && selected.is_none_or(|selected| selected.id != case.id)
        {
            let selects = selected.map_or("nothing", |selected| &selected.name);
            let name = &case.name;
            let why = format!("the discriminator selects {selects}, the member is `{name}`");
            return Err(Wrong::value(why));
        }
        let mark = writer.begin_struct(plan.extensibility);
        let begun = writer.begin_member(&mark, plan.header);
        write_label(&plan.discriminator, label, writer)
            .ok_or_else(|| Wrong::value(format!("the discriminator {label} is out of range")))?;
        writer.end_member(begun)?;
        let is_key = self.form == Form::Key && plan.description.discriminator_key;
        if let Some(case) = selected.filter(|_| !is_key) {
            let none = py.None().into_bound(py);
            let value = named.as_ref().map_or(&none, |(_, value)| value);
            let begun = writer.begin_member(&mark, case.header);
            self.value(&case.node, value, writer, depth + 1)
                .map_err(|wrong| wrong.at(format!(".{}", case.name)))?;
            writer.end_member(begun)?;
        }
        Ok(writer.end_struct(mark)?)
    }

    fn value(
        &self,
        node: &Node,
        object: &Bound<'_, PyAny>,
        writer: &mut Writer<'_>,
        depth: usize,
    ) -> Written {
        if depth > MAX_DEPTH {
            return Err(Wrong::too_deep());
        }
        match node {
            Node::Bool => writer.write_bool(boolean(object)?),
            Node::Number(number) => write_number(*number, object, writer)?,
            Node::Char => writer.write_u8(char8(object)?),
            Node::WChar => writer.write_u16(char16(object)?),
            Node::String { bound } => writer.write_string(&text(object, "str")?, *bound)?,
            Node::WString { bound } => writer.write_wstring(&text(object, "str")?, *bound)?,
            Node::Octets { bound } => self.octets(*bound, object, writer)?,
            Node::Numbers {
                number,
                bound,
                shape,
            } => self.numbers(*number, *bound, shape.as_deref(), object, writer)?,
            Node::Sequence {
                element,
                bound,
                primitive,
            } => {
                let mark = writer.begin_sequence(*primitive);
                let mut count = 0;
                for value in elements(object)? {
                    let value = value?;
                    self.value(element, &value, writer, depth + 1)
                        .map_err(|wrong| wrong.at(format!("[{count}]")))?;
                    count += 1;
                }
                EncodeError::check_bound(count, *bound)?;
                writer.end_sequence(mark, count)?;
            }
            Node::Array {
                element,
                shape,
                primitive,
            } => {
                let mark = writer.begin_array(*primitive);
                self.array(element, shape, object, writer, depth + 1)?;
                writer.end_sequence(mark, 0)?;
            }
            Node::Map {
                key,
                value,
                bound,
                primitive,
            } => {
                let mapping = object.cast::<PyMapping>();
                let mapping = mapping.map_err(|_| Wrong::kind("a dict", object))?;
                let mark = writer.begin_sequence(*primitive);
                let mut count = 0;
                for entry in mapping.items()?.iter() {
                    let (entry_key, entry_value): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
                        entry.extract()?;
                    let at = |wrong: Wrong| match shown(&entry_key) {
                        Ok(name) => wrong.at(format!("{{{name}}}")),
                        Err(error) => error.into(),
                    };
                    self.value(key, &entry_key, writer, depth + 1).map_err(at)?;
                    self.value(value, &entry_value, writer, depth + 1)
                        .map_err(at)?;
                    count += 1;
                }
                EncodeError::check_bound(count, *bound)?;
                writer.end_sequence(mark, count)?;
            }
            Node::Enum(literals) => writer.write_enum(literal(literals, object)?, literals.size),
            Node::Bitmask(flags) => writer.write_bits(bits(flags, object)?, flags.size),
            Node::Bitset(fields) => {
                let bits = bitset(fields, object)?;
                writer.write_bits(bits, fields.size);
            }
            Node::Decimal => {
                let value = decimal(object)?;
                writer.write_i64(value.mantissa());
                writer.write_i32(value.exponent().into());
            }
            Node::Struct(at) => match self.plan.structs.get(*at) {
                Some(plan) => self.structure(plan, object, writer, depth)?,
                None => return Err(Wrong::too_deep()),
            },
            Node::Union(at) => match self.plan.unions.get(*at) {
                Some(plan) => self.union(plan, object, writer, depth)?,
                None => return Err(Wrong::too_deep()),
            },
        }
        Ok(())
    }

    fn array(
        &self,
        element: &Node,
        shape: &[usize],
        object: &Bound<'_, PyAny>,
        writer: &mut Writer<'_>,
        depth: usize,
    ) -> Written {
        let Some((expected, inner)) = shape.split_first() else {
            return self.value(element, object, writer, depth);
        };
        if depth > MAX_DEPTH {
            return Err(Wrong::too_deep());
        }
        let found = elements_len(object)?;
        if found != *expected {
            return Err(Wrong::value(format!(
                "{found} elements instead of {expected}"
            )));
        }
        let mut count = 0;
        for value in elements(object)? {
            if count == *expected {
                break;
            }
            self.array(element, inner, &value?, writer, depth + 1)
                .map_err(|wrong| wrong.at(format!("[{count}]")))?;
            count += 1;
        }
        if count != *expected {
            return Err(Wrong::value(format!(
                "{count} elements instead of {expected}"
            )));
        }
        Ok(())
    }

    fn octets(&self, bound: u32, object: &Bound<'_, PyAny>, writer: &mut Writer<'_>) -> Written {
        if object.is_instance_of::<PyString>() {
            return Err(Wrong::kind("bytes", object));
        }
        self.numbers(Number::U8, bound, None, object, writer)
    }

    /// Numbers of an object that has them in one piece, else one by one.
    fn numbers(
        &self,
        number: Number,
        bound: u32,
        shape: Option<&[usize]>,
        object: &Bound<'_, PyAny>,
        writer: &mut Writer<'_>,
    ) -> Written {
        if let Some(bytes) = from_buffer(object, number, shape)? {
            let bytes: &[u8] = bytes.as_bytes();
            let count = bytes.len() / number.size();
            EncodeError::check_bound(count, bound)?;
            let mark = match shape {
                None => writer.begin_sequence(true),
                Some(_) => writer.begin_array(true),
            };
            writer.write_numbers(number.size(), bytes);
            return Ok(writer.end_sequence(mark, count)?);
        }
        if let Some(shape) = shape {
            if flat(shape) > MAX_ELEMENTS {
                return Err(Wrong::value("the array is too long"));
            }
            let mark = writer.begin_array(true);
            self.array(&Node::Number(number), shape, object, writer, 0)?;
            return Ok(writer.end_sequence(mark, 0)?);
        }
        let mark = writer.begin_sequence(true);
        let mut count = 0;
        for value in elements(object)? {
            write_number(number, &value?, writer)
                .map_err(|wrong| wrong.at(format!("[{count}]")))?;
            count += 1;
        }
        EncodeError::check_bound(count, bound)?;
        Ok(writer.end_sequence(mark, count)?)
    }
}

/// Where the members of a struct are found.
enum Fielded<'o, 'py> {
    Dict(&'o Bound<'py, PyDict>),
    Object(&'o Bound<'py, PyAny>),
    /// The object is the only member.
    Bare(&'o Bound<'py, PyAny>),
}

impl<'o, 'py> Fielded<'o, 'py> {
    fn of(plan: &StructPlan, object: &'o Bound<'py, PyAny>) -> Result<Self, Wrong> {
        if matches!(plan.make, Make::Bare) {
            return Ok(Self::Bare(object));
        }
        let Ok(dict) = object.cast::<PyDict>() else {
            return Ok(Self::Object(object));
        };
        for key in dict.keys() {
            let mut is_known = plan.members.iter().any(|member| key.is(&member.key));
            for member in &plan.members {
                is_known = is_known || fitting(object.py(), key.eq(&member.key))?.unwrap_or(false);
            }
            if !is_known {
                let name = shown(&key)?;
                return Err(Wrong::value(format!("{} has no member {name}", plan.name)));
            }
        }
        Ok(Self::Dict(dict))
    }

    /// A member; `None` if it is not given.
    fn get(&self, member: &MemberPlan) -> Result<Option<Bound<'py, PyAny>>, Wrong> {
        let py = match self {
            Self::Dict(dict) => return Ok(dict.get_item(&member.key)?),
            Self::Bare(object) => return Ok(Some((*object).clone())),
            Self::Object(object) => object.py(),
        };
        let Self::Object(object) = self else {
            return Ok(None);
        };
        match object.getattr(member.attribute.bind(py)) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_instance_of::<PyAttributeError>(py) => Err(Wrong::kind(
                &format!("an object with `{}`", member.attribute),
                object,
            )),
            Err(error) => Err(error.into()),
        }
    }
}

type UnionParts<'p, 'py> = (
    Option<Bound<'py, PyAny>>,
    Option<(&'p MemberPlan, Bound<'py, PyAny>)>,
);

/// The discriminator and the member of a union, as far as they are given.
fn parts_of_union<'p, 'py>(
    plan: &'p UnionPlan,
    object: &Bound<'py, PyAny>,
) -> Result<UnionParts<'p, 'py>, Wrong> {
    let py = object.py();
    if let Ok(dict) = object.cast::<PyDict>() {
        let discriminator = dict.get_item(DISCRIMINATOR)?;
        let mut named = None;
        for entry in dict.items() {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = entry.extract()?;
            let key = text(&key, "the name of a member")?;
            if key == DISCRIMINATOR {
                continue;
            }
            let case = plan.cases.iter().find(|case| *case.name == *key);
            let Some(case) = case else {
                return Err(Wrong::value(format!("{} has no member `{key}`", plan.name)));
            };
            if named.is_some() {
                return Err(Wrong::value("a union has one member"));
            }
            named = Some((case, value));
        }
        return Ok((discriminator, named));
    }
    let part = |name| match object.getattr(name) {
        Ok(value) => Ok(value),
        Err(error) if error.is_instance_of::<PyAttributeError>(py) => {
            Err(Wrong::kind(&format!("a union {}", plan.name), object))
        }
        Err(error) => Err(Wrong::from(error)),
    };
    let discriminator = part(pyo3::intern!(py, "discriminator"))?;
    let member = part(pyo3::intern!(py, "member"))?;
    let named = match member.is_none() {
        true => None,
        false => {
            let name = text(&member, "the name of a member")?;
            let mut cases = plan.cases.iter();
            let case = cases.find(|case| case.attribute.bind(py) == *name);
            let Some(case) = case else {
                return Err(Wrong::value(format!(
                    "{} has no member `{name}`",
                    plan.name
                )));
            };
            Some((case, part(pyo3::intern!(py, "value"))?))
        }
    };
    let discriminator = Some(discriminator).filter(|discriminator| !discriminator.is_none());
    Ok((discriminator, named))
}

/// The number that a discriminator is.
fn label(node: &Node, object: &Bound<'_, PyAny>) -> Result<i128, Wrong> {
    Ok(match node {
        Node::Bool => boolean(object)?.into(),
        Node::Char => char8(object)?.into(),
        Node::WChar => char16(object)?.into(),
        Node::Enum(literals) => literal(literals, object)?.into(),
        _ => integer::<i128>(object, "the discriminator")?,
    })
}

fn write_label(node: &Node, label: i128, writer: &mut Writer<'_>) -> Option<()> {
    match node {
        Node::Bool => writer.write_bool(label != 0),
        Node::WChar | Node::Number(Number::U16) => writer.write_u16(u16::try_from(label).ok()?),
        Node::Number(Number::I8) => writer.write_i8(i8::try_from(label).ok()?),
        Node::Number(Number::I16) => writer.write_i16(i16::try_from(label).ok()?),
        Node::Number(Number::U32) => writer.write_u32(u32::try_from(label).ok()?),
        Node::Number(Number::I32) => writer.write_i32(i32::try_from(label).ok()?),
        Node::Number(Number::U64) => writer.write_u64(u64::try_from(label).ok()?),
        Node::Number(Number::I64) => writer.write_i64(i64::try_from(label).ok()?),
        Node::Enum(literals) => writer.write_enum(i32::try_from(label).ok()?, literals.size),
        _ => writer.write_u8(u8::try_from(label).ok()?),
    }
    Some(())
}

/// A value of the discriminator that selects a member.
fn label_of(plan: &UnionPlan, case: &MemberPlan) -> Option<i128> {
    let mut cases = plan.description.cases.iter();
    let described = cases.find(|known| known.member.id == case.id)?;
    if let Some(label) = described.labels.first() {
        return Some((*label).into());
    }
    let all = &plan.description.cases;
    let is_free = |value: &i64| {
        let labels = all.iter().flat_map(|case| case.labels.iter());
        !labels.into_iter().any(|label| i64::from(*label) == *value)
    };
    let free = match &plan.description.discriminator {
        Type::Enum(of) => {
            let mut values = of.literals.iter().map(|literal| i64::from(literal.value));
            values.find(is_free)
        }
        Type::Bool => (0..2).find(is_free),
        Type::I8 => (0..0x80).find(is_free),
        Type::U8 | Type::Byte | Type::Char => (0..0x100).find(is_free),
        _ => (0..0x8000).find(is_free),
    };
    free.map(i128::from)
}

fn boolean(object: &Bound<'_, PyAny>) -> Result<bool, Wrong> {
    if let Ok(value) = object.cast::<PyBool>() {
        return Ok(value.is_true());
    }
    // numpy has one of its own.
    let value = fitting(object.py(), object.extract())?;
    value.ok_or_else(|| Wrong::kind("bool", object))
}

fn text<'o>(object: &'o Bound<'_, PyAny>, expected: &str) -> Result<Cow<'o, str>, Wrong> {
    let text = object
        .cast::<PyString>()
        .map_err(|_| Wrong::kind(expected, object))?;
    text.to_cow().map_err(|_| Wrong::range("UTF-8", object))
}

fn char8(object: &Bound<'_, PyAny>) -> Result<u8, Wrong> {
    let text = text(object, "a str of one character")?;
    let mut chars = text.chars();
    let byte = chars.next().and_then(|char| u8::try_from(char).ok());
    byte.filter(|_| chars.next().is_none())
        .ok_or_else(|| Wrong::range("a char of 8 bits", object))
}

fn char16(object: &Bound<'_, PyAny>) -> Result<u16, Wrong> {
    let Ok(text) = object.cast::<PyString>() else {
        return Err(Wrong::kind("a str of one character", object));
    };
    // Half of a character is none of UTF-8.
    let code = match text.len() {
        Ok(1) => object
            .py()
            .import("builtins")?
            .getattr("ord")?
            .call1((text,))?
            .extract::<u32>()?,
        _ => u32::MAX,
    };
    u16::try_from(code).map_err(|_| Wrong::range("a unit of UTF-16", object))
}

/// A whole number, of numpy's, too.
fn integer<'py, T>(object: &Bound<'py, PyAny>, expected: &str) -> Result<T, Wrong>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    object.extract::<T>().map_err(|error| {
        let py = object.py();
        if error.is_instance_of::<PyOverflowError>(py) {
            Wrong::range(expected, object)
        } else if error.is_instance_of::<PyTypeError>(py) {
            Wrong::kind(expected, object)
        } else {
            error.into()
        }
    })
}

fn write_number(number: Number, object: &Bound<'_, PyAny>, writer: &mut Writer<'_>) -> Written {
    match number {
        Number::U8 => writer.write_u8(integer(object, "uint8")?),
        Number::I8 => writer.write_i8(integer(object, "int8")?),
        Number::U16 => writer.write_u16(integer(object, "uint16")?),
        Number::I16 => writer.write_i16(integer(object, "int16")?),
        Number::U32 => writer.write_u32(integer(object, "uint32")?),
        Number::I32 => writer.write_i32(integer(object, "int32")?),
        Number::U64 => writer.write_u64(integer(object, "uint64")?),
        Number::I64 => writer.write_i64(integer(object, "int64")?),
        Number::F64 => writer.write_f64(integer(object, "float64")?),
        Number::F32 => {
            let value: f64 = integer(object, "float32")?;
            // The nearest number of 32 bits, which is infinite beyond their range.
            let narrow = value as f32;
            if narrow.is_infinite() && value.is_finite() {
                return Err(Wrong::range("float32", object));
            }
            writer.write_f32(narrow);
        }
    }
    Ok(())
}

/// The value of a literal, given as such, by its value or by its name.
fn literal(literals: &Literals, object: &Bound<'_, PyAny>) -> Result<i32, Wrong> {
    let name = &*literals.description.name;
    if let Ok(text) = object.cast::<PyString>() {
        let text = text.to_cow()?;
        let mut all = literals.description.literals.iter();
        let known = all.find(|literal| *literal.name == *text);
        let known = known.ok_or_else(|| Wrong::range(&format!("enum {name}"), object))?;
        return Ok(known.value);
    }
    let py = object.py();
    let value = match fitting(py, object.extract::<i64>())? {
        Some(value) => Some(value),
        // The literals of an `enum.Enum` are no numbers, but have one.
        None => match object.getattr_opt(pyo3::intern!(py, "value"))? {
            Some(value) => fitting(py, value.extract::<i64>())?,
            None => None,
        },
    };
    let value = value.ok_or_else(|| Wrong::kind(&format!("enum {name}"), object))?;
    let value = i32::try_from(value).ok();
    let value = value.filter(|value| literals.members.contains_key(value));
    value.ok_or_else(|| Wrong::range(&format!("enum {name}"), object))
}

fn bits(flags: &Flags, object: &Bound<'_, PyAny>) -> Result<u64, Wrong> {
    let name = format!("bitmask {}", &*flags.description.name);
    let bits: u64 = integer(object, &name)?;
    let bound = flags.description.bit_bound;
    match bound < 64 && bits >> bound != 0 {
        true => Err(Wrong::range(&name, object)),
        false => Ok(bits),
    }
}

fn bitset(fields: &Fields, object: &Bound<'_, PyAny>) -> Result<u64, Wrong> {
    let dict = object.cast::<PyDict>().ok();
    let mut bits = 0;
    for (field, name) in fields.description.fields.iter().zip(&fields.names) {
        let name = name.bind(object.py());
        let value = match dict {
            Some(dict) => dict.get_item(name)?,
            None => object.getattr_opt(name)?,
        };
        let what = || {
            format!(
                "bitset {} with `{}`",
                &*fields.description.name, &*field.name
            )
        };
        let value = value.ok_or_else(|| Wrong::kind(&what(), object))?;
        let number: i128 = integer(&value, "a bitfield")
            .map_err(|wrong| wrong.at(format!(".{}", &*field.name)))?;
        bits |= field.place(number).ok_or_else(|| {
            Wrong::range(&format!("{} bits", field.bits), &value).at(format!(".{}", &*field.name))
        })?;
    }
    Ok(bits)
}

/// A decimal of a `decimal.Decimal`, an `int`, or a `str` such as `"101.50"`.
fn decimal(object: &Bound<'_, PyAny>) -> Result<Decimal, Wrong> {
    const EXPECTED: &str = "a decimal.Decimal, an int or a str (a float is not exact)";
    let class = decimal_class(object.py())?;
    let is_text = object.is_instance_of::<PyString>();
    let object = match object.is_instance(class)? {
        true => object.clone(),
        false if is_text || object.is_instance_of::<PyInt>() => {
            let made = fitting(object.py(), class.call1((object,)))?;
            made.ok_or_else(|| Wrong::range("a decimal", object))?
        }
        false => return Err(Wrong::kind(EXPECTED, object)),
    };
    let range = || {
        Wrong::range(
            "a decimal: 64 bits times ten to the power of -63 to 63",
            &object,
        )
    };
    let parts = object.call_method0("as_tuple")?;
    let (sign, digits, exponent): (u8, Vec<u8>, Bound<'_, PyAny>) = parts.extract()?;
    let exponent = fitting(object.py(), exponent.extract::<i8>())?;
    let exponent = exponent.ok_or_else(range)?;
    let mantissa = digits.iter().try_fold(0_i128, |mantissa, digit| {
        mantissa.checked_mul(10)?.checked_add(i128::from(*digit))
    });
    let mantissa = mantissa.map(|mantissa| if sign == 0 { mantissa } else { -mantissa });
    let mantissa = mantissa.and_then(|mantissa| i64::try_from(mantissa).ok());
    let value = mantissa.and_then(|mantissa| Decimal::new(mantissa, exponent));
    value.ok_or_else(range)
}

/// What is in a list, a tuple, an array, or whatever has a length and can be walked through; text has
/// characters, which nobody means.
fn elements<'py>(object: &Bound<'py, PyAny>) -> Result<Bound<'py, PyIterator>, Wrong> {
    elements_len(object)?;
    let elements = fitting(object.py(), object.try_iter())?;
    elements.ok_or_else(|| Wrong::kind("a sequence", object))
}

fn elements_len(object: &Bound<'_, PyAny>) -> Result<usize, Wrong> {
    let is_wrong = object.is_instance_of::<PyString>() || object.is_instance_of::<PyDict>();
    let len = fitting(object.py(), object.len())?.filter(|_| !is_wrong);
    len.ok_or_else(|| Wrong::kind("a sequence", object))
}

/// A value as errors show it.
fn shown(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = fitting(object.py(), object.repr())?;
    Ok(text.map_or_else(|| "?".to_owned(), |text| text.to_string()))
}

/// Characters of a value that errors show.
const MAX_SHOWN: usize = 80;
/// Elements of an array that are written one by one.
const MAX_ELEMENTS: usize = 1 << 24;
