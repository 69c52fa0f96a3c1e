//! Which writers a publisher has, in four bytes. Knows neither who compares them nor when.

use alloc::vec::Vec;

use md5::{Digest, Md5};

use super::EntityId;

/// The writers of a publisher (GroupDigest_t; RTPS 2.5 §9.3.2.5): the first four bytes of the MD5 of
/// their entity ids, ascending, as a sequence in big-endian CDR. The default says nothing of them, as
/// does the digest of no writers.
///
/// ```text
/// +-------------------------------+
/// |             count             |
/// +-------------------------------+
/// ~           entity ids          ~  4 bytes each
/// +-------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct GroupDigest(pub [u8; 4]);

impl GroupDigest {
    /// Says nothing.
    pub const NONE: Self = Self([0; 4]);

    /// That of writers whose ids ascend.
    pub fn of(writers: &[EntityId]) -> Self {
        let Some(count) = u32::try_from(writers.len()).ok().filter(|&count| count > 0) else {
            return Self::NONE;
        };
        let ids = writers.iter().flat_map(|id| id.0);
        let bytes: Vec<u8> = count.to_be_bytes().into_iter().chain(ids).collect();
        let digest: [u8; 16] = Md5::digest(&bytes).into();
        let [a, b, c, d, ..] = digest;
        Self([a, b, c, d])
    }
}
