//! Ids that are hashes.

use md5::{Digest, Md5};

/// The member id that is the hash of a text (XTypes 1.3 §7.3.1.2.1.1).
pub(crate) fn member_id(text: &str) -> u32 {
    let [a, b, c, d, ..]: [u8; 16] = Md5::digest(text.as_bytes()).into();
    u32::from_le_bytes([a, b, c, d]) & 0x0fff_ffff
}

#[cfg(test)]
mod tests {
    use super::member_id;

    #[test]
    fn the_hash_is_that_of_the_standard() {
        // XTypes 1.3 §7.3.1.2.1.1 has these two as its examples.
        assert_eq!(member_id("color"), 0x0fa5_dd70);
        assert_eq!(member_id("shapesize"), 0x0477_90da);
    }
}
