//! A line of JSON becomes a message. Numbers go from their digits into the field without a float on the way. Knows
//! nothing of files or packets.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use tickwire_fast::{
    BuildError, Builder, Decimal, Field, FieldType, Fields, Message, Operator, Part, Template,
    Templates, Value,
};

use super::nearest;

/// Why a line is no message.
#[derive(Debug)]
pub(super) struct LineError {
    /// Names from the template down, with element numbers; empty if it is about the line.
    path: String,
    problem: String,
    /// What to try.
    pub(super) hint: Option<String>,
}

impl LineError {
    fn new(path: &str, problem: impl fmt::Display) -> Self {
        Self {
            path: path.to_owned(),
            problem: problem.to_string(),
            hint: None,
        }
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.path {
            "" => f.write_str(&self.problem),
            path => write!(f, "field {path}: {}", self.problem),
        }
    }
}

/// Makes `message` what the line says; one without fields and template is the session's reset, and empty.
pub(super) fn read(
    line: &str,
    templates: &Templates,
    message: &mut Message,
) -> Result<(), LineError> {
    let object: Object<'_> = serde_json::from_str(line).map_err(|error| LineError {
        hint: Some(FORM.to_owned()),
        ..LineError::new("", json_problem(&error))
    })?;
    if object.0.is_empty() {
        message.clear();
        return Ok(());
    }
    let (template, members) = object.template(templates, "")?;
    fill(
        &mut message.build(template),
        template.fields(),
        members,
        "",
        0,
    )
}

/// The members of a JSON object, in order and with those that come twice: names need not be unique in a template.
struct Object<'a>(VecDeque<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut members = VecDeque::new();
                while let Some(member) = map.next_entry()? {
                    members.push_back(member);
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl<'a> Object<'a> {
    /// Takes the template's name out.
    fn template<'t>(
        mut self,
        templates: &'t Templates,
        path: &str,
    ) -> Result<(Template<'t>, Self), LineError> {
        let at = self.0.iter().position(|(name, _)| name == "template");
        let Some(at) = at else {
            return Err(LineError {
                hint: Some(FORM.to_owned()),
                ..LineError::new(path, "no member `template` says which template it is")
            });
        };
        let name = self.0.remove(at).map_or("", |(_, name)| name.get());
        let name = text(name, path)?;
        let template = templates.by_name(&name).ok_or_else(|| LineError {
            hint: nearest::hint(&name, templates.iter().map(|template| template.name())),
            ..LineError::new(path, format_args!("no template is called {name}"))
        })?;
        Ok((template, self))
    }

    /// Takes out the first member of this name, which is mostly the first one of all.
    fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        let at = self.0.iter().position(|(member, _)| member == name)?;
        self.0.remove(at).map(|(_, value)| value)
    }
}

/// Sets the fields that the object has, in template order.
fn fill(
    builder: &mut Builder<'_>,
    fields: Fields<'_>,
    mut object: Object<'_>,
    path: &str,
    depth: u32,
) -> Result<(), LineError> {
    if depth > MAX_DEPTH {
        return Err(LineError::new(
            path,
            format_args!("more than {MAX_DEPTH} levels"),
        ));
    }
    for field in fields.clone() {
        let Some(value) = object.take(field.name()) else {
            continue;
        };
        let path = join(path, field.name());
        match value.get() {
            "null" => {
                let skipped = builder.skip(field.name());
                skipped.map_err(|error| refused(&error, field, &path))?;
            }
            _ => set(builder, field, value, &path, depth)?,
        }
    }
    match object.0.pop_front() {
        None => Ok(()),
        Some((name, _)) => Err(LineError {
            hint: nearest::hint(&name, fields.map(|field| field.name())),
            ..LineError::new(&join(path, &name), "the template has no such field here")
        }),
    }
}

fn set(
    builder: &mut Builder<'_>,
    field: Field<'_>,
    value: &RawValue,
    path: &str,
    depth: u32,
) -> Result<(), LineError> {
    let name = field.name();
    let done = match field.field_type() {
        FieldType::Group => {
            let object: Object<'_> = parse(value, path, "an object")?;
            return nested(
                |problem| {
                    builder.group(name, |group| {
                        let filled = fill(group, field.fields(), object, path, depth + 1);
                        filled.map_err(|error| keep(problem, error))
                    })
                },
                path,
            );
        }
        FieldType::Sequence => {
            let elements: Vec<&RawValue> = parse(value, path, "an array")?;
            return nested(
                |problem| {
                    builder.sequence(
                        name,
                        elements.into_iter().enumerate(),
                        |element, (index, value)| {
                            let path = format!("{path}[{index}]");
                            let filled = parse(value, &path, "an object").and_then(|object| {
                                fill(element, field.fields(), object, &path, depth + 1)
                            });
                            filled.map_err(|error| keep(problem, error))
                        },
                    )
                },
                path,
            );
        }
        FieldType::Template => {
            let object: Object<'_> = parse(value, path, "an object")?;
            let (template, members) = object.template(field.templates(), path)?;
            return nested(
                |problem| {
                    builder.template(template, |inner| {
                        let filled = fill(inner, template.fields(), members, path, depth + 1);
                        filled.map_err(|error| keep(problem, error))
                    })
                },
                path,
            );
        }
        FieldType::Decimal => builder.set(name, decimal(field, value.get(), path)?),
        FieldType::ByteVector => builder.set(name, &bytes(&text(value.get(), path)?, path)?[..]),
        FieldType::Ascii | FieldType::Unicode => builder.set(name, &*text(value.get(), path)?),
        _ => integer(builder, field, value, path)?,
    };
    done.map(|_| ())
        .map_err(|error| refused(&error, field, path))
}

/// Calls what fills a field's own fields; its error is that of the innermost one.
fn nested<'b, 'm: 'b>(
    build: impl FnOnce(&mut Option<LineError>) -> Result<&'b mut Builder<'m>, BuildError>,
    path: &str,
) -> Result<(), LineError> {
    let mut problem = None;
    match build(&mut problem) {
        Ok(_) => Ok(()),
        Err(error) => Err(problem.unwrap_or_else(|| LineError::new(path, error))),
    }
}

/// Puts an error where [`nested`] finds it.
fn keep(problem: &mut Option<LineError>, error: LineError) -> BuildError {
    let stand_in = BuildError::NoField(error.path.as_str().into());
    *problem = Some(error);
    stand_in
}

/// An integer, or what FAST 1.2 means by one: an element's name, names of a set, true or false.
fn integer<'b, 'm>(
    builder: &'b mut Builder<'m>,
    field: Field<'_>,
    value: &RawValue,
    path: &str,
) -> Result<Result<&'b mut Builder<'m>, BuildError>, LineError> {
    let (name, raw) = (field.name(), value.get());
    if field.is_boolean() && (raw == "true" || raw == "false") {
        return Ok(builder.set(name, raw == "true"));
    }
    if field.set().is_some() && raw.starts_with('[') {
        let names: Vec<String> = parse(value, path, "an array of names")?;
        return Ok(builder.set_elements(name, names.iter().map(|name| &**name)));
    }
    if field.enumeration().is_some() && raw.starts_with('"') {
        return Ok(builder.set(name, &*text(raw, path)?));
    }
    let value = match (raw.parse(), raw.parse()) {
        (Ok(unsigned), _) => Value::Unsigned(unsigned),
        (_, Ok(signed)) => Value::Signed(signed),
        _ => return Err(unwanted(raw, wanted(field), path)),
    };
    Ok(builder.set(name, value))
}

/// A decimal of the digits as they stand: `12.50` is 1250·10^-2, `12e3` is 12·10^3. Where the template fixes the
/// exponent, the mantissa is made to suit it.
fn decimal(field: Field<'_>, raw: &str, path: &str) -> Result<Decimal, LineError> {
    let (digits, power) = raw.split_once(['e', 'E']).unwrap_or((raw, "0"));
    let parsed = digits.parse::<Decimal>().ok().and_then(|digits| {
        let power: i16 = power.parse().ok()?;
        let exponent = power.checked_add(digits.exponent().into())?;
        Decimal::new(digits.mantissa(), i8::try_from(exponent).ok()?)
    });
    let is_number = raw.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    match parsed {
        Some(value) => Ok(fixed_exponent(field)
            .and_then(|exponent| with_exponent(value, exponent))
            .unwrap_or(value)),
        None if is_number => Err(LineError::new(
            path,
            format_args!("{raw} has more digits than a decimal can have"),
        )),
        None => Err(unwanted(raw, "a number", path)),
    }
}

/// The constant that the template has for the exponent.
fn fixed_exponent(field: Field<'_>) -> Option<i8> {
    let mut parts = field.instructions();
    let exponent = parts.find(|part| part.part() == Part::Exponent)?;
    match (exponent.operator(), exponent.initial()) {
        (Operator::Constant, Some(Value::Signed(value))) => i8::try_from(value).ok(),
        _ => None,
    }
}

/// The same number with another exponent, if there is one.
fn with_exponent(value: Decimal, exponent: i8) -> Option<Decimal> {
    let places = i16::from(value.exponent()) - i16::from(exponent);
    let power = 10_i64.checked_pow(places.unsigned_abs().into())?;
    let mantissa = match places {
        0.. => value.mantissa().checked_mul(power)?,
        _ if value.mantissa() % power == 0 => value.mantissa() / power,
        _ => return None,
    };
    Decimal::new(mantissa, exponent)
}

fn text<'a>(raw: &'a str, path: &str) -> Result<Cow<'a, str>, LineError> {
    let plain = raw
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    if let Some(plain) = plain.filter(|plain| !plain.contains('\\')) {
        return Ok(Cow::Borrowed(plain));
    }
    let parsed: Result<String, _> = serde_json::from_str(raw);
    parsed
        .map(Cow::Owned)
        .map_err(|_| unwanted(raw, "a string", path))
}

fn bytes(hex: &str, path: &str) -> Result<Vec<u8>, LineError> {
    let digits: Option<Vec<u8>> = hex
        .chars()
        .map(|digit| u8::try_from(digit.to_digit(16)?).ok())
        .collect();
    match digits {
        Some(digits) if digits.len() % 2 == 0 => Ok(digits
            .chunks_exact(2)
            .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
            .collect()),
        _ => Err(LineError::new(
            path,
            "a byte vector is two hexadecimal digits a byte",
        )),
    }
}

fn parse<'a, T: Deserialize<'a>>(
    value: &'a RawValue,
    path: &str,
    what: &str,
) -> Result<T, LineError> {
    serde_json::from_str(value.get()).map_err(|_| unwanted(value.get(), what, path))
}

fn unwanted(raw: &str, wanted: &str, path: &str) -> LineError {
    let shown: String = raw.chars().take(MAX_SHOWN).collect();
    let more = if shown.len() < raw.len() { "..." } else { "" };
    LineError::new(path, format_args!("{shown}{more} is not {wanted}"))
}

fn wanted(field: Field<'_>) -> &'static str {
    if field.enumeration().is_some() {
        "the name of an element, or its number"
    } else if field.set().is_some() {
        "an array of names of elements, or their sum"
    } else if field.is_boolean() {
        "true or false"
    } else {
        "an integer of 64 bits"
    }
}

fn refused(error: &BuildError, field: Field<'_>, path: &str) -> LineError {
    let elements = field.enumeration().or(field.set());
    let problem = match (error, elements) {
        (BuildError::Range(_), Some(elements)) => {
            let names: Vec<_> = elements.iter().map(|element| &*element.name).collect();
            format!("no such element; there are {}", names.join(" "))
        }
        (BuildError::Range(_), None) if field.field_type() == FieldType::Ascii => {
            "the string has characters that ASCII does not have".to_owned()
        }
        (BuildError::Range(_), None) => format!("out of the range of {}", field.type_name()),
        (BuildError::Type(_), _) => format!("no value for a field of type {}", field.type_name()),
        (BuildError::NoField(_), _) => "the template has no such field here".to_owned(),
    };
    LineError::new(path, problem)
}

/// What is wrong with the text, with its column; the line is known.
fn json_problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    match error.column() {
        0 => what.to_owned(),
        column => format!("column {column}: {what}"),
    }
}

fn join(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

/// As deep as a decoder goes by default.
const MAX_DEPTH: u32 = 64;
const MAX_SHOWN: usize = 40;
/// What a line is.
pub(super) const FORM: &str = "a line is a message as `tickwire fast decode -o jsonl` prints it: {\"template\": NAME, FIELD: VALUE, ...}";
