//! Bare sockets between the one who pings and its responders. Knows neither pings nor times.

use std::fmt;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use nix::sys::socket::{setsockopt, sockopt};

use super::bytes::Wait;
use crate::failure::{Failure, Result};

/// What is beneath the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    Udp,
    Tcp,
}

impl Wire {
    /// The command of its responder.
    pub(super) fn command(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
        }
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Udp => "UDP",
            Self::Tcp => "TCP",
        })
    }
}

/// The pinging side's sockets.
pub(super) enum Bare {
    Udp(Datagrams, Vec<SocketAddr>),
    /// One for each responder, of which the next one's turn it is to be read.
    Tcp(Vec<Stream>, usize),
}

impl Bare {
    /// Who blocks waits for `patience`.
    pub(super) fn connect(
        wire: Wire,
        responders: Vec<SocketAddr>,
        wait: Wait,
        patience: Duration,
    ) -> Result<Self> {
        let patience = (wait == Wait::Block).then_some(patience);
        if wire == Wire::Udp {
            let mut datagrams = Datagrams::bind(wait)?;
            let socket = &datagrams.socket;
            socket.set_read_timeout(patience).map_err(failed)?;
            if let [only] = responders[..] {
                datagrams.connect(only).map_err(failed)?;
            }
            return Ok(Self::Udp(datagrams, responders));
        }
        let streams = responders.into_iter().map(|address| {
            let socket = TcpStream::connect(address).map_err(failed)?;
            socket.set_read_timeout(patience).map_err(failed)?;
            Stream::new(socket, wait)
        });
        Ok(Self::Tcp(streams.collect::<Result<_>>()?, 0))
    }

    /// Sends a message to all responders.
    pub(super) fn send(&mut self, message: &[u8]) -> io::Result<()> {
        match self {
            Self::Udp(datagrams, addresses) => addresses
                .iter()
                .try_for_each(|&address| datagrams.send(message, address)),
            Self::Tcp(streams, _) => streams
                .iter_mut()
                .try_for_each(|stream| stream.send(message)),
        }
    }

    /// The next answer; `None` if there is none yet, or none has come for as long as is waited.
    pub(super) fn receive(&mut self) -> io::Result<Option<&[u8]>> {
        match self {
            Self::Udp(datagrams, _) => Ok(datagrams.receive()?.map(|(answer, _)| answer)),
            Self::Tcp(streams, next) => {
                let count = streams.len().max(1);
                let Some(stream) = streams.get_mut(*next) else {
                    return Ok(None);
                };
                let received = stream.receive()?;
                // Each answers each ping once, and the trip ends with the last answer.
                *next = (*next + usize::from(received.is_some())) % count;
                Ok(received)
            }
        }
    }

    /// Whether what is sent may not come.
    pub(super) fn may_lose(&self) -> bool {
        matches!(self, Self::Udp(..))
    }

    pub(super) fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Udp(datagrams, addresses) => {
                let mut other = Datagrams::of(datagrams.socket.try_clone()?);
                other.peer = datagrams.peer;
                Self::Udp(other, addresses.clone())
            }
            Self::Tcp(streams, next) => {
                let streams = streams.iter().map(Stream::try_clone);
                Self::Tcp(streams.collect::<io::Result<_>>()?, *next)
            }
        })
    }
}

/// A UDP socket, and room for what comes. Connected to the only one at the other side, if there is one: then the kernel looks
/// for no way with each datagram, as it does not for Tickwire's.
pub(super) struct Datagrams {
    pub(super) socket: UdpSocket,
    pub(super) peer: Option<SocketAddr>,
    room: Room,
}

impl Datagrams {
    /// At a port of its own.
    pub(super) fn bind(wait: Wait) -> Result<Self> {
        let socket = UdpSocket::bind("127.0.0.1:0").map_err(failed)?;
        // As much as the system allows: its default has no room for three answers of 64 KB.
        setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BUFFER)
            .map_err(|error| failed(error.into()))?;
        let polls = wait == Wait::Poll;
        socket.set_nonblocking(polls).map_err(failed)?;
        Ok(Self::of(socket))
    }

    pub(super) fn of(socket: UdpSocket) -> Self {
        Self {
            socket,
            peer: None,
            room: Room::new(),
        }
    }

    pub(super) fn connect(&mut self, peer: SocketAddr) -> io::Result<()> {
        self.socket.connect(peer)?;
        self.peer = Some(peer);
        Ok(())
    }

    pub(super) fn send(&self, message: &[u8], to: SocketAddr) -> io::Result<()> {
        let sent = match self.peer {
            Some(_) => self.socket.send(message),
            None => self.socket.send_to(message, to),
        };
        unless_nothing(sent).map(drop)
    }

    /// The next datagram, and where it comes from.
    pub(super) fn receive(&mut self) -> io::Result<Option<(&[u8], SocketAddr)>> {
        let room = &mut *self.room;
        let received = unless_nothing(match self.peer {
            Some(peer) => self.socket.recv(room).map(|len| (len, peer)),
            None => self.socket.recv_from(room),
        })?;
        let bytes = |len| self.room.get(..len).unwrap_or_default();
        Ok(received.map(|(len, from)| (bytes(len), from)))
    }
}

/// Memory that begins a page. What an allocator gives of such a length begins 16 bytes behind one, where the kernel's copy may
/// take three times as long (on AMD's Zen 3).
struct Room {
    bytes: Box<[u8]>,
    begin: usize,
}

impl Room {
    fn new() -> Self {
        let bytes = vec![0; ROOM + PAGE].into_boxed_slice();
        let begin = bytes.as_ptr().align_offset(PAGE).min(PAGE);
        Self { bytes, begin }
    }
}

impl Deref for Room {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.begin..][..ROOM]
    }
}

impl DerefMut for Room {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.begin..][..ROOM]
    }
}

/// A TCP connection whose messages are behind their length, 32 bits big endian.
pub(super) struct Stream {
    pub(super) socket: TcpStream,
    /// What has come: messages that were taken, those that were not, and room.
    buffer: Room,
    taken: usize,
    filled: usize,
}

impl Stream {
    pub(super) fn new(socket: TcpStream, wait: Wait) -> Result<Self> {
        let polls = wait == Wait::Poll;
        socket.set_nodelay(true).map_err(failed)?;
        socket.set_nonblocking(polls).map_err(failed)?;
        Ok(Self::of(socket))
    }

    fn of(socket: TcpStream) -> Self {
        Self {
            socket,
            buffer: Room::new(),
            taken: 0,
            filled: 0,
        }
    }

    /// One call of the system, if it has room.
    pub(super) fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let len = u32::try_from(message.len()).map_err(|_| ErrorKind::InvalidInput)?;
        let header = len.to_be_bytes();
        let mut frame = [IoSlice::new(&header), IoSlice::new(message)];
        let mut rest = &mut frame[..];
        while !rest.is_empty() {
            if let Some(len) = unless_nothing(self.socket.write_vectored(rest))? {
                IoSlice::advance_slices(&mut rest, len);
            }
        }
        Ok(())
    }

    /// The next message; `None` if it has not all come.
    pub(super) fn receive(&mut self) -> io::Result<Option<&[u8]>> {
        while self.next_len().is_none() {
            // A message that has begun must have room.
            self.buffer.copy_within(self.taken..self.filled, 0);
            self.filled -= std::mem::take(&mut self.taken);
            let room = self.buffer.get_mut(self.filled..).unwrap_or_default();
            match unless_nothing(self.socket.read(room))? {
                Some(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Some(len) => self.filled += len,
                None => return Ok(None),
            }
        }
        let begin = self.taken + HEADER_LEN;
        let end = begin + self.next_len().unwrap_or_default();
        self.taken = end;
        Ok(self.buffer.get(begin..end))
    }

    /// How long the next message is, if it has all come.
    fn next_len(&self) -> Option<usize> {
        let bytes = self.buffer.get(self.taken..self.filled)?;
        let (header, rest) = bytes.split_first_chunk::<HEADER_LEN>()?;
        let len = usize::try_from(u32::from_be_bytes(*header)).ok()?;
        (rest.len() >= len).then_some(len)
    }

    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self::of(self.socket.try_clone()?))
    }
}

/// `None` where there is nothing yet, or nothing has come in time.
fn unless_nothing<R>(result: io::Result<R>) -> io::Result<Option<R>> {
    match result {
        Ok(result) => Ok(Some(result)),
        Err(error) => match error.kind() {
            // Who is connected hears of it that nobody is at the other side.
            ErrorKind::WouldBlock
            | ErrorKind::TimedOut
            | ErrorKind::Interrupted
            | ErrorKind::ConnectionRefused => Ok(None),
            _ => Err(error),
        },
    }
}

fn failed(error: io::Error) -> Failure {
    Failure::new(format_args!("bare sockets on 127.0.0.1: {error}"))
}

/// Bytes for what has come by UDP.
const RECEIVE_BUFFER: usize = 4 << 20;
/// What goes before a message by TCP.
const HEADER_LEN: usize = 4;
/// What one call reads at most.
const ROOM: usize = 128 << 10;
const PAGE: usize = 4096;
