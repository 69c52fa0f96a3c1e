//! Has what comes by a log wait for what came by UDP before: a best-effort reader takes nothing that comes
//! behind its successor.
//!
//! When a log may be followed, its writer has ended to send by UDP, and what it sent lies in our sockets. So
//! we send a datagram to ourselves: once that has been received, so has all that came before it. The
//! group's socket, which a poller waits for, is asked once more.

use std::sync::atomic::{AtomicU64, Ordering};

/// Tells when all is received that was there before.
pub(crate) struct Barrier {
    name: [u8; 16],
    raised: AtomicU64,
    by_unicast: AtomicU64,
    by_group: AtomicU64,
}

impl Barrier {
    pub(super) fn new(name: [u8; 16]) -> Self {
        Self {
            name,
            raised: AtomicU64::new(0),
            by_unicast: AtomicU64::new(0),
            by_group: AtomicU64::new(0),
        }
    }

    /// Begins anew: the number, and the datagram to send to ourselves.
    pub(super) fn raise(&self) -> (u64, [u8; MARKER_LEN]) {
        let number = self.raised.fetch_add(1, Ordering::AcqRel) + 1;
        let mut marker = [0; MARKER_LEN];
        marker[..16].copy_from_slice(&self.name);
        marker[16..].copy_from_slice(&number.to_le_bytes());
        (number, marker)
    }

    /// The newest one that the group's socket is to be asked for, if it has not been.
    pub(crate) fn wanted_of_group(&self) -> Option<u64> {
        let number = self.raised.load(Ordering::Acquire);
        (number > self.by_group.load(Ordering::Relaxed)).then_some(number)
    }

    /// The group's socket has been asked since that one began.
    pub(super) fn pass_by_group(&self, number: u64) {
        self.by_group.fetch_max(number, Ordering::AcqRel);
    }

    /// A datagram has come that is not RTPS. Whether it is one of ours.
    pub(super) fn pass_by_unicast(&self, datagram: &[u8]) -> bool {
        let number = datagram.strip_prefix(&self.name);
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
        passed(&self.by_unicast) && passed(&self.by_group)
    }
}

const MARKER_LEN: usize = 16 + 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_passed_when_both_sockets_have_been() {
        let barrier = Barrier::new([7; 16]);
        assert_eq!(barrier.wanted_of_group(), None);
        let (first, _) = barrier.raise();
        let (second, marker) = barrier.raise();
        assert_eq!(barrier.wanted_of_group(), Some(second));
        assert!(barrier.pass_by_unicast(&marker));
        assert!(!barrier.is_passed(first));
        barrier.pass_by_group(first);
        assert!(barrier.is_passed(first) && !barrier.is_passed(second));
        barrier.pass_by_group(second);
        assert!(barrier.is_passed(second));
        assert_eq!(barrier.wanted_of_group(), None);
    }

    #[test]
    fn others_are_told_from_it_and_no_future_one_is_passed() {
        let barrier = Barrier::new([7; 16]);
        let (_, mut marker) = barrier.raise();
        assert!(!barrier.pass_by_unicast(&marker[..20]));
        assert!(!barrier.pass_by_unicast(&[0; MARKER_LEN]));
        marker[16] = 200;
        assert!(barrier.pass_by_unicast(&marker));
        barrier.pass_by_group(1);
        assert!(!barrier.is_passed(1));
    }
}
