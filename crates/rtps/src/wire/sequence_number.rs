//! Sequence numbers, fragment numbers and their bitmap sets (RTPS 2.5 §9.4.2.6 to §9.4.2.8).

use super::cursor::Out;

/// The place of a change in its writer's history. The first is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SequenceNumber(pub i64);

impl SequenceNumber {
    /// "No number" on the wire: high word -1, low word 0.
    pub const UNKNOWN: Self = Self(-1 << 32);
    /// Before the first change.
    pub const ZERO: Self = Self(0);
    /// The first change of every writer.
    pub const FIRST: Self = Self(1);

    /// The following number. Saturates, as nothing real gets there.
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    pub(crate) fn write(self, out: &mut Out<'_>) {
        self.words().into_iter().for_each(|word| out.u32(word));
    }

    /// The high and the low 32 bits.
    pub(crate) fn words(self) -> [u32; 2] {
        let [a, b, c, d, e, f, g, h] = self.0.to_be_bytes();
        [[a, b, c, d], [e, f, g, h]].map(u32::from_be_bytes)
    }

    /// The preceding number.
    pub const fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

/// Up to 256 sequence numbers from `base` on: those whose bit is set.
///
/// ```text
///  0                   1                   2                   3
/// +---------------------------------------------------------------+
/// |                    base, high word (int32)                    |
/// |                    base, low word (uint32)                    |
/// |                    number of bits (uint32)                    |
/// |  words of bitmap; bit i of the set is bit 31 - i%32 of word   |
/// ~  i/32, so that the first number is the most significant bit   ~
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceNumberSet {
    /// The lowest number that the set can hold.
    pub base: SequenceNumber,
    bits: Bitmap,
}

/// Up to 256 fragment numbers from `base` on; fragments count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentNumberSet {
    /// The lowest number that the set can hold.
    pub base: u32,
    bits: Bitmap,
}

/// The bits of both kinds of set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Bitmap {
    pub(crate) num_bits: u32,
    pub(crate) words: [u32; 8],
}

impl Bitmap {
    pub(crate) const MAX_BITS: u32 = 256;

    /// Sets bit `index`, lengthening the bitmap to hold it; false if it never can.
    fn insert(&mut self, index: u64) -> bool {
        let Some(index) = u32::try_from(index).ok().filter(|&i| i < Self::MAX_BITS) else {
            return false;
        };
        self.words[(index / 32) as usize] |= 1 << (31 - index % 32);
        self.num_bits = self.num_bits.max(index + 1);
        true
    }

    fn write(&self, out: &mut Out<'_>) {
        out.u32(self.num_bits);
        let word_count = self.num_bits.div_ceil(32);
        for (word, _) in self.words.iter().zip(0..word_count) {
            out.u32(*word);
        }
    }

    fn iter(self) -> impl Iterator<Item = u32> {
        (0..self.num_bits.min(Self::MAX_BITS))
            .filter(move |&i| self.words[(i / 32) as usize] & (1 << (31 - i % 32)) != 0)
    }
}

impl SequenceNumberSet {
    /// No number, and none below `base` either.
    pub fn empty(base: SequenceNumber) -> Self {
        Self {
            base,
            bits: Bitmap::default(),
        }
    }

    pub(crate) fn from_parts(base: SequenceNumber, bits: Bitmap) -> Self {
        Self { base, bits }
    }

    pub(crate) fn write(&self, out: &mut Out<'_>) {
        self.base.write(out);
        self.bits.write(out);
    }

    /// Adds `number`; false if it lies outside the 256 numbers from `base` on.
    pub fn insert(&mut self, number: SequenceNumber) -> bool {
        match number
            .0
            .checked_sub(self.base.0)
            .and_then(|i| u64::try_from(i).ok())
        {
            Some(index) => self.bits.insert(index),
            None => false,
        }
    }

    /// The numbers in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = SequenceNumber> {
        let base = self.base.0;
        self.bits
            .iter()
            .map(move |i| SequenceNumber(base.saturating_add(i64::from(i))))
    }

    /// Whether no number is in the set.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

impl FragmentNumberSet {
    /// No number, and none below `base` either.
    pub fn empty(base: u32) -> Self {
        Self {
            base,
            bits: Bitmap::default(),
        }
    }

    pub(crate) fn from_parts(base: u32, bits: Bitmap) -> Self {
        Self { base, bits }
    }

    pub(crate) fn write(&self, out: &mut Out<'_>) {
        out.u32(self.base);
        self.bits.write(out);
    }

    /// Whether no number is in the set.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Adds `number`; false if it lies outside the 256 numbers from `base` on.
    pub fn insert(&mut self, number: u32) -> bool {
        match number.checked_sub(self.base) {
            Some(index) => self.bits.insert(u64::from(index)),
            None => false,
        }
    }

    /// The numbers in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let base = self.base;
        self.bits.iter().map(move |i| base.saturating_add(i))
    }
}
