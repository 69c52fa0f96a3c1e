//! Payloads of bytes.
//!
//! ```text
//!  0                8                16
//! +----------------+----------------+------------------------------- - -
//! | number         | time, ns       | byte i is the low byte of number + i
//! +----------------+----------------+------------------------------- - -
//! ```
//!
//! Both numbers are little-endian. What is shorter than the header has the low byte of the number in
//! byte 0 and zeros behind it.

use crate::Message;

/// Length of number and time.
pub const HEADER_LEN: usize = 16;

/// Whether a payload of this length has number and time.
pub fn has_header(len: usize) -> bool {
    len >= HEADER_LEN
}

/// Makes `payload` message `number` that is to be sent at `time`.
pub fn fill(payload: &mut [u8], number: u64, time: u64) {
    if !has_header(payload.len()) {
        payload.fill(0);
        payload[0] = low_byte(number);
        return;
    }
    payload[..8].copy_from_slice(&number.to_le_bytes());
    payload[8..HEADER_LEN].copy_from_slice(&time.to_le_bytes());
    let mut byte = low_byte(number).wrapping_add(16);
    for place in &mut payload[HEADER_LEN..] {
        *place = byte;
        byte = byte.wrapping_add(1);
    }
}

/// A publisher's own count in a number, whose highest byte is the publisher.
pub fn own_number(number: u64) -> u64 {
    number & (u64::MAX >> 8)
}

impl Message for [u8] {
    fn number(&self, expected: u64) -> u64 {
        if let Some(number) = word(self, 0).filter(|_| has_header(self.len())) {
            return number;
        }
        let byte = self.first().copied().unwrap_or_default();
        let ahead = byte.wrapping_sub(low_byte(expected)).cast_signed();
        expected.wrapping_add_signed(i64::from(ahead))
    }

    fn time(&self) -> Option<u64> {
        word(self, 8).filter(|_| has_header(self.len()))
    }

    fn is_intact(&self, number: u64) -> bool {
        if !has_header(self.len()) {
            return self.first() == Some(&low_byte(number))
                && self[1..].iter().all(|&byte| byte == 0);
        }
        // A loop that the compiler makes wide: it stands beside the time that is taken.
        let mut byte = low_byte(number).wrapping_add(16);
        let mut difference = 0;
        for &found in &self[HEADER_LEN..] {
            difference |= found ^ byte;
            byte = byte.wrapping_add(1);
        }
        word(self, 0) == Some(number) && difference == 0
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + 8)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

fn low_byte(number: u64) -> u8 {
    number.to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_is_intact_and_a_changed_byte_is_found() {
        for len in [1, 2, 15, 16, 17, 64, 300, 1000] {
            for number in [0, 1, 255, 256, 300, 1 << 56 | 77] {
                let mut payload = vec![0; len];
                fill(&mut payload, number, 42);
                assert_eq!(payload.number(number), number, "{len} bytes");
                assert_eq!(payload.time(), (len >= 16).then_some(42));
                assert!(payload.is_intact(number), "{len} bytes, number {number}");
                for at in (0..len).filter(|at| !(8..16).contains(at)) {
                    payload[at] ^= 1;
                    assert!(!payload.is_intact(number), "{len} bytes, byte {at}");
                    payload[at] ^= 1;
                }
            }
        }
    }

    #[test]
    fn a_short_message_is_the_closest_of_its_low_byte() {
        for (expected, number) in [
            (1000, 1000),
            (1000, 1003),
            (1000, 990),
            (255, 256),
            (256, 255),
        ] {
            let mut payload = [0; 4];
            fill(&mut payload, number, 0);
            assert_eq!(payload.number(expected), number);
        }
    }
}
