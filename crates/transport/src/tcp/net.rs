//! All connections of a participant.

use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use tickwire_base::{Channel, Instant, Pieces, StreamAddress};

use super::book::Book;
use super::connection::{Connection, Flushed, RUN, Sent, Shared};
use super::dial::Target;
use super::directory::{Directory, Ended};
use super::options::Counters;
use super::receiver::TcpReceiver;
use super::{TcpCounts, TcpOptions, socket};
use crate::{SocketError, WaitError, Waker, poller};

/// The connections of a participant to all others.
///
/// Whoever waits for discovery calls [`turn`](Self::turn) when [`as_fd`](AsFd::as_fd) can be read and
/// when [`poll_timeout`](Self::poll_timeout) says so; whoever waits for samples calls
/// [`TcpReceiver::wait`]. Anybody sends.
#[derive(Debug)]
pub struct TcpNet {
    shared: Shared,
    port: Option<u16>,
    /// Makes the control epoll readable.
    nudge: Waker,
    /// Makes the data epoll readable: once, or for ever when receiving has ended.
    interrupter: Waker,
    has_ended: AtomicBool,
    directory: Mutex<Directory>,
    book: Mutex<Book>,
    due_ns: AtomicU64,
}

/// What has come of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turned {
    /// How many participants this side has connected to since the last turn: they may not know us.
    pub connected: u32,
}

impl TcpNet {
    /// Listens, where options say so, and connects to nobody yet.
    ///
    /// # Errors
    /// When none of the ports is free, or the system has no descriptors to give.
    pub fn new(options: TcpOptions) -> Result<Self, SocketError> {
        let opened = |errno: Errno| SocketError::OpenStream {
            source: errno.into(),
        };
        let waker = || {
            let failed = |WaitError { source }| SocketError::OpenStream { source };
            Waker::new().map_err(failed)
        };
        let listening = match options.ports.as_slice() {
            [] => None,
            ports => match socket::listen(options.bound, ports)? {
                Some(listening) => Some(listening),
                None => {
                    let port = ports.first().copied().unwrap_or_default();
                    let address = SocketAddrV4::new(options.bound, port);
                    let source = std::io::ErrorKind::AddrInUse.into();
                    return Err(SocketError::Listen { address, source });
                }
            },
        };
        let epoll = || Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(opened);
        let (control, data, nudge, interrupter) = (epoll()?, epoll()?, waker()?, waker()?);
        let read = |token| EpollEvent::new(EpollFlags::EPOLLIN, token);
        control.add(nudge.as_fd(), read(NUDGE)).map_err(opened)?;
        data.add(interrupter.as_fd(), read(INTERRUPTION))
            .map_err(opened)?;
        let (listener, port) = listening.unzip();
        if let Some(listener) = &listener {
            control.add(listener, read(LISTENER)).map_err(opened)?;
        }
        Ok(Self {
            port,
            nudge,
            interrupter,
            has_ended: AtomicBool::new(false),
            directory: Mutex::default(),
            book: Mutex::new(Book::new(listener, &options)),
            due_ns: AtomicU64::new(u64::MAX),
            shared: Shared {
                options,
                control,
                data,
                queued_bytes: AtomicUsize::new(0),
                incomplete_bytes: Arc::default(),
                counters: Counters::default(),
            },
        })
    }

    /// From now on what is sent to this side itself comes back, over pairs of sockets that know no network.
    ///
    /// # Errors
    /// When the system has no descriptors to give.
    pub fn reach_itself(&self, now: Instant) -> Result<(), SocketError> {
        let book = &mut *lock(&self.book);
        let reached = book.reach_itself(now, &self.shared, &self.directory);
        reached.map_err(|source| SocketError::OpenStream { source })
    }

    /// Where others can connect, if they can.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// Becomes readable when there is data for [`TcpReceiver::wait`].
    pub fn data_fd(&self) -> BorrowedFd<'_> {
        self.shared.data.0.as_fd()
    }

    /// Connects to whoever listens there, again and again, for as long as this lives.
    pub fn keep_connected(&self, now: Instant, address: SocketAddrV4) {
        let options = &self.shared.options;
        let mut book = lock(&self.book);
        let target = book.targets.entry(address);
        let target = target.or_insert_with(|| Target::new(now, None, options));
        target.is_kept = true;
        drop(book);
        self.due_ns.fetch_min(now.as_nanos(), Ordering::AcqRel);
        self.nudge.wake();
    }

    /// Sends each message to where it is to go; those in a row for the same share system calls.
    ///
    /// What nobody is connected for is dropped, counted, and connected for, if the address has a port.
    pub fn send<'a, P: Into<Pieces<'a>>>(
        &self,
        messages: impl IntoIterator<Item = (P, StreamAddress)>,
    ) {
        let messages = messages
            .into_iter()
            .map(|(message, to)| (message.into(), to))
            .filter(|(message, _)| self.fits(message));
        let mut messages = messages.peekable();
        while let Some((first, to)) = messages.next() {
            let mut run: [Pieces<'_>; RUN] = [first; RUN];
            let mut count = 1;
            while count < RUN
                && let Some((next, _)) = messages.next_if(|(_, next)| *next == to)
            {
                if let Some(place) = run.get_mut(count) {
                    *place = next;
                }
                count += 1;
            }
            self.send_run(run.get(..count).unwrap_or_default(), &to);
        }
    }

    /// A message that is too long would end the connection at the other side.
    fn fits(&self, message: &Pieces<'_>) -> bool {
        let fits = message.len() <= self.shared.options.max_message_len;
        self.shared.counters.dropped.add(u64::from(!fits));
        fits
    }

    fn send_run(&self, messages: &[Pieces<'_>], to: &StreamAddress) {
        // What retires meanwhile has been replaced.
        for _ in 0..2 {
            let Some(connection) = lock(&self.directory).find(to).cloned() else {
                break;
            };
            match connection.send(messages, &self.shared) {
                Sent::Taken => return,
                Sent::Retired => {}
                Sent::Broken => {
                    self.ended(&connection, Ended::Broken);
                    break;
                }
            }
        }
        let count = messages.len() as u64;
        self.shared.counters.unconnected.add(count);
        self.want(to);
    }

    fn want(&self, to: &StreamAddress) {
        let max = self.shared.options.max_targets;
        if to.address.port() != 0 && lock(&self.directory).want(to, max) {
            self.nudge.wake();
        }
    }

    /// Does what can be done now: accepts, connects, ends what is lost, sends what waited for room.
    /// `receiver` is told which control connections have something to read. Waits for nothing.
    pub fn turn(&self, now: Instant, receiver: &mut TcpReceiver) -> Turned {
        let (shared, directory) = (&self.shared, &self.directory);
        let mut book = lock(&self.book);
        let count = shared
            .control
            .wait(&mut receiver.events, EpollTimeout::ZERO);
        let mut events = receiver.events;
        for event in events.iter_mut().take(count.unwrap_or(0)) {
            match event.data() {
                NUDGE => self.nudge.reset(),
                LISTENER => book.accept(now, shared, directory),
                id if book.go_on(now, id, shared, directory) => {}
                id => self.stir(id, event.events(), receiver),
            }
        }
        let ended = std::mem::take(&mut lock(directory).ended);
        for ended in ended {
            book.end(now, ended, shared, directory);
        }
        book.take_wanted(now, shared, directory);
        book.handle_timeout(now, shared, directory);
        let due = book.due(&lock(directory)).unwrap_or(Instant::MAX);
        self.due_ns.store(due.as_nanos(), Ordering::Release);
        Turned {
            connected: std::mem::take(&mut book.opened),
        }
    }

    /// A connection can be read or written to.
    fn stir(&self, id: u64, flags: EpollFlags, receiver: &mut TcpReceiver) {
        let Some(connection) = self.connection(id) else {
            return;
        };
        if flags.contains(EpollFlags::EPOLLOUT) && connection.flush(&self.shared) == Flushed::Broken
        {
            return self.ended(&connection, Ended::Broken);
        }
        let is_readable = flags.intersects(!EpollFlags::EPOLLOUT);
        match connection.channel {
            Channel::Control if is_readable => receiver.ready.push(connection),
            Channel::Data if flags.contains(EpollFlags::EPOLLERR) => {
                self.ended(&connection, Ended::Broken);
            }
            _ => {}
        }
    }

    /// When [`turn`](Self::turn) is to be called at the latest.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let due = Instant::from_nanos(self.due_ns.load(Ordering::Acquire));
        Some(due).filter(|due| *due != Instant::MAX)
    }

    /// Wakes whoever waits in [`TcpReceiver::wait`], or comes next; from now on nobody waits there.
    pub fn end_receiving(&self) {
        self.has_ended.store(true, Ordering::Release);
        self.interrupter.wake();
    }

    /// Wakes whoever waits in [`TcpReceiver::wait`], or who comes next, once.
    pub fn interrupt_receiving(&self) {
        self.interrupter.wake();
    }

    /// Whether a connection for samples has begun a message whose rest has not come. A lock for each.
    pub fn has_begun_frames(&self) -> bool {
        let directory = lock(&self.directory);
        let mut data = directory.all().filter(|it| it.channel == Channel::Data);
        data.any(|connection| connection.has_begun_frame())
    }

    /// What has happened to connections until now.
    pub fn counts(&self) -> TcpCounts {
        let counters = &self.shared.counters;
        TcpCounts {
            opened: counters.opened.count(),
            closed: counters.closed.count(),
            refused: counters.refused.count(),
            bad_hellos: counters.bad_hellos.count(),
            timeouts: counters.timeouts.count(),
            oversized: counters.oversized.count(),
            dropped: counters.dropped.count(),
            unconnected: counters.unconnected.count(),
            connections: lock(&self.directory).count_others(&self.shared.options.owner),
            queued_bytes: self.shared.queued_bytes.load(Ordering::Relaxed),
        }
    }

    /// Waits for data connections to have something to read, and tells `receiver` which.
    pub(super) fn wait_for_data(
        &self,
        receiver: &mut TcpReceiver,
        timeout: EpollTimeout,
    ) -> Result<(), WaitError> {
        let count = match self.shared.data.wait(&mut receiver.events, timeout) {
            Ok(count) => count,
            Err(Errno::EINTR) => 0,
            Err(errno) => return Err(poller::wait_error(errno)),
        };
        let directory = lock(&self.directory);
        for event in receiver.events.iter().take(count) {
            match event.data() {
                INTERRUPTION => {
                    self.interrupter.reset();
                    if self.has_ended.load(Ordering::Acquire) {
                        self.interrupter.wake();
                    }
                }
                id => receiver.ready.extend(directory.get(id).cloned()),
            }
        }
        Ok(())
    }

    pub(super) fn connection(&self, id: u64) -> Option<Arc<Connection>> {
        lock(&self.directory).get(id).cloned()
    }

    pub(super) fn max_message_len(&self) -> usize {
        self.shared.options.max_message_len
    }

    /// Notes that a connection has ended; the next turn sees to it.
    pub(super) fn ended(&self, connection: &Connection, how: Ended) {
        connection.ignore(&self.shared);
        let is_news = lock(&self.directory).end(connection.id, how);
        if is_news {
            self.nudge.wake();
        }
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(super) fn count_oversized(&self) {
        self.shared.counters.oversized.add(1);
    }
}

impl AsFd for TcpNet {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.control.0.as_fd()
    }
}

impl Drop for TcpNet {
    fn drop(&mut self) {
        let all: Vec<Arc<Connection>> = lock(&self.directory).all().cloned().collect();
        for connection in all {
            connection.flush(&self.shared);
            connection.close(&self.shared);
        }
    }
}

/// What panics elsewhere leaves these tables as they are between two calls.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) const LISTENER: u64 = u64::MAX;
const NUDGE: u64 = u64::MAX - 1;
const INTERRUPTION: u64 = u64::MAX - 2;
