//! Market-data feed engine: packets in a file, packet numbers, two lines arbitrated into one, and
//! seeded sample data.
//!
//! A packet here is what one UDP datagram of an exchange carries: an optional [`Preamble`], then
//! FAST messages whose dictionaries start afresh. This crate opens no socket or file, reads no
//! clock and knows nothing of DDS: bytes and `now` come in, bytes and counters go out.
#![forbid(unsafe_code)]

pub mod arbiter;
pub mod framing;
pub mod generate;
pub mod preamble;

pub use arbiter::{Arbiter, ArbiterConfig, ArbiterCounters, Arrival, Line, LineCounters};
pub use framing::{Frame, Frames, FramingError, append_frame};
pub use generate::Generator;
pub use preamble::{PacketNumber, Preamble, PreambleError};
