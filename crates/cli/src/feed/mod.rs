//! `tickwire feed`: an exchange's feed, from sample data to topics.

mod generate;
mod mismatches;
mod options;
mod receive;
mod report;
mod run;
mod send;
mod subscribe;
mod subscribers;
mod venues;

use clap::Subcommand;

use crate::failure::Result;

/// Make, send and handle an exchange's feed
#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  tickwire feed generate simple --out simple.dat   # a feed to try with
  tickwire feed run --templates simple.xml         # receive and publish it
  tickwire feed send simple.dat                    # send it there
  tickwire feed subscribe                          # count what comes
  tickwire feed venues                             # known exchanges")]
pub(crate) enum Command {
    #[command(subcommand)]
    Generate(generate::Command),
    Send(send::Arguments),
    Run(Box<run::Arguments>),
    Subscribe(subscribe::Arguments),
    Venues(venues::Arguments),
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Generate(command) => command.run(),
            Self::Send(arguments) => arguments.run(),
            Self::Run(arguments) => arguments.run(),
            Self::Subscribe(arguments) => arguments.run(),
            Self::Venues(arguments) => arguments.run(),
        }
    }
}
