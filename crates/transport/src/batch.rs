//! Receiving several datagrams per system call.

use std::cell::RefCell;
use std::io::IoSliceMut;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::thread::LocalKey;

use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, MultiHeaders, RecvMsg, SockaddrIn, SockaddrIn6, SockaddrLike,
    Timestamps, recvmmsg, recvmsg,
};
use nix::sys::time::TimeSpec;
use rustix::net::{RecvFlags, recvfrom};
use tickwire_base::Timestamp;

use crate::clock::nanos;
use crate::page_aligned::PageAligned;
use crate::{ReceiveError, UdpSocket};

/// Datagrams per system call at most.
pub(crate) const BATCH: usize = 32;

/// The same of long ones, and what is one, in bytes.
const BATCH_OF_LONG: usize = 4;
const LONG: usize = 1 << 14;

/// Datagrams that are received one by one by who looks before a system call asks for more.
const MAX_ALONE: u32 = 4;

/// System calls in a row that have found one datagram before one is received alone, and how often more are asked for
/// then.
const FEW: u32 = 4;
const PROBE: u32 = 8;

/// System calls in a row that find so many datagrams of one length before the kernel is asked to leave them together.
const MANY: usize = 8;
const CROWDED: u32 = 4;

/// Datagrams in a row that the kernel has not left together before it is asked no more to. If it never has, twice as many
/// crowds are to come before it is asked again, up to a maximum.
const UNCUT: usize = 64;
const MAX_CROWDED: u32 = 1 << 12;

/// Room for any UDP datagram.
const SLOT_BYTES: usize = 1 << 16;

/// Reusable room for 32 datagrams of any size: 2 MiB, of which the kernel backs with memory what was
/// once written to.
pub struct ReceiveBatch {
    slots: PageAligned,
    received: [Option<(usize, SocketAddr)>; BATCH],
    /// How long the datagrams are that lie there one behind the other, of which the last may be shorter; 0 where it is one.
    cuts: [usize; BATCH],
    /// When the kernel received them, if it was asked to note that.
    stamps: [Option<Timestamp>; BATCH],
    count: usize,
    /// How many there was room for.
    room: usize,
    /// How often in a row [`look`](Self::look) has found one.
    found_in_a_row: u32,
    /// How often in a row calls that may take one alone have found one.
    alone: u32,
    /// How often in a row calls have found [many](MANY) of one length, and how often they have to.
    crowded: u32,
    crowds: u32,
    /// How many in a row were not left together, and whether others were.
    uncut: usize,
    has_cut: bool,
    /// Whether the last call has ended before nothing was left.
    may_leave: bool,
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
    /// Most datagrams that one call of [`receive`](Self::receive) returns, unless the kernel [leaves them
    /// together](UdpSocket).
    pub const CAPACITY: usize = BATCH;

    /// Allocates the room.
    pub fn new() -> Self {
        Self {
            slots: PageAligned::new(BATCH * SLOT_BYTES),
            received: [None; BATCH],
            cuts: [0; BATCH],
            stamps: [None; BATCH],
            count: 0,
            room: BATCH,
            found_in_a_row: 0,
            alone: 0,
            crowded: 0,
            crowds: CROWDED,
            uncut: 0,
            has_cut: false,
            may_leave: false,
        }
    }

    /// Replaces the content by what waits on `socket`, and says how many datagrams that is, where those that came together
    /// count once; 0 when none does. One system call, which does not block.
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
        if socket.takes_whole() || socket.has_timestamps() || self.found_in_a_row >= MAX_ALONE {
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
        let count = match asks_for_more || socket.takes_whole() || socket.has_timestamps() {
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
        (self.received[0], self.stamps[0], self.cuts[0]) = (received, None, 0);
        (self.count, self.may_leave) = (1, true);
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
        (self.count, self.may_leave) = (0, false);
        if socket.takes_whole() {
            self.receive_whole(socket, flags)?;
            self.note_cuts(socket);
            return Ok(self.count);
        }
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
        self.cuts = [0; BATCH];
        self.crowded = match self.is_crowded() {
            true => self.crowded + 1,
            false => 0,
        };
        if self.crowded >= self.crowds {
            self.crowded = 0;
            socket.take_whole(true);
        }
        Ok(self.count)
    }

    /// Has the kernel no more leave together what it mostly cannot, as each costs a call of its own then.
    fn note_cuts(&mut self, socket: &UdpSocket) {
        let cuts = self.cuts.iter().take(self.count);
        if cuts.clone().any(|&cut| cut != 0) {
            (self.uncut, self.has_cut, self.crowds) = (0, true, CROWDED);
            return;
        }
        self.uncut += cuts.count();
        if self.uncut < UNCUT {
            return;
        }
        socket.take_whole(false);
        if !self.has_cut {
            self.crowds = (self.crowds * 2).min(MAX_CROWDED);
        }
        (self.uncut, self.has_cut) = (0, false);
    }

    /// Whether many datagrams have come together that may as well have come as one.
    fn is_crowded(&self) -> bool {
        let first = self.received[0].filter(|&(len, _)| len <= MAX_CUT);
        let received = self.received.iter().take(self.count);
        let alike = received.take_while(|&&other| first.is_some() && other == first);
        self.count >= MANY && alike.count() >= MANY
    }

    /// What the kernel leaves together, as it came: one system call for each, up to one that came alone, or one more to find
    /// that there is no more.
    fn receive_whole(&mut self, socket: &UdpSocket, flags: MsgFlags) -> Result<(), ReceiveError> {
        // Who waits does so for the first.
        let waits = !flags.contains(MsgFlags::MSG_DONTWAIT);
        let mut flags = match waits {
            true => MsgFlags::empty(),
            false => MsgFlags::MSG_DONTWAIT,
        };
        while self.count < self.room {
            let found = match socket.local_address() {
                SocketAddr::V4(_) => self.receive_next_whole::<SockaddrIn>(socket, flags),
                SocketAddr::V6(_) => self.receive_next_whole::<SockaddrIn6>(socket, flags),
            };
            match found {
                Ok(true) if self.cuts[self.count - 1] == 0 => {
                    self.may_leave = true;
                    break;
                }
                Ok(true) => {}
                Ok(false) | Err(Errno::EAGAIN | Errno::EINTR) => break,
                Err(_) if self.count > 0 => break,
                Err(errno) => {
                    return Err(ReceiveError {
                        address: socket.local_address(),
                        source: errno.into(),
                    });
                }
            }
            flags = MsgFlags::MSG_DONTWAIT;
        }
        Ok(())
    }

    /// False if that is nothing, after which nothing follows.
    fn receive_next_whole<S: Address>(
        &mut self,
        socket: &UdpSocket,
        flags: MsgFlags,
    ) -> nix::Result<bool> {
        let at = self.count;
        let slot = self.slots.chunks_exact_mut(SLOT_BYTES).nth(at);
        let mut slices = [IoSliceMut::new(slot.unwrap_or_default())];
        let mut control = CutSpace::default();
        let message = recvmsg::<S>(socket.as_raw_fd(), &mut slices, Some(&mut control.0), flags)?;
        let received = message.address.map(|from| (message.bytes, from.to_std()));
        let cut = cut_of(&message).unwrap_or_default();
        (self.received[at], self.stamps[at], self.cuts[at]) = (received, None, cut);
        self.count += 1;
        Ok(received.is_some_and(|(len, _)| len > 0))
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

    /// Whether there was no room for more, or no more was asked for, so that more may wait.
    pub fn is_full(&self) -> bool {
        self.count == self.room || self.may_leave
    }

    /// The datagrams in their order of arrival.
    pub fn iter(&self) -> impl Iterator<Item = Datagram<'_>> {
        let filled = self.received.iter().zip(&self.stamps).zip(&self.cuts);
        let slots = self.slots.chunks_exact(SLOT_BYTES);
        let filled = slots.zip(filled).take(self.count);
        filled.flat_map(|(slot, ((received, stamp), &cut))| {
            let received = received.and_then(|(len, source)| Some((slot.get(..len)?, source)));
            let mut rest = received.map(|(bytes, _)| bytes);
            std::iter::from_fn(move || {
                let (_, source) = received?;
                let (bytes, behind) = match rest? {
                    all if cut == 0 || all.len() <= cut => (all, None),
                    all => {
                        let (bytes, behind) = all.split_at(cut);
                        (bytes, Some(behind))
                    }
                };
                rest = behind;
                Some(Datagram {
                    bytes,
                    source,
                    kernel_timestamp: *stamp,
                })
            })
        })
    }
}

impl Default for ReceiveBatch {
    fn default() -> Self {
        Self::new()
    }
}

// The kernel's argument blocks. They hold pointers, so they stay with their thread; those for sockets with stamps are apart
// because others leave no room for stamps.
thread_local! {
    static RECEIVE_V4: RefCell<MultiHeaders<SockaddrIn>> = headers();
    static RECEIVE_V6: RefCell<MultiHeaders<SockaddrIn6>> = headers();
    static RECEIVE_STAMPED_V4: RefCell<MultiHeaders<SockaddrIn>> =
        stamped_headers();
    static RECEIVE_STAMPED_V6: RefCell<MultiHeaders<SockaddrIn6>> =
        stamped_headers();
}

pub(crate) fn headers<S: SockaddrLike + Copy>() -> RefCell<MultiHeaders<S>> {
    RefCell::new(MultiHeaders::preallocate(BATCH, None))
}

/// With room for a stamp and nothing else.
fn stamped_headers<S: SockaddrLike + Copy>() -> RefCell<MultiHeaders<S>> {
    RefCell::new(MultiHeaders::preallocate(
        BATCH,
        Some(cmsg_space!(Timestamps)),
    ))
}

/// Lends the thread's argument blocks; to a thread that is ending, whose own are gone, new ones.
pub(crate) fn lend<S, R>(
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

/// How long the datagrams are that were left together (UDP_GRO); `None` of one alone.
fn cut_of<S>(message: &RecvMsg<'_, '_, S>) -> Option<usize> {
    message.cmsgs().ok()?.find_map(|control| match control {
        ControlMessageOwned::UdpGroSegments(cut) => usize::try_from(cut).ok(),
        _ => None,
    })
}

/// Room for that, aligned as the kernel has it.
#[repr(align(8))]
struct CutSpace([u8; CUT_SPACE]);

impl Default for CutSpace {
    fn default() -> Self {
        Self([0; CUT_SPACE])
    }
}

/// A head of 16 bytes, an integer, and what aligns the next.
const CUT_SPACE: usize = 24;

/// Longer datagrams gain nothing by being left together.
pub(crate) const MAX_CUT: usize = 9000;

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
