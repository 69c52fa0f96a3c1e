//! Sockets that are connected to where datagrams go again and again, and to nowhere else at the same time. The kernel finds
//! the way to an address anew for each datagram that a socket sends there, and for a connected one keeps it: 0.4 to 0.9 µs of
//! the 5 that a datagram takes over loopback.
//!
//! All that goes to one address takes the same socket for as long as that is so, lest an interface with several queues have
//! datagrams overtake each other: where one goes there together with one to another address, that ends.

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use socket2::{Domain, Protocol, Socket, Type};
use tickwire_base::Pieces;

/// Those of one socket, of which each takes a descriptor. They have its address and ports of their own.
#[derive(Debug)]
pub(crate) struct Connections {
    own: IpAddr,
    send_buffer_bytes: usize,
    places: [Mutex<Place>; PLACES],
    /// Whether there has been one.
    have_been: AtomicBool,
}

/// What one of the addresses is that would have this place.
#[derive(Debug, Default)]
struct Place {
    to: Option<SocketAddr>,
    state: State,
    /// Grows with each datagram that goes there, and shrinks with each that goes to another.
    weight: u32,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Apart,
    /// A thread is about to connect it.
    Connecting,
    Connected(Arc<Socket>),
    /// That has failed.
    Refused,
}

impl Connections {
    /// Those of a socket that is bound to `own`.
    pub(crate) fn new(own: IpAddr, send_buffer_bytes: usize) -> Self {
        Self {
            own,
            send_buffer_bytes,
            places: Default::default(),
            have_been: AtomicBool::new(false),
        }
    }

    /// Sends a datagram by the socket that is connected there, if there is one. `None` if not, or if it would not; then
    /// the datagram is still to be sent.
    pub(crate) fn send_to(&self, datagram: Pieces<'_>, to: SocketAddr) -> Option<()> {
        let socket = self.socket(to)?;
        // What was sent before may have met nobody, which is told once, instead of sending.
        for _ in 0..2 {
            let sent = match datagram.is_one() {
                true => socket.send(datagram.head),
                false => socket.send_vectored(&datagram.in_order().map(IoSlice::new)),
            };
            match sent {
                Ok(_) => return Some(()),
                Err(error) if is_about_others(&error) => {}
                Err(_) => {
                    self.part(to);
                    break;
                }
            }
        }
        None
    }

    /// Sends no more to an address by a socket of its own, until it has been sent there alone often enough again.
    pub(crate) fn part(&self, to: SocketAddr) {
        if !self.have_been.load(Ordering::Relaxed) {
            return;
        }
        let mut place = self.place(to);
        if place.to == Some(to) {
            let closed = std::mem::take(&mut *place);
            drop(place);
            drop(closed);
        }
    }

    /// Closes all of them, as addresses and routes may be others now.
    pub(crate) fn forget_all(&self) {
        for place in &self.places {
            // Closed unlocked.
            let _closed = std::mem::take(&mut *lock(place));
        }
    }

    fn place(&self, to: SocketAddr) -> MutexGuard<'_, Place> {
        lock(&self.places[index(to)])
    }

    /// The socket that is connected there, by which what goes there alone is to be sent. Who has asked often enough
    /// connects it.
    pub(crate) fn socket(&self, to: SocketAddr) -> Option<Arc<Socket>> {
        if to.ip().is_multicast() {
            return None;
        }
        let mut place = self.place(to);
        if place.to != Some(to) {
            place.weight = place.weight.saturating_sub(1);
            if place.weight > 0 {
                return None;
            }
            let closed = std::mem::take(&mut *place);
            place.to = Some(to);
            place.weight = 1;
            drop(place);
            drop(closed);
            return None;
        }
        place.weight = (place.weight + 1).min(MAX_WEIGHT);
        match &place.state {
            State::Connected(socket) => return Some(Arc::clone(socket)),
            State::Apart if place.weight >= OFTEN => {}
            State::Apart | State::Connecting | State::Refused => return None,
        }
        place.state = State::Connecting;
        drop(place);
        self.have_been.store(true, Ordering::Relaxed);
        let connected = self.connect(to).map(Arc::new);
        let mut place = self.place(to);
        // Another address may have the place by now.
        if place.to == Some(to) && matches!(place.state, State::Connecting) {
            place.state = match &connected {
                Ok(socket) => State::Connected(Arc::clone(socket)),
                Err(_) => State::Refused,
            };
        }
        drop(place);
        connected.ok()
    }

    fn connect(&self, to: SocketAddr) -> io::Result<Socket> {
        let domain = Domain::for_address(to);
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_send_buffer_size(self.send_buffer_bytes)?;
        // Nothing is read from it; the kernel has a least size.
        socket.set_recv_buffer_size(0)?;
        // Of its address, as that decides what can be reached.
        socket.bind(&SocketAddr::new(self.own, 0).into())?;
        socket.connect(&to.into())?;
        Ok(socket)
    }
}

/// Whether an error is not about the datagram that was to be sent.
fn is_about_others(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, Interrupted};
    matches!(error.kind(), ConnectionRefused | Interrupted)
}

fn index(to: SocketAddr) -> usize {
    let address = match to.ip() {
        IpAddr::V4(v4) => v4.to_bits(),
        IpAddr::V6(v6) => v6.segments().into_iter().fold(0, |sum, segment| {
            u32::rotate_left(sum, 5) ^ u32::from(segment)
        }),
    };
    // Ports of one machine's participants are two apart.
    let port = u32::from(to.port()) >> 1;
    (address.wrapping_add(port)) as usize % PLACES
}

fn lock(place: &Mutex<Place>) -> MutexGuard<'_, Place> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many are connected at most.
const PLACES: usize = 16;
/// Datagrams, or batches of them, after which one is.
const OFTEN: u32 = 64;
/// Datagrams to others that would have its place after which it is theirs, if it is used no more.
const MAX_WEIGHT: u32 = 1024;

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::UdpOptions;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn connections() -> Connections {
        Connections::new(HERE, 1 << 16)
    }

    fn receiver() -> (UdpSocket, SocketAddr) {
        let socket = UdpSocket::bind((HERE, 0)).expect("a free port");
        let address = socket.local_addr().expect("bound");
        let patience = socket.set_read_timeout(Some(Duration::from_secs(10)));
        patience.expect("it is not zero");
        (socket, address)
    }

    /// The next datagram, of one byte.
    fn next(socket: &UdpSocket) -> u8 {
        let mut buffer = [0; 2];
        assert_eq!(socket.recv(&mut buffer).expect("it was sent"), 1);
        buffer[0]
    }

    /// Sends until one is connected; how often nothing was sent before.
    fn connect(connections: &Connections, to: SocketAddr) -> u32 {
        let unsent = (0..10_000).take_while(|_| {
            connections
                .send_to(Pieces::from(&b"first"[..]), to)
                .is_none()
        });
        u32::try_from(unsent.count()).expect("few")
    }

    #[test]
    fn who_sends_there_often_is_connected() {
        let connections = connections();
        let (socket, address) = receiver();
        assert_eq!(connect(&connections, address), OFTEN - 1);
        for number in 0..10 {
            assert!(
                connections
                    .send_to(Pieces::from(&[number][..]), address)
                    .is_some()
            );
        }
        let mut buffer = [0; 16];
        let mut next = || {
            let (len, from) = socket.recv_from(&mut buffer).expect("it was sent");
            (buffer[..len].to_vec(), from)
        };
        let (first, from) = next();
        assert_eq!((&first[..], from.ip()), (&b"first"[..], HERE));
        for number in 0..10 {
            assert_eq!(next(), (vec![number], from));
        }
        connections.forget_all();
        assert!(
            connections
                .send_to(Pieces::from(&b"anew"[..]), address)
                .is_none()
        );
    }

    #[test]
    fn several_go_by_that_socket_if_all_go_there() {
        let options = UdpOptions {
            connects: true,
            ..UdpOptions::default()
        };
        let sender = crate::UdpSocket::unicast((HERE, 0).into(), &options).expect("a free port");
        let (one, two) = (receiver(), receiver());
        for _ in 0..OFTEN {
            sender.send_to(b"first", one.1).expect("loopback takes it");
        }
        let sent = sender.send_each([(&b"a"[..], one.1), (b"b", one.1), (b"c", one.1)]);
        sent.expect("loopback takes them");
        let sent = sender.send_each([(&b"d"[..], one.1), (b"e", two.1), (b"f", one.1)]);
        sent.expect("loopback takes them");
        let sent = sender.send_to(b"g", one.1);
        sent.expect("loopback takes it");
        let mut buffer = [0; 16];
        let mut came = Vec::new();
        for _ in 0..OFTEN + 6 {
            let (len, from) = one.0.recv_from(&mut buffer).expect("it was sent");
            came.push((buffer[..len].to_vec(), from == sender.local_address()));
        }
        let last = came.split_off(came.len() - 7);
        let expected = [
            (b"first".to_vec(), false),
            (b"a".to_vec(), false),
            (b"b".to_vec(), false),
            (b"c".to_vec(), false),
            (b"d".to_vec(), true),
            (b"f".to_vec(), true),
            (b"g".to_vec(), true),
        ];
        assert_eq!(last, expected);
    }

    #[test]
    fn a_receiver_that_is_gone_is_no_error_and_its_successor_hears_all() {
        let connections = connections();
        let (socket, address) = receiver();
        connect(&connections, address);
        drop(socket);
        for _ in 0..10 {
            assert!(
                connections
                    .send_to(Pieces::from(&b"to nobody"[..]), address)
                    .is_some()
            );
        }
        let socket = UdpSocket::bind(address).expect("nobody has it");
        for number in 0..10 {
            assert!(
                connections
                    .send_to(Pieces::from(&[number][..]), address)
                    .is_some()
            );
            assert_eq!(next(&socket), number);
        }
    }

    #[test]
    fn whatever_threads_do_at_once_each_datagram_is_sent_once() {
        let options = UdpOptions {
            connects: true,
            ..UdpOptions::default()
        };
        let sender = crate::UdpSocket::unicast((HERE, 0).into(), &options).expect("a free port");
        let (one, two) = (receiver(), receiver());
        let send = |number: u8, to| sender.send_to(&[number], to).expect("loopback takes it");
        let connections = sender.connections.as_ref().expect("it connects");
        for round in 0..50 {
            // Each has a socket when the threads begin, unless they have one place.
            connect(connections, one.1);
            connect(connections, two.1);
            for socket in [&one.0, &two.0] {
                socket.recv(&mut [0]).expect("it was sent");
            }
            thread::scope(|scope| {
                scope.spawn(|| (0..80).for_each(|number| send(number, one.1)));
                scope.spawn(|| {
                    for number in 80..120 {
                        send(number, one.1);
                        let both = [(&[number][..], two.1), (&[number + 40], one.1)];
                        sender.send_each(both).expect("loopback takes them");
                    }
                });
                scope.spawn(|| {
                    for number in 160..200 {
                        send(number, two.1);
                        if number % 8 == round % 8 {
                            sender.forget_ways();
                        }
                    }
                });
            });
            let come = |socket: &UdpSocket, count| {
                let mut numbers: Vec<_> = (0..count).map(|_| next(socket)).collect();
                numbers.sort_unstable();
                numbers
            };
            assert_eq!(come(&one.0, 160), Vec::from_iter(0..160));
            assert_eq!(come(&two.0, 80), Vec::from_iter((80..120).chain(160..200)));
        }
    }

    #[test]
    fn an_address_of_which_nothing_is_heard_any_more_makes_way() {
        let connections = connections();
        let (_socket, address) = receiver();
        for _ in 0..2 * MAX_WEIGHT {
            connections.send_to(Pieces::from(&b"often"[..]), address);
        }
        let (ip, port) = (address.ip(), address.port());
        let others = (1..u16::MAX).map(|port| SocketAddr::new(ip, port));
        let mut others =
            others.filter(|other| index(*other) == index(address) && other.port() != port);
        let other = others.next().expect("there are few places");
        assert_eq!(connect(&connections, other), MAX_WEIGHT + OFTEN - 2);
        assert!(
            connections
                .send_to(Pieces::from(&b"not any more"[..]), address)
                .is_none()
        );
        assert!(
            connections
                .send_to(Pieces::from(&b"nor is that"[..]), other)
                .is_some()
        );
    }

    #[test]
    fn what_the_socket_could_not_reach_is_not_reached() {
        let connections = connections();
        let far = SocketAddr::from(([192, 0, 2, 1], 7400));
        assert_eq!(connect(&connections, far), 10_000);
        let group = SocketAddr::from(([239, 255, 0, 1], 7400));
        assert_eq!(connect(&connections, group), 10_000);
    }
}
