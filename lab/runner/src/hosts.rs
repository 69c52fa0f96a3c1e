//! Where the two sides of a conversation run: on one host, or split over two. Publishers are on the first; subscribers
//! and brokers are on the second.

use std::ffi::OsString;
use std::net::{Ipv4Addr, UdpSocket};
use std::str::FromStr;

use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::IpMtu;
use serde::{Deserialize, Serialize};

use crate::cable::Cable;

/// What `--hosts` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Split {
    /// Two network namespaces of this machine.
    Cable,
    /// Two machines, by their addresses; the first is this one.
    Machines(Ipv4Addr, Ipv4Addr),
}

/// What two sides have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    /// All.
    OneHost,
    /// A clock; they meet by the network alone.
    OneClock,
    /// Nothing but the network.
    TwoClocks,
}

/// Where a process is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    First,
    Second,
}

/// Both hosts.
#[derive(Debug)]
pub(crate) struct Hosts {
    pub(crate) span: Span,
    first: Ipv4Addr,
    second: Ipv4Addr,
    /// Of the first, by which the second is reached.
    interface: String,
    mtu: Option<u32>,
    joined: String,
    /// What comes before the program and its arguments on either of them.
    words: [Vec<OsString>; 2],
    /// Holds the second of two namespaces.
    cable: Option<Cable>,
}

/// The setting as a report has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HostsRecord {
    /// The address of publishers.
    pub(crate) first: Ipv4Addr,
    /// That of subscribers and brokers.
    pub(crate) second: Ipv4Addr,
    /// By what.
    pub(crate) joined: String,
    /// In bytes, if it is known.
    pub(crate) mtu: Option<u32>,
    pub(crate) has_two_clocks: bool,
}

impl Hosts {
    /// This one alone, all over its loopback interface.
    pub(crate) fn one() -> Self {
        Self {
            span: Span::OneHost,
            first: Ipv4Addr::LOCALHOST,
            second: Ipv4Addr::LOCALHOST,
            interface: "lo".to_owned(),
            mtu: None,
            joined: String::new(),
            words: [Vec::new(), Vec::new()],
            cable: None,
        }
    }

    /// This network namespace and a new one.
    pub(crate) fn cable() -> Result<Self, String> {
        let cable = Cable::lay()?;
        Ok(Self {
            span: Span::OneClock,
            first: Cable::NEAR,
            second: Cable::FAR,
            interface: Cable::INTERFACE.to_owned(),
            mtu: Some(Cable::MTU),
            joined: format!(
                "a virtual cable (veth) between two network namespaces of one machine, {}",
                match cable.is_cut {
                    true => CUT,
                    false => UNCUT,
                }
            ),
            words: [Vec::new(), cable.words()],
            cable: Some(cable),
        })
    }

    /// This machine and one where the words of `over` start programs, whose paths are the same there. Every program has
    /// this one to attend it.
    pub(crate) fn machines(first: Ipv4Addr, second: Ipv4Addr, over: &str) -> Result<Self, String> {
        let interface = interface_of(first)?;
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let attended = || [own.clone().into(), OsString::from("attend")];
        let over_words = over_words(over).into_iter();
        Ok(Self {
            span: Span::TwoClocks,
            first,
            second,
            mtu: mtu_between(first, second),
            joined: format!("their network; programs on the second are started by `{over}`"),
            interface,
            words: [attended().into(), over_words.chain(attended()).collect()],
            cable: None,
        })
    }

    /// What comes before the program of a job and its arguments.
    pub(crate) fn words(&self, job: &str) -> Vec<OsString> {
        let mut words = match Side::of_job(job) {
            Side::First => self.words[0].clone(),
            Side::Second => self.words[1].clone(),
        };
        if self.span == Span::TwoClocks && job == "broker" {
            // Of `lab attend`: it has others to end.
            words.push("--grace".into());
        }
        words
    }

    /// The addresses of a side and of the other one.
    pub(crate) fn addresses(&self, side: Side) -> (Ipv4Addr, Ipv4Addr) {
        match side {
            Side::First => (self.first, self.second),
            Side::Second => (self.second, self.first),
        }
    }

    /// Has so many of a hundred frames get lost from here on, in either direction.
    pub(crate) fn lose(&mut self, percent: u8) -> Result<(), String> {
        match &mut self.cable {
            Some(cable) => cable.lose(percent),
            None if percent == 0 => Ok(()),
            None => Err("frames are lost on the cable alone".to_owned()),
        }
    }

    /// Of what is longer than this a part may get lost: bytes of a datagram, its IP header among them.
    pub(crate) fn mtu(&self) -> Option<u32> {
        self.mtu
    }

    /// By which interface of this host the sides reach each other.
    pub(crate) fn interface(&self) -> &str {
        &self.interface
    }

    /// Of two hosts.
    pub(crate) fn record(&self) -> Option<HostsRecord> {
        (self.span != Span::OneHost).then(|| HostsRecord {
            first: self.first,
            second: self.second,
            joined: self.joined.clone(),
            mtu: self.mtu,
            has_two_clocks: self.span == Span::TwoClocks,
        })
    }
}

impl HostsRecord {
    /// As part of a sentence.
    pub(crate) fn text(&self) -> String {
        let Self {
            first,
            second,
            joined,
            ..
        } = self;
        let mtu = self
            .mtu
            .map_or_else(|| "unknown".to_owned(), |mtu| mtu.to_string());
        format!(
            "split over two hosts, publishers at {first}, subscribers and brokers at {second}, \
             joined by {joined}; MTU {mtu}"
        )
    }
}

impl FromStr for Split {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "cable" {
            return Ok(Self::Cable);
        }
        let addresses = text.split_once(',').and_then(|(first, second)| {
            let first = first.trim().parse().ok()?;
            Some(Self::Machines(first, second.trim().parse().ok()?))
        });
        addresses.ok_or_else(|| {
            "neither `cable` nor two IPv4 addresses with a comma between them".to_owned()
        })
    }
}

impl Side {
    /// Who speaks first is on the first host.
    pub(crate) fn of_job(job: &str) -> Self {
        match job {
            "pong" | "receive" | "broker" => Self::Second,
            _ => Self::First,
        }
    }
}

/// Whether a shell on the way takes the word for itself: ssh hands all words over as one text.
pub(crate) fn survives_a_shell(word: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./,:=+@%".contains(it);
    !word.is_empty() && word.chars().all(is_plain)
}

/// The words that start a program on another machine, between spaces: a quotation mark is a sign like any other.
pub(crate) fn over_words(over: &str) -> Vec<OsString> {
    over.split_whitespace().map(OsString::from).collect()
}

/// The interface that has an address.
fn interface_of(address: Ipv4Addr) -> Result<String, String> {
    let interfaces = nix::ifaddrs::getifaddrs().map_err(|error| error.to_string())?;
    let has_address = |it: &nix::ifaddrs::InterfaceAddress| {
        let own = it.address.as_ref().and_then(|it| it.as_sockaddr_in());
        own.is_some_and(|own| own.ip() == address)
    };
    let found = { interfaces }.find(has_address);
    let found =
        found.ok_or_else(|| format!("no interface of this machine has the address {address}"))?;
    Ok(found.interface_name)
}

/// Of the way from one address to the other, in bytes, as the kernel knows it.
fn mtu_between(first: Ipv4Addr, second: Ipv4Addr) -> Option<u32> {
    let socket = UdpSocket::bind((first, 0)).ok()?;
    // Nothing is sent: the port says nothing.
    socket.connect((second, 9)).ok()?;
    u32::try_from(getsockopt(&socket, IpMtu).ok()?).ok()
}

const CUT: &str = "which takes no longer frames than a network does, of TCP neither";
const UNCUT: &str = "which passes up to 64 KB of TCP as one frame with one header, since `ip link set gso_max_segs` is \
     refused, and UDP in frames of the MTU: TCP has it easier than on a network";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_a_cable_or_two_addresses() {
        let (first, second) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        assert_eq!("cable".parse(), Ok(Split::Cable));
        let machines = Ok(Split::Machines(first, second));
        assert_eq!("10.0.0.1,10.0.0.2".parse(), machines);
        assert_eq!("10.0.0.1, 10.0.0.2".parse(), machines);
        for wrong in [
            "",
            "10.0.0.1",
            "10.0.0.1,second",
            "10.0.0.1,10.0.0.2,10.0.0.3",
            "rope",
        ] {
            assert!(wrong.parse::<Split>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn programs_on_the_second_machine_are_started_by_the_words() {
        let second = Ipv4Addr::new(10, 0, 0, 2);
        let hosts = Hosts::machines(Ipv4Addr::LOCALHOST, second, "ssh -T second").unwrap();
        let words = |job| {
            let words = hosts.words(job).into_iter();
            words
                .map(|it| it.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(words("pong")[..3], ["ssh", "-T", "second"]);
        assert_eq!(words("pong")[3..], words("ping"));
        assert_eq!(words("ping")[1..], ["attend"]);
        assert_eq!(words("broker")[4..], ["attend", "--grace"]);
        assert_eq!(hosts.addresses(Side::Second), (second, Ipv4Addr::LOCALHOST));
        assert_eq!((hosts.interface(), hosts.span), ("lo", Span::TwoClocks));
        assert!(hosts.record().unwrap().text().contains("`ssh -T second`"));
        let nowhere = Hosts::machines(Ipv4Addr::new(192, 0, 2, 1), second, "ssh second");
        assert!(nowhere.unwrap_err().contains("192.0.2.1"));
    }

    #[test]
    fn words_that_a_shell_would_change_are_known() {
        assert!(survives_a_shell("--fault=/tmp/a.b-c,10.0.0.1:8"));
        for wrong in ["", "a b", "$HOME", "a'b", "*", "a;b", "~"] {
            assert!(!survives_a_shell(wrong), "{wrong}");
        }
    }

    #[test]
    fn whoever_listens_is_on_the_second_host() {
        let second = ["broker", "pong", "receive"].map(Side::of_job);
        assert_eq!(second, [Side::Second; 3]);
        assert_eq!(
            ["ping", "send", "codec"].map(Side::of_job),
            [Side::First; 3]
        );
    }
}
