//! The OMG DDSI-RTPS 2.5 protocol, as state machines that neither read a clock nor own a socket.
//!
//! Bytes and the present instant go in, complete datagrams and the next deadline come out. The
//! caller routes each submessage to the writer or reader that it names ([`wire`] parses them), and
//! sends what the machines leave in an outbox.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod by_guid;
mod change;
mod count;
mod crowd;
pub mod discovery;
mod history;
mod outbox;
mod payload;
mod pool;
pub mod qos;
pub mod reader;
pub mod rendezvous;
mod schedule;
mod tail;
mod window;
pub mod wire;
pub mod writer;

pub use change::{Change, ChangeKind, GroupPlace, KeyHash, OriginalWriter, Place, SampleIdentity};
pub use outbox::Outbox;
pub use schedule::Schedule;
