//! `tickwire qos`: who does not match whom, and what would mend it.

mod check;

use clap::Subcommand;

use crate::failure::Result;

/// Explain why writers and readers do not match
#[derive(Subcommand)]
pub(crate) enum Command {
    Check(check::Arguments),
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Check(arguments) => arguments.run(),
        }
    }
}
