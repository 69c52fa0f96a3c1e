//! A seeded virtual network and clock for tests.
//!
//! It carries bytes between named nodes and loses, repeats, delays and reorders them as told. It
//! knows no protocol, and two runs with the same seed and the same calls are the same to the byte.
#![forbid(unsafe_code)]

mod link;
mod network;
mod rng;

pub use link::Link;
pub use network::{Arrival, Network, NodeId, Totals};
pub use rng::Rng;
