//! `tickwire durability`: the logs that TRANSIENT and PERSISTENT writers leave behind. What is in a log, the
//! library knows.

mod ls;
mod rm;
mod serve;

use std::env;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use tickwire::store::{StoreOptions, StoreVariable};

use crate::failure::{Failure, Result};

/// See, serve and remove what TRANSIENT and PERSISTENT writers leave behind
#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  tickwire durability ls                           # what is kept
  tickwire durability serve                        # offer it to latecomers
  tickwire durability rm                           # what could be removed")]
pub(crate) enum Command {
    Ls(ls::Arguments),
    Rm(rm::Arguments),
    Serve(Box<serve::Arguments>),
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Ls(arguments) => arguments.run(),
            Self::Rm(arguments) => arguments.run(),
            Self::Serve(arguments) => arguments.run(),
        }
    }
}

/// Which store.
#[derive(Args)]
pub(crate) struct StoreOption {
    /// Directory with the logs, in `transient` and `persistent` [default: $TICKWIRE_STORE, else the usual
    /// places]
    ///
    /// Each log is a directory of its own in one of the two, which a writer or `durability serve` makes if they are
    /// not there, for this user alone. The usual places of the two are /dev/shm/tickwire-UID, or
    /// $XDG_RUNTIME_DIR/tickwire where there is no /dev/shm, and $XDG_STATE_HOME/tickwire, or
    /// ~/.local/state/tickwire without that variable.
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
}

/// Logs of one kind.
struct Place {
    /// The DURABILITY of their writers.
    kind: &'static str,
    directory: PathBuf,
}

impl StoreOption {
    /// Where the logs of writers with this DURABILITY are.
    pub(crate) fn place(&self, kind: &str) -> Result<PathBuf> {
        let place = self.places()?.into_iter().find(|place| place.kind == kind);
        let place = place.ok_or_else(|| {
            let failure = Failure::usage(format_args!("there is no usual place for {kind} logs"));
            failure.hint("name one by --store")
        })?;
        Ok(place.directory)
    }

    /// Where logs are.
    fn places(&self) -> Result<Vec<Place>> {
        let options = match &self.store {
            Some(directory) => StoreOptions::below(directory),
            None => match StoreVariable::parse(env::var_os("TICKWIRE_STORE")) {
                StoreVariable::Unset => StoreOptions::usual(|name| env::var_os(name)),
                StoreVariable::Directory(directory) => StoreOptions::below(&directory),
                StoreVariable::Off => {
                    let failure = Failure::usage("TICKWIRE_STORE is `off`");
                    return Err(failure.hint("name the store by --store"));
                }
            },
        };
        let place =
            |kind, directory: Option<PathBuf>| directory.map(|directory| Place { kind, directory });
        let transient = place("transient", options.transient);
        let persistent = place("persistent", options.persistent);
        Ok(transient.into_iter().chain(persistent).collect())
    }
}
