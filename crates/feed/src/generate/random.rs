//! Pseudo-random numbers for sample data. Not for secrets.

/// SplitMix64: one addition and a few shifts a number, any seed is as good as any other.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`, 0 when the bound is 0. The bias of at most `bound` / 2^64 does not
    /// matter to sample data.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        let product = u128::from(z) * u128::from(bound);
        // The high half of a product with a 64-bit number is below that number.
        (product >> 64) as u64
    }

    /// True `percent` times of 100.
    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}
