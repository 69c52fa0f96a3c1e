//! One connection on which both sides have said who they are. Does not know the others.

use std::collections::VecDeque;
use std::io::{self, IoSlice, Read as _};
use std::net::{Shutdown, SocketAddrV4};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};
use nix::sys::socket::MsgFlags;
use socket2::Socket;
use tickwire_base::{Channel, Instant, Pieces, copy};

use super::frame::{HEADER_LEN, header};
use super::incoming::{Incoming, Long, Progress};
use super::net::lock;
use super::options::Counters;
use super::{Owner, TcpOptions};
use crate::page_aligned::PageAligned;

/// What all connections share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) options: TcpOptions,
    /// What the control connections, those that are being made and the listener have to read, and
    /// which of all can be written to again.
    pub(super) control: Epoll,
    /// What the data connections have to read.
    pub(super) data: Epoll,
    pub(super) queued_bytes: AtomicUsize,
    pub(super) incomplete_bytes: Arc<AtomicUsize>,
    pub(super) counters: Counters,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: u64,
    pub(super) owner: Owner,
    pub(super) channel: Channel,
    pub(super) from: SocketAddrV4,
    /// Whether this side made it.
    pub(super) is_dialled: bool,
    pub(super) opened_at: Instant,
    /// Whether anything was sent to the other side.
    pub(super) is_used: AtomicBool,
    socket: Socket,
    outgoing: Mutex<Outgoing>,
    /// The beginning of a frame of which the rest has not come.
    incoming: Mutex<Incoming>,
}

/// What waits to be sent. Held while a call of the kernel takes some, which does not wait: frames of
/// several threads must not mix.
#[derive(Debug, Default)]
struct Outgoing {
    queue: VecDeque<u8>,
    /// Another connection has taken over.
    is_retired: bool,
    /// The control epoll tells when there is room again.
    is_watched: bool,
    /// The other side sends nothing more.
    is_deaf: bool,
}

/// What has become of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// They are sent, queued, or dropped and counted.
    Taken,
    /// Another connection has taken over.
    Retired,
    /// The connection is lost.
    Broken,
}

/// What reading has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// As many bytes are at the beginning of the buffer.
    Some(usize),
    /// A frame of as many bytes has memory of its own.
    Long(usize),
    /// More has come of a long frame, or nothing.
    Nothing,
    /// The end of the stream.
    End,
    /// There is no memory for the rest of a long frame.
    NoRoom,
}

/// What a connection's queue has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flushed {
    Empty,
    Waiting,
    Broken,
}

/// Messages that one call of the kernel takes at most.
pub(super) const RUN: usize = 16;

impl Connection {
    /// Takes over a socket that waits in the control epoll, under the same id.
    pub(super) fn new(
        id: u64,
        socket: Socket,
        (owner, channel): (Owner, Channel),
        (from, is_dialled): (SocketAddrV4, bool),
        now: Instant,
        shared: &Shared,
    ) -> nix::Result<Self> {
        match channel {
            Channel::Control => {
                let mut event = EpollEvent::new(EpollFlags::EPOLLIN, id);
                shared.control.modify(&socket, &mut event)?;
            }
            Channel::Data => {
                shared.control.delete(&socket)?;
                let event = EpollEvent::new(EpollFlags::EPOLLIN, id);
                shared.data.add(&socket, event)?;
            }
        }
        Ok(Self {
            id,
            owner,
            channel,
            from,
            is_dialled,
            opened_at: now,
            is_used: AtomicBool::new(false),
            socket,
            outgoing: Mutex::default(),
            incoming: Mutex::default(),
        })
    }

    /// Sends messages, [`RUN`] at most. One system call if the kernel has room.
    pub(super) fn send(&self, messages: &[Pieces<'_>], shared: &Shared) -> Sent {
        self.is_used.store(true, Ordering::Relaxed);
        let mut outgoing = lock(&self.outgoing);
        if outgoing.is_retired {
            return Sent::Retired;
        }
        let mut written = 0;
        if outgoing.queue.is_empty() {
            written = match self.write(messages) {
                Ok(written) => written,
                Err(error) if is_full(&error) => 0,
                Err(_) => return Sent::Broken,
            };
        }
        for message in messages {
            let frame_len = HEADER_LEN + message.len();
            if written >= frame_len {
                written -= frame_len;
                continue;
            }
            // What has begun must go on.
            if written > 0 || outgoing.has_room(frame_len, shared) {
                outgoing.push(message, written, shared);
            } else {
                shared.counters.dropped.add(1);
            }
            written = 0;
        }
        if !outgoing.queue.is_empty() && !outgoing.is_watched {
            outgoing.is_watched = true;
            outgoing.is_watched = self.follow(&outgoing, false, shared).is_ok();
        }
        Sent::Taken
    }

    fn write(&self, messages: &[Pieces<'_>]) -> io::Result<usize> {
        let mut headers = [[0; HEADER_LEN]; RUN];
        for (place, message) in headers.iter_mut().zip(messages) {
            *place = header(message.len()).unwrap_or_default();
        }
        let mut slices = [IoSlice::new(&[]); 4 * RUN];
        let mut count = 0;
        for (header, message) in headers.iter().zip(messages) {
            for slice in [&header[..]].into_iter().chain(message.in_order()) {
                if let Some(place) = slices.get_mut(count).filter(|_| !slice.is_empty()) {
                    *place = IoSlice::new(slice);
                    count += 1;
                }
            }
        }
        self.write_slices(slices.get(..count).unwrap_or_default())
    }

    fn write_slices(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
        self.socket.send_vectored_with_flags(slices, flags.bits())
    }

    /// Sends what waits, as far as the kernel has room.
    pub(super) fn flush(&self, shared: &Shared) -> Flushed {
        let mut outgoing = lock(&self.outgoing);
        while !outgoing.queue.is_empty() {
            let (first, second) = outgoing.queue.as_slices();
            match self.write_slices(&[IoSlice::new(first), IoSlice::new(second)]) {
                Ok(written) => outgoing.pop(written, shared),
                Err(error) if is_full(&error) => return Flushed::Waiting,
                Err(_) => return Flushed::Broken,
            }
        }
        if outgoing.queue.capacity() > MAX_IDLE_QUEUE {
            outgoing.queue = VecDeque::new();
        }
        if std::mem::take(&mut outgoing.is_watched) {
            // Where that is refused, the control epoll tells once more for nothing.
            let _ = self.follow(&outgoing, true, shared);
        }
        if outgoing.is_retired {
            let _ = self.socket.shutdown(Shutdown::Write);
        }
        Flushed::Empty
    }

    /// Sends nothing new from now on; says so to the other side once all that waits is sent.
    pub(super) fn retire(&self, shared: &Shared) -> Flushed {
        lock(&self.outgoing).is_retired = true;
        self.flush(shared)
    }

    /// Has the epolls tell what the connection waits for.
    fn follow(&self, outgoing: &Outgoing, before: bool, shared: &Shared) -> nix::Result<()> {
        let mut flags = EpollFlags::empty();
        flags.set(EpollFlags::EPOLLOUT, outgoing.is_watched);
        match (self.channel, before, outgoing.is_watched) {
            (Channel::Control, ..) => {
                // An end that is known is not told again and again.
                flags.set(EpollFlags::EPOLLIN, !outgoing.is_deaf);
                flags.set(EpollFlags::EPOLLET, outgoing.is_deaf);
                let mut event = EpollEvent::new(flags, self.id);
                shared.control.modify(&self.socket, &mut event)
            }
            (Channel::Data, false, true) => {
                let event = EpollEvent::new(flags, self.id);
                shared.control.add(&self.socket, event)
            }
            (Channel::Data, true, false) => shared.control.delete(&self.socket),
            (Channel::Data, ..) => Ok(()),
        }
    }

    /// Reads what has come behind what came before: to the beginning of `buffer`, or a long frame to
    /// memory of its own, which takes the place of `whole` when it is.
    pub(super) fn read(&self, buffer: &mut [u8], whole: &mut PageAligned) -> io::Result<Read> {
        let mut incoming = lock(&self.incoming);
        let long = match std::mem::take(&mut *incoming) {
            Incoming::Long(long) => long,
            Incoming::Short(kept) => {
                let (head, rest) = buffer
                    .split_at_mut_checked(kept.len())
                    .ok_or(io::ErrorKind::InvalidData)?;
                copy::copy(&kept, head);
                let before = kept.len();
                *incoming = Incoming::Short(kept);
                drop(incoming);
                return Ok(match (&self.socket).read(rest)? {
                    0 => Read::End,
                    len => Read::Some(before + len),
                });
            }
        };
        drop(incoming);
        let frame_len = long.frame_len();
        let (progress, read) = long.read_on(|room| (&self.socket).read(room));
        match progress {
            Progress::Begun(long) => *lock(&self.incoming) = Incoming::Long(long),
            Progress::Whole(bytes) => {
                *whole = bytes;
                return Ok(Read::Long(frame_len));
            }
            Progress::End => return Ok(Read::End),
            Progress::NoRoom => return Ok(Read::NoRoom),
        }
        read.map(|()| Read::Nothing)
    }

    /// Whether a frame has begun of which the rest has not come.
    pub(super) fn has_begun_frame(&self) -> bool {
        match &*lock(&self.incoming) {
            Incoming::Short(kept) => !kept.is_empty(),
            Incoming::Long(_) => true,
        }
    }

    /// Keeps the beginning of a frame for the next [`read`](Self::read).
    pub(super) fn keep(&self, beginning: &[u8]) {
        if let Incoming::Short(kept) = &mut *lock(&self.incoming) {
            kept.clear();
            copy::append(kept, beginning);
        }
    }

    /// Goes on with a long frame, of which the first `len` bytes of `memory` have come; false if there is no
    /// room for it.
    pub(super) fn keep_long(&self, memory: PageAligned, len: usize, shared: &Shared) -> bool {
        let max = shared.options.max_incomplete_bytes_in_all;
        let long = Long::begin(memory, len, &shared.incomplete_bytes, max);
        let has_room = long.is_some();
        *lock(&self.incoming) = long.map_or_else(Incoming::default, Incoming::Long);
        has_room
    }

    /// Is told of nothing more to read.
    pub(super) fn ignore(&self, shared: &Shared) {
        let mut outgoing = lock(&self.outgoing);
        outgoing.is_deaf = true;
        // Where that is refused, it is told again, and ignored again.
        let _ = match self.channel {
            Channel::Data => shared.data.delete(&self.socket),
            Channel::Control => self.follow(&outgoing, outgoing.is_watched, shared),
        };
    }

    /// Ends it, whoever still holds it.
    pub(super) fn close(&self, shared: &Shared) {
        let mut outgoing = lock(&self.outgoing);
        outgoing.is_retired = true;
        let left = outgoing.queue.len();
        outgoing.pop(left, shared);
        outgoing.queue = VecDeque::new();
        // Where it is not watched, there is nothing to delete.
        let _ = shared.control.delete(&self.socket);
        let _ = shared.data.delete(&self.socket);
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

impl Outgoing {
    fn has_room(&self, len: usize, shared: &Shared) -> bool {
        let in_all = shared.queued_bytes.load(Ordering::Relaxed);
        self.queue.len().saturating_add(len) <= shared.options.max_queued_bytes
            && in_all.saturating_add(len) <= shared.options.max_queued_bytes_in_all
    }

    /// Queues a frame but for its first bytes, which are sent.
    fn push(&mut self, message: &Pieces<'_>, mut sent: usize, shared: &Shared) {
        let before = self.queue.len();
        let header = header(message.len()).unwrap_or_default();
        for bytes in [&header[..]].into_iter().chain(message.in_order()) {
            let rest = bytes.get(sent..).unwrap_or_default();
            sent = sent.saturating_sub(bytes.len());
            // In pieces for the reason that `copy` has.
            let pieces = rest.chunks(copy::PIECE);
            pieces.for_each(|piece| self.queue.extend(piece));
        }
        let more = self.queue.len() - before;
        shared.queued_bytes.fetch_add(more, Ordering::Relaxed);
    }

    fn pop(&mut self, len: usize, shared: &Shared) {
        let len = len.min(self.queue.len());
        self.queue.drain(..len);
        shared.queued_bytes.fetch_sub(len, Ordering::Relaxed);
    }
}

fn is_full(error: &io::Error) -> bool {
    let errno = error.raw_os_error();
    error.kind() == io::ErrorKind::WouldBlock || errno == Some(Errno::ENOBUFS as i32)
}

/// What an empty queue keeps for the next time.
const MAX_IDLE_QUEUE: usize = 64 << 10;
