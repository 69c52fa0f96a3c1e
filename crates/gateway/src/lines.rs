//! The lines of a feed: one socket each, drained into memory so that a slow moment downstream does
//! not overflow the kernel's small buffers. Knows nothing of what is in a packet.

use std::collections::VecDeque;
use std::net::SocketAddr;

use tickwire::Instant;
use tickwire_feed::Line;
use tickwire_transport::{
    Interface, Poller, ReceiveBatch, ReceiveError, SocketError, UdpOptions, UdpSocket, WaitError,
};

/// A packet that waits to be handled.
#[derive(Debug)]
pub struct Packet {
    /// The line that brought it.
    pub line: Line,
    /// What the datagram carried.
    pub bytes: Vec<u8>,
    /// Whether packets of some line found no room before it: [`FeedHandler::handle_loss`](crate::FeedHandler::handle_loss).
    pub after_loss: bool,
}

/// Receives the packets of one or two lines. Buffers are used again, so that it allocates only while
/// the backlog grows.
pub struct Lines {
    a: UdpSocket,
    b: Option<UdpSocket>,
    batch: ReceiveBatch,
    backlog: VecDeque<Packet>,
    free: Vec<Vec<u8>>,
    backlog_bytes: usize,
    overflowed: u64,
    /// Packets found no room since the last one that did.
    has_lost: bool,
}

impl Lines {
    /// Joins the group of each line on `interface`; an address that is no group is bound as it is.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn open(
        a: SocketAddr,
        b: Option<SocketAddr>,
        interface: &Interface,
    ) -> Result<Self, SocketError> {
        let options = UdpOptions {
            multicast_interface: Some(interface.clone()),
            ..UdpOptions::default()
        };
        let open = |address: SocketAddr| match address.ip().is_multicast() {
            true => UdpSocket::group(address, std::slice::from_ref(interface), &options),
            false => UdpSocket::unicast(address, &options),
        };
        Ok(Self {
            a: open(a)?,
            b: b.map(open).transpose()?,
            batch: ReceiveBatch::new(),
            backlog: VecDeque::new(),
            free: Vec::new(),
            backlog_bytes: 0,
            overflowed: 0,
            has_lost: false,
        })
    }

    /// Bytes of socket buffer that the kernel granted for line A.
    pub fn receive_buffer_bytes(&self) -> usize {
        self.a.receive_buffer_bytes()
    }

    /// Packets that found no room in the backlog: those beyond 256 MiB.
    pub fn overflowed(&self) -> u64 {
        self.overflowed
    }

    /// Waits until a line has packets or `deadline` passes.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn wait(&self, deadline: Option<Instant>) -> Result<(), WaitError> {
        let mut poller = Poller::new(&self.a).sockets(&self.b);
        poller.wait(deadline)?;
        Ok(())
    }

    /// Takes what the sockets hold into the backlog, without waiting. One system call a line if
    /// there is nothing.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn drain(&mut self) -> Result<(), ReceiveError> {
        let lines = [(Line::A, Some(&self.a)), (Line::B, self.b.as_ref())];
        for (line, socket) in lines {
            let Some(socket) = socket else { continue };
            while self.batch.receive(socket)? > 0 {
                for datagram in self.batch.iter() {
                    if self.backlog_bytes + datagram.bytes.len() > MAX_BACKLOG_BYTES {
                        self.overflowed += 1;
                        self.has_lost = true;
                        continue;
                    }
                    let mut bytes = self.free.pop().unwrap_or_default();
                    bytes.extend_from_slice(datagram.bytes);
                    self.backlog_bytes += bytes.len();
                    let after_loss = std::mem::take(&mut self.has_lost);
                    self.backlog.push_back(Packet {
                        line,
                        bytes,
                        after_loss,
                    });
                }
            }
        }
        Ok(())
    }

    /// The packet that has waited longest. Give it back with [`Self::recycle`].
    pub fn next_packet(&mut self) -> Option<Packet> {
        let packet = self.backlog.pop_front()?;
        self.backlog_bytes -= packet.bytes.len();
        Some(packet)
    }

    /// Takes a handled packet's memory back.
    pub fn recycle(&mut self, packet: Packet) {
        let mut bytes = packet.bytes;
        bytes.clear();
        if self.free.len() < MAX_FREE {
            self.free.push(bytes);
        }
    }
}

const MAX_BACKLOG_BYTES: usize = 256 << 20;
const MAX_FREE: usize = 4_096;
