//! Several datagrams per system call.

use std::cell::RefCell;
use std::io::{IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::thread::LocalKey;

use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, MultiHeaders, RecvMsg, SockaddrIn, SockaddrIn6,
    SockaddrLike, Timestamps, recvmmsg, sendmmsg,
};
use nix::sys::time::TimeSpec;
use rustix::net::{RecvFlags, recvfrom};
use socket2::Socket;
use tickwire_base::{Pieces, Timestamp};

use crate::clock::nanos;
use crate::page_aligned::PageAligned;
use crate::{ReceiveError, SendError, UdpSocket};

/// Datagrams per system call at most.
const BATCH: usize = 32;

/// The same of long ones, and what is one, in bytes.
const BATCH_OF_LONG: usize = 4;
const LONG: usize = 1 << 14;

/// Datagrams that are received one by one by who looks before a system call asks for more.
const MAX_ALONE: u32 = 4;

/// System calls in a row that have found one datagram before one is received alone, and how often more are asked for
/// then.
const FEW: u32 = 4;
const PROBE: u32 = 8;

/// Room for any UDP datagram.
const SLOT_BYTES: usize = 1 << 16;

/// Reusable room for 32 datagrams of any size: 2 MiB, of which the kernel backs with memory what was
/// once written to.
pub struct ReceiveBatch {
    slots: PageAligned,
    received: [Option<(usize, SocketAddr)>; BATCH],
    /// When the kernel received them, if it was asked to note that.
    stamps: [Option<Timestamp>; BATCH],
    count: usize,
    /// How many there was room for.
    room: usize,
    /// How often in a row [`look`](Self::look) has found one.
    found_in_a_row: u32,
    /// How often in a row calls that may take one alone have found one.
    alone: u32,
}

/// A received datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// Its payload.
    pub bytes: &'a [u8],
    /// Who sent it.
    pub source: SocketAddr,
    /// When the kernel received it, if the socket [asks for that](crate::UdpOptions::receive_timestamps).
    pub kernel_timestamp: Option<Timestamp>,
}

impl ReceiveBatch {
    /// Most datagrams that one call of [`receive`](Self::receive) returns.
    pub const CAPACITY: usize = BATCH;

    /// Allocates the room.
    pub fn new() -> Self {
        Self {
            slots: PageAligned::new(BATCH * SLOT_BYTES),
            received: [None; BATCH],
            stamps: [None; BATCH],
            count: 0,
            room: BATCH,
            found_in_a_row: 0,
            alone: 0,
        }
    }

    /// Replaces the content by what waits on `socket`, and says how many datagrams that is; 0 when
    /// none does. One system call, which does not block.
    pub fn receive(&mut self, socket: &UdpSocket) -> Result<usize, ReceiveError> {
        self.receive_several(socket, MsgFlags::MSG_DONTWAIT)
    }

    /// As [`receive`](Self::receive), for who comes back at once: where datagrams have come alone for a while, it mostly
    /// takes one alone, whether more wait or not, which takes the kernel 0.7 µs less.
    pub fn receive_next(&mut self, socket: &UdpSocket) -> Result<usize, ReceiveError> {
        self.receive_some(socket, MsgFlags::MSG_DONTWAIT, RecvFlags::DONTWAIT)
    }

    /// As [`receive_next`](Self::receive_next), but sleeps until there is a datagram: one system call where
    /// waiting in a [`Poller`](crate::Poller) takes two. A signal ends it without one,
    /// [`end_receiving`](UdpSocket::end_receiving) with an empty one.
    pub fn wait(&mut self, socket: &UdpSocket) -> Result<usize, ReceiveError> {
        self.receive_some(socket, MsgFlags::MSG_WAITFORONE, RecvFlags::empty())
    }

    /// As [`receive`](Self::receive), for who asks again and again, and so knows whether they come faster than they are
    /// asked for: only then is it for several.
    pub fn look(&mut self, socket: &UdpSocket) -> Result<usize, ReceiveError> {
        if socket.has_timestamps() || self.found_in_a_row >= MAX_ALONE {
            let count = self.receive_several(socket, MsgFlags::MSG_DONTWAIT)?;
            self.found_in_a_row *= u32::from(count > 1);
            return Ok(count);
        }
        let count = self.receive_one(socket, RecvFlags::DONTWAIT)?;
        self.found_in_a_row = (self.found_in_a_row + 1) * u32::from(count > 0);
        Ok(count)
    }

    /// One datagram, or several.
    fn receive_some(
        &mut self,
        socket: &UdpSocket,
        several: MsgFlags,
        one: RecvFlags,
    ) -> Result<usize, ReceiveError> {
        let asks_for_more = self.alone < FEW || self.alone.is_multiple_of(PROBE);
        let count = match asks_for_more || socket.has_timestamps() {
            true => self.receive_several(socket, several)?,
            false => self.receive_one(socket, one)?,
        };
        match count {
            0 => {}
            1 => self.alone = self.alone.wrapping_add(1),
            _ => self.alone = 0,
        }
        Ok(count)
    }

    fn receive_one(&mut self, socket: &UdpSocket, flags: RecvFlags) -> Result<usize, ReceiveError> {
        self.count = 0;
        let (slot, _) = self.slots.split_at_mut(SLOT_BYTES);
        let received = match recvfrom(socket, slot, flags) {
            Ok((_, len, source)) => source
                .and_then(|source| SocketAddr::try_from(source).ok())
                .map(|source| (len, source)),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Ok(0),
            Err(errno) => {
                return Err(ReceiveError {
                    address: socket.local_address(),
                    source: errno.into(),
                });
            }
        };
        let places = self.received.iter_mut().zip(&mut self.stamps);
        for (place, stamp) in places.take(1) {
            (*place, *stamp) = (received, None);
        }
        self.count = 1;
        Ok(self.count)
    }

    fn receive_several(
        &mut self,
        socket: &UdpSocket,
        flags: MsgFlags,
    ) -> Result<usize, ReceiveError> {
        // Where they are long, no more than stay in the processor's cache until they are looked at.
        let taken = self.received.iter().take(self.count);
        let are_long = taken.flatten().any(|&(len, _)| len > LONG);
        self.room = if are_long { BATCH_OF_LONG } else { BATCH };
        self.count = 0;
        let result = match (socket.local_address(), socket.has_timestamps()) {
            (SocketAddr::V4(_), false) => self.receive_by(&RECEIVE_V4, headers, socket, flags),
            (SocketAddr::V4(_), true) => {
                self.receive_by(&RECEIVE_STAMPED_V4, stamped_headers, socket, flags)
            }
            (SocketAddr::V6(_), false) => self.receive_by(&RECEIVE_V6, headers, socket, flags),
            (SocketAddr::V6(_), true) => {
                self.receive_by(&RECEIVE_STAMPED_V6, stamped_headers, socket, flags)
            }
        };
        self.count = result?;
        Ok(self.count)
    }

    fn receive_by<S: Address>(
        &mut self,
        headers: &'static LocalKey<RefCell<MultiHeaders<S>>>,
        made: fn() -> RefCell<MultiHeaders<S>>,
        socket: &UdpSocket,
        flags: MsgFlags,
    ) -> Result<usize, ReceiveError> {
        lend(headers, made, |headers| {
            self.receive_into(socket, flags, headers)
        })
    }

    fn receive_into<S: Address>(
        &mut self,
        socket: &UdpSocket,
        flags: MsgFlags,
        headers: &mut MultiHeaders<S>,
    ) -> Result<usize, ReceiveError> {
        let mut slots = self.slots.chunks_exact_mut(SLOT_BYTES);
        let mut slices: [[IoSliceMut<'_>; 1]; BATCH] =
            std::array::from_fn(|_| [IoSliceMut::new(slots.next().unwrap_or_default())]);
        let slices = slices.get_mut(..self.room).unwrap_or_default();
        let results = match recvmmsg(socket.as_raw_fd(), headers, slices, flags, None) {
            Ok(results) => results,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(0),
            Err(errno) => {
                return Err(ReceiveError {
                    address: socket.local_address(),
                    source: errno.into(),
                });
            }
        };
        let mut count = 0;
        let mut lacks_stamp = false;
        let places = self.received.iter_mut().zip(&mut self.stamps);
        for (message, (received, stamp)) in results.zip(places) {
            *received = message.address.map(|from| (message.bytes, from.to_std()));
            *stamp = match socket.has_timestamps() {
                true => stamp_of(&message),
                false => None,
            };
            lacks_stamp |= stamp.is_none();
            count += 1;
        }
        if socket.has_timestamps() && lacks_stamp {
            // The kernel shortens the room for control messages to what it has used, and nix leaves that
            // so for the next call. A stamp always takes all of it; without one there is no room left.
            *headers = stamped_headers().into_inner();
        }
        Ok(count)
    }

    /// Whether there was no room for more, so that more may wait.
    pub fn is_full(&self) -> bool {
        self.count == self.room
    }

    /// The datagrams in their order of arrival.
    pub fn iter(&self) -> impl Iterator<Item = Datagram<'_>> {
        let filled = self.received.iter().zip(&self.stamps).take(self.count);
        let slots = self.slots.chunks_exact(SLOT_BYTES);
        slots.zip(filled).filter_map(|(slot, (received, stamp))| {
            let (len, source) = (*received)?;
            let bytes = slot.get(..len)?;
            Some(Datagram {
                bytes,
                source,
                kernel_timestamp: *stamp,
            })
        })
    }
}

impl Default for ReceiveBatch {
    fn default() -> Self {
        Self::new()
    }
}

// The kernel's argument blocks. They hold pointers, so they stay with their thread; those for
// receiving and for sending are apart because sending leaves its own address pointers behind, and those
// for sockets with stamps because others leave no room for stamps.
thread_local! {
    static RECEIVE_V4: RefCell<MultiHeaders<SockaddrIn>> = headers();
    static RECEIVE_V6: RefCell<MultiHeaders<SockaddrIn6>> = headers();
    static RECEIVE_STAMPED_V4: RefCell<MultiHeaders<SockaddrIn>> =
        stamped_headers();
    static RECEIVE_STAMPED_V6: RefCell<MultiHeaders<SockaddrIn6>> =
        stamped_headers();
    static SEND_V4: RefCell<MultiHeaders<SockaddrIn>> = headers();
    static SEND_V6: RefCell<MultiHeaders<SockaddrIn6>> = headers();
    static SEND_MARKED_V4: RefCell<MultiHeaders<SockaddrIn>> = marked_headers();
    static SEND_MARKED_V6: RefCell<MultiHeaders<SockaddrIn6>> = marked_headers();
}

fn headers<S: SockaddrLike + Copy>() -> RefCell<MultiHeaders<S>> {
    RefCell::new(MultiHeaders::preallocate(BATCH, None))
}

/// With room for the type of service, which is an octet over IPv4 and an integer over IPv6.
fn marked_headers<S: SockaddrLike + Copy>() -> RefCell<MultiHeaders<S>> {
    let room = cmsg_space!(i32);
    RefCell::new(MultiHeaders::preallocate(BATCH, Some(room)))
}

/// With room for a stamp and nothing else.
fn stamped_headers<S: SockaddrLike + Copy>() -> RefCell<MultiHeaders<S>> {
    RefCell::new(MultiHeaders::preallocate(
        BATCH,
        Some(cmsg_space!(Timestamps)),
    ))
}

/// Lends the thread's argument blocks; to a thread that is ending, whose own are gone, new ones.
fn lend<S, R>(
    own: &'static LocalKey<RefCell<MultiHeaders<S>>>,
    made: fn() -> RefCell<MultiHeaders<S>>,
    use_them: impl FnOnce(&mut MultiHeaders<S>) -> R,
) -> R {
    match own.try_with(|_| ()) {
        Ok(()) => own.with_borrow_mut(use_them),
        Err(_) => use_them(made().get_mut()),
    }
}

/// When the kernel received a datagram, by the interface's clock if that has told.
fn stamp_of<S>(message: &RecvMsg<'_, '_, S>) -> Option<Timestamp> {
    // Cut short where there was no room.
    let stamps = message.cmsgs().ok()?.find_map(|control| match control {
        ControlMessageOwned::ScmTimestampsns(stamps) => Some(stamps),
        _ => None,
    })?;
    [stamps.hw_raw, stamps.system].into_iter().find_map(said)
}

/// What a stamp says; a stamp of 0 says nothing.
fn said(stamp: TimeSpec) -> Option<Timestamp> {
    let nanos = nanos(stamp.tv_sec(), stamp.tv_nsec());
    (nanos != 0).then(|| Timestamp::from_nanos(nanos))
}

/// An address as the kernel writes it.
trait Address: SockaddrLike + Copy {
    fn to_std(self) -> SocketAddr;
}

impl Address for SockaddrIn {
    fn to_std(self) -> SocketAddr {
        SocketAddr::V4(self.into())
    }
}

impl Address for SockaddrIn6 {
    fn to_std(self) -> SocketAddr {
        SocketAddr::V6(self.into())
    }
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
