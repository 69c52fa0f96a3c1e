//! The profiles that are built into RTI Connext, as far as they say anything of the standard's policies.
//! Users build on them by name; no file has them.

use super::walk::Walk;
use crate::document::{Assignment, Document, Draft, Name, Section};
use crate::setting::Kind;
use crate::value::Value;
use crate::{Entity, catalogue};

/// Gives `document` the built-in profiles on which its own build. Bases that say nothing of what
/// Tickwire has are taken out; those that say what it does not know are refused.
pub(super) fn add_builtins(document: &mut Document, walk: &mut Walk<'_, '_>) {
    let mut needed: Vec<(&'static BuiltIn, usize)> = Vec::new();
    for draft in &mut document.profiles {
        let sections = draft.sections.iter_mut().map(|section| &mut section.bases);
        for bases in sections.chain([&mut draft.bases]) {
            bases.retain_mut(|base| replace(base, walk, &mut needed));
        }
    }
    for (builtin, at) in needed {
        document.profiles.push(builtin.draft(at));
    }
}

/// Names the built-in profile that a base stands for; false if there is none.
fn replace(
    base: &mut Name,
    walk: &mut Walk<'_, '_>,
    needed: &mut Vec<(&'static BuiltIn, usize)>,
) -> bool {
    let mut libraries = LIBRARIES.iter();
    let Some(name) = libraries.find_map(|library| base.text.strip_prefix(library)) else {
        return true;
    };
    let is_extension = |builtin: &&BuiltIn| {
        let rest = name.strip_prefix(builtin.name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    // The longest is the nearest.
    let found = BUILT_IN.iter().filter(is_extension);
    let Some(builtin) = found.max_by_key(|builtin| builtin.name.len()) else {
        if name.starts_with(PATTERN) {
            let message = format!(
                "Tickwire does not have `{}`, which sets RELIABILITY and other policies: write these \
                 out here in place of the base",
                base.text
            );
            walk.problems.add(base.at, message);
            return false;
        }
        let message = format!(
            "the base `{}` is ignored: Tickwire does not have it",
            base.text
        );
        walk.ignored.add(base.at, message);
        return false;
    };
    if builtin.name != name {
        let message = format!(
            "of the base `{}` only `{}` counts: Tickwire does not have the rest",
            base.text, builtin.name
        );
        walk.ignored.add(base.at, message);
    }
    base.text = builtin.full_name();
    if needed.iter().all(|(known, _)| known.name != builtin.name) {
        needed.push((builtin, base.at));
    }
    true
}

struct BuiltIn {
    name: &'static str,
    /// What it says of writers and readers.
    says: &'static [(&'static str, &'static str)],
}

impl BuiltIn {
    fn full_name(&self) -> String {
        format!("{LIBRARY}{}", self.name)
    }

    /// The profile, as if it stood at byte `at`.
    fn draft(&self, at: usize) -> Draft {
        let text = self.full_name();
        let mut draft = Draft::new(Name { text, at });
        draft.is_built_in = true;
        for entity in [Entity::Writer, Entity::Reader] {
            let mut section = Section::new(entity, None);
            let said = self.says.iter().filter_map(|(key, word)| {
                let setting = catalogue::find(entity, key)?;
                let value = match &setting.kind {
                    Kind::Choice(words) => Value::Choice(words.number(word)?),
                    _ => Value::Integer(word.parse().ok()?),
                };
                Some(Assignment { setting, value, at })
            });
            section.assignments.extend(said);
            draft.sections.push(section);
        }
        draft
    }
}

const LIBRARY: &str = "BuiltinQosLib::";
/// How the names of those begin that each set several policies of the standard.
const PATTERN: &str = "Pattern.";
const LIBRARIES: [&str; 3] = [LIBRARY, "BuiltinQosLibExp::", "BuiltinQosSnippetLib::"];

const fn builtin(name: &'static str, says: &'static [(&'static str, &'static str)]) -> BuiltIn {
    BuiltIn { name, says }
}

const RELIABLE: (&str, &str) = ("reliability.kind", "reliable");
const BEST_EFFORT: (&str, &str) = ("reliability.kind", "best_effort");
const KEEP_ALL: (&str, &str) = ("history.kind", "keep_all");
const KEEP_LAST: (&str, &str) = ("history.kind", "keep_last");
const ONE: (&str, &str) = ("history.depth", "1");
const TRANSIENT_LOCAL: (&str, &str) = ("durability", "transient_local");
const TRANSIENT: (&str, &str) = ("durability", "transient");
const PERSISTENT: (&str, &str) = ("durability", "persistent");

static BUILT_IN: [BuiltIn; 13] = [
    builtin("Generic.StrictReliable", &[RELIABLE, KEEP_ALL]),
    builtin("Generic.KeepLastReliable", &[RELIABLE, KEEP_LAST, ONE]),
    builtin(
        "Generic.KeepLastReliable.TransientLocal",
        &[RELIABLE, KEEP_LAST, ONE, TRANSIENT_LOCAL],
    ),
    builtin(
        "Generic.KeepLastReliable.Transient",
        &[RELIABLE, KEEP_LAST, ONE, TRANSIENT],
    ),
    builtin(
        "Generic.KeepLastReliable.Persistent",
        &[RELIABLE, KEEP_LAST, ONE, PERSISTENT],
    ),
    builtin("Generic.BestEffort", &[BEST_EFFORT]),
    builtin("QosPolicy.Reliability.Reliable", &[RELIABLE]),
    builtin("QosPolicy.Reliability.BestEffort", &[BEST_EFFORT]),
    builtin("QosPolicy.History.KeepAll", &[KEEP_ALL]),
    builtin("QosPolicy.History.KeepLast_1", &[KEEP_LAST, ONE]),
    builtin("QosPolicy.Durability.TransientLocal", &[TRANSIENT_LOCAL]),
    builtin("QosPolicy.Durability.Transient", &[TRANSIENT]),
    builtin("QosPolicy.Durability.Persistent", &[PERSISTENT]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_they_say_is_a_setting() {
        for builtin in &BUILT_IN {
            for section in builtin.draft(0).sections {
                assert_eq!(
                    section.assignments.len(),
                    builtin.says.len(),
                    "{}",
                    builtin.name
                );
            }
        }
    }
}
