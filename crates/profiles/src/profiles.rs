//! All profiles of a file.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use tickwire::rendezvous;

use crate::problem::{LoadError, Problem, Problems, UnknownProfile};
use crate::profile::Profile;
use crate::resolve::Library;
use crate::{Entity, toml_file, xml};

/// The profiles of a file. Clones are the same profiles.
///
/// The default value has no profile; its [`default_profile`](Self::default_profile) is that of a file
/// which says nothing: the standard's defaults.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    library: Arc<Library>,
    /// The profile that was chosen in place of the file's defaults.
    chosen: Option<usize>,
    /// What the environment adds.
    rendezvous: Option<Arc<str>>,
}

impl Profiles {
    /// Reads a file of any of the three formats.
    ///
    /// # Errors
    /// When it cannot be read, is empty or longer than 1 MiB, or says what cannot be obeyed: then with the place of
    /// each error.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let read = |source| LoadError::Read {
            path: path.to_owned(),
            source,
        };
        let mut text = String::new();
        let file = File::open(path).map_err(read)?;
        file.take(MAX_BYTES + 1)
            .read_to_string(&mut text)
            .map_err(read)?;
        if text.len() as u64 > MAX_BYTES {
            return Err(LoadError::TooLong {
                path: path.to_owned(),
            });
        }
        if text.trim().is_empty() {
            return Err(LoadError::Empty {
                path: path.to_owned(),
            });
        }
        Self::parse(&path.display().to_string(), &text)
    }

    /// The file that the variable `TICKWIRE_QOS_FILE` names, with the profile that `TICKWIRE_QOS_PROFILE`
    /// names as the default one, and the rendezvous of `TICKWIRE_RENDEZVOUS` besides those of the
    /// profiles. Without any of them, no profile.
    ///
    /// # Errors
    /// As [`load`](Self::load), and when there is a profile without a file, or not in it.
    pub fn from_env() -> Result<Self, LoadError> {
        Self::from_variables(|name| env::var_os(name))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, LoadError> {
        let variable = |name| variable(name).filter(|value| !value.is_empty());
        let text = |name| Some(variable(name)?.to_string_lossy().into_owned());
        let profiles = match (variable(FILE_VARIABLE), text(PROFILE_VARIABLE)) {
            (Some(path), Some(name)) => Self::load(path)?.with_default(&name)?,
            (Some(path), None) => Self::load(path)?,
            (None, Some(name)) => {
                return Err(LoadError::NoFile {
                    profile: name.into(),
                });
            }
            (None, None) => Self::default(),
        };
        Ok(Self {
            rendezvous: text(rendezvous::VARIABLE).map(Into::into),
            ..profiles
        })
    }

    /// Reads the text of a file; `file` is what errors call it.
    ///
    /// # Errors
    /// When the text says what cannot be obeyed, with the place of each error.
    pub fn parse(file: &str, text: &str) -> Result<Self, LoadError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (mut problems, mut ignored) = (Problems::new(text), Problems::new(text));
        let document = match text.trim_start().starts_with('<') {
            true => xml::read(text, &mut problems, &mut ignored),
            false => toml_file::read(text, &mut problems),
        };
        let mut library = Library::resolve(text, document, &mut problems);
        if !problems.is_empty() {
            return Err(LoadError::Invalid {
                file: file.into(),
                problems: problems.into_list(),
            });
        }
        library.file = file.into();
        library.ignored = ignored.into_list();
        Ok(Self {
            library: Arc::new(library),
            chosen: None,
            rendezvous: None,
        })
    }

    /// The same profiles with that one as the default, whatever the file says.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn with_default(mut self, name: &str) -> Result<Self, UnknownProfile> {
        self.chosen = Some(self.find(name)?);
        Ok(self)
    }

    /// The names, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let own = self.library.profiles.iter();
        let own = own.filter(|profile| !profile.is_built_in);
        own.map(|profile| &*profile.name)
    }

    /// The profile of that name. That of an XML library is `LIBRARY::PROFILE`, or `PROFILE` where no
    /// other library has one of that name.
    ///
    /// # Errors
    /// When there is none, with the nearest name.
    pub fn profile(&self, name: &str) -> Result<Profile, UnknownProfile> {
        Ok(self.at(self.find(name)?))
    }

    /// The profile that holds where none is named: that of [`with_default`](Self::with_default) or of the
    /// environment, else the file's default, else its only profile. XML files may have a default for each
    /// kind of entity. Where there is none, everything has the standard's default;
    /// [`check_default`](Self::check_default) tells whether several profiles are left out so.
    pub fn default_profile(&self) -> Profile {
        match self.chosen.or_else(|| self.only()) {
            Some(chosen) => self.at(chosen),
            None => self.made(|entity| self.library.defaults.get(&entity).copied()),
        }
    }

    /// What the profile of that name is the [default](Self::default_profile) of: everything or nothing, but in files
    /// of Fast DDS also some kinds of entity.
    pub fn default_of(&self, name: &str) -> Vec<Entity> {
        let Ok(at) = self.find(name) else {
            return Vec::new();
        };
        let is_default = |entity: &Entity| match self.chosen.or_else(|| self.only()) {
            Some(chosen) => chosen == at,
            None => self.library.defaults.get(entity) == Some(&at),
        };
        Entity::ALL.into_iter().filter(is_default).collect()
    }

    /// That no profile of the file is left out for want of a choice.
    ///
    /// # Errors
    /// [`LoadError::NoDefault`] when the file has several profiles, of which neither it nor anybody else
    /// has chosen one.
    pub fn check_default(&self) -> Result<(), LoadError> {
        let is_chosen = self.chosen.is_some() || !self.library.defaults.is_empty();
        if is_chosen || self.names().nth(1).is_none() {
            return Ok(());
        }
        Err(LoadError::NoDefault {
            file: self.library.file.clone(),
            candidates: self.names().map(Into::into).collect(),
        })
    }

    /// What the file says that Tickwire does not have, by name and place: 50 at most.
    pub fn ignored(&self) -> &[Problem] {
        &self.library.ignored
    }

    /// What the file is called in errors.
    pub fn file(&self) -> &str {
        &self.library.file
    }

    /// The file's one profile, where it has no default.
    fn only(&self) -> Option<usize> {
        let profiles = self.library.profiles.iter().enumerate();
        let mut own = profiles.filter(|(_, profile)| !profile.is_built_in);
        let (first, second) = (own.next(), own.next());
        let (at, _) = first.filter(|_| second.is_none() && self.library.defaults.is_empty())?;
        Some(at)
    }

    fn at(&self, profile: usize) -> Profile {
        self.made(|_| Some(profile))
    }

    fn made(&self, part: impl Fn(Entity) -> Option<usize>) -> Profile {
        Profile::new(Arc::clone(&self.library), self.rendezvous.clone(), part)
    }

    fn find(&self, name: &str) -> Result<usize, UnknownProfile> {
        self.library
            .find(name)
            .map_err(|candidates| UnknownProfile {
                name: name.into(),
                file: self.library.file.clone(),
                candidates,
            })
    }
}

/// The variable that names the file.
pub const FILE_VARIABLE: &str = "TICKWIRE_QOS_FILE";
/// The variable that names the default profile.
pub const PROFILE_VARIABLE: &str = "TICKWIRE_QOS_PROFILE";

const MAX_BYTES: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_the_file_the_profile_and_a_rendezvous() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/market-data.toml");
        let from = |set: &'static [(&'static str, &'static str)]| {
            Profiles::from_variables(|name| {
                let value = set.iter().find(|(known, _)| *known == name)?.1;
                Some(match value {
                    "FILE" => file.into(),
                    value => value.into(),
                })
            })
        };
        let nothing = from(&[("TICKWIRE_QOS_FILE", "")]).expect("nothing is wrong");
        assert_eq!(nothing.names().count(), 0);
        let file = from(&[("TICKWIRE_QOS_FILE", "FILE")]).expect("it is there");
        assert!(file.names().count() > 0);
        let known = from(&[("TICKWIRE_RENDEZVOUS", "10.1.0.5:7399")]).expect("nothing is wrong");
        assert_eq!(known.default_profile().rendezvous(), ["10.1.0.5:7399"]);
        let lost = from(&[("TICKWIRE_QOS_PROFILE", "prices")]);
        assert!(matches!(lost, Err(LoadError::NoFile { .. })), "{lost:?}");
    }
}
