//! Values of constants and annotations.

use super::DefinitionId;

/// A value, of the type that stands beside it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `TRUE` or `FALSE`
    Bool(bool),
    /// Of an integer or octet, within its range; of a bitmask, its bits.
    Integer(i128),
    /// Of a floating-point number; a finite one.
    Float(f64),
    /// Of a `char`, one of the first 256, or a `wchar`, one unit of UTF-16.
    Char(char),
    /// Of a string or wide string.
    String(String),
    /// A literal of an enum.
    Literal {
        /// The enum.
        of: DefinitionId,
        /// Index into its literals.
        index: u32,
    },
}
