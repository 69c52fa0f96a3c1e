//! Sockets: connected ones, one for each pair of processes.

use std::io::Error;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use lab_program::{Handler, Idle, Options, Peer, Wait, fill, own_number};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::sockopt::ReceiveTimeout;
use nix::sys::socket::{MsgFlags, recv, send, setsockopt};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::{Incoming, pairs};

/// What is between the processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tcp,
    BatchedTcp,
    Unix,
    Udp,
}

pub(crate) struct Sockets {
    kind: Kind,
    options: Options,
    listeners: Mutex<Vec<Listener>>,
    links: OnceLock<Vec<OwnedFd>>,
    /// What is being sent; of batches, what is not sent yet.
    outgoing: Mutex<Vec<u8>>,
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Sockets {
    /// Whoever is there first listens.
    pub(crate) fn open(kind: Kind, options: &Options) -> Result<Self, String> {
        let sockets = Self {
            kind,
            options: options.clone(),
            listeners: Mutex::default(),
            links: OnceLock::new(),
            outgoing: Mutex::default(),
        };
        let is_first = options.job.is_passive();
        let pairs = pairs(options).into_iter();
        match kind {
            Kind::Udp => {
                let links = pairs
                    .map(|pair| sockets.datagrams(pair))
                    .collect::<Result<_, _>>();
                let _ = sockets.links.set(links.map_err(told)?);
            }
            _ if is_first => {
                let listeners = pairs
                    .map(|pair| sockets.listener(pair))
                    .collect::<Result<_, _>>();
                sockets
                    .listeners
                    .lock()
                    .expect("no panic")
                    .extend(listeners.map_err(told).map(|all: Vec<_>| all)?);
            }
            _ => {}
        }
        Ok(sockets)
    }

    fn address(&self, pair: u16) -> SocketAddrV4 {
        SocketAddrV4::new(Ipv4Addr::LOCALHOST, self.options.port + pair)
    }

    fn path(&self, pair: u16) -> PathBuf {
        self.options.dir.join(format!("{pair}.socket"))
    }

    fn listener(&self, pair: u16) -> Result<Listener, Error> {
        match self.kind {
            Kind::Unix => UnixListener::bind(self.path(pair)).map(Listener::Unix),
            _ => TcpListener::bind(self.address(pair)).map(Listener::Tcp),
        }
    }

    /// The socket of one side; the sides have ports that are ten apart.
    fn datagrams(&self, pair: u16) -> Result<OwnedFd, Error> {
        let (passive, active) = (self.address(pair), self.address(pair + 10));
        let (own, other) = match self.options.job.is_passive() {
            true => (passive, active),
            false => (active, passive),
        };
        let socket = UdpSocket::bind(own)?;
        socket.connect(other)?;
        Ok(socket.into())
    }

    fn connect(&self, pair: u16) -> Result<OwnedFd, Error> {
        match self.kind {
            Kind::Unix => UnixStream::connect(self.path(pair)).map(OwnedFd::from),
            _ => TcpStream::connect(self.address(pair)).and_then(without_delay),
        }
    }

    fn links(&self) -> &[OwnedFd] {
        self.links.get().map_or(&[], Vec::as_slice)
    }

    fn send_to(&self, link: &OwnedFd, mut bytes: &[u8]) -> Result<(), String> {
        while !bytes.is_empty() {
            match send(link.as_raw_fd(), bytes, MsgFlags::MSG_NOSIGNAL) {
                Ok(len) => bytes = &bytes[len..],
                Err(Errno::EINTR) => {}
                Err(error) => return Err(format!("send: {error}")),
            }
        }
        Ok(())
    }

    /// Has what comes next behind the `held` bytes of an inbox; says which. The inboxes of those that have
    /// ended are taken away. `None` if nothing comes in time, or all have ended.
    fn receive(&self, inboxes: &mut Vec<Inbox>, patience: Duration) -> Option<usize> {
        let end = Instant::now() + patience;
        for look in 1_u64.. {
            let (at, flags) = match self.options.wait {
                Wait::Block => (self.next_link(inboxes, patience)?, MsgFlags::empty()),
                Wait::Poll => {
                    let at = usize::try_from(look).ok()?.checked_rem(inboxes.len())?;
                    (at, MsgFlags::MSG_DONTWAIT)
                }
            };
            match self.receive_from(&mut inboxes[at], flags) {
                Ok(()) => return Some(at),
                Err(Errno::EAGAIN) if self.options.wait == Wait::Poll => {
                    if look % LOOKS_AT_THE_CLOCK == 0 && Instant::now() > end {
                        return None;
                    }
                }
                Err(Errno::EAGAIN) => return None,
                Err(_) => drop(inboxes.swap_remove(at)),
            }
        }
        None
    }

    fn receive_from(&self, inbox: &mut Inbox, flags: MsgFlags) -> Result<(), Errno> {
        let Inbox { incoming, held } = inbox;
        let link = self.links()[incoming.link].as_raw_fd();
        match recv(link, &mut incoming.buffer[*held..], flags)? {
            0 => Err(Errno::ECONNRESET),
            len => {
                *held += len;
                Ok(())
            }
        }
    }

    /// Which of the inboxes' links has something; the only one is not asked, but waits by itself.
    fn next_link(&self, inboxes: &[Inbox], patience: Duration) -> Option<usize> {
        if inboxes.len() <= 1 {
            return inboxes.first().map(|_| 0);
        }
        let link = |inbox: &Inbox| self.links()[inbox.incoming.link].as_fd();
        let watch = |inbox| PollFd::new(link(inbox), PollFlags::POLLIN);
        let mut watched: Vec<_> = inboxes.iter().map(watch).collect();
        let timeout = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
        let ready = poll(&mut watched, timeout).ok()?;
        watched
            .iter()
            .position(|link| ready > 0 && link.any() == Some(true))
    }

    /// How long a receive sleeps at most.
    fn set_patience(&self, patience: Duration) {
        for link in self.links() {
            let time =
                TimeVal::milliseconds(i64::try_from(patience.as_millis()).unwrap_or(i64::MAX));
            // Without it a lost message has the runner end the program.
            let _ = setsockopt(link, ReceiveTimeout, &time);
        }
    }
}

/// What has come over a link: `held` bytes.
struct Inbox {
    incoming: Incoming,
    held: usize,
}

impl Inbox {
    /// Hands over the whole messages that are there.
    fn deliver<H: Handler<Incoming>>(&mut self, handler: &mut H) -> ControlFlow<()> {
        let Self { incoming, held } = self;
        incoming.at = 0;
        while incoming.at + incoming.len <= *held {
            handler.take(incoming)?;
            incoming.at += incoming.len;
        }
        incoming.buffer.copy_within(incoming.at..*held, 0);
        *held -= incoming.at;
        ControlFlow::Continue(())
    }
}

impl Listener {
    fn accept(self) -> Result<OwnedFd, Error> {
        match self {
            Self::Tcp(listener) => listener
                .accept()
                .and_then(|(stream, _)| without_delay(stream)),
            Self::Unix(listener) => listener.accept().map(|(stream, _)| stream.into()),
        }
    }
}

fn without_delay(stream: TcpStream) -> Result<OwnedFd, Error> {
    stream.set_nodelay(true)?;
    Ok(stream.into())
}

fn told(error: Error) -> String {
    error.to_string()
}

impl Peer for Sockets {
    type Message = Incoming;

    fn meet(&self) -> Result<(), String> {
        if self.kind == Kind::Udp {
            return Ok(());
        }
        let listeners = std::mem::take(&mut *self.listeners.lock().expect("no panic"));
        let links: Result<Vec<_>, _> = match self.options.job.is_passive() {
            true => listeners.into_iter().map(Listener::accept).collect(),
            false => pairs(&self.options)
                .into_iter()
                .map(|pair| self.connect(pair))
                .collect(),
        };
        let _ = self.links.set(links.map_err(told)?);
        Ok(())
    }

    fn send(&self, number: u64, time: u64) -> Result<(), String> {
        let mut outgoing = self.outgoing.lock().expect("no panic");
        let len = self.options.payload_len();
        if self.kind == Kind::BatchedTcp {
            let begin = outgoing.len();
            outgoing.resize(begin + len, 0);
            fill(&mut outgoing[begin..], number, time);
            let is_last = own_number(number) + 1 == self.options.total();
            if outgoing.len() + len <= BATCH && !is_last {
                return Ok(());
            }
        } else {
            outgoing.resize(len, 0);
            fill(&mut outgoing, number, time);
        }
        for link in self.links() {
            self.send_to(link, &outgoing)?;
        }
        if self.kind == Kind::BatchedTcp {
            outgoing.clear();
        }
        Ok(())
    }

    fn echo(&self, message: &Incoming) -> Result<(), String> {
        self.send_to(&self.links()[message.link], message.bytes())
    }

    fn run<H: Handler<Incoming>>(&self, idle: Idle, mut handler: H) -> H {
        let len = self.options.payload_len();
        let count = match self.kind {
            Kind::BatchedTcp => (BATCH / len).max(1),
            _ => 1,
        };
        let inbox = |link| Inbox {
            incoming: Incoming::new(link, len, count),
            held: 0,
        };
        let mut inboxes: Vec<_> = (0..self.links().len()).map(inbox).collect();
        let mut patience = idle.first;
        self.set_patience(patience);
        while let Some(at) = self.receive(&mut inboxes, patience) {
            if inboxes[at].deliver(&mut handler).is_break() {
                break;
            }
            if patience != idle.between {
                patience = idle.between;
                self.set_patience(patience);
            }
        }
        handler
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        match self.kind {
            Kind::Tcp | Kind::BatchedTcp => vec![("TCP_NODELAY", "1".into())],
            Kind::Unix | Kind::Udp => Vec::new(),
        }
    }
}

/// What is gathered before it is sent.
const BATCH: usize = 1 << 16;
/// How often a polling process looks before it looks at the clock.
const LOOKS_AT_THE_CLOCK: u64 = 1024;
