//! What can go wrong when participants meet.

use std::error::Error;
use std::fmt;
use std::io;

/// Why no place to meet could be opened.
#[derive(Debug)]
pub struct MeetingError {
    /// The kernel's reason.
    pub source: io::Error,
}

impl fmt::Display for MeetingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source } = self;
        write!(
            f,
            "cannot open a Unix socket for participants of this machine: {source}"
        )
    }
}

impl Error for MeetingError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

/// Why a participant could not be asked for a log.
#[derive(Debug)]
#[non_exhaustive]
pub enum AskError {
    /// Nobody is there, not in this network namespace at least, or too many want to connect at once.
    Connect {
        /// The kernel's reason.
        source: io::Error,
    },
    /// It is another user's.
    OtherUser,
    /// There are 256 connections already.
    Crowded,
    /// 64 requests wait for its answer: ask again when some were answered.
    Busy,
    /// It is gone, or does not take what is sent. Its other requests have ended, too.
    Gone,
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect { source } => write!(f, "cannot connect to the participant: {source}"),
            Self::OtherUser => write!(f, "the participant is another user's"),
            Self::Crowded => write!(f, "too many connections to other participants"),
            Self::Busy => write!(f, "the participant has not answered earlier requests"),
            Self::Gone => write!(f, "the participant is gone"),
        }
    }
}

impl Error for AskError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Connect { source } => Some(source),
            _ => None,
        }
    }
}
