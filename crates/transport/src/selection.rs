//! Which of the machine's interfaces are meant by what a person writes. Opens no socket.

use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

use crate::{Interface, InterfaceError, interfaces};

/// Interfaces by their names (`eth0`), addresses (`10.1.0.9`) or subnets (`10.1.0.0/16`), separated
/// by commas, or `auto`: all that carry traffic now. By a name, all IPv4 addresses of the interface
/// are meant, otherwise those that fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceSelection(Vec<Wanted>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    Auto,
    Name(String),
    Address(IpAddr),
    Subnet(Ipv4Addr, u8),
}

impl InterfaceSelection {
    /// The selected interfaces as they are now, in the order of the kernel's list, each with the
    /// addresses that are meant.
    ///
    /// # Errors
    /// When the kernel does not list them, or a part of the selection fits none that is up.
    pub fn find(&self) -> Result<Vec<Interface>, InterfaceError> {
        let all = interfaces()?;
        let up = || all.iter().filter(|interface| interface.is_up);
        for wanted in &self.0 {
            if !up().any(|interface| wanted.fits(interface)) {
                return Err(InterfaceError::Unknown {
                    wanted: wanted.to_string(),
                    available: up().map(|interface| interface.name.clone()).collect(),
                });
            }
        }
        Ok(self.among(&all))
    }

    /// Whether other interfaces may come to be selected than are now.
    pub fn is_open(&self) -> bool {
        let open = |wanted: &Wanted| matches!(wanted, Wanted::Auto | Wanted::Subnet(..));
        self.0.iter().any(open)
    }

    /// The selected ones of those that are up; none is missed.
    pub fn among(&self, all: &[Interface]) -> Vec<Interface> {
        let up = all.iter().filter(|interface| interface.is_up);
        let selected = up.filter_map(|interface| {
            let wanted = self.0.iter().filter(|wanted| wanted.fits(interface));
            let wanted: Vec<_> = wanted.collect();
            let mut selected = interface.clone();
            selected.retain_ipv4(|address| wanted.iter().any(|wanted| wanted.means(address)));
            (!wanted.is_empty()).then_some(selected)
        });
        selected.collect()
    }
}

impl FromStr for InterfaceSelection {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let parts = text.split(',').map(str::trim);
        Ok(Self(parts.map(Wanted::parse).collect()))
    }
}

impl Wanted {
    fn parse(text: &str) -> Self {
        let subnet = text.split_once('/').and_then(|(network, len)| {
            let len = len.parse().ok().filter(|&len: &u8| len <= 32)?;
            Some(Self::Subnet(network.parse().ok()?, len))
        });
        match text.parse() {
            _ if text == "auto" => Self::Auto,
            Ok(address) => Self::Address(address),
            Err(_) => subnet.unwrap_or_else(|| Self::Name(text.to_owned())),
        }
    }

    fn fits(&self, interface: &Interface) -> bool {
        match self {
            Self::Auto => interface.is_running && !interface.ipv4.is_empty(),
            Self::Name(name) => interface.name == *name,
            Self::Address(address) => interface.has(*address),
            Self::Subnet(..) => interface.ipv4.iter().any(|&address| self.means(address)),
        }
    }

    /// Of an interface that fits, whether the address is meant.
    fn means(&self, address: Ipv4Addr) -> bool {
        match *self {
            Self::Auto | Self::Name(_) | Self::Address(IpAddr::V6(_)) => true,
            Self::Address(IpAddr::V4(wanted)) => address == wanted,
            Self::Subnet(network, len) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
                (address.to_bits() ^ network.to_bits()) & mask == 0
            }
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => address.fmt(f),
            Self::Subnet(network, len) => write!(f, "{network}/{len}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(name: &str, addresses: &[[u8; 4]]) -> Interface {
        let ipv4: Vec<_> = addresses.iter().map(|&a| Ipv4Addr::from(a)).collect();
        Interface {
            name: name.to_owned(),
            index: 1,
            ipv4_networks: ipv4.iter().map(|&address| (address, 24)).collect(),
            ipv4,
            ipv6: Vec::new(),
            is_loopback: name == "lo",
            is_up: true,
            is_running: true,
            is_multicast: true,
            mtu: 1500,
        }
    }

    fn machine() -> Vec<Interface> {
        let mut idle = interface("docker0", &[[172, 17, 0, 1]]);
        idle.is_running = false;
        let mut down = interface("eth9", &[[10, 9, 0, 1]]);
        down.is_up = false;
        let eth0 = interface("eth0", &[[10, 0, 0, 1], [10, 0, 1, 1]]);
        let eth1 = interface("eth1", &[[10, 1, 0, 1]]);
        vec![interface("lo", &[[127, 0, 0, 1]]), eth0, eth1, idle, down]
    }

    fn selected(text: &str) -> Vec<(String, Vec<Ipv4Addr>)> {
        let Ok(selection) = text.parse::<InterfaceSelection>();
        let found = selection.among(&machine()).into_iter();
        found.map(|found| (found.name, found.ipv4)).collect()
    }

    fn names(text: &str) -> Vec<String> {
        selected(text).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn names_addresses_and_subnets_may_be_mixed() {
        assert_eq!(names("eth1,eth0"), ["eth0", "eth1"]);
        assert_eq!(names("10.1.0.1, lo"), ["lo", "eth1"]);
        assert_eq!(names("10.0.0.0/8"), ["eth0", "eth1"]);
        assert_eq!(names("10.0.0.0/33"), [""; 0]);
        assert_eq!(names("0.0.0.0/0,docker0").len(), 4);
    }

    #[test]
    fn only_the_addresses_that_are_meant_are_kept() {
        let second = Ipv4Addr::new(10, 0, 1, 1);
        assert_eq!(selected("10.0.1.0/24")[0].1, [second]);
        assert_eq!(selected("10.0.1.1")[0].1, [second]);
        assert_eq!(selected("eth0,10.0.1.1")[0].1.len(), 2);
    }

    #[test]
    fn auto_is_what_carries_traffic() {
        assert_eq!(names("auto"), ["lo", "eth0", "eth1"]);
        assert_eq!(names("auto,docker0").len(), 4);
        let open = ["auto", "lo,10.0.0.0/8", "lo,eth0"].map(|text| {
            let Ok(selection) = text.parse::<InterfaceSelection>();
            selection.is_open()
        });
        assert_eq!(open, [true, true, false]);
    }

    #[test]
    fn one_that_fits_nothing_is_named() {
        let Ok(selection) = "lo,10.255.255.0/30".parse::<InterfaceSelection>();
        let error = selection.find().expect_err("no such network here");
        assert!(error.to_string().contains("10.255.255.0/30"), "{error}");
    }
}
