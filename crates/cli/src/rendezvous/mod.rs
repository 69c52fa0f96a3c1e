//! `tickwire rendezvous`: the meeting point of participants that have no multicast.

mod info_repo;

use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tickwire::rendezvous::{
    DEFAULT_PORT, Reference, Rendezvous, RendezvousEvent, RendezvousOptions,
};

pub(crate) use info_repo::translate;

use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::output::{counted, note};

/// Let participants find each other by one address, without multicast
#[derive(Args)]
#[command(
    long_about = "\
Tells the participants of each domain about each other. They find it by its address, need no \
multicast, and may be in any 32-bit domain. It is no broker: endpoints and samples go between the \
participants alone, which stay together when it ends. Any DDS takes part that is given its address \
as a peer.

Participants are given it by --rendezvous of the commands that join a domain with others, $TICKWIRE_RENDEZVOUS (commands, and programs \
that use `Profiles::from_env`), a QoS profile, or \
`rendezvous` of a participant's builder: as HOST:PORT, or as the file that -o writes, which stays \
when the rendezvous ends. `tickwire node ls --rendezvous` shows who is there.

Several rendezvous that federate act as one. Each passes on what its own participants announce, so \
each must federate with each.

It also takes the command line of OpenDDS's DCPSInfoRepo.",
    after_help = "\
Examples:
  tickwire rendezvous
  tickwire rendezvous --listen 0.0.0.0:7399 -o rendezvous.ref
  tickwire rendezvous --listen 127.0.0.1:7400 --federate-with 127.0.0.1:7399
  tickwire rendezvous -ORBSvcConf lib_tcp.conf -o repo.ior
  tickwire topic ls --rendezvous file://repo.ior --domain 8675309"
)]
pub(crate) struct Arguments {
    /// Where to receive; port 0 takes a free one, address 0.0.0.0 all interfaces
    #[arg(short, long, value_name = "HOST:PORT", value_parser = parse_address, default_value = "127.0.0.1")]
    listen: SocketAddr,

    /// File to write its address to, for --rendezvous
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    file: Option<PathBuf>,

    /// Where participants reach it, if that is another address, as behind a port mapping
    #[arg(long, value_name = "HOST:PORT", value_parser = parse_address)]
    advertise: Option<SocketAddr>,

    /// A rendezvous to federate with, HOST:PORT or its file; may be given several times
    #[arg(long, value_name = "REFERENCE")]
    federate_with: Vec<String>,

    /// Let others federate with this one that it does not name
    #[arg(long)]
    accept_federates: bool,

    /// Participants beyond so many are refused
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    max_participants: u32,

    /// Do not say who comes and goes
    #[arg(short, long)]
    quiet: bool,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let interrupt = Interrupt::catch()?;
        let mut federate_with = Vec::new();
        for reference in &self.federate_with {
            let reference = Reference::resolve(reference).map_err(Failure::usage)?;
            federate_with.extend_from_slice(reference.addresses());
        }
        let options = RendezvousOptions {
            advertise: self.advertise,
            federate_with,
            accepts_federates: self.accept_federates,
            max_participants: self.max_participants as usize,
            ..RendezvousOptions::new(self.listen)
        };
        let mut rendezvous = Rendezvous::bind(&options).map_err(|error| {
            Failure::new(error).hint("`--listen` names another address, with port 0 a free port")
        })?;
        if let Some(file) = &self.file {
            let written = rendezvous.reference().write(file);
            written.map_err(|error| {
                Failure::new(format_args!("cannot write {}: {error}", file.display()))
            })?;
        }
        for address in rendezvous.addresses() {
            note(format_args!("rendezvous at {address}"));
        }
        while !interrupt.is_raised() {
            rendezvous.turn(TURN).map_err(Failure::new)?;
            while let Some(event) = rendezvous.poll_event() {
                if !self.quiet {
                    note(Line(&event));
                }
            }
        }
        let counters = rendezvous.counters();
        note(format_args!(
            "{} registered; {} came, {} left, {} fell silent; {} announcements passed on, {} \
             refused, {} malformed datagrams",
            counted(
                rendezvous.participant_count() as u64,
                "participant",
                "participants"
            ),
            counters.joined,
            counters.left,
            counters.leases_expired,
            counters.introductions,
            counters.refused,
            counters.malformed,
        ));
        Ok(())
    }
}

/// What happened, for people. Names come from the network: they are shown with escapes.
struct Line<'a>(&'a RendezvousEvent);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            RendezvousEvent::Joined {
                prefix,
                domain,
                name,
                at,
                is_federated,
            } => {
                let by = if *is_federated { "told by" } else { "at" };
                write!(f, "domain {domain}: {prefix:?} {name:?} {by} {at}")
            }
            RendezvousEvent::Left {
                prefix,
                lease_expired: false,
            } => write!(f, "{prefix:?} has left"),
            RendezvousEvent::Left { prefix, .. } => write!(f, "{prefix:?} is silent"),
            RendezvousEvent::FederateFound(at) => write!(f, "federated with {at}"),
            RendezvousEvent::FederateLost(at) => write!(f, "{at} is silent"),
            other => write!(f, "{other:?}"),
        }
    }
}

/// `HOST:PORT`, or `HOST` for the usual port.
fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let resolved = match text.parse::<IpAddr>() {
        Ok(ip) => Ok(vec![SocketAddr::from((ip, DEFAULT_PORT))]),
        Err(_) if !text.contains(':') => (text, DEFAULT_PORT)
            .to_socket_addrs()
            .map(Iterator::collect),
        Err(_) => text.to_socket_addrs().map(Iterator::collect),
    };
    let addresses = resolved.map_err(|error| error.to_string())?;
    let found = addresses.into_iter().find(SocketAddr::is_ipv4);
    found.ok_or_else(|| "no IPv4 address, by which participants are reached".to_owned())
}

/// How soon a signal is obeyed.
const TURN: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_port_is_that_of_names_and_addresses_alike() {
        for text in ["localhost", "127.0.0.1"] {
            let expected = SocketAddr::from(([127, 0, 0, 1], DEFAULT_PORT));
            assert_eq!(parse_address(text), Ok(expected), "{text}");
        }
        let named = parse_address("localhost:7411").map(|address| address.port());
        assert_eq!(named, Ok(7411));
    }
}
