//! What can go wrong with a socket: each error names the socket, the address or the option that
//! failed, and what the user can do about it.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV4};

/// Why a socket could not be set up.
#[derive(Debug)]
#[non_exhaustive]
pub enum SocketError {
    /// The kernel gave no socket.
    Open {
        /// The kernel's reason.
        source: io::Error,
    },
    /// The kernel gave no socket for TCP, or no other descriptor that it takes.
    OpenStream {
        /// The kernel's reason.
        source: io::Error,
    },
    /// Nobody can connect at the TCP port wanted.
    Listen {
        /// The address wanted.
        address: SocketAddrV4,
        /// The kernel's reason.
        source: io::Error,
    },
    /// The socket could not be bound.
    Bind {
        /// The address wanted.
        address: SocketAddr,
        /// The kernel's reason.
        source: io::Error,
    },
    /// A socket option was refused.
    Option {
        /// The option, as in the manual pages of `socket` and `ip`.
        option: &'static str,
        /// The socket's address, if it has one yet.
        address: SocketAddr,
        /// The kernel's reason.
        source: io::Error,
    },
    /// A multicast group could not be joined.
    Join {
        /// The group.
        group: IpAddr,
        /// The interface's name.
        interface: String,
        /// The kernel's reason.
        source: io::Error,
    },
    /// The address given as a group is not one.
    NotMulticast {
        /// The address.
        address: IpAddr,
    },
    /// The interface has no address of the socket's family.
    NoAddress {
        /// The interface's name.
        interface: String,
    },
}

impl SocketError {
    /// Whether another socket holds the address, or this one is in the group already.
    pub fn is_address_in_use(&self) -> bool {
        matches!(self, Self::Bind { source, .. } | Self::Listen { source, .. } | Self::Join { source, .. } if source.kind() == io::ErrorKind::AddrInUse)
    }
}

impl fmt::Display for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { source } => write!(f, "cannot open a UDP socket: {source}"),
            Self::OpenStream { source } => write!(f, "cannot open a TCP socket: {source}"),
            Self::Listen { address, source } => {
                write!(f, "cannot listen at tcp/{address}: {source}")?;
                match source.kind() {
                    io::ErrorKind::AddrInUse => {
                        write!(f, "; `ss -tlnp` shows which process holds the port")
                    }
                    _ => Ok(()),
                }
            }
            Self::Bind { address, source } => {
                write!(f, "cannot bind udp/{address}: {source}")?;
                match source.kind() {
                    io::ErrorKind::AddrInUse => {
                        write!(f, "; `ss -ulnp` shows which process holds the port")
                    }
                    io::ErrorKind::AddrNotAvailable => {
                        write!(
                            f,
                            "; it is no address of this machine, which `ip address` lists, and no multicast group"
                        )
                    }
                    _ => Ok(()),
                }
            }
            Self::Option {
                option,
                address,
                source,
            } => {
                write!(f, "cannot set {option} on udp/{address}: {source}")?;
                match (*option, source.kind()) {
                    ("SO_BUSY_POLL", io::ErrorKind::PermissionDenied) => f.write_str(
                        "; above net.core.busy_read it takes CAP_NET_ADMIN: raise that with sysctl",
                    ),
                    _ => Ok(()),
                }
            }
            Self::Join {
                group,
                interface,
                source,
            } => {
                write!(f, "cannot join group {group} on {interface}: {source}")?;
                match source.raw_os_error() {
                    Some(errno) if errno == nix::errno::Errno::ENOBUFS as i32 => write!(
                        f,
                        "; a socket may join net.ipv4.igmp_max_memberships groups, raise it with \
                         sysctl or use more sockets"
                    ),
                    _ => Ok(()),
                }
            }
            Self::NotMulticast { address } => write!(
                f,
                "{address} is no multicast group: groups are 224.0.0.0/4 and ff00::/8"
            ),
            Self::NoAddress { interface } => write!(
                f,
                "interface {interface} has no address of the socket's family; `ip address show \
                 {interface}` lists what it has"
            ),
        }
    }
}

impl Error for SocketError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Open { source }
            | Self::OpenStream { source }
            | Self::Listen { source, .. }
            | Self::Bind { source, .. }
            | Self::Option { source, .. }
            | Self::Join { source, .. } => Some(source),
            Self::NotMulticast { .. } | Self::NoAddress { .. } => None,
        }
    }
}

/// Why a datagram did not leave.
#[derive(Debug)]
pub struct SendError {
    /// Where it should have gone.
    pub destination: SocketAddr,
    /// Its size in bytes.
    pub len: usize,
    /// The kernel's reason.
    pub source: io::Error,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            destination,
            len,
            source,
        } = self;
        write!(f, "cannot send {len} bytes to udp/{destination}: {source}")
    }
}

impl Error for SendError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

/// Why nothing could be received.
#[derive(Debug)]
pub struct ReceiveError {
    /// The receiving socket's own address.
    pub address: SocketAddr,
    /// The kernel's reason.
    pub source: io::Error,
}

impl fmt::Display for ReceiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, source } = self;
        write!(f, "cannot receive on udp/{address}: {source}")
    }
}

impl Error for ReceiveError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

/// Why waiting was not possible.
#[derive(Debug)]
pub struct WaitError {
    /// The kernel's reason.
    pub source: io::Error,
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot wait for datagrams: {}", self.source)
    }
}

impl Error for WaitError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

/// Why an interface was not found.
#[derive(Debug)]
#[non_exhaustive]
pub enum InterfaceError {
    /// The kernel did not list the interfaces.
    List {
        /// The kernel's reason.
        source: io::Error,
    },
    /// None has that name, address or subnet.
    Unknown {
        /// What was asked for.
        wanted: String,
        /// The names of those that are up.
        available: Vec<String>,
    },
}

impl fmt::Display for InterfaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List { source } => write!(f, "cannot list the network interfaces: {source}"),
            Self::Unknown { wanted, available } => write!(
                f,
                "no interface that is up has the name, address or subnet {wanted}; there are {}",
                available.join(", ")
            ),
        }
    }
}

impl Error for InterfaceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::List { source } => Some(source),
            Self::Unknown { .. } => None,
        }
    }
}
