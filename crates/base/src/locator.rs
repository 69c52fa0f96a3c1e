//! Transport addresses as RTPS writes them.

use crate::StreamAddress;
use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// A transport address (RTPS 2.5 §9.3.2.3): kind, port, and 16 bytes of which IPv4 uses the last four.
///
/// Kinds that we do not know are kept as they are, so that one foreign locator never costs us the
/// endpoint that announced it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locator {
    /// Which transport the address belongs to.
    pub kind: LocatorKind,
    /// Port number; transports without ports put 0.
    pub port: u32,
    /// Address bytes; their meaning depends on `kind`.
    pub address: [u8; 16],
}

/// The transport of a [`Locator`]. Values from 0x0100_0000 and all negative ones are vendors' own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocatorKind(pub i32);

impl LocatorKind {
    /// No address.
    pub const INVALID: Self = Self(-1);
    /// UDP over IPv4.
    pub const UDP_V4: Self = Self(1);
    /// UDP over IPv6.
    pub const UDP_V6: Self = Self(2);
    /// TCP over IPv4.
    pub const TCP_V4: Self = Self(4);
    /// TCP over IPv6.
    pub const TCP_V6: Self = Self(8);
    /// Tickwire's own TCP over IPv4, which frames otherwise than others' do; see
    /// [`StreamAddress`].
    pub const TICKWIRE_TCP: Self = Self(0x5457_5443);
    /// The log of a writer in shared memory. Means something within the writer's participant alone, and is
    /// never announced; see [`Locator::log`].
    pub const TICKWIRE_LOG: Self = Self(0x5457_534d);
}

impl Locator {
    /// UDP at an IPv4 address.
    pub const fn udp_v4(address: Ipv4Addr, port: u16) -> Self {
        let [a, b, c, d] = address.octets();
        Self {
            kind: LocatorKind::UDP_V4,
            port: port as u32,
            address: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d],
        }
    }

    /// UDP at a socket address.
    pub const fn udp(address: SocketAddr) -> Self {
        match address {
            SocketAddr::V4(v4) => Self::udp_v4(*v4.ip(), v4.port()),
            SocketAddr::V6(v6) => Self {
                kind: LocatorKind::UDP_V6,
                port: v6.port() as u32,
                address: v6.ip().octets(),
            },
        }
    }

    /// The log of the writer with that entity id, for those who follow it.
    pub const fn log(entity: [u8; 4]) -> Self {
        Self {
            kind: LocatorKind::TICKWIRE_LOG,
            port: u32::from_be_bytes(entity),
            address: [0; 16],
        }
    }

    /// The entity id of the writer whose log this is; `None` for other kinds.
    pub fn to_log(&self) -> Option<[u8; 4]> {
        (self.kind == LocatorKind::TICKWIRE_LOG).then_some(self.port.to_be_bytes())
    }

    /// The UDP socket address that this locator names; `None` for other transports and for ports
    /// that UDP does not have.
    pub fn to_udp(&self) -> Option<SocketAddr> {
        let port = u16::try_from(self.port).ok().filter(|&port| port != 0)?;
        match self.kind {
            LocatorKind::UDP_V4 => {
                let [.., a, b, c, d] = self.address;
                Some(SocketAddrV4::new(Ipv4Addr::new(a, b, c, d), port).into())
            }
            LocatorKind::UDP_V6 => {
                Some(SocketAddrV6::new(Ipv6Addr::from(self.address), port, 0, 0).into())
            }
            _ => None,
        }
    }

    /// Whether the address is a UDP multicast group.
    pub fn is_multicast(&self) -> bool {
        self.to_udp()
            .is_some_and(|address| address.ip().is_multicast())
    }
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.to_udp(), StreamAddress::of(self)) {
            (Some(address), _) => write!(f, "udp/{address}"),
            (None, Some(address)) => address.fmt(f),
            (None, None) if self.kind == LocatorKind::TICKWIRE_LOG => {
                write!(f, "shm/{:08x}", self.port)
            }
            (None, None) => write!(f, "kind {}/port {}", self.kind.0, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_udp_address_survives_the_round_trip() {
        for text in ["239.255.0.1:7400", "[::1]:65535"] {
            let address: SocketAddr = text.parse().expect("a literal address");
            assert_eq!(Locator::udp(address).to_udp(), Some(address));
        }
    }

    #[test]
    fn a_log_is_told_from_addresses() {
        let log = Locator::log([0, 1, 2, 0x03]);
        assert_eq!(log.to_log(), Some([0, 1, 2, 3]));
        assert_eq!(log.to_udp(), None);
        let udp = Locator::udp_v4(Ipv4Addr::LOCALHOST, 7400);
        assert_eq!(udp.to_log(), None);
    }

    #[test]
    fn ports_outside_udp_are_no_udp_address() {
        let mut locator = Locator::udp_v4(Ipv4Addr::LOCALHOST, 7400);
        locator.port = 65536;
        assert_eq!(locator.to_udp(), None);
        locator.port = 0;
        assert_eq!(locator.to_udp(), None);
    }
}
