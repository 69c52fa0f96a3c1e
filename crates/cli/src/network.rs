//! Which network a command looks at, and the participant with which it does.

use clap::{ArgMatches, Args, Command, FromArgMatches};
use tickwire::error::ParticipantError;
use tickwire::{DomainParticipant, Driving};
use tickwire_profiles::Profile;

use crate::failure::{Failure, Result};
use crate::profile::ProfileOptions;

/// Where to look: as the command line says, else as the profile.
pub(crate) struct NetworkOptions {
    pub(crate) domain: u32,
    pub(crate) interface: String,
    pub(crate) profile: Profile,
}

#[derive(Args)]
#[group(skip)]
struct Arguments {
    /// DDS domain, 0 to 232 [default: the profile's, or 0]
    #[arg(short, long, value_name = "ID", value_parser = clap::value_parser!(u32).range(..=232))]
    domain: Option<u32>,

    /// Name or address of the interface to use [default: the profile's, or lo]
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,

    #[command(flatten)]
    profile: ProfileOptions,
}

impl NetworkOptions {
    /// As `domain` and `interface` say, else as the profile.
    pub(crate) fn new(domain: Option<u32>, interface: Option<String>, profile: &Profile) -> Self {
        Self {
            domain: domain.or(profile.domain()).unwrap_or(0),
            interface: interface
                .or(profile.interface().map(str::to_owned))
                .unwrap_or_else(|| "lo".to_owned()),
            profile: profile.clone(),
        }
    }

    /// A participant, under that name if the profile has none. Whatever the profile says, it is driven by
    /// threads of its own, and what is made of it takes part at once.
    pub(crate) fn join(&self, name: &str) -> Result<DomainParticipant> {
        let participant = DomainParticipant::builder(self.domain).name(name);
        let participant = self.profile.adjust_participant(participant);
        let participant = participant.autoenable_created_entities(true);
        let participant = participant.interface(&self.interface);
        let participant = participant.driving(Driving::Threaded).build();
        participant.map_err(|error| match error {
            ParticipantError::Interface(error) => Failure::usage(error),
            error => Failure::new(error),
        })
    }
}

impl Args for NetworkOptions {
    fn augment_args(command: Command) -> Command {
        Arguments::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Arguments::augment_args_for_update(command)
    }
}

impl FromArgMatches for NetworkOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let Arguments {
            domain,
            interface,
            profile,
        } = Arguments::from_arg_matches(matches)?;
        Ok(Self::new(domain, interface, &profile.profile))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
