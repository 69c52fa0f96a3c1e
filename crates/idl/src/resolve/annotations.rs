//! What annotations mean (IDL 4.2 §8, XTypes 1.3 §7.3.1.2): where each may stand and what it takes.

use super::scope::Entry;
use super::{Resolver, Result, Wrong};
use crate::model::{
    Annotation, AutoId, DefinitionId, DefinitionKind, Extensibility, Primitive, TryConstruct, Type,
    Value,
};
use crate::near::distance;
use crate::source::Span;
use crate::syntax::{self, Expression, ExpressionKind, Head, Path};

/// What an annotation stands before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(u32, &'static str);

impl Place {
    pub(super) const MODULE: Self = Self(1, "a module");
    pub(super) const CONST: Self = Self(2, "a constant");
    pub(super) const STRUCT: Self = Self(4, "a struct");
    pub(super) const UNION: Self = Self(8, "a union");
    pub(super) const ENUM: Self = Self(16, "an enum");
    pub(super) const BITMASK: Self = Self(32, "a bitmask");
    pub(super) const BITSET: Self = Self(64, "a bitset");
    pub(super) const TYPEDEF: Self = Self(128, "a typedef");
    pub(super) const EXCEPTION: Self = Self(256, "an exception");
    pub(super) const INTERFACE: Self = Self(512, "an interface");
    pub(super) const OPERATION: Self = Self(1024, "an operation");
    pub(super) const MEMBER: Self = Self(2048, "a member");
    pub(super) const CASE: Self = Self(4096, "a member of a union");
    pub(super) const DISCRIMINATOR: Self = Self(8192, "a discriminator");
    pub(super) const LITERAL: Self = Self(16384, "a literal of an enum");
    pub(super) const FLAG: Self = Self(32768, "a flag of a bitmask");
    pub(super) const ANNOTATION: Self = Self(65536, "an annotation");
    pub(super) const FIELD: Self = Self(131_072, "a bitfield");
    pub(super) const ATTRIBUTE: Self = Self(262_144, "an attribute");
    pub(super) const PARAMETER: Self = Self(524_288, "a parameter");

    const ALL: &[Self] = &[
        Self::MODULE,
        Self::CONST,
        Self::STRUCT,
        Self::UNION,
        Self::ENUM,
        Self::BITMASK,
        Self::BITSET,
        Self::TYPEDEF,
        Self::EXCEPTION,
        Self::INTERFACE,
        Self::OPERATION,
        Self::MEMBER,
        Self::CASE,
        Self::DISCRIMINATOR,
        Self::LITERAL,
        Self::FLAG,
    ];
}

/// What the annotations before something say.
#[derive(Clone, Default)]
pub(super) struct Applied {
    pub(super) key: bool,
    pub(super) optional: bool,
    pub(super) external: bool,
    pub(super) must_understand: bool,
    pub(super) non_serialized: bool,
    pub(super) try_construct: TryConstruct,
    pub(super) nested: Option<bool>,
    pub(super) default_nested: Option<bool>,
    pub(super) extensibility: Option<Extensibility>,
    pub(super) auto_id: Option<AutoId>,
    pub(super) id: Option<u32>,
    pub(super) hash_id: Option<String>,
    /// These are of the type of the member.
    pub(super) default: Option<Expression>,
    pub(super) min: Option<Expression>,
    pub(super) max: Option<Expression>,
    pub(super) unit: Option<String>,
    pub(super) bit_bound: Option<u16>,
    pub(super) value: Option<i128>,
    pub(super) position: Option<u16>,
    pub(super) default_literal: bool,
    pub(super) oneway: bool,
    /// Text of `@verbatim` that is a comment, which ROS 2 has instead of comments.
    pub(super) comment: Option<String>,
    pub(super) others: Vec<Annotation>,
}

/// A standard annotation: where it may stand, and its parameters.
struct Standard {
    name: &'static str,
    places: u32,
    parameters: &'static [&'static str],
}

impl Resolver<'_> {
    pub(super) fn annotations(&mut self, all: &[syntax::Annotation], place: Place) -> Applied {
        let mut applied = Applied::default();
        for annotation in all {
            if self.context.problems.is_full() {
                break;
            }
            // What was wrong is told.
            let _told = self.annotation(annotation, place, &mut applied);
        }
        applied
    }

    fn annotation(
        &mut self,
        annotation: &syntax::Annotation,
        place: Place,
        applied: &mut Applied,
    ) -> Result<()> {
        let name = annotation.name.text();
        let Some(standard) = self.standard(annotation, &name) else {
            let other = self.other(annotation, &name)?;
            applied.others.push(other);
            return Ok(());
        };
        let name = standard.name;
        if standard.places & place.0 == 0 {
            let places = Place::ALL
                .iter()
                .filter(|other| standard.places & other.0 != 0);
            let places: Vec<&str> = places.map(|place| place.1).collect();
            let message = format!("`@{name}` means nothing before {}", place.1);
            let problem = self.context.error(annotation.span, message);
            problem.help(format_args!("it belongs before {}", places.join(", ")));
            return Err(Wrong);
        }
        let mut values: Vec<Option<&Expression>> = vec![None; standard.parameters.len()];
        for (index, (given, value)) in annotation.arguments.iter().enumerate() {
            let slot = match given {
                None => Some(index),
                Some(given) => standard.parameters.iter().position(|p| *p == &*given.text),
            };
            match slot.and_then(|slot| values.get_mut(slot)) {
                Some(slot) => *slot = Some(value),
                None => {
                    let message = format!("`@{name}` takes no such argument");
                    let problem = self.context.error(value.span, message);
                    problem.help(match standard.parameters {
                        [] => "it takes none".to_owned(),
                        names => format!("it takes {}", names.join(", ")),
                    });
                    return Err(Wrong);
                }
            }
        }
        let first = values.first().copied().flatten();
        let second = values.get(1).copied().flatten();
        let third = values.get(2).copied().flatten();
        match standard.name {
            "key" => applied.key = self.flag(first)?,
            "optional" => applied.optional = self.flag(first)?,
            "external" => applied.external = self.flag(first)?,
            "must_understand" => applied.must_understand = self.flag(first)?,
            "non_serialized" => applied.non_serialized = self.flag(first)?,
            "default_literal" => applied.default_literal = self.flag(first)?,
            "oneway" => applied.oneway = self.flag(first)?,
            "try_construct" => {
                let kinds = [
                    ("DISCARD", TryConstruct::Discard),
                    ("USE_DEFAULT", TryConstruct::UseDefault),
                    ("TRIM", TryConstruct::Trim),
                ];
                applied.try_construct = match first {
                    None => TryConstruct::UseDefault,
                    Some(_) => self.choice(annotation, first, &kinds)?,
                };
            }
            "nested" => applied.nested = Some(self.flag(first)?),
            "topic" => applied.nested = Some(false),
            "default_nested" => applied.default_nested = Some(self.flag(first)?),
            "final" => self.extensibility(annotation, Extensibility::Final, applied)?,
            "appendable" => self.extensibility(annotation, Extensibility::Appendable, applied)?,
            "mutable" => self.extensibility(annotation, Extensibility::Mutable, applied)?,
            "extensibility" => {
                let kinds = [
                    ("FINAL", Extensibility::Final),
                    ("APPENDABLE", Extensibility::Appendable),
                    ("MUTABLE", Extensibility::Mutable),
                ];
                let extensibility = self.choice(annotation, first, &kinds)?;
                self.extensibility(annotation, extensibility, applied)?;
            }
            "autoid" => {
                let kinds = [("SEQUENTIAL", AutoId::Sequential), ("HASH", AutoId::Hash)];
                applied.auto_id = Some(match first {
                    None => AutoId::Hash,
                    Some(_) => self.choice(annotation, first, &kinds)?,
                });
            }
            "id" => {
                let value = self.required(annotation, first)?;
                let id = self.integer(value, Primitive::UInt32)?;
                applied.id = u32::try_from(id).ok().filter(|id| *id <= MAX_ID);
                if applied.id.is_none() {
                    let message = format!("{id} is no member id");
                    let problem = self.context.error(value.span, message);
                    problem.help(format_args!("ids are 0 to {MAX_ID}"));
                }
            }
            "hashid" => applied.hash_id = Some(self.text(first)?.unwrap_or_default()),
            "default" => applied.default = Some(self.required(annotation, first)?.clone()),
            "min" => applied.min = Some(self.required(annotation, first)?.clone()),
            "max" => applied.max = Some(self.required(annotation, first)?.clone()),
            "range" => {
                applied.min = Some(self.required(annotation, first)?.clone());
                applied.max = Some(self.required(annotation, second)?.clone());
            }
            "unit" => {
                self.required(annotation, first)?;
                applied.unit = self.text(first)?;
            }
            "bit_bound" => {
                let value = self.required(annotation, first)?;
                let most = if place == Place::ENUM { 32 } else { 64 };
                applied.bit_bound = Some(self.small(value, 1, most)?);
            }
            "position" => {
                let value = self.required(annotation, first)?;
                applied.position = Some(self.small(value, 0, 63)?);
            }
            "value" => {
                let value = self.required(annotation, first)?;
                applied.value = Some(self.integer(value, Primitive::Int32)?);
            }
            _ => {
                // `@verbatim`: language, placement, text.
                let language = self.text(first)?.unwrap_or_else(|| "*".to_owned());
                let text = self.text(third)?.unwrap_or_default();
                if language == "comment" {
                    applied.comment = Some(text);
                    return Ok(());
                }
                let placement =
                    second.map(|value| self.context.sources.text(value.span).to_owned());
                let mut arguments = vec![
                    ("language".to_owned(), Value::String(language)),
                    ("text".to_owned(), Value::String(text)),
                ];
                if let Some(placement) = placement {
                    arguments.insert(1, ("placement".to_owned(), Value::String(placement)));
                }
                applied.others.push(Annotation {
                    name: name.to_owned(),
                    definition: None,
                    arguments,
                    position: self.position(annotation.span),
                });
            }
        }
        Ok(())
    }

    /// The standard annotation of a name, also if it is written in other letters, as `@Key` of Fast DDS
    /// is: a key that were ignored would be worse.
    fn standard(
        &mut self,
        annotation: &syntax::Annotation,
        name: &str,
    ) -> Option<&'static Standard> {
        let standard = STANDARD
            .iter()
            .find(|one| one.name.eq_ignore_ascii_case(name))?;
        if standard.name == name {
            return Some(standard);
        }
        if self.annotation_of_text(&annotation.name).is_some() {
            return None;
        }
        let message = format!("`@{name}` is taken for `@{}`", standard.name);
        let problem = self.context.problems.warning(annotation.span, message);
        problem.help(format_args!("write `@{}`", standard.name));
        Some(standard)
    }

    /// The annotation that the text defines by this name.
    fn annotation_of_text(&self, name: &Path) -> Option<DefinitionId> {
        let mut path = name.clone();
        let last = path.parts.last_mut()?;
        last.text = format!("@{}", last.text).into();
        match self.find(&path)? {
            Entry::Definition(id) => Some(id),
            Entry::Literal(..) => None,
        }
    }

    /// An annotation that the text defines, or that nobody knows.
    fn other(&mut self, annotation: &syntax::Annotation, name: &str) -> Result<Annotation> {
        let definition = self.annotation_of_text(&annotation.name);
        let arguments = match definition {
            Some(id) => self.typed_arguments(annotation, id)?,
            None => {
                if let Some(meant) = misspelt(name) {
                    let message = format!("no annotation is called `@{name}`");
                    let problem = self.context.error(annotation.span, message);
                    problem.help(format_args!(
                        "did you mean `@{meant}`? One of another meaning is defined by \
                         `@annotation {name} {{ }};`"
                    ));
                    return Err(Wrong);
                }
                if !KEPT.contains(&name) {
                    let message = format!("no annotation is called `@{name}`: it is ignored");
                    let problem = self.context.problems.warning(annotation.span, message);
                    problem.help(format_args!(
                        "define it by `@annotation {name} {{ }};`, or remove it"
                    ));
                }
                let arguments = annotation.arguments.iter();
                let arguments = arguments.map(|(given, value)| {
                    let given = given.as_ref().map_or("value", |given| &given.text);
                    (given.to_owned(), self.untyped(value))
                });
                arguments.collect()
            }
        };
        self.charge(ANNOTATION_BYTES * (1 + arguments.len()), annotation.span)?;
        Ok(Annotation {
            name: name.to_owned(),
            definition,
            arguments,
            position: self.position(annotation.span),
        })
    }

    /// The comment at something, as often as it is about something.
    pub(super) fn doc(
        &mut self,
        head: &Head,
        applied: &Applied,
        span: Span,
    ) -> Result<Option<String>> {
        let doc = head.doc.as_ref().or(applied.comment.as_ref());
        self.charge(doc.map_or(0, String::len), span)?;
        Ok(doc.cloned())
    }

    /// The annotations that there is no field for, as often as they are about something.
    pub(super) fn copied(&mut self, applied: &Applied, span: Span) -> Result<Vec<Annotation>> {
        let arguments = applied.others.iter().map(|other| &other.arguments);
        let bytes = arguments.map(|all| {
            let texts = all.iter().map(|(name, value)| match value {
                Value::String(text) => name.len() + text.len(),
                _ => name.len(),
            });
            ANNOTATION_BYTES * (1 + all.len()) + texts.sum::<usize>()
        });
        self.charge(bytes.sum(), span)?;
        Ok(applied.others.clone())
    }

    /// All parameters of an annotation that the text defines.
    fn typed_arguments(
        &mut self,
        annotation: &syntax::Annotation,
        id: DefinitionId,
    ) -> Result<Vec<(String, Value)>> {
        // There are few, hence it is cheap.
        let DefinitionKind::Annotation(parameters) = self.model.definition(id).kind.clone() else {
            return Err(Wrong);
        };
        let mut values: Vec<Option<Value>> = vec![None; parameters.len()];
        for (index, (given, value)) in annotation.arguments.iter().enumerate() {
            let slot = match given {
                // One alone is that which has no default, or the only one.
                None => Some(index),
                Some(given) => parameters.iter().position(|one| one.name == *given.text),
            };
            let Some((slot, parameter)) = slot.and_then(|slot| Some((slot, parameters.get(slot)?)))
            else {
                let names: Vec<&str> = parameters.iter().map(|one| &*one.name).collect();
                let message = format!("`@{}` takes no such argument", annotation.name.text());
                let problem = self.context.error(value.span, message);
                problem.help(match names.as_slice() {
                    [] => "it takes none".to_owned(),
                    names => format!("it takes {}", names.join(", ")),
                });
                return Err(Wrong);
            };
            let value = self.value(value, &parameter.ty.clone())?;
            if let Some(slot) = values.get_mut(slot) {
                *slot = Some(value);
            }
        }
        let mut all = Vec::new();
        for (parameter, value) in parameters.into_iter().zip(values) {
            if let (None, Some(Value::String(text))) = (&value, &parameter.default) {
                self.charge(text.len(), annotation.span)?;
            }
            let Some(value) = value.or(parameter.default) else {
                let message = format!("the argument `{}` is missing", parameter.name);
                let problem = self.context.error(annotation.span, message);
                problem.help(format_args!("write `({} = ...)`", parameter.name));
                return Err(Wrong);
            };
            all.push((parameter.name, value));
        }
        Ok(all)
    }

    /// The value of an argument whose type nobody knows; that of a name that nobody knows is its text.
    fn untyped(&mut self, value: &Expression) -> Value {
        if let ExpressionKind::Path(path) = &value.kind
            && self.find(path).is_none()
        {
            return Value::String(path.text());
        }
        self.plain(value).unwrap_or(Value::Bool(true))
    }

    /// `@name` and `@name(TRUE)` mean yes.
    fn flag(&mut self, value: Option<&Expression>) -> Result<bool> {
        let Some(value) = value else { return Ok(true) };
        let yes = self.value(value, &Type::Primitive(Primitive::Boolean))?;
        Ok(yes == Value::Bool(true))
    }

    fn text(&mut self, value: Option<&Expression>) -> Result<Option<String>> {
        let Some(value) = value else { return Ok(None) };
        match self.value(value, &Type::String { bound: None })? {
            Value::String(text) => Ok(Some(text)),
            _ => Err(Wrong),
        }
    }

    fn required<'e>(
        &mut self,
        annotation: &syntax::Annotation,
        value: Option<&'e Expression>,
    ) -> Result<&'e Expression> {
        value.ok_or_else(|| {
            let name = annotation.name.text();
            let message = format!("the argument of `@{name}` is missing");
            let problem = self.context.error(annotation.span, message);
            problem.help(match name.as_str() {
                "range" => "write `@range(min = LEAST, max = MOST)`".to_owned(),
                _ => format!("write `@{name}(...)`"),
            });
            Wrong
        })
    }

    fn small(&mut self, value: &Expression, least: i128, most: i128) -> Result<u16> {
        let number = self.integer(value, Primitive::UInt16)?;
        let is_small = (least..=most).contains(&number);
        match u16::try_from(number).ok().filter(|_| is_small) {
            Some(number) => Ok(number),
            None => {
                let message = format!("{number} is not within {least} to {most}");
                self.context
                    .error(value.span, message)
                    .help("write a number within that");
                Err(Wrong)
            }
        }
    }

    /// One of some words, which are no names of the text.
    fn choice<T: Copy>(
        &mut self,
        annotation: &syntax::Annotation,
        value: Option<&Expression>,
        words: &[(&str, T)],
    ) -> Result<T> {
        let value = self.required(annotation, value)?;
        if let ExpressionKind::Path(path) = &value.kind {
            let last = path.parts.last().map_or("", |part| &part.text);
            if let Some((_, meant)) = words.iter().find(|(word, _)| *word == last) {
                return Ok(*meant);
            }
        }
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let message = format!("`@{}` takes another word", annotation.name.text());
        let problem = self.context.error(value.span, message);
        problem.help(format_args!("there are {}", words.join(", ")));
        Err(Wrong)
    }

    fn extensibility(
        &mut self,
        annotation: &syntax::Annotation,
        extensibility: Extensibility,
        applied: &mut Applied,
    ) -> Result<()> {
        if applied
            .extensibility
            .is_some_and(|other| other != extensibility)
        {
            let message = "two annotations say how this may change";
            let problem = self.context.error(annotation.span, message);
            problem.help("keep one of @final, @appendable and @mutable");
            return Err(Wrong);
        }
        applied.extensibility = Some(extensibility);
        Ok(())
    }
}

/// The annotation that is meant by a name that is none. Without it a type would silently be another one, as that without
/// a key is. Of three letters and less many words differ in one, hence they are to be the same letters, but for `key`.
fn misspelt(name: &str) -> Option<&'static str> {
    if KEPT.contains(&name) || name.len() > MAX_COMPARED {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let letters = |word: &str| {
        let mut letters = word.as_bytes().to_vec();
        letters.sort_unstable();
        letters
    };
    let known = STANDARD
        .iter()
        .map(|one| one.name)
        .chain(KEPT.iter().copied());
    let distances = known.map(|known| (distance(&name, known), known));
    let near = distances.filter(|(distance, known)| match known.len() {
        0..=3 if *known != "key" => *distance == 1 && letters(&name) == letters(known),
        length => *distance <= 1 + length / 8,
    });
    near.min().map(|(_, known)| known)
}

/// Letters of names that are compared.
const MAX_COMPARED: usize = 64;

/// What an annotation takes, and each of its arguments.
const ANNOTATION_BYTES: usize = 64;

const MEMBERS: u32 = Place::MEMBER.0 | Place::CASE.0;
const AGGREGATES: u32 = Place::STRUCT.0 | Place::UNION.0;
const EXTENSIBLE: u32 = AGGREGATES | Place::ENUM.0 | Place::BITMASK.0 | Place::BITSET.0;
const ANYWHERE: u32 = u32::MAX;

const STANDARD: &[Standard] = &[
    standard("key", Place::MEMBER.0 | Place::DISCRIMINATOR.0, &["value"]),
    standard("optional", Place::MEMBER.0, &["value"]),
    standard("external", MEMBERS, &["value"]),
    standard("must_understand", Place::MEMBER.0, &["value"]),
    standard("non_serialized", Place::MEMBER.0, &["value"]),
    standard(
        "try_construct",
        MEMBERS | Place::DISCRIMINATOR.0,
        &["value"],
    ),
    standard("id", MEMBERS, &["value"]),
    standard("hashid", MEMBERS, &["value"]),
    standard("default", MEMBERS, &["value"]),
    standard("min", MEMBERS, &["value"]),
    standard("max", MEMBERS, &["value"]),
    standard("range", MEMBERS, &["min", "max"]),
    standard("unit", MEMBERS, &["value"]),
    standard("final", EXTENSIBLE, &[]),
    standard("appendable", EXTENSIBLE, &[]),
    standard("mutable", AGGREGATES, &[]),
    standard("extensibility", EXTENSIBLE, &["value"]),
    standard("nested", AGGREGATES, &["value"]),
    standard("topic", AGGREGATES, &["name", "platform"]),
    standard("default_nested", Place::MODULE.0, &["value"]),
    standard("autoid", AGGREGATES | Place::MODULE.0, &["value"]),
    standard("bit_bound", Place::ENUM.0 | Place::BITMASK.0, &["value"]),
    standard("value", Place::LITERAL.0, &["value"]),
    standard("position", Place::FLAG.0, &["value"]),
    standard("default_literal", Place::LITERAL.0, &[]),
    standard("oneway", Place::OPERATION.0, &["value"]),
    standard("verbatim", ANYWHERE, &["language", "placement", "text"]),
];

const fn standard(
    name: &'static str,
    places: u32,
    parameters: &'static [&'static str],
) -> Standard {
    Standard {
        name,
        places,
        parameters,
    }
}

/// Standard annotations of which back ends decide what they mean.
const KEPT: &[&str] = &[
    "ami",
    "data_representation",
    "ignore_literal_names",
    "service",
];
/// The largest member id that XTypes leaves to users.
pub(super) const MAX_ID: u32 = 0x0fff_fffe;
