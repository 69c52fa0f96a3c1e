//! `tickwire fast`: FAST without a network.

mod decode;
pub(crate) mod diagnosis;
mod encode;
mod events;
mod explain;
mod idl;
mod lua;
pub(crate) mod packets;
mod parallel;
mod rust;
pub(crate) mod source;
mod statistics;
mod templates;
mod walk;

use clap::Subcommand;

use crate::failure::Result;

/// Look into FAST feeds: decode, explain, encode, and what is made of templates
#[derive(Subcommand)]
#[command(
    long_about = "\
Works on files of FAST messages and on their templates, without a network.

A feed needs its template file and three things that the file does not say: how packets are kept, what \
precedes the messages of a packet, and when dictionaries are reset. `--venue` says all three for a known \
exchange (`tickwire feed venues` lists them); `--framing`, `--preamble` and `--reset` say them one by one.

When a file does not decode, `decode` names the packet, byte, template and field, and `explain` shows that \
message byte by byte with the dictionaries that it met.",
    after_help = "\
Examples:
  tickwire fast templates feed.xml MarketData            # what is in a message
  tickwire fast decode feed.dat -t feed.xml --limit 10   # messages as text
  tickwire fast decode feed.pcap -t moex.xml --venue moex-asts -o jsonl | jq .
  tickwire fast explain feed.dat -t feed.xml --failed    # why it fails
  tickwire fast encode feed.jsonl -t feed.xml --out feed.dat  # the way back
  tickwire fast lua feed.xml --port 30001 > feed.lua     # see it in Wireshark
  tickwire fast rust feed.xml                            # structs for a program
  tickwire fast idl feed.xml                             # the types for any DDS"
)]
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
