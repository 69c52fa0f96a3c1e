//! To whom a participant is announced besides the multicast group.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, ToSocketAddrs};

use tickwire_base::Locator;

use crate::error::ParticipantError;
use crate::ports::Ports;

/// A machine, or a discovery port of one.
#[derive(Clone, Debug)]
pub(super) enum Peer {
    Machine(Ipv4Addr),
    Port(SocketAddrV4),
    /// `HOST` or `HOST:PORT`.
    Named(String),
}

impl Peer {
    /// Where announcements of the domain go. A name is looked up, which may take seconds.
    pub(super) fn resolve(&self, domain: u32) -> Result<Vec<Locator>, ParticipantError> {
        let (address, port) = match self {
            Self::Machine(address) => (*address, None),
            Self::Port(address) => (*address.ip(), Some(address.port())),
            Self::Named(name) => look_up(name)?,
        };
        Ok(match (port, Ports::of(domain)) {
            (Some(port), _) => vec![Locator::udp_v4(address, port)],
            (None, Some(ports)) => ports.well_known(address).collect(),
            (None, None) => Vec::new(),
        })
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

    #[test]
    fn names_are_looked_up() {
        let resolve = |peer: Peer| peer.resolve(0).expect("it is known");
        let named = |name: &str| Peer::Named(name.to_owned());
        let here = Ipv4Addr::LOCALHOST;
        let machine = resolve(Peer::Machine(here));
        assert_eq!(machine[0], Locator::udp_v4(here, 7410));
        assert_eq!(resolve(named("localhost")), machine);
        let port = [Locator::udp_v4(here, 7412)];
        assert_eq!(resolve(named("localhost:7412")), port);
        assert_eq!(resolve(Peer::Port(SocketAddrV4::new(here, 7412))), port);
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
