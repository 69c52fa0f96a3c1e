//! Where a participant is reached by Tickwire's TCP. Knows no socket.

use core::fmt;
use core::net::{Ipv4Addr, SocketAddrV4};

use crate::{Locator, LocatorKind};

/// Who is meant, where it listens, and which of its two connections carries what is sent.
///
/// In a [`Locator`] of the kind [`LocatorKind::TICKWIRE_TCP`]:
///
/// ```text
///  port     bits 0 to 15   TCP port, 0 where it cannot be connected to
///           bit 16         set for samples, clear for discovery and acknowledgements
///  address  bytes 0 to 11  GUID prefix of the participant, zero where it is not known yet
///           bytes 12 to 15 IPv4 address
/// ```
///
/// The name comes first: a participant that is connected is reached whatever its address, as one
/// behind a firewall or address translation can be connected to at none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamAddress {
    /// GUID prefix of the participant; zero for whoever listens there.
    pub owner: [u8; 12],
    /// Where it listens; at port 0 nowhere.
    pub address: SocketAddrV4,
    /// What is sent.
    pub channel: Channel,
}

/// Which of the two connections between two participants, as each has two unicast ports with UDP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// Discovery and acknowledgements.
    #[default]
    Control,
    /// Samples.
    Data,
}

impl Channel {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Control, Self::Data];

    /// 0 or 1.
    pub const fn index(self) -> usize {
        match self {
            Self::Control => 0,
            Self::Data => 1,
        }
    }
}

impl StreamAddress {
    /// Whoever listens there.
    pub const fn anybody_at(address: SocketAddrV4) -> Self {
        Self {
            owner: [0; 12],
            address,
            channel: Channel::Control,
        }
    }

    /// Whether it says whom it means.
    pub fn is_named(&self) -> bool {
        self.owner != [0; 12]
    }

    /// The same participant, where there is a connection to it.
    pub const fn not_to_be_connected_to(self) -> Self {
        Self {
            address: SocketAddrV4::new(*self.address.ip(), 0),
            ..self
        }
    }

    /// As a locator.
    pub const fn to_locator(self) -> Locator {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = self.owner;
        let [w, x, y, z] = self.address.ip().octets();
        let channel = match self.channel {
            Channel::Control => 0,
            Channel::Data => DATA,
        };
        Locator {
            kind: LocatorKind::TICKWIRE_TCP,
            port: self.address.port() as u32 | channel,
            address: [a, b, c, d, e, f, g, h, i, j, k, l, w, x, y, z],
        }
    }

    /// What a locator names; `None` for other transports, and for bits that mean nothing.
    pub fn of(locator: &Locator) -> Option<Self> {
        let channel = match locator.port & !u32::from(u16::MAX) {
            0 => Channel::Control,
            DATA => Channel::Data,
            _ => return None,
        };
        if locator.kind != LocatorKind::TICKWIRE_TCP {
            return None;
        }
        let port = u16::try_from(locator.port & u32::from(u16::MAX)).ok()?;
        let [a, b, c, d, e, f, g, h, i, j, k, l, w, x, y, z] = locator.address;
        Some(Self {
            owner: [a, b, c, d, e, f, g, h, i, j, k, l],
            address: SocketAddrV4::new(Ipv4Addr::new(w, x, y, z), port),
            channel,
        })
    }
}

impl fmt::Display for StreamAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tcp/{}", self.address)
    }
}

/// The bit of a port that stands for [`Channel::Data`].
const DATA: u32 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn an_address_survives_the_round_trip() {
        for channel in Channel::ALL {
            let address = StreamAddress {
                owner: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
                address: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 7), 7410),
                channel,
            };
            let locator = address.to_locator();
            assert_eq!(StreamAddress::of(&locator), Some(address));
            assert_eq!(locator.to_udp(), None);
            assert_eq!(locator.to_string(), "tcp/10.0.0.7:7410");
        }
    }

    #[test]
    fn what_others_call_tcp_is_not_ours() {
        let ours = StreamAddress::anybody_at(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 7410));
        let locator = ours.to_locator();
        let standard = Locator {
            kind: LocatorKind::TCP_V4,
            ..locator
        };
        assert_eq!(StreamAddress::of(&standard), None);
        let unknown_bit = Locator {
            port: locator.port | 1 << 17,
            ..locator
        };
        assert_eq!(StreamAddress::of(&unknown_bit), None);
    }
}
