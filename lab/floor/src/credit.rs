//! Flow control for datagrams, the least that there can be: an empty datagram from the receiver is credit for so many
//! further messages.

use std::sync::Mutex;

/// Of a process, for each of its links.
pub(crate) struct Credit {
    /// Messages that one empty datagram is for: half of those that may be under way.
    pub(crate) share: u64,
    left: Mutex<Vec<u64>>,
}

impl Credit {
    /// For messages of `len` bytes that go `batch` at a time over so many links.
    pub(crate) fn new(links: usize, len: usize, batch: usize) -> Self {
        let sendings = ROOM / (len * batch + OVERHEAD) / 2;
        let share = (sendings.clamp(1, MOST) * batch) as u64;
        Self {
            share,
            left: Mutex::new(vec![2 * share; links]),
        }
    }

    /// Credit has come.
    pub(crate) fn earn(&self, link: usize) {
        self.left.lock().expect("no panic")[link] += self.share;
    }

    /// Takes credit for so many messages, if there is enough.
    pub(crate) fn spend(&self, link: usize, messages: u64) -> bool {
        let mut left = self.left.lock().expect("no panic");
        let rest = left[link].checked_sub(messages);
        left[link] = rest.unwrap_or(left[link]);
        rest.is_some()
    }
}

/// Bytes that may be under way: half of what a socket's buffer holds by default, as its account of a datagram may be
/// twice as long as that is.
const ROOM: usize = 106_496;
/// What the kernel counts besides the bytes of a datagram, at most.
const OVERHEAD: usize = 1_024;
/// More at a time bring nothing.
const MOST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_fits_the_buffer_and_is_never_nothing() {
        let share = |len, batch| Credit::new(1, len, batch).share;
        assert_eq!(
            (share(16, 1), share(1_000, 1), share(65_507, 1)),
            (32, 26, 1)
        );
        assert_eq!((share(16, 64), share(1_000, 64)), (26 * 64, 64));
    }

    #[test]
    fn who_has_spent_all_earns_more() {
        let credit = Credit::new(2, 1_000, 1);
        assert!(credit.spend(0, 2 * credit.share) && !credit.spend(0, 1));
        assert!(credit.spend(1, 1), "each link has its own");
        credit.earn(0);
        assert!(!credit.spend(0, credit.share + 1) && credit.spend(0, credit.share));
    }
}
