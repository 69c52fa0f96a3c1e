//! Why a type has no columns, and a payload no row.

use std::fmt;

use tickwire::Decimal;
use tickwire::cdr::DecodeError;

/// Why a type cannot be columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaError {
    /// It contains itself: the number of its columns has no end.
    Recursive {
        /// Names from the type down to the member.
        path: String,
    },
    /// It has more than 4,096 columns, those within others counted.
    TooManyColumns,
    /// It nests too deeply.
    TooDeep {
        /// Names from the type down to the member.
        path: String,
    },
    /// An enumeration has no literals, or the type is incomplete.
    Incomplete {
        /// Names from the type down to the member.
        path: String,
    },
    /// Two columns would have this name.
    Duplicate(String),
    /// Decimals cannot have so many digits behind the point: 0 to 38.
    Scale(i8),
}

/// Columns that a type may have.
pub(crate) const MAX_COLUMNS: usize = 4_096;

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recursive { path } => {
                write!(f, "{path} contains itself, which columns cannot")
            }
            Self::TooManyColumns => write!(f, "the type has more than {MAX_COLUMNS} columns"),
            Self::TooDeep { path } => write!(f, "{path}: types nest too deeply"),
            Self::Incomplete { path } => write!(f, "{path}: a part of the type is not there"),
            Self::Duplicate(name) => write!(f, "two columns are named {name}"),
            Self::Scale(scale) => {
                write!(
                    f,
                    "a decimal cannot have {scale} digits behind the point: 0 to 38"
                )
            }
        }
    }
}

impl std::error::Error for SchemaError {}

/// Why a payload adds no row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowError {
    /// Names of the members on the way to what is wrong, the innermost first.
    pub(crate) path: Vec<String>,
    pub(crate) problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The payload is no value of the type.
    Payload(DecodeError),
    /// A decimal has more digits than its column.
    Decimal { value: Decimal, scale: i8 },
    /// The members that are absent would take more memory than a row may make up.
    MadeUp,
    /// The batch has no room for more text or elements.
    Full,
}

impl RowError {
    pub(crate) fn within(mut self, name: &str) -> Self {
        self.path.push(name.to_owned());
        self
    }
}

impl From<DecodeError> for RowError {
    fn from(error: DecodeError) -> Self {
        Problem::Payload(error).into()
    }
}

impl From<Problem> for RowError {
    fn from(problem: Problem) -> Self {
        Self {
            path: Vec::new(),
            problem,
        }
    }
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, name) in self.path.iter().rev().enumerate() {
            write!(f, "{}{name}", if at > 0 { "." } else { "" })?;
        }
        if !self.path.is_empty() {
            f.write_str(": ")?;
        }
        match &self.problem {
            Problem::Payload(error) => error.fmt(f),
            Problem::Decimal { value, scale } => write!(
                f,
                "{}E{} does not fit decimals with {scale} digits behind the point",
                value.mantissa(),
                value.exponent()
            ),
            Problem::MadeUp => {
                f.write_str("what is absent would take far more memory than the payload does")
            }
            Problem::Full => f.write_str("a batch has no room for more: ask for fewer rows"),
        }
    }
}

impl std::error::Error for RowError {}
