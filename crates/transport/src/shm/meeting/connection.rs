//! A connection between two participants: messages with descriptors, never waiting.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::sys::socket::{getsockopt, sockopt};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
    accept_with, bind, connect, listen, recvmsg, sendmsg, socket_with,
};
use rustix::process::geteuid;

use super::Process;
use super::message::{MAX_LEN, Message};

/// A connection to another process of the same user.
#[derive(Debug)]
pub(super) struct Connection {
    socket: OwnedFd,
    /// The process that has made the other end, or listens for it; 0 if it cannot be seen.
    pid: i32,
}

/// Why there is no connection.
#[derive(Debug)]
pub(super) enum ConnectFailure {
    OtherUser,
    Kernel(io::Error),
}

impl From<Errno> for ConnectFailure {
    fn from(errno: Errno) -> Self {
        Self::Kernel(errno.into())
    }
}

/// What came.
#[derive(Debug)]
pub(super) enum Arrival {
    Message(Message, Vec<OwnedFd>),
    /// What is no message, or has more descriptors than any has.
    Malformed,
    Nothing,
    /// The other side is gone.
    End,
}

impl Connection {
    pub(super) fn connect(address: &SocketAddrUnix) -> Result<Self, ConnectFailure> {
        let socket = open()?;
        connect(&socket, address)?;
        Self::checked(socket)
    }

    /// `Nothing` waits if the kernel says so.
    pub(super) fn accept(listener: &OwnedFd) -> Result<Self, ConnectFailure> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        Self::checked(accept_with(listener, flags)?)
    }

    /// Who is another user's is let go of.
    fn checked(socket: OwnedFd) -> Result<Self, ConnectFailure> {
        let peer = getsockopt(&socket, sockopt::PeerCredentials);
        let peer = peer.map_err(|errno| ConnectFailure::Kernel(errno.into()))?;
        match peer.uid() == geteuid().as_raw() {
            true => Ok(Self {
                socket,
                pid: peer.pid(),
            }),
            false => Err(ConnectFailure::OtherUser),
        }
    }

    /// The process at the other end.
    pub(super) fn process(&self) -> Process {
        Process::of(self.pid)
    }

    pub(super) fn send(&self, message: &Message, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let bytes = message.encode();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(fds));
        }
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        sendmsg(&self.socket, &[IoSlice::new(&bytes)], &mut control, flags)?;
        Ok(())
    }

    pub(super) fn receive(&self) -> Arrival {
        let mut bytes = [0; MAX_LEN + 1];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let mut slices = [IoSliceMut::new(&mut bytes)];
        let received = match recvmsg(&self.socket, &mut slices, &mut control, flags) {
            Ok(received) => received,
            Err(Errno::AGAIN | Errno::INTR) => return Arrival::Nothing,
            Err(_) => return Arrival::End,
        };
        let mut fds = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                fds.extend(rights);
            }
        }
        let cut = ReturnFlags::CTRUNC | ReturnFlags::TRUNC;
        match bytes.get(..received.bytes) {
            // Every message has a header.
            Some([]) => Arrival::End,
            Some(bytes) if !received.flags.intersects(cut) => match Message::decode(bytes) {
                Some(message) => Arrival::Message(message, fds),
                None => Arrival::Malformed,
            },
            _ => Arrival::Malformed,
        }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A socket that others may connect to by its address.
pub(super) fn listener(address: &SocketAddrUnix) -> Result<OwnedFd, Errno> {
    let socket = open()?;
    bind(&socket, address)?;
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

fn open() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
}

const BACKLOG: i32 = 128;
/// Descriptors of a message.
const MAX_DESCRIPTORS: usize = 5;
