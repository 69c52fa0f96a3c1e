//! `tickwire topic`: what is on the network, learned by discovery alone.
//!
//! Knows of a topic what its writers and readers announce, and of a type what their participants
//! answer; no template, no configuration.

mod echo;
mod interrupt;
mod ls;
mod sample;

use std::time::Duration;

use clap::{Args, Subcommand};
use tickwire::error::ParticipantError;
use tickwire::{DomainParticipant, ParticipantData};

use crate::failure::{Failure, Result};
use crate::feed;

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

/// Where to look
#[derive(Args)]
struct NetworkOptions {
    /// DDS domain to look at, 0 to 232
    #[arg(short, long, value_name = "ID", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=232))]
    domain: u32,

    /// Name or address of the interface to use
    #[arg(long, value_name = "NAME", default_value = "lo")]
    interface: String,
}

impl NetworkOptions {
    fn join(&self, name: &str) -> Result<DomainParticipant> {
        let participant = DomainParticipant::builder(self.domain).name(name);
        let participant = participant.interface(&self.interface).build();
        participant.map_err(|error| match error {
            ParticipantError::Interface(error) => Failure::usage(error),
            error => Failure::new(error),
        })
    }
}

/// Reads `500ms` or `5s`. A number alone might mean either.
fn parse_duration(text: &str) -> Result<Duration, String> {
    match text.parse::<u64>() {
        Ok(number) => Err(format!("of what? Say {number}s or {number}ms")),
        Err(_) => feed::parse_duration(text),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_without_a_unit_are_refused() {
        assert_eq!(parse_duration("5s"), Ok(Duration::from_secs(5)));
        assert!(parse_duration("5").is_err());
        assert!(parse_duration("soon").is_err());
    }
}
