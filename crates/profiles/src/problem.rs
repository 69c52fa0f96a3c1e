//! What is wrong with a file, and where. Knows no format.

use std::fmt;
use std::io;
use std::path::PathBuf;

use tickwire_base::{excerpt, line_and_column, nearest_name};

/// Something about a place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What it is, and what to do about it.
    pub message: Box<str>,
    excerpt: Box<str>,
}

impl Problem {
    /// The line of the file with a caret under the column: three lines of text.
    pub fn excerpt(&self) -> &str {
        &self.excerpt
    }
}

/// `LINE:COLUMN: MESSAGE`, then the [`excerpt`](Problem::excerpt).
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            column,
            message,
            excerpt,
        } = self;
        write!(f, "{line}:{column}: {message}\n{excerpt}")
    }
}

/// Why there are no profiles. Its `Debug` is its text, as that is what a `main` shows that returns it.
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is longer than 1 MiB.
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// The file is empty, so that it cannot be the one that is meant.
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file says what cannot be obeyed.
    Invalid {
        /// The file.
        file: Box<str>,
        /// All that is wrong, in the order of the file; 50 at most.
        problems: Vec<Problem>,
    },
    /// `TICKWIRE_QOS_PROFILE` names a profile, but `TICKWIRE_QOS_FILE` no file.
    NoFile {
        /// The profile.
        profile: Box<str>,
    },
    /// The file has several profiles, and no default.
    NoDefault {
        /// The file.
        file: Box<str>,
        /// The profiles, in the order of the file.
        candidates: Vec<Box<str>>,
    },
    /// The profile that was chosen does not exist.
    Unknown(UnknownProfile),
}

impl fmt::Debug for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, source } => {
                write!(f, "cannot read the QoS file {}: {source}", path.display())
            }
            Self::TooLong { path } => {
                write!(f, "the QoS file {} is longer than 1 MiB", path.display())
            }
            Self::Empty { path } => write!(f, "the QoS file {} is empty", path.display()),
            Self::Invalid { file, problems } => {
                for (at, problem) in problems.iter().enumerate() {
                    let separator = if at == 0 { "" } else { "\n" };
                    write!(f, "{separator}{file}:{problem}")?;
                }
                Ok(())
            }
            Self::NoFile { profile } => write!(
                f,
                "the QoS profile `{profile}` is asked for, but no file: set TICKWIRE_QOS_FILE"
            ),
            Self::NoDefault { file, candidates } => write!(
                f,
                "none of the QoS profiles in {file} is its default: choose one by its name, as TICKWIRE_QOS_PROFILE does; there are {}",
                candidates.join(", ")
            ),
            Self::Unknown(unknown) => unknown.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } => Some(source),
            Self::Unknown(unknown) => Some(unknown),
            Self::TooLong { .. }
            | Self::Empty { .. }
            | Self::Invalid { .. }
            | Self::NoFile { .. }
            | Self::NoDefault { .. } => None,
        }
    }
}

impl From<UnknownProfile> for LoadError {
    fn from(unknown: UnknownProfile) -> Self {
        Self::Unknown(unknown)
    }
}

/// No profile has that name, or several of different libraries do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownProfile {
    /// What was asked for.
    pub name: Box<str>,
    /// The file.
    pub file: Box<str>,
    /// Those that were probably meant: the nearest name, all of that name, or all there are.
    pub candidates: Vec<Box<str>>,
}

impl fmt::Display for UnknownProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            file,
            candidates,
        } = self;
        write!(f, "{file} has no QoS profile `{name}`")?;
        match candidates.as_slice() {
            [] => f.write_str(", nor any other"),
            [one] => write!(f, "; did you mean `{one}`?"),
            several => write!(f, "; there are {}", several.join(", ")),
        }
    }
}

impl std::error::Error for UnknownProfile {}

/// A program names a setting that does not exist, or a value that it cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    setting: Box<str>,
    message: Box<str>,
}

impl SettingError {
    pub(crate) fn new(setting: &str, message: String) -> Self {
        Self {
            setting: setting.into(),
            message: message.into(),
        }
    }
}

/// `SETTING: MESSAGE`, with what to do.
impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { setting, message } = self;
        write!(f, "`{setting}`: {message}")
    }
}

impl std::error::Error for SettingError {}

/// Collects what is wrong with a text.
pub(crate) struct Problems<'a> {
    text: &'a str,
    found: Vec<(usize, String)>,
}

impl<'a> Problems<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            found: Vec::new(),
        }
    }

    /// Something at byte `at`.
    pub(crate) fn add(&mut self, at: usize, message: impl Into<String>) {
        if self.found.len() < MOST_COLLECTED {
            self.found.push((at, message.into()));
        }
    }

    /// A name at byte `at` that is none of those that can stand there.
    pub(crate) fn unknown<'n>(
        &mut self,
        at: usize,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'n str> + Clone,
    ) {
        let message = match nearest_name(name, known.clone()) {
            Some(near) => format!("unknown {what} `{name}`; did you mean `{near}`?"),
            None => {
                let mut known: Vec<_> = known.collect();
                known.sort_unstable();
                known.dedup();
                let known = match known.is_empty() {
                    true => "none".to_owned(),
                    false => known.join(", "),
                };
                format!("unknown {what} `{name}`; there are {known}")
            }
        };
        self.add(at, message);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The first ones, in the order of the text.
    pub(crate) fn into_list(mut self) -> Vec<Problem> {
        self.found.sort();
        self.found.dedup();
        self.found.truncate(MOST_TOLD);
        let text = self.text;
        let problem = |(at, message): (usize, String)| {
            let (line, column) = line_and_column(text, at);
            Problem {
                line,
                column,
                message: message.into(),
                excerpt: excerpt(text, line, column).into(),
            }
        };
        self.found.into_iter().map(problem).collect()
    }
}

/// As many are kept, and the first of them told.
const MOST_COLLECTED: usize = 1_000;
const MOST_TOLD: usize = 50;
