//! Why types are not assignable, in words that name both sides.

use alloc::string::String;
use core::fmt;

use crate::Extensibility;

/// One reason why samples of a writer's type cannot be read as the reader's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotAssignable {
    /// Where in the types: `market::Quote.levels[].price`.
    pub path: String,
    /// What is wrong there.
    pub reason: Reason,
}

/// What is wrong at a place in two types: what the reader has, and what the writer.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// Different kinds of types, or arrays of different lengths.
    Type {
        /// In words of IDL.
        reader: String,
        /// In words of IDL.
        writer: String,
    },
    /// Only equal extensibilities understand each other.
    Extensibility {
        /// Of the reader's type.
        reader: Extensibility,
        /// Of the writer's.
        writer: Extensibility,
    },
    /// One id or value has two names.
    Name {
        /// The reader's name.
        reader: String,
        /// The writer's.
        writer: String,
    },
    /// One name has two ids, values or positions.
    Number {
        /// The reader's.
        reader: i64,
        /// The writer's.
        writer: i64,
    },
    /// Another member comes at this place of a final or appendable struct.
    Order {
        /// The writer's member here.
        writer: String,
    },
    /// A member can be absent on one side (true) only.
    Optional {
        /// The reader's.
        reader: bool,
    },
    /// A member is part of the key on one side (true) only.
    Key {
        /// The reader's.
        reader: bool,
    },
    /// The writer's bound is larger, 0 being none.
    Bound {
        /// The reader's.
        reader: u32,
        /// The writer's.
        writer: u32,
    },
    /// Enumerations or bitmasks of different sizes.
    BitBound {
        /// The reader's.
        reader: u16,
        /// The writer's.
        writer: u16,
    },
    /// The reader does not have it.
    OnlyWriter(Need),
    /// The writer does not have it.
    OnlyReader(Need),
    /// No member is in both.
    NothingInCommon,
    /// An appendable type that differs inside another type, in XCDR1.
    NoEnd,
}

/// Why a member, label, literal or flag has to be on both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// The type is final.
    Final,
    /// It is part of the key.
    Key,
    /// It is marked as indispensable (`@must_understand`).
    MustUnderstand,
    /// The reader forbids a type that has less than its own (`prevent_type_widening`).
    Widening,
}

impl fmt::Display for NotAssignable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.path, self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type { reader, writer } => both(f, reader, writer),
            Self::Extensibility { reader, writer } => {
                write!(f, "the writer's is {writer}, the reader's {reader}")
            }
            Self::Name { reader, writer } => {
                write!(f, "the writer calls it {writer}, the reader {reader}")
            }
            Self::Number { reader, writer } => {
                write!(f, "the writer numbers it {writer}, the reader {reader}")
            }
            Self::Order { writer } => write!(f, "the writer has {writer} in its place"),
            Self::Optional { reader } => {
                f.write_str(side(!reader))?;
                f.write_str(" has it optional, the other not")
            }
            Self::Key { reader } => {
                f.write_str(side(!reader))?;
                f.write_str(" has it in the key, the other not")
            }
            Self::Bound { reader, writer } => {
                both(f, &Bound(*reader), &Bound(*writer))?;
                f.write_str(", which is less")
            }
            Self::BitBound { reader, writer } => write!(
                f,
                "the writer's has {writer} bits, the reader's {reader} bits"
            ),
            Self::OnlyWriter(need) => write!(f, "the reader does not have it, but {need}"),
            Self::OnlyReader(need) => write!(f, "the writer does not have it, but {need}"),
            Self::NothingInCommon => f.write_str("the two have nothing in common"),
            Self::NoEnd => f.write_str(
                "it has other members on the other side, and XCDR1 does not tell where it ends; \
                 use XCDR2",
            ),
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Final => "the type is final",
            Self::Key => "it is part of the key",
            Self::MustUnderstand => "it must be understood",
            Self::Widening => "the reader prevents type widening",
        })
    }
}

fn both(
    f: &mut fmt::Formatter<'_>,
    reader: &dyn fmt::Display,
    writer: &dyn fmt::Display,
) -> fmt::Result {
    write!(f, "the writer has {writer}, the reader {reader}")
}

fn side(is_writer: bool) -> &'static str {
    if is_writer {
        "the writer"
    } else {
        "the reader"
    }
}

struct Bound(u32);

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("no bound"),
            bound => write!(f, "the bound {bound}"),
        }
    }
}
