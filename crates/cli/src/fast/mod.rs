//! `tickwire fast`: FAST without a network.

mod capture;
mod decode;
mod explain;
pub(crate) mod packets;
pub(crate) mod source;
mod statistics;
mod templates;
mod walk;

use clap::Subcommand;

use crate::failure::Result;

/// Read FAST files
#[derive(Subcommand)]
pub(crate) enum Command {
    Decode(decode::Arguments),
    Explain(explain::Arguments),
    Templates(templates::Arguments),
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Decode(arguments) => arguments.run(),
            Self::Explain(arguments) => arguments.run(),
            Self::Templates(arguments) => arguments.run(),
        }
    }
}
