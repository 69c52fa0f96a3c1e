//! `tickwire topic`: what is on the network, learned by discovery alone.
//!
//! Knows of a topic what its writers and readers announce, and of a type what their participants
//! answer; no template, no configuration.

mod definition;
mod echo;
mod find;
mod idl;
mod info;
mod learn;
mod ls;
mod sample;

use clap::Subcommand;

use crate::failure::Result;

/// See what is on the network
#[derive(Subcommand)]
pub(crate) enum Command {
    Ls(ls::Arguments),
    Info(info::Arguments),
    Type(definition::Arguments),
    Find(find::Arguments),
    Echo(echo::Arguments),
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Ls(arguments) => arguments.run(),
            Self::Info(arguments) => arguments.run(),
            Self::Type(arguments) => arguments.run(),
            Self::Find(arguments) => arguments.run(),
            Self::Echo(arguments) => arguments.run(),
        }
    }
}
