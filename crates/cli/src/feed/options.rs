//! Options that several `feed` commands have, and the forms of their values.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::Duration;

use tickwire_transport::{Interface, UdpOptions};

use crate::failure::{Failure, Result};

/// The article's group.
pub(crate) const DEFAULT_GROUP: SocketAddr =
    SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(224, 1, 2, 133), 13014));

/// The interface of that name or address.
pub(crate) fn interface(name_or_address: &str) -> Result<Interface> {
    Interface::find(name_or_address).map_err(Failure::usage)
}

/// Multicast over one interface, on this machine only.
pub(crate) fn multicast(interface: Interface) -> UdpOptions {
    UdpOptions {
        multicast_interface: Some(interface),
        ..UdpOptions::default()
    }
}

/// Reads `20us`, `1ms`, `2s`, `500ns`; a number alone is microseconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let unit_ns: u64 = match unit.trim() {
        "ns" => 1,
        "" | "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return Err(format!("unknown unit `{unit}`: use ns, us, ms or s")),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| "expected a number and a unit, such as 20us")?;
    let ns = number.checked_mul(unit_ns).ok_or("too long")?;
    Ok(Duration::from_nanos(ns))
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
        if range.is_empty() || last - first >= MAX_IDS {
            return Err(format!("`{part}` has no, or more than {MAX_IDS} numbers"));
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
        assert!(parse_ids("9-7").is_err());
        assert!(parse_ids("0-18446744073709551615").is_err());
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(parse_duration("20us"), Ok(Duration::from_micros(20)));
        assert_eq!(parse_duration("1000"), Ok(Duration::from_millis(1)));
        assert_eq!(parse_duration("2s"), Ok(Duration::from_secs(2)));
        assert!(parse_duration("us").is_err());
        assert!(parse_duration("5 weeks").is_err());
        assert!(parse_duration("99999999999999s").is_err());
    }
}
