//! What can be wrong with a filter.

use alloc::string::String;
use core::fmt;

use super::Filter;

/// Why a filter cannot be used, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilterError {
    /// Offset into the expression in bytes.
    pub offset: usize,
    /// What is wrong there.
    pub problem: FilterProblem,
}

/// What is wrong with a filter.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FilterProblem {
    /// Something else should stand here.
    Unexpected {
        /// What stands here; empty at the end of the expression.
        found: String,
        /// What could.
        expected: &'static str,
    },
    /// Text without a closing quote.
    OpenQuote,
    /// The type has no such member.
    UnknownMember {
        /// The name.
        name: String,
        /// The type.
        ty: String,
        /// The member that may be meant.
        nearest: Option<String>,
    },
    /// A struct, sequence or array as a whole cannot be compared.
    NotComparable {
        /// The member.
        member: String,
    },
    /// Two literals are compared.
    NoMember,
    /// A parameter that was not given.
    MissingParameter(usize),
    /// The two sides are of kinds that have no order between them.
    Mismatch {
        /// The kind of the member.
        member: &'static str,
        /// The other side.
        other: String,
    },
    /// More than [`Filter::MAX_COMPARISONS`].
    TooManyComparisons,
    /// Parentheses or NOT within each other beyond reason.
    TooDeep,
    /// ORDER BY, which is for queries.
    Order,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {} of the filter: {}", self.offset, self.problem)
    }
}

impl fmt::Display for FilterProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unexpected { found, expected } if found.is_empty() => {
                write!(f, "{expected} is missing at the end")
            }
            Self::Unexpected { found, expected } => {
                write!(f, "expected {expected}, found `{found}`")
            }
            Self::OpenQuote => f.write_str("text without a closing quote"),
            Self::UnknownMember { name, ty, nearest } => {
                write!(f, "{ty} has no member `{name}`")?;
                match nearest {
                    Some(nearest) => write!(f, "; is `{nearest}` meant?"),
                    None => f.write_str("; text stands in single quotes"),
                }
            }
            Self::NotComparable { member } => write!(
                f,
                "`{member}` has parts; compare one of them, as `name.part` or `name[0]`"
            ),
            Self::NoMember => f.write_str("one side of a comparison must be a member"),
            Self::MissingParameter(number) => {
                write!(f, "parameter %{number} is not among those given")
            }
            Self::Mismatch { member, other } => {
                write!(
                    f,
                    "a member that is {member} cannot be compared with {other}"
                )
            }
            Self::TooManyComparisons => write!(
                f,
                "more than {} comparisons in one filter",
                Filter::MAX_COMPARISONS
            ),
            Self::TooDeep => f.write_str("parentheses or NOT nest too deeply"),
            Self::Order => {
                f.write_str("a filter keeps the order of writing; ORDER BY is for query conditions")
            }
        }
    }
}

impl core::error::Error for FilterError {}
