//! What a file says, in any format, before names are looked up. Knows no format.

use std::collections::BTreeMap;

use crate::Entity;
use crate::problem::Problems;
use crate::setting::Setting;
use crate::value::Value;

/// A file.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub(crate) profiles: Vec<Draft>,
    /// The profiles that hold where none is named.
    pub(crate) defaults: BTreeMap<Entity, Name>,
}

/// A profile.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) name: Name,
    /// Profiles on which it builds; later ones override earlier ones.
    pub(crate) bases: Vec<Name>,
    pub(crate) sections: Vec<Section>,
    /// Whether no file has it.
    pub(crate) is_built_in: bool,
}

/// What a profile says of an entity.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) entity: Entity,
    /// Names of topics for which it holds.
    pub(crate) topic: Option<String>,
    /// Profiles on which this section alone builds.
    pub(crate) bases: Vec<Name>,
    pub(crate) assignments: Vec<Assignment>,
}

/// What a section says of a setting.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) setting: &'static Setting,
    pub(crate) value: Value,
    /// Byte of the file.
    pub(crate) at: usize,
}

/// A name and its place.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    /// Byte of the file.
    pub(crate) at: usize,
}

impl Document {
    /// The profile of that name, made if there is none.
    pub(crate) fn profile(&mut self, name: &Name) -> &mut Draft {
        let known = self
            .profiles
            .iter()
            .position(|known| known.name.text == name.text);
        let at = known.unwrap_or_else(|| {
            self.profiles.push(Draft::new(name.clone()));
            self.profiles.len() - 1
        });
        &mut self.profiles[at]
    }
}

impl Draft {
    pub(crate) fn new(name: Name) -> Self {
        Self {
            name,
            bases: Vec::new(),
            sections: Vec::new(),
            is_built_in: false,
        }
    }
}

impl Section {
    pub(crate) fn new(entity: Entity, topic: Option<String>) -> Self {
        Self {
            entity,
            topic,
            bases: Vec::new(),
            assignments: Vec::new(),
        }
    }

    /// Adds what is said of a setting, once.
    pub(crate) fn assign(&mut self, assignment: Assignment, problems: &mut Problems<'_>) {
        let same = |other: &Assignment| other.setting.key == assignment.setting.key;
        if self.assignments.iter().any(same) {
            let key = assignment.setting.key;
            problems.add(assignment.at, format!("`{key}` is set a second time"));
            return;
        }
        self.assignments.push(assignment);
    }
}
