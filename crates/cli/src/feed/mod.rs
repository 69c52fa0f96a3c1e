//! `tickwire feed`: an exchange's feed, from sample data to topics.

mod generate;
mod options;
mod send;

use clap::Subcommand;

use crate::failure::Result;

/// Make, send and handle an exchange's feed
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Make a file of sample data
    #[command(subcommand)]
    Generate(generate::Command),
    /// Send a file's packets to a multicast group
    Send(send::Arguments),
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Generate(command) => command.run(),
            Self::Send(arguments) => arguments.run(),
        }
    }
}
