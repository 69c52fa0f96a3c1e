//! Times in nanoseconds, as C has them.

use std::time::Duration;

use dds::Timestamp;

use crate::border::In;
use crate::failure::{Failure, Result};

/// A timeout: from 0 on; the largest is for ever.
pub(crate) fn timeout(timeout_ns: i64) -> Result<Duration> {
    match u64::try_from(timeout_ns) {
        Ok(_) if timeout_ns == i64::MAX => Ok(Duration::MAX),
        Ok(timeout_ns) => Ok(Duration::from_nanos(timeout_ns)),
        Err(_) => Err(Failure::argument(format!(
            "`timeout_ns` is {timeout_ns}; use 0 or more, or TW_INFINITE"
        ))),
    }
}

/// A source timestamp; NULL is now.
#[inline]
pub(crate) fn timestamp(timestamp_ns: &In<i64>) -> Result<Option<Timestamp>> {
    let timestamp = timestamp_ns.get("timestamp_ns")?;
    Ok(timestamp.map(Timestamp::from_nanos))
}

/// A time that may not be known.
pub(crate) fn nanos(timestamp: Option<Timestamp>) -> i64 {
    timestamp.map_or(UNKNOWN, Timestamp::as_nanos)
}

/// `TW_TIME_UNKNOWN`.
const UNKNOWN: i64 = i64::MIN;
