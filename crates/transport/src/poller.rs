//! Waiting for sockets, a deadline or another thread.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;
use tickwire_base::{Channel, Instant};

use crate::tcp::TcpNet;
use crate::{InterfaceWatch, UdpSocket, WaitError, clock};

/// Ends another thread's wait. Clones wake the same [`Poller`].
#[derive(Clone, Debug)]
pub struct Waker(Arc<EventFd>);

impl Waker {
    /// A waker that nobody has used yet.
    pub fn new() -> Result<Self, WaitError> {
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let event = EventFd::from_flags(flags).map_err(wait_error)?;
        Ok(Self(Arc::new(event)))
    }

    /// Ends the present wait, or the next one if none is under way. One system call.
    pub fn wake(&self) {
        // Fails only when 2^64 - 2 wake-ups are pending, and then the poller wakes up anyway.
        let _ = self.0.write(1);
    }

    /// Takes back all that [`wake`](Self::wake) has done until now: for who is told of it by [`Poller::descriptor`].
    pub fn reset(&self) {
        // Fails when there is nothing to reset.
        let _ = self.0.read();
    }
}

/// What a [`Poller`] that is told of it by [`Poller::descriptor`] finds from the first [`Waker::wake`] on until
/// [`Waker::reset`], as it resets nobody's waker but its own.
impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Up to 63 sockets and a [`Waker`], waited for together. Allocates nothing.
pub struct Poller<'a> {
    /// The sockets, then the waker; what follows counts for nothing.
    fds: [PollFd<'a>; CAPACITY],
    socket_count: usize,
    waker: Option<&'a Waker>,
    spin: Duration,
}

impl<'a> Poller<'a> {
    /// Waits for a socket, which has the number 0.
    pub fn new(socket: &'a UdpSocket) -> Self {
        Self {
            socket_count: 1,
            ..Self::filled(socket.as_fd())
        }
    }

    /// Waits for no socket yet, but for a waker.
    pub fn for_waker(waker: &'a Waker) -> Self {
        Self::filled(waker.0.as_fd()).waker(waker)
    }

    fn filled(fd: BorrowedFd<'a>) -> Self {
        let fd = PollFd::new(fd, PollFlags::POLLIN);
        Self {
            fds: std::array::from_fn(|_| fd.clone()),
            socket_count: 0,
            waker: None,
            spin: Duration::ZERO,
        }
    }

    /// Waits for these sockets, too, which have the next numbers. Those after the 63rd are left out.
    pub fn sockets(self, sockets: impl IntoIterator<Item = &'a UdpSocket>) -> Self {
        self.descriptors(sockets.into_iter().map(UdpSocket::as_fd))
    }

    /// Waits for a change of interfaces, too, which has the next number of a socket.
    pub fn watch(self, watch: &'a InterfaceWatch) -> Self {
        self.descriptors([watch.as_fd()])
    }

    /// Waits for connections, too, which have the next number of a socket.
    pub fn connections(self, net: &'a TcpNet, channel: Channel) -> Self {
        self.descriptors([match channel {
            Channel::Control => net.as_fd(),
            Channel::Data => net.data_fd(),
        }])
    }

    /// Waits for a descriptor, too, which has the next number of a socket.
    pub fn descriptor(self, descriptor: BorrowedFd<'a>) -> Self {
        self.descriptors([descriptor])
    }

    fn descriptors(mut self, descriptors: impl IntoIterator<Item = BorrowedFd<'a>>) -> Self {
        let places = self.fds.iter_mut().take(Ready::MAX_SOCKETS);
        for (place, fd) in places.skip(self.socket_count).zip(descriptors) {
            *place = PollFd::new(fd, PollFlags::POLLIN);
            self.socket_count += 1;
        }
        self
    }

    /// Waits for `waker`, too.
    pub fn waker(mut self, waker: &'a Waker) -> Self {
        self.waker = Some(waker);
        self
    }

    /// Looks again and again for this long before it lets the thread sleep: lower latency for a
    /// busy processor. Default zero.
    pub fn busy_poll(mut self, spin: Duration) -> Self {
        self.spin = spin;
        self
    }

    /// Waits until a socket can be read, the waker was used, or `deadline` has passed (`None` waits
    /// for ever). Resolution of the deadline is the kernel's, about 50 µs.
    pub fn wait(&mut self, deadline: Option<Instant>) -> Result<Ready, WaitError> {
        if let Some(place) = self.fds.get_mut(self.socket_count)
            && let Some(waker) = self.waker
        {
            *place = PollFd::new(waker.0.as_fd(), PollFlags::POLLIN);
        }
        let mut now = clock::now();
        let end_of_spin = now + self.spin;
        loop {
            let asleep = now >= end_of_spin;
            let timeout = match deadline {
                _ if !asleep => Some(Duration::ZERO),
                Some(deadline) => Some(deadline.since(now)),
                None => None,
            };
            let len = self.socket_count + usize::from(self.waker.is_some());
            let fds = self.fds.get_mut(..len).unwrap_or_default();
            match ppoll(fds, timeout.map(TimeSpec::from_duration), None) {
                Ok(0) => {
                    now = clock::now();
                    if deadline.is_some_and(|deadline| now >= deadline) {
                        return Ok(Ready::default());
                    }
                }
                Ok(_) => return Ok(self.ready()),
                Err(Errno::EINTR) => now = clock::now(),
                Err(errno) => return Err(wait_error(errno)),
            }
        }
    }

    fn ready(&self) -> Ready {
        let mut ready = Ready::default();
        let len = self.socket_count + usize::from(self.waker.is_some());
        for (index, fd) in self.fds.iter().take(len).enumerate() {
            // An error on the socket counts as readable: the receive call will tell which.
            if !fd.any().unwrap_or(true) {
                continue;
            }
            if index < self.socket_count {
                ready.sockets |= 1 << index;
            } else {
                ready.woken = true;
                self.waker.inspect(|waker| waker.reset());
            }
        }
        ready
    }
}

/// What ended a wait; nothing, if it was the deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ready {
    sockets: u64,
    woken: bool,
}

impl Ready {
    const MAX_SOCKETS: usize = 63;

    /// Whether the socket of that number can be read.
    pub fn socket(self, index: usize) -> bool {
        index < Self::MAX_SOCKETS && self.sockets & (1 << index) != 0
    }

    /// Whether the waker was used.
    pub fn woken(self) -> bool {
        self.woken
    }

    /// Whether it was the deadline.
    pub fn timed_out(self) -> bool {
        self == Self::default()
    }
}

/// Sockets and waker.
const CAPACITY: usize = Ready::MAX_SOCKETS + 1;

pub(crate) fn wait_error(errno: Errno) -> WaitError {
    WaitError {
        source: io::Error::from(errno),
    }
}
