//! A sample that says nothing besides, where both sides know whose it is: in a log of one writer.

use tickwire_base::Timestamp;

use super::SequenceNumber;
use super::cursor::{Cursor, Malformed};
use super::time;

/// What such a sample has before its payload: 16 bytes, where a message takes 56.
///
/// ```text
/// 0        8        16
/// +--------+--------+---------+
/// | number |  time  | payload |  both little-endian, the time in nanoseconds since 1970
/// +--------+--------+---------+
/// ```
///
/// It stands for a message of our version with INFO_TS and DATA to all readers, without inline QoS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainSample {
    /// Its number.
    pub number: SequenceNumber,
    /// When its writer made it.
    pub timestamp: Timestamp,
}

impl PlainSample {
    /// Bytes before the payload.
    pub const LEN: usize = 16;

    /// One whose time RTPS can tell, lest it be another when it is repaired.
    #[inline]
    pub(crate) fn new(number: SequenceNumber, timestamp: Timestamp) -> Option<Self> {
        time::is_told(timestamp).then_some(Self { number, timestamp })
    }

    /// What goes before the payload.
    #[inline]
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let number = self.number.0.cast_unsigned();
        let time = self.timestamp.as_nanos().cast_unsigned();
        (u128::from(time) << 64 | u128::from(number)).to_le_bytes()
    }

    /// One of these bytes, and its payload.
    ///
    /// # Errors
    /// When they are too few, or there is no such number or time.
    #[inline(always)]
    pub fn read(bytes: &[u8]) -> Result<(Self, &[u8]), Malformed> {
        let mut from = Cursor::new(bytes, 0, true);
        let [number, time] = [from.array("number")?, from.array("time")?];
        let [number, time] = [number, time].map(i64::from_le_bytes);
        let sample = Self::new(SequenceNumber(number), Timestamp::from_nanos(time));
        match sample.filter(|sample| sample.number >= SequenceNumber::FIRST) {
            Some(sample) => Ok((sample, from.rest())),
            None => Err(from.malformed("no such number or time")),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(number in 1..i64::MAX, ns: i64, payload: alloc::vec::Vec<u8>) {
            let (number, timestamp) = (SequenceNumber(number), Timestamp::from_nanos(ns));
            let Some(sample) = PlainSample::new(number, timestamp) else {
                prop_assert!(time::from_timestamp(timestamp).is_none());
                return Ok(());
            };
            let bytes = [&sample.to_bytes(), &*payload].concat();
            prop_assert_eq!(PlainSample::read(&bytes), Ok((sample, &*payload)));
            prop_assert!(PlainSample::read(&bytes[..PlainSample::LEN - 1]).is_err());
        }

        #[test]
        fn what_is_read_can_be_told_by_a_message(bytes: [u8; 20]) {
            if let Ok((sample, _)) = PlainSample::read(&bytes) {
                prop_assert!(sample.number >= SequenceNumber::FIRST);
                let time = time::from_timestamp(sample.timestamp);
                prop_assert_eq!(time.and_then(time::to_timestamp), Some(sample.timestamp));
            }
        }
    }
}
