//! `tickwire topic`: what is on the network, learned by discovery alone.
//!
//! Knows of a topic what its writers and readers announce, and of a type what their participants
//! answer; no template, no configuration.

mod echo;
mod ls;
mod sample;

use clap::Subcommand;
use tickwire::ParticipantData;

use crate::failure::Result;

/// See what is on the network
#[derive(Subcommand)]
pub(crate) enum Command {
    Ls(ls::Arguments),
    Echo(echo::Arguments),
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Ls(arguments) => arguments.run(),
            Self::Echo(arguments) => arguments.run(),
        }
    }
}

/// What a participant is called, and whose DDS it runs on.
fn participant_name(participant: &ParticipantData) -> String {
    let name = match participant.entity_name.as_str() {
        "" => format!("{:?}", participant.guid_prefix),
        name => name.to_owned(),
    };
    let [a, b] = participant.vendor.0;
    match vendor_name(participant.vendor.0) {
        Some(vendor) => format!("{name} ({vendor})"),
        None => format!("{name} (vendor {a:02x}{b:02x})"),
    }
}

/// By the OMG's list of vendor ids, and our own.
fn vendor_name(id: [u8; 2]) -> Option<&'static str> {
    Some(match id {
        [1, 0x01] => "RTI Connext",
        [1, 0x02] => "OpenSplice",
        [1, 0x03] => "OpenDDS",
        [1, 0x06] => "CoreDX",
        [1, 0x0a] => "RTI Connext Micro",
        [1, 0x0f] => "Fast DDS",
        [1, 0x10] => "Cyclone DDS",
        [1, 0x11] => "GurumDDS",
        [1, 0x12] => "RustDDS",
        [1, 0x14] => "Dust DDS",
        [1, 0x54] => "Tickwire",
        _ => return None,
    })
}
