//! What a reader may find instead of a record.

use std::error::Error;
use std::fmt;

/// The writer has overwritten what the reader had not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// How much, in bytes of the ring, headers included.
    pub lost_bytes: u64,
}

impl fmt::Display for Overrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lost_bytes } = self;
        write!(
            f,
            "the writer has overwritten {lost_bytes} unread bytes of its log"
        )
    }
}

impl Error for Overrun {}

/// Why there is no next record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NextError {
    /// The reader was too slow.
    Overrun(Overrun),
    /// What the writer has written is no record: it does not keep to the layout, or it lies.
    Malformed,
}

impl fmt::Display for NextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overrun(overrun) => overrun.fmt(f),
            Self::Malformed => write!(f, "the log is malformed"),
        }
    }
}

impl Error for NextError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Overrun(overrun) => Some(overrun),
            Self::Malformed => None,
        }
    }
}

/// What a reader has missed, since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Records.
    pub records: u64,
    /// Bytes of the ring, headers included.
    pub bytes: u64,
}
