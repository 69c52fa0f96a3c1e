//! Values that are cut to their bounds (`@try_construct(TRIM)`, XTypes 1.3 §7.2.2.7).

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::{Decode, DecodeError, Encode, Reader, WString};

/// A text or sequence, of which the beginning can be kept.
pub trait Trim {
    /// Keeps what a bound allows, in bytes of a string, units of a wide one, else elements; of a text no character is cut
    /// in two.
    fn trim(&mut self, bound: u32);
}

impl Trim for String {
    fn trim(&mut self, bound: u32) {
        self.truncate(trimmed(self, bound).len());
    }
}

#[cfg(feature = "compact_str")]
impl Trim for compact_str::CompactString {
    fn trim(&mut self, bound: u32) {
        self.truncate(trimmed(self, bound).len());
    }
}

impl Trim for WString {
    fn trim(&mut self, bound: u32) {
        self.0.truncate(wide_trimmed(&self.0, bound).len());
    }
}

impl<T> Trim for Vec<T> {
    fn trim(&mut self, bound: u32) {
        self.truncate(length(bound));
    }
}

impl<T: Trim> Trim for Box<T> {
    fn trim(&mut self, bound: u32) {
        T::trim(self, bound);
    }
}

/// Replaces a map by the first entries of one in a payload, as many as a bound allows. Of those with one key the last stays;
/// the others are read, too.
pub fn decode_first_entries<K: Decode + Encode + Ord, V: Decode + Encode>(
    map: &mut BTreeMap<K, V>,
    bound: u32,
    reader: &mut Reader<'_>,
) -> Result<(), DecodeError> {
    let min_size = K::MIN_SIZE + V::MIN_SIZE;
    let scope = reader.begin_sequence(0, K::PRIMITIVE && V::PRIMITIVE, min_size)?;
    reader.charge(scope.count.saturating_mul(size_of::<(K, V)>()))?;
    map.clear();
    for index in 0..scope.count {
        let (mut key, mut value) = (K::initial(), V::initial());
        key.decode_into(reader)?;
        value.decode_into(reader)?;
        if index < length(bound) {
            map.insert(key, value);
        }
    }
    reader.end_sequence(scope);
    Ok(())
}

/// As much of a text as takes `bound` bytes at most.
pub(crate) fn trimmed(text: &str, bound: u32) -> &str {
    let end = length(bound).min(text.len());
    let end = (0..=end).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// As much of a text as takes `bound` units of UTF-16 at most.
pub(crate) fn wide_trimmed(text: &str, bound: u32) -> &str {
    let mut left = length(bound);
    let end = text.char_indices().find_map(|(at, char)| {
        let rest = left.checked_sub(char.len_utf16());
        left = rest.unwrap_or_default();
        rest.is_none().then_some(at)
    });
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

fn length(bound: u32) -> usize {
    usize::try_from(bound).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_is_cut_in_two() {
        let text = "a\u{e9}\u{1f4c8}z";
        let all = |bound| (trimmed(text, bound), wide_trimmed(text, bound));
        assert_eq!(all(0), ("", ""));
        assert_eq!(all(1), ("a", "a"));
        assert_eq!(all(2), ("a", "a\u{e9}"));
        assert_eq!(all(3), ("a\u{e9}", "a\u{e9}"));
        assert_eq!(all(4), ("a\u{e9}", "a\u{e9}\u{1f4c8}"));
        assert_eq!(all(7), ("a\u{e9}\u{1f4c8}", text));
        assert_eq!(all(8), (text, text));
        assert_eq!(all(u32::MAX), (text, text));
    }
}
