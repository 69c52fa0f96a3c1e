//! The ports of a domain (RTPS 2.5 §9.6.2.3). Knows no socket.

use std::net::{Ipv4Addr, SocketAddrV4};

use tickwire_base::{Locator, StreamAddress};

/// The well-known ports of one domain.
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

    pub(crate) fn discovery_group(self) -> u16 {
        self.base
    }

    pub(crate) fn user_group(self) -> u16 {
        self.base + 1
    }

    /// Where the participant of each index takes discovery and acknowledgements, and where user data.
    pub(crate) fn pairs(self) -> impl Iterator<Item = (u16, u16)> {
        (0..MAX_PARTICIPANTS).map_while(move |index| {
            let metatraffic = self.metatraffic(index)?;
            Some((metatraffic, metatraffic.checked_add(1)?))
        })
    }

    /// Where the participants that came first on a machine are greeted.
    pub(crate) fn well_known(self, address: Ipv4Addr) -> impl Iterator<Item = Locator> {
        let ports = (0..GREETED).filter_map(move |index| self.metatraffic(index));
        ports.map(move |port| Locator::udp_v4(address, port))
    }

    /// The same by TCP.
    pub(crate) fn well_known_streams(self, address: Ipv4Addr) -> impl Iterator<Item = Locator> {
        let ports = (0..GREETED).filter_map(move |index| self.metatraffic(index));
        let addresses = ports.map(move |port| SocketAddrV4::new(address, port));
        addresses.map(|address| StreamAddress::anybody_at(address).to_locator())
    }

    fn metatraffic(self, index: u16) -> Option<u16> {
        self.base
            .checked_add(10)?
            .checked_add(index.checked_mul(2)?)
    }
}

const PORT_BASE: u16 = 7400;
const DOMAIN_GAIN: u16 = 250;
/// The last domain of which the first participant's ports exist.
const MAX_DOMAIN: u16 = 232;
/// As many indices fit between one domain's ports and the next one's.
const MAX_PARTICIPANTS: u16 = 120;
/// As many participants are greeted at their well-known ports.
const GREETED: u16 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_the_standards() {
        let ports = Ports::of(0).expect("domain 0 exists");
        assert_eq!((ports.discovery_group(), ports.user_group()), (7400, 7401));
        let pairs: Vec<_> = ports.pairs().take(3).collect();
        assert_eq!(pairs, [(7410, 7411), (7412, 7413), (7414, 7415)]);
        let last = Ports::of(232).expect("the last domain");
        assert_eq!(last.pairs().next(), Some((65_410, 65_411)));
        assert!(last.pairs().count() < usize::from(MAX_PARTICIPANTS));
        assert_eq!(Ports::of(233), None);
        assert_eq!(Ports::of(u32::MAX), None);
    }

    #[test]
    fn no_port_of_a_domain_is_in_the_next_one() {
        let (this, next) = (Ports::of(3), Ports::of(4));
        let (this, next) = (this.expect("exists"), next.expect("exists"));
        let last = this.pairs().last().expect("many");
        assert!(last.1 < next.discovery_group());
    }
}
