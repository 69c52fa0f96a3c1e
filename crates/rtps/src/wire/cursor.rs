//! Reading and writing integers of either byte order. Knows nothing of what they mean.
//!
//! Everything that parses bytes from outside goes through [`Cursor`]: forward only, and no read
//! goes past the end.

use alloc::vec::Vec;
use core::fmt;

use tickwire_base::copy;

/// Bytes that do not say what the standard has there. What stood before them is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Where, in bytes from the start of the datagram or parameter list.
    pub offset: usize,
    /// Which field, and what is wrong with it.
    pub what: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed at byte {}: {}", self.offset, self.what)
    }
}

impl core::error::Error for Malformed {}

/// The unread rest of some bytes, and where it stands in the whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    offset: usize,
    pub(crate) little_endian: bool,
}

impl<'a> Cursor<'a> {
    /// Reads `bytes`, which stand `offset` bytes into what errors refer to.
    pub(crate) fn new(bytes: &'a [u8], offset: usize, little_endian: bool) -> Self {
        Self {
            bytes,
            offset,
            little_endian,
        }
    }

    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    pub(crate) fn malformed(&self, what: &'static str) -> Malformed {
        Malformed {
            offset: self.offset,
            what,
        }
    }

    /// The next `len` bytes; `what` names them if they are not there.
    pub(crate) fn bytes(&mut self, len: usize, what: &'static str) -> Result<&'a [u8], Malformed> {
        let (head, tail) = self
            .bytes
            .split_at_checked(len)
            .ok_or_else(|| self.malformed(what))?;
        self.bytes = tail;
        self.offset += len;
        Ok(head)
    }

    /// A cursor over the next `len` bytes, which this one skips.
    pub(crate) fn split(&mut self, len: usize, what: &'static str) -> Result<Self, Malformed> {
        let offset = self.offset;
        let bytes = self.bytes(len, what)?;
        Ok(Self::new(bytes, offset, self.little_endian))
    }

    pub(crate) fn array<const N: usize>(
        &mut self,
        what: &'static str,
    ) -> Result<[u8; N], Malformed> {
        let (head, tail) = self
            .bytes
            .split_first_chunk::<N>()
            .ok_or_else(|| self.malformed(what))?;
        self.bytes = tail;
        self.offset += N;
        Ok(*head)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, Malformed> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16, Malformed> {
        let bytes = self.array(what)?;
        Ok(self.to_u16(bytes))
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, Malformed> {
        let bytes = self.array(what)?;
        Ok(self.to_u32(bytes))
    }

    /// The next words of four bytes each, checked to be there all at once.
    pub(crate) fn words<const N: usize>(
        &mut self,
        what: &'static str,
    ) -> Result<&'a [[u8; 4]; N], Malformed> {
        let (words, _) = self.bytes.as_chunks();
        let words = words.first_chunk().ok_or_else(|| self.malformed(what))?;
        self.bytes(4 * N, what)?;
        Ok(words)
    }

    /// What two bytes mean in this order.
    pub(crate) fn to_u16(self, bytes: [u8; 2]) -> u16 {
        match self.little_endian {
            true => u16::from_le_bytes(bytes),
            false => u16::from_be_bytes(bytes),
        }
    }

    /// What four bytes mean in this order.
    pub(crate) fn to_u32(self, bytes: [u8; 4]) -> u32 {
        match self.little_endian {
            true => u32::from_le_bytes(bytes),
            false => u32::from_be_bytes(bytes),
        }
    }

    pub(crate) fn i32(&mut self, what: &'static str) -> Result<i32, Malformed> {
        self.u32(what).map(u32::cast_signed)
    }

    /// A count of elements of at least `element_len` bytes each, so that a loop over the count, or
    /// an allocation for it, is bounded by the bytes that are there.
    pub(crate) fn count(
        &mut self,
        element_len: usize,
        what: &'static str,
    ) -> Result<usize, Malformed> {
        let at = *self;
        let count = self.u32(what)?;
        usize::try_from(count)
            .ok()
            .filter(|&count| count <= self.bytes.len() / element_len.max(1))
            .ok_or_else(|| at.malformed(what))
    }
}

/// Appends integers in one byte order.
#[derive(Debug)]
pub(crate) struct Out<'a> {
    pub(crate) bytes: &'a mut Vec<u8>,
    pub(crate) little_endian: bool,
}

impl Out<'_> {
    pub(crate) fn u16(&mut self, value: u16) {
        self.bytes.extend_from_slice(&match self.little_endian {
            true => value.to_le_bytes(),
            false => value.to_be_bytes(),
        });
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&match self.little_endian {
            true => value.to_le_bytes(),
            false => value.to_be_bytes(),
        });
    }

    pub(crate) fn i32(&mut self, value: i32) {
        self.u32(value.cast_unsigned());
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        copy::append(self.bytes, bytes);
    }
}
