//! The QoS profile that a command follows, and where its participants meet others.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use tickwire::{Transports, rendezvous};
use tickwire_profiles::{FILE_VARIABLE, LoadError, PROFILE_VARIABLE, Profile, Profiles};

use crate::output::note;
use crate::stage::is_stage;

/// A profile of a QoS file, read together with the command line: what is wrong with it is a wrong
/// command line.
pub(crate) struct ProfileOptions {
    pub(crate) profile: Profile,
    /// A rendezvous besides the profile's.
    pub(crate) rendezvous: Option<String>,
    /// Other transports than the profile's.
    pub(crate) transports: Option<Transports>,
    /// What makes another command do the same.
    pub(crate) arguments: Vec<String>,
}

#[derive(Args)]
#[group(skip)]
struct Arguments {
    /// File of QoS profiles: TOML, DDS-XML or Fast DDS XML [default: $TICKWIRE_QOS_FILE]
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    qos_file: Option<PathBuf>,

    /// Name of the profile [default: $TICKWIRE_QOS_PROFILE, or the file's default or only one]
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    qos_profile: Option<String>,

    /// Where participants find each other without multicast, in any 32-bit domain: HOST:PORT, or a
    /// file of `tickwire rendezvous -o` [default: $TICKWIRE_RENDEZVOUS]
    #[arg(long, value_name = "REFERENCE")]
    rendezvous: Option<String>,

    /// By what datagrams go, separated by commas: udp, multicast (has udp with it), tcp (to other machines by
    /// the profile's `peers`, as tcp/HOST:PORT), shm (has udp with it, unless tcp is named). Participants that share
    /// none do not hear each other
    /// [default: the profile's, or $TICKWIRE_TRANSPORT, or udp,multicast,shm; `perf latency` and `perf
    /// throughput`, beside bare sockets, without shm]
    #[arg(long = "transport", value_name = "NAMES", value_parser = parse_transports)]
    transports: Option<Transports>,
}

fn parse_transports(text: &str) -> Result<Transports, String> {
    match text.parse::<Transports>() {
        Ok(none) if none.is_empty() => Err("name one at least".to_owned()),
        parsed => parsed.map_err(|error| error.to_string()),
    }
}

impl Arguments {
    fn repeated(&self) -> Vec<String> {
        let file = self
            .qos_file
            .as_ref()
            .map(|file| file.display().to_string());
        let file = file.map(|file| ["--qos-file".to_owned(), file]);
        let profile = self.qos_profile.clone();
        let profile = profile.map(|profile| ["--qos-profile".to_owned(), profile]);
        let rendezvous = self.rendezvous.clone();
        let rendezvous = rendezvous.map(|reference| ["--rendezvous".to_owned(), reference]);
        let transports = self.transports.map(|transports| transports.to_string());
        let transports = transports.map(|names| ["--transport".to_owned(), names]);
        let all = file.into_iter().chain(profile).chain(rendezvous);
        let all = all.chain(transports);
        all.flatten().collect()
    }

    fn load(self) -> Result<Profile, LoadError> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let is_asked_for = self.qos_file.is_some();
        let file = self
            .qos_file
            .or_else(|| variable(FILE_VARIABLE).map(PathBuf::from));
        let profile = self.qos_profile.or_else(|| {
            let name = variable(PROFILE_VARIABLE)?;
            Some(name.to_string_lossy().into_owned())
        });
        let profiles = match (file, &profile) {
            (Some(file), _) => Profiles::load(file)?,
            (None, None) => Profiles::default(),
            (None, Some(profile)) => {
                let profile = profile.as_str().into();
                return Err(LoadError::NoFile { profile });
            }
        };
        for ignored in profiles.ignored() {
            let (file, line, message) = (profiles.file(), ignored.line, &ignored.message);
            note(format_args!("{file}:{line}: {message}"));
        }
        if let Some(profile) = profile {
            return Ok(profiles.profile(&profile)?);
        }
        match profiles.check_default() {
            // The file of the environment may be for programs that choose by themselves. Of several stages
            // none repeats it.
            Err(undecided) if !is_asked_for => {
                if !is_stage() {
                    note(format_args!(
                        "{undecided}; none is followed\nhint: {CHOICE}"
                    ));
                }
            }
            checked => checked?,
        }
        Ok(profiles.default_profile())
    }
}

impl Args for ProfileOptions {
    fn augment_args(command: Command) -> Command {
        Arguments::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Arguments::augment_args_for_update(command)
    }
}

impl FromArgMatches for ProfileOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let options = Arguments::from_arg_matches(matches)?;
        let arguments = options.repeated();
        let variable = || std::env::var(rendezvous::VARIABLE).ok();
        let rendezvous = options.rendezvous.clone().or_else(variable);
        let rendezvous = rendezvous.filter(|reference| !reference.is_empty());
        let transports = options.transports;
        let profile = options.load();
        let profile = profile.map_err(|error| {
            let hint = match error {
                LoadError::NoDefault { .. } => format!("hint: {CHOICE}\n"),
                LoadError::NoFile { .. } => "hint: `--qos-file` names it, too\n".to_owned(),
                _ => String::new(),
            };
            clap::Error::raw(ErrorKind::ValueValidation, format_args!("{error}\n{hint}"))
        })?;
        Ok(Self {
            profile,
            rendezvous,
            transports,
            arguments,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// What makes a command follow one of several profiles.
const CHOICE: &str = "`--qos-profile` names the one to follow";

const HEADING: &str = "QoS by configuration";
