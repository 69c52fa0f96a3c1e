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
    backlog: Backlog,
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
            backlog: Backlog::new(MAX_BACKLOG_BYTES),
        })
    }

    /// Bytes of socket buffer that the kernel granted for line A.
    pub fn receive_buffer_bytes(&self) -> usize {
        self.a.receive_buffer_bytes()
    }

    /// Whether there are two lines.
    pub fn are_two(&self) -> bool {
        self.b.is_some()
    }

    /// Packets that found no room in the backlog: those beyond 256 MiB.
    pub fn overflowed(&self) -> u64 {
        self.backlog.overflowed
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
                    self.backlog.push(line, datagram.bytes);
                }
            }
        }
        Ok(())
    }

    /// The packet that has waited longest. Give it back with [`Self::recycle`].
    pub fn next_packet(&mut self) -> Option<Packet> {
        self.backlog.pop()
    }

    /// Takes a handled packet's memory back.
    pub fn recycle(&mut self, packet: Packet) {
        self.backlog.recycle(packet.bytes);
    }
}

/// Packets that wait, in order.
struct Backlog {
    packets: VecDeque<Packet>,
    free: Vec<Vec<u8>>,
    bytes: usize,
    max_bytes: usize,
    overflowed: u64,
    /// Packets found no room since the last one that did.
    has_lost: bool,
}

impl Backlog {
    fn new(max_bytes: usize) -> Self {
        Self {
            packets: VecDeque::new(),
            free: Vec::new(),
            bytes: 0,
            max_bytes,
            overflowed: 0,
            has_lost: false,
        }
    }

    fn push(&mut self, line: Line, datagram: &[u8]) {
        if self.bytes + datagram.len() > self.max_bytes {
            self.overflowed += 1;
            self.has_lost = true;
            return;
        }
        let mut bytes = self.free.pop().unwrap_or_default();
        bytes.extend_from_slice(datagram);
        self.bytes += bytes.len();
        let after_loss = std::mem::take(&mut self.has_lost);
        self.packets.push_back(Packet {
            line,
            bytes,
            after_loss,
        });
    }

    fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= packet.bytes.len();
        Some(packet)
    }

    fn recycle(&mut self, mut bytes: Vec<u8>) {
        bytes.clear();
        if self.free.len() < MAX_FREE {
            self.free.push(bytes);
        }
    }
}

const MAX_BACKLOG_BYTES: usize = 256 << 20;
const MAX_FREE: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packet_after_those_that_found_no_room_says_so() {
        let mut backlog = Backlog::new(10);
        for packet in [&b"12345"[..], b"6789", b"too long", b"x too", b"0"] {
            backlog.push(Line::A, packet);
        }
        assert_eq!(backlog.overflowed, 2);
        let popped = |backlog: &mut Backlog| {
            let packet = backlog.pop().expect("one waits");
            let told = (packet.bytes.clone(), packet.after_loss);
            backlog.recycle(packet.bytes);
            told
        };
        assert_eq!(popped(&mut backlog), (b"12345".to_vec(), false));
        backlog.push(Line::A, b"abcde");
        let expected = [(&b"6789"[..], false), (b"0", true), (b"abcde", false)];
        for (bytes, after_loss) in expected {
            assert_eq!(popped(&mut backlog), (bytes.to_vec(), after_loss));
        }
        assert!(backlog.pop().is_none() && backlog.bytes == 0);
    }
}
