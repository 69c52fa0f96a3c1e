//! Profiles in TOML. Knows nothing of what a setting does.
//!
//! ```toml
//! default = "market-data"
//!
//! [profiles.lan.participant]
//! interface = "eth0"
//!
//! [profiles.market-data]
//! base = "lan"
//!
//! [profiles.market-data.writer]
//! reliability = { kind = "reliable", max_blocking_time = "1s" }
//!
//! [[profiles.market-data.reader]]
//! topic = "Quotes*"
//! history.depth = 100
//! ```

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use tickwire::ParseThreadCoresError;

use crate::document::{Assignment, Document, Draft, Name, Section};
use crate::problem::Problems;
use crate::setting::{Kind, Setting};
use crate::value::{self, Value};
use crate::{Entity, MAX_PROFILES, catalogue};

/// What the file says; `problems` gets what it should not.
pub(crate) fn read(text: &str, problems: &mut Problems<'_>) -> Document {
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let at = error.span().map_or(0, |span| span.start);
        problems.add(
            at,
            syntax_error(text.get(at..).unwrap_or_default(), error.message()),
        );
    }
    let mut document = Document::default();
    if errors.is_empty() {
        let mut reader = Reader { problems };
        reader.file(table.get_ref(), &mut document);
    }
    document
}

/// What the parser says, with what to do where that is likely: TOML has no second table of a name.
fn syntax_error(rest: &str, message: &str) -> String {
    let is_named = |entity: &Entity| rest.starts_with(entity.name());
    match Entity::ALL
        .iter()
        .find(|entity| is_named(entity) && message == "duplicate key")
    {
        Some(entity) => {
            format!(
                "duplicate key; several parts for different topics are each [[profiles.NAME.{entity}]]"
            )
        }
        None => message.to_owned(),
    }
}

/// The value of a setting, written in TOML.
#[cfg(test)]
pub(crate) fn value(setting: &Setting, text: &str) -> Result<Value, String> {
    let parsed = DeValue::parse(text).map_err(|error| error.to_string())?;
    convert(setting, &parsed).map_err(|(_, message)| message)
}

/// The value of a setting as a program gives it: as in TOML, or without the quotes around a text and the
/// brackets around a list.
pub(crate) fn spoken(setting: &Setting, text: &str) -> Result<Value, String> {
    let text = text.trim();
    let is_quoted = |text: &str| text.starts_with(['"', '\'']);
    let toml = match setting.kind {
        Kind::Integer { .. } | Kind::Bool => text.to_owned(),
        Kind::Limit if text != value::UNLIMITED => text.to_owned(),
        Kind::Choices(_) | Kind::Names | Kind::Peers if !text.starts_with('[') => {
            let items = text.split(',').map(str::trim);
            let items = items.filter(|item| !item.is_empty());
            value::list(items.map(|item| match is_quoted(item) {
                true => item.to_owned(),
                false => value::quoted(item),
            }))
        }
        Kind::Octets if text.starts_with('[') => text.to_owned(),
        Kind::Choices(_) | Kind::Names | Kind::Peers => text.to_owned(),
        _ if is_quoted(text) => text.to_owned(),
        _ => value::quoted(text),
    };
    let wrong = |_| format!("`{text}` is no value; one is `{}`", setting.default);
    let parsed = DeValue::parse(&toml).map_err(wrong)?;
    convert(setting, &parsed).map_err(|(_, message)| message)
}

struct Reader<'r, 'p> {
    problems: &'r mut Problems<'p>,
}

type Item<'t> = Spanned<DeValue<'t>>;

impl Reader<'_, '_> {
    fn file(&mut self, table: &DeTable<'_>, document: &mut Document) {
        for (key, item) in table {
            let at = key.span().start;
            match (key.get_ref().as_ref(), item.get_ref()) {
                ("default", _) => {
                    if let Some(name) = self.name(item) {
                        let all = Entity::ALL.map(|entity| (entity, name.clone()));
                        document.defaults = all.into();
                    }
                }
                ("profiles", DeValue::Table(profiles)) => self.profiles(profiles, document),
                ("profiles", _) => self
                    .problems
                    .add(at, "expected tables, as [profiles.NAME.writer]"),
                (key, _) if Entity::ALL.iter().any(|entity| entity.name() == key) => {
                    let message = format!("`{key}` belongs in a profile: [profiles.NAME.{key}]");
                    self.problems.add(at, message);
                }
                (key, _) => {
                    let known = ["default", "profiles"].into_iter();
                    self.problems.unknown(at, "key", key, known);
                }
            }
        }
    }

    fn profiles(&mut self, profiles: &DeTable<'_>, document: &mut Document) {
        for (key, item) in profiles {
            let at = key.span().start;
            if document.profiles.len() >= MAX_PROFILES {
                self.problems
                    .add(at, format!("more than {MAX_PROFILES} profiles"));
                return;
            }
            let DeValue::Table(table) = item.get_ref() else {
                self.problems
                    .add(at, "a profile is a table: [profiles.NAME]");
                continue;
            };
            let text = key.get_ref().to_string();
            let mut draft = Draft::new(Name { text, at });
            self.profile(table, &mut draft);
            document.profiles.push(draft);
        }
    }

    fn profile(&mut self, table: &DeTable<'_>, draft: &mut Draft) {
        for (key, item) in table {
            let at = key.span().start;
            let key = key.get_ref().as_ref();
            if key == "base" {
                draft.bases = self.names(item);
                continue;
            }
            let Some(entity) = Entity::ALL.into_iter().find(|entity| entity.name() == key) else {
                let known = Entity::ALL.iter().map(|entity| entity.name());
                let known = known.chain(["base"]);
                self.problems.unknown(at, "key", key, known);
                continue;
            };
            match item.get_ref() {
                DeValue::Table(table) => draft.sections.push(self.section(entity, table)),
                DeValue::Array(tables) => self.sections(entity, tables, draft),
                _ => self
                    .problems
                    .add(at, format!("`{key}` is a table: [profiles.NAME.{key}]")),
            }
        }
    }

    fn sections(&mut self, entity: Entity, tables: &DeArray<'_>, draft: &mut Draft) {
        for item in tables {
            match item.get_ref() {
                DeValue::Table(table) => draft.sections.push(self.section(entity, table)),
                _ => {
                    let message =
                        format!("`{entity}` is a table, or several: [[profiles.NAME.{entity}]]");
                    self.problems.add(item.span().start, message);
                }
            }
        }
    }

    fn section(&mut self, entity: Entity, table: &DeTable<'_>) -> Section {
        let mut section = Section::new(entity, None);
        for (key, item) in table {
            let (at, key) = (key.span().start, key.get_ref().as_ref());
            if key == "topic" && entity.is_of_topic() {
                section.topic = self.name(item).map(|name| name.text);
                continue;
            }
            if let Some(setting) = catalogue::find(entity, key) {
                self.assign(setting, item, &mut section);
                continue;
            }
            // `reliability = "reliable"` is short for its kind.
            let kind = catalogue::find(entity, &format!("{key}.kind"));
            if let (Some(kind), DeValue::String(_)) = (kind, item.get_ref()) {
                self.assign(kind, item, &mut section);
                continue;
            }
            let parts = parts(entity, key);
            match (item.get_ref(), parts.clone().next()) {
                (DeValue::Table(table), Some(_)) => self.policy(key, table, &mut section),
                (_, Some(_)) => {
                    let known = parts.map(|part| format!("{key}.{part}"));
                    let message = format!("`{key}` has parts: set {}", value::alternatives(known));
                    self.problems.add(at, message);
                }
                (_, None) => self.unknown_key(at, key, entity),
            }
        }
        section
    }

    /// A policy of several parts.
    fn policy(&mut self, policy: &str, table: &DeTable<'_>, section: &mut Section) {
        for (key, item) in table {
            let full = format!("{policy}.{}", key.get_ref());
            match catalogue::find(section.entity, &full) {
                Some(setting) => self.assign(setting, item, section),
                None => {
                    let known = parts(section.entity, policy);
                    let what = format!("key of `{policy}`,");
                    self.problems
                        .unknown(key.span().start, &what, key.get_ref(), known);
                }
            }
        }
    }

    fn unknown_key(&mut self, at: usize, key: &str, entity: Entity) {
        let others = catalogue::settings()
            .iter()
            .filter(|setting| first_part(setting) == key);
        let mut others: Vec<_> = others.flat_map(|setting| setting.entities).collect();
        others.sort();
        others.dedup();
        if others.is_empty() {
            let known = catalogue::of(entity).map(first_part);
            let filter = entity.is_of_topic().then_some("topic");
            self.problems.unknown(at, "key", key, known.chain(filter));
            return;
        }
        let others = value::alternatives(others.into_iter().map(ToString::to_string));
        self.problems.add(
            at,
            format!("`{key}` is a setting of {others}, not of `{entity}`"),
        );
    }

    fn assign(&mut self, setting: &'static Setting, item: &Item<'_>, section: &mut Section) {
        let at = item.span().start;
        match convert(setting, item) {
            Ok(value) => section.assign(Assignment { setting, value, at }, self.problems),
            Err((at, message)) => self.problems.add(at, message),
        }
    }

    /// A name that stands for something else.
    fn name(&mut self, item: &Item<'_>) -> Option<Name> {
        let at = item.span().start;
        match item.get_ref().as_str() {
            Some(text) => Some(Name {
                text: text.to_owned(),
                at,
            }),
            None => {
                let found = item.get_ref().type_str();
                self.problems
                    .add(at, format!("expected a name in quotes, found {found}"));
                None
            }
        }
    }

    /// A name, or a list of names.
    fn names(&mut self, item: &Item<'_>) -> Vec<Name> {
        match item.get_ref() {
            DeValue::Array(items) => items.iter().filter_map(|item| self.name(item)).collect(),
            _ => self.name(item).into_iter().collect(),
        }
    }
}

/// The policy's name, or the whole key.
fn first_part(setting: &'static Setting) -> &'static str {
    setting
        .key
        .split_once('.')
        .map_or(setting.key, |(policy, _)| policy)
}

/// The parts of a policy.
fn parts(entity: Entity, policy: &str) -> impl Iterator<Item = &'static str> + Clone {
    let parts = catalogue::of(entity).filter_map(|setting| setting.key.split_once('.'));
    let parts: Vec<_> = parts
        .filter(|(of, _)| *of == policy)
        .map(|(_, part)| part)
        .collect();
    parts.into_iter()
}

/// A value, or what is wrong with it and where.
fn convert(setting: &Setting, item: &Item<'_>) -> Result<Value, (usize, String)> {
    let at = item.span().start;
    let here = |message| (at, message);
    let expected = |what: &str| {
        let (key, found) = (setting.key, item.get_ref().type_str());
        let as_in = match item.get_ref() {
            DeValue::Table(table) => match only_text(table) {
                Some((part, text)) => {
                    let message = format!("`{key}` has no `{part}`: write `{key} = {text:?}`");
                    return (at, message);
                }
                None => format!(", as in `{key} = {}`", setting.default),
            },
            _ => String::new(),
        };
        (at, format!("`{key}` takes {what}, not {found}{as_in}"))
    };
    let number = |item: &Item<'_>| {
        let integer = item.get_ref().as_integer()?;
        let text = integer.to_string();
        Some((
            i64::from_str_radix(integer.as_str(), integer.radix()).ok(),
            text,
        ))
    };
    let text = |what: &str| item.get_ref().as_str().ok_or_else(|| expected(what));
    Ok(match setting.kind {
        Kind::Choice(words) => {
            let word = text("a word in quotes")?;
            Value::Choice(value::word(&words, word).map_err(here)?)
        }
        Kind::Choices(words) => Value::Choices(each(item, expected("a list of words"), |word| {
            value::word(&words, word)
        })?),
        Kind::Duration | Kind::FiniteDuration => {
            let duration = text("a duration such as \"100ms\" or \"10s\"")?;
            match value::duration(duration).map_err(here)? {
                std::time::Duration::MAX if setting.kind == Kind::FiniteDuration => {
                    return Err(here(format!("`{}` cannot be infinite", setting.key)));
                }
                duration => Value::Duration(duration),
            }
        }
        Kind::Integer { min, max } => {
            let (number, text) = number(item).ok_or_else(|| expected("a whole number"))?;
            Value::Integer(value::integer(number, &text, min, max).map_err(here)?)
        }
        Kind::Limit => match (item.get_ref().as_str(), number(item)) {
            (Some(value::UNLIMITED), _) => Value::Limit(None),
            (_, Some((number, text))) => {
                Value::Limit(Some(value::limit(number, &text).map_err(here)?))
            }
            _ => return Err(expected("a whole number or \"unlimited\"")),
        },
        Kind::Bool => {
            let yes = item.get_ref().as_bool();
            Value::Bool(yes.ok_or_else(|| expected("true or false"))?)
        }
        Kind::Size => {
            Value::Size(value::size(text("a size such as \"64KiB\" or \"4MiB\"")?).map_err(here)?)
        }
        Kind::Octets => octets(item, expected("text, or a list of numbers from 0 to 255"))?,
        Kind::Names => Value::Names(each(item, expected("a list of names"), value::text)?),
        Kind::Text => Value::Text(value::text(text("text in quotes")?).map_err(here)?),
        Kind::Peers => Value::Peers(each(item, expected("a list of addresses"), value::peer)?),
        Kind::Cores => {
            let parsed = text("cores such as \"0-1 data=2\"")?.parse();
            let cores = parsed.map_err(|error: ParseThreadCoresError| here(error.to_string()))?;
            Value::Cores(Box::new(cores))
        }
    })
}

/// The one part of a table, if it is a text: what is taken for a policy of several parts, as `durability.kind`.
fn only_text<'t>(table: &'t DeTable<'_>) -> Option<(&'t str, &'t str)> {
    let mut parts = table.iter();
    let (Some((key, item)), None) = (parts.next(), parts.next()) else {
        return None;
    };
    Some((key.get_ref(), item.get_ref().as_str()?))
}

/// A list of strings, of which each means something.
fn each<T>(
    item: &Item<'_>,
    expected: (usize, String),
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, (usize, String)> {
    let Some(items) = item.get_ref().as_array() else {
        return Err(expected);
    };
    let parse = |item: &Item<'_>| {
        let at = item.span().start;
        let text = item.get_ref().as_str();
        let text = text.ok_or_else(|| (at, expected.1.clone()))?;
        parse(text).map_err(|message| (at, message))
    };
    items.iter().map(parse).collect()
}

/// The bytes of a text, or one by one.
fn octets(item: &Item<'_>, expected: (usize, String)) -> Result<Value, (usize, String)> {
    if let Some(text) = item.get_ref().as_str() {
        return Ok(Value::Octets(text.as_bytes().to_vec()));
    }
    let Some(items) = item.get_ref().as_array() else {
        return Err(expected);
    };
    let octet = |item: &Item<'_>| {
        let integer = item.get_ref().as_integer();
        let octet = integer.and_then(|i| u8::from_str_radix(i.as_str(), i.radix()).ok());
        octet.ok_or_else(|| (item.span().start, expected.1.clone()))
    };
    Ok(Value::Octets(
        items.iter().map(octet).collect::<Result<_, _>>()?,
    ))
}
