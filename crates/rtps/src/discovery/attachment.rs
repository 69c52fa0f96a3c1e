//! Which of the addresses that a participant announces a datagram of ours arrives at. Knows what we
//! are attached to and where the other was heard from; sends nothing.
//!
//! An address means something on its own network alone: 127.0.0.1 is another machine, and another
//! container, for each who says it, and so is the 172.17.0.1 that every host with a container bridge
//! has. The standard has all locators used (RTPS 2.5 §8.5.4.2); here one is chosen, from what is known:
//!
//! ```text
//!  heard from one of our own addresses: it shares our host and its network stack, so that
//!  loopback and our own addresses are good; else they are somebody else's and left out
//!
//!  1  on one of our networks, and heard from there        one address
//!  2  on one of our networks                              one address
//!  3  heard from there, through a router                  one address
//!  4  neither                                             all of them, up to eight
//! ```
//!
//! These are addresses by UDP. Who announces one by TCP, too, is reached by that in the last case, and
//! where there is none by UDP.

use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use tickwire_base::{Locator, StreamAddress};

/// What our host is attached to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// All addresses of this host, that is, of its network stack: a container has its own. Default
    /// none known, hence nothing is taken for our own.
    pub addresses: Vec<Ipv4Addr>,
    /// The networks that our interfaces are on: address and length of the prefix in bits. Default
    /// none known.
    pub networks: Vec<(Ipv4Addr, u8)>,
    /// Whether what we send stays on this host. Default no.
    pub is_loopback: bool,
    /// Whether we send to groups. Default yes.
    pub has_multicast: bool,
    /// Whether we send by UDP. Default yes.
    pub has_udp: bool,
    /// Whether we send by Tickwire's TCP ([`StreamAddress`]). Default no.
    pub has_tcp: bool,
}

impl Default for Attachment {
    fn default() -> Self {
        Self {
            addresses: Vec::new(),
            networks: Vec::new(),
            is_loopback: false,
            has_multicast: true,
            has_udp: true,
            has_tcp: false,
        }
    }
}

/// Where to send, and how sure that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) locators: Vec<Locator>,
    pub(super) confidence: Confidence,
}

impl Choice {
    const NONE: Self = Self {
        locators: Vec::new(),
        confidence: Confidence::Unreachable,
    };
}

/// In rising order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Confidence {
    Unreachable,
    Guess,
    HeardFrom,
    Near,
    NearAndHeardFrom,
}

impl Attachment {
    /// Of the announced addresses those to use for somebody who was heard from `source`. Other
    /// transports and vendors' own kinds are left out.
    pub(super) fn choose(&self, announced: &[Locator], source: Option<IpAddr>) -> Choice {
        let by_udp = match self.has_udp {
            true => self.choose_udp(announced, source),
            false => Choice::NONE,
        };
        match by_udp.confidence {
            Confidence::Unreachable | Confidence::Guess if self.has_tcp => {
                self.choose_tcp(announced, source).unwrap_or(by_udp)
            }
            _ => by_udp,
        }
    }

    /// One address by TCP. A connection that there is serves whatever the address is; where it is not
    /// one that we reach, none is made.
    fn choose_tcp(&self, announced: &[Locator], source: Option<IpAddr>) -> Option<Choice> {
        let streams = announced.iter().filter_map(StreamAddress::of);
        let ranked = streams.map(|stream| {
            let address = *stream.address.ip();
            let reaches = stream.address.port() != 0 && self.reaches(address, source);
            match reaches {
                true => (self.confidence(address, source), stream),
                false => (Confidence::Unreachable, stream.not_to_be_connected_to()),
            }
        });
        // Of equals the first.
        let best = ranked.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map(|(_, stream)| Choice {
            locators: alloc::vec![stream.to_locator()],
            // So that UDP takes over once it is known to arrive.
            confidence: Confidence::Guess,
        })
    }

    fn choose_udp(&self, announced: &[Locator], source: Option<IpAddr>) -> Choice {
        let addresses = announced.iter().filter_map(|&locator| {
            let address = address(&locator).filter(|&address| self.reaches(address, source))?;
            Some((self.confidence(address, source), locator))
        });
        let addresses: Vec<_> = addresses.collect();
        let best = addresses.iter().map(|&(confidence, _)| confidence).max();
        let confidence = best.unwrap_or(Confidence::Unreachable);
        let as_good = addresses.into_iter().filter(|&(c, _)| c == confidence);
        let count = match confidence {
            Confidence::Guess => MAX_GUESSES,
            _ => 1,
        };
        Choice {
            locators: as_good.map(|(_, locator)| locator).take(count).collect(),
            confidence,
        }
    }

    fn confidence(&self, address: Ipv4Addr, source: Option<IpAddr>) -> Confidence {
        let is_near = self.networks.iter().any(|network| is_on(address, *network));
        match (is_near, source == Some(IpAddr::V4(address))) {
            (true, true) => Confidence::NearAndHeardFrom,
            (true, false) => Confidence::Near,
            (false, true) => Confidence::HeardFrom,
            (false, false) => Confidence::Guess,
        }
    }

    fn reaches(&self, address: Ipv4Addr, source: Option<IpAddr>) -> bool {
        let is_here = address.is_loopback() || self.addresses.contains(&address);
        match source {
            _ if self.is_loopback => is_here,
            // No host takes datagrams from outside that claim to come from itself.
            Some(IpAddr::V4(source)) if is_here => {
                source.is_loopback() || self.addresses.contains(&source)
            }
            _ => true,
        }
    }
}

/// IPv4 is what we speak.
fn address(locator: &Locator) -> Option<Ipv4Addr> {
    match locator.to_udp()? {
        SocketAddr::V4(v4) if !v4.ip().is_multicast() => Some(*v4.ip()),
        _ => None,
    }
}

fn is_on(address: Ipv4Addr, (network, prefix_len): (Ipv4Addr, u8)) -> bool {
    let host_len = 32_u32.saturating_sub(u32::from(prefix_len));
    let mask = u32::MAX.checked_shl(host_len).unwrap_or(0);
    (address.to_bits() ^ network.to_bits()) & mask == 0
}

/// Lest who announces many addresses has us send to many.
const MAX_GUESSES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    const LAN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
    const SECOND_LAN: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 2);
    const BRIDGE: Ipv4Addr = Ipv4Addr::new(172, 17, 0, 1);
    const FAR: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 9);

    /// Two networks and a container bridge.
    fn host() -> Attachment {
        let [lan, second] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 1, 0, 1)];
        Attachment {
            addresses: alloc::vec![Ipv4Addr::LOCALHOST, lan, second, BRIDGE],
            networks: alloc::vec![(lan, 24), (second, 24), (BRIDGE, 16)],
            ..Attachment::default()
        }
    }

    fn chosen(us: &Attachment, announced: &[Ipv4Addr], source: Ipv4Addr) -> Vec<Ipv4Addr> {
        let announced: Vec<_> = announced
            .iter()
            .map(|&a| Locator::udp_v4(a, 7411))
            .collect();
        let choice = us.choose(&announced, Some(source.into()));
        choice.locators.iter().filter_map(address).collect()
    }

    #[test]
    fn anothers_bridge_and_loopback_are_not_ours() {
        let announced = [Ipv4Addr::LOCALHOST, BRIDGE, LAN];
        assert_eq!(chosen(&host(), &announced, LAN), [LAN]);
        assert!(chosen(&host(), &announced[..2], LAN).is_empty());
        assert!(chosen(&host(), &announced[..2], FAR).is_empty());
    }

    #[test]
    fn on_our_own_host_they_are() {
        let bridge = [BRIDGE];
        assert_eq!(chosen(&host(), &bridge, Ipv4Addr::LOCALHOST), bridge);
        let loopback = [Ipv4Addr::LOCALHOST];
        assert_eq!(chosen(&host(), &loopback, BRIDGE), loopback);
    }

    #[test]
    fn one_address_is_chosen_the_one_heard_from_before_its_neighbours() {
        let both = [LAN, SECOND_LAN, FAR];
        assert_eq!(chosen(&host(), &both, LAN), [LAN]);
        assert_eq!(chosen(&host(), &both, SECOND_LAN), [SECOND_LAN]);
        assert_eq!(
            chosen(&host(), &both, FAR),
            [LAN],
            "a neighbour needs no router"
        );
    }

    #[test]
    fn through_a_router_the_one_heard_from_else_all() {
        let far = [FAR, Ipv4Addr::new(192, 0, 2, 10)];
        assert_eq!(chosen(&host(), &far, far[1]), [far[1]]);
        let translated = Ipv4Addr::new(198, 51, 100, 1);
        assert_eq!(chosen(&host(), &far, translated), far);
        assert_eq!(chosen(&host(), &[FAR; 20], translated).len(), MAX_GUESSES);
    }

    #[test]
    fn from_loopback_only_this_host_is_reached() {
        let us = Attachment {
            is_loopback: true,
            ..host()
        };
        let announced = [FAR, SECOND_LAN, BRIDGE];
        assert_eq!(chosen(&us, &announced, Ipv4Addr::LOCALHOST), [BRIDGE]);
    }

    #[test]
    fn tcp_is_for_whom_udp_is_not_known_to_reach() {
        let by_tcp = |address, port| {
            let address = core::net::SocketAddrV4::new(address, port);
            let owner = [1; 12];
            let stream = StreamAddress {
                owner,
                ..StreamAddress::anybody_at(address)
            };
            stream.to_locator()
        };
        let us = Attachment {
            has_tcp: true,
            ..host()
        };
        let udp = Locator::udp_v4;
        let chosen = |us: &Attachment, announced: &[Locator], source: Ipv4Addr| {
            us.choose(announced, Some(source.into())).locators
        };
        let both = [udp(LAN, 7411), by_tcp(LAN, 7410)];
        assert_eq!(chosen(&us, &both, LAN), [both[0]]);
        assert_eq!(chosen(&host(), &both, LAN), [both[0]]);
        assert_eq!(chosen(&us, &both[1..], LAN), [both[1]]);
        assert!(chosen(&host(), &both[1..], LAN).is_empty());
        let alone = Attachment {
            has_udp: false,
            ..us.clone()
        };
        assert_eq!(chosen(&alone, &both, LAN), [both[1]]);
        // Behind address translation: only the connection that it has made leads there.
        let far = [udp(FAR, 7411), by_tcp(SECOND_LAN, 0), by_tcp(BRIDGE, 7410)];
        let translated = Ipv4Addr::new(198, 51, 100, 1);
        assert_eq!(chosen(&us, &far, translated), [by_tcp(SECOND_LAN, 0)]);
        assert_eq!(chosen(&us, &far, FAR), [far[0]], "heard from there");
    }

    #[test]
    fn other_transports_are_left_out() {
        let shared_memory = Locator {
            kind: tickwire_base::LocatorKind(16),
            ..Locator::udp_v4(LAN, 7)
        };
        let group = Locator::udp_v4(Ipv4Addr::new(239, 255, 0, 1), 7);
        let choice = host().choose(&[shared_memory, group], None);
        assert_eq!(choice.confidence, Confidence::Unreachable);
        let one_network = Attachment {
            networks: alloc::vec![(Ipv4Addr::UNSPECIFIED, 0)],
            ..Attachment::default()
        };
        let choice = one_network.choose(&[Locator::udp_v4(FAR, 7)], None);
        assert_eq!(choice.confidence, Confidence::Near);
    }
}
