//! `tickwire qos`: what files say of QoS, who does not match whom, and what would mend it.

mod check;
mod show;

use clap::Subcommand;

use crate::failure::Result;

/// Explain why writers and readers do not match, and what files say
#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  tickwire qos check                               # who does not match, and why
  tickwire qos show qos.toml desk                  # what a profile says")]
pub(crate) enum Command {
    Check(check::Arguments),
    Show(show::Arguments),
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Check(arguments) => arguments.run(),
            Self::Show(arguments) => arguments.run(),
        }
    }
}
