//! A source of choices: endless from a seed, or from bytes that somebody else chooses. Knows nothing of FAST.

/// Numbers that decide what is made. The same source makes the same things.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    state: u64,
    /// What is left of given bytes; without any the numbers are those of a seed.
    bytes: Option<&'a [u8]>,
}

impl<'a> Choices<'a> {
    /// Choices without end from a seed (splitmix64).
    pub fn from_seed(seed: u64) -> Self {
        Self {
            state: seed,
            bytes: None,
        }
    }

    /// One choice per byte, for a fuzzer to steer; zeros when they are used up.
    pub fn from_bytes(bytes: &'a [u8]) -> Self {
        Self {
            state: 0,
            bytes: Some(bytes),
        }
    }

    /// A number of 64 random bits; of given bytes it takes eight.
    pub fn bits(&mut self) -> u64 {
        if self.bytes.is_some() {
            return (0..8).fold(0, |bits, _| bits << 8 | u64::from(self.byte()));
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Eight random bits.
    pub fn byte(&mut self) -> u8 {
        match self.bytes {
            None => self.bits().to_le_bytes()[0],
            Some([]) => 0,
            Some([first, rest @ ..]) => {
                self.bytes = Some(rest);
                *first
            }
        }
    }

    /// Whether given bytes are used up; a seed's choices never are.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_some_and(<[u8]>::is_empty)
    }

    /// A number below `bound`, which is 1 to 256.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) * bound / 256
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) + 1 == n
    }

    /// One of these.
    pub fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Changes, cuts or lengthens `bytes` in one to four places.
    pub fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            let at = self.place(bytes.len() + 1);
            match self.below(3) {
                0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                1 => bytes.truncate(at),
                _ => bytes.insert(at, self.byte()),
            }
        }
    }

    fn place(&mut self, bound: usize) -> usize {
        let number = usize::from(self.byte()) << 8 | usize::from(self.byte());
        number % bound
    }
}
