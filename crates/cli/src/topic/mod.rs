//! `tickwire topic`: what is on the network, learned by discovery alone.

mod echo;
mod ls;

use std::time::Duration;

use clap::{Args, Subcommand};
use tickwire::DomainParticipant;

use crate::failure::{Failure, Result};
use crate::feed::parse_duration;

/// Show topics and their samples
#[derive(Subcommand)]
pub(crate) enum Command {
    /// List the topics of a domain
    Ls(ls::Arguments),
    /// Print the samples of a topic
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

/// Where to look, and for how long.
#[derive(Args)]
struct Look {
    /// DDS domain, 0 to 232
    #[arg(short, long, value_name = "ID", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=232))]
    domain: u32,

    /// Name or address of the network interface
    #[arg(long, value_name = "NAME", default_value = "127.0.0.1")]
    interface: String,

    /// How long to look for participants
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    wait: Duration,
}

impl Look {
    fn participant(&self) -> Result<DomainParticipant> {
        let participant = DomainParticipant::builder(self.domain)
            .name("tickwire topic")
            .interface(&self.interface);
        participant.build().map_err(Failure::new)
    }
}
