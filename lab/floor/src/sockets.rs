//! Sockets: connected ones, one for each pair of processes.

use std::io::Error;
use std::net::{SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use lab_program::{Handler, Idle, Job, Options, Peer, Wait, fill, own_number};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::sockopt::{IpMtu, ReceiveTimeout, UdpGroSegment, UdpGsoSegment};
use nix::sys::socket::{MsgFlags, getsockopt, recv, send, setsockopt};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::credit::Credit;
use crate::{Incoming, pairs};

/// What is between the processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tcp,
    BatchedTcp,
    Unix,
    Udp,
    BatchedUdp,
}

impl Kind {
    fn is_datagrams(self) -> bool {
        matches!(self, Self::Udp | Self::BatchedUdp)
    }

    /// How many messages of `len` bytes go at a time.
    fn batch(self, len: usize) -> usize {
        match self {
            Self::BatchedTcp => (BATCH / len).max(1),
            Self::BatchedUdp => (MAX_DATAGRAMS_LEN / len).clamp(1, MAX_SEGMENTS),
            Self::Tcp | Self::Unix | Self::Udp => 1,
        }
    }
}

/// Why messages of this length cannot go so, if they cannot: where several share a system call, each is one packet.
pub(crate) fn refusal(kind: Kind, options: &Options) -> Option<String> {
    if kind != Kind::BatchedUdp {
        return None;
    }
    // Who cannot have such a socket says so when it is to be used.
    let socket = UdpSocket::bind((options.here, 0)).ok()?;
    socket.connect((options.there, options.port)).ok()?;
    let mtu = usize::try_from(getsockopt(&socket, IpMtu).ok()?).ok()?;
    let room = mtu.saturating_sub(HEADERS_LEN);
    (options.payload_len() > room)
        .then(|| format!("packets of an MTU of {mtu} have room for {room} bytes each"))
}

pub(crate) struct Sockets {
    kind: Kind,
    options: Options,
    listeners: Mutex<Vec<Listener>>,
    links: OnceLock<Vec<OwnedFd>>,
    /// What is being sent; of batches, what is not sent yet.
    outgoing: Mutex<Vec<u8>>,
    /// Of streams of datagrams.
    credit: Option<Credit>,
    /// The link that had something last.
    last: AtomicUsize,
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Sockets {
    /// Whoever is there first listens.
    pub(crate) fn open(kind: Kind, options: &Options) -> Result<Self, String> {
        let streams = matches!(options.job, Job::Send | Job::Receive) && options.rate.is_none();
        let len = options.payload_len();
        let credit = (kind.is_datagrams() && streams)
            .then(|| Credit::new(pairs(options).len(), len, kind.batch(len)));
        let sockets = Self {
            credit,
            last: AtomicUsize::new(0),
            kind,
            options: options.clone(),
            listeners: Mutex::default(),
            links: OnceLock::new(),
            outgoing: Mutex::default(),
        };
        let is_first = options.job.is_passive();
        let pairs = pairs(options).into_iter();
        match kind {
            Kind::Udp | Kind::BatchedUdp => {
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

    /// This side's, at the port of a pair.
    fn here(&self, pair: u16) -> SocketAddrV4 {
        SocketAddrV4::new(self.options.here, self.options.port + pair)
    }

    /// The other side's.
    fn there(&self, pair: u16) -> SocketAddrV4 {
        SocketAddrV4::new(self.options.there, self.options.port + pair)
    }

    fn path(&self, pair: u16) -> PathBuf {
        self.options.dir.join(format!("{pair}.socket"))
    }

    fn listener(&self, pair: u16) -> Result<Listener, Error> {
        match self.kind {
            Kind::Unix => UnixListener::bind(self.path(pair)).map(Listener::Unix),
            _ => TcpListener::bind(self.here(pair)).map(Listener::Tcp),
        }
    }

    /// The socket of one side; the sides have ports that are ten apart.
    fn datagrams(&self, pair: u16) -> Result<OwnedFd, Error> {
        let (own, other) = match self.options.job.is_passive() {
            true => (self.here(pair), self.there(pair + 10)),
            false => (self.here(pair + 10), self.there(pair)),
        };
        let socket = UdpSocket::bind(own)?;
        socket.connect(other)?;
        if self.kind == Kind::BatchedUdp {
            let len = i32::try_from(self.options.payload_len()).map_err(Error::other)?;
            match self.options.job.is_passive() {
                true => setsockopt(&socket, UdpGroSegment, &true)?,
                false => setsockopt(&socket, UdpGsoSegment, &len)?,
            }
        }
        Ok(socket.into())
    }

    fn connect(&self, pair: u16) -> Result<OwnedFd, Error> {
        match self.kind {
            Kind::Unix => UnixStream::connect(self.path(pair)).map(OwnedFd::from),
            _ => TcpStream::connect(self.there(pair)).and_then(without_delay),
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
                Err(Errno::EINTR) => {}
                // Credit for somebody who has sent all and gone.
                Err(Errno::ECONNREFUSED) if self.kind.is_datagrams() => {}
                Err(_) => drop(inboxes.swap_remove(at)),
            }
        }
        None
    }

    fn receive_from(&self, inbox: &mut Inbox, flags: MsgFlags) -> Result<(), Errno> {
        let Inbox { incoming, held, .. } = inbox;
        let link = self.links()[incoming.link].as_raw_fd();
        match recv(link, &mut incoming.buffer[*held..], flags)? {
            0 => match &self.credit {
                Some(credit) => {
                    credit.earn(incoming.link);
                    Err(Errno::EINTR)
                }
                None => Err(Errno::ECONNRESET),
            },
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
        // Each has its turn.
        let after = self.last.load(Ordering::Relaxed) + 1;
        let turns = (after..after + watched.len()).map(|turn| turn % watched.len());
        let mut having = turns.filter(|&at| ready > 0 && watched[at].any() == Some(true));
        let at = having.next()?;
        self.last.store(at, Ordering::Relaxed);
        Some(at)
    }

    /// Waits until the other side of a link has room for so many messages.
    fn wait_for_room(&self, link: usize, messages: u64) -> Result<(), String> {
        let Some(credit) = &self.credit else {
            return Ok(());
        };
        let mut end = None;
        while !credit.spend(link, messages) {
            let now = Instant::now();
            if now > *end.get_or_insert(now + self.options.idle().between) {
                return Err("no credit comes".into());
            }
            let flags = match self.options.wait {
                Wait::Block => MsgFlags::empty(),
                Wait::Poll => MsgFlags::MSG_DONTWAIT,
            };
            match recv(self.links()[link].as_raw_fd(), &mut [0], flags) {
                Ok(0) => credit.earn(link),
                // An answer that came too late.
                Ok(_) | Err(Errno::EAGAIN | Errno::EINTR) => {}
                Err(error) => return Err(format!("credit: {error}")),
            }
        }
        Ok(())
    }

    /// Hands over the whole messages that are there, and gives credit for them.
    fn deliver<H: Handler<Incoming>>(&self, inbox: &mut Inbox, handler: &mut H) -> ControlFlow<()> {
        let Inbox {
            incoming,
            held,
            taken,
        } = inbox;
        incoming.at = 0;
        while incoming.at + incoming.len <= *held {
            handler.take(incoming)?;
            incoming.at += incoming.len;
            *taken += 1;
            if let Some(credit) = &self.credit
                && self.options.job == Job::Receive
                && taken.is_multiple_of(credit.share)
            {
                let link = self.links()[incoming.link].as_raw_fd();
                // Who has sent all needs none, and may be gone.
                let _ = send(link, &[], MsgFlags::MSG_NOSIGNAL);
            }
        }
        incoming.buffer.copy_within(incoming.at..*held, 0);
        *held -= incoming.at;
        ControlFlow::Continue(())
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

/// What has come over a link: `held` bytes, and so many messages before them.
struct Inbox {
    incoming: Incoming,
    held: usize,
    taken: u64,
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
        if self.kind.is_datagrams() {
            self.set_patience(LOOK);
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
        let begin = outgoing.len();
        outgoing.resize(begin + len, 0);
        fill(&mut outgoing[begin..], number, time);
        let sent = own_number(number) + 1;
        let demand = self.options.demand;
        let is_last =
            sent == self.options.total() || demand.is_some_and(|it| sent.is_multiple_of(it));
        let messages = outgoing.len() / len;
        if messages < self.kind.batch(len) && !is_last {
            return Ok(());
        }
        for (at, link) in self.links().iter().enumerate() {
            self.wait_for_room(at, messages as u64)?;
            self.send_to(link, &outgoing)?;
        }
        outgoing.clear();
        Ok(())
    }

    fn echo(&self, message: &Incoming) -> Result<(), String> {
        self.send_to(&self.links()[message.link], message.bytes())
    }

    fn run<H: Handler<Incoming>>(&self, idle: Idle, mut handler: H) -> H {
        let len = self.options.payload_len();
        let inbox = |link| Inbox {
            incoming: Incoming::new(link, len, self.kind.batch(len)),
            held: 0,
            taken: 0,
        };
        let mut inboxes: Vec<_> = (0..self.links().len()).map(inbox).collect();
        let mut patience = idle.first;
        self.set_patience(patience);
        while let Some(at) = self.receive(&mut inboxes, patience) {
            if self.deliver(&mut inboxes[at], &mut handler).is_break() {
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
            Kind::Unix => Vec::new(),
            Kind::Udp | Kind::BatchedUdp => {
                let credit = self.credit.iter();
                let credit = credit.map(|it| ("messages under way", (2 * it.share).to_string()));
                credit.collect()
            }
        }
    }
}

/// Of IPv4 and UDP.
const HEADERS_LEN: usize = 28;
/// What one system call takes of datagrams, in bytes and in number (UDP_MAX_SEGMENTS of older kernels).
const MAX_DATAGRAMS_LEN: usize = 65_507;
const MAX_SEGMENTS: usize = 64;
/// How long who waits for credit sleeps before it looks at the clock.
const LOOK: Duration = Duration::from_millis(100);
/// What is gathered before it is sent.
const BATCH: usize = 1 << 16;
/// How often a polling process looks before it looks at the clock.
const LOOKS_AT_THE_CLOCK: u64 = 1024;
