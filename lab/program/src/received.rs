//! What has come, what has not, and what came twice or late.

use std::collections::BTreeSet;

/// The messages of one publisher.
#[derive(Debug, Default)]
pub(crate) struct Received {
    next: u64,
    missing: BTreeSet<u64>,
    given_up: u64,
    /// Messages that came.
    pub(crate) count: u64,
    /// Those that came after later ones.
    pub(crate) out_of_order: u64,
    /// Those that came twice.
    pub(crate) repeated: u64,
}

impl Received {
    /// Begins with message `first`.
    pub(crate) fn from(first: u64) -> Self {
        Self {
            next: first,
            ..Self::default()
        }
    }

    /// The number that comes next if nothing is lost.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Message `number` has come.
    pub(crate) fn take(&mut self, number: u64) {
        if number == self.next {
            self.next += 1;
        } else if number > self.next {
            let gap = number - self.next;
            if gap <= MAX_MISSING {
                self.missing.extend(self.next..number);
            } else {
                self.given_up += gap;
            }
            self.next = number + 1;
        } else if self.missing.remove(&number) {
            self.out_of_order += 1;
        } else {
            self.repeated += 1;
            return;
        }
        self.count += 1;
    }

    /// How many of the messages before `end` have not come.
    pub(crate) fn lost(&self, end: u64) -> u64 {
        let missing = u64::try_from(self.missing.len()).expect("no more than numbers");
        missing + self.given_up + end.saturating_sub(self.next)
    }
}

/// A larger gap is counted, but not looked into when something of it comes late.
const MAX_MISSING: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_repetitions_and_late_ones_are_told_apart() {
        let mut received = Received::from(10);
        for number in [10, 11, 14, 12, 12, 9, 15] {
            received.take(number);
        }
        assert_eq!(
            (received.count, received.out_of_order, received.repeated),
            (5, 1, 2)
        );
        assert_eq!(received.lost(20), 1 + 4);
        assert_eq!(received.next(), 16);
    }

    #[test]
    fn a_gap_beyond_all_measure_is_counted() {
        let mut received = Received::default();
        received.take(u64::MAX >> 8);
        assert_eq!(received.lost(0), u64::MAX >> 8);
    }
}
