//! Sending several datagrams per system call.
//!
//! Where some in a row go to one address and are of one length, as the fragments of a sample are, the kernel is given them as
//! one and cuts it at the interface (GSO: UDP_SEGMENT, Linux 4.18), or at the receiver's, which may take it whole, too
//! ([`take_whole`](UdpSocket::take_whole)). Through a virtual cable of MTU 1500, 1,400 bytes each take 0.3 µs of the sender so
//! instead of 6.

use std::cell::RefCell;
use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};

use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, MsgFlags, MultiHeaders, SockaddrIn, SockaddrIn6, SockaddrLike, sendmmsg,
};
use socket2::Socket;
use tickwire_base::Pieces;

use crate::batch::{BATCH, MAX_CUT, headers, lend};
use crate::{SendError, UdpSocket};

// The kernel's argument blocks: they keep pointers to what was sent last, and so stay with their thread. Those with control
// messages are apart, as each has to fill its room.
thread_local! {
    static SEND_V4: RefCell<MultiHeaders<SockaddrIn>> = headers();
    static SEND_V6: RefCell<MultiHeaders<SockaddrIn6>> = headers();
    static SEND_MARKED_V4: RefCell<MultiHeaders<SockaddrIn>> = marked_headers();
    static SEND_MARKED_V6: RefCell<MultiHeaders<SockaddrIn6>> = marked_headers();
    static SEND_WHOLE_V4: RefCell<MultiHeaders<SockaddrIn>> = whole_headers();
    static SEND_WHOLE_V6: RefCell<MultiHeaders<SockaddrIn6>> = whole_headers();
}

/// With room for the type of service, which is an octet over IPv4 and an integer over IPv6.
fn marked_headers<S: SockaddrLike + Copy>() -> RefCell<MultiHeaders<S>> {
    let room = cmsg_space!(i32);
    RefCell::new(MultiHeaders::preallocate(BATCH, Some(room)))
}

/// For one, with room for the length at which it is cut.
fn whole_headers<S: SockaddrLike + Copy>() -> RefCell<MultiHeaders<S>> {
    RefCell::new(MultiHeaders::preallocate(1, Some(cmsg_space!(u16))))
}

/// Sends what fits the socket's family in batches; the rest fails one by one, with the kernel's reason.
pub(crate) fn send_to_each<'a>(
    socket: &UdpSocket,
    mut datagrams: impl Iterator<Item = (Pieces<'a>, SocketAddr)>,
) -> Result<(), SendError> {
    let Some(first) = datagrams.next() else {
        return Ok(());
    };
    match datagrams.next() {
        None => socket.send_one(first.0, first.1),
        Some(second) => send_all(socket, 0, [first, second].into_iter().chain(datagrams)),
    }
}

/// The same with a DSCP for each. Those in a row that have the same share system calls.
pub(crate) fn send_to_each_marked<'a>(
    socket: &UdpSocket,
    datagrams: impl Iterator<Item = (u8, Pieces<'a>, SocketAddr)>,
) -> Result<(), SendError> {
    let mut datagrams = datagrams.peekable();
    let mut first_error = Ok(());
    while let Some(&(dscp, ..)) = datagrams.peek() {
        let same = std::iter::from_fn(|| datagrams.next_if(|next| next.0 == dscp));
        let sent = send_all(socket, dscp, same.map(|(_, bytes, to)| (bytes, to)));
        first_error = first_error.and(sent);
    }
    first_error
}

fn send_all<'a>(
    socket: &UdpSocket,
    dscp: u8,
    mut datagrams: impl Iterator<Item = (Pieces<'a>, SocketAddr)>,
) -> Result<(), SendError> {
    let mut first_error = Ok(());
    loop {
        let mut batch = [(Pieces::default(), None); BATCH];
        let mut count = 0;
        for (slot, (bytes, to)) in batch.iter_mut().zip(&mut datagrams) {
            *slot = (bytes, Some(to));
            count += 1;
        }
        let sent = match batch.get(..count) {
            None | Some([]) => return first_error,
            Some(&[(bytes, Some(to))]) if dscp == 0 => socket.send_one(bytes, to),
            Some(batch) => send_batch(socket, dscp, batch),
        };
        first_error = first_error.and(sent);
    }
}

fn send_batch(
    socket: &UdpSocket,
    dscp: u8,
    batch: &[(Pieces<'_>, Option<SocketAddr>)],
) -> Result<(), SendError> {
    let mut first_error = Ok(());
    let mut rest = batch;
    let connected = match sole_destination(batch).filter(|_| dscp == 0) {
        Some(to) => socket.connected(to),
        None => {
            let destinations = batch.iter().filter_map(|&(_, to)| to);
            destinations.for_each(|to| socket.part(to));
            None
        }
    };
    while let Some(&(bytes, destination)) = rest.first() {
        let together = match dscp == 0 && socket.gives_whole() {
            true => train_len(rest),
            false => 1,
        };
        if together > 1 {
            let (train, behind) = rest.split_at(together);
            let sent = send_whole(socket, connected.as_deref(), train);
            socket.gave_whole(!sent.is_err_and(is_refusal));
            if sent.is_ok() {
                rest = behind;
                continue;
            }
            // One by one, then, and if they cannot be sent so either the kernel says why.
        }
        let sent = match (&connected, socket.local_address()) {
            (Some(connected), _) => send_some_connected(connected, rest),
            (None, SocketAddr::V4(_)) => send_some_v4(socket, dscp, rest),
            (None, SocketAddr::V6(_)) => send_some_v6(socket, dscp, rest),
        };
        match (sent, destination) {
            (Ok(sent), _) if sent > 0 => rest = rest.get(sent..).unwrap_or_default(),
            (_, Some(destination)) => {
                // The kernel stops at the first that it cannot send: alone, it says why.
                first_error = first_error.and(socket.send_one(bytes, destination));
                rest = rest.get(1..).unwrap_or_default();
            }
            (_, None) => rest = rest.get(1..).unwrap_or_default(),
        }
    }
    first_error
}

/// Where all of them go, if that is one address.
fn sole_destination(batch: &[(Pieces<'_>, Option<SocketAddr>)]) -> Option<SocketAddr> {
    let &(_, first) = batch.first()?;
    first.filter(|_| batch.iter().all(|&(_, to)| to == first))
}

/// Sends those that all go where the socket is connected.
fn send_some_connected(
    socket: &Socket,
    batch: &[(Pieces<'_>, Option<SocketAddr>)],
) -> nix::Result<usize> {
    lend(&SEND_V4, headers, |headers| {
        let slices = slices(batch);
        let slices = pieces(&slices, batch);
        let slices = slices.get(..batch.len()).unwrap_or_default();
        let none: [Option<SockaddrIn>; BATCH] = [None; BATCH];
        let flags = MsgFlags::empty();
        sendmmsg(socket.as_raw_fd(), headers, slices, &none[..], [], flags).map(Iterator::count)
    })
}

/// All pieces of as many datagrams as there are.
fn slices<'a>(batch: &[(Pieces<'a>, Option<SocketAddr>)]) -> [[IoSlice<'a>; 3]; BATCH] {
    std::array::from_fn(|at| {
        let (pieces, _) = batch.get(at).copied().unwrap_or_default();
        pieces.in_order().map(IoSlice::new)
    })
}

/// Those that have bytes: each one takes the kernel time.
fn pieces<'a, 'b>(
    slices: &'b [[IoSlice<'a>; 3]; BATCH],
    batch: &[(Pieces<'a>, Option<SocketAddr>)],
) -> [&'b [IoSlice<'a>]; BATCH] {
    std::array::from_fn(|at| {
        let count = batch
            .get(at)
            .map_or(1, |(pieces, _)| match pieces.is_one() {
                true => 1,
                false if pieces.foot.is_empty() => 2,
                false => 3,
            });
        &slices[at][..count]
    })
}

fn send_some_v4(
    socket: &UdpSocket,
    dscp: u8,
    batch: &[(Pieces<'_>, Option<SocketAddr>)],
) -> nix::Result<usize> {
    let address = |to| match to {
        SocketAddr::V4(v4) => Some(v4.into()),
        SocketAddr::V6(_) => None,
    };
    if dscp == 0 {
        return lend(&SEND_V4, headers, |headers| {
            send_some(socket, headers, batch, &[], address)
        });
    }
    let tos = type_of_service(dscp);
    let mark = [ControlMessage::Ipv4Tos(&tos)];
    lend(&SEND_MARKED_V4, marked_headers, |headers| {
        send_some(socket, headers, batch, &mark, address)
    })
}

fn send_some_v6(
    socket: &UdpSocket,
    dscp: u8,
    batch: &[(Pieces<'_>, Option<SocketAddr>)],
) -> nix::Result<usize> {
    let address = |to| match to {
        SocketAddr::V4(_) => None,
        SocketAddr::V6(v6) => Some(v6.into()),
    };
    if dscp == 0 {
        return lend(&SEND_V6, headers, |headers| {
            send_some(socket, headers, batch, &[], address)
        });
    }
    let class = type_of_service(dscp).into();
    let mark = [ControlMessage::Ipv6TClass(&class)];
    lend(&SEND_MARKED_V6, marked_headers, |headers| {
        send_some(socket, headers, batch, &mark, address)
    })
}

/// The octet of the IP header that begins with the DSCP (RFC 2474 §3); the rest belongs to routers.
fn type_of_service(dscp: u8) -> u8 {
    dscp.min(MAX_DSCP) << 2
}

/// Sends a leading part of `batch` and says how many datagrams that was.
fn send_some<S: SockaddrLike + Copy>(
    socket: &UdpSocket,
    headers: &mut MultiHeaders<S>,
    batch: &[(Pieces<'_>, Option<SocketAddr>)],
    mark: &[ControlMessage<'_>],
    address: impl Fn(SocketAddr) -> Option<S>,
) -> nix::Result<usize> {
    let slices = slices(batch);
    let slices = pieces(&slices, batch);
    let mut addresses: [Option<S>; BATCH] = [None; BATCH];
    let mut count = 0;
    for (slot, (_, destination)) in addresses.iter_mut().zip(batch) {
        *slot = destination.and_then(&address);
        if slot.is_none() {
            break;
        }
        count += 1;
    }
    let slices = slices.get(..count).unwrap_or_default();
    if slices.is_empty() {
        return Ok(0);
    }
    sendmmsg(
        socket.as_raw_fd(),
        headers,
        slices,
        &addresses[..],
        mark,
        MsgFlags::empty(),
    )
    .map(Iterator::count)
}

/// A DSCP has six bits.
const MAX_DSCP: u8 = 63;

/// How many of the first go to one address and may be given to the kernel as one: of one length, but for a shorter one at the
/// end.
fn train_len(batch: &[(Pieces<'_>, Option<SocketAddr>)]) -> usize {
    let Some(&(first, to)) = batch.first() else {
        return 0;
    };
    let cut = first.len();
    if cut == 0 || cut > MAX_CUT {
        return 1;
    }
    let (mut len, mut count) = (0, 0);
    for &(pieces, other) in batch {
        len += pieces.len();
        if other != to || pieces.is_empty() || pieces.len() > cut || len > MAX_TRAIN_LEN {
            break;
        }
        count += 1;
        if pieces.len() < cut {
            break;
        }
    }
    count
}

/// Whether the kernel, or the interface, would not cut it.
fn is_refusal(error: Errno) -> bool {
    use Errno::{EINVAL, EIO, EMSGSIZE, ENOPROTOOPT, EOPNOTSUPP};
    matches!(error, EINVAL | EIO | EMSGSIZE | ENOPROTOOPT | EOPNOTSUPP)
}

/// Sends such a train as one.
fn send_whole(
    socket: &UdpSocket,
    connected: Option<&Socket>,
    train: &[(Pieces<'_>, Option<SocketAddr>)],
) -> nix::Result<()> {
    let to = train.first().and_then(|&(_, to)| to);
    match (connected, to) {
        (Some(connected), _) => lend(&SEND_WHOLE_V4, whole_headers, |headers| {
            send_whole_to(connected.as_raw_fd(), headers, train, None)
        }),
        (None, Some(SocketAddr::V4(to))) => lend(&SEND_WHOLE_V4, whole_headers, |headers| {
            send_whole_to(socket.as_raw_fd(), headers, train, Some(to.into()))
        }),
        (None, Some(SocketAddr::V6(to))) => lend(&SEND_WHOLE_V6, whole_headers, |headers| {
            send_whole_to(socket.as_raw_fd(), headers, train, Some(to.into()))
        }),
        (None, None) => Err(Errno::EDESTADDRREQ),
    }
}

fn send_whole_to<S: SockaddrLike + Copy>(
    socket: RawFd,
    headers: &mut MultiHeaders<S>,
    train: &[(Pieces<'_>, Option<SocketAddr>)],
    to: Option<S>,
) -> nix::Result<()> {
    let cut = train.first().map_or(0, |(pieces, _)| pieces.len());
    let cut = u16::try_from(cut).map_err(|_| Errno::EMSGSIZE)?;
    let mut slices = [IoSlice::new(&[]); 3 * BATCH];
    let pieces = train.iter().flat_map(|(pieces, _)| pieces.in_order());
    let pieces = pieces.filter(|piece| !piece.is_empty());
    let count = slices.iter_mut().zip(pieces).map(|(slice, piece)| {
        *slice = IoSlice::new(piece);
    });
    let count = count.count();
    let slices = slices.get(..count).unwrap_or_default();
    let control = [ControlMessage::UdpGsoSegments(&cut)];
    let all = [slices];
    let sent = sendmmsg(socket, headers, &all, [to], &control[..], MsgFlags::empty())?;
    match sent.count() {
        1 => Ok(()),
        _ => Err(Errno::EAGAIN),
    }
}

/// Of all that are given to the kernel as one: what a datagram may have, and the heads that the kernel adds.
const MAX_TRAIN_LEN: usize = 65_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_train_is_what_goes_to_one_address_in_one_length_but_for_its_end() {
        let bytes = [0; 10_000];
        let [here, there] = [1, 2].map(|port| Some(SocketAddr::from(([127, 0, 0, 1], port))));
        let of = |batch: &[(usize, Option<SocketAddr>)]| {
            let batch = batch
                .iter()
                .map(|&(len, to)| (Pieces::from(&bytes[..len]), to));
            train_len(&batch.collect::<Vec<_>>())
        };
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&[(100, here)]), 1);
        assert_eq!(of(&[(100, here), (100, here), (100, here)]), 3);
        assert_eq!(of(&[(100, here), (100, here), (99, here), (99, here)]), 3);
        assert_eq!(of(&[(100, here), (101, here)]), 1);
        assert_eq!(of(&[(100, here), (100, there)]), 1);
        assert_eq!(of(&[(100, here), (0, here)]), 1);
        assert_eq!(of(&[(0, here), (0, here)]), 1);
        assert_eq!(of(&[(9_001, here), (9_001, here)]), 1);
        assert_eq!(of(&[(9_000, here); 8]), 7);
    }
}
