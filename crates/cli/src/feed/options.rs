//! Options that several `feed` commands have, and the forms of their values.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};

use tickwire_transport::{Interface, UdpOptions};

use crate::failure::{Failure, Result};

/// The article's group.
pub(crate) const DEFAULT_GROUP: SocketAddr =
    SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(224, 1, 2, 133), 13014));

/// The interface of that name or address.
pub(crate) fn interface(name_or_address: &str) -> Result<Interface> {
    Interface::find(name_or_address).map_err(Failure::usage)
}

/// Multicast over one interface: on this machine only, or as far as that interface's network.
pub(crate) fn multicast(interface: Interface) -> UdpOptions {
    UdpOptions {
        multicast_ttl: u8::from(!interface.is_loopback),
        multicast_interface: Some(interface),
        ..UdpOptions::default()
    }
}

/// Reads an address and its port.
pub(crate) fn parse_address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse()
        .map_err(|_| "expected an address and its port, as in 224.1.2.133:13014")
}

/// That the lines of a feed are two.
pub(crate) fn check_lines(a: SocketAddr, b: Option<SocketAddr>) -> Result<()> {
    match b == Some(a) {
        true => Err(Failure::usage(format_args!(
            "`--line-b` is {a}, as `--group` is: the second line of a feed is another group"
        ))),
        false => Ok(()),
    }
}

/// Reads `1000-1099,2000,ABC`: names of securities and ranges of numbers.
pub(crate) fn parse_ids(text: &str) -> Result<Vec<String>, String> {
    let mut ids = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let ends = part
            .split_once('-')
            .map(|(first, last)| (first.parse(), last.parse()));
        let Some((Ok(first), Ok(last))) = ends else {
            ids.push(part.to_owned());
            continue;
        };
        let range: std::ops::RangeInclusive<u64> = first..=last;
        if range.is_empty() {
            return Err(format!("the range `{part}` is backwards: `{last}-{first}`"));
        }
        if last - first >= MAX_IDS {
            return Err(format!("`{part}` has more than {MAX_IDS} numbers"));
        }
        ids.extend(range.map(|id| id.to_string()));
    }
    Ok(ids)
}

/// Securities in one range at most.
const MAX_IDS: u64 = 100_000;

/// Whether datagrams to `address` need a multicast interface.
pub(crate) fn is_multicast(address: SocketAddr) -> bool {
    match address.ip() {
        IpAddr::V4(v4) => v4.is_multicast(),
        IpAddr::V6(v6) => v6.is_multicast(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_names_and_ranges() {
        let ids = parse_ids("7-9,ABC-D,12").expect("sound");
        assert_eq!(ids, ["7", "8", "9", "ABC-D", "12"]);
        let backwards = "the range `9-7` is backwards: `7-9`".to_owned();
        assert_eq!(parse_ids("9-7"), Err(backwards));
        assert!(parse_ids("0-18446744073709551615").is_err());
    }
}
