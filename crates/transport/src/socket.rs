//! UDP sockets with the options that publish/subscribe needs.

use std::io::{self, IoSlice};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use nix::sys::socket::{TimestampingFlag, setsockopt, sockopt};
use socket2::{Domain, InterfaceIndexOrAddress, Protocol, Socket, Type};
use tickwire_base::Pieces;

use crate::connected::Connections;
use crate::sending::{send_to_each, send_to_each_marked};
use crate::{Interface, SendError, SocketError};

/// What to ask of the kernel for a socket.
#[derive(Clone, Debug)]
pub struct UdpOptions {
    /// Room for datagrams that wait to be read, in bytes. Default 4 MiB; the kernel grants at most
    /// `net.core.rmem_max` unless the process may override it. See [`UdpSocket::receive_buffer_bytes`].
    pub receive_buffer_bytes: usize,
    /// Room for datagrams that wait to be sent, in bytes. Default 1 MiB.
    pub send_buffer_bytes: usize,
    /// Interface that multicast leaves by; default the kernel's choice.
    pub multicast_interface: Option<Interface>,
    /// How many routers multicast may pass, plus one; 0 (the default) keeps it on this machine.
    pub multicast_ttl: u8,
    /// Whether this machine hears its own multicast. Default yes.
    pub multicast_loop: bool,
    /// How long the kernel looks into the interface's queue before a thread that waits for the socket
    /// sleeps (SO_BUSY_POLL), in whole microseconds. Default `net.core.busy_read`, to exceed which takes
    /// CAP_NET_ADMIN.
    pub busy_poll: Option<Duration>,
    /// Whether the kernel notes when datagrams come. Default off.
    pub receive_timestamps: ReceiveTimestamps,
    /// Whether datagrams that go to one address alone again and again are sent by another socket, which is connected there:
    /// from a port of its own, and up to 16 such sockets. Default no.
    pub connects: bool,
}

/// Whether the kernel notes when a datagram comes (SO_TIMESTAMPING).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReceiveTimestamps {
    /// No.
    #[default]
    Off,
    /// When the driver hands it on, by CLOCK_REALTIME.
    Software,
    /// When it comes to the interface, by the interface's own clock, where the interface has one and was
    /// told to note it (`hwstamp_ctl`); else as [`Software`](Self::Software). Comparable with other times
    /// only while that clock is kept by CLOCK_REALTIME (`phc2sys`).
    Hardware,
}

impl Default for UdpOptions {
    fn default() -> Self {
        Self {
            receive_buffer_bytes: 4 << 20,
            send_buffer_bytes: 1 << 20,
            multicast_interface: None,
            multicast_ttl: 0,
            multicast_loop: true,
            busy_poll: None,
            receive_timestamps: ReceiveTimestamps::Off,
            connects: false,
        }
    }
}

/// A bound UDP socket. Sending waits for room in the kernel's buffer; for receiving, see
/// [`ReceiveBatch`](crate::ReceiveBatch).
///
/// Datagrams of up to 9,000 bytes that go to one address in a row and are of one length are given to the kernel as one (GSO);
/// a socket that finds many of one length at once has the kernel leave them together (GRO) for as long as it does, unless it has
/// timestamps. Nobody sees of either but the processor. On kernels and interfaces without, and with a DSCP, they go one by one.
#[derive(Debug)]
pub struct UdpSocket {
    socket: Socket,
    local: SocketAddr,
    receive_buffer_bytes: usize,
    has_timestamps: bool,
    /// Whether the kernel leaves datagrams together that came together, and whether it would not.
    takes_whole: AtomicBool,
    refuses_whole: AtomicBool,
    /// How often in a row it would not take several as one.
    refusals: AtomicU32,
    pub(crate) connections: Option<Connections>,
}

impl UdpSocket {
    /// Binds `address` for this socket alone. Port 0 takes a free one.
    pub fn unicast(address: SocketAddr, options: &UdpOptions) -> Result<Self, SocketError> {
        let socket = open(address, options)?;
        Self::bind(socket, address, options)
    }

    /// Binds `group`'s port for that group alone, together with whoever else does, and joins it on
    /// each of `interfaces`.
    pub fn group(
        group: SocketAddr,
        interfaces: &[Interface],
        options: &UdpOptions,
    ) -> Result<Self, SocketError> {
        if !group.ip().is_multicast() {
            return Err(SocketError::NotMulticast {
                address: group.ip(),
            });
        }
        let socket = open(group, options)?;
        socket
            .set_reuse_address(true)
            .map_err(refused("SO_REUSEADDR", group))?;
        // Without this the kernel hands us what any process joined on any interface.
        match group.ip() {
            IpAddr::V4(_) => socket.set_multicast_all_v4(false),
            IpAddr::V6(_) => socket.set_multicast_all_v6(false),
        }
        .map_err(refused("IP_MULTICAST_ALL", group))?;
        let socket = Self::bind(socket, group, options)?;
        interfaces
            .iter()
            .try_for_each(|interface| socket.join(group.ip(), interface))?;
        Ok(socket)
    }

    /// Lets the socket hear `group` on `interface`.
    pub fn join(&self, group: IpAddr, interface: &Interface) -> Result<(), SocketError> {
        let joined = match group {
            IpAddr::V4(v4) => {
                let interface = InterfaceIndexOrAddress::Index(interface.index);
                self.socket.join_multicast_v4_n(&v4, &interface)
            }
            IpAddr::V6(v6) => self.socket.join_multicast_v6(&v6, interface.index),
        };
        joined.map_err(|source| SocketError::Join {
            group,
            interface: interface.name.clone(),
            source,
        })
    }

    /// Has multicast leave by `interface` from now on. Datagrams carry its first address.
    pub fn multicast_by(&self, interface: &Interface) -> Result<(), SocketError> {
        let set = match self.local {
            SocketAddr::V4(_) => self.socket.set_multicast_if_v4(&primary_ipv4(interface)?),
            SocketAddr::V6(_) => self.socket.set_multicast_if_v6(interface.index),
        };
        set.map_err(refused("IP_MULTICAST_IF", self.local))
    }

    /// The address that the socket is bound to.
    pub fn local_address(&self) -> SocketAddr {
        self.local
    }

    /// Bytes that the kernel granted for datagrams that wait to be read. It counts its own
    /// bookkeeping in them: small datagrams fill it after about a third.
    pub fn receive_buffer_bytes(&self) -> usize {
        self.receive_buffer_bytes
    }

    /// Sends one datagram. One system call.
    #[inline]
    pub fn send_to(&self, datagram: &[u8], destination: SocketAddr) -> Result<(), SendError> {
        self.send_one(datagram.into(), destination)
    }

    pub(crate) fn send_one(
        &self,
        datagram: Pieces<'_>,
        destination: SocketAddr,
    ) -> Result<(), SendError> {
        let connections = self.connections.as_ref();
        if connections.and_then(|those| those.send_to(datagram, destination)) == Some(()) {
            return Ok(());
        }
        loop {
            let sent = match datagram.is_one() {
                true => self.socket.send_to(datagram.head, &destination.into()),
                false => {
                    let slices = datagram.in_order().map(IoSlice::new);
                    self.socket.send_to_vectored(&slices, &destination.into())
                }
            };
            match sent {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(SendError {
                        destination,
                        len: datagram.len(),
                        source,
                    });
                }
            }
        }
    }

    /// Sends each datagram to its destination, as many in one system call as go (32).
    ///
    /// Every datagram is tried; the first failure is the result. Datagrams may repeat: the same bytes
    /// for several destinations are not copied.
    pub fn send_each<'a, P: Into<Pieces<'a>>>(
        &self,
        datagrams: impl IntoIterator<Item = (P, SocketAddr)>,
    ) -> Result<(), SendError> {
        let datagrams = datagrams.into_iter();
        send_to_each(self, datagrams.map(|(pieces, to)| (pieces.into(), to)))
    }

    /// The same with a DSCP for each (RFC 2474; IP_TOS over IPv4, IPV6_TCLASS over IPv6), 0 to 63;
    /// what is above counts as 63. System calls are shared by datagrams in a row that have the same.
    pub fn send_each_marked<'a, P: Into<Pieces<'a>>>(
        &self,
        datagrams: impl IntoIterator<Item = (u8, P, SocketAddr)>,
    ) -> Result<(), SendError> {
        let datagrams = datagrams.into_iter();
        send_to_each_marked(
            self,
            datagrams.map(|(dscp, pieces, to)| (dscp, pieces.into(), to)),
        )
    }

    /// The socket by which datagrams are to be sent that go there alone, if it is [another](UdpOptions::connects).
    pub(crate) fn connected(&self, to: SocketAddr) -> Option<Arc<Socket>> {
        self.connections.as_ref()?.socket(to)
    }

    /// Something goes there by this socket itself, as does what follows.
    pub(crate) fn part(&self, to: SocketAddr) {
        self.connections
            .iter()
            .for_each(|connections| connections.part(to));
    }

    /// Has datagrams that [are sent by connected sockets](UdpOptions::connects) find their way anew, as addresses and
    /// routes may be others now.
    pub fn forget_ways(&self) {
        self.connections.iter().for_each(Connections::forget_all);
        self.refusals.store(0, Ordering::Relaxed);
    }

    /// Wakes all threads that wait to receive from the socket; from now on they get empty datagrams
    /// at once.
    pub fn end_receiving(&self) {
        // Linux does so and then says ENOTCONN, since the socket has no peer.
        let _ = self.socket.shutdown(Shutdown::Read);
    }

    /// Whether its datagrams have the time at which the kernel received them.
    pub(crate) fn has_timestamps(&self) -> bool {
        self.has_timestamps
    }

    /// Whether datagrams that came together are received together.
    pub(crate) fn takes_whole(&self) -> bool {
        self.takes_whole.load(Ordering::Relaxed)
    }

    /// Asks the kernel for that, unless it would not before, or for the contrary (GRO: UDP_GRO, Linux 5.0). To be called by
    /// who receives, between two calls.
    pub(crate) fn take_whole(&self, wanted: bool) {
        if self.has_timestamps || self.refuses_whole.load(Ordering::Relaxed) {
            return;
        }
        match setsockopt(&self.socket, sockopt::UdpGroSegment, &wanted) {
            Ok(()) => self.takes_whole.store(wanted, Ordering::Relaxed),
            Err(_) => self.refuses_whole.store(true, Ordering::Relaxed),
        }
    }

    /// Whether several datagrams may be given to the kernel as one.
    pub(crate) fn gives_whole(&self) -> bool {
        self.refusals.load(Ordering::Relaxed) < MAX_REFUSALS
    }

    /// Whether it has taken them so.
    pub(crate) fn gave_whole(&self, has_taken: bool) {
        let refusals = self.refusals.load(Ordering::Relaxed);
        let refusals = if has_taken { 0 } else { refusals + 1 };
        self.refusals.store(refusals, Ordering::Relaxed);
    }

    fn bind(
        socket: Socket,
        address: SocketAddr,
        options: &UdpOptions,
    ) -> Result<Self, SocketError> {
        let failed = |source| SocketError::Bind { address, source };
        socket.bind(&address.into()).map_err(failed)?;
        let local = socket.local_addr().map_err(failed)?;
        let receive_buffer_bytes = socket
            .recv_buffer_size()
            .map_err(refused("SO_RCVBUF", address))?;
        let local = local.as_socket().unwrap_or(address);
        Ok(Self {
            socket,
            local,
            connections: options
                .connects
                .then(|| Connections::new(local.ip(), options.send_buffer_bytes)),
            receive_buffer_bytes,
            has_timestamps: options.receive_timestamps != ReceiveTimestamps::Off,
            takes_whole: AtomicBool::new(false),
            refuses_whole: AtomicBool::new(false),
            refusals: AtomicU32::new(0),
        })
    }
}

impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsRawFd for UdpSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

/// A socket with its options, before it is bound.
fn open(address: SocketAddr, options: &UdpOptions) -> Result<Socket, SocketError> {
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))
        .map_err(|source| SocketError::Open { source })?;
    ask_for_buffers(&socket, options).map_err(refused("SO_RCVBUF or SO_SNDBUF", address))?;
    if let Some(duration) = options.busy_poll {
        // More than the kernel's `int` holds is more than it can wait.
        let us = u32::try_from(duration.as_micros()).unwrap_or(u32::MAX);
        socket
            .set_busy_poll(us.min(i32::MAX as u32))
            .map_err(refused("SO_BUSY_POLL", address))?;
    }
    let software = TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE
        | TimestampingFlag::SOF_TIMESTAMPING_RX_SOFTWARE;
    let hardware = TimestampingFlag::SOF_TIMESTAMPING_RAW_HARDWARE
        | TimestampingFlag::SOF_TIMESTAMPING_RX_HARDWARE;
    let stamps = match options.receive_timestamps {
        ReceiveTimestamps::Off => None,
        ReceiveTimestamps::Software => Some(software),
        ReceiveTimestamps::Hardware => Some(software | hardware),
    };
    if let Some(stamps) = stamps {
        setsockopt(&socket, sockopt::Timestamping, &stamps)
            .map_err(|errno| refused("SO_TIMESTAMPING", address)(errno.into()))?;
    }
    match address {
        SocketAddr::V4(_) => {
            let ttl = u32::from(options.multicast_ttl);
            socket
                .set_multicast_ttl_v4(ttl)
                .map_err(refused("IP_MULTICAST_TTL", address))?;
            socket
                .set_multicast_loop_v4(options.multicast_loop)
                .map_err(refused("IP_MULTICAST_LOOP", address))?;
            if let Some(interface) = &options.multicast_interface {
                socket
                    .set_multicast_if_v4(&primary_ipv4(interface)?)
                    .map_err(refused("IP_MULTICAST_IF", address))?;
            }
        }
        SocketAddr::V6(_) => {
            let hops = u32::from(options.multicast_ttl);
            socket
                .set_multicast_hops_v6(hops)
                .map_err(refused("IPV6_MULTICAST_HOPS", address))?;
            socket
                .set_multicast_loop_v6(options.multicast_loop)
                .map_err(refused("IPV6_MULTICAST_LOOP", address))?;
            if let Some(interface) = &options.multicast_interface {
                socket
                    .set_multicast_if_v6(interface.index)
                    .map_err(refused("IPV6_MULTICAST_IF", address))?;
            }
        }
    }
    Ok(socket)
}

/// Refusals in a row after which nothing is given to the kernel as one any more.
const MAX_REFUSALS: u32 = 8;

/// Asks for the buffers; where the system's limit cuts the receive buffer short, tries to override it,
/// which takes CAP_NET_ADMIN.
fn ask_for_buffers(socket: &Socket, options: &UdpOptions) -> io::Result<()> {
    socket.set_recv_buffer_size(options.receive_buffer_bytes)?;
    socket.set_send_buffer_size(options.send_buffer_bytes)?;
    if socket.recv_buffer_size()? < options.receive_buffer_bytes {
        // Refused without the capability: the smaller buffer stands, and is reported.
        let _ = setsockopt(socket, sockopt::RcvBufForce, &options.receive_buffer_bytes);
    }
    Ok(())
}

fn primary_ipv4(interface: &Interface) -> Result<Ipv4Addr, SocketError> {
    let address = interface.ipv4.first().copied();
    address.ok_or_else(|| SocketError::NoAddress {
        interface: interface.name.clone(),
    })
}

fn refused(option: &'static str, address: SocketAddr) -> impl FnOnce(io::Error) -> SocketError {
    move |source| SocketError::Option {
        option,
        address,
        source,
    }
}
