//! `tickwire topic`: what is on the network, learned by discovery alone.
//!
//! Knows of a topic what its writers and readers announce, and of a type what their participants
//! answer; no template, no configuration.

mod ahead;
mod definition;
mod early;
mod echo;
mod field;
mod find;
mod info;
mod learn;
mod losses;
mod ls;
mod meter;
mod publish;
mod sample;
mod subscription;
mod template;

use clap::Subcommand;

pub(crate) use definition::definitions;
pub(crate) use info::hexadecimal;

use crate::failure::Result;

/// See and write what is on the network
#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  tickwire topic ls                                # what there is
  tickwire topic info Quotes                       # who writes and reads it
  tickwire topic type Quotes                       # what a sample holds
  tickwire topic echo Quotes                       # samples as they come
  tickwire topic hz Quotes                         # how many a second
  tickwire topic echo --help                       # all that echo can do")]
pub(crate) enum Command {
    Ls(ls::Arguments),
    Info(info::Arguments),
    Type(definition::Arguments),
    Find(find::Arguments),
    Echo(echo::Arguments),
    Hz(meter::Hz),
    Bw(meter::Bw),
    Delay(meter::DelayArguments),
    Pub(publish::Arguments),
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Ls(arguments) => arguments.run(),
            Self::Info(arguments) => arguments.run(),
            Self::Type(arguments) => arguments.run(),
            Self::Find(arguments) => arguments.run(),
            Self::Echo(arguments) => arguments.run(),
            Self::Hz(arguments) => arguments.run(),
            Self::Bw(arguments) => arguments.run(),
            Self::Delay(arguments) => arguments.run(),
            Self::Pub(arguments) => arguments.run(),
        }
    }
}
