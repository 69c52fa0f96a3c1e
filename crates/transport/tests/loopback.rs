//! The sockets against the kernel, over the loopback interface.

use std::cell::RefCell;
use std::io::IoSliceMut;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::thread;
use std::time::Duration;

use nix::cmsg_space;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt,
};
use socket2::SockRef;
use tickwire_base::Pieces;
use tickwire_transport::{
    Interface, Poller, Ready, ReceiveBatch, ReceiveTimestamps, SocketError, UdpOptions, UdpSocket,
    Waker, clock,
};

const LOCAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Long enough that only a lost datagram reaches it.
const PATIENCE: Duration = Duration::from_secs(10);

fn local() -> UdpSocket {
    UdpSocket::unicast(LOCAL, &UdpOptions::default()).expect("a free port")
}

fn on_loopback() -> UdpOptions {
    UdpOptions {
        multicast_interface: Some(Interface::loopback().expect("every Linux has one")),
        ..UdpOptions::default()
    }
}

/// Receives until `count` datagrams have come.
fn receive(socket: &UdpSocket, count: usize) -> Vec<(Vec<u8>, SocketAddr)> {
    let mut batch = ReceiveBatch::new();
    let mut poller = Poller::new(socket);
    let deadline = clock::now() + PATIENCE;
    let mut all = Vec::new();
    while all.len() < count {
        let ready = poller.wait(Some(deadline)).expect("polling works");
        assert!(ready.socket(0), "only {} of {count} arrived", all.len());
        batch.receive(socket).expect("the socket works");
        all.extend(batch.iter().map(|d| (d.bytes.to_vec(), d.source)));
    }
    all
}

#[test]
fn a_batch_goes_to_several_destinations_in_order() {
    let (sender, one, two) = (local(), local(), local());
    let payloads: Vec<[u8; 2]> = (0..100u16).map(u16::to_be_bytes).collect();
    let datagrams = payloads
        .iter()
        .flat_map(|payload| [&one, &two].map(|receiver| (&payload[..], receiver.local_address())));
    sender.send_each(datagrams).expect("loopback takes them");
    for receiver in [&one, &two] {
        let received = receive(receiver, payloads.len());
        assert!(
            received
                .iter()
                .all(|(_, from)| *from == sender.local_address())
        );
        let received: Vec<_> = received.into_iter().map(|(bytes, _)| bytes).collect();
        assert_eq!(received, payloads);
    }
}

/// Alone, in batches, with marks, and by sockets that are connected once enough has gone one way.
#[test]
fn what_lies_in_pieces_arrives_as_one_datagram() {
    let connecting = UdpOptions {
        connects: true,
        ..UdpOptions::default()
    };
    let long = vec![7; 60_000];
    let pieces = [(&b""[..], &b""[..]), (&long, b""), (b"body", b"foot")];
    let pieces = pieces.map(|(body, foot)| Pieces {
        head: b"head",
        body,
        foot,
    });
    let whole = pieces.map(|pieces| pieces.to_vec());
    for options in [UdpOptions::default(), connecting] {
        let sender = UdpSocket::unicast(LOCAL, &options).expect("a free port");
        let (receiver, other) = (local(), local());
        let to = receiver.local_address();
        let mut alone = false;
        for _ in 0..200 {
            alone = !alone;
            let datagrams = pieces.iter().map(|&pieces| (pieces, to));
            let sent = match alone {
                true => datagrams
                    .map(|datagram| sender.send_each([datagram]))
                    .fold(Ok(()), Result::and),
                false => sender.send_each(datagrams),
            };
            sent.expect("loopback takes them");
            let received = receive(&receiver, 3);
            assert!(received.iter().map(|(bytes, _)| bytes).eq(&whole));
        }
        let both = [to, other.local_address()];
        let marked = both.map(|to| pieces.map(|pieces| (8, pieces, to)));
        let sent = sender.send_each_marked(marked.into_iter().flatten());
        sent.expect("loopback takes them");
        for receiver in [&receiver, &other] {
            let received = receive(receiver, 3);
            assert!(received.iter().map(|(bytes, _)| bytes).eq(&whole));
        }
    }
}

/// What a thread keeps may send when the thread ends, after the memory is gone that sending has of the thread.
#[test]
fn a_thread_that_ends_sends_its_last_batch() {
    struct Farewell(UdpSocket, SocketAddr);
    impl Drop for Farewell {
        fn drop(&mut self) {
            let Self(socket, to) = self;
            let sent = socket.send_each([(&b"good"[..], *to), (&b"bye"[..], *to)]);
            sent.expect("loopback takes them");
        }
    }
    thread_local! {
        static KEPT: RefCell<Option<Farewell>> = const { RefCell::new(None) };
    }
    let receiver = local();
    let to = receiver.local_address();
    let ending = thread::spawn(move || {
        KEPT.with_borrow_mut(|kept| {
            // Made in here, the memory goes before what is kept does.
            let socket = local();
            let sent = socket.send_each([(&b"still"[..], to), (&b"here"[..], to)]);
            sent.expect("loopback takes them");
            *kept = Some(Farewell(socket, to));
        });
    });
    ending.join().expect("it ends");
    let received = receive(&receiver, 4);
    let received: Vec<_> = received.iter().map(|(bytes, _)| &bytes[..]).collect();
    assert_eq!(received, [&b"still"[..], b"here", b"good", b"bye"]);
}

/// Datagrams that a sender has sent over loopback can be received at once.
#[test]
fn who_looks_gets_datagrams_one_by_one_until_many_wait() {
    for options in [ReceiveTimestamps::Off, ReceiveTimestamps::Software] {
        let options = UdpOptions {
            receive_timestamps: options,
            ..UdpOptions::default()
        };
        let (sender, receiver) = (local(), UdpSocket::unicast(LOCAL, &options).expect("free"));
        let mut batch = ReceiveBatch::new();
        let (mut next, mut calls) = (0, 0);
        for (burst, most_calls) in [(1_u8, 1), (100, 20), (0, 0), (2, 2)] {
            for number in 0..burst {
                let sent = sender.send_to(&[number], receiver.local_address());
                sent.expect("loopback takes it");
            }
            while batch.look(&receiver).expect("the socket works") > 0 {
                calls += 1;
                for datagram in batch.iter() {
                    assert_eq!(
                        (datagram.bytes, datagram.source),
                        (&[next][..], sender.local_address())
                    );
                    next += 1;
                }
            }
            assert_eq!(batch.iter().count(), 0);
            assert_eq!(next, burst);
            assert!(calls <= most_calls, "{calls} for {burst}");
            (next, calls) = (0, 0);
        }
    }
}

#[test]
fn the_largest_datagram_passes_and_a_larger_one_is_an_error_that_stops_nothing() {
    let (sender, receiver) = (local(), local());
    let to = receiver.local_address();
    let largest = vec![7; tickwire_transport::MAX_DATAGRAM_BYTES];
    let too_large = vec![8; tickwire_transport::MAX_DATAGRAM_BYTES + 1];
    let result = sender.send_each([(&largest[..], to), (&too_large[..], to), (b"last", to)]);
    let error = result.expect_err("UDP has no room for it");
    assert_eq!((error.len, error.destination), (too_large.len(), to));
    let received = receive(&receiver, 2);
    assert_eq!(received[0].0, largest);
    assert_eq!(received[1].0, b"last");
}

#[test]
fn a_destination_of_another_family_is_an_error_that_stops_nothing() {
    let (sender, receiver) = (local(), local());
    let elsewhere = SocketAddr::from((Ipv6Addr::LOCALHOST, 9));
    let to = receiver.local_address();
    let result = sender.send_each([(&b"a"[..], to), (b"b", elsewhere), (b"c", to)]);
    assert_eq!(result.expect_err("wrong family").destination, elsewhere);
    let received = receive(&receiver, 2);
    assert_eq!(
        (&received[0].0[..], &received[1].0[..]),
        (&b"a"[..], &b"c"[..])
    );
}

#[test]
fn ipv6_works_alike() {
    let bind = || UdpSocket::unicast((Ipv6Addr::LOCALHOST, 0).into(), &UdpOptions::default());
    let (Ok(sender), Ok(receiver)) = (bind(), bind()) else {
        // A machine without IPv6 cannot show it.
        return;
    };
    let to = receiver.local_address();
    sender
        .send_each([(&b"a"[..], to), (b"b", to)])
        .expect("loopback takes them");
    let received = receive(&receiver, 2);
    assert_eq!(received[1], (b"b".to_vec(), sender.local_address()));
}

#[test]
fn a_unicast_port_has_one_owner() {
    let first = local();
    let second = UdpSocket::unicast(first.local_address(), &UdpOptions::default());
    let error = second.expect_err("the port is taken");
    assert!(error.is_address_in_use());
    assert!(
        error
            .to_string()
            .contains(&first.local_address().to_string())
    );
}

#[test]
fn a_unicast_address_is_no_group() {
    let error = UdpSocket::group(LOCAL, &[], &UdpOptions::default());
    assert!(matches!(error, Err(SocketError::NotMulticast { .. })));
}

#[test]
fn multicast_stays_on_loopback_and_reaches_every_member() {
    let options = on_loopback();
    let interfaces = [options.multicast_interface.clone().expect("set above")];
    let join = |group| UdpSocket::group(group, &interfaces, &options).expect("a group port");
    let first = join(SocketAddr::from(([239, 255, 77, 1], 0)));
    let group = SocketAddr::from(([239, 255, 77, 1], first.local_address().port()));
    let second = join(group);
    let other = join(SocketAddr::from(([239, 255, 77, 2], group.port())));

    let sender = UdpSocket::unicast(LOCAL, &options).expect("a free port");
    sender
        .send_to(b"to the group", group)
        .expect("loopback takes it");
    for member in [&first, &second] {
        assert_eq!(
            receive(member, 1)[0],
            (b"to the group".to_vec(), sender.local_address())
        );
    }
    // Had the other group's socket heard it, it would be first.
    sender
        .send_to(b"to the other", other.local_address())
        .expect("loopback takes it");
    assert_eq!(receive(&other, 1)[0].0, b"to the other");
}

/// Runs itself as a second process, which sends to the group that this one has joined.
#[test]
fn multicast_passes_between_processes_without_a_route() {
    const GROUP: &str = "TICKWIRE_TEST_GROUP";
    let options = on_loopback();
    if let Ok(group) = std::env::var(GROUP) {
        let sender = UdpSocket::unicast(LOCAL, &options).expect("a free port");
        let group = group.parse().expect("the parent wrote an address");
        return sender
            .send_to(b"from the child", group)
            .expect("loopback takes it");
    }
    let interfaces = [options.multicast_interface.clone().expect("set above")];
    let group = SocketAddr::from(([239, 255, 77, 3], 0));
    let member = UdpSocket::group(group, &interfaces, &options).expect("a group port");
    let status = Command::new(std::env::current_exe().expect("tests are files"))
        .args([
            "--exact",
            "multicast_passes_between_processes_without_a_route",
        ])
        .env(GROUP, member.local_address().to_string())
        .stdout(std::process::Stdio::null())
        .status()
        .expect("the test can start itself");
    assert!(status.success());
    assert_eq!(receive(&member, 1)[0].0, b"from the child");
}

#[test]
fn a_wait_ends_at_its_deadline_or_when_woken() {
    let socket = local();
    let waker = Waker::new().expect("an eventfd");
    for spin in [Duration::ZERO, Duration::from_millis(1)] {
        let mut poller = Poller::new(&socket).waker(&waker).busy_poll(spin);
        let deadline = clock::now() + Duration::from_millis(2);
        assert!(
            poller
                .wait(Some(deadline))
                .expect("polling works")
                .timed_out()
        );
        assert!(clock::now() >= deadline);

        waker.wake();
        waker.wake();
        assert!(poller.wait(None).expect("polling works").woken());
        // Both wake-ups were one.
        assert_eq!(
            poller.wait(Some(clock::now())).expect("polling works"),
            Ready::default()
        );
    }
}

#[test]
fn an_empty_socket_yields_nothing() {
    assert_eq!(
        ReceiveBatch::new()
            .receive(&local())
            .expect("the socket works"),
        0
    );
}

#[test]
fn a_thread_that_waits_to_receive_gets_every_datagram() {
    let socket = local();
    thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let mut batch = ReceiveBatch::new();
            let mut count = 0;
            while count < 2 {
                count += batch.wait(&socket).expect("the socket works");
            }
            count
        });
        for datagram in [&b"one"[..], b"two"] {
            socket
                .send_to(datagram, socket.local_address())
                .expect("loopback takes it");
        }
        assert_eq!(receiver.join().expect("it does not panic"), 2);
    });
}

#[test]
fn what_comes_alone_is_received_alone_until_more_waits() {
    let local_v6 = SocketAddr::from((Ipv6Addr::LOCALHOST, 0));
    for address in [LOCAL, local_v6] {
        let options = UdpOptions::default();
        let socket = UdpSocket::unicast(address, &options).expect("a free port");
        let send = |number: u8| {
            let sent = socket.send_to(&[number], socket.local_address());
            sent.expect("loopback takes it");
        };
        for call in [ReceiveBatch::wait, ReceiveBatch::receive_next] {
            let mut batch = ReceiveBatch::new();
            let mut next = || -> Vec<u8> {
                assert!(call(&mut batch, &socket).expect("the socket works") > 0);
                let datagrams = batch.iter();
                let numbers = datagrams.map(|datagram| {
                    assert_eq!(datagram.source, socket.local_address());
                    datagram.bytes[0]
                });
                numbers.collect()
            };
            for number in 0..100 {
                send(number);
                assert_eq!(next(), [number]);
            }
            (0..30).for_each(send);
            let (mut came, mut calls) = (Vec::new(), 0);
            while came.len() < 30 {
                came.extend(next());
                calls += 1;
            }
            assert_eq!(came, Vec::from_iter(0..30));
            assert!((2..=8).contains(&calls), "{calls} calls");
        }
    }
}

#[test]
fn the_end_of_receiving_wakes_who_waits() {
    for before in [0, 20] {
        let socket = local();
        let (tell, done) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            let receiver = scope.spawn(|| {
                let mut batch = ReceiveBatch::new();
                for _ in 0..before {
                    let sent = socket.send_to(b"alone", socket.local_address());
                    sent.expect("loopback takes it");
                    batch.wait(&socket).expect("the socket works");
                }
                tell.send(()).expect("somebody waits for it");
                batch.wait(&socket).expect("the socket works");
                batch.iter().all(|datagram| datagram.bytes.is_empty())
            });
            // Once the last one has come, whether it waits already or not.
            done.recv().expect("it sends that");
            socket.end_receiving();
            assert!(receiver.join().expect("it does not panic"));
        });
    }
}

#[test]
fn the_granted_buffer_is_reported() {
    let options = UdpOptions {
        receive_buffer_bytes: 64 << 10,
        ..UdpOptions::default()
    };
    let socket = UdpSocket::unicast(LOCAL, &options).expect("a free port");
    assert!(socket.receive_buffer_bytes() >= 64 << 10);
}

/// Receives datagrams and the octets of their headers that begin with the DSCP.
fn receive_marked(socket: &UdpSocket, count: usize) -> Vec<(Vec<u8>, u8)> {
    let mut room = cmsg_space!(i32);
    let mut all = Vec::new();
    while all.len() < count {
        let mut bytes = [0; 100];
        let mut slices = [IoSliceMut::new(&mut bytes)];
        let (fd, flags) = (socket.as_raw_fd(), MsgFlags::empty());
        let message = recvmsg::<SockaddrStorage>(fd, &mut slices, Some(&mut room), flags);
        let message = message.expect("a datagram");
        let mark = message.cmsgs().expect("whole").find_map(|cmsg| match cmsg {
            ControlMessageOwned::Ipv4Tos(tos) => Some(tos),
            ControlMessageOwned::Ipv6TClass(class) => u8::try_from(class).ok(),
            _ => None,
        });
        let (len, mark) = (message.bytes, mark.expect("the kernel tells"));
        all.push((bytes[..len].to_vec(), mark));
    }
    all
}

#[test]
fn datagrams_carry_the_dscp_that_they_are_given() {
    let v6 = SocketAddr::new(Ipv6Addr::LOCALHOST.into(), 0);
    for address in [LOCAL, v6] {
        let open = || UdpSocket::unicast(address, &UdpOptions::default()).expect("a port");
        let (sender, receiver) = (open(), open());
        let told = match address {
            SocketAddr::V4(_) => setsockopt(&receiver, sockopt::IpRecvTos, &true),
            SocketAddr::V6(_) => setsockopt(&receiver, sockopt::Ipv6RecvTClass, &true),
        };
        told.expect("Linux can tell");
        let marks = [0, 46, 46, 0, 0, 8, 200];
        let payloads: Vec<[u8; 1]> = (0..7).map(|number| [number]).collect();
        let to = receiver.local_address();
        let datagrams = marks.into_iter().zip(&payloads);
        sender
            .send_each_marked(datagrams.map(|(mark, payload)| (mark, &payload[..], to)))
            .expect("loopback takes them");
        // A mark does not stick to the socket.
        sender.send_to(&[7], to).expect("loopback takes it");
        sender
            .send_each([(&[8][..], to), (&[9][..], to)])
            .expect("loopback takes them");
        let received = receive_marked(&receiver, 10);
        let (payloads, marks): (Vec<_>, Vec<_>) = received.into_iter().unzip();
        assert!(payloads.iter().enumerate().all(|(i, p)| p[..] == [i as u8]));
        let dscp = [0, 46, 46, 0, 0, 8, 63, 0, 0, 0];
        assert_eq!(marks, dscp.map(|dscp| dscp << 2));
    }
}

#[test]
fn a_socket_polls_the_interface_busily_or_says_what_that_takes() {
    let options = UdpOptions {
        busy_poll: Some(Duration::from_micros(70)),
        ..UdpOptions::default()
    };
    match UdpSocket::unicast(LOCAL, &options) {
        Ok(socket) => {
            let us = SockRef::from(&socket).busy_poll();
            assert_eq!(us.expect("it was set"), 70);
        }
        Err(error) => {
            let said = error.to_string();
            assert!(said.contains("it takes CAP_NET_ADMIN"), "{said}");
        }
    }
}

/// Sends until datagrams have a time: the first ones may come before the kernel has begun.
fn begin_to_stamp(from: &UdpSocket, stamped: &UdpSocket, batch: &mut ReceiveBatch) {
    let deadline = clock::now() + PATIENCE;
    let mut has_begun = false;
    while !has_begun {
        assert!(clock::now() < deadline, "no datagram has a time");
        from.send_to(b"?", stamped.local_address()).expect("sent");
        batch.wait(stamped).expect("the socket works");
        has_begun = batch.iter().all(|d| d.kernel_timestamp.is_some());
    }
}

#[test]
fn the_kernel_notes_when_datagrams_come_in_one_batch_after_the_other() {
    let options = UdpOptions {
        receive_timestamps: ReceiveTimestamps::Software,
        ..UdpOptions::default()
    };
    for address in [LOCAL, (Ipv6Addr::LOCALHOST, 0).into()] {
        let stamped = UdpSocket::unicast(address, &options).expect("a free port");
        let plain = UdpSocket::unicast(address, &UdpOptions::default()).expect("a free port");
        let mut batch = ReceiveBatch::new();
        begin_to_stamp(&plain, &stamped, &mut batch);
        for _ in 0..10 {
            let before = clock::timestamp();
            for socket in [&stamped, &plain] {
                let to = [(&b"tick"[..], socket.local_address()); 20];
                plain.send_each(to).expect("loopback takes them");
            }
            assert_eq!(batch.wait(&stamped).expect("the socket works"), 20);
            let after = clock::timestamp();
            let is_between = |stamp| before <= stamp && stamp <= after;
            assert!(
                batch
                    .iter()
                    .all(|d| d.kernel_timestamp.is_some_and(is_between))
            );
            assert!(batch.wait(&plain).expect("the socket works") > 0);
            assert_eq!(batch.iter().count(), 20);
            assert!(batch.iter().all(|d| d.kernel_timestamp.is_none()));
        }
    }
}

/// Numbered datagrams of these lengths.
fn numbered(lens: &[usize]) -> Vec<Vec<u8>> {
    let numbers = (0_u32..).map(u32::to_be_bytes);
    let each = lens.iter().zip(numbers).map(|(&len, number)| {
        let bytes = number.into_iter().cycle();
        bytes.take(len).collect()
    });
    each.collect()
}

/// Takes all that waits, by one way; how many datagrams the kernel gave, where those left together count once.
fn take(
    batch: &mut ReceiveBatch,
    socket: &UdpSocket,
    by: fn(&mut ReceiveBatch, &UdpSocket) -> Result<usize, tickwire_transport::ReceiveError>,
    all: &mut Vec<Vec<u8>>,
    count: usize,
) -> usize {
    let mut poller = Poller::new(socket);
    let deadline = clock::now() + PATIENCE;
    let mut given = 0;
    while all.len() < count {
        let ready = poller.wait(Some(deadline)).expect("polling works");
        assert!(ready.socket(0), "only {} of {count} arrived", all.len());
        given += by(batch, socket).expect("the socket works");
        all.extend(batch.iter().map(|datagram| datagram.bytes.to_vec()));
    }
    given
}

#[test]
fn datagrams_that_share_a_way_through_the_kernel_stay_what_they_are() {
    let many: Vec<usize> = [1_000; 40].into_iter().chain([7]).collect();
    let mixed = [
        1_200, 1_200, 1_200, 300, 1_200, 0, 20, 20, 21, 20, 9_001, 9_001, 30_000, 5, 5,
    ];
    let ways = [
        ReceiveBatch::receive,
        ReceiveBatch::receive_next,
        ReceiveBatch::wait,
        ReceiveBatch::look,
    ];
    let six = SocketAddr::from((Ipv6Addr::LOCALHOST, 0));
    for (address, connects) in [(LOCAL, false), (LOCAL, true), (six, false), (six, true)] {
        let options = UdpOptions {
            connects,
            ..UdpOptions::default()
        };
        let sender = UdpSocket::unicast(address, &options).expect("a free port");
        let receiver = UdpSocket::unicast(address, &UdpOptions::default()).expect("a free port");
        let to = receiver.local_address();
        let mut batch = ReceiveBatch::new();
        let mut left_together = false;
        // Until the kernel is asked to leave them together, and then by each way.
        for (round, way) in (0..100).zip(ways.into_iter().cycle()) {
            let lens = if round % 3 == 2 { &mixed[..] } else { &many };
            let datagrams = numbered(lens);
            let to_there = datagrams.iter().map(|bytes| (&bytes[..], to));
            sender.send_each(to_there).expect("loopback takes them");
            let mut all = Vec::new();
            let given = take(&mut batch, &receiver, way, &mut all, datagrams.len());
            assert_eq!(all, datagrams, "round {round}");
            left_together |= given * 4 < datagrams.len();
        }
        assert!(left_together, "the kernel gave them one by one");

        // Where they come alone for a while the kernel is asked to leave them so, and anew when they crowd again.
        for (lone, way) in numbered(&[20; 200]).iter().zip(ways.into_iter().cycle()) {
            sender.send_to(lone, to).expect("loopback takes it");
            let mut all = Vec::new();
            assert_eq!(take(&mut batch, &receiver, way, &mut all, 1), 1);
            assert_eq!(all, std::slice::from_ref(lone));
        }
        let given = [(); 5].map(|()| {
            let datagrams = numbered(&many);
            let to_there = datagrams.iter().map(|bytes| (&bytes[..], to));
            sender.send_each(to_there).expect("loopback takes them");
            let (way, mut all) = (ReceiveBatch::receive, Vec::new());
            let given = take(&mut batch, &receiver, way, &mut all, datagrams.len());
            assert_eq!(all, datagrams);
            given
        });
        assert_eq!((given[0], given[4]), (many.len(), 2));
    }
}

#[test]
fn a_socket_with_timestamps_has_one_for_each_of_many() {
    let options = UdpOptions {
        receive_timestamps: ReceiveTimestamps::Software,
        ..UdpOptions::default()
    };
    let (sender, receiver) = (
        local(),
        UdpSocket::unicast(LOCAL, &options).expect("a free port"),
    );
    let mut batch = ReceiveBatch::new();
    begin_to_stamp(&sender, &receiver, &mut batch);
    for _ in 0..20 {
        let datagrams = numbered(&[1_000; 40]);
        let to = receiver.local_address();
        let to_there = datagrams.iter().map(|bytes| (&bytes[..], to));
        sender.send_each(to_there).expect("loopback takes them");
        let mut count = 0;
        while count < datagrams.len() {
            batch.wait(&receiver).expect("the socket works");
            for (datagram, sent) in batch.iter().zip(&datagrams[count..]) {
                assert_eq!(datagram.bytes, sent);
                assert!(datagram.kernel_timestamp.is_some());
            }
            count += batch.iter().count();
        }
    }
}
