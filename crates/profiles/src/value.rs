//! Values of settings, and their text forms with units. Knows no file format.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::Duration;

use tickwire::ThreadCores;
use tickwire_base::nearest_name;

use crate::setting::{Kind, Setting, Words};

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// The number of a word.
    Choice(u32),
    Choices(Vec<u32>),
    /// Infinite is [`Duration::MAX`].
    Duration(Duration),
    Integer(i64),
    /// `None` is unlimited.
    Limit(Option<u32>),
    Bool(bool),
    /// Bytes.
    Size(usize),
    Octets(Vec<u8>),
    Names(Vec<String>),
    Text(String),
    Peers(Vec<Peer>),
    Cores(Box<ThreadCores>),
}

/// Whom to announce a participant to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// The participants that came first on a machine.
    Machine(Ipv4Addr),
    /// One port.
    Port(SocketAddrV4),
    /// Either, by the name of the machine.
    Named(String),
}

impl Value {
    /// The value as TOML.
    pub(crate) fn to_toml(&self, setting: &Setting) -> String {
        let words = match setting.kind {
            Kind::Choice(words) | Kind::Choices(words) => words,
            _ => Words::new(0, "", &[]),
        };
        match self {
            Self::Choice(number) => quoted(words.word(*number)),
            Self::Choices(numbers) => {
                list(numbers.iter().map(|number| quoted(words.word(*number))))
            }
            Self::Duration(duration) => quoted(&duration_text(*duration)),
            Self::Integer(number) => number.to_string(),
            Self::Limit(None) => quoted(UNLIMITED),
            Self::Limit(Some(limit)) => limit.to_string(),
            Self::Bool(yes) => yes.to_string(),
            Self::Size(bytes) => quoted(&size_text(*bytes)),
            Self::Octets(octets) => match std::str::from_utf8(octets) {
                Ok(text) if !text.contains(char::is_control) => quoted(text),
                _ => list(octets.iter().map(u8::to_string)),
            },
            Self::Names(names) => list(names.iter().map(|name| quoted(name))),
            Self::Text(text) => quoted(text),
            Self::Peers(peers) => list(peers.iter().map(|peer| match peer {
                Peer::Machine(address) => quoted(&address.to_string()),
                Peer::Port(address) => quoted(&address.to_string()),
                Peer::Named(name) => quoted(name),
            })),
            Self::Cores(cores) => quoted(&cores.to_string()),
        }
    }
}

/// A word of a list of words.
pub(crate) fn word(words: &Words, text: &str) -> Result<u32, String> {
    words.number(text).ok_or_else(|| {
        let known = words.words.iter().copied();
        // A word in capitals is compared with words in capitals.
        match nearest_name(&text.to_ascii_lowercase(), known.clone()) {
            Some(near) => format!("unknown value `{text}`; did you mean `{near}`?"),
            None => format!(
                "unknown value `{text}`; use {}",
                alternatives(known.map(str::to_owned))
            ),
        }
    })
}

/// A duration, or `infinite`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    match text {
        INFINITE => Ok(Duration::MAX),
        text if !text.starts_with(|c: char| c.is_ascii_digit()) => Err(format!(
            "`{text}` is no duration; write one as \"100ms\", \"10s\" or \"infinite\""
        )),
        text => parse_duration(text),
    }
}

/// Reads a duration as profiles and the command line have it: a whole number with its unit, such as
/// `20us`. Units are ns, us, ms, s, min and h; a number alone might mean any of them.
///
/// # Errors
/// What is wrong and how to write it, when the text is no such thing or is longer than 2147483646 s,
/// which is what fits the wire (DDS 1.4 §2.3.3).
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = number_and_unit(text)
        .ok_or_else(|| format!("`{text}` is no duration; write one as \"100ms\" or \"10s\""))?;
    let unit = if unit == "µs" { "us" } else { unit };
    let Some((_, ns)) = TIME_UNITS.iter().find(|(name, _)| *name == unit) else {
        let known = TIME_UNITS.iter().map(|(name, _)| *name);
        return Err(unknown_unit(text, unit, known));
    };
    let ns = number.checked_mul(*ns).filter(|ns| *ns <= MAX_DURATION_NS);
    ns.map(Duration::from_nanos)
        .ok_or_else(|| format!("`{text}` is longer than 2147483646s"))
}

/// A whole number with its unit of bytes.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    let (number, unit) = number_and_unit(text)
        .ok_or_else(|| format!("`{text}` is no size; write one as \"64KiB\" or \"4MiB\""))?;
    let Some((_, bytes)) = SIZE_UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(unknown_unit(
            text,
            unit,
            SIZE_UNITS.iter().map(|(name, _)| *name),
        ));
    };
    let bytes = number.checked_mul(*bytes);
    bytes
        .and_then(bounded_size)
        .ok_or_else(|| format!("`{text}` is more than 1GiB"))
}

/// A number of bytes that can be asked for.
pub(crate) fn bounded_size(bytes: u64) -> Option<usize> {
    usize::try_from(bytes)
        .ok()
        .filter(|bytes| *bytes <= MAX_SIZE)
}

/// An address or the name of a machine, maybe with a port. Names are not looked up here.
pub(crate) fn peer(text: &str) -> Result<Peer, String> {
    if let Some(("tcp" | "udp", host)) = text.split_once('/') {
        return peer(host).map(|_| Peer::Named(text.to_owned()));
    }
    match (text.parse::<IpAddr>(), text.parse::<SocketAddr>()) {
        (Ok(IpAddr::V4(address)), _) => Ok(Peer::Machine(address)),
        (_, Ok(SocketAddr::V4(address))) => Ok(Peer::Port(address)),
        (Ok(IpAddr::V6(_)), _) | (_, Ok(SocketAddr::V6(_))) => Err(format!(
            "`{text}` is an IPv6 address; peers are reached over IPv4"
        )),
        _ if is_host(text) => Ok(Peer::Named(text.to_owned())),
        _ => Err(format!(
            "`{text}` is no address or name; write one as \"10.0.0.2\", \"feed.example\" or \
             \"10.0.0.2:7410\""
        )),
    }
}

/// Whether this is a name with letters, digits and hyphens (RFC 1123 §2.1), maybe with a port. What ends
/// in a number is meant for an address, hence none.
fn is_host(text: &str) -> bool {
    let name = match text.split_once(':') {
        Some((name, port)) if port.parse::<u16>().is_ok_and(|port| port != 0) => name,
        Some(_) => return false,
        None => text,
    };
    let is_label = |label: &str| {
        let known = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        (1..=63).contains(&label.len()) && label.chars().all(known)
    };
    let is_number = |label: &str| label.chars().all(|c| c.is_ascii_digit());
    let last = name.rsplit('.').next();
    name.len() <= 253 && name.split('.').all(is_label) && !last.is_some_and(is_number)
}

/// A number in a range.
pub(crate) fn integer(number: Option<i64>, text: &str, min: i64, max: i64) -> Result<i64, String> {
    number
        .filter(|number| (min..=max).contains(number))
        .ok_or_else(|| format!("`{text}` is not a whole number from {min} to {max}"))
}

/// A number of things, from 1.
pub(crate) fn limit(number: Option<i64>, text: &str) -> Result<u32, String> {
    let number = number.filter(|number| (1..=i64::from(i32::MAX)).contains(number));
    number
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| {
            format!(
                "`{text}` is neither a whole number from 1 to {} nor unlimited",
                i32::MAX
            )
        })
}

/// One line of moderate length.
pub(crate) fn text(text: &str) -> Result<String, String> {
    match text {
        text if text.len() > MAX_TEXT => Err(format!("longer than {MAX_TEXT} bytes")),
        text if text.contains(char::is_control) => {
            Err("control characters are not allowed".to_owned())
        }
        text => Ok(text.to_owned()),
    }
}

/// `a`, `b` or `c`.
pub(crate) fn alternatives(names: impl Iterator<Item = String>) -> String {
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Digits and what follows.
fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    Some((digits.parse().ok()?, unit))
}

fn unknown_unit<'a>(
    text: &str,
    unit: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> String {
    let number = text.strip_suffix(unit).unwrap_or(text);
    if unit.is_empty() {
        let examples = known.map(|name| format!("{number}{name}"));
        return format!("`{text}` has no unit; write {}", alternatives(examples));
    }
    // Units are too short for a slip of the pen to be told from another unit, except by case.
    match known.clone().find(|name| name.eq_ignore_ascii_case(unit)) {
        Some(near) => format!("unknown unit `{unit}`; did you mean `{number}{near}`?"),
        None => format!(
            "unknown unit `{unit}`; use {}",
            alternatives(known.map(str::to_owned))
        ),
    }
}

/// With the largest unit that leaves a whole number.
fn duration_text(duration: Duration) -> String {
    if duration == Duration::MAX {
        return INFINITE.to_owned();
    }
    let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    if ns == 0 {
        return "0s".to_owned();
    }
    let unit = TIME_UNITS
        .iter()
        .rev()
        .find(|(_, unit)| ns.is_multiple_of(*unit));
    let (name, unit) = unit.copied().unwrap_or(("ns", 1));
    format!("{}{name}", ns / unit)
}

/// With the largest unit that leaves a whole number.
fn size_text(bytes: usize) -> String {
    let bytes = bytes as u64;
    let binary = SIZE_UNITS
        .iter()
        .rev()
        .filter(|(name, _)| *name == "B" || name.ends_with("iB"));
    let unit = binary
        .clone()
        .find(|(_, unit)| bytes != 0 && bytes.is_multiple_of(*unit));
    let (name, unit) = unit.copied().unwrap_or(("B", 1));
    format!("{}{name}", bytes / unit)
}

/// A TOML string.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            char if char.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(char))),
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

/// A TOML array.
pub(crate) fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

pub(crate) const UNLIMITED: &str = "unlimited";
const INFINITE: &str = "infinite";

/// From the smallest to the largest.
const TIME_UNITS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// From the smallest to the largest.
const SIZE_UNITS: [(&str, u64); 7] = [
    ("B", 1),
    ("kB", 1_000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
];

/// One second less than what stands for infinite on the wire (DDS 1.4 §2.3.3).
const MAX_DURATION_NS: u64 = 2_147_483_646_000_000_000;
const MAX_SIZE: usize = 1 << 30;
/// What other implementations take for a name, in bytes.
const MAX_TEXT: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(parse_duration("500ns"), Ok(Duration::from_nanos(500)));
        assert_eq!(parse_duration("20us"), Ok(Duration::from_micros(20)));
        assert_eq!(parse_duration("20µs"), Ok(Duration::from_micros(20)));
        assert_eq!(parse_duration("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(parse_duration("5min"), Ok(Duration::from_secs(300)));
        let bare = parse_duration("1000").expect_err("of what?");
        assert!(
            bare.starts_with("`1000` has no unit; write `1000ns`"),
            "{bare}"
        );
        for wrong in [
            "",
            "us",
            "-1s",
            "1.5s",
            "5 weeks",
            "soon",
            "infinite",
            "99999999999999s",
        ] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }
}
