//! From what a file says to what holds: bases looked up, defaults chosen, contradictions refused.
//! Knows no format.

use std::collections::{BTreeMap, BTreeSet};

use crate::Entity;
use crate::document::{Document, Draft, Name, Section};
use crate::policies;
use crate::problem::{Problem, Problems};
use crate::setting::Setting;
use crate::value::Value;
use tickwire::qos::{EndpointQos, Inconsistent, name_matches, nearest_name};

/// All profiles of a file.
#[derive(Debug, Default)]
pub(crate) struct Library {
    pub(crate) file: Box<str>,
    pub(crate) profiles: Vec<Profile>,
    pub(crate) defaults: BTreeMap<Entity, usize>,
    pub(crate) ignored: Vec<Problem>,
}

/// A profile whose bases are known to exist.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub(crate) name: Box<str>,
    /// Whether no file has it.
    pub(crate) is_built_in: bool,
    bases: Vec<usize>,
    sections: Vec<ResolvedSection>,
}

#[derive(Clone, Debug)]
struct ResolvedSection {
    entity: Entity,
    topic: Option<Box<str>>,
    bases: Vec<usize>,
    said: Vec<Said>,
}

/// What a profile says of a setting.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) setting: &'static Setting,
    pub(crate) value: Value,
    /// Byte of the file.
    at: usize,
    /// Line of the file, from 1.
    pub(crate) line: u32,
}

/// What holds, by the key of the setting: with the profile that says it.
pub(crate) type Effective<'l> = BTreeMap<&'static str, (&'l Profile, &'l Said)>;

/// Which part of a profile, given with its place, holds.
type Pick<'p, 'l> = &'p dyn Fn(usize, &'l Profile) -> Option<&'l ResolvedSection>;

impl Library {
    /// Looks names up and checks what they lead to.
    pub(crate) fn resolve(text: &str, document: Document, problems: &mut Problems<'_>) -> Self {
        let names: Vec<&str> = document
            .profiles
            .iter()
            .map(|draft| &*draft.name.text)
            .collect();
        let index = Index::new(&names);
        for (entity, name) in &document.defaults {
            // One default of the file stands for all entities: said once.
            if index.find("", &name.text).is_none() && *entity == Entity::ALL[0] {
                problems.unknown(name.at, "profile", &name.text, names.iter().copied());
            }
        }
        let defaults = document.defaults.iter();
        let defaults =
            defaults.filter_map(|(entity, name)| Some((*entity, index.find("", &name.text)?)));
        let lines = Lines::new(text);
        let mut look_up = |scope: &str, bases: &[Name]| {
            let look_up = |base: &Name| {
                let found = index.find(scope, &base.text);
                if found.is_none() {
                    problems.unknown(base.at, "profile", &base.text, names.iter().copied());
                }
                found
            };
            bases.iter().filter_map(look_up).collect()
        };
        let profile = |draft: &Draft| {
            let name = draft.name.text.as_str();
            let scope = name.rsplit_once("::").map_or("", |(library, _)| library);
            Profile {
                name: name.into(),
                is_built_in: draft.is_built_in,
                bases: look_up(scope, &draft.bases),
                sections: draft
                    .sections
                    .iter()
                    .map(|section| ResolvedSection {
                        entity: section.entity,
                        topic: section.topic.as_deref().map(Into::into),
                        bases: look_up(scope, &section.bases),
                        said: said(section, &lines),
                    })
                    .collect(),
            }
        };
        let library = Self {
            defaults: defaults.collect(),
            profiles: document.profiles.iter().map(profile).collect(),
            ..Self::default()
        };
        library.check(&document, problems);
        library
    }

    /// The profile of that name; its library need not be named where that is clear.
    pub(crate) fn find(&self, name: &str) -> Result<usize, Vec<Box<str>>> {
        let names: Vec<&str> = self.profiles.iter().map(|profile| &*profile.name).collect();
        Index::new(&names).find("", name).ok_or_else(|| {
            let suffix = format!("::{name}");
            let same: Vec<_> = names
                .iter()
                .filter(|known| known.ends_with(&suffix))
                .collect();
            let near = nearest_name(name, names.iter().copied());
            match (same.as_slice(), near) {
                ([], Some(near)) => vec![near.into()],
                ([], None) => names.iter().map(|name| (*name).into()).collect(),
                (several, _) => several.iter().map(|name| (**name).into()).collect(),
            }
        })
    }

    /// What holds for an entity of a topic by that profile and those on which it builds.
    pub(crate) fn effective(
        &self,
        profile: usize,
        entity: Entity,
        topic: Option<&str>,
    ) -> Effective<'_> {
        self.picked(profile, &|_, found| found.section(entity, topic))
    }

    /// What holds for an entity of topics for which each profile's part has the filter that `chosen` says,
    /// else none.
    pub(crate) fn chosen(
        &self,
        profile: usize,
        entity: Entity,
        chosen: &BTreeMap<usize, &str>,
    ) -> Effective<'_> {
        self.picked(profile, &|at, found| {
            let topic = chosen.get(&at).copied();
            let mut own = found.sections_of(entity);
            own.find(|section| section.topic.as_deref() == topic)
        })
    }

    /// The filters that say what holds for an entity, in their order: of the profile and of those on which
    /// it builds.
    pub(crate) fn filters(&self, profile: usize, entity: Entity) -> Vec<(usize, Vec<&str>)> {
        let mut filters = BTreeMap::new();
        let mut next = vec![profile];
        while let Some(at) = next.pop() {
            let Some(found) = self.profiles.get(at) else {
                continue;
            };
            let own = found.sections_of(entity);
            let topics = own.clone().filter_map(|section| section.topic.as_deref());
            if filters.insert(at, topics.collect()).is_none() {
                next.extend(&found.bases);
                next.extend(own.flat_map(|section| &section.bases));
            }
        }
        filters.into_iter().collect()
    }

    fn picked<'l>(&'l self, profile: usize, pick: Pick<'_, 'l>) -> Effective<'l> {
        let mut effective = Effective::new();
        let mut seen = BTreeSet::new();
        self.collect(profile, pick, &mut seen, &mut effective);
        effective
    }

    /// Bases come first, and each profile once.
    fn collect<'l>(
        &'l self,
        profile: usize,
        pick: Pick<'_, 'l>,
        seen: &mut BTreeSet<usize>,
        effective: &mut Effective<'l>,
    ) {
        let Some(found) = self.profiles.get(profile).filter(|_| seen.insert(profile)) else {
            return;
        };
        for &base in &found.bases {
            self.collect(base, pick, seen, effective);
        }
        let Some(section) = pick(profile, found) else {
            return;
        };
        for &base in &section.bases {
            self.collect(base, pick, seen, effective);
        }
        for said in &section.said {
            effective.insert(said.setting.key, (found, said));
        }
    }

    fn check(&self, document: &Document, problems: &mut Problems<'_>) {
        check_sections(document, problems);
        let mut state = vec![Visit::New; self.profiles.len()];
        for (at, draft) in document.profiles.iter().enumerate() {
            if self.is_circular(at, &mut state) {
                let message = format!("the bases of `{}` lead back to themselves", draft.name.text);
                problems.add(draft.name.at, message);
            } else if self.ancestors(at) > MAX_ANCESTORS {
                let message = format!("the profile builds on more than {MAX_ANCESTORS} others");
                problems.add(draft.name.at, message);
            }
        }
        if problems.is_empty() {
            for (at, profile) in self.profiles.iter().enumerate() {
                self.check_policies(at, profile, document, problems);
            }
        }
    }

    fn edges(&self, profile: usize) -> impl Iterator<Item = usize> {
        let found = self.profiles.get(profile);
        let sections = found.into_iter().flat_map(|found| &found.sections);
        let bases = found.into_iter().flat_map(|found| &found.bases);
        bases
            .chain(sections.flat_map(|section| &section.bases))
            .copied()
    }

    /// Whether the way through the bases comes back. The depth is that of the profiles, which are
    /// limited.
    fn is_circular(&self, profile: usize, state: &mut [Visit]) -> bool {
        match state.get(profile) {
            None | Some(Visit::Done) => return false,
            Some(Visit::Open) => return true,
            Some(Visit::New) => {}
        }
        state[profile] = Visit::Open;
        let edges: BTreeSet<_> = self.edges(profile).collect();
        let circular = edges.into_iter().any(|base| self.is_circular(base, state));
        state[profile] = Visit::Done;
        circular
    }

    /// How many profiles it builds on; counted no further than matters.
    fn ancestors(&self, profile: usize) -> usize {
        let mut seen = BTreeSet::new();
        let mut next: Vec<_> = self.edges(profile).collect();
        while let Some(base) = next.pop() {
            if seen.len() <= MAX_ANCESTORS && seen.insert(base) {
                next.extend(self.edges(base));
            }
        }
        seen.len()
    }

    /// Refuses policies that contradict each other.
    fn check_policies(
        &self,
        at: usize,
        profile: &Profile,
        document: &Document,
        problems: &mut Problems<'_>,
    ) {
        for entity in [Entity::Writer, Entity::Reader] {
            let own = profile
                .sections
                .iter()
                .filter(|section| section.entity == entity);
            let topics = own.filter_map(|section| section.topic.as_deref()).map(Some);
            for topic in topics.chain([None]) {
                let effective = self.effective(at, entity, topic);
                let mut qos = match entity {
                    Entity::Writer => EndpointQos::writer(),
                    _ => EndpointQos::reader(),
                };
                policies::apply_all(&mut qos, &effective);
                if let Err(inconsistent) = qos.check_consistency() {
                    let (place, message) = contradiction(inconsistent, &effective);
                    let name = document.profiles.get(at).map_or(0, |draft| draft.name.at);
                    problems.add(place.unwrap_or(name), message);
                }
            }
        }
    }
}

impl Profile {
    /// One that is in no file.
    pub(crate) fn of_program() -> Self {
        Self {
            name: "the program".into(),
            is_built_in: true,
            bases: Vec::new(),
            sections: Vec::new(),
        }
    }

    /// Says something of all topics, in place of what it said before.
    pub(crate) fn say(&mut self, entity: Entity, setting: &'static Setting, value: Value) {
        let at = self
            .sections
            .iter()
            .position(|section| section.entity == entity);
        let at = at.unwrap_or_else(|| {
            self.sections.push(ResolvedSection {
                entity,
                topic: None,
                bases: Vec::new(),
                said: Vec::new(),
            });
            self.sections.len() - 1
        });
        let said = &mut self.sections[at].said;
        said.retain(|other| other.setting.key != setting.key);
        said.push(Said {
            setting,
            value,
            at: 0,
            line: 0,
        });
    }

    /// What it says of an entity of any topic, without its bases.
    pub(crate) fn said(&self, entity: Entity) -> impl Iterator<Item = &Said> {
        let general = self.sections_of(entity);
        let mut general = general.filter(|section| section.topic.is_none());
        general.next().into_iter().flat_map(|section| &section.said)
    }

    /// What it says itself: of topics with such a name, else of all (DDS-XML 1.0 §7.3.2.4.3).
    fn section(&self, entity: Entity, topic: Option<&str>) -> Option<&ResolvedSection> {
        let mut sections = self.sections_of(entity);
        let matches = |section: &&ResolvedSection| match (&section.topic, topic) {
            (Some(pattern), Some(topic)) => **pattern == *topic || name_matches(pattern, topic),
            _ => false,
        };
        let filtered = sections.clone().find(matches);
        filtered.or_else(|| sections.find(|section| section.topic.is_none()))
    }

    fn sections_of(&self, entity: Entity) -> impl Iterator<Item = &ResolvedSection> + Clone {
        let sections = self.sections.iter();
        sections.filter(move |section| section.entity == entity)
    }
}

/// A file may filter topics as it likes, but not say what holds for all others twice.
fn check_sections(document: &Document, problems: &mut Problems<'_>) {
    for draft in &document.profiles {
        if draft.sections.len() > MAX_SECTIONS {
            let message = format!("the profile has more than {MAX_SECTIONS} parts");
            problems.add(draft.name.at, message);
            continue;
        }
        for entity in Entity::ALL {
            let general = draft.sections.iter();
            let mut general =
                general.filter(|section| section.entity == entity && section.topic.is_none());
            if let Some(second) = general.nth(1) {
                let at = second
                    .assignments
                    .first()
                    .map_or(draft.name.at, |first| first.at);
                let message = format!("a second `{entity}` for all topics; which topic is it for?");
                problems.add(at, message);
            }
        }
    }
}

/// Where two policies contradict each other, and how.
fn contradiction(inconsistent: Inconsistent, effective: &Effective<'_>) -> (Option<usize>, String) {
    let keys: &[&str] = match inconsistent {
        Inconsistent::DepthIsZero | Inconsistent::DepthAboveLimit => {
            &["history.depth", "resource_limits.max_samples_per_instance"]
        }
        Inconsistent::SamplesBelowSamplesPerInstance => &[
            "resource_limits.max_samples",
            "resource_limits.max_samples_per_instance",
        ],
        Inconsistent::FilterAboveDeadline => &["time_based_filter", "deadline"],
        Inconsistent::ServiceDepthIsZero | Inconsistent::ServiceDepthAboveLimit => &[
            "durability_service.history_depth",
            "durability_service.max_samples_per_instance",
        ],
        Inconsistent::ServiceSamplesBelowSamplesPerInstance => &[
            "durability_service.max_samples",
            "durability_service.max_samples_per_instance",
        ],
    };
    let said = keys.iter().filter_map(|key| effective.get(key));
    let mut said: Vec<_> = said.map(|(_, said)| *said).collect();
    said.sort_by_key(|said| said.at);
    let last = said.pop();
    let others = said
        .iter()
        .map(|said| format!(" (`{}` is in line {})", said.setting.key, said.line));
    let message = format!("{inconsistent}{}", others.collect::<String>());
    (last.map(|last| last.at), message)
}

fn said(section: &Section, lines: &Lines) -> Vec<Said> {
    let said = section.assignments.iter().map(|assignment| Said {
        setting: assignment.setting,
        value: assignment.value.clone(),
        at: assignment.at,
        line: lines.of(assignment.at),
    });
    said.collect()
}

/// Profiles by name, and by name without library where that is clear.
struct Index<'n> {
    full: BTreeMap<&'n str, usize>,
    /// `None` where several libraries have it.
    short: BTreeMap<&'n str, Option<usize>>,
}

impl<'n> Index<'n> {
    fn new(names: &[&'n str]) -> Self {
        let mut index = Self {
            full: BTreeMap::new(),
            short: BTreeMap::new(),
        };
        for (at, name) in names.iter().enumerate() {
            index.full.insert(name, at);
            if let Some((_, short)) = name.rsplit_once("::") {
                let short = index.short.entry(short);
                short.and_modify(|known| *known = None).or_insert(Some(at));
            }
        }
        index
    }

    /// `name` as one in the library `scope` would say it.
    fn find(&self, scope: &str, name: &str) -> Option<usize> {
        let scoped = format!("{scope}::{name}");
        let full = self
            .full
            .get(scoped.as_str())
            .or_else(|| self.full.get(name));
        full.copied()
            .or_else(|| self.short.get(name).copied().flatten())
    }
}

/// Where lines begin.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(newlines.map(|(at, _)| at).collect())
    }

    /// The line of a byte, from 1.
    fn of(&self, at: usize) -> u32 {
        let before = self.0.partition_point(|newline| *newline < at);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Done,
}

/// Profiles on which one may build, counting those on which they build.
const MAX_ANCESTORS: usize = 32;
/// Tables, or elements, of one profile.
const MAX_SECTIONS: usize = 64;
