//! Connections against the kernel, over the loopback interface.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::time::Duration;

use tickwire_base::{Channel, Instant, Pieces, StreamAddress};
use tickwire_transport::tcp::{Hello, TcpCounts, TcpNet, TcpOptions, TcpReceiver};
use tickwire_transport::{Poller, clock};

/// Long enough that only a lost message reaches it.
const PATIENCE: Duration = Duration::from_secs(20);

struct Side {
    net: TcpNet,
    receiver: TcpReceiver,
    owner: [u8; 12],
    came: Vec<(Channel, Vec<u8>)>,
    connected: u32,
    /// What the clock says more than the kernel's.
    ahead: Duration,
    /// Whether it reads what comes on data connections.
    reads: bool,
}

impl Side {
    fn new(id: u8, change: impl FnOnce(&mut TcpOptions)) -> Self {
        let mut options = TcpOptions::new([id; 12], [id; 16], u64::from(id));
        options.ports = vec![0];
        change(&mut options);
        Self {
            owner: options.owner,
            net: TcpNet::new(options).expect("a free port"),
            receiver: TcpReceiver::new(),
            came: Vec::new(),
            connected: 0,
            ahead: Duration::ZERO,
            reads: true,
        }
    }

    fn at(&self) -> SocketAddrV4 {
        let port = self.net.port().expect("it listens");
        SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)
    }

    fn named(&self, channel: Channel) -> StreamAddress {
        let nowhere = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
        StreamAddress {
            owner: self.owner,
            address: self.net.port().map_or(nowhere, |_| self.at()),
            channel,
        }
    }

    fn now(&self) -> Instant {
        clock::now() + self.ahead
    }

    fn send(&self, to: &StreamAddress, messages: &[&[u8]]) {
        self.net
            .send(messages.iter().map(|message| (*message, *to)));
    }

    fn turn(&mut self) {
        let now = self.now();
        self.connected += self.net.turn(now, &mut self.receiver).connected;
        self.take(Channel::Control);
        if self.reads {
            self.receiver.ask(&self.net).expect("it can wait");
            self.take(Channel::Data);
        }
    }

    fn take(&mut self, channel: Channel) {
        while let Some(received) = self.receiver.next(&self.net) {
            assert_eq!(received.from, Ipv4Addr::LOCALHOST);
            let messages = received
                .messages()
                .map(|message| (channel, message.to_vec()));
            self.came.extend(messages);
        }
    }

    fn counts(&self) -> TcpCounts {
        self.net.counts()
    }
}

/// Drives both until that is so.
fn drive(a: &mut Side, b: &mut Side, mut until: impl FnMut(&mut Side, &mut Side) -> bool) {
    let deadline = clock::now() + PATIENCE;
    loop {
        a.turn();
        b.turn();
        if until(a, b) {
            return;
        }
        assert!(clock::now() < deadline, "{:?} {:?}", a.counts(), b.counts());
        let waker = tickwire_transport::Waker::new().expect("an eventfd");
        let mut poller = Poller::for_waker(&waker);
        let mut wake_at = clock::now() + Duration::from_millis(50);
        for side in [&*a, &*b] {
            poller = poller.connections(&side.net, Channel::Control);
            if side.reads {
                poller = poller.connections(&side.net, Channel::Data);
            }
            let due = side.net.poll_timeout().unwrap_or(Instant::MAX);
            wake_at = wake_at.min(clock::now() + due.since(side.now()));
        }
        poller.wait(Some(wake_at)).expect("it can wait");
    }
}

fn connected(a: &mut Side, b: &mut Side) -> bool {
    a.counts().connections == 2 && b.counts().connections == 2
}

#[test]
fn who_cannot_be_connected_to_is_reached_by_what_it_has_connected() {
    let mut inside = Side::new(1, |options| options.ports.clear());
    let mut outside = Side::new(2, |_| {});
    inside.net.keep_connected(clock::now(), outside.at());
    drive(&mut inside, &mut outside, connected);
    assert_eq!((inside.connected, outside.connected), (1, 0));

    let long = vec![7; 60_000];
    for channel in Channel::ALL {
        inside.send(&outside.named(channel), &[b"one", &long, b"two"]);
        outside.send(&inside.named(channel), &[b"three", b""]);
    }
    inside.send(&StreamAddress::anybody_at(outside.at()), &[b"whoever"]);
    drive(&mut inside, &mut outside, |inside, outside| {
        inside.came.len() == 4 && outside.came.len() == 7
    });
    for channel in Channel::ALL {
        let of = |side: &Side| -> Vec<Vec<u8>> {
            let came = side.came.iter().filter(|(by, _)| *by == channel);
            came.map(|(_, message)| message.clone()).collect()
        };
        let to_outside = of(&outside);
        assert_eq!(
            to_outside[..3],
            [b"one".to_vec(), long.clone(), b"two".to_vec()]
        );
        assert_eq!(of(&inside), [b"three".to_vec(), Vec::new()]);
    }
    assert_eq!(outside.counts().unconnected, 0);
}

#[test]
fn of_connections_that_both_make_at_once_one_stays_and_nothing_is_lost() {
    for round in 0..20_u8 {
        let (mut a, mut b) = (Side::new(1, |_| {}), Side::new(2 + round, |_| {}));
        a.net.keep_connected(clock::now(), b.at());
        b.net.keep_connected(clock::now(), a.at());
        let mut sent = [0_u64; 2];
        drive(&mut a, &mut b, |a, b| {
            for channel in Channel::ALL {
                if sent[0] < 400 {
                    a.send(&b.named(channel), &[b"from a"]);
                    b.send(&a.named(channel), &[b"from b"]);
                    sent[0] += 1;
                }
            }
            sent[0] == 400 && connected(a, b)
        });
        drive(&mut a, &mut b, |a, b| {
            let arrived = |to: &Side, from: &Side| {
                to.came.len() as u64 + from.counts().unconnected == sent[0]
            };
            arrived(a, b) && arrived(b, a)
        });
        assert_eq!(a.counts().dropped + b.counts().dropped, 0);
    }
}

#[test]
fn who_starts_again_at_the_same_place_is_connected_to_again() {
    let (mut a, mut b) = (Side::new(1, |_| {}), Side::new(2, |_| {}));
    let at = b.at();
    a.net.keep_connected(clock::now(), at);
    drive(&mut a, &mut b, connected);
    drop(b);
    let mut again = Side::new(3, |options| options.ports = vec![at.port()]);
    drive(&mut a, &mut again, connected);
    assert_eq!((a.connected, a.counts().closed), (2, 2));
    again.send(&a.named(Channel::Data), &[b"here again"]);
    drive(&mut a, &mut again, |a, _| !a.came.is_empty());
}

#[test]
fn where_somebody_sends_to_is_connected_to_and_nowhere_else() {
    let (mut a, mut b) = (Side::new(1, |_| {}), Side::new(2, |_| {}));
    a.send(&b.named(Channel::Data), &[b"too early"]);
    drive(&mut a, &mut b, connected);
    assert_eq!(a.counts().unconnected, 1);
    // To nobody in particular, at our own port.
    let ourselves = StreamAddress::anybody_at(a.at());
    a.send(&ourselves, &[b"myself"]);
    for _ in 0..20 {
        a.turn();
    }
    assert_eq!((a.counts().connections, a.counts().opened), (2, 2));
}

#[test]
fn who_does_not_read_costs_no_more_than_a_queue_and_gets_whole_messages_then() {
    let mut a = Side::new(1, |options| options.max_queued_bytes = 1 << 20);
    let mut b = Side::new(2, |_| {});
    a.net.keep_connected(clock::now(), b.at());
    drive(&mut a, &mut b, connected);
    b.reads = false;
    let mut sent = 0_u32;
    while a.counts().dropped == 0 {
        let mut message = vec![0; 50_000];
        message[..4].copy_from_slice(&sent.to_be_bytes());
        a.send(&b.named(Channel::Data), &[&message]);
        sent += 1;
        assert!(a.counts().queued_bytes <= 1 << 20);
        assert!(sent < 10_000, "the kernel keeps half a gigabyte");
    }
    // Discovery passes by.
    a.send(&b.named(Channel::Control), &[b"still here"]);
    drive(&mut a, &mut b, |_, b| !b.came.is_empty());
    b.came.clear();
    b.reads = true;
    drive(&mut a, &mut b, |_, b| b.came.len() as u32 == sent - 1);
    for (index, (_, message)) in b.came.iter().enumerate() {
        assert_eq!(message.len(), 50_000);
        assert_eq!(message[..4], (index as u32).to_be_bytes());
    }
    assert_eq!(a.counts().queued_bytes, 0);
}

fn framed(message: &[u8]) -> Vec<u8> {
    let mut frame = (message.len() as u32).to_be_bytes().to_vec();
    frame.extend(message);
    frame
}

/// What a stranger hears before the connection ends.
fn until_end(side: &mut Side, stranger: &mut TcpStream) -> usize {
    stranger.set_nonblocking(true).expect("a socket");
    let deadline = clock::now() + PATIENCE;
    let mut heard = 0;
    loop {
        side.turn();
        match stranger.read(&mut [0; 256]) {
            Ok(0) => return heard,
            Ok(len) => heard += len,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return heard,
        }
        assert!(clock::now() < deadline, "{:?}", side.counts());
    }
}

#[test]
fn strangers_that_are_silent_or_speak_something_else_hear_nothing() {
    let mut side = Side::new(1, |_| {});
    for words in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &framed(&[0; 36]),
        &framed(b"short"),
        &u32::MAX.to_be_bytes(),
    ] {
        let mut stranger = TcpStream::connect(side.at()).expect("it listens");
        stranger.write_all(words).expect("it reads");
        assert_eq!(until_end(&mut side, &mut stranger), 0);
    }
    assert_eq!(side.counts().bad_hellos, 4);
    let mut silent = TcpStream::connect(side.at()).expect("it listens");
    side.turn();
    side.ahead = Duration::from_secs(4);
    assert_eq!(until_end(&mut side, &mut silent), 0);
    assert_eq!(side.counts().timeouts, 1);
    assert_eq!(side.counts().connections, 0);
}

#[test]
fn many_strangers_are_not_in_the_way() {
    let mut side = Side::new(1, |options| {
        options.max_strangers = 4;
        options.max_connections = 12;
    });
    let silent: Vec<_> = (0..40)
        .map(|_| {
            let stranger = TcpStream::connect(side.at()).expect("it listens");
            side.turn();
            stranger
        })
        .collect();
    assert_eq!(side.counts().refused, 36);
    // Those that make names up make way for each other.
    let made_up: Vec<_> = (0..40_u8)
        .map(|id| {
            let mut stranger = TcpStream::connect(side.at()).expect("it listens");
            let (owner, key, channel) = ([100 + id; 12], [0; 16], Channel::Control);
            let hello = Hello {
                owner,
                key,
                channel,
            };
            stranger
                .write_all(&framed(&hello.to_bytes()))
                .expect("it reads");
            for _ in 0..3 {
                side.turn();
            }
            stranger
        })
        .collect();
    assert!(side.counts().connections <= 12);
    let mut friend = Side::new(2, |_| {});
    friend.net.keep_connected(clock::now(), side.at());
    drive(&mut friend, &mut side, |friend, _| {
        friend.counts().connections == 2
    });
    drop((silent, made_up));
}

#[test]
fn who_has_the_name_of_somebody_connected_and_another_key_is_refused() {
    let (mut a, mut b) = (Side::new(1, |_| {}), Side::new(2, |_| {}));
    a.net.keep_connected(clock::now(), b.at());
    drive(&mut a, &mut b, connected);
    let mut liar = TcpStream::connect(b.at()).expect("it listens");
    let (owner, key, channel) = (a.owner, [9; 16], Channel::Data);
    let hello = Hello {
        owner,
        key,
        channel,
    };
    liar.write_all(&framed(&hello.to_bytes()))
        .expect("it reads");
    until_end(&mut b, &mut liar);
    assert_eq!(b.counts().refused, 1);
    b.send(&a.named(Channel::Data), &[b"for a"]);
    drive(&mut a, &mut b, |a, _| !a.came.is_empty());
}

#[test]
fn a_message_that_is_too_long_ends_the_connection() {
    let mut side = Side::new(1, |options| options.max_message_len = 1000);
    let mut other = TcpStream::connect(side.at()).expect("it listens");
    let (owner, key, channel) = ([2; 12], [0; 16], Channel::Control);
    let hello = Hello {
        owner,
        key,
        channel,
    };
    other
        .write_all(&framed(&hello.to_bytes()))
        .expect("it reads");
    other.write_all(&framed(b"fine")).expect("it reads");
    other.write_all(&1001_u32.to_be_bytes()).expect("it reads");
    assert!(until_end(&mut side, &mut other) > 0, "it said who it is");
    assert_eq!(side.came, [(Channel::Control, b"fine".to_vec())]);
    let counts = side.counts();
    assert_eq!((counts.oversized, counts.closed), (1, 1));
    side.send(&StreamAddress::anybody_at(side.at()), &[&[0; 1001]]);
    assert_eq!(side.counts().dropped, 1);
}

#[test]
fn long_messages_and_short_ones_come_as_they_were_sent() {
    let mut a = Side::new(1, |_| {});
    let mut b = Side::new(2, |_| {});
    a.net.keep_connected(clock::now(), b.at());
    drive(&mut a, &mut b, connected);
    let lens = [
        10,
        1 << 20,
        200_000,
        1,
        131_068,
        131_069,
        700_000,
        0,
        65_536,
    ];
    let message = |len: usize| -> Vec<u8> { (0..len).map(|at| at.to_le_bytes()[0]).collect() };
    let messages = lens.map(message);
    // In one piece, and in three.
    for parts in [1, 3] {
        let to = a.named(Channel::Data);
        b.net.send(messages.iter().map(|message| {
            let (head, rest) = message.split_at(message.len() / parts);
            let (body, foot) = rest.split_at(rest.len() / parts);
            (Pieces { head, body, foot }, to)
        }));
        drive(&mut a, &mut b, |a, _| a.came.len() == lens.len());
        let came = std::mem::take(&mut a.came).into_iter();
        assert!(came.map(|(_, message)| message).eq(messages.clone()));
    }
    assert_eq!(b.counts().dropped, 0);
}

#[test]
fn a_long_message_for_which_there_is_no_room_ends_the_connection() {
    let mut side = Side::new(1, |options| options.max_incomplete_bytes_in_all = 1000);
    let mut other = TcpStream::connect(side.at()).expect("it listens");
    let (owner, key, channel) = ([2; 12], [0; 16], Channel::Control);
    let hello = Hello {
        owner,
        key,
        channel,
    };
    other
        .write_all(&framed(&hello.to_bytes()))
        .expect("it reads");
    other
        .write_all(&200_000_u32.to_be_bytes())
        .expect("it reads");
    other.write_all(&[0; 5000]).expect("the kernel keeps it");
    until_end(&mut side, &mut other);
    let counts = side.counts();
    assert_eq!((counts.oversized, counts.closed), (1, 1));
    assert!(side.came.is_empty());
}
