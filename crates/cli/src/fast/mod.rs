//! `tickwire fast`: FAST without a network.

mod decode;
pub(crate) mod source;
mod statistics;

use clap::Subcommand;

use crate::failure::Result;

/// Read FAST files
#[derive(Subcommand)]
pub(crate) enum Command {
    Decode(decode::Arguments),
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Decode(arguments) => arguments.run(),
        }
    }
}
