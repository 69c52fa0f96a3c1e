//! Reading whole messages from many connections into one buffer.

use std::io;
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;

use nix::sys::epoll::{EpollEvent, EpollTimeout};
use tickwire_base::copy;

use super::connection::{Connection, Read};
use super::directory::Ended;
use super::frame::{Frames, Whole};
use super::incoming::{Long, Spares};
use super::net::TcpNet;
use crate::WaitError;
use crate::page_aligned::PageAligned;

/// The memory with which one thread at a time reads: 320 KiB, up to 8 MiB that long messages have had, and eight of these
/// that somebody may hold.
/// Connections keep only the beginnings of messages whose rest has not come.
pub struct TcpReceiver {
    pub(super) events: [EpollEvent; EVENTS],
    /// Connections that have something to read.
    pub(super) ready: Vec<Arc<Connection>>,
    /// The connection on which something came last.
    last: Option<u64>,
    /// How often in a row that one alone was looked at.
    looks: u32,
    buffer: PageAligned,
    /// A long message.
    long: Option<LongMessage>,
    /// Those that somebody still held when that was looked at.
    held: Vec<LongMessage>,
    /// Memory for others.
    spares: Spares,
}

/// The memory of a long message, more than 128 KiB, which has nothing else in it while somebody has a clone of this.
#[derive(Clone, Debug)]
pub struct LongMessage(Arc<PageAligned>);

impl Deref for LongMessage {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// What has come on one connection.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// Where the other side has its end of the connection.
    pub from: IpAddr,
    bytes: &'a [u8],
    long: Option<&'a LongMessage>,
}

impl<'a> Received<'a> {
    /// The messages, in order.
    pub fn messages(&self) -> Frames<'a> {
        Frames::of(self.bytes)
    }

    /// Where they lie, if that is one long message.
    pub fn memory(&self) -> Option<&'a LongMessage> {
        self.long
    }

    /// Whether there is none yet.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

impl TcpReceiver {
    /// Allocates the room.
    pub fn new() -> Self {
        Self {
            events: [EpollEvent::empty(); EVENTS],
            ready: Vec::with_capacity(EVENTS),
            last: None,
            looks: 0,
            buffer: PageAligned::new(BUFFER_BYTES),
            long: None,
            held: Vec::new(),
            spares: Spares::default(),
        }
    }

    /// Sleeps until data connections have something to read.
    ///
    /// # Errors
    /// When the system cannot wait.
    pub fn wait(&mut self, net: &TcpNet) -> Result<(), WaitError> {
        net.wait_for_data(self, EpollTimeout::NONE)
    }

    /// Asks, without sleeping, which data connections have something to read.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn ask(&mut self, net: &TcpNet) -> Result<(), WaitError> {
        net.wait_for_data(self, EpollTimeout::ZERO)
    }

    /// The same, for who looks again and again: mostly the one on which something came last is taken to
    /// have something, which spares asking.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn look(&mut self, net: &TcpNet) -> Result<(), WaitError> {
        self.looks += 1;
        if self.looks < LOOKS
            && let Some(last) = self.last.and_then(|last| net.connection(last))
        {
            self.ready.push(last);
            return Ok(());
        }
        self.looks = 0;
        self.ask(net)
    }

    /// Whether no connection is left that was found to have something to read.
    pub fn is_done(&self) -> bool {
        self.ready.is_empty()
    }

    /// What has come on the next connection that has something to read, by one system call; `None` if
    /// no connection is left. The end of a connection is a reception of nothing.
    pub fn next(&mut self, net: &TcpNet) -> Option<Received<'_>> {
        let connection = self.ready.pop()?;
        if let Some(long) = self.long.take() {
            self.held.push(long);
        }
        if !self.held.is_empty() {
            self.reclaim();
        }
        let len = self.read(&connection, net);
        let memory = match &self.long {
            Some(long) => long,
            None => &*self.buffer,
        };
        Some(Received {
            from: IpAddr::V4(*connection.from.ip()),
            bytes: memory.get(..len).unwrap_or_default(),
            long: self.long.as_ref(),
        })
    }

    /// Takes back what nobody holds any more, and leaves it to who lets go last if that is too much to look at.
    fn reclaim(&mut self) {
        let mut at = 0;
        while let Some(held) = self.held.get_mut(at) {
            match Arc::get_mut(&mut held.0).map(std::mem::take) {
                None => at += 1,
                Some(memory) => {
                    self.held.swap_remove(at);
                    self.spares.give(memory);
                }
            }
        }
        self.held.truncate(MAX_HELD);
    }

    /// Reads from a connection; how many bytes at the beginning of the buffer are whole messages, or of
    /// the memory for a long one.
    fn read(&mut self, connection: &Connection, net: &TcpNet) -> usize {
        let mut long = PageAligned::default();
        let len = match connection.read(&mut self.buffer, &mut long) {
            Ok(Read::Some(len)) => len,
            Ok(Read::Long(len)) => {
                self.last = Some(connection.id);
                self.long = Some(LongMessage(Arc::new(long)));
                return len;
            }
            Ok(Read::Nothing) => {
                self.last = Some(connection.id);
                return 0;
            }
            Ok(Read::End) => return self.end(connection, Ended::Eof, net),
            Ok(Read::NoRoom) => {
                net.count_oversized();
                return self.end(connection, Ended::Broken, net);
            }
            Err(error) => {
                let is_nothing = [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted];
                return match is_nothing.contains(&error.kind()) {
                    true => 0,
                    false => self.end(connection, Ended::Broken, net),
                };
            }
        };
        self.last = Some(connection.id);
        let bytes = self.buffer.get(..len).unwrap_or_default();
        let whole = Whole::of(bytes, net.max_message_len());
        let rest = bytes.get(whole.len..).unwrap_or_default();
        let rest_len = rest.len();
        let mut is_kept = !whole.is_broken;
        if is_kept && Long::is_needed(rest) {
            let memory = self.memory_of(whole.len, rest_len);
            is_kept = connection.keep_long(memory, rest_len, net.shared());
        } else if is_kept {
            connection.keep(rest);
        }
        if !is_kept {
            net.count_oversized();
            self.end(connection, Ended::Broken, net);
        }
        whole.len
    }

    /// Memory that begins with the `len` bytes which are at `at` in the buffer: the buffer itself, if they fill
    /// most of it, and nothing else is in it.
    fn memory_of(&mut self, at: usize, len: usize) -> PageAligned {
        if at == 0 && len >= BUFFER_BYTES / 2 {
            let memory = self.spares.take(BUFFER_BYTES);
            return std::mem::replace(&mut self.buffer, memory);
        }
        let mut memory = self.spares.take(len);
        let beginning = self.buffer.get(at..at + len).unwrap_or_default();
        if let Some(place) = memory.get_mut(..len) {
            copy::copy(beginning, place);
        }
        memory
    }

    /// Nothing is read from a connection any more.
    fn end(&mut self, connection: &Connection, how: Ended, net: &TcpNet) -> usize {
        self.last = None;
        net.ended(connection, how);
        0
    }
}

impl Default for TcpReceiver {
    fn default() -> Self {
        Self::new()
    }
}

/// How often one connection is looked at before it is everybody's turn.
const LOOKS: u32 = 8;
/// Long messages that are looked at again and again until nobody holds them.
const MAX_HELD: usize = 8;
/// Connections that one wait can tell of.
const EVENTS: usize = 32;
/// The beginning of the longest message that is short, and as much again. A buffer may have more.
const BUFFER_BYTES: usize = 320 << 10;
