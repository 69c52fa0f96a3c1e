//! `tickwire idl`: files of OMG IDL, checked, compiled, laid out and compared; and one of a topic that
//! is on the network.

mod check;
#[cfg(test)]
mod description_tests;
mod diff;
mod fmt;
mod from_wire;
mod generate;
mod print;
pub(crate) mod source;

use clap::Subcommand;

use crate::failure::Result;

pub(crate) use print::to_idl;

/// Check, compile, lay out and compare files of OMG IDL
#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  tickwire idl check market.idl                    # faults, and types
  tickwire idl gen --lang rust market.idl --out src
  tickwire idl fmt *.idl                           # lay them out
  tickwire idl diff old.idl new.idl                # who can read whose samples
  tickwire idl from-wire Quotes --out quotes.idl   # a topic's type as a file")]
pub(crate) enum Command {
    Check(check::Arguments),
    Gen(generate::Arguments),
    Fmt(fmt::Arguments),
    Diff(diff::Arguments),
    FromWire(from_wire::Arguments),
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Check(arguments) => arguments.run(),
            Self::Gen(arguments) => arguments.run(),
            Self::Fmt(arguments) => arguments.run(),
            Self::Diff(arguments) => arguments.run(),
            Self::FromWire(arguments) => arguments.run(),
        }
    }
}
