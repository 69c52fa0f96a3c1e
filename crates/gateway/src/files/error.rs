//! What is wrong with a whole file.

use std::cmp::Reverse;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::{Destination, MAX_STREAM};

/// Why there are no packets of a file.
#[derive(Debug)]
pub enum FileError {
    /// It cannot be read.
    Read {
        /// Which one.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// It is no file, and has more than [`MAX_STREAM`] bytes.
    Endless(PathBuf),
    /// A line of a text is no packet.
    Hex {
        /// Of which one.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// Datagrams to some destination are meant, of what is no capture.
    NoCapture(PathBuf),
    /// A capture without a UDP datagram.
    NoDatagram(PathBuf),
    /// A capture without a datagram to where it is meant.
    NotTo {
        /// Which one.
        path: PathBuf,
        /// What is meant.
        to: Destination,
        /// Where its datagrams go, and how many.
        found: Vec<(SocketAddr, u64)>,
    },
}

impl FileError {
    /// What to try, as far as that does not depend on who asks.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Endless(_) => "save what is meant in a file, and read that".to_owned(),
            Self::Hex { .. } => "a line is a packet, two hexadecimal digits a byte, with or without blanks; `#` begins a comment. A file that is no text has another framing".to_owned(),
            Self::NotTo { found, .. } => there_are(found.clone()),
            Self::NoDatagram(_) => "of a feed over TCP save the stream itself, and say by the framing how it keeps packets".to_owned(),
            Self::Read { .. } | Self::NoCapture(_) => return None,
        })
    }
}

/// Where most datagrams go.
pub(super) fn there_are(mut found: Vec<(SocketAddr, u64)>) -> String {
    found.sort_by_key(|&(_, count)| Reverse(count));
    let shown = found.iter().take(MAX_DESTINATIONS);
    let shown = shown.map(|(to, count)| format!("{to} ({count})"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    let more = match found.len().saturating_sub(MAX_DESTINATIONS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("there are datagrams to {shown}{more}")
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, error } => write!(f, "cannot read {}: {error}", path.display()),
            Self::Endless(path) => {
                let path = path.display();
                write!(
                    f,
                    "{path} is no file and gives more than {MAX_STREAM} bytes"
                )
            }
            Self::Hex {
                path,
                line,
                problem,
            } => write!(f, "{}: line {line}: {problem}", path.display()),
            Self::NoCapture(path) => write!(f, "{} is no capture", path.display()),
            Self::NoDatagram(path) => {
                write!(f, "{}: no UDP datagram in this capture", path.display())
            }
            Self::NotTo { path, to, .. } => {
                write!(f, "{}: no datagram goes to {to}", path.display())
            }
        }
    }
}

impl std::error::Error for FileError {}

/// Destinations that are named where none is meant.
const MAX_DESTINATIONS: usize = 8;
