//! To whom a participant is announced besides the multicast group.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, ToSocketAddrs};

use tickwire_base::{Locator, StreamAddress};

use super::transports::{Transport, Transports};
use crate::error::ParticipantError;
use crate::ports::Ports;

/// A machine, or a discovery port of one.
#[derive(Clone, Debug)]
pub(super) enum Peer {
    Machine(Ipv4Addr),
    Port(SocketAddrV4),
    /// `HOST` or `HOST:PORT`, behind `tcp/` or `udp/` if only that is meant.
    Named(String),
}

/// Where announcements for a peer go.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Resolved {
    pub(super) locators: Vec<Locator>,
    /// What is connected to by TCP, somebody having said that somebody is there.
    pub(super) connected: Option<SocketAddrV4>,
}

impl Peer {
    /// Where announcements of the domain go. A name is looked up, which may take seconds.
    pub(super) fn resolve(
        &self,
        domain: u32,
        transports: Transports,
    ) -> Result<Resolved, ParticipantError> {
        let by_udp = transports.contains(Transport::Udp);
        let ((address, port), by_tcp) = match self {
            Self::Machine(address) => ((*address, None), !by_udp),
            Self::Port(address) => ((*address.ip(), Some(address.port())), !by_udp),
            Self::Named(name) => {
                let (scheme, host) = match name.split_once('/') {
                    Some(("tcp", host)) => (Some(Transport::Tcp), host),
                    Some(("udp", host)) => (Some(Transport::Udp), host),
                    _ => (None, name.as_str()),
                };
                if let Some(reason) = missing(scheme, transports) {
                    let chosen = transports;
                    return Err(ParticipantError::Transports { chosen, reason });
                }
                let by_tcp = scheme.map_or(!by_udp, |scheme| scheme == Transport::Tcp);
                (look_up(host)?, by_tcp)
            }
        };
        let at = port.map(|port| SocketAddrV4::new(address, port));
        let locators = match (at, Ports::of(domain)) {
            (Some(at), _) if by_tcp => vec![StreamAddress::anybody_at(at).to_locator()],
            (Some(at), _) => vec![Locator::udp(at.into())],
            (None, Some(ports)) if by_tcp => ports.well_known_streams(address).collect(),
            (None, Some(ports)) => ports.well_known(address).collect(),
            (None, None) => Vec::new(),
        };
        let connected = at.filter(|_| by_tcp);
        Ok(Resolved {
            locators,
            connected,
        })
    }
}

/// What is wrong with a peer by that transport.
fn missing(scheme: Option<Transport>, transports: Transports) -> Option<&'static str> {
    match scheme? {
        scheme if transports.contains(scheme) => None,
        Transport::Tcp => Some(
            "no peer is reached by TCP: add `tcp` to the transports, or take `tcp/` off the peer",
        ),
        _ => Some(
            "no peer is reached by UDP: add `udp` to the transports, or take `udp/` off the peer",
        ),
    }
}

/// The first IPv4 address of `HOST` or `HOST:PORT`, and the port if there is one.
fn look_up(name: &str) -> Result<(Ipv4Addr, Option<u16>), ParticipantError> {
    let failed = |source: Option<io::Error>| ParticipantError::Peer {
        name: name.to_owned(),
        source,
    };
    let with_port = name.rsplit_once(':');
    let with_port = with_port.and_then(|(host, port)| Some((host, port.parse().ok()?)));
    let (host, port) = match with_port {
        Some((host, port)) => (host, Some(port)),
        None => (name, None),
    };
    let found = (host, 0).to_socket_addrs();
    let mut found = found.map_err(|error| failed(Some(error)))?;
    let address = found.find_map(|address| match address {
        SocketAddr::V4(address) => Some(*address.ip()),
        SocketAddr::V6(_) => None,
    });
    Ok((address.ok_or_else(|| failed(None))?, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(peer: Peer, transports: &str) -> Resolved {
        let transports = transports.parse().expect("they exist");
        peer.resolve(0, transports).expect("it is known")
    }

    fn named(name: &str) -> Peer {
        Peer::Named(name.to_owned())
    }

    #[test]
    fn names_are_looked_up() {
        let here = Ipv4Addr::LOCALHOST;
        let machine = resolve(Peer::Machine(here), "udp");
        assert_eq!(machine.locators[0], Locator::udp_v4(here, 7410));
        assert_eq!(resolve(named("localhost"), "udp"), machine);
        assert_eq!(resolve(named("udp/localhost"), "udp,tcp"), machine);
        let port = [Locator::udp_v4(here, 7412)];
        assert_eq!(resolve(named("localhost:7412"), "udp").locators, port);
        let at = SocketAddrV4::new(here, 7412);
        assert_eq!(resolve(Peer::Port(at), "udp,tcp").locators, port);
    }

    #[test]
    fn a_peer_by_tcp_says_so_unless_there_is_nothing_else() {
        let at = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 7412);
        let port = Resolved {
            locators: vec![StreamAddress::anybody_at(at).to_locator()],
            connected: Some(at),
        };
        assert_eq!(resolve(named("tcp/localhost:7412"), "udp,tcp"), port);
        assert_eq!(resolve(named("localhost:7412"), "tcp"), port);
        let machine = resolve(named("tcp/localhost"), "tcp");
        assert_eq!((machine.locators.len(), machine.connected), (10, None));
        let by_udp = named("tcp/localhost").resolve(0, Transports::default());
        let error = by_udp.expect_err("it cannot be reached").to_string();
        assert!(
            error.starts_with("with udp,multicast,shm alone no peer"),
            "{error}"
        );
    }

    #[test]
    fn a_name_without_an_address_makes_no_participant() {
        // Nobody is asked for either of them.
        for name in ["no..host", "[::1]:7410", "::1"] {
            let builder = crate::DomainParticipant::builder(0).peer_named(name);
            let error = builder.build().expect_err("no participant").to_string();
            let expected = format!("the peer `{name}` has no IPv4 address");
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}
