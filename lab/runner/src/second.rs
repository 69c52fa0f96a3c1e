//! What the second of two machines is, so that a reader can judge its figures too, and whether its programs are those of
//! this one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::hosts::survives_a_shell;
use crate::systems::Folders;

/// What a machine says of itself.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Sheet {
    pub(crate) environment: Environment,
    /// What peers' commands print of what is installed.
    versions: Vec<(String, String)>,
    /// Hashes of programs by their paths; none of one that cannot be read.
    programs: BTreeMap<PathBuf, Option<u64>>,
}

impl Sheet {
    /// That of this machine, about these programs.
    pub(crate) fn of_this(
        environment: Environment,
        versions: Vec<(String, String)>,
        programs: &[PathBuf],
    ) -> Self {
        let hashes = programs.iter().map(|path| (path.clone(), hash(path)));
        Self {
            environment,
            versions,
            programs: hashes.collect(),
        }
    }

    /// That of the machine where these words start programs, after it has calmed down if that is asked for.
    pub(crate) fn over<'a>(
        words: &[OsString],
        folders: &Folders,
        programs: impl Iterator<Item = &'a PathBuf>,
        is_calm: bool,
    ) -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut asked: Vec<OsString> = vec![own.into(), "--lab".into(), folders.lab.clone().into()];
        asked.push("facts".into());
        asked.extend(is_calm.then(|| OsString::from("--calm")));
        asked.extend(programs.map(OsString::from));
        let is_plain = |it: &&OsString| it.to_str().is_some_and(survives_a_shell);
        if let Some(word) = asked.iter().find(|it| !is_plain(it)) {
            return Err(format!(
                "{} may not come to another machine as it is",
                word.display()
            ));
        }
        let (first, rest) = words.split_first().ok_or("--over has no words")?;
        let said = Command::new(first)
            .args(rest)
            .args(asked)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("{}: {error}", first.display()))?;
        let text = String::from_utf8_lossy(&said.stdout);
        let sheet = text
            .lines()
            .last()
            .and_then(|it| serde_json::from_str(it).ok());
        sheet.ok_or_else(|| {
            format!(
                "the second machine does not tell what it is ({}): is the lab there at {}?",
                said.status,
                folders.lab.display()
            )
        })
    }

    /// The programs that it is about.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &PathBuf> {
        self.programs.keys()
    }

    /// What keeps programs of this machine and of that one from being measured as one system.
    pub(crate) fn unlike(&self, second: &Self) -> Vec<String> {
        let mut all = Vec::new();
        for (path, hash) in &self.programs {
            let path_text = path.display();
            match second.programs.get(path).copied().flatten() {
                None => all.push(format!("{path_text} is not there")),
                Some(other) if Some(other) != *hash => {
                    all.push(format!("{path_text} is another build there"));
                }
                Some(_) => {}
            }
        }
        let theirs: BTreeMap<_, _> = second.versions.iter().map(|(n, v)| (n, v)).collect();
        for (name, here) in &self.versions {
            let there = theirs.get(name).map_or("none", |it| it.as_str());
            if there != here {
                all.push(format!("{name} is {here} here, {there} there"));
            }
        }
        let (here, there) = (self.environment.cores, second.environment.cores);
        if there < here {
            all.push(format!("there are {here} cores here, {there} there"));
        }
        all
    }
}

/// Of what a file holds, so that two builds are told apart; nobody is to be kept from making two alike.
fn hash(path: &Path) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    hasher.write(&fs::read(path).ok()?);
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(program: Option<u64>, version: &str, cores: usize) -> Sheet {
        Sheet {
            environment: Environment {
                cores,
                ..Environment::default()
            },
            versions: vec![("ZeroMQ".to_owned(), version.to_owned())],
            programs: BTreeMap::from([("/lab/zeromq".into(), program)]),
        }
    }

    #[test]
    fn another_build_version_or_fewer_cores_are_told() {
        let here = sheet(Some(1), "4.3.4", 4);
        assert!(here.unlike(&sheet(Some(1), "4.3.4", 8)).is_empty());
        for (there, said) in [
            (
                sheet(Some(2), "4.3.4", 4),
                "/lab/zeromq is another build there",
            ),
            (sheet(None, "4.3.4", 4), "/lab/zeromq is not there"),
            (
                sheet(Some(1), "4.3.5", 4),
                "ZeroMQ is 4.3.4 here, 4.3.5 there",
            ),
            (
                sheet(Some(1), "4.3.4", 2),
                "there are 4 cores here, 2 there",
            ),
        ] {
            assert_eq!(here.unlike(&there), [said]);
        }
    }

    #[test]
    fn a_program_that_was_changed_has_another_hash() {
        let path = std::env::temp_dir().join(format!("lab-hash-{}", std::process::id()));
        fs::write(&path, "one").unwrap();
        let one = hash(&path);
        fs::write(&path, "two").unwrap();
        let two = hash(&path);
        fs::remove_file(&path).unwrap();
        assert!(one.is_some() && one != two);
        assert_eq!(hash(&path), None);
    }
}
