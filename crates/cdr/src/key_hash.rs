//! Key hashes: which instance of a topic a sample belongs to (RTPS 2.5 §9.6.4.8).

use alloc::vec::Vec;
use core::fmt;

use md5::{Digest, Md5};

use crate::{EncodeError, Representation, Topic, TypeDescription, Writer};

/// Which instance of a topic a sample belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct KeyHash(pub [u8; 16]);

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The key hash of a sample; all zeros when the type has no key.
///
/// It depends on the representation in which the sample is sent.
pub fn key_hash<T: Topic>(
    value: &T,
    representation: Representation,
    scratch: &mut KeyScratch,
) -> Result<KeyHash, EncodeError> {
    if !T::HAS_KEY {
        return Ok(KeyHash::default());
    }
    let mut writer = scratch.begin(representation);
    value.encode_key(&mut writer)?;
    writer.finish();
    Ok(match scratch.is_short(T::DESCRIPTION, representation) {
        true => scratch.as_it_is(),
        false => scratch.digest(),
    })
}

/// Memory in which keys are hashed, of any types. It remembers the digests of keys that came before, as an MD5 takes
/// longer than all else that is done with a key: allocates for each that comes in turns with others, 64 bytes, up to 256 KiB.
#[derive(Debug, Default)]
pub struct KeyScratch {
    /// A key in the form that is hashed.
    key: Vec<u8>,
    digests: Digests,
    /// Where the description lies that was looked at last, and whether any key of its type is short, in which encoding.
    last: Option<(usize, Representation, bool)>,
}

impl KeyScratch {
    /// The key that was hashed last, in the form that is hashed: big-endian, members in order of their ids.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// What writes a key, to be finished before it is [hashed](Self::hash).
    #[inline]
    pub(crate) fn begin(&mut self, representation: Representation) -> Writer<'_> {
        Writer::of_key(&mut self.key, representation)
    }

    /// The hash of the key that was written: its bytes when any key of the type fits into 16 bytes, their MD5 otherwise.
    #[inline]
    pub(crate) fn hash(
        &mut self,
        description: &TypeDescription,
        representation: Representation,
    ) -> KeyHash {
        match are_short(description, representation) {
            true => self.as_it_is(),
            false => self.digest(),
        }
    }

    /// Whether any key of a type fits into 16 bytes. Looked at once while nothing else is asked.
    #[inline]
    fn is_short(
        &mut self,
        description: &'static TypeDescription,
        representation: Representation,
    ) -> bool {
        // What is static stays where it is, and nothing else comes there.
        let place = core::ptr::from_ref(description).addr();
        match self.last {
            Some((at, of, is_short)) if at == place && of == representation => is_short,
            _ => {
                let is_short = are_short(description, representation);
                self.last = Some((place, representation, is_short));
                is_short
            }
        }
    }

    #[inline]
    fn as_it_is(&self) -> KeyHash {
        let mut hash = [0; 16];
        hash.iter_mut()
            .zip(&self.key)
            .for_each(|(to, byte)| *to = *byte);
        KeyHash(hash)
    }

    #[inline]
    fn digest(&mut self) -> KeyHash {
        KeyHash(self.digests.of(&self.key))
    }
}

/// Whether any key of a type fits into 16 bytes in the form that is hashed.
fn are_short(description: &TypeDescription, representation: Representation) -> bool {
    description.max_key_size(16, representation).is_some()
}

/// The MD5 of each key that came last of those that share a place.
#[derive(Default)]
struct Digests {
    /// As many as a power of two, or none.
    noted: Vec<Noted>,
    /// How many made way for others since there are so many places.
    replaced: usize,
}

#[derive(Clone, Copy)]
struct Noted {
    digest: [u8; 16],
    key: [u8; MAX_LEN],
    /// Of the key; more than the most where there is none.
    len: u8,
}

impl Noted {
    const NONE: Self = Self {
        digest: [0; 16],
        key: [0; MAX_LEN],
        len: u8::MAX,
    };

    #[inline]
    fn is_of(&self, key: &[u8]) -> bool {
        usize::from(self.len) == key.len() && self.key.get(..key.len()) == Some(key)
    }
}

impl Digests {
    #[inline]
    fn of(&mut self, key: &[u8]) -> [u8; 16] {
        let place = self.place(key);
        match self.noted.get(place) {
            Some(noted) if noted.is_of(key) => noted.digest,
            _ => self.note(place, key),
        }
    }

    /// Where a key is noted, if it is.
    #[inline]
    fn place(&self, key: &[u8]) -> usize {
        let (words, rest) = key.as_chunks();
        let mut last = [0; 8];
        last.iter_mut().zip(rest).for_each(|(to, byte)| *to = *byte);
        let words = words.iter().chain([&last]);
        let mixed = words.fold(0_u64, |mixed, word| {
            (mixed.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(ODD)
        });
        // The high bits depend on all of the key's.
        usize::try_from(mixed >> 40).unwrap_or_default() & self.noted.len().wrapping_sub(1)
    }

    #[cold]
    fn note(&mut self, place: usize, key: &[u8]) -> [u8; 16] {
        let digest = Md5::digest(key).into();
        let len = key.len();
        let Some(len) = u8::try_from(len).ok().filter(|_| len <= MAX_LEN) else {
            return digest;
        };
        if let Some(noted) = self.noted.get_mut(place) {
            self.replaced += usize::from(noted.len != u8::MAX);
            noted.digest = digest;
            noted.len = len;
            noted
                .key
                .iter_mut()
                .zip(key)
                .for_each(|(to, byte)| *to = *byte);
        }
        let places = self.noted.len();
        if places < MOST && self.replaced * 4 >= places {
            // What was noted comes again.
            *self = Self {
                noted: alloc::vec![Noted::NONE; (2 * places).max(LEAST)],
                replaced: 0,
            };
        }
        digest
    }
}

impl fmt::Debug for Digests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Digests")
            .field("places", &self.noted.len())
            .finish_non_exhaustive()
    }
}

/// Bytes of the longest key that is noted.
const MAX_LEN: usize = 47;
/// Places there are, if any.
const LEAST: usize = 16;
const MOST: usize = 4096;
/// Spreads words over all bits: 2^64 by the golden ratio.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use std::format;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn digests_are_those_of_md5_however_many_keys_share_places() {
        let mut digests = Digests::default();
        let mut keys: Vec<Vec<u8>> = (0..6000_u32)
            .map(|number| format!("key {number}").into_bytes())
            .collect();
        keys.extend((0..=MAX_LEN + 17).map(|len| alloc::vec![7; len]));
        keys.extend((0..=MAX_LEN + 17).map(|len| alloc::vec![0; len]));
        for _ in 0..3 {
            for key in &keys {
                let expected: [u8; 16] = Md5::digest(key).into();
                assert_eq!(digests.of(key), expected, "{key:?}");
                assert_eq!(digests.of(key), expected, "{key:?} again");
            }
        }
        assert_eq!(digests.noted.len(), MOST);
    }

    #[test]
    fn keys_that_come_in_turns_are_soon_all_noted() {
        let mut digests = Digests::default();
        let keys = ["AAPL", "MSFT", "IBM", "TICK", "ESZ6", "NQZ6", "6E", "CL"];
        for _ in 0..20 {
            keys.iter().for_each(|key| {
                digests.of(key.as_bytes());
            });
        }
        let places = digests.noted.len();
        let are_noted =
            |key: &&str| digests.noted[digests.place(key.as_bytes())].is_of(key.as_bytes());
        assert!(keys.iter().all(are_noted) && places <= 256, "{places}");
    }
}
