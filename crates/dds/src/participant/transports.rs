//! By what a participant sends and receives. Knows no socket.

use std::env;
use std::error::Error;
use std::fmt;
use std::str::FromStr;

use tickwire_base::nearest_name;

/// A way for datagrams to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// UDP from one to one: `udp`.
    Udp,
    /// UDP to groups: `multicast`. Comes with [`Udp`](Self::Udp), by which losses are repaired.
    Multicast,
    /// TCP, for links that carry no UDP: `tcp`. Participants find each other by the
    /// [peers](crate::DomainParticipantBuilder::peer_named) that one of two names, on the same machine
    /// as by UDP.
    Tcp,
    /// Shared memory, for samples between processes of one machine and user: `shm`. Discovery and
    /// acknowledgements go by another, by [`Udp`](Self::Udp) if there is no [`Tcp`](Self::Tcp).
    Shm,
}

impl Transport {
    /// All of them. What is added here has a name, in files and on command lines, too.
    pub const ALL: [Self; 4] = [Self::Udp, Self::Multicast, Self::Tcp, Self::Shm];

    /// Its name in files, in the environment and on command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Multicast => "multicast",
            Self::Tcp => "tcp",
            Self::Shm => "shm",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The transports that a participant uses. Default UDP with multicast, and shared memory.
///
/// As text, names with commas between them: `udp,tcp`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Transports(u8);

impl Transports {
    /// These.
    pub fn of(transports: impl IntoIterator<Item = Transport>) -> Self {
        let all = transports.into_iter().fold(Self(0), Self::and);
        let is_alone = all.contains(Transport::Shm) && !all.contains(Transport::Tcp);
        match all.contains(Transport::Multicast) || is_alone {
            true => all.and(Transport::Udp),
            false => all,
        }
    }

    /// Whether that is one of them.
    pub const fn contains(self, transport: Transport) -> bool {
        self.0 & transport.bit() != 0
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Which they are.
    pub fn iter(self) -> impl Iterator<Item = Transport> {
        let all = Transport::ALL.into_iter();
        all.filter(move |transport| self.contains(*transport))
    }

    /// What the environment's [`TICKWIRE_TRANSPORT`](VARIABLE) says; `None` where it is not set, or
    /// empty.
    ///
    /// # Errors
    /// When it names something else than transports.
    pub fn from_env() -> Result<Option<Self>, ParseTransportsError> {
        let text = env::var_os(VARIABLE).filter(|text| !text.is_empty());
        text.map(|text| text.to_string_lossy().parse()).transpose()
    }

    const fn and(self, transport: Transport) -> Self {
        Self(self.0 | transport.bit())
    }
}

impl Default for Transports {
    fn default() -> Self {
        Self::of([Transport::Udp, Transport::Multicast, Transport::Shm])
    }
}

impl FromIterator<Transport> for Transports {
    fn from_iter<I: IntoIterator<Item = Transport>>(transports: I) -> Self {
        Self::of(transports)
    }
}

impl FromStr for Transports {
    type Err = ParseTransportsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = text
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        named.map(transport).collect()
    }
}

fn transport(name: &str) -> Result<Transport, ParseTransportsError> {
    let known = |transport: &Transport| transport.name().eq_ignore_ascii_case(name);
    let found = Transport::ALL.into_iter().find(known);
    found.ok_or_else(|| ParseTransportsError {
        name: name.to_owned(),
    })
}

impl fmt::Display for Transports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, transport) in self.iter().enumerate() {
            write!(f, "{}{transport}", if index > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Transports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Transports({self})")
    }
}

/// There is no transport of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseTransportsError {
    /// The name.
    pub name: String,
}

impl fmt::Display for ParseTransportsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Transport::ALL.map(Transport::name);
        write!(f, "there is no transport `{}`", self.name)?;
        match nearest_name(&self.name, names) {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => write!(f, "; there are {}", names.join(", ")),
        }
    }
}

impl Error for ParseTransportsError {}

/// Where others connect to a participant by TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TcpListen {
    /// At the number of its UDP discovery port, or of the first one of the domain that is free, 7410 +
    /// 250 × domain and every second one after that; where none is, at any other: `auto`.
    #[default]
    Auto,
    /// At that port.
    Port(u16),
    /// Nowhere: it connects to others: `off`.
    Off,
}

impl FromStr for TcpListen {
    type Err = ParseTcpListenError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            port => match port.parse() {
                Ok(port) if port != 0 => Ok(Self::Port(port)),
                _ => Err(ParseTcpListenError),
            },
        }
    }
}

/// It is not said where to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseTcpListenError;

impl fmt::Display for ParseTcpListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TCP listens at a port from 1 to 65535, `auto` or `off`")
    }
}

impl Error for ParseTcpListenError {}

/// The variable that names the transports of participants of which nothing else does.
pub const VARIABLE: &str = "TICKWIRE_TRANSPORT";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_make_a_set_and_multicast_comes_with_udp() {
        let parsed = |text: &str| text.parse::<Transports>().map(|all| all.to_string());
        assert_eq!(parsed("tcp"), Ok("tcp".to_owned()));
        assert_eq!(parsed(" TCP, udp"), Ok("udp,tcp".to_owned()));
        assert_eq!(parsed("multicast"), Ok("udp,multicast".to_owned()));
        assert_eq!(parsed(""), Ok(String::new()));
        let error = parsed("udp,multicas")
            .expect_err("no such name")
            .to_string();
        assert_eq!(
            error,
            "there is no transport `multicas`; did you mean `multicast`?"
        );
        assert_eq!(parsed("shm"), Ok("udp,shm".to_owned()));
        assert_eq!(parsed("shm,tcp"), Ok("tcp,shm".to_owned()));
        assert_eq!(
            Transports::default(),
            Transports::of([Transport::Multicast, Transport::Shm])
        );
    }

    #[test]
    fn where_tcp_listens_has_a_text() {
        assert_eq!("auto".parse(), Ok(TcpListen::Auto));
        assert_eq!("off".parse(), Ok(TcpListen::Off));
        assert_eq!("7400".parse(), Ok(TcpListen::Port(7400)));
        assert_eq!("0".parse::<TcpListen>(), Err(ParseTcpListenError));
    }
}
