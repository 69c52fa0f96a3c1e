//! What can be wrong with a value, in words that say where and what is meant.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use tickwire_base::nearest_name;

use crate::dynamic::JsonError;
use crate::{EncodeError, EncodeErrorKind};

/// A value does not fit its type.
#[derive(Clone, PartialEq, Debug)]
pub struct DataError {
    /// From the sample down to the value: `levels[2].price`; empty for the sample itself.
    pub path: String,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a value.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// A struct or a union has no such member.
    Unknown {
        /// Name of the type.
        of: String,
        /// The name that it does not have.
        name: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// A name is given twice.
    Twice(String),
    /// A member of the key is not given.
    MissingKey(String),
    /// A member is not given, and is not to be filled in.
    Missing(String),
    /// Something else is expected here.
    Kind {
        /// The type, in words of IDL.
        expected: String,
        /// What was found.
        found: &'static str,
    },
    /// A number or a text that the type cannot hold.
    Range {
        /// The type, in words of IDL.
        ty: String,
        /// The value.
        value: String,
    },
    /// An enumeration or a bitmask has no such name.
    NoLiteral {
        /// Name of the type.
        of: String,
        /// The name that it does not have.
        name: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// An array has another number of elements.
    Count {
        /// By the type.
        expected: usize,
        /// As given.
        found: usize,
    },
    /// The discriminator selects another member, or none.
    NotSelected {
        /// The member that was given.
        name: String,
        /// The one that is selected.
        selected: Option<String>,
    },
    /// A union is given by its discriminator, by one member, or by both.
    Ambiguous,
    /// Strings that cannot be written, or more elements than the bound.
    Encode(EncodeErrorKind),
    /// More values than fit a sample, or values that nest too deeply.
    TooLarge,
}

/// Text does not say a sample.
#[derive(Clone, PartialEq, Debug)]
pub enum FromJsonError {
    /// It is no JSON.
    Json(JsonError),
    /// It is, but not of this type.
    Data(DataError),
}

impl fmt::Display for FromJsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => error.fmt(f),
            Self::Data(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => self.problem.fmt(f),
            path => write!(f, "{path}: {}", self.problem),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { of, name, known } => {
                write!(f, "{of} has no member `{name}`")?;
                suggest(f, name, known)
            }
            Self::Twice(name) => write!(f, "`{name}` is given twice"),
            Self::MissingKey(name) => write!(f, "the key member `{name}` is not given"),
            Self::Missing(name) => write!(f, "the member `{name}` is not given"),
            Self::Kind { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::Range { ty, value } => write!(f, "{value} is no {ty}"),
            Self::NoLiteral { of, name, known } => {
                write!(f, "{of} has no `{name}`")?;
                suggest(f, name, known)
            }
            Self::Count { expected, found } => {
                write!(f, "expected {expected} elements, found {found}")
            }
            Self::NotSelected { name, selected } => {
                write!(f, "the discriminator does not select `{name}`")?;
                match selected {
                    Some(selected) => write!(f, " but `{selected}`"),
                    None => Ok(()),
                }
            }
            Self::Ambiguous => f.write_str(
                "a union is one member, `$discriminator`, or both; it is not clear which",
            ),
            Self::Encode(kind) => EncodeError::from(*kind).fmt(f),
            Self::TooLarge => f.write_str("more values than fit a sample"),
        }
    }
}

/// The name that was likely meant, else those that there are.
fn suggest(f: &mut fmt::Formatter<'_>, name: &str, known: &[String]) -> fmt::Result {
    if let Some(nearest) = nearest_name(name, known.iter().map(String::as_str)) {
        return write!(f, "; did you mean `{nearest}`?");
    }
    for (index, name) in known.iter().take(MOST_NAMES).enumerate() {
        f.write_str(if index == 0 { "; it has " } else { ", " })?;
        f.write_str(name)?;
    }
    match known.len() {
        0..=MOST_NAMES => Ok(()),
        more => write!(f, " and {} more", more - MOST_NAMES),
    }
}

impl core::error::Error for DataError {}
impl core::error::Error for FromJsonError {}

/// Names that an error lists.
const MOST_NAMES: usize = 12;
