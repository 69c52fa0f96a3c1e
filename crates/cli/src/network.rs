//! Which network a command looks at, and the participant with which it does.

use std::fmt::Write;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use tickwire::error::ParticipantError;
use tickwire::{DomainParticipant, DomainParticipantBuilder, Driving, Transports};
use tickwire_profiles::Profile;

use crate::failure::{Failure, Result};
use crate::profile::ProfileOptions;

/// Where to look: as the command line says, else as the profile.
pub(crate) struct NetworkOptions {
    pub(crate) domain: u32,
    pub(crate) interface: String,
    /// Where its participants meet others, if not by multicast.
    pub(crate) rendezvous: Vec<String>,
    /// Other transports than the profile's.
    transports: Option<Transports>,
    pub(crate) profile: Profile,
    /// What makes another command follow the same profile.
    arguments: Vec<String>,
}

#[derive(Args)]
#[group(skip)]
struct Arguments {
    /// DDS domain, 0 to 232, or any with a rendezvous [default: the profile's, or 0]
    #[arg(short, long, value_name = "ID")]
    domain: Option<u32>,

    /// Interfaces to use: names, addresses or subnets, separated by commas, or `auto` for all that
    /// carry traffic [default: the profile's, or lo]
    #[arg(long, value_name = "NAMES")]
    interface: Option<String>,

    #[command(flatten)]
    profile: ProfileOptions,
}

impl NetworkOptions {
    /// As `domain` and `interface` say, else as the profile.
    pub(crate) fn new(
        domain: Option<u32>,
        interface: Option<String>,
        options: &ProfileOptions,
    ) -> Self {
        let profile = &options.profile;
        let mut rendezvous = profile.rendezvous();
        rendezvous.extend(options.rendezvous.clone());
        Self {
            domain: domain.or(profile.domain()).unwrap_or(0),
            interface: interface
                .or(profile.interface().map(str::to_owned))
                .unwrap_or_else(|| LOOPBACK.to_owned()),
            rendezvous,
            transports: options.transports,
            profile: profile.clone(),
            arguments: options.arguments.clone(),
        }
    }

    /// What makes another command look at the same network, as it is written behind its name.
    pub(crate) fn again(&self) -> String {
        let mut again = format!("--domain {}", self.domain);
        if self.interface != self.profile.interface().unwrap_or(LOOPBACK) {
            let _infallible = write!(again, " --interface {}", self.interface);
        }
        for argument in &self.arguments {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,@+%".contains(c);
            let _infallible = match argument.chars().all(is_plain) {
                true => write!(again, " {argument}"),
                false => write!(again, " '{}'", argument.replace('\'', "'\\''")),
            };
        }
        again
    }

    /// By what its participants' datagrams go. What the environment says wrongly is told when they join.
    pub(crate) fn transports(&self) -> Transports {
        self.said_transports().unwrap_or_default()
    }

    /// The same, if anything says it.
    pub(crate) fn said_transports(&self) -> Option<Transports> {
        let said = self.transports.or(self.profile.transports());
        said.or_else(|| Transports::from_env().ok().flatten())
    }

    /// A participant, under that name if the profile has none. Whatever the profile says, it is driven by
    /// threads of its own, and what is made of it takes part at once.
    pub(crate) fn join(&self, name: &str) -> Result<DomainParticipant> {
        self.join_as(name, |participant| participant.driving(Driving::Threaded))
    }

    /// The same, driven as `drive` says.
    pub(crate) fn join_as(
        &self,
        name: &str,
        drive: impl FnOnce(DomainParticipantBuilder) -> DomainParticipantBuilder,
    ) -> Result<DomainParticipant> {
        let participant = DomainParticipant::builder(self.domain).name(name);
        let participant = self.profile.adjust_participant(participant);
        let participant = participant.autoenable_created_entities(true);
        let named = self.rendezvous.iter().skip(self.profile.rendezvous().len());
        let participant = named.fold(participant, |participant, reference| {
            participant.rendezvous(reference)
        });
        let participant = participant.interface(&self.interface);
        let participant = match self.transports {
            Some(transports) => participant.transports(transports.iter()),
            None => participant,
        };
        let participant = drive(participant).build();
        participant.map_err(|error| match error {
            ParticipantError::Interface(error) => Failure::usage(error),
            ParticipantError::Rendezvous(error) => Failure::usage(error),
            error @ (ParticipantError::Transports { .. }
            | ParticipantError::TransportVariable(_)) => Failure::usage(error),
            error @ ParticipantError::Domain { .. } => self
                .wrong_domain(&error)
                .hint("start `tickwire rendezvous` and name it by --rendezvous"),
            error => Failure::new(error),
        })
    }

    /// Names the line of the profile if it is at fault.
    fn wrong_domain(&self, error: &ParticipantError) -> Failure {
        let is_profiles = self.profile.domain() == Some(self.domain);
        match self.profile.domain_place().filter(|_| is_profiles) {
            Some(place) => Failure::usage(format_args!("{place}: {error}")),
            None => Failure::usage(error),
        }
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
        Ok(Self::new(domain, interface, &profile))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The interface where none is named.
const LOOPBACK: &str = "lo";
