//! The machine's network interfaces.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use nix::ifaddrs::getifaddrs;
use nix::net::if_::{InterfaceFlags, if_nametoindex};
use nix::sys::socket::SockaddrStorage;

use crate::InterfaceError;

/// A network interface and its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The kernel's name, as `ip link` shows it.
    pub name: String,
    /// The kernel's number.
    pub index: u32,
    /// IPv4 addresses, the primary one first.
    pub ipv4: Vec<Ipv4Addr>,
    /// The networks of those addresses: address and length of the prefix in bits.
    pub ipv4_networks: Vec<(Ipv4Addr, u8)>,
    /// IPv6 addresses.
    pub ipv6: Vec<Ipv6Addr>,
    /// Whether datagrams never leave the machine.
    pub is_loopback: bool,
    /// Whether the interface can carry traffic now.
    pub is_up: bool,
    /// Whether it carries traffic, too: a cable is plugged in, a bridge has something behind it.
    pub is_running: bool,
    /// Whether the kernel says that it carries multicast. Loopback does without saying so, once a
    /// socket names it as its multicast interface.
    pub is_multicast: bool,
    /// The largest IP packet, in bytes.
    pub mtu: usize,
}

impl Interface {
    /// The loopback interface.
    pub fn loopback() -> Result<Self, InterfaceError> {
        find("lo", |interface| interface.is_loopback)
    }

    /// The interface of that name, or that has that address.
    pub fn find(name_or_address: &str) -> Result<Self, InterfaceError> {
        let address = name_or_address.parse::<IpAddr>().ok();
        find(name_or_address, |interface| {
            interface.name == name_or_address
                || address.is_some_and(|address| interface.has(address))
        })
    }

    /// Whether `address` is one of the interface's own.
    pub fn has(&self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(v4) => self.ipv4.contains(&v4),
            IpAddr::V6(v6) => self.ipv6.contains(&v6),
        }
    }

    /// Keeps those IPv4 addresses, and their networks, that `keep` says to.
    pub(crate) fn retain_ipv4(&mut self, keep: impl Fn(Ipv4Addr) -> bool) {
        self.ipv4.retain(|&address| keep(address));
        self.ipv4_networks.retain(|&(address, _)| keep(address));
    }

    /// The largest UDP payload that goes out over IPv4 without IP fragments, in bytes.
    pub fn max_datagram_len(&self) -> usize {
        const IPV4_AND_UDP_HEADERS: usize = 20 + 8;
        self.mtu
            .saturating_sub(IPV4_AND_UDP_HEADERS)
            .min(crate::MAX_DATAGRAM_BYTES)
    }
}

/// All interfaces, in the kernel's order.
pub fn interfaces() -> Result<Vec<Interface>, InterfaceError> {
    let addresses = getifaddrs().map_err(|errno| InterfaceError::List {
        source: errno.into(),
    })?;
    let mut list: Vec<Interface> = Vec::new();
    for entry in addresses {
        let position = list
            .iter()
            .position(|known| known.name == entry.interface_name);
        let position = position.unwrap_or_else(|| {
            list.push(without_addresses(entry.interface_name, entry.flags));
            list.len() - 1
        });
        match entry.address.as_ref().and_then(ip_address) {
            Some(IpAddr::V4(v4)) => {
                list[position].ipv4.push(v4);
                let network = (v4, prefix_len(entry.netmask.as_ref()));
                list[position].ipv4_networks.push(network);
            }
            Some(IpAddr::V6(v6)) => list[position].ipv6.push(v6),
            None => {}
        }
    }
    Ok(list)
}

fn find(wanted: &str, accept: impl Fn(&Interface) -> bool) -> Result<Interface, InterfaceError> {
    let mut list = interfaces()?;
    list.retain(|interface| interface.is_up);
    match list.iter().position(accept) {
        Some(position) => Ok(list.swap_remove(position)),
        None => Err(InterfaceError::Unknown {
            wanted: wanted.to_owned(),
            available: list.into_iter().map(|interface| interface.name).collect(),
        }),
    }
}

fn without_addresses(name: String, flags: InterfaceFlags) -> Interface {
    Interface {
        index: if_nametoindex(name.as_str()).unwrap_or(0),
        mtu: mtu(&name),
        name,
        ipv4: Vec::new(),
        ipv4_networks: Vec::new(),
        ipv6: Vec::new(),
        is_loopback: flags.contains(InterfaceFlags::IFF_LOOPBACK),
        is_up: flags.contains(InterfaceFlags::IFF_UP),
        is_running: flags.contains(InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING),
        is_multicast: flags.contains(InterfaceFlags::IFF_MULTICAST),
    }
}

fn ip_address(address: &SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
    v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))
}

/// Bits of a network's prefix; all 32, which is a network of one, if the kernel does not say.
fn prefix_len(netmask: Option<&SockaddrStorage>) -> u8 {
    match netmask.and_then(ip_address) {
        Some(IpAddr::V4(mask)) => u8::try_from(mask.to_bits().leading_ones()).unwrap_or(32),
        _ => 32,
    }
}

/// Ethernet's where the kernel does not say.
fn mtu(name: &str) -> usize {
    const ETHERNET_MTU: usize = 1500;
    fs::read_to_string(format!("/sys/class/net/{name}/mtu"))
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(ETHERNET_MTU)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_found_by_kind_name_and_address() {
        let loopback = Interface::loopback().expect("every Linux has one");
        assert!(loopback.has(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        assert!(loopback.ipv4_networks.contains(&(Ipv4Addr::LOCALHOST, 8)));
        assert_eq!(Interface::find(&loopback.name).ok(), Some(loopback.clone()));
        assert_eq!(Interface::find("127.0.0.1").ok(), Some(loopback));
    }

    #[test]
    fn an_unknown_interface_is_answered_with_those_that_exist() {
        let error = Interface::find("no-such-wire").expect_err("no interface is called that");
        assert!(error.to_string().contains("no-such-wire"));
        assert!(error.to_string().contains("lo"));
    }
}
