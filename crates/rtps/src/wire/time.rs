//! Timestamps and durations as RTPS writes them (RTPS 2.5 §9.3.2.1): seconds and a fraction of
//! 2^-32 s. Reads no clock.
//!
//! The fraction is about four times finer than a nanosecond. We round up when we write, and to the
//! nearest when we read, so nanoseconds survive the round trip here and at peers that cut off.

use tickwire_base::{Duration, Timestamp};

use super::cursor::{Cursor, Malformed, Out};

pub(super) const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Seconds and fraction of a timestamp; `None` outside 1970 to 2106, which the wire cannot say.
pub(crate) fn from_timestamp(timestamp: Timestamp) -> Option<(u32, u32)> {
    let ns = u64::try_from(timestamp.as_nanos()).ok()?;
    let seconds = u32::try_from(ns / NANOS_PER_SECOND).ok()?;
    let time = (seconds, fraction(ns % NANOS_PER_SECOND));
    // The two greatest values mean "invalid" and "infinite".
    (time.1 < u32::MAX - 1).then_some(time)
}

/// Whether a timestamp has [seconds and fraction](from_timestamp), by one comparison.
#[inline]
pub(super) fn is_told(timestamp: Timestamp) -> bool {
    timestamp.as_nanos().cast_unsigned() < NANOS_PER_SECOND << 32
}

/// The timestamp of seconds and fraction; `None` for the invalid and the infinite one.
#[inline]
pub(crate) fn to_timestamp((seconds, fraction): (u32, u32)) -> Option<Timestamp> {
    if seconds == u32::MAX && fraction >= u32::MAX - 1 {
        return None;
    }
    // At most 2^32 s, which is 4.3e18 ns and fits 63 bits.
    let ns = u64::from(seconds) * NANOS_PER_SECOND + nanos(fraction);
    i64::try_from(ns).ok().map(Timestamp::from_nanos)
}

/// Writes a duration; [`Duration::MAX`], and all that 31 bits of seconds cannot hold, as infinite.
pub(crate) fn write_duration(out: &mut Out<'_>, duration: Duration) {
    match i32::try_from(duration.as_secs()) {
        Ok(seconds) if seconds != i32::MAX => {
            out.i32(seconds);
            out.u32(fraction(u64::from(duration.subsec_nanos())));
        }
        _ => {
            out.i32(i32::MAX);
            out.u32(u32::MAX);
        }
    }
}

/// Reads a duration. Peers disagree on the fraction of infinity; the seconds alone decide.
pub(crate) fn read_duration(
    from: &mut Cursor<'_>,
    what: &'static str,
) -> Result<Duration, Malformed> {
    let at = *from;
    let seconds = from.i32(what)?;
    let fraction = from.u32(what)?;
    match u64::try_from(seconds) {
        Ok(_) if seconds == i32::MAX => Ok(Duration::MAX),
        Ok(seconds) => Ok(Duration::from_secs(seconds) + Duration::from_nanos(nanos(fraction))),
        Err(_) => Err(at.malformed(what)),
    }
}

/// Nanoseconds below a second, as 2^-32 s, rounded up.
#[inline]
#[expect(
    clippy::manual_div_ceil,
    reason = "that looks at the remainder, which costs more"
)]
pub(super) fn fraction(ns: u64) -> u32 {
    let fraction = ((ns << 32) + NANOS_PER_SECOND - 1) / NANOS_PER_SECOND;
    u32::try_from(fraction).unwrap_or(u32::MAX)
}

/// 2^-32 s as nanoseconds, rounded to the nearest.
fn nanos(fraction: u32) -> u64 {
    (u64::from(fraction) * NANOS_PER_SECOND + (1 << 31)) >> 32
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nanoseconds_survive_the_round_trip(ns in 0..4_294_967_295_000_000_000_u64) {
            let timestamp = Timestamp::from_nanos(i64::try_from(ns).expect("within the range above"));
            let time = from_timestamp(timestamp).expect("within the range above");
            prop_assert_eq!(to_timestamp(time), Some(timestamp));
            // A peer that cuts off sees the same nanosecond.
            let cut = (u64::from(time.1) * NANOS_PER_SECOND) >> 32;
            prop_assert_eq!(cut, ns % NANOS_PER_SECOND);
        }

        #[test]
        fn durations_survive_the_round_trip(seconds in 0..0x7fff_ffff_u64, ns in 0..1_000_000_000_u32) {
            let duration = Duration::new(seconds, ns);
            let mut bytes = Vec::new();
            write_duration(&mut Out { bytes: &mut bytes, little_endian: true }, duration);
            let read = read_duration(&mut Cursor::new(&bytes, 0, true), "duration");
            prop_assert_eq!(read, Ok(duration));
        }
    }

    #[test]
    fn what_the_wire_cannot_say_is_no_timestamp() {
        assert_eq!(from_timestamp(Timestamp::from_nanos(-1)), None);
        assert_eq!(from_timestamp(Timestamp::from_nanos(i64::MAX)), None);
        assert_eq!(to_timestamp((u32::MAX, u32::MAX)), None);
    }

    #[test]
    fn infinity_is_told_by_its_seconds() {
        let mut bytes = Vec::new();
        write_duration(
            &mut Out {
                bytes: &mut bytes,
                little_endian: false,
            },
            Duration::MAX,
        );
        assert_eq!(bytes, [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
        let foreign = [0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff];
        let read = read_duration(&mut Cursor::new(&foreign, 0, false), "duration");
        assert_eq!(read, Ok(Duration::MAX));
    }
}
