//! `tickwire fast`: FAST without a network.

mod capture;
mod decode;
mod encode;
mod explain;
mod idl;
mod lua;
pub(crate) mod packets;
mod rust;
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
    Encode(encode::Arguments),
    Explain(explain::Arguments),
    Idl(idl::Arguments),
    Lua(lua::Arguments),
    Rust(rust::Arguments),
    Templates(templates::Arguments),
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Decode(arguments) => arguments.run(),
            Self::Encode(arguments) => arguments.run(),
            Self::Explain(arguments) => arguments.run(),
            Self::Idl(arguments) => arguments.run(),
            Self::Rust(arguments) => arguments.run(),
            Self::Lua(arguments) => arguments.run(),
            Self::Templates(arguments) => arguments.run(),
        }
    }
}
