//! What every layer of Tickwire shares: points in time, transport addresses, counters, latencies, decimals, the
//! name that was meant, the place of an error in a file, how many bytes are copied, and messages in pieces.
//!
//! This crate depends on nothing, reads no clock and opens no socket. It stays small: a type comes
//! here only when two engines that do not know each other need it.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod copy;
mod counter;
mod decimal;
mod excerpt;
mod latency;
mod locator;
mod names;
mod pieces;
mod stream_address;
mod time;

pub use counter::Counter;
pub use decimal::{Decimal, ParseDecimalError};
pub use excerpt::{excerpt, line_and_column};
pub use latency::LatencyHistogram;
pub use locator::{Locator, LocatorKind};
pub use names::nearest_name;
pub use pieces::Pieces;
pub use stream_address::{Channel, StreamAddress};
pub use time::{Duration, Instant, Timestamp};
