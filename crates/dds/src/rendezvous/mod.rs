//! The meeting point of participants that have no multicast, as a service: the socket and the clock of
//! `tickwire_rtps::rendezvous`. A participant is told of it by
//! [`DomainParticipantBuilder::rendezvous`](crate::DomainParticipantBuilder::rendezvous).

mod reference;

pub use reference::{DEFAULT_PORT, Reference, ReferenceError, VARIABLE};
pub use tickwire_rtps::rendezvous::{RendezvousCounters, RendezvousEvent};

use std::error::Error;
use std::fmt;
use std::hash::RandomState;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tickwire_base::Locator;
use tickwire_rtps::Outbox;
use tickwire_rtps::rendezvous::{Rendezvous as Machine, RendezvousConfig};
use tickwire_transport::{
    InterfaceError, Poller, ReceiveBatch, SocketError, UdpOptions, UdpSocket, clock, interfaces,
};

use crate::error::PollError;

/// A rendezvous. It starts no thread: who owns it calls [`turn`](Self::turn) again and again.
///
/// ```
/// use std::time::Duration;
/// use tickwire::DomainParticipant;
/// use tickwire::rendezvous::{Rendezvous, RendezvousOptions};
///
/// let mut rendezvous = Rendezvous::bind(&RendezvousOptions::new("127.0.0.1:0".parse()?))?;
/// let address = rendezvous.addresses()[0].to_string();
/// let participant = DomainParticipant::builder(8_675_309).rendezvous(&address).build()?;
/// while rendezvous.counters().joined == 0 {
///     rendezvous.turn(Duration::from_secs(1))?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Rendezvous {
    socket: UdpSocket,
    addresses: Vec<SocketAddr>,
    machine: Machine<RandomState>,
    batch: ReceiveBatch,
    outbox: Outbox,
    send_errors: u64,
}

/// How a rendezvous is to be.
#[derive(Clone, Debug)]
pub struct RendezvousOptions {
    /// Where to receive; port 0 takes a free one, 0.0.0.0 all interfaces.
    pub listen: SocketAddr,
    /// Where participants reach it, if that is another address, as behind a port mapping. Default where it
    /// receives: with 0.0.0.0 the addresses of all interfaces but loopback.
    pub advertise: Option<SocketAddr>,
    /// Rendezvous to federate with. All that are to make one must name each other, or accept each other.
    /// Default none.
    pub federate_with: Vec<SocketAddr>,
    /// Whether others may federate with this one without being named. Default no.
    pub accepts_federates: bool,
    /// Participants beyond so many are refused, and counted. Default 10,000.
    pub max_participants: usize,
}

impl RendezvousOptions {
    /// The defaults.
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            advertise: None,
            federate_with: Vec::new(),
            accepts_federates: false,
            max_participants: RendezvousConfig::new(Vec::new()).max_participants,
        }
    }
}

impl Rendezvous {
    /// Opens the socket.
    ///
    /// # Errors
    /// When the address is not this machine's, is taken, or is not IPv4.
    pub fn bind(options: &RendezvousOptions) -> Result<Self, RendezvousError> {
        if !options.listen.is_ipv4() {
            let address = options.listen;
            return Err(RendezvousError::NotIpv4 { address });
        }
        let socket = UdpSocket::unicast(options.listen, &UdpOptions::default());
        let socket = socket.map_err(RendezvousError::Socket)?;
        let addresses = match options.advertise {
            Some(address) => vec![address],
            None => reached_at(socket.local_address())?,
        };
        let locators = addresses.iter().copied().map(Locator::udp).collect();
        let federates = options.federate_with.iter().copied().map(Locator::udp);
        let config = RendezvousConfig {
            federates: federates.collect(),
            accepts_federates: options.accepts_federates,
            max_participants: options.max_participants,
            ..RendezvousConfig::new(locators)
        };
        Ok(Self {
            socket,
            addresses,
            // Nobody can guess the keys that it takes from the system.
            machine: Machine::new(config, RandomState::new()),
            batch: ReceiveBatch::new(),
            outbox: Outbox::new(),
            send_errors: 0,
        })
    }

    /// Where participants reach it.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What participants are to be given.
    pub fn reference(&self) -> Reference {
        Reference::from(self.addresses.clone())
    }

    /// Waits for datagrams, `timeout` at most, and does what is due.
    ///
    /// # Errors
    /// When waiting or receiving fails.
    pub fn turn(&mut self, timeout: Duration) -> Result<(), PollError> {
        let until = clock::now() + timeout;
        let due = self.machine.poll_timeout();
        let until = due.map_or(until, |due| due.min(until));
        let ready = Poller::new(&self.socket).wait(Some(until));
        let is_ready = ready.map_err(PollError::Wait)?.socket(0);
        if is_ready {
            self.batch
                .receive(&self.socket)
                .map_err(PollError::Receive)?;
            for datagram in self.batch.iter() {
                let (source, outbox) = (Locator::udp(datagram.source), &mut self.outbox);
                self.machine
                    .handle(clock::now(), source, datagram.bytes, outbox);
                self.send_errors += u64::from(!send(&self.socket, outbox));
            }
        }
        let now = clock::now();
        if self.machine.poll_timeout().is_some_and(|due| due <= now) {
            self.machine.handle_timeout(now, &mut self.outbox);
            self.send_errors += u64::from(!send(&self.socket, &mut self.outbox));
        }
        Ok(())
    }

    /// What happened next; `None` when all has been told. To be asked after each turn.
    pub fn poll_event(&mut self) -> Option<RendezvousEvent> {
        self.machine.poll_event()
    }

    /// What happened so far.
    pub fn counters(&self) -> RendezvousCounters {
        *self.machine.counters()
    }

    /// Participants registered now.
    pub fn participant_count(&self) -> usize {
        self.machine.participants().count()
    }

    /// Batches of datagrams of which some could not be sent.
    pub fn send_errors(&self) -> u64 {
        self.send_errors
    }
}

impl fmt::Debug for Rendezvous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rendezvous")
            .field("addresses", &self.addresses)
            .field("machine", &self.machine)
            .finish_non_exhaustive()
    }
}

/// Why there is no rendezvous.
#[derive(Debug)]
#[non_exhaustive]
pub enum RendezvousError {
    /// Participants are reached over IPv4 alone.
    NotIpv4 {
        /// What was asked for.
        address: SocketAddr,
    },
    /// The socket could not be opened.
    Socket(SocketError),
    /// The system does not tell its interfaces.
    Interfaces(InterfaceError),
}

impl fmt::Display for RendezvousError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotIpv4 { address } => {
                write!(
                    f,
                    "{address} is no IPv4 address, by which participants are reached"
                )
            }
            Self::Socket(error) => error.fmt(f),
            Self::Interfaces(error) => error.fmt(f),
        }
    }
}

impl Error for RendezvousError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotIpv4 { .. } => None,
            Self::Socket(error) => Some(error),
            Self::Interfaces(error) => Some(error),
        }
    }
}

/// Sends all datagrams; false if one could not be sent.
fn send(socket: &UdpSocket, outbox: &mut Outbox) -> bool {
    let sent = socket.send_each(outbox.datagrams().flat_map(|(bytes, to)| {
        let addresses = to.iter().filter_map(Locator::to_udp);
        addresses.map(move |address| (bytes, address))
    }));
    outbox.clear();
    sent.is_ok()
}

/// The addresses of a socket.
fn reached_at(bound: SocketAddr) -> Result<Vec<SocketAddr>, RendezvousError> {
    if !bound.ip().is_unspecified() {
        return Ok(vec![bound]);
    }
    let all = interfaces().map_err(RendezvousError::Interfaces)?;
    let (near, far): (Vec<_>, Vec<_>) = all
        .into_iter()
        .filter(|interface| interface.is_up)
        .partition(|interface| interface.is_loopback);
    let interfaces = if far.is_empty() { near } else { far };
    let addresses = interfaces.into_iter().flat_map(|interface| interface.ipv4);
    Ok(addresses
        .map(|ip| (IpAddr::V4(ip), bound.port()).into())
        .collect())
}
