//! A profile as TOML, with all that it inherits written out.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use tickwire::qos::name_matches;

use crate::resolve::{self, Library};
use crate::value::quoted;
use crate::{Effective, Entity, Profile, Profiles};

/// Why a profile cannot be said in TOML without its bases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotInToml(Box<str>);

impl fmt::Display for NotInToml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotInToml {}

/// The settings of an entity, and for which topics; for all of them without a pattern.
type Part<'a> = (Option<&'a str>, Vec<Effective>);

impl Profile {
    /// A TOML profile of that name that says the same of every topic, or of the one that is named: with
    /// `all`, also what nobody has said.
    ///
    /// # Errors
    /// When filters of the profile and of its bases overlap so that no pattern stands for what they have
    /// in common, when there are more parts than a profile may have, and when two filters together bring
    /// policies that contradict each other.
    pub fn to_toml(&self, name: &str, topic: Option<&str>, all: bool) -> Result<String, NotInToml> {
        let mut text = String::new();
        for entity in Entity::ALL {
            let parts = match topic {
                Some(_) => vec![(None, self.settings(entity, topic))],
                None => self.parts(entity)?,
            };
            let brackets = match parts.len() {
                0 | 1 => ("[", "]"),
                _ => ("[[", "]]"),
            };
            for (topic, mut settings) in parts {
                settings.retain(|effective| all || effective.origin.is_some());
                if topic.is_none() && settings.is_empty() {
                    continue;
                }
                let (open, close) = brackets;
                text += &format!("{open}profiles.{}.{entity}{close}\n", quoted(name));
                if let Some(topic) = topic {
                    text += &format!("topic = {}\n", quoted(topic));
                }
                for Effective { setting, value, .. } in settings {
                    // Writing to a string succeeds.
                    let _ = writeln!(text, "{} = {value}", setting.key);
                }
                text.push('\n');
            }
        }
        if text.is_empty() {
            text = format!("[profiles.{}]\n\n", quoted(name));
        }
        match Profiles::parse("the profile in TOML", &text) {
            Ok(_) => Ok(text),
            Err(error) => Err(NotInToml(error.to_string().into())),
        }
    }

    /// What holds of an entity for which topics: of several parts the first that matches, at last the one
    /// for all topics.
    fn parts(&self, entity: Entity) -> Result<Vec<Part<'_>>, NotInToml> {
        let Some(profile) = self.part(entity) else {
            return Ok(Vec::new());
        };
        let library = self.library();
        let mut parts = Parts {
            library,
            profile,
            entity,
            found: Vec::new(),
        };
        parts.visit(
            &library.filters(profile, entity),
            None,
            &mut BTreeMap::new(),
        )?;
        let parts = parts.found.into_iter();
        Ok(parts
            .map(|(topic, effective)| (topic, Self::listed(entity, &effective)))
            .collect())
    }
}

/// Every choice that the profiles of a chain can make at once, from the first filter of each to none. The
/// first choice of which all filters match a topic is then the one that holds for it.
struct Parts<'l> {
    library: &'l Library,
    profile: usize,
    entity: Entity,
    found: Vec<(Option<&'l str>, resolve::Effective<'l>)>,
}

impl<'l> Parts<'l> {
    /// Goes on to profiles that have not chosen yet; `topic` is what the filters of the others have in
    /// common. Each call that does not end at once leads to another part, of which there are few.
    fn visit(
        &mut self,
        undecided: &[(usize, Vec<&'l str>)],
        topic: Option<&'l str>,
        chosen: &mut BTreeMap<usize, &'l str>,
    ) -> Result<(), NotInToml> {
        let is_within = |known: &str| topic.is_some_and(|topic| within(topic, known));
        let mut known = self.found.iter().filter_map(|(known, _)| *known);
        if known.any(is_within) {
            return Ok(());
        }
        let Some(((profile, filters), rest)) = undecided.split_first() else {
            if self.found.len() >= MAX_PARTS {
                let message = format!(
                    "the filters of `{}` and of what it inherits make more than {MAX_PARTS} parts",
                    self.entity
                );
                return Err(NotInToml(message.into()));
            }
            let effective = self.library.chosen(self.profile, self.entity, chosen);
            self.found.push((topic, effective));
            return Ok(());
        };
        for filter in filters {
            let common = match topic {
                None => Some(*filter),
                Some(topic) => {
                    common(topic, filter).map_err(|()| self.no_pattern(topic, filter))?
                }
            };
            let Some(common) = common else {
                continue;
            };
            chosen.insert(*profile, filter);
            self.visit(rest, Some(common), chosen)?;
            chosen.remove(profile);
            if is_within(filter) {
                return Ok(());
            }
        }
        self.visit(rest, topic, chosen)
    }

    fn no_pattern(&self, one: &str, other: &str) -> NotInToml {
        let message = format!(
            "what holds of the `{}` of topics that match both `{one}` and `{other}`, of different \
             profiles, cannot be said by one TOML profile",
            self.entity
        );
        NotInToml(message.into())
    }
}

/// The pattern for what matches both, if anything does; an error if that cannot be told.
fn common<'p>(one: &'p str, other: &'p str) -> Result<Option<&'p str>, ()> {
    match (within(one, other), within(other, one)) {
        (true, _) => Ok(Some(one)),
        (_, true) => Ok(Some(other)),
        _ if are_apart(one, other) => Ok(None),
        _ => Err(()),
    }
}

/// Whether all that matches `inner` is known to match `outer`.
fn within(inner: &str, outer: &str) -> bool {
    // Stars of `outer` stand for whatever `inner` has there, other characters for themselves.
    let is_comparable = !outer.contains(['?', '[', '\\']) && !inner.contains(['[', '\\']);
    inner == outer || (is_name(inner) || is_comparable) && name_matches(outer, inner)
}

/// Whether nothing is known to match both, of which neither is within the other.
fn are_apart(one: &str, other: &str) -> bool {
    let differ = |one: &str, other: &str| !one.starts_with(other) && !other.starts_with(one);
    let end = |pattern: &str| pattern.rsplit(SPECIAL).next().map(reversed);
    let begin = |pattern: &'_ str| pattern.split(SPECIAL).next().map(str::to_owned);
    let both = |[one, other]: [Option<String>; 2]| {
        differ(&one.unwrap_or_default(), &other.unwrap_or_default())
    };
    is_name(one)
        || is_name(other)
        || both([begin(one), begin(other)])
        || both([end(one), end(other)])
}

fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}

/// Whether it stands for itself alone.
fn is_name(pattern: &str) -> bool {
    !pattern.contains(SPECIAL)
}

/// Characters that may not stand for themselves.
const SPECIAL: [char; 5] = ['*', '?', '[', ']', '\\'];
/// As many as a profile may have.
const MAX_PARTS: usize = 64;
