//! Presence maps, as generated code goes through them: short ones without a test for their end.

use super::Reader;
use crate::Code;
use crate::dictionary::Entries;
use crate::wire::PresenceMap;

/// The bits of a presence map that were not taken yet.
pub trait Map {
    /// The next bit.
    fn bit(&mut self) -> bool;
    #[doc(hidden)]
    fn check_used(&self, reader: &Reader<'_, impl Entries>) -> Result<(), Code>;
}

/// The map of a segment that uses at most [`MAX_SHORT`](Self::MAX_SHORT) bits.
#[derive(Clone, Copy, Debug)]
pub struct Bits<'a>(pub(super) PresenceMap<'a>);

/// The map of any segment.
#[derive(Clone, Copy, Debug)]
pub struct LongBits<'a>(PresenceMap<'a>);

impl<'a> Bits<'a> {
    /// The map of a segment that has none.
    pub const NONE: Self = Self(PresenceMap::none());
    /// Most bits that may be taken.
    pub const MAX_SHORT: u32 = 63;

    /// The same for a segment that may use more bits.
    #[inline]
    pub fn long(self) -> LongBits<'a> {
        LongBits(self.0)
    }
}

impl Map for Bits<'_> {
    #[inline(always)]
    fn bit(&mut self) -> bool {
        self.0.early_bit()
    }

    #[inline(always)]
    fn check_used(&self, reader: &Reader<'_, impl Entries>) -> Result<(), Code> {
        reader.input.check_used(&self.0)
    }
}

impl Map for LongBits<'_> {
    #[inline]
    fn bit(&mut self) -> bool {
        self.0.bit()
    }

    fn check_used(&self, reader: &Reader<'_, impl Entries>) -> Result<(), Code> {
        reader.input.check_used(&self.0)
    }
}
