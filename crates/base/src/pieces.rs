//! Bytes that are sent from where they lie.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::copy;

/// A message in up to three pieces: what it begins with, and if there is a payload that lies elsewhere and is long enough
/// that copying it would cost more than other addresses for the kernel to look at, that and what follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pieces<'a> {
    /// Comes first.
    pub head: &'a [u8],
    /// Follows it.
    pub body: &'a [u8],
    /// Comes last.
    pub foot: &'a [u8],
}

impl<'a> Pieces<'a> {
    /// All of them, of which some may be empty.
    #[inline]
    pub fn in_order(&self) -> [&'a [u8]; 3] {
        [self.head, self.body, self.foot]
    }

    /// Whether all bytes are in the first one.
    #[inline]
    pub fn is_one(&self) -> bool {
        self.body.is_empty() && self.foot.is_empty()
    }

    /// How many bytes they have together.
    #[inline]
    pub fn len(&self) -> usize {
        self.head.len() + self.body.len() + self.foot.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bytes in a row. Copies them if they are in several pieces.
    pub fn joined(&self) -> Cow<'a, [u8]> {
        if self.is_one() {
            return Cow::Borrowed(self.head);
        }
        let mut bytes = Vec::with_capacity(self.len());
        for piece in self.in_order() {
            copy::append(&mut bytes, piece);
        }
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
        Self {
            head,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_pieces_are_joined_and_one_is_not_copied() {
        let several = Pieces {
            head: b"ab",
            body: b"c",
            foot: b"de",
        };
        assert_eq!((several.len(), several.to_vec()), (5, b"abcde".to_vec()));
        let one = Pieces::from(&b"ab"[..]);
        assert!(matches!(one.joined(), Cow::Borrowed(b"ab")));
        assert!(!one.is_empty() && Pieces::default().is_empty());
    }
}
