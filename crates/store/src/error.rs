//! What can go wrong with a store. Every error names the path, and says what to do about it.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a store or a log cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// The system refused.
    Io {
        /// What was to be done.
        operation: Operation,
        /// With what.
        path: PathBuf,
        /// Why not.
        kind: io::ErrorKind,
        /// The same, as the system says it.
        reason: String,
    },
    /// The directory belongs to another user, or others may write into it.
    NotOurs {
        /// The directory.
        path: PathBuf,
    },
    /// The file is no log of this version, its header is damaged, or more than can be passed over.
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where and how.
        damage: Damage,
    },
    /// A writer or a durability service has the log.
    Taken {
        /// Its directory.
        path: PathBuf,
    },
    /// Each of the 256 slots of a topic has a writer, or a log that the next one cannot take over.
    NoSlot {
        /// The store.
        path: PathBuf,
        /// How many have such a log: of another type, in another encoding, or damaged.
        unused: usize,
    },
    /// The key, the QoS or the type does not fit a log's header, or the sample no record.
    TooLarge {
        /// The log.
        path: PathBuf,
    },
    /// The environment names no place for the store.
    NoPlace,
}

/// What was to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Make a directory.
    CreateDirectory,
    /// Look at a file or directory.
    Read,
    /// Make or open a file.
    Open,
    /// Lock a log.
    Lock,
    /// Add to a log.
    Append,
    /// Bring a log to the disk.
    Sync,
    /// Replace a log by a shorter one.
    Compact,
    /// Remove a log.
    Remove,
}

/// Bytes that are no header or record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where in the file, in bytes.
    pub offset: u64,
    /// What is wrong there.
    pub what: &'static str,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.what)
    }
}

impl StoreError {
    pub(crate) fn io(operation: Operation, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io {
            operation,
            path: path.to_owned(),
            kind: error.kind(),
            reason: error.to_string(),
        }
    }

    pub(crate) fn damaged(path: &Path, damage: Damage) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            damage,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io {
                operation,
                path,
                kind,
                reason,
            } => {
                let remedy = match kind {
                    io::ErrorKind::StorageFull
                    | io::ErrorKind::QuotaExceeded
                    | io::ErrorKind::FileTooLarge => {
                        "free some space there, or name another place by TICKWIRE_STORE or --store"
                    }
                    _ => "name a directory of yours by TICKWIRE_STORE or --store",
                };
                let path = path.display();
                write!(f, "cannot {operation} {path}: {reason}; {remedy}")
            }
            Self::NotOurs { path } => write!(
                f,
                "the durability store {} belongs to another user, or others may write into it; name \
                 a directory of yours by TICKWIRE_STORE or --store",
                path.display()
            ),
            Self::Damaged { path, damage } => write!(
                f,
                "{} is no log that can be read, {damage}; move its directory out of the way",
                path.display()
            ),
            Self::Taken { path } => write!(
                f,
                "{} belongs to a writer or service that runs",
                path.display()
            ),
            Self::NoSlot { path, unused: 0 } => write!(
                f,
                "every slot for this topic in {} has a writer; name another directory by \
                 TICKWIRE_STORE",
                path.display()
            ),
            Self::NoSlot { path, unused } => write!(
                f,
                "every slot for this topic in {} is taken, {unused} of them by logs of another type or \
                 encoding or by damaged ones; remove those by `tickwire durability rm`, or name another \
                 directory by TICKWIRE_STORE",
                path.display()
            ),
            Self::TooLarge { path } => write!(
                f,
                "topic, QoS and type, or the sample, are more than 4 GiB long, which {} cannot hold",
                path.display()
            ),
            Self::NoPlace => f.write_str(
                "there is no place for a durability store: set HOME, or name a directory by \
                 TICKWIRE_STORE",
            ),
        }
    }
}

impl Error for StoreError {}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CreateDirectory => "make the directory",
            Self::Read => "read",
            Self::Open => "open",
            Self::Lock => "lock",
            Self::Append => "append to",
            Self::Sync => "bring to the disk",
            Self::Compact => "compact",
            Self::Remove => "remove",
        })
    }
}
