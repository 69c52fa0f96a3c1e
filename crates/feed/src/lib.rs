//! Market-data feed engine: packets in a file or stream, packet numbers, chunks put together, two lines arbitrated into
//! one, presets of venues, and seeded sample data.
//!
//! ```text
//! file, stream ──► Frames ──┐
//!                           ├─► Preamble::split ──► Reassembly ──► Arbiter ──► Preamble::blocks ──► messages
//! datagrams ────────────────┘   number, chunk       B3 only        two lines   OPRA: several
//! ```
//!
//! A packet here is what one UDP datagram of an exchange carries, or one message of its TCP stream: a [`Preamble`],
//! then FAST messages. A [`Venue`] says which. This crate opens no socket or file, reads no clock and knows nothing of
//! DDS: bytes and `now` come in, bytes and counters go out.
#![forbid(unsafe_code)]

pub mod arbiter;
pub mod framing;
pub mod generate;
pub mod preamble;
pub mod reassembly;
pub mod step;
pub mod venue;

pub use arbiter::{Arbiter, ArbiterConfig, ArbiterCounters, Arrival, Line, LineCounters};
pub use framing::{Frame, Frames, Framing, FramingError};
pub use generate::Generator;
pub use preamble::{
    Blocks, Chunk, Header, PacketNumber, Parts, Preamble, PreambleError, append_chunk,
};
pub use reassembly::{Reassembly, ReassemblyCounters};
pub use step::StepError;
pub use venue::{AppendError, OURS, VENUES, Venue};
