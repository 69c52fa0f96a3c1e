//! A sliding set of at most 256 sequence numbers with constant-time membership.

use crate::wire::SequenceNumber;

/// Numbers that lie within 256 of one another.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NumberWindow {
    base: i64,
    words: [u64; WORDS],
}

impl NumberWindow {
    /// Adds `number`. Where it does not fit together with what is there, it replaces that.
    pub(crate) fn insert_or_restart(&mut self, number: SequenceNumber) {
        if self.is_empty() || self.index(number).is_none() {
            self.clear();
            self.base = number.0;
        }
        if let Some((word, bit)) = self.index(number) {
            self.words[word] |= bit;
        }
    }

    pub(crate) fn contains(&self, number: SequenceNumber) -> bool {
        self.index(number)
            .is_some_and(|(word, bit)| self.words[word] & bit != 0)
    }

    pub(crate) fn first(&self) -> Option<SequenceNumber> {
        let (word, bits) = (0_i64..).zip(self.words).find(|&(_, bits)| bits != 0)?;
        let index = 64 * word + i64::from(bits.trailing_zeros());
        Some(SequenceNumber(self.base.saturating_add(index)))
    }

    pub(crate) fn remove(&mut self, number: SequenceNumber) {
        if let Some((word, bit)) = self.index(number) {
            self.words[word] &= !bit;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.words = [0; WORDS];
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words == [0; WORDS]
    }

    /// The word and the bit of `number`, if it is in range.
    fn index(&self, number: SequenceNumber) -> Option<(usize, u64)> {
        let distance = usize::try_from(number.0.checked_sub(self.base)?).ok()?;
        (distance < 64 * WORDS).then_some((distance / 64, 1 << (distance % 64)))
    }
}

const WORDS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_out_ascending() {
        let mut window = NumberWindow::default();
        for number in [1000, 1255, 1064, 1063] {
            window.insert_or_restart(SequenceNumber(number));
        }
        let mut seen = [0; 4];
        for slot in &mut seen {
            let first = window.first().expect("four were put in");
            window.remove(first);
            *slot = first.0;
        }
        assert_eq!(seen, [1000, 1063, 1064, 1255]);
        assert!(window.is_empty());
    }

    #[test]
    fn a_number_out_of_reach_begins_a_new_window() {
        let mut window = NumberWindow::default();
        window.insert_or_restart(SequenceNumber(i64::MAX));
        window.insert_or_restart(SequenceNumber(i64::MIN));
        assert!(!window.contains(SequenceNumber(i64::MAX)));
        assert_eq!(window.first(), Some(SequenceNumber(i64::MIN)));
        window.remove(SequenceNumber(i64::MIN));
        assert_eq!(window.first(), None);
    }
}
