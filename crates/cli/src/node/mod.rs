//! `tickwire node`: the participants of a domain, as they announce themselves.

mod info;
mod ls;

use clap::Subcommand;

use crate::failure::Result;

/// See who is on the network
#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  tickwire node ls                                 # who is there
  tickwire node info \"my feed handler\"             # all that it announces")]
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
