//! Bytes that are sent from where they lie.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::copy;

/// A message in two pieces, of which the second may be empty: what it begins with, and a payload that lies elsewhere and is
/// long enough that copying it would cost more than a second address for the kernel to look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pieces<'a> {
    /// Comes first.
    pub head: &'a [u8],
    /// Follows it.
    pub tail: &'a [u8],
}

impl<'a> Pieces<'a> {
    /// How many bytes both have.
    #[inline]
    pub fn len(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bytes in a row. Copies them if there are two pieces.
    pub fn joined(&self) -> Cow<'a, [u8]> {
        if self.tail.is_empty() {
            return Cow::Borrowed(self.head);
        }
        let mut bytes = Vec::with_capacity(self.len());
        copy::append(&mut bytes, self.head);
        copy::append(&mut bytes, self.tail);
        Cow::Owned(bytes)
    }

    /// A copy of all bytes in a row.
    pub fn to_vec(&self) -> Vec<u8> {
        self.joined().into_owned()
    }
}

impl<'a> From<&'a [u8]> for Pieces<'a> {
    #[inline]
    fn from(head: &'a [u8]) -> Self {
        Self { head, tail: &[] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_pieces_are_joined_and_one_is_not_copied() {
        let two = Pieces {
            head: b"ab",
            tail: b"c",
        };
        assert_eq!((two.len(), two.to_vec()), (3, b"abc".to_vec()));
        let one = Pieces::from(&b"ab"[..]);
        assert!(matches!(one.joined(), Cow::Borrowed(b"ab")));
        assert!(!one.is_empty() && Pieces::default().is_empty());
    }
}
