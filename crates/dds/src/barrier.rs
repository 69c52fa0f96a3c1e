//! Tells when all is received that was in the sockets at a moment.
//!
//! What is learned by another way than samples come by is to wait for those: a log that is followed from now on, for what
//! its writer sent by UDP before, as a best-effort reader takes nothing that comes behind its successor; the news that a
//! writer has left, for what it wrote last.
//!
//! So we send a datagram to ourselves: once that has been received, so has all that came before it. The group's socket and
//! the connections for samples, which somebody waits for together with others, are asked until they have nothing.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};

use tickwire_rtps::wire::GuidPrefix;

use crate::clock;
use crate::core::Core;

/// Tells when all is received that was there before.
pub(crate) struct Barrier {
    name: GuidPrefix,
    raised: AtomicU64,
    by_unicast: AtomicU64,
    by_group: AtomicU64,
    by_streams: AtomicU64,
}

impl Barrier {
    pub(crate) fn new(name: GuidPrefix) -> Self {
        Self {
            name,
            raised: AtomicU64::new(0),
            by_unicast: AtomicU64::new(0),
            by_group: AtomicU64::new(0),
            by_streams: AtomicU64::new(0),
        }
    }

    /// Begins anew: the number, and the datagram to send to ourselves. What was there before that call is waited for.
    pub(crate) fn raise(&self) -> (u64, Marker) {
        let number = self.raised.fetch_add(1, Ordering::AcqRel) + 1;
        let mut marker = [0; MARKER_LEN];
        marker[..NAME_LEN].copy_from_slice(&self.name.0);
        marker[NAME_LEN..].copy_from_slice(&number.to_le_bytes());
        (number, marker)
    }

    /// The newest one that the group's socket is to be asked for, if it has not been.
    pub(crate) fn wanted_of_group(&self) -> Option<u64> {
        self.wanted(&self.by_group)
    }

    /// The same of the connections for samples.
    pub(crate) fn wanted_of_streams(&self) -> Option<u64> {
        self.wanted(&self.by_streams)
    }

    fn wanted(&self, by: &AtomicU64) -> Option<u64> {
        let number = self.raised.load(Ordering::Acquire);
        (number > by.load(Ordering::Relaxed)).then_some(number)
    }

    /// The group's socket has had nothing since that one began.
    pub(crate) fn pass_by_group(&self, number: u64) {
        self.by_group.fetch_max(number, Ordering::AcqRel);
    }

    /// The same of the connections for samples.
    pub(crate) fn pass_by_streams(&self, number: u64) {
        self.by_streams.fetch_max(number, Ordering::AcqRel);
    }

    /// A datagram has come that is not RTPS. Whether it is one of ours.
    pub(crate) fn pass_by_unicast(&self, datagram: &[u8]) -> bool {
        let number = datagram.strip_prefix(&self.name.0);
        let Some(Ok(number)) = number.map(<[u8; 8]>::try_from) else {
            return false;
        };
        let number = u64::from_le_bytes(number);
        if number <= self.raised.load(Ordering::Acquire) {
            self.by_unicast.fetch_max(number, Ordering::AcqRel);
        }
        true
    }

    pub(crate) fn is_passed(&self, number: u64) -> bool {
        let passed = |by: &AtomicU64| by.load(Ordering::Acquire) >= number;
        passed(&self.by_unicast) && passed(&self.by_group) && passed(&self.by_streams)
    }
}

impl Core {
    /// Begins to wait for what is in the sockets of the threads that receive for readers. Says what is waited for.
    pub(crate) fn raise_barrier(&self) -> u64 {
        let (number, marker) = self.barrier.raise();
        self.send_marker(number, &marker);
        number
    }

    /// Ends what [`Barrier::raise`] has begun.
    pub(crate) fn send_marker(&self, number: u64, marker: &Marker) {
        match &self.network.user {
            Some(user) => {
                let mut to = user.local_address();
                if to.ip().is_unspecified() {
                    to.set_ip(Ipv4Addr::LOCALHOST.into());
                }
                if user.send_to(marker, to).is_err() {
                    self.counters.send_errors.add(1);
                }
            }
            // Nothing comes there.
            None => drop(self.pass_by_unicast(marker)),
        }
        match &self.network.tcp {
            Some(tcp) => tcp.interrupt_receiving(),
            None => self.pass_by_streams(number),
        }
        self.data.interrupt();
    }

    /// A datagram has come that is not RTPS. Whether it is one that tells that all before it has been received.
    pub(crate) fn pass_by_unicast(&self, datagram: &[u8]) -> bool {
        let is_ours = self.barrier.pass_by_unicast(datagram);
        if is_ours {
            self.tell_who_waits();
        }
        is_ours
    }

    /// The group's socket has had nothing since that barrier was raised.
    pub(crate) fn pass_by_group(&self, number: u64) {
        self.barrier.pass_by_group(number);
        self.tell_who_waits();
    }

    /// The same of the connections for samples.
    pub(crate) fn pass_by_streams(&self, number: u64) {
        self.barrier.pass_by_streams(number);
        self.tell_who_waits();
    }

    fn tell_who_waits(&self) {
        if let Some(shm) = &self.shm {
            shm.waker.wake();
        }
        if self.leaving.are_any() {
            self.control.arm(clock::now());
        }
    }
}

/// The barrier's name, and a number.
pub(crate) type Marker = [u8; MARKER_LEN];

const NAME_LEN: usize = 12;
const MARKER_LEN: usize = NAME_LEN + 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_passed_when_all_sockets_have_been() {
        let barrier = Barrier::new(GuidPrefix([7; 12]));
        assert_eq!(barrier.wanted_of_group(), None);
        let (first, _) = barrier.raise();
        let (second, marker) = barrier.raise();
        assert_eq!(barrier.wanted_of_group(), Some(second));
        assert!(barrier.pass_by_unicast(&marker));
        assert!(!barrier.is_passed(first));
        barrier.pass_by_group(first);
        assert!(!barrier.is_passed(first));
        barrier.pass_by_streams(second);
        assert!(barrier.is_passed(first) && !barrier.is_passed(second));
        assert_eq!(barrier.wanted_of_streams(), None);
        barrier.pass_by_group(second);
        assert!(barrier.is_passed(second));
        assert_eq!(barrier.wanted_of_group(), None);
    }

    #[test]
    fn others_are_told_from_it_and_no_future_one_is_passed() {
        let barrier = Barrier::new(GuidPrefix([7; 12]));
        let (_, mut marker) = barrier.raise();
        assert!(!barrier.pass_by_unicast(&marker[..MARKER_LEN - 4]));
        assert!(!barrier.pass_by_unicast(&[0; MARKER_LEN]));
        marker[NAME_LEN] = 200;
        assert!(barrier.pass_by_unicast(&marker));
        barrier.pass_by_group(1);
        barrier.pass_by_streams(1);
        assert!(!barrier.is_passed(1));
    }
}
