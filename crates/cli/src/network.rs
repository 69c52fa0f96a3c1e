//! Which network a command looks at, and the participant with which it does.

use clap::Args;
use tickwire::DomainParticipant;
use tickwire::error::ParticipantError;

use crate::failure::{Failure, Result};

/// Where to look
#[derive(Args)]
pub(crate) struct NetworkOptions {
    /// DDS domain, 0 to 232
    #[arg(short, long, value_name = "ID", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=232))]
    pub(crate) domain: u32,

    /// Name or address of the interface to use
    #[arg(long, value_name = "NAME", default_value = "lo")]
    pub(crate) interface: String,
}

impl NetworkOptions {
    pub(crate) fn join(&self, name: &str) -> Result<DomainParticipant> {
        join(self.domain, &self.interface, name)
    }
}

/// A participant of that domain, on that interface, under that name.
pub(crate) fn join(domain: u32, interface: &str, name: &str) -> Result<DomainParticipant> {
    let participant = DomainParticipant::builder(domain).name(name);
    let participant = participant.interface(interface).build();
    participant.map_err(|error| match error {
        ParticipantError::Interface(error) => Failure::usage(error),
        error => Failure::new(error),
    })
}
