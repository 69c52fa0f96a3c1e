//! TCP sockets with their options. Knows nothing of what is sent.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, TcpKeepalive, Type};

use crate::SocketError;

/// A socket that listens at the first of `ports` that is free, and its port; `None` if all are taken.
pub(super) fn listen(bound: Ipv4Addr, ports: &[u16]) -> Result<Option<(Socket, u16)>, SocketError> {
    for &port in ports {
        let address = SocketAddrV4::new(bound, port);
        let failed = |source| SocketError::Listen { address, source };
        let socket = open().map_err(|source| SocketError::OpenStream { source })?;
        // Else a port is not free for a minute after somebody was connected to it.
        socket.set_reuse_address(true).map_err(failed)?;
        let listening = socket
            .bind(&address.into())
            .and_then(|()| socket.listen(BACKLOG));
        match listening {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => continue,
            listening => listening.map_err(failed)?,
        }
        let local = socket.local_addr().map_err(failed)?;
        let port = local.as_socket_ipv4().map_or(port, |local| local.port());
        return Ok(Some((socket, port)));
    }
    Ok(None)
}

/// Begins to connect; the socket can be written to when that is done.
pub(super) fn connect(
    bound: Ipv4Addr,
    to: SocketAddrV4,
    loss_timeout: Duration,
) -> io::Result<Socket> {
    let socket = open()?;
    prepare(&socket, loss_timeout)?;
    if bound.is_loopback() {
        // From here no route leads off this machine.
        socket.bind(&SocketAddrV4::new(bound, 0).into())?;
    }
    match socket.connect(&to.into()) {
        Err(error) if error.raw_os_error() != Some(nix::errno::Errno::EINPROGRESS as i32) => {
            Err(error)
        }
        _ => Ok(socket),
    }
}

/// The next connection that waits, and where it comes from; `None` if there is none.
pub(super) fn accept(
    listener: &Socket,
    loss_timeout: Duration,
) -> io::Result<Option<(Socket, SocketAddrV4)>> {
    loop {
        match listener.accept() {
            Ok((socket, from)) => {
                // One that has gone already is as good as none.
                let ready = prepare(&socket, loss_timeout);
                if let (Ok(()), Some(from)) = (ready, from.as_socket_ipv4()) {
                    return Ok(Some((socket, from)));
                }
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => return Ok(None),
                io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                _ => return Err(error),
            },
        }
    }
}

/// Two sockets that are connected to each other, as streams are.
pub(super) fn pair() -> io::Result<[Socket; 2]> {
    let (one, other) = Socket::pair(Domain::UNIX, Type::STREAM, None)?;
    one.set_nonblocking(true)?;
    other.set_nonblocking(true)?;
    Ok([one, other])
}

fn open() -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Small messages leave at once, and the kernel notices when the other machine is gone: by what it does
/// not acknowledge, or does not answer where nothing is sent.
fn prepare(socket: &Socket, loss_timeout: Duration) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    socket.set_tcp_nodelay(true)?;
    socket.set_tcp_user_timeout(Some(loss_timeout))?;
    let probe = (loss_timeout / 3).max(Duration::from_secs(1));
    let keepalive = TcpKeepalive::new()
        .with_time(probe)
        .with_interval(probe)
        .with_retries(2);
    socket.set_tcp_keepalive(&keepalive)
}

/// Connections that the kernel accepts before we do.
const BACKLOG: i32 = 128;
