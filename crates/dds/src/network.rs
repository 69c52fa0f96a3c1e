//! A participant's sockets and addresses. Knows nothing of what is sent.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use tickwire_base::Locator;
use tickwire_rtps::Outbox;
use tickwire_transport::{
    Interface, MAX_DATAGRAM_BYTES, SendError, SocketError, UdpOptions, UdpSocket, interfaces,
};

use crate::error::ParticipantError;

/// The ports of a domain (RTPS 2.5 §9.6.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ports {
    base: u16,
}

impl Ports {
    /// `None` if the domain's ports would lie beyond 65,535.
    pub(crate) fn of(domain: u32) -> Option<Self> {
        let domain = u16::try_from(domain).ok().filter(|&d| d <= MAX_DOMAIN)?;
        Some(Self {
            base: PORT_BASE + DOMAIN_GAIN * domain,
        })
    }

    fn discovery_group(self) -> u16 {
        self.base
    }

    fn user_group(self) -> u16 {
        self.base + 1
    }

    /// Where the participant of that index takes discovery and acknowledgements.
    fn metatraffic(self, index: u16) -> Option<u16> {
        self.base
            .checked_add(10)?
            .checked_add(index.checked_mul(2)?)
    }

    /// Where the participant of that index takes user data.
    fn user(self, index: u16) -> Option<u16> {
        self.metatraffic(index)?.checked_add(1)
    }

    /// Where the participants that came first on a machine are greeted.
    pub(crate) fn well_known(self, address: Ipv4Addr) -> impl Iterator<Item = Locator> {
        let ports = (0..GREETED).filter_map(move |index| self.metatraffic(index));
        ports.map(move |port| Locator::udp_v4(address, port))
    }
}

/// The sockets of a participant, all on one interface.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) interface: Interface,
    address: Ipv4Addr,
    /// Discovery and acknowledgements.
    pub(crate) metatraffic: UdpSocket,
    /// Discovery by multicast.
    pub(crate) metatraffic_group: Option<UdpSocket>,
    /// User data.
    pub(crate) user: UdpSocket,
    /// User data by multicast.
    pub(crate) user_group: Option<UdpSocket>,
    /// Those of the domain, if they are used.
    ports: Option<Ports>,
    /// Every address of this machine.
    local: Vec<IpAddr>,
}

/// What to open.
#[derive(Clone, Debug)]
pub(crate) struct NetworkOptions {
    pub(crate) domain: u32,
    /// The domain's ports; without them any that are free, and no groups.
    pub(crate) ports: Option<Ports>,
    pub(crate) interface: Interface,
    pub(crate) multicast: bool,
    pub(crate) multicast_ttl: u8,
    pub(crate) receive_buffer_bytes: usize,
}

impl Network {
    /// Opens the sockets, at the domain's ports at the first participant index whose two are free.
    pub(crate) fn open(options: &NetworkOptions) -> Result<Self, ParticipantError> {
        let (domain, ports) = (options.domain, options.ports);
        let interface = &options.interface;
        let no_address = || SocketError::NoAddress {
            interface: interface.name.clone(),
        };
        let address = interface.ipv4.first().copied();
        let address = address.ok_or_else(|| ParticipantError::Socket(no_address()))?;
        let udp = UdpOptions {
            receive_buffer_bytes: options.receive_buffer_bytes,
            multicast_interface: Some(interface.clone()),
            multicast_ttl: options.multicast_ttl,
            ..UdpOptions::default()
        };
        let join = |port| {
            let group = SocketAddr::from((GROUP, port));
            let socket = UdpSocket::group(group, std::slice::from_ref(interface), &udp);
            socket.map_err(ParticipantError::Socket)
        };
        let (metatraffic, user) = match ports {
            Some(ports) => open_unicast(address, ports, &udp, domain)?,
            None => {
                let any = || UdpSocket::unicast((address, 0).into(), &udp);
                let any = || any().map_err(ParticipantError::Socket);
                (any()?, any()?)
            }
        };
        let groups = ports.filter(|_| options.multicast);
        let all = interfaces().map_err(ParticipantError::Interface)?;
        let local = all.into_iter().flat_map(|interface| {
            let v4 = interface.ipv4.into_iter().map(IpAddr::V4);
            v4.chain(interface.ipv6.into_iter().map(IpAddr::V6))
        });
        Ok(Self {
            metatraffic_group: groups
                .map(|ports| join(ports.discovery_group()))
                .transpose()?,
            user_group: groups.map(|ports| join(ports.user_group())).transpose()?,
            metatraffic,
            user,
            interface: interface.clone(),
            address,
            ports,
            local: local.collect(),
        })
    }

    /// Where discovery and acknowledgements reach this participant.
    pub(crate) fn metatraffic_unicast(&self) -> Locator {
        Locator::udp(self.metatraffic.local_address())
    }

    /// Where user data reaches this participant.
    pub(crate) fn user_unicast(&self) -> Locator {
        Locator::udp(self.user.local_address())
    }

    /// The group that announcements go to.
    pub(crate) fn discovery_group(&self) -> Option<Locator> {
        let socket = self.metatraffic_group.as_ref()?;
        Some(Locator::udp(socket.local_address()))
    }

    /// The group that user data may come by.
    pub(crate) fn user_group(&self) -> Option<Locator> {
        let socket = self.user_group.as_ref()?;
        Some(Locator::udp(socket.local_address()))
    }

    /// The longest datagram to send, in bytes: what passes the interface in one piece, hence the
    /// most that loopback takes, where nothing is gained by smaller ones.
    pub(crate) fn max_datagram_len(&self) -> usize {
        match self.interface.is_loopback {
            true => MAX_LOOPBACK_DATAGRAM.min(MAX_DATAGRAM_BYTES),
            false => self.interface.max_datagram_len(),
        }
    }

    /// Where to announce this participant: the group, the participants that came first on this
    /// machine if it is on loopback, and `peers`.
    pub(crate) fn announced_to(&self, peers: &[Locator]) -> Vec<Locator> {
        let mut to: Vec<_> = self.discovery_group().into_iter().collect();
        if let Some(ports) = self.ports.filter(|_| self.interface.is_loopback) {
            to.extend(ports.well_known(self.address));
        }
        to.extend_from_slice(peers);
        to
    }

    /// Whether a datagram to `locator` can arrive: not on another machine's loopback, and from
    /// ours only on this machine.
    pub(crate) fn reaches(&self, locator: &Locator) -> bool {
        let Some(SocketAddr::V4(to)) = locator.to_udp() else {
            return false;
        };
        if to.ip().is_multicast() {
            return self.user_group.is_some();
        }
        match self.interface.is_loopback {
            true => to.ip().is_loopback() || self.local.contains(&IpAddr::V4(*to.ip())),
            false => !to.ip().is_loopback(),
        }
    }

    /// Sends all datagrams from `socket`. Every one is tried; the first failure is the result.
    pub(crate) fn send(socket: &UdpSocket, outbox: &Outbox) -> Result<(), SendError> {
        if outbox.has_marks() {
            return socket.send_each_marked(outbox.marked().flat_map(|(dscp, bytes, to)| {
                let addresses = to.iter().filter_map(Locator::to_udp);
                addresses.map(move |address| (dscp, bytes, address))
            }));
        }
        socket.send_each(outbox.datagrams().flat_map(|(bytes, to)| {
            let addresses = to.iter().filter_map(Locator::to_udp);
            addresses.map(move |address| (bytes, address))
        }))
    }
}

/// Both unicast sockets at the first index where both ports are free.
fn open_unicast(
    address: Ipv4Addr,
    ports: Ports,
    options: &UdpOptions,
    domain: u32,
) -> Result<(UdpSocket, UdpSocket), ParticipantError> {
    let bind = |port: u16| match UdpSocket::unicast((address, port).into(), options) {
        Ok(socket) => Ok(Some(socket)),
        Err(error) if error.is_address_in_use() => Ok(None),
        Err(error) => Err(ParticipantError::Socket(error)),
    };
    for index in 0..MAX_PARTICIPANTS {
        let (Some(metatraffic), Some(user)) = (ports.metatraffic(index), ports.user(index)) else {
            break;
        };
        if let Some(metatraffic) = bind(metatraffic)?
            && let Some(user) = bind(user)?
        {
            return Ok((metatraffic, user));
        }
    }
    Err(ParticipantError::NoFreePorts { domain })
}

/// Where SPDP and user data are multicast by default (RTPS 2.5 §9.6.2.4.1).
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);
const PORT_BASE: u16 = 7400;
const DOMAIN_GAIN: u16 = 250;
/// The last domain of which the first participant's ports exist.
const MAX_DOMAIN: u16 = 232;
/// As many indices fit between one domain's ports and the next one's.
const MAX_PARTICIPANTS: u16 = 120;
/// As many participants are greeted at their well-known ports.
const GREETED: u16 = 10;
/// Leaves room for what some hosts put around a datagram.
const MAX_LOOPBACK_DATAGRAM: usize = 65_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_the_standards() {
        let ports = Ports::of(0).expect("domain 0 exists");
        assert_eq!((ports.discovery_group(), ports.user_group()), (7400, 7401));
        assert_eq!(
            (ports.metatraffic(0), ports.user(0)),
            (Some(7410), Some(7411))
        );
        assert_eq!(
            (ports.metatraffic(2), ports.user(2)),
            (Some(7414), Some(7415))
        );
        let last = Ports::of(232).expect("the last domain");
        assert_eq!(last.user(0), Some(65_411));
        assert_eq!(last.user(MAX_PARTICIPANTS), None);
        assert_eq!(Ports::of(233), None);
        assert_eq!(Ports::of(u32::MAX), None);
    }

    #[test]
    fn no_port_of_a_domain_is_in_the_next_one() {
        let (this, next) = (Ports::of(3), Ports::of(4));
        let (this, next) = (this.expect("exists"), next.expect("exists"));
        assert!(this.user(MAX_PARTICIPANTS - 1) < Some(next.discovery_group()));
    }

    #[test]
    fn two_participants_of_a_machine_get_different_ports() {
        let options = NetworkOptions {
            domain: 211,
            ports: Ports::of(211),
            interface: Interface::loopback().expect("every Linux has one"),
            multicast: true,
            multicast_ttl: 0,
            receive_buffer_bytes: 1 << 20,
        };
        let one = Network::open(&options).expect("a free index");
        let two = Network::open(&options).expect("another free index");
        assert_ne!(one.user_unicast(), two.user_unicast());
        assert_eq!(one.user_group(), two.user_group());
        assert!(one.reaches(&two.user_unicast()));
        assert!(!one.reaches(&Locator::udp_v4(Ipv4Addr::new(192, 0, 2, 77), 7411)));
    }
}
