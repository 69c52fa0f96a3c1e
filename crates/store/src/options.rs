//! Where stores are, as the environment has it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

use crate::log::SyncPolicy;

/// Where the logs of writers go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreOptions {
    /// Of TRANSIENT writers: in memory, which survives the process and not the machine. Without it
    /// there can be no such writers.
    pub transient: Option<PathBuf>,
    /// Of PERSISTENT ones, likewise: on disk.
    pub persistent: Option<PathBuf>,
    /// When PERSISTENT samples are brought to the disk.
    pub sync: SyncPolicy,
}

/// What the variable TICKWIRE_STORE says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreVariable {
    /// Nothing: [`StoreOptions::usual`].
    Unset,
    /// `off`: no store.
    Off,
    /// A directory: [`StoreOptions::below`].
    Directory(PathBuf),
}

impl StoreVariable {
    /// What a value of the variable says.
    pub fn parse(value: Option<OsString>) -> Self {
        match value {
            None => Self::Unset,
            Some(value) if value.is_empty() => Self::Unset,
            Some(value) if value == "off" => Self::Off,
            Some(value) => Self::Directory(value.into()),
        }
    }
}

impl StoreOptions {
    /// Both kinds of logs below one directory, in `transient` and `persistent`.
    pub fn below(directory: &Path) -> Self {
        Self {
            transient: Some(directory.join("transient")),
            persistent: Some(directory.join("persistent")),
            sync: SyncPolicy::Never,
        }
    }

    /// The usual places: `/dev/shm/tickwire-UID`, or `$XDG_RUNTIME_DIR/tickwire` where there is no
    /// such directory; and `$XDG_STATE_HOME/tickwire`, by default `~/.local/state/tickwire`. `variable`
    /// looks up a variable of the environment.
    pub fn usual(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let path = |name: &str| {
            let value = variable(name).map(PathBuf::from);
            value.filter(|path| path.is_absolute())
        };
        let shared_memory = Path::new("/dev/shm");
        let transient = match shared_memory.is_dir() {
            true => Some(shared_memory.join(format!("tickwire-{}", geteuid()))),
            false => path("XDG_RUNTIME_DIR").map(|path| path.join("tickwire")),
        };
        let home = || path("HOME").map(|path| path.join(".local/state"));
        let persistent = path("XDG_STATE_HOME").or_else(home);
        Self {
            transient,
            persistent: persistent.map(|path| path.join("tickwire")),
            sync: SyncPolicy::Never,
        }
    }
}
