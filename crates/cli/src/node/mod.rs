//! `tickwire node`: the participants of a domain, as they announce themselves.

mod info;
mod ls;

use clap::Subcommand;

use crate::failure::Result;

/// See who is on the network
#[derive(Subcommand)]
pub(crate) enum Command {
    Ls(ls::Arguments),
    Info(info::Arguments),
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Ls(arguments) => arguments.run(),
            Self::Info(arguments) => arguments.run(),
        }
    }
}
